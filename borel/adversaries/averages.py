r"""The best expected gain or cost after the release, on average over outcomes that are not finite.

Let V(w) be the best value of an unnormalised law w (`borel.adversaries.threats`), and w_y(x) =
p(x) f(y|x). The average is the integral of V(w_y). The outcomes are cut into cells, of which the
masses P(cell|x) and the range of every posterior probability are enclosed. For a gain, V is convex
and homogeneous, so that a cell counts

* at least V of its masses (Jensen: to tell only the cell tells less), and
* at most the expectation of one action k over the cell, an expression in the masses, and P(cell)
  times the most that another action is better than k at a posterior in the range.

Where k is the best action all over the cell the two agree. Those cells where the best action
changes are cut until the ends are near. For a cost, which is concave, the ends trade places.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import settings
from borel.adversaries.beliefs import Secrets, Weights, fractions
from borel.adversaries.distance_costs import RealDistance
from borel.adversaries.threats import ActionTable, Gain, Threat, Value, exact_label
from borel.engine.envelopes.outcome_cells import OutcomeCells, cells_of
from borel.engine.problem.refinement import refine
from borel.errors import NotEnclosed
from borel.numerics.intervals import batched
from borel.numerics.intervals.rounding import U, fraction_down, fraction_up, sum_outward
from borel.numerics.jets.elementary import logarithm

if TYPE_CHECKING:
    from borel.numerics.intervals.batched import Box

_ROUNDS = 60
_ROOM = 0.1


class Cells(NamedTuple):
    """Cells of outcomes, as a threat reads them: arrays (secrets, cells), or (cells,).

    Attributes
    ----------
    masses : Box
        Ends of p(x) P(cell|x).
    posterior : Box
        Ends of P(x|y) over the outcomes of each cell.
    law : ndarray
        P_Y(cell), at most.
    flat : ndarray of bool
        Cells of one outcome.
    far : ndarray (secrets,)
        p(x) P(.|x) of what is beyond all cells, at most.
    """

    masses: Box
    posterior: Box
    law: np.ndarray
    flat: np.ndarray
    far: np.ndarray


def average(engine: Any, secrets: Secrets, threat: Threat, prior: Any) -> Value:
    """Enclose the mean over outcomes of the best value after them.

    Parameters
    ----------
    engine : Engine
        Of a joint with a finite secret, and outcomes of which it knows cells.
    secrets : Secrets
        The charged secrets.
    threat : Threat
        The gain or the cost.
    prior : pair of arrays of Fractions
        The ends of p(x).

    Raises
    ------
    NotEnclosed
        Too many secrets, or a kernel that intervals do not know.
    """
    whole = getattr(engine, "of_secrets", None) or engine
    if len(secrets.labels) == 1:  # no outcome tells anything
        return threat.enclosed(secrets, Weights(prior[0][None], prior[1][None]))[0]
    read = _reader(threat, secrets)
    cells = cells_of(whole)
    order = _order(cells, secrets)
    p = tuple(
        np.array([one(v) for v in end.tolist()])
        for one, end in zip((fraction_down, fraction_up), prior, strict=True)
    )
    found: list[np.ndarray] = []

    def enclose() -> tuple[float, float]:
        with np.errstate(invalid="ignore", over="ignore"):
            low, high, beyond = read(_read(cells, order, p, whole.slack))
            found[:] = [np.where(np.isfinite(high), high - low, np.inf)]
        least, most = sum_outward(np.append(low, 0.0), np.append(high, beyond))
        return max(float(least), 0.0), float(most)

    tol = settings.current().tol

    def settled(low: float, high: float) -> bool:
        return high - low <= tol * _ROOM * high

    def cut(low: float, high: float) -> bool:
        count = len(found[0])
        return count < read.most_cells and cells.halve(found[0])

    low, high = refine(
        enclose, cut, settled=settled, until=settings.search_deadline(), rounds=_ROUNDS
    )
    return Value(Fraction(low), math.inf if math.isinf(high) else Fraction(high), None)


def _order(cells: OutcomeCells, secrets: Secrets) -> np.ndarray:
    """Return where the charged secrets are among those of the cells."""
    points = cells.points[0] if isinstance(cells.points, tuple) else cells.points
    place = {float(x): i for i, x in enumerate(np.asarray(points, float).ravel().tolist())}
    missing = [x for x in secrets.labels if float(x) not in place]
    if missing or len(place) != len(secrets.labels):
        raise NotEnclosed(f"no cells of outcomes for the secrets {secrets.labels!r}")
    return np.array([place[float(x)] for x in secrets.labels])


def _read(cells: OutcomeCells, order: np.ndarray, p: tuple, slack: float) -> Cells:
    kernel = cells.kernel[0][order], cells.kernel[1][order]
    ratio = cells.ratio[0][order], cells.ratio[1][order]
    column = p[0][:, None], p[1][:, None]
    low, high = batched.multiply(column, kernel)
    known = np.isfinite(ratio[1])  # of a secret of very small probability it may overflow
    a, b = batched.multiply(column, (ratio[0], np.where(known, ratio[1], 1.0)))
    b = np.where(known, b, 1.0)
    flat, law, mass = np.asarray(cells.flat), cells.law, float(cells.far[0])
    if slack:  # the kernel meant is this one over its integral, which is as near to 1 as that
        off = math.expm1(2 * slack) * (1 + 8 * U) + 4 * U
        low, high, a, b = low * (1 - off), high * (1 + off), a * (1 - off), b * (1 + off)
        law, mass = (law[0] * (1 - off), law[1] * (1 + off)), mass + off
    return Cells(
        (np.maximum(low, 0.0), np.minimum(high, law[1])),
        (np.clip(a, 0.0, 1.0), np.clip(b, 0.0, 1.0)),
        law[1],
        flat,
        np.minimum(p[1], mass),
    )


def _reader(threat: Threat, secrets: Secrets) -> Any:
    """Return what bounds the value of every cell, and of what is beyond them from above."""
    table = threat.listed(secrets)
    if table is not None:
        return _Listed(threat, table)
    if isinstance(threat, RealDistance):
        return _Distances([exact_label(x, "cost.distance") for x in secrets.labels], threat.p)
    return _Monotone(threat, secrets)


class _Listed:
    """Finitely many actions."""

    most_cells = 4000

    def __init__(self, threat: Threat, table: ActionTable):
        self.gain = isinstance(threat, Gain)
        ends = (table.lower, fraction_down), (table.upper, fraction_up)
        self.low, self.high = (
            np.array([[one(v) for v in row] for row in end.tolist()], float) for end, one in ends
        )
        self.infinite = table.infinite

    def __call__(self, cells: Cells) -> tuple[np.ndarray, np.ndarray, float]:
        """Bound the value of every cell, and of what is beyond them from above."""
        low, high = self._expectations(cells.masses)
        if not self.gain:
            return self._of_cost(cells, low, high)
        least = low.max(axis=0)
        best = low.argmax(axis=0)
        most = np.take_along_axis(high, best[None], 0)[0]
        most = _up(most + _up(cells.law * self._better(cells, best)))
        top = self.high.max(axis=1)[:, None]
        most = np.minimum(most, _total(cells.masses[1], top))
        most = np.where(cells.flat, np.minimum(most, high.max(axis=0)), most)
        return least, most, float(_total(cells.far[:, None], top)[0])

    def _of_cost(self, cells: Cells, low: np.ndarray, high: np.ndarray) -> tuple:
        best = high.argmin(axis=0)
        most = high.min(axis=0)
        least = np.take_along_axis(low, best[None], 0)[0]
        lost = _up(cells.law * self._better(cells, best))
        with np.errstate(invalid="ignore"):
            least = np.nextafter(least - lost, -np.inf)
        least = np.where(np.isnan(least), 0.0, np.maximum(least, 0.0))
        least = np.where(cells.flat, np.maximum(least, low.min(axis=0)), least)
        beyond = self._expectations((0 * cells.far[:, None], cells.far[:, None]))[1]
        return least, np.maximum(most, least), float(beyond.min())

    def _expectations(self, masses: Box) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the sum of g(x, a) m(x): (actions, cells); infinite costs where they may be."""
        low, high = [], []
        for a in range(self.low.shape[1]):
            g = self.low[:, a, None], self.high[:, a, None]
            part = batched.multiply(g, masses)
            sums = sum_outward(np.maximum(part[0], 0.0), part[1], axis=0)
            sure = (masses[0][self.infinite[:, a]] > 0).any(axis=0)
            may = (masses[1][self.infinite[:, a]] > 0).any(axis=0)
            low.append(np.where(sure, np.inf, sums[0]))
            high.append(np.where(may, np.inf, sums[1]))
        return np.array(low), np.array(high)

    def _better(self, cells: Cells, best: np.ndarray) -> np.ndarray:
        """Bound how much better another action may be than ``best`` at an outcome of each cell."""
        out = np.zeros(len(best))
        for k in np.unique(best).tolist():
            here = np.flatnonzero(best == k)
            q_low, q_high = (end[:, here] for end in cells.posterior)
            if (self.infinite[:, k, None] & (q_high > 0)).any():
                bad = (self.infinite[:, k, None] & (q_high > 0)).any(axis=0)
            else:
                bad = np.zeros(len(here), bool)
            most = np.zeros(len(here))
            for a in range(self.low.shape[1]):
                if a == k:
                    continue
                if self.gain:
                    gap = _up(self.high[:, a] - self.low[:, k])
                else:
                    gap = _up(self.high[:, k] - self.low[:, a])
                never = self.infinite[:, a]
                gap = np.where(never, np.minimum(gap, 0.0), gap)
                barred = (never[:, None] & (q_low > 0)).any(axis=0)
                terms = _up(gap[:, None] * np.where(gap[:, None] > 0, q_high, q_low))
                more = sum_outward(np.zeros_like(terms), terms, axis=0)[1]
                most = np.maximum(most, np.where(barred, 0.0, more))
            out[here] = np.where(bad, np.inf, most)
        return out


class _Distances:
    r"""The p-th power of the distance from a real number k, p > 1.

    With L(m) the expected cost of m, convex, and R the range of the secrets, the best m costs at
    least :math:`L(k) - |L'(k)| R`, and at least :math:`L(k) - L'(k)^2 / 2 \mu` where
    :math:`L'' \ge \mu` on that range: for :math:`p \le 2`, :math:`\mu = p (p-1) R^{p-2}`;
    for p > 2 every m is farther than half of the least gap g between secrets from all of them but
    one, so that :math:`\mu = p (p-1) (g/2)^{p-2} (1 - \max_x P(x|y))`.
    """

    most_cells = 1500

    def __init__(self, points: list[Fraction], p: Fraction):
        self.points = points
        self.middle = np.array([float(x) for x in points])
        self.p = batched.point(float(p)) if Fraction(float(p)) == p else _around(p)
        self.whole = float(p)
        ordered = sorted(points)
        # the numbers that are tried are between those, rounded
        low, high = Fraction(self.middle.min()), Fraction(self.middle.max())
        self.span = _up_to(max(ordered[-1], high) - min(ordered[0], low))
        self.gap = _down_to(min(b - a for a, b in pairwise(ordered)))

    def __call__(self, cells: Cells) -> tuple[np.ndarray, np.ndarray, float]:
        """Bound the value of every cell, and of what is beyond them from above."""
        k = self._best((cells.masses[0] + cells.masses[1]) / 2)
        gap = self._from(k)
        cost = self._power(gap, self.p)
        low, high = batched.multiply(cost, cells.masses)
        least, most = sum_outward(np.maximum(low, 0.0), high, axis=0)
        lost = _up(cells.law * self._better(gap, cells.posterior))
        least = np.maximum(np.nextafter(least - lost, -np.inf), 0.0)
        far = np.full(1, float(k.mean()))
        beyond = _total(self._power(self._from(far), self.p)[1], cells.far[:, None])
        return least, np.maximum(most, least), float(beyond[0])

    def _best(self, masses: np.ndarray) -> np.ndarray:
        """Return where the cost is least, in float64: any number would do."""
        x = self.middle[:, None]
        with np.errstate(all="ignore"):
            low, high = (np.full(masses.shape[1], end) for end in (x.min(), x.max()))
            for _ in range(50):
                k = low + (high - low) / 2
                slope = (masses * np.sign(k - x) * np.abs(k - x) ** (self.whole - 1)).sum(axis=0)
                low, high = np.where(slope < 0, k, low), np.where(slope < 0, high, k)
        return low + (high - low) / 2

    def _from(self, k: np.ndarray) -> Box:
        """Enclose x - k, (secrets, cells)."""
        x = tuple(np.array([one(v) for v in self.points])[:, None] for one in (_down_to, _up_to))
        return batched.subtract((x[0], x[1]), batched.point(k[None]))

    def _power(self, gap: Box, p: Box) -> Box:
        """Enclose abs(gap)**p for p > 0."""
        if p[0] == p[1] == 2:
            return batched.square(gap)
        size = batched.absolute(gap)
        low, high = logarithm((size[0][None], size[1][None]), 0)
        with np.errstate(invalid="ignore"):
            logs = batched.settled(batched.multiply((low[0], high[0]), p))
        logs = np.where(size[0] > 0, logs[0], -np.inf), np.where(size[1] > 0, logs[1], -np.inf)
        return batched.exp(logs)

    def _better(self, gap: Box, posterior: Box) -> np.ndarray:
        """Bound how much less another number may cost at an outcome of each cell."""
        one = batched.subtract(self.p, batched.point(1.0))
        size = self._power(gap, one)
        # the sign of k - x
        low = np.where(gap[1] < 0, size[0], -size[1])
        high = np.where(gap[0] > 0, -size[0], size[1])
        parts = batched.multiply((low, high), posterior)
        sums = batched.multiply(self.p, sum_outward(*parts, axis=0))
        slope = np.maximum(np.abs(sums[0]), np.abs(sums[1]))
        rate = batched.multiply(self.p, one)[0] * (1 - 4 * U)
        power = batched.subtract(self.p, batched.point(2.0))
        if self.p[1] <= 2:  # of numbers below 1 the power falls, of others the exponent is <= 0
            size = self._power(batched.point(np.full((1, 1), self.span)), self._negative(power))
            rate = rate / _up(size[1][0]) * (1 - 4 * U)
        else:
            power = np.maximum(power[0], 0.0), power[1]
            size = self._power(batched.point(np.full((1, 1), self.gap / 2)), power)
            rate = rate * size[0][0] * (1 - np.max(posterior[1], axis=0)) * (1 - 8 * U)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            by_curve = _up(_up(slope * slope) / (2 * rate))
        by_curve = np.where(rate > 0, by_curve, np.inf)
        return np.fmin(_up(slope * self.span), by_curve)

    @staticmethod
    def _negative(power: Box) -> Box:
        """Return the exponent 2 - p, at least 0."""
        low, high = batched.negative(power)
        return np.maximum(low, 0.0), np.maximum(high, 0.0)


def _around(p: Fraction) -> Box:
    return np.asarray(fraction_down(p)), np.asarray(fraction_up(p))


class _Monotone:
    """Any other threat: V grows with every probability."""

    most_cells = 64

    def __init__(self, threat: Threat, secrets: Secrets):
        self.threat, self.secrets = threat, secrets
        self.gain = isinstance(threat, Gain)

    def _values(self, box: Box) -> tuple[np.ndarray, np.ndarray]:
        low, high = (fractions(np.ascontiguousarray(end.T)) for end in box)
        weights = Weights(low, high)
        found = self.threat.enclosed(self.secrets, weights)
        return (
            np.array([_down_to(v.lower) for v in found]),
            np.array([_up_to(v.upper) for v in found]),
        )

    def __call__(self, cells: Cells) -> tuple[np.ndarray, np.ndarray, float]:
        """Bound the value of every cell, and of what is beyond them from above."""
        low, high = self._values(cells.masses)
        a, b = low, high
        if not cells.flat.all():
            a, b = self._values(cells.posterior)
        beyond = self._values((cells.far[:, None], cells.far[:, None]))[1]
        sums = sum_outward(*cells.masses, axis=0)
        if self.gain:
            high = np.where(cells.flat, high, _up(cells.law * b))
        else:
            least = np.maximum(sums[0] * (1 - 4 * U), 0.0) * a * (1 - 4 * U)
            low = np.where(cells.flat, low, least)
        return low, np.maximum(high, low), float(beyond[0])


def _down_to(v: Any) -> float:
    return v if v == math.inf else fraction_down(Fraction(v))


def _up_to(v: Any) -> float:
    return v if v == math.inf else fraction_up(Fraction(v))


def _up(values: Any) -> np.ndarray:
    """Round upwards; 0 stays 0 (the operations here underflow to it from above only)."""
    return np.nextafter(values, np.inf)


def _total(masses: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Bound the sum over the secrets of masses times values, both at least 0."""
    terms = _up(masses * values)
    return sum_outward(np.zeros_like(terms), terms, axis=0)[1]
