r"""Differences of rational functions of one variable, without what cancels in them.

Of :math:`r(y) = n(y) / d(y)` the numerator of :math:`r(y + 1) - r(y)` is
:math:`n(y + 1) d(y) - n(y) d(y + 1)`, over :math:`d(y) d(y + 1)`, and that of
:math:`r(y + 1) / r(y) - 1` the same one, over :math:`n(y) d(y + 1)`: polynomials with rational
coefficients, from which common factors are taken. That r is a quotient of two sums is then no
matter: (1 + y) / (4 + y) grows by 3 / ((4 + y) (5 + y)).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from flint import fmpq, fmpq_poly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from borel.numerics.graphs.graph import GraphBuilder

_DEGREE = 8


class Rational(NamedTuple):
    """A quotient of two polynomials in y, in lowest terms; the leading coefficient below is 1."""

    over: fmpq_poly
    under: fmpq_poly


def applied(op: str, args: Sequence[Any], known: Any) -> Rational | None:
    """Return what an operation gives for rational functions, if that is one.

    It is the same function wherever both have values.
    """
    if op == "input":
        return Rational(fmpq_poly([0, 1]), fmpq_poly([1])) if args[0] == "y" else None
    if op == "const":
        if not math.isfinite(args[0]):
            return None
        value = Fraction(args[0])
        return Rational(fmpq_poly([fmpq(value.numerator, value.denominator)]), fmpq_poly([1]))
    parts = [known[a] for a in args]
    if None in parts:
        return None
    (n, d), (m, e) = parts[0], parts[-1]  # type: ignore[misc]
    if op == "negative":
        return Rational(-n, d)
    if op in ("add", "subtract"):
        return _lowest(n * e + (m * d if op == "add" else -m * d), d * e)
    if op in ("multiply", "square"):
        return _lowest(n * m, d * e)
    if op == "divide" and m:
        return _lowest(n * e, d * m)
    if op == "reciprocal" and n:
        return _reduced(d, n)
    return None


def _lowest(over: fmpq_poly, under: fmpq_poly) -> Rational | None:
    if max(over.degree(), under.degree()) > _DEGREE:
        return None
    return _reduced(over, under)


def _reduced(over: fmpq_poly, under: fmpq_poly) -> Rational:
    common = over.gcd(under)
    over, under = over // common, under // common
    lead = under[under.degree()]
    return Rational(over / lead, under / lead)


def gap_of(u: Rational | None, v: Rational | None) -> float | None:
    """Return u - v for two sums that differ by a number which float64 holds; else None."""
    if u is None or v is None or max(u.under.degree(), v.under.degree()) > 0:
        return None
    gap = u.over - v.over
    if gap.degree() > 0:
        return None
    value = gap[0]
    exact = Fraction(int(value.p), int(value.q))
    return float(exact) if Fraction(float(exact)) == exact else None


def difference(made: GraphBuilder, r: Rational, sign: int, *, relative: bool = False) -> int | None:
    """Add r(y + sign) - r(y) to a graph, over r(y) if it is ``relative``.

    Returns
    -------
    int or None
        The node, or None where float64 does not hold a coefficient.

    Examples
    --------
    >>> from borel.numerics.graphs.graph import GraphBuilder
    >>> y, b = Rational(fmpq_poly([0, 1]), fmpq_poly([1])), GraphBuilder()
    >>> b.graph(difference(b, y, 1, relative=True)).nodes
    (('const', (1.0,)), ('input', ('y',)), ('divide', (0, 1)))
    """
    moved = fmpq_poly([sign, 1])
    n, d = r
    ahead, below = n(moved), d(moved)
    found = _reduced(ahead * d - n * below, (n if relative else d) * below)
    size = math.lcm(*(int(c.q) for p in found for c in p.coeffs())) if any(found) else 1
    nodes = [_horner(made, [c * size for c in p.coeffs()]) for p in found]
    if None in nodes:
        return None
    over, under = nodes
    return over if made.number(under) == 1 else made.add("divide", over, under)  # type: ignore[arg-type]


def _horner(made: GraphBuilder, coefficients: list[Any]) -> int | None:
    """Add a polynomial with whole coefficients, from the lowest one, to a graph."""
    out: int | None = None
    for c in reversed(coefficients or [0]):
        value = int(c)
        if abs(value) >= 2**1000 or int(float(value)) != value:
            return None
        if out is not None:
            y = made.add("input", "y")
            out = y if made.number(out) == 1 else made.add("multiply", out, y)
        if out is None or value:
            constant = made.constant(float(value))
            out = constant if out is None else made.add("add", out, constant)
    return out
