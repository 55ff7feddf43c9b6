"""Guarantees of finite joints: ties, probabilities delta, and what an undecided figure says."""

import math
from fractions import Fraction as F

import oracles as o
import pytest

import borel as bl
from borel import guarantees as g

HALF = F(1, 2)
K = [[F(9, 10), F(1, 10)], [F(1), F(0)]]
JOINT = bl.pmf([HALF, HALF]) * bl.Mechanism.from_matrix(K)
FLOATS = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix(o.floats(K))


@pytest.mark.parametrize("joint", [JOINT, FLOATS], ids=["fractions", "floats"])
def test_pml_with_and_without_delta(joint):
    """PML is log 20/19 with probability 19/20, and log 2 with probability 1/20."""
    assert joint.satisfies(g.PML(0.7)).holds is True
    assert joint.satisfies(g.PML(0.69)).holds is False
    assert joint.satisfies(g.PML(0.06, delta=0.051)).holds is True
    assert joint.satisfies(g.PML(0.06, delta=0.049)).holds is False
    assert joint.satisfies(g.PML(0.05, delta=0.9)).holds is False
    assert joint.satisfies(g.PML(0.05, delta=0.9)).bound.units == "probability"


def test_ties_are_decided_for_fractions():
    """P{PML > 0.06} is 1/20 exactly, which the float 0.05 exceeds."""
    assert F(0.05) > F(1, 20)
    assert JOINT.satisfies(g.PML(0.06, delta=0.05)).holds is True
    assert JOINT.satisfies(g.PML(0.06, delta=0.05 * (1 - 1e-15))).holds is False


def test_floats_at_a_tie_are_undecided():
    verdict = FLOATS.satisfies(g.PML(0.06, delta=0.05))
    assert verdict.holds in (True, None)
    threshold = bl.pml(FLOATS).sup()
    verdict = FLOATS.satisfies(g.PML(threshold.lower))
    if threshold.lower < threshold.upper:
        assert verdict.holds is None
        with pytest.raises(bl.Undecided):
            bool(verdict)


@pytest.mark.parametrize("joint", [JOINT, FLOATS], ids=["fractions", "floats"])
def test_pmc_ldp_lip_alip(joint):
    for infinite in (g.PMC(1e6), g.LDP(1e6), g.LIP(1e6), g.ALIP(1e6, 1e6)):
        assert joint.satisfies(infinite).holds is False
    assert joint.satisfies(g.PMC(0.06, delta=0.051)).holds is True
    assert joint.satisfies(g.PMC(0.06, delta=0.049)).holds is False
    fair = bl.pmf([HALF, HALF]) * bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    assert (
        fair.satisfies(g.LDP(1.0987)).holds is True and fair.satisfies(g.LDP(1.0986)).holds is False
    )
    assert (
        fair.satisfies(g.LIP(0.6932)).holds is True and fair.satisfies(g.LIP(0.6931)).holds is False
    )
    assert fair.satisfies(g.ALIP(0.6932, 0.4055)).holds is True
    assert fair.satisfies(g.ALIP(0.6931, 0.4055)).holds is False
    assert fair.satisfies(g.ALIP(0.6932, 0.4054)).holds is False
    assert fair.satisfies(g.ALIP(0.4055, 0.6932)).holds is False


def test_zero_is_a_level():
    useless = bl.pmf([HALF, HALF]) * bl.Mechanism.from_matrix([[HALF, HALF]] * 2)
    for guarantee in (g.PML(0.0), g.PMC(0.0), g.LDP(0.0), g.LIP(0.0), g.ALIP(0.0, 0.0), g.PML(0)):
        assert useless.satisfies(guarantee).holds is True
    assert g.PML(math.inf).epsilon == math.inf and JOINT.satisfies(g.PMC(math.inf)).holds is True


def test_fractions_are_levels_too():
    assert JOINT.satisfies(g.PML(F(7, 10))).holds is True
    assert JOINT.satisfies(g.PML(F(6, 100), delta=F(1, 20))).holds is True


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: g.PML(-0.1),
        lambda: g.PML(math.nan),
        lambda: g.PML("1"),
        lambda: g.PML(None),
        lambda: g.PML(0.1, delta=1.0),
        lambda: g.PML(0.1, delta=-0.1),
        lambda: g.PML(0.1, delta=math.nan),
        lambda: g.PMC(-1),
        lambda: g.LDP(-1),
        lambda: g.LIP(-1),
        lambda: g.ALIP(-1, 1),
        lambda: g.ALIP(1, -1),
        lambda: g.ALIP(1, math.nan),
    ],
)
def test_levels_out_of_range(wrong):
    with pytest.raises(bl.InvalidInput):
        wrong()


def test_an_estimate_satisfies_nothing():
    import numpy as np
    from scipy import special

    mech = bl.Mechanism(
        lambda y, x: np.where(y == 1, special.j0(x) ** 2, 1 - special.j0(x) ** 2),
        secret=bl.Integers(0, None),
        outcome=bl.Finite(2),
    )
    verdict = (bl.poisson(mu=2.0) * mech).satisfies(g.PML(50.0))
    assert verdict.holds is None and verdict.reason
