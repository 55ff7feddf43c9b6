"""Functions and events of outcomes that are not finite, against integrals known otherwise."""

import math
from fractions import Fraction as F
from itertools import pairwise

import mpmath
import numpy as np
import pytest

import borel as bl
from borel.errors import InvalidInput, NotEnclosed, NotYet
from borel.numerics.graphs.constant_pieces import constant_pieces, value_at
from borel.numerics.graphs.trace import trace
from borel.probability.processing import chances

TWO = bl.Finite([0, 1])
UNIT = bl.Interval(0, 1)


def laplace_cdf(y, x, b):
    """P{x + noise <= y}, to 40 digits."""
    with mpmath.workdps(40):
        z = (mpmath.mpf(y) - mpmath.mpf(x)) / mpmath.mpf(b)
        return mpmath.exp(z) / 2 if z < 0 else 1 - mpmath.exp(-z) / 2


def normal_cdf(y, x, sigma):
    with mpmath.workdps(40):
        return mpmath.ncdf((mpmath.mpf(y) - mpmath.mpf(x)) / mpmath.mpf(sigma))


def cauchy_cdf(y, x, _):
    with mpmath.workdps(40):
        return mpmath.mpf(1) / 2 + mpmath.atan(mpmath.mpf(y) - mpmath.mpf(x)) / mpmath.pi


def cauchy(secret):
    density = lambda y, x: 1 / (np.pi * (1 + (y - x) ** 2))  # noqa: E731
    return bl.Mechanism(density, secret=secret, outcome=bl.Reals())


def binned(cdf, x, scale, edges):
    """Return the probabilities of the bins between edges, the outer ones without end."""
    with mpmath.workdps(40):
        below = [mpmath.mpf(0), *(cdf(e, x, scale) for e in edges), mpmath.mpf(1)]
        return [b - a for a, b in pairwise(below)]


def requires_enclosed(mechanism, truth):
    """Every entry is the truth within the rounding that the matrix carries."""
    for row, true in zip(mechanism.matrix, truth, strict=True):
        for entry, value in zip(row, true, strict=True):
            with mpmath.workdps(40):
                assert abs(mpmath.mpf(float(entry)) - value) <= mechanism.rounding * value


# -- where a function is constant -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "jumps"),
    [
        (lambda y: y > 0.5, [F(1, 2)]),
        (lambda y: 3 * y > 1.0, [F(1, 3)]),
        (lambda y: abs(y - 0.5) <= 0.25, [F(1, 4), F(3, 4)]),
        (lambda y: np.floor(np.clip(y, -1.0, 1.0)), [F(0), F(1)]),
        (lambda y: np.rint(np.clip(4 * y, 0.0, 2.0)), [F(1, 8), F(3, 8)]),
        (lambda y: np.digitize(y, [0.0, 0.25, 0.5]), [F(0), F(1, 4), F(1, 2)]),
        (lambda y: np.searchsorted([0.0, 0.25], y), [F(0), F(1, 4)]),
        (lambda y: np.select([y < 0, y < 2], [0.0, 1.0], 0.0), [F(0), F(2)]),
        (lambda y: np.sign(y) + np.where(y > 0, 0.0, 2.0), [F(0)]),  # 2 at 0, else 1
        (lambda y: np.maximum(np.minimum(y, 0.0), 0.0) + 1.0, []),
        (lambda y: np.clip(np.floor(4 * y), 0, 3), [F(1, 4), F(1, 2), F(3, 4)]),
        (lambda y: np.clip(np.ceil(-y / 3.0), 5000, 5002), [F(-15003), F(-15000)]),
        (lambda y: np.clip(np.floor(y), 0.5, 0.5), []),
        (lambda y: np.floor(y) <= 0, [F(1)]),
        (lambda y: np.floor(-y) >= 0, [F(0)]),
        (lambda y: np.where(y < 1, 0.0, np.minimum(np.floor(y), 2.0)), [F(1), F(2)]),
        (lambda y: np.where(abs(y) < 1.5, np.trunc(y), 9.0), [F(-3, 2), F(-1), F(1), F(3, 2)]),
        (lambda y: (np.floor(y / 2.0) > 3) * 1.0 + (np.floor(-y) > 3), [F(-4), F(8)]),
        (lambda y: np.clip(np.round(y, 1), 0.0, 0.25), [F(1, 20), F(3, 20), F(1, 4)]),
    ],
)
def test_the_jumps_of_a_function_are_exact(function, jumps):
    graph = trace(function, ("y",), ())
    pieces = constant_pieces(graph, -math.inf, math.inf)
    assert [p.high for p in pieces[:-1]] == jumps
    assert [p.low for p in pieces[1:]] == jumps
    for piece in pieces:
        inside = float(piece.inside)
        assert float(piece.value) == float(function(np.float64(inside)))
        assert value_at(graph, F(inside)) == piece.value


@pytest.mark.parametrize(
    "function",
    [
        lambda y: y,
        lambda y: np.floor(y),
        lambda y: np.sin(y) > 0,
        lambda y: y * y > 1.0,
        lambda y: np.where(y > 0, y, 0.0),
        lambda y: y / 0.0 > 1,
    ],
)
def test_a_function_whose_jumps_are_not_found_is_no_step(function):
    with pytest.raises(NotEnclosed), np.errstate(all="ignore"):
        constant_pieces(trace(function, ("y",), ()), -math.inf, math.inf)


@pytest.mark.parametrize("lower", [-math.inf, 0.0])
def test_endless_jumps_that_leave_the_value_end_in_an_error(lower):
    graph = trace(lambda y: (y >= np.floor(y)) * 1.0, ("y",), ())
    with pytest.raises(NotEnclosed, match="more than"):
        constant_pieces(graph, lower, math.inf)


# -- push -----------------------------------------------------------------------------------------

EDGES = [-1.0, 0.1, 0.5, 3.0]


@pytest.mark.parametrize(
    ("mechanism", "cdf", "scale"),
    [
        (bl.mechanisms.laplace(b=0.7, secret=TWO), laplace_cdf, 0.7),
        (bl.mechanisms.gaussian(sigma=0.3, secret=TWO), normal_cdf, 0.3),
        (cauchy(TWO), cauchy_cdf, None),
    ],
    ids=["laplace", "gaussian", "cauchy"],
)
def test_bins_of_noise_have_their_probabilities(mechanism, cdf, scale):
    truth = [binned(cdf, x, scale, EDGES) for x in (0, 1)]
    by_graph = mechanism.push(lambda y: np.digitize(y, EDGES))
    by_breaks = mechanism.push(lambda y: "ABCDE"[int(np.digitize(y, EDGES))], breaks=EDGES)
    assert by_graph.outcome.labels == (0, 1, 2, 3, 4)
    assert by_breaks.outcome.labels == tuple("ABCDE")
    for pushed in (by_graph, by_breaks):
        requires_enclosed(pushed, truth)
        assert pushed.rounding < 1e-13


@pytest.mark.parametrize(("b", "cut"), [(477559.0554151251, 0.0), (30711.773610912354, 0.0)])
def test_constants_of_a_density_that_floats_round_are_covered(b, cut):
    """The float of log(2 b) is off by more than the rounding of an entry."""
    pushed = bl.mechanisms.laplace(b=b, secret=bl.Finite([-1, 1])).push(lambda y: y > cut)
    truth = []
    for x in (-1, 1):
        p = laplace_cdf(cut, x, b)
        truth.append([p, 1 - p])
    requires_enclosed(pushed, truth)


def test_what_is_declared_of_a_function_is_not_proved():
    """A piece that no break tells of: all of it would be another function."""
    noise = bl.mechanisms.laplace(b=1.0, secret=TWO)
    pushed = noise.push(lambda y: "in" if abs(y - 0.123) < 1e-3 else "out", breaks=[])
    bound = bl.pml(bl.uniform(TWO) * pushed).sup()
    assert bound.status == "estimate"
    assert "declared" in bound.reason
    with pytest.raises(InvalidInput, match="a jump"):  # its formula tells
        noise.push(lambda y: abs(y - 0.123) < 1e-3, breaks=[])
    third = noise.push(lambda y: 3 * y > 1.0, breaks=[1 / 3])
    assert (third.matrix == noise.push(lambda y: 3 * y > 1.0).matrix).all()
    assert bl.pml(bl.uniform(TWO) * third).sup().status == "exact"
    named = noise.push(lambda y: np.digitize(y, [0.0, 1.0])).push(lambda k: "abc"[int(k)])
    assert bl.pml(bl.uniform(TWO) * named)("b").status == "exact"
    with pytest.raises(NotYet, match="declared"):
        bl.mechanisms.laplace(b=1.0, secret=UNIT).push(lambda y: int(y > 0.5), breaks=[0.5])


def test_figures_of_a_threshold_are_those_of_its_matrix():
    pushed = bl.mechanisms.laplace(b=1.0, secret=TWO).push(lambda y: y > 0.5)
    assert pushed.outcome.labels == (False, True)
    joint = bl.pmf([0.25, 0.75], on=TWO) * pushed
    with mpmath.workdps(40):
        q = mpmath.exp(mpmath.mpf(-1) / 2) / 2  # P{noise > 1/2}
        p = {True: (q + 3 * (1 - q)) / 4, False: (1 - q + 3 * q) / 4}
        for y in (False, True):
            bound = bl.pml(joint)(y)
            assert bound.lower <= mpmath.log((1 - q) / p[y]) <= bound.upper
            assert bound.width < 1e-12
            bound = bl.pmc(joint)(y)
            assert bound.lower <= mpmath.log(p[y] / q) <= bound.upper


def test_labels_that_meet_twice_are_one_outcome():
    inside = bl.mechanisms.gaussian(sigma=1.0, secret=TWO).push(lambda y: abs(y) < 1.0)
    truth = []
    for x in (0, 1):
        with mpmath.workdps(40):
            p = normal_cdf(1, x, 1) - normal_cdf(-1, x, 1)
            truth.append([1 - p, p])
    requires_enclosed(inside, truth)


def test_atoms_are_where_the_function_puts_them():
    clipped = bl.mechanisms.laplace(b=1.0, secret=TWO).clip(0.0, 1.0)
    at_end = clipped.push(lambda y: y <= 0.0)
    truth = []
    for x in (0, 1):
        p = laplace_cdf(0, x, 1)
        truth.append([1 - p, p])
    requires_enclosed(at_end, truth)
    assert at_end.outcome.labels == (False, True)


def test_a_piece_of_density_zero_is_an_exact_zero():
    short = bl.Mechanism(
        lambda y, x: np.where(abs(y - x) < 0.25, 2.0, 0.0), secret=TWO, outcome=bl.Reals()
    )
    assert (short.push(lambda y: y > 0.5).matrix == np.eye(2)).all()


def test_jumps_that_are_no_floats_are_enclosed():
    power = bl.Mechanism(lambda y, x: (1 + x) * y**x, secret=TWO, outcome=UNIT)
    third = power.push(lambda y: 3 * y > 1.0)
    chance = chances("the test", power, 0)  # of a uniform outcome
    for low, high in ((F(0), F(1, 3)), (F(1, 3), F(2, 3)), (F(1, 7), F(1))):
        least, most = chance(low, high)
        assert F(least) <= high - low <= F(most)
    for row, exact in zip(third.matrix, ([F(1, 3), F(2, 3)], [F(1, 9), F(8, 9)]), strict=True):
        for entry, true in zip(row, exact, strict=True):
            assert abs(F(float(entry)) - true) <= F(third.rounding) * true


@pytest.mark.parametrize("make", [bl.mechanisms.laplace, bl.mechanisms.gaussian])
def test_thresholds_of_secrets_on_an_interval(make):
    scale = {"b": 0.5} if make is bl.mechanisms.laplace else {"sigma": 0.5}
    cdf = laplace_cdf if make is bl.mechanisms.laplace else normal_cdf
    joint = bl.uniform(UNIT) * make(secret=UNIT, **scale).push(lambda y: y > 0.25)
    assert joint.outcome.labels == (0, 1)
    with mpmath.workdps(30):
        mean = mpmath.quad(lambda x: cdf(0.25, x, 0.5), [0, 0.25, 1])
        lows = {0: cdf(0.25, 1, 0.5), 1: 1 - cdf(0.25, 0, 0.5)}
        highs = {0: cdf(0.25, 0, 0.5), 1: 1 - cdf(0.25, 1, 0.5)}
        means = {0: mean, 1: 1 - mean}
        for y in (0, 1):
            pml, pmc = bl.pml(joint)(y), bl.pmc(joint)(y)
            assert pml.status == pmc.status == "certified"
            slack = mpmath.mpf(10) ** -25  # of the mean by mpmath
            assert pml.lower - slack <= mpmath.log(highs[y] / means[y]) <= pml.upper + slack
            assert pmc.lower - slack <= mpmath.log(means[y] / lows[y]) <= pmc.upper + slack
            assert max(pml.width, pmc.width) < 1e-6


@pytest.mark.truths
def test_pushing_never_leaks_more():
    prior = bl.pmf([0.3, 0.7], on=TWO)
    noise = bl.mechanisms.laplace(b=0.8, secret=TWO)
    pushed = prior * noise.push(lambda y: np.digitize(y, [0.2, 0.9]))
    for of in (bl.pml, bl.pmc):
        assert of(pushed).sup().lower <= of(prior * noise).sup().upper


def test_what_cannot_be_pushed_says_why():
    noise = bl.mechanisms.laplace(b=1.0, secret=TWO)
    with pytest.raises(NotYet, match="not constant"):
        noise.push(lambda y: y)
    with pytest.raises(NotYet, match="breaks"):
        noise.push(lambda y: "low" if y < 0 else "high")
    with pytest.raises(InvalidInput, match="constant between its breaks"):
        noise.push(lambda y: y > 0.5, breaks=[2.0])
    with pytest.raises(InvalidInput, match="finite alphabet"):
        noise.push(lambda y: y > 0.5, outcome=bl.Reals())
    with pytest.raises(InvalidInput, match="value of the function"):
        noise.push(lambda y: np.floor(np.clip(y, 0.0, 2.0)), outcome=[0, 1])
    with pytest.raises(NotYet, match="distribution function"):
        cauchy(UNIT).push(lambda y: y > 0.5)
    with pytest.raises(InvalidInput, match="numbers"):
        bl.mechanisms.laplace(b=1.0, secret=UNIT).push(lambda y: y > 0.5, outcome=[False, True])


def test_a_kernel_of_labels_is_pushed_for_any_secret():
    three = bl.Mechanism(
        lambda y, x: np.where(y == 0, x / 2, np.where(y == 1, 0.5, 0.5 - x / 2)),
        secret=UNIT,
        outcome=bl.Finite([0, 1, 2]),
    )
    first = three.push(lambda y: y == 0)
    assert first.pdf(1, 0.5) == 0.25
    pairs = bl.Mechanism(
        lambda y, x: np.where(y[0] == 0, x / 2, 0.5 - x / 2) + 0.0 * y[1],
        secret=UNIT,
        outcome=TWO * TWO,
    )
    assert pairs.push(lambda y: y[0]).pdf(0, 0.5) == 0.5
    joint = bl.uniform(UNIT) * first
    bound = bl.pml(joint)(1)  # 1/2 over 1/4
    assert bound.lower <= math.log(2) <= bound.upper
    assert bound.width < 1e-9


def test_labels_of_an_opaque_kernel_are_not_rounded_to_whole_secrets():
    def kernel(y, x):
        p = 0.5 ** (np.asarray(x, float) + 1)  # it cannot be traced
        return np.where(y == 0.5, p, 1 - p)

    counted = bl.Mechanism(kernel, secret=bl.Integers(0, None), outcome=bl.Finite([0.5, 0.25]))
    assert counted.density.opaque
    assert counted.push(lambda y: 1.0 * (y == 0.5)).pdf(1.0, 1) == counted.pdf(0.5, 1) == 0.25


# -- restrict -------------------------------------------------------------------------------------


def conditioned(cdf, density, x, y, scale, spans):
    """Return f(y|x) divided by the probability of some intervals, to 40 digits."""
    with mpmath.workdps(40):
        total = sum(cdf(b, x, scale) - cdf(a, x, scale) for a, b in spans)
        return density(mpmath.mpf(y) - x) / total


@pytest.mark.parametrize(
    ("event", "spans"),
    [
        (bl.Interval(0, 1), [(0, 1)]),
        (lambda y: abs(y - 0.5) <= 0.5, [(0, 1)]),
        (lambda y: y > 0.25, [(0.25, math.inf)]),
        (lambda y: abs(y - 0.5) > 0.125, [(-math.inf, 0.375), (0.625, math.inf)]),
    ],
    ids=["interval", "indicator", "half-line", "two sides"],
)
def test_noise_given_an_event(event, spans):
    noise = bl.mechanisms.laplace(b=0.5, secret=TWO)
    given = noise.restrict(event)
    assert given.normalisation.proved
    joint = bl.pmf([0.25, 0.75], on=TWO) * given
    with mpmath.workdps(40):
        for y in (0.375 - 2**-10, 0.75):
            f0, f1 = (
                conditioned(laplace_cdf, lambda z: mpmath.exp(-2 * abs(z)), x, y, 0.5, spans)
                for x in (0, 1)
            )
            mean = (f0 + 3 * f1) / 4
            pml, pmc = bl.pml(joint)(y), bl.pmc(joint)(y)
            assert pml.status == pmc.status == "certified"
            assert pml.lower <= mpmath.log(max(f0, f1) / mean) <= pml.upper
            assert pmc.lower <= mpmath.log(mean / min(f0, f1)) <= pmc.upper
            assert max(pml.width, pmc.width) < 1e-9


def test_a_rare_event_is_no_difference_of_numbers_near_one():
    noise = bl.mechanisms.laplace(b=2.0**-5, secret=bl.Finite([-1, 0]))
    joint = bl.uniform(bl.Finite([-1, 0])) * noise.restrict(bl.Interval(0.25, 0.5))
    bound = bl.pml(joint)(0.375)  # both are e^(-32 y) there, but for a factor
    assert bound.lower == 0.0
    assert bound.upper < 1e-9


def test_outcomes_outside_an_event_are_no_outcomes():
    noise = bl.mechanisms.gaussian(sigma=0.5, secret=TWO)
    joint = bl.uniform(TWO) * noise.restrict(lambda y: abs(y - 0.5) > 0.25)
    assert bl.pml(joint)(0.5).upper == 0.0  # a gap inside the alphabet has density 0
    with pytest.raises(InvalidInput, match="Interval"):
        bl.pml(bl.uniform(TWO) * noise.restrict(bl.Interval(0, 1)))(1.5)


def test_a_weight_without_distribution_function_is_divided_by_its_integral():
    given = cauchy(TWO).restrict(UNIT)
    joint = bl.uniform(TWO) * given
    bound = bl.pml(joint)(0.25)
    with mpmath.workdps(40):
        y = mpmath.mpf(1) / 4  # both integrals over (0, 1) are arctan 1
        f0, f1 = 1 / (1 + y**2), 1 / (1 + (y - 1) ** 2)
        assert bound.lower <= mpmath.log(2 * f0 / (f0 + f1)) <= bound.upper
    assert bound.width < 1e-9


def test_counted_outcomes_given_a_range():
    noise = bl.mechanisms.geometric(alpha=0.5, secret=TWO)
    given = noise.restrict(bl.Interval(-0.5, 2.5))
    assert given.outcome == bl.Integers(0, 2)
    joint = bl.uniform(TWO) * given
    bound = bl.pml(joint)(0)
    f0, f1 = F(4, 7), F(1, 4)  # 1 : 1/2 : 1/4 and 1/2 : 1 : 1/2
    assert bound.lower <= math.log(2 * f0 / (f0 + f1)) + 1e-15
    assert bound.upper >= math.log(2 * f0 / (f0 + f1)) - 1e-15
    with pytest.raises(NotYet, match="two ends"):
        noise.restrict(lambda y: y > 0)


@pytest.mark.truths
def test_an_event_may_have_an_atom_apart_from_its_intervals():
    clipped = bl.mechanisms.laplace(b=0.5, secret=TWO).clip(0.0, 1.0)
    given = clipped.restrict(lambda y: (y <= 0.0) | (abs(y - 0.625) < 0.125))
    assert given.outcome == bl.Mixed(bl.Interval(0, 0.75), atoms=[0.0])
    joint = bl.uniform(TWO) * given
    with mpmath.workdps(40):
        atom = [laplace_cdf(0, x, 0.5) for x in (0, 1)]
        span = [laplace_cdf(0.75, x, 0.5) - laplace_cdf(0.5, x, 0.5) for x in (0, 1)]
        for y, f in ((0.0, atom), (0.625, [mpmath.exp(-2 * abs(0.625 - x)) for x in (0, 1)])):
            f0, f1 = (v / (a + b) for v, a, b in zip(f, atom, span, strict=True))
            bound = bl.pml(joint)(y)
            assert bound.lower <= mpmath.log(2 * max(f0, f1) / (f0 + f1)) <= bound.upper
            assert bound.width < 1e-8
    assert bl.pml(joint)(0.25).upper == 0.0  # density 0 in between


def test_events_that_cannot_be_conditioned_on():
    with pytest.raises(NotYet, match="so rare an event"):
        bl.mechanisms.gaussian(sigma=1.0, secret=UNIT).restrict(bl.Interval(40, 41))
    noise = bl.mechanisms.laplace(b=1.0, secret=TWO)
    with pytest.raises(InvalidInput, match="an event with outcomes"):
        noise.restrict(lambda y: y * 0.0 > 1.0)
    with pytest.raises(NotYet, match="jumps"):
        noise.restrict(lambda y: np.sin(y) > 0)
    labels = bl.Mechanism.from_matrix([[1.0, 0.0], [0.5, 0.5]], outcome=["a", "b"])
    with pytest.raises(InvalidInput, match="outcomes that are numbers"):
        labels.restrict(UNIT)
    numbers = bl.Mechanism.from_matrix([[F(1, 2), F(1, 4), F(1, 4)]] * 2)
    assert (numbers.restrict(bl.Interval(0, 1)).matrix == [[F(2, 3), F(1, 3)]] * 2).all()


# -- composition with a kernel --------------------------------------------------------------------

THREE = bl.Finite([10, 20, 30])
PRE = [[F(1, 3), F(2, 3)], [F(1, 2), F(1, 2)], [F(1), F(0)]]


@pytest.mark.parametrize("matrix", [PRE, np.array(PRE, float)], ids=["fractions", "floats"])
def test_a_noisy_secret_is_a_mixture_of_laws(matrix):
    noise = bl.mechanisms.laplace(b=0.5, secret=TWO)
    pre = bl.Mechanism.from_matrix(matrix, secret=THREE, outcome=TWO)
    joint = bl.pmf([0.25, 0.25, 0.5], on=THREE) * (noise @ pre)
    about_x = (pre @ bl.pmf([0.25, 0.25, 0.5], on=THREE)) * noise
    with mpmath.workdps(40):
        for y in (-1.5, 0.25, 0.75):
            f = [mpmath.exp(-2 * abs(mpmath.mpf(y) - x)) for x in (0, 1)]
            rows = [
                sum(
                    mpmath.mpf(p.numerator) / p.denominator * g for p, g in zip(row, f, strict=True)
                )
                for row in PRE
            ]
            mean = (rows[0] + rows[1] + 2 * rows[2]) / 4
            pml, pmc = bl.pml(joint)(y), bl.pmc(joint)(y)
            assert pml.status == pmc.status == "certified"
            assert pml.lower <= mpmath.log(max(rows) / mean) <= pml.upper
            assert pmc.lower <= mpmath.log(mean / min(rows)) <= pmc.upper
            assert max(pml.width, pmc.width) < 1e-9
            # Remark 2 and Lemma 1(v): about Z no more leaks than about X
            assert pml.lower <= bl.pml(about_x)(y).upper
            assert pmc.lower <= bl.pmc(about_x)(y).upper


def mixed_by_singles():
    """Return a mixture whose weights, float32 of 0.3 and 0.7, sum to 1 and are off by 1e-8."""
    weights = np.array([[0.3, 0.7], [0.25, 0.75]], np.float32)
    return bl.mechanisms.laplace(b=1.0, secret=TWO) @ bl.Mechanism.from_matrix(weights)


def test_weights_of_single_precision_stay_as_unknown_as_they_are():
    coin = bl.Mechanism(
        lambda z, y: np.where(z == (y > 0.5), 1.0, 0.0), secret=bl.Reals(), outcome=TWO
    )
    with mpmath.workdps(40):
        q = mpmath.exp(mpmath.mpf(-1) / 2) / 2
        truth = []
        for p in (mpmath.mpf(3) / 10, mpmath.mpf(1) / 4):
            above = p * q + (1 - p) * (1 - q)
            truth.append([1 - above, above])
        requires_enclosed(mixed_by_singles().push(lambda y: y > 0.5), truth)
        requires_enclosed(coin @ mixed_by_singles(), truth)


@pytest.mark.truths
def test_weights_of_single_precision_given_an_event():
    given = mixed_by_singles().restrict(UNIT)  # of probability (1 - 1/e) / 2 at 0 and at 1
    with mpmath.workdps(40):
        f0, f1 = (
            p * mpmath.exp(mpmath.mpf(-1) / 4) + (1 - p) * mpmath.exp(mpmath.mpf(-3) / 4)
            for p in (mpmath.mpf(3) / 10, mpmath.mpf(1) / 4)
        )
        for joint in (bl.uniform(TWO) * given, bl.uniform(TWO) * (given & cauchy(TWO))):
            bound = bl.pml(joint)(0.25 if joint.outcome.dim == 1 else (0.25, 0.5))
            assert bound.lower <= mpmath.log(2 * max(f0, f1) / (f0 + f1)) <= bound.upper


def test_a_density_that_is_no_law_is_not_pushed():
    kernel = lambda y, x: (1 + 1e-10 * x) * np.exp(-abs(y - x)) / 2  # noqa: E731
    off = bl.Mechanism(kernel, secret=TWO, outcome=bl.Reals())
    with pytest.raises(InvalidInput, match="proved to miss 1 by 1e-10"):
        off.push(lambda y: y > 0.5)


def test_a_noisy_secret_before_a_clipped_outcome():
    clipped = bl.mechanisms.laplace(b=0.5, secret=TWO).clip(0.0, 1.0)
    pre = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    bound = bl.pml(bl.uniform(TWO) * (clipped @ pre))(0.0)
    with mpmath.workdps(40):
        a, b = laplace_cdf(0, 0, 0.5), laplace_cdf(0, 1, 0.5)  # the masses of the atom
        assert bound.lower <= mpmath.log((3 * a + b) / (2 * a + 2 * b)) <= bound.upper
    assert bound.width < 1e-12


def test_a_kernel_after_a_real_outcome():
    power = bl.Mechanism(lambda y, x: (1 + x) * y**x, secret=TWO, outcome=UNIT)
    coin = bl.Mechanism(lambda z, y: np.where(z == 1, y, 1 - y), secret=UNIT, outcome=TWO)
    released = coin @ power  # the mean of y, (1 + x) / (2 + x)
    requires_enclosed(released, [[mpmath.mpf(1) / 2] * 2, [mpmath.mpf(1) / 3, mpmath.mpf(2) / 3]])
    clipped = coin @ bl.mechanisms.laplace(b=0.5, secret=TWO).clip(0.0, 1.0)
    truth = []
    with mpmath.workdps(40):
        for x in (0, 1):
            inside = mpmath.quad(lambda y: y * mpmath.exp(-2 * abs(y - x)), [0, 1])  # noqa: B023
            mean = inside + 1 - laplace_cdf(1, x, 0.5)
            truth.append([1 - mean, mean])
    requires_enclosed(clipped, truth)


def test_compositions_that_are_not_there():
    noise = bl.mechanisms.laplace(b=0.5, secret=TWO)
    pre = bl.Mechanism.from_matrix([[0.5, 0.5]] * 2, secret=["a", "b"], outcome=TWO)
    with pytest.raises(InvalidInput, match="numbers"):
        noise @ pre
    with pytest.raises(NotYet, match="not finite"):
        bl.mechanisms.gaussian(sigma=1.0) @ noise
    with pytest.raises(InvalidInput, match="post-processing"):
        noise @ bl.Mechanism.from_matrix([[0.5, 0.5]] * 2, secret=TWO, outcome=[5, 6])


# -- two releases, and two secrets -----------------------------------------------------------------


@pytest.mark.parametrize("secret", [TWO, UNIT], ids=["two labels", "an interval"])
def test_two_releases_at_one_outcome(secret):
    both = bl.mechanisms.laplace(b=0.5, secret=secret) & bl.mechanisms.laplace(b=1.0, secret=secret)
    joint = bl.uniform(secret) * both
    for y in ((1.5, 2.0), (-0.25, 3.0)):
        pml, pmc = bl.pml(joint)(y), bl.pmc(joint)(y)
        with mpmath.workdps(40):
            kernel = lambda x: mpmath.exp(-2 * abs(x - y[0]) - abs(x - y[1]))  # noqa: B023, E731
            ends = kernel(0), kernel(1)  # it is monotone on (0, 1)
            mean = sum(ends) / 2 if secret is TWO else mpmath.quad(kernel, [0, 1])
            slack = mpmath.mpf(10) ** -25
            assert pml.lower - slack <= mpmath.log(max(ends) / mean) <= pml.upper + slack
            assert pmc.lower - slack <= mpmath.log(mean / min(ends)) <= pmc.upper + slack
        assert pml.status == pmc.status == "certified"
        assert max(pml.width, pmc.width) < 1e-6


@pytest.mark.truths
def test_the_supremum_of_two_releases_is_bounded_by_those_of_each():
    """Of Laplace noise it is that of y1, y2 beyond an end: the kernel is e^(x / b1 + x / b2)."""
    noise = bl.mechanisms.laplace(b=1.0, secret=TWO)
    joint = bl.pmf([F(1, 4), F(3, 4)], on=TWO) * (noise & noise)
    with mpmath.workdps(40):
        low = mpmath.log(4 / (1 + 3 * mpmath.exp(-2)))  # PML is largest where x = 0 is likely
        cost = mpmath.log((1 + 3 * mpmath.exp(2)) / 4)
        pml, pmc = bl.pml(joint).sup(), bl.pmc(joint).sup()
        assert pml.lower <= low <= pml.upper <= math.log(4) + 1e-12
        assert pmc.lower <= cost <= pmc.upper <= 2 + 1e-6
        assert pml.status == pmc.status == "undecided"  # true bounds, a wide bracket
        assert "one release" in pml.reason
        assert (pmc <= 2.1).holds
        assert (pmc <= 1.0).holds is None
        one = bl.pml(bl.pmf([F(1, 4), F(3, 4)], on=TWO) * noise).sup()
        assert pml.lower >= one.lower


@pytest.mark.truths
def test_a_supremum_of_two_releases_is_certified_where_its_bounds_meet():
    """Gaussian noise alone tells all: log(1 / P_min), and infinity of PMC."""
    noise = bl.mechanisms.gaussian(sigma=1.0, secret=TWO)
    joint = bl.pmf([F(1, 4), F(3, 4)], on=TWO) * (noise & noise)
    with bl.options(tol=1e-6):
        pml, pmc = bl.pml(joint).sup(), bl.pmc(joint).sup()
    assert pml.status == pmc.status == "certified"
    assert pml.lower <= math.log(4) <= pml.upper
    assert pml.width <= 1e-6
    assert pmc.lower == math.inf


def test_leakage_about_independent_secrets_adds_up():
    first = bl.uniform(UNIT) * bl.mechanisms.laplace(b=1.0)
    second = bl.normal() * bl.mechanisms.gaussian(sigma=1.0)
    joint = first * second
    assert joint.outcome == bl.Reals() * bl.Reals()
    y = (0.25, 1.5)
    with mpmath.workdps(40):
        e = mpmath.exp
        one = mpmath.log(1 / (2 - e(mpmath.mpf(-1) / 4) - e(mpmath.mpf(-3) / 4)))
        two = mpmath.log(2) / 2 + mpmath.mpf(9) / 16
        bound = bl.pml(joint)(y)
        assert bound.lower <= one + two <= bound.upper
        assert bound.width < 1e-12
        twice = bl.pml(first * first).sup()
        assert twice.lower <= -2 * mpmath.log(1 - e(-1)) <= twice.upper
    assert bl.ldp(first * first).value == 2
    assert bl.pml(joint).sup().lower == math.inf
    three = first * (first * second)
    assert len(three.parts) == 3
    assert bl.pml(three)((0.25, 0.25, 1.5)).value == pytest.approx(
        bl.pml(joint)(y).value + float(one)
    )


@pytest.mark.truths
def test_a_pair_with_an_outcome_of_density_zero_has_no_leakage():
    short = bl.Mechanism(
        lambda y, x: np.where(abs(y - x) < 0.25, 2.0, 0.0), secret=TWO, outcome=bl.Reals()
    )
    pair = bl.uniform(TWO) * short * (bl.uniform(UNIT) * bl.mechanisms.laplace(b=1.0))
    assert bl.pml(pair)((0.5, 0.5)).upper == 0.0
    assert bl.pml(pair)((0.125, 0.5)).lower > 0.5


def test_finite_joints_of_independent_secrets_are_exact():
    matrix = [[F(3, 4), F(1, 4)], [F(1, 8), F(7, 8)]]
    one = bl.pmf([F(1, 3), F(2, 3)]) * bl.Mechanism.from_matrix(matrix)
    both = one * one
    assert both.parts == ()
    for y in (0, 1):
        for z in (0, 1):
            ratio = bl.pml(one)(y).ratio.lower * bl.pml(one)(z).ratio.lower
            assert bl.pml(both)((y, z)).ratio.lower == ratio
    with pytest.raises(TypeError, match="prior"):
        bl.Mechanism.from_matrix(matrix) * bl.pmf([F(1, 3), F(2, 3)])
