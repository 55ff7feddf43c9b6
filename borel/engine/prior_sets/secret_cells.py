r"""Balls of priors on a continuous secret, by cells: a finite problem whose values are intervals.

On a cell of secrets f(y|x) lies between two numbers. A lower expectation rises with the function,
so that it lies between those of the two step functions; and for a step function a ball around P of
total variation, KL or chi-square is the ball around the masses of the cells: members map into it
(data processing), and any law of the cells in it is that of a member which has P's conditional law
on each cell. The enclosure closes in as the cells shrink, to first order; for those balls, with
means over cells beside the ranges (`cell_means`), to second order.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from borel import settings
from borel.engine.kernels import leakage_far_out
from borel.engine.kernels.continuity import continuous_at
from borel.engine.kernels.leakage_on_boxes import charged
from borel.engine.prior_sets import cell_means
from borel.engine.problem.refinement import refine
from borel.engine.problem.secret_and_kernel import boxes
from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic, elementary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from borel.engine.prior_sets import lower_expectations as ex
    from borel.numerics.intervals.batched import Box

    Least: TypeAlias = "Callable[[np.ndarray, bool], ex.Least] | BallOnCells"
    """Bounds lower expectations of step functions over a set, ``(v, below)``; or a ball."""

CELLS = 1024
_ROUNDS, _AT_ONCE = 32, 6
_NEAR = 2.0**-38
"""How far kinks may be from where they are looked for, relatively."""


class MeansOnCells(NamedTuple):
    """A function on cells: its ranges, and its means under the centre of a ball."""

    values: Box
    means: Box


class BallOnCells:
    """A ball around the centre of cells.

    Parameters
    ----------
    prior_set : Around
        The ball.
    weights : Box
        The masses of the cells.
    """

    def __init__(self, prior_set: Any, weights: Box):
        nothing = np.zeros(1)
        self.ends = prior_set.coarsened(tuple(np.append(w, nothing) for w in weights))
        self.halves = prior_set.coarsened(tuple(np.tile(w / 2, 2) for w in weights))

    def enclosed(self, v: MeansOnCells, least: np.ndarray) -> Box:
        """Enclose lower expectations of functions, whose essential infima are at most ``least``."""
        # beside what has the centre's law on each cell, mass may go to where the function is least
        inner = np.concatenate([v.means[1], np.broadcast_to(least, (1, v.means[1].shape[1]))])
        outer = np.concatenate(cell_means.halves(*v))
        return self.halves.least(outer).lower, self.ends.least(inner).upper


class SecretCells:
    """Cells of a secret of one dimension, with their masses under the centre.

    Parameters
    ----------
    engine : CertifiedEngine
        The joint of the centre and the mechanism.
    """

    weights: Box | None = None
    offsets: cell_means.Offsets | None = None

    def __init__(self, engine: Any):
        secret = engine.secret
        self.engine = engine
        self.cut(secret, CELLS)
        pairs = zip(self.low.tolist(), self.high.tolist(), strict=True)
        masses = np.array([secret.mass(a, b) for a, b in pairs])
        self.weights = np.maximum(masses[:, 0], 0.0), np.minimum(masses[:, 1], 1.0)
        self.offsets = cell_means.offsets(secret, self.low, self.high)

    def cut(self, secret: Any, count: int) -> None:
        """Cut the secret into cells, at breaks too."""
        low, high = float(secret.lower[0]), float(secret.upper[0])
        first, last = _reach(secret)
        inner = np.linspace(first, last, count + 1)
        marks = [b for b in (*secret.breaks, *self.engine.joint.mechanism.breaks) if low < b < high]
        edges = np.unique([low, *inner, *marks, high])
        self.low, self.high = edges[:-1], edges[1:]

    def lower_expectations(self, prior_set: Any) -> BallOnCells:
        """Return what bounds lower expectations over a ball."""
        assert self.weights is not None
        return BallOnCells(prior_set, self.weights)

    def over_outcomes(self, least: Least, kind: str) -> tuple[float, float, float | None]:
        """Enclose the supremum over the set and the outcomes, and say about where it is.

        Boxes of the outcomes, an interval, are cut until the cells leave most open.
        """
        mechanism, secret = self.engine.joint.mechanism, self.engine.secret
        ends = float(mechanism.outcome.lower), float(mechanism.outcome.upper)
        marks = {*mechanism.breaks, *secret.lower.tolist(), *secret.upper.tolist()}
        edges = [ends[0], *sorted(m for m in marks if ends[0] < m < ends[1]), ends[1]]
        edges = edges if np.isfinite(edges).any() else [ends[0], 0.0, ends[1]]
        found = self.over_boxes(least, kind, list(pairwise(edges)))
        seen: dict[float, tuple[float, float]] = {}
        beside: list[tuple[float, float]] = []
        until, tol = settings.search_deadline(), settings.current().tol

        def look(box: tuple[float, float]) -> tuple[float, float]:
            """Enclose the figure in the middle of a box; others close by are as large."""
            y = _between(*box)
            if y not in seen:
                ends = self.enclosed(least, kind, np.array([y]))
                seen[y] = float(ends[0][0]), float(ends[1][0])
                if continuous_at(self.engine, y):
                    beside.append((seen[y][0], y))
            return seen[y]

        def enclose() -> tuple[float, float]:
            return best()[0], max(f[1] for f in found)

        def best() -> tuple[float, float]:
            """Return the largest bound from below that is proved, and an outcome it is about."""
            return max(beside + [(f[0], _between(*f[2:])) for f in found])

        def cut(low: float, high: float) -> bool:
            """Cut the boxes with the largest upper ends, but where an outcome has that end too."""
            nonlocal found
            found.sort(key=lambda f: (-f[1], f[0]))
            open_ = [f for f in found[:_AT_ONCE] if f[1] > low + tol]
            cuts = []
            for _, top, a, b in open_:
                least_, most = look((a, b))
                if a < (middle := _between(a, b)) < b and top > most + (most - least_) / 2 + tol:
                    cuts.append((a, middle, b))
            if not cuts or cuts[0][::2] != open_[0][2:]:
                return False
            gone = {(a, b) for a, _, b in cuts}
            halves = [half for c in cuts for half in pairwise(c)]
            found = [f for f in found if f[2:] not in gone]
            found += self.over_boxes(least, kind, halves)
            return True

        for box in pairwise(edges):
            look(box)
        narrow = lambda low, high: high - low <= tol  # noqa: E731
        low, high = refine(enclose, cut, settled=narrow, until=until, rounds=_ROUNDS)
        place = best()[1]
        return low, high, place if low > 0 else None

    def over_boxes(self, least: Least, kind: str, boxes: list[tuple[float, float]]) -> list[tuple]:
        """Enclose the suprema over the set for almost every outcome of boxes, perhaps unbounded.

        Returns both ends, and those of the box, for each of them.
        """
        parts = [(j, *part) for j, box in enumerate(boxes) for part in self._on_box(kind, *box)]
        best = np.array([[0.0, np.inf]] * len(boxes))
        if parts:
            low, high, least_, most = (np.stack([p[k] for p in parts], 1) for k in range(1, 5))
            far, *gap = (np.array([p[k] for p in parts]) for k in range(5, 8))
            ends = self._combined(least, kind, MeansOnCells((low, high), (least_, most)), far, gap)
            for (j, *_), lower, upper in zip(parts, *ends, strict=True):
                best[j] = max(best[j, 0], lower), min(best[j, 1], upper)
        for j, box in enumerate(boxes):
            if best[j, 0] > 0 and not leakage_far_out.alive(self.engine.surface, *box):
                best[j, 0] = 0.0
        return [(*ends, *box) for ends, box in zip(best.tolist(), boxes, strict=True)]

    def _on_box(self, kind: str, low: float, high: float) -> Iterator[tuple]:
        """Enclose f(y|x) on the cells, relative to its extremes, on a box of outcomes.

        By the ranges of log f, and by what it rises by from cell to cell: the factor that all
        secrets have in common, which goes to 0 far out, is left out there. Each part holds.
        """
        surface, n = self.engine.surface, len(self.low)
        some = charged(surface, self.low[:, None], self.high[:, None])
        with np.errstate(all="ignore"):
            if np.isfinite(low) and np.isfinite(high):
                y = np.full((1, n), low), np.full((1, n), high)
                x = boxes(self.low[:, None], self.high[:, None], 0, 0)
                jet = surface.log.run(surface.inputs(x, y), 0).jet
                logs = [np.broadcast_to(v, n) for v in batched.settled(arithmetic.entry(jet, 0))]
                yield self._relative(kind, logs, logs[0][some], logs[1][some], logs)
            edges = np.append(self.low, self.high[-1])
            if not np.isfinite(edges).all():
                return
            # where log f has kinks the supremum may be: there cells are cut for its sake
            kinks = [
                leakage_far_out.kinks(surface, edges, y) for y in (low, high) if np.isfinite(y)
            ]
            near = np.concatenate([[], *kinks])
            near = np.concatenate([near - np.abs(near) * _NEAR, near + np.abs(near) * _NEAR])
            cuts = np.union1d(edges, np.clip(near, edges[0], edges[-1]))
            first = np.searchsorted(cuts, edges[:-1])
            whole = np.diff(np.append(first, len(cuts) - 1)) == 1
            some = charged(surface, cuts[:-1, None], cuts[1:, None])
            for pieces, rise in leakage_far_out.rises(surface, cuts, low, high):
                sure = [np.array([v[k] for v in rise[:3]])[:, some] for k in (0, 1)]
                ends = np.minimum.reduceat(rise.bottom, first), np.maximum.reduceat(rise.top, first)
                means = ends
                if self.offsets is not None:
                    height = rise.height[0][first], rise.height[1][first]
                    jets = [
                        [(v[0][k, first], v[1][k, first]) for k in range(3)] for v in pieces[1:3]
                    ]
                    found = self._means(height, *jets)
                    means = [np.where(whole, a, b) for a, b in zip(found, ends, strict=True)]
                yield self._relative(kind, ends, sure[0], sure[1], means)

    def _means(self, height: Box, centre: Any, outer: Any) -> Box:
        """Enclose the logarithms of the means of f(y|x) over cells.

        By log f in the middles, its slopes there, and its slopes and bends on the cells.
        """
        assert self.offsets is not None
        power = cell_means.mean_of_power(self.offsets, centre[1], outer[1], outer[2])
        return batched.add(height, (_log(power[0])[0], _log(power[1])[1]))

    def _relative(
        self, kind: str, logs: Any, sure_low: np.ndarray, sure_high: np.ndarray, means: Any
    ) -> tuple:
        """Divide by the supremum, or for PMC by a multiple of the infimum that is not below it.

        Parameters
        ----------
        kind : {"pml", "pmc"}
            Which leakage.
        logs, means : Box
            Logarithms of f(y|x) on the cells, and of its means.
        sure_low, sure_high : ndarray
            Enclosures of the logarithm at secrets that have a mass.

        Returns
        -------
        tuple
            Values and means, the other extreme, and by what PMC exceeds the logarithm of the mean.
        """
        low, high = logs
        finite = np.abs(np.array([*low, *high])[np.isfinite([*low, *high])])
        off = self.engine.slack + 2.0**-50 * (1 + finite.max(initial=0.0))
        top = sure_low.max(initial=-np.inf) - off, high.max() + off
        bottom = low.min() - off, sure_high.min(initial=np.inf) + off
        gap = np.nextafter([max(top[0] - bottom[1], 0.0), top[1] - bottom[0]], (0.0, np.inf))
        far = np.exp(-gap[0]) * (1 + 2.0**-50)
        if kind == "pmc":
            far = -1.0
            if np.isfinite([*bottom, gap[1]]).all():  # the infimum, raised by the largest gap
                far = -np.exp(gap[0] - gap[1]) * (1 - 2.0**-50)
                top = np.nextafter([end + gap[1] for end in bottom], (-np.inf, np.inf))
                gap = gap[[1, 1]]
        found = [self._power((v[0] - off, v[1] + off), top) for v in (logs, means)]
        values = np.nan_to_num(found[0][0], nan=0.0), np.nan_to_num(found[0][1], nan=1.0)
        return *values, *self._within(values, found[1]), float(far), *gap.tolist()

    def _power(self, logs: Box, top: Any) -> Box:
        """Return e^(logs - top), at most 1."""
        gap = batched.settled(batched.subtract(batched.settled(logs), top))
        return batched.exp((np.minimum(gap[0], 0.0), np.minimum(gap[1], 0.0)))

    def _within(self, values: Box, means: Box) -> Box:
        """Return means of values, for cells of a centre."""
        if self.weights is None:
            return values
        return cell_means.within(values, means, self.weights[0] > 0)

    def enclosed(self, least: Least, kind: str, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Combine bounds of lower expectations at outcomes: ``least(v, below)``."""
        top, bottom = self.engine.extreme(ys, 1.0), self.engine.extreme(ys, -1.0)
        gap = batched.subtract((top.lower, top.upper), (bottom.lower, bottom.upper))
        gap = batched.settled(gap)
        with np.errstate(all="ignore"):
            far = batched.exp((-gap[0], -gap[0]))[1] if kind == "pml" else -np.ones(len(ys))
        return self._combined(least, kind, self._values(ys, top), far, gap)

    def _combined(
        self, least: Least, kind: str, cells: MeansOnCells, far: np.ndarray, gap: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Combine bounds of lower expectations of f(y|x) / sup f(y|.), and log sup f / inf f.

        For PMC of its negative, perhaps divided by something else, whose gap is then another one;
        ``far`` is a bound of what is least over the secrets.
        """
        with np.errstate(all="ignore"):
            if kind == "pmc":
                cells = MeansOnCells(batched.negative(cells.values), batched.negative(cells.means))
            if isinstance(least, BallOnCells):
                found = least.enclosed(cells, far)
            else:
                low, high = cells.values
                found = least(low, True).lower, least(high, False).upper
            if kind == "pml":
                ends = -_log(found[1])[1], -_log(found[0])[0]
            else:
                ends = batched.add((_log(-found[1])[0], _log(-found[0])[1]), gap)
        lower = np.maximum(np.nan_to_num(ends[0], nan=0.0), 0.0)
        upper = np.where(np.isnan(ends[1]), np.inf, ends[1])
        return lower, np.maximum(upper, lower)

    def _values(self, ys: np.ndarray, top: Any) -> MeansOnCells:
        """Enclose f(y|x) / sup f(y|.) on the cells, and its means, (cells, outcomes)."""
        surface, n, slack = self.engine.surface, len(self.low), self.engine.slack
        out = np.empty((4, n, len(ys)))
        order = 0 if self.offsets is None else 2
        x = boxes(self.low[:, None], self.high[:, None], 0, order)
        middle = cell_means.middles(self.low, self.high)[:, None]
        for j, y in enumerate(ys.tolist()):
            at = np.full(n, y)
            found = surface.log.run(surface.inputs(x, (at[None], at[None])), order)
            logs = means = _entry(found.jet, 0, n)
            if self.offsets is not None:
                here = surface.inputs(boxes(middle, middle, 0, order), (at[None], at[None]))
                centre = surface.log.run(here, order, decisions=found.decisions)
                jets = [[_entry(v.jet, k, n) for k in range(3)] for v in (centre, found)]
                means = self._means(jets[0][0], *jets)
            level = np.full(n, top.lower[j]), np.full(n, top.upper[j])
            with np.errstate(all="ignore"):
                ratio, mean = (
                    self._power((v[0] - slack, v[1] + slack), level) for v in (logs, means)
                )
            ratio = np.clip(ratio[0], 0.0, 1.0), np.clip(ratio[1], 0.0, 1.0)
            out[:2, :, j], out[2:, :, j] = ratio, self._within(ratio, mean)
        return MeansOnCells((out[0], out[1]), (out[2], out[3]))


def _entry(jet: Box, k: int, count: int) -> Box:
    """Return one entry of a jet, for each of the cells."""
    low, high = batched.settled(arithmetic.entry(jet, k))
    return np.broadcast_to(low, count), np.broadcast_to(high, count)


def _between(low: float, high: float) -> float:
    """Return an outcome of a box; of an unbounded one twice as far out as its end."""
    if np.isinf(low) or np.isinf(high):
        end = low if np.isinf(high) else high
        return float(end + np.copysign(max(abs(end), 1.0), high if np.isinf(high) else low))
    return low + (high - low) / 2


def _log(value: np.ndarray) -> Box:
    safe = np.where(value > 0, value, 1.0)
    found = elementary.logarithm((safe[None], safe[None]), 0)
    dead = value <= 0
    return np.where(dead, -np.inf, found[0][0]), np.where(dead, -np.inf, found[1][0])


def _reach(secret: Any) -> tuple[float, float]:
    """Return a bounded stretch that holds nearly all of the mass."""
    out = []
    for end, sign in ((float(secret.lower[0]), -1.0), (float(secret.upper[0]), 1.0)):
        place = end
        if np.isinf(end):
            for power in range(60):
                place = sign * 2.0 ** (power / 4)
                if secret.mass(*sorted((place, end)))[1] < 1e-9:
                    break
        out.append(place)
    return out[0], out[1]
