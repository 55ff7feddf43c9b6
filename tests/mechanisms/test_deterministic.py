"""Deterministic mechanisms: leakage is minus the logarithm of a probability."""

import math
from fractions import Fraction as F

import pytest

import borel as bl

function = bl.mechanisms.function


def test_a_finite_secret_makes_a_matrix_of_fractions():
    mech = function(lambda x: x[0], secret=["ab", "ba", "ac"])
    assert mech.outcome.labels == ("a", "b") and mech.rational
    assert mech.matrix.tolist() == [[1, 0], [0, 1], [1, 0]]
    joint = bl.pmf([F(1, 2), F(1, 8), F(3, 8)], on=mech.secret) * mech
    assert [bl.pml(joint)(y).ratio.upper for y in "ab"] == [F(8, 7), 8]
    assert bl.pmc(joint).sup().lower == bl.ldp(joint).lower == math.inf
    assert bl.maximal_leakage(joint).ratio == (2, 2)
    bl.testing.check_mechanism(mech, joint.prior)


def test_outcomes_may_be_given_and_may_have_no_mass():
    mech = function(lambda x: x > 1, secret=bl.Finite(3), outcome=[False, True, "other"])
    assert mech.matrix.tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert mech.sample([0, 2, 1], rng=0).tolist() == [False, True, False]
    with pytest.raises(bl.OutsideAlphabet, match=r"g\(x\)"):
        function(lambda x: x, secret=bl.Finite(3), outcome=[0, 1])


def test_a_count_of_a_product():
    bits = bl.Finite(2) ** 3
    mech = function(sum, secret=bits)
    joint = bl.pmf([F(1, 8)] * 8, on=bits) * mech
    assert [bl.pml(joint)(y).ratio.upper for y in range(4)] == [8, F(8, 3), F(8, 3), 8]


def test_a_threshold_of_a_continuous_secret():
    mech = function(lambda x: x > 0.75, secret=bl.Interval(0, 1), outcome=[0, 1])
    joint = bl.uniform(bl.Interval(0, 1)) * mech
    for y, p in ((0, 0.75), (1, 0.25)):
        found = bl.pml(joint)(y)
        assert found.lower <= -math.log(p) <= found.upper and found.status == "certified"
    assert bl.pmc(joint)(1).lower == math.inf


def test_a_function_of_counts():
    mech = function(lambda x: x // 2, secret=bl.Integers(0, None), outcome=bl.Integers(0, None))
    joint = bl.poisson(mu=1.0) * mech
    truth = -math.log(math.exp(-1) * (1 / 2 + 1 / 6))  # of 2 and 3
    found = bl.pml(joint)(1)
    assert found.lower - 1e-15 <= truth <= found.upper + 1e-15 and found.width < 1e-9


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: function(3, secret=[0, 1]), bl.InvalidInput, "a function of the secret"),
        (lambda: function(lambda x: [x], secret=[0, 1]), bl.InvalidInput, "values that are labels"),
        (
            lambda: function(lambda x: x, secret=bl.Reals()),
            bl.InvalidInput,
            "outcome=<an alphabet>",
        ),
        (
            lambda: function(lambda x: x, secret=bl.Reals(), outcome=bl.Reals()),
            bl.NotYet,
            "no density",
        ),
        (
            lambda: function(lambda x: x, secret=[0, 1], outcome=bl.Integers()),
            bl.NotYet,
            "leave outcome out",
        ),
    ],
)
def test_bad_arguments_are_named(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)
