"""Exchangeable bits and Markov chains, against enumeration of all databases in Fractions."""

import itertools
import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import borel as bl

D = bl.Finite(2)
HALF = bl.pmf([F(1, 2), F(1, 2)])
MIX = bl.pmf([F(1, 5), F(4, 5)], on=bl.Finite([F(1, 4), F(2, 3)]))
T = [[F(3, 4), F(1, 4)], [F(1, 3), F(2, 3)]]
START = bl.pmf([F(2, 5), F(3, 5)])


def exchangeable_truth(n):
    return {
        x: sum(
            w * math.prod(p if b else 1 - p for b in x)
            for w, p in ((F(1, 5), F(1, 4)), (F(4, 5), F(2, 3)))
        )
        for x in itertools.product((0, 1), repeat=n)
    }


def beta_truth(n, a, b):
    """Polya's urn, draw by draw."""
    found = {}
    for x in itertools.product((0, 1), repeat=n):
        p, ones = F(1), 0
        for t, bit in enumerate(x):
            rate = (a + ones) / (a + b + t)
            p *= rate if bit else 1 - rate
            ones += bit
        found[x] = p
    return found


def chain_truth(n):
    found = {}
    for x in itertools.product((0, 1), repeat=n):
        p = (F(2, 5), F(3, 5))[x[0]]
        for a, b in itertools.pairwise(x):
            p *= T[a][b]
        found[x] = p
    return found


N = 6
DATABASES = {
    "mixture": (bl.exchangeable(MIX, N), exchangeable_truth(N)),
    "beta": (bl.exchangeable(bl.beta(alpha=2, beta=0.75), N), beta_truth(N, F(2), F(3, 4))),
    "uniform": (bl.exchangeable(bl.uniform(bl.Interval(0, 1)), N), beta_truth(N, F(1), F(1))),
    "chain": (bl.markov_chain(START, T, N), chain_truth(N)),
}
CASES = pytest.mark.parametrize("name", DATABASES)


def given(truth, i):
    """P(D_i = d), and P(S = s | D_i = d)."""
    mass = [sum(p for x, p in truth.items() if x[i] == d) for d in (0, 1)]
    law = [[F(0)] * (N + 1) for _ in (0, 1)]
    for x, p in truth.items():
        law[x[i]][sum(x)] += p / mass[x[i]]
    return mass, law


@CASES
def test_laws(name):
    database, truth = DATABASES[name]
    assert dict(zip(database.on.labels, database.law.probabilities, strict=True)) == truth
    for i in range(N):
        assert database.entry_law(i).probabilities.tolist() == given(truth, i)[0]
    counts = [sum(p for x, p in truth.items() if sum(x) == s) for s in range(N + 1)]
    assert database.count_law.probabilities.tolist() == counts


@CASES
@pytest.mark.parametrize("exact", [True, False])
def test_finite_mechanisms_about_the_count(name, exact):
    database, truth = DATABASES[name]
    rng = np.random.default_rng(3)
    raw = rng.integers(1, 12, size=(N + 1, 3))
    K = [[F(int(v), int(r.sum())) for v in r] for r in raw]
    rows = K if exact else np.array(K, float).tolist()
    mech = bl.Mechanism.from_matrix(rows, secret=bl.Integers(0, N))
    table = bl.Mechanism.from_matrix([rows[sum(x)] for x in truth], secret=D**N)
    for i in (0, 2, N - 1):
        mass, law = given(truth, i)
        seen = [[sum(p * k[y] for p, k in zip(w, K, strict=True)) for y in range(3)] for w in law]
        whole = [mass[0] * a + mass[1] * b for a, b in zip(*seen, strict=True)]
        leak = max(max(a, b) / f for a, b, f in zip(*seen, whole, strict=True))
        cost = max(f / min(a, b) for a, b, f in zip(*seen, whole, strict=True))
        for release in (mech, table):
            one = bl.entry(database * release, i)
            for found, value in ((bl.pml(one).sup(), leak), (bl.pmc(one).sup(), cost)):
                assert found.status == "exact"
                assert found.ratio.lower <= value <= found.ratio.upper
                assert found.width < 1e-12 and (not exact or found.ratio.lower == value)


def laplace_figures(mass, law, a, t):
    """e^PML, e^PMC and e^LDP at t, by mpmath."""
    seen = [
        mp.fsum(
            mp.mpf(p.numerator) / p.denominator * mp.exp(-a * abs(t - s)) for s, p in enumerate(w)
        )
        for w in law
    ]
    p = [mp.mpf(v.numerator) / v.denominator for v in mass]
    whole = p[0] * seen[0] + p[1] * seen[1]
    return mp.log(max(seen) / whole), mp.log(whole / min(seen)), mp.log(max(seen) / min(seen))


@CASES
def test_laplace_noise_on_the_count(name):
    database, truth = DATABASES[name]
    with mp.workdps(40):
        for i, b, of in ((0, 0.5, "count"), (3, 0.75, "fraction")):
            mass, law = given(truth, i)
            unit = N if of == "fraction" else 1
            a = 1 / (mp.mpf(b) * unit)
            one = bl.entry(database * bl.mechanisms.counting_query(n=N, b=b, of=of), i)
            leak, cost = bl.pml(one), bl.pmc(one)
            best = [mp.mpf(0)] * 3
            for t in [-2, -0.25, *(k / 4 for k in range(4 * N + 1)), N + 5]:
                y = float(t) / unit
                values = laplace_figures(mass, law, a, mp.mpf(y) * unit)
                for found, value in ((leak(y), values[0]), (cost(y), values[1])):
                    assert found.status == "exact"
                    assert found.lower <= value <= found.upper and found.width < 1e-13
                best = [max(x) for x in zip(best, values, strict=True)]
            for found, value in zip((leak.sup(), cost.sup(), bl.ldp(one)), best, strict=True):
                assert found.lower - 1e-15 <= value <= found.upper and found.width < 1e-14


def test_gaussian_noise_on_the_count():
    database, truth = DATABASES["chain"]
    one = bl.entry(database * bl.mechanisms.gaussian(sigma=2.0, secret=bl.Integers(0, N)), 2)
    rare = min(given(truth, 2)[0])
    found = bl.pml(one).sup()
    with mp.workdps(30):
        assert found.lower <= -mp.log(mp.mpf(rare.numerator) / rare.denominator) <= found.upper
    assert bl.pmc(one).sup().lower == bl.ldp(one).lower == math.inf
    # outcomes come near to it, and none is above
    w = [[float(v) for v in part] for part in given(truth, 2)[1]]
    for y in (-40.0, 1.5, 60.0):
        seen = [sum(p * stats.norm.pdf(y, s, 2.0) for s, p in enumerate(part)) for part in w]
        mass = [float(v) for v in given(truth, 2)[0]]
        value = math.log(max(seen) / (mass[0] * seen[0] + mass[1] * seen[1]))
        assert value <= found.upper + 1e-12
        if y in (-40.0, 60.0):
            assert value > 0.1


@pytest.mark.parametrize("copied", [False, True])
def test_certain_and_copied_bits(copied):
    """A chain that never moves is n copies of one bit, one that starts at 0 is certain."""
    start = bl.pmf([F(3, 4), F(1, 4)]) if copied else bl.pmf([F(1), F(0)])
    database = bl.markov_chain(start, [[1, 0], [0, 1]], 50)
    one = bl.entry(database * bl.mechanisms.counting_query(n=50, b=10.0, of="count"), 7)
    found = bl.pml(one).sup()
    with mp.workdps(30):  # Theorem 4.3: a bit of probability 1/4, counted 50 times
        truth = -mp.log(mp.mpf(1) / 4 + mp.mpf(3) / 4 * mp.exp(-5)) if copied else mp.mpf(0)
        assert found.lower <= truth <= found.upper and found.width < 1e-15
    copies = bl.mechanisms.gaussian(sigma=3.0, secret=bl.Integers(0, 50))
    level = bl.pml(bl.entry(database * copies, 7)).sup()
    assert level.upper <= (math.log(4) + 1e-12 if copied else 0)


def test_many_bits():
    n = 300
    query = bl.mechanisms.counting_query(n=n, b=2.0, of="count")
    near = bl.exchangeable(bl.pmf([F(1)], on=bl.Finite([F(1, 4)])), n)
    alone = bl.iid(bl.pmf([F(3, 4), F(1, 4)]), n)
    for kind in (bl.pml, bl.pmc):  # one p: independent
        ends = [kind(bl.entry(d * query)).sup() for d in (near, alone)]
        assert ends[0].lower <= ends[1].upper and ends[1].lower <= ends[0].upper
        assert max(e.width for e in ends) < 1e-15


def test_states_that_are_no_bits():
    letters = bl.Finite(["a", "b", "c"])
    rows = [[F(1, 2), F(1, 4), F(1, 4)], [F(1, 3)] * 3, [0, F(1, 2), F(1, 2)]]
    start = bl.pmf([F(1, 2), F(1, 2), 0], on=letters)
    database = bl.markov_chain(start, rows, 3)
    law = dict(zip(database.on.labels, database.law.probabilities, strict=True))
    assert law["a", "c", "b"] == F(1, 2) * F(1, 4) * F(1, 2)
    assert law["c", "a", "a"] == 0 and sum(law.values()) == 1
    last = bl.Mechanism.from_matrix(
        [[int(x[2] == c) for c in "abc"] for x in law], secret=letters**3
    )
    one = bl.entry(database * last, 0)
    assert bl.pml(one).sup().ratio.lower > 1
    assert bl.attribute(database * last, 0).prior.probabilities.tolist()[:2] == [F(1, 2), F(1, 2)]


def test_floats_are_every_law_near_them():
    chain = bl.markov_chain(bl.pmf([0.4, 0.6]), [[0.75, 0.25], [1 / 3, 2 / 3]], N)
    query = bl.mechanisms.counting_query(n=N, b=0.5, of="count")
    exact = bl.pml(bl.entry(DATABASES["chain"][0] * query, 2)).sup()
    rounded = bl.pml(bl.entry(chain * query, 2)).sup()
    assert rounded.lower <= exact.lower <= exact.upper <= rounded.upper
    assert rounded.width < 1e-13


def test_what_is_refused():
    for mixing in (
        bl.normal(),
        bl.pmf([F(1)], on=bl.Finite([2])),
        HALF.on,
        bl.pmf([F(1)], on=bl.Finite(["a"])),
    ):
        with pytest.raises(bl.InvalidInput, match="mixing law"):
            bl.exchangeable(mixing, 3)
    with pytest.raises(bl.InvalidInput, match="n = an integer"):
        bl.exchangeable(MIX, 0)
    with pytest.raises(bl.InvalidInput, match="law of the first entry"):
        bl.markov_chain(bl.beta(alpha=2, beta=2), T, 3)
    with pytest.raises(bl.InvalidInput):
        bl.markov_chain(HALF, [[1, 0]], 3)
    with pytest.raises(bl.InvalidInput, match="from Finite"):
        bl.markov_chain(HALF, bl.Mechanism.from_matrix([[F(1)]] * 2, outcome=bl.Finite(1)), 3)
    database = bl.markov_chain(HALF, T, 30)
    with pytest.raises(bl.InvalidInput, match="the number of ones"):
        database * bl.mechanisms.laplace(b=1.0)
    with pytest.raises(bl.NotYet, match=r"2\*\*30 databases"):
        _ = database.law
    with pytest.raises(bl.InvalidInput, match="counts the ones"):
        database * bl.mechanisms.counting_query(n=30, b=1.0, predicate=lambda d: d == 0)
    with pytest.raises(TypeError, match="marginal"):
        database @ bl.mechanisms.laplace(b=1.0)


def test_noise_on_bits_of_a_law_that_is_an_estimate_has_no_closed_form():
    mixing = bl.Measure(np.array([0.5, 0.5]), bl.Finite([0.25, 0.75]), unproved="opaque")
    first = bl.Measure(np.array([0.5, 0.5]), bl.Finite(2), unproved="opaque")
    query = bl.mechanisms.counting_query(n=5, b=1.0, of="count")
    far = bl.mechanisms.gaussian(sigma=1.0, secret=bl.Integers(0, 5))
    for law in (bl.exchangeable(mixing, 5), bl.markov_chain(first, [[0.5, 0.5], [0.25, 0.75]], 5)):
        for noise in (query, far):
            with pytest.raises(bl.errors.NotYet, match="opaque"):
                bl.entry(law * noise)


def test_the_number_of_ones_is_that_of_bits():
    start = bl.pmf([0.5, 0.25, 0.25])
    of_three = bl.markov_chain(start, [[0.5, 0.5, 0.0], [0.25, 0.75, 0.0], [0.0, 0.0, 1.0]], 4)
    of_shares = bl.markov_chain(bl.pmf([0.5, 0.5], on=bl.Finite([0.25, 0.75])), np.eye(2), 4)
    for chain in (of_three, of_shares):
        with pytest.raises(bl.errors.InvalidInput, match="labels 0 and 1"):
            _ = chain.count_law
        with pytest.raises(bl.errors.InvalidInput, match="labels 0 and 1"):
            chain.entry_law(1)


def test_why_a_figure_is_refused_or_nothing():
    law = bl.exchangeable(bl.pmf([1.0], on=bl.Finite([0.0])), 3)
    on = bl.Integers(0, 3)
    bound = bl.pmc(bl.entry(law * bl.mechanisms.gaussian(sigma=1.0, secret=on))).sup()
    assert bound.upper == 0
    assert bound.assumptions == ("closed form: a bit that is certain tells nothing",)
    with pytest.raises(bl.errors.NotYet, match="atoms"):
        bl.entry(law * bl.mechanisms.laplace(b=1.0, secret=on).clip(1, 2))
