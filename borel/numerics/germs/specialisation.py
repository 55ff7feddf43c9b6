"""A graph along a ray: what is settled for all t is written into it, so that more cancels.

A `where`, an absolute value or a maximum that is the same one of its arguments for all t is
replaced by that one, and the logarithm of a product of positive numbers by a sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel.numerics.balls.arithmetic import precision
from borel.numerics.germs.arithmetic import Rules
from borel.numerics.germs.interpreter import Log, Power, PowerProgram, truth_of
from borel.numerics.germs.values import BITS, UndecidedRule
from borel.numerics.graphs import rewrite
from borel.numerics.graphs.formulas import formula
from borel.numerics.graphs.graph import LEAVES, GraphBuilder
from borel.numerics.graphs.operations import OPERATIONS

if TYPE_CHECKING:
    from borel.numerics.graphs.graph import Graph


def settled(graph: Graph, inputs: dict[str, Any], t0: float) -> Graph:
    """Return a graph with the same values along a ray, for all t and all slacks.

    Parameters
    ----------
    graph : Graph
        Any.
    inputs : dict
        The ray, by name; names that the graph does not know are left out.
    t0 : float
        Where the ray starts.
    """
    values = PowerProgram(graph).values({k: inputs[k] for k in graph.inputs}, t0)
    with precision(BITS):
        return rewrite.simplified(_Settled(graph, values, Rules(t0)).graph())


class _Settled:
    def __init__(self, graph: Graph, values: list[Any], rules: Rules):
        self.nodes, self.values, self.rules = graph.nodes, values, rules
        self.made = GraphBuilder()
        self.place: list[int] = []

    def graph(self) -> Graph:
        for op, args in self.nodes:
            self.place.append(self._node(op, args))
        return self.made.graph(self.place[-1])

    def _node(self, op: str, args: tuple) -> int:
        add, place = self.made.add, self.place
        if op in LEAVES:
            return add(op, *args)
        if op == "log":
            return self._log(args[0])
        chosen = self._choice(op, [self.values[a] for a in args])
        if chosen is None:
            return add(op, *(place[a] for a in args))
        k, sign = chosen
        return place[args[k]] if sign > 0 else add("negative", place[args[k]])

    def _choice(self, op: str, values: list[Any]) -> tuple[int, int] | None:
        """Return which argument an operation is along the ray, and with which sign."""
        if op == "where":
            known = truth_of(self.rules, values[0])
            return None if known is None else (1, 1) if known else (2, 1)
        if not all(isinstance(v, Power | Log) for v in values):
            return None
        if op == "absolute":
            low, high = self.rules.signs(values[0])
            return (0, 1) if low >= 0 else (0, -1) if high <= 0 else None
        if op in ("maximum", "minimum", "fmax", "fmin"):
            try:
                low, high = self.rules.signs(self.rules.subtract(*values))
            except UndecidedRule:
                return None
            if low >= 0 or high <= 0:
                return int((low >= 0) != (op in ("maximum", "fmax"))), 1
        return None

    def _positive(self, k: int) -> bool:
        """Return whether a node is positive; what falls fast has an enclosure that may hold 0."""
        value, (op, args) = self.values[k], self.nodes[k]
        if isinstance(value, Power | Log) and self.rules.signs(value)[0] > 0:
            return True
        if op in ("multiply", "divide", "reciprocal", "sqrt", "square", "add"):
            return all(self._positive(a) for a in args)
        if op == "power" and not self._positive(args[0]):
            return False
        return op in ("exp", "power") and isinstance(self.values[args[-1]], Power | Log)

    def _log(self, k: int) -> int:
        op, args = self.nodes[k]
        if op == "where":  # the one that it is
            chosen = self._choice(op, [self.values[a] for a in args])
            if chosen is not None:
                return self._log(args[chosen[0]])
        if op == "exp" and self._positive(k):
            return self.place[args[0]]
        rule = OPERATIONS[op].log if op in OPERATIONS and op != "exp" else ""
        sizes = args[:1] if op == "power" else args
        if rule and all(self._positive(a) for a in sizes):
            logs = [self._log(a) for a in sizes]
            fast = any(self.made.nodes[m][0] not in ("log", "const") for m in logs)
            if op != "add" or fast:  # a sum of numbers that vanish fast
                inputs = {"lu": logs[0], "lv": logs[-1], "v": self.place[args[-1]]}
                return self.made.append(formula(rule), inputs=inputs)[-1]
        return self.made.add("log", self.place[k])
