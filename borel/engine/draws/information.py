r"""Mutual information for many draws: on boxes of outcomes, from two integrals over the secrets.

With :math:`\eta(u) = -u \log u` and g = f e^-shift, a kernel of at most 1 on a box of outcomes,

.. math:: \int p f \log(f / f_Y) \, dx
    = e^{\text{shift}} \Big( \eta\Big(\int p g \, dx\Big) - \int p\, \eta(g) \, dx \Big)

at each outcome, and both integrals are linear in the density p of a draw (`kernel_integrals`). No
outcome adds less than 0; those far out add no more than PML does.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.engine.draws.kernel_integrals import densities_at, integrals, marginals
from borel.engine.draws.outcome_laws import OutcomeLaw, inverse, mean_gap
from borel.engine.draws.outcome_lines import Lines, masses_of
from borel.engine.draws.wide_boxes import wide_boxes
from borel.engine.kernels.information_on_boxes import entropy_of, widened
from borel.engine.kernels.quadrature_rules import Outcomes
from borel.numerics.intervals import batched
from borel.numerics.intervals.rounding import TINY, U
from borel.numerics.jets.elementary import logarithm

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.engine.draws.count_masses import CountMasses
    from borel.engine.draws.density_cells import DensityCells
    from borel.engine.draws.outcome_boxes import Compared, OfKernel
    from borel.engine.problem.secret_and_kernel import Surface
    from borel.numerics.intervals.batched import Box

_GOOD, _GOOD_FOR_ONE = 5e-7, 5e-9
_BOXES, _BOXES_OF_ONE = 1000, 4000
_MOST = math.exp(-1) * (1 + 2.0**-50)
"""What -u log u is at most."""


def most_entropy(log: np.ndarray) -> np.ndarray:
    """Return what -u log u is at most for log u <= t <= 0: 1/e, and 2/e e^(t/2) as for sqrt(u)."""
    root = batched.exp(batched.point(log / 2))[1]
    return np.where(root < 0.5, 2 * _MOST * root * (1 + 4 * U) + TINY, _MOST)


class Shares(NamedTuple):
    """What boxes of outcomes have of the probability, and add to mutual information.

    Attributes
    ----------
    mass_low, mass_high, mean_low, mean_high : ndarray (draws, boxes)
    """

    mass_low: np.ndarray
    mass_high: np.ndarray
    mean_low: np.ndarray
    mean_high: np.ndarray

    def of(self, change: Callable[[np.ndarray], np.ndarray]) -> Shares:
        """Apply one choice of draws or boxes to every field."""
        return Shares(*map(change, self))

    def means(self) -> Box:
        """Return what the boxes add to mutual information."""
        return self.mean_low, self.mean_high


class OutcomeInformation(OutcomeLaw):
    """What boxes of outcomes add to mutual information, as the means of `Lines`."""

    good = _GOOD

    def __init__(self, shared, support):
        super().__init__(shared, support, "pml")
        self.entropy = entropy_of(self.search.surface)
        self._last: tuple[Any, Any] = (None, None)

    def _evaluate(self, cells, low, high, deadline: float) -> tuple[Any, np.ndarray]:
        lines, seen = super()._evaluate(cells, low, high, deadline)
        return Shares(lines.mass_low, lines.mass_high, *lines.means()), seen

    def _read(self, found: Compared, cells: DensityCells | CountMasses, low, high) -> Lines:
        half, reach = found.half, found.reach
        inner = marginals(cells, self._entropies(found.kernel, cells), found.draws)
        per = batched.exp(batched.negative(found.total))
        density = [batched.multiply(_row(found.value, k), per) for k in range(3)]
        own = [batched.multiply(_row(inner, k), per) for k in range(3)]
        outer = _eta(density, half)
        parts = [batched.subtract(a, b) for a, b in zip(outer, own, strict=True)]
        width = 2 * reach, 2 * half
        total = batched.multiply(parts[0], width)
        # the coefficients may be others at each outcome
        size = np.maximum(*map(np.abs, parts[1]))
        off = (parts[1][1] - parts[1][0] + 4 * U * size) * (half * half / 2)
        off = (off + size * half * (half - reach)) * (1 + 8 * U)
        total = batched.add(total, (-off, off))
        cubed = reach * reach * reach * (2 / 3), half * half * half * (2 / 3)
        total = batched.add(total, batched.multiply(parts[2], _near(cubed)))
        low_, high_ = batched.multiply(total, batched.exp(batched.point(found.shift)))
        low_, high_ = widened(low_, high_, self.slack)
        # without a bound of the kernel g may exceed 1
        lost = np.isnan(low_) | np.isnan(high_) | np.isposinf(found.chosen.direct)
        dead = np.broadcast_to(found.dead, low_.shape)
        mass = masses_of(found, self.slack)
        low_ = np.where(dead | lost, 0.0, low_)
        high_ = np.fmin(np.where(lost, np.inf, high_), self._mean_by_mass(found, mass[1]))
        high_ = np.where(dead, 0.0, high_)
        if not np.isinf(high_[~cells.lost[found.draws]]).any():
            # PML is not looked at: NaN is what is not known of it
            flat = Lines.flat(0.0, math.nan, *mass, (low_, high_))
            return flat._replace(half=half, reach=reach)  # of these boxes, for all draws
        lines, none = super()._read(found, cells, low, high), np.zeros_like(low_)
        return lines._replace(low_at=none, low_slope=none, mean_low=low_, mean_high=high_)

    def _entropies(self, of: OfKernel, cells: DensityCells | CountMasses) -> Any:
        """Return the integrals of -g log g, which are those of all draws."""
        if self._last[0] is not of:
            ys = Outcomes(of.low, of.high, of.low + (of.high - of.low) / 2, 2, of.shift)
            self._last = of, integrals(self.entropy, ys, cells, most_entropy)
        return self._last[1]

    def _wide(self, cells: DensityCells, low, high) -> Lines:
        if not len(low):
            return super()._wide(cells, low, high)
        noise: Any = self.noise
        found = wide_boxes(noise, cells, low, high)
        least, most = batched.subtract(found.entropy, found.loss)
        return Lines.flat(0.0, math.inf, *found.mass, (least, np.maximum(most, 0.0)))

    def _mean_falling(self, cells, at: np.ndarray, shift: np.ndarray, rates, density: Box) -> Box:
        r"""Enclose what a half-line adds where log f falls at rates between two.

        With t the distance from its end and L = log f / f_Y there, log f / f_Y is within
        :math:`\delta t` of L, and f between f e^(-s t) and f e^(-r t) there, r = s - delta; the
        integral of f L where L < 0 is at most f_Y / e.
        """
        (least, most), (slow, fast) = inverse(rates), rates
        there = at_points(self.search.surface, at, shift, cells)
        off = (most - least) * _MOST + (fast - slow) * (1 + 2 * U) * most * most
        off = density[1] * (off * (1 + 16 * U))
        low, high = batched.add(batched.multiply(there, (least, most)), (-off, off))
        low, high = widened(low, high, self.slack)
        return np.maximum(low, 0.0), np.where(np.isnan(high), np.inf, high)

    def _leakage(self, cells, a: float, b: float) -> Box:
        low, high = super()._leakage(cells, a, b)
        return np.zeros_like(low), high

    def _where_infinite(self, lines: Lines, low, high) -> Lines:
        return lines  # information may be finite there

    def _kept(self, lines: Lines) -> Lines:
        """Return one box for all of them: no more than the sums is read."""
        slack = 1e-12
        sums = [
            v.sum(axis=1, keepdims=True) * (1 + sign * slack)
            for v, sign in zip((lines.mass_low, lines.mass_high), (-1, 1), strict=True)
        ]
        mean = [
            v.sum(axis=1, keepdims=True) * (1 + s * slack)
            for v, s in zip(lines.means(), (-1, 1), strict=True)
        ]
        return Lines.flat(0.0, math.inf, sums[0], sums[1], mean)

    def _good(self, draws: int) -> float:
        return super()._good(draws) if draws > 1 else _GOOD_FOR_ONE

    def _limit(self, draws: int) -> int:
        return _BOXES if draws > 1 else _BOXES_OF_ONE

    def _cost(self, lines: Lines) -> np.ndarray:
        return mean_gap(lines)


def at_points(
    surface: Surface, ys: np.ndarray, shift: np.ndarray, cells: DensityCells | CountMasses
) -> Box:
    """Enclose what outcomes with a mass add to mutual information, shape (draws, outcomes)."""
    density = densities_at(surface, ys, shift, cells)
    own = densities_at(entropy_of(surface), ys, shift, cells, most_entropy)
    with np.errstate(invalid="ignore", divide="ignore"):  # a density that may be 0
        value = _eta([density], np.zeros(len(ys)))[0]
    out = batched.multiply(batched.subtract(value, own), batched.exp(batched.point(shift)))
    return batched.settled(out)


def _row(a: Box, k: int) -> Box:
    return a[0][k], a[1][k]


def _near(a: Box) -> Box:
    return a[0] * (1 - 8 * U) - TINY, a[1] * (1 + 8 * U) + TINY


def _eta(terms: list[Box], half: np.ndarray) -> list[Box]:
    """Return coefficients of -w log w: at the centres of boxes, the last over the boxes."""
    w = terms[0]
    w = np.maximum(w[0], 0.0), w[1]
    log = logarithm((w[0][None], w[1][None]), 0)
    first = batched.negative(batched.multiply(w, (log[0][0], log[1][0])))
    first = batched.settled(first)
    if len(terms) == 1:
        return [(first[0], np.minimum(first[1], _MOST))]
    reach, square = (-half, half), (np.zeros(len(half)), half * half * (1 + 2.0**-50))
    a0, a1, a2 = terms
    two, one = batched.point(np.array(2.0)), batched.point(np.array(1.0))
    # d/dw (-w log w) = -(log w + 1), and half the second derivative is -1 / 2w
    slope = batched.negative(batched.add((log[0][0], log[1][0]), one))
    second = batched.multiply(slope, a1)
    wide = batched.add(a0, batched.add(batched.multiply(a1, reach), batched.multiply(a2, square)))
    steep = batched.add(a1, batched.multiply(batched.multiply(a2, two), reach))
    logs = logarithm((np.maximum(wide[0], 0.0)[None], wide[1][None]), 0)
    slopes = batched.negative(batched.add((logs[0][0], logs[1][0]), one))
    bend = batched.negative(batched.divide(batched.square(steep), batched.multiply(two, wide)))
    third = batched.add(batched.multiply(slopes, a2), bend)
    return [first, batched.settled(second), batched.settled(third)]
