"""Check certificates of quantiles of a leakage that are infinite: a part to trust, and to read.

The leakage is proved to be infinite at almost every outcome of some boxes, by certificates of their
own (`check`, `check_poles`), of the same joint. If the boxes do not overlap, and the integrals of
f_Y over them exceed 1 - s together, P{leakage <= t} < s for every t: the quantile at s is infinite.
(That at s from the right is if they are at least 1 - s: P{leakage <= t} <= s for every t.)

f_Y is a Taylor model on boxes of outcomes and cells of secrets, as for the laws that are finite;
only bounds from below count.
Taken on trust: the same as for these (`check_laws`).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, ClassVar

from flint import arb, fmpq

from borel.engine.certificates.checks.poles import check_poles
from borel.engine.certificates.checks.rays import INF, Z
from borel.engine.certificates.checks.suprema import CELLS, _Outcomes, mass_of
from borel.engine.certificates.checks.taylor_models import axis
from borel.engine.certificates.checks.verifier import Report, _middle, check

BOXES = 2000


class _InfiniteQuantile(_Outcomes):
    """A certificate of a quantile that is infinite."""

    most_boxes = BOXES
    checkers: ClassVar[dict[str, Any]] = {"infinite": (check, 2), "pole": (check_poles, 2)}

    def prove(self, cover):
        """Prove the claim."""
        claim, data = self.claim, self.data
        named = claim["type"] == "infinite_quantile" and data["quantity"] in ("pml", "pmc")
        self.leaf("type", lambda: named and claim["figure"] == "quantile")
        self.leaf("upper", lambda: data["upper"] == math.inf)
        self.scope = f"the quantile of the law at {claim['s'][0] / claim['s'][1]}"
        rest, left = 1 - arb(fmpq(*claim["s"])), claim["side"] == "left"
        inside = 0 <= rest < 1 if left else 0 < rest <= 1
        self.leaf("level", lambda: inside and claim["side"] in ("left", "right"))
        boxes = [proof["proof"]["y"]["box"] for proof in claim["proofs"]]
        for proof, box in zip(claim["proofs"], boxes, strict=True):
            self.leaf(f"infinite on {box}", self.infinite, proof, *box)
        apart = all(v <= a for (_, v), (a, _) in pairwise(sorted(boxes)))
        self.leaf("boxes", lambda: apart)
        if not self.failures:
            self.leaf("mass", self.probable, boxes, rest, left)

    def infinite(self, proof, a, b):
        """Prove that the leakage is infinite at almost every outcome of a box."""
        checker, form = self.checkers[proof["type"]]
        whole = {**self.data, "format": form, "lower": math.inf, "upper": math.inf, "claim": proof}
        report = checker(whole)
        if not report.ok:
            raise ValueError(report.failures[0])
        return a < b and math.isfinite(b - a)

    def probable(self, boxes, rest, more):
        """Prove that boxes of outcomes have a probability of at least, or more than, a number."""
        parts = [(*self.share(a, b), a, b) for a, b in boxes]
        while len(parts) < self.most_boxes:
            low, high = (sum((part[i] for part in parts), Z) for i in (0, 1))
            if low > rest or (low >= rest and not more):
                return True
            worst = max((part[1] - part[0] for part in parts), default=Z)
            if not worst > 0 or high < rest:
                break
            cut = [part for part in parts if (part[1] - part[0]) * 4 >= worst]
            parts = [part for part in parts if not (part[1] - part[0]) * 4 >= worst]
            for *_, a, b in cut:
                parts += [(*self.share(u, v), u, v) for u, v in pairwise((a, _middle(a, b), b))]
        raise ValueError(f"not proved with {len(parts)} boxes of outcomes")

    def first(self):
        """Return cells of secrets to begin with."""
        return [*pairwise(sorted(self.edges))]

    def share(self, a, b):
        """Enclose the integral of f_Y over a box, with cells of secrets as fine as it takes."""
        y, known, found = axis(a, b, 0, 1), {}, [Z, arb(1)]
        cells = self.first()
        while len(cells) <= CELLS:
            f, at = self.rows(y, cells, known)
            low, high, doubts = self.density(y, f, at, known)
            found = [found[0].max(mass_of(low, a, b)[0]), found[1].min(mass_of(high, a, b)[1])]
            total = sum(doubts.values(), Z)
            cut = {c for c, v in doubts.items() if v * (2 * len(cells)) > total or v == INF}
            # narrow cells do not help a wide box of outcomes
            cut = {(u, v) for u, v in cut if (v - u) * 4 > b - a}
            if not total * (b - a) * 4 > found[1] - found[0] or not cut:
                break
            halves = [box for u, v in cut for box in pairwise((u, _middle(u, v), v))]
            cells = sorted([*(c for c in cells if c not in cut), *halves])
        return found


def check_infinite_laws(certificate: dict | str) -> Report:
    """Verify a certificate of an infinite quantile."""
    return check(certificate, _InfiniteQuantile)
