"""The law of a weighted sum of normal numbers, as a graph without rounding.

Where the logarithm of the prior's density is a polynomial of degree 2, -x'Kx / 2 + b'x + constant
with a positive definite K, secrets are normal: c'x has the mean c'K^-1 b and the variance c'K^-1 c.
They are Fractions, if the numbers in the density are floats; the constant is what makes it
normalised.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from borel.numerics.graphs.graph import Graph
from borel.numerics.reduction.linear_forms import Form, FormBuilder

Polynomial = dict[tuple[str, ...], "Fraction | None"]
"""Coefficients by monomial, of degree 2 at most; that of () may be a number that is not known."""

_NONE = Fraction(0)


class NormalLaw(NamedTuple):
    """The law of a sum of normal numbers.

    Attributes
    ----------
    graph : Graph
        The logarithm of its density, a function of ``x``.
    mean, variance : Fraction
        Its moments.
    lower, upper, breaks, log
        As of `SumLaw`.
    """

    graph: Graph
    mean: Fraction
    variance: Fraction
    lower: float = -math.inf
    upper: float = math.inf
    breaks: tuple[float, ...] = ()
    log: bool = True


def normal_law(prior: Graph, form: Form, names: tuple[str, ...], *, log: bool) -> NormalLaw | None:
    """Return the law of a weighted sum of numbers that are normal together, if they are.

    Parameters
    ----------
    prior : Graph
        The density of the numbers, or its logarithm.
    form : dict
        The sum.
    names : tuple of str
        The numbers.
    log : bool
        Whether the graph is that of the logarithm.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> prior = trace(lambda x: -(x[0]**2 + x[1]**2 - x[0] * x[1]) / 2, (("x0", "x1"),), ())
    >>> half = Fraction(1, 2)
    >>> law = normal_law(prior, {"x0": half, "x1": half}, ("x0", "x1"), log=True)
    >>> law.mean, law.variance
    (Fraction(0, 1), Fraction(1, 1))
    """
    found = _exponent(prior, len(prior.nodes) - 1) if not log else _polynomial(prior)
    if found is None or not {n for key in found for n in key} <= {*names}:
        return None
    known = {key: c for key, c in found.items() if key and c is not None}
    matrix = [
        [
            -known.get((a, b) if a <= b else (b, a), _NONE) * (2 if a == b else 1)
            for b in names
        ]
        for a in names
    ]  # fmt: skip
    solved = _solved(matrix, [form.get(name, _NONE) for name in names])
    if solved is None:
        return None
    pairs = [*zip(names, solved, strict=True)]
    mean = sum((w * known.get((name,), _NONE) for name, w in pairs), form.get("", _NONE))
    variance = sum((w * form.get(name, _NONE) for name, w in pairs), _NONE)
    if not variance:
        return None
    return NormalLaw(_density(mean, variance), mean, variance)


def _density(mean: Fraction, variance: Fraction) -> Graph:
    """Return -(x - m)^2 / 2 v - (log 2 v + log pi) / 2; log pi is log B(1/2, 1/2)."""
    made = FormBuilder()
    half, x = made.exact(Fraction(1, 2)), made.add("input", "x")
    apart = made.add("subtract", x, made.exact(mean)) if mean else x
    top = made.add("divide", made.add("square", apart), made.exact(2 * variance))
    size = made.add("log", made.exact(2 * variance))
    constant = made.add("add", size, made.add("special.betaln", half, half))
    total = made.add("add", top, made.add("multiply", half, constant))
    return made.graph(made.add("negative", total), ("x",))


def _polynomial(graph: Graph, root: int | None = None) -> Polynomial | None:
    """Return a node as a polynomial, if it is one."""
    found: list[Polynomial | None] = []
    for op, args in graph.nodes if root is None else graph.nodes[: root + 1]:
        plain = op in ("input", "const")
        found.append(_node(op, args, [] if plain else [found[a] for a in args]))
    return found[-1]


def _exponent(graph: Graph, k: int) -> Polynomial | None:
    """Return the logarithm of a node as a polynomial: of products of exponentials and numbers."""
    op, args = graph.nodes[k]
    if op == "exp":
        return _polynomial(graph, args[0])
    if op in ("multiply", "divide"):
        first, second = (_exponent(graph, a) for a in args)
        times = Fraction(1 if op == "multiply" else -1)
        return _added(first, second, times) if first is not None and second is not None else None
    own = _polynomial(graph, k)
    return {(): None} if own is not None and {*own} <= {()} else None


def _node(op: str, args: tuple, parts: list[Polynomial | None]) -> Polynomial | None:
    if op == "input":
        return {(args[0],): Fraction(1)}
    if op == "const":
        number = args[0]
        return {(): Fraction(number)} if math.isfinite(number) else None
    some = [part for part in parts if part is not None]
    if len(some) < len(parts):
        return None
    if op in ("add", "subtract"):
        return _added(some[0], some[1], Fraction(1 if op == "add" else -1))
    if op in ("positive", "negative"):
        return _added({}, some[0], Fraction(1 if op == "positive" else -1))
    if op == "square" or (op == "power" and some[1] == {(): 2}):
        return _product(some[0], some[0])
    if op == "multiply":
        return _product(*some)
    if op == "divide" and {*some[1]} == {()} and some[1][()]:
        return _added({}, some[0], 1 / some[1][()])  # type: ignore[operator]
    return {(): None} if all({*part} <= {()} for part in some) else None


def _added(first: Polynomial, second: Polynomial, times: Fraction) -> Polynomial | None:
    out = dict(first)
    for key, c in second.items():
        before = out.get(key, _NONE)
        out[key] = None if c is None or before is None else before + times * c
    return {key: c for key, c in out.items() if c is None or c}


def _product(first: Polynomial, second: Polynomial) -> Polynomial | None:
    out: Polynomial = {}
    for a, c in first.items():
        for b, d in second.items():
            key = tuple(sorted(a + b))
            if len(key) > 2 or (key and (c is None or d is None)):
                return None
            before = out.get(key, _NONE)
            if c is None or d is None or before is None:
                out[key] = None
            else:
                out[key] = before + c * d
    return {key: c for key, c in out.items() if c is None or c}


def _solved(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Solve linear equations with a symmetric matrix, if it is positive definite."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    count = len(rows)
    for k in range(count):
        if not rows[k][k] > 0:
            return None
        for i in range(k + 1, count):
            times = rows[i][k] / rows[k][k]
            rows[i] = [a - times * b for a, b in zip(rows[i], rows[k], strict=True)]
    out = [_NONE] * count
    for k in reversed(range(count)):
        known = sum((rows[k][j] * out[j] for j in range(k + 1, count)), _NONE)
        out[k] = (rows[k][count] - known) / rows[k][k]
    return out
