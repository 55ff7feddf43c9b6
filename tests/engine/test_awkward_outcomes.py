"""Figures at one outcome under priors with a logarithm, and of noise that is narrow."""

import mpmath as mp
import numpy as np
import pytest

import borel as bl

UNIT, REALS = bl.Interval(0, 1), bl.Reals()

LAWS = {
    "-log x": (lambda x: -np.log(x), lambda x: -mp.log(x)),
    "log(x)^2 / 2": (lambda x: np.log(x) ** 2 / 2, lambda x: mp.log(x) ** 2 / 2),
    "-4 x log x": (lambda x: -4 * x * np.log(x), lambda x: -4 * x * mp.log(x)),
}

NOISES = {
    "laplace": (lambda y, x: np.exp(-abs(y - x)) / 2, lambda d: mp.exp(-abs(d)) / 2),
    "normal": (lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi), mp.npdf),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("of", ["pml", "pmc"])
def test_priors_with_a_logarithm(of, law, noise):
    mechanism = bl.Mechanism(NOISES[noise][0], secret=UNIT, outcome=bl.Reals())
    bound = getattr(bl, of)(bl.Measure(LAWS[law][0], on=UNIT) * mechanism)(0.375)
    f, p, y = NOISES[noise][1], LAWS[law][1], mp.mpf("0.375")
    with mp.workdps(30):
        f_y = mp.quad(lambda x: f(y - x) * p(x), [0, y, 1])
        truth = mp.log(f(0) / f_y) if of == "pml" else mp.log(f_y / f(y - 1))
    assert bound.lower <= truth <= bound.upper and bound.width < 1e-8


def waiting(y, x):
    """Noise that is never negative."""
    return np.where(y >= x, np.exp(-(y - x)), 0.0)


PRIORS = {
    "laplace": bl.laplace(mu=0, b=1.0),
    "normal": bl.normal(mu=0, sigma=1),
    "exponential": bl.exponential(lam=2.0),
    "gamma": bl.gamma(alpha=2, beta=1),
    "beta": bl.beta(alpha=2, beta=5),
}


@pytest.mark.few(9)
@pytest.mark.parametrize("y", [0.25, 1.0, 3.0])
@pytest.mark.parametrize("name", PRIORS)
def test_a_supremum_that_is_only_approached(name, y):
    """The secrets just below the outcome are the likeliest, and none is the likeliest."""
    prior = PRIORS[name]
    mechanism = bl.Mechanism(waiting, secret=prior.on, outcome=REALS)
    bound = bl.pml(prior * mechanism)(y)
    assert bound.status == "certified" and bound.width < 1e-8


@pytest.mark.parametrize(("y", "sigma"), [(0.25, 0.25), (1.0, 0.25), (30.0, 0.05)])
def test_what_is_far_out(y, sigma):
    """PML of 94 nats, PMC of 11790."""
    narrow = bl.normal(mu=3, sigma=0.2) * bl.Mechanism(waiting, secret=REALS, outcome=REALS)
    scale = sigma * np.sqrt(2 * np.pi)
    noise = bl.Mechanism(
        lambda v, x: np.exp(-((v - x) ** 2) / (2 * sigma**2)) / scale, secret=UNIT, outcome=REALS
    )
    for bound in (bl.pml(narrow)(y), bl.pmc(bl.uniform(UNIT) * noise)(y)):
        assert bound.proved
