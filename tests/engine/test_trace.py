"""Tracing: what is recorded is the function, what cannot be recorded is named."""

import json
import math
import pickle

import numpy as np
import pytest
from scipy import special

import borel as bl
from borel.errors import BorelError, NotEnclosed, NotTraceable
from borel.numerics.graphs import float64, trace
from borel.numerics.graphs.graph import Graph
from borel.numerics.intervals import interpreter

UNIT, LINE = bl.Interval(0, 1), bl.Reals()
RNG = np.random.default_rng(0)
Y, X = RNG.normal(size=(7, 1)), RNG.uniform(0.1, 0.9, (1, 5))


def normal(y, x):
    return np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi)


def graph(function, names=("y", "x")):
    return trace.trace(function, names, ())


FUNCTIONS = {
    "arithmetic": lambda y, x: (y + 2 * x - 1 / x) ** 2 / (1 + x),
    "laplace": lambda y, x: np.exp(-abs(y - x)) / 2,
    "where": lambda y, x: np.where((y > x) & ~(y == 0), y - x, np.sqrt(x)),
    "or": lambda y, x: np.where((y > 1) | (y < -x), 1.0, 2.0),
    "clip": lambda y, x: np.clip(y, 0, x) + np.clip(y, None, 0.5) + np.clip(x, a_min=0.3, a_max=1),
    "select": lambda y, x: np.select([y < 0, y < x], [x, 2 * x], 3.0),
    "likes": lambda y, x: np.ones_like(y) * x + np.zeros_like(x) + np.full_like(y, 2.0),
    "special": lambda y, x: special.gammaln(x + 2) + special.expit(y) + special.ndtr(y),
    "reflected": lambda y, x: 1 - y + (2.0**x) + (3 // x) + (5 % x) + np.maximum(1, y),
    "constant": lambda y, x: 0.25,
    "one argument": lambda y, x: np.log1p(x),
    "astype": lambda y, x: x.astype(float) * y.astype(np.float64),
    "ufuncs": lambda y, x: np.hypot(y, x) + np.arctan2(y, x) + np.logaddexp(y, x) + np.cbrt(y),
    "synonyms": lambda y, x: np.true_divide(y, x) + np.fabs(y),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_graph_is_the_function(name):
    function = FUNCTIONS[name]
    traced = graph(function)
    direct = np.broadcast_to(function(Y, X), (7, 5))
    np.testing.assert_array_equal(float64.evaluate(traced, {"y": Y, "x": X}), direct)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_graph_survives_json(name):
    traced = graph(FUNCTIONS[name])
    again = Graph.from_json(json.loads(json.dumps(traced.to_json())))
    assert again == traced
    inputs = {"y": Y, "x": X}
    np.testing.assert_array_equal(float64.evaluate(again, inputs), float64.evaluate(traced, inputs))


@pytest.mark.parametrize("value", [0.1, -0.0, 5e-324, 1.7976931348623157e308, math.inf, -math.inf])
def test_constants_survive_json_to_the_bit(value):
    again = Graph.from_json(json.loads(json.dumps(graph(lambda y, x: y + value).to_json())))
    (found,) = again.constants
    assert found.hex() == value.hex()


def test_zero_and_minus_zero_are_two_constants():
    traced = graph(lambda y, x: np.copysign(1.0, 0.0) * y + 0.0 + x * -0.0)
    assert sorted(c.hex() for c in traced.constants) == sorted(
        [(1.0).hex(), (0.0).hex(), (-0.0).hex()]
    )


@pytest.mark.parametrize("name", sorted(trace.UFUNCS))
def test_every_ufunc_is_recorded_as_itself(name):
    ufunc = getattr(np, name)
    truth = name.startswith(("bitwise", "invert"))
    arguments = (Y > 0, X > 0.5) if truth else (abs(Y) + 0.1, X)

    def function(y, x):
        pair = (y > 0, x > 0.5) if truth else (abs(y) + 0.1, x)
        return ufunc(*pair[: ufunc.nin])

    traced = graph(function)
    with np.errstate(all="ignore"):
        direct = np.asarray(ufunc(*arguments[: ufunc.nin]), float)
    # np.float_power is recorded as np.power, whose kernel differs in the last bit
    np.testing.assert_allclose(
        float64.evaluate(traced, {"y": Y, "x": X}),
        np.broadcast_to(direct, (7, 5)),
        rtol=1e-15 if name == "float_power" else 0,
    )


TABLE = np.array([1.0, 2.0])
REFUSED = {
    "if": (lambda y, x: 1.0 if y > 0 else 2.0, "truth value"),
    "and": (lambda y, x: (y > 0) and (x > 0), "truth value"),
    "max": (lambda y, x: max(y, x), "truth value"),
    "math.exp": (lambda y, x: math.exp(y), "float"),
    "float": (lambda y, x: float(y), "float"),
    "int": (lambda y, x: int(y), "int"),
    "indexing by y": (lambda y, x: TABLE[y], "index"),
    "range": (lambda y, x: range(5)[x], "index"),
    "y[0]": (lambda y, x: y[0], "indexing"),
    "len": (lambda y, x: len(y), "len"),
    "iteration": (lambda y, x: sum(v for v in y), "iteration"),
    "unpacking": (lambda y, x: next(iter(y)), "iteration"),
    "np.sum": (lambda y, x: np.sum(y), "np.sum"),
    "y.sum": (lambda y, x: y.sum(), "sum"),
    "np.add.reduce": (lambda y, x: np.add.reduce(y), "np.add.reduce"),
    "np.multiply.outer": (lambda y, x: np.multiply.outer(y, x), "np.multiply.outer"),
    "np.sort": (lambda y, x: np.sort(y), "np.sort"),
    "np.mean": (lambda y, x: np.mean(y), "np.mean"),
    "np.dot": (lambda y, x: np.dot(y, x), "np.dot"),
    "np.asarray": (lambda y, x: np.asarray(y), "conversion to an array"),
    "np.vectorize": (lambda y, x: np.vectorize(math.exp)(y), "array"),
    "out=": (lambda y, x: np.exp(y, out=np.zeros(3)), "out"),
    "where=": (lambda y, x: np.exp(y, where=True), "where"),
    "frexp": (lambda y, x: np.frexp(y)[0], "np.frexp"),
    "captured array": (lambda y, x: y * TABLE, "captured array"),
    "np.where with an array": (lambda y, x: np.where(y > 0, TABLE, x), "captured array"),
    "np.where alone": (lambda y, x: np.where(y > 0), "np.where"),
    "astype(int)": (lambda y, x: y.astype(int), "astype"),
    "a string": (lambda y, x: y == "a", "str"),
    "None": (lambda y, x: None, "NoneType"),
    "an exception": (lambda y, x: 1 / 0, "ZeroDivisionError"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_traced_is_named(what):
    function, named = REFUSED[what]
    with pytest.raises(NotTraceable, match=named.replace(".", r"\.")):
        graph(function)


@pytest.mark.parametrize(
    "function",
    [
        lambda y, x: y.astype(np.float32) * x,
        lambda y, x: np.where(x.astype(np.float16) > 0.5, 1.0, 2.0),
    ],
)
def test_a_cast_that_rounds_is_refused(function):
    """float32 rounds: recorded as the identity it would be another function."""
    with pytest.raises(NotTraceable, match="astype"):
        graph(function)


@pytest.mark.parametrize(
    "function",
    [
        lambda y, x: np.where(np.floor(x) & 1, 1.0, 2.0),
        lambda y, x: np.where(y | 2, 1.0, 2.0),
        lambda y, x: np.where(~y, 1.0, 2.0),
    ],
    ids=["&", "|", "~"],
)
def test_bits_of_numbers_are_refused(function):
    """x & 1 asks for a parity, which `logical_and` does not answer; NumPy refuses it on floats."""
    with pytest.raises(TypeError):
        function(Y, X)
    with pytest.raises(NotTraceable):
        graph(function)


TRUTHS = {
    "+": lambda y, x: (y > 0) + (x > 0.5),
    "sum of three": lambda y, x: 0.25 * ((y > 0) + (x > 0.5) + (y > 1)),
    "*": lambda y, x: (y > 0) * (x > 0.5) * 0.5,
    "exp": lambda y, x: np.exp(y > 0) * x,
    "sqrt": lambda y, x: np.sqrt((y > 0) * 2),
    "log1p": lambda y, x: np.log1p(y > 0) + 1.0,
    "power": lambda y, x: (y > 0) ** 2 + 1.0,
    "2 **": lambda y, x: 2.0 ** (y > 0),
    "square": lambda y, x: np.square(y > 0) + 1.0,
    "maximum": lambda y, x: np.maximum(y > 0, 0.5),
    "divide": lambda y, x: (y > 0) / 3,
    "subtract": lambda y, x: (y > 0) - x,
    "minus": lambda y, x: -(y > 0),
    "difference": lambda y, x: (y > 0) - (x > 0.5),
    "where": lambda y, x: np.where((y > 0) + (x > 0.5), x, 1.0),
    "absolute": lambda y, x: abs(y > 0) + 0.5,
    "as floats": lambda y, x: (y > 0).astype(float) + (x > 0.5).astype(float),
    "minus floats": lambda y, x: -(y > 0).astype(float),
    "absolutes": lambda y, x: abs(y > 0) + abs(x > 0.5),
    "fmax": lambda y, x: np.fmax(y > 0, x > 0.5) + np.fmin(y > 0, x > 0.5),
    "True and 1": lambda y, x: 0.0 * ((y > 0) * True) + ((y > 0) * 1 + (y > 0) * 1),
    "True or 1": lambda y, x: (
        0.0 * np.minimum(y > 0, True) + (np.minimum(y > 0, 1) + np.minimum(y > 0, 1))
    ),
    "ones": lambda y, x: np.ones_like(y > 0) + np.ones_like(x > 0.5),
    "threes": lambda y, x: np.full_like(y > 0, 3) + 0.5,
    "halves": lambda y, x: np.full_like(np.where(y > 0, 1, 2), 2.5) + 0.5,
    "squares": lambda y, x: np.square(y > 0) + np.square(x > 0.5),
    "powers": lambda y, x: (y > 0) ** (x > 0.5) + (y > 0) ** (x > 0.5),
    "floors": lambda y, x: np.floor(y > 0) + np.floor(x > 0.5),
    "reciprocal": lambda y, x: np.reciprocal(np.where(y > 0, 2, 4)) + x,
    "clip": lambda y, x: np.clip(y > 0, 0, 1) + np.clip(x > 0.5, False, True),
    "8 bits": lambda y, x: np.square(x > 0.5) + 127,
    "half of 8 bits": lambda y, x: np.exp(np.square(x > 0.5)),
    "int8": lambda y, x: np.where(x > 0.5, np.int8(100), np.int8(1)) * np.int8(2),
    "float32": lambda y, x: np.exp(np.where(x > 0.5, np.float32(0.1), np.float32(0.2))),
    "float32 beside y": lambda y, x: y * np.float32(0.5),
    "whole //": lambda y, x: np.where(x > 0.5, 5, 3) // np.where(y > 0, 2, 1),
    "64 bits": lambda y, x: np.square(np.where(x > 0.5, 2**40, 3)),
    "a large power": lambda y, x: np.where(x > 0.5, 2, 3) ** 100,
    "a whole square": lambda y, x: np.where(x > 0.5, 2, 3) ** 2 + 0.5,
    "a whole product": lambda y, x: 3 * np.where(x > 0.5, 2, 3) * y,
    "select": lambda y, x: np.select([y > 0], [x > 0.5], False) + np.select([y > 0], [x > 0.5]),
}


def test_truth_values_as_floats_are_numbers():
    """`1.0 + 1.0`, not `True or True`: a leakage that rests on it is another one."""
    mech = bl.Mechanism(
        lambda y, x: np.exp(-abs(y - (x >= 0.25).astype(float) - (x >= 0.75).astype(float))) / 2,
        secret=UNIT,
        outcome=LINE,
    )
    bound = bl.pml(bl.uniform(UNIT) * mech)(2.0)
    truth = -np.log((np.exp(-2) + 2 * np.exp(-1) + 1) / 4)
    assert bound.lower - 1e-15 <= truth <= bound.upper + 1e-15 and bound.upper < bound.lower + 1e-8


@pytest.mark.parametrize("name", TRUTHS)
def test_truth_values_as_numbers_mean_the_same_to_every_engine(name):
    """NumPy adds truth values by `or`, takes exp of them in half precision: agree or refuse."""
    function = TRUTHS[name]
    try:
        traced = graph(function)
        low, high = interpreter.evaluate(traced, {"y": (Y, Y), "x": (X, X)})
    except (NotTraceable, NotEnclosed):
        return
    values = float64.evaluate(traced, {"y": Y, "x": X})
    assert (low - 1e-12 <= values).all() and (values <= high + 1e-12).all()
    np.testing.assert_allclose(values, np.broadcast_to(function(Y, X), (7, 5)), rtol=1e-15)


# -- what is captured is frozen ------------------------------------------------------------------


def test_captured_numbers_and_arrays_are_frozen():
    b, table, scalar = 1.0, np.array([1.0, 2.0]), np.array(1.0)
    mech = bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x) / b * table[0] / scalar) / (2 * b),
        secret=UNIT,
        outcome=LINE,
    )
    before = mech.pdf(0.3, 0.6)
    b, scalar[...] = 5.0, 7.0
    table[0] = 9.0
    assert mech.opaque == ""
    assert mech.pdf(0.3, 0.6) == before == np.exp(-0.3) / 2 == np.exp(-abs(0.3 - 0.6)) / 2


def test_parameters_are_frozen():
    params = {"b": 2.0}
    mech = bl.Mechanism(
        lambda y, x, b: np.exp(-abs(y - x) / b) / (2 * b), secret=UNIT, outcome=LINE, params=params
    )
    before = mech.pdf(0.3, 0.6)
    params["b"] = 1.0
    assert mech.pdf(0.3, 0.6) == before


GLOBAL = np.array([1.0, 1.0])


def opaque_density(table):
    return lambda y, x: (
        np.exp(-((y - x) ** 2) / 2)
        / np.sqrt(2 * np.pi)
        * np.max(np.broadcast_to(table[0], np.asarray(y).shape))
    )


def test_an_opaque_density_with_a_changed_array_raises():
    table = np.array([1.0, 3.0])
    mech = bl.Mechanism(opaque_density(table), secret=UNIT, outcome=LINE)
    assert mech.opaque
    mech.pdf(0.3, 0.5)
    table[1] = 4.0
    with pytest.raises(bl.InvalidInput, match=r"captured array 'table'.*copy"):
        mech.pdf(0.3, 0.5)


def test_an_opaque_density_with_a_changed_global_or_default_raises():
    def by_global(y, x):
        return normal(y, x) * np.max(np.broadcast_to(GLOBAL[0], np.shape(np.asarray(y))))

    default = np.array([1.0])

    def by_default(y, x, *, table=default):
        return normal(y, x) * np.max(np.broadcast_to(table[0], np.shape(np.asarray(y))))

    def by_positional_default(y, x, table=default):
        return normal(y, x) * np.max(np.broadcast_to(table[0], np.shape(np.asarray(y))))

    mechs = [
        bl.Mechanism(f, secret=UNIT, outcome=LINE)
        for f in (by_global, by_default, by_positional_default)
    ]
    assert all(m.opaque for m in mechs)
    GLOBAL[0], default[0] = 2.0, 3.0
    try:
        for mech in mechs:
            with pytest.raises(bl.InvalidInput, match="captured array"):
                mech.pdf(0.3, 0.5)
    finally:
        GLOBAL[0] = 1.0


def test_a_traced_mechanism_pickles_without_its_function():
    mech = bl.Mechanism(normal, secret=UNIT, outcome=LINE)
    again = pickle.loads(pickle.dumps(mech))
    assert again.pdf(0.3, 0.5) == mech.pdf(0.3, 0.5)
    closure = bl.Mechanism(lambda y, x: normal(y, x), secret=UNIT, outcome=LINE)
    assert pickle.loads(pickle.dumps(closure)).pdf(0.3, 0.5) == mech.pdf(0.3, 0.5)


# -- densities that are not densities ------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda y, x: normal(y, x) / np.sum(normal(y, x)),
        lambda y, x: normal(y, x) * (1 + np.argsort(np.broadcast_to(y, (y + x).shape), axis=0)),
        lambda y, x: normal(y, x) * np.max(np.asarray(abs(y))),
    ],
    ids=["normalised over the array", "ranks", "a maximum"],
)
def test_a_density_that_is_not_elementwise_raises(function):
    with pytest.raises(bl.InvalidInput, match="elementwise"):
        bl.Mechanism(function, secret=UNIT, outcome=LINE)


@pytest.mark.parametrize(
    "what", ["if", "math.exp", "float", "indexing by y", "max", "captured array"]
)
def test_a_density_that_fails_on_arrays_says_so_in_our_words(what):
    """NumPy's own message ("truth value ... ambiguous") says neither where nor how to mend it."""
    function, _ = REFUSED[what]
    with pytest.raises(BorelError):
        bl.Mechanism(function, secret=UNIT, outcome=LINE)


def test_an_opaque_mechanism_says_what_made_it_so():
    mech = bl.Mechanism(lambda y, x: normal(y, x) + 0 * np.sinc(y), secret=UNIT, outcome=LINE)
    assert "np.sinc" in mech.opaque and "np.sinc" in repr(mech)
