"""Measures of joints whose outcome is finite or countable, from the leakage outcome by outcome."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.countable.infinity_proofs import prove_countable
from borel.engine.countable.means_beyond_head import with_rest
from borel.engine.finite.law_engine import OUTSIDE, DiscreteFigures
from borel.engine.problem.discretised_pair import spread
from borel.engine.problem.secret_and_kernel import POSITIVE_COUNTS
from borel.errors import NotYet
from borel.numerics.intervals import rounding
from borel.numerics.intervals.rounding import TINY, fraction_down, fraction_up, log_fraction
from borel.probability.bound import Bound
from borel.probability.generators import NAMED
from borel.probability.normalisation import head_of

if TYPE_CHECKING:
    from borel.probability.countable_law import Values


class LawMeasures(DiscreteFigures):
    """Measures that an engine can read off its law and its information density."""

    def proved_infinite(self, kind: str) -> Bound | None:
        """Prove that a supremum over countable outcomes is infinite, if that can be done."""
        if self.status == "estimate" or settings.spent():
            return None
        return self.infinite_bound(prove_countable(self, kind))

    def law_of_mean(self, kind: str, what: str) -> Values:
        """Enclose the law, with what is beyond its head bounded for a mean: "mean" or "exp"."""
        values = self.law(kind)
        if self.status == "estimate" or values.exact or self.head_of_outcomes()[1]:
            return values
        return with_rest(self, kind, what, values)

    def infinite_mean(self, kind: str, what: str, high: Any) -> Bound | None:
        """Prove that a mean without an upper end is infinite, if that can be done."""
        if self.status == "estimate" or not high == math.inf:
            return None
        ys, whole = self.head_of_outcomes()
        values = self.law(kind)
        if self.in_logs is not None:  # one outcome of positive mass is enough
            charged = np.isinf(values.lower) & (values.mass_lower > 0)
            for k in np.flatnonzero(charged)[:1]:
                return self.in_logs.infinite_at(kind, float(ys[k]))
        if whole:
            return None
        proof = prove_countable(self, kind)
        enough = proof is not None and (proof.attained or (what == "exp" and proof.diverges))
        return self.infinite_bound(proof) if enough else None

    def mutual_information(self) -> Bound:
        """Return the f-information of t log t."""
        return self.f_information(NAMED["kl"])

    def maximal_leakage(self) -> Bound:
        """Enclose log E e^PML."""
        low, high = self.law_of_mean("pml", "exp").exp_mean()
        proved = self.infinite_mean("pml", "exp", high)
        return proved or self._log_of(low, high, least=1.0)

    def maximal_cost_leakage(self) -> Bound:
        """Enclose -log E e^-PMC: what an outcome beyond the head adds is at most its mass."""
        low, high = inverse_mean(self.law("pmc"))
        over = 1 / low if low > 0 else math.inf
        under = 1 / high if high > 0 else math.inf
        return self._log_of(_below(under), _above(over), least=1.0)

    def _log_of(self, low: Any, high: Any, *, least: float) -> Bound:
        """Return the logarithm of an enclosed number."""
        ends = [
            math.inf if math.isinf(v) else log_fraction(max(Fraction(v), Fraction(least)))[k]
            for k, v in enumerate((low, high))
        ]
        return self.bound(max(ends[0], 0.0), max(ends[1], 0.0))

    def ldi(self) -> Bound:
        """Enclose the identifiability level: infinite for infinitely many secrets."""
        prior = self.joint.prior
        if prior.on.kind == "countable":
            family = (prior.family or ("",))[0]
            if family in POSITIVE_COUNTS:
                return Bound.exact(math.inf, math.inf)
            rests = ("infinitely many secrets have positive probability",)
            if (np.asarray(prior.pdf(head_of(prior.on, 64))) > 0).all():
                return Bound.conditional(math.inf, math.inf, assumptions=rests)
            return Bound.undecided(reason=f"it is infinite if {rests[0]}, which is not known")
        raise NotYet(
            "bl.ldi",
            missing=f"this measure for outcomes on {self.joint.outcome!r}",
            instead="finite outcomes, or bl.ldp.",
        )

    def dynamic_min_entropy_leakage(self, y: Any) -> Bound:
        """Enclose log max_x P(x|y) / max_x P(x) for finitely many secrets."""
        prior = self.joint.prior
        if prior.on.kind != "finite":
            raise NotYet(
                "bl.dynamic_min_entropy_leakage",
                missing=f"secrets on {prior.on!r}",
                instead="a finite secret; bl.pml bounds every gain.",
            )
        p = np.asarray(prior.probabilities, float)
        charged = np.flatnonzero(p > 0)
        error = np.maximum(rounding.rounding_of(p, max(prior.rounding, rounding.U)), rounding.U)
        low, high = spread(p[charged], error[charged])
        labels = np.asarray(prior.on.array)[charged]
        ys = np.broadcast_to(np.asarray(y), labels.shape)
        gain = self.information_density_at(labels, ys)
        if bool(self.values_at("pml", np.asarray(y)).outside[0]):
            return self.bound(0.0, 0.0, assumptions=(*self.assumptions, OUTSIDE))
        guess = log_fraction(max(high))[1], log_fraction(max(low))[0]
        best = [
            max(_sum(log_fraction(v)[k], float(g)) for v, g in zip(side, ends, strict=True))
            for k, (side, ends) in enumerate(((low, gain.lower), (high, gain.upper)))
        ]
        if math.inf in (best[1], -best[0]):
            why = "float64 does not resolve the densities at this outcome"
            return Bound.undecided(-math.inf, reason=why, assumptions=self.assumptions)
        return self.bound(
            fraction_down(Fraction(best[0]) - Fraction(guess[0])),
            fraction_up(Fraction(best[1]) - Fraction(guess[1])),
        )


def inverse_mean(values: Values) -> tuple[float, float]:
    """Enclose E e^-leakage from the law of a leakage."""
    with np.errstate(under="ignore"):
        low = values.mass_lower / values.ratio_upper
        high = values.mass_upper / np.maximum(values.ratio_lower, 1.0)
    low = np.maximum(low * (1 - 2.0**-51) - TINY, 0.0)
    high = np.where(values.mass_upper > 0, high * (1 + 2.0**-51) + TINY, 0.0)
    least, most = (float(v) for v in rounding.sum_outward(low, high))
    return max(least, 0.0), min(_above(most + values.leftover), 1.0)


def _sum(a: float, b: float) -> Any:
    """Add two ends exactly; an infinite one stays."""
    return b if math.isinf(b) else Fraction(a) + Fraction(b)


def _below(value: float) -> float:
    return value if math.isinf(value) else value - abs(value) * 2.0**-50 - TINY


def _above(value: float) -> float:
    return value if math.isinf(value) else value + abs(value) * 2.0**-50 + TINY
