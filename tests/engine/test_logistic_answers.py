"""Kernels with a factor without bound, as 1 / (1 + e^-x)."""

import math

import mpmath
import numpy as np
import pytest

import borel as bl

MP = mpmath.mp.clone()

MP.dps = 60


def logistic(y, x):
    return np.where(y == 1, 1 / (1 + np.exp(-x)), 1 / (1 + np.exp(x)))


def bounded(y, x):
    return np.where(y == 1, 0.25 + 0.5 / (1 + np.exp(-x)), 0.75 - 0.5 / (1 + np.exp(-x)))


def joint(kernel, prior=None):
    prior = bl.normal(mu=0, sigma=1) if prior is None else prior
    return prior * bl.Mechanism(kernel, secret=prior.on, outcome=bl.Finite([0, 1]))


@pytest.mark.truths
def test_an_answer_that_is_nearly_sure_far_out():
    """PMC is infinite at each outcome: 1 / (1 + e^-x) tends to 0 as x falls."""
    pmc = bl.pmc(joint(logistic))
    for bound in (
        pmc(1.0),
        pmc.sup(),
        pmc.mean(),
    ):
        assert bound.lower == math.inf


def test_a_bounded_answer_is_not_infinite():
    bound = bl.pmc(joint(bounded))(1.0)
    assert bound.lower <= math.log(2) <= bound.upper < 0.7


def test_a_supremum_that_is_approached_far_out():
    bound = bl.pml(joint(logistic, bl.gamma(alpha=1.0)))(1.0)
    # E 1 / (1 + e^-X) for a standard exponential X is log 2
    truth = -MP.log(MP.log(2))
    assert bound.lower <= truth <= bound.upper and bound.width <= 1e-8
