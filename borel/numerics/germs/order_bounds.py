"""Orders of magnitude along a ray: f >= e^w t^A and f <= e^w t^A for all t in (0, t0].

They are read off power-scaled enclosures (`interpreter`) of a density, or of its logarithm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from borel.numerics.germs.interpreter import Infinite, Log, Power, exponent, range_of, weight
from borel.numerics.germs.values import ZERO

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True)
class Ray:
    """A function of t, as an input of the power interpreter, in words and in data.

    One with a scale runs to infinity with t = scale^-y (see `exponential_scale`).
    """

    value: Power
    words: str
    data: dict = field(default_factory=dict)
    diagonal: bool = False
    scale: Fraction | str | float = 0.0


class Orders(NamedTuple):
    """Bounds f >= e^w t^A and f <= e^w t^A for all t, as pairs (A, w)."""

    least: tuple[float, float] | None
    most: tuple[float, float] | None


NOTHING = math.inf, -math.inf
"""The bound from above of a density that is 0."""


def better(
    first: tuple[float, float] | None, second: tuple[float, float] | None, sign: int
) -> tuple[float, float] | None:
    """Return the bound with the better exponent: the smaller for one from below."""
    if first is None or second is None:
        return second if first is None else first
    return first if sign * first[0] >= sign * second[0] else second


def of_log(value: Any, t0: float) -> Orders:
    """Read bounds on f off an enclosure of its logarithm."""
    if value == Infinite(-1):
        return Orders(None, NOTHING)
    return Orders(_at_least(value, t0), _at_most(value, t0))


def of_linear(value: Any, t0: float) -> Orders:
    """Read bounds off an enclosure of f itself."""
    if not isinstance(value, Power):
        return Orders(None, None)
    if value == ZERO:
        return Orders(None, NOTHING)
    if value.base == 0:
        a, (low, high) = exponent(value), weight(value)
    else:
        a, (low, high) = (0.0, 0.0), range_of(value, t0)
    least = (a[1], log_to(low, -1)) if low > 0 and math.isfinite(a[1]) else None
    most = (a[0], log_to(high, 1)) if 0 < high < math.inf and math.isfinite(a[0]) else None
    return Orders(least, most)


def log_to(value: float, direction: int) -> float:
    """Round a logarithm outwards: the library's is within an ulp or two."""
    found = math.log(value)
    return found + direction * 1e-15 * (1.0 + abs(found))


def _at_least(value: Any, t0: float) -> tuple[float, float] | None:
    """Read f >= e^w t^A for all t off an enclosure of log f: (A, w)."""
    if isinstance(value, Log):
        a, w = exponent(value)[1], weight(value)[0]
        return (a, w) if math.isfinite(a) and math.isfinite(w) else None
    if isinstance(value, Power):
        a, w = exponent(value), weight(value)
        if value.base == 0 and a[1] < 0 and w[0] > 0:  # log f grows as a power: f as e^power
            return _steep(a[1], w[0], t0)
        low = range_of(value, t0)[0]
        return (0.0, low) if math.isfinite(low) else None
    return None


def _at_most(value: Any, t0: float) -> tuple[float, float] | None:
    """Read f <= e^w t^A for all t off an enclosure of log f: (A, w)."""
    if isinstance(value, Log):
        a, w = exponent(value)[0], weight(value)[1]
        return (a, w) if math.isfinite(a) and math.isfinite(w) else None
    if isinstance(value, Power):
        a, w = exponent(value), weight(value)
        if value.base == 0 and a[1] < 0 and w[1] < 0:
            found = _steep(a[1], -w[1], t0)
            return None if found is None else (-found[0], -found[1])
        high = range_of(value, t0)[1]
        return (0.0, high) if math.isfinite(high) else None
    return None


def _steep(a: float, w: float, t0: float) -> tuple[float, float] | None:
    """Read ``w t^a >= -A log t + u``, a < 0 < w, with A = -4: e^(w t^a) >= e^u t^-4.

    With v = -log t the gap w e^(-a v) - 4 v is convex, and least where w (-a) e^(-a v) = 4.
    """
    b = -a
    best = max(math.log(4.0 / (w * b)) / b, -math.log(t0))
    least = w * math.exp(min(b * best, 700.0)) - 4.0 * best
    return -4.0, least - 1e-9 * (1.0 + abs(least))
