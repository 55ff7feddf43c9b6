"""The law of a leakage with countably many values: tail, quantiles, means, as enclosures.

A value is known to lie in [lower, upper] and has a mass in [mass_lower, mass_upper]; mass that is
not accounted for (the outcomes beyond a head) lies in [0, leftover] and may have any value that is
not below a floor, 0 for a leakage.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput
from borel.numerics.intervals.rounding import TINY, U, fraction_down, fraction_up, sum_outward
from borel.probability.tail_means import BandedLaw

if TYPE_CHECKING:
    from borel.probability.real_functions import RealFunction

VALUE_FIELDS = (
    "lower",
    "upper",
    "ratio_lower",
    "ratio_upper",
    "mass_lower",
    "mass_upper",
    "outside",
)


@dataclass(frozen=True)
class Values:
    """Enclosed values of a leakage over outcomes, with their enclosed masses.

    Attributes
    ----------
    lower, upper : ndarray (m,)
        Enclosures, in nats.
    ratio_lower, ratio_upper : ndarray (m,)
        Enclosures of e^value (Fractions if ``exact``).
    mass_lower, mass_upper : ndarray (m,)
        Enclosures of the probabilities of the outcomes (Fractions if ``exact``).
    outside : ndarray of bool (m,)
        Outcomes of density 0, where the leakage is 0 by convention.
    leftover : float
        Mass of the outcomes that are not among these, at most.
    ceiling : float
        No value is above it, in nats.
    rest : float
        What the outcomes that are not among these add to the mean that is asked for, at most.
    floor : float
        No value is below it, in nats: 0 for a leakage, -inf for an information density.
    """

    lower: np.ndarray
    upper: np.ndarray
    ratio_lower: np.ndarray
    ratio_upper: np.ndarray
    mass_lower: np.ndarray
    mass_upper: np.ndarray
    outside: np.ndarray
    leftover: float = 0.0
    ceiling: float = math.inf
    rest: float = math.inf
    floor: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether ratios and masses are Fractions."""
        return self.ratio_lower.dtype == object

    def above(
        self, t: Any = None, *, closed: bool, ratio: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return which values are certainly, and which are possibly, > t (>= t if closed).

        Instead of t, e^t may be given as a Fraction: then e^value is compared with that.
        """
        if ratio is not None:
            sure, possible = (
                np.array([r >= ratio if closed else r > ratio for r in end.tolist()], bool)
                for end in (self.ratio_lower, self.ratio_upper)
            )
            return sure, possible
        if self.exact:
            sure = np.array([_log_above(r, t, closed) for r in self.ratio_lower], bool)
            return sure, sure
        if closed:
            return self.lower >= t, self.upper >= t
        return self.lower > t, self.upper > t

    def tail(
        self, t: Any = None, *, closed: bool = False, ratio: Any = None
    ) -> tuple[float, float]:
        """Enclose P{value > t}, or P{value >= t}; t = log ratio where a ratio is given."""
        sure, possible = self.above(t, closed=closed, ratio=ratio)
        if self.exact:
            p = sum(self.mass_lower[sure].tolist(), Fraction(0))
            return fraction_down(p), fraction_up(p)
        low, _ = _total(self.mass_lower[sure], self.mass_upper[sure])
        _, high = _total(self.mass_lower[possible], self.mass_upper[possible])
        sure_not, _ = _total(self.mass_lower[~possible], self.mass_upper[~possible])
        high = min(
            math.nextafter(high + self.leftover, math.inf) if self.leftover else high,
            math.nextafter(1.0 - sure_not, math.inf),
            1.0,
        )
        return max(low, 0.0), max(high, low)

    def quantile(self, s: Any, *, side: str = "left") -> tuple[float, float]:
        """Enclose inf{t : cdf(t) >= s}; with side="right", sup{t : cdf(t) <= s}."""
        check_level(s, side)
        if self.exact:
            return self._exact_quantile(Fraction(s), side)
        # cdf >= L, a step function of the upper ends; cdf <= U, one of the lower ends
        upper = self._first(self.upper, self.mass_lower, self.mass_upper, s, side, down=True)
        lower = self._first(self.lower, self.mass_upper, self.mass_lower, s, side, down=False)
        return max(lower, self.floor), max(upper, lower)

    def _first(self, ends, masses, others, s: Any, side: str, *, down: bool) -> float:
        """Return the first end at which the accumulated mass reaches s (exceeds it: right)."""
        order = np.argsort(ends, kind="stable")
        ends, total = ends[order], np.cumsum(masses[order])
        # and, as all masses sum to 1, what the masses beyond leave of it
        rest = np.append(np.cumsum(others[order][:0:-1])[::-1], 0.0)
        slack = (len(total) + 2) * 2.0**-52
        if down:
            left = 1.0 - (rest + self.leftover) * (1 + slack) - 2.0**-52
            total = np.maximum(total * (1 - slack), left)
        else:
            left = 1.0 - rest * (1 - slack) + 2.0**-52
            total = np.minimum((total + self.leftover) * (1 + slack), left)
        level = fraction_up(Fraction(s)) if down else fraction_down(Fraction(s))
        reached = total >= level if side == "left" else total > level
        if not down and self.leftover and (self.leftover >= s):
            return self.floor
        if reached.any():
            return float(ends[np.argmax(reached)])
        # rounding kept the masses from reaching s: it is the last value, unless mass is missing
        if down and self.leftover:
            return self.ceiling
        possible = self.mass_upper > 0  # a mass may be positive though its lower end is 0
        return float((self.upper if down else self.lower)[possible].max(initial=self.floor))

    def _exact_quantile(self, s: Fraction, side: str) -> tuple[float, float]:
        order = sorted(
            (i for i in range(len(self.mass_lower)) if self.mass_lower[i] > 0),
            key=lambda i: self.ratio_lower[i],
        )
        total = Fraction(0)
        for n, i in enumerate(order):
            total += self.mass_lower[i]
            if n + 1 < len(order) and self.ratio_lower[order[n + 1]] == self.ratio_lower[i]:
                continue
            if total >= s if side == "left" else total > s:
                return float(self.lower[i]), float(self.upper[i])
        return float(self.lower[order[-1]]), float(self.upper[order[-1]])

    def mean(self) -> tuple[float, float]:
        """Enclose the mean of the values."""
        return self._expectation(self.lower, self.upper, self.ceiling)

    def expectation(self, h: RealFunction) -> tuple[float, float]:
        """Enclose the mean of h(value); what is left over may have any value there is."""
        masses = self.mass_lower, self.mass_upper
        if self.exact:
            masses = tuple(
                np.array([f(m) for m in masses[0]], float) for f in (fraction_down, fraction_up)
            )
        charged = np.asarray(masses[1]) > 0
        m_low, m_high = (np.asarray(m, float)[charged] for m in masses)
        low, high = h.over(*(np.asarray(v, float)[charged] for v in (self.lower, self.upper)))
        terms = [weighted((m_low, m_high), (low, high))]
        if self.leftover:
            a, b = h.over(np.array([self.floor]), np.array([self.ceiling]))
            none, rest = np.zeros(1), np.array([self.leftover])
            terms.append(weighted((none, rest), (a, b)))
        least, most = (np.concatenate([t[k] for t in terms]) for k in (0, 1))
        return sum_of_signs(least, most)

    def exp_mean(self) -> tuple[Any, Any]:
        """Enclose the mean of e^value; Fractions where the ratios are exact and finite."""
        if not self.exact:
            return self._expectation(
                self.ratio_lower,
                self.ratio_upper,
                math.exp(self.ceiling) * (1 + 1e-15) if self.ceiling < 700 else math.inf,
            )
        pairs = [(m, r) for m, r in zip(self.mass_lower, self.ratio_lower, strict=True) if m > 0]
        if any(r == math.inf for _, r in pairs):
            return math.inf, math.inf
        p = sum((m * r for m, r in pairs), Fraction(0))
        return p, p

    def banded(self, kind: str) -> BandedLaw:
        """Return e^PML, or e^-PMC, of laws in float64; what is left over comes last."""
        masses = self.mass_lower, self.mass_upper
        with np.errstate(all="ignore"):
            if kind == "pml":
                values = self.ratio_lower, self.ratio_upper
            else:
                values = (1 / self.ratio_upper) * (1 - 2 * U), (1 / self.ratio_lower) * (1 + 2 * U)
            least, most = (np.where(m > 0, m * v, 0.0) for m, v in zip(masses, values, strict=True))
        most = np.where(values[1] > 0, most * (1 + 2 * U) + TINY, 0.0)
        law = BandedLaw(values, masses, (least * (1 - 2 * U), most))
        if not self.leftover:
            return law
        ends = (0.0, 1.0), (0.0, self.leftover), (0.0, self.leftover)
        if kind == "pml":
            top = math.exp(self.ceiling) * (1 + 1e-15) if self.ceiling < 700 else math.inf
            ends = (1.0, top), ends[1], (0.0, self.rest)
        return law.joined(BandedLaw(*((np.array([a]), np.array([b])) for a, b in ends)))

    def _expectation(
        self, low: np.ndarray, high: np.ndarray, ceiling: float
    ) -> tuple[float, float]:
        if self.exact:
            m_low = np.array([fraction_down(m) for m in self.mass_lower])
            m_high = np.array([fraction_up(m) for m in self.mass_upper])
        else:
            m_low, m_high = self.mass_lower, self.mass_upper
        charged = m_high > 0
        with np.errstate(invalid="ignore", over="ignore"):
            lower = np.where(m_low > 0, m_low * low, 0.0)[charged]
            upper = (m_high * high)[charged]
        if np.isposinf(np.where(self.mass_lower > 0, low, 0.0)).any():
            return math.inf, math.inf
        # each product rounds once, and an underflow loses at most 2**-1075
        lower = np.maximum(lower - (np.abs(lower) * 2.0**-52 + TINY), 0.0)
        upper = upper + (np.abs(upper) * 2.0**-52 + TINY)
        total = _total(lower, upper)
        if not self.leftover:
            return total
        # a mass times the largest value, unless more is known
        rest = min(self.leftover * ceiling * (1 + 2.0**-50), self.rest)
        return total[0], math.nextafter(total[1] + rest, math.inf)


def check_level(s: Any, side: str) -> None:
    """Check the level and the side of a quantile."""
    if side not in ("left", "right"):
        raise InvalidInput("quantile", expected='side="left" or "right"', got=repr(side))
    inside = 0 < s <= 1 if side == "left" else 0 <= s < 1
    if not inside:
        raise InvalidInput(
            "quantile",
            expected="0 < s <= 1 (side left) or 0 <= s < 1 (side right)",
            got=f"s = {s!r}",
            mend="s = 1 - delta"
            + (f"; {float(s):g} % is s = {float(s) / 100:g}." if 1 < s <= 100 else "."),
        )


def weighted(
    mass: tuple[np.ndarray, np.ndarray], value: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Enclose the products of enclosed masses and values; 0 times inf is 0."""
    return _least(*mass, value[0]), -_least(*mass, -value[1])


def _least(m_low: np.ndarray, m_high: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Return, rounded down, the least product of a mass and a value; 0 times inf is 0."""
    mass = np.where(value > 0, m_low, m_high)
    with np.errstate(invalid="ignore", under="ignore", over="ignore"):
        found = np.where(mass > 0, mass * value, 0.0)
        # a product rounds once, and an underflow loses at most 2**-1075
        slack = np.where(np.isfinite(found) & (found != 0), np.abs(found) * 2.0**-52 + TINY, TINY)
        return np.where((mass > 0) & (value != 0), found - slack, 0.0)


def sum_of_signs(low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Enclose a sum of enclosed numbers of any sign; where both infinities meet, anything."""
    ends = _sum_down(low), -_sum_down(-high)
    return (-math.inf, math.inf) if any(map(math.isnan, ends)) else ends


def _sum_down(terms: np.ndarray) -> float:
    """Return a number at or below a sum, NaN where infinities of both signs meet."""
    up, down = np.isposinf(terms).any(), np.isneginf(terms).any()
    if up or down:
        return math.nan if up and down else math.inf if up else -math.inf
    return float(sum_outward(terms, terms)[0])


def _total(low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    if not len(low):
        return 0.0, 0.0
    low, high = np.asarray(low, float), np.asarray(high, float)
    with np.errstate(over="ignore", invalid="ignore"):
        lower, upper = (float(end) for end in sum_outward(low, high))
    if not math.isfinite(lower):  # it overflows: numbers >= 0 sum to no less than one of them
        lower = float(low.max())
    return lower, upper if math.isfinite(upper) else math.inf


def _log_above(ratio: Any, t: Any, closed: bool) -> bool:
    """Decide log(ratio) > t for a rational ratio: a log of a rational is no other rational."""
    if ratio == math.inf:
        return closed or t != math.inf
    if ratio == 0:
        return closed and t == -math.inf
    if ratio == 1:
        return 0 >= t if closed else 0 > t
    if t in (math.inf, -math.inf):
        return t < 0
    from borel.numerics.balls.arithmetic import ball, precision

    bits = 64
    while True:  # ends: log(ratio) is transcendental, t is rational, so they differ
        with precision(bits):
            gap = ball(ratio).log() - ball(t)
            if gap > 0:
                return True
            if gap < 0:
                return False
        bits *= 2
