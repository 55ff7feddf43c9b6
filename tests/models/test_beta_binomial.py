"""Proportions: validation, graph, exact draws, and a recovery."""

import numpy as np
import pandas as pd
import pytest
from predictions import prior_predictive
from scipy import stats

from borel import _compat
from borel.models import beta_posterior, grouped_proportions


@pytest.mark.parametrize("function", [grouped_proportions, beta_posterior])
@pytest.mark.parametrize(
    ("successes", "trials", "kwargs", "error", "message"),
    [
        (
            [3, -1],
            [5, 5],
            {},
            ValueError,
            "successes must be whole numbers >= 0, got -1 at position 1",
        ),
        ([3, 1], [5, 5.5], {}, ValueError, r"trials must be whole numbers >= 0, got 5\.5"),
        ([3, np.nan], [5, 5], {}, ValueError, "got nan"),
        ([3, 1], [5, 5, 5], {}, ValueError, "each of the 2 successes, got 3"),
        ([3, 6], [5, 5], {}, ValueError, "exceed trials, got 6 of 5 in group 1; the order is"),
        ([3, 1], [5, 5], {"groups": ["a"]}, ValueError, "groups must hold 2 labels"),
        ([True, False], [5, 5], {}, TypeError, "type bool"),
        (
            pd.Series([3, 1], index=["a", "b"]),
            pd.Series([5, 5], index=["a", "c"]),
            {},
            ValueError,
            "same labels",
        ),
    ],
)
def test_bad_input(function, successes, trials, kwargs, error, message):
    with pytest.raises(error, match=message):
        function(successes, trials, **kwargs)


def test_one_group_has_nothing_to_pool():
    for successes in (3, [3]):
        with pytest.raises(ValueError, match="at least 2 groups to pool"):
            grouped_proportions(successes, 5)


@pytest.mark.parametrize(("name", "bad"), [("mu_prior", (1,)), ("kappa_prior", (2, 0))])
def test_bad_prior(name, bad):
    with pytest.raises(ValueError, match=f"{name} must be two positive finite numbers"):
        grouped_proportions([3, 1], 5, **{name: bad})


@pytest.mark.parametrize(("name", "bad"), [("alpha", 0), ("beta", [1, np.nan])])
def test_bad_beta_prior(name, bad):
    with pytest.raises(ValueError, match=f"{name} must be positive and finite"):
        beta_posterior([3, 1], 5, **{name: bad})


def test_a_single_number_takes_no_groups():
    with pytest.raises(ValueError, match="one count a group"):
        beta_posterior(3, 5, groups=["a"])
    with pytest.raises(ValueError, match="got 6 of 5; the order is"):
        beta_posterior(6, 5)


def test_graph():
    model = grouped_proportions([3, 1], 5, groups=["a", "b"])
    assert [v.name for v in model.free_RVs] == ["mu", "kappa", "theta"]
    assert tuple(model.named_vars_to_dims["theta"]) == ("group",)
    assert list(model.coords["group"]) == ["a", "b"]


@pytest.mark.parametrize(("k", "n", "a", "b"), [(7, 10, 1, 1), (0, 10, 0.5, 0.5), (0, 0, 2, 3)])
def test_one_proportion_exactly(k, n, a, b):
    tree = beta_posterior(k, n, alpha=a, beta=b, draws=5000, random_seed=1)
    theta = tree["posterior"]["theta"]
    assert theta.dims == ("chain", "draw")
    assert tree["posterior"].attrs["borel_draws"] == "exact"
    assert stats.kstest(theta.values.ravel(), stats.beta(a + k, b + n - k).cdf).pvalue > 1e-4


def test_several_proportions_exactly():
    trials = pd.Series([10, 40], index=["b", "a"])
    successes = pd.Series([30, 2], index=["a", "b"])
    tree = beta_posterior(successes, trials, draws=5000, random_seed=1)
    theta = tree["posterior"]["theta"]
    assert theta.dims == ("chain", "draw", "group")
    for group, posterior in {"a": stats.beta(31, 11), "b": stats.beta(3, 9)}.items():
        draws = theta.sel(group=group).values.ravel()
        assert stats.kstest(draws, posterior.cdf).pvalue > 1e-4
        for q in (0.05, 0.5, 0.95):
            assert np.mean(draws <= posterior.ppf(q)) == pytest.approx(q, abs=0.01)


def test_draws_stay_inside_the_unit_interval():
    theta = beta_posterior([0, 900], 900, alpha=1e-3, beta=1e-3, random_seed=1)["posterior"][
        "theta"
    ]
    assert ((theta > 0) & (theta < 1)).all()


def test_the_prior_predictive():
    model = grouped_proportions([3, 1], [40, 10], mu_prior=(2, 6), kappa_prior=(3.0, 0.2))
    drawn = prior_predictive(model)
    assert stats.kstest(drawn["mu"], stats.beta(2, 6).cdf).pvalue > 1e-4
    assert stats.kstest(drawn["kappa"], stats.gamma(3, scale=5).cdf).pvalue > 1e-4
    np.testing.assert_allclose(drawn["successes"].mean(axis=0), [10, 2.5], atol=0.5)
    # Var theta given mu and kappa
    inner = drawn["mu"] * (1 - drawn["mu"]) / (1 + drawn["kappa"])
    off = np.mean((drawn["theta"][:, 0] - drawn["mu"]) ** 2)
    assert off == pytest.approx(inner.mean(), rel=0.15)


@pytest.mark.slow
def test_grouped_proportions_recover_the_truth():
    rng = np.random.default_rng(5)
    truth = rng.beta(0.3 * 20, 0.7 * 20, size=12)
    trials = rng.integers(20, 200, size=12)
    model = grouped_proportions(rng.binomial(trials, truth), trials)
    tree = _compat.sample(model, chains=2, cores=1, random_seed=1, progressbar=False)
    posterior = tree["posterior"]
    assert (_compat.rhat(posterior["theta"]) < 1.02).all()
    lower, upper = _compat.eti(posterior["theta"], 0.99)
    assert int(((lower < truth) & (truth < upper)).sum()) >= 11
    for name, value in {"mu": 0.3, "kappa": 20.0}.items():
        lower, upper = _compat.eti(posterior[name], 0.99)
        assert float(lower) < value < float(upper)
