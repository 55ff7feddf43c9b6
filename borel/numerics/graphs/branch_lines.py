"""A function of y and x between the lines x = a + b y on which its conditions turn, exactly.

Kinks and jumps of f(y|x) move with y. Where both sides of a condition are affine in y and x with
known coefficients, it turns on a line; for the y of a `Strip` the lines that cross the secrets keep
their order, and between two neighbours each condition is one: the function is a formula without
that choice. Orders are decided in rational arithmetic, so nothing here is rounded. What is said of
conditions holds but on null sets: on the lines themselves.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from borel.errors import NotEnclosed
from borel.numerics.graphs.affine_nodes import affine, combined
from borel.numerics.graphs.graph import LEAVES, Graph, GraphBuilder
from borel.numerics.graphs.operations import COMPARISONS

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST = 32
"""So many pieces of a strip, and strips of a function, are looked at."""
_FLOATS = 24
"""A number is a sum of so many floats, at most."""
CONDITIONS = COMPARISONS | frozenset("absolute maximum minimum fmax fmin sign".split())
"""Operations whose conditions are read."""
_LARGEST = {"maximum", "fmax"}
_EXTREMES = _LARGEST | {"minimum", "fmin"}
_TRUTHS = {
    "less": lambda sign: sign < 0,
    "less_equal": lambda sign: sign <= 0,
    "greater": lambda sign: sign > 0,
    "greater_equal": lambda sign: sign >= 0,
    "equal": lambda sign: sign == 0,
    "not_equal": lambda sign: sign != 0,
}
_LOGIC = {
    "logical_and": lambda u, v: u and v,
    "logical_or": lambda u, v: u or v,
    "logical_xor": lambda u, v: bool(u) != bool(v),
    "logical_not": lambda u: not u,
}


class BranchLine(NamedTuple):
    """The secrets x = level + slope y.

    Attributes
    ----------
    level, slope : Fraction
        Its coefficients.
    """

    level: Fraction
    slope: Fraction

    def minus(self, other: BranchLine) -> BranchLine:
        """Return by how much it is above another line."""
        return BranchLine(self.level - other.level, self.slope - other.slope)


class BranchPiece(NamedTuple):
    """Secrets between two lines, and functions of y and x there.

    Attributes
    ----------
    left, right : BranchLine or None
        The ends; None for infinity.
    graphs : tuple of Graph
        The functions, without the choices that are one between the ends.
    """

    left: BranchLine | None
    right: BranchLine | None
    graphs: tuple[Graph, ...]


class Strip(NamedTuple):
    """Numbers y for which the lines that cross the secrets keep their order.

    Attributes
    ----------
    low, high : Fraction or float
        The ends; floats if infinite.
    pieces : tuple of BranchPiece
        The secrets, in order; none if there are too many.
    """

    low: Fraction | float
    high: Fraction | float
    pieces: tuple[BranchPiece, ...]

    @property
    def lines(self) -> list[BranchLine]:
        """The lines between pieces."""
        return [piece.left for piece in self.pieces[1:] if piece.left is not None]


class _Cut(Exception):
    """A condition turns between the ends of a piece."""

    def __init__(self, line: BranchLine):
        super().__init__(line)
        self.line = line


class _Meeting(Exception):
    """Two lines meet at this y."""


class _TooMany(Exception):
    """There are more lines than are looked at."""


def strip(
    graphs: Sequence[Graph], lower: float, upper: float, breaks: Sequence[float], y: Fraction
) -> Strip | None:
    """Return the strip of a number y; None if lines meet there.

    Where there are too many lines, it has no pieces: all numbers between its ends are like y.

    Parameters
    ----------
    graphs : sequence of Graph
        Functions of ``y`` and ``x``, and perhaps of other numbers.
    lower, upper : float
        Ends of x, perhaps infinite.
    breaks : sequence of float
        Further places x at which pieces end.
    y : Fraction
        The number.

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y, x: np.exp(-abs(y - x - 0.25)), ("y", "x"), ())
    >>> found = strip([graph], 0.0, 1.0, (), Fraction(1, 2))
    >>> [str(v) for v in (found.low, found.high, *found.lines[0])]
    ['1/4', '5/4', '-1/4', '1']
    """
    found = _Strip(graphs, y)
    ends = [
        None if math.isinf(v) else BranchLine(Fraction(v), Fraction(0))
        for v in (lower, *sorted(b for b in set(breaks) if lower < b < upper), upper)
    ]
    try:
        found.count(len(ends) - 1)
        for left, right in pairwise(ends):
            found.between(left, right)
    except _Meeting:
        return None
    except _TooMany:
        return Strip(found.low, found.high, ())
    return Strip(found.low, found.high, tuple(found.pieces))


class _Strip:
    """A strip in the making: each decision about an order bounds it."""

    def __init__(self, graphs: Sequence[Graph], y: Fraction):
        self.graphs, self.y = graphs, y
        self.low: Fraction | float = -math.inf
        self.high: Fraction | float = math.inf
        self.pieces: list[BranchPiece] = []
        self._room = MOST

    def count(self, more: int) -> None:
        """Count pieces before they are looked at, so that none is where there are too many."""
        self._room -= more
        if self._room < 0:
            raise _TooMany

    def between(self, left: BranchLine | None, right: BranchLine | None) -> None:
        """Add the pieces between two lines."""
        try:
            graphs = tuple(self._without_choices(g, left, right) for g in self.graphs)
        except _Cut as cut:
            self.count(1)
            self.between(left, cut.line)
            self.between(cut.line, right)
        else:
            self.pieces.append(BranchPiece(left, right, graphs))

    def _sign(self, gap: BranchLine) -> int:
        """Return the sign of level + slope y at this y, and leave the strip where it is that."""
        if not gap.slope:
            return (gap.level > 0) - (gap.level < 0)
        turn = -gap.level / gap.slope
        if turn == self.y:
            raise _Meeting
        if turn < self.y:
            self.low = max(self.low, turn)
        else:
            self.high = min(self.high, turn)
        return 1 if (gap.slope > 0) == (self.y > turn) else -1

    def _side(
        self, form: tuple[Fraction, ...], left: BranchLine | None, right: BranchLine | None
    ) -> int:
        """Return the sign of a + b y + c x between two lines."""
        a, b, c = form
        if not c:
            return self._sign(BranchLine(a, b))
        line = BranchLine(-a / c, -b / c)
        side = 1 if c > 0 else -1
        if left is not None and self._sign(line.minus(left)) <= 0:
            return side
        if right is not None and self._sign(right.minus(line)) <= 0:
            return -side
        raise _Cut(line)

    def _without_choices(
        self, graph: Graph, left: BranchLine | None, right: BranchLine | None
    ) -> Graph:
        """Return a function between two lines, with one branch of each choice that is one there."""
        b, names = GraphBuilder(), ("y", "x")
        place: dict[int, int] = {}
        forms: dict[int, tuple[Fraction, ...] | None] = {}
        root = len(graph.nodes) - 1
        todo = [root]
        while todo:  # a choice first, and then what it chooses: no other condition matters
            k = todo[-1]
            op, args = graph.nodes[k]
            used = () if op in LEAVES else args
            if op == "where":
                used = args[:1]
                if args[0] in forms:
                    used = self._branches(args, forms)
            if missing := [a for a in used if a not in forms]:
                todo += missing
                continue
            todo.pop()
            if k in forms:
                continue
            if op in LEAVES:
                place[k], forms[k] = b.add(op, *args), combined(op, args, forms, names)
                continue
            new, form = self._chosen(b, op, args, place, forms, (left, right))
            if new is None:
                new = b.add(op, *(place[a] for a in args))
                form = combined(op, args, forms, names)
            place[k], forms[k] = new, form
        return b.graph(place[root], graph.inputs)

    @staticmethod
    def _branches(args: tuple[int, ...], forms: dict) -> tuple[int, ...]:
        """Return the branch of a choice that is known, or all that it depends on."""
        known = forms[args[0]]
        if known is None or any(known[1:]):
            return args
        return (args[1] if known[0] else args[2],)

    def _chosen(
        self, b: GraphBuilder, op: str, args: tuple, place: dict, forms: dict, ends: tuple
    ) -> tuple[int | None, tuple[Fraction, ...] | None]:
        """Return what a choice is between two lines, as a node and in its coefficients."""
        if op == "where":
            chosen = self._branches(args, forms)
            return (place[chosen[0]], forms[chosen[0]]) if len(chosen) == 1 else (None, None)
        known = [forms[a] for a in args]
        if op in _LOGIC and all(form is not None and not any(form[1:]) for form in known):
            return self._number(b, int(_LOGIC[op](*(form[0] for form in known))))
        if op not in CONDITIONS or None in known:
            return None, None
        gap = known[0]
        if len(known) == 2:
            gap = tuple(u - v for u, v in zip(*known, strict=True))
        side = self._side(gap, *ends)
        if op in _TRUTHS:
            return self._number(b, int(_TRUTHS[op](side)))
        if op == "sign":
            return self._number(b, side)
        if op in _EXTREMES:
            k = args[0 if (side > 0) == (op in _LARGEST) else 1]
            return place[k], forms[k]
        if side >= 0:
            return place[args[0]], gap
        return b.add("negative", place[args[0]]), tuple(-v for v in gap)

    @staticmethod
    def _number(b: GraphBuilder, value: int) -> tuple[int, tuple[Fraction, ...]]:
        return b.constant(value), (Fraction(value), Fraction(0), Fraction(0))


def strips(
    graphs: Sequence[Graph], lower: float, upper: float, breaks: Sequence[float]
) -> list[Strip]:
    """Return the strips from the least y on, next to each other.

    They need not be all: it stops where there are too many, or where one is not found.
    """
    out: list[Strip] = []
    y = -(Fraction(2) ** 200)
    while len(out) < MOST:
        step = max(abs(y), 1) * Fraction(1, 2**64)
        found = strip(graphs, lower, upper, breaks, y + step)
        if found is None or not found.pieces:
            break
        out.append(found)
        if math.isinf(found.high):
            break
        y = Fraction(found.high)
    return out


class Coordinates(GraphBuilder):
    """A graph in the making, of y and of a coordinate that tells the secret from a moving one."""

    def line(self, level: Fraction, slope: Fraction) -> int:
        """Add level + slope y."""
        if not slope:
            return self.exactly(level)
        moved = self.times(slope, self.add("input", "y"))
        if not level:
            return moved
        if slope == -1:
            return self.add("subtract", self.exactly(level), *self.arguments(moved, "negative"))
        return self.add("add", moved, self.exactly(level))

    def times(self, factor: Fraction, k: int) -> int:
        """Add a multiple of a node."""
        if factor == 1:
            return k
        if factor == -1:
            return self.add("negative", k)
        return self.add("multiply", self.exactly(factor), k)

    def exactly(self, value: Fraction) -> int:
        """Add a number: a sum of floats, or a quotient of two.

        Raises
        ------
        NotEnclosed
            One that is too large or too small for that.
        """
        if (floats := _floats(value)) is None:
            parts = [_floats(Fraction(v)) for v in value.as_integer_ratio()]
            if None in parts:
                raise NotEnclosed("a number that floats do not hold")
            return self.add("divide", *(self._sum(part) for part in parts if part is not None))
        return self._sum(floats)

    def _sum(self, floats: list[float]) -> int:
        total, *more = (self.constant(v) for v in floats)
        for k in more:
            total = self.add("add", total, k)
        return total

    def substituted(self, graph: Graph, start: BranchLine | int, reach: int) -> int:
        """Add a function of y and x with x = start + reach, where what cancels is left out.

        Parameters
        ----------
        graph : Graph
            The function.
        start : BranchLine or int
            A line, or a node that is a number.
        reach : int
            The node of what is added to it.
        """
        place: list[int] = []
        for (op, args), form in zip(graph.nodes, affine(graph, ("y", "x")), strict=True):
            if form is not None and form[2]:
                level, slope, factor = form
                if isinstance(start, BranchLine):
                    level, slope = level + factor * start.level, slope + factor * start.slope
                    more = self.times(factor, reach)
                else:
                    more = self.times(factor, self.add("add", start, reach))
                if level or slope:
                    more = self.add("add", self.line(level, slope), more)
                place.append(more)
            elif op in LEAVES:
                place.append(self.add(op, *args))
            else:
                place.append(self.add(op, *(place[a] for a in args)))
        return place[-1]


def _floats(value: Fraction) -> list[float] | None:
    """Return floats whose sum is a number, the largest first; None if there are not a few such."""
    out: list[float] = []
    rest = value
    while rest or not out:
        try:
            out.append(float(rest))
        except OverflowError:
            return None
        if len(out) > _FLOATS or (rest and not out[-1]):
            return None
        rest -= Fraction(out[-1])
    return out
