"""Joints of several uniform secrets as ones of their weighted sum, where the kernel depends on it.

Leakages are those of the sum: f(y|x) and the law of Y are the same. Its density is a piecewise
polynomial, so that f_Y is an integral over a line, and what bends or jumps along y = (the sum)
does so along y = x.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from borel.alphabets import Interval
from borel.density import Density
from borel.engine.continuous.surface import SUMS
from borel.engine.graphs.sum_law import reduced
from borel.joint import Joint
from borel.measures import Measure

if TYPE_CHECKING:
    from borel.engine.graphs.trace import Graph
    from borel.mechanism import Mechanism


def on_a_line(joint: Joint) -> Joint | None:
    """Return a joint of several secrets as one of a sum of them, if it is one."""
    prior, mechanism = joint.prior, joint.mechanism
    densities = [mechanism.density, *mechanism.masses.values()]
    known = all(d is not None and d.graph is not None for d in (prior.density, *densities))
    lines = prior.on.factors
    if not (known and 2 <= prior.on.dim <= 5 and all(isinstance(a, Interval) for a in lines)):
        return None
    ends = [[getattr(a, end) for a in lines] for end in ("lower", "upper")]
    if None in (*ends[0], *ends[1]):
        return None
    found = reduced(
        [d.graph for d in densities],
        prior.density.graph,
        *(list(map(float, some)) for some in ends),
    )
    if found is None:
        return None
    law, line = found.law, Interval(found.law.lower, found.law.upper)
    density = Density(None, {"x": line}, graph=law.graph)
    sums = Measure(density.raw, line, breaks=law.breaks, name=SUMS, _check=False)
    sums.density = density
    if all((part.family or ("",))[0] == "uniform" for part in prior.parts or (prior,)):
        sums.family = (SUMS, {"positive": law.whole})
    return Joint(sums, _mechanism(mechanism, line, found.graphs))


def _mechanism(mechanism: Mechanism, line: Interval, graphs: list[Graph]) -> Mechanism:
    """Return a mechanism with other graphs, of a secret on a line."""
    out, (kernel, *masses) = copy(mechanism), graphs
    about = {"y": mechanism.outcome, "x": line}
    out.secret, out.closed_forms, out.reference_prior = line, None, None
    out.cdf = out.survival = out.sampler = None
    out.density = Density(None, about, log=mechanism.density.log, graph=kernel)
    out.masses = {
        y: Density(None, {"x": line}, log=mass.log, graph=graph)
        for (y, mass), graph in zip(mechanism.masses.items(), masses, strict=True)
    }
    return out
