"""Densities: traced or opaque, elementwise, frozen, kept in pickles as graphs."""

import pickle

import numpy as np
import pytest
from scipy import special

import borel as bl
from borel.probability.density import Density, probe

UNIT, LINE = bl.Interval(0, 1), bl.Reals()
Y, X = np.linspace(-2, 3, 7)[:, None], np.linspace(0.1, 0.9, 5)[None, :]


def laplace(y, x):
    return np.exp(-abs(y - x)) / 2


def opaque(y, x):
    return laplace(np.asarray(y), np.asarray(x))


def of(function, **more):
    return Density(function, {"y": LINE, "x": UNIT}, **more)


@pytest.mark.parametrize("function", [laplace, opaque])
def test_values_are_the_functions(function):
    density = of(function)
    np.testing.assert_array_equal(density.linear(Y, X), laplace(Y, X))
    np.testing.assert_allclose(density.logarithm(Y, X), np.log(laplace(Y, X)), rtol=1e-14)
    assert density.linear(Y, X).shape == (7, 5) and density.linear(0.5, 0.5) == 0.5
    assert bool(density.opaque) is (function is opaque)


def test_a_log_density_is_taken_as_it_is():
    density = of(lambda y, x: -abs(y - x) - np.log(2), log=True)
    np.testing.assert_array_equal(density.logarithm(Y, X), -abs(Y - X) - np.log(2))
    np.testing.assert_allclose(density.linear(Y, X), laplace(Y, X), rtol=1e-15)
    assert of(lambda y, x: -1e4 + 0 * y * x, log=True).linear(0.0, 0.5) == 0.0


def test_the_logarithm_survives_an_underflow_of_the_density():
    density = of(lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi))
    assert density.linear(100.0, 0.0) == 0
    expected = -5000 - np.log(2 * np.pi) / 2
    assert float(density.logarithm(100.0, 0.0)) == pytest.approx(expected, rel=1e-15)


def test_a_constant_takes_the_shape_of_its_points():
    assert of(lambda y, x: 0.25).linear(Y, X).shape == (7, 5)
    assert of(lambda y, x: np.asarray(0.25)).linear(Y, X).shape == (7, 5)


def test_what_a_traced_density_captured_is_frozen():
    scale = 2.0
    density = of(lambda y, x: np.exp(-abs(y - x) / scale) / (2 * scale))
    before = density.linear(Y, X)
    scale = 3.0
    np.testing.assert_array_equal(density.linear(Y, X), before)


def test_a_traced_density_is_pickled_as_its_graph():
    density = of(lambda y, x, b: np.exp(-abs(y - x) / b) / (2 * b), parameters={"b": 0.5})
    again = pickle.loads(pickle.dumps(density))
    assert again.graph == density.graph and again.function is None
    np.testing.assert_array_equal(again.linear(Y, X), density.linear(Y, X))


def test_special_functions_are_traced():
    density = of(lambda y, x: special.expit(y) * x)
    assert not density.opaque
    np.testing.assert_array_equal(density.linear(Y, X), special.expit(Y) * X)


def test_points_of_a_product_are_tuples():
    density = Density(lambda x: x[0] * 2 * x[1], {"x": UNIT * LINE})
    np.testing.assert_array_equal(density.linear((X, Y)), X * 2 * Y)
    assert density.graph.inputs == ("x0", "x1")


def test_parameters_with_axes_give_leading_axes():
    density = Density(
        lambda x, a: a * x ** (a - 1), {"x": UNIT}, parameters={"a": np.array([1.0, 2.0, 3.0])}
    )
    found = density.linear(np.array([0.25, 0.5]))
    np.testing.assert_allclose(found, [[1, 1], [0.5, 1], [3 / 16, 3 / 4]])
    assert density.logarithm(np.array([0.25, 0.5])).shape == (3, 2)


def test_a_density_inside_a_density_is_traced_through():
    inner = Density(lambda x: 2 * x, {"x": UNIT})
    outer = of(lambda y, x: inner.linear(x) * 0.5)
    assert not outer.opaque
    np.testing.assert_allclose(outer.linear(Y, X), np.broadcast_to(X, (7, 5)))


# -- checks of an opaque one ---------------------------------------------------------------------

TABLE = np.array([1.0, 2.0])


def test_captured_arrays_are_watched_wherever_they_come_from():
    weights = np.array([0.5, 0.5])

    def closure(x):
        return weights[0] + 0 * np.asarray(x) + 0.5

    def default(x, w=TABLE):
        return w[0] + 0 * np.asarray(x)

    def everywhere(x):
        return TABLE[0] + 0 * np.asarray(x)

    for function, array in ((closure, weights), (default, TABLE), (everywhere, TABLE)):
        density = Density(function, {"x": UNIT})
        assert density.linear(0.5) == 1.0
        kept = array[0]
        array[0] = 9.0
        try:
            with pytest.raises(bl.InvalidInput, match="captured array"):
                density.linear(0.5)
        finally:
            array[0] = kept
        assert density.linear(0.5) == 1.0


def test_what_the_function_raises_is_reported_as_the_densitys():
    def broken(y, x):
        raise KeyError("lost")

    with pytest.raises(bl.InvalidInput, match=r"function of \(y, x\).*KeyError.*lost"):
        of(broken).linear(Y, X)


@pytest.mark.parametrize(
    "alphabet",
    [
        bl.Finite(30),
        bl.Integers(0, None),
        bl.Integers(),
        bl.Integers(None, 4),
        UNIT,
        LINE,
        bl.Interval(2, None),
        bl.Interval(None, -2),
        bl.Mixed(UNIT, atoms=[0]),
        UNIT * LINE * bl.Finite(2),
    ],
)
def test_probes_lie_inside_and_differ(alphabet):
    points = probe(alphabet)
    alphabet.check(points)
    columns = points if isinstance(points, tuple) else (points,)
    assert all(len(c) == len(columns[0]) for c in columns)
    assert len(set(zip(*(c.tolist() for c in columns), strict=True))) > 5
