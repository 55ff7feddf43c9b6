"""The float64 interpreter of expression graphs: what NumPy would compute, nothing proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from borel.engine.trace import Graph


def evaluate(graph: Graph, inputs: dict[str, np.ndarray]) -> np.ndarray:
    """Evaluate a graph on broadcastable float arrays and return their broadcast shape.

    Examples
    --------
    >>> from borel.engine.trace import trace
    >>> graph = trace(lambda y, x: np.exp(-abs(y - x)), ("y", "x"), ())
    >>> float(evaluate(graph, {"y": np.array(1.0), "x": np.array(1.0)}))
    1.0
    """
    values: list[np.ndarray] = []
    with np.errstate(all="ignore"):
        for op, args in graph.nodes:
            if op == "input":
                values.append(np.asarray(inputs[args[0]], float))
            elif op == "const":
                values.append(np.float64(args[0]))
            else:
                values.append(_function(op)(*(values[a] for a in args)))
    shape = np.broadcast_shapes(*(np.shape(inputs[name]) for name in graph.inputs))
    return np.broadcast_to(np.asarray(values[-1], float), shape)


def _function(name: str):
    if name == "where":
        return np.where
    if name.startswith("special."):
        from scipy import special

        return getattr(special, name.removeprefix("special."))
    return getattr(np, name)
