"""Check certificates again, with none of the code that made them: the part to trust, and to read.

A certificate names its leaves; each is proved again from the graphs of f(y|x) and p(x), by Arb
balls (python-flint). Integrals are Arb's own, of pieces proved to be one analytic function almost
everywhere; all else is bounded on a `Ray`: for almost every x, and for all t in (0, t0] at once.
What is in doubt is refused. Taken on trust: Arb, the tracer, and that f(.|x) and p are densities.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from flint import acb, arb, ctx, fmpq

from borel.engine.trace import Graph

BITS, BOXES, PIECES = 128, 3000, 400
Z, INF, NAN, Q0 = arb(0), arb.pos_inf(), arb.nan(), fmpq(0)


@dataclass(frozen=True)
class Report:
    """What came of a check: leaves refused, leaves that hold, and the outcomes it speaks of."""

    ok: bool
    failures: list[str]
    checked: int
    scope: str


@dataclass(eq=False)
class Ray:
    """All values of sum t^e [low, high] + c log t, for every t in (0, 1], and their slopes in x.

    Ends are balls, so that rounding is Arb's affair; NaN says that nothing is known.
    """

    terms: list  # (e, low, high), the least e first, none twice; an interval is (0, low, high)
    c: fmpq = Q0
    d: Ray | None = None  # the derivative in x; None is 0

    def fold(self) -> tuple:
        """Return (a, low, high), with the terms in t^a [low, high]: t^e <= t^a for e >= a."""
        a = self.terms[0][0] if self.terms else Q0
        low = sum((low if e == a else low.min(Z) for e, low, _ in self.terms), Z)
        return a, low, sum((high if e == a else high.max(Z) for e, _, high in self.terms), Z)

    def range(self) -> tuple:
        """Return an interval of all values."""
        (a, low, high), c = self.fold(), self.c
        if c != 0 and a < 0:  # |log t| <= t^a / |a|
            low, high, c = low + arb(c / a).min(Z), high + arb(c / a).max(Z), Q0
        if a < 0:
            low, high = low if low >= 0 else low * INF, high if high <= 0 else high * INF
        elif a > 0:
            low, high = low.min(Z), high.max(Z)
        return low - INF if c > 0 else low, high + INF if c < 0 else high

    def signs(self) -> tuple:
        """Return an interval of the signs for every single t: t > 0 is positive, its range not."""
        return self.range() if self.c != 0 else self.fold()[1:]

    def number(self) -> fmpq | None:
        """Return the number that it is, if that is known exactly."""
        e, low, high = self.fold()
        if self.c != 0 or e != 0 or not (low == high and low.is_finite()):
            return None
        man, exp = low.man_exp()
        return fmpq(man) * fmpq(2) ** int(exp)

    def __neg__(self) -> Ray:
        flipped = [(e, -high, -low) for e, low, high in self.terms]
        return Ray(flipped, -self.c, self.d and -self.d)

    def __add__(self, other) -> Ray:
        other = _ray(other)
        d = self.d + other.d if self.d and other.d else self.d or other.d
        return _sum(self.terms + other.terms, self.c + other.c, d)

    def __sub__(self, other) -> Ray:
        return self + -_ray(other)

    def __mul__(self, other) -> Ray:
        p, q = self, _ray(other)
        c, slopes = Q0, [u.d * Ray(v.terms, v.c) for u, v in ((p, q), (q, p)) if u.d]
        if p.c != 0 or q.c != 0:
            k = q.number() if q.c == 0 else p.number()
            if k is None:  # log t times what is no number: no more than its range
                p, q = _box(*p.range()), _box(*q.range())
            else:
                c = (p.c + q.c) * k
        terms = []
        for e, *x in p.terms:
            for f, *y in q.terms:  # 0 times infinity is 0: these are bounds, not limits
                ends = [Z if u == 0 or v == 0 else u * v for u in x for v in y]
                terms.append((e + f, _least(ends), -_least([-v for v in ends])))
        return _sum(terms, c, slopes[0] + slopes[1] if len(slopes) > 1 else (slopes or [None])[0])

    def __truediv__(self, other) -> Ray:
        return self * _inverse(_ray(other))


def _ray(value) -> Ray:
    return value if isinstance(value, Ray) else _box(arb(value), arb(value))


def _box(low: arb, high: arb, d: Ray | None = None) -> Ray:
    return Ray([] if low == 0 == high else [(Q0, low, high)], Q0, d)


def _least(values) -> arb:
    out, *rest = values
    for v in rest:
        out = out.min(v)  # Python's min takes the first of two balls that overlap
    return out


def _sum(terms: list, c: fmpq = Q0, d: Ray | None = None) -> Ray:
    merged = {}
    for e, *x in terms:
        merged[e] = [u + v for u, v in zip(x, merged.get(e, (Z, Z)), strict=True)]
    kept = sorted(((e, *x) for e, x in merged.items() if not x[0] == 0 == x[1]), key=lambda t: t[0])
    return Ray(kept if len(kept) < 7 else [*kept[:5], Ray(kept[5:]).fold()], c, d)


def _join(p: Ray, q: Ray, low=arb.min, high=arb.max, d: Ray | None = None) -> Ray:
    """Return a ray around two; with other ends, around their maximum or minimum."""
    if p.c != q.c:
        p, q = _box(*p.range()), _box(*q.range())
    a = min((e for e, *_ in p.terms + q.terms), default=Q0)
    (_, *x), (_, *y) = (Ray([(a, Z, Z), *r.terms]).fold() for r in (p, q))
    return Ray([(a, low(x[0], y[0]), high(x[1], y[1]))], p.c, d)


# -- functions on rays --------------------------------------------------------------------------


def _inverse(u: Ray) -> Ray:
    (low, high), a = u.signs(), u.fold()[0] if u.c == 0 else Q0
    if low > 0 or high < 0:
        ends = 1 / high, 1 / low
    else:
        ends = 1 / high if low >= 0 else -INF, 1 / low if high <= 0 else INF
    out = Ray([(-a, *ends)])
    out.d = u.d and -(out * out * u.d)
    return out


def _exp(u: Ray) -> Ray:
    a, low, high = u.fold()
    if a == 0:
        terms = [(Q0, low.exp(), high.exp())]
    elif a > 0:  # w <= e^w - 1 <= w e^w
        w = Ray([(a, low, high)])
        terms = [(Q0, arb(1), arb(1)), *_join(w, w * _exp(_box(*w.range()))).terms]
    elif high <= 0:  # e^(-k t^a) <= t^n e^-k if n <= k |a|: equal at t = 1, and by the slopes
        n = (high * arb(a)).lower().floor().unique_fmpz() or 0
        terms = [(fmpq(n), Z, high.exp())]
    elif low >= 0:  # likewise e^(k t^a) >= t^-n e^k
        n = -(low * arb(a)).upper().ceil().unique_fmpz() or 0
        terms = [(-fmpq(n), low.exp(), INF)]
    else:
        terms = [(Q0, Z, INF)] if low < high else [(Q0, NAN, NAN)]
    out = Ray([(e + u.c, *x) for e, *x in terms])
    out.d = u.d and out * u.d
    return out


def _log(u: Ray) -> Ray:
    slope = u.d and _inverse(Ray(u.terms, u.c)) * u.d
    terms = u.terms if u.c == 0 else _box(*u.range()).terms
    (e, low, high), rest = terms[0] if terms else (Q0, Z, Z), Ray(terms[1:])
    if rest.terms and low > 0:
        w = rest / Ray(terms[:1])  # has positive powers of t only
        if w.range()[0] > -1:  # w / (1 + w) <= log(1 + w) <= w
            lead = Ray([(Q0, low.log(), high.log())], e)
            return _sum(lead.terms + _join(w, w / (w + 1)).terms, e, slope)
    e, low, high = Ray(terms).fold()
    low = low.log() if low > 0 else -INF if low >= 0 else NAN
    return Ray([(Q0, low, high.log() if high > 0 else low if high == 0 else NAN)], e, slope)


def _power(u: Ray, k: fmpq) -> Ray:
    if k.q == 1 and k.p % 2:
        return u if k == 1 else u * _power(u, k - 1)
    slope = u.d and _power(Ray(u.terms, u.c), k - 1) * _number(k) * u.d  
