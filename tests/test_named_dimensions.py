"""Which axis is the secret's: the names of dimensions decide, and labels are matched."""

import math
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import borel as bl
from borel.errors import InvalidInput

HALF = F(1, 2)
# rows are secrets; each row sums to 1, and so do the columns: nothing but a name tells them apart
ROWS = np.array(
    [[F(5, 10), F(4, 10), F(1, 10)], [F(2, 10), F(1, 10), F(7, 10)], [F(3, 10), F(5, 10), F(2, 10)]]
)
PRIOR = [F(1, 5), F(2, 5), F(2, 5)]
# P(y) = (30, 32, 38) / 100: the ratios are 5/3, 25/16 and 35/19, of which the last is the largest
SUP = F(35, 19)
SECRETS, OUTCOMES = ["a", "b", "c"], ["u", "v", "w"]


def array(x, y, *, turned, labels=True):
    coords = {x: SECRETS, y: OUTCOMES} if labels else {}
    table = xr.DataArray(ROWS, dims=(x, y), coords=coords)
    return table.T if turned else table


def sup(mech):
    return bl.pml(bl.pmf(PRIOR, on=mech.secret) * mech).sup().ratio


def test_the_two_readings_differ():
    assert max(max(ROWS[:, j]) / sum(PRIOR * ROWS[:, j]) for j in range(3)) == SUP
    assert max(max(ROWS[j]) / sum(PRIOR * ROWS[j]) for j in range(3)) != SUP


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("x", "y"),
    [
        ("x", "y"),
        ("secret", "outcome"),
        ("X", "Y"),
        ("x", "outcome"),
        ("x", "answer"),
        ("illness", "y"),
        ("illness", "outcome"),
        ("secret", "dim_0"),
    ],
)
def test_understood_names(x, y, turned):
    for labels in (True, False):
        mech = bl.Mechanism.from_matrix(array(x, y, turned=turned, labels=labels))
        assert sup(mech) == (SUP, SUP)
        assert mech.secret == (bl.Finite(SECRETS) if labels else bl.Finite(3))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    "named",
    [
        {"secret": "illness"},
        {"outcome": "answer"},
        {"secret": "illness", "outcome": "answer"},
        {"secret": "illness", "outcome": OUTCOMES},
        {"secret": bl.Finite(SECRETS), "outcome": "answer"},
    ],
)
def test_names_that_are_given(named, turned):
    mech = bl.Mechanism.from_matrix(array("illness", "answer", turned=turned), **named)
    assert sup(mech) == (SUP, SUP)
    assert (mech.secret, mech.outcome) == (bl.Finite(SECRETS), bl.Finite(OUTCOMES))


def test_a_name_that_is_given_outdoes_one_that_is_understood():
    mech = bl.Mechanism.from_matrix(array("y", "x", turned=False), secret="y")
    assert sup(mech) == (SUP, SUP)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("x", "y"), [("illness", "answer"), ("x", "secret"), ("y", "outcome"), ("dim_0", "answer")]
)
def test_names_that_do_not_tell(x, y, turned):
    with pytest.raises(InvalidInput, match=r"names say which is the secret.*rename"):
        bl.Mechanism.from_matrix(array(x, y, turned=turned))


def test_unnamed_dimensions_are_rows_and_columns():
    table = xr.DataArray(ROWS)
    assert sup(bl.Mechanism.from_matrix(table)) == (SUP, SUP)
    with pytest.raises(InvalidInput, match="names say which"):  # somebody turned it
        bl.Mechanism.from_matrix(table.T)


@pytest.mark.parametrize(
    "named", [{"secret": "z"}, {"secret": "x", "outcome": "x"}, {"outcome": "z", "secret": "x"}]
)
def test_names_that_are_no_dimensions(named):
    with pytest.raises(InvalidInput, match=r"names of dimensions, of \['x', 'y'\]"):
        bl.Mechanism.from_matrix(array("x", "y", turned=False), **named)
    with pytest.raises(InvalidInput, match="a sequence of labels or a count"):
        bl.Mechanism.from_matrix(ROWS, secret="x")


def test_rows_of_a_frame_are_secrets():
    frame = pd.DataFrame(ROWS, index=SECRETS, columns=OUTCOMES)
    mech = bl.Mechanism.from_matrix(frame)
    assert sup(mech) == (SUP, SUP) and mech.outcome == bl.Finite(OUTCOMES)
    named = frame.rename_axis(index="illness", columns="answer")
    assert sup(bl.Mechanism.from_matrix(named)) == (SUP, SUP)
    assert sup(bl.Mechanism.from_matrix(named.T, secret="illness")) == (SUP, SUP)
    for x, y in (("x", "y"), ("secret", "outcome")):
        turned = frame.rename_axis(index=x, columns=y).T
        assert sup(bl.Mechanism.from_matrix(turned)) == (SUP, SUP)
    with pytest.raises(InvalidInput, match="names say which"):
        bl.Mechanism.from_matrix(frame.rename_axis(index="x", columns="secret"))


def test_the_pair_of_the_report():
    # rows .5 .5 / .25 .75 with the prior (1/5, 4/5), given by its transpose: the outcome 0 has
    # mass 3/10 and PML log 5/3, the outcome 1 has 7/10 and log 15/14
    K = xr.DataArray([[F(1, 2), F(1, 4)], [F(1, 2), F(3, 4)]], dims=("y", "x"))
    mech = bl.Mechanism.from_matrix(K)
    assert bl.pml(bl.pmf([F(1, 5), F(4, 5)]) * mech).sup().ratio == (F(5, 3), F(5, 3))


# -- other things that labelled arrays are made into -------------------------------------------


@pytest.mark.parametrize("name", ["x", "X", "secret"])
def test_the_dimension_of_the_secret_in_draws_of_priors(name):
    # both readings are laws
    p = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
    p = 0.5 * p + 0.5 * np.array([[0.2, 0.3, 0.5], [0.5, 0.2, 0.3], [0.3, 0.5, 0.2]])
    draws = xr.DataArray(p, dims=("draw", name), coords={name: SECRETS})
    for table in (draws, draws.T):
        assert np.array_equal(bl.pmf(table).probabilities, p)
        assert bl.pmf(table).on == bl.Finite(SECRETS)


@pytest.mark.parametrize("last", ["draw", "chain", "sample"])
def test_a_dimension_of_draws_is_no_secret(last):
    with pytest.raises(InvalidInput, match="one dimension that is the secret's"):
        bl.pmf(xr.DataArray(np.full((2, 2), 0.5), dims=("group", last)))
    assert bl.pmf(xr.DataArray(np.full((2, 2), 0.5), dims=(last, "group"))).batch == (2,)


def test_a_number_is_no_law():
    with pytest.raises(InvalidInput, match="at least one probability"):
        bl.pmf(xr.DataArray(0.5))


@pytest.mark.parametrize("turned", [False, True])
def test_tables_of_gains(turned):
    joint = bl.pmf([F(1, 5), F(4, 5)]) * bl.Mechanism.from_matrix(
        [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
    )
    # g(x, w): row x, column w. Before: w = 0 gives 1/5 * 2 = 2/5, w = 1 gives 1/5 * 1 + 4/5 * 1 = 1
    table = xr.DataArray([[2, 1], [0, 1]], dims=("x", "w"))
    asked = table.T if turned else table
    # given y = 0 the posterior is (3/7, 4/7): w = 0 gives 6/7, w = 1 gives 1, so nothing leaks
    found = bl.adversaries.g_leakage(joint, bl.adversaries.gain.table(asked), 0)
    assert found.ratio == (1, 1)
    with pytest.raises(InvalidInput, match="which is the secret, which the action"):
        bl.adversaries.gain.table(table.rename(x="a", w="b"))


def frames(values, labels):
    return [pd.Series(values, index=labels), xr.DataArray(values, dims="k", coords={"k": labels})]


def test_ends_of_a_box_are_matched_by_their_labels():
    on = bl.Finite(["no", "yes"])
    for lower in frames([F(3, 5), F(1, 10)], ["yes", "no"]):
        known = bl.priors.box(lower, 1, on=on)
        assert known.lower([0, 1]).lower <= 0.6 <= known.lower([0, 1]).upper  # P(yes) >= 3/5
        unnamed = bl.priors.box(lower, 1)
        assert unnamed.on == bl.Finite(["yes", "no"])
        with pytest.raises(InvalidInput, match="labels are matched"):
            bl.priors.box(lower, 1, on=bl.Finite(["u", "v"]))


def test_values_of_an_expectation_are_matched_by_their_labels():
    known = bl.priors.box([F(1, 10), F(3, 5)], 1, on=bl.Finite(["no", "yes"]))
    for f in frames([1, 0], ["yes", "no"]):
        assert known.lower(f).lower <= 0.6 <= known.lower(f).upper
    for f in frames([1, 0], ["si", "no"]):
        with pytest.raises(InvalidInput, match="labels are matched"):
            known.lower(f)


def test_columns_of_a_polytope_are_matched_by_their_labels():
    on = bl.Finite(["no", "yes"])
    A = pd.DataFrame([[1, 0]], columns=["yes", "no"])  # P(yes) <= 1/4
    known = bl.priors.polytope(A, [0.25], on=on)
    assert known.upper([0.0, 1.0]).lower <= 0.25 <= known.upper([0.0, 1.0]).upper
    assert math.isclose(known.upper([1.0, 0.0]).upper, 1.0)
    with pytest.raises(InvalidInput, match="labels are matched"):
        bl.priors.polytope(A.rename(columns={"yes": "si"}), [0.25], on=on)
