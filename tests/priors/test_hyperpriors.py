"""Hyperpriors side by side, and power-scaling by ArviZ."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import borel as bl
from borel.errors import InvalidInput

MECHANISM = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])


def fit(a, seed=1):
    data = bl.models.dirichlet_posterior([30, 10], alpha=a, random_seed=seed)
    return bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))


def test_hyperpriors_side_by_side():
    fits = {f"a = {a}": fit(a) for a in (0.5, 1.0, 20.0)}
    found = bl.priors.sensitivity(fits, MECHANISM, levels=(0.5, 0.9), thresholds=(0.5, 0.6))
    for i, learnt in enumerate(fits.values()):
        epsilon = bl.pml(learnt * MECHANISM).sup()
        for j, q in enumerate((0.5, 0.9)):
            bound = epsilon.quantile(q)
            assert (bound.lower, bound.upper) == (found["lower"][i, j], found["upper"][i, j])
        for j, t in enumerate((0.5, 0.6)):
            share = epsilon.cdf(t)
            assert share.lower == found["holds_lower"][i, j]
            assert share.upper == found["holds_upper"][i, j]
    assert found.attrs["status"] == "statistical"
    # PML is log 3/4 / (1/4 + q / 2), q the smaller probability, Beta(10 + a, 30 + a)
    q = stats.beta.ppf(0.1, [10.5, 11.0, 30.0], [30.5, 31.0, 50.0])
    truth = np.log(0.75 / (0.25 + 0.5 * q))
    assert (found["lower"][:, 1] <= truth).all() and (truth <= found["upper"][:, 1]).all()
    assert found.attrs["spread"] == pytest.approx(np.ptp(truth), abs=0.03)


def test_another_figure_and_a_bad_fit():
    rng = np.random.default_rng(0)
    p = rng.beta([[2], [9]], 10, size=(2, 500))
    data = xr.Dataset({"p": (("chain", "draw", "x"), np.stack([p, 1 - p], -1))})
    bad = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    fits = {"good": fit(1.0), "bad": bad}
    found = bl.priors.sensitivity(fits, MECHANISM, figure=bl.mutual_information, levels=[0.9])
    assert found["status"].values.ravel().tolist() == ["statistical", "undecided"]
    assert found.attrs["status"] == "undecided" and found.attrs["spread"] == np.inf
    assert found.attrs["quantity"] == "mutual information"


def test_what_cannot_be_compared():
    with pytest.raises(InvalidInput, match="a mapping"):
        bl.priors.sensitivity([fit(1.0)], MECHANISM)
    with pytest.raises(InvalidInput, match="'one prior'"):
        bl.priors.sensitivity({"one prior": bl.pmf([0.5, 0.5])}, MECHANISM)
    with pytest.raises(InvalidInput, match="a RandomBound"):
        bl.priors.sensitivity({"a": fit(1.0)}, MECHANISM, figure=lambda j: 1.0)


def conjugate(prior_spread, seed=0):
    """A normal mean with few data: a narrow prior decides, a wide one does not."""
    rng = np.random.default_rng(seed)
    x = rng.normal(2.0, 1.0, 10)
    precision = 1 / prior_spread**2 + len(x)
    mu = rng.normal(x.sum() / precision, precision**-0.5, size=(4, 1000))
    data = {
        "posterior": {"mu": mu},
        "log_prior": {"mu": stats.norm.logpdf(mu, 0, prior_spread)},
        "log_likelihood": {"x": stats.norm.logpdf(x, mu[..., None], 1.0)},
    }
    coords = {"chain": range(4), "draw": range(1000)}
    return xr.DataTree.from_dict(
        {
            group: xr.Dataset(
                {k: (("chain", "draw", "i")[: np.ndim(v)], v) for k, v in values.items()}, coords
            )
            for group, values in data.items()
        }
    )


def test_power_scaling_tells_a_prior_that_decides_from_one_that_does_not():
    def build(draw):
        q = 1 / (1 + np.exp(-draw["mu"].values))
        return bl.pmf(np.stack([1 - q, q], -1))

    found = {}
    for spread in (0.3, 50.0):
        data = conjugate(spread)
        learnt = bl.priors.from_posterior(data, build)
        found[spread] = bl.priors.power_scaling(data, bl.pml(learnt * MECHANISM).sup())
        assert found[spread].attrs["status"] == "estimate"
    assert found[0.3]["prior"] > 0.1 > 0.01 > found[50.0]["prior"]
    assert found[50.0]["likelihood"] > 0.05
    with pytest.raises(InvalidInput, match="a group log_prior"):
        epsilon = bl.pml(learnt * MECHANISM).sup()
        bl.priors.power_scaling(xr.DataTree.from_dict({"posterior": xr.Dataset()}), epsilon)
    other = xr.DataTree.from_dict(
        {k: v.to_dataset().isel(draw=slice(0, 100)) for k, v in data.children.items()}
    )
    with pytest.raises(InvalidInput, match="of the shape"):
        bl.priors.power_scaling(other, epsilon)


def test_a_flat_hyperprior_decides_nothing():
    data = conjugate(50.0)
    flat = data.copy()
    flat["log_prior"] = data["log_prior"].to_dataset() * 0
    learnt = bl.priors.from_posterior(
        data, lambda draw: bl.pmf(np.stack([1 - (q := 1 / (1 + np.exp(-draw["mu"]))), q], -1))
    )
    epsilon = bl.pml(learnt * MECHANISM).sup()
    found, known = (bl.priors.power_scaling(d, epsilon) for d in (flat, data))
    assert found["prior"] == 0 and found["likelihood"] == known["likelihood"]
