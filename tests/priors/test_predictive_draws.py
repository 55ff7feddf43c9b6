"""Outcomes drawn under a posterior over priors, held against those released."""

import matplotlib
import numpy as np
import pytest
import xarray as xr
from scipy import stats

import borel as bl
from borel.errors import InvalidInput, NotYet

MECH = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
NAMED = bl.Mechanism.from_matrix(MECH.matrix, outcome=bl.Finite(["no", "yes"]))


@pytest.fixture(scope="module")
def learnt():
    data = bl.models.dirichlet_posterior([30, 70], draws=100, random_seed=1)
    return bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))


def test_outcomes_follow_the_prior_of_their_draw(learnt):
    """P(y = 1) is 1/4 + q/2 under a prior of q: by chi-square over the draws."""
    n = 500
    drawn = bl.priors.predictive(learnt * MECH, size=n, random_seed=1)["posterior_predictive/y"]
    assert drawn.dims == ("chain", "draw", "release") and drawn.shape == (4, 100, n)
    q = learnt.posterior["p"].values[..., 1]
    ones, chance = drawn.sum("release").values, 0.25 + 0.5 * q
    square = ((ones - n * chance) ** 2 / (n * chance * (1 - chance))).sum()
    assert 1e-3 < stats.chi2(q.size).cdf(square) < 1 - 1e-3
    again = bl.priors.predictive(learnt * MECH, size=n, random_seed=1)
    assert (again["posterior_predictive/y"] == drawn).all()


FAMILIES = {
    "normal": ({"mu": 1.0, "sigma": 2.0}, stats.norm(1, 2)),
    "laplace": ({"mu": 1.0, "b": 2.0}, stats.laplace(1, 2)),
    "cauchy": ({"alpha": 1.0, "beta": 2.0}, stats.cauchy(1, 2)),
    "beta": ({"alpha": 2.0, "beta": 5.0}, stats.beta(2, 5)),
    "gamma": ({"alpha": 2.0, "beta": 5.0}, stats.gamma(2, scale=0.2)),
    "exponential": ({"lam": 3.0}, stats.expon(scale=1 / 3)),
    "poisson": ({"mu": 4.0}, stats.poisson(4)),
    "geometric": ({"p": 0.3}, stats.geom(0.3)),
    "negative_binomial": ({"mu": 4.0, "alpha": 3.0}, stats.nbinom(3, 3 / 7)),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_secrets_of_every_family_follow_its_law(name):
    values, law = FAMILIES[name]
    data = xr.Dataset({k: (("chain", "draw"), np.full((2, 3), v)) for k, v in values.items()})
    priors = bl.priors.from_posterior(data, lambda draw: getattr(bl, name)(**draw))
    noise = 1e-12  # the outcome is the secret
    mech = bl.mechanisms.gaussian(sigma=noise, secret=priors.on)
    drawn = bl.priors.predictive(priors * mech, size=2000, random_seed=2)
    y = drawn["posterior_predictive/y"].values.ravel()
    if isinstance(law.dist, stats.rv_discrete):
        points = np.arange(1, 9)
        share = (y[:, None] <= points + 0.5).mean(0)
        assert np.abs(share - law.cdf(points)).max() < 0.02
    else:
        assert stats.kstest(y, law.cdf).pvalue > 1e-3


def test_what_was_released_lies_beside_them(learnt):
    released = ["yes", "no", "yes", "yes"]
    tree = bl.priors.predictive(learnt * NAMED, observed=released, random_seed=1)
    seen = tree["observed_data/y"]
    assert seen.values.tolist() == [1, 0, 1, 1] and seen.attrs["labels"] == ["no", "yes"]
    assert tree["posterior_predictive/y"].shape == (4, 100, 4)
    assert set(np.unique(tree["posterior_predictive/y"])) == {0, 1}
    assert tree.attrs["creation_library"] == "borel"
    whole = bl.leakage_tree({"epsilon": bl.pml(learnt * NAMED).sup()}, learnt.posterior)
    whole.update(tree)
    assert {"posterior", "leakage", "posterior_predictive", "observed_data"} == {*whole.children}


def test_arviz_plots_take_them(learnt):
    import arviz_plots as azp
    from matplotlib import pyplot as plt

    before = matplotlib.get_backend()
    plt.switch_backend("agg")
    mech = bl.mechanisms.laplace(b=1.0, secret=bl.Finite(2))
    y = mech.sample(np.repeat([0, 1], [60, 140]), rng=1)
    tree = bl.priors.predictive(learnt * mech, observed=y, random_seed=1)
    try:
        azp.plot_ppc_dist(tree, backend="matplotlib", num_samples=20)
        azp.plot_ppc_tstat(tree, t_stat="mean", backend="matplotlib")
    finally:
        plt.close("all")
        plt.switch_backend(before)


def test_a_model_that_did_not_make_the_outcomes_is_seen(learnt):
    """The mean of 2000 outcomes, against that of draws: in their middle, or beyond them all."""
    for secrets, usual in ((np.repeat([0, 1], [600, 1400]), True), (np.zeros(2000, int), False)):
        y = MECH.sample(secrets, rng=3)
        tree = bl.priors.predictive(learnt * MECH, observed=y, random_seed=1)
        means = tree["posterior_predictive/y"].mean("release").values
        share = (means <= tree["observed_data/y"].values.mean()).mean()
        assert (0.05 < share < 0.95) == usual and (share == 0) != usual


def test_secrets_that_were_drawn_elsewhere(learnt):
    shape = {"chain": 4, "draw": 100}
    x = xr.DataArray(np.ones((5, 4, 100), int), dims=("person", *shape))
    sure = bl.Mechanism.from_matrix([[1.0, 0.0], [0.0, 1.0]])
    found = bl.priors.predictive(learnt * sure, secrets=x)["posterior_predictive/y"]
    assert found.shape == (4, 100, 5) and (found == 1).all()
    with pytest.raises(InvalidInput, match="secrets over"):
        bl.priors.predictive(learnt * sure, secrets=x.values)
    with pytest.raises(InvalidInput, match="secrets over"):
        bl.priors.predictive(learnt * sure, secrets=x, observed=[0, 1])


def test_what_cannot_be_drawn(learnt):
    with pytest.raises(InvalidInput, match="learnt \\* mech"):
        bl.priors.predictive(bl.pmf([0.5, 0.5]) * MECH)
    with pytest.raises(InvalidInput, match="no other size"):
        bl.priors.predictive(learnt * MECH, observed=[0, 1], size=3)
    with pytest.raises(bl.OutsideAlphabet):
        bl.priors.predictive(learnt * MECH, observed=[0, 2])
    data = xr.Dataset({"s": (("chain", "draw"), np.full((2, 3), 0.5))})
    unit = bl.Interval(0, 1)
    own = bl.priors.from_posterior(
        data,
        lambda draw: bl.Measure(
            lambda x, s: 1 + s * (x - 0.5), on=unit, params={"s": draw["s"].values}
        ),
    )
    with pytest.raises(NotYet, match="secrets=idata"):
        bl.priors.predictive(own * bl.mechanisms.laplace(b=1.0, secret=unit))
