"""Alphabets: labels never positions, products that flatten, what includes what."""

import math
import pickle
from fractions import Fraction as F

import numpy as np
import pytest

import borel as bl
from borel.probability.alphabets import includes

ANSWERS = bl.Finite(["no", "yes"])
UNIT, LINE, COUNTS = bl.Interval(0, 1), bl.Reals(), bl.Integers(0, None)
TWICE = bl.Mixed(UNIT, atoms=[0.0, 1.0])


# -- one factor ----------------------------------------------------------------------------------


def test_a_count_makes_the_labels_from_zero():
    assert bl.Finite(3) == bl.Finite([0, 1, 2]) == bl.Finite(range(3)) == bl.Finite(np.arange(3))
    assert bl.Finite(np.int64(3)).labels == (0, 1, 2)
    assert bl.Finite(3) != bl.Finite(4) and bl.Finite(3) != bl.Finite(range(1, 4)) != 3
    assert bl.Finite(3).array.dtype.kind == "i" and bl.Finite([0.5, 1]).array.dtype.kind == "f"


def test_numpy_labels_become_python_ones():
    found = bl.Finite(np.array(["a", "b"])).labels
    assert found == ("a", "b") and all(type(a) is str for a in found)
    assert type(bl.Finite(np.array([1.5, 2.5])).labels[0]) is float
    assert bl.Finite([(np.int64(0), np.str_("a"))]).labels == ((0, "a"),)


def test_the_labels_of_a_dataarray():
    import xarray as xr

    assert bl.Finite(xr.DataArray(["a", "b"])).labels == ("a", "b")


@pytest.mark.parametrize(
    ("points", "places"),
    [
        ("yes", 1),
        (["yes", "no", "yes"], [1, 0, 1]),
        (np.array([["yes"], ["no"]]), [[1], [0]]),
        (np.array(["no"], object), [0]),
        (np.array("yes"), 1),
        ([], []),
    ],
)
def test_labels_are_looked_up_never_positions(points, places):
    found = ANSWERS.positions(points)
    np.testing.assert_array_equal(found, places)
    assert found.dtype.kind == "i" and found.shape == np.shape(places)


def test_numbers_as_labels_are_not_positions():
    temperatures = bl.Finite([30, 10, 20])
    np.testing.assert_array_equal(temperatures.positions(np.array([10.0, 30.0])), [1, 0])
    np.testing.assert_array_equal(temperatures.positions([20, 10]), [2, 1])
    assert temperatures.positions(30) == 0
    for wrong in (0, [10, 1], np.array([10, 15]), np.array([10.0, math.nan])):
        with pytest.raises(bl.OutsideAlphabet):
            temperatures.positions(wrong)


def test_large_integers_are_told_apart():
    large = bl.Finite([2**53, 2**53 + 1])
    assert large.positions(np.array([2**53 + 1]))[0] == 1
    assert bl.Finite([10**30, 2]).positions(10**30) == 0


def test_labels_that_are_tuples():
    pairs = bl.Finite([(0, "a"), (1, "b")])
    assert pairs.positions((1, "b")) == 1
    np.testing.assert_array_equal(pairs.positions([(1, "b"), (0, "a")]), [1, 0])
    assert pairs.contains((0, "a")) and not pairs.contains((0, "b"))
    assert not pairs.numeric


@pytest.mark.parametrize(
    ("alphabet", "inside", "outside"),
    [
        (ANSWERS, ["no"], ["maybe", 0, None, [["no"]]]),
        (UNIT, [0, 0.0, 1, 0.5, F(1, 3), True], [-1e-300, 1.1, math.nan, "0.5", None, 0.5j]),
        (LINE, [1e308, -3], [math.inf, -math.inf, math.nan, "a"]),
        (COUNTS, [0, 7, 3.0], [-1, 0.5, math.inf, math.nan, "0", 1j]),
        (bl.Integers(None, 3), [-100, 3], [4]),
        (TWICE, [0.0, 0.5, 1.0], [1.5]),
        (UNIT * ANSWERS, [(0.5, "yes")], [(0.5, "maybe"), (2.0, "yes")]),
    ],
)
def test_what_lies_inside(alphabet, inside, outside):
    for point in inside:
        assert np.all(alphabet.contains(point))
        alphabet.check(point)
    for point in outside:
        assert not np.all(alphabet.contains(point))
        with pytest.raises(bl.OutsideAlphabet):
            alphabet.check(point)


def test_arrays_are_checked_point_by_point():
    np.testing.assert_array_equal(UNIT.contains(np.array([0.5, 2.0])), [True, False])
    np.testing.assert_array_equal(COUNTS.contains([1, 2.5]), [True, False])
    np.testing.assert_array_equal(ANSWERS.contains(["no", "x"]), [True, False])
    np.testing.assert_array_equal(
        (UNIT * UNIT).contains((np.array([0.5, 2.0]), 0.5)), [True, False]
    )


def test_kinds():
    assert (ANSWERS.kind, COUNTS.kind, UNIT.kind, TWICE.kind) == (
        "finite",
        "countable",
        "continuous",
        "mixed",
    )
    assert bl.Integers(1, 3).kind == "finite" and bl.Integers(1, 3).labels == (1, 2, 3)
    assert bl.Integers(1, 3).size == 3
    np.testing.assert_array_equal(bl.Integers(1, 3).positions([3, 1]), [2, 0])


# -- products ------------------------------------------------------------------------------------


def test_products_flatten():
    left, right = (UNIT * COUNTS) * LINE, UNIT * (COUNTS * LINE)
    assert left == right and left.factors == (UNIT, COUNTS, LINE) and left.dim == 3
    assert (left * left).dim == 6
    assert (
        UNIT**1 == UNIT
        and UNIT**3 == UNIT * UNIT * UNIT
        and (UNIT * LINE) ** 2 == (UNIT * LINE * UNIT * LINE)
    )
    assert ANSWERS ** np.int64(2) == ANSWERS * ANSWERS


def test_the_kind_of_a_product():
    assert (UNIT * LINE).kind == "continuous"
    assert (ANSWERS**2).kind == "finite"
    assert (ANSWERS * COUNTS).kind == "countable"
    assert (UNIT * COUNTS).kind == "mixed"
    assert (UNIT * COUNTS).numeric and not (UNIT * ANSWERS).numeric


def test_the_points_of_a_finite_product():
    both = ANSWERS * bl.Finite(3)
    assert both.size == 6 and both.labels[:4] == (("no", 0), ("no", 1), ("no", 2), ("yes", 0))
    for place, label in enumerate(both.labels):
        assert both.positions(label) == place
    np.testing.assert_array_equal(both.positions(list(both.labels)), range(6))
    np.testing.assert_array_equal(both.positions(both.array), range(6))
    np.testing.assert_array_equal(both.positions((["no", "yes"], [2, 1])), [2, 4])


# -- what includes what --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outer", "inner", "holds"),
    [
        (bl.Finite(3), bl.Finite([2, 0]), True),
        (bl.Finite(2), bl.Finite(3), False),
        (ANSWERS, bl.Finite(2), False),
        (COUNTS, bl.Finite([1, 5]), True),
        (COUNTS, bl.Finite([0.5]), False),
        (COUNTS, bl.Integers(3, None), True),
        (COUNTS, bl.Integers(), False),
        (bl.Integers(), COUNTS, True),
        (LINE, UNIT, True),
        (UNIT, LINE, False),
        (LINE, COUNTS, True),
        (UNIT, COUNTS, False),
        (UNIT, bl.Finite([0.5, 1]), True),
        (LINE, bl.Finite(["a"]), False),
        (LINE, TWICE, True),
        (TWICE, bl.Mixed(UNIT, atoms=[0]), True),
        (bl.Mixed(UNIT, atoms=[0]), TWICE, False),
        (LINE * LINE, UNIT * COUNTS, True),
        (LINE * LINE, UNIT, False),
        (LINE, UNIT * UNIT, False),
    ],
)
def test_includes(outer, inner, holds):
    assert includes(outer, inner) is holds


# -- showing, comparing, keeping -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("alphabet", "shown"),
    [
        (bl.Finite(3), "Finite(3)"),
        (ANSWERS, "Finite(['no', 'yes'])"),
        (bl.Finite([f"s{i}" for i in range(9)]), "Finite(['s0', 's1', 's2', 's3', ... 9 labels])"),
        (COUNTS, "Integers(0, None)"),
        (bl.Integers(), "Integers(None, None)"),
        (UNIT, "Interval(0, 1)"),
        (bl.Interval(0.1, None), "Interval(0.10000000000000001, None)"),
        (LINE, "Reals()"),
        (TWICE, "Mixed(Interval(0, 1), atoms=[0.0, 1.0])"),
        (UNIT * COUNTS, "Interval(0, 1) * Integers(0, None)"),
    ],
)
def test_reprs(alphabet, shown):
    assert repr(alphabet) == shown
    assert alphabet.kind in alphabet._repr_html_()
    again = pickle.loads(pickle.dumps(alphabet))
    assert again == alphabet and hash(again) == hash(alphabet)


def test_html_is_escaped():
    assert "<b>" not in bl.Finite(["<b>bold</b>"])._repr_html_()


def test_the_order_of_labels_matters_and_that_of_atoms_does_not():
    assert bl.Finite(["a", "b"]) != bl.Finite(["b", "a"])
    assert bl.Mixed(UNIT, atoms=[1, 0]) == TWICE
    assert bl.Interval(0, 1) == bl.Interval(0.0, 1.0) != bl.Interval(0, 2)


def test_numpy_does_not_take_an_alphabet_apart():
    for use in (lambda: np.arange(2) * UNIT, lambda: UNIT * 3, lambda: 3 * UNIT):
        with pytest.raises(TypeError):
            use()


def test_truth_values_are_shown_as_such():
    assert repr(bl.Finite([False, True])) == "Finite([False, True])"
    assert repr(bl.Finite(2)) == repr(bl.Finite([0, 1])) == "Finite(2)"
