"""The density of a product of independent numbers with densities made of polynomials.

With u of density p on (a, b) and v of density q on (c, d), none of them negative, that of g = u v
is the integral of p(u) q(g / u) / u over u from max(a, g/d) to min(b, g/c). Powers of u integrate
to powers of g, but u^-1 to a logarithm: between each two of a c, a d, b c, b d the density is A(g)
and B(g) times the logarithm of the quotient of both ends of u, A and B polynomials. Where all
numbers begin at 0 so does their product, and more factors lead to powers of the logarithm.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from flint import fmpq, fmpq_poly

from borel.numerics.reduction.linear_forms import FormBuilder
from borel.numerics.reduction.order_statistic_density import PieceLaws, turned
from borel.numerics.reduction.sum_density import MOST, TERMS, Piece, SumLaw, chained, polynomial

if TYPE_CHECKING:
    from borel.numerics.graphs.graph import Graph

_ZERO, _ONE = Fraction(0), Fraction(1)


class Term(NamedTuple):
    """A polynomial in g, times a power of log(g / unit), or of log(unit) where it is still."""

    of: fmpq_poly
    unit: Fraction = _ONE
    power: int = 0
    still: bool = False


class ProductLaw(NamedTuple):
    """The law of times * g + plus, g >= 0 a product.

    Attributes
    ----------
    pieces : list
        The ends of intervals, and the terms of which the density of g is the sum there.
    times, plus : Fraction
        What is done to g.
    """

    pieces: list[tuple[Fraction, Fraction, list[Term]]]
    times: Fraction
    plus: Fraction

    def turned(self, times: Fraction, plus: Fraction) -> ProductLaw:
        """Return the law of times * (the number) + plus."""
        return self._replace(times=times * self.times, plus=times * self.plus + plus)

    def written(self) -> SumLaw:
        """Return the density as a graph."""
        made = FormBuilder()
        x = made.add("input", "x")
        g = made.add("subtract", x, made.exact(self.plus)) if self.plus else x
        if self.times != 1:
            g = made.add("multiply", g, made.exact(1 / self.times))
        scale = made.exact(1 / abs(self.times))
        parts = []
        for low, high, terms in self.pieces:
            nodes = [_written(made, g, term) for term in terms]
            total = nodes[0]
            for node in nodes[1:]:
                total = made.add("add", total, node)
            ends = sorted(self.times * end + self.plus for end in (low, high))
            parts.append((*ends, made.add("multiply", total, scale)))
        return chained(made, x, sorted(parts))


def _written(made: FormBuilder, g: int, term: Term) -> int:
    total = polynomial(made, g, term.of.coeffs())
    if not term.power:
        return total
    inside = made.exact(term.unit) if term.still else g
    if not term.still and term.unit != 1:
        inside = made.add("multiply", g, made.exact(1 / term.unit))
    log = made.add("log", inside)
    for _ in range(term.power):
        total = made.add("multiply", total, log)
    return total


def product_law(
    graph: Graph, of: dict[str, fmpq_poly], ends: list[tuple[float, float]]
) -> ProductLaw | None:
    """Return the law of a product of independent functions of secrets in a box.

    Parameters
    ----------
    graph : Graph
        A function of the secrets: a product, or times it plus a number.
    of : dict
        The density of each secret, a polynomial, but for its scale.
    ends : list of pairs
        The ends of each secret, in the same order.

    Returns
    -------
    ProductLaw or None
        None where it is no product, a factor may have both signs, or has a law that is not known.

    Examples
    --------
    >>> from borel.numerics.graphs import float64
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda x: x[0] * x[1], (("x0", "x1"),), ())
    >>> uniform = {"x0": fmpq_poly([1]), "x1": fmpq_poly([1])}
    >>> law = product_law(graph, uniform, [(0.0, 1.0), (0.0, 1.0)]).written()
    >>> float64.evaluate(law.graph, {"x": [0.25, 0.5]}).round(6)  # -log x
    array([1.386294, 0.693147])
    """
    return _Read(graph, of, ends).law(len(graph.nodes) - 1)


class _Read(PieceLaws):
    """A graph, read as a product."""

    def law(self, k: int) -> ProductLaw | None:
        """Return the law of a node that is a product, or a multiple of one plus a number."""
        op, args = self.nodes[k]
        moving = [a for a in args if self.secrets(a)] if op not in ("input", "const") else []
        if op == "negative" and moving:
            own = self.law(args[0])
            return own and own.turned(-_ONE, _ZERO)
        if len(moving) == 1 and len(args) == 2:
            other = args[0] if args[1] == moving[0] else args[1]
            c, own = self.number(other), self.law(moving[0])
            if c is None or own is None:
                return None
            if op in ("add", "subtract"):
                first = moving[0] == args[0]
                sign = _ONE if op == "add" or first else -_ONE
                return own.turned(sign, -c if op == "subtract" and first else c)
            if op == "multiply" and c:
                return own.turned(c, _ZERO)
            if op == "divide" and c and moving[0] == args[0]:
                return own.turned(1 / c, _ZERO)
            return None
        return self._of_product(k) if op == "multiply" and len(moving) == 2 else None

    def _of_product(self, k: int) -> ProductLaw | None:
        sign, parts, seen = _ONE, [], set()
        for factor in self.factors(k):
            own, secrets = self.density(factor), self.secrets(factor)
            if not secrets or own is None or not seen.isdisjoint(secrets):
                return None
            seen |= secrets
            if own[0].low < 0:
                own, sign = turned(own, -_ONE, _ZERO), -sign
            if own[0].low < 0:
                return None
            parts.append(own)
        if len(parts) < 2:
            return None
        if all(len(part) == 1 and part[0].low == 0 for part in parts):
            pieces = from_zero([part[0] for part in parts])
        else:
            pieces = of_two(*parts) if len(parts) == 2 else None
        return None if pieces is None else ProductLaw(pieces, sign, _ZERO)

    def factors(self, k: int) -> list[int]:
        """Return the nodes whose product a node is."""
        op, args = self.nodes[k]
        if op != "multiply" or self.forms[k] is not None:
            return [k]
        return [factor for a in args for factor in self.factors(a)]


def from_zero(parts: list[Piece]) -> list[tuple[Fraction, Fraction, list[Term]]] | None:
    """Return the density of a product of numbers that begin at 0, each with one polynomial."""
    unit = math.prod((part.high for part in parts), start=_ONE)
    # of v = g / unit: coefficients of v^j (log v)^m
    found: dict[tuple[int, int], fmpq] = {}
    for part in parts:
        q = part.of(fmpq_poly([0, _q(part.high)])) * _q(part.high)
        terms = {(j, 0): c for j, c in enumerate(q.coeffs()) if c}
        found = _times(found, terms) if found else terms
        if len(found) > TERMS:
            return None
    most = max(m for _, m in found)
    out = []
    for m in range(most + 1):
        own = [fmpq(0)] * (1 + max(j for j, _ in found))
        for (j, power), c in found.items():
            own[j] += c if power == m else 0
        if any(own):
            of = fmpq_poly(own)(fmpq_poly([0, _q(1 / unit)])) * _q(1 / unit)
            out.append(Term(of, unit, m))
    return [(_ZERO, unit, out)]


def _times(
    found: dict[tuple[int, int], fmpq], terms: dict[tuple[int, int], fmpq]
) -> dict[tuple[int, int], fmpq]:
    """Return the density of a product of numbers in (0, 1) from theirs.

    It is the sum of c q v^l times the integral of u^(k - 1) (log u)^m over (v, 1), k = j - l.
    """
    out: dict[tuple[int, int], fmpq] = defaultdict(fmpq)
    for (j, m), c in found.items():
        for (power, _), q in terms.items():
            k = j - power
            if k == 0:
                out[j, m + 1] -= c * q / (m + 1)
                continue
            for r in range(m + 1):  # the antiderivative, term by term
                whole = fmpq((-1) ** r * math.factorial(m), math.factorial(m - r))
                part = whole / fmpq(k) ** (r + 1)
                out[j, m - r] -= c * q * part
                if r == m:
                    out[power, 0] += c * q * part
    return {key: c for key, c in out.items() if c}


def of_two(
    first: list[Piece], second: list[Piece]
) -> list[tuple[Fraction, Fraction, list[Term]]] | None:
    """Return the density of a product of two numbers >= 0."""
    parts = [one for p in first for q in second for one in _of_two_pieces(p, q)]
    cuts = sorted({end for low, high, _ in parts for end in (low, high)})
    out = []
    for low, high in pairwise(cuts):
        own: dict[tuple, fmpq_poly] = defaultdict(fmpq_poly)
        for a, b, terms in parts:
            if a <= low and high <= b:
                for of, *kind in terms:
                    own[tuple(kind)] += of
        terms = [Term(of, *kind) for kind, of in own.items() if of.degree() >= 0]
        if terms:
            out.append((low, high, terms))
    size = sum(term.of.degree() + 1 for *_, terms in out for term in terms)
    return out if len(out) <= MOST and size <= TERMS else None


def _of_two_pieces(p: Piece, q: Piece) -> list[tuple[Fraction, Fraction, list[Term]]]:
    (a, b, f), (c, d, h) = p, q
    out = []
    for low, high in pairwise(sorted({a * c, a * d, b * c, b * d})):
        middle = (low + high) / 2
        # ends of u: a number, or g over one
        start = (a, 0) if middle < a * d else (1 / d, 1)
        end = (b, 0) if c == 0 or middle > b * c else (1 / c, 1)
        plain, log = fmpq_poly(), fmpq_poly()
        for i, v in enumerate(f.coeffs()):
            for j, w in enumerate(h.coeffs()):
                if i == j:
                    log += v * w * _power(j)
                    continue
                for sign, (at, of_g) in ((1, end), (-1, start)):
                    k = i - j
                    plain += sign * v * w / k * _q(at**k) * _power(j + (k if of_g else 0))
        kind = Term(log, end[0] / start[0], 1, still=True)
        if start[1] != end[1]:  # log (b d / g), or log (g / (a c))
            unit = end[0] / start[0] if start[1] else start[0] / end[0]
            kind = Term(-log if start[1] else log, unit, 1)
        out.append((low, high, [Term(plain), kind]))
    return out


def _power(k: int) -> fmpq_poly:
    return fmpq_poly([0] * k + [1])


def _q(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)
