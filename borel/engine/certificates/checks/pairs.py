"""Check certificates of the information density at a pair: a part to trust.

i(x;y) = log f(y|x) / f_Y(y). The certificate of a leakage at y, which it holds, proves bounds of
f_Y(y); f(y|x) is one value of the kernel there, at numbers: every comparison is decided by them.
Taken on trust: what the certificate at y takes on trust.
"""

from __future__ import annotations

import math
from typing import Any

from flint import arb

from borel.engine.certificates.checks.counts import _Counts, run_at
from borel.engine.certificates.checks.in_logs import _InLogs
from borel.engine.certificates.checks.rays import INF, Z, _ray
from borel.engine.certificates.checks.reading import density, masses
from borel.engine.certificates.checks.reduced_secrets import on_a_line
from borel.engine.certificates.checks.several_points import _Dimensions
from borel.engine.certificates.checks.verifier import Report, check


class _Point(_InLogs):
    """A certificate at one outcome, which keeps what it proves of f_Y."""

    def at_outcome(self, claim):
        """Prove bounds of log f_Y at an outcome, and of the leakage."""
        f_y, leakage = super().at_outcome(claim)
        self.proved = tuple(v.exp() for v in f_y), leakage
        return f_y, leakage


AT_OUTCOMES: dict[str, Any] = {"point": _Point, "box_point": _Dimensions, "count_point": _Counts}


def logarithm(v):
    """Return log v; that of 0 is -inf."""
    return v.log() if v > 0 else -INF


class _Pair:
    """A certificate under check, and what came of its leaves."""

    def __init__(self, data):
        claim, at = data["claim"], data["claim"]["at"]
        x, y, ends = claim["x"], at["claim"]["y"], (data["lower"], data["upper"])
        self.scope = f"at y = {y}, x = {x[0] if len(x) == 1 else x}"
        one = AT_OUTCOMES[at["claim"]["type"]](on_a_line(at))
        self.failures = [f"f_Y: {line}" for line in one.failures]
        self.checked = one.checked
        if self.failures:
            return
        f = masses(at["outcome"]).get(y) or density(at["kernel"])
        names = ["x"] if len(x) == 1 else [f"x{j}" for j in range(len(x))]
        named = {"y": _ray(y), **dict(zip(names, map(_ray, x), strict=True))}
        least, most = one.proved[0][0].lower(), one.proved[0][1].upper()
        low, high = (v.max(Z) for v in run_at(f, False, named).bounds())
        proved = logarithm(low) - logarithm(most), logarithm(high) - logarithm(least)
        self.leaf("format", data["format"] == 6 and data["quantity"] == "information_density")
        self.leaf("x", self.inside(x, at["prior"]))
        self.leaf("f", bool(low <= high < INF))  # a NaN is not
        self.leaf("f_Y", bool(0 < least <= most < INF))
        self.leaf("ends", all(isinstance(end, (int, float)) for end in ends))
        self.leaf("bound", bool(arb(ends[0]) <= proved[0] and proved[1] <= arb(ends[1])))

    def leaf(self, name, held):
        """Count a leaf that holds, or note one that does not."""
        self.checked += held
        self.failures += [] if held else [f"{name}: it does not hold"]

    def inside(self, x, prior):
        """Return whether these are numbers between the ends of the secret, one per coordinate."""
        ends = [(prior["lower"], prior["upper"])]
        if isinstance(prior["lower"], list):
            ends = [*zip(prior["lower"], prior["upper"], strict=True)]
        elif prior["lower"] is None:  # finitely many secrets
            return len(x) == 1 and any(x[0] == place for place, *_ in prior["atoms"])
        numbers = all(isinstance(v, (int, float)) and math.isfinite(v) for v in x)
        whole = prior.get("points") != "integers" or all(v % 1 == 0 for v in x)
        inside = all(a <= v <= b for v, (a, b) in zip(x, ends, strict=True))
        return numbers and whole and inside


def check_pairs(certificate: dict | str) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    return check(certificate, _Pair)
