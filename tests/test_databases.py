"""Databases against enumeration in Fractions, and the theorems about them by optimisation."""

import math
from fractions import Fraction as F
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from scipy import optimize

import borel as bl


def random_matrix(rng, rows, columns):
    """A matrix of Fractions without zeros."""
    k = rng.integers(1, 20, size=(rows, columns))
    return [[F(int(v), int(row.sum())) for v in row] for row in k]


def log(ratio):
    return mp.log(mp.mpf(ratio.numerator) / ratio.denominator)


def entry_kernel(p, K, n, i):
    """f(y|d): every database in turn, the last entry fastest."""
    d, m = len(p), len(K[0])
    out = [[F(0)] * m for _ in range(d)]
    for row, x in enumerate(product(range(d), repeat=n)):
        weight = math.prod((p[v] for j, v in enumerate(x) if j != i), start=F(1))
        for y in range(m):
            out[x[i]][y] += weight * K[row][y]
    return out


@pytest.mark.parametrize(("d", "n"), [(2, 1), (2, 3), (3, 2), (3, 4)])
def test_entries_of_finite_mechanisms(d, n):
    rng = np.random.default_rng(d * 10 + n)
    p = [F(v, d * (d + 1) // 2) for v in range(1, d + 1)]
    K = random_matrix(rng, d**n, 3)
    D = bl.Finite([f"d{j}" for j in range(d)])
    database = bl.iid(bl.pmf(p, on=D), n) * bl.Mechanism.from_matrix(K, secret=D**n)
    floats = bl.iid(bl.pmf([float(v) for v in p], on=D), n) * bl.Mechanism.from_matrix(
        [[float(v) for v in row] for row in K], secret=D**n
    )
    weights = [math.prod(p[v] for v in x) for x in product(range(d), repeat=n)]
    law = [sum(w * row[y] for w, row in zip(weights, K, strict=True)) for y in range(3)]
    assert list(database.marginal.probabilities) == law
    for i in range(n):
        kernel = entry_kernel(p, K, n, i)
        one = bl.entry(database, i)
        assert [list(row) for row in one.mechanism.matrix] == kernel
        assert list(one.marginal.probabilities) == law
        about = bl.entry(floats, i)
        for y in range(3):
            column = [kernel[v][y] for v in range(d)]
            assert bl.pml(one)(y).ratio.lower == max(column) / law[y]
            assert bl.pmc(one)(y).ratio.lower == law[y] / min(column)
            found = bl.pml(about)(y)
            with mp.workdps(60):
                assert found.lower <= log(max(column) / law[y]) <= found.upper
            assert found.status == "exact" and found.width < 1e-13
        # an entry leaks no more than the database
        assert bl.pml(one).sup().lower <= bl.pml(database).sup().upper


def test_labels_as_tuples():
    """A mechanism whose secrets are a list of tuples, in another order than D**2."""
    p = [F(1, 3), F(2, 3)]
    K = {x: [F(1 + sum(x), 4), F(3 - sum(x), 4)] for x in product((0, 1), repeat=2)}
    order = [(1, 1), (0, 1), (1, 0), (0, 0)]
    mech = bl.Mechanism.from_matrix([K[x] for x in order], secret=bl.Finite(order))
    one = bl.entry(bl.iid(bl.pmf(p), 2) * mech)
    assert [list(r) for r in one.mechanism.matrix] == entry_kernel(p, list(K.values()), 2, 0)


def test_a_density_on_small_databases():
    """Gaussian noise on the sum of two entries: the mixture, and a conditional enclosure."""
    D = bl.Finite([0, 1, 2])
    p = [F(1, 2), F(1, 4), F(1, 4)]
    mech = bl.Mechanism(
        lambda y, x: np.exp(-((y - x[0] - x[1]) ** 2) / 2) / np.sqrt(2 * np.pi),
        secret=D**2,
        outcome=bl.Reals(),
    )
    one = bl.entry(bl.iid(bl.pmf(p, on=D), 2) * mech)
    with mp.workdps(40):
        for y in (-1.0, 0.7, 3.2):
            f = [
                sum(
                    mp.mpf(w.numerator) / w.denominator * mp.exp(-((mp.mpf(y) - d - e) ** 2) / 2)
                    for e, w in enumerate(p)
                )
                for d in range(3)
            ]
            law = sum(mp.mpf(w.numerator) / w.denominator * v for w, v in zip(p, f, strict=True))
            found = bl.pml(one)(y)
            assert found.status == "conditional" and found.width < 1e-7
            assert found.lower <= mp.log(max(f) / law) <= found.upper


@pytest.mark.parametrize("p", [F(3, 10), F(1, 2), 0.3])
def test_counts_of_a_deterministic_query(p):
    """Example 3.11: are more than m of n entries 1? The binomial tail, exactly."""
    n, m = 50, 12
    exact = F(str(p)) if isinstance(p, float) else p
    answer = [[F(int(s <= m)), F(int(s > m))] for s in range(n + 1)]
    prior = bl.pmf([1 - p, p]) if isinstance(p, F) else bl.pmf([0.7, 0.3])
    database = bl.iid(prior, n) * bl.Mechanism.from_matrix(answer, secret=bl.Integers(0, n))
    tail = 1 - sum(math.comb(n, k) * exact**k * (1 - exact) ** (n - k) for k in range(m + 1))
    found = bl.pml(database)(1)
    with mp.workdps(60):
        truth = -log(tail)
        assert found.lower <= truth <= found.upper and found.width < 1e-12
        # the Chernoff bound that Figure 1 plots
        q, r = mp.mpf(m) / n, mp.mpf(exact.numerator) / exact.denominator
        divergence = q * mp.log(q / r) + (1 - q) * mp.log((1 - q) / (1 - r))
        assert found.upper <= -mp.log(1 - mp.exp(-n * divergence))
        # one entry leaks less: P(Bin(n - 1, p) >= m) / P(Bin(n, p) > m)
        given = 1 - sum(
            math.comb(n - 1, k) * exact**k * (1 - exact) ** (n - 1 - k) for k in range(m)
        )
        one = bl.pml(bl.entry(database))(1)
        assert one.lower <= log(given / tail) <= one.upper <= found.lower + 1e-12


def test_example_3_11_at_the_size_of_figure_1():
    """n = 2000, m/n = 0.27, p = 0.3: bound 0.0121, exact 0.0017, both far below 0.36."""
    n, m = 2000, 540
    answer = [[F(int(s <= m)), F(int(s > m))] for s in range(n + 1)]
    query = bl.Mechanism.from_matrix(answer, secret=bl.Integers(0, n))
    found = bl.pml(bl.iid(bl.pmf([F(7, 10), F(3, 10)]), n) * query)(1)
    with mp.workdps(60):
        tail = mp.betainc(m + 1, n - m, 0, mp.mpf(3) / 10, regularized=True)
        assert found.lower <= -mp.log(tail) <= found.upper and found.width < 1e-15
    q, p = 0.27, 0.3
    divergence = q * math.log(q / p) + (1 - q) * math.log((1 - q) / (1 - p))
    chernoff = -math.log1p(-math.exp(-n * divergence))
    assert found.upper < chernoff < 0.36 < -math.log(0.69)


# -- theorems -------------------------------------------------------------------------------------


def product_prior(theta):
    """A law of bits from log-odds."""
    return 1 / (1 + np.exp(-np.asarray(theta)))


def entry_leakage(P, K, y, i):
    """PML of entry i at y under a product law with P(D_j = 1) = P[j], in floats."""
    n = len(P)
    f = np.zeros(2)
    for row, x in enumerate(product((0, 1), repeat=n)):
        w = math.prod(P[j] if v else 1 - P[j] for j, v in enumerate(x) if j != i)
        f[x[i]] += w * K[row][y]
    return math.log(max(f) / ((1 - P[i]) * f[0] + P[i] * f[1]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_theorem_4_2(seed):
    """DP is the supremum of the PML of an entry over product priors: from below by search."""
    rng = np.random.default_rng(seed)
    n, m = 3, 2
    K = random_matrix(rng, 2**n, m)
    mech = bl.Mechanism.from_matrix(K, secret=bl.Finite(2) ** n)
    level = bl.differential_privacy(mech)
    # Definition 4.1, every pair of neighbours in Fractions
    rows = dict(zip(product((0, 1), repeat=n), K, strict=True))
    truth = max(
        rows[x][y] / rows[(*x[:i], 1 - x[i], *x[i + 1 :])][y]
        for x in rows
        for i in range(n)
        for y in range(m)
    )
    assert level.ratio.lower == level.ratio.upper == truth
    w = level.witness
    assert rows[w["x"]][w["y"]] / rows[w["x'"]][w["y"]] == truth
    assert sum(a != b for a, b in zip(w["x"], w["x'"], strict=True)) == 1
    floats = [[float(v) for v in row] for row in K]
    best = 0.0
    for i, y in product(range(n), range(m)):
        for start in product((-3.0, 3.0), repeat=n):
            found = optimize.minimize(
                lambda t, i=i, y=y: -entry_leakage(product_prior(t), floats, y, i),
                np.array(start),
                bounds=[(-20, 20)] * n,
            )
            assert -found.fun < level.upper + 1e-12  # rounding of the float objective
            best = max(best, -found.fun)
    assert best > level.lower - 1e-4  # but approached
    # given the other entries: PML of an entry with two secrets tends to the ratio
    assert all(
        bl.pml(bl.pmf([F(1, 10**9), 1 - F(1, 10**9)]) * bl.Mechanism.from_matrix(pair)).sup().upper
        < level.upper
        for x in rows
        for i in range(n)
        if x[i] == 0
        for pair in [[rows[x], rows[(*x[:i], 1, *x[i + 1 :])]]]
    )


@pytest.mark.parametrize("seed", [3, 4])
def test_theorem_4_5(seed):
    """Free-lunch privacy: LDP between databases, approached by the database and by one entry."""
    rng = np.random.default_rng(seed)
    n, m = 2, 3
    K = random_matrix(rng, 2**n, m)
    mech = bl.Mechanism.from_matrix(K, secret=bl.Finite(2) ** n)
    level = bl.free_lunch_privacy(mech)
    truth = max(F(K[a][y]) / K[b][y] for a in range(4) for b in range(4) for y in range(m))
    assert level.ratio.lower == truth
    assert bl.differential_privacy(mech).upper <= level.upper
    a, b, y = next(
        (a, b, y)
        for a in range(4)
        for b in range(4)
        for y in range(m)
        if K[a][y] / K[b][y] == truth
    )
    e = F(1, 10**8)
    rows = list(product((0, 1), repeat=n))
    # (2): a product law near the database b
    near = [[e, 1 - e] if bit else [1 - e, e] for bit in rows[b]]
    law = [near[0][x[0]] * near[1][x[1]] for x in rows]
    whole = bl.pml(bl.pmf(law, on=bl.Finite(2) ** n) * mech)(y)
    assert level.lower - 1e-5 < whole.lower and whole.upper < level.upper
    # (3): one entry, the other correlated with it as in the proof: D_1 tells a from b
    for i in range(n):
        if rows[a][i] == rows[b][i]:
            continue
        kernel = [None, None]
        for x in (a, b):
            given = [(1 - e) * (c == x) + e * (c != x) for c in range(4)]
            given = [v if rows[c][i] == rows[x][i] else F(0) for c, v in enumerate(given)]
            kernel[rows[x][i]] = [
                sum(v * K[c][j] for c, v in enumerate(given)) / sum(given) for j in range(m)
            ]
        prior = [e, 1 - e] if rows[b][i] else [1 - e, e]
        found = bl.pml(bl.pmf(prior) * bl.Mechanism.from_matrix(kernel))(y)
        assert level.lower - 1e-5 < found.lower and found.upper < level.upper


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-3), (1.0, 1e-6)])
def test_theorem_4_3(epsilon, delta):
    """n copies of one bit: a mechanism that is epsilon-DP leaks nearly epsilon_max."""
    p = F(1, 10)
    n = math.ceil(math.log(float((1 - p) / p) / delta) / epsilon) + 1
    ratio = F(math.exp(epsilon)) * (1 - F(1, 10**12))  # at most e^epsilon, exactly
    small = 6
    answer = lambda n: [[1 - v, v] for v in (ratio ** (s - n) / 2 for s in range(n + 1))]  # noqa: E731
    kernel = [answer(small)[sum(x)] for x in product((0, 1), repeat=small)]
    level = bl.differential_privacy(bl.Mechanism.from_matrix(kernel, secret=bl.Finite(2) ** small))
    assert bool(level <= epsilon)
    # the ratio of neighbours does not depend on n: for y = 1 it is e^epsilon, for y = 0 it is
    # largest between n and n - 1 ones
    rows = answer(n)
    assert all(rows[s + 1][1] / rows[s][1] == ratio for s in range(n))
    assert max(rows[s][0] / rows[s + 1][0] for s in range(n)) <= ratio
    copies = bl.Mechanism.from_matrix([rows[0], rows[n]])  # all entries equal the first
    found = bl.pml(bl.pmf([1 - p, p]) * copies)(1)
    assert math.log(10) - delta < found.lower <= found.upper < math.log(10)


def test_differential_privacy_of_counting_queries():
    for n, b, of, level in ((5, 0.05, "fraction", 4.0), (7, 2.0, "count", 0.5)):
        query = bl.mechanisms.counting_query(n=n, b=b, of=of)
        found = bl.differential_privacy(query)
        assert found.width < 1e-14 and abs(found.value - level) < 1e-14
        free = bl.free_lunch_privacy(query)
        assert abs(free.value - n * level) < 1e-12
        one = bl.entry(bl.iid(bl.pmf([F(1, 10**12), 1 - F(1, 10**12)]), n) * query)
        assert level - 1e-9 < bl.pml(one).sup().upper < found.upper


def test_differential_privacy_of_other_matrices():
    D = bl.Finite(2)
    certain = bl.Mechanism.from_matrix([[1, 0], [1, 0], [0, 1], [0, 1]], secret=D**2)
    found = bl.differential_privacy(certain)
    assert found.lower == math.inf and {found.witness["x"], found.witness["x'"]} in (
        {(0, 0), (1, 0)},
        {(0, 1), (1, 1)},
    )
    silent = bl.Mechanism.from_matrix([[F(1, 2)] * 2] * 4, secret=D**2)
    assert bl.differential_privacy(silent).upper == 0
    floats = bl.Mechanism.from_matrix([[0.7, 0.3], [0.3, 0.7], [0.3, 0.7], [0.7, 0.3]], secret=D**2)
    found = bl.differential_privacy(floats)
    assert found.lower <= math.log(7 / 3) <= found.upper and found.width < 1e-14
    with pytest.raises(bl.InvalidInput, match="databases"):
        bl.differential_privacy(bl.Mechanism.from_matrix([[0.5, 0.5]] * 2))
    with pytest.raises(bl.InvalidInput, match="mechanism"):
        bl.free_lunch_privacy(bl.pmf([0.25] * 4, on=D**2) * floats)


# -- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, -1, 2.0, "3", None, True])
def test_bad_sizes(n):
    with pytest.raises(bl.InvalidInput, match="n = an integer"):
        bl.iid(bl.pmf([0.5, 0.5]), n)


def test_bad_priors():
    for prior in (0.3, [0.5, 0.5], bl.normal(), bl.poisson(mu=1.0)):
        with pytest.raises(bl.InvalidInput, match="finite alphabet"):
            bl.iid(prior, 2)
    with pytest.raises(bl.InvalidInput):
        bl.pmf([1.5, -0.5])
    with pytest.raises(bl.NotYet, match="bernoulli"):
        bl.iid(bl.priors.tv_ball(bl.pmf([0.5, 0.5]), 0.1), 2)


def test_bad_mechanisms():
    coin = bl.iid(bl.pmf([0.5, 0.5]), 2)
    with pytest.raises(bl.InvalidInput, match="databases"):
        coin * bl.Mechanism.from_matrix([[0.5, 0.5]] * 2)
    with pytest.raises(bl.InvalidInput, match="databases"):
        coin * bl.Mechanism.from_matrix([[0.5, 0.5]] * 8, secret=bl.Finite(2) ** 3)
    with pytest.raises(TypeError):
        coin * 3
    with pytest.raises(TypeError, match="marginal"):
        coin @ bl.Mechanism.from_matrix([[0.5, 0.5]] * 4, secret=bl.Finite(2) ** 2)
    with pytest.raises(bl.NotYet, match="any n"):
        bl.iid(bl.pmf([0.5, 0.5]), 40) * bl.Mechanism.from_matrix([[1]] * 2)
    database = coin * bl.Mechanism.from_matrix([[0.5, 0.5]] * 4, secret=bl.Finite(2) ** 2)
    for i in (2, -1, 0.0, True):
        with pytest.raises(bl.InvalidInput, match="an entry"):
            bl.entry(database, i)
    with pytest.raises(bl.InvalidInput, match="iid"):
        bl.entry(bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.5, 0.5]] * 2))


def test_figures_that_need_the_list_say_so():
    database = bl.iid(bl.pmf([0.5, 0.5]), 10**6) * bl.mechanisms.counting_query(n=10**6, b=1e-6)
    assert bl.pml(database).sup().status == "exact"
    with pytest.raises(bl.NotYet, match="counts"):
        bl.mutual_information(database)


def test_a_law_known_in_float64_only_makes_no_exact_figure():
    table = {0: 0.75, 1: 0.25}
    opaque = bl.Measure(lambda x: np.vectorize(lambda t: table[int(t)])(x), bl.Finite(2))
    assert opaque.unproved
    with pytest.raises(bl.NotYet, match="float64 only"):
        bl.iid(opaque, 3)


def test_a_count_too_long_to_list_says_so_also_given_side_information():
    n = 10**6
    joint = bl.iid(bl.pmf([F(1, 2)] * 2), n) * bl.mechanisms.counting_query(n=n, b=1.0)
    with pytest.raises(bl.NotYet, match="a list of 1000001 counts"):
        bl.pml(joint, given=joint.mechanism)
