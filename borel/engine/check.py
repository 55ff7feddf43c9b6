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

from flint import arb, ctx, fmpq

from borel.engine.trace import Graph

BITS, ORDER, BOXES = 128, 10, 3000
Z, INF, NAN, Q0, Q1 = arb(0), arb.pos_inf(), arb.nan(), fmpq(0), fmpq(1)


@dataclass(frozen=True)
class Report:
    """What came of a check: the leaves refused, the number that hold, the outcomes spoken of."""

    ok: bool
    failures: list[str]
    checked: int
    scope: str


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
        moves = any(k != (Q0, 0) for k in self.terms)  # with exact terms, it has few zeros
        exact = all(b.is_exact() and b.is_finite() for b in self.terms.values())
        return 0 if not self.terms else 2 if moves and exact else None

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

    def series(self, first, last):  # the sum of first[i] w^i and last(all w) w^n
        low, high = self.bounds()
        out = _ray(last(low.min(Z).union(high.max(Z))))
        for k in reversed(first):
            out = out * self + k
        return out

    def exp(self):  # c log t becomes t^c
        c = _number(_ray(self.terms.get((Q0, 1), Z)))
        rest = _Ray({k: b for k, b in self.terms.items() if k != (Q0, 1) or c is None})
        w = _Ray({k: b for k, b in rest.terms.items() if k != (Q0, 0)})
        (a, low, high), n = rest.fold(), 0
        if a < 0 and high <= 0:  # e^(k t^a) <= t^n e^k if n <= k a: equal at t = 1, then by slopes
            n = (high * arb(a)).lower().floor().unique_fmpz() or 0
            out = _ray(Z.union(high.exp()))
        elif w.bounds()[0] > -2 and w.bounds()[1] < 2:
            factors = [1 / arb(i).gamma() for i in range(1, ORDER + 1)]
            out = w.series(factors, lambda v: v.exp() / arb(ORDER + 1).gamma())
            out = out * rest.terms.get((Q0, 0), Z).exp()
        else:
            low, high = rest.bounds()
            out = _ray(low.exp().union(high.exp()))
        out = _Ray({(e + n + (c or 0), j): b for (e, j), b in out.terms.items()})
        return _Ray(out.terms, self.d and out * self.d)

    def log(self):  # t^a becomes a log t
        a, low, high = self.fold()
        lead = self.terms.get((a, 0), Z)
        w = _Ray({(e - a, j): b / lead for (e, j), b in self.terms.items() if (e, j) != (a, 0)})
        if lead > 0 and w.bounds()[0] > -0.75:
            factors = [Z] + [-arb((-1) ** i) / i for i in range(1, ORDER)]
            out = w.series(factors, lambda v: -((-1 / (1 + v)) ** ORDER) / ORDER) + lead.log()
        else:  # f = 0 has the logarithm -inf
            out = _ray(low.union(high).log() if low > 0 else NAN if self.terms else -INF)
        out = out + _Ray({(Q0, 1): arb(a)})
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


def _number(u):  # the number that it is, if that is known exactly
    a, low, high = u.fold()
    if a != 0 or not (low == high and low.is_finite()):
        return None
    man, exp = low.man_exp()
    return fmpq(man) * fmpq(2) ** int(exp)


def _pick(test, signs, first, second):  # by the sign of a test; both, if that is not known
    sign, (first, second) = test.sign(), (_ray(first), _ray(second))
    if sign in (-1, 0, 1, *signs):
        return first if sign in signs else second
    low, high = (u.union(v) for u, v in zip(first.bounds(), second.bounds(), strict=True))
    return _Ray({(Q0, 0): low.union(high)}, _ray(NAN))  # it may jump, and has no slope


# fmt: off
FUNCTIONS = {
    "add": lambda u, v: u + v, "subtract": lambda u, v: u - v, "multiply": lambda u, v: u * v,
    "divide": lambda u, v: u * v.pow(-1), "reciprocal": lambda u: u.pow(-1),
    "negative": lambda u: u * -1, "square": lambda u: u.pow(2), "sqrt": lambda u: u.pow(0.5),
    "power": lambda u, v: u.pow(v), "exp": lambda u: u.exp(), "expm1": lambda u: u.exp() - 1,
    "log": lambda u: u.log(), "log1p": lambda u: (u + 1).log(),
    "logaddexp": lambda u, v: (
        u + ((v - u).exp() + 1).log() if (u - v).sign() != -1 else v + ((u - v).exp() + 1).log()),
    "special.gammaln": lambda u: _ray(arb(_number(u)).lgamma()),
    "special.betaln": lambda u, v: sum(
        (_ray(arb(_number(w)).lgamma()) * k for w, k in ((u, 1), (v, 1), (u + v, -1))), _ray(0)),
    "absolute": lambda u: _pick(u, (0, 1), u, u * -1),
    "maximum": lambda u, v: _pick(u - v, (0, 1), u, v),
    "minimum": lambda u, v: _pick(v - u, (0, 1), u, v),
    "where": lambda c, u, v: _pick(c, (-1, 1, 2), u, v),
    "greater": lambda u, v: _pick(u - v, (1,), 1, 0), "less": lambda u, v: _pick(v - u, (1,), 1, 0),
    "greater_equal": lambda u, v: _pick(u - v, (0, 1), 1, 0),
    "less_equal": lambda u, v: _pick(v - u, (0, 1), 1, 0),
    "not_equal": lambda u, v: _pick(u - v, (-1, 1, 2), 1, 0),
    "equal": lambda u, v: _pick(u - v, (-1, 1, 2), 0, 1),
}
# fmt: on


def _run(graph, inputs):
    values = []
    for op, args in graph.nodes:
        if op in ("input", "const"):
            values.append(inputs[args[0]] if op == "input" else _ray(args[0]))
        elif op in FUNCTIONS:
            values.append(FUNCTIONS[op](*(values[i] for i in args)))
        else:
            raise ValueError(f"the operation {op} is not known to the checker")
    return values[-1]


# -- proofs -----------------------------------------------------------------------------------


def _rays(a, b):  # the x in a box, by t from either end; of a half-line, from far out
    if math.isfinite(b - a):
        ends = {(a, b), (b, a)} if a < b else {(a, a)}
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
        *_, a, b = worst = max(boxes, key=lambda box: float(box[1] - box[0]))
        cuts = [a + (b - a) / 4096, a + (b - a) / 2, b - (b - a) / 4096]
        if math.isinf(b - a):
            cuts = [max(1.0, 4 * a) if b == math.inf else min(-1.0, 4 * b)]
        cuts = [a, *sorted(c for c in {*cuts} if a < c < b), b]
        if least > high or most < low or len(cuts) == 2:
            break
        boxes.remove(worst)
        boxes += [(*measure(u, v), u, v) for u, v in zip(cuts, cuts[1:], strict=False)]
    raise ValueError(f"{least} to {most} is not within [{low}, {high}], at worst in [{a}, {b}]")


def _prove(margin, rays, a, b):
    """Prove that margin(x) >= 0 for almost every x in the rays of (a, b)."""

    def shortfall(a, b):
        found = [margin(x).bounds() for x in rays(a, b)]
        if any(low >= 0 for low, _ in found):
            return Z, Z
        return (-arb(1), -arb(1)) if any(high < 0 for _, high in found) else (a - arb(b), Z)

    _refine(shortfall, 0, 0, a, b)


class _Checker:
    """A certificate under check: its densities, and what came of its leaves."""

    def __init__(self, data):
        kernel, prior, claim = data["kernel"], data["prior"], data["claim"]
        self.kernel = Graph.from_json(kernel["graph"]), kernel["log"]
        self.prior = prior["graph"] and (Graph.from_json(prior["graph"]), prior["log"])
        self.ends, self.atoms = (prior["lower"], prior["upper"]), prior["atoms"]
        self.data, self.failures, self.checked, self.scope = data, [], 0, "every outcome"
        if data["format"] != 1 or data["quantity"] not in ("pml", "pmc", "ldp"):
            raise ValueError("neither the format nor the quantity is known to the checker")
        if prior["family"] and self.prior:  # only a label: nothing rests on it
            self.leaf("family", self.named, prior["family"])
        if claim["type"] == "point":
            self.point(**{k: v for k, v in claim.items() if k != "type"})
        elif claim["type"] == "infinite":
            self.infinite(claim["proof"])
        else:
            raise ValueError(f"a claim of the type {claim['type']} is not checkable in this version")

    def leaf(self, name, proof, *args):
        try:
            if proof(*args) is False:
                raise ValueError("it does not hold")
            self.checked += 1
        except Exception as error:  # whatever a wrong certificate leads to, it is not verified
            self.failures.append(f"{name}: {error}")

    def named(self, family):
        return {*family[1].values()} <= {*self.prior[0].constants}

    def log(self, x, y=None):  # log f(y|x), or log p(x)
        graph, log = self.kernel if y else self.prior
        out = _run(graph, {"x": x, "y": y} if y else {"x": x})
        return out if log else out.log()

    def within(self, x):  # the prior's interval, where its density is positive
        low, high = x.bounds()
        return self.ends[0] <= low and high <= self.ends[1] and self.log(x).fold()[1] > -INF

    def charged(self, rays, a, b):
        """Return whether the x in rays(a, b) are proved to have positive prior mass."""
        if a == b:
            return any(x == a and mass > 0 for x, mass, _ in self.atoms)
        ends = [x.bounds() for s in (a, b) for x in rays(s, s)]
        if not all(self.ends[0] <= low and high <= self.ends[1] for low, high in ends):
            return False
        parts = [(a + (b - a) * k, a + (b - a) * (k + 0.01)) for k in (0.2, 0.5, 0.8)]
        return any(self.within(x) for part in parts for x in rays(*part))

    def near(self, margin, spot):
        """Return whether a margin holds on a set of positive prior mass near a spot."""
        step = arb(2) ** -90 * max(1.0, abs(spot))
        sides = [_Ray({(Q0, 0): arb(spot), (Q1, 0): s}) for s in (step, -step)]
        sides = [x for x in sides if self.prior and self.within(x)]
        sides += [_ray(spot)] if self.charged(_rays, spot, spot) else []
        return any(margin(x).bounds()[0] >= 0 for x in sides)

    def cover(self, boxes):
        ends = [self.ends[0], *(end for box in boxes for end in box), self.ends[1]]
        for left, right in zip(ends[::2], ends[1::2], strict=True):
            if left != right:
                raise ValueError(f"there is a gap or an overlap between {left} and {right}")
        return all(a < b for a, b in boxes)

    def integral(self, y, shift, a, b, low, high):
        """Prove that the integral of f p e^-shift over (a, b) is within [low, high]."""

        def measure(a, b):
            best = Z, INF
            for x in _rays(a, b):
                k = min(e or Q1 for e, _ in x.terms)  # x = .. + scale t, or scale / t
                g = (self.log(x, y) + self.log(x) - shift).exp() * abs(x.terms[k, 0])
                if all(e + k > 0 for e, _ in g.terms):
                    total = sum(
                        (b * arb(j).fac() * (-1) ** j / arb(e + k) ** (j + 1)
                         for (e, j), b in g.terms.items()), Z)
                    if total.upper() - total.lower() < best[1] - best[0]:
                        best = total.lower(), total.upper()
            return best

        _refine(measure, low, high, a, b)

    def point(self, y, shift, cells, top, bottom):
        kind, outcome, self.scope = self.data["quantity"], self.data["outcome"], f"y = {y}"
        at, total, found = _ray(y), [Z, Z], {}
        self.leaf("y", lambda: outcome["lower"] <= y <= outcome["upper"])
        cuts = {y, *self.ends, *self.kernel[0].constants, *(self.prior or self.kernel)[0].constants}
        cuts = sorted(c for c in cuts if self.ends[0] <= c <= self.ends[1])
        boxes = [*zip(cuts, cuts[1:], strict=False)] if self.prior else []
        for name, claim, sign in (("top", top, 1), ("bottom", bottom, -1)):
            if kind == {"top": "pmc", "bottom": "pml"}[name]:
                continue
            (low, high, place, *zero), (inner, outer) = claim, claim[:2][::sign]
            for a, b in [*boxes, *((x, x) for x, _, _ in self.atoms)]:
                if outer != sign * math.inf:
                    self.leaf(f"{name} on [{a}, {b}]", _prove,
                              lambda x: (self.log(x, at) - outer) * -sign, _rays, a, b)
            if inner != -sign * math.inf:
                self.leaf(f"{name} near {place}", self.near, lambda x: (self.log(x, at) - inner) * sign, place)
            found[name] = arb(low), arb(high)
        for i, (a, b, low, high) in enumerate(cells or []):
            self.leaf(f"cell {i} [{a}, {b}]", self.integral, at, shift, a, b, low, high)
            total = [total[0] + low, total[1] + high]
        if kind != "ldp" and self.prior: self.leaf("cells", self.cover, [c[:2] for c in cells])
        for x, low, high in self.atoms:
            least, most = (self.log(_ray(x), at) - shift).exp().bounds()
            total = [total[0] + low * least, total[1] + high * most]
        found["f_Y"] = [(t.log() if t > 0 else -INF) + shift for t in total]
        over, under = {"pml": ("top", "f_Y"), "pmc": ("f_Y", "bottom"), "ldp": ("top", "bottom")}[kind]
        low, high = (found[over][i] - found[under][1 - i] for i in (0, 1))
        self.leaf("bound", lambda: self.data["lower"] <= low.max(Z) and high <= self.data["upper"])

    def infinite(self, proof):
        kind, quantity, spec = proof["kind"], self.data["quantity"], proof["y"]
        self.leaf("bound", lambda: self.data["lower"] == self.data["upper"] == math.inf)
        if kind == "zero":
            y = self.outcomes(spec)
            for name, box, f in (("zero", proof["x"], -1), ("positive", proof["positive"], 1)):
                self.leaf(f"{name} {box}", self.charged, _rays, *box)
                self.leaf(f"{name} {box}: f", _prove, lambda x: self.vanishes(x, y, f), _rays, *box)
            self.leaf("quantity", lambda: quantity != "pml")
            return
        t0 = math.ldexp(0.5, math.frexp(proof["t0"])[1])  # a power of two below: it is enough
        sign = arb(spec.get("sign", spec.get("infinity", 1)))
        if "box" in spec:
            y = self.outcomes(spec["box"])
        else:
            y = _Ray({(-Q1, 0): sign / t0} if "infinity" in spec else {(Q0, 0): arb(spec["base"]), (Q1, 0): sign * t0})
            self.leaf("y", self.inside, y)
        def line(A, w): return _Ray({(Q0, 0): arb(w) + arb(A) * arb(t0).log(), (Q0, 1): arb(A)})
        if kind == "slope":
            margin = lambda x: self.log(_Ray(x.terms, _ray(1)), y).d * proof["sign"] - _Ray({(_q(proof["exponent"]), 0): arb(proof["weight"]).exp() * arb(t0) ** arb(proof["exponent"])})
            self.leaf("slope", _prove, margin, lambda a, b: [_ray(arb(a).union(arb(b)))], *self.ends)
            self.leaf("conclusion", lambda: proof["exponent"] < 0 and not self.atoms and "box" not in spec)
            return
        rays, a, b = self.leading(proof["x"], y, t0)
        A, w, side = proof["exponent"], proof["weight"], 1 if kind == "mass" else -1
        self.leaf("x", self.charged, rays, a, b)
        self.leaf("f at x", _prove, lambda x: (self.log(x, y) - line(A, w)) * side, rays, a, b)
        if kind == "mass":
            far = "infinity" in spec
            self.leaf("conclusion", lambda: quantity != "pmc" and "box" not in spec and (far or not self.data["outcome"]["countable"]) and A <= (1 if far else -1))
        elif kind == "ratio":
            other = proof["marginal"]
            rays, a, b = self.leading({"box": other["boxes"][0]}, y, t0)
            self.leaf("marginal x", self.charged, rays, a, b)
            self.leaf("marginal", _prove, lambda x: self.log(x, y) - line(other["exponent"], other["weight"]), rays, a, b)
            self.leaf("conclusion", lambda: quantity != "pml" and other["exponent"] < A)
        else: raise ValueError

    def vanishes(self, x, y, sign):
        _, low, high = self.log(x, y).fold()
        return _ray(0 if (high == -INF if sign < 0 else low > -INF) else NAN)

    def leading(self, spec, y, t0):
        if "atom" in spec:
            return _rays, spec["atom"], spec["atom"]
        still = set(y.terms) <= {(Q0, 0)}
        if "box" in spec and still: return _rays, *spec["box"]
        p, k = spec.get("power", 0.0), spec.get("sign", spec.get("infinity", 1))
        p = -p if "infinity" in spec else p
        step = arb(t0) ** arb(p) * k
        origin = y if spec.get("diagonal") else _ray(spec.get("base", 0.0))
        def rays(a, b): return [origin + _Ray({(_q(p), 0): step * arb(a).union(arb(b))})]
        return rays, *(spec.get("s") or spec["box"])

    def outcomes(self, box):
        a, b = box
        self.leaf("y", lambda: self.data["outcome"]["lower"] <= a and b <= self.data["outcome"]["upper"] and (math.ceil(a) <= b if self.data["outcome"]["countable"] else a<=b))
        if a == b and not self.data["outcome"]["countable"]: self.scope = f"y = {a}"
        return _ray(arb(a).union(arb(b)))

    def inside(self, y):
        low, high = y.bounds()
        return self.data["outcome"]["lower"] <= low and high <= self.data["outcome"]["upper"]


def _q(x): return fmpq(*float(x).as_integer_ratio())


def _plain(data):
    if isinstance(data, dict):
        return {k: v if k == "graph" else _plain(v) for k, v in data.items()}
    if isinstance(data, list):
        return [_plain(v) for v in data]
    try:
        value = float.fromhex(data) if isinstance(data, str) else data
    except ValueError:
        return data
    if value != value:
        raise ValueError("NaN")
    return value


def check(certificate: dict | str) -> Report:
    """Verify a certificate."""
    before, ctx.prec = ctx.prec, BITS
    try:
        c = _Checker(_plain(json.loads(certificate) if isinstance(certificate, str) else certificate))
        return Report(not c.failures and c.checked > 0, c.failures, c.checked, c.scope)
    except Exception as error:
        return Report(False, [f"certificate: {type(error).__name__}: {error}"], 0, "")
    finally:
        ctx.prec = before
