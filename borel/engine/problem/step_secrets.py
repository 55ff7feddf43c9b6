"""Kernels of a secret on a line that read it through step functions alone, and the law of these.

Of ``exp(-|y - (x > 0.5)|) / 2`` the secret may be taken to be ``x > 0.5``, with two values: f(y|x)
and the law of Y are the same. The line is cut where the conditions of the graph turn, and interval
jets show that the functions are constant almost everywhere between the cuts.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from borel.engine.problem.prior_masses import mass_function
from borel.engine.problem.prior_normalisation import miss
from borel.errors import NotEnclosed
from borel.numerics.graphs.affine_nodes import affine
from borel.numerics.graphs.branch_points import branch_points
from borel.numerics.graphs.graph import LEAVES, Graph, GraphBuilder, pruned
from borel.numerics.graphs.operations import STEPS, TRUTHS
from borel.numerics.intervals import interpreter
from borel.numerics.jets import arithmetic
from borel.numerics.jets.interpreter import Program
from borel.probability.alphabets import Finite, Interval
from borel.probability.measure import Measure

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST = 64
"""Values of step functions at most."""
_UP = 1 + 2.0**-50
_TURNED = {
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
}
Piece = tuple[float, float, list[tuple[float, ...]]]
"""The ends of a piece of the line, and the values that the functions may have there."""


def through_steps(graphs: Sequence[Graph]) -> tuple[list[Graph], list[Graph]]:
    """Return graphs in which w0, w1, ... stand for step functions of x, and those.

    Where they depend on x otherwise, they still do.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y, x: np.exp(-abs(y - 0.3 * (x > 0.5))) / 2, ("y", "x"), ())
    >>> outer, steps = through_steps([graph])
    >>> [op for op, _ in steps[0].nodes], ("input", ("x",)) in outer[0].nodes
    (['input', 'const', 'greater'], False)
    """
    out, inner = [], {}
    for graph in graphs:
        nodes, steps = list(graph.nodes), _steps(graph)
        last = len(nodes) - 1
        used = {
            a
            for k, (op, args) in enumerate(nodes)
            if op not in LEAVES and not steps[k]
            for a in args
        }
        for k in sorted(used | {last}):
            if steps[k]:
                own = Graph(pruned(graph.nodes, k), ("x",))
                nodes[k] = ("input", (inner.setdefault(own, f"w{len(inner)}"),))
        others = tuple(n for n in graph.inputs if n != "x")
        out.append(Graph(pruned(nodes, last), others))
    names = tuple(inner.values())
    return [Graph(g.nodes, (*g.inputs, *names)) for g in out], list(inner)


def _steps(graph: Graph) -> list[bool]:
    """Return which nodes are step functions of x, whose values are numbers that floats are."""
    own: list[bool] = []  # of no other input
    out: list[bool] = []
    for op, args in graph.nodes:
        if op in LEAVES:
            own.append(op == "const" or args == ("x",))
            out.append(False)
            continue
        own.append(all(own[a] for a in args))
        plain = all(out[a] or graph.nodes[a][0] == "const" for a in args)
        out.append(own[-1] and (op in TRUTHS | STEPS or (op == "where" and plain)))
    return out


def law_of_steps(
    prior: Measure, steps: list[Graph]
) -> tuple[Measure, list[tuple[float, ...]]] | None:
    """Return the law of some step functions of a secret on a line, and their values at its labels.

    The labels of one function are its values. None where the pieces of the line are not proved.
    """
    off = miss(prior)
    if off is not None and not steps:
        return Measure(np.ones(1), Finite([0.0]), name="constant", _check=False), [()]
    mass = None if off is None or prior.masses else mass_function(prior)
    if off is None or mass is None or not isinstance(prior.on, Interval):
        return None
    low, high = float(prior.on.lower), float(prior.on.upper)
    try:
        pieces = _pieces([_by_comparisons(step, low, high) for step in steps], low, high)
    except NotEnclosed:
        return None
    found: dict[tuple[float, ...], list[tuple[float, float]]] = {}
    for a, b, values in pieces or []:
        ends = mass(a, b)
        for value in values:  # beside a condition that turns between two floats: one or the other
            found.setdefault(value, []).append(ends if len(values) == 1 else (0.0, ends[1]))
    ends = {v: [math.fsum(p[k] for p in found[v]) for k in (0, 1)] for v in sorted(found)}
    ends = {v: (a, b) for v, (a, b) in ends.items() if b > 0}
    if not 0 < len(ends) <= _MOST or min(a for a, _ in ends.values()) <= 0:
        return None
    p = np.array([(a + b) / 2 for a, b in ends.values()])
    spread = max((b - a) / 2 / v for (a, b), v in zip(ends.values(), p.tolist(), strict=True))
    labels = [v[0] for v in ends] if len(steps) == 1 else [float(k) for k in range(len(ends))]
    rounding = (spread + off) * _UP + 2.0**-50
    law = Measure(p, Finite(labels), name="steps", rounding=rounding, _check=False)
    return law, list(ends)


def of_labels(graph: Graph, values: list[tuple[float, ...]]) -> Graph:
    """Return a graph of step functions as one of a label x, given their values at the labels."""
    b = GraphBuilder()
    x, inputs = b.add("input", "x"), {n: b.add("input", n) for n in graph.inputs if n[0] != "w"}
    for i in range(len(values[0])):
        node = x if len(values[0]) == 1 else b.add("const", values[-1][i])
        for k, value in list(enumerate(values[:-1]))[::-1] if node != x else []:
            at = b.add("equal", x, b.add("const", float(k)))
            node = b.add("where", at, b.add("const", value[i]), node)
        inputs[f"w{i}"] = node
    return b.graph(b.append(graph, inputs=inputs)[-1])


def _pieces(steps: list[Graph], low: float, high: float) -> list[Piece] | None:
    """Cut a line into pieces on which functions have one value, or turn once."""
    programs = [Program(step) for step in steps]
    cuts = np.unique(np.concatenate([branch_points(step, "x") for step in steps]))
    cuts = cuts[(low < cuts) & (cuts < high)]
    room = np.abs(cuts) * 2.0**-49 + 2.0**-1000
    for left, right in ((cuts, cuts), (cuts - room, cuts + room)):
        a, b = np.array([low, *right]), np.array([*left, high])
        if not (a < b).all():
            return None
        seen = [_values(program, a, b) for program in programs]
        if all((least == most).all() for least, most in seen):
            break
    else:
        return None
    values = list(zip(*(least.tolist() for least, _ in seen), strict=True))
    out: list[Piece] = [(u, v, [w]) for u, v, w in zip(a.tolist(), b.tolist(), values, strict=True)]
    for u, v in zip(left.tolist(), right.tolist(), strict=True):
        if u < v:
            sides = _turning(programs, u, v)
            if sides is None or not {*sides} <= {*values}:
                return None
            out.append((u, v, sides))
    return out


def _values(program: Program, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = arithmetic.entry(program.run({"x": arithmetic.variable(a, b, 1)}, 1).jet, 0)
    return np.broadcast_to(low, a.shape), np.broadcast_to(high, a.shape)


def _turning(programs: list[Program], a: float, b: float) -> list[tuple[float, ...]] | None:
    """Return the values beside the one condition that turns between two numbers."""
    x = {"x": arithmetic.variable(np.array([a]), np.array([b]), 1)}
    sides: list[list[float]] = [[], []]
    turns = 0
    for program in programs:
        decided = program.run(x, 1).decisions
        open_ = [k for k, (no, yes) in decided.items() if not np.all(no | yes)]
        turns += len(open_)
        for yes in (False, True):
            ways = {k: (np.array([not yes]), np.array([yes])) for k in open_}
            found = program.run(x, 1, decisions={**decided, **ways})
            low, high = (float(np.ravel(v)[0]) for v in arithmetic.entry(found.jet, 0))
            if low != high:
                return None
            sides[yes].append(low)
    return [*{tuple(side) for side in sides}] if turns == 1 else None


def _by_comparisons(step: Graph, low: float, high: float) -> Graph:
    """Return a function in which floor(u) and ceil(u) are chosen by the integers u is beyond.

    Comparisons of affine functions are ones of x and a number, if that is a float.
    """
    b = GraphBuilder()

    def compared(op: str, u: int, v: int) -> int:
        forms = [affine(b.graph(k), ("x",))[-1] for k in (u, v)]
        if None in forms:
            return b.add(op, u, v)
        at, slope = (p - q for p, q in zip(*forms, strict=True))  # type: ignore[misc]
        place = -at / slope if slope else None
        if place is None or abs(place) > 1e300 or Fraction(float(place)) != place:
            return b.add(op, u, v)
        x, number = b.add("input", "x"), b.add("const", float(place))
        return b.add(op if slope > 0 else _TURNED[op], x, number)

    def rule(op: str, *args: int) -> int:
        if op not in ("floor", "ceil"):
            return compared(op, *args) if op in _TURNED else b.add(op, *args)
        ends = interpreter.evaluate(b.graph(args[0]), {"x": (np.array(low), np.array(high))})
        first, last = (float(np.floor(end)) for end in ends)
        if not last - first <= _MOST:
            raise NotEnclosed("a step function with too many values")
        node, beyond = b.add("const", first), "greater_equal" if op == "floor" else "greater"
        for n in range(int(first) + (op == "floor"), int(last) + 1):
            value = b.add("const", float(n + (op == "ceil")))
            turned = compared(beyond, args[0], b.add("const", float(n)))
            node = b.add("where", turned, value, node)
        return node

    return b.graph(b.append(step, rule)[-1])
