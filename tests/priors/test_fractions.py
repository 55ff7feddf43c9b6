"""Fractions that give a set of priors, or a function of the secret, are never rounded silently."""

import math
import random
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
from vertices import vertices

import borel as bl
from borel.engine.prior_sets import linear_programme

TENTH, THIRD, H, Q = F(1, 10), F(1, 3), F(1, 2), F(1, 4)
TWO, THREE = bl.Finite(2), bl.Finite(3)


def at(found, truth):
    """Whether a figure is a Fraction, exactly."""
    return found.status == "exact" and found.ends == (truth, truth)


def test_limits_that_are_no_floats():
    for prior_set in (
        bl.priors.polytope([[1, 0, 0]], [TENTH], on=THREE),
        bl.priors.moment([1, 0, 0], upper=TENTH, on=THREE),
        bl.priors.moment([F(1, 3), 0, 0], upper=F(1, 30), on=THREE),
        bl.priors.polytope(equal=[[1, 0, 0]], to=[TENTH], on=THREE),
        bl.priors.box([F(0)] * 3, [TENTH, 1, 1], on=THREE),
        bl.priors.box([F(0)] * 3, [TENTH, 1, 1], on=THREE)
        & bl.priors.box([F(0)] * 3, [H, 1, 1], on=THREE),
    ):
        found = prior_set.upper([1, 0, 0])
        assert at(found, TENTH) and not found.assumptions, prior_set
        assert bool(found <= TENTH) and (found < TENTH).holds is False


@pytest.mark.parametrize("limit", [TENTH, F(1, 5), F(2, 5)])
def test_leakage_over_a_polytope(limit):
    """The least mean of (1/4, 3/4) puts the limit on the first: e^PML is (3/4) over that mean."""
    prior_set = bl.priors.polytope([[1, 0]], [limit], on=TWO)
    mech = bl.Mechanism.from_matrix([[Q, 3 * Q], [3 * Q, Q]])
    truth = 3 * Q / (limit * Q + (1 - limit) * 3 * Q)
    found = bl.pml(prior_set * mech)(0)
    assert (found.status, found.ratio, found.assumptions) == ("exact", (truth, truth), ())
    assert found.attained is True  # each member charges the second secret
    assert bool((prior_set * mech).satisfies(bl.guarantees.PMC(ratio=3)))


def test_intersections():
    """(1/2, 3/10, 1/5) with up to a half of others, and with up to a fifth: the latter counts."""
    centre = bl.pmf([H, F(3, 10), F(1, 5)])
    both = bl.priors.contamination(centre, H) & bl.priors.contamination(centre, F(1, 5))
    assert at(both.lower([F(0), F(0), F(-1)]), -F(4, 25) - F(1, 5))
    ball = bl.priors.tv_ball(centre, TENTH) & bl.priors.polytope(
        [[1, 0, 0]], [F(51, 100)], on=THREE
    )
    assert at(ball.upper([1, 0, 0]), F(51, 100))
    assert at(ball.upper([0, 0, 1]), F(3, 10))
    corners = bl.priors.hull([centre, bl.pmf([THIRD] * 3)]) & bl.priors.interior(TENTH, on=THREE)
    assert at(corners.upper([0, 0, 1]), THIRD)


@pytest.mark.parametrize("seed", range(6))
def test_random_polytopes_against_all_vertices(seed):
    rng = random.Random(seed)
    for _ in range(5):
        n = rng.randint(2, 4)
        weights = [rng.randint(0, 5) for _ in range(n - 1)] + [1]
        inside = [F(w, sum(weights)) for w in weights]
        rows = [[F(rng.randint(-2, 2)) for _ in range(n)] for _ in range(2)]
        ends = [
            sum(a * b for a, b in zip(row, inside, strict=True)) + F(rng.randint(0, 2), 10)
            for row in rows
        ]
        values = [F(rng.randint(-3, 3), rng.randint(1, 7)) for _ in range(n)]
        means = [sum(a * b for a, b in zip(q, values, strict=True)) for q in vertices(rows, ends)]
        prior_set = bl.priors.polytope(rows, ends, on=bl.Finite(n))
        low, high = prior_set.lower(values), prior_set.upper(values)
        assert at(low, min(means)) and at(high, max(means))
        shown = low.witness["prior"].probabilities
        assert sum(a * b for a, b in zip(shown, values, strict=True)) == min(means)
        # as floats: enclosed, with a certificate about the Fractions
        rough = prior_set.lower([float(v) for v in values])
        exact = [F(float(v)) for v in values]
        truth = min(sum(a * b for a, b in zip(q, exact, strict=True)) for q in vertices(rows, ends))
        assert rough.lower <= truth <= rough.upper


def test_certificates_are_about_the_fractions():
    prior_set = bl.priors.polytope([[THIRD, 0, 0]], [TENTH], equal=[[0, 1, 0]], to=[Q], on=THREE)
    found = prior_set.upper([0.5, 0.25, 0.0])
    truth = F(3, 10) * H + F(1, 16)
    assert found.lower <= truth <= found.upper and found.status == "certified"


def test_fractions_beside_floats_stay():
    some = bl.priors.full_support(TWO)
    assert at(some.lower([THIRD, 0.5]), THIRD)
    assert at(some.lower([2**53 + 1, F(2**60)]), F(2**53 + 1))
    tight = bl.priors.box([THIRD, 0.25], [1, 1])
    assert at(tight.lower([1, 0]), THIRD)
    # q(0) / 3 + q(1) / 2 <= 2/5: q(0) >= 3/5, which the float beside 1/3 would change
    mixed = bl.priors.polytope([[THIRD, 0.5]], [F(2, 5)], on=TWO)
    found = mixed.lower([1, 0])
    assert found.lower <= F(3, 5) <= found.upper and len(mixed.assumptions) == 1


def test_what_is_rational_of_other_sets():
    p = bl.pmf([THIRD, F(2, 3)])
    for make in (bl.priors.kl_ball, bl.priors.chi_square_ball):
        for direction in ("to_centre", "from_centre"):
            assert at(make(p, 0, direction=direction).lower([1, 0]), THIRD)
    union = bl.priors.tv_ball(p, TENTH) | bl.priors.interior(F(1, 5), on=TWO)
    assert at(union.lower([1, 0]), F(1, 5)) and at(union.upper([1, 0]), F(4, 5))
    assert at(bl.priors.interior(TENTH, on=TWO).lower([1, 0]), TENTH)


def test_irrational_figures_are_enclosed():
    """E_Q x over KL(Q || (1/2, 1/2)) <= r solves q log 2q + (1 - q) log 2(1 - q) = r."""
    mp.mp.dps = 40
    found = bl.priors.kl_ball(bl.pmf([H, H]), TENTH, direction="to_centre").lower([0, 1])
    truth = mp.findroot(
        lambda q: q * mp.log(2 * q) + (1 - q) * mp.log(2 * (1 - q)) - mp.mpf(1) / 10, 0.28
    )
    assert found.lower <= truth <= found.upper and found.status == "certified"


def test_a_probability_below_the_floats_is_not_0():
    """e^PML is 1/2 over 1/2 * 10^-400: large, and not infinite."""
    rare = F(1, 10**400)
    mech = bl.Mechanism.from_matrix([[0.5, 0.5], [0.0, 1.0]])
    for prior_set in (
        bl.priors.contamination(bl.pmf([rare, 1 - rare]), 0),
        bl.priors.hull([bl.pmf([rare, 1 - rare])]),
    ):
        found = bl.pml(prior_set * mech)(0)
        assert found.lower <= 400 * math.log(10) <= found.upper


def test_limits_of_moments_on_an_interval_are_rounded_to_the_safe_side(monkeypatch):
    seen = []
    monkeypatch.setattr(
        linear_programme,
        "least",
        lambda v, rules: seen.append((rules.at_most, rules.limits.tolist())),
    )
    on = bl.Interval(0, 1)
    prior_set = bl.priors.moment(lambda x: x, lower=TENTH, upper=THIRD, on=on)
    cells = np.array([0.0, 0.5]), np.array([0.5, 1.0])
    for below in (True, False):
        prior_set.solved(np.zeros((2, 1)), *cells, below=below)
    (_, (most, least)), (_, (most_inside, least_inside)) = seen
    assert most > THIRD > most_inside and -least < TENTH < -least_inside
