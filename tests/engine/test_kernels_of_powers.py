"""Kernels that are sums of powers, written by hand: Clayton's copula, and poles at an outcome of 0.

Truths are the closed forms of Example 9, and integrals in mpmath.
"""

import random
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
from flint import arb

import borel as bl
from borel.engine import certified_engine
from borel.engine.draws.one_prior import mutual_information
from borel.engine.problem.kernel_normalisation import statement
from borel.numerics.balls.interpreter import Prepared
from borel.numerics.graphs import float64, powers
from borel.numerics.graphs.power_integrals import integral
from borel.numerics.graphs.rewrite import simplified
from borel.numerics.graphs.trace import trace
from borel.numerics.intervals.interpreter import evaluate
from borel.numerics.jets.interpreter import Program

UNIT = bl.Interval(0, 1)


def clayton(eta, theta):
    def density(y, x):
        inner = x**-theta + y**-theta - 1
        return eta + (1 - eta) * (1 + theta) * (x * y) ** (-theta - 1) * inner ** (-1 / theta - 2)

    return density


def by_sums(y, x):
    """Clayton's copula of theta = 1, without negative powers."""
    return 2 * x * y / (x + y - x * y) ** 3


def by_survival(y, x):
    return 2 * x * y / (1 - (1 - x) * (1 - y)) ** 3


def root_pole(y, x):
    return (1 - x) + x / (2 * np.sqrt(y))


def joint(density, prior=None, secret=UNIT):
    mech = bl.Mechanism(density, secret=secret, outcome=UNIT)
    return (bl.uniform(secret) if prior is None else prior) * mech


def holds(found, truth, width=1e-8):
    assert found.status == "certified"
    with mp.workdps(30):
        assert mp.mpf(found.lower) <= truth <= mp.mpf(found.upper)
    assert found.width <= width


def largest(eta, theta, y):
    """Return the supremum over x of the kernel, by Example 9."""
    power, edge = y**theta, (1 + theta) / (1 + 2 * theta)
    if power > edge:
        return eta + (1 - eta) * (1 + theta) * power
    return eta + (1 - eta) * theta * edge ** (2 + 1 / theta) / (y * (1 - power))


@pytest.mark.cases("slow", "0.5-1.0")
@pytest.mark.parametrize(
    ("eta", "theta"),
    [
        (0.5, 1.0),
        *(pytest.param(*v, marks=pytest.mark.slow) for v in ((0.3, 0.5), (0.25, 2.0), (0.75, 1))),
    ],
)
def test_clayton_by_hand(eta, theta):
    made = joint(clayton(eta, theta))
    with mp.workdps(30):
        e, t = mp.mpf(eta), mp.mpf(theta)
        holds(bl.pmc(made).sup(), mp.log(1 / e))
        for y in (0.01, 0.3, 0.9):
            holds(bl.pml(made)(y), mp.log(largest(e, t, mp.mpf(y))))
            holds(bl.pmc(made)(y), mp.log(1 / e))
    assert bl.pml(made).sup().lower == np.inf
    assert bl.pml(made).sup().status == "certified"


@pytest.mark.parametrize("copula", [by_sums, by_survival])
def test_clayton_as_a_quotient(copula):
    made = joint(lambda y, x: 0.25 + 0.75 * copula(y, x))
    with mp.workdps(30):
        e = mp.mpf(1) / 4
        holds(bl.pmc(made).sup(), mp.log(4))
        for y in (0.01, 0.3, 0.9):
            holds(bl.pml(made)(y), mp.log(largest(e, mp.mpf(1), mp.mpf(y))))
            holds(bl.pmc(made)(y), mp.log(4))


@pytest.mark.parametrize(
    "chance",
    [
        lambda x: 1 - (1 - x) * (1 - 0.3 * x),
        lambda x: 1 - (1 - x) * (1 - x * x),
        lambda x: 0.1 + 0.8 * (1 - (1 - np.exp(-x)) * (1 - np.exp(-2 * x))),
    ],
)
def test_one_or_the_other_is_still_a_law(chance):
    """Of 1 - p and p with p = 1 - (1 - a) (1 - b) the sum is 1 as long as p is written so."""
    mech = bl.Mechanism(
        lambda y, x: np.where(y == 0, 1 - chance(x), chance(x)),
        secret=UNIT,
        outcome=bl.Finite([0, 1]),
    )
    found = bl.pml(bl.uniform(UNIT) * mech)(1)
    x = (np.arange(100_000) + 0.5) / 100_000
    truth = np.log(chance(np.array([0.0, 1.0])).max() / np.mean(chance(x)))  # monotone
    assert found.status == "certified"
    assert found.lower - 1e-9 <= truth <= found.upper + 1e-9


def test_a_survival_of_both_is_taken_apart_in_denominators_only():
    def ops(f):
        return [op for op, _ in simplified(trace(f, ("y", "x"), ())).nodes if op != "input"]

    both = lambda y, x: 1 - (1 - x) * (1 - y)  # noqa: E731
    assert ops(both) == ["const", "subtract", "subtract", "multiply", "subtract"]
    for f in (
        lambda y, x: x / both(y, x) ** 3,
        lambda y, x: 1 / both(y, x),
        lambda y, x: both(y, x) ** -2.0,
        lambda y, x: both(y, x) ** -1.0,
    ):
        assert ops(f).count("subtract") == 1
    assert ops(lambda y, x: 1 / (1 - (1 - x) * y)).count("subtract") == 2
    # where 1 / x is infinite, the sum would be no number
    graph = simplified(trace(lambda y, x: 1 / (1 - (1 - 1 / x) * (1 - y)), ("y", "x"), ()))
    low, high = evaluate(
        graph, {name: (np.array([v]),) * 2 for name, v in (("y", 0.5), ("x", 0.0))}
    )
    assert float64.evaluate(graph, {"y": 0.5, "x": 0.0}) == 0 and low <= 0 <= high


@pytest.mark.parametrize(
    "theta", [F(3, 10), pytest.param(F(7, 10), marks=pytest.mark.slow)], ids=str
)
def test_clayton_of_any_fraction(theta):
    """A Fraction stays exact in the exponents -(1 + theta) and -(2 + 1 / theta); 0.3 does not."""
    mech = bl.Mechanism(clayton(F(1, 2), theta), secret=UNIT, outcome=UNIT)
    prior = bl.uniform(UNIT)
    assert statement(mech, prior).proved
    with mp.workdps(30):
        t = mp.mpf(theta.numerator) / theta.denominator
        holds(bl.pml(prior * mech)(0.5), mp.log(largest(mp.mpf(0.5), t, mp.mpf(0.5))))
        holds(bl.pmc(prior * mech)(0.5), mp.log(2))


@pytest.mark.slow
def test_the_supremum_of_clayton_of_a_fraction():
    found = bl.pml(joint(clayton(F(1, 2), F(3, 10)))).sup()
    assert found.lower == np.inf
    assert found.status == "certified"


@pytest.mark.slow
def test_a_tail_and_a_mean_of_clayton_by_hand():
    """P{PML > 0.7} is the length of {y: 1/2 + c*(y) / 2 > e^0.7}, with theta = 1."""
    made = joint(clayton(0.5, 1.0))
    with mp.workdps(30):
        level = 2 * mp.exp(mp.mpf(0.7)) - 1  # of c*: more than 2, so below y = 2/3
        # 8 / (27 y (1 - y)) = level; the other root is above 2/3, where the supremum is 2 y < level
        length = (1 - mp.sqrt(1 - mp.mpf(32) / (27 * level))) / 2
        assert length < mp.mpf(1) / 3
        holds(bl.pml(made).tail(0.7), length)
        mean = mp.quad(lambda y: mp.log(largest(mp.mpf(0.5), mp.mpf(1), y)), [0, 0.1, 2 / 3, 1])
        holds(bl.pml(made).mean(), mean)
    assert bl.pmc(made).tail(0.7).upper == 0


@pytest.mark.slow
@pytest.mark.parametrize(("eta", "theta", "about"), [(0.1, 0.5, 0.0749), (0.2, F(3, 10), 0.054)])
def test_a_tail_of_clayton_of_roots(eta, theta, about):
    """P{PML > 1} is the length of {y: the supremum is more than e}, an interval from 0 on."""
    with mp.workdps(30):
        e, th = mp.mpf(eta), mp.mpf(F(theta).numerator) / F(theta).denominator
        length = mp.findroot(lambda y: largest(e, th, y) - mp.e, about)
        holds(bl.pml(joint(clayton(eta, theta))).tail(1.0), length)


@pytest.mark.slow
def test_a_pole_at_an_outcome_of_0():
    """PML goes to log 2 as y goes to 0: f = 1 - x + x / (2 sqrt y), largest at x = 1 below 1/4."""
    made = joint(root_pole)
    with mp.workdps(30):
        holds(bl.pml(made).sup(), mp.log(2))
    assert bl.pmc(made).sup().lower == np.inf


@pytest.mark.slow
def test_the_mean_beside_a_pole():
    made = joint(root_pole)
    with mp.workdps(30):
        mean = mp.quad(
            lambda y: (
                (mp.mpf(1) / 2 + 1 / (4 * mp.sqrt(y)))
                * mp.log(max(1, 1 / (2 * mp.sqrt(y))) / (mp.mpf(1) / 2 + 1 / (4 * mp.sqrt(y))))
            ),
            [0, 0.001, 0.05, 0.25, 1],
        )
        holds(bl.pml(made).mean(), mean)


@pytest.mark.slow
def test_poles_under_other_priors_and_powers():
    """A mixture of laws with densities a y^(a - 1): near 0 that of the least a is all there is."""

    def density(y, x):
        return (1 - x) * y**-0.25 * 0.75 + x * y**-0.75 / 4

    for prior, mean in ((bl.uniform(UNIT), F(1, 2)), (bl.beta(alpha=2.0, beta=5.0), F(2, 7))):
        found = bl.pml(joint(density, prior)).sup()
        # at 0 the ratio is 1 / E X; at 1, where x = 0 is the largest, 3/4 / (3/4 - E X / 2)
        at_zero, at_one = 1 / mean, F(3, 4) / (F(3, 4) - mean / 2)
        with mp.workdps(30):
            holds(
                found, mp.log(max(mp.mpf(v.numerator) / v.denominator for v in (at_zero, at_one)))
            )


# -- the algebra ----------------------------------------------------------------------------------

GRAPHS = {
    "clayton": clayton(0.5, 1.0),
    "clayton 1/2": clayton(0.25, 0.5),
    "pole": root_pole,
    "other operations": lambda y, x: (np.exp(-x * y) / x + 1 / y) ** -0.5 * x * (x - 1 / y),
    "differences": lambda y, x: (1 / x + 1) ** 2 / (1 / y - x) ** 3 - 2 / x,
    "squares": lambda y, x: (3 / x - 2 / y) ** 2 * np.sqrt(x * y),
    "fractions": clayton(F(1, 2), F(3, 10)),
    "of a square": lambda y, x: np.sqrt((1 / x - 1 / y) ** 2) + x,
}


@pytest.mark.parametrize("name", GRAPHS)
def test_cleared_graphs_are_the_same_function(name):
    graph = simplified(trace(GRAPHS[name], ("y", "x"), ()))
    cleared = powers.cleared(graph, {"x", "y"})
    found = powers.regular(graph, {"x", "y"}, "y")
    rng = random.Random(7)
    common = []
    x0 = 0.3
    for _ in range(50):
        x, y = rng.uniform(0.01, 2), rng.uniform(0.01, 2)
        value = float(float64.evaluate(graph, {"x": x, "y": y}))
        other = float(float64.evaluate(cleared, {"x": x, "y": y}))
        assert np.isnan(value) == np.isnan(other)
        assert np.isnan(value) or abs(other - value) <= 1e-9 * max(1, abs(value))
        if found is None:
            continue
        # without the common factor, ratios of two secrets stay
        of, root = found
        pair = [float(float64.evaluate(of, {"x": v, "y": y ** (1 / root)})) for v in (x, x0)]
        truth = [float(float64.evaluate(graph, {"x": v, "y": y})) for v in (x, x0)]
        if not np.isnan([*pair, *truth]).any() and abs(truth[1]) > 1e-3:
            common.append(abs(pair[0] * truth[1] - pair[1] * truth[0]) / abs(truth[1]))
            assert common[-1] <= 1e-6 * max(1, abs(pair[0]))
    assert (cleared != graph) == (name != "of a square")


@pytest.mark.parametrize(
    ("density", "upper", "truth"),
    [
        (clayton(0.0, 1.0), 1.0, F(1)),
        (clayton(0.5, 0.25), 1.0, F(1)),
        (clayton(0.5, 2.0), 1.0, F(1)),
        (clayton(F(1, 2), F(3, 10)), 1.0, F(1)),
        (lambda y, x: 1 + 0.5 * (1 - 2 * x) * (1 - 2 * y), 1.0, F(1)),
        (lambda y, x: 1.25 * clayton(0.0, 1.0)(y, x), 1.0, F(5, 4)),
        (by_sums, 1.0, F(1)),
        (by_survival, 1.0, F(1)),
        (lambda y, x: 0.5 + by_sums(y, x) / 2, 1.0, F(1)),
        (lambda y, x: x / (x + y * (1 - x)) ** 2, 1.0, F(1)),
        (lambda y, x: 3 * x * y**2 / (x * y + y**2 * (1 - x)) ** 2, 1.0, F(3)),
        (lambda y, x: x * y / (x + y - x * y) ** 2, 1.0, None),  # a logarithm
        (lambda y, x: 2 * x * y / (x - y - x * y) ** 3, 1.0, None),  # a pole inside
        (lambda y, x: 2 * x * y / (x + y - 2 * x * y) ** 3, 1.0, None),
        (by_sums, 0.5, None),
        (lambda y, x: y**3, 2.0, F(4)),
        (lambda y, x: x / (x + y) ** 2, 1.0, None),  # 1 / (1 + x)
        (lambda y, x: y**-1.0, 1.0, None),
        (lambda y, x: y * np.exp(-x), 1.0, None),
        (clayton(0.5, 1.0), 0.5, None),
        (clayton(0.5, 0.3), 1.0, None),  # -1 / 0.3 - 2 is no number that cancels
        (lambda y, x: -2 * y**-2 * (1 / x - 1 / y) ** -3, 1.0, None),  # a pole inside
        (lambda y, x: y**-2 * (2 - 1 / y) ** -3 + 0 * x, 1.0, None),  # another, at 1/2
        (lambda y, x: y**-2 / x * (1 / (x * y) + 1 - 1 / x) ** 0.5, 1.0, None),  # infinite
        (lambda y, x: 1 / (x + 2 * x * y), 1.0, None),  # log 3 / (2 x)
        # a pole inside where the sine is negative
        (
            lambda y, x: y**-2 * np.sin(9 * x) * (np.sin(9 * x) / y + 1 - np.sin(9 * x)) ** -3,
            1.0,
            None,
        ),
    ],
)
def test_integrals_of_powers(density, upper, truth):
    graph = simplified(trace(density, ("y", "x"), ()))
    assert integral(graph, "y", upper) == truth
    if truth is not None:
        with mp.workdps(15):
            for x in map(mp.mpf, (0.2, 0.9)):
                found = mp.quad(lambda y, x=x: density(y, x), [0, 0.01, 0.2, upper])
                assert abs(found - mp.mpf(truth.numerator) / truth.denominator) < 1e-6


def test_a_copula_that_misses_1_is_refused():
    with pytest.raises(bl.InvalidInput, match="integra"):
        bl.pml(joint(lambda y, x: 1.01 * clayton(0.0, 1.0)(y, x))).sup()


def test_marginals_are_no_number_under_other_priors():
    """f_Y = 1 is of the uniform prior alone."""
    made = joint(clayton(0.5, 1.0), bl.beta(alpha=2.0, beta=2.0))
    found = bl.pml(made)(0.5)
    with mp.workdps(20):
        f = clayton(mp.mpf(0.5), mp.mpf(1))
        marginal = mp.quad(lambda x: 6 * x * (1 - x) * f(mp.mpf(0.5), x), [0, 0.1, 0.5, 1])
        truth = mp.log(largest(mp.mpf(0.5), mp.mpf(1), mp.mpf(0.5)) / marginal)
    holds(found, truth)
    finite = bl.pmf([0.5, 0.5], on=bl.Finite([0.25, 0.75]))
    mech = bl.Mechanism(clayton(0.5, 1.0), secret=UNIT, outcome=UNIT)
    assert statement(mech, finite).proved
    holds(bl.pmc(finite * mech)(0.5), mp.log(_mean_over_least()))


def _mean_over_least():
    values = [clayton(0.5, 1.0)(mp.mpf(0.5), mp.mpf(x)) for x in (0.25, 0.75)]
    return sum(values) / 2 / min(values)


# -- where it does not hold -----------------------------------------------------------------------


@pytest.mark.slow
def test_a_density_that_is_not_given_at_0_is_not_made_up():
    """Clayton's formula is NaN where an input is 0; PML goes to infinity beside an outcome of 0."""
    mech = bl.Mechanism(clayton(0.5, 1.0), secret=UNIT, outcome=UNIT)
    with bl.options(budget=0.5):
        assert bl.pml(bl.uniform(UNIT) * mech)(0.0).upper == np.inf
    with pytest.raises(bl.InvalidInput, match="secret that has a mass, got nan at x"):
        HALVES * mech


HALVES = bl.pmf([0.5, 0.5], on=bl.Finite([0, 0.5]))


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("prior", "density", "outcome", "y"),
    [
        (HALVES, lambda y, x: y / y + (x - 0.5) * (y - 0.5), UNIT, 0.0),
        (HALVES, lambda y, x: (1 / y) * y + (x - 0.5) * (y - 0.5), UNIT, 0.0),
        (HALVES, lambda y, x: y**-0.5 * (y**0.5 * (1 + (x - 0.5) * (y - 0.5))), UNIT, 0.0),
        (HALVES, lambda y, x: np.exp(-abs(y - x)) / 2 * ((x - y) / (x - y)), bl.Reals(), 0.5),
    ],
)
def test_0_times_1_over_0_is_no_number(prior, density, outcome, y):
    """NumPy gives NaN there for a secret with mass; it was read as 0, and certified."""
    with np.errstate(all="ignore"):
        assert any(np.isnan(density(np.float64(y), np.float64(x))) for x in (0.0, 0.5))
    made = prior * bl.Mechanism(density, secret=UNIT, outcome=outcome)
    with bl.options(budget=0.5):
        for found in (bl.pml(made)(y), bl.pmc(made)(y)):
            assert found.status == "undecided"
            assert found.lower <= np.log(2)


@pytest.mark.parametrize(
    ("density", "outcome"),
    [
        (lambda y, x: 2 * y * x + x / x * (1 - x), UNIT),
        (lambda y, x: 2 * y * x + (1 / x) * (x - x * x), UNIT),
        (lambda y, x: np.exp(-abs(y - x * (1 / x))) / 2, bl.Reals()),
        # also where a pole of y is divided out
        (lambda y, x: (x / x) * ((1 - x) + x / (2 * np.sqrt(y))), UNIT),
        (lambda y, x: 1 + (x / x) * (y - 0.5) * x, UNIT),
    ],
)
def test_no_number_at_a_secret_with_mass_is_refused(density, outcome):
    with pytest.raises(bl.InvalidInput, match="secret that has a mass, got nan at x"):
        HALVES * bl.Mechanism(density, secret=UNIT, outcome=outcome)


NO_NUMBERS = {  # of y and x, at x = 0
    "reciprocal": lambda y, x: (1 / x) * x * y,
    "quotient": lambda y, x: (x / x) * (y - 0.5) * x,
    "of a sum": lambda y, x: x * (1 + y / x),
    "power": lambda y, x: x * (x**-0.5 * y),
    "quotient of logarithms": lambda y, x: (1 / np.log(x)) * np.log(x) * y,
}


@pytest.mark.parametrize("density", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_no_arithmetic_makes_up_a_number(density):
    """0 (x / x) is 0 beside x = 0 only; a secret of mass may be there.

    0 log(0) is read as its limit, 0: laws of counts that are written in logarithms have it.
    """
    with np.errstate(all="ignore"):
        assert np.isnan(density(np.float64(0.25), np.float64(0.0)))
    graph = trace(density, ("y", "x"), ())
    y, x = np.full((1, 1), 0.25), np.zeros((1, 1))
    low, high = evaluate(graph, {"y": (y, y), "x": (x, x)})
    assert not np.isfinite([low, high]).all()
    for g in (graph, graph.bind({"x": 0.0})):
        inputs = {"y": (y, y), "x": (x, x)}
        found = Program(g).run({n: inputs[n] for n in g.inputs}, everywhere=True).jet
        assert not np.isfinite(found).all()
        f = Prepared(g, "y").at({"x": 0.0})
        ends = f.run(arb(0.25), arb(0.5))[0][f.root]
        assert not all(end.is_finite() for end in ends)


def test_0_times_what_may_be_a_number_stays_0():
    """Of a choice the one that is taken; and of a logarithm of the outcome."""
    y, x = np.zeros((1, 1)), np.zeros((1, 1))
    for density in (
        lambda y, x: x * np.log(y + 0.25),
        lambda y, x: x * np.where(x == 0, 1, 1 / x) + 0 * y,
    ):
        graph = trace(density, ("y", "x"), ())
        inputs = {"y": (y, y), "x": (x, x)}
        assert [*evaluate(graph, inputs)] == [0, 0]
        assert not np.any(Program(graph).run(inputs, everywhere=True).jet)
        f = Prepared(graph, "y").at({"x": 0.0})
        assert all(end == 0 for end in f.run(arb(0), arb(1))[0][f.root])


def test_a_condition_on_0_times_1_over_0_is_left_open():
    """NumPy takes NaN for true; constants were folded to 0, which is false."""
    graph = trace(lambda y, x: np.where(x * (1 / x), -1.0, 1.0) + 0 * y, ("y", "x"), ())
    y = np.full((1, 1), 0.25)
    low, high = Program(graph.bind({"x": 0.0})).run({"y": (y, y)}, everywhere=True).jet
    assert low <= -1 <= high


def test_the_information_of_a_finite_prior_without_arb():
    """What is asked where Arb has no answer took one prior for a table of draws, and crashed."""
    made = bl.pmf([F(1, 4), F(3, 4)], on=bl.Finite([0, 0.5])) * bl.Mechanism(
        lambda y, x: 1 + (y - 0.5) * x, secret=UNIT, outcome=UNIT
    )
    found = mutual_information(made, certified_engine)

    def part(y):
        f, law = 1 + (y - 0.5) / 2, 1 + 0.375 * (y - 0.5)
        return (mp.log(1 / law) + 3 * f * mp.log(f / law)) / 4

    holds(found, mp.quad(part, [0, 1]), width=1e-7)


@pytest.mark.parametrize(
    "density",
    [
        lambda y, x: 4 * np.sqrt(y - 0.25) ** 2 + 0 * x,  # 4 y - 1, but not below 1/4
        lambda y, x: np.sqrt(y - 0.25) * np.sqrt(y - 0.25) / y,
        lambda y, x: np.maximum(0, y - 0.5) / np.maximum(0, y - 0.5) / x,
        lambda y, x: (1 / (x - y)) ** -1 / y,
        lambda y, x: 1 + 0 * np.log(y - 0.5) + 0 / x,
        lambda y, x: 1 + (np.sqrt(y - 0.5) + 1 / x) - np.sqrt(y - 0.5) - 1 / x,
        lambda y, x: np.sqrt(x - 0.6) * (y - 0.5) + 1,
    ],
)
def test_powers_of_what_may_be_negative_or_0_do_not_merge(density):
    graph = simplified(trace(density, ("y", "x"), ()))
    assert integral(graph, "y", 1.0) is None
    for y in (0.1, 0.9):
        found, truth = (
            float(float64.evaluate(g, {"x": 0.5, "y": y}))
            for g in (powers.cleared(graph, {"x", "y"}), graph)
        )
        assert np.isnan(found) == np.isnan(truth)


@pytest.mark.slow
def test_a_pole_on_a_short_interval_of_outcomes():
    """Beyond 1/4 the root t of an outcome is more than any outcome."""
    h = bl.Interval(0, 0.25)
    mech = bl.Mechanism(lambda y, x: 4 * (1 - x) + x / np.sqrt(y), secret=UNIT, outcome=h)
    found = bl.pml(bl.uniform(UNIT) * mech).sup()
    with mp.workdps(30):
        holds(found, mp.log(2))


@pytest.mark.slow
def test_a_weight_that_is_hardly_a_float():
    with bl.options(budget=1), mp.workdps(30):
        found = bl.pmc(joint(clayton(1e-320, 1.0)))(0.5)
        assert found.lower <= -mp.log(1e-320) <= found.upper
