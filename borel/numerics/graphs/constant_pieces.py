"""The pieces of the line on which a function of one number is constant, in exact numbers.

Comparisons, floors and choices of what is a y + b between jumps: on an open interval without jumps
every node of the graph is such a line, in Fractions. Where a condition turns, or a line meets a
whole number that it is rounded to, the interval is cut there; but not where what is rounded is cut
off (clip(floor(y), 0, 3) beyond 3), or not chosen: of it the range is enough. Nothing is rounded,
nothing probed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from borel.errors import NotEnclosed
from borel.numerics.graphs.formulas import formula
from borel.numerics.graphs.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.graphs.graph import Graph

MOST_PIECES = 1024
Line = tuple[Fraction, Fraction]
_NONE, _ONE, _HALF = Fraction(0), Fraction(1), Fraction(1, 2)


class ConstantPiece(NamedTuple):
    """An open interval on which a function is one number, or a point.

    Attributes
    ----------
    low, high : Fraction or None
        The ends, None for no end; the same number twice for a point.
    value : Fraction
        The value there.
    """

    low: Fraction | None
    high: Fraction | None
    value: Fraction

    @property
    def inside(self) -> Fraction:
        """A number in it."""
        return _inside(self.low, self.high)


class _Cut(Exception):
    """A number within an interval at which a condition turns."""

    def __init__(self, at: Fraction):
        super().__init__()
        self.at = at


class _Jumps:
    """A function that jumps on an interval, of which the range is known; and where to cut.

    Attributes
    ----------
    low, high : Fraction or None
        Its values lie between them, ends included; None for no end.
    at : Fraction
        A number within the interval, for whoever has to know more.
    """

    def __init__(self, low: Fraction | None, high: Fraction | None, at: Fraction):
        self.low, self.high, self.at = low, high, at

    def through(self, f: Callable[[Fraction], Any], *, turned: bool = False) -> _Jumps:
        """Return a function of it that does not fall, or does not rise if it is turned."""
        low, high = (None if e is None else Fraction(f(e)) for e in (self.low, self.high))
        return _Jumps(high, low, self.at) if turned else _Jumps(low, high, self.at)


Value = Line | _Jumps


def constant_pieces(graph: Graph, lower: float, upper: float) -> list[ConstantPiece]:
    """Return the open intervals between its jumps on which a graph of one input is constant.

    Parameters
    ----------
    graph : Graph
        A function of one number.
    lower, upper : float
        Where to look; they may be infinite.

    Raises
    ------
    NotEnclosed
        A function that is not constant between jumps, has more than `MOST_PIECES` of them, or
        turns where no rational arithmetic finds it. Jumps of what it is made of count too, unless
        a bound or a choice leaves nothing of them.

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y: (y > 0.5) + 2.0 * (abs(y) <= 0.25), ("y",), ())
    >>> [(str(p.low), str(p.high), int(p.value)) for p in constant_pieces(graph, 0.0, math.inf)]
    [('0', '1/4', 2), ('1/4', '1/2', 0), ('1/2', 'None', 1)]
    >>> graph = trace(lambda y: np.clip(np.floor(y), 4, 5), ("y",), ())
    >>> [(str(p.low), str(p.high), int(p.value)) for p in constant_pieces(graph, 0.0, math.inf)]
    [('0', '5', 4), ('5', 'None', 5)]
    """
    found: list[ConstantPiece] = []
    cuts = 0
    open_ = [tuple(Fraction(e) if math.isfinite(e) else None for e in (lower, upper))]
    while open_:
        low, high = open_.pop()
        try:
            slope, value = _Arithmetic(low, high).value(graph)
        except _Cut as cut:
            open_ += [(cut.at, high), (low, cut.at)]
            cuts += 1  # not the pieces found: those of one value are joined, without end
            if cuts >= MOST_PIECES:
                raise NotEnclosed(f"it has more than {MOST_PIECES} jumps") from None
            continue
        if slope:
            where = " to ".join("infinity" if e is None else f"{float(e):.6g}" for e in (low, high))
            raise NotEnclosed(f"it is not constant on an interval, {where}")
        same = bool(found) and low is not None and found[-1].value == value
        if same and value == value_at(graph, low):  # type: ignore[arg-type]
            found[-1] = ConstantPiece(found[-1].low, high, value)
        else:
            found.append(ConstantPiece(low, high, value))
    return found


def value_at(graph: Graph, point: Fraction) -> Fraction:
    """Return the value at one number, exactly.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> value_at(trace(lambda y: (y >= 0.5) * 1.0, ("y",), ()), Fraction(1, 2))
    Fraction(1, 1)
    """
    return _Arithmetic(point, point).value(graph)[1]


def _inside(low: Fraction | None, high: Fraction | None) -> Fraction:
    if low is not None:
        return low + 1 if high is None else (low + high) / 2
    return _NONE if high is None else high - 1


class _Arithmetic:
    """Lines a y + b on an open interval, or numbers at a point; of what jumps there, the range."""

    def __init__(self, low: Fraction | None, high: Fraction | None):
        self.low, self.high = low, high
        self.point = low is not None and low == high
        self.inside = _inside(low, high)

    def value(self, graph: Graph) -> Line:
        """Return the value of a graph; raise `_Cut` where it may jump."""
        return _settled(self._of(graph))

    def _of(self, graph: Graph, **known: Value) -> Value:
        found: list[Value] = []
        for op, args in graph.nodes:
            if op == "const":
                if not math.isfinite(args[0]):
                    raise NotEnclosed(f"it has the constant {args[0]}")
                found.append((_NONE, Fraction(args[0])))
            elif op == "input":
                own = (_NONE, self.inside) if self.point else (_ONE, _NONE)
                found.append(known.get(args[0], own))
            else:
                found.append(self.apply(op, *(found[a] for a in args)))
        return found[-1]

    def apply(self, op: str, *args: Value) -> Value:
        """Return an operation of lines, and of what jumps."""
        rule = getattr(self, f"_{op}", None)
        if rule is not None:
            return rule(*args)
        if op in OPERATIONS and OPERATIONS[op].means:
            return self._of(_meaning(op), **dict(zip("uv", args, strict=False)))
        raise NotEnclosed(f"exact arithmetic for {op} is not in this version")

    def sign(self, u: Value) -> int:
        """Return the sign of a line, or of what jumps, the same on the whole interval."""
        if isinstance(u, _Jumps):
            if u.low is not None and u.low == u.high == 0:
                return 0
            if u.low is not None and u.low > 0:
                return 1
            if u.high is not None and u.high < 0:
                return -1
            raise _Cut(u.at)
        slope, level = u
        if slope:
            root = -level / slope
            if (self.low is None or self.low < root) and (self.high is None or root < self.high):
                raise _Cut(root)
            level = slope * self.inside + level
        return (level > 0) - (level < 0)

    def _add(self, u: Value, v: Value) -> Value:
        for one, other in ((u, v), (v, u)):
            if isinstance(one, _Jumps):
                shift = _beside(one, other)
                return one.through(lambda e, c=shift: e + c)
        u, v = _settled(u), _settled(v)
        return u[0] + v[0], u[1] + v[1]

    def _subtract(self, u: Value, v: Value) -> Value:
        return self._add(u, self._negative(v))

    def _negative(self, u: Value) -> Value:
        if isinstance(u, _Jumps):
            return u.through(lambda e: -e, turned=True)
        return -u[0], -u[1]

    def _multiply(self, u: Value, v: Value) -> Value:
        for one, other in ((u, v), (v, u)):
            if isinstance(one, _Jumps):
                factor = _beside(one, other)
                if not factor:
                    return _NONE, _NONE
                return one.through(lambda e, c=factor: c * e, turned=factor < 0)
        u, v = _settled(u), _settled(v)
        if u[0]:
            u, v = v, u
        if u[0]:
            raise NotEnclosed("it multiplies what is no constant")
        return u[1] * v[0], u[1] * v[1]

    def _divide(self, u: Value, v: Value) -> Value:
        v = _settled(v)
        if v[0] or not v[1]:
            raise NotEnclosed("it divides by 0, or by what is no constant")
        return self._multiply(u, (_NONE, 1 / v[1]))

    def _square(self, u: Value) -> Value:
        return self._multiply(u, u)

    def _absolute(self, u: Value) -> Value:
        return u if self.sign(u) >= 0 else self._negative(u)

    def _maximum(self, u: Value, v: Value) -> Value:
        return u if self.sign(self._subtract(u, v)) >= 0 else v

    def _minimum(self, u: Value, v: Value) -> Value:
        return v if self.sign(self._subtract(u, v)) >= 0 else u

    def _less(self, u: Value, v: Value) -> Line:
        return _NONE, Fraction(self.sign(self._subtract(u, v)) < 0)

    def _less_equal(self, u: Value, v: Value) -> Line:
        return _NONE, Fraction(self.sign(self._subtract(u, v)) <= 0)

    def _equal(self, u: Value, v: Value) -> Line:
        return _NONE, Fraction(self.sign(self._subtract(u, v)) == 0)

    def _truth(self, u: Value) -> bool:
        return self.sign(u) != 0

    def _logical_and(self, u: Value, v: Value) -> Line:
        return _NONE, Fraction(self._truth(u) and self._truth(v))

    def _logical_or(self, u: Value, v: Value) -> Line:
        return _NONE, Fraction(self._truth(u) or self._truth(v))

    def _logical_not(self, u: Value) -> Line:
        return _NONE, Fraction(not self._truth(u))

    def _where(self, u: Value, v: Value, w: Value) -> Value:
        return v if self._truth(u) else w

    def _floor(self, u: Value) -> Value:
        """Return the whole number below; of a line that meets one inside, the range of it."""
        if isinstance(u, _Jumps):
            return u.through(math.floor)
        slope, level = u
        if not slope:
            return _NONE, Fraction(math.floor(level))
        ends = [None if e is None else slope * e + level for e in (self.low, self.high)]
        low, high = ends if slope > 0 else ends[::-1]
        least = None if low is None else math.floor(low)
        most = None if high is None else math.ceil(high) - 1
        if least is not None and least == most:
            return _NONE, Fraction(least)
        if low is not None and high is not None:  # about the middle, so that few are cut
            beside = max(math.floor(low) + 1, math.floor((low + high) / 2))
        elif least is not None:  # twice as far each time, once it is beyond 0
            beside = max(least + 1, 2 * least, 0)
        else:
            beside = min(2 * most, 0) if most is not None else 0
        first, last = (None if e is None else Fraction(e) for e in (least, most))
        return _Jumps(first, last, (beside - level) / slope)

    def _rint(self, u: Value) -> Value:
        """Round to the nearest whole number, of two the even one."""
        if isinstance(u, _Jumps):
            return u.through(round)
        return self._floor((u[0], u[1] + _HALF)) if u[0] else (_NONE, Fraction(round(u[1])))


def _settled(u: Value) -> Line:
    """Return a line; raise `_Cut` for what jumps."""
    if not isinstance(u, _Jumps):
        return u
    if u.low is not None and u.low == u.high:
        return _NONE, u.low
    raise _Cut(u.at)


def _beside(u: _Jumps, v: Value) -> Fraction:
    """Return a constant; raise `_Cut` for anything else beside what jumps."""
    slope, level = _settled(v)
    if slope:
        raise _Cut(u.at)
    return level


@cache
def _meaning(op: str) -> Graph:
    return formula(OPERATIONS[op].means)
