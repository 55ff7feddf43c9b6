r"""The law of a leakage over outcomes for many draws: lines above and below it, on boxes.

On a box of outcomes with centre c the leakage of a draw at c + s is between two lines,
:math:`a + b s`, and its density of Y is :math:`f_0 + f_1 s` up to a small number. So the outcomes
whose leakage exceeds t are, up to an error of second order in the width of the box, those on one
side of a point of it, and the mean is an integral of polynomials. Boxes are cut where this is not
good enough for some draw.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import settings
from borel.engine.draws.density_cells import DensityCells, middle_and_radius
from borel.engine.draws.far_integrals import far_leakage
from borel.engine.draws.laws import DrawLaws, ends_of
from borel.engine.draws.outcome_boxes import Expansion, OutcomeBoxes
from borel.engine.draws.parts import PerDraw
from borel.engine.draws.wide_boxes import wide_boxes
from borel.engine.infinite.proofs import prove_at
from borel.engine.kernels.additive_noise import AdditiveNoise, additive_noise
from borel.engine.kernels.means_far_out import FarMeans
from borel.engine.kernels.tail_entropy import FarEntropy, largest_mean
from borel.numerics.intervals import batched
from borel.numerics.intervals.rounding import TINY, U
from borel.probability.countable_law import check_level

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.engine.continuous.outcome_engine import CertifiedOutcomes
    from borel.engine.draws.count_masses import CountMasses
    from borel.engine.draws.outcome_boxes import Compared
    from borel.engine.problem.protocols import WithMasses
    from borel.numerics.intervals.batched import Box

_GOOD = 3e-5
"""The mass, of one box, that may be on the wrong side of a threshold."""
_FLAT = 5e-4
"""A leakage that varies by less on a box, in nats, is as good as known there."""
_LEFT, _FAR_MASS = 3e-6, 1e-8
"""The mass of outcomes far out that is not cut any more: that beside all boxes, or their own."""
_FEWEST, _MOST, _ROUNDS, _PARTS, _FARTHEST = 400, 1500, 24, 8, 2.0**40
_STEPS, _TRIED = 44, 16
_ORDERS = 1.0, 0.5, 0.25
"""Of the moments that a prior may have."""
_WIDE = 48.0
"""Boxes are wide for noise U if they are so many times as wide as the mean of abs(U)."""
_LITTLE = 0.1
"""A part of what is lost on wide boxes, which is not worth cutting others for."""
_ENTRIES = 2_000_000
"""Boxes times draws of a block, at most: there are some ten numbers to each."""
_UP, _DOWN = 1 + 2.0**-49, 1 - 2.0**-49


class Lines(NamedTuple):
    """The leakage and the density of Y on boxes of outcomes, for the draws of a block.

    A point of positive mass, or outcomes of which no density is known, are a box of width 0.

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
        with np.errstate(invalid="ignore"):
            low = self.low_at - np.abs(self.low_slope) * self.half
            high = self.high_at + np.abs(self.high_slope) * self.half
            low = np.where(np.isfinite(low), low - 4 * U * np.abs(low), self.low_at)
            high = np.where(np.isfinite(high), high + 4 * U * np.abs(high), self.high_at)
        return np.maximum(low, 0.0), np.maximum(high, 0.0)

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


class OutcomeLaw:
    """The lines of a leakage for the draws of a block.

    Parameters
    ----------
    shared : CertifiedOutcomes
        The engine of a law under which the kernel has the extremes that it has under all draws.
    support : WithMasses
        The kernel and the support, and no law: what a proof of an infinity for all draws may read.
    kind : {"pml", "pmc"}
        Which leakage.
    """

    good = _GOOD

    def __init__(self, shared: CertifiedOutcomes, support: WithMasses, kind: str):
        self.search = search = OutcomeBoxes(shared, support, kind, _GOOD)
        self.slack = shared.slack
        # without a closed form of f_Y: that is of another prior; and it knows no rest of integers
        unbounded = bool(search.surface.secret.rest)
        self.far = None if unbounded else FarMeans(search.surface)

    @cached_property
    def noise(self) -> AdditiveNoise | None:
        """What is known of the noise, for boxes of outcomes that are wide for it."""
        if self.search.kind != "pml":
            return None
        return additive_noise(self.search.shared, self.slack)

    def lines(self, cells: DensityCells | CountMasses, known: float | np.ndarray = 0.0) -> Lines:
        """Return the lines of all boxes; ``known`` is the mass of the outcomes on no box."""
        search, deadline = self.search, settings.search_deadline()
        low, high = search._first(cells)
        ends = zip(low.tolist(), high.tolist(), strict=True)
        self.sides = [
            (a, b, *self._leakage(cells, a, b)) for a, b in ends if not math.isfinite(b - a)
        ]
        kept: list[Lines] = []
        good, limit = self._good(cells.size), self._limit(cells.size)
        count, far, unseen, lost = 0, np.zeros((0, 2)), 0.0, 0.0
        # the boxes that these are parts of, and what is not known of wide ones
        parent, parents, before = np.full(len(low), -1), None, np.zeros(0)
        with np.errstate(all="ignore"):
            for turn in range(_ROUNDS):
                finite = np.isfinite(low) & np.isfinite(high)
                far = np.concatenate([far, np.stack([low[~finite], high[~finite]], axis=1)])
                low, high, parent = low[finite], high[finite], parent[finite]
                found, seen = self._evaluate(cells, low, high, deadline)
                # of a box some part of which is left, the whole counts
                back = np.isin(np.arange(len(before)), parent[~seen])
                unseen += float((high - low)[~seen & (parent < 0)].sum())
                low, high, parent = low[seen], high[seen], parent[seen]
                seen_ = found.of(lambda v: v[~cells.lost] if v.ndim > 1 else v)
                cost, gap, own = self._cost(seen_), mean_gap(seen_), parent >= 0
                # and of a wide one of which its parts do not say more
                back |= np.bincount(parent[own], gap[own], len(before)) > 0.99 * before
                lost += float(before[back & np.isfinite(before)].sum())
                if parents is not None and back.any():
                    kept.append(self._kept(parents.of(lambda v, k=back: v[..., k])))
                    count += int(back.sum())
                    some = ~own | ~back[parent]
                    found = found.of(lambda v, k=some: v[..., k])
                    low, high, cost, gap = (v[some] for v in (low, high, cost, gap))
                cost[:] = np.where(search._cuttable(low, high), cost, 0.0)
                last = turn == _ROUNDS - 1 or settings.late(deadline)
                again = (cost > good) & (not last)
                again &= bool(gap[again].sum() > _LITTLE * lost)
                pieces = self._pieces(cells, high - low, cost / good)
                more = np.where(again, np.where(pieces > _PARTS, pieces, 2), 0)
                if count + more.sum() > limit:  # the worst of them
                    worst = np.argsort(-cost)
                    again[worst[np.cumsum(more[worst]) > limit - count]] = False
                kept.append(self._kept(found.of(lambda v, k=~again: v[..., k])))
                count += int((~again).sum())
                wide = self._is_wide(cells, high - low)
                before = np.where(wide, gap, np.inf)[again]
                low, high, parent = _cut(low[again], high[again], pieces[again])
                parents = found.of(lambda v, k=again: v[..., k])
                parts = [*kept, parents]  # what is cut again has mass as well
                mass = (
                    np.sum([(p.mass_low + p.mass_high).sum(axis=1) / 2 for p in parts], axis=0)
                    + known
                )
                left = float(np.max((1.0 - mass)[~cells.lost], initial=0.0))
                near = self._near(cells, far, left) if not last else np.zeros(len(far), bool)
                if near.any():
                    more, rest = _nearer(far[near])
                    far = np.concatenate([far[~near], rest])
                    low, high = (
                        np.concatenate([low, more[:, 0]]),
                        np.concatenate([high, more[:, 1]]),
                    )
                    parent = np.concatenate([parent, np.full(len(more), -1)])
                if not len(low):
                    break
            mass = sum(part.mass_low.sum(axis=1) for part in kept) + known
            left = np.clip(1.0 - mass * (1 - (count + 8) * U) + 2.0**-50, 0.0, 1.0)
            for a, b in far.tolist():
                kept.append(self._beyond(cells, a, b, left))
            if unseen:
                kept.append(self._unseen(unseen, left))
        out = Lines.joined(kept)
        most = np.minimum(out.mass_high, (out.mass_low + left[:, None]) * _UP)
        return out._replace(mass_high=most)

    def _beyond(self, cells, a: float, b: float, left: np.ndarray) -> Lines:
        """Return a half-line of outcomes: its mass is at most what the others leave."""
        low, high = self._leakage(cells, a, b)
        nothing = math.inf, math.inf, math.inf
        mass, mean, power = self.far.bounds(self.search.kind, a, b) if self.far else nothing
        # of the law of the kernel as it is written; now that of the kernel meant
        up = 1 + 2 * self.slack
        most = np.minimum(left, np.minimum(mass, self._tail(cells, a, b)) * up)[:, None]
        if math.isinf(mean) and self.search.kind == "pml":
            mean = far_means(self.search.shared, cells, a, b, most[:, 0])[:, None]
        mean, power = mean * up + 3 * self.slack, power * up**3
        low, high = low[:, None], high[:, None]
        return Lines.flat(low, high, np.zeros_like(most), most, (0.0, mean), power)

    def _unseen(self, width: float, left: np.ndarray) -> Lines:
        """Return boxes that were not looked at, of some width together."""
        mean, none = np.full(len(left), math.inf), np.zeros((len(left), 1))
        if self.search.kind == "pml":
            height = FarEntropy(self.search.shared).height + 2 * self.slack
            mean = largest_mean(left, height + math.log(width) + 2.0**-30)
        return Lines.flat(0.0, math.inf, none, left[:, None], (0.0, mean[:, None]))

    def _tail(self, cells, a: float, b: float) -> np.ndarray:
        """Bound the mass of a half-line of outcomes, for noise."""
        edge = max(a if math.isinf(b) else -b, 0.0)
        return np.broadcast_to(FarEntropy(self.search.shared, priors=cells).tail(edge), cells.size)

    def _near(self, cells, far: np.ndarray, left: float) -> np.ndarray:
        """Return the half-lines to cut: their mass counts, as far as it is known."""
        tails = np.array([self._tail(cells, a, b)[~cells.lost].max(initial=0.0) for a, b in far])
        return np.where(tails < 1, tails > _FAR_MASS, left > _LEFT)

    def _leakage(self, cells, a: float, b: float) -> Box:
        """Enclose the leakage on a half-line of outcomes."""
        low, high = far_leakage(self.search.surface, self.search.kind, a, b, cells)
        return np.maximum(low - 2 * self.slack, 0.0), high + 2 * self.slack

    def _evaluate(self, cells, low, high, deadline: float) -> tuple[Lines, np.ndarray]:
        """Return the lines of those finite boxes that time is left for, and which these are."""
        wide = self._is_wide(cells, high - low)
        parts, places, step = [self._wide(cells, low[wide], high[wide])], [np.flatnonzero(wide)], 64
        narrow, seen = np.flatnonzero(~wide), np.ones(len(low), bool)
        for start in range(0, len(narrow), step):
            some = narrow[start : start + step]
            if settings.late(deadline) and start:
                seen[narrow[start:]] = False
                break
            parts.append(self._narrow(cells, low[some], high[some], deadline))
            places.append(some)
        order = np.argsort(np.concatenate(places))
        return Lines.joined(parts).of(lambda v: v[..., order]), seen

    def _narrow(self, cells, low, high, deadline: float) -> Lines:
        """Return the lines of boxes on which the kernel is compared with f_Y."""
        found = self.search.compared(cells, low, high, slice(None), deadline)
        lines = self._read(found, cells, low, high)
        for a, b, least, most in self.sides:
            inside = (a <= low) & (high <= b)
            lines = lines.within(least[:, None], most[:, None], inside)
        lost = np.isinf(lines.high_at)[~cells.lost].any(axis=0)
        for k in np.flatnonzero(lost & ~found.dead)[:_TRIED]:
            least, most = self._leakage(cells, float(low[k]), float(high[k]))
            which = np.arange(len(low)) == k
            lines = lines.within(least[:, None], most[:, None], which)
        return self._where_infinite(lines, low, high)

    def _pieces(self, cells, width: np.ndarray, excess: np.ndarray) -> np.ndarray:
        """Return in how many parts to cut boxes: what is not known is of second order in widths.

        Parts that are neither wide for the noise nor narrow would be known less well.
        """
        parts = np.clip(np.ceil(np.sqrt(excess)), 2, _PARTS)
        between = self._is_wide(cells, width) & ~self._is_wide(cells, width / parts)
        if between.any():
            parts = np.where(between, np.ceil(width / self.noise.size), parts)
        return parts.astype(int)

    def _is_wide(self, cells, width: np.ndarray) -> np.ndarray:
        """Return which boxes are looked at by the moments of the noise."""
        of_densities = isinstance(cells, DensityCells) and not len(cells.points)
        if not of_densities or self.noise is None:
            return np.zeros(len(width), bool)
        return width > _WIDE * self.noise.size

    def _wide(self, cells, low, high) -> Lines:
        """Return the lines of boxes that are wide for the noise."""
        if not len(low):
            return Lines.flat(0.0, math.inf, *np.zeros((2, cells.size, 0)))
        noise: Any = self.noise
        found, (a, b) = wide_boxes(noise, cells, low, high), noise.place
        # for each outcome some secrets are as far from it as that
        edge = 2.0**-50 * np.maximum(np.abs(low), np.abs(high))
        inside = (low - b - edge >= cells.interval[0]) & (high - a + edge <= cells.interval[1])
        least = np.where(inside, noise.floor - found.log_density[1], 0.0)
        most = noise.height - found.log_density[0]
        least, most = (np.maximum(v, 0.0) for v in (least * _DOWN, most * _UP))
        return Lines.flat(least, most, *found.mass, (0.0, found.entropy[1]))

    def _read(self, found: Compared, cells, low, high) -> Lines:
        lines = _lines_of(found, self.slack)
        if self.search.kind != "pml":
            return lines
        size = found.chosen.direct + np.log(2 * found.half) + (2 * self.slack + 2.0**-50)
        return lines._replace(mean_high=largest_mean(lines.mass_high, size))

    def _cost(self, lines: Lines) -> np.ndarray:
        return _cost(lines)

    def _kept(self, lines: Lines) -> Lines:
        return lines

    def _good(self, draws: int) -> float:
        return self.good

    def _limit(self, draws: int) -> int:
        return int(np.clip(_ENTRIES // max(draws, 1), _FEWEST, _MOST))

    def _where_infinite(self, lines: Lines, low, high) -> Lines:
        """Set the leakage to infinity where it is for almost every outcome and every draw."""
        open_ = np.isinf(lines.high_at).all(axis=0) & (lines.mass_high > 0).any(axis=0)
        open_ &= np.isinf(lines.mean_high).any(axis=0)  # a finite mean leaves no infinity
        rows = np.flatnonzero(open_)
        if not len(rows):
            return lines
        for some in (rows, *rows[:, None]) if len(rows) > 1 else (rows,):
            todo = some[~np.isinf(lines.low_at[:, some]).all(axis=0)]
            if not len(todo):
                continue
            ends = float(low[some].min()), float(high[some].max())
            if prove_at(self.search.support, self.search.kind, *ends) is not None:
                lines.low_at[:, some], lines.low_slope[:, some] = math.inf, 0.0
                lines.high_at[:, some], lines.high_slope[:, some] = math.inf, 0.0
        return lines


def far_means(
    shared: Any,
    cells: CountMasses | DensityCells,
    low: float,
    high: float,
    mass: np.ndarray,
    *,
    counts: bool = False,
) -> np.ndarray:
    """Bound what a half-line of outcomes of some mass adds to the mean of PML, for every draw."""
    best, ends = np.full(cells.size, np.inf), (np.full(cells.size, v) for v in (low, high))
    low_, high_ = ends
    for order in _ORDERS:
        far = FarEntropy(shared, counts=counts, order=order, priors=cells)
        best = np.fmin(best, far.mean(low_, high_, mass))
        if np.isfinite(best[~cells.lost]).all():
            break
    return best


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
    best = [np.where(np.isnan(e), np.inf, e) for e in (error, by_slope, rough)]
    first = (best[0] <= best[1]) & (best[0] <= best[2])
    second = ~first & (best[1] <= best[2])
    at = np.where(first, curved[0], np.where(second, value, over))
    tilt = np.where(first, slope, np.where(second, slopes, 0.0))
    error = np.where(first, best[0], np.where(second, best[1], best[2]))
    error = error * _UP + 8 * U * (np.abs(at) + np.abs(tilt) * half)
    return at, tilt, error


def _constant(value: np.ndarray) -> Expansion:
    number, none = batched.point(value), batched.point(np.zeros_like(value))
    return Expansion(number, none, none, none, number)


def _less(a: Expansion, b: Expansion) -> Expansion:
    return Expansion(*(batched.subtract(p, q) for p, q in zip(a, b, strict=True)))


def _lines_of(found: Compared, slack: float) -> Lines:
    """Return the lines of boxes on which the kernel was compared with f_Y."""
    half, chosen = found.half, found.chosen
    pairs = [_line(gap, half) for gap in found.gaps]
    highs = [(pairs[0][0] + pairs[0][2] + chosen.excess, pairs[0][1])]
    lows = [
        (np.where(chosen.sound[i], at - off, -np.inf), slope)
        for i, (at, slope, off) in enumerate(pairs)
    ]
    for value, out, sign in ((chosen.direct, highs, 1), (chosen.flat, lows, -1)):
        at, slope, off = _line(_less(_constant(value), found.log), half)
        known = np.isfinite(value)
        out.append((np.where(known, at + sign * off, sign * np.inf), slope))
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
    low_at, low_slope = np.where(wrong, 0.0, low_at), np.where(wrong, 0.0, low_slope)
    high_at, high_slope = np.where(wrong, np.inf, high_at), np.where(wrong, 0.0, high_slope)
    none = np.zeros_like(low_at)
    # where the kernel is 0 the leakage is 0, and there is no mass
    low_at, low_slope, high_at, high_slope = (
        np.where(found.dead, 0.0, v) for v in (low_at, low_slope, high_at, high_slope)
    )
    mass_low, mass_high, *line = (np.where(found.dead, 0.0, v) for v in _density(found, slack))
    level, tilt, doubt = line
    lines = low_at, low_slope, high_at, high_slope
    return Lines(
        *lines,
        *(mass_low, mass_high, level, tilt, doubt, half, found.reach),
        *(none, none + np.inf, none + np.inf),
    )


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


def mean_gap(lines: Lines) -> np.ndarray:
    """Return by how much the mean over a box is not known, for some draw."""
    low, high = lines.means()
    return np.max(high - low, axis=0, initial=0.0)


def _cost(lines: Lines) -> np.ndarray:
    """Return how much a box may add to the doubt of a tail, or of a mean, for some draw."""
    low, high = lines.range()
    varies = high - low
    gap = lines.high_at - lines.low_at
    gap = gap + np.abs(lines.high_slope - lines.low_slope) * lines.half
    with np.errstate(invalid="ignore"):
        share = np.where(varies > _FLAT, np.minimum(gap / varies, 1.0), varies)
    share = np.where(np.isnan(share), 1.0, share)
    infinite = np.isinf(lines.low_at)
    share = np.where(infinite, 0.0, share)
    doubt = lines.mass_high - lines.mass_low
    return np.max(doubt + lines.mass_high * share, axis=0, initial=0.0)


def _cut(low, high, parts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cut boxes into parts, and return which box each is a part of."""
    edges = [np.linspace(a, b, n + 1) for a, b, n in zip(low, high, parts, strict=True)]
    none = np.zeros(0)
    return (
        np.concatenate([none, *(e[:-1] for e in edges)]),
        np.concatenate([none, *(e[1:] for e in edges)]),
        np.repeat(np.arange(len(parts)), parts),
    )


def _nearer(far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cut half-lines: return the finite boxes, and what is left."""
    boxes, rest = [], []
    for a, b in far.tolist():
        if math.isinf(a) and math.isinf(b):
            boxes.append((-1.0, 1.0))
            rest += [(a, -1.0), (1.0, b)]
        elif math.isinf(b) and a < _FARTHEST:
            edge = a + max(1.0, abs(a))
            boxes.append((a, edge))
            rest.append((edge, b))
        elif math.isinf(a) and b > -_FARTHEST:
            edge = b - max(1.0, abs(b))
            boxes.append((edge, b))
            rest.append((a, edge))
        else:
            rest.append((a, b))
    return np.array(boxes).reshape(-1, 2), np.array(rest).reshape(-1, 2)


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
            lines = self.lines(part, kind)
            return _tail(lines, above, closed)[0], _tail(lines, below, closed)[1]

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
        size = sum(len(one.lines.low_at) for one in few)

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


def _tail(lines: Lines, t: Any, closed: bool) -> Box:
    low, high = _sum(lines.masses_above(t, closed))
    return np.minimum(low, 1.0), np.minimum(high, 1.0)


class _Crossing:
    """The cdf between two levels: the few boxes on which the leakage of a draw is between them."""

    def __init__(self, lines: Lines, low: Any, high: Any):
        a, b = (np.reshape(v, (-1, 1)) for v in (low, high))
        least, most = lines.range()
        above, below = least > b, most < a
        slack = (above.shape[1] + 8) * U
        self.above = tuple(
            (m * above).sum(axis=1) * (1 + s * slack)
            for m, s in ((lines.mass_low, -1), (lines.mass_high, 1))
        )
        inner = ~above & ~below
        count = max(1, int(inner.sum(axis=1).max(initial=0)))
        order = np.argsort(~inner, axis=1, kind="stable")[:, :count]
        take = lambda v: np.take_along_axis(np.broadcast_to(v, inner.shape), order, axis=1)  # noqa: E731
        lines = lines.of(take)
        # a box that is no longer between them has no mass here
        kept = take(inner)
        self.lines = lines._replace(
            mass_low=np.where(kept, lines.mass_low, 0.0),
            mass_high=np.where(kept, lines.mass_high, 0.0),
        )

    def cdf(self, t: Any) -> Box:
        """Enclose P{leakage <= t} of every draw, for a level between the two."""
        low, high = _sum(self.lines.masses_above(np.reshape(t, (-1, 1)), closed=False))
        low, high = (low + self.above[0]) * _DOWN, (high + self.above[1]) * _UP
        return np.clip(1 - high - U, 0.0, 1.0), np.clip(1 - low + U, 0.0, 1.0)


def _between(cdf: Callable[[Any], Box], low, high, least: float, most: float, side: str) -> Box:
    """Enclose quantiles that are known to be between two levels, by halving."""
    first, last = low, np.where(np.isfinite(high), high, low)
    for end in (0, 1):
        a, b = low, last
        for _ in range(_STEPS):
            with np.errstate(invalid="ignore"):  # an infinite level stays
                t = np.where(a == b, a, a + (b - a) / 2)
            value = cdf(t)
            if end == 0:  # the cdf is too small at t: the quantile is not below it
                beyond = value[1] < least
            else:
                beyond = ~((value[0] > most) if side == "right" else (value[0] >= most))
            a, b = np.where(beyond, t, a), np.where(beyond, b, t)
        if end == 0:
            first = a
        else:
            last = b
    return first, np.where(np.isfinite(high), last, high)
