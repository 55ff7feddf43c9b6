"""Staircase noise: against the definition, step by step, in Fractions and mpmath."""

import math
import pickle
from collections import Counter
from fractions import Fraction as F
from functools import cache
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
import xarray as xr
from scipy import stats

import borel as bl

staircase = bl.mechanisms.staircase
CASES = [(0.5, 1.0, None), (2.0, 0.375, 0.25), (0.0625, 3.0, 0.875), (7.0, 1.5, 2.0**-20)]


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(40):
        yield


def default(epsilon):
    return 1 / (1 + mp.exp(mp.mpf(epsilon) / 2))


def steps(z, D, gamma):
    """The factors e^-epsilon at z, as the paper has it: period by period."""
    z, k = abs(z), 0
    while not k * D <= z < (k + 1) * D:
        k += 1
    return k if z < (k + gamma) * D else k + 1


def total(of_period, fall):
    """The sum over the periods of a function of k that falls like fall^k, to 40 digits."""
    return sum(fall**k * of_period(k) for k in range(int(100 / -mp.log(fall)) + 20))


@cache
def top(epsilon, D, gamma):
    """The density at 0: one over the total of the steps of all periods, of both signs."""
    fall = mp.exp(-mp.mpf(epsilon))
    return 1 / (2 * total(lambda k: D * (gamma + fall * (1 - gamma)), fall))


def exact(bound, truth):
    return bound.status == "exact" and mp.mpf(bound.lower) <= truth <= mp.mpf(bound.upper)


# -- the density -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "D", "gamma"), CASES)
def test_the_density_is_that_of_the_paper(epsilon, D, gamma):
    mech = staircase(epsilon=epsilon, sensitivity=D, gamma=gamma)
    share = default(epsilon) if gamma is None else gamma
    for y in np.random.default_rng(0).uniform(-6, 6, 60):
        truth = mp.log(top(epsilon, D, share)) - epsilon * steps(
            F(y) - F(0.25), F(D), F(share) if gamma else share
        )
        assert abs(mech.logpdf(y, 0.25) - truth) <= 1e-13 * (1 + abs(truth))


def test_a_step_begins_where_the_paper_says():
    mech = staircase(epsilon=1.0, sensitivity=1.0, gamma=0.25)
    height = math.log(top(1, 1, F(1, 4)))
    for z, n in ((0, 0), (0.25, 1), (1, 1), (1.25, 2), (-0.25, 1), (-1.25, 2), (7.2, 7), (7.3, 8)):
        assert mech.logpdf(z, 0.0) - height == pytest.approx(-n, abs=1e-14)
        below = mech.logpdf(math.nextafter(0.25, 0), 0.0)
    assert below == mech.logpdf(0.0, 0.0)


def test_the_total_is_one_and_conventions_hold():
    for epsilon, D, gamma in CASES:
        mech = staircase(epsilon=epsilon, sensitivity=D, gamma=gamma)
        assert str(mech.normalisation).startswith("proved:") and not mech.opaque
        bl.testing.check_mechanism(mech)


@pytest.mark.parametrize("epsilon", [0.125, 1.0, 4.0])
def test_the_default_gives_the_least_mean_distance_of_the_paper(epsilon):
    """D e^(epsilon / 2) / (e^epsilon - 1), and every other gamma gives more."""
    D, fall = 1.5, mp.exp(-mp.mpf(epsilon))

    def distance(gamma):
        def of_period(k):
            return (k + gamma) ** 2 - k**2 + fall * ((k + 1) ** 2 - (k + gamma) ** 2)

        return top(epsilon, D, gamma) * D**2 * total(of_period, fall)

    name = staircase(epsilon=epsilon, sensitivity=D).name
    assert name.endswith(f"gamma={float(default(epsilon)):g})")
    best = distance(default(epsilon))
    assert abs(best - D * mp.exp(mp.mpf(epsilon) / 2) / mp.expm1(epsilon)) < mp.mpf("1e-20")
    assert all(distance(default(epsilon) + d) > best for d in (-0.01, 0.01, 0.3))


@pytest.mark.parametrize(("epsilon", "D", "gamma"), CASES)
def test_samples_follow_it(epsilon, D, gamma):
    mech = staircase(epsilon=epsilon, sensitivity=D, gamma=gamma)
    share = float(default(epsilon)) if gamma is None else gamma

    def cdf(z):  # whole periods, then the part of the last one
        fall, t = math.exp(-epsilon), np.abs(z) / D
        k, height = np.floor(t), float(top(epsilon, D, share)) * D
        part = np.minimum(t - k, share) + fall * np.maximum(t - k - share, 0)
        whole = (share + fall * (1 - share)) * (1 - fall**k) / (1 - fall)
        return 0.5 + np.sign(z) * height * (whole + fall**k * part)

    draws = mech.sample(np.full(4000, 1.5), rng=3)
    assert stats.kstest(draws - 1.5, cdf).pvalue > 1e-3
    again = pickle.loads(pickle.dumps(mech))
    assert (again.sample([0.0], rng=1) == mech.sample([0.0], rng=1)).all()
    assert again.closed_forms == mech.closed_forms


# -- closed forms ----------------------------------------------------------------------------------


def most_steps(length, D, gamma):
    """The largest difference of steps between two secrets of a fine grid, in Fractions."""
    secrets = [length * i / 16 for i in range(17)]
    edges = [x + s * (k + gamma) * D for x in secrets for k in range(4) for s in (1, -1)]
    outcomes = [e + d for e in edges for d in (F(1, 10**9), -F(1, 10**9))]
    found = [[steps(y - x, D, gamma) for x in secrets] for y in outcomes]
    return max(max(row) - min(row) for row in found)


@pytest.mark.few(6)
@pytest.mark.parametrize("gamma", [F(1, 8), F(1, 2), F(7, 8)])
@pytest.mark.parametrize("length", [F(1, 64), F(1, 2), F(1), F(9, 8), F(2), F(11, 4)])
def test_ldp_is_a_step_for_each_sensitivity_begun(length, gamma):
    D, epsilon = F(1, 2), 0.7
    mech = staircase(epsilon=epsilon, sensitivity=0.5, gamma=float(gamma))
    level = bl.ldp(bl.uniform(bl.Interval(3, 3 + float(length))) * mech)
    assert exact(level, most_steps(length, D, gamma) * mp.mpf(epsilon)) and level.attained
    assert level.width <= 1e-15 * level.upper


def test_a_length_is_not_rounded_to_the_sensitivity():
    """From -2^-60 to 1 is more than 1, though not in floats: two steps lie between the ends."""
    mech = staircase(epsilon=1.0, sensitivity=1.0)
    assert bl.ldp(bl.uniform(bl.Interval(-(2.0**-60), 1)) * mech).lower == 2
    assert bl.ldp(bl.uniform(bl.Interval(0, 1)) * mech).upper == 1


def leakages(c, d, y, epsilon, D, gamma):
    """PML and PMC for a uniform secret on [c, d]: masses of the steps, in Fractions."""
    ends = {c, d, y, *(y + s * (k + gamma) * D for k in range(9) for s in (1, -1))}
    masses = Counter()
    for a, b in pairwise(sorted(e for e in ends if c <= e <= d)):
        masses[steps(y - (a + b) / 2, D, gamma)] += (b - a) / (d - c)
    values = [mp.exp(-n * mp.mpf(epsilon)) for n in masses]
    shares = [mp.mpf(w.numerator) / w.denominator for w in masses.values()]
    mean = mp.fdot(shares, values)
    return mp.log(max(values) / mean), mp.log(mean / min(values))


@pytest.mark.parametrize("length", [F(1, 16), F(3, 4), F(1)])
def test_suprema_are_epsilon_on_an_interval_that_is_no_longer(length):
    """No outcome exceeds it, and outcomes come close to it, as their masses in Fractions say."""
    epsilon, D, gamma = 1.25, F(1), F(3, 8)
    joint = bl.uniform(bl.Interval(0, float(length))) * staircase(
        epsilon=epsilon, sensitivity=1.0, gamma=0.375
    )
    sups = [kind(joint).sup() for kind in (bl.pml, bl.pmc)]
    assert all(exact(s, mp.mpf(epsilon)) and s.attained is False for s in sups)
    edges = [e + (k + gamma) * D for e in (F(0), length) for k in range(3)]
    outcomes = [e + d for e in edges for d in (F(1, 10**6), -F(1, 10**6))]
    found = [leakages(F(0), length, y, epsilon, D, gamma) for y in outcomes]
    for sup, values in zip(sups, zip(*found, strict=True), strict=True):
        assert epsilon - mp.mpf("1e-3") <= max(values) < sup.upper


def test_outcomes_against_the_engine():
    joint = bl.uniform(bl.Interval(0, 0.75)) * staircase(epsilon=1.0, sensitivity=1.0, gamma=0.375)
    for y in (F(-1, 2), F(1, 4), F(1), F(5, 4), F(3)):
        truth = leakages(F(0), F(3, 4), y, 1, F(1), F(3, 8))
        for kind, value in zip((bl.pml, bl.pmc), truth, strict=True):
            found = kind(joint)(float(y))
            assert found.status == "certified" and found.lower <= value <= found.upper
            assert found.width < 1e-6
    with bl.options(closed_forms=False, budget=1):
        found = bl.ldp(joint)
    assert 0.999 <= found.lower <= 1 <= found.upper  # from above nothing is known


def test_a_prior_of_any_density_on_a_short_interval_has_the_level_of_the_step():
    mech, unit = staircase(epsilon=0.5, sensitivity=1.0), bl.Interval(0, 1)
    for prior in (bl.beta(alpha=2, beta=5), bl.uniform(unit).restrict(lambda x: x < 0.5)):
        assert bl.ldp(prior * mech).lower == bl.ldp(prior * mech).upper == 0.5
    wide = bl.Measure(lambda x: np.ones_like(x) / 2, on=bl.Interval(0, 2), name="uniform")
    for other in (wide, bl.normal(), bl.pmf([0.5, 0.5], on=bl.Finite([0.0, 1.0]))):
        forms = mech.closed_forms
        assert forms.ldp(other * mech) is None and forms.sup(other * mech, "pml") is None
    long = bl.uniform(bl.Interval(0, 2)) * mech
    assert mech.closed_forms.sup(long, "pml") is None


# -- arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "1", None, True])
@pytest.mark.parametrize("name", ["epsilon", "sensitivity"])
def test_bad_scales_are_named(name, value):
    given = {"epsilon": 1.0, "sensitivity": 1.0, name: value}
    with pytest.raises(bl.InvalidInput, match=f"staircase: expected {name} "):
        staircase(**given)


@pytest.mark.parametrize("value", [0.0, 1.0, -0.5, math.nan, "half", True])
def test_bad_fractions_are_named(value):
    with pytest.raises(bl.InvalidInput, match="staircase: expected gamma "):
        staircase(epsilon=1.0, sensitivity=1.0, gamma=value)


def test_other_bad_arguments_are_named():
    with pytest.raises(bl.InvalidInput, match="give gamma"):
        staircase(epsilon=2000.0, sensitivity=1.0)
    with pytest.raises(bl.InvalidInput, match="numbers"):
        staircase(epsilon=1.0, sensitivity=1.0, secret=bl.Finite(["a", "b"]))
    with pytest.raises(bl.InvalidInput, match="as a float"):
        staircase(epsilon=1.0, sensitivity=1.0, gamma=F(1, 3))


def test_arrays_of_parameters_make_a_family():
    epsilon = xr.DataArray([0.5, 1.0], dims="level")
    found = bl.ldp(bl.uniform(bl.Interval(0, 1)) * staircase(epsilon=epsilon, sensitivity=1.0))
    assert found["lower"].dims == ("level",) and found["upper"].values.tolist() == [0.5, 1.0]
