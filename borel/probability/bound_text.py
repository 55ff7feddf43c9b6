"""Ends of a Bound as text, rounded outwards."""

from __future__ import annotations

import math
import re
from decimal import Context, Decimal
from fractions import Fraction

from borel.errors import InvalidInput

_SPEC = re.compile(r"(?:\.(\d{1,3}))?([efg]?)")
_DIGITS = 10
_ROUNDING = Fraction(1, 10**12)
_WHOLE = {"up": math.ceil, "down": math.floor, "nearest": round}


def enclosure(lower: float, upper: float, spec: str = "", *, estimate: bool = False) -> str:
    """Return ends as text: one number where they agree, else ``[lower, upper]``.

    An estimate is ``~value +- error``. Without a format they agree if their first ten digits do;
    with one, ``".3f"``, they are rounded outwards first.

    Examples
    --------
    >>> enclosure(0.1278838739, 0.1278838745), enclosure(0.25, 0.25), enclosure(0.25, 0.25, ".1f")
    ('[0.1278838739, 0.1278838745]', '0.25', '[0.2, 0.3]')
    """
    _format(spec)
    if estimate:
        if math.isinf(lower):
            return f"~{lower}"
        middle, spec = lower + (upper - lower) / 2, spec or f".{_DIGITS}g"
        return f"~{middle:{spec}} +- {(upper - lower) / 2:.1g}"
    if not spec and (number := agreed(lower, upper)):
        return number
    ends = formatted(lower, spec, "down"), formatted(upper, spec, "up")
    return ends[0] if ends[0] == ends[1] else f"[{ends[0]}, {ends[1]}]"


def agreed(lower: float | Fraction | Decimal, upper: float | Fraction | Decimal) -> str:
    """Return the number that stands for two ends: their first ten digits; empty if they differ.

    Examples
    --------
    >>> agreed(1.9999999999999991, 2.0000000000000009), agreed(0.25, 0.2500001)
    ('2', '')
    """
    first, last = (f"{float(end):.{_DIGITS}g}" for end in (lower, upper))
    return first if first == last else ""


def settled(lower: float | Fraction | Decimal, upper: float | Fraction | Decimal) -> str:
    """Return the number of ten digits that an enclosure holds, if it is as wide as rounding only.

    Examples
    --------
    >>> settled(1.9999999999999991, 2.0000000000000009), settled(0.6931471805599453, 0.69314718056)
    ('2', '')
    """
    number = agreed(lower, upper) if math.isfinite(upper) else ""
    if not number:
        return ""
    low, high = Fraction(lower), Fraction(upper)
    held = low <= Fraction(number) <= high and high - low <= abs(high) * _ROUNDING
    return number if held else ""


def formatted(value: float, spec: str, rounding: str) -> str:
    """Return a number in a format ``".3f"``, ``".3e"`` or ``".3g"``, rounded up or down.

    Examples
    --------
    >>> formatted(0.12341, ".3f", "up"), formatted(0.12349, ".3g", "down")
    ('0.124', '0.123')
    """
    match = _format(spec)
    if math.isinf(value):
        return str(value)
    kind = match[2] or "g"
    digits = int(match[1]) if match[1] else 6 if spec else _DIGITS
    if kind == "f":
        return f"{rounded(value, rounding, place=-digits):.{digits}f}"
    digits = digits + 1 if kind == "e" else max(digits, 1)
    shown = rounded(value, rounding, digits=digits)
    if kind == "e":
        return _short_exponent(f"{shown:.{digits - 1}e}")
    plain = shown == 0 or -5 < shown.adjusted() < digits
    return f"{shown.normalize():f}" if plain else _short_exponent(f"{shown.normalize():e}")


def _format(spec: str) -> re.Match[str]:
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise InvalidInput(
            "format(bound, ...)", expected='a format like ".3f", ".3e" or ".3g"', got=repr(spec)
        )
    return match


def rounded(
    value: float | Fraction | Decimal,
    rounding: str,
    *,
    digits: int = 1,
    place: int | None = None,
) -> Decimal:
    """Return a finite number rounded ``up``, ``down`` or to ``nearest``, in exact arithmetic.

    Parameters
    ----------
    value : float, Fraction or Decimal
        The number.
    rounding : {"up", "down", "nearest"}
        Where to.
    digits : int
        How many significant digits to keep.
    place : int, optional
        The power of ten of the last digit, in place of a number of digits.

    Examples
    --------
    >>> rounded(0.25, "up", place=-1), rounded(1.5000000000000002, "up", digits=4)
    (Decimal('0.3'), Decimal('1.501'))
    """
    exact = Fraction(value)
    if place is None:
        place = leading(exact) - digits + 1
    scaled = exact / Fraction(10) ** place
    return Decimal(f"{_WHOLE[rounding](scaled)}e{place}")


def confidence_text(confidence: float) -> str:
    """Return a confidence as text, to six digits and never rounded up.

    Examples
    --------
    >>> confidence_text(0.95), confidence_text(0.99999999)
    ('0.95', '0.999999')
    """
    # the shortest decimal of a float is what was stated: 0.95, not 0.9499999999999999556
    return f"{rounded(Decimal(repr(float(confidence))), 'down', digits=6).normalize():f}"


def leading(value: Fraction) -> int:
    """Return the power of ten of the first digit of a number; 0 for 0."""
    return Context(prec=60).divide(Decimal(value.numerator), Decimal(value.denominator)).adjusted()


def _short_exponent(text: str) -> str:
    """Write an exponent with two digits, as floats have it."""
    number, exponent = text.split("e")
    return f"{number}e{exponent[0]}{exponent[1:].zfill(2)}"
