"""Bands of densities and moment classes on an interval, against linear programs on fine grids."""

from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import linprog

import borel as bl

UNIT = bl.Interval(0, 1)
NOISE = bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, secret=UNIT, outcome=bl.Reals())
GRID = (np.arange(2000) + 0.5) / 2000


def figures(y, **program):
    """PML and PMC over the priors on a grid that satisfy the constraints of a program."""
    k = np.exp(-abs(y - GRID))
    top, bottom = np.exp(-abs(y - min(max(y, 0), 1))), np.exp(-max(abs(y), abs(y - 1)))
    ends = [
        linprog(sign * k, A_eq=[np.ones(len(GRID))], b_eq=[1], **program).fun for sign in (1, -1)
    ]
    return np.log(top / ends[0]), np.log(-ends[1] / bottom)


@pytest.mark.parametrize("y", [-0.5, 0.3])
def test_a_band_of_densities(y):
    band = bl.priors.box(lambda x: 0.5 + 0 * x, lambda x: 1 + x, on=UNIT)
    bounds = [(0.5 / len(GRID), (1 + x) / len(GRID)) for x in GRID]
    for of, truth in zip((bl.pml, bl.pmc), figures(y, bounds=bounds), strict=True):
        found = of(band * NOISE)(y)
        assert found.status == "conditional" and found.width <= 2e-2
        assert found.lower - 1e-3 <= truth <= found.upper + 1e-3  # the grid's own error


@pytest.mark.parametrize("y", [-0.5, 0.3])
def test_a_class_of_moments(y):
    mean = bl.priors.moment(lambda x: x, lower=0.4, upper=0.5, on=UNIT)
    program = {"A_ub": [GRID, -GRID], "b_ub": [0.5, -0.4]}
    for of, truth in zip((bl.pml, bl.pmc), figures(y, **program), strict=True):
        found = of(mean * NOISE)(y)
        assert found.width <= 2e-2
        assert found.lower - 1e-3 <= truth <= found.upper + 1e-3
    two = bl.priors.moment([lambda x: x, lambda x: x * x], upper=[0.5, 0.3], on=UNIT)
    program = {"A_ub": [GRID, GRID**2], "b_ub": [0.5, 0.3]}
    found = bl.pml(two * NOISE)(y)
    assert found.lower - 1e-3 <= figures(y, **program)[0] <= found.upper + 1e-3


def test_members_leak_no_more():
    band = bl.priors.box(lambda x: 0.5 + 0 * x, lambda x: 1.5 + 0 * x, on=UNIT)
    rng = np.random.default_rng(0)
    top = {y: bl.pml(band * NOISE)(y).upper for y in (-0.5, 0.3)}
    for _ in range(200):
        a, k, phase = 0.5 * rng.random(), int(rng.integers(1, 6)), 7 * rng.random()
        density = 1 + a * np.cos(2 * np.pi * k * GRID + phase)
        for y, bound in top.items():
            level = np.mean(density * np.exp(-abs(y - GRID)))
            assert np.log(np.exp(-abs(y - min(max(y, 0), 1))) / level) <= bound + 1e-6


def test_over_all_outcomes_it_is_as_narrow_as_at_one():
    """Beyond the secrets f(y|x) / sup f is e^(x - 1): the worst density is 3/2, then 1/2."""
    band = bl.priors.box(lambda x: 0.5 + 0 * x, lambda x: 1.5 + 0 * x, on=UNIT)
    found = bl.pml(band * NOISE).sup()
    half = mp.exp(-mp.mpf(1) / 2)
    truth = -mp.log(3 * (half - mp.exp(-1)) / 2 + (1 - half) / 2)
    assert found.status == "conditional" and found.reason
    assert not 0 <= found.witness["y"] <= 1
    assert found.lower <= truth <= found.upper
    assert found.width <= 1.01 * bl.pml(band * NOISE)(1.0).width


def tv_ball_of_a_beta(kind, mean):
    """The least or the greatest mean: 1/20 of mass comes from the largest secrets to 0."""
    with mp.workdps(30):
        law = lambda x: 30 * x * (1 - x) ** 4  # noqa: E731
        top = mp.findroot(lambda q: mp.quad(law, [0, q]) - mp.mpf(19) / 20, 0.58)
        moved = mp.quad(lambda x: law(x) * mean(x), [0, top]) + mean(mp.mpf(0)) / 20
        return -mp.log(moved) if kind == "pml" else mp.log(moved) + 2


@pytest.mark.cases("truths", "pmc")
@pytest.mark.parametrize(
    ("kind", "mean"),
    [("pml", lambda x: mp.exp(2 * x - 2)), ("pmc", lambda x: mp.exp(-2 * x))],
    ids=["pml", "pmc"],
)
def test_the_supremum_over_a_ball_of_total_variation(kind, mean):
    ball = bl.priors.tv_ball(bl.beta(alpha=2, beta=5), F(1, 20))
    joint = ball * bl.Mechanism(
        lambda y, x: np.exp(-2 * abs(y - x)), secret=UNIT, outcome=bl.Reals()
    )
    leakage = getattr(bl, kind)(joint)
    found, truth = leakage.sup(), tv_ball_of_a_beta(kind, mean)
    assert found.status == "certified" and found.reason and found.width <= 1e-6
    assert found.lower <= truth <= found.upper
    far = 2.0 if kind == "pml" else -1.0
    assert found.width <= 2.1 * leakage(far).width
    for y in (found.witness["y"], 0.0, 1.0):
        assert found.lower >= leakage(y).lower
    assert 0 <= found.witness["towards"] <= 1e-9  # the rest of the mass goes there
    assert (found.witness["y"] >= 1) if kind == "pml" else (found.witness["y"] <= 0)


def ball_of_a_beta(name, radius, v, least, breaks):
    """The least mean of v, whose least value is given: the largest value of its dual."""
    law = lambda x: 30 * x * (1 - x) ** 4  # noqa: E731
    mean = lambda f: mp.quad(lambda x: law(x) * f(v(x)), breaks)  # noqa: E731
    duals = {
        "kl to": lambda t: -t * (mp.log(mean(lambda w: mp.exp(-w / t))) + radius),
        "kl from": lambda t: mp.exp(mean(lambda w: mp.log(w + t)) - radius) - t,
        "chi from": lambda t: mean(lambda w: mp.sqrt(w + t)) ** 2 / (1 + radius) - t,
    }
    dual = duals[name]
    start = mp.mpf(0) if name == "kl to" else -least
    along = lambda s: dual(start + mp.exp(s))  # noqa: E731
    place = mp.findroot(lambda s: mp.diff(along, s), (-9, 2), solver="anderson", tol=1e-20)
    return along(place)


BALLS = {
    "kl to": lambda p, r: bl.priors.kl_ball(p, r, direction="to_centre"),
    "kl from": lambda p, r: bl.priors.kl_ball(p, r, direction="from_centre"),
    "chi from": lambda p, r: bl.priors.chi_square_ball(p, r, direction="from_centre"),
}


@pytest.mark.parametrize("name", BALLS)
@pytest.mark.parametrize("y", [pytest.param(0.3, marks=pytest.mark.slow), 1.5])
def test_a_ball_at_an_outcome(name, y):
    """Cells and means over them enclose it to second order, at a kink nearly so."""
    joint = BALLS[name](bl.beta(alpha=2, beta=5), F(1, 16)) * bl.mechanisms.laplace(
        b=0.5, secret=UNIT
    )
    found = bl.pml(joint)(y)
    with mp.workdps(30):
        at = mp.mpf(y)
        breaks = [0, at, 1] if y < 1 else [0, 1]
        top = mp.exp(-2 * max(at - 1, 0))
        v = lambda x: mp.exp(-2 * abs(at - x)) / top  # noqa: E731
        least = min(v(mp.mpf(0)), v(mp.mpf(1)))
        truth = -mp.log(ball_of_a_beta(name, mp.mpf(1) / 16, v, least, breaks))
        assert found.lower <= truth <= found.upper
    assert found.status == "certified" and found.width <= 1e-5


@pytest.mark.parametrize(
    "make",
    [
        lambda: bl.priors.box(0.5, 1.5, on=UNIT),
        lambda: bl.priors.box(lambda x: x, lambda x: 2 * x, on=bl.Interval(0, None)),
        lambda: bl.priors.moment(lambda x: x, lower=1, upper=0, on=UNIT),
        lambda: bl.pml(bl.priors.box(lambda x: 2 + x, lambda x: 3 + x, on=UNIT) * NOISE)(0.5),
    ],
)
def test_nonsense_is_refused(make):
    with pytest.raises(bl.InvalidInput, match="expected"):
        make()


EMPTY = {
    "a mean beyond the interval": lambda: bl.priors.moment(lambda x: x, lower=1.5, on=UNIT),
    # E x^2 >= (E x)^2 = 0.64
    "a variance below 0": lambda: bl.priors.moment(
        [lambda x: x, lambda x: x * x], lower=[0.8, 0], upper=[1, 0.5], on=UNIT
    ),
    "a band above 1": lambda: bl.priors.box(lambda x: 1 + x, lambda x: 3 + x, on=UNIT),
    "a band below 1": lambda: bl.priors.box(lambda x: x / 2, lambda x: x, on=UNIT),
    # of masses 0.5 and 1.1
    "ends out of order": lambda: bl.priors.box(lambda x: x, lambda x: 1.6 - x, on=UNIT),
}


@pytest.mark.parametrize("name", EMPTY)
def test_limits_that_no_density_meets_are_refused_at_once(name):
    with pytest.raises(bl.InvalidInput, match=r"bl\.priors\.(moment|box): expected"):
        EMPTY[name]()


def test_limits_that_a_density_just_meets_are_not_refused():
    uniform = bl.priors.box(lambda x: 1 + 0 * x, lambda x: 1 + 0 * x, on=UNIT)
    assert bl.pml(uniform * NOISE)(0.0).lower <= np.log(1 / (1 - np.exp(-1)))
    bl.priors.moment([lambda x: x, lambda x: x * x], lower=[0.5, 0], upper=[0.5, 0.2501], on=UNIT)
    bl.priors.box(lambda x: x, lambda x: x + 0.5, on=UNIT)


def test_a_value_altered_at_one_outcome_raises_no_supremum():
    """At y = 1 the version says more than anywhere else; the supremum does not hear of it."""

    def density(y, x):
        return np.exp(-2 * abs(y - x)) * np.where(y == 1, np.exp(3 * x), 1)

    ball = bl.priors.contamination(bl.beta(alpha=2, beta=5), F(1, 20))
    joint = ball * bl.Mechanism(density, secret=UNIT, outcome=bl.Reals())
    plain = bl.pml(ball * bl.mechanisms.laplace(b=0.5, secret=UNIT)).sup()
    leakage = bl.pml(joint)
    assert leakage(1.0).lower > plain.upper + 0.1
    assert leakage.sup().lower <= plain.upper
