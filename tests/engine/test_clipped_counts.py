"""Counts that a kernel with continuous outcomes reads clipped, or through what settles down.

Truths are closed forms, and sums and integrals in mpmath; nothing of them comes from borel.
"""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import optimize, stats

import borel as bl
from borel.engine import certified_engine
from borel.engine.infinite.proofs import Search
from borel.engine.kernels.settling_counts import over_rest_beside, settling
from borel.engine.problem.reduced_joint import on_clipped_counts
from borel.engine.problem.secret_and_kernel import secret_of
from borel.numerics.germs.interpreter import ray
from borel.numerics.germs.order_bounds import Ray
from borel.numerics.graphs.strict_monotonicity import direction
from borel.numerics.graphs.trace import trace

COUNTS, LINE = bl.Integers(0, None), bl.Reals()


def laplace(u):
    return np.exp(-abs(u)) / 2


def gauss(u):
    return np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi)


def about(g, noise=laplace, secret=COUNTS):
    return bl.Mechanism(lambda y, x: noise(y - g(x)), secret=secret, outcome=LINE)


def poisson(k):
    return mp.exp(-3) * mp.mpf(3) ** k / mp.factorial(k)


def halves(k):
    return mp.mpf(2) ** -(k + 1)


PRIORS = {
    "poisson": (lambda: bl.poisson(mu=3), poisson),
    "by hand": (lambda: bl.Measure(lambda x: 0.5 ** (x + 1), on=COUNTS), halves),
}


def clipped(p, n=3):
    """Return the probabilities of 0, ..., n - 1 and of n or more."""
    head = [p(k) for k in range(n)]
    return [*head, 1 - mp.fsum(head)]


def holds(bound, truth, width=1e-8):
    assert bound.status == "certified"
    with mp.workdps(40):
        assert mp.mpf(bound.lower) <= truth <= mp.mpf(bound.upper)
    assert bound.upper - bound.lower <= width


# -- a constant row beyond a point ----------------------------------------------------------------


@pytest.mark.parametrize("name", PRIORS)
def test_laplace_noise_on_a_clipped_count(name):
    """Between two places PML falls and then rises, and PMC is largest on one side of them all."""
    make, p = PRIORS[name]
    with mp.workdps(40):
        w = clipped(p)
        rows = [[w[k] * mp.exp(-abs(i - k)) for k in range(4)] for i in range(4)]
        pml = mp.log(1 / min(mp.fsum(row) for row in rows))
        ends = [mp.fsum(w[k] * mp.exp(k) for k in range(4)),
                mp.fsum(w[k] * mp.exp(3 - k) for k in range(4))]  # fmt: skip
        pmc = mp.log(max(ends))
        whole = mp.log(1 + 3 * (1 - mp.exp(-mp.mpf(1) / 2)))
    mechanism = about(lambda x: np.minimum(x, 3))
    holds(bl.pml(make() * mechanism).sup(), pml)
    holds(bl.pmc(make() * mechanism).sup(), pmc)
    holds(bl.ldp(make() * mechanism), 3)
    holds(bl.maximal_leakage(make() * mechanism), whole)


def information(weights, places, density):
    """Return the mutual information of noise about some places, whose entropy is subtracted."""

    def integrand(y):
        f = mp.fsum(v * density(y - k) for v, k in zip(weights, places, strict=True))
        return -f * mp.log(f) if f else mp.mpf(0)

    def entropy(u):
        f = density(u)
        return -f * mp.log(f) if f else mp.mpf(0)

    cuts = sorted({-40, -10, *places, 13, 43})
    return mp.quad(integrand, cuts) - mp.quad(entropy, [-40, -10, 0, 10, 40])


NOISES = {
    "laplace": (laplace, lambda u: mp.exp(-abs(u)) / 2),
    "gauss": (gauss, lambda u: mp.exp(-(u**2) / 2) / mp.sqrt(2 * mp.pi)),
}


@pytest.mark.parametrize("noise", ["laplace", "gauss"])
def test_information_about_a_clipped_count(noise):
    ours, density = NOISES[noise]
    with mp.workdps(30):
        truth = information(clipped(poisson), range(4), density)
    holds(bl.mutual_information(bl.poisson(mu=3) * about(lambda x: np.minimum(x, 3), ours)), truth)


def test_gaussian_noise_on_a_clipped_count():
    with mp.workdps(40):
        half = mp.erf(1 / (2 * mp.sqrt(2)))  # of the mass of noise nearer to 0 than to 1
        whole = mp.log(1 + 3 * half)
    mechanism = about(lambda x: np.minimum(x, 3), gauss)
    holds(bl.maximal_leakage(bl.poisson(mu=3) * mechanism), whole)
    assert bl.pmc(bl.poisson(mu=3) * mechanism).sup().lower == math.inf


@pytest.mark.slow
def test_far_out_gaussian_noise_tells_a_clipped_count():
    """It is the outcome of 0 on one side, and of 3 and more on the other."""
    with mp.workdps(40):
        w = clipped(poisson)
        truth = max(-mp.log(w[0]), -mp.log(w[3]))
    holds(bl.pml(bl.poisson(mu=3) * about(lambda x: np.minimum(x, 3), gauss)).sup(), truth)


def test_the_envelope_of_a_clipped_count():
    """Outcomes beyond 3 have the largest leakage, and more than a tenth of the mass in all."""
    with mp.workdps(40):
        w = clipped(halves)
        falls = mp.fsum(w[k] * mp.exp(k - 3) for k in range(4))
        assert falls / 2 > mp.mpf(1) / 10
        truth = -mp.log(falls)
    joint = PRIORS["by hand"][0]() * about(lambda x: np.minimum(x, 3))
    holds(bl.tail_leakage(joint, 0.1), truth)
    holds(bl.envelope(joint)(0.1), truth)


def test_a_choice_settles_down_and_counts_may_start_anywhere():
    """A geometric prior from 1 on, and a kernel that asks whether x > 2."""
    mechanism = about(lambda x: np.where(x > 2, 1.0, 0.0), secret=bl.Integers(1, None))
    quarter = mp.mpf(1) / 4
    with mp.workdps(40):
        truth = mp.log(1 / (quarter + 3 * quarter / mp.e))
    holds(bl.pml(bl.geometric(p=0.5) * mechanism).sup(), truth)


@pytest.mark.parametrize(
    ("g", "labels"),
    [
        (lambda x: np.minimum(x, 3), [0, 1, 2, 3]),
        (lambda x: np.clip(x, 1.5, 2.5), [0, 1, 2, 3]),
        (lambda x: 0.1 * (x > 7), list(range(9))),
        (lambda x: np.maximum(x, 3), None),
        (np.tanh, None),
        (lambda x: np.where(x == 20, 1.0, 0.0), list(range(22))),
        (lambda x: np.where(x == 2000, 1.0, 0.0), None),
        (lambda x: np.minimum(x, 200), None),  # its mass beyond is not known to many digits
    ],
)
def test_from_where_on_all_rows_are_one(g, labels):
    found = on_clipped_counts(PRIORS["by hand"][0]() * about(g))
    assert (None if found is None else list(found.secret.array)) == labels


def test_the_law_of_a_clipped_count():
    law = on_clipped_counts(bl.poisson(mu=3) * about(lambda x: np.minimum(x, 3))).prior
    with mp.workdps(40):
        for value, truth in zip(np.asarray(law.probabilities), clipped(poisson), strict=True):
            assert abs(mp.mpf(float(value)) - truth) <= truth * mp.mpf(law.rounding)
    assert law.rounding < 1e-13


# -- a number that settles down -------------------------------------------------------------------


SETTLING = {
    "reciprocal": (lambda x: 1 / (1 + x), lambda k: 1 / mp.mpf(1 + k), 0),
    "tanh": (np.tanh, lambda k: mp.tanh(k), 1),
    "ratio": (lambda x: x / (1 + x), lambda k: mp.mpf(k) / (1 + k), 1),
    "scaled": (
        lambda x: -1.625 * x / (2.875 + x),
        lambda k: mp.mpf(-13) * k / (23 + 8 * k),
        -1.625,
    ),
}


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("name", SETTLING)
def test_laplace_noise_on_what_settles_down(name, prior):
    """PML is largest beyond the number of 0 or at the limit; PMC is so on one of the sides."""
    g, exact, limit = SETTLING[name]
    make, p = PRIORS[prior]
    with mp.workdps(40):
        numbers = [(p(k), exact(k)) for k in range(200)]  # the others have no 1e-60 of the mass
        first = exact(0)
        falls = [mp.fsum(w * mp.exp(-abs(v - at)) for w, v in numbers) for at in (first, limit)]
        inner = [-mp.log(mp.fsum(w * mp.exp(-abs(v - at)) for w, v in numbers))
                 for _, at in numbers[:60]]  # fmt: skip
        pml = max(*(-mp.log(v) for v in falls), *inner)
        pmc = mp.log(max(mp.fsum(w * mp.exp(abs(v - at)) for w, v in numbers)
                         for at in (first, limit)))  # fmt: skip
    joint = make() * about(g)
    holds(bl.pml(joint).sup(), pml)
    holds(bl.pmc(joint).sup(), pmc)
    holds(bl.ldp(joint), abs(first - limit))


@pytest.mark.parametrize("noise", ["laplace", pytest.param("gauss", marks=pytest.mark.slow)])
def test_maximal_leakage_of_tanh(noise):
    """Between two numbers the largest density is that of the nearer one."""
    with mp.workdps(40):
        gaps = [mp.tanh(k + 1) - mp.tanh(k) for k in range(60)]
        parts = {
            "laplace": [1 - mp.exp(-gap / 2) for gap in gaps],
            "gauss": [mp.erf(gap / (2 * mp.sqrt(2))) for gap in gaps],
        }
        truth = mp.log(1 + mp.fsum(parts[noise]))
    ours = {"laplace": laplace, "gauss": gauss}[noise]
    holds(bl.maximal_leakage(bl.poisson(mu=3) * about(np.tanh, ours)), truth)


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", ["reciprocal", "ratio"])
def test_maximal_leakage_of_what_settles_down_slowly(name, noise):
    """The gaps between the numbers of k and k + 1 are 1 / ((k + 1) (k + 2)): no head holds them."""
    parts = {
        "laplace": lambda gap: 1 - mp.exp(-gap / 2),
        "gauss": lambda gap: mp.erf(gap / (2 * mp.sqrt(2))),
    }
    with mp.workdps(25):
        terms = mp.nsum(lambda k: parts[noise](1 / ((k + 1) * (k + 2))), [0, mp.inf])
        truth = mp.log(1 + terms)
    joint = bl.poisson(mu=3) * about(SETTLING[name][0], NOISES[noise][0])
    holds(bl.maximal_leakage(joint), truth)


def test_many_counts_look_at_each_and_keep_the_mass():
    """Of 512 counts each is a point; what a short head leaves may lie on any of them."""
    prior = bl.poisson(mu=3)
    few, many = (secret_of(prior, (), one) for one in (False, True))
    with mp.workdps(40):
        left = mp.fsum(poisson(k) for k in range(40, 200))
        for one in (few, many):
            assert (
                left <= mp.mpf(one.rest_mass) <= left * (1 + mp.mpf(10) ** -9) + mp.mpf(10) ** -30
            )
    assert not few.light
    assert {*range(512)} <= {*many.atoms[:, 0].astype(int).tolist()}
    heavy = many.weight_high > 0
    assert many.atoms[heavy, 0].tolist() == few.atoms[few.weight_high > 0, 0].tolist()
    light = many.atoms[~heavy, 0]
    boxes = [*many.light, *many.rest]
    assert all(any(a <= x <= b for a, b in boxes) for x in light.tolist())
    assert many.rest[0][0] == 512 and min(a for a, _ in many.light) == heavy.sum()


@pytest.mark.parametrize(
    ("name", "noise"),
    [
        ("ratio", "gauss"),
        pytest.param("tanh", "gauss", marks=pytest.mark.slow),
        pytest.param("reciprocal", "laplace", marks=pytest.mark.slow),
        pytest.param("tanh", "laplace", marks=pytest.mark.slow),
    ],
)
def test_information_about_what_settles_down(name, noise):
    """Counts beyond 24 have 1e-14 of the mass, and tell no more than 1 nat."""
    g, exact, _ = SETTLING[name]
    ours, density = NOISES[noise]
    with mp.workdps(16):
        weights, places = zip(*((poisson(k), mp.mpf(exact(k))) for k in range(25)), strict=True)
        truth = information(weights, places, density)
    holds(bl.mutual_information(bl.poisson(mu=3) * about(g, ours)), truth)


@pytest.mark.parametrize("name", SETTLING)
def test_gaussian_noise_tells_ever_larger_counts_apart(name):
    """Far out on the side of the limit, which no count reaches, larger ones outdo every count."""
    joint = bl.poisson(mu=3) * about(SETTLING[name][0], gauss)
    for found in (bl.pml(joint).sup(), bl.pmc(joint).sup(), bl.ldp(joint)):
        assert found.lower == math.inf and found.status == "certified"


@pytest.mark.parametrize("name", SETTLING)
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_on_the_side_of_0_pml_is_bounded(name, side):
    """There the count 0, of a mass p, outdoes all others: PML is at most log 1 / p."""
    g, exact, limit = SETTLING[name]
    search = Search(certified_engine(bl.poisson(mu=3) * about(g, gauss)))
    y = Ray(ray(0.0, -1.0, side, side), "y", {"infinity": 1})
    grows = side * (limit - exact(0)) > 0
    assert (search._slope("pml", y, 2.0**-10) is not None) == grows
    assert search._slope("pmc", y, 2.0**-10) is not None


@pytest.mark.parametrize(
    ("g", "low", "expected"),
    [
        (lambda x: 2 - np.exp(-x), 0, 1),
        (lambda x: np.sqrt(x) - 3, 0, 1),
        (lambda x: 1 / np.log(2 + x), 0, -1),
        (lambda x: (1 + x) ** -0.5, 0, -1),
        (lambda x: (3 + 2 * x) / (5 + x), 0, 1),
        (lambda x: (3 + 2 * x) / (5 + 4 * x), 0, -1),
        (lambda x: (3 + 2 * x) / (6 + 4 * x), 0, 0),
        (lambda x: x / (x - 3), 0, 0),
        (lambda x: x / (x - 3), 4, -1),
        (lambda x: x - np.tanh(x), 0, 0),
        (lambda x: x * np.tanh(x), 0, 0),
        (lambda x: np.sin(x), 0, 0),
        (lambda x: (0.1 + 0.2 - 0.3) * np.tanh(x) + np.exp(-x), 0, 0),
        (lambda x: x**2, -1, 0),
    ],
)
def test_what_rises_or_falls_strictly(g, low, expected):
    assert direction(trace(g, ("x",), ()), float(low)) == expected


def tail_mean(places, weights, limit, delta):
    """Return the log of the mean of e^PML over the worst delta, of Gaussian noise.

    The places lie between 0 and the limit 1, or 1 and the limit 0, and PML falls and then rises:
    the worst outcomes are two half-lines, on which the nearest place is the outermost one.
    """
    low, high = min(limit, *places), max(limit, *places)

    def mass(a, b):
        parts = zip(places, weights, strict=True)
        return mp.fsum(w * (mp.ncdf(a - v) + mp.ncdf(v - b)) for v, w in parts)

    def bisected(f):
        """Return where a function falls below 0, between -12 and 13."""
        left, right = mp.mpf(-12), mp.mpf(13)
        for _ in range(80):
            middle = (left + right) / 2
            left, right = (middle, right) if f(middle) > 0 else (left, middle)
        return left

    def mean(a):
        b = bisected(lambda b: mass(a, b) - delta)
        return (mp.ncdf(a - low) + mp.ncdf(high - b)) / delta

    most = bisected(lambda a: delta - mass(a, 30))
    left, right, part = mp.mpf(-12), most, (mp.sqrt(5) - 1) / 2
    for _ in range(70):  # golden section
        u, v = right - part * (right - left), left + part * (right - left)
        left, right = (left, v) if mean(u) > mean(v) else (u, right)
    return mp.log(max(mean((left + right) / 2), mp.ncdf(most - low) / delta))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "width"), [("tanh", 1e-6), ("reciprocal", 1e-2)])
def test_the_envelope_of_what_settles_down(name, width):
    """It is at least that of bins of outcomes, by linear programming, and at most the tail mean."""
    g, exact, limit = SETTLING[name]
    delta = mp.mpf(1) / 8
    with mp.workdps(25):
        weights, places = zip(*((poisson(k), mp.mpf(exact(k))) for k in range(25)), strict=True)
        truth = tail_mean(places, weights, limit, delta)
    joint = bl.poisson(mu=3) * about(g, gauss)
    holds(bl.tail_leakage(joint, 0.125), truth)
    found = bl.envelope(joint)(0.125)
    assert found.status == "certified" and found.upper - found.lower <= width
    assert mp.mpf(found.lower) <= truth
    # with Z one of 300 bins at a level somewhat below: its best mass is to be delta and more
    edges = np.concatenate([[-np.inf], np.linspace(-4, 5, 299), [np.inf]])
    at = np.array([*map(float, places), float(limit) - 1e-9 * (2 * limit - 1)])
    rows = np.diff(stats.norm.cdf(edges[None] - at[:, None]), axis=1)
    p = np.array([*map(float, weights)]) @ rows[:-1]
    best = max_mass(rows, p, math.exp(found.upper + 1e-9))
    assert best < 0.125 + 1e-9  # no bins do better than what is said that nothing exceeds
    assert max_mass(rows, p, math.exp(found.lower - 2e-3)) > 0.125


def max_mass(rows, p, level):
    """Return the largest mass of bad outcomes made of bins, by linear programming."""
    n, m = rows.shape
    gain = np.zeros((n, n * m))
    for i in range(n):
        gain[i, i * m : (i + 1) * m] = -(rows[i] - level * p)
    share = np.tile(np.eye(m), n)
    found = optimize.linprog(
        -np.tile(p, n),
        A_ub=np.vstack([gain, share]),
        b_ub=np.concatenate([np.zeros(n), np.ones(m)]),
        method="highs",
    )
    return -found.fun


@pytest.mark.parametrize("name", SETTLING)
def test_the_numbers_beyond_a_head_are_enclosed(name):
    g, exact, _ = SETTLING[name]
    surface = certified_engine(bl.poisson(mu=3) * about(g)).surface
    numbers = settling(surface)
    for (low, high), (least, most) in zip(surface.secret.rest, numbers.rest, strict=True):
        assert most - least < 0.15
        with mp.workdps(40):
            for k in {low, min(low + 7, high), min(10.0**4, high), min(10.0**12, high)}:
                assert mp.mpf(least) <= exact(int(k)) <= mp.mpf(most)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("noise", [laplace, gauss])
def test_no_row_beyond_a_head_exceeds_what_is_said(sign, noise):
    """Of the other row, of a constant slope, its value at the centre counts alone."""
    numbers = settling(
        certified_engine(bl.poisson(mu=3) * about(lambda x: 1 / (1 + x), noise)).surface
    )
    low, high = np.array([-2.0, -0.5, -0.01, 0.3, 2.0]), np.array([-1.0, -0.25, 0.03, 0.5, 2.5])
    centre, half = (low + high) / 2, (high - low) / 2 * (1 + 1e-15)
    steep = sign * np.array([1.0, 0.75, 0.0, -0.5, -1.0])  # any function of that slope may be it
    found = over_rest_beside(numbers, (low, high), 5, sign, centre, half, (steep, steep))
    with mp.workdps(30):
        for k, bound in enumerate(found.tolist()):
            for y in np.linspace(low[k], high[k], 21).tolist():
                for x in (64, 100, 10**4, 10**12):
                    u = mp.mpf(y) - 1 / mp.mpf(1 + x)
                    log = (
                        -abs(u) - mp.log(2)
                        if noise is laplace
                        else -(u**2) / 2 - mp.log(2 * mp.pi) / 2
                    )
                    assert sign * log <= mp.mpf(bound) + mp.mpf(steep[k]) * (y - mp.mpf(centre[k]))


def test_integers_on_both_sides_settle_down():
    """The numbers are between -1 and 1, and 0 is the one in the middle."""
    third = mp.mpf(1) / 3
    prior = bl.Measure(lambda x: 0.5 ** abs(x) / 3, on=bl.Integers())
    with mp.workdps(40):
        pairs = [(third * mp.mpf(2) ** -abs(k), mp.tanh(k)) for k in range(-150, 151)]
        pml = -mp.log(mp.fsum(w * mp.exp(v - 1) for w, v in pairs))
        pmc = mp.log(mp.fsum(w * mp.exp(v + 1) for w, v in pairs))
    joint = prior * about(np.tanh, secret=bl.Integers())
    found = bl.pml(joint).sup()
    assert mp.mpf(found.lower) <= pml <= mp.mpf(found.upper)
    holds(bl.pmc(joint).sup(), pmc)
    holds(bl.ldp(joint), 2)


@pytest.mark.slow
def test_a_jump_in_the_number_is_not_read_from_slopes():
    """At the number 1/4, of the count 3, alone the kernel is another one."""
    mechanism = bl.Mechanism(
        lambda y, x: np.where(1 / (1 + x) == 0.25, laplace(y - 9), laplace(y - 1 / (1 + x))),
        secret=COUNTS,
        outcome=LINE,
    )
    joint = bl.poisson(mu=3) * mechanism
    with mp.workdps(40):
        others = mp.fsum(poisson(k) * mp.exp(-(9 - 1 / mp.mpf(1 + k))) for k in range(99) if k != 3)
        truth = -mp.log(poisson(3) + others)
    for found in (bl.pml(joint).sup(), bl.pml(joint)(9.0)):
        assert mp.mpf(found.lower) <= truth <= mp.mpf(found.upper) + mp.mpf(10) ** -15
    assert bl.ldp(joint).upper >= 8


@pytest.mark.parametrize(
    "prior",
    [
        bl.geometric(p=0.01),
        bl.Measure(lambda x: np.where(x >= 2, 0.5 ** (x - 1.0), 0), on=bl.Integers(0, None)),
    ],
    ids=["slow", "a gap"],
)
def test_hundreds_of_counts_are_looked_at_once(prior):
    """Where none of them is too light to have been left out there is no finer engine again."""
    joint = prior * about(lambda x: 1 / (1 + x), secret=prior.on)
    finer = certified_engine(joint).finer
    assert finer is not None and finer.finer is None


@pytest.mark.slow
def test_the_mean_of_what_settles_down_under_a_slow_prior():
    """f_Y is a sum; the largest f(y|x) is that of 1/2, of the limit 0, or of a count between."""
    joint = bl.geometric(p=0.01) * about(lambda x: 1 / (1 + x), secret=bl.Integers(1, None))
    mean = bl.pml(joint).mean()
    k = np.arange(1, 4000)
    weights, places = 0.01 * 0.99 ** (k - 1), 1 / (1 + k)
    cuts = np.unique([*np.linspace(-1, 2, 6001), *places])  # |y| beyond: constant ratios
    y = (cuts[1:] + cuts[:-1]) / 2
    f = np.exp(-np.abs(y[:, None] - np.append(places, 0.0)[None])) / 2
    law = f[:, :-1] @ weights
    inner = np.sum(law * np.log(f.max(axis=1) / law) * np.diff(cuts))
    tails = [
        (np.exp(-np.abs(e - places)) / 2 @ weights, np.exp(-abs(e - near)) / 2)
        for e, near in ((-1.0, 0.0), (2.0, 0.5))
    ]
    truth = inner + sum(mass * np.log(top / mass) for mass, top in tails)
    assert mean.status == "certified" and mean.width <= 1e-7
    assert abs(mean.value - truth) <= 1e-6  # the sum is that close
