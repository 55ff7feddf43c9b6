"""Densities of maxima, minima, absolute values and sums of independent numbers, without rounding.

``max(x0, x1)``, ``|x0 - x1|`` or ``x0 + max(x1, x2) / 2`` of independent numbers with polynomial
densities have densities made of polynomials. With densities p, q and distribution functions F, G
that of a maximum is p G + F q, that of a minimum p (1 - G) + (1 - F) q, and that of |u| the sum of
p(t) and p(-t), for t > 0. Parts that share a secret are not independent: they are not followed.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from flint import fmpq, fmpq_poly

from borel.numerics.reduction.linear_forms import Form, forms_of
from borel.numerics.reduction.sum_density import MOST, TERMS, Piece, density_of_sum, joined

if TYPE_CHECKING:
    from borel.numerics.graphs.graph import Graph

_ONE, _LINE = fmpq_poly([1]), fmpq_poly([0, 1])


class PieceLaws:
    """The densities of the nodes of a graph of independent secrets in a box.

    Parameters
    ----------
    graph : Graph
        A function of the secrets.
    of : dict
        The density of each secret, a polynomial, but for its scale.
    ends : list of pairs
        The ends of each secret, in the same order.
    """

    def __init__(self, graph: Graph, of: dict[str, fmpq_poly], ends: list[tuple[float, float]]):
        self.nodes, self.forms, self.of = graph.nodes, forms_of(graph), of
        self.ends = dict(zip(of, ends, strict=True))

    def last(self) -> list[Piece] | None:
        """Return the density of the last node; None where it is not known."""
        return self.density(len(self.nodes) - 1)

    def density(self, k: int) -> list[Piece] | None:
        """Return the density of a node."""
        form, (op, args) = self.forms[k], self.nodes[k]
        if form is not None:
            return in_a_box(form, self.of, self.ends) if {*form} & {*self.of} else None
        moving = [a for a in args if self.secrets(a)] if op not in ("input", "const") else []
        if len(moving) == 1:
            return self._of_one(op, args, moving[0])
        apart = len(moving) == 2 and self.secrets(args[0]).isdisjoint(self.secrets(args[1]))
        if not apart:
            return None
        first, second = (self.density(a) for a in args)
        if first is None or second is None:
            return None
        if op in ("add", "subtract"):
            other = second if op == "add" else turned(second, Fraction(-1), Fraction(0))
            return density_of_sum([first, other])
        if op in ("maximum", "minimum"):
            return extreme(first, second, 1 if op == "maximum" else -1)
        return None

    def _of_one(self, op: str, args: tuple, k: int) -> list[Piece] | None:
        """Return the density of a function of one node, and of numbers."""
        own = self.density(k)
        numbers = [self.number(a) for a in args if a != k]
        if own is None or None in numbers or len(args) > 2:
            return None
        if op == "absolute":
            return folded(own)
        c = numbers[0] if numbers else None
        if op == "negative":
            return turned(own, Fraction(-1), Fraction(0))
        if op == "multiply" and c:
            return turned(own, c, Fraction(0))
        first = args[:1] == (k,)
        if op == "divide" and c and first:
            return turned(own, 1 / c, Fraction(0))
        if op == "add" and c is not None:
            return turned(own, Fraction(1), c)
        if op == "subtract" and c is not None:
            return turned(own, Fraction(1), -c) if first else turned(own, Fraction(-1), c)
        return None

    def number(self, k: int) -> Fraction | None:
        """Return the number that a node is."""
        form = self.forms[k]
        return form.get("", Fraction(0)) if form is not None and {*form} <= {""} else None

    def secrets(self, k: int) -> set[str]:
        """Return the secrets that a node depends on."""
        form, (op, args) = self.forms[k], self.nodes[k]
        if form is not None:
            return {*form} - {""}
        if op in ("input", "const"):
            return set()
        return set().union(*(self.secrets(a) for a in args))


def in_a_box(
    form: Form, of: dict[str, fmpq_poly], ends: dict[str, tuple[float, float]]
) -> list[Piece] | None:
    """Return the density of a weighted sum of independent secrets with polynomial densities."""
    parts = []
    for name, density in of.items():
        times = form.get(name, Fraction(0))
        if times:
            low, high = map(Fraction, ends[name])
            parts.append(turned([Piece(low, high, density)], times, Fraction(0)))
    parts[0] = turned(parts[0], Fraction(1), form.get("", Fraction(0)))
    return density_of_sum(parts)


def turned(pieces: list[Piece], times: Fraction, plus: Fraction) -> list[Piece]:
    """Return the density of a multiple of a number and something more, from that of the number."""
    back = fmpq_poly([_q(-plus / times), _q(1 / times)])
    out = []
    for low, high, of in pieces:
        least, most = sorted((times * low + plus, times * high + plus))
        out.append(Piece(least, most, of(back) * _q(1 / abs(times))))
    return sorted(out, key=lambda piece: piece.low)


def folded(pieces: list[Piece]) -> list[Piece]:
    """Return the density of the absolute value of a number."""
    zero = Fraction(0)
    parts = [
        part._replace(low=max(part.low, zero))
        for part in (*pieces, *turned(pieces, Fraction(-1), zero))
        if part.high > 0
    ]
    return joined(parts)


def extreme(first: list[Piece], second: list[Piece], sign: int) -> list[Piece] | None:
    """Return the density of the larger of two independent numbers; of the smaller one, for -1."""
    cuts = sorted({end for piece in (*first, *second) for end in piece[:2]})
    found = []
    for low, high in pairwise(cuts):
        (p, below), (q, under) = (_at(pieces, low, high) for pieces in (first, second))
        over = (below, under) if sign > 0 else (_ONE - below, _ONE - under)
        of = p * over[1] + q * over[0]
        if of.degree() >= 0:
            found.append(Piece(low, high, of))
    terms = sum(piece.of.degree() + 1 for piece in found)
    return found if len(found) <= MOST and terms <= TERMS else None


def _at(pieces: list[Piece], low: Fraction, high: Fraction) -> tuple[fmpq_poly, fmpq_poly]:
    """Return the density and the distribution function on an interval between its cuts."""
    before = fmpq(0)
    for a, b, of in pieces:
        whole = of.integral()
        if a <= low and high <= b:
            return of, whole - whole(_q(a)) + before
        if b <= low:
            before += whole(_q(b)) - whole(_q(a))
    return fmpq_poly([0]), fmpq_poly([before])


def _q(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)
