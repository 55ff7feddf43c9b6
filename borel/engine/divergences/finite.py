"""Divergences of two finite measures, exact for Fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.problem.discretised_pair import (
    BITS,
    DiscretisedPair,
    divergence,
    fuzzy_list,
    multiple,
    pair,
    renyi,
    spread,
)
from borel.errors import InvalidInput, NotYet
from borel.numerics.balls.arithmetic import precision
from borel.numerics.intervals import rounding
from borel.numerics.intervals.rounding import log_fraction
from borel.probability import generators
from borel.probability.alphabets import Finite, how_to_label, miscounted
from borel.probability.arrays import as_floats, carried
from borel.probability.bound import Bound, Ratio
from borel.probability.measure import Measure

if TYPE_CHECKING:
    from borel.probability.generators import Generator

FLOATS = "floats mean the normalised laws within their rounding"


class FiniteLaws:
    """Two finite measures on the union of their labels."""

    def __init__(self, p: Measure, q: Measure):
        if miscounted(p.on, q.on) or miscounted(q.on, p.on):
            raise InvalidInput(
                "two measures",
                expected="the same labels",
                got=f"{p.on!r} and {q.on!r}",
                mend=how_to_label(p.on, q.on),
            )
        labels = list(dict.fromkeys([*p.on.labels, *q.on.labels]))
        on = Finite(labels)
        self.values = [m.at(on) for m in (p, q)]
        self.exact = p.rational and q.rational
        self.reason = carried(p, q)
        self.errors = [np.zeros(len(labels))] * 2
        if not self.exact:
            self.values = [as_floats(v, "two measures") for v in self.values]
            self.errors = [
                rounding.rounding_of(v, max(m.rounding, rounding.U))
                for v, m in zip(self.values, (p, q), strict=True)
            ]

    @property
    def cells(self) -> DiscretisedPair:
        """The pairs of probabilities, equal ratios together."""
        if self.exact:
            p, q = ([Fraction(v) for v in law] for law in self.values)
            return pair(p, q, exact=True)
        with precision(BITS):
            p, q = (fuzzy_list(v, e) for v, e in zip(self.values, self.errors, strict=True))
            return pair(p, q, exact=False)

    def ends(self) -> tuple[tuple[list, list], tuple[list, list]]:
        """Return lower and upper ends of both laws."""
        if self.exact:
            p, q = ([Fraction(v) for v in law] for law in self.values)
            return (p, p), (q, q)
        p, q = (spread(v, e) for v, e in zip(self.values, self.errors, strict=True))
        return p, q

    def bound(self, low: float, high: float, **about: Any) -> Bound:
        """Make the Bound of a figure of the two laws."""
        notes = () if self.exact else (FLOATS,)
        if self.reason:
            about.pop("exact_ratio", None)
            if math.isinf(high):
                return Bound.undecided(reason=self.reason, assumptions=notes)
            return Bound.estimate(
                (low + high) / 2, (high - low) / 2, reason=self.reason, assumptions=notes, **about
            )
        if math.isinf(high) and not math.isinf(low):
            about.pop("exact_ratio", None)
            why = "float64 does not resolve the smallest probabilities"
            return Bound.undecided(low, high, reason=why, assumptions=notes, **about)
        return Bound.exact(low, high, assumptions=notes, **about)

    def _ratio(self, low: Any, high: Any) -> Bound:
        ends = [
            (math.inf, math.inf)
            if v == math.inf
            else (-math.inf, -math.inf)
            if v == 0
            else log_fraction(v)
            for v in (low, high)
        ]
        ratio = Ratio(low, high) if low == high else None
        return self.bound(ends[0][0], ends[1][1], exact_ratio=ratio)

    def renyi(self, order: Any) -> Bound:
        """Return the Renyi divergence."""
        if order == math.inf:
            return self.max_divergence(Fraction(0))
        if order == 0:
            return self._order_zero()
        cells = self.cells
        if order == 1:
            return self.bound(*divergence(cells, generators.NAMED["kl"]))
        if order == 2 and cells.exact:
            pairs = zip(cells.weight, cells.ratio, strict=True)
            total = sum((w * t * t for w, t in pairs), Fraction(0))
            return self._ratio(*[math.inf if cells.singular else total] * 2)
        return self.bound(*renyi(cells, Fraction(order), generators.power(order)))

    def _order_zero(self) -> Bound:
        """Return -log Q(p > 0), with Q(p > 0) also as 1 - Q(p = 0)."""
        q_low, q_high = self.ends()[1]
        held = np.asarray(self.values[0] != 0, bool)
        inside = [
            sum((v for v, h in zip(q, held, strict=True) if h), Fraction(0))
            for q in (q_low, q_high)
        ]
        beyond = [
            sum((v for v, h in zip(q, held, strict=True) if not h), Fraction(0))
            for q in (q_low, q_high)
        ]
        low, high = max(inside[0], 1 - beyond[1]), min(inside[1], 1 - beyond[0])
        return self._ratio(*(1 / v if v > 0 else math.inf for v in (high, low)))

    def max_divergence(self, delta: Fraction) -> Bound:
        """Return the approximate max-divergence; it is at least log(1 - delta)."""
        (p_low, p_high), (q_low, q_high) = self.ends()
        least = 1 - delta
        low = max(multiple(p_low, q_high, delta)[0], least)
        return self._ratio(low, max(multiple(p_high, q_low, delta)[0], low))

    def f_divergence(self, f: Generator) -> Bound:
        """Return the f-divergence."""
        if f.reason:
            raise NotYet("bl.f_divergence", missing=f"a function that can be traced: {f.reason}")
        cells = self.cells
        if cells.singular != 0 and f.graph is not None:
            raise InvalidInput(
                "bl.f_divergence",
                expected="P << Q for a function f",
                got="labels that P has and Q does not",
                mend="a named f knows its limit at infinity.",
            )
        found = self.bound(*divergence(cells, f), units=f.units)
        return f.noted(found, any(t == 0 for t in cells.ratio))


def finite_laws(p: Measure, q: Measure) -> FiniteLaws | None:
    """Return two measures as finite ones, None if both have densities.

    Raises
    ------
    InvalidInput
        Alphabets of two kinds.
    """
    kinds = [m._probabilities is not None for m in (p, q)]
    if all(kinds):
        return FiniteLaws(p, q)
    if any(kinds) or p.on.dim != q.on.dim or p.on.kind != q.on.kind:
        raise InvalidInput(
            "a divergence",
            expected="two measures on alphabets of one kind",
            got=f"{p.on!r} and {q.on!r}",
            mend="give both a density on the same alphabet, or both probabilities.",
        )
    return None
