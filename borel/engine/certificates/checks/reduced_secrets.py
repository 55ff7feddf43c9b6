"""Certificates about a weighted sum of secrets: a part to trust.

A certificate of a joint with several secrets may say that its kernel depends on them through one
weighted sum, and be about that sum: then it is read as one of a secret on a line, with the kernel
and the density that `graphs.reduced` derives from the kernel and the prior that it holds.

That is the code by which the engine derives them, and so it is on trust: of the density no more is
verified than its prior's mass. `borel check` says so (`check_masses`).
"""

from __future__ import annotations

from typing import Any

from flint import arb, fmpq

from borel.engine.certificates.checks.reading import density
from borel.engine.certificates.checks.taylor_models import model, run
from borel.numerics.reduction.polynomial_factors import polynomials
from borel.numerics.reduction.scalar_statistic import reduced

LITTLE, TWO_PI = arb(2) ** -30, 2 * arb.pi()


def mass(law, log, lower, upper):
    """Return the integral of a density that is a product of polynomials, but for its scale."""
    names = tuple(f"x{j}" for j in range(len(lower)))
    of = polynomials(law, names, lower, upper, log=log) or {}
    middle = [a / 2 + b / 2 for a, b in zip(lower, upper, strict=True)]
    at = {name: model(x) for name, x in zip(names, middle, strict=True)}
    total = run((law, log), False, **at).start
    for density_, x, a, b in zip(of.values(), middle, lower, upper, strict=True):
        u, v, w = (fmpq(*float(end).as_integer_ratio()) for end in (a, x, b))
        whole = density_.integral()
        total *= arb((whole(w) - whole(u)) / density_(v))
    return total


def at_mode(law, log, sum_law):
    """Return a density of normal numbers at its largest value, over what that is to be."""
    mode, determinant = sum_law.mode, sum_law.determinant
    at = {f"x{j}": model(exact(v)) for j, v in enumerate(mode)}
    return run((law, log), False, **at).start / (exact(determinant) / TWO_PI ** len(mode)).sqrt()


def exact(value):
    """Return a Fraction as a ball."""
    return arb(fmpq(value.numerator, value.denominator))


def found_in(data: dict) -> tuple[list, Any]:
    """Return the kernel with the masses of atoms, and what is derived of them for a sum."""
    atoms, prior = data["outcome"].get("atoms", []), data["prior"]
    of = [density(data["kernel"]), *(density(mass) for _, mass in atoms)]
    law, log = density(prior)
    box = prior["lower"], prior["upper"]
    return of, reduced([graph for graph, _ in of], law, *box, log=log)


def number_of(data: dict) -> str:
    """Return the sum of secrets that a certificate is about, as a formula."""
    return found_in(data)[1].number


def on_a_line(data: dict) -> dict:
    """Return a certificate about a sum of secrets as one about a secret on a line; others as is."""
    if "sum" not in data:
        return data
    prior, atoms = data["prior"], data["outcome"].get("atoms", [])
    of, found = found_in(data)
    law, log = density(prior)
    box = prior["lower"], prior["upper"]
    logs = all(isinstance(v, bool) for v in (log, *(v for _, v in of)))
    if data["sum"] is not True or prior["atoms"] != [] or found is None or not logs:
        raise ValueError("sum: the kernel does not depend on one sum of secrets with a known law")
    total = at_mode(law, log, found.law) if found.law.log else mass(law, log, *box)
    if not abs(total - 1) < LITTLE:
        raise ValueError("sum: the prior does not integrate to 1")
    kernel, *masses = (
        {"graph": graph.to_json(), "log": log}
        for graph, (_, log) in zip(found.graphs, of, strict=True)
    )
    graph, sums = found.law.graph.to_json(), found.law
    line = {"graph": graph, "log": sums.log, "lower": sums.lower, "upper": sums.upper, "atoms": []}
    outcome = dict(data["outcome"])
    if atoms:
        outcome["atoms"] = [[y, mass] for (y, _), mass in zip(atoms, masses, strict=True)]
    return {**data, "kernel": kernel, "prior": line, "outcome": outcome}
