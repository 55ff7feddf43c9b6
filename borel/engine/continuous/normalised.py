"""Proofs that a kernel is a law of Y for every secret, where that can be done.

A kernel that depends on y - x, or on y - g(x), has one integral for all x, and one with finitely
many secrets has finitely many; they are enclosed by Arb. Floats may miss 1 by their own rounding
(1 / sqrt(2 pi) is no float), so an integral within `MISS` of 1 proves that the kernel meant is
normalised.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from borel.alphabets import Interval
from borel.engine.continuous.normalised_priors import MISS
from borel.engine.continuous.surface import log_graph
from borel.engine.graphs import rewrite
from borel.engine.graphs.through import through
from borel.engine.graphs.trace import Graph
from borel.errors import NotEnclosed

if TYPE_CHECKING:
    from borel.measures import Measure
    from borel.mechanism import Mechanism


def statement(mechanism: Mechanism, prior: Measure) -> str:
    """Return ``proved: ...`` for a kernel proved to be normalised, else what is known of it.

    Examples
    --------
    >>> import numpy as np, borel as bl
    >>> mech = bl.Mechanism(
    ...     lambda y, x: np.exp(-abs(y - x)) / 2, secret=bl.Interval(0, 1), outcome=bl.Reals()
    ... )
    >>> statement(mech, bl.uniform(bl.Interval(0, 1)))[:6]
    'proved'
    """
    known = mechanism.normalisation
    if known.startswith(("proved", "rounded")) or mechanism.density is None or mechanism.masses:
        return known
    line = mechanism.outcome
    if not isinstance(line, Interval):
        return known
    dim = mechanism.secret.dim
    names = ("x",) if dim == 1 else tuple(f"x{i}" for i in range(dim))
    try:
        graph = log_graph(mechanism.density)
        noise = noise_of(graph, line, names)
        if noise is not None:
            graph, inner = noise
            of = "y - x" if inner.nodes == (("input", ("x",)),) else "y - g(x)"
            if _is_one(graph, line, 0.0):
                return f"proved: f(y|x) depends on {of}, and its integral is 1 (within {MISS:.0e})"
        elif dim == 1 and prior.on.kind == "finite" and prior.on.numeric and prior.on.size <= 64:
            points = [float(x) for x in prior.on.labels]
            if all(_is_one(graph, line, x) for x in points):
                return f"proved: the integral over y is 1 (within {MISS:.0e}) for every secret"
    except NotEnclosed:
        pass
    return known


def noise_of(
    graph: Graph, line: Interval, names: tuple[str, ...] = ("x",)
) -> tuple[Graph, Graph] | None:
    """Return a kernel of y - g(x), on the whole line, as one of y - x; and g. None for others."""
    ends = line.lower, line.upper
    if not all(map(math.isinf, ends)) or {*names}.isdisjoint(graph.inputs):
        return None
    outer, inner = through(graph, names)
    if len(inner) != 1:
        return None
    nodes = tuple(("input", ("x",)) if node == ("input", ("w0",)) else node for node in outer.nodes)
    graph = Graph(nodes, ("y", "x"))
    along, _ = rewrite.diagonal(graph)
    if any(op == "input" and args == ("y",) for op, args in along.nodes):
        return None
    return graph, inner[0]


def _is_one(graph: Graph, line: Interval, x: float) -> bool:
    """Return whether the kernel at one secret integrates to 1, as far as floats can say."""
    from borel.engine.balls.arb_expand import product
    from borel.engine.balls.arb_graph import Prepared
    from borel.engine.balls.arb_integral import integrate

    prepared = Prepared(product([(graph, True)]), variable="y")
    inputs = {"shift": 0.0, **({"x": x} if "x" in graph.inputs else {})}
    marks = [x] if line.lower < x < line.upper else []
    low, high = integrate(
        prepared, inputs, line.lower, line.upper, breaks=marks, rel_tol=MISS / 10, bits=80
    ).floats
    return 1 - MISS <= low <= high <= 1 + MISS
