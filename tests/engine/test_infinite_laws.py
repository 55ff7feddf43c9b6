"""Infinite quantiles and means of PMC."""

import math
from fractions import Fraction

import numpy as np
import pytest
from engine.test_at_outcomes import _window

import borel as bl

UNIT = bl.Interval(0, 1)


def half(y, x):
    """PMC is infinite on (1/2, 1), which has probability 1/4."""
    return np.where(x < 0.5, np.where(y < 0.5, 2.0, 0.0), 1.0)


HALF = bl.uniform(UNIT) * bl.Mechanism(half, secret=UNIT, outcome=UNIT)

INFINITE = {
    "zero on half the secrets": (HALF, 0.9),
    "closer to its mass": (HALF, Fraction(19, 25)),
    "a window": (_window(), 0.5),
    "gauss on normal": (bl.normal() * bl.mechanisms.gaussian(sigma=1.0), 0.5),
    "laplace on normal": (bl.normal() * bl.mechanisms.laplace(b=1.0), 0.25),
}


@pytest.mark.few(3)
@pytest.mark.cases("truths", "laplace on normal")
@pytest.mark.parametrize("name", INFINITE)
def test_infinite_quantiles_are_proved(name):
    joint, s = INFINITE[name]
    bound = bl.pmc(joint).quantile(s)
    assert bound.proved and bound.lower == math.inf


COUNTS = bl.poisson(mu=3.0)


def on_counts(name):
    """Noise whose tails are exponential, on counts: PMC is infinite at every outcome."""
    if name == "laplace":
        return COUNTS * bl.mechanisms.laplace(b=1.0, secret=COUNTS.on)
    prior = bl.geometric(p=0.25)
    return prior * bl.mechanisms.gaussian(sigma=2.0, secret=prior.on)


@pytest.mark.slow
@pytest.mark.cases("truths", "0.5-gauss", "s1-gauss")
@pytest.mark.parametrize("name", ["laplace", "gauss"])
@pytest.mark.parametrize("s", [0.5, Fraction(1, 10)])
def test_infinite_quantiles_of_counts_are_proved(name, s):
    bound = bl.pmc(on_counts(name)).quantile(s)
    assert bound.proved and bound.lower == math.inf


@pytest.mark.cases("slow", "laplace-mean", "laplace-exp_mean")
@pytest.mark.cases(
    "truths", "laplace on normal-mean", "laplace on normal-exp_mean", "gauss-mean", "gauss-exp_mean"
)
@pytest.mark.parametrize("what", ["mean", "exp_mean"])
@pytest.mark.parametrize("name", ["gauss on normal", "laplace on normal", "laplace", "gauss"])
def test_infinite_means_are_proved(name, what):
    joint = INFINITE[name][0] if name in INFINITE else on_counts(name)
    bound = getattr(bl.pmc(joint), what)()
    assert bound.proved and bound.lower == math.inf


def test_bounded_noise_on_a_finite_secret():
    """Y is impossible for another secret, always: every mean and quantile of PMC is infinite."""

    def window(y, x):
        return np.where((y >= x) & (y <= x + 1.5), 1 / 1.5, 0.0)

    secret = bl.Finite([0.0, 1.0, 3.0])
    joint = bl.pmf([0.25, 0.25, 0.5], on=secret) * bl.Mechanism(
        window, secret=secret, outcome=bl.Reals()
    )
    ell = bl.pmc(joint)
    for bound in (
        ell.sup(),
        ell.quantile(0.5),
        ell.mean(),
        ell.exp_mean(),
    ):
        assert bound.proved and bound.lower == math.inf


def test_noise_that_reaches_all_secrets_on_some_outcomes():
    """Outcomes in (0, 1), of probability 1/2, are possible for both: there nothing leaks."""

    def window(y, x):
        return np.where((y >= x - 1) & (y <= x + 1), 0.5, 0.0)

    secret = bl.Finite([0.0, 1.0])
    joint = bl.pmf([0.5, 0.5], on=secret) * bl.Mechanism(window, secret=secret, outcome=bl.Reals())
    ell = bl.pmc(joint)
    assert ell.quantile(Fraction(3, 4)).lower == math.inf
    for s in (Fraction(1, 4), Fraction(49, 100)):
        bound = ell.quantile(s)
        assert bound.lower <= 0 <= bound.upper <= 1e-8


def test_one_from_the_right():
    bound = bl.pmc(HALF).quantile(0.9, side="right")
    assert bound.proved and bound.lower == math.inf


def test_maximal_leakage_of_noise_on_counts():
    """Laplace noise: f(y|y + s) does not fall, along y = 1/t."""
    joint = COUNTS * bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x)) / 2, secret=bl.Integers(0), outcome=bl.Reals()
    )
    for bound in (bl.maximal_leakage(joint), bl.pml(joint).exp_mean()):
        assert bound.proved and bound.lower == math.inf
