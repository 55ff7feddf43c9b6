r"""A threat before and after a release, and the ratio of the two, as Bounds.

The posterior value at y is V(w_y) / P_Y(y) with w_y(x) = p(x) f(y|x), and on average over Y the sum
of V(w_y), for the V (or C) of `borel.adversaries.threats`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from borel.adversaries.beliefs import Beliefs, require_joint
from borel.adversaries.densities import LineBeliefs
from borel.adversaries.posteriors import EnclosedBeliefs
from borel.adversaries.threats import Gain, Number, Threat, Value
from borel.errors import InvalidInput
from borel.numerics.intervals.rounding import fraction_down, fraction_up, log_fraction
from borel.probability.bound import Bound, Ratio, weakest
from borel.probability.measure import Measure

_ONE = Fraction(1)


def beliefs_of(joint: Any, what: str) -> Any:
    """Return what is believed of the secret of a joint, before and after its outcomes."""
    require_joint(joint, what)
    prior = joint.prior
    if joint.finite or not isinstance(prior, Measure) or prior.batch:
        return Beliefs(joint, what)
    if prior.on.kind == "continuous" and prior.on.dim == 1:
        return LineBeliefs(joint, what)
    return Beliefs(joint, what) if prior._probabilities is None else EnclosedBeliefs(joint, what)


class Leak:
    """A threat to a joint: its best values before and after the release."""

    def __init__(self, joint: Any, threat: Any, kind: type[Threat], what: str):
        self.beliefs = beliefs_of(joint, what)
        kind.check(threat, what)
        self.threat: Threat = threat
        self.what = what
        self.reason = "; ".join(filter(None, (self.beliefs.reason, threat.reason)))
        notes = (*self.beliefs.assumptions, *self.beliefs.notes(threat))
        self.assumptions = tuple(dict.fromkeys(notes))

    def _prior(self) -> Value:
        found = self.beliefs.before(self.threat)
        if found.lower == math.inf:
            raise InvalidInput(
                self.what,
                expected="a cost that some action makes finite, under the prior",
                got="infinite expected costs only",
            )
        return found

    def _posterior(self, weights: Any) -> Value:
        return self.beliefs.after(self.threat, weights)

    def before(self) -> Bound:
        """Return the prior value, a Bound."""
        low, high, action = self._prior()
        status = self.beliefs.status_before
        about: dict[str, Any] = {"units": self.threat.word, "witness": {"before": action}}
        return self._bound(_plain(low, high), status=status, **about)

    def after(self, y: Any) -> Bound:
        """Return the posterior value, a Bound."""
        unit = self.threat.word
        if y is None:
            low, high, action = self.beliefs.average(self.threat)
            return self._bound(_plain(low, high), units=unit, witness=_actions(after=action))
        at = self.beliefs.outcome(y)
        found = self._prior() if at.weights is None else self._posterior(at.weights)
        witness = {"y": at.label, "after": found.action}
        ends = _plain(found.lower, found.upper)
        return self._bound(ends, at.notes, units=unit, witness=witness)

    def leakage(self, y: Any) -> Bound:
        """Return the leakage, a Bound in nats."""
        before = self._prior()
        if y is None:
            after = self.beliefs.average(self.threat)
            low, high = self._ratio(before, after)
            # an average never leaks less than nothing: V is convex, C concave
            ratio = Ratio(max(low, _ONE), max(high, _ONE))
            return self._leak(ratio, _actions(before=before.action, after=after.action))
        at = self.beliefs.outcome(y)
        after = before if at.weights is None else self._posterior(at.weights)
        ratio = Ratio(_ONE, _ONE) if at.weights is None else self._ratio(before, after)
        witness = {"y": at.label, "before": before.action, "after": after.action}
        return self._leak(ratio, witness, at.notes)

    def _ratio(self, before: Value, after: Value) -> Ratio:
        """Return after / before for gains, before / after for costs; 0/0 is 1."""
        up, down = (after, before) if isinstance(self.threat, Gain) else (before, after)
        # 0 before is 0 after, too; and about one secret nothing is left to learn
        if before.upper == 0 or self.beliefs.certain:
            return Ratio(_ONE, _ONE)
        low: Number = math.inf if down.upper == 0 else up.lower / down.upper
        high: Number = math.inf if down.lower == 0 else up.upper / down.lower
        return Ratio(low, high)

    def _leak(self, ratio: Ratio, witness: dict, notes: tuple[str, ...] = ()) -> Bound:
        ends = _log(ratio.lower, 0), _log(ratio.upper, 1)
        exact = ratio if ratio.lower == ratio.upper else Ratio(*_plain(ratio.lower, ratio.upper))
        return self._bound(ends, notes, exact_ratio=exact, witness=witness)

    def _bound(
        self,
        ends: tuple[float, float],
        notes: tuple[str, ...] = (),
        status: str = "",
        **about: Any,
    ) -> Bound:
        low, high = ends
        doubts = tuple(self.beliefs.doubts)
        about["assumptions"] = (*self.assumptions, *notes, *doubts)
        if self.reason:
            about.pop("exact_ratio", None)
            middle = low if low == high else low + (high - low) / 2
            half = 0.0 if low == high else (high - low) / 2
            return Bound.estimate(middle, half, reason=self.reason, **about)
        if low != high and (math.isinf(high) or math.isinf(low)):
            about.pop("exact_ratio", None)
            why = "the enclosure is open: float64 does not resolve the probabilities there"
            return Bound.undecided(low, high, reason=why, **about)
        status = status or self.beliefs.status
        if doubts:
            about.pop("exact_ratio", None)
            status = weakest([status, "conditional"])
        return Bound.of(status, low, high, **about)


def _actions(**found: Any) -> dict:
    """Return the actions that are known: none is, for every one of infinitely many outcomes."""
    return {name: action for name, action in found.items() if action is not None}


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
