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
    from collections.abc import Callable

    from borel.engine.prior_sets import lower_expectations as ex
    from borel.numerics.intervals.batched import Box

    Least = Callable[[np.ndarray, bool], ex.Least]
    """Bounds lower expectations of step functions over a set: ``(v, below)``."""

CELLS = 1024
_ROUNDS = 80


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
        found = [(*self.over_box(least, kind, *box), *box) for box in pairwise(edges)]
        tol = settings.current().tol
        until = settings.search_deadline()

        def enclose() -> tuple[float, float]:
            return max(f[0] for f in found), max(f[1] for f in found)

        def cut(low: float, high: float) -> bool:
            """Cut the box with the largest upper end, unless an outcome in it has that end too."""
            widest = max(found, key=lambda f: (f[1], f[1] - f[0]))
            a, b = widest[2:]
            middle = _between(a, b)
            if not a < middle < b:
                return False
            inside = [float(v[0]) for v in self.enclosed(least, kind, np.array([middle]))]
            if widest[1] - inside[1] <= (inside[1] - inside[0]) / 10 + tol:
                return False
            found.remove(widest)
            found.extend((*self.over_box(least, kind, *c), *c) for c in ((a, middle), (middle, b)))
            return True

        narrow = lambda low, high: high - low <= tol  # noqa: E731
        low, high = refine(enclose, cut, settled=narrow, until=until, rounds=_ROUNDS)
        best = max(found)
        return low, high, _between(*best[2:]) if best[0] > 0 else None

    def over_box(self, least: Least, kind: str, low: float, high: float) -> tuple[float, float]:
        """Enclose the suprema over the set for almost every outcome of a box, perhaps unbounded.

        By what log f(y|x) rises by from cell to cell, for all of the outcomes at once: the common
        factor of the secrets, which goes to 0 far out, is left out.
        """
        surface, best = self.engine.surface, (0.0, np.inf)
        edges = np.append(self.low, self.high[-1])
        some = charged(surface, self.low[:, None], self.high[:, None])
        with np.errstate(all="ignore"):
            for rise in leakage_far_out.rises(surface, edges, low, high):
                sure = np.array([[v[k] for v in rise[:3]] for k in (0, 1)])[:, :, some]
                off = self.engine.slack + 2.0**-50 * (1 + np.abs(rise.top).max())
                top = sure[0].max(initial=-np.inf) - off, rise.top.max() + off
                bottom = rise.bottom.min() - off, sure[1].min(initial=np.inf) + off
                values = batched.exp(
                    (
                        np.minimum(np.nextafter(rise.bottom - off - top[1], -np.inf), 0.0),
                        np.minimum(np.nextafter(rise.top + off - top[0], np.inf), 0.0),
                    )
                )
                gap = np.nextafter([max(top[0] - bottom[1], 0.0), top[1] - bottom[0]], (0, np.inf))
                found = self._combined(
                    least,
                    kind,
                    (values[0][:, None], values[1][:, None]),
                    (gap[:1], gap[1:]),
                )
                best = max(best[0], float(found[0][0])), min(best[1], float(found[1][0]))
            if best[0] > 0 and not leakage_far_out.alive(surface, low, high):
                best = 0.0, best[1]
        return best

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
