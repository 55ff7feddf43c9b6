"""Means of PML and mutual information of draws whose outcomes are a whole line, against mpmath."""

import functools
import math

import mpmath
import numpy as np
import pytest
import xarray as xr

import borel as bl
from borel.engine.draws import density_cells, information, outcome_laws
from borel.engine.draws.count_masses import CountMasses
from borel.engine.draws.density_cells import DensityCells
from borel.engine.draws.wide_boxes import wide_boxes
from borel.engine.kernels.tail_entropy import FarEntropy, largest_mean

LINE, COUNTS = bl.Reals(), bl.Integers(0, None)
B = 0.5
mp = mpmath.mp


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(25):
        yield


def learnt(build, **values):
    draws = {name: (("chain", "draw"), np.array([v])) for name, v in values.items()}
    return bl.priors.from_posterior(xr.Dataset(draws, attrs={"borel_draws": "exact"}), build)


def cauchys(alpha, beta):
    return learnt(lambda d: bl.cauchy(alpha=d["a"], beta=d["b"]), a=alpha, b=beta)


def student(nu):
    """Student's t with a scale for each draw, by its formula."""
    log_c = math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2) - math.log(nu * math.pi) / 2

    def log_density(x, s):
        return log_c - np.log(s) - (nu + 1) / 2 * np.log1p((x / s) ** 2 / nu)

    def build(draw):
        return bl.Measure(log_density, LINE, log=True, params={"s": draw["s"].values})

    return learnt(build, s=[0.5, 3.0])


def cells_of(prior, kind=DensityCells):
    return kind(next(iter(prior.blocks()))[1])


CAUCHYS = [0.0, 0.0, 2.0], [1.0, 8.0, 8.0]


@functools.cache
def cauchy_cells():
    return cells_of(cauchys(*CAUCHYS))


# -- moments and tails ---------------------------------------------------------------------------


@pytest.mark.parametrize("order", [0.25, 0.5])
def test_a_moment_of_a_heavy_tail_is_bounded(order):
    """E|X|^r = s^r / cos(pi r / 2) for Cauchy's law of scale s."""
    found = cauchy_cells().moment(order)
    for value, scale in zip(found[:2], (1, 8), strict=True):
        truth = mpmath.mpf(scale) ** order / mp.cos(mp.pi * order / 2)
        assert truth <= value <= 2 * truth


def test_no_moment_is_claimed_where_there_is_none():
    assert np.isposinf(cauchy_cells().moment(1.0)).all()


@pytest.mark.slow
def test_a_moment_of_a_law_by_its_formula():
    """E|X| = 2 s sqrt(nu) / ((nu - 1) B(nu / 2, 1 / 2))."""
    found = cells_of(student(3)).moment(1.0)
    for value, scale in zip(found, (0.5, 3.0), strict=True):
        truth = 2 * scale * mp.sqrt(3) / (2 * mp.beta(mpmath.mpf(3) / 2, 0.5))
        assert truth <= value <= 2 * truth


def test_what_no_cell_covers_has_a_part_in_a_moment(monkeypatch):
    """Of a mass m that is said to be beyond the last cell, at e, E|X| has m e at least."""
    cells = cells_of(learnt(lambda d: bl.laplace(mu=0.0, b=d["b"]), b=[1.0, 2.0]))
    ends = [min(map(abs, pair)) for pair in cells.ends]
    monkeypatch.setattr(density_cells, "_DISTANCES", [2.0**12])
    without = cells.moment(1.0)
    cells.mass = cells.mass[0], cells.mass[1] + 0.125
    assert max(ends) < 2**12
    assert (cells.moment(1.0) - without >= sum(ends) / 8 * (1 - 1e-9)).all()


@pytest.mark.parametrize("distance", [0.5, 3.0, 1e3, 1e9])
def test_the_mass_beyond_a_distance(distance):
    found = cauchy_cells().beyond(distance)
    for value, a, s in zip(found, (0, 0, 2), (1, 8, 8), strict=True):
        d = mpmath.mpf(distance)
        truth = 1 - (mp.atan((d - a) / s) + mp.atan((d + a) / s)) / mp.pi
        assert truth <= value <= (1 if truth > 0.125 else 4 * truth)


@pytest.mark.parametrize(
    ("build", "values", "means"),
    [
        (lambda d: bl.poisson(mu=d["v"]), [2.0, 0.25], [2, 0.25]),
        (lambda d: bl.negative_binomial(mu=d["v"], alpha=0.5), [2.0, 0.25], [2, 0.25]),
        (lambda d: bl.geometric(p=d["v"]), [0.5, 0.25], [2, 4]),
    ],
)
def test_counts_have_their_means(build, values, means):
    cells = cells_of(learnt(build, v=values), CountMasses)
    assert (means <= cells.moment(1.0)).all()
    assert (cells.moment(1.0) <= np.array(means) * (1 + 1e-9)).all()
    assert (np.sqrt(means) <= cells.moment(0.5)).all()
    far = float(cells.points[-1])
    assert (cells.beyond(far) <= 2e-12).all()
    assert (cells.beyond(far - 1) == 1).all()  # not looked at


# -- bounds on half-lines ------------------------------------------------------------------------


class OfCauchy(FarEntropy):
    """What is said of outcomes of Cauchy's law, with f(y|x) <= 1."""

    height = 0.0

    def __init__(self, order):
        self.order = order
        self.distance = 1 / math.cos(math.pi * order / 2) * (1 + 1e-15)


@pytest.mark.parametrize("order", [0.25, 0.5])
@pytest.mark.parametrize("start", [-2.0, 0.0, 5.0, 1e4])
def test_a_half_line_of_a_heavy_tail(order, start):
    mass = (0.5 - math.atan(start) / math.pi) * (1 + 1e-12)
    (found,) = OfCauchy(order).mean(np.array([start]), np.array([math.inf]), np.array([mass]))
    (other,) = OfCauchy(order).mean(np.array([-math.inf]), np.array([-start]), np.array([mass]))
    f = lambda y: 1 / (mp.pi * (1 + y * y))  # noqa: E731
    g = lambda t: -f(mp.exp(t)) * mp.log(f(mp.exp(t))) * mp.exp(t)  # noqa: E731
    inner = mp.quad(lambda y: -f(y) * mp.log(f(y)), [start, (start + 1) / 2, 1]) if start < 1 else 0
    truth = inner + mp.quad(g, [mp.log(max(start, 1)), 10, 20, 40, 80])
    assert truth <= found <= 8 * truth
    assert found == other


@pytest.mark.parametrize("width", [1.0, 0.125])
@pytest.mark.parametrize("mass", [1e-9, 0.25, 1.0])
def test_the_mean_over_a_box_of_some_mass(width, mass):
    """It is the largest for a constant density, and rises up to a density of 1/e."""
    truth = max(
        q * (mp.log(width) - mp.log(q))
        for q in (mpmath.mpf(mass), min(mpmath.mpf(mass), mpmath.mpf(width) / mp.e))
    )
    found = largest_mean(mass, math.log(width))
    assert max(truth, 0) <= found <= max(truth, 0) + 1e-9


# -- boxes that are wide for the noise -----------------------------------------------------------


def law_of(joint, kind=outcome_laws.OutcomeLaw):
    engine = bl.pml(joint)._engine()
    more = ("pml",) if kind is outcome_laws.OutcomeLaw else ()
    return kind(engine.shared, engine.support("pml"), *more), next(engine.blocks()).cells


def test_the_moments_of_noise():
    """Laplace noise: L(U) = |U| / b is exponential. Gaussian noise: L(U) = U^2 / 2 s^2."""
    for made, size, loss, both, beyond, at in (
        (
            bl.mechanisms.laplace(b=0.5, secret=LINE), 0.5, 1, 1,
            lambda s: mp.exp(-2 * s), lambda s: mp.exp(-2 * s),
        ),
        (
            bl.mechanisms.gaussian(sigma=2.0, secret=LINE),
            2 * mp.sqrt(2 / mp.pi), mpmath.mpf(1) / 2, 2 * mp.sqrt(2 / mp.pi),
            lambda s: mp.erfc(s / mp.sqrt(8)), lambda s: mp.npdf(s, 0, 2),
        ),
    ):  # fmt: skip
        law, _ = law_of(learnt(lambda d: bl.normal(mu=d["m"]), m=[0.0]) * made)
        found = law.noise
        assert size <= found.size <= 1.05 * size
        assert found.loss[0] <= loss <= found.loss[1]
        assert 0.95 * loss <= found.loss[0] and found.loss[1] <= 1.05 * loss
        assert both <= found.loss_size <= 1.05 * both
        for s, mass in zip(map(mpmath.mpf, found.reaches), found.beyond, strict=True):
            assert beyond(s) <= mass <= 2 * beyond(s) + mpmath.mpf(10) ** -300
        for s, top in zip(map(mpmath.mpf, found.reaches), found.above, strict=True):
            assert at(s) <= top  # not 0 where floats underflow


@pytest.mark.parametrize("box", [(-3.0, 0.5), (64.0, 65.0), (-1e6, -1e3), (1e3, 2.0**60)])
def test_masses_and_densities_of_draws_between_points(box):
    ends = [np.array([v]) for v in box]
    mass, density = cauchy_cells().between(*ends), cauchy_cells().range_of(*ends)
    for k, (a, s) in enumerate(map(mpmath.mpf, pair) for pair in zip(*CAUCHYS, strict=True)):
        p = lambda x, a=a, s=s: s / mp.pi / (s * s + (x - a) ** 2)  # noqa: E731
        least, most = (mp.atan((v - a) / s) / mp.pi for v in map(mpmath.mpf, box))
        assert mass[0][k, 0] <= most - least <= mass[1][k, 0] <= mass[0][k, 0] + 1e-5
        values = [p(mpmath.mpf(v)) for v in box] + [p(a)] * (box[0] < a < box[1])
        assert density[0][k, 0] <= min(values) and max(values) <= density[1][k, 0]
        assert density[1][k, 0] <= 4 * max(values)


def test_errors_that_are_lost_in_sums_of_them_count():
    """A difference of sums of errors is off by the roundings of sums over all cells."""
    cells = cells_of(cauchys(*CAUCHYS))
    middle, radius = cells._running
    cells._running = middle, radius + 2.0**60
    low, high = cells.between(np.array([0.0]), np.array([1.0]))
    assert (low == 0).all() and (high == 1).all()


def noisy_cauchy(y, m, s):
    """The density of Cauchy's law with Laplace noise, by exponential integrals."""
    side = lambda v: mp.im(mp.exp(-2 * (v + s * 1j)) * mp.e1(-2 * (v + s * 1j)))  # noqa: E731
    return (side(y - m) + side(m - y)) / mp.pi


BOXES = [(64.0, 96.0), (-1024.0, -992.0), (512.0, 4096.0), (-8.0, 24.0)]


@pytest.mark.cases("slow", "box1", "box2", "box3")
@pytest.mark.parametrize("box", BOXES)
def test_boxes_that_are_wide_for_the_noise(box):
    """Cauchy's law and Laplace noise."""
    joint = cauchys([0.0, 2.0], [1.0, 8.0]) * bl.mechanisms.laplace(b=B, secret=LINE)
    law, cells = law_of(joint)
    other, _ = law_of(joint, information.OutcomeInformation)
    low, high = (np.array([v]) for v in box)
    lines, more = law._wide(cells, low, high), other._wide(cells, low, high)
    cuts = [-25, -6, -1, 0, 1, 6, 25]
    ends = [mpmath.mpf(v) for v in box]
    for k, (m, s) in enumerate(map(mpmath.mpf, pair) for pair in ((0, 1), (2, 8))):
        f = functools.partial(noisy_cauchy, m=m, s=s)

        def inside(u, m=m, s=s):
            ends_ = (mp.atan((v - u - m) / s) / mp.pi for v in ends)
            return mp.exp(-2 * abs(u)) * (-next(ends_) + next(ends_))

        mass = mp.quad(inside, cuts, maxdegree=4)
        entropy = mp.quad(lambda y, f=f: -f(y) * mp.log(f(y)), mp.linspace(*ends, 3), maxdegree=3)
        loss = mp.quad(lambda u: inside(u) * 2 * abs(u), cuts, maxdegree=4)
        pml = [-mp.log(f(v)) for v in (*ends, mp.fsum(ends) / 2, *[m] * (ends[0] < m < ends[1]))]
        assert lines.mass_low[k, 0] <= mass <= lines.mass_high[k, 0] <= 1.5 * mass
        assert lines.low_at[k, 0] <= min(pml) and max(pml) <= lines.high_at[k, 0]
        of_loss = [v[k, 0] for v in wide_boxes(law.noise, cells, low, high).loss]
        assert of_loss[0] <= loss <= of_loss[1]
        # where f_Y is not nearly constant less is known
        share, times = (0.02, 2.1) if ends[0] < 0 < ends[1] else (0.1, 2)
        for found, truth in ((lines, entropy), (more, entropy - loss)):
            least, most = (v[k, 0] for v in found.means())
            assert share * truth <= least <= truth <= most <= times * truth


# -- figures -------------------------------------------------------------------------------------


def figures(joint):
    means = bl.pml(joint).by_draw.mean().draws, bl.mutual_information(joint).draws
    return [[d[end].values.ravel() for end in ("lower", "upper")] for d in means]


def check(joint, truths, width):
    mean, information = figures(joint)
    for k, (of_mean, of_information) in enumerate(truths):
        for (low, high), truth in ((mean, of_mean), (information, of_information)):
            assert low[k] <= truth <= high[k]
            assert high[k] - low[k] <= width


@pytest.mark.slow
def test_counts_with_noise_on_a_line():
    mus = [1.0, 3.0]
    joint = learnt(lambda d: bl.poisson(mu=d["mu"]), mu=mus)
    joint = joint * bl.mechanisms.laplace(b=B, secret=COUNTS)
    truths = []
    for mu in map(mpmath.mpf, mus):
        p = [mp.exp(-mu) * mu**n / mp.factorial(n) for n in range(24)]  # and 1 / 2b = 1
        afters = [0]
        for q in reversed(p):
            afters.append((afters[-1] * mp.exp(-2) + q) if len(afters) > 1 else q)
        below, after = 0, afters[-1]
        # over y < 0, where f_Y = after e^(2y) and the kernel is e^(2y) at most
        pml, entropy = (after / 2 * (k - mp.log(after)) for k in (0, 1))
        for n, q in enumerate(p):  # f_Y(n + u), u in (0, 1): the nearest secret is n or n + 1
            below, after = below * mp.exp(-2) + q, afters[-2 - n] * mp.exp(-2)
            f = lambda u, a=below, c=after: a * mp.exp(-2 * u) + c * mp.exp(2 * u)  # noqa: E731
            log = lambda u, f=f: f(u) * mp.log(f(u))  # noqa: E731
            near = lambda u, f=f: f(u) * 2 * min(u, 1 - u)  # noqa: E731
            part = -mp.quad(log, [0, 1], maxdegree=3)
            entropy += part
            pml += part - mp.quad(near, [0, 0.5, 1], maxdegree=3)
        truths.append((pml, entropy - 1))
    check(joint, truths, 2e-3)


@pytest.mark.slow
def test_counts_with_noise_on_integers():
    mus, a = [1.0, 4.0], mp.exp(-mpmath.mpf(1) / 2)
    joint = learnt(lambda d: bl.negative_binomial(mu=d["mu"], alpha=2.0), mu=mus)
    joint = joint * bl.mechanisms.discrete_laplace(b=2, secret=COUNTS)
    c, truths = (1 - a) / (1 + a), []
    noise = {k: c * a ** abs(k) for k in range(-400, 401)}
    for mu in map(mpmath.mpf, mus):
        q = mu / (mu + 2)
        p = [(n + 1) * (1 - q) ** 2 * q**n for n in range(200)]
        f = {y: sum(p[n] * noise[y - n] for n in range(200)) for y in range(-150, 200)}
        pml = sum(v * mp.log((c if y >= 0 else c * a ** (-y)) / v) for y, v in f.items())
        entropies = [-sum(v * mp.log(v) for v in law.values()) for law in (f, noise)]
        truths.append((pml, entropies[0] - entropies[1]))
    check(joint, truths, 1e-7)


@pytest.mark.truths
def test_a_normal_secret():
    mus, sigmas = [0.0, 0.5], [1.0, 2.0]
    joint = learnt(lambda d: bl.normal(mu=d["m"], sigma=d["s"]), m=mus, s=sigmas)
    truths = []
    for s in map(mpmath.mpf, sigmas):

        def term(y, s=s):
            z = mp.exp(2 * s * s)
            up, down = mp.exp(2 * y), mp.exp(-2 * y)
            f = z * (down * mp.ncdf(y / s - 2 * s) + up * mp.ncdf(-y / s - 2 * s))
            return -f * mp.log(f)

        entropy = 2 * mp.quad(term, [0, 1, 3, 6, 12, 20])
        truths.append((entropy, entropy - 1))  # the kernel is at most 1, everywhere
    check(joint * bl.mechanisms.laplace(b=B, secret=LINE), truths, 4e-3)


@pytest.mark.truths
@pytest.mark.slow
def test_a_secret_without_a_mean():
    """Laplace noise on Cauchy's law: f_Y by exponential integrals."""
    joint = cauchys([0.0], [1.0]) * bl.mechanisms.laplace(b=B, secret=LINE)

    def term(y):
        f = noisy_cauchy(y, 0, 1)
        return -f * mp.log(f)

    def far(t):  # f_Y tends to 1 / (pi y^2) far out
        y = mp.exp(t)
        f = (1 + mpmath.mpf(3) / (2 * y * y)) / (mp.pi * (1 + y * y))
        return -f * mp.log(f) * y

    entropy = 2 * (mp.quad(term, [0, 1, 4, 20, 100]) + mp.quad(far, [mp.log(100), 20, 60]))
    mean = bl.pml(joint).by_draw.mean()
    with bl.options(budget=15):
        information_ = bl.mutual_information(joint)
    for found, truth, width in ((mean, entropy, 0.05), (information_, entropy - 1, 0.3)):
        low, high = (found.draws[end].values.ravel() for end in ("lower", "upper"))
        assert low[0] <= truth + mpmath.mpf(10) ** -6
        assert truth - mpmath.mpf(10) ** -6 <= high[0] <= low[0] + width


@pytest.mark.slow
def test_a_search_that_ends_early_keeps_what_it_knew():
    """What is not looked at any more counts as it was before: E PML stays finite.

    It is the entropy of Y, at least the entropy of the secret, log 4 pi s.
    """
    joint = cauchys([0.0, 0.0], [1.0, 8.0]) * bl.mechanisms.laplace(b=B, secret=LINE)
    with bl.options(budget=0.5):
        mean = bl.pml(joint).by_draw.mean().draws
    for k, s in enumerate((1, 8)):
        assert mp.log(4 * mp.pi * s) <= mean["upper"].values.ravel()[k] <= 60


def test_boxes_that_no_time_is_left_for_have_their_mass(monkeypatch):
    """Of 100 boxes 64 are looked at; beside them no others are asked for."""
    law, cells = law_of(cauchys([0.0], [1.0]) * bl.mechanisms.laplace(b=B, secret=LINE))
    edges = np.linspace(-50, 50, 101)
    monkeypatch.setattr(law.search, "_first", lambda _: (edges[:-1], edges[1:]))
    monkeypatch.setattr(outcome_laws.settings, "late", lambda _: True)
    lines = law.lines(cells)
    # the mass from 14 to 50, nearly; there f_Y is below 1 / 14^2 pi
    own = (mp.atan(50) - mp.atan(14)) / mp.pi - mpmath.mpf(10) ** -4
    assert lines.mass_high.shape == (1, 65)
    assert lines.mass_high[0, -1] >= own and np.isinf(lines.high_at[0, -1])
    assert lines.mean_high[0, -1] >= own * mp.log(mp.pi * 14**2)


def test_a_tail_that_is_too_light_is_seen(monkeypatch):
    """With a tenth of a mass far out, and a tenth of its mean, the truth is missed."""
    joint = learnt(lambda d: bl.poisson(mu=d["mu"]), mu=[1.0, 3.0])
    joint = joint * bl.mechanisms.laplace(b=B, secret=COUNTS)
    monkeypatch.setattr(FarEntropy, "tail", lambda self, edge: 0.0)
    monkeypatch.setattr(outcome_laws, "_FAR_MASS", 1.0)
    monkeypatch.setattr(outcome_laws, "far_means", lambda *_: np.zeros(2))
    high = figures(joint)[0][1]
    assert (high < [1.00538265, 1.53518321]).any()
