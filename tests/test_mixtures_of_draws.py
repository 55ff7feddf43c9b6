"""Mixtures of measures with a draws axis: each draw is the mixture of its own components."""

import mpmath
import numpy as np
import pytest
import xarray as xr

import borel as bl
from borel.errors import InvalidInput, NotYet
from borel.priors import posteriors

mp = mpmath.mp
UNIT = bl.Interval(0, 1)
A, B_ = np.array([[1.5, 2.0, 3.25]]), np.array([[2.5, 1.25, 1.0]])
W = np.array([[0.25, 0.5, 0.8125]])  # 1 - w is exact
NOISE = 0.5


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(30):
        yield


def learn(build, **variables):
    data = {
        name: (("chain", "draw", *(f"{name}_{i}" for i in range(v.ndim - 2))), v)
        for name, v in variables.items()
    }
    draws = xr.Dataset(data, attrs={"borel_draws": "exact"})
    return bl.priors.from_posterior(draws, build)


def exact(value):
    return mpmath.mpf(float(value))


def beta(a, b):
    return lambda x: x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)


def normal(m, s):
    return lambda x: mp.npdf(x, m, s)


def pml(density, y, ends):
    """log sup f / f_Y for Laplace noise, at an outcome among the secrets."""
    b = mpmath.mpf(NOISE)
    mass = mp.quad(lambda x: density(x) * mp.exp(-abs(x - y) / b), [ends[0], y, ends[1]])
    return -mp.log(mass)


def both(d, w):
    return d["w"], 1 - d["w"]


@pytest.mark.cases("slow", "an array")
@pytest.mark.few(1)
@pytest.mark.parametrize(
    "weights",
    [
        lambda d: list(both(d, W)),
        lambda d: xr.concat(both(d, W), dim="part").transpose(..., "part"),
        lambda d: np.stack([np.asarray(v) for v in both(d, W)], axis=-1),
    ],
    ids=["a list", "a DataArray", "an array"],
)
def test_draws_of_weights_and_of_components(weights):
    def build(d):
        parts = [bl.beta(alpha=d["a"], beta=d["b"]), bl.beta(alpha=d["b"], beta=d["a"])]
        return bl.mixture(parts, weights=weights(d))

    prior = learn(build, a=A, b=B_, w=W)
    found = bl.pml(prior * bl.mechanisms.laplace(b=NOISE, secret=UNIT))(0.25)
    assert found.status == "certified"
    for d in range(3):
        a, b, w = (exact(v[0, d]) for v in (A, B_, W))
        first, second = beta(a, b), beta(b, a)
        value = pml(
            lambda x, f=first, g=second, w=w: w * f(x) + (1 - w) * g(x), mpmath.mpf(0.25), (0, 1)
        )
        low, high = (found.draws[end].values[0, d] for end in ("lower", "upper"))
        assert low <= value <= high and high - low <= 1e-6


def test_one_component_may_be_the_same_for_all_draws():
    build = lambda d: bl.mixture(  # noqa: E731
        [bl.normal(mu=d["a"], sigma=d["b"]), bl.normal(mu=0.0, sigma=4.0)], weights=[0.75, 0.25]
    )
    prior = learn(build, a=A, b=B_)
    found = bl.pml(prior * bl.mechanisms.laplace(b=NOISE, secret=bl.Reals()))(0.25)
    assert found.status == "certified"
    for d in range(3):
        own, wide = normal(exact(A[0, d]), exact(B_[0, d])), normal(0, 4)
        value = pml(lambda x, f=own, g=wide: 3 * f(x) / 4 + g(x) / 4, mpmath.mpf(0.25), (-30, 30))
        low, high = (found.draws[end].values[0, d] for end in ("lower", "upper"))
        # the noise beyond 30 is less than 1e-50
        assert low <= value <= high and high - low <= 1e-6


def test_a_draw_of_it_is_a_prior_that_is_traced():
    build = lambda d: bl.mixture(  # noqa: E731
        [bl.beta(alpha=d["a"], beta=d["b"]), bl.uniform(UNIT)], weights=[0.75, 0.25]
    )
    prior = learn(build, a=A, b=B_)
    j = prior * bl.mechanisms.laplace(b=NOISE, secret=UNIT)
    every, one = bl.pml(j)(0.25).draws, bl.pml(prior.one(1) * j.mechanism)(0.25)
    assert one.status == "certified"
    assert every["lower"].values[0, 1] <= one.upper and one.lower <= every["upper"].values[0, 1]


def test_draws_of_a_later_block_without_a_component(monkeypatch):
    """Of weight 0 in the third draw: there half of the secrets are ruled out."""
    monkeypatch.setattr(posteriors, "BLOCK", 2)
    half = bl.Measure(lambda x: np.where(x < 0.5, 2.0, 0.0), on=UNIT, breaks=[0.5])
    w = np.array([[0.25, 0.5, 0.0]])
    build = lambda d: bl.mixture([bl.uniform(UNIT), half], weights=[d["w"], 1 - d["w"]])  # noqa: E731
    j = learn(build, w=w) * bl.mechanisms.laplace(b=NOISE, secret=UNIT)
    assert bl.pml(j)(0.25).status == "estimate"
    with bl.options(engine="certified"), pytest.raises(NotYet, match="positive almost everywhere"):
        bl.ldp(j)


def test_finite_mixtures():
    p = np.array([[[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]]])
    prior = learn(
        lambda d: bl.mixture([bl.pmf(d["p"]), bl.pmf([0.5, 0.5])], weights=[d["w"], 1 - d["w"]]),
        p=p,
        w=W,
    )
    ((_, law),) = prior.blocks()
    np.testing.assert_array_equal(law.probabilities, W[0, :, None] * p[0] + (1 - W[0, :, None]) / 2)


def test_weights_that_are_no_law_are_refused():
    with pytest.raises(InvalidInput, match="mixture weights"):
        learn(
            lambda d: bl.mixture([bl.uniform(UNIT), bl.uniform(UNIT)], weights=[d["w"], d["w"]]),
            w=W,
        )
    with pytest.raises(InvalidInput, match="2 weights"):
        bl.mixture([bl.uniform(UNIT), bl.uniform(UNIT)], weights=[0.5, 0.25, 0.25])
