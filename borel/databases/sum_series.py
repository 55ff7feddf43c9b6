r"""The density of noise on a sum of independent entries, by Fourier series with proved remainders.

Entries U are on [0, 1], with the characteristic function phi, \|phi(w)\| <= (K/w)^r; S is the
sum of m of them, and h(t) = E k(t - S). For a unimodal density of at most M, by parts, K = 2M and
r = 1; for Beta(1/2, 1/2) \|phi(w)\| = \|J_0(w/2)\|, K = 4/pi and r = 1/2.

*Laplace,* k(v) = e^{-a|v|}. For \|v\| <= P the sum of k(v + jP) over all integers j is k(v) plus
:math:`2 \cosh(av) e^{-aP} / (1 - e^{-aP})`, and has the Fourier coefficients
:math:`c_k = (2a/P) / (a^2 + \omega_k^2)`, :math:`\omega_k = 2 \pi k / P`; so that h(t) is
:math:`\sum_k c_k \mathrm{Re}(\varphi(\omega_k)^m e^{-i \omega_k t})` minus a mean of cosh, known
from the moment generating function. Remainder: by \|phi(w)\| <= (K/w)^r, and \|phi(w)\| <=
exp(-2 Var w^2 / pi^2) for w <= pi, since 1 - cos x >= 2 x^2 / pi^2 and \|phi\|^2 is
the mean of cos(w(U - U')).

*Gaussian,* k(v) = exp(-v^2 / 2 s^2). The coefficients are
:math:`(s \sqrt{2\pi} / P) e^{-s^2 \omega_k^2 / 2}`, and the copies k(v + jP) that are not meant add
between 0 and :math:`2 \sum_{j \ge 1} e^{-j^2 (P - R)^2 / 2 s^2}` where \|v\| <= R < P.

*Extremes over x of L(x) = log h(t - x).* For any law and Laplace noise h'' = a^2 h - 2 a f <= a^2 h
in the sense of distributions, f the law of S, so that L'' <= a^2: L(x) - C x^2 / 2 is concave with
C = a^2; for a log-concave law with C = 0. On a cell [u, v] L is then at least its value on the
chord minus C (v - u)^2 / 8; and, with L known at p < u too, at most
L(u) + (x - u) (L(u) - L(p)) / (u - p) + C (x - u) (x - p) / 2: likewise from the right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.numerics.balls.arithmetic import ball, ends, precision
from borel.numerics.intervals.rounding import fraction_down, fraction_up

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST = 16_384
"""Up to this many terms are summed for Laplace noise: what is left out may be large."""
_MOST_GAUSSIAN = 65_536
"""Up to this many are for Gaussian noise; series that need more are not summed."""
_DIGITS = 60.0
"""Remainders are to be below e to minus this."""
_ASKED, _FINE = 120, Fraction(1, 10**10)
"""An extreme is searched with so many halvings at most, until its ends are as near as that."""
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
    def arcsine(self) -> bool:
        """Whether it is Beta(1/2, 1/2)."""
        return self.alpha == self.beta == 0.5

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
        if self.arcsine:
            return (z / 2).exp() * (omega / 2).bessel_j(0)
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

    @property
    def decay(self) -> tuple[Any, Any]:
        """K and r, with abs(phi(w)) <= (K / w)^r, of a log-concave law or Beta(1/2, 1/2)."""
        import flint

        if self.arcsine:
            return 4 / flint.arb.pi(), ball(1) / 2
        return 2 * self.highest, ball(1)

    @cached_property
    def hump(self) -> Any:
        """An upper bound of abs(phi) between pi and 2 K: values on a grid, slope <= 1."""
        import flint

        first, last = flint.arb.pi(), 2 * self.decay[0]
        if last < first:
            return ball(0)
        parts = 256
        step = (last - first) / parts
        found = ball(0)
        for j in range(parts):
            found = found.max(abs(self.transform(first + step * (ball(j) + ball(1) / 2))))
        return found + step / 2


@dataclass(frozen=True)
class SumSeries:
    """Noise on the sum of n >= 2 entries of a `UnitLaw`, log-concave or (Laplace noise) arcsine.

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

    def log_means(self, t: Fraction, extreme: str) -> tuple[Any, tuple[Any, Any]] | None:
        """Enclose log E k(t - S_n), and an extreme over x of log E k(t - x - S_(n-1)).

        None where the densities may be below e^-`DEEPEST`, or where it takes too many terms. For
        Laplace noise t is in [0, n].

        Parameters
        ----------
        t : Fraction
            The outcome, in units of the sum.
        extreme : {"min", "max"}
            Which one over x in [0, 1].

        Returns
        -------
        own : arb
        given : arb
            That extreme.
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
        with precision(int(192 + 1.6 * digits)):
            wave = self._wave(t, digits)
            if wave is None:
                return None
            own = self._mean(t, self.n, *wave).log()

            def given(x: Fraction) -> Any:
                return self._mean(t - x, self.n - 1, *wave).log()

            law, zero, one = self.law, Fraction(0), Fraction(1)
            if law.log_concave and extreme == "min":
                return own, given(zero).min(given(one))
            if law.log_concave and law.alpha == law.beta:
                return own, given(min(max(t - Fraction(self.n - 1, 2), zero), one))
            bend = zero if law.log_concave else 1 / self.scale**2
            low, high = extreme_of(lambda x: ends(given(x)), bend, extreme)
            return own, ball(low).union(ball(high))

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
        pi, (far, power) = flint.arb.pi(), law.decay
        if law.arcsine and m == 1:  # one entry has an integral
            m = 2
        last = 2 * pi * count / self.n

        def beyond(w: Any) -> Any:
            return 2 * a / pi * (far / w) ** (power * m) / (w * (power * m + 1))

        by_parts = beyond(last)
        if not last <= pi:
            return by_parts
        start = (2 * far).max(pi)
        near = 2 * a / last**2 * (-2 * m * law.variance * last**2 / pi**2).exp()
        hump = 4 * a * far / pi**3 * law.hump**m
        tail = 4 * a / self.n * (far / start) ** (power * m) / start**2 + beyond(start)
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
        if self.law.arcsine and m == 1:
            return self._of_one(t, a)
        about = self.law, self.n, period, count, flint.ctx.prec
        length = ball(period)
        base = 2 * flint.arb.pi() / length
        if not self.gaussian and left > 1e-12:  # floats have as many digits
            total = _in_floats(*_float_terms(*about, self.scale)[m - self.n + 1], t / period)
        else:
            turn, total = base * ball(t), ball(0)
            for k, power in enumerate(_powers(*about)[m - self.n + 1], 1):
                # each angle afresh: the boxes of repeated complex products grow
                sine, cosine = (turn * k).sin_cos()
                coefficient = self._coefficient(base * k, a)
                total += coefficient * (power.real * cosine + power.imag * sine)
        if self.gaussian:
            level = ball(self.scale) * (2 * flint.arb.pi()).sqrt() / length
            return level * (1 + 2 * total) + left * flint.arb(0, 1)
        grown = (a * ball(t)).exp() * self.law.below(a) ** m
        grown += (-a * ball(t - m)).exp() * self.law.above(a) ** m
        fall = (-a * length).exp()
        series = 2 / (a * length) + 4 * a / length * total
        return series + left * flint.arb(0, 1) - grown * fall / (1 - fall)

    def _of_one(self, t: Fraction, a: Any) -> Any:
        """Return E e^(-a abs(t - U)) for U of Beta(1/2, 1/2), sin^2 of a uniform angle."""
        import flint

        quarter = flint.arb.pi() / 2
        cut, rate, place = flint.acb(ball(t).sqrt().asin()), flint.acb(a), flint.acb(ball(t))
        below = flint.acb.integral(
            lambda z, _: (rate * (z.sin() ** 2 - place)).exp(), flint.acb(0), cut
        )
        above = flint.acb.integral(
            lambda z, _: (rate * (place - z.sin() ** 2)).exp(), cut, flint.acb(quarter)
        )
        return (below + above).real / quarter

    def _coefficient(self, omega: Any, a: Any) -> Any:
        if self.gaussian:
            return (-((ball(self.scale) * omega) ** 2) / 2).exp()
        return 1 / (a * a + omega * omega)


def extreme_of(
    value: Callable[[Fraction], tuple[float, float]], bend: Fraction, extreme: str
) -> tuple[float, float]:
    """Enclose the extreme over [0, 1] of a function, by cells of which the worst is halved.

    Parameters
    ----------
    value : callable
        Encloses the function at a point of [-1/8, 9/8].
    bend : Fraction
        C, such that the function minus C x^2 / 2 is concave.
    extreme : {"min", "max"}
        Which one.

    Returns
    -------
    lower, upper : float
    """
    known: dict[Fraction, tuple[Fraction, Fraction]] = {}
    places = [Fraction(j, 8) for j in range(-1, 10)]

    def ask(x: Fraction) -> bool:
        low, high = value(x)
        finite = math.isfinite(low) and math.isfinite(high)
        known[x] = (Fraction(low), Fraction(high)) if finite else (Fraction(0), Fraction(0))
        return finite

    def least(j: int) -> Fraction:
        u, v = places[j : j + 2]
        return min(known[u][0], known[v][0]) - bend * (v - u) ** 2 / 8

    def most(j: int) -> Fraction:
        """Bound the function on a cell by the slopes of its neighbours."""
        found = []
        for p, u, v in (places[j - 1 : j + 2], places[j + 2 : j - 1 : -1]):
            slope = (known[u][1] - known[p][0]) / abs(u - p)
            rise = max(slope * abs(v - u), Fraction(0))
            found.append(known[u][1] + rise + bend * abs(v - u) * abs(v - p) / 2)
        return min(found)

    if not all(map(ask, places)):
        return -math.inf, math.inf
    least_of_all = extreme == "min"
    for _ in range(_ASKED):
        cells = range(1, len(places) - 2)
        inside = [known[x] for x in places[1:-1]]
        if least_of_all:
            reached, worst = min(high for _, high in inside), min(cells, key=least)
            bound = least(worst)
        else:
            reached, worst = max(low for low, _ in inside), max(cells, key=most)
            bound = most(worst)
        if abs(reached - bound) <= _FINE:
            break
        middle = (places[worst] + places[worst + 1]) / 2
        if not ask(middle):
            return -math.inf, math.inf
        places.insert(worst + 1, middle)
    low, high = (bound, reached) if least_of_all else (reached, bound)
    return fraction_down(low), fraction_up(high)


@lru_cache(maxsize=16)
def _powers(law: UnitLaw, n: int, period: Fraction, count: int, bits: int) -> tuple[list, list]:
    """Return phi^(n-1) and phi^n at the first frequencies of a period."""
    import flint

    base = 2 * flint.arb.pi() / ball(period)
    values = [law.transform(base * k) for k in range(1, count + 1)]
    fewer = [v ** (n - 1) for v in values]
    return fewer, [f * v for f, v in zip(fewer, values, strict=True)]


@lru_cache(maxsize=4)
def _float_terms(
    law: UnitLaw, n: int, period: Fraction, count: int, bits: int, scale: Fraction
) -> list[tuple[np.ndarray, Any]]:
    """Return the terms of the series of Laplace noise for n - 1 and for n entries, as floats.

    Beside them is by how much they may be off in all, but for the rounding to floats.
    """
    import flint

    base, squared = 2 * flint.arb.pi() / ball(period), 1 / ball(scale) ** 2
    out = []
    for powers in _powers(law, n, period, count, bits):
        terms = [p / (squared + (base * k) ** 2) for k, p in enumerate(powers, 1)]
        parts = [(z.real, z.imag) for z in terms]
        middles = np.array([(float(x.mid()), float(y.mid())) for x, y in parts]).T
        off = sum((x.rad() + y.rad() for x, y in parts), ball(0))
        out.append((middles, off))
    return out


def _in_floats(terms: np.ndarray, beside: Any, turn: Fraction) -> Any:
    """Return the sum of re cos(2 pi k turn) + im sin(2 pi k turn), with the roundings bounded.

    An angle is off by 2 pi u (2 k turn + 2) at most, a sine or cosine by 8 u, a sum of N terms by
    N u of their sizes; u = 2^-53. The terms are off by at most ``beside`` in all.
    """
    import flint

    (re, im), q = terms, float(turn)
    k = np.arange(1, len(re) + 1)
    turns = k * q
    angles = 2 * np.pi * (turns - np.rint(turns))
    total = float(re @ np.cos(angles) + im @ np.sin(angles))
    off = 2 * np.pi * (2 * k * abs(q) + 2) + len(re) + 16
    error = float((np.abs(re) + np.abs(im)) @ off) * 2.0**-53 * 1.01
    return flint.arb(total, error + 1e-300) + beside * flint.arb(0, 1)
