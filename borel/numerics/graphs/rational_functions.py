"""Sums of graphs that are one number for all inputs, by exact arithmetic of rational functions.

A graph is read as a quotient of polynomials with rational coefficients, FLINT's. What is no sum,
product, quotient or whole power counts as one more variable, the same wherever it is applied to the
same quotients: p + (1 - p) is 1, whatever function of theta p is.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from borel.numerics.graphs.graph import GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from borel.numerics.graphs.graph import Graph, Node

_LARGEST_POWER = 64
_WORK = 1 << 26
"""Bits that all polynomials together may have: more is not worth a proof, nor fits into memory."""
_RATIONAL = frozenset(("add", "const", "multiply", "negative", "positive", "square", "subtract"))
"""Operations that never need a variable of their own."""


class _NotRead(Exception):
    """A number that is infinite or NaN, or polynomials too large to be worth a proof."""


def constant_sum(graphs: Sequence[Graph]) -> Fraction | None:
    """Return what some graphs add up to, if that is the same number for all inputs; else None.

    It holds where all of their nodes are finite. Where one is infinite or NaN nothing is said:
    1 / (1 / u) is read as u, though at u = 0 it is not.

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
    builder = GraphBuilder(*graphs)
    reader = _Reader(sum(op not in _RATIONAL for op, _ in builder.nodes))
    try:
        found, total = reader.read(builder.nodes), reader.number(0.0)
        for root in builder.roots:
            total = reader.sum(total, found[root])
    except _NotRead:
        return None
    # over / under is a number c if over = c under
    ratio = _leading(total.over) / _leading(total.under) if total.over else Fraction(0)
    same = total.over == total.under * _rational(ratio)
    return ratio if same else None


class _Quotient(NamedTuple):
    over: Any
    under: Any


class _Reader:
    """Graphs as quotients of polynomials in at most so many variables."""

    def __init__(self, most: int):
        from flint import Ordering, fmpq_mpoly_ctx

        self.ring = fmpq_mpoly_ctx.get([f"v{k}" for k in range(most)], Ordering.lex)
        self.one = self.ring.constant(1)
        self.unused = iter(self.ring.gens())
        self.known: dict[Any, _Quotient] = {}
        self.left = _WORK

    def read(self, nodes: Sequence[Node]) -> list[_Quotient]:
        """Return the nodes of graphs as quotients."""
        found: list[_Quotient] = []
        for op, args in nodes:
            if op == "input":
                known = self.variable(args)
            elif op == "const":
                if not math.isfinite(args[0]):
                    raise _NotRead
                known = self.number(args[0])
            else:
                parts = [found[a] for a in args]
                known = self.applied(op, parts)
                if known is None:
                    known = self.variable((op, *((str(p.over), str(p.under)) for p in parts)))
            self.spend(8 * (len(known.over) + len(known.under)))
            found.append(known)
        return found

    def variable(self, key: Any) -> _Quotient:
        """Return what is no quotient of others: the same for the same key."""
        if key not in self.known:
            self.known[key] = _Quotient(next(self.unused), self.one)
        return self.known[key]

    def number(self, value: float) -> _Quotient:
        """Return a number."""
        return _Quotient(self.ring.constant(_rational(Fraction(value))), self.one)

    def applied(self, op: str, parts: list[_Quotient]) -> _Quotient | None:
        """Return an operation on quotients, if it gives one."""
        first = parts[0]
        if op == "positive":
            return first
        if op == "negative":
            return _Quotient(-first.over, first.under)
        if op == "add":
            return self.sum(*parts)
        if op == "subtract":
            return self.sum(first, _Quotient(-parts[1].over, parts[1].under))
        if op == "multiply":
            return self.product(*parts)
        if op in ("divide", "reciprocal"):
            top, bottom = (first, parts[1]) if op == "divide" else (self.number(1.0), first)
            turned = _Quotient(bottom.under, bottom.over)
            return self.product(top, turned) if bottom.over else None
        if op == "square":
            return self.product(first, first)
        if op == "power" and parts[1].under == 1 and parts[1].over.is_constant():
            power = _leading(parts[1].over) if parts[1].over else Fraction(0)
            if power.denominator == 1 and 0 <= power <= _LARGEST_POWER:
                out = self.number(1.0)
                for _ in range(int(power)):
                    out = self.product(out, first)
                return out
        return None

    def sum(self, first: _Quotient, second: _Quotient) -> _Quotient:
        """Return the sum of two quotients."""
        if first.under == second.under:
            return _Quotient(first.over + second.over, first.under)
        over = self.times(first.over, second.under) + self.times(second.over, first.under)
        return _Quotient(over, self.times(first.under, second.under))

    def product(self, first: _Quotient, second: _Quotient) -> _Quotient:
        """Return the product of two quotients."""
        return _Quotient(self.times(first.over, second.over), self.times(first.under, second.under))

    def times(self, first: Any, second: Any) -> Any:
        """Return a product of polynomials, unless it may have too many bits."""
        if first == 1 or second == 1:
            return second if first == 1 else first
        each = _bits(first) + _bits(second) + 8 * self.ring.nvars() + 64  # exponents, too
        self.spend(len(first) * len(second) * each)
        return first * second

    def spend(self, bits: int) -> None:
        """Count what is made, and stop where it is too much."""
        self.left -= bits
        if self.left < 0:
            raise _NotRead


def _bits(polynomial: Any) -> int:
    """Return how long the longest coefficient is."""
    found = polynomial.coeffs()
    return max((c.p.bit_length() + c.q.bit_length() for c in found), default=0)


def _leading(polynomial: Any) -> Fraction:
    value = polynomial.leading_coefficient()
    return Fraction(int(value.p), int(value.q))


def _rational(value: Fraction) -> Any:
    from flint import fmpq

    return fmpq(value.numerator, value.denominator)
