"""How a measure of a joint finds the engine that computes it, or says that none does."""

from __future__ import annotations

from typing import Any

from borel import settings
from borel.engine import engine_for
from borel.engine.problem.budget import within_budget
from borel.errors import NotYet
from borel.figures.leakage import _require_joint
from borel.probability.mechanism_families import JointFamily


def figure(joint: Any, name: str, *arguments: Any) -> Any:
    """Compute a measure of a joint by the engine's own method of that name.

    Raises
    ------
    NotYet
        No engine computes it on these alphabets, or over a posterior or a set of priors.
    """
    if isinstance(joint, JointFamily):
        return joint.each(lambda one: figure(one, name, *arguments), name)
    _require_joint(joint, name)
    if getattr(joint.prior, "figure_of", None) is not None:
        return within_budget(lambda: joint.prior.figure_of(joint, name, *arguments))
    closed = getattr(joint.mechanism.closed_forms, name, None)
    if closed is not None and settings.current().closed_forms:
        known = within_budget(lambda: closed(joint, *arguments))
        if known is not None:
            return known
    found = getattr(engine_for(joint), name, None)
    if found is not None:
        units = getattr(arguments[0], "units", "nats") if arguments else "nats"
        return within_budget(lambda: found(*arguments), units)
    raise NotYet(
        f"bl.{name}",
        missing=f"this measure on {joint.secret!r} and {joint.outcome!r}",
        instead="finite alphabets are exact.",
    )
