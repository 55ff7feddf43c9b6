"""Suprema over parametric families of priors that are searched for: estimates.

What a search over theta finds is the figure of one member, which proves nothing of the supremum.
That is all there is for a family that could not be traced, or of densities, for a kernel that is
not enclosed, and for a figure that is not enclosed over sets of priors.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.prior_sets.engine import SetEngine
from borel.engine.prior_sets.outcome_figures import SetOutcomes
from borel.errors import BudgetSpent, NotYet
from borel.figures.averages import maximal_leakage, mutual_information, tail_leakage
from borel.figures.leakage import pmc, pml
from borel.figures.levels import ldp, lip
from borel.probability.bound import Bound

if TYPE_CHECKING:
    from fractions import Fraction

    from borel.probability.joint import Joint

_FEWEST = 5
"""Of fewer members no error is known."""


class FamilyEstimate(SetEngine):
    """Suprema over a family that a search over theta finds, and does not prove.

    Parameters
    ----------
    joint : Joint
        ``family * mech``.
    """

    def __init__(self, joint: Joint):
        self.joint, self.set = joint, joint.prior
        why = self.set.opaque or "this kernel, or this figure, is not enclosed over a family"
        self.reason = f"a search over theta proves nothing ({why})"

    def _largest(self, figure: Any) -> Bound:
        from scipy.optimize import minimize
        from scipy.stats import qmc

        family = self.set
        d = len(family.low)
        rng = np.random.default_rng(settings.current().seed)
        spots = qmc.scale(qmc.Sobol(d, rng=rng).random(32), family.low, family.high)
        spots = np.vstack([spots, family.low, family.high, (family.low + family.high) / 2])
        inside = family.low + (family.high - family.low) * 1e-9
        spots = np.clip(spots, inside, family.high - (family.high - family.low) * 1e-9)
        deadline = settings.search_deadline()

        def value(theta: np.ndarray) -> float:
            found = figure(family.member(np.clip(theta, family.low, family.high)))
            if settings.late(deadline):  # it was cut short, and is no height
                raise BudgetSpent("a search over theta was not ready")
            return float(found.value)

        heights: list[float] = []
        with suppress(BudgetSpent):
            for spot in spots:
                heights.append(value(spot))
        if len(heights) < _FEWEST:
            raise BudgetSpent("a search over theta was not ready")
        best = int(np.argmax(heights))
        top, where = heights[best], spots[best]
        if not math.isfinite(top):
            return Bound.undecided(reason=f"it looks infinite at theta = {where}; {self.reason}")
        with suppress(BudgetSpent):
            bounds = list(zip(family.low, family.high, strict=True))
            found = minimize(
                lambda t: -value(t),
                where,
                method="Nelder-Mead",
                bounds=bounds,
                options={"maxfev": 60 * d, "xatol": 1e-9, "fatol": 1e-12},
            )
            if -found.fun >= top:
                where, top = found.x, float(-found.fun)
        spread = abs(top - sorted(heights)[-2]) if len(heights) > 1 else 0.0
        prior = family.member(where)
        return Bound.estimate(
            top,
            max(min(spread, 1e-3 * max(1.0, top)), 1e-9),
            reason=self.reason,
            witness={"theta": family.point(where), "prior": prior},
            assumptions=family.assumptions,
        )

    def at(self, kind: str, y: Any) -> Bound:
        """Estimate the supremum at one outcome."""
        of = pml if kind == "pml" else pmc
        return self._largest(lambda prior: of(prior * self.joint.mechanism)(y))

    def curve(self, kind: str, y: Any) -> tuple[np.ndarray, np.ndarray, str]:
        """Estimate the supremum at many outcomes."""
        found = []
        for point in y:
            try:
                found.append(self.at(kind, point))
            except BudgetSpent as error:
                found.append(Bound.undecided(reason=str(error)))
        return np.array([b.lower for b in found]), np.array([b.upper for b in found]), "estimate"

    def sup(self, kind: str) -> Bound:
        """Estimate the supremum over theta and the outcomes."""
        of = pml if kind == "pml" else pmc
        return self._largest(lambda prior: of(prior * self.joint.mechanism).sup())

    def ldp(self) -> Bound:
        """Estimate the supremum of LDP over theta."""
        return self._largest(lambda prior: ldp(prior * self.joint.mechanism))

    def lip(self) -> Bound:
        """Estimate the supremum of LIP over theta."""
        return self._largest(lambda prior: lip(prior * self.joint.mechanism))

    def maximal_leakage(self) -> Bound:
        """Estimate the supremum of maximal leakage over theta."""
        return self._largest(lambda prior: maximal_leakage(prior * self.joint.mechanism))

    def mutual_information(self) -> Bound:
        """Estimate the supremum of the mutual information over theta."""
        return self._largest(lambda prior: mutual_information(prior * self.joint.mechanism))

    def tail_leakage(self, kind: str, delta: Fraction) -> Bound:
        """Estimate the supremum of tail leakage over theta."""
        mechanism = self.joint.mechanism
        return self._largest(lambda prior: tail_leakage(prior * mechanism, delta, of=kind))


class FamilyOutcomes(SetOutcomes):
    """Suprema over a traced family for outcomes that are not finite: enclosed, or estimates.

    Parameters
    ----------
    joint : Joint
        ``family * mech``.

    Raises
    ------
    NotYet
        As `SetOutcomes` does.
    """

    def ldp(self) -> Bound:
        """Enclose the LDP level, or estimate it where thetas leave secrets out."""
        with suppress(NotYet):
            return super().ldp()
        return FamilyEstimate(self.joint).ldp()

    def maximal_leakage(self) -> Bound:
        """Enclose maximal leakage, or estimate it where thetas leave secrets out."""
        with suppress(NotYet):
            return super().maximal_leakage()
        return FamilyEstimate(self.joint).maximal_leakage()

    def mutual_information(self) -> Bound:
        """Estimate the supremum of the mutual information over theta."""
        return FamilyEstimate(self.joint).mutual_information()
