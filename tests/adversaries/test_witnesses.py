"""Adversaries that attain PML and PMC, measured by an evaluator that knows only the definitions."""

import math
from fractions import Fraction as F

import adversary_oracle as a
import numpy as np
import oracles as o
import pytest
from hypothesis import given
from hypothesis import strategies as st

import borel as bl

INF = math.inf
HALF = F(1, 2)
VIEWS = [
    ("pml", "function"),
    ("pml", "gain"),
    ("pml", "shattering"),
    ("pmc", "function"),
    ("pmc", "cost"),
]
PRIORS = ("plain", "zeros", "ties", "onehot", "fine", "skewed", "uniform")


def joint_of(p, K):
    return bl.pmf(p) * bl.Mechanism.from_matrix(K)


def exactly(rows):
    return [[F(v) for v in row] for row in rows]


def measured(found, p, K, y):
    """e^leakage of a witness by the definitions, from the kernel or the table it consists of."""
    if found.function is not None:
        P = found.function.matrix.tolist()
        assert all(sum(row) == 1 and min(row) >= 0 for row in P)
        return a.u_ratio(found.of, p, K, y, P)
    threat = found.gain or found.cost
    n = len(p)
    table = [
        [1 / F(p[x]) if x == w else F(0) for w in range(n) if p[w]] if p[x] else None
        for x in range(n)
    ]
    charged = [x for x in range(n) if p[x]]
    assert threat.name == "reciprocal of the prior"
    kept = [p[x] for x in charged], [K[x] for x in charged], y, [table[x] for x in charged]
    return (a.g_ratio if found.gain else a.c_ratio)(*kept)


def few_enough(p, x, as_):
    """Whether a function of at most 10 000 letters exists for it."""
    charged = [v for v in p if v]
    if as_ == "shattering":
        return sum(math.ceil(v / min(charged)) for v in charged) <= 10_000 - len(p)
    return 1 / p[x] < 9_000


@pytest.mark.few(1)
@pytest.mark.cases("slow", "fine", "uniform", "skewed", "zeros", "ties")
@pytest.mark.parametrize("style", PRIORS)
def test_rational_witnesses_attain_the_supremum_exactly(style):
    rng = np.random.default_rng(PRIORS.index(style))
    reached = 0
    for _ in range(150):
        n, m = (int(v) for v in rng.integers(1, 6, 2))
        p = o.law(rng, n, style)
        K = o.mechanism(rng, n, m, rng.choice(o.STYLES))
        m = len(K[0])
        joint, y = joint_of(p, K), int(rng.integers(m))
        for of, as_ in VIEWS:
            truth = o.LEAKAGES[of](p, K, y)
            try:
                found = bl.adversaries.witness(joint, y, of=of, as_=as_)
            except bl.InvalidInput as error:
                assert "letters" in str(error)
                best = max(o.support(p), key=lambda x: (K[x][y], p[x]))
                assert (of, as_) != ("pmc", "function") and not few_enough(p, best, as_)
                continue
            assert measured(found, p, K, y) == truth
            leak = found.leakage()
            assert leak.ratio == (truth, truth) and leak.status == "exact"
            assert found.verify(0).holds is True and found.verify(0).bound.upper == 0
            reached += 1
    assert reached >= 450


@pytest.mark.few(2)
@pytest.mark.cases("slow", "plain", "uniform", "ties", "skewed", "zeros")
@pytest.mark.cases("truths", "fine")
@pytest.mark.parametrize("style", PRIORS)
def test_float_witnesses_attain_the_supremum_to_rounding(style):
    """The laws meant by floats are within their rounding; those measured are the floats divided."""
    rng = np.random.default_rng(20 + PRIORS.index(style))
    reached = 0
    for _ in range(150):
        n, m = (int(v) for v in rng.integers(1, 6, 2))
        p = o.law(rng, n, style)
        K = o.mechanism(rng, n, m, rng.choice(o.STYLES))
        p, K = o.floats(p), o.floats(K)
        y = int(rng.integers(len(K[0])))
        joint = joint_of(p, K)
        near = [F(v) / sum(map(F, p)) for v in p]
        near_K = [[F(v) / sum(map(F, row)) for v in row] for row in K]
        for of, as_ in VIEWS:
            truth = o.LEAKAGES[of](near, near_K, y)
            try:
                found = bl.adversaries.witness(joint, y, of=of, as_=as_)
            except bl.InvalidInput as error:
                assert "letters" in str(error) and (of, as_) != ("pmc", "function")
                continue
            if found.function is not None:
                value = measured(found, near, near_K, y)
            else:
                value = measured(found, [F(v) for v in p], exactly(K), y)
            if truth == INF:
                assert value == INF and found.leakage().lower == INF
            else:
                assert abs(value / truth - 1) < F(1, 10**12)
                leak = found.leakage()
                assert o.contains(leak.ratio.lower, truth, leak.ratio.upper)
                assert leak.width < 1e-12 and leak.status == "exact"
            assert found.verify().holds is True
            reached += 1
    assert reached >= 450


@pytest.mark.cases("slow", "plain", "fine", "ties")
@pytest.mark.parametrize("style", ["plain", "zeros", "ties", "fine"])
def test_one_shattering_channel_and_one_reciprocal_attain_all_outcomes(style):
    rng = np.random.default_rng(3)
    for _ in range(60):
        n, m = (int(v) for v in rng.integers(1, 6, 2))
        p = o.law(rng, n, "ties")
        prior = bl.pmf(p)
        u = bl.adversaries.shattering(prior)
        gain, cost = (f(prior) for f in (bl.adversaries.gain.reciprocal, _cost.reciprocal))
        for _ in range(3):
            K = o.mechanism(rng, n, m, style)
            joint = joint_of(p, K)
            for y in range(m):
                top = o.pml(p, K, y)
                assert a.u_ratio("pml", p, K, y, u.matrix.tolist()) == top
                assert bl.adversaries.function_leakage(joint, u, y).ratio == (top, top)
                assert bl.adversaries.g_leakage(joint, gain, y).ratio == (top, top)
                top = o.pmc(p, K, y)
                assert bl.adversaries.cost_leakage(joint, cost, y).ratio == (top, top)
            whole = o.maximal_leakage(p, K)
            assert bl.adversaries.g_leakage(joint, gain).ratio == (whole, whole)
            assert bl.adversaries.function_leakage(joint, u).ratio == (whole, whole)
            least = sum((min(K[x][y] for x in o.support(p)) for y in range(m)), F(0))
            maximal_cost = INF if least == 0 else 1 / least
            assert bl.adversaries.cost_leakage(joint, cost).ratio == (maximal_cost, maximal_cost)


_cost = bl.adversaries.cost


def test_the_shattering_channel_of_definition_2():
    """p = (1/2, 1/3, 1/6): k = 3, 2, 1; every piece has probability 1/6."""
    u = bl.adversaries.shattering(bl.pmf([F(1, 2), F(1, 3), F(1, 6)], on=bl.Finite(list("abc"))))
    assert u.outcome.labels == (("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("c", 1))
    assert [row.index(max(row)) for row in u.matrix.tolist()] == [0, 3, 5]
    assert (
        u @ bl.pmf([F(1, 2), F(1, 3), F(1, 6)], on=bl.Finite(list("abc")))
    ).probabilities.tolist() == [F(1, 6)] * 6
    # k not whole: 5/2 gives pieces 2/5, 2/5 and a rest of 1/5; no mass, one piece
    u = bl.adversaries.shattering(bl.pmf([F(5, 7), F(2, 7), 0]))
    assert u.matrix.tolist() == [
        [F(2, 5), F(2, 5), F(1, 5), 0, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 0, 1],
    ]


# -- the finite k of PMC's Theorem 2 ---------------------------------------------------------------


def threshold(p, q):
    """max(p/(1-p), q/(1-q))."""
    return max(v / (1 - v) for v in (p, q))


@pytest.mark.few(1)
@pytest.mark.parametrize("style", ["plain", "zeros", "ties", "fine"])
def test_pieces_attain_pmc_from_the_threshold_on(style):
    rng = np.random.default_rng(31)
    seen = 0
    for _ in range(150):
        n, m = int(rng.integers(2, 6)), int(rng.integers(2, 5))
        p, K = o.law(rng, n, style), o.mechanism(rng, n, m, style)
        y = int(rng.integers(m))
        q = a.posterior(p, K, y)
        if q is None or 1 in p:
            continue
        joint, truth = joint_of(p, K), o.pmc(p, K, y)
        x = bl.adversaries.witness(joint, y, of="pmc").x
        assert 0 < p[x] < 1 and q[x] < 1
        least = max(1, math.ceil(threshold(p[x], q[x])))
        if least > 500:
            continue
        for k in (least, least + 1, 3 * least):
            found = bl.adversaries.witness(joint, y, of="pmc", pieces=k)
            assert found.function.matrix.shape == (n, k + 1)
            assert measured(found, p, K, y) == truth and found.verify(0).holds is True
        seen += 1
    assert seen > 80


def test_fewer_pieces_attain_less():
    """P(x) = 9/10 and P(x|y) = 3/4: k = 9 is exact, k = 8 is not, k = 1 leaks nothing."""
    p, K = [F(9, 10), F(1, 10)], [[F(1, 6), F(5, 6)], [HALF, HALF]]
    joint = joint_of(p, K)
    assert a.posterior(p, K, 0) == [F(3, 4), F(1, 4)] and threshold(p[0], F(3, 4)) == 9
    assert o.pmc(p, K, 0) == F(6, 5)
    nine, eight, one = (bl.adversaries.witness(joint, 0, of="pmc", pieces=k) for k in (9, 8, 1))
    assert nine.leakage().ratio == (F(6, 5), F(6, 5)) and nine.verify(0).holds is True
    # at k = 8 the best guess before y is a piece of x, of probability 9/80
    assert measured(eight, p, K, 0) == (1 - F(9, 80)) / F(3, 4) == F(71, 60)
    assert eight.leakage().ratio == (F(71, 60), F(71, 60)) and eight.verify().holds is False
    assert measured(one, p, K, 0) < F(6, 5) and one.verify().holds is False
    assert one.verify().bound.lower > 0


def test_half_a_secret_is_enough_where_pieces_are_not():
    """P(x) = 1 - 1e-9 asks for 1e9 pieces; two letters attain PMC all the same."""
    tiny = F(1, 10**9)
    p, K = [1 - tiny, tiny], [[F(1, 3), F(2, 3)], [F(2, 3), F(1, 3)]]
    found = bl.adversaries.witness(joint_of(p, K), 0, of="pmc")
    assert found.x == 0 and found.function.matrix.shape == (2, 2)
    assert measured(found, p, K, 0) == o.pmc(p, K, 0) and found.verify(0).holds is True
    few = bl.adversaries.witness(joint_of(p, K), 0, of="pmc", pieces=100)
    assert few.verify().holds is False and measured(few, p, K, 0) < o.pmc(p, K, 0)


def test_an_infinite_cost_is_attained():
    p, K = [F(1, 3), F(2, 3)], [[F(1), F(0)], [HALF, HALF]]
    for build in (lambda v: v, o.floats):
        joint = joint_of(build(p), build(K))
        for as_ in ("function", "cost"):
            found = bl.adversaries.witness(joint, 1, of="pmc", as_=as_)
            assert found.leakage().lower == INF and found.verify(0).holds is True
        assert measured(bl.adversaries.witness(joint, 1, of="pmc"), p, K, 1) == INF


# -- no adversary exceeds them ---------------------------------------------------------------------

NUMBERS = st.one_of(
    st.integers(0, 3).map(F),
    st.fractions(0, 10, max_denominator=50),
    st.sampled_from([F(1, 10**300), F(10**300)]),
)


@st.composite
def threatened(draw):
    """A joint, an outcome, a table and a kernel."""
    p, K = draw(o.joints())
    k = draw(st.integers(1, 4))
    table = [[draw(NUMBERS) for _ in range(k)] for _ in p]
    return p, K, draw(st.integers(0, len(K[0]) - 1)), table, draw(o.kernels(len(p), k))


@given(threatened())
def test_nothing_drawn_at_random_exceeds_pml_or_pmc(case):
    p, K, y, table, P = case
    joint = joint_of(p, K)
    top, cost = bl.pml(joint)(y), bl.pmc(joint)(y)
    gained = bl.adversaries.g_leakage(joint, bl.adversaries.gain.table(table), y)
    assert gained.ratio.lower == a.g_ratio(p, K, y, table)
    o.not_above(gained, top)
    paid = bl.adversaries.cost_leakage(joint, _cost.table(table), y)
    assert paid.ratio.lower == a.c_ratio(p, K, y, table)
    o.not_above(paid, cost)
    u = bl.Mechanism.from_matrix(P)
    for of, limit in (("pml", top), ("pmc", cost)):
        found = bl.adversaries.function_leakage(joint, u, y, of=of)
        assert found.ratio.lower == a.u_ratio(of, p, K, y, P)
        o.not_above(found, limit)


@given(threatened(), st.lists(st.booleans(), min_size=16, max_size=16))
def test_costs_with_infinite_entries(case, barred):
    """Definition 11 allows them, as long as some action is finite under the prior."""
    p, K, y, table, _ = case
    k = len(table[0])
    table = [
        [INF if barred[(i * k + j) % 16] else v for j, v in enumerate(r)]
        for i, r in enumerate(table)
    ]
    joint = joint_of(p, K)
    if min(a.expectations(p, table)) == INF:
        with pytest.raises(bl.InvalidInput, match="finite"):
            bl.adversaries.cost_leakage(joint, _cost.table(table), y)
        return
    for build in (lambda v: v, o.floats):
        paid = bl.adversaries.cost_leakage(joint_of(build(p), build(K)), _cost.table(table), y)
        assert o.contains(paid.ratio.lower, a.c_ratio(p, K, y, table), paid.ratio.upper)
    o.not_above(bl.adversaries.cost_leakage(joint, _cost.table(table), y), bl.pmc(joint)(y))


@given(threatened())
def test_floats_enclose_the_exact_leakages(case):
    """The nearest floats of a joint are within the rounding that a joint of floats covers."""
    p, K, y, table, P = case
    if any(0 < v < F(1, 2**1022) for row in (p, *K, *P) for v in row):
        table = [[F(1)] * len(table[0]) for _ in table]  # subnormals: enclosed, but widely
    floats = joint_of(o.floats(p), o.floats(K))
    u = bl.Mechanism.from_matrix(o.floats(P))
    gained = bl.adversaries.g_leakage(floats, bl.adversaries.gain.table(table), y)
    paid = bl.adversaries.cost_leakage(floats, _cost.table(table), y)
    right = bl.adversaries.function_leakage(floats, u, y)
    wrong = bl.adversaries.function_leakage(floats, u, y, of="pmc")
    for found, truth in (
        (gained, a.g_ratio(p, K, y, table)),
        (paid, a.c_ratio(p, K, y, table)),
        (right, a.u_ratio("pml", p, K, y, P)),
        (wrong, a.u_ratio("pmc", p, K, y, P)),
    ):
        assert o.contains(found.ratio.lower, truth, found.ratio.upper)
        low, high = found.lower, found.upper
        kind = "pmc" if found is paid or found is wrong else "pml"
        assert low <= getattr(bl, kind)(floats)(y).upper
        if truth in (0, INF):
            assert low == -INF or high == INF
        else:
            assert o.between(low, lambda t=truth: o.log(t), high)


# -- the passages between the views ----------------------------------------------------------------


@given(threatened())
def test_the_function_of_a_gain_leaks_what_the_gain_leaks(case):
    p, K, y, table, _ = case
    joint, gain = joint_of(p, K), bl.adversaries.gain.table(table)
    truth = a.g_ratio(p, K, y, table)
    try:
        u = bl.adversaries.function_of_gain(joint, gain, y)
    except bl.InvalidInput as error:
        q = a.posterior(p, K, y)
        worthless = q is None or 0 in (max(a.expectations(law, table)) for law in (p, q))
        assert worthless or "letters" in str(error)
        return
    P = u.matrix.tolist()
    assert a.u_ratio("pml", p, K, y, P) == truth
    assert bl.adversaries.function_leakage(joint, u, y).ratio == (truth, truth)
    back = bl.adversaries.gain.guessing(u)
    assert bl.adversaries.g_leakage(joint, back, y).ratio == (truth, truth)


@given(threatened())
def test_the_binary_function_of_a_cost_leaks_what_the_cost_leaks(case):
    p, K, y, table, _ = case
    joint, cost = joint_of(p, K), _cost.table(table)
    truth = a.c_ratio(p, K, y, table)
    try:
        u = bl.adversaries.function_of_cost(joint, cost, y)
    except bl.InvalidInput:
        assert a.posterior(p, K, y) is None or min(a.expectations(p, table)) == 0
        return
    assert u.matrix.shape == (len(p), 2)
    assert a.u_ratio("pmc", p, K, y, u.matrix.tolist()) == truth
    assert bl.adversaries.function_leakage(joint, u, y, of="pmc").ratio == (truth, truth)
    back = _cost.guessing(u)
    assert bl.adversaries.cost_leakage(joint, back, y).ratio == (truth, truth)


def test_theorem_2_needs_a_gain_that_is_worth_something_after_y():
    """g = 1[x = 0] is worth nothing at y = 1: it leaks -inf, and no U does."""
    joint = joint_of([HALF, HALF], [[F(1), F(0)], [HALF, HALF]])
    gain = bl.adversaries.gain.table([[1], [0]])
    assert bl.adversaries.g_leakage(joint, gain, 1).upper == -INF
    with pytest.raises(bl.InvalidInput, match="worth something"):
        bl.adversaries.function_of_gain(joint, gain, 1)


# -- edges -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [lambda v: v, o.floats], ids=["fractions", "floats"])
def test_edges(build):
    tiny = F(1, 10**300)
    cases = [
        ([F(1)], [[HALF, HALF]], 0),
        ([F(1), F(0)], [[HALF, HALF], [F(0), F(1)]], 0),
        ([HALF, HALF, F(0)], [[F(1), F(0)], [HALF, HALF], [F(0), F(1)]], 1),
        ([1 - tiny, tiny], [[HALF, HALF], [F(1, 4), F(3, 4)]], 1),
        ([HALF, HALF], [[tiny, 1 - tiny], [3 * tiny, 1 - 3 * tiny]], 0),
        ([HALF, HALF], [[F(1), F(0)], [F(1), F(0)]], 1),
    ]
    for p, K, y in cases:
        joint = joint_of(build(p), build(K))
        for of, as_ in VIEWS:
            truth = o.LEAKAGES[of](p, K, y)
            if of == "pml" and as_ != "gain" and min(v for v in p if v) == tiny:
                with pytest.raises(bl.InvalidInput, match="letters"):
                    bl.adversaries.witness(joint, y, of=of, as_=as_)
                continue
            found = bl.adversaries.witness(joint, y, of=of, as_=as_)
            assert o.encloses(found.leakage(), truth), (p, K, y, of, as_)
            assert found.leakage().width < 1e-12 and found.verify().holds is True


def test_an_outcome_of_density_0_has_leakage_0_and_says_so():
    joint = joint_of([HALF, HALF], [[F(1), F(0)], [F(1), F(0)]])
    for of, as_ in VIEWS:
        found = bl.adversaries.witness(joint, 1, of=of, as_=as_)
        assert found.leakage().lower == found.leakage().upper == 0
        assert any("outside the support" in note for note in found.leakage().assumptions)
        assert found.verify(0).holds is True


def test_labels_never_positions():
    mech = bl.Mechanism.from_matrix(
        [[F(9, 10), F(1, 10)], [F(2, 10), F(8, 10)]], secret=[1, 0], outcome=[5, 0]
    )
    joint = bl.pmf([F(1, 4), F(3, 4)], on=bl.Finite([0, 1])) * mech
    found = bl.adversaries.witness(joint, 5, of="pmc")
    assert found.x == 0 and found.function.secret == mech.secret
    assert found.verify(0).holds is True
    with pytest.raises(bl.OutsideAlphabet):
        bl.adversaries.witness(joint, 1)


MECH = bl.Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75]])
JOINT = bl.pmf([0.5, 0.5]) * MECH


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: bl.adversaries.witness(MECH, 0), "a joint, prior"),
        (lambda: bl.adversaries.witness(JOINT, 0, of="ldp"), "of="),
        (lambda: bl.adversaries.witness(JOINT, 0, as_="cost"), "costs attain PMC"),
        (lambda: bl.adversaries.witness(JOINT, 0, of="pmc", as_="gain"), "gains attain PML"),
        (lambda: bl.adversaries.witness(JOINT, 0, pieces=3), "pieces"),
        (lambda: bl.adversaries.witness(JOINT, 0, of="pmc", pieces=0), "pieces >= 1"),
        (lambda: bl.adversaries.witness(JOINT, 0, of="pmc", pieces=True), "pieces >= 1"),
        (lambda: bl.adversaries.witness(JOINT, 0, of="pmc", pieces=10**6), "letters"),
        (lambda: bl.adversaries.witness(JOINT, [0, 1]), "one outcome"),
        (lambda: bl.adversaries.witness(JOINT, 2), "a label of"),
        (lambda: bl.adversaries.witness(JOINT, 0).verify(-1.0), "tolerance"),
        (lambda: bl.adversaries.witness(JOINT, 0).verify(math.nan), "tolerance"),
        (lambda: bl.adversaries.shattering(MECH), "a finite prior"),
        (lambda: bl.adversaries.shattering(bl.normal()), "a finite prior"),
        (lambda: bl.adversaries.function_of_gain(JOINT, _cost.zero_one(), 0), "a gain"),
        (lambda: bl.adversaries.function_of_cost(JOINT, 1.0, 0), "a cost"),
    ],
)
def test_bad_input(wrong, message):
    with pytest.raises(bl.InvalidInput, match=message):
        wrong()


def test_irrational_gains_and_costs_have_no_rational_function():
    joint = joint_of([HALF, HALF], [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    with pytest.raises(bl.NotYet):
        bl.adversaries.function_of_gain(joint, bl.adversaries.gain.metric(), 0)
    with pytest.raises(bl.NotYet):
        bl.adversaries.function_of_cost(joint, _cost.alpha_loss(2), 0)
    u = bl.adversaries.function_of_cost(joint, _cost.distance(2), 0)
    expected = bl.adversaries.cost_leakage(joint, _cost.distance(2), 0).ratio
    assert bl.adversaries.function_leakage(joint, u, 0, of="pmc").ratio == expected


def test_a_wrong_function_does_not_verify():
    from dataclasses import replace

    joint = joint_of([F(3, 4), F(1, 4)], [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    found = bl.adversaries.witness(joint, 1)
    assert found.verify(0).holds is True
    useless = replace(found, function=bl.Mechanism.from_matrix([[HALF, HALF], [HALF, HALF]]))
    assert useless.leakage().ratio == (1, 1) and useless.verify().holds is False
    assert o.encloses(
        useless.verify().bound, o.pml([F(3, 4), F(1, 4)], joint.mechanism.matrix.tolist(), 1)
    )
