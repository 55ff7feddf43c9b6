r"""The envelope of a continuous secret: between the law of the leakage and its supremum.

Z = Y is a post-processing, so that the law of the leakage of Y bounds the envelope from below. No
outcome of any Z leaks more than the supremum over Y (post-processing), and E e^PML(Z) is at most
that of Y, so that Markov's inequality gives P{l(X -> Z) >= t} <= e^(maximal leakage - t)
(Theorem 3). These bound it from above.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from fractions import Fraction
from functools import cached_property
from typing import Any

from borel import settings
from borel.engine.envelopes.figures import EnvelopeThreshold, OpenEnvelope, nats, ratio_of
from borel.numerics.intervals.rounding import log_fraction
from borel.probability.bound import Bound

_THEOREM = "Theorem 3 of the leakage envelopes: Markov's inequality for e^leakage"


class LawEnvelope(OpenEnvelope):
    """Enclosures of the envelope of PML or PMC for a continuous secret and outcome.

    Parameters
    ----------
    engine : CertifiedOutcomes
        The joint.
    kind : {"pml", "pmc"}
        Which leakage.
    """

    unbounded = "the supremum of the leakage is not bounded, and nothing else bounds its envelope"

    def __init__(self, engine: Any, kind: str):
        self.engine, self.kind, self.sign = engine, kind, 1 if kind == "pml" else -1
        self.assumptions = engine.assumptions

    @cached_property
    def top(self) -> Bound:
        """The supremum of the leakage over the outcomes."""
        return self.engine.sup(self.kind)

    @cached_property
    def mean(self) -> Bound:
        """Maximal leakage, log E e^PML."""
        secret = self.engine.secret
        endless = secret is not None and secret.rest
        with settings.part(8) if endless else nullcontext():  # hundreds of counts take long
            return self.engine.maximal_leakage()

    def epsilon(self, delta: Fraction) -> Bound:
        """Enclose epsilon_c(delta) for 0 < delta <= 1."""
        top = self.top
        high = top.upper if top.proved or top.status == "undecided" else math.inf
        notes = top.assumptions
        if self.kind == "pml":
            mean = self.mean
            markov = math.nextafter(mean.upper + log_fraction(1 / delta)[1], math.inf)
            if mean.status != "estimate" and markov < high:
                high, notes = markov, (*mean.assumptions, _THEOREM)
        # P{leakage >= t} >= delta at the quantile of 1 - delta
        s, side = (1 - delta, "left") if delta < 1 else (Fraction(0), "right")
        own = _proved(self.engine.quantile(self.kind, s, side=side))
        low = min(max(own.lower, 0.0), high)
        return self._bound(low, high, (*notes, *own.assumptions))

    def delta(self, threshold: EnvelopeThreshold, *, closed: bool) -> Bound:
        """Enclose delta_c at a level; from above it is 1 up to the supremum, and 0 beyond it."""
        units: dict[str, Any] = {"units": "probability"}
        if threshold.upper < self.sign or (closed and threshold.exact == self.sign):
            return self._bound(1.0, 1.0, (), **units)
        top, level = self.top, nats(ratio_of(self.sign, threshold.lower), 0)
        if top.proved and top.upper < level:
            return self._bound(0.0, 0.0, top.assumptions, **units)
        above = nats(ratio_of(self.sign, threshold.upper), 1)
        own = _proved(self.engine.tail(self.kind, above, closed=closed))
        low = max(min(own.lower, 1.0), 0.0)
        return self._bound(low, 1.0, (*top.assumptions, *own.assumptions), **units)


def _proved(found: Bound) -> Bound:
    """Return a figure of the outcomes as they are, if it is one; else that nothing is known."""
    return found if found.proved or found.status == "undecided" else Bound.exact(0.0, math.inf)
