r"""The programme of a leakage envelope in Fractions: a basis found in floats, solved exactly.

The basis of an optimum is a set of pairs (x, y) in use and of rows that are tight. Its weights and
its prices solve linear systems, which python-flint solves over the rationals; whether they are
feasible, and whether primal and dual agree, is then checked in Fractions. Where the basis was not
the right one the ends differ, and both are still proved.

The level of a mass delta is the root of a rational function: it need not be rational. Newton's
method in Fractions brings it near; if a fraction of small denominator lies there it is tried, and
proved or refused.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from borel.engine.envelopes.float_solver import Optimum
from borel.engine.envelopes.linear_programme import EnvelopeLevel, Programme
from borel.numerics.intervals.rounding import fraction_down, fraction_up
from borel.numerics.rational_systems import solution

Rows = list[list[Fraction]]

_LARGEST = 120
"""Pairs in use, up to which the systems are solved in Fractions."""
_BITS = 240


class ExactValue(NamedTuple):
    """Ends of D at a level, with weights and prices that prove them."""

    lower: Fraction
    upper: Fraction
    weights: Rows
    price: list[Fraction]


class ExactLevel(NamedTuple):
    """Ends of the level of a mass, with weights that prove the lower one."""

    lower: Fraction
    upper: Fraction
    weights: Rows


class ExactProgramme:
    """The programme of `linear_programme.Programme`, with kernel and law in Fractions."""

    def __init__(self, sign: int, kernel: Rows, law: list[Fraction]):
        self.sign, self.q = sign, law
        self.g = [[sign * v for v in row] for row in kernel]
        self.tops = [max(v / q for v, q in zip(row, law, strict=True)) for row in self.g]
        low, high = (
            np.array([[end(v) for v in row] for row in kernel])
            for end in (fraction_down, fraction_up)
        )
        q = tuple(np.array([end(v) for v in law]) for end in (fraction_down, fraction_up))
        self.floats = Programme(sign, (low, high), (q[0], q[1]))
        self._values: dict[tuple, ExactValue] = {}

    # -- the value at a level ---------------------------------------------------------------------

    def value(self, theta: Fraction, *, closed: bool = True) -> ExactValue:
        """Return D at a level, or its limit from above: equal ends if the basis is found."""
        key = (theta, closed)
        if key not in self._values:
            self._values[key] = self._value(theta, closed)
        return self._values[key]

    def _value(self, theta: Fraction, closed: bool) -> ExactValue:
        kept = [t > theta or (closed and t == theta) for t in self.tops]
        empty = [[Fraction(0)] * len(self.q) for _ in self.g]
        if not any(kept):
            return ExactValue(Fraction(0), Fraction(0), empty, [Fraction(0)] * len(kept))
        gain = self.gains(theta)
        found = self.floats.solve(float(theta), np.array(kept), np.array(gain, float))
        return self._proved(theta, kept, gain, found)

    def gains(self, theta: Fraction) -> Rows:
        """Return g - theta q."""
        return [[v - theta * q for v, q in zip(row, self.q, strict=True)] for row in self.g]

    def _proved(self, theta: Fraction, kept: list[bool], gain: Rows, found: Optimum) -> ExactValue:
        lower, upper = Fraction(-1), Fraction(2)
        weights: Rows = []
        price: list[Fraction] = []
        for w in (self._basic_weights(found.weights, gain), self._cut(found.weights, gain)):
            if w is not None and (mass := self.mass(w)) > lower:
                lower, weights = mass, w
            if weights and w is not None and lower == 1:
                break
        raw = [Fraction(float(v)) for v in found.price]
        for lam in (self._basic_prices(found.price, kept, gain), raw):
            if lam is not None and (over := self.dual(lam, kept, gain)) < upper:
                upper, price = over, lam
            if upper == lower:
                break
        return ExactValue(lower, min(upper, Fraction(1)), weights, price)

    def mass(self, weights: Rows) -> Fraction:
        """Return the mass of the bad outcomes."""
        return sum(
            (w * q for row in weights for w, q in zip(row, self.q, strict=True) if w), Fraction(0)
        )

    def dual(self, price: list[Fraction], kept: list[bool], gain: Rows) -> Fraction:
        """Return the dual objective: an upper end of D for any prices >= 0."""
        total = Fraction(0)
        for j, q in enumerate(self.q):
            pairs = zip(price, gain, kept, strict=True)
            total += max(max((q + lam * row[j] for lam, row, k in pairs if k), default=q), 0)
        return total

    def _basic_weights(self, weights: np.ndarray, gain: Rows) -> Rows | None:
        """Return the weights of the basis, if they are feasible."""
        basis = self.floats.basis(weights)
        if basis is None or len(basis[0]) > _LARGEST:
            return None
        x, y, used, full = (v.tolist() for v in basis)
        slack = [sum(weights[i, j] * float(gain[i][j]) for j in range(len(self.q))) for i in used]
        size = [max(float(abs(v)) for v in gain[i]) for i in used]
        tight = [i for i, s, top in zip(used, slack, size, strict=True) if abs(s) <= 1e-8 * top]
        rows = [[gain[i][b] if a == i else 0 for a, b in zip(x, y, strict=True)] for i in tight]
        rows += [[int(b == j) for b in y] for j in full]
        target = [Fraction(0)] * len(tight) + [Fraction(1)] * len(full)
        guess = [
            Fraction(float(weights[a, b])).limit_denominator(10**6)
            for a, b in zip(x, y, strict=True)
        ]
        solved = solution(rows, target, guess)
        if solved is None or min(solved) < 0:
            return None
        out = [[Fraction(0)] * len(self.q) for _ in self.g]
        for a, b, w in zip(x, y, solved, strict=True):
            out[a][b] = w
        return out if self.feasible(out, gain) else None

    def feasible(self, weights: Rows, gain: Rows) -> bool:
        """Return whether weights are shares of outcomes and every bad outcome is bad."""
        sums = (sum(column) for column in zip(*weights, strict=True))
        return all(s <= 1 for s in sums) and all(
            sum((w * v for w, v in zip(row, c, strict=True) if w), Fraction(0)) >= 0
            for row, c in zip(weights, gain, strict=True)
        )

    def _cut(self, weights: np.ndarray, gain: Rows) -> Rows:
        """Make float weights feasible: shares first, then less of what keeps outcomes from bad."""
        out = [[Fraction(float(w)) for w in row] for row in weights]
        for j, column in enumerate(zip(*out, strict=True)):
            total = sum(column)
            if total > 1 or total > 1 - Fraction(1, 10**9):
                for row in out:
                    row[j] /= total
        for row, c in zip(out, gain, strict=True):
            have = sum((w * v for w, v in zip(row, c, strict=True) if v > 0 and w), Fraction(0))
            owe = -sum((w * v for w, v in zip(row, c, strict=True) if v < 0 and w), Fraction(0))
            if owe > have:
                for j, v in enumerate(c):
                    if v < 0:
                        row[j] *= have / owe
        return out

    def _basic_prices(
        self, found: np.ndarray, kept: list[bool], gain: Rows
    ) -> list[Fraction] | None:
        """Return the prices of the vertex that float prices are near.

        At a vertex of the dual the pairs whose price is just paid determine it.
        """
        n, m = len(gain), len(self.q)
        worth, slopes = np.array(self.q, float), np.array(gain, float)
        net = worth + found[:, None] * slopes
        size = worth + np.abs(found[:, None] * slopes)
        net[~np.array(kept)] = -1.0
        rent = np.maximum(net.max(axis=0), 0.0)
        unknown = [i for i in range(n) if kept[i] and found[i] > 0]
        paid = [j for j in range(m) if rent[j] > 1e-8 * worth[j]]
        just = np.abs(net - rent) <= 1e-7 * size
        pairs = [(i, j) for i in unknown for j in np.flatnonzero(just[i]).tolist()]
        if not unknown or len(unknown) + len(paid) > _LARGEST:
            return None
        at = {i: k for k, i in enumerate(unknown)}
        at_rent = {j: len(unknown) + k for k, j in enumerate(paid)}
        rows: list[list[Any]] = []
        for i, j in pairs:
            row: list[Any] = [0] * (len(unknown) + len(paid))
            row[at[i]] = gain[i][j]
            if j in at_rent:
                row[at_rent[j]] = -self.q[j]
            rows.append(row)
        guess = [Fraction(float(found[i])) for i in unknown] + [Fraction(1)] * len(paid)
        solved = solution(rows, [-self.q[j] for _, j in pairs], guess)
        if solved is None:
            return None
        price = [Fraction(0)] * n
        for i in unknown:
            price[i] = max(solved[at[i]], Fraction(0))
        return price

    def _prices_in_use(
        self, weights: np.ndarray, kept: list[bool], gain: Rows
    ) -> list[Fraction] | None:
        """Return the prices that weights in use ask for, and others at which nothing is asked for.

        Unlike the prices of a vertex of the dual, they move with the level.
        """
        basis = self.floats.basis(weights)
        if basis is None or len(basis[0]) > _LARGEST:
            return None
        x, y, used, full = (v.tolist() for v in basis)
        rows: list[list[Any]] = []
        for a, b in zip(x, y, strict=True):
            rents = [-self.q[b] if j == b else 0 for j in full]
            rows.append([gain[a][b] if i == a else 0 for i in used] + rents)
        guess = [Fraction(0)] * (len(used) + len(full))
        solved = solution(rows, [-self.q[b] for b in y], guess)
        if solved is None:
            return None
        price = [Fraction(0)] * len(self.g)
        for i, lam in zip(used, solved[: len(used)], strict=True):
            price[i] = max(lam, Fraction(0))
        rent = [
            max(max(q + price[i] * gain[i][j] for i in used), Fraction(0))
            for j, q in enumerate(self.q)
        ]
        for i, row in enumerate(gain):
            if kept[i] and i not in used:
                below = ((r - q) / v for r, q, v in zip(rent, self.q, row, strict=True) if v < 0)
                price[i] = max(max(below, default=Fraction(0)), Fraction(0))
        return price

    # -- the level of a mass ----------------------------------------------------------------------

    def level(self, delta: Fraction, gap: float) -> tuple[ExactLevel, EnvelopeLevel]:
        """Enclose the largest theta with D(theta) >= delta; equal ends where it was found."""
        rough = self.floats.level(delta, gap)
        low, high = Fraction(rough.lower), Fraction(rough.upper)
        jumps = sorted({t for t in self.tops if low <= t <= high}, reverse=True)
        for theta in (*jumps, simplest(low, high)):
            if (found := self._exactly(theta, delta)) is not None:
                return found, rough
        near = self._newton(rough, delta) if low < high else None
        if near is not None:
            width = abs(near) / 2 ** (_BITS // 2)
            theta = simplest(near - width, near + width)
            if theta.denominator.bit_length() < _BITS // 5:
                if (found := self._exactly(theta, delta)) is not None:
                    return found, rough
            margin = abs(near) / 2**60
            below, above = self.value(near - margin), self.value(near + margin, closed=False)
            if below.lower >= delta and low <= near - margin:
                low = near - margin
            if above.upper < delta and near + margin <= high:
                high = near + margin
            if low == near - margin:
                return ExactLevel(low, high, below.weights), rough
        return ExactLevel(low, high, []), rough

    def _exactly(self, theta: Fraction, delta: Fraction) -> ExactLevel | None:
        """Prove that a level is the one of a mass, or return None."""
        at = self.value(theta)
        if at.lower < delta:
            return None
        if delta < 1:
            proved = self.value(theta, closed=False).upper <= delta
        else:
            proved = self._falls(theta)
        return ExactLevel(theta, theta, at.weights) if proved else None

    def _falls(self, theta: Fraction) -> bool:
        """Prove that D < 1 above a level: a dual that is 1 there and falls to the right of it."""
        kept = [t > theta for t in self.tops]
        if not any(kept):
            return True
        gain = self.gains(theta)
        beyond = self.floats.optimum(float(theta) + 1e-6 * abs(float(theta)), np.array(kept))
        price = self._prices_in_use(beyond.weights, kept, gain)
        if price is None or self.dual(price, kept, gain) > 1:
            return False
        if self.dual(price, kept, gain) < 1:
            return True
        for j, q in enumerate(self.q):
            terms = [
                (q + lam * c[j], lam) for lam, c, k in zip(price, gain, kept, strict=True) if k
            ]
            best = max(t for t, _ in terms)
            if best > 0 and all(lam > 0 for t, lam in terms if t == best):
                return True
        return False

    def _newton(self, rough: EnvelopeLevel, delta: Fraction) -> Fraction | None:
        """Return the level of a mass to many bits, on the basis of the weights found."""
        floats = self.floats
        start = (rough.lower + rough.upper) / 2
        theta = Fraction(start)
        if delta < 1:
            weights = rough.weights
        else:  # at the level itself any basis of mass 1 will do: the right one is found above it
            weights = floats.above(start + 1e-9 * abs(start)).weights
        basis = floats.basis(weights)
        if basis is None or len(basis[0]) > _LARGEST:
            return None
        price = floats.prices(weights, start)
        for _ in range(5):
            gain = self.gains(theta)
            exact = self._basic_weights(weights, gain)
            if exact is None or price is None:
                return None
            masses = np.array([float(self.mass([row])) for row in exact])
            slope = Fraction(float(price @ masses))
            if slope <= 0:
                return None
            step = (self.mass(exact) - delta) / slope
            theta = _rounded(theta + step)
            if abs(step) < abs(theta) / 2 ** (_BITS // 2 + 20):
                return theta
        return None


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of smallest denominator in [low, high].

    Examples
    --------
    >>> simplest(Fraction(244, 100), Fraction(245, 100))
    Fraction(22, 9)
    """
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest(-high, -low)
    floor = low.numerator // low.denominator
    if floor == low or floor + 1 <= high:
        return Fraction(floor if floor == low else floor + 1)
    return floor + 1 / simplest(1 / (high - floor), 1 / (low - floor))


def _rounded(value: Fraction) -> Fraction:
    """Round to `_BITS` bits: Newton's steps would double their length each time."""
    scale = Fraction(2) ** (_BITS - value.numerator.bit_length() + value.denominator.bit_length())
    return Fraction(round(value * scale)) / scale
