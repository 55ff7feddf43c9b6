"""Exact constants: decimals and quotients as Fractions, floats refused."""

import math
from decimal import Decimal
from fractions import Fraction as F

import numpy as np
import pytest

import borel as bl


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", F(1, 10)),
        ("1/3", F(1, 3)),
        ("2.5e-3", F(1, 400)),
        (" -7 ", F(-7)),
        (3, F(3)),
        (F(2, 7), F(2, 7)),
        (Decimal("0.1"), F(1, 10)),
    ],
)
def test_const_is_exact(text, value):
    assert bl.const(text) == value and type(bl.const(text)) is F


@pytest.mark.parametrize(
    "wrong",
    [
        0.1,
        np.float64(0.1),
        np.float32(0.1),
        math.nan,
        "x",
        "",
        "1/0",
        "inf",
        "nan",
        None,
        1j,
        ["1"],
    ],
)
def test_what_is_no_exact_number_is_refused(wrong):
    with pytest.raises(bl.InvalidInput, match=r'bl.const: expected a string such as "0.1", got'):
        bl.const(wrong)


def test_constants_make_exact_laws():
    tenth = bl.const("0.1")
    prior = bl.pmf([tenth, 1 - tenth])
    assert prior.rational
    joint = prior * bl.Mechanism.from_matrix([[1, 0], [0, 1]])
    assert bl.pml(joint).sup().ratio == (10, 10)


def test_pi_is_the_nearest_float():
    assert bl.pi == math.pi
