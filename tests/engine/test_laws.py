"""Tails, cdfs and quantiles over continuous outcomes, against closed forms."""

import math
from fractions import Fraction

import numpy as np
import pytest
from engine.certified_cases import kernel, tilt

import borel as bl

UNIT = bl.Interval(0, 1)
FINITE = bl.pmf([0.25, 0.5, 0.25], on=bl.Finite([0.0, 1.0, 2.0]))

POLYNOMIAL = FINITE * kernel(lambda y, x: 1 + (x - 1) * (y - 0.5), secret=FINITE.on, outcome=UNIT)


def laplace(y, x):
    return np.exp(-abs(y - x) / 0.25) / 0.5


def test_the_law_of_a_polynomial():
    """PML is log(1 + |y - 1/2|): P{PML > t} = 1 - 2 (e^t - 1), its s-quantile log(1 + s / 2)."""
    law = bl.pml(POLYNOMIAL)
    for bound, truth in (
        (law.tail(0.2), 1 - 2 * math.expm1(0.2)),
        (law.cdf(0.2), 2 * math.expm1(0.2)),
        (law.quantile(0.5), math.log(1.25)),
    ):
        assert bound.lower <= truth <= bound.upper <= bound.lower + 1.1e-8


def test_a_kink_on_the_diagonal_and_outcomes_far_out():
    """Beyond the secrets PMC is constant: its quantiles there are on a plateau."""
    joint = bl.uniform(UNIT) * kernel(lambda y, x: np.exp(-abs(y - x)) / 2)
    with bl.options(tol=1e-4):
        law = bl.pmc(joint)
        plateau = math.log(math.e - 1)
        bounds = law.quantile(0.2), law.quantile(0.9)
    assert bounds[1].lower <= plateau <= bounds[1].upper


@pytest.mark.cases("slow", "prior0")
@pytest.mark.cases("truths", "prior1")
@pytest.mark.parametrize("prior", [bl.uniform(UNIT), bl.beta(alpha=0.5, beta=0.5)])
def test_laws_under_priors_with_a_density_too(prior):
    bound = bl.pml(prior * kernel(laplace)).quantile(0.5)
    assert bound.status == "certified"


def steps(y, x):
    return np.where(y < 0.25, 1 + x, np.where(y < 0.5, 1 - x, 1.0))


def test_the_law_of_steps():
    """PML is 0 with probability 1/2, log 4/3 with 1/4 * 3/2, and log 2 with 1/4 * 1/2."""
    law = bl.pml(bl.uniform(UNIT) * kernel(steps, outcome=UNIT, breaks=[0.25, 0.5]))
    for bound, truth in (
        (law.tail(0.1), 0.5),
        (law.tail(0.1, closed=True), 0.5),
        (law.cdf(0.1), 0.5),
        (law.quantile(Fraction(1, 3)), 0.0),
        (law.quantile(0.75), math.log(4 / 3)),
        (law.quantile(0.9, side="right"), math.log(2)),
    ):
        assert bound.proved and bound.width <= 1.1e-8
        assert bound.lower - 1e-15 <= truth <= bound.upper + 1e-15
    at_the_step = law.quantile(0.5)
    assert at_the_step.proved and at_the_step.lower <= 0 <= at_the_step.upper
    level = math.log(1.5)
    for closed in (True, False):
        bound = law.tail(level, closed=closed)
        assert bound.lower <= 0.125 <= bound.upper


@pytest.mark.parametrize("name", ["laplace", "normal"])
def test_laws_of_noise_on_three_secrets(name):
    noise = {
        "laplace": kernel(laplace, secret=FINITE.on),
        "normal": bl.mechanisms.gaussian(sigma=1),
    }
    law = bl.pml(FINITE * noise[name])
    tail, closed, cdf = law.tail(0.1), law.tail(0.1, closed=True), law.cdf(0.1)
    assert tail.lower <= closed.upper and 1 - cdf.upper <= tail.upper
    low, high = law.quantile(Fraction(1, 3)), law.quantile(0.9, side="right")
    for bound in (tail, closed, cdf, low, high):
        assert bound.proved and bound.width <= 1.1e-8
    assert low.lower <= high.upper


def test_a_tail_under_a_density():
    """PMC is -log(1 - |y - 1/2|)."""
    bound = bl.pmc(bl.uniform(UNIT) * kernel(tilt, outcome=UNIT)).tail(0.3)
    truth = 2 * math.exp(-0.3) - 1
    assert bound.proved and bound.lower <= truth <= bound.upper <= bound.lower + 1e-8


@pytest.mark.truths
def test_a_median_with_little_time():
    joint = bl.uniform(UNIT) * bl.mechanisms.clayton(eta=0.1, theta=1.0)
    with bl.options(closed_forms=False, budget=1):
        assert bl.pml(joint).quantile(0.5).proved
