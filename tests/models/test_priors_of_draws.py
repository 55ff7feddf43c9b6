"""Draws through each builder into a random prior, and its leakage against SciPy's integrals."""

import numpy as np
import pytest
import xarray as xr
from scipy import integrate, stats

import borel as bl
from borel import models

DRAWS = (2, 3)  # chains, draws
RNG = np.random.default_rng(4)


def tree(**variables):
    """Draws declared exact, in the shape that pm.sample returns."""
    data = {
        name: (("chain", "draw", *(f"{name}_dim_{i}" for i in range(values.ndim - 2))), values)
        for name, values in variables.items()
    }
    coords = {"chain": np.arange(DRAWS[0]), "draw": np.arange(DRAWS[1])}
    return xr.DataTree.from_dict({"posterior": xr.Dataset(data, coords, {"borel_draws": "exact"})})


def uniform(low, high, *shape):
    return RNG.uniform(low, high, (*DRAWS, *shape))


MU, SIGMA = uniform(0.3, 0.8), uniform(0.1, 0.5)
ALPHA, BETA = uniform(1.5, 4), uniform(1.5, 4)
MEANS, WEIGHTS = np.sort(uniform(-1, 2, 2)), RNG.dirichlet([2.0, 2.0], DRAWS)
SPREADS = uniform(0.3, 1.0, 2)

CONTINUOUS = {
    "truncated_normal": (
        tree(mu=MU, sigma=SIGMA),
        lambda draw: models.truncated_normal_prior(draw, lower=0, upper=1),
        lambda c, d: (
            stats.truncnorm(
                -MU[c, d] / SIGMA[c, d], (1 - MU[c, d]) / SIGMA[c, d], MU[c, d], SIGMA[c, d]
            ).pdf
        ),
        (0, 1),
    ),
    "scaled_beta": (
        tree(alpha=ALPHA, beta=BETA),
        lambda draw: models.scaled_beta_prior(draw, lower=-1, upper=1),
        lambda c, d: stats.beta(ALPHA[c, d], BETA[c, d], -1, 2).pdf,
        (-1, 1),
    ),
    "normal_mixture": (
        tree(w=WEIGHTS, mu=MEANS, sigma=SPREADS),
        models.normal_mixture_prior,
        lambda c, d: (
            lambda x: sum(
                WEIGHTS[c, d, j] * stats.norm(MEANS[c, d, j], SPREADS[c, d, j]).pdf(x)
                for j in (0, 1)
            )
        ),
        (-12, 12),
    ),
}


@pytest.mark.cases("slow", "normal_mixture")
@pytest.mark.few(1)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_continuous_prior_of_each_draw(name):
    draws, build, density, (low, high) = CONTINUOUS[name]
    learnt = bl.priors.from_posterior(draws, build)
    mech = bl.mechanisms.laplace(b=0.5, secret=learnt.on)
    found = bl.pml(learnt * mech)(0.4).draws
    for c, d in np.ndindex(*DRAWS):
        f = density(c, d)
        marginal = integrate.quad(
            lambda x, f=f: f(x) * np.exp(-2 * abs(x - 0.4)), low, high, points=[0.4], epsabs=1e-12
        )[0]
        middle = (found["lower"] + found["upper"]).values[c, d] / 2
        assert middle == pytest.approx(-np.log(marginal), abs=1e-6)


MEAN, SHAPE = uniform(0.5, 6), uniform(0.5, 4)
STICKS = RNG.dirichlet(np.ones(4), DRAWS)


def continued(c, d, alpha=1.5):
    """The sticks of a draw, and a geometric end."""
    end = STICKS[c, d, 3] * 0.4 * 0.6 ** np.arange(200)
    masses = np.append(STICKS[c, d, :3], end)
    return lambda x: masses[np.minimum(x, len(masses) - 1)]


COUNTABLE = {
    "poisson": (tree(mu=MEAN), models.poisson_prior, lambda c, d: stats.poisson(MEAN[c, d]).pmf),
    "negative_binomial": (
        tree(mu=MEAN, alpha=SHAPE),
        models.negative_binomial_prior,
        lambda c, d: stats.nbinom(SHAPE[c, d], SHAPE[c, d] / (SHAPE[c, d] + MEAN[c, d])).pmf,
    ),
    "stick_breaking": (
        tree(p=STICKS[..., :3], rest=STICKS[..., 3], alpha=np.full(DRAWS, 1.5)),
        models.stick_breaking_prior,
        continued,
    ),
}


@pytest.mark.parametrize("name", COUNTABLE)
def test_a_countable_prior_of_each_draw(name):
    draws, build, mass = COUNTABLE[name]
    learnt = bl.priors.from_posterior(draws, build)
    assert learnt.on == bl.Integers(0, None)
    mech = bl.mechanisms.laplace(b=2.0, secret=learnt.on)
    found = bl.pml(learnt * mech)(3.0).draws
    x = np.arange(200)
    for c, d in np.ndindex(*DRAWS):
        marginal = (mass(c, d)(x) * np.exp(-abs(x - 3.0) / 2)).sum()
        middle = (found["lower"] + found["upper"]).values[c, d] / 2
        assert middle == pytest.approx(-np.log(marginal), abs=1e-6)


RECORDS = {
    "top_coded": (
        tree(p=STICKS[..., :3], rest=STICKS[..., 3]),
        models.top_coded_prior,
        lambda c, d: STICKS[c, d],
    ),
    "logistic": (
        tree(intercept=uniform(-1, 1), beta=np.zeros((*DRAWS, 2))),
        lambda draw: models.logistic_prior(draw, at=[1.0, 2.0]),
        None,
    ),
    "exchangeable": (
        tree(mu=MU, kappa=SHAPE),
        lambda draw: models.exchangeable_records_prior(draw, size=2),
        lambda c, d: (
            stats.betabinom(2, MU[c, d] * SHAPE[c, d], (1 - MU[c, d]) * SHAPE[c, d]).pmf(
                [0, 1, 1, 2]
            )
            / [1, 2, 2, 1]
        ),
    ),
    "correlated": (
        tree(mu=MU, sigma=SIGMA),
        lambda draw: models.correlated_records_prior(draw, size=2),
        None,
    ),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_finite_prior_of_each_draw(name):
    draws, build, law = RECORDS[name]
    learnt = bl.priors.from_posterior(draws, build)
    kernel = np.random.default_rng(5).dirichlet(np.ones(3), learnt.on.size)
    mech = bl.Mechanism.from_matrix(kernel, secret=learnt.on)
    found = bl.pml(learnt * mech).sup().draws
    whole = np.concatenate([prior.probabilities for _, prior in learnt.blocks()])
    for i, (c, d) in enumerate(np.ndindex(*DRAWS)):
        p = whole[i] if law is None else law(c, d)
        truth = np.log((kernel.max(axis=0) / (p @ kernel)).max())
        assert abs(found["lower"].values[c, d] - truth) < 1e-10
        assert 0 <= found["upper"].values[c, d] - found["lower"].values[c, d] < 1e-12
