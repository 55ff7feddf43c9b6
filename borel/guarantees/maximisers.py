"""The condition of Proposition 4: one secret attains the leakage of all outcomes above a level."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from borel.engine import engine_for
from borel.engine.problem.thresholds import Threshold
from borel.errors import NotYet
from borel.figures.dispatch import require_joint
from borel.guarantees.rounded_levels import Level, level_of
from borel.probability.bound import Verdict

if TYPE_CHECKING:
    from borel.probability.joint import Joint


def ratio_ends(level: Level) -> tuple[Any, Any]:
    """Return Fractions at or below, and at or above, e^level; above it perhaps inf."""
    if level.ratio is not None:
        return level.ratio, level.ratio
    if level.nats == math.inf:
        return math.inf, math.inf
    low, high = Threshold(Fraction(level.nats)).ends()
    return low, math.inf if high is None else high


def common_maximiser(joint: Joint, epsilon: Any = None, *, ratio: Any = None) -> Verdict:
    r"""Return whether one secret attains the leakage of every outcome above epsilon.

    .. math:: \exists x \; \forall y : \ell(X \to y) > \varepsilon
              \Rightarrow \ell(X \to y) = i(x; y)

    Where it does, (epsilon, delta)-EML implies (epsilon, delta)-PML:
    ``implied(..., common_maximiser=True)``.

    Parameters
    ----------
    joint : Joint
        A finite ``prior * mech``.
    epsilon : float or Fraction
        Nats, >= 0.
    ratio : int or Fraction
        e^epsilon exactly, instead.

    Returns
    -------
    Verdict
        Exact for Fractions. With floats two entries that are equal, or nearly, leave it undecided
        which of them is larger, and whether an outcome is above a level near its leakage. The
        witness is the secret, or outcomes that no secret has in common.

    Raises
    ------
    InvalidInput
        A level that is negative, or given twice.
    NotYet
        Alphabets that are not finite.

    References
    ----------
    "Pointwise Maximal Leakage", Proposition 4.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> common_maximiser(joint, 0.5).holds, common_maximiser(joint, 0.3).holds
    (True, False)
    """
    require_joint(joint, "guarantees.common_maximiser")
    joint._require_one_prior("bl.guarantees.common_maximiser")
    level = level_of("common_maximiser", epsilon, ratio)
    if not joint.finite or joint.estimated:
        raise NotYet(
            "bl.guarantees.common_maximiser", missing="alphabets that are not finite, or not proved"
        )
    table = engine_for(joint).table("common_maximiser")
    engine: Any = engine_for(joint)
    bottom, top = ratio_ends(level)
    rows, law = (table.lower.rows, table.upper.rows), engine._marginal_ends
    secrets, columns = range(len(rows[0])), range(len(rows[0][0]))
    best = [tuple(max(side[x][j] for x in secrets) for side in rows) for j in columns]
    sure = [j for j in columns if top != math.inf and best[j][0] > top * law[1][j]]
    possible = [j for j in columns if bottom != math.inf and best[j][1] > bottom * law[0][j]]
    labels = joint.secret.labels

    def attains(x: int, j: int) -> bool:
        """Say if no other secret can have a larger entry."""
        return all(rows[0][x][j] >= rows[1][other][j] for other in secrets if other != x)

    bound = engine.sup("pml")
    for x in secrets:
        if all(attains(x, j) for j in possible):
            return Verdict(True, bound, {"x": labels[engine.support[x]]})
    if all(any(rows[1][x][j] < best[j][0] for j in sure) for x in secrets):
        outcomes = [joint.outcome.labels[engine._live[j]] for j in sure]
        return Verdict(False, bound, {"y": outcomes})
    why = "floats leave open which secret has the largest entry, or which outcomes are above"
    return Verdict(None, bound, None, why)
