r"""Check certificates of what rows exceed the density of the outcome by: a part to trust.

For finitely many secrets and outcomes on a line, with q the density of Y, k_x that at a secret, top
the largest of these, and theta = e^t:

.. math:: \psi_1(t) = \int (q - \theta q^2 / \text{top})^+ dy, \quad
          \psi_2(t) = \max_x \int (k_x - \theta q)^+ dy,

and an event of probability delta has a maximal leakage of t or more if and only if one secret alone
gives post-processings such an envelope (`check_envelopes`): prices bound it from above, each of its
own secret, and shares of the outcomes, of one secret, from below. Both an event and its complement
have it for x and x' if shares w have :math:`\int w (k_x - \theta q) \ge 0` and :math:`\int (1 - w)
(k_{x'} - \theta q) \ge 0`, and for no shares if :math:`\int \max(\lambda (k_x - \theta q),
\mu (k_{x'} - \theta q)) < 0`. The binary envelope is the leakage of an event, and beyond
delta = 1/2 the larger one of both. Boxes of outcomes are halved until the claim is proved.
Taken on trust: the same as for suprema.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import reduce
from itertools import combinations

from flint import arb, fmpq

from borel.engine.certificates.checks.envelopes import STRICT, _Envelope, bounds_of
from borel.engine.certificates.checks.means import _straight
from borel.engine.certificates.checks.rays import INF, Z, _rays
from borel.engine.certificates.checks.taylor_models import FUNCTIONS, axis, model
from borel.engine.certificates.checks.verifier import Report, check

EVENTS = "event_maximal_leakage", "binary_envelope", "both_halves"


class _Excess(_Envelope):
    """A certificate of psi_1, psi_2, or of the largest leakage of an event."""

    quantities = ("psi_1", "psi_2", *EVENTS)

    def prove(self, cover):
        """Prove the claim."""
        claim, self.kind, self.sign = self.claim, self.data["quantity"], 1
        self.floor, self.cost, self.pml, self.power = 0, False, True, True
        self.leaf("type", lambda: claim["type"] == "excess" and not (self.p or self.marginal))
        low, high = self.ends_of_claim()
        self.pair, self.both, self.most = None, False, arb(1)
        if self.kind in EVENTS:
            self.events(cover, low, high)
            return
        number = arb(fmpq(*claim["level"]))
        self.theta = number.exp() if claim["nats"] is True else number
        self.scope = f"{self.kind} at {claim['level'][0] / claim['level'][1]}"
        self.leaf("level", lambda: isinstance(claim["nats"], bool) and self.theta >= 1)
        # neither is negative, or above 1
        below, above = (arb(low) if low > 0 else -INF), (arb(high) if high < 1 else INF)
        if self.kind == "psi_1":
            self.leaf("psi_1", self.total, cover, below, above)
            return
        if below > 0:
            self.one = claim["x"]
            self.leaf("secret", lambda: self.one in self.some)
            self.leaf(f"excess at {self.one}", self.total, cover, below, INF)
        for x in self.some if above < 1 else ():
            self.one = x
            self.leaf(f"excess at {self.one}", self.total, cover, -INF, above)

    def events(self, cover, low, high):
        """Prove bounds of the largest leakage of an event, or of it and its complement."""
        claim, halves = self.claim, self.kind == "both_halves"
        mass = arb(fmpq(*claim["delta"]))
        self.scope = f"events of probability {claim['delta'][0] / claim['delta'][1]}"
        self.leaf("delta", lambda: 0 < mass < 1)
        if low > 0:  # a leakage is never below 0
            self.theta = arb(low).exp()
            if claim["pair"] is not None:
                self.leaf("complement", lambda: halves or (mass > 0.5 and self.kind == EVENTS[1]))
                self.pair = claim["pair"]
                self.leaf("secrets", lambda: all(x in self.some for x in claim["pair"]))
                mass = self.theta - 1  # for the complement
            else:
                self.leaf("event", lambda: not halves)
            self.leaf("shares", self.shares, mass)
            self.leaf("one secret", lambda: len(self.used) == 1)
        if high < math.inf:
            self.theta, mass = arb(high).exp(), arb(fmpq(*claim["delta"]))
            if not halves:
                prices = dict(zip(self.atoms, map(arb, claim["prices"]), strict=True))
                self.leaf("prices", lambda: all(0 <= v < math.inf for v in claim["prices"]))
                for x in self.some:
                    self.prices = {x: prices[x]}
                    self.leaf(f"events of {x}", self.total, cover, -INF, mass - STRICT)
            if halves or (mass > 0.5 and self.kind == EVENTS[1]):
                self.complements(cover)

    def complements(self, cover):
        """Prove that no event and its complement have a leakage."""
        pairs = {frozenset((x, z)): {x: arb(v), z: arb(w)} for x, z, v, w in self.claim["pairs"]}
        for pair in map(frozenset, combinations(self.some, 2)):
            self.prices, self.both = pairs.get(pair, {}), True
            self.leaf("pair", lambda p=pair: p == {*self.prices})
            self.leaf("prices", lambda: all(0 <= v < INF for v in self.prices.values()))
            self.most = reduce(arb.max, self.prices.values(), Z) * self.theta
            self.leaf(f"halves of {sorted(pair)}", self.total, cover, -INF, self.most - STRICT)

    def at_most(self, mass):
        """Bound what is integrated over outcomes by that of the largest density."""
        if self.kind not in EVENTS:
            return mass.upper()
        return super().at_most(mass) + (self.most * mass).upper()

    def gains(self, a, b, w):
        """Bound from below what a box adds, for each secret and to the mass; and say the doubt.

        Of a pair of secrets it is what it adds to one, and what it does not take from the other.
        """
        if self.pair is None:
            return super().gains(a, b, w)
        share, work = sum(w, Z), self.at(a, b)
        with suppress(ValueError, ZeroDivisionError):
            if math.isfinite(b - a):
                y = axis(a, b, 0, 1)
                f = {x: work.kernel(False, model(x), y) for x in self.some}
                first, second = (f[x] - self.law(f) * self.theta for x in self.pair)
                ends = [[v * share for v in bounds_of(v, a, b)] for v in (first, second * -1)]
                if all(v.is_finite() for pair in ends for v in pair):
                    doubt = sum((high - low for low, high in ends), Z)
                    return [low.lower() for low, _ in ends], doubt.upper()
        mass = min((self.beyond(y) for y in _rays(a, b)), default=INF) * share * (self.theta + 1)
        return [(-mass).lower()] * 2, mass.upper()

    def integrand(self, y, f):
        """Return what is integrated."""
        law, zero = self.law(f), model(0)
        if self.kind in EVENTS:  # of a pair, and the multiple of the law that keeps it from below 0
            terms = [law * (self.most - v * self.theta) + f[x] * v for x, v in self.prices.items()]
            return reduce(FUNCTIONS["maximum"], terms, *(() if self.both else (zero,)))
        if self.kind == "psi_2":
            return FUNCTIONS["maximum"](f[self.one] - law * self.theta, zero)
        logs = [self.kernel(True, model(x), y) for x, v in f.items() if v.high > 0]
        if not logs:  # no outcomes at all
            return zero
        ratio = FUNCTIONS["exp"](_straight(law) - reduce(FUNCTIONS["maximum"], logs))
        return law * FUNCTIONS["maximum"](ratio * -self.theta + 1, zero)


def check_excess(certificate: dict | str) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    return check(certificate, _Excess)
