"""Figures over unions of sets of priors: the largest of the parts' own, whatever the alphabets."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.prior_sets.engine import SetEngine
from borel.probability.bound import Bound, largest, weakest

if TYPE_CHECKING:
    from fractions import Fraction

    from borel.probability.joint import Joint


class UnionEngine(SetEngine):
    """Suprema over a union, part by part: a union is not convex, and no mixture is a member.

    Parameters
    ----------
    joint : Joint
        ``union * mech``.
    """

    def __init__(self, joint: Joint):
        from borel.priors.set_leakage import engine_of
        from borel.probability.joint import Joint

        self.set = joint.prior
        self.engines = []
        for part in self.set.parts:
            alone = copy.copy(part)  # confidence belongs to the union
            alone.confidence = None
            self.engines.append(engine_of(Joint(alone, joint.mechanism)))

    def _largest(self, each: list[Bound]) -> Bound:
        found = largest(each, assumptions=self.set.assumptions)
        return found.with_confidence(self.set.confidence)

    def at(self, kind: str, y: Any) -> Bound:
        """Enclose the supremum over the union at one outcome."""
        return self._largest(settings.each(lambda e: e.at(kind, y), self.engines))

    def curve(self, kind: str, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return lower ends, upper ends and the status at many outcomes."""
        each = [e.curve(kind, y) for e in self.engines]
        low = np.max([e[0] for e in each], axis=0)
        high = np.max([e[1] for e in each], axis=0)
        columns = zip(*(np.broadcast_to(np.asarray(e[2]), low.shape) for e in each), strict=True)
        status = np.array([weakest(str(s) for s in column) for column in columns])
        if self.set.confidence is not None:
            proved = np.isin(status, ("exact", "certified", "conditional"))
            status = np.where(proved, "statistical", status)
        return low, high, status

    def sup(self, kind: str) -> Bound:
        """Enclose the supremum over the union and the outcomes."""
        return self._largest(settings.each(lambda e: e.sup(kind), self.engines))

    def ldp(self) -> Bound:
        """Enclose the LDP level, if every part has it."""
        return self._largest([e.ldp() for e in self.engines])

    def maximal_leakage(self) -> Bound:
        """Enclose the supremum of maximal leakage, if every part has it."""
        return self._largest([e.maximal_leakage() for e in self.engines])

    def mutual_information(self) -> Bound:
        """Enclose the supremum of the mutual information, if every part has it."""
        return self._largest([e.mutual_information() for e in self.engines])

    def tail_leakage(self, kind: str, delta: Fraction) -> Bound:
        """Enclose the supremum of tail leakage, if every part has it."""
        return self._largest([e.tail_leakage(kind, delta) for e in self.engines])
