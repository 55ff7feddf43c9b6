"""Dirichlet and multinomial: validation, graph, exact draws."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from predictions import prior_predictive
from scipy import stats

from borel import _compat
from borel.models import dirichlet_multinomial, dirichlet_posterior
from borel.models.categorical import dirichlet_posterior as from_file

COUNTS = [3, 50, 7]


@pytest.mark.parametrize("function", [dirichlet_multinomial, dirichlet_posterior])
@pytest.mark.parametrize(
    ("counts", "kwargs", "error", "message"),
    [
        ([3, -1, 2], {}, ValueError, r"whole numbers >= 0, got -1 at position 1"),
        ([3, 1.5, 2], {}, ValueError, r"got 1\.5 at position 1; pass counts, not proportions"),
        ([3, np.nan], {}, ValueError, r"got nan at position 1"),
        ([3, np.inf], {}, ValueError, r"got inf at position 1"),
        ([[1, 2], [3, 4]], {}, ValueError, r"one dimension, got shape \(2, 2\)"),
        (7, {}, ValueError, r"one dimension, got shape \(\)"),
        ([7], {}, ValueError, r"at least 2 counts, got 1"),
        (["a", "b", "a"], {}, TypeError, r"np\.unique\(answers, return_counts=True\)"),
        ([True, False], {}, TypeError, "type bool"),
        ({"a": 1, "b": 2}, {}, TypeError, "got dict; pass its values"),
        (pd.DataFrame({"a": [1]}), {}, ValueError, r"a table of data.*value_counts\(\)"),
        (COUNTS, {"categories": ["a", "b"]}, ValueError, "categories must hold 3 labels"),
        (COUNTS, {"categories": ["a", "b", "a"]}, ValueError, "distinct, got 'a' more than once"),
        (COUNTS, {"alpha": 0}, ValueError, "alpha must be positive and finite, got 0.0"),
        (COUNTS, {"alpha": [1, np.inf, 1]}, ValueError, "got inf at position 1"),
        (COUNTS, {"alpha": [1, 2]}, ValueError, r"one number or 3 numbers, got shape \(2,\)"),
        (
            pd.Series([1, 2], index=["a", "b"]),
            {"categories": ["a", "c"]},
            ValueError,
            r"only in categories: \['c'\], only in counts: \['b'\]",
        ),
        (
            pd.Series([1, -2], index=["a", "b"]),
            {},
            ValueError,
            r"got -2 at position 1 \(label 'b'\)",
        ),
    ],
)
def test_bad_input(function, counts, kwargs, error, message):
    with pytest.raises(error, match=message):
        function(counts, **kwargs)


def test_graph():
    model = dirichlet_multinomial(COUNTS, categories=["a", "b", "c"])
    assert [v.name for v in model.free_RVs] == ["p"]
    assert [v.name for v in model.observed_RVs] == ["counts"]
    assert tuple(model.named_vars_to_dims["p"]) == ("x",)
    assert list(model.coords["x"]) == ["a", "b", "c"]


def test_logp_is_that_of_scipy():
    model = dirichlet_multinomial(COUNTS, alpha=[1, 2, 3])
    n, p = model["counts"], model["p"]
    point = np.array([0.2, 0.5, 0.3])
    import pymc as pm

    prior = pm.logp(p, point).eval()
    assert prior == pytest.approx(stats.dirichlet([1, 2, 3]).logpdf(point))
    likelihood = pm.logp(n, COUNTS).eval({p: point})
    assert likelihood == pytest.approx(stats.multinomial(60, point).logpmf(COUNTS))


def test_labels_align_the_counts():
    series = pd.Series([50, 7, 3], index=["b", "c", "a"])
    array = xr.DataArray([50, 7, 3], dims="answer", coords={"answer": ["b", "c", "a"]})
    for counts in (series, array):
        tree = dirichlet_posterior(counts, draws=1, categories=["a", "b", "c"])
        assert tree["observed_data"]["counts"].values.tolist() == COUNTS
        assert dirichlet_posterior(counts, draws=1)["posterior"]["x"].values.tolist() == list("bca")


def test_exact_draws_are_those_of_the_dirichlet():
    alpha = np.array([0.5, 1.0, 2.0])
    tree = dirichlet_posterior(COUNTS, alpha=alpha, draws=5000, chains=4, random_seed=1)
    p = tree["posterior"]["p"]
    assert p.dims == ("chain", "draw", "x")
    assert p.shape == (4, 5000, 3)
    assert tree["posterior"].attrs["borel_draws"] == "exact"
    np.testing.assert_allclose(p.sum("x"), 1, atol=1e-12)
    posterior = alpha + COUNTS
    for i, a in enumerate(posterior):
        marginal = stats.beta(a, posterior.sum() - a)
        assert stats.kstest(p.isel(x=i).values.ravel(), marginal.cdf).pvalue > 1e-4
    np.testing.assert_allclose(
        np.cov(p.values.reshape(-1, 3).T), stats.dirichlet(posterior).cov(), rtol=0.1
    )
    assert (_compat.rhat(p) < 1.01).all()


def test_no_category_is_lost_to_underflow():
    tree = dirichlet_posterior([0, 0, 90], alpha=1e-3, draws=2000, random_seed=1)
    assert (tree["posterior"]["p"] > 0).all()


def test_seed_and_shape():
    one, two = (dirichlet_posterior(COUNTS, draws=5, random_seed=3) for _ in range(2))
    xr.testing.assert_identical(one, two)
    rng = np.random.default_rng(3)
    xr.testing.assert_identical(one, from_file(COUNTS, draws=5, random_seed=rng))
    for name in ("draws", "chains"):
        for bad in (0, -1, 2.5, None):
            with pytest.raises(ValueError, match=f"{name} must be a positive integer"):
                dirichlet_posterior(COUNTS, **{name: bad})


def test_it_survives_a_file(tmp_path):
    tree = dirichlet_posterior(COUNTS, draws=5, random_seed=3, categories=["a", "b", "c"])
    tree.to_netcdf(tmp_path / "p.nc", engine="h5netcdf")
    back = _compat.as_datatree(tmp_path / "p.nc")
    assert back["posterior"].attrs["borel_draws"] == "exact"
    xr.testing.assert_equal(back, tree)


def test_the_prior_predictive():
    drawn = prior_predictive(dirichlet_multinomial(COUNTS, alpha=[1, 2, 3]))
    np.testing.assert_allclose(drawn["counts"].mean(axis=0), [10, 20, 30], atol=1)
    first = stats.betabinom(60, 1, 5)
    assert drawn["counts"][:, 0].std() == pytest.approx(first.std(), rel=0.06)


@pytest.mark.slow
def test_sampling_agrees_with_the_exact_posterior():
    model = dirichlet_multinomial(COUNTS)
    tree = _compat.sample(model, chains=2, cores=1, random_seed=1, progressbar=False)
    p = tree["posterior"]["p"]
    exact = stats.dirichlet(np.array(COUNTS) + 1)
    error = np.sqrt(exact.var() / _compat.ess_mean(p))
    assert (abs(p.mean(("chain", "draw")) - exact.mean()) < 5 * error).all()
