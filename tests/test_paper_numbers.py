"""The worked numbers of the two papers that concern measures, and what they say of each other.

PML paper: "Pointwise Maximal Leakage". PMC paper: "Information Density Bounds for Privacy". Numbers
that belong to one measure are tested with it.
"""

import math
from fractions import Fraction as F

import measure_oracles as m
import mpmath
import numpy as np
import oracles as o
import pytest
from hypothesis import given
from hypothesis import strategies as st

import borel as bl

HALF = F(1, 2)
BUILDS = pytest.mark.parametrize("build", [lambda v: v, o.floats], ids=["fractions", "floats"])
PRIORS = [
    [F(1, 3)] * 3,
    [F(8, 10), F(1, 10), F(1, 10)],
    [F(6, 10), *[F(1, 10)] * 4],
    [F(3, 10), F(3, 10), F(2, 10), F(2, 10)],
]


def joint(p, K):
    return bl.pmf(p) * bl.Mechanism.from_matrix(K)


def response(n, r):
    """Randomised response with e^epsilon = r."""
    return [[(r if i == j else F(1)) / (n - 1 + r) for j in range(n)] for i in range(n)]


def extremal(p, t):
    """The PML-extremal mechanism of the high-privacy regime, with e^epsilon_u = t."""
    n = range(len(p))
    return [[1 - t * (1 - p[j]) if i == j else t * p[j] for j in n] for i in n]


@BUILDS
@pytest.mark.parametrize("p", PRIORS)
@pytest.mark.parametrize("r", [F(1), F(3, 2), F(20)])
def test_example_4_randomised_response(build, p, r):
    """PMC paper: PMC at j is log(1 + P(j) (e^eps - 1)), epsilon-LDP, and its PML from [70]."""
    made = joint(build(p), build(response(len(p), r)))
    lam = bl.pmc(made)
    for j, mass in enumerate(p):
        assert o.encloses(lam(j), 1 + mass * (r - 1))
    assert o.encloses(bl.maximal_realizable_cost(made), 1 + max(p) * (r - 1))
    assert o.encloses(bl.maximal_realizable_leakage(made), r / (min(p) * (r - 1) + 1))
    assert o.encloses(bl.ldp(made), r)


@BUILDS
@pytest.mark.parametrize("p", PRIORS)
@pytest.mark.parametrize("part", [F(0), F(1, 4), F(3, 4)])
def test_example_5_and_the_blue_curve_of_figure_2(build, p, part):
    """PMC paper: the extremal mechanism attains eps_l* = log p_min / (1 - e^eps_u (1 - p_min))."""
    least = min(p)
    t = 1 + part * (1 / (1 - least) - 1)
    made = joint(build(p), build(extremal(p, t)))
    for j, mass in enumerate(p):
        assert o.encloses(bl.pmc(made)(j), mass / (1 - t * (1 - mass)))
    sides = bl.alip(made)
    assert o.encloses(sides.upper, t)
    assert o.encloses(sides.lower, least / (1 - t * (1 - least)))


def to_cost(t, least):
    """e^eps_l* of e^eps_u: Theorem 6(i)."""
    return least / (1 - t * (1 - least)) if t * (1 - least) < 1 else math.inf


def to_leakage(s, least):
    """e^eps_u* of e^eps_l: Theorem 6(ii)."""
    return (1 - (1 - least) / s) / least


@given(law=o.joints())
def test_theorem_6_and_both_curves_of_figure_2(law):
    p, K = law
    least = min(v for v in p if v > 0)
    made = joint(p, K)
    leak = bl.maximal_realizable_leakage(made).ratio.lower
    cost = bl.maximal_realizable_cost(made).ratio.lower
    assert cost <= to_cost(leak, least)
    if cost < math.inf:
        assert leak <= to_leakage(cost, least)


def test_the_curves_of_figure_2_coincide_for_a_uniform_bit():
    for t in (F(1), F(5, 4), F(3, 2), F(19, 10)):
        assert to_leakage(to_cost(t, HALF), HALF) == t
        assert to_leakage(to_cost(t, F(1, 5)), F(1, 5)) >= t or t >= F(5, 4)


@pytest.mark.parametrize("t", [F(1), F(5, 4), F(3, 2)])
def test_erratum_5_the_parameter_of_footnote_5(t):
    """Binary response is extremal at eps - log(2 - e^eps), not at eps + log 2 / (2 - e^eps).

    It coincides up to the names of the outcomes: the extremal one answers wrongly more often.
    """
    target = [row[::-1] for row in extremal([HALF, HALF], t)]
    assert response(2, t / (2 - t)) == target
    assert t == 1 or response(2, 2 * t / (2 - t)) != target
    made = joint([HALF, HALF], response(2, t / (2 - t)))
    assert bl.maximal_realizable_leakage(made).ratio == (t, t)


def test_example_6_laplace_noise_on_one_uniform_entry():
    """PMC paper, n = 1 on [0, 1]: log b (e^(1/b) - 1), smaller than 1/b."""
    for b in (0.5, 1.0, 4.0):
        found = bl.maximal_realizable_cost(
            bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=b)
        )
        with mpmath.workdps(30):
            truth = mpmath.log(b * mpmath.expm1(1 / mpmath.mpf(b)))
            assert found.lower <= truth <= found.upper and found.proved
        assert found.upper < 1 / b


def gaussian(points, p):
    on = bl.Finite(points)
    return bl.pmf(p, on=on) * bl.Mechanism(
        lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi),
        secret=on,
        outcome=bl.Reals(),
    )


@pytest.mark.parametrize("y", [-3.0, 0.0, 0.25, 2.0])
def test_example_7_gaussian_noise(y):
    """PMC paper, (17), A = sigma = 1: |y| <= PMC <= (1 + 4 |y|) / 2."""
    found = bl.pmc(gaussian([-1, 1], [0.5, 0.5]))(y)
    assert found.upper >= abs(y) and found.lower <= (1 + 4 * abs(y)) / 2
    with mpmath.workdps(30):
        law = (mpmath.npdf(y, 1) + mpmath.npdf(y, -1)) / 2
        truth = mpmath.log(law / min(mpmath.npdf(y, 1), mpmath.npdf(y, -1)))
        assert found.lower <= truth <= found.upper


def test_erratum_8_the_lower_bound_needs_the_ends_in_the_support():
    """|X| <= 1 holds for X = +-1/4 too; PMC at 2 is then below |y| = 2."""
    found = bl.pmc(gaussian([-0.25, 0.25], [0.5, 0.5]))(2.0)
    assert found.upper < 1 < 2


def test_example_8_on_the_integers():
    """PMC paper: PML is log((3^m + 1)/2), PMC is log 2 at every outcome."""
    mech = bl.mechanisms.countable()
    made = mech.reference_prior * mech
    ell, lam = bl.pml(made), bl.pmc(made)
    for k in (1, 2, 7):
        assert o.encloses(ell(k), F(3**k + 1, 2))
        assert o.encloses(lam(k), F(2))
    assert o.encloses(lam(0), F(2))
    assert bl.maximal_realizable_leakage(made).lower == math.inf
    assert o.encloses(bl.maximal_realizable_cost(made), F(2))
    assert bl.ldp(made).lower == math.inf, "bounded PMC gives no LDP without bounded PML"


@pytest.mark.parametrize("y", [0.125, 0.5])
def test_example_9_the_clayton_mixture(y):
    """PMC paper and erratum 8: PMC equals log 1/eta at every y."""
    made = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.clayton(eta=0.25, theta=1.0)
    found = bl.pmc(made)(y)
    assert found.lower <= math.log(4) <= found.upper and found.width < 1e-6


@given(law=o.joints())
def test_levels_bound_each_other(law):
    """PML paper, Proposition 6; PMC paper, Propositions 1 and 3, Corollary 3."""
    p, K = law
    least, count = min(v for v in p if v > 0), len(o.support(p))
    made = joint(p, K)
    leak = bl.maximal_realizable_leakage(made).ratio.lower
    cost = bl.maximal_realizable_cost(made).ratio.lower
    level, identified = bl.ldp(made).ratio.lower, bl.ldi(made).ratio.lower
    if level < math.inf:
        assert leak <= 1 / (least + (1 - least) / level)
        assert cost <= level - least * (level - 1)
        assert level <= leak * cost
    if identified < math.inf:
        assert leak <= 1 / (least * (1 + (count - 1) / identified))
    assert bl.lip(made).ratio.lower == max(leak, cost)


@given(law=o.joints(), data=st.data())
def test_averages_are_bounded_by_leakage(law, data):
    """PML paper, Propositions 7 and 8, for the named functions."""
    p, K = law
    made = joint(p, K)
    assert bl.mutual_information(made).lower <= bl.pml(made).mean().upper
    masses = o.marginal(p, K)
    square = sum((q * max((o.pml(p, K, y) - 1) ** 2, F(1)) for y, q in enumerate(masses)), F(0))
    assert bl.f_information(made, "chi_square").lower <= square
    assert bl.min_entropy_leakage(made).ratio.lower <= bl.maximal_leakage(made).ratio.lower
    delta = data.draw(st.fractions(F(1, 10), 1, max_denominator=10))
    event = m.event_maximal_leakage(p, K, delta)
    assert event <= bl.maximal_realizable_leakage(made).ratio.lower
