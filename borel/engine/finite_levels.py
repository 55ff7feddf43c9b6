r"""Levels that guarantees on finite alphabets need, in exact arithmetic: LDI, EML and others.

Prior and matrix are taken as Fractions (a float is its binary64 value). Floats stand for every
normalised law within their relative rounding, so their figures are widened by all that this
rounding can do; for Fractions nothing is widened and every ratio is exact.

Notation: K_x(y) = P_{Y|X=x}(y) and P_Y = sum_x P_X(x) K_x, with x over the support of the prior.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.bound import Bound, Ratio
from borel.engine import engine_for
from borel.engine.rounding import fraction_down, fraction_up, log_fraction, rounding_of
from borel.errors import NotYet

if TYPE_CHECKING:
    from borel.joint import Joint


def finite_levels(joint: Joint, what: str) -> FiniteLevels:
    """Return the levels of a finite joint; they are kept with it.

    Raises
    ------
    NotYet
        Secret or outcome is not finite.
    """
    if not getattr(joint, "finite", False):
        raise NotYet(
            what,
            missing="this level over a posterior of priors, or off finite alphabets",
            instead="one prior and finite alphabets; PML, PMC, LDP and LIP elsewhere.",
        )
    kept = joint.__dict__.setdefault("_finite_levels", [])
    if not kept:
        kept.append(FiniteLevels(joint))
    return kept[0]


class FiniteLevels:
    """Levels of a finite joint, each a Bound with the status of its exact engine.

    Parameters
    ----------
    joint : Joint
        With a finite prior and a matrix.
    """

    def __init__(self, joint: Joint):
        self.engine = engine_for(joint)
        mechanism = joint.mechanism
        prior = joint.probabilities
        self.support = [i for i, p in enumerate(prior) if p != 0]
        self.secrets = [mechanism.secret.labels[i] for i in self.support]
        self.outcomes = list(mechanism.outcome.labels)
        self.p = [Fraction(prior[i]) for i in self.support]
        self.rows = [[Fraction(v) for v in mechanism.matrix[i]] for i in self.support]
        self.exact = joint.rational
        self._prior_error = self._kernel_error = Fraction(0)
        if not self.exact:
            self._prior_error = _relative(prior, joint.prior.rounding)
            self._kernel_error = _relative(mechanism.matrix, mechanism.rounding)

    @cached_property
    def marginal(self) -> list[Fraction]:
        """P_Y."""
        columns = zip(*self.rows, strict=True)
        return [sum(p * k for p, k in zip(self.p, c, strict=True)) for c in columns]  # type: ignore

    @cached_property
    def live(self) -> list[int]:
        """Positions of the outcomes of positive probability."""
        return [j for j, mass in enumerate(self.marginal) if mass > 0]

    @property
    def _low(self) -> Fraction:
        """The least factor by which a mass p(x) K_x(y) may be off."""
        return max((1 - self._prior_error) * (1 - self._kernel_error), Fraction(0))

    @property
    def _high(self) -> Fraction:
        """The largest factor by which a mass p(x) K_x(y) may be off."""
        return (1 + self._prior_error) * (1 + self._kernel_error)

    def _bound(self, low: Any, high: Any, witness: dict) -> Bound:
        """Make the Bound of a level log r from ends of r >= 0."""
        low_nats = -math.inf if low == 0 else math.inf if low == math.inf else log_fraction(low)[0]
        high_nats = math.inf if high == math.inf else log_fraction(high)[1]
        about = {"witness": witness, "attained": True}
        if math.inf not in (low, high):
            about["exact_ratio"] = Ratio(low, high)
        return self.engine.bound(low_nats, high_nats, **about)

    def ldi(self) -> Bound:
        r"""Enclose the LDI level, the largest log of :math:`P_{X|Y=y}(x) / P_{X|Y=y}(x')`.

        Over y of positive probability and x, x' in the support (PML paper, Definition 16).
        """
        worst: tuple[Any, int, int, int] = (Fraction(1), 0, 0, self.live[0])
        for j in self.live:
            masses = [p * row[j] for p, row in zip(self.p, self.rows, strict=True)]
            big, small = (f(range(len(masses)), key=masses.__getitem__) for f in (max, min))
            ratio = math.inf if masses[small] == 0 else masses[big] / masses[small]
            if ratio > worst[0] or len(masses) == 1:
                worst = (ratio, big, small, j)
        ratio, big, small, j = worst
        at = {"x": self.secrets[big], "x'": self.secrets[small], "y": self.outcomes[j]}
        if ratio == math.inf:
            return self._bound(ratio, ratio, at)
        if len(self.p) == 1:  # x = x': nothing is rounded
            return self._bound(Fraction(1), Fraction(1), at)
        high = ratio * self._high / self._low if self._low else math.inf
        return self._bound(max(ratio * self._low / self._high, Fraction(1)), high, at)

    def event(self, delta: Any) -> Bound:
        r"""Enclose the least epsilon of (epsilon, delta)-EML.

        Notes
        -----
        By Theorem 3 of the PML paper (Definitions 7 and 11 are equivalent) it is
        :math:`\log \max_x h_x(\delta)`, the supremum over fuzzy events
        :math:`a : \mathcal Y \to [0, 1]` with :math:`P_Y(a) \ge \delta` of
        :math:`K_x(a) / P_Y(a)`: an event of a mechanism that splits outcomes into similar ones is
        a fuzzy event of the mechanism itself, and conversely.

        *Proof that sorting solves it.* Let r(y) = K_x(y) / P_Y(y), sorted downwards, and let
        H(t) be the integral of r over the first t of mass (an outcome may be cut). For any fuzzy
        event with :math:`P_Y(a) = t`, K_x(a) is the integral of r against a function between 0
        and 1 of mass t, hence at most H(t), attained by taking the largest r first. H is concave
        with H(0) = 0, so H(t) / t does not increase: the supremum over t >= delta is at
        t = delta, h_x = H(delta) / delta, and as delta goes to 0 it is the largest r, which is
        epsilon-PML. One sort for each x: O(n m log m).

        *Rounding.* Let true masses be within factors [l, u] of the given ones, K'_x <= (1 + k)
        K_x. A fuzzy event with P'(a) >= delta has P(a) >= delta / u, so its ratio is at most
        (1 + k) / l times h(delta / u) <= u h(delta), because t h(t) does not decrease. The best
        event at mass delta / l has P'(a) >= delta and a ratio of at least (1 - k) / u times
        h(delta / l) >= l h(delta); where delta / l > 1 the whole space gives 1.
        """
        delta = Fraction(delta)
        best: tuple[Fraction, int, list] = (Fraction(0), 0, [])
        for i, row in enumerate(self.rows):
            value, event = self._fullest(row, delta)
            if value > best[0]:
                best = (value, i, event)
        value, i, event = best
        witness = {"x": self.secrets[i], "event": event}
        spread = self._high / self._low if self._low else math.inf
        high = value * (1 + self._kernel_error) * spread if spread < math.inf else math.inf
        low = value * max(1 - self._kernel_error, Fraction(0)) * self._low / self._high
        if delta == 1 or len(self.p) == 1:  # the whole space, or one secret: 1 whatever is rounded
            low = high = Fraction(1)
        if delta > 0 and high > 1 / delta:  # K_x(a) <= 1
            high = 1 / delta
        return self._bound(max(low, Fraction(1)), max(high, Fraction(1)), witness)

    def _fullest(self, row: list[Fraction], delta: Fraction) -> tuple[Fraction, list]:
        """Return h_x(delta) and the fuzzy event that attains it, as (outcome, share) pairs."""
        order = sorted(self.live, key=lambda j: row[j] / self.marginal[j], reverse=True)
        if delta == 0:
            j = order[0]
            return row[j] / self.marginal[j], [(self.outcomes[j], 1.0)]
        filled, integral, event = Fraction(0), Fraction(0), []
        total = sum(self.marginal, Fraction(0))  # floats may miss 1
        wanted = min(delta, total)
        for j in order:
            share = min((wanted - filled) / self.marginal[j], Fraction(1))
            if share <= 0:
                break
            filled += share * self.marginal[j]
            integral += share * row[j]
            event.append((self.outcomes[j], float(share)))
        return integral / filled, event

    def max_information(self, delta: Any) -> Bound:
        r"""Enclose the delta-approximate max-information between X and Y.

        .. math:: \log \max_{E : P_{XY}(E) \ge \delta}
                  \frac{P_{XY}(E) - \delta}{P_X P_Y(E)}

        Notes
        -----
        For each level t the largest P(E) - t Q(E) is that of {P > t Q}, so the maximum of the
        quotient is attained by a set {P / Q >= s}: one sort of all pairs (PML paper,
        Definitions 12 and 13). It is at least log(1 - delta), from the whole space. Rounding
        scales P by one factor and Q by another, for every set alike.
        """
        delta = Fraction(delta)
        pairs = []
        for i, (p, row) in enumerate(zip(self.p, self.rows, strict=True)):
            for j in self.live:
                if row[j] > 0:
                    pairs.append(
                        (row[j] / self.marginal[j], p * row[j], p * self.marginal[j], i, j)
                    )
        pairs.sort(reverse=True)
        ends = []
        up, down = self._high, self._low
        for more, less in (
            (up, down * (1 - self._prior_error)),
            (down, up * (1 + self._prior_error)),
        ):
            inside = product = Fraction(0)
            best, count = (1 - delta), len(pairs)
            for n, (_, mass, independent, _, _) in enumerate(pairs):
                inside += mass
                product += independent
                if less <= 0:
                    best = math.inf
                elif (inside * more - delta) / (product * less) > best:
                    best, count = (inside * more - delta) / (product * less), n + 1
            ends.append((best, count))
        (high, count), (low, _) = ends
        event = [(self.secrets[i], self.outcomes[j]) for *_, i, j in pairs[:count]]
        return self._bound(low, high, {"event": event})

    def total_variation(self) -> Bound:
        r"""Enclose the total variation between :math:`P_{XY}` and :math:`P_X P_Y`, in [0, 1]."""
        total = sum(
            abs(p * row[j] - p * self.marginal[j])
            for p, row in zip(self.p, self.rows, strict=True)
            for j in self.live
        )
        # each of the two laws, of total mass 1, moves by at most its relative rounding
        moved = (self._high - 1) + (self._high * (1 + self._prior_error) - 1)
        low, high = max((total - moved) / 2, Fraction(0)), min((total + moved) / 2, Fraction(1))
        if len(self.p) == 1:
            low = high = Fraction(0)
        return self.engine.bound(fraction_down(low), fraction_up(high), units="probability")

    def f_information(self, f: Any) -> Bound:
        r"""Enclose :math:`E\, f(dP_{XY} / d(P_X P_Y))` under the product law; Fractions only.

        ``f`` maps Fractions >= 0 to Fractions.
        """
        total = sum(
            p * self.marginal[j] * f(row[j] / self.marginal[j])
            for p, row in zip(self.p, self.rows, strict=True)
            for j in self.live
        )
        low, high = fraction_down(Fraction(total)), fraction_up(Fraction(total))
        if self.exact:
            return self.engine.bound(low, high, units="divergence")
        return Bound.estimate(
            (low + high) / 2,
            max(abs(low), 1.0) * 1e-12,
            units="divergence",
            reason="floats: how their rounding moves an f-information is not enclosed; "
            "give Fractions",
        )


def _relative(values: np.ndarray, rounding: float) -> Fraction:
    """Bound the relative error of the positive entries, subnormal ones included."""
    floats = np.asarray(values, float)
    return Fraction(float(rounding_of(floats, max(rounding, 2.0**-53)).max()))
