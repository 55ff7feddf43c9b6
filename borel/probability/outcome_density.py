"""The density of the outcome off finite alphabets: the one thing that a joint asks of an engine.

Data goes one way, and engines stand above joints; so no joint imports one. ``borel/__init__.py``,
which knows every folder, says here which engine a joint has, when a public name is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from borel.errors import NotEnclosed, NotYet

_engine: list[Callable[[Any], Any]] = []


def computed_by(engine_for: Callable[[Any], Any]) -> None:
    """Say which function returns the engine of a joint."""
    _engine[:] = [engine_for]


def log_marginal(joint: Any, y: Any) -> Any:
    """Return log f_Y at outcomes, in float64."""
    return _engine[0](joint).log_marginal(y)


def log_ratios(joint: Any, y: Any) -> tuple[np.ndarray, float, str]:
    """Return log f(y|x) / f_Y(y) at one outcome, for every label of a finite secret.

    Also by how much they may be off, and why that is not proved, if it is not. The labels that the
    prior rules out are left out.
    """
    law = np.asarray(joint.prior.probabilities != 0, bool)
    labels = np.asarray(joint.prior.on.array)[law]
    try:
        if isinstance(y, tuple):
            raise NotEnclosed("a pair of outcomes")
        engine = _engine[0](joint)
        low, high = engine.information_density_at(labels, np.broadcast_to(y, labels.shape))
        proved = engine.status_covering in ("exact", "certified")
        why = "" if proved else "; ".join(engine.assumptions) or engine.reason
    except (NotEnclosed, NotYet) as error:
        low = high = np.full(len(labels), np.nan)
        why = str(error)
    out = np.isneginf(high)  # ruled out by the outcome
    with np.errstate(invalid="ignore"):
        middle = np.where(out, -np.inf, low + (high - low) / 2)
        off = float(np.max(np.where(out, 0.0, high - low))) / 2 + 2.0**-51
    if off < 1e-6 and not why:
        return middle, off, ""
    why = why or "the densities at this outcome are not enclosed"
    values = joint.mechanism._logpdf(y, labels) - log_marginal(joint, y)
    return np.asarray(values, float), 1e-9, f"the posterior is known in float64 only: {why}"
