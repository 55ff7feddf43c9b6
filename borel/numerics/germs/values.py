"""Functions of t, enclosed for all t in (0, t0] at once: t**a w(t) and a log(t) + w(t).

A *slack* s is a number from a box, the same for all t; every enclosure holds for all slacks too.
An exponent is an interval around one real number that may depend on the slacks, never on t: the
order of two exponents counts only where it is certain. Values are finite real numbers.

Ends of intervals are exact Arb numbers: no power of t over- or underflows, and rounding is Arb's.
The rules are in `borel.numerics.germs.arithmetic`. One that is in any doubt raises `UndecidedRule`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flint import arb

from borel.numerics.balls.arithmetic import ends

if TYPE_CHECKING:
    from collections.abc import Callable

Ends = tuple[Any, Any]
Pure = tuple[Ends, Ends]

BITS = 256  # sums and products of a few floats stay exact
FAST = arb(64)  # the power of t that stands for functions which vanish faster than any
_ZERO, _ONE, INF = arb(0), arb(1), arb.pos_inf()
NAUGHT, UNIT, SHARE = (_ZERO, _ZERO), (_ONE, _ONE), (_ZERO, _ONE)


class UndecidedRule(ArithmeticError):
    """A rule does not know: the value is Unknown."""


# -- values ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Power:
    """The function base + t**a w(t) with w(t) in an interval.

    Attributes
    ----------
    base : arb
        An exact number; a > 0 unless it is 0. A constant is a base with w = 0.
    a : tuple of arb
        An interval around the exponent.
    w : tuple of arb
        The interval; infinite ends bound nothing.
    still : bool
        Whether the value is known not to depend on t: a number, or a slack.
    """

    base: Any
    a: Ends
    w: Ends
    still: bool = False

    @property
    def constant(self) -> bool:
        """Whether it is the number ``base``."""
        return self.w == NAUGHT


@dataclass(frozen=True)
class Log:
    """The function a log(t) + w(t), with intervals for a and w."""

    a: Ends
    w: Ends


@dataclass(frozen=True)
class Infinite:
    """A value that is infinite for all t; the sign is 1 or -1."""

    sign: int


@dataclass(frozen=True)
class Truth:
    """A truth value, the same for all t, or None where that is undecided."""

    known: bool | None


@dataclass(frozen=True)
class Unknown:
    """Any number, or none."""


UNKNOWN = Unknown()
Real = Power | Log
Value = Power | Log | Infinite | Truth | Unknown


def ray(base: float, exponent: float | tuple[float, float], low: float, high: float) -> Power:
    """Return base + s t**exponent with s in [low, high].

    Examples
    --------
    >>> weight(ray(0, 1, 0.25, 0.75))
    (0.25, 0.75)
    """
    a = exponent if isinstance(exponent, tuple) else (exponent, exponent)
    numbers = [arb(float(v)) for v in (base, *a, low, high)]
    if not all(v.is_finite() for v in numbers) or not (low <= high and a[0] <= a[1]):
        raise ValueError(f"a ray needs finite, ordered ends, not {(base, a, low, high)}")
    if base != 0 and not a[0] > 0:
        raise ValueError(f"a ray that starts at {base} needs an exponent > 0, not {a}")
    if low == high == 0:
        return constant(numbers[0])
    return Power(numbers[0], (numbers[1], numbers[2]), (numbers[3], numbers[4]))


def constant(number: Any) -> Power:
    """Return an exact number."""
    return Power(arb(number), UNIT, NAUGHT, True)


def slack(low: float, high: float) -> Power:
    """Return a number s in [low, high]: one that does not depend on t."""
    return box((arb(float(low)), arb(float(high))), still=True)


def box(w: Ends, *, still: bool = False) -> Power:
    """Return a function with values in an interval; a number if it has only one."""
    return constant(w[0]) if w[0] == w[1] else Power(_ZERO, NAUGHT, w, still)


ZERO, ONE = constant(0), constant(1)


def floats(interval: Ends) -> tuple[float, float]:
    """Round ends outwards to floats."""
    low, high = interval
    return (
        ends(low)[0] if low.is_finite() else -math.inf,
        ends(high)[1] if high.is_finite() else math.inf,
    )


def exponent(value: Real) -> tuple[float, float]:
    """Return floats around the exponent (of a Log: around the factor of log t)."""
    return floats(value.a)


def weight(value: Real) -> tuple[float, float]:
    """Return floats around w."""
    return floats(value.w)


# -- intervals ------------------------------------------------------------------------------------


def outer(low: Any, high: Any) -> Ends:
    """Round two balls outwards to ends; NaN bounds nothing."""
    low, high = low.lower(), high.upper()
    return (low if low == low else -INF), (high if high == high else INF)


def plus(p: Ends, q: Ends) -> Ends:
    """Enclose a sum."""
    return outer(p[0] + q[0], p[1] + q[1])


def minus(p: Ends) -> Ends:
    """Negate, exactly."""
    return -p[1], -p[0]


def times(p: Ends, q: Ends) -> Ends:
    """Enclose a product of real numbers: an infinite end times 0 is 0."""
    corners = [_ZERO if a == 0 or b == 0 else a * b for a in p for b in q]
    rounded = [outer(c, c) for c in corners]
    return min(r[0] for r in rounded), max(r[1] for r in rounded)


def over(q: Ends) -> Ends:
    """Enclose 1 / q for an interval without 0."""
    if not (q[0] > 0 or q[1] < 0):
        raise UndecidedRule("a quotient by 0")
    low, high = (_ZERO if not end.is_finite() else 1 / end for end in (q[1], q[0]))
    return outer(low, high)


def absolute(p: Ends) -> Ends:
    """Enclose the absolute value."""
    return p if p[0] >= 0 else minus(p) if p[1] <= 0 else (_ZERO, max(-p[0], p[1]))


def hull(p: Ends, q: Ends) -> Ends:
    """Return the smallest interval around two."""
    return min(p[0], q[0]), max(p[1], q[1])


def rising(f: Callable, p: Ends, left: Any = -INF, right: Any = INF) -> Ends:
    """Enclose a non-decreasing function with limits at -inf and inf."""
    low = left if p[0] == -INF else f(p[0])
    high = right if p[1] == INF else f(p[1])
    low, high = outer(low, high)
    return max(low, left), min(high, right)


def exponential(p: Ends) -> Ends:
    """Enclose exp."""
    return rising(arb.exp, p, _ZERO)


def logarithm(p: Ends) -> Ends:
    """Enclose log on (0, inf]."""
    if not p[0] > 0:
        raise UndecidedRule("the logarithm of a number that may not be positive")
    return rising(arb.log, p)


def chord(f: Callable, x: Any, limit: Any) -> Any:
    """Return the slope f(x) / x of a chord from the origin: 1 at 0, its limit at an infinite x."""
    return _ONE if x == 0 else f(x) / x if x.is_finite() else limit
