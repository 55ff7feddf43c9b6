r"""What follows over a set of priors from certificates about single priors: a part to trust.

* a member: a leakage that is infinite for it is infinite over the set; over all priors of full
  support PML and PMC are both the LDP ratio, and that is at least the leakage of any of them;
* full support: the LDP ratio L, at an outcome the sum of PML and PMC, of a prior that charges every
  set of secrets of positive measure, which is on trust;
* a hull: the largest of the corners', all of which charge the same sets of secrets, which is on
  trust; a union: the largest of the parts';
* contamination, (1 - w) P + w Q: with :math:`\Lambda_P` the centre's,
  :math:`-\log((1 - w) e^{-\Lambda_P} + w e^{-L})` for PML and
  :math:`\log((1 - w) e^{\Lambda_P} + w e^{L})` for PMC;
* a ball of total variation, over all outcomes: mass r moves, from values of at most M to values of
  at least m, where M / m is e^L; mixtures with w = r are members.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, ctx

from borel.engine.certificates.checks.set_expectations import Priors, fraction
from borel.engine.certificates.checks.verifier import BITS

SUPREMUM, KINDS = "the supremum over the outcomes", {"pml", "pmc"}
ENDS = "lower", "upper"
"""How checkers call what they are about; and the leakages."""


def member(certificate, of, words):
    """Return the ends that follow from an infinite leakage of one member."""
    about, (one,) = certificate["over"], of
    priors, secrets, q = Priors(about["set"]), about["secrets"], about["member"]
    priors.member(q)  # or it raises
    laws = [(Fraction(*p), Fraction(*p)) for p in q[: priors.count]]
    if priors.kind == "hull":  # one of its corners, which is given by intervals
        corner = about["set"]["corners"][[*map(tuple, q)].index((1, 1))]
        laws = [(exact(low), exact(high)) for low, high in corner]
    atoms = {x: (exact(low), exact(high)) for x, low, high in one["prior"]["atoms"]}
    if one["prior"]["graph"] is not None or sorted(atoms) != sorted(secrets):
        raise ValueError("the certificate is about another prior")
    for x, (low, high) in zip(secrets, laws, strict=True):
        if not atoms[x][0] <= low <= high <= atoms[x][1]:
            raise ValueError("the certificate is about another prior")
    same = one["quantity"] == certificate["quantity"]
    if not (same or priors.kind == "full_support") or float(one["lower"]) < math.inf:
        raise ValueError("it says nothing of this leakage")
    return math.inf, math.inf


def full_support(certificate, of, words):
    """Return the ends that follow from the LDP ratio."""
    return ratio(of, words)


def ratio(of, words):
    """Return the ends of the LDP ratio, from its own certificate or from PML and PMC."""
    if [one["quantity"] for one in of] == ["ldp"] and place(words[0]) == SUPREMUM:
        return tuple(exact(of[0][end]) for end in ENDS)
    places = {place(w) for w in words}
    if {one["quantity"] for one in of} != KINDS or len(places) != 1 or SUPREMUM in places:
        raise ValueError("neither the ratio nor PML and PMC at one outcome")
    return tuple(sum(exact(one[end]) for one in of) for end in ENDS)


def hull(certificate, of, words):
    """Return the ends that follow from those of the corners of a hull, or the parts of a union."""
    if {one["quantity"] for one in of} != {certificate["quantity"]}:
        raise ValueError("not about the same leakage")
    if len({place(w) for w in words}) != 1:
        raise ValueError("not about the same outcomes")
    low, high = (max(exact(one[end]) for one in of) for end in ENDS)
    return low, high


def contamination(certificate, of, words):
    """Return the ends that follow from those of the centre, at an outcome or over all of them.

    Over all outcomes there are four certificates: of the suprema of the centre's leakage and of the
    LDP ratio, which bound it from above, and of what both are at least on some outcomes.
    """
    quantity = certificate["quantity"]
    if len(of) == 2 and certificate["over"]["kind"] == "contamination":
        far = ratio(of, words)
        near = [exact(one[end]) for one in of if one["quantity"] == quantity for end in ENDS]
    else:
        about = [one["quantity"] for one in of], [place(w) for w in words]
        if about != ([quantity, "ldp"] * 2, [SUPREMUM] * 4):
            raise ValueError("not the leakage of the centre and the LDP ratio")
        if of[2]["claim"]["peak"]["y"] != of[3]["claim"]["peak"]["y"]:
            raise ValueError("not about the same outcomes")
        (near, far) = ([exact(low["lower"]), exact(high["upper"])]
                       for low, high in ((of[2], of[0]), (of[3], of[1])))  # fmt: skip
    most = moved if certificate["over"]["kind"] == "tv" else mixed
    with ctx.workprec(BITS):
        low, high = mixed(certificate, near[0], far[0]), most(certificate, near[1], far[1])
        return low.lower(), high.upper()


def units(certificate, near, far):
    """Return a weight, a sign, and the mean and the other end of the values of the kernel."""
    weight = fraction(certificate["over"]["size"])
    if not 0 <= weight <= 1:
        raise ValueError("no weight")
    sign = 1 if certificate["quantity"] == "pmc" else -1
    own, other = (arb(fraction((sign * v).as_integer_ratio())).exp() for v in (near, far))
    return weight, sign, own, other


def mixed(certificate, near, far):
    """Return the leakage of a mixture, by that of the centre and the LDP ratio."""
    weight, sign, own, other = units(certificate, near, far)
    return ((1 - weight) * own + weight * other).log() * sign


def moved(certificate, near, far):
    """Bound the leakage of a member whose mass has moved, from one end of the values at most."""
    weight, sign, own, other = units(certificate, near, far)
    total = own + weight * (other - 1)
    return (total.max(other) if sign < 0 else total.min(other)).log() * sign


def exact(end):
    """Return a finite number as it is."""
    if isinstance(end, str) or not math.isfinite(end):
        raise ValueError(f"{end} is no finite number")
    return Fraction(end)


def place(words):
    """Return which outcomes words are about: one, or all of them."""
    found = words.rpartition(", ")[2]
    if found != SUPREMUM and not found.startswith("at y = "):
        raise ValueError(f"about something else: {words}")
    return found


RULES = {
    "member": member,
    "full_support": full_support,
    "hull": hull,
    "union": hull,
    "contamination": contamination,
    "tv": contamination,
}
