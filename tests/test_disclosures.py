"""Attributes and disclosure against brute force in Fractions, and the paper's examples."""

import math
import pickle
from collections import Counter
from fractions import Fraction as F
from itertools import product

import numpy as np
import oracles as o
import pytest
from mpmath import mp, mpf

import borel as bl
from borel import guarantees as g
from borel.disclosures.attributes import mixtures
from borel.disclosures.summaries import disclosure_rows
from borel.disclosures.verdicts import BOUNDED, CAPACITY, SUPPORT, UNBOUNDED, Decision

INF = math.inf


# -- truths that borel does not compute ------------------------------------------------------------


def law_of(p, A):
    """P_U for P_{U|X} = A."""
    return [sum((p[x] * A[x][u] for x in range(len(p))), F(0)) for u in range(len(A[0]))]


def posterior(p, K, y):
    """P_{X|Y=y}, or None for an outcome of probability 0."""
    mass = sum((p[x] * K[x][y] for x in range(len(p))), F(0))
    return None if mass == 0 else [p[x] * K[x][y] / mass for x in range(len(p))]


def left(p, K, A):
    """The largest posterior probability of a value of U: e^-remaining entropy."""
    posteriors = [posterior(p, K, y) for y in range(len(K[0]))]
    return max(max(law_of(q, A)) for q in posteriors if q is not None)


def disclosed(p, K, A):
    """Definition 3.3 under one prior."""
    return left(p, K, A) == 1


def capacity(K):
    """e^C, secret against secret at every outcome."""
    return max(
        (INF if low == 0 else high / low)
        for y in range(len(K[0]))
        for high in [max(row[y] for row in K)]
        for low in [min(row[y] for row in K)]
        if high > 0
    )


def row(rng, size, zeros):
    weights = [0 if rng.random() < zeros else int(rng.integers(1, 9)) for _ in range(size)]
    if not any(weights):
        weights[int(rng.integers(size))] = 1
    return [F(w, sum(weights)) for w in weights]


def drawn(rng):
    """A random mechanism, attribute, and two priors of full support; zeros are common."""
    n, m, k = (int(rng.integers(2, 5)) for _ in range(3))
    zeros = float(rng.choice([0.0, 0.3, 0.6]))
    K = [row(rng, m, zeros) for _ in range(n)]
    if rng.random() < 0.5:
        A = [[F(int(u == v)) for u in range(k)] for v in rng.integers(0, k, n)]
    else:
        A = [row(rng, k, 0.4) for _ in range(n)]
    return K, A, row(rng, n, 0.0), row(rng, n, 0.0)


def exact(bound, probability):
    """Say if a Bound is exactly -log of a probability."""
    one = 1 / probability
    return (
        bound.status == "exact"
        and bound.ratio == (one, one)
        and o.between(bound.lower, lambda: o.log(one), bound.upper)
    )


def check_theorems(count, seed):
    """Theorems 3.4, 3.5, 3.7 and (A.2), by brute force, with borel's figures beside them."""
    rng = np.random.default_rng(seed)
    told = Counter()
    for _ in range(count):
        K, A, p, q = drawn(rng)
        constant = len({u for a in A for u, v in enumerate(a) if v > 0}) == 1
        mech, U = bl.Mechanism.from_matrix(K), bl.Mechanism.from_matrix(A)
        joint = bl.pmf(p) * mech
        truth, before = disclosed(p, K, A), max(law_of(p, A))
        assert truth == disclosed(q, K, A), "Theorem 3.4"
        verdict = bl.discloses(mech, U)
        assert verdict.holds is truth
        if truth and not constant:
            y, u = verdict.witness["y"], verdict.witness["u"]
            assert law_of(posterior(q, K, y), A)[u] == 1
        assert exact(bl.min_entropy(joint, U), before)
        assert exact(bl.remaining_entropy(joint, U), left(p, K, A))
        for y in range(len(K[0])):
            after = posterior(p, K, y)
            if after is not None:
                assert exact(bl.remaining_entropy(joint, U, y), max(law_of(after, A)))
                assert max(law_of(after, A)) <= before * o.pml(p, K, y), "(A.2)"
        line = o.sup("pml", p, K)
        if 1 / before > line:
            assert not truth, "Theorem 3.5"
            told["3.5"] += 1
        c = capacity(K)
        if c < INF:
            assert constant or not truth, "Theorem 3.7, but for constants"
            told["3.7"] += 1
            deterministic = all(v in (0, 1) for a in A for v in a)
            if deterministic and not constant:
                for prior in (p, q):
                    floor = 1 + min(prior) / (1 - min(prior)) / c
                    assert 1 / left(prior, K, A) >= floor, "Theorem 3.7, second sentence"
        (found,) = disclosure_rows(joint, {"U": U})
        assert found.verdict == ("disclosed" if truth else "not disclosed")
        told["disclosed" if truth else "kept"] += 1
    return told


def test_theorems_by_brute_force():
    told = check_theorems(100, 0)
    assert min(told[k] for k in ("3.5", "3.7", "disclosed", "kept")) >= 10, told


@pytest.mark.truths
@pytest.mark.parametrize("seed", range(1, 7))
def test_theorems_by_brute_force_on_many(seed):
    told = check_theorems(500, seed)
    assert min(told[k] for k in ("3.5", "3.7", "disclosed", "kept")) >= 50, told


def test_discloses_against_priors_near_vertices():
    """Definition 3.3 under random priors, some of them close to a vertex or a face."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        K, A, *_ = drawn(rng)
        n = len(K)
        priors = [row(rng, n, 0.0) for _ in range(3)]
        for x in range(n):
            near = [F(1, 10**6)] * n
            near[x] = 1 - (n - 1) * F(1, 10**6)
            priors.append(near)
        truths = {disclosed(p, K, A) for p in priors}
        verdict = bl.discloses(bl.Mechanism.from_matrix(K), bl.Mechanism.from_matrix(A))
        assert truths == {verdict.holds}


# -- the two errata --------------------------------------------------------------------------------


def test_theorem_3_7_fails_for_constants():
    """A constant is disclosed by Definition 3.3, although the leakage capacity is finite."""
    mech = bl.mechanisms.randomized_response(k=3, epsilon=1.0)
    assert bl.leakage_capacity(mech).upper < INF
    verdict = bl.discloses(mech, lambda x: "the same")
    assert verdict.holds is True and verdict.bound.upper == 0
    assert bl.discloses(mech, {0}).holds is False
    joint = bl.pmf([F(1, 3)] * 3) * mech
    for U in (lambda x: "the same", {0, 1, 2}):
        with pytest.raises(bl.InvalidInput, match="not constant"):
            bl.smaller_disclosure(joint, U)
    # as a theorem of the calculus it speaks of entropies above 0, which constants do not have
    (theorem,) = [t for t in g.theorems() if t.name == "disclosure paper, Theorem 3.7"]
    assert "constant" in theorem.correction
    assert g.implied(g.LDP(1.0)).best(g.DisclosurePrevention) == g.DisclosurePrevention(0)
    assert joint.satisfies(g.DisclosurePrevention(0)).holds is True


def threshold(n, m):
    """Whether more than m of n are ones, answered without noise."""
    rows = [[F(int(s <= m)), F(int(s > m))] for s in range(n + 1)]
    return bl.Mechanism.from_matrix(rows, secret=bl.Integers(0, n))


def binomial(n, m, p):
    """P{at most m ones}."""
    return sum((math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(m + 1)), F(0))


def chernoff(n, q, p):
    """exp(-n KL(q || p)) to 400 digits."""
    with mp.workdps(400):
        q, p = (mpf(v.numerator) / v.denominator for v in (q, p))
        terms = [a * mp.log(a / b) for a, b in ((q, p), (1 - q, 1 - p)) if a > 0]
        return mp.exp(-n * sum(terms))


FIGURE_1 = [
    pytest.param(n, n * share // 20, p, marks=pytest.mark.truths if n > 500 else ())
    for n in (200, 500, 1000, 2000)
    for p in (F(3, 10), F(1, 2))
    for share in (1, 2, 4)
]
VALUES = {(200, 20, F(3, 10)): 9.8768879e-12}


@pytest.mark.few(8)
@pytest.mark.parametrize(("n", "m", "p"), [*FIGURE_1, (200, 60, F(1, 2))])
def test_example_3_11_and_figure_1(n, m, p):
    """The exact binomial tail is below the Chernoff bound, at both answers."""
    value = VALUES.get((n, m, p))
    joint = bl.iid(bl.pmf([1 - p, p]), n) * threshold(n, m)
    leak, tail = bl.pml(joint), binomial(n, m, p)
    assert leak(1).ratio == (1 / (1 - tail),) * 2
    assert leak(0).ratio == (1 / tail,) * 2
    if value is not None:
        assert leak(1).value == pytest.approx(value, rel=1e-7)
    with mp.workdps(400):
        bound = -mp.log1p(-chernoff(n, F(m, n), p))
        assert mpf(tail.numerator) / tail.denominator < chernoff(n, F(m, n), p)
        # of floats 5e-324 is the least above 0
        assert leak(1).upper < max(bound, mpf("1e-323")) < bl.min_entropy(joint, 0).lower, (
            "orders below H(S_i)"
        )
        # the paper's other bound, of the answer no: trivial here, sharp for m close to n
        top = bl.pml(bl.iid(bl.pmf([1 - p, p]), n) * threshold(n, n - m - 1))(0)
        other = -mp.log1p(-chernoff(n, 1 - F(n - m, n), 1 - p))
        assert top.upper < max(other, mpf("1e-323"))
    least = bl.min_entropy(bl.priors.bernoulli(F(3, 10), F(7, 10)))
    assert least.ratio == (F(10, 7),) * 2 and round(least.value, 2) == 0.36
    assert leak(1).upper < least.lower < leak.sup().lower


def test_the_answer_no_may_disclose_everybody():
    """Example 3.11 looks at the answer yes only; with m = 0 the other one gives all away."""
    n, p = 20, F(1, 2)
    joint = bl.iid(bl.pmf([1 - p, p]), n) * threshold(n, 0)
    assert bl.pml(joint)(1).value == pytest.approx(9.5e-7, rel=0.01)
    assert bl.pml(joint)(1).ratio.upper == 1 / (1 - F(1, 2**n))
    assert bl.pml(joint)(1).upper < bl.min_entropy(joint, 0).lower, "the paper's condition holds"
    someone = bl.entry(joint)
    assert someone.posterior(0).probabilities.tolist() == [1, 0]
    assert bl.discloses(someone.mechanism).witness["y"] == 0
    assert bl.remaining_entropy(joint, 3).upper == 0
    assert bl.disclosure(joint, {"Bob": 3})["verdict"].item() == "disclosed"
    # Theorem 3.5 needs the larger of both answers
    assert bl.pml(joint).sup().lower > bl.min_entropy(joint, 0).upper
    larger = bl.pml(bl.iid(bl.pmf([F(7, 10), F(3, 10)]), 200) * threshold(200, 20)).sup()
    assert larger.value == pytest.approx(25.3, abs=0.05)
    assert larger.ratio.lower == 1 / binomial(200, 20, F(3, 10))


# -- examples 3.1 and 3.2 --------------------------------------------------------------------------


def quantised(value):
    """The middle of the third of [0, 1] that a fraction lies in; 1 belongs to the last."""
    return F(2 * min(int(3 * value), 2) + 1, 6)


def test_example_3_1_the_mean_loses_its_entropy_and_the_first_row_keeps_it():
    D = bl.pmf([F(1, 2), F(1, 4), F(1, 4)], on=bl.Finite([0, 1, 2]))
    entropies = []
    for n in (1, 3, 6):
        identity = bl.Mechanism.from_matrix([[1, 0], [0, 1], [0, 1]], secret=D.on)
        joint = bl.iid(D, n) * (identity if n == 1 else identity_on_first(D.on, n))
        mean = bl.min_entropy(joint, lambda x, n=n: quantised(F(int(np.sum(x)), 2 * n)))
        law = Counter()
        for x in product(range(3), repeat=n):
            law[quantised(F(sum(x), 2 * n))] += math.prod(F(1, 4) if d else F(1, 2) for d in x)
        assert exact(mean, max(law.values()))
        entropies.append(mean.value)
        assert exact(bl.min_entropy(joint, 0) if n > 1 else bl.min_entropy(joint), F(1, 2))
    assert entropies[-1] < entropies[0]
    n = 1000
    thirds = F(1, 6), F(1, 2), F(5, 6)
    mech = bl.Mechanism.from_matrix(
        [[F(int(quantised(F(s, n)) == v)) for v in thirds] for s in range(n + 1)],
        secret=bl.Integers(0, n),
    )
    joint = bl.iid(bl.pmf([F(1, 2), F(1, 2)]), n) * mech
    mean = bl.min_entropy(joint, lambda s: quantised(F(int(s), n)))
    inside = sum(math.comb(n, s) for s in range(n + 1) if 3 * s // n == 1)
    assert exact(mean, F(inside, 2**n)) and mean.upper < 1e-25
    assert exact(bl.min_entropy(joint, 0), F(1, 2)), "the first row keeps its bit"
    assert bl.discloses(mech, lambda s: quantised(F(int(s), n))).holds is True
    assert disclosure_rows(joint, {"Bob": 0})[0].verdict == "not disclosed"


def identity_on_first(entries, n):
    secret = entries**n
    return bl.Mechanism.from_matrix(
        [[F(int(x[0] == d)) for d in entries.labels] for x in secret.labels], secret=secret
    )


def frequencies(sick_smokers, smokers, sick, others):
    """The quantised relative frequencies of lung disease among smokers and the others."""
    return tuple(
        "nobody" if total == 0 else quantised(F(count, total))
        for count, total in ((sick_smokers, smokers), (sick, others))
    )


def test_example_3_2_relative_frequencies_lose_their_entropy():
    """Labels are (smokes, is ill); the database by enumeration, and by its counts."""
    p = {(1, 1): F(1, 4), (1, 0): F(1, 4), (0, 1): F(1, 20), (0, 0): F(9, 20)}
    entry = bl.pmf(list(p.values()), on=bl.Finite(list(p)))

    def by_counts(n):
        law = {}
        for a, b, c in product(range(n + 1), repeat=3):
            if (d := n - a - b - c) >= 0:
                ways = math.factorial(n) // math.prod(math.factorial(k) for k in (a, b, c, d))
                law[a, b, c, d] = ways * math.prod(
                    m**k for m, k in zip(p.values(), (a, b, c, d), strict=True)
                )
        prior = bl.pmf(list(law.values()), on=bl.Finite(list(law)))
        said = Counter()
        for (a, b, c, d), mass in law.items():
            said[frequencies(a, a + b, c, c + d)] += mass
        found = bl.min_entropy(prior, lambda k: frequencies(k[0], k[0] + k[1], k[2], k[2] + k[3]))
        assert exact(found, max(said.values()))
        return found

    def of_rows(x):
        count = Counter(x)
        a, b, c, d = (count[label] for label in p)
        return frequencies(a, a + b, c, c + d)

    n = 4
    rows = bl.Finite(list(p)) ** n
    law = bl.pmf([math.prod(p[d] for d in x) for x in rows.labels], on=rows)
    assert bl.min_entropy(law, of_rows) == by_counts(n).about(
        witness=bl.min_entropy(law, of_rows).witness
    )
    values = [by_counts(n).value for n in (4, 12, 24)]
    assert values[0] > values[1] > values[2], "with the size of the database"
    assert values[2] < bl.min_entropy(entry, lambda d: d[1]).lower, "below Bob's own"


# -- propositions 3.6 and 3.8 ----------------------------------------------------------------------


def test_proposition_3_8_and_its_mechanism():
    rng = np.random.default_rng(2)
    for _ in range(30):
        p = row(rng, int(rng.integers(2, 6)), 0.2)
        if sum(m > 0 for m in p) < 2:
            continue
        prior, least = bl.pmf(p), min(m for m in p if m > 0)
        level, U, mech = bl.cheapest_disclosure(prior)
        assert level.ratio == (1 / (1 - least),) * 2 and level.status == "exact"
        leak = bl.pml(prior * mech)
        assert leak.sup().ratio == level.ratio == leak(1).ratio
        assert bl.discloses(mech, U).holds is True and bl.leakage_capacity(mech).lower == INF
        assert bl.min_entropy(prior, U).ratio.upper <= level.ratio.lower or least == F(1, 2)
    found = bl.cheapest_disclosure(bl.pmf([0.5, 0.3, 0.2]))
    assert o.between(found.level.lower, lambda: o.log(F(5, 4)), found.level.upper)
    assert bl.pml(bl.pmf([0.5, 0.3, 0.2]) * found.mechanism).sup().lower <= found.level.upper
    with pytest.raises(bl.InvalidInput, match="constant"):
        bl.cheapest_disclosure(bl.pmf([1, 0]))
    with pytest.raises(bl.InvalidInput):
        bl.cheapest_disclosure(bl.normal())


def test_below_the_cheapest_level_nothing_is_disclosed():
    """The first half of Proposition 3.8, on random mechanisms."""
    rng, told = np.random.default_rng(3), 0
    for _ in range(300):
        K, _, p, _ = drawn(rng)
        if o.sup("pml", p, K) < 1 / (1 - min(p)):
            assert capacity(K) < INF
            told += 1
    assert told > 5


def test_proposition_3_6():
    rng, told = np.random.default_rng(4), 0
    for _ in range(120):
        K, A, p, _ = drawn(rng)
        U = bl.Mechanism.from_matrix(A)
        joint = bl.pmf(p) * bl.Mechanism.from_matrix(K)
        if max(law_of(p, A)) == 1:
            continue
        if not disclosed(p, K, A):
            with pytest.raises(bl.InvalidInput, match="discloses"):
                bl.smaller_disclosure(joint, U)
            continue
        W = bl.smaller_disclosure(joint, U)
        rows = [list(r) for r in W.matrix]
        assert disclosed(p, K, rows) and max(law_of(p, rows)) > max(law_of(p, A))
        told += 1
    assert told > 20
    floats = bl.pmf([0.5, 0.3, 0.2]) * bl.Mechanism.from_matrix([[1, 0], [0.5, 0.5], [0.1, 0.9]])
    W = bl.smaller_disclosure(floats, {1, 2})
    assert bl.discloses(floats.mechanism, W).holds is True
    assert bl.min_entropy(floats, W).upper < bl.min_entropy(floats, {1, 2}).lower


# -- floats, sets of priors, counts ----------------------------------------------------------------


def test_floats_enclose_the_truth():
    rng = np.random.default_rng(7)
    for _ in range(40):
        K, A, p, _ = drawn(rng)
        joint = bl.pmf(o.floats(p)) * bl.Mechanism.from_matrix(o.floats(K))
        for U, B in ((bl.Mechanism.from_matrix(o.floats(A)), A), (None, None)):
            B = B or [[F(int(i == j)) for j in range(len(p))] for i in range(len(p))]
            for found, truth in (
                (bl.min_entropy(joint, U), max(law_of(p, B))),
                (bl.remaining_entropy(joint, U), left(p, K, B)),
            ):
                assert found.status == "exact" and found.width < 1e-12
                assert o.between(found.lower, lambda t=truth: o.log(1 / t), found.upper)
        about = bl.attribute(joint, bl.Mechanism.from_matrix(o.floats(A)))
        top, truth = bl.pml(about).sup(), attribute_pml(p, K, A)
        assert o.between(top.lower, lambda t=truth: o.log(t), top.upper)


def attribute_pml(p, K, A):
    """e^sup PML of U, from the definition."""
    before = law_of(p, A)
    posteriors = [posterior(p, K, y) for y in range(len(K[0]))]
    return max(
        after / prior
        for q in posteriors
        if q is not None
        for after, prior in zip(law_of(q, A), before, strict=True)
        if prior > 0
    )


def test_every_measure_applies_to_an_attribute():
    rng = np.random.default_rng(8)
    for _ in range(40):
        K, A, p, _ = drawn(rng)
        joint = bl.pmf(p) * bl.Mechanism.from_matrix(K)
        about = bl.attribute(joint, bl.Mechanism.from_matrix(A))
        assert bl.pml(about).sup().ratio == (attribute_pml(p, K, A),) * 2
        kept = [u for u in law_of(p, A) if u > 0]
        assert about.prior.probabilities.tolist() == kept
        assert bl.pml(about).sup().ratio.upper <= bl.pml(joint).sup().ratio.lower
        assert np.all(about.marginal.probabilities == joint.marginal.probabilities)


@pytest.mark.parametrize("radius", [F(1, 20), F(1, 4)])
def test_over_a_set_of_priors_the_least(radius):
    """A total variation ball by its vertices: mass moved from one secret to another."""
    rng = np.random.default_rng(9)
    for _ in range(8):
        K, A, p, _ = drawn(rng)
        ball = bl.priors.tv_ball(bl.pmf(p), radius)
        vertices = list(moved(p, radius))
        U = bl.Mechanism.from_matrix(A)
        most = max(max(law_of(q, A)) for q in vertices)
        assert exact(bl.min_entropy(ball, U), most)
        shares = [left(q, K, A) for q in vertices]
        found = bl.remaining_entropy(ball * bl.Mechanism.from_matrix(K), U)
        assert found.status == "exact"
        # a ratio of linear functions is largest at a vertex; outcomes of mass 0 do not count there
        assert o.between(found.lower, lambda s=shares: o.log(1 / max(s)), found.upper)
        assert found.width < 1e-12
        floats = bl.Mechanism.from_matrix(o.floats(K)), bl.Mechanism.from_matrix(o.floats(A))
        near = bl.remaining_entropy(ball * floats[0], floats[1])
        assert o.between(near.lower, lambda s=shares: o.log(1 / max(s)), near.upper)


def moved(p, radius):
    """The vertices of a total variation ball: one secret gains, the others lose in some order."""
    from itertools import permutations

    for order in permutations(range(len(p))):
        q, rest = list(p), min(radius, 1 - p[order[-1]])
        q[order[-1]] += rest
        for x in order[:-1]:
            loss = min(q[x], rest)
            q[x] -= loss
            rest -= loss
        yield q
    yield list(p)


def test_over_all_priors_nothing_is_left_of_what_is_disclosed():
    mech = bl.Mechanism.from_matrix([[F(1), F(0)], [F(1, 2), F(1, 2)]])
    joint = bl.priors.full_support(bl.Finite(2)) * mech
    assert bl.remaining_entropy(joint, {1}).upper == 0
    assert bl.min_entropy(joint).lower == 0
    found = bl.disclosure(joint, {"x": None})
    assert found["verdict"].item() == "disclosed"


def verdicts_of(priors, mech, U):
    """The verdict over a set of priors, and what is said of it."""
    (said,) = disclosure_rows(priors * mech, {"U": U})
    return said.verdict, said.remaining.status


def test_members_of_less_support_may_be_sure_of_more():
    """Y = 1 rules 0 out, and who knows that X is not 2 is sure that it is not 2, after all."""
    p = [F(1, 2), F(1, 4), F(1, 4)]
    K = [[F(1), F(0)], [F(1, 2), F(1, 2)], [F(1, 2), F(1, 2)]]
    prior, mech = bl.pmf(p), bl.Mechanism.from_matrix(K)
    most = max(left(q, K, [[F(1), F(0)], [F(1), F(0)], [F(0), F(1)]]) for q in moved(p, F(1, 4)))
    assert most == 1 and not disclosed(p, K, [[F(1), F(0)], [F(1), F(0)], [F(0), F(1)]])
    without = bl.pmf([F(1, 2), F(1, 2), F(0)])
    narrow, wide = (bl.priors.tv_ball(prior, F(1, k)) for k in (8, 4))
    for priors, verdict in (
        (narrow, "not disclosed"),
        (wide, "undecided"),
        (bl.priors.hull([without, prior]), "undecided"),
        (bl.priors.union([bl.priors.hull([without]), narrow]), "undecided"),
        (bl.priors.full_support(bl.Finite(3)), "not disclosed"),
    ):
        assert verdicts_of(priors, mech, {2})[0] == verdict
        assert verdicts_of(priors, mech, {0}) == ("disclosed", "exact")
        assert verdicts_of(priors, mech, {0, 1, 2}) == ("disclosed", "exact")
    # 2 is possible to no member: what is not 2 is a constant
    assert verdicts_of(bl.priors.hull([without]), mech, {2}) == ("disclosed", "exact")


def test_the_assumptions_of_an_undecided_figure_are_those_of_the_verdict():
    found = bl.Bound.undecided(0.25, 0.5, reason="why", assumptions=("the weather",))
    left_over = Decision(False, "by").settled(found)
    assert (left_over.status, left_over.assumptions) == ("conditional", ("the weather",))
    assert Decision(None, "by").settled(found).assumptions == ("the weather",)
    assert Decision(True, "by").settled(found).status == "exact"


def test_from_counts_with_confidence():
    learnt = bl.priors.from_counts([30, 50, 20], confidence=F(95, 100), method="box")
    found = bl.min_entropy(learnt, {0})
    assert found.status == "statistical" and found.confidence == pytest.approx(0.95)
    upper = max(learnt.upper([1, 0, 0]).upper, learnt.upper([0, 1, 1]).upper)
    assert found.lower == pytest.approx(-math.log(upper)) and found.lower < -math.log(0.7)
    mech = bl.mechanisms.randomized_response(k=3, epsilon=0.25)
    (said,) = disclosure_rows(learnt * mech, {"answer": None})
    assert said.verdict == "not disclosed" and said.confidence == pytest.approx(0.95)
    assert said.by.startswith("Theorem 3.5")
    left_over = bl.remaining_entropy(learnt * mech)
    assert left_over.status == "statistical"
    # (A.2) holds of the set, too
    assert left_over.upper >= bl.min_entropy(learnt).lower - bl.pml(learnt * mech).sup().upper


def test_an_entry_of_a_database_of_bits_over_a_set_of_priors():
    """Proposition 4.6 and (A.2): at least the least H(S_i) less the supremum of PML is left."""
    bits = bl.iid(bl.priors.bernoulli(F(3, 10), F(7, 10)), 200)
    joint = bits * bl.mechanisms.counting_query(n=200, b=0.05)
    assert exact(bl.min_entropy(joint, 0), F(7, 10))
    (said,) = disclosure_rows(joint, {"Bob": 0})
    assert said.verdict == "not disclosed" and said.by.startswith("Theorem 3.5")
    with mp.workdps(40):  # a = 1/(nb) = 1/10 to the rounding of the float 0.05
        line = mpf(1) / 10 - mp.log(mpf(7) / 10 + 3 * mp.exp(mpf(1) / 10) / 10)
        assert abs(said.line.value - line) < 1e-12
        assert said.remaining.lower >= -mp.log(mpf(7) / 10) - line - mpf(10) ** -12
    assert said.remaining.upper == pytest.approx(-math.log(0.7))


def test_a_rational_prior_is_exact_beside_a_kernel_of_floats():
    """Y = 1 rules out a secret of probability 795/6329789, whatever the floats of the kernel."""
    p = [F(795, 6329789), F(6328994, 6329789)]
    joint = bl.pmf(p) * bl.Mechanism.from_matrix([[1.0, 0.0], [0.75, 0.25]])
    for ratio, holds in ((1 / p[1], True), (1 / p[1] - F(1, 10**30), False)):
        assert joint.satisfies(g.DisclosurePrevention(ratio=ratio)).holds is holds


# -- tables ----------------------------------------------------------------------------------------


def survey():
    pd = pytest.importorskip("pandas")
    rows = {"smokes": ["yes", "no", "no", "no", "yes", "no"], "age": [30, 40, 30, 50, 40, 30]}
    return pd.DataFrame(rows | {"ill": pd.Categorical(list("nnyynn"), categories=["n", "y", "?"])})


def test_a_table_has_its_columns_as_attributes():
    frame = survey()
    person = bl.table(frame, ["smokes", "age", "ill"])
    assert person.on.columns == ("smokes", "age", "ill") and person.on.size == 2 * 3 * 3
    assert exact(bl.min_entropy(person, "age"), F(1, 2))
    assert exact(bl.min_entropy(person, "ill"), F(2, 3))
    assert exact(bl.min_entropy(person), F(1, 6))
    tells = bl.Mechanism.from_matrix(
        [[F(int(x[0] == v)) for v in ("no", "yes")] for x in person.on.labels],
        secret=person.on,
        outcome=["no", "yes"],
    )
    found = bl.disclosure(person * tells, {name: name for name in person.on.columns})
    # those who smoke are all well, in this table
    assert found["verdict"].values.tolist() == ["disclosed", "not disclosed", "disclosed"]
    assert bl.discloses(tells, "ill").holds is False, "under a prior of full support"
    assert found["by"].values[0] == SUPPORT
    assert bl.discloses(tells, "smokes").holds is True
    assert bl.discloses(tells, "age").holds is False
    assert bl.discloses(tells, 0).holds is True, "a column by its number"
    about = bl.attribute(person * tells, "age")
    assert about.prior.on.labels == (30, 40, 50) and about.prior.on.columns == ()
    again = pickle.loads(pickle.dumps(person))
    assert again.on.columns == person.on.columns and again.on == person.on
    learnt = bl.table(frame, ["smokes", "age"], confidence=0.9)
    assert bl.min_entropy(learnt, "smokes").status == "statistical"
    assert "categories" in learnt.assumptions[-1]
    alone = bl.table(frame, "smokes")
    assert alone.on.labels == ("no", "yes") and exact(bl.min_entropy(alone, "smokes"), F(2, 3))
    two = bl.iid(alone, 2) * bl.Mechanism.from_matrix(
        [[1, 0], [0, 1], [0, 1], [0, 1]], secret=alone.on**2
    )
    assert bl.discloses(bl.entry(two).mechanism).witness["u"] == "no"


def test_columns_have_names_whatever_the_labels_of_the_mechanism_are_called():
    noisy = bl.mechanisms.randomized_response(secret=["no", "yes"], ratio=2)
    joint = bl.table(survey(), "smokes") * noisy
    # two of three do not smoke: given "no" it is 4 of 5, and given "yes" 1 of 2
    assert exact(bl.remaining_entropy(joint, "smokes"), F(4, 5))
    assert bl.disclosure(joint, {"smokes": "smokes"})["verdict"].item() == "not disclosed"


# -- densities -------------------------------------------------------------------------------------


@pytest.mark.parametrize("y", [-1.5, 0.3, 4.0])
def test_at_an_outcome_of_laplace_noise(y):
    p = [F(1, 2), F(1, 4), F(1, 4)]
    joint = bl.pmf(p) * bl.mechanisms.laplace(b=1.0, secret=bl.Finite(3))
    with mp.workdps(40):
        w = [mpf(1) / mpf(m.denominator) * mp.exp(-abs(mpf(y) - x)) for x, m in enumerate(p)]
        for U, share in (({0}, max(w[0], w[1] + w[2])), (None, max(w))):
            found = bl.remaining_entropy(joint, U, y)
            assert found.status == "certified" and found.width < 1e-8
            assert found.lower <= mp.log(sum(w) / share) <= found.upper


@pytest.mark.slow
def test_over_all_outcomes_of_laplace_noise():
    p = [F(1, 2), F(1, 4), F(1, 4)]
    mech = bl.mechanisms.laplace(b=1.0, secret=bl.Finite(3))
    found = bl.remaining_entropy(bl.pmf(p) * mech, {0})
    with mp.workdps(40):  # beyond both ends the posterior is the same
        ends = []
        for factors in ([1, mp.exp(-1), mp.exp(-2)], [mp.exp(-2), mp.exp(-1), 1]):
            w = [f * m.numerator / m.denominator for f, m in zip(factors, p, strict=True)]
            ends.append(max(w[0], w[1] + w[2]) / sum(w))
        assert found.lower <= -mp.log(max(ends)) <= found.upper
    assert found.lower > 0
    verdict = bl.discloses(mech, {0})
    assert verdict.holds is False and verdict.witness["by"] == CAPACITY


@pytest.mark.slow
def test_gaussian_noise_discloses_the_ends_of_a_finite_secret():
    mech = bl.mechanisms.gaussian(sigma=1.0, secret=bl.Finite(3))
    verdict = bl.discloses(mech, {2})
    assert verdict.holds is True and verdict.witness["u"] in (0, 1)


def test_what_is_left_by_pml_is_sharp_for_a_fair_bit():
    """H - PML is the truth, log(1 + 1/e): it may not be exceeded."""
    found = bl.discloses(bl.mechanisms.laplace(b=1.0, secret=bl.Finite(2))).bound
    with mp.workdps(40):
        assert found.lower <= mp.log(1 + mp.exp(-1)) < found.lower + 1e-8


def test_a_secret_that_is_ruled_out_is_not_disclosed():
    """Y in (0, 1) with densities 1, 2y, 2(1 - y): as y -> 0 only the second is ruled out."""
    on = bl.Interval(0, 1)
    two = bl.Mechanism(lambda y, x: np.where(x == 0, 1.0, 2 * y), secret=bl.Finite(2), outcome=on)
    verdict = bl.discloses(two)
    assert verdict.holds is True and verdict.witness == {"u": 0, "by": UNBOUNDED}
    three = bl.Mechanism(
        lambda y, x: np.where(x == 0, 1.0, np.where(x == 1, 2 * y, 2 * (1 - y))),
        secret=bl.Finite(3),
        outcome=on,
    )
    assert bl.leakage_capacity(three).lower == INF
    verdict = bl.discloses(three)
    assert verdict.holds is False and verdict.witness["by"] == BOUNDED
    assert bl.discloses(three, {1}).holds is True, "whether it is the second: no, as y -> 0"


def test_densities_with_supports_of_their_own():
    """Uniform on [x, x + 3/2]: some outcomes leave one secret, none leaves 0 and 1 but not 2."""
    box = bl.Mechanism(
        lambda y, x: np.where((y >= x) & (y <= x + 1.5), 1 / 1.5, 0.0),
        secret=bl.Finite(3),
        outcome=bl.Interval(0, 4),
        breaks=(0, 1, 1.5, 2, 2.5, 3, 3.5),
    )
    assert all(bl.discloses(box, U).holds is True for U in ({0}, {1}, {0, 2}, None))
    joint = bl.pmf([F(1, 3)] * 3) * box
    for y, secret, first in ((0.5, 1, 1), (1.2, 2, 2), (1.7, 1, 1), (2.2, 2, 1)):
        for found, left_over in (
            (bl.remaining_entropy(joint, None, y), secret),
            (bl.remaining_entropy(joint, {0}, y), first),
        ):
            assert found.proved and found.width < 1e-12
            assert o.between(found.lower, lambda n=left_over: o.log(F(n)), found.upper)


def test_events_of_a_continuous_secret():
    """P(X > 1/4 | y) for a uniform secret and Laplace noise, in closed form."""
    on = bl.Interval(0, 1)
    joint = bl.uniform(on) * bl.mechanisms.laplace(b=1.0, secret=on)
    event = lambda x: x > 0.25  # noqa: E731
    before = bl.min_entropy(joint, event)
    assert before.lower <= math.log(4 / 3) <= before.upper and before.width < 1e-9
    found = bl.remaining_entropy(joint, event, -1.0)
    with mp.workdps(40):  # given y < 0 the density of X is as e^-x
        share = (mp.exp(mpf("-0.25")) - mp.exp(-1)) / (1 - mp.exp(-1))
        assert found.lower <= -mp.log(max(share, 1 - share)) <= found.upper
    assert found.width < 1e-6 and found.status == "certified"
    left_over = bl.remaining_entropy(joint, event)
    assert left_over.status == "certified" and left_over.lower > 0
    assert bl.discloses(joint.mechanism, event).holds is False
    with pytest.raises(bl.NotYet):
        bl.min_entropy(joint, {0.5})
    assert bl.min_entropy(joint).lower == bl.remaining_entropy(joint).lower == INF
    assert bl.remaining_entropy(joint, None, 0.5).lower == INF
    wide = bl.mechanisms.gaussian(sigma=1.0, secret=bl.Reals())
    assert bl.discloses(wide).holds is False and bl.discloses(wide, event).holds is None
    assert bl.min_entropy(joint, lambda x: x > 2).upper < 1e-12, "an event of probability 0"


def by_mass(*weights):
    """-log of the largest share of some weights."""
    return -mp.log(max(weights) / sum(weights))


@pytest.mark.few(1)
@pytest.mark.parametrize("y", [-2.0, 0.5, 5.0])
def test_an_attribute_of_three_values_of_a_normal_secret(y):
    """Given y the secret is normal around y/2 with variance 1/2; 0.5 is an atom that is avoided."""
    thirds = bl.mechanisms.function(
        lambda x: np.where(x < 0, 0.0, np.where(x < 1, 1.0, 2.0)),
        secret=bl.Reals(),
        outcome=[0, 1, 2],
    )
    joint = bl.normal() * bl.mechanisms.gaussian(sigma=1.0, secret=bl.Reals())
    found = bl.remaining_entropy(joint, thirds, y)
    with mp.workdps(40):
        low, high = (mp.ncdf((t - mpf(y) / 2) * mp.sqrt(2)) for t in (0, 1))
        assert found.lower <= by_mass(low, high - low, 1 - high) <= found.upper
        before = bl.min_entropy(joint, thirds)
        assert before.lower <= mp.log(2) <= before.upper
    assert found.width < 1e-8 and before.width < 1e-9 and found.proved
    assert found.witness["u"] == {-2.0: 0, 0.5: 1, 5.0: 2}[y]


def test_a_randomised_attribute_of_a_continuous_secret():
    """P(U = 1|x) = x/2 + 1/4, Y uniform around nothing: given Y = 1 the density of X is 2x."""
    on = bl.Interval(0, 1)
    U = bl.Mechanism(
        lambda u, x: np.where(u == 1, x / 2 + 0.25, 0.75 - x / 2), secret=on, outcome=bl.Finite(2)
    )
    bit = bl.Mechanism(lambda y, x: np.where(y == 1, x, 1 - x), secret=on, outcome=bl.Finite(2))
    joint = bl.uniform(on) * bit
    with mp.workdps(30):
        for found, share in (
            (bl.min_entropy(joint, U), mpf(1) / 2),
            (bl.remaining_entropy(joint, U, 1), mpf(7) / 12),
            (bl.remaining_entropy(joint, lambda x: x > 0.5, 1), mpf(3) / 4),
        ):
            # P(U = 1|x) is 3/4 at most, so that the ends are apart
            assert found.proved and found.lower <= -mp.log(share) <= found.upper
    assert bl.remaining_entropy(joint, lambda x: x > 0.5, 1).width < 1e-9


@pytest.mark.parametrize("y", [0.0, 0.3, 0.5, 1.0])
def test_an_event_where_outcomes_have_atoms(y):
    """P(X > 1/4 | y) of Laplace noise that is clipped to [0, 1]."""
    on = bl.Interval(0, 1)
    joint = bl.uniform(on) * bl.mechanisms.laplace(b=1.0, secret=on).clip(0, 1)
    found = bl.remaining_entropy(joint, lambda x: x > 0.25, y)

    def up_to(t):
        """The integral of e^-|x - y| over (0, t); at the atoms it is that of the tail beyond."""
        near = min(mpf(t), mpf(y))
        return mp.exp(near - y) - mp.exp(-mpf(y)) + 1 - mp.exp(near - t)

    with mp.workdps(30):
        assert found.lower <= by_mass(up_to(0.25), up_to(1) - up_to(0.25)) <= found.upper
    assert found.status == "certified" and found.width < 1e-8


def test_integers_at_an_outcome():
    """A Poisson secret with two-sided noise: an event, and the secret itself."""
    prior, on = bl.poisson(mu=3.0), bl.Integers(0, None)
    whole = prior * bl.mechanisms.geometric(alpha=0.5, secret=on)
    real = prior * bl.mechanisms.laplace(b=1.0, secret=on)
    event = lambda x: x > 2  # noqa: E731
    with mp.workdps(30):
        law = [mpf(3) ** k / mp.factorial(k) for k in range(120)]
        for joint, y, factor in ((whole, 1, mpf(1) / 2), (real, 0.5, mp.exp(-1))):
            w = [m * factor ** abs(y - k) for k, m in enumerate(law)]
            for found, truth in (
                (bl.remaining_entropy(joint, event, y), by_mass(sum(w[:3]), sum(w[3:]))),
                (bl.remaining_entropy(joint, None, y), by_mass(*w)),
            ):
                assert found.proved and found.lower <= truth <= found.upper
                assert found.width < 1e-8


def test_weights_that_are_no_floats_are_covered():
    """The weights of exact mixtures sum to 1, and their ratios are off by no more than is said."""
    third = np.array([F(1, 3)] * 3, dtype=object)
    joint = bl.pmf(list(third)) * bl.mechanisms.laplace(b=1.0, secret=bl.Finite(3))
    kernel, off = mixtures(joint, [0, 1, 2], [(third, third), (third[::-1], third)])
    assert kernel.normalisation.proved and 1 < off < 1 + F(1, 2**48)
    rare = np.array([F(1, 2**60), 1 - F(1, 2**60), F(0)], dtype=object)
    with pytest.raises(bl.NotYet):
        mixtures(joint, [0, 1, 2], [(rare, rare), (third, third)])


@pytest.mark.parametrize("clipped", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_over_all_outcomes_the_enclosure_of_two_secrets_is_tight(clipped):
    """Beyond both secrets the odds of Laplace noise are constant: e^-1 and e times the prior's."""
    mech = bl.mechanisms.laplace(b=1.0, secret=bl.Finite(2))
    joint = bl.pmf([F(1, 3), F(2, 3)]) * (mech.clip(-1, 2) if clipped else mech)
    found = bl.remaining_entropy(joint, {0})
    with mp.workdps(30):
        truth = min(by_mass(1, 2 * mp.exp(-1)), by_mass(mp.exp(-1), 2))
        assert found.lower <= truth <= found.upper
    assert found.status == "certified" and found.width < 1e-7
    assert found.witness == {"u": 0}, "it is another one than 0"


def test_an_undecided_figure_has_no_ends_from_a_sample():
    sampled = bl.Bound.statistical(0.0, 0.5, confidence=0.9)
    for left_over, ends in (
        (sampled, (0.0, INF)),
        (bl.Bound.estimate(0.25, 0.1), (0.0, INF)),
        (bl.Bound.certified(0.0, 0.5), (0.0, 0.5)),
    ):
        found = Decision(None, "why").settled(left_over)
        assert (found.status, (found.lower, found.upper)) == ("undecided", ends)
    assert Decision(False, "why").settled(sampled) is sampled
    assert Decision(True, "why").settled(sampled).status == "exact"


def test_an_atom_of_mass_0_and_a_point_of_mass_1():
    on = bl.Mixed(bl.Interval(0, 1), atoms=[0.0])
    assert bl.min_entropy(bl.Measure(lambda x: 1 + 0 * x, on=on, masses={0.0: 0})).lower == INF
    three = bl.Measure(lambda x: np.where(x == 3, 1.0, 0.0), on=bl.Integers(0, None))
    bit = bl.Mechanism(
        lambda y, x: np.where(y == np.where(x > 2, 1.0, 0.0), 0.75, 0.25),
        secret=three.on,
        outcome=bl.Finite(2),
    )
    (said,) = disclosure_rows(three * bit, {"a constant": None})
    assert said.verdict == "undecided", "it is disclosed, by the definition"
    with pytest.raises(bl.NotYet, match=r"bl\.disclosure"):
        bl.discloses(bit, lambda x: x > 2)
    with pytest.raises(bl.InvalidInput, match="integrates to 1"):
        bl.min_entropy(bl.normal(), lambda x: x)


def test_min_entropy_of_counts_and_atoms():
    found = bl.min_entropy(bl.poisson(mu=3.0))
    with mp.workdps(40):
        assert found.lower <= -mp.log(mp.exp(-3) * mpf(9) / 2) <= found.upper
    assert found.witness["u"] in (2, 3)
    far = bl.min_entropy(bl.poisson(mu=200.5))  # beyond the first head
    with mp.workdps(40):
        assert far.lower <= -mp.log(mp.exp(mpf("-200.5")) * mpf("200.5") ** 200 / mp.factorial(200))
        assert far.upper >= -mp.log(mp.exp(mpf("-200.5")) * mpf("200.5") ** 200 / mp.factorial(200))
    mixed = bl.Measure(
        lambda x: 0.25 + 0 * x,
        on=bl.Mixed(bl.Interval(0, 1), atoms=[0.0, 1.0]),
        masses={0.0: 0.25, 1.0: 0.5},
    )
    assert exact(bl.min_entropy(mixed), F(1, 2))


NORMAL = bl.normal() * bl.mechanisms.gaussian(sigma=1.0, secret=bl.Reals())


def posterior_priors():
    draws = bl.models.dirichlet_posterior([3, 7], draws=10, random_seed=1)
    return bl.priors.from_posterior(draws, lambda draw: bl.pmf(draw["p"]))


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda j: bl.attribute(j, "age"), "named columns"),
        (lambda j: bl.attribute(j, 0), "several entries"),
        (lambda j: bl.attribute(j, 1.5), "an attribute"),
        (lambda j: bl.attribute(j, {7}), "a label of"),
        (lambda j: bl.attribute(j, lambda x: [x]), "labels"),
        (lambda j: bl.attribute(j, bl.Mechanism.from_matrix([[1.0]])), "secrets"),
        (lambda j: bl.attribute(j.prior, {0}), "a joint"),
        (lambda j: bl.discloses(j, {0}), "a mechanism"),
        (lambda j: bl.min_entropy([1, 2]), "from_counts"),
        (lambda j: bl.min_entropy(posterior_priors()), "a posterior over priors"),
        (lambda j: bl.remaining_entropy(posterior_priors() * j.mechanism), "a posterior over"),
        (lambda j: bl.remaining_entropy(j, None, [0, 1]), "one outcome"),
        (lambda j: bl.remaining_entropy(NORMAL, lambda x: x > 0, np.zeros(2)), "one outcome"),
        (lambda j: bl.remaining_entropy(NORMAL, lambda x: x > 0, math.nan), "y: expected a point"),
        (lambda j: bl.remaining_entropy(NORMAL, lambda x: x > 0, (1.0, 2.0)), "one outcome"),
        (lambda j: bl.remaining_entropy(NORMAL, bl.mechanisms.laplace(b=1.0)), "few values"),
        (lambda j: bl.disclosure(j, [None]), "{name: attribute"),
        (lambda j: bl.table({"a": [1, None]}, ["a"]), "missing"),
        (lambda j: bl.table({"a": [1]}, ["b"]), "'b'"),
        (lambda j: bl.table({"a": [1], "b": [1, 2]}, ["a", "b"]), "one length"),
        (lambda j: bl.table({"a": [1]}, None), "names, each once"),
        (lambda j: bl.table({"a": [[1], [2]]}, "a"), "one column 'a'"),
        (lambda j: bl.table({"a": 5}, "a"), "one column 'a'"),
        (lambda j: bl.table({"a": "abca"}, "a"), "one column 'a'"),
        (lambda j: bl.table({"a": np.zeros((2, 2))}, "a"), "one column 'a'"),
        (lambda j: bl.table(survey()[["age", "age"]], "age"), "one column 'age'"),
        (lambda j: bl.attribute(j, [[0]]), "a set of labels"),
    ],
)
def test_bad_input_says_what_is_wrong(call, says):
    joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    with pytest.raises(bl.BorelError, match=says):
        call(joint)
