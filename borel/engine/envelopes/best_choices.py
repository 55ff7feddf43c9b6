r"""The best post-processing of outcomes on a line, to the digits of float64.

Prices make every outcome choose a secret, or none (`level_proofs`). A few hundred cells of outcomes
make a linear programme whose prices are near the optimum, and from there Newton's method ends where
no secret gains anything and the mass is the one wanted. Where it does not (the mass jumps, or
secrets tell nearly the same), cells are cut in which the choices change, and the programme is
solved again: its shares of cells are a post-processing, and the prices are off by what is left of
these cells, which matters to second order. Nothing is proved: what is found is proved afterwards,
to a little room.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import settings
from borel.engine.envelopes.float_solver import best_shares, idle_prices
from borel.engine.kernels.outcome_regions import Cells, Regions
from borel.engine.problem.budget import patience
from borel.errors import BudgetSpent
from borel.numerics.intervals.rounding import TINY

if TYPE_CHECKING:
    from collections.abc import Callable

_SPARE, _MEET = 1e-12, 0.01
_GRID, _STEEP, _THIN, _SLIVER = 240, 1e3, 1e-16, 1e-14
_TURNS, _PARTS, _NEARLY = 8, 8, 0.5
_TRIALS, _ROOM, _CLOSE, _SURE, _FARTHEST = 60, 2.0**-34, 2.0**-30, 2.0**-30, 690.0
_STEPS, _SOLVED, _IDLE = 24, 2.0**-42, 1e-4


class Choices(NamedTuple):
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


class OutcomeParts(NamedTuple):
    """Cells of outcomes.

    Attributes
    ----------
    low, high : ndarray
        Their ends.
    r : ndarray (secrets, cells)
        P(cell|x) / P_Y(cell), with the sign of the leakage.
    q : ndarray
        P_Y of them.
    """

    low: np.ndarray
    high: np.ndarray
    r: np.ndarray
    q: np.ndarray


class BestShares(NamedTuple):
    """Best shares of cells at a level: the mass for each secret, prices, and the shares."""

    theta: float
    masses: np.ndarray
    prices: np.ndarray
    weights: np.ndarray

    @property
    def mass(self) -> float:
        """The mass of all bad outcomes."""
        return float(self.masses.sum())

    @property
    def used(self) -> np.ndarray:
        """The secrets with more than next to no mass."""
        return self.masses > _IDLE * self.mass


class ChoiceSearch:
    """The search for the best choices of outcomes, of a joint.

    Parameters
    ----------
    regions : Regions
        What outcomes tell.
    sign : {1, -1}
        PML or PMC.
    """

    def __init__(self, regions: Regions, sign: int):
        self.regions, self.sign = regions, sign

    def mass(self, theta: float) -> Solution | None:
        """Return the largest mass of a leakage."""
        unit = 0.5 * self._best(self._cells(np.zeros(0)), theta, 1.0).mass
        if not unit > 0:
            return None

        def optima(cells: OutcomeParts, near: BestShares | None) -> tuple[BestShares, BestShares]:
            # masses of cells are cut off at twice the unit
            found = self._best(cells, theta, unit, near)
            return found, found

        return self._refined(optima, None)

    def level(self, delta: float) -> Solution | None:
        """Return the level of a mass: shares for a little less, and prices for a little more."""
        return self._refined(lambda cells, near: self._on_both_sides(cells, delta, near), delta)

    def _refined(self, optima: Callable[..., Any], delta: float | None) -> Solution | None:
        """Return what Newton's method finds, or else the programme of cells that were cut."""
        best, near, cuts, until = None, None, np.zeros(0), patience()
        with suppress(BudgetSpent):
            for _ in range(_TURNS):
                cells = self._cells(cuts)
                ends = optima(cells, near)
                if ends is None or not ends[1].used.any():
                    break
                below, near = ends
                best = self._solution(cells, below, near)
                if (found := self._newton(near, delta)) is not None:
                    return found
                if settings.late(until):
                    break
                cuts = self._cuts(cells, near)
        return best

    def choices(self, prices: np.ndarray, theta: float) -> Choices:
        """Return the choices at some prices."""

        def scores(r: np.ndarray) -> np.ndarray:
            return (1 - prices * theta)[:, None] + (self.sign * prices)[:, None] * r

        def leads(r: np.ndarray) -> np.ndarray:
            """By how much each secret is ahead of all others, and of none."""
            s = np.where(prices[:, None] > 0, scores(r), -math.inf)
            best, at = s.argmax(axis=0), np.arange(s.shape[1])
            others = s.copy()
            others[best, at] = 0.0
            first, second = np.maximum(s[best, at], 0.0), np.maximum(others.max(axis=0), 0.0)
            ahead = s - first
            ahead[best, at] = s[best, at] - second
            return ahead

        n = len(prices)
        for turn in range(2):
            grid = leads(self.regions.ratios.reshape(n, -1))
            found = [self.regions.where(lambda r, x=x: leads(r)[x], grid[x]) for x in range(n)]
            ends = np.unique([e for cells, _ in found for pair in cells for e in pair])
            ends = ends[np.isfinite(ends) & ~np.isin(ends, self.regions.ys)]
            # where two secrets meet a third one may be ahead, or some outcomes nobody's
            met = np.sort(scores(self.regions.at(ends)), axis=0)[-2:] if n > 1 else None
            if turn or met is None or not (met[0] > -_MEET).any():
                break
            self.regions.add(ends[met[0] > -_MEET])
        masses = np.array([total[-1] for _, total in found])
        own = self.sign * np.array([total[x] for x, (_, total) in enumerate(found)])
        return Choices([cells for cells, _ in found], masses, own)

    # -- the programme of a few cells -------------------------------------------------------------

    def _cells(self, cuts: np.ndarray) -> OutcomeParts:
        """Return a few cells, even by their mass and by what is beyond them, and cut further."""
        parts, ys, line = self.regions.parts, self.regions.ys, self.regions.rows.line
        below, above = np.cumsum(parts[-1]), np.cumsum(parts[-1][::-1])[::-1]
        depth = np.log(np.maximum(below, _THIN)) - np.log(np.maximum(above, _THIN))
        place = below / below[-1] + (depth - depth[0]) / max(np.ptp(depth), _THIN)
        place = np.floor(place * (_GRID / 2))
        starts = np.flatnonzero(np.diff(place, prepend=-1.0))
        starts = np.union1d(starts, np.searchsorted(ys[:-1], cuts))
        edges = np.concatenate([line[:1], ys[starts[1:]], line[1:]])
        cells = np.add.reduceat(parts, starts, axis=1)
        some = cells[-1] > TINY
        q = cells[-1, some]
        r = self.sign * cells[: len(self.regions.rows.points), some] / q
        return OutcomeParts(edges[:-1][some], edges[1:][some], r, q)

    def _best(
        self, cells: OutcomeParts, theta: float, unit: float, near: BestShares | None = None
    ) -> BestShares:
        """Return the best shares of cells at a level, if their mass is less than twice a unit.

        Pairs that would cost far more than can be gained are left out: they are not chosen, and
        spoil the scale. So are pairs that were not nearly as good as others at prices of before.
        """
        gap = cells.r - theta
        top = np.maximum(gap.max(axis=1, keepdims=True), TINY)
        size = np.minimum(cells.q / unit, 2.0)
        wanted = (gap > -_STEEP * top) & (top > TINY) & (size > _THIN)
        if near is not None:
            scores = 1 + near.prices[:, None] * (cells.r - near.theta)
            scores = np.where(near.prices[:, None] > 0, scores, -np.inf)
            wanted &= scores > np.maximum(scores.max(axis=0), 0.0) - _NEARLY
        x, y = np.nonzero(wanted)
        weights, prices = np.zeros(gap.shape), np.zeros(len(gap))
        if len(x):
            gain = gap[x, y] / top[x, 0] * size[y]
            weights[x, y], _, prices = best_shares(gain, size[y], x, y, gap.shape)
        found = BestShares(theta, weights @ cells.q, prices / top[:, 0], weights)
        free = np.flatnonzero(found.used & (found.prices == 0))
        if len(free):  # what is had for nothing has a price that other outcomes ask for
            rent = np.maximum((1 + found.prices[:, None] * gap)[found.prices > 0], 0.0)
            found.prices[free] = idle_prices(gap[free], rent.max(axis=0, initial=0.0))
        return found

    def _on_both_sides(
        self, cells: OutcomeParts, delta: float, near: BestShares | None
    ) -> tuple[BestShares, BestShares] | None:
        """Return the best shares on both sides of the level of a mass; None where there is none."""
        theta = self._level(cells, delta) if near is None else near.theta
        if theta is None:
            return None
        low, high = (1.0, math.inf) if self.sign > 0 else (-1.0, 0.0)
        below, above, room = None, None, _ROOM
        mass = min(delta * (1 + _SURE), 1.0)  # the solver may take a little more than there is
        for turn in range(_TRIALS):
            found = self._best(cells, theta, delta, near)
            if found.mass >= mass:
                low, below = theta, found
            else:
                high, above = theta, found
            if below and above and high - low <= _CLOSE * abs(low):
                break
            slope = float(found.masses @ found.prices)
            step = (found.mass - mass) / slope if slope > 0 else math.inf
            if abs(step) <= room * abs(theta):  # to the other side, a little too far
                step = math.copysign(room * abs(theta), found.mass - mass)
                room *= 4
            theta += step
            if not low < theta < high or (turn % 4 == 3 and below and above):
                theta = low + (high - low) / 2 if math.isfinite(high) else 2 * low
        return (below, above) if below and above else None

    def _level(self, cells: OutcomeParts, delta: float) -> float | None:
        """Return the level of a mass by a few cells, roughly."""
        from scipy import optimize

        def at(t: float) -> float:
            return self.sign * math.exp(self.sign * t)

        def over(t: float) -> float:
            found = self._best(cells, at(t), delta).mass
            return math.log(max(found, delta * _THIN) / delta)

        largest = max(self.sign * float(cells.r.max()), math.exp(-_FARTHEST))
        high = self.sign * math.log(largest)
        if not (high > 0 and over(0.0) > 0 > over(high)):
            return None
        found = optimize.root_scalar(over, bracket=(0.0, high), xtol=1e-6, method="brentq")
        return at(float(found.root))

    def _solution(self, cells: OutcomeParts, below: BestShares, above: BestShares) -> Solution:
        """Return the shares of the one and the prices of the other."""
        prices, _ = self._with_idle(above.prices, above.theta, above.used)
        kept = below.masses > _SLIVER * below.mass
        w = np.where(kept[:, None], below.weights, 0.0).T
        w = w / (np.maximum(w.sum(axis=1, keepdims=True), 1.0) * (1 + 2.0**-50))
        out: list = []
        for a, b, shares in zip(cells.low.tolist(), cells.high.tolist(), w.tolist(), strict=True):
            if out and out[-1][1] == a and out[-1][2] == shares:
                out[-1][1] = b
            elif any(shares):
                out.append([a, b, shares])
        return Solution((below.theta, above.theta), below.mass, prices, out)

    def _cuts(self, cells: OutcomeParts, near: BestShares) -> np.ndarray:
        """Return where to cut cells in which the choices change, or that are shared."""
        prices, _ = self._with_idle(near.prices, near.theta, near.used)
        places = [e for one in self.choices(prices, near.theta).cells for pair in one for e in pair]
        total = near.weights.sum(axis=0)
        chosen = ((near.weights > _IDLE).sum(axis=0) > 1) | ((total > _IDLE) & (total < 1 - _IDLE))
        at = np.searchsorted(cells.high, places)
        chosen[at[at < len(chosen)]] = True
        low, high = (np.clip(v[chosen], *self.regions.ys[[0, -1]]) for v in (cells.low, cells.high))
        parts = np.arange(1, _PARTS)[:, None] / _PARTS
        self.regions.add(cuts := np.unique(low + (high - low) * parts))
        return np.unique(np.concatenate([cells.low[1:], cuts]))

    # -- Newton's method --------------------------------------------------------------------------

    def _newton(self, near: BestShares, delta: float | None) -> Solution | None:
        """Solve for prices at which no secret gains anything, and for theta if there is a delta.

        Outcomes that choose a secret do so between places where two choices are as good. These move
        with the prices, by how steep the difference of the choices is there.
        """
        prices, theta, used = near.prices, near.theta, near.used
        n, off = len(prices), math.inf
        for _ in range(_STEPS):
            prices, used = self._with_idle(prices, theta, used)
            chosen = self.choices(prices, theta)
            kept = np.flatnonzero(used)
            of = chosen.masses.sum() if delta is None else delta
            if not of > 0:  # no outcome chooses a secret
                break
            rest = (chosen.own - theta * chosen.masses)[kept] / (of * abs(theta))
            if delta is not None:
                rest = np.append(rest, chosen.masses.sum() / delta - 1 - _SPARE)
            before, off = off, float(np.abs(rest).max(initial=0.0))
            if off <= _SOLVED:  # less than _SPARE
                # the gain of next to nothing is known less well than its sign
                kept = kept[chosen.masses[kept] > _SLIVER * of]
                cells = [
                    [a, b, [float(k == x) for k in range(n)]]
                    for x in kept
                    for a, b in chosen.cells[x]
                ]
                mass = float(chosen.masses[kept].sum())
                return Solution((theta, theta), mass, prices, sorted(cells))
            if not off < 4 * before:
                break
            slopes = self._slopes(chosen, prices, theta)
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
                move = np.linalg.lstsq(slopes, -rest, rcond=None)[0]
            if not np.isfinite(move).all():
                break
            move = np.exp(move * min(1.0, 1.0 / max(float(np.abs(move).max()), 1e-300)))
            prices = prices.copy()
            prices[kept] *= move[: len(kept)]
            theta *= float(move[-1]) ** self.sign if delta is not None else 1.0
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

    def _slopes(self, chosen: Choices, prices: np.ndarray, theta: float) -> np.ndarray:
        """Return derivatives of the gains and, last, of the mass: by prices and, last, by theta."""
        n = len(prices)
        out = np.zeros((n + 1, n + 1))
        out[:n, n] = -chosen.masses
        line = self.regions.rows.line
        pairs = [(x, y) for x in range(n) for cell in chosen.cells[x] for y in cell]
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
