r"""Enclose what a kernel sums to over integer outcomes: a head, and a tail between two integrals.

Where f falls from an outcome N on, the sum of f over N + 1, N + 2, ... lies between the integrals
of f from N + 1 and from N on, of f as a function of all numbers y; these are enclosed by the slope
of log f (`improper_integral`). Where that is not known, but f(y + 1) <= q f(y) from N on with q < 1
(`forward_difference`: gamma functions of y cancel there), the sum is at most f(N) q / (1 - q).
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb

from borel import settings
from borel.numerics.balls.arithmetic import ball, ends, precision
from borel.numerics.balls.improper_integral import log_slopes, tail
from borel.numerics.balls.integral import ArbEnclosure
from borel.numerics.balls.interpreter import Prepared
from borel.numerics.balls.ranges import INF, NEG_INF, ZERO_BALL
from borel.numerics.germs.forward_difference import enclosed, unit_step
from borel.numerics.germs.interpreter import ray
from borel.numerics.germs.values import UndecidedRule, slack
from borel.numerics.graphs import rewrite
from borel.numerics.graphs.graph import GraphBuilder
from borel.numerics.graphs.operations import TRUTHS
from borel.numerics.intervals import interpreter
from borel.numerics.intervals.rounding import sum_outward
from borel.probability.normalisation import head_of

if TYPE_CHECKING:
    from borel.numerics.graphs.graph import Graph
    from borel.probability.alphabets import Integers

_BITS = 80
_HEADS = [4**k for k in range(3, 10)]
_LITTLE = 1e-16
_LOOKED_AT = 4**7
"""So many outcomes of a head are summed though nothing bounds the sum beyond it."""


def total_at(graph: Graph, outcome: Integers, x: float, until: float) -> tuple[float, float]:
    """Enclose the sum over all outcomes of a kernel f(y|x) >= 0 at one secret.

    Examples
    --------
    >>> import math
    >>> import numpy as np, borel as bl
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y, x: (y + 1) ** -2.0, ("y", "x"), ())
    >>> low, high = total_at(graph, bl.Integers(0, None), 0.0, math.inf)
    >>> low <= math.pi**2 / 6 <= high <= low + 1e-9
    True
    """
    low, high = 0.0, math.inf
    if "x" in graph.inputs:
        graph = rewrite.simplified(graph.bind({"x": x}))
    for count in _HEADS:
        head = heads(outcome, count)
        rest = beyond(graph, outcome, head)
        if count > _LOOKED_AT and rest[1] == math.inf:
            continue  # the head alone would say no more than that the sum is not less
        ends = interpreter.evaluate(graph, {n: (head, head) for n in graph.inputs})
        ends = (
            np.broadcast_to(np.maximum(ends[0], 0.0), head.shape),
            np.broadcast_to(ends[1], head.shape),
        )
        own = sum_outward(*ends)
        low = max(low, math.nextafter(float(own[0]) + rest[0], 0.0))
        high = min(high, math.nextafter(float(own[1]) + rest[1], math.inf))
        if rest[1] - rest[0] <= _LITTLE or settings.late(until):
            break
    return low, high


def heads(outcome: Integers, count: int) -> np.ndarray:
    """Return the outcomes of a head, as floats."""
    head = head_of(outcome, count).astype(float)
    return head[outcome.contains(head)]


def beyond(
    graph: Graph, outcome: Integers, head: np.ndarray, x: tuple[Any, Any] | None = None
) -> tuple[float, float]:
    """Enclose the sum over all outcomes beyond a head, for each x of a range if it depends on x."""
    with precision(_BITS):
        parts = []
        for end, edge, side in ((outcome.upper, head[-1], 1), (outcome.lower, head[0], -1)):
            if end is None:
                far = _settled(graph, float(edge), side) if x is None else graph
                prepared = Prepared(far, "y")
                if prepared.doubtful:  # decisions here would not be those of NumPy
                    return 0.0, math.inf
                f = prepared.at({} if x is None else {"x": x})
                found = _tail(f, float(edge), side)
                parts.append(found if found[1] < math.inf else _series(far, float(edge), side, x))
            elif (end - edge) * side > 0:
                return 0.0, math.inf
    low, high = (math.fsum(part[side] for part in parts) for side in (0, 1))
    return low * (1 - 1e-15), high * (1 + 1e-15)


def _settled(graph: Graph, edge: float, side: int) -> Graph:
    """Return a function of y without the conditions that are the same for all y beyond an edge."""
    if "where" not in graph.operations:
        return graph
    ends = np.sort(np.array([edge, side * math.inf]))
    box, build = {"y": (ends[0], ends[1])}, GraphBuilder()

    def rule(op: str, *args: int) -> int:
        if op == "where" and build.nodes[args[0]][0] in TRUTHS:
            no, yes = interpreter.evaluate(build.graph(args[0], graph.inputs), box)
            if no == yes:
                return args[1] if yes else args[2]
        return build.add(op, *args)

    return rewrite.simplified(build.graph(build.append(graph, rule)[-1], graph.inputs))


def _tail(f: Any, edge: float, side: int) -> tuple[float, float]:
    """Enclose the sum of f over the integers beyond an edge, where it falls."""
    if not edge * side > 0:
        return 0.0, math.inf
    box = (arb(edge), INF) if side > 0 else (NEG_INF, arb(edge))
    v, _ = f.run(*box)
    if any(
        f.nodes[k][0] == "equal" and not _apart(*(v[a] for a in f.nodes[k][1])) for k in f.order
    ):
        return 0.0, math.inf  # ranges take it to be false but on a null set, and points count here
    if v[f.root][0] == 0 and v[f.root][1] == 0:
        return 0.0, 0.0
    # along log |y|, and along y away from 0
    slopes = log_slopes(f, v, box, ZERO_BALL, side)[1][1], side * log_slopes(f, v, box)[1][side > 0]
    if not any(slope <= 0 for slope in slopes):
        return 0.0, math.inf
    most, least = (tail(f, at, side * math.inf) for at in (edge, edge + side))
    high = math.inf if most is None else ArbEnclosure(ZERO_BALL, most[1].upper()).floats[1]
    low = 0.0 if least is None else ArbEnclosure(least[0].lower(), INF).floats[0]
    return max(low, 0.0), high


def _series(graph: Graph, edge: float, side: int, x: tuple[Any, Any] | None) -> tuple[float, float]:
    """Enclose the sum of a kernel beyond an edge between 0 and a geometric series."""
    most = math.inf
    if edge * side >= 2:
        secrets = {} if x is None else {"x": tuple(map(float, x))}
        t0 = math.nextafter(1 / (edge * side), 1.0)
        box = {name: slack(*pair) for name, pair in secrets.items()}
        box["y"] = ray(0.0, -1.0, side, side)
        with suppress(UndecidedRule):
            rate = ball(enclosed(unit_step(rewrite.log_of(graph), box, t0), box, t0)[1])
            at = {name: (np.array(a), np.array(b)) for name, (a, b) in secrets.items()}
            at["y"] = np.array(edge), np.array(edge)
            first = ball(float(interpreter.evaluate(graph, {n: at[n] for n in graph.inputs})[1]))
            if rate < 0 and first.is_finite():
                most = ends(first * rate.exp() / (1 - rate.exp()))[1]
    return 0.0, most


def _apart(p: Any, q: Any) -> bool:
    """Return whether two ranges have no number in common."""
    return bool(p[1] < q[0] or q[1] < p[0])
