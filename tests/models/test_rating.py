"""Beta on a bounded scale: validation, likelihood, gradient, and a recovery."""

import numpy as np
import pandas as pd
import pytest
from predictions import prior_predictive
from scipy import stats

import borel as bl
from borel import _compat
from borel.models import binned_beta, scaled_beta, scaled_beta_prior

COUNTS = [14, 85, 119, 183, 199]
EDGES = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]


@pytest.mark.parametrize(
    ("counts", "edges", "kwargs", "message"),
    [
        (COUNTS, EDGES[:-1], {}, r"edges must be 6 numbers, the ends of 5 bins, got shape \(5,\)"),
        ([1, 2], [0, 0, 1], {}, "strictly increasing, got 0.0 at position 1"),
        ([1, 2], [0, np.nan, 1], {}, "got nan at position 1"),
        ([1, 2], [-np.inf, 0, 1], {}, "got -inf at position 0"),
        ([1, -2], [0, 1, 2], {}, "counts must be whole numbers"),
        ([1], [0, 1], {}, "at least 2 counts"),
        ([1, 2], [0, 1, 2], {"mu_prior": (1, -1)}, "mu_prior must be two positive"),
    ],
)
def test_bad_bins(counts, edges, kwargs, message):
    with pytest.raises(ValueError, match=message):
        binned_beta(counts, edges, **kwargs)


@pytest.mark.parametrize(
    ("values", "kwargs", "message"),
    [
        ([2.0, 5.0], {}, r"got 5\.0 at position 1; .* use binned_beta"),
        ([1.0], {}, r"got 1\.0 at position 0"),
        ([2.0, np.nan], {}, "got nan at position 1"),
        ([], {}, "at least one value"),
        ([[2.0]], {}, r"got shape \(1, 1\)"),
        ([2.0], {"lower": 5}, "lower < upper, got 5 and 5"),
        ([2.0], {"upper": np.inf}, "must be finite"),
    ],
)
def test_bad_values(values, kwargs, message):
    with pytest.raises(ValueError, match=message):
        scaled_beta(values, **{"lower": 1, "upper": 5, **kwargs})


def test_graph():
    model = binned_beta(pd.Series(COUNTS, index=[1, 2, 3, 4, 5]), EDGES)
    assert [v.name for v in model.free_RVs] == ["mu", "kappa"]
    assert tuple(model.named_vars_to_dims["p"]) == ("bin",)
    assert list(model.coords["bin"]) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(("mu", "kappa"), [(0.5, 2.0), (0.68, 3.7), (0.01, 0.05), (0.99, 300.0)])
def test_the_bins_have_the_probabilities_of_the_beta(mu, kappa):
    model = binned_beta(COUNTS, EDGES)
    p = model["p"].eval({model["mu"]: mu, model["kappa"]: kappa})
    cdf = stats.beta(mu * kappa, (1 - mu) * kappa).cdf(np.linspace(0, 1, 6))
    np.testing.assert_allclose(p, np.diff(cdf), atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize(("mu", "kappa"), [(0.5, 2.0), (0.68, 3.7), (0.01, 0.05), (0.99, 300.0)])
def test_the_gradient_is_that_of_finite_differences(mu, kappa):
    model = binned_beta(COUNTS, EDGES)
    logp, dlogp = model.compile_logp(), model.compile_dlogp()
    names = [v.name for v in model.value_vars]
    at = np.array([np.log(mu / (1 - mu)), np.log(kappa)])

    def slope(h):
        up, down = (dict(zip(names, np.asarray(at + s), strict=True)) for s in (h, -h))
        return (logp(up) - logp(down)) / (2 * np.abs(h).max())

    h = 1e-5
    numeric = [slope(np.array([h, 0.0])), slope(np.array([0.0, h]))]
    exact = dlogp(dict(zip(names, at, strict=True)))
    np.testing.assert_allclose(exact, numeric, rtol=1e-5)


@pytest.mark.slow
def test_rounded_ratings_recover_the_truth():
    rng = np.random.default_rng(3)
    x = 0.5 + 5 * rng.beta(2.5, 1.2, size=2000)
    counts = np.bincount(np.round(x).astype(int), minlength=6)[1:]
    tree = _compat.sample(
        binned_beta(counts, EDGES), chains=2, cores=1, random_seed=1, progressbar=False
    )
    for name, truth in {"alpha": 2.5, "beta": 1.2}.items():
        draws = tree["posterior"][name]
        assert float(_compat.rhat(draws)) < 1.02
        lower, upper = _compat.eti(draws, 0.99)
        assert float(lower) < truth < float(upper)
    assert int(tree["sample_stats"]["diverging"].sum()) == 0


@pytest.mark.slow
def test_exact_values_recover_the_truth():
    rng = np.random.default_rng(4)
    model = scaled_beta(1 + 4 * rng.beta(2.5, 1.2, size=500), lower=1, upper=5)
    tree = _compat.sample(model, chains=2, cores=1, random_seed=1, progressbar=False)
    for name, truth in {"alpha": 2.5, "beta": 1.2}.items():
        lower, upper = _compat.eti(tree["posterior"][name], 0.99)
        assert float(lower) < truth < float(upper)


def test_the_prior_predictive():
    drawn = prior_predictive(binned_beta(COUNTS, EDGES, kappa_prior=(4.0, 1.0)))
    mu, kappa = drawn["mu"], drawn["kappa"]
    assert stats.kstest(mu, "uniform").pvalue > 1e-4
    assert stats.kstest(kappa, stats.gamma(4).cdf).pvalue > 1e-4
    assert (drawn["counts"].sum(axis=1) == sum(COUNTS)).all()
    # the prior is symmetric: the first bin is as likely as the last
    share = drawn["counts"].mean(axis=0) / sum(COUNTS)
    assert share[0] == pytest.approx(share[4], abs=0.03)
    drawn = prior_predictive(scaled_beta([2.0, 3.0], lower=1, upper=5))
    alpha, beta = drawn["alpha"], drawn["beta"]
    # E unit^2 given alpha and beta
    square = alpha * (alpha + 1) / ((alpha + beta) * (alpha + beta + 1))
    assert np.mean(drawn["unit"][:, 0] ** 2) == pytest.approx(square.mean(), abs=0.02)


def test_draws_become_priors():
    alpha, beta = np.array([2.5, 0.75]), np.array([1.25, 3.0])
    batch = scaled_beta_prior({"alpha": alpha, "beta": beta}, lower=1, upper=5)
    assert batch.batch == (2,) and batch.on == bl.Interval(1, 5)
    x = np.linspace(1.2, 4.8, 5)
    for i, row in enumerate(batch.density.linear(x)):
        np.testing.assert_allclose(row, stats.beta(alpha[i], beta[i], 1, 4).pdf(x), rtol=1e-12)
    with pytest.raises(ValueError, match="lower < upper"):
        scaled_beta_prior({"alpha": 1.0, "beta": 1.0}, lower=5, upper=1)
    unit = scaled_beta_prior({"alpha": 2.0, "beta": 5.0}, lower=0, upper=1)
    assert unit.family == bl.beta(alpha=2.0, beta=5.0).family  # whose normalisation is known
