"""f_Y beside an end where the prior has no Taylor series: moments, the rule, kinks close by.

The truths are integrals by mpmath to 40 digits, cut where the integrand is not smooth, and closed
forms.
"""

import math

import mpmath as mp
import numpy as np
import pytest

import borel as bl
from borel.engine import engine_for
from borel.engine.kernels import marginal_integral, quadrature_rules
from borel.engine.kernels.quadrature_rules import Outcomes
from borel.engine.problem import prior_singular_moments
from borel.engine.problem.prior_moments import moments_of
from borel.numerics.graphs.trace import trace

UNIT, HALF, REALS = bl.Interval(0, 1), bl.Interval(0, None), bl.Reals()
SHAPES = [(0.5, 0.5), (0.25, 3.0), (1.5, 0.75), (2.0, 5.0), (0.1, 0.1)]


def kernel(density, secret=UNIT, outcome=REALS):
    return bl.Mechanism(density, secret=secret, outcome=outcome)


GAUSS = kernel(lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi))
LAPLACE = kernel(lambda y, x: np.exp(-abs(y - x)) / 2)
STEP = kernel(lambda y, x: np.where(x < 0.03, 1.0, 0.5 + y), outcome=UNIT)
KERNELS = {
    "gauss": (GAUSS, lambda y, x: mp.npdf(y, x, 1), ()),
    "laplace": (LAPLACE, lambda y, x: mp.exp(-abs(y - x)) / 2, ("y",)),
    "step": (STEP, lambda y, x: mp.mpf(1) if x < 0.03 else 0.5 + y, (0.03,)),
}


def beta_mean(f, a, b, cuts=()):
    """Integrate f with the beta(a, b) density; its ends are taken away by x = u^(1/a)."""
    with mp.workdps(40):
        total, middle = mp.mpf(0), mp.mpf(1) / 2
        cuts = [mp.mpf(c) for c in cuts if 0 < c < 1]
        for p, q, turn in ((a, b, False), (b, a, True)):
            p, q = mp.mpf(p), mp.mpf(q)
            own = [1 - c if turn else c for c in cuts]
            ends = sorted({mp.mpf(0), middle, *(c for c in own if c < middle)})

            def inside(u, p=p, q=q, turn=turn):
                x = u ** (1 / p)
                return f(1 - x if turn else x) * (1 - x) ** (q - 1) / p

            total += mp.quad(inside, [c**p for c in ends])
        return total / mp.beta(a, b)


@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("piece", [(0.0, 0.125), (0.875, 1.0), (0.0, 1.0), (0.0, 2.0**-40)])
def test_moments_of_a_beta(a, b, piece):
    found = moments_of(bl.beta(alpha=a, beta=b))
    end = 0.0 if piece[0] == 0 else 1.0
    low, high = found.along(end, *piece, 6)
    u, v = piece
    for k in range(6):
        # (2 x - u - v) / (v - u) to the k, by incomplete beta functions
        with mp.workdps(120):
            s, c = 2 / mp.mpf(v - u), -mp.mpf(u + v) / mp.mpf(v - u)
            truth = sum(
                mp.binomial(k, i) * s**i * c ** (k - i) * mp.betainc(mp.mpf(a) + i, b, u, v)
                for i in range(k + 1)
            ) / mp.beta(a, b)
        assert low[k] <= truth <= high[k]
        assert high[k] - low[k] <= 1e-15 * max(low[0], 1e-300)


@pytest.mark.parametrize("a", [0.5, 2.0, 3.5])
def test_moments_of_a_gamma(a):
    low, high = moments_of(bl.gamma(alpha=a, beta=2)).along(0.0, 0.0, 0.5, 6)
    for k in range(6):
        with mp.workdps(60):
            truth = (
                mp.quad(
                    lambda u, k=k: (
                        (4 * u ** (1 / mp.mpf(a)) - 1) ** k * mp.exp(-2 * u ** (1 / mp.mpf(a)))
                    ),
                    [0, mp.mpf(0.5) ** a],
                )
                * mp.mpf(2) ** a
                / (a * mp.gamma(a))
            )
        assert low[k] <= truth <= high[k] <= low[k] + 1e-15


def part_of(power, a):
    """Integrate x^power (log x)^0, 1, 2 over (0, a)."""
    p, log = mp.mpf(power) + 1, mp.log(a)
    return a**p / p, a**p * (log / p - 1 / p**2), a**p * (log**2 / p - 2 * log / p**2 + 2 / p**3)


WRITTEN = {  # a density, the end beside which it is singular, its parts c x^e (log x)^j from there
    "logarithm": (lambda x: -np.log(x), 0.0, [(-1, 0, 1)]),
    "its square": (lambda x: np.log(x) ** 2 / 2, 0.0, [(0.5, 0, 2)]),
    "both": (lambda x: -4 * x * np.log(x), 0.0, [(-4, 1, 1)]),
    "root": (lambda x: 1.5 * np.sqrt(1 - x), 1.0, [(1.5, 0.5, 0)]),
    "pole": (lambda x: 0.5 / np.sqrt(x), 0.0, [(0.5, -0.5, 0)]),
    "steep pole": (lambda x: 0.125 * (1 - x) ** -0.875, 1.0, [(0.125, -0.875, 0)]),
    "sum": (lambda x: 0.25 / np.sqrt(x) + 0.5, 0.0, [(0.25, -0.5, 0), (0.5, 0, 0)]),
    "kinked": (lambda x: np.abs(0.25 / np.sqrt(x) + 0.5), 0.0, [(0.25, -0.5, 0), (0.5, 0, 0)]),
}
PARTS = [1.0, 0.625, 0.3, 2.0**-30, 2.0**-100]


def errors_of_written(name, length):
    """Return how far moments of a written density are from the truth, and their widths."""
    density, end, parts = WRITTEN[name]
    found = moments_of(bl.Measure(density, on=UNIT))
    if end == 1.0 and length < 0.3:
        return []
    ends = (0.0, length) if end == 0 else (1 - length, 1.0)
    low, high = found.along(end, *ends, 12)
    off = []
    with mp.workdps(150):
        a = mp.mpf(ends[1]) if end == 0 else 1 - mp.mpf(ends[0])
        for k in range(12):
            # t = a (1 + s) / 2, s = (2 x - u - v) / (v - u), turned round at the other end
            truth = sum(
                mp.mpf(c) * mp.binomial(k, i) * (2 / a) ** i * (-1) ** (k - i)
                * part_of(mp.mpf(e) + i, a)[j]
                for c, e, j in parts
                for i in range(k + 1)
            ) * (1 if end == 0 else (-1) ** k)  # fmt: skip
            off.append((low[k] <= truth <= high[k], high[k] - low[k], float(truth)))
    return off


@pytest.mark.few(10)
@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("length", PARTS)
def test_moments_of_a_density_that_was_written(name, length):
    found = errors_of_written(name, length)
    for inside, width, _ in found:
        assert inside
        assert width <= 1e-15 * found[0][2] * (1 if length > 1e-12 else 100)


@pytest.mark.parametrize(
    "density",
    [lambda x: 2 * x, lambda x: 6 * x * (1 - x), lambda x: np.exp(x) / np.expm1(1.0),
     lambda x: np.where(x < 0.5, 0.5, 1.5)],
)  # fmt: skip
def test_a_density_with_a_taylor_series_needs_no_moments(density):
    assert moments_of(bl.Measure(density, on=UNIT)) is None


def test_a_density_that_fades_slowly_towards_a_pole():
    # 1 / (x (1 - log x)^2): beyond 2^-400 there is still more than 1/300 of the mass
    graph = trace(lambda x: 1 / (x * (1 - np.log(x)) ** 2), ("x",), ())
    found = prior_singular_moments.EndMoments(graph, log=False, ends=(0.0,))(0.0, 0.0, 0.5, 3)
    truth = 1 / (1 + mp.log(2))
    assert not found[0].is_finite() or found[0].lower() <= truth <= found[0].upper()


def without_the_end(patch):
    patch.setattr(
        prior_singular_moments.EndMoments,
        "_at_end",
        lambda *about: [prior_singular_moments.arb(0)] * about[-1],
    )


def with_few_nodes(patch):
    patch.setattr(prior_singular_moments, "_NODES", 3)
    patch.setattr(prior_singular_moments, "arb", Small)


class Small:
    """Balls whose radii are lost."""

    pos_inf, nan, legendre_p_root = (
        prior_singular_moments.arb.pos_inf,
        prior_singular_moments.arb.nan,
        prior_singular_moments.arb.legendre_p_root,
    )

    def __new__(cls, value, radius=0):
        return prior_singular_moments.acb(value, 0).real


def mirrored(patch):
    before = prior_singular_moments.EndMoments.__call__
    patch.setattr(
        prior_singular_moments.EndMoments,
        "__call__",
        lambda self, *about: [abs(v) for v in before(self, *about)],
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("broken", [without_the_end, with_few_nodes, mirrored])
def test_broken_moments_are_seen(broken, monkeypatch):
    prior_singular_moments._rule.cache_clear()
    broken(monkeypatch)
    found = [v for name in WRITTEN for v in errors_of_written(name, 0.625)]
    prior_singular_moments._rule.cache_clear()
    assert not all(inside for inside, *_ in found)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["logarithm", "root", "pole"])
@pytest.mark.parametrize("y", [0.01, 0.3, 0.97])
@pytest.mark.parametrize("of", ["gauss", "laplace"])
def test_f_y_under_a_prior_that_was_written(name, y, of):
    density, end, parts = WRITTEN[name]
    mechanism, f, _ = KERNELS[of]
    surface = engine_for(bl.Measure(density, on=UNIT) * mechanism).surface
    ys = np.array([y])
    model, _ = marginal_integral.marginal(surface, Outcomes(ys, ys, ys, 0, np.zeros(1)), rtol=1e-10)
    low, high = model.total()
    with mp.workdps(40):  # by t = u^2, and pieces towards the end
        place = mp.mpf(y) if end == 0 else 1 - mp.mpf(y)
        cuts = sorted({0, mp.sqrt(place), *(mp.mpf(2) ** -k for k in range(0, 60, 3))})

        def inside(u):
            x = u * u if end == 0 else 1 - u * u
            p = sum(c * mp.power(u * u, e) * mp.log(u * u) ** j for c, e, j in parts)
            return f(mp.mpf(y), x) * p * 2 * u

        truth = mp.quad(inside, cuts)
    assert low[0] <= truth <= high[0] <= low[0] * (1 + 2e-10)


@pytest.mark.few(5)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("y", [0.01, 0.3, 0.97])
def test_f_y_at_an_outcome(name, a, b, y):
    mechanism, f, cuts = KERNELS[name]
    surface = engine_for(bl.beta(alpha=a, beta=b) * mechanism).surface
    ys = np.array([y])
    model, _ = marginal_integral.marginal(surface, Outcomes(ys, ys, ys, 0, np.zeros(1)), rtol=1e-10)
    low, high = model.total()
    truth = beta_mean(lambda x: f(mp.mpf(y), x), a, b, [y if c == "y" else c for c in cuts])
    assert low[0] <= truth <= high[0]
    assert high[0] - low[0] <= 2e-10 * high[0]


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["gauss", "laplace"])
@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("band", [(-0.5, -0.49), (0.001, 0.00102), (0.3, 0.305), (0.98, 0.9802)])
def test_f_y_over_a_band(name, a, b, band):
    mechanism, f, cuts = KERNELS[name]
    engine = engine_for(bl.beta(alpha=a, beta=b) * mechanism)
    low, high = (np.array([end]) for end in band)
    inner, outer, rest = engine.bands.marginal.over(low, high, np.zeros(1), 1e-10, math.inf)
    centre = low + (high - low) / 2
    for y in np.linspace(*band, 5):
        h, order = mp.mpf(y) - mp.mpf(centre[0]), len(inner[0])
        ends = [mp.mpf(rest[k][0]) for k in (0, 1)]
        for k in range(order + 1):
            part = [v[k][0] for v in inner] if k < order else [v[k][0] for v in outer]
            terms = [mp.mpf(float(v)) * h**k for v in part]
            ends = [ends[0] + min(terms), ends[1] + max(terms)]
        truth = beta_mean(lambda x, y=y: f(mp.mpf(y), x), a, b, [y] if cuts else [])
        assert ends[0] <= truth <= ends[1]
        assert ends[1] - ends[0] <= 2e-8 * truth


def without_errors(patch):
    patch.setattr(quadrature_rules, "_largest_product", lambda _: 0.0)


def wrong_weights(patch):
    before = quadrature_rules._lagrange
    patch.setattr(quadrature_rules, "_lagrange", lambda n: tuple(v[::-1] for v in before(n)))


def no_cover(patch):
    from borel.engine.kernels.marginal_on_boxes import Marginal

    before = Marginal._beyond
    patch.setattr(Marginal, "_beyond", lambda self, u, v: tuple(w[:1] for w in before(self, u, v)))


@pytest.mark.few(1)
@pytest.mark.parametrize("broken", [without_errors, wrong_weights, no_cover])
def test_what_is_broken_is_seen(broken, monkeypatch):
    broken(monkeypatch)
    seen = []
    for y, name in ((0.3, "gauss"), (0.01, "gauss"), (0.3, "laplace")):
        for run in (test_f_y_at_an_outcome, test_f_y_over_a_band):
            try:
                run(name, 0.5, 0.5, y if run is test_f_y_at_an_outcome else (y, y + 1e-3))
            except AssertionError:
                seen.append(name)
    assert seen


@pytest.mark.truths
def test_the_law_of_noise_on_an_arcsine_prior():
    # e^-|y - x| / 2: y <= 0 and y >= 1 have PML log(e^-y / E e^-X) and such, and mass 1/2 E e^-X
    joint = bl.beta(alpha=0.5, beta=0.5) * LAPLACE
    pml = bl.pml(joint)
    with mp.workdps(40):
        mean = beta_mean(lambda x: mp.exp(-x), 0.5, 0.5)
    bound = pml.quantile(0.5)
    assert bound.lower <= -mp.log(mean) <= bound.upper <= bound.lower + 1e-8
    # E e^PML is the integral of the largest kernel: 1/2 beyond both ends, 1 / 2 between
    bound = pml.exp_mean()
    assert bound.lower <= 1.5 <= bound.upper <= bound.lower + 1e-7


@pytest.mark.parametrize("y", [0.05, 0.3, 1.0, 7.0])
def test_a_kernel_that_intervals_do_not_bound_far_out(y):
    # waiting times, a gamma rate: log(1 / (e y)) - log(2 / (1 + y)^3)
    joint = bl.gamma(alpha=2, beta=1) * kernel(lambda y, x: x * np.exp(-x * y), HALF, HALF)
    bound = bl.pml(joint)(y)
    with mp.workdps(40):
        truth = mp.log((1 + mp.mpf(y)) ** 3 / (2 * mp.e * mp.mpf(y)))
    assert bound.lower <= truth <= bound.upper <= bound.lower + 1e-8


@pytest.mark.slow
def test_counts_of_a_gamma_rate():
    from scipy import special

    joint = bl.gamma(alpha=2, beta=1) * kernel(
        lambda y, x: np.exp(-x + y * np.log(x) - special.gammaln(y + 1)),
        HALF,
        bl.Integers(0, None),
    )
    # f_Y is negative binomial: (y + 1) 2^-(y + 2)
    for y in (1, 2, 9):
        bound = bl.pml(joint)(y)
        with mp.workdps(40):
            top = mp.mpf(y) ** y * mp.exp(-y) / mp.factorial(y)
            truth = mp.log(top * mp.mpf(2) ** (y + 2) / (y + 1))
        assert bound.lower <= truth <= bound.upper <= bound.lower + 1e-8
    median = bl.pml(joint).quantile(0.5)
    assert math.isfinite(median.upper) and median.width < 1e-8
    # PMC is infinite, as the rate may be as small as one likes; LDP is at least PMC
    assert bl.ldp(joint).lower == math.inf


@pytest.mark.truths
def test_ldp_is_infinite_where_cost_is():
    from scipy import special

    joint = bl.beta(alpha=2, beta=5) * kernel(
        lambda y, x: special.binom(5, y) * x**y * (1 - x) ** (5 - y), UNIT, bl.Finite(range(6))
    )
    bound = bl.ldp(joint)
    assert bound.lower == math.inf and bound.status == "certified"


@pytest.mark.few(2)
@pytest.mark.parametrize("prior", [bl.gamma(alpha=2, beta=1), bl.exponential(lam=1.0)])
@pytest.mark.parametrize("less", [lambda y, x: y < x, lambda y, x: y <= x])
def test_a_jump_where_half_lines_of_secrets_are_cut(prior, less):
    """Uniform on (0, X): at y = 1 the other branch is 0 at the cut, and all mass is beyond it."""
    joint = prior * kernel(lambda y, x: np.where(less(y, x), 1 / x, 0.0), HALF, HALF)
    for y in (0.5, 1.0, 2.0):
        bound = bl.pml(joint)(y)
        with mp.workdps(40):
            f_y = mp.exp(-y) if prior.family[0] == "gamma" else mp.e1(y)
            truth = -mp.log(y) - mp.log(f_y)
        assert bound.lower <= truth <= bound.upper <= bound.lower + 1e-6


@pytest.mark.truths
def test_a_jump_at_a_secret_up_to_which_a_kink_is_followed():
    def steps(y, x):
        rare = 0.5 * np.exp(-(x - 3) / 4)
        return np.where(
            x > 3, np.where(y < 1, 1 - rare, rare), np.where(y < 1, 1.0, 0.0)
        )  # y in (0, 2)

    joint = bl.exponential(lam=0.1) * kernel(steps, HALF, bl.Interval(0, 2))
    engine = engine_for(joint)
    low, high = np.array([1.25]), np.array([1.375])
    inner, _, rest = engine.bands.marginal.over(low, high, np.zeros(1), 1e-10, math.inf)
    with mp.workdps(40):
        rate = mp.mpf(0.1)
        truth = rate * mp.exp(-3 * rate) / (rate + mp.mpf(0.25)) / 2  # at every y of the band
        ends = [mp.mpf(float(inner[k][0][0])) + mp.mpf(float(rest[k][0])) for k in (0, 1)]
    assert ends[0] <= truth <= ends[1]
    with bl.options(budget=5):
        tail = bl.pml(joint).tail(0.5)
    assert tail.lower <= truth <= tail.upper
