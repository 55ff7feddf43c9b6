"""Noise with a kink on a maximum, a distance and a product of two secrets: enclosed, if wide.

No law of such a number is known to the engine: all secrets are kept, or the weighted sum that the
kernel reads. The truths are closed forms, and integrals by mpmath.
"""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special

import borel as bl

UNIT = bl.Interval(0, 1)
PAIR = bl.uniform(UNIT * UNIT)


def laplace_of(query):
    noise = bl.Mechanism(
        lambda y, x: np.exp(-np.abs(y - query(x))) / 2, secret=UNIT * UNIT, outcome=bl.Reals()
    )
    return PAIR * noise


LARGER = laplace_of(lambda x: np.maximum(x[0], x[1]))
DISTANCE = laplace_of(lambda x: np.abs(x[0] - x[1]))
PRODUCT = laplace_of(lambda x: x[0] * x[1])


def marginal(y):
    """Return f_Y of Laplace noise on a product of two, by the law -log v of that."""
    with mp.workdps(30):
        cuts = sorted({mp.mpf(0), mp.mpf(1), *(mp.mpf(4) ** -k for k in range(1, 30))})
        return mp.quad(lambda v: -mp.log(v) * mp.exp(-abs(y - v)) / 2, cuts)


def holds(bound, truth):
    assert bound.lower <= truth <= bound.upper, (bound, truth)
    assert bound.status in ("certified", "undecided")


FALLING = 2 - 4 * mp.exp(-1)  # E e^-w of the larger one, of density 2 w; and E e^w = 2

# of the larger one and the distance, which has the law of 1 - (the larger one)
SUPREMA = {
    "larger, PML": (lambda: bl.pml(LARGER).sup(), -mp.log(FALLING)),
    "larger, PMC": (lambda: bl.pmc(LARGER).sup(), mp.log(2)),
    "larger, E e^PML": (lambda: bl.pml(LARGER).exp_mean(), mp.mpf(3) / 2),
    "larger, cost": (lambda: bl.maximal_cost_leakage(LARGER), mp.mpf(1) / 2),
    "distance, PML": (lambda: bl.pml(DISTANCE).sup(), -mp.log(FALLING)),
    "distance, PMC": (lambda: bl.pmc(DISTANCE).sup(), mp.log(2)),
    "product, PMC": (lambda: bl.pmc(PRODUCT).sup(), mp.log(2 * marginal(0)) + 1),
    "product, E e^PML": (lambda: bl.pml(PRODUCT).exp_mean(), mp.mpf(3) / 2),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("compute, truth", SUPREMA.values(), ids=SUPREMA)
def test_figures_over_outcomes(compute, truth):
    with bl.options(budget=0.2):
        holds(compute(), truth)


@pytest.mark.parametrize("y", [-1.0, 2.0])
def test_at_outcomes_without_a_kink(y):
    near, far = max(-y, y - 1), max(abs(y), abs(1 - y))
    f_y = marginal(mp.mpf(y))
    truths = {"pml": -near - mp.log(2 * f_y), "pmc": mp.log(2 * f_y) + far}
    for kind, truth in truths.items():
        bound = getattr(bl, kind)(PRODUCT)(y)
        assert bound.status == "certified"
        assert bound.lower <= truth <= bound.upper <= bound.lower + 1e-8


@pytest.mark.truths
@pytest.mark.parametrize("case", ["product", "larger"])
def test_at_outcomes_with_a_kink(case):
    y = 0.4 if case == "product" else -1.0
    f_y = marginal(mp.mpf(y)) if case == "product" else mp.exp(y) * FALLING / 2
    with bl.options(budget=0.2):
        holds(bl.pml(PRODUCT if case == "product" else LARGER)(y), min(y, 0) - mp.log(2 * f_y))


def test_clipped_noise_on_a_product():
    """Gaussian noise on x0 x1, clipped to (0, 1): the atoms' masses read (-x0) x1 and x0 x1 - 1."""
    mechanism = bl.Mechanism(
        lambda y, x: np.exp(-((y - x[0] * x[1]) ** 2) / 2) / math.sqrt(2 * math.pi),
        secret=UNIT * UNIT,
        outcome=bl.Mixed(UNIT, atoms=[0.0, 1.0]),
        masses={
            0.0: lambda x: special.ndtr(-x[0] * x[1]),
            1.0: lambda x: special.ndtr(x[0] * x[1] - 1),
        },
    )
    joint = PAIR * mechanism
    with mp.workdps(30):
        cuts = [mp.mpf(0), *(mp.mpf(4) ** -k for k in range(30, -1, -1))]
        at_0 = mp.quad(lambda v: -mp.log(v) * mp.ncdf(-v), cuts)
        at_1 = mp.quad(lambda v: -mp.log(v) * mp.ncdf(v - 1), cuts)
        truths = {0.0: mp.log(mp.ncdf(0) / at_0), 1.0: mp.log(mp.ncdf(0) / at_1)}
    for y, truth in truths.items():
        bound = bl.pml(joint)(y)
        assert bound.lower <= truth <= bound.upper <= bound.lower + 1e-8
    with bl.options(budget=0.2):
        bound = bl.pml(joint).sup()
    assert bound.lower <= max(truths.values()) <= bound.upper
