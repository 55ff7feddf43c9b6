"""Estimate essential suprema of a batch of functions on a box.

Nothing here is a proof: a figure of this module has status ``estimate``. The file is built on
one idea, a *chart* of every axis. In the coordinate ``s`` of a chart the distance to each end
and break is ``exp(-|s|)``, and the distance to infinity ``exp(|s|)``; so one-sided limits,
corners, tails and divergence are all looked at by walking along ``s`` in equal steps. Ends and
breaks are null sets and are never evaluated.
"""

from dataclasses import dataclass

import numpy as np

__all__ = ["Axis", "Batch", "Chart", "Extremum", "golden", "maximise"]

_BLOCK = 1 << 18  # elements per call: fits the cache, far below the promised 2e6
_PHI = 0.6180339887498949
_PATH = 25  # points on a walk towards an end
_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Axis:
    """An interval; only one-sided limits at its ends and breaks count.

    Parameters
    ----------
    lower, upper : float
        The ends, which may be infinite.
    breaks : tuple of float, optional
        Interior points where the function may jump, kink or be altered. Points outside the
        interval are dropped.
    """

    lower: float
    upper: float
    breaks: tuple = ()

    def __post_init__(self):
        """Sort the breaks; refuse an empty interval."""
        if not self.lower < self.upper:
            raise ValueError(f"expected lower < upper, got {self.lower} and {self.upper}")
        inside = {float(c) for c in self.breaks if self.lower < c < self.upper}
        object.__setattr__(self, "breaks", tuple(sorted(inside)))


class Chart:
    """Logarithmic coordinates on the pieces of an axis between its ends and breaks.

    A point is a pair (piece ``p``, coordinate ``s``): on a finite piece x = a + (b - a) expit(s),
    on a half-line x = a + exp(s) or b - exp(-s), on the line x = sinh(s). ``s`` runs in
    [``low[p]``, ``high[p]``], which stops where floats still resolve the distance to the end.
    """

    def __init__(self, axis):
        edges = np.array([axis.lower, *axis.breaks, axis.upper], dtype=float)
        self.axis, self.a, self.b = axis, edges[:-1], edges[1:]
        self.below, self.above = np.isfinite(self.a), np.isfinite(self.b)
        self.width = np.where(self.below & self.above, self.b - self.a, 1.0)
        self.low = np.where(self.below, self._cut(self.a), -self._far(self.b))
        self.high = np.where(self.above, -self._cut(self.b), self._far(self.a))
        # all pieces end to end, so that a local search may walk across a break
        self.start = np.concatenate([[0.0], np.cumsum(self.high - self.low)[:-1]]) + self.low[0]

    def _cut(self, end):
        end = np.where(np.isfinite(end), end, 1.0)
        # near 0 floats resolve every scale, elsewhere only multiples of the spacing
        near = np.where(end == 0, 1e-30, np.maximum(1e-14, 8 * np.spacing(abs(end)) / self.width))
        return np.log(np.minimum(near, 0.1))

    @staticmethod
    def _far(end):
        return np.log(1e12 * np.maximum(1.0, np.where(np.isfinite(end), abs(end), 1.0)))

    def x(self, p, s):
        """Return the point x with coordinates (p, s); strictly inside its piece."""
        p, s = np.broadcast_arrays(p, s)
        out = np.empty(s.shape)
        for kind, (below, above) in enumerate(((1, 1), (1, 0), (0, 1), (0, 0))):
            which = (self.below == below) & (self.above == above)
            if not which.any():
                continue
            mask = which[p]
            q, t = p[mask], s[mask]
            a, b, w = self.a[q], self.b[q], self.width[q]
            if kind == 0:
                share = w / (1 + np.exp(abs(t)))
                out[mask] = np.where(t < 0, a + share, b - share)
            elif kind == 1:
                out[mask] = a + np.exp(t)
            elif kind == 2:
                out[mask] = b - np.exp(-t)
            else:
                out[mask] = np.sinh(t)
        return np.clip(out, np.nextafter(self.a, np.inf)[p], np.nextafter(self.b, -np.inf)[p])

    def log_jacobian(self, p, s):
        """Return log dx/ds."""
        p, s = np.broadcast_arrays(p, s)
        t, below, above = abs(s), self.below[p], self.above[p]
        finite = np.log(self.width)[p] - t - 2 * np.log1p(np.exp(-t))
        line = t + np.log1p(np.exp(-2 * t)) - np.log(2.0)
        half = np.where(below, s, -s)
        return np.where(below & above, finite, np.where(below | above, half, line))

    def locate(self, x):
        """Return the coordinates (p, s) of points, clipped into the chart."""
        x = np.clip(x, self.axis.lower, self.axis.upper)
        p = np.clip(np.searchsorted(self.b, x), 0, self.a.size - 1)
        with np.errstate(all="ignore"):
            down, up = x - self.a[p], self.b[p] - x
            s = np.where(
                self.below[p],
                np.where(self.above[p], np.log(down) - np.log(up), np.log(down)),
                np.where(self.above[p], -np.log(up), np.arcsinh(x)),
            )
        return p, np.clip(s, self.low[p], self.high[p])

    def unroll(self, p, s):
        """Return the position u of (p, s) on all pieces laid end to end."""
        return self.start[p] + (s - self.low[p])

    def roll(self, u):
        """Return (p, s) of positions on all pieces laid end to end."""
        p = np.clip(np.searchsorted(self.start, u, side="right") - 1, 0, self.start.size - 1)
        return p, np.clip(u - self.start[p] + self.low[p], self.low[p], self.high[p])

    @property
    def span(self):
        """First and last position on all pieces laid end to end."""
        return self.start[0], self.start[-1] + self.high[-1] - self.low[-1]

    def nodes(self, count, shift):
        """Return sorted (p, s) of about `count` sample points, even in x and in log distance.

        No node is a simple fraction of a piece: offsets are multiples of the golden ratio.
        """
        pieces, coordinates = [], []
        half = max(count // (2 * self.a.size), 4)
        even = (np.arange(half) + 0.05 + 0.9 * ((0.5 + shift) * _PHI % 1)) / half
        for p in range(self.a.size):
            low, high = self.low[p], self.high[p]
            if self.below[p] and self.above[p]:
                more = np.log(even) - np.log1p(-even)
            elif self.below[p]:
                more = np.log(20 * even)
            elif self.above[p]:
                more = -np.log(20 * even[::-1])
            else:
                small = np.arcsinh(np.exp(-25 + 28 * even[: half // 2]))
                more = np.concatenate([6 * (2 * even - 1), small, -small])
            s = np.concatenate([[low, high], low + (high - low) * even, more])
            s = np.unique(np.clip(s, low, high))
            pieces.append(np.full(s.size, p))
            coordinates.append(s)
        return np.concatenate(pieces), np.concatenate(coordinates)

    def depth(self, p, s):
        """Return the log distance to the end that s leans to, and the deepest possible."""
        return abs(s), np.where(s < 0, -self.low[p], self.high[p])

    def end(self, p, s):
        """Return the end that s leans to."""
        return np.where(s < 0, self.a[p], self.b[p])


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


class Batch:
    """The function, called in blocks; remembers for which problems NaN was met."""

    def __init__(self, logf, n):
        self.logf, self.undefined = logf, np.zeros(n, dtype=bool)

    def __call__(self, i, *x):
        """Evaluate problems `i` (M,) at d arrays broadcastable to (M, ...)."""
        shape = np.broadcast_shapes((i.size, *(1,) * (x[0].ndim - 1)), *(c.shape for c in x))
        x = [np.broadcast_to(c, shape) for c in x]
        out = np.empty(shape)
        rows = max(1, _BLOCK // max(1, int(np.prod(shape[1:]))))
        with np.errstate(all="ignore"):
            for k in range(0, i.size, rows):
                part = slice(k, k + rows)
                index = i[part].reshape(-1, *(1,) * (len(shape) - 1))
                out[part] = self.logf(index, tuple(c[part] for c in x))
        bad = np.isnan(out)
        if bad.any():
            self.undefined[i[bad.reshape(i.size, -1).any(axis=1)]] = True
            out[bad] = -np.inf  # not evaluable: no evidence of anything, and flagged
        return out


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
    search = _line if len(axes) == 1 else _box
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
        path, ends, depth = [], [], None
        for k, (c, (p, s)) in enumerate(zip(charts, where, strict=True)):
            p, s = p[keep][:, None], s[keep][:, None]
            moved = np.where(near[k][:, None], s + np.sign(s) * shift, s)
            path.append(np.where(near[k][:, None], c.x(p, moved), points[i, m, k][:, None]))
            ends.append(np.where(near[k], c.end(p, s)[:, 0], np.nan))
            mine = np.where(near[k][:, None], abs(moved), np.inf)
            depth = mine if depth is None else np.minimum(depth, mine)
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


def _essential(call, i, x, v, charts):
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


def _line(call, n, charts, starts, turn, tol, keep=5):
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
    vm, ulps = _essential(call, lane, m[:, None], vm, charts)
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
        # a bracket of a few ulps cannot tell a kink from a jump: `_essential` says what is left
        tight = b - a <= 16 * np.spacing(np.abs(m))
        slack = np.where(tight, 0.0, np.maximum(drop_a, drop_b))
    return m, vm, np.where(np.isfinite(slack), 3 * slack, 0.0)


def _box(call, n, charts, starts, turn, tol, keep=5):
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
    cloud = qmc.Sobol(d, seed=turn).random(512)
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
    value, ulps = _essential(call, i, x, value, charts)
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
