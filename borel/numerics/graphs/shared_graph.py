"""Graphs of several densities made into one, with equal nodes shared, and results added to it."""

from __future__ import annotations

from typing import Any

from borel.numerics.graphs.trace import Graph, pruned


class JoinedGraphs:
    """Graphs side by side.

    Parameters
    ----------
    graphs : list of Graph
        Inputs of one name are one input.

    Attributes
    ----------
    roots : list of int
        The node that is the result of each graph.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> square, cube = trace(lambda t: t * t, ("t",), ()), trace(lambda t: t * t * t, ("t",), ())
    >>> both = JoinedGraphs([square, cube])
    >>> [op for op, _ in both.rooted(both.add("add", *both.roots)).nodes]
    ['input', 'multiply', 'multiply', 'add']
    """

    def __init__(self, graphs: list[Graph]):
        self._nodes: list[tuple[str, tuple]] = []
        self._known: dict[tuple, int] = {}
        self.roots: list[int] = []
        for graph in graphs:
            place: list[int] = []
            for op, args in graph.nodes:
                leaf = op in ("input", "const")
                place.append(self.add(op, *(args if leaf else (place[a] for a in args))))
            self.roots.append(place[-1])

    def add(self, op: str, *args: Any) -> int:
        """Return the node of an operation, a new one if there is none yet."""
        key = (op, float(args[0]).hex()) if op == "const" else (op, args)
        if key not in self._known:
            self._known[key] = len(self._nodes)
            self._nodes.append((op, args))
        return self._known[key]

    def operation(self, node: int) -> str:
        """Return the operation of a node."""
        return self._nodes[node][0]

    def arguments(self, node: int) -> tuple:
        """Return the arguments of a node: nodes, or what an input or a constant is."""
        return self._nodes[node][1]

    def rooted(self, root: int) -> Graph:
        """Return the graph whose result is a node."""
        kept = pruned(self._nodes, root)
        return Graph(kept, tuple(dict.fromkeys(str(a[0]) for op, a in kept if op == "input")))
