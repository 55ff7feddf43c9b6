"""Strict reading of certificates: exactly the expected keys and types, or `Refused`.

Numbers are strings. A float is written in hexadecimal as Python's ``float.hex`` does, a rational
number as ``"p/q"`` in lowest terms, an infinity as ``"inf"`` or ``"-inf"``; JSON's own numbers are
for counts. So no number is rounded on its way, none is NaN, and each is written in one way only.
"""

from __future__ import annotations

import json
import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

_RATIO = re.compile(r"-?(0|[1-9][0-9]*)/[1-9][0-9]*")
LONGEST = 4096
"""Characters of one number."""


class Refused(Exception):
    """A certificate is not verified.

    Parameters
    ----------
    where : str
        Which part of the certificate.
    why : str
        What is wrong with it, or was not proved.
    """

    def __init__(self, where: str, why: str):
        super().__init__(where, why)
        self.where, self.why = where, why

    def __str__(self) -> str:
        """Say where and why."""
        return f"refused: {self.where}: {self.why}"


class Verified(NamedTuple):
    """What was verified, and what is taken on trust.

    Attributes
    ----------
    figure : str
        The figure, as the certificate names it.
    words : str
        What was verified, in a sentence.
    trust : tuple of str
        What was not verified and is needed.
    """

    figure: str
    words: str
    trust: tuple[str, ...]


def parse(source: str) -> Any:
    """Return JSON as data; duplicate keys, NaN, infinities and floats in decimals are refused."""

    def unique(pairs: list) -> dict:
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            raise Refused("the certificate", f"a key occurs twice among {keys}")
        return dict(pairs)

    def no_number(value: str) -> Any:
        raise Refused("the certificate", f"the number {value} is not written as a string")

    try:
        return json.loads(
            source, object_pairs_hook=unique, parse_constant=no_number, parse_float=no_number
        )
    except (ValueError, RecursionError) as error:
        raise Refused("the certificate", f"it is no JSON: {error}") from None


def require(held: bool, where: str, why: str) -> None:
    """Refuse what does not hold."""
    if held is not True:
        raise Refused(where, why)


def record(data: Any, where: str, keys: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict:
    """Return a record that has exactly these keys."""
    require(type(data) is dict, where, f"expected a record, got {_named(data)}")
    missing = [key for key in keys if key not in data]
    others = [key for key in data if key not in keys and key not in optional]
    known = not missing and not others
    require(known, where, f"keys {missing} are missing, keys {others[:5]} are not known")
    return data


def items(data: Any, where: str, least: int = 0, most: int = 10**7) -> list:
    """Return a list of so many items."""
    require(type(data) is list, where, f"expected a list, got {_named(data)}")
    within = least <= len(data) <= most
    require(within, where, f"expected {least} to {most} items, got {len(data)}")
    return data


def text(data: Any, where: str, among: tuple[str, ...] | None = None) -> str:
    """Return a string, perhaps one of some."""
    require(type(data) is str, where, f"expected a string, got {_named(data)}")
    require(among is None or data in among, where, f"expected one of {among}, got {data[:40]!r}")
    return data


def flag(data: Any, where: str) -> bool:
    """Return a truth value."""
    require(type(data) is bool, where, f"expected true or false, got {_named(data)}")
    return data


def whole(data: Any, where: str, least: int, most: int) -> int:
    """Return an integer in a range; a truth value is none."""
    within = type(data) is int and least <= data <= most
    require(within, where, f"expected an integer from {least} to {most}, got {_named(data)}")
    return data


def end(data: Any, where: str) -> float:
    """Return a float in hexadecimal, or an infinity."""
    short = type(data) is str and len(data) <= LONGEST
    require(short, where, f"expected a number as a string, got {_named(data)}")
    try:
        value = float.fromhex(data)
    except (ValueError, OverflowError):
        raise Refused(where, f"expected a float in hexadecimal, got {data[:40]!r}") from None
    require(not math.isnan(value), where, f"expected a number, got {data[:40]!r}")
    written = value.hex() == data  # neither decimals without 0x, nor spaces, nor other spellings
    require(written, where, f"{data[:40]!r} is not how a float is written, {value.hex()!r}")
    return value


def number(data: Any, where: str) -> float:
    """Return a finite float, written in hexadecimal."""
    value = end(data, where)
    require(math.isfinite(value), where, f"expected a finite number, got {data[:40]!r}")
    return value


def fraction(data: Any, where: str) -> Fraction:
    """Return a rational number ``"p/q"`` in lowest terms."""
    ratio = type(data) is str and len(data) <= LONGEST and _RATIO.fullmatch(data) is not None
    require(ratio, where, f'expected a fraction "p/q", got {_named(data)}')
    value = Fraction(data)
    lowest = f"{value.numerator}/{value.denominator}" == data
    require(lowest, where, f"the fraction {data[:40]!r} is not in lowest terms")
    return value


def extended(data: Any, where: str) -> float | Fraction:
    """Return a float in hexadecimal, an infinity, or a rational number ``"p/q"``."""
    return fraction(data, where) if type(data) is str and "/" in data else end(data, where)


def rational(data: Any, where: str) -> Fraction:
    """Return a finite number, a float in hexadecimal or ``"p/q"``, as a Fraction."""
    value = extended(data, where)
    finite = isinstance(value, Fraction) or math.isfinite(value)
    require(finite, where, f"expected a finite number, got {data!r}")
    return Fraction(value)


def shown(lower: float | Fraction, upper: float | Fraction) -> tuple[str, str]:
    """Return both ends of a claim in decimals, rounded outward: no more is said than claimed."""
    return _decimals(lower, ROUND_FLOOR), _decimals(upper, ROUND_CEILING)


def _decimals(value: float | Fraction, rounding: str) -> str:
    if isinstance(value, float) and math.isinf(value):
        return str(value)
    exact, context = Fraction(value), Context(prec=12, rounding=rounding)
    found = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    return f"{found.normalize():f}" if -7 <= found.adjusted() <= 12 else f"{found.normalize()}"


def _named(data: Any) -> str:
    shown = repr(data) if isinstance(data, (str, int, float, type(None))) else ""
    return f"{type(data).__name__} {shown[:40]}".strip()
