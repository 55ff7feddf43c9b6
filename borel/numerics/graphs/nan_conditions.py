"""What stands under the conditions of a graph, and may be no number: NaN is seen there.

Identities of real functions hold wherever both sides are numbers. Elsewhere a density has no value,
but a condition has: (log u + 1) - log u > 0 is false where u is 0, and 1 > 0 is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from borel.numerics.graphs.graph import LEAVES
from borel.numerics.graphs.operations import STEPS, TOTAL, TRUTHS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from borel.numerics.graphs.graph import Graph

TESTS = TRUTHS | STEPS
GIVE_NUMBERS = TOTAL | TESTS | {"where"}
"""Operations that give numbers for numbers."""


def of_conditions(graph: Graph) -> set[int]:
    """Return the nodes of conditions that may be no numbers: they are to stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda x: np.where((np.log(x) + 1) - np.log(x) > 0, x, 0), ("x",), ())
    >>> sorted({graph.nodes[k][0] for k in of_conditions(graph)})
    ['add', 'greater', 'log', 'subtract']
    """
    partial: list[bool] = []
    for op, args in graph.nodes:
        plain = op in LEAVES
        total = plain or gives_numbers(graph.nodes, op, args)
        partial.append(not total or (not plain and any(partial[a] for a in args)))
    found: set[int] = set()
    todo = [a for op, args in graph.nodes if op in TESTS for a in args]
    todo += [args[0] for op, args in graph.nodes if op == "where"]
    while todo:
        k = todo.pop()
        if k not in found and partial[k]:
            found.add(k)
            todo += graph.nodes[k][1]
    return found


def gives_numbers(nodes: Sequence[tuple[str, tuple]], op: str, args: tuple) -> bool:
    """Return whether an operation among some nodes gives numbers for numbers."""
    if op not in ("divide", "power"):
        return op in GIVE_NUMBERS
    other, values = nodes[args[1]]
    if op == "divide":
        return other == "const" and values[0] != 0
    return other == "const" and values[0] >= 0 and float(values[0]).is_integer()
