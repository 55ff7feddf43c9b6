"""The figures of a finite envelope as Bounds: levels in nats, probabilities, post-processings."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from borel.engine.envelopes.linear_programme import Programme
from borel.engine.envelopes.rational_programme import ExactProgramme
from borel.errors import NotYet
from borel.numerics.balls.arithmetic import ball, enclose
from borel.numerics.intervals import rounding
from borel.numerics.intervals.rounding import fraction_down, fraction_up, log_fraction
from borel.probability.bound import Bound, Ratio

GAP = 1e-11
"""The relative gap of a level at which a search stops; it is mostly far smaller."""
_NORMAL = 2.0**-1022
_STEEP = "an outcome is so rare that e^leakage is beyond the floats: give Fractions"
_OPEN = (
    "the mass of the outcomes that some secret makes impossible is the level itself, to the "
    "rounding of floats: give Fractions"
)


class EnvelopeThreshold:
    """A level t in nats, or e^t itself, as theta: e^t for PML, -e^-t for PMC."""

    def __init__(self, sign: int, t: Any, ratio: Any):
        self.given = t, ratio
        self.exact: Fraction | None = None
        self.number = None if isinstance(t, float) and math.isinf(t) else t
        self.t = t if isinstance(t, float) and math.isfinite(t) else None  # as a float says it
        if ratio is None and t == 0:
            ratio = 1
        if ratio == math.inf or t == math.inf:
            self.infinite = True
            self.exact = Fraction(0) if sign < 0 else None
            self.lower = self.upper = 0.0 if sign < 0 else math.inf
            return
        self.infinite = False
        if t == -math.inf:
            self.lower = self.upper = 0.0 if sign > 0 else -math.inf
            return
        if ratio is not None:
            self.exact = Fraction(ratio) if sign > 0 else -1 / Fraction(ratio)
            self.lower, self.upper = fraction_down(self.exact), fraction_up(self.exact)
            return
        low, high = enclose(lambda: (ball(t) * sign).exp())
        self.lower, self.upper = (low, high) if sign > 0 else (-high, -low)

    def as_number(self) -> dict[str, Any]:
        """Return the level as it was given: ``{"nats": t}``, or ``{"ratio": e^t}``."""
        return {"nats": self.given[0]} if self.given[1] is None else {"ratio": self.given[1]}


def ratio_of(sign: int, theta: Fraction | float) -> Any:
    """Return e^t for a theta; infinite at 0 for PMC."""
    if math.isinf(theta):  # beyond the largest float
        return math.inf
    theta = Fraction(theta)
    if sign > 0:
        return max(theta, Fraction(1))
    return math.inf if theta >= 0 else max(-1 / theta, Fraction(1))


def nats(ratio: Any, end: int) -> float:
    """Return the end of the enclosure of log ratio."""
    return math.inf if ratio == math.inf else max(log_fraction(ratio)[end], 0.0)


class FiniteEnvelope:
    """The envelope of PML or PMC of a finite joint."""

    def __init__(self, engine: Any, kind: str):
        self.engine, self.kind, self.sign = engine, kind, 1 if kind == "pml" else -1
        self.assumptions: tuple[str, ...] = engine.assumptions
        self.live: np.ndarray = engine._live
        self.support: np.ndarray = engine.support

    @cached_property
    def programme(self) -> Programme:
        """The programme in floats, over all that the floats of the joint may mean."""
        if self.exact is not None:
            return self.exact.floats
        engine = self.engine
        k = engine.matrix[np.ix_(self.support, self.live)]
        with np.errstate(under="ignore"):
            kernel = _spread(k, engine._kernel_rounding)
        low, high = (end[self.live] for end in engine._masses)
        return Programme(self.sign, kernel, (low, high))

    @cached_property
    def exact(self) -> ExactProgramme | None:
        """The programme in Fractions, if the joint is rational."""
        if not self.engine.joint.rational:
            return None
        kernel = self.engine._kernel_ends[0]
        return ExactProgramme(self.sign, kernel, self.engine._marginal_ends[0])

    # -- the leakage of a mass --------------------------------------------------------------------

    def epsilon(self, delta: Fraction) -> Bound:
        """Enclose epsilon_c(delta) for 0 < delta <= 1."""
        if self.engine._single:
            return self._epsilon(Fraction(self.sign), Fraction(self.sign), self._all())
        if self.steep:
            return Bound.undecided(reason=_STEEP, assumptions=self.assumptions)
        low, high, weights = self._ends(delta)
        return self._epsilon(low, high, weights)

    @cached_property
    def steep(self) -> bool:
        """Whether an outcome is so rare that e^leakage is no float."""
        return self.exact is None and bool((self.engine._masses[0][self.live] < _NORMAL).any())

    def weights(self, delta: Fraction) -> Any:
        """Return weights that prove the lower end of epsilon_c(delta)."""
        return self._all() if self.engine._single else self._ends(delta)[2]

    def _all(self) -> np.ndarray:
        """Return the weights that name one secret whatever the outcome: leakage 0."""
        out = np.zeros((len(self.support), len(self.live)))
        out[0] = 1.0
        return out

    def _ends(self, delta: Fraction) -> tuple[Any, Any, Any]:
        if self.exact is not None:
            found, rough = self.exact.level(delta, GAP)
            return found.lower, found.upper, found.weights or rough.weights
        if self.sign < 0:
            mass, _, weights, _ = self.programme.value(0.0, 0.0)
            if mass >= delta:
                return Fraction(0), Fraction(0), weights
        rough = self.programme.level(delta, GAP)
        return rough.lower, rough.upper, rough.weights

    def _epsilon(self, low: Any, high: Any, weights: Any) -> Bound:
        lower, upper = ratio_of(self.sign, low), ratio_of(self.sign, high)
        about: dict[str, Any] = {"assumptions": self.assumptions, "attained": True}
        if weights is not None:
            about["witness"] = self.plain(weights)
        if lower == upper and lower != math.inf and self.exact is not None:
            about["exact_ratio"] = Ratio(lower, upper)
        ends = nats(lower, 0), nats(upper, 1)
        known = self.exact is not None or self.engine._single  # one secret leaks nothing
        return self._bound(*ends, exact=known and lower == upper, **about)

    def _bound(self, low: float, high: float, *, exact: bool, **about: Any) -> Bound:
        if self.engine.status == "estimate":
            return self.engine.bound(low, high, **about)
        if math.isinf(high) and not math.isinf(low):
            about.pop("exact_ratio", None)
            return Bound.undecided(low, high, reason=_OPEN, **about)
        make = Bound.exact if exact else Bound.certified
        return make(low, high, **about)

    # -- the mass of a leakage --------------------------------------------------------------------

    def delta(self, threshold: EnvelopeThreshold, *, closed: bool) -> Bound:
        """Enclose delta_c at a level: the largest probability of at least that leakage, or more."""
        if self.steep:
            about = {"assumptions": self.assumptions, "units": "probability"}
            return Bound.undecided(0.0, 1.0, reason=_STEEP, **about)
        low, high, weights, _ = self._delta(threshold, closed)
        about: dict[str, Any] = {"assumptions": self.assumptions, "units": "probability"}
        if weights is not None and low > 0:
            about["witness"] = self.plain(weights)
        about["attained"] = True if closed else None
        exact = low == high and isinstance(low, Fraction)  # of a theorem, or in Fractions
        ends = fraction_down(Fraction(low)), fraction_up(Fraction(high))
        return self._bound(*ends, exact=exact, **about)

    def _dear(self, price: np.ndarray, theta: float) -> np.ndarray:
        """Return prices at which clearly nothing is asked for of secrets of no use."""
        price = self.programme.stretched(price, theta)
        return np.where(self.programme.top < theta, np.minimum(2 * price, 1e300), price)

    def _delta(self, threshold: EnvelopeThreshold, closed: bool) -> tuple[Any, Any, Any, Any]:
        """Return the ends, weights that prove the one, and prices that prove the other."""
        if threshold.upper < self.sign or (closed and threshold.exact == self.sign):
            return Fraction(1), Fraction(1), self._all(), None
        if threshold.infinite and (self.sign > 0 or not closed):
            return Fraction(0), Fraction(0), None, None
        if self.engine._single:
            above = threshold.lower >= self.sign and threshold.exact != self.sign
            proved = above or threshold.exact is not None
            return Fraction(0), Fraction(0 if proved else 1), None, None
        if math.isinf(threshold.upper) and (self.programme.top_high < threshold.lower).all():
            return Fraction(0), Fraction(0), None, None
        if self.exact is not None and threshold.exact is not None:
            found = self.exact.value(threshold.exact, closed=closed)
            return found.lower, found.upper, found.weights, found.price
        return self.programme.value(threshold.lower, threshold.upper, closed=closed)

    # -- post-processings -------------------------------------------------------------------------

    def shares(self, weights: Any) -> tuple[np.ndarray, list[str]]:
        """Return shares (bad outcomes in use, live outcomes) and the names of the bad outcomes."""
        rational = not isinstance(weights, np.ndarray)
        table = np.array(weights, dtype=object) if rational else np.asarray(weights, float)
        if not rational:
            table = table / np.maximum(table.sum(axis=0), 1.0)
        used = np.flatnonzero(np.asarray(table != 0, bool).any(axis=1))
        labels = self.engine.mechanism.secret.labels
        return table[used], [f"x = {labels[self.support[i]]!r}" for i in used]

    def plain(self, weights: Any) -> dict[str, Any]:
        """Return a post-processing as plain data: shares of outcomes y, by bad outcome."""
        table, names = self.shares(weights)
        labels = self.engine.mechanism.outcome.labels
        return {
            "post_processing": {
                name: [(labels[self.live[j]], row[j]) for j in np.flatnonzero(row)]
                for name, row in zip(names, table.tolist(), strict=True)
            }
        }

    def post_processing(self, weights: Any) -> Any:
        """Return the mechanism to one bad outcome for each secret in use, and a rest."""
        from borel.probability.alphabets import Finite
        from borel.probability.mechanism import Mechanism

        outcome = self.engine.joint.outcome
        table, names = self.shares(weights)
        rational = table.dtype == object
        zero: Any = Fraction(0) if rational else 0.0
        rows = np.full((outcome.size, len(table) + 1), zero, dtype=table.dtype)
        rows[self.live, :-1] = table.T
        left = 1 - rows[:, :-1].sum(axis=1)
        rows[:, -1] = left if rational else np.where(left < 1e-15, 0.0, left)
        return Mechanism.from_matrix(rows, secret=outcome, outcome=Finite([*names, "rest"]))

    def witness(self, threshold: EnvelopeThreshold) -> Any:
        """Return the best post-processing at a level."""
        weights = self._delta(threshold, True)[2]
        if weights is None:
            weights = np.zeros((len(self.support), len(self.live)))
        return self.post_processing(weights)


def _spread(values: np.ndarray, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Return ends of what probabilities may mean that are floats within a relative error."""
    slack = (
        values * rounding.rounding_of(values, error) * (1 + 4 * rounding.U)
        + values * 2 * rounding.U
    )
    slack = np.where(values > 0, slack + 2 * rounding.TINY, 0.0)
    return np.maximum(values - slack, 0.0), np.minimum(values + slack, 1.0)


class OpenEnvelope:
    """What envelopes off finite alphabets share: enclosures, and no matrix for a witness."""

    engine: Any
    unbounded = ""
    """Why nothing bounds the envelope from above, where nothing does."""
    assumptions: tuple[str, ...]

    def _bound(self, low: float, high: float, more: tuple[str, ...] = (), **about: Any) -> Bound:
        notes = tuple(dict.fromkeys((*self.assumptions, *more)))
        if math.isinf(high) and not math.isinf(low):
            return Bound.undecided(low, high, reason=self.unbounded, assumptions=notes, **about)
        make = Bound.conditional if self.engine.status == "conditional" else Bound.certified
        return make(low, high, assumptions=notes, **about)

    def weights(self, delta: Fraction) -> Any:
        """Refuse: the post-processing of cells is no matrix."""
        raise NotYet(
            "env.witness",
            missing="a post-processing of outcomes that are not finite, as a mechanism",
            instead="mech.push onto bins, and the envelope of the bins.",
        )

    def witness(self, threshold: EnvelopeThreshold) -> Any:
        """Refuse, as `weights` does."""
        return self.weights(Fraction(0))
