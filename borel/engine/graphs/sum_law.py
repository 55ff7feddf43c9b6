"""The density of a weighted sum of independent uniform numbers, as a graph without rounding.

For X_j uniform on an interval of length w_j, and a sum S that starts at a,

    p(v) = sum over sets J of (-1)^|J| (v - a - w(J))_+^(d - 1) / ((d - 1)! w_1 ... w_d),

w(J) the sum of w_j over J: a polynomial of degree d - 1 between each two of the corners a + w(J),
increasing up to the middle and falling beyond (it is a convolution of such). The first piece is
written as a power of v - a and the last one of the end less v, so that both are seen to be
positive; those between are polynomials about their middles.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise
from typing import NamedTuple

from borel.engine.graphs.affine import Maker
from borel.engine.graphs.trace import Graph

MOST = 16
"""Pieces at most: each one is evaluated everywhere."""
_APART = 2.0**-48


class SumLaw(NamedTuple):
    """The law of a sum of uniform numbers.

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
    """

    graph: Graph
    lower: float
    upper: float
    breaks: tuple[float, ...]
    whole: bool


def sum_law(start: Fraction, widths: list[Fraction]) -> SumLaw | None:
    """Return the law of a sum of independent numbers, uniform on intervals of these widths.

    Parameters
    ----------
    start : Fraction
        Where the sum begins.
    widths : list of Fraction
        Of the intervals; positive.

    Returns
    -------
    SumLaw or None
        None if it has too many pieces.

    Examples
    --------
    >>> law = sum_law(Fraction(0), [Fraction(1, 2), Fraction(1, 2)])
    >>> law.lower, law.breaks, law.upper
    (0.0, (0.5,), 1.0)
    >>> from borel.engine.graphs import fp
    >>> fp.evaluate(law.graph, {"x": [0.25, 0.5, 1.0]})
    array([1., 2., 0.])
    """
    jumps: dict[Fraction, int] = {}
    for size in range(len(widths) + 1):
        for some in combinations(widths, size):
            corner = sum(some, start)
            jumps[corner] = jumps.get(corner, 0) + (-1) ** size
    jumps = {corner: jumps[corner] for corner in sorted(jumps) if jumps[corner]}
    corners = [*jumps]
    if len(corners) > MOST + 1:
        return None
    degree = len(widths) - 1
    level = 1 / math.prod(widths, start=Fraction(math.factorial(degree)))
    made = Maker()
    x = made.add("input", "x")
    pieces = []
    for a, b in pairwise(corners):
        if a == corners[0]:
            pieces.append(_power(made, made.add("subtract", x, made.number(a)), degree, level))
        elif b == corners[-1]:
            pieces.append(_power(made, made.add("subtract", made.number(b), x), degree, level))
        else:
            middle = Fraction(float((a + b) / 2))
            before = {c: n * level for c, n in jumps.items() if c <= a}
            terms = [
                sum((n * (middle - c) ** (degree - k) for c, n in before.items()), Fraction(0))
                * math.comb(degree, k)
                for k in range(degree + 1)
            ]
            pieces.append(_polynomial(made, made.add("subtract", x, made.number(middle)), terms))
    lower, upper = _outside(corners[0], -1), _outside(corners[-1], 1)
    whole = [Fraction(lower), Fraction(upper)] == [corners[0], corners[-1]]
    cuts, nothing = corners[1:-1], made.number(Fraction(0))
    if not whole:  # the pieces are not 0 beyond their ends
        cuts, pieces = corners, [nothing, *pieces, nothing]
    total = pieces[-1]
    for cut, piece in zip(reversed(cuts), reversed(pieces[:-1]), strict=True):
        before_it = made.add("less_equal", x, made.number(cut))
        total = made.add("where", before_it, piece, total)
    breaks = sorted({v for cut in cuts for v in _around(cut)})
    inner = tuple(v for v in breaks if lower < v < upper)
    return SumLaw(Graph(tuple(made.nodes), ("x",)), lower, upper, inner, whole)


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


def _power(made: Maker, base: int, degree: int, level: Fraction) -> int:
    """Add a power of a node times a number."""
    k = made.number(level)
    for _ in range(degree):
        k = made.add("multiply", k, base)
    return k


def _polynomial(made: Maker, base: int, terms: list[Fraction]) -> int:
    """Add a polynomial of a node, the constant term first."""
    while len(terms) > 1 and not terms[-1]:
        terms = terms[:-1]
    *terms, last = terms
    k = made.number(Fraction(last))
    for term in reversed(terms):
        k = made.add("add", made.add("multiply", k, base), made.number(Fraction(term)))
    return k
