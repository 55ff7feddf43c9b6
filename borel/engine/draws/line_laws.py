"""Figures of the law of a leakage over outcomes, from lines above and below it on boxes."""

from __future__ import annotations

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

_STEPS, _CLOSE, _TOWARDS = 44, 2.0**-44, 0.2
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
        size = sum(len(one.above[0]) for one in few)

        def cdf(t: Any) -> Box:
            found = [one.cdf(t) for one in few]
            low = sum(float(v[0].sum()) for v in found) / size * (1 - 4 * size * U)
            high = sum(float(v[1].sum()) for v in found) / size * (1 + 4 * size * U)
            return np.array(low), np.array(high)

        ends = np.array(lower), np.array(upper)
        low, high = _between(cdf, *ends, low_level, high_level, "right")
        return float(low), float(high)


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
        above = (least >= b) if closed else (least > b)
        inner = ~above & ~(most < a)
        self.slack = (above.shape[1] + 8) * U
        self.above = tuple(
            np.where(above, m, 0.0).sum(axis=1) * (1 + s * self.slack)
            for m, s in ((lines.mass_low, -1), (lines.mass_high, 1))
        )
        self.rows, box = np.nonzero(inner)
        self.lines = Lines(*(v[box] if v.ndim == 1 else v[self.rows, box] for v in lines))

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
    """Enclose quantiles that are known to be between two levels, by narrowing brackets of them."""
    last = np.where(np.isfinite(high), high, low)
    # a quantile is not below a level at which the cdf is too small
    first = _bracket(lambda t: cdf(t)[1] - least, lambda more: more < 0, low, last)[0]
    reached = np.greater if side == "right" else np.greater_equal
    last = _bracket(lambda t: cdf(t)[0] - most, lambda more: ~reached(more, 0), low, last)[1]
    return first, np.where(np.isfinite(high), last, high)


def _bracket(value: Callable[[Any], Any], beyond: Callable[[Any], Any], low, high) -> Box:
    """Narrow brackets of where the values of a monotone function are beyond 0 no longer.

    The next level is between the middle of the bracket and where a line through its ends is 0: that
    of the ITP method (Oliveira and Takahashi, ACM Trans. Math. Softw. 47, 2020), which takes at
    most one step more than halving. Which levels it asks at matters for the time it takes alone.
    """
    a, b = np.asarray(low, float), np.asarray(high, float)
    at_a, at_b = np.full(np.shape(a), np.nan), np.full(np.shape(b), np.nan)
    with np.errstate(all="ignore"):  # an infinite level stays
        close = _CLOSE * b
        reach = np.where(b - a > close, close * 2.0 ** np.ceil(np.log2((b - a) / close)), 0.0)
        for _ in range(_STEPS + 1):
            if not (b - a > _CLOSE * b).any():
                break
            middle = a + (b - a) / 2
            zero = a + (b - a) * (at_a / (at_a - at_b))
            zero = np.where(np.isfinite(zero), np.clip(zero, a, b), middle)
            # a little towards the middle, so that both ends of the bracket move
            more = np.minimum(_TOWARDS * (b - a) ** 2 / (high - low), np.abs(middle - zero))
            t = zero + np.sign(middle - zero) * np.maximum(more, close / 4)
            off = np.maximum(reach - (b - a) / 2, 0.0)
            t = np.clip(t, middle - off, middle + off)
            t = np.where(np.isfinite(t) & (a < t) & (t < b), t, np.where(a == b, a, middle))
            found = value(t)
            below = beyond(found)
            a, at_a = np.where(below, t, a), np.where(below, found, at_a)
            b, at_b = np.where(below, b, t), np.where(below, at_b, found)
            reach = reach / 2
    return a, b
