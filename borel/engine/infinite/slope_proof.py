r"""A slope of log f(y|x) in the secret, of one sign, that grows: PML and PMC are infinite.

Let the slope of log f(y|x) in x be at least S(t) > 0 for almost every x of an open interval that
holds the secret, and S -> infinity. With b the essential supremum of a prior without atoms,

.. math:: f_Y(y) / \operatorname{ess\,sup}_x f(y|x) \le E\, e^{-S (b - X)} \to 0,

and f_Y / ess inf f likewise tends to infinity; an unbounded end only helps. (Slopes of the other
sign: the same, mirrored.)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from borel.numerics.germs.interpreter import Log, Power, PowerProgram, exponent, slack, weight
from borel.numerics.germs.order_bounds import log_to
from borel.numerics.germs.specialisation import settled
from borel.numerics.germs.values import box
from borel.numerics.graphs.graph import LEAVES, GraphBuilder
from borel.numerics.graphs.operations import TOTAL

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Secret
    from borel.numerics.germs.order_bounds import Ray
    from borel.numerics.graphs.graph import Graph


def slope_along(
    graph: Graph, secret: Secret, y: Ray, t0: float
) -> tuple[int, tuple[float, float] | None] | None:
    """Return the sign of a slope of log f(y|x) in x that tends to infinity, and its order.

    The order (A, w), of |slope| >= e^w t^A, is None for one that grows as log t.

    Parameters
    ----------
    graph : Graph
        log f(y|x).
    secret : Secret
        One with a density on one interval.
    y : Ray
        The outcomes.
    t0 : float
        The largest t.
    """
    low, high = float(secret.lower[0]), float(secret.upper[0])
    name, whole, some = secret.names[0], _interval(low, high), slack(*_middle(low, high))
    graph = _varying(graph, y, t0)
    if not {"y", name} <= set(graph.inputs):
        return None
    program = PowerProgram(settled(graph, {"y": y.value, name: whole}, t0))
    if not {"y", name} <= set(program.graph.inputs):
        return None
    found = _size(program.run({"y": y.value, name: whole}, t0, derivative=name)[1])
    if found is None:
        return None
    # where f is 0 for every secret along the ray nothing leaks
    value = program.run({"y": y.value, name: some}, t0)
    leaks = isinstance(value, Power | Log) and math.isfinite(weight(value)[0])
    return found if leaks else None


def _varying(graph: Graph, y: Ray, t0: float) -> Graph:
    """Return log f(y|x) less terms of the outcome alone that are finite along a ray."""
    b = GraphBuilder(graph)
    root = b.roots[0]
    while (op := b.nodes[root][0]) in ("add", "subtract"):
        first, second = b.nodes[root][1]
        if _finite(b.graph(second), y, t0):
            root = first
        elif _finite(b.graph(first), y, t0):
            root = second if op == "add" else b.add("negative", second)
        else:
            break
    return b.graph(root)


def _finite(graph: Graph, y: Ray, t0: float) -> bool:
    """Return whether it is a function of the outcome alone that is finite along a ray."""
    if graph.inputs != ("y",):
        return False
    values = PowerProgram(graph).values({"y": y.value}, t0)
    for op, args in graph.nodes:
        if op == "special.gammaln":
            of = values[args[0]]
            if not (isinstance(of, Power) and weight(of)[0] > 0):
                return False
        elif op not in LEAVES and op not in TOTAL:
            return False
    return True


def _interval(low: float, high: float) -> Power:
    """Return every number of an interval; an infinite end is none of them."""
    from flint import arb

    return box((arb(low), arb(high)), still=True)


def _middle(low: float, high: float) -> tuple[float, float]:
    """Return a small interval inside."""
    if math.isfinite(low) and math.isfinite(high):
        step = (high - low) / 4
        return low + step, low + 2 * step
    start = low + 1.0 if math.isfinite(low) else high - 2.0 if math.isfinite(high) else 0.0
    return start, start + 1.0


def _size(slope: Any) -> tuple[int, tuple[float, float] | None] | None:
    """Return the sign and the order of what tends to infinity, or minus infinity, uniformly."""
    if not isinstance(slope, Power | Log):
        return None
    a, w = exponent(slope), weight(slope)
    if isinstance(slope, Log):
        if a[1] < 0 and math.isfinite(w[0]):
            return 1, None
        return (-1, None) if a[0] > 0 and math.isfinite(w[1]) else None
    if slope.base != 0 or not a[1] < 0 or not (w[0] > 0 or w[1] < 0):
        return None
    sign = 1 if w[0] > 0 else -1
    return sign, (a[1], log_to(w[0] if sign > 0 else -w[1], -1))
