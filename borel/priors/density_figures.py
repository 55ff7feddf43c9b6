"""Figures over sets of densities on an interval, by cells of the secret."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine import engine_for
from borel.engine.prior_sets.engine import SetEngine
from borel.engine.prior_sets.secret_cells import SecretCells
from borel.errors import NotYet
from borel.figures.levels import ldp
from borel.probability.alphabets import Interval
from borel.probability.bound import Bound
from borel.probability.families import uniform

if TYPE_CHECKING:
    from borel.engine.prior_sets.lower_expectations import Least

FEW = 256
"""Cells of sets of densities, for which linear programs may be solved."""
_CELLS = f"what is known of {FEW} cells of the secret leaves it open"


class CellEngine(SecretCells, SetEngine):
    """Figures at outcomes over a set of densities on an interval.

    Parameters
    ----------
    joint : Joint
        ``density_set * mech``.
    """

    def __init__(self, joint: Any):
        self.set, self.joint = joint.prior, joint
        engine = engine_for(uniform(self.set.on) * joint.mechanism).of_secrets
        if engine is None or engine.at_atoms:
            raise NotYet("prior_set * mech", missing="a kernel that can be enclosed, without atoms")
        self.engine = engine
        self.cut(self.engine.secret, FEW)

    def _ends(self, kind: str, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.enclosed(self._least, kind, ys)

    def _least(self, v: np.ndarray, below: bool) -> Least:
        return self.set.solved(v, self.low, self.high, below=below)

    def at(self, kind: str, y: Any) -> Bound:
        """Enclose the supremum over the set at one outcome."""
        low, high = self._ends(kind, np.array([float(y)]))
        notes = (*self.set.assumptions, *self.engine.assumptions)
        if np.isinf(high[0]):
            return Bound.undecided(
                float(low[0]), reason="the cells do not bound it", assumptions=notes
            )
        return Bound.conditional(
            float(low[0]), float(high[0]), reason=_CELLS, assumptions=notes, witness={"y": y}
        )

    def curve(self, kind: str, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return lower ends, upper ends and the status at many outcomes."""
        low, high = self._ends(kind, np.asarray(y, float))
        return low, high, np.where(np.isinf(high), "undecided", "conditional")

    def sup(self, kind: str) -> Bound:
        """Enclose the supremum over the outcomes, by boxes of them and by the LDP level."""
        top, low, high, y = self.ldp(), 0.0, math.inf, None
        notes = tuple(dict.fromkeys((*top.assumptions, *self.engine.assumptions)))
        if isinstance(self.joint.outcome, Interval):
            low, high, y = self.over_outcomes(self._least, kind)
        high = min(high, top.upper) if top.proved else high
        witness = None if y is None else {"y": y}
        if math.isfinite(high):
            low = min(low, high)
            return Bound.conditional(low, high, reason=_CELLS, assumptions=notes, witness=witness)
        return Bound.undecided(
            low, reason="neither LDP nor the cells bound it", assumptions=notes, witness=witness
        )

    def ldp(self) -> Bound:
        """Enclose the LDP level on all secrets, each of which some member charges."""
        found = ldp(self.engine.joint)
        notes = tuple(dict.fromkeys((*self.set.assumptions, *found.assumptions)))
        if not found.proved:
            return found.about(assumptions=notes)
        return Bound.conditional(found.lower, found.upper, assumptions=notes, witness=found.witness)
