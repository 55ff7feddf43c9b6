"""Figures that an early version of the certified engine got wrong: each is contained now.

Truths are closed forms, or brute force on a fine grid with the tolerance that is stated.
"""

import math

import numpy as np
import pytest
from scipy import integrate

import borel as bl

UNIT = bl.Interval(0, 1)
BIT = bl.pmf([0.5, 0.5], on=bl.Finite([0.0, 1.0]))


@pytest.fixture(autouse=True, scope="module")
def engine_alone():
    with bl.options(closed_forms=False, budget=4):
        yield


def holds(bound, truth, tolerance=1e-5):
    assert bound.status in ("certified", "conditional", "undecided")
    assert bound.lower - tolerance <= truth <= bound.upper + tolerance


def joint(density, prior=None, secret=UNIT, outcome=UNIT, **about):
    prior = bl.uniform(secret) if prior is None else prior
    return prior * bl.Mechanism(density, secret=prior.on, outcome=outcome, **about)


@pytest.mark.truths
def test_a_truth_value_in_arithmetic_is_a_jump():
    half = bl.Interval(0.5, 1)
    step = joint(lambda y, x: (y < x) / x, secret=half)
    holds(bl.pml(step)(0.7), 0.694458197, 1e-8)
    holds(bl.pml(step).tail(0.6), 0.13176)
    window = joint(lambda y, x: 1 + (((x > 0.3) & (x < 0.35)) * 1.0 - 0.05) * (2 * y - 1))
    holds(bl.pml(window).sup(), 0.66783)
    holds(bl.pmc(window).sup(), 2.99573)
    holds(bl.pml(joint(lambda y, x: 1 + ((x < 0.3) * 1.0 - 0.3) * (2 * y - 1)))(0.9), 0.444685821)
    labels = joint(lambda y, x: 1 + (x - 0.5) * ((y < 0.3) * 1.0 - 0.3), prior=BIT)
    holds(bl.pml(labels).tail(0.2), 0.3)


@pytest.mark.truths
def test_a_path_along_the_diagonal_keeps_its_signs():
    shape = lambda u: -50 * (u - 0.3) ** 2 * (u + 0.2)  # noqa: E731
    level = 2 * integrate.quad(lambda u: math.exp(shape(u)), 0, 4, points=[0.3, 1.0])[0]
    ring = joint(lambda y, x: shape(abs(y - x)) - math.log(level), outcome=bl.Reals(), log=True)
    holds(bl.pml(ring).tail(0.4), 0.84757, 2e-4)
    holds(bl.pml(ring).tail(0.8), 0.45463, 5e-4)


@pytest.mark.truths
def test_a_jump_at_a_cut_of_the_far_form():
    weight = lambda x: np.where(x < 0.5, 0.1, 0.9)  # noqa: E731
    two = joint(
        lambda y, x: (1 - weight(x)) * 2 * np.exp(-2 * y) + weight(x) * np.exp(-y),
        outcome=bl.Interval(0, None),
    )
    holds(bl.pml(two).sup(), math.log(1.8), 1e-9)
    holds(bl.pmc(two).sup(), math.log(5), 1e-9)


def test_large_offsets():
    secret = bl.Interval(1e8, 1e8 + 1)
    noise = joint(lambda y, x: np.exp(-abs(y - x)) / 2, secret=secret, outcome=bl.Reals())
    holds(bl.ldp(noise), 1.0, 0.0)
    holds(bl.pml(noise).sup(), 0.458675145387, 1e-11)
    holds(bl.pmc(noise).sup(), 0.541324854613, 1e-11)


@pytest.mark.truths
def test_an_atom_of_the_outcome_is_no_outcome_of_the_density():
    mech = bl.Mechanism(
        lambda y, x: 0.75 / (1 + x**2) * np.exp(-((y - x) ** 2) / 2) / math.sqrt(2 * math.pi),
        secret=bl.Reals(),
        outcome=bl.Mixed(bl.Reals(), atoms=[0.0]),
        masses={0.0: lambda x: (0.25 + x**2) / (1 + x**2)},
    )
    holds(bl.pmc(bl.normal() * mech)(0.0), 0.70949)


def test_a_countable_secret_that_ends_below():
    below = bl.Integers(None, 0)
    prior = bl.Measure(lambda x: 2.0 ** (x - 1), on=below)
    mech = bl.Mechanism(
        lambda y, x: np.where(x > 0, 0.5, 2.0 ** (-y - 1)),
        secret=below,
        outcome=bl.Integers(0, None),
    )
    assert bl.pml(prior * mech).sup().lower < math.inf


@pytest.mark.truths
def test_rays_stay_inside_the_alphabet():
    secret = bl.Interval(1e8, 1e8 + 1)
    odd = joint(
        lambda y, x: np.where(
            x < 1e8,
            np.exp(-y / abs(x - 1e8)) / abs(x - 1e8),
            np.exp(-y) * (1 + (x - 1e8) * (np.exp(-y) - 0.5)),
        ),
        secret=secret,
        outcome=bl.Interval(0, None),
    )
    assert bl.pmc(odd).sup().lower < math.inf


@pytest.mark.truths
def test_a_jump_where_the_supremum_is():
    cut = joint(lambda y, x: np.where(x < 0.5, 1 + 1.9 * x * (2 * y - 1), 1.0))
    holds(bl.pml(cut).tail(0.145), 0.61633)
    special = bl.Measure(lambda x: 0.5 + 0 * x, on=bl.Mixed(UNIT, atoms=[0.0]), masses={0.0: 0.5})
    split = joint(
        lambda y, x: np.where(x == 0, 2 * y, 1 + 0.5 * (1 - x) * (2 * y - 1)), prior=special
    )
    holds(bl.pml(split).tail(0.0735), 0.82033)
    holds(bl.pmc(split).tail(0.708), 0.06118)


@pytest.mark.parametrize("place", [0.96875, 0.53125])
def test_an_outcome_altered_at_the_centre_of_a_band(place):
    altered = joint(
        lambda y, x: np.where(y == place, 7.0 + x, 1 + 0.8 * (x - 0.5) * (2 * y - 1)), prior=BIT
    )
    holds(bl.pml(altered).mean(), 0.1776528282, 1e-9)
    holds(bl.pml(altered).tail(0.3), 0.1253529, 1e-6)


@pytest.mark.truths
def test_a_marginal_bounded_by_an_integral_proves_only_what_is_there():
    """x^-0.4 is integrable: the kernel alone blows up. Where f_Y does too, nothing is proved."""
    shrinking = lambda y, x: 1 - x**0.6 + np.where(y < x, x**-0.4, 0.0)  # noqa: E731
    assert bl.pml(joint(shrinking)).sup().lower == math.inf
    common = joint(lambda y, x: 0.6 * y**-0.4 * (1 + (2 * x - 1) * (0.5 - y**0.6)))
    assert bl.pml(common).sup().lower < math.inf
    # f = 1/x on y < x: log(1/y) is no power, and 1/x is not integrable
    assert bl.pml(joint(lambda y, x: np.where(y < x, 1 / x, 0.0)))(0.5).lower < math.inf


@pytest.mark.truths
def test_a_pole_in_the_secret_is_a_set_of_positive_mass():
    spike = lambda y, x: np.where(y == x, 1e9, 1 + 0.5 * (2 * x - 1) * (2 * y - 1))  # noqa: E731
    holds(bl.pml(joint(spike)).sup(), math.log(1.5), 1e-8)

    def root(y, x):
        near = np.where(y == x, 1.0, abs(y - x))
        return 0.5 / np.sqrt(near) / (np.sqrt(x) + np.sqrt(1 - x))

    assert bl.pml(joint(root)).sup().lower == math.inf
    # secrets that follow the outcome are outside the support of this prior
    away = bl.Measure(lambda x: np.where(x > 0.5, 2.0, 0.0), on=UNIT, breaks=(0.5,))
    half = joint(
        lambda y, x: np.where(x < 0.5, root(y, x), 1 + 0.5 * (2 * x - 1) * (2 * y - 1)), prior=away
    )
    assert bl.pml(half).sup().lower < math.inf


def test_kernels_that_fall_faster_than_any_power_are_compared_with_each_other():
    rates = bl.pmf([0.5, 0.5], on=bl.Finite([0.25, 0.5]))
    steps = lambda m, x: np.log1p(-x) + m * np.log(x)  # noqa: E731
    falls = lambda y, x: np.log(x) - x * y  # noqa: E731
    counts, line = bl.Integers(0, None), bl.Interval(0, None)
    for density, outcome in ((steps, counts), (falls, line)):
        assert (
            bl.pmc(joint(density, prior=rates, outcome=outcome, log=True)).sup().lower == math.inf
        )
    # the same rate for both: -log(1 - 0.25) or so, however fast both fall
    alike = lambda y, x: np.log1p((x - 0.375) * (1 - 2 * np.exp(-y))) - y  # noqa: E731
    found = bl.pmc(joint(alike, prior=rates, outcome=line, log=True)).sup()
    holds(found, -math.log1p(-0.125), 1e-8)


@pytest.mark.truths
def test_nothing_leaks_where_the_density_is_zero_for_every_secret():
    """Slopes in the secret are those of a density: its logarithm may be -inf there all the same."""
    secret = bl.Interval(0.5, 1.5)

    def tilted(y, x):
        return x * y + np.log(x) - np.log(np.exp(x) - np.exp(-x))

    def cut(y, x):
        return np.where(np.abs(y) <= 1, 0.0, -np.inf) + tilted(y, x)

    found = joint(cut, secret=secret, outcome=bl.Reals(), breaks=(-1.0, 1.0), log=True)
    here = [float(np.exp(tilted(-1.0, x))) for x in (0.5, 1.5)]
    level = integrate.quad(lambda x: np.exp(tilted(-1.0, x)), 0.5, 1.5)[0]
    holds(bl.pml(found).sup(), math.log(max(here) / level), 1e-9)
    holds(bl.pmc(found).sup(), math.log(level / min(here)), 1e-9)
    linear = joint(
        lambda y, x: np.where(np.abs(y) <= 1, np.exp(tilted(y, x)), 0.0),
        secret=secret,
        outcome=bl.Reals(),
        breaks=(-1.0, 1.0),
    )
    holds(bl.pml(linear).sup(), math.log(max(here) / level), 1e-9)


@pytest.mark.truths
def test_a_path_of_secrets_that_make_a_band_impossible_bounds_no_mean():
    """0 times an excess that is not bounded is not 0: E e^PML was too small, and certified."""

    def apart(y, x):
        return np.where(x == 0, np.where((y > 2) & (y < 3), 1.0, 0.0), np.where(y < 0.8, 1.25, 0.0))

    disjoint = joint(apart, prior=BIT, outcome=bl.Interval(0, 4))
    holds(bl.maximal_leakage(disjoint), math.log(2), 0)
    holds(bl.pml(disjoint).exp_mean(), 2.0, 0)
    window = joint(
        lambda y, x: np.where((y > 1.3 * x) & (y < 1.3 * x + 1), 1.0, 0.0),
        prior=BIT,
        outcome=bl.Interval(0, 4),
    )
    holds(bl.maximal_leakage(window), math.log(2), 0)
    # noise of half-width 0.3: the supremum over x is 5/3 for y in (-0.3, 1.3)
    noise = joint(
        lambda y, x: np.where(np.abs(y - x) < 0.3, 5 / 3, 0.0), outcome=bl.Interval(-1, 2)
    )
    holds(bl.maximal_leakage(noise), math.log(1.6 * 5 / 3), 1e-12)


@pytest.mark.slow
def test_what_lies_beyond_the_head_of_a_function_of_any_sign_is_not_left_out():
    prior = bl.Measure(
        lambda x: 1 / ((x + 1) * (x + 2)), on=bl.Integers(0, None), tail=lambda n: 1 / (n + 2)
    )
    same = prior * bl.Mechanism(
        lambda y, x: np.where(y == x, 1.0, 0.0), secret=prior.on, outcome=prior.on
    )
    assert bl.f_information(same, lambda t: 100 * (t - 1)).lower <= 0.0


@pytest.mark.slow
def test_a_law_after_a_supremum_that_took_many_bands():
    """The supremum is approached far out: it cuts tens of thousands of bands."""
    prior = bl.pmf([0.25, 0.5, 0.25], on=bl.Finite([0.0, 1.0, 2.0]))
    law = bl.pml(prior * bl.mechanisms.gaussian(sigma=1.0))
    assert law.sup().upper >= math.log(4)
    assert law.tail(0.35).width <= 1.1e-8
