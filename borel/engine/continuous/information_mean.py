r"""Mutual information over continuous outcomes: bands of them, cut where it is loose.

Of a countable secret let H be a head of mass :math:`1 - \varepsilon`, and S tell whether X is
beyond it. Then
:math:`I(X;Y) = I(S;Y) + (1 - \varepsilon) I(X;Y \mid H) + \varepsilon I(X;Y \mid H^c)`, where the
first term is at most the entropy of S, and information of any prior at most maximal leakage.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from borel.engine.continuous.outcome_partition import Partition
from borel.engine.kernels.information_on_boxes import InformationBands, widened
from borel.engine.problem.refinement import refine
from borel.errors import NotEnclosed

if TYPE_CHECKING:
    from borel.engine.continuous.protocols import OutcomeEngine
    from borel.engine.kernels.leakage_on_boxes import Bands

_LITTLE = 1e-11
_IDLE = 3
"""After so many rounds that told next to nothing more will not."""


class InformationPartition(Partition):
    """Bands whose means are those of information: no more than those of PML, which bound it.

    The rows of the other means are not used.
    """

    def __init__(self, engine: OutcomeEngine):
        super().__init__(engine, "pml")

    def _forms(self) -> tuple[Bands | None, Bands | None]:
        near, far = super()._forms()
        assert near is not None
        return (
            InformationBands(near.marginal),
            None if far is None else InformationBands(far.marginal),
        )

    def _widen(self, out: np.ndarray, slack: float) -> None:
        mean = out[4:6].copy()  # the slack widens their sum
        super()._widen(out, slack)
        out[4:6] = mean

    def _prove_infinite(self, low: np.ndarray, high: np.ndarray, out: np.ndarray) -> None:
        """Prove nothing: information may be finite where PML is not."""


def mutual_information(engine: OutcomeEngine, tol: float) -> tuple[float, float]:
    """Enclose the mutual information of a joint whose outcome has a density.

    Raises
    ------
    NotEnclosed
        Outcomes with a mass, or secrets beyond the head of a countable prior that have much.
    """
    if len(engine.atoms):
        raise NotEnclosed("the mutual information of outcomes with a mass")
    if engine.secret.rest:
        return _by_head(engine, tol)
    deadline, turns, gaps = engine.deadline(), 0, np.zeros(0)
    before, idle = math.inf, 0
    part = InformationPartition(engine)

    def enclose() -> tuple[float, float]:
        nonlocal gaps
        ends, gaps = part.expectation("mean")
        return ends

    def settled(low: float, high: float) -> bool:
        nonlocal turns, before, idle
        turns += 1
        idle = idle + 1 if high - low > 0.9 * before else 0
        before = high - low
        if math.isinf(high):  # unbounded far out: more bands do not change that
            return turns > 8 and float(gaps[np.isfinite(gaps)].sum()) <= 1e-4
        return high - low <= tol or idle >= _IDLE

    def cut(low: float, high: float) -> bool:
        worst = float(gaps[np.isfinite(gaps)].max(initial=0.0))
        limit = max(1e-3 * worst, 0.1 * tol / len(gaps))
        return part.split((gaps >= limit) & (gaps > 0), deadline)

    found = refine(enclose, cut, settled=settled, until=deadline, rounds=200)
    low, high = widened(np.array(found[0]), np.array(found[1]), engine.slack)
    return max(float(low), 0.0), float(high)


def _by_head(engine: OutcomeEngine, tol: float) -> tuple[float, float]:
    """Enclose the mutual information of a countable secret by that of a head."""
    found = engine.head(_LITTLE)
    if found is None:
        raise NotEnclosed("the mutual information of secrets of a heavy tail")
    head, left = found
    inner, outer = mutual_information(head, tol)
    low, high = widened(np.array(inner), np.array(outer), engine.slack)
    most = engine.partition("pml").expectation("exp")[0][1]
    more = left * (1 - math.log(left) + math.log(most)) if left > 0 else 0.0
    high = np.nextafter(float(high) + more * (1 + 2.0**-40), np.inf)
    return max(float(low) * (1 - left) * (1 - 2.0**-50), 0.0), float(high)
