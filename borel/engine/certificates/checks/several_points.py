"""Check certificates of a leakage at an outcome of secrets in R^d, d = 2 to 5: a part to trust.

The secrets are a box, cut across each coordinate where the certificate says. f_Y is an integral
over its pieces (`check_boxes`); the essential extreme of f(y|x) is bounded on all pieces but where
the prior has no density, and reached on a small box where it has. What is in doubt is refused.
Taken on trust: Arb, the tracer of densities, and that f(.|x) and p integrate to 1 (a prior that is
seen not to is refused).
"""

from __future__ import annotations

import math
from itertools import pairwise, product

from flint import arb

from borel.engine.certificates.checks.box_integrals import Integral, halves
from borel.engine.certificates.checks.ranges import extremes, values
from borel.engine.certificates.checks.rays import INF, Z
from borel.engine.certificates.checks.reading import density, masses
from borel.engine.certificates.checks.verifier import Report, _Checker, check

WORK, DIMENSIONS, LITTLE = 40_000_000, range(2, 6), arb(2) ** -30


def joined(*densities):
    """Return the nodes of a product of densities; a sum of logarithms is taken to its power."""
    nodes: list = []
    last: list = []
    for graph, log in densities:
        start = len(nodes)
        plain = ("input", "const")
        nodes += [(op, a if op in plain else tuple(i + start for i in a)) for op, a in graph.nodes]
        last.append((len(nodes) - 1, log))
    logs = all(log for _, log in last)
    for k, (i, log) in enumerate(last):
        if log and not logs:
            nodes.append(("exp", (i,)))
            last[k] = len(nodes) - 1, False
    if len(last) > 1:
        nodes.append(("add" if logs else "multiply", tuple(i for i, _ in last)))
    return [*nodes, ("exp", (len(nodes) - 1,))] if logs else nodes


def grid(cuts):
    """Return the pieces of a box cut across each coordinate."""
    return [tuple(box) for box in product(*([*pairwise(map(arb, c))] for c in cuts))]


class _Dimensions(_Checker):
    """A certificate under check: its densities, and what came of its leaves."""

    work = WORK

    def __init__(self, data):
        self.data, self.claim, prior = data, data["claim"], data["prior"]
        y = self.claim["y"]
        self.failures, self.checked, self.scope, self.spent = [], 0, f"at y = {y}", 0
        self.f = masses(data["outcome"]).get(y) or density(data["kernel"])
        self.p, self.y = density(prior), arb(y)
        self.proved = (Z, INF), (Z, INF)
        self.leaf("format", lambda: data["format"] == 5 and self.claim["type"] == "box_point")
        self.leaf("quantity", lambda: data["quantity"] in ("pml", "pmc"))
        self.leaf("header", self.header, prior)
        self.leaf("cover", self.cover, self.claim["cuts"], prior)
        if not self.failures:
            self.pieces = grid(self.claim["cuts"])
            f_y, leakage = self.at_outcome(self.claim)
            self.proved = tuple(v.exp() for v in f_y), leakage
            self.conclusion({"box": (y, y)}, (y, y), *leakage)

    def header(self, prior):
        """Check that the numbers are some, and that the graphs are about these secrets."""
        secrets = [f"x{j}" for j in range(len(prior["lower"]))]
        used = [{a[0] for op, a in g.nodes if op == "input"} for g in (self.f[0], self.p[0])]
        ends = [v for end in ("lower", "upper") for v in (prior[end], [self.data[end]])]
        level, place = self.claim["extreme"], self.claim["place"]
        several = [*ends, *self.claim["cuts"], self.claim["f_y"], level, place]
        numbers = [self.claim["y"], *(v for some in several for v in some)]
        logs = all(isinstance(log, bool) for _, log in (self.f, self.p))
        names = used[0] <= {"y", *secrets} and used[1] <= {*secrets}
        finite = all(isinstance(v, (int, float)) and math.isfinite(v) for v in numbers)
        alone = prior["atoms"] == [] and len(secrets) in DIMENSIONS
        return logs and names and finite and alone and len(place) == len(secrets)

    def cover(self, cuts, prior):
        """Check that the cuts go from one end of each coordinate to the other."""
        ends = [[a, b] for a, b in zip(prior["lower"], prior["upper"], strict=True)]
        self.whole = [(arb(a), arb(b)) for a, b in ends]
        ordered = all(len(c) > 1 and sorted({*c}) == c for c in cuts)
        return ordered and [[c[0], c[-1]] for c in cuts] == ends

    def spend(self, cost):
        self.spent += cost
        if self.spent > self.work:
            raise ValueError("it takes too long")

    def at_outcome(self, claim):
        """Prove bounds of log f_Y at the outcome, and of the leakage."""
        pml, level = self.data["quantity"] == "pml", [arb(v) for v in claim["extreme"]]
        side = 1 if pml else -1
        self.leaf("prior", self.normalised)
        low, high = (arb(v) for v in claim["f_y"])
        self.leaf("f_Y", self.marginal, low.exp(), high.exp())
        inner, outer = level[::side]
        for box in self.pieces:
            shown = ", ".join(f"({float(a)}, {float(b)})" for a, b in box)
            self.leaf(f"extreme on {shown}", self.everywhere, -side, outer, box)
        place = claim["place"]
        self.leaf(f"extreme near {place}", self.somewhere, side, inner, place)
        bottom, top = level
        leakage = (bottom - high, top - low) if pml else (low - top, high - bottom)
        return (low, high), leakage

    def normalised(self):
        """Prove that the integral of p is about 1."""
        nodes = joined(self.p)
        found = Integral(nodes, self.pieces, self.y, LITTLE, self.spend).value
        return bool(abs(found - 1) < 2 * LITTLE)

    def marginal(self, low, high):
        """Prove that f_Y is within [low, high]."""
        nodes = joined(self.f, self.p)
        for bits in (2, 8, 14):
            room = ((high - low) / 2**bits).lower()
            value = Integral(nodes, self.pieces, self.y, room, self.spend).value
            if low < value < high:
                return True
            if value < low or value > high:
                break
        raise ValueError("not within these bounds")

    def everywhere(self, side, level, box):
        """Prove that side (log f - level) >= 0 at almost every x of a box with p(x) > 0."""
        todo = [box]
        while todo:
            box = todo.pop()
            if not (self.holds(side, level, box) or self.absent(box)):
                todo += min((halves(box, j) for j in range(len(box))), key=self.doubt(side))

    def holds(self, side, level, box):
        least = level if self.f[1] else level.exp()
        for enclose in (values, extremes):
            self.spend(10 * len(self.f[0].nodes))
            low, high = enclose(self.f[0].nodes, box, self.y)
            if low >= least.upper() if side > 0 else high <= least.lower():
                return True
        return False

    def known(self, given, box):
        """Enclose a density, or its logarithm, on a box."""
        self.spend(10 * len(given[0].nodes))
        return values(given[0].nodes, box, self.y)

    def doubt(self, side):
        """Return what tells how little is known on two halves of a box, and how slim they are."""

        def of(boxes):
            found = [self.known(self.f, box) for box in boxes]
            sizes = [(b - a) / (w - v) for (a, b), (v, w) in zip(boxes[0], self.whole, strict=True)]
            worst = max(-low if side > 0 else high for low, high in found)
            return float(worst), float(max(sizes) / min(sizes))

        return of

    def absent(self, box):
        """Return whether the prior has no density in a box."""
        zero = -INF if self.p[1] else Z
        return self.known(self.p, box)[1] <= zero

    def somewhere(self, side, level, place):
        """Prove that side (log f - level) >= 0 on a small box beside a place, with p > 0."""
        step = arb(2) ** -90
        for signs in product((1, -1), repeat=len(place)):
            beside = [x + s * step * max(1.0, abs(x)) for x, s in zip(place, signs, strict=True)]
            box = tuple((u.min(x), u.max(x)) for u, x in zip(beside, map(arb, place), strict=True))
            low, _ = self.known(self.p, box)
            inside = all(u[0] <= a < b <= u[1] for (a, b), u in zip(box, self.whole, strict=True))
            if inside and low > (-INF if self.p[1] else Z) and self.holds(side, level, box):
                return True
        raise ValueError("not proved on a set of positive prior mass")


def check_dimensions(certificate: dict | str, work: int = WORK) -> Report:
    """Verify a certificate about a secret of several dimensions, with so much work at most."""
    return check(certificate, type("_Limited", (_Dimensions,), {"work": work}))
