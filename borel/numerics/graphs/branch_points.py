"""Where a graph of one variable takes another branch: the numbers at which its conditions turn.

A density may do on a sliver between two of them what no probe elsewhere sees: a spike, a negative
value, a mass. They are found by solving conditions backwards, |x - 0.3| < 1e-9 as x = 0.3 +- 1e-9,
so that a check may look between them. Conditions that are not solved are left out: nothing here is
a proof.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from borel.numerics.graphs.float64 import function
from borel.numerics.graphs.operations import COMPARISONS

if TYPE_CHECKING:
    from borel.numerics.graphs.graph import Graph

MOST = 64
_SIDES = COMPARISONS | {"maximum", "minimum", "fmax", "fmin"}
_AT_ZERO = frozenset("absolute sign heaviside".split())
_INVERSES = {
    "exp": lambda c: [math.log(c)] if c > 0 else [],
    "log": lambda c: [math.exp(c)] if c < 700 else [],
    "expm1": lambda c: [math.log1p(c)] if c > -1 else [],
    "log1p": lambda c: [math.expm1(c)] if c < 700 else [],
    "sqrt": lambda c: [c * c] if c >= 0 else [],
    "square": lambda c: [math.sqrt(c), -math.sqrt(c)] if c >= 0 else [],
    "absolute": lambda c: [c, -c] if c >= 0 else [],
    "negative": lambda c: [-c],
    "positive": lambda c: [c],
    "reciprocal": lambda c: [1 / c] if c else [],
}
_WITH_NUMBER = {  # of v and a number k, v in the place 0 or 1: the v with a value c
    "add": lambda c, k, place: [c - k],
    "subtract": lambda c, k, place: [k - c if place else c + k],
    "multiply": lambda c, k, place: [c / k] if k else [],
    "divide": lambda c, k, place: ([k / c] if c else []) if place else [c * k],
    "power": lambda c, k, place: [] if place else _root(c, k),
}


def branch_points(graph: Graph, name: str, **known: float) -> np.ndarray:
    """Return where conditions in one variable alone turn, sorted, at most `MOST`.

    Parameters
    ----------
    graph : Graph
        A density.
    name : str
        The variable.
    **known : float
        Values of other inputs.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda x: np.where(abs(x - 0.5) < 0.25, 2.0, 0.0), ("x",), ())
    >>> branch_points(graph, "x")
    array([0.25, 0.5 , 0.75])
    """
    nodes = _Nodes(graph, name, known)
    found: set[float] = set()
    with np.errstate(all="ignore"):
        for op, args in graph.nodes:
            if op in _SIDES:
                found |= nodes.meet(*args)
            elif op in _AT_ZERO:
                found |= nodes.solve(args[0], 0.0)
    points = np.array(sorted(v for v in found if math.isfinite(v)))
    if len(points) <= MOST:
        return points
    return points[np.linspace(0, len(points) - 1, MOST).astype(int)]


class _Nodes:
    """The nodes of a graph as numbers, and as a v + b, where they are that."""

    def __init__(self, graph: Graph, name: str, known: dict[str, float]):
        self.nodes = graph.nodes
        self.number: list[float | None] = []
        self.line: list[tuple[float, float] | None] = []
        with np.errstate(all="ignore"):
            for op, args in graph.nodes:
                self._read(op, args, name, known)

    def _read(self, op: str, args: tuple, name: str, known: dict[str, float]) -> None:
        value: float | None = None
        line: tuple[float, float] | None = None
        if op == "const":
            value = float(args[0])
        elif op == "input":
            value = known.get(args[0])
            line = (1.0, 0.0) if args[0] == name else None
        elif all(self.number[a] is not None for a in args):
            value = float(function(op)(*(self.number[a] for a in args)))
        elif op in _LINES:
            parts = [self.line[a] for a in args]
            line = _LINES[op](*parts) if None not in parts else None
        self.number.append(value)
        self.line.append(line if value is None else (0.0, value))

    def meet(self, left: int, right: int) -> set[float]:
        """Return where the two sides of a condition are equal."""
        for side, other in ((left, right), (right, left)):
            level = self.number[other]
            if level is not None:
                return self.solve(side, level)
        first, second = self.line[left], self.line[right]
        if first is None or second is None or first[0] == second[0]:
            return set()
        return {(second[1] - first[1]) / (first[0] - second[0])}

    def solve(self, k: int, level: float) -> set[float]:
        """Return where a node is a number, by its operations backwards."""
        levels = {level}
        while (line := self.line[k]) is None:
            op, args = self.nodes[k]
            inner = args[0]
            if op in _INVERSES:
                levels = {v for c in levels for v in _INVERSES[op](c)}
            elif op == "multiply" and args[0] == args[1]:
                levels = {v for c in levels for v in _INVERSES["square"](c)}
            elif op in _WITH_NUMBER and len({self.number[a] is None for a in args}) == 2:
                place = int(self.number[args[0]] is not None)
                inner, number = args[place], self.number[args[1 - place]]
                levels = {v for c in levels for v in _WITH_NUMBER[op](c, number, place)}
            else:
                return set()
            if len(levels) > MOST:
                return set()
            k = inner
        return {(c - line[1]) / line[0] for c in levels} if line[0] else set()


def _product(p: tuple[float, float], q: tuple[float, float]) -> tuple[float, float] | None:
    if q[0]:
        p, q = q, p
    return None if q[0] else (p[0] * q[1], p[1] * q[1])


_LINES = {
    "negative": lambda p: (-p[0], -p[1]),
    "positive": lambda p: p,
    "add": lambda p, q: (p[0] + q[0], p[1] + q[1]),
    "subtract": lambda p, q: (p[0] - q[0], p[1] - q[1]),
    "multiply": _product,
    "divide": lambda p, q: (p[0] / q[1], p[1] / q[1]) if not q[0] and q[1] else None,
}


def _root(value: float, power: float) -> list[float]:
    """Return the real numbers of which a power is a value."""
    if not power or value < 0 or (value == 0 and power < 0):
        return []
    try:
        root = value ** (1 / power)
    except OverflowError:
        return []
    return [root, -root] if power == int(power) and not int(power) % 2 else [root]


def between(points: np.ndarray, lower: float, upper: float) -> np.ndarray:
    """Return one point between each two neighbours among points and the ends of an interval.

    Examples
    --------
    >>> between(np.array([0.25, 0.75]), 0.0, 1.0)
    array([0.125, 0.5  , 0.875])
    """
    inside = np.unique(points[(points > lower) & (points < upper)])
    if not len(inside):
        return np.zeros(0)
    first = lower if math.isfinite(lower) else inside[0] - 2 * (1 + abs(inside[0]))
    last = upper if math.isfinite(upper) else inside[-1] + 2 * (1 + abs(inside[-1]))
    edges = np.concatenate([[first], inside, [last]])
    middles = edges[:-1] + (edges[1:] - edges[:-1]) / 2
    return middles[(middles > edges[:-1]) & (middles < edges[1:])]
