r"""Which values of a function of the secret are largest and least, as far as enclosures tell.

A supremum over a convex set is attained if a minimiser of v = f(y|.) (of -f(y|.) for PMC) charges
a secret of the largest v (`borel.priors.sets`): any of them, where several tie.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np


class SecretValues:
    """Values of the secrets that members charge, enclosed; equal ends are exact.

    Parameters
    ----------
    low, high : ndarray (n,)
        The ends, floats or Fractions.
    charged : ndarray (n,) of bool
        The union of the supports of the members.
    """

    def __init__(self, low: np.ndarray, high: np.ndarray, charged: np.ndarray):
        self.low, self.high, self.charged = low, high, charged
        self.exact = bool((low == high)[charged].all())

    @cached_property
    def top(self) -> np.ndarray:
        """Which secrets may have the largest value: (n,) of bool."""
        return self.charged & np.asarray(self.high >= self.low[self.charged].max(), bool)

    @cached_property
    def bottom(self) -> np.ndarray:
        """Which secrets may have the least value."""
        return self.charged & np.asarray(self.low <= self.high[self.charged].min(), bool)

    @property
    def largest(self) -> list[np.ndarray]:
        """Sets of secrets, one of which certainly has the largest value throughout."""
        return self._certain(self.top)

    @property
    def least(self) -> list[np.ndarray]:
        """Sets of secrets, one of which certainly has the least value throughout."""
        return self._certain(self.bottom)

    def _certain(self, rows: np.ndarray) -> list[np.ndarray]:
        return [rows] if self.exact else list(np.eye(len(rows), dtype=bool)[rows])

    @property
    def constant(self) -> bool | None:
        """Whether all values are equal; None if it is not known."""
        if (self.top != self.charged).any():
            return False
        return True if self.exact or self.charged.sum() == 1 else None

    def fractions(self) -> list[tuple[Fraction, Fraction]]:
        """Return the enclosures exactly, one for each secret."""
        return [(Fraction(a), Fraction(b)) for a, b in zip(self.low, self.high, strict=True)]
