"""One-sided noise: an f_Y that fades, and kernels that jump at x = y."""

import math

import mpmath
import numpy as np
import pytest

import borel as bl

UNIT = bl.Interval(0, 1)


def delay(y, x):
    return np.where(y >= x, np.exp(-(y - x)), 0)


def joint(kernel=delay, prior=None):
    return (prior or bl.uniform(UNIT)) * bl.Mechanism(kernel, secret=UNIT, outcome=bl.Reals())


def truths():
    def f_y(y):
        return mpmath.exp(-y) * (mpmath.exp(min(y, 1)) - 1)

    def top(y):
        return mpmath.exp(-max(y - 1, 0))

    cuts = [0, 1, 2, 4, 8, 16, 32, 80]
    mean = mpmath.quad(lambda y: f_y(y) * mpmath.log(top(y) / f_y(y)), cuts)
    return {"mean": mean, "exp_mean": mpmath.mpf(2)}


@pytest.mark.cases("slow", "exp_mean")
@pytest.mark.parametrize("what", ["mean", "exp_mean"])
def test_means_of_one_sided_noise(what):
    found = getattr(bl.pml(joint()), what)()
    truth = truths()[what]
    assert found.status == "certified" and found.width <= 2e-8
    assert found.lower <= truth <= found.upper


@pytest.mark.slow
def test_maximal_cost_leakage_of_one_sided_noise():
    """The infimum over the secrets is 0 below 1, and e^-y beyond: its integral is 1/e."""
    found = bl.maximal_cost_leakage(joint())
    assert found.lower <= 1 <= found.upper and found.width <= 1e-8


@pytest.mark.cases("slow", "one without bound")
@pytest.mark.few(1)
@pytest.mark.parametrize(
    "prior",
    [bl.uniform(UNIT), bl.beta(alpha=2, beta=3), bl.beta(alpha=0.5, beta=0.5)],
    ids=["flat", "a density that vanishes", "one without bound"],
)
def test_pml_is_infinite(prior):
    """As y falls to 0 the mass of the secrets below it fades, and f(y|0) does not."""
    found = bl.pml(joint(prior=prior)).sup()
    assert found.lower == math.inf and found.status == "certified"


def test_pmc_is_infinite():
    for found in (bl.pmc(joint()).sup(), bl.pmc(joint())(0.3), bl.ldp(joint())):
        assert found.lower == math.inf and found.proved
