"""Polynomials in two coordinates s and u, both in [-1, 1], with balls as coefficients.

A coefficient is one number, the same at every point, of which a ball is known. A product keeps the
terms up to a degree; what it leaves out is returned as a bound, so that nothing is lost.
"""

from __future__ import annotations

from math import comb

from flint import arb

ZERO, ONE, INFINITY = arb(0), arb(1), arb.pos_inf()
_BASE = 64
"""The term s^i u^j has the key i + 64 j; degrees stay below 64."""
S, U = 1, _BASE
_PARTS = {key: (key % _BASE, key // _BASE) for key in range(_BASE * _BASE)}


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


class Polynomial:
    """Terms ``{key: ball}``; exact zeros are left out."""

    __slots__ = ("_sizes", "terms")

    def __init__(self, terms: dict[int, arb]):
        self.terms = {key: ball for key, ball in terms.items() if not ball.is_zero()}
        self._sizes: list[arb] | None = None

    def sizes(self) -> list[arb]:
        """Return for each degree a bound on the sum of the absolute coefficients."""
        if self._sizes is None:
            out = [ZERO]
            for key, ball in self.terms.items():
                degree = sum(_PARTS[key])
                out += [ZERO] * (degree + 1 - len(out))
                out[degree] += ball.abs_upper()
            self._sizes = out
        return self._sizes

    def constant(self) -> arb:
        """Return the constant term."""
        return self.terms.get(0, ZERO)

    def varies(self) -> bool:
        """Return whether it is surely not constant: a coefficient beside the first is not 0."""
        return any(key and not ball.contains(0) for key, ball in self.terms.items())

    def __add__(self, other: Polynomial) -> Polynomial:
        out = dict(self.terms)
        for key, ball in other.terms.items():
            out[key] = out[key] + ball if key in out else ball
        return Polynomial(out)

    def times(self, factor: arb) -> Polynomial:
        """Return it times a number."""
        return Polynomial({key: ball * factor for key, ball in self.terms.items()})

    def product(self, other: Polynomial, degree: int) -> tuple[Polynomial, arb]:
        """Return the terms of a product up to a degree, and a bound on all the others."""
        out: dict[int, arb] = {}
        second = [(key, sum(_PARTS[key]), ball) for key, ball in other.terms.items()]
        for key, ball in self.terms.items():
            room = degree - sum(_PARTS[key])
            for more, size, factor in second:
                if size <= room:
                    both = key + more
                    term = ball * factor
                    out[both] = out[both] + term if both in out else term
        lost = ZERO
        ours, theirs = self.sizes(), other.sizes()
        if len(ours) + len(theirs) - 2 > degree:
            for k, size in enumerate(ours):
                lost += sum(theirs[max(0, degree + 1 - k) :], ZERO) * size
        return Polynomial(out), lost.upper()

    def range(self) -> tuple[arb, arb]:
        """Return bounds of its values on the square; even powers are in [0, 1]."""
        low = high = ZERO
        for key, ball in self.terms.items():
            i, j = _PARTS[key]
            if key == 0:
                low, high = low + ball.lower(), high + ball.upper()
            elif i % 2 or j % 2:
                size = ball.abs_upper()
                low, high = low - size, high + size
            else:
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
        terms, total = dict(out.terms), ZERO
        for unit in (S, U):
            b, c = terms.get(unit, ZERO), terms.get(2 * unit, ZERO)
            if c > 0 and b.is_finite():
                total -= (b * b / (4 * c)).upper()
                terms.pop(unit, None)
                terms.pop(2 * unit)
        return (Polynomial(terms).range()[0] + total).lower()

    def _at_its_end(self, unit: int) -> Polynomial:
        """Return it at the end of a coordinate at which it is least, if it is monotone there."""
        which = 0 if unit == S else 1
        slope = self.terms.get(unit, ZERO)
        others = ZERO
        for key, ball in self.terms.items():
            power = _PARTS[key][which]
            if power and key != unit:
                others += ball.abs_upper() * power
        if slope.contains(0) or not slope.abs_lower() > others:
            return self
        return self.at(unit, -1 if slope > 0 else 1)

    def varying(self, unit: int) -> Polynomial:
        """Return the terms that vary with a coordinate."""
        which = 0 if unit == S else 1
        return Polynomial({key: ball for key, ball in self.terms.items() if _PARTS[key][which]})

    def at(self, unit: int, place: int) -> Polynomial:
        """Return it where a coordinate is 1 or -1."""
        which, out = 0 if unit == S else 1, {}
        for key, ball in self.terms.items():
            power = _PARTS[key][which]
            rest = key - power * unit
            out[rest] = out.get(rest, ZERO) + ball * place**power
        return Polynomial(out)

    def moved(self, centre: arb, half: arb) -> Polynomial:
        """Return it with centre + half s in place of s."""
        out: dict[int, arb] = {}
        for key, ball in self.terms.items():
            i, j = _PARTS[key]
            for k in range(i + 1):
                term = ball * comb(i, k) * centre ** (i - k) * half**k
                out[k + U * j] = out.get(k + U * j, ZERO) + term
        return Polynomial(out)

    def integral(self, unit: int) -> Polynomial:
        """Integrate over a coordinate, from -1 to 1."""
        which, out = 0 if unit == S else 1, {}
        for key, ball in self.terms.items():
            power = _PARTS[key][which]
            if power % 2 == 0:
                rest = key - power * unit
                out[rest] = out.get(rest, ZERO) + ball * 2 / (power + 1)
        return Polynomial(out)


NOTHING = Polynomial({})
