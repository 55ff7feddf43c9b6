"""The float interpreter: what NumPy would compute, and logarithms that do not underflow."""

import math
import warnings

import numpy as np
import oracles as o
import pytest
from scipy import special

from borel.numerics.graphs import float64
from borel.numerics.graphs.trace import trace

RNG = np.random.default_rng(0)
Y, X = RNG.normal(size=(6, 1)), RNG.uniform(0.1, 0.9, (1, 4))


def graph(function):
    return trace(function, ("y", "x"), ())


def evaluate(function, y=Y, x=X):
    return float64.evaluate(graph(function), {"y": y, "x": x})


def evaluate_log(function, y=Y, x=X):
    return float64.evaluate_log(graph(function), {"y": y, "x": x})


DENSITIES = {
    "laplace": lambda y, x: np.exp(-abs(y - x)) / 2,
    "normal": lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi),
    "mixture": lambda y, x: 0.25 * np.exp(-abs(y)) + 0.75 * np.exp(-abs(y - x)),
    "pieces": lambda y, x: np.where(y > x, np.exp(-y + x), np.exp(3 * (y - x))),
    "powers": lambda y, x: np.sqrt(np.exp(y)) * np.square(x) * np.power(x, y) * np.reciprocal(x),
    "a power of 0": lambda y, x: (0 * x) ** (0 * y) + x,
    "a difference": lambda y, x: 2 - np.exp(-abs(y)),
    "special": lambda y, x: special.expit(y) * np.exp(special.gammaln(x)),
    "an indicator": lambda y, x: (y > x) * 2.0,
    "constant": lambda y, x: 0.5,
}


@pytest.mark.parametrize("name", DENSITIES)
def test_values_are_numpys(name):
    direct = np.broadcast_to(DENSITIES[name](Y, X), (6, 4))
    np.testing.assert_array_equal(evaluate(DENSITIES[name]), direct)


@pytest.mark.parametrize("name", DENSITIES)
def test_logarithms_agree_where_nothing_underflows(name):
    with np.errstate(divide="ignore"):
        expected = np.log(evaluate(DENSITIES[name]))
    np.testing.assert_allclose(evaluate_log(DENSITIES[name]), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("function", "truth"),
    [
        (DENSITIES["normal"], lambda y: -(y**2) / 2 - math.log(2 * math.pi) / 2),
        (DENSITIES["laplace"], lambda y: -y - math.log(2)),
        (lambda y, x: np.exp(-y) * np.exp(-y) * 3, lambda y: -2 * y + math.log(3)),
        (lambda y, x: np.exp(-y) / np.exp(y), lambda y: -2 * y),
        (lambda y, x: np.exp(-y) + np.exp(-2 * y), lambda y: -y),
        (lambda y, x: np.sqrt(np.exp(-y)), lambda y: -y / 2),
        (lambda y, x: np.square(np.exp(-y)), lambda y: -2 * y),
        (lambda y, x: np.exp(-y) ** 3, lambda y: -3 * y),
        (lambda y, x: np.reciprocal(np.exp(y)), lambda y: -y),
        (lambda y, x: np.where(y > 0, np.exp(-y), 7.0), lambda y: -y),
    ],
)
def test_logarithms_survive_where_values_underflow(function, truth):
    y = np.array([800.0, 5000.0])
    assert (evaluate(function, y, np.zeros(2)) == 0).all()
    np.testing.assert_allclose(evaluate_log(function, y, np.zeros(2)), truth(y), rtol=1e-14)


def test_the_normal_logarithm_against_arb():
    for y in (0.1, 3.0, 40.0, 1e5):
        found = float(evaluate_log(DENSITIES["normal"], np.array(y), np.array(0.25)))
        with o.precision():
            d = o.ball(y) - o.ball(0.25)
            truth = float((-d * d / 2 - o.log(2) / 2 - o.flint.arb.pi().log() / 2).mid())
        assert found == pytest.approx(truth, rel=1e-15)


def test_a_density_of_zero_has_logarithm_minus_infinity():
    assert evaluate_log(lambda y, x: 0.0 * y * x).max() == -math.inf
    assert float(evaluate_log(lambda y, x: np.where(y > 1, 1.0, 0.0), 0.0, 0.5)) == -math.inf
    assert float(evaluate_log(lambda y, x: (y > 1) * 2.0, 0.0, 0.5)) == -math.inf


def test_a_negative_value_has_no_logarithm():
    assert math.isnan(float(evaluate_log(lambda y, x: -np.exp(y) * 1.0, 0.0, 0.5)))
    assert float(evaluate_log(lambda y, x: (-y) * (-x), 2.0, 3.0)) == pytest.approx(math.log(6))


def test_an_infinite_factor_against_a_zero_one_settles_nothing():
    assert math.isnan(float(evaluate_log(lambda y, x: (1 / x) * y, 0.0, 0.0)))


def test_shapes_broadcast_and_scalars_stay_scalars():
    assert evaluate(DENSITIES["laplace"]).shape == (6, 4)
    assert evaluate(lambda y, x: 0.5).shape == (6, 4)
    assert evaluate(lambda y, x: x).shape == (6, 4), "an input that is not used counts"
    assert evaluate(DENSITIES["laplace"], 0.5, 0.5).shape == ()
    assert evaluate(DENSITIES["laplace"], [0.5, 1.0], 0.5).shape == (2,)


def test_integers_and_truth_values_come_as_floats():
    assert evaluate(lambda y, x: y // x, np.array(7), np.array(2)).dtype == float
    assert evaluate(lambda y, x: y > x).dtype == float
    assert float(evaluate(lambda y, x: x**-1.0, np.array(1), np.array(2))) == 0.5


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(lambda y, x: np.log(y) / (x - x) + np.exp(1000 * x), -1.0, 1.0)
        evaluate_log(lambda y, x: np.log(y) / (x - x), -1.0, 1.0)
