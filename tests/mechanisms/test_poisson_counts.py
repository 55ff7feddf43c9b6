"""Poisson counts: against SciPy, integrals by mpmath, and the engine."""

import math
import pickle
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
import xarray as xr
from scipy import stats

import borel as bl

poisson = bl.mechanisms.poisson
CASES = [(1.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.5, 2.0), (3.0, 0.25, 0.0, 4.0), (50.0, 7.5, 2.0, 3.0)]


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(40):
        yield


def leakages(a, b, c, d, y):
    """PML and PMC of a uniform secret: the mass of a mean is largest at y, and falls off it."""
    low, high = (mp.mpf(a) * x + mp.mpf(b) for x in (c, d))

    def mass(t):
        return mp.exp(-t) * t**y / mp.factorial(y)

    peak = min(max(mp.mpf(y), low), high)
    unit = mass(peak)
    parts = sorted({low, peak, high, *((low * (8 - i) + high * i) / 8 for i in range(1, 8))})
    mean = unit * mp.quad(lambda t: mass(t) / unit, parts) / (high - low)
    grid = [mass(low + (high - low) * i / 50) for i in range(51)]
    assert max(grid) <= unit and min(grid) == min(grid[0], grid[-1])
    least = min(grid)
    return mp.log(unit / mean), (mp.log(mean / least) if least else mp.inf)


@pytest.mark.few(2)
@pytest.mark.parametrize(("a", "b", "c", "d"), CASES)
def test_leakage_at_counts(a, b, c, d):
    joint = bl.uniform(bl.Interval(c, d)) * poisson(exposure=a, background=b)
    slack = mp.mpf("1e-30")  # of the quadrature
    for y in (0, 1, 4, 60, 130, 400):
        for found, truth in zip(
            (bl.pml(joint)(y), bl.pmc(joint)(y)), leakages(a, b, c, d, y), strict=True
        ):
            assert found.status == "exact" and found.lower - slack <= truth <= found.upper + slack
            assert truth == mp.inf or found.width <= 1e-14 * (1 + found.upper)


@pytest.mark.parametrize(("a", "b", "c", "d"), CASES)
def test_the_suprema_are_infinite_and_counts_far_out_show_it(a, b, c, d):
    joint = bl.uniform(bl.Interval(c, d)) * poisson(exposure=a, background=b)
    for found in (bl.pml(joint).sup(), bl.pmc(joint).sup(), bl.ldp(joint)):
        assert found.lower == math.inf and found.status == "exact"
    assert bl.pml(joint).sup().attained is False
    assert bl.pmc(joint).sup().attained is (a * c + b == 0)
    far = [leakages(a, b, c, d, y) for y in (500, 5000)]
    assert far[0][0] + 2 < far[1][0] and far[0][1] <= far[1][1] and far[1][1] > 100


def test_against_the_engine():
    prior, mech = bl.uniform(bl.Interval(0.5, 2)), poisson()
    closed = [kind(prior * mech)(y) for kind in (bl.pml, bl.pmc) for y in (0, 1, 3)]
    with bl.options(closed_forms=False):
        engine = [kind(prior * mech)(y) for kind in (bl.pml, bl.pmc) for y in (0, 1, 3)]
    for x, y in zip(closed, engine, strict=True):
        assert y.status == "certified" and x.lower <= y.upper and y.lower <= x.upper


def test_finite_secrets_go_to_the_engine():
    mech = poisson(exposure=2.0, background=0.5)
    joint = bl.pmf([0.5, 0.5], on=bl.Finite([1.0, 2.0])) * mech
    assert mech.closed_forms.at(joint, "pml", 0) is None and mech.closed_forms.ldp(joint) is None
    found = bl.pml(joint)(0)
    assert found.lower <= mp.log(2 / (1 + mp.exp(-2))) <= found.upper
    assert bl.ldp(joint).lower == math.inf
    assert mech.closed_forms.sup(bl.gamma(alpha=2, beta=1) * mech, "pml") is None


def test_masses_and_samples():
    mech = poisson(exposure=3.0, background=0.5)
    y, x = np.arange(12)[:, None], np.array([0.0, 0.25, 2.0])[None, :]
    np.testing.assert_allclose(mech.pdf(y, x), stats.poisson(3 * x + 0.5).pmf(y), rtol=1e-12)
    assert poisson().pdf(0, 0.0) == 1 and poisson().pdf(3, 0.0) == 0
    drawn = mech.sample(np.full(4000, 0.5), rng=3)
    masses = stats.poisson(2.0).pmf(np.arange(7))
    observed = np.bincount(drawn.astype(int), minlength=7)[:7]
    expected = masses / masses.sum() * observed.sum()
    assert stats.chisquare(observed, expected).pvalue > 1e-3
    again = pickle.loads(pickle.dumps(mech))
    assert again.closed_forms == mech.closed_forms
    bl.testing.check_mechanism(mech)


def test_arrays_of_parameters_make_a_family():
    joint = bl.uniform(bl.Interval(0, 1)) * poisson(exposure=xr.DataArray([1.0, 2.0], dims="a"))
    truth = [math.log(a / -math.expm1(-a)) for a in (1, 2)]
    assert bl.pml(joint)(0)["upper"].values == pytest.approx(truth, rel=1e-14)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"exposure": 0.0}, "exposure > 0"),
        ({"exposure": F(1, 3)}, "as a float"),
        ({"background": -1.0}, "background >= 0"),
        ({"secret": bl.Reals()}, "secrets >= 0"),
        ({"secret": bl.Integers()}, "secrets >= 0"),
        ({"secret": bl.Finite([-1.0, 1.0])}, "secrets >= 0"),
        ({"secret": bl.Finite(["a"])}, "an alphabet of numbers"),
    ],
)
def test_bad_parameters_are_named(given, message):
    with pytest.raises(bl.InvalidInput) as caught:
        poisson(**given)
    assert message in str(caught.value)
