"""The programme of a leakage envelope solved in floats: good guesses, and nothing proved.

The programme is that of `borel.engine.envelopes.linear_programme`, where weights and prices become
proofs. Most pairs (x, y) are never used: they are left out until their price asks for them. A
basis of the programme makes it a smooth function of theta: Newton's method on the basis finds the
theta of a level to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from borel import settings
from borel.numerics.float64.programmes import linprog
from borel.numerics.intervals.rounding import U

NEAR = 1e-12
"""Tops that are nearer than this, relatively, are one jump: both ends are proved anyway."""
ROUNDS = 40
_USED = 1e-9
_POOL, _FARTHEST = 4, 1e300


class Optimum(NamedTuple):
    """What the solver says of one programme: nothing is proved."""

    theta: float
    value: float
    weights: np.ndarray
    price: np.ndarray


class Solver:
    """The programme of given masses and gains.

    Parameters
    ----------
    g : ndarray (secrets, cells)
        Gains: P(y|x) for PML, -P(y|x) for PMC.
    q : ndarray (cells,)
        P_Y(y).
    floor : float
        The level of no leakage: 1, or -1 for PMC.
    """

    def __init__(self, g: np.ndarray, q: np.ndarray, floor: float):
        self.g, self.q, self.floor = g, q, floor
        self.count, self.cells = g.shape
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # a level is a number, however rare an outcome is
            self.ratio = np.where(q > 0, np.clip(g / q, -_FARTHEST, _FARTHEST), floor)
        self.top = self.ratio.max(axis=1)
        self._pool = self._first_pool()
        self._kept: dict[tuple, Optimum] = {}
        self.jumps = self._jumps()

    def _first_pool(self) -> np.ndarray:
        """Pair each outcome with its best secrets, and each secret with its best outcomes."""
        pool = np.zeros(self.ratio.shape, bool)
        few_x, few_y = min(_POOL, self.count), min(_POOL, self.cells)
        rows = np.argpartition(-self.ratio, few_x - 1, axis=0)[:few_x]
        pool[rows, np.arange(self.cells)] = True
        columns = np.argpartition(-self.ratio, few_y - 1, axis=1)[:, :few_y]
        pool[np.arange(self.count)[:, None], columns] = True
        return pool

    def _jumps(self) -> np.ndarray:
        """Return the tops in order, near ones as one (the largest of them)."""
        tops = np.unique(self.top)
        last = np.append(np.diff(tops) > NEAR * np.abs(tops[1:]), True)
        return tops[last]

    # -- solving, in floats -----------------------------------------------------------------------

    def optimum(self, theta: float, kept: np.ndarray) -> Optimum:
        """Solve the programme at a level, for the secrets kept."""
        key = (theta, kept.tobytes())
        if key not in self._kept:
            self._kept[key] = self._solve(theta, kept)
        return self._kept[key]

    def at(self, theta: float) -> Optimum:
        """Solve it with every secret that can be of use at the level."""
        return self.optimum(theta, self.top >= theta - NEAR * abs(theta))

    def above(self, theta: float) -> Optimum:
        """Solve it just above the level: secrets whose top is the level are of no use."""
        return self.optimum(theta, self.top > theta + NEAR * abs(theta))

    def gains(self, theta: float) -> np.ndarray:
        """Return g - theta q, 0 where float64 cannot tell it from 0."""
        gain = self.g - theta * self.q
        noise = 8 * U * (np.abs(self.g) + abs(theta) * self.q)
        return np.where(np.abs(gain) <= noise, 0.0, gain)

    def _solve(self, theta: float, kept: np.ndarray) -> Optimum:
        return self.solve(theta, kept, self.gains(theta))

    def solve(self, theta: float, kept: np.ndarray, gain: np.ndarray) -> Optimum:
        """Solve the programme with given g - theta q."""
        weights = np.zeros(self.g.shape)
        price = np.zeros(self.count)
        if not kept.any():
            return Optimum(theta, 0.0, weights, price)
        # the largest that is gained is the unit: for PMC far more may be lost
        size = np.abs(gain).max(axis=1)
        gain = np.where((gain > 0) & (gain < 1e-250 * size[:, None]), 0.0, gain)
        most = gain.max(axis=1)
        scale = np.where(most > 0, np.maximum(most, 1e-300), np.where(size > 0, size, 1.0))
        unit = self.cells / self.q.sum()
        worth = np.maximum(self.q * unit, 1e-300)
        # a secret that gains nothing anywhere can lose nothing, at prices that see to it
        flat = np.isfinite(gain) & (gain >= -NEAR * (np.abs(self.g) + abs(theta) * self.q))
        able = kept[:, None] & ((most[:, None] > 0) | flat)
        gain = np.where((most[:, None] > 0) | ~flat, gain, 0.0)
        gain = gain / scale[:, None]
        pool = self._pool & able
        for _ in range(ROUNDS):
            x, y = np.nonzero(pool)
            w, spare, lam = best_shares(gain[x, y], worth[y], x, y, gain.shape)
            reduced = worth + lam[:, None] * gain - spare
            reduced[pool | ~able] = -np.inf
            wanted = reduced > 1e-9
            if not wanted.any():
                break
            pool |= wanted & _largest(reduced)
        self._pool |= pool
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            dear = np.where(flat | (gain > 0), 0.0, (worth - spare) / -gain).max(axis=1)
        # what is had for nothing has a price that other outcomes ask for: however little
        lam = np.where(kept & ((most <= 0) | (lam <= 0)), np.maximum(lam, dear), lam)
        weights[x, y] = w
        return Optimum(theta, float(w @ worth[y]) / unit, weights, lam / (scale * unit))

    # -- polishing: the basis of a solution, solved again to rounding -----------------------------

    def basis(self, weights: np.ndarray) -> tuple[np.ndarray, ...] | None:
        """Return the pairs (x, y) in use, the secrets among them, and the outcomes used up."""
        x, y = np.nonzero(weights > _USED)
        if not len(x):
            return None
        full = np.flatnonzero(weights.sum(axis=0) > 1 - _USED)
        used = np.unique(x)
        return x, y, used, full

    def root(self, found: Optimum, mass: float) -> tuple[np.ndarray, float] | None:
        """Return weights of the same basis, and the level, where the programme has a mass."""
        basis = self.basis(found.weights)
        if basis is None:
            return None
        some = self._just_bad(basis, found.weights, found.theta)
        return self._root(found, mass, basis, basis[2]) or self._root(found, mass, basis, some)

    def _root(
        self, found: Optimum, mass: float, basis: tuple, used: np.ndarray
    ) -> tuple[np.ndarray, float] | None:
        """Return it where the bad outcomes of some secrets have nothing to spare."""
        x, y, _, full = basis
        row_x = np.full(self.count, -1)
        row_x[used] = np.arange(len(used))
        row_y = np.full(self.cells, -1)
        row_y[full] = len(used) + np.arange(len(full))
        columns = np.arange(len(x))
        q, g = self.q[y], self.g[x, y]
        size = len(used) + len(full) + 1
        theta, w = found.theta, found.weights[x, y]
        tight, own = row_y[y] >= 0, row_x[x] >= 0
        target = np.zeros(size)
        target[len(used) : -1] = 1.0
        target[-1] = 1.0
        for _ in range(12):
            matrix, most = np.zeros((size, len(x) + 1)), abs(theta) or 1.0
            unit = 1 / max(float(q.max()) * most, 1e-300)  # levels of PMC may be tiny
            matrix[row_x[x[own]], columns[own]] = ((g - theta * q) * unit)[own]
            matrix[row_y[y[tight]], columns[tight]] = 1.0
            matrix[-1, columns] = q / mass
            np.subtract.at(matrix[:, -1], row_x[x[own]], (w * q * (unit * most))[own])
            rest = target - matrix[:, :-1] @ w
            step = solved(matrix, rest)
            if step is None or not np.isfinite(step).all():
                return None
            w, theta = w + step[:-1], theta + step[-1] * most
            if abs(step[-1]) <= 4 * U:
                break
        if w.min() < -1e-7 or not np.isfinite(theta):
            return None
        weights = np.zeros(self.g.shape)
        weights[x, y] = np.maximum(w, 0.0)
        return weights, float(theta)

    def _just_bad(self, basis: tuple, weights: np.ndarray, theta: float) -> np.ndarray:
        """Return the secrets in use whose bad outcome has no leakage to spare."""
        x, y, used, _ = basis
        gain = weights[x, y] * (self.g[x, y] - theta * self.q[y])
        spare, size = (np.bincount(x, v, self.count)[used] for v in (gain, np.abs(gain)))
        return used[spare <= 1e-8 * size]

    def prices(self, weights: np.ndarray, theta: float) -> np.ndarray | None:
        """Return the prices that go with a basis at a level."""
        basis = self.basis(weights)
        if basis is None:
            return None
        x, y, used, full = basis
        column_x = np.full(self.count, -1)
        column_x[used] = np.arange(len(used))
        column_y = np.full(self.cells, -1)
        column_y[full] = len(used) + np.arange(len(full))
        matrix = np.zeros((len(x), len(used) + len(full)))
        rows = np.arange(len(x))
        gap = self.ratio[x, y] - theta
        unit = max(float(np.abs(gap).max()), 1e-300)  # levels of PMC may be tiny
        own = column_x[x] >= 0
        matrix[rows[own], column_x[x[own]]] = gap[own] / unit
        tight = column_y[y] >= 0
        matrix[rows[tight], column_y[y[tight]]] = -1.0
        found = solved(matrix, np.full(len(x), -1.0))
        if found is None or not np.isfinite(found).all():
            return None
        price = np.zeros(self.count)
        price[used] = np.maximum(found[: len(used)], 0.0) / unit
        gaps = self.ratio - theta
        rent = (1 + price[used, None] * gaps[used]).max(axis=0, initial=0.0)
        idle = np.flatnonzero((column_x < 0) & (self.top > theta))
        if len(idle):
            rent[full] = np.maximum(rent[full], found[len(used) :])
            price[idle] = idle_prices(gaps[idle], rent)
        return price


def _largest(reduced: np.ndarray) -> np.ndarray:
    """Mark the three largest entries of each row and of each column."""
    n, m = reduced.shape
    marks = np.zeros(reduced.shape, bool)
    few = min(3, n)
    marks[np.argpartition(-reduced, few - 1, axis=0)[:few], np.arange(m)] = True
    few = min(3, m)
    marks[np.arange(n)[:, None], np.argpartition(-reduced, few - 1, axis=1)[:, :few]] = True
    return marks


def idle_prices(gaps: np.ndarray, rent: np.ndarray) -> np.ndarray:
    """Return prices of secrets that are not used, at which no outcome asks for them."""
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(gaps < 0, (rent - 1) / gaps, -np.inf).max(axis=1)
        most = np.where(gaps > 0, (rent - 1) / gaps, np.inf).min(axis=1)
    least, most = np.maximum(least, 0.0), np.maximum(most, 0.0)
    return np.where(np.isinf(most), 2 * least + 1, (least + np.maximum(most, least)) / 2)


def solved(matrix: np.ndarray, target: np.ndarray) -> np.ndarray | None:
    """Solve a sparse linear system in float64, in the least-squares sense if need be.

    Dense solvers would start threads for a system of a few hundred rows and wait for them.
    """
    from scipy.sparse import block_array, csc_array, eye_array
    from scipy.sparse.linalg import splu

    system = csc_array(matrix)
    settings.work("programmes", 1, sum(matrix.shape))
    rows, columns = matrix.shape
    if rows == columns:
        try:
            found = splu(system).solve(target)
        except RuntimeError:  # singular
            found = np.array([np.nan])
        if np.isfinite(found).all() and np.abs(found).max(initial=0.0) < 1e12:
            return found
    # least squares with a small ridge, whose effect a few corrections remove
    blocks = [[eye_array(rows), system], [system.T, -1e-12 * eye_array(columns)]]
    try:
        solver = splu(csc_array(block_array(blocks)))
    except RuntimeError:
        return None
    found = np.zeros(columns)
    for _ in range(4):
        rest = target - system @ found
        found = found + solver.solve(np.concatenate([rest, np.zeros(columns)]))[rows:]
    return found


def best_shares(
    gain: np.ndarray, worth: np.ndarray, x: np.ndarray, y: np.ndarray, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Solve max worth.w, gains >= 0 for each x, at most 1 for each y: w and the dual prices."""
    from scipy.sparse import csc_array

    n, m = shape
    if not len(x):  # nobody can take a share of anything
        return np.zeros(0), np.zeros(m), np.zeros(n)
    columns = np.arange(len(x))
    rows = np.concatenate([y, m + x])
    unit = np.maximum(np.abs(gain), 1.0)  # of a share: those that lose much are tiny
    values = np.concatenate([1 / unit, -gain / unit])
    matrix = csc_array((values, (rows, np.tile(columns, 2))), shape=(m + n, len(x)))
    limits = np.concatenate([np.ones(m), np.zeros(n)])
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    for method, options in (("highs-ds", tight), ("highs", {}), ("highs-ipm", {})):
        found = linprog(
            -worth / unit,
            A_ub=matrix,
            b_ub=limits,
            bounds=(0, None),
            method=method,
            options=options,
        )
        if found.x is not None and found.status == 0:
            dual = np.maximum(-found.ineqlin.marginals, 0.0)
            return np.maximum(found.x, 0.0) / unit, dual[:m], dual[m:]
    return np.zeros(len(x)), np.zeros(m), np.zeros(n)  # nothing is proved by it, and nothing lost
