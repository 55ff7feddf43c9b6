"""Arb balls (python-flint): closed forms evaluated to as many bits as asked, rounded outwards."""

from __future__ import annotations

import math
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RELATIVE_BITS = 100
"""The relative width of `rational_ends` is 2**-RELATIVE_BITS, where it can be had."""
_MOST_BITS = 2**15


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set Arb's working precision for a block; it is a global, so it is always put back."""
    import flint

    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


def ball(value: Any) -> Any:
    """Return a number as an Arb ball: ints, floats and Fractions exactly."""
    import flint

    if isinstance(value, Fraction):
        return flint.arb(flint.fmpq(value.numerator, value.denominator))
    return flint.arb(value.item() if isinstance(value, np.generic) else value)


def as_fraction(value: Any) -> Fraction:
    """Return an exact Arb number as the Fraction it is."""
    mantissa, exponent = (int(part) for part in value.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def ends(value: Any) -> tuple[float, float]:
    """Return floats below and above an Arb ball."""
    if not value.is_finite():
        return -math.inf, math.inf
    arb, low, high = type(value), value.lower(), value.upper()
    lower, upper = float(low), float(high)
    # float() of a ball rounds its midpoint: step until the comparison is certain
    while not arb(lower) <= low:
        lower = math.nextafter(lower, -math.inf)
    while not arb(upper) >= high:
        upper = math.nextafter(upper, math.inf)
    return lower, upper


def enclose(formula: Callable[[], Any], *, bits: int = 128) -> tuple[float, float]:
    """Evaluate a formula on balls, with more bits until the two floats are neighbours.

    A value that is a float itself lies between its neighbours, however many bits there are; and
    a formula of intervals does not become narrower.

    Examples
    --------
    >>> import math
    >>> low, high = enclose(lambda: ball(2).log())
    >>> low <= math.log(2) <= high
    True
    """
    lower, upper = -math.inf, math.inf
    for _ in range(4):
        settings.work("balls", 8)
        with precision(bits):
            low, high = ends(formula())
        before = lower, upper
        lower, upper = max(lower, low), min(upper, high)
        # more bits change nothing: a float, or what is enclosed is an interval
        settled = (lower, upper) == before and math.isfinite(upper - lower)
        if settled or upper <= math.nextafter(lower, math.inf):
            break
        bits *= 2
    return lower, upper


def log_ends(low: float, high: float) -> tuple[float, float]:
    """Return floats below and above the logarithms of an enclosed number >= 0.

    Examples
    --------
    >>> log_ends(0.0, 1.0)[0], log_ends(1.0, math.inf)[1]
    (-inf, inf)
    """
    limits = {0.0: -math.inf, math.inf: math.inf}
    ends = [
        limits[end] if end in limits else enclose(lambda end=end: ball(end).log())[k]
        for k, end in enumerate((low, high))
    ]
    return ends[0], ends[1]


def rational_ends(formula: Callable[[], Any], *, bits: int = 192) -> tuple[Fraction, Fraction]:
    """Enclose a non-negative formula on balls in Fractions, to a relative width of 2**-100.

    Cancellation is met with more bits, up to 2**15; the ends are true whatever their width.

    Examples
    --------
    >>> low, high = rational_ends(lambda: ball(2).sqrt())
    >>> low**2 <= 2 <= high**2
    True
    """
    while True:
        with precision(bits):
            value = formula()
            low, high = as_fraction(value.lower()), as_fraction(value.upper())
        low = max(low, Fraction(0))
        if (high - low) * 2**RELATIVE_BITS <= low or bits >= _MOST_BITS:
            return low, high
        bits *= 4
