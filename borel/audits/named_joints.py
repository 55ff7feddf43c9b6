"""The joint that a result is about, as data: what its certificates are to be about as well."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from borel.engine.certificates.checks.reading import parsed
from borel.errors import NotEnclosed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from borel.probability.joint import Joint

_ENTRIES = 4096
"""Entries of a matrix at most: of larger ones no certificates are made."""


# -- as data ----------------------------------------------------------------------------------


def as_data(joint: Joint) -> dict[str, Any]:
    """Return a joint as its certificates name it, for a result.

    Parameters
    ----------
    joint : Joint
        The joint of a study; its prior may be a set of priors.

    Returns
    -------
    dict
        ``kernel`` and ``outcome`` where there is a density; ``table`` of a small matrix, and
        ``masses`` of one prior; ``priors``, those that certificates may be about, and ``sets``,
        sets of them. What no certificate can be about is left out.
    """
    from borel.engine.certificates.encoding import (
        kernel_as_data,
        outcome_as_data,
        without_infinities,
    )

    mechanism, prior, found = joint.mechanism, joint.prior, {}
    if mechanism.density is not None and mechanism.density.graph is not None:
        found |= {"kernel": kernel_as_data(mechanism), "outcome": outcome_as_data(mechanism)}
    sets = [*_sets(prior)]
    if mechanism.finite and mechanism.matrix.size <= _ENTRIES and prior.on.kind == "finite":
        places = mechanism.secret.positions(list(prior.on.labels), "x") if sets else slice(None)
        found["table"] = [[float(v) for v in row] for row in mechanism.matrix[places]]
        found["masses"] = [] if sets else [float(p) for p in joint.probabilities]
    single = [one for part in sets for one in _members(part)] if sets else [prior]
    found["priors"] = [data for one in single if (data := _prior(one)) is not None]
    found["sets"] = [part.described() for part in sets if part.on.kind == "finite"]
    return without_infinities(found)


def _sets(prior: Any) -> Iterator[Any]:
    """Yield a set of priors, or the parts of a union; nothing of a single prior."""
    from borel.priors.sets import PriorSet

    if isinstance(prior, PriorSet):
        yield prior
        for part in getattr(prior, "parts", ()):
            yield from _sets(part)


def _members(prior_set: Any) -> list[Any]:
    """Return the priors that figures over a set may follow from."""
    some = [prior_set.nominal, *getattr(prior_set, "corners", ())]
    return [prior for prior in some if prior is not None]


def _prior(prior: Any) -> dict[str, Any] | None:
    """Return a prior as certificates name it; None where they have no name for it."""
    from borel.engine.certificates.encoding import prior_as_data
    from borel.engine.problem.secret_and_kernel import secret_of

    alone = prior.on.dim == 1 and prior.on.kind != "countable"
    try:
        return prior_as_data(prior, secret_of(prior, ()) if alone else None)
    except (NotEnclosed, AttributeError):
        return None


# -- compared ---------------------------------------------------------------------------------


def foreign(certificate: dict[str, Any], named: Mapping[str, Any]) -> str:
    """Say what a certificate is about that the joint of its result is not; else nothing.

    Parameters
    ----------
    certificate : dict
        Of any kind.
    named : dict
        The joint, by `as_data`.
    """
    named = parsed(dict(named))
    for claim, free in _claims(parsed(certificate)):
        if wrong := _other(claim, named, free):
            return f"its certificate is about another joint than this result: {wrong}"
    return ""


def _claims(part: dict[str, Any], free: bool = False) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield what a certificate claims of joints, and whether their priors are free.

    Of all priors of full support, and of members, a set says more than a prior. LDP depends on the
    mechanism alone, so that it may be shown over any set.
    """
    over = part.get("over", {})
    if "set" in over and part["quantity"] != "ldp":
        yield {"prior": over}, False
    free = free or over.get("kind") in ("full_support", "member")
    for key in ("parts", "sides", "terms", "of"):
        for one in part.get(key, ()):
            yield from _claims(one, free)
    claim = part.get("claim", {})
    if "at" in claim:
        yield from _claims(claim["at"], free)
    elif claim:
        yield part, free


def _other(claim: dict[str, Any], named: dict[str, Any], free: bool) -> str:
    """Say which part of a claim's joint is another one."""
    prior, kernel = claim["prior"], claim.get("kernel", {})
    if "table" in kernel:
        if not _same_table(claim, named):
            return "another matrix, or another prior"
    elif kernel and kernel != named.get("kernel"):
        return "another kernel"
    elif kernel and claim["outcome"] != named["outcome"]:
        return "other outcomes"
    if "set" in prior:
        known = prior["set"] in named["sets"] or claim.get("quantity") == "ldp"
        return "" if known else "another set of priors"
    free = free or "table" in kernel
    return "" if free or prior in named["priors"] else "another prior"


def _same_table(claim: dict[str, Any], named: dict[str, Any]) -> bool:
    """Return whether a table of intervals holds the matrix, and their prior the masses."""
    table, masses = named.get("table", []), named.get("masses", [])
    rows = [*range(len(table))]
    if "masses" in claim["prior"]:  # without the secrets and the outcomes that have none
        rows = [k for k in rows if masses[k] > 0]
        if not _within([masses[k] for k in rows], claim["prior"]["masses"]):
            return False
    columns = [int(y) for y in claim["outcome"]["points"]]
    cut, ends = [[table[k][y] for y in columns] for k in rows], claim["kernel"]["table"]
    return len(cut) == len(ends) and all(map(_within, cut, ends))


def _within(values: list[float], ends: list[list[float]]) -> bool:
    """Return whether numbers are within intervals, one for each."""
    pairs = zip(values, ends, strict=False)
    return len(values) == len(ends) and all(low <= v <= high for v, (low, high) in pairs)


def strangers(certificates: Mapping[str, dict[str, Any]], priors: bool) -> dict[str, str]:
    """Say of which certificates it is not known whose joint they are about, without a name for it.

    Parameters
    ----------
    certificates : dict
        The certificates of one result by figure.
    priors : bool
        Whether the result is about one prior; else only mechanisms are compared.
    """
    keys = ("kernel", "outcome", "prior") if priors else ("kernel", "outcome")
    about: dict[str, set[str]] = {
        name: {
            json.dumps([claim.get(key) for key in keys], sort_keys=True)
            for claim, _ in _claims(parsed(certificate))
            if "graph" in claim.get("kernel", ())
        }
        for name, certificate in certificates.items()
    }
    joints = set().union(*about.values())
    words = f"the certificates of this result are about {len(joints)} joints, not about one"
    return {name: words for name, own in about.items() if own} if len(joints) > 1 else {}
