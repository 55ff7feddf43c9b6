"""The loop that refines: what it returns, and when it stops."""

import math

import numpy as np
import pytest

from borel import settings
from borel.engine.problem.refinement import refine


class Halving:
    """An interval around the square root of 2, halved by a cut."""

    def __init__(self, most=1000):
        self.low, self.high, self.cuts, self.most = 1.0, 2.0, 0, most

    def enclose(self):
        return self.low, self.high

    def cut(self, low, high):
        assert (low, high) == (self.low, self.high)
        middle = (low + high) / 2
        if self.cuts == self.most or not low < middle < high:
            return False
        self.cuts += 1
        self.low, self.high = (low, middle) if middle**2 > 2 else (middle, high)
        return True

    def refined(self, tol=0.0, until=math.inf, rounds=200):
        narrow = lambda low, high: high - low <= tol  # noqa: E731
        return refine(self.enclose, self.cut, settled=narrow, until=until, rounds=rounds)


def test_until_it_is_narrow():
    cells = Halving()
    assert cells.refined(tol=2.0**-10) == (cells.low, cells.high)
    assert cells.cuts == 10 and cells.low**2 <= 2 <= cells.high**2


def test_until_nothing_can_be_cut():
    cells = Halving()
    low, high = cells.refined(tol=-1.0)
    assert high == math.nextafter(low, 2) and low**2 <= 2 <= high**2
    cells = Halving(most=3)
    assert cells.refined(tol=-1.0) == (1.375, 1.5)


def test_no_more_rounds_than_allowed():
    cells = Halving()
    assert cells.refined(rounds=1) == (1.0, 2.0)


@pytest.mark.parametrize("looks", [0, 3])
def test_until_the_work_is_spent(looks):
    """A look is work; the enclosure of what there is comes first, however late it is."""
    cells = Halving()
    with settings.one_figure():
        until = settings.now() + (looks + 0.5) * settings.WORK["look"][0]
        low, high = cells.refined(until=until)
    assert cells.cuts == looks and high - low == 2.0**-looks


def test_a_narrow_one_does_not_look_at_the_clock():
    with settings.one_figure():
        assert Halving().refined(tol=1.0) == (1.0, 2.0)
        assert settings.now() == 0


def test_all_enclosures_are_met():
    """One of a finer partition may be wider; one that is not a number says nothing."""
    told = iter([(0.2, 0.9), (0.1, 0.7), (math.nan, math.nan), (0.3, 0.8)])
    found = refine(
        lambda: next(told),
        lambda *_: True,
        settled=lambda *_: False,
        until=math.inf,
        rounds=4,
    )
    assert found == (0.3, 0.7) and {type(end) for end in found} == {float}


def test_many_at_once():
    told = iter([np.array([[0.2, 0.1], [0.9, 0.8]]), np.array([[0.1, 0.3], [0.7, 0.9]])])
    low, high = refine(
        lambda: next(told),
        lambda *_: True,
        settled=lambda *_: False,
        until=math.inf,
        rounds=2,
        ends=(np.zeros(2), np.ones(2)),
    )
    assert low.tolist() == [0.2, 0.3] and high.tolist() == [0.7, 0.8]
