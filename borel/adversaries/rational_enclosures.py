"""Arb balls as rational enclosures, with as many bits as a relative width asks for."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from borel.numerics.balls.arithmetic import as_fraction, precision

BITS = 100
_MOST = 2**15


def rational_ends(formula: Callable[[], Any], *, bits: int = 192) -> tuple[Fraction, Fraction]:
    """Enclose a non-negative formula on balls, to a relative width of 2**-100 where it can be had.

    Cancellation is met with more bits, up to 2**15; the ends are true whatever their width.

    Examples
    --------
    >>> from borel.numerics.balls.arithmetic import ball
    >>> low, high = rational_ends(lambda: ball(2).sqrt())
    >>> low**2 <= 2 <= high**2
    True
    """
    while True:
        with precision(bits):
            value = formula()
            low, high = as_fraction(value.lower()), as_fraction(value.upper())
        low = max(low, Fraction(0))
        if (high - low) * 2**BITS <= low or bits >= _MOST:
            return low, high
        bits *= 4
