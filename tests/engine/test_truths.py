"""The oracles of `truths` against mpmath: quadrature and search at 34 digits, from definitions."""

import math
from fractions import Fraction as F

import flint
import mpmath as mp
import numpy as np
import pytest
from engine import truths

DIGITS = 34


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(DIGITS):
        yield


# -- references ----------------------------------------------------------------------------------


def agrees(pair, truth, slack=1e-20):
    """Say if a pair is two floats apart at most and encloses a truth known to within slack."""
    below, above = pair
    if math.isinf(truth):
        return below == above == truth
    off = mp.mpf(slack) * max(1, abs(truth))
    narrow = above <= math.nextafter(math.nextafter(below, math.inf), math.inf)
    return below <= above and narrow and below - off <= truth <= above + off


def number(value):
    """Return a parameter in mpmath, exactly."""
    return mp.mpf(value)


def largest(function, low, high):
    """Return the largest value on [low, high]: a grid, then golden sections about its best."""
    grid = mp.linspace(low, high, 40)
    best = max(range(40), key=lambda i: function(grid[i]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, 39)]
    found = function(grid[best])
    golden = (mp.sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(110):
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = function(right)
    return max(found, at_left, at_right)


def integral(function, points):
    """Integrate over the ordered points, none twice."""
    return mp.quad(function, sorted(set(points)))


def figures(prior, log_chance, low, high, points=()):
    """Return log f_Y, PML and PMC from a prior density and log f(y|x), x in [low, high].

    The conditional density enters relative to its peak, so that mpmath's absolute errors are
    relative ones; points are where the integrand is not smooth.
    """
    peak = largest(log_chance, low, high)
    inside = [p for p in points if low < p < high]
    ratio = integral(lambda x: prior(x) * mp.exp(log_chance(x) - peak), [low, *inside, high])
    bottom = -largest(lambda x: -log_chance(x), low, high)
    return mp.log(ratio) + peak, -mp.log(ratio), mp.log(ratio) + peak - bottom


def checked(case, y, reference, pmc=True):
    """Assert that a case has the figures of a reference at y."""
    log_density, pml, at_most = reference
    assert agrees(case.log_density(y), log_density)
    assert agrees(case.pml(y), pml)
    assert agrees(case.pmc(y), at_most if pmc else mp.inf)
    below, above = case.density(y)
    density = mp.exp(log_density)
    assert below * (1 - mp.mpf(10) ** -20) <= density <= above * (1 + mp.mpf(10) ** -20)
    assert above <= math.nextafter(math.nextafter(below, math.inf), math.inf)


# log f(n) of noise n, with its parameters
def gaussian(n, sigma):
    return -((n / sigma) ** 2) / 2 - mp.log(sigma * mp.sqrt(2 * mp.pi))


def laplace(n, b):
    return -abs(n) / b - mp.log(2 * b)


def cauchy(n, scale):
    return -mp.log(mp.pi * scale * (1 + (n / scale) ** 2))


def student(n, nu, scale):
    size = mp.log(mp.gamma((nu + 1) / 2) / (mp.sqrt(nu * mp.pi) * mp.gamma(nu / 2) * scale))
    return size - (nu + 1) / 2 * mp.log(1 + (n / scale) ** 2 / nu)


# -- floats around balls -------------------------------------------------------------------------


def test_floors_are_the_floats_next_below():
    rng = np.random.default_rng(1)
    for _ in range(2000):
        mantissa = int(rng.integers(-(2**62), 2**62)) >> int(rng.integers(0, 62))
        exponent = int(rng.integers(-1160, 1000))
        value, below = F(mantissa) * F(2) ** exponent, truths.floor(mantissa, exponent)
        if below == -math.inf:
            assert value < -F(math.nextafter(math.inf, 0))
        else:
            above = math.nextafter(below, math.inf)
            assert F(below) <= value and (above == math.inf or value < F(above))


def test_outwards_encloses_and_refuses_a_ball_without_bounds():
    with truths.precision():
        assert truths.outwards(flint.arb(0.1)) == (0.1, 0.1)
        assert truths.outwards(truths.ball(F(-1, 10))) == (-0.1, math.nextafter(-0.1, 0))
        assert truths.outwards(flint.arb(-50000).exp()) == (0.0, 5e-324)
        assert truths.outwards(flint.arb(50000).exp()) == (math.nextafter(math.inf, 0), math.inf)
        assert truths.outwards(math.inf) == (math.inf, math.inf)
        with pytest.raises(truths.Undecided):
            truths.outwards(flint.arb(0).log())


def test_precision_is_restored():
    before = flint.ctx.prec
    truths.Clayton(1, 0.5).pml(0.5)
    with pytest.raises(AssertionError):
        truths.Clayton(1, 0.5).density(2)
    with pytest.raises(ArithmeticError):
        truths.GaussianNormal(0, 0, 0).pml(0)
    assert flint.ctx.prec == before


def test_bits_are_added_where_400_cancel():
    tiny = 2.0**-600  # f_Y is flat over so short an interval, and PML about 0
    below, above = truths.CauchyUniform(1.0, 0.0, tiny).pml(3.0)
    truth = tiny * 3 / 10
    assert below <= above and abs(below - truth) <= 4 * math.ulp(truth)


def test_roots_at_a_middle_are_found():
    with truths.precision():
        for zero in (0.5, 0.4375, 0.25, 1 / 3, 0.0, 1.0):
            found = truths.root(lambda x, zero=zero: x - zero, flint.arb(0), flint.arb(1))
            assert found.contains(flint.arb(zero))
            assert truths.outwards(found)[1] - truths.outwards(found)[0] < 1e-15


# -- (i), (ii) -----------------------------------------------------------------------------------


@pytest.mark.few(11)
@pytest.mark.parametrize("theta", [0.25, 1, 3.5])
@pytest.mark.parametrize("y", [0.05, 0.5, 0.8, 0.97])
def test_clayton(theta, y):
    case = truths.Clayton(theta, 0.125)
    theta, s = number(theta), number(y)

    def chance(x):
        if x == 0:
            return number(0.125)
        power = -2 - 1 / theta
        copula = (1 + theta) * (x * s) ** (-1 - theta) * (x**-theta + s**-theta - 1) ** power
        return (1 + 7 * copula) / 8

    assert abs(integral(chance, [0, s / 2, s, 1]) - 1) < 1e-18
    assert case.density(y) == (1, 1) and case.log_density(y) == (0, 0)
    assert agrees(case.pml(y), mp.log(largest(chance, 0, 1)))
    assert agrees(case.pmc(y), mp.log(8))


def test_clayton_with_parameter_1_is_that_of_the_paper():
    for y, x in ((0.25, 0.375 / 2.25), (0.9, None)):
        # d/dx of x^-2 (1/x + 1/y - 1)^-3 is zero at 1/x = 2 (1/y - 1)
        x = 1 if x is None else 1 / (2 * (1 / mp.mpf(y) - 1))
        copula = 2 * (x * mp.mpf(y)) ** -2 * (1 / mp.mpf(x) + 1 / mp.mpf(y) - 1) ** -3
        assert agrees(truths.Clayton(1, 0).pml(y), mp.log(copula))
    assert truths.Clayton(1, 1).pml(0.3) == (0, 0)
    assert truths.Clayton(1, 0).pmc(0.3) == (math.inf, math.inf)


def test_countable():
    def chance(n, m):
        if m == 0:
            return F(1, 4) if n else F(3, 4)
        return F(1, 2 * 3**m) + (F(1, 2) if m == n else 0)

    case = truths.Countable()
    prior = [F(1, 2), *(F(1, 3**n) for n in range(1, 80))]
    for m in range(30):
        column = [chance(n, m) for n in range(80)]
        mass = sum(p * c for p, c in zip(prior, column, strict=True))
        assert agrees(case.density(m), mp.mpf(mass.numerator) / mass.denominator)
        for pair, ratio in (
            (case.log_density(m), mass),
            (case.pml(m), max(column) / mass),
            (case.pmc(m), mass / min(column)),
        ):
            assert agrees(pair, mp.log(ratio.numerator) - mp.log(ratio.denominator))
    log = mp.log
    rows = [
        (mp.mpf(1) / 2, log(1.5)),
        *((mp.mpf(3) ** -m, log((3**m + 1) / mp.mpf(2))) for m in range(1, 90)),
    ]
    assert agrees(case.pml_mean(), mp.fsum(p * v for p, v in rows))
    for t in (0.25, 0.5, 1.0, 2.0, 9.5):
        assert agrees(case.pml_tail(t), mp.fsum(p for p, v in rows if v > t))
    for s, m in ((0, 0), (0.5, 0), (F(1, 2) + F(1, 9**9), 1), (F(5, 6), 1), (0.95, 3)):
        assert agrees(case.pml_quantile(s), rows[m][1])
    assert case.pml_quantile(1) == case.pml_exp_mean() == (math.inf, math.inf)


# -- noise on an interval: (iii), (iv), (ix) -----------------------------------------------------

ON_INTERVALS = [
    (truths.LaplaceUniform(0.5, -1, 1), laplace, (0.0, 0.3, -1, 2.5)),
    (truths.LaplaceUniform(0.1, 0.25, 1.1), laplace, (0.3, 1.0, 1.1, -60)),
    (truths.LaplaceUniform(7.0, 0, 1), laplace, (0.5, 0.9, 60)),
    (truths.GaussianUniform(1, -1, 1), gaussian, (0, 0.7, -1, 4.5, 60)),
    (truths.GaussianUniform(0.3, -0.7, 0.7), gaussian, (0, 0.7, -9, 60)),
    (truths.GaussianUniform(2.5, 0.1, 3.0), gaussian, (1.7, -60, 30)),
    (truths.StudentUniform(3), student, (0.5, 0, 1.7, -60)),
    (truths.StudentUniform(0.7, 0.3, -1, 1), student, (0.1, 1, 1.7, 60)),
    (truths.StudentUniform(25.5, 0.2, 0, 1), student, (0.1, 1, 4.5)),
    (truths.CauchyUniform(), cauchy, (0.5, 0, 1.7, -60)),
    (truths.CauchyUniform(0.1, -1, 1), cauchy, (0.1, 1, 1.7, 60)),
]


def parameters(case):
    """Return the parameters of the noise, then the interval."""
    *noise, c, d = (number(getattr(case, name)) for name in case.__dataclass_fields__)
    return noise, c, d


def over_interval(case, noise, y):
    """Return the figures at y from the definitions."""
    shape, c, d = parameters(case)
    y, near = number(y), min(max(number(y), c), d)
    scale = min(shape[-1], shape[-1] ** 2 / (1 + abs(y - near)))
    points = [near + sign * k * scale for sign in (-1, 1) for k in (0, 1, 4, 12)]
    return figures(lambda _: 1 / (d - c), lambda x: noise(y - x, *shape), c, d, points)


@pytest.mark.few(2)
@pytest.mark.parametrize(("case", "noise", "outcomes"), ON_INTERVALS)
def test_intervals(case, noise, outcomes):
    for y in outcomes:
        checked(case, y, over_interval(case, noise, y))
    shape, c, d = parameters(case)
    peak = largest(lambda n: noise(n, *shape), mp.mpf(-1), mp.mpf(1))
    outside = mp.quad(lambda n: mp.exp(noise(n, *shape)), [0, *(2**k for k in range(7)), mp.inf])
    assert agrees(case.pml_exp_mean(), (d - c) * mp.exp(peak) + 2 * outside, 1e-15)


def test_laplace_suprema_are_those_of_the_paper():
    for b, c, d in ((0.5, 0, 1), (3.0, -1, 0.7), (0.01, 0, 1)):
        case, ratio = truths.LaplaceUniform(b, c, d), (number(d) - number(c)) / number(b)
        assert agrees(case.pmc_sup(), mp.log(mp.expm1(ratio) / ratio))
        assert agrees(case.pml_sup(), mp.log(ratio / -mp.expm1(-ratio)))
        assert case.pml_sup() == case.pml(d) == case.pml(d + 3.0)
        assert case.pmc_sup() == case.pmc(d) == case.pmc(d + 3.0)
    gaussian_case = truths.GaussianUniform(1, -1, 1)
    assert gaussian_case.pml_sup() == gaussian_case.pmc_sup() == (math.inf, math.inf)


def beyond(case, s):
    """Return P{|Y - (c + d) / 2| > s} by an integral over the secret."""
    (scale,), c, d = parameters(case)
    if isinstance(case, truths.LaplaceUniform):

        def above(n):
            return mp.exp(-n / scale) / 2 if n >= 0 else 1 - mp.exp(n / scale) / 2

    else:

        def above(n):
            return mp.erfc(n / scale / mp.sqrt(2)) / 2

    half = (d - c) / 2
    inside = integral(
        lambda x: above(s - x) + above(s + x), [-half, -min(s, half), min(s, half), half]
    )
    return inside / (2 * half)


def where(case, noise, kind, t):
    """Return the s where PML or PMC is t."""
    _, c, d = parameters(case)
    half, middle, index = (d - c) / 2, (c + d) / 2, 1 if kind == "pml" else 2

    def off(s):
        return over_interval(case, noise, middle + s)[index] - t

    high = half
    if isinstance(case, truths.GaussianUniform):
        while off(high) < 0:
            high *= 2
    with mp.workdps(24):
        return mp.findroot(off, (mp.mpf(0), high), solver="anderson", tol=1e-40, verify=False)


LAWS = [
    (truths.LaplaceUniform(0.5, -1, 1), laplace),
    (truths.LaplaceUniform(0.25, 0.1, 0.7), laplace),
    (truths.GaussianUniform(1, -1, 1), gaussian),
    (truths.GaussianUniform(0.7, 0.1, 2.0), gaussian),
]


@pytest.mark.few(1)
@pytest.mark.cases(
    "slow", "pml-case1-laplace", "pml-case3-gaussian", "pmc-case2-gaussian", "pml-case0-laplace"
)
@pytest.mark.cases("truths", "pmc-case3-gaussian", "pml-case2-gaussian")
@pytest.mark.parametrize(("case", "noise"), LAWS)
@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_tails_and_quantiles_on_intervals(case, noise, kind):
    tail, quantile = getattr(case, f"{kind}_tail"), getattr(case, f"{kind}_quantile")
    top = getattr(case, f"{kind}_sup")()
    least = getattr(case, kind)((F(case.c) + F(case.d)) / 2)
    bounded = math.isfinite(top[0])
    t = 0.7 * least[0] + 0.3 * top[0] if bounded else least[0] + 0.75
    assert agrees(tail(t), beyond(case, where(case, noise, kind, t)), 1e-15)
    for s in (0.3, 0.5) if bounded else (0.3, 0.875):
        q = quantile(s)
        assert least[0] < q[0] <= q[1] < top[0]
        assert agrees((s, s), 1 - beyond(case, where(case, noise, kind, q[0])), 1e-14)
    assert quantile(0) == least and quantile(1) == top
    assert tail(math.nextafter(least[0], -math.inf)) == (1, 1)
    if bounded:
        _, c, d = parameters(case)
        atom = beyond(case, (d - c) / 2)
        assert agrees(tail(math.nextafter(top[0], 0)), atom, 1e-7)
        assert tail(top[1]) == (0, 0)
        assert quantile(float(1 - atom) + 1e-15) == top
        assert quantile(float(1 - atom) - 1e-7)[1] < top[0]


@pytest.mark.parametrize("b", [0.5, 0.05, 4.0])
def test_means_of_laplace(b):
    case, b, h = truths.LaplaceUniform(b, -1, 1), number(b), mp.mpf(1)

    def density(y):
        return (2 - mp.exp((-1 - y) / b) - mp.exp((y - 1) / b)) / 4

    def pml(y):
        return -mp.log(2 * b * density(y))

    def pmc(y):
        return mp.log(2 * b * density(y)) + (1 + y) / b

    atom = 2 * mp.quad(lambda r: density(h) * mp.exp(-r / b), [0, b, 9 * b, mp.inf])
    for pair, function in (
        (case.pml_mean(), pml),
        (case.pmc_mean(), pmc),
        (case.pmc_exp_mean(), lambda y: mp.exp(pmc(y))),
    ):
        inside = mp.quad(lambda y, g=function: density(y) * g(y), [0, h / 2, h - h / 16, h])
        assert agrees(pair, 2 * inside + atom * function(h))


def test_students_noise_of_one_degree_is_cauchys():
    for y in (0.5, 1, 7.0):
        student_case, cauchy_case = truths.StudentUniform(1, 0.3), truths.CauchyUniform(0.3)
        assert student_case.pml(y) == cauchy_case.pml(y)
        assert student_case.pmc(y) == cauchy_case.pmc(y)
        assert student_case.density(y) == cauchy_case.density(y)


# -- (v), (viii) ---------------------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize(("sigma", "m", "s"), [(1, 0, 1), (0.3, 0.1, 2.0), (5.0, -3, 0.7)])
def test_gaussian_normal(sigma, m, s):
    case = truths.GaussianNormal(sigma, m, s)
    sigma, m, s = map(number, (sigma, m, s))
    for y in (0, 0.1, -2.5):
        at = number(y)
        centre = (at * s**2 + m * sigma**2) / (s**2 + sigma**2)
        reach = 14 / mp.sqrt(1 / sigma**2 + 1 / s**2)
        reference = figures(
            lambda x: mp.exp(gaussian(x - m, s)),
            lambda x, at=at: gaussian(at - x, sigma),
            min(centre - reach, at - sigma),
            max(centre + reach, at + sigma),
            [centre - reach / 3, centre, centre + reach / 3],
        )
        checked(case, y, reference, pmc=False)
    total = mp.sqrt(sigma**2 + s**2)

    def pml(z):
        """PML where the outcome is z deviations off its mean."""
        y = m + z * total
        return gaussian(0, sigma) - gaussian(y - m, total)

    def weigh(function, *points):
        return 2 * mp.quad(lambda z: mp.exp(gaussian(z, 1)) * function(z), points)

    assert agrees(case.pml_mean(), weigh(pml, 0, 2, 8, 16))
    for t in (pml(0.5), pml(2)):
        z = mp.findroot(lambda z, t=t: pml(z) - mp.mpf(float(t)), (0.4, 2.5), solver="anderson")
        assert agrees(case.pml_tail(float(t)), weigh(lambda _: 1, z, z + 3, z + 16), 1e-18)
    for level in (0.25, 0.95):
        z = mp.sqrt(2) * mp.erfinv(level)
        assert abs(weigh(lambda _: 1, 0, z) - level) < 1e-18
        assert agrees(case.pml_quantile(level), pml(z))
    assert case.pml_tail(float(pml(0)) - 1e-9) == (1, 1)
    assert agrees(case.pml_quantile(0), pml(0))
    assert case.pml_quantile(1) == case.pml_exp_mean() == (math.inf, math.inf)


@pytest.mark.few(2)
@pytest.mark.parametrize("rate", [0.5, 1, 12.5])
def test_exponential_uniform(rate):
    case, at = truths.ExponentialUniform(rate), number(rate)

    def reference(y):
        y = number(y)
        return figures(
            lambda _: mp.mpf(1), lambda x: mp.log(at) - at * (y - x), mp.mpf(0), min(y, mp.mpf(1))
        )

    for y in (1e-6, 0.3, 0.999, 1, 1.5, 60):
        checked(case, y, reference(y), pmc=y >= 1)

    def before(y):
        """Return P{Y < y} by an integral over the secret."""
        return mp.quad(lambda x: -mp.expm1(-at * (y - x)), [0, y])

    assert agrees(case.pmc_tail(50), before(mp.mpf(1)))
    for y in (0.25, 0.75):
        t = float(reference(y)[1])
        at_t = mp.findroot(lambda y, t=t: reference(y)[1] - t, y)
        assert agrees(case.pml_tail(t), before(at_t))
    s = 1 - case.pmc_tail(50)[0] / 2
    y = mp.findroot(lambda y: before(y) - (1 - mp.mpf(s)), (0.1, 1), solver="anderson")
    assert agrees(case.pml_quantile(s), reference(y)[1], 1e-15)
    constant = case.pml(1)
    assert case.pml_quantile(0) == case.pml_quantile((1 - case.pmc_tail(50)[0]) / 2) == constant
    assert case.pml_quantile(1) == (math.inf, math.inf)
    assert case.pml_tail(0.999 * constant[0]) == (1, 1)
    assert case.pmc_tail(0.999 * case.pmc(1)[0]) == (1, 1)
    falling = mp.quad(lambda y: at * mp.exp(-at * y), [0, 1 / at, 6 / at, mp.inf])
    assert agrees(case.pml_exp_mean(), at + falling)


# -- (vi) ----------------------------------------------------------------------------------------


def checked_binomial(case, prior, low, high, secret):
    """Assert the figures of a binomial case; ``secret(u)`` has density ``prior(u)`` in u."""
    law = []
    for y in range(case.n + 1):

        def chance(u, y=y):
            x = secret(u)
            return x**y * (1 - x) ** (case.n - y)

        peak = largest(chance, low, high)
        mass = mp.quad(
            lambda u, c=chance, p=peak: prior(u) * c(u) / p, [low, (low + high) / 2, high]
        )
        least = -largest(lambda u, c=chance: -c(u), low, high)
        pmc = mp.log(mass * peak / least) if least > 1e-30 else mp.inf
        law.append((mp.binomial(case.n, y) * mass * peak, -mp.log(mass), pmc))
        assert agrees(case.density(y), law[-1][0])
        assert agrees(case.log_density(y), mp.log(law[-1][0]))
        assert agrees(case.pml(y), law[-1][1])
        assert agrees(case.pmc(y), pmc)
    masses, pmls, pmcs = zip(*law, strict=True)
    for kind, values in (("pml", pmls), ("pmc", pmcs)):
        assert agrees(getattr(case, f"{kind}_sup")(), max(values))
        mean = mp.fsum(p * v for p, v in zip(masses, values, strict=True))
        exp_mean = mp.fsum(p * mp.exp(v) for p, v in zip(masses, values, strict=True))
        assert agrees(getattr(case, f"{kind}_mean")(), mean)
        assert agrees(getattr(case, f"{kind}_exp_mean")(), exp_mean)
        for t in (0.5, 1.0, 2.0):
            above = mp.fsum(p for p, v in zip(masses, values, strict=True) if v > t)
            assert agrees(getattr(case, f"{kind}_tail")(t), above)
        for s in (0.1, 0.5, 0.93):
            q = min(
                v
                for v in values
                if mp.fsum(p for p, w in zip(masses, values, strict=True) if w <= v + 1e-20) >= s
            )
            assert agrees(getattr(case, f"{kind}_quantile")(s), q)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("n", "alpha", "beta"), [(1, 1, 1), (5, 0.5, 0.5), (12, 2, 3.75), (7, 0.75, 6)]
)
def test_beta_binomial(n, alpha, beta):
    a, b = number(alpha), number(beta)

    def prior(u):
        """Return the density of the angle whose squared sine is the secret."""
        return 2 * mp.sin(u) ** (2 * a - 1) * abs(mp.cos(u)) ** (2 * b - 1) / mp.beta(a, b)

    case = truths.BetaBinomial(n, alpha, beta)
    checked_binomial(case, prior, mp.mpf(0), mp.pi / 2, lambda u: mp.sin(u) ** 2)


@pytest.mark.parametrize(("n", "low", "high"), [(1, 0.1, 0.9), (9, 0.1, 0.9), (4, 0.3, 0.35)])
def test_uniform_binomial(n, low, high):
    case, low, high = truths.UniformBinomial(n, low, high), number(low), number(high)
    checked_binomial(case, lambda _: 1 / (high - low), low, high, lambda u: u)


def test_binomials_meet():
    whole, beta = truths.UniformBinomial(6, 0, 1), truths.BetaBinomial(6, 1, 1)
    for y in range(7):
        for name in ("density", "log_density", "pml", "pmc"):
            assert getattr(whole, name)(y) == getattr(beta, name)(y)
    for case in (truths.UniformBinomial(0), truths.BetaBinomial(0, 0.5, 0.5)):
        assert case.pml(0) == case.pmc(0) == (0, 0) and case.density(0) == (1, 1)


# -- (vii), (x) ----------------------------------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("sigma", [0.25, 1])
def test_gaussian_mean(d, sigma):
    case, noise = truths.GaussianMean(d, sigma), number(sigma)
    for y in (0, -0.4, 1):
        at, last = number(y), 13 / noise

        def wave(t, at=at):
            """Return the characteristic function of Y, turned by y."""
            return (
                mp.cos(t * at) * mp.sincpi(t / (d * mp.pi)) ** d * mp.exp(-((t * noise) ** 2) / 2)
            )

        density = mp.quad(wave, mp.linspace(0, last, 9)) / mp.pi
        peak = largest(lambda x, at=at: gaussian(at - x, noise), mp.mpf(-1), mp.mpf(1))
        bottom = -largest(lambda x, at=at: -gaussian(at - x, noise), mp.mpf(-1), mp.mpf(1))
        log = mp.log(density)
        checked(case, y, (log, peak - log, log - bottom))
    if d == 1:
        uniform = truths.GaussianUniform(sigma, -1, 1)
        for y in (0.3, 5, -60):
            assert case.pml(y) == uniform.pml(y) and case.pmc(y) == uniform.pmc(y)
            assert case.log_density(y) == uniform.log_density(y)


PRIORS = [  # constructor, log density at x, support
    (truths.GaussianBeta, lambda x: 30 * x * (1 - x) ** 4, 0, 1),
    (truths.GaussianGamma, lambda x: x * mp.exp(-x), 0, mp.inf),
    (truths.GaussianExponential, lambda x: mp.exp(-x), 0, mp.inf),
    (truths.GaussianLaplace, lambda x: mp.exp(-abs(x)) / 2, -mp.inf, mp.inf),
    (truths.GaussianCauchy, lambda x: 1 / (mp.pi * (1 + x**2)), -mp.inf, mp.inf),
    (lambda s: truths.GaussianBeta(s, 3, 1), lambda x: 3 * x**2, 0, 1),
    (lambda s: truths.GaussianGamma(s, 4, 0.5), lambda x: x**3 * mp.exp(-x / 2) / 96, 0, mp.inf),
    (
        lambda s: truths.GaussianLaplace(s, 0.5, 2),
        lambda x: mp.exp(-abs(x - mp.mpf(0.5)) / 2) / 4,
        -mp.inf,
        mp.inf,
    ),
    (
        lambda s: truths.GaussianCauchy(s, 0.5, 2),
        lambda x: 2 / (mp.pi * (4 + (x - mp.mpf(0.5)) ** 2)),
        -mp.inf,
        mp.inf,
    ),
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("make", "prior", "low", "high"), PRIORS)
@pytest.mark.parametrize("sigma", [0.25, 1.5])
def test_gaussian_noise_on_other_priors(make, prior, low, high, sigma):
    case, noise = make(sigma), number(sigma)
    for y in (-1, 0.3, 4):
        at = number(y)
        near = min(max(at, low), high)
        ends = max(near - 14 * noise, low), min(near + 14 * noise, high)
        points = [0, mp.mpf(0.5), *(near + k * noise for k in (-4, -1, 0, 1, 4))]
        reference = figures(prior, lambda x, at=at: gaussian(at - x, noise), *ends, points)
        checked(case, y, reference, pmc=mp.isfinite(low) and mp.isfinite(high))


def test_far_outcomes_agree_with_asymptotics():
    for case in (truths.GaussianCauchy(0.1), truths.GaussianCauchy(2.0)):
        for y in (1e4, 1e6, -1e6):  # Voigt's profile: 1/pi (1/y^2 + (3 sigma^2 - 1) / y^4 + ...)
            ratio = (3 * case.sigma**2 - 1) / y**2
            assert math.isclose(case.density(y)[0], (1 + ratio) / (math.pi * y**2), rel_tol=1e-12)
    for sigma in (0.1, 1.0):
        case = truths.GaussianExponential(sigma)
        assert agrees(case.log_density(60), number(sigma) ** 2 / 2 - 60)
