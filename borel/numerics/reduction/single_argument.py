"""Graphs that depend on several secrets through one number of them, as graphs of that number.

A number of the secrets is followed as a polynomial, with rational coefficients, of the secrets and
of what is no polynomial of them: so x0 x1 - 1 and (-x0) x1 are read as times and plus of x0 x1.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import NamedTuple

from borel.numerics.graphs.dependence import through
from borel.numerics.graphs.graph import Graph, pruned
from borel.numerics.reduction.linear_forms import FormBuilder

Polynomial = dict[tuple, Fraction]
"""Coefficients by monomials: names and graphs, in order, as often as they are factors."""

_TERMS, _DEGREE = 64, 8
_NAME, _NONE = "x", Fraction(0)


class OneNumber(NamedTuple):
    """Graphs in which the input ``x`` stands for a number of secrets.

    Attributes
    ----------
    number : Graph
        The number.
    graphs : list of Graph
        The graphs.
    """

    number: Graph
    graphs: list[Graph]


def through_one_number(graphs: list[Graph], names: tuple[str, ...]) -> OneNumber | None:
    """Return graphs as ones of the first number that the first of them reads of some inputs.

    None if one of them reads another number, or none.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> kernel = trace(lambda y, x: abs(y - x[0] * x[1]), ("y", ("x0", "x1")), ())
    >>> mass = trace(lambda x: abs(1 - 2 * (-x[0]) * x[1]), (("x0", "x1"),), ())
    >>> found = through_one_number([kernel, mass], ("x0", "x1"))
    >>> [op for op, _ in found.graphs[1].nodes]
    ['const', 'input', 'const', 'multiply', 'add', 'absolute']
    """
    inner = through(graphs[0], names)[1]
    if not inner:
        return None
    core = _polynomials(inner[0], names)[-1]
    made = [_along(graph, names, core) for graph in graphs] if core else []
    if not made or None in made:
        return None
    return OneNumber(inner[0], [graph for graph in made if graph is not None])


def _along(graph: Graph, names: tuple[str, ...], core: Polynomial) -> Graph | None:
    """Return a graph in which multiples of a number, plus others, are those of ``x``."""
    made, place = FormBuilder(), {}
    followed = _polynomials(graph, names)
    for k, (op, args) in enumerate(graph.nodes):
        own = followed[k]
        times = None if own is None else _multiple(own, core)
        if times is not None and own is not None:
            plus = own.get((), _NONE) - times * core.get((), _NONE)
            place[k] = made.sum(_NONE, times, plus)
        elif op == "const" or (op == "input" and args[0] not in names):
            place[k] = made.add(op, *args)
        elif op != "input" and all(a in place for a in args):
            place[k] = made.add(op, *(place[a] for a in args))
    last = len(graph.nodes) - 1
    if last not in place:
        return None
    others = tuple(n for n in graph.inputs if n not in names)
    return made.graph(place[last], (*others, _NAME))


def _multiple(own: Polynomial, core: Polynomial) -> Fraction | None:
    """Return what one polynomial is of another, but for what is added; None if it is none."""
    first, second = ({m: c for m, c in p.items() if m} for p in (own, core))
    if not first or {*first} != {*second}:
        return None
    ratios = {first[m] / second[m] for m in first}
    return ratios.pop() if len(ratios) == 1 else None


def _polynomials(graph: Graph, names: tuple[str, ...]) -> list[Polynomial | None]:
    """Return each node that depends on these inputs alone, or on none, as a polynomial."""
    out: list[Polynomial | None] = []
    for k, (op, args) in enumerate(graph.nodes):
        if op == "const":
            out.append({(): Fraction(args[0])} if math.isfinite(args[0]) else None)
        elif op == "input":
            out.append({(args[0],): Fraction(1)} if args[0] in names else None)
        else:
            parts = [out[a] for a in args]
            known = [part for part in parts if part is not None]
            own = _polynomial(op, known) if len(known) == len(parts) else None
            if own is None and len(known) == len(parts):
                own = {(repr(pruned(list(graph.nodes), k)),): Fraction(1)}  # what is no polynomial
            out.append(own)
    return out


def _polynomial(op: str, parts: list[Polynomial]) -> Polynomial | None:
    """Return the polynomial that an operation makes of others, if it makes one."""
    first, second = parts[0], parts[-1]
    if op in ("positive", "negative"):
        return _sum({}, first, Fraction(1 if op == "positive" else -1))
    if op in ("add", "subtract"):
        return _sum(first, second, Fraction(1 if op == "add" else -1))
    if op in ("multiply", "square"):
        return _product(first, second)
    if op == "divide" and {*second} == {()}:
        return _sum({}, first, 1 / second[()])
    return None


def _sum(p: Polynomial, q: Polynomial, times: Fraction) -> Polynomial:
    out = defaultdict(Fraction, p)
    for monomial, c in q.items():
        out[monomial] += times * c
    return {monomial: c for monomial, c in out.items() if c}


def _product(p: Polynomial, q: Polynomial) -> Polynomial | None:
    out: Polynomial = defaultdict(Fraction)
    for m, c in p.items():
        for n, d in q.items():
            out[tuple(sorted((*m, *n)))] += c * d
    found = {monomial: c for monomial, c in out.items() if c}
    return found if len(found) <= _TERMS and all(len(m) <= _DEGREE for m in found) else None
