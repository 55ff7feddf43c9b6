"""Counts: validation, prior predictive, exact draws, priors, recovery against a grid."""

import mpmath
import numpy as np
import pandas as pd
import pytest
from predictions import agrees, on_a_grid, prior_predictive, sampled
from scipy import stats

import borel as bl
from borel.models import (
    negative_binomial_counts,
    negative_binomial_prior,
    poisson_counts,
    poisson_posterior,
    poisson_prior,
)

VALUES = [0, 3, 1, 7, 2]


@pytest.mark.parametrize("function", [poisson_counts, poisson_posterior, negative_binomial_counts])
@pytest.mark.parametrize(
    ("values", "kwargs", "error", "message"),
    [
        ([1, -1], {}, ValueError, "values must be whole numbers >= 0, got -1 at position 1"),
        ([1, 0.5], {}, ValueError, "got 0.5 at position 1"),
        ([1, np.nan], {}, ValueError, "got nan at position 1; drop what is missing$"),
        ([], {}, ValueError, "at least 1 counts"),
        (["a"], {}, TypeError, "must be counts, .*; pass one whole number for each"),
        ([1], {"mu_prior": (0, 1)}, ValueError, "mu_prior must be two positive finite"),
    ],
)
def test_bad_input(function, values, kwargs, error, message):
    with pytest.raises(error, match=message):
        function(values, **kwargs)


def test_bad_alpha_prior():
    with pytest.raises(ValueError, match="alpha_prior must be two positive"):
        negative_binomial_counts(VALUES, alpha_prior=(1, -1))


def test_people_keep_their_names():
    model = poisson_counts(pd.Series([3, 1], index=["a", "b"]))
    assert list(model.coords["person"]) == ["a", "b"]


def test_the_prior_predictive_of_the_poisson_is_a_negative_binomial():
    drawn = prior_predictive(poisson_counts(VALUES, mu_prior=(2.5, 0.5)))
    first = drawn["values"][:, 0]
    law = stats.nbinom(2.5, 0.5 / 1.5)
    seen = np.bincount(np.minimum(first, 15), minlength=16)
    expected = np.append(law.pmf(np.arange(15)), law.sf(14)) * len(first)
    assert stats.chisquare(seen, expected).pvalue > 1e-4


def test_the_prior_predictive_of_the_negative_binomial():
    drawn = prior_predictive(negative_binomial_counts(VALUES, mu_prior=(9.0, 3.0)))
    assert stats.kstest(drawn["mu"], stats.gamma(9, scale=1 / 3).cdf).pvalue > 1e-4
    assert stats.kstest(drawn["alpha"], stats.gamma(2, scale=2).cdf).pvalue > 1e-4
    mu, alpha = drawn["mu"][:, None], drawn["alpha"][:, None]
    # given the parameters: (x - mu)^2 has the mean mu + mu^2 / alpha, and P(0) is known
    zero = (alpha / (mu + alpha)) ** alpha
    assert np.mean(drawn["values"] == 0) == pytest.approx(zero.mean(), abs=0.015)
    assert drawn["values"].mean() == pytest.approx(3, abs=0.15)


@pytest.mark.parametrize("prior", [(1.0, 0.1), (0.5, 2.0)])
def test_exact_draws_are_those_of_the_gamma(prior):
    tree = poisson_posterior(VALUES, mu_prior=prior, draws=5000, random_seed=1)
    mu = tree["posterior"]["mu"]
    assert mu.dims == ("chain", "draw") and tree["posterior"].attrs["borel_draws"] == "exact"
    truth = stats.gamma(prior[0] + 13, scale=1 / (prior[1] + 5))
    assert stats.kstest(mu.values.ravel(), truth.cdf).pvalue > 1e-4


def test_no_mean_is_lost_to_underflow():
    tree = poisson_posterior([0] * 3, mu_prior=(1e-3, 1), draws=2000, random_seed=1)
    assert (tree["posterior"]["mu"] > 0).all()


def test_draws_become_priors_on_the_integers():
    tree = poisson_posterior(VALUES, draws=20, chains=2, random_seed=1)
    learnt = bl.priors.from_posterior(tree, poisson_prior)
    assert learnt.on == bl.Integers(0, None) and learnt.size == 40
    batch = negative_binomial_prior({"mu": np.array([2.5, 1.0]), "alpha": np.array([0.5, 3.0])})
    x = np.array([0.0, 1.0, 8.0])
    for row, mu, alpha in zip(batch.pdf(x), (2.5, 1.0), (0.5, 3.0), strict=True):
        np.testing.assert_allclose(row, stats.nbinom(alpha, alpha / (mu + alpha)).pmf(x))


def test_one_draw_is_a_prior_with_a_proved_tail():
    clipped = bl.Mechanism(
        lambda y, x: np.where(np.minimum(x, 2.0) == y, 0.5, 0.25),
        secret=bl.Integers(0, None),
        outcome=bl.Finite([0, 1, 2]),
    )
    mpmath.mp.dps = 40
    mean = mpmath.mpf(5) / 4
    q = mean / (mean + 2)
    for prior, p in (
        (poisson_prior({"mu": 1.25}), [mpmath.exp(-mean), mean * mpmath.exp(-mean)]),
        (negative_binomial_prior({"mu": 1.25, "alpha": 2.0}), [(1 - q) ** 2, 2 * q * (1 - q) ** 2]),
    ):
        found = bl.pml(prior * clipped).sup()
        least = min(*p, 1 - sum(p))
        truth = mpmath.log(2 / (1 + least))
        assert found.lower <= truth <= found.upper
        assert found.width < 1e-9
        assert not any("prior" in said for said in found.assumptions)


@pytest.mark.slow
def test_sampling_the_poisson_agrees_with_the_exact_posterior():
    truth = stats.gamma(1 + 13, scale=1 / 5.1)
    draws = sampled(poisson_counts(VALUES))["posterior"]["mu"]
    agrees(draws, truth.mean(), truth.std())


@pytest.mark.slow
def test_the_negative_binomial_against_the_grid():
    values = np.random.default_rng(8).negative_binomial(0.8, 0.8 / 3.8, size=300)
    posterior = sampled(negative_binomial_counts(values))["posterior"]
    seen, times = np.unique(values, return_counts=True)

    def log_density(mu, alpha):
        out = stats.gamma(1, scale=10).logpdf(mu) + stats.gamma(2, scale=2).logpdf(alpha)
        for x, n in zip(seen, times, strict=True):
            out = out + n * stats.nbinom(alpha, alpha / (mu + alpha)).logpmf(x)
        return out

    means, deviations = on_a_grid(log_density, np.linspace(1.5, 6, 200), np.linspace(0.4, 1.8, 200))
    for name, truth, mean, deviation in zip(
        ("mu", "alpha"), (3.0, 0.8), means, deviations, strict=True
    ):
        agrees(posterior[name], mean, deviation)
        assert abs(mean - truth) < 4 * deviation
