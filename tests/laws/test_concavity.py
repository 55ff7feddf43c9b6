"""PMC at an outcome is concave in the prior (journal, Lemma 1 (iv)); PML is not."""

import oracles as o
from hypothesis import given
from hypothesis import strategies as st
from oracles import F

import borel as bl

WEIGHTS = st.sampled_from([F(1, 2), F(1, 4), F(1, 1024), F(3, 4)])


@given(n=o.SIZES, data=st.data(), weight=WEIGHTS)
def test_pmc_is_concave_in_the_prior(build, n, data, weight):
    p, q, K = data.draw(o.laws(n)), data.draw(o.laws(n)), data.draw(o.kernels(n, 3))
    mixed = [weight * a + (1 - weight) * b for a, b in zip(p, q, strict=True)]
    mech = build.mech(K)
    for y in range(3):
        one, two, both = (bl.pmc(build.prior(v) * mech)(y) for v in (p, q, mixed))
        if o.INF in (one.lower, two.lower):
            assert both.upper == o.INF
        elif both.upper != o.INF:
            assert weight * F(one.lower) + (1 - weight) * F(two.lower) <= F(both.upper)


def test_pml_is_not():
    """At a one-point prior PML is 0: between two of them it is not, and it is not convex either."""
    mech = bl.Mechanism.from_matrix([[F(1, 2), F(1, 2)], [F(1, 10), F(9, 10)]])

    def at(mass):
        return bl.pml(bl.pmf([mass, 1 - mass]) * mech)(0)

    assert at(F(1)).upper == at(F(0)).upper == 0 < at(F(1, 2)).lower
    assert at(F(1, 2)).upper < (at(F(1, 100)).lower + at(F(99, 100)).lower) / 2
