"""Noise of whole numbers: against Fractions, sums by mpmath, SciPy, and the engine."""

import math
import pickle
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
import xarray as xr
from scipy import stats

import borel as bl

geometric, laplace, gaussian = (
    bl.mechanisms.geometric,
    bl.mechanisms.discrete_laplace,
    bl.mechanisms.discrete_gaussian,
)
COUNTS = bl.Integers(0, 3)


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(40):
        yield


def holds(bound, truth):
    return bound.status == "exact" and mp.mpf(bound.lower) <= truth <= mp.mpf(bound.upper)


# -- laws ------------------------------------------------------------------------------------------


def of_gaussian(sigma):
    sigma = mp.mpf(sigma)
    reach = int(20 * sigma) + 20
    total = sum(mp.exp(-(mp.mpf(z) ** 2) / (2 * sigma**2)) for z in range(-reach, reach + 1))
    return lambda z: mp.exp(-(mp.mpf(z) ** 2) / (2 * sigma**2)) / total


def of_laplace(alpha):
    return lambda z: (1 - alpha) / (1 + alpha) * alpha ** abs(z)


MECHANISMS = {
    "geometric": geometric(alpha=0.3),
    "of a Fraction": geometric(alpha=F(2, 3)),
    "laplace": laplace(b=2.5),
    "wide laplace": laplace(b=1e4),
    "gaussian": gaussian(sigma=1.5),
    "narrow gaussian": gaussian(sigma=0.3),
    "gaussian of one": gaussian(sigma=1.0),
    "wide gaussian": gaussian(sigma=40.0),
}


def law_of(name):
    return {
        "geometric": lambda: of_laplace(mp.mpf(0.3)),
        "of a Fraction": lambda: of_laplace(mp.mpf(2) / 3),
        "laplace": lambda: of_laplace(mp.exp(-1 / mp.mpf(2.5))),
        "wide laplace": lambda: of_laplace(mp.exp(mp.mpf("-1e-4"))),
        "gaussian": lambda: of_gaussian(1.5),
        "narrow gaussian": lambda: of_gaussian(0.3),
        "gaussian of one": lambda: of_gaussian(1.0),
        "wide gaussian": lambda: of_gaussian(40.0),
    }[name]()


@pytest.mark.parametrize("name", MECHANISMS)
def test_masses_are_those_of_the_formula(name):
    mech, law = MECHANISMS[name], law_of(name)
    for y, x in ((0, 0), (3, 5), (-2, 1), (12, 0)):
        truth = mp.log(law(y - x))
        assert abs(mech.logpdf(y, x) - truth) <= 1e-15 * (1 + abs(truth)) * 2
    assert str(mech.normalisation).startswith("proved:") and not mech.opaque
    again = pickle.loads(pickle.dumps(mech))
    assert again.closed_forms == mech.closed_forms
    assert (again.sample([0.0], rng=1) == mech.sample([0.0], rng=1)).all()


@pytest.mark.cases("slow", "wide laplace")
@pytest.mark.parametrize("name", MECHANISMS)
def test_samples_follow_them(name):
    mech, law = MECHANISMS[name], law_of(name)
    drawn = mech.sample(np.full(4000, 7), rng=5) - 7
    assert (drawn == np.round(drawn)).all()
    edges = np.unique(np.quantile(drawn, np.linspace(0, 1, 9)))[1:-1]
    reach = int(np.abs(drawn).max()) + 40
    masses = np.array([float(law(z)) for z in range(-reach, reach + 1)])
    bins = np.searchsorted(edges, np.arange(-reach, reach + 1))
    expected = 4000 * np.bincount(bins, masses, minlength=len(edges) + 1)
    observed = np.bincount(np.searchsorted(edges, drawn), minlength=len(edges) + 1)
    missing = 4000 - expected.sum()
    expected[0] += missing / 2
    expected[-1] += missing / 2
    assert stats.chisquare(observed, expected).pvalue > 1e-3


def test_scipy_has_the_same_laplace_law():
    z = np.arange(-9, 10)
    np.testing.assert_allclose(laplace(b=2.0).pdf(z, 0), stats.dlaplace(0.5).pmf(z), rtol=1e-14)


# -- numbers beyond an end -------------------------------------------------------------------------


def by_sums(alpha, x, low, high):
    """The law of the noisy number, moved to an end, with the tails as one minus a sum."""
    law = of_laplace(alpha)
    inner = {y: law(y - x) for y in range(low + 1, high)}
    below = alpha ** (x - low) / (1 + alpha) if x >= low else None
    if below is None:  # one half, and the steps up to the end
        below = (1 + law(0)) / 2 + sum(law(y - x) for y in range(x + 1, low + 1))
    return [below, *inner.values(), 1 - below - sum(inner.values())]


@pytest.mark.parametrize("alpha", [F(1, 2), F(2, 3), F(1, 100)])
@pytest.mark.parametrize(("low", "high"), [(0, 3), (-2, 6), (1, 2), (5, 8), (-4, -1)])
def test_a_matrix_of_fractions(alpha, low, high):
    outcome = bl.Integers(low, high)
    mech = geometric(alpha=alpha, secret=COUNTS, outcome=outcome)
    assert mech.rational
    assert mech.matrix.tolist() == [by_sums(alpha, x, low, high) for x in range(4)]


@pytest.mark.parametrize(("factory", "given"), [(geometric, {"alpha": 0.3}), (laplace, {"b": 2.5})])
def test_a_matrix_of_floats(factory, given):
    alpha = mp.mpf(0.3) if factory is geometric else mp.exp(-1 / mp.mpf(2.5))
    mech = factory(**given, secret=COUNTS, outcome=bl.Integers(0, 5))
    for row, x in zip(mech.matrix, range(4), strict=True):
        for value, truth in zip(row, by_sums(alpha, x, 0, 5), strict=True):
            assert abs(mp.mpf(float(value)) / truth - 1) <= mech.rounding <= 2.0**-52


def test_ends_that_hold_the_secrets_lose_nothing():
    """The outcomes beyond an end have equal likelihood ratios: leakage has the same law."""
    prior = bl.pmf([0.5, 0.125, 0.125, 0.25], on=COUNTS)
    all_of_them, ended = geometric(alpha=0.3), geometric(alpha=0.3, secret=COUNTS, outcome=COUNTS)
    for kind in (bl.pml, bl.pmc):
        a, b = kind(prior * all_of_them), kind(prior * ended)
        for found in ((a.sup(), b.sup()), (a(0), b(0)), (a(3), b(3)), (a(1), b(1))):
            assert found[0].lower <= found[1].upper and found[1].lower <= found[0].upper
            assert found[1].status == "exact" and found[1].width < 1e-14


# -- closed forms ----------------------------------------------------------------------------------


def leakages(law, p, outcomes):
    """The largest PML and PMC among some outcomes."""
    pml = pmc = -mp.inf
    for y in outcomes:
        column = {x: law(y - x) for x, q in p.items() if q}
        mean = sum(p[x] * f for x, f in column.items())
        pml = max(pml, mp.log(max(column.values()) / mean))
        pmc = max(pmc, mp.log(mean / min(column.values())))
    return pml, pmc


@pytest.mark.few(2)
@pytest.mark.parametrize("size", [1, 2, 3, 8])
@pytest.mark.parametrize("name", ["geometric", "of a Fraction", "laplace", "wide laplace"])
def test_suprema_for_a_uniform_secret(name, size):
    mech, law = MECHANISMS[name], law_of(name)
    on = bl.Integers(-2, size - 3)
    truth = leakages(law, {x: mp.mpf(1) / size for x in range(-2, size - 2)}, range(-6, size + 4))
    joint = bl.uniform(on) * mech
    for sup, value in zip((bl.pml(joint).sup(), bl.pmc(joint).sup()), truth, strict=True):
        assert holds(sup, value) if size > 1 else sup.upper == 0
        assert sup.width <= 1e-13 * sup.upper and sup.attained
    level = bl.ldp(joint)
    assert holds(level, (size - 1) * -mp.log(law(1) / law(0)))
    assert level.width < 1e-14 * (1 + level.upper)
    with bl.options(closed_forms=False):
        fresh = bl.uniform(on) * mech
        for closed, found in (
            (bl.pml(joint).sup(), bl.pml(fresh).sup()),
            (bl.pmc(joint).sup(), bl.pmc(fresh).sup()),
            (level, bl.ldp(fresh)),
        ):
            assert found.lower <= closed.upper and closed.lower <= found.upper
            assert found.status == "exact" or name == "wide laplace"  # beyond the engine's head


def test_ldp_of_any_prior_is_that_of_the_ends_of_its_support():
    on = bl.Finite([5, 0, 2, 9])
    joint = bl.pmf([F(1, 2), F(0), F(1, 4), F(1, 4)], on=on) * geometric(alpha=0.5)
    assert holds(bl.ldp(joint), 7 * mp.log(2))
    assert geometric(alpha=0.5).closed_forms.sup(joint, "pml") is None
    forms = geometric(alpha=0.5).closed_forms
    assert forms.ldp(bl.poisson(mu=2.0) * geometric(alpha=0.5)) is None
    gaps = bl.uniform(bl.Finite([0, 2])) * geometric(alpha=0.5)
    assert forms.sup(gaps, "pml") is None
    assert bl.pml(gaps).sup().lower <= math.log(2 / (1 + 0.25)) <= bl.pml(gaps).sup().upper


def test_gaussian_ratios_have_no_bound():
    joint = bl.pmf([0.5, 0.5], on=bl.Finite([0, 1])) * gaussian(sigma=2.0)
    for found in (bl.ldp(joint), bl.pmc(joint).sup()):
        assert (found.lower, found.status, found.attained) == (math.inf, "exact", False)
    with bl.options(closed_forms=False):
        fresh = bl.pmf([0.5, 0.5], on=bl.Finite([0, 1])) * gaussian(sigma=2.0)
        assert bl.ldp(fresh).lower == bl.pmc(fresh).sup().lower == math.inf
    pml = bl.pml(joint)  # its supremum is log 2, approached
    assert pml.sup().lower <= mp.log(2) <= pml.sup().upper
    law = of_gaussian(2.0)
    for y in (-3, 0, 1, 4):
        value = leakages(law, {0: mp.mpf(0.5), 1: mp.mpf(0.5)}, [y])[0]
        assert pml(y).lower <= value <= pml(y).upper
    point = bl.pmf([1.0, 0.0], on=bl.Finite([0, 1])) * gaussian(sigma=2.0)
    assert bl.ldp(point).upper == bl.pmc(point).sup().upper == bl.pml(point).sup().upper == 0


def test_infinitely_many_secrets():
    joint = bl.poisson(mu=2.0) * geometric(alpha=0.5, secret=bl.Integers(0, None))
    assert bl.ldp(joint).lower == math.inf and bl.pml(joint).sup().lower == math.inf
    law = of_laplace(mp.mpf(0.5))
    masses = [mp.exp(-2) * mp.mpf(2) ** x / mp.factorial(x) for x in range(80)]
    mean = sum(q * law(3 - x) for x, q in enumerate(masses))
    found = bl.pml(joint)(3)
    assert found.lower <= mp.log(law(0) / mean) <= found.upper


# -- arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_a_level_and_a_sensitivity_give_the_scale(epsilon):
    for make in (geometric, laplace):
        level = bl.ldp(bl.uniform(COUNTS) * make(epsilon=epsilon, sensitivity=3))
        assert epsilon * (1 - 1e-15) <= level.lower <= epsilon
    assert F(3) / F(laplace(epsilon=epsilon, sensitivity=3).closed_forms.noise.b) <= F(epsilon)


def test_arrays_of_parameters_make_a_family():
    alpha = xr.DataArray([0.25, 0.5], dims="alpha")
    found = bl.ldp(bl.uniform(COUNTS) * geometric(alpha=alpha))
    assert found["upper"].values == pytest.approx([3 * math.log(4), 3 * math.log(2)])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: geometric(), "geometric: expected alpha = a number > 0, or epsilon="),
        (lambda: geometric(alpha=1.0), "alpha inside (0, 1)"),
        (lambda: geometric(alpha=F(3, 2)), "alpha inside (0, 1)"),
        (lambda: geometric(alpha=math.nan), "alpha = a finite number"),
        (lambda: geometric(alpha=0.5, epsilon=1.0), "both epsilon=... and sensitivity"),
        (lambda: laplace(b=0.0), "discrete_laplace: expected b > 0"),
        (lambda: laplace(b=1.0, secret=bl.Finite([0.5])), "secret = whole numbers"),
        (lambda: laplace(b=1.0, secret=bl.Interval(0, 1)), "secret = whole numbers"),
        (lambda: laplace(b=1.0, outcome=bl.Reals()), "outcome = Integers"),
        (lambda: gaussian(sigma=-1.0), "discrete_gaussian: expected sigma > 0"),
        (lambda: gaussian(sigma=1.0, secret=bl.Finite(["a"])), "secret = whole numbers"),
        (lambda: laplace(b=1e-5, secret=COUNTS, outcome=COUNTS), "float64 can hold"),
    ],
)
def test_bad_parameters_are_named(call, message):
    with pytest.raises(bl.InvalidInput) as caught:
        call()
    assert message in str(caught.value)


def test_ends_of_infinitely_many_secrets_are_missing():
    with pytest.raises(bl.NotYet, match="all integers as the outcome"):
        geometric(alpha=0.5, outcome=COUNTS)
