r"""Check certificates that E e^PMC is infinite, by two secrets: a part to trust, and to read.

For two secrets x, x' of positive prior mass, f_Y is at least p(x) f(y|x), and the least density
of an outcome at most f(y|x'), so that

.. math:: E e^{PMC} = \int f_Y^2 / \inf_x f(y|x) \ge p(x)^2 \int f(y|x)^2 / f(y|x').

Along outcomes y = base + sign t^power, t in (0, t0], let the logarithm of what is integrated be at
least w + A log t. The integral is infinite if A + power <= 0, and so is a sum over integers; then
PMC is unbounded, too.
Taken on trust: Arb, the tracer of densities, and that f(.|x) and p integrate to 1.
"""

from __future__ import annotations

import math

from flint import arb

from borel.engine.certificates.checks.rays import INF, Q0, _gap, _Ray, _ray
from borel.engine.certificates.checks.tails import log_along
from borel.engine.certificates.checks.verifier import Report, _Checker, check


class _Squares(_Checker):
    """A certificate under check: two secrets, and outcomes along which they are compared."""

    def is_square(self):
        proof = self.claim["proof"]
        t0, spec, A, w = (proof[name] for name in ("t0", "y", "exponent", "weight"))
        y = self.path(spec, t0, _ray(0))[0](1.0, 1.0)[0]
        start = w + A * arb(t0).log()
        level = _Ray({(Q0, 0): start, (Q0, 1): arb(A)})

        def compared():
            first, second = (log_along(self.f, _ray(x), y) for x in proof["secrets"])
            known = all(b.is_finite() for log in (first, second) for b in log.terms.values())
            return known and _gap(_gap(first * 2, second), level).bounds()[0] >= 0

        self.leaf("squares", compared)
        charged = {x for x, p, _ in self.atoms if p > 0}
        fits = self.data["quantity"] == "pmc" and {*proof["secrets"]} <= charged
        some = all(map(math.isfinite, (A, w, t0))) and t0 > 0
        moves = "box" not in spec and spec["power"] != 0 and A <= -spec["power"]
        self.leaf("argument", lambda: fits and some and moves)
        return spec, y.bounds(), INF, INF


def check_squares(certificate: dict | str) -> Report:
    """Verify a certificate of an infinite E e^PMC."""
    return check(certificate, _Squares)
