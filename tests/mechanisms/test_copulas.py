"""Copulas: densities as derivatives of their distribution functions, suprema, and the engine."""

import math
import pickle
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
import xarray as xr
from scipy import stats

import borel as bl

fgm, frank, gumbel, gaussian = (
    bl.mechanisms.fgm,
    bl.mechanisms.frank,
    bl.mechanisms.gumbel,
    bl.mechanisms.gaussian_copula,
)
MECHANISMS = {
    "fgm": fgm(theta=0.5),
    "negative fgm": fgm(theta=-1.0),
    "frank": frank(theta=2.5),
    "negative frank": frank(theta=-0.75),
    "strong frank": frank(theta=30.0),
    "gumbel": gumbel(theta=2.5),
    "weak gumbel": gumbel(theta=1.01),
    "gaussian": gaussian(rho=0.5),
    "negative gaussian": gaussian(rho=-0.9),
}


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(40):
        yield


def of_fgm(theta):
    return lambda x, y: x * y * (1 + theta * (1 - x) * (1 - y))


def of_frank(theta):
    theta = mp.mpf(theta)
    one = lambda u: mp.expm1(-theta * u)  # noqa: E731
    return lambda x, y: -mp.log1p(one(x) * one(y) / mp.expm1(-theta)) / theta


def of_gumbel(theta):
    return lambda x, y: mp.exp(-(((-mp.log(x)) ** theta + (-mp.log(y)) ** theta) ** (1 / theta)))


DISTRIBUTIONS = {
    "fgm": lambda: of_fgm(mp.mpf(0.5)),
    "negative fgm": lambda: of_fgm(mp.mpf(-1)),
    "frank": lambda: of_frank(2.5),
    "negative frank": lambda: of_frank(-0.75),
    "strong frank": lambda: of_frank(30),
    "gumbel": lambda: of_gumbel(mp.mpf(2.5)),
    "weak gumbel": lambda: of_gumbel(mp.mpf(1.01)),
}


def density(name):
    """The mixed derivative of the distribution function, or, if that has no formula, a ratio."""
    if name in DISTRIBUTIONS:
        C = DISTRIBUTIONS[name]()
        return lambda x, y: mp.diff(C, (mp.mpf(x), mp.mpf(y)), (1, 1))
    rho = mp.mpf(MECHANISMS[name].closed_forms.sigma)
    point = lambda u: mp.sqrt(2) * mp.erfinv(2 * mp.mpf(u) - 1)  # noqa: E731
    return lambda x, y: mp.npdf(point(y), rho * point(x), mp.sqrt(1 - rho**2)) / mp.npdf(point(y))


@pytest.mark.parametrize("name", MECHANISMS)
def test_densities(name):
    mech, truth = MECHANISMS[name], density(name)
    for x, y in ((0.5, 0.5), (0.1, 0.8), (0.97, 0.99), (0.25, 0.02), (0.9, 0.3)):
        value = truth(x, y)
        assert abs(mech.pdf(y, x) / value - 1) < 1e-11, (x, y)
    assert str(mech.normalisation).startswith("proved:") and not mech.opaque
    again = pickle.loads(pickle.dumps(mech))
    assert again.closed_forms == mech.closed_forms
    bl.testing.check_mechanism(mech)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", [n for n in MECHANISMS if "gumbel" not in n])
def test_samples(name):
    mech, truth = MECHANISMS[name], density(name)
    for x in (0.2, 0.9):
        drawn = mech.sample(np.full(4000, x), rng=7)
        cuts = [0, 0.1, 0.3, 0.5, 0.7, 0.9, 1]
        inner = np.linspace(0, 1, 401)[1::2]
        masses = np.histogram(inner, cuts, weights=[float(truth(x, y)) / 200 for y in inner])[0]
        observed = np.histogram(drawn, cuts)[0]
        keep = masses * 4000 > 5
        expected = masses[keep] / masses[keep].sum() * observed[keep].sum()
        assert stats.chisquare(observed[keep], expected).pvalue > 1e-3


def column(name, y):
    """The supremum and the infimum over x, on a grid that comes close to the ends."""
    truth = density(name)
    ends = [mp.mpf(10) ** -k for k in (12, 9, 6, 3)]
    places = [*ends, *(mp.mpf(i) / 40 for i in range(1, 40)), *(1 - e for e in ends)]
    values = [truth(x, y) for x in places]
    return max(values), min(values)


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["fgm", "negative fgm", "frank", "negative frank"])
def test_leakage_at_outcomes_by_a_grid(name):
    mech = MECHANISMS[name]
    joint = mech.reference_prior * mech
    for y in (0.02, 0.2, 0.375, 0.5, 0.6, 0.95):
        most, least = column(name, mp.mpf(y))
        pml, pmc = bl.pml(joint)(y), bl.pmc(joint)(y)
        assert pml.status == pmc.status == "exact" and pml.width < 1e-15 > pmc.width
        assert pml.upper >= mp.log(most) >= pml.lower - mp.mpf("3e-4")
        assert pmc.upper >= -mp.log(least) >= pmc.lower - mp.mpf("1e-10")
        assert pml.upper <= bl.pml(joint).sup().upper and pmc.upper <= bl.pmc(joint).sup().upper


SUPREMA = {
    "fgm": lambda: (mp.log(1.5), mp.log(2)),
    "negative fgm": lambda: (mp.log(2), mp.inf),
    "frank": lambda: (-mp.log(-mp.expm1(-mp.mpf(2.5)) / 2.5), mp.log(mp.expm1(mp.mpf(2.5)) / 2.5)),
    "negative frank": lambda: (
        mp.log(0.75 / -mp.expm1(-mp.mpf(0.75))),
        mp.log(mp.expm1(mp.mpf(0.75)) / mp.mpf(0.75)),
    ),
    "strong frank": lambda: (
        mp.log(30 / -mp.expm1(-mp.mpf(30))),
        mp.log(mp.expm1(mp.mpf(30)) / 30),
    ),
    "gumbel": lambda: (mp.inf, mp.inf),
    "gaussian": lambda: (mp.inf, mp.inf),
}


@pytest.mark.parametrize("name", SUPREMA)
def test_suprema_are_those_of_the_corners(name):
    mech, truth = MECHANISMS[name], density(name)
    joint = mech.reference_prior * mech
    found = bl.pml(joint).sup(), bl.pmc(joint).sup()
    for bound, value in zip(found, SUPREMA[name](), strict=True):
        assert bound.status == "exact" and bound.lower <= value <= bound.upper
    tiny = mp.mpf(10) ** -6
    corners = [truth(x, y) for x in (tiny, 1 - tiny) for y in (tiny, 1 - tiny)]
    if name in ("fgm", "frank", "negative frank"):
        assert abs(mp.log(max(corners)) - SUPREMA[name]()[0]) < 1e-4
        assert abs(mp.log(min(corners)) + SUPREMA[name]()[1]) < 1e-4
        level = bl.ldp(joint)
        most = max(abs(mp.log(a / b)) for a, b in pairwise(corners))
        assert level.status == "exact" and level.upper - 1e-4 <= most <= level.upper


def test_levels_and_means():
    joint = MECHANISMS["fgm"].reference_prior * MECHANISMS["fgm"]
    level = bl.ldp(joint)
    assert level.lower <= mp.log(3) <= level.upper
    found = bl.maximal_leakage(joint)
    assert found.lower <= mp.log(mp.mpf(5) / 4) <= found.upper and found.status == "exact"
    for name in ("negative fgm", "gumbel", "negative gaussian"):
        joint = MECHANISMS[name].reference_prior * MECHANISMS[name]
        assert bl.ldp(joint).lower == math.inf
    nothing = fgm(theta=0.0)
    joint = nothing.reference_prior * nothing
    assert bl.ldp(joint).upper == bl.pml(joint).sup().upper == bl.pmc(joint)(0.3).upper == 0


def test_gumbel_densities_fall_to_nothing_and_rise_without_bound():
    truth = density("gumbel")
    assert truth(1 - mp.mpf(10) ** -9, 0.5) < 1e-12
    assert truth(1 - mp.mpf(10) ** -9, 1 - mp.mpf(10) ** -9) > 1e8
    joint = MECHANISMS["gumbel"].reference_prior * MECHANISMS["gumbel"]
    assert bl.pmc(joint)(0.5).lower == math.inf
    assert bl.pml(joint).sup().attained is False and bl.pmc(joint).sup().attained is True


def test_the_gaussian_copula_is_gaussian_noise():
    mech, rho = MECHANISMS["negative gaussian"], mp.mpf(-0.9)
    ell = bl.pml(mech.reference_prior * mech)
    least = -mp.log(1 - rho**2) / 2
    truth = density("negative gaussian")
    for y in (0.03, 0.5, 0.8):
        t = mp.sqrt(2) * mp.erfinv(2 * mp.mpf(y) - 1)
        x = mp.ncdf(t / rho)  # where the density is largest
        value = mp.log(truth(x, y))
        assert value >= mp.log(max(truth(x * mp.mpf("0.99"), y), truth(x * mp.mpf("1.01"), y)))
        found = ell(y)
        assert found.lower - mp.mpf("1e-30") <= value <= found.upper + mp.mpf("1e-30")
    for t in (0.5, 1.0, 3.0):
        chance = mp.erfc(mp.sqrt(max(mp.mpf(t) - least, 0)))
        assert ell.tail(t).lower <= chance <= ell.tail(t).upper
    assert ell.mean().lower <= least + mp.mpf(1) / 2 <= ell.mean().upper
    assert ell.sup().lower == bl.pmc(mech.reference_prior * mech)(0.3).lower == math.inf
    assert ell.exp_mean().lower == math.inf


@pytest.mark.slow
@pytest.mark.cases("slow", "frank")
@pytest.mark.parametrize("name", ["fgm", "frank"])
def test_closed_forms_against_the_engine(name):
    mech = MECHANISMS[name]
    figures = [
        lambda j: bl.pml(j)(0.3),
        lambda j: bl.pmc(j)(0.3),
        lambda j: bl.pml(j).sup(),
        lambda j: bl.pmc(j).sup(),
        bl.ldp,
    ]
    closed = [f(mech.reference_prior * mech) for f in figures]
    with bl.options(closed_forms=False):
        engine = [f(mech.reference_prior * mech) for f in figures]
    for a, b in zip(closed, engine, strict=True):
        assert b.status == "certified" and b.width < 1e-7
        assert a.lower <= b.upper and b.lower <= a.upper


def test_other_priors_go_to_the_engine():
    for mech in MECHANISMS.values():
        forms = mech.closed_forms
        for prior in (bl.beta(alpha=2, beta=5), bl.uniform(bl.Interval(0, 0.5))):
            joint = prior * mech
            assert forms.ldp(joint) is None and forms.at(joint, "pml", 0.25) is None
            assert forms.sup(joint, "pmc") is None and forms.log_marginal(joint) is None
            assert forms.tail_leakage(joint, "pml", 0.5) is None


def test_arrays_of_parameters_make_a_family():
    theta = xr.DataArray([1.0, 2.0], dims="theta")
    family = frank(theta=theta)
    found = bl.ldp(bl.uniform(bl.Interval(0, 1)) * family)
    assert found["upper"].values == pytest.approx([1.0, 2.0], abs=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fgm(theta=1.5), "theta in [-1, 1]"),
        (lambda: fgm(theta=math.nan), "fgm: expected theta = a finite number"),
        (lambda: frank(theta=0), "theta != 0"),
        (lambda: frank(theta=1e4), "600 at most"),
        (lambda: gumbel(theta=1), "theta > 1"),
        (lambda: gaussian(rho=1.0), "rho inside (-1, 1), not 0"),
        (lambda: gaussian(rho=0.0), "not 0"),
    ],
)
def test_bad_parameters_are_named(call, message):
    with pytest.raises(bl.InvalidInput) as caught:
        call()
    assert message in str(caught.value)
