"""Infinities and countable figures that were claimed and are false, and near ones that are true."""

import math
from fractions import Fraction as F

import flint
import numpy as np
import oracles as o
import pytest

import borel as bl
from borel.engine.finite.polynomial_quotients import supremum

UNIT, N0 = bl.Interval(0, 1), bl.Integers(0, None)
BITS = bl.Finite([0.25, 0.5])

# -- slopes: the distance to an end of the secret's interval --------------------------------------

NOTHING_LEAKS = [
    lambda m, x: 0.5 ** (m + 1) * np.where(0 - x < 0, 1.0, x**m),
    lambda m, x: 0.5 ** (m + 1) * np.where(x - 1 < 0, 1.0, np.exp(m * np.log1p(-x))),
    lambda m, x: 0.5 ** (m + 1) * np.where(np.maximum(x - 1, 0) > 0, (1 - x) ** m, 1.0),
]


@pytest.mark.few(4)
@pytest.mark.parametrize("density", NOTHING_LEAKS)
@pytest.mark.parametrize("leakage", [bl.pml, bl.pmc])
def test_a_branch_that_no_secret_takes(density, leakage):
    """0 - x < 0 and x - 1 < 0 for every secret: the outcome is geometric whatever x is."""
    joint = bl.uniform(UNIT) * bl.Mechanism(density, secret=UNIT, outcome=N0)
    assert leakage(joint).sup().lower <= 1e-9


@pytest.mark.attacks
def test_a_slope_at_an_end_is_left_open():
    """f(m|x) = (1 - x)^m x: PML and PMC are infinite, by slopes that grow near x = 1 only."""
    mech = bl.Mechanism(lambda m, x: (1 - x) ** m * x, secret=UNIT, outcome=N0)
    with bl.options(budget=2):
        for leakage in (bl.pml, bl.pmc):
            found = leakage(bl.uniform(UNIT) * mech).sup()
            assert found.upper == math.inf and found.lower > 1


# -- quotients of polynomials next to an end: what underflows --------------------------------------


@pytest.mark.parametrize("p", [F(3, 10**318) + F(1, 7 * 10**322), F(1, 7 * 10**315)])
def test_a_set_of_bits_down_to_subnormal_probabilities(p):
    """PML is largest at p: its quotient is below 1e308, but f_Y there is subnormal."""
    a = F(1, 2**40)
    kernel = np.array([[0.0, 1.0], [1.0, 0.0], [float(a), 1 - float(a)], [0.5, 0.5]])
    mech = bl.Mechanism.from_matrix(kernel, secret=bl.Finite([0, 1]) ** 2)
    joint = bl.entry(bl.iid(bl.priors.bernoulli(p, F(1, 2)), 2) * mech, 0)
    top = (1 - p) * a + p / 2
    truth = top / ((1 - p) * p + p * top)
    found = bl.pml(joint).sup()
    assert o.between(found.lower, lambda: o.log(truth), found.upper)


def test_a_numerator_that_underflows():
    """1e-167 p / (1e-132 (1-p) + ...) is about 5e-185 at p = 5e-150, a product below 1e-308."""
    num = np.array([[0.0, 1e-167, 1e-163]])
    den = np.array([[1e-132, 0.883861075986379, 1e-180]])
    end = F(5, 10**150)
    found = supremum(num, den, (F(0), end), error=0.0, tol=1e-6)
    c, d = ([F(float(v)) for v in row[0]] for row in (num, den))
    at = [sum(v * end**k * (1 - end) ** (2 - k) for k, v in enumerate(r)) for r in (c, d)]
    assert F(found.upper) >= at[0] / at[1] >= F(found.lower)


# -- integers that are no floats -------------------------------------------------------------------


FAR = 2.0**53


def far_out(y, x):
    """Geometric up to 50; half of the time 2**53 with probability x, else 2**53 + 2."""
    near = np.where(y < 50, 0.5 ** (y + 2), np.where(y == 50, 0.5**51, 0.0))
    return near + 0.5 * np.where(y == FAR, x, np.where(y == FAR + 2, 1 - x, 0.0))


@pytest.mark.parametrize(
    ("prior", "ratio"),
    [(bl.pmf([F(1, 4), F(3, 4)], on=BITS), F(8, 7)), (bl.uniform(UNIT), F(2))],
)
def test_an_outcome_beyond_2_to_the_53_is_not_its_neighbour(prior, ratio):
    """Nothing has mass at 2**53 + 1, which as a float is 2**53."""
    joint = prior * bl.Mechanism(far_out, secret=prior.on, outcome=N0)
    found = bl.pml(joint)(2**53)
    assert o.between(found.lower, lambda: o.log(ratio), found.upper)
    for y in (2**53 + 1, 2**60 + 1, 2**64 + 1, np.array([1, 2**53 + 1])):
        for leakage in (bl.pml, bl.pmc):
            with pytest.raises(bl.InvalidInput, match=r"2\*\*53"):
                leakage(joint)(y)


@pytest.mark.parametrize("secret", [bl.Finite([2**53, 2**53 + 1]), bl.Integers(2**53, 2**53 + 1)])
@pytest.mark.parametrize("outcome", [bl.Finite(2), N0, bl.Reals()])
def test_secrets_that_are_one_float_are_refused(secret, outcome):
    """As floats 2**53 and 2**53 + 1 are one secret, about which nothing could leak."""
    with pytest.raises(bl.InvalidInput, match=r"2\*\*53"):
        bl.Mechanism(
            lambda y, x: np.where(x == 2**53, np.exp(-y), 2 * np.exp(-2 * y)),
            secret=secret,
            outcome=outcome,
        )
    prior = bl.pmf([F(1, 2), F(1, 2)], on=secret)
    with pytest.raises(bl.InvalidInput, match=r"2\*\*53"):
        prior * bl.mechanisms.laplace(b=1.0)
    assert bl.pmf([0.5, 0.5], on=bl.Finite([0, 2**60])) * bl.mechanisms.laplace(b=1.0)
    kernel = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
    answers = prior * bl.Mechanism.from_matrix(kernel, secret=secret)
    assert bl.pml(answers).sup().ratio.lower == F(3, 2)


@pytest.mark.attacks
def test_an_outcome_far_out_of_countable_secrets():
    """Y - X is geometric: a head up to y = 10**12 would not fit; f_Y(y) is still enclosed."""
    mech = bl.Mechanism(
        lambda y, x: np.where(y >= x, 0.5 ** (y - x + 1), 0.0), secret=N0, outcome=N0
    )
    prior = bl.Measure(lambda x: 6 / (np.pi**2 * (x + 1) ** 2), on=N0, tail=lambda n: 1 / (n + 1))
    found = bl.pml(prior * mech)(10**12)
    assert found.lower <= math.log(0.5 * (10**12) ** 2 * math.pi**2 / 6) <= found.upper


# -- a law that an error interrupts ----------------------------------------------------------------


def test_laws_keep_one_head_when_one_is_interrupted(monkeypatch):
    """A head that was not computed to its end is not the head of the laws that are known."""
    from borel.engine import engine_for

    mech = bl.Mechanism(lambda y, x: (1 - x) * x**y, secret=BITS, outcome=N0)
    engine = engine_for(bl.pmf([F(1, 4), F(3, 4)], on=BITS) * mech)
    engine._count = 8
    whole, count = engine.values_at, []

    def stopped(kind, y, **more):
        if len(y) > 8:
            count.append(len(y))
            raise KeyboardInterrupt
        return whole(kind, y, **more)

    monkeypatch.setattr(engine, "values_at", stopped)
    with pytest.raises(KeyboardInterrupt):
        engine.law("pml")
    assert count and len(engine.head_of_outcomes()[0]) == 8


# -- truths next to these --------------------------------------------------------------------------


def test_a_prior_that_ends_at_an_interior_point():
    """X is below 1/2 almost surely: what the kernel does beyond does not count."""
    prior = bl.Measure(lambda x: np.where(x < 0.5, 2.0, 0.0), on=UNIT, breaks=(0.5,))
    mech = bl.Mechanism(lambda m, x: (1 - x) ** m * x, secret=UNIT, outcome=N0)
    found = bl.pml(prior * mech)(0)  # f(0|x) = x: 1/2 over 1/4
    assert o.between(found.lower, lambda: flint.arb(2).log(), found.upper)
