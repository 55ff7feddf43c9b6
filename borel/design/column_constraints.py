"""What a guarantee allows the columns of a finite mechanism: a polytope and its vertices, exactly.

A column is P(y|x) over the secrets; divided by P(y) it is r, of mean 1 under the prior p.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from borel.errors import InvalidInput, NotYet
from borel.guarantees import kinds
from borel.guarantees.base import Guarantee

if TYPE_CHECKING:
    from borel.guarantees.rounded_levels import Level

Column = tuple[Fraction, ...]

_UNIT = 2**64
_MARGIN = Fraction(1, 2**42)
"""By how much e^epsilon is undercut where it is no Fraction: more than the engine's rounding."""


def expectation(p: Any, values: Any) -> Fraction:
    """Return the sum of p times values."""
    return sum((x * y for x, y in zip(p, values, strict=True)), Fraction(0))


class BoundedColumns:
    """Columns with low <= r <= high, as PML, PMC, LIP and ALIP ask for."""

    most: Fraction | None = None

    def __init__(self, p: Any, low: Fraction, high: Fraction):
        self.p, self.low, self.high = p, low, high

    def allows(self, column: Any) -> bool:
        """Return whether a column, whatever its mass, is allowed."""
        q = expectation(self.p, column)
        return self.low * q <= min(column) and max(column) <= self.high * q

    def cost(self, v: Any) -> Fraction:
        """Return 0: nothing is asked of the mean over the outcomes."""
        return Fraction(0)

    def vertices(self) -> set[Column]:
        """Return the vertices: all coordinates but one are low or high."""
        found = set()
        for j, mass in enumerate(self.p):
            others = [range(1) if i == j else (self.low, self.high) for i in range(len(self.p))]
            for at in product(*others):
                rest = (1 - expectation(self.p, at)) / mass
                if self.low <= rest <= self.high:
                    found.add((*at[:j], rest, *at[j + 1 :]))
        return found


class ComparableColumns:
    """Columns whose entries are within a factor of each other, as LDP asks for."""

    most: Fraction | None = None

    def __init__(self, p: Any, factor: Fraction):
        self.p, self.factor = p, factor

    def allows(self, column: Any) -> bool:
        """Return whether a column is allowed."""
        return max(column) <= self.factor * min(column)

    def cost(self, v: Any) -> Fraction:
        """Return 0: nothing is asked of the mean over the outcomes."""
        return Fraction(0)

    def vertices(self) -> set[Column]:
        """Return the extreme rays, scaled: every entry is 1 or the factor."""
        rays = product((Fraction(1), self.factor), repeat=len(self.p))
        return {tuple(r / q for r in ray) for ray in rays if (q := expectation(self.p, ray))}


class ColumnsOnAverage:
    """Any columns whose prices are ``most`` or less on average, as maximal leakage asks for.

    Parameters
    ----------
    p : sequence of Fraction
        The prior.
    most : Fraction
        The bound on the mean over the outcomes.
    price : callable
        The price of a column by its largest entry h: non-decreasing, and linear between ``knees``;
        at a knee itself it is the smaller of both sides.
    knees : tuple of Fraction
        Where the price has a bend or a jump.
    """

    def __init__(
        self,
        p: Any,
        most: Fraction,
        price: Callable[[Fraction], Fraction] = lambda h: h,
        knees: tuple[Fraction, ...] = (),
    ):
        self.p, self.most, self.price, self.knees = p, most, price, knees

    @classmethod
    def beyond(cls, p: Any, high: Fraction, delta: Fraction) -> ColumnsOnAverage:
        """Return columns of which those with h > high have mass delta: (epsilon, delta)-PML."""
        return cls(p, delta, lambda h: Fraction(h > high), (high,))

    @classmethod
    def tail(
        cls, p: Any, high: Fraction, delta: Fraction, a: Fraction, b: Fraction
    ) -> ColumnsOnAverage:
        """Return columns with t + E(h - t)^+ / delta <= high for some t of [a, b], and a few more.

        The price is the least of (h - t)^+ + delta (t - a) over these t. No more for a = b.
        """

        def price(h: Fraction) -> Fraction:
            t = min(max(h, a), b)
            return max(h - t, Fraction(0)) + delta * (t - a)

        return cls(p, delta * (high - a), price, (a, b))

    def allows(self, column: Any) -> bool:
        """Return True: no column by itself is ruled out."""
        return True

    def cost(self, v: Any) -> Fraction:
        """Return the price of a column of mass 1."""
        return self.price(max(v))

    def spent(self, column: Any) -> Fraction:
        """Return the price of a column times its mass."""
        q = expectation(self.p, column)
        return q * self.price(max(column) / q) if q else Fraction(0)

    def vertices(self) -> set[Column]:
        """Return the vertices of the pieces on which the price is linear.

        Up to a knee they are those of bounded columns. Where one entry is largest, and at no knee,
        the others are 0 or as large: uniform on a set.
        """
        sets = product((Fraction(0), Fraction(1)), repeat=len(self.p))
        uniform = {tuple(r / q for r in one) for one in sets if (q := expectation(self.p, one))}
        bounded = (BoundedColumns(self.p, Fraction(0), knee).vertices() for knee in {*self.knees})
        return uniform.union(*bounded)


Constraint = BoundedColumns | ComparableColumns | ColumnsOnAverage


def constraint_of(what: str, guarantee: Any, p: Any, *, inner: bool) -> Constraint:
    """Return what a guarantee allows, or with its level off by rounding a little less or more."""
    if not isinstance(guarantee, Guarantee):
        raise InvalidInput(
            what, expected="a guarantee, such as bl.guarantees.PML(1.0)", got=repr(guarantee)
        )
    delta = getattr(guarantee, "delta", 0)
    kind = type(guarantee)
    if kind is kinds.TailLeakage and delta in (0, 1):
        kind, delta = (kinds.AveragePML if delta == 1 else kinds.PML), 0
    known = kinds.PML, kinds.PMC, kinds.LIP, kinds.ALIP, kinds.LDP, kinds.AveragePML
    if kind not in known or (delta and kind is not kinds.PML):
        raise NotYet(
            what,
            missing=f"{guarantee}: no linear programme",
            instead="PML, tail leakage, PMC (delta = 0), LIP, ALIP, LDP or AveragePML; or choose a "
            "parameter: bl.design.smallest.",
        )
    factors = [factor(what, level, inner) for level in guarantee.levels]
    first, last = factors[0], factors[-1]
    if kind is kinds.LDP:
        return ComparableColumns(p, first)
    if kind is kinds.AveragePML:
        return ColumnsOnAverage(p, min(first, Fraction(len(p))))  # it is never larger
    if delta:
        return ColumnsOnAverage.beyond(p, first, Fraction(delta))
    return BoundedColumns(
        p,
        Fraction(0) if kind is kinds.PML else 1 / first,
        1 / min(p) if kind is kinds.PMC else min(last, 1 / min(p)),
    )


def factor(what: str, level: Level, inner: bool) -> Fraction:
    """Return e^level exactly, or a Fraction below (inner) or above it."""
    above = level.up
    if above == math.inf:
        raise InvalidInput(what, expected="a finite level", got=f"{level.nats} nats")
    if level.ratio is not None:
        return above
    if not inner:
        return Fraction(math.ceil(above * _UNIT), _UNIT)
    return max(Fraction(1), Fraction(math.floor(above * (1 - _MARGIN) * _UNIT), _UNIT))
