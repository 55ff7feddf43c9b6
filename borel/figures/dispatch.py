"""How a measure of a joint finds the engine that computes it, or says that none does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel import settings
from borel.engine import engine_for
from borel.errors import NotYet
from borel.figures.asking import asked
from borel.figures.leakage import _require_joint
from borel.probability.mechanism_families import JointFamily

if TYPE_CHECKING:
    from borel.probability.joint import Joint


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
        of_prior = joint.prior.figure_of
        return asked(joint, name, arguments, lambda: of_prior(joint, name, *arguments))
    closed = getattr(joint.mechanism.closed_forms, name, None)
    if closed is not None and settings.current().closed_forms:
        known = asked(joint, name, arguments, lambda: closed(joint, *arguments))
        if known is not None:
            return known
    return asked(joint, name, arguments, lambda: _by_engine(joint, name, *arguments))


def _by_engine(joint: Joint, name: str, *arguments: Any) -> Any:
    found = getattr(engine_for(joint), name, None)
    if found is None:
        raise NotYet(
            f"bl.{name}",
            missing=f"this measure on {joint.secret!r} and {joint.outcome!r}",
            instead="finite alphabets are exact.",
        )
    return found(*arguments)
