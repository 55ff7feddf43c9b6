"""Check certificates again, with little of the code that made them: a part to trust, and to read.

A leaf of a certificate is proved again from the graphs of f(y|x) and p(x), with Arb balls of 128
bits, along rays (`check_rays`). What is in doubt is refused.
Taken on trust: Arb, the tracer of densities, and that f(.|x) and p integrate to 1; of a sum of
secrets also its law, by the code of the engine (`check_masses` looks at p, and says what is left).
"""

from __future__ import annotations

import math
from collections import namedtuple
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any

from flint import arb, ctx

from borel.engine.certificates.checks.rays import (
    INF,
    Q0,
    Z,
    _balls,
    _gap,
    _number,
    _Ray,
    _ray,
    _rays,
    _run,
)
from borel.engine.certificates.checks.reading import kernel, parsed
from borel.engine.certificates.checks.reduced_secrets import on_a_line
from borel.numerics.graphs.trace import Graph

BITS, BOXES = 128, 3000


# What came of a check: the leaves refused, the number that hold, the outcomes spoken of.
Report = namedtuple("Report", "ok failures checked scope")


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
        boxes = iter(range(BOXES))

        def proved(a, b):
            if next(boxes, None) is None:
                raise ValueError(f"not proved with {BOXES} boxes")
            return any(self.margin(side, level, x, y) >= 0 for x in rays(a, b))

        _everywhere(proved, a, b)

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
                best = min(best, (total.lower().max(Z), total.upper()), key=lambda v: v[1] - v[0])
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
            if pml:
                self.ceiling(other, y, proof["marginal"])
                fits = A < B and not self.atoms and not still  # else x leads t, not y
            else:
                boxes = [self.path({"box": box}, t0, y) for box in proof["marginal"]["boxes"]]
                self.leaf("f_Y", self.somewhere, 1, other, y, *boxes)
                fits = (A > B and (A > 0 or not still)) or proof["weight"] == -math.inf
        zero = kind == "ratio" and not pml and proof["weight"] == -math.inf  # f is 0: no constant
        # along a box of secrets f tends to 0 at an end of it: it may have no mass there
        moves = zero or len({*proof["x"].get("box", [0])}) == 1 if still else spec["power"] != 0
        weights = 0.0 if zero else proof["weight"], proof.get("marginal", proof)["weight"]
        some = all(map(math.isfinite, (*weights, A, t0))) and t0 > 0
        self.leaf("argument", lambda: fits and some and moves)
        return spec, ends, INF, INF

    def ceiling(self, level, y, part):
        """Prove that f <= e^level for almost every secret, along a ray of outcomes."""
        self.cover(part["boxes"])
        for box in part["boxes"]:
            self.leaf(f"f_Y on {box}", self.holds, -1, level, y, *self.path({"box": box}, 1.0, y))


def check(certificate: dict | str, checker: Any = _Checker) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    with ctx.workprec(BITS):
        try:
            done = checker(on_a_line(parsed(certificate)))
            return Report(not done.failures, done.failures, done.checked, done.scope)
        except Exception as error:  # a certificate that is not one
            return Report(False, [f"certificate: {type(error).__name__}: {error}"], 0, "")
