"""Mechanisms at parameters far from 1: levels, samples, honest figures and clear refusals."""

import math

import numpy as np
import pytest
from scipy import stats

import borel as bl

make = bl.mechanisms
UNIT = bl.uniform(bl.Interval(0, 1))


@pytest.mark.parametrize("epsilon", [1e-300, 0.3, 0.7, 700.0, 1e300])
def test_laplace_of_a_level_has_that_level(epsilon):
    found = bl.ldp(UNIT * make.laplace(epsilon=epsilon, sensitivity=1))
    assert found.status == "exact" and found.attained
    assert epsilon * (1 - 1e-15) <= found.lower <= found.upper <= epsilon


@pytest.mark.parametrize("sigma", [1e-300, 1e-160, 1e100, 1e300])
def test_discrete_gaussian_of_extreme_scale_is_made(sigma):
    joint = bl.uniform(bl.Integers(0, 1)) * make.discrete_gaussian(sigma=sigma)
    assert bl.ldp(joint).lower == math.inf


@pytest.mark.parametrize("b", [1e19, 1e300])
def test_wide_discrete_laplace_noise_is_not_cut_off(b):
    drawn = make.discrete_laplace(b=b).sample(np.zeros(2000), rng=1)
    assert stats.kstest(drawn, stats.laplace(scale=b).cdf).pvalue > 1e-3


@pytest.mark.parametrize("x", [0.3, 0.97])
def test_samples_of_a_strong_frank_copula(x):
    drawn = make.frank(theta=600.0).sample(np.full(2000, x), rng=1)
    # far from the ends, 600 (y - x) is logistic
    assert stats.kstest(600 * (drawn - x), "logistic").pvalue > 1e-3


def test_wide_truncated_gaussian_noise_is_nearly_uniform():
    noise = make.truncated_gaussian(lower=0, upper=1, sigma=1e300)
    drawn = noise.sample(np.full(2000, 0.25), rng=1)
    assert stats.kstest(drawn, "uniform").pvalue > 1e-3


def test_student_t_of_no_width_in_float64_is_refused():
    with pytest.raises(bl.InvalidInput, match="sigma sqrt"):
        make.student_t(nu=1e20, sigma=1e300)


def test_far_poisson_counts_do_not_cancel():
    found = bl.pml(UNIT * make.poisson())(10**6)  # the mean of t^y e^(1 - t) is near 1 / (y + 1)
    assert found.status == "exact"
    assert math.log(10**6) < found.lower <= found.upper < math.log(10**6 + 3)


def test_a_closed_form_that_ran_out_of_digits_is_undecided():
    mech = make.gaussian_copula(rho=0.5)
    found = bl.pml(mech.reference_prior * mech)(5e-324)
    assert found.status == "undecided" and found.upper == math.inf


def test_narrowest_uniform_noise_has_a_density():
    noise = make.uniform_noise(width=5e-324)
    assert noise.density.raw(0.5, 0.5) > 0  # its logarithm
