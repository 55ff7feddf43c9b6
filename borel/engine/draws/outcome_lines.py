r"""Lines above and below a leakage on boxes of outcomes, for many draws.

On a box of outcomes with centre c the leakage of a draw at c + s is between two lines,
:math:`a + b s`, and its density of Y is :math:`f_0 + f_1 s` up to a small number. So the outcomes
whose leakage exceeds t are, up to an error of second order in the width of the box, those on one
side of a point of it, and the mean is an integral of polynomials.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.engine.draws.density_cells import middle_and_radius
from borel.engine.draws.outcome_boxes import Expansion
from borel.numerics.intervals import batched
from borel.numerics.intervals.rounding import TINY, U

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.engine.draws.outcome_boxes import Compared
    from borel.numerics.intervals.batched import Box

_UP, _DOWN = 1 + 2.0**-49, 1 - 2.0**-49


class _Fields(NamedTuple):
    """The fields of `Lines`.

    Attributes
    ----------
    low_at, low_slope, high_at, high_slope : ndarray (draws, boxes)
        Lines below and above the leakage, for almost every y of the box.
    mass_low, mass_high : ndarray (draws, boxes)
        The probability of the box.
    level, tilt, doubt : ndarray (draws, boxes)
        The line near which the density of Y is, and how near it is.
    half, reach : ndarray (boxes,)
        How far the boxes reach from their centres, at most, and at least on either side.
    mean_low, mean_high, exp_high : ndarray (draws, boxes)
        What else is known of what the box adds to the mean of the leakage, and of e^leakage.
    """

    low_at: np.ndarray
    low_slope: np.ndarray
    high_at: np.ndarray
    high_slope: np.ndarray
    mass_low: np.ndarray
    mass_high: np.ndarray
    level: np.ndarray
    tilt: np.ndarray
    doubt: np.ndarray
    half: np.ndarray
    reach: np.ndarray
    mean_low: np.ndarray
    mean_high: np.ndarray
    exp_high: np.ndarray


class Lines(_Fields):
    """The leakage and the density of Y on boxes of outcomes, for the draws of a block.

    A point of positive mass, or outcomes of which no density is known, are a box of width 0.
    """

    @classmethod
    def flat(
        cls, low, high, mass_low, mass_high, mean: Any = (0.0, math.inf), power: Any = math.inf
    ) -> Lines:
        """Return lines of slope 0: for points, and for boxes of which no more is known."""
        none = np.zeros_like(mass_low)
        fields = (low, high, *mean, power)
        low, high, least, most, power = (np.broadcast_to(v, none.shape) for v in fields)
        density = none, none, none, none[0], none[0]
        return cls(low, none, high, none, mass_low, mass_high, *density, least, most, power)

    def of(self, change: Callable[[np.ndarray], np.ndarray]) -> Lines:
        """Apply one choice of boxes to every field."""
        return Lines(*(change(v) for v in self))

    @staticmethod
    def joined(parts: list[Lines]) -> Lines:
        """Return all boxes of some lines."""
        return Lines(*(np.concatenate(v, axis=-1) for v in zip(*parts, strict=True)))

    @staticmethod
    def of_all_draws(parts: list[Lines]) -> Lines:
        """Return lines of all draws, on the same boxes."""
        fields = zip(*parts, strict=True)
        return Lines(*(v[0] if v[0].ndim == 1 else np.concatenate(v) for v in fields))

    def within(self, low: np.ndarray, high: np.ndarray, which: np.ndarray) -> Lines:
        """Return lines with what else is known of the leakage on some boxes, if that is more."""
        least, most = self.range()
        better = which & ~(most - least <= high - low)
        return self._replace(
            low_at=np.where(better, low, self.low_at),
            low_slope=np.where(better, 0.0, self.low_slope),
            high_at=np.where(better, high, self.high_at),
            high_slope=np.where(better, 0.0, self.high_slope),
        )

    def range(self) -> Box:
        """Return what the leakage is at least and at most on each box."""
        return self._range

    @cached_property
    def _range(self) -> Box:
        with np.errstate(invalid="ignore"):
            low = self.low_at - np.abs(self.low_slope) * self.half
            high = self.high_at + np.abs(self.high_slope) * self.half
            low = np.where(np.isfinite(low), low - 4 * U * np.abs(low), self.low_at)
            high = np.where(np.isfinite(high), high + 4 * U * np.abs(high), self.high_at)
        return np.maximum(low, 0.0), np.maximum(high, 0.0)

    @cached_property
    def _from_above(self) -> tuple[np.ndarray, ...]:
        """The least leakage of the boxes of each draw, the largest first, and sums of masses."""
        least = self.range()[0]
        order = np.argsort(-least, axis=1)  # what is not known comes last
        sums = np.zeros((2, len(least), least.shape[1] + 1))
        for out, mass in zip(sums, (self.mass_low, self.mass_high), strict=True):
            np.cumsum(np.take_along_axis(mass, order, axis=1), axis=1, out=out[:, 1:])
        return np.take_along_axis(least, order, axis=1), sums[0], sums[1]

    def wholly_above(self, t: Any, closed: bool) -> Box:
        """Return the sums of the masses of the boxes all of which is above a level.

        They are rounded: a sum of k masses errs by less than k u of itself.
        """
        least, low, high = self._from_above
        count = np.count_nonzero((least >= t) if closed else (least > t), axis=1)
        rows = np.arange(len(count))
        return low[rows, count], high[rows, count]

    def masses_above(self, t: Any, closed: bool) -> Box:
        """Enclose the mass of the outcomes of each box whose leakage exceeds a level."""
        out = []
        for at, slope, sure in (
            (self.low_at, self.low_slope, True),
            (self.high_at, self.high_slope, False),
        ):
            start, end, whole = self._above(at, slope, t, sure, closed)
            width = np.maximum(end - start, 0.0)
            with np.errstate(invalid="ignore"):
                density = self.level + self.tilt * ((start + end) / 2)
                off = self.doubt + 8 * U * (np.abs(self.level) + np.abs(self.tilt) * self.half)
                sign, end = (-1, _DOWN) if sure else (1, _UP)
                part = np.maximum(width * (density + sign * off) * end, 0.0)
            if sure:
                part = np.where(np.isnan(part), 0.0, np.minimum(part, self.mass_low))
                out.append(np.where(whole, self.mass_low, part))
            else:
                part = np.where(np.isnan(part), np.inf, part + TINY)
                part = np.where(width > 0, part, 0.0)
                out.append(np.where(whole, self.mass_high, np.minimum(part, self.mass_high)))
        return out[0], out[1]

    def _above(self, at, slope, t: Any, sure: bool, closed: bool) -> tuple[np.ndarray, ...]:
        """Return ends of the part of each box where a line exceeds t, and if that is all of it.

        The ends err towards a smaller part if ``sure``, and else towards a larger one.
        """
        half = np.broadcast_to(self.reach if sure else self.half, at.shape)
        with np.errstate(all="ignore"):
            reach = np.abs(slope) * half * _UP
            size = (np.abs(at) + np.abs(t) + reach) * (8 * U)
            least, most = at - reach - size, at + reach + size
            flat = slope == 0
            reached = (at >= t) if closed else (at > t)
            root = (t - at) / slope
            margin = size / np.abs(slope) + 8 * U * np.abs(root)
            whole = np.where(flat, reached, least > t)
            none = np.where(flat, ~reached, most <= t)
            toward = margin if sure else -margin
            start = np.where(slope > 0, root + toward, -half)
            end = np.where(slope < 0, root - toward, half)
            start, end = np.clip(start, -half, half), np.clip(end, -half, half)
        inner = ~whole & ~none
        lost = np.isnan(start) | np.isnan(end)
        if sure:
            inner = inner & ~lost
        else:
            whole = whole | (inner & lost)
        start, end = np.where(inner, start, 0.0), np.where(inner, end, 0.0)
        return start, end, whole

    def means(self) -> Box:
        """Enclose the integral of the leakage over each box, under P_Y."""
        low, high = self.range()
        with np.errstate(invalid="ignore", over="ignore"):
            crude_low = np.where(self.mass_low > 0, self.mass_low * low, 0.0) * _DOWN
            crude_high = np.where(self.mass_high > 0, self.mass_high * high, 0.0) * _UP
            first = self._first_moment()
            sides = []
            for at, slope, k in (
                (self.low_at, self.low_slope, 0),
                (self.high_at, self.high_slope, 1),
            ):
                ends = [at * m + slope * s for m in (self.mass_low, self.mass_high) for s in first]
                size = np.abs(at) * self.mass_high + np.abs(slope) * np.abs(first[1] - first[0])
                size = size + np.abs(slope) * np.maximum(np.abs(first[0]), np.abs(first[1]))
                best = np.minimum.reduce(ends) if k == 0 else np.maximum.reduce(ends)
                sides.append(best + (8 * U * size + TINY) * (1 if k else -1))
        lower = np.fmax(crude_low, sides[0])
        upper = np.fmin(crude_high, np.where(np.isnan(sides[1]), np.inf, sides[1]))
        return np.fmax(lower, np.maximum(self.mean_low, 0.0)), np.fmin(
            np.maximum(upper, 0.0), np.maximum(self.mean_high, 0.0)
        )

    def _first_moment(self) -> Box:
        """Enclose the integral of s f_Y(c + s) over each box."""
        square = self.half * self.half
        middle = self.tilt * (square * self.half * (2 / 3))
        off = self.doubt * square * _UP + 16 * U * np.abs(middle) + TINY
        # the boxes may lack something on one side
        most = np.abs(self.level) + np.abs(self.tilt) * self.half
        off = off + most * (self.half * (self.half - self.reach)) * _UP
        return middle - off, middle + off

    def exp_means(self) -> Box:
        r"""Enclose the integral of e^leakage over each box, under P_Y.

        Notes
        -----
        :math:`1 + u \le e^u \le 1 + u + u^2 e^{|u|} / 2`.
        """
        low, high = self.range()
        with np.errstate(invalid="ignore", over="ignore"):
            crude_low = np.where(self.mass_low > 0, self.mass_low * np.exp(low), 0.0)
            crude_high = np.where(self.mass_high > 0, self.mass_high * np.exp(high), 0.0)
            first = self._first_moment()
            moved = np.minimum(self.low_slope * first[0], self.low_slope * first[1])
            size = 32 * U * (self.mass_high + np.abs(moved))
            lower = np.exp(self.low_at) * (self.mass_low + moved - size)
            moved = np.maximum(self.high_slope * first[0], self.high_slope * first[1])
            reach = np.abs(self.high_slope) * self.half
            more = self.mass_high * (reach * reach * np.exp(reach) / 2)
            size = 32 * U * (self.mass_high + np.abs(moved) + more)
            upper = np.exp(self.high_at) * (self.mass_high + moved + more + size)
        lower = np.fmax(crude_low, lower) * (1 - 32 * U)
        upper = np.fmin(crude_high, np.where(np.isnan(upper), np.inf, upper)) * (1 + 32 * U)
        return np.maximum(lower, 0.0), np.minimum(upper + TINY, self.exp_high)


def _line(of: Expansion, half: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the value and the slope of a line near a function on boxes, and how near it is."""
    (value, off), (slope, spread) = (middle_and_radius(v) for v in (of.value, of.slope))
    square = half * half * _UP
    bend, more = middle_and_radius(of.bend)
    # s^2 is in [0, half^2]
    curved = value + bend * (square / 2), slope
    error = off + spread * half + (np.abs(bend) / 2 + more) * square
    slopes, wide = middle_and_radius(of.slopes)
    by_slope = off + wide * half
    over, rough = middle_and_radius(of.over)
    first = (error <= by_slope) & (error <= rough)
    at, tilt = curved
    if not first.all():  # NaN is no bound
        best = [np.where(np.isnan(e), np.inf, e) for e in (error, by_slope, rough)]
        first = (best[0] <= best[1]) & (best[0] <= best[2])
        second = ~first & (best[1] <= best[2])
        at = np.where(first, at, np.where(second, value, over))
        tilt = np.where(first, tilt, np.where(second, slopes, 0.0))
        error = np.where(first, best[0], np.where(second, best[1], best[2]))
    error = error * _UP + 8 * U * (np.abs(at) + np.abs(tilt) * half)
    return at, tilt, error


def lines_of(found: Compared, slack: float) -> Lines:
    """Return the lines of boxes on which the kernel was compared with f_Y."""
    half, chosen = found.half, found.chosen
    pairs = [_line(gap, half) for gap in found.gaps]
    highs = [(pairs[0][0] + pairs[0][2] + chosen.excess, pairs[0][1])]
    lows = [
        (np.where(chosen.sound[i], at - off, -np.inf), slope)
        for i, (at, slope, off) in enumerate(pairs)
    ]
    under, slope, off = _line(Expansion(*map(batched.negative, found.log)), half)
    for value, out, sign in ((chosen.direct, highs, 1), (chosen.flat, lows, -1)):
        at = value + under
        wide = (off + 2 * U * (np.abs(at) + np.abs(value))) * _UP
        known = np.isfinite(value)
        out.append((np.where(known, at + sign * wide, sign * np.inf), slope))
    high_at, high_slope = _best(highs, 1)
    low_at, low_slope = _best(lows, -1)
    low_at, high_at = low_at - 2 * slack, high_at + 2 * slack
    off = 4 * U * (np.abs(high_at) + np.abs(low_at) + 1)
    off = np.where(np.isfinite(off), off, 0.0)
    low_at, high_at = low_at - off, high_at + off
    # the leakage is not negative
    below = ~(low_at + np.abs(low_slope) * half > 0)
    low_at, low_slope = np.where(below, 0.0, low_at), np.where(below, 0.0, low_slope)
    wrong = low_at > high_at * (1 + 1e-12) + 1e-12  # then neither is trusted
    if wrong.any():
        low_at, low_slope = np.where(wrong, 0.0, low_at), np.where(wrong, 0.0, low_slope)
        high_at, high_slope = np.where(wrong, np.inf, high_at), np.where(wrong, 0.0, high_slope)
    fields: Any = low_at, low_slope, high_at, high_slope, *_density(found, slack)
    if found.dead.any():  # the kernel is 0 there, as the leakage is, and there is no mass
        fields = tuple(np.where(found.dead, 0.0, v) for v in fields)
    none = np.zeros_like(low_at)
    fields = *fields, half, found.reach, none, none + np.inf, none + np.inf
    return Lines(*fields)


def masses_of(found: Compared, slack: float) -> Box:
    """Enclose the probability of boxes on which the kernel was compared with f_Y."""
    low, high = (np.where(found.dead, 0.0, v) for v in _density(found, slack)[:2])
    return low, high


def _best(lines: list[tuple[np.ndarray, np.ndarray]], sign: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest line above, or the highest one below, at the centre of each box."""
    at, slope = (np.array(v) for v in zip(*lines, strict=True))
    at = np.where(np.isnan(at) | ~np.isfinite(slope), sign * np.inf, at)
    k = np.argmin(sign * at, axis=0)[None]
    at, slope = (np.take_along_axis(v, k, axis=0)[0] for v in (at, slope))
    return at, np.where(np.isfinite(at), slope, 0.0)


def _density(found: Compared, slack: float) -> tuple[np.ndarray, ...]:
    """Return masses, and the line of the density with its error."""
    half = found.half
    scale = batched.exp(batched.subtract(batched.point(found.shift), found.total))
    scale = scale[0] * (1 - 2 * slack) * _DOWN, scale[1] * (1 + 2 * slack) * _UP
    terms = [(found.value[0][r], found.value[1][r]) for r in range(3)]
    (c0, r0), (c1, r1), (c2, r2) = (
        middle_and_radius(batched.multiply(term, scale)) for term in terms
    )
    square = half * half * _UP
    level, tilt = c0 + c2 * (square / 2), c1
    doubt = r0 + r1 * half + (np.abs(c2) / 2 + r2) * square
    doubt = (doubt + 8 * U * (np.abs(level) + np.abs(tilt) * half)) * _UP
    # the errors of first order cancel over a box, and all of the second coefficient counts
    width = 2 * half
    mass = (c0 + c2 * (square / 3)) * width
    off = (r0 + r1 * half / 2 + r2 * square / 3 + 8 * U * np.abs(c0)) * width
    off = off + 16 * U * (np.abs(mass) + np.abs(c2) * square * width)
    # a box may lack something on one side
    most = np.abs(c0) + np.abs(c1) * half + np.abs(c2) * square
    off = (off + most * (half - found.reach)) * _UP + TINY
    mass_low, mass_high = np.maximum(mass - off, 0.0), mass + off
    mass_low = np.where(np.isfinite(mass_low), mass_low, 0.0)
    mass_high = np.where(np.isnan(mass_high), 1.0, np.clip(mass_high, 0.0, 1.0))
    lost = ~np.isfinite(doubt)
    level, tilt = np.where(lost, 0.0, level), np.where(lost, 0.0, tilt)
    return mass_low, mass_high, level, tilt, np.where(lost, np.inf, doubt)
