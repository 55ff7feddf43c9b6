"""Outcomes beside which the kernel is continuous, so that figures there are limits of others.

The figure at one outcome is of the version of the density that was given, and a supremum over
outcomes counts no single one. Where log f(y|x) has a slope in y that is bounded on a box around y,
for all secrets at once, the suprema, the infima and the means of f(y|.) are continuous there, for
every prior. Outcomes close by have positive probability, and figures as close as one likes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from borel.engine.problem.secret_and_kernel import boxes
from borel.numerics.jets import arithmetic

_BESIDE = 2.0**-30


def continuous_at(engine: Any, y: float) -> bool:
    """Return whether the kernel is proved to be continuous at an outcome, for all secrets at once.

    Parameters
    ----------
    engine : Engine
        A certified one, of continuous outcomes.
    y : float
        The outcome.
    """
    surface, line = engine.surface, engine.line
    if surface is None or line is None or not surface.needs_y or not np.isfinite(y):
        return False
    secret = surface.secret
    if secret.rest or (y == 0 and surface.as_given is not surface) or y in engine.at_atoms:
        return False
    step = max(abs(y), 1.0) * _BESIDE
    low, high = max(y - step, float(line.lower)), min(y + step, float(line.upper))
    if not low <= y <= high or not low < high:
        return False
    lower, upper, atoms = (
        np.reshape(v, (-1, secret.dim)) for v in (secret.lower, secret.upper, secret.atoms)
    )
    a, b = np.concatenate([lower, atoms]), np.concatenate([upper, atoms])
    outcomes = arithmetic.variable(np.full(len(a), low), np.full(len(a), high), 1)
    # single outcomes count: the branches that are decided are those at y
    named = surface.inputs(boxes(a, b, -1, 0), outcomes)
    jet = surface.log.run(named, 1, everywhere=True).jet
    return all(np.isfinite(end).all() for k in (0, 1) for end in arithmetic.entry(jet, k))
