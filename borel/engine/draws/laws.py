"""The law of a leakage under every draw of a finite prior: tails, quantiles and means, enclosed."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.draws.engine import DrawsEngine
from borel.engine.draws.parts import Part, PerDraw
from borel.numerics.intervals.rounding import TINY, U, fraction_down, fraction_up
from borel.probability.countable_law import check_level
from borel.probability.memo import Memo

if TYPE_CHECKING:
    from borel.numerics.intervals.batched import Box

_BINS = 1 << 20


class DrawLaws(DrawsEngine):
    """Figures of the law over outcomes that a `FiniteDraws` gives, one for each draw.

    Notes
    -----
    A value is known to lie in [low, high], its mass in [mass_low, mass_high]. Sums of m masses in
    float64, in any order, err by less than m u of themselves, as no mass is negative.
    """

    over_draws: Any
    leakages: Any

    def _values(self, part: Part, kind: str) -> tuple[np.ndarray, ...]:
        """Return ends of the leakage and of the mass of every outcome, (draws, m) each."""
        return part.memo.fact(("values", kind), lambda: self._values_of(part, kind))

    def _values_of(self, part: Part, kind: str) -> tuple[np.ndarray, ...]:
        low, high, marginal = self.leakages(part, kind)
        n, live = part.p.shape[1], part.live
        lost = n * TINY  # products that float64 flushed to 0
        mass_low = np.maximum(marginal * (1 - part.error - 2 * U) - lost, 0.0)
        mass_high = np.where(live, marginal * (1 + part.error + 2 * U) + lost, 0.0)
        return low, high, np.where(live, mass_low, 0.0), mass_high

    def tail(self, kind: str, t: Any, closed: bool) -> PerDraw:
        """Enclose P{leakage > t}, or P{leakage >= t} if closed, for every draw."""
        # the threshold as floats on either side of it; a leakage is compared with both
        below, above = ends_of(t)

        def compute(part: Part) -> tuple:
            low, high, mass_low, mass_high = self._values(part, kind)
            sure = low >= above if closed else low > above
            possible = high >= below if closed else high > below
            slack = (low.shape[1] + 4) * U
            inside = (mass_low * sure).sum(axis=1) * (1 - slack)
            outside = (mass_low * ~possible).sum(axis=1) * (1 - slack)
            most = (mass_high * possible).sum(axis=1) * (1 + slack)
            return inside, np.minimum(np.minimum(most, (1 - outside) * (1 + 2 * U)), 1.0)

        low, high = self.over_draws(compute)
        return PerDraw(low, np.maximum(low, high), units="probability", most=1.0)

    def quantile(self, kind: str, s: Any, side: str) -> PerDraw:
        """Enclose the quantile at level s of the leakage, for every draw."""
        check_level(s, side)
        least, most = ends_of(s)

        def compute(part: Part) -> tuple:
            low, high, mass_low, mass_high = self._values(part, kind)
            slack = (low.shape[1] + 4) * U
            # cdf >= a step function of the upper ends, and <= one of the lower ends
            possible = mass_high > 0  # a mass may be positive though its lower end is 0
            upper = _first(high, mass_low, possible, most, side, 1 - slack)
            lower = _first(low, mass_high, possible, least, side, 1 + slack)
            return lower, np.maximum(lower, upper)

        return PerDraw(*self.over_draws(compute))

    def mean(self, kind: str) -> PerDraw:
        """Enclose the mean of the leakage, for every draw."""

        def compute(part: Part) -> tuple:
            low, high, mass_low, mass_high = self._values(part, kind)
            return _expectation(low, high, mass_low, mass_high)

        return PerDraw(*self.over_draws(compute))

    def exp_mean(self, kind: str) -> PerDraw:
        """Enclose the mean of e^leakage, for every draw."""

        def compute(part: Part) -> tuple:
            low, high, mass_low, mass_high = self._values(part, kind)
            with np.errstate(over="ignore"):
                # libm's exp is within 4 ulp
                low, high = np.exp(low) * (1 - 10 * U), np.exp(high) * (1 + 10 * U)
            low, high = np.maximum(low, 1.0), np.maximum(high, 1.0)
            ends = _expectation(low, high, mass_low, mass_high)
            return np.maximum(ends[0], 1.0), np.maximum(ends[1], 1.0)

        return PerDraw(*self.over_draws(compute), units="ratio", least=1.0)

    def pooled_quantiles(self, kind: str, low_level: float, high_level: float, top: float):
        """Return ends of pooled quantiles: of the lower ends at one level, the upper at another.

        The pool is all draws and outcomes, each with its mass divided by the number of draws:
        ``inf{t : F_up(t) >= low_level}`` and ``sup{t : F_low(t-) <= high_level}``. Values are
        counted in bins of [0, top], and the outer edge of a bin stands for them; above ``top`` for
        the first, and inf for the second, when the level lies beyond all bins.
        """
        key = kind, top, settings.current()
        share_low, share_up = self._shares.apart(key, lambda: self._shares_of(kind, top))
        edges = np.linspace(0.0, top, _BINS + 1)
        first = np.flatnonzero(share_up >= low_level)
        # one bin further out on either side covers the rounding of the division into bins
        lower = float(edges[max(first[0] - 1, 0)]) if len(first) else top
        past = np.flatnonzero(share_low > high_level)
        upper = np.inf
        if len(past) and past[0] + 2 <= _BINS:
            upper = float(edges[past[0] + 2])
        return lower, upper

    @cached_property
    def _shares(self) -> Memo:
        """The cdfs of draws and outcomes together: several levels are asked for, one by one."""
        return Memo(most=1)

    def _shares_of(self, kind: str, top: float) -> Box:
        """Enclose the cdf over draws and outcomes together at the upper edges of bins."""
        counts = np.zeros((2, _BINS + 1))
        draws = terms = 0

        def compute(part: Part) -> tuple:
            nonlocal draws, terms
            low, high, mass_low, mass_high = self._values(part, kind)
            draws, terms = draws + len(low), terms + low.size
            scale = _BINS / top if top > 0 else 0.0
            for row, (ends, mass) in enumerate(((low, mass_high), (high, mass_low))):
                with np.errstate(invalid="ignore", over="ignore"):
                    place = np.minimum(ends * scale, _BINS)
                place = np.where(np.isfinite(ends), place, _BINS).astype(np.int64)
                counts[row] += np.bincount(place.ravel(), mass.ravel(), _BINS + 1)
            return (np.zeros(len(low)),)

        self.over_draws(compute)
        slack = 4 * (_BINS + terms) * U
        share_up = np.cumsum(counts[0]) / draws * (1 + slack)
        return np.cumsum(counts[1]) / draws * (1 - slack), share_up


def ends_of(t: Any) -> tuple[float, float]:
    """Return floats at or below, and at or above, a number."""
    if isinstance(t, Fraction):
        return fraction_down(t), fraction_up(t)
    return float(t), float(t)


def _first(ends, masses, possible, s: float, side: str, factor: float) -> np.ndarray:
    """Return, for every draw, the first end at which the accumulated mass reaches s."""
    values = np.where(possible, ends, np.inf)
    order = np.argsort(values, axis=1, kind="stable")
    values = np.take_along_axis(values, order, axis=1)
    total = np.cumsum(np.take_along_axis(masses, order, axis=1), axis=1) * factor
    reached = total >= s if side == "left" else total > s
    # where rounding kept the masses from reaching s it is the last value
    last = np.maximum(possible.sum(axis=1) - 1, 0)
    where = np.where(reached.any(axis=1), np.argmax(reached, axis=1), last)
    return np.take_along_axis(values, where[:, None], axis=1)[:, 0]


def _expectation(low, high, mass_low, mass_high) -> tuple[np.ndarray, np.ndarray]:
    slack = (low.shape[1] + 6) * U
    with np.errstate(invalid="ignore", over="ignore"):
        lower = np.where(mass_low > 0, mass_low * low, 0.0).sum(axis=1) * (1 - slack)
        upper = np.where(mass_high > 0, mass_high * high, 0.0).sum(axis=1) * (1 + slack)
        upper = upper + low.shape[1] * TINY
    return np.maximum(lower, 0.0), np.maximum(upper, lower)
