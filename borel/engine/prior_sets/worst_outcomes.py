r"""The worst outcomes over a set of priors: a programme in the shares W of the outcomes.

Let T(y) be numbers, and K W the mean of W under each secret. The tail leakage of PML over a convex
set of priors asks for

.. math:: M(\delta) = \max \Big\{ \sum_y T(y) W(y) :
    0 \le W \le 1,\; h(W) \le \delta \Big\}, \quad h(W) = \inf_P E_P[(K W)(X)],

as :math:`\delta V(P) = \max\{T \cdot W : 0 \le W \le 1, P_Y \cdot W \le \delta\}` for one prior:
an h(W) of at most delta is attained, or approached, by a P with :math:`P_Y \cdot W \le \delta`.

h is concave, positively homogeneous, rises with W and is superadditive, so that with W = 1 on A,
between 0 and 1 on U and 0 elsewhere

.. math:: h(W) \ge h(1_A) + \sum_{y \in U} h(1_y) W(y),

and the fractional knapsack of T on U with the rest of delta bounds :math:`T \cdot W` from above.
For each P some best W has one share at most that is neither 0 nor 1: outcomes are put into A, or
left out, but for one of them. Any W is a lower bound, with all shares reduced where h(W) > delta.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from borel import settings
from borel.numerics.intervals.rounding import TINY, U

if TYPE_CHECKING:
    from borel.engine.prior_sets.lower_expectations import Least

_NODES, _TURNS, _GRID, _ROUNDS = 400, 12, 17, 6
_GOOD = 1e-9


class OutcomeShares:
    """The programme for one set of priors and one matrix.

    Parameters
    ----------
    priors : PriorSet
        A set with lower expectations, ``least(values)``.
    matrix : ndarray (n, m)
        The kernel, in float64.
    error : float
        Its relative error.
    """

    def __init__(self, priors, matrix: np.ndarray, error: float):
        self.priors, self.matrix, self.away = priors, matrix, ~priors.reach[1]
        self.off = 2 * error + (matrix.shape[1] + 16) * U
        self.each = self._least(np.eye(matrix.shape[1]))[0]

    def _least(self, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Enclose h of columns of shares, and return priors that attain it, to rounding."""
        values = self.matrix @ shares
        values[self.away] = values[~self.away].max(axis=0)  # what no member charges has no say
        found: Least = self.priors.least(values)
        low = np.maximum(found.lower * (1 - self.off) - TINY, 0.0)
        return low, np.maximum(found.upper, 0.0) * (1 + self.off) + TINY, found.prior

    def largest(
        self, sure: np.ndarray, possible: np.ndarray, delta: float
    ) -> tuple[float, float, np.ndarray]:
        """Enclose M(delta) for numbers T between two ends; also return a prior that comes near.

        The lower end is of the lower numbers; delta is a positive float.
        """
        self._best, prior = self._found(sure, delta)
        high = self._bound(possible, delta, self._best, sure)
        return self._best, max(self._best, high), prior

    def _found(self, t: np.ndarray, delta: float) -> tuple[float, np.ndarray]:
        """Take turns: the best shares for a prior, and the least prior for some shares."""
        best, chosen = 0.0, None
        for k in np.argsort(-t)[:8]:
            shares = np.zeros(len(t))
            shares[k] = 1.0
            last = -1.0
            for _ in range(_TURNS):
                _, most, prior = self._least(shares[:, None])
                cut = 1.0 if most[0] <= delta else delta / most[0]
                value = float(t @ shares) * cut * (1 - self.off)
                if value > best or chosen is None:
                    best, chosen = max(value, best), prior[:, 0]
                if value <= last * (1 + 1e-12):
                    break
                last = value
                shares = _knapsack(t, prior[:, 0] @ self.matrix, delta)
        assert chosen is not None
        return best, chosen

    def _bound(
        self, t: np.ndarray, delta: float, floor: float, sure: np.ndarray | None = None
    ) -> float:
        """Bound M(delta) from above, by branching; shares that are met may be better than known."""
        sure = t if sure is None else sure
        self._best = floor
        m, queue = len(t), []
        good = floor * (1 + _GOOD)
        closed = 0.0

        def put(inside: np.ndarray, left: np.ndarray, one: int) -> None:
            """Bound what outcomes that are all in, and some that may be, can add up to."""
            used = float(self._least(inside.astype(float)[:, None])[0][0])
            if used > delta:
                return
            free = left.copy()
            free[one] = True
            shares = _knapsack(np.where(free, t, 0.0), self.each, (delta - used) * (1 + 4 * U))
            value = (float(t[inside].sum()) + float(t @ shares)) * (1 + self.off)
            if value > good:
                heapq.heappush(queue, (-value, self._count, inside, left, one))
                self._count += 1

        self._count = 0
        nothing = np.zeros(m, bool)
        for one in range(m):
            left = ~nothing
            left[one] = False
            put(nothing, left, one)
        while queue:
            if self._count > _NODES or settings.spent():
                break
            value, _, inside, left, one = heapq.heappop(queue)
            if not left.any():
                closed = max(closed, min(-value, self._last(t, delta, inside, one, sure)))
                continue
            split = int(np.argmax(np.where(left, t, -1.0)))
            rest = left.copy()
            rest[split] = False
            more = inside.copy()
            more[split] = True
            put(more, rest, one)
            put(inside, rest, one)
        return max(closed, good, *(-v[0] for v in queue[:1]))

    def _last(
        self, t: np.ndarray, delta: float, inside: np.ndarray, one: int, sure: np.ndarray
    ) -> float:
        """Bound the sum where the share of one outcome alone is open: h rises with it."""
        low, high = 0.0, 1.0
        for _ in range(_ROUNDS):
            grid = np.linspace(low, high, _GRID)
            shares = np.repeat(inside.astype(float)[:, None], _GRID, axis=1)
            shares[one] = grid
            over = np.flatnonzero(self._least(shares)[0] > delta)
            if not len(over):
                break
            high = float(grid[over[0]])
            low = float(grid[max(over[0] - 1, 0)])
        shares = inside.astype(float)
        shares[one] = low
        most = self._least(shares[:, None])[1][0]
        cut = 1.0 if most <= delta else delta / most
        self._best = max(self._best, float(sure @ shares) * cut * (1 - self.off))
        return (float(t[inside].sum()) + float(t[one]) * high) * (1 + self.off)


def _knapsack(t: np.ndarray, masses: np.ndarray, room: float) -> np.ndarray:
    """Return the shares of the largest sum of t whose masses fit into some room."""
    masses = np.maximum(masses, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.where(masses > 0, t / masses, np.where(t > 0, np.inf, 0.0)))
    shares, left = np.zeros(len(t)), max(room, 0.0)
    for k in order:
        if t[k] <= 0:
            break
        if masses[k] <= left:
            shares[k], left = 1.0, left - masses[k]
        else:
            shares[k] = left / masses[k]
            break
    return shares
