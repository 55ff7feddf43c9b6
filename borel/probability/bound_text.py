"""Ends of a Bound as text, rounded outwards."""

from __future__ import annotations

import math
import re
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from borel.errors import InvalidInput

_SPEC = re.compile(r"(?:\.(\d+))?([efg]?)")
_DIGITS = 10


def enclosure(lower: float, upper: float, spec: str = "", *, estimate: bool = False) -> str:
    """Return ends as text: one number where they agree, else ``[lower, upper]``.

    An estimate is ``~value +- error``. Without a format they agree if their first ten digits do;
    with one, ``".3f"``, they are rounded outwards first.

    Examples
    --------
    >>> enclosure(0.1278838739, 0.1278838745), enclosure(0.25, 0.25), enclosure(0.25, 0.25, ".1f")
    ('[0.1278838739, 0.1278838745]', '0.25', '[0.2, 0.3]')
    """
    if estimate:
        if math.isinf(lower):
            return f"~{lower}"
        middle, spec = lower + (upper - lower) / 2, spec or f".{_DIGITS}g"
        return f"~{middle:{spec}} +- {(upper - lower) / 2:.1g}"
    if not spec and (number := f"{lower:.{_DIGITS}g}") == f"{upper:.{_DIGITS}g}":
        return number
    ends = rounded(lower, spec, ROUND_FLOOR), rounded(upper, spec, ROUND_CEILING)
    return ends[0] if ends[0] == ends[1] else f"[{ends[0]}, {ends[1]}]"


def rounded(value: float, spec: str, rounding: str) -> str:
    """Return a number in a format ``".3f"``, ``".3e"`` or ``".3g"``, rounded up or down.

    Examples
    --------
    >>> rounded(0.12341, ".3f", ROUND_CEILING), rounded(0.12349, ".3g", ROUND_FLOOR)
    ('0.124', '0.123')
    """
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise InvalidInput(
            "format(bound, ...)", expected='a format like ".3f", ".3e" or ".3g"', got=repr(spec)
        )
    if math.isinf(value):
        return str(value)
    kind = match[2] or "g"
    digits = int(match[1]) if match[1] else 6 if spec else _DIGITS
    exact = Decimal(value)
    if kind == "f":
        wide = Context(prec=2000, rounding=rounding)
        shown = exact.quantize(Decimal(1).scaleb(-digits), context=wide)
    else:
        digits = digits + 1 if kind == "e" else max(digits, 1)
        near = Context(prec=digits, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN)
        shown = near.plus(exact)
    if shown == 0:
        shown = abs(shown)
    if kind == "f":
        return f"{shown:f}"
    if kind == "e":
        return _short_exponent(f"{shown:.{digits - 1}e}")
    plain = shown == 0 or -5 < shown.adjusted() < digits
    return f"{shown.normalize():f}" if plain else _short_exponent(f"{shown.normalize():e}")


def _short_exponent(text: str) -> str:
    """Write an exponent with two digits, as floats have it."""
    number, exponent = text.split("e")
    return f"{number}e{exponent[0]}{exponent[1:].zfill(2)}"
