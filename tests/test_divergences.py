"""Divergences of two measures: definitions in Fractions and Arb, closed forms against mpmath."""

import itertools
import math
from fractions import Fraction as F

import measure_oracles as m
import mpmath
import numpy as np
import oracles as o
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statuses import certainly

import borel as bl
from borel.engine.divergences.renyi_closed_forms import _FORMS

HALF = F(1, 2)
BUILDS = pytest.mark.parametrize("build", [lambda v: v, o.floats], ids=["fractions", "floats"])
ORDERS = [0, F(1, 3), HALF, 1 - 2.0**-40, 1, 1 + 2.0**-40, F(3, 2), 2, 7, math.inf]
NAMES = ("kl", "total_variation", "chi_square", "squared_hellinger")


@st.composite
def two_laws(draw):
    n = draw(st.integers(1, 4))
    return draw(o.laws(n)), draw(o.laws(n))


# -- finite measures -----------------------------------------------------------------------------


@BUILDS
@given(laws=two_laws(), order=st.sampled_from(ORDERS))
def test_renyi_by_definition(build, laws, order):
    p, q = laws
    found = bl.renyi(bl.pmf(build(p)), bl.pmf(build(q)), order)
    infinite = order >= 1 and any(b == 0 < a for a, b in zip(p, q, strict=True))
    apart = not any(a > 0 and b > 0 for a, b in zip(p, q, strict=True))
    if infinite or apart:
        assert found == bl.Bound.exact(math.inf, math.inf, assumptions=found.assumptions) or (
            found.lower == math.inf
        )
        return
    assert m.encloses_number(found, lambda: m.renyi(p, q, order))
    # a subnormal float stands for numbers that differ in their leading digits
    coarse = build(p) is not p and any(0 < v < 1e-290 for v in [*p, *q])
    assert found.status == "exact"
    assert coarse or found.width <= 1e-12 * max(1.0, found.upper)


@BUILDS
@given(laws=two_laws())
def test_f_divergences_by_definition(build, laws):
    p, q = laws
    first, second = bl.pmf(build(p)), bl.pmf(build(q))
    truths = {
        "kl": lambda: m.relative_entropy(p, q),
        "total_variation": sum((abs(a - b) for a, b in zip(p, q, strict=True)), F(0)) / 2,
        "chi_square": m.chi_square(p, q),
        "squared_hellinger": lambda: m.squared_hellinger(p, q),
    }
    for name, truth in truths.items():
        found = bl.f_divergence(first, second, name)
        assert m.encloses_number(found, truth), name
        # a subnormal float stands for numbers that differ in their leading digits
        coarse = build(p) is not p and any(0 < v < 1e-290 for v in [*p, *q])
        assert coarse or found.width <= 1e-12 * max(1.0, found.upper)


@BUILDS
@given(laws=two_laws(), delta=st.fractions(0, 1, max_denominator=10))
def test_max_divergence_over_all_events(build, laws, delta):
    p, q = laws
    found = bl.max_divergence(bl.pmf(build(p)), bl.pmf(build(q)), delta)
    truth = m.max_divergence(p, q, delta)
    if build(p) is p:
        assert found.lower == -math.inf if truth == 0 else o.encloses(found, truth)
        return
    # a delta that is a mass of P is no longer one of its floats: the truth lies in the enclosure
    ends = [mpmath.exp(v) for v in (found.lower, found.upper)]
    if truth != math.inf:
        truth = mpmath.mpf(truth.numerator) / truth.denominator
    assert ends[0] * (1 - 1e-15) <= truth and truth <= ends[1] * (1 + 1e-15)


def test_the_two_forms_of_max_divergence_agree_without_domination():
    p, q = bl.pmf([HALF, F(1, 4), F(1, 4)]), bl.pmf([F(0), HALF, HALF])
    assert bl.max_divergence(p, q, F(1, 4)).lower == math.inf
    assert bl.max_divergence(p, q, HALF).ratio == (HALF, HALF)
    assert bl.max_divergence(p, q, 1).lower == -math.inf


@pytest.mark.parametrize("order", [2, F(2), 2.0, np.int64(2), np.float64(2), np.float32(2)])
def test_orders_of_any_number_type(order):
    p, q = bl.pmf([F(3, 4), F(1, 4)]), bl.pmf([HALF, HALF])
    assert bl.renyi(p, q, order).ratio == (F(5, 4), F(5, 4))
    level = type(order)(1)
    assert bl.max_divergence(p, q, level).lower == -math.inf


@pytest.mark.parametrize("order", [F(-1, 10**400), -1, math.nan, "2", None, 1j])
def test_what_an_order_is_not(order):
    with pytest.raises(bl.InvalidInput, match="an order >= 0"):
        bl.renyi(bl.pmf([1]), bl.pmf([1]), order)


def test_labels_are_matched():
    p = bl.pmf([HALF, HALF], on=bl.Finite(["a", "b"]))
    q = bl.pmf([F(1, 4), F(3, 4)], on=bl.Finite(["b", "a"]))
    assert bl.renyi(p, q, math.inf).ratio == (2, 2)
    other = bl.pmf([F(1)], on=bl.Finite(["c"]))
    for order in (0, HALF, 1, 2, math.inf):
        assert bl.renyi(p, other, order).lower == math.inf
    assert bl.f_divergence(p, other, "total_variation").lower == 1.0
    assert bl.f_divergence(p, other, "squared_hellinger").lower == 1.0


def test_pml_and_pmc_are_renyi_divergences_of_order_infinity():
    p, K = [F(1, 5), F(4, 5)], [[HALF, HALF], [F(1, 4), F(3, 4)]]
    prior = bl.pmf(p)
    made = prior * bl.Mechanism.from_matrix(K)
    for y in (0, 1):
        after = made.posterior(y)
        assert bl.renyi(after, prior, math.inf).ratio == bl.pml(made)(y).ratio
        assert bl.renyi(prior, after, math.inf).ratio == bl.pmc(made)(y).ratio


def test_a_users_f_between_two_measures():
    p, q = bl.pmf([F(3, 4), F(1, 4)]), bl.pmf([HALF, HALF])
    found = bl.f_divergence(p, q, lambda t: (t - 1) ** 2)
    assert (found.lower, found.upper) == (0.25, 0.25)
    with pytest.raises(bl.InvalidInput, match="P << Q"):
        bl.f_divergence(p, bl.pmf([F(1), F(0)]), lambda t: (t - 1) ** 2)
    with pytest.raises(bl.NotYet, match="traced"):
        bl.f_divergence(p, q, lambda t: np.array([(float(v) - 1) ** 2 for v in t]))
    with pytest.raises(bl.NotYet, match="a function f"):
        bl.f_divergence(bl.normal(), bl.normal(mu=1), lambda t: (t - 1) ** 2)


def test_what_two_measures_are():
    p = bl.pmf([HALF, HALF])
    with pytest.raises(bl.InvalidInput, match="a Measure for q"):
        bl.renyi(p, [0.5, 0.5], 2)
    for order in (-1, math.nan, "2"):
        with pytest.raises(bl.InvalidInput, match="an order >= 0"):
            bl.renyi(p, p, order)
    with pytest.raises(bl.InvalidInput, match="alphabets of one kind"):
        bl.renyi(p, bl.normal(), 2)
    with pytest.raises(bl.InvalidInput, match="alphabets of one kind"):
        bl.renyi(bl.poisson(mu=1.0), bl.normal(), 2)
    with pytest.raises(bl.NotYet, match="draw axes"):
        bl.renyi(p, bl.pmf(np.full((3, 2), 0.5)), 2)
    with pytest.raises(bl.NotYet, match="delta > 0"):
        bl.max_divergence(bl.normal(), bl.normal(mu=1), 0.1)


# -- closed forms --------------------------------------------------------------------------------

PAIRS = {
    "normal": [(bl.normal(mu=0.5, sigma=1), bl.normal(mu=-1, sigma=1.5))],
    "laplace": [
        (bl.laplace(mu=0.25, b=0.5), bl.laplace(mu=1, b=0.5)),
        (bl.laplace(mu=0.25, b=0.5), bl.laplace(mu=1, b=1)),
    ],
    "exponential": [(bl.exponential(lam=2), bl.exponential(lam=1.5))],
    "gamma": [(bl.gamma(alpha=2, beta=3), bl.gamma(alpha=1.5, beta=2))],
    "beta": [(bl.beta(alpha=2, beta=3), bl.beta(alpha=1.5, beta=2))],
    "uniform": [(bl.uniform(bl.Interval(0, 1)), bl.uniform(bl.Interval(-1, 2)))],
    "poisson": [(bl.poisson(mu=1.5), bl.poisson(mu=2))],
    "geometric": [(bl.geometric(p=0.5), bl.geometric(p=0.25))],
}
CASES = [(n, k) for n, pairs in PAIRS.items() for k in range(len(pairs))]


def log_density(measure):
    """The log-density of a named measure, in mpmath."""
    name, given_ = measure.family
    a = {k: mpmath.mpf(v) for k, v in given_.items()}
    return {
        "normal": lambda x: (
            -((x - a["mu"]) ** 2) / (2 * a["sigma"] ** 2)
            - mpmath.log(a["sigma"])
            - mpmath.log(2 * mpmath.pi) / 2
        ),
        "laplace": lambda x: -abs(x - a["mu"]) / a["b"] - mpmath.log(2 * a["b"]),
        "exponential": lambda x: mpmath.log(a["lam"]) - a["lam"] * x,
        "gamma": lambda x: (
            a["alpha"] * mpmath.log(a["beta"])
            - mpmath.loggamma(a["alpha"])
            + (a["alpha"] - 1) * mpmath.log(x)
            - a["beta"] * x
        ),
        "beta": lambda x: (
            (a["alpha"] - 1) * mpmath.log(x)
            + (a["beta"] - 1) * mpmath.log1p(-x)
            - mpmath.log(mpmath.beta(a["alpha"], a["beta"]))
        ),
        "uniform": lambda x: -mpmath.log(measure.on.upper - measure.on.lower),
        "poisson": lambda x: x * mpmath.log(a["mu"]) - a["mu"] - mpmath.loggamma(x + 1),
        "geometric": lambda x: mpmath.log(a["p"]) + (x - 1) * mpmath.log1p(-a["p"]),
    }[name]


CUTS = {
    "normal": [-mpmath.inf, -4, -1, 0.5, 2, 6, mpmath.inf],
    "laplace": [-mpmath.inf, -2, 0.25, 1, 3, mpmath.inf],
    "exponential": [0, 1, 4, mpmath.inf],
    "gamma": [0, 0.125, 0.5, 1, 3, mpmath.inf],
    "beta": [0, 0.125, 0.5, 0.875, 1],
    "uniform": [0, 1],
}


def by_quadrature(p, q, order):
    """The Renyi divergence by mpmath to some 35 digits."""
    name = p.family[0]
    first, second = log_density(p), log_density(q)

    def total(f):
        if name in CUTS:
            return mpmath.quad(f, CUTS[name])
        start = 0 if name == "poisson" else 1
        return mpmath.fsum(f(mpmath.mpf(n)) for n in range(start, start + 500))

    if order == 1:
        return total(lambda x: mpmath.exp(first(x)) * (first(x) - second(x)))
    a = mpmath.mpf(order.numerator) / order.denominator
    mean = total(lambda x: mpmath.exp(a * first(x) + (1 - a) * second(x)))
    return mpmath.log(mean) / (a - 1)


@pytest.mark.few(8)
@pytest.mark.parametrize(("name", "k"), CASES)
@pytest.mark.parametrize("order", [F(1, 4), HALF, F(1), F(3, 2), F(2)])
def test_closed_forms_against_quadrature(name, k, order):
    p, q = PAIRS[name][k]
    found = bl.renyi(p, q, order)
    with mpmath.workdps(40):
        truth = by_quadrature(p, q, order)
        slack = mpmath.mpf(10) ** -20
        if found.status != "exact":
            assert found.lower <= truth <= found.upper
        else:
            # the quadrature errs by less than 1e-20: no ulp of the ends is as small
            assert found.lower - slack <= truth <= found.upper + slack
            assert found.width <= 1e-14 * max(1.0, found.upper)


@pytest.mark.parametrize("name", ["normal", "laplace", "exponential", "gamma", "beta", "uniform"])
def test_closed_forms_against_certified_integrals(name):
    p, q = PAIRS[name][0]
    for order in (F(1, 4), HALF, 2):
        with bl.options(closed_forms=False):
            other = bl.renyi(p, q, order)
        found = bl.renyi(p, q, order)
        assert found.status == "exact"
        assert other.lower <= found.upper and found.lower <= other.upper
        assert certainly(other) or other.status == "estimate"
        assert other.width < 1e-6


INFINITE = [
    (bl.normal(sigma=2), bl.normal(sigma=1), F(4, 3), F(5, 4)),
    (bl.exponential(lam=1), bl.exponential(lam=2), F(2), F(3, 2)),
    (bl.gamma(alpha=1, beta=1), bl.gamma(alpha=2, beta=1), F(2), F(3, 2)),
    (bl.beta(alpha=1, beta=1), bl.beta(alpha=1, beta=2), F(2), F(3, 2)),
]


@pytest.mark.parametrize(("p", "q", "order", "below"), INFINITE)
def test_orders_from_which_on_it_is_infinite(p, q, order, below):
    assert bl.renyi(p, q, order) == bl.Bound.exact(
        math.inf, math.inf, assumptions=bl.renyi(p, q, order).assumptions
    )
    assert bl.renyi(p, q, math.inf).lower == math.inf
    assert bl.renyi(p, q, below).upper < math.inf


SUPREMA = [
    (bl.normal(mu=1), bl.normal(mu=0, sigma=2), lambda: mpmath.log(2) + mpmath.mpf(1) / 6),
    (bl.normal(mu=1), bl.normal(mu=0), lambda: mpmath.inf),
    (bl.laplace(mu=0), bl.laplace(mu=3, b=2), lambda: mpmath.log(2) + mpmath.mpf(3) / 2),
    (bl.exponential(lam=3), bl.exponential(lam=2), lambda: mpmath.log(mpmath.mpf(3) / 2)),
    # x e^-x / (e^-x/2 / 2) = 2 x e^(-x/2), largest at x = 2
    (bl.gamma(alpha=2, beta=1), bl.gamma(alpha=1, beta=0.5), lambda: mpmath.log(4) - 1),
    # 6 x (1 - x) / 1, largest at 1/2
    (bl.beta(alpha=2, beta=2), bl.beta(alpha=1, beta=1), lambda: mpmath.log(1.5)),
    (bl.poisson(mu=1), bl.poisson(mu=3), lambda: mpmath.mpf(2)),
    (bl.poisson(mu=3), bl.poisson(mu=1), lambda: mpmath.inf),
    (bl.geometric(p=0.5), bl.geometric(p=0.25), lambda: mpmath.log(2)),
    (bl.geometric(p=0.25), bl.geometric(p=0.5), lambda: mpmath.inf),
    (bl.uniform(bl.Interval(0, 1)), bl.uniform(bl.Interval(0, 4)), lambda: mpmath.log(4)),
    (bl.uniform(bl.Interval(0, 4)), bl.uniform(bl.Interval(0, 1)), lambda: mpmath.inf),
]


@pytest.mark.parametrize(("p", "q", "truth"), SUPREMA)
def test_suprema_of_density_ratios(p, q, truth):
    found = bl.renyi(p, q, math.inf)
    with mpmath.workdps(30):
        assert found.lower <= truth() <= found.upper and found.status == "exact"
    assert found == bl.max_divergence(p, q)


def test_every_family_with_a_form_is_tested():
    assert set(PAIRS) == {*_FORMS, "uniform"}


def test_a_measure_from_itself():
    for pairs in PAIRS.values():
        for p, order in itertools.product((q for pair in pairs for q in pair), (0, HALF, 1, 3)):
            found = bl.renyi(p, p, order)
            assert (found.lower, found.upper) == (0.0, 0.0)


def test_named_f_divergences_of_normals():
    """N(0, 1) and N(1, 1): chi-square e - 1, squared Hellinger 1 - e^(-1/8), KL 1/2."""
    p, q = bl.normal(), bl.normal(mu=1)
    with mpmath.workdps(30):
        truths = {
            "kl": mpmath.mpf(1) / 2,
            "chi_square": mpmath.e - 1,
            "squared_hellinger": 1 - mpmath.exp(-mpmath.mpf(1) / 8),
            "total_variation": mpmath.erf(1 / mpmath.sqrt(8)),
        }
        for name, truth in truths.items():
            found = bl.f_divergence(p, q, name)
            assert found.lower <= truth <= found.upper, name
            assert found.width < (1e-6 if name == "total_variation" else 1e-14)


def test_products_add_up():
    p, q = bl.normal() * bl.exponential(lam=2), bl.normal(mu=1) * bl.exponential(lam=1)
    found = bl.renyi(p, q, HALF)
    parts = (
        bl.renyi(bl.normal(), bl.normal(mu=1), HALF),
        bl.renyi(bl.exponential(lam=2), bl.exponential(lam=1), HALF),
    )
    assert found.status == "exact" and found.width < 1e-14
    assert F(found.lower) <= F(parts[0].upper) + F(parts[1].upper)
    assert F(found.upper) >= F(parts[0].lower) + F(parts[1].lower)
    assert bl.renyi(q, p, 2).lower == math.inf


# -- other densities -----------------------------------------------------------------------------


def test_a_density_of_ones_own_is_certified_under_its_assumptions():
    """p(x) = 2x and q = 1 on (0, 1): S_a = 2^a / (a + 1)."""
    unit = bl.Interval(0, 1)
    p, q = bl.Measure(lambda x: 2 * x, on=unit), bl.uniform(unit)
    for order in (HALF, F(2), F(3)):
        found = bl.renyi(p, q, order)
        with mpmath.workdps(30):
            a = mpmath.mpf(order.numerator) / order.denominator
            truth = mpmath.log(2**a / (a + 1)) / (a - 1)
            assert found.lower <= truth <= found.upper
        assert found.status == "conditional" and found.width < 1e-8
        assert "p normalised: checked" in found.assumptions
    tv = bl.f_divergence(p, q, "total_variation")
    assert tv.lower <= 0.25 <= tv.upper and tv.width < 1e-8
    chi = bl.f_divergence(p, q, "chi_square")
    assert chi.lower <= 1 / 3 <= chi.upper and chi.status == "conditional"
    infinite = bl.renyi(q, p, 3)  # the integral of x^-2
    assert infinite.upper == math.inf or infinite.status == "estimate"


def test_a_measure_that_sticks_out_is_infinitely_far_from_order_1_on():
    unit, wide = bl.Interval(0, 1), bl.Interval(0, 2)
    p, q = bl.Measure(lambda x: x / 2, on=wide), bl.Measure(lambda x: 2 * x, on=unit)
    for order in (1, 2, math.inf):
        found = bl.renyi(p, q, order)
        assert found.lower == math.inf and found.proved
    assert bl.renyi(p, q, HALF).upper < math.inf
    # the integral of sqrt(x/2 2x) over (0, 1) is 1/2
    assert bl.renyi(p, q, HALF).lower <= 2 * math.log(2) <= bl.renyi(p, q, HALF).upper
    near = bl.f_divergence(p, q, "total_variation")
    assert near.lower <= 0.75 <= near.upper


def test_without_a_proof_it_is_an_estimate_and_says_so():
    p = bl.mixture([bl.normal(mu=-1), bl.normal(mu=1)], weights=[0.5, 0.5])
    q = bl.normal(sigma=2)
    with mpmath.workdps(25):

        def gap(x):
            law = (mpmath.npdf(x, -1) + mpmath.npdf(x, 1)) / 2
            return law * mpmath.log(law / mpmath.npdf(x, 0, 2))

        truth = mpmath.quad(gap, [-20, -4, -1, 0, 1, 4, 20])
    found = bl.renyi(p, q, 1)
    assert found.lower <= truth <= found.upper
    if found.status == "estimate":
        assert found.reason
    with bl.options(engine="estimate"):
        guess = bl.renyi(p, q, 1)
    assert guess.status == "estimate" and guess.lower <= truth <= guess.upper
    with bl.options(engine="exact"), pytest.raises(bl.NotYet):
        bl.renyi(p, q, 1)


def test_an_estimate_counts_what_lies_beyond_the_alphabet_of_p():
    p, q = bl.uniform(bl.Interval(0, 1)), bl.uniform(bl.Interval(-1, 2))
    with bl.options(engine="estimate", closed_forms=False):
        for order in (HALF, 1, 2, math.inf):
            found = bl.renyi(p, q, order)
            assert found.status == "estimate" and found.lower <= math.log(3) <= found.upper
        assert bl.renyi(q, p, 1).status == "undecided"
        tv = bl.f_divergence(p, q, "total_variation")
        assert tv.lower <= 2 / 3 <= tv.upper


def test_densities_on_a_plane_by_quadrature():
    box = bl.Interval(0, 1) * bl.Interval(0, 1)
    p = bl.Measure(lambda x: 4 * x[0] * x[1], on=box)
    q = bl.uniform(box)
    found = bl.renyi(p, q, 2)
    truth = 2 * math.log(4 / 3)
    assert found.status == "estimate" and found.lower <= truth <= found.upper


# -- other laws on the integers ------------------------------------------------------------------


def on_integers(ratio):
    return bl.Measure(lambda x: (1 - ratio) * ratio**x, on=bl.Integers(0, None))


def test_laws_on_the_integers_below_order_1():
    """Geometric laws from 0: S_a = (1-s)^a (1-t)^(1-a) / (1 - s^a t^(1-a))."""
    p, q = on_integers(0.5), on_integers(0.25)
    for order in (F(1, 4), HALF):
        found = bl.renyi(p, q, order)
        with mpmath.workdps(30):
            a, s, t = mpmath.mpf(float(order)), mpmath.mpf(1) / 2, mpmath.mpf(1) / 4
            mean = (1 - s) ** a * (1 - t) ** (1 - a) / (1 - s**a * t ** (1 - a))
            assert found.lower <= mpmath.log(mean) / (a - 1) <= found.upper
        assert found.status == "exact" and found.width < 1e-7
    above = bl.renyi(p, q, F(3, 2))
    assert above.status == "undecided" and above.upper == math.inf
    truth = float(by_series(F(3, 2)))
    assert above.lower <= truth <= above.lower + 1e-6
    most = bl.renyi(q, p, math.inf)
    assert most.lower <= math.log(1.5) < most.lower + 1e-9 and most.status == "undecided"
    tv = bl.f_divergence(p, q, "total_variation")
    assert m.encloses_number(tv, F(1, 4)) and tv.width < 1e-9


def test_the_least_float_over_a_sum_below_1():
    """The law meant has 2^-1074 / S at 0, S < 1: more than 2^-1074 (1 + 10^-13) rounds to."""
    c = 0.5 * (1 - 4.5e-14)
    q = bl.Measure(lambda x: np.where(x == 0, 5e-324, c * 0.5 ** (x - 1)), on=bl.Integers(0, None))
    found = bl.renyi(bl.poisson(mu=1), q, 2)
    with mpmath.workdps(40):
        first, total = mpmath.mpf(2) ** -1074, mpmath.mpf(2) ** -1074 + 2 * mpmath.mpf(c)
        masses = [first, *(mpmath.mpf(c) / 2**k for k in range(200))]
        terms = ((mpmath.exp(-1) / mpmath.factorial(k)) ** 2 / b for k, b in enumerate(masses))
        assert found.lower <= mpmath.log(total * sum(terms)) <= found.upper


def by_series(order):
    a, s, t = mpmath.mpf(float(order)), mpmath.mpf(1) / 2, mpmath.mpf(1) / 4
    mean = mpmath.fsum(((1 - s) * s**n) ** a * ((1 - t) * t**n) ** (1 - a) for n in range(2048))
    return mpmath.log(mean) / (a - 1)


def test_heavy_tails_are_not_forgotten():
    """1/((n+1)(n+2)) and 4/((n+1)(n+2)(n+3)): beyond 2048 terms there is 5e-4 left of the first."""
    naturals = bl.Integers(0, None)
    p = bl.Measure(lambda x: 1 / ((x + 1.0) * (x + 2.0)), on=naturals, tail=lambda n: 1.0 / (n + 1))
    q = bl.Measure(
        lambda x: 4 / ((x + 1.0) * (x + 2.0) * (x + 3.0)),
        on=naturals,
        tail=lambda n: 2.0 / ((n + 1) * (n + 2)),
    )
    with mpmath.workdps(20):
        mean = mpmath.nsum(lambda n: 2 / ((n + 1) * (n + 2) * mpmath.sqrt(n + 3)), [0, mpmath.inf])
        found = bl.renyi(p, q, HALF)
        assert found.lower <= -2 * mpmath.log(mean) <= found.upper
    assert found.status == "conditional" and found.width < 1e-3
    tv = bl.f_divergence(p, q, "total_variation")
    assert m.encloses_number(tv, F(1, 6)) and tv.width < 1e-3
    near = bl.f_divergence(p, q, "squared_hellinger")
    assert near.lower <= 1 - mean <= near.upper and near.width < 1e-3


def test_a_point_that_q_has_not():
    p = bl.poisson(mu=1.0)
    q = bl.geometric(p=0.5)  # from 1 on
    for order in (F(3, 2), 2, math.inf):
        found = bl.renyi(p, q, order)
        assert found.lower == math.inf
    assert bl.renyi(p, q, HALF).upper < math.inf
    assert bl.f_divergence(p, q, "chi_square").lower == math.inf
