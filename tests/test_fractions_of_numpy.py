"""Fractions made of NumPy's integers, whose own arithmetic overflows without a word."""

from fractions import Fraction

import numpy as np
import pytest

import borel as bl

COUNTS = [[3001, 2001, 5003], [7001, 1009, 2017], [4001, 4007, 1013]]
WEIGHTS = [10007, 20011, 70001]


def parts(number):
    """Return a joint whose Fractions are made of one kind of integer."""
    counts = [[number(1009 * v + (i + 1) * (i == k)) for k, v in enumerate(row)]
              for i, row in enumerate(COUNTS)]  # fmt: skip
    kernel = [[Fraction(v, sum(row)) for v in row] for row in counts]
    weights = [number(v) for v in WEIGHTS]
    return kernel, [Fraction(v, sum(weights)) for v in weights]


def by_hand(kernel, prior):
    marginal = [sum(p * row[y] for p, row in zip(prior, kernel, strict=True)) for y in range(3)]
    apart = [p * abs(v - m) for p, row in zip(prior, kernel, strict=True)
             for v, m in zip(row, marginal, strict=True)]  # fmt: skip
    return sum(apart) / 2, [max(row[y] for row in kernel) / marginal[y] for y in range(3)]


@pytest.mark.parametrize("number", [int, np.int64])
def test_they_are_the_numbers_that_they_say(number):
    kernel, prior = parts(number)
    joint = bl.pmf(prior) * bl.Mechanism.from_matrix(kernel)
    apart, ratios = by_hand(*parts(int))
    assert bl.total_variation(joint).lower <= apart <= bl.total_variation(joint).upper
    for y, ratio in enumerate(ratios):
        assert bl.pml(joint)(y).ratio == (ratio, ratio)


@pytest.mark.parametrize("number", [int, np.int64])
def test_in_a_traced_density_too(number):
    third = Fraction(number(10**9), number(3 * 10**9 + 1))
    density = bl.Measure(lambda x: (1 - third / 2) + third * x, on=bl.Interval(0, 1))
    assert (
        density.density.graph.to_json()
        == bl.Measure(
            lambda x: (
                (1 - Fraction(10**9, 2 * (3 * 10**9 + 1))) + Fraction(10**9, 3 * 10**9 + 1) * x
            ),
            on=bl.Interval(0, 1),
        ).density.graph.to_json()
    )
