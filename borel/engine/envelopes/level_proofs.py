r"""Proofs of levels of the envelope of a finite secret, and of masses at a level, on a line.

With q the density of Y, g_x = f(.|x) and theta = e^t for PML, g_x = -f(.|x) and theta = -e^-t for
PMC, prices :math:`\lambda_x \ge 0` prove that no post-processing has a leakage of t or more with a
probability above

.. math:: \int \max(0, \max_x (1 - \lambda_x \theta) q + \lambda_x g_x) \, dy,

and shares w_x of the outcomes that one has it with :math:`\int \sum_x w_x q`, if for each x they
have :math:`\int w_x (g_x - \theta q) \ge 0` (`borel.figures.envelopes`: the dual, and the
post-processing). Shares are given on cells of outcomes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flint import arb, fmpq

from borel.engine.kernels.outcome_integrals import STRICT, OutcomeIntegrals
from borel.numerics.balls.power_sums import INF
from borel.numerics.balls.taylor_models import FUNCTIONS, TaylorModel, model

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np


class LevelProof(OutcomeIntegrals):
    """A proof of a level of the envelope, or of the mass at a level."""

    def level(
        self, ends: tuple[float, float], delta: Fraction, cells: list, prices: np.ndarray
    ) -> bool:
        """Prove the ends of the level of a mass delta, by shares of cells and by prices."""
        mass = arb(fmpq(*delta.as_integer_ratio()))
        return 0 < mass < 1 and self._between(
            cells, prices, (ends[0] if ends[0] > 0 else None, mass), (ends[1], mass - STRICT)
        )

    def mass(self, ends: tuple[float, float], t: float, cells: list, prices: np.ndarray) -> bool:
        """Prove the ends of the mass at a level t."""
        low, high = ends
        below = t if low > 0 else None, arb(low)
        return t >= 0 and self._between(cells, prices, below, (t if high < 1 else None, arb(high)))

    def _between(self, cells: list, prices: np.ndarray, below: tuple, above: tuple) -> bool:
        """Prove that there is a mass at one level, and no more at another, if they are given."""
        if below[0] is not None:
            self.theta = self._theta(below[0])
            if not self.worth(cells, below[1]):
                return False
        if above[0] is not None:
            self.theta = self._theta(above[0])
            self.prices = dict(zip(self.atoms, map(arb, prices.tolist()), strict=True))
            return all(0 <= v < math.inf for v in prices) and self.within(-INF, above[1])
        return True

    def _theta(self, t: float) -> arb:
        return self.sign * (self.sign * arb(t)).exp()

    def bound_by_largest(self, mass: arb) -> arb:
        """Bound the dual's integral by that of the largest density."""
        return self.bound_by_prices(mass)

    def integrand(self, y: TaylorModel, f: dict[float, TaylorModel]) -> TaylorModel:
        """Return the dual's."""
        law, total = self.law(f), model(0)
        for x, v in f.items():
            price = self.prices[x]
            term = law * (1 - price * self.theta) + v * (price * self.sign)
            total = FUNCTIONS["maximum"](total, term)
        return total
