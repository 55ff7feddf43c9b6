"""Tail leakage: against both definitions in Fractions, closed forms in mpmath, the envelope."""

import math
from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import oracles as o
import pytest
import xarray as xr

import borel as bl

STYLES = ["plain", "zeros", "ties", "fine"]
DELTAS = [F(1, 1000), F(1, 10), F(2, 5), F(9, 10), F(1)]
HALF = F(1, 2)


def made(p, K):
    return bl.pmf(p) * bl.Mechanism.from_matrix(K)


def laws(kind, p, K):
    """(S, mass) at the outcomes of positive probability; for PMC (I, mass)."""
    mass = o.marginal(p, K)
    rows = o.support(p)
    best = max if kind == "pml" else min
    return [(best(K[x][y] for x in rows) / m, m) for y, m in enumerate(mass) if m > 0]


def dual(kind, p, K, delta):
    """V by min over c of c + E(S - c)_+ / delta; U by max over c of c - E(c - I)_+ / delta."""
    law = laws(kind, p, K)
    ends = [F(0), *(s for s, _ in law)]
    if kind == "pml":
        return min(c + sum(m * max(s - c, 0) for s, m in law) / delta for c in ends)
    return max(c - sum(m * max(c - s, 0) for s, m in law) / delta for c in ends)


def event(law, delta, *, largest=True):
    """The mean over the largest (or the smallest) of a law, outcome after outcome."""
    total, left = F(0), F(delta)
    for s, m in sorted(law, reverse=largest):
        part = min(m, left)
        total, left = total + part * s, left - part
    return total / delta


def ratio_of(kind, value):
    return value if kind == "pml" else (math.inf if value == 0 else 1 / value)


def random_joint(rng, style, least=2, most=5):
    n, k = (int(v) for v in rng.integers(least, most, 2))
    return o.law(rng, n, "plain"), o.mechanism(rng, n, k, style)


# -- finite joints --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pml", "pmc"])
@pytest.mark.parametrize("style", STYLES)
def test_it_is_the_definition(style, kind):
    rng = np.random.default_rng(11)
    for _ in range(8):
        p, K = random_joint(rng, style)
        exact, floats = made(p, K), made(o.floats(p), o.floats(K))
        for delta in DELTAS:
            truth = dual(kind, p, K, delta)
            assert event(laws(kind, p, K), delta, largest=kind == "pml") == truth
            ratio = ratio_of(kind, truth)
            found = bl.tail_leakage(exact, delta, of=kind)
            assert found.status == "exact" and found.ratio == (ratio, ratio)
            near = bl.tail_leakage(floats, delta, of=kind)
            if near.status != "undecided":  # at the mass of what some secret makes impossible
                assert near.status == "exact" and (near.width < 1e-11 or ratio == math.inf)
            assert near.lower <= bl.tail_leakage(exact, delta, of=kind).upper
            assert near.upper >= bl.tail_leakage(exact, delta, of=kind).lower


def test_values_known_by_hand():
    joint = made([HALF, HALF], [[F(9, 10), F(1, 10)], [F(1), F(0)]])
    # outcome 1 of probability 1/20 rules out secret 1; of the other 1/20 e^l is 20/19
    assert bl.tail_leakage(joint, F(1, 20)).ratio.lower == 2
    assert bl.tail_leakage(joint, F(1, 10)).ratio.lower == (2 + F(20, 19)) / 2
    assert bl.tail_leakage(joint, F(1, 10)).witness == {"event": [(1, 1.0), (0, float(F(1, 19)))]}
    assert bl.tail_leakage(joint, F(1, 20), of="pmc").lower == math.inf
    assert bl.tail_leakage(joint, F(1, 10), of="pmc").ratio.upper == 2 / F(18, 19)
    erased = made(
        [F(1, 4)] * 4, [[F(1, 5) * (x == y) for y in range(4)] + [F(4, 5)] for x in range(4)]
    )
    for delta in (F(1, 10), F(1, 5), HALF, F(1)):
        assert bl.tail_leakage(erased, delta).ratio.lower == 1 + 3 * min(F(1, 5) / delta, 1)


def test_the_ends_are_the_supremum_and_the_mean():
    rng = np.random.default_rng(12)
    p, K = random_joint(rng, "plain")
    joint = made(p, K)
    assert bl.tail_leakage(joint, 0) == bl.pml(joint).sup()
    assert bl.tail_leakage(joint, 0, of="pmc") == bl.pmc(joint).sup()
    assert bl.tail_leakage(joint, 1) == bl.maximal_leakage(joint)
    assert bl.tail_leakage(joint, 1, of="pmc") == bl.maximal_cost_leakage(joint)
    assert bl.tail_leakage(joint, 1 - F(1, 10**30)).width < 1e-15
    certain = made([F(1), F(0)], K[:2])
    assert bl.tail_leakage(certain, HALF) == bl.tail_leakage(certain, HALF, of="pmc")
    assert bl.tail_leakage(certain, HALF).ratio == (1, 1)


def test_it_falls_and_is_lipschitz_in_log_delta():
    rng = np.random.default_rng(13)
    deltas = [F(k, 60) for k in range(1, 61)]
    for style in STYLES:
        p, K = random_joint(rng, style)
        found = [bl.tail_leakage(made(p, K), d).ratio.lower for d in deltas]
        sums = [d * v for d, v in zip(deltas, found, strict=True)]
        assert all(a >= b for a, b in pairwise(found))
        rises = [b - a for a, b in pairwise([F(0), *sums])]  # of delta V, which is concave
        assert all(a >= b for a, b in pairwise(rises)) and rises[-1] >= F(1, 60)


def response(p, r, delta):
    """Theorem 5's N and theta: outcomes in the order of their secrets' probabilities."""
    k, left = len(p), F(delta)
    for n, q in enumerate(sorted(p), 1):
        mass = (1 + q * (r - 1)) / (k - 1 + r)
        if left <= mass:
            return r / (k - 1 + r) * (n - 1 + left / mass) / delta
        left -= mass
    raise AssertionError


def test_of_randomized_response_it_is_the_closed_form():
    rng = np.random.default_rng(14)
    for r in (F(1), F(3, 2), F(20)):
        p = o.law(rng, 4, "plain")
        for delta in DELTAS:
            mech = bl.mechanisms.randomized_response(k=4, ratio=r)
            found = bl.tail_leakage(bl.pmf(p) * mech, delta)
            assert found.ratio.lower == response(p, r, delta)


@pytest.mark.parametrize("wrong", [-0.1, 1.5, math.nan, "1/2", None])
def test_bad_input(wrong):
    joint = made([HALF, HALF], [[F(1), F(0)], [F(0), F(1)]])
    with pytest.raises(bl.InvalidInput, match="delta"):
        bl.tail_leakage(joint, wrong)
    with pytest.raises(bl.InvalidInput, match='of="pml" or of="pmc"'):
        bl.tail_leakage(joint, HALF, of="ldp")
    with pytest.raises(bl.InvalidInput, match="a joint"):
        bl.tail_leakage(3, HALF)


# -- the envelope ---------------------------------------------------------------------------------


def beside_the_envelope(count, seed):
    """Compare exact envelopes with V: how often they are equal, and their gaps in nats."""
    rng = np.random.default_rng(seed)
    equal, gaps = 0, []
    for k in range(count):
        p, K = random_joint(rng, STYLES[k % len(STYLES)], most=4)
        joint, delta = made(p, K), F(int(rng.integers(1, 20)), 20)
        v = dual("pml", p, K, delta)
        found = bl.envelope(joint)(delta)
        assert found.ratio.upper >= v / 2 and found.ratio.lower <= v, (p, K, delta)
        equal += found.ratio.upper >= v
        gaps.append(math.log(v) - found.lower)
    return equal, sum(gaps) / len(gaps)


def test_the_envelope_is_within_log_2_below():
    equal, gap = beside_the_envelope(12, seed=15)
    assert equal >= 3 and 0 <= gap < 0.2


@pytest.mark.truths
def test_the_envelope_is_within_log_2_below_in_many_joints():
    equal, gap = beside_the_envelope(1000, seed=16)
    print(f"log V is the envelope in {equal} of 1000 joints; mean gap {gap:.4f} nats")
    assert equal >= 300 and gap < 0.1


# -- draws and sets of priors ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pml", "pmc"])
@pytest.mark.parametrize("style", STYLES)
def test_of_a_posterior_it_is_that_of_every_draw(style, kind):
    rng = np.random.default_rng(17)
    draws = rng.dirichlet(np.ones(4), size=(1, 20))
    draws[0, :4] = [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0.25, 0.75, 0], [1e-300, 0.5, 0.5, 0]]
    data = xr.Dataset({"p": (("chain", "draw", "x"), draws)}, attrs={"borel_draws": "exact"})
    learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    K = o.floats(o.mechanism(rng, 4, 5, style))
    mech = bl.Mechanism.from_matrix(K)
    for delta in (F(1, 100), 0.25, F(9, 10)):
        found = bl.tail_leakage(learnt * mech, delta, of=kind)
        low, high = (found.draws[end].values.ravel() for end in ("lower", "upper"))
        for k, p in enumerate(draws[0]):
            one = bl.tail_leakage(bl.pmf(p) * mech, delta, of=kind)
            assert low[k] <= one.upper and one.lower <= high[k]
            assert high[k] == math.inf or high[k] - low[k] < 1e-11
            assert high[k] < math.inf or one.upper == math.inf


def over_union(kind, corners, K, delta):
    """The largest V over corners, with S over the union of supports: min over c, by hand."""
    rows = sorted({x for p in corners for x in o.support(p)})
    best = max if kind == "pml" else min
    T = [best(K[x][y] for x in rows) for y in range(len(K[0]))]
    out = []
    for p in corners:
        law = list(zip(T, o.marginal(p, K), strict=True))
        bends = [F(0), *(t / q for t, q in law if q)]
        if kind == "pml":
            out.append(min(c + sum(max(t - c * q, 0) for t, q in law) / delta for c in bends))
        else:
            out.append(max(c - sum(max(c * q - t, 0) for t, q in law) / delta for c in bends))
    return max(ratio_of(kind, v) for v in out)


@pytest.mark.parametrize("kind", ["pml", "pmc"])
@pytest.mark.parametrize("style", STYLES)
def test_over_a_hull_it_is_largest_at_a_corner(style, kind):
    rng = np.random.default_rng(18)
    for _ in range(5):
        K = o.mechanism(rng, 3, 4, style)
        corners = [o.law(rng, 3, "plain"), [F(1, 3), F(2, 3), F(0)], [F(0), F(0), F(1)]]
        hull = bl.priors.hull([bl.pmf(p) for p in corners])
        for delta in (F(1, 20), F(1, 3), F(9, 10)):
            found = bl.tail_leakage(hull * bl.Mechanism.from_matrix(K), delta, of=kind)
            truth = over_union(kind, corners, K, delta)
            assert found.ratio == (truth, truth) and found.status == "exact"
            for w in ([F(1, 3)] * 3, [F(1, 50), F(1, 50), F(24, 25)], [F(9, 10), F(1, 10), F(0)]):
                member = [sum(a * p[x] for a, p in zip(w, corners, strict=True)) for x in range(3)]
                assert ratio_of(kind, dual(kind, member, K, delta)) <= truth
            near = bl.priors.hull([bl.pmf(o.floats(p)) for p in corners])
            loose = bl.tail_leakage(near * bl.Mechanism.from_matrix(o.floats(K)), delta, of=kind)
            assert loose.lower <= found.upper and found.lower <= loose.upper


def test_of_other_sets_it_says_what_is_missing():
    ball = bl.priors.tv_ball(bl.pmf([HALF, HALF]), F(1, 8))
    with pytest.raises(bl.NotYet, match="corners"):
        bl.tail_leakage(ball * bl.Mechanism.from_matrix([[F(1), F(0)], [HALF, HALF]]), HALF)
