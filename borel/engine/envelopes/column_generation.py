r"""The best post-processing of outcomes on a line, to the digits of float64: columns of regions.

Prices make every outcome choose a secret, or none; each such choice is a column, with the mass of
the outcomes that chose x and what the secret gains there (`level_proofs`). A few hundred cells of
outcomes make a linear programme whose prices are near the optimum, and from there Newton's method
ends where no secret gains anything and the mass is the one wanted. Where it does not (the mass
jumps, or secrets tell the same), shares of columns are a post-processing; the largest mass of those
whose gains are not negative is a linear programme, whose multipliers are the next prices: Kelley's
method for the dual. Nothing is proved: what is found is proved afterwards, to a little room.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from borel import settings
from borel.engine.envelopes.float_solver import best_shares, idle_prices
from borel.engine.kernels.outcome_regions import Cells, Regions
from borel.engine.problem.budget import patience
from borel.numerics.float64.programmes import linprog
from borel.numerics.intervals.rounding import TINY

_ROUNDS, _CLOSE, _NEAR = 200, 2.0**-42, 2.0**-36
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_SPARE, _LEAST, _MOST, _MEET = 1e-12, 2.0**-50, 1e3, 0.01
_SCALE = 2.0**17
_GRID, _STEEP, _THIN, _SLIVER = 240, 1e3, 1e-16, 1e-14
_NEARLY, _EVERY, _ATTEMPTS, _STEPS, _SOLVED, _IDLE = 0.25, 4, 6, 24, 2.0**-42, 1e-4


class Column(NamedTuple):
    """Outcomes that choose a secret each.

    Attributes
    ----------
    cells : list of Cells
        For each secret the outcomes that choose it.
    masses, own : ndarray
        P_Y of them, and the probability of them given the secret, with the sign of the leakage.
    """

    cells: list[Cells]
    masses: np.ndarray
    own: np.ndarray


class Solution(NamedTuple):
    """A solution.

    Attributes
    ----------
    thetas : pair of float
        e^t for PML, -e^-t for PMC: of the shares, and of the prices.
    mass : float
        The largest mass of a leakage of t.
    prices : ndarray
        For each secret.
    cells : list
        Intervals of outcomes, and shares for each secret.
    """

    thetas: tuple[float, float]
    mass: float
    prices: np.ndarray
    cells: list


class Step(NamedTuple):
    """What the columns give: the largest mass, a bound on it, shares of the columns, and prices."""

    value: float
    dual: float
    shares: np.ndarray
    prices: np.ndarray


class Columns:
    """The columns of a joint.

    Parameters
    ----------
    regions : Regions
        What outcomes tell.
    sign : {1, -1}
        PML or PMC.
    """

    def __init__(self, regions: Regions, sign: int):
        self.regions, self.sign, rows = regions, sign, regions.rows
        self.columns: list[Column] = []
        self._fruitless = 0
        self.tops = (sign * regions.ratios).reshape(len(rows.points), -1).max(axis=1)

    def _begin(self) -> None:
        """Add the outcomes that are bad for one secret alone."""
        for x in range(0 if self.columns else len(self.tops)):
            self._add(np.eye(len(self.tops))[x] * _MOST, float(self.sign))

    def column(self, prices: np.ndarray, theta: float) -> Column:
        """Return the choices at some prices."""

        def scores(r: np.ndarray) -> np.ndarray:
            return (1 - prices * theta)[:, None] + (self.sign * prices)[:, None] * r

        def leads(r: np.ndarray, x: int) -> np.ndarray:
            s = scores(r)
            others = np.delete(s, x, axis=0).max(axis=0, initial=-math.inf)
            return np.where(prices[x] > 0, s[x] - np.maximum(others, 0.0), -1.0)

        n = len(prices)
        for turn in range(2):
            found = [self.regions.where(lambda r, x=x: leads(r, x)) for x in range(n)]
            ends = np.unique([e for cells, _ in found for pair in cells for e in pair])
            ends = ends[np.isfinite(ends) & ~np.isin(ends, self.regions.ys)]
            # where two secrets meet a third one may be ahead, or some outcomes nobody's
            met = np.sort(scores(self.regions.at(ends)), axis=0)[-2:] if n > 1 else None
            if turn or met is None or not (met[0] > -_MEET).any():
                break
            self.regions.add(ends[met[0] > -_MEET])
        masses = np.array([total[-1] for _, total in found])
        own = self.sign * np.array([total[x] for x, (_, total) in enumerate(found)])
        return Column([cells for cells, _ in found], masses, own)

    def _solved(self, theta: float) -> tuple[float, np.ndarray, np.ndarray] | None:
        """Return the largest mass at theta, the shares of columns, and prices.

        None if the solver fails: near a jump of the mass the columns differ by very little.
        """
        masses = np.array([column.masses.sum() for column in self.columns])
        # the solver lets constraints be missed by 1e-10
        gains = _SCALE * np.array([c.own - theta * c.masses for c in self.columns]).T
        n = len(gains)
        found = linprog(
            -masses,
            A_ub=np.vstack([-gains, np.ones(len(masses))]),
            b_ub=np.append(np.zeros(n), 1.0),
            method="highs-ds",
            options=_OPTIONS,
        )
        if found.status != 0:
            return None
        prices = np.maximum(-found.ineqlin.marginals[:n], 0.0) * _SCALE
        return -float(found.fun), np.maximum(found.x, 0.0), prices

    def mass(self, theta: float) -> Solution | None:
        """Return the largest mass of a leakage."""
        if (found := self._from_cells(None, theta)) is not None:
            return found
        self._begin()
        until = patience()
        for turn in range(_ROUNDS):
            if settings.late(until):
                break
            if (step := self._step(theta)) is None:
                break
            if (polished := self._polished(turn, step, theta, None)) is not None:
                return polished
            if step.dual - step.value <= _CLOSE:
                return Solution((theta, theta), step.value, step.prices, self._shares(step.shares))
        return None

    def level(self, delta: float) -> Solution | None:
        """Return the level of a mass: shares for a little less, and prices for a little more."""
        if (found := self._from_cells(delta)) is not None:
            return found
        self._begin()
        low, high = (1.0, self.regions.ratios.max()) if self.sign > 0 else (-1.0, 0.0)
        below: Step | None = None
        above: Step | None = None
        theta, towards, near, before = low + (high - low) / 4, -1.0, _NEAR, np.zeros(0)
        until = patience()
        for turn in range(_ROUNDS):
            if settings.late(until):
                break
            if (step := self._step(theta)) is None:
                break
            if (polished := self._polished(turn, step, theta, delta)) is not None:
                return polished
            stalled, before = np.array_equal(step.prices, before), step.prices
            if step.value >= delta * (1 + _SPARE):
                low, below, towards = theta, step, 1.0
            elif step.dual < delta:
                high, above, towards = theta, step, -1.0
            elif step.dual - step.value > _CLOSE and not stalled:
                continue
            else:  # on it, as far as the solver goes: to where it is decided, on the other side
                near, towards = 2 * near, 1.0 if above is None else -towards
            width = near * abs(theta)
            if below and above and high - low <= width:
                break
            mass = np.array([c.masses for c in self.columns[: len(step.shares)]])
            slope = float(step.shares @ mass @ step.prices)
            root = theta + (step.value - delta) / slope if slope > 0 else math.inf
            theta = root + towards * width / 4
            if not low < theta < high:
                theta = (low + high) / 2
        if below and above:
            return Solution((low, high), below.value, above.prices, self._shares(below.shares))
        return None

    # -- a few cells, to begin with ---------------------------------------------------------------

    def _from_cells(self, delta: float | None, theta: float | None = None) -> Solution | None:
        """Return what Newton's method finds from the programme of a few cells of outcomes."""
        parts = self._cells()
        q = parts[-1]
        r = self.sign * parts[: len(self.tops)] / q
        mass = delta or 1.0
        if theta is None:
            theta = self._level_of_cells(r, q, mass)
        elif (mass := self._mass_of_cells(r, q, theta, mass)[0]) > 0:
            mass *= 0.5  # so that the masses of cells are not cut off
        if theta is None or not mass > 0:
            return None
        _, prices, masses = self._mass_of_cells(r, q, theta, mass)
        used = masses > _IDLE * masses.sum()
        return self._newton(prices, theta, delta, used) if used.any() else None

    def _mass_of_cells(
        self, r: np.ndarray, q: np.ndarray, theta: float, mass: float
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the largest mass at a level, if it is less than twice a mass, which is the unit.

        With it are prices, and the mass for each secret. Pairs that would cost far more than can
        be gained are left out: they are not chosen, and spoil the scale.
        """
        gap = r - theta
        top = np.maximum(gap.max(axis=1, keepdims=True), TINY)
        size = np.minimum(q / mass, 2.0)
        x, y = np.nonzero((gap > -_STEEP * top) & (top > TINY) & (size > _THIN))
        if not len(x):
            return 0.0, np.zeros(len(r)), np.zeros(len(r))
        gain = gap[x, y] / top[x, 0] * size[y]
        w, _, prices = best_shares(gain, size[y], x, y, gap.shape)
        worth = np.bincount(x, w * size[y], len(r)) * mass
        return float(worth.sum()), prices / top[:, 0], worth

    def _level_of_cells(self, r: np.ndarray, q: np.ndarray, delta: float) -> float | None:
        """Return the level of a mass by a few cells; None where the leakage is not bounded."""
        from scipy import optimize

        def at(t: float) -> float:
            return self.sign * math.exp(self.sign * t)

        def over(t: float) -> float:
            found = self._mass_of_cells(r, q, at(t), delta)[0]
            return math.log(max(found, delta * _THIN) / delta)

        largest = self.sign * float(r.max())
        if not largest > 0:
            return None
        high = self.sign * math.log(largest)
        if not (high > 0 and over(0.0) > 0 > over(high)):
            return None
        found = optimize.root_scalar(over, bracket=(0.0, high), xtol=1e-6, method="brentq")
        return at(float(found.root))

    def _cells(self) -> np.ndarray:
        """Return the parts of a few cells, even by their mass and by what is beyond them."""
        parts = self.regions.parts
        below, above = np.cumsum(parts[-1]), np.cumsum(parts[-1][::-1])[::-1]
        depth = np.log(np.maximum(below, _THIN)) - np.log(np.maximum(above, _THIN))
        place = below / below[-1] + (depth - depth[0]) / max(np.ptp(depth), _THIN)
        place = np.floor(place * (_GRID / 2))
        starts = np.flatnonzero(np.diff(place, prepend=-1.0))
        cells = np.add.reduceat(parts, starts, axis=1)
        return cells[:, cells[-1] > TINY]

    # -- Newton's method --------------------------------------------------------------------------

    def _polished(
        self, turn: int, step: Step, theta: float, delta: float | None
    ) -> Solution | None:
        """Return what Newton's method finds, every few steps once they are near the optimum."""
        near = step.dual - step.value <= _NEARLY * step.value
        if not near or turn % _EVERY or self._fruitless >= _ATTEMPTS:
            return None
        masses = step.shares @ np.array([c.masses for c in self.columns[: len(step.shares)]])
        found = self._newton(step.prices, theta, delta, masses > _IDLE * step.value)
        self._fruitless += found is None
        return found

    def _newton(
        self, prices: np.ndarray, theta: float, delta: float | None, used: np.ndarray
    ) -> Solution | None:
        """Solve for prices at which no secret gains anything, and for theta if there is a delta.

        Outcomes that choose a secret do so between places where two choices are as good. These move
        with the prices, by how steep the difference of the choices is there.
        """
        n, off = len(prices), math.inf
        for _ in range(_STEPS):
            prices, used = self._with_idle(prices, theta, used)
            column = self.column(prices, theta)
            kept = np.flatnonzero(used)
            of = column.masses.sum() if delta is None else delta
            rest = (column.own - theta * column.masses)[kept] / (of * abs(theta))
            if delta is not None:
                rest = np.append(rest, column.masses.sum() / delta - 1 - _SPARE)
            before, off = off, float(np.abs(rest).max(initial=0.0))
            if off <= _SOLVED:  # less than _SPARE
                # the gain of next to nothing is known less well than its sign
                kept = kept[column.masses[kept] > _SLIVER * of]
                cells = [
                    [a, b, [float(k == x) for k in range(n)]]
                    for x in kept
                    for a, b in column.cells[x]
                ]
                mass = float(column.masses[kept].sum())
                return Solution((theta, theta), mass, prices, sorted(cells))
            if not off < 4 * before:
                break
            slopes = self._slopes(column, prices, theta)
            if delta is None:
                slopes = slopes[np.ix_(kept, kept)]
            else:
                slopes = slopes[np.ix_(np.append(kept, n), np.append(kept, n))]
            sizes = np.append(prices[kept], [] if delta is None else abs(theta))
            if not (np.isfinite(slopes).all() and (sizes > 0).all()):
                break
            with np.errstate(over="ignore", invalid="ignore"):
                slopes[: len(kept)] /= abs(theta)  # moves relative to sizes: PMC has tiny thetas
                slopes = slopes / of * sizes
                if not np.isfinite(slopes).all():
                    break
                move = np.linalg.lstsq(slopes, -rest, rcond=None)[0] * sizes
            if not np.isfinite(move).all():
                break
            move = move * min(1.0, 0.5 / max(float(np.abs(move / sizes).max()), 1e-300))
            prices = prices.copy()
            prices[kept] += move[: len(kept)]
            theta += float(move[-1]) if delta is not None else 0.0
        return None

    def _with_idle(
        self, prices: np.ndarray, theta: float, used: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give secrets that are not used prices at which no outcome chooses them, if there are."""
        ratios = self.regions.ratios.reshape(len(prices), -1)
        gaps = self.sign * ratios[:, ratios.any(axis=0)] - theta
        idle = np.flatnonzero(~used)
        if not len(idle) or not used.any():
            return prices, used
        rent = np.maximum(1 + prices[used, None] * gaps[used], 0.0).max(axis=0)
        prices, used = prices.copy(), used.copy()
        prices[idle] = idle_prices(gaps[idle], rent)
        asked = (1 + prices[idle, None] * gaps[idle] - rent).max(axis=1) > _SPARE
        used[idle[asked]] = True
        return prices, used

    def _slopes(self, column: Column, prices: np.ndarray, theta: float) -> np.ndarray:
        """Return derivatives of the gains and, last, of the mass: by prices and, last, by theta."""
        n = len(prices)
        out = np.zeros((n + 1, n + 1))
        out[:n, n] = -column.masses
        line = self.regions.rows.line
        pairs = [(x, y) for x in range(n) for cell in column.cells[x] for y in cell]
        pairs = [(x, y) for x, y in pairs if y not in line]
        if not pairs:
            return out
        y = np.array([y for _, y in pairs])
        step = 1e-6 * np.maximum(np.abs(y), 1.0)
        r = [self.sign * self.regions.at(v) - theta for v in (y - step, y, y + step)]
        with np.errstate(all="ignore"):
            law = np.exp(self.regions.rows.log_law(self.regions.rows.logs(y)))
        for k, (x, _) in enumerate(pairs):
            scores = 1 + prices * r[1][:, k]
            scores[x] = -math.inf
            other = int(np.argmax(scores)) if n > 1 and scores.max() > 0 else None
            lead = prices[x] * (r[2][x, k] - r[0][x, k])
            change = np.zeros(n + 1)
            change[x], change[n] = r[1][x, k], -prices[x]
            if other is not None:
                lead -= prices[other] * (r[2][other, k] - r[0][other, k])
                change[other] = -r[1][other, k]
                change[n] += prices[other]
            with np.errstate(all="ignore"):  # a level place has no finite slope: seen by the caller
                grows = law[k] * 2 * step[k] / abs(lead) * change
                out[x] += r[1][x, k] * grows
                out[n] += grows
        return out

    def _step(self, theta: float) -> Step | None:
        """Return the best of the columns and its prices, and what these prove; add their column."""
        if (solved := self._solved(theta)) is None:
            return None
        value, shares, prices = solved
        prices = np.maximum(prices, _LEAST)  # without one every outcome is as good for all
        room = theta - self.tops
        with np.errstate(divide="ignore", over="ignore"):  # no outcome chooses one of no use
            prices = np.where(room > 0, np.maximum(prices, np.minimum(2 / room, 1e300)), prices)
        column = self._add(prices, theta)
        dual = float(column.masses.sum() + prices @ (column.own - theta * column.masses))
        return Step(value, dual, shares, prices)

    def _add(self, prices: np.ndarray, theta: float) -> Column:
        self.columns.append(self.column(prices, theta))
        return self.columns[-1]

    def _shares(self, shares: np.ndarray) -> list:
        """Return disjoint cells of outcomes, with the shares of columns in which they choose."""
        used = [(a, c) for a, c in zip(shares, self.columns, strict=False) if a > 0]
        edges = sorted({e for _, c in used for cells in c.cells for pair in cells for e in pair})
        out: list = []
        for a, b in pairwise(edges):
            w = [
                float(sum(s for s, c in used if any(u <= a and b <= v for u, v in c.cells[x])))
                for x in range(len(self.regions.rows.points))
            ]
            w = [v / (max(1.0, sum(w)) * (1 + 2.0**-50)) for v in w]
            if any(w):
                out.append([a, b, w])
        return out
