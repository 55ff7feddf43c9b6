"""Taylor models in a secret and an outcome, for checkers of certificates: a part to trust.

On a box of outcomes and a cell of secrets a graph runs on `Model`: a polynomial in s (the secret)
and u (the outcome), both in [-1, 1], with Arb balls as coefficients, beside the range of its
values. On an unbounded box of outcomes the constant term of y is not known, and with it that of
log f; but the terms in s are, as long as they are bounded: log f(y|x) up to what does not depend
on x.
"""

from __future__ import annotations

import math
from functools import partial, reduce

from flint import arb, arb_poly, arb_series

from borel.engine.certificates.checks.rays import INF, Z

DEGREE, WORTHLESS, NAN, ONE = 8, arb(2) ** 16, arb("nan"), (0, 0)
_UNITS = (1, 0), (0, 1)
BILINEAR = {(0, 0), (1, 0), (0, 1), (1, 1)}


def _cut(terms, most=DEGREE):
    """Return terms of degree at most ``most``: what is beyond is added to the last ones."""
    out, over = {}, {}
    for (i, j), b in terms.items():
        if i + j <= most:
            out[i, j] = b
        else:  # |s| and |u| are at most 1
            key = (most - j, j) if j < most else (0, most)
            over[key] = over.get(key, Z) + abs(b)
    for k, b in over.items():
        out[k] = out.get(k, Z) + arb(0, b.upper())
    return {k: b for k, b in out.items() if not b == 0}


def _times(terms, others, most=DEGREE):
    """Return the terms of a product; where all are numbers, as sums of products in s alone."""
    out: dict = {}
    if all(b.is_finite() for b in (*terms.values(), *others.values())):
        for j, p in _rows(terms):
            for m, q in _rows(others):
                out[j + m] = out.get(j + m, 0) + p * q
        return _cut({(i, j): b for j, p in out.items() for i, b in enumerate(p)}, most)
    for (i, j), b in terms.items():  # what is known of one does not get lost for another
        for (k, m), c in others.items():
            out[i + k, j + m] = out.get((i + k, j + m), Z) + b * c
    return _cut(out, most)


def _rows(terms):
    """Return for each power of u its polynomial in s."""
    rows: dict = {}
    for (i, j), b in terms.items():
        row = rows.setdefault(j, [])
        row += [Z] * (i + 1 - len(row))
        row[i] = b
    return [(j, arb_poly(row)) for j, row in rows.items()]


class Model:
    """Terms {(i, j): ball} of s^i u^j: for any s and u, coefficients are somewhere in the balls.

    The constant term does not vary with s where ``steady``; ``low`` and ``high`` bound all values,
    which are finite numbers at almost every point where ``real``: NaN is not, nor are infinities.
    """

    def __init__(self, terms, low=-INF, high=INF, steady=True, real=True):
        self.terms, self.steady, self.real = _cut(terms), steady, real
        self.start = self.terms.get(ONE, Z)
        self.reach = sum((abs(b).upper() for k, b in self.terms.items() if k != ONE), Z)
        least, most = (self.start - self.reach).lower(), (self.start + self.reach).upper()
        if set(self.terms) == BILINEAR:  # its extremes are at the corners
            edges = [(self.start + c * self.terms[0, 1], self.terms[1, 0] + c * self.terms[1, 1])
                     for c in (1, -1)]  # fmt: skip
            least, most = _least_and_most([v + w for u, t in edges for v, w in ((u, t), (u, -t))])
            least, most = least.lower(), most.upper()
        self.low = least if least > low else -INF if low.is_nan() else low.lower()
        self.high = most if most < high else INF if high.is_nan() else high.upper()
        worth = WORTHLESS * (self.high - self.low)
        if self.start.is_finite() and 0 <= worth < self.reach:
            # what is known is the range: products of such polynomials would be work for nothing
            self.__init__({ONE: self.low.union(self.high)}, self.low, self.high, False, real)

    def __add__(self, other):
        other, terms = model(other), dict(self.terms)
        for k, b in other.terms.items():
            terms[k] = terms.get(k, Z) + b
        both = self.steady and other.steady, self.real and other.real
        return Model(terms, self.low + other.low, self.high + other.high, *both)

    def __mul__(self, other):
        other = model(other)
        pairs = [(p, q) for p in (self.low, self.high) for q in (other.low, other.high)]
        ends = _least_and_most([Z if p == 0 or q == 0 else p * q for p, q in pairs])
        both = self.steady and other.steady, self.real and other.real
        return Model(_times(self.terms, other.terms), *ends, *both)

    def __sub__(self, other):
        return self + model(other) * -1

    def varying(self):
        """Return all but the constant term."""
        return Model({k: b for k, b in self.terms.items() if k != ONE})

    def signs(self):
        """Return those that it may have, but on a null set."""
        if not self.real:
            return {0, 1, -1}
        if self.low > 0 or self.high < 0:
            return {1} if self.low > 0 else {-1}
        exact = all(b.is_exact() and b.is_finite() for b in self.terms.values())
        if exact and set(self.terms) - {ONE}:  # a polynomial that is not constant: few zeros
            return {1} if self.low >= 0 else {-1} if self.high <= 0 else {1, -1}
        return {0, 1, -1} if self.terms else {0}

    def apply(self, function, low, high):
        """Return an analytic function of it, by Taylor's formula."""
        w = self.varying()
        order = DEGREE if w.terms else 0
        whole = self.start.union(self.low).union(self.high) if order else self.start
        try:
            out = {ONE: function(arb_series([whole, 1], order + 1))[order]}
            parts = function(arb_series([self.start, 1], DEGREE))
        except (ValueError, ZeroDivisionError):
            out, parts = {ONE: NAN}, [NAN] * DEGREE
        for k in reversed(range(order)):
            out = _times(out, w.terms, DEGREE - k)  # k factors w follow, without constant terms
            out[ONE] = out.get(ONE, Z) + parts[k]
        return Model(out, low, high, self.steady, self.real)

    def positive(self):
        """Return it, known not to be negative."""
        return Model(self.terms, self.low.max(Z), self.high, self.steady, self.real)

    def least(self):
        """Bound it from below; along an axis on which it is monotone, by its value at an end."""
        terms, total = dict(self.terms), Z
        for n in (0, 1, 0):
            slope = terms.get(_UNITS[n], Z)
            rest = (abs(b).upper() * k[n] for k, b in terms.items() if k[n] and k != _UNITS[n])
            if not slope.contains(0) and abs(slope).lower() > sum(rest, Z):
                end, known, terms = -1 if slope > 0 else 1, terms, {}
                for (i, j), b in known.items():
                    k, power = ((0, j), i) if n == 0 else ((i, 0), j)
                    terms[k] = terms.get(k, Z) + b * end**power
        for one, two in zip(_UNITS, ((2, 0), (0, 2)), strict=True):
            b, c = terms.get(one, Z), terms.get(two, Z)
            if c > 0 and b.is_finite():  # b s + c s^2 >= -b^2 / 4 c
                total -= (b * b / (4 * c)).upper()
                terms = {k: v for k, v in terms.items() if k not in (one, two)}
        for (i, j), b in terms.items():  # an even power is between 0 and 1
            least = b if (i, j) == ONE else -abs(b) if i % 2 or j % 2 else b.lower().min(Z)
            total += least.lower()
        low = total.lower().max(self.low) if total.is_finite() else self.low
        return low if low >= 0 else low.max(self.bowl())

    def bowl(self):
        """Bound it from below by a + b s + c s^2, with the ranges of a, b and c > 0 over u."""
        powers = [arb(1)] + [arb(0, 1), arb(0.5, 0.5)] * (DEGREE // 2)  # u^j
        a, b, c, *more = (
            sum((v * powers[j] for (k, j), v in self.terms.items() if k == i), Z)
            for i in range(DEGREE + 1)
        )
        c = c.lower() - sum((abs(v).upper() for v in more), Z)
        low = a - (b * b / (4 * c)).upper() if c > 0 else -INF
        return low.lower() if low.is_finite() else -INF

    def doubt(self, varies=False):
        """Return how little is known of it; with what varies with s."""
        more = sum((abs(b).upper() for (i, _), b in self.terms.items() if i and varies), Z)
        return self.start.rad() + more


def model(value):
    """Return a model, or the constant one of a number."""
    if isinstance(value, Model):
        return value
    return Model({ONE: arb(value)}, real=arb(value).is_finite())


def _least_and_most(values):
    return reduce(arb.min, values), reduce(arb.max, values)


def between(low, high, real=True):
    """Return a model of which nothing is known but the range."""
    return Model({ONE: low.union(high)}, low, high, steady=False, real=real)


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
    return Model(out.terms, v.low.exp(), v.high.exp(), v.steady, v.real)


def _log(v):
    least = v.low - v.reach
    if v.start.is_finite() or not least > 0:
        return _rising("log", v, -INF)
    # log (c + w) = log c + log (1 + w / c), with c not known but that it is at least that
    out = _rising("log", v.varying() * Z.union(1 / least) + 1) + arb(0, INF)
    return Model(out.terms, v.low.log(), v.high.log(), v.steady, v.real)


def _function(name, v):
    found = getattr(v.low.union(v.high), name)()
    out = v.apply(getattr(arb_series, name), found.lower(), found.upper())
    out.real &= found.is_finite()  # or it has a pole there
    return out


def _reciprocal(v):
    if v.low > 0 or v.high < 0:
        return v.apply(arb_series.inv, 1 / v.high, 1 / v.low)
    # 0 has a sign in floats, which its quotients have: x - y is 0 almost nowhere, but others are
    plane = {ONE: v.start, (1, 0): Z, (0, 1): Z} | v.terms
    rare = len(plane) == 3 and any(plane[k] != 0 for k in ((1, 0), (0, 1)))
    real = v.real and 0 not in v.signs()
    return between(1 / v.high if rare and v.low >= 0 and v.high > 0 else -INF, INF, real)


def _number(k):  # the number that it is, if it is one
    return k.start if k.steady and set(k.terms) <= {ONE} else NAN


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
    return Model(v.terms, v.low, v.high, v.steady and test.steady and sure, v.real)


def _either(test, first, second):  # the first where the test >= 0; both are equal where it is 0
    v = first if test.low >= 0 else second if test.high <= 0 else _pick(test, _UP, first, second)
    real = v.real and test.real
    return Model(v.terms, v.low, v.high, v.steady and test.steady, real)


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


def _on_half_line(v):
    """Return a function of the secret alone on a half-line, s = 1, where it has a range."""
    known = all(b.is_finite() for b in v.terms.values()) or not v.steady
    if known or not (v.low.is_finite() and v.high.is_finite()):
        return v
    whole = v.low.union(v.high)
    return Model({ONE: whole.mid(), (1, 0): arb(0, whole.rad())}, v.low, v.high, real=v.real)


def run(density, log, **named):
    """Return f(y|x), or p(x); or its logarithm, that of a product through those of its factors."""
    (graph, logged), values = density, {}
    settles = "x" in named and not named["x"].reach < INF
    of_y: list = []
    for op, args in graph.nodes if settles else ():
        of_y.append(
            args[0] == "y" if op == "input" else op != "const" and any(of_y[a] for a in args)
        )

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
            if settles and not of_y[k]:
                values[k] = _on_half_line(values[k])
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


def axis(a, b, *key):
    """Return the coordinate on a box, by s or by u."""
    low, high = arb(a), arb(b)
    if not math.isfinite(b - a):
        return Model({key if key == (1, 0) else ONE: arb(0, INF)}, low, high)
    return Model({ONE: (low + high) / 2, key: (high - low) / 2}, low, high)


def integral(v, a, b):
    """Integrate over s: a coefficient that varies keeps odd powers alive."""
    out, width = {}, arb(b) - arb(a)
    half = width / 2
    for (i, j), b in v.terms.items():
        # the radius of NaN may be 0
        b = arb(0, b.rad()) if i % 2 and b.is_finite() else b
        out[0, j] = out.get((0, j), Z) + b * half * 2 / (i + 1)
    bounded = v.low.is_finite() and v.high.is_finite() and width.is_finite()
    return Model(out, v.low * width, v.high * width) if bounded else Model(out)


def integral_to_u(v, sign):
    """Integrate over s from -1 to u, or to -u."""
    out = {}
    for (i, j), b in v.terms.items():
        # what varies of a coefficient is integrated with |s|^i, at most up to 1
        ends = {(0, j): arb(0, b.rad()) * 2 - b.mid() * (-1) ** (i + 1)}
        ends[0, i + j + 1] = b.mid() * sign ** (i + 1)
        for k, c in ends.items():
            out[k] = out.get(k, Z) + c / (i + 1)
    return Model(out)
