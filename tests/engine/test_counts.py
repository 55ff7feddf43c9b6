"""Noise on counts: countable secrets with continuous outcomes, against sums at 40 digits."""

import math
from functools import cache

import mpmath
import numpy as np
import pytest
from flint import arb, ctx

import borel as bl
from borel.engine import engine_for
from borel.engine.kernels.leakage_on_boxes import side
from borel.engine.problem.secret_and_kernel import Surface, secret_of
from borel.engine.problem.truncated_prior import Head, trimmed

MP = mpmath.mp.clone()
MP.dps = 40
INF, LINE, UNIT = math.inf, bl.Reals(), bl.Interval(0, 1)
TERMS = 90
ROOT = 2.5066282746310002  # the float next to sqrt(2 pi)


def laplace(y, x):
    return np.exp(-abs(y - x)) / 2


def gauss(y, x):
    return np.exp(-((y - x) ** 2) / 2) / ROOT


def settles(y, x):
    return 1 + (2 * y - 1) / (x + 2)


class Truth:
    """Sums over the first integers; what they leave out does not reach 40 digits."""

    def __init__(self, mass, kernel, first=0):
        self.points = [MP.mpf(n) for n in range(first, first + TERMS)]
        self.mass, self.kernel = [mass(n) for n in self.points], kernel

    def rows(self, y):
        return [self.kernel(MP.mpf(y), n) for n in self.points]

    def density(self, y):
        return MP.fdot(self.mass, self.rows(y))

    def pml(self, y):
        return MP.log(max(self.rows(y)) / self.density(y))


def poisson(n):
    return MP.exp(-2) * MP.mpf(2) ** n / MP.factorial(n)


def mp_laplace(y, x):
    return MP.exp(-abs(y - x)) / 2


def mp_gauss(y, x):
    return MP.exp(-((y - x) ** 2) / 2) / MP.mpf(ROOT)


class LaplaceTruth(Truth):
    """Between k and k + 1, 2 f_Y(y) = A e^-y + B e^y, with sums A and B up to k and beyond."""

    def __init__(self):
        super().__init__(poisson, mp_laplace)
        pairs = list(zip(self.points, self.mass, strict=True))
        self.sums = {
            k: (
                MP.fsum(p * MP.exp(n) for n, p in pairs if n <= k),
                MP.fsum(p * MP.exp(-n) for n, p in pairs if n > k),
            )
            for k in range(-1, TERMS - 1)
        }

    def at(self, y):
        return self.sums[min(max(int(MP.floor(y)), -1), TERMS - 2)]

    def density(self, y):
        a, b = self.at(y)
        return (a * MP.exp(-y) + b * MP.exp(y)) / 2

    def pml(self, y):
        nearest = max(MP.nint(y), MP.mpf(0))
        return MP.log(mp_laplace(y, nearest) / self.density(y))

    def mass_between(self, u, v):
        a, b = self.at((u + v) / 2)
        return (a * (MP.exp(-u) - MP.exp(-v)) + b * (MP.exp(v) - MP.exp(u))) / 2

    def tail(self, t):
        """Return P{PML > t}: on each half PML is monotone, with a crossing in closed form."""
        total = MP.mpf(0)
        # below 0 it does not vary
        if self.pml(MP.mpf(-1)) > t:
            total += self.sums[-1][1] / 2
        for n in range(TERMS - 2):
            a, b = self.sums[n]
            middle = n + MP.mpf(1) / 2
            right = MP.exp(n - t) - a  # PML > t where b e^2y < right
            if right > 0:
                total += self.mass_between(MP.mpf(n), max(n, min(MP.log(right / b) / 2, middle)))
            left = MP.exp(-n - 1 - t) - b  # PML > t where a e^-2y < left
            if left > 0:
                start = min(n + 1, max(-MP.log(left / a) / 2, middle))
                total += self.mass_between(start, MP.mpf(n + 1))
        return total


def two_sided():
    return bl.Measure(lambda n: 2.0 ** -abs(n) / 3, on=bl.Integers())


LAPLACE, GAUSS = LaplaceTruth(), Truth(poisson, mp_gauss)


@cache
def noisy(name):
    prior = bl.poisson(mu=2.0)
    kernel = {"laplace": laplace, "gauss": gauss}[name]
    return prior * bl.Mechanism(kernel, secret=prior.on, outcome=LINE)


@cache
def settling():
    prior = bl.geometric(p=0.5)
    return prior * bl.Mechanism(settles, secret=prior.on, outcome=UNIT)


SETTLES = Truth(lambda n: MP.mpf(2) ** -n, lambda y, x: 1 + (2 * y - 1) / (x + 2), 1)


def within(bound, truth, width=None):
    assert bound.status in ("certified", "conditional"), bound
    assert bound.lower <= truth <= bound.upper, (bound.lower, truth, bound.upper)
    assert width is None or bound.width <= width, bound.width


@pytest.mark.parametrize(("name", "truth"), [("laplace", LAPLACE), ("gauss", GAUSS)])
@pytest.mark.parametrize("y", [-30.0, -0.5, 0.0, 0.25, 3.0, 3.5, 17.25, 24.0])
def test_pml_at_an_outcome(name, truth, y):
    within(bl.pml(noisy(name))(y), truth.pml(y), 1e-8)


@pytest.mark.parametrize("y", [40.0, 60.0, -700.0])
def test_far_out_an_enclosure_may_be_wide_but_holds(y):
    found = bl.pml(noisy("laplace"))(y)
    assert found.lower <= LAPLACE.pml(y) <= found.upper


@pytest.mark.parametrize("y", [300.0, 5000.0, 1e6])
def test_where_floats_have_no_such_masses(y):
    """P{0} e^-y <= 2 f_Y(y) <= e^-y E e^X there."""
    found = bl.pml(noisy("laplace"))(y)
    assert found.lower <= y + 2
    assert y - 2 * (math.e - 1) <= found.upper


@pytest.mark.truths
@pytest.mark.parametrize("name", ["laplace", "gauss"])
def test_no_count_can_be_told_from_all_others(name):
    """The kernel falls to 0 along the counts: PMC is infinite at every outcome."""
    pmc = bl.pmc(noisy(name))
    for y in (-2.0, 0.5, 3.0):
        assert pmc(y).lower == INF
    assert pmc.sup().lower == INF
    assert pmc.mean().lower == INF
    assert pmc.quantile(0.5).lower == INF


@pytest.mark.parametrize("name", ["laplace", "gauss"])
def test_pml_is_unbounded_for_the_count_next_to_the_outcome(name):
    """f_Y -> 0 while the density of the next integer is at least f(1/2|0)."""
    pml = bl.pml(noisy(name))
    assert pml.sup().lower == INF
    assert pml.exp_mean().lower == INF
    assert bl.ldp(noisy(name)).lower == INF


def gauss_mean():
    """Integrate between half-integers, where one count is the most revealing, by 24 nodes each."""
    old, ctx.prec = ctx.prec, 128
    try:
        nodes = [arb.legendre_p_root(24, k, True) for k in range(24)]
        mass = [(-arb(2)).exp() * arb(2) ** n / arb(n).fac() for n in range(60)]
        total = arb(0)
        for k in range(-16, 52):
            for node, weight in nodes:
                y = (arb(2 * k + 1) + node) / 4
                rows = [(-((y - n) ** 2) / 2).exp() / ROOT for n in range(60)]
                f_y = sum((p * f for p, f in zip(mass, rows, strict=True)), arb(0))
                total += weight / 4 * f_y * (max(rows, key=float) / f_y).log()
        return MP.mpf(total.mid().str(35, radius=False))
    finally:
        ctx.prec = old


def laplace_mean():
    marks = [MP.mpf(k) / 2 for k in range(-120, 121)]
    return MP.quad(lambda y: LAPLACE.density(y) * LAPLACE.pml(y), marks)


@pytest.mark.cases("truths", "laplace-laplace_mean")
@pytest.mark.parametrize(("name", "truth"), [("laplace", laplace_mean), ("gauss", gauss_mean)])
def test_the_mean_of_pml(name, truth):
    """Beyond the ends of the integral the mean is far below the width of the enclosure."""
    within(bl.pml(noisy(name)).mean(), truth(), 1e-8)


@pytest.mark.cases("slow", "0.9")
@pytest.mark.cases("truths", "0.5", "0.7", "1.2")
@pytest.mark.parametrize("t", [0.5, 0.7, 0.9, 1.2])
def test_tails_and_quantiles(t):
    total = LAPLACE.tail(MP.mpf(t))
    found = bl.pml(noisy("laplace")).tail(t)
    within(found, total, 1e-8)
    level = 1 - total
    around = [bl.pml(noisy("laplace")).quantile(float(level + d)) for d in (-1e-6, 1e-6)]
    assert around[0].lower <= t <= around[1].upper


class TestAKernelThatSettlesDown:
    """f(y|n) -> 1 along the counts: the infimum is approached there, and never met."""

    def extreme(self, y, kind):
        e = 2 * MP.mpf(y) - 1
        values = [1 + e / 3, MP.mpf(1)]
        density = 1 + e * MP.fdot(SETTLES.mass, [1 / (n + 2) for n in SETTLES.points])
        return MP.log(max(values) / density) if kind == "pml" else MP.log(density / min(values))

    @pytest.mark.parametrize("kind", ["pml", "pmc"])
    @pytest.mark.parametrize("y", [0.0, 0.25, 0.75, 1.0])
    def test_at_an_outcome(self, kind, y):
        within(getattr(bl, kind)(settling())(y), self.extreme(y, kind), 1e-8)

    @pytest.mark.parametrize("kind", ["pml", "pmc"])
    def test_the_supremum(self, kind):
        truth = max(self.extreme(y, kind) for y in (0, 1))
        within(getattr(bl, kind)(settling()).sup(), truth, 1e-8)

    def test_ldp(self):
        within(bl.ldp(settling()), MP.log(MP.mpf(3) / 2), 1e-8)

    @pytest.mark.parametrize("kind", ["pml", "pmc"])
    def test_the_means(self, kind):
        found = getattr(bl, kind)(settling())
        density = lambda y: 1 + (2 * y - 1) * self.mean_share()  # noqa: E731
        for what, g in (("mean", lambda v: v), ("exp_mean", MP.exp)):
            truth = MP.quad(lambda y, g=g: density(y) * g(self.extreme(y, kind)), [0, 0.5, 1])
            within(getattr(found, what)(), truth, 1e-8)

    @pytest.mark.parametrize(("kind", "t", "s"), [("pml", 0.1, 0.5), ("pmc", 0.2, 0.75)])
    def test_the_law(self, kind, t, s):
        """The leakage grows on either side of 1/2: a level is exceeded beyond two roots."""
        found, share = getattr(bl, kind)(settling()), self.mean_share()
        half = MP.mpf(1) / 2

        def beyond(level):  # the mass of the outcomes that leak more
            total = MP.mpf(0)
            for end in (0, 1):
                if self.extreme(end, kind) > level:
                    gap = lambda y: self.extreme(y, kind) - level  # noqa: E731
                    root = MP.findroot(gap, (half, end), solver="anderson", tol=1e-25)
                    v, width = 2 * root - 1, abs(end - root)  # f_Y is linear
                    total += width * (1 + (v + (2 * end - 1)) / 2 * share)
            return total

        within(found.tail(t), beyond(t), 1e-8)
        quantile = found.quantile(s)
        assert quantile.proved and quantile.width <= 2e-8
        assert beyond(quantile.upper + 1e-12) <= 1 - s <= beyond(quantile.lower - 1e-12)

    @staticmethod
    @cache
    def mean_share():
        return MP.fdot(SETTLES.mass, [1 / (n + 2) for n in SETTLES.points])


class TestPriors:
    def test_what_is_beyond_the_head_is_held_by_boxes(self):
        for prior in (bl.poisson(mu=2.0), bl.poisson(mu=100.0), bl.geometric(p=0.01), two_sided()):
            secret = secret_of(prior, ())
            assert 1 - 1e-9 <= secret.weight_high.sum() + secret.rest_mass
            assert secret.weight_low.sum() <= 1 + 1e-12
            charged = set(secret.atoms[secret.weight_low > 0][:, 0].tolist())
            for n in range(-500 if prior.on.lower is None else prior.on.lower, 5000):
                held = any(a <= n <= b for a, b in secret.rest)
                assert held or float(n) in charged, (prior, n)

    def test_a_tail_that_is_not_declared_is_no_assumption_where_the_sum_is_proved(self):
        prior = two_sided()
        joint = prior * bl.Mechanism(laplace, secret=prior.on, outcome=LINE)
        found = bl.pml(joint)(0.25)
        assert found.status == "certified"
        assert not any("tail" in line for line in found.assumptions)
        rows = [mp_laplace(MP.mpf(0.25), MP.mpf(n)) for n in range(-300, 301)]
        mass = [MP.mpf(2) ** -abs(n) / 3 for n in range(-300, 301)]
        within(found, MP.log(max(rows) / MP.fdot(mass, rows)), 1e-8)

    @pytest.mark.slow
    def test_a_heavy_tail_makes_figures_wide_not_wrong(self):
        prior = bl.Measure(
            lambda n: 0.6079271018540267 / n**2,
            on=bl.Integers(1, None),
            tail=lambda n: 0.6079271018540267 / n,
        )
        joint = prior * bl.Mechanism(laplace, secret=prior.on, outcome=LINE)
        y = MP.mpf(3)
        total = MP.nsum(lambda n: MP.mpf(0.6079271018540267) / n**2 * mp_laplace(y, n), [1, 200])
        within(bl.pml(joint)(3.0), MP.log(MP.mpf(0.5) / total), 1e-8)
        # no moment bounds the mean: nothing is claimed from above
        with bl.options(budget=2.0):
            assert bl.pml(joint).mean().upper == INF

    @pytest.mark.parametrize("y", [0.0, 0.25, 1.0])
    def test_what_a_heavy_tail_adds_to_the_marginal_is_not_lost(self, y):
        """Beyond the head are 3e-4 of the mass, where this kernel is about 1."""
        c = 6 / MP.pi**2
        prior = bl.Measure(
            lambda n: 6 / np.pi**2 / n**2, on=bl.Integers(1, None), tail=lambda n: 6 / np.pi**2 / n
        )
        joint = prior * bl.Mechanism(settles, secret=prior.on, outcome=UNIT)
        share = c * MP.nsum(lambda n: 1 / (n**2 * (n + 2)), [1, MP.inf])
        e = 2 * MP.mpf(y) - 1
        ends = [1 + e / 3, MP.mpf(1)]
        for kind, truth in (
            ("pml", MP.log(max(ends) / (1 + e * share))),
            ("pmc", MP.log((1 + e * share) / min(ends))),
        ):
            found = getattr(bl, kind)(joint)(y)
            assert found.lower <= truth <= found.upper
            assert 1e-5 < found.width < 1e-3

    @pytest.mark.truths
    def test_an_infinite_pmc_needs_counts_with_mass(self):
        """Only counts up to 5 have mass: PMC is finite, and is not said to be infinite."""
        prior = bl.Measure(
            lambda n: np.where(n < 6, 1 / 6, 0.0),
            on=bl.Integers(0, None),
            tail=lambda n: 1.0 * (n < 5),
        )
        joint = prior * bl.Mechanism(laplace, secret=prior.on, outcome=LINE)
        y = MP.mpf(2.5)
        rows = [mp_laplace(y, n) for n in range(6)]
        truth = MP.log(sum(rows) / 6 / min(rows))
        found = bl.pmc(joint)(2.5)
        assert found.lower <= truth <= found.upper
        with bl.options(budget=2.0):
            for leak in (bl.pml(joint).sup(), bl.pmc(joint).sup(), bl.ldp(joint)):
                assert leak.lower < INF

    def test_adversaries_and_envelopes_do_not_forget_the_rest(self):
        joint = noisy("laplace")
        assert engine_for(joint).ceiling() == INF


def test_a_trimmed_head_keeps_all_of_the_mass():
    points = np.arange(10.0)
    p = np.array([0.01, 0.02, 0.03, 0.2, 0.4, 0.2, 0.06, 0.04, 0.02, 0.01])
    head = Head(points, p, p, 0.01, (np.array([10.0]), np.array([INF])))
    cut = trimmed(head, 0.05)
    assert cut.points.tolist() == [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    assert cut.high.sum() + cut.tail >= 1.0
    assert cut.tail <= 0.0701
    boxes = [*zip(*(v.tolist() for v in cut.boxes), strict=True)]
    assert sorted(boxes) == [(0.0, 1.0), (8.0, 9.0), (10.0, INF)]


def test_what_is_beyond_the_head_counts_at_every_outcome_of_a_band():
    """Beside the middle of the band the counts beyond are the most revealing, not in it."""
    wide = bl.Interval(-1, 1)
    kernel = bl.Mechanism(
        lambda y, x: (1 - 0.99 * (y * y - 1 / 3) / (1 + 1e6 * x * x)) / 2,
        secret=bl.Integers(0, None),
        outcome=wide,
    )
    secret = secret_of(bl.poisson(mu=2.0), ())
    secret.atoms, secret.rest, secret.rest_mass = np.array([[0.0]]), ((1.0, INF),), 0.9
    secret.weight_low = secret.weight_high = np.array([0.1])
    found = side(Surface(kernel.density, secret), np.array([-1.0]), np.array([1.0]), 1.0, 1e-9, INF)
    at_end = math.log((1 - 0.99 * 2 / 3) / 2)
    assert at_end + found.excess[0] >= math.log(0.4999)
    assert found.direct[0] >= math.log((1 + 0.99 / 3) / 2) - 1e-12


@pytest.mark.truths
def test_the_law_of_gaussian_noise_is_proved():
    law = bl.pml(noisy("gauss"))
    tail, cdf, median = law.tail(1.0), law.cdf(1.0), law.quantile(0.5)
    for bound in (tail, cdf, median):
        assert bound.proved and bound.width <= 2e-8
    assert tail.lower <= 1 - cdf.lower and 1 - cdf.upper <= tail.upper
    assert law.tail(median.upper + 1e-6).lower <= 0.5 <= law.tail(median.lower - 1e-6).upper
