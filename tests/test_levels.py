"""LDP, LIP, ALIP, LDI and leakage capacity: closed forms, brute force, and the larger of two."""

import itertools
import math
from fractions import Fraction as F

import measure_oracles as m
import numpy as np
import oracles as o
import pytest
from hypothesis import given

import borel as bl

HALF = F(1, 2)
BUILDS = pytest.mark.parametrize("build", [lambda v: v, o.floats], ids=["fractions", "floats"])


def joint(p, K):
    return bl.pmf(p) * bl.Mechanism.from_matrix(K)


@pytest.mark.parametrize("build", [lambda v: v, o.floats], ids=["fractions", "floats"])
def test_the_prior_counts_through_its_support_only(build):
    K = [[F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)], [F(0), F(1)]]
    part, whole = [F(1, 3), F(2, 3), F(0)], [F(1, 3), F(1, 3), F(1, 3)]
    for p, ldp, capacity in ((part, F(2), F(5, 4)), (whole, math.inf, F(3, 2))):
        made = joint(build(p), build(K))
        assert o.encloses(bl.ldp(made), ldp)
        assert o.encloses(bl.maximal_leakage(made), capacity)
    again = joint(build([F(1, 1000), F(999, 1000), F(0)]), build(K))
    assert bl.ldp(again).ratio == bl.ldp(joint(build(part), build(K))).ratio


def test_lip_is_under_the_product_of_the_marginals():
    """Erratum 7: Y = X on a uniform bit has infinite PMC, so that LIP is infinite, not log 2."""
    identity = joint([HALF, HALF], [[F(1), F(0)], [F(0), F(1)]])
    assert bl.lip(identity).lower == math.inf
    assert bl.alip(identity).upper.ratio == (2, 2)
    assert bl.alip(identity).lower.lower == math.inf


def test_witnesses_attain_what_they_witness():
    K = [[F(1, 2), F(1, 4), F(1, 4)], [F(1, 8), F(3, 8), F(1, 2)], [F(1, 3), F(1, 3), F(1, 3)]]
    p = [F(1, 5), F(2, 5), F(2, 5)]
    mech = bl.Mechanism.from_matrix(K, secret=list("abc"), outcome=list("rst"))
    made = bl.pmf(p, on=bl.Finite(list("abc"))) * mech
    where = bl.ldp(made).witness
    x, other, y = ("abc".index(where["x"]), "abc".index(where["x'"]), "rst".index(where["y"]))
    assert K[x][y] / K[other][y] == o.ldp(p, K)
    for kind in ("pml", "pmc"):
        where = getattr(bl, kind)(made).sup().witness
        x, y = "abc".index(where["x"]), "rst".index(where["y"])
        density = o.density(p, K, x, y)
        assert (density if kind == "pml" else 1 / density) == o.sup(kind, p, K)


def test_the_ldi_witness_attains_it():
    K = [[F(1, 2), F(1, 4), F(1, 4)], [F(1, 8), F(3, 8), F(1, 2)], [F(1, 3), F(1, 3), F(1, 3)]]
    p = [F(1, 5), F(2, 5), F(2, 5)]
    found = bl.ldi(joint(p, K))
    where = found.witness
    after = o.posterior(p, K, where["y"])
    assert after[where["x"]] / after[where["x'"]] == m.ldi(p, K) == found.ratio.lower


@BUILDS
@given(law=o.joints())
def test_ldi_by_brute_force(build, law):
    p, K = law
    assert o.encloses(bl.ldi(joint(build(p), build(K))), m.ldi(p, K))


def test_ldi_is_the_level_of_ldp_under_a_uniform_prior():
    K = [[F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)], [F(1, 3), F(2, 3)]]
    made = joint([F(1, 3)] * 3, K)
    assert bl.ldi(made).ratio == bl.ldp(made).ratio


def test_ldi_of_infinitely_many_secrets_is_infinite():
    noise = bl.mechanisms.countable()
    assert bl.ldi(bl.poisson(mu=2.0) * noise) == bl.Bound.exact(math.inf, math.inf)
    found = bl.ldi(noise.reference_prior * noise)
    assert found.lower == math.inf


def test_ldi_of_a_continuous_secret_is_no_figure():
    with pytest.raises(bl.InvalidInput, match="base measure"):
        bl.ldi(bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0))


def test_a_single_secret_has_nothing_to_tell_apart():
    made = joint([F(1)], [[F(1, 2), F(1, 2)]])
    for measure in (bl.ldp, bl.ldi, bl.lip):
        assert measure(made) == bl.Bound.exact(0.0, 0.0) or measure(made).ratio == (1, 1)


@pytest.mark.parametrize("build", [lambda v: v, o.floats], ids=["fractions", "floats"])
@pytest.mark.parametrize("n", [2, 5, 50])
def test_zero_probabilities_of_a_channel_of_n_outcomes(build, n):
    """PML paper, Section IV-B: LDP, LIP and LDI are infinite, PML goes to 0 as n grows."""
    K = [[F(0), *[F(1, n - 1)] * (n - 1)], *[[F(1, n)] * n for _ in range(n - 1)]]
    made = joint(build([F(1, n)] * n), build(K))
    for measure in (bl.ldp, bl.lip, bl.ldi):
        assert measure(made).lower == math.inf
    ell = bl.pml(made)
    assert o.encloses(ell(0), F(n, n - 1))
    assert all(o.encloses(ell(y), F(n * n, n * n - n + 1)) for y in range(1, n))


@BUILDS
@pytest.mark.parametrize("p", [F(1, 10), F(1, 1000), F(1, 10**300)])
def test_a_small_density_ratio_makes_a_large_leakage(build, p):
    """PML paper, Section V: PML log 2 (1 - p) where a fair bit has a posterior of p."""
    made = joint(build([F(1, 2), F(1, 2)]), build([[p, 1 - p], [1 - p, p]]))
    assert o.encloses(bl.pml(made)(0), 2 * (1 - p))
    assert o.encloses(bl.lip(made), 1 / (2 * p))


# -- leakage capacity ----------------------------------------------------------------------------


def test_leakage_capacity_is_the_largest_pml_over_priors():
    K = [[F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)], [F(2, 5), F(3, 5)]]
    found = bl.leakage_capacity(bl.Mechanism.from_matrix(K))
    assert found.ratio == (2, 2)
    most = {"pml": F(0), "pmc": F(0)}
    for n in (10, 1000, 100000):
        for heavy in itertools.permutations([1 - F(2, n), F(1, n), F(1, n)]):
            for kind, best in most.items():
                most[kind] = max(best, o.sup(kind, list(heavy), K))
    assert all(F(2) * F(9999, 10000) < v < 2 for v in most.values())


def test_leakage_capacity_of_noise():
    found = bl.leakage_capacity(bl.mechanisms.laplace(b=2.0, secret=bl.Interval(0, 1)))
    assert found.status in ("exact", "certified") and found.lower <= 0.5 <= found.upper
    assert found.width < 1e-6
    with pytest.raises(bl.InvalidInput, match="a mechanism"):
        bl.leakage_capacity(joint([HALF, HALF], [[1, 0], [0, 1]]))


# -- countable outcomes --------------------------------------------------------------------------


def test_ldp_of_example_8_is_infinite_as_pml_is():
    mech = bl.mechanisms.countable()
    found = bl.ldp(mech.reference_prior * mech)
    assert found.lower == math.inf and found.proved


def test_ldp_of_two_geometric_laws():
    """f(y|x) = p_x (1 - p_x)^y with p = 1/2, 1/4: the ratio grows without bound."""
    mech = bl.Mechanism(
        lambda y, x: np.where(x == 0, 0.5 * 0.5**y, 0.25 * 0.75**y),
        secret=bl.Finite([0, 1]),
        outcome=bl.Integers(0, None),
    )
    found = bl.ldp(bl.pmf([0.5, 0.5], on=bl.Finite([0, 1])) * mech)
    # what is proved from below counts, and nothing is claimed from above
    assert found.lower > 10 and found.upper == math.inf
