"""Joints of a simpler secret: of a sum of several, of a step function of one, of a clipped count.

Where the kernel depends on the secrets by that alone, leakages are those of it: f(y|x) and the law
of Y are the same. Where the law of a sum is known f_Y is an integral over a line, and what bends or
jumps along y = (the sum) does so along y = x. A step function has finitely many values, and so has
a count that the kernel tells from no larger one beyond some point.
"""

from __future__ import annotations

import math
from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from borel.engine.problem.prior_masses import SUM_OF_NORMALS
from borel.engine.problem.prior_normalisation import SUM_IN_A_BOX, miss
from borel.engine.problem.step_secrets import law_of_steps, of_labels, through_steps
from borel.engine.problem.truncated_prior import law_of_clipped
from borel.errors import NotEnclosed
from borel.numerics.graphs.dependence import through
from borel.numerics.graphs.graph import Graph
from borel.numerics.intervals import interpreter, rounding
from borel.numerics.intervals.rounding import NORMAL, U
from borel.numerics.reduction.normal_sum import NormalLaw
from borel.numerics.reduction.scalar_statistic import reduced
from borel.probability.alphabets import Finite, Integers, Interval
from borel.probability.closed_forms import ClosedForms
from borel.probability.density import Density
from borel.probability.joint import Joint
from borel.probability.measure import Measure

MOST = 64
"""Secrets at most."""
_LARGEST_COUNT = 1024

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Secret
    from borel.probability.alphabets import Alphabet
    from borel.probability.mechanism import Mechanism


def on_a_line(joint: Joint) -> Joint | None:
    """Return a joint of several secrets as one of a sum of them, if it is one."""
    prior, mechanism = joint.prior, joint.mechanism
    densities = [mechanism.density, *mechanism.masses.values()]
    known = all(d is not None and d.graph is not None for d in (prior.density, *densities))
    lines = prior.on.factors
    if not (known and 2 <= prior.on.dim <= MOST and all(isinstance(a, Interval) for a in lines)):
        return None
    ends = [[float(getattr(a, end)) for a in lines] for end in ("lower", "upper")]
    found = reduced([d.graph for d in densities], prior.density.graph, *ends, log=prior.density.log)
    if found is None:
        return None
    law = found.law
    line = Interval(*(end if math.isfinite(end) else None for end in (law.lower, law.upper)))
    density = Density(None, {"x": line}, log=law.log, graph=law.graph)
    sums = Measure(density.raw, line, log=law.log, breaks=law.breaks, name="sum", _check=False)
    sums.density = density
    about = {"miss": miss(prior)}
    if isinstance(law, NormalLaw):
        sums.family = SUM_OF_NORMALS, {**about, "mu": law.mean, "variance": law.variance}
    else:
        sums.family = SUM_IN_A_BOX, {**about, "positive": law.whole}
    graph, *others = found.graphs
    kernel = Density(None, {"y": joint.outcome, "x": line}, log=mechanism.density.log, graph=graph)
    masses = {
        y: Density(None, {"x": line}, log=mass.log, graph=graph)
        for (y, mass), graph in zip(mechanism.masses.items(), others, strict=True)
    }
    return Joint(sums, _mechanism(mechanism, line, kernel, masses))


def on_steps(joint: Joint) -> Joint | None:
    """Return a joint of a secret on a line as one of a step function of it, if it is one.

    A constant is one of any secret.
    """
    prior, mechanism = joint.prior, joint.mechanism
    densities = [mechanism.density, *mechanism.masses.values()]
    if any(d is None or d.graph is None for d in densities):
        return None
    graphs, steps = through_steps([d.simplified() for d in densities])
    read = {args[0] for g in graphs for op, args in g.nodes if op == "input"}
    if not {n for n in read if n[0] != "w"} <= {"y"}:
        return None
    found = law_of_steps(prior, steps)
    if found is None:
        return None
    law, values = found
    kernel, *others = (
        Density(None, {**d.alphabets, "x": law.on}, log=d.log, graph=of_labels(graph, values))
        for d, graph in zip(densities, graphs, strict=True)
    )
    masses = dict(zip(mechanism.masses, others, strict=True))
    return Joint(law, _mechanism(mechanism, law.on, kernel, masses))


def on_clipped_counts(joint: Joint) -> Joint | None:
    """Return a joint of min(X, n), of counts X beyond n all of which have one row; None if not so.

    A row is read through functions of x alone. Their ranges over [n, inf], by interval arithmetic,
    are one number each: then f(y|x) = f(y|n) for every x >= n, whatever y. The least such n is
    taken; as smaller intervals have no larger ranges, it is found by bisection.
    """
    prior, mechanism = joint.prior, joint.mechanism
    densities = [mechanism.density, *mechanism.masses.values()]
    on = prior.on
    if not (isinstance(on, Integers) and on.upper is None and on.lower is not None):
        return None
    if prior.density is None or any(d is None or d.graph is None for d in densities):
        return None
    read = [g for d in densities for g in through(d.simplified())[1]]
    first, last = int(on.lower), int(on.lower) + _LARGEST_COUNT
    if not _constant_from(read, last):
        return None
    low, high = first - 1, last
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _constant_from(read, middle) else (middle, high)
    law = law_of_clipped(prior, high)
    if law is None:
        return None
    kernel, *others = (
        Density(None, {**d.alphabets, "x": law.on}, log=d.log, graph=d.graph) for d in densities
    )
    masses = dict(zip(mechanism.masses, others, strict=True))
    return Joint(law, _mechanism(mechanism, law.on, kernel, masses))


def on_head(joint: Joint, secret: Secret, little: float) -> tuple[Joint, float] | None:
    """Return a joint of counts given that they are the likeliest ones, and the mass of all others.

    None where that mass is not seen to be at most ``little``.
    """
    order = np.argsort(-secret.weight_high, kind="stable")
    others = (np.cumsum(secret.weight_high[order[::-1]])[::-1] + secret.rest_mass) * (1 + 2.0**-40)
    kept = np.sort(order[others > little])
    left = float(others[len(kept)]) if len(kept) < len(order) else secret.rest_mass
    low, high = secret.weight_low[kept], secret.weight_high[kept]
    if not (left <= little and len(kept) and (low > NORMAL / U).all()):
        return None
    total = rounding.sum_outward(low, high)
    p = np.array(low / 2 + high / 2) / (float(total[0]) / 2 + float(total[1]) / 2)
    spread = float(((high - low) / low).max()) + float(total[1] - total[0]) / float(total[0])
    labels = Finite(secret.atoms[kept, 0].tolist())
    law = Measure(p, labels, name="head", rounding=spread + 2.0**-48, _check=False)
    density = joint.mechanism.density
    assert density is not None
    kernel = Density(None, {**density.alphabets, "x": labels}, log=density.log, graph=density.graph)
    return Joint(law, _mechanism(joint.mechanism, labels, kernel, {})), left


def _constant_from(graphs: list[Graph], n: int) -> bool:
    """Return whether functions of x are seen to be constant on [n, inf]."""
    x = {"x": (np.array(float(n)), np.array(math.inf))}
    try:
        ends = [interpreter.evaluate(g, x) for g in graphs]
    except NotEnclosed:
        return False
    return all(bool(np.all(a == b)) and bool(np.isfinite(a).all()) for a, b in ends)


def on_a_number(joint: Joint, graph: Graph, secret: Secret) -> Joint:
    """Return a joint of the number that a kernel reads of several secrets, as if uniform.

    The graph is that of the kernel's logarithm. Outcomes of positive mass are left out.
    """
    low, high = float(secret.lower[0]), float(secret.upper[0])
    line, flat = Interval(low, high), Graph((("const", (1 / (high - low),)),), ("x",))
    density = Density(None, {"x": line}, log=False, graph=flat)
    number = Measure(density.raw, line, name="number", _check=False)
    number.density = density
    kernel = Density(None, {"y": joint.outcome, "x": line}, log=True, graph=graph)
    return Joint(number, _mechanism(joint.mechanism, line, kernel, {}))


def _mechanism(
    mechanism: Mechanism, secret: Alphabet, density: Density, masses: dict[float, Density]
) -> Mechanism:
    """Return a mechanism with other densities, of another secret."""
    out = copy(mechanism)
    out.secret, out.closed_forms, out.reference_prior = secret, ClosedForms(), None
    out.cdf = out.survival = out.sampler = None
    out.density, out.masses = density, masses
    return out
