"""A kernel cut into pieces of outcomes on which it is one smooth function, for a box of secrets.

Kinks and jumps of f(y|x) move with x. Where each lies at y = c(x), for differences that are linear
in y, the outcomes between two of them are taken as y = c(x) + w(x) s: in s the kinks stand still,
and f(c(x) + w(x) s | x) w(x) is a formula without choices, which is analytic in x as a rule.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from flint import arb

from borel.errors import NotEnclosed
from borel.numerics.balls.expansion import Builder
from borel.numerics.balls.interpreter import Prepared, asks_for_nan, is_number
from borel.numerics.balls.ranges import LOGIC, TRUTHS
from borel.numerics.graphs.graph import LEAVES, Graph, GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MOST = 64
"""So many pieces of outcomes are looked at; choices within choices make more of them."""


class OpenChoice(Exception):
    """The sign of a function of x is not the same on all of a box of secrets, or not known.

    Attributes
    ----------
    graph : Graph
        The function.
    """

    def __init__(self, graph: Graph):
        super().__init__(graph)
        self.graph = graph

    def cut(self, low: float, high: float, width: float) -> list[float]:
        """Cut a box where the sign changes: there, or on both sides of it if it is no float."""
        f = Prepared(self.graph, "x").at({})

        def value(x: float) -> Any:
            return f.run(arb(x), arb(x), slope=False)[0][f.root][0]

        a, b, middle = low, high, low + (high - low) / 2
        left = value(low)
        if not ((left < 0 and value(high) > 0) or (left > 0 and value(high) < 0)):
            return [low, middle, high]
        while a < middle < b:
            now = value(middle)
            if now == 0:
                return [low, middle, high]
            a, b = (middle, b) if (now < 0) == (left < 0) else (a, middle)
            middle = a + (b - a) / 2
        return [low, *(c for c in (middle - width, middle + width) if low < c < high), high]


class MovingPiece(NamedTuple):
    """Some of the outcomes, y = c(x) +- w(x) s for 0 < s < 1, or < infinity.

    Attributes
    ----------
    graph : Graph
        f(y|x) |dy/ds|, of the inputs ``s`` and ``x`` that it reads; no choices are left in it.
    endless : bool
        Whether s has no end.
    """

    graph: Graph
    endless: bool


class _Cut(Exception):
    """A kink lies between the ends of a piece."""

    def __init__(self, place: int):
        super().__init__(place)
        self.place = place


Line = tuple[int, int]
"""A function of the outcome, a(x) y + b(x), as two nodes."""


class _Part(NamedTuple):
    """A piece in the making.

    Attributes
    ----------
    ends : tuple of int
        The functions of x between which the outcomes lie.
    endless : bool
        Whether one of them is infinite.
    y : int
        The outcome as a function of s and x.
    place : list
        For each node of the kernel, the node that it is here, or the truth value.
    lines : list
        And as a line in y, if it is one.
    """

    ends: tuple[int, int]
    endless: bool
    y: int
    place: list[Any]
    lines: list[Line | None]


class MovingPieces(GraphBuilder):
    """A kernel as a function of an outcome ``y`` and a secret ``x``, to be cut.

    Parameters
    ----------
    density : Graph
        f(y|x), of ``y`` and ``x`` alone.
    lower, upper : float
        The ends of the outcomes.
    breaks : sequence of float
        Outcomes at which it is cut in any case.

    Raises
    ------
    NotEnclosed
        An operation that Arb does not have, or a choice that depends on NaN.
    """

    def __init__(self, density: Graph, lower: float, upper: float, breaks: Sequence[float] = ()):
        super().__init__()
        if asks_for_nan(density):
            raise NotEnclosed("a choice that depends on whether there is a number")
        build = Builder("y")
        last = build.append(density, build.expand)[-1]
        root = build.as_number(last)
        self._kernel = build.graph(root, ("y", "x")).nodes
        inside = sorted({b for b in breaks if lower < b < upper})
        self._ends = tuple(self.constant(v) for v in (lower, *inside, upper))
        self._zero, self._one = self.constant(0.0), self.constant(1.0)
        self.jumps = False
        """Whether a comparison may be another one on a null set of secrets."""

    def over(self, low: float, high: float, signs: Mapping[Graph, int]) -> list[MovingPiece]:
        """Cut the outcomes for the secrets of a box, taking some functions of x to have a sign.

        Raises
        ------
        OpenChoice
            The order of the cuts, or a choice, is not the same on all of the box, or a cut has no
            place at some secrets of it.
        """
        self._box, self._told = (arb(low), arb(high)), signs
        self._signs: dict[int, int] = {}
        self._places: dict[int, bool] = {}
        ends, out = list(self._ends), []
        if len(ends) == 2 and all(math.isinf(self._value(k)) for k in ends):
            ends.insert(1, self._centre())
        for a, b in pairwise(ends):
            self._between(a, b, out)
        return out

    def _centre(self) -> int:
        """Return where to cut the whole line: at y = c(x) for noise about c(x)."""
        lines: list[Line | None] = []
        for op, args in self._kernel:
            line = None
            if op in LEAVES:
                k = self.add(op, *args)
                line = (self._one, self._zero) if args == ("y",) else (self._zero, k)
            elif not (op in TRUTHS or op in LOGIC or op in _CHOICES):
                line = self._line(op, args, lines)
            lines.append(line)
            if line is not None and self.number(line[0]) and self.number(line[1]) is None:
                return self._root(line)
        return self._zero

    def _between(self, a: int, b: int, out: list[MovingPiece]) -> None:
        """Add the pieces between two ends, from each end to the middle."""
        if len(out) > _MOST:
            raise NotEnclosed("a kernel of too many pieces")
        for k in (a, b):  # the place itself is left in no formula
            if self.number(k) is None and not self._is_number(k):
                raise OpenChoice(self.graph(k))
        finite = [not math.isinf(self._value(k)) for k in (a, b)]
        try:
            if all(finite):
                half = self.constant(0.5)
                width = self._times(half, self._minus(b, a))
                parts = [self._piece(a, b, a, 1, width), self._piece(a, b, b, -1, width)]
            elif finite[0]:
                parts = [self._piece(a, b, a, 1, self._one)]
            else:
                parts = [self._piece(a, b, b, -1, self._one)]
        except _Cut as cut:
            self._between(a, cut.place, out)
            self._between(cut.place, b, out)
        else:
            out += [MovingPiece(graph, not all(finite)) for graph in parts]

    def _is_number(self, k: int) -> bool:
        """Return whether a function of x has a value at almost every secret of the box."""
        if k not in self._places:
            self._places[k] = is_number(self.graph(k), *self._box)
        return self._places[k]

    def _value(self, k: int) -> float:
        """Return a node that is a number, NaN if it is a function of x."""
        number = self.number(k)
        return math.nan if number is None else number

    # -- functions of x -----------------------------------------------------------------------

    def sign(self, k: int) -> int:
        """Return 1 where a function of x is not negative on the box, -1 where it is negative.

        The latter is said of almost all of the box.

        Raises
        ------
        OpenChoice
            Neither is known.
        """
        if k not in self._signs:
            graph = self.graph(k)
            f = Prepared(graph, "x").at({})
            known = _known_sign(*(of[f.root] for of in f.run(*self._box)))
            self._signs[k] = self._told.get(graph, known)
        if not self._signs[k]:
            raise OpenChoice(self.graph(k))
        return self._signs[k]

    def _plus(self, u: int, v: int) -> int:
        if self._zero in (u, v):
            return v if u == self._zero else u
        return self._exactly("add", u, v)

    def _minus(self, u: int, v: int) -> int:
        if u == v:
            return self._zero
        if inner := self.arguments(v, "negative"):
            return self._plus(u, inner[0])
        if v == self._zero:
            return u
        return self._negated(v) if u == self._zero else self._exactly("subtract", u, v)

    def _negated(self, u: int) -> int:
        inner = self.arguments(u, "negative")
        return inner[0] if inner else self._exactly("negative", u)

    def _times(self, u: int, v: int) -> int:
        if self._zero in (u, v):
            return self._zero
        if self._one in (u, v):
            return v if u == self._one else u
        return self._exactly("multiply", u, v)

    def _over(self, u: int, v: int) -> int:
        if self._value(v) == -1:
            return self._negated(u)
        return u if v == self._one else self._exactly("divide", u, v)

    def _exactly(self, op: str, *args: int) -> int:
        """Add an operation, or its number, where floats have it without rounding."""
        numbers = [self.number(a) for a in args]
        known = [Fraction(v) for v in numbers if v is not None and math.isfinite(v)]
        if len(known) == len(args) and not (op == "divide" and not known[1]):
            value = _EXACT[op](*known)
            if abs(value) < _HUGE and Fraction(float(value)) == value:
                return self.constant(float(value))
        return self.add(op, *args)

    # -- a piece --------------------------------------------------------------------------------

    def _piece(self, a: int, b: int, start: int, side: int, width: int) -> Graph:
        """Return f(y|x) dy/ds for y = start + side width s, between two functions of x."""
        step = self._times(width, self.add("input", "s"))
        moved = step if side > 0 else self._negated(step)
        endless = any(math.isinf(self._value(k)) for k in (a, b))
        part = _Part((a, b), endless, self._plus(start, moved), [], [])
        for op, args in self._kernel:
            new, line = self._node(op, args, part)
            if line is not None and op != "input":
                if line[0] == self._zero:
                    new = line[1]
                elif self._root(line) == start:  # a multiple of s: nothing cancels
                    new = self._times(line[0], moved)
            if op == "log1p" and (inner := part.lines[args[0]]) and inner[0] != self._zero:
                more = inner[0], self._plus(inner[1], self._one)
                if self._root(more) == start:
                    new = self.add("log", self._times(more[0], moved))
            part.place.append(new)
            part.lines.append(line)
        return self.graph(self._times(part.place[-1], width))

    def _node(self, op: str, args: tuple, part: _Part) -> tuple[Any, Line | None]:
        """Return a node of the kernel, or the truth value that it is, and as a line in y."""
        place, lines = part.place, part.lines
        if op == "input" and args == ("y",):
            return part.y, (self._one, self._zero)
        if op in LEAVES:
            k = self.add(op, *args)
            return k, (self._zero, k)
        if op in TRUTHS:
            return self._compared(op, args, part), None
        if op in LOGIC:
            return LOGIC[op](*(place[k] for k in args)), None
        if op in ("number", "floor"):
            k = self._whole(args[0], part) if op == "floor" else int(place[args[0]])
            k = self.constant(k)
            return k, (self._zero, k)
        chosen = self._chosen(op, args, part)
        if chosen is None:
            return self.add(op, *(place[k] for k in args)), self._line(op, args, lines)
        k, negate = chosen
        line = lines[k]
        if not negate:
            return place[k], line
        return self._negated(place[k]), line and (self._negated(line[0]), self._negated(line[1]))

    def _chosen(self, op: str, args: tuple, part: _Part) -> tuple[int, bool] | None:
        """Return which argument a choice is on the piece, and whether it changes the sign."""
        if op == "where":
            return args[1 if part.place[args[0]] else 2], False
        if op == "absolute":
            return args[0], self._sign_of(part.lines[args[0]], part.place[args[0]], part) < 0
        if op in ("maximum", "minimum"):
            first = self._sign_of(*self._difference(args, part), part) > 0
            return args[0 if first == (op == "maximum") else 1], False
        return None

    def _compared(self, op: str, args: tuple, part: _Part) -> bool:
        """Return what a comparison is at almost every outcome of the piece."""
        if op == "less_equal":
            return not self._compared("less", args[::-1], part)
        line, gap = self._difference(args, part)
        number = self.number(gap)
        if number is not None:
            return number == 0 if op == "equal" else number < 0
        self.jumps |= line is None or self.number(line[0]) in (None, 0.0)
        if op == "equal":
            if line is None or not self._varies(line[0] if line[0] != self._zero else line[1]):
                raise NotEnclosed("a choice by equality")
            return False
        return self._sign_of(line, gap, part) < 0

    def _whole(self, k: int, part: _Part) -> int:
        """Return the whole number that the floor of a function of x is on the box."""
        line = part.lines[k]
        if line is None or line[0] != self._zero:
            raise NotEnclosed("steps along the outcomes")
        self.jumps = True
        f = Prepared(self.graph(line[1]), "x").at({})
        low, high = f.run(*self._box)[0][f.root]
        if not (low.is_finite() and high.is_finite() and high - low < _MOST):
            raise NotEnclosed("many steps along the secrets")
        n = int(low.lower().floor().unique_fmpz())
        while self.sign(self._minus(line[1], self.constant(n + 1))) > 0:
            n += 1
        return n

    def _varies(self, k: int) -> bool:
        """Return whether a function of x is not 0 at almost every secret of the box."""
        f = Prepared(self.graph(k), "x").at({})
        value, slope = (of[f.root] for of in f.run(*self._box))
        return any(v is not None and (v[0] > 0 or v[1] < 0) for v in (value, slope))

    def _difference(self, args: tuple, part: _Part) -> tuple[Line | None, int]:
        """Return the difference of two nodes as a line in y, and as a function of s."""
        u, v = (part.lines[k] for k in args)
        gap = self._minus(*(part.place[k] for k in args))
        if u is None or v is None:
            return None, gap
        line = self._minus(u[0], v[0]), self._minus(u[1], v[1])
        return line, line[1] if line[0] == self._zero else gap

    def _sign_of(self, line: Line | None, k: int, part: _Part) -> int:
        """Return the sign of a function almost everywhere on the piece; cut the piece at a root."""
        if line is None:
            return self._sign_by_range(k, part)
        if line[0] == self._zero:
            return self.sign(line[1])
        slope, root = self.sign(line[0]), self._root(line)
        if root in part.ends:
            return slope if root == part.ends[0] else -slope
        for end, side in zip(part.ends, (1, -1), strict=True):
            if math.isinf(self._value(end)):
                continue
            if self.sign(self._minus(root, end)) != side:
                return slope * side
        raise _Cut(root)

    def _sign_by_range(self, k: int, part: _Part) -> int:
        """Return the sign of a function of s and x, where its range shows it."""
        f = Prepared(self.graph(k), "s").at({"x": self._box})
        found = f.run(arb(0), arb.pos_inf() if part.endless else arb(1))
        sign = _known_sign(*(of[f.root] for of in found))
        if not sign:
            raise NotEnclosed("a choice that is not linear in the outcome")
        return sign

    def _root(self, line: Line) -> int:
        return self._over(self._negated(line[1]), line[0])

    def _line(self, op: str, args: tuple, lines: list) -> Line | None:
        """Return a node as a line in y, if it is one."""
        parts = [lines[k] for k in args]
        if any(p is None for p in parts):
            return None
        known: list[Line] = [p for p in parts if p is not None]
        still = [p[0] == self._zero for p in known]
        if all(still):
            return self._zero, self.add(op, *(p[1] for p in known))
        if op in ("add", "subtract"):
            rule = self._plus if op == "add" else self._minus
            return rule(known[0][0], known[1][0]), rule(known[0][1], known[1][1])
        if op == "negative":
            return self._negated(known[0][0]), self._negated(known[0][1])
        if op == "multiply" and any(still):
            line, factor = (known[0], known[1][1]) if still[1] else (known[1], known[0][1])
            return self._times(line[0], factor), self._times(line[1], factor)
        if op == "divide" and still[1]:
            return self._over(known[0][0], known[1][1]), self._over(known[0][1], known[1][1])
        return None


def _known_sign(value: Any, slope: Any) -> int:
    """Return 1 for what is not negative, -1 for what is negative but on a null set, else 0."""
    low, high = value
    if low >= 0:
        return 1
    apart = slope is not None and (slope[0] > 0 or slope[1] < 0)
    return -1 if high < 0 or (high <= 0 and apart) else 0


_HUGE = 2**1000
_CHOICES = {"where", "absolute", "maximum", "minimum", "floor", "number"}
_EXACT: dict[str, Any] = {
    "add": lambda u, v: u + v,
    "subtract": lambda u, v: u - v,
    "multiply": lambda u, v: u * v,
    "divide": lambda u, v: u / v,
    "negative": lambda u: -u,
}
