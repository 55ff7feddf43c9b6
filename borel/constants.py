"""Exact numbers: constants written as text, and numbers that a user gives, none of them rounded.

``bl.const("0.1")`` is 1/10, not the float nearest to it; a threshold that is rounded is another
one.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

from borel.errors import InvalidInput

pi = math.pi
"""The float nearest to pi; a symbolic pi belongs to the certified engine, not yet here."""


def const(text: str | int | Fraction) -> Fraction:
    """Return the exact value of a decimal or a quotient.

    Parameters
    ----------
    text : str
        ``"0.1"``, ``"1/3"``, ``"2.5e-3"``.

    Raises
    ------
    InvalidInput
        A float (its decimals are gone already) or something that is not a number.

    Notes
    -----
    In matrices, pmfs and levels it stays exact. In a density that is traced it is the nearest
    float: the certified engine, which keeps it, is not in this version.

    Examples
    --------
    >>> const("0.1")
    Fraction(1, 10)
    """
    if isinstance(text, float):
        raise InvalidInput("bl.const", expected='a string such as "0.1"', got=repr(text))
    try:
        return Fraction(text)
    except (ValueError, TypeError, ZeroDivisionError):
        raise InvalidInput("bl.const", expected='a string such as "0.1"', got=repr(text)) from None


def exactly(value: Any) -> Fraction:
    """Return a finite number, of NumPy too, as the Fraction that it is.

    Examples
    --------
    >>> exactly(0.25), exactly(Decimal("0.1"))
    (Fraction(1, 4), Fraction(1, 10))
    """
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return Fraction(*value.as_integer_ratio())


def real(what: str, value: Any, expected: str = "a number") -> Any:
    """Return a real number as an int, a float or a Fraction that equals it.

    NumPy's numbers (float16, float32, longdouble, integers) and Decimals do not compare or add up
    exactly with floats and Fractions: everything behind this function sees none of them.

    Raises
    ------
    InvalidInput
        NaN, or something that is no real number or does not say which one exactly.

    Examples
    --------
    >>> real("a threshold", Decimal("0.5")), real("a threshold", Decimal("0.1"))
    (0.5, Fraction(1, 10))
    """
    try:
        if isinstance(value, float):
            number: Any = float(value)  # np.float64 is one, too
        elif isinstance(value, int | Fraction):
            number = value
        elif isinstance(value, Rational):
            number = exactly(value)
            number = number.numerator if number.denominator == 1 else number
        elif isinstance(value, Real | Decimal):
            number = _as_float_or_fraction(value)
        else:
            raise TypeError
    except (AttributeError, TypeError, ValueError):
        number = math.nan
    if number != number:
        raise InvalidInput(what, expected=expected, got=repr(value))
    return number


def inside(what: str, name: str, value: Any) -> float:
    """Return a level strictly between 0 and 1 as a float."""
    expected = f"0 < {name} < 1"
    level = float(real(what, value, expected))
    if not 0 < level < 1:
        mend = f"{value} % is {name}={level / 100:g}." if 1 < level < 100 else ""
        raise InvalidInput(what, expected=expected, got=repr(value), mend=mend)
    return level


def _as_float_or_fraction(value: Any) -> float | Fraction:
    try:
        number = exactly(value)
    except OverflowError:  # what an infinity says
        return math.copysign(math.inf, value)
    try:
        return float(number) if Fraction(float(number)) == number else number
    except OverflowError:  # beyond float64
        return number
