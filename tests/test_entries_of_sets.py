"""Entries of databases over sets of priors: Theorems 4.2 and 4.5, enumeration, members."""

import itertools
import math
from fractions import Fraction as F
from functools import reduce

import numpy as np
import pytest

import borel as bl

D = bl.Finite(2)
ANY = bl.priors.full_support(D)


def random_mechanism(rng, d, n, *, zeros=False, exact=True):
    raw = rng.integers(0 if zeros else 1, 12, size=(d**n, 3))
    raw[:, 0] += zeros
    K = [[F(int(v), int(r.sum())) for v in r] for r in raw]
    given = K if exact else np.array(K, float).tolist()
    on = bl.Finite(d) ** n
    return K, bl.Mechanism.from_matrix(given, secret=on, outcome=bl.Finite(3))


def ratio(bound):
    assert bound.status == "exact"
    if bound.lower == math.inf:
        return math.inf
    assert bound.ratio.lower == bound.ratio.upper
    return bound.ratio.lower


def quotient(a, b):
    return F(1) if a == b == 0 else math.inf if b == 0 else a / b


def neighbours(K, d, n, i, *, only=True):
    """The largest ratio over databases that differ in entry i (and there only)."""
    every = list(itertools.product(range(d), repeat=n))
    pairs = [
        (a, b)
        for a, x in enumerate(every)
        for b, z in enumerate(every)
        if x[i] != z[i] and (not only or x[:i] + x[i + 1 :] == z[:i] + z[i + 1 :])
    ]
    return max(F(1), *(quotient(K[a][y], K[b][y]) for a, b in pairs for y in range(3)))


@pytest.mark.parametrize(("d", "n", "zeros"), [(2, 3, False), (3, 2, False), (2, 2, True)])
def test_all_independent_and_all_priors(d, n, zeros):
    """Theorems 4.2(3) and 4.5(3): by their definitions 4.1 and 4.4, pair by pair."""
    for seed in range(4):
        K, mech = random_mechanism(np.random.default_rng(seed), d, n, zeros=zeros)
        product = bl.priors.product([bl.priors.full_support(bl.Finite(d))] * n)
        for laws, only, level in (
            (product, True, bl.differential_privacy(mech)),
            (bl.priors.full_support(mech.secret), False, bl.free_lunch_privacy(mech)),
        ):
            found = []
            for i in range(n):
                one = bl.entry(laws * mech, i)
                truth = neighbours(K, d, n, i, only=only)
                assert ratio(bl.pml(one).sup()) == truth
                assert ratio(bl.pmc(one).sup()) == ratio(bl.ldp(one)) == truth
                assert bl.pml(one).sup().attained is (False if truth > 1 else None)
                found.append(truth)
            assert max(found) == ratio(level)


def test_free_lunch_of_one_entry_may_be_less():
    """The step (B.6) of the paper needs databases that differ in the entry asked about."""
    K = [[F(9, 10), F(1, 10)], [F(1, 10), F(9, 10)], [F(1, 2), F(1, 2)], [F(1, 2), F(1, 2)]]
    mech = bl.Mechanism.from_matrix(K, secret=D**2)
    levels = [ratio(bl.pml(bl.entry(bl.priors.full_support(D**2) * mech, i)).sup()) for i in (0, 1)]
    assert levels == [5, 9]
    assert ratio(bl.free_lunch_privacy(mech)) == 9


def test_every_entry_under_intervals():
    """Bits with P(1) in (lo, hi), each in its own: exact, against the corners by enumeration."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        K, mech = random_mechanism(rng, 2, 3)
        ends = [sorted(F(int(v), 20) for v in rng.integers(0, 21, size=2)) for _ in range(3)]
        sets = [bl.priors.box({0: 0, 1: a}, {0: 1, 1: b}, on=D) for a, b in ends]
        for i in range(3):
            truth = {"pml": F(1), "pmc": F(1)}
            charged = [d for d in (0, 1) if (1 - ends[i][0], ends[i][1])[d] > 0]
            for p in itertools.product(*ends):
                law = [math.prod(p[k] if x[k] else 1 - p[k] for k in range(3)) for x in cells(3)]
                for y in range(3):
                    given = []
                    for d in (0, 1):
                        others = [
                            math.prod(p[k] if x[k] else 1 - p[k] for k in range(3) if k != i)
                            for x in cells(3)
                        ]
                        rows = zip(cells(3), others, K, strict=True)
                        given.append(sum(w * row[y] for x, w, row in rows if x[i] == d))
                    whole = sum(w * row[y] for w, row in zip(law, K, strict=True))
                    for d in charged:
                        truth["pml"] = max(truth["pml"], given[d] / whole)
                        truth["pmc"] = max(truth["pmc"], whole / given[d])
            one = bl.entry(bl.priors.product(sets) * mech, i)
            assert ratio(bl.pml(one).sup()) == truth["pml"]
            assert ratio(bl.pmc(one).sup()) == truth["pmc"]


def cells(n):
    return list(itertools.product((0, 1), repeat=n))


@pytest.mark.slow
@pytest.mark.parametrize("exact", [True, False])
def test_members_leak_no_more_and_the_witness_as_much(exact):
    rng = np.random.default_rng(5)
    T = bl.Finite(["a", "b", "c"])
    centre = bl.pmf([F(1, 2), F(1, 3), F(1, 6)], on=T)
    sets = [bl.priors.tv_ball(centre, F(1, 10)), bl.priors.contamination(centre, F(1, 5))]
    raw = rng.integers(1, 9, size=(9, 3))
    K = [[F(int(v), int(r.sum())) for v in r] for r in raw]
    rows = K if exact else np.array(K, float).tolist()
    mech = bl.Mechanism.from_matrix(rows, secret=T**2, outcome=bl.Finite(3))
    product = bl.priors.product(sets)
    for i, kind in itertools.product((0, 1), (bl.pml, bl.pmc)):
        leak = kind(bl.entry(product * mech, i))
        sup = leak.sup()
        assert sup.status == "exact" and sup.width < 1e-13
        own = kind(bl.entry(sup.witness["prior"] * mech, i)).sup()
        assert own.lower <= sup.upper and own.upper >= sup.lower
        assert max(leak(y).upper for y in range(3)) == sup.upper
        for member in product.members(20, rng=1):
            assert kind(bl.entry(member * mech, i)).sup().lower <= sup.upper


def test_an_entry_given_the_others():
    """Theorem 4.2(1) and (2): each value of the others, and all of them."""
    n = 3
    K, mech = random_mechanism(np.random.default_rng(8), 2, n)
    tv = bl.priors.tv_ball(bl.pmf([F(1, 2), F(1, 2)]), F(1, 10))
    for i in range(n):
        kept = [x[:i] + x[i + 1 :] for x in cells(n)]
        others = bl.Mechanism.from_matrix(
            [[int(k == z) for z in cells(n - 1)] for k in kept],
            secret=D**n,
            outcome=bl.Finite(cells(n - 1)),
        )
        truth = neighbours(K, 2, n, i)
        for laws in (bl.priors.full_support(D**n), bl.priors.product([ANY] * n)):
            assert ratio(bl.pml(laws * mech, given=others).sup()) == truth
        near = bl.pml(bl.priors.product([tv] * n) * mech, given=others)
        worst = F(0)
        for z in cells(n - 1):
            rows = [row for k, row in zip(kept, K, strict=True) if k == z]
            level = max(
                max(r[y] for r in rows) / (p * rows[0][y] + (1 - p) * rows[1][y])
                for y in range(3)
                for p in (F(2, 5), F(3, 5))
            )
            assert ratio(near[z].sup()) == level
            worst = max(worst, level)
        assert ratio(near.sup()) == worst


def test_side_information_that_is_noisy():
    """Given Z = z all priors are those of full support on what allows z, but not independent."""
    _, mech = random_mechanism(np.random.default_rng(2), 2, 2)
    side = bl.Mechanism.from_matrix([[1, 0], [F(1, 2), F(1, 2)], [F(1, 3), F(2, 3)], [1, 0]])
    side = bl.Mechanism.from_matrix(side.matrix.tolist(), secret=D**2)
    leak = bl.pml(bl.priors.full_support(D**2) * mech, given=side)
    rows = mech.matrix[[1, 2]]
    assert ratio(leak[1].sup()) == max(max(c) / min(c) for c in rows.T)
    with pytest.raises(bl.NotYet, match="values of some coordinates"):
        bl.pml(bl.priors.product([ANY] * 2) * mech, given=side)[1]
    with pytest.raises(bl.NotYet, match="side information over a set"):
        bl.pml(bl.priors.tv_ball(bl.pmf([0.25] * 4, on=D**2), 0.1) * mech, given=side)[1]


def test_the_whole_database_is_exact_too():
    """Theorem 4.5(2), and a product of balls against all products of their ends."""
    K, mech = random_mechanism(np.random.default_rng(3), 2, 3)
    found = bl.pml(bl.priors.product([ANY] * 3) * mech).sup()
    assert ratio(found) == ratio(bl.free_lunch_privacy(mech))
    tv = bl.priors.tv_ball(bl.pmf([F(1, 2), F(1, 2)]), F(1, 10))
    truth = F(1)
    for p in itertools.product((F(2, 5), F(3, 5)), repeat=3):
        law = reduce(np.multiply.outer, [np.array([1 - q, q]) for q in p]).ravel()
        truth = max(truth, *(max(c) / sum(law * c) for c in np.array(K).T))
    assert ratio(bl.pml(bl.priors.product([tv] * 3) * mech).sup()) == truth


def test_labels_that_nobody_has():
    sure = bl.priors.hull([bl.pmf([F(1), F(0)])])
    _, mech = random_mechanism(np.random.default_rng(1), 2, 2)
    one = bl.entry(bl.priors.product([sure, ANY]) * mech, 0)
    assert bl.pml(one).sup().upper == bl.pmc(one).sup().upper == bl.ldp(one).upper == 0


def test_what_is_refused():
    _, mech = random_mechanism(np.random.default_rng(1), 2, 2)
    ball = bl.priors.tv_ball(bl.pmf([0.25] * 4, on=D**2), 0.1)
    with pytest.raises(bl.NotYet, match="one entry over"):
        bl.entry(ball * mech)
    floats = bl.priors.tv_ball(bl.pmf([0.3, 0.7]), 0.1)
    with pytest.raises(bl.NotYet, match="extreme points"):
        bl.pml(bl.entry(bl.priors.product([floats, floats]) * mech)).sup()
    with pytest.raises(bl.InvalidInput, match="0 to 1"):
        bl.entry(bl.priors.full_support(D**2) * mech, 2)
    noise = bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x[0] - x[1])) / 2, secret=D**2, outcome=bl.Reals()
    )
    with pytest.raises(bl.NotYet, match="not finite"):
        bl.entry(bl.priors.full_support(D**2) * noise)
    with pytest.raises(bl.InvalidInput, match="a joint over databases"):
        bl.entry(bl.entry(bl.priors.full_support(D**2) * mech))


def test_bits_are_those_of_their_own_engine():
    """`iid` holds one p for all entries, the product one for each: it leaks at least as much."""
    _, mech = random_mechanism(np.random.default_rng(4), 2, 2)
    bit = bl.priors.bernoulli(0.25, 0.75)
    same = bl.pml(bl.entry(bl.iid(bit, 2) * mech)).sup()
    assert same.lower <= bl.pml(bl.entry(bl.priors.product([bit, bit]) * mech)).sup().upper


@pytest.mark.parametrize(
    ("equal", "to", "points"),
    [
        ([[1, 1, 1]], [1], [[0, 0, 1], [0, 1, 0], [1, 0, 0]]),
        ([[1, 1, 0], [2, 2, 0]], [F(1, 2), 1], [[0, F(1, 2), F(1, 2)], [F(1, 2), 0, F(1, 2)]]),
        ([[1, 1, 0], [0, 0, 1]], [F(1, 2)] * 2, [[0, F(1, 2), F(1, 2)], [F(1, 2), 0, F(1, 2)]]),
    ],
)
def test_equations_that_follow_from_others_hide_no_extreme_point(equal, to, points):
    laws = bl.priors.polytope(equal=[list(map(F, row)) for row in equal], to=to, on=bl.Finite(3))
    assert sorted(laws.vertices) == points


def test_a_leak_at_an_extreme_point_that_an_equation_said_twice_would_hide():
    D = bl.Finite(3)
    simplex = bl.priors.polytope(equal=[[F(1)] * 3], to=[F(1)], on=D)
    ones = [[F(1, 2), F(1, 2)]] * 6 + [[F(1, 100), F(99, 100)], [F(1, 2), F(1, 2)], [1, 0]]
    mech = bl.Mechanism.from_matrix([list(map(F, row)) for row in ones], secret=D**2)
    every = bl.priors.product([simplex, simplex])
    for i in (0, 1):
        same = bl.entry(bl.priors.product([bl.priors.full_support(D)] * 2) * mech, i)
        assert bl.pml(bl.entry(every * mech, i)).sup().upper >= bl.pml(same).sup().lower


@pytest.mark.parametrize("number", [F, float])
def test_an_outcome_that_no_member_allows(number):
    D = bl.Finite(2)
    rows = [[number(1), number(0)]] * 3 + [[number(0), number(1)]]
    mech = bl.Mechanism.from_matrix(rows, secret=D**2)
    certain = bl.priors.hull([bl.pmf([F(1), F(0)], on=D)])
    joint = bl.entry(bl.priors.product([certain, bl.priors.full_support(D)]) * mech, 1)
    for bound in (bl.pml(joint)(1), bl.pmc(joint)(1)):
        assert bound.upper == 0
        assert any("outside the support" in note for note in bound.assumptions)
    assert bl.pml(joint).sup().upper == 0 if number is F else bl.ldp(joint).upper < 1e-14


def test_side_information_that_is_an_estimate_proves_nothing():
    D = bl.Finite(2)
    side = bl.Mechanism.from_matrix([[0.5, 0.5], [1.0, 0.0]], secret=D)
    side.unproved = "opaque"
    leak = bl.pml(bl.priors.full_support(D) * side, given=side)
    with pytest.raises(bl.errors.NotYet, match="opaque"):
        leak[1]
    with pytest.raises(bl.errors.NotYet, match="opaque"):
        leak.sup()


def test_an_end_that_an_open_set_holds_may_be_attained():
    D = bl.Finite(2)
    half = bl.priors.polytope([[F(0), F(1)]], [F(1, 2)], on=D)
    own = bl.priors.bernoulli(F(1, 8), F(7, 8)) & half
    certain = bl.priors.hull([bl.pmf([F(1), F(0)], on=D)])
    rows = [[F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)]]
    mech = bl.Mechanism.from_matrix([r for r in rows for _ in range(2)], secret=D**2)
    bound = bl.pml(bl.entry(bl.priors.product([own, certain]) * mech))(0)
    member = bl.pml(bl.pmf([F(1, 2)] * 2) * bl.Mechanism.from_matrix(rows, secret=D))(0)
    assert bound.ratio == member.ratio  # q(1) = 1/2 is in the set
    assert bound.attained is not False


def test_a_product_of_sets_of_which_one_is_about_two_entries():
    """Its alphabet is flat; near point masses of the database every ratio is reached."""
    K, mech = random_mechanism(np.random.default_rng(8), 2, 3)
    sets = bl.priors.product([bl.priors.full_support(D**2), ANY])
    assert sets.on == D**3
    most = max(quotient(a[y], b[y]) for a in K for b in K for y in range(3))
    found = bl.pml(sets * mech).sup()
    assert (
        found.lower <= math.log(most) * (1 + 1e-15) and math.log(most) * (1 - 1e-15) <= found.upper
    )
    assert found.width < 1e-6
    with pytest.raises(bl.NotYet, match="about several entries"):
        bl.entry(sets * mech, 1)
