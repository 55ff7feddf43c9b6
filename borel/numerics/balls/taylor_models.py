"""Taylor models of a function on an interval: a polynomial with Arb balls, and a range.

On an interval a graph runs on `TaylorModel`: a polynomial in u, which goes from -1 to 1 along the
interval, with balls as coefficients, beside the range of the function's values.
"""

from __future__ import annotations

import math
from functools import partial, reduce

from flint import arb, arb_series

from borel.numerics.balls.power_sums import INF, Z

DEGREE, WORTHLESS, NAN = 8, arb(2) ** 16, arb("nan")


def _cut(terms, most=DEGREE):
    """Return terms of degree at most ``most``: what is beyond is added to the last one."""
    out = {j: b for j, b in terms.items() if j <= most}
    over = sum((abs(b) for j, b in terms.items() if j > most), Z)  # |u| is at most 1
    if not over == 0:
        out[most] = out.get(most, Z) + arb(0, over.upper())
    return {j: b for j, b in out.items() if not b == 0}


def _times(terms, others, most=DEGREE):
    """Return the terms of a product."""
    out: dict = {}
    for j, b in terms.items():
        for k, c in others.items():
            out[j + k] = out.get(j + k, Z) + b * c
    return _cut(out, most)


class TaylorModel:
    """Terms {j: ball} of u^j: for each u, coefficients are somewhere in the balls.

    The constant term does not vary with u where ``steady``; ``low`` and ``high`` bound all values,
    which are finite numbers at almost every point where ``real``: NaN is not, nor are infinities.
    """

    def __init__(self, terms, low=-INF, high=INF, steady=True, real=True):
        self.terms, self.steady, self.real = _cut(terms), steady, real
        self.start = self.terms.get(0, Z)
        self.reach = sum((abs(b).upper() for j, b in self.terms.items() if j), Z)
        least, most = (self.start - self.reach).lower(), (self.start + self.reach).upper()
        self.low = least if least > low else -INF if low.is_nan() else low.lower()
        self.high = most if most < high else INF if high.is_nan() else high.upper()
        worth = WORTHLESS * (self.high - self.low)
        if self.start.is_finite() and 0 <= worth < self.reach:
            # what is known is the range: products of such polynomials would be work for nothing
            self.__init__({0: self.low.union(self.high)}, self.low, self.high, False, real)

    def __add__(self, other):
        other, terms = model(other), dict(self.terms)
        for j, b in other.terms.items():
            terms[j] = terms.get(j, Z) + b
        both = self.steady and other.steady, self.real and other.real
        return TaylorModel(terms, self.low + other.low, self.high + other.high, *both)

    def __mul__(self, other):
        other = model(other)
        pairs = [(p, q) for p in (self.low, self.high) for q in (other.low, other.high)]
        ends = _least_and_most([Z if p == 0 or q == 0 else p * q for p, q in pairs])
        both = self.steady and other.steady, self.real and other.real
        return TaylorModel(_times(self.terms, other.terms), *ends, *both)

    def __sub__(self, other):
        return self + model(other) * -1

    def varying(self):
        """Return all but the constant term."""
        return TaylorModel({j: b for j, b in self.terms.items() if j})

    def signs(self):
        """Return those that it may have, but on a null set."""
        if not self.real:
            return {0, 1, -1}
        if self.low > 0 or self.high < 0:
            return {1} if self.low > 0 else {-1}
        exact = all(b.is_exact() and b.is_finite() for b in self.terms.values())
        if exact and set(self.terms) - {0}:  # a polynomial that is not constant: few zeros
            return {1} if self.low >= 0 else {-1} if self.high <= 0 else {1, -1}
        return {0, 1, -1} if self.terms else {0}

    def apply(self, function, low, high):
        """Return an analytic function of it, by Taylor's formula."""
        w = self.varying()
        order = DEGREE if w.terms else 0
        whole = self.start.union(self.low).union(self.high) if order else self.start
        try:
            out = {0: function(arb_series([whole, 1], order + 1))[order]}
            parts = function(arb_series([self.start, 1], DEGREE))
        except (ValueError, ZeroDivisionError):
            out, parts = {0: NAN}, [NAN] * DEGREE
        for k in reversed(range(order)):
            out = _times(out, w.terms, DEGREE - k)  # k factors w follow, without constant terms
            out[0] = out.get(0, Z) + parts[k]
        return TaylorModel(out, low, high, self.steady, self.real)

    def positive(self):
        """Return it, known not to be negative."""
        return TaylorModel(self.terms, self.low.max(Z), self.high, self.steady, self.real)

    def integral(self, a, b):
        """Enclose its integral over the interval (a, b); at a point, a = b, it is the value."""
        if a == b:
            return self.low, self.high
        half = (arb(b) - arb(a)) / 2
        # the radius of NaN may be 0
        parts = [arb(0, c.rad()) if j % 2 and c.is_finite() else c for j, c in self.terms.items()]
        total = sum((c * half * 2 / (j + 1) for j, c in zip(self.terms, parts, strict=True)), Z)
        low, high = self.low * half * 2, self.high * half * 2
        return total.lower().max(low), total.upper().min(high)


def model(value):
    """Return a model, or the constant one of a number."""
    if isinstance(value, TaylorModel):
        return value
    return TaylorModel({0: arb(value)}, real=arb(value).is_finite())


def of_interval(a, b):
    """Return the numbers of a bounded interval as a model."""
    low, high = arb(a), arb(b)
    return TaylorModel({0: (low + high) / 2, 1: (high - low) / 2}, low, high)


def _least_and_most(values):
    return reduce(arb.min, values), reduce(arb.max, values)


def between(low, high, real=True):
    """Return a model of which nothing is known but the range."""
    return TaylorModel({0: low.union(high)}, low, high, steady=False, real=real)


def _rising(name, v, at_zero=None):  # an increasing function; at_zero is its value there
    ends = [getattr(e, name)() if at_zero is None or e > 0 else at_zero for e in (v.low, v.high)]
    if at_zero is None or v.low > 0:
        return v.apply(getattr(arb_series, name), *ends)
    # below 0 it is not a number; at 0 a logarithm is infinite
    real = v.real and v.low >= 0 and (at_zero == 0 or 0 not in v.signs())
    return between(ends[0] if v.low >= 0 else -INF, ends[1], real)


def exponential(v):
    """Return e^v; where the constant term is not known, by the range of v."""
    if v.start.is_finite() or not v.high < INF:
        return _rising("exp", v)
    # the constant term is within ``reach`` of the values of v
    unit = (v.low - v.reach).exp().union((v.high + v.reach).exp())
    out = _rising("exp", v.varying()) * unit
    return TaylorModel(out.terms, v.low.exp(), v.high.exp(), v.steady, v.real)


def _log(v):
    least = v.low - v.reach
    if v.start.is_finite() or not least > 0:
        return _rising("log", v, -INF)
    # log (c + w) = log c + log (1 + w / c), with c not known but that it is at least that
    out = _rising("log", v.varying() * Z.union(1 / least) + 1) + arb(0, INF)
    return TaylorModel(out.terms, v.low.log(), v.high.log(), v.steady, v.real)


def _function(name, v):
    found = getattr(v.low.union(v.high), name)()
    out = v.apply(getattr(arb_series, name), found.lower(), found.upper())
    out.real &= found.is_finite()  # or it has a pole there
    return out


def _reciprocal(v):
    if v.low > 0 or v.high < 0:
        return v.apply(arb_series.inv, 1 / v.high, 1 / v.low)
    # 0 has a sign in floats, which its quotients have: x - y is 0 almost nowhere, but others are
    plane = {0: v.start, 1: Z} | v.terms
    rare = len(plane) == 2 and plane[1] != 0
    real = v.real and 0 not in v.signs()
    return between(1 / v.high if rare and v.low >= 0 and v.high > 0 else -INF, INF, real)


def _number(k):  # the number that it is, if it is one
    return k.start if k.steady and set(k.terms) <= {0} else NAN


def _power(v, k):
    n = _number(k)
    if n == 0.5:
        return _rising("sqrt", v, Z)
    if not (n.is_integer() and abs(n) < 9):
        return exponential(_log(v) * k) if v.low >= 0 else between(-INF, INF, real=False)
    n = round(float(n))
    out = math.prod([v] * abs(n), start=model(1))
    return _reciprocal(_power(v, model(-n))) if n < 0 else out if n % 2 else out.positive()


def _pick(test, wanted, first, second):  # by the sign of a test
    chosen = {sign in wanted for sign in test.signs()}
    v = first if True in chosen else second
    if len(chosen) > 1:
        ends = _least_and_most([first.low, first.high, second.low, second.high])
        v = between(*ends, first.real and second.real)
    # a jump may be at the edge of a cell, a null set: it is not steady
    sure = test.low > 0 or test.high < 0 or not test.terms
    return TaylorModel(v.terms, v.low, v.high, v.steady and test.steady and sure, v.real)


def _either(test, first, second):  # the first where the test >= 0; both are equal where it is 0
    v = first if test.low >= 0 else second if test.high <= 0 else _pick(test, _UP, first, second)
    real = v.real and test.real
    return TaylorModel(v.terms, v.low, v.high, v.steady and test.steady, real)


def _logaddexp(u, v):
    least, most = (u, v) if (u - v).high <= 0 else (v, u)
    return most + _log(exponential(least - most) + 1)


def _betaln(u, v):
    return _function("lgamma", u) + _function("lgamma", v) - _function("lgamma", u + v)


_UP, _NOT_0, _YES, _NO = {0, 1}, {-1, 1}, model(1), model(0)
_if = lambda test, first, second: _pick(test, _NOT_0, first, second)  # noqa: E731
# fmt: off
_SIGNS = {"greater": {1}, "less": {-1}, "greater_equal": _UP, "less_equal": {-1, 0},
          "equal": {0}, "not_equal": _NOT_0}  # of u - v
_CALLS = {"sin": "sin", "cos": "cos", "arctan": "atan", "gammaln": "lgamma", "erf": "erf"}
FUNCTIONS = {
    "add": lambda u, v: u + v, "subtract": lambda u, v: u - v, "multiply": lambda u, v: u * v,
    "divide": lambda u, v: u * _reciprocal(v), "reciprocal": _reciprocal, "power": _power,
    "negative": lambda u: u * -1, "square": lambda u: (u * u).positive(), "exp": exponential,
    "log": _log, "log1p": lambda u: _log(u + 1), "expm1": lambda u: exponential(u) + -1,
    "sqrt": lambda u: _rising("sqrt", u, Z), "xlogy": lambda u, v: u * _log(v),
    "expit": lambda u: _reciprocal(exponential(u * -1) + 1), "logaddexp": _logaddexp,
    "tanh": lambda u: _reciprocal(exponential(u * -2) + 1) * 2 + -1, "where": _if,
    "betaln": _betaln, "ndtr": lambda u: _function("erfc", u * -arb(0.5).sqrt()) * 0.5,
    "absolute": lambda u: _either(u, u, u * -1).positive(),
    "maximum": lambda u, v: _either(u - v, u, v), "minimum": lambda u, v: _either(u - v, v, u),
    "logical_not": lambda u: _if(u, _NO, _YES),
    "logical_and": lambda u, v: _if(u, _if(v, _YES, _NO), _NO),
    "logical_or": lambda u, v: _if(u, _YES, _if(v, _YES, _NO)),
    **{op: lambda u, v, s=s: _pick(u - v, s, _YES, _NO) for op, s in _SIGNS.items()},
    **{op: partial(_function, name) for op, name in _CALLS.items()},
}
# fmt: on


def run(density, log, x, y):
    """Return f(y|x), or its logarithm, that of a product through those of its factors."""
    (graph, logged), values, named = density, {}, {"x": x, "y": y}

    def value(k):
        if k not in values:
            op, args = graph.nodes[k]
            if op in ("input", "const"):
                values[k] = named[args[0]] if op == "input" else model(args[0])
            elif log and op == "log":
                values[k] = logarithm(*args)
            elif log and op == "log1p" and value(*args).low >= 0:
                values[k] = _logaddexp(model(0), logarithm(*args))
            else:
                values[k] = FUNCTIONS[op.removeprefix("special.")](*map(value, args))
        return values[k]

    def logarithm(k):
        op, args = graph.nodes[k]
        # a product of negative factors has a logarithm, they have none
        if op in ("multiply", "divide") and all(value(a).low >= 0 for a in args):
            first, second = map(logarithm, args)
            return first + second if op == "multiply" else first - second
        if op in ("reciprocal", "square", "power"):
            powers = {"reciprocal": model(-1), "square": model(2)}
            n = powers[op] if op in powers else value(args[1])
            if value(args[0]).low >= 0:
                return logarithm(args[0]) * n
            if _number(n) in (2, 4, 6):
                return _log(FUNCTIONS["absolute"](value(args[0]))) * n
        if op == "add" and all(value(a).low >= 0 for a in args):
            return _logaddexp(*map(logarithm, args))
        return value(args[0]) if op == "exp" else _log(value(k))

    last = len(graph.nodes) - 1
    if log:
        return value(last) if logged else logarithm(last)
    return exponential(value(last)) if logged else value(last)
