"""Calibration of what is claimed from a learnt density: it happens as often as is claimed.

Secrets have the density a x^(a - 1) on [0, 1], so that -log x is exponential of rate a: with a
Gamma prior of a its posterior is Gamma, and is sampled exactly.
"""

import math

import mpmath
import numpy as np
import pytest
import xarray as xr
from scipy import integrate, stats

import borel as bl

pytestmark = pytest.mark.slow

REPLICATIONS, SHAPE, RATE, OBSERVED = 200, 40.0, 20.0, 60
B = 0.5
UNIT = bl.Interval(0, 1)
NOISE = bl.mechanisms.laplace(b=B, secret=UNIT)


def level(a):
    """Sup PML of the noise: log 1 / E e^(-X / b), below all secrets.

    E e^(-|y - X| / b) is log-concave in y for a >= 1, so that it is least at an end; the mean of X
    is above 1/2, and it is least at 0.
    """
    mean = integrate.quad(lambda u: math.exp(-(u ** (1 / a)) / B), 0, 1)[0]
    return -math.log(mean)


@pytest.fixture(scope="module")
def studies():
    """The truth drawn from its prior, data drawn from the truth, draws of the posterior."""
    found = []
    for seed in range(REPLICATIONS):
        rng = np.random.default_rng(seed)
        a = rng.gamma(SHAPE, 1 / RATE)
        data = rng.beta(a, 1.0, OBSERVED)
        shape, rate = SHAPE + OBSERVED, RATE - np.log(data).sum()
        draws = rng.gamma(shape, 1 / rate, (2, 150))
        assert a > 1 and (draws > 1).all()
        data = xr.Dataset({"a": (("chain", "draw"), draws)}, attrs={"borel_draws": "exact"})
        learnt = bl.priors.from_posterior(data, lambda d: bl.beta(alpha=d["a"], beta=1.0))
        epsilon = bl.pml(learnt * NOISE).sup()
        found.append((a, stats.gamma(shape, scale=1 / rate), epsilon, draws))
    return found


@pytest.mark.parametrize("mass", [0.5, 0.9])
def test_the_quantile_covers_and_bounds_the_truth(studies, mass):
    """The level rises with a, so that its quantiles are those of a."""
    covered = below = 0
    for a, posterior, epsilon, _ in studies:
        bound = epsilon.quantile(mass)
        assert bound.status == "statistical"
        covered += bound.lower <= level(posterior.ppf(mass)) <= bound.upper
        below += level(a) <= bound.value
    # order statistics are conservative; the truth is below as often as is claimed
    assert covered >= stats.binom.ppf(0.005, REPLICATIONS, 0.95)
    low, high = stats.binom.ppf([0.005, 0.995], REPLICATIONS, mass)
    assert low <= below <= high


def test_the_probability_of_a_guarantee_covers(studies):
    t = level(2.0)
    covered = sum(
        bound.lower <= posterior.cdf(2.0) <= bound.upper
        for _, posterior, epsilon, _ in studies
        for bound in [epsilon.cdf(t)]
    )
    assert covered >= stats.binom.ppf(0.005, REPLICATIONS, 0.95)


def test_the_figure_of_each_draw_holds_its_truth(studies):
    """E e^(-X / b) is 1F1(a; a + 1; -1 / b)."""
    for _, _, epsilon, draws in studies[::20]:
        assert epsilon.status == "certified"
        low, high = (epsilon.draws[end].values[1, 7] for end in ("lower", "upper"))
        with mpmath.workdps(40):
            a = mpmath.mpf(float(draws[1, 7]))
            value = -mpmath.log(mpmath.hyp1f1(a, a + 1, -1 / mpmath.mpf(B)))
        assert low <= value <= high and high - low <= 1e-6
