"""Graphs of densities: read from data, and evaluated on Taylor models.

A graph is a list of nodes in order of evaluation, the last one its result. A node is
``["input", [name]]``, ``["const", [number]]`` or ``[function, [indices of earlier nodes]]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel.checker import reading as read
from borel.checker.models import constant
from borel.checker.operations import ARITY, FUNCTIONS, either, exponential, is_true, logarithm
from borel.checker.reading import require

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.checker.models import Model

_LARGEST = 10_000
_ARITY = {"input": 1, "const": 1, "where": 3, **ARITY}
"""How many arguments an operation has."""


class Density:
    """A nonnegative function of its inputs, by a graph of it or of its logarithm.

    Parameters
    ----------
    data : dict
        ``graph`` (nodes and inputs) and ``log``, whether it is that of the logarithm.
    names : tuple of str
        The inputs that it may have.
    """

    def __init__(self, data: Any, names: tuple[str, ...], where: str):
        data = read.record(data, where, ("graph", "log"))
        self.log = read.flag(data["log"], f"{where}, log")
        graph = read.record(data["graph"], f"{where}, graph", ("nodes", "inputs"))
        inputs = [
            read.text(name, f"{where}, inputs") for name in read.items(graph["inputs"], where)
        ]
        known = len(set(inputs)) == len(inputs) and set(inputs) <= set(names)
        require(known, where, f"expected inputs among {names}, got {inputs}")
        nodes = read.items(graph["nodes"], f"{where}, nodes", 1, _LARGEST)
        self.nodes = [_node(node, k, inputs, where) for k, node in enumerate(nodes)]

    def value(self, **inputs: Model) -> Model:
        """Return the density where the inputs are some models."""
        out = _Evaluation(self.nodes, inputs).value(len(self.nodes) - 1)
        out = exponential(out) if self.log else out
        require(out.real, "a density", "it may be -infinity")
        return out

    def logarithm(self, **inputs: Model) -> Model:
        """Return the logarithm of the density, of a product that of its factors."""
        run, last = _Evaluation(self.nodes, inputs), len(self.nodes) - 1
        return run.value(last) if self.log else run.logarithm(last)


def _node(data: Any, k: int, inputs: list[str], where: str) -> tuple[str, Any]:
    """Read a node: its function, and its arguments, a name, a number or earlier nodes."""
    where = f"{where}, node {k}"
    name, arguments = read.items(data, where, 2, 2)
    read.text(name, where)
    arity = _ARITY.get(name, 0)
    require(arity > 0, where, f"the operation {name[:40]!r} is not one that the checker knows")
    read.items(arguments, where, arity, arity)
    if name == "input":
        return name, read.text(arguments[0], where, tuple(inputs))
    if name == "const":
        return name, read.end(arguments[0], where)
    return name, tuple(read.whole(a, where, 0, k - 1) for a in arguments)


class _Evaluation:
    """What is known of the nodes of a graph, each found when it is needed, once."""

    def __init__(self, nodes: list[tuple[str, Any]], inputs: dict[str, Model]):
        self.nodes, self.inputs = nodes, inputs
        self.known: dict[Any, Any] = {}

    def value(self, k: int) -> Model:
        if k not in self.known:
            name, arguments = self.nodes[k]
            if name == "input":
                self.known[k] = self.inputs[arguments]
            elif name == "const":
                self.known[k] = constant(arguments)
            elif name == "where":
                test, *cases = arguments
                chosen = is_true(self.value(test))
                self.known[k] = self.among(cases, chosen, self.value)
            else:
                self.known[k] = FUNCTIONS[name](*map(self.value, arguments))
        return self.known[k]

    def among(self, cases: list[int], chosen: bool | None, of: Any) -> Model:
        """Return the chosen one of two nodes, the other one need not even be a number there."""
        if chosen is not None:
            return of(cases[0 if chosen else 1])
        return either(*map(of, cases))

    def once(self, key: tuple[str, int], find: Callable[[int], Any]) -> Any:
        """Return what is known of a node beside its value: paths to it may be many."""
        if key not in self.known:
            self.known[key] = find(key[1])
        return self.known[key]

    def logarithm(self, k: int) -> Model:
        """Return the logarithm of a node > 0."""
        return self.once(("logarithm", k), self._logarithm)

    def _logarithm(self, k: int) -> Model:
        name, arguments = self.nodes[k]
        if name == "exp":
            return self.value(arguments[0])
        if name in ("multiply", "divide") and all(self.positive(a) for a in arguments):
            first, second = map(self.logarithm, arguments)
            return first + second if name == "multiply" else first - second
        if name == "where":
            chosen = is_true(self.value(arguments[0]))
            return self.among(list(arguments[1:]), chosen, self.logarithm)
        return logarithm(self.value(k))

    def positive(self, k: int) -> bool:
        """Return whether a node is > 0 almost everywhere, by its formula or by its value."""
        return self.once(("positive", k), self._positive)

    def _positive(self, k: int) -> bool:
        name, arguments = self.nodes[k]
        if name in ("exp", "special.expit"):
            return True
        if name in ("multiply", "divide"):
            return all(self.positive(a) for a in arguments)
        value = self.value(k)
        return bool(value.low >= 0) and 0 not in value.signs()
