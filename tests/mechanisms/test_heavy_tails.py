"""Cauchy and Student-t noise: against SciPy, maxima on grids, and the engine."""

import math
import pickle
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
import xarray as xr
from scipy import stats

import borel as bl

cauchy, student_t = bl.mechanisms.cauchy, bl.mechanisms.student_t
CASES = {
    "cauchy": (cauchy(b=0.7), stats.cauchy(scale=0.7), 1, 0.7),
    "student": (student_t(nu=4, sigma=0.25), stats.t(4, scale=0.25), 4, 0.25),
    "little freedom": (student_t(nu=0.5, sigma=2.0), stats.t(0.5, scale=2.0), 0.5, 2.0),
}


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(40):
        yield


@pytest.mark.parametrize("name", CASES)
def test_densities_and_samples(name):
    mech, law, *_ = CASES[name]
    y, x = np.linspace(-60, 60, 25)[:, None], np.linspace(-2, 2, 5)[None, :]
    np.testing.assert_allclose(mech.logpdf(y, x), law.logpdf(y - x), rtol=1e-12)
    draws = mech.sample(np.full(4000, 1.5), rng=3)
    assert stats.kstest(draws - 1.5, law.cdf).pvalue > 1e-3
    again = pickle.loads(pickle.dumps(mech))
    assert again.closed_forms == mech.closed_forms
    assert (again.sample([0.0], rng=1) == mech.sample([0.0], rng=1)).all()
    assert str(mech.normalisation).startswith("proved:") and not mech.opaque
    bl.testing.check_mechanism(mech)


@pytest.mark.parametrize("nu", [0.25, 7.0, 1e7])
def test_the_total_keeps_its_digits(nu):
    """Of a large nu the gamma functions are alike."""
    height = mp.gammaprod([(mp.mpf(nu) + 1) / 2], [mp.mpf(nu) / 2]) if nu < 1e6 else None
    if height is None:
        half = mp.mpf(nu) / 2
        height = mp.exp(mp.loggamma(half + 0.5) - mp.loggamma(half))
    truth = height / mp.sqrt(mp.pi * mp.mpf(nu))
    assert abs(mp.mpf(float(student_t(nu=nu, sigma=1.0).pdf(0.0, 0.0))) / truth - 1) < 1e-15


def test_the_distribution_function_of_cauchy_noise_keeps_the_tails():
    mech, law, *_ = CASES["cauchy"]
    for z in (-1e12, -3.0, 0.0, 0.5, 1e12):
        assert mech.cdf.linear(z, 0.0) == pytest.approx(law.cdf(z), rel=1e-13)
        assert mech.survival.linear(z, 0.0) == pytest.approx(law.sf(z), rel=1e-13)
    clipped = mech.clip(-1, 1)
    assert clipped.pdf(1.0, 0.0) == pytest.approx(law.sf(1.0))


def largest(nu, scale, length):
    """The largest ratio of the densities of the two ends, by golden section over outcomes."""
    nu, scale, length = map(mp.mpf, (nu, scale, length))

    def ratio(z):
        return (
            (nu + 1)
            / 2
            * mp.log((1 + ((z + length) / scale) ** 2 / nu) / (1 + (z / scale) ** 2 / nu))
        )

    low, high = mp.mpf(0), 10 * scale * mp.sqrt(nu) + 10
    g = (mp.sqrt(5) - 1) / 2
    for _ in range(300):
        a, b = high - g * (high - low), low + g * (high - low)
        low, high = (low, b) if ratio(a) > ratio(b) else (a, high)
    return ratio(low)


@pytest.mark.parametrize("length", [0.125, 1.5, 40.0])
@pytest.mark.parametrize("name", CASES)
def test_ldp_of_a_uniform_secret(name, length):
    mech, _, nu, scale = CASES[name]
    found = bl.ldp(bl.uniform(bl.Interval(-1, -1 + length)) * mech)
    truth = largest(nu, scale, length)
    assert found.status == "exact" and found.attained is False
    assert found.lower - mp.mpf("1e-30") <= truth <= found.upper + mp.mpf("1e-30")
    inside = [  # no pair of secrets and no outcome of a grid exceeds it
        float(np.ptp(mech.logpdf(y, np.linspace(-1, -1 + length, 33))))
        for y in np.linspace(-4 * length - 1, 4 * length, 81)
    ]
    assert max(inside) <= found.upper + 1e-12


def test_ldp_against_the_engine():
    joint = bl.uniform(bl.Interval(0, 1)) * cauchy(b=1.0)
    closed = bl.ldp(joint)
    with bl.options(closed_forms=False, budget=2):
        found = bl.ldp(bl.uniform(bl.Interval(0, 1)) * cauchy(b=1.0))
    assert found.lower <= closed.upper and closed.lower <= found.upper
    assert found.lower >= 0.99 * closed.lower


def test_other_priors_go_to_the_engine():
    for prior in (bl.beta(alpha=2, beta=5), bl.uniform(bl.Finite([0.0, 1.0])), bl.normal()):
        assert cauchy(b=1.0).closed_forms.ldp(prior * cauchy(b=1.0)) is None


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_a_level_and_a_sensitivity_give_the_scale(epsilon):
    unit = bl.Interval(0, 0.75)
    for mech in (
        cauchy(epsilon=epsilon, sensitivity=0.75),
        student_t(nu=3, epsilon=epsilon, sensitivity=0.75),
    ):
        level = bl.ldp(bl.uniform(unit) * mech)
        assert epsilon * (1 - 1e-14) <= level.lower <= epsilon
        assert mp.mpf(mech.closed_forms.nu + 1) * mp.asinh(
            mp.mpf(0.75) / (2 * mp.sqrt(mech.closed_forms.nu) * mp.mpf(mech.closed_forms.sigma))
        ) <= mp.mpf(epsilon)


def test_arrays_of_parameters_make_a_family():
    b = xr.DataArray([1.0, 2.0], dims="b")
    found = bl.ldp(bl.uniform(bl.Interval(0, 1.5)) * cauchy(b=b))
    assert found["upper"].values == pytest.approx([2 * math.asinh(1.5 / 2 / s) for s in (1, 2)])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cauchy(), "cauchy: expected b = a number > 0, or epsilon="),
        (lambda: cauchy(b=-1.0), "b > 0"),
        (lambda: cauchy(b=1.0, epsilon=1.0), "both epsilon=... and sensitivity"),
        (lambda: cauchy(epsilon=1.0), "b = sensitivity / (2 sinh(epsilon / 2))"),
        (lambda: cauchy(epsilon=0.0, sensitivity=1.0), "epsilon > 0"),
        (lambda: cauchy(b=F(1, 3)), "as a float"),
        (lambda: student_t(nu=0, sigma=1.0), "nu > 0"),
        (lambda: student_t(nu=3, sigma=math.nan), "sigma = a finite number"),
        (lambda: student_t(nu=3, sigma=1.0, secret=bl.Finite(["a"])), "an alphabet of numbers"),
    ],
)
def test_bad_parameters_are_named(call, message):
    with pytest.raises(bl.InvalidInput) as caught:
        call()
    assert message in str(caught.value)
