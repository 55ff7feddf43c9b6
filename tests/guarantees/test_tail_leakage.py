"""The theorems of docs/tail_leakage.md, each at equality, and what fails beside them."""

import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import oracles as o
import pytest
from guarantees import definitions as d
from guarantees.test_composition import composed

import borel as bl
from borel import guarantees as g
from borel.guarantees import composition
from borel.guarantees import extremal_examples as ex
from borel.guarantees.facts import Facts

HALF, TENTH = F(1, 2), F(1, 10)
BY_NAME = {t.name.removeprefix("tail leakage: "): t for t in g.theorems()}
(COMPOSED,) = (s for s in composition.STATEMENTS if s.name == "here: tail leakage")


def V(p, K, delta):
    return d.tail_leakage(p, K, F(delta))


def U(p, K, delta):
    """The mean of e^-PMC over its smallest delta: the largest of c - E(c - I)_+ / delta."""
    law = [(1 / s if (s := o.pmc(p, K, y)) != math.inf else F(0), m) for y, m in d.masses(p, K)]
    ends = [F(0), *(s for s, _ in law)]
    return max(c - sum(m * max(c - s, 0) for s, m in law) / F(delta) for c in ends)


def applied(name, *premises, **about):
    return BY_NAME[name].apply(premises, Facts("finite", **about)).levels[0].ratio


def random_joint(rng, style="plain", most=5):
    n, k = (int(v) for v in rng.integers(2, most, 2))
    return o.law(rng, n, "plain"), o.mechanism(rng, n, k, style)


# -- theorem 1: processing ------------------------------------------------------------------------


def never_raised(count, seed):
    rng = np.random.default_rng(seed)
    for k in range(count):
        p, K = random_joint(rng, ("plain", "zeros", "ties")[k % 3], most=4)
        after = o.compose(K, o.mechanism(rng, len(K[0]), 3, ("plain", "zeros")[k % 2]))
        delta = F(int(rng.integers(1, 20)), 20)
        assert V(p, after, delta) <= V(p, K, delta), (p, K, after, delta)
        assert U(p, after, delta) >= U(p, K, delta), (p, K, after, delta)


def test_post_processing_never_raises_it():
    never_raised(60, seed=21)


@pytest.mark.truths
def test_post_processing_never_raises_it_in_many_cases():
    never_raised(10_000, seed=22)


def test_with_events_only_it_would_be_raised_by_a_coin():
    """S = 4 with probability 1/10, else 1: of events of mass 1/2 only those of whole outcomes."""
    example = ex.erasure(4, TENTH)  # outcomes 0 to 3 of mass 1/40 each, S = 4, and one of 9/10
    assert V(example.prior, example.rows, HALF) == F(8, 5)
    sizes = [F(1, 40)] * 4 + [F(9, 10)]
    by_events = max(
        sum(m * s for m, s, k in zip(sizes, [4, 4, 4, 4, 1], chosen, strict=True) if k)
        / sum(m for m, k in zip(sizes, chosen, strict=True) if k)
        for chosen in product([0, 1], repeat=5)
        if sum(m for m, k in zip(sizes, chosen, strict=True) if k) >= HALF
    )
    assert by_events == F(13, 10)  # and 8/5 once a coin is added to the outcome


# -- theorem 2: the failure probability -----------------------------------------------------------


def test_it_bounds_the_failure_probability():
    rng = np.random.default_rng(23)
    for style in ("plain", "zeros", "ties"):
        for _ in range(10):
            p, K = random_joint(rng, style)
            for delta in (TENTH, HALF, F(1)):
                v = V(p, K, delta)
                assert o.tail("pml", p, K, lambda r, v=v: r > v) < delta
                u = U(p, K, delta)
                assert u == 0 or o.tail("pmc", p, K, lambda r, u=u: r > 1 / u) < delta
                for s in (v + F(1, 100), v + 1):  # theorem 2's Markov bound beyond the level
                    chance = o.tail("pml", p, K, lambda r, s=s: r >= s)
                    assert chance <= delta * (v - 1) / (s - 1)


def test_two_point_leakages_meet_the_bounds_of_theorem_2():
    shown = F(1, 20)
    example = ex.erasure(5, shown)  # e^l = 5 with probability 1/20, else 1
    p, K = example.prior, example.rows
    for delta in (shown, TENTH, HALF, F(1)):
        v = V(p, K, delta)
        premises = g.PML(ratio=1, delta=shown), g.PML(ratio=5)
        assert applied("from PML and its supremum", *premises, delta=delta) == v
        assert o.tail("pml", p, K, lambda r: r >= 5) == delta * (v - 1) / (5 - 1)
        known = g.TailLeakage(ratio=v, delta=delta)
        for less in (shown, TENTH):
            if less <= delta:
                assert applied("at another delta", known, delta=less) == V(p, K, less)


def test_uniform_response_meets_what_follows_at_one_level():
    example = ex.uniform_response([F(1, 4)] * 4, F(3))
    p, K = example.prior, example.rows
    for delta in (F(0), TENTH, F(1)):
        assert V(p, K, delta) == 3
        known = g.TailLeakage(ratio=3, delta=delta)
        assert applied("to average PML", known) == o.maximal_leakage(p, K)
        if delta < 1:
            assert applied("to PML", known) == o.sup("pml", p, K)
    assert applied("from PML (delta = 0)", g.PML(ratio=3)) == V(p, K, 0)
    assert applied("from average PML", g.AveragePML(ratio=3)) == V(p, K, 1)


# -- theorems 3 and 5: the envelope ---------------------------------------------------------------


@pytest.mark.parametrize("rare", [F(1, 100), F(1, 10**6)])
def test_log_2_is_sharp(rare):
    """Y = X with masses rare, delta and the rest: the envelope is 1/delta, V nearly twice that."""
    delta = F(1, 5)
    example = ex.identity([rare, delta, 1 - rare - delta])
    joint = example.joint()
    assert bl.envelope(joint)(delta).ratio == (1 / delta, 1 / delta)
    assert bl.tail_leakage(joint, delta).ratio.lower == (2 - rare / delta) / delta


def test_where_parts_of_the_worst_have_the_mean_it_is_the_envelope():
    joint = ex.erasure(4, TENTH).joint()
    for delta in (F(1, 20), TENTH, HALF):
        assert bl.envelope(joint)(delta).ratio == bl.tail_leakage(joint, delta).ratio


def test_the_mass_of_a_level_falls_at_least_as_its_exponential():
    """Theorem 5: e^t delta_c(t) does not increase while delta_c < 1."""
    rng = np.random.default_rng(24)
    for style in ("plain", "zeros"):
        p, K = random_joint(rng, style, most=4)
        env = bl.envelope(bl.pmf(p) * bl.Mechanism.from_matrix(K))
        levels = [1 + F(k, 4) for k in range(12)]
        masses = [env.delta(ratio=s) for s in levels]
        for k, j in product(range(12), repeat=2):
            if k < j and masses[k].upper < 1:
                most = float(levels[k]) * masses[k].upper
                assert float(levels[j]) * masses[j].lower <= most * (1 + 1e-12)


def test_a_uniform_circle_attains_the_law_of_the_leakage():
    """The bound by the law of l alone is the best: Y = (T, U), U uniform on an arc of length 1/T.

    On a wheel of n secrets, T in {1, 3} and an arc of n / T of them: log V is the envelope.
    """
    n, q = 6, F(1, 4)
    rows = [
        [
            *(q * F(3, n) if (x - u) % n < n // 3 else F(0) for u in range(n)),
            *((1 - q) * F(1, n) for _ in range(n)),
        ]
        for x in range(n)
    ]
    joint = ex.Example([F(1, n)] * n, rows).joint()
    for delta in (TENTH, HALF):
        assert bl.envelope(joint)(delta).ratio == bl.tail_leakage(joint, delta).ratio
        assert bl.tail_leakage(joint, delta).ratio.lower == 1 + 2 * min(q / delta, 1)


# -- theorem 6: composition -----------------------------------------------------------------------


def seconds_of(rng, first, style):
    return [o.mechanism(rng, len(first), 2, style) for _ in first[0]]


def hockey_stick(seconds, c):
    """h_2(c): the largest integral, over y and x', of (max_x f_2 - c f_2(.|x'))_+."""
    return max(
        sum(max(max(row[z] for row in K) - c * K[x][z], 0) for z in range(len(K[0])))
        for K in seconds
        for x in range(len(K))
    )


def adaptive_pairs(count, seed):
    rng = np.random.default_rng(seed)
    for k in range(count):
        p, first = random_joint(rng, ("plain", "zeros")[k % 2], most=4)
        seconds = seconds_of(rng, first, ("plain", "ties")[k % 2])
        both, delta = composed(first, seconds), F(int(rng.integers(1, 20)), 20)
        v1, v12, mean = V(p, first, delta), V(p, both, delta), o.maximal_leakage(p, first)
        a = delta * v1 / mean
        assert a >= delta
        # c + h_2(c) / a, of any c: at the ratios of the second, where it bends
        bends = {F(0), F(1)} | {
            row[z] / K[x][z] for K in seconds for z in range(2) for row in K for x in range(len(K))
            if K[x][z]
        }  # fmt: skip
        assert v12 <= v1 * min(c + hockey_stick(seconds, c) / a for c in bends)
        ldp = max(o.ldp(p, K) for K in seconds)
        assert ldp == math.inf or v12 <= ldp * v1
        average = max(o.maximal_leakage(p, K) for K in seconds)
        assert v12 <= v1 + mean * (average - 1) / delta <= mean * average / delta
        # and as a theorem of the calculus, the second under each posterior
        e = F(int(rng.integers(0, 5)), 4)
        w = max(V(o.posterior(p, first, y), seconds[y], e) for y, _ in d.masses(p, first))
        made = COMPOSED.apply(
            (g.TailLeakage(ratio=v1, delta=delta), g.TailLeakage(ratio=w, delta=e)), Facts()
        )
        assert made.delta == delta and v12 <= made.levels[0].ratio, (p, first, seconds, delta, e)


def test_adaptive_composition():
    adaptive_pairs(40, seed=25)


@pytest.mark.truths
def test_adaptive_composition_of_many_pairs():
    adaptive_pairs(2000, seed=26)


def test_composition_is_attained():
    """A first release that says nothing, and a second one that erases."""
    example = ex.erasure(4, TENTH)
    p, K, delta = example.prior, example.rows, TENTH
    first = [[F(1)]] * 4
    assert V(p, composed(first, [K]), delta) == V(p, K, delta) == 4
    for e in (F(0), TENTH, F(1)):
        known = g.TailLeakage(ratio=1, delta=delta), g.TailLeakage(ratio=V(p, K, e), delta=e)
        assert COMPOSED.apply(known, Facts()).levels[0].ratio >= 4
    assert COMPOSED.apply(known, Facts()).levels[0].ratio == 4  # at e = 1
    assert COMPOSED.apply((g.TailLeakage(1.0), g.TailLeakage(1.0, delta=1)), Facts()) is None


def test_of_each_alone_nothing_follows():
    found = composition.tail_leakage_of_each_bounds_nothing()
    joint = found.joint()
    assert joint.satisfies(found.holds).holds is True
    assert joint.satisfies(found.fails).holds is False
    p, rows = found.example.prior, found.example.rows
    for keep in (lambda y: y // 2, lambda y: y % 2):  # the one release, and the other
        one = [[sum(k for y, k in enumerate(row) if keep(y) == z) for z in (0, 1)] for row in rows]
        assert V(p, one, p[0]) == 2 / (1 - p[0]) and d.satisfies(found.holds, p, rows)
    assert V(p, rows, p[0]) == 1000


def test_independent_secrets():
    rng = np.random.default_rng(27)
    for _ in range(15):
        (p, K), (q, L) = random_joint(rng, most=4), random_joint(rng, "zeros", most=4)
        prior = [a * b for a in p for b in q]
        rows = [[a * b for a in row for b in other] for row in K for other in L]
        for delta in (TENTH, F(3, 5)):
            v, u = V(p, K, delta), U(p, K, delta)
            two = V(q, L, min(delta * v / V(p, K, 1), 1))
            assert V(prior, rows, delta) <= v * two <= v * V(q, L, delta)
            if U(p, K, 1) and u:
                assert U(prior, rows, delta) >= u * U(q, L, delta * u / U(p, K, 1))


# -- theorem 7: priors, mixtures ------------------------------------------------------------------


def test_it_is_quasi_convex_in_the_prior_and_neither_convex_nor_concave():
    rng = np.random.default_rng(28)
    told = set()
    for _ in range(60):
        K = o.mechanism(rng, 3, 3, "plain")
        p, q, w = o.law(rng, 3, "plain"), o.law(rng, 3, "plain"), F(int(rng.integers(1, 8)), 8)
        middle = [w * a + (1 - w) * b for a, b in zip(p, q, strict=True)]
        for delta in (TENTH, HALF):
            a, b, c = (V(law, K, delta) for law in (p, q, middle))
            assert c <= max(a, b)
            assert U(middle, K, delta) >= min(U(p, K, delta), U(q, K, delta))
            told.add((c > w * a + (1 - w) * b) - (c < w * a + (1 - w) * b))
    assert {-1, 1} <= told


def test_a_public_coin():
    """delta V = max of the sums of w_i d_i V_i(d_i) with w_i d_i adding up to delta: 19/5 of 3s."""
    found = ex.public_mixture()
    joint = found.joint()
    assert joint.satisfies(found.holds).holds is True
    assert joint.satisfies(found.fails).holds is False
    assert bl.envelope(joint)(HALF).ratio.lower == F(19, 5)  # no more is the envelope closed
    shown, other = ex.erasure(11, TENTH), ex.uniform_response([F(1, 11)] * 11, F(3))
    assert V(shown.prior, shown.rows, HALF) == V(other.prior, other.rows, HALF) == 3
    sums = [
        (d1 * V(shown.prior, shown.rows, d1) + (1 - d1) * V(other.prior, other.rows, 1 - d1)) / 2
        for d1 in (F(k, 20) for k in range(1, 20))
    ]
    assert max(sums) == HALF * F(19, 5)


# -- theorem 8: other guarantees ------------------------------------------------------------------


def test_what_events_bound():
    example = ex.identity([F(1, 4)] * 4)
    p, K = example.prior, example.rows
    for delta in (F(1, 4), HALF, F(1)):
        event = d.eml(p, K, delta)
        known = g.EML(ratio=event, delta=delta)
        assert applied("from EML", known, size=4) >= V(p, K, delta) == 4
    assert applied("from EML", g.EML(0, delta=1), size=4) == 4  # attained
    known = g.TailLeakage(ratio=4, delta=F(1, 4))
    assert applied("to EML", known) == d.eml(p, K, F(1, 4)) == 4


@pytest.mark.parametrize("k", [2, 5])
def test_what_local_differential_privacy_bounds(k):
    r = F(3)
    example = ex.response([F(1, k)] * k, r)
    mean = applied("LDP to average PML", g.LDP(ratio=r), size=k)
    assert mean == o.maximal_leakage(example.prior, example.rows)
    delta = F(2, 5)
    level = 1 + (k - 1) * (r - 1) / ((r + k - 1) * delta)
    at = applied("at another delta", g.TailLeakage(ratio=mean, delta=1), delta=delta)
    assert at == level
    found = g.implied(g.LDP(ratio=r), alphabet=k, delta=delta)
    assert found.proves(g.TailLeakage(ratio=min(level, r), delta=delta)) is not None
    if r * (k - 1) <= delta * (r + k - 1):  # the mass of the outcomes that leak log r
        return
    for rare in (F(1, 10**3), F(1, 10**6)):  # a prior near a point: it is approached
        near = ex.response([1 - (k - 1) * rare, *[rare] * (k - 1)], r)
        got = V(near.prior, near.rows, delta)
        assert min(level, r) * (1 - 10 * k * rare) <= got <= min(level, r)


@pytest.mark.parametrize("k", [2, 5])
def test_what_approximate_differential_privacy_bounds(k):
    example = ex.erasure(k, TENTH)
    p, K = example.prior, example.rows
    assert d.loss("ApproximateDP", p, K, F(1)) == TENTH
    for delta in (TENTH, HALF, F(1)):
        known = g.ApproximateDP(ratio=1, delta=TENTH)
        assert applied("from approximate DP", known, size=k, delta=delta) == V(p, K, delta)


def test_profiles_that_it_bounds():
    """psi_2(log v) <= delta (v - 1); for all priors, (log v, delta (v - 1))-LDP."""
    rng = np.random.default_rng(29)
    for style in ("plain", "zeros"):
        for _ in range(10):
            p, K = random_joint(rng, style)
            law = o.marginal(p, K)
            for delta in (TENTH, HALF):
                v = V(p, K, delta)
                excess = max(
                    sum(max(a - v * b, 0) for a, b in zip(row, law, strict=True)) for row in K
                )
                assert excess <= delta * (v - 1)
    r, delta = F(3), F(1, 5)
    example = ex.response([F(1, 4)] * 4, r)
    most = min(r, 1 + 3 * (r - 1) / ((r + 3) * delta))  # over all priors: theorem 8
    assert d.loss("ApproximateDP", example.prior, example.rows, most) <= delta * (most - 1)


# -- theorem 9: what it means ---------------------------------------------------------------------


def test_no_gain_beats_it_and_one_attains_it():
    """Over gains g(x, w) >= 0: E[gain | answers] over the best blind gain, answers of mass d."""
    rng = np.random.default_rng(30)
    for _ in range(20):
        p, K = random_joint(rng)
        n, law, delta = len(p), o.marginal(p, K), F(3, 10)

        def ratio(gain, p=p, K=K, law=law, delta=delta):
            blind = max(sum(p[x] * row[x] for x in range(len(p))) for row in gain)
            best = [
                max(sum(p[x] * K[x][y] * row[x] for x in range(len(p))) for row in gain) / m
                for y, m in enumerate(law)
            ]
            worst, left = F(0), delta
            for s, m in sorted(zip(best, law, strict=True), reverse=True):
                worst, left = worst + min(m, left) * s, left - min(m, left)
            return worst / delta / blind

        v = V(p, K, delta)
        for _ in range(5):
            gain = [[F(int(t)) for t in rng.integers(0, 9, n)] for _ in range(3)]
            assert not any(map(any, gain)) or ratio([*gain, [F(1)] * n]) <= v
        assert ratio([[F(int(x == w)) / p[x] for x in range(n)] for w in range(n)]) == v


# -- the twin of PMC ------------------------------------------------------------------------------


def test_what_the_twin_of_pmc_lacks():
    shown = ex.erasure(2, F(3, 10))  # I = 0 with probability 3/10, else 1
    p, K = shown.prior, shown.rows
    assert U(p, K, F(2, 5)) == F(1, 4) and U(p, K, F(3, 10)) == 0
    pair = [a * b for a in p for b in p], [[a * b for a in r for b in s] for r in K for s in K]
    assert U(*pair, F(2, 5)) == 0  # each has 1/4, and both together 0: 51/100 of outcomes
    joint = bl.pmf(p) * bl.Mechanism.from_matrix(K)
    for delta in (F(3, 10), F(2, 5), F(9, 10)):
        cap, found = bl.tail_leakage(joint, delta, of="pmc"), bl.envelope(joint, of="pmc")(delta)
        assert found.lower <= cap.upper and (found.lower == math.inf) == (cap.lower == math.inf)
        u = 1 - (1 - U(p, K, 1)) / delta
        assert U(p, K, delta) >= max(u, F(0))


def test_the_envelope_of_pmc_is_below_its_twin():
    rng = np.random.default_rng(31)
    for style in ("plain", "zeros", "ties"):
        p, K = random_joint(rng, style, most=4)
        joint = bl.pmf(p) * bl.Mechanism.from_matrix(K)
        for delta in (TENTH, F(3, 5)):
            cap, found = (
                bl.tail_leakage(joint, delta, of="pmc"),
                bl.envelope(joint, of="pmc")(delta),
            )
            assert found.lower <= cap.upper


def test_a_guarantee_of_tail_leakage_over_draws():
    import xarray as xr

    draws = np.random.default_rng(32).dirichlet([3.0, 4.0], size=(2, 50))
    data = xr.Dataset({"p": (("chain", "draw", "x"), draws)}, attrs={"borel_draws": "exact"})
    learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    joint = learnt * bl.Mechanism.from_matrix([[0.9, 0.1], [1.0, 0.0]])
    assert joint.satisfies(g.TailLeakage(3.0, delta=0.1)).at(confidence=0.9).holds is True
