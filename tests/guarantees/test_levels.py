"""The levels that guarantees need, against all events; floats enclose every law they may mean."""

import itertools
import math
from fractions import Fraction as F

import oracles as o
import pytest
from guarantees import definitions as d
from hypothesis import given, settings
from hypothesis import strategies as st

import borel as bl
from borel import guarantees as g
from borel.engine.finite_levels import finite_levels
from borel.guarantees import examples

DELTAS = st.sampled_from([F(0), F(1, 100), F(1, 6), F(1, 3), F(1, 2), F(5, 6), F(1)])


def levels(p, K):
    return finite_levels(bl.pmf(p) * bl.Mechanism.from_matrix(K), "a test")


@given(d.joints(positive=False), DELTAS)
@settings(max_examples=150)
def test_event_leakage_is_the_maximum_over_all_events(pK, delta):
    p, K = pK
    bound = levels(p, K).event(delta)
    truth = d.eml(p, K, delta)
    assert bound.ratio == (truth, truth) and bound.status == "exact"
    assert o.encloses(bound, truth)
    event = bound.witness["event"]
    assert event and all(0 < share <= 1 for _, share in event)


@given(d.joints(positive=False))
@settings(max_examples=100)
def test_event_leakage_at_the_ends(pK):
    p, K = pK
    found = levels(p, K)
    assert found.event(0).ratio.upper == o.sup("pml", p, K), "(epsilon, 0)-EML is epsilon-PML"
    assert found.event(1).ratio.upper == 1
    ratios = [found.event(F(k, 8)).ratio.upper for k in range(1, 9)]
    assert all(b <= a for a, b in itertools.pairwise(ratios)), "decreasing in delta"
    grown = [F(k, 8) * r for k, r in enumerate(ratios, start=1)]
    assert all(a <= b for a, b in itertools.pairwise(grown)), "delta h increases"


@given(d.joints(positive=False, most=3), st.sampled_from([F(0), F(1, 9), F(1, 2), F(9, 10)]))
@settings(max_examples=60)
def test_max_information_is_the_maximum_over_all_events(pK, delta):
    p, K = pK
    truth = d.max_information(p, K, delta)
    bound = levels(p, K).max_information(delta)
    assert bound.ratio == (truth, truth)


@given(d.joints(positive=False))
@settings(max_examples=100)
def test_ldi_and_the_variations(pK):
    p, K = pK
    found, truth = levels(p, K), d.ldi(p, K)
    assert o.encloses(found.ldi(), truth)
    if truth < math.inf:
        assert found.ldi().ratio == (truth, truth)
    assert o.contains(found.total_variation().lower, d.total_variation(p, K), 1.0)
    assert found.total_variation().width <= 1e-15
    for f in d.F_OF:
        bound = found.f_information(g.informations.DIVERGENCES[f])
        assert o.contains(bound.lower, d.f_information(p, K, f), bound.upper)


@st.composite
def near(draw):
    """A joint, and the floats of another that is within their rounding of it."""
    p, K = draw(d.joints(positive=False))
    return p, K, o.floats(p), o.floats(K)


@given(near(), DELTAS)
@settings(max_examples=150)
def test_floats_enclose_the_law_that_rounds_to_them(joint, delta):
    p, K, fp, fK = joint
    found = finite_levels(bl.pmf(fp) * bl.Mechanism.from_matrix(fK), "a test")
    for bound, truth in (
        (found.event(delta), d.eml(p, K, delta)),
        (found.ldi(), d.ldi(p, K)),
        *(
            [(found.max_information(delta), d.max_information(p, K, delta))]
            if delta < 1 and len(p) * len(K[0]) <= 9
            else []
        ),
    ):
        assert o.encloses(bound, truth), (bound, truth)
        assert bound.lower == math.inf or bound.width <= 1e-13 * max(
            1.0, bound.upper
        ) + 4e-16 / float(max(1 - delta, F(1, 100)))
    assert o.contains(
        found.total_variation().lower, d.total_variation(p, K), found.total_variation().upper
    )


def test_extremes_without_warnings():
    tiny = F(1, 10**300)
    p, K = [tiny, 1 - tiny], [[F(1), F(0)], [F(1, 3), F(2, 3)]]
    for build in (lambda v: v, o.floats):
        found = finite_levels(bl.pmf(build(p)) * bl.Mechanism.from_matrix(build(K)), "a test")
        assert o.encloses(found.event(0), o.sup("pml", p, K))
        assert o.encloses(found.event(F(1, 2)), d.eml(p, K, F(1, 2)))
        assert found.ldi().lower == math.inf
    one = finite_levels(bl.pmf([1.0, 0.0]) * bl.Mechanism.from_matrix([[0.3, 0.7], [0.5, 0.5]]), "")
    assert one.event(0.25).upper == one.ldi().upper == one.total_variation().upper == 0
    assert one.max_information(0).upper < 1e-14


def test_example_6_of_the_pml_paper():
    example, post = examples.example_5()
    joint = example.joint()
    bound = finite_levels(joint, "").event(F(1, 6))
    assert bound.ratio == (F(12, 5), F(12, 5))
    assert bound.witness["event"] == [(1, 1.0), (2, 0.2)] and bound.witness["x"] == 2
    assert joint.satisfies(g.EML(ratio=F(12, 5), delta=F(1, 6))).holds is True
    assert joint.satisfies(g.EML(ratio=F(2399, 1000), delta=F(1, 6))).holds is False
    after = examples.post_processed(example, post).joint()
    assert finite_levels(after, "").event(F(1, 6)).ratio.upper == F(4, 3)
    # h_x for the first two secrets is 6/5: without the others' outcomes
    p, K = example.prior, example.rows
    for x, h in ((0, F(6, 5)), (1, F(6, 5)), (2, F(12, 5)), (3, F(12, 5))):
        assert finite_levels(joint, "")._fullest(K[x], F(1, 6))[0] == h
    assert d.eml(p, K, F(1, 6)) == F(12, 5)


def test_levels_off_finite_alphabets():
    joint = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0)
    with pytest.raises(bl.NotYet, match="LDI"):
        joint.satisfies(g.LDI(1.0))
    with pytest.raises(bl.NotYet, match="TotalVariation"):
        joint.satisfies(g.TotalVariation(0.5))
    assert joint.satisfies(g.EML(1.0, delta=0.1)).holds is True, "it is 1-PML"
    assert joint.satisfies(g.EML(0.7, delta=0.5)).holds is True, "log 1/delta"
    assert joint.satisfies(g.EML(0.1, delta=0.5)).holds is None
    assert joint.satisfies(g.EML(0.1, delta=0.0)).holds is False
    assert joint.satisfies(g.MaxInformation(1.0, delta=0.1)).holds is True
    assert joint.satisfies(g.MaxInformation(0.01, delta=0.1)).holds is None
    assert joint.satisfies(g.MaxInformation(0.01)).holds is False
    assert joint.satisfies(g.UniversalPML(1.0)).holds in (True, None)
    assert joint.satisfies(g.UniversalPMC(0.5)).holds is None
