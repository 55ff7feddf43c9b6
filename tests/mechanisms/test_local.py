"""Mechanisms of two likelihoods: their definitions in Fractions, brute force, and the engine."""

import itertools
import math
import pickle
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
import xarray as xr

import borel as bl

unary, subsets = bl.mechanisms.unary_encoding, bl.mechanisms.subset_selection
hadamard, hashing = bl.mechanisms.hadamard_response, bl.mechanisms.local_hashing
HASHES = [[0, 1, 2, 0], [1, 1, 0, 0], [2, 2, 2, 2]]


def of_unary(p, q):
    def kernel(y, x):
        ones = (p if j == x else q for j in range(len(y)))
        return math.prod(c if bit else 1 - c for c, bit in zip(ones, y, strict=True))

    return kernel


def of_subsets(k, d, r):
    total = sum(r if 0 in s else 1 for s in itertools.combinations(range(k), d))
    return lambda y, x: F(r if x in y else 1) / total


def of_hadamard(k, r):
    matrix = np.ones((1, 1), int)
    while len(matrix) <= k:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    weight = F(2) / (len(matrix) * (1 + r))
    return lambda y, x: weight * (r if matrix[x + 1, y] == 1 else 1)


def of_hashing(g, r):
    n = len(HASHES)
    return lambda y, x: F(r if HASHES[y[0]][x] == y[1] else 1) / (n * (r + g - 1))


CASES = {
    "optimised": (unary(k=3, ratio=F(7, 2)), of_unary(F(1, 2), F(2, 9))),
    "symmetric": (unary(k=3, ratio=F(9, 4), kind="symmetric"), of_unary(F(3, 5), F(2, 5))),
    "subsets": (subsets(k=4, ratio=3, size=2), of_subsets(4, 2, F(3))),
    "subsets of its size": (subsets(k=5, ratio=3), of_subsets(5, 1, F(3))),
    "large subsets": (subsets(k=4, ratio=3, size=3), of_subsets(4, 3, F(3))),
    "hadamard": (hadamard(k=3, ratio=5), of_hadamard(3, F(5))),
    "hadamard of a power": (hadamard(k=4, ratio=5), of_hadamard(4, F(5))),
    "hashing": (hashing(k=4, ratio=2, values=3, hashes=HASHES), of_hashing(3, F(2))),
}
RATIOS = [F(7, 2), F(9, 4), 3, 3, 3, 5, 5, 2]


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def priors(k):
    """Some priors, with zeros and points."""
    yield [F(1, k)] * k
    yield [F(i + 1, k * (k + 1) // 2) for i in range(k)]
    yield [F(0), *[F(1, k - 1)] * (k - 1)]
    yield [F(1, 3), F(2, 3), *[F(0)] * (k - 2)]
    yield [F(0)] * (k - 1) + [F(1)]


def leakages(p, column):
    """e^PML and e^PMC of an outcome, from its column, over the support."""
    there = [f for q, f in zip(p, column, strict=True) if q]
    mean = sum(q * f for q, f in zip(p, column, strict=True))
    return max(there) / mean, mean / min(there)


def test_the_matrix_is_that_of_the_definition(case):
    mech, kernel = case
    table = [[kernel(y, x) for y in mech.outcome.labels] for x in mech.secret.labels]
    assert mech.matrix.tolist() == table and mech.rational
    assert all(sum(row) == 1 for row in table)


@pytest.mark.parametrize("name", CASES)
def test_every_leakage_exactly_and_as_the_engine_has_it(name):
    mech, kernel = CASES[name]
    k = mech.secret.size
    for p in priors(k):
        joint = bl.pmf(p, on=mech.secret) * mech
        columns = [[kernel(y, x) for x in range(k)] for y in mech.outcome.labels]
        truth = [leakages(p, column) for column in columns]
        for i, kind in enumerate((bl.pml, bl.pmc)):
            sup = kind(joint).sup()
            top = max(t[i] for t in truth)
            assert sup.ratio == (top, top) and sup.status == "exact" and sup.attained
            at = sup.witness["y"]
            assert leakages(p, columns[mech.outcome.labels.index(at)])[i] == top
            for y, t in zip(mech.outcome.labels, truth, strict=True):
                found = kind(joint)(y)
                assert found.ratio == (t[i], t[i]) and "closed form" in found.assumptions[0]
            with bl.options(closed_forms=False):
                fresh = kind(bl.pmf(p, on=mech.secret) * mech)
                assert fresh.sup().ratio == sup.ratio
                assert not any("closed form" in note for note in fresh.sup().assumptions)


@pytest.mark.parametrize(("name", "ratio"), [*zip(CASES, RATIOS, strict=True)])
def test_ldp_is_the_level(name, ratio):
    mech = CASES[name][0]
    prior = bl.pmf([F(1, mech.secret.size)] * mech.secret.size, on=mech.secret)
    assert bl.ldp(prior * mech).ratio == (ratio, ratio)


FLOATS = {
    "optimised": lambda e: unary(k=3, epsilon=e),
    "symmetric": lambda e: unary(k=3, epsilon=e, kind="symmetric"),
    "subsets": lambda e: subsets(k=4, epsilon=e, size=2),
    "hadamard": lambda e: hadamard(k=4, epsilon=e),
    "hashing": lambda e: hashing(k=4, epsilon=e, values=3, hashes=HASHES),
}


def in_mpmath(name, r):
    half = mp.mpf(1) / 2
    root = mp.sqrt(r)
    return {
        "optimised": of_unary(half, 1 / (1 + r)),
        "symmetric": of_unary(root / (1 + root), 1 / (1 + root)),
        "subsets": lambda y, x: (r if x in y else 1) / (3 * r + 3),
        "hadamard": lambda y, x: (r if of_hadamard(4, F(2))(y, x) == F(1, 6) else 1) / (4 + 4 * r),
        "hashing": lambda y, x: (r if HASHES[y[0]][x] == y[1] else 1) / (3 * (r + 2)),
    }[name]


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 1.3, 40.0])
@pytest.mark.parametrize("name", FLOATS)
def test_an_epsilon_is_a_binary64_value(name, epsilon):
    mech = FLOATS[name](epsilon)
    p = [0.5, 0.25, 0.125, 0.125][: mech.secret.size]
    p[-1] = 1 - sum(p[:-1])
    joint = bl.pmf(p, on=mech.secret) * mech
    sups = [kind(joint).sup() for kind in (bl.pml, bl.pmc)]
    with bl.options(closed_forms=False):
        fresh = bl.pmf(p, on=mech.secret) * mech
        engine = [kind(fresh).sup() for kind in (bl.pml, bl.pmc)]
    with mp.workdps(60):
        kernel = in_mpmath(name, mp.exp(mp.mpf(epsilon)))
        truth = []
        for j, y in enumerate(mech.outcome.labels):
            column = [kernel(y, x) for x in range(len(p))]
            for f, value in zip(column, mech.matrix[:, j], strict=True):
                assert abs(mp.mpf(float(value)) / f - 1) <= mech.rounding + mp.mpf("1e-55")
            truth.append(leakages(p, column))
        for i, (closed, other) in enumerate(zip(sups, engine, strict=True)):
            top = mp.log(max(t[i] for t in truth))
            for found in (closed, other):
                assert mp.mpf(found.lower) - mp.mpf("1e-55") <= top
                assert top <= mp.mpf(found.upper) + mp.mpf("1e-55")
            assert closed.status == "exact" and closed.width <= 1e-15 * (1 + closed.upper)


def test_default_sizes():
    assert len(subsets(k=10, epsilon=1.0).outcome.labels[0]) == round(10 / (1 + math.e))
    assert len(subsets(k=10, epsilon=9.0).outcome.labels[0]) == 1
    assert hashing(k=5, epsilon=1.0).outcome.labels[-1][1] == round(1 + math.e) - 1
    assert (
        hadamard(k=7, epsilon=1.0).outcome.size == 8 and hadamard(k=8, ratio=2).outcome.size == 16
    )


@pytest.mark.parametrize(("k", "g"), [(2, 2), (5, 3), (6, 2)])
def test_the_default_hashes_are_universal(k, g):
    """Two labels have equal hashes under at most a share 1 / g of the functions."""
    mech = hashing(k=k, ratio=3, values=g)
    top = mech.matrix.max()
    of = [
        [set(y for y, f in zip(mech.outcome.labels, row, strict=True) if f == top)]
        for row in mech.matrix
    ]
    n = len(of[0][0])
    assert n * g == mech.outcome.size
    for (a,), (b,) in itertools.combinations(of, 2):
        assert len(a & b) * g <= n


def test_labels_are_those_of_the_secret():
    mech = subsets(secret=["no", "maybe", "yes"], ratio=2, size=2)
    assert mech.outcome.labels == (("no", "maybe"), ("no", "yes"), ("maybe", "yes"))
    joint = bl.pmf([F(1, 4), F(3, 4)], on=bl.Finite(["yes", "no"])) * mech
    assert bl.pml(joint)(("no", "maybe")).ratio.upper == F(2) / (1 + F(3, 4))
    assert bl.pml(joint)(("no", "yes")).ratio.upper == 1


def test_samples_follow_the_matrix_and_pickles_keep_it(case):
    mech, _ = case
    again = pickle.loads(pickle.dumps(mech))
    assert again.closed_forms == mech.closed_forms and again.name == mech.name
    drawn = mech.outcome.positions(list(mech.sample([1] * 4000, rng=5)))
    counts = np.bincount(drawn, minlength=mech.outcome.size)
    expected = 4000 * np.asarray(mech.matrix[1], float)
    assert ((counts - expected) ** 2 / expected).sum() < 3 * mech.outcome.size + 20
    bl.testing.check_mechanism(mech, bl.uniform(mech.secret))


def test_arrays_of_parameters_make_a_family():
    epsilon = xr.DataArray([0.5, 1.0], dims="level")
    found = bl.ldp(bl.uniform(bl.Finite(3)) * unary(k=3, epsilon=epsilon))
    assert found["upper"].values == pytest.approx([0.5, 1.0], abs=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: unary(k=3), "unary_encoding: expected epsilon=<nats>"),
        (lambda: unary(epsilon=1.0), "unary_encoding: expected k="),
        (lambda: unary(k=60, epsilon=1.0), "at most 2000000 entries, got 60 secrets and about 2"),
        (lambda: unary(k=3, epsilon=1.0, kind="other"), "kind = 'optimised' or 'symmetric'"),
        (lambda: unary(k=3, ratio=3, kind="symmetric"), "the 2-th root is a Fraction"),
        (lambda: unary(k=3, epsilon=500.0), "float64 can hold"),
        (lambda: subsets(k=3, epsilon=1.0, size=3), "a size from 1 to k - 1 = 2"),
        (lambda: subsets(k=3, epsilon=1.0, size=0), "a size from 1"),
        (lambda: subsets(k=3, epsilon=1.0, size=True), "a size from 1"),
        (lambda: subsets(k=60, epsilon=1.0, size=30), "subset_selection: expected a matrix"),
        (lambda: hadamard(k=1, epsilon=1.0), "hadamard_response: expected k >= 2"),
        (lambda: hadamard(k=3, epsilon=-1.0), "hadamard_response: expected epsilon >= 0"),
        (lambda: hadamard(k=3, ratio=0.5), "ratio as an integer or a Fraction"),
        (lambda: hashing(k=3, epsilon=1.0, values=1), "values = an integer >= 2"),
        (lambda: hashing(k=3, epsilon=30.0), "local_hashing: expected a matrix"),
        (lambda: hashing(k=3, epsilon=1.0, values=2, hashes=HASHES), "a table of integers with 3"),
        (lambda: hashing(k=4, epsilon=1.0, values=2, hashes=HASHES), "hashes in 0, ..., 1"),
        (lambda: hashing(k=4, epsilon=1.0, hashes=[[0.0, 1.0, 0.0, 1.0]]), "dtype float64"),
    ],
)
def test_bad_parameters_are_named(call, message):
    with pytest.raises(bl.InvalidInput) as caught:
        call()
    assert message in str(caught.value)
