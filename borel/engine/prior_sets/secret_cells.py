r"""Balls of priors on a continuous secret, by cells: a finite problem whose values are intervals.

On a cell of secrets f(y|x) lies between two numbers. A lower expectation rises with the function,
so that it lies between those of the two step functions; and for a step function a ball around P of
total variation, KL or chi-square is the ball around the masses of the cells: members map into it
(data processing), and any law of the cells in it is that of a member which has P's conditional law
on each cell. The enclosure closes in as the cells shrink, to first order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.problem.secret_and_kernel import boxes
from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic, elementary

if TYPE_CHECKING:
    from borel.numerics.intervals.batched import Box

CELLS = 1024


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

    def leakage(self, prior_set: Any, kind: str, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the suprema of PML or PMC over the set at outcomes."""
        coarse = prior_set.coarsened(self.weights)
        return self.enclosed(lambda v, below: coarse.least(v), kind, ys)

    def enclosed(self, least: Any, kind: str, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Combine bounds of lower expectations: ``least(v, below)``."""
        top, bottom = self.engine.extreme(ys, 1.0), self.engine.extreme(ys, -1.0)
        low, high = self._values(ys, top)
        with np.errstate(all="ignore"):
            if kind == "pml":
                ends = -_log(least(high, False).upper)[1], -_log(least(low, True).lower)[0]
            else:
                means = -least(-low, False).upper, -least(-high, True).lower
                gap = batched.subtract((top.lower, top.upper), (bottom.lower, bottom.upper))
                ends = batched.add((_log(means[0])[0], _log(means[1])[1]), batched.settled(gap))
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
