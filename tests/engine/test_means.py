"""Means over continuous outcomes, against closed forms."""

import math

import numpy as np
from engine.certified_cases import kernel

import borel as bl

UNIT = bl.Interval(0, 1)
FINITE = bl.pmf([0.25, 0.5, 0.25], on=bl.Finite([0.0, 1.0, 2.0]))

POLYNOMIAL = FINITE * kernel(lambda y, x: 1 + (x - 1) * (y - 0.5), secret=FINITE.on, outcome=UNIT)


def soft(y, x):
    return np.exp(-(y - x)) / (1 + np.exp(-(y - x))) ** 2


def test_maximal_leakage_of_logistic_noise():
    """The largest density is 1/4 between the secrets, and integrates to 1/2 on either side."""
    joint = bl.uniform(UNIT) * kernel(soft)
    with bl.options(tol=1e-2):
        bound = bl.pml(joint).exp_mean()
    assert bound.lower <= 1.25 <= bound.upper


def test_the_means_of_a_polynomial():
    """With z = |y - 1/2|: PML is log(1 + z), the largest density 1 + z, and z is uniform."""
    low = 2 * (1.5 * math.log(1.5) - 0.5)
    for bound, truth in (
        (bl.pml(POLYNOMIAL).mean(), low),
        (bl.pml(POLYNOMIAL).exp_mean(), 1.25),
        (bl.pmc(POLYNOMIAL).exp_mean(), math.log(4)),
        (bl.maximal_leakage(POLYNOMIAL), math.log(1.25)),
    ):
        assert bound.lower <= truth <= bound.upper <= bound.lower + 1e-8


def test_maximal_leakage_under_a_density():
    joint = bl.uniform(UNIT) * bl.mechanisms.gaussian(sigma=1.0)
    with bl.options(tol=1e-3):
        bound = bl.maximal_leakage(joint)
    truth = math.log1p(1 / math.sqrt(2 * math.pi))
    assert bound.lower <= truth <= bound.upper
