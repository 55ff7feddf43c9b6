"""Charts of an axis: logarithmic coordinates towards its ends, its breaks and infinity.

In the coordinate ``s`` of a chart the distance to each end and break is ``exp(-|s|)``, and the
distance to infinity ``exp(|s|)``. Ends and breaks are null sets and are never evaluated.
"""

from dataclasses import dataclass

import numpy as np

from borel import settings
from borel.errors import BudgetSpent

__all__ = ["Axis", "Batch", "Chart", "around"]

_BLOCK = 1 << 18  # elements per call: fits the cache, far below the promised 2e6
_FIRST_BLOCK = 1 << 13
_PHI = 0.6180339887498949


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


def around(place, axes):
    """Return points a little beyond a point (d,), each moved along one axis: d arrays (2 d,)."""
    points = np.repeat(np.asarray(place, float)[None], 2 * len(axes), axis=0)
    for k, axis in enumerate(axes):
        moved = place[k] + np.array([-0.05, 0.05]) * (1 + abs(place[k]))
        ends = np.nextafter(axis.lower, np.inf), np.nextafter(axis.upper, -np.inf)
        points[2 * k : 2 * k + 2, k] = np.clip(moved, *ends)
    return tuple(points.T)


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


class Batch:
    """The function, called in blocks; remembers for which problems NaN was met.

    Between blocks it looks at the clock: `BudgetSpent` ends a search that is late.
    """

    def __init__(self, logf, n):
        self.logf, self.undefined = logf, np.zeros(n, dtype=bool)
        self.most = _FIRST_BLOCK

    def __call__(self, i, *x):
        """Evaluate problems `i` (M,) at d arrays broadcastable to (M, ...)."""
        shape = np.broadcast_shapes((i.size, *(1,) * (x[0].ndim - 1)), *(c.shape for c in x))
        x = [np.broadcast_to(c, shape) for c in x]
        out = np.empty(shape)
        each = max(1, int(np.prod(shape[1:])))
        k, little = 0, settings.current().budget / 100
        while k < i.size:
            if settings.spent():
                raise BudgetSpent("an estimate was not ready")
            begun = settings.now()
            part = slice(k, k + max(1, self.most // each))
            index = i[part].reshape(-1, *(1,) * (len(shape) - 1))
            with np.errstate(all="ignore"):
                out[part] = self.logf(index, tuple(c[part] for c in x))
            k = part.stop
            # smaller blocks of a density that takes long, as one with a loop of Python in it
            quick = settings.now() - begun < little
            self.most = min(2 * self.most, _BLOCK) if quick else max(self.most // 2, 1)
        bad = np.isnan(out)
        if bad.any():
            self.undefined[i[bad.reshape(i.size, -1).any(axis=1)]] = True
            out[bad] = -np.inf  # not evaluable: no evidence of anything, and flagged
        return out
