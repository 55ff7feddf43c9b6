"""How far a leakage is from its supremum."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from borel.probability.bound import Bound, Verdict, weakest


def compare(target: Bound, found: Bound, tolerance: float) -> Verdict:
    """Return whether a leakage equals its supremum, to a tolerance: a Verdict on their gap."""
    notes = tuple(dict.fromkeys(target.assumptions + found.assumptions))
    about: dict[str, Any] = {"assumptions": notes, "witness": found.witness}
    ratios = [b.exact_ratio for b in (target, found)]
    equal = all(r is not None and r.lower == r.upper for r in ratios) and ratios[0] == ratios[1]
    status = weakest([target.status, found.status])
    if equal or target.lower == found.lower == math.inf:
        low = high = 0.0
    else:
        low, high = _minus(target.lower, found.upper, -1), _minus(target.upper, found.lower, 1)
    if status in ("undecided", "estimate", "statistical"):
        weak = target if target.status == status else found
        reason = weak.reason or "one of the two leakages is not proved"
        gap = Bound.undecided(low, high, reason=reason, **about)
        return Verdict(None, gap, found.witness, reason)
    gap = Bound.of(status, low, high, **about)
    if high < -tolerance:
        raise AssertionError(f"a leakage of {found!r} above its supremum {target!r}")
    return gap <= tolerance


def _minus(a: float, b: float, direction: int) -> float:
    """Subtract, rounding outwards; what is unknown stays so."""
    if math.isinf(a) and a == b:
        return -math.inf if direction < 0 else math.inf
    value = a - b
    if math.isinf(value) or Fraction(value) == Fraction(a) - Fraction(b):
        return value
    return math.nextafter(value, direction * math.inf)
