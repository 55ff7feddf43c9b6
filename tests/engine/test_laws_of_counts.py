"""Secrets that are integers, with finite or countable outcomes: figures, and truths."""

import math
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest

import borel as bl

MP = mpmath.mp.clone()

MP.dps = 40

RATE = 3


def said(y, x):
    """Whether the count is small, said with noise: f(1|n) falls from 3/4 to 1/4."""
    return np.where(y == 1, 0.25 + 0.5 * np.exp(-x), 0.75 - 0.5 * np.exp(-x))


def kept(y, x):
    """The count itself, or one that has nothing to do with it."""
    return 0.25 * 0.5**y + 0.5 * np.where(y == x, 1.0, 0.0)


def noise(y, x):
    return 0.5 ** abs(y - x) / 3


@cache
def joint(name):
    counts = bl.Integers(0)
    kernel, outcome = {
        "said": (said, bl.Finite([0, 1])),
        "kept": (kept, counts),
        "noise": (noise, bl.Integers()),
    }[name]
    return bl.poisson(mu=RATE) * bl.Mechanism(kernel, secret=counts, outcome=outcome)


def prior(n):
    return MP.exp(-RATE) * MP.mpf(RATE) ** n / MP.factorial(n)


@cache
def rows(name):
    """Return f_Y, the supremum and the infimum over the secrets at each outcome."""
    quarter, half = MP.mpf(1) / 4, MP.mpf(1) / 2
    if name == "said":  # one end is that of n = 0, the other one the limit
        yes = quarter + half * MP.exp(RATE * (MP.exp(-1) - 1))
        return {0: (1 - yes, 3 * quarter, quarter), 1: (yes, 3 * quarter, quarter)}
    if name == "kept":
        rest = {y: quarter / 2**y for y in range(120)}
        return {y: (v + half * prior(y), v + half, v) for y, v in rest.items()}
    out = {}
    for y in range(-120, 200):
        mass = MP.fsum(prior(n) * half ** abs(y - n) for n in range(120)) / 3
        out[y] = mass, half ** max(-y, 0) / 3, MP.mpf(0)
    return out


def leakage(name, kind, y):
    mass, top, bottom = rows(name)[y]
    if kind == "pml":
        return MP.log(top / mass)
    return MP.log(mass / bottom) if bottom else MP.inf


def over_outcomes(name, kind):
    pairs = [(row[0], leakage(name, kind, y)) for y, row in rows(name).items()]
    return sorted(pairs, key=lambda pair: pair[1])


def truth(name, kind, figure):
    if figure == "cost":
        return -MP.log(MP.fsum(row[2] for row in rows(name).values()))
    if figure == "ldp":
        return max(MP.log(row[1] / row[2]) for row in rows(name).values())
    if figure == "maximal leakage":
        return MP.log(MP.fsum(row[1] for row in rows(name).values()))
    pairs = over_outcomes(name, kind)
    if figure == "at":
        return leakage(name, kind, 1)
    if figure == "sup":
        return pairs[-1][1]
    if figure == "tail":
        return MP.fsum(p for p, v in pairs if v > MP.mpf(0.5))
    if figure == "quantile":
        total = MP.mpf(0)
        for p, v in pairs:
            total += p
            if total >= MP.mpf(0.625):
                return v
    grown = [MP.exp(v) if figure == "exp_mean" else v for _, v in pairs]
    return MP.fsum(p * v for (p, _), v in zip(pairs, grown, strict=True))


ASK = {
    "at": lambda ell: ell(1),
    "sup": lambda ell: ell.sup(),
    "tail": lambda ell: ell.tail(0.5),
    "quantile": lambda ell: ell.quantile(Fraction(5, 8)),
    "mean": lambda ell: ell.mean(),
    "exp_mean": lambda ell: ell.exp_mean(),
}

MEASURES = {
    "cost": ("maximal_cost_leakage", bl.maximal_cost_leakage),
    "ldp": ("ldp", bl.ldp),
    "maximal leakage": ("maximal_leakage", bl.maximal_leakage),
}

FINITE = [
    *(("said", kind, figure) for kind in ("pml", "pmc") for figure in ASK),
    *(("said", "", figure) for figure in MEASURES),
    *((name, kind, figure) for name, kind in (("kept", "pml"), ("kept", "pmc"), ("noise", "pml"))
      for figure in ("at", "tail", "quantile")),
    ("kept", "", "cost"),
]  # fmt: skip

ENDLESS = [
    ("kept", "pml", "sup"),
    ("noise", "pml", "sup"),
    ("noise", "", "ldp"),
    *(("noise", "pmc", figure) for figure in ("at", "sup", "quantile", "mean", "exp_mean")),
]


@cache
def bound(name, kind, figure):
    if figure in MEASURES:
        return MEASURES[figure][1](joint(name))
    return ASK[figure](getattr(bl, kind)(joint(name)))


@pytest.mark.few(7)
@pytest.mark.parametrize("which", FINITE, ids=" ".join)
def test_it_encloses_the_truth(which):
    found = bound(*which)
    assert found.lower <= truth(*which) <= found.upper
    assert found.width <= 1e-8 * max(1.0, found.lower)


@pytest.mark.few(7)
@pytest.mark.parametrize("which", ENDLESS, ids=" ".join)
def test_an_infinity_is_proved(which):
    assert bound(*which).lower == math.inf


def test_ldp_is_the_largest_sum_and_not_the_sum_of_the_largest():
    """PML is largest at the outcome that is rare, PMC at the other one."""
    found = bound("said", "", "ldp")
    largest = bound("said", "pml", "sup").lower + bound("said", "pmc", "sup").lower
    assert found.upper < math.log(3) + 1e-8 < largest


def test_an_integer_without_mass_is_no_secret():
    prior = bl.Measure(
        lambda n: np.where(n == 0, 9 / 16, np.where(n == 3, 0.0, 2.0 ** (-n - 1))),
        on=bl.Integers(0, None),
        tail=lambda n: 2.0 ** (-n - 1),
    )
    tells = bl.Mechanism(
        lambda y, n: np.where(n == 3, np.where(y < 0.5, 2.0, 0.0), 1.0),
        secret=prior.on,
        outcome=bl.Interval(0, 1),
    )
    found = bl.pmc(prior * tells).sup()
    assert found.lower == 0 and found.upper < 1e-9


def test_a_mean_over_a_finite_alphabet():
    """Y is 0 with probability 1 - e^-X, else 1 or 2, by a fair coin."""
    mech = bl.Mechanism(
        lambda y, x: np.where(y == 0, 1 - np.exp(-x), np.exp(-x) / 2),
        secret=bl.Integers(0),
        outcome=bl.Finite([0, 1, 2]),
    )
    found = bl.pml(bl.poisson(mu=RATE) * mech).mean()
    m = MP.exp(RATE * (MP.exp(-1) - 1))
    assert found.lower <= -(1 - m) * MP.log(1 - m) - m * MP.log(m) <= found.upper
    assert found.width <= 1e-8


@pytest.mark.truths
def test_one_count_among_real_numbers():
    """At x = 50 alone f = 2 y: no formula of real numbers may overlook it."""
    joint = bl.poisson(mu=2.0) * bl.Mechanism(
        lambda y, x: np.where(x == 50, 2 * y, 1 + 0 * y),
        secret=bl.Integers(0),
        outcome=bl.Interval(0, 1),
    )
    for found in (bl.pml(joint)(0.875), bl.pml(joint).sup()):
        assert found.lower <= math.log(2) and math.log(1.75) <= found.upper  # P{X = 50} is 1e-50
