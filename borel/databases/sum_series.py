r"""The density of noise on a sum of independent entries, by Fourier series with proved remainders.

Entries U are uniform or beta on [0, 1], of density at most M, unimodal, with the characteristic
function phi; S is the sum of m of them, and h(t) = E k(t - S).

*Laplace,* k(v) = e^{-a|v|}. For \|v\| <= P the sum of k(v + jP) over all integers j is k(v) plus
:math:`2 \cosh(av) e^{-aP} / (1 - e^{-aP})`, and has the Fourier coefficients
:math:`c_k = (2a/P) / (a^2 + \omega_k^2)`, :math:`\omega_k = 2 \pi k / P`; so that h(t) is
:math:`\sum_k c_k \mathrm{Re}(\varphi(\omega_k)^m e^{-i \omega_k t})` minus a mean of cosh, known
from the moment generating function. Remainder: by parts \|phi(w)\| <= C/w, C = 2M; and
\|phi(w)\| <= exp(-2 Var w^2 / pi^2) for w <= pi, since 1 - cos x >= 2 x^2 / pi^2 and \|phi\|^2 is
the mean of cos(w(U - U')).

*Gaussian,* k(v) = exp(-v^2 / 2 s^2). The coefficients are
:math:`(s \sqrt{2\pi} / P) e^{-s^2 \omega_k^2 / 2}`, and the copies k(v + jP) that are not meant add
between 0 and :math:`2 \sum_{j \ge 1} e^{-j^2 (P - R)^2 / 2 s^2}` where \|v\| <= R < P.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from borel.numerics.balls.arithmetic import ball, precision

_MOST = 16_384
"""Up to this many terms are summed for Laplace noise: what is left out may be large."""
_MOST_GAUSSIAN = 65_536
"""Up to this many are for Gaussian noise; series that need more are not summed."""
_DIGITS = 60.0
"""Remainders are to be below e to minus this."""
DEEPEST = 3000.0
"""Densities below e to minus this are not asked for."""


@dataclass(frozen=True)
class UnitLaw:
    """The law of an entry, moved to [0, 1]: Beta(alpha, beta), the uniform law being Beta(1, 1).

    Parameters
    ----------
    alpha, beta : float
        Its parameters, > 0.
    lower, width : Fraction
        Entries are lower + width U.
    """

    alpha: float
    beta: float
    lower: Fraction
    width: Fraction

    @property
    def uniform(self) -> bool:
        """Whether it is the uniform law."""
        return self.alpha == self.beta == 1

    @property
    def log_concave(self) -> bool:
        """Whether its density is log-concave, and so unimodal and bounded."""
        return self.alpha >= 1 and self.beta >= 1

    def below(self, rate: Any) -> Any:
        """Return E e^(-rate U), for a rate > 0 as a ball."""
        return self._exp_mean(self.alpha, rate)

    def above(self, rate: Any) -> Any:
        """Return E e^(-rate (1 - U))."""
        return self._exp_mean(self.beta, rate)

    def _exp_mean(self, own: float, rate: Any) -> Any:
        if self.uniform:
            return -(-rate).expm1() / rate
        return (-rate).hypgeom_1f1(ball(own), ball(self.alpha) + ball(self.beta))

    def transform(self, omega: Any) -> Any:
        """Return phi(omega) = E e^(i omega U), for omega > 0."""
        import flint

        z = flint.acb(0, omega)
        if self.uniform:
            return (z.exp() - 1) / z
        return z.hypgeom_1f1(flint.acb(self.alpha), flint.acb(ball(self.alpha) + ball(self.beta)))

    @property
    def variance(self) -> Any:
        """The variance, as a ball."""
        a, b = ball(self.alpha), ball(self.beta)
        return a * b / ((a + b) ** 2 * (a + b + 1))

    @property
    def highest(self) -> Any:
        """The maximum M of the density of a log-concave law, or the minimum if both ends are poles.

        It is the value at (alpha - 1) / (alpha + beta - 2), or at an end.
        """
        if self.alpha == 1 or self.beta == 1:
            return ball(self.alpha) * ball(self.beta)
        a, b = ball(self.alpha), ball(self.beta)
        x = (a - 1) / (a + b - 2)
        log_beta = a.lgamma() + b.lgamma() - (a + b).lgamma()
        return ((a - 1) * x.log() + (b - 1) * (1 - x).log() - log_beta).exp()

    @cached_property
    def hump(self) -> Any:
        """An upper bound of abs(phi) between pi and 2 C, C = 2 M: values on a grid, slope <= 1."""
        import flint

        first, last = flint.arb.pi(), 4 * self.highest
        parts = 256
        step = (last - first) / parts
        found = ball(0)
        for j in range(parts):
            found = found.max(abs(self.transform(first + step * (ball(j) + ball(1) / 2))))
        return found + step / 2


@dataclass(frozen=True)
class SumSeries:
    """Noise on the sum of n >= 2 entries of a log-concave `UnitLaw`.

    Parameters
    ----------
    law : UnitLaw
        The law of one entry.
    n : int
        Their number.
    gaussian : bool
        Whether the noise is Gaussian, else Laplace.
    scale : Fraction
        Its deviation or scale, in units of the sum of entries of [0, 1].
    """

    law: UnitLaw
    n: int
    gaussian: bool
    scale: Fraction

    def log_means(self, t: Fraction, xs: list[Fraction]) -> tuple[Any, list[Any]] | None:
        """Return log E k(t - S_n) and log E k(t - x - S_(n-1)) for each x of [0, 1], as balls.

        None where the densities may be below e^-`DEEPEST`, or where it takes too many terms. For
        Laplace noise t is in [0, n].
        """
        if abs(t) > 10**100 or not Fraction(1, 10**100) < self.scale < 10**100:
            return None
        away = max(abs(float(t) - x - self.n * self._middle) for x in (-1.0, 0.0, 1.0))
        spread = math.sqrt(self.n) / 2
        scale = float(self.scale)
        depth = (away**2 + spread**2) / (2 * scale**2) if self.gaussian else (away + spread) / scale
        if not depth <= DEEPEST:
            return None
        digits = _DIGITS + depth
        with precision(int(160 + 3 * digits)):
            wave = self._wave(t, digits)
            if wave is None:
                return None
            means = [self._mean(t, self.n, *wave)]
            means += [self._mean(t - x, self.n - 1, *wave) for x in xs]
            logs = [m.log() for m in means]
        return logs[0], logs[1:]

    @property
    def _middle(self) -> float:
        return self.law.alpha / (self.law.alpha + self.law.beta)

    # -- the period and the number of terms -----------------------------------------------------

    def _wave(self, t: Fraction, digits: float) -> tuple[Fraction, int, Any] | None:
        """Return a period, how many terms are summed, and a bound of what is left out.

        None where it would be too many terms.
        """
        if not self.gaussian:
            period, count = Fraction(self.n), 32
            while count < _MOST and not self._left(count) < (-ball(digits)).exp():
                count *= 2
            return period, count, self._left(count)
        reach = max(abs(t), abs(t - self.n)) + 1
        s = self.scale
        period = reach + s * Fraction(math.sqrt(2 * digits))
        step = 2 * math.pi * float(s / period)
        count = int(math.sqrt(2 * digits) / step) + 2
        if count > _MOST_GAUSSIAN:
            return None
        return period, count, self._left_gaussian(period, reach, count)

    def _left(self, count: int) -> Any:
        import flint

        law, m, a = self.law, self.n - 1, 1 / ball(self.scale)
        pi, far = flint.arb.pi(), 2 * law.highest
        last = 2 * pi * count / self.n

        def beyond(w: Any) -> Any:
            return 2 * a / pi * (far / w) ** m / (w * (m + 1))

        by_parts = beyond(last)
        if not last <= pi:
            return by_parts
        start = (2 * far).max(pi)
        near = 2 * a / last**2 * (-2 * m * law.variance * last**2 / pi**2).exp()
        hump = 4 * a * far / pi**3 * law.hump**m
        tail = 4 * a / self.n * (far / start) ** m / start**2 + beyond(start)
        return by_parts.min(near + hump + tail)

    def _left_gaussian(self, period: Fraction, reach: Fraction, count: int) -> Any:
        import flint

        s, length = ball(self.scale), ball(period)
        theta = (2 * flint.arb.pi() * s / length) ** 2 / 2
        terms = (-theta * count**2).exp() / (2 * theta * count).expm1()
        level = s * (2 * flint.arb.pi()).sqrt() / length
        gap = (-((length - ball(reach)) ** 2) / (2 * s**2)).exp()
        return 2 * level * terms + 2 * gap / (1 - gap)

    # -- the sum --------------------------------------------------------------------------------

    def _mean(self, t: Fraction, m: int, period: Fraction, count: int, left: Any) -> Any:
        """Return E k(t - S), S the sum of m entries, as a ball."""
        import flint

        a = 1 / ball(self.scale)
        if not self.gaussian and t <= 0:
            return (a * ball(t)).exp() * self.law.below(a) ** m
        if not self.gaussian and t >= m:
            return (-a * ball(t - m)).exp() * self.law.above(a) ** m
        powers = _powers(self.law, self.n, period, count, flint.ctx.prec)[m - self.n + 1]
        length = ball(period)
        base = 2 * flint.arb.pi() / length
        turn, total = base * ball(t), ball(0)
        for k, power in enumerate(powers, 1):
            # each angle afresh: the boxes of repeated complex products grow
            sine, cosine = (turn * k).sin_cos()
            total += self._coefficient(base * k, a) * (power.real * cosine + power.imag * sine)
        if self.gaussian:
            level = ball(self.scale) * (2 * flint.arb.pi()).sqrt() / length
            return level * (1 + 2 * total) + left * flint.arb(0, 1)
        grown = (a * ball(t)).exp() * self.law.below(a) ** m
        grown += (-a * ball(t - m)).exp() * self.law.above(a) ** m
        fall = (-a * length).exp()
        series = 2 / (a * length) + 4 * a / length * total
        return series + left * flint.arb(0, 1) - grown * fall / (1 - fall)

    def _coefficient(self, omega: Any, a: Any) -> Any:
        if self.gaussian:
            return (-((ball(self.scale) * omega) ** 2) / 2).exp()
        return 1 / (a * a + omega * omega)


@lru_cache(maxsize=16)
def _powers(law: UnitLaw, n: int, period: Fraction, count: int, bits: int) -> tuple[list, list]:
    """Return phi^(n-1) and phi^n at the first frequencies of a period."""
    import flint

    base = 2 * flint.arb.pi() / ball(period)
    values = [law.transform(base * k) for k in range(1, count + 1)]
    fewer = [v ** (n - 1) for v in values]
    return fewer, [f * v for f, v in zip(fewer, values, strict=True)]
