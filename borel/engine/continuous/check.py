"""Check certificates again, with none of the code that made them: the part to trust, and to read.

A leaf of a certificate is proved again from the graphs of f(y|x) and p(x), with Arb balls of 128
bits. A `_Ray` holds for all t in (0, 1] at once: a box of x is a + (b - a) t, a half-line a / t; or
t leads y, and x with it, to where something becomes infinite. What is in doubt is refused.
Taken on trust: Arb, the tracer of densities, and that f(.|x) and p integrate to 1.
"""

from __future__ import annotations

import math
from collections import namedtuple
from contextlib import suppress
from functools import partial, reduce
from itertools import pairwise
from typing import Any

from flint import arb, ctx

from borel.engine.continuous.check_atoms import kernel, parsed
from borel.engine.graphs.trace import Graph

BITS, ORDER, BOXES = 128, 8, 3000
Z, INF, Q0, Q1 = arb(0), arb.pos_inf(), 0, 1  # exponents are fmpq where they are no integers


# What came of a check: the leaves refused, the number that hold, the outcomes spoken of.
Report = namedtuple("Report", "ok failures checked scope")


class _Ray:
    """A sum of balls times t^e (log t)^j, for every t in (0, 1] at once; NaN is not known."""

    def __init__(self, terms):
        self.terms = {k: b for k, b in sorted(terms.items()) if not b == 0}  # (e, j): ball
        if len(self.terms) > ORDER:  # the last terms become a remainder
            keys = list(self.terms)[ORDER - 1 :]
            a, low, high = _Ray({k: self.terms.pop(k) for k in keys}).fold()
            self.terms[a, 0] = self.terms.get((a, 0), Z) + low.union(high)

    def fold(self):  # (a, low, high): for each t it is in t^a [low, high], a the least power
        a, low, high = min((e for e, _ in self.terms), default=Q0), Z, Z
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

    def call(self, name):  # bounded by its values; of an infinity it is not known
        return self * 0 + getattr(arb.union(*self.bounds()), name)()


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


def _moment(k, j):  # the integral of t^(k - 1) (log t)^j over (0, 1)
    return arb(j).fac() * (-1) ** j / arb(k) ** (j + 1)


def _middle(a, b):
    far = max(1.0, 4 * a) if a > -math.inf else min(-1.0, 4 * b)
    middle = (a + b) / 2 if math.isfinite(b - a) else far
    if not a < middle < b:
        raise ValueError(f"no middle of ({a}, {b})")
    return middle


def _everywhere(holds, a, b, depth=90):
    """Prove a statement about boxes for boxes that make up (a, b)."""
    if not holds(a, b):
        if not depth or a == b:
            raise ValueError(f"not proved near {float(a)}")
        for box in pairwise((a, _middle(a, b), b)):
            _everywhere(holds, *box, depth - 1)


def _refine(measure, low, high, a, b):
    """Prove that measure(box), summed over boxes that make up (a, b), is within [low, high]."""
    boxes = [(*measure(a, b), a, b)]
    while len(boxes) < BOXES:
        least, most = (sum((box[i] for box in boxes), Z) for i in (0, 1))
        if low <= least and most <= high:
            return
        worst = max(box[1] - box[0] for box in boxes)
        if not (least <= high and low <= most and worst > 0):
            break
        cuts = [(a, _middle(a, b), b) for v, w, a, b in boxes if not 8 * (w - v) < worst]
        boxes = [box for box in boxes if 8 * (box[1] - box[0]) < worst]
        boxes += [(*measure(u, v), u, v) for cut in cuts for u, v in pairwise(cut)]
    raise ValueError(f"not within [{low}, {high}]")


class _Checker:
    """A certificate under check: its densities, and what came of its leaves."""

    def __init__(self, data):
        self.data, self.claim, law = data, data["claim"], data["prior"]
        self.p = law["graph"] and (Graph.from_json(law["graph"]), law["log"])
        self.f, self.ends, self.atoms = kernel(data), (law["lower"], law["upper"]), law["atoms"]
        self.failures, self.checked, self.scope = [], 0, "the supremum over the outcomes"
        m = {x: arb(p).union(arb(q)) for x, p, q in self.atoms if 0 <= p <= q}
        self.leaf("format", lambda: data["format"] == 2 and data["quantity"] in ("pml", "pmc"))
        self.leaf("header", lambda: {type(self.f[1]), type(law["log"])} == {bool})
        one = arb(0 if self.p else 1).union(arb(1))  # a density has the rest
        self.leaf("atoms", lambda: len(m) == len(self.atoms) and sum(m.values(), Z).overlaps(one))
        if not self.failures:
            self.conclusion(*getattr(self, f"is_{self.claim['type']}")())

    def leaf(self, name, proof, *args):
        try:
            if (held := proof(*args)) is not None and not held:
                raise ValueError("it does not hold")
            self.checked += 1
        except Exception as error:  # whatever a wrong certificate leads to, it is not verified
            self.failures.append(f"{name}: {error}")

    def along(self, log, x, y):
        """Return f(y|x), or its logarithm, along rays."""
        return _run(self.f, log, x, y)

    def margin(self, side, level, x, y):
        """Bound side (log f - level), or side (f - e^level), from below along rays."""
        log, least = self.f[1], level if self.f[1] else level.exp()
        return (_gap(self.along(log, x, y), least) * side).bounds()[0]

    def holds(self, side, level, y, rays, a, b):
        """Prove that side (log f - level) >= 0 for almost every x in rays(a, b)."""
        _everywhere(lambda a, b: any(self.margin(side, level, x, y) >= 0 for x in rays(a, b)), a, b)

    def somewhere(self, side, level, y, *regions):
        """Prove that side (log f - level) >= 0 for x in one of the regions, of prior mass."""
        for rays, a, b in regions:
            atom = any(x == a == b and p > 0 and rays in (_rays, _balls) for x, p, _ in self.atoms)
            parts = [(a + (b - a) * k / 8, a + (b - a) * (k + 1) / 8) for k in range(8)]
            pieces = [x for u, v in parts if u < v for x in rays(u, v)]
            if atom or any(self.charged(x) for x in pieces):
                with suppress(ValueError):
                    return self.holds(side, level, y, rays, a, b)
        raise ValueError("not proved on a set of positive prior mass")

    def charged(self, x):  # whether p > 0 along a ray of secrets: log p is finite for each t
        inside = self.ends[0] <= x.bounds()[0] and x.bounds()[1] <= self.ends[1]
        return inside and all(b.is_finite() for b in _run(self.p, True, x).terms.values())

    def mass(self, y, shift, a, b):
        """Enclose the integral of f p e^-shift over a box, or its value at an atom."""
        best, log = (Z, INF), self.f[1]  # a logarithm of a sum would lose it
        for x in _rays(a, b):
            if a == b:
                f = self.along(False, x, y) * (-arb(shift)).exp()
                weights = next(p for place, *p in self.atoms if place == a)
                return [v * p for v, p in zip(f.bounds(), weights, strict=True)]
            f, p = self.along(log, x, y), _run(self.p, log, x)
            k, scale = next((e, abs(v)) for (e, _), v in x.terms.items() if e != 0)
            whole = ((f + p + -shift).exp() if log else f * p * (-arb(shift)).exp()) * scale
            if all(e + k > 0 for e, _ in whole.terms):  # the integral of t^(e + k - 1) (log t)^j
                total = sum((v * _moment(e + k, j) for (e, j), v in whole.terms.items()), Z)
                best = min(best, (total.lower(), total.upper()), key=lambda v: v[1] - v[0])
        return best

    def is_point(self):
        y, self.scope = self.claim["y"], f"at y = {self.claim['y']}"
        return {"box": (y, y)}, (y, y), *self.at_outcome(self.claim)[1]

    def at_outcome(self, claim):
        """Prove bounds of log f_Y at an outcome, and of the leakage."""
        y, shift, cells = claim["y"], claim["shift"], claim["cells"]
        at, total = _ray(y), (Z, Z)
        atoms, pml = [(x, x) for x, *_ in self.atoms], self.data["quantity"] == "pml"
        edges = self.cover([(a, b) for a, b, *_ in cells if a < b]) if self.p else [y]
        self.leaf("atoms", lambda: [(a, b) for a, b, *_ in cells if not a < b] == atoms)
        for i, (a, b, least, most) in enumerate(cells):
            self.leaf(f"cell {i}", _refine, partial(self.mass, at, shift), least, most, a, b)
            total = total[0] + least, total[1] + most
        f_y = [(t.log() if t > 0 else -INF) + shift for t in total]
        name, side = ("top", 1) if pml else ("bottom", -1)
        low, high, x = claim[name]
        outer, inner = (high, low)[::side]
        # cut where kinks often are
        cuts = sorted(c for c in {x, y, *edges, *self.f[0].constants} if edges[0] <= c <= edges[-1])
        for box in [] if outer * side == math.inf else [*pairwise(cuts), *atoms]:
            self.leaf(f"{name} on {box}", self.holds, -side, _ray(outer), at, _rays, *box)
        steps = [arb(2) ** -bits * max(1.0, abs(x)) for bits in (90, 300)]
        beside = [{"base": x, "sign": s, "power": 1, "s": (0.5, 1.0)} for s in (1, -1)]
        near = [(_rays, x, x), *(self.path(spec, t, at) for t in steps for spec in beside)]
        self.leaf(f"{name} near {x}", self.somewhere, side, _ray(inner), at, *near)
        return f_y, (low - f_y[1], high - f_y[0]) if pml else (f_y[0] - high, f_y[1] - low)

    def cover(self, boxes):
        """Prove that boxes follow each other from one end of the secrets to the other."""
        edges = [edge for box in boxes for edge in box]
        whole = [self.ends[0], *edges[1:-1:2], self.ends[1]] == [*edges[::2], edges[-1]]
        self.leaf("cover", lambda: whole and edges == sorted(edges))
        return edges

    def conclusion(self, spec, ends, low, high):
        """Prove that there are such outcomes, and that the bound is as loose as what was proved."""
        outcome, points = self.data["outcome"], self.data["outcome"]["points"]
        inside = outcome["lower"] <= ends[0] <= ends[1] <= outcome["upper"]
        if points == "integers" and "box" not in spec:
            inside &= spec["base"] == 0 and spec["power"] == -1
        elif points is not None:
            points = [math.ceil(ends[0])] if points == "integers" else points
            inside &= "box" in spec and any(ends[0] <= point <= ends[1] for point in points)
        self.leaf("y", lambda: inside)
        self.leaf("bound", lambda: self.data["lower"] <= low.max(Z) and high <= self.data["upper"])

    def path(self, spec, t0, y):
        """Return rays, a, b: the x in a box, or base + sign s t^power for s in (a, b)."""
        if {*spec} == {"box"}:
            return _rays if set(y.terms) <= {(Q0, 0)} else _balls, *spec["box"]
        power, base = _number(_ray(spec["power"])), y if spec["base"] == "y" else _ray(spec["base"])
        known = base is y or math.isfinite(spec["base"])
        if spec["sign"] not in (1, -1) or not known or {*spec} != {"base", "sign", "power", "s"}:
            raise ValueError(f"{spec} is no path")
        step = _Ray({(power, 0): spec["sign"] * arb(t0) ** arb(power)})
        return lambda a, b: [base + step * s for s in _balls(a, b)], *spec["s"]

    def is_infinite(self):
        proof, pml = self.claim["proof"], self.data["quantity"] == "pml"
        kind, t0, spec, A = proof["kind"], proof["t0"], proof["y"], proof["exponent"]
        still, side = "box" in spec, 1 if pml else -1
        y = _balls(*spec["box"])[0] if still else self.path(spec, t0, _ray(0))[0](1.0, 1.0)[0]
        ends = spec["box"] if still else y.bounds()
        self.scope = f"at y = {ends[0]}" if still and ends[0] == ends[1] else self.scope

        def level(part):  # e^weight t^exponent, for t in (0, t0]
            start = part["weight"] + part["exponent"] * arb(t0).log()
            return _Ray({(Q0, 0): start, (Q0, 1): arb(part["exponent"])})

        self.leaf("rays", self.somewhere, side, level(proof), y, self.path(proof["x"], t0, y))
        if kind == "mass":  # f >= t^A on a power of t: E e^PML is infinite
            fits = pml and not still and A <= -spec["power"]
        elif kind == "ratio":  # f_Y is of another order than f, by the kernel on boxes of secrets
            other, B = level(proof["marginal"]), proof["marginal"]["exponent"]
            boxes = [(_rays if still else _balls, *box) for box in proof["marginal"]["boxes"]]
            if pml:
                self.cover([box for _, *box in boxes])
                for box in boxes:
                    self.leaf(f"f_Y on {box[1:]}", self.holds, -1, other, y, *box)
                fits = A < B and not self.atoms and not still  # else x leads t, not y
            else:
                self.leaf("f_Y", self.somewhere, 1, other, y, *boxes)
                fits = (A > B and (A > 0 or not still)) or proof["weight"] == -math.inf
        zero = kind == "ratio" and not pml and proof["weight"] == -math.inf  # f is 0: no constant
        # along a box of secrets f tends to 0 at an end of it: it may have no mass there
        moves = zero or len({*proof["x"].get("box", [0])}) == 1 if still else spec["power"] != 0
        weights = 0.0 if zero else proof["weight"], proof.get("marginal", proof)["weight"]
        some = all(map(math.isfinite, (*weights, A, t0))) and t0 > 0
        self.leaf("argument", lambda: fits and some and moves)
        return spec, ends, INF, INF


def check(certificate: dict | str, checker: Any = _Checker) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    with ctx.workprec(BITS):
        try:
            done = checker(parsed(certificate))
            return Report(not done.failures, done.failures, done.checked, done.scope)
        except Exception as error:  # a certificate that is not one
            return Report(False, [f"certificate: {type(error).__name__}: {error}"], 0, "")
