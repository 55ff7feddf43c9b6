"""Tables of floats that are summed in blocks: figures against integers, with zero tolerance.

A law is integers that sum to 2**BITS; borel gets the nearest floats. Logarithms are Arb's.
"""

import math
from fractions import Fraction as F

import flint
import numpy as np
import oracles as o
import pytest

import borel as bl
from borel.numerics.intervals import rounding
from borel.probability.arrays import row_miss

BITS = 1140  # subnormal floats too are rounded from longer numbers
ONE = 1 << BITS
SECRETS, OUTCOMES = 300, 230
STYLES = ("plain", "zeros", "tiny", "subnormal")


def law(rng, n, style):
    """Return integers that sum to 2**BITS, with digits beyond those of floats."""
    drawn = {
        "plain": rng.random(n),
        "zeros": np.where(rng.random(n) < 0.6, 0.0, rng.random(n)),
        "tiny": 10.0 ** rng.uniform(-300, 0, n),
        "subnormal": np.where(rng.random(n) < 0.5, rng.random(n), rng.random(n) * 1e-309),
    }[style]
    drawn[0] += 0.01
    whole = [(a << BITS) // b for a, b in map(float.as_integer_ratio, drawn.tolist())]
    total = sum(whole)
    whole = [v * ONE // total for v in whole]
    largest = whole.index(max(whole))
    whole[largest] += ONE - sum(whole)
    return whole


def table(style, seed=0, n=SECRETS, m=OUTCOMES):
    """Return prior, rows and law of Y as integers, the last over 2**(2 BITS)."""
    rng = np.random.default_rng([seed, STYLES.index(style)])
    p, rows = law(rng, n, style), np.array([law(rng, m, style) for _ in range(n)], dtype=object)
    if style != "plain":  # a column of zeros, and one that is rare
        rows[:, 0] += rows[:, 1]
        rows[:, 1] = 0
        rare = np.array([(1 + x % 5) << (BITS - 1072) for x in range(n)], dtype=object)
        rows[:, 0] += rows[:, 2] - rare
        rows[:, 2] = rare
    return p, rows, np.array(p, dtype=object) @ rows


def joint_of(p, rows):
    floats = [[v / ONE for v in row] for row in (p, *rows.tolist())]
    return bl.pmf(floats[0]) * bl.Mechanism.from_matrix(np.array(floats[1:]))


def information(p, rows, law):
    """Return mutual information, H(Y) - H(Y|X), by logarithms of integers."""
    entropy = lambda law: -sum((flint.arb(v) * flint.arb(v).log() for v in law if v), flint.arb(0))  # noqa: E731
    given = sum(
        (flint.arb(a) * entropy(r) for a, r in zip(p, rows, strict=True) if a), flint.arb(0)
    )
    # H of integers v with sum s is this over s, plus log s, here of 2**(2 BITS) and 2**BITS
    return (entropy(law) - given) / ONE**2 + flint.arb(ONE).log()


def check(joint, p, rows, law):
    charged = np.array([v > 0 for v in p])
    top, bottom = rows[charged].max(axis=0), rows[charged].min(axis=0)
    ys = np.arange(len(law))
    ends = {}
    for of, numbers, others in (("pml", top * ONE, law), ("pmc", law, bottom * ONE)):
        leakage = getattr(bl, of)(joint)
        found = leakage(ys)
        ratios = [
            F(1) if not q else F(a, b) if b else o.INF
            for a, b, q in zip(numbers.tolist(), others.tolist(), law.tolist(), strict=True)
        ]
        for low, high, ratio in zip(found.lower.values, found.upper.values, ratios, strict=True):
            if ratio == o.INF:
                assert low == high == o.INF
            else:
                assert o.between(float(low), lambda r=ratio: o.log(r), float(high)), (of, ratio)
        assert o.encloses(leakage.sup(), max(ratios)), of
        assert {*found.status.values} == {"exact"}
        ends[of] = found
    live = top > 0
    pairs = zip(top[live].tolist(), bottom[live].tolist(), strict=True)
    assert o.encloses(bl.ldp(joint), max(F(a, b) if b else o.INF for a, b in pairs))
    found = bl.maximal_leakage(joint)
    assert o.encloses(found, F(sum(top.tolist()), ONE))
    assert o.ratio_encloses(found, F(sum(top.tolist()), ONE))
    found = bl.mutual_information(joint)
    assert o.between(found.lower, lambda: information(p, rows.tolist(), law.tolist()), found.upper)
    assert found.status == "exact"
    return ends, found


@pytest.mark.parametrize("style", ["plain", "subnormal"])
def test_a_table_of_hundreds(style):
    p, rows, law = table(style)
    ends, found = check(joint_of(p, rows), p, rows, law)
    assert found.width <= 1e-13 and found.width <= 1e-12 * found.upper
    if style == "plain":
        for data in ends.values():
            assert float((data.upper - data.lower).max()) <= 3e-14


@pytest.mark.parametrize("style", STYLES)
def test_any_table_in_blocks(style, monkeypatch):
    monkeypatch.setattr(rounding, "LARGE", 64)
    for seed in range(6):
        p, rows, law = table(style, seed, 20 + 9 * seed, 4 + 5 * seed)
        check(joint_of(p, rows), p, rows, law)


@pytest.mark.parametrize("sign", [-1, 1])
def test_information_covers_every_kernel_that_the_floats_stand_for(sign):
    """Half of the time the secret is told, else nothing: the information is log(n) / 2."""
    n = 200
    rows = np.hstack([np.eye(n), np.ones((n, 1))]).astype(np.float32) / np.float32(2)
    found = bl.mutual_information(bl.uniform(bl.Finite(n)) * bl.Mechanism.from_matrix(rows))
    half = (1 + sign * F(1, 2**24)) / 2  # what float32 rounds to 1/2, nearly
    assert o.between(found.lower, lambda: o.ball(half) * o.log(F(n)), found.upper)
    assert found.width <= 2e-6


@pytest.mark.parametrize("n", [3, 11, 41, 59])
def test_independent_outcomes_tell_nothing_whatever_the_prior_is_rounded_by(n):
    prior = np.full(n, 1 / n, dtype=np.float32)  # its sum is above 1, or below
    rows = np.array([[0.25, 0.75]] * n)
    found = bl.mutual_information(bl.pmf(prior) * bl.Mechanism.from_matrix(rows))
    assert found.lower == 0 <= found.upper <= 1e-9


def test_rows_of_a_large_table_miss_1_by_no_more_than_is_said():
    rows = np.random.default_rng(5).dirichlet(np.ones(OUTCOMES), size=SECRETS)
    found = row_miss(rows)
    for row, said in zip(rows.tolist(), found.tolist(), strict=True):
        total = sum(map(F, row))
        assert abs(total - 1) <= F(said) * min(total, F(1)) and said <= abs(total - 1) + 1e-15


def test_the_information_of_what_hardly_depends_on_the_secret():
    """Rounding counts through its square: 1e-12 of information is not lost in that of n entries."""
    rows = np.full((500, 200), 1 / 200)
    rows[:, 0] += 1e-7 * np.where(np.arange(500) % 2, 1, -1)
    rows[:, 1] = 2 / 200 - rows[:, 0]
    found = bl.mutual_information(bl.uniform(bl.Finite(500)) * bl.Mechanism.from_matrix(rows))
    truth = 2e-5**2 / 2 * 2 / 200
    assert found.lower <= truth * (1 + 1e-9) and truth * (1 - 1e-9) <= found.upper
    assert found.width < 1e-14 and math.isfinite(found.upper)
