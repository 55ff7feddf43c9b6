"""Means over continuous outcomes, against closed forms."""

import math

import mpmath as mp
import numpy as np
import pytest
from engine.certified_cases import kernel, tilt

import borel as bl

UNIT = bl.Interval(0, 1)
FINITE = bl.pmf([0.25, 0.5, 0.25], on=bl.Finite([0.0, 1.0, 2.0]))

POLYNOMIAL = FINITE * kernel(lambda y, x: 1 + (x - 1) * (y - 0.5), secret=FINITE.on, outcome=UNIT)


def soft(y, x):
    return np.exp(-(y - x)) / (1 + np.exp(-(y - x))) ** 2


@pytest.mark.slow
def test_maximal_leakage_of_logistic_noise():
    """The largest density is 1/4 between the secrets, and integrates to 1/2 on either side."""
    joint = bl.uniform(UNIT) * kernel(soft)
    with bl.options(tol=1e-2):
        bound = bl.pml(joint).exp_mean()
    assert bound.lower <= 1.25 <= bound.upper


def test_the_means_of_a_polynomial():
    """With z = |y - 1/2|: PML is log(1 + z), the largest density 1 + z, and z is uniform."""
    low = 2 * (1.5 * math.log(1.5) - 0.5)
    for bound, truth in (
        (bl.pml(POLYNOMIAL).mean(), low),
        (bl.pml(POLYNOMIAL).exp_mean(), 1.25),
        (bl.pmc(POLYNOMIAL).exp_mean(), math.log(4)),
        (bl.maximal_leakage(POLYNOMIAL), math.log(1.25)),
    ):
        assert bound.lower <= truth <= bound.upper <= bound.lower + 1e-8


def test_maximal_leakage_under_a_density():
    joint = bl.uniform(UNIT) * bl.mechanisms.gaussian(sigma=1.0)
    with bl.options(tol=1e-3):
        bound = bl.maximal_leakage(joint)
    truth = math.log1p(1 / math.sqrt(2 * math.pi))
    assert bound.lower <= truth <= bound.upper


def laplace(y, x):
    return np.exp(-abs(y - x) / 0.25) / 0.5


def gauss(y, x):
    return np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi)


HEIGHTS = {
    "laplace": (laplace, bl.Reals(), lambda y, x: 2 * mp.exp(-4 * abs(y - x)), 1e-6),
    "gauss": (gauss, bl.Reals(), lambda y, x: mp.npdf(y, x, 1), 1e-6),
    "tilt": (tilt, UNIT, lambda y, x: 1 + (2 * x - 1) * (1 - 2 * y) / 2, 2e-8),
}


def f_y(name, y, density):
    """Integrate over the secrets, of which there are three, or a unit interval of them."""
    f = HEIGHTS[name][2]
    if not density:
        return (f(y, 0) + 2 * f(y, 1) + f(y, 2)) / 4
    if name == "tilt":
        return mp.mpf(1)
    if name == "gauss":
        y = min(y, 1 - y)  # the lower tail keeps its digits
        return mp.ncdf(y) - mp.ncdf(y - 1)
    near, far = sorted((mp.exp(-4 * abs(y - x)) for x in (0, 1)), reverse=True)
    return (2 - near - far) / 2 if 0 <= y <= 1 else (near - far) / 2


def mean_of(name, kind, what, density):
    """Return the mean of the leakage, or of its exponential, by mpmath."""
    f, last = HEIGHTS[name][2], 1 if density else 2

    def part(y):
        law, ends = f_y(name, y, density), [f(y, x) for x in (0, 1, last)]
        # the likeliest of an interval of secrets is the nearest one
        top = f(y, min(max(y, 0), 1)) if density and name != "tilt" else max(ends)
        ratio = top / law if kind == "pml" else law / min(ends)
        return law * (ratio if what == "exp_mean" else mp.log(ratio))

    ends = [0, 0.5, 1] if name == "tilt" else [-30, -10, -4, 0, 0.5, 1, 1.5, 2, 6, 12, 32]
    return mp.quad(part, ends)


CASES = [
    (kind, what, name, density)
    for kind in ("pml", "pmc")
    for what in ("mean", "exp_mean")
    for name, density in (("laplace", False), ("gauss", False), *((n, True) for n in HEIGHTS))
]


@pytest.mark.few(1)
@pytest.mark.cases(
    "slow",
    "pmc-mean-gauss-True",
    "pmc-exp_mean-gauss-True",
    "pmc-exp_mean-tilt-True",
    "pmc-mean-tilt-True",
    "pmc-exp_mean-gauss-False",
)
@pytest.mark.parametrize(("kind", "what", "name", "density"), CASES)
def test_means_of_noise(kind, what, name, density):
    made, outcome, _, tol = HEIGHTS[name]
    prior = bl.uniform(UNIT) if density else FINITE
    with bl.options(tol=tol if density else 1e-8):
        joint = prior * kernel(made, secret=prior.on, outcome=outcome)
        bound = getattr(getattr(bl, kind)(joint), what)()
    with mp.workdps(30):
        truth = mean_of(name, kind, what, density)
    assert bound.proved
    assert bound.lower <= truth <= bound.upper
