"""Figures at single outcomes, and infinities, of kernels on a line: what is proved of them."""

import math
from functools import cache

import numpy as np
import pytest

import borel as bl

UNIT = bl.Interval(0, 1)

SUPREMUM = "the supremum over the outcomes"


def clayton(theta=1.0):
    return bl.uniform(UNIT) * bl.mechanisms.clayton(eta=0.1, theta=theta)


def noise(prior, **kwargs):
    family = bl.mechanisms.laplace if "b" in kwargs else bl.mechanisms.gaussian
    return prior * family(**kwargs)


FINITE = bl.pmf([0.25, 0.5, 0.25], on=bl.Finite([0.0, 1.0, 2.0]))

FIGURES = {
    "laplace on uniform": (noise(bl.uniform(UNIT), b=1.0), "pml", 0.3),
    "laplace on uniform, cost": (noise(bl.uniform(UNIT), b=1.0), "pmc", -7.0),
    "gauss on uniform": (noise(bl.uniform(UNIT), sigma=1.0), "pml", 2.5),
    "gauss on uniform, cost": (noise(bl.uniform(UNIT), sigma=1.0), "pmc", -7.0),
    "gauss on normal": (noise(bl.normal(), sigma=1.0), "pml", 0.7),
    "gauss on beta": (noise(bl.beta(alpha=2, beta=3), sigma=1.0), "pml", 0.4),
    "laplace on arcsine": (noise(bl.beta(alpha=0.5, beta=0.5), b=1.0), "pmc", 0.4),
    "gauss on exponential": (noise(bl.exponential(), sigma=1.0), "pml", 0.4),
    "gauss on cauchy": (noise(bl.cauchy(), sigma=1.0), "pml", 0.4),
    "gauss on finite": (noise(FINITE, sigma=1.0), "pml", 0.4),
    "laplace on finite": (noise(FINITE, b=1.0), "pmc", 0.4),
    "binomial": (
        bl.beta(alpha=2, beta=5)
        * bl.Mechanism(
            lambda y, x: np.where(y > 0, x, 1 - x), secret=UNIT, outcome=bl.Finite([0, 1])
        ),
        "pml",
        1,
    ),
}

INFINITE = {
    "mass": (lambda: bl.pml(clayton()).sup(), SUPREMUM),
    "mass, theta": (lambda: bl.pml(clayton(2.3)).sup(), SUPREMUM),
    "mass, far out": (
        lambda: bl.pml(noise(bl.normal(), sigma=1.0)).sup(),
        SUPREMUM,
    ),
    "ratio": (
        lambda: bl.pmc(noise(bl.normal(), sigma=1.0)).sup(),
        SUPREMUM,
    ),
    "ratio at an outcome": (lambda: bl.pmc(noise(bl.cauchy(), b=1.0))(0.25), "at y = 0.25"),
    "zero": (lambda: bl.pmc(_window()).sup(), SUPREMUM),
    "a pole": (lambda: bl.pml(_singular())(0.25), "at y = 0.25"),
}


def _window():
    """A kernel that is 0 where |y - x| > 1/2, on a circle of length 1."""

    def f(y, x):
        gap = np.abs(y - x)
        return np.where(np.minimum(gap, 1 - gap) < 0.25, 2.0, 0.0)

    return bl.uniform(UNIT) * bl.Mechanism(f, secret=UNIT, outcome=UNIT)


def _singular():
    """A kernel that is infinite where y = x."""

    def f(y, x):
        gap = np.where(y == x, 1.0, np.abs(y - x))
        return 1 / np.sqrt(gap) / (2 * (np.sqrt(x) + np.sqrt(1 - x)))

    return bl.uniform(UNIT) * bl.Mechanism(f, secret=UNIT, outcome=UNIT)


@cache
def figure(name):
    joint, kind, y = FIGURES[name]
    with bl.options(closed_forms=False):
        return getattr(bl, kind)(joint)(y)


@pytest.mark.parametrize("name", FIGURES)
def test_figures_at_outcomes_are_proved(name):
    bound = figure(name)
    assert bound.status in ("certified", "conditional")


@cache
def infinity(name):
    with bl.options(closed_forms=False):
        return INFINITE[name][0]()


@pytest.mark.few(2)
@pytest.mark.cases("slow", "ratio")
@pytest.mark.cases("truths", "mass", "mass, theta")
@pytest.mark.parametrize("name", INFINITE)
def test_infinities_are_proved(name):
    bound = infinity(name)
    assert bound.lower == math.inf and bound.proved


def test_an_infinite_cost_of_a_finite_outcome_is_proved():
    joint = bl.beta(alpha=2, beta=5) * bl.Mechanism(
        lambda y, x: np.where(y > 0, x, 1 - x), secret=UNIT, outcome=bl.Finite([0, 1])
    )
    for bound in (bl.pmc(joint).sup(), bl.pmc(joint)(1)):
        assert bound.lower == math.inf and bound.proved


def test_a_curved_kernel_with_a_singular_corner():
    """Its leakage is enclosed at one outcome, though it has no supremum."""
    with bl.options(closed_forms=False):
        bound = bl.pml(clayton())(0.9)
    assert bound.status in ("certified", "conditional") and bound.width <= 1e-8
