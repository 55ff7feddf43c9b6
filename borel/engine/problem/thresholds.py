"""Levels that a privacy loss or a leakage is compared with."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from borel.numerics.balls.arithmetic import as_fraction, ball, precision

_BITS = 320
_LARGEST = 10_000


class Threshold(NamedTuple):
    """A level epsilon >= 0 of the privacy loss, in nats or as e^epsilon; infinity is the limit.

    Attributes
    ----------
    epsilon : Fraction, optional
        In nats.
    ratio : Fraction, optional
        e^epsilon, instead.
    """

    epsilon: Any = None
    ratio: Fraction | None = None

    def nats(self) -> Any:
        """Return epsilon as a ball."""
        return ball(self.epsilon) if self.ratio is None else ball(self.ratio).log()

    def factor(self) -> Any:
        """Return e^epsilon as a ball."""
        return ball(self.epsilon).exp() if self.ratio is None else ball(self.ratio)

    def ends(self) -> tuple[Fraction, Fraction | None]:
        """Enclose e^epsilon, exactly where it is rational; above e^10000 None stands for more."""
        if self.ratio is not None:
            return self.ratio, self.ratio
        if self.epsilon == 0:
            return Fraction(1), Fraction(1)
        large = self.epsilon > _LARGEST
        with precision(_BITS):
            found = ball(_LARGEST if large else self.epsilon).exp()
            return as_fraction(found.lower()), None if large else as_fraction(found.upper())
