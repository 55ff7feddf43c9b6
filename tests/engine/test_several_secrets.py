"""Laws of several secrets, of which a kernel reads one number.

The number is no weighted sum of the secrets.
"""

import math

import numpy as np
import pytest
from engine.certified_cases import kernel
from flint import acb, arb, ctx

import borel as bl

UNIT, REALS = bl.Interval(0, 1), bl.Reals()

SQUARE = UNIT * UNIT


def tilted(y, x):
    """1 + (w - 1/2) t with w = x0 x1 and t = 2 y - 1, so that f_Y = 1 - t / 4."""
    return 1 + (x[0] * x[1] - 0.5) * (2 * y - 1)


def bell(y, x):
    return np.exp(-0.5 * (y - x[0] * x[1]) ** 2) / np.sqrt(2 * np.pi)


def heavy(y, x):
    return 1 / (np.pi * (1 + (y - x[0] * x[1]) ** 2))


TILTED = bl.uniform(SQUARE) * kernel(tilted, secret=SQUARE, outcome=UNIT)

BELL = bl.uniform(SQUARE) * kernel(bell, secret=SQUARE)

HEAVY = bl.uniform(SQUARE) * kernel(heavy, secret=SQUARE)


def certified(bound):
    """Return a figure, which is proved."""
    assert bound.status in ("certified", "conditional")
    return bound


def encloses(bound, truth, width=2e-8):
    """Whether the truth is within the ends, with no tolerance, and these are close."""
    with ctx.workprec(300):
        assert bound.lower <= truth <= bound.upper
    assert bound.width <= width
    return True


def top(t):
    """Return sup_x f(y|x) of the tilted kernel."""
    return 1 + abs(t) / 2


def at(t):
    """Return f_Y of the tilted kernel."""
    return 1 - t / 4


SUPREMA = {"pml": (bl.pml, 2), "pmc": (bl.pmc, arb(5) / 2), "ldp": (None, 3)}


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", SUPREMA)
def test_suprema(kind):
    leakage, ratio = SUPREMA[kind]
    bound = bl.ldp(TILTED) if leakage is None else leakage(TILTED).sup()
    with ctx.workprec(300):
        assert encloses(certified(bound), arb(ratio).log())


@pytest.mark.few(1)
@pytest.mark.parametrize("level", [0.1, 0.25, 0.5])
def test_tails(level):
    with ctx.workprec(300):
        e = arb(level).exp()
        # PML exceeds the level for t beyond (e - 1) / (1/2 + e/4), and below (1 - e) / (1/2 - e/4)
        right, left = (e - 1) / (arb(1) / 2 + e / 4), (1 - e) / (arb(1) / 2 - e / 4)

        def mass(a, b):  # of t in (a, b), by dy = dt / 2
            return ((b - a) - (b * b - a * a) / 8) / 2

        truth = mass(right, arb(1)) + (mass(arb(-1), left) if left > -1 else 0)
    bound = bl.pml(TILTED).tail(level)
    assert encloses(certified(bound), truth)
    assert encloses(certified(bl.pml(TILTED).cdf(level)), 1 - truth)


@pytest.mark.parametrize("level", [0.25, 0.75])
def test_quantiles(level):
    """The probability that PMC exceeds its quantile, in closed form, is 1 - s."""
    bound = certified(bl.pmc(TILTED).quantile(level))
    assert bound.width <= 2e-8

    def below(leakage):  # P{PMC <= leakage}, by the ratio (1 - t/4) / (1 - |t|/2) = e
        e = arb(leakage).exp()
        right = min((e - 1) / (e / 2 - arb(1) / 4), arb(1), key=float)
        left = max((1 - e) / (e / 2 + arb(1) / 4), arb(-1), key=float)
        return ((right - left) - (right**2 - left**2) / 8) / 2

    with ctx.workprec(300):
        assert below(bound.lower) <= level <= below(bound.upper)


@pytest.mark.slow
def test_means():
    with ctx.workprec(300):

        def over(function):  # the integral over y, by t on both sides of the kink at 0
            left = acb.integral(lambda t, _: function(t, -1), -1, 0).real
            return (left + acb.integral(lambda t, _: function(t, 1), 0, 1).real) / 2

        def pml(t, s):
            return at(t) * ((1 + t * s / 2) / at(t)).log()

        def pmc(t, s):
            return at(t) * (at(t) / (1 - t * s / 2)).log()

        def exp_pmc(t, s):
            return at(t) ** 2 / (1 - t * s / 2)

        truths = [over(pml), over(pmc), arb(5) / 4, over(exp_pmc)]
    figures = [
        *(leakage(TILTED).mean() for leakage in (bl.pml, bl.pmc)),
        *(leakage(TILTED).exp_mean() for leakage in (bl.pml, bl.pmc)),
    ]
    for bound, truth in zip(figures, truths, strict=True):
        assert encloses(certified(bound), truth)
    with ctx.workprec(300):
        assert encloses(certified(bl.maximal_leakage(TILTED)), (arb(5) / 4).log())
        assert encloses(certified(bl.maximal_cost_leakage(TILTED)), -(arb(3) / 4).log())


@pytest.mark.truths
def test_noise_on_a_product():
    """E e^PML of noise is the integral of sup f: 1 and the height times the length of g."""
    with ctx.workprec(300):
        height = 1 / (2 * arb.pi()).sqrt()
        assert encloses(certified(bl.pml(BELL).exp_mean()), 1 + height)
        assert encloses(certified(bl.pml(HEAVY).exp_mean()), 1 + 1 / arb.pi(), 2e-8 * 2)


def test_infinite_suprema_are_proved():
    for bound in (bl.pml(BELL).sup(), bl.pmc(BELL).sup(), bl.ldp(BELL)):
        assert certified(bound).lower == math.inf


def test_heavy_noise_has_finite_suprema():
    """Far out the leakage is at most the ratio of the extremes of f, which tends to 1."""
    places = np.linspace(-4, 5, 20_001)
    # f_Y by the law of w = x0 x1, of density -log w
    nodes, weights = np.polynomial.legendre.leggauss(400)
    w, p = ((nodes + 1) / 2) ** 4, 2 * ((nodes + 1) / 2) ** 3  # dw = 4 v^3 dv
    f = 1 / (np.pi * (1 + (places[:, None] - w) ** 2))
    f_y = (f * (-np.log(w) * p * weights)).sum(1)
    nearest = np.clip(places, 0, 1)
    top = 1 / (np.pi * (1 + (places - nearest) ** 2))
    bound = certified(bl.pml(HEAVY).sup())
    assert abs(np.log(top / f_y).max() - bound.upper) < 1e-6 and bound.width <= 1e-8


def test_three_secrets_and_a_prior_that_is_not_flat():
    cube = UNIT**3
    prior = bl.beta(alpha=2, beta=3) * bl.beta(alpha=2, beta=3) * bl.beta(alpha=2, beta=3)

    def slanted(y, x):
        return 1 + (x[0] * x[1] * x[2] - 0.5) * (2 * y - 1)

    joint = prior * kernel(slanted, secret=cube, outcome=UNIT)
    # E w = (2/5)^3; sup_x f as above: at t = 1 it is 3/2 against 1/2 + 8/125
    with ctx.workprec(300):
        truth = (arb(3) / 2 / (arb(1) / 2 + arb(8) / 125)).log()
        assert encloses(certified(bl.pml(joint).sup()), truth)


@pytest.mark.slow
def test_a_prior_that_is_singular_at_a_face():
    prior = bl.Measure(lambda x: 6 * x[0] * (1 - x[0]) / np.sqrt(4 * x[1]), on=SQUARE)
    joint = prior * kernel(tilted, secret=SQUARE, outcome=UNIT)
    with bl.options(budget=2):
        bound = bl.pml(joint).sup()
    # E w = 1/2 1/3; at t = 1 sup f is 3/2 and f_Y = 1/2 + 1/6
    with ctx.workprec(200):
        assert bound.lower <= (arb(9) / 4).log() <= bound.upper


@pytest.mark.truths
def test_numbers_that_are_not_monotone():
    """E e^PML of noise on x0 x1 in (-1, 1): 1 and the height times the length 2."""
    square = bl.Interval(-1, 1) ** 2
    joint = bl.uniform(square) * kernel(bell, secret=square)
    with ctx.workprec(300):
        truth = 1 + 2 / (2 * arb.pi()).sqrt()
        assert encloses(certified(bl.pml(joint).exp_mean()), truth)
        assert encloses(certified(bl.maximal_leakage(joint)), truth.log())
    assert certified(bl.pml(joint).sup()).lower == math.inf
    assert certified(bl.pmc(joint).quantile(0.5)).width <= 1e-8


def test_an_infinity_by_a_number_whose_ends_are_searched_for():
    """At the ends themselves there may be no mass: rays are to stay inside of them."""

    def around(y, x):
        distance = (x[0] - 0.3) ** 2 + (x[1] - 0.6) ** 2
        return np.exp(-0.5 * (y - distance) ** 2) / np.sqrt(2 * np.pi)

    joint = bl.uniform(SQUARE) * kernel(around, secret=SQUARE)
    assert certified(bl.pml(joint).sup()).lower == math.inf


def test_corners_that_are_no_floats():
    secret = UNIT**2
    mech = bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x[1] / 3)) / 2, secret=secret, outcome=bl.Reals()
    )  # fmt: skip
    bound = bl.pml(bl.uniform(secret) * mech)(0.7)
    assert bound.status == "certified" and bound.width <= 1e-8
