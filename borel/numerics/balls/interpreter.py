"""The Arb interpreter of expression graphs: few outcomes or tight tolerances, one box at a time.

`Prepared` rewrites a graph once, as a function of one variable, into operations that Arb has;
`Prepared.at` fixes the other inputs. A `Slice` gives ranges and slopes over boxes, and `Branch`es:
what is left of the graph on a box where every comparison is decided, for `acb.integral`.

Densities are classes modulo null sets: comparisons are decided almost everywhere on a box of
positive length, so that a value altered at a point is never seen. Whoever evaluates inside a box
(at the centre of a mean-value form) must keep the decisions of that box: pass them as ``frozen``.
Constants mean their binary64 values. All of this works at the precision that the caller has set.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flint import arb

from borel import settings
from borel.numerics.balls.arithmetic import ball
from borel.numerics.balls.expansion import Builder
from borel.numerics.balls.integrand import Branch
from borel.numerics.balls.ranges import (
    ENTIRE,
    LOGIC,
    ONE,
    ONE_BALL,
    RANGES,
    TRUTHS,
    ZERO,
    ZERO_BALL,
    floor,
    hull,
)
from borel.numerics.graphs.graph import LEAVES, needed
from borel.numerics.graphs.operations import FOR_NAN, ON_A_PART

if TYPE_CHECKING:
    from collections.abc import Mapping

    from borel.numerics.graphs.graph import Graph

_FROZEN = {*TRUTHS, *LOGIC, "floor", "number"}
_SLIVER = 2.0**-24  # of a box, on both sides of a kink or jump that was located
_BRANCHING = {*_FROZEN, "where", "absolute", "maximum", "minimum"}


# -- one step on ranges: writes the value and the slope of node k --------------------------------


def _where(v: list, d: list, k: int, c: int, i: int, j: int) -> None:
    truth = v[c]
    if truth is None:
        v[k], d[k] = hull(v[i], v[j]), ENTIRE
    else:
        chosen = i if truth else j
        v[k], d[k] = v[chosen], d[chosen] or ZERO


def _floor(v: list, d: list, k: int, i: int) -> None:
    v[k], d[k] = floor(v[i], d[i])


def _number(v: list, d: list, k: int, i: int) -> None:
    v[k] = (ZERO_BALL, ONE_BALL) if v[i] is None else ONE if v[i] else ZERO
    d[k] = ENTIRE if v[i] is None else ZERO


def _decide(rule: Any) -> Any:
    def step(v: list, d: list, k: int, i: int, j: int) -> None:
        v[k] = rule(v[i], v[j], d[i], d[j])

    return step


def _combine(rule: Any) -> Any:
    def step(v: list, d: list, k: int, *args: int) -> None:
        v[k] = rule(*(v[a] for a in args))

    return step


_STEPS: dict[str, Any] = {
    "where": _where,
    "floor": _floor,
    "number": _number,
    **{op: _decide(rule) for op, rule in TRUTHS.items()},
    **{op: _combine(rule) for op, rule in LOGIC.items()},
}


_PARTIAL = ON_A_PART | {"special.xlogy", "special.xlog1py", "power", "divide"}
_KEEP_POSITIVE = {"sqrt", "exp", "square", "add", "multiply", "divide"}


def asks_for_nan(graph: Graph) -> bool:
    """Say if a condition is about a root, a logarithm or the like, which may have no value."""
    behind: list[bool] = []
    positive: list[bool] = []  # numbers that have a logarithm, a root and a reciprocal
    found = False
    for op, args in graph.nodes:
        below = [] if op in LEAVES else [behind[a] for a in args]
        above = [] if op in LEAVES else [positive[a] for a in args]
        asked = below[:1] if op == "where" else below if op in FOR_NAN else []
        found |= any(asked)
        own = op in _PARTIAL
        if op in ("power", "divide") and graph.nodes[args[1]][0] == "const":
            number = graph.nodes[args[1]][1][0]
            own = number == 0 if op == "divide" else not float(number).is_integer()
        elif op in ("sqrt", "log", "power"):
            own = not above[0]
        elif op == "divide":
            own = not above[1]
        behind.append(any(below) or own)
        number = op == "const" and 0 < args[0] < math.inf
        positive.append(number or (op in _KEEP_POSITIVE and all(above)))
    return found


def is_number(graph: Graph, low: Any, high: Any, name: str = "x") -> bool:
    """Return whether a function has a value almost everywhere between two numbers.

    Ranges do not say so: of a root they are those of the part where it has a value.
    """
    f = Prepared(graph, name).at({})
    v, d = f.run(arb(low), arb(high))

    def positive(k: int, side: int = 1) -> bool:
        least = v[k][0] if side > 0 else -v[k][1]
        return bool(least > 0 or (least >= 0 and d[k] is not None and (d[k][0] > 0 or d[k][1] < 0)))

    for k in f.order:
        op, args = f.nodes[k]
        if op == "sqrt":
            known = bool(v[args[0]][0] >= 0)
        elif op in ("log", "power"):
            known = positive(args[0])
        elif op == "divide":
            known = positive(args[1]) or positive(args[1], -1)
        else:
            known = op not in _PARTIAL and f"special.{op}" not in _PARTIAL
        if not known:
            return False
    return True


class Prepared:
    """A graph prepared for Arb as a function of one variable.

    Parameters
    ----------
    graph : Graph
        The graph; every input is a number.
    variable : str
        The input that varies.

    Raises
    ------
    NotEnclosed
        An operation that this interpreter does not know; the message names it.
    """

    def __init__(self, graph: Graph, variable: str = "x"):
        build = Builder(variable)
        last = build.append(graph, build.expand)[-1]
        self.nodes, self.variable = build.nodes, build.variable
        self.root = build.as_number(last)
        live = {*needed(self.nodes, self.root)}
        self.moving = build.moving
        self.fixed = sorted(live - self.moving)
        self.order = order = sorted((live & self.moving) - {self.variable})
        smooth = [k for k in order if self.nodes[k][0] not in _FROZEN]
        # by whether decisions are frozen, and whether slopes are wanted
        self.steps = {
            (False, True): [self._step(k) for k in order],
            (False, False): self._without_slopes(order, self._compared()),
            (True, True): [self._step(k) for k in smooth],
            (True, False): self._without_slopes(smooth, set()),
        }
        self.branches = any(self.nodes[k][0] in _BRANCHING for k in order)
        self.doubtful = asks_for_nan(graph)
        """Whether a condition may be about NaN, which NumPy answers; here it is not looked for."""

    def _compared(self) -> set[int]:
        """Return the nodes whose slopes decide comparisons: all that is below one."""
        below: set[int] = set()
        for k in reversed(self.order):
            op, args = self.nodes[k]
            if k in below or op in TRUTHS or op == "floor":
                below.update(args)
        return below

    def _without_slopes(self, order: list[int], but: set[int]) -> list[tuple]:
        steps = [self._step(k) for k in order]
        return [
            (k, value, rule if rule is None or k in but else False, i, j)
            for k, value, rule, i, j in steps
        ]

    def _step(self, k: int) -> tuple:
        """Return the number, value, slope rule (None: the value writes both) and arguments."""
        op, args = self.nodes[k]
        if op in _STEPS:
            return k, _STEPS[op], None, args, 0
        value, slope = RANGES[op]
        return k, value, slope, args[0], args[1] if len(args) == 2 else None

    def at(self, inputs: Mapping[str, Any]) -> Slice:
        """Fix the other inputs: floats, ints, Fractions, balls or ranges; extra names are ignored.

        A range is a pair of balls: all that is found then holds for each of its numbers.
        """
        values: list[Any] = [None] * len(self.nodes)
        settings.work("balls", len(self.nodes))
        for k in self.fixed:
            op, args = self.nodes[k]
            if op in LEAVES:
                given = inputs[args[0]] if op == "input" else args[0]
                number = given if isinstance(given, tuple) else (ball(given),) * 2
                values[k] = number
            else:
                self._fix(k, values)
        moving = self.moving
        if any(self._vanishes(k, values) for k in self.order):
            moving = moving.copy()
            for k in self.order:
                if self._vanishes(k, values):
                    values[k] = ZERO
                elif moving.isdisjoint(self.nodes[k][1]):
                    self._fix(k, values)
                if values[k] is not None or moving.isdisjoint(self.nodes[k][1]):
                    moving.discard(k)
        return Slice(self, values, moving)

    def _fix(self, k: int, values: list) -> None:
        """Evaluate a node that does not depend on the variable."""
        _, value, slope, i, j = self._step(k)
        if slope is None:
            value(values, [None] * len(values), k, *i)
        else:
            values[k] = value(values[i]) if j is None else value(values[i], values[j])

    def _vanishes(self, k: int, values: list) -> bool:
        """Say if a node is 0 times something: 0 log(x) is 0, not 0 times infinity.

        Unless that is no number for any value of the variable, as 1 / 0 and the logarithm of 0.
        """
        op, args = self.nodes[k]
        if op != "multiply":
            return False
        return any(_is_0(values[a]) and self._may_be(b, values) for a, b in (args, args[::-1]))

    def _may_be(self, k: int, values: list) -> bool:
        """Say whether a node is not seen to be without a value."""
        left = [k]
        while left:
            k = left.pop()
            op, args = self.nodes[k]
            known = values[k]
            if op in LEAVES or isinstance(known, bool) or (known is not None and _finite(known)):
                continue
            if op == "where" and values[args[0]] is not None:
                left.append(args[1] if values[args[0]] else args[2])
                continue
            if op in ("divide", "log", "power") and _is_0(values[args[op == "divide"]]):
                return False
            left += args
        return True


def _is_0(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value[0] == 0 and value[1] == 0)


def _finite(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value[0].is_finite() and value[1].is_finite())


class Slice:
    """A prepared graph with all inputs but one fixed: a function of one variable."""

    def __init__(self, prepared: Prepared, values: list, moving: set[int]):
        self._values, self._moving = values, moving
        self.root = prepared.root
        self.nodes, self.order, self.variable = prepared.nodes, prepared.order, prepared.variable
        self._steps = prepared.steps
        if moving is not prepared.moving:
            self.order = [k for k in self.order if k in moving]
            self._steps = {
                which: [step for step in steps if step[0] in moving]
                for which, steps in self._steps.items()
            }
        self._frozen_numbers = [k for k in self.order if self.nodes[k][0] in ("floor", "number")]
        self._cache: dict[tuple, Branch] = {}
        self._only: tuple | None = None if prepared.branches else self._branch(values)

    def run(
        self, low: Any, high: Any, *, slope: bool = True, frozen: list | None = None
    ) -> tuple[list, list]:
        """Enclose every node, and its slope, over the box [low, high] (two balls, low < high).

        Parameters
        ----------
        low, high : arb
            The ends; they may be infinite.
        slope : bool
            Whether slopes are wanted. Those that decide comparisons are computed in any case.
        frozen : list, optional
            The values over a larger box, whose decisions are then kept.

        Returns
        -------
        values, slopes : list
            By node; ``values[self.root]`` is the range.
        """
        v = (self._values if frozen is None else frozen).copy()
        d: list[Any] = [None] * len(v)
        v[self.variable], d[self.variable] = (low, high), ONE
        if frozen is not None:
            for k in self._frozen_numbers:
                d[k] = ZERO if v[k][0] == v[k][1] else ENTIRE
        steps = self._steps[frozen is not None, slope]
        settings.work("balls", len(steps) + 1)
        for k, value, rule, i, j in steps:
            if rule is None:
                value(v, d, k, *i)
            elif j is None:
                p = v[i]
                v[k] = f = value(p)
                if rule:
                    d[k] = rule(p, f, d[i])
            else:
                p, q = v[i], v[j]
                v[k] = f = value(p, q)
                if rule:
                    d[k] = rule(p, q, f, d[i], d[j])
        return v, d

    def branch(self, values: list) -> tuple[Branch, list[int]]:
        """Return what the graph is almost everywhere on a box, from the values over that box.

        Returns
        -------
        branch : Branch
            The graph without what is decided; two boxes with one branch share the object.
        undecided : list of int
            The nodes that are not: the branch has kinks or jumps there.
        """
        return self._only if self._only is not None else self._branch(values)

    def _branch(self, v: list) -> tuple[Branch, list[int]]:
        nodes, moving = self.nodes, self._moving

        def follow(k: int) -> int:
            """Go through choices that are decided."""
            while k in moving:
                op, args = nodes[k]
                if op == "where" and v[args[0]] is not None:
                    k = args[1] if v[args[0]] else args[2]
                elif op in ("maximum", "minimum"):
                    i, j = args if op == "maximum" else args[::-1]
                    if v[args[0]][0] >= v[args[1]][1]:
                        k = i
                    elif v[args[1]][0] >= v[args[0]][1]:
                        k = j
                    else:
                        break
                elif op == "absolute" and v[args[0]][0] >= 0:
                    k = args[0]
                else:
                    break
            return k

        root = follow(self.root)
        found: dict[int, tuple[str, tuple]] = {}
        undecided, stack = [], [root]
        while stack:
            k = stack.pop()
            if k in found or k not in moving or k == self.variable:
                continue
            op, args = nodes[k]
            if op in _BRANCHING:
                decided = self._decided(op, args, k, v)
                if decided is not None:
                    found[k] = decided
                    continue
                if op == "absolute" and v[args[0]][1] <= 0:
                    op = "negative"
                elif op not in LOGIC:
                    undecided.append(k)
            found[k] = op, tuple(map(follow, args))
            stack.extend(found[k][1])
        key = (root, *((k, *found[k]) for k in sorted(found)))
        if key not in self._cache:
            self._cache[key] = Branch(key, self._values, self.variable, undecided)
        return self._cache[key], undecided

    @staticmethod
    def _decided(op: str, args: tuple, k: int, v: list) -> tuple[str, tuple] | None:
        if op in TRUTHS or op in LOGIC:
            return None if v[k] is None else ("truth", (v[k],))
        if op == "number" and v[args[0]] is not None:
            return "whole", (int(v[args[0]]),)
        if op == "floor" and v[k][0] == v[k][1]:
            return "whole", (int(v[k][0].unique_fmpz()),)
        return None

    def cut(self, values: list, k: int, p: float, q: float) -> list[float]:
        """Return where to cut a box on which node k is undecided: around its change, if found."""
        place = self._change(values, k, p, q)
        if place is None:
            return [p, middle(p, q), q]
        width = max(_SLIVER * (q - p), 8 * math.ulp(place))
        return sorted({p, q, *(c for c in (place - width, place + width) if p < c < q)})

    def _change(self, v: list, k: int, p: float, q: float) -> float | None:
        """Look for the point where a kink or jump lies, by false position; only a proposal."""
        op, args = self.nodes[k]
        if op in ("floor", "where", "number") or math.isinf(p) or math.isinf(q):
            return None

        def difference(at: float) -> float:
            x = arb(at)
            w, _ = self.run(x, x, slope=False, frozen=v)
            value = w[args[0]][0] - (w[args[1]][0] if len(args) == 2 else 0)
            return 0.0 if value.contains(0) else float(value.mid())

        left, right = difference(p), difference(q)
        if left == 0 or right == 0:
            return p if left == 0 else q
        if math.isnan(left + right) or (left < 0) == (right < 0):
            return None
        for _ in range(20):
            t = p + (q - p) * left / (left - right)
            if not p < t < q:
                return p if t <= p else q
            value = difference(t)
            if value == 0 or q - p <= 16 * math.ulp(t):
                return t
            # the Illinois rule: an end that stays counts half
            if (left < 0) != (value < 0):
                q, right, left = t, value, left / 2
            else:
                p, left, right = t, value, right / 2
        return p + (q - p) / 2


def middle(p: float, q: float) -> float:
    """Return a point inside a box, at a middling magnitude if the box spans several."""
    if p > 0 and q > 1e3 * p:
        return math.sqrt(p) * math.sqrt(min(q, 1e6 * (1 + p) * (1 + p), 1e300))
    if q < 0 and p < 1e3 * q:
        return -middle(-q, -p)
    if math.isfinite(p) and math.isfinite(q):
        return p + (q - p) / 2
    return 0.0 if p < 0 < q else 1.0 if q > 0 else -1.0
