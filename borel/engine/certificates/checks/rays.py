"""Arithmetic along rays, for checkers of certificates: a part to trust, and to read.

A `_Ray` is a sum of Arb balls times t^e (log t)^j: it holds for all t in (0, 1] at once. A box of x
is a + (b - a) t, a half-line a / t; or t leads y, and x with it, to where something becomes
infinite. `FUNCTIONS` are the operations of the graphs of f(y|x) and p(x) on rays.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

from flint import arb, arb_series

ORDER = 8
Z, INF, Q0, Q1 = arb(0), arb.pos_inf(), 0, 1  # exponents are fmpq where they are no integers


class _Ray:
    """A sum of balls times t^e (log t)^j, for every t in (0, 1] at once; NaN is not known."""

    def __init__(self, terms):
        self.terms = {k: b for k, b in sorted(terms.items()) if not b == 0}  # (e, j): ball
        last = list(self.terms)[ORDER - 1 :] if len(self.terms) > ORDER else []
        for a, _ in last[:1]:  # they become a remainder, but for t^a (log t)^j, which is no t^a
            rest = {k: self.terms.pop(k) for k in last if k[0] > a or k[1] == 0}
            _, low, high = _Ray(rest).fold(a)
            self.terms[a, 0] = self.terms.get((a, 0), Z) + low.union(high)

    def fold(
        self, a=None
    ):  # (a, low, high): for each t it is in t^a [low, high], a the least power
        a = min((e for e, _ in self.terms), default=Q0) if a is None else a
        low = high = Z
        for (e, j), b in self.terms.items():
            if (e, j) == (a, 0):
                low, high = low + b.lower(), high + b.upper()
            else:  # 0 <= t^g (-log t)^j <= (j / g)^j, and <= 1 if j = 0
                b = b * (-1) ** j * ((j / arb(e - a)) ** j if e > a else INF)
                low, high = low + b.lower().min(Z), high + b.upper().max(Z)
        return a, low, high

    def bounds(self):  # of all its values
        a, low, high = self.fold()
        if a < 0:
            return low if low >= 0 else -INF, high if high <= 0 else INF
        return (low.min(Z), high.max(Z)) if a > 0 else (low, high)

    def signs(self):  # those that it may have, for almost every t
        _, low, high = self.fold()
        if low > 0 or high < 0:
            return (1,) if low > 0 else (-1,)
        for side in (1, -1):  # powers of t > 0, added up: all of one sign, and not all 0
            powers = [b * side if j == 0 else -INF for (_, j), b in self.terms.items()]
            if all(b >= 0 for b in powers) and any(b > 0 for b in powers):
                return (side,)
        exact = all(b.is_exact() and b.is_finite() for b in self.terms.values())  # few zeros
        some = (-1, 1) if exact and set(self.terms) != {(Q0, 0)} else (-1, 0, 1)
        return some if self.terms else (0,)

    def __add__(self, other):
        p, q = self.terms, _ray(other).terms
        return _Ray({k: p.get(k, Z) + q.get(k, Z) for k in {*p, *q}})

    def __mul__(self, other):
        p, q = self.terms, _ray(other).terms
        out = {} if p and q else {(Q0, 0): sum((b * 0 for b in (p | q).values()), Z)}  # NaN of inf
        for (e, j), b in p.items():
            for (f, k), c in q.items():
                out[e + f, j + k] = out.get((e + f, j + k), Z) + b * c
        return _Ray(out)

    def taylor(self, factors, last):  # sum of factors[i] w^i, and last(all w) w^n
        low, high = self.bounds()
        out = _ray(last(low.min(Z).union(high.max(Z))))
        for factor in reversed(factors):
            out = out * self + factor
        return out

    def exp(self):  # c log t becomes t^c
        c = _number(_ray(self.terms.get((Q0, 1), Z)))
        rest = _Ray({k: b for k, b in self.terms.items() if k != (Q0, 1) or c is None})
        (a, _, high), start, n = rest.fold(), rest.terms.pop((Q0, 0), Z), 0
        rest = _Ray({}) if start == -INF and not (rest * 0).terms else rest  # e^-inf is 0
        if a < 0 and high <= 0:  # e^(k t^a) <= t^n e^k if n <= k a: equal at t = 1, then by slopes
            n, out = (high * arb(a)).lower().floor().unique_fmpz() or 0, _ray(Z.union(high.exp()))
        else:
            factors = [1 / arb(i).fac() for i in range(ORDER)]
            out = rest.taylor(factors, lambda v: v.exp() / arb(ORDER).fac()) * start.exp()
        return _Ray({(e + n + (c or 0), j): b for (e, j), b in out.terms.items()})

    def log(self):  # t^a becomes a log t; log 0 is -inf
        a, lead = next(((e, b) for (e, j), b in self.terms.items() if j == 0), (Q0, Z))
        w = _Ray({(e - a, j): b / lead for (e, j), b in self.terms.items() if (e, j) != (a, 0)})
        factors = [Z] + [-arb((-1) ** i) / i for i in range(1, ORDER)]
        out = w.taylor(factors, lambda v: -((-1 / (1 + v)) ** ORDER) / ORDER)
        return out + _Ray({(Q0, 0): lead.log() if self.terms else -INF, (Q0, 1): arb(a)})

    def call(self, name):  # by Taylor's formula; else bounded by its values, not if infinite
        values, start = arb.union(*self.bounds()), self.terms.get((Q0, 0), Z)
        whole = _series(values, name)
        if whole is None or not (values.is_finite() and whole[ORDER].is_finite()):
            return self * 0 + getattr(values, name)()
        w = _Ray({k: b for k, b in self.terms.items() if k != (Q0, 0)})
        return w.taylor((_series(start, name) or [])[:ORDER], lambda _: whole[ORDER])


def _series(ball, name):  # the derivatives f^(i) / i! on a ball, if Arb has them
    if not hasattr(arb_series, name):
        return None
    found = getattr(arb_series([ball, 1]), name)()
    return [found[i] for i in range(ORDER + 1)]


def _ray(value):
    return value if isinstance(value, _Ray) else _Ray({(Q0, 0): arb(value)})


def _number(u):  # the number that it is, if that is known exactly
    low, high = u.bounds()
    return low.fmpq() if low == high and low.is_finite() else None


def _power(u, power):
    n, k = _number(u), _number(_ray(power))
    if n is not None and k is not None:
        return _ray(arb(n) ** arb(k))
    if k is not None and k.q == 1 and 0 < k < 9:
        return math.prod([u] * int(k.p), start=_ray(1))
    if k is not None and k.q == 1 and u.signs() == (-1,):
        return _power(u * -1, power) * (-1) ** int(k.p)
    return (u.log() * power).exp()


def _pick(test, signs, *cases):  # by the sign of a test; both, if that is not known
    (first, second), chosen = map(_ray, cases), {sign in signs for sign in test.signs()}
    if len(chosen) == 1:
        return first if True in chosen else second
    (a, *u), (b, *v) = first.fold(), second.fold()  # of t^a and t^b one is less than the other
    return _Ray({(min(a, b), 0): reduce(arb.union, [*u, *v, *([] if a == b else [Z])])})


def _gap(u, v):
    return u + _ray(v) * -1


def _logaddexp(u, v):
    least, most = (u, v) if _gap(u, v).signs() == (-1,) else (v, u)
    return most + (_gap(least, most).exp() + 1).log()


def _binom(n, k):  # refused where a gamma function is not positive
    parts = n + 1, k + 1, _gap(n, k) + 1
    if not all(u.bounds()[0] > 0 for u in parts):
        raise ValueError("binom(n, k) is known for -1 < k < n + 1")
    whole, *rest = [u.call("lgamma") for u in parts]
    return _gap(whole, rest[0] + rest[1]).exp()


# fmt: off
_UP, _NOT_0 = (0, 1), (-1, 1)
_SIGNS = {"greater": (1,), "less": (-1,), "greater_equal": _UP, "less_equal": (-1, 0),
          "equal": (0,), "not_equal": _NOT_0}  # of u - v
_CALLS = {"gammaln": "lgamma", "arctan": "atan", **{f: f for f in "sin cos tanh gamma erf".split()}}
FUNCTIONS: dict[str, Any] = {
    "add": lambda u, v: u + v, "multiply": lambda u, v: u * v, "negative": lambda u: u * -1,
    "divide": lambda u, v: u * _power(v, -1), "xlogy": lambda u, v: u * (v.log() if u.terms else v),
    "log1p": lambda u: (u + 1).log(), "expit": lambda u: _power((u * -1).exp() + 1, -1),
    "exp": lambda u: u.exp(), "log": lambda u: u.log(),
    "square": lambda u: _power(u, 2), "ndtr": lambda u: (u * -arb(0.5).sqrt()).call("erfc") * 0.5,
    "betaln": lambda u, v: _gap(u.call("lgamma") + v.call("lgamma"), (u + v).call("lgamma")),
    "binom": _binom,
    "absolute": lambda u: _pick(u, _UP, u, u * -1), "where": lambda c, u, v: _pick(c, _NOT_0, u, v),
    "maximum": lambda u, v: _pick(_gap(u, v), _UP, u, v), "reciprocal": lambda u: _power(u, -1),
    "minimum": lambda u, v: _pick(_gap(u, v), _UP, v, u), "sqrt": lambda u: _power(u, 0.5),
    "logical_not": lambda u: _pick(u, (0,), 1, 0), "expm1": lambda u: u.exp() + -1, "power": _power,
    "logical_and": lambda u, v: _pick(u, _NOT_0, _pick(v, _NOT_0, 1, 0), 0), "subtract": _gap,
    "logical_or": lambda u, v: _pick(u, _NOT_0, 1, _pick(v, _NOT_0, 1, 0)), "logaddexp": _logaddexp,
    **{op: lambda u, v, signs=s: _pick(_gap(u, v), signs, 1, 0) for op, s in _SIGNS.items()},
    **{op: lambda u, name=name: u.call(name) for op, name in _CALLS.items()},
}
# fmt: on


def _run(density, log, x, y=None):  # f(y|x), or p(x); or its logarithm
    (graph, logged), values = density, []
    for op, args in graph.nodes:
        if op in ("input", "const"):
            values.append({"x": x, "y": y}[args[0]] if op == "input" else _ray(args[0]))
        else:
            values.append(FUNCTIONS[op.removeprefix("special.")](*(values[i] for i in args)))
    return values[-1] if log == logged else values[-1].log() if log else values[-1].exp()


def _rays(a, b):  # the x in a box, by t from either end; those of a half-line, by 1 / t
    if math.isfinite(b - a):
        return [_Ray({(Q0, 0): arb(p), (Q1, 0): arb(q) - p}) for p, q in ((a, b), (b, a))]
    return [_Ray({(-Q1, 0): arb(p)}) for p, q in ((a, b), (b, a)) if p * q == math.inf > abs(p)]


def _balls(a, b):  # the x in a box, all at once: t is taken
    return [_ray(arb(a).union(arb(b)))]
