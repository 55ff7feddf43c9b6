r"""Check certificates of what rows exceed the density of the outcome by: a part to trust.

For finitely many secrets and outcomes on a line, with q the density of Y, k_x that at a secret, top
the largest of these, and theta = e^t:

.. math:: \psi_1(t) = \int (q - \theta q^2 / \text{top})^+ dy, \quad
          \psi_2(t) = \max_x \int (k_x - \theta q)^+ dy,

and an event of probability delta has a maximal leakage of t or more if and only if one secret alone
gives post-processings such an envelope (`check_envelopes`): prices bound it from above, each of its
own secret, and shares of the outcomes, of one secret, from below. Up to delta = 1/2 the binary
envelope is the same. Boxes of outcomes are halved until the claim is proved.
Taken on trust: the same as for suprema.
"""

from __future__ import annotations

import math
from functools import reduce

from flint import arb, fmpq

from borel.engine.continuous.check import Report, check
from borel.engine.continuous.check_means import _straight
from borel.engine.continuous.check_models import FUNCTIONS, model
from borel.engine.continuous.check_rays import INF
from borel.engine.envelopes.check_envelopes import STRICT, _Envelope

EVENTS = "event_maximal_leakage", "binary_envelope"


class _Excess(_Envelope):
    """A certificate of psi_1, psi_2, or of the largest leakage of an event."""

    quantities = ("psi_1", "psi_2", *EVENTS)

    def prove(self, cover):
        """Prove the claim."""
        claim, self.kind, self.sign = self.claim, self.data["quantity"], 1
        self.floor, self.cost, self.pml, self.power = 0, False, True, True
        self.some = {x: w for x, w in self.atoms.items() if not w == 0}
        self.leaf("type", lambda: claim["type"] == "excess" and not (self.p or self.marginal))
        low, high = self.data["lower"], self.data["upper"]
        if self.kind in EVENTS:
            self.events(cover, low, high, arb(fmpq(*claim["delta"])))
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
            self.leaf(f"excess at {self.one}", self.total, cover, below, INF)
        for self.one in self.some if above < 1 else ():
            self.leaf(f"excess at {self.one}", self.total, cover, -INF, above)

    def events(self, cover, low, high, mass):
        """Prove bounds of the largest leakage of an event of a probability."""
        claim = self.claim
        self.scope = f"events of probability {claim['delta'][0] / claim['delta'][1]}"
        most = 0.5 if self.kind == "binary_envelope" else 1
        self.leaf("delta", lambda: 0 < mass < 1 and mass <= most)
        if low > 0:  # a leakage is never below 0
            self.theta = arb(low).exp()
            self.leaf("event", self.shares, mass)
            self.leaf("one secret", lambda: len(self.used) == 1)
        if high < math.inf:
            self.theta = arb(high).exp()
            prices = dict(zip(self.atoms, map(arb, claim["prices"]), strict=True))
            self.leaf("prices", lambda: all(v >= 0 for v in claim["prices"]))
            for self.one in self.some:
                self.prices = {self.one: prices[self.one]}
                self.leaf(f"events of {self.one}", self.total, cover, -INF, mass - STRICT)

    def at_most(self, mass):
        """Bound what is integrated over outcomes by that of the largest density."""
        return super().at_most(mass) if self.kind in EVENTS else mass.upper()

    def integrand(self, y, f):
        """Return what is integrated."""
        law, zero = self.law(f), model(0)
        if self.kind in EVENTS:
            price = self.prices[self.one]
            return FUNCTIONS["maximum"](law * (1 - price * self.theta) + f[self.one] * price, zero)
        if self.kind == "psi_2":
            return FUNCTIONS["maximum"](f[self.one] - law * self.theta, zero)
        logs = [self.kernel(True, model(x), y) for x, v in f.items() if v.high > 0]
        ratio = FUNCTIONS["exp"](_straight(law) - reduce(FUNCTIONS["maximum"], logs))
        return law * FUNCTIONS["maximum"](ratio * -self.theta + 1, zero)


def check_excess(certificate: dict | str) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    return check(certificate, _Excess)
