"""Kernels that jump or have kinks along lines x = a + b y: sharp figures, and the lines themselves.

Truths are closed forms and integrals in mpmath, cut where densities turn.
"""

from fractions import Fraction as F
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest

import borel as bl
from borel.engine import engine_for
from borel.engine.kernels.outcome_strips import OutcomeStrips, strips_of
from borel.numerics.graphs.branch_lines import BranchLine, Coordinates, strip, strips
from borel.numerics.graphs.float64 import evaluate
from borel.numerics.graphs.trace import trace

UNIT, LINE = bl.Interval(0, 1), bl.Reals()
UNIFORM, BETA = bl.uniform(UNIT), bl.beta(alpha=2, beta=5)


def holds(bound, truth, width=1e-8):
    """Assert that an enclosure is proved, holds the truth, and is narrow, relatively above 1."""
    assert bound.status == "certified"
    with mp.workdps(30):
        assert mp.mpf(bound.lower) <= truth <= mp.mpf(bound.upper)
    assert bound.width <= width * max(1.0, abs(bound.lower))


def mech(density, outcome=LINE):
    return bl.Mechanism(density, secret=UNIT, outcome=outcome)


# -- lines, exactly -------------------------------------------------------------------------------


def nested(y, x):
    return np.where(x > 0.5, abs(y - x / 3 - 1), np.maximum(x - y, 0.25 - x))


def test_strips_are_exact():
    """For x > 1/2 the kink is at x = 3 y - 3; below, x = y, x = (y + 1/4) / 2 and x = 1/4."""
    graph = trace(nested, ("y", "x"), ())
    found = strip([graph], 0.0, 1.0, (), F(5, 4))
    assert [*found.lines] == [BranchLine(F(1, 2), F(0)), BranchLine(F(-3), F(3))]
    assert (found.low, found.high) == (F(7, 6), F(4, 3))
    every = strips([graph], 0.0, 1.0, ())
    assert (every[0].low, every[-1].high) == (-np.inf, np.inf)
    assert all(a.high == b.low for a, b in pairwise(every))


def test_pieces_are_the_function():
    """Between two lines the graph without choices has the values of the function."""
    graph, rng = trace(nested, ("y", "x"), ()), np.random.default_rng(3)
    seen = 0
    for y in rng.uniform(-1, 2, 60):
        found = strip([graph], 0.0, 1.0, (), F(float(y)))
        assert found.low < y < found.high
        for piece in found.pieces:
            assert not {"where", "absolute", "maximum", "greater"} & piece.graphs[0].operations
            left, right = (float(e.level + e.slope * F(float(y))) for e in piece[:2])
            assert left < right
            x = rng.uniform(left, right)
            got = evaluate(piece.graphs[0], {"y": np.array(y), "x": np.array(x)})
            assert abs(float(got) - nested(y, x)) < 1e-14
            seen += 1
            b = Coordinates()
            last = b.substituted(piece.graphs[0], piece.left, b.add("input", "s"))
            named = {"y": np.array(y), "s": np.array(x - left)}
            assert abs(float(evaluate(b.graph(last), named)) - nested(y, x)) < 1e-13
    assert seen > 90


@pytest.mark.parametrize("value", [F(1, 3), F(1, 2**80) + 1, F(-7, 10**20), F(2) ** 200 / 3])
def test_numbers_are_exact(value):
    """A graph of floats is that number in rational arithmetic."""
    b = Coordinates()
    root = b.exactly(value)
    known = []
    for op, args in b.nodes:
        u = [F(args[0])] if op == "const" else [known[a] for a in args]
        known.append({"const": lambda a: a, "add": lambda a, c: a + c,
                      "divide": lambda a, c: a / c}[op](*u))  # fmt: skip
    assert known[root] == value


def test_lines_that_meet_at_an_outcome_are_no_strip():
    graph = trace(lambda y, x: abs(y - x) + abs(2 * y - x - 0.5), ("y", "x"), ())
    assert strip([graph], 0.0, 1.0, (), F(1, 2)) is None


def test_too_many_lines_are_seen_at_once():
    """40 thresholds, the last one first: a strip without pieces, and nothing deep."""

    def steps(y, x):
        return np.exp(-abs(y - sum(np.where(x > k / 41, 1.0, 0.0) for k in range(40, 0, -1))))

    graph = trace(steps, ("y", "x"), ())
    found = strip([graph], 0.0, 1.0, (), F(1, 2))
    assert found.pieces == () and found.low < F(1, 2) < found.high
    assert strip([graph], 0.0, 1.0, (), found.low / 2 + F(1, 4)) == found
    assert strips([graph], 0.0, 1.0, ()) == []


def test_boxes_are_in_the_same_strips_whatever_was_asked_before():
    """More boxes than are tried in vain, then one in a strip: it is not found because it was."""
    kernel = UNIFORM * mech(lambda y, x: np.exp(-abs(y - x - 0.25)) / 2)
    low = np.array([0.1] * 20 + [0.4])  # those at 0.1 hold the end of a strip, 1/4
    high = np.array([0.3] * 20 + [0.5])
    fresh, used = (OutcomeStrips(engine_for(kernel).surface) for _ in range(2))
    used.groups(low[-1:], high[-1:])
    seen = [[g.lanes.tolist() for g in one.groups(low, high)] for one in (fresh, used)]
    assert seen[0] == seen[1]


def test_lines_beyond_floats_are_left_alone():
    """x > 1e400 + y: no float holds that line, and none is asked for."""

    def far(y, x):
        return np.where(x * 1e-200 > 1e200 + y * 1e-200, np.exp(-abs(y)), np.exp(-abs(y))) / 2

    joint = bl.normal(mu=0, sigma=1) * bl.Mechanism(far, secret=LINE, outcome=LINE)
    found = strips_of(engine_for(joint).surface)
    assert found is not None
    assert found.groups(np.array([0.25]), np.array([0.5])) == []


# -- uniform noise on a secret in an interval -----------------------------------------------------

WIDTH = F(1, 4)


def box(y, x):
    return np.where(abs(y - x) <= 0.25, 2.0, 0.0)


@pytest.mark.slow
def test_uniform_noise():
    """f_Y is a trapezoid; E PML = I(X; Y) = log 1/2a + a, and e^maximal leakage = (1 + 2a) / 2a."""
    joint = UNIFORM * mech(box)
    mean = mp.log(2) + mp.mpf(1) / 4
    holds(bl.pml(joint).mean(), mean)
    holds(bl.maximal_leakage(joint), mp.log(3))


@pytest.mark.slow
def test_the_law_of_uniform_noise():
    """PML(y) = log 1 / (y + 1/4) up to y = 1/4, then log 2: P{PML > t} = 2 e^-2t for t > log 2."""
    ell = bl.pml(UNIFORM * mech(box))
    holds(ell.tail(1.0), 2 * mp.exp(-2))
    holds(ell.quantile(0.9), -mp.log((1 - mp.mpf(0.9)) / 2) / 2)


def beta_cdf(x):
    x = min(max(x, mp.mpf(0)), mp.mpf(1))
    return mp.betainc(2, 5, 0, x, regularized=True)


@pytest.mark.slow
def test_uniform_noise_on_a_beta_secret():
    def law(y):
        return 2 * (beta_cdf(y + mp.mpf(1) / 4) - beta_cdf(y - mp.mpf(1) / 4))

    with mp.workdps(20):
        cuts = [mp.mpf(k) / 4 for k in range(-1, 6)]
        truth = mp.quad(lambda y: law(y) * mp.log(2 / law(y)) if law(y) > 0 else 0, cuts)
    holds(bl.pml(BETA * mech(box)).mean(), truth)


# -- kinks beside x = y ---------------------------------------------------------------------------


def laplace_mean():
    """E PML of Laplace noise of scale 1 on a uniform secret: sup f = 1/2 on (0, 1)."""
    with mp.workdps(25):

        def mass(y):
            return 1 - (mp.exp(-y) + mp.exp(y - 1)) / 2

        inside = [mp.mpf(k) / 4 for k in range(5)]
        within = mp.quad(mass, inside)
        truth = -mp.quad(lambda y: mass(y) * mp.log(2 * mass(y)), inside)
        return truth - (1 - within) * mp.log(1 - mp.exp(-1))


@pytest.mark.cases("slow", "1e-06", "-3.3", "0.25")
@pytest.mark.parametrize("shift", [0.25, 1e-6, -3.3])
def test_laplace_noise_that_is_shifted(shift):
    """The leakage is that of the noise without the shift."""
    joint = UNIFORM * mech(lambda y, x: np.exp(-abs(y - x - shift)) / 2)
    holds(bl.pml(joint).mean(), laplace_mean())


@pytest.mark.slow
def test_a_kink_on_a_steep_line():
    """Noise about x / 3, of scale 1/3: three times as fine, the leakage is the same."""
    joint = UNIFORM * mech(lambda y, x: 3 * np.exp(-3 * abs(y - x / 3 - 0.5)) / 2)
    holds(bl.pml(joint).mean(), laplace_mean())


@pytest.mark.slow
def test_a_step_within_a_kink():
    """About x / 3 for x < 1/2, and 1 + x / 3 above: two laws of noise, one beside the other."""
    joint = UNIFORM * mech(lambda y, x: np.exp(-abs(y - (x > 0.5) - x / 3)) / 2)
    with mp.workdps(20):

        def centre(x):
            return x / 3 + (1 if x > 0.5 else 0)

        def part(y, a, b):  # the integral of e^-|y - c| / 2 dc, c from a to b
            if y <= a:
                return (mp.exp(y - a) - mp.exp(y - b)) / 2
            if y >= b:
                return (mp.exp(b - y) - mp.exp(a - y)) / 2
            return 1 - (mp.exp(a - y) + mp.exp(y - b)) / 2

        pieces = (mp.mpf(0), mp.mpf(1) / 6), (mp.mpf(7) / 6, mp.mpf(4) / 3)

        def law(y):
            return 3 * sum(part(y, *p) for p in pieces)

        def top(y):
            away = min(max(a - y, y - b, 0) for a, b in pieces)
            return mp.exp(-away) / 2

        cuts = [-40, -8, 0, mp.mpf(1) / 6, mp.mpf(2) / 3, mp.mpf(7) / 6, mp.mpf(4) / 3, 8, 40]
        truth = mp.quad(lambda y: law(y) * mp.log(top(y) / law(y)), cuts)
        leak = mp.log(1 + (mp.mpf(1) / 6 * 2) / 2 + 1 - mp.exp(-mp.mpf(1) / 2))
    # far out nothing bounds the leakage from above: noise about a step function
    with bl.options(budget=10):
        for found, value in ((bl.pml(joint).mean(), truth), (bl.maximal_leakage(joint), leak)):
            assert value - 1e-6 <= found.lower <= value <= found.upper


# -- jumps beside x = y ---------------------------------------------------------------------------


@pytest.mark.slow
def test_one_sided_noise_that_is_shifted():
    """Of y = x + 1/4 + an exponential number: e^maximal leakage is 2, E PML an integral."""
    delay = mech(lambda y, x: np.where(y >= x + 0.25, np.exp(-(y - x - 0.25)), 0))
    with mp.workdps(20):
        truth = -mp.quad(lambda u: (1 - mp.exp(-u)) * mp.log(1 - mp.exp(-u)), [0, 0.5, 1])
        truth += (1 - mp.exp(-1)) * mp.log(1 / (1 - mp.exp(-1)))
    holds(bl.pml(UNIFORM * delay).mean(), truth, 2e-8)
    holds(bl.maximal_leakage(UNIFORM * delay), mp.log(2))


@pytest.mark.slow
def test_a_threshold_that_moves():
    """y falls below c = 1/4 + x/2 as often as above: f = 1 / 2c there, 1 / 2(1 - c) above."""

    def density(y, x):
        c = 0.25 + x / 2
        return np.where(y < c, 0.5 / c, 0.5 / (1 - c))

    joint = UNIFORM * mech(density, UNIT)
    with mp.workdps(25):

        def law(y):  # the integral over c, 2 dc from 1/4 to 3/4
            y = min(max(y, mp.mpf(1) / 4), mp.mpf(3) / 4)
            return mp.log(mp.mpf(3) / 4 / y) + mp.log(mp.mpf(3) / 4 / (1 - y))

        def top(y):
            low, high = mp.mpf(1) / 4, mp.mpf(3) / 4
            if y <= low or y >= high:
                return mp.mpf(2)
            return max(1 / (2 * y), 1 / (2 * (1 - y)))

        cuts = [0, mp.mpf(1) / 4, mp.mpf(1) / 2, mp.mpf(3) / 4, 1]
        mean = mp.quad(lambda y: law(y) * mp.log(top(y) / law(y)), cuts)
        leak = mp.log(mp.quad(top, cuts))
    holds(bl.pml(joint).mean(), mean)
    holds(bl.maximal_leakage(joint), leak)


# -- the engine -----------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [UNIFORM, BETA, bl.beta(alpha=0.5, beta=0.5)], ids=str)
def test_f_y_between_lines(prior):
    """On boxes of outcomes f_Y is that of the outcomes in them, up to ends that are singular."""
    engine = engine_for(prior * mech(lambda y, x: np.exp(-abs(y - x - 0.25)) / 2))
    low, high = np.array([0.3, 0.75, 1.2]), np.array([0.35, 0.8, 1.24])
    inner, outer, rest = engine.bands.marginal.over(low, high, np.zeros(3), 1e-11, np.inf)
    assert (rest[1] - rest[0])[1] < 1e-9  # the others are near ends, which may be singular
    centre = low / 2 + high / 2
    for t in (-1.0, -0.3, 0.0, 0.9):
        y = centre + t * (high - low) / 2
        offset = y - centre
        ends = [
            sum(inner[k][i] * offset**i for i in range(4)) + rest[k]
            + (np.minimum, np.maximum)[k](outer[0][4] * offset**4, outer[1][4] * offset**4)
            for k in (0, 1)
        ]  # fmt: skip
        found = np.exp(engine.log_marginal_box(y))
        assert (ends[0] <= found[1] + 1e-12).all() and (found[0] - 1e-12 <= ends[1]).all()
        assert (ends[1] - ends[0])[1] < 1e-5


def test_marks_hold_where_lines_meet_the_ends():
    """Of noise up to 0.1, no float of a tenth: both floats beside each end of a strip."""
    surface = engine_for(UNIFORM * mech(lambda y, x: 5.0 * (abs(y - x) <= 0.1))).surface
    marks = strips_of(surface).marks(-np.inf, np.inf)
    exact = [F(a) + s * F(0.1) for a in (0, 1) for s in (-1, 1)]
    for value in exact:
        assert any(
            F(a) <= value <= F(b) for a, b in zip(marks, marks[1:] + marks[-1:], strict=True)
        )
    assert len(marks) <= 8
