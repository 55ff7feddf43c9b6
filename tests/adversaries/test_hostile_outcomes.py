"""Gains and events at the edges of float64: the truth is a closed form, or of Fractions."""

from fractions import Fraction as F

import numpy as np
import pytest

import borel as bl

adv, gain, cost = bl.adversaries, bl.adversaries.gain, bl.adversaries.cost
TINY = F(1, 10**310)


def noisy(p, sigma, points=(-1, 1)):
    mechanism = bl.mechanisms.gaussian(sigma=sigma, secret=bl.Finite(list(points)))
    return bl.pmf(p, on=mechanism.secret) * mechanism


def test_posterior_of_a_secret_of_tiny_probability():
    """Its density is e^19286 times the other's term at y = -1: the guess is right almost surely."""
    joint = noisy([TINY, 1 - TINY], 0.01)
    found = adv.posterior_vulnerability(joint, gain.identity(), -1.0)
    assert found.upper >= 1 - 1e-12
    assert adv.posterior_cost(joint, cost.zero_one(), -1.0).lower < 1e-12


def test_average_with_a_secret_of_tiny_probability():
    """A reward of 1 / P(x) makes each count as much: 1 + the total variation."""
    joint = noisy([TINY, 1 - TINY], 0.01)
    found = adv.posterior_vulnerability(joint, gain.table([[1 / TINY, 0], [0, 1]]))
    assert found.lower <= 2 <= found.upper * (1 + 1e-15)


@pytest.mark.parametrize("threat", [gain, cost])
@pytest.mark.parametrize("ends", [(200, 300), (200, None), (-1, 1)])
def test_negative_values_are_refused_wherever_the_secret_is(threat, ends):
    alphabet = bl.Interval(*ends)
    prior = bl.Measure(lambda x: np.exp(-(x - ends[0])), on=alphabet) if ends[1] is None else None
    joint = (prior or bl.uniform(alphabet)) * bl.mechanisms.gaussian(sigma=10.0, secret=alphabet)
    wrong = threat.table(lambda x, w: np.where(x < ends[0] + 1, -1.0, 2.0), actions=[0])
    asked = adv.posterior_vulnerability if threat is gain else adv.posterior_cost
    with pytest.raises(bl.InvalidInput, match="values >= 0"):
        asked(joint, wrong, 210.0)


def test_event_whose_peak_is_between_the_places_that_are_looked_at():
    """The event holds all but e^-4000: it tells nothing."""
    found = bl.event_maximal_leakage(noisy([F(1, 2)] * 2, 0.1, (10, 10.5)), bl.Interval(1, 2000))
    assert 0 <= found.lower <= found.upper < 1e-9


def test_event_of_a_secret_whose_probability_rounds_to_0():
    alphabet = bl.Finite([0, 1])
    kernel = bl.Mechanism(
        lambda y, x: np.where(y < 1 + x, 1.0, 0.0) * np.where(y >= x, 1.0, 0.0),
        secret=alphabet,
        outcome=bl.Interval(0, 2),
        breaks=[1.0],
    )
    found = bl.event_maximal_leakage(bl.pmf([5e-324, 1.0], on=alphabet) * kernel, bl.Interval(0, 1))
    assert found.lower <= 744.4400719213812 <= found.upper


def test_a_range_of_very_many_integers_is_refused_at_once():
    secret = bl.Finite([1, 2])
    mechanism = bl.Mechanism(
        lambda y, x: (x / 3.0) * (1 - x / 3.0) ** y, secret=secret, outcome=bl.Integers(0, None)
    )
    joint = bl.uniform(secret) * mechanism
    with pytest.raises(bl.NotYet, match="ranges of more than"):
        bl.event_maximal_leakage(joint, bl.Integers(0, 10**12))
    with pytest.raises(bl.NotYet, match="ranges of more than"):
        bl.event_maximal_leakage(joint, bl.Integers(10**12, None))
