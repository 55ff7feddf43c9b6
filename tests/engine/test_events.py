"""psi_1, psi_2 and worst events over outcomes on a line, against closed forms.

For two secrets whose ratio of densities is monotone in the outcome the worst events are half-lines;
for densities that are steps the figures are those of a finite mechanism, which are exact.
"""

import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest

import borel as bl

REALS, UNIT, HALF = bl.Reals(), bl.Interval(0, 1), bl.Interval(0, None)

BIT = bl.Finite([0.0, 1.0])

MASSES = F(1, 4), F(3, 4)

LEVEL = F(1, 4)


def normal(y, x):
    return np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi)


def rate(y, x):
    return (2 - x) * np.exp(-(2 - x) * y)


def power(y, x):
    return (1 + x) * y**x


KERNELS = {  # P(Y > c | x), the density, and ends between which its ratio rises
    "normal": (
        normal,
        REALS,
        lambda c, x: mp.erfc((c - x) / mp.sqrt(2)) / 2,
        lambda y, x: mp.npdf(y, x, 1),
        (-12, 13),
    ),
    "rate": (
        rate,
        HALF,
        lambda c, x: mp.exp(-(2 - x) * c),
        lambda y, x: (2 - x) * mp.exp(-(2 - x) * y),
        (0, 60),
    ),
    "power": (power, UNIT, lambda c, x: 1 - c ** (1 + x), lambda y, x: (1 + x) * y**x, (0, 1)),
}


class Truth:
    """The figures of two secrets, to 30 digits."""

    def __init__(self, name):
        *_, self.beyond, self.f, (self.low, self.high) = KERNELS[name]

    def law(self, y):
        return sum(mp.mpf(p.numerator) / p.denominator * self.f(y, x) for x, p in enumerate(MASSES))

    def upper(self, c):
        """P(Y > c)."""
        return sum(
            mp.mpf(p.numerator) / p.denominator * self.beyond(c, x) for x, p in enumerate(MASSES)
        )

    def root(self, g):
        a, b = mp.mpf(self.low), mp.mpf(self.high)
        rising = g(b) > g(a)
        for _ in range(120):
            c = (a + b) / 2
            a, b = (a, c) if (g(c) > 0) == rising else (c, b)
        return (a + b) / 2

    def psi_2(self, level):
        theta, out = mp.exp(mp.mpf(level.numerator) / level.denominator), []
        c = self.root(lambda y: self.f(y, 1) - theta * self.law(y))
        out.append(self.beyond(c, 1) - theta * self.upper(c))
        c = self.root(lambda y: theta * self.law(y) - self.f(y, 0))
        out.append(1 - self.beyond(c, 0) - theta * (1 - self.upper(c)))
        return max(*out, mp.mpf(0))

    def psi_1(self, level):
        theta, total = mp.exp(mp.mpf(level.numerator) / level.denominator), mp.mpf(0)
        for x, side in ((1, 1), (0, -1)):
            c = self.root(lambda y, x=x, s=side: s * (self.f(y, x) - theta * self.law(y)))
            ends = [c, c + (self.high - c) / 8, self.high] if side > 0 else [self.low, c]
            if side < 0:
                ends = [self.low, c - (c - self.low) / 8, c]
            if self.f(ends[0] if side < 0 else ends[-1], x) <= theta * self.law(
                ends[0] if side < 0 else ends[-1]
            ):
                continue  # it is nowhere above
            total += mp.quad(
                lambda y, x=x: self.law(y) * (1 - theta * self.law(y) / self.f(y, x)), ends
            )
        return total

    def event(self, delta):
        d = mp.mpf(delta.numerator) / delta.denominator
        above, below = (self.root(lambda c, v=v: self.upper(c) - v) for v in (d, 1 - d))
        return mp.log(max(self.beyond(above, 1), 1 - self.beyond(below, 0)) / d)

    def halves(self):
        c = self.root(
            lambda c: (
                self.beyond(c, 1) * (1 - self.upper(c)) - (1 - self.beyond(c, 0)) * self.upper(c)
                if 0 < self.upper(c) < 1
                else mp.mpf(-1 if c < 1 else 1)
            )
        )
        return mp.log(self.beyond(c, 1) / self.upper(c))

    def envelope(self, delta):
        return max(self.event(delta), self.halves()) if 2 * delta > 1 else self.event(delta)


FIGURES = {
    "psi_1": (lambda j: bl.psi_1(j, LEVEL), lambda t: t.psi_1(LEVEL)),
    "psi_1 at 0": (lambda j: bl.psi_1(j, 0), lambda t: t.psi_1(F(0))),
    "psi_2": (lambda j: bl.psi_2(j, LEVEL), lambda t: t.psi_2(LEVEL)),
    "a rare event": (
        lambda j: bl.event_maximal_leakage(j, delta=F(1, 50)),
        lambda t: t.event(F(1, 50)),
    ),
    "a likely event": (
        lambda j: bl.event_maximal_leakage(j, delta=F(7, 10)),
        lambda t: t.event(F(7, 10)),
    ),
    "binary envelope below": (
        lambda j: bl.binary_envelope(j)(F(3, 10)),
        lambda t: t.envelope(F(3, 10)),
    ),
    "binary envelope": (lambda j: bl.binary_envelope(j)(F(6, 10)), lambda t: t.envelope(F(6, 10))),
}


def joint(name):
    density, outcome, *_ = KERNELS[name]
    mechanism = bl.Mechanism(density, secret=BIT, outcome=outcome)
    return bl.pmf(list(MASSES), on=BIT) * mechanism


@pytest.mark.few(2)
@pytest.mark.cases(
    "slow",
    "normal-a likely event",
    "power-binary envelope",
    "normal-a rare event",
    "normal-binary envelope below",
    "rate-a likely event",
)
@pytest.mark.cases("truths", "normal-binary envelope", "rate-binary envelope")
@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("name", KERNELS)
def test_two_secrets(name, figure):
    of, exact = FIGURES[figure]
    with mp.workdps(30):
        truth = exact(Truth(name))
    bound = of(joint(name))
    assert bound.proved and bound.lower <= truth <= bound.upper and bound.width < 1e-9


EDGES = 0.0, 0.125, 0.25, 0.5, 0.75, 1.0

ROWS = (  # masses of the cells; ratios tie, and some are 0
    (F(1, 8), F(1, 8), F(1, 4), F(1, 4), F(1, 4)),
    (F(1, 2), F(1, 8), F(1, 8), F(1, 8), F(1, 8)),
    (F(0), F(1, 4), F(1, 2), F(1, 8), F(1, 8)),
    (F(1, 16), F(1, 16), F(0), F(7, 16), F(7, 16)),
)

FOUR = bl.Finite([0.0, 1.0, 2.0, 3.0])

WEIGHTS = F(1, 8), F(1, 4), F(1, 8), F(1, 2)


def steps(y, x):
    heights = [
        [float(m) / (b - a) for m, a, b in zip(row, EDGES[:-1], EDGES[1:], strict=True)]
        for row in ROWS
    ]
    at = [heights[0][-1] + 0 * (x + y) for _ in ROWS]
    for k, row in enumerate(heights):
        at[k] = row[-1] + 0 * y
        for edge, height in zip(EDGES[-2:0:-1], row[-2::-1], strict=True):
            at[k] = np.where(y < edge, height, at[k])
    return np.where(x < 0.5, at[0], np.where(x < 1.5, at[1], np.where(x < 2.5, at[2], at[3])))


ON_STEPS = {
    "psi_1": lambda j: bl.psi_1(j, LEVEL),
    "psi_2": lambda j: bl.psi_2(j, LEVEL),
    **{
        f"event {d}": lambda j, d=d: bl.event_maximal_leakage(j, delta=d)
        for d in (F(1, 100), F(1, 5), F(1, 2), F(9, 10))
    },
    **{
        f"envelope {d}": lambda j, d=d: bl.binary_envelope(j)(d)
        for d in (F(1, 5), F(1, 2), F(3, 5), F(9, 10))
    },
}


@pytest.mark.few(1)
@pytest.mark.cases("slow", "envelope 3/5", "envelope 9/10", "event 9/10", "envelope 1/2")
@pytest.mark.parametrize("figure", ON_STEPS)
def test_steps_are_a_finite_mechanism(figure):
    prior = bl.pmf(list(WEIGHTS), on=FOUR)
    on_line = prior * bl.Mechanism(steps, secret=FOUR, outcome=UNIT, breaks=EDGES[1:-1])
    finite = prior * bl.Mechanism.from_matrix([list(row) for row in ROWS], secret=FOUR)
    bound, truth = (ON_STEPS[figure](j) for j in (on_line, finite))
    assert truth.status == "exact" and truth.width < 1e-12
    assert bound.lower <= truth.lower <= truth.upper <= bound.upper and bound.width < 1e-9


def uneven(y, x):
    """The first secret has the largest densities, at low outcomes; the second tells more."""
    return np.where(x > 0.5, np.where(y < 0.5, 0.75, 1.25), np.where(y < 0.5, 1.75, 0.25))


@pytest.fixture(scope="module")
def two():
    mechanism = bl.Mechanism(uneven, secret=BIT, outcome=UNIT, breaks=[0.5])
    return bl.pmf([F(1, 2), F(1, 2)], on=BIT) * mechanism


def test_every_secret_counts(two):
    found = bl.psi_2(two, LEVEL)
    first = 0.875 - math.exp(0.25) * 0.625
    assert found.lower > first + 0.05  # that of the second secret
    found = bl.event_maximal_leakage(two, delta=F(1, 4))
    first = math.log(1.75 / 1.25)
    assert found.lower <= math.log(1.25 / 0.75) <= found.upper


def test_an_event_is_about_one_secret_and_half_of_a_pair_about_both(two):
    delta = F(3, 4)
    event, both = bl.event_maximal_leakage(two, delta=delta), bl.binary_envelope(two)(delta)
    envelope = bl.envelope(two)(delta)
    assert event.upper + 1e-3 < envelope.lower  # two secrets, one for each half of the outcomes
    # what the event y > 1/2 tells of the second secret its complement does not of the first
    half = math.log(1.25 / 0.75)
    assert half > both.upper + 1e-3
