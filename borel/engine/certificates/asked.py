"""How the checker names a figure that was asked for, and which maker is for its joint."""

from __future__ import annotations

from typing import Any, NamedTuple

from borel.engine.certificates import continuous, finite, finite_envelopes, finite_sets
from borel.engine.certificates.data import joint_as_data
from borel.errors import NotYet


class Named(NamedTuple):
    """A figure as the checker names it.

    Attributes
    ----------
    figure : str
        Its name; a leakage's kind, pml or pmc, stands for ``{}``.
    arguments : tuple of str
        The names of its arguments, in the order in which they are asked.
    """

    figure: str
    arguments: tuple[str, ...] = ()


FIGURES = {
    "at": Named("{}.at", ("y",)),
    "sup": Named("{}.sup"),
    "tail": Named("{}.tail", ("t", "closed")),
    "cdf": Named("{}.cdf", ("t",)),
    "quantile": Named("{}.quantile", ("s", "side")),
    "mean": Named("{}.mean"),
    "exp_mean": Named("{}.exp_mean"),
    "envelope": Named("{}.envelope", ("delta",)),
    "envelope_delta": Named("{}.envelope_delta", ("t", "closed")),
    "ldp": Named("ldp"),
    "lip": Named("lip"),
    "maximal_leakage": Named("maximal_leakage"),
    "maximal_cost_leakage": Named("maximal_cost_leakage"),
    "mutual_information": Named("mutual_information"),
    "total_variation": Named("total_variation"),
    "f_information": Named("f_information", ("f",)),
    "information_density": Named("information_density", ("x", "y")),
    "lower": Named("expectation.lower", ("f",)),
    "upper": Named("expectation.upper", ("f",)),
}
"""The figures by the names under which they are asked for (see `Question`)."""


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
    if figure not in FIGURES or isinstance(joint, tuple):
        raise NotYet(finite.WHAT, missing=f"a rule for {figure}")
    named = FIGURES[figure]
    kind, given = "", arguments
    if "{}" in named.figure:
        kind, *given = arguments
    name, of = named.figure.format(kind), dict(zip(named.arguments, given, strict=True))
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
    if name not in continuous.FIGURES:
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
