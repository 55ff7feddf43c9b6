"""Check certificates of joints whose secret is an integer: a part to trust, and to read.

The prior has a mass p(n) at each integer, by a formula; `check_masses` looks at what they sum to.
Then f_Y is a sum over a head of integers, and over the others at most 1 - p(head) times a bound on
the kernel there, along rays of real numbers that the integers are among.

Integers are a null set of the real numbers. So here no comparison may be decided "for almost every
x": each must be by its bounds, and holds at every integer.

Infinite is PML, if f(y|y + s) >= c t^A, A <= 1, along y = 1/t for all s of an interval that holds
an integer (E e^PML diverges); PMC, if f(y|x) <= c t^A for all x in an interval of length at least 1
that runs to infinity, A > 0, while f(y|n) > 0 at some n: p(n) > 0 for all large n. So it is if
f(y|x) = 0, which is at most any c t^A, at one x with p(x) > 0.
"""

from __future__ import annotations

import math

from flint import arb

from borel.engine.certificates.checks.rays import (
    _SIGNS,
    FUNCTIONS,
    INF,
    Q0,
    Q1,
    Z,
    _balls,
    _gap,
    _Ray,
    _ray,
    _rays,
)
from borel.engine.certificates.checks.reading import density, integers
from borel.engine.certificates.checks.verifier import Report, _Checker, _everywhere, check
from borel.numerics.graphs.trace import Graph

MOST, DEPTH, BOXES, ROUNDING = 4096, 60, 1000, arb(2) ** -30
_TOTAL = set("add subtract multiply negative square absolute exp maximum minimum".split())
_TESTS = {"where": lambda u: u[0], **dict.fromkeys(_SIGNS, lambda u: _gap(*u))}


def decided(name, u):
    """Refuse a comparison that is not decided by the bounds of its arguments."""
    tests = [_TESTS[name](u)] if name in _TESTS else u if name.startswith("logical") else []
    for test in tests:
        _, low, high = test.fold()
        if not (low > 0 or high < 0 or not test.terms):
            raise ValueError(f"{name} is not decided at every integer")


def run_at(given, log, named):
    """Return f(y|x), or p(x), or its logarithm: every comparison is decided by its bounds."""
    (graph, logged), values = given, []
    for op, args in graph.nodes:
        if op in ("input", "const"):
            values.append(named[args[0]] if op == "input" else _ray(args[0]))
            continue
        u, name = [values[i] for i in args], op.removeprefix("special.")
        decided(name, u)
        values.append(FUNCTIONS[name](*u))
    return values[-1] if log == logged else values[-1].log() if log else values[-1].exp()


def _run(given, log, x, y=None):
    return run_at(given, log, {"x": x, "y": y})


def _value(graph, k, x):
    """Return a node along a ray of secrets."""
    return _run((Graph(graph.nodes[: k + 1], graph.inputs), False), False, x)


def _sign(graph, k, x):
    """Return 1 or -1 if that is the sign of a node for all of a ray, else 0."""
    _, low, high = _value(graph, k, x).fold()
    return 1 if low > 0 else -1 if high < 0 else 0


def _finite(graph, k, x):
    """Return whether a node is finite at each number of a ray of secrets."""
    op, args = graph.nodes[k]
    name = op.removeprefix("special.")
    if op in ("input", "const"):
        return op == "input" or math.isfinite(args[0])
    if not all(_finite(graph, a, x) for a in args):
        return False
    if name == "log1p":
        return bool((_value(graph, args[0], x) + 1).bounds()[0] > 0)
    if name in ("log", "gammaln", "sqrt", "xlogy", "divide", "reciprocal"):
        sign = _sign(graph, args[-1], x)
        return sign > 0 or (sign < 0 and name in ("divide", "reciprocal"))
    return name in _TOTAL or (name == "power" and _positive(graph, args[0], x))


def _positive(graph, k, x):
    """Return whether a node is positive at each number of a ray of secrets."""
    op, args = graph.nodes[k]
    if op == "const":
        return math.isfinite(args[0]) and args[0] > 0
    if op == "exp":
        return _finite(graph, args[0], x)
    if op == "power":
        return _positive(graph, args[0], x) and _finite(graph, args[1], x)
    if op == "where":
        known = bool(_sign(graph, args[0], x))
        decided = known or not _value(graph, args[0], x).terms
        return decided and _positive(graph, args[1 if known else 2], x)
    if op in ("add", "multiply", "divide", "sqrt"):
        return all(_positive(graph, a, x) for a in args)
    return _finite(graph, k, x) and _sign(graph, k, x) > 0


class _Counts(_Checker):
    """A certificate under check: a kernel, a prior of masses, and what came of its leaves."""

    def __init__(self, data, weights=None):
        self.data, self.claim, prior = data, data["claim"], data["prior"]
        self.weights = {} if weights is None else weights
        self.f, self.p = density(data["kernel"]), density(prior["masses"])
        self.ends, self.atoms = (prior["lower"], prior["upper"]), []
        self.failures, self.checked, self.scope = [], 0, "the supremum over the outcomes"
        # no checker of another prior takes it for one of its own
        alone = prior["graph"] is None and prior["atoms"] == [] and prior["points"] == "integers"
        logs = isinstance(self.f[1], bool) and isinstance(self.p[1], bool)
        whole = integers(*self.ends)
        self.leaf("format", lambda: data["format"] == 4 and data["quantity"] in ("pml", "pmc"))
        self.leaf("type", lambda: self.claim["type"] in ("count_point", "count_infinite"))
        self.leaf("header", lambda: alone and logs and whole and self.ends[0] < self.ends[1])
        self.leaf("outcome", lambda: not data["outcome"].get("atoms"))
        if not self.failures:
            self.conclusion(*getattr(self, f"is_{self.claim['type']}")())

    def bounded(self, side, level, y, rays, a, b):
        """Prove that side (log f - level) >= 0 for every x in rays(a, b)."""
        log, least, looked = self.f[1], level if self.f[1] else level.exp(), [0]
        if not all(ball.is_finite() for ball in level.terms.values()):
            raise ValueError("a bound that is none")

        def holds(a, b):
            looked[0] += 1
            if looked[0] > BOXES:
                raise ValueError(f"not proved with {BOXES} boxes")
            values = (_run(self.f, log, x, y) for x in rays(a, b))
            return any((_gap(v, least) * side).bounds()[0] >= 0 for v in values)

        _everywhere(holds, a, b, DEPTH)

    def is_count_point(self):
        y, (first, last), place = self.claim["y"], self.claim["head"], self.claim["place"]
        pml, at, self.scope = self.data["quantity"] == "pml", _ray(y), f"at y = {y}"
        inside = self.ends[0] <= first <= last <= self.ends[1] and last - first < MOST
        self.leaf("head", lambda: inside and math.isfinite(y) and integers(first, last))
        if self.failures:
            return {"box": (y, y)}, (y, y), Z, INF
        f_y, head, total = (Z, Z), Z, Z
        extreme = (Z, Z) if pml else (INF, INF)
        for n in range(int(first), int(last) + 1):
            low, high = (v.max(Z) for v in _run(self.f, False, _ray(n), at).bounds())
            least, most = (v.max(Z) for v in self.weight(n))
            f_y = f_y[0] + (low * least).lower(), f_y[1] + (high * most).upper()
            head, total = head + least, total + most
            pairs = zip(extreme, (low, high), strict=True)
            extreme = tuple(u.max(v) if pml else u.min(v) for u, v in pairs)
        least, most = (_ray(v) for v in self.claim["beyond"])  # of log f, elsewhere
        for a, b in ((self.ends[0], first - 1), (last + 1, self.ends[1])):
            if a <= b:
                self.leaf(f"most on ({a}, {b})", self.bounded, -1, most, at, _rays, a, b)
                if not pml:
                    self.leaf(f"least on ({a}, {b})", self.bounded, 1, least, at, _rays, a, b)
        some = [self.ends[0], self.ends[1]] != [first, last]
        self.leaf("masses", lambda: bool(head < 1 + ROUNDING and (some or total > 1 - ROUNDING)))
        over, under = (v.exp().bounds() for v in (most, least))
        others = (1 - head).upper().max(Z) if some else Z
        f_y = f_y[0], f_y[1] + (others * over[1] if others > 0 else Z).upper()
        outer = extreme[1].max(over[1]) if pml else extreme[0].min(under[0])
        outer = outer if some else extreme[1 if pml else 0]
        self.leaf("place", self.positive, place, at)
        known = _run(self.f, False, _ray(place), at).bounds()[0 if pml else 1].max(Z)
        pairs = ((known, f_y[1]), (outer, f_y[0])) if pml else ((f_y[0], known), (f_y[1], outer))
        logs = [(u / v).log() if v > 0 and u > 0 else sign for (u, v), sign in
                zip(pairs, (-INF, INF), strict=True)]  # fmt: skip
        self.proved = f_y, (logs[0].lower(), logs[1].upper())
        return {"box": (y, y)}, (y, y), *self.proved[1]

    def endless(self):
        """Prove that p(n) > 0 for all large n: by how it is made, not by its size."""
        (graph, logged), x = self.p, _Ray({(-Q1, 0): arb(2) ** 40})
        last = len(graph.nodes) - 1
        sure = (_finite if logged else _positive)(graph, last, x)
        if not sure or self.ends[1] != math.inf:
            raise ValueError("p is not known to be positive at all large integers")

    def is_count_infinite(self):
        proof, pml = self.claim["proof"], self.data["quantity"] == "pml"
        t0, spec, where, A, W = (proof[k] for k in ("t0", "y", "x", "exponent", "weight"))
        still = "box" in spec
        y = _balls(*spec["box"])[0] if still else self.path(spec, t0, _ray(0))[0](1.0, 1.0)[0]
        ends = spec["box"] if still else y.bounds()
        self.scope = f"at y = {ends[0]}" if still and ends[0] == ends[1] else self.scope
        level = _Ray({(Q0, 0): W + A * arb(t0).log(), (Q0, 1): arb(A)})
        rays, a, b = self.path(where, t0, y)
        one = "box" in where and a == b  # f(y|x) does not vary with t: it is 0
        self.leaf("prior", *((self.charged_at, a) if one else (self.endless,)))
        if pml:
            to_infinity = not still and spec["base"] == 0 and spec["sign"] == 1
            to_infinity = to_infinity and spec["power"] == -1 and [*spec["s"]] == [1, 1]
            holds_one = where["base"] == "y" and where["power"] == 0 and where["sign"] == 1
            # a number y + s, or for an integer y one s
            single = self.data["outcome"]["points"] == "integers" and a == b and a % 1 == 0
            self.leaf("kernel", self.bounded, 1, level, y, rays, a, b)
            self.leaf("argument", lambda: to_infinity and holds_one and (b - a >= 1 or single))
            fits = A <= 1
        else:
            far = one or (where["base"] == 0 and where["sign"] == 1 and where["power"] == -1)
            self.leaf("kernel", self.bounded, -1, level, y, rays, a, b)
            self.leaf("secrets", lambda: far and (one or (a > 0 and (b - a) / t0 >= 1)))
            self.leaf("f_Y", self.positive, proof["secret"], y)
            fits = A > 0 and still
        self.leaf("growth", lambda: fits and t0 > 0 and math.isfinite(A) and math.isfinite(W))
        return spec, ends, INF, INF

    def positive(self, n, y):
        """Prove that f(y|n) p(n) > 0 at all outcomes of a ball."""
        return self.charged_at(n) and _run(self.f, True, _ray(n), y).bounds()[0] > -INF

    def charged_at(self, n):
        """Prove that p(n) > 0."""
        if not (n % 1 == 0 and self.ends[0] <= n <= self.ends[1]):
            raise ValueError(f"{n} is no secret")
        return bool(self.weight(n)[0] > 0)

    def weight(self, n):
        """Enclose p(n), which is the same at all outcomes."""
        if n not in self.weights:
            self.weights[n] = _run(self.p, False, _ray(n)).bounds()
        return self.weights[n]


def check_counts(certificate: dict | str) -> Report:
    """Verify a certificate about a countable secret."""
    return check(certificate, _Counts)
