"""Maximal cost leakage over continuous outcomes: -log of the integral of ess inf_x f(y|x)."""

import json
import math

import numpy as np
import pytest

import borel as bl
from borel.audits.verification import verified
from borel.engine.certificates.checks import means as checker
from borel.engine.certificates.checks.means import check_means

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

UNIT, TWO = bl.Interval(0, 1), bl.Finite([0.0, 1.0])
MEAN = (0.75**3 + 0.25**3) / 3


def bowl(y, x):
    """Its infimum is at the secret 1/4 for y > 1/2, and at 1 below."""
    return 1 + (2 * y - 1) * ((x - 0.25) ** 2 - MEAN)


def poly(y, x):
    return 1 + (2 * x - 1) * (2 * y - 1) / 2


def clipped():
    return bl.mechanisms.laplace(b=1.0, secret=UNIT).clip(0.0, 1.0)


JOINTS = {  # and the integral
    "at the ends": (lambda: bl.uniform(UNIT) * bl.Mechanism(poly, secret=UNIT, outcome=UNIT), 0.75),
    "inside": (
        lambda: bl.uniform(UNIT) * bl.Mechanism(bowl, secret=UNIT, outcome=UNIT),
        1 - 0.5625 / 4,
    ),
    "on a line": (
        lambda: bl.uniform(UNIT) * bl.mechanisms.laplace(b=1.0, secret=UNIT),
        math.exp(-0.5),
    ),
    "with atoms": (lambda: bl.uniform(UNIT) * clipped(), math.exp(-0.5)),
    "of two": (
        lambda: bl.pmf([0.25, 0.75], on=TWO) * bl.mechanisms.laplace(b=1.0, secret=TWO),
        math.exp(-0.5),
    ),
}
_KNOWN: dict = {}


def found(name):
    if name not in _KNOWN:
        with bl.options(closed_forms=False):
            _KNOWN[name] = bl.maximal_cost_leakage(JOINTS[name][0]())
    return _KNOWN[name]


def made(name):
    return json.loads(json.dumps(found(name).certificate))


@pytest.mark.parametrize("name", JOINTS)
def test_it_is_enclosed_and_verified(name):
    bound, truth = found(name), -math.log(JOINTS[name][1])
    assert bound.lower <= truth <= bound.upper and bound.width <= 1e-8
    assert verified("maximal_cost_leakage", bound).outcome == "verified"
    for other in ("maximal_leakage", "pmc/law/exp_mean", "pmc/law/mean", "pmc", "ldp"):
        assert verified(other, bound).outcome != "verified"


@pytest.mark.parametrize("name", JOINTS)
@pytest.mark.parametrize("side", [1, -1])
def test_an_end_beyond_the_truth_is_refused(name, side, monkeypatch):
    monkeypatch.setattr(checker._Means, "most_boxes", 16)
    data, truth = made(name), -math.log(JOINTS[name][1])
    assert check_means({**data, "lower": truth - 1e-3, "upper": truth + 1e-3}).ok
    ends = sorted((truth + side * 1e-3, truth + side * 2e-3))
    assert not check_means({**data, "lower": ends[0], "upper": ends[1]}).ok


@pytest.mark.parametrize("name", ["inside", "on a line"])
def test_poor_hints_prove_no_more(name, monkeypatch):
    """The kernel at the ends alone is above its infimum: what it exceeds that by counts."""
    monkeypatch.setattr(checker._Means, "most_boxes", 24)
    data, truth = made(name), -math.log(JOINTS[name][1])
    data["claim"]["places"] = [[y, 0.0] for y, _ in data["claim"]["places"]]
    assert check_means({**data, "lower": truth / 2, "upper": 2 * truth}).ok
    for lower, upper in ((0.0, truth - 1e-3), (truth + 1e-3, 9.0)):
        assert not check_means({**data, "lower": lower, "upper": upper}).ok


@pytest.mark.parametrize(
    "change",
    [
        {"figure": "maximal_leakage"},
        {"figure": "exp_mean"},
        {"figure": "mean"},
        {"figure": "rest"},
    ],
)
def test_it_is_about_no_other_figure(change):
    data = made("at the ends")
    data["claim"] |= change
    assert not check_means(data).ok
    assert not check_means({**made("at the ends"), "quantity": "pml"}).ok


def test_an_infimum_of_0_is_no_finite_leakage():
    """On a line without end each outcome has secrets that it rules out: S is 0."""
    joint = bl.normal() * bl.mechanisms.gaussian(sigma=1.0)
    with bl.options(budget=3):
        assert math.isinf(bl.maximal_cost_leakage(joint).upper)
    y = np.linspace(-2, 2, 5)
    assert (bl.mechanisms.gaussian(sigma=1.0).pdf(y, 40.0) < 1e-100).all()
