"""Relative frequencies of a database against enumeration of all databases, in Fractions."""

import math
from collections import Counter
from fractions import Fraction as F
from itertools import product

import mpmath
import numpy as np
import pytest

import borel as bl

LABELS = [(1, 1), (1, 0), (0, 1), (0, 0)]  # smokes, is ill
LAWS = {
    "all": [F(1, 4), F(1, 4), F(1, 20), F(9, 20)],
    "no healthy smoker": [F(1, 3), F(0), F(1, 3), F(1, 3)],
    "all smoke": [F(1, 7), F(6, 7), F(0), F(0)],
}
ILL, SMOKES = (lambda d: d[1] == 1), (lambda d: d[0] == 1)


def half(share):
    return "nobody" if share == "0/0" else int(share >= F(1, 2))


def enumerated(p, n, given, to):
    """P(y | d) of the first entry, and P(y): every database in turn."""
    rows, whole = {d: Counter() for d in LABELS}, Counter()
    for x in product(range(4), repeat=n):
        people = [LABELS[j] for j in x]
        asked = [d for d in people if given is None or given(d)]
        share = F(sum(map(ILL, asked)), len(asked)) if asked else "0/0"
        y = to(share) if to else share
        rows[people[0]][y] += math.prod((p[j] for j in x[1:]), start=F(1))
        whole[y] += math.prod(p[j] for j in x)
    return rows, whole


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("given", [None, SMOKES], ids=["of all", "of smokers"])
@pytest.mark.parametrize("to", [None, half], ids=["exactly", "quantised"])
def test_the_law_and_the_leakage_are_those_of_all_databases(name, given, to):
    p = LAWS[name]
    prior = bl.pmf(p, on=bl.Finite(LABELS))
    for n in (1, 2, 4):
        joint = bl.relative_frequency(bl.iid(prior, n), ILL, given=given, to=to)
        rows, whole = enumerated(p, n, given, to)
        ys = joint.outcome.labels
        assert set(ys) == {y for own in rows.values() for y in own if own[y]}
        assert [joint.marginal.probabilities[j] for j in range(len(ys))] == [whole[y] for y in ys]
        for d, row in zip(LABELS, joint.mechanism.matrix, strict=True):
            assert list(row) == [rows[d][y] for y in ys]
        for y in ys:
            if whole[y]:
                most = max(rows[d][y] for d, q in zip(LABELS, p, strict=True) if q) / whole[y]
                assert bl.pml(joint)(y).ratio == (most, most)
        assert bl.min_entropy(joint.marginal).ratio.lower == 1 / max(whole.values())


def test_entropy_goes_to_zero_and_an_entry_keeps_its_own():
    """Example 3.2: p_s = 1/2 of the smokers, of 300 people; is it more than 1/4?"""
    prior = bl.pmf(LAWS["all"], on=bl.Finite(LABELS))
    found = []
    for n in (4, 40, 120):
        joint = bl.relative_frequency(
            bl.iid(prior, n), ILL, given=SMOKES, to=lambda s: int(s != "0/0" and s > F(1, 4))
        )
        found.append((bl.min_entropy(joint.marginal).upper, bl.pml(joint)(1).upper))
    assert found[0] > found[1] > found[2] and found[2][0] < 1e-3 and found[2][1] < 1e-3
    assert bl.min_entropy(prior, lambda d: d[1]).lower > 0.3


def test_floats_enclose_the_fractions_that_they_round():
    p, n = LAWS["all"], 30
    exact = bl.relative_frequency(bl.iid(bl.pmf(p, on=bl.Finite(LABELS)), n), ILL, to=half)
    floats = bl.pmf([float(q) for q in p], on=bl.Finite(LABELS))
    rounded = bl.relative_frequency(bl.iid(floats, n), ILL, to=half)
    for y in exact.outcome.labels:
        a, b = bl.pml(exact)(y), bl.pml(rounded)(y)
        assert b.lower <= a.lower and a.upper <= b.upper and b.width < 1e-12


@pytest.mark.parametrize("n", [180, 215, 260])
def test_weights_that_no_float_holds_count(n):
    """With masses of a small common denominator 1 / (a! b! c!) is far below the least float."""
    p, tenths = [F(1, 4), F(1, 4), F(1, 2)], lambda s: -1 if s == "0/0" else int(10 * s)
    exact, rounded = (
        bl.relative_frequency(
            bl.iid(bl.pmf(law, on=bl.Finite(["a", "b", "c"])), n),
            lambda d: d == "a",
            given=lambda d: d != "c",
            to=tenths,
        )
        for law in (p, [float(q) for q in p])
    )
    for y in exact.outcome.labels:
        a, b = bl.pml(exact)(y), bl.pml(rounded)(y)
        assert b.lower <= a.upper and a.lower <= b.upper and b.width < 1e-11
        masses = (
            joint.marginal.probabilities[y == np.array(joint.outcome.labels)][0]
            for joint in (exact, rounded)
        )
        truth, found = map(F, masses)
        assert abs(found - truth) <= truth * n * F(1, 2**45)


def test_wrong_frequencies_are_refused():
    coins = bl.iid(bl.pmf([F(1, 2)] * 2), 3)
    for args, how, match in (
        ((coins.law, ILL), {}, "bl.iid"),
        ((coins, 1), {}, "predicate=<a function>"),
        ((coins, bool), {"given": 0}, "given=<a function>"),
        ((coins, bool), {"to": lambda share: [share]}, "to=<a function"),
    ):
        with pytest.raises(bl.InvalidInput, match=match):
            bl.relative_frequency(*args, **how)
    for database in (bl.iid(bl.pmf([F(1, 2)] * 2), 1001), bl.iid(bl.uniform(bl.Interval(0, 1)), 2)):
        with pytest.raises(bl.NotYet, match="frequencies"):
            bl.relative_frequency(database, bool)


@pytest.mark.cases("slow", "1000")
@pytest.mark.parametrize("n", [60, 1000])
def test_many_entries_in_floats(n):
    """Of the others a Binomial(n - 1, 1/4) smoke, m, of whom a Binomial(m, 1/5) are ill."""
    p = [0.05, 0.2, 0.3, 0.45]
    joint = bl.relative_frequency(
        bl.iid(bl.pmf(p, on=bl.Finite(LABELS)), n),
        ILL,
        given=SMOKES,
        to=lambda s: int(s != "0/0" and s > F(1, 5)),
    )
    with mpmath.workdps(40):
        q = [mpmath.mpf(v) for v in p]
        total = sum(q)
        smokes, ill = (q[0] + q[1]) / total, q[0] / (q[0] + q[1])
        column = joint.mechanism.matrix[:, joint.outcome.labels.index(1)]
        for found, label in zip(column.tolist(), LABELS[:3], strict=False):
            one, yes = label[0], label[0] and label[1]
            truth = mpmath.mpf(0)
            for m in range(n):
                # a + yes > (m + one) / 5
                least = (m + one) // 5 + 1 - yes
                if least <= m:
                    above = mpmath.betainc(least, m - least + 1, 0, ill, True) if least > 0 else 1
                    truth += (
                        mpmath.binomial(n - 1, m) * smokes**m * (1 - smokes) ** (n - 1 - m) * above
                    )
            assert abs(found - truth) <= joint.mechanism.rounding * truth
    assert joint.mechanism.rounding < 1e-12
