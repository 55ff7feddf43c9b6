"""Where a graph is a number: of a root or a logarithm an enclosure tells only the part that is."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from borel.errors import NotEnclosed
from borel.numerics.graphs.graph import LEAVES, Graph, GraphBuilder, pruned
from borel.numerics.graphs.nan_conditions import GIVE_NUMBERS
from borel.numerics.graphs.operations import FOR_NAN, TRUTHS
from borel.numerics.intervals.interpreter import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

_POSITIVE = frozenset(("cosh", "exp", "special.expit"))
"""Operations that give positive numbers for all numbers."""
_KEEP_POSITIVE = frozenset(("add", "divide", "multiply", "positive", "reciprocal", "sqrt"))
"""Operations that give positive numbers for positive ones."""


def has_values(
    graph: Graph, box: Mapping[str, tuple[float, float]], above: Collection[str] = ()
) -> bool:
    """Return whether a function is seen to be a number all over a box.

    Parameters
    ----------
    graph : Graph
        The function.
    box : mapping
        The least and the greatest value of every input.
    above : collection of str
        The inputs that are never 0 though that is their least value.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> root = trace(lambda x: np.sqrt(x - 0.5), ("x",), ())
    >>> has_values(root, {"x": (0.5, 1.0)}), has_values(root, {"x": (0.25, 1.0)})
    (True, False)
    """
    return _examined(graph, box, above)[0]


def is_positive(
    graph: Graph, box: Mapping[str, tuple[float, float]], above: Collection[str] = ()
) -> bool:
    """Return whether a function is seen to be a positive number all over a box.

    The parameters are those of `has_values`. The inputs are numbers: 1 / (1 + x) and e^-x are
    positive, though their least upper and greatest lower bounds are not.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> share = trace(lambda x: 1 / (1 + x), ("x",), ())
    >>> is_positive(share, {"x": (0.0, np.inf)}), is_positive(share, {"x": (-2.0, 0.0)})
    (True, False)
    """
    known, positive = _examined(graph, box, above)
    return known and positive()


def hides_no_nan(
    graph: Graph,
    box: Mapping[str, tuple[float, float]],
    points: Mapping[str, np.ndarray] | None = None,
) -> bool:
    """Return whether no NaN can hide in a condition, or in a product with 0, all over a box.

    There an enclosure does not show it: 0 log 0 is 0 to it, and NaN to NumPy, for which
    0 log 0 >= 0 is false.

    Parameters
    ----------
    graph : Graph
        The function.
    box : mapping
        The least and the greatest value of every input.
    points : mapping, optional
        All values of some inputs, one axis each: a factor may be 0 at each of them.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> hidden = trace(lambda y: np.where(0 * np.log(abs(y - 7)) >= 0, 1, 2), ("y",), ())
    >>> hides_no_nan(hidden, {"y": (8.0, np.inf)}), hides_no_nan(hidden, {"y": (0.0, np.inf)})
    (True, False)
    """
    ends = {name: (np.array(low), np.array(high)) for name, (low, high) in box.items()}
    ends |= {name: (values, values) for name, values in (points or {}).items()}

    def number(k: int) -> bool:
        own = Graph(pruned(graph.nodes, k), graph.inputs)
        return has_values(own, {name: box[name] for name in own.inputs})

    def zero(k: int) -> bool:
        own = Graph(pruned(graph.nodes, k), graph.inputs)
        low, high = evaluate(own, {name: ends[name] for name in own.inputs})
        return bool(np.any((low == 0) & (high == 0)))

    asked = {a for op, args in graph.nodes if op in FOR_NAN for a in args}
    with suppress(NotEnclosed):
        for k, (op, args) in enumerate(graph.nodes):
            if op in ("multiply", "divide") and any(zero(a) for a in args):
                asked.add(k)
        return all(number(k) for k in asked)
    return False


def decided(graph: Graph, box: Mapping[str, tuple[float, float]]) -> Graph:
    """Return a graph with the same values all over a box, without choices that are always one.

    The inputs are numbers: 1 / (1 + x) > 0 holds for all of them.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> valid = trace(lambda x: np.where(1 / (1 + x) > 0, x, np.nan), ("x",), ())
    >>> decided(valid, {"x": (0.0, np.inf)}).nodes
    (('input', ('x',)),)
    """
    made = GraphBuilder()
    place: list[int] = []
    for op, args in graph.nodes:
        if op in LEAVES:
            place.append(made.add(op, *args))
            continue
        own = [place[a] for a in args]
        known = made.number(own[0]) if op == "where" else None
        if known is not None and not math.isnan(known):
            place.append(own[1] if known else own[2])
            continue
        k = made.add(op, *own)
        if op in TRUTHS:
            with suppress(NotEnclosed):
                truth = _truth(made, k, box)
                k = k if truth is None else made.constant(float(truth))
        place.append(k)
    return made.graph(place[-1], graph.inputs)


_OF_POSITIVE = {
    "greater": (True, False), "greater_equal": (True, False), "not_equal": (True, True),
    "less": (False, True), "less_equal": (False, True), "equal": (False, False),
}  # fmt: skip
"""What u > 0 says of u and 0, and of 0 and u."""


def _truth(made: GraphBuilder, k: int, box: Mapping[str, tuple[float, float]]) -> bool | None:
    """Return what a truth value is all over a box, if it is one of both."""
    graph = made.graph(k)
    if not {*graph.inputs} <= {*box}:
        return None
    named = {name: (np.array(box[name][0]), np.array(box[name][1])) for name in graph.inputs}
    low, high = evaluate(graph, named)
    if low == high:
        return bool(low)
    op, args = made.nodes[k]
    for side in (0, 1) if op in _OF_POSITIVE else ():
        one = made.graph(args[side])
        if made.number(args[1 - side]) == 0 and is_positive(one, {n: box[n] for n in one.inputs}):
            return _OF_POSITIVE[op][side]
    return None


def _examined(
    graph: Graph, box: Mapping[str, tuple[float, float]], above: Collection[str]
) -> tuple[bool, Callable[[], bool]]:
    """Return whether a function is a number all over a box; and what tells if it is positive."""
    inputs = {name: (np.array(low), np.array(high)) for name, (low, high) in box.items()}

    def ends(k: int) -> tuple[float, float]:
        low, high = evaluate(Graph(graph.nodes[: k + 1], graph.inputs), inputs)
        return float(low), float(high)

    @cache
    def positive(k: int) -> bool:
        op, args = graph.nodes[k]
        if op in _POSITIVE or (op == "input" and args[0] in above):
            return True
        if op in _KEEP_POSITIVE and all(positive(a) for a in args):
            return True
        return (op == "power" and positive(args[0])) or ends(k)[0] > 0

    for op, args in graph.nodes:
        if op == "sqrt":
            known = ends(args[0])[0] >= 0
        elif op in ("log", "special.gammaln", "special.loggamma", "special.xlogy"):
            known = positive(args[-1])
        elif op in ("log1p", "special.xlog1py"):
            known = ends(args[-1])[0] > -1
        elif op in ("divide", "reciprocal"):
            known = positive(args[-1]) or ends(args[-1])[1] < 0
        elif op == "power":
            low, high = ends(args[1])
            known = (low == high and low > 0 and low.is_integer()) or positive(args[0])
        elif op == "const":
            known = bool(np.isfinite(args[0]))
        else:
            known = op in LEAVES or op in GIVE_NUMBERS
        if not known:
            return False, lambda: False
    return True, lambda: positive(len(graph.nodes) - 1)
