"""Exact folding: what a graph decides by its constants alone is decided once, without rounding.

Graphs that come from other libraries carry checks of parameters and branches for special cases.
Where these compare constants, rational arithmetic settles them: ``where(2 > 0, f, nan)`` is f.
A result that float64 does not hold exactly stays an operation, so that nothing is rounded here.
The identities of real functions that go with it are in `borel.numerics.graphs.folding_rules`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from borel.numerics.graphs.exact_builder import ExactBuilder
from borel.numerics.graphs.folding_rules import OF_ALL, RULES
from borel.numerics.graphs.graph import LEAVES
from borel.numerics.graphs.nan_conditions import of_conditions

if TYPE_CHECKING:
    from borel.numerics.graphs.graph import Graph


def folded(graph: Graph) -> Graph:
    """Return the same function with everything decided that constants decide.

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda x: np.where(x * 0.1 > 3, np.log(1 - x), x / 1), ("x",), ())
    >>> sorted(folded(graph).operations)
    ['greater', 'log1p', 'multiply', 'negative', 'where']
    """
    fold, last = _fold(graph)
    return fold.graph(last, graph.inputs)


def exact_value(graph: Graph) -> Fraction | None:
    """Return the number that a graph without inputs is, if rational arithmetic knows it.

    Examples
    --------
    >>> from borel.numerics.graphs.graph import Graph
    >>> exact_value(Graph((("const", (3.0,)), ("reciprocal", (0,))), ()))
    Fraction(1, 3)
    """
    fold, last = _fold(graph)
    known = fold.exact.get(last)
    return known if isinstance(known, Fraction) else None


def _fold(graph: Graph) -> tuple[ExactBuilder, int]:
    fold, place, kept = ExactBuilder(RULES), [], of_conditions(graph)
    for k, (op, args) in enumerate(graph.nodes):
        if op in LEAVES:
            place.append(fold.add(op, *args))
        else:
            simply = k not in kept or op in OF_ALL
            place.append(fold.node(op, *(place[a] for a in args), simply=simply))
    return fold, place[-1]
