r"""Means of logarithms under the law of a noisy count, cell by cell in closed form.

Between two counts every density of the outcome is, up to a factor a/2, a sum
:math:`c_1 e^{-au} + c_2 e^{au}`, u the distance to the lower count. With :math:`v = e^{au}` the
mean of the logarithm of one such sum under another is an elementary integral,

.. math:: \int (A_1 v^{-2} + A_2) \log(B_1 + B_2 v^2)\, dv
    = A_1\Big(2 \rho \arctan(\rho v) - \frac{L}{v}\Big)
    + A_2\Big(v L - 2 v + \frac{2}{\rho} \arctan(\rho v)\Big),

with :math:`L = \log(B_1 + B_2 v^2)` and :math:`\rho^2 = B_2 / B_1`; the common term -au of all
logarithms cancels in differences.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from borel.numerics.balls.arithmetic import ball

if TYPE_CHECKING:
    from borel.mechanisms.noisy_count import Ends, NoisyCount


class TwoExponentials(NamedTuple):
    """A density on a cell: c_1 e^(-au) + c_2 e^(au), as balls; an exact 0 is exact."""

    first: Any
    second: Any

    def mix(self, other: TwoExponentials, w: Any) -> TwoExponentials:
        """Return (1 - w) of this one and w of the other."""
        first, second = ((1 - w) * c + w * d for c, d in zip(self, other, strict=True))
        return TwoExponentials(first, second)


class NoisyCountCells:
    """The densities of a noisy count on all cells, for an entry with P(D = 1) = w.

    Parameters
    ----------
    noise : NoisyCount
        The count of the other entries, 0 < p < 1.
    w : Ends
        The law of the entry, 0 < w < 1.
    """

    def __init__(self, noise: NoisyCount, w: Ends):
        n, self.rate = noise.others, ball(noise.rate)
        p, self.w = (ball(e.lower).union(ball(e.upper)) for e in (noise.p, w))
        step = (-self.rate).exp()
        here = [noise.weight(k, p) for k in range(n + 1)]
        below, above = [ball(0)] * (n + 1), [ball(0)] * (n + 1)
        for k in range(n):
            below[k + 1] = step * below[k] + here[k]
            above[n - k - 1] = step * (above[n - k] + here[n - k])
        self.zero = [TwoExponentials(step * below[k] + here[k], above[k]) for k in range(n + 1)]
        self.one = [TwoExponentials(below[k], step * (above[k] + here[k])) for k in range(n + 1)]
        self.both = [a.mix(b, self.w) for a, b in zip(self.zero, self.one, strict=True)]
        # P(T > n | D = 1) and P(T < 0 | D = 0); e^-a times that for the other value of D
        self.right = (p + (1 - p) * step) ** n / 2
        self.left = (1 - p + p * step) ** n / 2
        self.step = step

    def _over(
        self,
        law: TwoExponentials,
        top: TwoExponentials,
        bottom: TwoExponentials,
        start: Any,
        stop: Any,
    ) -> Any:
        """Return the mean of log(top / bottom) under a law, between two places of a cell."""
        ends = [(self.rate * ball(u)).exp() for u in (start, stop)]
        values = [_antiderivative(law, top, v) - _antiderivative(law, bottom, v) for v in ends]
        return (values[1] - values[0]) / 2

    def leakage(self, kind: str, crossing: Fraction, slack: Fraction) -> Any:
        """Return E PML or E PMC; r = 1 within ``slack`` of ``crossing``.

        There the wrong of the two densities may be taken, which moves the integrand by at most
        (a/2) 2a slack, as log r has slopes up to 2a.
        """
        total = ball(0)
        at = math.floor(crossing)
        for k, law in enumerate(self.both):
            edges = [Fraction(0), Fraction(1)]
            if k == at:
                edges.insert(1, crossing - k)
            for start, stop in pairwise(edges):
                larger = k + start >= crossing  # f(t|1) is the larger one
                extreme = (self.one if larger == (kind == "pml") else self.zero)[k]
                ends = (extreme, law) if kind == "pml" else (law, extreme)
                total += self._over(law, *ends, start, stop)
        w, a = self.w, self.rate
        if kind == "pml":
            right, left = (-((1 - x) * (-a).expm1()).log1p() for x in (w, 1 - w))
        else:
            right, left = ((x * a.expm1()).log1p() for x in (w, 1 - w))
        total += right * self.right * (w + (1 - w) * self.step)
        total += left * self.left * (1 - w + w * self.step)
        error = a * a * ball(slack) ** 2
        return total + (-error).union(error)

    def information(self) -> Any:
        """Return the mutual information of D and T."""
        total, w, a = ball(0), self.w, self.rate
        for zero, one, law in zip(self.zero, self.one, self.both, strict=True):
            total += (1 - w) * self._over(zero, zero, law, 0, 1)
            total += w * self._over(one, one, law, 0, 1)
        right, left = (-((1 - x) * (-a).expm1()).log1p() for x in (w, 1 - w))
        total += self.right * (w * right + (1 - w) * self.step * (right - a))
        return total + self.left * ((1 - w) * left + w * self.step * (left - a))


def _antiderivative(law: TwoExponentials, inner: TwoExponentials, v: Any) -> Any:
    level = (inner.first + inner.second * v * v).log()
    if inner.second == 0:
        return level * (law.second * v - law.first / v)
    if inner.first == 0:
        return law.second * (v * level - 2 * v) - law.first * (level + 2) / v
    slope = (inner.second / inner.first).sqrt()
    angle = 2 * (slope * v).atan()
    return law.first * (slope * angle - level / v) + law.second * (
        v * level - 2 * v + angle / slope
    )
