r"""How fast the masses of integers fall far out, as fast as another variable lets them.

For a kernel f(y|x), of which one variable runs through the integers, m, and the other one is k,

.. math:: \log f(m + 1, k) - \log f(m, k) \le -r \quad \text{for all } m \ge M,\ |k| \le m / A

is proved by exact differences (`forward_difference`) along the rays m = 1/t, k = s/t with
:math:`|s| \le 1 / A`: for all of these m and k at once. Of the outcomes it bounds
:math:`E[Y^+|x] \le M + 1 + A |x| + q / (1 - q)^2` with q = e^-r, as no mass is above 1. Of the
secrets it says that f(y|x) is largest at the first of those beyond M and A |y|, and for r > 0 that
it vanishes there: whatever K is, the outcome of a secret far out is beyond K almost surely.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from borel import settings
from borel.numerics.balls.arithmetic import precision
from borel.numerics.germs.forward_difference import enclosed, unit_step
from borel.numerics.germs.interpreter import ray
from borel.numerics.germs.specialisation import settled
from borel.numerics.germs.values import BITS, UndecidedRule
from borel.numerics.graphs.graph import Graph, GraphBuilder, pruned
from borel.numerics.graphs.operations import COMPARISONS
from borel.numerics.intervals import interpreter

_START = 64.0
_SLOPES = (2.0, 4.0, 8.0, 16.0, 32.0)


class Fall(NamedTuple):
    """Log f falls by ``rate`` or more with each step of one variable away from 0.

    Attributes
    ----------
    start, slope : float
        That holds from ``max(start, slope |other variable|)`` on.
    rate : float
        At least 0; infinite where f is 0.
    """

    start: float
    slope: float
    rate: float

    def first(self, other: np.ndarray) -> np.ndarray:
        """Return from where on it holds, for values of the other variable."""
        return np.maximum(self.start, self.slope * np.abs(other))


def fall_of(
    graph: Graph, moved: str, side: float, ranges: dict[str, tuple[float, float]]
) -> Fall | None:
    """Return how a log-kernel falls as one variable runs through the integers to an end.

    Parameters
    ----------
    graph : Graph
        log f(y|x), of ``y`` and ``x``.
    moved : {"x", "y"}
        Which variable runs.
    side : {1, -1}
        Whether to infinity or to minus infinity.
    ranges : dict
        The ends of the values of each variable.

    Returns
    -------
    Fall or None
        The one with the least slope and a rate above 0; else one with the rate 0, if there is one.
    """
    b, other = GraphBuilder(), "y" if moved == "x" else "x"
    names = {moved: b.add("input", "y"), other: b.add("input", "x")}
    graph = _decided(graph, ranges)
    graph = b.graph(b.append(graph, inputs={n: names[n] for n in graph.inputs})[-1])
    low, high = ranges[other]
    level = None
    for slope in _SLOPES:
        if settings.spent():
            break
        rays = {
            "y": ray(0.0, -1.0, side, side),
            "x": ray(0.0, -1.0, -1 / slope if low < 0 else 0.0, 1 / slope if high > 0 else 0.0),
        }
        rate = math.nan
        with suppress(UndecidedRule), precision(BITS):
            rate = _rate(graph, rays, 1 / _START)
        if rate > 0:
            return Fall(_START, slope, rate)
        if rate == 0 and level is None:
            level = Fall(_START, slope, 0.0)
    return level


def _decided(graph: Graph, ranges: dict[str, tuple[float, float]]) -> Graph:
    """Return a graph with the same values, in which conditions that always hold are written so."""
    nodes = list(graph.nodes)
    boxes = {name: (np.array(low), np.array(high)) for name, (low, high) in ranges.items()}
    for k, (op, _) in enumerate(nodes):
        if op in COMPARISONS:
            own = Graph(pruned(nodes, k), graph.inputs)
            low, high = interpreter.evaluate(own, {n: boxes[n] for n in own.inputs})
            if low == high:
                nodes[k] = ("const", (float(low),))
    return Graph(tuple(nodes), graph.inputs)


def _rate(graph: Graph, rays: dict, t0: float) -> float:
    if settled(graph, rays, t0).nodes[-1] == ("const", (-math.inf,)):
        return math.inf
    # a logarithm of 0 makes the masses on both sides of a step 0
    return -enclosed(unit_step(graph, rays, t0), rays, t0, almost=True)[1]
