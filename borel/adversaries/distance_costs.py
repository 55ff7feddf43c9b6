r"""The cost of a distance on the real line: the least of a convex function, enclosed.

.. math:: C(w) = \inf_{m \in \mathbb{R}} \sum_x w(x) |x - m|^p, \qquad p \ge 1
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from borel.adversaries.beliefs import Secrets
from borel.adversaries.threats import Cost, Value, exact_label
from borel.numerics.balls.arithmetic import (
    RELATIVE_BITS,
    as_fraction,
    ball,
    precision,
    rational_ends,
)

_STEPS = 4096


def power(base: Fraction, exponent: Fraction) -> tuple[Fraction, Fraction]:
    """Enclose base**exponent, for base >= 0 and exponent > 0; a whole exponent is exact."""
    if exponent.denominator == 1:
        value = base**exponent.numerator
        return value, value
    if base in (0, 1):
        return base, base
    return rational_ends(lambda: ball(base) ** ball(exponent))


class RealDistance(Cost):
    """abs(x - w)**p over all real w.

    Parameters
    ----------
    p : Fraction
        At least 1.
    """

    def __init__(self, p: Fraction):
        self.p = p
        self.name = f"|x - w|**{float(p):g} over the reals"

    def values(self, secrets: Secrets, weights: np.ndarray) -> list[Value]:
        """Return the least expected cost, and the w that has it."""
        points = [exact_label(x, "cost.distance") for x in secrets.labels]
        return [self._least(points, row) for row in weights.tolist()]

    def actions(self, secrets: Secrets) -> list[Fraction] | None:
        """Return the secrets for p = 1: one of them is a median."""
        if self.p != 1:
            return None
        return [exact_label(x, "cost.distance") for x in secrets.labels]

    def of_density(self, density: Any) -> Value:
        """Return the least expected cost under a density of a real secret."""
        return Value(*density.nearest(self.p))

    def at(self, secrets: Secrets, action: Any) -> list[Fraction]:
        """Return the costs of a rational action, for a whole p."""
        if self.p.denominator != 1:
            return super().at(secrets, action)
        points = [exact_label(x, "cost.distance") for x in secrets.labels]
        return [abs(x - Fraction(action)) ** self.p.numerator for x in points]

    def _least(self, points: list[Fraction], row: list[Fraction]) -> Value:
        pairs = sorted((x, w) for x, w in zip(points, row, strict=True) if w)
        total = sum((w for _, w in pairs), Fraction(0))
        if len(pairs) < 2:
            return Value(Fraction(0), Fraction(0), pairs[0][0] if pairs else Fraction(0))
        if self.p == 1:
            seen = list(accumulate(w for _, w in pairs))
            m = next(x for (x, _), mass in zip(pairs, seen, strict=True) if 2 * mass >= total)
            value = sum((w * abs(x - m) for x, w in pairs), Fraction(0))
            return Value(value, value, m)
        if self.p == 2:
            m = sum((w * x for x, w in pairs), Fraction(0)) / total
            value = sum((w * (x - m) ** 2 for x, w in pairs), Fraction(0))
            return Value(value, value, m)
        return self._by_bisection([x for x, _ in pairs], [w for _, w in pairs])

    def _by_bisection(self, xs: list[Fraction], ws: list[Fraction]) -> Value:
        """Bracket the zero of the derivative; the tangent at an end bounds the cost from below."""
        a, b = xs[0], xs[-1]
        bits = 2 * RELATIVE_BITS
        for step in range(1, _STEPS):
            m = (a + b) / 2
            if step % 64 == 0:
                value = self._bounds(xs, ws, a, b, bits)
                if (value.upper - value.lower) * 2**RELATIVE_BITS <= value.lower:
                    return value
                bits = max(bits, 2 * step + 2 * RELATIVE_BITS)
            low, high = self._slope(xs, ws, m, bits)
            if low > 0:
                b = m
            elif high < 0:
                a = m
            else:  # the zero itself, or too near it for these bits
                value = self._bounds(xs, ws, m, m, bits)
                shift = self.p * max(abs(low), abs(high)) * (b - a)
                return Value(max(value.lower - shift, Fraction(0)), value.upper, float(m))
        return self._bounds(xs, ws, a, b, bits)

    def _slope(
        self, xs: list[Fraction], ws: list[Fraction], m: Fraction, bits: int
    ) -> tuple[Fraction, Fraction]:
        """Enclose the derivative at m, up to the factor p."""
        with precision(bits):
            e = ball(self.p - 1)
            terms = [
                ball(w) * (ball(abs(m - x)) ** e) * (1 if m > x else -1)
                for x, w in zip(xs, ws, strict=True)
                if x != m
            ]
            value: Any = sum(terms, ball(0))
            return as_fraction(value.lower()), as_fraction(value.upper())

    def _bounds(
        self, xs: list[Fraction], ws: list[Fraction], a: Fraction, b: Fraction, bits: int
    ) -> Value:
        """Enclose the least cost on [a, b], where the derivative at a is not positive."""

        def cost(m: Fraction) -> tuple[Fraction, Fraction]:
            ends = [power(abs(x - m), self.p) for x in xs]
            low = sum((w * e[0] for w, e in zip(ws, ends, strict=True)), Fraction(0))
            high = sum((w * e[1] for w, e in zip(ws, ends, strict=True)), Fraction(0))
            return low, high

        low, high = cost(a)
        if a < b:
            slope = self._slope(xs, ws, a, bits)[0]
            low = max(low + self.p * min(slope, Fraction(0)) * (b - a), Fraction(0))
        return Value(low, high, float(a))
