"""Enclose the integral of an expression graph over an interval, through `acb.integral`.

The interval is cut where the graph has kinks or jumps, into pieces on which every comparison is
decided: there the integrand is one holomorphic function. Slivers around the cuts, and around ends
where Arb's balls fail (logarithms at 0), are enclosed by ranges; what cannot be cut is left to the
analytic flags.
"""

from __future__ import annotations

import heapq
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from flint import acb, arb

from borel import settings
from borel.numerics.balls.arithmetic import ends, precision
from borel.numerics.balls.improper_integral import edges, tail
from borel.numerics.balls.ranges import INF, ZERO, ZERO_BALL, plus, times

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from borel.numerics.balls.interpreter import Branch, Prepared, Slice

_LEAST = 1e-30  # a first guess of an integral whose mass was not met
_ULPS = 32  # boxes of fewer floats are not split


class ArbEnclosure(NamedTuple):
    """Two exact Arb numbers, perhaps infinite, that enclose a figure."""

    lower: Any
    upper: Any

    @property
    def floats(self) -> tuple[float, float]:
        """The ends rounded outwards to floats."""
        lower = ends(self.lower)[0] if self.lower.is_finite() else -math.inf
        return lower, ends(self.upper)[1] if self.upper.is_finite() else math.inf


class _Piece(NamedTuple):
    """A part of the interval with what was found there: its branch, or its integral."""

    low: float
    high: float
    branch: Branch | None
    value: Any


def integrate(
    graph: Prepared,
    inputs: Mapping[str, Any],
    a: float,
    b: float,
    *,
    breaks: Sequence[float] = (),
    rel_tol: float = 1e-10,
    bits: int = 64,
    boxes: int = 300,
    evaluations: int = 20_000,
    until: float | None = None,
) -> ArbEnclosure:
    """Enclose the integral of a graph over [a, b].

    Parameters
    ----------
    graph : Prepared
        The integrand; of `product`, for densities in logarithms.
    inputs : mapping
        The other inputs.
    a, b : float
        The ends; they may be infinite.
    breaks : sequence of float
        Places of kinks, jumps and peaks; they cost less time if they are given.
    rel_tol : float
        Relative width aimed at. The width reached is that of the result.
    bits : int
        Arb's precision.
    boxes, evaluations : int
        How many boxes are cut, and how often about the integrand is evaluated, before a wide
        answer is given.
    until : float, optional
        When it is given in any case, by `borel.settings.now`; by default `borel.settings.deadline`.

    Returns
    -------
    Enclosure
        True in any case; an end is infinite where nothing better can be said.

    Raises
    ------
    ValueError
        The interval has no length.

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.balls.interpreter import Prepared
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = Prepared(trace(lambda y, x: np.exp(-abs(y - x)) / 2, ("y", "x"), ()))
    >>> low, high = integrate(graph, {"y": 0.0}, -np.inf, np.inf, breaks=[0.0]).floats
    >>> low <= 1 <= high
    True
    """
    if graph.doubtful:
        return ArbEnclosure(-INF, INF)
    a, b = float(a), float(b)
    if not a < b:
        raise ValueError(f"expected a < b, got [{a!r}, {b!r}]")
    cuts = sorted({a, b, *(float(c) for c in breaks if a < c < b)})
    if len(cuts) == 2 and math.isinf(a) and math.isinf(b):
        cuts.insert(1, 0.0)
    lower, upper = -INF, INF
    deadline = settings.deadline() if until is None else until
    with precision(bits):
        f = graph.at(inputs)
        size = math.fsum(_guess(f, p, q) for p, q in pairwise(cuts))
        allowed = rel_tol / 8 * max(size, _LEAST)
        for _ in range(3):
            pieces = _pieces(f, cuts, allowed / 16, boxes, deadline)
            low, high = _total(f, pieces, rel_tol / 32, allowed, evaluations, deadline)
            lower, upper = (low if low > lower else lower), (high if high < upper else upper)
            if not upper - lower > rel_tol * abs(lower) or not upper.is_finite():
                break
            if settings.late(deadline):
                break
            known = rel_tol / 8 * float(lower)
            allowed = known if not 0.001 * known < allowed < 10 * known else allowed / 1000
            allowed = max(allowed, rel_tol * _LEAST**2)
        if lower < 0 and _range(f, a, b)[0] >= 0:
            lower = ZERO_BALL
    return ArbEnclosure(lower, upper)


def _guess(f: Slice, p: float, q: float) -> float:
    """Guess the integral of |f| over a piece; it sets only how much work slivers are worth."""
    if math.isinf(p) or math.isinf(q):
        base, unit = (p, 1.0) if math.isinf(q) else (q, -1.0)
        grid = [(base + unit * 1.5 * 2.0**j, 2.0**j) for j in range(-6, 9)]
    else:
        grid = [(p + t * (q - p), (q - p) / 5) for t in (0.07, 0.31, 0.5, 0.69, 0.93)]
    total = 0.0
    for place, width in grid:
        x = arb(place)
        value = abs(float(f.run(x, x, slope=False)[0][f.root][1].mid()))
        total += value * width if math.isfinite(value) else 0.0
    return total


def _pieces(
    f: Slice, cuts: Sequence[float], allowed: float, boxes: int, deadline: float
) -> list[_Piece]:
    """Cut the interval until every box has one branch, or an integral known well enough."""
    found: list[_Piece] = []
    heap: list[tuple[float, float, float, Branch, list, list]] = []  # the least known box first

    def look(p: float, q: float) -> None:
        v, _ = f.run(arb(p), arb(q), slope=False)
        branch, undecided = f.branch(v)
        if not undecided:
            found.append(_Piece(p, q, branch, None))
            return
        value = _over(v[f.root], p, q)
        narrow = math.isfinite(q - p) and q - p <= _ULPS * math.ulp(max(abs(p), abs(q)))
        if narrow or value[1] - value[0] <= allowed:
            found.append(_Piece(p, q, None, value))
            return
        doubt = float(value[1] - value[0])
        heapq.heappush(
            heap, (-math.inf if math.isnan(doubt) else -doubt, p, q, branch, v, undecided)
        )

    for p, q in pairwise(cuts):
        look(p, q)
    while heap and boxes > 0 and not settings.late(deadline):
        _, p, q, _, v, undecided = heapq.heappop(heap)
        parts = f.cut(v, undecided[0], p, q)
        boxes -= len(parts) - 1
        for low, high in pairwise(parts):
            look(low, high)
    found += [_Piece(p, q, branch, None) for _, p, q, branch, _, _ in heap]
    found.sort()
    joined = found[:1]
    for piece in found[1:]:
        last = joined[-1]
        if piece.branch is not None and piece.branch is last.branch and not piece.branch.kinks:
            joined[-1] = last._replace(high=piece.high)
        else:
            joined.append(piece)
    return joined


def _total(
    f: Slice,
    pieces: list[_Piece],
    rel_tol: float,
    allowed: float,
    evaluations: int,
    deadline: float,
) -> tuple[Any, Any]:
    """Add the integrals of all pieces and return exact ends."""
    total = ZERO
    each = max(evaluations // len(pieces), 100)
    for p, q, branch, value in pieces:
        if branch is None:
            total = plus(total, value)
            continue
        if settings.late(deadline):
            total = plus(total, _over(_range(f, p, q), p, q))
            continue
        # infinite ends first: the other end may need a finite neighbour
        for side in sorted((0, 1), key=lambda i, ends=(p, q): math.isfinite(ends[i])):
            end, other = (p, q) if side == 0 else (q, p)
            if p < q and not _regular(branch, end, other):
                edge, value = _cut_off(f, end, other, allowed / 4)
                total = plus(total, value)
                p, q = (edge, q) if side == 0 else (p, edge)
        if p < q:
            total = plus(total, _core(f, branch, p, q, rel_tol, allowed, each))
    low, high = total[0].lower(), total[1].upper()
    return (-INF if low.is_nan() else low), (INF if high.is_nan() else high)


def _regular(branch: Branch, end: float, other: float) -> bool:
    """Say if Arb's balls see something finite next to an end."""
    if math.isinf(end):
        return False
    return branch.real(arb(end).union(arb(end + (other - end) * 2.0**-30))).is_finite()


def _cut_off(f: Slice, end: float, other: float, allowed: float) -> tuple[float, tuple[Any, Any]]:
    """Enclose the part next to an end, of a length at which it is known well enough."""
    best = None
    for edge in edges(end, other):
        if edge in (end, other):
            break
        value = tail(f, edge, end)
        if not math.isinf(end):
            by_range = _over(_range(f, edge, end), edge, end)
            if value is None or not by_range[1] - by_range[0] > value[1] - value[0]:
                value = by_range
        if value is None:
            continue
        if best is None or not value[1] - value[0] >= best[1][1] - best[1][0]:
            best = edge, value
        if value[1] - value[0] <= allowed:
            break
    return best or (other, _over(_range(f, end, other), end, other))


def _range(f: Slice, p: float, q: float) -> tuple[Any, Any]:
    """Return the range of f between two points."""
    v, _ = f.run(arb(min(p, q)), arb(max(p, q)), slope=False)
    return v[f.root]


def _over(value: tuple[Any, Any], p: float, q: float) -> tuple[Any, Any]:
    """Enclose the integral of what has a range between two points, of which one may be infinite."""
    if value[0] == 0 and value[1] == 0:
        return ZERO
    width = abs(arb(q) - arb(p))
    out = times(value, (width, width))
    # 0 times infinity: a function >= 0 has an integral >= 0
    return (ZERO_BALL if value[0] >= 0 and not width.is_finite() else out[0]), out[1]


def _core(
    f: Slice,
    branch: Branch,
    p: float,
    q: float,
    rel_tol: float,
    allowed: float,
    evaluations: int,
) -> tuple[Any, Any]:
    """Integrate a branch by Arb; where that fails, or the result is not real, by the range."""
    branch.error = None
    value = acb.integral(
        branch,
        acb(p),
        acb(q),
        rel_tol=arb(rel_tol),
        abs_tol=arb(allowed / 32),
        eval_limit=evaluations,
    )
    if branch.error is not None:
        raise branch.error
    if not value.is_finite() or not value.imag.contains(0):
        return _over(_range(f, p, q), p, q)
    return value.real, value.real
