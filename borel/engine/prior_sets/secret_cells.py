r"""Balls of priors on a continuous secret, by cells: a finite problem whose values are intervals.

On a cell of secrets f(y|x) lies between two numbers. A lower expectation rises with the function,
so that it lies between those of the two step functions; and for a step function a ball around P of
total variation, KL or chi-square is the ball around the masses of the cells: members map into it
(data processing), and any law of the cells in it is that of a member which has P's conditional law
on each cell. The enclosure closes in as the cells shrink, to first order.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.kernels import leakage_far_out
from borel.engine.kernels.leakage_on_boxes import charged
from borel.engine.problem.refinement import refine
from borel.engine.problem.secret_and_kernel import boxes
from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic, elementary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from borel.engine.prior_sets import lower_expectations as ex
    from borel.numerics.intervals.batched import Box

    Least = Callable[[np.ndarray, bool], ex.Least]
    """Bounds lower expectations of step functions over a set: ``(v, below)``."""

CELLS = 1024
_ROUNDS, _AT_ONCE = 32, 6


class SecretCells:
    """Cells of a secret of one dimension, with their masses under the centre.

    Parameters
    ----------
    engine : CertifiedEngine
        The joint of the centre and the mechanism.
    """

    def __init__(self, engine: Any):
        secret = engine.secret
        self.engine = engine
        self.cut(secret, CELLS)
        pairs = zip(self.low.tolist(), self.high.tolist(), strict=True)
        masses = np.array([secret.mass(a, b) for a, b in pairs])
        self.weights: Box = np.maximum(masses[:, 0], 0.0), np.minimum(masses[:, 1], 1.0)

    def cut(self, secret: Any, count: int) -> None:
        """Cut the secret into cells, at breaks too."""
        low, high = float(secret.lower[0]), float(secret.upper[0])
        first, last = _reach(secret)
        inner = np.linspace(first, last, count + 1)
        marks = [b for b in (*secret.breaks, *self.engine.joint.mechanism.breaks) if low < b < high]
        edges = np.unique([low, *inner, *marks, high])
        self.low, self.high = edges[:-1], edges[1:]

    def lower_expectations(self, prior_set: Any) -> Least:
        """Return what bounds lower expectations of step functions over a ball."""
        coarse = prior_set.coarsened(self.weights)
        return lambda v, below: coarse.least(v)

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
        until, tol = settings.search_deadline(), settings.current().tol

        def enclose() -> tuple[float, float]:
            return max(f[0] for f in found), max(f[1] for f in found)

        def cut(low: float, high: float) -> bool:
            """Cut the boxes with the largest upper ends, but where an outcome has that end too."""
            nonlocal found
            found.sort(key=lambda f: (-f[1], f[0]))
            open_ = [f for f in found[:_AT_ONCE] if f[1] > low + tol]
            middles = [_between(*f[2:]) for f in open_]
            inside = [v.tolist() for v in self.enclosed(least, kind, np.array(middles))]
            cuts = [
                (a, middle, b)
                for (_, top, a, b), middle, least_, most in zip(
                    open_, middles, *inside, strict=True
                )
                if a < middle < b and top > most + (most - least_) / 2 + tol
            ]
            if not cuts or cuts[0][::2] != open_[0][2:]:
                return False
            gone = {(a, b) for a, _, b in cuts}
            halves = [half for c in cuts for half in pairwise(c)]
            found = [f for f in found if f[2:] not in gone]
            found += self.over_boxes(least, kind, halves)
            return True

        narrow = lambda low, high: high - low <= tol  # noqa: E731
        low, high = refine(enclose, cut, settled=narrow, until=until, rounds=_ROUNDS)
        best = max(found)
        return low, high, _between(*best[2:]) if best[0] > 0 else None

    def over_boxes(self, least: Least, kind: str, boxes: list[tuple[float, float]]) -> list[tuple]:
        """Enclose the suprema over the set for almost every outcome of boxes, perhaps unbounded.

        Returns both ends, and those of the box, for each of them.
        """
        parts = [(j, *part) for j, box in enumerate(boxes) for part in self._on_box(*box)]
        best = np.array([[0.0, np.inf]] * len(boxes))
        if parts:
            low, high = (np.stack([p[k] for p in parts], axis=1) for k in (1, 2))
            least_gap, most_gap = (np.array([p[k] for p in parts]) for k in (3, 4))
            ends = self._combined(least, kind, (low, high), (least_gap, most_gap))
            for (j, *_), lower, upper in zip(parts, *ends, strict=True):
                best[j] = max(best[j, 0], lower), min(best[j, 1], upper)
        for j, box in enumerate(boxes):
            if best[j, 0] > 0 and not leakage_far_out.alive(self.engine.surface, *box):
                best[j, 0] = 0.0
        return [(*ends, *box) for ends, box in zip(best.tolist(), boxes, strict=True)]

    def _on_box(self, low: float, high: float) -> Iterator[tuple]:
        """Enclose f(y|x) / sup f(y|.) on the cells, and log sup f / inf f, on a box of outcomes.

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
                yield self._relative(logs[0], logs[1], logs[0][some], logs[1][some])
            edges = np.append(self.low, self.high[-1])
            for rise in leakage_far_out.rises(surface, edges, low, high):
                sure = [np.array([v[k] for v in rise[:3]])[:, some] for k in (0, 1)]
                yield self._relative(rise.bottom, rise.top, *sure)

    def _relative(
        self, low: np.ndarray, high: np.ndarray, sure_low: np.ndarray, sure_high: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float, float]:
        """Divide by the supremum: logarithms on the cells, and at secrets that have a mass."""
        finite = np.abs(np.array([*low, *high])[np.isfinite([*low, *high])])
        off = self.engine.slack + 2.0**-50 * (1 + finite.max(initial=0.0))
        top = sure_low.max(initial=-np.inf) - off, high.max() + off
        bottom = low.min() - off, sure_high.min(initial=np.inf) + off
        logs = batched.settled(batched.subtract((low - off, high + off), top))
        values = batched.exp((np.minimum(logs[0], 0.0), np.minimum(logs[1], 0.0)))
        gap = np.nextafter([max(top[0] - bottom[1], 0.0), top[1] - bottom[0]], (0.0, np.inf))
        return np.nan_to_num(values[0], nan=0.0), np.nan_to_num(values[1], nan=1.0), *gap.tolist()

    def enclosed(self, least: Least, kind: str, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Combine bounds of lower expectations at outcomes: ``least(v, below)``."""
        top, bottom = self.engine.extreme(ys, 1.0), self.engine.extreme(ys, -1.0)
        gap = batched.subtract((top.lower, top.upper), (bottom.lower, bottom.upper))
        return self._combined(least, kind, self._values(ys, top), batched.settled(gap))

    def _combined(
        self, least: Least, kind: str, values: Box, gap: Box
    ) -> tuple[np.ndarray, np.ndarray]:
        """Combine bounds of lower expectations of f(y|x) / sup f(y|.), and log sup f / inf f."""
        low, high = values
        with np.errstate(all="ignore"):
            if kind == "pml":
                ends = -_log(least(high, False).upper)[1], -_log(least(low, True).lower)[0]
            else:
                means = -least(-low, False).upper, -least(-high, True).lower
                ends = batched.add((_log(means[0])[0], _log(means[1])[1]), gap)
        lower = np.maximum(np.nan_to_num(ends[0], nan=0.0), 0.0)
        upper = np.where(np.isnan(ends[1]), np.inf, ends[1])
        return lower, np.maximum(upper, lower)

    def _values(self, ys: np.ndarray, top: Any) -> Box:
        """Enclose f(y|x) / sup f(y|.) on the cells, (cells, outcomes)."""
        surface, n, slack = self.engine.surface, len(self.low), self.engine.slack
        out = np.empty((2, n, len(ys)))
        x = boxes(self.low[:, None], self.high[:, None], 0, 0)
        for j, y in enumerate(ys.tolist()):
            at = np.full(n, y)
            found = surface.log.run(surface.inputs(x, (at[None], at[None])), 0)
            logs = [np.broadcast_to(v, n) for v in batched.settled(arithmetic.entry(found.jet, 0))]
            level = np.full(n, top.lower[j]), np.full(n, top.upper[j])
            with np.errstate(all="ignore"):
                gap = batched.settled(batched.subtract((logs[0] - slack, logs[1] + slack), level))
                ratio = batched.exp((np.minimum(gap[0], 0.0), np.minimum(gap[1], 0.0)))
            out[:, :, j] = np.clip(ratio, 0.0, 1.0)
        return out[0], out[1]


def _between(low: float, high: float) -> float:
    """Return an outcome of a box; of an unbounded one twice as far out as its end."""
    if np.isinf(low) or np.isinf(high):
        end = low if np.isinf(high) else high
        return end + np.copysign(max(abs(end), 1.0), high if np.isinf(high) else low)
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
