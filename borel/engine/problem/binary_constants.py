"""Which numbers in densities were rounded to binary64 when they were written as decimals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from borel.probability.density import Density


def rounded(*densities: Density | None) -> tuple[str, ...]:
    """Say which numbers in the graphs of densities were rounded when they were written."""
    found: set[float] = set()
    for density in densities:
        if density is not None and density.graph is not None:
            found |= {c for c in density.graph.constants if math.isfinite(c) and not _short(c)}
    if not found:
        return ()
    shown = ", ".join(f"{c!r}" for c in sorted(found)[:6]) + (", ..." if len(found) > 6 else "")
    return (f"numbers mean their binary64 values: {shown}",)


def _short(value: float) -> bool:
    """Return whether a float is a short dyadic number: it means what was written."""
    numerator, denominator = float(value).as_integer_ratio()
    return numerator.bit_length() <= 40 and denominator.bit_length() <= 24
