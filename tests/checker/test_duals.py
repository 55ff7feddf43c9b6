"""Certificates by given multipliers: sets of priors, and envelopes; and forgeries of them."""

import copy
import json
import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
from checker import finite_cases as cases

import borel as bl
from borel.checker import Refused, duals, verify
from borel.checker.tables import at_most
from borel.engine.certificates import finite_envelopes, finite_sets
from borel.errors import NotYet
from borel.probability.bound import Bound

K = np.array([[F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)], [F(1, 8), F(7, 8)]], dtype=object)
CENTRE = [F(1, 2), F(1, 4), F(1, 4)]
ON = bl.Finite(["a", "b", "c"])


def mechanism():
    return bl.Mechanism.from_matrix(K, secret=ON, outcome=["r", "s"])


def centre():
    return bl.pmf(np.array(CENTRE, dtype=object), on=ON)


def over(prior_set):
    return prior_set * mechanism()


def ln(value):
    return mp.log(mp.mpf(value.numerator) / value.denominator)


def kl_truth():
    """Return the least mean of f(r|X) over KL(Q || P) <= 1/10, by a root of mpmath."""
    v, p = (
        [mp.mpf(1) / 2, mp.mpf(1) / 4, mp.mpf(1) / 8],
        [mp.mpf(1) / 2, mp.mpf(1) / 4, mp.mpf(1) / 4],
    )

    def tilt(rate):
        w = [a * mp.exp(-rate * b) for a, b in zip(p, v, strict=True)]
        return [a / sum(w) for a in w]

    def excess(rate):
        return sum(q * mp.log(q / a) for q, a in zip(tilt(rate), p, strict=True)) - mp.mpf(1) / 10

    q = tilt(mp.findroot(excess, (1, 10), solver="anderson", tol=1e-80))
    return sum(a * b for a, b in zip(q, v, strict=True))


def chi_truth():
    """Return the same over chi2(Q || P) <= 1/10, where no q is 0: the mean less r^(1/2) sd."""
    mean = sum(a * b for a, b in zip(CENTRE, K[:, 0], strict=True))
    variance = sum(a * (b - mean) ** 2 for a, b in zip(CENTRE, K[:, 0], strict=True))
    return mp.mpf(mean.numerator) / mean.denominator - mp.sqrt(
        mp.mpf(variance.numerator) / variance.denominator / 10
    )


def half_mean(least):
    return mp.log(mp.mpf(1) / 2 / least)


SETS = [
    # PML at r is log 1/2 over the least mean of (1/2, 1/4, 1/8), by hand; the mean at P is 11/32
    ("full_support", lambda: bl.priors.full_support(ON), lambda: ln(F(4))),
    ("tv", lambda: bl.priors.tv_ball(centre(), F(1, 8)), lambda: ln(F(1, 2) / F(19, 64))),
    ("l1", lambda: bl.priors.l1_ball(centre(), F(1, 4)), lambda: ln(F(1, 2) / F(19, 64))),
    ("contamination", lambda: bl.priors.contamination(centre(), F(1, 4)), lambda: ln(F(64, 37))),
    (
        "hull",
        lambda: bl.priors.hull([centre(), bl.pmf([F(1, 4), F(1, 4), F(1, 2)], on=ON)]),
        lambda: ln(F(2)),
    ),
    (
        "box",
        lambda: bl.priors.box([F(1, 4)] * 3, [F(1, 2), F(1, 2), F(3, 8)], ON),
        lambda: ln(F(1, 2) / F(17, 64)),
    ),
    ("interior", lambda: bl.priors.interior(F(1, 4), on=ON), lambda: ln(F(1, 2) / F(1, 4))),
    (
        "linear",
        lambda: bl.priors.polytope([[F(0), F(1), F(1)]], [F(1, 2)], on=ON),
        lambda: ln(F(1, 2) / F(5, 16)),
    ),
]
NO_RULE = [
    (
        "kl",
        lambda: bl.priors.kl_ball(centre(), F(1, 10), direction="to_centre"),
        lambda: half_mean(kl_truth()),
    ),
    (
        "chi",
        lambda: bl.priors.chi_square_ball(centre(), F(1, 10), direction="to_centre"),
        lambda: half_mean(chi_truth()),
    ),
]


def stated(truth, slack=4):
    """Return the nearest floats around a truth, or a few ulps wider."""
    low = high = float(truth)
    for _ in range(slack):
        low, high = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    return low, high


@pytest.mark.parametrize(("name", "make", "truth"), SETS, ids=[row[0] for row in SETS])
def test_suprema_over_sets_hold_to_the_last_digits_and_no_further(name, make, truth):
    low, high = stated(truth())
    data = finite_sets.certificate(over(make()), "pml.at", {"y": "r"}, Bound.exact(low, high))
    assert verify(json.loads(json.dumps(data))).figure == "pml.at"
    for end, value in (("upper", low), ("lower", high)):
        other = {"lower": low.hex(), "upper": low.hex()} if end == "upper" else {
            "lower": high.hex(), "upper": high.hex()
        }  # fmt: skip
        with pytest.raises(Refused):
            verify({**data, **other})
        with pytest.raises(Refused):  # nor with multipliers, or members, sought for it
            bound = Bound.exact(value, value)
            verify(finite_sets.certificate(over(make()), "pml.at", {"y": "r"}, bound))


@pytest.mark.parametrize(("name", "make", "truth"), NO_RULE, ids=[row[0] for row in NO_RULE])
def test_balls_of_divergences_keep_their_status_and_have_no_certificate(name, make, truth):
    prior_set, found = make(), bl.pml(over(make()))("r")
    assert found.status == "certified" and found.lower <= truth() <= found.upper
    for bound in (found, prior_set.lower([F(3), F(-1), F(1, 3)])):
        with pytest.raises(NotYet, match=f"a rule for .*{name}"):
            bound.certify()
    data = set_certificate("tv")
    for kind in ("kl_to_centre", "kl_from_centre", f"{name}_to_centre", "chi_square_to_centre"):
        data["joint"]["priors"]["kind"] = kind
        with pytest.raises(Refused, match="priors: expected one of"):
            verify(data)


@pytest.mark.parametrize("seed", range(2))
def test_figures_over_sets_are_verified(seed):
    for of in cases.sets(seed):
        for figure, arguments, bound in cases.set_figures(of):
            verify(json.loads(json.dumps(cases.certified(of, figure, arguments, bound))))


@pytest.mark.proofs
@pytest.mark.parametrize("seed", range(2, 60))
def test_figures_over_many_sets_are_verified(seed):
    test_figures_over_sets_are_verified(seed)


@pytest.mark.parametrize(("name", "make", "truth"), SETS, ids=[row[0] for row in SETS])
def test_expectations_are_verified(name, make, truth):
    values, prior_set = [F(3), F(-1), F(1, 3)], make()
    for figure, bound in (
        ("expectation.lower", prior_set.lower(values)),
        ("expectation.upper", prior_set.upper(values)),
    ):
        data = finite_sets.expectation(prior_set, figure, values, bound)
        verify(data)
        end = "lower" if figure == "expectation.lower" else "upper"
        out = bound.upper + 1e-9 if end == "lower" else bound.lower - 1e-9
        with pytest.raises(Refused):
            verify({**data, "lower": out.hex(), "upper": out.hex()})


def test_a_secret_that_no_member_charges_counts_nowhere():
    free = bl.priors.polytope([[F(1), F(0), F(0)]], [F(0)], on=ON)
    of = over(free)
    data = finite_sets.certificate(of, "ldp", {}, bl.ldp(of))
    assert [label for label, _ in data["proof"]["never"]] == ["'a'"]
    verify(data)
    for forged in ([["'b'", data["proof"]["never"][0][1]]], [["'b'", None]], [["'d'", None]]):
        with pytest.raises(Refused):
            verify({**data, "proof": {**data["proof"], "never": forged}})


def test_what_is_only_approached_needs_a_member_beside_its_limit():
    of = over(bl.priors.full_support(ON))
    data = finite_sets.certificate(of, "pml.sup", {}, bl.pml(of).sup())
    verify(data)
    data["proof"]["witness"]["charging"] = []
    with pytest.raises(Refused):
        verify(data)


# -- the rules themselves, against members drawn at random ------------------------------------


def drawn(of, rng):
    """Return random laws that are members."""
    for _ in range(400):
        q = (
            rng.dirichlet(np.full(of.count, 0.8))
            if rng.random() < 0.5
            else rng.dirichlet([4, 2, 2])
        )
        whole = [F(float(v)).limit_denominator(10**4) for v in q[:-1]]
        law = [*whole, 1 - sum(whole)]
        if min(law) >= 0 and of.holds(law, closed=False):
            yield law


KINDS = {
    "full_support": {},
    "box": {"lower": ["1/8"] * 3, "upper": ["3/4", "1/2", "1/2"], "open": False},
    **{
        kind: {"centre": {"entries": ["1/2", "1/4", "1/4"]}, "size": "1/5"}
        for kind in ("tv", "contamination")
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_member_is_below_what_any_multiplier_proves(kind):
    of = duals.priors({"kind": kind, **KINDS[kind]}, 3)
    rng, tried = np.random.default_rng(5), 0
    members = list(drawn(of, rng))
    assert len(members) >= 20
    for _ in range(30):
        v = [F(int(a), 16) for a in rng.integers(-32, 33, size=3)]
        t = F(int(rng.integers(1, 200)), 32)
        if of.multiplier == "t":
            t = t + min(v)
        try:
            bound = of.least(v, t)
        except Refused:
            continue
        for q in members:
            assert at_most(bound, sum(a * b for a, b in zip(q, v, strict=True)))
            tried += 1
    assert tried > 200


# -- forgeries --------------------------------------------------------------------------------


def set_certificate(name):
    make = {row[0]: row[1] for row in SETS}[name]
    of = over(make())
    return finite_sets.certificate(of, "pml.sup", {}, bl.pml(of).sup())


def put(*path):
    *keys, last, value = path

    def forge(data):
        for key in keys:
            data = data[key]
        data[last] = value

    return forge


PRIORS, PROOF = ("joint", "priors"), ("proof",)
FORGED = {
    "a larger ball": ("tv", put(*PRIORS, "size", "1/4")),
    "a negative size": ("tv", put(*PRIORS, "size", "-1/8")),
    "a size above 1": ("tv", put(*PRIORS, "size", "2/1")),
    "a smaller ball than the witness": ("tv", put(*PRIORS, "size", "1/16")),
    "another centre": ("tv", put(*PRIORS, "centre", "entries", ["1/4", "1/2", "1/4"])),
    "a centre that is no law": ("tv", put(*PRIORS, "centre", "entries", ["1/4", "1/4", "1/4"])),
    "another multiplier": ("tv", put(*PROOF, "rows", "pml", 0, {"t": "1/7"})),
    "a multiplier below all values": ("tv", put(*PROOF, "rows", "pml", 0, {"t": "-5/1"})),
    "no multiplier": ("tv", put(*PROOF, "rows", "pml", 0, None)),
    "a multiplier of another set": ("tv", put(*PROOF, "rows", "pml", 0, {"l": "1/1"})),
    "a multiplier NaN": ("tv", put(*PROOF, "rows", "pml", 0, {"t": "nan"})),
    "an infinite multiplier": ("tv", put(*PROOF, "rows", "pml", 0, {"t": "inf"})),
    "a row missing": ("tv", lambda d: d["proof"]["rows"]["pml"].pop()),
    "a row more": ("tv", lambda d: d["proof"]["rows"]["pml"].append(None)),
    "rows of PMC": ("tv", lambda d: d["proof"].update(rows={"pmc": d["proof"]["rows"]["pml"]})),
    "no rows": ("tv", put(*PROOF, "rows", None)),
    "no witness": ("tv", put(*PROOF, "witness", None)),
    "a witness outside": ("tv", put(*PROOF, "witness", "member", ["1/4", "1/4", "1/2"])),
    "a witness that is no law": ("tv", put(*PROOF, "witness", "member", ["1/2", "1/4", "1/8"])),
    "a negative witness": ("tv", put(*PROOF, "witness", "member", ["3/2", "-1/4", "-1/4"])),
    "a witness of another length": ("tv", put(*PROOF, "witness", "member", ["1/2", "1/2"])),
    "a witness at another outcome": ("tv", put(*PROOF, "witness", "y", "'s'")),
    "a witness at another secret": ("tv", put(*PROOF, "witness", "x", ["'c'"])),
    "a witness at no secret": ("tv", put(*PROOF, "witness", "x", [])),
    "a witness of another leakage": ("tv", put(*PROOF, "witness", "kind", "pmc")),
    "the centre as witness": ("tv", put(*PROOF, "witness", "member", ["1/2", "1/4", "1/4"])),
    "another kind of set": ("tv", put(*PRIORS, "kind", "contamination")),
    "no kind of set": ("tv", put(*PRIORS, "kind", "ball")),
    "a prior beside the set": ("tv", put("joint", "prior", {"entries": ["1/2", "1/4", "1/4"]})),
    "one prior for the set": (
        "tv",
        lambda d: d["joint"].update(prior=d["joint"].pop("priors")["centre"]),
    ),
    "a key more": ("tv", put(*PRIORS, "more", 1)),
    "another kernel": ("tv", put("joint", "matrix", "entries", 2, ["1/16", "15/16"])),
    "a wider box": ("box", put(*PRIORS, "upper", 2, "1/2")),
    "a box that is empty": ("box", put(*PRIORS, "upper", ["1/4", "1/4", "1/4"])),
    "lower above upper": ("box", put(*PRIORS, "lower", 0, "5/8")),
    "open, with a witness at its edge": ("box", put(*PRIORS, "open", True)),
    "open as a number": ("box", put(*PRIORS, "open", 0)),
    "a member more": (
        "hull",
        lambda d: d["joint"]["priors"]["members"].append({"entries": ["0/1", "0/1", "1/1"]}),
    ),
    "no members": ("hull", put(*PRIORS, "members", [])),
    "a member forgotten": ("hull", lambda d: d["joint"]["priors"]["members"].pop()),
    "shares above 1": ("hull", put(*PROOF, "witness", "member", ["1/1", "1/1"])),
    "shares below 0": ("hull", put(*PROOF, "witness", "member", ["2/1", "-1/1"])),
    "a constraint relaxed": ("linear", put(*PRIORS, "at_most", 0, 1, "3/4")),
    "a constraint dropped": ("linear", put(*PRIORS, "at_most", [])),
    "a negative weight": ("linear", put(*PROOF, "rows", "pml", 0, {"weights": ["-1/8"]})),
    "a weight missing": ("linear", put(*PROOF, "rows", "pml", 0, {"weights": []})),
    "a width below": ("linear", put(*PRIORS, "width", 2)),
    "a width above": ("linear", put(*PRIORS, "width", 4)),
    "a width that is true": ("linear", put(*PRIORS, "width", True)),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_certificates_over_sets_are_refused(name):
    of, forge = FORGED[name]
    data = set_certificate(of)
    verify(copy.deepcopy(data))
    forge(data)
    with pytest.raises(Refused):
        verify(data)


# -- envelopes --------------------------------------------------------------------------------


def reference():
    """Return the joint of Example 1's kind whose envelope is known by hand.

    A bit, P(0|0) = 3/4 and P(0|1) = 1/4, uniform: merging all but a share w of the other outcome
    with y = 0 gives P(z|0) = 3/4 + w/4, P(z) = 1/2 + w/2, e^PML = (3 + w) / (2 + 2 w).
    """
    k = np.array([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]], dtype=object)
    return bl.pmf(np.array([F(1, 2)] * 2, dtype=object)) * bl.Mechanism.from_matrix(k)


def test_an_envelope_known_by_hand():
    of = reference()
    low, high = stated(ln(F(3, 2)))
    # each outcome has e^PML = 3/2, so that all of the mass has it
    bound = Bound.exact(low, high)
    data = finite_envelopes.certificate(of, "pml.envelope", {"delta": F(1)}, bound)
    verify(data)
    for value in (low, high):
        with pytest.raises((Refused, NotYet)):
            narrow = Bound.exact(value, value)
            verify(finite_envelopes.certificate(of, "pml.envelope", {"delta": F(1)}, narrow))
        with pytest.raises(Refused):
            verify({**data, "lower": value.hex(), "upper": value.hex()})


@pytest.mark.cases("slow", "2")
@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(3))
def test_envelopes_are_verified(seed):
    of = cases.joint(seed, most=6)
    for figure, arguments, bound in cases.envelopes(of):
        verify(json.loads(json.dumps(cases.certified(of, figure, arguments, bound))))


@pytest.mark.proofs
@pytest.mark.parametrize("seed", range(3, 60))
def test_many_envelopes_are_verified(seed):
    of = cases.joint(seed, most=12)
    for figure, arguments, bound in cases.envelopes(of):
        verify(cases.certified(of, figure, arguments, bound))


def skewed():
    k = np.array([[F(3, 4), F(1, 8), F(1, 8)], [F(1, 4), F(1, 2), F(1, 4)]], dtype=object)
    return bl.pmf([F(1, 3), F(2, 3)]) * bl.Mechanism.from_matrix(k)


def envelope_certificate(figure="pml.envelope"):
    of = skewed()
    envelope = bl.envelope(of, of=figure[:3])
    if figure.endswith("delta"):
        arguments = {"t": {"ratio": F(3, 2)}}
        return finite_envelopes.certificate(of, figure, arguments, envelope.delta(ratio=F(3, 2)))
    return finite_envelopes.certificate(of, figure, {"delta": F(1, 2)}, envelope(F(1, 2)))


FORGED_ENVELOPES = {
    "a larger share": lambda d: d["proof"]["shares"]["shares"].append([0, 0, "1/1"]),
    "a negative share": lambda d: d["proof"]["shares"]["shares"].append([0, 0, "-1/8"]),
    "a share of nobody": lambda d: d["proof"]["shares"]["shares"].append([7, 0, "1/8"]),
    "a share of true": lambda d: d["proof"]["shares"]["shares"].append([True, 0, "1/8"]),
    "no shares": put("proof", "shares", None),
    "shares of nothing": put("proof", "shares", "shares", []),
    "another theta of shares": put("proof", "shares", "theta", "2/1"),
    "another theta of prices": put("proof", "prices", "theta", "1/1"),
    "a negative theta": put("proof", "prices", "theta", "-1/1"),
    "no prices": put("proof", "prices", None),
    "prices of 0": put("proof", "prices", "prices", ["0/1", "0/1"]),
    "a negative price": put("proof", "prices", "prices", ["-1/1", "1/1"]),
    "a price missing": put("proof", "prices", "prices", ["1/1"]),
    "another delta": put("arguments", "delta", "2/5"),
    "a larger delta": put("arguments", "delta", "9/10"),
    "a delta of 0": put("arguments", "delta", "0/1"),
    "another prior": put("joint", "prior", "entries", ["1/2", "1/2"]),
    "the other leakage": put("figure", "pmc.envelope"),
    "narrower above": lambda d: d.update(upper=d["lower"]),
    "narrower below": lambda d: d.update(lower=d["upper"]),
}


@pytest.mark.few(9)
@pytest.mark.parametrize("name", FORGED_ENVELOPES)
def test_forged_envelopes_are_refused(name):
    data = envelope_certificate()
    verify(copy.deepcopy(data))
    FORGED_ENVELOPES[name](data)
    with pytest.raises(Refused):
        verify(data)


@pytest.mark.parametrize("level", ["5/4", "8/5", "1/2"])
def test_a_mass_is_claimed_at_its_own_level_only(level):
    data = envelope_certificate("pml.envelope_delta")
    verify(copy.deepcopy(data))
    data["arguments"]["t"]["ratio"] = level
    with pytest.raises(Refused):
        verify(data)


# -- bugs in the engine -----------------------------------------------------------------------


def bug(module, name, wrong):
    def seed(monkeypatch):
        place = __import__(module, fromlist=["_"])
        *path, last = name.split(".")
        for part in path:
            place = getattr(place, part)
        monkeypatch.setattr(place, last, wrong(getattr(place, last)))

    return seed


def shifted(old):
    def wrong(self, v):
        found = old(self, v)
        return None if found is None else (found[0] + F(1, 50), found[1])

    return wrong


def narrowed(old):
    def wrong(*args, **kwargs):
        found = old(*args, **kwargs)
        return found._replace(lower=found.lower + 0.01, upper=found.upper + 0.01)

    return wrong


def one_corner(old):
    return lambda self, v: old(type(self)(self.corners[:1]), v)


def too_high(old):
    def wrong(self, delta, gap):
        found, rough = old(self, delta, gap)
        return found._replace(lower=found.lower * F(9, 8), upper=found.upper * F(9, 8)), rough

    return wrong


def too_low(old):
    def wrong(self, theta, *, closed=True):
        found = old(self, theta, closed=closed)
        return found._replace(lower=found.lower / 2, upper=found.upper / 2)

    return wrong


BALLS, EXPECT = "borel.priors.balls", "borel.engine.prior_sets.lower_expectations"
SET_BUGS = {
    "tv": bug(BALLS, "TotalVariationBall.least_exactly", shifted),
    "contamination": bug(BALLS, "Contamination.least_exactly", shifted),
    "hull": bug(BALLS, "Hull.least_exactly", one_corner),
    "box": bug("borel.priors.probability_intervals", "ProbabilityIntervals.least_exactly", shifted),
    "full_support": bug("borel.priors.sets", "FullSupport.least_exactly", shifted),
    "linear": bug("borel.engine.prior_sets.linear_programme", "columns_exactly", shifted),
    "kl": bug(EXPECT, "kl_to_centre", narrowed),
    "chi": bug(EXPECT, "chi_square_to_centre", narrowed),
}  # fmt: skip


@pytest.mark.parametrize("name", SET_BUGS)
def test_no_bug_of_a_set_makes_a_false_claim_verified(name, monkeypatch):
    make, truth = next(row[1:] for row in (*SETS, *NO_RULE) if row[0] == name)
    right = bl.pml(over(make()))("r")
    assert right.lower <= truth() <= right.upper
    SET_BUGS[name](monkeypatch)
    wrong = bl.pml(over(make()))("r")
    assert not wrong.lower <= truth() <= wrong.upper
    with pytest.raises((Refused, NotYet)):
        verify(finite_sets.certificate(over(make()), "pml.at", {"y": "r"}, wrong))


@pytest.mark.parametrize(
    ("name", "wrong", "figure"),
    [
        ("ExactProgramme.level", too_high, "pml.envelope"),
        ("ExactProgramme.value", too_low, "pml.envelope_delta"),
    ],
)
def test_no_bug_of_an_envelope_makes_a_false_claim_verified(name, wrong, figure, monkeypatch):
    right = envelope_certificate(figure)
    bug("borel.engine.envelopes.rational_programme", name, wrong)(monkeypatch)
    try:
        made = envelope_certificate(figure)
    except NotYet:
        return
    assert (made["lower"], made["upper"]) != (right["lower"], right["upper"])
    with pytest.raises(Refused):
        verify(made)


def test_full_support_is_open():
    of, edge = duals.priors({"kind": "full_support"}, 3), [F(1, 2), F(1, 2), F(0)]
    assert of.holds(edge, closed=True) and not of.holds(edge, closed=False)
    assert of.holds([F(1, 3)] * 3, closed=False) and of.possible == [0, 1, 2]
    assert duals.priors({"kind": "full_support"}, 1).holds([F(1)], closed=False)
