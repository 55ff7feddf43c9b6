"""Check certificates of PML that is infinite as f_Y fades: a part to trust, and to read.

Along outcomes y(t), t in (0, 1], let f(y|x) >= c t^A for secrets of positive mass, as in `check`,
and let f be 0 for secrets that are further than r = reach t0 t from an end of theirs. Then f_Y is
at most the largest f within r of it times the mass there, and where that is at most C t^B, B > A,
PML has no bound. (One-sided noise on secrets above 0 is 0 for x > y.) With p <= h s^a along the
secrets x(s) = end + reach t0 s the mass is at most h t^(a + 1) / (a + 1), times reach t0.

Secrets further than reach t0 from the end are a box, for all y(t) at once. Any others lie at
x = end + reach t0 t for some t, and have to do with the outcomes y(s t), s in (0, 1).
"""

from __future__ import annotations

import math

from flint import arb

from borel.engine.certificates.checks.in_logs import _InLogs
from borel.engine.certificates.checks.rays import Q1, _gap, _Ray, _ray, _rays, _run
from borel.engine.certificates.checks.verifier import Report, _everywhere, check

DEPTH = 24


class _Fading(_InLogs):
    """A certificate under check."""

    def is_fading(self):
        return self.is_infinite()

    def ceiling(self, level, y, part):
        """Prove that f_Y <= e^level along a ray of outcomes."""
        (low, high), (end, reach) = self.ends, (part["end"], part["reach"])
        t0, other = self.claim["proof"]["t0"], high if end == low else low
        edge = end + math.copysign(reach * t0, other - end)
        step = _Ray({(Q1, 0): arb(edge) - end})
        inside = [math.isfinite(low), low < edge < high, math.isfinite(high), end in (low, high)]
        # y(s t) for s in (0, 1) are the outcomes nearer to the end of the ray
        towards = self.claim["proof"]["y"]["power"] > 0
        self.leaf("edge", lambda: all(inside) and reach > 0 and towards)
        mass = self.mass_within(end, step)

        def below(a, b):
            f = self.along(False, step * arb(a).union(arb(b)) + end, y)
            return _gap(level.exp(), f * mass).bounds()[0] >= 0

        self.leaf("f_Y", _everywhere, below, 0.0, 1.0, DEPTH)
        beyond, values = sorted((edge, other)), _ray(arb.union(*y.bounds()))

        def zero(a, b):
            return any(self.zero(x, values) for x in _rays(a, b))

        def zero_for(a, b):
            rays, *_ = self.path(self.claim["proof"]["y"], t0, _ray(0))
            return all(self.zero(step + end, y) for y in rays(a, b))

        self.leaf("no other secrets", _everywhere, zero, *beyond, DEPTH)
        self.leaf("no others near", _everywhere, zero_for, 0.0, 1.0, DEPTH)

    def mass_within(self, end, step):
        """Bound the prior's mass between an end and end + step t."""
        (size,) = step.terms.values()
        a, _, most = (_run(self.p, False, step + end) * abs(size)).fold()
        if not a + 1 > 0:
            raise ValueError("the density of the prior is not integrable along a ray")
        return _Ray({(a + 1, 0): most / arb(a + 1)})

    def zero(self, x, y):
        """Return whether f is 0 along rays."""
        return self.along(False, x, y).bounds()[1] <= 0


def check_fading(certificate: dict | str) -> Report:
    """Verify a certificate of an infinity by a density of the outcome that fades."""
    return check(certificate, _Fading)
