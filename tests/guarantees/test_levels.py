"""The measures that guarantees rest on, against all events; floats enclose every law they mean."""

import itertools
import math
from fractions import Fraction as F

import numpy as np
import oracles as o
import pytest
from guarantees import definitions as d
from hypothesis import given
from hypothesis import strategies as st

import borel as bl
from borel import guarantees as g
from borel.engine.problem import discretised_pair
from borel.guarantees import extremal_examples

DELTAS = st.sampled_from([F(0), F(1, 100), F(1, 6), F(1, 3), F(1, 2), F(5, 6), F(1)])


def joint_of(p, K):
    return bl.pmf(p) * bl.Mechanism.from_matrix(K)


def event(joint, delta):
    return bl.event_maximal_leakage(joint, delta=delta)


@given(d.joints(positive=False), DELTAS)
def test_event_leakage_is_the_maximum_over_all_events(pK, delta):
    p, K = pK
    bound = event(joint_of(p, K), delta)
    truth = d.eml(p, K, delta)
    assert bound.ratio == (truth, truth) and bound.status == "exact"
    assert o.encloses(bound, truth)
    chosen = bound.witness["event"]
    assert chosen and all(0 < share <= 1 for _, share in chosen)
    mass = sum(m * F(dict(chosen).get(y, 0)) for y, m in d.masses(p, K))
    given = sum(K[bound.witness["x"]][y] * F(share) for y, share in chosen)
    assert mass >= delta - F(1, 2**50) and abs(given - truth * mass) <= F(1, 2**50) * truth


@given(d.joints(positive=False))
def test_event_leakage_at_the_ends(pK):
    p, K = pK
    joint = joint_of(p, K)
    assert event(joint, 0).ratio.upper == o.sup("pml", p, K), "(epsilon, 0)-EML is epsilon-PML"
    assert event(joint, 1).ratio.upper == 1
    ratios = [event(joint, F(k, 8)).ratio.upper for k in range(1, 9)]
    assert all(b <= a for a, b in itertools.pairwise(ratios)), "decreasing in delta"
    grown = [F(k, 8) * r for k, r in enumerate(ratios, start=1)]
    assert all(a <= b for a, b in itertools.pairwise(grown)), "delta h increases"


@given(d.joints(positive=False, most=3), st.sampled_from([F(0), F(1, 9), F(1, 2), F(9, 10)]))
def test_max_information_is_the_maximum_over_all_events(pK, delta):
    p, K = pK
    truth = d.max_information(p, K, delta)
    bound = bl.max_information(joint_of(p, K), delta)
    assert bound.ratio == (truth, truth)
    if delta:
        chosen = bound.witness["event"]
        inside = sum(p[x] * K[x][y] for x, y in chosen)
        product = sum(p[x] * m for y, m in d.masses(p, K) for x in o.support(p) if (x, y) in chosen)
        assert (inside - delta) / product == truth, "the witness attains it"


@given(d.joints(positive=False))
def test_ldi_and_the_variations(pK):
    p, K = pK
    joint, truth = joint_of(p, K), d.ldi(p, K)
    assert o.encloses(bl.ldi(joint), truth)
    if truth < math.inf:
        assert bl.ldi(joint).ratio == (truth, truth)
    variation = bl.total_variation(joint)
    assert o.contains(variation.lower, d.total_variation(p, K), variation.upper)
    assert variation.width <= 1e-15
    for f in d.F_OF:
        bound = bl.f_information(joint, f)
        assert o.contains(bound.lower, d.f_information(p, K, f), bound.upper)


@st.composite
def near(draw):
    """A joint, and the floats of another that is within their rounding of it."""
    p, K = draw(d.joints(positive=False))
    return p, K, o.floats(p), o.floats(K)


@given(near(), DELTAS)
def test_floats_enclose_the_law_that_rounds_to_them(joint, delta):
    p, K, fp, fK = joint
    found = joint_of(fp, fK)
    for bound, truth in (
        (event(found, delta), d.eml(p, K, delta)),
        (bl.ldi(found), d.ldi(p, K)),
        *(
            [(bl.max_information(found, delta), d.max_information(p, K, delta))]
            if delta < 1 and len(p) * len(K[0]) <= 9
            else []
        ),
    ):
        assert o.encloses(bound, truth), (bound, truth)
        assert bound.lower == math.inf or bound.width <= 1e-13 * max(
            1.0, bound.upper
        ) + 4e-16 / float(max(1 - delta, F(1, 100)))
    variation = bl.total_variation(found)
    assert o.contains(variation.lower, d.total_variation(p, K), variation.upper)


def test_extremes_without_warnings():
    tiny = F(1, 10**300)
    p, K = [tiny, 1 - tiny], [[F(1), F(0)], [F(1, 3), F(2, 3)]]
    for build in (lambda v: v, o.floats):
        found = joint_of(build(p), build(K))
        assert o.encloses(event(found, 0), o.sup("pml", p, K))
        assert o.encloses(event(found, F(1, 2)), d.eml(p, K, F(1, 2)))
        assert bl.ldi(found).lower == math.inf
    for row in ([0.3, 0.7], [1.0, 1e-320]):
        one = joint_of([1.0, 0.0], [row, [0.5, 0.5]])
        assert event(one, 0.25).upper == bl.ldi(one).upper == bl.total_variation(one).upper == 0
        assert bl.max_information(one, F(1, 2)).upper <= math.nextafter(math.log(0.5), 0)
    assert bl.max_information(joint_of([1.0, 0.0], [[0.3, 0.7], [0.5, 0.5]])).upper < 1e-14


def test_the_whole_space_tells_nothing_whatever_is_rounded():
    floats = joint_of([0.1, 0.9], [[0.3, 0.7], [1e-320, 1.0]])
    assert event(floats, 1).lower == event(floats, 1).upper == 0
    assert bl.max_information(floats, 1).lower == bl.max_information(floats, 1).upper == -math.inf


def test_example_6_of_the_pml_paper():
    example, post = extremal_examples.example_5()
    joint = example.joint()
    bound = event(joint, F(1, 6))
    assert bound.ratio == (F(12, 5), F(12, 5))
    assert bound.witness["event"] == [(1, 1.0), (2, 0.2)] and bound.witness["x"] == 2
    assert joint.satisfies(g.EML(ratio=F(12, 5), delta=F(1, 6))).holds is True
    assert joint.satisfies(g.EML(ratio=F(2399, 1000), delta=F(1, 6))).holds is False
    after = extremal_examples.post_processed(example, post).joint()
    assert event(after, F(1, 6)).ratio.upper == F(4, 3)
    # h_x for the first two secrets is 6/5: without the others' outcomes
    p, K = example.prior, example.rows
    for x, h in ((0, F(6, 5)), (1, F(6, 5)), (2, F(12, 5)), (3, F(12, 5))):
        assert discretised_pair.share(K[x], o.marginal(p, K), F(1, 6))[0] * 6 == h
    assert d.eml(p, K, F(1, 6)) == F(12, 5)


def test_levels_off_finite_alphabets():
    joint = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0)
    with pytest.raises(bl.InvalidInput, match="depends on the base measure"):
        joint.satisfies(g.LDI(1.0))
    assert joint.satisfies(g.EML(1.0, delta=0.1)).holds is True, "it is 1-PML"
    assert joint.satisfies(g.EML(0.7, delta=0.5)).holds is True, "log 1/delta"
    assert joint.satisfies(g.EML(0.1, delta=0.5)).holds is None
    assert joint.satisfies(g.EML(0.1, delta=0.0)).holds is False
    assert joint.satisfies(g.MaxInformation(1.0, delta=0.1)).holds is True
    assert joint.satisfies(g.MaxInformation(0.01, delta=0.1)).holds is None
    assert joint.satisfies(g.MaxInformation(0.01)).holds is False
    assert joint.satisfies(g.UniversalPML(1.0)).holds in (True, None)
    assert joint.satisfies(g.UniversalPMC(0.5)).holds is None


@pytest.mark.slow
def test_information_off_finite_alphabets_is_proved_where_it_is_certified():
    gaussian = bl.Mechanism(
        lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * bl.pi),
        secret=bl.Finite(2),
        outcome=bl.Reals(),
    )
    joint = bl.pmf([F(1, 2), F(1, 2)]) * gaussian
    shift = math.erf(0.5 / math.sqrt(2)) / 2  # half the distance of the two laws
    above, below = shift + 1e-9, shift - 1e-9
    assert joint.satisfies(g.TotalVariation(above)).holds is True
    assert joint.satisfies(g.TotalVariation(below)).holds is False
    assert joint.satisfies(g.FInformation(above, "total_variation")).holds is True
    assert joint.satisfies(g.FInformation(1e-3, "squared_hellinger")).holds is False
    noise = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0)
    verdict = noise.satisfies(g.TotalVariation(0.5))
    assert verdict.holds is None and "estimate" in verdict.reason
    counts = bl.poisson(mu=3.0) * bl.Mechanism(
        lambda y, x: np.where(y == 0, 1 / (2 + x), (1 + x) / (2 + x)),
        secret=bl.Integers(0),
        outcome=bl.Finite(2),
    )
    assert counts.satisfies(g.LDI(100.0)).holds is False, "infinitely many secrets"
