"""Sums of graphs that are one number for all inputs, by exact arithmetic of rational functions.

A graph is read as a quotient of polynomials with rational coefficients, FLINT's. What is no sum,
product, quotient or whole power counts as one more variable, the same wherever it is applied to the
same quotients: p + (1 - p) is 1, whatever function of theta p is.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from borel.numerics.graphs.graph import Graph

_LARGEST_POWER, _TERMS = 64, 4096


class _Quotient(NamedTuple):
    over: Any
    under: Any


class _TooLarge(Exception):
    """A polynomial of more terms than are worth a proof."""


def constant_sum(graphs: Sequence[Graph]) -> Fraction | None:
    """Return what some graphs add up to wherever all of them are numbers, if that is one number.

    None where it is not seen to be one.

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.graphs.trace import trace
    >>> parts = [lambda t: (1 - t) ** 2, lambda t: 2 * t * (1 - t), lambda t: t * t]
    >>> constant_sum([trace(part, ("t",), ()) for part in parts])
    Fraction(1, 1)
    >>> parts = [lambda t: np.exp(t) / (1 + np.exp(t)), lambda t: 1 / (1 + np.exp(t))]
    >>> constant_sum([trace(part, ("t",), ()) for part in parts])
    Fraction(1, 1)
    >>> constant_sum([trace(lambda t: 1 - t, ("t",), ())]) is None
    True
    """
    from flint import Ordering, fmpq_mpoly_ctx

    most = sum(len(graph.nodes) for graph in graphs)
    ring = fmpq_mpoly_ctx.get([f"v{k}" for k in range(most)], Ordering.lex)
    variables, known = zip(ring.gens(), count(), strict=False), {}

    def variable(key: Any) -> _Quotient:
        if key not in known:
            known[key] = _Quotient(next(variables)[0], ring.constant(1))
        return known[key]

    try:
        parts = [_read(graph, variable, ring.constant) for graph in graphs]
        total = _total(parts, ring.constant)
    except _TooLarge:
        return None
    # over / under is a number c if over = c under
    ratio = _leading(total.over) / _leading(total.under) if total.over else Fraction(0)
    same = total.over == total.under * _rational(ratio)
    return ratio if same else None


def _total(parts: Iterable[_Quotient], constant: Any) -> _Quotient:
    total = _Quotient(constant(0), constant(1))
    for part in parts:
        total = _sum(total, part)
    return total


def _read(graph: Graph, variable: Any, constant: Any) -> _Quotient:
    """Return a graph as a quotient of polynomials."""
    one = constant(1)
    found: list[_Quotient] = []
    for op, args in graph.nodes:
        if op == "input":
            found.append(variable(args))
            continue
        if op == "const":
            number = args[0]
            plain = math.isfinite(number)
            value = _Quotient(constant(_rational(Fraction(number))), one) if plain else None
            found.append(value or variable(("const", repr(number))))
            continue
        parts = [found[a] for a in args]
        known = _of(op, parts, one)
        if known is None:
            known = variable((op, *((str(p.over), str(p.under)) for p in parts)))
        if max(len(known.over), len(known.under)) > _TERMS:
            raise _TooLarge
        found.append(known)
    return found[-1]


def _of(op: str, parts: list[_Quotient], one: Any) -> _Quotient | None:
    """Return an operation on quotients, if it gives one."""
    first = parts[0]
    if op == "positive":
        return first
    if op == "negative":
        return _Quotient(-first.over, first.under)
    if op == "add":
        return _sum(*parts)
    if op == "subtract":
        return _sum(first, _Quotient(-parts[1].over, parts[1].under))
    if op == "multiply":
        return _product(*parts)
    if op in ("divide", "reciprocal"):
        top, bottom = (first, parts[1]) if op == "divide" else (_Quotient(one, one), first)
        return _product(top, _Quotient(bottom.under, bottom.over)) if bottom.over else None
    if op == "square":
        return _product(first, first)
    if op == "power" and parts[1].under == 1 and parts[1].over.is_constant():
        power = _leading(parts[1].over) if parts[1].over else Fraction(0)
        if power.denominator == 1 and 0 <= power <= _LARGEST_POWER:
            return _Quotient(first.over ** int(power), first.under ** int(power))
    return None


def _sum(first: _Quotient, second: _Quotient) -> _Quotient:
    if first.under == second.under:
        return _Quotient(first.over + second.over, first.under)
    over = first.over * second.under + second.over * first.under
    return _Quotient(over, first.under * second.under)


def _product(first: _Quotient, second: _Quotient) -> _Quotient:
    return _Quotient(first.over * second.over, first.under * second.under)


def _leading(polynomial: Any) -> Fraction:
    value = polynomial.leading_coefficient()
    return Fraction(int(value.p), int(value.q))


def _rational(value: Fraction) -> Any:
    from flint import fmpq

    return fmpq(value.numerator, value.denominator)
