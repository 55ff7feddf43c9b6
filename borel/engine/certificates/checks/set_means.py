r"""Check certificates of lower and upper expectations over a set of priors: a part to trust.

The mean of v is at least a for all members Q if :math:`E_Q (v - a) \ge 0` (`check_expectations`),
and the lower expectation is at most the mean of one member; the upper one the other way round.
"""

from __future__ import annotations

from borel.engine.certificates.checks.rays import Z
from borel.engine.certificates.checks.set_expectations import Priors, exact, fraction
from borel.engine.certificates.checks.taylor_models import model
from borel.engine.certificates.checks.verifier import Report, check

ENDS = {"lower": 1, "upper": -1}
KEYS = {"format", "quantity", "lower", "upper", "prior", "claim"}
LEAVES = "all members", "one member"
"""What bounds a lower expectation from below, and what from above."""


class _Means:
    """A certificate under check: the set, the values, and what came of its leaves."""

    def __init__(self, data):
        claim, given, self.failures, self.checked = data["claim"], data["prior"], [], 0
        self.priors, v = Priors(given["set"]), [*map(fraction, claim["values"])]
        self.scope, sign = f"the {claim['figure']} expectation", ENDS[claim["figure"]]
        low, high = (exact(data[end]) for end in ENDS)
        bound, beyond = (low, high)[::sign]
        self.leaf("format", data["format"] == 11 and data["quantity"] == "expectation")
        numbers = all(type(data[end]) in (int, float) and float(data[end]) == data[end]
                      for end in ENDS)  # fmt: skip
        self.leaf("bound", numbers and low <= high)
        self.leaf("values", len(v) == self.priors.count and given["secrets"] == [*range(len(v))])
        self.leaf("claim", {*data} == KEYS)
        if not self.failures:
            above = [model((a - bound) * sign) for a in v]
            self.leaf(LEAVES[0], self.priors.never_negative(above))
            member = self.priors.member(claim["member"])
            mean = sum((p * (a - beyond) for p, a in zip(member, v, strict=True)), Z)
            self.leaf(LEAVES[1], mean * sign <= 0)

    def leaf(self, name, holds):
        """Count a leaf that holds, or say that it does not."""
        self.checked += bool(holds)
        self.failures += [] if holds else [f"{name}: not proved"]


def check_set_means(certificate: dict | str) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    return check(certificate, _Means)
