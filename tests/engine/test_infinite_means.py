"""Means and quantiles that are infinite, and others that only look it."""

import math

import numpy as np
import pytest
from engine.certified_cases import kernel

import borel as bl

UNIT, HALF_LINE = bl.Interval(0, 1), bl.Interval(0, np.inf)
TWO = bl.pmf([0.25, 0.75], on=bl.Finite([0.0, 1.0]))
NORMAL = bl.normal(mu=0, sigma=1) * bl.mechanisms.gaussian(sigma=1.0)
CLAYTON = bl.uniform(UNIT) * bl.mechanisms.clayton(eta=0.1, theta=1.0)
BANDS = bl.uniform(UNIT) * kernel(
    lambda y, x: np.where(np.abs(y - x) < 0.25, 2.0, 0.0), outcome=bl.Interval(-1, 2)
)


@pytest.fixture(autouse=True)
def by_the_engine():
    with bl.options(closed_forms=False, budget=30):
        yield


@pytest.mark.truths
@pytest.mark.parametrize("joint", [NORMAL, BANDS], ids=["gauss on gauss", "bounded noise"])
def test_a_cost_that_is_infinite_at_every_outcome(joint):
    """A secret of unbounded support, or a kernel that is 0 on part of it: PMC is infinite."""
    pmc = bl.pmc(joint)
    for bound in (pmc.mean(), pmc.exp_mean()):
        assert bound.proved and bound.lower == math.inf
    half = pmc.quantile(0.5)
    assert half.proved and half.lower == math.inf
    with bl.options(budget=3):
        assert pmc.tail(5.0).lower > 0.5


@pytest.mark.truths
def test_maximal_leakage_of_a_clayton_copula():
    """The largest density at y is of the order 1/y: its integral diverges."""
    found = bl.pml(CLAYTON).exp_mean()
    assert found.proved and found.lower == math.inf and found.units == "ratio"
    leakage = bl.maximal_leakage(CLAYTON)
    assert leakage.proved and leakage.lower == math.inf and leakage.units == "nats"
    # E PML, the mean of its logarithm, is finite


@pytest.mark.slow
def test_maximal_leakage_of_gaussian_noise_on_a_gaussian_secret():
    leakage = bl.maximal_leakage(NORMAL)  # every outcome is the likeliest under some secret
    assert leakage.proved and leakage.lower == math.inf


def test_an_unbounded_cost_of_a_finite_mean():
    """Gaussian noise on two secrets: log f(y|0) / f(y|1) is linear in y."""
    joint = TWO * bl.mechanisms.gaussian(sigma=1.0)
    sup, mean = bl.pmc(joint).sup(), bl.pmc(joint).mean()
    assert sup.proved and sup.lower == math.inf
    assert mean.proved and mean.upper < 1


def test_an_infinite_cost_at_one_outcome():
    assert bl.pmc(NORMAL)(0.5).lower == math.inf


# -- outcomes of positive mass --------------------------------------------------------------

SOME = {
    # how many answers leak without bound, their mass, and the leakage of the others
    "two of three": (lambda y, x: np.where(y == 0, x, (1 - x) / 2), [0, 1, 2], 1.0, None),
    "one of two": (lambda y, x: np.where(y == 0, x / 2, 1 - x / 2), [0, 1], 0.25, math.log(1.5)),
}


@pytest.mark.parametrize("name", SOME)
def test_one_outcome_of_infinite_cost_decides_the_means(name):
    """PMC is log f_Y(y) / ess inf_x f(y|x), where f may tend to 0; the law knows it too."""
    kernel, ys, mass, other = SOME[name]
    prior = bl.uniform(bl.Interval(0, 1))
    joint = prior * bl.Mechanism(kernel, secret=prior.on, outcome=bl.Finite(ys))
    ell = bl.pmc(joint)
    for found in (ell.mean(), ell.exp_mean()):
        assert found.proved and found.lower == math.inf
    tail = ell.tail(10.0)
    assert tail.lower <= mass <= tail.upper <= tail.lower + 1e-9
    high = ell.quantile(1 - mass / 2)
    assert high.proved and high.lower == math.inf
    if other is not None:
        low = ell.quantile((1 - mass) / 2)
        assert low.lower <= other <= low.upper <= low.lower + 1e-9


def test_no_outcome_of_bounded_cost_is_infinite():
    prior = bl.uniform(bl.Interval(0, 1))
    kernel = lambda y, x: np.where(y == 0, (1 + x) / 3, (2 - x) / 3)  # noqa: E731
    found = bl.pmc(prior * bl.Mechanism(kernel, secret=prior.on, outcome=bl.Finite([0, 1])))
    truth = math.log(1.5)  # f_Y = 1/2, the least value is 1/3
    assert found.mean().lower <= truth <= found.mean().upper <= found.mean().lower + 1e-8
    assert found.tail(10.0).upper == 0


@pytest.mark.slow
def test_a_mean_beyond_the_floats_is_not_infinite():
    """E e^PMC is about 1.3e868 for two secrets 2000 apart, and at most e^2000."""
    far, unit = bl.Finite([0.0, 2000.0]), bl.Finite([0.0, 1.0])
    tiny = bl.Mechanism(
        lambda y, x: np.where(x == 0, np.where(y < 0.5, 5e-324, 2.0), 1.0),
        secret=unit,
        outcome=bl.Interval(0, 1),
    )
    for joint in (
        bl.pmf([0.5, 0.5], on=far) * bl.mechanisms.laplace(b=1.0, secret=far),
        bl.pmf([0.5, 0.5], on=unit) * tiny,
    ):
        found = bl.pmc(joint).exp_mean()
        assert found.lower < math.inf and found.upper == math.inf
        assert found.status == "undecided"


def waiting(y, x):
    return np.exp(-y / x) / x


def laplace(y, x):
    return np.exp(-np.abs(y) / x) / (2 * x)


def gauss(y, x):
    return np.exp(-((y / x) ** 2) / 2) / (x * np.sqrt(2 * np.pi))


def before_zero(y, x):
    """The density of e^(-W), W a waiting time: as y goes to 0."""
    return y ** (1 / x - 1) / x


@pytest.mark.cases("slow", "True-waiting-line0-2.0-1.9375")
@pytest.mark.slow
@pytest.mark.cases(
    "truths",
    "False-before_zero-line3-2.0-1.75",
    "False-gauss-line2-1.5-1.375",
    "False-laplace-line1-2.0-1.9375",
    "True-before_zero-line3-2.0-1.75",
    "True-gauss-line2-1.5-1.375",
    "True-laplace-line1-2.0-1.9375",
)
@pytest.mark.parametrize(
    ("density", "line", "wider", "narrower"),
    [
        (waiting, HALF_LINE, 2.0, 1.9375),  # f(y|2)^2 / f(y|1) is constant
        (laplace, bl.Reals(), 2.0, 1.9375),
        (gauss, bl.Reals(), 1.5, 1.375),  # the square of the ratio is 2 between them
        (before_zero, UNIT, 2.0, 1.75),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_noise_of_two_widths(density, line, wider, narrower, first):
    """E e^PMC is infinite where f(y|x)^2 / f(y|x') does not integrate: no bound says otherwise."""
    for width, infinite in ((wider, True), (narrower, False)):
        widths = (1.0, width) if first else (width, 1.0)
        prior = bl.pmf([0.25, 0.75], on=bl.Finite(widths))
        pmc = bl.pmc(prior * kernel(density, outcome=line, secret=prior.on))
        assert pmc.sup().lower == math.inf
        with bl.options(budget=1):
            found = pmc.exp_mean()
        if infinite:
            assert found.upper == math.inf
        else:
            assert found.lower < math.inf
