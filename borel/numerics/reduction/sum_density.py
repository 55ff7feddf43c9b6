"""The density of a sum of independent numbers with polynomial densities, without rounding.

The convolution of polynomials f on (a, b) and g on (0, w) is a polynomial between each two of
a, a + w, b, b + w: an integral of f(v - t) g(t) over t, of which the ends are linear in v. The
sum's density is written piece by piece: the first one as a power of v - a, the last one as a power
of the end less v, times what is left of them, so that both are seen to be positive; those between
as polynomials about their middles.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from flint import fmpq, fmpq_poly

from borel.numerics.graphs.graph import Graph
from borel.numerics.reduction.linear_forms import FormBuilder

MOST, TERMS = 16, 128
"""Pieces at most, as each one is evaluated everywhere; and terms of all of them."""
_APART = 2.0**-48


class Piece(NamedTuple):
    """A polynomial on an interval: between two Fractions."""

    low: Fraction
    high: Fraction
    of: fmpq_poly


class SumLaw(NamedTuple):
    """The law of a sum.

    Attributes
    ----------
    graph : Graph
        Its density, a function of ``x``.
    lower, upper : float
        Ends, or floats beyond them, where the density is 0.
    breaks : tuple of float
        Where one piece of it follows another, or floats on both sides of that.
    whole : bool
        Whether the ends are floats: the density is positive between them.
    log : bool
        Whether the graph is that of the logarithm.
    """

    graph: Graph
    lower: float
    upper: float
    breaks: tuple[float, ...]
    whole: bool
    log: bool = False


def sum_law(parts: list[Piece]) -> SumLaw | None:
    """Return the law of a sum of independent numbers with these densities.

    Parameters
    ----------
    parts : list of Piece
        Positive polynomials on intervals; each is normalised here.

    Returns
    -------
    SumLaw or None
        None if it has too many pieces, or a part is no density.

    Examples
    --------
    >>> half = Piece(Fraction(0), Fraction(1, 2), fmpq_poly([1]))
    >>> law = sum_law([half, half])
    >>> law.lower, law.breaks, law.upper
    (0.0, (0.5,), 1.0)
    >>> from borel.numerics.graphs import float64
    >>> float64.evaluate(law.graph, {"x": [0.25, 0.5, 1.0]})
    array([1., 2., 0.])
    """
    terms = sum(part.of.degree() + 1 for part in parts)
    found: list[Piece] = []
    for part in parts:
        total = _integral(part)
        if not total > 0:
            return None
        own = part._replace(of=part.of / total)
        found = _convolved(found, own) if found else [own]
        if len(found) > MOST or len(found) * terms > TERMS:
            return None
    return _written(found)


def scaled(part: Piece, times: Fraction, plus: Fraction = Fraction(0)) -> Piece:
    """Return the density of a multiple of a number, and something more, from that of the number."""
    low, high = sorted((times * part.low + plus, times * part.high + plus))
    back = fmpq_poly([_q(-plus / times), _q(1 / times)])
    return Piece(low, high, part.of(back) * _q(1 / abs(times)))


def _q(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _line(value: Fraction) -> fmpq_poly:
    """Return the polynomial v - value."""
    return fmpq_poly([-_q(value), 1])


def _integral(piece: Piece) -> fmpq:
    whole = piece.of.integral()
    return whole(_q(piece.high)) - whole(_q(piece.low))


def _convolved(pieces: list[Piece], other: Piece) -> list[Piece]:
    """Return the convolution of a density with one polynomial on an interval."""
    found = [one for piece in pieces for one in _convolved_one(piece, other)]
    cuts = sorted({end for piece in found for end in piece[:2]})
    out: list[Piece] = []
    for a, b in pairwise(cuts):
        of = sum((p.of for p in found if p.low <= a and b <= p.high), fmpq_poly())
        if out and out[-1].of == of:  # nothing bends here
            out[-1] = out[-1]._replace(high=b)
        else:
            out.append(Piece(a, b, of))
    return out


def _convolved_one(piece: Piece, other: Piece) -> list[Piece]:
    """Return the convolution of two polynomials on intervals."""
    a, b, f = piece
    c, d, g = other
    # f(v - t) is the sum over m of v^m times the m-th derivative of f at -t, over m!
    wholes, turned = [], f
    for m in range(f.degree() + 1):
        wholes.append((turned(fmpq_poly([0, -1])) * g / math.factorial(m)).integral())
        turned = turned.derivative()
    out = []
    cuts = sorted({a + c, a + d, b + c, b + d})
    for low, high in pairwise(cuts):
        middle = (low + high) / 2
        # t runs over what is in (c, d) and in (v - b, v - a)
        start = fmpq_poly([_q(c)]) if middle - b < c else _line(b)
        end = fmpq_poly([_q(d)]) if middle - a > d else _line(a)
        of = fmpq_poly()
        for m, whole in enumerate(wholes):
            of += (whole(end) - whole(start)) * fmpq_poly([0] * m + [1])
        out.append(Piece(low, high, of))
    return out


def _written(pieces: list[Piece]) -> SumLaw:
    """Return the graph of a density, and where its pieces are."""
    made = FormBuilder()
    x = made.add("input", "x")
    first, last = pieces[0].low, pieces[-1].high
    nodes = []
    for low, high, of in pieces:
        if low == first and high == last:
            nodes.append(_between(made, x, *pieces[0]))
        elif low == first:
            at_end = made.add("subtract", x, made.exact(low))
            nodes.append(_by_order(made, at_end, of(fmpq_poly([_q(low), 1]))))
        elif high == last:
            at_end = made.add("subtract", made.exact(high), x)
            nodes.append(_by_order(made, at_end, of(fmpq_poly([_q(high), -1]))))
        else:
            middle = Fraction(float((low + high) / 2))
            apart = made.add("subtract", x, made.exact(middle))
            nodes.append(_polynomial(made, apart, of(fmpq_poly([_q(middle), 1])).coeffs()))
    lower, upper = _outside(first, -1), _outside(last, 1)
    whole = [Fraction(lower), Fraction(upper)] == [first, last]
    cuts = [piece.low for piece in pieces[1:]]
    if not whole:  # the pieces are not 0 beyond their ends
        nothing = made.exact(Fraction(0))
        cuts, nodes = [first, *cuts, last], [nothing, *nodes, nothing]
    total = nodes[-1]
    for cut, node in zip(reversed(cuts), reversed(nodes[:-1]), strict=True):
        total = made.add("where", made.add("less_equal", x, made.exact(cut)), node, total)
    breaks = sorted({v for cut in cuts for v in _around(cut)})
    inner = tuple(v for v in breaks if lower < v < upper)
    return SumLaw(made.graph(total, ("x",)), lower, upper, inner, whole)


def _outside(value: Fraction, side: int) -> float:
    """Return a number if it is a float, else the next one on a side."""
    near = float(value)
    beyond = (Fraction(near) - value) * side >= 0
    return near if beyond else math.nextafter(near, side * math.inf)


def _around(value: Fraction) -> tuple[float, ...]:
    """Return a number if it is a float, else floats on both sides that intervals tell from it."""
    near = float(value)
    step = abs(near) * _APART
    return (near,) if Fraction(near) == value else (near - step, near + step)


def _between(made: FormBuilder, x: int, low: Fraction, high: Fraction, of: fmpq_poly) -> int:
    """Add a polynomial as powers of the distances from both ends, times the rest."""
    factors = []
    for end, base in (
        (low, made.add("subtract", x, made.exact(low))),
        (high, made.add("subtract", made.exact(high), x)),
    ):
        while not of(_q(end)):
            of = of / _line(end) if end == low else -(of / _line(end))
            factors.append(base)
    middle = Fraction(float((low + high) / 2))
    apart = made.add("subtract", x, made.exact(middle))
    total = _polynomial(made, apart, of(fmpq_poly([_q(middle), 1])).coeffs())
    for base in factors:
        total = made.add("multiply", total, base)
    return total


def _by_order(made: FormBuilder, base: int, of: fmpq_poly) -> int:
    """Add a polynomial as the power of its argument that it begins with, times the rest."""
    terms = of.coeffs()
    order = next(k for k, c in enumerate(terms) if c)
    total = _polynomial(made, base, terms[order:])
    for _ in range(order):
        total = made.add("multiply", total, base)
    return total


def _polynomial(made: FormBuilder, base: int, terms: list[fmpq]) -> int:
    """Add a polynomial of a node, the constant term first."""
    *terms, last = terms
    k = made.exact(_fraction(last))
    for term in reversed(terms):
        k = made.add("multiply", k, base)
        k = made.add("add", k, made.exact(_fraction(term))) if term else k
    return k
