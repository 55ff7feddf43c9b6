"""The float64 interpreter of expression graphs: what NumPy would compute, nothing proved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from borel import settings
from borel.numerics.graphs.formulas import function_of
from borel.numerics.graphs.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.graphs.graph import Graph


def evaluate(graph: Graph, inputs: dict[str, np.ndarray]) -> np.ndarray:
    """Evaluate a graph on broadcastable float arrays and return their broadcast shape.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y, x: np.exp(-abs(y - x)), ("y", "x"), ())
    >>> float(evaluate(graph, {"y": np.array(1.0), "x": np.array(1.0)}))
    1.0
    """
    return _whole(_values(graph, inputs)[-1], graph, inputs)


def evaluate_log(graph: Graph, inputs: dict[str, np.ndarray], *, least: float = 0.0) -> np.ndarray:
    """Evaluate the logarithm of a non-negative graph, kept in logarithms where products allow.

    ``exp(-y**2 / 2) * c`` underflows at y = 40; its logarithm, read from the graph, does not. A
    positive value that had to be evaluated itself and lies below ``least`` counts as 0.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y, x: np.exp(-((y - x) ** 2)), ("y", "x"), ())
    >>> float(evaluate_log(graph, {"y": np.array(100.0), "x": np.array(0.0)}))
    -10000.0
    """
    values = _values(graph, inputs)
    logs: list[np.ndarray] = []
    with np.errstate(all="ignore"):
        for k, (op, args) in enumerate(graph.nodes):
            logs.append(_log(op, args, values[: k + 1], logs, least))
    return _whole(logs[-1], graph, inputs)


def _values(graph: Graph, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Return the value of every node."""
    values: list[np.ndarray] = []
    count = math.prod(np.broadcast_shapes(*(np.shape(v) for v in inputs.values())))
    settings.work("float64", len(graph.nodes), count)
    with np.errstate(all="ignore"):
        for op, args in graph.nodes:
            if op == "input":
                values.append(np.asarray(inputs[args[0]], float))
            elif op == "const":
                values.append(np.asarray(args[0], float))
            else:
                # as float64: truth values are numbers to what reads them
                values.append(np.asarray(function(op)(*(values[a] for a in args)), float))
    return values


def _whole(value: np.ndarray, graph: Graph, inputs: dict[str, np.ndarray]) -> np.ndarray:
    """Return a result in the broadcast shape of the inputs."""
    shape = np.broadcast_shapes(*(np.shape(inputs[name]) for name in graph.inputs))
    return np.broadcast_to(np.asarray(value, float), shape)


def _log(op: str, args: tuple, values: list, logs: list, least: float) -> np.ndarray:
    """Return the logarithm of the newest value by its operation, NaN where it is negative."""
    value = values[-1]
    if op == "exp":
        return values[args[0]]
    if op == "where":
        return np.where(values[args[0]], logs[args[1]], logs[args[2]])
    value = np.asarray(value, float)
    plain = np.log(np.where((value > 0) & (value < least), 0.0, value) if least else value)
    if op not in _LOG_RULES or any(np.asarray(values[a]).dtype == bool for a in args):
        return plain
    known = np.logical_and.reduce(
        np.broadcast_arrays(*(values[a] >= 0 for a in (args[:1] if op == "power" else args)))
    )
    by_rule = _LOG_RULES[op](*(logs[a] for a in args), *(values[a] for a in args))
    # an infinite factor against a zero one settles nothing: keep what float64 says
    return np.where(known & ~np.isnan(by_rule), by_rule, plain)


def function(name: str) -> Callable[..., np.ndarray]:
    """Return the function of NumPy or SciPy that an operation is."""
    if name.startswith("special."):
        from scipy import special

        return getattr(special, name.removeprefix("special."))
    return getattr(np, name)


_LOG_RULES = {
    op: function_of(of.log, ("lu", "lv", "u", "v")[:: 3 - of.arguments], function, float)
    for op, of in OPERATIONS.items()
    if of.log and op != "exp"
}
_LOG_RULES["power"] = lambda la, lb, a, b: np.where(b == 0, 0.0, b * la)
