"""Counts whose spread grows with the secret: no rate of fall is the same for all secrets.

Truths are sums in mpmath to 30 digits, means in closed form, and rational arithmetic.
"""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pymc as pm
import pytest
from scipy import special, stats

import borel as bl
from borel.engine.kernels.ratios_far_out import fall_of, reach_of, trends_of
from borel.numerics.germs.forward_difference import unit_step
from borel.numerics.germs.interpreter import ray
from borel.numerics.graphs import rewrite
from borel.numerics.graphs.float64 import evaluate
from borel.numerics.graphs.trace import trace
from borel.numerics.intervals.domains import decided
from borel.probability.density import ranges_of

N0, N1, INF = bl.Integers(0, None), bl.Integers(1, None), math.inf
RANGES = {"x": (0.0, INF), "y": (0.0, INF)}


def nbinom(y, x):
    p = 3 / (4 + x)
    ways = special.gammaln(y + 3) - special.gammaln(y + 1) - special.gammaln(3)
    return np.exp(ways + 3 * np.log(p) + y * np.log1p(-p))


def negative_binomial(y, x):
    p = mp.mpf(3) / (4 + x)
    return mp.binomial(y + 2, 2) * p**3 * (1 - p) ** y


def geometric(y, x, first=1):
    p = mp.mpf(1) / (2 + x)
    return p * (1 - p) ** (y - first)


def written(f):
    return bl.Mechanism(f, secret=N0, outcome=N0)


def of_scipy(family, outcome):
    return bl.Mechanism.from_scipy(family, secret=N0, outcome=outcome)


def of_pymc(family, outcome):
    return bl.Mechanism.from_pymc(family, secret=N0, outcome=outcome)


KERNELS = {
    "scipy nbinom": (
        lambda: of_scipy(lambda x: stats.nbinom(3, 3 / (4 + x)), N0),
        negative_binomial,
    ),
    "scipy geom": (
        lambda: of_scipy(lambda x: stats.geom(1 / (2 + x)), N1),
        geometric,
    ),
    "pymc nbinom": (
        lambda: of_pymc(lambda x: pm.NegativeBinomial.dist(n=3, p=3 / (4 + x)), N0),
        negative_binomial,
    ),
    "pymc geom": (
        lambda: of_pymc(lambda x: pm.Geometric.dist(1 / (2 + x)), N1),
        geometric,
    ),
    "written nbinom": (lambda: written(nbinom), negative_binomial),
    "written geom": (
        lambda: written(lambda y, x: (1 - 1 / (2 + x)) ** y / (2 + x)),
        lambda y, x: geometric(y, x, first=0),
    ),
}  # fmt: skip
PRIORS = {
    "Poisson": (bl.poisson(mu=2.0), lambda x: mp.exp(-2) * mp.mpf(2) ** x / mp.factorial(x), 60),
    "geometric": (
        bl.Measure(lambda x: 0.5 ** (x + 1), on=N0), lambda x: mp.mpf(2) ** (-x - 1), 130,
    ),
}  # fmt: skip


def row(kernel, prior, y):
    """Return masses of secrets, f(y|x) at them, f_Y(y) and sup f(y|x), which is at x = y +- 8."""
    f, (_, p, last) = KERNELS[kernel][1], PRIORS[prior]
    masses, values = [p(x) for x in range(last)], [f(y, x) for x in range(last)]
    top = max(f(y, x) for x in range(max(y - 8, 0), y + 9))
    return masses, values, mp.fdot(masses, values), top


def holds(bound, truth, width=1e-8):
    with mp.workdps(30):
        assert mp.mpf(bound.lower) <= truth <= mp.mpf(bound.upper)
    assert bound.width <= width and bound.status in ("exact", "certified")


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_at_an_outcome(kernel, prior):
    """What the parameters have to be is asked once: on a half-line no interval tells p > 0."""
    mech = KERNELS[kernel][0]()
    joint = PRIORS[prior][0] * mech
    for y in (3, 20):
        with mp.workdps(30):
            *_, total, top = row(kernel, prior, y)
            holds(bl.pml(joint)(y), mp.log(top / total), 1e-11)
    assert bl.pmc(joint)(3).lower == INF and bl.pmc(joint)(3).status in ("exact", "certified")


@pytest.mark.parametrize("kernel", KERNELS)
def test_suprema_are_infinite(kernel):
    """f(y|x) goes to 0 as x grows, like a power of it: secrets leave every set of outcomes."""
    joint = PRIORS["Poisson"][0] * KERNELS[kernel][0]()
    for found in (bl.pml(joint).sup(), bl.pmc(joint).sup(), bl.maximal_leakage(joint)):
        assert found.lower == INF and found.status in ("exact", "certified")


@pytest.mark.cases("slow", "geometric-*", "*nbinom")
@pytest.mark.parametrize("kernel", ["scipy nbinom", "written geom"])
@pytest.mark.parametrize("prior", PRIORS)
def test_means(prior, kernel):
    """E[Y|x] is a multiple of x, though the rate at which the masses fall goes to 0 with x."""
    joint = PRIORS[prior][0] * KERNELS[kernel][0]()
    with mp.workdps(30):
        mean = mp.mpf(0)
        for y in range(
            700 if prior == "geometric" else 300
        ):  # with so little mass beyond that it does not count
            *_, total, top = row(kernel, prior, y + (joint.outcome is N1))
            mean += total * mp.log(top / total)
    found = bl.pml(joint).mean()
    assert found.lower - 1e-10 <= mean <= found.upper and found.width <= 1e-8
    assert found.status == "exact"


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["scipy nbinom", "written geom"])
def test_mutual_information(kernel):
    joint = PRIORS["Poisson"][0] * KERNELS[kernel][0]()
    with mp.workdps(30):
        truth = mp.mpf(0)
        for y in range(500):
            masses, values, total, _ = row(kernel, "Poisson", y)
            terms = zip(masses, values, strict=False)
            truth += mp.fsum(p * f * mp.log(f / total) for p, f in terms)
        holds(bl.mutual_information(joint), truth)


# -- what is claimed of the steps -----------------------------------------------------------------


def log_geometric(p):
    return lambda y, x: np.log(p(x)) + y * np.log1p(-p(x))


LOGS = {
    "geometric": (log_geometric(lambda x: 1 / (2 + x)), True, lambda x: 1 + x),
    "slower": (log_geometric(lambda x: 5 / (7 + 2 * x)), True, lambda x: (2 + 2 * x) / 5),
    "negative binomial": (lambda y, x: np.log(nbinom(y, x)), True, lambda x: 1 + x),
    "of the square": (log_geometric(lambda x: 1 / (2 + x * x)), True, None),
    "stays": (log_geometric(lambda x: 1 / 2 + 1 / (3 + x)), False, lambda x: 1),
    "stays, slowly": (log_geometric(lambda x: 1 / 2 - 1 / (3 + x)), False, lambda x: 5),
    "a tail of powers": (
        lambda y, x: np.log(2 + x) - np.log(y + 1 + x) - np.log(y + 2 + x), True, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
def test_what_falls_slowly(name):
    """What is claimed holds wherever it is looked at, and is found where it is so."""
    log, vanishes, mean = LOGS[name]
    graph = rewrite.simplified(trace(log, ("y", "x"), ()))
    fall, reach = fall_of(graph, "x", 1.0, RANGES), reach_of(graph, 1.0, RANGES)
    assert (fall is not None and fall.vanishes) == vanishes
    assert (reach is not None) == (mean is not None)
    if fall is not None:
        for y in range(0, 300, 7):
            x = np.unique(np.geomspace(fall.first(np.array(y)), 1e5, 50).astype(int) + 1.0)
            steps = log(y, x + 1) - log(y, x)
            assert (steps <= -np.maximum(fall.rate, fall.share / x) + 1e-9).all()
    if reach is not None:
        for x in (0, 1, 5, 63, 64, 65, 1000, 10**5):
            assert mean(x) <= reach.start + reach.slope * x


@pytest.mark.parametrize("place", [300, 9973])
def test_a_mean_that_one_far_outcome_moves_is_not_bounded_without_it(place):
    """E[Y|x] is 1 + x (place - 1) / 10: a step at an outcome far out has no rule."""

    def log(y, x):
        return np.log((1 - 0.1 * x) * 0.5 ** (y + 1) + np.where(y == place, 0.1 * x, 0.0))

    graph = rewrite.simplified(trace(log, ("y", "x"), ()))
    reach = reach_of(graph, 1.0, {"x": (0.25, 1.0), "y": (0.0, INF)})
    assert reach is None or reach.start + reach.slope >= 1 + (place - 1) / 10


@pytest.mark.slow
def test_a_mean_that_is_not_linear_in_the_secret_is_not_said_to_be():
    joint = bl.poisson(mu=2.0) * written(lambda y, x: (1 - 1 / (2 + x * x)) ** y / (2 + x * x))
    assert bl.pml(joint).mean().upper == INF
    assert bl.pml(joint).sup().lower == INF


RATIONAL = {
    "quotient": lambda y: (2 * y - 7) / (y * y + 1),
    "a common factor": lambda y: (y * y + 3 * y + 2) / (y + 1) ** 2,
    "of quotients": lambda y: (1 - 3 / (4 + y)) / (3 / (4 + y)) + 1 / y,
    "reciprocal": lambda y: 1 / (0.3 + y),
}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", RATIONAL)
def test_steps_of_rational_functions(name, sign):
    f, places = RATIONAL[name], [sign * m for m in (64, 65, 1000)]
    at = {"y": ray(0.0, -1.0, sign, sign)}
    for log in (False, True):
        function = (lambda y: np.log(f(y) ** 2 / 3)) if log else f
        if log and name != "of quotients":
            function = lambda y: np.log(f(y))  # noqa: E731
        step = unit_step(trace(function, ("y",), ()), at, 1 / 64)
        for y in places:
            now, then = (f(v) for v in (Fraction(y), Fraction(y + sign)))
            truth = float(then - now)
            if log:
                if now <= 0:
                    continue
                truth = math.log(then / now) * (2 if name == "of quotients" else 1)
            found = float(evaluate(step, {"y": np.array(float(y))}))
            assert found == pytest.approx(truth, rel=1e-9)


def test_conditions_that_always_hold():
    box = {"x": (0.0, INF)}
    kept = [
        lambda x: np.where(1 / (1 + x) > 0.25, x, np.nan),
        lambda x: np.where(x > 0, x, np.nan),
        lambda x: np.where(1 / (x - 2) > 0, x, np.nan),
    ]
    gone = [
        lambda x: np.where(np.exp(-x) > 0, x, np.nan),
        lambda x: np.where(0 < 2 / (3 + x), x, np.nan),
        lambda x: np.where((1 / (1 + x) > 0) & (1 / (1 + x) <= 1), x, np.nan),
        lambda x: np.where(np.less(0, 2 / (3 + x)), x, np.nan),
        lambda x: np.where(np.less_equal(0.5 / (1 + x), 0), np.nan, x),
        lambda x: np.where(np.greater_equal(0, 1 / (1 + x)), np.nan, x),
        lambda x: np.where(np.not_equal(0, 1 / (1 + x)), x, np.nan),
        lambda x: np.where(1 / (1 + x) == 0, np.nan, x),
        lambda x: np.where(1 / (1 + x) < 0, np.nan, x),
        lambda x: np.where(1 / (1 + x) >= 0, x, np.nan),
    ]
    for function in kept + gone:
        graph = decided(trace(function, ("x",), ()), box)
        assert any(map(math.isnan, graph.constants)) == (function in kept)
    never = decided(trace(lambda x: np.where(0 > 1 / (1 + x), x, np.nan), ("x",), ()), box)
    assert math.isnan(never.nodes[-1][1][0])


def test_parameters_that_are_not_always_valid_are_asked():
    half = bl.Interval(0, 1)  # p = 0 at 0 only
    made = bl.Mechanism.from_scipy(lambda x: stats.geom(x), secret=half, outcome=N1)
    assert any(map(math.isnan, made.density.graph.constants))
    made = bl.Mechanism.from_scipy(lambda x: stats.geom(1 / (2 + x)), secret=N0, outcome=N1)
    assert not any(map(math.isnan, made.density.graph.constants)) and made.normalisation.proved
    assert ranges_of(made.density)["x"] == (0.0, INF)


def test_secrets_of_a_mass_below_all_floats_count():
    """The largest f(y|x) is at x = 4 y, where the Poisson prior underflows; Y is Poisson, too."""

    def thinned(y, x):
        ways = special.gammaln(x + 1) - special.gammaln(y + 1) - special.gammaln(x - y + 1)
        return np.where(y <= x, np.exp(ways) * 0.25**y * 0.75 ** (x - y), 0.0)

    pml = bl.pml(PRIORS["Poisson"][0] * written(thinned))
    for y in (60, 100):
        with mp.workdps(30):
            total = mp.exp(-mp.mpf(1) / 2) * mp.mpf(2) ** -y / mp.factorial(y)
            top = mp.binomial(4 * y, y) * mp.mpf(3) ** (3 * y) / mp.mpf(4) ** (4 * y)
            holds(pml(y), mp.log(top / total))


def share(x):
    """Return a p that goes to 1/4, exactly."""
    return 0.25 + 0.5 / (1 + x)


@pytest.mark.cases("slow", "both")
@pytest.mark.parametrize("line", [N0, bl.Integers()], ids=["one", "both"])
def test_the_largest_mass_is_approached_far_out(line):
    """Of y > 6 f(y|x) rises to its limit, that at p = 1/4; of y = 6 steps cancel up to 1/x^3."""
    even = line is not N0
    prior = bl.Measure(lambda x: 0.5 ** abs(x) / 3 if even else 0.5 ** (x + 1), on=line)
    mech = bl.Mechanism(
        lambda y, x: (y + 1) * share(abs(x)) ** 2 * (1 - share(abs(x))) ** y,
        secret=line, outcome=N0,
    )  # fmt: skip
    pml = bl.pml(prior * mech)
    for y in (6, 20, 100)[: 3 if even else 2]:
        with mp.workdps(30):
            f = lambda p: (y + 1) * p**2 * (1 - p) ** y  # noqa: B023, E731
            values = [f(mp.mpf(1) / 4 + mp.mpf(1) / (2 + 2 * x)) for x in range(130)]
            if even:
                weights = [mp.mpf(2) ** -x * (2 if x else 1) / 3 for x in range(130)]
            else:
                weights = [mp.mpf(2) ** (-x - 1) for x in range(130)]
            top = max(*values, f(mp.mpf(1) / 4))
            holds(pml(y), mp.log(top / mp.fdot(weights, values)))


def test_secrets_that_end_do_not_approach_it():
    """Beyond the last secret the prior is 0: the largest f(y|x) is the one there, no limit."""
    total = 1 - 0.5**30
    prior = bl.Measure(lambda x: np.where(x < 30, 0.5 ** (x + 1) / total, 0), on=N0)
    mech = written(lambda y, x: (y + 1) * share(x) ** 2 * (1 - share(x)) ** y)
    with mp.workdps(30):
        f = [21 * mp.mpf(share(x)) ** 2 * (1 - mp.mpf(share(x))) ** 20 for x in range(30)]
        law = mp.fdot([mp.mpf(2) ** (-x - 1) / mp.mpf(total) for x in range(30)], f)
        found = bl.pml(prior * mech)(20)
        assert mp.mpf(found.lower) <= mp.log(max(f) / law) <= mp.mpf(found.upper)


TRENDS = {
    "to a limit": lambda y, x: 2 * np.log(share(x)) + y * np.log1p(-share(x)),
    "a peak": lambda y, x: -((x - 500) ** 2) / 1e5 - y,
    "two parts": lambda y, x: np.logaddexp(-x / 8, y / 50 - x / 900),
    "a turn that moves": lambda y, x: (10 + y) * np.log(x + 1) - x / 20,
    "no change": lambda y, x: -y * np.log(3 + 0 * x),
    "one secret": lambda y, x: np.where(x == 4000, 0.0, -y / (1 + x)),
}


@pytest.mark.parametrize("name", TRENDS)
def test_trends(name):
    log, ys = TRENDS[name], np.arange(0.0, 40.0)
    graph = rewrite.simplified(trace(log, ("y", "x"), ()))
    seen = []
    for start in (64.0, 1024.0):
        x = np.unique(np.geomspace(start, 1e5, 400).astype(int)).astype(float)
        found = trends_of(graph, 1.0, RANGES, ys, start)
        seen.append(found)
        for y, trend in zip(ys, found, strict=True):
            steps = log(y, x + 1) - log(y, x) + 0 * x
            assert (trend * steps >= -1e-12).all()
    known = {"to a limit": 40, "no change": 40, "one secret": 0}
    assert (seen[0] != 0).sum() == known.get(name, (seen[0] != 0).sum())
    if name == "a peak":
        assert (seen[0] == 0).all() and (seen[1] == -1).all()


@pytest.mark.parametrize("side", [1, -1])
def test_the_last_secret_of_a_head_may_have_no_mass(side):
    """A prior without secrets between 50 and 32770: f(y|x) falls beyond, from what is no secret."""
    line, c, whole = bl.Integers(*(0, None)[::side]), 32768, 1 - 0.5**51
    prior = bl.Measure(
        lambda x: np.where((side * x > 50) & (side * x < 32770), 0, 0.5 ** (side * x + 1) / whole),
        on=line,
    )
    mech = bl.Mechanism(
        lambda y, x: (1 - (c - 1) / (side * x + c)) * ((c - 1) / (side * x + c)) ** y,
        secret=line,
        outcome=N0,
    )
    with mp.workdps(30):
        of = lambda x, y: (1 - mp.mpf(c - 1) / (x + c)) * (mp.mpf(c - 1) / (x + c)) ** y  # noqa: E731
        for y in (1, 3):
            mean = mp.fsum(mp.mpf(0.5) ** (x + 1) / whole * of(x, y) for x in range(51))
            truth = mp.log(max(of(x, y) for x in (*range(51), *range(32770, 40000, 7))) / mean)
            found = bl.pml(prior * mech)(y)
            assert found.lower <= truth * (1 + mp.mpf(10) ** -12) and truth <= found.upper
