"""Sums of Arb balls times t^e (log t)^j, which enclose functions for all t in (0, 1] at once.

A bounded interval is a + (b - a) t, a half-line a / t, with t in (0, 1]; `FUNCTIONS` are the
operations of graphs of densities on such sums.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

from flint import arb, arb_series

ORDER = 8
Z, INF, Q0, Q1 = arb(0), arb.pos_inf(), 0, 1  # exponents are fmpq where they are no integers


class PowerSum:
    """A sum of balls times t^e (log t)^j, for every t in (0, 1] at once; NaN is not known."""

    def __init__(self, terms):
        self.terms = {k: b for k, b in sorted(terms.items()) if not b == 0}  # (e, j): ball
        last = list(self.terms)[ORDER - 1 :] if len(self.terms) > ORDER else []
        for a, _ in last[:1]:  # they become a remainder, but for t^a (log t)^j, which is no t^a
            rest = {k: self.terms.pop(k) for k in last if k[0] > a or k[1] == 0}
            _, low, high = PowerSum(rest).fold(a)
            self.terms[a, 0] = self.terms.get((a, 0), Z) + low.union(high)

    def fold(self, a=None):
        """Return (a, low, high): for each t it is in t^a [low, high], a the least power."""
        a = min((e for e, _ in self.terms), default=Q0) if a is None else a
        low = high = Z
        for (e, j), b in self.terms.items():
            if (e, j) == (a, 0):
                low, high = low + b.lower(), high + b.upper()
            else:  # 0 <= t^g (-log t)^j <= (j / g)^j, and <= 1 if j = 0
                b = b * (-1) ** j * ((j / arb(e - a)) ** j if e > a else INF)
                low, high = low + b.lower().min(Z), high + b.upper().max(Z)
        return a, low, high

    def bounds(self):
        """Return bounds of all its values."""
        a, low, high = self.fold()
        if a < 0:
            return low if low >= 0 else -INF, high if high <= 0 else INF
        return (low.min(Z), high.max(Z)) if a > 0 else (low, high)

    def signs(self):
        """Return the signs that it may have, for almost every t."""
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
        p, q = self.terms, power_sum(other).terms
        return PowerSum({k: p.get(k, Z) + q.get(k, Z) for k in {*p, *q}})

    def __mul__(self, other):
        p, q = self.terms, power_sum(other).terms
        out = {} if p and q else {(Q0, 0): sum((b * 0 for b in (p | q).values()), Z)}  # NaN of inf
        for (e, j), b in p.items():
            for (f, k), c in q.items():
                out[e + f, j + k] = out.get((e + f, j + k), Z) + b * c
        return PowerSum(out)

    def taylor(self, factors, last):
        """Return the sum of factors[i] w^i, and last(all w) w^n."""
        low, high = self.bounds()
        out = power_sum(last(low.min(Z).union(high.max(Z))))
        for factor in reversed(factors):
            out = out * self + factor
        return out

    def exp(self):
        """Return the exponential: c log t becomes t^c."""
        c = exact_number(power_sum(self.terms.get((Q0, 1), Z)))
        rest = PowerSum({k: b for k, b in self.terms.items() if k != (Q0, 1) or c is None})
        (a, _, high), start, n = rest.fold(), rest.terms.pop((Q0, 0), Z), 0
        rest = PowerSum({}) if start == -INF and not (rest * 0).terms else rest  # e^-inf is 0
        if a < 0 and high <= 0:  # e^(k t^a) <= t^n e^k if n <= k a: equal at t = 1, then by slopes
            n, out = (
                (high * arb(a)).lower().floor().unique_fmpz() or 0,
                power_sum(Z.union(high.exp())),
            )
        else:
            factors = [1 / arb(i).fac() for i in range(ORDER)]
            out = rest.taylor(factors, lambda v: v.exp() / arb(ORDER).fac()) * start.exp()
        return PowerSum({(e + n + (c or 0), j): b for (e, j), b in out.terms.items()})

    def log(self):
        """Return the logarithm: t^a becomes a log t; log 0 is -inf."""
        a, lead = next(((e, b) for (e, j), b in self.terms.items() if j == 0), (Q0, Z))
        w = PowerSum({(e - a, j): b / lead for (e, j), b in self.terms.items() if (e, j) != (a, 0)})
        factors = [Z] + [-arb((-1) ** i) / i for i in range(1, ORDER)]
        out = w.taylor(factors, lambda v: -((-1 / (1 + v)) ** ORDER) / ORDER)
        return out + PowerSum({(Q0, 0): lead.log() if self.terms else -INF, (Q0, 1): arb(a)})

    def call(self, name):
        """Return a function of Arb by Taylor's formula; else by its values, if they are finite."""
        values, start = arb.union(*self.bounds()), self.terms.get((Q0, 0), Z)
        whole = _series(values, name)
        if whole is None or not (values.is_finite() and whole[ORDER].is_finite()):
            return self * 0 + getattr(values, name)()
        w = PowerSum({k: b for k, b in self.terms.items() if k != (Q0, 0)})
        return w.taylor((_series(start, name) or [])[:ORDER], lambda _: whole[ORDER])


def _series(ball, name):  # the derivatives f^(i) / i! on a ball, if Arb has them
    if not hasattr(arb_series, name):
        return None
    found = getattr(arb_series([ball, 1]), name)()
    return [found[i] for i in range(ORDER + 1)]


def power_sum(value):
    """Return a number as a sum."""
    return value if isinstance(value, PowerSum) else PowerSum({(Q0, 0): arb(value)})


def exact_number(u):
    """Return the number that it is, if that is known exactly."""
    low, high = u.bounds()
    return low.fmpq() if low == high and low.is_finite() else None


def _power(u, power):
    n, k = exact_number(u), exact_number(power_sum(power))
    if n is not None and k is not None:
        return power_sum(arb(n) ** arb(k))
    if k is not None and k.q == 1 and 0 < k < 9:
        return math.prod([u] * int(k.p), start=power_sum(1))
    if k is not None and k.q == 1 and u.signs() == (-1,):
        return _power(u * -1, power) * (-1) ** int(k.p)
    return (u.log() * power).exp()


def _pick(test, signs, *cases):  # by the sign of a test; both, if that is not known
    (first, second), chosen = map(power_sum, cases), {sign in signs for sign in test.signs()}
    if len(chosen) == 1:
        return first if True in chosen else second
    (a, *u), (b, *v) = first.fold(), second.fold()  # of t^a and t^b one is less than the other
    return PowerSum({(min(a, b), 0): reduce(arb.union, [*u, *v, *([] if a == b else [Z])])})


def difference(u, v):
    """Return u - v, of which one may be a number."""
    return u + power_sum(v) * -1


def _logaddexp(u, v):
    least, most = (u, v) if difference(u, v).signs() == (-1,) else (v, u)
    return most + (difference(least, most).exp() + 1).log()


def _binom(n, k):  # refused where a gamma function is not positive
    parts = n + 1, k + 1, difference(n, k) + 1
    if not all(u.bounds()[0] > 0 for u in parts):
        raise ValueError("binom(n, k) is known for -1 < k < n + 1")
    whole, *rest = [u.call("lgamma") for u in parts]
    return difference(whole, rest[0] + rest[1]).exp()


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
    "betaln": lambda u, v: difference(u.call("lgamma") + v.call("lgamma"), (u + v).call("lgamma")),
    "binom": _binom,
    "absolute": lambda u: _pick(u, _UP, u, u * -1), "where": lambda c, u, v: _pick(c, _NOT_0, u, v),
    "maximum": lambda u, v: _pick(difference(u, v), _UP, u, v),
    "minimum": lambda u, v: _pick(difference(u, v), _UP, v, u),
    "reciprocal": lambda u: _power(u, -1), "sqrt": lambda u: _power(u, 0.5),
    "logical_not": lambda u: _pick(u, (0,), 1, 0), "expm1": lambda u: u.exp() + -1, "power": _power,
    "logical_and": lambda u, v: _pick(u, _NOT_0, _pick(v, _NOT_0, 1, 0), 0), "subtract": difference,
    "logical_or": lambda u, v: _pick(u, _NOT_0, 1, _pick(v, _NOT_0, 1, 0)), "logaddexp": _logaddexp,
    **{op: lambda u, v, signs=s: _pick(difference(u, v), signs, 1, 0) for op, s in _SIGNS.items()},
    **{op: lambda u, name=name: u.call(name) for op, name in _CALLS.items()},
}
# fmt: on


def run(density, log, x, y):
    """Return f(y|x), or its logarithm, for sums x and y; the graph is given with `logged`."""
    (graph, logged), values = density, []
    for op, args in graph.nodes:
        if op in ("input", "const"):
            values.append({"x": x, "y": y}[args[0]] if op == "input" else power_sum(args[0]))
        else:
            values.append(FUNCTIONS[op.removeprefix("special.")](*(values[i] for i in args)))
    return values[-1] if log == logged else values[-1].log() if log else values[-1].exp()


def log_of(density, x, y):
    """Return log f(y|x), that of a product through those of its factors."""
    (graph, logged), values = density, {}

    def value(k):
        if k not in values:
            op, args = graph.nodes[k]
            if op in ("input", "const"):
                values[k] = {"x": x, "y": y}[args[0]] if op == "input" else power_sum(args[0])
            elif op == "log":
                values[k] = logarithm(*args)
            else:
                values[k] = FUNCTIONS[op.removeprefix("special.")](*map(value, args))
        return values[k]

    def positive(k):  # or 0
        op, args = graph.nodes[k]
        split = op in ("multiply", "divide", "add", "reciprocal") and all(map(positive, args))
        split = split or (op == "power" and positive(args[0]))
        split = split or (op == "where" and all(map(positive, args[1:])))
        return op in ("exp", "square") or split or value(k).bounds()[0] >= 0

    def logarithm(k):
        op, args = graph.nodes[k]
        if op == "exp":
            return value(*args)
        if op in ("multiply", "divide", "add") and all(map(positive, args)):
            named = {"multiply": "add", "divide": "subtract", "add": "logaddexp"}[op]
            return FUNCTIONS[named](*map(logarithm, args))
        if op == "where":
            return FUNCTIONS[op](value(args[0]), *map(logarithm, args[1:]))
        if op in ("square", "power", "reciprocal") and positive(args[0]):
            by = {"square": power_sum(2), "reciprocal": power_sum(-1)}.get(op) or value(args[-1])
            return logarithm(args[0]) * by
        return value(k).log()

    last = len(graph.nodes) - 1
    return value(last) if logged else logarithm(last)


def from_ends(a, b):
    """Return an interval as sums, from either end; a half-line, by 1 / t."""
    if math.isfinite(b - a):
        return [PowerSum({(Q0, 0): arb(p), (Q1, 0): arb(q) - p}) for p, q in ((a, b), (b, a))]
    return [PowerSum({(-Q1, 0): arb(p)}) for p, q in ((a, b), (b, a)) if p * q == math.inf > abs(p)]


def moment(k, j):
    """Return the integral of t^(k - 1) (log t)^j over (0, 1)."""
    return arb(j).fac() * (-1) ** j / arb(k) ** (j + 1)
