r"""What certificates about the outcomes say of an envelope: a part to trust.

The outcome is a post-processing of itself, and any other one leaks no more than the outcome does:

* level(delta) >= the quantile of the leakage at s, if s <= 1 - delta;
* level(delta) <= the supremum of the leakage; for PML, <= log E e^PML + log 1/delta (Markov);
* mass(t) >= P{leakage >= u}, or P{leakage > u}, if u >= t; it is 0 if the supremum is below t.
"""

from __future__ import annotations

import math

from flint import arb, ctx, fmpq

from borel.engine.certificates.checks.set_rules import SUPREMUM, place
from borel.engine.certificates.checks.verifier import BITS

QUANTITIES = {"pml_envelope": "pml", "pmc_envelope": "pmc"}
LAWS, MEANS = ("law", "discrete_law", "infinite_quantile"), ("mean", "discrete_law")


def ends(certificate, of, words):
    """Return the ends of an envelope that follow from certificates, and what it is about."""
    kind, about = QUANTITIES[certificate["quantity"]], certificate["envelope"]
    if any(one["quantity"] != kind for one in of):
        raise ValueError("not about the same leakage")
    with ctx.workprec(BITS):
        found = [*zip(of, words, strict=True)]
        if about["figure"] == "epsilon":
            delta = ratio(about["delta"])
            if not 0 < delta <= 1:
                raise ValueError(f"a mass of {delta}")
            each = [of_level(one, said, delta, kind) for one, said in found]
            low, high = [arb(0), *(v for v, _ in each)], [arb(math.inf), *(v for _, v in each)]
            scope = f"the level of {float(delta.p) / float(delta.q)}"
        elif about["figure"] == "delta" and all(type(about[v]) is bool for v in ("closed", "nats")):
            t = arb(ratio(about["level"]))
            t = t if about["nats"] else t.log()
            each = [of_mass(one, said, t, about["closed"]) for one, said in found]
            low, high = [arb(0), *(v for v, _ in each)], [arb(1), *(v for _, v in each)]
            scope = f"the mass at {float(t)}"
        else:
            raise ValueError(f"no figure of an envelope: {about['figure']}")
        return max(v.lower() for v in low), min(v.upper() for v in high), scope


def of_level(one, said, delta, kind):
    """Return the ends of a level that follow from one certificate."""
    low, high = (number(one[end]) for end in ("lower", "upper"))
    claim = one.get("claim", {})
    about = claim.get("type"), claim.get("figure")
    if about[0] in LAWS and about[1] == "quantile":
        if fmpq(*claim["s"]) > 1 - delta:
            raise ValueError(f"a quantile above 1 - {delta}")
        return low, arb(math.inf)
    if about[0] in MEANS and about[1] == "maximal_leakage" and kind == "pml":
        return arb(0), high - arb(delta).log()
    return arb(0), supremum(said, high)


def of_mass(one, said, t, closed):
    """Return the ends of a mass that follow from one certificate."""
    low, high = (number(one[end]) for end in ("lower", "upper"))
    claim = one.get("claim", {})
    if claim.get("type") in LAWS and claim.get("figure") == "tail":
        if type(claim["t"]) not in (int, float):  # to Arb a string is a number, too
            raise ValueError(f"a tail at {claim['t']!r}")
        at = arb(claim["t"])
        if not (at > t or (at == t and closed >= claim["closed"])):
            raise ValueError(f"a tail at {at}, which is not above {t}")
        return low, arb(1)
    top = supremum(said, high)
    return arb(0), arb(0) if top < t else arb(1)


def ratio(pair):
    """Return an exact number, of two integers."""
    numerator, denominator = pair
    if not (type(numerator) is type(denominator) is int and denominator > 0):
        raise ValueError(f"{pair} is no fraction")
    return fmpq(numerator, denominator)


def number(end):
    """Return an end as a ball; a string is an infinity."""
    return arb(float(end))


def supremum(said, high):
    """Return the upper end of a supremum over the outcomes."""
    if place(said) != SUPREMUM:
        raise ValueError(f"about something else: {said}")
    return high
