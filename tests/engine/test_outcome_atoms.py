"""Outcomes with atoms: figures against closed forms."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from engine.certified_cases import kernel

import borel as bl

UNIT = bl.Interval(0, 1)

BIT = bl.pmf([0.5, 0.5], on=bl.Finite([0.0, 1.0]))


def odd(prior):
    """Return a joint with an atom inside the line: of mass 1/8 + x/2, and f = 7/8 - x/2."""
    return prior * kernel(
        lambda y, x: 0.875 - 0.5 * x + 0 * y,
        secret=prior.on,
        outcome=bl.Mixed(UNIT, atoms=[0.25]),
        masses={0.25: lambda x: 0.125 + 0.5 * x},
    )


ODD, EVEN = odd(BIT), odd(bl.uniform(UNIT))  # the atom has mass 3/8, under either

NOISY = BIT * bl.mechanisms.gaussian(sigma=0.5).clip(0, 1)

LAPLACE = bl.uniform(UNIT) * bl.mechanisms.laplace(b=0.5).clip(0, 1)

FIGURES = {
    "pml": (lambda j: bl.pml(j).sup(), math.log(5 / 3)),
    "pmc": (lambda j: bl.pmc(j).sup(), math.log(3)),
    "ldp": (bl.ldp, math.log(5)),
    "pml/one outcome": (lambda j: bl.pml(j)(0.25), math.log(5 / 3)),
    "pmc/one outcome": (lambda j: bl.pmc(j)(0.25), math.log(3)),
    "guarantees/PML-epsilon-0.4-delta-0.5": (lambda j: bl.pml(j).tail(0.4), 3 / 8),
    "guarantees/PMC-epsilon-1-delta-0.5": (lambda j: bl.pmc(j).tail(1.0), 3 / 8),
    "pml/law/quantile-0.5": (lambda j: bl.pml(j).quantile(0.5), math.log(7 / 5)),
    "pml/law/quantile-0.75": (lambda j: bl.pml(j).quantile(0.75), math.log(5 / 3)),
    "pml/law/mean": (
        lambda j: bl.pml(j).mean(),
        3 / 8 * math.log(5 / 3) + 5 / 8 * math.log(7 / 5),
    ),
    "pml/law/exp_mean": (lambda j: bl.pml(j).exp_mean(), 1.5),
    "pmc/law/exp_mean": (lambda j: bl.pmc(j).exp_mean(), 13 / 6),
    "maximal_leakage": (bl.maximal_leakage, math.log(1.5)),
}


@pytest.mark.few(16)
@pytest.mark.parametrize("joint", [ODD, EVEN], ids=["two secrets", "a density"])
@pytest.mark.parametrize("name", FIGURES)
def test_figures_enclose_the_truth(name, joint):
    make, truth = FIGURES[name]
    bound = make(joint)
    assert bound.lower - 1e-12 <= truth <= bound.upper + 1e-12 and bound.width < 1e-6


def clipped(power):
    """Return the mean of log (or of itself) of e^PML of clipped Gaussian noise on a bit."""
    with mpmath.workdps(30):
        s = mpmath.mpf(1) / 2

        def part(f, g):
            top, mean = max(f, g), (f + g) / 2
            return top if power else mean * mpmath.log(top / mean)

        def line(y):
            return part(*(mpmath.npdf(y, m, s) for m in (0, 1)))

        atom = part(mpmath.mpf(1) / 2, mpmath.ncdf(-2))
        return float(2 * atom + mpmath.quad(line, [0, 0.5, 1]))


def test_clipped_gaussian_noise():
    """The atoms leak more than any outcome between: log 1 / (1/2 + Phi(-2))."""
    sup, mean, power = bl.pml(NOISY).sup(), bl.pml(NOISY).mean(), bl.pml(NOISY).exp_mean()
    atom = -math.log(0.5 + float(mpmath.ncdf(-2)))
    mass = 0.5 + float(mpmath.ncdf(-2))  # of both
    for bound, truth in (
        (sup, atom),
        (bl.pml(NOISY)(1.0), atom),
        (mean, clipped(False)),
        (power, clipped(True)),
        (bl.pml(NOISY).tail(atom - 0.01), mass),
        (bl.pml(NOISY).quantile(Fraction(9, 10)), atom),
    ):
        assert bound.lower - 1e-12 <= truth <= bound.upper + 1e-12


def test_clipped_laplace_noise_on_a_density():
    with bl.options(tol=1e-5):
        atom = math.log(2 / (1 - math.exp(-2)))
        for bound, truth in (
            (bl.pml(LAPLACE).sup(), atom),
            (bl.pml(LAPLACE)(0.0), atom),
            (bl.pml(LAPLACE).exp_mean(), 2.0),
            (bl.pml(LAPLACE).tail(atom - 1e-3), None),
        ):
            assert truth is None or bound.lower - 1e-9 <= truth <= bound.upper + 1e-9


def test_tails_at_either_side_of_the_law():
    """PML is log 7/5 on the line, of probability 5/8, and log 5/3 at the atom."""
    law = bl.pml(ODD)
    for bound, truth in (
        (law.cdf(0.4), 5 / 8),
        (law.tail(0.4, closed=True), 3 / 8),
        (law.tail(0.3), 1.0),
    ):
        assert bound.lower <= truth <= bound.upper


def test_an_outcome_is_the_atom_where_there_is_one():
    for y, truth in ((0.25, math.log(5 / 3)), (0.5, math.log(7 / 5))):
        bound = bl.pml(ODD)(y)
        assert bound.lower - 1e-15 <= truth <= bound.upper + 1e-15 and bound.width < 1e-8


def test_the_larger_of_two_suprema():
    bound = bl.lip(ODD)
    assert bound.proved and bound.lower - 1e-15 <= math.log(3) <= bound.upper + 1e-15


def test_a_mass_that_is_largest_between_the_secrets():
    """The atom has 1/2 - (x - 1/2)^2, the line the rest: the largest are 1/2 and 3/4."""
    joint = bl.uniform(UNIT) * kernel(
        lambda y, x: 0.5 + (x - 0.5) ** 2 + 0 * y,
        outcome=bl.Mixed(UNIT, atoms=[0.25]),
        masses={0.25: lambda x: 0.5 - (x - 0.5) ** 2},
    )
    bound = bl.pml(joint).exp_mean()
    assert bound.proved and bound.lower <= 1.25 <= bound.upper


@pytest.mark.parametrize(
    "test",
    [
        lambda y: y == 0.0,
        lambda y: np.logical_not(y != 0.0),
        lambda y: y <= 0.0,
        lambda y: np.logical_not(y > 0.0),
        lambda y: np.maximum(y, -y) == 0.0,
    ],
)
def test_at_an_atom_equal_is_equal(test):
    """Masses 1/8 and 5/8: PML is log 5/3. The other half of each choice says 3/8, and 0."""
    joint = BIT * kernel(
        lambda y, x: 0.875 - 0.5 * x + 0 * y,
        secret=BIT.on,
        outcome=bl.Mixed(UNIT, atoms=[0.0]),
        masses={0.0: lambda x: np.where(test(0.0 * x), 0.125 + 0.5 * x, 0.375 + 0 * x)},
    )
    bound = bl.pml(joint)(0.0)
    assert bound.proved and bound.width < 1e-8
    assert bound.lower - 1e-15 <= math.log(5 / 3) <= bound.upper + 1e-15
