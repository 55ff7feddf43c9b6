"""Randomised response: every closed form against brute force over Fractions, and the engine."""

import itertools
import math
from fractions import Fraction as F
from functools import partial

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import borel as bl
from borel.probability.closed_forms import ClosedForms

rr = bl.mechanisms.randomized_response


def brute(p, ratio, kind, y):
    """e^leakage straight from the definition, in exact arithmetic of any type."""
    k = len(p)
    kernel = [[(ratio if i == j else 1) / (k - 1 + ratio) for j in range(k)] for i in range(k)]
    support = [i for i in range(k) if p[i] > 0]
    marginal = sum(p[i] * kernel[i][y] for i in support)
    if kind == "pml":
        return max(kernel[i][y] for i in support) / marginal
    return marginal / min(kernel[i][y] for i in support)


def simplex(k, n):
    """All priors on k labels with masses that are multiples of 1/n, zeros and points included."""
    for cuts in itertools.product(range(n + 1), repeat=k - 1):
        if sum(cuts) <= n:
            yield [F(c, n) for c in (*cuts, n - sum(cuts))]


@pytest.mark.few(5)
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("ratio", [F(1), F(3), F(1001, 7)])
@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_every_prior_on_a_grid_of_the_simplex_exactly(k, ratio, kind):
    mech = rr(k=k, ratio=ratio)
    for p in simplex(k, 4):
        ell = getattr(bl, kind)(bl.pmf(p) * mech)
        truth = [brute(p, ratio, kind, y) for y in range(k)]
        for y in range(k):
            found = ell(y)
            assert found.status == "exact" and found.ratio == (truth[y], truth[y])
            assert found.assumptions[0].startswith("closed form:")
        assert ell.sup().ratio == (max(truth), max(truth))
        assert ell.sup().attained is True
        with bl.options(closed_forms=False):
            fresh = getattr(bl, kind)(bl.pmf(p) * mech)
            assert fresh.sup().ratio == ell.sup().ratio
            assert [fresh(y).ratio for y in range(k)] == [(t, t) for t in truth]


@given(
    weights=st.lists(st.integers(0, 10**6), min_size=2, max_size=6).filter(any),
    epsilon=st.floats(0, 300) | st.sampled_from([0.0, 5e-324, 1e-300, 1e-17, 690.0]),
    kind=st.sampled_from(["pml", "pmc"]),
)
def test_floats_hold_the_normalised_prior_at_no_tolerance(weights, epsilon, kind):
    p = np.array(weights, float) / sum(weights)
    exact = [F(float(q)) for q in p]
    meant = [q / sum(exact) for q in exact]  # one of the priors that the floats mean
    joint = bl.pmf(p) * rr(k=len(p), epsilon=epsilon)
    with mp.workdps(400):
        ratio = mp.e ** mp.mpf(epsilon)
        as_mp = [mp.mpf(q.numerator) / q.denominator for q in meant]
        truth = [mp.log(brute(as_mp, ratio, kind, y)) for y in range(len(p))]
        slack = mp.mpf(10) ** -390  # of the oracle itself
        ell = getattr(bl, kind)(joint)
        for y, value in enumerate(truth):
            found = ell(y)
            assert mp.mpf(found.lower) <= value + slack and value - slack <= mp.mpf(found.upper)
            assert found.width <= 1e-13 * (1 + found.upper)
        sup = ell.sup()
        assert mp.mpf(sup.lower) <= max(truth) + slack
        assert max(truth) - slack <= mp.mpf(sup.upper)


@given(
    weights=st.lists(st.integers(0, 1000), min_size=2, max_size=8).filter(any),
    epsilon=st.floats(0, 50),
)
def test_the_engine_meets_the_closed_form(weights, epsilon):
    joint = bl.pmf(np.array(weights) / sum(weights)) * rr(k=len(weights), epsilon=epsilon)
    for kind in (bl.pml, bl.pmc):
        ell = kind(joint)
        figures = [ell.sup, *(partial(ell, y) for y in range(len(weights)))]
        closed = [figure() for figure in figures]
        with bl.options(closed_forms=False):
            engine = [figure() for figure in figures]
        for a, b in zip(closed, engine, strict=True):
            assert a.lower <= b.upper and b.lower <= a.upper
            assert not any("closed form" in note for note in b.assumptions)


def test_floats_cover_priors_moved_within_their_rounding():
    p = np.array([0.1, 0.2, 0.7])
    prior = bl.pmf(p)
    joint = prior * rr(k=3, epsilon=3.0)
    moved = F(float(p[0])) * F(prior.rounding)
    with mp.workdps(60):
        for sign in (-1, 1):
            q = [F(float(v)) for v in p]
            q[0] += sign * moved
            q[2] = 1 - q[0] - q[1]
            as_mp = [mp.mpf(v.numerator) / v.denominator for v in q]
            for kind in ("pml", "pmc"):
                found = getattr(bl, kind)(joint)(0)
                truth = mp.log(brute(as_mp, mp.e ** mp.mpf(3), kind, 0))
                assert mp.mpf(found.lower) <= truth <= mp.mpf(found.upper)


def test_a_subnormal_mass_leaves_the_others_sharp():
    tiny, low = 1e-320, 0.25
    joint = bl.pmf([tiny, low, 0.75]) * rr(k=3, epsilon=1.0)
    with mp.workdps(400):
        r = mp.e
        for y, p in ((1, mp.mpf(low)), (2, mp.mpf(0.75))):
            for ell, truth in (
                (bl.pml(joint), mp.log(r / (1 + p * (r - 1)))),
                (bl.pmc(joint), mp.log(1 + p * (r - 1))),
            ):
                assert ell(y).lower <= truth <= ell(y).upper and ell(y).width < 1e-15
        assert bl.pmc(joint).sup().width < 1e-15 and bl.pmc(joint).sup().witness["y"] == 2
        assert bl.pml(joint).sup().lower <= 1 - tiny <= bl.pml(joint).sup().upper
        assert bl.pmc(joint)(0).lower <= tiny * (r - 1) <= bl.pmc(joint)(0).upper < 2.1 * tiny


@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_a_prior_at_one_point_leaks_nothing_and_no_rounding_widens_it(kind):
    for p in ([1.0, 0.0, 0.0], [F(0), F(1), F(0)]):
        ell = getattr(bl, kind)(bl.pmf(p) * rr(k=3, epsilon=2.0))
        for bound in (ell.sup(), *(ell(y) for y in range(3))):
            assert (bound.lower, bound.upper, bound.status) == (0.0, 0.0, "exact")
            assert bound.ratio == (1, 1)


def test_outcomes_outside_the_support_leak_nothing():
    joint = bl.pmf([0.5, 0.5, 0.0]) * rr(k=3, epsilon=1.0)
    assert bl.pml(joint)(2).upper == bl.pmc(joint)(2).upper == 0.0
    assert bl.pml(joint).sup().witness == {"x": 0, "y": 0}
    assert bl.pmc(joint).sup().witness["x"] != bl.pmc(joint).sup().witness["y"]


def test_a_prior_on_fewer_labels_is_matched_by_labels():
    mech = rr(ratio=3, secret=["a", "b", "c"])
    joint = bl.pmf([F(1, 4), F(3, 4)], on=bl.Finite(["c", "a"])) * mech
    assert bl.pml(joint)("c").ratio.lower == brute([F(3, 4), F(0), F(1, 4)], F(3), "pml", 2)
    assert bl.pmc(joint)("b").ratio.lower == 1


def test_a_prior_of_fractions_stays_exact_under_a_float_epsilon():
    found = bl.pmc(bl.pmf([F(1, 3), F(2, 3)]) * rr(k=2, epsilon=1.0)).sup()
    assert found.width <= math.ulp(found.upper)
    assert not any("floats" in a for a in found.assumptions)


def test_many_outcomes_come_from_the_closed_form():
    joint = bl.pmf([0.25, 0.75]) * rr(k=2, epsilon=1.0)
    table = bl.pml(joint)([0, 1])
    assert table["status"].values.tolist() == ["exact", "exact"]
    assert table["upper"].values.tolist() == [bl.pml(joint)(y).upper for y in (0, 1)]


def test_the_matrix_is_within_its_stated_rounding():
    mech = rr(k=4, epsilon=1.3)
    assert 0 < mech.rounding <= 2.0**-52
    with mp.workdps(50):
        r = mp.e ** mp.mpf(1.3)
        truth = np.where(np.eye(4) == 1, r / (3 + r), 1 / (3 + r))
        worst = max(
            abs(t / mp.mpf(float(v)) - 1) for t, v in zip(truth.flat, mech.matrix.flat, strict=True)
        )
    assert worst <= mech.rounding
    assert rr(k=3, ratio=2).rational and rr(k=3, ratio=2).matrix[0, 0] == F(1, 2)


def test_derived_mechanisms_have_no_closed_forms():
    mech = rr(k=2, epsilon=1.0)
    assert type(mech.push(lambda y: 0).closed_forms) is ClosedForms
    assert type((mech & mech).closed_forms) is ClosedForms
    assert type((mech @ mech).closed_forms) is ClosedForms


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 2}, "epsilon="),
        ({"epsilon": 1.0}, "k=<number of labels>"),
        ({"k": 1, "epsilon": 1.0}, "k >= 2"),
        ({"k": 0, "epsilon": 1.0}, "k >= 2"),
        ({"k": -3, "epsilon": 1.0}, "k >= 2"),
        ({"k": 2.0, "epsilon": 1.0}, "integer k"),
        ({"k": True, "epsilon": 1.0}, "integer k"),
        ({"k": 2, "epsilon": -0.1}, "epsilon >= 0"),
        ({"k": 2, "epsilon": math.nan}, "epsilon = a finite number"),
        ({"k": 2, "epsilon": math.inf}, "epsilon = a finite number"),
        ({"k": 2, "epsilon": "1"}, "epsilon = a finite number"),
        ({"k": 2, "epsilon": np.array([1.0, 2.0])}, "DataArray"),
        ({"k": 2, "epsilon": 800.0}, "float64 can hold"),
        ({"k": 2, "epsilon": 1e308}, "float64 can hold"),
        ({"k": 2, "epsilon": F(1, 3)}, "as a float"),
        ({"k": 2, "ratio": 1.5}, "Fraction"),
        ({"k": 2, "ratio": F(1, 2)}, "ratio >= 1"),
        ({"k": 2, "ratio": 2, "epsilon": 1.0}, "both"),
        ({"k": 3, "secret": ["a", "b"], "epsilon": 1.0}, "k = 2"),
        ({"secret": ["a"], "epsilon": 1.0}, "k >= 2"),
        ({"secret": bl.Reals(), "epsilon": 1.0}, "finite secret"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(bl.InvalidInput, match="randomized_response") as error:
        rr(**arguments)
    assert message in str(error.value)


def test_a_prior_known_in_float64_only_proves_nothing():
    law = np.array([0.25, 0.75])
    prior = bl.Measure(lambda x: law[np.asarray(x, int)], on=bl.Finite(2))
    assert prior.unproved
    for leakage in (bl.pml, bl.pmc):
        found = leakage(prior * rr(k=2, epsilon=1.0))
        assert found.sup().status == "estimate" and found(1).status == "estimate"
