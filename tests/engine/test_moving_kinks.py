"""f_Y of draws on boxes of outcomes across which a kink or a jump moves, against mpmath."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from engine.certified_cases import learnt_slopes

import borel as bl
from borel.engine.draws import kernel_integrals, moving_kinks, outcome_laws, outcome_lines

UNIT = bl.Interval(0, 1)
SLOPES = np.array([[1.0, 2.75, 6.0]])
mp = mpmath.mp
ONE_SIDED = bl.Mechanism(
    lambda y, x: np.where(y > x, 2 * np.exp(-2 * (y - x)), 0.0),
    secret=UNIT,
    outcome=bl.Interval(0, None),
)
KERNELS = {
    "a kink": (bl.mechanisms.laplace(b=0.5, secret=UNIT), lambda d: mp.exp(-2 * abs(d))),
    "a narrow kink": (
        bl.mechanisms.laplace(b=1 / 64, secret=UNIT),
        lambda d: 32 * mp.exp(-64 * abs(d)),
    ),
    "a jump": (ONE_SIDED, lambda d: 2 * mp.exp(-2 * d) if d > 0 else mpmath.mpf(0)),
}
# parts of cells, of several widths, and one that is no part of a cell
EDGES = 0.5 + np.array([0.0, 1 / 64, 3 / 64, 1 / 16, 0.07])


def densities(mech, edges=EDGES):
    """Masses of boxes of outcomes, and lines near f_Y on them with what they are off by."""
    engine = bl.pml(learnt_slopes(SLOPES) * mech)._engine()
    law = outcome_laws.OutcomeLaw(engine.shared, engine.support("pml"), "pml")
    cells = next(engine.blocks()).cells
    with np.errstate(all="ignore"):
        found = law.search.compared(cells, edges[:-1], edges[1:], slice(None), math.inf)
        return outcome_lines._density(found, engine.shared.slack)


def truth(kernel, a, y):
    """Return f_Y(y) of one draw."""
    a, y = mpmath.mpf(float(a)), mpmath.mpf(float(y))
    places = sorted(
        {mpmath.mpf(0), *(v for v in (y - 0.1, y, y + 0.1) if 0 < v < 1), mpmath.mpf(1)}
    )
    with mpmath.workdps(30):
        return mp.quad(lambda x: a * mp.exp(a * x) / mp.expm1(a) * kernel(y - x), places)


def wrong(name, edges=EDGES):
    """Say on which boxes f_Y is not enclosed at one of some outcomes."""
    mech, kernel = KERNELS[name]
    _, _, level, tilt, doubt = densities(mech, edges)
    out = set()
    for k, (low, high) in enumerate(itertools.pairwise(edges)):
        centre = low + (high - low) / 2
        for share in (0.01, 0.4, 0.99):
            y = low + share * (high - low)
            for d, a in enumerate(SLOPES[0]):
                line = mpmath.mpf(float(level[d, k])) + mpmath.mpf(float(tilt[d, k])) * (y - centre)
                if not abs(truth(kernel, a, y) - line) <= doubt[d, k]:
                    out.add(k)
    return out


@pytest.mark.cases("truths", "a narrow kink")
@pytest.mark.parametrize("name", KERNELS)
def test_the_density_is_enclosed(name):
    assert not wrong(name)


def test_a_kink_costs_little(monkeypatch):
    """The error is that of a line, of second order; without the two sides it is far larger."""
    mech, edges = KERNELS["a kink"][0], np.array([0.5, 0.5 + 1 / 256])
    mass = densities(mech, edges)
    monkeypatch.setattr(
        kernel_integrals, "_put_across", lambda *of, **_: np.zeros(len(of[2]), bool)
    )
    before = densities(mech, edges)
    assert (before[0] <= mass[1]).all() and (mass[0] <= before[1]).all()
    assert ((mass[1] - mass[0]) < (before[1] - before[0]) / 50).all()
    assert (mass[4] < 1e-4).all()


def rows_without(row, side):
    right = moving_kinks._rows

    def rows(program, decided, sign, *rest):
        low, high = right(program, decided, sign, *rest)
        if sign == side:
            low[:, row], high[:, row] = 0.0, 0.0
        return low, high

    return rows


@pytest.mark.parametrize(("row", "side"), [(0, 1.0), (1, 1.0), (2, -1.0)])
def test_mistakes_are_seen(row, side, monkeypatch):
    monkeypatch.setattr(moving_kinks, "_rows", rows_without(row, side))
    assert 0 in wrong("a jump" if row < 2 else "a kink", EDGES[:2])
