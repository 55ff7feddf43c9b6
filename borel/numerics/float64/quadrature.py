"""Estimate the logarithms of a batch of integrals.

Nothing here is a proof: a figure of this module has status ``estimate``. All integrals of a
batch share one work list of boxes; every sweep evaluates all new boxes in one vectorised call.
Each box keeps its own logarithmic shift, so that values far below the smallest float survive.
Ends, breaks and split points are box edges, where no rule has a node: null sets change nothing.
"""

from dataclasses import dataclass

import numpy as np

from borel import settings
from borel.numerics.float64.charts import Batch, Chart
from borel.numerics.float64.maximisation import maximise

__all__ = ["LogIntegral", "log_integral"]

_EPS = np.finfo(float).eps
_CUT = 0.4877  # boxes are split off the middle, so that no simple fraction becomes a node
_LADDER = 0.5 * 0.25 ** np.arange(15)
_HALF_NODES = np.array(
    [
        0.991455371120812639206854697526329,
        0.949107912342758524526189684047851,
        0.864864423359769072789712788640926,
        0.741531185599394439863864773280788,
        0.586087235467691130294144691693013,
        0.405845151377397166906606412076961,
        0.207784955007898467600689403773245,
    ]
)
_HALF_KRONROD = np.array(
    [
        0.022935322010529224963732008058970,
        0.063092092629978553290700663189204,
        0.104790010322250183839876322541518,
        0.140653259715525918745189590510238,
        0.169004726639267902826583426598550,
        0.190350578064785409913256402421014,
        0.204432940075298892414161999234649,
    ]
)
_HALF_GAUSS = np.array(
    [
        0.129484966168869693270611432679082,
        0.279705391489276667901467771423780,
        0.381830050505118944950369775488975,
    ]
)
_NODES = 0.5 + 0.5 * np.r_[-_HALF_NODES, 0.0, _HALF_NODES[::-1]]
_KRONROD = 0.5 * np.r_[_HALF_KRONROD, 0.209482141084727828012999174891714, _HALF_KRONROD[::-1]]
_GAUSS = np.zeros(15)
_GAUSS[1::2] = 0.5 * np.r_[_HALF_GAUSS, 0.417959183673469387755102040816327, _HALF_GAUSS[::-1]]
# At a kink the difference of two rules vanishes by accident; with null rules of several degrees
# (Berntsen & Espelid 1991) some always speaks. Column m of Q kills all polynomials below m.
_LEGENDRE = np.polynomial.legendre.legvander(2 * _NODES - 1, 14)
_NULL = np.linalg.qr(_LEGENDRE)[0][:, 13:9:-1].T * np.linalg.norm(_KRONROD)
_CHECKS = np.vstack([_KRONROD - _GAUSS, _NULL])
_EDGES = np.polynomial.legendre.legvander([-1.0, 1.0], 14) @ np.linalg.inv(_LEGENDRE)


@dataclass(frozen=True)
class LogIntegral:
    """Estimated logarithms of n integrals.

    Attributes
    ----------
    log_value : (n,) array
        Log of the integral: -inf if zero everywhere met, +inf if it seems to diverge.
    relative_error : (n,) array
        Estimated relative error of the integral (so, if small, absolute error of the log).
    converged, undefined : (n,) bool array
        The error is within the tolerance; NaN was met (and counted as density zero).
    evaluations : int
        Number of values of the integrand that were used.
    """

    log_value: np.ndarray
    relative_error: np.ndarray
    converged: np.ndarray
    undefined: np.ndarray
    evaluations: int


def log_integral(logf, n, axes, *, points=None, rtol=1e-10, max_evaluations=None):
    """Estimate the log of the integral of each of n functions over a box.

    Parameters
    ----------
    logf : callable
        ``logf(i, x)``: log values of problems ``i`` at the tuple ``x`` of d arrays of one shape.
    n : int
        Number of problems.
    axes : sequence of Axis
        One, two or three axes, with ends that may be infinite.
    points : (n, k, d) array, optional
        Places of spikes or kinks, NaN for none. Without them the maximisers are looked for first;
        a spike that is neither found nor given is missed, and no error estimate can know it.
    rtol : float
        Relative error aimed at; floats allow less for spikes of width below 1e-6 of |x|.
    max_evaluations : int, optional
        Per problem; by default 3e4, 3e5 and 1e6 in one, two and three dimensions.

    Returns
    -------
    LogIntegral

    Notes
    -----
    Tensor Gauss-Kronrod (7, 15) with bisection of the worst boxes along the worst axis; the error
    is the sum over boxes and axes of the difference of the two rules. In one dimension the
    variable is the chart coordinate of `borel.numerics.float64.maximisation`, in which algebraic
    singularities at ends and algebraic tails become exponential decay; what lies beyond the
    chart is added by extrapolating that decay. scipy.integrate.cubature is not used: it refines
    one set of boxes for a whole batch, which has its spikes in different places.
    """
    axes = tuple(axes)
    d = len(axes)
    if not 1 <= d <= 3:
        raise ValueError(f"expected 1, 2 or 3 axes, got {d}")
    call = Batch(logf, n)
    if points is None:
        points = maximise(call.logf, n, axes, rounds=1).candidates
    points = np.asarray(points, dtype=float).reshape(n, -1, d)
    chart = _LineChart(axes[0], n) if d == 1 else _BoxChart(axes, n, points, call)
    prob, tag, low, high = chart.boxes(call, points)
    budget = max_evaluations or {1: 30_000, 2: 300_000, 3: 1_000_000}[d]
    log_value, relative, evaluations = _adapt(
        lambda i, piece, t: chart.log_integrand(call, i, piece, t),
        prob,
        tag,
        low,
        high,
        chart.tails(call),
        n,
        rtol,
        budget,
    )
    relative = relative + 4 * _EPS * (1 + np.where(np.isfinite(log_value), abs(log_value), 0.0))
    converged = (relative <= np.maximum(rtol, 1e-14)) & (log_value < np.inf)
    return LogIntegral(log_value, relative, converged, call.undefined, evaluations)


def _adapt(logg, prob, tag, low, high, tails, n, rtol, budget, pieces=False):
    """Sum the integrals of exp(logg) over boxes, refining them; return log, relative error, work.

    `prob` (P,) and `tag` (P, d) say to which problem and pieces the box [low, high] (P, d) belongs;
    `tails` is (prob, log scale, value, error) of what is known and cannot be refined. If the
    problems are `pieces` of one measure, those below 1e-30 of the largest are left rough.
    """
    d = low.shape[1]
    items = [prob, tag, low, high, *_rule(logg, prob, tag, low, high)]
    work = prob.size * 15**d
    while True:
        prob, tag, low, high, shift, value, error, edges, blur = items
        top = np.full(n, -np.inf)
        np.maximum.at(top, prob, shift)
        np.maximum.at(top, tails[0], tails[1])
        base = np.where(np.isfinite(top), top, 0.0)
        scale = np.exp(shift - base[prob])
        rest = np.maximum(np.exp(tails[1] - base[tails[0]]), 1e-300)
        mine = error.sum(axis=1) * scale
        if d == 1:
            mine += _mismatch(prob, tag, low, high, edges * scale[:, None])
        total = np.bincount(prob, value * scale, n) + np.bincount(tails[0], tails[2] * rest, n)
        fixed = np.bincount(tails[0], tails[3] * rest, n)
        missing = np.bincount(prob, mine, n)
        count = np.bincount(prob, minlength=n)
        worst = np.zeros(n)
        np.maximum.at(worst, prob, mine)
        goal = rtol * total
        if pieces and n:
            with np.errstate(divide="ignore"):
                least = (np.log(total) + base).max() - 69 - base
            goal = np.maximum(goal, rtol * np.exp(np.minimum(least, 600.0)))
        active = (missing > 0.5 * goal) & (count * 15**d < budget) & np.isfinite(total)
        threshold = np.maximum(0.25 * goal / np.maximum(count, 1), 0.05 * worst)
        lane, axis = np.arange(prob.size), np.argmax(error, axis=1)
        a, size = low[lane, axis], (high - low)[lane, axis]
        wide = size > 64 * np.spacing(np.abs(a) + size)
        # below the rounding of x (steep functions of a rounded argument) bisection gains nothing
        wide &= mine > blur * value * scale
        split = active[prob] & (mine > threshold[prob]) & wide
        if not split.any() or settings.spent():
            break
        k, axis = np.flatnonzero(split), axis[split]
        each = np.arange(k.size)
        middle = a[k] + _CUT * size[k]
        left, right = high[k].copy(), low[k].copy()
        left[each, axis], right[each, axis] = middle, middle
        new = [
            np.r_[prob[k], prob[k]],
            np.r_[tag[k], tag[k]],
            np.r_[low[k], right],
            np.r_[left, high[k]],
        ]
        work += 2 * k.size * 15**d
        new += _rule(logg, *new)
        items = [
            np.concatenate([old[~split], fresh]) for old, fresh in zip(items, new, strict=True)
        ]
    with np.errstate(all="ignore"):
        relative = np.where(total > 0, (missing + fixed) / total, 0.0)
        relative = np.where(np.isfinite(total), relative, np.inf)
        return np.log(total) + base, relative, work


def _mismatch(prob, tag, low, high, edges):
    """Bound what a kink or jump between the last node of a panel and its edge may hide (P,).

    No rule sees it, but the polynomials of the two panels then disagree on their common edge.
    """
    order = np.lexsort((low[:, 0], tag[:, 0], prob))
    a, b = order[:-1], order[1:]
    meet = (prob[a] == prob[b]) & (tag[a, 0] == tag[b, 0]) & (high[a, 0] == low[b, 0])
    a, b = a[meet], b[meet]
    size = (high - low)[:, 0]
    gap = np.abs(edges[a, 1] / size[a] - edges[b, 0] / size[b]) * _NODES[0]
    out = np.zeros(prob.size)
    out[a] += gap * size[a]
    out[b] += gap * size[b]
    return out


def _rule(logg, prob, tag, low, high):
    """Apply the tensor rule to boxes (P, d).

    Return log scale (P,), value (P,), error (P, d), extrapolated edge values (P, 2) (in one
    dimension, times the size of the panel) and the relative blur by rounding of x (P,).
    """
    d = low.shape[1]
    grid = [g.ravel() for g in np.meshgrid(*[_NODES] * d, indexing="ij")]

    def tensor(*factors):
        return np.prod(np.meshgrid(*factors, indexing="ij"), axis=0).ravel()

    weights = np.stack(
        [tensor(*[_KRONROD] * d), *(_EDGES if d == 1 else np.zeros((2, 15**d)))], axis=1
    )
    across = tensor(*[_KRONROD] * (d - 1)) if d > 1 else np.ones(1)
    checks = _CHECKS[: {1: 5, 2: 2, 3: 1}[d]].T  # above one dimension caution costs too many boxes
    size = len(low)
    shift, value, edges, blur = np.empty(size), np.empty(size), np.empty((size, 2)), np.empty(size)
    error = np.empty(low.shape)
    rows = max(1, (1 << 20) // 15**d)
    for k in range(0, size, rows):
        part = slice(k, k + rows)
        a, width = low[part], high[part] - low[part]
        t = tuple(a[:, [m]] + width[:, [m]] * grid[m] for m in range(d))
        g, ulps = logg(prob[part], tag[part], t)
        shift[part] = g.max(axis=1)
        base = np.where(np.isfinite(shift[part]), shift[part], 0.0)[:, None]
        f = np.exp(g - base)
        volume = width.prod(axis=1)
        sums = f @ weights * volume[:, None]
        value[part], edges[part] = sums[:, 0], sums[:, 1:]
        f = f.reshape(-1, *[15] * d)
        for m in range(d):
            # absolute values line by line: along a slanting kink signed errors would cancel
            lines = np.abs(np.moveaxis(f, m + 1, -1).reshape(-1, across.size, 15) @ checks)
            error[part, m] = (across @ lines).max(axis=1) * volume
        drop = np.minimum(base - g.min(axis=1, keepdims=True), 30.0)
        blur[part] = (
            2 * (drop * ulps / np.maximum(width, 1e-300)).max(axis=1) * (np.isfinite(shift[part]))
        )
    return [shift, value, error, edges, blur]


class _LineChart:
    """The chart of one axis, with panels graded to its ends and to the points given."""

    def __init__(self, axis, n):
        self.chart, self.n = Chart(axis), n
        c = self.chart
        # near an end that is not 0 floats blur the distance: stop where 1e-5 of it is still seen
        blurred = np.log(np.maximum(1e-11, np.exp(c.low)))
        self.low = np.where(c.below & (c.a != 0), np.maximum(c.low, blurred), c.low)
        blurred = -np.log(np.maximum(1e-11, np.exp(-c.high)))
        self.high = np.where(c.above & (c.b != 0), np.minimum(c.high, blurred), c.high)

    def log_integrand(self, call, prob, tag, t):
        """Return the log integrand at s = t[0], and the rounding of x in units of s (P, 1)."""
        p, s = tag[:, :1], t[0]
        x, log_jacobian = self.chart.x(p, s), self.chart.log_jacobian(p, s)
        ulps = np.spacing(np.abs(x[:, [7]])) / np.exp(log_jacobian[:, [7]])
        return call(prob, x) + log_jacobian, np.maximum(ulps, np.spacing(np.abs(s[:, [7]])))

    def boxes(self, call, points):
        """Return prob, tag, low, high of the first panels."""
        n, everyone = self.n, np.arange(self.n)
        reach = np.array([0.713, 1.9, 3.3, 5.2, 8.1, 12.7, 19.0, 29.0, 44.0])
        base = np.concatenate([-reach[::-1], [0.0137], reach])
        piece, middle = self.chart.locate(np.where(np.isnan(points[..., 0]), 0.5, points[..., 0]))
        middle = np.where(np.isnan(points[..., 0]), np.nan, middle)
        offsets = np.concatenate([_LADDER, -_LADDER])
        around = middle[:, :, None] + offsets  # (n, k, 30)
        around = np.clip(around, self.low[piece][..., None], self.high[piece][..., None])
        near = np.where(np.isnan(around), 0.0, around)
        v = call(everyone, self.chart.x(piece[:, :, None], near)) if piece.size else near
        around[~_telling(v)] = np.nan
        out = []
        for p in range(self.low.size):
            mine = np.where((piece == p)[..., None], around, np.nan).reshape(n, -1)
            tips = np.where(piece == p, middle, np.nan)
            common = np.concatenate([[self.low[p], self.high[p]], base])
            edges = np.hstack([np.broadcast_to(common, (n, common.size)), mine, tips])
            edges = np.sort(np.clip(edges, self.low[p], self.high[p]), axis=1)
            keep = edges[:, 1:] - edges[:, :-1] > 1e-14 * (1 + np.abs(edges[:, 1:]))
            i, k = np.nonzero(keep)
            out.append((i, np.full((i.size, 1), p), edges[i, k][:, None], edges[i, k + 1][:, None]))
        return tuple(np.concatenate(parts) for parts in zip(*out, strict=True))

    def tails(self, call):
        """Extrapolate the exponential decay in s beyond the chart, at each end of each piece."""
        n, everyone = self.n, np.arange(self.n)
        out = []
        for p in range(self.low.size):
            for last, inward in ((self.low[p], 1.0), (self.high[p], -1.0)):
                s = last + inward * np.array([0.0, 1.5, 3.0])
                x = np.broadcast_to(self.chart.x(p, s), (n, 3))
                g = call(everyone, x) + self.chart.log_jacobian(p, s)
                with np.errstate(all="ignore"):
                    rate, before = (g[:, 1] - g[:, 0]) / 1.5, (g[:, 2] - g[:, 1]) / 1.5
                    # without decay (1/x) the integral is infinite
                    value = np.where(rate > 0.01, 1 / rate, np.inf)
                    error = value * np.fmin(1.0, 2 * np.abs(1 - before / rate))
                none = np.isneginf(g[:, 0])
                out.append((everyone, g[:, 0], *(np.where(none, 0.0, v) for v in (value, error))))
        return tuple(np.concatenate(parts) for parts in zip(*out, strict=True))


def _telling(v):
    """Say which offsets (..., 30) of a ladder around a point matter: those above its scale."""
    v = v.reshape(*v.shape[:-1], 2, _LADDER.size)
    with np.errstate(invalid="ignore"):
        changed = (v != v[..., -1:]) & ~(np.abs(v - v[..., -1:]) <= 0.5)
    finest = np.where(changed.any(-1), _LADDER.size - 1 - np.argmax(changed[..., ::-1], -1), -9)
    keep = np.arange(_LADDER.size) <= finest[..., None] + 2
    return keep.reshape(*keep.shape[:-2], -1)


class _BoxChart:
    """Smooth maps of (0, 1) to the pieces of 2 or 3 axes, with boxes cut at the points given.

    On a finite piece x = a + (b - a) t^2 (3 - 2 t): an inverse square root at an end becomes
    smooth. On a half-line x = a + (t / (1 - t))^2, on the line x = c + (2t - 1) / (4 t (1 - t))
    around the first point c.
    """

    def __init__(self, axes, n, points, call):
        self.axes, self.n = [Chart(axis) for axis in axes], n
        first = points[:, 0] if points.shape[1] else np.full((n, len(axes)), np.nan)
        self.centre = np.where(np.isfinite(first), first, 0.0)

    def place(self, prob, p, t, k):
        """Return x of problem `prob` on piece `p` of axis `k` and log dx/dt."""
        c, r = self.axes[k], 1 - t
        a, b = c.a[p], c.b[p]
        with np.errstate(all="ignore"):
            # measured from the nearer end: differences from b would lose the distance to it
            end = np.where(t < 0.5, t * t * (3 - 2 * t), r * r * (3 - 2 * r)) * c.width[p]
            finite = np.where(t < 0.5, a + end, b - end)
            x = np.where(
                c.below[p],
                np.where(c.above[p], finite, a + (t / r) ** 2),
                np.where(
                    c.above[p], b - (r / t) ** 2, self.centre[prob, k] + (t - r) / (4 * t * r)
                ),
            )
            jacobian = np.where(
                c.below[p],
                np.where(c.above[p], 6 * c.width[p] * t * r, 2 * t / r**3),
                np.where(c.above[p], 2 * r / t**3, (t * t + r * r) / (4 * (t * r) ** 2)),
            )
            low, high = np.nextafter(a, np.inf), np.nextafter(b, -np.inf)
            return np.clip(x, low, high), np.log(jacobian)

    def locate(self, x, k):
        """Return piece and t of points x (n, m) on axis k, by bisection; NaN for none."""
        c = self.axes[k]
        missing = ~np.isfinite(x)
        inside = np.where(missing, self.centre[:, [k]], x)
        p = c.locate(inside)[0]
        low, high = np.zeros(x.shape), np.ones(x.shape)
        prob = np.arange(self.n)[:, None]
        for _ in range(52):
            middle = 0.5 * (low + high)
            below = self.place(prob, p, middle, k)[0] < inside
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return p, np.where(missing, np.nan, 0.5 * (low + high))

    def log_integrand(self, call, prob, tag, t):
        """Return the log integrand at t, and the rounding of x in units of t (P, d)."""
        parts = [self.place(prob[:, None], tag[:, [k]], t[k], k) for k in range(len(t))]
        centre = parts[0][0].shape[1] // 2
        ulps = [np.spacing(np.abs(x[:, centre])) / np.exp(j[:, centre]) for x, j in parts]
        g = call(prob, *(x for x, _ in parts)) + sum(j for _, j in parts)
        return g, np.maximum(np.stack(ulps, axis=1), _EPS)

    def boxes(self, call, points):
        """Return prob, tag, low, high of the first boxes: products of panels of each axis."""
        d, n = len(self.axes), self.n
        points = points[:, : {2: 2, 3: 1}[d]]
        panels = []
        for k, c in enumerate(self.axes):
            p, t = self.locate(points[..., k], k)
            extra = np.concatenate([t[..., None], self._cuts(call, points, p, t, k)], axis=-1)
            mine = [np.where((p == q)[..., None], extra, np.nan) for q in range(c.a.size)]
            edges = [m.reshape(n, -1) + q for q, m in enumerate(mine)]
            edges.append(np.broadcast_to(np.arange(c.a.size + 1.0), (n, c.a.size + 1)))
            if not (c.below.all() and c.above.all()):
                edges.append(np.broadcast_to(np.arange(c.a.size) + 0.5137, (n, c.a.size)))
            edges = np.sort(np.hstack(edges), axis=1)
            i, j = np.nonzero(edges[:, 1:] - edges[:, :-1] > 1e-12)
            low, high = edges[i, j], edges[i, j + 1]
            q = np.minimum(np.floor(0.5 * (low + high)).astype(int), c.a.size - 1)
            panels.append((i, q, low - q, high - q))
        prob, tag, low, high = panels[0][0], *(panels[0][m][:, None] for m in (1, 2, 3))
        for i, q, a, b in panels[1:]:
            # join on the problem: every box so far with every panel of the next axis
            first, many = np.searchsorted(i, np.arange(n)), np.bincount(i, minlength=n)[prob]
            left = np.repeat(np.arange(prob.size), many)
            right = np.arange(left.size) - np.repeat(np.cumsum(many) - many, many)
            right += first[prob[left]]
            prob, tag = prob[left], np.column_stack([tag[left], q[right]])
            low = np.column_stack([low[left], a[right]])
            high = np.column_stack([high[left], b[right]])
            order = np.argsort(prob, kind="stable")
            prob, tag, low, high = prob[order], tag[order], low[order], high[order]
        return prob, tag, low, high

    def _cuts(self, call, points, p, t, k):
        """Return cuts (n, m, 4) at 5 and 75 times the scale on which logf changes along axis k."""
        missing = np.isnan(points).any(axis=-1)
        offsets = 0.5 * np.concatenate([_LADDER, -_LADDER])
        near = np.clip(np.nan_to_num(t, nan=0.5)[..., None] + offsets, 1e-9, 1 - 1e-9)
        prob = np.arange(self.n)[:, None, None]
        x = [
            np.where(np.isfinite(points[..., [m]]), points[..., [m]], self.centre[:, None, [m]])
            for m in range(len(self.axes))
        ]
        for m, c in enumerate(self.axes):  # off the ends, and off the point itself
            q, s = c.locate(x[m])
            x[m] = c.x(q, np.clip(s + 1e-9, c.low[q], c.high[q]))
        x[k] = self.place(prob, p[..., None], near, k)[0]
        keep = _telling(call(np.arange(self.n), *x)).reshape(*t.shape, 2, _LADDER.size)
        finest = keep.sum(axis=-1).max(axis=-1) - 3
        scale = 0.5 * _LADDER[np.clip(finest, 0, _LADDER.size - 1)]
        narrow = (finest > 0) & ~missing & (scale < 0.05)
        cuts = t[..., None] + scale[..., None] * np.array([-75.0, -5.0, 5.0, 75.0])
        return np.where(narrow[..., None] & (cuts > 0) & (cuts < 1), cuts, np.nan)

    def tails(self, call):
        """Return nothing: the maps reach the ends."""
        return np.zeros(0, dtype=int), np.zeros(0), np.zeros(0), np.zeros(0)
