"""Logistic regression: validation, prior predictive, priors of a person, recovery."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from predictions import agrees, on_a_grid, prior_predictive, sampled
from scipy import stats

import borel as bl
from borel.models import logistic_prior, logistic_regression

COVARIATES = np.array([[-1.0, 0.5], [0.25, 0.5], [1.0, -2.0], [0.0, 0.0]])
SECRET = [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("secret", "covariates", "kwargs", "error", "message"),
    [
        ([0, 1, 2, 0], COVARIATES, {}, ValueError, "secret must be 0 or 1, got 2"),
        ([0, 1, 0.5, 0], COVARIATES, {}, ValueError, "secret must be 0 or 1, got 0.5"),
        (["n", "y", "y", "n"], COVARIATES, {}, TypeError, "got 'n' at .* write secret == 'n'"),
        (pd.Series(["y"] * 4, list("abcd")), COVARIATES, {}, TypeError, r"got 'y' at .*label 'a'"),
        ([0, np.nan, 1, 0], COVARIATES, {}, ValueError, "got nan at position 1; drop the people"),
        ([0, 1, True, None], COVARIATES, {}, ValueError, "got None at position 3; drop the people"),
        (
            pd.Series([0, 1, pd.NA, 0], dtype="Int64"),
            COVARIATES,
            {},
            ValueError,
            r"position 2 \(label 2\); drop",
        ),
        ([-1, 1, 1, -1], COVARIATES, {}, ValueError, "secret must be 0 or 1, got -1"),
        ([[0, 1, 1, 0]], COVARIATES, {}, ValueError, r"one dimension .* shape \(1, 4\)"),
        ([], COVARIATES, {}, ValueError, r"one dimension .* shape \(0,\)"),
        ([0, 1], COVARIATES, {}, ValueError, r"row for each of the 2 people .* shape \(4, 2\)"),
        (SECRET, [1.0, 2.0, 3.0, 4.0], {}, ValueError, r"got shape \(4,\)"),
        (SECRET, [[1.0], [2.0], [np.nan], [1.0]], {}, ValueError, "got nan at position 2"),
        (SECRET, COVARIATES, {"names": ["a"]}, ValueError, "names must hold 2 names, got 1"),
        (SECRET, COVARIATES, {"beta_prior": 0}, ValueError, "beta_prior must be one positive"),
        (SECRET, COVARIATES, {"intercept_prior": 0}, ValueError, "a finite mean and a positive"),
    ],
)
def test_bad_input(secret, covariates, kwargs, error, message):
    with pytest.raises(error, match=message):
        logistic_regression(secret, covariates, **kwargs)


def test_names():
    frame = pd.DataFrame(COVARIATES, columns=["age", "income"], index=list("abcd"))
    assert list(logistic_regression(SECRET, frame).coords["covariate"]) == ["age", "income"]
    array = xr.DataArray(COVARIATES, dims=("who", "what"), coords={"what": ["age", "income"]})
    assert list(logistic_regression(SECRET, array).coords["covariate"]) == ["age", "income"]
    secret = pd.Series([False, True, True, False], index=list("abcd"))
    model = logistic_regression(secret, COVARIATES)
    assert list(model.coords["covariate"]) == [0, 1]
    assert list(model.coords["person"]) == list("abcd")


def test_the_prior_predictive():
    drawn = prior_predictive(logistic_regression(SECRET, COVARIATES, intercept_prior=(0.5, 1.0)))
    assert stats.kstest(drawn["intercept"], stats.norm(0.5, 1).cdf).pvalue > 1e-4
    assert stats.kstest(drawn["beta"].ravel(), stats.norm(0, 2.5).cdf).pvalue > 1e-4
    logit = drawn["intercept"][:, None] + drawn["beta"] @ COVARIATES.T
    p = 1 / (1 + np.exp(-logit))
    off = (drawn["secret"] - p) / np.sqrt(len(p))
    assert (abs(off.sum(axis=0)) < 4 * np.sqrt((p * (1 - p)).mean(axis=0))).all()


def test_the_prior_of_a_person():
    intercept, beta = np.array([0.1, -3.0]), np.array([[1.0, 2.0], [0.0, 900.0]])
    draw = {
        "intercept": xr.DataArray(intercept, dims="sample"),
        "beta": xr.DataArray(
            beta, dims=("sample", "covariate"), coords={"covariate": ["age", "income"]}
        ),
    }
    prior = logistic_prior(draw, at=[0.5, 1.0], labels=("no", "yes"))
    assert prior.on == bl.Finite(["no", "yes"]) and prior.batch == (2,)
    truth = [1 / (1 + np.exp(-2.6)), 1.0]
    np.testing.assert_allclose(prior.probabilities[:, 1], truth, rtol=1e-14)
    assert prior.probabilities[1, 0] > 0  # e^-897 is below every float
    by_name = logistic_prior(draw, at={"income": 1.0, "age": 0.5})
    np.testing.assert_array_equal(by_name.probabilities, prior.probabilities)
    for at, message in (
        ([1.0], "at must give 2 covariates, got 1"),
        ([1.0, np.nan], "at must be finite"),
        ({"age": 1.0}, r"the covariates \['age', 'income'\], got \['age'\]"),
    ):
        with pytest.raises(ValueError, match=message):
            logistic_prior(draw, at=at)
    with pytest.raises(ValueError, match="these draws name none"):
        logistic_prior({"intercept": 0.0, "beta": [1.0]}, at={"age": 1.0})


@pytest.mark.slow
def test_recovery_against_the_grid():
    rng = np.random.default_rng(12)
    c = rng.normal(size=(300, 1))
    secret = rng.random(300) < 1 / (1 + np.exp(0.7 - 1.2 * c[:, 0]))
    tree = sampled(logistic_regression(secret, c, names=["age"]))
    posterior = tree["posterior"]

    def log_density(a, b):
        logit = a[..., None] + b[..., None] * c[:, 0]
        log = np.where(secret, logit, 0).sum(-1) - np.logaddexp(0, logit).sum(-1)
        return log + stats.norm(0, 2.5).logpdf(a) + stats.norm(0, 2.5).logpdf(b)

    means, deviations = on_a_grid(
        log_density, np.linspace(-1.6, 0.2, 120), np.linspace(0.3, 2.3, 120)
    )
    assert abs(means[0] + 0.7) < 4 * deviations[0] and abs(means[1] - 1.2) < 4 * deviations[1]
    agrees(posterior["intercept"], means[0], deviations[0])
    agrees(posterior["beta"].sel(covariate="age"), means[1], deviations[1])
    learnt = bl.priors.from_posterior(tree, lambda draw: logistic_prior(draw, at={"age": 0.5}))
    released = bl.mechanisms.randomized_response(secret=["no", "yes"], epsilon=1.0)
    assert bl.pml(learnt * released).sup().quantile(0.9).status == "statistical"
