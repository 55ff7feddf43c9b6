"""The rows of a kernel whose secret is finite, as functions of an outcome on an interval."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.problem.secret_and_kernel import log_graph
from borel.errors import NotEnclosed
from borel.numerics.balls.arithmetic import ball

if TYPE_CHECKING:
    from borel.engine.problem.protocols import WithMasses

_GRID = 20_001


class Rows:
    """The kernels of a finite secret and the marginal, as graphs of the outcome.

    Parameters
    ----------
    engine : WithMasses
        Of a joint with outcomes on an interval.

    Raises
    ------
    NotEnclosed
        Another secret, or outcomes with atoms.
    """

    most = 32
    """So many secrets, and no more."""

    def __init__(self, engine: WithMasses):
        secret, mechanism = engine.secret, engine.joint.mechanism
        if secret.continuous or secret.rest or secret.dim > 1 or len(secret.atoms) > self.most:
            raise NotEnclosed(f"this figure is certified for secrets of at most {self.most} values")
        if len(engine.atoms):
            raise NotEnclosed("this figure is not certified for outcomes with atoms")
        graph = log_graph(mechanism.density)
        self.engine: Any = engine
        self.line = float(engine.line.lower), float(engine.line.upper)
        self.points = [float(a) for a in secret.atoms[:, 0]]
        self.graphs = [graph.bind({"x": x}) if "x" in graph.inputs else graph for x in self.points]
        pairs = zip(secret.weight_low, secret.weight_high, strict=True)
        self.weights = [ball(float(a)).union(ball(float(b))) for a, b in pairs]
        self.least = Fraction(float(secret.weight_low.min()))
        self.marks = [m for m in mechanism.breaks if self.line[0] < m < self.line[1]]
        self.marks = sorted(
            {*self.marks, *(x for x in self.points if self.line[0] < x < self.line[1])}
        )
        self.inputs = {f"w{i}": w.log() for i, w in enumerate(self.weights)}
        self._deadline = settings.search_deadline()

    def late(self) -> bool:
        """Return whether the figure should be ready: what is left gets its simplest bounds."""
        return settings.late(self._deadline)

    def logs(self, y: np.ndarray) -> np.ndarray:
        """Return log k_x(y) for every secret (first axis), in float64."""
        mechanism = self.engine.joint.mechanism
        return np.array([np.broadcast_to(mechanism._logpdf(y, x), y.shape) for x in self.points])

    def log_law(self, logs: np.ndarray) -> np.ndarray:
        """Return log f_Y from `logs`, in float64."""
        weights = np.log([float(w.mid()) for w in self.weights])
        return np.logaddexp.reduce(logs + weights[:, None], axis=0)

    def grid(self) -> np.ndarray:
        """Return outcomes, of an unbounded line more of them where the kernels are."""
        low, high = (min(max(end, -1e4), 1e4) for end in self.line)
        if (low, high) == self.line:
            return np.linspace(low, high, _GRID)
        t = np.linspace(-1, 1, _GRID)
        centre, span = float(np.mean(self.points)), 1.0 + float(np.ptp(self.points))
        return np.unique(np.clip(centre + span * np.sinh(12 * t) / 20, low, high))

    def ratios(self) -> tuple[np.ndarray, np.ndarray]:
        """Return k_x / f_Y and the mass of f_Y on a grid, in float64: only to choose tau."""
        y = self.grid()
        middle, width = (y[1:] + y[:-1]) / 2, np.diff(y)
        with np.errstate(all="ignore"):
            logs = self.logs(middle)
            law = self.log_law(logs)
            ratio, mass = np.exp(logs - law), np.exp(law) * width
        return np.nan_to_num(ratio), np.nan_to_num(mass)
