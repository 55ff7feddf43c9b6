r"""A threat before and after a release, and the ratio of the two, as Bounds.

The posterior value at y is V(w_y) / P_Y(y) with w_y(x) = p(x) f(y|x), and on average over Y the sum
of V(w_y), for the V (or C) of `borel.adversaries.threats`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from borel.adversaries.beliefs import Beliefs, Weights
from borel.adversaries.threats import Gain, Number, Threat, Value
from borel.engine.finite.law_engine import OUTSIDE
from borel.errors import InvalidInput
from borel.numerics.intervals.rounding import fraction_down, fraction_up, log_fraction
from borel.probability.bound import Bound, Ratio

_ONE = Fraction(1)


class Leak:
    """A threat to a joint: its best values before and after the release."""

    def __init__(self, joint: Any, threat: Any, kind: type[Threat], what: str):
        self.beliefs = Beliefs(joint, what)
        kind.check(threat, what)
        self.threat: Threat = threat
        self.what = what
        self.reason = "; ".join(filter(None, (self.beliefs.reason, threat.reason)))
        notes = (*self.beliefs.assumptions, *threat.notes(self.beliefs.secrets))
        self.assumptions = tuple(dict.fromkeys(notes))

    def _prior(self) -> Value:
        found = self.threat.enclosed(self.beliefs.secrets, self.beliefs.prior)[0]
        if found.lower == math.inf:
            raise InvalidInput(
                self.what,
                expected="a cost that some action makes finite, under the prior",
                got="infinite expected costs only",
            )
        return found

    def _posterior(self, column: int) -> Value:
        """Return V(w_y) / P_Y(y)."""
        weights = self.beliefs.at(np.array([column]))
        charged = np.asarray(weights.lower[0] != 0, bool) | np.asarray(weights.upper[0] != 0, bool)
        if charged.sum() == 1:  # a posterior of one point is known exactly
            sure = np.array([[Fraction(int(c)) for c in charged]], dtype=object)
            weights = Weights(sure, sure)
        low, high, action = self.threat.enclosed(self.beliefs.secrets, weights)[0]
        least = sum(weights.lower[0].tolist(), Fraction(0))
        most = sum(weights.upper[0].tolist(), Fraction(0))
        return Value(low / most, high / least if least else math.inf, action)

    def _average(self) -> Value:
        """Return the sum of V(w_y), with an action for every outcome."""
        found = self.threat.enclosed(self.beliefs.secrets, self.beliefs.at(self.beliefs.live))
        labels = self.beliefs.mechanism.outcome.labels
        actions = {labels[j]: v.action for j, v in zip(self.beliefs.live, found, strict=True)}
        low = sum((v.lower for v in found), Fraction(0))
        return Value(low, sum((v.upper for v in found), Fraction(0)), actions)

    def before(self) -> Bound:
        """Return the prior value, a Bound."""
        low, high, action = self._prior()
        return self._bound(_plain(low, high), units=self.threat.word, witness={"before": action})

    def after(self, y: Any) -> Bound:
        """Return the posterior value, a Bound."""
        unit = self.threat.word
        if y is None:
            low, high, action = self._average()
            return self._bound(_plain(low, high), units=unit, witness={"after": action})
        column = self.beliefs.column(y)
        dead = column not in self.beliefs.live
        low, high, action = self._prior() if dead else self._posterior(column)
        return self._bound(
            _plain(low, high), dead, units=unit, witness={"y": self._label(column), "after": action}
        )

    def leakage(self, y: Any) -> Bound:
        """Return the leakage, a Bound in nats."""
        before = self._prior()
        if y is None:
            after = self._average()
            low, high = self._ratio(before, after)
            # an average never leaks less than nothing: V is convex, C concave
            ratio = Ratio(max(low, _ONE), max(high, _ONE))
            return self._leak(ratio, {"before": before.action, "after": after.action})
        column = self.beliefs.column(y)
        dead = column not in self.beliefs.live
        after = before if dead else self._posterior(column)
        ratio = Ratio(_ONE, _ONE) if dead else self._ratio(before, after)
        witness = {"y": self._label(column), "before": before.action, "after": after.action}
        return self._leak(ratio, witness, dead=dead)

    def _label(self, column: int) -> Any:
        return self.beliefs.mechanism.outcome.labels[column]

    def _ratio(self, before: Value, after: Value) -> Ratio:
        """Return after / before for gains, before / after for costs; 0/0 is 1."""
        up, down = (after, before) if isinstance(self.threat, Gain) else (before, after)
        # 0 before is 0 after, too; and about one secret nothing is left to learn
        if before.upper == 0 or len(self.beliefs.secrets.labels) == 1:
            return Ratio(_ONE, _ONE)
        low: Number = math.inf if down.upper == 0 else up.lower / down.upper
        high: Number = math.inf if down.lower == 0 else up.upper / down.lower
        return Ratio(low, high)

    def _leak(self, ratio: Ratio, witness: dict, *, dead: bool = False) -> Bound:
        ends = _log(ratio.lower, 0), _log(ratio.upper, 1)
        exact = ratio if ratio.lower == ratio.upper else Ratio(*_plain(ratio.lower, ratio.upper))
        return self._bound(ends, dead, exact_ratio=exact, witness=witness)

    def _bound(self, ends: tuple[float, float], dead: bool = False, **about: Any) -> Bound:
        low, high = ends
        notes = (*self.assumptions, *((OUTSIDE,) if dead else ()))
        about["assumptions"] = notes
        if self.reason:
            about.pop("exact_ratio", None)
            middle = low if low == high else low + (high - low) / 2
            half = 0.0 if low == high else (high - low) / 2
            return Bound.estimate(middle, half, reason=self.reason, **about)
        if low != high and (math.isinf(high) or math.isinf(low)):
            about.pop("exact_ratio", None)
            why = "the enclosure is open: float64 does not resolve the probabilities there"
            return Bound.undecided(low, high, reason=why, **about)
        return Bound.exact(low, high, **about)


def _plain(low: Number, high: Number) -> tuple[float, float]:
    """Round a value outwards to floats."""
    return (
        math.inf if low == math.inf else fraction_down(Fraction(low)),
        math.inf if high == math.inf else fraction_up(Fraction(high)),
    )


def _log(value: Number, end: int) -> float:
    if value in (0, math.inf):
        return math.inf if value else -math.inf
    return log_fraction(Fraction(value))[end]
