"""Certificates about a weighted sum of uniform secrets: a part to trust.

A certificate of a joint with several secrets may say that its kernel depends on them through one
weighted sum, and be about that sum: then it is read as one of a secret on a line, with the kernel
and the density that `graphs.sum_law` derives from the kernel and the prior that it holds.
"""

from __future__ import annotations

from functools import reduce
from operator import mul

from flint import arb

from borel.engine.continuous.check_atoms import density
from borel.engine.continuous.check_models import model, run
from borel.engine.graphs.sum_law import reduced

LITTLE = arb(2) ** -30


def on_a_line(data: dict) -> dict:
    """Return a certificate about a sum of secrets as one about a secret on a line; others as is."""
    if "sum" not in data:
        return data
    prior, atoms = data["prior"], data["outcome"].get("atoms", [])
    of = [density(data["kernel"]), *(density(mass) for _, mass in atoms)]
    law, log = density(prior)
    found = reduced([graph for graph, _ in of], law, prior["lower"], prior["upper"])
    if data["sum"] is not True or prior["atoms"] or found is None:
        raise ValueError("sum: the kernel does not depend on one sum of uniform secrets")
    sides = [arb(b) - arb(a) for a, b in zip(prior["lower"], prior["upper"], strict=True)]
    somewhere = {f"x{j}": model(a) for j, a in enumerate(prior["lower"])}
    total = reduce(mul, sides, run((law, log), False, **somewhere))
    if not abs(total.start - 1) < LITTLE:
        raise ValueError("sum: the prior does not integrate to 1")
    kernel, *masses = (
        {"graph": graph.to_json(), "log": log}
        for graph, (_, log) in zip(found.graphs, of, strict=True)
    )
    line = {"graph": found.law.graph.to_json(), "log": False, "atoms": []}
    line |= {"lower": found.law.lower, "upper": found.law.upper}
    outcome = dict(data["outcome"])
    if atoms:
        outcome["atoms"] = [[y, mass] for (y, _), mass in zip(atoms, masses, strict=True)]
    return {**data, "kernel": kernel, "prior": line, "outcome": outcome}
