"""Check certificates over continuous outcomes of several secrets: a part to trust, and to read.

The secrets are a box, and f(y|x) = F(y, g(x)) for one number g(x). So the extremes over the secrets
are those of F(y, w) over the values w of g, and the checkers of a secret on a line do what they do,
with w in its place; f_Y is an integral over the box (`check_panels`).

Null sets of w are null sets of secrets: g is analytic and not constant, so that it has a slope but
on a null set, or one of its slopes stays away from 0. On any part of g's values there is mass: g is
continuous, and p > 0 inside of the box. An infinity needs no more of a prior than that.
Taken on trust: the same as for suprema; and the tracer's `through`, which finds g.
"""

from __future__ import annotations

import math

from flint import arb

from borel.engine.certificates.checks.box_integrals import Integral, halves
from borel.engine.certificates.checks.in_logs import _InLogs
from borel.engine.certificates.checks.laws import _Law
from borel.engine.certificates.checks.means import _Means
from borel.engine.certificates.checks.panels import Panels
from borel.engine.certificates.checks.prior_weights import Weights
from borel.engine.certificates.checks.ranges import INF, extremes, ranges, slopes, values, whole
from borel.engine.certificates.checks.rays import Z
from borel.engine.certificates.checks.reading import density, parsed
from borel.engine.certificates.checks.several_points import DIMENSIONS, grid, joined
from borel.engine.certificates.checks.slopes import _Slopes
from borel.engine.certificates.checks.suprema import _Outcomes
from borel.engine.certificates.checks.taylor_models import between
from borel.engine.certificates.checks.verifier import Report, _Checker, check
from borel.numerics.graphs.dependence import through
from borel.numerics.graphs.trace import Graph

INSIDE, LITTLE, APART = arb(2) ** -100, arb(2) ** -30, arb(2) ** -40
BOXES, WORK, COST = 20_000, 4_000_000_000, 100  # what a piece costs, but for its nodes
ANALYTIC = {
    *("input", "const", "add", "subtract", "multiply", "negative", "square", "exp", "expm1"),
    *("tanh", "sin", "cos", "expit", "erf", "ndtr"),
}
TO_THE_RIGHT = {"sqrt", "log", "log1p", "divide", "reciprocal", "power"}
KINKED = {"absolute", "maximum", "minimum"}
FLAT = Graph((("const", (1.0,)),), ("x",)), False


def outwards(v, sign):
    """Return a float at the upper end of a ball or above, or at the lower end or below."""
    end = v.upper() if sign > 0 else v.lower()
    x = float(end)
    while not (arb(x) >= end if sign > 0 else arb(x) <= end):
        x = math.nextafter(x, sign * math.inf)
    return x


class Number:
    """The one number that a kernel reads of several secrets, and the prior of these.

    Attributes
    ----------
    kernel : Density
        The kernel, with the number as x.
    ends, known : tuple
        An interval that holds the values of g, and one of which it takes every value.
    """

    def __init__(self, kernel, prior, about, spend):
        self.spend = spend
        sides, cuts = [*zip(prior["lower"], prior["upper"], strict=True)], about["cuts"]
        names, self.law = tuple(f"x{j}" for j in range(len(sides))), density(prior)
        numbers = [v for some in (*sides, *cuts, *about["at"]) for v in some]
        finite = all(isinstance(v, (int, float)) and math.isfinite(v) for v in numbers)
        own, used = ({a[0] for op, a in graph.nodes if op == "input"} for graph in
                     (self.law[0], kernel[0]))  # fmt: skip
        logs = isinstance(self.law[1], bool) and isinstance(kernel[1], bool)
        if not (logs and own <= {*names} and used <= {"y", *names}):
            raise ValueError("a density is not one of these secrets")
        some = finite and prior["atoms"] == [] and len(names) in DIMENSIONS
        ordered = all(sorted({*c}) == c for c in cuts)
        if not (some and ordered and [(c[0], c[-1]) for c in cuts] == sides):
            raise ValueError("the secrets are not a box, cut across each coordinate")
        outer, inner = through(kernel[0], names)
        if len(inner) != 1:
            raise ValueError(f"the kernel reads {len(inner)} numbers")
        self.pieces, self.box = grid(cuts), tuple((arb(a), arb(b)) for a, b in sides)
        self.inside = tuple((a + (b - a) * INSIDE, b - (b - a) * INSIDE) for a, b in self.box)
        least, low = (values(self.law[0].nodes, box, Z)[0] for box in (self.box, self.inside))
        if not (low > (-INF if self.law[1] else Z) and (self.law[1] or least >= 0)):
            raise ValueError("the prior is not seen to be positive inside of the box")
        if not self.diffuse(inner[0].nodes):
            raise ValueError("a value of the number may have mass")
        self.values_of(inner[0].nodes, about["at"])
        if not self.known[0] < self.known[1]:
            raise ValueError("the number is not seen to vary")
        one = (("input", ("x",)) if node == ("input", ("w0",)) else node for node in outer.nodes)
        self.kernel = Graph(tuple(one), ("y", "x")), kernel[1]

    def diffuse(self, nodes):
        """Return whether g is continuous, and no value of it has mass unless it is constant."""
        known, analytic = ranges(nodes, self.box, Z), True
        for op, args in nodes:
            name = op.removeprefix("special.")
            if name in TO_THE_RIGHT:
                least = known[args[1 if name == "divide" else 0]][0] + (name == "log1p")
                n = whole(known[args[1]]) if name == "power" else None
                # of these a positive argument makes an analytic function; quotients have ranges
                free = name in ("divide", "reciprocal") or (n is not None and n >= 0)
                if name == "power" and nodes[args[1]][0] != "const":
                    return False
                analytic &= free or bool(least > 0)
            elif name in KINKED:
                analytic = False
            elif name not in ANALYTIC:
                return False
        finite = all(u and u[0].is_finite() and u[1].is_finite() for u in known)
        steep = () if analytic else slopes(nodes, known, len(self.box)) or ()
        return finite and (analytic or any(low > 0 or high < 0 for low, high in steep))

    def values_of(self, nodes, at):
        """Find an interval that holds the values of g, and one of which it takes every value."""
        first, last = (values(nodes, tuple((v, v) for v in self.clipped(place)), Z) for place in at)
        self.known = first[1], last[0]
        apart, todo, looked = (last[0] - first[1]) * APART, [self.box], 0
        least_of_all, most_of_all = INF, -INF
        while todo and looked < BOXES:
            self.spend(COST)
            box, looked = todo.pop(), looked + 1
            (low, high), (least, most) = extremes(nodes, box, Z), values(nodes, box, Z)
            low, high = low.max(least), high.min(most)
            if first[1] - low < apart and high - last[0] < apart:
                least_of_all, most_of_all = least_of_all.min(low), most_of_all.max(high)
            else:
                sizes = [(b - a) / (v - u) for (a, b), (u, v) in zip(box, self.box, strict=True)]
                todo += halves(box, max(range(len(box)), key=sizes.__getitem__))
        if todo:
            raise ValueError("the values of the number are not known")
        self.ends = outwards(least_of_all, -1), outwards(most_of_all, 1)

    def clipped(self, place):
        """Return a point inside of the box."""
        pairs = zip(place, self.inside, strict=True)
        return [arb(v).max(low).min(high) for v, (low, high) in pairs]

    def normalised(self):
        """Return whether the integral of p is about 1."""
        spend = lambda cost: self.spend(COST * cost)  # noqa: E731
        found = Integral(joined(self.law), self.pieces, Z, LITTLE, spend).value
        return bool(abs(found - 1) < 2 * LITTLE)

    def weighs(self, low, high):
        """Return whether g takes all values between two inside of the box, where p > 0."""
        return bool(self.known[0] <= low and high <= self.known[1])


class _Spending:
    """What a checker may spend before it gives up: some minutes."""

    spent, work = 0, WORK

    def spend(self, cost):
        self.spent += cost
        if self.spent > self.work:
            raise RuntimeError("it takes too long")


class _Several(_Spending, _Outcomes):
    """A certificate under check: the number is in the place of a secret on a line."""

    def read(self, prior):
        """Read the prior, by the law of which the number has mass on each part of its values."""
        self.leaf("format", lambda: self.data["format"] == 7 and not self.masses)
        self.leaf("f_Y", lambda: self.marginal is None)
        self.number = number = Number(self.f, prior, self.data["number"], self.spend)
        self.panels = Panels(joined(self.f, number.law), number.pieces, self.spend)
        self.wide = set()
        self.f, self.p, self.weights = number.kernel, FLAT, Weights(FLAT)  # only signs are read
        self.span = self.ends = number.ends
        among = (w for w in self.claim["edges"] if number.known[0] < w < number.known[1])
        self.edges, self.atoms, self.singles = {*self.ends, *among}, {}, []

    def weighs(self, low, high):
        """Return whether there is mass on each part of a small box of values."""
        return self.number.weighs(low, high)

    def paths(self, y, f, at):
        """Return no cells that are charged for sure: a sliver of values may be none."""
        return []

    def charges_all(self):
        """Return whether the integral of p is about 1."""
        return self.number.normalised()

    def density(self, y, f, at, known):
        """Enclose f_Y by panels, or between the extremes of f(y|x); far out in units of one."""
        a, b = float(y.low), float(y.high)
        found = between(min(v.low for v in f.values()), max(v.high for v in f.values()))
        if math.isfinite(b - a) and (a, b) not in self.wide:
            try:
                found = self.panels.over(a, b)
            except ValueError:  # it is too wide for a polynomial
                self.wide.add((a, b))
        return found, found, {}


class SeveralSupremum(_Several):
    """A certificate of a supremum."""


class SeveralLaw(_Several, _Law):
    """A certificate of a tail, of a value of the distribution function, or of a quantile."""


class SeveralMean(_Several, _Means):
    """A certificate of a mean."""


class _Infinite(_Spending, _Checker):
    """A certificate under check: of the prior it takes no more than where it has mass."""

    def __init__(self, data):
        if data["format"] != 7 or data["outcome"].get("atoms"):
            raise ValueError("it is not of this kind")
        self.number = number = Number(
            density(data["kernel"]), data["prior"], data["number"], self.spend
        )
        if not number.normalised():
            raise ValueError("the prior does not integrate to 1")
        graph, log = number.kernel
        low, high = self.among(data["claim"]["proof"])
        ends = {"lower": low, "upper": high, "atoms": []}
        flat = {"graph": FLAT[0].to_json(), "log": False, **ends}
        kernel = {"graph": graph.to_json(), "log": log}
        super().__init__({**data, "format": 2, "kernel": kernel, "prior": flat})

    def among(self, proof):
        """Return an interval that holds the values of the number."""
        return self.number.ends

    def charged(self, x):
        """Return whether there is mass on each part of the values along a ray."""
        return self.number.weighs(*x.bounds())


class SeveralInfinite(_Infinite, _InLogs):
    """A certificate of an infinity along rays."""


class SeveralSlopes(_Infinite, _Slopes):
    """A certificate of an infinity by slopes, on an interval that holds all values."""

    def among(self, proof):
        """Return that interval: up to where the values end they are steep."""
        low, high = proof["x"]
        least, most = self.number.ends
        if not (low <= least and most <= high):
            raise ValueError("the number has other values")
        return low, high


CHECKERS = {
    "outcomes": SeveralSupremum,
    "law": SeveralLaw,
    "mean": SeveralMean,
    "infinite": SeveralInfinite,
    "slope": SeveralSlopes,
}


def check_several(certificate: dict | str) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    kind = str(parsed(certificate)["claim"]["type"])
    return check(certificate, CHECKERS.get(kind, SeveralSupremum))
