r"""Check certificates of f-information of a finite secret, outcomes on a line: a part to trust.

With p_x the prior and k_x the kernel at x, the integral over the outcomes of
:math:`\sum_x p_x k_x \log(k_x / f_Y)` is mutual information, that of :math:`\sum_x p_x k_x^2 / f_Y`
chi-square and 1, those of :math:`\sum_x p_x \min(k_x, f_Y)` and :math:`\sum_x p_x \sqrt{k_x f_Y}`
what total variation and squared Hellinger leave of 1. On a box of outcomes the densities are Taylor
models (`check_models`). Where these do not tell, and beyond them, there is the integral of m, the
largest of the k_x: none of the four is negative, and as :math:`p_x k_x \le f_Y \le m` they are at
most :math:`m \log (1 / \min p_x)`, n m for n secrets, m and m. Boxes are halved until the claim is
proved. Taken on trust: the same as for suprema.
"""

from __future__ import annotations

import math
from contextlib import suppress

from flint import arb

from borel.engine.certificates.checks.means import _Means, _straight
from borel.engine.certificates.checks.rays import INF, Z, _rays
from borel.engine.certificates.checks.reading import size
from borel.engine.certificates.checks.suprema import mass_of
from borel.engine.certificates.checks.taylor_models import FUNCTIONS, axis, model
from borel.engine.certificates.checks.verifier import Report, check

LEFT = "total_variation", "squared_hellinger"
"""They are 1 less the integral."""


class _Information(_Means):
    """A certificate of an f-information."""

    quantities = ("f_information",)

    def prove(self, cover):
        """Prove the claim."""
        figure, known = self.claim["figure"], ("kl", "chi_square", *LEFT)
        self.figure, self.scope = figure, f"{figure} of secret and outcome"
        self.pml = self.power = True  # far out it is the largest of the densities that counts
        self.cost, self.some = False, {x: w for x, w in self.atoms.items() if not w == 0}
        self.leaf("type", lambda: self.claim["type"] == "information" and figure in known)
        self.leaf("secrets", lambda: not (self.p or self.marginal))
        low, high = arb(self.data["lower"]), arb(self.data["upper"])
        if figure == "chi_square":
            low, high = low + 1, high + 1
        elif figure in LEFT:
            low, high = 1 - high, 1 - low if low > 0 else INF  # an f-information is not negative
        self.floor = 1 if figure == "chi_square" else 0
        self.leaf(figure, self.total, cover, low, high)

    def share(self, a, b):
        """Enclose the part of a box of outcomes."""
        mass, found, work = INF, [Z, INF], self.at(a, b)
        with suppress(ValueError, ZeroDivisionError):
            if math.isfinite(b - a):
                y = axis(a, b, 0, 1)
                f = {x: work.kernel(False, model(x), y) for x in self.some}
                mass = max(v.high for v in f.values()).max(Z) * size(a, b)
                found = [*mass_of(work.integrand(y, f), a, b)]
        if a < b and not mass < INF:  # it is without an end, or a density is without bound there
            mass = min((self.beyond(y) for y in _rays(a, b)), default=INF)
        return [found[0], found[1].min(self.at_most(mass))]

    def at_most(self, mass):
        """Bound what is integrated over outcomes by that of the largest density."""
        factor = {"kl": lambda: -self.rarest().log(), "chi_square": lambda: len(self.some)}
        most = mass * factor.get(self.figure, lambda: 1)()
        return most.upper() if most.is_finite() else INF

    def rarest(self):
        """Return the least mass of a secret."""
        return min(w.lower() for w in self.some.values())

    def integrand(self, y, f):
        """Return what is integrated."""
        law = sum((v * self.some[x] for x, v in f.items()), model(0))
        total, straight = model(0), self.figure != "total_variation"
        log = _straight(law) if straight else law
        for x, v in f.items():
            if v.high <= 0:  # no outcome of this secret
                continue
            own = self.kernel(True, model(x), y) if straight else v
            if self.figure == "kl":
                part = v * (own - log)
            elif self.figure == "chi_square":
                part = FUNCTIONS["exp"](own * 2 - log)
            elif self.figure == "squared_hellinger":
                part = FUNCTIONS["exp"]((own + log) * 0.5)
            else:
                part = FUNCTIONS["minimum"](v, law)
            total = total + part * self.some[x]
        return total


def check_informations(certificate: dict | str) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    return check(certificate, _Information)
