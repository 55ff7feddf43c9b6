"""Guarantees that the level of LDP settles, or a stronger guarantee, where the figure does not."""

from fractions import Fraction as F

import numpy as np
import pytest

import borel as bl

UNIT = bl.Interval(0, 1)
g = bl.guarantees


@pytest.mark.parametrize("prior", [[0.2, 0.3, 0.5], [0.0, 0.3, 0.7], [F(1, 5), F(3, 10), F(1, 2)]])
@pytest.mark.parametrize("derived", [False, True])
def test_ldp_of_a_matrix_of_fractions_needs_the_support_of_the_prior_only(prior, derived):
    mech = bl.mechanisms.randomized_response(k=3, ratio=3)
    if derived:  # no closed form
        mech = bl.Mechanism.from_matrix(mech.matrix)
    joint = bl.pmf(prior) * mech
    assert bl.ldp(joint).ratio == (3, 3) and bl.ldp(joint).status == "exact"
    assert joint.satisfies(g.LDP(ratio=3)).holds is True
    assert joint.satisfies(g.LDP(ratio=F(299, 100))).holds is False
    alone = bl.pmf([0.0, 0.0, 1.0]) * mech
    assert bl.ldp(alone).ratio == (1, 1)


def test_secrets_without_mass_do_not_count():
    """The last secret alone is told apart, and has no mass."""
    matrix = [[F(1, 2), F(1, 2)], [F(1, 3), F(2, 3)], [F(0), F(1)]]
    joint = bl.pmf([0.3, 0.7, 0.0]) * bl.Mechanism.from_matrix(matrix)
    assert bl.ldp(joint).ratio == (F(3, 2), F(3, 2))
    assert joint.satisfies(g.LDP(ratio=F(3, 2))).holds is True


@pytest.mark.parametrize(
    "made", [bl.mechanisms.randomized_response, bl.mechanisms.subset_selection]
)
def test_a_mechanism_meets_the_level_that_it_was_made_for(made):
    for epsilon in (0.1, 1.0, 7.3):
        joint = bl.pmf([0.2, 0.3, 0.5]) * made(k=3, epsilon=epsilon)
        found = bl.ldp(joint)
        assert found.lower <= epsilon <= found.upper
        assert joint.satisfies(g.LDP(epsilon)).holds is True
        assert joint.satisfies(g.LDP(epsilon * (1 - 1e-9))).holds is False
        assert joint.satisfies(g.PML(epsilon)).holds is True


def test_a_matrix_of_floats_at_its_level_says_what_would_settle_it():
    third = 1 / 3
    joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[third, 1 - third], [1 - third, third]])
    verdict = joint.satisfies(g.LDP(ratio=2))
    assert verdict.holds is None and "rounding of floats" in verdict.reason
    assert "ratio=" in verdict.reason


@pytest.mark.parametrize(
    ("size", "level"), [({"epsilon": 1, "sensitivity": 1}, 1), ({"b": 0.5}, 2)]
)
def test_noise_meets_its_level_under_every_prior_on_the_interval(size, level):
    mech = bl.mechanisms.laplace(**size, secret=UNIT)
    skew = bl.beta(alpha=2, beta=5)
    for prior in (bl.uniform(UNIT), skew, bl.priors.tv_ball(skew, 0.1)):
        joint = prior * mech
        assert joint.satisfies(g.LDP(level)).holds is True
        assert joint.satisfies(g.LDP(level * 0.999)).holds is not True


def test_pml_of_a_set_is_at_most_the_level_of_ldp():
    """Over a set whose supremum is the level itself, PML is at most log 8 by the matrix."""
    mech = bl.mechanisms.randomized_response(k=3, ratio=8, secret=["a", "b", "c"])
    counts = {"a": 20, "b": 3, "c": 0}
    for prior in (
        bl.priors.full_support(mech.secret),
        bl.priors.from_counts(counts, confidence=0.95, method="box"),
        bl.priors.from_counts(counts, confidence=0.95, method="kl"),
        bl.priors.tv_ball(bl.pmf([0.2, 0.3, 0.5], on=mech.secret), 0.3),
    ):
        joint = prior * mech
        for kind in (g.PML, g.PMC, g.LIP):
            verdict = joint.satisfies(kind(ratio=8))
            assert verdict.holds is True and verdict.bound.upper <= np.nextafter(np.log(8), 9)
            assert joint.satisfies(kind(ratio=F(6))).holds is not True


def test_no_ceiling_of_a_kernel_that_moves_with_the_prior():
    """One of two entries: what it leaks is not bounded by the other kernel at the uniform prior."""
    from borel.figures.levels import ldp_of_all_secrets

    entries = bl.iid(bl.priors.bernoulli(0.1, 0.9), 2)
    joint = bl.entry(entries * bl.mechanisms.counting_query(n=2, b=1.0))
    assert ldp_of_all_secrets(joint) is None


@pytest.mark.slow
def test_a_guarantee_without_exceptions_implies_the_one_with_them():
    joint = bl.priors.tv_ball(bl.beta(alpha=2, beta=5), 0.1) * bl.mechanisms.laplace(
        b=1, secret=UNIT
    )
    for kind in (g.PML, g.TailLeakage):
        assert joint.satisfies(kind(0.8, delta=0.05)).holds is True
    with pytest.raises(bl.NotYet):  # PML(0.1) fails, which says nothing of delta = 1/20
        joint.satisfies(g.PML(0.1, delta=0.05))
