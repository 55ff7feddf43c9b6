"""Rows on boxes of outcomes and what is far out, against mpmath: no end is on the wrong side."""

from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest

import borel as bl
from borel.engine import engine_for
from borel.engine.envelopes.linear_programme import Programme, Spread
from borel.engine.envelopes.outcome_cells import LineCells
from borel.engine.kernels.rows_on_boxes import rows_on_boxes, slopes_on_boxes

UNIT = bl.Interval(0, 1)


def cells_of(noise):
    made = bl.mechanisms.gaussian(sigma=1.0, secret=UNIT)
    if noise == "laplace":
        made = bl.mechanisms.laplace(b=1.0, secret=UNIT)
    return LineCells(engine_for(bl.uniform(UNIT) * made))


@pytest.fixture(scope="module", params=["gaussian", "laplace"])
def cells(request):
    return request.param, cells_of(request.param)


def upto(noise, x, y):
    """P{Y <= y | x}."""
    y = mp.mpf(y) - mp.mpf(x)
    if noise == "gaussian":
        return mp.ncdf(y)
    return mp.exp(y) / 2 if y < 0 else 1 - mp.exp(-y) / 2


def law_upto(noise, y):
    """P{Y <= y}: the integral of the above over the secret."""
    y = mp.mpf(y)
    if noise == "gaussian":
        g = lambda u: u * mp.ncdf(u) + mp.npdf(u)  # noqa: E731
        return g(y) - g(y - 1)
    # the integral of P{Y <= v}
    g = lambda v: mp.exp(v) / 2 if v < 0 else v + mp.exp(-v) / 2  # noqa: E731
    return g(y) - g(y - 1)


def largest(noise, a, b, low, high):
    """The integral over (low, high) of the largest density of the secrets in [a, b]."""
    total, cuts = mp.mpf(0), sorted({low, high, *(v for v in (a, b) if low < v < high)})
    for u, v in pairwise(cuts):
        if u >= b or v <= a:
            x = b if u >= b else a
            total += upto(noise, x, v) - upto(noise, x, u)
        else:  # the outcome itself
            total += (mp.mpf(v) - mp.mpf(u)) * (mp.npdf(0) if noise == "gaussian" else 0.5)
    return total


def test_masses_of_points_boxes_and_the_law(cells):
    noise, found = cells
    with mp.workdps(50):
        for j in range(0, len(found.live), 23):
            ends = float(found.low[found.live[j]]), float(found.high[found.live[j]])
            mass = law_upto(noise, ends[1]) - law_upto(noise, ends[0])
            assert found.law[0][j] <= mass <= found.law[1][j]
            for i in (0, 7, 32):
                x = float(found.points[0][i])
                own = upto(noise, x, ends[1]) - upto(noise, x, ends[0])
                assert found.kernel[0][i, j] <= own <= found.kernel[1][i, j]
            for i in (0, 7, 31):
                a, b = (float(v[i]) for v in found.boxes)
                most = largest(noise, a, b, *ends)
                assert most <= found.extremes[1][0][1][i, j]
                assert most >= found.extremes[-1][0][0][i, j]


def test_ratios_over_cells(cells):
    noise, found = cells
    f = mp.npdf if noise == "gaussian" else lambda v: mp.exp(-abs(v)) / 2
    with mp.workdps(50):
        for j in range(0, len(found.live), 41):
            ends = mp.mpf(found.low[found.live[j]]), mp.mpf(found.high[found.live[j]])
            for y in (ends[0], (3 * ends[0] + ends[1]) / 4, ends[1]):
                law = upto(noise, 0, y) - upto(noise, 1, y)
                for i in (0, 16, 31):
                    a, b = (mp.mpf(v[i]) for v in found.boxes)
                    high, low = (found.extremes[s][1][k][i, j] for s, k in ((1, 1), (-1, 0)))
                    for x in (a, (a + b) / 2, b):
                        assert low <= f(y - x) / law <= high


def test_what_is_beyond_the_cells_is_not_forgotten(cells):
    noise, found = cells
    low, high = float(found.low.min()), float(found.high.max())
    with mp.workdps(50):
        mass = law_upto(noise, low) + 1 - law_upto(noise, high)
        assert mass <= found.far[0] <= 1e-9
        most = upto(noise, 0, low) + 1 - upto(noise, 1, high)
        assert most <= found.far[1] <= 1e-9
        top = mp.inf if noise == "gaussian" else 1 / (1 - mp.exp(-1))
        assert top <= found.far[2]


def test_integrals_of_a_wide_box_may_be_above_1():
    engine = engine_for(bl.uniform(UNIT) * bl.mechanisms.laplace(b=0.125, secret=UNIT))
    y = np.array([0.0]), np.array([1.0])
    logs = engine.bands.law(*y, np.zeros(1), 1e-9, np.inf)[2]
    mass, _ = rows_on_boxes(engine.surface, (y[0], y[1]), y, np.zeros(1), logs)
    assert mass[1][0, 0] >= 4  # of 1 / 2b


def test_slopes_in_the_secret():
    engine = engine_for(bl.uniform(UNIT) * bl.mechanisms.gaussian(sigma=0.5, secret=UNIT))
    x = np.array([0.25]), np.array([0.5])
    value, slope = slopes_on_boxes(engine.surface, x, (np.array([1.0]), np.array([1.5])))
    assert slope[0][0, 0] <= 2.0 and 5.0 <= slope[1][0, 0]  # (y - x) / sigma^2
    with mp.workdps(30):
        assert value[0][0, 0] <= mp.log(mp.npdf(1.25, 0, 0.5)) and slope[0][0, 0] > 0
        assert mp.log(mp.npdf(0.5, 0, 0.5)) <= value[1][0, 0]


def test_the_dual_adds_what_is_far_out():
    """Two secrets and one cell: (1 - 2 theta) q + 2 g there, and beyond it at most the parts."""
    law, rows = np.array([0.5]), np.array([[0.6], [0.4]])
    ratio = rows / 0.5
    price = np.array([2.0, 1.5])
    values = []
    for far in ((0.0, 0.0, 0.0), (0.25, 0.5, np.inf)):
        spread = Spread(ratio, ratio, np.array([True]), far)
        programme = Programme(1, (rows, rows), (law, law), spread=spread)
        values.append(programme._dual(price, 0.25))
    # with theta = 1/4 the largest of 1 - v theta is 5/8
    assert values[1] - values[0] >= 0.25 * 0.625 + 0.5 * 2
    assert values[0] >= 0.5 * 0.5 + 2 * 0.6


def test_the_sum_of_parts_bounds_a_cell_of_large_ratios():
    """Half of the cell tells of one secret, half of the other: max of sums is less than the sum."""
    law, rows = np.array([1.0]), np.array([[0.5], [0.5]])
    spread = Spread(np.zeros((2, 1)), np.full((2, 1), np.inf), np.array([False]))
    programme = Programme(1, (rows, rows), (law, law), spread=spread)
    # q = 1, f_1 = 1 on the left half and f_2 = 1 on the right one: max(0, 1 - v (theta - r)) each
    assert programme._dual(np.array([2.0, 2.0]), 0.75) >= 1 - 2 * 0.75 + 2 * 1.0
