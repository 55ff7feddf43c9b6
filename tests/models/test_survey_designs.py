"""Survey designs: validation, kernels, prior predictive, recovery against a grid."""

import numpy as np
import pandas as pd
import pytest
from predictions import agrees, on_a_grid, prior_predictive, sampled
from scipy import stats

import borel as bl
from borel.models import (
    beta_posterior,
    k_ary_response,
    proportion_prior,
    unrelated_question,
    warner,
)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: warner(3, 10, p=0.5), ValueError, "p must not be 1/2"),
        (lambda: warner(3, 10, p=1.5), ValueError, r"probability in \[0, 1\], got 1.5"),
        (lambda: warner(3, 10, p=float("nan")), ValueError, r"probability in \[0, 1\], got nan"),
        (lambda: warner(3, 10, p=[0.7]), TypeError, "p must be one number"),
        (lambda: warner(11, 10, p=0.7), ValueError, r"got 11 of 10; the order is \(yes, trials\)"),
        (lambda: warner([1, 2], 10, p=0.7), ValueError, "one number each"),
        (lambda: warner(0.3, 10, p=0.7), ValueError, "whole numbers >= 0"),
        (lambda: warner(3, 10, p=0.7, theta_prior=(1, 0)), ValueError, "two positive finite"),
        (lambda: k_ary_response([3, 4], epsilon=0), ValueError, "epsilon must be one positive"),
        (lambda: k_ary_response([3], epsilon=1), ValueError, "at least 2 counts"),
        (lambda: unrelated_question(3, 10, p=0.7), ValueError, "two samples with different p"),
        (lambda: unrelated_question([3, 4], 10, p=0.7), ValueError, "two samples with different"),
        (lambda: unrelated_question(3, 10, p=0, innocuous=0.5), ValueError, "p must be positive"),
        (lambda: unrelated_question(3, 10, p=0.7, innocuous=2), ValueError, "innocuous must be a"),
        (lambda: unrelated_question([3, 4], [9] * 3, p=0.7), ValueError, "each of the 2 samples"),
        (lambda: unrelated_question([3, 11], 10, p=[0.7, 0.3]), ValueError, "got 11 of 10"),
        (lambda: proportion_prior({"p": 0.5}), ValueError, "hold the variable 'theta'"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_the_prior_predictive_of_warner():
    drawn = prior_predictive(warner(3, 40, p=0.7, theta_prior=(2, 3)))
    np.testing.assert_allclose(drawn["lam"], 0.3 + 0.4 * drawn["theta"])
    assert stats.kstest(drawn["theta"], stats.beta(2, 3).cdf).pvalue > 1e-4
    # E yes = 40 (0.3 + 0.4 * 2/5)
    assert drawn["yes"].mean() == pytest.approx(40 * 0.46, abs=0.5)
    assert drawn["yes"].min() >= 0 and drawn["yes"].max() <= 40


def test_the_prior_predictive_of_the_unrelated_question():
    drawn = prior_predictive(unrelated_question([5, 9], [30, 60], p=[0.8, 0.25]))
    theta, phi = drawn["theta"][:, None], drawn["phi"][:, None]
    p = np.array([0.8, 0.25])
    np.testing.assert_allclose(drawn["lam"], p * theta + (1 - p) * phi)
    np.testing.assert_allclose(drawn["yes"].mean(axis=0), [15, 30], atol=0.8)
    one = prior_predictive(unrelated_question(5, 30, p=0.8, innocuous=0.5), draws=200)
    assert one["yes"].shape == (200, 1)
    np.testing.assert_allclose(one["lam"][:, 0], 0.8 * one["theta"] + 0.1)


def test_the_prior_predictive_of_k_ary_response():
    drawn = prior_predictive(k_ary_response([30, 20, 50], epsilon=1.2, alpha=[1, 2, 3]))
    e = np.exp(1.2)
    np.testing.assert_allclose(drawn["q"], (1 + (e - 1) * drawn["p"]) / (2 + e))
    truth = 100 * (1 + (e - 1) * np.array([1, 2, 3]) / 6) / (2 + e)
    np.testing.assert_allclose(drawn["counts"].mean(axis=0), truth, atol=0.8)


def test_k_ary_labels():
    counts = pd.Series([5, 7], index=["b", "a"])
    model = k_ary_response(counts, epsilon=1.0, categories=["a", "b"])
    assert list(model.coords["x"]) == list(model.coords["y"]) == ["a", "b"]
    assert model.rvs_to_values[model["counts"]].eval().tolist() == [7, 5]


def test_draws_become_priors():
    draws = beta_posterior(12, 40, draws=50, chains=2, random_seed=1)
    learnt = bl.priors.from_posterior(draws, proportion_prior)
    assert learnt.on == bl.Finite(["no", "yes"])
    np.testing.assert_array_equal(
        proportion_prior({"theta": 0.25}).pdf(["no", "yes"]), [0.75, 0.25]
    )
    released = bl.mechanisms.randomized_response(secret=["no", "yes"], epsilon=1.0)
    found = bl.pml(learnt * released).sup().draws
    theta = draws["posterior"]["theta"]
    least = np.minimum(theta, 1 - theta)
    truth = 1 - np.log1p(least * (np.e - 1))
    assert (abs(found["lower"] - truth) < 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize(("yes", "trials", "p"), [(620, 1500, 0.7), (3, 12, 0.2)])
def test_warner_against_the_grid(yes, trials, p):
    tree = sampled(warner(yes, trials, p=p))
    theta = np.linspace(0, 1, 20001)[1:-1]
    lam = p * theta + (1 - p) * (1 - theta)
    (mean,), (deviation,) = on_a_grid(lambda _: stats.binom(trials, lam).logpmf(yes), theta)
    agrees(tree["posterior"]["theta"], mean, deviation)


@pytest.mark.slow
def test_the_unrelated_question_against_the_grid():
    rng = np.random.default_rng(7)
    p, n, theta, phi = np.array([0.75, 0.3]), np.array([1500, 1500]), 0.2, 0.6
    yes = rng.binomial(n, p * theta + (1 - p) * phi)
    posterior = sampled(unrelated_question(yes, n, p=p))["posterior"]

    def log_density(t, f):
        return sum(stats.binom(n[i], p[i] * t + (1 - p[i]) * f).logpmf(yes[i]) for i in range(2))

    middle = (np.arange(800) + 0.5) / 800
    means, deviations = on_a_grid(log_density, middle, middle)
    for name, truth, mean, deviation in zip(
        ("theta", "phi"), (theta, phi), means, deviations, strict=True
    ):
        agrees(posterior[name], mean, deviation)
        assert abs(mean - truth) < 4 * deviation
