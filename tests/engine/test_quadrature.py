"""Integrals and level sets against closed forms, most of them from mpmath at 40 digits."""

import mpmath
import numpy as np
import pytest
from scipy import special

from borel.numerics.float64.maximisation import Axis
from borel.numerics.float64.quadrature import log_integral

UNIT, LINE, HALF = Axis(0, 1), Axis(-np.inf, np.inf), Axis(0, np.inf)
NO_POINTS = np.full((1, 1, 1), np.nan)


def exactly(function, *columns):
    """Return floats of an mpmath expression at 40 digits, elementwise."""
    with mpmath.workdps(40):
        rows = zip(*columns, strict=True)
        return np.array([float(function(*map(mpmath.mpf, map(float, row)))) for row in rows])


def log_laplace_mass(c, b):
    """Log of the integral of exp(-|x - c| / b) over (0, 1)."""
    return mpmath.log(b * (2 - mpmath.exp(-c / b) - mpmath.exp(-(1 - c) / b)))


def log_normal_mass(y, lower, upper, sigma):
    """Log of the integral of the density of N(y, sigma) over an interval, from its nearer tail."""
    r2 = mpmath.sqrt(2) * sigma
    if y > upper:
        y, lower, upper = -y, -upper, -lower
    return mpmath.log((mpmath.erfc((lower - y) / r2) - mpmath.erfc((upper - y) / r2)) / 2)


def agrees(found, truth, within):
    """Say if the integrals are relatively close, and the error estimates honest."""
    off = np.abs(np.expm1(found.log_value - truth))
    return (off <= within).all() and (off <= 10 * found.relative_error).all()


def log_normal(x, mu, sigma):
    return -0.5 * ((x - mu) / sigma) ** 2 - np.log(sigma * np.sqrt(2 * np.pi))


@pytest.mark.parametrize(
    ("b", "breaks", "within"),
    [(0.1, (), 1e-12), (1e-3, (0.25, 0.5), 1e-11), (1e-5, (), 1e-10), (1e-8, (), 1e-7)],
)
def test_laplace_noise(b, breaks, within):
    y = np.linspace(0.0005, 0.9995, 200)
    found = log_integral(lambda i, x: -np.abs(x[0] - y[i]) / b, 200, [Axis(0, 1, breaks)])
    assert agrees(found, exactly(log_laplace_mass, y, np.full(200, b)), within)
    assert found.converged.all() or b < 1e-6


@pytest.mark.parametrize("b", [1e-6, 1e-8])
def test_a_spike_hidden_by_a_background(b):
    """Only the ladder around the point given can see mass of width b above a flat density."""
    c = np.array([0.123, 0.5, 0.87654321])
    found = log_integral(
        lambda i, x: np.logaddexp(0, -np.log(b) - np.abs(x[0] - c[i]) / b),
        3,
        [UNIT],
        points=c[:, None, None],
    )
    assert agrees(found, np.log(3), 1e-7)


def test_gaussian_noise_down_to_underflow():
    y = np.linspace(-45, 45, 200)
    found = log_integral(lambda i, x: log_normal(x[0], y[i], 1), 200, [Axis(-1, 1)])
    one = np.ones(200)
    assert agrees(found, exactly(log_normal_mass, y, -one, one, one), 1e-10)
    assert found.log_value.min() < -960 and found.converged.all()


@pytest.mark.parametrize("sigma", [1e-3, 1.0, 100.0])
def test_gaussian_prior_and_noise_on_the_reals(sigma):
    y = np.linspace(0, 45, 200)
    found = log_integral(
        lambda i, x: log_normal(x[0], 0, 1) + log_normal(y[i], x[0], sigma), 200, [LINE]
    )
    assert agrees(found, log_normal(y, 0, np.sqrt(1 + sigma**2)), 1e-9)


def test_clayton_kernel_is_normalised():
    y = np.geomspace(1e-6, 0.999, 200)
    found = log_integral(
        lambda i, x: np.log(0.1 + 1.8 * (x[0] * y[i]) ** -2.0 * (1 / x[0] + 1 / y[i] - 1) ** -3.0),
        200,
        [UNIT],
    )
    assert agrees(found, 0, 1e-10) and found.converged.all()


def test_cauchy_and_heavier_tails():
    y = np.linspace(0, 45, 100)
    noise = log_integral(
        lambda i, x: -np.log1p((x[0] - y[i]) ** 2) - np.log1p(x[0] ** 2), 100, [LINE]
    )
    # Cauchy(0, 1) * Cauchy(0, 1) = Cauchy(0, 2)
    assert agrees(noise, np.log(2 * np.pi / (4 + y**2)), 1e-10)
    power = np.array([1.05, 1.5, 3.0])
    tail = log_integral(lambda i, x: -power[i] * np.log(x[0]), 3, [Axis(1, np.inf)])
    assert agrees(tail, -np.log(power - 1), 1e-9)


def test_endpoint_singularities():
    arcsine = log_integral(lambda i, x: -0.5 * np.log(x[0] * (1 - x[0])) + 0 * i, 2, [UNIT])
    assert agrees(arcsine, np.log(np.pi), 1e-10)
    alpha = np.array([0.05, 0.5, 0.9])
    at_zero = log_integral(lambda i, x: (alpha[i] - 1) * np.log(x[0]), 3, [UNIT])
    assert agrees(at_zero, -np.log(alpha), 1e-9)
    logarithm = log_integral(lambda i, x: np.log(-np.log(x[0])) + 0 * i, 2, [UNIT])
    assert agrees(logarithm, 0, 1e-10)


@pytest.mark.parametrize("axis", [UNIT, Axis(1, np.inf), Axis(-1, 1, (0.0,))])
def test_infinite_integrals(axis):
    found = log_integral(lambda i, x: -np.log(np.abs(x[0])) + 0 * i, 2, [axis])
    assert np.isposinf(found.log_value).all() and not found.converged.any()


@pytest.mark.parametrize("breaks", [(), (0.5, 1 / 3)])
@pytest.mark.parametrize("point", [np.nan, 0.5, 1 / 3])
def test_null_sets_change_nothing(breaks, point):
    special_points = [0.0, 0.25, 1 / 3, 0.5, 1.0]
    found = log_integral(
        lambda i, x: np.where(np.isin(x[0], special_points), 1e6, 0.0 * i),
        2,
        [Axis(0, 1, breaks)],
        points=np.full((2, 1, 1), point),
    )
    assert agrees(found, 0, 1e-10)


def test_zero_and_nan():
    zero = log_integral(lambda i, x: np.full(x[0].shape, -np.inf), 2, [UNIT])
    assert np.isneginf(zero.log_value).all()
    broken = log_integral(
        lambda i, x: np.where((x[0] < 0.5) & (i == 1), np.nan, 0.0), 2, [Axis(0, 1, (0.5,))]
    )
    np.testing.assert_array_equal(broken.undefined, [False, True])
    np.testing.assert_allclose(broken.log_value, np.log([1, 0.5]), atol=1e-10)


def test_every_problem_of_a_batch_is_its_own():
    c = np.array([-1e5, 0.0, 1e5, -700.0])
    found = log_integral(lambda i, x: c[i] - x[0], 4, [HALF])
    assert (np.abs(found.log_value - c) <= 1e-10 + 1e-15 * np.abs(c)).all()
    single = [log_integral(lambda i, x, k=k: c[k] - x[0], 1, [HALF]).log_value[0] for k in range(4)]
    np.testing.assert_allclose(found.log_value, single, rtol=1e-14, atol=1e-13)


def test_budget_is_kept_and_said():
    found = log_integral(
        lambda i, x: np.sin(1e6 * x[0]) + 0 * i, 1, [UNIT], points=NO_POINTS, max_evaluations=3000
    )
    assert not found.converged.any() and found.evaluations < 10_000


def random_integrals(rng, n):
    """Yield (name, logf, axis, log integral) of n random problems each, closed forms in floats."""
    c, w = rng.random(n), rng.random(n)
    b, wide = 10 ** rng.uniform(-7, 1, n), 10 ** rng.uniform(-2, 1, n)
    mu, s = rng.normal(0, 20, n), 10 ** rng.uniform(-3, 2, n)
    p, q = 10 ** rng.uniform(-0.7, 1.5, (2, n))

    def laplace(c, b):
        return b * (-np.expm1(-c / b) - np.expm1(-(1 - c) / b))

    yield "spike", lambda i, x: -np.abs(x - c[i]) / b[i], UNIT, np.log(laplace(c, b))
    bell = special.ndtr((1 - c) / b) - special.ndtr(-c / b)
    yield (
        "bell",
        lambda i, x: -0.5 * ((x - c[i]) / b[i]) ** 2,
        UNIT,
        np.log(b * np.sqrt(2 * np.pi) * bell),
    )
    yield (
        "beta",
        lambda i, x: (p[i] - 1) * np.log(x) + (q[i] - 1) * np.log1p(-x),
        UNIT,
        special.betaln(p, q),
    )
    yield "cauchy", lambda i, x: -np.log1p(((x - mu[i]) / s[i]) ** 2), LINE, np.log(np.pi * s)
    yield "line", lambda i, x: -np.abs(x - mu[i]) / s[i], LINE, np.log(2 * s)
    yield "tent", lambda i, x: np.log(np.abs(x - c[i])), UNIT, np.log((c**2 + (1 - c) ** 2) / 2)
    yield ("step", lambda i, x: np.log(np.where(x < c[i], w[i], 1)), UNIT, np.log1p(c * (w - 1)))
    yield (
        "mixture",
        lambda i, x: np.log(0.5 + np.exp(-np.abs(x - c[i]) / wide[i])),
        UNIT,
        np.log(0.5 + laplace(c, wide)),
    )
    yield (
        "two",
        lambda i, x: np.logaddexp(-np.abs(x - c[i]) / wide[i], -np.abs(x - w[i]) / wide[i]),
        UNIT,
        np.log(laplace(c, wide) + laplace(w, wide)),
    )
    yield "gamma", lambda i, x: (p[i] - 1) * np.log(x) - x, HALF, special.gammaln(p)


def test_errors_are_honest_on_thousands_of_integrals():
    n, total = 200, 0
    for name, logf, axis, truth in random_integrals(np.random.default_rng(2024), n):
        for points in (None, np.full((n, 1, 1), np.nan)):
            if points is not None and name in ("spike", "bell", "cauchy", "line"):
                continue  # unseen spikes cannot be known
            found = log_integral(lambda i, x, f=logf: f(i, x[0]), n, [axis], points=points)
            off = np.abs(np.expm1(found.log_value - truth))
            assert (off <= 10 * found.relative_error).all(), name
            assert np.median(off) < 1e-9, name
            total += n
    assert total >= 3000


@pytest.mark.few(1)
@pytest.mark.cases("slow", "3-0.3")
@pytest.mark.parametrize(("d", "sigma"), [(2, 1.0), (2, 0.1), (2, 0.003), (3, 1.0), (3, 0.3)])
def test_gaussian_noise_on_products_of_uniforms(d, sigma):
    n = 10
    y = np.random.default_rng(d).uniform(-0.2, 1.2, (n, d))
    found = log_integral(
        lambda i, x: sum(log_normal(x[k], y[i, k], sigma) for k in range(d)),
        n,
        [UNIT] * d,
        rtol=1e-7,
    )
    one = np.ones(n)
    truth = sum(exactly(log_normal_mass, y[:, k], 0 * one, one, sigma * one) for k in range(d))
    assert agrees(found, truth, 1e-7) and found.converged.all()


@pytest.mark.truths
def test_errors_are_honest_in_two_dimensions():
    rng = np.random.default_rng(7)
    n = 100
    c, b = rng.random((n, 2)), 10 ** rng.uniform(-3, 1, (n, 2))
    sides = np.log(b) + np.log(-np.expm1(-c / b) - np.expm1(-(1 - c) / b))
    product = log_integral(
        lambda i, x: sum(-np.abs(x[k] - c[i, k]) / b[i, k] for k in range(2)),
        n,
        [UNIT] * 2,
        rtol=1e-6,
    )
    assert agrees(product, sides.sum(axis=1), 1e-6)
    shift, width = c[:, 0], 0.05 + b[:, 1]
    ridge = log_integral(
        lambda i, x: -np.abs(x[0] - x[1] - shift[i]) / width[i], n, [UNIT] * 2, rtol=1e-5
    )

    def closed(s, w):
        # the difference of two uniforms has the triangular density 1 - |t|
        left = mpmath.quad(lambda t: (1 - abs(t)) * mpmath.exp(-abs(t - s) / w), [-1, 0, s, 1])
        return mpmath.log(left)

    assert agrees(ridge, exactly(closed, shift, width), 1e-4)


def test_kinks_singularities_and_tails_in_two_dimensions():
    y = np.random.default_rng(5).random((10, 2))
    b = 1e-5
    spike = log_integral(
        lambda i, x: -(np.abs(x[0] - y[i, 0]) + np.abs(x[1] - y[i, 1])) / b,
        10,
        [UNIT] * 2,
        rtol=1e-7,
    )
    truth = sum(exactly(log_laplace_mass, y[:, k], np.full(10, b)) for k in range(2))
    assert agrees(spike, truth, 1e-7)
    arcsine = log_integral(
        lambda i, x: -0.5 * np.log(x[0] * (1 - x[0]) * x[1] * (1 - x[1])) + 0 * i,
        1,
        [UNIT] * 2,
        rtol=1e-7,
    )
    assert agrees(arcsine, 2 * np.log(np.pi), 1e-7)
    tails = log_integral(
        lambda i, x: -x[0] - np.log1p(x[1] ** 2) + 0 * i, 1, [HALF, LINE], rtol=1e-7
    )
    assert agrees(tails, np.log(np.pi), 1e-7)
    ridge = log_integral(
        lambda i, x: -np.abs(x[0] + x[1] - 1) / 0.1 + 0 * i, 1, [UNIT] * 2, rtol=1e-6
    )
    assert agrees(ridge, np.log(0.2 - 0.02 * (1 - np.exp(-10))), 1e-6)
