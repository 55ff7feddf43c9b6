r"""The best post-processing of outcomes on a line, to the digits of float64: columns of regions.

Prices make every outcome choose a secret, or none; each such choice is a column, with the mass of
the outcomes that chose x and what the secret gains there (`level_proofs`). Shares of columns are
a post-processing; the largest mass of those whose gains are not negative is a linear program, whose
multipliers are the next prices. That is Kelley's method for the dual. It proves nothing: what it
finds is proved afterwards, to a little room.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from borel import settings
from borel.engine.kernels.outcome_regions import Cells, Regions
from borel.engine.problem.budget import patience
from borel.numerics.float64.programmes import linprog

_ROUNDS, _CLOSE, _NEAR = 200, 2.0**-42, 2.0**-36
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_SPARE, _LEAST, _MOST, _MEET = 1e-12, 2.0**-50, 1e3, 0.01
_SCALE = 2.0**17


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
    theta : float
        e^t for PML, -e^-t for PMC.
    mass : float
        The largest mass of a leakage of t.
    prices : ndarray
        For each secret.
    cells : list
        Intervals of outcomes, and shares for each secret.
    """

    theta: float
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
        for x in range(len(rows.points)):  # the outcomes that are bad for one secret alone
            self._add(np.eye(len(rows.points))[x] * _MOST, float(sign))

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
        until = patience()
        for _ in range(_ROUNDS):
            if settings.late(until):
                break
            if (step := self._step(theta)) is None:
                break
            if step.dual - step.value <= _CLOSE:
                return Solution(theta, step.value, step.prices, self._shares(step.shares))
        return None

    def level(self, delta: float) -> Solution | None:
        """Return the level of a mass: shares for a little less, and prices for a little more."""
        low, high = (1.0, self.regions.ratios.max()) if self.sign > 0 else (-1.0, 0.0)
        below: Step | None = None
        above: Step | None = None
        theta, towards, near, before = low + (high - low) / 4, -1.0, _NEAR, np.zeros(0)
        until = patience()
        for _ in range(_ROUNDS):
            if settings.late(until):
                break
            if (step := self._step(theta)) is None:
                break
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
                return Solution(low, below.value, above.prices, self._shares(below.shares))
            mass = np.array([c.masses for c in self.columns[: len(step.shares)]])
            slope = float(step.shares @ mass @ step.prices)
            root = theta + (step.value - delta) / slope if slope > 0 else math.inf
            theta = root + towards * width / 4
            if not low < theta < high:
                theta = (low + high) / 2
        return None

    def _step(self, theta: float) -> Step | None:
        """Return the best of the columns and its prices, and what these prove; add their column."""
        if (solved := self._solved(theta)) is None:
            return None
        value, shares, prices = solved
        prices = np.maximum(prices, _LEAST)  # without one every outcome is as good for all
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
