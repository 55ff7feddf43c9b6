r"""Check certificates of figures over a set of priors on finitely many secrets: a part to trust.

:math:`\sup_P` PML at y is at most B if :math:`E_P f(y|.) \ge e^{-B} f(y|x)` for each secret x that
some member charges and for all members P (`check_expectations`); PMC the other way round; LDP
compares two secrets. They are at least what one member shows that charges the secrets. On boxes
of outcomes f(y|x) are Taylor models (`check_outcomes`); boxes are halved until the claim is proved.
A mechanism with finitely many outcomes may be a table of intervals.

Mutual information under P is at most :math:`E_P D(K_x \| Q)`, whatever the law Q is. Taken on
trust: Arb, the tracer of densities, and that rows and densities are those of laws.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import reduce
from itertools import pairwise
from typing import Any

from flint import arb

from borel.engine.certificates.checks.rays import INF, Z
from borel.engine.certificates.checks.reading import density
from borel.engine.certificates.checks.set_expectations import Priors, fraction, mean
from borel.engine.certificates.checks.suprema import _Outcomes
from borel.engine.certificates.checks.taylor_models import axis, model
from borel.engine.certificates.checks.verifier import Report, check

ROUNDING, OF_TABLES = arb(2) ** -30, ("mutual_information", "maximal_leakage")


class _Sets(_Outcomes):
    """A certificate under check: the set, the kernel, and what came of its leaves."""

    quantities = ("pml", "pmc", "ldp")

    def __init__(self, data):
        self.data, self.claim, given = data, data["claim"], data["prior"]
        self.failures, self.checked, self.scope = [], 0, "over a set of priors"
        self.priors, self.secrets = Priors(given["set"]), given["secrets"]
        self.possible = [k for k, charged in enumerate(self.priors.support) if charged]
        low, high = (data[end] for end in ("lower", "upper"))
        self.leaf("format", lambda: data["format"] == 8 and self.claim["type"] == "set")
        self.leaf("bound", lambda: float(low) == low and float(high) == high and low <= high)
        numbers = len({*self.secrets}) == len(self.secrets) == self.priors.count
        outcome = data["outcome"]
        points = outcome["points"] if isinstance(outcome["points"], list) else []
        known = not outcome.get("atoms") and len({*points}) == len(points)
        self.leaf("outcomes", lambda: known)
        self.leaf("secrets", lambda: numbers and all(float(x) == x for x in self.secrets))
        # what the checker of outcomes reads: atoms of the prior, whose masses are not one law's
        self.p: Any = None
        self.marginal, self.masses, self.ends = None, {}, ()
        self.atoms, self.singles, self.edges = dict.fromkeys(self.secrets, Z), self.secrets, ()
        self.f: Any = None
        self.table = data["kernel"].get("table")
        if self.table is None:
            self.f = density(data["kernel"])
            self.leaf("header", lambda: isinstance(self.f[1], bool))
        else:
            self.table = [[arb(u).union(arb(v)) for u, v in row] for row in self.table]
            self.leaf("table", self.laws)
        self.top, self.bottom = arb(high).exp(), arb(low).exp()
        if not self.failures:
            of_table = data["quantity"] in OF_TABLES
            self.of_table() if of_table else self.over_outcomes()

    def laws(self):
        """Return whether rows of a table may be laws."""
        return all(
            all(0 <= v.lower() and v.upper() <= 1 for v in row)
            and sum(row, Z).overlaps(arb(1) + arb(0, ROUNDING))
            and len(row) == len(self.data["outcome"]["points"])
            for row in self.table
        ) and len(self.table) == len(self.secrets)

    # -- leakage ------------------------------------------------------------------------------

    def over_outcomes(self):
        """Prove the claim on boxes, or at points, that make up the outcomes; or at one of them."""
        line, one, cover = self.data["outcome"], self.claim.get("y"), self.claim["cover"]
        points, (low, high) = line["points"], (line["lower"], line["upper"])
        boxes = [(y, y) for y in cover]
        if one is not None:
            self.scope += f", at y = {one}"
            among = one in points if isinstance(points, list) else low <= one <= high
            whole = among and cover == [one] and (points != "integers" or one % 1 == 0)
            whole &= math.isfinite(one)
        else:
            self.scope += ", the supremum over the outcomes"
            if points is None:
                boxes = [*pairwise(cover)]
                whole = [low, high] == [cover[0], cover[-1]] and all(a < b for a, b in boxes)
                for x in self.secrets if whole else ():
                    self.leaf(f"outcomes at {x}", self.normalised, x, boxes)
            else:
                whole = isinstance(points, list) and sorted(cover) == sorted({*points})
                self.leaf("masses", lambda: whole and (self.table or self.sums_to_one(cover)))
        self.leaf("quantity", lambda: self.data["quantity"] in self.quantities)
        self.leaf("cover", lambda: whole and len(boxes) > 0)
        if self.failures:
            return
        self.certain = self.data["upper"] == math.inf or self.posteriors_are_small()
        self.leaf("peak", lambda: self.data["lower"] <= 0 or self.peak(boxes))
        for a, b in boxes:
            self.leaf(f"outcomes ({a}, {b})", self.everywhere, a, b)

    def sums_to_one(self, cover):
        """Return whether the kernel may be a law of finitely many outcomes."""
        sums = [
            sum((self.kernel(False, model(x), model(y)).start for y in cover), Z)
            for x in self.secrets
        ]
        return all(v.overlaps(arb(1) + arb(0, ROUNDING)) for v in sums)

    def posteriors_are_small(self):
        """Return whether PML is within the bound, as a posterior probability is at most 1."""
        rare, everyone = 1 / self.top, range(len(self.secrets))
        with suppress(ValueError, ZeroDivisionError):
            return self.data["quantity"] == "pml" and all(
                self.priors.never_negative([model(arb(j == k) - rare) for j in everyone])
                for k in self.possible
            )
        return False

    def at(self, a, b):
        """Return what checks a box of outcomes: the same for all of them."""
        return self

    def settled(self, a, b, proof):
        """Prove a statement about a box of outcomes, or one of them."""
        try:
            return bool(proof(self.densities(a, b)))
        except (ValueError, ZeroDivisionError):
            return False

    def densities(self, a, b):
        """Return f(y|x) for each secret; far out, in units of that at the least of them."""
        if self.table is not None:
            column = self.data["outcome"]["points"].index(a)
            return [model(row[column]) for row in self.table]
        if math.isfinite(b - a):
            y = model(a) if a == b else axis(a, b, 0, 1)
            return [self.kernel(False, model(x), y) for x in self.secrets]
        places = sorted(self.secrets)
        known = self.rows(axis(a, b, 0, 1), [*pairwise(places)], {})[1]
        return [known[x] for x in self.secrets]

    def above(self, f):
        """Return whether the leakage is at most the bound for all members."""
        kind, sign = self.data["quantity"], -1 if self.data["quantity"] == "pmc" else 1
        order = sorted(self.possible, key=lambda k: f[k].start.mid() * -sign)
        best, least = order[0], order[-1]
        if kind == "ldp":
            inner = [(f[best] - v, v - f[least]) for v in map(f.__getitem__, order)]
            between = all(v.least() >= 0 for pair in inner for v in pair)
            pairs = [(best, least)] if between else [(j, k) for j in order for k in order]
            return all((f[k] * self.top - f[j]).least() >= 0 for j, k in pairs)
        return self.of_secret(f, best, sign) and all(
            # another secret tells less everywhere
            ((f[best] - f[k]) * sign).least() >= 0 or self.of_secret(f, k, sign)
            for k in order[1:]
        )

    def of_secret(self, f, k, sign):
        """Return whether a secret's share of the leakage is at most the bound."""
        level = f[k] * (1 / self.top if sign > 0 else self.top)
        return self.priors.never_negative([(v - level) * sign for v in f])

    def peak(self, boxes):
        """Prove the bound from below, by a member, at an outcome or on a box of them."""
        (a, b), places = self.claim["peak"]["y"], self.claim["peak"]["x"]
        alone = boxes[0][0] == boxes[0][1]  # on a line a supremum is essential: it takes a box
        inside = (a, b) in boxes if alone else boxes[0][0] <= a < b <= boxes[-1][1]
        inside &= math.isfinite(b - a)  # far out densities are known in units of one of them
        q, kind = self.member(), self.data["quantity"]
        if not (inside and all(q[k] > 0 for k in places)):
            return False
        f = self.densities(a, b)
        other = f[places[1]] if kind == "ldp" else mean(q, f)
        over, under = (other, f[places[0]]) if kind == "pmc" else (f[places[0]], other)
        if self.bottom == INF:
            return over.least() > 0 and under.low == 0 == under.high
        return over.least() > 0 and (over - under * self.bottom).least() >= 0

    def member(self):
        """Return the weights of the member that shows the bound from below."""
        return self.priors.member(self.claim["peak"]["prior"])

    # -- figures of a table -------------------------------------------------------------------

    def of_table(self):
        """Prove mutual information, or maximal leakage, of a table."""
        information = self.data["quantity"] == "mutual_information"
        self.leaf("type", lambda: self.table is not None)
        low, high = (arb(self.data[end]) for end in ("lower", "upper"))
        if information:
            self.leaf("upper", self.information_is_at_most, high)
            self.leaf("lower", lambda: low <= 0 or self.information(self.member()) >= low)
            return
        sums = [max_of([row[k] for row in map(self.table.__getitem__, self.possible)])
                for k in range(len(self.table[0]))]  # fmt: skip
        self.leaf("upper", lambda: sum(sums, Z).log() <= high)
        self.leaf("lower", lambda: low <= 0 or (self.charges_all() and sum(sums, Z).log() >= low))

    def charges_all(self):
        """Return whether the member charges all secrets that some member does."""
        return all(self.member()[k] > 0 for k in self.possible)

    def divergence(self, k, law):
        """Return D(K_x || Q) of a row of the table."""
        parts = zip(self.table[k], law, strict=True)
        return sum((product_log(v, v / q) for v, q in parts if not v == 0), Z)

    def information_is_at_most(self, high):
        """Prove that E_P D(K_x || Q) is at most the bound for all members P."""
        law = [fraction(q) for q in self.claim["law"]]
        if not (all(q > 0 for q in law) and sum(law) <= 1):
            raise ValueError("no law of the outcomes")
        own = [self.divergence(k, [*map(arb, law)]) for k in range(len(self.table))]
        return self.priors.never_negative([model(high - v) for v in own])

    def information(self, q):
        """Bound the mutual information of a member from below."""
        law = [sum((row[k] * p for row, p in zip(self.table, q, strict=True)), Z)
               for k in range(len(self.table[0]))]  # fmt: skip
        each = [self.divergence(k, law) * p for k, p in enumerate(q) if not p == 0]
        return sum(each, Z).lower()


def max_of(values):
    """Return the largest of several balls."""
    return reduce(arb.max, values)


def product_log(v, w):
    """Return v log w, where v may be 0."""
    if not v > 0:
        raise ValueError("an entry that may be 0, or not")
    return v * w.log()


def check_sets(certificate: dict | str) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    return check(certificate, _Sets)
