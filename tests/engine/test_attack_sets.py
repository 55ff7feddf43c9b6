"""Attacks on sets of priors: true values by hand, by Fractions and by members at hand."""

from fractions import Fraction as F

import numpy as np
import pytest
from scipy.optimize import minimize

import borel as bl

SQUARE = bl.Interval(0, 1) * bl.Interval(0, 1)


def test_full_support_on_some_secrets_of_a_mechanism():
    """Priors on [0, 1] of a mechanism on [0, 10] know nothing of the other secrets."""
    noise = bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x)) / 2, secret=bl.Interval(0, 10), outcome=bl.Reals()
    )
    some = bl.priors.full_support(bl.Interval(0, 1)) * noise
    for found in (bl.pml(some).sup(), bl.pmc(some).sup(), bl.ldp(some), bl.pml(some)(2.5)):
        assert found.lower <= 1 <= found.upper < 1 + 1e-6  # e^|x - x'|, not e^10


def _family(law, theta):
    def build(t):
        p = law(t)
        return bl.pmf([p, 1 - p])

    return bl.priors.family(build, theta)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("law", "theta"),
    [
        (lambda t: np.where(t[0] <= 0, 0.9 - (t[1] - 0.3) ** 2, 0.5), (0.0, 0.3)),
        (lambda t: np.where(t[0] >= 1, 0.9 - (t[1] - 0.3) ** 2, 0.5), (1.0, 0.3)),
        (lambda t: 0.9 - (t[1] - 0.3) ** 2 - 0.4 * np.sign(t[0]), (0.0, 0.3)),
        (
            lambda t: np.where(t[0] < 0.5, 0.5, np.where(t[0] > 0.5, 0.5, 0.9 - (t[1] - 0.3) ** 2)),
            (0.5, 0.3),
        ),
        (lambda t: np.where(t[0] == 0.25, 0.9 - (t[1] - 0.3) ** 2, 0.5), (0.25, 0.3)),
        (lambda t: np.where(t[1] != 0.3, 0.5, 0.9 - (t[0] - 0.7) ** 2), (0.7, 0.3)),
    ],
)
def test_one_theta_by_itself_is_a_member(law, theta):
    """A family that jumps at single parameters: they are no null set, but priors."""
    family = _family(law, SQUARE)
    assert family.member(theta).probabilities[0] == pytest.approx(0.9)
    assert family.upper([1.0, 0.0]).upper >= 0.9 - 1e-12
    flipped = _family(lambda t: 1 - law(t), SQUARE)
    assert flipped.lower([1.0, 0.0]).lower <= 0.1 + 1e-12


@pytest.mark.few(3)
@pytest.mark.parametrize("place", [0.0, 0.25, 0.3, 1.0])
def test_one_theta_of_an_interval(place):
    """The same on a line, with an equation."""
    family = _family(lambda t: np.where(t == place, 0.1, 0.5) + 0 * t, bl.Interval(0, 1))
    assert family.lower([1.0, 0.0]).lower <= 0.1
    mech = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    assert bl.pml(family * mech).sup().upper >= np.log(0.75 / 0.3) - 1e-12


def test_products_of_intersections_claim_no_members():
    """Of an intersection of balls no member is known: a product of such has no better ends."""
    laws = [F(207, 500), F(139, 1000), F(447, 1000)], [F(223, 1000), F(327, 1000), F(9, 20)]
    balls = [
        bl.priors.chi_square_ball(bl.pmf(list(p)), F(1, 8), direction="to_centre") for p in laws
    ]
    both = balls[0] & balls[1]
    v = np.array([0.34, 0.43, 0.97])
    pairs = bl.priors.product([both, bl.priors.full_support(bl.Finite(2))])
    p, q = (np.array(law, float) for law in laws)
    rules = [
        {"type": "ineq", "fun": lambda x, c=c: 1 / 8 - ((x - c) ** 2 / c).sum()} for c in (p, q)
    ]
    rules.append({"type": "eq", "fun": lambda x: x.sum() - 1})
    found = minimize(
        lambda x: x @ v, (p + q) / 2, constraints=rules, bounds=[(0, 1)] * 3, method="SLSQP"
    )
    assert found.success and found.fun > 0.59
    claimed = pairs.lower(np.repeat(v, 2))
    assert claimed.lower <= found.fun <= claimed.upper


def test_mutual_information_of_a_solver_prior_that_is_no_member():
    """Rows of 1e-8 are within HiGHS's tolerance: its priors miss them by far."""
    rows = np.array([[1, 0.5, 0], [0, 0.5, 1], [0.2, 1, 0.1]])
    ends = np.array([0.5, 0.6, 0.4])
    mech = bl.Mechanism.from_matrix([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5]])
    plain = bl.priors.polytope(rows, ends, on=bl.Finite(3))
    small = bl.priors.polytope(1e-8 * rows, 1e-8 * ends, on=bl.Finite(3))
    truth = bl.mutual_information(plain * mech)
    claimed = bl.mutual_information(small * mech)  # of the same set, but for rounding
    assert truth.width < 1e-6
    assert claimed.lower <= truth.upper + 1e-9
    assert claimed.upper >= truth.lower - 1e-9


def test_what_rests_on_counts_is_statistical():
    """A union with a set that was declared rests on them too; LDP does not, whatever the prior."""
    on = bl.Finite([0.0, 1.0])
    counted = bl.priors.from_counts([30, 70], confidence=0.95, on=on)
    declared = bl.priors.hull([bl.pmf([F(1, 2), F(1, 2)], on=on)])
    answer = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]], secret=on)
    noise = bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, secret=on, outcome=bl.Reals())
    for known in (counted | declared, declared | counted):
        found = bl.pml(known * answer)
        assert found.sup().status == "statistical"
        assert found.sup().confidence == 0.95
        assert set(found([0.0, 1.0]).status.values) == {"statistical"}
        assert bl.mutual_information(known * answer).status == "statistical"
    assert bl.ldp(counted * noise).status == "certified"
    assert bl.pml((declared | declared) * answer).sup().status == "exact"
