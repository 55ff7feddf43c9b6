"""Figures at single outcomes through Arb: the kernels for few outcomes, or for tight tolerances."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from borel.errors import NotEnclosed
from borel.numerics.balls.expansion import product
from borel.numerics.balls.extremum import extreme
from borel.numerics.balls.integral import integrate
from borel.numerics.balls.interpreter import Prepared

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Surface

FEW = 8
"""Up to this many outcomes Arb is the faster (notes on numerics: the crossover lies at 3 to 20)."""


class PlacedExtreme(NamedTuple):
    """An enclosure with the place that proves its one end."""

    lower: float
    upper: float
    place: float


class ArbPoints:
    """The kernel and the prior of a secret on a bounded interval, prepared for Arb.

    Parameters
    ----------
    surface : Surface
        The kernel and the prior; the prior has a density that is positive, and no atoms.

    Raises
    ------
    NotEnclosed
        Something that Arb's interpreter does not know, or a prior of another kind.
    """

    def __init__(self, surface: Surface):
        secret = surface.secret
        bounded = secret.continuous and secret.dim == 1 and not len(secret.atoms)
        if not bounded or not secret.positive or secret.log_density is None:
            raise NotEnclosed("Arb's kernels are for one secret with a positive density")
        self.low, self.high = float(secret.lower[0]), float(secret.upper[0])
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            raise NotEnclosed("Arb's kernels are for a secret on a bounded interval")
        self.surface = surface
        self.name = secret.names[0]
        self.log = Prepared(surface.graph, variable=self.name)
        weighted = product([(surface.graph, True), (secret.log_density, True)])
        self.weighted = Prepared(weighted, variable=self.name)
        if self.log.doubtful or self.weighted.doubtful:
            raise NotEnclosed("a condition on what may be no number")

    def _breaks(self, y: float) -> list[float]:
        """Return where kinks are likely: declared breaks, and y itself for additive noise."""
        marks = {*self.surface.secret.breaks, y}
        return sorted(m for m in marks if self.low < m < self.high)

    def _inputs(self, y: float) -> dict[str, float]:
        return {"y": y} if self.surface.needs_y else {}

    @staticmethod
    def _bits(tol: float) -> int:
        return max(64, 32 + math.ceil(-math.log2(tol)))

    def extreme(self, y: float, sign: float, tol: float) -> PlacedExtreme:
        """Enclose ess sup (or inf) of log f(y|x) over the secret."""
        found = extreme(
            self.log,
            self._inputs(y),
            self.low,
            self.high,
            sign=int(sign),
            tol=tol,
            breaks=self._breaks(y),
            bits=self._bits(tol),
        )
        low, high = found.floats
        box = found.box or (self.low, self.high)
        return PlacedExtreme(low, high, box[0] + (box[1] - box[0]) / 2)

    def marginal(self, y: float, shift: float, rtol: float) -> tuple[float, float]:
        """Enclose f_Y(y) e^-shift."""
        found = integrate(
            self.weighted,
            {**self._inputs(y), "shift": shift},
            self.low,
            self.high,
            breaks=self._breaks(y),
            rel_tol=rtol,
            bits=self._bits(rtol),
        )
        low, high = found.floats
        return max(low, 0.0), high
