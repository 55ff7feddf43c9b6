"""The law of a leakage over outcomes for many draws: boxes, with lines above and below it.

Boxes are cut where the lines (`outcome_lines`) are not near enough for some draw.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.draws.density_cells import DensityCells
from borel.engine.draws.far_integrals import far_leakage
from borel.engine.draws.kernel_integrals import densities_at
from borel.engine.draws.outcome_boxes import OutcomeBoxes
from borel.engine.draws.outcome_lines import Lines, lines_of
from borel.engine.draws.wide_boxes import wide_boxes
from borel.engine.infinite.proofs import prove_at
from borel.engine.kernels.additive_noise import AdditiveNoise, additive_noise
from borel.engine.kernels.means_far_out import FarMeans
from borel.engine.kernels.tail_entropy import FarEntropy, largest_mean
from borel.numerics.intervals import batched
from borel.numerics.intervals.rounding import U

if TYPE_CHECKING:
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
_TRIED = 16
_ORDERS = 1.0, 0.5, 0.25
"""Of the moments that a prior may have."""
_WIDE = 48.0
"""Boxes are wide for noise U if they are so many times as wide as the mean of abs(U)."""
_LITTLE = 0.1
"""A part of what is lost on wide boxes, which is not worth cutting others for."""
_ENTRIES = 2_000_000
"""Boxes times draws of a block, at most: there are some ten numbers to each."""
_MANY, _LESS = 1000, 4.0
"""From so many draws on less is asked of each, by this factor at most."""
_DRAWS, _BLOCK = 400, 64
"""Draws that are compared with the kernel at a time, on so many boxes: of fewer boxes more."""
_UP, _DOWN = 1 + 2.0**-49, 1 - 2.0**-49


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
        self.sides = {
            (a, b): self._leakage(cells, a, b) for a, b in ends if not math.isfinite(b - a)
        }
        kept: list[Lines] = []
        good, limit = self._good(cells.size), self._limit(cells.size)
        count, far, unseen, lost = 0, np.zeros((0, 2)), 0.0, 0.0
        # the boxes that these are parts of, and what is not known of wide ones
        parent, parents, before = np.full(len(low), -1), None, np.zeros(0)
        with np.errstate(all="ignore"):
            for turn in range(_ROUNDS):
                finite = np.isfinite(low) & np.isfinite(high)
                for a, b in np.stack([low, high], axis=1)[~finite].tolist():
                    if (own := self._falling(cells, a, b)) is not None:
                        kept.append(own)
                    else:
                        far = np.concatenate([far, [[a, b]]])
                low, high, parent = low[finite], high[finite], parent[finite]
                found, seen = self._evaluate(cells, low, high, deadline)
                # of a box some part of which is left, the whole counts
                back = np.isin(np.arange(len(before)), parent[~seen])
                unseen += float((high - low)[~seen & (parent < 0)].sum())
                low, high, parent = low[seen], high[seen], parent[seen]
                seen_ = found
                if cells.lost.any():
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

    def _falling(self, cells, a: float, b: float) -> Lines | None:
        """Return a half-line that is not cut: log f falls at one rate there for all secrets.

        Then f_Y falls at that rate, and its value at the end of the half-line gives the mass.
        """
        rates = self.far.rates(a, b) if self.far else (0.0, 0.0)
        if not 0 < rates[0] <= rates[1] < math.inf:
            return None
        at = np.array([a if math.isfinite(a) else b])
        shift = self.search.shared.extreme(at, 1.0).upper
        if not np.isfinite(shift).all():
            return None
        surface, size = self.search.surface, batched.exp(batched.point(shift))
        density = batched.multiply(densities_at(surface, at, shift, cells), size)
        density = np.maximum(density[0], 0.0), density[1]
        mean = self._mean_falling(cells, at, shift, rates, density)
        low, high = batched.multiply(density, inverse(rates))
        mass = low * (1 - 2 * self.slack) * _DOWN, high * (1 + 2 * self.slack) * _UP
        mass = np.maximum(mass[0], 0.0), np.where(np.isnan(mass[1]), 1.0, np.minimum(mass[1], 1.0))
        least, most = self.sides.get((a, b)) or self._leakage(cells, a, b)
        out = Lines.flat(least[:, None], most[:, None], *mass, mean)
        known = out.of(lambda v: v[~cells.lost] if v.ndim > 1 else v)
        return out if self._cost(known).max() <= self._good(cells.size) else None

    def _mean_falling(self, cells, at: np.ndarray, shift: np.ndarray, rates, density: Box) -> Any:
        """Enclose what else is known of what such a half-line adds to the mean."""
        return 0.0, math.inf

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
        parts, places = [self._wide(cells, low[wide], high[wide])], [np.flatnonzero(wide)]
        narrow, seen = np.flatnonzero(~wide), np.ones(len(low), bool)
        for start in range(0, len(narrow), _BLOCK):
            some = narrow[start : start + _BLOCK]
            if settings.late(deadline) and start:
                seen[narrow[start:]] = False
                break
            parts.append(self._narrow(cells, low[some], high[some], deadline))
            places.append(some)
        order = np.argsort(np.concatenate(places))
        return Lines.joined(parts).of(lambda v: v[..., order]), seen

    def _narrow(self, cells, low, high, deadline: float) -> Lines:
        """Return the lines of boxes on which the kernel is compared with f_Y."""
        kernel, parts = self.search.of_kernel(cells, low, high, deadline), []
        step = _DRAWS * max(1, _BLOCK // len(low))  # few enough for the cache of a processor
        for start in range(0, cells.size, step):
            found = self.search.against(kernel, cells, slice(start, start + step))
            parts.append(self._read(found, cells, low, high))
        lines = Lines.of_all_draws(parts)
        for (a, b), (least, most) in self.sides.items():
            inside = (a <= low) & (high <= b)
            lines = lines.within(least[:, None], most[:, None], inside)
        lost = np.isinf(lines.high_at)[~cells.lost].any(axis=0)
        for k in np.flatnonzero(lost & ~np.isneginf(kernel.top.direct))[:_TRIED]:
            least, most = self._leakage(cells, float(low[k]), float(high[k]))
            which = np.arange(len(low)) == k
            lines = lines.within(least[:, None], most[:, None], which)
        return self._where_infinite(lines, low, high)

    def _pieces(self, cells, width: np.ndarray, excess: np.ndarray) -> np.ndarray:
        """Return in how many parts to cut boxes: what is not known is of second order in widths.

        Parts that are neither wide for the noise nor narrow would be known less well.
        """
        # halves of halves: the cells of secrets are cut so too, and kinks stay in one of them
        parts = np.clip(2 ** np.ceil(np.log2(excess) / 2), 2, _PARTS)
        between = self._is_wide(cells, width) & ~self._is_wide(cells, width / parts)
        if self.noise is not None:
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
        lines = lines_of(found, self.slack)
        if self.search.kind != "pml":
            return lines
        return lines._replace(mean_high=self._mean_by_mass(found, lines.mass_high))

    def _mean_by_mass(self, found: Compared, mass: np.ndarray) -> np.ndarray:
        """Bound what boxes of some mass add to the mean of PML, by the height of the kernel."""
        size = found.chosen.direct + np.log(2 * found.half) + (2 * self.slack + 2.0**-50)
        return largest_mean(mass, size)

    def _cost(self, lines: Lines) -> np.ndarray:
        return _cost(lines)

    def _kept(self, lines: Lines) -> Lines:
        return lines

    def _good(self, draws: int) -> float:
        # what a figure of many draws does not know of each is little beside how they scatter
        return self.good * float(np.clip(draws / _MANY, 1.0, _LESS))

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


def inverse(rates: tuple[float, float]) -> Box:
    """Enclose the integral of e^(-r t) over t > 0, for rates between two numbers > 0."""
    return np.array(1 / rates[1] * _DOWN), np.array(1 / rates[0] * _UP)


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
