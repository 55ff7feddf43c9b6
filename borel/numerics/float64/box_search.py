"""Local searches in boxes of two and three dimensions, for a batch of functions."""

import numpy as np

from borel.numerics.float64.line_search import essential, golden

__all__ = ["box_search"]


def box_search(call, n, charts, starts, turn, tol, keep=5):
    """Search in 2 or 3 variables: grid and Sobol points, simplices, then lines from the best."""
    from scipy.stats import qmc

    d = len(charts)
    grids = []
    for chart in charts:
        p, s = chart.nodes({2: 26, 3: 11}[d], turn)
        grids.append(np.sort(chart.unroll(p, s)))
    shape = tuple(g.size for g in grids)

    def place(u):
        return np.stack([c.x(*c.roll(u[..., k])) for k, c in enumerate(charts)], axis=-1)

    grid = np.stack([g.ravel() for g in np.meshgrid(*grids, indexing="ij")], axis=-1)
    cloud = qmc.Sobol(d, rng=turn).random(512)
    cloud = np.stack(
        [np.interp(cloud[:, k], np.linspace(0, 1, g.size), g) for k, g in enumerate(grids)], -1
    )
    everyone = np.arange(n)
    samples = np.concatenate([grid, cloud])
    v = call(everyone, *(np.broadcast_to(x, (n, len(samples))) for x in place(samples).T))
    table = v[:, : len(grid)].reshape(n, *shape)
    peak = np.ones(table.shape, dtype=bool)
    for k in range(1, d + 1):
        size = table.shape[k]
        rest = np.take(table, np.arange(1, size), k) >= np.take(table, np.arange(size - 1), k)
        edge = np.ones((*table.shape[:k], 1, *table.shape[k + 1 :]), dtype=bool)
        peak &= np.concatenate([edge, rest], axis=k)
        rest = np.take(table, np.arange(size - 1), k) >= np.take(table, np.arange(1, size), k)
        peak &= np.concatenate([rest, edge], axis=k)
    score = np.where(peak.reshape(n, -1), v[:, : len(grid)], -np.inf)
    top = np.argpartition(-score, keep, axis=1)[:, :keep]
    best = np.argmax(v[:, len(grid) :], axis=1)[:, None] + len(grid)
    u = samples[np.hstack([top, best])]  # (n, m, d)
    if starts is not None:
        where = np.stack([c.unroll(*c.locate(starts[..., k])) for k, c in enumerate(charts)], -1)
        u = np.concatenate([u, np.where(np.isnan(where), u[:, :1], where)], axis=1)
    m = u.shape[1]
    i, x = np.repeat(everyone, m), place(u.reshape(-1, d))
    x, value = _simplex(call, i, x, charts, 0.6, 70, tol)
    for reach, size, left in ((np.inf, 0.05, 3), (0.5, 1e-3, 2), (0.05, 1e-5, 2), (1e-3, 0, 2)):
        order = np.argsort(-value.reshape(n, -1), axis=1, kind="stable")[:, :left]
        pick = (order + np.arange(n)[:, None] * (i.size // n)).ravel()
        i, x, before = i[pick], x[pick], value[pick]
        x, value = _lines(call, i, x, before, charts, reach, tol)
        if size:
            x, value = _simplex(call, i, x, charts, size, 50, tol)
    value, ulps = essential(call, i, x, value, charts)
    with np.errstate(invalid="ignore"):
        slack = np.abs(value - before)
    slack = np.where(np.isfinite(slack), 2 * slack, 0.0) + ulps
    return value.reshape(n, -1), x.reshape(n, -1, d), slack.reshape(n, -1)


def _lines(call, i, x, value, charts, reach, tol):
    """Golden sections along the axes and the diagonals of x, up to `reach` in coordinates s.

    The diagonals follow ridges of functions of a sum or a difference, where simplices get stuck.
    """
    d = len(charts)
    unit = np.eye(d)
    directions = [
        *unit,
        *(unit[k] + g * unit[m] for k in range(d) for m in range(k) for g in (-1, 1)),
    ]
    if d == 3:
        directions += [np.array([1.0, g, h]) for g in (-1, 1) for h in (-1, 1)]
    for w in directions:
        low, high = np.empty_like(x), np.empty_like(x)
        for k, c in enumerate(charts):
            p, s = c.locate(x[:, k])
            low[:, k] = np.minimum(c.x(p, np.maximum(s - reach, c.low[p])), x[:, k])
            high[:, k] = np.maximum(c.x(p, np.minimum(s + reach, c.high[p])), x[:, k])
        moves = w != 0
        forward, backward = np.where(w > 0, high - x, x - low), np.where(w > 0, x - low, high - x)
        a, b = -backward[:, moves].min(axis=1), forward[:, moves].min(axis=1)

        def along(t, k, w=w, x=x, low=low, high=high):
            return np.clip(x[k] + t[:, None] * w, low[k], high[k])

        t, v, _ = golden(
            lambda k, t, f=along: call(i[k], *f(t, k).T), a, np.zeros(len(x)), b, tol, steps=80
        )
        better = v > value
        x = np.where(better[:, None], along(t, slice(None)), x)
        value = np.where(better, v, value)
    return x, value


def _simplex(call, i, x, charts, size, steps, tol):
    """Nelder-Mead in unrolled coordinates on every lane at once; return x (M, d), values (M,)."""
    d = len(charts)
    low, high = np.array([c.span for c in charts]).T
    u = np.stack([c.unroll(*c.locate(x[:, k])) for k, c in enumerate(charts)], axis=-1)

    def at(i, u):
        return call(i, *(c.x(*c.roll(u[..., k])) for k, c in enumerate(charts)))

    flip = np.where(u + size > high, -1.0, 1.0)
    corners = np.concatenate([np.zeros((1, d)), size * np.eye(d)])
    simplex = np.clip(u[:, None] + corners * flip[:, None], low, high)
    v = at(i, simplex)
    live = np.arange(len(u))
    factors = np.array([1.0, 2.0, 0.5, -0.5])[:, None]
    for _ in range(steps):
        order = np.argsort(-v[live], axis=1, kind="stable")
        w = np.take_along_axis(v[live], order, 1)
        points = np.take_along_axis(simplex[live], order[:, :, None], 1)
        centre = points[:, :-1].mean(axis=1, keepdims=True)
        trial = np.clip(centre + factors * (centre - points[:, -1:]), low, high)
        r = at(i[live], trial)  # reflected, expanded, contracted outside and inside
        choice = np.where(r[:, 1] > r[:, 0], 1, 0)
        choice = np.where(r[:, 0] > w[:, 0], choice, 0)
        dull = r[:, 0] <= w[:, -2]
        choice = np.where(dull, np.where(r[:, 2] > r[:, 3], 2, 3), choice)
        lane = np.arange(live.size)
        accept = r[lane, choice] > w[:, -1]
        points[accept, -1], w[accept, -1] = trial[lane, choice][accept], r[lane, choice][accept]
        shrink = np.flatnonzero(~accept)
        if shrink.size:
            points[shrink, 1:] = 0.5 * (points[shrink, 1:] + points[shrink, :1])
            w[shrink, 1:] = at(i[live[shrink]], points[shrink, 1:])
        simplex[live], v[live] = points, w
        with np.errstate(invalid="ignore"):
            flat = w.max(axis=1) - w.min(axis=1) <= 1e-2 * tol
        flat &= np.ptp(points, axis=1).max(axis=1) < 1e-3
        live = live[~(flat | np.isposinf(w.max(axis=1)))]
        if not live.size:
            break
    best = np.argmax(v, axis=1)
    u = simplex[np.arange(len(u)), best]
    x = np.stack([c.x(*c.roll(u[:, k])) for k, c in enumerate(charts)], axis=-1)
    return x, v[np.arange(len(u)), best]
