"""Where a graph is a number: of a root or a logarithm an enclosure tells only the part that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from borel.numerics.graphs.graph import LEAVES, Graph
from borel.numerics.graphs.nan_conditions import GIVE_NUMBERS
from borel.numerics.intervals.interpreter import evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping


def has_values(graph: Graph, box: Mapping[str, tuple[float, float]]) -> bool:
    """Return whether a function is seen to be a number all over a box.

    Parameters
    ----------
    graph : Graph
        The function.
    box : mapping
        The least and the greatest value of every input.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> root = trace(lambda x: np.sqrt(x - 0.5), ("x",), ())
    >>> has_values(root, {"x": (0.5, 1.0)}), has_values(root, {"x": (0.25, 1.0)})
    (True, False)
    """
    inputs = {name: (np.array(low), np.array(high)) for name, (low, high) in box.items()}

    def ends(k: int) -> tuple[float, float]:
        low, high = evaluate(Graph(graph.nodes[: k + 1], graph.inputs), inputs)
        return float(low), float(high)

    for op, args in graph.nodes:
        if op == "sqrt":
            known = ends(args[0])[0] >= 0
        elif op == "log":
            known = ends(args[0])[0] > 0
        elif op in ("divide", "reciprocal"):
            low, high = ends(args[-1])
            known = low > 0 or high < 0
        elif op == "power":
            low, high = ends(args[1])
            whole = low == high and low > 0 and low.is_integer()
            known = whole or ends(args[0])[0] > 0
        else:
            known = op in LEAVES or op in GIVE_NUMBERS
        if not known:
            return False
    return True
