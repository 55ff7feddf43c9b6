r"""Noise on the number of ones among dependent bits, seen from one of them: closed forms.

With w_d the law of the number of the other ones given D_i = d, p_d the law of D_i and k the noise,
:math:`f(t|d) = \sum_k w_d(k)\, k(t - d - k)`, in units of the count; the leakage at t is a function
of r(t) = f(t|1) / f(t|0) that rises, or falls, on either side of 1.

*Laplace, of rate a.* Between two counts, with :math:`e^{2at}` as the variable, numerator and
denominator of r are linear: r is monotone there, and so are f(t|d) / f_Y(t) and their inverses. For
t <= 0 and for t >= n they are constant. So every supremum over t is a maximum over t = 0, ..., n,
and an essential one as all is continuous. The sums over k on either side of t grow by
:math:`L_c = e^{-a} L_{c-1} + w(c)`.

*Gaussian.* If n ones and n zeros are both possible, f(t|1) holds the term of the count n and f(t|0)
none beyond n - 1: as t grows r passes every bound, and on the other side it tends to 0. So PMC and
LDP are infinite, and PML comes near to -log p_1 and -log p_0, which nothing exceeds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

from borel.mechanisms.closed_forms import proved
from borel.numerics.balls.arithmetic import ball, enclose
from borel.probability.closed_forms import ClosedForms

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.mechanisms.counting import CountingQuery
    from borel.probability.bound import Bound
    from borel.probability.joint import Joint

_WHY = "Laplace noise on a count: the suprema are at whole numbers"
_CERTAIN = "a bit that is certain tells nothing"
_FAR = "far out Gaussian noise on a count tells one bit from the other"


@dataclass(frozen=True, eq=False)
class DependentCount(ClosedForms):
    """Noise on a count of dependent bits, seen from one of them.

    Parameters
    ----------
    parts : tuple of tuple of Fraction
        P(D_i = d, others = k), for d = 0, 1 and k = 0, ..., n - 1; all of it is positive somewhere.
    error : float
        Each of them may be off by this much of itself.
    query : CountingQuery or None
        The Laplace noise; None for Gaussian noise.
    """

    parts: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
    error: float
    query: CountingQuery | None

    @cached_property
    def masses(self) -> list[Fraction]:
        """P(D_i = d), but for what floats of the prior miss 1 by."""
        return [sum(part, Fraction(0)) for part in self.parts]

    @property
    def _silent(self) -> bool:
        return not all(map(any, self.parts))

    def _proved(self, formula: Callable[[], Any], why: str, **about: Any) -> Bound:
        low, high = enclose(formula)
        # quotients of two sums, of two masses and of their total
        slack = enclose(
            lambda: 3 * (ball(1 + Fraction(self.error)) / ball(1 - Fraction(self.error))).log()
        )[1]
        if not self.error:
            slack = 0.0
        low, high = low - slack, high + slack
        if slack:
            low, high = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
        return proved(max(low, 0.0), max(high, 0.0), why, **about)

    def _sides(self, part: tuple[Fraction, ...], q: Any) -> tuple[list, list]:
        """Return the sums over k <= c and over k > c, of w(k) q^abs(k - c), for c = -1, ..., n."""
        n = len(part)
        w = [ball(v) for v in part]
        left, right = [ball(0)], [ball(0)]
        for c in range(n + 1):
            left.append(left[-1] * q + (w[c] if c < n else 0))
        for c in range(n - 1, -2, -1):
            right.append(q * (right[-1] + (w[c + 1] if c + 1 < n else 0)))
        return left, right[::-1]

    def _densities(self, ts: list[Fraction]) -> list[tuple[Any, Any]]:
        """Return p_d f(t|d), but for one factor, for t of [0, n]."""
        assert self.query is not None
        a = ball(self.query.rate)
        sides = [self._sides(part, (-a).exp()) for part in self.parts]
        found = []
        for t in ts:
            floor = math.floor(t)
            step = (a * ball(t - floor)).exp()
            pair = []
            for d, (left, right) in enumerate(sides):
                c = floor - d + 1  # places begin at -1
                pair.append(left[c] / step + right[c] * step)
            found.append((pair[0], pair[1]))
        return found

    def _value(self, kind: str, pair: tuple[Any, Any]) -> Any:
        given = [f / ball(m) for f, m in zip(pair, self.masses, strict=True)]
        whole = (pair[0] + pair[1]) / ball(sum(self.masses))
        if kind == "ldp":
            return (given[0].max(given[1]) / given[0].min(given[1])).log()
        if kind == "pml":
            return (given[0].max(given[1]) / whole).log()
        return (whole / given[0].min(given[1])).log()

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one outcome of Laplace noise."""
        if self.query is None:
            return None
        if self._silent:
            return proved(0.0, 0.0, _CERTAIN)
        t = min(max(self.query.in_counts(y), Fraction(0)), Fraction(self.query.n))
        return self._proved(lambda: self._value(kind, self._densities([t])[0]), _WHY)

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum over the outcomes."""
        if self._silent:
            return proved(0.0, 0.0, _CERTAIN, attained=True)
        if self.query is not None:
            return self._proved(lambda: self._highest(kind), _WHY)
        if not (self.parts[0][0] and self.parts[1][-1]):
            return None
        if kind != "pml":
            return proved(math.inf, math.inf, _FAR, attained=False)
        rarest = min(self.masses) / sum(self.masses)
        return self._proved(lambda: -ball(rarest).log(), _FAR, attained=False)

    def _highest(self, kind: str) -> Any:
        assert self.query is not None
        places = [Fraction(t) for t in range(self.query.n + 1)]
        return reduce(
            lambda a, b: a.max(b), (self._value(kind, p) for p in self._densities(places))
        )

    def ldp(self, joint: Joint) -> Bound | None:
        """Return the LDP level."""
        return self.sup(joint, "ldp")
