"""Kernels made to break the certified engine: signs, thresholds, roots of f_Y, laws off by a bit.

Truths are closed forms; a figure may be wide, but it may not be false.
"""

import math

import numpy as np
import pytest

import borel as bl
from borel import settings
from borel.engine import engine_for

UNIT = bl.Interval(0, 1)


@pytest.fixture(autouse=True, scope="module")
def engine_alone():
    with bl.options(closed_forms=False, budget=1):
        yield


def holds(low, high, truth, slack=1e-14):
    assert low <= truth * (1 + slack) + slack and truth * (1 - slack) - slack <= high


# -- a sign that jumps at the end of a box ---------------------------------------------------------


def test_a_sign_that_jumps_between_y_and_x():
    """At x = y a box of secrets ends: beside it the sign is 1, and the kernel 3/4."""

    def density(y, x):
        return 0.5 * (1 + 0.5 * np.sign(y - x)) * np.exp(-abs(y - x))

    joint = bl.uniform(UNIT) * bl.Mechanism(density, secret=UNIT, outcome=bl.Reals())
    ys = np.repeat([0.25, 0.5, 0.75, 0.6], 5)  # many at once go through lanes
    found = bl.pml(joint)(ys)
    assert set(found["status"].values.tolist()) == {"certified"}
    for y, low, high in zip(ys, found["lower"].values, found["upper"].values, strict=True):
        mean = 0.75 * (1 - math.exp(-y)) + 0.25 * (1 - math.exp(y - 1))
        holds(low, high, math.log(0.75 / mean))
        assert high - low <= 1e-8


@pytest.mark.few(1)
@pytest.mark.parametrize("place", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("flip", [1.0, -1.0])
def test_a_sign_that_jumps_at_a_secret(place, flip):
    def density(y, x):
        return 1 + (2 * y - 1) * 0.75 * np.sign(flip * (x - place)) * np.exp(-x)

    joint = bl.uniform(UNIT) * bl.Mechanism(density, secret=UNIT, outcome=UNIT)
    heights = [-1, -math.exp(-place), math.exp(-place), math.exp(-1)]
    mean = 2 * math.exp(-place) - math.exp(-1) - 1

    def leakage(y):
        tilt = 0.75 * (2 * y - 1) * flip
        return math.log((1 + max(tilt * h for h in heights)) / (1 + tilt * mean))

    ys = np.repeat([0.125, 0.375, 0.9], 4)
    found = bl.pml(joint)(ys)
    for y, low, high in zip(ys, found["lower"].values, found["upper"].values, strict=True):
        holds(low, high, leakage(y))
    with bl.options(budget=0.5):
        top = bl.pml(joint).sup()
    holds(top.lower, top.upper, max(leakage(0.0), leakage(1.0)))


# -- an outcome at which f_Y vanishes --------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize("half", [0.5, 0.1, 0.01])
def test_the_mass_of_a_band_around_a_root_of_the_marginal(half):
    """At the centre f_Y is 0, and what Gauss's rule misses elsewhere may be negative."""
    rate, at = 0.3, 0.3

    def bump(x):
        return 0.5 * np.exp(-(((x - at) / rate) ** 2))

    def density(y, x):
        return np.where(y < 1, 1.5 * (1 - (1 - y**2)) * bump(x), 1 - bump(x))

    joint = bl.uniform(UNIT) * bl.Mechanism(density, secret=UNIT, outcome=bl.Interval(-1, 2))
    size = rate * math.sqrt(math.pi) / 4 * (math.erf((1 - at) / rate) + math.erf(at / rate))
    ends = np.array([-half]), np.array([half])
    found = engine_for(joint).bands.evaluate("pml", *ends, 1e-9, settings.now() + 1)
    holds(found.mass_low[0], found.mass_high[0], size * half**3)


# -- a kernel whose integral is nearly 1 -----------------------------------------------------------


def test_a_kernel_that_misses_one_by_more_than_its_rounding_is_covered_or_refused():
    """What the bands leave of 1 bounds the tails: it must not be less than they have.

    A factor that all secrets share changes no law.
    """
    secrets = bl.Finite([0.0, 1.0])

    def figure(excess):
        size = 0.5 * (1 + excess)
        joint = bl.pmf([0.5, 0.5], on=secrets) * bl.Mechanism(
            lambda y, x: size * np.exp(-abs(y - x)), secret=secrets, outcome=bl.Reals()
        )
        with bl.options(tol=1e-11):
            return bl.pml(joint).exp_mean()

    with pytest.raises(bl.InvalidInput, match=r"proved to miss 1 by 7\.5e-10"):
        figure(1e-9 * 0.75)
    for excess in (0.0, 1e-11):
        found = figure(excess)
        assert found.status == "certified"
        holds(found.lower, found.upper, 2 - math.exp(-0.5))
