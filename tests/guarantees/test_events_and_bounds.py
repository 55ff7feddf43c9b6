"""Sliced EML, the condition of Proposition 4, Proposition 8 and (22), (25): by brute force."""

from fractions import Fraction as F
from itertools import combinations

import mpmath
import numpy as np
import pytest
from guarantees import definitions as d

import borel as bl
from borel import guarantees as g
from borel.guarantees import extremal_examples

BY_NAME = {t.name: t for t in g.theorems()}
TENTH = F(1, 10)


def table(seed, n, m, zeros=True):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0 if zeros else 1, 5, (n, m)) + (
        rng.integers(0, m, n)[:, None] == np.arange(m)
    )
    weights = rng.integers(1, 5, n)
    return (
        [F(int(w), int(weights.sum())) for w in weights],
        [[F(int(v), int(sum(row))) for v in row] for row in counts],
    )


def law(p, K):
    return [sum(a * row[j] for a, row in zip(p, K, strict=True)) for j in range(len(K[0]))]


# -- theorems, with equality ---------------------------------------------------------------------


def test_probabilistic_dp_is_approximate_dp_at_the_same_delta():
    """Example 1 of the envelopes: beyond log 3 is what the other secret rules out, 1/10."""
    K = [[TENTH, F(27, 40), F(9, 40), F(0)], [F(0), F(9, 40), F(27, 40), TENTH]]
    p = [F(1, 2), F(1, 2)]
    known = g.ProbabilisticDP(ratio=3, delta=TENTH)
    found = g.implied(known).best(g.ApproximateDP)
    assert found == g.ApproximateDP(ratio=3, delta=TENTH)
    assert d.loss("ProbabilisticDP", p, K, F(3)) == d.loss("ApproximateDP", p, K, F(3)) == TENTH


def test_pure_dp_is_ldp_both_ways():
    assert g.implied(g.ApproximateDP(ratio=3)).best(g.LDP) == g.LDP(ratio=3)
    assert g.implied(g.ProbabilisticDP(ratio=3)).best(g.LDP) == g.LDP(ratio=3)
    assert g.LDP not in g.implied(g.ApproximateDP(ratio=3, delta=TENTH))
    countable = g.implied(g.LDP(ratio=3), alphabet="countable")
    assert countable.best(g.ApproximateDP) == g.ApproximateDP(ratio=3)
    assert g.ApproximateDP not in g.implied(g.LDP(ratio=3), alphabet="general")


@pytest.mark.parametrize("shown", [F(1, 3), F(1, 2), F(1)])
def test_rassouli_and_gunduz_is_attained_by_an_erasure_of_a_bit(shown):
    example = extremal_examples.erasure(2, 1 - shown) if shown < 1 else None
    p, K = (
        (example.prior, example.rows) if example else ([F(1, 2)] * 2, [[F(1), F(0)], [F(0), F(1)]])
    )
    level = sum(max(column) for column in zip(*K, strict=True))
    about = g.implied(p_min=F(1, 2), alphabet=2).facts
    found = BY_NAME["PML paper, (25)"].apply((g.AveragePML(ratio=level),), about)
    truth = d.level("TotalVariation", p, K)
    assert truth <= F(found.epsilon) <= truth * (1 + F(1, 2**50))


# -- Proposition 4 -------------------------------------------------------------------------------


@pytest.mark.few(29)
@pytest.mark.parametrize("seed", range(30))
def test_a_common_maximiser_is_found_by_its_definition(seed):
    p, K = table(seed, 3, 4)
    q = law(p, K)
    leak = {j: max(row[j] for row in K) / q[j] for j in range(4) if q[j]}
    for ratio in {*leak.values(), F(1)}:
        above = [j for j in leak if leak[j] > ratio]
        truth = any(all(row[j] == leak[j] * q[j] for j in above) for row in K)
        joint = bl.pmf(p) * bl.Mechanism.from_matrix(K)
        verdict = g.common_maximiser(joint, ratio=ratio)
        assert verdict.holds is truth
        floats = bl.Mechanism.from_matrix([[float(v) for v in row] for row in K])
        rough = g.common_maximiser(bl.pmf([float(v) for v in p]) * floats, ratio=ratio)
        assert rough.holds in (truth, None)
        if truth and ratio > 1:  # Proposition 4
            delta = sum(q[j] for j in above) + TENTH
            if delta < 1 and joint.satisfies(g.EML(ratio=ratio, delta=delta)).holds:
                assert joint.satisfies(g.PML(ratio=ratio, delta=delta)).holds


def test_a_common_maximiser_is_asked_of_finite_joints():
    bit = bl.Finite([0, 1])
    joint = bl.pmf([0.5, 0.5], on=bit) * bl.mechanisms.laplace(b=1.0, secret=bit)
    with pytest.raises(bl.NotYet, match="common_maximiser"):
        g.common_maximiser(joint, 0.1)
    with pytest.raises(bl.InvalidInput):
        g.common_maximiser(bl.pmf([F(1)]) * bl.Mechanism.from_matrix([[F(1)]]), -1)


# -- Proposition 8, (26) and (22) ----------------------------------------------------------------

KINDS = {
    "total_variation": (lambda t: abs(t - 1) / 2, F(1, 2)),
    "chi_square": (lambda t: (t - 1) ** 2, F(1)),
    "kl": (lambda t: t * mpmath.log(t), F(0)),
    "squared_hellinger": (lambda t: (mpmath.sqrt(t) - 1) ** 2 / 2, F(1, 2)),
}


@pytest.mark.parametrize("f", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_an_f_information_is_bounded_outcome_by_outcome(f, seed):
    p, K = table(seed, 3, 4)
    q = law(p, K)
    of, zero = KINDS[f]
    with mpmath.workdps(40):
        number = lambda v: mpmath.mpf(v.numerator) / v.denominator  # noqa: E731
        truth = sum(
            number(q[j]) * max(of(number(max(row[j] for row in K)) / number(q[j])), number(zero))
            for j in range(4)
            if q[j]
        )
        for make in (F, float):
            joint = bl.pmf([make(v) for v in p]) * bl.Mechanism.from_matrix(
                [[make(v) for v in row] for row in K]
            )
            found = g.f_information_bound(joint, f)
            assert found.lower <= truth <= found.upper and found.width < 1e-13
            assert bl.f_information(joint, f).lower <= found.upper
            if f == "chi_square":
                own = g.f_information_bound(joint, lambda t: (t - 1) ** 2)
                assert own.lower <= truth <= own.upper and own.width < 1e-13


def test_a_function_that_is_infinite_at_0_bounds_nothing():
    joint = bl.pmf([F(1, 2)] * 2) * bl.Mechanism.from_matrix([[F(1), F(0)], [F(0), F(1)]])
    assert g.f_information_bound(joint, lambda t: -np.log(t), at_zero=np.inf).lower == np.inf
    with pytest.raises(bl.InvalidInput, match="at_zero"):
        g.f_information_bound(joint, lambda t: -np.log(t))


@pytest.mark.parametrize("seed", range(6))
def test_the_density_is_below_a_level_at_least_as_often_as_the_leakage(seed):
    """Equation (22); with equality where one secret alone has a leakage above the level."""
    p, K = table(seed, 3, 4)
    joint = bl.pmf(p) * bl.Mechanism.from_matrix(K)
    for ratio in (F(1), F(6, 5), F(2)):
        density = bl.information_density(joint).cdf(ratio=ratio)
        assert density.upper >= bl.pml(joint).cdf(ratio=ratio).lower


# -- sliced EML ----------------------------------------------------------------------------------


def worst_sliced(p, K, labels, delta, slice_delta):
    """Return the largest e^leakage of an event of pairs (y, z), by trying all; 0 if none."""
    q = law(p, K)
    live = [j for j in range(len(q)) if q[j]]
    slices = {y: sum(q[j] for j in live if labels[j][0] == y) for y, _ in labels}
    best = F(0)
    for size in range(1, len(live) + 1):
        for event in combinations(live, size):
            mass = sum(q[j] for j in event)
            likely = all(
                sum(q[j] for j in event if labels[j][0] == y) >= slice_delta * slices[y]
                for y in {labels[j][0] for j in event}
            )
            if mass >= delta and likely:
                best = max(best, *(sum(row[j] for j in event) / mass for row in K))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_sliced_eml_is_what_all_events_say(seed):
    p, K = table(seed, 2, 6)
    outcome = bl.Finite([0, 1]) * bl.Finite(["a", "b", "c"])
    labels = list(outcome.labels)
    joint = bl.pmf(p) * bl.Mechanism.from_matrix(K, outcome=outcome)
    for delta, slice_delta in (
        (F(1, 4), F(1, 2)),
        (F(0), F(2, 3)),
        (F(1, 2), F(0)),
        (F(1, 5), F(1)),
    ):
        worst = worst_sliced(p, K, labels, delta, slice_delta)
        kind = {"delta": delta, "slice_delta": slice_delta}
        assert joint.satisfies(g.SlicedEML(ratio=worst, **kind)).holds is True
        if worst > 1:
            less = 1 + (worst - 1) * F(999, 1000)
            verdict = joint.satisfies(g.SlicedEML(ratio=less, **kind))
            assert verdict.holds is False and verdict.bound.ratio.lower > less
            found = joint.satisfies(g.SlicedEML(float(mpmath.log(less)), **kind))
            assert found.holds is False


def test_sliced_eml_is_decided_at_a_float_beside_the_level():
    """No float is log 4/3: the one above it holds, the one below does not."""
    outcome = bl.Finite([0]) * bl.Finite(["a", "b"])
    kernel = bl.Mechanism.from_matrix([[F(0), F(1)], [F(1, 3), F(2, 3)]], outcome=outcome)
    joint = bl.pmf([F(1, 4), F(3, 4)]) * kernel
    above = float(np.nextafter(np.log(4 / 3), 1))
    for nats in (above, float(np.nextafter(above, 0)), float(np.nextafter(np.log(4 / 3), 0))):
        with mpmath.workdps(40):
            truth = bool(mpmath.exp(nats) >= mpmath.mpf(4) / 3)
        kind = {"delta": F(0), "slice_delta": F(0)}
        assert joint.satisfies(g.SlicedEML(nats, **kind)).holds in (truth, None)
        kind = {"delta": F(1, 10), "slice_delta": F(0)}
        assert joint.satisfies(g.SlicedEML(nats, **kind)).holds is truth
