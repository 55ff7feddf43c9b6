"""One entry of a noisy mean: closed forms, and mpmath with the density of a sum of uniforms."""

import math
from fractions import Fraction as F
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import borel as bl
from borel.databases.sum_series import _in_floats, extreme_of
from borel.numerics.balls.arithmetic import ball

U = bl.uniform(bl.Interval(0, 1))
NS = [1, 2, 12, 1000, 10**6]


def entry(prior, n, kind="laplace", **how):
    return bl.entry(bl.iid(prior, n) * getattr(bl.mechanisms, f"{kind}_mean")(n=n, **how))


def holds(bound, truth, width=1e-12):
    """The truth lies between the ends, and these are close."""
    assert bound.lower <= truth <= bound.upper
    assert bound.width <= width * max(1.0, bound.upper)


# -- Example 6: the supremum of PMC, by the cumulant generating function -------------------------


def cumulant(alpha, beta, t):
    """K(t) of a beta law by quadrature after x = sin^2 (which removes poles at the ends)."""
    mean = mp.mpf(alpha) / (alpha + beta)
    power = [2 * mp.mpf(alpha) - 1, 2 * mp.mpf(beta) - 1]

    def integrand(u):
        s, c = mp.sin(u), mp.cos(u)
        return 2 * s ** power[0] * c ** power[1] * mp.exp(t * (s * s - mean))

    return mp.log(mp.quad(integrand, [0, mp.pi / 4, mp.pi / 2]) / mp.beta(alpha, beta)), mean


@pytest.mark.few(12)
@pytest.mark.parametrize("n", NS)
@pytest.mark.parametrize("law", [(1.0, 1.0), (2.0, 5.0), (0.5, 0.5)])
@pytest.mark.parametrize("b", [0.25, 3.0])
def test_supremum_of_pmc(n, law, b):
    with mp.workdps(40):
        a = 1 / (n * mp.mpf(b))
        up, mean = cumulant(*law, a)
        down, _ = cumulant(*law, -a)
        truth = max(mean * a + up, (1 - mean) * a + down)
        prior = U if law == (1.0, 1.0) else bl.beta(alpha=law[0], beta=law[1])
        one = entry(prior, n, b=b)
        found = bl.pmc(one).sup()
        assert found.status == "exact"
        assert found.lower <= truth <= found.upper
        assert found.upper <= math.nextafter(math.nextafter(found.lower, 9), 9)
        # beyond the ends, (13) and (14)
        if n > 1 or law != (1.0, 1.0):
            for y, value in ((1.0, mean * a + up), (0.0, (1 - mean) * a + down)):
                out = bl.pmc(one)(y + (0.5 if y else -0.5))
                assert out.lower <= value <= out.upper
        level = bl.ldp(one)
        assert level.lower <= a <= level.upper


def test_uniform_entries_of_any_interval():
    c, d, n, b = -1.0, 2.0, 12, 0.5
    length = (mp.mpf(d) - c) / (n * b)
    holds(
        bl.pmc(entry(bl.uniform(bl.Interval(c, d)), n, b=b)).sup(),
        mp.log(mp.expm1(length) / length),
    )
    whole = entry(bl.uniform(bl.Interval(c, d)), n, b=n * b, of="sum")
    holds(bl.pml(whole).sup(), mp.log(length / -mp.expm1(-length)))


@pytest.mark.parametrize(("law", "n"), [((2.0, 5.0), 2), ((2.0, 5.0), 1000), ((0.5, 0.5), 12)])
def test_supremum_of_pml(law, n):
    with mp.workdps(30):
        a = 1 / mp.mpf(n)
        up, mean = cumulant(*law, a)
        down, _ = cumulant(*law, -a)
        truth = max((1 - mean) * a - up, mean * a - down)
    found = bl.pml(entry(bl.beta(alpha=law[0], beta=law[1]), n, b=1.0)).sup()
    assert found.status == "exact"
    holds(found, truth)


def test_the_supremum_of_pml_may_be_inside():
    """Poles at the ends, little noise: E e^(-a|x - D|) is smallest in the middle."""
    a, x = mp.mpf(40), mp.mpf(1) / 2
    least = mp.quad(
        lambda u: 2 / mp.pi * mp.exp(-a * abs(mp.sin(u) ** 2 - x)), [0, mp.pi / 4, mp.pi / 2]
    )
    from borel.databases.entry_means import MeanForms

    prior = bl.beta(alpha=0.5, beta=0.5)
    outside = mp.quad(
        lambda u: 2 / mp.pi * mp.exp(-a * mp.sin(u) ** 2), [0, mp.pi / 8, mp.pi / 4, mp.pi / 2]
    )
    assert least < outside
    query = bl.mechanisms.laplace_mean(n=2, b=1 / 80)
    assert not MeanForms(query, prior)._at_ends


# -- between the ends ------------------------------------------------------------------------------


def sum_density(m):
    """Irwin-Hall: the density of a sum of m uniforms."""

    def density(s):
        terms = ((-1) ** k * mp.binomial(m, k) * (s - k) ** (m - 1) for k in range(int(s) + 1))
        return mp.fsum(terms) / mp.factorial(m - 1)

    return density


def noisy_mean_density(m, kernel, t):
    cuts = sorted({mp.mpf(k) for k in range(m + 1)} | ({t} if 0 < t < m else set()))
    density = sum_density(m)
    return mp.fsum(
        mp.quad(lambda s: density(s) * kernel(t - s), [lo, hi]) for lo, hi in pairwise(cuts)
    )


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize(("n", "scale"), [(2, 0.5), (2, 0.0625), (3, 1.0), (5, 0.25)])
@pytest.mark.parametrize("y", [0.125, 0.375, 0.5, 0.9375])
def test_uniform_entries_between_the_ends(kind, n, scale, y):
    against_the_density_of_the_sum(kind, n, scale, y)


@pytest.mark.cases("slow", "laplace")
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_twelve_uniform_entries(kind):
    against_the_density_of_the_sum(kind, 12, 0.25, 0.375)


def against_the_density_of_the_sum(kind, n, scale, y):
    with mp.workdps(30):
        s = mp.mpf(scale) * n
        kernel = {
            "laplace": lambda v: mp.exp(-abs(v) / s),
            "gaussian": lambda v: mp.exp(-((v / s) ** 2) / 2),
        }[kind]
        t = mp.mpf(y) * n
        own = noisy_mean_density(n, kernel, t)
        given = [
            noisy_mean_density(n - 1, kernel, t - x)
            for x in (0, 1, min(max(t - mp.mpf(n - 1) / 2, 0), 1))
        ]
        one = entry(U, n, kind, **{"b" if kind == "laplace" else "sigma": scale})
        width = 1e-7 if kind == "laplace" and n < 12 else 1e-13
        cost, leak = bl.pmc(one)(y), bl.pml(one)(y)
        assert cost.status == leak.status == "certified"
        holds(cost, mp.log(own / min(given[:2])), width)
        holds(leak, mp.log(given[2] / own), width)


@pytest.mark.cases("slow", "0.25", "0.625")
@pytest.mark.parametrize("y", [0.25, 0.625])
def test_beta_entries_between_the_ends(y):
    """Two entries of Beta(2, 2), the density of their sum a polynomial on [0, 1] and [1, 2]."""
    with mp.workdps(25):
        kernel = lambda v: mp.exp(-abs(v))  # noqa: E731 - scale 1 in units of the sum
        density = lambda x: 6 * x * (1 - x)  # noqa: E731

        def one(t):
            cuts = [0, t, 1] if 0 < t < 1 else [0, 1]
            return mp.quad(lambda x: density(x) * kernel(t - x), cuts)

        t = 2 * mp.mpf(y)
        cuts = sorted({mp.mpf(0), mp.mpf(1)} | {v for v in (t, t - 1) if 0 < v < 1})
        own = mp.quad(lambda x: density(x) * one(t - x), cuts)
        nearest = min(max(t - mp.mpf(1) / 2, 0), 1)  # leaves the middle to the other entry
        low, top = min(one(t), one(t - 1)), one(t - nearest)
        found = entry(bl.beta(alpha=2, beta=2), 2, b=0.5)
        holds(bl.pmc(found)(y), mp.log(own / low), 1e-7)
        holds(bl.pml(found)(y), mp.log(top / own), 1e-7)


def one_given(alpha, beta, kernel, t, density=1, cuts=()):
    """E density(D) kernel(t - D) for a beta entry D = sin^2 u, which removes poles at the ends."""
    weight = density if callable(density) else lambda d: density
    inside = sorted({mp.asin(mp.sqrt(v)) for v in (t, *cuts) if 0 < v < 1} | {mp.mpf(0), mp.pi / 2})

    def integrand(u):
        s, c = mp.sin(u), mp.cos(u)
        d = s * s
        return 2 * s ** (2 * alpha - 1) * c ** (2 * beta - 1) * weight(d) * kernel(t - d)

    return mp.quad(integrand, inside) / mp.beta(alpha, beta)


@pytest.mark.slow
@pytest.mark.parametrize("y", [0.5, 0.2, 0.875])
@pytest.mark.parametrize(
    ("alpha", "beta", "kind", "scale"),
    [
        (0.5, 0.5, "laplace", 0.25),
        (0.5, 0.5, "laplace", 0.0625),
        (2.0, 5.0, "laplace", 0.25),
        (2.0, 5.0, "gaussian", 0.125),
        (1.0, 3.0, "gaussian", 0.5),
        (1.5, 1.0, "laplace", 0.5),
    ],
)
def test_two_beta_entries_of_any_shape_between_the_ends(alpha, beta, kind, scale, y):
    """The largest and the least density given the entry are searched for on a grid, then nearer."""
    with mp.workdps(20):
        s, t, a, b = mp.mpf(scale) * 2, 2 * mp.mpf(y), mp.mpf(alpha), mp.mpf(beta)
        kernel = {
            "laplace": lambda v: mp.exp(-abs(v) / s),
            "gaussian": lambda v: mp.exp(-((v / s) ** 2) / 2),
        }[kind]

        def given(x):
            return one_given(a, b, kernel, t - x)

        cuts = (t, t - 1)
        own = one_given(a, b, lambda v: 1, t, density=given, cuts=cuts)
        most, least = nearest_extremes(given)
        found = entry(
            bl.beta(alpha=alpha, beta=beta),
            2,
            kind,
            **{"b" if kind == "laplace" else "sigma": scale},
        )
        for bound, truth in ((bl.pmc(found)(y), own / least), (bl.pml(found)(y), most / own)):
            assert bound.status == "certified" and bound.width < 1e-6
            # an extreme that is searched for is short of the true one by less than 1e-12
            assert bound.lower <= mp.log(truth) + 1e-12 and mp.log(truth) - 1e-12 <= bound.upper


def nearest_extremes(f):
    """The largest and the least value on [0, 1] at 33 places, and near the best of them."""
    out = []
    for sign in (1, -1):
        places = [mp.mpf(j) / 32 for j in range(33)]
        best, step = max(places, key=lambda x: sign * f(x)), mp.mpf(1) / 32
        while step > 1e-8:
            near = [min(max(best + j * step / 2, mp.mpf(0)), mp.mpf(1)) for j in (-1, 0, 1)]
            best, step = max(near, key=lambda x: sign * f(x)), step / 2
        out.append(f(best))
    return out


@pytest.mark.slow
@pytest.mark.parametrize(("law", "n"), [((0.5, 0.5), 12), ((2.0, 5.0), 12)])
def test_sampled_databases_agree_between_the_ends(law, n):
    """Of 4000 databases: the mean of the kernel of the others, at the worst of many entries."""
    rng, a, y = np.random.default_rng(3), 1 / (n * 0.25), 0.45
    others = rng.beta(*law, (4000, n - 1)).sum(axis=1)
    x = np.linspace(0, 1, 65)
    h = np.exp(-a * abs(n * y - x[:, None] - others)).mean(axis=1)
    own = np.exp(-a * abs(n * y - rng.beta(*law, 4000) - others)).mean()
    one = entry(bl.beta(alpha=law[0], beta=law[1]), n, b=0.25)
    assert abs(bl.pml(one)(y).lower - math.log(h.max() / own)) < 0.02
    assert abs(bl.pmc(one)(y).upper - math.log(own / h.min())) < 0.02


def test_extremes_by_cells():
    """Of functions with a known bend: a parabola, a kink upwards, waves."""
    for f, bend, low, high in (
        (lambda x: (x - F(1, 3)) ** 2, 2, 0.0, 4 / 9),
        (lambda x: -abs(x - F(2, 7)), 0, -5 / 7, 0.0),
        (lambda x: F(math.cos(7 * x)), 49, -1.0, 1.0),
    ):
        enclosed = lambda x, f=f: (math.nextafter(float(f(x)), -9), math.nextafter(float(f(x)), 9))  # noqa: E731
        for truth, which in ((low, "min"), (high, "max")):
            least, most = extreme_of(enclosed, F(bend), which)
            assert least <= truth <= most and most - least < 1e-9
    assert extreme_of(lambda x: (-math.inf, 0.0), F(1), "max") == (-math.inf, math.inf)


@pytest.mark.parametrize("n", [1000, 10**6])
def test_many_entries_lie_between_their_ends(n):
    """The mean is about 1/2: by then the outcomes outside of [0.45, 0.55] are as those beyond."""
    one = entry(U, n, b=0.25)
    at = bl.pmc(one)(0.25)
    a = 1 / (n * mp.mpf(0.25))
    limit = mp.log(mp.expm1(a) / a)
    assert at.width <= 1e-15
    assert at.lower <= limit
    assert abs(at.upper - limit) <= 1e-9 * limit


def test_no_outcome_passes_the_supremum():
    one = entry(bl.beta(alpha=2, beta=5), 12, b=0.25)
    top = bl.pmc(one).sup()
    for y in np.linspace(-0.2, 1.2, 15):
        assert bl.pmc(one)(float(y)).lower <= top.upper


# -- laws without a closed form --------------------------------------------------------------------


def test_three_labels_against_enumeration():
    labels, p, n, b = [0.0, 0.5, 1.0], [F(1, 2), F(1, 3), F(1, 6)], 3, 0.5
    one = entry(bl.pmf(p, on=bl.Finite(labels)), n, b=b)
    a = 1 / (mp.mpf(n) * b)

    def leakage(y):
        def given(x):
            terms = []
            for i, u in enumerate(labels):
                for j, v in enumerate(labels):
                    weight = mp.mpf((p[i] * p[j]).numerator) / (p[i] * p[j]).denominator
                    terms.append(weight * mp.exp(-a * abs(n * mp.mpf(y) - x - u - v)))
            return mp.fsum(terms)

        values = [given(x) for x in labels]
        own = mp.fsum(
            mp.mpf(q.numerator) / q.denominator * v for q, v in zip(p, values, strict=True)
        )
        return mp.log(max(values) / own), mp.log(own / min(values))

    beyond = [leakage(2.0), leakage(-1.0)]
    holds(bl.pmc(one).sup(), max(v[1] for v in beyond), 1e-6)
    sup = bl.pml(one).sup()
    most = max(leakage(y)[0] for y in np.linspace(-1, 2, 121))
    assert most <= sup.upper
    assert sup.lower <= max(v[0] for v in beyond)
    for y, (leak, cost) in zip((2.0, -1.0), beyond, strict=True):
        holds(bl.pml(one)(y), leak, 1e-6)
        holds(bl.pmc(one)(y), cost, 1e-6)


def test_a_density_without_a_name():
    """2x is Beta(2, 1): the engine's enclosures hold the closed form of the named law."""
    written = entry(bl.Measure(lambda x: 2 * x, on=bl.Interval(0, 1)), 3, b=0.5)
    named = entry(bl.beta(alpha=2, beta=1), 3, b=0.5)
    for figure in (lambda e: bl.pmc(e).sup(), lambda e: bl.pml(e).sup(), bl.ldp):
        found, truth = figure(written), figure(named)
        assert found.lower <= truth.lower
        assert truth.upper <= found.upper
        assert found.width <= 1e-6


# -- Gaussian noise, bad input ---------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 1000])
def test_gaussian_suprema_are_infinite(n):
    one = entry(bl.beta(alpha=0.5, beta=0.5), n, "gaussian", sigma=1.0)
    for kind in (bl.pml, bl.pmc):
        assert kind(one).sup().lower == math.inf
    assert bl.ldp(one).lower == math.inf


def test_example_7_bounds_two_entries():
    """(17) on a mean: the other entry moves the outcome by at most A / n."""
    n, sigma = 2, 0.5
    one = entry(bl.uniform(bl.Interval(-1, 1)), n, "gaussian", sigma=sigma)
    for y in (1.0, 3.0, 8.0):
        assert bl.pmc(one)(y).lower >= (y - 0.5) * 1.0 / (n * sigma**2) * 0.5


def test_what_is_missing_says_so():
    one = entry(bl.beta(alpha=0.5, beta=0.75), 3, b=1.0)
    for ask in (
        lambda: bl.pmc(one)(0.5),
        lambda: bl.pml(one).tail(0.1),
        lambda: bl.maximal_leakage(one),
    ):
        with pytest.raises(bl.NotYet):
            ask()
    with pytest.raises(bl.NotYet):
        bl.pml(bl.iid(U, 3) * bl.mechanisms.laplace_mean(n=3, b=1.0)).sup()
    far = bl.pmc(entry(U, 3, "gaussian", sigma=1.0))(1e9)
    assert far.status == "undecided"
    assert far.lower == 0
    long = bl.pmc(entry(U, 10**6, "gaussian", sigma=1e-5))(0.5)  # a million terms are not summed
    assert long.status == "undecided"


def test_the_others_keep_their_law():
    """With another law of the entry the closed forms of one law for all would be wrong."""
    numbers = bl.Finite([0, 1, 5])
    for prior, other, kind, how in (
        (bl.beta(alpha=2, beta=2), bl.beta(alpha=2, beta=7), "laplace", {"b": 0.3}),
        (bl.beta(alpha=2, beta=2), U, "gaussian", {"sigma": 0.3}),
        (
            bl.pmf([F(1, 2), F(1, 2), F(0)], on=numbers),
            bl.pmf([F(1, 2), F(0), F(1, 2)], on=numbers),
            "laplace",
            {"b": 0.3},
        ),
    ):
        kernel = entry(prior, 5, kind, **how).mechanism
        again, joint = prior * kernel, other * kernel
        assert bl.pml(again).sup().upper == bl.pml(entry(prior, 5, kind, **how)).sup().upper
        for ask in (lambda j: bl.pml(j)(0.3), lambda j: bl.pmc(j)(7.0), lambda j: bl.pml(j).sup()):
            with pytest.raises(bl.NotYet):
                ask(joint)


def test_floats_of_a_series_keep_its_own_errors():
    found = _in_floats(np.array([[1.0, 0.5], [0.0, 0.25]]), ball(0.5), F(1, 3))
    truth = -0.75 - 0.25 * mp.sqrt(3) / 2
    assert found.lower() <= truth - 0.5 and truth + 0.5 <= found.upper()


def test_bad_means():
    with pytest.raises(bl.InvalidInput, match="noisy mean on 3 entries"):
        bl.iid(U, 3) * bl.mechanisms.laplace_mean(n=2, b=1.0)
    with pytest.raises(bl.InvalidInput, match="numbers"):
        bl.iid(bl.pmf([0.5, 0.5], on=bl.Finite(["a", "b"])), 2) * bl.mechanisms.laplace_mean(
            n=2, b=1.0
        )
    with pytest.raises(bl.InvalidInput, match="of="):
        bl.mechanisms.laplace_mean(n=2, b=1.0, of="median")
    with pytest.raises(bl.InvalidInput, match="sigma > 0"):
        bl.mechanisms.gaussian_mean(n=2, sigma=0.0)
    with pytest.raises(bl.InvalidInput, match="bounded interval"):
        bl.iid(bl.normal(), 2)
    with pytest.raises(bl.NotYet, match="laplace_mean"):
        bl.iid(U, 2) * bl.mechanisms.laplace(b=1.0)


@pytest.mark.slow
def test_entries_that_are_moved_and_scaled():
    """1 + 3 D leaks as D with a third of the noise; the engine's figure holds the closed form."""
    scaled = bl.from_scipy(stats.beta(2, 5, loc=1, scale=3))
    found = bl.pmc(entry(scaled, 3, b=0.75)).sup()
    truth = bl.pmc(entry(bl.beta(alpha=2, beta=5), 3, b=0.25)).sup()
    assert found.lower <= truth.lower
    assert truth.upper <= found.upper
    assert found.width < 1e-6


@pytest.mark.slow
def test_an_opaque_density_makes_estimates():
    opaque = bl.Measure(lambda x: 2 * np.array(x, dtype=float), on=bl.Interval(0, 1))
    one = entry(opaque, 3, b=0.3)
    for bound in (bl.pmc(one).sup(), bl.pml(one).sup(), bl.pmc(one)(2.0), bl.ldp(one)):
        assert bound.status == "estimate"


@pytest.mark.parametrize("n", [2, 5])
def test_gaussian_noise_on_finitely_many_numbers(n):
    """Far out the largest or the smallest label is told: -log of its probability is approached."""
    law = [F(1, 8), F(5, 8), F(1, 4)]
    one = entry(bl.pmf(law, on=bl.Finite([0, 1, 3])), n, "gaussian", sigma=1.0)
    found = bl.pml(one).sup()
    with mp.workdps(30):
        assert found.lower <= mp.log(8) <= found.upper and found.width < 1e-14
    middle = entry(
        bl.pmf([F(1, 4), F(1, 8), F(5, 8)], on=bl.Finite([0, 1, 3])), n, "gaussian", sigma=1.0
    )
    found = bl.pml(middle).sup()
    with mp.workdps(30):  # the rarest label lies between the ends: both bounds are left
        assert found.lower <= mp.log(4) <= mp.log(8) <= found.upper
    sure = entry(bl.pmf([F(1), F(0)], on=bl.Finite([0, 1])), n, "gaussian", sigma=1.0)
    assert bl.pml(sure).sup().upper == 0
