"""Ordinary questions with sharp answers: enclosures at most 1e-8 wide, or proved infinities.

Truths are closed forms, and sums and integrals in mpmath; nothing of them comes from borel.
"""

import math

import mpmath as mp
import numpy as np
import pytest
import xarray as xr
from scipy import special, stats

import borel as bl
from borel.engine import certified_engine, engine_for
from borel.engine.infinite.proofs import Search
from borel.engine.kernels import leakage_far_out
from borel.engine.kernels.ratios_far_out import fall_of
from borel.engine.problem.reduced_joint import on_steps
from borel.numerics.germs.interpreter import ray
from borel.numerics.germs.order_bounds import Ray
from borel.numerics.germs.tail_quotients import TailRatios
from borel.numerics.graphs import rewrite
from borel.numerics.graphs.constant_folding import folded
from borel.numerics.graphs.trace import trace

N0, Z, UNIT, LINE = bl.Integers(0, None), bl.Integers(), bl.Interval(0, 1), bl.Reals()
INF = math.inf


def holds(bound, truth, width=1e-8):
    """Assert that an enclosure is proved, holds the truth, and is narrow, relatively above 1."""
    assert bound.status != "estimate"
    if truth == INF:
        assert bound.lower == INF
        return
    with mp.workdps(40):
        assert mp.mpf(bound.lower) <= truth <= mp.mpf(bound.upper)
    assert bound.upper - bound.lower <= width * max(1.0, abs(bound.lower))


def mech(density, secret=UNIT, outcome=LINE, **about):
    return bl.Mechanism(density, secret=secret, outcome=outcome, **about)


# -- counts ---------------------------------------------------------------------------------------


def poisson(mu, k):
    return mp.exp(-mu) * mp.mpf(mu) ** k / mp.factorial(k)


PRIORS = {
    "poisson": (bl.poisson(mu=3.0), lambda x: poisson(3, x)),
    "geometric": (bl.geometric(p=0.5), lambda x: mp.mpf(2) ** -x if x else mp.mpf(0)),
}
P = mp.mpf(0.4)
KERNELS = {
    "poisson": (lambda x: stats.poisson(x + 1), lambda y, x: poisson(x + 1, y)),
    "thinning": (
        lambda x: stats.binom(x, 0.5),
        lambda y, x: mp.binomial(x, y) / mp.mpf(2) ** x if y <= x else mp.mpf(0),
    ),
    "negative binomial": (
        lambda x: stats.nbinom(x + 1, 0.4),
        lambda y, x: mp.binomial(x + y, y) * P ** (x + 1) * (1 - P) ** y,
    ),
}
PAIRS = [(p, k) for p in PRIORS for k in KERNELS]


def of_counts(prior, kernel):
    density = bl.Mechanism.from_scipy(KERNELS[kernel][0], secret=N0, outcome=N0)
    return PRIORS[prior][0] * density


class Sums:
    """Truths of a joint of counts: the secrets and outcomes beyond the last ones are negligible."""

    def __init__(self, prior, kernel, last=170):
        self.p, self.f = PRIORS[prior][1], KERNELS[kernel][1]
        self.last = last

    def row(self, y):
        weights = [(self.p(x), self.f(y, x)) for x in range(self.last)]
        total = mp.fsum(p * f for p, f in weights)
        return weights, total, max(f for p, f in weights if p > 0)

    def pml(self, y):
        _, total, top = self.row(y)
        return mp.log(top / total)

    def means(self):
        mean = information = mp.mpf(0)
        for y in range(self.last):
            weights, total, top = self.row(y)
            mean += total * mp.log(top / total)
            information += mp.fsum(p * f * mp.log(f / total) for p, f in weights if p * f > 0)
        return mean, information


@pytest.mark.parametrize(("prior", "kernel"), PAIRS[1::2])
def test_pml_of_counts_at_an_outcome(prior, kernel):
    """The secrets beyond a head may not exceed it: the ratio of neighbours falls there."""
    holds(bl.pml(of_counts(prior, kernel))(5), Sums(prior, kernel).pml(5))


@pytest.mark.truths
@pytest.mark.parametrize("y", [0, 1, 20])
@pytest.mark.parametrize(("prior", "kernel"), PAIRS)
def test_pml_of_counts_at_more_outcomes(prior, kernel, y):
    holds(bl.pml(of_counts(prior, kernel))(y), Sums(prior, kernel).pml(y))


@pytest.mark.truths
@pytest.mark.parametrize(("prior", "kernel"), PAIRS)
def test_means_of_counts(prior, kernel):
    """The tail of the mean is bounded by E|Y|, as the masses fall from a multiple of x on."""
    joint, (mean, information) = of_counts(prior, kernel), Sums(prior, kernel).means()
    holds(bl.pml(joint).mean(), mean)
    holds(bl.mutual_information(joint), information)


@pytest.mark.parametrize(
    ("family", "outcome", "proved"),
    [
        (lambda x: stats.poisson(x + 1), N0, True),
        (lambda x: stats.binom(x, 0.5), N0, True),
        (lambda x: stats.nbinom(x + 1, 0.4), N0, True),
        (lambda x: stats.geom(0.5 + 0.0 * x), N0, True),
        (lambda x: stats.poisson(3, loc=x), N0, False),  # moved: another argument is needed
        (lambda x: stats.dlaplace(x + 1), Z, True),
    ],
)
def test_laws_of_scipy_are_normalised(family, outcome, proved):
    made = bl.Mechanism.from_scipy(family, secret=N0, outcome=outcome)
    assert made.normalisation.proved == proved


def test_secrets_that_leave_every_set_of_outcomes():
    """P(Y <= K | x) falls to 0 as x grows: PML is not bounded, and PMC is infinite at each y."""
    joint = of_counts("geometric", "negative binomial")
    found = bl.pml(joint).sup()
    assert found.lower == INF and not found.attained
    assert bl.pmc(joint)(1).lower == INF
    assert bl.maximal_leakage(joint).lower == INF


def test_secrets_that_stay_leak_little():
    """Beyond 3 all secrets have one law of Y: nothing vanishes, and nothing is infinite."""
    y = bl.Finite([0.0, 1.0, 2.0, 3.0])
    joint = bl.geometric(p=0.5) * mech(
        lambda y, x: np.where(y == np.minimum(x, 3), 0.7, 0.1), N0, y
    )
    assert bl.pml(joint).sup().upper < 2 and bl.pmc(joint).sup().upper < 2


FALLS = {
    "poisson": (lambda y, x: y * np.log(x + 1.0) - x - 1 - special.gammaln(y + 1), "yx"),
    "linear in y": (lambda y, x: -y * (1 + np.exp(-x)), "y"),
    "rises with x": (lambda y, x: x - y, "y"),
    "falls with the distance": (lambda y, x: -abs(y - 3 * x), "yx"),
    "a secret ruled out": (lambda y, x: np.where(x == 100, -np.inf, -abs(y - x)), ""),
    "rises again": (lambda y, x: -x + np.where(x > 1000, 2 * x, 0), ""),
}


@pytest.mark.parametrize("name", FALLS)
def test_what_falls_far_out(name):
    """What is claimed holds at every integer that is looked at; and is found where it is so."""
    log, moved = FALLS[name]
    graph = rewrite.simplified(trace(log, ("y", "x"), ()))
    ranges = {"x": (0.0, INF), "y": (0.0, INF)}
    for variable in "yx":
        fall = fall_of(graph, variable, 1.0, ranges)
        assert (fall is not None and fall.rate > 0) == (variable in moved)
        if fall is None:
            continue
        m = np.unique(np.geomspace(fall.start, 5000, 60).astype(int)).astype(float)
        for k in range(0, 1200, 7):
            far = m[m >= fall.first(np.array(float(k)))]
            ends = [(m_, float(k)) for m_ in (far, far + 1)]
            with np.errstate(all="ignore"):
                before, after = (log(*(e if variable == "y" else e[::-1])) for e in ends)
                step = np.broadcast_to(after - before, far.shape)
            assert (step[~np.isnan(step)] <= -fall.rate + 1e-9).all()


# -- noise on the integers ------------------------------------------------------------------------


def of_discrete_laplace(secret, outcome=Z):
    def noise(y, x):
        return np.tanh(0.25) * np.exp(-abs(y - x) / 2)

    return bl.uniform(secret) * mech(noise, secret, outcome)


@pytest.mark.parametrize("secret", [bl.Integers(0, 10), bl.Finite(list(range(11)))], ids=repr)
def test_discrete_laplace(secret):
    """Beyond the secrets all rows fall alike, on both sides: the suprema are at the ends."""
    with mp.workdps(40):
        powers = [mp.exp(-mp.mpf(k) / 2) for k in range(11)]
        pml, pmc = mp.log(11 / mp.fsum(powers)), mp.log(mp.fsum(powers) / 11 / powers[-1])
    joint = of_discrete_laplace(secret)
    holds(bl.ldp(joint), 5)
    holds(bl.pml(joint).sup(), pml)
    holds(bl.pmc(joint).sup(), pmc)


def test_noise_whose_ratios_grow_is_not_bounded():
    """Of Gaussian noise on the integers the LDP level is infinite, on the left as well."""
    secret = bl.Finite([0.0, 1.0])
    noise = float(mp.nsum(lambda k: mp.exp(-(k**2) / 2), [-mp.inf, mp.inf]))
    joint = bl.uniform(secret) * mech(lambda y, x: np.exp(-((y - x) ** 2) / 2) / noise, secret, Z)
    assert bl.ldp(joint).upper == INF and bl.pmc(joint).sup().upper == INF


# -- step functions of the secret -----------------------------------------------------------------


def laplace(step):
    return lambda y, x: np.exp(-abs(y - step(x))) / 2


def worst(kind, places, weights):
    """Return the supremum of PML or PMC of Laplace noise about finitely many places."""
    found = []
    for y in [places[0] - 1, *places, places[-1] + 1]:
        row = [mp.exp(-abs(mp.mpf(y) - place)) for place in places]
        mass = mp.fsum(w * v for w, v in zip(weights, row, strict=True))
        found.append(max(row) / mass if kind == "pml" else mass / min(row))
    return mp.log(max(found))


TENTHS = mp.mpf(0.7)
THIRD = mp.mpf(1) / 3
STEPS = {
    "threshold": (lambda x: x > 0.5, [0, 1], [0.5, 0.5]),
    "floor": (lambda x: np.floor(4 * x), [0, 1, 2, 3], [0.25] * 4),
    "select": (
        lambda x: np.select([x < 0.25, x < 0.7], [0.0, 1.0], 3.0),
        [0, 1, 3],
        [mp.mpf(0.25), TENTHS - mp.mpf(0.25), 1 - TENTHS],
    ),
    "thirds, no floats": (
        lambda x: 0.3 * np.floor(3 * x),
        [0, mp.mpf(0.3), 2 * mp.mpf(0.3)],
        [THIRD] * 3,
    ),
    "ceil": (lambda x: np.ceil(2 * x), [1, 2], [0.5, 0.5]),
    "two": (lambda x: (x > 0.5) + 2.0 * (x > 0.25), [0, 2, 3], [0.25, 0.25, 0.5]),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", STEPS)
def test_steps(name):
    step, places, weights = STEPS[name]
    holds(bl.pml(bl.uniform(UNIT) * mech(laplace(step))).sup(), worst("pml", places, weights))


@pytest.mark.truths
@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_steps_of_each_kind(name, kind):
    step, places, weights = STEPS[name]
    joint = bl.uniform(UNIT) * mech(laplace(step))
    holds(getattr(bl, kind)(joint).sup(), worst(kind, places, weights))


def test_a_threshold_of_a_normal_secret():
    with mp.workdps(40):
        above = mp.erfc(mp.mpf(0.5) / mp.sqrt(2)) / 2
        truth = mp.log(1 / (above + (1 - above) / mp.e))
    holds(bl.pml(bl.normal() * mech(laplace(lambda x: x > 0.5), LINE)).sup(), truth)


def test_a_choice_between_two_kernels():
    def density(y, x):
        return np.where(x > 0.3, np.exp(-abs(y - 1)) / 2, np.exp(-abs(y)) / 2)

    p = mp.mpf(0.3)
    holds(bl.pml(bl.uniform(UNIT) * mech(density)).sup(), mp.log(1 / (p + (1 - p) / mp.e)))
    joint = bl.uniform(UNIT) * mech(density)
    holds(bl.information_density(joint)(0.9, 1.0), mp.log(1 / (p / mp.e + 1 - p)))


@pytest.mark.parametrize(
    "density",
    [
        lambda y, x: np.exp(-abs(y - x - (x > 0.5))) / 2,
        lambda y, x: np.exp(-abs(y - np.floor(1000 * x))) / 2,
        lambda y, x: np.exp(-abs(y - (x > 0.5) - 2.0 * (x * x > 0.25))) / 2,
        lambda y, x: np.where(y > x, 1.0, 1.0) * np.exp(-abs(y)) / 2 + 0 * np.floor(x * y),
    ],
    ids=["more than a step", "too many steps", "two turns in one gap of floats", "a step of both"],
)
def test_what_is_no_step_function_alone(density):
    assert on_steps(bl.uniform(UNIT) * mech(density)) is None


def test_conditions_that_turn_between_two_floats():
    """3 x > 1 turns at 1/3: what is between two floats there has one of the two values."""
    law = on_steps(bl.uniform(UNIT) * mech(laplace(lambda x: 3 * x > 1))).prior
    p = np.asarray(law.probabilities)
    assert abs(p[0] - 1 / 3) < 1e-15 and law.rounding > 2.0**-53
    third, room = mp.mpf(1) / 3, mp.mpf(law.rounding)
    assert mp.mpf(p[0]) * (1 - room) <= third <= mp.mpf(p[0]) * (1 + room)


# -- priors, kernels without the secret, families -------------------------------------------------


@pytest.mark.slow
def test_a_prior_that_is_0_on_half_of_the_interval():
    """The secrets are those below 1/2: sup f / f_Y is at y = 0 for PML, at y = 1 or 0 for PMC."""
    prior = bl.Measure(lambda x: np.where(x < 0.5, 2.0, 0.0), on=UNIT)
    joint = prior * mech(lambda y, x: 1 + (2 * y - 1) * x, UNIT, UNIT)
    holds(bl.pml(joint).sup(), mp.log(mp.mpf(4) / 3))
    holds(bl.pmc(joint).sup(), mp.log(mp.mpf(3) / 2))
    holds(bl.ldp(joint), mp.log(2))


@pytest.mark.parametrize(
    ("density", "outcome"),
    [
        (lambda y, x: np.exp(-abs(y)) / 2 + 0 * x, LINE),
        (lambda y, x: 2 * y + x * 0.0, UNIT),
    ],
)
def test_kernels_without_the_secret(density, outcome):
    joint = bl.uniform(UNIT) * mech(density, UNIT, outcome)
    for found in (bl.pml(joint).sup(), bl.pmc(joint).sup(), bl.pml(joint).mean(), bl.ldp(joint)):
        holds(found, 0)


ROWS = [[0.8, 0.2], [0.3, 0.7]]


def family(build, low, high, rows=ROWS):
    return bl.priors.family(build, bl.Interval(low, high)) * bl.Mechanism.from_matrix(rows)


def test_families_that_touch_the_boundary():
    """As theta falls to 0 the second secret keeps a mass, and its outcome has less and less."""
    joint = family(lambda t: bl.pmf([1 - t, t]), 0.0, 0.4)
    holds(bl.pml(joint).sup(), mp.log(mp.mpf(0.7) / mp.mpf(0.2)), 1e-14)
    assert not bl.pml(joint).sup().attained


HALF = 0.2


@pytest.mark.parametrize(
    ("build", "truth"),
    [
        (lambda t: bl.pmf([1 - t, t, 0 * t]), mp.mpf(7) / 2),
        (
            lambda t: bl.pmf(
                [
                    0.5 + 2 * np.maximum(HALF - t, 0),
                    0.5 - 2 * np.maximum(HALF - t, 0) - np.maximum(t - HALF, 0),
                    np.maximum(t - HALF, 0),
                ]
            ),
            mp.mpf(14) / 5,
        ),
    ],
    ids=["never", "on half of the thetas"],
)
def test_secrets_that_thetas_do_not_charge(build, truth):
    """The third secret has 0.99 for an outcome that is least likely where nothing charges it."""
    found = bl.pml(family(build, 0.0, 0.4, [*ROWS, [0.01, 0.99]])).sup()
    assert found.lower - 1e-12 <= mp.log(truth) <= found.upper + 1e-12


# -- kinks, jumps, bounded noise ------------------------------------------------------------------


def mean_of(kind, kernel, cuts):
    """Return the mean of a leakage of a uniform secret and outcome on (0, 1)."""

    def term(y):
        grid = [0, y, 1]
        mass = mp.quad(lambda x: kernel(y, x), grid)
        values = [kernel(y, x) for x in (0, y, 1)]
        ratio = max(values) / mass if kind == "pml" else mass / min(values)
        return mass * mp.log(ratio)

    return mp.quad(term, cuts)


def truncated(sign):
    def density(y, x):
        total = 2 - np.exp(-x) - np.exp(x - 1) if sign < 0 else np.exp(x) + np.exp(1 - x) - 2
        return np.exp(sign * abs(y - x)) / total

    def exactly(y, x):
        ends = mp.exp(sign * x) + mp.exp(sign * (1 - x)) - 2
        return mp.exp(sign * abs(y - x)) / (sign * ends)

    return density, exactly


def test_the_largest_value_at_a_kink():
    """The number is the next test's, at 20 digits."""
    found = bl.pml(bl.uniform(UNIT) * mech(truncated(-1)[0], UNIT, UNIT)).mean()
    holds(found, mp.mpf("0.30334180058319094309"))


@pytest.mark.truths
def test_the_largest_value_beside_x_equal_to_y():
    """With a kink at x = y - 10^-6 the line x = y is close to it, and falls short by 10^-6."""
    shift = 2.0**-20
    joint = bl.uniform(UNIT) * mech(lambda y, x: np.exp(-abs(y - x - shift)) / 2)
    with mp.workdps(20):
        inside = [mp.mpf(k) / 4 for k in range(5)]

        def mass(y):
            return 1 - (mp.exp(-y) + mp.exp(y - 1)) / 2

        within = mp.quad(mass, inside)
        truth = -mp.quad(lambda y: mass(y) * mp.log(2 * mass(y)), inside)
        truth -= (1 - within) * mp.log(1 - mp.exp(-1))
    with bl.options(budget=5):
        holds(bl.pml(joint).mean(), truth, 1e-4)


@pytest.mark.truths
@pytest.mark.parametrize(("kind", "sign"), [("pml", -1), ("pmc", 1)])
def test_an_extreme_at_a_kink(kind, sign):
    """The largest value of e^-|y - x| / Z(x) is at x = y, and the least one of e^|y - x| / Z(x)."""
    density, exactly = truncated(sign)
    joint = bl.uniform(UNIT) * mech(density, UNIT, UNIT)
    with mp.workdps(15):
        truth = mean_of(kind, exactly, mp.linspace(0, 1, 5))
    found = getattr(bl, kind)(joint).mean()
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12 and found.width <= 1e-8


def box(width):
    return lambda y, x: np.where(abs(y - x) <= width, 0.5 / width, 0.0)


@pytest.mark.parametrize("width", [0.5, 2.0])
def test_bounded_noise(width):
    """Only secrets beside 0 lead beside -width: their mass fades, and the kernel does not."""
    found = bl.pml(bl.uniform(UNIT) * mech(box(width))).sup()
    assert found.lower == INF and found.status == "certified"


def both_noises(y, x):
    return box(0.5)(y, x) / 2 + np.exp(-abs(y - x)) / 4


@pytest.mark.parametrize(
    ("density", "fades"),
    [(box(0.5), True), pytest.param(both_noises, False, marks=pytest.mark.truths)],
)
def test_marginals_that_fade(density, fades):
    """Beside -1/2 the law of Y fades where the noise is bounded, and not beside Laplace noise."""
    search = Search(engine_for(bl.uniform(UNIT) * mech(density)))
    y = Ray(ray(-0.5, 1.0, 1.0, 1.0), "y = -1/2 + t", {"base": -0.5, "sign": 1})
    found = search.marginal.at_most(y, 2.0**-10, 0.0)
    assert (found is not None) == fades
    if fades:  # f_Y(-1/2 + t) = t
        assert found.exponent <= 1
        for t in (2.0**-10, 2.0**-20):
            assert t <= math.exp(found.weight) * t**found.exponent


@pytest.mark.truths
def test_bounded_noise_beside_other_noise():
    """Half of the time the noise is Laplace's: f_Y does not fade, and nothing is infinite."""
    with bl.options(budget=5):
        found = bl.pml(bl.uniform(UNIT) * mech(both_noises)).sup()
    # at y just above -1/2: f(y|0) = 1/2 + e^-1/2 / 4, and f_Y is the Laplace part alone
    e = mp.exp(-mp.mpf(1) / 2)
    truth = mp.log((mp.mpf(1) / 2 + e / 4) / (e * (1 - mp.exp(-1)) / 4))
    assert found.lower <= truth <= found.upper and found.lower < INF


def test_levels_of_steep_profiles():
    """Two normal laws 1000 deviations apart: their profile is known exactly at any level."""
    profile = bl.privacy_profile((bl.normal(mu=0.0, sigma=1e-3), bl.normal(mu=1.0, sigma=1e-3)))
    with mp.workdps(40):
        m = 1 / mp.mpf(1e-3)

        def excess(eps):
            a, b = (eps / m - m / 2), (eps / m + m / 2)
            return (mp.erfc(a / mp.sqrt(2)) - mp.exp(eps) * mp.erfc(b / mp.sqrt(2))) / 2

        found = profile.epsilon(1e-6)
        assert excess(mp.mpf(found.lower)) >= mp.mpf(1e-6) >= excess(mp.mpf(found.upper))
    assert found.upper - found.lower <= 1e-14 * found.lower


@pytest.mark.slow
def test_information_of_the_countable_example():
    """Example 8 of the PMC paper: log f / f_Y is not bounded, and PML bounds its mean far out."""
    mechanism = bl.mechanisms.countable()
    joint = mechanism.reference_prior * mechanism
    assert engine_for(joint).status == "exact"
    with mp.workdps(40):
        third = mp.mpf(1) / 3
        half = mp.mpf(1) / 2

        def cell(m, n):
            p = half if n == 0 else third**n
            q = half if m == 0 else third**m
            if m == 0:
                f = 3 * half / 2 if n == 0 else half / 2
            else:
                f = third**m / 2 + (half if m == n else 0)
            return p * f * mp.log(f / q)

        truth = mp.fsum(cell(m, n) for m in range(90) for n in range(90))
    holds(bl.mutual_information(joint), truth)


def test_information_of_an_endless_secret_about_an_answer():
    """All outcomes are in the head: only the secrets beyond it are left, by their mass."""
    half = mp.mpf(1) / 2
    kernel = bl.Mechanism(
        lambda y, x: np.where(y == 1, 0.5**x, 1 - 0.5**x),
        secret=bl.Integers(1, None),
        outcome=bl.Finite([0, 1]),
    )
    found = bl.mutual_information(bl.geometric(p=0.5) * kernel)
    with mp.workdps(30):
        yes = half / (2 - half)  # sum of 4^-x
        truth = mp.fsum(
            half**x * k * mp.log(k / q)
            for x in range(1, 200)
            for k, q in ((half**x, yes), (1 - half**x, 1 - yes))
        )
        assert found.lower <= truth <= found.upper and found.width <= 1e-10


# -- noise of two slopes, by a condition ----------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("up", "down", "places", "weights"),
    [
        (1.0, 2.0, (0.0, 1.0, 3.0), (0.25, 0.25, 0.5)),
        (0.5, 4.0, (-2.0, 0.25), (0.75, 0.25)),
        (3.0, 0.125, (-1.0, 0.0, 0.5, 2.0), (0.5, 0.125, 0.125, 0.25)),
    ],
)
@pytest.mark.parametrize("written", ["where", "maximum"])
def test_noise_of_two_slopes_on_a_finite_secret(up, down, places, weights, written):
    """log f falls by `up` above the secret and by `down` below it.

    Between secrets and beyond them log f_Y - log f is convex in y, and log f - log f' is linear:
    the suprema of PMC and LDP are at secrets, or limits far out. PML is at least what it is there.
    """

    def density(y, x):
        d = y - x
        if written == "where":
            return np.where(d >= 0, np.exp(-up * d), np.exp(down * d)) * (up * down / (up + down))
        return np.exp(-up * np.maximum(d, 0) + down * np.minimum(d, 0)) * (up * down / (up + down))

    def log_f(y, x):
        return -up * (y - x) if y >= x else down * (y - x)

    on = bl.Finite(places)
    made = bl.pmf(weights, on=on) * bl.Mechanism(density, secret=on, outcome=bl.Reals())
    with mp.workdps(30):
        far = [mp.mpf(places[0]) - 1, mp.mpf(places[-1]) + 1]  # nothing changes beyond the secrets
        rows = [[mp.mpf(log_f(mp.mpf(y), mp.mpf(x))) for x in places] for y in (*far, *places)]
        means = [mp.log(sum(w * mp.exp(v) for w, v in zip(weights, r, strict=True))) for r in rows]
        values = {
            "pml": [max(r) - m for r, m in zip(rows, means, strict=True)],
            "pmc": [m - min(r) for r, m in zip(rows, means, strict=True)],
            "ldp": [max(r) - min(r) for r in rows],
        }
        surface = certified_engine(made).surface
        ratios = TailRatios([folded(surface.graph.bind({"x": x})) for x in places])
        boxes = (-INF, places[0] - 1), (places[-1] + 1, INF)
        for row, box in zip(rows, boxes, strict=False):
            low, high = ratios.difference(0, 1, *box)
            assert low <= row[0] - row[1] <= high
            assert high - low < 1e-12
        for kind, of in values.items():
            for truth, box in zip(of, boxes, strict=False):
                low, high = leakage_far_out.leakage(surface, kind, *box)
                assert low <= truth <= high
                assert high - low < 1e-8
        pml, pmc, ldp = (max(of) for of in values.values())
        found = bl.pml(made).sup()
        assert pml <= found.upper
    holds(bl.pmc(made).sup(), pmc)
    holds(bl.ldp(made), ldp)
    assert found.status == "certified"
    assert found.width < 1e-8


def test_choices_of_choices_are_read_once():
    """Each was read twice: 24 of them took hours."""

    def log_f(y, x):
        out = x - y
        for k in range(24):
            out = np.maximum(out, k - 2 * y)
        return out

    ratios = TailRatios([trace(lambda y, x=x: log_f(y, x), ("y",), ()) for x in (0.0, 1.0)])
    low, high = ratios.difference(0, 1, 100.0, INF)
    assert low <= -1 <= high
    assert high - low < 1e-12


def test_noise_of_two_slopes_over_draws():
    """The suprema of PMC of each draw: log f_Y - log f is convex between secrets, and far out."""
    places, weights = (0.0, 1.0, 2.5), ((0.25, 0.25, 0.5), (0.5, 0.375, 0.125))
    on = bl.Finite(places)
    draws = xr.Dataset({"p": (("chain", "draw", "secret"), [list(weights)])})
    learnt = bl.priors.from_posterior(draws, lambda draw: bl.pmf(draw["p"], on=on))
    noise = bl.Mechanism(
        lambda y, x: np.where(y >= x, np.exp(x - y), np.exp(2 * (y - x))) / 1.5,
        secret=on,
        outcome=LINE,
    )
    found = bl.pmc(learnt * noise).sup().draws
    assert (found.status == "certified").all()
    for k, p in enumerate(weights):
        with mp.workdps(30):
            at = []
            for y in (-1, *places, 4):
                row = [mp.mpf(x - y if y >= x else 2 * (y - x)) for x in places]
                mean = sum(w * mp.exp(v) for w, v in zip(p, row, strict=True))
                at.append(mp.log(mean) - min(row))
            low, high = (float(v.values.ravel()[k]) for v in (found.lower, found.upper))
            assert low <= max(at) <= high
        assert high - low < 1e-5
