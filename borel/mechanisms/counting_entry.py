"""What a noisy count leaks about one entry of a database: closed forms for any n."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.mechanisms.closed_forms import proved
from borel.mechanisms.counting import PAPER, extreme
from borel.mechanisms.noisy_count import Ends, NoisyCount
from borel.mechanisms.noisy_count_means import NoisyCountCells
from borel.numerics.balls.arithmetic import ball, enclose
from borel.numerics.intervals.rounding import U, fraction_down, fraction_up
from borel.probability.bound import Bound
from borel.probability.closed_forms import ClosedForms
from borel.probability.countable_law import check_level
from borel.probability.generators import NAMED

if TYPE_CHECKING:
    from borel.probability.joint import Joint

PROP = f"{PAPER}, Proposition 4.6"
_STEPS = 52
_CELLS = 3000
"""How many cells of outcomes a mean is summed over."""
_ROUNDS = 16


class _Form(NamedTuple):
    """A leakage on one side: sign * log(1 + weight * (e^(+-x) - 1)), x the log-ratio."""

    sign: int
    own: bool  # whether the weight is P(D counts), else one minus it
    over: bool  # whether it is e^x - 1, else e^-x - 1


_FORMS = {
    ("pml", 1): _Form(-1, False, False),
    ("pml", -1): _Form(-1, True, True),
    ("pmc", 1): _Form(1, True, True),
    ("pmc", -1): _Form(1, False, False),
}
"""By kind and by the sign of log f(t|1) / f(t|0); each grows with the weight and with abs(x)."""


@dataclass(frozen=True)
class EntryForms(ClosedForms):
    r"""Laplace noise on a count, seen from one entry that counts (D = 1) or not (D = 0).

    Notes
    -----
    In units of the count T = D + M + noise, M ~ Binomial(n - 1, p), and
    :math:`r(t) = f(t|1) / f(t|0)`; see `borel.mechanisms.noisy_count` for the proofs that r
    lies in [e^-a, e^a], is e^a for t >= n and e^-a for t <= 0, does not decrease in t and does not
    increase in p. With the prior P(D = 1) = w, 0 < w < 1,

    .. math:: e^{-\ell(t)} = \min\{(1 - w)/r + w,\; 1 - w + w r\}, \qquad
              e^{\Lambda(t)} = \max\{1 - w + w r,\; (1 - w)/r + w\}.

    *Suprema.* Both grow with \|log r\| on either side of r = 1, so the essential suprema are taken
    for t >= n or t <= 0, events of positive probability:
    PML: a - log(1 - q + q e^a), q = min(w, 1 - w); PMC: log(1 - q + q e^a), q = max(w, 1 - w).
    No property of the law of M was used: this proves "it is sufficient to consider y > 1 and
    y < 0" of the paper, for entries of any independent laws. LDP is a.
    *Law.* {leakage > s} is {t > t_2} or {t < t_1}, with r at t_1 and t_2 given by the formulas.
    *Mean of e^PML.* The integral of max f(t|d), which is 1 + F(t* | 0) - F(t* | 1), r(t*) = 1.
    *Means and mutual information.* Cell by cell between the counts, where the integrals are
    elementary: `borel.mechanisms.noisy_count_means`.
    Tested in ``tests/mechanisms/test_counting.py``.
    """

    noise: NoisyCount
    unit: int
    counted: tuple[bool, ...]

    # -- the prior ------------------------------------------------------------------------------

    def _weight(self, joint: Joint) -> Ends:
        """Enclose the prior probability that the entry counts."""
        from borel.mechanisms.independent_entries import chance

        return chance(joint.prior, joint.mechanism.secret, self.counted)

    def _t(self, y: Any) -> Fraction:
        return Fraction(float(y)) * self.unit

    # -- at outcomes ----------------------------------------------------------------------------

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one outcome."""
        w = self._weight(joint)
        if w.upper == 0 or w.lower == 1:
            return proved(0.0, 0.0, PROP)
        return proved(*leakage(kind, self.noise.log_ratio(self._t(y)), w), PROP)

    def curve(self, joint: Joint, kind: str, ys: Any) -> tuple[Any, Any, Any] | None:
        """Return lower ends, upper ends and the status at many outcomes, in one pass."""
        if not self.noise.gentle:
            return super().curve(joint, kind, ys)
        w = self._weight(joint)
        ys = np.asarray(ys, float)
        if w.upper == 0 or w.lower == 1:
            return np.zeros(len(ys)), np.zeros(len(ys)), "exact"
        top = self.sup(joint, kind).upper
        return (*curve(kind, self.noise, self.unit, ys, w, top), "certified")

    def sup(self, joint: Joint, kind: str) -> Bound:
        """Return the supremum over the outcomes, taken beyond one end of the counts."""
        w = self._weight(joint)
        low, high, right = extreme(kind, w, self.noise.rate)
        labels = joint.mechanism.secret.labels
        told = right == (kind == "pml")
        found = [label for label, c in zip(labels, self.counted, strict=True) if c == told]
        y = (self.noise.others + 1) / self.unit if right else 0.0
        witness = {"x": found[0], "y": y} if found else None
        return proved(low, high, PROP, attained=True, witness=witness)

    # -- measures of the joint ------------------------------------------------------------------

    def ldp(self, joint: Joint) -> Bound:
        """Return the LDP level of the kernel on the support: a."""
        w = self._weight(joint)
        if w.upper == 0 or w.lower == 1:
            return proved(0.0, 0.0, PROP)
        return proved(*self.noise.steepest, PROP, attained=True)

    def maximal_leakage(self, joint: Joint) -> Bound:
        """Return log E e^PML."""
        low, high = self._exp_mean(self._weight(joint))
        ends = enclose(lambda: ball(low).log())[0], enclose(lambda: ball(high).log())[1]
        return _certified(max(ends[0], 0.0), max(ends[1], 0.0))

    def exp_mean(self, joint: Joint, kind: str) -> Bound | None:
        """Return E e^PML."""
        if kind != "pml":
            return None
        return _certified(*self._exp_mean(self._weight(joint)), units="ratio")

    def _exp_mean(self, w: Ends) -> tuple[float, float]:
        if w.upper == 0 or w.lower == 1:
            return 1.0, 1.0
        low, high = self._crossing(0.0, 0.0, right=True)
        high = self._n if high is None else high
        # F(t|0) - F(t|1) is largest where r = 1, between low and high
        least = self._difference(low, low)[0], self._difference(high, high)[0]
        most = self._difference(low, high)[1]
        lower, upper = 1 + max(*least, 0.0), min(1 + most, 2.0)
        return max(math.nextafter(lower, 0.0), 1.0), math.nextafter(upper, 3.0)

    def _difference(self, given_one: Fraction, given_zero: Fraction) -> tuple[float, float]:
        """Enclose P(T > given_one | 1) - P(T > given_zero | 0)."""
        a, b = self.noise.survival(given_one - 1), self.noise.survival(given_zero)
        return a[0] - b[1] - 2 * U, a[1] - b[0] + 2 * U

    def mean(self, joint: Joint, kind: str) -> Bound | None:
        """Return the mean of the leakage, for up to `_CELLS` entries."""
        w = self._weight(joint)
        if w.upper == 0 or w.lower == 1:
            return proved(0.0, 0.0, PROP)
        if not self._listed(w):
            return None
        low, high = self._crossing(0.0, 0.0, right=True)
        high = self._n if high is None else high
        middle, slack = (low + high) / 2, high - low
        ends = enclose(lambda: NoisyCountCells(self.noise, w).leakage(kind, middle, slack))
        top = self.sup(joint, kind).upper
        return _certified(max(ends[0], 0.0), min(ends[1], top))

    def mutual_information(self, joint: Joint) -> Bound | None:
        """Return the mutual information of the entry and the outcome."""
        w = self._weight(joint)
        if w.upper == 0 or w.lower == 1:
            return proved(0.0, 0.0, PROP)
        if not self._listed(w):
            return None
        ends = enclose(lambda: NoisyCountCells(self.noise, w).information())
        return _certified(max(ends[0], 0.0), max(ends[1], 0.0))

    def f_information(self, joint: Joint, f: Any) -> Bound | None:
        """Return T(D; Y), which is 2 w (1 - w) times that of the two densities."""
        if f is NAMED["kl"]:
            return self.mutual_information(joint)
        if f is not NAMED["total_variation"]:
            return None
        w = self._weight(joint)
        low, high = self._exp_mean(w)
        spread = [2 * v * (1 - v) for v in w]
        most = Fraction(1, 2) if w.lower <= Fraction(1, 2) <= w.upper else max(spread)
        ends = (
            enclose(lambda: ball(min(spread)) * (ball(low) - 1))[0],
            enclose(lambda: ball(most) * (ball(high) - 1))[1],
        )
        return _certified(max(ends[0], 0.0), ends[1], units=f.units)

    def _listed(self, w: Ends) -> bool:
        p = self.noise.p
        return self.noise.others < _CELLS and 0 < p.lower and p.upper < 1

    # -- law ------------------------------------------------------------------------------------

    @property
    def _n(self) -> Fraction:
        return Fraction(self.noise.others + 1)

    def tail(self, joint: Joint, kind: str, t: Any, closed: bool) -> Bound | None:
        """Return P{leakage > t}."""
        low, high = self._tail(kind, self._weight(joint), t, closed=closed)
        return _certified(low, high, units="probability")

    def _tail(self, kind: str, w: Ends, s: Any, *, closed: bool = False) -> tuple[float, float]:
        if s < 0 or (closed and s == 0):
            return 1.0, 1.0
        if s == math.inf or w.upper == 0 or w.lower == 1:
            return 0.0, 0.0
        low = high = 0.0
        for side in (1, -1):
            least, most = _threshold(kind, side, s, w)
            inner, outer = self._crossing(least, most, right=side > 0)
            if inner is not None:
                high += self._beyond(w, inner, side)[1]
            if outer is not None:
                low += self._beyond(w, outer, side)[0]
        return low * (1 - 4 * U), min(high * (1 + 4 * U), 1.0)

    def _beyond(self, w: Ends, t: Fraction, side: int) -> tuple[float, float]:
        """Enclose P(T > t), or P(T < t), under the prior."""
        if side > 0:
            one, zero = self.noise.survival(t - 1), self.noise.survival(t)
        else:
            mirrored, n = self.noise.mirrored, self.noise.others
            one, zero = mirrored.survival(n - t + 1), mirrored.survival(n - t)
            w = Ends(w.upper, w.lower)  # the other way round: it falls with w, as T grows
        low = enclose(lambda: ball(zero[0]) + ball(w.lower) * (ball(one[0]) - ball(zero[0])))[0]
        high = enclose(lambda: ball(zero[1]) + ball(w.upper) * (ball(one[1]) - ball(zero[1])))[1]
        return low, high

    def _crossing(self, least: float, most: float, *, right: bool) -> tuple[Any, Any]:
        """Enclose where log r rises above a threshold, or falls below minus it on the left.

        Returns
        -------
        inner : Fraction or None
            Up to there (from there on, on the left) abs(log r) is below the threshold; None if it
            is below it everywhere.
        outer : Fraction or None
            From there on (up to there, on the left) it is above; None if it is not known to be so
            anywhere.
        """
        if self.noise.steepest[1] < least:
            return None, None
        n = self.noise.others + 1
        inner, stop = (0.0, float(n)) if right else (float(n), 0.0)  # r < 1 at inner
        outer = stop if self._against(np.array([stop]), least, most, right)[1][0] else None
        parts = 64 if n < 2000 else 16
        for _ in range(_ROUNDS):
            end = stop if outer is None else outer
            points = inner + (end - inner) * np.arange(1, parts) / parts
            below, above = self._against(points, least, most, right)
            if not below.any() and (outer is None or not above.any()):
                break
            if outer is not None and above.any():
                outer = float(points[np.argmax(above)])
            if below.any():
                inner = float(points[len(below) - 1 - np.argmax(below[::-1])])
            if outer is not None and abs(outer - inner) <= 4e-15 * n:
                break
        return Fraction(inner), None if outer is None else Fraction(outer)

    def _against(
        self, t: np.ndarray, least: float, most: float, right: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return where log r, or minus log r on the left, is surely below and surely above."""
        if self.noise.gentle:
            low, high = self.noise.excesses(t, t)
            at_least, at_most = (low.over, high.over) if right else (high.under, low.under)
            least = enclose(lambda: ball(least).expm1())[0]
            most = enclose(lambda: ball(most).expm1())[1] if most < math.inf else most
        else:
            ends = np.array([self.noise.log_ratio(Fraction(float(v))) for v in t])
            at_least, at_most = (ends[:, 0], ends[:, 1]) if right else (-ends[:, 1], -ends[:, 0])
        return at_most < least, at_least > most

    def quantile(self, joint: Joint, kind: str, s: Any, side: str) -> Bound | None:
        """Return the quantile at level s, by bisection of the law."""
        check_level(s, side)
        w, level = self._weight(joint), Fraction(s)
        low, high = 0.0, self.sup(joint, kind).upper
        below, above = 0.0, 1.0  # about the law at the two ends
        for _ in range(_STEPS):
            width = high - low
            if width <= 1e-12 * (1 + high):
                break
            # the law is about linear on short brackets: try both sides of where it should be
            guess = low + width * min(max((float(s) - below) / max(above - below, U), 0.0), 1.0)
            for v in (guess - width / 50, guess + width / 50, (low + high) / 2):
                if not low < v < high or (v == (low + high) / 2 and high - low < width / 2):
                    continue
                tail = self._tail(kind, w, v)
                cdf = 1 - Fraction(tail[1]), 1 - Fraction(tail[0])
                if cdf[1] < level or (side == "right" and cdf[1] <= level):
                    low, below = v, float(cdf[1])
                elif cdf[0] > level or (side == "left" and cdf[0] >= level):
                    high, above = v, float(cdf[0])
            if high - low > 0.6 * width:
                break  # the enclosures of the law do not tell more
        return _certified(low, high)


def _certified(low: float, high: float, **about: Any) -> Bound:
    """Make the Bound of a figure that was found by bisection between enclosures."""
    return Bound.certified(low, high, assumptions=(f"the monotone ratio of {PROP}",), **about)


def leakage(kind: str, x: tuple[float, float], w: Ends) -> tuple[float, float]:
    """Enclose the leakage for a log-ratio and a prior in enclosures."""
    lows, highs = [0.0], [0.0]
    for side, (least, most) in ((1, x), (-1, (-x[1], -x[0]))):
        if most > 0:
            highs.append(enclose(partial(_value, kind, side, most, w, upper=True))[1])
        if least > 0:
            lows.append(enclose(partial(_value, kind, side, least, w, upper=False))[0])
    return max(lows), max(highs)


def _value(kind: str, side: int, size: float, w: Ends, *, upper: bool) -> Any:
    form = _FORMS[kind, side]
    weight = _weight(form, w, upper=upper)
    x = ball(size) if (side > 0) == form.over else -ball(size)
    return form.sign * (ball(weight) * x.expm1()).log1p()


def _weight(form: _Form, w: Ends, *, upper: bool) -> Fraction:
    if form.own:
        return w.upper if upper else w.lower
    return 1 - (w.lower if upper else w.upper)


def _threshold(kind: str, side: int, s: Any, w: Ends) -> tuple[float, float]:
    """Enclose the abs(log r) above which the leakage is above s; inf if it never is."""
    form = _FORMS[kind, side]

    def inverse(upper: bool) -> Any:
        argument = (form.sign * ball(s)).expm1() / ball(_weight(form, w, upper=upper))
        return form.sign * argument.log1p()

    ends = []
    for upper, end in ((True, 0), (False, 1)):  # it falls as the weight grows
        if form.sign < 0:
            room = enclose(
                lambda: 1 + (-ball(s)).expm1() / ball(_weight(form, w, upper=upper))  # noqa: B023
            )
            if room[1] <= 0:
                ends.append(math.inf)
                continue
            if room[0] <= 0:  # it cannot be told from never
                ends.append(_least_log(room[1]) if end == 0 else math.inf)
                continue
        ends.append(enclose(lambda: inverse(upper))[end])  # noqa: B023
    return max(ends[0], 0.0), max(ends[1], 0.0)


def _least_log(value: float) -> float:
    return -enclose(lambda: ball(value).log())[1]


def curve(
    kind: str, noise: NoisyCount, unit: int, ys: np.ndarray, w: Ends, top: float
) -> tuple[np.ndarray, np.ndarray]:
    """Enclose the leakage at many outcomes, in float64 lanes; nowhere above ``top``."""
    t = np.asarray(ys, float) * unit
    # a product of floats: where it is rounded, r is monotone in between
    exact = (t <= 0) | (t >= noise.others + 2) | (unit == 1)
    lower = np.where(exact, t, np.nextafter(t, -np.inf))
    upper = np.where(exact, t, np.nextafter(t, np.inf))
    least, most = noise.excesses(lower, upper)
    low, high = np.zeros(len(least.over)), np.zeros(len(least.over))
    for side, near, far in ((1, least, most), (-1, most, least)):
        form = _FORMS[kind, side]
        for bound, ends, upper in ((near, low, False), (far, high, True)):
            live = bound.over * side > 0
            excess = bound.over if form.over else bound.under
            weight = _weight(form, w, upper=upper)
            factor = fraction_up(weight) if upper else fraction_down(weight)
            out = 4 * U if upper else -4 * U
            with np.errstate(divide="ignore", invalid="ignore"):
                z = np.maximum(factor * excess * (1 + out), -1.0)
                value = form.sign * np.log1p(z)
            value = value * (1 + (16 * U if upper else -16 * U))
            np.maximum(ends, np.where(live, value, 0.0), out=ends)
    return np.minimum(low, top), np.minimum(high, top)
