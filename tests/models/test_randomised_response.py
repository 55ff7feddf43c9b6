"""Privatised answers: validation, alignment, graph, and a recovery."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from predictions import prior_predictive

from borel import _compat
from borel.models import privatised_multinomial

KERNEL = np.array([[0.8, 0.2], [0.3, 0.7]])
LABELLED = xr.DataArray(
    KERNEL, dims=("secret", "answer"), coords={"secret": ["no", "yes"], "answer": ["n", "y"]}
)


@pytest.mark.parametrize(
    ("counts", "kernel", "kwargs", "message"),
    [
        ([7, 3], [[0.8, 0.3], [0.3, 0.7]], {}, r"sum to 1, got 1\.1 at row 0"),
        ([7, 3], KERNEL.T, {}, r"the columns sum to 1: pass kernel\.T"),
        ([7, 3], [[1.2, -0.2], [0.3, 0.7]], {}, "probabilities >= 0, got -0.2 at row 0, column 1"),
        ([7, 3], [[np.nan, 1], [0.3, 0.7]], {}, "got nan at row 0, column 0"),
        ([7, 3], [0.5, 0.5], {}, r"must be a matrix .* got shape \(2,\)"),
        ([7, 3, 1], KERNEL, {}, "each of the 3 counts, got 2 columns"),
        ([7, 3], [[0.5, 0.5]], {}, "at least 2 rows"),
        ([7, 3], [[1, 0], [1, 0]], {"outcomes": ["n", "y"]}, "probability 0 everywhere for 'y'"),
        ([7, -3], KERNEL, {}, "counts must be whole numbers"),
        ([7, 3], KERNEL, {"secrets": ["a"]}, "secrets must hold 2 labels"),
        ([7, 3], LABELLED, {"outcomes": ["n", "?"]}, "same labels"),
        (pd.Series([7, 3], index=["n", "?"]), LABELLED, {}, "same labels"),
        ([7, 3], KERNEL, {"alpha": [1, 1, 1]}, "one number or 2 numbers"),
    ],
)
def test_bad_input(counts, kernel, kwargs, message):
    with pytest.raises(ValueError, match=message):
        privatised_multinomial(counts, kernel, **kwargs)


def test_a_kernel_may_miss_1_by_rounding():
    privatised_multinomial([7, 3], [[0.1, 1 - 0.1], [0.1 + 0.2, 0.7]])


def test_graph():
    model = privatised_multinomial([7, 3], LABELLED)
    assert [v.name for v in model.free_RVs] == ["p"]
    assert tuple(model.named_vars_to_dims["p"]) == ("x",)
    assert tuple(model.named_vars_to_dims["q"]) == ("y",)
    assert list(model.coords["x"]) == ["no", "yes"]
    assert list(model.coords["y"]) == ["n", "y"]
    q = model["q"].eval({model["p"]: [0.25, 0.75]})
    np.testing.assert_allclose(q, [0.25, 0.75] @ KERNEL)


def test_labels_align_kernel_and_counts():
    counts = pd.Series([30, 70], index=["y", "n"])
    kernel = LABELLED.isel(secret=[1, 0])
    model = privatised_multinomial(counts, kernel, secrets=["no", "yes"])
    assert list(model.coords["y"]) == ["n", "y"]
    assert model.rvs_to_values[model["counts"]].eval().tolist() == [70, 30]
    np.testing.assert_allclose(model["q"].eval({model["p"]: [1.0, 0.0]}), [0.8, 0.2])


def test_the_prior_predictive():
    drawn = prior_predictive(privatised_multinomial([70, 30], KERNEL, alpha=[2, 3]))
    np.testing.assert_allclose(drawn["q"], drawn["p"] @ KERNEL)
    truth = 100 * (np.array([0.4, 0.6]) @ KERNEL)
    np.testing.assert_allclose(drawn["counts"].mean(axis=0), truth, atol=0.8)


@pytest.mark.slow
def test_the_truth_is_recovered():
    rng = np.random.default_rng(2)
    truth = np.array([0.5, 0.3, 0.2])
    kernel = np.full((3, 3), 0.2) + 0.4 * np.eye(3)
    counts = rng.multinomial(5000, truth @ kernel)
    model = privatised_multinomial(counts, kernel)
    tree = _compat.sample(model, chains=2, cores=1, random_seed=1, progressbar=False)
    p = tree["posterior"]["p"]
    assert (_compat.rhat(p) < 1.02).all()
    lower, upper = _compat.eti(p, 0.99)
    assert ((lower < truth) & (truth < upper)).all()
    assert (upper - lower < 0.2).all()
