"""Laws of noise on a query of several coordinates, against integrals over the law of the query."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import borel as bl
from borel.engine import engine_for
from borel.engine.kernels.scalar_statistics import summary

pytestmark = pytest.mark.usefixtures("no_sums")

UNIT = bl.Interval(0, 1)
INF = math.inf


def gauss(g):
    return lambda y, x: np.exp(-((y - g(x)) ** 2) / 2) / np.sqrt(2 * np.pi)


def laplace(g):
    return lambda y, x: np.exp(-np.abs(y - g(x))) / 2


def joint(kernel, secret):
    return bl.uniform(secret) * bl.Mechanism(kernel, secret=secret, outcome=bl.Reals())


def mean(x):
    return sum(x) / len(x)


# -- the truth: noise of variance 1 on the mean of uniform numbers ----------------------------


def irwin_hall(n, m):
    """Return the density of the mean of n uniform numbers."""
    s = n * m
    terms = ((-1) ** k * mpmath.binomial(n, k) * (s - k) ** (n - 1) for k in range(int(s) + 1))
    return n * mpmath.fsum(terms) / mpmath.factorial(n - 1)


class Truth:
    """Figures of Gaussian noise on a mean: the leakage rises with the distance of y from 1/2."""

    def __init__(self, n):
        self.n, self.cuts = n, [mpf(k) / n for k in range(n + 1)]

    def over_means(self, what):
        return mpmath.quad(lambda m: irwin_hall(self.n, m) * what(m), self.cuts)

    def f_y(self, y):
        return self.over_means(lambda m: mpmath.npdf(y - m))

    def pml(self, y):
        return mpmath.log(mpmath.npdf(max(y - 1, 0)) / self.f_y(y))

    def pmc(self, y):
        return mpmath.log(self.f_y(y) / mpmath.npdf(y))  # at 0, for y > 1/2

    def tail(self, leakage, t, start):
        y = mpmath.findroot(lambda y: leakage(y) - t, start)
        return 2 * self.over_means(lambda m: mpmath.ncdf(m - y))

    def mean(self, leakage):
        cuts = [mpf(1) / 2, 1, 2, 4, 8, 12]  # beyond them is less than 1e-25
        return 2 * mpmath.quad(lambda y: self.f_y(y) * leakage(y), cuts)


@pytest.fixture(scope="module", params=[2, 3])
def two(request):
    with mpmath.workdps(25):
        return Truth(request.param), joint(gauss(mean), UNIT**request.param)


@pytest.mark.slow
@pytest.mark.cases("truths", "3")
def test_tails(two):
    truth, of = two
    with mpmath.workdps(25):
        for figure, leakage, t, start in (
            (bl.pml(of), truth.pml, 0.25, 1.2),
            (bl.pmc(of), truth.pmc, 0.5, 1.2),
        ):
            found = figure.tail(t)
            assert found.status == "certified" and found.width <= 1e-8
            assert found.lower <= truth.tail(leakage, t, start) <= found.upper


@pytest.mark.cases("slow", "3", "2")
def test_a_quantile(two):
    truth, of = two
    found = bl.pml(of).quantile(0.5)
    assert found.width <= 1e-8
    with mpmath.workdps(25):
        assert truth.tail(truth.pml, mpf(found.upper), 1.2) <= 0.5
        assert truth.tail(truth.pml, mpf(found.lower), 1.2) >= 0.5


@pytest.mark.truths
def test_means(two):
    truth, of = two
    with mpmath.workdps(20):
        for found, leakage in ((bl.pml(of).mean(), truth.pml), (bl.pmc(of).mean(), truth.pmc)):
            assert found.status == "certified" and found.width <= 1e-8
            assert found.lower <= truth.mean(leakage) <= found.upper


@pytest.mark.cases("slow", "3")
def test_maximal_leakages(two):
    _, of = two
    power, cost = bl.pml(of).exp_mean(), bl.maximal_cost_leakage(of)
    assert power.width <= 2e-8 and cost.width <= 1e-8
    with mpmath.workdps(30):  # the largest f is that of a mean within [0, 1]; the least, at an end
        assert power.lower <= 1 + 1 / mpmath.sqrt(2 * mpmath.pi) <= power.upper
        assert cost.lower <= -mpmath.log(2 * mpmath.ncdf(-mpf(1) / 2)) <= cost.upper


def test_suprema_are_infinite(two):
    _, of = two
    for found in (bl.pml(of).sup(), bl.pmc(of).sup()):
        assert found.lower == INF and found.status == "certified" and found.witness


# -- which kernels ---------------------------------------------------------------------------

BOX = bl.Interval(1, 2) ** 2
AROUND = bl.Interval(-1, 1) ** 2
QUERIES = {
    "weights": (lambda x: 0.1 * x[0] + 0.7 * x[1], UNIT**2, True),
    "a difference": (lambda x: x[0] - 2 * x[1], UNIT**2, True),
    "a product": (lambda x: x[0] * x[1], BOX, True),
    "one of two": (lambda x: np.exp(x[1]) + 0 * x[0], UNIT**2, True),
    "a saddle": (lambda x: x[0] * x[1], AROUND, True),
    "a distance": (lambda x: (x[0] - 0.3) ** 2 + (x[1] - 0.6) ** 2, UNIT**2, True),
    "a kink": (lambda x: np.abs(x[0] * x[1]), AROUND, False),
    "flat on a set": (lambda x: np.minimum(x[0] + x[1], 1.0), UNIT**2, False),
    "steps": (lambda x: np.where(x[0] > x[1], 1.0, 0.0), UNIT**2, False),
    "a pole": (lambda x: 1 / (x[0] + x[1]), UNIT**2, False),
}


@pytest.mark.few(2)
@pytest.mark.cases(
    "truths",
    "pmc-a kink",
    "pmc-a pole",
    "pmc-flat on a set",
    "pmc-steps",
    "pml-a kink",
    "pml-a pole",
    "pml-flat on a set",
    "pml-steps",
)
@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_bands_hold_at_their_outcomes(name, kind):
    g, secret, one = QUERIES[name]
    of = joint(gauss(g), secret)
    engine = engine_for(of)
    assert (summary(engine.surface) is not None) == one
    part, rng = engine.partition(kind), np.random.default_rng(3)
    ys = rng.uniform(-2, 4, 3)
    with bl.options(budget=0.5):
        for y in ys:
            k = int(np.flatnonzero((part.low < y) & (y < part.high))[0])
            at = getattr(bl, kind)(of)(float(y))  # by branch and bound over both coordinates
            assert at.lower <= part.upper[k] and part.lower[k] <= at.upper


AT_FACES = {  # almost everywhere g is x0 + x1, but for a shift
    "inwards": lambda x: x[0] + x[1] - 0.5 * (x[0] >= 1),
    "outwards": lambda x: x[0] + x[1] + (x[0] > 0),
    "a corner": lambda x: np.where(x[0] + x[1] <= 0, -3.0, x[0] + x[1]),
    "a sign": lambda x: x[0] + x[1] + np.sign(x[1]),
    "a power of 0": lambda x: x[0] + x[1] - 0.5 * np.power(0.0, x[0]),
    "both faces": lambda x: (x[0] + x[1]) * (1 + 0.5 * (x[0] == 0)) - 3 * (x[0] <= 0),
}


@pytest.mark.truths
@pytest.mark.parametrize("name", AT_FACES)
def test_faces_and_corners_are_null_sets(name):
    """E e^PML is the integral of sup_x f: that of noise on a sum in an interval of length 2."""
    of = joint(laplace(AT_FACES[name]), UNIT**2)
    with bl.options(budget=3):
        power, cost = bl.pml(of).exp_mean(), bl.maximal_cost_leakage(of)
        mean = bl.pml(of).mean()
    assert power.lower <= 2 <= power.upper
    assert cost.lower <= 1 <= cost.upper
    assert mean.lower <= 0.663208 <= mean.upper


def test_the_ends_of_a_summary():
    weights = Fraction(0.1), Fraction(0.7), Fraction(0.3)
    of = joint(laplace(lambda x: 0.1 * x[0] + 0.7 * x[1] - 0.3 * x[2]), UNIT**3)
    inside, cover, *_ = summary(engine_for(of).surface)
    least, most = -weights[2], weights[0] + weights[1]
    low, high = (Fraction(float(v.secret.lower[0])) for v in (cover, inside))
    assert low <= least <= high and high - low < 1e-15
    low, high = (Fraction(float(v.secret.upper[0])) for v in (inside, cover))
    assert low <= most <= high and high - low < 1e-15


def test_the_ends_of_what_is_not_monotone():
    """They are reached at the values of the graph's own numbers, where the search was close."""
    queries = {
        "a saddle": (AROUND, -1, 1),
        "a distance": (UNIT**2, 0, (1 - Fraction(0.3)) ** 2 + Fraction(0.6) ** 2),
    }
    for name, (secret, least, most) in queries.items():
        inside, cover, *_ = summary(engine_for(joint(gauss(QUERIES[name][0]), secret)).surface)
        low, high = (Fraction(float(v.secret.lower[0])) for v in (cover, inside))
        assert low <= least <= high and high - low < 1e-15
        low, high = (Fraction(float(v.secret.upper[0])) for v in (inside, cover))
        assert low <= most <= high and high - low < 1e-15


def test_a_prior_that_may_vanish_has_none():
    mech = bl.Mechanism(gauss(mean), secret=UNIT**2, outcome=bl.Reals())
    half = bl.Measure(lambda x: np.where(x[0] < 0.5, 2.0, 0.0) + 0 * x[1], on=UNIT**2)
    assert summary(engine_for(half * mech).surface) is None
    # that it is positive almost everywhere may be seen
    some = bl.Measure(lambda x: 4 * x[0] * x[1], on=UNIT**2)
    assert summary(engine_for(some * mech).surface) is not None


@pytest.mark.truths
def test_a_kernel_of_two_numbers_is_bounded_at_fixed_secrets():
    """The leakage of a location and a scale is bounded away from 0, which needs paths."""

    def kernel(y, x):
        scale = 1 + x[1]
        return np.exp(-(((y - x[0]) / scale) ** 2) / 2) / (np.sqrt(2 * np.pi) * scale)

    of = joint(kernel, UNIT**2)
    assert summary(engine_for(of).surface) is None
    with bl.options(budget=10):
        found = bl.pml(of).tail(0.25)
        assert 0.5 < found.lower <= 1 == found.upper  # it is everywhere more: see below
        part = engine_for(of).partition("pml")
        for y in (-1.0, 0.25, 0.5, 1.5, 3.0):
            k = int(np.flatnonzero((part.low <= y) & (y <= part.high))[0])
            at = bl.pml(of)(y)
            assert part.lower[k] <= at.upper and at.lower <= part.upper[k]
            assert at.lower > 0.25
