"""Whether a supremum over a set of priors is attained: against all vertices, in Fractions.

A supremum is attained if some prior of the set reaches it: a vertex (or a limit) of the least mean
that charges one of the secrets that tell most, whichever of several that tie.
"""

import itertools
import math
import random
from fractions import Fraction as F

import pytest
from vertices import vertices

import borel as bl
from borel.probability.bound import Bound, Ratio, largest

H, Q = F(1, 2), F(1, 4)


def law(rng, n):
    weights = [rng.choice([0, 1, 1, 2, 3]) for _ in range(n)]
    return [F(w, sum(weights)) for w in weights] if sum(weights) else law(rng, n)


def moved(p, r):
    """The ball of total variation as constraints: Q(A) - P(A) <= r for every event A."""
    events = [*itertools.product((F(0), F(1)), repeat=len(p))][1:-1]
    return events, [r + sum(a * v for a, v in zip(e, p, strict=True)) for e in events]


def drawn(kind, rng, n):
    """A set of priors and its vertices."""
    p, r = law(rng, n), F(rng.randint(0, 5), 10)
    eye = [[F(int(i == j)) for j in range(n)] for i in range(n)]
    back = [[-v for v in row] for row in eye]
    if kind == "tv":
        return bl.priors.tv_ball(bl.pmf(p), r), vertices(*moved(p, r))
    if kind == "l1":
        return bl.priors.l1_ball(bl.pmf(p), r), vertices(*moved(p, r / 2))
    if kind == "contamination":
        return bl.priors.contamination(bl.pmf(p), r), vertices(back, [(r - 1) * v for v in p])
    if kind == "interior":
        made = bl.priors.interior(r / n, on=bl.Finite(n))
        return made, vertices(back, [-r / n] * n)
    if kind == "hull":
        laws = [law(rng, n) for _ in range(rng.randint(1, 3))]
        return bl.priors.hull([bl.pmf(q) for q in laws]), laws
    low = [max(v - F(rng.randint(0, 5), 20), F(0)) for v in p]
    high = [min(v + F(rng.randint(0, 5), 20), F(1)) for v in p]
    made = bl.priors.box(low, high, on=bl.Finite(n))
    return made, vertices([*eye, *back], [*high, *(-v for v in low)])


def attained(kind, corners, column):
    """Whether some vertex attains the supremum at an outcome with f(y|.) = column."""
    charged = [k for k in range(len(column)) if any(q[k] > 0 for q in corners)]
    means = [sum(a * v for a, v in zip(q, column, strict=True)) for q in corners]
    told = (max if kind == "pml" else min)(column[k] for k in charged)
    level = (min if kind == "pml" else max)(means)
    if max(column[k] for k in charged) == 0:
        return None  # an outcome that is impossible
    if kind == "pmc" and told == 0:
        return True  # a mixture charges it and allows the outcome
    return any(
        mean == level and any(q[k] > 0 and column[k] == told for k in charged)
        for q, mean in zip(corners, means, strict=True)
    )


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", ["tv", "l1", "contamination", "interior", "hull", "box"])
def test_attained_against_all_vertices(kind):
    rng, seen = random.Random(7), []
    for _ in range(60):
        n = rng.randint(2, 3)
        prior_set, corners = drawn(kind, rng, n)
        column = [rng.choice([F(0), Q, H]) for _ in range(n)]
        joint = prior_set * bl.Mechanism.from_matrix([[v, 1 - v] for v in column])
        for name, of in (("pml", bl.pml), ("pmc", bl.pmc)):
            truth = attained(name, corners, column)
            assert of(joint)(0).attained is truth, (kind, name, corners, column)
            seen.append(truth)
    assert {True, False} <= {*seen}


def test_ties_of_a_contamination_class_and_a_box():
    """The printed prior reaches 8/5 = (1/2) / (5/16) by another secret of the tie."""
    for prior_set, rows in (
        (bl.priors.contamination(bl.pmf([H, F(0), H]), H), (Q, H, H)),
        (bl.priors.box([0, H, Q], [Q, F(3, 4), H], on=bl.Finite(3)), (H, Q, H)),
    ):
        mech = bl.Mechanism.from_matrix([[v, 1 - v] for v in rows])
        found = bl.pml(prior_set * mech)(0)
        worst = found.witness["prior"]
        assert (found.ratio, found.attained) == (Ratio(F(8, 5), F(8, 5)), True)
        assert bl.pml(worst * mech)(0).ratio == found.ratio
        assert worst.probabilities[found.witness["x"]] > 0


STEEP = bl.Mechanism.from_matrix([[Q, F(3, 4)], [H, H], [F(3, 4), Q]])
"""Under (1/2, 1/4, 1/4) the least values alone are at a KL divergence of log 2 = 0.6931..., and the
density (3/4 - v)_+ at (9/64) / (5/16)^2 - 1 = 11/25 of chi-square."""


@pytest.mark.few(9)
@pytest.mark.parametrize(
    ("divergence", "direction", "radius", "truth"),
    [
        ("kl", "to_centre", F(0), True),
        ("kl", "to_centre", F(69, 100), True),
        ("kl", "to_centre", F(70, 100), False),
        ("kl", "to_centre", F(10), False),
        ("chi_square", "to_centre", F(0), True),
        ("chi_square", "to_centre", F(43, 100), True),
        ("chi_square", "to_centre", F(11, 25), False),
        ("chi_square", "to_centre", F(5), False),
        ("kl", "from_centre", F(10), True),
        ("chi_square", "from_centre", F(10), True),
    ],
)
def test_balls_of_divergences(divergence, direction, radius, truth):
    make = bl.priors.kl_ball if divergence == "kl" else bl.priors.chi_square_ball
    prior_set = make(bl.pmf([H, Q, Q]), radius, direction=direction)
    assert bl.pml(prior_set * STEEP)(0).attained is truth
    # what the centre does not charge gets mass of the least values only
    rare = make(bl.pmf([H, H, F(0)]), radius, direction=direction)
    beyond = direction == "from_centre"
    if beyond or radius in (0, 10, 5):
        assert bl.pml(rare * STEEP)(0).attained is (not beyond and radius == 0)
    flat = bl.Mechanism.from_matrix([[H, H]] * 3)
    assert bl.pml(rare * flat)(0).attained is True


def test_open_sets_attain_constants_only():
    flat = bl.Mechanism.from_matrix([[H, H], [H, H]])
    for prior_set in (bl.priors.full_support(bl.Finite(2)), bl.priors.bernoulli(Q, H)):
        assert bl.pml(prior_set * flat).sup().attained is True
        steep = prior_set * bl.Mechanism.from_matrix([[Q, F(3, 4)], [H, H]])
        assert bl.pml(steep).sup().attained is False
        # f(y|0) = 0 under one secret: PMC is infinite for every member
        never = prior_set * bl.Mechanism.from_matrix([[F(0), F(1)], [H, H]])
        assert (bl.pmc(never)(0).lower, bl.pmc(never)(0).attained) == (math.inf, True)
        assert bl.pml(never)(0).attained is False


def test_over_outcomes_that_tie_one_that_attains_it_will_do():
    """e^PML is (1/2) / (1/4) at 1, by a prior without that secret, and (1/3) / (1/6) at 2."""
    third = F(1, 3)
    mech = bl.Mechanism.from_matrix([[third, third, third], [H, H, F(0)], [H, F(1, 6), third]])
    joint = bl.priors.tv_ball(bl.pmf([F(1), F(0), F(0)]), H) * mech
    found = [bl.pml(joint)(y) for y in (1, 2)]
    assert [(b.ratio.lower, b.attained) for b in found] == [(2, False), (2, True)]
    over = bl.pml(joint).sup()
    assert (over.ratio.lower, over.attained, over.witness["y"]) == (2, True, 2)


def test_of_corners_that_tie_the_one_that_attains_it_is_the_witness():
    hull = bl.priors.hull([bl.pmf([F(0), F(1), F(0)]), bl.pmf([H, F(0), H])])
    mech = bl.Mechanism.from_matrix([[Q, F(3, 4)], [H, H], [F(3, 4), Q]])
    found = bl.pml(hull * mech)(0)
    assert (found.ratio.lower, found.attained) == (F(3, 2), True)
    assert found.witness["prior"].probabilities.tolist() == [H, F(0), H]


def test_the_largest_of_several_is_attained_if_one_of_equal_ones_is():
    two = {"exact_ratio": Ratio(F(2), F(2))}
    reached, open_ = (Bound.exact(0.69, 0.7, attained=known, **two) for known in (True, False))
    for pair in ([reached, open_], [open_, reached]):
        assert largest(pair).attained is True
    below = Bound.exact(0.1, 0.69, attained=True)
    assert largest([open_, below]).attained is None  # it may be as large
    assert largest([open_, Bound.exact(0.1, 0.2, attained=True)]).attained is False
    assert largest([open_, Bound.certified(0.1, 0.695, attained=False)]).attained is False
    infinite = [Bound.exact(math.inf, math.inf, attained=known) for known in (False, True)]
    assert largest(infinite).attained is True
    assert largest([infinite[0], Bound.exact(0.1, math.inf, attained=True)]).attained is None


def test_a_union_of_which_one_part_attains_the_supremum():
    """Both parts have a lower expectation of 1/4 + 1/8; only the second has a law that charges."""
    mech = bl.Mechanism.from_matrix([[Q, F(3, 4)], [H, H], [F(3, 4), Q]])
    alone = bl.priors.hull([bl.pmf([H, H, F(0)]), bl.pmf([F(0), F(0), F(1)])])
    reached = bl.priors.hull([bl.pmf([F(3, 4), F(0), Q])])
    assert bl.pml(alone * mech)(0).attained is False
    assert bl.pml(reached * mech)(0).attained is True
    for union in (alone | reached, reached | alone):
        found = bl.pml(union * mech)(0)
        assert (found.ratio.lower, found.attained) == (2, True)


def test_ties_of_enclosures_are_not_known():
    """At y = 0 the secrets -1 and 1 tie under Laplace noise: their enclosures decide nothing."""
    on = bl.Finite([-1, 0, 1])
    noise = bl.mechanisms.laplace(b=1, secret=on)
    rare = bl.priors.contamination(bl.pmf([F(0), H, H], on=on), H)
    assert bl.pmc(rare * noise)(0.0).attained in (True, None)
    assert bl.pml(rare * noise)(0.0).attained is True  # every member charges 0
    assert bl.pml(bl.priors.full_support(on) * noise)(0.0).attained is False


def test_floats_that_tie_mean_laws_that_may_not():
    rare = bl.priors.contamination(bl.pmf([H, F(0), H]), H)
    tied = bl.Mechanism.from_matrix([[0.25, 0.75], [0.5, 0.5], [0.5, 0.5]])
    assert bl.pml(rare * tied)(0).attained is None
    apart = bl.Mechanism.from_matrix([[0.25, 0.75], [0.4, 0.6], [0.5, 0.5]])
    assert bl.pml(rare * apart)(0).attained is True
    assert bl.pml(bl.priors.contamination(bl.pmf([H, H, F(0)]), H) * apart)(0).attained is False
