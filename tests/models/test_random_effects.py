"""Correlated records: validation, prior predictive, the laws of a group's records, recovery."""

import mpmath
import numpy as np
import pandas as pd
import pytest
from predictions import prior_predictive, sampled
from scipy import stats

import borel as bl
from borel import _compat
from borel.models import (
    correlated_records_prior,
    exchangeable_records_prior,
    random_effects,
)


@pytest.mark.parametrize(
    ("successes", "trials", "kwargs", "error", "message"),
    [
        ([3], 5, {}, ValueError, "at least 2 groups, got 1"),
        (3, 5, {}, ValueError, "at least 2 groups, got 1"),
        ([3, 6], 5, {}, ValueError, "exceed trials, got 6 of 5 in group 1"),
        ([3, -1], 5, {}, ValueError, "whole numbers >= 0, got -1"),
        ([3, 1], 5, {"mu_prior": (0, 0)}, ValueError, "mu_prior must be a finite mean"),
        ([3, 1], 5, {"sigma_prior": np.inf}, ValueError, "sigma_prior must be one positive"),
    ],
)
def test_bad_input(successes, trials, kwargs, error, message):
    with pytest.raises(error, match=message):
        random_effects(successes, trials, **kwargs)


def test_groups_are_aligned():
    model = random_effects(pd.Series([3, 1], index=["b", "a"]), 5, groups=["a", "b"])
    assert list(model.coords["group"]) == ["a", "b"]
    assert model.rvs_to_values[model["successes"]].data.tolist() == [1, 3]


def test_the_prior_predictive():
    drawn = prior_predictive(random_effects([3, 1], [60, 10], mu_prior=(-0.5, 1.0)))
    mu, sigma, z = drawn["mu"], drawn["sigma"], drawn["z"]
    assert stats.kstest(mu, stats.norm(-0.5, 1).cdf).pvalue > 1e-4
    assert stats.kstest(sigma, stats.halfnorm().cdf).pvalue > 1e-4
    assert stats.kstest(z.ravel(), stats.norm().cdf).pvalue > 1e-4
    np.testing.assert_allclose(drawn["p"], 1 / (1 + np.exp(-mu[:, None] - sigma[:, None] * z)))
    mean = drawn["p"] * [60, 10]
    off = drawn["successes"] - mean
    deviation = np.sqrt((mean * (1 - drawn["p"])).mean(axis=0) / len(mu))
    assert (abs(off.mean(axis=0)) < 4 * deviation).all()


@pytest.mark.few(2)
@pytest.mark.parametrize("size", [1, 3, 5])
@pytest.mark.parametrize(("mu", "sigma"), [(0.0, 1.0), (-2.0, 0.5), (1.0, 3.0)])
def test_correlated_records_are_the_integral(size, mu, sigma):
    prior = correlated_records_prior({"mu": mu, "sigma": sigma}, size=size)
    with mpmath.workdps(20):

        def chance(k):
            def f(z):
                p = 1 / (1 + mpmath.exp(-mu - sigma * z))
                return p**k * (1 - p) ** (size - k) * mpmath.npdf(z)

            return mpmath.quad(f, list(range(-10, 11, 2)))

        truth = [float(chance(k)) for k in range(size + 1)]
    ones = np.array([np.sum(label) for label in prior.on.labels])
    found = prior.probabilities
    np.testing.assert_allclose(
        found, np.array(truth)[ones], rtol=0, atol=1e-9 if sigma <= 1 else 1e-4
    )


def test_no_spread_is_independence():
    prior = correlated_records_prior({"mu": 0.5, "sigma": 1e-12}, size=3)
    p = 1 / (1 + np.exp(-0.5))
    ones = np.array([sum(label) for label in prior.on.labels])
    np.testing.assert_allclose(prior.probabilities, p**ones * (1 - p) ** (3 - ones), rtol=1e-9)


@pytest.mark.parametrize(("mu", "kappa"), [(0.5, 2.0), (0.125, 8.0), (0.9, 0.25)])
@pytest.mark.parametrize("size", [1, 4])
def test_exchangeable_records_are_beta_binomial(mu, kappa, size):
    prior = exchangeable_records_prior({"mu": mu, "kappa": kappa}, size=size)
    ones = np.array([np.sum(label) for label in prior.on.labels])
    law = stats.betabinom(size, mu * kappa, (1 - mu) * kappa)
    for k in range(size + 1):
        assert prior.probabilities[ones == k].sum() == pytest.approx(law.pmf(k), rel=1e-12)
        assert np.ptp(prior.probabilities[ones == k]) == 0
    if size == 4:
        # any two of them have correlation 1 / (kappa + 1)
        labels = np.array(prior.on.labels)
        both = prior.probabilities[(labels[:, 0] == 1) & (labels[:, 3] == 1)].sum()
        found = (both - mu**2) / (mu * (1 - mu))
        assert found == pytest.approx(1 / (kappa + 1), rel=1e-12)


def test_bad_size():
    for function, draw in (
        (correlated_records_prior, {"mu": 0.0, "sigma": 1.0}),
        (exchangeable_records_prior, {"mu": 0.5, "kappa": 1.0}),
    ):
        for size, error in ((0, ValueError), (17, ValueError), (2.5, TypeError)):
            with pytest.raises(error, match="size must be"):
                function(draw, size=size)


def test_draws_of_either_are_priors_of_a_group():
    """What a noisy count of a household leaks about all its records, one figure a draw."""
    rng = np.random.default_rng(1)
    on = bl.Finite(2) ** 3
    total = np.array([sum(label) for label in on.labels])
    kernel = np.exp(-0.5 * abs(total[:, None] - np.arange(4)))
    kernel /= kernel.sum(axis=1, keepdims=True)
    count = bl.Mechanism.from_matrix(kernel, secret=on, outcome=bl.Finite(4))
    for function, second in (
        (correlated_records_prior, "sigma"),
        (exchangeable_records_prior, "kappa"),
    ):
        draw = {"mu": rng.uniform(0.2, 0.8, 5), second: rng.uniform(0.5, 2, 5)}
        prior = function(draw, size=3)
        assert prior.batch == (5,) and prior.on == on
        for i in range(5):
            one = bl.pmf(prior.probabilities[i], on=on)
            truth = np.log((kernel.max(axis=0) / (prior.probabilities[i] @ kernel)).max())
            assert float(bl.pml(one * count).sup().upper) == pytest.approx(truth, abs=1e-12)


@pytest.mark.slow
def test_recovery():
    rng = np.random.default_rng(5)
    logit = rng.normal(-1.0, 0.8, size=40)
    trials = rng.integers(20, 120, size=40)
    truth = 1 / (1 + np.exp(-logit))
    tree = sampled(random_effects(rng.binomial(trials, truth), trials))
    posterior = tree["posterior"]
    for name, value in {"mu": -1.0, "sigma": 0.8}.items():
        lower, upper = _compat.eti(posterior[name], 0.995)
        assert float(lower) < value < float(upper)
    lower, upper = _compat.eti(posterior["p"], 0.99)
    assert int(((lower < truth) & (truth < upper)).sum()) >= 37
    learnt = bl.priors.from_posterior(tree, lambda d: correlated_records_prior(d, size=2))
    assert learnt.on == bl.Finite(2) ** 2
