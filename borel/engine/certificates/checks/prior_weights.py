"""The prior on cells of secrets, for checkers of certificates: a part to trust.

For a polynomial in s, s in [-1, 1] along a cell, the integral with the prior's density p is a sum
of moments of p. They are found once for a cell, from pieces on which p is a Taylor model; so f(y|x)
may be smooth on a cell where log p is steep. Pieces are cut at the simplest dyadic number, which
many cells share. Where p has no bound, at an end, it is a sum of powers of the distance t from
there, with logarithms, for all t at once.
"""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import pairwise

from flint import arb

from borel.engine.certificates.checks.rays import INF, Z, _rays, _run
from borel.engine.certificates.checks.taylor_models import DEGREE, NAN, ONE, Model, run
from borel.engine.certificates.checks.verifier import _moment

PIECES, DEPTH, LOOSE, NARROW = 20_000, 120, arb(2) ** -60, 2.0**-50


class Weight:
    """Integrals of s^i p over a cell, s in [-1, 1] along it; and a bound of that of |p|."""

    def __init__(self, moments, whole, positive):
        self.moments, self.mass, self.positive = moments, moments[0], positive
        self.whole = self.mass.upper() if positive else whole.upper()
        self.known = self.whole.is_finite() and all(m.is_finite() for m in moments)

    def integral(self, v):
        """Integrate a model with the prior over s: a coefficient that varies keeps all of |p|."""
        out = {}
        for (i, j), b in v.terms.items():
            # the radius of NaN may be 0
            part = b.mid() * self.moments[i] + arb(0, b.rad() * self.whole)
            out[0, j] = out.get((0, j), Z) + (part if b.is_finite() else NAN)
        low, high = (end * self.mass for end in (v.low, v.high))
        bounded = self.known and self.positive and v.low >= 0 and v.high < INF
        return Model(out, low, high) if bounded else Model(out)


UNKNOWN = Weight([NAN] * (DEGREE + 1), INF, False)


def _cut(a, b):
    """Return the multiple of the largest power of 2 in (a, b), or None where that is too narrow."""
    far = max(abs(a), abs(b), b - a)
    if b - a < NARROW * far:
        return None
    step = 2.0 ** math.ceil(math.log2(far))
    while not (middle := (math.floor(a / step) + 1) * step) < b:
        step /= 2
    return middle


class Weights:
    """What a prior with a density p weighs on cells, with pieces that are known already."""

    def __init__(self, p):
        self.p, self.known, self.left = p, {}, PIECES

    def on(self, a, b):
        """Return the weight of a cell of secrets; far out it is not known."""
        return self.piece(a, b, DEPTH) if math.isfinite(b - a) else UNKNOWN

    def over(self, a, b):
        """Return p on a piece, as a model in s."""
        low, high = arb(a), arb(b)
        x = Model({ONE: (low + high) / 2, (1, 0): (high - low) / 2}, low, high)
        return run(self.p, False, x=x)

    def beside(self, middle, half, turn):
        """Return p at x = middle + half (u + turn s), as a model in s and u."""
        p, out = self.over(middle - half * 2, middle + half * 2), {}
        for (n, _), b in p.terms.items():
            for k in range(n + 1):  # a power of (u + turn s) / 2
                key, share = (k, n - k), math.comb(n, k) * turn**k
                out[key] = out.get(key, Z) + b * share / 2**n
        return Model(out, p.low, p.high, p.steady, p.real)

    def watch(self):
        """Look at the clock before a piece: a trial may have to end."""

    def piece(self, a, b, depth):
        """Return the weight of a piece: of both its parts, where p is not known well on it."""
        if (a, b) not in self.known:
            self.watch()
            found, self.left = self.direct(a, b), self.left - 1
            wide = found.known and found.mass.rad() > LOOSE and depth > 0 and self.left > 0
            middle = _cut(a, b) if wide else None
            if middle is not None:
                found = self.joined(a, b, middle, depth - 1)
            self.known[a, b] = found
        return self.known[a, b]

    def direct(self, a, b):
        """Return the weight by a model of p on all of the piece."""
        p, half = self.over(a, b), (arb(b) - arb(a)) / 2
        moments = [Z] * (DEGREE + 1)
        for (n, _), v in p.terms.items():
            for i in range(DEGREE + 1):
                even = arb(0, v.rad()) if (i + n) % 2 else v
                moments[i] += (even if v.is_finite() else NAN) * half * 2 / (i + n + 1)
        found = Weight(moments, p.high.max(-p.low) * half * 2, bool(p.low >= 0))
        return found if found.known else next(self.singular(a, b), found)

    def singular(self, a, b):
        """Return the weight of a piece by p along rays from its ends, s = turn (2 t - 1)."""
        for turn, x in zip((1, -1), _rays(a, b), strict=True):
            with suppress(ValueError, ZeroDivisionError, KeyError):
                p, moments, width = _run(self.p, False, x), [], arb(b) - arb(a)
                for i in range(DEGREE + 1):
                    powers = [(-1) ** (i - k) * 2**k * math.comb(i, k) for k in range(i + 1)]
                    total = [v * _moment(k + e + 1, j) * c for (e, j), v in p.terms.items()
                             for k, c in enumerate(powers)]  # fmt: skip
                    moments.append(sum(total, Z) * width * turn**i)
                if all(e + 1 > 0 for e, _ in p.terms) and all(m.is_finite() for m in moments):
                    yield Weight(moments, INF, self.p[1] or bool(p.fold()[1] >= 0))

    def joined(self, a, b, middle, depth):
        """Return the weight of two parts, s = c + d t with t in [-1, 1] along a part."""
        moments, whole, positive = [Z] * (DEGREE + 1), Z, True
        for u, v in pairwise((a, middle, b)):
            part, width = self.piece(u, v, depth), arb(b) - arb(a)
            c, d = (arb(u) + arb(v) - a - b) / width, (arb(v) - arb(u)) / width
            for i in range(DEGREE + 1):
                for k in range(i + 1):
                    moments[i] += math.comb(i, k) * c ** (i - k) * d**k * part.moments[k]
            whole, positive = whole + part.whole, positive and part.positive
        return Weight(moments, whole, positive)
