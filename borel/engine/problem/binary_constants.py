"""Which numbers in densities were rounded to binary64 when they were written as decimals."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from borel.probability.density import Density

_WRITTEN = 12
"""Digits: hardly anybody writes more, and hardly a number that was computed has so few."""
_SHOWN = 6


def rounded(*densities: Density | None) -> tuple[str, ...]:
    """Say that numbers in the graphs of densities were rounded; name some that were written.

    That they mean their binary64 values is said of all of them, also where none is named.
    """
    found: set[float] = set()
    for density in densities:
        if density is not None and density.graph is not None:
            found |= {c for c in density.graph.constants if math.isfinite(c) and not _short(c)}
    if not found:
        return ()
    written = [repr(float(c)) for c in sorted(found) if _digits(c) <= _WRITTEN]
    shown = f" ({', '.join(written[:_SHOWN])} among them)" if written else ""
    return (f"numbers mean their binary64 values{shown}",)


def _short(value: float) -> bool:
    """Return whether a float is a short dyadic number: it means what was written."""
    numerator, denominator = float(value).as_integer_ratio()
    return numerator.bit_length() <= 40 and denominator.bit_length() <= 24


def _digits(value: float) -> int:
    """Return how many digits the shortest decimal of a float has."""
    return len(Decimal(repr(float(value))).normalize().as_tuple().digits)
