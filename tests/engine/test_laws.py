"""Tails, cdfs and quantiles over continuous outcomes, against closed forms."""

import math

import numpy as np
import pytest
from engine.certified_cases import kernel

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


@pytest.mark.cases("truths", "prior1")
@pytest.mark.parametrize("prior", [bl.uniform(UNIT), bl.beta(alpha=0.5, beta=0.5)])
def test_laws_under_priors_with_a_density_too(prior):
    bound = bl.pml(prior * kernel(laplace)).quantile(0.5)
    assert bound.status == "certified"
