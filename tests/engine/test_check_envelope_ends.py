"""Envelopes by certificates about the outcomes themselves: made, verified, refused."""

import copy
import json
from fractions import Fraction as F

import mpmath
import pytest

import borel as bl
from borel.audits.verification import verify
from borel.engine.certificates.checks.composition import checked

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

UNIT = bl.Interval(0, 1)


def tilted():
    """f(y|x) = 1 + (x - 1/2)(2y - 1): PML is log(1 + |y - 1/2|), PMC -log(1 - |y - 1/2|)."""
    mech = bl.Mechanism(lambda y, x: 1 + (x - 0.5) * (2 * y - 1), secret=UNIT, outcome=UNIT)
    return bl.uniform(UNIT) * mech


@pytest.fixture(scope="module")
def env():
    return {kind: bl.envelope(tilted(), kind) for kind in ("pml", "pmc")}


@pytest.fixture(scope="module")
def level(env):
    found = env["pml"](F(7, 10))
    assert found.certificate is not None
    return found


@pytest.fixture(scope="module")
def mass(env):
    found = env["pml"].delta(0.39)
    assert found.certificate is not None
    return found


def test_levels_hold_the_leakage_of_the_outcome_and_its_supremum(level):
    # P{|Y - 1/2| >= v} = 1 - 2 v: with 7/10 the leakage is at least log(1 + 3/20)
    with mpmath.workdps(40):
        own, top = mpmath.log(mpmath.mpf(23) / 20), mpmath.log(1.5)
    assert own - 4e-9 <= level.lower <= own and top <= level.upper <= top + 4e-9
    assert "the level of 0.7" in checked(level.certificate).words


@pytest.mark.parametrize("kind", ["pml", "pmc"])
@pytest.mark.parametrize("t", [0.75, 3.0])
def test_no_mass_has_more_than_the_supremum(env, kind, t):
    found = env[kind].delta(t)
    top = bl.pml(tilted()).sup() if kind == "pml" else bl.pmc(tilted()).sup()
    assert top.upper < t and found.upper == 0
    assert not checked(found.certificate).failures


def test_certificates_are_verified_from_json(level, mass, tmp_path):
    for found in (level, mass):
        text = json.dumps(found.certificate)
        assert [float(found.certificate[e]) for e in ("lower", "upper")] == [
            found.lower,
            found.upper,
        ]
        assert not checked(json.loads(text)).failures
        path = tmp_path / "one.json"
        path.write_text(text)
        assert verify(path)[0].outcome == "verified"


def larger(c):
    c["envelope"]["delta"] = [71, 100]  # the quantile is one of 3/10


def without_the_supremum(c):
    c["of"] = [one for one in c["of"] if one["claim"]["type"] == "law"]


@pytest.mark.parametrize(
    "change",
    [
        larger,
        without_the_supremum,
        lambda c: c.update(lower=c["lower"] + 1e-6),
        lambda c: c.update(upper=c["upper"] - 1e-1),
        lambda c: c.update(quantity="pmc_envelope"),
        lambda c: c.update(quantity="pml"),
        lambda c: c.update(of=[]),
        lambda c: c.update(claim={"type": "point"}),
        lambda c: c.update(kernel=c["of"][0]["kernel"]),
        lambda c: c["envelope"].update(figure="mean"),
        lambda c: c["envelope"].update(delta=[0, 1]),
        lambda c: c["envelope"].update(delta=[3, 2]),
        lambda c: c["of"][0].update(upper=c["of"][0]["upper"] - 0.2),
        lambda c: c["of"][0]["prior"].update(upper=2.0),
        lambda c: c["of"].append(copy.deepcopy(c)),
        lambda c: c["of"].append(bl.pmc(tilted()).sup().certificate),
        lambda c: c["of"].append(bl.pml(tilted())(0.75).certificate),
        lambda c: c["of"].append(bl.pml(tilted()).mean().certificate),
    ],
)
def test_what_does_not_follow_is_refused(level, change):
    wrong = copy.deepcopy(level.certificate)
    change(wrong)
    assert checked(wrong).failures


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["envelope"].update(level=[1, 2]),
        lambda c: c["envelope"].update(nats=False, level=[2, 1]),
        lambda c: c["envelope"].update(closed="yes"),
        lambda c: c.update(lower=c["lower"] + 1e-6),
        lambda c: c.update(upper=0.9),
        lambda c: c["of"][0]["claim"].update(t=0.38),
    ],
)
def test_masses_that_do_not_follow_are_refused(mass, change):
    wrong = copy.deepcopy(mass.certificate)
    change(wrong)
    assert checked(wrong).failures


def test_a_closed_tail_says_nothing_of_an_open_mass_at_the_same_level(mass):
    wrong = copy.deepcopy(mass.certificate)
    wrong["envelope"]["closed"] = False
    [tail] = [one for one in wrong["of"] if one["claim"]["figure"] == "tail"]
    level = F(*wrong["envelope"]["level"])
    assert tail["claim"]["closed"] and F(tail["claim"]["t"]) >= level
    wrong["envelope"]["level"] = [*F(tail["claim"]["t"]).as_integer_ratio()]
    assert checked(wrong).failures


def test_another_joint_is_refused(level):
    other = bl.uniform(UNIT) * bl.Mechanism(
        lambda y, x: 1 + (x - 0.5) * (1 - 2 * y), secret=UNIT, outcome=UNIT
    )
    wrong = copy.deepcopy(level.certificate)
    wrong["of"].append(bl.pml(other).sup().certificate)
    assert any("the same joint" in line for line in checked(wrong).failures)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.update(lower="0.1397619409793984200000001"),
        lambda c: c.update(format=3),
        lambda c: c["envelope"].update(delta=[-7, -10]),
        lambda c: c["envelope"].update(delta=["7", "10"]),
    ],
)
def test_levels_are_numbers_of_a_known_form(level, change):
    wrong = copy.deepcopy(level.certificate)
    change(wrong)
    assert checked(wrong).failures


@pytest.mark.parametrize("nats", [0, None, [], "no", -1])
def test_whether_a_level_is_in_nats_is_said_in_one_way(mass, nats):
    wrong = copy.deepcopy(mass.certificate)
    wrong["envelope"]["nats"] = nats
    assert checked(wrong).failures


def test_a_level_may_be_a_ratio(env):
    found = env["pml"].delta(ratio=F(147, 100))  # P{1 + |Y - 1/2| >= 147/100} = 6/100
    assert found.certificate["envelope"]["nats"] is False
    assert 0.06 - 1e-7 <= found.lower and F(found.lower) <= F(6, 100)
    failures, words = checked(found.certificate)
    assert not failures and "the mass at 0.385" in words
    wrong = copy.deepcopy(found.certificate)
    wrong["envelope"]["level"] = [148, 100]
    assert checked(wrong).failures
