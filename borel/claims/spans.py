"""Enclosures compared exactly: what a claim's inequality or equality is read from.

A `Span` encloses a number between two Fractions (or infinities). Figures in nats are compared by
their ratios e^figure, where sums of logarithms are products and exact figures are Fractions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from borel.probability.bound import PROVED, Bound, weakest

Number = Fraction | float
"""A Fraction, or an infinity."""

RESOLUTION = Fraction(1, 10**7)
"""How wide, absolutely below 1 and relatively above, an enclosure may be that settles equality."""


@dataclass(frozen=True)
class Span:
    """An enclosure of one number.

    Attributes
    ----------
    lower, upper : Fraction or infinity
        The ends.
    status : str
        The weakest status of the figures that it is made of. Nothing is concluded from an estimate,
        a statistical or an undecided figure.
    """

    lower: Number
    upper: Number
    status: str = "exact"

    @property
    def proved(self) -> bool:
        """Whether it is proved, outright or under the assumptions of its figures."""
        return self.status in PROVED

    @property
    def narrow(self) -> bool:
        """Whether it tells the number to `RESOLUTION`; infinity only if it is proved."""
        if self.lower == self.upper:
            return True
        size = max(abs(self.lower), abs(self.upper), 1)
        return size < math.inf and self.upper - self.lower <= RESOLUTION * size

    def __str__(self) -> str:
        """Show the number, or its ends where they differ in the sixth digit."""
        if self.lower == self.upper and isinstance(self.lower, Fraction):
            if self.lower.denominator < 10**6:
                return str(self.lower)
        low, high = f"{float(self.lower):.6g}", f"{float(self.upper):.6g}"
        return low if low == high else f"[{low}, {high}]"

    def __mul__(self, other: Any) -> Span:
        """Return the product of two numbers that are not negative."""
        return self._with(other, _times)

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Span:
        """Return the sum."""
        return self._with(other, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Span:
        """Return the difference."""
        b = span(other)
        return self + Span(-b.upper, -b.lower, b.status)

    def __rsub__(self, other: Any) -> Span:
        """Return a number less this one."""
        return span(other) - self

    def __truediv__(self, other: Any) -> Span:
        """Return the quotient by a positive number."""
        b = span(other)
        return self * Span(_inverse(b.upper), _inverse(b.lower), b.status)

    def __rtruediv__(self, other: Any) -> Span:
        """Return a number over this one."""
        return span(other) / self

    def _with(self, other: Any, of: Any) -> Span:
        b = span(other)
        status = weakest((self.status, b.status))
        return Span(of(self.lower, b.lower), of(self.upper, b.upper), status)


def span(number: Any) -> Span:
    """Return a number, or a Bound, as a Span: e^figure of one in nats, else the figure itself."""
    if isinstance(number, Span):
        return number
    if isinstance(number, Bound):
        return ratio(number) if number.units == "nats" else value(number)
    exact = number if number == math.inf else Fraction(number)
    return Span(exact, exact)


def ratio(bound: Any) -> Span:
    """Return e to a figure in nats."""
    low, high = bound.ratio
    return Span(_exact(low), _exact(high), bound.status)


def value(bound: Any) -> Span:
    """Return a figure itself."""
    low, high = bound.ends
    return Span(_exact(low), _exact(high), bound.status)


@dataclass(frozen=True)
class Fact:
    """A comparison of two numbers, and whether it holds.

    Attributes
    ----------
    holds : bool or None
        None where the enclosures do not tell.
    small, sign, large : Span, str, Span
        What is compared.
    """

    holds: bool | None
    small: Span
    sign: str
    large: Span

    @property
    def status(self) -> str:
        """The weaker status of the two."""
        return weakest((self.small.status, self.large.status))

    def __str__(self) -> str:
        """Show the comparison, or that it fails."""
        words = f"{self.small} {self.sign} {self.large}"
        return words if self.holds else f"not {words}" if self.holds is False else f"{words}?"


def at_most(small: Any, large: Any) -> Fact:
    """Compare: holds if one number is certainly at most another, fails if it is larger."""
    a, b = span(small), span(large)
    sure = a.proved and b.proved
    holds = True if a.upper <= b.lower else False if a.lower > b.upper else None
    return Fact(holds if sure else None, a, "<=", b)


def below(small: Any, large: Any) -> Fact:
    """Compare: holds if one number is certainly less than another, fails if it is not."""
    other = at_most(large, small)
    holds = None if other.holds is None else not other.holds
    return Fact(holds, other.large, "<", other.small)


def same(one: Any, other: Any) -> Fact:
    """Compare: fails if two numbers differ, and holds if their enclosures, proved, narrow, meet.

    A wide enclosure meets much, and [0, inf] everything: where either is wider than `RESOLUTION`
    nothing is concluded from their meeting.
    """
    a, b = span(one), span(other)
    apart = a.lower > b.upper or b.lower > a.upper
    holds = False if apart else True if a.narrow and b.narrow else None
    return Fact(holds if a.proved and b.proved else None, a, "=", b)


def up_to(small: Any, large: Any) -> Fact:
    """Compare as `at_most`, where equality is possible and the figures are not exact.

    It also holds where two narrow enclosures meet, as in `same`.
    """
    fact = at_most(small, large)
    met = fact.holds is None and same(small, large).holds
    return Fact(met or fact.holds, fact.small, fact.sign, fact.large)


def largest(*numbers: Any) -> Span:
    """Return the largest of some numbers."""
    spans = [span(n) for n in numbers]
    ends = max(s.lower for s in spans), max(s.upper for s in spans)
    return Span(*ends, status=weakest(s.status for s in spans))


def smallest(*numbers: Any) -> Span:
    """Return the smallest of some numbers."""
    spans = [span(n) for n in numbers]
    ends = min(s.lower for s in spans), min(s.upper for s in spans)
    return Span(*ends, status=weakest(s.status for s in spans))


def _exact(end: Any) -> Number:
    return end if isinstance(end, float) and math.isinf(end) else Fraction(end)


def _times(a: Number, b: Number) -> Number:
    return Fraction(0) if a == 0 or b == 0 else a * b


def _inverse(a: Number) -> Number:
    return Fraction(0) if a == math.inf else math.inf if a == 0 else 1 / a


def ball(number: Any) -> Span:
    """Return an Arb ball as a Span: a closed form evaluated with error bounds."""
    low, high = number.lower(), number.upper()
    return Span(_fraction(low), _fraction(high))


def _fraction(exact: Any) -> Fraction:
    mantissa, exponent = (int(v) for v in exact.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent
