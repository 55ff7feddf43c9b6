"""Check certificates of suprema over continuous outcomes: the part to trust, and to read.

On a box of outcomes and a cell of secrets a graph runs on `_Model`: a polynomial in s (the secret)
and u (the outcome), both in [-1, 1], with Arb balls of 128 bits as coefficients, beside the range
of its values. On an unbounded box of outcomes f(y|x) is known through the increments of log f in x
only, in units of f(y|x0). Boxes are halved until the claim is proved on each; what is in doubt is
refused. Taken on trust: Arb, the tracer of densities, that f(.|x) and p integrate to 1, and the
theorem for f_Y, if the certificate has one.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial, reduce
from itertools import pairwise

from flint import arb, arb_series, ctx

from borel.engine.continuous.check import INF, Report, Z, _Checker, _middle, check
from borel.engine.graphs.trace import Graph

DEGREE, BOXES, CELLS, NAN, ONE = 6, 20_000, 200, arb("nan"), (0, 0)


class _Model:
    """Terms {(i, j): ball} of s^i u^j: for any s and u, coefficients are somewhere in the balls.

    The constant term does not vary with s where ``steady``; ``low`` and ``high`` bound all values.
    """

    def __init__(self, terms, low=-INF, high=INF, steady=True):
        self.terms, self.steady, over = {}, steady, {}
        for (i, j), b in terms.items():
            if i + j <= DEGREE:
                self.terms[i, j] = b
            else:  # |s| and |u| are at most 1
                key = (DEGREE - j, j) if j < DEGREE else (0, DEGREE)
                over[key] = over.get(key, Z) + arb(0, abs(b).upper())
        for k, b in over.items():
            self.terms[k] = self.terms.get(k, Z) + b
        self.terms = {k: b for k, b in self.terms.items() if not b == 0}
        self.start = self.terms.get(ONE, Z)
        rest = sum((abs(b).upper() for k, b in self.terms.items() if k != ONE), Z)
        least, most = (self.start - rest).lower(), (self.start + rest).upper()
        self.low = least if least > low else -INF if low.is_nan() else low.lower()
        self.high = most if most < high else INF if high.is_nan() else high.upper()

    def __add__(self, other):
        other, terms = _model(other), dict(self.terms)
        for k, b in other.terms.items():
            terms[k] = terms.get(k, Z) + b
        steady = self.steady and other.steady
        return _Model(terms, self.low + other.low, self.high + other.high, steady)

    def __mul__(self, other):
        other, terms = _model(other), {}
        for (i, j), b in self.terms.items():
            for (k, m), c in other.terms.items():
                terms[i + k, j + m] = terms.get((i + k, j + m), Z) + b * c
        pairs = [(p, q) for p in (self.low, self.high) for q in (other.low, other.high)]
        ends = _range([Z if p == 0 or q == 0 else p * q for p, q in pairs])
        return _Model(terms, *ends, self.steady and other.steady)

    def __sub__(self, other):
        return self + _model(other) * -1

    def signs(self):  # those that it may have, but on a null set
        if self.low > 0 or self.high < 0:
            return {1} if self.low > 0 else {-1}
        exact = all(b.is_exact() and b.is_finite() for b in self.terms.values())
        if exact and set(self.terms) - {ONE}:  # a polynomial that is not constant: few zeros
            return {1} if self.low >= 0 else {-1} if self.high <= 0 else {1, -1}
        return {0, 1, -1} if self.terms else {0}

    def apply(self, function, low, high):  # an analytic function, by Taylor's formula
        w = _Model({k: b for k, b in self.terms.items() if k != ONE})
        order = DEGREE if w.terms else 0
        whole = self.start.union(self.low).union(self.high) if order else self.start
        try:
            out = _model(function(arb_series([whole, 1], order + 1))[order])
            parts = function(arb_series([self.start, 1], DEGREE))
        except (ValueError, ZeroDivisionError):
            out, parts = _model(NAN), [NAN] * DEGREE
        for k in reversed(range(order)):
            out = out * w + parts[k]
        return _Model(out.terms, low, high, self.steady)

    def positive(self):  # it is known not to be negative
        return _Model(self.terms, self.low.max(Z), self.high, self.steady)

    def doubt(self, varies=False):  # how little is known of it; with what varies with s
        more = sum((abs(b).upper() for (i, _), b in self.terms.items() if i and varies), Z)
        return self.start.rad() + more


def _model(value):
    return value if isinstance(value, _Model) else _Model({ONE: arb(value)})


def _range(values):
    return reduce(arb.min, values), reduce(arb.max, values)


def _between(low, high):  # nothing is known but the range
    return _Model({ONE: low.union(high)}, low, high, steady=False)


def _rising(name, v, at_zero=None):  # an increasing function; at_zero is its value there
    ends = [getattr(e, name)() if at_zero is None or e > 0 else at_zero for e in (v.low, v.high)]
    if at_zero is None or v.low > 0:
        return v.apply(getattr(arb_series, name), *ends)
    return _between(ends[0] if v.low >= 0 else -INF, ends[1])


_exp, _log = partial(_rising, "exp"), partial(_rising, "log", at_zero=-INF)


def _function(name, v):
    found = getattr(v.low.union(v.high), name)()
    return v.apply(getattr(arb_series, name), found.lower(), found.upper())


def _reciprocal(v):
    if v.low > 0 or v.high < 0:
        return v.apply(arb_series.inv, 1 / v.high, 1 / v.low)
    return _between(1 / v.high if v.low >= 0 and v.high > 0 else -INF, INF)


def _power(v, k):
    n = k.start if k.steady and set(k.terms) <= {ONE} else NAN
    if n == 0.5:
        return _rising("sqrt", v, Z)
    if not (n.is_integer() and abs(n) < 9):
        return _exp(_log(v) * k) if v.low >= 0 else _between(-INF, INF)
    n = round(float(n))
    out = math.prod([v] * abs(n), start=_model(1))
    return _reciprocal(_power(v, _model(-n))) if n < 0 else out if n % 2 else out.positive()


def _pick(test, wanted, first, second):  # by the sign of a test
    chosen = {sign in wanted for sign in test.signs()}
    v = first if True in chosen else second
    if len(chosen) > 1:
        v = _between(*_range([first.low, first.high, second.low, second.high]))
    # a jump may be at the edge of a cell, a null set: it is not steady
    sure = test.low > 0 or test.high < 0 or not test.terms
    return _Model(v.terms, v.low, v.high, v.steady and test.steady and sure)


def _either(test, first, second):  # the first where the test >= 0; both are equal where it is 0
    v = first if test.low >= 0 else second if test.high <= 0 else _pick(test, _UP, first, second)
    return _Model(v.terms, v.low, v.high, v.steady and test.steady)


def _logaddexp(u, v):
    least, most = (u, v) if (u - v).high <= 0 else (v, u)
    return most + _log(_exp(least - most) + 1)


def _betaln(u, v):
    return _function("lgamma", u) + _function("lgamma", v) - _function("lgamma", u + v)


_UP, _NOT_0, _YES, _NO = {0, 1}, {-1, 1}, _model(1), _model(0)
_if = lambda test, first, second: _pick(test, _NOT_0, first, second)  # noqa: E731
# fmt: off
_SIGNS = {"greater": {1}, "less": {-1}, "greater_equal": _UP, "less_equal": {-1, 0},
          "equal": {0}, "not_equal": _NOT_0}  # of u - v
_CALLS = {"sin": "sin", "cos": "cos", "arctan": "atan", "gammaln": "lgamma", "erf": "erf"}
FUNCTIONS = {
    "add": lambda u, v: u + v, "subtract": lambda u, v: u - v, "multiply": lambda u, v: u * v,
    "divide": lambda u, v: u * _reciprocal(v), "reciprocal": _reciprocal, "power": _power,
    "negative": lambda u: u * -1, "square": lambda u: (u * u).positive(), "exp": _exp,
    "log": _log, "log1p": lambda u: _log(u + 1), "expm1": lambda u: _exp(u) + -1,
    "sqrt": lambda u: _rising("sqrt", u, Z), "xlogy": lambda u, v: u * _log(v),
    "expit": lambda u: _reciprocal(_exp(u * -1) + 1), "logaddexp": _logaddexp, "betaln": _betaln,
    "tanh": lambda u: _reciprocal(_exp(u * -2) + 1) * 2 + -1, "where": _if,
    "absolute": lambda u: _either(u, u, u * -1).positive(),
    "maximum": lambda u, v: _either(u - v, u, v), "minimum": lambda u, v: _either(u - v, v, u),
    "logical_not": lambda u: _if(u, _NO, _YES),
    "logical_and": lambda u, v: _if(u, _if(v, _YES, _NO), _NO),
    "logical_or": lambda u, v: _if(u, _YES, _if(v, _YES, _NO)),
    **{op: lambda u, v, s=s: _pick(u - v, s, _YES, _NO) for op, s in _SIGNS.items()},
    **{op: partial(_function, name) for op, name in _CALLS.items()},
}
# fmt: on


def _run(density, log, **named):
    """Return f(y|x), or p(x); or its logarithm, that of a product through those of its factors."""
    (graph, logged), values = density, {}

    def value(k):
        if k not in values:
            op, args = graph.nodes[k]
            if op in ("input", "const"):
                values[k] = named[args[0]] if op == "input" else _model(args[0])
            else:
                values[k] = FUNCTIONS[op.removeprefix("special.")](*map(value, args))
        return values[k]

    def logarithm(k):
        op, args = graph.nodes[k]
        if op in ("multiply", "divide"):
            first, second = map(logarithm, args)
            return first + second if op == "multiply" else first - second
        return value(args[0]) if op == "exp" else _log(value(k))

    last = len(graph.nodes) - 1
    if log:
        return value(last) if logged else logarithm(last)
    return _exp(value(last)) if logged else value(last)


def _axis(a, b, *key):
    """Return the coordinate on a box, by s or by u."""
    low, high = arb(a), arb(b)
    if not math.isfinite(b - a):
        return _Model({ONE: arb(0, INF)}, low, high, key != (1, 0))
    return _Model({ONE: (low + high) / 2, key: (high - low) / 2}, low, high)


def _integral(v, a, b):
    """Integrate over s: a coefficient that varies keeps odd powers alive."""
    out, half = {}, (arb(b) - arb(a)) / 2
    for (i, j), b in v.terms.items():
        b = b if i % 2 == 0 else arb(0, b.rad())
        out[0, j] = out.get((0, j), Z) + b * half * 2 / (i + 1)
    return _Model(out)


class _Outcomes(_Checker):
    """A certificate under check: its densities, and what came of its leaves."""

    def __init__(self, data):
        self.data, self.claim, prior = data, data["claim"], data["prior"]
        self.f = Graph.from_json(data["kernel"]["graph"]), data["kernel"]["log"]
        self.p = prior["graph"] and (Graph.from_json(prior["graph"]), prior["log"])
        self.marginal = self.claim["marginal"] and (Graph.from_json(self.claim["marginal"]), True)
        self.atoms = {x: arb(p).union(arb(q)) for x, p, q in prior["atoms"] if 0 <= p <= q}
        self.ends: tuple = (prior["lower"], prior["upper"]) if self.p else ()
        self.top, self.bottom = (arb(data[end]).exp() for end in ("upper", "lower"))
        self.edges = {*self.ends, *self.atoms, *self.claim["edges"]}
        if self.p:
            self.edges = {x for x in self.edges if self.ends[0] <= x <= self.ends[1]}
        # a posterior probability is at most 1: PML is at most log 1 / p_min
        rare = all(w * self.top >= 1 for w in self.atoms.values()) and not self.p
        self.certain = data["upper"] == math.inf or (rare and data["quantity"] == "pml")
        self.priors: dict = {}
        self.failures, self.checked, self.scope = [], 0, "the supremum over the outcomes"
        self.leaf("format", lambda: data["format"] == 3 and len(self.atoms) == len(prior["atoms"]))
        self.leaf("quantity", lambda: data["quantity"] in ("pml", "pmc", "ldp"))
        # flint cuts series off, without a word, where ctx.cap says
        logs = isinstance(self.f[1], bool) and isinstance(prior["log"], bool) and ctx.cap > DEGREE
        self.leaf("header", lambda: logs and (not self.p or self.ends[0] < self.ends[1]))
        line, cover = data["outcome"], self.claim["cover"]
        whole = [line["lower"], line["upper"]] == [cover[0], cover[-1]] and line["points"] is None
        self.leaf("cover", lambda: whole and all(a < b for a, b in pairwise(cover)))
        self.leaf("peak", self.peak, *self.claim["peak"]["y"])
        for a, b in pairwise(cover):
            self.leaf(f"outcomes ({a}, {b})", self.everywhere, a, b)

    def everywhere(self, a, b):
        """Prove the bound from above on boxes of outcomes that make up (a, b)."""
        todo, boxes = [(a, b)], 0
        while todo:
            a, b = todo.pop()
            if not (self.certain or self.settled(a, b, self.above)):
                boxes, middle = boxes + 1, _middle(a, b)
                todo += pairwise((a, middle, b))
            if boxes > BOXES:
                raise ValueError(f"not proved near {a}")

    def peak(self, a, b):
        """Prove the bound from below on a box of outcomes."""
        line, known = self.data["outcome"], self.data["lower"] <= 0  # leakage is not negative
        inside = line["lower"] <= a < b <= line["upper"] and math.isfinite(b - a)
        return inside and (known or self.settled(a, b, self.below))

    def settled(self, a, b, proof):
        """Prove a statement about a box of outcomes, with cells of secrets as fine as it takes."""
        ends, y, known = self.ends, _axis(a, b, 0, 1), {}
        own = {c for c in (a, b) if ends and ends[0] < c < ends[1]}  # where kinks often are
        cells = [*pairwise(sorted({*self.edges, *own}))]
        with suppress(ValueError):
            while len(cells) < (3 * CELLS if proof == self.below else CELLS):
                f, at = self.rows(y, cells, known)
                low, high, doubts = self.density(y, f, at, known)
                missing = proof(y, f, at, low, high)
                if not missing:
                    return True
                # finer cells help if what is not known of them is what is missing
                worst = max(missing, key=lambda c: float(missing[c]))
                least = missing[worst] / (8 * self.bottom.max(arb(1)))
                some = doubts if sum(doubts.values(), Z) > least else {}
                cut = {c for c, v in some.items() if v * len(cells) > least}
                own = {c for c, v in missing.items() if c in f and f[c].doubt(True) * 4 > v}
                if not cut and worst not in own:
                    break
                halves = [box for u, v in cut | own for box in pairwise((u, _middle(u, v), v))]
                cells = sorted([*(c for c in cells if c not in cut | own), *halves])
        return False

    def rows(self, y, cells, known):
        """Return f(y|x) on each cell of secrets and at some; far out, its ratio to that at one."""
        if math.isfinite(float(y.high - y.low)):
            for cell in cells if self.p else ():
                known[cell] = known.get(cell) or _run(self.f, False, x=_axis(*cell, 1, 0), y=y)
            for x in {*self.atoms, *(sum(cells, ()) if self.data["quantity"] == "ldp" else ())}:
                known[x] = known.get(x) or _run(self.f, False, x=_model(x), y=y)
            return {c: known[c] for c in cells if c in known}, known
        f, at, start = {}, {}, Z  # log f, less that at the first edge
        for cell in cells:
            if cell not in known:
                v = _run(self.f, True, x=_axis(*cell, 1, 0), y=y)
                step = _Model({k: b for k, b in v.terms.items() if k != ONE})
                ends = [sum((b * t ** k[0] for k, b in step.terms.items()), Z) for t in (-1, 1)]
                if not (v.steady and all(b.is_finite() for b in step.terms.values())):
                    raise ValueError(f"log f is not smooth for secrets in {cell}")
                known[cell] = step, *ends
            step, left, right = known[cell]
            f[cell], at[cell[0]] = _exp(step + (start - left)), _exp(_model(start))
            start = start - left + right
            at[cell[1]] = _exp(_model(start))
        return f, at

    def density(self, y, f, at, known):
        """Enclose f_Y from below and from above; and what is not known of each cell's part."""
        if self.marginal and math.isfinite(float(y.high - y.low)):
            found = _run(self.marginal, False, y=y)
            return found, found, {}
        total, mass, lost, doubts = _model(0), Z, {}, {}
        for x, weight in self.atoms.items():
            total, mass = total + at[x] * weight, mass + weight
        for cell, v in f.items() if self.p else ():
            if cell not in self.priors:
                p = _run(self.p, False, x=_axis(*cell, 1, 0))
                self.priors[cell] = p, _integral(p, *cell)
            p, own = self.priors[cell]
            if known.get((cell, 0), (None,))[0] is not v:
                known[cell, 0] = v, _integral(v * p, *cell)
            part = known[cell, 0][1]
            if all(b.is_finite() for b in (*own.terms.values(), *part.terms.values())):
                total, mass = total + part, mass + own.start
                doubts[cell] = part.doubt() + own.doubt() * v.high  # it also tells what is left
            else:  # its share of the prior is what the others leave
                lost[cell] = v.high
        left, most = (1 - mass).max(Z), max(lost.values(), default=Z)
        doubts |= {cell: left.mid() * most if most.is_finite() else INF for cell in lost}
        more = left.upper() * most if most.is_finite() else INF
        return total, total + _between(Z, more.upper()) if lost else total, doubts

    def above(self, y, f, at, low, high):
        """Return what is missing, cell by cell, from leakage <= the bound."""
        kind, rows = self.data["quantity"], dict(f) if self.p else {}
        rows |= {x: at[x] for x in self.atoms}
        if kind == "pml":
            margins = {c: low - v * (1 / self.top) for c, v in rows.items()}
        elif kind == "pmc":
            margins = {c: v * self.top - high for c, v in rows.items()}
        else:  # all values are between those at two places, but for a factor
            points = [v for x, v in at.items() if isinstance(x, float)]
            least, *_, most = sorted(points, key=lambda v: float(v.start))
            slack = (self.top * least.start.mid() / most.start.mid()) ** 0.4  # of the room
            margins = {None: least * self.top - most * slack**2}
            for c, v in rows.items():
                pair = most * slack - v, v * slack - least
                margins[c] = min(pair, key=lambda m: m.low)
        return {c: -m.low for c, m in margins.items() if not m.low >= 0}

    def below(self, y, f, at, low, high):
        """Return what is missing from leakage >= the bound, at secrets of positive prior mass."""
        top, bottom = (self.near(y, x) for x in self.claim["peak"]["x"])
        of = {"pml": (top, [high]), "pmc": ([low], bottom), "ldp": (top, bottom)}
        first, second = of[self.data["quantity"]]
        best = max((u - v * self.bottom).low for u in first for v in second)
        return {} if best > 0 else {None: -best}  # not 0 against 0: f_Y > 0

    def near(self, y, x):
        """Return f at an atom of the prior, or on boxes of secrets beside x that it charges."""
        if x is None or self.atoms.get(x, Z) > 0:
            return [] if x is None else [_run(self.f, False, x=_model(x), y=y)]
        out, step = [], arb(2) ** -60 * max(1.0, abs(x))
        for middle in (x + step, x - step):
            place = _Model({ONE: middle, (1, 0): step / 2}, middle - step / 2, middle + step / 2)
            inside = self.ends[0] <= place.low and place.high <= self.ends[1]
            if inside and _run(self.p, False, x=place).low > 0:
                out.append(_run(self.f, False, x=place, y=y))
        return out


def check_outcomes(certificate: dict | str) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    return check(certificate, _Outcomes)
