"""What the exact engines share: figures of a leakage with countably many values, as Bounds."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.problem.engine import Engine
from borel.engine.problem.secret_and_kernel import log_graph
from borel.numerics.balls.arithmetic import log_ends
from borel.numerics.intervals.rounding import fraction_down, fraction_up
from borel.probability.bound import Bound, Ratio
from borel.probability.tail_means import absorbing_level, worst_mean

if TYPE_CHECKING:
    from borel.engine.problem.thresholds import Threshold
    from borel.probability.countable_law import Values
    from borel.probability.real_functions import RealFunction
    from borel.probability.tail_means import BandedLaw

WIDE = 1e-9
TRIED = 64
"""At so many outcomes that are open above a proof is searched for that they are infinite."""

OUTSIDE = "outside the support: density 0, leakage 0 by convention"
LOST = (
    "float64 loses the density {where}: it is 0 or below 2.2e-308 there, and nothing proves that "
    "it is 0; return its logarithm (log=True), kept finite by sums of logarithms and np.logaddexp"
)
""".format(where=...): of a function that returns a density, or that nothing but float64 reads."""


class DiscreteFigures(Engine):
    """Figures of an engine that encloses values outcome by outcome.

    A subclass gives ``law(kind)``, ``values_at(kind, y)`` and ``head_of_outcomes()``.
    """

    def witness(self, kind: str, column: int) -> dict:
        """Return where the value at an outcome of the head comes from."""
        outcome = self.head_of_outcomes()[0][column]
        return {"y": outcome.item() if isinstance(outcome, np.generic) else outcome}

    def settled(self, bound: Bound) -> Bound:
        """Call an exact figure certified if its enclosure is wider than rounding."""
        if bound.status != "exact" or not bound.width > WIDE:
            return bound
        return bound.weakened("certified")

    def at(self, kind: str, y: Any) -> Bound:
        """Return the leakage at one outcome."""
        found = self._at(kind, y)
        if self.in_logs is None or found.status in ("exact", "estimate"):
            return found
        if math.isinf(found.upper):
            place = float(np.asarray(y, float).ravel()[0])
            return self.in_logs.infinite_at(kind, place) or found
        return found

    def _at(self, kind: str, y: Any) -> Bound:
        values = self.values_at(kind, y)
        notes = self.assumptions + ((OUTSIDE,) if values.outside[0] else ())
        ratio = Ratio(values.ratio_lower[0], values.ratio_upper[0])
        return self.bound(
            float(values.lower[0]), float(values.upper[0]), assumptions=notes, exact_ratio=ratio
        )

    def curve(self, kind: str, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return lower ends, upper ends and the status at many outcomes."""
        values = self.values_at(kind, y)
        return values.lower, values.upper, self.statuses(values.lower, values.upper)

    def sup(self, kind: str) -> Bound:
        """Return the essential supremum over the outcomes."""
        found = self._sup(kind)
        if self.in_logs is None or found.status in ("exact", "estimate"):
            return found
        if math.isinf(found.upper):
            ys, open_above = self.head_of_outcomes()[0], _open(self.law(kind))
            proofs = (self.in_logs.infinite_at(kind, float(ys[k])) for k in open_above)
            return next((proof for proof in proofs if proof is not None), found)
        return found

    def ldp(self) -> Bound:
        """Return the LDP level, the essential supremum of PML + PMC over the outcomes."""
        found = self._ldp()
        return self._by_sides(found.lower) if found.status == "undecided" else found

    def _ldp(self) -> Bound:
        """Enclose the LDP level by the outcomes of a head: open above where there are others."""
        raise NotImplementedError

    def _by_sides(self, low: float) -> Bound:
        """Enclose the LDP level by the suprema of PML and PMC, beside what is known from below."""
        # epsilon-LDP gives epsilon-PML and epsilon-PMC, and they give it with their sum
        sides = self.sup("pml"), self.sup("pmc")
        known = [s for s in sides if s.status != "estimate"]
        low = max([low, *(s.lower for s in known)])
        high = sides[0].upper + sides[1].upper if len(known) == 2 else math.inf
        rests = tuple(dict.fromkeys(a for s in sides for a in s.assumptions))
        return self.bound(low, max(low, high), assumptions=rests or self.assumptions)

    def with_infinities(self, kind: str, ys: Any, values: Values) -> Values:
        """Improve what is known at outcomes: what is open above may be proved to be infinite."""
        if self.in_logs is not None:
            tried = [k for k in _open(values) if not np.isinf(values.lower[k])]
            proofs = {k: self.in_logs.infinite_at(kind, float(ys[k])) for k in tried}
            proved = [k for k, proof in proofs.items() if proof is not None]
            for ends in (values.lower, values.ratio_lower):
                ends[proved] = np.inf
        return values

    def _sup(self, kind: str) -> Bound:
        if self.status != "estimate" and self._says_nothing:
            return self.bound(0.0, 0.0, attained=True)
        values = self.law(kind)
        whole = self.head_of_outcomes()[1]
        if values.exact:
            best = max(range(len(values.lower)), key=lambda j: values.ratio_lower[j])
            low, high = float(values.lower[best]), float(values.upper[best])
            ratio = Ratio(values.ratio_lower[best], values.ratio_upper[best])
        else:
            best = int(np.argmax(values.lower))
            low, high = float(values.lower.max()), float(values.upper.max())
            ratio = Ratio(float(np.max(values.ratio_lower)), float(np.max(values.ratio_upper)))
        if whole or low == math.inf:
            return self.bound(
                low, high, exact_ratio=ratio, attained=True, witness=self.witness(kind, best)
            )
        ceiling = values.ceiling  # beyond the head nothing is above log 1 / p_min
        if high < math.inf and self.status != "estimate":
            ceiling = min(ceiling, self.beyond_head(kind))
        if ceiling < math.inf:
            high, witness = max(high, ceiling), self.witness(kind, best)
            if high - low > WIDE and self.status != "estimate":
                low, witness = max((low, witness), self.far_out(kind), key=lambda v: v[0])
            return self.settled(self.bound(low, high, witness=witness))
        proved = self.proved_infinite(kind)
        if proved is not None:
            return proved
        return Bound.undecided(
            low if self.status != "estimate" else 0.0,
            math.inf,
            reason=f"the outcomes beyond the first {len(values.lower)} (mass at most "
            f"{values.leftover:.2g}) are not enclosed, and no proof of an infinity was found",
            assumptions=self.assumptions,
            witness=self.witness(kind, best),
        )

    def beyond_head(self, kind: str) -> float:
        """Bound the leakage at every outcome beyond the head; infinite where nothing does."""
        return math.inf

    @cached_property
    def _says_nothing(self) -> bool:
        """Whether the law of countable outcomes is one for all secrets, as its formula shows."""
        density = self.joint.mechanism.density
        if self.joint.outcome.kind != "countable" or density is None or density.graph is None:
            return False
        secrets = {("input", (name,)) for name in density.graph_names("x")}
        return secrets.isdisjoint(log_graph(density).nodes)

    def far_out(self, kind: str) -> tuple[float, dict]:
        """Bound the leakage of outcomes far beyond the head from below, and say where they are."""
        return 0.0, {}

    def proved_infinite(self, kind: str) -> Bound | None:
        """Prove that a supremum is infinite by outcomes beyond the head, if there are any."""
        return None

    def infinite_bound(self, proof: Any) -> Bound | None:
        """Make the Bound of a proved infinity."""
        if proof is None:
            return None
        make = Bound.conditional if self.status == "conditional" else Bound.certified
        return make(
            math.inf,
            math.inf,
            attained=proof.attained,
            witness=proof.witness,
            assumptions=(*self.assumptions, proof.statement),
        )

    def tail(self, kind: str, t: Any, closed: bool) -> Bound:
        """Return P{leakage > t}, or P{leakage >= t} if closed."""
        low, high = self.law(kind).tail(t, closed=closed)
        return self.settled(self.bound(low, high, units="probability"))

    def tail_at_ratio(self, kind: str, ratio: Fraction, closed: bool) -> Bound | None:
        """Return P{e^leakage > ratio}, or >= if closed; None where outcomes have a density."""
        if self.joint.outcome.kind in ("continuous", "mixed"):
            return None
        low, high = self.law(kind).tail(ratio=ratio, closed=closed)
        return self.settled(self.bound(low, high, units="probability"))

    def expectation(self, kind: str, h: RealFunction) -> Bound:
        """Return the mean of h(leakage)."""
        values = self.law(kind)
        if values.leftover and self.status != "estimate":
            values = replace(values, ceiling=min(values.ceiling, self.beyond_head(kind)))
        return self.settled(self.signed_bound(*values.expectation(h), units="number"))

    def density_tail(self, under: str, t: Any, ratio: Any, closed: bool) -> Bound:
        """Return P{i > t}, or P{i >= t} if closed."""
        low, high = self.density_law(under).tail(t, ratio=ratio, closed=closed)
        return self.settled(self.bound(low, high, units="probability"))

    def density_quantile(self, under: str, s: Any, side: str) -> Bound:
        """Return the quantile of i at level s."""
        return self.settled(self.signed_bound(*self.density_law(under).quantile(s, side=side)))

    def density_expectation(self, under: str, h: RealFunction) -> Bound:
        """Return the mean of h(i)."""
        found = self.density_law(under).expectation(h)
        return self.settled(self.signed_bound(*found, units="number"))

    def quantile(self, kind: str, s: Any, side: str) -> Bound:
        """Return the quantile of the leakage at level s."""
        low, high = self.law(kind).quantile(s, side=side)
        return self.bound(low, high)

    def law_of_mean(self, kind: str, what: str) -> Values:
        """Enclose the law, with what is beyond its head bounded for a mean: "mean" or "exp"."""
        return self.law(kind)

    def infinite_mean(self, kind: str, what: str, high: Any) -> Bound | None:
        """Prove that a mean without an upper end is infinite, if that can be done."""
        return None

    def mean(self, kind: str) -> Bound:
        """Return the mean of the leakage."""
        low, high = self.law_of_mean(kind, "mean").mean()
        proved = self.infinite_mean(kind, "mean", high)
        return proved or self.bound(low, high)

    def exp_mean(self, kind: str) -> Bound:
        """Return the mean of e^leakage."""
        low, high = self.law_of_mean(kind, "exp").exp_mean()
        proved = self.infinite_mean(kind, "exp", high)
        if proved is not None:
            return proved.about(units="ratio")
        if isinstance(low, Fraction):
            return self.bound(fraction_down(low), fraction_up(high), units="ratio")
        return self.bound(float(low), float(high), units="ratio")

    def _banded(self, kind: str) -> BandedLaw:
        values = self.law_of_mean(kind, "exp") if kind == "pml" else self.law(kind)
        return values.banded(kind)

    def absorbing_level(self, delta: Fraction) -> float:
        """Bound the level at which outcomes of PML absorb others up to a mass, from below."""
        return absorbing_level(self._banded("pml"), delta)[0]

    def tail_leakage(self, kind: str, delta: Fraction) -> Bound:
        """Enclose log of the mean of e^PML, or -log of that of e^-PMC, over the worst delta."""
        found = worst_mean(self._banded(kind), delta, largest=kind == "pml")
        if kind == "pml":
            proved = self.infinite_mean(kind, "exp", found.upper)
            if proved is not None:
                return proved
        low, high = log_ends(found.lower, found.upper)
        low, high = (low, high) if kind == "pml" else (-high, -low)
        return self.settled(self.bound(max(low, 0.0), max(high, 0.0)))

    def psi_1(self, level: Threshold) -> Bound:
        """Enclose the mean of (1 - e^(epsilon - PML))^+; what is beyond the head adds its mass."""
        values = self.law("pml")
        least, most = level.ends()
        low = high = Fraction(0)
        columns = (values.mass_lower, values.mass_upper, values.ratio_lower, values.ratio_upper)
        for mass_low, mass_high, low_ratio, high_ratio in zip(*columns, strict=True):
            low += _penalty(Fraction(mass_low), low_ratio, most)
            high += _penalty(Fraction(mass_high), high_ratio, least)
        high = min(high + Fraction(values.leftover), Fraction(1))
        return self.bound(fraction_down(low), fraction_up(max(high, low)), units="probability")


def _open(values: Values) -> np.ndarray:
    """Return the outcomes of a head at which nothing bounds the leakage, the likely ones first."""
    where = np.flatnonzero(np.isinf(np.asarray(values.upper, float)))
    masses = np.asarray(values.mass_lower, float)[where]
    return where[np.argsort(-masses, kind="stable")][:TRIED]


def _penalty(mass: Fraction, ratio: Any, factor: Fraction | None) -> Fraction:
    """Return mass (1 - factor / ratio)^+; a factor None is beyond every finite ratio."""
    if ratio == math.inf:
        return mass
    if factor is None or not ratio > factor:
        return Fraction(0)
    return mass * (1 - factor / Fraction(ratio))
