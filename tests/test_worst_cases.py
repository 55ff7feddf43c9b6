"""Figures of one outcome, of an event, or of the worst: brute force over events, and the papers."""

import math
from fractions import Fraction as F

import measure_oracles as m
import oracles as o
import pytest
from hypothesis import given
from hypothesis import strategies as st

import borel as bl

HALF = F(1, 2)
BUILDS = pytest.mark.parametrize("build", [lambda v: v, o.floats], ids=["fractions", "floats"])
DELTAS = st.fractions(0, 1, max_denominator=12)


def joint(p, K):
    return bl.pmf(p) * bl.Mechanism.from_matrix(K)


@st.composite
def small(draw):
    """A joint of at most 2 x 3 or 3 x 2, so that events of pairs can be listed."""
    n = draw(st.integers(1, 3))
    k = draw(st.integers(1, 3 if n < 3 else 2))
    return draw(o.laws(n)), draw(o.kernels(n, k))


# -- realizable leakage, cost, and max-information -----------------------------------------------


@given(law=small())
def test_the_realizable_figures_are_suprema(law):
    p, K = law
    made = joint(p, K)
    assert bl.maximal_realizable_leakage(made) == bl.pml(made).sup()
    assert bl.maximal_realizable_cost(made) == bl.pmc(made).sup()
    assert bl.max_information(made) == bl.pml(made).sup()
    P, Q = m.pairs(p, K)
    assert o.encloses(bl.max_information(made), m.max_divergence(P, Q, F(0)))


@BUILDS
@given(law=small(), delta=DELTAS)
def test_max_information_over_all_events(build, law, delta):
    p, K = law
    found = bl.max_information(joint(build(p), build(K)), delta)
    truth = m.max_divergence(*m.pairs(p, K), delta)
    if truth == 0:
        assert found.lower == -math.inf
    else:
        assert o.encloses(found, truth)
        assert found.status == "exact" and (found.width < 1e-12 or build(p) is not p)
    if build(p) is p and truth > 0:
        assert found.ratio == (truth, truth)


@given(law=small(), t=st.fractions(1, 4, max_denominator=6))
def test_probabilistic_pml_bounds_max_information(law, t):
    """PML paper, Proposition 5: (epsilon, delta)-PML gives I^delta <= epsilon."""
    p, K = law
    delta = o.tail("pml", p, K, lambda r: r > t)
    assert bl.max_information(joint(p, K), delta).ratio.lower <= t


def test_independence_has_negative_approximate_max_information():
    made = joint([HALF, HALF], [[HALF, HALF]] * 2)
    assert bl.max_information(made, F(1, 10)).ratio == (F(9, 10), F(9, 10))
    assert bl.max_information(made, 1).lower == -math.inf


@pytest.mark.parametrize("delta", [-0.1, 1.1, F(10**30 + 1, 10**30), math.nan, "0.1"])
def test_delta_is_a_probability(delta):
    made = joint([HALF, HALF], [[HALF, HALF]] * 2)
    with pytest.raises(bl.InvalidInput, match="0 <= delta <= 1"):
        bl.max_information(made, delta)
    with pytest.raises(bl.InvalidInput, match="0 <= delta <= 1"):
        bl.event_maximal_leakage(made, delta=delta)


def test_approximate_max_information_is_for_finite_joints():
    made = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0)
    assert bl.max_information(made).status in ("exact", "certified")
    with pytest.raises(bl.NotYet, match="max_information"):
        bl.max_information(made, 0.1)


# -- event maximal leakage -----------------------------------------------------------------------

EX5 = (
    [F(1, 4)] * 4,
    [
        [F(0), F(0), HALF, HALF],
        [F(0), F(0), HALF, HALF],
        [F(0), F(1, 3), F(1, 3), F(1, 3)],
        [F(1, 3), F(0), F(1, 3), F(1, 3)],
    ],
)


@BUILDS
def test_examples_5_and_6(build):
    """PML paper: (log 12/5, 1/6)-EML; merged to z, (log 4/3, 1/6)-EML."""
    p, K = EX5
    made = joint(build(p), build(K))
    ell = bl.pml(made)
    for y, ratio in enumerate([F(4), F(4), F(6, 5), F(6, 5)]):
        assert o.encloses(ell(y), ratio)
    assert o.encloses(bl.event_maximal_leakage(made, delta=F(1, 6)), F(12, 5))
    merged = joint(build(p), build(o.compose(K, [[F(1), F(0)], [F(0), F(1)]] * 2)))
    assert o.encloses(bl.pml(merged).sup(), F(4, 3))
    assert o.encloses(bl.event_maximal_leakage(merged, delta=F(1, 6)), F(4, 3))
    assert o.encloses(bl.event_maximal_leakage(made, [0, 2]), F(4, 3)), "z1 is the event {y1, y3}"


@BUILDS
def test_the_binary_symmetric_channel(build):
    """PML paper, after Example 6: (log 34/30, 0.6)-EML, and PML log 6/5 at every outcome."""
    K = [[F(6, 10), F(4, 10)], [F(4, 10), F(6, 10)]]
    made = joint(build([HALF, HALF]), build(K))
    assert o.encloses(bl.event_maximal_leakage(made, delta=F(6, 10)), F(34, 30))
    assert all(o.encloses(bl.pml(made)(y), F(6, 5)) for y in (0, 1))


@BUILDS
@given(law=o.joints(), delta=DELTAS)
def test_event_maximal_leakage_over_all_post_processings(build, law, delta):
    p, K = law
    found = bl.event_maximal_leakage(joint(build(p), build(K)), delta=delta)
    truth = o.sup("pml", p, K) if delta == 0 else m.event_maximal_leakage(p, K, delta)
    assert o.encloses(found, truth)
    if build(p) is p:
        assert found.ratio == (truth, truth)
    else:
        assert found.width < 1e-12


@BUILDS
@given(law=o.joints(), data=st.data())
def test_the_leakage_of_an_event(build, law, data):
    p, K = law
    event = data.draw(st.sets(st.integers(0, len(K[0]) - 1)))
    made = joint(build(p), build(K))
    found = bl.event_maximal_leakage(made, sorted(event))
    assert o.encloses(found, m.event_leakage(p, K, event)) and found.width < 1e-12
    assert found == bl.event_maximal_leakage(made, lambda y: y in event)
    if not any(o.marginal(p, K)[y] for y in event):
        assert any("outside the support" in note for note in found.assumptions)


def test_what_an_event_is():
    made = joint([HALF, HALF], [[HALF, HALF]] * 2)
    for wrong in ({}, {"event": [0], "delta": 0.5}):
        with pytest.raises(bl.InvalidInput, match="both or neither"):
            bl.event_maximal_leakage(made, **wrong)
    with pytest.raises(bl.InvalidInput, match="a list of outcomes"):
        bl.event_maximal_leakage(made, 3)
    with pytest.raises(bl.OutsideAlphabet):
        bl.event_maximal_leakage(made, [7])
    noise = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0)
    with pytest.raises(bl.InvalidInput, match="as intervals"):
        bl.event_maximal_leakage(noise, lambda y: y > 0)
    with pytest.raises(bl.NotYet, match="event_maximal_leakage"):
        bl.event_maximal_leakage(noise, delta=0.1)
    named = bl.pmf([HALF, HALF]) * bl.Mechanism.from_matrix(
        [[HALF, HALF]] * 2, outcome=["low", "high"]
    )
    assert bl.event_maximal_leakage(named, ["low"]).ratio == (1, 1)


# -- dynamic min-entropy leakage -----------------------------------------------------------------


@BUILDS
@given(law=o.joints())
def test_dynamic_min_entropy_leakage_by_definition(build, law):
    p, K = law
    made = joint(build(p), build(K))
    for y, mass in enumerate(o.marginal(p, K)):
        found = bl.dynamic_min_entropy_leakage(made, y)
        if mass == 0:
            assert (found.lower, found.upper) == (0.0, 0.0)
            assert any("outside the support" in note for note in found.assumptions)
            continue
        truth = m.dynamic(p, K, y)
        assert o.encloses(found, truth) and found.width < 1e-12 * max(1, abs(found.lower))
        assert truth <= o.pml(p, K, y), "the identity gain is one of all gains"


def test_dynamic_min_entropy_leakage_may_be_negative():
    K = [[F(1, 10), F(9, 10)], [F(9, 10), F(1, 10)]]
    made = joint([F(9, 10), F(1, 10)], K)
    assert bl.dynamic_min_entropy_leakage(made, 0).ratio == (F(5, 9), F(5, 9))


def test_dynamic_min_entropy_leakage_of_noise():
    import numpy as np

    on = bl.Finite([0, 1])
    mech = bl.Mechanism(
        lambda y, x: np.exp(-np.abs(y - x)) / 2, secret=on, outcome=bl.Reals(), breaks=[0.0, 1.0]
    )
    made = bl.pmf([0.75, 0.25], on=on) * mech
    found = bl.dynamic_min_entropy_leakage(made, 2.0)
    # P(0|2) = 3 / (3 + e), below the prior's 3/4
    with o.precision():
        truth = (4 / (3 + o.ball(1).exp())).log() - 0
        second = (4 * o.ball(1).exp() / (3 * (3 + o.ball(1).exp()))).log()
        truth = truth if truth > second else second
        assert found.lower <= truth <= found.upper
    assert found.proved and found.width < 1e-8
    with pytest.raises(bl.NotYet, match="secrets on"):
        bl.dynamic_min_entropy_leakage(bl.normal() * bl.mechanisms.gaussian(sigma=1.0), 0.0)


# -- guesswork of one outcome --------------------------------------------------------------------


@given(law=o.joints(), data=st.data())
def test_no_function_has_more_pointwise_guesswork_leakage_than_pmc(law, data):
    p, K = law
    kernel = data.draw(o.kernels(len(p), data.draw(st.integers(1, 4))))
    lam = bl.pointwise_maximal_guesswork_leakage(joint(p, K))
    for y, mass in enumerate(o.marginal(p, K)):
        if mass == 0:
            continue
        after = o.posterior(p, K, y)
        laws = [
            [sum((w[x] * kernel[x][u] for x in range(len(p))), F(0)) for u in range(len(kernel[0]))]
            for w in (p, after)
        ]
        assert m.guesswork(laws[0]) / m.guesswork(laws[1]) <= lam(y).ratio.upper
