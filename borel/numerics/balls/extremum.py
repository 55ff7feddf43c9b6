"""Enclose the essential supremum or infimum of an expression graph over an interval.

Branch and bound on one box at a time. Every lower bound on a supremum is the least value of the
graph over a box of positive length; every upper bound is that of a list of boxes that cover the
interval.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from flint import arb

from borel.numerics.balls.arithmetic import ends, precision
from borel.numerics.balls.improper_integral import log_slopes
from borel.numerics.balls.interpreter import middle
from borel.numerics.balls.ranges import INF, ZERO, ZERO_BALL, negative, plus, times
from borel.numerics.balls.second_derivative import curvature

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from borel.numerics.balls.interpreter import Prepared, Slice

_ULPS = 32  # boxes of fewer floats are not split: they must keep a positive length
_LONG = 4  # times as far from an end as it is near: a box that logarithms may shorten
_FAR = 1e30  # infinite boxes that begin beyond are not split


class Leaf(NamedTuple):
    """A box on which a supremum is at most ``bound`` (an infimum at least)."""

    low: float
    high: float
    bound: Any


class Extreme(NamedTuple):
    """An enclosure of an essential supremum or infimum.

    Attributes
    ----------
    lower, upper : arb
        Exact numbers, perhaps infinite.
    box : tuple of float, or None
        A box of positive length on which the graph is at least ``lower`` almost everywhere, for a
        supremum; at most ``upper``, for an infimum.
    leaves : list of Leaf
        Boxes that cover the interval, and prove the other end.
    """

    lower: Any
    upper: Any
    box: tuple[float, float] | None
    leaves: list[Leaf]

    @property
    def floats(self) -> tuple[float, float]:
        """The ends rounded outwards to floats."""
        lower = ends(self.lower)[0] if self.lower.is_finite() else float(self.lower)
        return lower, ends(self.upper)[1] if self.upper.is_finite() else float(self.upper)


def extreme(
    graph: Prepared,
    inputs: Mapping[str, Any],
    a: float,
    b: float,
    *,
    sign: int = 1,
    tol: float = 1e-10,
    rel_tol: float = 0.0,
    breaks: Sequence[float] = (),
    bits: int = 64,
    boxes: int = 2000,
) -> Extreme:
    """Enclose the essential supremum of a graph over [a, b], or its infimum.

    Parameters
    ----------
    graph : Prepared
        The graph, of a density or better of its logarithm.
    inputs : mapping
        The other inputs.
    a, b : float
        The ends; they may be infinite.
    sign : int
        1 for the supremum, -1 for the infimum.
    tol, rel_tol : float
        The gap aimed at: the larger of ``tol`` and ``rel_tol`` times the size of the figure.
    breaks : sequence of float
        Places of kinks, jumps and maxima; they cost less time if they are given.
    bits : int
        Arb's precision.
    boxes : int
        How many boxes are looked at before a wide answer is given.

    Returns
    -------
    Extreme
        True in any case.

    Raises
    ------
    ValueError
        The interval has no length.

    Examples
    --------
    >>> from borel.numerics.balls.interpreter import Prepared
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = Prepared(trace(lambda y, x: -((y - x) ** 2), ("y", "x"), ()))
    >>> extreme(graph, {"y": 0.25}, -1.0, 1.0, sign=-1).floats
    (-1.5625, -1.5625)
    """
    a, b = float(a), float(b)
    if not a < b:
        raise ValueError(f"expected a < b, got [{a!r}, {b!r}]")
    with precision(bits):
        cuts = sorted({a, b, *(float(c) for c in breaks if a < c < b)})
        search = _Search(graph.at(inputs), sign, cuts, tol, rel_tol)
        while search.count < boxes and not search.finished():
            search.refine()
        return search.result()


@dataclass(slots=True)
class _Box:
    """A box, what was found on it, and the least upper bound so far."""

    p: float
    q: float
    v: list
    d: list
    high: Any
    slope: Any
    closed: bool = False  # splitting would not improve the bound
    refined: bool = False
    value: float = -math.inf  # somewhere inside

    def lower(self, bound: Any) -> None:
        """Take a bound if it is certainly better; NaN is not."""
        if bound < self.high or (self.high.is_nan() and not bound.is_nan()):
            self.high = bound


class _Search:
    """The state of one branch and bound, for sign * f."""

    def __init__(self, f: Slice, sign: int, cuts: list[float], tol: float, rel_tol: float):
        self.f, self.sign, self.tol, self.rel_tol = f, sign, tol, rel_tol
        self.ends = p, q = cuts[0], cuts[-1]
        self.least = 2.0**-80 * (q - p if _bounded(p, q) else 1.0)
        self.best, self.box = -INF, None
        self.heap: list[tuple[float, int, _Box]] = []
        self.done: list[_Box] = []
        self.count = 0
        self.add(self._with_margins(cuts))

    def tolerance(self) -> float:
        """Return the gap aimed at."""
        size = abs(float(self.best))
        return max(self.tol, self.rel_tol * size) if math.isfinite(size) else self.tol

    def finished(self) -> bool:
        """Say if the best box that is left cannot be better than what is known."""
        return not self.heap or self._settled(self.heap[0][2].high)

    def add(self, cuts: list[float]) -> None:
        """Bound the boxes between cuts."""
        for p, q in pairwise(cuts):
            self._keep(self._first(p, q))

    def refine(self) -> None:
        """Take the most promising box: bound it by its curvature, cut it at a kink, or halve it."""
        box = self._pop()
        if not box.refined and self._finite(box):
            self._keep(self._second(box))
            return
        undecided = self.f.branch(box.v)[1]
        if undecided:
            self.add(self.f.cut(box.v, undecided[0], box.p, box.q))
        else:
            self.add([box.p, middle(box.p, box.q), box.q])

    def _pop(self) -> _Box:
        """Take the box with the largest bound, but now and then the one with the largest value.

        Where nothing bounds the function, both ends must still come nearer to what is known.
        """
        if self.count % 8 == 7:
            k = max(range(len(self.heap)), key=lambda i: self.heap[i][2].value)
            box = self.heap[k][2]
            self.heap[k] = self.heap[-1]
            self.heap.pop()
            heapq.heapify(self.heap)
            return box
        return heapq.heappop(self.heap)[2]

    def _keep(self, box: _Box) -> None:
        if box.closed or self._narrow(box.p, box.q):
            self.done.append(box)
        else:
            heapq.heappush(self.heap, (-float(_upper(box.high)), self.count, box))
        self.count += 1

    def _settled(self, high: Any) -> bool:
        return bool(float(_upper(high)) <= float(self.best) + self.tolerance() / 2)

    def _finite(self, box: _Box) -> bool:
        return box.slope[0].is_finite() and box.slope[1].is_finite()

    def _with_margins(self, cuts: list[float]) -> list[float]:
        """Cut off a tiny box at an end where slopes are infinite, so that logarithms are finite."""
        first, last = self._box(*cuts[:2]), self._box(*cuts[-2:])
        margins = []
        if math.isfinite(first.p) and not self._finite(first):
            margins.append(_inside(first.p, first.q, first.p)[1])
        if math.isfinite(last.q) and not self._finite(last):
            margins.append(_inside(last.p, last.q, last.q)[0])
        return sorted({*cuts, *margins})

    def _box(self, p: float, q: float) -> _Box:
        v, d = self.f.run(arb(p), arb(q))
        high = self._signed(v[self.f.root])[1]
        return _Box(p, q, v, d, high, self._signed(d[self.f.root] or ZERO))

    def _first(self, p: float, q: float) -> _Box:
        """Bound a box by its range, by its ends if it is monotone, and by the mean-value form.

        All that is evaluated inside keeps the decisions of the whole box.
        """
        box = self._box(p, q)
        if self._settled(box.high):
            return box
        trend = _trend(box.slope) or self._log_trend(box)
        if trend:
            return self._monotone(box, trend)
        c1, c2 = _inside(p, q, middle(p, q))
        most, _ = self._look(box.v, c1, c2, slope=False)
        box.value = float(most)
        low, high = box.slope
        right, left = high * (arb(q) - arb(c2)), -low * (arb(c1) - arb(p))
        box.lower(most + right.max(left).max(ZERO_BALL))
        return box

    def _second(self, box: _Box) -> _Box:
        """Bound a box by its curvature; where it is concave, find the maximum."""
        box.refined = True
        p, q = box.p, box.q
        left, right = arb(p), arb(q)
        curve = self._signed(curvature(self.f, box.v, box.d))
        if not curve[1].is_finite() and not curve[0].is_finite():
            return box
        concave = bool(curve[1] <= 0)
        place, before = middle(p, q), None
        for _ in range(8):
            c1, c2 = _inside(p, q, place)
            x1, x2 = arb(c1), arb(c2)
            most, tilt = self._look(box.v, c1, c2)
            trend = _trend(plus(tilt, times(curve, (left - x2, right - x1))))
            if trend:
                return self._monotone(box, trend)
            rest = _rise(tilt[1], curve[1], right - x2).max(_rise(-tilt[0], curve[1], x1 - left))
            box.lower(most + rest)
            box.closed = concave and rest < self.tolerance() / 64
            if box.closed or not concave:
                break
            # the maximum of a concave function, by Newton's method and then by secants
            here = place, float(tilt[0].mid())
            bend = float((curve[0] + curve[1]).mid()) / 2
            if before is not None and before[0] != here[0]:
                bend = (here[1] - before[1]) / (here[0] - before[0])
            before = here
            place = place - here[1] / bend if bend else math.nan
            if not p < place < q:
                break
        return box

    def _look(self, v: list, c1: float, c2: float, slope: bool = True) -> tuple[Any, Any]:
        """Return the largest value and the slopes on a box inside; its least one is a lower bound.

        The decisions of the box around it hold almost everywhere on it too.
        """
        w, d = self.f.run(arb(c1), arb(c2), slope=slope, frozen=v)
        least, most = self._signed(w[self.f.root])
        if least > self.best:
            self.best, self.box = least.lower(), (c1, c2)
        return most, self._signed(d[self.f.root] or ZERO)

    def _monotone(self, box: _Box, trend: int) -> _Box:
        """Bound a monotone function on a box: by its values next to one end."""
        end = box.q if trend > 0 else box.p
        inner = _inside(box.p, box.q, end if math.isfinite(end) else middle(box.p, box.q))
        most, _ = self._look(box.v, *inner, slope=False)
        box.closed = end in inner
        if box.closed:
            box.lower(most)
        return box

    def _log_trend(self, box: _Box) -> int:
        """Return the trend by slopes in the logarithm of a distance, on boxes long for that."""
        p, q = box.p, box.q
        known = [(near / far, side, unit) for near, far, side, unit in self._distances(p, q)]
        if not known or min(known)[0] * _LONG > 1:
            return 0
        _, side, unit = min(known)
        slope, log = log_slopes(self.f, box.v, (arb(p), arb(q)), arb(side), unit)
        value = box.v[self.f.root]
        sign = 1 if value[0] >= 0 else -1 if value[1] <= 0 else 0
        return self.sign * unit * (_trend(slope) or sign * _trend(log))

    def _distances(self, p: float, q: float) -> Iterator[tuple[float, float, float, int]]:
        """Yield how near and how far a box is from both ends (from 0 if they are infinite)."""
        for end, unit in zip(self.ends, (1, -1), strict=True):
            side = end if math.isfinite(end) else 0.0
            near, far = sorted((unit * (p - side), unit * (q - side)))
            if near >= 0:
                yield near, far, side, unit

    def _narrow(self, p: float, q: float) -> bool:
        if not _bounded(p, q):
            return max(p, -q) > _FAR
        return q - p <= max(_ULPS * math.ulp(max(abs(p), abs(q))), self.least)

    def _signed(self, p: Any) -> Any:
        return p if self.sign > 0 else negative(p)

    def result(self) -> Extreme:
        """Collect the leaves and the ends that they prove."""
        boxes = self.done + [box for _, _, box in self.heap]
        leaves = [Leaf(box.p, box.q, _upper(box.high)) for box in boxes]
        upper = -INF
        for leaf in leaves:
            upper = upper.max(leaf.bound)
        if self.sign > 0:
            return Extreme(self.best, upper.upper(), self.box, leaves)
        flipped = [Leaf(p, q, -bound) for p, q, bound in leaves]
        return Extreme(-upper.upper(), -self.best, self.box, flipped)


def _trend(slope: Any) -> int:
    return 1 if slope[0] >= 0 else -1 if slope[1] <= 0 else 0


def _rise(slope: Any, curve: Any, length: Any) -> Any:
    """Bound slope * u + curve * u**2 / 2 over 0 <= u <= length; never below 0."""
    if slope <= 0 and curve <= 0:
        return ZERO_BALL
    if curve < 0:
        return slope * length.min(slope / -curve)
    return (slope * length + curve * length * length / 2).max(ZERO_BALL)


def _upper(high: Any) -> Any:
    return INF if high.is_nan() else high.upper()


def _bounded(p: float, q: float) -> bool:
    return math.isfinite(p) and math.isfinite(q)


def _inside(p: float, q: float, c: float) -> tuple[float, float]:
    """Return a very short box of positive length about a point of a box, inside the box."""
    half = max(8 * math.ulp(c), 2.0**-80 * (q - p if _bounded(p, q) else max(1.0, abs(c))))
    return max(p, c - half), min(q, c + half)
