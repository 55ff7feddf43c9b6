"""Exact constants: ``bl.const("0.1")`` is 1/10, not the float nearest to it."""

from __future__ import annotations

import math
from fractions import Fraction

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
