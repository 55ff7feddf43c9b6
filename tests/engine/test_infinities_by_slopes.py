"""Infinities of PML and PMC by slopes of the log-kernel in the secret."""

import math

import numpy as np
import pytest
from engine.certified_cases import kernel
from scipy.special import gammaln

import borel as bl

UNIT, HALF_LINE, RATES = bl.Interval(0, 1), bl.Interval(0, np.inf), bl.Interval(1, 2)

TWO = bl.pmf([0.25, 0.75], on=bl.Finite([0.0, 1.0]))

THREE = bl.pmf([0.125, 0.375, 0.5], on=bl.Finite([0.0, 1.0, 2.0]))


def gauss(y, x):
    return np.exp(-0.5 * ((y - x) / 0.3) ** 2) / (0.3 * np.sqrt(2 * np.pi))


def rate(y, x):
    return x * np.exp(-x * y)


def poisson(y, x):
    return y * np.log(x) - x - gammaln(y + 1)


INFINITE = {
    "gauss on two": (TWO * bl.mechanisms.gaussian(sigma=1.0), ("pmc", "ldp")),
    "gauss on three, as a density": (THREE * kernel(gauss, secret=THREE.on), ("pmc", "ldp")),
    "gauss on an interval": (bl.uniform(UNIT) * kernel(gauss), ("pml", "pmc", "ldp")),
    "powers": (
        bl.uniform(RATES)
        * kernel(lambda y, x: x * y ** (-x - 1), secret=RATES, outcome=bl.Interval(1, np.inf)),
        ("pml", "pmc", "ldp"),
    ),
    "poisson outcomes": (
        bl.uniform(bl.Interval(1, 4))
        * kernel(poisson, secret=bl.Interval(1, 4), outcome=bl.Integers(0), log=True),
        ("pml", "pmc"),
    ),
    "waiting times": (
        bl.uniform(RATES) * kernel(rate, secret=RATES, outcome=HALF_LINE),
        ("pml", "pmc", "ldp"),
    ),
}


def sup(joint, kind):
    return bl.ldp(joint) if kind == "ldp" else getattr(bl, kind)(joint).sup()


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name, (_, kinds) in INFINITE.items() for kind in kinds]
)
def test_infinities_are_proved(name, kind):
    bound = sup(INFINITE[name][0], kind)
    assert bound.proved and bound.lower == math.inf


@pytest.mark.slow
def test_one_outcome_of_positive_mass_is_enough_for_a_supremum():
    """PMC of Poisson outcomes at 0, where e^-x vanishes as x grows; no single y of a density is."""
    prior = bl.gamma(alpha=2.0)
    counts = prior * kernel(poisson, secret=prior.on, outcome=bl.Integers(0), log=True)
    with bl.options(budget=5):
        bound = bl.pmc(counts).sup()
    assert bound.proved and bound.lower == math.inf
    single = bl.pmc(prior * kernel(gauss, secret=prior.on))(0.5)
    assert single.proved and single.lower == math.inf


def test_a_pair_of_geometric_laws():
    pair = bl.pmf([0.5, 0.5], on=bl.Finite([0.25, 0.5]))
    joint = pair * bl.Mechanism(
        lambda y, x: (1 - x) * x**y, secret=pair.on, outcome=bl.Integers(0, None)
    )
    bound = bl.pmc(joint).sup()
    assert bound.proved and bound.lower == math.inf
