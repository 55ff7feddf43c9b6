"""Check certificates again, with none of the code that made them: the part to trust, and to read.

A certificate names its leaves; each is proved again from the graphs of f(y|x) and p(x), by Arb
balls (python-flint). Integrals are Arb's own, of pieces proved to be one analytic function almost
everywhere; all else is bounded on a `_Ray`: for almost every x, and for all t in (0, t0] at once.
What is in doubt is refused. Taken on trust: Arb, the tracer, and that f(.|x) and p are densities.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from flint import acb, arb, ctx, fmpq

from borel.engine.trace import Graph

BITS, BOXES, PIECES = 128, 3000, 300
Z, INF, NAN, Q0, Q1 = arb(0), arb.pos_inf(), arb.nan(), fmpq(0), fmpq(1)


@dataclass(frozen=True)
class Report:
    """What came of a check: the leaves refused, the number that hold, the outcomes spoken of."""

    ok: bool
    failures: list[str]
    checked: int
    scope: str


class _Ray:
    """All values of the sum of [low, high] t^e (log t)^j, for every t in (0, 1].

    An interval is one term, e = j = 0. Ends are balls, so that rounding is Arb's affair; NaN says
    that nothing is known. Rays have the methods of complex balls, so that one table serves both.
    """

    def __init__(self, terms, d=None):
        self.terms = {k: x for k, x in terms.items() if not x[0] == 0 == x[1]}  # (e, j): ends
        self.d = d  # the derivative in x; None is 0

    def fold(self):  # (a, low, high): for each t the value is in t^a [low, high]
        a, low, high = min((e for e, _ in self.terms), default=Q0), Z, Z
        for (e, j), ends in self.terms.items():  # t^g (-log t)^j <= (j / g)^j, or 1 if j = 0
            most = (j / arb(e - a)) ** j if e > a else INF if j else arb(1)
            least = arb(e == a and j == 0)
            u, v = _times(ends, (-most, -least) if j % 2 else (least, most))
            low, high = low + u, high + v
        return a, low, high

    def range(self):  # an interval of all values
        a, low, high = self.fold()
        if a < 0:
            return low if low >= 0 else low * INF, high if high <= 0 else high * INF
        return (low.min(Z), high.max(Z)) if a > 0 else (low, high)

    def sign(self):  # for almost every x; 2 if it is not 0 at least, None if not known
        (_, low, high), (_, down, up) = self.fold(), (self.d or _Ray({})).fold()
        moves = down > 0 or up < 0  # then it is 0 at a null set of x only
        if low > 0 or high < 0 or (moves and (low >= 0 or high <= 0)):
            return 1 if low >= 0 else -1
        return 0 if not self.terms else 2 if moves else None

    def __add__(self, other):
        other, terms = _ray(other), dict(self.terms)
        for k, (low, high) in other.terms.items():
            terms[k] = terms.get(k, (Z, Z))[0] + low, terms.get(k, (Z, Z))[1] + high
        return _Ray(terms, self.d + other.d if self.d and other.d else self.d or other.d)

    def __mul__(self, other):
        p, q, out = self, _ray(other), _Ray({})
        for (e, j), x in p.terms.items():
            for (f, k), y in q.terms.items():
                out = out + _Ray({(e + f, j + k): _times(x, y)})
        for u, v in ((p, q), (q, p)):
            if u.d:
                out = _Ray(out.terms, (out.d or _Ray({})) + u.d * _Ray(v.terms))
        return out

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -_ray(other)

    def __truediv__(self, other):
        return self * _ray(other).pow(-1)

    def exp(self):  # c log t becomes t^c
        c, n = _number(*self.terms.get((Q0, 1), (Z, Z))), 0
        rest = _Ray({k: x for k, x in self.terms.items() if c is None or k != (Q0, 1)})
        (low, high), (a, _, k) = rest.range(), rest.fold()
        if a < 0 and k <= 0:  # e^(k t^a) <= t^n e^k if n <= k a: equal at t = 1, then by the slopes
            n, low, high = (k * arb(a)).lower().floor().unique_fmpz() or 0, -INF, k
        out = _Ray({((c or Q0) + n, 0): (low.exp(), high.exp())})
        return _Ray(out.terms, self.d and out * self.d)

    def log(self, analytic=None):  # t^a becomes a log t
        a, low, high = self.fold()
        low = low.log() if low > 0 else -INF if low >= 0 else NAN
        terms = {(Q0, 0): (low, high.log() if high > 0 else low if high == 0 else NAN)}
        return _Ray({**terms, (Q0, 1): (arb(a), arb(a))}, self.d and self.d / _Ray(self.terms))

    def pow(self, power, analytic=None):
        (a, low, high), k, u = self.fold(), _number(*_ray(power).fold()[1:]), _Ray(self.terms)
        if k is None or k.q != 1:
            return (self.log() * power).exp()
        if _number(low, high) is not None and not a:
            return _ray(low ** arb(k))
        size = u if low >= 0 else -u if high <= 0 else _Ray({(a, 0): (Z, high.max(-low))})
        out = (size.log() * power).exp()
        if k.p % 2 and not low >= 0:
            out = -out if high <= 0 else _hull(out, -out)
        return _Ray(out.terms, self.d and u.pow(arb(k - 1)) * self.d * power)

    def lgamma(self):
        ball = self.range()[0].union(self.range()[1]).lgamma()
        return _Ray({(Q0, 0): (ball, ball)}, self.d and ENTIRE)


def _interval(low, high, d=None):
    return _Ray({(Q0, 0): (arb(low), arb(high))}, d)


def _ray(value):
    return value if isinstance(value, _Ray) else _interval(value, value)


def _number(low, high):  # the number between two ends, if that is known exactly
    if not (low == high and low.is_finite()):
        return None
    man, exp = low.man_exp()
    return fmpq(man) * fmpq(2) ** int(exp)


def _times(x, y):  # 0 times infinity is 0, for these are bounds and not limits
    low, *ends = [Z if u == 0 or v == 0 else u * v for u in x for v in y]
    high = low
    for end in ends:
        low, high = low.min(end), high.max(end)
    return low, high


def _hull(p, q):  # all values of two rays; a jump has no slope
    (a, *x), (b, *y) = sorted((p.fold(), q.fold()), key=lambda fold: fold[0])
    y = y if a == b else (y[0].min(Z), y[1].max(Z))
    return _Ray({(a, 0): (x[0].min(y[0]), x[1].max(y[1]))}, ENTIRE)


ENTIRE, ONE = _interval(-INF, INF), _ray(1)
# fmt: off
FUNCTIONS = {  # of rays and of complex balls; s asks for NaN where a ball may not be analytic
    "add": lambda s, u, v: u + v, "subtract": lambda s, u, v: u - v, "negative": lambda s, u: -u,
    "multiply": lambda s, u, v: u * v, "divide": lambda s, u, v: u / v,
    "exp": lambda s, u: u.exp(), "expm1": lambda s, u: u.exp() - 1,
    "log": lambda s, u: u.log(analytic=s), "log1p": lambda s, u: (u + 1).log(analytic=s),
    "power": lambda s, u, v: u.pow(v, analytic=s), "square": lambda s, u: u.pow(2, analytic=s),
    "sqrt": lambda s, u: u.pow(0.5, analytic=s), "reciprocal": lambda s, u: u.pow(-1, analytic=s),
    "logaddexp": lambda s, u, v: u + ((v - u).exp() + 1).log(analytic=s),  # u is the larger
    "special.gammaln": lambda s, u: u.lgamma(),
    "special.betaln": lambda s, u, v: u.lgamma() + v.lgamma() - (u + v).lgamma(),
}
TESTS = {  # the number to look at, and with which signs of it the first of two branches holds
    "absolute": (lambda u: u, (0, 1)), "where": (lambda c, u, v: c, (-1, 1, 2)),
    "maximum": (lambda u, v: u - v, (0, 1)), "minimum": (lambda u, v: v - u, (0, 1)),
    "greater": (lambda u, v: u - v, (1,)), "greater_equal": (lambda u, v: u - v, (0, 1)),
    "less": (lambda u, v: v - u, (1,)), "less_equal": (lambda u, v: v - u, (0, 1)),
    "not_equal": (lambda u, v: u - v, (-1, 1, 2)), "equal": (lambda u, v: u - v, (-1, 1, 2)),
    "logaddexp": (lambda u, v: u - v, (0, 1)),
}
# fmt: on


def _run(graph, inputs, choices, sure=None):
    """Evaluate on rays, and note the choices; or on complex balls, by the choices noted."""
    values, lift = [], _ray if sure is None else acb
    for i, (op, args) in enumerate(graph.nodes):
        u = [] if op in ("input", "const") else [values[j] for j in args]
        if op in TESTS and sure is None:
            number, signs = TESTS[op]
            sign = number(*u).sign()
            choices[i] = None if sign is None or sign not in (-1, 0, 1, *signs) else sign in signs
        if op not in TESTS:
            value = FUNCTIONS[op](sure, *u) if u else inputs[args[0]] if op == "input" else lift(args[0])
        else:
            pair = [u[0], -u[0]] if op == "absolute" else u[-2:]
            if op.startswith(("greater", "less", "equal", "not")):
                pair = [lift(op != "equal"), lift(op == "equal")]
            if op == "logaddexp":
                value = FUNCTIONS[op](sure, *(pair[::-1] if choices[i] is False else pair))
            elif choices[i] is not None:
                value = pair[not choices[i]]
            else:
                value = _hull(*pair) if sure is None else acb(NAN)
        values.append(value)
    return values[-1]


def _cuts(a, b):  # where to cut an interval; a finite one near its ends as well
    cuts = [a + (b - a) / 4096, a + (b - a) / 2, b - (b - a) / 4096]
    if math.isinf(b - a):
        cuts = [0.0 if a == -b else max(1.0, 4 * a) if math.isfinite(a) else min(-1.0, 4 * b)]
    return sorted(c for c in {*cuts} if a < c < b)


def _prove(margin, place, a, b):
    """Prove that margin(x) >= 0 for almost every x = place(s), a < s < b; or at the point a = b."""
    boxes = [(a, b)]
    for _ in range(BOXES):
        if not boxes:
            return
        a, b = boxes.pop()
        whole, cuts = margin(place(a, b)), _cuts(a, b)
        if whole.range()[0] >= 0:
            continue
        if not cuts:
            break
        cut = cuts[len(cuts) // 2]
        if whole.d and math.isfinite(b - a):  # look where it is least, if it is monotone
            (_, down, up), tiny = whole.d.fold(), (arb(b) - a) / 2**60
            at = arb(a) if down >= 0 else b - tiny if up <= 0 else arb(cut)
            near = margin(place(at, at + tiny))  # no single point: that may have been altered
            if near.range()[1] < 0:
                break
            if (near + whole.d * (place(a, b) - place(at, at))).range()[0] >= 0:
                continue
        boxes += [(a, cut), (cut, b)]
    raise ValueError(f"this fails, or is not proved, within [{a}, {b}]")


class _Checker:
    """A certificate under check: its densities, and what came of its leaves."""

    def __init__(self, data):
        kernel, prior = data["kernel"], data["prior"]
        self.kernel = Graph.from_json(kernel["graph"]), kernel["log"]
        self.prior = prior["graph"] and (Graph.from_json(prior["graph"]), prior["log"])
        self.ends, self.atoms = (prior["lower"], prior["upper"]), prior["atoms"]
        self.outcome, self.kind = data["outcome"], data["quantity"]
        self.bound, self.claim = (data["lower"], data["upper"]), data["claim"]
        self.failures, self.checked, self.scope = [], 0, "every outcome"
