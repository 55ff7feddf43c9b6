"""What an adversary believes of finitely many secrets when the outcomes are not finite.

The prior is a list of rationals, as everywhere here; what an outcome tells is enclosed by the
engine of the joint, and the average over outcomes is one over cells of them (`averages`).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.adversaries.averages import average
from borel.adversaries.beliefs import FLOATS, At, PriorBeliefs, Weights, at_most_1, fractions
from borel.engine import engine_for
from borel.engine.finite.law_engine import OUTSIDE
from borel.errors import InvalidInput, NotEnclosed, NotYet
from borel.figures.leakage import VERSION, _is_single, _representable
from borel.numerics.intervals import batched
from borel.probability.arrays import carried

if TYPE_CHECKING:
    from borel.adversaries.threats import Threat, Value
    from borel.probability.alphabets import Alphabet
    from borel.probability.joint import Joint

_FLOAT64 = 1e-9
"""How far the logarithms of an estimate may be off."""
_LARGE = 1e300


def single(outcome: Alphabet, y: Any) -> None:
    """Refuse what is not one outcome."""
    if not _is_single(outcome, y):
        raise InvalidInput(
            "y", expected="one outcome", got=repr(y), mend="ask for one y at a time."
        )
    outcome.check(y)
    _representable(outcome, y)


class EnclosedBeliefs(PriorBeliefs):
    """The prior of a finite secret, and enclosures of its posteriors.

    Parameters
    ----------
    joint : Joint
        With a finite secret; the outcomes are countable, or have a density.
    what : str
        Who asks, for the message of an error.
    """

    def __init__(self, joint: Joint, what: str):
        if joint.outcome.dim > 1:
            raise NotYet(
                what,
                missing=f"gains and costs with outcomes on {joint.outcome!r}",
                instead="outcomes of one dimension; or finite alphabets.",
            )
        own = joint.mechanism.secret
        super().__init__(joint, own if own.kind == "finite" else joint.secret, what)
        self.what = what

    @cached_property
    def engine(self) -> Any:
        """The engine of the joint."""
        return engine_for(self.joint)

    @cached_property
    def reason(self) -> str:
        """Why figures are estimates, if they are."""
        own = self.engine.reason if self.engine.status == "estimate" else ""
        return own or carried(self.joint.prior)

    @cached_property
    def status(self) -> str:
        """The status of figures: what cells of outcomes tell is an enclosure, hence certified."""
        return "conditional" if self.engine.status == "conditional" else "certified"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What figures rest on."""
        notes = () if self.joint.prior.rational else (FLOATS,)
        return (*self.engine.assumptions, *notes)

    def outcome(self, y: Any) -> At:
        """Enclose the posterior at one outcome."""
        outcome = self.joint.outcome
        single(outcome, y)
        labels = np.asarray([self._number(x) for x in self.secrets.labels])
        marginal = self.engine.values_at("pml", y)
        if marginal.outside[0]:
            return At(y, None, (OUTSIDE,))
        where = (VERSION,) if outcome.kind in ("continuous", "mixed") else ()
        low, high = self.engine.information_density_at(labels, np.broadcast_to(y, labels.shape))
        if not np.isfinite(low).any():  # it may be outside the support, or not
            low, high = np.full(len(labels), -np.inf), np.full(len(labels), np.inf)
        if self.engine.status == "estimate":
            low, high = low - _FLOAT64, high + _FLOAT64
        with np.errstate(over="ignore"):
            least, most = batched.exp((low, high))
        known = most <= _LARGE
        ratio = [fractions(np.minimum(end, _LARGE)) for end in (least, most)]
        p_low, p_high = self._p
        most = at_most_1(p_high * ratio[1])
        most[~known] = Fraction(1)
        return At(y, Weights((p_low * ratio[0])[None], most[None], Fraction(1)), where)

    def average(self, threat: Threat) -> Value:
        """Enclose the mean over outcomes of the best value after them."""
        engine = self.engine
        if engine.status == "estimate":
            raise NotYet(
                self.what,
                missing=f"an average over outcomes without an enclosure: {engine.reason}",
                instead="one outcome, y=..., is estimated.",
            )
        try:
            return average(engine, self.secrets, threat, self._p)
        except NotEnclosed as error:
            raise NotYet(self.what, missing=str(error), instead="one outcome, y=...") from None

    def _number(self, label: Any) -> float:
        return float(label)
