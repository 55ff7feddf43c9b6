"""Local searches on one axis, for a batch of functions: the essential value, golden sections."""

import numpy as np

__all__ = ["essential", "golden", "line_search"]


def essential(call, i, x, v, charts):
    """Replace values v (M,) at x (M, d) that stand alone above their neighbours (null sets).

    Also return what the value moves by within some ulps: floats see no more of the supremum.
    """
    around = []
    for k, chart in enumerate(charts):
        p = chart.locate(x[:, k])[0]
        low, high = np.nextafter(chart.a, np.inf)[p], np.nextafter(chart.b, -np.inf)[p]
        # uneven offsets: a symmetric peak still shows its slope as a spread
        for ulps in (-2.0, 3.0, -5.0, 7.0):
            moved = x.copy()
            moved[:, k] = np.clip(x[:, k] + ulps * np.spacing(np.abs(x[:, k])), low, high)
            around.append(call(i, *moved.T))
    moves = np.stack(around, axis=-1)
    # of the four moves along an axis the best two are on the continuous side of a jump
    second = np.sort(moves.reshape(len(v), len(charts), 4), axis=-1)[..., -2]
    around = np.sort(moves, axis=-1)
    top, next_best = around[:, -1], around[:, -2]
    with np.errstate(invalid="ignore"):
        spread = np.where(np.isneginf(top) | np.isposinf(next_best), 0.0, top - next_best)
        alone = v - top > 50 * spread + 1e-12 * (1 + np.abs(top))
        alone |= np.isposinf(v) & ~np.isposinf(next_best)
        v = np.where(alone, top, v)
        drop = np.maximum(v[:, None] - second, 0).sum(axis=1)
    return v, np.where(np.isfinite(drop), drop, 0.0)


def line_search(call, n, charts, starts, turn, tol, keep=5):
    """Search in one variable: a grid, then golden sections around its best local maxima."""
    chart = charts[0]
    count = int(np.clip(4e5 / max(n, 1), 300, 6000))
    p, s = chart.nodes(count, turn)
    x = chart.x(p, s)
    v = call(np.arange(n), np.broadcast_to(x, (n, x.size)))
    blank = np.flatnonzero(np.isneginf(v).all(axis=1))
    if blank.size:
        starts = _finer(call, n, chart, blank, starts, turn)
    left, right = np.r_[0, np.arange(x.size - 1)], np.r_[np.arange(1, x.size), x.size - 1]
    left = np.where(p[left] == p, left, np.arange(x.size))
    right = np.where(p[right] == p, right, np.arange(x.size))
    peak = (v >= v[:, left]) & (v >= v[:, right]) & ~np.isneginf(v)
    # of a plateau keep its first and last node only
    peak &= (v > v[:, left]) | (v > v[:, right]) | (np.arange(x.size) % 37 == 18)
    score = np.where(peak, v, -np.inf)
    top = np.argpartition(-score, min(keep, x.size - 1), axis=1)[:, :keep]
    lane, rank = np.nonzero(np.take_along_axis(score, top, 1) > -np.inf)
    j = top[lane, rank]
    a, m, b = x[left[j]], x[j], x[right[j]]
    if starts is not None:
        more = ~np.isnan(starts[:, :, 0])
        extra, column = np.nonzero(more)
        at = starts[extra, column, 0]
        q, t = chart.locate(at)
        # a start may be the very place of a spike: bracket it on the scale of the grid
        lane, rank = np.r_[lane, extra], np.r_[rank, keep + column]
        m = np.r_[m, chart.x(q, np.clip(t + 1e-9, chart.low[q], chart.high[q]))]
        a = np.r_[a, chart.x(q, np.maximum(t - 0.3, chart.low[q]))]
        b = np.r_[b, chart.x(q, np.minimum(t + 0.3, chart.high[q]))]
    width = keep + (0 if starts is None else starts.shape[1])
    values = np.full((n, width), -np.inf)
    points, errors = np.full((n, width, 1), np.nan), np.zeros((n, width))
    m, vm, slack = golden(lambda k, z: call(lane[k], z), a, m, b, tol)
    vm, ulps = essential(call, lane, m[:, None], vm, charts)
    values[lane, rank], points[lane, rank, 0], errors[lane, rank] = vm, m, slack + ulps
    return values, points, errors


def _finer(call, n, chart, blank, starts, turn):
    """Add starts for problems whose grid met only -inf: a small support deserves a finer look."""
    p, s = chart.nodes(40 * 300, turn + 7)
    x = chart.x(p, s)
    found = np.full((n, 1, 1), np.nan)
    for some in np.array_split(blank, blank.size // 100 + 1):
        v = call(some, np.broadcast_to(x, (some.size, x.size)))
        j = np.argmax(v, axis=1)
        met = v[np.arange(some.size), j] > -np.inf
        found[some[met], 0, 0] = x[j[met]]
    return found if starts is None else np.concatenate([starts, found], axis=1)


def golden(call, a, m, b, tol, steps=90):
    """Maximise in brackets a <= m <= b by golden sections; return place, value, error (M,)."""
    every = np.arange(m.size)
    a, m, b = a.copy(), m.copy(), b.copy()
    va, vm, vb = call(every, a), call(every, m), call(every, b)
    live = every
    for step in range(steps):
        la, lm, lb = a[live], m[live], b[live]
        up = lb - lm > lm - la
        probe = lm + 0.3819660112501051 * np.where(up, lb - lm, la - lm)
        v = call(live, probe)
        better = v > vm[live]
        # the loser of (probe, middle) becomes the end on its side
        k, new = live[better], probe[better]
        old, side = m[k].copy(), up[better]
        a[k[side]], va[k[side]] = old[side], vm[k[side]]
        b[k[~side]], vb[k[~side]] = old[~side], vm[k[~side]]
        m[k], vm[k] = new, v[better]
        k, new, side = live[~better], probe[~better], up[~better]
        b[k[side]], vb[k[side]] = new[side], v[~better][side]
        a[k[~side]], va[k[~side]] = new[~side], v[~better][~side]
        with np.errstate(invalid="ignore"):
            drop = vm[live] - np.minimum(va[live], vb[live])
            done = (b[live] - a[live] <= 4 * np.spacing(np.abs(m[live]))) | np.isposinf(vm[live])
            done |= (step > 12) & (drop <= 1e-3 * tol) & (b[live] - a[live] <= 1e-6 * abs(m[live]))
        live = live[~done]
        if not live.size:
            break
    with np.errstate(invalid="ignore"):
        drop_a, drop_b = vm - va, vm - vb
        # a bracket of a few ulps cannot tell a kink from a jump: `essential` says what is left
        tight = b - a <= 16 * np.spacing(np.abs(m))
        slack = np.where(tight, 0.0, np.maximum(drop_a, drop_b))
    return m, vm, np.where(np.isfinite(slack), 3 * slack, 0.0)
