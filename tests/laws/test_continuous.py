"""Continuous alphabets: nothing depends on coordinates or on null sets.

The figures here are estimates, or closed forms where a mechanism has one: two of them agree if
they are within the sum of their error estimates.
"""

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

import borel as bl

pytestmark = pytest.mark.usefixtures("estimates")  # certified: tests/engine

UNIT, LINE, HALF = bl.Interval(0, 1), bl.Reals(), bl.Interval(0, None)


def normal(y, x, sigma=0.5):
    return np.exp(-(((y - x) / sigma) ** 2) / 2) / (sigma * np.sqrt(2 * np.pi))


def gaussian(**about):
    return bl.Mechanism(normal, secret=UNIT, outcome=LINE, **about)


def agree(one, two, slack=1e-12):
    """Say if two figures are within their error bars of each other."""
    if one.lower == two.lower == np.inf:
        return True
    bars = (one.upper - one.lower + two.upper - two.lower) / 2
    return abs(one.value - two.value) <= bars + slack


def agree_at(one, two, first, second, slack=1e-9):
    """Say if two leakages agree at many outcomes that correspond."""
    one, two = one(first), two(second)
    middles = [((d.lower + d.upper) / 2).values for d in (one, two)]
    bars = sum((d.upper - d.lower).values / 2 for d in (one, two))
    return (np.abs(middles[0] - middles[1]) <= bars + slack).all()


def marginal(y, sigma=0.5):
    y = np.minimum(y, 1 - y)  # the law of Y is symmetric about 1/2: no cancellation on this side
    return special.ndtr(y / sigma) - special.ndtr((y - 1) / sigma)


def truths(y, sigma=0.5):
    """PML and PMC at y of Gaussian noise on a uniform secret."""
    f = marginal(y, sigma)
    top = normal(np.clip(y, 0, 1), y, sigma)
    bottom = np.minimum(normal(0, y, sigma), normal(1, y, sigma))
    return np.log(top / f), np.log(f / bottom)


PLACES = np.array([-1.3, -0.2, 0.0, 0.31, 0.5, 0.93, 1.0, 2.2])


def test_gaussian_noise_on_a_uniform_secret():
    joint = bl.uniform(UNIT) * gaussian()
    for kind, truth in zip(("pml", "pmc"), truths(PLACES), strict=True):
        data = getattr(bl, kind)(joint)(PLACES)
        off = np.abs((data.lower.values + data.upper.values) / 2 - truth)
        assert (off <= (data.upper - data.lower).values / 2 + 1e-12).all()
        assert set(data.status.values) <= {"estimate"}
        bound = getattr(bl, kind)(joint)(0.31)
        assert bound.status == "estimate" and bound.reason
        with pytest.raises(bl.Undecided):
            bool(bound <= 100)


CHANGES_OF_Y = {
    # new = g(y): (outcome alphabet, inverse, derivative of the inverse, g)
    "affine": (LINE, lambda v: (v - 3) / 2, lambda v: 0.5 + 0 * v, lambda y: 2 * y + 3),
    "exponential": (HALF, np.log, lambda v: 1 / v, np.exp),
    "logistic": (
        UNIT,
        lambda v: np.log(v / (1 - v)),
        lambda v: 1 / (v * (1 - v)),
        lambda y: 1 / (1 + np.exp(-y)),
    ),
}


@pytest.mark.few(2)
@pytest.mark.cases("truths", "pmc-logistic", "pml-logistic")
@pytest.mark.parametrize("change", CHANGES_OF_Y)
@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_a_smooth_change_of_the_outcome(change, kind):
    outcome, inverse, slope, forward = CHANGES_OF_Y[change]
    moved = bl.Mechanism(
        lambda v, x: normal(inverse(v), x) * slope(v), secret=UNIT, outcome=outcome
    )
    before = getattr(bl, kind)(bl.uniform(UNIT) * gaussian())
    after = getattr(bl, kind)(bl.uniform(UNIT) * moved)
    assert agree_at(before, after, PLACES, forward(PLACES))
    if change == "logistic":  # the law costs seconds
        assert agree(before.tail(0.5), after.tail(0.5), 1e-6)


@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_a_smooth_change_of_the_secret(kind):
    """The square root of a uniform secret has density 2 x; the kernel sees its square."""
    squared = bl.Mechanism(lambda y, x: normal(y, x**2), secret=UNIT, outcome=LINE)
    prior = bl.Measure(lambda x: 2 * x, on=UNIT)
    before = getattr(bl, kind)(bl.uniform(UNIT) * gaussian())
    after = getattr(bl, kind)(prior * squared)
    assert agree_at(before, after, PLACES, PLACES)


ALTERED = {
    "a secret, up": lambda y, x: np.where(x == 0.375, 1e6, normal(y, x)),
    "a secret, to 0": lambda y, x: np.where(x == 0.5, 0.0, normal(y, x)),
    "the end of the secrets": lambda y, x: np.where(x == 1.0, 1e3, normal(y, x)),
    "the diagonal": lambda y, x: np.where(x == y, 1e6, normal(y, x)),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("where", ALTERED)
@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_null_sets_of_secrets_change_nothing(where, kind):
    altered = bl.Mechanism(ALTERED[where], secret=UNIT, outcome=LINE)
    before = getattr(bl, kind)(bl.uniform(UNIT) * gaussian())
    after = getattr(bl, kind)(bl.uniform(UNIT) * altered)
    assert agree_at(before, after, PLACES, PLACES)


@pytest.mark.truths
@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_null_sets_of_outcomes_change_no_law(kind):
    altered = bl.Mechanism(
        lambda y, x: np.where(y == 0.25, np.where(x > 0.5, 0.01, 100.0), normal(y, x)),
        secret=UNIT,
        outcome=LINE,
    )
    before = getattr(bl, kind)(bl.uniform(UNIT) * gaussian())
    after = getattr(bl, kind)(bl.uniform(UNIT) * altered)
    assert agree(before.tail(0.5), after.tail(0.5), 1e-6)
    assert agree(before.quantile(0.9), after.quantile(0.9), 1e-6)


def test_null_sets_of_the_prior_change_nothing():
    prior = bl.Measure(lambda x: np.where(x == 0.25, 1e9, 1.0), on=UNIT)
    for kind in ("pml", "pmc"):
        one = getattr(bl, kind)(bl.uniform(UNIT) * gaussian())(0.3)
        two = getattr(bl, kind)(prior * gaussian())(0.3)
        assert agree(one, two, 1e-9)


def below(z, sigma=0.5):
    """P(Y <= z): the integral of the marginal, by that of the normal distribution function."""

    def primitive(u):
        return u * special.ndtr(u) + np.exp(-u * u / 2) / np.sqrt(2 * np.pi)

    return sigma * (primitive(z / sigma) - primitive((z - 1) / sigma))


@pytest.mark.truths
@pytest.mark.parametrize(("place", "kind"), [(0, "pml"), (1, "pmc")])
def test_the_law_against_the_closed_form(place, kind):
    """Both leakages are symmetric about 1/2 and grow away from it: one crossing a side."""
    leak = getattr(bl, kind)(bl.uniform(UNIT) * gaussian())

    def truth_at(y):
        return float(truths(np.float64(y))[place])

    for t in (truth_at(0.2), truth_at(-0.4), truth_at(-1.0)):
        t = round(t, 3)
        crossing = optimize.brentq(lambda y, t=t: truth_at(y) - t, -4, 0.5, xtol=1e-15)
        found = leak.tail(t)
        assert abs(found.value - 2 * below(crossing)) <= found.width / 2 + 1e-13, (t, found)
    mean = integrate.quad(
        lambda y: 2 * float(marginal(y)) * truth_at(y), -6, 0.5, points=[0.0], epsabs=1e-12
    )[0]
    found = leak.mean()
    assert abs(found.value - mean) <= found.width / 2 + 1e-9, (found, mean)
    level = 1 - 2 * below(-0.5)
    found = leak.quantile(level)
    assert abs(found.value - truth_at(-0.5)) <= found.width / 2 + 1e-12, (found, truth_at(-0.5))


def test_a_support_that_moves_with_the_secret():
    """Y uniform on (x, x + 1): every y excludes secrets, PMC is infinite; PML = -log f_Y."""
    mech = bl.Mechanism(
        lambda y, x: np.where((y > x) & (y < x + 1), 1.0, 0.0),
        secret=UNIT,
        outcome=LINE,
        breaks=(0.0, 1.0, 2.0),
    )
    joint = bl.uniform(UNIT) * mech
    for y, mass in ((0.25, 0.25), (0.5, 0.5), (1.5, 0.5), (1.75, 0.25)):
        bound = bl.pml(joint)(y)
        assert abs(bound.value - np.log(1 / mass)) <= bound.width / 2 + 1e-6, (y, bound)
        cost = bl.pmc(joint)(y)
        assert cost.upper == np.inf or cost.value > 20, (y, cost)
    outside = bl.pml(joint)(5.0)
    assert outside.upper <= 1e-12 and any("outside the support" in a for a in outside.assumptions)


@pytest.mark.cases("slow", "1.0")
@pytest.mark.cases("truths", "0.3")
@pytest.mark.parametrize("b", [0.3, 1.0])
def test_laplace_noise_is_within_its_ldp(b):
    """|y - x| / b moves by at most 1 / b: PML and PMC are at most 1 / b (journal, Theorem 7)."""
    mech = bl.Mechanism(lambda y, x: np.exp(-abs(y - x) / b) / (2 * b), secret=UNIT, outcome=LINE)
    joint = bl.uniform(UNIT) * mech
    # far out on either side every outcome leaks the same: PML = -log E e^{-(1 - X) / b}
    far = -np.log(b * (1 - np.exp(-1 / b)))
    for y in (-3.0, 4.0):
        assert agree(bl.pml(joint)(y), bl.pml(joint)(float(1 - y)), 1e-9)
        assert abs(bl.pml(joint)(y).value - far) <= bl.pml(joint)(y).width / 2 + 1e-9
    for kind in (bl.pml, bl.pmc):
        assert kind(joint).sup().lower <= 1 / b


def test_scipy_and_written_densities_agree():
    scipy = bl.Mechanism.from_scipy(lambda x: stats.norm(x, 0.5), secret=UNIT, outcome=LINE)
    for kind in (bl.pml, bl.pmc):
        one, two = kind(bl.uniform(UNIT) * gaussian()), kind(bl.uniform(UNIT) * scipy)
        assert agree_at(one, two, PLACES, PLACES)
        assert not one(0.3).proved and not two(0.3).proved
