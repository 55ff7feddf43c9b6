"""By how much log f jumps with the secret, for outcomes far out.

For an outcome far out log f goes to -inf on both sides of a secret at which the kernel jumps. With
steps and conditions as the numbers that they are on a side, it is a graph without jumps there; at
the secret itself that is the limit, and what falls with y cancels in the difference of two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from borel.engine.kernels.unbounded_secrets import JUMPS
from borel.engine.problem.secret_and_kernel import boxes
from borel.numerics.germs.tail_quotients import TailRatios
from borel.numerics.graphs.constant_folding import folded
from borel.numerics.graphs.graph import LEAVES, Graph, GraphBuilder, pruned
from borel.numerics.jets import arithmetic
from borel.numerics.jets.interpreter import Program

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Surface
    from borel.numerics.intervals.batched import Box

_MOST = 16
"""Of more jumps than that nothing is said: each of them is followed along the half-line."""


def jumps_far_out(
    surface: Surface, cuts: np.ndarray, even: np.ndarray, low: float, high: float
) -> Box | None:
    """Enclose by how much log f jumps at cuts, for every y of a half-line; None where unknown.

    It is unknown beside secrets with a mass: at one where log f jumps it is neither limit.
    """
    if len(surface.secret.atoms):
        return None
    half_line = np.isfinite([low, high]).sum() == 1
    if not half_line or (~even).sum() > _MOST or not JUMPS & surface.graph.operations:
        return None
    out, (name,) = np.zeros((2, len(even))), surface.secret.names
    for k in np.flatnonzero(~even):
        rows = []
        for a, b in ((cuts[k], cuts[k + 1]), (cuts[k + 1], cuts[k + 2])):
            one = _without_jumps(surface, a, b, low, high)
            if one is None:
                return None
            # what is left has no jumps: at the cut it is the limit from that side
            rows.append(folded(one.bind({name: float(cuts[k + 1])})))
        tails = TailRatios(rows)
        if not tails.finite(low, high):
            return None
        out[:, k] = tails.difference(1, 0, low, high)
    return (out[0], out[1]) if np.isfinite(out).all() else None


def _without_jumps(surface: Surface, a: float, b: float, low: float, high: float) -> Graph | None:
    """Return the graph that log f has for almost every x of (a, b), y of a box; None if it jumps.

    Steps and conditions are the numbers that they are there.
    """
    made, place = GraphBuilder(), []
    x = boxes(np.array([[a]]), np.array([[b]]), 0, 1)  # order 1: altered points of x stay unseen
    named = surface.inputs(x, (np.array([[low]]), np.array([[high]])))
    for k, (op, args) in enumerate(surface.graph.nodes):
        if op in LEAVES:
            place.append(made.add(op, *args))
        elif op == "where" or op not in JUMPS:
            if op == "where" and made.number(place[args[0]]) is None:
                return None
            place.append(made.add(op, *(place[v] for v in args)))
        else:
            one = Graph(pruned(surface.graph.nodes, k), surface.graph.inputs)
            found = Program(one, surface.varies).run(named, 1).jet
            value, most = (float(end.ravel()[0]) for end in arithmetic.entry(found, 0))
            if not (value == most and np.isfinite(value)):
                return None
            place.append(made.constant(value))
    return made.graph(place[-1])
