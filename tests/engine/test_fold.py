"""Exact folding: the same function, decided where constants decide; no obligation is lost."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import special

from borel.numerics.graphs import float64
from borel.numerics.graphs.constant_folding import exact_value, folded
from borel.numerics.graphs.graph import Graph
from borel.numerics.graphs.trace import lifted, trace

RNG = np.random.default_rng(0)
Y, X = RNG.normal(size=(40, 1)) * 3, RNG.uniform(0.05, 0.95, (1, 30))


def graph(function):
    """The graph of a function of y, x and a way to write constants as nodes."""

    def with_constants(y, x):
        return function(y, x, lambda v: lifted(y._graph, v, "a constant"))

    return trace(with_constants, ("y", "x"), ())


SIMPLER = {
    "a branch": (lambda y, x, c: np.where(c(2) > c(0), y + x, np.nan), {"add"}),
    "a sum of weights": (
        lambda y, x, c: np.where(np.abs((c(0.3) + c(0.7)) - 1) <= c(1e-9), y, np.nan),
        set(),
    ),
    "and": (lambda y, x, c: np.where((c(1) <= 2) & (y > 0), y, x), {"greater", "where"}),
    "or": (lambda y, x, c: np.where((c(1) >= 2) | (y > 0), y, x), {"greater", "where"}),
    "neither": (lambda y, x, c: np.where((c(1) >= 2) & (y > 0), y, x), set()),
    "not": (lambda y, x, c: np.where(~(c(1) >= 2), y, x), set()),
    "infinities": (lambda y, x, c: np.where(-c(np.inf) < c(3), y, x), set()),
    "neutral": (lambda y, x, c: (y * c(1) + c(0)) / c(1) - c(0), set()),
    "a shift undone": (lambda y, x, c: (y - x) + x, set()),
    "a count that cancels": (lambda y, x, c: ((y + 3) - 1) - y + x, {"add"}),
    "a scale undone": (lambda y, x, c: (y / x) * x, set()),
    "a rate": (lambda y, x, c: y / np.reciprocal(x), {"multiply"}),
    "twice": (lambda y, x, c: np.negative(-y) + np.reciprocal(np.reciprocal(x)), {"add"}),
    "powers": (lambda y, x, c: y**2 + x**1, {"square", "add"}),
    "far squares": (lambda y, x, c: (y / c(3)) ** 2 - x**2, {"subtract", "divide", "square"}),
    "an order": (lambda y, x, c: np.where(y / c(3) < (y + 1) / c(3), y, x), set()),
    "an order of what may be no number": (
        lambda y, x, c: np.where(np.log(y) < np.log(y) + 1, y, x),
        {"log", "add", "less", "where"},
    ),
    "what cancels may be no number": (
        lambda y, x, c: np.where((np.log(y) + 1) - np.log(y) > 0, y, x),
        {"log", "add", "subtract", "greater", "where"},
    ),
    "no order": (lambda y, x, c: np.where(y < x + 1, y, x), {"add", "less", "where"}),
    "close squares": (
        lambda y, x, c: ((2 - x) / c(3)) ** 2 - ((1 - x) / c(3)) ** 2,
        {"subtract", "divide", "add", "multiply"},
    ),
    "an indicator of 0": (
        lambda y, x, c: np.where(np.log(x) == c(-np.inf), y, x),
        {"equal", "where"},
    ),
    "log1p": (lambda y, x, c: np.log(1 - x) + np.log(x + 1), {"negative", "log1p", "add"}),
    "a sum of exponentials": (
        lambda y, x, c: np.log(np.exp(y) + np.exp(x) + np.exp(c(0.1))),
        {"logaddexp"},
    ),
    "sigmoid": (
        lambda y, x, c: np.log(special.expit(y)) + np.log(1 - special.expit(x)),
        {"logaddexp", "negative", "subtract"},
    ),
    "a log rate": (lambda y, x, c: np.log(np.reciprocal(x)), {"log", "negative"}),
    "known values": (
        lambda y, x, c: np.log(c(1)) + special.gammaln(c(2)) + np.sqrt(c(9)) * y,
        {"multiply"},
    ),
}


@pytest.mark.parametrize("name", SIMPLER)
def test_the_function_stays_and_the_operations_are_those(name):
    function, operations = SIMPLER[name]
    raw = graph(function)
    short = folded(raw)
    assert short.operations == operations
    assert short.inputs == raw.inputs
    inputs = {"y": Y, "x": X}
    np.testing.assert_allclose(
        float64.evaluate(short, inputs), float64.evaluate(raw, inputs), rtol=1e-12, atol=1e-12
    )


def test_nothing_is_rounded():
    third = folded(graph(lambda y, x, c: y * (c(1) / c(3))))
    assert third.operations == {"divide", "multiply"} and sorted(third.constants) == [1.0, 3.0]
    assert 1 / 3 not in folded(graph(lambda y, x, c: y + (c(0.1) + c(0.2)))).constants
    assert folded(graph(lambda y, x, c: y * (c(1) / c(4)))).constants == [0.25]
    huge = folded(graph(lambda y, x, c: y * (c(1e300) * c(1e300))))
    assert huge.operations == {"multiply"} and math.inf not in huge.constants


def test_what_rounding_would_change_is_left_to_the_interpreters():
    total = graph(lambda y, x, c: np.where(c(0.7) + c(0.3) == c(1), y, x))
    assert "where" in folded(total).operations, "0.7 + 0.3 is 1 in float64 only"
    floor = graph(lambda y, x, c: y + np.floor(c(1) / c(0.1)))
    assert "floor" in folded(floor).operations, "1 / 0.1 is 10 in float64 only"
    condition = graph(lambda y, x, c: np.where((c(0.7) + c(0.3)) - c(1), y, x))
    assert "where" in folded(condition).operations


def test_logarithms_keep_their_digits():
    small = {"y": np.array(-800.0), "x": np.array(1e-20)}
    assert float64.evaluate(folded(graph(lambda y, x, c: np.log(1 - x))), small) == -1e-20
    assert float64.evaluate(folded(graph(lambda y, x, c: np.log(special.expit(y)))), small) == -800
    both = folded(graph(lambda y, x, c: np.log(np.exp(y) + np.exp(y))))
    assert float(float64.evaluate(both, small)) == pytest.approx(-800 + math.log(2))


@pytest.mark.parametrize(
    "function",
    [
        lambda y, x, c: np.where(y > 0, y, np.nan) - np.where(y > 0, y, np.nan) + x,
        lambda y, x, c: (x / np.where(y > 0, y, np.nan)) * np.where(y > 0, y, np.nan),
        lambda y, x, c: np.where(c(1) > 0, np.where(y > 0, x, np.nan), x),
        lambda y, x, c: np.where(y > 0, x, np.nan) * c(0),
    ],
)
def test_an_obligation_is_never_dropped(function):
    values = float64.evaluate(folded(graph(function)), {"y": Y, "x": X})
    np.testing.assert_array_equal(np.isnan(values), np.broadcast_to(Y <= 0, values.shape))


def test_what_fails_for_certain_is_nan():
    assert folded(graph(lambda y, x, c: np.where(c(-1) > 0, y, np.nan))).operations == set()
    nothing = folded(graph(lambda y, x, c: np.where(c(-1) > 0, y, np.nan)))
    assert np.isnan(float64.evaluate(nothing, {"y": Y, "x": X})).all()


def test_exact_values():
    def value(function):
        return exact_value(graph(function))

    assert value(lambda y, x, c: 1 / c(3)) == F(1, 3)
    assert value(lambda y, x, c: np.reciprocal(1 / c(3))) == 3
    assert value(lambda y, x, c: c(2.0) ** c(-2.0) + np.floor(c(2.5))) == F(9, 4)
    assert value(lambda y, x, c: c(0.1) + c(0.2)) == F(0.1) + F(0.2)
    assert value(lambda y, x, c: np.maximum(c(1), np.sqrt(c(0.25)))) == 1
    assert value(lambda y, x, c: c(1) + y) is None
    assert value(lambda y, x, c: c(0) / c(0)) is None
    assert value(lambda y, x, c: np.log(c(2))) is None
    assert value(lambda y, x, c: c(np.inf) * 1) is None
    assert value(lambda y, x, c: np.sqrt(c(2))) is None
    assert value(lambda y, x, c: c(2) ** c(0.5)) is None


def test_a_bare_constant_and_a_bare_input_stay():
    constant = Graph((("const", (2.0,)),), ("y",))
    assert folded(constant) == constant
    bare = Graph((("input", ("y",)),), ("y",))
    assert folded(bare) == bare
