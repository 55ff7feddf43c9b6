"""Polynomials in two coordinates s and u, both in [-1, 1], with balls as coefficients.

A coefficient is one number, the same at every point, of which a ball is known. A product keeps the
terms up to a degree; what it leaves out is returned as a bound, so that nothing is lost.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

from flint import arb, arb_poly

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ZERO, ONE, INFINITY = arb(0), arb(1), arb.pos_inf()
S, U = 0, 1
"""The coordinates."""
_NONE = arb_poly([])


def least(*values: arb) -> arb:
    """Return the least of some balls, as a ball."""
    out = values[0]
    for value in values[1:]:
        out = out.min(value)
    return out


def most(*values: arb) -> arb:
    """Return the largest of some balls, as a ball."""
    out = values[0]
    for value in values[1:]:
        out = out.max(value)
    return out


def _size(balls: Iterable[arb]) -> arb:
    """Bound the sum of absolute values."""
    return sum((ball.abs_upper() for ball in balls), ZERO)


class Polynomial:
    """A polynomial by its rows: for each power of u a polynomial in s."""

    __slots__ = ("rows",)

    def __init__(self, rows: dict[int, arb_poly]):
        self.rows = {j: row for j, row in rows.items() if row.length()}

    @classmethod
    def of(cls, terms: Iterable[tuple[int, int, arb]]) -> Polynomial:
        """Return the sum of terms (i, j, ball), ball s^i u^j."""
        rows: dict[int, list[arb]] = {}
        for i, j, ball in terms:
            row = rows.setdefault(j, [])
            row += [ZERO] * (i + 1 - len(row))
            row[i] += ball
        return cls({j: arb_poly(row) for j, row in rows.items()})

    def terms(self) -> Iterator[tuple[int, int, arb]]:
        """Yield the terms (i, j, ball) that are not exactly 0."""
        for j, row in self.rows.items():
            for i, ball in enumerate(row.coeffs()):
                if not ball.is_zero():
                    yield i, j, ball

    def constant(self) -> arb:
        """Return the constant term."""
        return self.rows[0][0] if 0 in self.rows else ZERO

    def is_constant(self) -> bool:
        """Return whether it has no other term than the constant one."""
        return all(j == 0 and row.length() <= 1 for j, row in self.rows.items())

    def varies(self) -> bool:
        """Return whether it surely is not constant: a coefficient beside the first is not 0."""
        return any((i or j) and not ball.contains(0) for i, j, ball in self.terms())

    def without_constant(self) -> Polynomial:
        """Return it less the constant term."""
        return Polynomial.of((i, j, ball) for i, j, ball in self.terms() if i or j)

    def varying(self, unit: int) -> Polynomial:
        """Return the terms that vary with a coordinate."""
        return Polynomial.of((i, j, ball) for i, j, ball in self.terms() if (i, j)[unit])

    def __add__(self, other: Polynomial) -> Polynomial:
        out = dict(self.rows)
        for j, row in other.rows.items():
            out[j] = out[j] + row if j in out else row
        return Polynomial(out)

    def times(self, factor: arb) -> Polynomial:
        """Return it times a number."""
        return Polynomial({j: row * factor for j, row in self.rows.items()})

    def product(self, other: Polynomial, degree: int) -> tuple[Polynomial, arb]:
        """Return the terms of a product up to a degree, and a bound on all the others."""
        out: dict[int, arb_poly] = {}
        lost = ZERO
        for j, p in self.rows.items():
            for k, q in other.rows.items():
                if j + k > degree:
                    lost += _size(p.coeffs()) * _size(q.coeffs())
                else:
                    out[j + k] = out[j + k] + p * q if j + k in out else p * q
        for j, row in out.items():
            kept = degree + 1 - j
            if row.length() > kept:
                lost += _size(row.coeffs()[kept:])
                out[j] = row.truncate(kept)
        return Polynomial(out), lost.upper()

    def range(self) -> tuple[arb, arb]:
        """Return bounds of its values on the square.

        What has no power above 1 of a coordinate is extreme at a corner; else even powers are in
        [0, 1], others in [-1, 1].
        """
        if len(self.rows) <= 2 and all(j < 2 and p.length() <= 2 for j, p in self.rows.items()):
            first, second = (self.rows.get(j, _NONE) for j in (0, 1))
            left, right = first[0] - first[1], first[0] + first[1]
            more, other = second[0] - second[1], second[0] + second[1]
            corners = left - more, left + more, right - other, right + other
            return least(*corners).lower(), most(*corners).upper()
        low = high = ZERO
        for j, row in self.rows.items():
            for i, ball in enumerate(row.coeffs()):
                if i == j == 0:
                    low, high = low + ball.lower(), high + ball.upper()
                elif i % 2 or j % 2:
                    size = ball.abs_upper()
                    low, high = low - size, high + size
                elif ball > 0:
                    high += ball.upper()
                elif not ball.is_zero():
                    low, high = low + least(ball.lower(), ZERO), high + most(ball.upper(), ZERO)
        return low.lower(), high.upper()

    def least(self) -> arb:
        """Bound it from below: by an end where it is monotone, by the vertex of a parabola.

        A coordinate v in which the linear term outweighs the derivatives of all other terms has
        its least value at the end v = 1 or v = -1. For the others, b v + c v^2 >= -b^2 / 4c.
        """
        out = self
        for unit in (S, U, S):
            out = out._at_its_end(unit)
        terms, total = {(i, j): ball for i, j, ball in out.terms()}, ZERO
        for linear, quadratic in (((1, 0), (2, 0)), ((0, 1), (0, 2))):
            b, c = terms.get(linear, ZERO), terms.get(quadratic, ZERO)
            if c > 0 and b.is_finite():
                total -= (b * b / (4 * c)).upper()
                terms.pop(linear, None)
                terms.pop(quadratic)
        rest = Polynomial.of((*key, ball) for key, ball in terms.items())
        return (rest.range()[0] + total).lower()

    def _at_its_end(self, unit: int) -> Polynomial:
        """Return it at the end of a coordinate at which it is least, if it is monotone there."""
        slope = others = ZERO
        for i, j, ball in self.terms():
            power = (i, j)[unit]
            if power == 1 and i + j == 1:
                slope = ball
            elif power:
                others += ball.abs_upper() * power
        if slope.contains(0) or not slope.abs_lower() > others:
            return self
        return self.at(unit, -1 if slope > 0 else 1)

    def at(self, unit: int, place: int) -> Polynomial:
        """Return it where a coordinate is 1 or -1."""
        if unit == S:
            return Polynomial.of((0, j, ball * place**i) for i, j, ball in self.terms())
        return Polynomial.of((i, 0, ball * place**j) for i, j, ball in self.terms())

    def moved(self, centre: arb, half: arb) -> Polynomial:
        """Return it with centre + half s in place of s."""
        return Polynomial.of(
            (k, j, ball * comb(i, k) * centre ** (i - k) * half**k)
            for i, j, ball in self.terms()
            for k in range(i + 1)
        )

    def integral(self, unit: int) -> Polynomial:
        """Integrate over a coordinate, from -1 to 1."""
        if unit == S:
            even = ((0, j, ball * 2 / (i + 1)) for i, j, ball in self.terms() if i % 2 == 0)
        else:
            even = ((i, 0, ball * 2 / (j + 1)) for i, j, ball in self.terms() if j % 2 == 0)
        return Polynomial.of(even)


NOTHING = Polynomial({})


def number(ball: arb) -> Polynomial:
    """Return a constant."""
    return Polynomial({0: arb_poly([ball])})
