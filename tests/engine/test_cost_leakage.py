"""Maximal cost leakage over continuous outcomes: -log of the integral of ess inf_x f(y|x)."""

import math

import numpy as np
import pytest

import borel as bl

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
    "beside an end where f is unbounded": (  # the infimum is min(1, 1 / (2 sqrt y))
        lambda: (
            bl.uniform(UNIT)
            * bl.Mechanism(lambda y, x: (1 - x) + x / (2 * y**0.5), secret=UNIT, outcome=UNIT)
        ),
        0.75,
    ),
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


@pytest.mark.few(2)
@pytest.mark.cases("truths", "inside")
@pytest.mark.parametrize("name", JOINTS)
def test_it_is_enclosed(name):
    bound, truth = found(name), -math.log(JOINTS[name][1])
    assert bound.lower <= truth <= bound.upper and bound.width <= 1e-8


@pytest.mark.slow
def test_an_infimum_of_0_is_no_finite_leakage():
    """On a line without end each outcome has secrets that it rules out: S is 0."""
    joint = bl.normal() * bl.mechanisms.gaussian(sigma=1.0)
    with bl.options(budget=3):
        assert math.isinf(bl.maximal_cost_leakage(joint).upper)
    y = np.linspace(-2, 2, 5)
    assert (bl.mechanisms.gaussian(sigma=1.0).pdf(y, 40.0) < 1e-100).all()


@pytest.mark.slow
def test_mass_that_no_float_is_close_enough_to_the_end_to_bound():
    """The infimum is .05 y^-.95 where that is below .1 y^-.9, for y > 2^-20, else the other one."""
    kernel = bl.Mechanism(
        lambda y, x: (1 - x) * 0.1 * y**-0.9 + x * 0.05 * y**-0.95,
        secret=TWO,
        outcome=UNIT,
    )
    with bl.options(closed_forms=False, budget=4):
        found = bl.maximal_cost_leakage(bl.pmf([0.3, 0.7], on=TWO) * kernel)
    # the integral of each from its end to where they meet
    truth = -math.log(2 ** (-20 * 0.1) + 1 - 2 ** (-20 * 0.05))
    assert found.lower <= truth <= found.upper and found.width <= 0.1
