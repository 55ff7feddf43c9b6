r"""Levels in nats as upper ends: the arithmetic of the calculus, rounded so as never to be small.

The maps of the papers are rational in :math:`e^\varepsilon`, so a level is carried by a Fraction
that is at least :math:`e^\varepsilon` (equal to it where that is rational), and is turned into
nats, upwards, at the end. Every map increases in :math:`e^\varepsilon` and decreases in p_min:
upper ends of levels and a lower end of p_min give upper ends of conclusions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Any

from borel.constants import exactly, real
from borel.errors import InvalidInput
from borel.numerics.intervals.rounding import fraction_up, log_fraction

_BITS = 192
_LONG = 4096
_LARGEST = 5000


@dataclass(frozen=True)
class Level:
    """A number of nats, known as such or as the logarithm of a Fraction.

    Attributes
    ----------
    nats : float or Fraction
        The level, or the float above log ``ratio``.
    ratio : Fraction or None
        e^level exactly, where the level was given so.
    """

    nats: Any
    ratio: Fraction | None = None

    @property
    def up(self) -> Any:
        """A Fraction at or above e^level; inf for a level so large that only that is said."""
        return self.ratio if self.ratio is not None else exp_up(self.nats)

    @property
    def nats_up(self) -> Fraction | float:
        """A number at or above the level: a Fraction, or inf."""
        return math.inf if self.nats == math.inf else Fraction(self.nats)

    def __le__(self, other: Level) -> bool:
        """Return whether it is certain that this level is at most the other."""
        if other.ratio is not None:
            return self.up <= other.ratio
        return self.nats <= other.nats

    def __add__(self, other: Level) -> Level:
        """Add: a product of ratios, or a sum of numbers, rounded up."""
        if self.ratio is None and other.ratio is None:
            total = self.nats_up + other.nats_up
            return Level(total if total == math.inf else fraction_up(Fraction(total)))
        return log_of(times(self.up, other.up))


def times(a: Any, b: Any) -> Any:
    """Multiply two ratios, either of which may be inf."""
    return math.inf if math.inf in (a, b) else a * b


def log_of(ratio: Any) -> Level:
    """Return the level log ratio; ratios below 1 are levels of 0, as leakages are not negative."""
    if ratio == math.inf:
        return Level(math.inf)
    ratio = max(Fraction(ratio), Fraction(1))
    if ratio.denominator.bit_length() > _LONG:
        ratio = _shortened(ratio)
    return Level(log_fraction(ratio)[1], ratio)


def nats_of(value: Any) -> Level:
    """Return the level of a number at or above it, rounded up to a float."""
    return Level(math.inf) if value == math.inf else Level(fraction_up(Fraction(value)))


def larger(first: Level, second: Level) -> Level:
    """Return the larger of two levels, or a level above both."""
    if first <= second:
        return second
    return first if second <= first else log_of(max(first.up, second.up))


@lru_cache(maxsize=512)
def exp_up(nats: Any) -> Any:
    """Return a Fraction at or above e^nats (inf above 5000 nats, where it would be too long).

    Examples
    --------
    >>> import math
    >>> exp_up(0.5) >= Fraction(math.exp(0.5)) - Fraction(1, 2**52)
    True
    """
    if nats > _LARGEST:
        return math.inf
    if nats < 2.0**-64:  # e^x <= 1 + x + x^2 there, closer than any fixed number of bits
        x = Fraction(nats)
        return 1 + x + x * x
    from borel.numerics.balls.arithmetic import as_fraction, ball, precision

    with precision(_BITS):
        return as_fraction(ball(nats).exp().upper())


def _shortened(ratio: Fraction) -> Fraction:
    """Round a Fraction >= 1 up to a short one; the relative change is below 2**-190."""
    unit = Fraction(2) ** (ratio.numerator.bit_length() - ratio.denominator.bit_length() - _BITS)
    return -(-ratio // unit) * unit


def level_of(what: str, epsilon: Any, ratio: Any, units: str = "nats") -> Level:
    """Check a level given in nats or as e^level, and return it.

    Raises
    ------
    InvalidInput
        Both or neither given, a negative or NaN epsilon, a ratio that is no rational >= 1.
    """
    if (epsilon is None) == (ratio is None):
        raise InvalidInput(
            what,
            expected="epsilon >= 0 (nats), or ratio=e^epsilon as a Fraction",
            got="both" if epsilon is not None else repr(epsilon),
        )
    if ratio is not None:
        if not isinstance(ratio, Rational) or isinstance(ratio, bool) or ratio < 1:
            raise InvalidInput(
                what, expected="ratio=e^epsilon, an int or Fraction >= 1", got=repr(ratio)
            )
        exact = exactly(ratio)
        return Level(log_fraction(exact)[1], exact)
    number = real(what, epsilon, f"epsilon >= 0 ({units})")
    if not number >= 0:
        raise InvalidInput(what, expected=f"epsilon >= 0 ({units})", got=repr(epsilon))
    return Level(number)


def shown(value: Any) -> str:
    """Print a number with six digits, rounded up: what is shown is still true.

    Examples
    --------
    >>> shown(0.30000004)
    '0.300001'
    """
    if isinstance(value, Fraction) and value.denominator < 10**6:
        return str(value)
    if math.isinf(value) or value == 0:
        return f"{float(value):g}"
    if float(f"{float(value):.6g}") == value:
        return f"{float(value):.6g}"
    exact = Fraction(value)
    digits = 5 - math.floor(math.log10(float(value))) if float(value) > 0 else 5
    unit = Fraction(10) ** -digits
    return f"{float(-(-exact // unit) * unit):.6g}"
