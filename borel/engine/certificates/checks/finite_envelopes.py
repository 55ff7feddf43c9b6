r"""Check certificates of envelopes of tables, finitely many secrets and outcomes: a part to trust.

With q the masses of the outcomes, g_x = K_x and theta = e^t for PML, g_x = -K_x and theta = -e^-t
for PMC, shares w of the outcomes make bad outcomes of leakage t and of a mass
:math:`1 - \sum_y (1 - \sum_x w_x) q`, if for each x :math:`\sum_y w_x (g_x - \theta q) \ge 0`; and
prices :math:`\lambda_x \ge 0` prove that no post-processing makes more than
:math:`\sum_y \max(0, \max_x (1 - \lambda_x \theta) q + \lambda_x g_x)` (`borel.figures.envelopes`).

Entries of the table and of the prior are intervals: the claim is proved of all laws within them.
Taken on trust: Arb, and that the rows are laws.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import Any

from flint import arb, fmpq

from borel.engine.certificates.checks.envelopes import QUANTITIES
from borel.engine.certificates.checks.rays import INF, Z
from borel.engine.certificates.checks.verifier import Report, check


class _FiniteEnvelope:
    """A certificate of a level of the envelope of a table, or of the mass at a level."""

    def __init__(self, data: dict):
        self.data, self.claim, self.sign = data, data["claim"], QUANTITIES[data["quantity"]]
        self.failures: list[str] = []
        self.checked, self.scope = 0, ""
        table, law, points = data["kernel"]["table"], data["prior"]["masses"], data["outcome"]
        self.k = [[arb(u).union(arb(v)) for u, v in row] for row in table]
        self.p = [arb(u).union(arb(v)) for u, v in law]
        self.count = len(points["points"])
        about = {*data["kernel"]}, {*data["prior"]}, {*points}
        self.leaf("format", data["format"] == 10 and self.claim["type"] == "finite_envelope")
        self.leaf("header", about == ({"table"}, {"masses"}, {"points"}))
        self.leaf("prior", is_law(law) and all(v.lower() > 0 for v in self.p))
        self.leaf("table", len(table) == len(law) and self.count > 0 and all(
            len(row) == self.count and is_law(row) for row in table))  # fmt: skip
        if not self.failures:
            columns = zip(*self.k, strict=True)
            self.q: list[Any] = [
                sum((p * v for p, v in zip(self.p, column, strict=True)), Z) for column in columns
            ]
            self.prove()

    def leaf(self, name: str, held: Any) -> None:
        """Note whether something holds."""
        self.checked += bool(held)
        if not held:
            self.failures.append(f"{name}: it does not hold")

    def prove(self) -> None:
        """Prove the claim."""
        claim, low, high = self.claim, self.data["lower"], self.data["upper"]
        self.leaf("bound", float(low) == low and float(high) == high and low <= high)
        if claim["figure"] == "epsilon":
            mass = arb(fmpq(*claim["delta"]))
            self.scope = f"the level of {claim['delta'][0] / claim['delta'][1]}"
            self.leaf("delta", 0 < mass <= 1)
            # a leakage is never below 0
            if low > 0:
                self.leaf("shares", self.shares(self.theta(low)) >= mass)
            if high < INF:
                self.leaf("dual", high >= 0 and self.dual(self.theta(high)) < mass)
        else:
            number, nats = arb(fmpq(*claim["level"])), claim["nats"]
            self.scope = f"the mass at {float(number)}"
            ratio = number if self.sign > 0 else -1 / number
            theta = self.theta(number) if nats else ratio
            self.leaf("level", claim["figure"] == "delta" and isinstance(nats, bool))
            self.leaf("level", theta >= 1 if self.sign > 0 else -1 <= theta < 0)
            self.leaf("shares", low <= 0 or self.shares(theta) >= low)
            self.leaf("dual", high >= 1 or self.dual(theta) <= high)

    def theta(self, t: Any) -> Any:
        """Return theta at a level in nats."""
        return self.sign * (self.sign * arb(t)).exp() if t != INF else Z

    def dual(self, theta: Any) -> Any:
        """Return the dual at the prices."""
        prices = [arb(v) for v in self.claim["prices"]]
        self.leaf("prices", len(prices) == len(self.k) and all(v >= 0 for v in prices))
        total = Z
        for y, q in enumerate(self.q):
            rows = zip(prices, self.k, strict=True)
            terms = [q + v * (self.sign * row[y] - theta * q) for v, row in rows]
            total += reduce(arb.max, terms, Z)
        return total

    def shares(self, theta: Any) -> Any:
        """Return the mass of the bad outcomes, each of which has at least the leakage."""
        whole, parts = self.claim["shares"]["of"], self.claim["shares"]["parts"]
        if theta == 0 and self.sign > 0:
            raise ValueError("no shares make an infinite PML of a table with a positive prior")
        integers = all(type(w) is int and w >= 0 for row in parts for w in row)
        left = [whole - sum(column) for column in zip(*parts, strict=True)]
        fits = len(parts) == len(self.k) and len(left) == self.count
        self.leaf("parts", fits and integers and type(whole) is int and whole > 0)
        self.leaf("sums", all(v >= 0 for v in left))
        for x, (row, part) in enumerate(zip(self.k, parts, strict=True)):
            own = zip(part, row, self.q, strict=True)
            gain = sum((w * (self.sign * v - theta * q) for w, v, q in own if w), Z)
            self.leaf(f"secret {x}", gain >= 0)
        unused = sum((v * q for v, q in zip(left, self.q, strict=True) if v), Z)
        return 1 - unused / whole


def is_law(masses: list) -> bool:
    """Return whether intervals hold a law: what is claimed of no law at all is worth nothing."""
    inside = all(0 <= low <= high <= 1 for low, high in masses)
    least, most = (sum(map(Fraction, ends)) for ends in zip(*masses, strict=True))
    return inside and least <= 1 <= most


def check_finite_envelopes(certificate: dict | str) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    return check(certificate, _FiniteEnvelope)
