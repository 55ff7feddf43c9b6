"""Densities of other libraries: their own function on arrays, a graph of ours on traced values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel.numerics.graphs.graph import Graph
from borel.numerics.graphs.operations import OPERATIONS
from borel.numerics.graphs.trace import Tracer, replay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Names = tuple[str | tuple[str, ...], ...]
"""Names of the arguments of a density; a tuple of names for a point of a product."""


def either(
    graph_of: Callable[[Names, tuple[str, ...]], Graph],
    numeric: Callable[..., Any],
    whole: Sequence[bool],
) -> Callable[..., Any]:
    """Return a density that gives its graph when it is traced, and its values on arrays.

    Parameters
    ----------
    graph_of : callable
        Takes `Names`, and those among them that stand for integers only, and returns the graph of
        the density in them; raises `NotTraceable` with the reason if there is none, and the
        density is then opaque.
    numeric : callable
        The same density on arrays: what an opaque density is evaluated by.
    whole : sequence of bool
        Whether each argument is an integer (of a product: every coordinate).

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.graphs.trace import trace
    >>> inner = trace(lambda a: np.exp(-a), ("p0.0",), ())
    >>> density = either(lambda names, whole: inner, np.negative, [False])
    >>> sorted(trace(lambda x: 2 * density(x), ("x",), ()).operations)
    ['exp', 'multiply', 'negative']
    """

    def density(*points: Any) -> Any:
        parts = [p if isinstance(p, tuple) else (p,) for p in points]
        if not any(isinstance(v, Tracer) for part in parts for v in part):
            return numeric(*points)
        labels = [tuple(f"p{i}.{j}" for j in range(len(part))) for i, part in enumerate(parts)]
        names: Names = tuple(
            many if isinstance(p, tuple) else many[0]
            for p, many in zip(points, labels, strict=True)
        )
        integers = tuple(
            n for many, integer in zip(labels, whole, strict=True) if integer for n in many
        )
        values = [v for part in parts for v in part]
        flat = [n for many in labels for n in many]
        return replay(graph_of(names, integers), dict(zip(flat, values, strict=True)))

    return density


def is_integral(nodes: Sequence[tuple[str, tuple]], k: int, whole: tuple[str, ...]) -> bool:
    """Return whether a node of a graph is an integer wherever the inputs named in `whole` are.

    Examples
    --------
    >>> nodes = [("input", ("x",)), ("const", (2.0,)), ("multiply", (0, 1)), ("divide", (0, 1))]
    >>> [is_integral(nodes, k, ("x",)) for k in range(4)]
    [True, True, True, False]
    """
    op, args = nodes[k]
    if op == "input":
        return args[0] in whole
    if op == "const":
        return float(args[0]).is_integer()
    if op == "where":
        return is_integral(nodes, args[1], whole) and is_integral(nodes, args[2], whole)
    kind = OPERATIONS[op].whole if op in OPERATIONS else ""
    return kind == "always" or (kind == "kept" and all(is_integral(nodes, a, whole) for a in args))
