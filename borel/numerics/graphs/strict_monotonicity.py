"""Functions that rise, or fall, strictly on a half-line, as their formulas show."""

from __future__ import annotations

import math

import numpy as np

from borel.errors import NotEnclosed
from borel.numerics.graphs.affine_nodes import affine
from borel.numerics.graphs.graph import Graph
from borel.numerics.intervals import interpreter

_RISING = frozenset(("exp", "expm1", "tanh", "arctan", "sinh", "special.expit"))
"""Functions that rise strictly on the whole line."""
_ON_A_PART = {"log": 0.0, "log1p": -1.0, "sqrt": 0.0, "square": 0.0}
"""Functions that rise strictly beyond a number."""


def direction(graph: Graph, low: float) -> int:
    """Return 1 for a function that rises strictly in x on [low, inf), -1 for one that falls.

    It is 0 where that is not seen. The function itself is meant: rounded, tanh is 1 far out.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> [direction(trace(g, ("x",), ()), 0.0) for g in
    ...  (np.tanh, lambda x: 1 / (1 + x), lambda x: x / (1 + x), lambda x: np.minimum(x, 3))]
    [1, -1, 1, 0]
    """
    forms = affine(graph, ("x",))
    signs: list[int | None] = []  # 0 for a constant
    for k, (op, args) in enumerate(graph.nodes):
        form = forms[k]
        if form is not None:
            signs.append(_sign(form[1]))
        elif op in ("input", "const"):
            signs.append(None)
        else:
            signs.append(_combined(graph, op, args, signs, forms, low))
    return signs[-1] or 0


def _sign(value) -> int:
    return int(value > 0) - int(value < 0)


def _combined(graph: Graph, op: str, args, signs, forms, low: float) -> int | None:
    """Return the direction of a node, from those of its arguments; None where it is not seen."""
    known = [signs[a] for a in args]
    if None in known:
        return None
    u, v = known[0], known[-1]
    if op in _RISING or op == "positive":
        return u
    if op == "negative":
        return -u
    if op in ("add", "subtract"):
        v = v if op == "add" else -v
        return u or v if not (u and v) or u == v else None
    first, second = (lambda: _range(graph, args[0], low)), (lambda: _range(graph, args[-1], low))
    if op == "multiply" and not (u and v):
        return _times(u, second()) if u else _times(v, first())
    if op == "reciprocal":
        return -u if _side(first()) else None
    if op == "divide":
        return _quotient(args, u, v, forms, low, first, second)
    if op in _ON_A_PART:
        return u if first()[0] >= _ON_A_PART[op] else None
    if op == "power" and not v:  # of a positive number, which it keeps so
        return _times(u, second()) if first()[0] > 0 else None
    return None


def _quotient(args, u: int, v: int, forms, low: float, first, second) -> int | None:
    """Return the direction of a quotient of which a part is constant, or both are affine."""
    if not v:
        return _times(u, second())
    if not u and _side(second()):
        return _times(-v, first())
    if None in (forms[args[0]], forms[args[1]]) or not _side(second()):
        return None
    (a, b), (c, d) = forms[args[0]], forms[args[1]]
    return _sign(b * c - a * d)


def _range(graph: Graph, node: int, low: float) -> tuple[float, float]:
    """Enclose a node on [low, inf]."""
    part = Graph(graph.nodes[: node + 1], graph.inputs)
    try:
        ends = interpreter.evaluate(part, {"x": (np.array(low), np.array(math.inf))})
    except NotEnclosed:
        return -math.inf, math.inf
    return float(ends[0]), float(ends[1])


def _times(direction: int, ends: tuple[float, float]) -> int | None:
    """Return a direction, turned by a factor below 0; None where the sign of that is not known."""
    return direction * side if (side := _side(ends)) or not direction else None


def _side(ends: tuple[float, float]) -> int:
    """Return the sign of all numbers of an interval, or 0."""
    return int(ends[0] > 0) - int(ends[1] < 0)
