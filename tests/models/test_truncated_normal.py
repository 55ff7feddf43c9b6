"""Truncated normal: validation, prior predictive, the prior's density, recovery against a grid."""

import mpmath
import numpy as np
import pandas as pd
import pytest
from predictions import agrees, on_a_grid, prior_predictive, sampled
from scipy import stats

import borel as bl
from borel.models import truncated_normal, truncated_normal_prior

VALUES = [2.0, 3.5, 4.1]


@pytest.mark.parametrize(
    ("values", "kwargs", "error", "message"),
    [
        ([1.0, 6.0], {}, ValueError, r"lie in \[1, 5\], got 6.0 at position 1"),
        ([1.0, np.nan], {}, ValueError, "finite, got nan at position 1"),
        ([], {}, ValueError, "at least one value"),
        ([[1.0]], {}, ValueError, r"got shape \(1, 1\)"),
        (["a"], {}, TypeError, "must be real numbers"),
        ([2.0], {"lower": 5}, ValueError, "lower < upper, got 5 and 5"),
        ([2.0], {"upper": np.inf}, ValueError, "must be finite"),
        ([2.0], {"lower": "1"}, TypeError, "lower must be one number"),
        ([2.0], {"mu_prior": (1, 0)}, ValueError, "a finite mean and a positive deviation"),
        ([2.0], {"sigma_prior": -1}, ValueError, "sigma_prior must be one positive"),
    ],
)
def test_bad_input(values, kwargs, error, message):
    with pytest.raises(error, match=message):
        truncated_normal(values, **{"lower": 1, "upper": 5, **kwargs})


def test_records_keep_their_names():
    series = pd.Series(VALUES, index=["a", "b", "c"])
    assert list(truncated_normal(series, lower=1, upper=5).coords["record"]) == ["a", "b", "c"]


def test_the_prior_predictive():
    drawn = prior_predictive(truncated_normal(VALUES, lower=1, upper=5))
    assert stats.kstest(drawn["mu"], stats.norm(3, 4).cdf).pvalue > 1e-4
    assert stats.kstest(drawn["sigma"], stats.halfnorm(scale=4).cdf).pvalue > 1e-4
    values = drawn["values"]
    assert values.min() >= 1 and values.max() <= 5
    # through its own distribution function a value is uniform
    mu, sigma = drawn["mu"], drawn["sigma"]
    inside = sigma > 0.2  # scipy loses the others, far in a tail
    low, high = (1 - mu) / sigma, (5 - mu) / sigma
    ranks = stats.truncnorm(low[inside], high[inside], mu[inside], sigma[inside]).cdf(
        values[inside, 0]
    )
    assert stats.kstest(ranks, "uniform").pvalue > 1e-4


@pytest.mark.parametrize(
    ("mu", "sigma"), [(3.2, 0.5), (1.0, 8.0), (-40.0, 1.5), (60.0, 2.0), (3.0, 1e-3)]
)
def test_the_density_of_the_prior(mu, sigma):
    prior = truncated_normal_prior({"mu": mu, "sigma": sigma}, lower=1, upper=5)
    with mpmath.workdps(500):
        m, s = mpmath.mpf(mu), mpmath.mpf(sigma)
        ends = [mpmath.erfc((end - m) / s / mpmath.sqrt(2)) / 2 for end in (1, 5)]
        for x in (1.0, 2.5, 3.0, 4.75):
            truth = mpmath.log(mpmath.npdf((mpmath.mpf(x) - m) / s) / s / (ends[0] - ends[1]))
            # the exponent itself carries roundings of its size
            assert float(prior.logpdf(x)) == pytest.approx(float(truth), rel=1e-12, abs=1e-9)


def test_draws_become_priors():
    batch = truncated_normal_prior(
        {"mu": np.array([3.2, -9.0]), "sigma": np.array([0.5, 2.0])}, lower=1, upper=5
    )
    assert batch.batch == (2,) and batch.on == bl.Interval(1, 5)
    x = np.linspace(1.1, 4.9, 7)
    rows = batch.density.linear(x)
    for row, mu, sigma in zip(rows, (3.2, -9.0), (0.5, 2.0), strict=True):
        one = truncated_normal_prior({"mu": mu, "sigma": sigma}, lower=1, upper=5)
        np.testing.assert_allclose(row, one.pdf(x), rtol=1e-12)
    with pytest.raises(ValueError, match="hold the variable 'sigma'"):
        truncated_normal_prior({"mu": 1.0}, lower=1, upper=5)


def test_one_draw_is_a_prior_whose_figures_are_enclosed():
    unit = bl.Interval(0, 1)
    prior = truncated_normal_prior({"mu": 0.625, "sigma": 0.25}, lower=0, upper=1)
    found = bl.pml(prior * bl.mechanisms.laplace(b=0.5, secret=unit))(0.75)
    mpmath.mp.dps = 30

    def f(x):
        return mpmath.npdf(x, mpmath.mpf(5) / 8, mpmath.mpf(1) / 4)

    ends = [0, mpmath.mpf(3) / 4, 1]
    mass = mpmath.quad(f, ends)
    mean = mpmath.quad(lambda x: f(x) * mpmath.exp(-2 * abs(x - ends[1])), ends) / mass
    assert found.lower <= -mpmath.log(mean) <= found.upper
    assert found.status in ("certified", "conditional") and found.width < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(("mu", "sigma"), [(0.6, 0.2), (1.1, 0.4)])
def test_recovery_against_the_grid(mu, sigma):
    rng = np.random.default_rng(9)
    law = stats.truncnorm(-mu / sigma, (1 - mu) / sigma, mu, sigma)
    x = law.rvs(size=400, random_state=rng)
    posterior = sampled(
        truncated_normal(x, lower=0, upper=1, mu_prior=(0.5, 0.5), sigma_prior=0.5),
        draws=2000,
    )["posterior"]

    def log_density(m, s):
        log = stats.norm(0.5, 0.5).logpdf(m) + stats.halfnorm(scale=0.5).logpdf(s)
        mass = stats.norm.cdf((1 - m) / s) - stats.norm.cdf(-m / s)
        squares = (x**2).sum() - 2 * m * x.sum() + len(x) * m**2
        return log - squares / (2 * s**2) - len(x) * (np.log(s) + np.log(mass))

    means, deviations = on_a_grid(
        log_density, np.linspace(-0.5, 3.5, 1200), np.linspace(0.12, 1.6, 900)
    )
    for name, truth, mean, deviation in zip(
        ("mu", "sigma"), (mu, sigma), means, deviations, strict=True
    ):
        agrees(posterior[name], mean, deviation)
        assert abs(mean - truth) < 4 * deviation
