r"""Adversaries near PML and PMC on general alphabets: an event about the secret.

For a set A of secrets of positive mass, the gain :math:`1_A` (one action: bet on A) leaks

.. math:: \log \frac{P(A \mid y)}{P(A)} = \log \frac{E[f(y|X) \mid A]}{f_Y(y)},

and the cost :math:`1_A` its negative. The mean over A lies between the bounds of f(y|.) on A, so
that a box of secrets on which an interval evaluation of the kernel stays within epsilon of its
extreme is a witness of PML, or PMC, to within epsilon: no integral over A is needed. ("Information
Density Bounds for Privacy", Theorem 4 and Appendix B, has all cells of a partition as actions, and
the single cell for infinite PMC.)
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from borel import settings
from borel.adversaries.comparison import compare
from borel.adversaries.randomised_functions import require_few
from borel.adversaries.region_search import SecretRegion, reader_of
from borel.constants import real
from borel.engine import engine_for
from borel.engine.finite.law_engine import OUTSIDE
from borel.engine.problem.budget import cut_short
from borel.errors import BudgetSpent, InvalidInput, NotYet
from borel.figures.leakage import VERSION, _is_single, _representable, pmc, pml
from borel.probability.alphabets import Finite
from borel.probability.bound import Bound, Verdict
from borel.probability.joint import Joint
from borel.probability.mechanism import Mechanism

LEVEL = 10.0


@dataclass(frozen=True)
class RegionWitness:
    """An event about the secret whose leakage at an outcome is PML, or PMC, to within epsilon.

    Attributes
    ----------
    joint : Joint
        The joint law.
    y : label
        The outcome.
    of : {"pml", "pmc"}
        Which leakage.
    region : SecretRegion
        The event A.
    epsilon : float
        How near, in nats; unused where the leakage is infinite.
    level : float or None
        What the leakage exceeds, where PML or PMC is infinite.
    """

    joint: Joint
    y: Any
    of: str
    region: SecretRegion
    epsilon: float
    level: float | None = None

    def gain(self, x: Any) -> Any:
        """Return the gain (or cost) 1_A(x) of the single action."""
        return self.region.indicator(x)

    cost = gain

    def mass(self) -> Bound:
        """Return P_X(A), a Bound."""
        return _Frame(self.joint, self.y, self.of).mass(self.region)

    @settings.one_figure()
    def leakage(self) -> Bound:
        """Return log P(A|y) / P(A) for PML, log P(A) / P(A|y) for PMC: a Bound in nats.

        It is the leakage of the gain, or cost, 1_A, recomputed from the joint and A only; its
        status is that of the engine.
        """
        return _Frame(self.joint, self.y, self.of).leakage(self.region)

    def target(self) -> Bound:
        """Return PML, or PMC, at y: what no adversary exceeds."""
        return (pml if self.of == "pml" else pmc)(self.joint)(self.y)

    @settings.one_figure()
    def verify(self) -> Verdict:
        """Return whether the leakage is within epsilon of PML (PMC), or above the level.

        Returns
        -------
        Verdict
            Its Bound encloses the gap; against a level, the leakage.
        """
        if self.level is not None:
            return self.leakage() >= self.level
        return compare(self.target(), self.leakage(), self.epsilon)

    def function(self) -> Mechanism:
        """Return a randomised function U of the secret that leaks at least as much.

        For PMC, U is 1 with probability 1/2 on A and 0 elsewhere. For PML, U is 0 on A and uniform
        on n >= 1 / P(A) - 1 other letters elsewhere.

        Raises
        ------
        InvalidInput
            More than 10 000 letters, or no positive lower bound on P(A).
        """
        region, secret = self.region, self.joint.mechanism.secret
        if self.of == "pmc":
            return Mechanism(
                lambda u, x: (
                    0.5 * region.indicator(x) + np.where(u == 0, 1, 0) * (1.0 - region.indicator(x))
                ),
                secret=secret,
                outcome=Finite(2),
                name="A broken up",
            )
        mass = self.mass()
        if not mass.lower > 0 or not mass.proved:
            raise InvalidInput("function", expected="a proved P(A) > 0", got=repr(mass))
        n = max(1, math.ceil((1 - Fraction(mass.lower)) / Fraction(mass.lower)))
        require_few(n + 1, "function", "the gain 1_A needs no letters.")
        return Mechanism(
            lambda u, x: np.where(
                u == 0, region.indicator(x), (1.0 - region.indicator(x)) * (1.0 / n)
            ),
            secret=secret,
            outcome=Finite(n + 1),
            name="A kept whole",
        )

    def __repr__(self) -> str:
        """Show what is approached, where, and the event."""
        near = f"above {self.level:g}" if self.level is not None else f"within {self.epsilon:g}"
        ends = [
            f"{a:.6g}" if a == b else f"[{a:.6g}, {b:.6g}]"
            for a, b in zip(self.region.lower, self.region.upper, strict=True)
        ]
        return f"RegionWitness({self.of} at y = {self.y!r}, {near}: x in {' x '.join(ends)})"


def region_witness(
    joint: Joint, y: Any, of: str, epsilon: float, level: float | None
) -> RegionWitness:
    """Find an event that comes near PML, or PMC, at an outcome."""
    outcome = joint.outcome
    if not _is_single(outcome, y):
        raise InvalidInput(
            "y", expected="one outcome", got=repr(y), mend="ask for one y at a time."
        )
    outcome.check(y)
    _representable(outcome, y)
    for value, name in ((epsilon, "epsilon"), (LEVEL if level is None else level, "level")):
        expected = f"{name} > 0 (nats)"
        if isinstance(value, bool) or not real("witness", value, expected) > 0:
            raise InvalidInput("witness", expected=expected, got=repr(value))
    frame = _Frame(joint, y, of)
    region, needed = frame.find(float(epsilon), level)
    return RegionWitness(joint, y, of, region, float(epsilon), needed)


class _Frame:
    """The leakage of events at one outcome, through whichever engine the joint has."""

    def __init__(self, joint: Joint, y: Any, of: str):
        self.joint, self.y, self.of = joint, y, of
        self.sign = 1.0 if of == "pml" else -1.0
        self.engine = engine_for(joint)
        self.read = reader_of(self.engine, y)

    def target(self) -> Bound:
        """Return PML, or PMC, at y."""
        return (pml if self.of == "pml" else pmc)(self.joint)(self.y)

    def _outside(self) -> bool:
        return any(OUTSIDE in note for note in self.target().assumptions)

    def leakage(self, region: SecretRegion) -> Bound:
        """Enclose the leakage of the gain, or cost, 1_A."""
        if self._outside():
            return self._bound(0.0, 0.0, OUTSIDE)
        try:
            if not self.read.positive(region):
                return Bound.undecided(
                    -math.inf, math.inf, reason=f"no proof that P(A) > 0 for {region!r}"
                )
            low, high = self.read.density(region)
        except BudgetSpent as error:
            return cut_short(Bound.undecided(-math.inf, math.inf, reason=str(error)))
        return self._bound(*((low, high) if self.sign > 0 else (-high, -low)))

    def _bound(self, low: float, high: float, *notes: str) -> Bound:
        about = (*self.engine.assumptions, *notes)
        if self.joint.outcome.kind in ("continuous", "mixed"):
            about = (*about, VERSION)
        status = self.engine.status
        if low != high and (math.isinf(low) or math.isinf(high)):
            return Bound.undecided(
                *((low, high) if status != "estimate" else (-math.inf, math.inf)),
                reason="the kernel is not bounded on the event",
                assumptions=about,
            )
        return Bound.of(status, low, high, reason=self.engine.reason, assumptions=about)

    def mass(self, region: SecretRegion) -> Bound:
        """Enclose P_X(A)."""
        low, high = self.read.mass(region)
        high = min(high, 1.0)
        status = self.engine.status
        notes = () if status == "estimate" else self.engine.assumptions
        reason = self.engine.reason
        return Bound.of(status, low, high, reason=reason, assumptions=notes, units="probability")

    def find(self, epsilon: float, level: float | None) -> tuple[SecretRegion, float | None]:
        """Return an event within epsilon, or above the level where the leakage is infinite."""
        if self._outside():
            return self.read.anywhere(), None
        target = self.target()
        needed = (LEVEL if level is None else level) if math.isinf(target.upper) else None
        # a tenth of epsilon is left to the enclosures
        goal = target.lower - 0.9 * epsilon if needed is None else needed
        found = None
        with suppress(BudgetSpent):
            found = self.read.find(self.sign, goal, endless=needed is not None)
        if found is None:
            wanted = f"within {epsilon:g}" if needed is None else f"above {needed:g}"
            raise NotYet(
                "witness",
                missing=f"an event {wanted} nats of {self.of.upper()}, which is {target!r}, that "
                "this engine finds",
                instead="a larger epsilon, or a lower level.",
            )
        return found, needed
