"""Envelopes of tables of floats, against those of the same tables of fractions."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

import borel as bl

ROWS = [[F(1, 8), F(1, 8), F(1, 4), F(1, 2)], [F(1, 2), F(1, 4), F(1, 8), F(1, 8)]]

ROWS += [[F(1, 4), F(1, 2), F(1, 4), 0]]

PRIOR = [F(1, 8), F(3, 8), F(1, 2)]

"""Floats hold all of them: the envelope in Fractions is the truth."""


def joints():
    """The same joint in Fractions and in floats."""
    floats = np.array(ROWS, float)
    return (
        bl.pmf(PRIOR) * bl.Mechanism.from_matrix(ROWS),
        bl.pmf(np.array(PRIOR, float)) * bl.Mechanism.from_matrix(floats),
    )


@pytest.mark.few(5)
@pytest.mark.parametrize("of", ["pml", "pmc"])
@pytest.mark.parametrize("delta", [F(1, 100), F(1, 8), F(1, 3), F(3, 4), 1])
def test_a_level_of_floats_holds_that_of_fractions(of, delta):
    truth, bound = (bl.envelope(joint, of=of)(delta) for joint in joints())
    assert truth.status == "exact" or truth.width < 1e-12
    assert bound.status == "certified"
    assert bound.lower <= truth.lower and truth.upper <= bound.upper and bound.width < 1e-9


@pytest.mark.parametrize("of", ["pml", "pmc"])
@pytest.mark.parametrize("ratio", [F(11, 10), F(4, 3), F(2)])
def test_a_mass_of_floats_holds_that_of_fractions(of, ratio):
    truth, bound = (bl.envelope(joint, of=of).delta(ratio=ratio) for joint in joints())
    assert truth.status == "exact"
    assert bound.lower <= truth.lower and truth.upper <= bound.upper and bound.width < 1e-9
    at = bl.envelope(joints()[1], of=of).delta(math.log(ratio) - 1e-3)
    assert at.lower >= bound.lower - 1e-9


def test_outcomes_that_a_secret_makes_impossible_prove_an_infinite_level():
    bound = bl.envelope(joints()[1], of="pmc")(F(1, 10))  # the last outcome has 7/64
    assert bound.lower == math.inf and bound.status == "certified"


@pytest.mark.truths
def test_random_tables_hold_what_their_fractions_say():
    rng = np.random.default_rng(11)
    for _ in range(25):
        n, m = rng.integers(2, 5), rng.integers(2, 6)
        rows = rng.multinomial(64, rng.dirichlet(np.ones(m)), size=n)
        prior = [F(int(v) + 1, 64) for v in rng.multinomial(64 - n, np.ones(n) / n)]
        table = [[F(int(v), 64) for v in row] for row in rows]
        exact = bl.pmf(prior) * bl.Mechanism.from_matrix(table)
        floats = bl.pmf(np.array(prior, float)) * bl.Mechanism.from_matrix(rows / 64)
        for of in ("pml", "pmc"):
            for delta in (F(1, 10), F(1, 2)):
                truth, bound = (bl.envelope(joint, of=of)(delta) for joint in (exact, floats))
                assert bound.lower <= truth.upper and truth.lower <= bound.upper
                assert truth.status != "exact" or truth.upper <= bound.upper
                if bound.status != "certified":
                    continue
                _low, _high = truth.lower - 1e-6, truth.upper + 1e-6


def test_levels_beyond_the_floats():
    for of, mass in (("pml", 0.0), ("pmc", 7 / 64)):  # the last outcome is impossible for one
        found = bl.envelope(joints()[1], of=of).delta(ratio=10**320)
        assert found.lower <= mass <= found.upper and found.width < 1e-9


@pytest.mark.parametrize("of", ["pml", "pmc"])
def test_masses_below_the_normal_floats_are_left_open(of):
    rows = np.array([[0.375, 0.625], [1.0, 0.0]])
    envelope = bl.envelope(bl.pmf([1.7e-322, 1.0]) * bl.Mechanism.from_matrix(rows), of=of)
    for found in (envelope(0.3), envelope(1), envelope.delta(0.5)):
        assert found.status == "undecided" and "Fractions" in found.reason


def test_a_leakage_of_0_has_every_outcome_exactly():
    assert repr(bl.envelope(joints()[1]).delta(0.0)) == "Bound(1 probability, exact)"
