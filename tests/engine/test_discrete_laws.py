"""Laws over finite and countable outcomes: figures against sums at 40 digits."""

import math
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from scipy.special import gammaln

import borel as bl

pytestmark = pytest.mark.usefixtures("no_sums")

MP = mpmath.mp.clone()

MP.dps = 40


def poisson(y, x):
    return y * np.log(x) - x - gammaln(y + 1)


def binomial(y, x):
    return np.where(y == 0, (1 - x) ** 2, np.where(y == 1, 2 * x * (1 - x), x**2))


def answers(y, x):
    return np.where(y == 1, 1 / (1 + np.exp(-x)), 1 / (1 + np.exp(x)))


def toss(y, x):
    return np.where(y == 0, 1 - x / 2, x / 2)


def in_square(y, x):
    rare = np.exp(-0.25 - x[0] - 2 * x[1])
    return np.where(y == 1, rare, 1 - rare)


@cache
def joint(name):
    if name == "counts":
        secret = bl.Finite([1.0, 2.0, 4.0])
        prior = bl.pmf([0.25, 0.5, 0.25], on=secret)
        kernel = bl.Mechanism(poisson, secret=secret, outcome=bl.Integers(0), log=True)
    elif name == "rare":
        prior = bl.uniform(bl.Interval(0.125, 0.5))
        kernel = bl.Mechanism(poisson, secret=prior.on, outcome=bl.Integers(0), log=True)
    elif name == "two tosses":
        prior = bl.uniform(bl.Interval(0, 1))
        kernel = bl.Mechanism(binomial, secret=prior.on, outcome=bl.Finite([0, 1, 2]))
    elif name == "one toss":
        prior = bl.uniform(bl.Interval(0, 1))
        kernel = bl.Mechanism(toss, secret=prior.on, outcome=bl.Finite([0, 1]))
    elif name == "in a square":
        prior = bl.uniform(bl.Interval(0, 1) ** 2)
        kernel = bl.Mechanism(in_square, secret=prior.on, outcome=bl.Finite([0, 1]))
    else:
        prior = bl.uniform(bl.Interval(-1, 1))
        kernel = bl.Mechanism(answers, secret=prior.on, outcome=bl.Finite([0, 1]))
    return prior * kernel


@cache
def rows(name, kind):
    """Return f_Y and the leakage at each outcome, by other means."""
    if name == "counts":
        out = []
        for y in range(120):
            f = [MP.exp(-x) * MP.mpf(x) ** y / MP.factorial(y) for x in (1, 2, 4)]
            mass = (f[0] + 2 * f[1] + f[2]) / 4
            out.append((mass, MP.log(max(f) / mass) if kind == "pml" else MP.log(mass / min(f))))
        return out
    if name == "rare":
        a, b, out = MP.mpf(1) / 8, MP.mpf(1) / 2, []
        for y in range(60):
            f = lambda x, y=y: MP.exp(-x) * x**y / MP.factorial(y)  # noqa: E731
            mass = MP.gammainc(y + 1, a, b) / MP.factorial(y) / (b - a)
            # it rises up to x = y, and falls from there
            most, least = f(a if y == 0 else b), f(b if y == 0 else a)
            out.append((mass, MP.log(most / mass) if kind == "pml" else MP.log(mass / least)))
        return out
    if name == "two tosses":  # f_Y = 1/3; the suprema are 1, 1/2, 1
        third = MP.mpf(1) / 3
        if kind == "pmc":  # the infima are 0
            return [(third, MP.inf)] * 3
        return [(third, MP.log(3)), (third, MP.log(MP.mpf(3) / 2)), (third, MP.log(3))]
    if name == "one toss":
        assert kind == "pmc"
        return [(MP.mpf(3) / 4, MP.log(MP.mpf(3) / 2)), (MP.mpf(1) / 4, MP.inf)]
    if name == "in a square":
        shift = MP.exp(-MP.mpf(1) / 4)
        mass, most, least = (
            shift * (1 - MP.exp(-1)) * (1 - MP.exp(-2)) / 2,
            shift,
            shift * MP.exp(-3),
        )
        if kind == "pml":
            ends = [(1 - mass, MP.log((1 - least) / (1 - mass))), (mass, MP.log(most / mass))]
        else:
            ends = [(1 - mass, MP.log((1 - mass) / (1 - most))), (mass, MP.log(mass / least))]
        return ends
    half, most, least = MP.mpf(1) / 2, 1 / (1 + MP.exp(-1)), 1 / (1 + MP.exp(1))
    one = MP.log(most / half) if kind == "pml" else MP.log(half / least)
    return [(half, one), (half, one)]


def truth(name, kind, figure):
    pairs = rows(name, kind)
    if figure == "mean":
        return MP.fsum(p * v for p, v in pairs)
    if figure in ("exp_mean", "maximal_leakage"):
        total = MP.fsum(p * MP.exp(v) for p, v in pairs)
        return MP.log(total) if figure == "maximal_leakage" else total
    if figure == "tail":
        return MP.fsum(p for p, v in pairs if v > MP.mpf(0.25))
    if figure == "cdf":
        return 1 - truth(name, kind, "tail")
    total = MP.mpf(0)
    for p, v in sorted(pairs, key=lambda pair: pair[1]):
        total += p
        if total >= MP.mpf(0.625):
            return v
    raise AssertionError


ASK = {
    "tail": lambda ell: ell.tail(0.25),
    "cdf": lambda ell: ell.cdf(0.25),
    "quantile": lambda ell: ell.quantile(Fraction(5, 8)),
    "mean": lambda ell: ell.mean(),
    "exp_mean": lambda ell: ell.exp_mean(),
}

CASES = [
    ("counts", "pml"),
    ("two tosses", "pml"),
    *((name, kind) for name in ("answers", "in a square") for kind in ("pml", "pmc")),
]

ALL = [
    *((name, kind, figure) for name, kind in CASES for figure in ASK),
    *(("counts", "pmc", figure) for figure in ASK),
    *(
        (name, "pml", "maximal_leakage")
        for name in ("counts", "two tosses", "answers", "in a square")
    ),
]

ENDLESS = [
    (name, "pmc", figure)
    for name in ("two tosses", "one toss")
    for figure in ("tail", "cdf", "quantile")
]

LONG = [("rare", "pml", "mean"), ("rare", "pmc", "mean")]


@cache
def bound(name, kind, figure):
    if figure == "maximal_leakage":
        return bl.maximal_leakage(joint(name))
    return ASK[figure](getattr(bl, kind)(joint(name)))


@pytest.mark.few(12)
@pytest.mark.parametrize("which", ALL + ENDLESS + LONG, ids=" ".join)
def test_it_encloses_the_truth(which):
    found = bound(*which)
    assert found.lower <= truth(*which) <= found.upper
    assert found.width <= 1e-8 * max(1.0, found.lower)


def test_maximal_cost_leakage_is_infinite_if_every_outcome_leaks_infinitely():
    found = bl.maximal_cost_leakage(joint("two tosses"))
    assert found.lower == math.inf
    one = bl.maximal_cost_leakage(joint("one toss"))  # the other outcome has 1/2 at least
    assert one.lower <= math.log(2) <= one.upper <= one.lower + 1e-8


def test_infinite_quantiles():
    """Of two tosses each outcome, of mass 1/3, leaks infinitely; of one the outcome of mass 1/4."""
    for name, s in (("two tosses", Fraction(1, 6)), ("one toss", Fraction(9, 10))):
        found = bl.pmc(joint(name)).quantile(s)
        assert found.proved and found.lower == math.inf


def test_steps_of_a_law():
    """PML of two tosses is log 3/2 with probability 1/3, else log 3."""
    ell = bl.pml(joint("two tosses"))
    for s, side, value in (
        (Fraction(21, 64), "left", MP.mpf(3) / 2),
        (Fraction(9, 10), "left", 3),
    ):
        found = ell.quantile(s, side=side)
        assert found.lower <= MP.log(value) <= found.upper <= found.lower + 1e-8
    assert ell.tail(2.0).upper == 0
    sup = ell.sup()
    assert sup.lower <= MP.log(3) <= sup.upper <= sup.lower + 1e-8


@pytest.mark.parametrize(("closed", "value"), [(False, 0.0), (True, 1.0)])
def test_a_leakage_of_0_is_at_least_0(closed, value):
    """One outcome says nothing: PML is 0, exactly."""
    prior = bl.uniform(bl.Interval(0, 1))
    mute = prior * bl.Mechanism(lambda y, x: 1 + 0 * x * y, secret=prior.on, outcome=bl.Finite([0]))
    found = bl.pml(mute).tail(0.0, closed=closed)
    assert found.lower <= value <= found.upper


def test_the_supremum_of_a_response():
    """f(0|x) = 1 / (1 + e^(3x)) is largest at 0, and f(1|x) at 1."""
    prior = bl.uniform(bl.Interval(0, 1))
    response = prior * bl.Mechanism(
        lambda y, x: np.exp(3.0 * x * y) / (1 + np.exp(3.0 * x)),
        secret=prior.on,
        outcome=bl.Finite([0.0, 1.0]),
    )
    mass = 1 - (MP.log(1 + MP.exp(3)) - MP.log(2)) / 3
    found = bl.pml(response).sup()
    assert found.lower <= MP.log(1 / (2 * mass)) <= found.upper and found.lower > 0.8


def test_suprema_of_pml_and_pmc_do_not_add_up_to_the_ldp_ratio():
    """They are at different outcomes: log 9 is less than their sum, 3.65."""
    prior = bl.uniform(bl.Interval(0, 1))
    joint = prior * bl.Mechanism(
        lambda y, x: np.where(y < 0.5, 0.1 + 0.8 * x**8, 0.9 - 0.8 * x**8),
        secret=prior.on,
        outcome=bl.Finite([0.0, 1.0]),
    )
    suprema, ldp = [bl.pml(joint).sup(), bl.pmc(joint).sup()], bl.ldp(joint)
    assert sum(one.lower for one in suprema) > 3.6 > ldp.upper + 1
    assert ldp.lower - 1e-15 <= math.log(9) <= ldp.upper + 1e-15
