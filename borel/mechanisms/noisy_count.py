r"""Laplace noise on a count, seen from one entry: the likelihood ratio of the entry, enclosed.

In units of the count, the outcome is T = D + M + noise with D in {0, 1}, M ~ Binomial(N, p) the
count of the other entries, and noise of density :math:`(a/2) e^{-a|z|}`. All that an entry leaks at
t depends on :math:`r(t) = f(t|1) / f(t|0) = g(t-1) / g(t)` with :math:`g(t) = E e^{-a|t - M|}`.

Facts used, with their proofs:

1. :math:`e^{-a} \le r(t) \le e^a`, with equality on the right for t >= N + 1 and on the left for
   t <= 0: by the triangle inequality for every value of M, equal where all of them lie on one side.
2. r does not decrease in t: :math:`e^{-a|t-s|}` is totally positive of order 2 in (t, s), and so is
   the law of D + M in (D, s), the binomial weights being log-concave; sums of products of such
   kernels are so too (Karlin's composition formula).
3. r does not increase in p: r(t) is the mean of :math:`e^{a(|t-m| - |t-1-m|)}`, which does not
   increase in m, under the law proportional to :math:`e^{-a|t-m|} P(M=m)`, which increases in the
   likelihood-ratio order with p.
4. With k = floor(t), and the tilted :math:`p_{\pm} = p e^{\pm a} / (1 - p + p e^{\pm a})`,
   :math:`E[e^{aM}; M \le k] = (1 - p + p e^a)^N P(\mathrm{Bin}(N, p_+) \le k)`, and likewise for
   -a above k: incomplete beta functions, for any N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from borel.numerics.balls.arithmetic import ball, enclose
from borel.numerics.intervals.rounding import fraction_down, fraction_up

U = 2.0**-53
_STEEP = 300.0
"""Above this rate e^a and its square are no floats: then Arb computes point by point."""
_CHUNK = 4_000_000
"""How many terms of sums are held at once."""


class Ends(NamedTuple):
    """A lower and an upper end, in Fractions."""

    lower: Fraction
    upper: Fraction


class Excess(NamedTuple):
    """r - 1 and 1 / r - 1, for some bound on r: neither loses digits where r is near 1 or 0."""

    over: np.ndarray
    under: np.ndarray


@dataclass(frozen=True)
class NoisyCount:
    """Laplace noise on the count of ``others`` entries and one more.

    Parameters
    ----------
    others : int
        N, the number of the other entries.
    rate : Fraction
        a, one over the scale of the noise in units of the count; > 0.
    p : Ends
        An enclosure, within [0, 1], of the probability that another entry counts.
    """

    others: int
    rate: Fraction
    p: Ends

    # -- in Arb, at one point ------------------------------------------------------------------

    def log_ratio(self, t: Fraction) -> tuple[float, float]:
        """Enclose log r(t), for every p of the enclosure."""
        if t <= 0 or t >= self.others + 1:
            low, high = self.steepest
            return (-high, -low) if t <= 0 else (low, high)
        low = enclose(lambda: self._log_ratio(t, self.p.upper))[0]
        high = enclose(lambda: self._log_ratio(t, self.p.lower))[1]
        most = self.steepest[1]
        return max(low, -most), min(high, most)

    @cached_property
    def steepest(self) -> tuple[float, float]:
        """The rate, rounded down and up: no log-ratio is above it."""
        return fraction_down(self.rate), fraction_up(self.rate)

    def _log_ratio(self, t: Fraction, p: Fraction) -> Any:
        """Return log r(t) for 0 < t < N + 1 as a ball."""
        if p in (0, 1):
            m = self.others * p
            return ball(self.rate) * ball(abs(t - m) - abs(t - 1 - m))
        rise, fall, step, below, here, above = self._parts(t, ball(p))
        top = below * fall + step * (above + here) * rise
        return (top / ((step * below + here) * fall + above * rise)).log()

    def log_mean(self, t: Fraction) -> Any:
        """Return log g(t), log E e^(-a|t - M|), as a ball over every p of the enclosure."""
        p = ball(self.p.lower).union(ball(self.p.upper))
        if not 0 < self.p.lower <= self.p.upper < 1:
            return -ball(self.rate) * ball(abs(t - self.others * self.p.lower))
        if t < 0 or t > self.others:
            moved = t if t < 0 else self.others - t
            q = p if t < 0 else 1 - p
            mean = 1 + q * (-ball(self.rate)).expm1()  # all of M lies on one side of t
            return ball(self.rate * moved) + self.others * mean.log()
        rise, fall, step, below, here, above = self._parts(t, p)
        return ((step * below + here) * fall + above * rise).log()

    def _parts(self, t: Fraction, p: Any) -> tuple:
        """Return e^(au), e^(-au), e^-a for u = t - floor(t), and the means below, at, above."""
        n, a, k = self.others, ball(self.rate), math.floor(t)
        u = ball(t - k)
        below = self._below(k, p) * (-a * (k - 1)).exp() if k else ball(0)
        above = self._above(k, p) * (a * k).exp() if k < n else ball(0)
        return (a * u).exp(), (-a * u).exp(), (-a).exp(), below, self.weight(k, p), above

    def weight(self, k: int, p: Any) -> Any:
        """Return P(M = k)."""
        n = self.others
        log = ball(n + 1).lgamma() - ball(k + 1).lgamma() - ball(n - k + 1).lgamma()
        return (log + k * p.log() + (n - k) * (1 - p).log()).exp()

    def _below(self, k: int, p: Any) -> Any:
        """Return E[e^(aM); M < k] for 1 <= k."""
        total = 1 - p + p * ball(self.rate).exp()
        whole = total**self.others
        if k > self.others:
            return whole
        return whole * ((1 - p) / total).beta_lower(self.others - k + 1, k, 1)

    def _above(self, k: int, p: Any) -> Any:
        """Return E[e^(-aM); M > k] for k < N."""
        tilted = p * (-ball(self.rate)).exp()
        total = 1 - p + tilted
        whole = total**self.others
        if k < 0:
            return whole
        return whole * (tilted / total).beta_lower(k + 1, self.others - k, 1)

    @property
    def mirrored(self) -> NoisyCount:
        """The noisy count of the other entries that do not count, N - M + noise."""
        return NoisyCount(self.others, self.rate, Ends(1 - self.p.upper, 1 - self.p.lower))

    def survival(self, t: Fraction) -> tuple[float, float]:
        """Enclose P(M + noise > t), which increases in p."""
        low = enclose(lambda: self._survival(t, self.p.lower))[0]
        high = enclose(lambda: self._survival(t, self.p.upper))[1]
        return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)

    def _survival(self, t: Fraction, p: Fraction) -> Any:
        n, a, k = self.others, ball(self.rate), math.floor(t)
        if p in (0, 1):
            z = a * ball(t - n * p)
            return (-z).exp() / 2 if t >= n * p else 1 - z.exp() / 2
        out, x = ball(0), ball(p)
        if k >= 0:
            out += self._below(k + 1, x) * (-a * ball(t)).exp() / 2
        if k < n:
            beyond = x.beta_lower(k + 1, n - k, 1) if k >= 0 else ball(1)
            out += beyond - self._above(k, x) * (a * ball(t)).exp() / 2
        return out

    # -- in float64, at many points --------------------------------------------------------------

    @property
    def gentle(self) -> bool:
        """Whether `excesses` can be used: e^a is a float, and p is not at an end."""
        return self.steepest[1] < _STEEP and 0 < self.p.lower <= self.p.upper < 1

    def excesses(self, t_low: np.ndarray, t_high: np.ndarray) -> tuple[Excess, Excess]:
        """Enclose r(t) - 1 and 1 / r(t) - 1 for t in [t_low, t_high], lane by lane.

        r is monotone in t and in p: its ends are those at two corners.
        """
        low, high = (np.full(t_low.shape, float(p)) for p in self.p)
        odds = [np.full(t_low.shape, float(p / (1 - p))) for p in self.p]
        least = self._excess(t_low, high, odds[1])[0]
        return least, self._excess(t_high, low, odds[0])[1]

    def excesses_at(self, t: Fraction, p: np.ndarray) -> tuple[Excess, Excess]:
        """Enclose r(t) - 1 and 1 / r(t) - 1 at one t, for each of many p of (0, 1)."""
        odds = p / (1 - p)
        ends = fraction_down(t), fraction_up(t)
        least, most = (self._excess(np.full(p.shape, end), p, odds) for end in ends)
        return least[0], most[1]

    def _excess(self, t: np.ndarray, p: np.ndarray, odds: np.ndarray) -> tuple[Excess, Excess]:
        """Return the excesses at a lower and at an upper bound of r(t), rounded outwards."""
        rise = enclose(lambda: ball(self.rate).expm1())
        fall = enclose(lambda: (-ball(self.rate)).expm1())
        left = t <= 0
        right = t >= self.others + 1
        low = Excess(np.where(right, rise[0], fall[0]), np.where(right, fall[1], rise[1]))
        high = Excess(np.where(left, fall[1], rise[1]), np.where(left, rise[0], fall[0]))
        inside = np.flatnonzero(~left & ~right)
        window = self._window(p)
        for part in np.array_split(inside, max(1, len(inside) * 2 * window // _CHUNK)):
            if len(part):
                sums = self._sums(t[part], p[part], odds[part], window)
                for whole, found in zip((low, high), sums, strict=True):
                    for own, new in zip(whole, found, strict=True):
                        # where the window says nothing, the ends of all of them stay
                        own[part] = np.clip(np.where(np.isnan(new), own[part], new), -1.0, rise[1])
        return low, high

    def _tilted(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return p_- and p_+, roughly."""
        rise = math.exp(self.steepest[0])
        return p / (p + (1 - p) * rise), p * rise / (1 - p + p * rise)

    def _window(self, p: np.ndarray) -> int:
        """Return how many terms on either side of the largest hold all but a trace of the mass."""
        spread = max(float(np.max(x * (1 - x), initial=0.0)) for x in (*self._tilted(p), p))
        return min(self.others, int(9 * math.sqrt(self.others * spread)) + 60)

    def _sums(
        self, t: np.ndarray, p: np.ndarray, odds: np.ndarray, window: int
    ) -> tuple[Excess, Excess]:
        r"""Enclose r - 1 as the mean of e^(a(|t-m| - |t-1-m|)) - 1 over the terms T(m).

        T(m) = P(M=m) e^{-a|t-m|} is a log-concave sequence: its terms are products of ratios from
        a large one outwards, each step off by a relative (20 + 4 a) u at most (e^a has the
        rounding of a times a), and what lies beyond the window is below a geometric series.
        """
        n, a = self.others, float(self.rate)
        k = np.floor(t)
        theta = t - k
        minus, plus = (np.floor((n + 1) * x) for x in self._tilted(p))
        start = np.where(plus < k, plus, np.where(minus > k, minus, k))
        start = np.clip(start, 0, n)
        j = np.arange(1, window + 1, dtype=float)
        # the factor of e^{-a|t-m|} from m to m + 1: e^a below t, e^-a above, between them mixed
        rise, fall, bend = math.exp(a), math.exp(-a), np.exp(a * (2 * theta - 1))
        up = start[:, None] + j - 1  # from up to up + 1
        k_, bend_ = k[:, None], bend[:, None]
        ups = np.where(up < k_, rise, np.where(up > k_, fall, bend_))
        ups *= np.maximum(n - up, 0.0) * odds[:, None] / (up + 1)
        down = start[:, None] - j + 1  # from down to down - 1
        downs = np.where(down <= k_, fall, np.where(down > k_ + 1, rise, 1 / bend_))
        downs *= np.maximum(down, 0.0) / odds[:, None] / (n - down + 1)
        with np.errstate(under="ignore"):
            terms_up, terms_down = np.cumprod(ups, axis=1), np.cumprod(downs, axis=1)
        places = np.concatenate([start[:, None], up + 1, down - 1], axis=1)
        terms = np.concatenate([np.ones((len(t), 1)), terms_up, terms_down], axis=1)
        steps = np.concatenate([[0.0], j, j])
        error = (20 + 4 * a) * U * steps
        error = error / (1 - error)
        tail_up = _beyond(ups, terms_up, start + window >= n)
        tail_down = _beyond(downs, terms_down, start - window <= 0)
        sides = []
        for side, tail in ((places < k_, tail_down), (places == k_, None), (places > k_, tail_up)):
            own = np.where(side, terms, 0.0)
            slack = (terms.shape[1] + 4) * U
            # terms below the normal range are off by more than their relative error: a trace
            high = (own * (1 + error)).sum(axis=1) * (1 + slack) + 1e-290
            low = np.maximum((own * (1 - error)).sum(axis=1) * (1 - slack) - 1e-290, 0.0)
            sides.append([low, high if tail is None else high + tail])
        # what lies beyond the window may lie on the other side of t
        cross = (
            np.where(start - window > k, tail_down, 0.0),
            np.where(start + window < k, tail_up, 0.0),
        )
        for i in range(3):
            sides[i][1] = sides[i][1] + cross[0] + cross[1]
        slope = a * (2 * theta - 1)
        return _mean(sides, a, slope, upper=False), _mean(sides, a, slope, upper=True)


def _beyond(ratios: np.ndarray, terms: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Bound the sum of the terms beyond a window, the ratios of which do not increase."""
    if not ratios.shape[1]:
        return np.zeros(len(ratios))
    last, ratio = terms[:, -1], ratios[:, -1] * (1 + 20 * U)
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = np.where(ratio < 1, last * ratio / (1 - ratio), np.inf)
    return np.where(whole, 0.0, tail * (1 + 1e-9) + 1e-290)


def _mean(sides: list, a: float, slope: np.ndarray, *, upper: bool) -> Excess:
    """Bound r, the mean of e^a below t, e^slope at its cell and e^-a above, and return excesses.

    r increases with the mass below t and decreases with that above.
    """
    below, here, above = sides
    sign = 1.0 if upper else -1.0
    slack = sign * (20 + 4 * a) * U  # exponentials: 8 u, and 3 u of their arguments
    exponents = a, slope, -a
    found = []
    for mass in here:
        masses = (below[1], mass, above[0]) if upper else (below[0], mass, above[1])
        excess = sum(m * np.expm1(e) for m, e in zip(masses, exponents, strict=True))
        size = sum(m * np.abs(np.expm1(e)) for m, e in zip(masses, exponents, strict=True))
        level = sum(m * np.exp(e) for m, e in zip(masses, exponents, strict=True))
        over = (excess + slack * size) / sum(masses)
        # 1 / r - 1 falls as r rises
        under = -(excess + slack * size) / level
        found.append(
            (
                over + slack * np.abs(over) + sign * 1e-300,
                under - slack * np.abs(under) - sign * 1e-300,
            )
        )
    (over, under), (over_too, under_too) = found
    if upper:
        return Excess(np.maximum(over, over_too), np.minimum(under, under_too))
    return Excess(np.minimum(over, over_too), np.maximum(under, under_too))
