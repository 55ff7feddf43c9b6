"""Estimate essential suprema of a batch of functions on a box.

Nothing here is a proof: a figure of this module has status ``estimate``. One-sided limits,
corners, tails and divergence are all looked at by walking along the coordinate of a chart
(`borel.numerics.float64.charts`) in equal steps.
"""

from dataclasses import dataclass

import numpy as np

from borel.numerics.float64.box_search import box_search
from borel.numerics.float64.charts import Axis, Batch, Chart
from borel.numerics.float64.line_search import line_search

__all__ = ["Axis", "Extremum", "maximise"]

_PATH = 25  # points on a walk towards an end
_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Extremum:
    """Estimated essential suprema of n functions of d variables.

    Attributes
    ----------
    value : (n,) array
        Estimate of the supremum; inf if `diverges` or if +inf is taken on a set; -inf if every
        point met was -inf.
    argument : (n, d) array
        Where; an end or break (or an infinity) where the supremum is only approached; NaN if none.
    error : (n,) array
        How far the true supremum may lie from `value`: an estimate, not a bound; inf if `diverges`.
    at_end, diverges, undefined : (n,) bool array
        Approached at an end, break or infinity; growing without end there; NaN was met.
    seen : (n,) array
        Largest value found near a point actually evaluated (a finite figure even if `diverges`).
    candidates : (n, k, d) array
        Best refined local maximisers, NaN-padded: the split points for a quadrature.
    """

    value: np.ndarray
    argument: np.ndarray
    error: np.ndarray
    at_end: np.ndarray
    diverges: np.ndarray
    undefined: np.ndarray
    seen: np.ndarray
    candidates: np.ndarray


def maximise(logf, n, axes, *, starts=None, tol=1e-10, rounds=2):
    """Estimate the essential supremum of each of n functions on a box.

    Parameters
    ----------
    logf : callable
        ``logf(i, x)``: values of problems ``i`` (broadcastable ints) at the tuple ``x`` of d float
        arrays of one shape. -inf and +inf are values; NaN is skipped and flagged.
    n : int
        Number of problems.
    axes : sequence of Axis
        One, two or three axes.
    starts : (n, k, d) array, optional
        Extra points to start from; NaN for none.
    tol : float
        Absolute error aimed at; reached at best 1e-10 in one dimension, 1e-6 above.
    rounds : int
        Number of independent searches; what they disagree by enters the error.

    Returns
    -------
    Extremum

    Notes
    -----
    An isolated value (a null set) is refused by comparing it with its neighbours a few ulps away.
    A limit that floats reach at a moderate distance (tanh(20) == 1) counts as attained inside.
    The supremum over a set that no sample point meets cannot be found.
    """
    axes = tuple(axes)
    if not 1 <= len(axes) <= 3:
        raise ValueError(f"expected 1, 2 or 3 axes, got {len(axes)}")
    charts = [Chart(axis) for axis in axes]
    call = Batch(logf, n)
    search = line_search if len(axes) == 1 else box_search
    if starts is not None:
        starts = np.asarray(starts, dtype=float).reshape(n, -1, len(axes))
    value, error, missed = np.full(n, -np.inf), np.zeros(n), np.zeros(n)
    values, points = np.empty((n, 0)), np.empty((n, 0, len(axes)))
    for k in range(max(1, rounds)):
        v, x, e = search(call, n, charts, starts, k + 1, tol)  # (n, m), (n, m, d), (n, m)
        best = np.argmax(v, axis=1)[:, None]
        top = np.take_along_axis(v, best, 1)[:, 0]
        with np.errstate(invalid="ignore"):
            gain = np.abs(top - value)
        # what one search finds and the other misses measures what both may miss
        if k:
            missed = missed + np.where(np.isfinite(gain), gain, 0.0)
        better = top > value
        error = np.where(better, np.take_along_axis(e, best, 1)[:, 0], error)
        value = np.where(better, top, value)
        values, points = np.hstack([values, v]), np.hstack([points, x])
    order = np.argsort(-values, axis=1, kind="stable")[:, : v.shape[1]]
    values = np.take_along_axis(values, order, 1)
    points = np.take_along_axis(points, order[:, :, None], 1)
    points[np.isneginf(values)] = np.nan
    return _with_limits(call, n, charts, values, points, error, missed)


def _with_limits(call, n, charts, values, points, error, missed):
    """Add the one-sided limits at ends, breaks, infinities and corners to what was found inside."""
    value, argument = values[:, 0].copy(), points[:, 0].copy()
    seen, at_end, diverges = value.copy(), np.zeros(n, bool), np.zeros(n, bool)
    walks = _walks_line(n, charts) if len(charts) == 1 else _walks_box(charts, values, points)
    for i, path, depth, end in walks:
        v = call(i, *path)
        limit, slack, grows = _limit(v, depth)
        if len(charts) > 1:
            # such a walk may cross a ridge: report what was seen, count the rest as error
            with np.errstate(invalid="ignore"):
                rest = np.abs(limit - v[:, -1])
            finite = np.isfinite(rest)
            slack = slack + np.where(finite, rest, 0.0)
            limit = np.where(finite, v[:, -1], limit)
        diverges[i] |= grows
        seen[i] = np.maximum(seen[i], np.minimum(v[:, -1], v[:, -2]))
        tiny = 4 * _EPS * (1 + np.abs(value[i]))
        with np.errstate(invalid="ignore"):
            # a plateau that the walk already stood on is attained inside, a climb is not
            before = np.where(depth < 7.0, v, -np.inf).max(axis=1)
            climbs = (limit >= value[i] - tiny) & (before < limit - tiny)
            climbs |= (limit > value[i] + tiny) | grows
            climbs &= ~np.isneginf(limit)
        j = i[climbs]
        inside = ~np.isnan(end[climbs])
        argument[j] = np.where(inside, end[climbs], argument[j])
        at_end[j] = True
        value[j] = np.maximum(value[j], limit[climbs])
        error[j] = np.where(np.isinf(value[j]), 0.0, slack[climbs])
    # a tie with a point well inside is attained there
    well_inside = np.ones(values.shape, dtype=bool)
    for k, chart in enumerate(charts):
        safe = np.where(np.isnan(points[..., k]), 0.0, points[..., k])
        well_inside &= chart.depth(*chart.locate(safe))[0] < 7.0
    inner = np.where(well_inside, values, -np.inf).max(axis=1)
    with np.errstate(invalid="ignore"):
        at_end &= ~(inner >= value - 2 * _EPS * (1 + np.abs(value)))
    value[diverges], error[diverges], at_end[diverges] = np.inf, np.inf, True
    error = error + np.where(np.isfinite(value), missed + 8 * _EPS * (1 + np.abs(value)), 0.0)
    return Extremum(value, argument, error, at_end, diverges, call.undefined, seen, points)


def _walks_line(n, charts):
    """Yield the walk towards every end and break, the same for all problems."""
    chart = charts[0]
    everyone = np.arange(n)
    for p in range(chart.a.size):
        for last in (chart.low[p], chart.high[p]):
            s = np.linspace(np.sign(last) * min(4.6, abs(last) / 2), last, _PATH)
            x = np.broadcast_to(chart.x(p, s), (n, _PATH))
            end = np.full((n, 1), chart.end(p, last))
            yield everyone, (x,), np.broadcast_to(abs(s), (n, _PATH)), end


def _walks_box(charts, values, points):
    """Yield, for the best points, the walk of all coordinates near an end towards it together."""
    for m in range(min(3, values.shape[1])):
        i = np.flatnonzero(values[:, m] > -np.inf)
        where = [c.locate(points[i, m, k]) for k, c in enumerate(charts)]
        depths = [c.depth(p, s) for c, (p, s) in zip(charts, where, strict=True)]
        near = np.stack([d > 9.0 for d, _ in depths])
        deeper = np.stack([full - d for d, full in depths])
        shallower = np.stack([d - 4.6 for d, _ in depths])
        out = np.where(near, deeper, np.inf).min(axis=0)
        back = np.where(near, shallower, np.inf).min(axis=0)
        keep = near.any(axis=0)
        if not keep.any():
            continue
        i, near, out, back = i[keep], near[:, keep], out[keep], back[keep]
        shift = np.linspace(-back, out, _PATH, axis=1)
        path, ends, depth = [], [], np.full((1, 1), np.inf)
        for k, (c, (p, s)) in enumerate(zip(charts, where, strict=True)):
            p, s = p[keep][:, None], s[keep][:, None]
            moved = np.where(near[k][:, None], s + np.sign(s) * shift, s)
            path.append(np.where(near[k][:, None], c.x(p, moved), points[i, m, k][:, None]))
            ends.append(np.where(near[k], c.end(p, s)[:, 0], np.nan))
            mine = np.where(near[k][:, None], abs(moved), np.inf)
            depth = np.minimum(depth, mine)
        yield i, tuple(path), depth, np.stack(ends, axis=1)


def _limit(v, depth):
    """Extrapolate values (M, K) on equal steps of log distance; say if they grow without end.

    Aitken's process is exact for v = limit + c * distance**p. The error is what the extrapolated
    values still move by. Growth is called divergence if the gain per step does not fall faster
    than depth**-1.5 (a power law gains the same each step, log(1/t) like 1/depth).
    """
    with np.errstate(all="ignore"):
        gain = np.diff(v, axis=1)
        before, after = gain[:, :-1], gain[:, 1:]
        shrinks = np.abs(after) < 0.98 * np.abs(before)
        guess = np.where(shrinks, v[:, 2:] - after**2 / (after - before), v[:, 2:])
        move = np.abs(np.diff(guess, axis=1))
        move = np.maximum(move[:, 1:], move[:, :-1])
        # the process is exact for a constant ratio of gains; in as much as the ratio drifts over
        # the whole walk (1/log converges so) the extrapolated part is not known at all
        ratio = after / before
        drift = _PATH * np.abs(np.diff(ratio, axis=1)) / np.abs(1 - ratio[:, 1:])
        unknown = np.fmin(drift, 1.0) * np.abs(guess - v[:, 2:])[:, 1:]
        move = move + np.nan_to_num(unknown[:, 1:], nan=0.0)
        move = np.where(np.isnan(move), np.inf, move)[:, -12:]
        guess = guess[:, -12:]
        best = np.argmin(move[:, ::-1], axis=1)[:, None]  # among equals the closest to the end
        limit = np.take_along_axis(guess[:, ::-1], best, 1)[:, 0]
        slack = 2 * np.take_along_axis(move[:, ::-1], best, 1)[:, 0]
        # values that are infinite on the last two points are infinite on a set
        flat = ~np.isfinite(v[:, -1]) | ~np.isfinite(limit)
        limit = np.where(flat, np.minimum(v[:, -1], v[:, -2]), limit)
        late = gain[:, -10:]
        fall = np.log(late[:, 0] / late[:, -1]) / np.log(depth[:, -1] / depth[:, -11])
        grows = (late > 0).all(axis=1) & (fall < 1.5) & np.isfinite(v[:, -1])
        grows &= late[:, -1] > 1e-9 * (1 + np.abs(v[:, -1]))
    return limit, np.where(flat, 0.0, slack), grows
