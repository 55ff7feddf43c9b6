"""Proofs that a leakage is infinite over countable outcomes: y runs through the integers.

The rays and the arguments are those of `proofs`; y = 1/t stands for the integers beyond 1/t0.
Another argument is of countable secrets. Let f(y|x) vanish as x goes to infinity, for every y. Some
finite set of outcomes has all of the mass of Y but less than e^-c / 2, and for a secret far out the
other outcomes have a mass above 1/2: at one of them f(y|x) is above e^c f_Y(y), whatever c is. And
E e^PML, the sum of sup_x f(y|x), is infinite: else all of these laws would have one tail.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.infinite.proofs import STARTS, Search
from borel.engine.kernels.ratios_far_out import fall_of
from borel.engine.problem.proof import Proof
from borel.engine.problem.secret_and_kernel import Secret, charged_along, log_graph, secret_of
from borel.probability.density import ranges_of

if TYPE_CHECKING:
    from borel.engine.problem.engine import Engine


def prove_countable(engine: Engine, kind: str) -> Proof | None:
    """Search for a proof over countable outcomes: y runs through the integers towards an end."""
    outcome, density = engine.joint.outcome, engine.joint.mechanism.density
    if outcome.kind != "countable" or density is None or density.graph is None:
        return None
    lower = -math.inf if outcome.lower is None else float(outcome.lower)
    upper = math.inf if outcome.upper is None else float(outcome.upper)
    if kind == "pml" and (proof := _leaving(engine)) is not None:
        return proof
    secret, surface = engine.secret, engine.surface
    if secret is None:  # a countable secret: a few points of positive mass, and x = y + k
        secret = _countable_secret(engine.joint.prior)
    if secret.dim > 1:  # its rays are of one secret
        return None
    if surface is None:
        graph = log_graph(density)
        surface = SimpleNamespace(graph=graph, needs_y="y" in graph.inputs)
    view = SimpleNamespace(
        joint=engine.joint,
        given=engine.joint,
        secret=secret,
        surface=surface,
        line=SimpleNamespace(lower=lower, upper=upper),
        several=None,
    )
    search = Search(view)  # type: ignore[arg-type]
    for t0 in STARTS:
        for y in search.outcomes([]):
            if "infinity" in y.data:
                found = search._slope(kind, y, t0)
                found = found or search._pair(kind, y, t0) or search._along(kind, y, t0)
                if found is not None:
                    return found
    return None


def _leaving(engine: Engine) -> Proof | None:
    """Prove that PML is unbounded by secrets far out: they leave every finite set of outcomes."""
    prior, density = engine.joint.prior, engine.joint.mechanism.density
    known = prior.density is not None and prior.density.graph is not None
    if not (known and prior.on.kind == "countable" and prior.on.dim == 1 and charged_along(prior)):
        return None
    fall = fall_of(log_graph(density), "x", 1.0, ranges_of(density))
    if fall is None or not fall.vanishes:
        return None
    ratio = f"{math.exp(-fall.rate):.4g}" if fall.rate > 0 else f"e^(-{0.999 * fall.share:.4g}/x)"
    words = (
        f"PML is unbounded: f(y|x + 1) <= {ratio} f(y|x) for all x >= "
        f"{fall.start:g}, x >= {fall.slope:g} |y|, so that secrets far out, which have a mass, "
        "lead to outcomes beyond any"
    )
    return Proof(words, {"x": "x to infinity"}, False, True)


def _countable_secret(prior: Any) -> Secret:
    """Return the first points of a countable prior that certainly have positive mass, or labels."""
    from borel.numerics.intervals import interpreter
    from borel.probability.normalisation import head_of

    none = np.zeros(0)
    if prior.on.kind == "finite" and prior._probabilities is not None and prior.on.numeric:
        return secret_of(prior, ())
    out = Secret(("x",), none, none)
    if prior.density is None or prior.density.graph is None:
        return out
    points = head_of(prior.on, 64).astype(float)
    low, high = interpreter.evaluate(log_graph(prior.density), {"x": (points, points)})
    sure = low > -math.inf
    out.atoms, out.weight_low = (
        points[sure][:, None],
        np.exp(np.minimum(low[sure], 0.0)) * (1 - 1e-12),
    )
    out.weight_high = np.minimum(np.exp(np.minimum(high[sure], 0.0)) * (1 + 1e-12), 1.0)
    out.along_y = charged_along(prior)
    return out
