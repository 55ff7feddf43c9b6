"""Mixture of normals: validation, prior predictive, likelihood, the prior's density, recovery."""

import numpy as np
import pytest
from predictions import prior_predictive, sampled
from scipy import stats

import borel as bl
from borel import _compat
from borel.models import normal_mixture, normal_mixture_prior

PRIORS = {"mu_prior": (2.0, 3.0), "sigma_prior": 1.5}


@pytest.mark.parametrize(
    ("values", "kwargs", "error", "message"),
    [
        ([1.0, np.inf], {}, ValueError, "finite, got inf at position 1"),
        ([], {}, ValueError, "at least one value"),
        ([1.0], {"k": 1}, ValueError, "k must be at least 2, got 1"),
        ([1.0], {"k": 2.5}, TypeError, "k must be an integer"),
        ([1.0], {"mu_prior": (0, np.nan)}, ValueError, "a finite mean and a positive"),
        ([1.0], {"sigma_prior": 0}, ValueError, "sigma_prior must be one positive"),
        ([1.0], {"alpha": [1, 2]}, TypeError, "alpha must be one number"),
    ],
)
def test_bad_input(values, kwargs, error, message):
    with pytest.raises(error, match=message):
        normal_mixture(values, **{"k": 2, **PRIORS, **kwargs})


def test_the_prior_predictive():
    drawn = prior_predictive(normal_mixture([0.0, 1.0], k=3, alpha=2.0, **PRIORS))
    np.testing.assert_allclose(drawn["w"].mean(axis=0), 1 / 3, atol=0.02)
    assert stats.kstest(drawn["sigma"][:, 0], stats.gamma(2, scale=0.75).cdf).pvalue > 1e-4
    # Var x = s^2 + E sigma^2 = 9 + 1.5 * 0.75 * 3
    assert drawn["values"].mean() == pytest.approx(2, abs=0.2)
    assert drawn["values"][:, 0].std() == pytest.approx(np.sqrt(9 + 3.375), rel=0.05)


def test_the_likelihood_and_the_ordered_prior():
    """The order costs a factor 3!: the model's density is that of ordered, labelled normals."""
    import pymc as pm

    x = np.array([0.5, 2.5, 2.25])
    model = normal_mixture(x, k=3, **PRIORS)
    assert [v.name for v in model.free_RVs] == ["w", "mu", "sigma"]
    w, mu, sigma = np.array([0.2, 0.5, 0.3]), np.array([-1.0, 2.0, 2.5]), np.array([0.5, 1.0, 2.0])
    given = {model["w"]: w, model["mu"]: mu, model["sigma"]: sigma}
    found = pm.logp(model["values"], x).eval(given, mode="FAST_COMPILE")
    truth = np.log((w * stats.norm(mu, sigma).pdf(x[:, None])).sum(axis=1))
    np.testing.assert_allclose(found, truth, rtol=1e-12)
    start = model.initial_point()["mu_ordered__"]
    values = model.rvs_to_transforms[model["mu"]].backward(start).eval(mode="FAST_COMPILE")
    assert (np.diff(values) > 0).all()


def test_the_density_of_the_prior():
    w = np.array([[0.2, 0.8], [0.5, 0.5]])
    mu, sigma = np.array([[-1.0, 2.0], [0.0, 3.0]]), np.array([[0.5, 1.0], [2.0, 0.25]])
    batch = normal_mixture_prior({"w": w, "mu": mu, "sigma": sigma})
    assert batch.batch == (2,) and batch.on == bl.Reals()
    x = np.array([-3.0, 0.0, 2.5, 40.0])
    for i, row in enumerate(batch.density.logarithm(x)):
        truth = np.logaddexp(*(np.log(w[i]) + stats.norm(mu[i], sigma[i]).logpdf(x[:, None])).T)
        np.testing.assert_allclose(row, truth, rtol=1e-12)
    one = normal_mixture_prior({"w": w[0], "mu": mu[0], "sigma": sigma[0]})
    np.testing.assert_allclose(one.logpdf(x), batch.density.logarithm(x)[0], rtol=1e-14)
    alone = normal_mixture_prior({"w": [0.0, 1.0], "mu": mu[0], "sigma": sigma[0]})
    np.testing.assert_allclose(alone.logpdf(x), stats.norm(2.0, 1.0).logpdf(x), rtol=1e-12)
    with pytest.raises(ValueError, match="one entry a component"):
        normal_mixture_prior({"w": w, "mu": mu[0], "sigma": sigma})


@pytest.mark.slow
def test_two_kinds_of_people_are_told_apart():
    rng = np.random.default_rng(11)
    kind = rng.random(400) < 0.3
    x = np.where(kind, rng.normal(0.0, 0.5, 400), rng.normal(3.0, 1.0, 400))
    posterior = sampled(normal_mixture(x, k=2, **PRIORS))["posterior"]
    for name, truth in {"w": [0.3, 0.7], "mu": [0.0, 3.0], "sigma": [0.5, 1.0]}.items():
        lower, upper = _compat.eti(posterior[name], 0.995)
        assert ((lower < truth) & (truth < upper)).all(), name
    draws = {n: posterior[n].values.reshape(-1, 2)[::100] for n in ("w", "mu", "sigma")}
    grid = np.linspace(-1, 5, 13)
    truth = 0.3 * stats.norm(0, 0.5).pdf(grid) + 0.7 * stats.norm(3, 1).pdf(grid)
    rows = normal_mixture_prior(draws).density.linear(grid)
    assert abs(rows.mean(axis=0) - truth).max() < 0.08
