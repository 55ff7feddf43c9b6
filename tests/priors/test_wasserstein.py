"""Wasserstein balls: against vertices in Fractions (cdfs and duality) and SciPy."""

import itertools
import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import linprog
from vertices import solved, vertices

import borel as bl
from borel.checker import verify

ball = bl.priors.wasserstein_ball
P = [F(1, 2), F(1, 4), F(1, 4)]
METRIC = [[F(0), F(1), F(5, 2)], [F(1), F(0), F(2)], [F(5, 2), F(2), F(0)]]
VALUES = [[3, -1, 2], [0, 1, 0], [1, 0, 0], [-2, 5, F(1, 3)], [1, 1, 1], [0, 1, 3]]
RADII = [F(0), F(1, 16), F(1, 3), F(9, 8), F(7)]


def dot(a, b):
    return sum((v * w for v, w in zip(a, b, strict=True)), F(0))


def on_a_line(p, places, radius):
    """All members' vertices: the area between the cdfs, with every choice of signs."""
    order = sorted(range(len(p)), key=lambda k: places[k])
    rows, ends = [], []
    for signs in itertools.product((1, -1), repeat=len(p) - 1):
        row = [F(0)] * len(p)
        for i, s in enumerate(signs):
            for k in order[: i + 1]:
                row[k] += s * F(places[order[i + 1]] - places[order[i]])
        rows.append(row)
        ends.append(radius + dot(row, p))
    return vertices(rows, ends)


def by_duality(p, d, radius):
    """Kantorovich: E_Q f - E_P f <= r for the extreme f of |f(x) - f(x')| <= d(x, x'), f(0) = 0."""
    n, found = len(p), []
    pairs = [(x, y) for x in range(n) for y in range(n) if x != y]
    for tight in itertools.combinations(pairs, n - 1):
        table = [[F(int(k == x) - int(k == y)) for k in range(n)] for x, y in tight]
        f = solved(
            [[F(int(k == 0)) for k in range(n)], *table], [F(0), *(d[x][y] for x, y in tight)]
        )
        if f is not None and all(f[x] - f[y] <= d[x][y] for x, y in pairs) and f not in found:
            found.append(f)
    return vertices(found, [radius + dot(f, p) for f in found])


def agrees(made, members):
    """Whether least and largest means are those of the vertices, as Fractions, and attained."""
    for v in VALUES:
        means = [dot(q, v) for q in members]
        low, high = made.lower(v), made.upper(v)
        assert low.status == high.status == "exact"
        for bound, truth in ((low, min(means)), (high, max(means))):
            assert F(bound.lower) <= truth <= F(bound.upper) and bound.width < 1e-14
            worst = bound.witness["prior"].probabilities
            assert dot(worst, v) == truth and min(worst) >= 0 and sum(worst) == 1


@pytest.mark.few(13)
@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("places", [[0, 1, 2], [F(5), F(-1, 2), F(2)], [0.1, 0.7, 0.3]])
def test_on_a_line_its_means_are_those_of_the_vertices(places, radius):
    places = [F(x) for x in places]
    made = ball(bl.pmf(P, on=bl.Finite(places)), radius)
    agrees(made, on_a_line(P, places, radius))


@pytest.mark.parametrize("radius", RADII)
def test_with_distances_its_means_are_those_of_the_vertices(radius):
    made = ball(bl.pmf(P, on=bl.Finite(["a", "b", "c"])), radius, METRIC)
    agrees(made, by_duality(P, METRIC, radius))


def test_both_ways_give_the_same_ball():
    places = [F(0), F(1, 3), F(2)]
    d = [[abs(a - b) for b in places] for a in places]
    centre = bl.pmf(P, on=bl.Finite(places))
    first, second = ball(centre, F(1, 5)), ball(centre, F(1, 5), d)
    for v in VALUES:
        for a, b in ((first.lower(v), second.lower(v)), (first.upper(v), second.upper(v))):
            assert (a.lower, a.upper) == (b.lower, b.upper)


def test_leakage_is_that_of_the_worst_vertex():
    kernel = [[F(1, 2), F(1, 4), F(1, 4)], [F(1, 8), F(5, 8), F(1, 4)], [F(1, 8), F(1, 8), F(3, 4)]]
    joint = ball(bl.pmf(P), F(1, 8)) * bl.Mechanism.from_matrix(kernel)
    members = on_a_line(P, [0, 1, 2], F(1, 8))
    for y, column in enumerate(zip(*kernel, strict=True)):
        means = [dot(q, column) for q in members]
        assert bl.pml(joint)(y).ratio == (max(column) / min(means),) * 2
        assert bl.pmc(joint)(y).ratio == (max(means) / min(column),) * 2
    sup = bl.pml(joint).sup()
    truth = max(max(c) / min(dot(q, c) for q in members) for c in zip(*kernel, strict=True))
    assert sup.status == "exact" and sup.ratio == (truth, truth)


def test_a_value_known_by_hand():
    """1/4 moves from one bit to the other: log of (3/4) / (3/8)."""
    table = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    sup = bl.pml(ball(bl.pmf([F(1, 2), F(1, 2)]), F(1, 4)) * table).sup()
    with mp.workdps(40):
        assert mp.mpf(sup.lower) <= mp.log(2) <= mp.mpf(sup.upper)
    assert sup.status == "exact" and sup.attained is True


def test_a_plan_of_straight_moves_where_the_triangle_inequality_fails():
    """From 0 to 2 it costs 5, though 1 + 1 by way of 1: a plan moves each mass once."""
    d = [[0, 1, 5], [1, 0, 1], [5, 1, 0]]
    made = ball(bl.pmf([F(1), F(0), F(0)]), F(1), d)
    assert made.upper([0, 0, 1]).upper == 0.2
    assert made.upper([0, 1, 0]).lower == 1


@pytest.mark.parametrize("seed", range(3))
def test_scipy_finds_the_same_means(seed):
    rng = np.random.default_rng(seed)
    n = 6
    points, p = rng.normal(size=(n, 2)), rng.dirichlet(np.ones(n))
    d = np.abs(points[:, None] - points[None]).sum(axis=2)
    radius, v = 0.3, rng.normal(size=n)
    moved = np.kron(np.eye(n), np.ones(n))
    found = linprog(
        np.tile(v, n), A_ub=d.reshape(1, -1), b_ub=[radius], A_eq=moved, b_eq=p, method="highs"
    )  # all plans from p, by what arrives
    low = ball(bl.pmf(p), radius, d).lower(v)
    assert low.lower - 1e-8 <= found.fun <= low.upper + 1e-8 and low.width < 1e-9


def test_on_a_line_members_are_as_near_as_scipy_measures():
    places = [0.0, 1.0, 2.5, 7.0]
    p = [0.4, 0.3, 0.2, 0.1]
    made = ball(bl.pmf(p, on=bl.Finite(places)), 0.5)
    far = [
        stats.wasserstein_distance(places, places, p, m.probabilities)
        for m in made.members(40, rng=0)
    ]
    assert max(far) <= 0.5 + 1e-9
    for v in ([0, 0, 0, 1], [1, 0, 0, 0]):
        worst = made.upper(v).witness["prior"].probabilities
        assert stats.wasserstein_distance(places, places, p, worst) == pytest.approx(0.5, abs=1e-9)
    for q in np.random.default_rng(1).dirichlet(np.ones(4), 40):
        away = stats.wasserstein_distance(places, places, p, q)
        if abs(away - 0.5) > 1e-6:
            assert made.contains(bl.pmf(q, on=bl.Finite(places))) == (away < 0.5)


@pytest.mark.slow
def test_conventions_hold():
    centre = bl.pmf([F(1, 2), F(1, 2), 0])
    for made in (ball(centre, F(1, 8)), ball(bl.pmf([0.2, 0.3, 0.5]), 0.25, METRIC)):
        bl.testing.check_prior_set(made)
        assert made.nominal is made.centre


def test_radius_zero_is_the_centre_and_a_large_one_everything():
    centre = bl.pmf([F(1, 2), F(1, 2), 0])
    alone, everything = ball(centre, 0), ball(centre, 2)
    assert alone.reach[1].tolist() == [True, True, False]
    assert alone.lower([1, 2, 5]).lower == alone.upper([1, 2, 5]).upper == 1.5
    assert everything.upper([1, 2, 5]).lower == 5 and everything.lower([1, 2, 5]).upper == 1
    one = bl.pmf([F(1)])
    for d in (None, [[0]]):
        assert ball(one, F(1, 3), d).upper([2]).upper == 2


def test_a_centre_of_floats_is_divided_by_its_sum():
    p = [0.1] * 10
    made = ball(bl.pmf(p), 0.25)
    assert "divided by their sum" in " ".join(made.upper(range(10)).assumptions)
    exact = [F(v) / sum(map(F, p)) for v in p]
    truth = dot(exact, range(10)) + F(1, 4)
    bound = made.upper([F(k) for k in range(10)])
    assert bound.status == "exact" and F(bound.lower) <= truth <= F(bound.upper)


def test_labelled_distances_are_matched():
    names = ["a", "b", "c"]
    frame = pd.DataFrame(np.array(METRIC, float), index=names, columns=names)
    turned = frame.loc[["c", "a", "b"], ["b", "c", "a"]]
    centre = bl.pmf(P, on=bl.Finite(names))
    for v in VALUES:
        assert ball(centre, F(1, 5), turned).upper(v) == ball(centre, F(1, 5), METRIC).upper(v)


def test_the_checker_verifies_a_figure_over_it():
    joint = ball(bl.pmf(P), F(1, 8)) * bl.Mechanism.from_matrix(
        [[F(3, 4), F(1, 4)]] * 2 + [[F(1, 4), F(3, 4)]]
    )
    found = verify(bl.pml(joint).sup().certify().certificate)
    assert found.figure == "pml.sup"


@pytest.mark.parametrize(
    ("distance", "match"),
    [
        ([[0, 1], [1, 0]], r"shape \(3, 3\)"),
        ([[0, 1, 1], [2, 0, 1], [1, 1, 0]], "symmetric.*1 from 'a' to 'b', and 2 back"),
        ([[1, 1, 1], [1, 0, 1], [1, 1, 0]], "0 from each label to itself"),
        ([[0, -1, 1], [-1, 0, 1], [1, 1, 0]], ">= 0, finite"),
        ([[0, math.nan, 1], [math.nan, 0, 1], [1, 1, 0]], ">= 0, finite"),
        ("far", "numbers for distance"),
        (None, "labels that are numbers.*distance="),
    ],
)
def test_bad_distances_are_named(distance, match):
    with pytest.raises(bl.InvalidInput, match=match):
        ball(bl.pmf(P, on=bl.Finite(["a", "b", "c"])), F(1, 8), distance)


def test_other_bad_arguments_are_named():
    with pytest.raises(bl.InvalidInput, match="a prior as the centre"):
        ball(P, F(1, 8))
    for radius in (-1, math.nan, math.inf, "1", True):
        with pytest.raises(bl.InvalidInput, match="radius"):
            ball(bl.pmf(P), radius)
    with pytest.raises(bl.NotYet, match="transport on"):
        ball(bl.uniform(bl.Interval(0, 1)), 0.1)
    with pytest.raises(bl.NotYet, match="1000 secrets"):
        ball(bl.uniform(bl.Finite(5000)), 0.1)
    with pytest.raises(bl.NotYet, match="100 secrets"):
        ball(bl.uniform(bl.Finite(200)), 0.1, np.zeros((200, 200)))
