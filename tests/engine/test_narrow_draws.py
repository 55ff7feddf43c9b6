"""Draws that are much narrower than they are apart, or than a cell of all of them would be."""

import mpmath
import numpy as np
import pytest
import xarray as xr

import borel as bl
from borel.engine.draws import narrow_draws
from borel.engine.draws.density_cells import DensityCells

mp = mpmath.mp
B, Y = 0.5, 0.25


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(40):
        yield


def found(build, **variables):
    data = {name: (("chain", "draw"), np.atleast_2d(v)) for name, v in variables.items()}
    draws = xr.Dataset(data, attrs={"borel_draws": "exact"})
    prior = bl.priors.from_posterior(draws, build)
    return bl.pml(prior * bl.mechanisms.laplace(b=B, secret=prior.on))(Y)


def normal(d):
    return bl.normal(mu=d["mu"], sigma=d["sigma"])


def beta(d):
    return bl.beta(alpha=d["a"], beta=d["b"])


def of_normal(mu, sigma):
    """-log E e^(-|Y - X| / b), in closed form."""
    m, s, b = (mpmath.mpf(float(v)) for v in (mu, sigma, B))
    z = (mpmath.mpf(Y) - m) / s
    parts = (mp.exp(-k * z * s / b + (s / b) ** 2 / 2) * mp.ncdf(k * z - s / b) for k in (1, -1))
    return -mp.log(mp.fsum(parts))


def of_beta(a, b):
    """The mean of e^(-(X - y) / b), for a law that has no mass to speak of below y."""
    a, b = mpmath.mpf(float(a)), mpmath.mpf(float(b))
    return -mp.log(mp.hyp1f1(a, a + b, -1 / mpmath.mpf(B))) - mpmath.mpf(Y) / mpmath.mpf(B)


def ends(bound, k):
    return tuple(bound.draws[end].values.ravel()[k] for end in ("lower", "upper"))


@pytest.mark.few(2)
@pytest.mark.parametrize("size", [1e5, 1e7, 1e9])
def test_logarithms_that_nearly_cancel(size):
    """A Beta law of mean 3/10 and of that many observations."""
    a, b = 0.3 * size, 0.7 * size
    low, high = ends(found(beta, a=np.full(2, a), b=np.full(2, b)), 1)
    assert low <= of_beta(a, b) <= high and high - low <= 1e-5


@pytest.mark.truths
@pytest.mark.parametrize("sigma", [1e-4, 1e-6])
def test_normals_far_from_each_other(sigma):
    mu = np.random.default_rng(5).normal(0.3, 0.02, 30)
    bound = found(normal, mu=mu, sigma=np.full(30, sigma))
    for k in range(30):
        low, high = ends(bound, k)
        assert low <= of_normal(mu[k], sigma) <= high and high - low <= 1e-4


@pytest.mark.truths
def test_normals_of_all_scales():
    rng = np.random.default_rng(6)
    mu, sigma = rng.normal(0.3, 0.02, 60), 10 ** rng.uniform(-6, -1, 60)
    bound = found(normal, mu=mu, sigma=sigma)
    for k in range(60):
        low, high = ends(bound, k)
        assert low <= of_normal(mu[k], sigma[k]) <= high and high - low <= 1e-3


def test_figures_are_in_the_order_of_the_draws():
    """In groups as well as in blocks: each draw has its own figure."""
    mu = np.array([0.5, 0.3, 0.9, 0.3001, 0.7, 0.5001])
    bound = found(normal, mu=mu, sigma=np.full(6, 1e-5))
    for k in range(6):
        low, high = ends(bound, k)
        assert low <= of_normal(mu[k], 1e-5) <= high and high - low <= 1e-4


def test_groups_hold_every_draw_once():
    rng = np.random.default_rng(7)
    prior = bl.normal(mu=rng.normal(0, 5, 300), sigma=10 ** rng.uniform(-9, 0, 300))
    groups = narrow_draws.groups_of(prior)
    assert 1 < len(groups) <= 64
    np.testing.assert_array_equal(np.sort(np.concatenate(groups)), np.arange(300))


def test_a_wide_posterior_has_one_group():
    """All draws share their cells where these are good enough."""
    cells = DensityCells(bl.normal(mu=np.linspace(0, 1, 50), sigma=np.linspace(0.5, 1, 50)))
    assert not cells.rough.any()
