"""Kernels of counts whose ratios grow like powers of the outcome, and what floats do not resolve.

Truths are closed forms, or sums and maxima in mpmath with 40 digits.
"""

import math
from fractions import Fraction as F
from typing import Any

import mpmath
import numpy as np
import pytest
from engine import graph_oracle
from scipy import special, stats

import borel as bl
from borel.numerics.germs.tail_quotients import SOME, TailRatios
from borel.numerics.graphs.trace import trace

MP: Any = mpmath.mp.clone()
MP.dps = 40
COUNTS, INF = bl.Integers(0, None), math.inf
SECRETS = bl.Finite([0.0, 1.0, 3.0])
FALLING, RISING = (0.5, 0.3, 0.2), (0.2, 0.3, 0.5)


def on(kernel, secrets: Any = SECRETS, **about):
    return bl.Mechanism(kernel, secret=secrets, outcome=COUNTS, **about)


def of_scipy(law, secrets: Any = SECRETS):
    return bl.Mechanism.from_scipy(law, secret=secrets, outcome=COUNTS)


def log_negative_binomial(y, x):
    ways = special.gammaln(y + x + 1) - special.gammaln(y + 1) - special.gammaln(x + 1)
    return ways + (x + 1) * np.log(0.4) + y * np.log1p(-0.4)


NEGATIVE_BINOMIAL = {
    "SciPy's": lambda: of_scipy(lambda x: stats.nbinom(x + 1, 0.4)),
    "a logarithm": lambda: on(log_negative_binomial, log=True),
    "an exponential": lambda: on(lambda y, x: np.exp(log_negative_binomial(y, x))),
    "a product": lambda: on(
        lambda y, x: (
            np.exp(special.gammaln(y + x + 1) - special.gammaln(y + 1) - special.gammaln(x + 1))
            * 0.4 ** (x + 1)
            * 0.6**y
        )
    ),
}


def poisson(mu, y):
    return MP.exp(-mu) * MP.mpf(mu) ** y / MP.factorial(y)


def sharp(bound, truth, width=1e-8):
    """Say whether a proved enclosure holds the truth."""
    assert bound.status in ("exact", "certified")
    assert bound.width <= width
    return MP.mpf(bound.lower) <= truth <= MP.mpf(bound.upper)


def infinite(bound):
    return bound.lower == INF and bound.status in ("exact", "certified")


@pytest.mark.parametrize("name", NEGATIVE_BINOMIAL)
def test_negative_binomial_laws_of_one_p(name):
    """f(y|x) / f(y|x') grows like y^(x - x'), so that the largest secret is seen far out."""
    mechanism = NEGATIVE_BINOMIAL[name]()
    joint = bl.pmf(FALLING, on=SECRETS) * mechanism
    found = bl.pml(joint).sup()
    assert sharp(found, -MP.log(MP.mpf(0.2)))
    assert found.witness == {"y": "y to infinity"}
    assert infinite(bl.pmc(joint).sup())
    assert infinite(bl.ldp(joint)) and infinite(bl.lip(joint))
    # of a likely large secret the outcome 0 leaks more than those far out, log 2
    p = MP.mpf(0.4)
    ratio = sum(MP.mpf(w) * p**x for w, x in zip(RISING, (0, 1, 3), strict=True))
    assert sharp(bl.pml(bl.pmf(RISING, on=SECRETS) * mechanism).sup(), -MP.log(ratio))


def negative_binomial(n, p):
    return lambda y: MP.binomial(y + n - 1, y) * p**n * (1 - p) ** y


POINTS = (0.0, 1.0, 3.0)
SEEN = {  # laws, truths, and the place of the secret that is seen far out
    "other r": (
        lambda x: stats.nbinom(0.75 * x + 1.25, 0.4),
        [negative_binomial(MP.mpf(0.75 * x + 1.25), MP.mpf(0.4)) for x in POINTS],
        2,
    ),
    "falling r": (
        lambda x: stats.nbinom(4.25 - x, 0.4),
        [negative_binomial(MP.mpf(4.25 - x), MP.mpf(0.4)) for x in POINTS],
        0,
    ),
    "r against p": (
        lambda x: stats.nbinom(x + 1, 0.25 + x / 8),
        [negative_binomial(MP.mpf(x + 1), MP.mpf(0.25 + x / 8)) for x in POINTS],
        0,
    ),
    "r and p": (
        lambda x: stats.nbinom(x + 1, 0.75 - x / 8),
        [negative_binomial(MP.mpf(x + 1), MP.mpf(0.75 - x / 8)) for x in POINTS],
        2,
    ),
    "Poisson": (
        lambda x: stats.poisson(x + 1),
        [lambda y, x=x: poisson(x + 1, y) for x in POINTS],
        2,
    ),
}


@pytest.mark.parametrize("weights", [RISING, FALLING])
@pytest.mark.parametrize("name", SEEN)
def test_one_secret_is_seen_far_out(name, weights):
    """The leakage tends to -log of its mass; at most at few outcomes others leak more."""
    law, rows, seen = SEEN[name]
    joint = bl.pmf(weights, on=SECRETS) * of_scipy(law)
    found = bl.pml(joint).sup()
    p = [MP.mpf(w) for w in weights]

    def pml(y):
        f = [row(y) for row in rows]
        return MP.log(max(f) / MP.fdot(p, f))

    assert sharp(found, max(-MP.log(p[seen]), *map(pml, range(200))))
    assert infinite(bl.pmc(joint).sup())


def test_a_limit_that_is_finite():
    """f(y|1) / f(y|0) falls to 1 / (1 + log 2), as 1/y: PMC rises to log(1 + p log 2)."""
    secrets = bl.Finite([0.0, 1.0])
    total = 1 + math.log(2)

    def kernel(y, x):
        return 0.5 ** (y + 1) * np.where(x > 0, (1 + 1 / (y + 1)) / total, 1.0)

    found = bl.pmc(bl.pmf([0.75, 0.25], on=secrets) * on(kernel, secrets)).sup()
    truth = MP.log(0.25 + 0.75 * (1 + MP.log(2)))
    assert MP.mpf(found.lower) <= truth <= MP.mpf(found.upper) and found.width < 1e-8


@pytest.mark.parametrize("d", ["0.01", "0.5", "1", "1.25", "2", "7.5", "40"])
@pytest.mark.parametrize("u", ["0.01", "0.5", "3", "257", "1e8"])
def test_the_rest_of_a_difference_of_gamma_functions(u, d):
    u, d = MP.mpf(u), MP.mpf(d)
    with MP.workdps(80):
        rest = MP.loggamma(u + d) - MP.loggamma(u) - d * MP.log(u) - d * (d - 1) / (2 * u)
        assert -(d**3) / 6 - d / 12 <= rest * u**2 <= d**2 / 4


def shapes(*pairs):
    """Return the graph of sums of c log Gamma(y + b), and its values."""

    def log(y):
        return sum(c * special.gammaln(y + b) for c, b in pairs)

    def truth(y):
        return sum(c * MP.loggamma(MP.mpf(y) + MP.mpf(b)) for c, b in pairs)

    return trace(log, ("y",), ()), truth


@pytest.mark.parametrize(
    ("first", "second", "width"),
    [
        # D = 0: the difference tends to 0
        (((1, 1), (1, 4)), ((1, 2), (1, 3)), 1e-3),
        (((1, 0.25), (1, 3.5)), ((1, 1.75), (1, 2)), 1e-3),
        (((2, 1.5),), ((1, 1), (1, 2)), 1e-3),
        # it grows, or falls, without bound
        (((1, 2.5),), ((1, 1),), INF),
        (((1, 1),), ((1, 3),), INF),
        (((2, 1), (-1, 5)), ((1, 3.25),), INF),
    ],
)
def test_gamma_functions_cancel_far_out(first, second, width):
    (one, f), (two, g) = shapes(*first), shapes(*second)
    for low in (17.0, 257.0, 2.0**40):
        least, most = TailRatios([one, two]).difference(0, 1, low, INF)
        assert least > -INF or most < INF
        assert most - least < width * (257 / low) * 300 or width == INF
        for y in (low, low + 1, 2 * low, 1e3 * low, 1e9 * low):
            with MP.workdps(80):
                assert least <= f(y) - g(y) <= most


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (((1, 2.5),), ((1, 1),)),
        (((1, 1),), ((1, 3),)),
        (((2, 1), (-1, 5)), ((1, 3.25),)),
        (((1, 0.25), (1, 3.5)), ((1, 1.75), (1, 2))),
    ],
)
@pytest.mark.parametrize("y", [17.0, 257.0, 2.0**40])
def test_the_rest_is_between_its_ends(first, second, y):
    """What is left of a difference of gamma functions holds it for some number in [0, 1]."""
    (one, f), (two, g) = shapes(*first), shapes(*second)
    found = TailRatios([one, two]).remainder(0, 1, 17.0, INF)
    assert found is not None
    graph = found[0]
    with graph_oracle.precision(400):
        ends = graph_oracle.values(graph.nodes, [{"y": y, SOME: end} for end in (0.0, 1.0)])
        with MP.workdps(80):
            truth = graph_oracle.arb(MP.nstr(f(y) - g(y), 70))
    assert ends[0] < truth < ends[1]
    assert ends[1] - ends[0] < 20 / (y + 1) ** 2


def test_a_power_grows_less_than_an_exponential():
    """Both signs of y log 2 - 5 log y are known far out, by a tangent of the logarithm."""
    logs = [trace(f, ("y",), ()) for f in (lambda y: y * np.log(2), lambda y: 5 * np.log(y))]
    least, most = TailRatios(logs).difference(0, 1, 257.0, INF)
    truth = 257 * MP.log(2) - 5 * MP.log(257)
    assert truth - 1e-9 <= least <= truth and most == INF
    least, most = TailRatios(logs).difference(1, 0, 257.0, INF)
    assert -truth <= most <= -truth + 1e-9 and least == -INF
    # at 2 it still falls
    assert TailRatios(logs).difference(0, 1, 2.0, INF)[0] == -INF


# -- outcomes that floats do not resolve ---------------------------------------------------------


def divergence(phi, weights, means):
    """Sum f_Y(y) P(x) phi(f(y|x) / f_Y(y))."""
    total = MP.mpf(0)
    for y in range(300):
        f = [poisson(mu, y) for mu in means]
        law = MP.fsum(MP.mpf(w) * v for w, v in zip(weights, f, strict=True))
        total += MP.fsum(MP.mpf(w) * law * phi(v / law) for w, v in zip(weights, f, strict=True))
    return total


def written(y, x):
    return np.exp(y * np.log(x + 1) - x - 1 - special.gammaln(y + 1))


MECHANISMS = {
    "bl.mechanisms": lambda s: bl.mechanisms.poisson(background=1.0, secret=s),
    "SciPy's": lambda s: of_scipy(lambda x: stats.poisson(x + 1), s),
    "written": lambda s: on(written, s),
}


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize(
    "places", [[0.0, 1.0], [0.0, 0.5], [1.0, 2.0], [0.0, 10.0], [0.0, 1.0, 3.0]]
)
def test_information_of_a_poisson_kernel(name, places):
    secrets, weights = bl.Finite(places), [0.5, 0.3, 0.2] if len(places) > 2 else [0.5, 0.5]
    joint = bl.pmf(weights, on=secrets) * MECHANISMS[name](secrets)
    truth = divergence(lambda t: t * MP.log(t), weights, [x + 1 for x in places])
    assert sharp(bl.mutual_information(joint), truth)


def test_information_of_integers():
    secrets = bl.Integers(0, 3)
    joint = bl.uniform(secrets) * of_scipy(lambda x: stats.poisson(x + 1), secrets)
    truth = divergence(lambda t: t * MP.log(t), [0.25] * 4, [1, 2, 3, 4])
    assert sharp(bl.mutual_information(joint), truth)


@pytest.mark.parametrize(
    ("f", "phi"),
    [
        ("total_variation", lambda t: abs(t - 1) / 2),
        ("chi_square", lambda t: (t - 1) ** 2),
    ],
)
def test_other_divergences_of_a_poisson_kernel(f, phi):
    joint = bl.pmf(FALLING, on=SECRETS) * bl.mechanisms.poisson(background=1.0, secret=SECRETS)
    assert sharp(bl.f_information(joint, f), divergence(phi, FALLING, [1, 2, 4]))


def test_an_outcome_that_floats_do_not_resolve_among_finitely_many():
    """The last outcome has a mass below e^-799, and an information below that."""
    secrets, outcomes = bl.Finite([0.0, 1.0]), bl.Finite([0.0, 1.0, 2.0])
    rows = {0: (0.5, 0.5), 1: (0.25, 0.75)}

    def kernel(y, x):
        first = 0.5 - 0.25 * x
        return np.where(y > 1, np.exp(-800.0), np.where(y > 0, 1 - first, first))

    prior = bl.pmf([F(1, 2), F(1, 2)], on=secrets)
    found = bl.mutual_information(prior * bl.Mechanism(kernel, secret=secrets, outcome=outcomes))
    law = [MP.mpf(r + s) / 2 for r, s in zip(*rows.values(), strict=True)]
    truth = MP.fsum(
        MP.mpf(v) / 2 * MP.log(v / q)
        for row in rows.values()
        for v, q in zip(row, law, strict=True)
    )
    assert MP.mpf(found.lower) <= truth <= MP.mpf(found.upper) and found.width < 1e-8


# -- a kernel that says nothing ------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel",
    [
        lambda s: of_scipy(lambda x: stats.poisson(2 + 0 * x), s),
        lambda s: on(lambda y, x: np.exp(y * np.log(2) - 2 - special.gammaln(y + 1)), s),
    ],
)
@pytest.mark.parametrize("prior", [bl.geometric(p=0.5), bl.pmf(FALLING, on=SECRETS)])
def test_a_kernel_of_the_outcome_alone_leaks_nothing(kernel, prior):
    secrets = COUNTS if prior.on.kind == "countable" else prior.on
    joint = prior * kernel(secrets)
    for found in (bl.pml(joint).sup(), bl.pmc(joint).sup(), bl.ldp(joint), bl.lip(joint)):
        assert found.status == "exact" and found.lower == found.upper == 0


# -- densities whose ratios grow like powers -----------------------------------------------------


def test_the_mean_of_pmc_of_gamma_shapes():
    """The ratio of the densities is y: log y is below its tangent far out."""
    shapes = bl.Finite([1.0, 2.0])
    mechanism = bl.Mechanism.from_scipy(
        lambda x: stats.gamma(x), secret=shapes, outcome=bl.Interval(0, None)
    )
    found = bl.pmc(bl.uniform(shapes) * mechanism).mean()

    def integrand(y):
        law = MP.exp(-y) * (1 + y) / 2
        return law * MP.log((1 + y) / 2 / min(y, 1))

    truth = MP.quad(integrand, [0, 1e-9, 1e-6, 1e-3, 0.1, 1, 3, 10, 30, 120])
    assert sharp(found, truth)
