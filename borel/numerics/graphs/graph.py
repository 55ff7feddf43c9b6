"""Expression graphs, and the one builder of them.

A graph is a list of instructions in order of evaluation; every interpreter reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Node = tuple[str, tuple]
LEAVES = ("input", "const")
"""What is no function: its argument is a name or a number, not an earlier node."""


@dataclass(frozen=True)
class Graph:
    """An expression graph: instructions in order, the last one the result.

    Attributes
    ----------
    nodes : tuple
        Each ``(operation, arguments)``: ``("input", (name,))``, ``("const", (value,))`` or
        ``(function, indices of earlier nodes)``. Functions are named ``"exp"`` for NumPy's and
        ``"special.gammaln"`` for SciPy's.
    inputs : tuple of str
        Names of the inputs: ``y`` and ``x``; ``y0, y1`` for a product; parameters by name.
    """

    nodes: tuple[Node, ...]
    inputs: tuple[str, ...]

    @property
    def operations(self) -> set[str]:
        """Names of the functions that occur."""
        return {op for op, _ in self.nodes} - {*LEAVES}

    @property
    def constants(self) -> list[float]:
        """The numbers that occur."""
        return [args[0] for op, args in self.nodes if op == "const"]

    def to_json(self) -> dict:
        """Return plain data: floats as hexadecimal strings, so that nothing is rounded."""
        nodes = [
            [op, [float(a).hex() for a in args] if op == "const" else list(args)]
            for op, args in self.nodes
        ]
        return {"nodes": nodes, "inputs": list(self.inputs)}

    @classmethod
    def from_json(cls, data: dict) -> Graph:
        """Read what `to_json` wrote."""
        nodes = tuple(
            (op, tuple(float.fromhex(a) for a in args) if op == "const" else tuple(args))
            for op, args in data["nodes"]
        )
        for k, (op, args) in enumerate(nodes):
            if not (len(args) == 1 if op in LEAVES else all(0 <= i < k for i in args)):
                raise ValueError(f"node {k}, {op}, cannot have the arguments {args}")
        return cls(nodes, tuple(data["inputs"]))

    def bind(self, values: dict[str, float]) -> Graph:
        """Return the graph with some inputs (parameters) replaced by numbers."""
        nodes = tuple(
            ("const", (float(values[args[0]]),))
            if op == "input" and args[0] in values
            else (op, args)
            for op, args in self.nodes
        )
        return Graph(nodes, tuple(n for n in self.inputs if n not in values))


def needed(nodes: Sequence[Node], root: int) -> list[int]:
    """Return the nodes that one of them needs, in order, itself the last."""
    found, stack = set(), [root]
    while stack:
        k = stack.pop()
        if k not in found:
            found.add(k)
            op, args = nodes[k]
            stack.extend(() if op in LEAVES else args)
    return sorted(found)


def pruned(nodes: Sequence[Node], root: int) -> tuple[Node, ...]:
    """Return the nodes that one of them needs, itself the last, as nodes of a graph."""
    order = needed(nodes, root)
    place = {old: new for new, old in enumerate(order)}
    return tuple(
        (op, args if op in LEAVES else tuple(place[a] for a in args))
        for op, args in (nodes[k] for k in order)
    )


class GraphBuilder:
    """A graph in the making; equal nodes are one.

    Parameters
    ----------
    *graphs : Graph
        What it begins with, side by side; inputs of one name are one input.

    Attributes
    ----------
    nodes : list
        The nodes so far.
    roots : list of int
        The node that is the result of each of those graphs.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> square, cube = trace(lambda t: t * t, ("t",), ()), trace(lambda t: t * t * t, ("t",), ())
    >>> both = GraphBuilder(square, cube)
    >>> [op for op, _ in both.graph(both.add("add", *both.roots)).nodes]
    ['input', 'multiply', 'multiply', 'add']
    """

    def __init__(self, *graphs: Graph) -> None:
        self.nodes: list[Node] = []
        self._known: dict[Node, int] = {}
        self.roots = [self.append(graph)[-1] for graph in graphs]

    def add(self, op: str, *args: Any) -> int:
        """Return the node of an operation, a new one if there is none yet."""
        # NaN and -0.0 are numbers of their own
        key = (op, (float(args[0]).hex(),)) if op == "const" else (op, args)
        k = self._known.get(key)
        if k is None:
            k = self._known[key] = len(self.nodes)
            self.nodes.append((op, args))
        return k

    def append(
        self,
        graph: Graph,
        rule: Callable[..., int] | None = None,
        inputs: dict[str, int] | None = None,
    ) -> list[int]:
        """Add the nodes of a graph and return where each of them is.

        Parameters
        ----------
        graph : Graph
            What to add.
        rule : callable, optional
            ``(operation, *arguments) -> node``, in place of `add`; not asked for leaves.
        inputs : dict, optional
            Nodes that stand for inputs, by name.
        """
        place: list[int] = []
        for op, args in graph.nodes:
            if op not in LEAVES:
                place.append((rule or self.add)(op, *(place[a] for a in args)))
            elif op == "input" and inputs and args[0] in inputs:
                place.append(inputs[args[0]])
            else:
                place.append(self.add(op, *args))
        return place

    def constant(self, value: float) -> int:
        """Return the node of a number."""
        return self.add("const", float(value))

    def number(self, k: int) -> float | None:
        """Return the number that a node is, if it is one."""
        op, args = self.nodes[k]
        return args[0] if op == "const" else None

    def arguments(self, k: int, op: str) -> tuple[int, ...]:
        """Return the arguments of a node of that operation; none if it is another."""
        own, args = self.nodes[k]
        return args if own == op else ()

    def graph(self, root: int, inputs: tuple[str, ...] | None = None) -> Graph:
        """Return the graph whose result is a node, its inputs those that occur if none are told."""
        nodes = pruned(self.nodes, root)
        occurring = dict.fromkeys(str(args[0]) for op, args in nodes if op == "input")
        return Graph(nodes, tuple(occurring) if inputs is None else inputs)
