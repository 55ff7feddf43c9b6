"""How a density depends on a secret: through which functions of it alone.

``exp(-|y - clip(x, 0, 1)|) / 2`` is a function of y and of ``w0 = clip(x, 0, 1)``. What such
functions leave of a line of secrets may be short, and the rest of the density simple in them.
"""

from __future__ import annotations

from borel.numerics.graphs.graph import LEAVES, Graph, pruned


def through(graph: Graph, names: tuple[str, ...] = ("x",)) -> tuple[Graph, list[Graph]]:
    """Return a graph in which w0, w1, ... stand for functions of the secret alone, and those.

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.graphs.trace import trace
    >>> outer, inner = through(trace(lambda y, x: abs(y - np.tanh(2 * x)), ("y", "x"), ()))
    >>> outer.nodes
    (('input', ('y',)), ('input', ('w0',)), ('subtract', (0, 1)), ('absolute', (2,)))
    >>> [g.operations == {"multiply", "tanh"} for g in inner]
    [True]
    """
    nodes, own, last = graph.nodes, _own(graph, names), len(graph.nodes) - 1
    mixed = (args for k, (op, args) in enumerate(nodes) if op not in LEAVES and not own[k])
    used = {a for args in mixed for a in args if own[a]}
    cut = {k: f"w{i}" for i, k in enumerate(sorted(used | ({last} if own[last] else set())))}
    kept = [("input", (cut[k],)) if k in cut else node for k, node in enumerate(nodes)]
    others = tuple(n for n in graph.inputs if n not in names)
    inner = [Graph(pruned(list(nodes), k), names) for k in cut]
    return Graph(pruned(kept, last), (*others, *cut.values())), inner


def through_one(graph: Graph, names: tuple[str, ...] = ("x",)) -> tuple[Graph, Graph] | None:
    """Return a graph as one of a single function of the secret, its input ``w0``, and that one.

    Of several such functions it is the one nearest to the result. None where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y, x: np.tanh(x) * abs(y - np.tanh(x)), ("y", "x"), ())
    >>> outer, inner = through_one(graph)
    >>> outer.inputs, [op for op, _ in inner.nodes]
    (('y', 'w0'), ['input', 'tanh'])
    """
    own = _own(graph, names)
    others = tuple(n for n in graph.inputs if n not in names)
    for k in (k for k in range(len(own) - 1, -1, -1) if own[k]):
        nodes = [("input", ("w0",)) if j == k else node for j, node in enumerate(graph.nodes)]
        left = pruned(nodes, len(nodes) - 1)
        if not any(op == "input" and args[0] in names for op, args in left):
            return Graph(left, (*others, "w0")), Graph(pruned(list(graph.nodes), k), names)
    return None


def _own(graph: Graph, names: tuple[str, ...]) -> list[bool]:
    """Return which nodes are functions of the secret alone."""
    inputs: list[frozenset] = []
    for op, args in graph.nodes:
        before = (inputs[a] for a in args) if op not in LEAVES else ()
        inputs.append(frozenset(args) if op == "input" else frozenset().union(*before))
    return [bool(of) and of <= {*names} for of in inputs]
