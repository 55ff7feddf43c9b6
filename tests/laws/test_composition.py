"""Two releases about one secret: the leakage of both, of the first, and of the second given it."""

import oracles as o
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import not_above, the_same

import borel as bl


@st.composite
def releases(draw):
    """A prior, the rows of a first mechanism, and rows of a second one for each first outcome."""
    n, m, k = draw(o.SIZES), draw(o.SIZES), draw(o.SIZES)
    return draw(o.laws(n)), draw(o.kernels(n, m)), [draw(o.kernels(n, k)) for _ in range(m)]


def pieces(build, p, first, second):
    """The joint of both releases, of the first, and of the second given each first outcome."""
    prior, one = build.prior(p), build.mech(first)
    both = prior * one.then(lambda y: build.mech(second[y]))
    alone = prior * one
    given_y = {
        y: alone.posterior(y) * build.mech(second[y])
        for y, mass in enumerate(o.marginal(p, first))
        if mass > 0
    }
    return both, alone, given_y


def in_floats(build, make):
    try:
        return make()
    except bl.InvalidInput as error:
        assert not build.exact and "products" in str(error)
        assume(False)


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", ["pml", "pmc"])
@given(release=releases())
def test_adaptive_composition(build, kind, release):
    """PML paper, Lemma 1 (6); journal, Lemma 1 (vii): at every pair of outcomes."""
    p, first, second = release
    both, alone, given_y = in_floats(build, lambda: pieces(build, *release))
    leak = getattr(bl, kind)
    for y, learnt in given_y.items():
        conditional = o.posterior(p, first, y)
        for z, mass in enumerate(o.marginal(conditional, second[y])):
            if mass > 0:
                not_above(leak(both)((y, z)), leak(alone)(y), leak(learnt)(z))


@given(release=releases())
def test_independent_composition_is_adaptive_composition(build, release):
    p, first, second = release
    prior, one, two = build.prior(p), build.mech(first), build.mech(second[0])
    joint = in_floats(build, lambda: prior * (one & two))
    same = in_floats(build, lambda: prior * one.then(lambda y: two))
    rows = o.both(first, second[0])
    for kind in ("pml", "pmc"):
        for j, (y, z) in enumerate(joint.mechanism.outcome.labels):
            found, again = getattr(bl, kind)(joint)((y, z)), getattr(bl, kind)(same)((y, z))
            ratio = o.LEAKAGES[kind](p, rows, j)
            assert o.encloses(found, ratio) and o.encloses(again, ratio)


@given(release=releases())
def test_suprema_add(build, release):
    """PML paper, Theorem 4 (1): the supremum of both is at most the sum of the two suprema."""
    _p, _first, _second = release
    both, alone, given_y = in_floats(build, lambda: pieces(build, *release))
    for leak in (bl.pml, bl.pmc):
        largest = max(
            (leak(j).sup() for j in given_y.values()), key=lambda b: (b.upper, b.ratio.upper)
        )
        not_above(leak(both).sup(), leak(alone).sup(), largest)


@given(release=releases())
def test_side_information_that_does_not_touch_the_mechanism(release):
    """PML paper, Lemma 1 (5), with the maximum over the posterior's support (erratum 3).

    For Z - X - Y: PML(X -> y | z) <= PML(X -> y) - i(y; z); equal if z excludes no secret.
    """
    p, to_z, (to_y, *_) = release
    side, mech = bl.Mechanism.from_matrix(to_z), bl.Mechanism.from_matrix(to_y)
    prior = bl.pmf(p)
    for z, mass in enumerate(o.marginal(p, to_z)):
        if mass == 0:
            continue
        learnt = (prior * side).posterior(z)
        before, after = (mech @ prior).probabilities, (mech @ learnt).probabilities
        excludes = any(p[x] > 0 and to_z[x][z] == 0 for x in range(len(p)))
        for y in range(len(before)):
            if after[y] > 0:
                conditional = bl.pml(learnt * mech)(y).ratio.lower
                stated = bl.pml(prior * mech)(y).ratio.lower / (after[y] / before[y])
                assert conditional <= stated
                assert excludes or conditional == stated


@given(p=o.laws(3), q=o.laws(2), A=o.kernels(3, 2), B=o.kernels(2, 3))
def test_leakage_of_a_product_is_a_sum(build, p, q, A, B):
    """Journal, Lemma 1 (iii): secrets, mechanisms and outcomes in independent pairs."""
    prior = in_floats(build, lambda: build.prior(p) * build.prior(q))
    rows = [[a * b for a in r for b in s] for r in A for s in B]
    assume(build.exact or all(v == 0 or v > o.F(1, 10**300) for r in rows for v in r))
    joint = prior * build.mech(
        rows, secret=bl.Finite(3) * bl.Finite(2), outcome=bl.Finite(2) * bl.Finite(3)
    )
    one, two = build.joint(p, A), build.joint(q, B)
    masses = o.marginal(p, A), o.marginal(q, B)
    for kind in (bl.pml, bl.pmc):
        for y in range(2):
            for z in range(3):
                if masses[0][y] > 0 and masses[1][z] > 0:
                    the_same(kind(joint)((y, z)), kind(one)(y), kind(two)(z))
        the_same(kind(joint).sup(), kind(one).sup(), kind(two).sup())
    the_same(bl.ldp(joint), bl.ldp(one), bl.ldp(two))
    the_same(bl.maximal_leakage(joint), bl.maximal_leakage(one), bl.maximal_leakage(two))
