"""How the checker names a figure that was asked for, and which maker is for its joint."""

from __future__ import annotations

from typing import Any

from borel.engine.certificates import continuous, finite, finite_envelopes, finite_sets
from borel.engine.certificates.data import joint_as_data
from borel.engine.figures import FIGURES
from borel.errors import NotYet


def certificate(joint: Any, figure: str, arguments: tuple, bound: Any) -> dict[str, Any]:
    """Return a certificate of what a `Question` asks.

    Parameters
    ----------
    joint, figure, arguments
        What is asked.
    bound : Bound
        The answer; its ends are the claim.

    Raises
    ------
    NotYet
        No rule of the checker proves it; ``missing`` names what is missing.
    """
    rule = FIGURES[figure].rule if figure in FIGURES else None
    if rule is None or isinstance(joint, tuple):
        raise NotYet(finite.WHAT, missing=f"a rule for {figure}")
    name, of = rule.named(arguments)
    if figure == "envelope_delta":
        if not of.pop("closed"):
            raise NotYet(finite.WHAT, missing=f"a rule for {name} at an open level")
        of["t"] = of["t"].as_number()
    if figure in ("lower", "upper"):
        return finite_sets.expectation(joint, name, of["f"], bound)
    if "f" in of:
        of["f"] = of["f"].name
    if not hasattr(joint, "prior"):
        raise NotYet(finite.WHAT, missing=f"a rule for {name} of a mechanism alone")
    if hasattr(joint.prior, "described"):
        return finite_sets.certificate(joint, name, of, bound)
    if figure.startswith("envelope"):
        return finite_envelopes.certificate(joint, name, of, bound)
    if joint.finite:
        return finite.certificate(joint, name, of, bound)
    if name.rpartition(".")[2] not in continuous.DEGREES:
        raise NotYet(finite.WHAT, missing=f"a rule for {name} of a joint that is no table")
    return continuous.certificate(joint, name, of, bound)


def joint_of(joint: Any) -> dict[str, Any]:
    """Return a joint as its certificates name it; of draws of priors without the prior.

    Raises
    ------
    NotYet
        No certificate can be about it.
    """
    mechanism, prior = joint.mechanism, joint.prior
    if hasattr(prior, "described"):
        if not mechanism.finite:
            raise NotYet(finite.WHAT, missing="a rule for sets of priors that are no tables")
        return finite.table(mechanism, prior.on, priors=finite_sets.described(prior))
    if hasattr(prior, "figure_of"):
        if not (mechanism.finite and prior.on.kind == "finite"):
            raise NotYet(finite.WHAT, missing="a rule for draws of priors that are no tables")
        return finite.table(mechanism, mechanism.secret)
    if joint.finite:
        return finite.table_of(joint)
    return joint_as_data(joint, "it")
