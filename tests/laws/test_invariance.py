"""What a leakage does not depend on: names, order, copies, and secrets without mass."""

import oracles as o
from hypothesis import given
from hypothesis import strategies as st
from oracles import F, the_same

import borel as bl

NOTIONS = (bl.ldp, bl.lip, bl.maximal_leakage)


def same_figures(one, two, labels):
    """Compare two joints whose outcomes correspond by ``labels``: a list of pairs."""
    for kind in (bl.pml, bl.pmc):
        for y, z in labels:
            the_same(kind(one)(y), kind(two)(z))
        the_same(kind(one).sup(), kind(two).sup())
        for t in (0.0, 0.1, 0.7):
            a, b = kind(one).tail(t), kind(two).tail(t)
            assert a.lower <= b.upper and b.lower <= a.upper
    for notion in NOTIONS:
        the_same(notion(one), notion(two))
    a, b = bl.mutual_information(one), bl.mutual_information(two)
    assert a.lower <= b.upper and b.lower <= a.upper


@given(joint=o.joints(), data=st.data())
def test_names_and_order(build, joint, data):
    """Labels are matched, never positions: the prior may list them in its own order."""
    p, K = joint
    rows = data.draw(st.permutations(range(len(p))))
    again = data.draw(st.permutations(range(len(p))))
    columns = data.draw(st.permutations(range(len(K[0]))))
    moved = build.mech(
        [[K[x][y] for y in columns] for x in rows],
        secret=[f"x{x}" for x in rows],
        outcome=[f"y{y}" for y in columns],
    )
    prior = build.prior([p[x] for x in again], on=bl.Finite([f"x{x}" for x in again]))
    same_figures(build.joint(p, K), prior * moved, [(y, f"y{y}") for y in columns])


@given(joint=o.joints(), data=st.data(), share=st.sampled_from([F(1, 2), F(1, 4), F(3, 8)]))
def test_splitting_an_outcome_at_random_changes_nothing(build, joint, data, share):
    """Two outcomes with proportional columns are one outcome: refinement without information."""
    p, K = joint
    y = data.draw(st.integers(0, len(K[0]) - 1))
    finer = [[*row[:y], row[y] * share, *row[y + 1 :], row[y] * (1 - share)] for row in K]
    whole, split = build.joint(p, K), build.joint(p, finer)
    m = len(K[0])
    same_figures(whole, split, [*((z, z) for z in range(m)), (y, m)])
    merged = build.prior(p) * build.mech(finer).push(lambda z: y if z == m else z)
    if build.exact or all(v == 0 or v > F(1, 10**290) for row in K for v in row):
        same_figures(whole, merged, [(z, z) for z in range(m)])


@given(joint=o.joints(), data=st.data(), share=st.sampled_from([F(1, 2), F(1, 4)]))
def test_splitting_a_secret_into_equal_rows_changes_nothing(build, joint, data, share):
    p, K = joint
    x = data.draw(st.integers(0, len(p) - 1))
    split = build.joint([*p[:x], p[x] * share, *p[x + 1 :], p[x] * (1 - share)], [*K, K[x]])
    same_figures(build.joint(p, K), split, [(y, y) for y in range(len(K[0]))])


@given(joint=o.joints(), data=st.data())
def test_a_secret_without_mass_changes_nothing(build, joint, data):
    p, K = joint
    row = data.draw(o.laws(len(K[0])))
    more = build.joint([*p, F(0)], [*K, row])
    same_figures(build.joint(p, K), more, [(y, y) for y in range(len(K[0]))])


@given(joint=o.joints())
def test_an_impossible_outcome_changes_nothing(build, joint):
    p, K = joint
    more = build.joint(p, [[*row, F(0)] for row in K])
    same_figures(build.joint(p, K), more, [(y, y) for y in range(len(K[0]))])
    for kind in (bl.pml, bl.pmc):
        bound = kind(more)(len(K[0]))
        assert bound.lower == bound.upper == 0
        assert any("outside the support" in a for a in bound.assumptions)
