"""The envelope of a continuous secret: by its law, and by boxes of secrets.

Truths are the mean of the worst outcomes where no more can be had (uniform secret, Gaussian noise),
and programmes of points of the secret and bins of the outcome, solved by scipy: these are below.
"""

from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog

import borel as bl

UNIT = bl.Interval(0, 1)


@pytest.fixture(autouse=True)
def quick():
    with bl.options(budget=5):
        yield


def laplace():
    return bl.uniform(UNIT) * bl.mechanisms.laplace(b=1.0, secret=UNIT)


@pytest.mark.slow
def test_bounds_of_laplace_noise():
    """Between absorption and tail leakage, by hand: with outcomes up to c from an end, E S = 1 + c.

    The envelope itself is between 0.3797 and 0.3847.
    """
    joint = laplace()
    found = bl.envelope(joint)(F(9, 10))
    assert found.status == "certified"
    edge = lambda c: 1 / (2 - mp.exp(-c) - mp.exp(c - 1))  # noqa: E731
    most = mp.findroot(lambda c: 2 * c + mp.exp(-c) - mp.exp(c - 1) - mp.mpf(9) / 10, 0.3)
    least = mp.findroot(lambda c: 1 + c - mp.mpf(9) / 10 * edge(c), 0.2)
    assert mp.log(edge(least)) - 1e-6 < found.lower <= 0.3847 and 0.3797 <= found.upper
    assert found.upper < mp.log((1 + most) / mp.mpf(0.9)) + 1e-8 < bl.pml(joint).sup().lower
    assert bl.pml(joint).quantile(F(1, 10)).upper < found.lower


def test_laplace_noise_on_a_sum_of_two_secrets():
    """Of the outcomes (1 - 1/e)^2 lie beyond the secrets, and have the supremum of the leakage."""
    joint = bl.uniform(UNIT**2) * bl.Mechanism(
        lambda y, x: np.exp(-abs(y - (x[0] + x[1]))) / 2, secret=UNIT**2, outcome=bl.Reals()
    )
    found, truth = bl.envelope(joint)(F(39, 100)), -2 * mp.log(1 - mp.exp(-1))
    assert found.lower <= truth <= found.upper <= found.lower + 1e-7
    assert found.status == "certified"


@pytest.mark.truths
def test_the_envelope_falls_and_stays_between_its_bounds():
    env = bl.envelope(laplace())
    found = [env(F(k, 10)) for k in (1, 4, 7, 10)]
    lows = [b.lower for b in found]
    assert lows == sorted(lows, reverse=True)
    assert all(b.upper <= env(0).upper + 1e-6 for b in found)
    assert env.delta(0.2).upper == 1.0 and env.delta(0.5).upper == 0.0


@pytest.mark.truths
def test_where_maximal_leakage_is_infinite_it_is_too():
    for noise in (bl.mechanisms.gaussian(sigma=1.0), bl.mechanisms.laplace(b=1.0)):
        for delta in (F(1, 10), F(9, 10), 1):
            found = bl.envelope(bl.normal() * noise)(delta)
            assert found.proved and found.lower == float("inf")


@pytest.mark.truths
def test_what_tells_nothing_keeps_to_theorem_3():
    """Most of Y lies far out and tells nothing: the lower end must keep to Theorem 3."""
    near = lambda y, x: np.exp(-8 * (y - x) ** 2) * 2 / np.sqrt(np.pi / 2)  # noqa: E731
    far = lambda y: np.exp(-((y - 60) ** 2) / 2) / np.sqrt(2 * np.pi)  # noqa: E731
    secret = bl.Interval(-1, 1)
    mech = bl.Mechanism(
        lambda y, x: 0.05 * near(y, x) + 0.95 * far(y), secret=secret, outcome=bl.Reals()
    )
    env = bl.envelope(bl.uniform(secret) * mech)
    # sup_x of the near part is its mode on (-1, 1), and falls off beyond: E e^PML by hand
    mean = 0.95 + 0.05 * (2 * 2 / np.sqrt(np.pi / 2) + 1)
    for delta in (F(9, 10), F(99, 100)):
        assert env(delta).lower <= np.log(mean / float(delta))


@pytest.mark.truths
@pytest.mark.parametrize("delta", [F(1, 100), F(1, 5), 0.5, F(63, 100)])
@pytest.mark.parametrize("of", ["pml", "pmc"])
def test_a_supremum_that_many_outcomes_have_is_the_envelope(of, delta):
    """Uniform secret, Laplace noise: outcomes beyond the secrets, of mass 1 - 1/e."""
    joint = bl.uniform(bl.Interval(0, 1)) * bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x)) / 2, secret=bl.Interval(0, 1), outcome=bl.Reals()
    )
    truth = -mp.log(1 - mp.exp(-1)) if of == "pml" else mp.log(mp.e - 1)
    found = bl.envelope(joint, of=of)(delta)
    assert found.lower <= truth <= found.upper and found.width < 1e-8
    assert found.status == "certified"
    with pytest.raises(bl.NotYet, match=r"a rule for pm[lc]\.envelope"):
        found.certify()
    mass = bl.envelope(joint, of=of).delta(float(truth) - 1e-6)
    assert mass.lower <= 1 and mass.lower > 1 - mp.exp(-1) - mp.mpf(10) ** -6


@pytest.mark.truths
@pytest.mark.parametrize("of", ["pml", "pmc"])
def test_the_law_of_the_leakage_is_below_the_envelope(of):
    joint = bl.beta(alpha=2, beta=5) * bl.Mechanism(
        lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi),
        secret=bl.Interval(0, 1),
        outcome=bl.Reals(),
    )
    envelope, leakage = bl.envelope(joint, of=of), getattr(bl, of)(joint)
    with bl.options(budget=10):
        for delta in (F(1, 20), F(1, 2), F(9, 10)):
            assert envelope(delta).upper >= leakage.quantile(1 - delta).lower
            assert envelope(delta).lower >= leakage.quantile(1 - delta).lower - 1e-7
        for t in (0.25, 0.5):
            assert envelope.delta(t).lower >= leakage.tail(t, closed=True).lower - 1e-7
        whole = envelope(1)  # the least leakage of an outcome is one that all of them have
        assert whole.lower <= whole.upper


def worst_mean(sigma, delta):
    """Log of the mean of e^PML over the worst outcomes: secret on [0, 1] and Gaussian noise."""
    with mp.workdps(40):
        sigma, delta = mp.mpf(sigma), mp.mpf(delta)
        g = lambda u: u * mp.ncdf(u) + mp.npdf(u)  # noqa: E731
        mass = lambda s: 2 * sigma * (g(s / sigma) - g((s - 1) / sigma)) - delta  # noqa: E731
        s = mp.findroot(mass, (mp.mpf(-4), mp.mpf(0)), solver="anderson", tol=1e-60)
        assert s <= 0  # outcomes outside of [0, 1]
        return mp.log(2 * mp.ncdf(s / sigma) / delta)


@pytest.mark.truths
@pytest.mark.parametrize(("sigma", "delta"), [(1, 0.01), (1, 0.1), (1, 0.5), (0.25, 0.1)])
def test_gaussian_noise_on_a_uniform_secret(sigma, delta):
    """Outcomes below 0 tell of the secret 0, those above 1 of 1, and the mean of them is had."""
    joint = bl.uniform(UNIT) * bl.mechanisms.gaussian(sigma=sigma, secret=UNIT)
    with bl.options(budget=60):
        found, truth = bl.envelope(joint)(delta), worst_mean(sigma, delta)
    assert found.status == "certified"
    assert found.lower <= truth <= found.upper
    assert truth - found.lower < 1e-6 and found.width < 1e-2


@pytest.mark.truths
@pytest.mark.parametrize(
    ("b", "delta", "low", "high"), [(1.0, 0.9, 0.3797, 0.3847), (0.25, 0.5, 1.1642, 1.184)]
)
def test_laplace_noise_on_a_uniform_secret(b, delta, low, high):
    """The truth is between a programme of points, and that and half a step of them over b."""
    joint = bl.uniform(UNIT) * bl.mechanisms.laplace(b=b, secret=UNIT)
    with bl.options(budget=60):
        found = bl.envelope(joint)(delta)
    assert found.status == "certified" and found.width < 1e-2
    assert found.lower <= high and low <= found.upper


def tilted(x):
    """A kernel that is linear in x, which stretches over (0, 1): only its ends count."""
    return lambda y, z: 1 + (x(z) - 0.5) * (2 * y - 1)


@pytest.mark.cases("slow", "pmc", "pml")
@pytest.mark.parametrize("of", ["pml", "pmc"])
def test_what_the_ends_of_the_secret_tell_on_both_sides(of):
    """Y is uniform, and e^PML = 1 + |y - 1/2|: on both sides the mean of what is beyond is had."""
    mech = bl.Mechanism(tilted(lambda x: x), secret=UNIT, outcome=UNIT)
    env = bl.envelope(bl.uniform(UNIT) * mech, of=of)
    mean = mp.mpf(13) / 40  # of |y - 1/2| above 3/20
    truth = mp.log(1 + mean) if of == "pml" else -mp.log(1 - mean)
    found = env(F(7, 10))
    assert found.status == "certified"
    assert found.lower <= truth <= found.upper and found.width < 1e-4
    # (|v| + 1/2) / 2 = 47/100 for v = 11/25, and beyond it are 12/100
    mass = env.delta(ratio=F(147, 100) if of == "pml" else F(100, 53))
    assert F(mass.lower) <= F(12, 100) <= F(mass.upper) and mass.width < 1e-2


def of_bins(q, rows, delta, of="pml"):
    """The level of a mass for points of the secret and bins of the outcome, by bisection."""
    low, high = 1.0, float((rows / q).max() if of == "pml" else (q / rows).max())
    n, m = rows.shape
    while high - low > 1e-7:
        theta = (low + high) / 2
        gains = rows - theta * q if of == "pml" else q - theta * rows
        bad = np.zeros((n, n * m))
        for x in range(n):
            bad[x, x * m : (x + 1) * m] = -gains[x] * m
        found = linprog(
            -np.tile(q, n),
            A_ub=np.vstack([np.tile(np.eye(m), n), bad]),
            b_ub=np.r_[np.ones(m), np.zeros(n)],
        )
        low, high = (theta, high) if -found.fun >= delta else (low, theta)
    return np.log(low)


@pytest.mark.cases("slow", "pml")
@pytest.mark.parametrize("of", ["pml", "pmc"])
def test_three_outcomes_of_a_continuous_secret(of):
    """Two tosses of a coin of unknown bias, and the envelope of a grid of biases."""
    secret = bl.Interval(0.125, 0.5)
    masses = [lambda x: (1 - x) ** 2, lambda x: 2 * x * (1 - x), lambda x: x**2]
    mech = bl.Mechanism(
        lambda y, x: np.where(y < 1, masses[0](x), np.where(y < 2, masses[1](x), masses[2](x))),
        secret=secret,
        outcome=bl.Finite([0, 1, 2]),
    )
    grid = np.linspace(0.125, 0.5, 49)
    rows = np.array([[mass(x) for mass in masses] for x in grid])
    cube = lambda v: (0.5**v - 0.125**v) / v / 0.375  # noqa: E731  # the mean of x^(v - 1)
    q = np.array([1 - 2 * cube(2) + cube(3), 2 * cube(2) - 2 * cube(3), cube(3)])
    for delta in (0.2, 0.75):
        truth = of_bins(q, rows, delta, of)  # the ends and the points of the grid are enough
        found = bl.envelope(bl.uniform(secret) * mech, of=of)(delta)
        assert found.proved
        assert found.lower <= truth + 1e-4 and truth - 1e-6 <= found.upper and found.width < 1e-3


@pytest.mark.truths
def test_counts_of_a_continuous_rate():
    secret = bl.Interval(1, 3)
    mech = bl.Mechanism.from_scipy(
        lambda x: stats.poisson(x), secret=secret, outcome=bl.Integers(0, None)
    )
    grid, ys = np.linspace(1, 3, 33), np.arange(25)
    rows = stats.poisson(grid[:, None]).pmf(ys)
    # the mean of e^-x x^y / y! over (1, 3)
    q = (stats.gamma(ys + 1).cdf(3) - stats.gamma(ys + 1).cdf(1)) / 2
    with bl.options(budget=20):
        for delta in (0.1, 0.6):
            found, truth = bl.envelope(bl.uniform(secret) * mech)(delta), of_bins(q, rows, delta)
            assert truth - 1e-6 <= found.upper and found.lower <= truth + 2e-3
            assert found.proved and found.width < 1e-3


@pytest.mark.truths
@pytest.mark.parametrize("of", ["pml", "pmc"])
def test_a_prior_that_is_0_on_half_of_the_interval(of):
    """Secrets that are never sent do not count, though they would tell most."""
    wide = bl.Interval(0, 2)
    prior = bl.Measure(lambda x: np.where(x < 1, 1.0, 0.0), on=wide, breaks=[1.0])
    mech = bl.Mechanism(tilted(lambda x: x / 2), secret=wide, outcome=UNIT)
    edges = np.linspace(0, 1, 101)
    square = edges**2 - edges
    rows = np.diff([edges + (x / 2 - 0.5) * square for x in (0.0, 1.0)], axis=1)
    q = np.diff(edges + (0.25 - 0.5) * square)
    for delta in (0.3, 0.7):
        truth = of_bins(q, rows, delta, of)  # bins are below
        found = bl.envelope(prior * mech, of=of)(delta)
        assert truth - 1e-6 <= found.upper and found.lower <= truth + 1e-3
        assert found.proved and found.width < 1e-2


@pytest.mark.truths
def test_a_secret_with_an_atom():
    """An atom of mass 1/2 at 0, and else a uniform secret: points and atoms in one programme."""
    prior = bl.Measure(lambda x: 0.5 + 0 * x, on=bl.Mixed(UNIT, atoms=[0.0]), masses={0.0: 0.5})
    secret = bl.Mixed(UNIT, atoms=[0.0])
    joint = prior * bl.Mechanism(tilted(lambda x: x), secret=secret, outcome=UNIT)
    edges = np.linspace(0, 1, 101)
    square = edges**2 - edges
    rows = np.diff([edges + (x - 0.5) * square for x in (0.0, 1.0)], axis=1)
    q = np.diff(edges + (0.25 - 0.5) * square)
    found, truth = bl.envelope(joint)(0.4), of_bins(q, rows, 0.4)
    assert truth - 1e-6 <= found.upper and found.lower <= truth + 1e-3
    assert found.proved and found.width < 1e-2
