"""Entries of dependent databases against enumeration in Fractions, and Theorem 4.3."""

import math
from fractions import Fraction as F
from itertools import product

import mpmath as mp
import numpy as np
import pytest

import borel as bl


def random_table(rng, d, n, *, zeros=False):
    raw = rng.integers(0 if zeros else 1, 9, size=d**n)
    raw[0] += 1
    return [F(int(v), int(raw.sum())) for v in raw]


def random_kernel(rng, rows, m):
    raw = rng.integers(1, 15, size=(rows, m))
    return [[F(int(v), int(row.sum())) for v in row] for row in raw]


def suprema(law, K, d, n, i):
    """Return e^(sup PML) and e^(sup PMC) of entry i, database by database."""
    m = len(K[0])
    mass, joint = [F(0)] * d, [[F(0)] * m for _ in range(d)]
    for row, x in enumerate(product(range(d), repeat=n)):
        mass[x[i]] += law[row]
        for y in range(m):
            joint[x[i]][y] += law[row] * K[row][y]
    live = [x for x in range(d) if mass[x]]
    leak = cost = F(1)
    for y in range(m):
        own = sum(joint[x][y] for x in live)
        given = [joint[x][y] / mass[x] for x in live]
        leak, cost = max(leak, max(given) / own), max(cost, own / min(given))
    return leak, cost


@pytest.mark.parametrize(("d", "n"), [(2, 2), (2, 5), (3, 3)])
@pytest.mark.parametrize("zeros", [False, True])
def test_tables_against_enumeration(d, n, zeros):
    rng = np.random.default_rng(10 * d + n + zeros)
    law, K = random_table(rng, d, n, zeros=zeros), random_kernel(rng, d**n, 3)
    D = bl.Finite(d)
    mech = bl.Mechanism.from_matrix(K, secret=D**n, outcome=bl.Finite(3))
    floats = bl.Mechanism.from_matrix(
        np.array(K, float).tolist(), secret=D**n, outcome=bl.Finite(3)
    )
    for i in range(n):
        leak, cost = suprema(law, K, d, n, i)
        one = bl.entry(bl.pmf(law, on=D**n) * mech, i)
        assert bl.pml(one).sup().ratio.lower == leak == bl.pml(one).sup().ratio.upper
        assert bl.pmc(one).sup().ratio.lower == cost == bl.pmc(one).sup().ratio.upper
        rounded = bl.entry(bl.pmf(np.array(law, float), on=D**n) * floats, i)
        for bound, truth in ((bl.pml(rounded).sup(), leak), (bl.pmc(rounded).sup(), cost)):
            with mp.workdps(30):
                value = mp.log(mp.mpf(truth.numerator) / truth.denominator)
                assert bound.lower <= value <= bound.upper
            assert bound.width < 1e-12


def test_an_entry_that_never_has_a_label():
    D = bl.Finite(2)
    mech = bl.Mechanism.from_matrix(
        [[F(1, 4), F(3, 4)], [F(1, 2), F(1, 2)], [F(1), F(0)], [F(0), F(1)]], secret=D**2
    )
    one = bl.entry(bl.pmf([F(1, 2), F(1, 2), 0, 0], on=D**2) * mech, 0)
    assert bl.pml(one).sup().upper == bl.pmc(one).sup().upper == bl.ldp(one).upper == 0


def test_independent_entries_are_those_of_iid():
    rng = np.random.default_rng(3)
    p, D, n = [F(1, 2), F(1, 3), F(1, 6)], bl.Finite(3), 3
    mech = bl.Mechanism.from_matrix(random_kernel(rng, 27, 4), secret=D**n)
    law = [math.prod(p[v] for v in x) for x in product(range(3), repeat=n)]
    table, known = bl.pmf(law, on=D**n) * mech, bl.iid(bl.pmf(p, on=D), n) * mech
    for i in range(n):
        for kind in (bl.pml, bl.pmc):
            ends = [kind(bl.entry(j, i)).sup().ratio for j in (table, known)]
            assert ends[0] == ends[1]


@pytest.mark.parametrize("n", [4, 10])
def test_copies_of_one_bit(n):
    """Theorem 4.3: each bit is answered with 1/n of the noise, and all of them are equal."""
    D, counts = bl.Finite(2), range(n + 1)
    alpha = F(9, 10)  # geometric noise: log(10/9)-DP
    weight = [[alpha ** abs(s - y) for y in counts] for s in counts]
    # both end outcomes take all beyond them
    for s in counts:
        weight[s] = [
            w * (F(1) / (1 + alpha) if y in (0, n) else (1 - alpha) / (1 + alpha))
            for y, w in zip(counts, weight[s], strict=True)
        ]
    rows = [weight[sum(x)] for x in product((0, 1), repeat=n)]
    mech = bl.Mechanism.from_matrix(rows, secret=D**n, outcome=bl.Finite(n + 1))
    law = [F(0)] * 2**n
    law[0], law[-1] = F(3, 4), F(1, 4)
    level = bl.differential_privacy(mech)
    assert level.ratio.upper == F(10, 9)
    sup = bl.pml(bl.entry(bl.pmf(law, on=D**n) * mech)).sup()
    # y = n: 1 given ones, alpha^n given zeros
    truth = 1 / (F(3, 4) * alpha**n + F(1, 4))
    assert sup.ratio.lower == truth == sup.ratio.upper
    assert sup.lower > level.upper
    assert sup.upper < math.log(4)


def test_a_markov_chain_of_many_databases():
    """2^16 = 65,536 databases of a lazy chain: what the last bit tells of the first."""
    n, keep = 16, F(3, 4)
    x = np.arange(2**n)
    bits = (x[:, None] >> np.arange(n - 1, -1, -1)) & 1
    same = (bits[:, 1:] == bits[:, :-1]).sum(axis=1)
    law = 0.5 * 0.75**same * 0.25 ** (n - 1 - same)
    last = bits[:, -1]
    rows = np.where(last[:, None] == [0, 1], 0.875, 0.125)
    D = bl.Finite(2)
    mech = bl.Mechanism.from_matrix(rows, secret=D**n, outcome=D)
    sup = bl.pml(bl.entry(bl.pmf(law, on=D**n) * mech, 0)).sup()
    kept = (1 + (2 * keep - 1) ** (n - 1)) / 2  # that the last is the first
    given = kept * F(7, 8) + (1 - kept) * F(1, 8)
    with mp.workdps(30):
        truth = mp.log(2 * mp.mpf(given.numerator) / given.denominator)
        assert sup.lower <= truth <= sup.upper
    assert sup.width < 1e-9


def test_what_is_not_a_table():
    D = bl.Finite(2)
    with pytest.raises(bl.NotYet, match="not finite"):
        bl.entry(
            bl.pmf([F(1, 4)] * 4, on=D**2)
            * bl.Mechanism(
                lambda y, x: np.exp(-abs(y - x[0] - x[1])) / 2, secret=D**2, outcome=bl.Reals()
            )
        )
    table = bl.pmf([F(1, 4)] * 4, on=D**2) * bl.Mechanism.from_matrix([[1]] * 4, secret=D**2)
    with pytest.raises(bl.InvalidInput, match="0 to 1"):
        bl.entry(table, 2)
