"""Stacked models: one average prior, and not the worst of them."""

from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import borel as bl
from borel.errors import InvalidInput

MECH = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])


def fit(alpha):
    data = bl.models.dirichlet_posterior([30, 10], alpha=alpha, draws=100, random_seed=1)
    return bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))


def test_the_average_is_the_mixture_of_the_mean_priors():
    models = {"flat": fit(1.0), "strong": fit(40.0)}
    means = [m.posterior["p"].values.reshape(-1, 2).mean(0) for m in models.values()]
    truth = 0.25 * means[0] + 0.75 * means[1]
    for weights in (
        {"strong": 0.75, "flat": 0.25},
        [0.25, 0.75],
        pd.Series({"strong": 0.75, "flat": 0.25}),
        pd.DataFrame({"rank": [0, 1], "weight": [0.75, 0.25]}, ["strong", "flat"]),
        {"strong": 0.3, "flat": 0.1},  # divided by their sum
    ):
        stacked = bl.priors.stack(models, weights=weights)
        np.testing.assert_allclose(stacked.probabilities, truth, rtol=1e-14)


def test_an_average_is_no_worst_case():
    """Under one of the models the leakage is larger: the union has it."""
    first = bl.pmf([Fraction(99, 100), Fraction(1, 100)])
    second = bl.pmf([Fraction(1, 2), Fraction(1, 2)])
    kernel = [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]
    mech = bl.Mechanism.from_matrix(kernel)
    average = bl.pml(bl.priors.stack([first, second], weights=[0.5, 0.5]) * mech).sup()
    union = bl.priors.union([bl.priors.hull([first]), bl.priors.hull([second])])
    worst = bl.pml(union * mech).sup()
    truth = np.log(0.75 / (0.25 + 0.5 * 0.01))  # at the outcome 1 of the first model
    assert average.upper < truth <= worst.upper


def test_densities_are_mixed_and_their_figures_are_enclosed():
    models = {"a": bl.beta(alpha=2, beta=5), "b": bl.beta(alpha=4, beta=2)}
    stacked = bl.priors.stack(models, weights={"b": 0.4, "a": 0.6})
    points = np.array([0.1, 0.5, 0.9])
    truth = 0.6 * stats.beta(2, 5).pdf(points) + 0.4 * stats.beta(4, 2).pdf(points)
    np.testing.assert_allclose(stacked.pdf(points), truth, rtol=1e-12)
    mech = bl.mechanisms.laplace(b=1.0, secret=bl.Interval(0, 1))
    figure = bl.pml(stacked * mech)(2.0)
    assert figure.status == "certified"
    with mpmath.workdps(30):  # at y = 2 the ratio f(2|x) / f(2) is largest at x = 1
        law = [lambda x: 30 * x * (1 - x) ** 4, lambda x: 20 * x**3 * (1 - x)]
        mean = sum(
            w * mpmath.quad(lambda x, f=f: f(x) * mpmath.exp(x - 1), [0, 1])
            for w, f in zip((mpmath.mpf(0.6), mpmath.mpf(0.4)), law, strict=True)
        )
        assert figure.lower <= -mpmath.log(mean) <= figure.upper


def test_models_of_weight_0_are_left_out():
    one, other = bl.pmf([0.5, 0.5]), bl.pmf([0.2, 0.3, 0.5])  # on other alphabets
    stacked = bl.priors.stack({"a": one, "b": other}, weights={"a": 1.0, "b": -1e-17})
    np.testing.assert_allclose(stacked.probabilities, [0.5, 0.5], rtol=1e-15)
    with pytest.raises(InvalidInput, match="one alphabet"):
        bl.priors.stack([one, other], weights=[0.5, 0.5])


def test_what_cannot_be_stacked():
    one, other = bl.pmf([0.5, 0.5]), bl.pmf([0.2, 0.8])
    with pytest.raises(InvalidInput, match="not negative"):
        bl.priors.stack([one, other], weights=[1.5, -0.5])
    with pytest.raises(InvalidInput, match="not all 0"):
        bl.priors.stack([one, other], weights=[0.0, 0.0])
    with pytest.raises(InvalidInput, match="2 weights"):
        bl.priors.stack([one, other], weights=[1.0])
    with pytest.raises(InvalidInput, match="by the names of their weights"):
        bl.priors.stack([one, other], weights={"a": 0.5, "b": 0.5})
    with pytest.raises(InvalidInput, match="by the names of their weights"):
        bl.priors.stack({"a": one, "c": other}, weights={"a": 0.5, "b": 0.5})
    with pytest.raises(InvalidInput, match=r"bl\.priors\.union"):
        bl.priors.stack([one, bl.priors.tv_ball(other, 0.1)], weights=[0.5, 0.5])


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # arviz-stats 0.8 with pandas 3
def test_the_weights_of_arviz_s_compare():
    """Two models of the same data, compared and stacked: the one that fits has the weight."""
    import arviz_stats as azs
    import xarray as xr

    rng = np.random.default_rng(0)
    y = rng.binomial(1, 0.25, 200)
    trees, models = {}, {}
    for name, (a, b) in {"flat": (1, 1), "wrong": (800, 200)}.items():
        q = rng.beta(a + y.sum(), b + (1 - y).sum(), (4, 250))
        dims, coords = ("chain", "draw"), {"chain": range(4), "draw": range(250)}
        log = stats.bernoulli.logpmf(y, q[..., None])
        posterior = xr.Dataset({"q": (dims, q)}, coords, {"borel_draws": "exact"})
        likelihood = xr.Dataset({"y": ((*dims, "i"), log)}, coords)
        data = xr.DataTree.from_dict({"posterior": posterior, "log_likelihood": likelihood})
        models[name] = bl.priors.from_posterior(
            data, lambda draw: bl.pmf(np.stack([1 - draw["q"], draw["q"]], -1))
        )
        trees[name] = bl.leakage_tree({"epsilon": bl.pml(models[name] * MECH).sup()}, data)
    found = azs.compare(trees, method="stacking")
    assert found.index[0] == "flat"
    stacked = bl.priors.stack(models, weights=found)
    shares = found["weight"].astype(float)
    means = {name: m.posterior["q"].values.mean() for name, m in models.items()}
    truth = sum(shares[name] * means[name] for name in means) / shares.sum()
    assert float(stacked.probabilities[1]) == pytest.approx(truth, rel=1e-12)
    assert shares["flat"] > 0.9
