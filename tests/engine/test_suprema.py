"""Suprema over continuous outcomes, against closed forms."""

import math

import numpy as np
import pytest
from engine.certified_cases import kernel, tilt
from flint import arb

import borel as bl

UNIT, HALF_LINE = bl.Interval(0, 1), bl.Interval(0, None)


@pytest.mark.truths
def test_altered_points_change_nothing():
    """A kernel that is 50 where x = 1/2, y = 1/2 or x = y has the suprema of the tilt."""
    for null in (
        lambda y, x: x == 0.5,
        lambda y, x: y == 0.5,
        lambda y, x: x == y,
    ):
        joint = bl.uniform(UNIT) * kernel(
            lambda y, x, null=null: np.where(null(y, x), 50.0, tilt(y, x)), outcome=UNIT
        )
        for kind, truth in (("pml", math.log(1.5)), ("pmc", math.log(2))):
            bound = getattr(bl, kind)(joint).sup()
            assert bound.lower <= truth <= bound.upper < truth + 1e-8


def test_densities_that_floats_do_not_hold_are_compared():
    """At y = 2000 both densities are 0 as floats."""
    prior = bl.pmf([0.5, 0.5], on=bl.Finite([1.0, 1.5]))
    rates = kernel(lambda y, x: x * np.exp(-x * y), secret=prior.on, outcome=bl.Interval(0, 2000))
    found = bl.ldp(prior * rates)
    truth = 1000 - arb("1.5").log()
    assert found.lower <= truth <= found.upper
