"""Certificates about a weighted sum of secrets: a part to trust.

A certificate of a joint with several secrets may say that its kernel depends on them through one
weighted sum, and be about that sum: then it is read as one of a secret on a line, with the kernel
and the density that `graphs.reduced` derives from the kernel and the prior that it holds.
"""

from __future__ import annotations

from functools import reduce
from operator import mul

from flint import arb

from borel.engine.continuous.check_atoms import density
from borel.engine.continuous.check_models import model, run
from borel.engine.graphs.reduced import reduced

LITTLE = arb(2) ** -30


def on_a_line(data: dict) -> dict:
    """Return a certificate about a sum of secrets as one about a secret on a line; others as is."""
    if "sum" not in data:
        return data
    prior, atoms = data["prior"], data["outcome"].get("atoms", [])
    of = [density(data["kernel"]), *(density(mass) for _, mass in atoms)]
    law, log = density(prior)
    box = prior["lower"], prior["upper"]
    found = reduced([graph for graph, _ in of], law, *box, log=log)
    if data["sum"] is not True or prior["atoms"] or found is None:
        raise ValueError("sum: the kernel does not depend on one sum of secrets with a known law")
    if not found.log:  # the law of a sum is normalised, whatever they are
        sides = [arb(b) - arb(a) for a, b in zip(*box, strict=True)]
        somewhere = {f"x{j}": model(a) for j, a in enumerate(box[0])}
        total = reduce(mul, sides, run((law, log), False, **somewhere))
        if not abs(total.start - 1) < LITTLE:
            raise ValueError("sum: the prior does not integrate to 1")
    kernel, *masses = (
        {"graph": graph.to_json(), "log": log}
        for graph, (_, log) in zip(found.graphs, of, strict=True)
    )
    line = {"graph": found.density.to_json(), "log": found.log, "atoms": []}
    line |= {"lower": found.lower, "upper": found.upper}
    outcome = dict(data["outcome"])
    if atoms:
        outcome["atoms"] = [[y, mass] for (y, _), mass in zip(atoms, masses, strict=True)]
    return {**data, "kernel": kernel, "prior": line, "outcome": outcome}
