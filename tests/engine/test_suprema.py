"""Suprema over continuous outcomes, against closed forms."""

import math

import mpmath as mp
import numpy as np
import pytest
from engine.certified_cases import kernel, tilt
from flint import arb

import borel as bl

UNIT, HALF_LINE = bl.Interval(0, 1), bl.Interval(0, None)


@pytest.mark.truths
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


def test_densities_that_floats_do_not_hold_are_compared():
    """At y = 2000 both densities are 0 as floats."""
    prior = bl.pmf([0.5, 0.5], on=bl.Finite([1.0, 1.5]))
    rates = kernel(lambda y, x: x * np.exp(-x * y), secret=prior.on, outcome=bl.Interval(0, 2000))
    found = bl.ldp(prior * rates)
    truth = 1000 - arb("1.5").log()
    assert found.lower <= truth <= found.upper


FINITE = bl.pmf([0.25, 0.5, 0.25], on=bl.Finite([0.0, 1.0, 2.0]))


def waves(y, x):
    return 1 + 0.8 * np.sin(3 * x) * np.cos(2 * np.pi * y)


def circle(y, x):
    return 1 + 0.5 * np.cos(2 * np.pi * (y - x))


def steps(y, x):
    return np.where(y < 0.25, 1 + x, np.where(y < 0.5, 1 - x, 1.0))


def laplace(y, x):
    return np.exp(-abs(y - x) / 0.25) / 0.5


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
    "laplace on beta": lambda: bl.beta(alpha=2, beta=3) * kernel(laplace),
    "circle": lambda: bl.uniform(UNIT) * kernel(circle, outcome=UNIT),
}
SUPREMA = {  # ratios
    ("tilt", "pml"): lambda: mp.mpf(3) / 2,
    ("tilt", "pmc"): lambda: 2,
    ("tilt", "ldp"): lambda: 3,
    ("steps", "pml"): lambda: 2,
    ("polynomial", "pml"): lambda: mp.mpf(3) / 2,
    ("polynomial", "pmc"): lambda: 2,
    ("polynomial", "ldp"): lambda: 3,
    ("gauss on finite", "pml"): lambda: 4,  # far out
    ("clayton", "pmc"): None,
    ("waves", "pml"): lambda: 1 / (1 - mp.mpf(4) / 15 * (1 - mp.cos(3))),
    ("waves", "pmc"): lambda: 5 - mp.mpf(4) / 3 * (1 - mp.cos(3)),
    ("laplace", "pml"): lambda: 4 / (1 - mp.exp(-4)),  # beyond the secrets, as below
    ("laplace", "pmc"): lambda: (mp.exp(4) - 1) / 4,
    ("laplace", "ldp"): lambda: mp.exp(4),
    ("laplace on beta", "pml"): lambda: mp.exp(4) / min(mp.hyp1f1(2, 5, 4), mp.hyp1f1(3, 5, 4)),
    ("laplace on beta", "pmc"): lambda: max(mp.hyp1f1(2, 5, 4), mp.hyp1f1(3, 5, 4)),
    ("circle", "pml"): lambda: mp.mpf(3) / 2,
}


@pytest.mark.few(2)
@pytest.mark.cases("slow", "gauss on finite-pml", "clayton-pmc", "waves-pmc")
@pytest.mark.parametrize(("name", "kind"), SUPREMA)
def test_suprema_are_proved(name, kind):
    with bl.options(closed_forms=False):
        joint = JOINTS[name]()
        bound = bl.ldp(joint) if kind == "ldp" else getattr(bl, kind)(joint).sup()
    assert bound.proved and bound.width <= 1e-8
    if SUPREMA[name, kind]:
        with mp.workdps(30):
            assert bound.lower <= mp.log(SUPREMA[name, kind]()) <= bound.upper
