"""How a density depends on a secret: through which functions of it alone.

``exp(-|y - clip(x, 0, 1)|) / 2`` is a function of y and of ``w0 = clip(x, 0, 1)``. What such
functions leave of a line of secrets may be short, and the rest of the density simple in them.
"""

from __future__ import annotations

from borel.numerics.graphs.graph import Graph, pruned


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
    nodes, inputs = graph.nodes, []
    for op, args in nodes:
        before = (inputs[a] for a in args) if op not in ("input", "const") else ()
        inputs.append(frozenset(args) if op == "input" else frozenset().union(*before))
    own, last = [bool(of) and of <= {*names} for of in inputs], len(nodes) - 1
    mixed = (args for k, (op, args) in enumerate(nodes) if inputs[k] and not own[k])
    used = {a for args in mixed for a in args if isinstance(a, int) and own[a]}
    cut = {k: f"w{i}" for i, k in enumerate(sorted(used | ({last} if own[last] else set())))}
    kept = [("input", (cut[k],)) if k in cut else node for k, node in enumerate(nodes)]
    others = tuple(n for n in graph.inputs if n not in names)
    inner = [Graph(pruned(list(nodes), k), names) for k in cut]
    return Graph(pruned(kept, last), (*others, *cut.values())), inner
