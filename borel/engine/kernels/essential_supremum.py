"""Essential suprema over the secret, by batched branch and bound on log f(y|x).

A box gives an upper bound by its range, its mean-value form and, where the function is concave,
by a tangent. Lower bounds come only from sets of positive mass: from the range over a whole box,
or from the value at a point of a box on which the derivative is bounded, since there the function
is, almost everywhere, a continuous one (taken with the branches decided on the whole box).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import settings
from borel.engine.kernels import settling_counts
from borel.engine.kernels.unbounded_secrets import JUMPS, middle
from borel.engine.problem.secret_and_kernel import Surface, boxes, chosen, merged
from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from borel.numerics.intervals.batched import Box

_LANES = 400_000
_STEEP = 32


class Extremes(NamedTuple):
    """Enclosures of an essential supremum at n outcomes, with where it lies.

    Attributes
    ----------
    lower, upper : ndarray (n,)
        Enclosures of the supremum (of the infimum, for ``sign=-1``).
    place : ndarray (n, d)
        Where the best value was found.
    corner : list of tuple
        Boxes ``(y index, a, b)`` on which no finite bound was found.
    direct : ndarray (n,)
        With ``around``: a bound on sign * log f over the boxes that were not dominated.
    dominated : ndarray (n,)
        The same over those that were: there L(y, x0) is not exceeded either.
    """

    lower: np.ndarray
    upper: np.ndarray
    place: np.ndarray
    corner: list[tuple[int, np.ndarray, np.ndarray]]
    direct: np.ndarray = np.zeros(0)
    dominated: np.ndarray = np.zeros(0)


class _Boxes(NamedTuple):
    """Work: the outcome a box belongs to, and its ends."""

    index: np.ndarray
    a: np.ndarray
    b: np.ndarray


class _Bounds(NamedTuple):
    """What an evaluation of boxes found, for the supremum of sign * log f."""

    upper: np.ndarray
    lower: np.ndarray
    place: np.ndarray
    split: np.ndarray  # where to split, and along which coordinate
    along: np.ndarray
    kinked: np.ndarray
    settled: np.ndarray  # the bounds are as good as they get: no need to split
    direct: np.ndarray  # the range over the box of outcomes and secrets, from above
    a: np.ndarray
    b: np.ndarray


class Tubes(NamedTuple):
    """Lines of secrets, one for each box of outcomes, and intervals of secrets around them.

    Attributes
    ----------
    place, speed : ndarray (n,)
        x0 and v; v = 0 where there is no tube.
    low, high : ndarray (n,)
        Ends of T; from inf to -inf where there is none.
    excess : ndarray (n,)
        What L exceeds its value along the line by at most, on T and for every y.
    """

    place: np.ndarray
    speed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    excess: np.ndarray


class CentredBoxes(NamedTuple):
    """Boxes of outcomes, seen from their centres and from one secret each.

    ``L(y, x) - L(y, x0)`` differs from its value at the centre c by at most
    ``|y - c| |L_y(y', x) - L_y(y', x0)|``, which is small for x near x0: what is bounded is the
    supremum over x of that difference, for every y of the box at once.

    Attributes
    ----------
    centre : ndarray (n,)
        The centres c.
    half : ndarray (n,)
        At least ``|y - c|``.
    slope : Box, arrays (n,)
        L_y(y, x0) over the box.
    start : ndarray (n,)
        sign * L(c, x0), from below.
    least : ndarray (n,)
        sign * L(y, x0) over the box, from below: what is below it is exceeded by x0 everywhere.
    place : ndarray (n, d)
        The secrets x0.
    smooth : ndarray of bool (n,)
        Where the kernel is continuous in the secret around x0, for every y of the box.
    tubes : Tubes or None
        Paths that move with y, from x0 at the centre, and what is known beside them: then L(y, x0)
        is L along the path.
    """

    centre: np.ndarray
    half: np.ndarray
    slope: Box
    start: np.ndarray
    least: np.ndarray
    place: np.ndarray
    smooth: np.ndarray
    tubes: Tubes | None = None


def extremes(
    surface: Surface,
    y: Box | None,
    n: int,
    *,
    sign: float,
    tol: float,
    around: CentredBoxes | None = None,
    seeds: np.ndarray | None = None,
    deadline: float = np.inf,
    rounds: int = 90,
) -> Extremes:
    """Enclose the essential supremum (infimum, for ``sign=-1``) of log f(y|x) over the secret.

    Parameters
    ----------
    surface : Surface
        The kernel and the prior.
    y : tuple of arrays (n,), or None
        Outcomes, points or boxes; for a box the enclosure holds for every y in it.
    n : int
        How many.
    sign : {1, -1}
        Supremum or infimum.
    tol : float
        Width, in nats, at which a box is not split any more.
    around : CentredBoxes, optional
        For boxes of outcomes: then ``upper - start`` bounds what the supremum exceeds L(y, x0) by,
        and ``direct`` is the supremum over the boxes.
    seeds : ndarray (n, d), optional
        A point to look at first, for each outcome: where the extreme may be.
    deadline : float
        When to stop, by `borel.settings.now`.
    """
    secret = surface.secret
    best = np.full(n, -np.inf)
    place = np.full((n, secret.dim), np.nan)
    done = np.full(n, -np.inf)
    direct, dominated = np.full(n, -np.inf), np.full(n, -np.inf)
    corner: list[tuple[int, np.ndarray, np.ndarray]] = []
    if around is not None:
        best = around.start.copy()
        if around.tubes is not None:
            beside = around.start + around.tubes.excess
            beside = beside + np.abs(beside) * 2.0**-50
            done = np.where(np.isfinite(beside), beside, done)
    if len(secret.atoms):
        low, done, where, direct = _at_atoms(surface, y, n, sign, around)
        if around is None:
            best, place = low, where
    if secret.rest:
        more = over_rest(surface, y, n, sign)
        direct = np.maximum(direct, more)
        if around is not None:  # what it may exceed L(y, x0) by, for the y at which that is least
            with np.errstate(invalid="ignore"):
                size = np.maximum(np.abs(around.slope[0]), np.abs(around.slope[1]))
                more = more + around.half * size * (1 + 2.0**-50)
            more = np.where(np.isnan(more), np.inf, more + np.abs(more) * 2.0**-50)
            found = settling_counts.settling(surface)
            if found is not None and y is not None and surface.needs_y:
                seen = around.centre, around.half, around.slope
                beside = settling_counts.over_rest_beside(found, y, n, sign, *seen)
                more = np.minimum(more, beside)
        done = np.maximum(done, more)
    if secret.continuous:
        work = _initial(secret, n)
        # what is known of a box before it is looked at: what held on the box that it was cut from
        above = np.full((2, len(work.index)), np.inf)
        if seeds is not None:
            probe = _bounds(surface, y, _around_seeds(secret, seeds), sign, around)
            _raise_best(best, place, np.arange(n), probe.lower, probe.place)
        for turn in range(rounds):
            parts = []
            if around is not None and around.tubes is not None:
                work, above = _outside(around.tubes, work, above)
            for s in _slices(len(work.index)):
                parts.append(_bounds(surface, y, _Boxes(*(v[s] for v in work)), sign, around))
                late = settings.late(deadline)
                if late:
                    break
            found = _Bounds(*(np.concatenate(c) for c in zip(*parts, strict=True)))
            seen = len(found.upper)
            for known, inherited in zip((done, direct), above, strict=True):
                np.maximum.at(known, work.index[seen:], inherited[seen:])
            index = work.index[:seen]
            if around is None:
                _raise_best(best, place, index, found.lower, found.place)
            useful = found.upper > best[index]
            open_ = useful & ~(found.upper <= best[index] + tol) & ~found.settled
            last = turn == rounds - 1 or late or open_.sum() > _LANES
            final = useful if last else useful & ~open_
            np.maximum.at(done, index[final], found.upper[final])
            np.maximum.at(direct, index[final], found.direct[final])
            np.maximum.at(dominated, index[~useful], found.direct[~useful])
            stuck = np.flatnonzero(final & np.isposinf(found.upper))
            corner.extend((int(index[k]), found.a[k], found.b[k]) for k in stuck[:64])
            if last or not open_.any():
                break
            keep = np.flatnonzero(open_)
            found = _Bounds(*(v[keep] for v in found))
            parent, a, b = cut_boxes(
                np.arange(len(keep)), found.a, found.b, found.along, found.split, found.kinked
            )
            work = _Boxes(index[keep][parent], a, b)
            above = np.array([found.upper, found.direct])[:, parent]
    upper = np.maximum(done, best)
    if sign < 0 and around is None:
        return Extremes(-upper, -best, place, corner, -direct, -dominated)
    return Extremes(best, upper, place, corner, direct, dominated)


def _outside(tubes: Tubes, work: _Boxes, above: np.ndarray) -> tuple[_Boxes, np.ndarray]:
    """Leave out what tubes hold: boxes inside of one, and the part of a box that is."""
    a, b, low, high = work.a, work.b, tubes.low[work.index, None], tubes.high[work.index, None]
    keep = ((a < low) | (b > high))[:, 0]
    to_low = (a < low) & (low < b) & (b <= high)
    from_high = (low <= a) & (a < high) & (high < b)
    a, b = np.where(from_high, high, a), np.where(to_low, low, b)
    return _Boxes(work.index[keep], a[keep], b[keep]), above[:, keep]


def over_rest(
    surface: Surface,
    y: Box | None,
    n: int,
    sign: float,
    rest: Sequence[tuple[float, float]] | None = None,
) -> np.ndarray:
    """Bound sign * log f over what is beyond the head of a countable prior, from above."""
    out = np.full(n, -np.inf)
    for low, high in surface.secret.rest if rest is None else rest:
        x = [(np.full((1, n), low), np.full((1, n), high))]
        at = None if y is None or not surface.needs_y else (y[0][None], y[1][None])
        value = batched.settled(arithmetic.entry(surface.log.run(surface.inputs(x, at), 0).jet, 0))
        value = value if sign > 0 else batched.negative(value)
        top = np.broadcast_to(value[1], n)
        out = np.maximum(out, np.where(np.isnan(top), np.inf, top))
    found = settling_counts.settling(surface) if rest is None else None
    if found is not None:
        at = None if y is None or not surface.needs_y else y
        out = np.minimum(out, settling_counts.over_rest(found, at, n, sign))
    return out


def _slices(count: int, size: int = 8192) -> list[slice]:
    return [slice(k, min(k + size, count)) for k in range(0, count, size)] or [slice(0, 0)]


def _raise_best(best, place, index, lower, where) -> None:
    order = np.argsort(lower, kind="stable")  # the largest is written last
    better = lower[order] > best[index[order]]
    order = order[better]
    best[index[order]] = lower[order]
    place[index[order]] = where[order]


def _at_atoms(surface: Surface, y: Box | None, n: int, sign: float, around: CentredBoxes | None):
    """Enclose the extreme over the atoms: points of positive mass."""
    points = surface.secret.atoms
    low, high = np.full(n, -np.inf), np.full(n, -np.inf)
    direct = np.full(n, -np.inf)
    place = np.full((n, points.shape[1]), np.nan)
    block = max(1, 200_000 // max(1, len(points)))
    x = [batched.point(points[None, :, j][None]) for j in range(points.shape[1])]

    def run(low: np.ndarray, high: np.ndarray, order: int, decisions: Any = None) -> Any:
        at = arithmetic.variable(low[:, None], high[:, None], order)
        return surface.log.run(surface.inputs(x, at), order, decisions=decisions)

    def entry(found: Any, k: int) -> Box:
        value = arithmetic.entry(found.jet, k)
        value = value if sign > 0 else batched.negative(value)
        shape = (rows.stop - rows.start, len(points))
        return np.broadcast_to(value[0], shape), np.broadcast_to(value[1], shape)

    for start in range(0, n, block):
        rows = slice(start, min(start + block, n))
        ends = (np.zeros(rows.stop - start),) * 2 if y is None else (y[0][rows], y[1][rows])
        if around is None:
            lower, upper = entry(run(*ends, 0), 0)
        else:
            # on the box first: the centre, a point, takes its branches
            box = run(*ends, 1)
            direct[rows] = entry(box, 0)[1].max(axis=1)
            slope = entry(box, 1)
            centre = around.centre[rows]
            lower, upper = entry(run(centre, centre, 0, box.decisions), 0)
            middle = around.slope[0][rows, None], around.slope[1][rows, None]
            gap = batched.subtract(slope, middle)
            with np.errstate(invalid="ignore"):
                extra = around.half[rows, None] * np.maximum(np.abs(gap[0]), np.abs(gap[1]))
            upper = upper + np.where(np.isnan(extra), np.inf, extra) * (1 + 2.0**-50)
            # x0 itself exceeds L(y, x0) nowhere
            own = (points == around.place[rows, None]).all(axis=2) & around.smooth[rows, None]
            upper = np.where(own, around.start[rows, None], upper)
        low[rows], high[rows] = lower.max(axis=1), upper.max(axis=1)
        place[rows] = points[np.argmax(lower, axis=1)]
    return low, high, place, direct


def _around_seeds(secret, seeds: np.ndarray) -> _Boxes:
    """Return small boxes around points: sets of positive mass that prove lower bounds."""
    half = 2.0**-30 * np.maximum(np.abs(seeds), 2.0**-10)
    a, b = np.maximum(seeds - half, secret.lower), np.minimum(seeds + half, secret.upper)
    return _Boxes(np.arange(len(seeds)), a, b)


def _initial(secret, n: int) -> _Boxes:
    """Cover the alphabet of the secret by a few boxes, cut at the declared breaks."""
    cuts = []
    for j in range(secret.dim):
        low, high = float(secret.lower[j]), float(secret.upper[j])
        inner = [c for c in secret.breaks if low < c < high] if secret.dim == 1 else []
        if np.isinf(low) or np.isinf(high):
            about = middle(secret)
            start = [about - 1, about + 1] if np.isinf(low) and np.isinf(high) else []
            start += [low + 1.0] if np.isfinite(low) else []
            start += [high - 1.0] if np.isfinite(high) else []
            inner += start
        elif secret.dim == 1:
            inner += list(low + (high - low) * np.array([0.25, 0.5, 0.75]))
        ends = np.unique([low, *inner, high])
        cuts.append((ends[:-1], ends[1:]))
    grids_a = np.meshgrid(*(c[0] for c in cuts), indexing="ij")
    grids_b = np.meshgrid(*(c[1] for c in cuts), indexing="ij")
    a = np.stack([g.ravel() for g in grids_a], axis=1)
    b = np.stack([g.ravel() for g in grids_b], axis=1)
    m = len(a)
    return _Boxes(np.repeat(np.arange(n), m), np.tile(a, (n, 1)), np.tile(b, (n, 1)))


def _y_of(surface: Surface, y: Box | None, index: np.ndarray) -> Box | None:
    if y is None or not surface.needs_y:
        return None
    low = y[0][index][None]
    return low, (low if y[0] is y[1] else y[1][index][None])


def halves(a: np.ndarray, b: np.ndarray, centre: Any = 0.0) -> np.ndarray:
    """Return a point inside each box; a half-line is cut at twice its distance from a centre."""
    with np.errstate(invalid="ignore"):
        middle = a + (b - a) / 2
        up, down = a + np.maximum(1.0, np.abs(a - centre)), b - np.maximum(1.0, np.abs(b - centre))
        middle = np.where(np.isinf(b) & np.isfinite(a), up, middle)
        middle = np.where(np.isinf(a) & np.isfinite(b), down, middle)
    return np.where(np.isinf(a) & np.isinf(b), centre, middle)


def _bounds(
    surface: Surface, y: Box | None, work: _Boxes, sign: float, around: CentredBoxes | None
) -> _Bounds:
    """Bound the supremum of sign * log f over boxes."""
    a, b = work.a, work.b
    dim = a.shape[1]
    at = _y_of(surface, y, work.index)
    jets, decided, kinks = [], [], []
    for j in range(dim):
        outcome = surface.log.run(
            surface.inputs(boxes(a, b, j, 2), at), 2, start=a[:, j] if dim == 1 else None
        )
        jets.append(outcome.jet if sign > 0 else batched.negative(outcome.jet))
        decided.append(outcome.decisions)
        kinks.append(outcome.kink)
    with np.errstate(all="ignore"):
        return _from_jets(surface, at, work, sign, jets, merged(decided), kinks[0], around)


def _entry(j, k: int, count: int) -> Box:
    low, high = arithmetic.entry(j, k)
    return np.broadcast_to(low, count), np.broadcast_to(high, count)


def _from_jets(surface, at, work, sign, jets, decided, kink, around) -> _Bounds:
    a, b = work.a, work.b
    seen = at if around is None else batched.point(around.centre[work.index][None])
    count, dim = a.shape
    value = _entry(jets[0], 0, count)
    for j in range(1, dim):
        value = batched.meet(value, _entry(jets[j], 0, count))
    slopes = [_entry(j, 1, count) for j in jets]
    bends = [_entry(j, 2, count) for j in jets]
    bounded = np.all([np.isfinite(s[0]) & np.isfinite(s[1]) for s in slopes], axis=0)
    centre = halves(a, b, middle(surface.secret))

    def at_points(points: np.ndarray, order: int):
        x = boxes(points, points, 0, order)
        found = surface.log.run(surface.inputs(x, seen), order, decisions=decided).jet
        return found if sign > 0 else batched.negative(found)

    if around is not None and not bounded.all():  # y - x varies less than y and x do
        value = _across(surface, at, a, b, sign, value, ~bounded)
    upper, lower = value[1].copy(), value[0].copy()
    place = centre.copy()
    settled = np.zeros(count, bool)
    monotone = np.zeros(count, bool)
    if dim == 1:
        rising, falling = slopes[0][0] >= 0, slopes[0][1] <= 0
        end = np.where(rising, b[:, 0], np.where(falling, a[:, 0], np.nan))
        monotone = np.isfinite(end) & bounded
        # a concave function lies below its tangents: take one near the top
        here = at_points(centre, 2)
        d1, d2 = (_entry(here, k, count) for k in (1, 2))
        step = -(d1[0] + d1[1]) / (2 * (d2[0] + d2[1]))
        tried = np.clip(centre[:, 0] + step, a[:, 0], b[:, 0])
        concave = (bends[0][1] <= 0) & np.isfinite(tried)
        centre = np.where(monotone, end, np.where(concave, tried, centre[:, 0]))[:, None]
        here = at_points(centre, 1)
        slope = _entry(here, 1, count)
        # beside the centre the tangent holds where the function is concave, else the mean value
        low, high = slopes[0]
        slope = np.where(concave, slope[0], low), np.where(concave, slope[1], high)
        rise = _rise(slope, a[:, 0], b[:, 0], centre[:, 0])
        rise = np.where(monotone, 0.0, rise)
        found = _entry(here, 0, count)
    else:
        here = at_points(centre, 0)
        found = _entry(here, 0, count)
        rise = np.zeros(count)
        for j in range(dim):
            rise = rise + _rise(slopes[j], a[:, j], b[:, j], centre[:, j])
    top = found[1] + rise
    top = np.where(np.isnan(top) | ~bounded, np.inf, top + np.abs(top) * 2.0**-50)
    top = np.where(np.isneginf(found[1]) & (rise == 0) & bounded, -np.inf, top)
    direct = upper
    if around is None:
        upper = np.minimum(upper, top)
    else:
        ends = np.where(monotone, centre[:, 0], a[:, 0]), np.where(monotone, centre[:, 0], b[:, 0])
        top = np.minimum(top, _far_out(surface, seen, a, b, sign, decided))
        upper = top + _drift(surface, at, work.index, around, sign, decided, a, b, ends)
        upper = np.where(np.isnan(upper), np.inf, upper)
        start, least = around.start[work.index], around.least[work.index]
        beyond = value[1] - least
        beyond = beyond + np.abs(beyond) * 2.0**-50 + start
        beyond = beyond + np.abs(beyond) * 2.0**-50
        upper = np.where(beyond < upper, beyond, upper)
        upper = np.where(np.isneginf(value[1]), -np.inf, upper)  # f = 0 there for every y
    lower = np.where(bounded & (found[0] > lower), found[0], lower)
    place = np.where(np.isfinite(centre), centre, place)
    upper, lower, charged = _within_support(surface, work, upper, lower)
    if dim == 1:
        settled = monotone & charged
    size = np.maximum(np.maximum(np.abs(a), np.abs(b)), 1e-300)
    with np.errstate(invalid="ignore"):
        narrow = ((b - a) <= 2.0**-44 * size).all(axis=1) & np.isfinite(b - a).all(axis=1)
    far = np.isinf(b) & (a > 2.0**40) | np.isinf(a) & (b < -(2.0**40))
    settled = settled | narrow | far.any(axis=1)
    if around is not None:  # boxes much narrower than the box of outcomes are small enough
        settled |= ((b - a) <= 0.05 * around.half[work.index, None]).all(axis=1)
    along, split = _cut(a, b, slopes, halves(a, b, middle(surface.secret)))
    if dim == 1:  # faster towards an end beside which nothing bounds the slope
        near = (b[:, 0] - a[:, 0]) / _STEEP
        for end, place_ in (
            (a[:, 0] == surface.secret.lower, a[:, 0] + near),
            (b[:, 0] == surface.secret.upper, b[:, 0] - near),
        ):
            split = np.where(end & ~bounded & np.isfinite(near), place_, split)
    kinked = np.zeros(count, bool)
    if kink is not None and dim == 1:
        inside = (kink >= a[:, 0]) & (kink <= b[:, 0])
        kinked = inside & ~(bounded & monotone)
        split = np.where(kinked, kink, split)
    return _Bounds(upper, lower, place, split, along, kinked, settled, direct, a, b)


def _across(surface: Surface, at, a, b, sign: float, value: Box, rows: np.ndarray) -> Box:
    """Bound sign * log f on some boxes of outcomes and secrets also as a function of x - y."""
    if surface.diagonal is None or at is None:
        return value
    program, _ = surface.diagonal
    y = tuple(np.broadcast_to(end, (1, len(a)))[:, rows] for end in at)
    least, most = batched.subtract((a[rows].T, b[rows].T), (y[0], y[1]))
    parts = [(least, most)]
    jumps = (least < 0) & (most > 0)
    if jumps.any() and not JUMPS.isdisjoint(surface.graph.operations):
        # at x = y the kernel may jump: on either side it is bounded by what it is there
        parts = [(least, np.where(jumps, 0.0, most)), (np.where(jumps, 0.0, least), most)]
    ends = []
    for part in parts:
        offset = arithmetic.variable(part[0][0], part[1][0], 1)
        found = program.run({"y": arithmetic.constant(y[0][0], y[1][0]), "offset": offset}, 1).jet
        ends.append(_entry(found if sign > 0 else batched.negative(found), 0, int(rows.sum())))
    more = np.minimum.reduce([e[0] for e in ends]), np.maximum.reduce([e[1] for e in ends])
    low, high = value[0].copy(), value[1].copy()
    low[rows], high[rows] = batched.meet((low[rows], high[rows]), more)
    return low, high


def _far_out(surface: Surface, centre: Box, a, b, sign: float, decided) -> np.ndarray:
    """Bound sign * log f at the centre on unbounded boxes of secrets, by its range."""
    out = np.full(len(a), np.inf)
    rows = np.isinf(a).any(axis=1) | np.isinf(b).any(axis=1)
    if rows.any():
        y = centre[0][:, rows], centre[1][:, rows]
        x = boxes(a[rows], b[rows], -1, 0)
        found = surface.log.run(surface.inputs(x, y), 0, decisions=chosen(decided, rows)).jet
        high = _entry(found if sign > 0 else batched.negative(found), 0, int(rows.sum()))[1]
        out[rows] = np.where(np.isnan(high), np.inf, high)
    return out


def _drift(surface, at, index, around: CentredBoxes, sign, decided, a, b, ends) -> np.ndarray:
    """Bound by how much L(y, x) - L(y, x0) moves as y leaves the centre."""
    if at is None:
        return np.zeros(len(index))
    x = [arithmetic.constant(a[:, j], b[:, j]) for j in range(a.shape[1])]
    if a.shape[1] == 1:
        x = [arithmetic.constant(*ends)]
    y = arithmetic.variable(at[0][0], at[1][0], 1)
    found = surface.log.run(surface.inputs(x, y), 1, decisions=decided).jet
    slope = _entry(found if sign > 0 else batched.negative(found), 1, len(index))
    gap = batched.subtract(slope, (around.slope[0][index], around.slope[1][index]))
    size = np.maximum(np.abs(gap[0]), np.abs(gap[1]))
    if a.shape[1] == 1:  # x0 itself does not move away from x0
        own = around.place[index, 0]
        same = (ends[0] == own) & (ends[1] == own) & around.smooth[index]
        size = np.where(same, 0.0, size)
    return around.half[index] * size * (1 + 2.0**-50)


def _rise(slope: Box, a, b, centre) -> np.ndarray:
    """Bound the largest increase away from the centre for a slope in an interval."""
    to_a, to_b = a - centre, b - centre
    products = [s * d for s in slope for d in (to_a, to_b)]
    best = np.maximum.reduce([np.where(np.isnan(p), np.inf, p) for p in products])
    return np.maximum(best, 0.0) * (1 + 2.0**-50) + np.abs(slope[0]).clip(max=1e300) * 0.0


def _within_support(surface: Surface, work: _Boxes, upper, lower):
    """Boxes without mass do not count; without proof of mass they prove no lower bound."""
    count = len(upper)
    if surface.secret.positive:
        return upper, lower, np.ones(count, bool)
    program = surface.secret.program
    x = dict(zip(surface.secret.names, boxes(work.a, work.b, 0, 1), strict=True))
    low, high = _entry(program.run(x, 1).jet, 0, count)  # type: ignore[union-attr]
    charged = low > -np.inf
    upper = np.where(np.isneginf(high), -np.inf, upper)
    return upper, np.where(charged, lower, -np.inf), charged


def _cut(a, b, slopes, middle):
    """Choose the coordinate along which the bound is loosest, and where to cut it."""
    if a.shape[1] == 1:
        return np.zeros(len(a), int), middle[:, 0]
    width = b - a
    spread = np.stack([(s[1] - s[0]) for s in slopes], axis=1) * width
    spread = np.where(np.isfinite(spread), spread, width * 1e6)
    along = np.argmax(spread + 1e-9 * width, axis=1)
    return along, middle[np.arange(len(a)), along]


def cut_boxes(index, a, b, along, split, kinked) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cut boxes in two, or around a kink in three: index, a and b of the pieces."""
    rows = np.arange(len(index))
    ends = a[rows, along], b[rows, along]
    gap = np.where(kinked, np.abs(split) * 2.0**-50 + 1e-290, 0.0)
    left, right = np.clip(split - gap, *ends), np.clip(split + gap, *ends)
    pieces = []
    for low, high in ((ends[0], left), (left, right), (right, ends[1])):
        some = low < high
        piece_a, piece_b = a[some].copy(), b[some].copy()
        where = np.arange(int(some.sum())), along[some]
        piece_a[where], piece_b[where] = low[some], high[some]
        pieces.append((index[some], piece_a, piece_b))
    return tuple(np.concatenate(c) for c in zip(*pieces, strict=True))  # type: ignore[return-value]
