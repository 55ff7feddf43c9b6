"""Data processing: before the mechanism at every outcome, after it for the supremum only."""

import oracles as o
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import F, not_above

import borel as bl


@st.composite
def chains(draw):
    """p, A, B of a Markov chain: first ~ p, second | first by A, third | second by B."""
    k, n, m = draw(o.SIZES), draw(o.SIZES), draw(o.SIZES)
    return draw(o.laws(k)), draw(o.kernels(k, n)), draw(o.kernels(n, m))


def in_floats(build, make):
    """Build a composition; floats may refuse one whose products they cannot hold."""
    try:
        return make()
    except bl.InvalidInput as error:
        assert not build.exact and "products" in str(error)
        assume(False)


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", ["pml", "pmc"])
@given(chain=chains())
def test_before_the_mechanism(build, kind, chain):
    """Z - X - Y: what y leaks about Z is at most what it leaks about X, at every y."""
    p, A, B = chain
    z, to_x, to_y = build.prior(p), build.mech(A), build.mech(B)
    about_z = in_floats(build, lambda: z * (to_y @ to_x))
    about_x = in_floats(build, lambda: (to_x @ z) * to_y)
    for y in range(len(B[0])):
        not_above(getattr(bl, kind)(about_z)(y), getattr(bl, kind)(about_x)(y))


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", ["pml", "pmc"])
@given(chain=chains())
def test_after_the_mechanism(build, kind, chain):
    """X - Y - Z: the largest leakage of Z is at most that of Y."""
    p, A, B = chain
    x, to_y, to_z = build.prior(p), build.mech(A), build.mech(B)
    released = in_floats(build, lambda: x * (to_z @ to_y))
    not_above(getattr(bl, kind)(released).sup(), getattr(bl, kind)(x * to_y).sup())


@given(chain=chains())
def test_after_the_mechanism_for_the_other_notions(build, chain):
    p, A, B = chain
    x, to_y, to_z = build.prior(p), build.mech(A), build.mech(B)
    released = in_floats(build, lambda: x * (to_z @ to_y))
    for notion in (bl.ldp, bl.lip, bl.maximal_leakage):
        not_above(notion(released), notion(x * to_y))
    assert bl.mutual_information(released).lower <= bl.mutual_information(x * to_y).upper


@given(joint=o.joints(), data=st.data())
def test_a_deterministic_release(build, joint, data):
    """``push``: the leakage of g(y) is at most the largest leakage among the y it merges."""
    p, K = joint
    image = data.draw(st.lists(st.integers(0, 2), min_size=len(K[0]), max_size=len(K[0])))
    mech = build.mech(K)
    pushed = build.prior(p) * mech.push(lambda y: image[y])
    for kind in ("pml", "pmc"):
        before = getattr(bl, kind)(build.prior(p) * mech)
        for label in sorted(set(image)):
            largest = max(before(y).upper for y in range(len(image)) if image[y] == label)
            assert getattr(bl, kind)(pushed)(label).lower <= largest


def test_no_inequality_at_one_outcome():
    """PML paper, Remark 4: with Z = Y, one outcome may leak more than another leaks."""
    K = [[F(1, 2), F(1, 2), F(0)], [F(1, 2), F(0), F(1, 2)]]
    x, mech = bl.pmf([F(1, 2)] * 2), bl.Mechanism.from_matrix(K)
    copy = bl.Mechanism.from_matrix([[F(int(i == j)) for j in range(3)] for i in range(3)])
    before, after = bl.pml(x * mech), bl.pml(x * (copy @ mech))
    assert after(1).ratio.lower == 2 > before(0).ratio.upper == 1
    assert after.sup().ratio == before.sup().ratio


def test_a_random_release_may_leak_more_at_z_than_a_likely_y():
    """P(Y = y0 | Z = z) > 0 and yet PML(z) > PML(y0): no pointwise law with noise either."""
    x = bl.pmf([F(1, 2)] * 2)
    mech = bl.Mechanism.from_matrix([[F(1, 2), F(1, 2), F(0)], [F(1, 2), F(0), F(1, 2)]])
    post = bl.Mechanism.from_matrix([[F(1, 2), F(1, 2)], [F(1), F(0)], [F(0), F(1)]])
    assert bl.pml(x * (post @ mech))(0).ratio.lower > bl.pml(x * mech)(0).ratio.upper


def test_probabilistic_pml_is_not_closed_under_a_release():
    """PML paper, after Theorem 3: (epsilon, delta)-PML may be lost by merging outcomes."""
    x = bl.pmf([F(1, 2)] * 2)
    K = [[F(1, 10), F(9, 20), F(9, 20)], [F(0), F(1, 2), F(1, 2)]]
    mech = bl.Mechanism.from_matrix(K)
    before = bl.pml(x * mech)
    after = bl.pml(x * mech.push(lambda y: min(y, 1)))
    for epsilon in (0.06, 0.1, 0.3):
        assert before.tail(epsilon).upper <= 0.0501
    assert before.sup().ratio.lower == 2 == after.sup().ratio.lower
    # a randomised release spreads the bad outcome over a larger one
    post = bl.Mechanism.from_matrix([[F(1), F(0)], [F(1, 10), F(9, 10)], [F(0), F(1)]])
    spread = bl.pml(x * (post @ mech))
    assert spread.tail(0.3).lower > before.tail(0.3).upper
