"""Truncated and censored noise: against SciPy, grids in mpmath, and the engine."""

import math
import pickle

import mpmath as mp
import numpy as np
import pytest
import xarray as xr
from scipy import stats

import borel as bl

truncated = {
    "laplace": lambda s, c, d, **k: bl.mechanisms.truncated_laplace(b=s, lower=c, upper=d, **k),
    "gaussian": lambda s, c, d, **k: bl.mechanisms.truncated_gaussian(
        sigma=s, lower=c, upper=d, **k
    ),
}
censored = {
    "laplace": lambda s, c, d, **k: bl.mechanisms.censored_laplace(b=s, lower=c, upper=d, **k),
    "gaussian": lambda s, c, d, **k: bl.mechanisms.censored_gaussian(
        sigma=s, lower=c, upper=d, **k
    ),
}
LAWS = {"laplace": stats.laplace, "gaussian": stats.norm}
NAMES = pytest.mark.parametrize("name", LAWS)
BOUNDS = pytest.mark.parametrize(
    ("scale", "c", "d", "p", "q"),
    [
        (1.0, 0.0, 1.0, 0.0, 1.0),
        (0.25, 0.0, 1.0, 0.125, 0.5),
        (2.0, -3.0, 1.0, -1.0, 1.0),
        (0.1, 0.0, 2.0, 0.0, 0.5),
    ],
)


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(40):
        yield


def density(name, s):
    s = mp.mpf(s)
    if name == "laplace":
        return lambda z: mp.exp(-abs(z) / s) / (2 * s)
    return lambda z: mp.npdf(z, 0, s)


def below(name, s):
    s = mp.mpf(s)
    if name == "laplace":
        return lambda z: mp.exp(z / s) / 2 if z < 0 else 1 - mp.exp(-z / s) / 2
    return lambda z: mp.erfc(-z / (s * mp.sqrt(2))) / 2


def holds(bound, truth):
    slack = mp.mpf("1e-30")
    return bound.status == "exact" and bound.lower - slack <= truth <= bound.upper + slack


@NAMES
def test_truncated_densities_and_samples(name):
    mech = truncated[name](0.75, -0.5, 2.0)
    y, x = np.linspace(-0.5, 2, 11)[:, None], np.linspace(-0.5, 2, 5)[None, :]
    law = LAWS[name](x, 0.75)
    truth = law.pdf(y) / (law.cdf(2.0) - law.cdf(-0.5))
    np.testing.assert_allclose(mech.pdf(y, x), truth, rtol=1e-12)
    for at in (-0.5, 0.25, 2.0):
        one = LAWS[name](at, 0.75)
        room = one.cdf(2.0) - one.cdf(-0.5)
        drawn = mech.sample(np.full(4000, at), rng=3)
        cdf = lambda v, one=one, room=room: (one.cdf(v) - one.cdf(-0.5)) / room  # noqa: E731
        assert stats.kstest(drawn, cdf).pvalue > 1e-3
    check(mech)


@NAMES
def test_truncated_densities_keep_their_digits(name):
    """Of wide noise the room is small, and of the two ends alike."""
    mech, s = truncated[name](1e6, 0.0, 1.0), mp.mpf(1e6)
    f, F = density(name, s), below(name, s)
    for y, x in ((0.25, 0.5), (1.0, 0.0)):
        truth = f(mp.mpf(y) - x) / (F(1 - mp.mpf(x)) - F(-mp.mpf(x)))
        assert abs(mp.mpf(float(mech.pdf(y, x))) / truth - 1) < 1e-14


@NAMES
def test_censored_laws_and_samples(name):
    mech = censored[name](0.75, -0.5, 2.0)
    law = LAWS[name](0.25, 0.75)
    assert mech.pdf(1.0, 0.25) == pytest.approx(law.pdf(1.0))
    assert mech.pdf(-0.5, 0.25) == pytest.approx(law.cdf(-0.5))
    assert mech.pdf(2.0, 0.25) == pytest.approx(law.sf(2.0))
    drawn = mech.sample(np.full(4000, 0.25), rng=3)
    ends = [(drawn == -0.5).sum(), (drawn == 2.0).sum(), ((drawn > -0.5) & (drawn < 2.0)).sum()]
    masses = [law.cdf(-0.5), law.sf(2.0), law.cdf(2.0) - law.cdf(-0.5)]
    assert stats.chisquare(ends, 4000 * np.array(masses)).pvalue > 1e-3
    check(mech)


def check(mech):
    again = pickle.loads(pickle.dumps(mech))
    assert again.closed_forms == mech.closed_forms and again.name == mech.name
    assert (again.sample([0.5], rng=1) == mech.sample([0.5], rng=1)).all()
    assert str(mech.normalisation).startswith("proved:") and not mech.opaque
    bl.testing.check_mechanism(mech)


@BOUNDS
@NAMES
def test_ldp_of_truncated_noise(name, scale, c, d, p, q):
    mech = truncated[name](scale, c, d)
    found = bl.ldp(bl.uniform(bl.Interval(p, q)) * mech)
    f, F = density(name, scale), below(name, scale)
    secrets = [mp.mpf(p) + (mp.mpf(q) - p) * i / 12 for i in range(13)]
    rooms = [F(d - x) - F(c - x) for x in secrets]
    top = mp.mpf(0)
    for i in range(25):
        y = mp.mpf(c) + (mp.mpf(d) - c) * i / 24
        values = [f(y - x) / room for x, room in zip(secrets, rooms, strict=True)]
        top = max(top, mp.log(max(values) / min(values)))
    assert holds(found, top)  # the grid has the bounds and the ends, where it is the largest


@pytest.mark.cases("slow", "gaussian")
@NAMES
def test_truncated_ldp_against_the_engine(name):
    prior = bl.uniform(bl.Interval(0.125, 0.5))
    closed = bl.ldp(prior * truncated[name](0.5, 0.0, 1.0))
    with bl.options(closed_forms=False, budget=2):
        found = bl.ldp(bl.uniform(bl.Interval(0.125, 0.5)) * truncated[name](0.5, 0.0, 1.0))
    assert found.status == "certified"
    assert found.lower <= closed.upper and closed.lower <= found.upper and found.width < 1e-3


def test_a_scale_for_epsilon_is_not_enough_for_truncated_noise():
    """q - p over b is the level of noise without bounds; nearer to one end it is more."""
    level = bl.ldp(bl.uniform(bl.Interval(0, 0.5)) * truncated["laplace"](0.5, 0.0, 1.0))
    assert level.lower > 1.2  # 1 + log of (1 - e^-1) over (1 - e^-2) / 2
    assert holds(level, 1 + mp.log((1 - mp.exp(-1)) * 2 / (1 - mp.exp(-2))))
    middle = bl.ldp(bl.uniform(bl.Interval(0.25, 0.75)) * truncated["laplace"](0.5, 0.0, 1.0))
    assert holds(middle, mp.mpf(1))


def leakages(name, scale, c, d, p, q):
    """The largest PML, PMC and ratio among the atoms and a grid of outcomes, by quadrature."""
    f, F = density(name, scale), below(name, scale)
    c, d, p, q = map(mp.mpf, (c, d, p, q))
    columns = [lambda x: F(c - x), lambda x: F(x - d)]
    columns += [lambda x, y=c + (d - c) * i / 10: f(y - x) for i in range(11)]
    grid = [p + (q - p) * i / 60 for i in range(61)]
    out = []
    for k, column in enumerate(columns):
        kinks = {y} if k > 1 and p < (y := c + (d - c) * (k - 2) / 10) < q else set()
        unit = max(column(p), column(q))  # quad stops at an absolute error
        part = lambda x, f=column, unit=unit: f(x) / unit  # noqa: E731
        mean = unit * mp.quad(part, sorted({*grid[::4], *kinks})) / (q - p)
        values = [column(x) for x in (*grid, *kinks)]
        most, least = max(values), min(values)
        out.append((mp.log(most / mean), mp.log(mean / least), mp.log(most / least)))
    return [max(column) for column in zip(*out, strict=True)]


@pytest.mark.few(1)
@pytest.mark.cases(
    "slow",
    "gaussian-0.1-0.0-2.0-0.0-0.5",
    "gaussian-0.25-0.0-1.0-0.125-0.5",
    "gaussian-1.0-0.0-1.0-0.0-1.0",
)
@BOUNDS
@NAMES
def test_suprema_of_censored_noise(name, scale, c, d, p, q):
    joint = bl.uniform(bl.Interval(p, q)) * censored[name](scale, c, d)
    found = bl.pml(joint).sup(), bl.pmc(joint).sup(), bl.ldp(joint)
    for bound, truth in zip(found, leakages(name, scale, c, d, p, q), strict=True):
        assert holds(bound, truth) and bound.attained
        assert bound.width <= 1e-14 * (1 + bound.upper)


@NAMES
def test_censored_noise_against_the_engine(name):
    mech = censored[name](0.5, 0.0, 1.0)
    joint = bl.uniform(bl.Interval(0, 0.75)) * mech
    with bl.options(closed_forms=False):
        fresh = bl.uniform(bl.Interval(0, 0.75)) * mech
        engine = [bl.pml(fresh).sup(), bl.pmc(fresh).sup(), bl.ldp(fresh)]
        engine += [kind(fresh)(y) for kind in (bl.pml, bl.pmc) for y in (0.0, 0.3, 0.9, 1.0)]
    closed = [bl.pml(joint).sup(), bl.pmc(joint).sup(), bl.ldp(joint)]
    closed += [kind(joint)(y) for kind in (bl.pml, bl.pmc) for y in (0.0, 0.3, 0.9, 1.0)]
    for a, b in zip(closed, engine, strict=True):
        assert b.status == "certified" and a.lower <= b.upper and b.lower <= a.upper


def test_censored_laplace_noise_leaks_what_the_noise_without_bounds_does():
    secret = bl.Interval(0, 0.75)
    ended = bl.uniform(secret) * censored["laplace"](0.5, -0.25, 1.0)
    free = bl.uniform(secret) * bl.mechanisms.laplace(b=0.5)
    for kind in (bl.pml, bl.pmc):
        assert kind(ended).sup() == kind(free).sup()
        assert kind(ended)(-0.25).lower == kind(free)(-7.0).lower
        assert kind(ended)(0.3) == kind(free)(0.3)
    assert bl.tail_leakage(ended, 0.75) == bl.tail_leakage(free, 0.75)


def test_other_priors_and_secrets_beyond_the_bounds_go_to_the_engine():
    for make in (*truncated.values(), *censored.values()):
        mech = make(1.0, 0.0, 1.0)
        for prior in (bl.beta(alpha=2, beta=5), bl.uniform(bl.Finite([0.0, 1.0]))):
            forms, joint = mech.closed_forms, prior * mech
            assert forms.ldp(joint) is None and forms.sup(joint, "pml") is None
    for make in censored.values():
        mech = make(1.0, 0.0, 1.0, secret=bl.Reals())
        joint = bl.uniform(bl.Interval(0, 2)) * mech
        assert mech.closed_forms.ldp(joint) is None and mech.closed_forms.sup(joint, "pmc") is None


def test_a_level_and_a_sensitivity_give_the_scale():
    noise = bl.mechanisms.censored_laplace(lower=0, upper=1, epsilon=0.7, sensitivity=1)
    assert 0.7 * (1 - 1e-15) <= bl.ldp(bl.uniform(bl.Interval(0, 1)) * noise).lower <= 0.7


def test_arrays_of_parameters_make_a_family():
    b = xr.DataArray([1.0, 2.0], dims="b")
    noise = bl.mechanisms.truncated_laplace(lower=0, upper=1, b=b)
    found = bl.ldp(bl.uniform(bl.Interval(0, 1)) * noise)
    assert found["upper"].values == pytest.approx([1.0, 0.5], abs=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: truncated["laplace"](0.0, 0, 1), "truncated_laplace: expected b > 0"),
        (lambda: truncated["gaussian"](math.nan, 0, 1), "sigma = a finite number"),
        (lambda: truncated["laplace"](1.0, 1, 0), "lower < upper"),
        (lambda: truncated["laplace"](1.0, -math.inf, 0), "lower = a finite number"),
        (lambda: truncated["laplace"](1.0, 0, 1, secret=bl.Interval(0, 2)), "within the bounds"),
        (lambda: truncated["gaussian"](1.0, 0, 1, secret=bl.Reals()), "or censor"),
        (lambda: truncated["gaussian"](1.0, 0, 1, secret=bl.Integers(0, None)), "or censor"),
        (lambda: truncated["laplace"](1.0, 0, 1, secret=bl.Finite([0.5, 2])), "or censor"),
        (lambda: censored["laplace"](None, 0, 1), "or epsilon= and sensitivity="),
        (lambda: censored["gaussian"](1.0, 0, 1, secret=bl.Finite(["a"])), "of numbers"),
    ],
)
def test_bad_parameters_are_named(call, message):
    with pytest.raises(bl.InvalidInput) as caught:
        call()
    assert message in str(caught.value)
