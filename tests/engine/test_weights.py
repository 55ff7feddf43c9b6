"""Kernels that are given up to a factor of the secret: weights, divided by their total over y."""

import math
import pickle
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest

import borel as bl
from borel.engine.problem.kernel_normalisation import statement
from borel.errors import InvalidInput, NotYet

UNIT, REALS = bl.Interval(0, 1), bl.Reals()


def mechanism(weight, secret=UNIT, outcome=UNIT, **more):
    return bl.Mechanism(weight, secret=secret, outcome=outcome, normalise=True, **more)


WEIGHTS = {  # w(y, x), the outcomes, log w by mpmath, kinks, how near to 1
    "exponential mechanism, distance": (
        lambda y, x: np.exp(-abs(y - x)), UNIT, lambda y, x: -abs(y - x), lambda x: [x]),
    "exponential mechanism, square": (
        lambda y, x: np.exp(-2 * (y - x) ** 2), UNIT, lambda y, x: -2 * (y - x) ** 2,
        lambda x: [x]),
    "narrow": (
        lambda y, x: np.exp(-50 * (y - x) ** 2), UNIT, lambda y, x: -50 * (y - x) ** 2,
        lambda x: [x]),
    "beta": (
        lambda y, x: y ** (2 * x) * (1 - y), UNIT, lambda y, x: 2 * x * mp.log(y) + mp.log(1 - y),
        lambda x: []),
    "on the line": (
        lambda y, x: np.exp(-np.sqrt(1 + (y - x) ** 2)), REALS,
        lambda y, x: -mp.sqrt(1 + (y - x) ** 2), lambda x: [x]),
}  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.cases("slow", "beta", "narrow")
@pytest.mark.parametrize("name", WEIGHTS)
def test_a_weight_is_divided_by_its_integral(name):
    weight, outcome, log_weight, kinks = WEIGHTS[name]
    made = mechanism(weight, outcome=outcome)
    found = statement(made, bl.uniform(UNIT))
    assert found.status in ("proved", "within") and found.miss < 1e-12
    ends = (0, 1) if outcome == UNIT else (-mp.inf, mp.inf)
    for x in (0.01, 0.3, 0.77):
        with mp.workdps(30):
            total = mp.quad(lambda y, x=x: mp.exp(log_weight(y, x)), [ends[0], *kinks(x), ends[1]])
            truth = float(mp.exp(log_weight(mp.mpf(0.4), mp.mpf(x))) / total)
        assert abs(made.pdf(0.4, x) / truth - 1) < 1e-12
    bound = bl.pml(bl.uniform(UNIT) * made)(0.4)
    assert bound.status == "certified"


def test_pml_of_the_exponential_mechanism():
    """f(y|x) = e^-|y-x| / (2 - e^-x - e^(x-1)), at y = 0.25 under two secrets."""
    made = mechanism(lambda y, x: np.exp(-abs(y - x)))
    prior = bl.pmf([F(1, 2), F(1, 2)], on=bl.Finite([0.25, 0.5]))
    found = bl.pml(prior * made)(0.25)
    with mp.workdps(30):
        f = [
            mp.exp(-abs(mp.mpf(0.25) - x)) / (2 - mp.exp(-x) - mp.exp(x - 1))
            for x in (mp.mpf(0.25), mp.mpf(0.5))
        ]
        truth = mp.log(max(f) / (sum(f) / 2))
    assert found.status == "certified" and found.lower <= truth <= found.upper
    assert found.width < 1e-8


def test_weights_of_atoms():
    made = mechanism(
        lambda y, x: 2 + 0 * y + 0 * x,
        outcome=bl.Mixed(UNIT, atoms=[0.0]),
        masses={0.0: lambda x: x},
    )
    assert statement(made, bl.uniform(UNIT)).status in ("proved", "within")
    assert made.pdf(0.5, 1.0) == pytest.approx(2 / 3) and made.pdf(0.0, 1.0) == pytest.approx(1 / 3)


def test_noise_of_unknown_size_on_the_line():
    made = mechanism(lambda y, x: np.exp(-abs(y - x)), secret=REALS, outcome=REALS)
    assert (
        made.pdf(3.0, 3.0) == pytest.approx(0.5, rel=1e-15) and statement(made, bl.normal()).proved
    )


def test_weights_on_finitely_many_outcomes():
    made = mechanism(lambda y, x: 1 + y * x, outcome=bl.Finite(3))
    assert made.pdf(2, 0.5) == 2 / 4.5 and statement(made, bl.uniform(UNIT)).proved
    table = mechanism(lambda y, x: 1 + y * x, secret=bl.Finite(2), outcome=bl.Finite(3))
    assert table.matrix.tolist() == [[1 / 3] * 3, [1 / 6, 2 / 6, 3 / 6]]
    assert pickle.loads(pickle.dumps(made)).pdf(2, 0.5) == 2 / 4.5


def test_rows_of_fractions_are_divided_exactly():
    made = bl.Mechanism.from_matrix([[F(1, 3), F(1)], [2, 6]], normalise=True)
    assert made.matrix.tolist() == [[F(1, 4), F(3, 4)]] * 2 and made.rational
    floats = bl.Mechanism.from_matrix([[0.1, 0.3], [2.0, 5.0]], normalise=True)
    assert 0 < floats.rounding < 1e-14


BAD = {
    "0 on some secrets": (
        lambda: mechanism(lambda y, x: np.where(x < 0.5, 0.0, 1.0) * (1 + y)),
        InvalidInput, ["positive and finite", "at x = 0."]),
    "an infinite integral": (
        lambda: mechanism(lambda y, x: 1 / (1 + abs(y - x)), outcome=REALS),
        NotYet, ["it may be infinite"]),
    "a row of zeros": (
        lambda: bl.Mechanism.from_matrix([[0, 0], [1, 2]], normalise=True),
        InvalidInput, ["positive, finite sum", "a sum of 0", "secret 0"]),
    "a negative weight": (
        lambda: bl.Mechanism.from_matrix([[1, 2], [1.5, -1]], normalise=True),
        InvalidInput, ["weights >= 0", "-1", "secret 1"]),
    "not traced": (
        lambda: mechanism(lambda y, x: np.vectorize(math.exp)(-abs(y - x))),
        NotYet, ["could not be traced"]),
}  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("name", BAD)
def test_bad_weights(name):
    make, error, words = BAD[name]
    with pytest.raises(error) as found:
        make()
    message, at = str(found.value), 0
    for word in words:
        at = message.index(word, at)


def test_what_misses_1_is_told_that_it_can_be_divided():
    made = bl.Mechanism(lambda y, x: (1 + 1e-8) * (1 + x * (2 * y - 1)), secret=UNIT, outcome=UNIT)
    with pytest.raises(InvalidInput, match="normalise=True"):
        statement(made, bl.uniform(UNIT))
