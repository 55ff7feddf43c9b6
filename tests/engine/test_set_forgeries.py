"""Certificates over sets of priors that were once verified, and are false."""

import copy
import math
from fractions import Fraction as F

import numpy as np
import pytest

import borel as bl
from borel.engine.certificates.checks.composition import checked, of_set

pytestmark = pytest.mark.usefixtures("with_certificates")

BIT, UNIT = bl.Finite([0.0, 1.0]), bl.Interval(0, 1)
EVEN = [[0.5, 0.5], [0.5, 0.5]]
TV = {"kind": "tv", "centre": EVEN, "size": [1, 8]}
HALF = bl.pmf([F(1, 2), F(1, 2)], on=BIT)


def constant(value):
    return ["const", [float(value).hex()]]


def graph(*nodes):
    return {"nodes": [["input", ["y"]], ["input", ["x"]], *nodes], "inputs": ["y", "x"]}


def a_set(kernel, about, quantity, low, high, claim, ends=(-math.inf, math.inf), points=None):
    return {
        "format": 8,
        "kernel": kernel,
        "prior": {"set": about, "secrets": [0.0, 1.0]},
        "outcome": {"lower": ends[0], "upper": ends[1], "points": points},
        "quantity": quantity,
        "lower": low,
        "upper": high,
        "claim": {"type": "set", "peak": {}, **claim},
    }


def laplace(secret):
    return bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, secret=secret, outcome=bl.Reals())


def response(rate):
    return bl.uniform(UNIT) * bl.Mechanism(
        lambda y, x: np.exp(rate * x * y) / (1 + np.exp(rate * x)), secret=UNIT, outcome=BIT
    )


def of(figure):
    return copy.deepcopy(figure.certificate)


def part(certificate, y):
    return next(one for one in certificate["parts"] if one["claim"]["y"] == y)


# -- check_expectations, check_sets ---------------------------------------------------------------


@pytest.mark.parametrize("kind", ["kl_from_centre", "chi_square_from_centre"])
def test_1_a_multiplier_of_0_proves_nothing(kind):
    """Where w has no bound from below m is 0, and log(1 + 0 w) >= 0: PMC is infinite here."""
    kernel = graph(
        ["sqrt", [0]],
        constant(0.5),
        ["divide", [3, 2]],
        constant(1),
        ["less", [1, 3]],
        ["where", [6, 4, 5]],
    )  # fmt: skip ; 1 / (2 sqrt y) for x = 0, 1 for x = 1
    about = {"kind": kind, "centre": EVEN, "size": [0, 1]}
    made = a_set({"graph": kernel, "log": False}, about, "pmc", 0.0, 1e-3, {"cover": [0.0, 1.0]},
                 (0.0, 1.0))  # fmt: skip
    assert checked(made).failures


@pytest.mark.parametrize(
    ("quantity", "x", "low"), [("pml", [1], 0.6), ("pmc", [0], 4.0), ("ldp", [1, 0], 6.9)]
)
def test_2_a_peak_far_out_where_there_is_no_density(quantity, x, low):
    """log f is 7 x - inf beyond 5, and the same for both secrets before: there is no leakage."""
    kernel = graph(
        constant(5), ["greater", [0, 2]], constant(math.inf), constant(7), ["multiply", [1, 5]],
        ["subtract", [6, 4]], ["square", [0]], constant(-0.5), ["multiply", [8, 9]],
        constant(-0.918938533204673), ["add", [10, 11]], ["where", [3, 7, 12]],
    )  # fmt: skip
    peak = {"y": [6.0, math.inf], "x": x, "prior": [[1, 2], [1, 2]]}
    claim = {"cover": [-math.inf, 5.0, math.inf], "peak": peak}
    made = a_set({"graph": kernel, "log": True}, TV, quantity, low, math.inf, claim)
    assert checked(made).failures


def test_3_atoms_of_the_outcome():
    """With probability 1/2 the outcome is the secret: of the atoms the checker knows nothing."""
    half = graph(
        ["absolute", [0]], ["negative", [2]], ["exp", [3]], constant(4), ["divide", [4, 5]]
    )
    made = a_set(
        {"graph": half, "log": False}, TV, "pml", 0.0, 0.0, {"cover": [-math.inf, 0.0, math.inf]}
    )
    atom = [graph(constant(k), ["equal", [1, 2]], constant(2), ["divide", [3, 4]]) for k in (0, 1)]
    made["outcome"]["atoms"] = [[float(k), {"graph": atom[k], "log": False}] for k in (0, 1)]
    assert checked(made).failures


def test_4_outcomes_of_one_name():
    """Only the first column of the table is looked at."""
    table = [[[0.5, 0.5], [0.5, 0.5], [0.0, 0.0]], [[0.5, 0.5], [0.0, 0.0], [0.5, 0.5]]]
    made = a_set({"table": table}, TV, "pml", 0.0, 0.0, {"cover": [0.0]}, points=[0.0] * 3)
    assert checked(made).failures


# -- composed certificates: keys that one rule reads and another one does not ----------------------


def test_5_parts_of_several_mechanisms():
    """`_joint` believes "over" of a part, which no checker of parts reads."""
    parts = [part(of(bl.pml(response(a)).sup()), y) for a, y in ((3.0, 1.0), (0.1, 0.0))]
    for one in parts:
        one.update(over=1, of=[])
    assert bl.pml(response(3.0)).sup().lower > 0.8
    made = {"format": 2, "quantity": "pml", "lower": 0.0, "upper": 0.2, "parts": parts}
    assert checked(made).failures


def test_6_terms_that_were_verified_by_other_keys():
    """A term with "over" is verified by it, then its "parts" are believed: any LDP follows."""
    joint, terms = response(0.1), []
    for quantity, figure in (("pml", bl.pml(joint).sup()), ("pmc", bl.pmc(joint).sup())):
        parts = [{"claim": {"y": y}, "lower": 0.0, "upper": 0.0} for y in (0.0, 1.0)]
        terms.append({"format": 9, "quantity": quantity, "lower": 0.0, "upper": figure.upper,
                      "over": {"kind": "hull"}, "of": [of(figure)], "parts": parts})  # fmt: skip
    made = {"format": 9, "quantity": "ldp", "lower": 0.0, "upper": 0.0, "terms": terms}
    assert checked(made).failures


def test_7_an_infinity_of_another_prior():
    """`member` reads "prior" of a certificate that is verified by its "parts"."""
    zero = lambda x: np.where(abs(x - 0.5) < 0.1, 0.0, 0.5)  # noqa: E731
    kernel = bl.Mechanism(
        lambda y, x: np.where(y > 0.5, zero(x), 1 - zero(x)),
        secret=UNIT,
        outcome=BIT,
        breaks=[0.4, 0.6],
    )  # fmt: skip ; on {0, 1} nothing leaks
    infinite = of(bl.pmc(bl.uniform(UNIT) * kernel).sup())
    infinite["claim"]["y"] = 1.0
    other = part(of(bl.pmc(response(0.1)).sup()), 0.0)
    for one in (infinite, other):
        one.update(over=1, of=[])
    ends = {"quantity": "pmc", "lower": "Infinity", "upper": "Infinity"}
    prior = {"graph": None, "atoms": [[0.0, 0.5, 0.5], [1.0, 0.5, 0.5]]}
    whole = {"format": 2, **ends, "parts": [infinite, other], "prior": prior}
    over = {"kind": "member", "set": TV, "secrets": [0.0, 1.0], "member": [[1, 2], [1, 2]]}
    assert checked({"format": 9, **ends, "over": over, "of": [whole]}).failures


def test_8_an_ldp_ratio_of_another_mechanism():
    """`_joint` believes the "kernel" beside "terms", which no rule reads."""
    joint = bl.priors.contamination(bl.uniform(UNIT), F(1, 10)) * laplace(UNIT)
    made = of(bl.pml(joint).sup())  # 0.5014
    terms = of(bl.ldp(response(0.1)))
    made["of"][1] = {**terms, **{key: made["of"][0][key] for key in ("kernel", "prior", "outcome")}}
    assert checked({**made, "lower": 0.0, "upper": 0.43}).failures


def test_9_suprema_at_different_outcomes():
    """`contamination` reads "claim" of certificates that are verified by "parts" and "terms"."""
    kernel = bl.Mechanism(
        lambda y, x: np.where(
            y < 0.5, 0.1 + 0.4 * x**8, np.where(y < 1.5, 0.45 - 0.44 * x**8, 0.45 + 0.04 * x**8)
        ),
        secret=UNIT,
        outcome=bl.Finite([0.0, 1.0, 2.0]),
    )
    joint = bl.uniform(UNIT) * kernel
    own, other = of(bl.pml(joint).sup()), of(bl.pmc(joint).sup())
    for one in (own, other):
        one["parts"].sort(key=lambda found: found["claim"]["y"])
    ldp = {"format": 2, "quantity": "ldp", "lower": 3.8, "upper": 3.81,
           "terms": copy.deepcopy([own, other])}  # fmt: skip
    ldp.update({key: own["parts"][0][key] for key in ("kernel", "prior", "outcome")})
    own["claim"] = ldp["claim"] = {"peak": {"y": 0}}
    made = {"format": 9, "quantity": "pml", "lower": 1.8, "upper": 2.5, "of": [own, ldp, own, ldp],
            "over": {"kind": "contamination", "size": [1, 2]}}  # fmt: skip
    assert checked(made).failures  # it is 1.41


def test_10_a_side_of_one_prior_beside_one_of_a_set():
    """Both have the same prior, with the keys that both checkers read: LIP is 0.828."""
    whole = bl.lip(bl.priors.tv_ball(HALF, F(1, 4)) * laplace(BIT))
    own = next(s for s in of(whole)["sides"] if s["quantity"] == "pml")
    one = of(bl.pmc(HALF * laplace(BIT)).sup())
    own["prior"] = one["prior"] = {**one["prior"], **own["prior"]}
    ends = {end: max(float(s[end]) for s in (own, one)) for end in ("lower", "upper")}
    assert ends["upper"] < 0.65 < 0.8 < whole.lower
    assert checked({"format": 2, "quantity": "lip", "sides": [one, own], **ends}).failures


@pytest.mark.parametrize("key", ["prior", "terms"])
def test_11_one_prior_is_no_set(key):
    """`of_set` believes keys that the checkers of one prior do not read."""
    if key == "prior":
        made = of(bl.pml(HALF * laplace(BIT)).sup())
        made["prior"]["set"] = "any"
    else:
        made = {**of(bl.ldp(response(3.0))), "over": {}}
    assert checked(made).failures or not of_set(made)


# -- no certificate, but an error that is none of borel's ------------------------------------------


def test_12_a_kernel_with_zeros_over_a_polytope():
    """linprog refuses infinite ratios with a ValueError."""
    shift = bl.Mechanism(
        lambda y, x: np.where(y >= x, np.exp(-(y - x)), 0.0),
        secret=BIT, outcome=bl.Reals(), breaks=[0.0, 1.0],
    )  # fmt: skip
    joint = bl.priors.moment(lambda x: x, lower=0.25, upper=0.75, on=BIT) * shift
    found = bl.pml(joint)(0.5)  # E f = P{0} f(y|0) >= f(y|0) / 4
    assert found.lower <= math.log(4) <= found.upper
