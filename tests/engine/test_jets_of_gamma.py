"""Jets of gammaln and digamma against mpmath: every Taylor coefficient, on points and boxes."""

import mpmath
import numpy as np
import pytest
import scipy.special

from borel.numerics.graphs.trace import trace
from borel.numerics.jets import arithmetic
from borel.numerics.jets.interpreter import Program

ORDER = 8
CASES = {
    "gammaln": (
        lambda x: scipy.special.gammaln(2.0 * x + 0.5),
        lambda x: mpmath.loggamma(2 * x + mpmath.mpf(0.5)),
    ),
    "digamma": (lambda x: scipy.special.digamma(x * x), lambda x: mpmath.digamma(x * x)),
    "log of a Poisson mass": (
        lambda x: 0.75 * x - scipy.special.gammaln(x + 1.0),
        lambda x: mpmath.mpf(0.75) * x - mpmath.loggamma(x + 1),
    ),
}


@pytest.mark.few(1)
@pytest.mark.cases("truths", "0.0009765625-digamma", "0.5-digamma")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("width", [0.0, 2.0**-10, 0.5])
def test_every_coefficient_is_enclosed(name, width):
    ours, truth = CASES[name]
    program = Program(trace(ours, ("x",), ()))
    low = np.array([0.03125, 0.5, 1.4375, 3.0, 40.0])
    high = low + width * low
    found = program.run({"x": arithmetic.variable(low, high, ORDER)}, ORDER).jet
    with mpmath.workdps(60):
        for i, (a, b) in enumerate(zip(low, high, strict=True)):
            for place in {float(a), float(b), float(a + (b - a) / 3)}:
                taylor = mpmath.taylor(truth, mpmath.mpf(place), ORDER)
                for k, value in enumerate(taylor):
                    assert found[0][k, i] <= value <= found[1][k, i], (place, k)
    if width == 0:
        scale = np.maximum(np.abs(found[0]), np.abs(found[1])).max(axis=0)
        # terms of different signs, which a square inside has, cost digits
        assert (found[1] - found[0] <= (1e-10 if name == "digamma" else 1e-13) * scale).all()


def test_the_slope_beyond_every_bound_is_known():
    program = Program(trace(lambda x: x * 0.5 - scipy.special.gammaln(x + 1.0), ("x",), ()))
    found = program.run({"x": arithmetic.variable(np.array([4.0]), np.array([np.inf]), 1)}, 1).jet
    low, high = arithmetic.entry(found, 1)
    truth = mpmath.mpf(0.5) - mpmath.digamma(5)
    assert truth <= float(high[0]) < -1
    assert low[0] == -np.inf


def test_nothing_is_said_across_a_pole():
    program = Program(trace(lambda x: scipy.special.digamma(x), ("x",), ()))
    found = program.run({"x": arithmetic.variable(np.array([-0.5]), np.array([0.5]), 2)}, 2).jet
    for k in (1, 2):
        low, high = arithmetic.entry(found, k)
        assert not (np.isfinite(low[0]) or np.isfinite(high[0]))
