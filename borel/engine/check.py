"""Check certificates again, with none of the code that made them: the part to trust, and to read.

Each leaf of a certificate is proved again from the graphs of f(y|x) and p(x), by one arithmetic on
Arb balls: a `_Ray` holds for all t in (0, 1] at once. A box of x is a + (b - a) t, a half-line is
a / t; or t leads an outcome, and x with it, to where something becomes infinite. What is in doubt
is refused. Taken on trust: Arb, the tracer of densities, and that f(.|x) and p integrate to 1.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import partial

from flint import arb, ctx, fmpq

from borel.engine.trace import Graph

BITS, ORDER, BOXES = 128, 10, 2000
Z, INF, NAN, Q0, Q1 = arb(0), arb.pos_inf(), arb.nan(), fmpq(0), fmpq(1)


@dataclass(frozen=True)
class Report:
    """What came of a check: the leaves refused, the number that hold, the outcomes spoken of."""

    ok: bool
    failures: list[str]
    checked: int
    scope: str


# -- arithmetic -----------------------------------------------------------------------------------


class _Ray:
    """A sum of balls times t^e (log t)^j, for every t in (0, 1] at once; NaN is not known."""

    def __init__(self, terms, d=None):
        self.terms = {k: b for k, b in sorted(terms.items()) if not b == 0}  # (e, j): ball
        self.d = d  # the derivative in x; None is 0
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

    def sign(self):  # for almost every t; 2 if it is not 0 at least, None if not known
        _, low, high = self.fold()
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        exact = all(b.is_exact() and b.is_finite() for b in self.terms.values())  # few zeros
        return 0 if not self.terms else 2 if exact and set(self.terms) != {(Q0, 0)} else None

    def __add__(self, other):
        other, terms = _ray(other), dict(self.terms)
        for k, b in other.terms.items():
            terms[k] = terms.get(k, Z) + b
        return _Ray(terms, self.d + other.d if self.d and other.d else self.d or other.d)

    def __sub__(self, other):
        return self + _ray(other) * -1

    def __mul__(self, other):
        p, q, out = self, _ray(other), {}
        for (e, j), b in p.terms.items():
            for (f, k), c in q.terms.items():
                out[e + f, j + k] = out.get((e + f, j + k), Z) + b * c
        slopes = [u.d * _Ray(v.terms) for u, v in ((p, q), (q, p)) if u.d]
        return _Ray(out, sum(slopes[1:], slopes[0]) if slopes else None)

    def series(self, factors, last):  # sum of factors[i] w^i, and last(all w) w^n
        low, high = self.bounds()
        out = _ray(last(low.min(Z).union(high.max(Z))))
        for factor in reversed(factors):
            out = out * self + factor
        return out

    def exp(self):  # c log t becomes t^c
        c = _number(_ray(self.terms.get((Q0, 1), Z)))
        rest = _Ray({k: b for k, b in self.terms.items() if k != (Q0, 1) or c is None})
        (a, _, high), start, n = rest.fold(), rest.terms.pop((Q0, 0), Z), 0
        if a < 0 and high <= 0:  # e^(k t^a) <= t^n e^k if n <= k a: equal at t = 1, then by slopes
            n, out = (high * arb(a)).lower().floor().unique_fmpz() or 0, _ray(Z.union(high.exp()))
        else:
            factors = [1 / arb(i).fac() for i in range(ORDER)]
            out = rest.series(factors, lambda v: v.exp() / arb(ORDER).fac()) * start.exp()
        out = _Ray({(e + n + (c or 0), j): b for (e, j), b in out.terms.items()})
        return _Ray(out.terms, self.d and out * self.d)

    def log(self):  # t^a becomes a log t; log 0 is -inf
        a, lead = next(((e, b) for (e, j), b in self.terms.items() if j == 0), (Q0, Z))
        w = _Ray({(e - a, j): b / lead for (e, j), b in self.terms.items() if (e, j) != (a, 0)})
        factors = [Z] + [-arb((-1) ** i) / i for i in range(1, ORDER)]
        out = w.series(factors, lambda v: -((-1 / (1 + v)) ** ORDER) / ORDER)
        out = out + _Ray({(Q0, 0): lead.log() if self.terms else -INF, (Q0, 1): arb(a)})
        return _Ray(out.terms, self.d and self.d * _Ray(self.terms).pow(-1))

    def pow(self, power):
        n, k = _number(self), _number(_ray(power))
        if n is not None and k is not None:
            return _ray(arb(n) ** arb(k))
        if k is not None and k.q == 1 and self.sign() == -1:
            return (self * -1).pow(power) * (-1) ** int(k.p)
        if k is not None and k.q == 1 and 0 < k < 9:
            return math.prod([self] * int(k.p), start=_ray(1))
        return (self.log() * power).exp()


def _ray(value):
    return value if isinstance(value, _Ray) else _Ray({(Q0, 0): arb(value)})


def _ball(a, b):
    return _ray(arb(a).union(arb(b)))


def _number(u):  # the number that it is, if that is known exactly
    a, low, high = u.fold()
    if a != 0 or not (low == high and low.is_finite()):
        return None
    man, exp = low.man_exp()
    return fmpq(man) * fmpq(2) ** int(exp)


def _pick(test, signs, first, second):  # by the sign of a test; both, if that is not known
    sign, first, second = test.sign(), _ray(first), _ray(second)
    if sign in (-1, 0, 1, *signs):
        return first if sign in signs else second
    low, high = (u.union(v) for u, v in zip(first.bounds(), second.bounds(), strict=True))
    return _Ray({(Q0, 0): low.union(high)}, _ray(NAN))  # it may jump, and has no slope


# fmt: off
_UP, _NOT_0 = (0, 1), (-1, 1, 2)
FUNCTIONS = {
    "add": lambda u, v: u + v, "subtract": lambda u, v: u - v, "multiply": lambda u, v: u * v,
    "divide": lambda u, v: u * v.pow(-1), "negative": lambda u: u * -1, "log": lambda u: u.log(),
    "power": lambda u, v: u.pow(v), "square": lambda u: u.pow(2), "sqrt": lambda u: u.pow(0.5),
    "exp": lambda u: u.exp(), "expm1": lambda u: u.exp() - 1, "log1p": lambda u: (u + 1).log(),
    "logaddexp": lambda u, v: (
        u + ((v - u).exp() + 1).log() if (u - v).sign() != -1 else v + ((u - v).exp() + 1).log()),
    "special.gammaln": lambda u: _ray(arb(_number(u)).lgamma()),
    "special.betaln": lambda u, v: _ray(
        arb(_number(u)).lgamma() + arb(_number(v)).lgamma() - arb(_number(u + v)).lgamma()),
    "absolute": lambda u: _pick(u, _UP, u, u * -1), "where": lambda c, u, v: _pick(c, _NOT_0, u, v),
    "maximum": lambda u, v: _pick(u - v, _UP, u, v), "greater": lambda u, v: _pick(u - v, (1,), 1, 0),
    "minimum": lambda u, v: _pick(v - u, _UP, u, v), "less": lambda u, v: _pick(v - u, (1,), 1, 0),
    "greater_equal": lambda u, v: _pick(u - v, _UP, 1, 0), "equal": lambda u, v: _pick(u - v, _NOT_0, 0, 1),
    "less_equal": lambda u, v: _pick(v - u, _UP, 1, 0), "not_equal": lambda u, v: _pick(u - v, _NOT_0, 1, 0),
}
# fmt: on


def _rays(a, b):  # the x in a box, by t from either end; those of a half-line, by 1 / t
    if math.isfinite(b - a):
        ends = [(a, b), (b, a)] if a < b else [(a, a)]
        return [_Ray({(Q0, 0): arb(p), (Q1, 0): arb(q) - p}) for p, q in ends]
    return [_Ray({(-Q1, 0): arb(p)}) for p, q in ((a, b), (b, a)) if p * q == math.inf > abs(p)]


def _refine(measure, low, high, a, b):
    """Prove that measure(box), summed over boxes that make up (a, b), is within [low, high]."""
    boxes = [(*measure(a, b), a, b)]
    for _ in range(BOXES):
        least, most = (sum((box[i] for box in boxes), Z) for i in (0, 1))
        if low <= least and most <= high:
            return
        boxes = [box for box in boxes if not box[0] == 0 == box[1]]
        boxes.sort(key=lambda box: float(box[1] - box[0]))
        *_, a, b = boxes.pop()
        cuts = [a + (b - a) / 4096, a + (b - a) / 2, b - (b - a) / 4096]
        if math.isinf(b - a):
            cuts = [max(1.0, 4 * a) if b == math.inf else min(-1.0, 4 * b)]
        cuts = [a, *sorted(c for c in {*cuts} if a < c < b), b]
        if least > high or most < low or len(cuts) == 2:
            break
        boxes += [(*measure(u, v), u, v) for u, v in zip(cuts, cuts[1:], strict=False)]
    raise ValueError(f"{float(least)} to {float(most)}, not within [{low}, {high}], in ({a}, {b})")


class _Checker:
    """A certificate under check: its densities, and what came of its leaves."""

    def __init__(self, data):
        prior, claim = data["prior"], data["claim"]
        self.kernel, self.prior = (
            d["graph"] and (Graph.from_json(d["graph"]), d["log"]) for d in (data["kernel"], prior)
        )
        self.ends, self.atoms, self.data = (prior["lower"], prior["upper"]), prior["atoms"], data
        self.failures, self.checked, self.scope = [], 0, "every outcome"
        numbers = self.prior[0].constants if self.prior else []
        for name, number in (prior["family"] or ["", {}])[
            1
        ].items():  # a label: nothing rests on it
            self.leaf(f"family, {name}", numbers.index, number)
        self.leaf("atoms", lambda: all(0 <= low <= high for _, low, high in self.atoms))
        self.leaf(
            "format", lambda: (data["format"] == 1) is (data["quantity"] in ("pml", "pmc", "ldp"))
        )
        {"point": self.point, "infinite": self.infinite}[claim["type"]](claim)

    def leaf(self, name, proof, *args):
        try:
            if proof(*args) is False:
                raise ValueError("it does not hold")
            self.checked += 1
        except Exception as error:  # whatever a wrong certificate leads to, it is not verified
            self.failures.append(f"{name}: {error}")

    def density(self, log, x, y=None):  # f(y|x), or p(x); or its logarithm
        graph, logged = self.kernel if y else self.prior
        out = _run(graph, {"x": x, "y": y} if y else {"x": x})
        return out if log == logged else out.log() if log else out.exp()

    def margins(self, side, y, line, x):  # of f above (side 1) or below (-1) e^line
        exact = self.density(True, x, y) - line, self.density(False, x, y) - line.exp()
        return [margin * side for margin in exact]

    def holds(self, margins, rays, a, b):
        """Prove that margin(x) >= 0 for almost every x in rays(a, b)."""

        def shortfall(a, b):
            found = [margin.bounds() for x in rays(a, b) for margin in margins(x)]
            if any(low >= 0 for low, _ in found):
                return Z, Z
            return (Z - 1, Z - 1) if any(high < 0 for _, high in found) else (arb(a) - b, Z)

        _refine(shortfall, 0, 0, a, b)

    def somewhere(self, margins, *regions):
        """Prove that margin(x) >= 0 for x in one of the regions, and that it has prior mass."""
        for rays, a, b in regions:
            ends = [x.bounds() for s in (a, b) for x in rays(s, s)]
            inside = all(self.ends[0] <= low and high <= self.ends[1] for low, high in ends)
            parts = [(a + (b - a) * k / 8, a + (b - a) * (k + 1) / 8) for k in range(8)]
            dense = a < b and any(
                self.density(True, x).fold()[1] > -INF for p in parts for x in rays(*p)
            )
            if any(x == a == b and mass > 0 for x, mass, _ in self.atoms) or (inside and dense):
                try:
                    return self.holds(margins, rays, a, b)
                except ValueError:
                    pass
        raise ValueError("not proved on a set of positive prior mass")

    def integral(self, y, shift, edge, a, b, low, high):
        """Prove that the integral of f p e^-shift over (a, b) is in [low, high]; a is the edge."""

        def measure(a, b):
            best = Z, INF
            for x in _rays(a, b):
                k, scale = next((e, abs(v)) for (e, _), v in x.terms.items() if e != 0)
                g = (self.density(True, x, y) + self.density(True, x) - shift).exp() * scale
                parts = [
                    v * arb(j).fac() * (-1) ** j / arb(e + k) ** (j + 1)
                    for (e, j), v in g.terms.items()
                    if e + k > 0
                ]
                total = sum(parts, Z)
                if len(parts) == len(g.terms) and total.upper() - total.lower() < best[1] - best[0]:
                    best = total.lower(), total.upper()
            return best

        if not edge == a < b:
            raise ValueError(f"there is a gap or an overlap from {edge} to {a}")
        _refine(measure, low, high, a, b)

    def point(self, claim):
        y, kind, edge, total = claim["y"], self.data["quantity"], self.ends[0], [Z, Z]
        at, self.scope, found = _ray(y), f"y = {y}", {}
        self.leaf("y", self.within, y, y)
        graphs = [density[0] for density in (self.kernel, self.prior) if density]
        cuts = {y, *self.ends, *(c for graph in graphs for c in graph.constants)}  # kinks, often
        cuts = sorted(c for c in cuts if self.ends[0] <= c <= self.ends[1])
        boxes = [*zip(cuts, cuts[1:], strict=False)] if self.prior else []
        boxes += [(x, x) for x, *_ in self.atoms]
        for name, side, other in (("top", -1, "pmc"), ("bottom", 1, "pml")):
            if kind == other:
                continue
            low, high, place, *zero = claim[name]
            found[name], (outer, inner) = (arb(low), arb(high)), (high, low)[::-side]
            bounding = partial(self.margins, side, at, _ray(outer))
            for box in boxes if outer != -side * math.inf else []:
                self.leaf(f"{name} on {box}", self.holds, bounding, _rays, *box)
            step = arb(2) ** -90 * max(1.0, abs(place))
            near = zero or [(place, place), (arb(place), place + step), (place - step, arb(place))]
            if inner != side * math.inf:
                attained = partial(self.margins, -side, at, _ray(inner))
                self.leaf(
                    f"{name} near {place}",
                    self.somewhere,
                    attained,
                    *((_rays, *box) for box in near),
                )
        for i, (a, b, low, high) in enumerate(claim["cells"] if kind != "ldp" else []):
            self.leaf(
                f"cell {i} [{a}, {b}]", self.integral, at, claim["shift"], edge, a, b, low, high
            )
            edge, total = b, [total[0] + low, total[1] + high]
        self.leaf("cells", lambda: kind == "ldp" or not self.prior or edge == self.ends[1])
        for x, *mass in self.atoms:
            f = (self.density(True, _ray(x), at) - claim["shift"]).exp().bounds()
            total = [u + v * m for u, v, m in zip(total, f, mass, strict=True)]
        found["f_Y"] = [(t.log() if t > 0 else -INF) + (claim["shift"]) for t in total]
        over, under = {"pml": ("top", "f_Y"), "pmc": ("f_Y", "bottom"), "ldp": ("top", "bottom")}[
            kind
        ]
        low, high = (found[over][i] - found[under][1 - i] for i in (0, 1))
        self.leaf("bound", lambda: self.data["lower"] <= low.max(Z) and high <= self.data["upper"])

    def infinite(self, claim):
        proof, kind, quantity = claim["proof"], claim["proof"]["kind"], self.data["quantity"]
        spec = proof["y"] if isinstance(proof["y"], dict) else {"box": proof["y"]}
        t0 = math.ldexp(0.5, math.frexp(proof.get("t0", 1.0))[1])  # a power of two below is enough
        far, many, still = "infinity" in spec, self.data["outcome"]["countable"], "box" in spec
        sign = spec.get("sign", spec.get("infinity"))
        if still:
            y, ends = _ball(*spec["box"]), spec["box"]
            self.scope = f"y = {ends[0]}" if ends[0] == ends[1] and not many else self.scope
            self.leaf("y, an integer", lambda: not many or math.ceil(ends[0]) <= ends[1])
        else:
            y = {(-Q1, 0): sign / arb(t0)} if far else {(Q0, 0): arb(spec["base"]), (Q1, 0): arb(sign * t0)}
            y, ends = _Ray(y), _Ray(y).bounds()
        self.leaf("y", self.within, *ends)

        def line(part):
            start = part["weight"] + part["exponent"] * arb(t0).log()
            return _Ray({(Q0, 0): start, (Q0, 1): arb(part["exponent"])})

        def steep(x):
            return [self.density(True, _Ray(x.terms, _ray(1)), y).d * proof["sign"] - line(proof).exp()]

        other = proof.get("marginal", {"exponent": math.inf, "weight": 0.0, "boxes": [None]})
        A = proof.get("exponent", 0.0)
        leaves, ok = {
            "zero": lambda: (
                [(-1, _ray(-INF), {"box": proof["x"]}), (1, _ray(-1000), {"box": proof["positive"]})],
                quantity != "pml",
            ),
            "mass": lambda: (
                [(1, line(proof), proof["x"])],
                quantity != "pmc" and not still and (A <= 1 if far else A <= -1 and not many),
            ),
            "ratio": lambda: ([(-1, line(proof), proof["x"]), (1, line(other), {"box": other["boxes"][0]})],
                quantity != "pml" and other["exponent"] < A),
            "slope": lambda: ([], A < 0 and not still and not self.atoms),
        }[kind]()
        for side, level, where in leaves:
            self.leaf(f"{where}", self.somewhere, partial(self.margins, side, y, level), self.region(where, y, t0))
        if kind == "slope":
            self.leaf("slope", self.holds, steep, lambda a, b: [_ball(a, b)], *self.ends)
        self.leaf("conclusion", lambda: ok)
        self.leaf("bound", lambda: self.data["lower"] == self.data["upper"] == math.inf)

    def region(self, spec, y, t0):
        """Return rays, a, b: the x of a region."""
        if "atom" in spec:
            return _rays, spec["atom"], spec["atom"]
        if "box" in spec and set(y.terms) <= {(Q0, 0)}:
            return _rays, *spec["box"]
        p, k = spec.get("power", 0.0), spec.get("sign", spec.get("infinity", 1))
        p = -p if "infinity" in spec else p
        start = y if "diagonal" in spec else _ray(spec.get("base", 0.0))
        step = _Ray({(_number(_ray(p)), 0): k * arb(t0) ** arb(p)})
        return lambda a, b: [start + step * _ball(a, b)], *spec.get("s", spec.get("box"))

    def within(self, low, high):
        return self.data["outcome"]["lower"] <= low and high <= self.data["outcome"]["upper"]


def _plain(data):
    """Return a certificate with floats for their hexadecimal strings."""
    if isinstance(data, dict):
        return {k: v if k == "graph" else _plain(v) for k, v in data.items()}
    if isinstance(data, list):
        return [_plain(v) for v in data]
    try:
        return float.fromhex(data)
    except (TypeError, ValueError):
        return data


def check(certificate: dict | str) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    before, ctx.prec = ctx.prec, BITS
    try:
        data = json.loads(certificate) if isinstance(certificate, str) else certificate
        done = _Checker(_plain(data))
        return Report(not done.failures, done.failures, done.checked, done.scope)
    except Exception as error:
        return Report(False, [f"certificate: {type(error).__name__}: {error}"], 0, "")
    finally:
        ctx.prec = before
