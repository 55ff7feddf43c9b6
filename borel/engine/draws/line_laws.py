"""Figures of the law of a leakage over outcomes, from lines above and below it on boxes."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.draws.laws import DrawLaws, ends_of
from borel.engine.draws.outcome_lines import Lines
from borel.engine.draws.parts import PerDraw
from borel.numerics.intervals.rounding import U
from borel.probability.countable_law import check_level

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.intervals.batched import Box

_STEPS, _CLOSE = 44, 2.0**-44
_CLOSER = 2.0**-12, 2.0**-20, 2.0**-30
"""The width of a bracket at which halving stops, as a part of the level; for all draws together it
stops at each of three, and the boxes that are wholly outside of the bracket are left out."""
_UP, _DOWN = 1 + 2.0**-49, 1 - 2.0**-49


class LineLaws(DrawLaws):
    """Figures of the law over outcomes, from `Lines` of the draws.

    Sums of k masses in float64 err by less than k u of themselves, as no mass is negative.
    """

    lines: Callable[[Any, str], Lines]

    def _values(self, part: Any, kind: str) -> tuple[np.ndarray, ...]:
        lines = self.lines(part, kind)
        return *lines.range(), lines.mass_low, lines.mass_high

    def tail(self, kind: str, t: Any, closed: bool) -> PerDraw:
        """Enclose P{leakage > t}, or P{leakage >= t} if closed, for every draw."""
        below, above = ends_of(t)

        def compute(part: Any) -> tuple:
            few = _Crossing(self.lines(part, kind), below, above, closed=closed)
            found = [few.masses(t) for t in ((above,) if below == above else (above, below))]
            return found[0][0], found[-1][1]

        low, high = self.over_draws(compute)
        return PerDraw(low, np.maximum(low, high), units="probability", most=1.0)

    def quantile(self, kind: str, s: Any, side: str) -> PerDraw:
        """Enclose the quantile at level s of the leakage, for every draw."""
        check_level(s, side)
        if s == 1:
            return self.sup(kind)
        rough, (least, most) = super().quantile(kind, s, side), ends_of(s)

        def compute(part: Any) -> tuple:
            lines, rows = self.lines(part, kind), part.rows
            few = _Crossing(lines, rough.lower[rows], rough.upper[rows])
            return _between(few.cdf, rough.lower[rows], rough.upper[rows], least, most, side)

        low, high = self.over_draws(compute)
        return PerDraw(low, np.maximum(low, high))

    def mean(self, kind: str) -> PerDraw:
        """Enclose the mean of the leakage, for every draw."""
        low, high = self.over_draws(lambda part: _sum(self.lines(part, kind).means()))
        return PerDraw(low, np.maximum(low, high))

    def exp_mean(self, kind: str) -> PerDraw:
        """Enclose the mean of e^leakage, for every draw."""
        low, high = self.over_draws(lambda part: _sum(self.lines(part, kind).exp_means()))
        low = np.maximum(low, 1.0)
        return PerDraw(low, np.maximum(low, high), units="ratio", least=1.0)

    def pooled_quantiles(self, kind: str, low_level: float, high_level: float, top: float):
        """Return ends of quantiles of the leakage over draws and outcomes together."""

        def highest(part: Any) -> tuple:
            high = self.lines(part, kind).range()[1]
            return (high.max(axis=1, initial=top, where=np.isfinite(high)),)

        top = float(self.over_draws(highest)[0].max(initial=top)) * 1.001
        lower, upper = super().pooled_quantiles(kind, low_level, high_level, top)
        if not math.isfinite(upper):
            return lower, upper
        few: list[_Crossing] = []

        def keep(part: Any) -> tuple:
            few.append(_Crossing(self.lines(part, kind), lower, upper))
            return (np.zeros(part.size),)

        self.over_draws(keep)
        low = _pooled(few, lower, upper, lambda cdf: cdf[1] < low_level)[0]
        high = _pooled(few, lower, upper, lambda cdf: ~(cdf[0] > high_level))[1]
        return float(low), float(high)


def _pooled(few: list[_Crossing], low: Any, high: Any, beyond: Callable[[Box], Any]) -> Box:
    """Narrow a bracket of a quantile over all draws: it is beyond levels of which a cdf is."""
    size = sum(len(one.above[0]) for one in few)

    def cdf(t: Any) -> Box:
        found = [one.cdf(t) for one in few]
        least = sum(float(v[0].sum()) for v in found) / size * (1 - 4 * size * U)
        most = sum(float(v[1].sum()) for v in found) / size * (1 + 4 * size * U)
        return np.array(least), np.array(most)

    low, high = np.array(low), np.array(high)
    for close in _CLOSER:  # a narrower bracket crosses fewer boxes
        low, high = _halved(lambda t: beyond(cdf(t)), low, high, close)
        few = [one.between(low, high) for one in few]
    return low, high


def _sum(parts: Box) -> Box:
    slack = (parts[0].shape[1] + 8) * U
    return parts[0].sum(axis=1) * (1 - slack), parts[1].sum(axis=1) * (1 + slack)


class _Crossing:
    """The masses above levels between two: that of the boxes above both, and of those between.

    Few boxes of a draw have the level in the range of its leakage: their lines are kept, one after
    another, and no more is looked at for each level.
    """

    def __init__(self, lines: Lines, low: Any, high: Any, *, closed: bool = False):
        a, b = (np.reshape(v, (-1, 1)) for v in (low, high))
        (least, most), self.closed = lines.range(), closed
        below = ~(least >= b) if closed else ~(least > b)
        self.slack = (least.shape[1] + 8) * U
        self.above = tuple(
            v * (1 + s * self.slack)
            for v, s in zip(lines.wholly_above(b, closed), (-1, 1), strict=True)
        )
        inner = np.flatnonzero(below & ~(most < a))  # faster than the places of a table
        self.rows, box = inner // least.shape[1], inner % least.shape[1]
        self.lines = Lines(*(v[box] if v.ndim == 1 else v[self.rows, box] for v in lines))

    def between(self, low: Any, high: Any) -> _Crossing:
        """Return the same for all draws between two levels, which are between these."""
        (least, most), out = self.lines.range(), copy.copy(self)
        above = (least >= high) if self.closed else (least > high)
        more = (
            np.bincount(self.rows[above], mass[above], len(v)) * (1 + s * self.slack) + v
            for mass, v, s in zip(
                (self.lines.mass_low, self.lines.mass_high), self.above, (-1, 1), strict=True
            )
        )
        out.above = tuple(v * end for v, end in zip(more, (_DOWN, _UP), strict=True))
        kept = ~above & ~(most < low)
        out.rows, out.lines = self.rows[kept], self.lines.of(lambda v: v[kept])
        return out

    def masses(self, t: Any) -> Box:
        """Enclose P{leakage > t} of every draw, or P{leakage >= t}, for a level between the two."""
        t = np.ravel(t)
        parts = self.lines.masses_above(t if len(t) == 1 else t[self.rows], self.closed)
        inner = (
            np.bincount(self.rows, part, len(above)) * (1 + s * self.slack)
            for part, above, s in zip(parts, self.above, (-1, 1), strict=True)
        )
        low, high = (v + w for v, w in zip(inner, self.above, strict=True))
        return np.minimum(low * _DOWN, 1.0), np.minimum(high * _UP, 1.0)

    def cdf(self, t: Any) -> Box:
        """Enclose P{leakage <= t} of every draw, for a level between the two."""
        low, high = self.masses(t)
        return np.clip(1 - high - U, 0.0, 1.0), np.clip(1 - low + U, 0.0, 1.0)


def _between(cdf: Callable[[Any], Box], low, high, least: float, most: float, side: str) -> Box:
    """Enclose quantiles that are known to be between two levels, by halving."""
    last = np.where(np.isfinite(high), high, low)
    # the cdf is too small at t: the quantile is not below it
    first = _halved(lambda t: cdf(t)[1] < least, low, last, _CLOSE)[0]
    reached = np.greater if side == "right" else np.greater_equal
    last = _halved(lambda t: ~reached(cdf(t)[0], most), low, last, _CLOSE)[1]
    return first, np.where(np.isfinite(high), last, high)


def _halved(beyond: Callable[[Any], Any], low: Any, high: Any, close: float) -> Box:
    """Halve brackets of numbers that are beyond some levels and not beyond others."""
    for _ in range(_STEPS):
        with np.errstate(invalid="ignore"):  # an infinite level stays
            t = np.where(low == high, low, low + (high - low) / 2)
            if not (high - low > close * high).any():
                break
        below = beyond(t)
        low, high = np.where(below, t, low), np.where(below, high, t)
    return low, high
