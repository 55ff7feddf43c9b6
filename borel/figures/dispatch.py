"""How a figure of a joint is found: what the prior answers, else a closed form, else the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel import settings
from borel.engine import engine_for
from borel.engine.finite.law_engine import OUTSIDE
from borel.errors import InvalidInput
from borel.figures.asking import asked
from borel.probability.joint import Joint
from borel.probability.mechanism_families import JointFamily

if TYPE_CHECKING:
    from collections.abc import Callable


def require_joint(joint: Any, name: str) -> None:
    """Refuse what is no joint."""
    if not isinstance(joint, Joint):
        raise InvalidInput(
            name,
            expected="a joint, prior * mech",
            got=type(joint).__name__,
            mend="write bl." + name + "(prior * mech).",
        )


def figure(
    joint: Any,
    name: str,
    *arguments: Any,
    by: Callable[..., Any] | None = None,
    units: str = "nats",
    least: float = 0.0,
) -> Any:
    """Return a figure of a joint, within one budget.

    Parameters
    ----------
    joint : Joint or JointFamily
        What it is of; of a family, the figure of each member.
    name, arguments
        What is asked, as in `borel.engine.certificates.Question`: "ldp", or "tail" with the kind of
        the leakage, the threshold and whether it counts.
    by : callable, optional
        Computes it from a joint of one prior and the arguments; without one, closed forms and the
        engine of the joint have a method of that name.
    units, least
        The units of the figure, and what it is never below (see `within_budget`).

    Raises
    ------
    NotYet
        No engine computes it on these alphabets, or over a posterior or a set of priors.
    """
    if isinstance(joint, JointFamily):
        about: dict[str, Any] = {"by": by, "units": units, "least": least}
        return joint.each(lambda one: figure(one, name, *arguments, **about), name)
    require_joint(joint, name)

    def compute() -> Any:
        if joint.prior.over != "one prior":
            return joint.prior.figure_of(joint, name, *arguments)
        if joint.parts and name in _ADDITIVE:
            return _sum_over_parts(joint, name, arguments, by)
        return by(joint, *arguments) if by else computed(joint, name, *arguments)

    return asked(joint, name, arguments, compute, units, least=least)


_ADDITIVE = frozenset(
    "at sup mean ldp maximal_leakage maximal_cost_leakage mutual_information".split()
)
"""Figures that are sums over independent joints: the leakage is one, at every pair of outcomes."""


def _sum_over_parts(joint: Joint, name: str, arguments: tuple, by: Any) -> Any:
    """Return a figure of independent joints as the sum of theirs."""
    found, start = [], 0
    for part in joint.parts:
        own = arguments
        if name == "at":
            kind, y = arguments
            point = y[start : start + part.outcome.dim]
            own, start = (kind, point if len(point) > 1 else point[0]), start + len(point)
        found.append(by(part, *own) if by else computed(part, name, *own))
    outside = [b for b in found if OUTSIDE in b.assumptions]
    return outside[0] if outside else sum(found[1:], found[0])


def computed(joint: Joint, name: str, *arguments: Any) -> Any:
    """Return what a closed form gives of a joint of one prior, or else what its engine computes."""
    known = closed_form(joint, name, *arguments)
    return engine_for(joint).figure(name, *arguments) if known is None else known


def closed_form(joint: Joint, name: str, *arguments: Any) -> Any:
    """Return what a closed form gives, if one applies and they are switched on; else None."""
    if not settings.current().closed_forms:
        return None
    return getattr(joint.mechanism.closed_forms, name)(joint, *arguments)
