"""Certificates of lower and upper expectations over sets of priors: made, verified, refused."""

import copy
import json
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest

import borel as bl
from borel.audits.verification import verify
from borel.engine.certificates import making
from borel.engine.certificates.checks import set_means
from borel.engine.certificates.checks.composition import checked

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

N = 4
P = bl.pmf([F(1, 8), F(3, 8), F(1, 4), F(1, 4)])
SETS = {
    "tv": lambda: bl.priors.tv_ball(bl.pmf([0.1, 0.4, 0.3, 0.2]), 0.15),
    "contamination": lambda: bl.priors.contamination(bl.pmf([0.1, 0.4, 0.3, 0.2]), 0.15),
    "kl to": lambda: bl.priors.kl_ball(P, 0.1, direction="to_centre"),
    "kl from": lambda: bl.priors.kl_ball(P, 0.1, direction="from_centre"),
    "chi to": lambda: bl.priors.chi_square_ball(P, 0.2, direction="to_centre"),
    "chi from": lambda: bl.priors.chi_square_ball(P, 0.2, direction="from_centre"),
    "band": lambda: bl.priors.box([0.05, 0.1, 0.2, 0.1], [0.3, 0.5, 0.6, 0.4]),
    "hull": lambda: bl.priors.hull([bl.pmf([0.1, 0.4, 0.3, 0.2]), bl.pmf([0.3, 0.3, 0.2, 0.2])]),
    "polytope": lambda: bl.priors.polytope([[1.0, -1.0, 0.3, 0.0]], [0.1], on=bl.Finite(N)),
    "moment": lambda: bl.priors.moment([0.0, 1.0, 2.0, 3.0], lower=1.2, upper=1.6, on=bl.Finite(N)),
}
PROVED = ["kl to", "kl from", "chi to", "chi from", "polytope", "moment"]
"""Those whose expectations are no closed forms: the others are exact, and need no certificate."""
VALUES = {
    "floats": [0.3, -1.2, 2.5, 0.7],
    "fractions": [F(1, 3), F(-2, 7), F(0), F(5, 9)],
    "constant": [0.1, 0.1, 0.1, 0.1],
    "event": [0.0, 1.0, 0.0, 0.0],
}


@pytest.fixture
def found(request):
    name, values, figure = request.param
    return getattr(SETS[name](), figure)(VALUES[values])


def every(*, names=tuple(SETS), values=tuple(VALUES)):
    return [(name, v, figure) for name in names for v in values for figure in ("lower", "upper")]


@pytest.mark.parametrize("found", every(), indirect=True, ids=lambda p: "-".join(p))
def test_every_expectation_that_is_certified_has_a_certificate_which_is_verified(found):
    assert found.status in ("exact", "certified") and found.width <= 1e-11
    if found.status == "exact":
        assert found.certificate is None
    else:
        assert [found.certificate[end] for end in ("lower", "upper")] == [found.lower, found.upper]
        failures, words = checked(json.loads(json.dumps(found.certificate)))
        assert not failures and "expectation" in words


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("name", SETS)
def test_ends_hold_random_members(name, values):
    prior_set, v = SETS[name](), VALUES[values]
    low, high = prior_set.lower(v), prior_set.upper(v)
    for member in prior_set.members(30, 1):
        mean = float(np.dot(np.asarray(member.probabilities, float), np.asarray(v, float)))
        assert low.lower - 1e-12 <= mean <= high.upper + 1e-12


def test_fractions_that_are_no_floats_are_inside():
    third = [F(1, 3)] * N
    for name in SETS:
        for found in (SETS[name]().lower(third), SETS[name]().upper(third)):
            low, high = found.exact_ratio or (F(found.lower), F(found.upper))
            assert low <= F(1, 3) <= high


ALTERED = every(names=PROVED, values=("floats", "fractions"))


@pytest.mark.parametrize("end", ["lower", "upper"])
@pytest.mark.parametrize("found", ALTERED, indirect=True, ids=lambda p: "-".join(p))
def test_ends_that_are_too_tight_are_refused(found, end):
    wrong = copy.deepcopy(found.certificate)
    step = 1e-6 if end == "lower" else -1e-6
    wrong[end] += step
    wrong["upper" if end == "lower" else "lower"] += 2 * step  # in order still
    assert checked(wrong).failures


@pytest.mark.parametrize("name", PROVED)
def test_larger_sets_and_strangers_are_refused(name):
    certificate = SETS[name]().upper([1.0, 0.0, -1.0, 0.0]).certificate
    assert not checked(certificate).failures
    larger, stranger = copy.deepcopy(certificate), copy.deepcopy(certificate)
    about = larger["prior"]["set"]
    if "size" in about:
        about["size"] = [about["size"][0] * 2, about["size"][1]]
    else:
        about["at_most"] = [[row, end + 0.1] for row, end in about["at_most"]]
    assert any("all members" in line for line in checked(larger).failures)
    stranger["claim"]["member"] = [[0, 1], [0, 1], [0, 1], [1, 1]]
    assert any("member" in line for line in checked(stranger).failures)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.update(format=8),
        lambda c: c.update(quantity="pml"),
        lambda c: c.update(lower="Infinity", upper="Infinity"),
        lambda c: c.update(lower=float("nan")),
        lambda c: c.update(lower=c["upper"] + 1),
        lambda c: c["claim"].update(figure="middle"),
        lambda c: c["claim"]["values"].pop(),
        lambda c: c["claim"]["values"].append([0, 1]),
        lambda c: c["claim"].update(values=[[0, 0]] * N),
        lambda c: c["claim"]["member"].pop(),
        lambda c: c["claim"].update(member=[[-1, 1], [1, 1], [1, 1], [0, 1]]),
        lambda c: c["prior"]["set"].update(kind="sphere"),
        lambda c: c["prior"].update(set=None),
        lambda c: c.pop("prior"),
        lambda c: c["claim"].update(type="set"),
    ],
)
@pytest.mark.parametrize("name", ["kl to", "chi from", "polytope"])
def test_what_is_no_claim_is_refused(name, change):
    wrong = copy.deepcopy(SETS[name]().upper(VALUES["floats"]).certificate)
    change(wrong)
    assert checked(wrong).failures


def test_borel_check_reads_one(tmp_path):
    found = SETS["chi from"]().lower(VALUES["floats"])
    path = tmp_path / "one.json"
    path.write_text(json.dumps(found.certificate))
    [line] = verify(path)
    assert line.outcome == "verified" and "the lower expectation" in line.words
    path.write_text(json.dumps({**found.certificate, "lower": found.upper + 1}))
    assert verify(path)[0].outcome == "refused"


def test_learnt_sets_and_unwanted_certificates_have_none():
    with making(False):
        found = SETS["kl to"]().lower(VALUES["floats"])
    assert found.status == "certified" and found.certificate is None


def test_the_checker_is_short_and_knows_no_kernel():
    lines = Path(set_means.__file__).read_text(encoding="utf-8")
    assert len(lines.splitlines()) <= 300
    assert "expectations import Least" not in lines and "intervals" not in lines


# -- what an independent review found -------------------------------------------------------------


def forged(kind, size, centre, values, member, ends):
    about = {"kind": kind, "centre": centre, "size": size}
    claim = {"type": "expectation", "figure": "lower", "values": values, "member": member}
    return {
        "format": 11,
        "quantity": "expectation",
        "lower": ends[0],
        "upper": ends[1],
        "prior": {"set": about, "secrets": list(range(len(centre)))},
        "claim": claim,
    }


@pytest.mark.parametrize("kind", ["contamination", "chi_square_from_centre", "kl_from_centre"])
def test_what_a_centre_misses_of_a_law_is_nowhere(kind):
    floats = [1 - 2.0**-53, 2.0**-53 - 2.0**-106, 2.0**-106 - 2.0**-159]
    rest = 1 - sum(map(F, floats))
    assert 0 < rest < F(2) ** -150
    centre = [[p, p] for p in floats] + [[0.0, 0.0]]
    member = [[*F(p).as_integer_ratio()] for p in floats] + [[*rest.as_integer_ratio()]]
    values = [[0, 1], [0, 1], [0, 1], [-(10**300), 1]]
    for ends in ((-1e260, -1e250), (0.0, 0.0)):
        failures = checked(forged(kind, [0, 1], centre, values, member, ends)).failures
        assert any("sum to 1" in line for line in failures)


def test_a_member_charges_no_secret_that_none_may_charge():
    half, none = [0.5, 0.5], [0.0, 0.0]
    values = [[0, 1], [0, 1], [-1, 1]]
    for share in ([0, 1], [1, 2]):
        member = [[1, 2], [1 - share[0], 2], share]
        wrong = forged("tv", [0, 1], [half, half, none], values, member, (-1.0, -0.5))
        assert checked(wrong).failures


@pytest.mark.parametrize("lower", [2**80 + 2**27, "1208925819614629174706176", True])
def test_ends_that_are_no_floats_are_refused(lower):
    found = SETS["kl to"]().lower([2.0**80] * N)
    assert found.certificate is not None and not checked(found.certificate).failures
    wrong = {**found.certificate, "lower": lower, "upper": 2.0**80 + 2.0**28}
    assert checked(wrong).failures


@pytest.mark.parametrize("name", PROVED)
@pytest.mark.parametrize(
    "v", [[1e300, -1e300, 3e299, 0.0], [1e-300, 1.0, 1e300, -1e-5], [5e-324, 0.0, 0.0, 0.0]]
)
def test_extreme_values_have_an_enclosure(name, v):
    prior_set = SETS[name]()
    for figure in ("lower", "upper"):
        found = getattr(prior_set, figure)(v)
        with making(False):
            bare = getattr(prior_set, figure)(v)
        assert found.lower <= bare.lower <= bare.upper <= found.upper
        # a certificate costs next to nothing
        size = max(abs(bare.lower), abs(bare.upper))
        assert found.width <= bare.width + 2.0**-30 * size


def test_more_than_a_float_holds_is_an_error():
    with pytest.raises(bl.InvalidInput, match="more than a float holds"):
        SETS["kl to"]().lower([10**400, 0, 0, 0])


def test_a_thousand_secrets_take_no_longer_with_a_certificate():
    rng = np.random.default_rng(0)
    prior_set = bl.priors.kl_ball(bl.pmf(rng.dirichlet(np.ones(1000))), 0.1, direction="to_centre")
    found = prior_set.lower(rng.normal(size=1000))
    assert found.status == "certified" and found.width <= 1e-11
