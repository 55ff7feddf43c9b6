"""The checker of suprema over continuous outcomes: it verifies what holds, and refuses the rest."""

import copy
import json
import math
from functools import cache

import numpy as np
import pytest
from engine.certified_cases import kernel, tilt
from engine.test_check import lines_of_code, modules_of_borel
from flint import arb

import borel as bl
from borel.engine.certificates.checks import suprema as checker
from borel.engine.certificates.checks import taylor_models
from borel.engine.certificates.checks.suprema import check_outcomes
from borel.engine.certificates.checks.verifier import check

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

UNIT, HALF_LINE = bl.Interval(0, 1), bl.Interval(0, None)
FINITE = bl.pmf([0.25, 0.5, 0.25], on=bl.Finite([0.0, 1.0, 2.0]))


def laplace(y, x):
    return np.exp(-abs(y - x) / 0.25) / 0.5


def waves(y, x):
    return 1 + 0.8 * np.sin(3 * x) * np.cos(2 * np.pi * y)


def circle(y, x):
    return 1 + 0.5 * np.cos(2 * np.pi * (y - x))


def steps(y, x):
    return np.where(y < 0.25, 1 + x, np.where(y < 0.5, 1 - x, 1.0))


JOINTS = {
    "tilt": lambda: bl.uniform(UNIT) * kernel(tilt, outcome=UNIT),
    "steps": lambda: bl.uniform(UNIT) * kernel(steps, outcome=UNIT, breaks=[0.25, 0.5]),
    "polynomial": lambda: (
        FINITE * kernel(lambda y, x: 1 + (x - 1) * (y - 0.5), secret=FINITE.on, outcome=UNIT)
    ),
    "gauss on finite": lambda: FINITE * bl.mechanisms.gaussian(sigma=1.0),
    "clayton": lambda: bl.uniform(UNIT) * bl.mechanisms.clayton(eta=0.125, theta=1.0),
    "waves": lambda: bl.uniform(UNIT) * kernel(waves, outcome=UNIT),
    "laplace": lambda: bl.uniform(UNIT) * kernel(laplace),
    "laplace on finite": lambda: FINITE * kernel(laplace, secret=FINITE.on),
    "laplace on beta": lambda: bl.beta(alpha=2, beta=3) * kernel(laplace),
    "circle": lambda: bl.uniform(UNIT) * kernel(circle, outcome=UNIT),
}
QUICK = [
    ("tilt", "pml"),
    ("tilt", "pmc"),
    ("tilt", "ldp"),
    ("steps", "pml"),
    ("polynomial", "pml"),
    ("polynomial", "pmc"),
    ("polynomial", "ldp"),
    ("gauss on finite", "pml"),
    ("clayton", "pmc"),
    ("waves", "pml"),
    ("laplace", "pml"),
]
LONG = [
    ("laplace", "pmc"),
    ("laplace", "ldp"),
    ("waves", "pmc"),
    ("laplace on beta", "pml"),
    ("laplace on beta", "pmc"),
    ("circle", "pml"),
]


@cache
def figure(name, kind):
    with bl.options(closed_forms=False):
        joint = JOINTS[name]()
        return bl.ldp(joint) if kind == "ldp" else getattr(bl, kind)(joint).sup()


def verified(name, kind):
    bound = figure(name, kind)
    assert bound.proved and bound.width <= 1e-8
    assert bound.certificate["lower"] == bound.lower
    assert bound.certificate["upper"] == bound.upper
    return check_outcomes(json.loads(json.dumps(bound.certificate)))


@pytest.mark.cases("slow", "waves-pml")
@pytest.mark.parametrize(("name", "kind"), QUICK)
def test_suprema_are_verified(name, kind):
    report = verified(name, kind)
    assert report.ok, report.failures
    assert report.scope == "the supremum over the outcomes"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), LONG)
def test_more_suprema_are_verified(name, kind):
    report = verified(name, kind)
    assert report.ok, report.failures


# -- what was altered ----------------------------------------------------------------------------


def altered(name, kind, *path, to):
    certificate = copy.deepcopy(figure(name, kind).certificate)
    place = certificate
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return check_outcomes(certificate)


@pytest.mark.cases("slow", "1e-08-tilt-pml")
@pytest.mark.parametrize(
    ("name", "kind"),
    [("tilt", "pml"), ("tilt", "pmc"), ("polynomial", "pml"), ("polynomial", "ldp")],
)
@pytest.mark.parametrize("off", [1e-8, 0.1])
def test_a_bound_that_is_too_low_is_refused(name, kind, off):
    bound = figure(name, kind)
    report = altered(name, kind, "upper", to=bound.upper - bound.width - off)
    assert any(line.startswith("outcomes") for line in report.failures)


@pytest.mark.parametrize(("name", "kind"), QUICK)
@pytest.mark.parametrize("off", [1e-8, 1e-4, 0.1])
def test_a_bound_that_is_too_high_is_refused(name, kind, off):
    bound = figure(name, kind)
    certificate = copy.deepcopy(bound.certificate)
    certificate["lower"] = bound.upper + off
    certificate["upper"] = "Infinity"  # so that nothing but the peak is in question
    report = check_outcomes(certificate)
    assert [line.split(":")[0] for line in report.failures] == ["peak"]


def test_a_lost_box_of_outcomes_is_refused():
    cover = figure("laplace", "pml").certificate["claim"]["cover"]
    assert cover == ["-Infinity", 0.0, 1.0, "Infinity"]
    for wrong in (cover[1:], cover[:-1], [*cover[:2], *cover[1:]], cover[::-1], [cover[0]] * 2):
        report = altered("laplace", "pml", "claim", "cover", to=wrong)
        assert any(line.startswith(("cover", "certificate")) for line in report.failures)


def test_a_peak_outside_of_the_outcomes_is_refused():
    for wrong in ([1.5, 1.75], [0.5, 0.5], [0.75, 0.25], [math.nan, 0.5]):
        report = altered("tilt", "pml", "claim", "peak", "y", to=wrong)
        assert any(line.startswith("peak") for line in report.failures)


def test_a_peak_at_secrets_without_mass_is_refused():
    for wrong in (-0.5, 1.5, None):
        report = altered("tilt", "pml", "claim", "peak", "x", 0, to=wrong)
        assert any(line.startswith("peak") for line in report.failures)
    report = altered("polynomial", "pml", "claim", "peak", "x", 0, to=0.5)
    assert any(line.startswith("peak") for line in report.failures)


def test_the_other_quantity_or_another_prior_is_refused():
    assert not altered("tilt", "pml", "quantity", to="pmc").ok
    assert not altered("tilt", "pml", "quantity", to="lip").ok
    assert not altered("tilt", "pml", "format", to=2).ok
    weights = [[0.0, 0.5, 0.5], [1.0, 0.25, 0.25], [2.0, 0.25, 0.25]]
    assert not altered("polynomial", "pml", "prior", "atoms", to=weights).ok
    twice = [*weights, weights[0]]
    assert not altered("polynomial", "pml", "prior", "atoms", to=twice).ok


def test_the_two_checkers_refuse_each_others_certificates():
    assert not check(figure("tilt", "pml").certificate).ok
    with bl.options(closed_forms=False):
        point = bl.pml(JOINTS["laplace"]())(0.25).certificate
    assert check(point).ok and not check_outcomes(point).ok


def test_nonsense_is_refused():
    for wrong in ({}, [], "", "{", {"format": 3}, {"claim": {"type": "outcomes"}}):
        assert not check_outcomes(wrong).ok


# -- null sets -----------------------------------------------------------------------------------


def test_altered_points_change_nothing():
    """A kernel that is 50 where x = 1/2, y = 1/2 or x = y has the suprema of the tilt."""
    for null in (
        lambda y, x: x == 0.5,
        lambda y, x: y == 0.5,
        lambda y, x: x == y,
    ):
        joint = bl.uniform(UNIT) * kernel(
            lambda y, x, null=null: np.where(null(y, x), 50.0, tilt(y, x)), outcome=UNIT
        )
        for kind, truth in (("pml", math.log(1.5)), ("pmc", math.log(2))):
            bound = getattr(bl, kind)(joint).sup()
            assert bound.lower <= truth <= bound.upper < truth + 1e-8
            report = check_outcomes(bound.certificate)
            assert report.ok, report.failures


# -- what it is ----------------------------------------------------------------------------------


def test_it_shares_nothing_with_the_kernels_but_the_graph():
    assert modules_of_borel(checker) == {
        "borel.engine.certificates.checks.verifier",
        "borel.engine.certificates.checks.reading",
        "borel.engine.certificates.checks.taylor_models",
        "borel.engine.certificates.checks.prior_weights",
        "borel.engine.certificates.checks.rays",
        "borel.engine.certificates.checks.tails",
        "borel.numerics.graphs.trace",
    }
    assert modules_of_borel(taylor_models) == {"borel.engine.certificates.checks.rays"}


def test_its_parts_have_few_lines_of_code():
    assert lines_of_code(taylor_models) <= 285
    assert lines_of_code(checker) <= 265


def test_densities_that_floats_do_not_hold_are_compared():
    """At y = 2000 both densities are 0 as floats."""
    prior = bl.pmf([0.5, 0.5], on=bl.Finite([1.0, 1.5]))
    rates = kernel(lambda y, x: x * np.exp(-x * y), secret=prior.on, outcome=bl.Interval(0, 2000))
    found = bl.ldp(prior * rates)
    truth = 1000 - arb("1.5").log()
    assert found.lower <= truth <= found.upper
    assert check_outcomes(found.certificate).ok
