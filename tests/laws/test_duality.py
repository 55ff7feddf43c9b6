"""The law of a leakage: tail, distribution function and quantiles are one function."""

import oracles as o
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import F

import borel as bl

KINDS = pytest.mark.parametrize("kind", ["pml", "pmc"])
THRESHOLDS = st.one_of(
    st.sampled_from([-1.0, 0.0, 0.25, 1.0, 50.0, 800.0]), st.floats(0, 3, allow_nan=False)
)
LEVELS = st.fractions(F(1, 1000), F(999, 1000), max_denominator=5000)


@KINDS
@given(joint=o.joints(), t=THRESHOLDS)
def test_tail_and_distribution_function_add_up_to_1(build, kind, joint, t):
    leak = getattr(bl, kind)(build.joint(*joint))
    tail, cdf = leak.tail(t), leak.cdf(t)
    assert F(tail.lower) + F(cdf.lower) <= 1 <= F(tail.upper) + F(cdf.upper)
    closed = leak.tail(t, closed=True)
    assert tail.lower <= closed.upper
    if build.exact and t == 0:
        assert closed.lower == 1  # a leakage is never negative


@KINDS
@given(joint=o.joints(), s=LEVELS, t=THRESHOLDS)
def test_quantiles_invert_the_distribution_function(build, kind, joint, s, t):
    """quantile(s) <= t iff cdf(t) >= s; the right quantile is > t only if cdf(t) <= s."""
    leak = getattr(bl, kind)(build.joint(*joint))
    left, right, cdf = leak.quantile(s), leak.quantile(s, side="right"), leak.cdf(t)
    if left.upper <= t:
        assert F(cdf.upper) >= s
    if left.lower > t:
        assert F(cdf.lower) < s
    if right.lower > t:
        assert F(cdf.lower) <= s
    if right.upper < t:
        assert F(cdf.upper) > s
    assert left.lower <= right.upper


@pytest.mark.few(2)
@KINDS
@given(joint=o.joints(), s=LEVELS, more=LEVELS)
def test_quantiles_increase(build, kind, joint, s, more):
    leak = getattr(bl, kind)(build.joint(*joint))
    assume(s <= more)
    assert leak.quantile(s).lower <= leak.quantile(more).upper
    assert leak.quantile(s, side="right").lower <= leak.quantile(more, side="right").upper
    assert s == more or leak.quantile(s, side="right").lower <= leak.quantile(more).upper
    assert leak.quantile(1).upper >= leak.sup().lower
    assert leak.quantile(1).lower <= leak.sup().upper


@KINDS
@given(joint=o.joints())
def test_quantiles_of_fractions_are_exact_at_atoms(kind, joint):
    p, K = joint
    leak = getattr(bl, kind)(bl.pmf(p) * bl.Mechanism.from_matrix(K))
    cumulative = F(0)
    levels = sorted({r for r, m in zip(o.curve(kind, p, K), o.marginal(p, K), strict=True) if m})
    for r in levels:
        cumulative = 1 - o.tail(kind, p, K, lambda v, r=r: v > r)
        found = leak.quantile(cumulative)
        assert found.lower == o.INF if r == o.INF else o.encloses(found, r)
        if cumulative < 1:
            after = o.quantile(kind, p, K, cumulative, "right")
            assert after > r
            found = leak.quantile(cumulative, side="right")
            assert found.lower == o.INF if after == o.INF else o.encloses(found, after)
    assert cumulative == 1


@KINDS
@given(joint=o.joints())
def test_markov_and_jensen(build, kind, joint):
    """The mean is at most the supremum, and t P{leakage > t} at most the mean."""
    leak = getattr(bl, kind)(build.joint(*joint))
    mean = leak.mean()
    assert mean.lower <= leak.sup().upper
    for t in (0.1, 1.0):
        assert F(t) * F(leak.tail(t).lower) <= (F(mean.upper) if mean.upper < o.INF else 10**9)
    ratio = leak.exp_mean()
    if ratio.upper < o.INF:
        with o.precision():
            assert o.ball(mean.lower).exp() <= o.ball(ratio.upper)
