"""Ranges of the figures and the inequalities between notions, at every outcome."""

import oracles as o
from hypothesis import given
from oracles import F, not_above, the_same

import borel as bl


@given(joint=o.joints())
def test_pml_lies_between_0_and_log_1_over_the_smallest_mass(build, joint):
    """PML paper, Lemma 1 (1), with its condition of equality on the left."""
    p, K = joint
    leak, ceiling = bl.pml(build.joint(p, K)), 1 / min(v for v in p if v > 0)
    for y in range(len(K[0])):
        bound = leak(y)
        assert bound.lower >= 0
        with o.precision():
            assert o.ball(bound.lower) <= o.log(ceiling) or ceiling == 1 == bound.lower + 1
        if build.exact:
            column = {K[x][y] for x in o.support(p)}
            assert 1 <= bound.ratio.lower <= ceiling
            assert (bound.ratio.upper == 1) == (len(column) == 1)


@given(joint=o.joints())
def test_pmc_is_not_negative(build, joint):
    """Journal, Lemma 1 (i)."""
    p, K = joint
    leak = bl.pmc(build.joint(p, K))
    assert all(leak(y).lower >= 0 and leak(y).ratio.lower >= 1 for y in range(len(K[0])))


@given(joint=o.joints())
def test_independence_leaks_nothing(build, joint):
    """Journal, Lemma 1 (ii); PML paper, Lemma 1 (2)."""
    p, K = joint
    independent = build.joint(p, [K[0]] * len(p))
    slack = 1e-15 if all(v == 0 or v > F(1, 10**300) for v in K[0]) else 1.0  # subnormals
    for kind in (bl.pml, bl.pmc):
        for y in range(len(K[0])):
            assert kind(independent)(y).lower == 0 and kind(independent)(y).upper <= slack
            assert not build.exact or kind(independent)(y).ratio == (1, 1)


@given(p=o.laws(4), K=o.kernels(4, 3))
def test_a_deterministic_outcome_leaks_its_surprise(build, p, K):
    """PML paper, Lemma 1 (2): PML(y) = -log P_Y(y)."""
    K = [[F(int(y == row.index(max(row)))) for y in range(3)] for row in K]
    mass = o.marginal(p, K)
    leak = bl.pml(build.joint(p, K))
    for y in range(3):
        assert o.encloses(leak(y), 1 / mass[y] if mass[y] else F(1))


@given(joint=o.joints())
def test_ldp_bounds_both_and_is_bounded_by_their_sum(build, joint):
    """Journal, Theorem 7, with equality when both suprema share their outcome."""
    joint = build.joint(*joint)
    ldp, pml, pmc = bl.ldp(joint), bl.pml(joint).sup(), bl.pmc(joint).sup()
    not_above(pml, ldp)
    not_above(pmc, ldp)
    not_above(ldp, pml, pmc)


@given(joint=o.joints())
def test_lip_is_the_larger_side_of_alip(build, joint):
    joint = build.joint(*joint)
    lip, sides = bl.lip(joint), bl.alip(joint)
    for side in sides:
        not_above(side, lip)
    assert lip.lower <= max(s.upper for s in sides)
    assert lip.upper >= max(s.lower for s in sides)
    the_same(sides.lower, bl.pmc(joint).sup())
    the_same(sides.upper, bl.pml(joint).sup())


@given(joint=o.joints())
def test_maximal_leakage_is_the_log_of_the_mean_ratio(build, joint):
    joint = build.joint(*joint)
    found, mean = bl.maximal_leakage(joint), bl.pml(joint).exp_mean()
    assert mean.lower <= float(found.ratio.upper) and float(found.ratio.lower) <= mean.upper
    not_above(found, bl.pml(joint).sup())


@given(joint=o.joints())
def test_mutual_information_is_at_most_the_mean_leakage(build, joint):
    """PML paper, Proposition 7; and Jensen: the mean of PML is at most maximal leakage."""
    joint = build.joint(*joint)
    information, mean = bl.mutual_information(joint), bl.pml(joint).mean()
    assert 0 <= information.lower <= mean.upper
    assert mean.lower <= bl.maximal_leakage(joint).upper
    assert mean.lower <= bl.pml(joint).sup().upper


@given(joint=o.joints())
def test_the_information_density_is_between_minus_pmc_and_pml(build, joint):
    p, K = joint
    made = build.joint(p, K)
    density = bl.information_density(made)
    for y, mass in enumerate(o.marginal(p, K)):
        if mass == 0:
            continue
        figures = [density(x, y) for x in o.support(p)]
        pml, pmc = bl.pml(made)(y), bl.pmc(made)(y)
        assert max(f.lower for f in figures) <= pml.upper
        assert max(f.upper for f in figures) >= pml.lower
        assert max(-f.upper for f in figures) <= pmc.upper
        assert max(-f.lower for f in figures) >= pmc.lower
