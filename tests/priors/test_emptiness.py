"""Empty sets of priors: refused where it is proved, a condition where nothing is."""

from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
from scipy.optimize import linprog
from statuses import certainly

import borel as bl
from borel.priors.emptiness import NOT_EMPTY

TWO, THREE = bl.Finite(2), bl.Finite(3)
BIT = bl.Mechanism.from_matrix([[0.7, 0.3], [0.2, 0.8]])
KERNEL = bl.Mechanism.from_matrix([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])


def verdict(make, mech=KERNEL):
    """Return "empty", "inhabited" or "unknown", as the figures over the set say."""
    try:
        prior_set = make()
    except bl.InvalidInput as error:
        assert "expected" in str(error)
        return "empty"
    found = bl.pml(prior_set * mech).sup()
    if NOT_EMPTY in found.assumptions:
        assert found.status == "conditional"
        return "unknown"
    assert certainly(found) or found.status == "statistical"
    return "inhabited"


def ends(divergence, p, r):
    """The interval of P{X = 1} in a ball of a bit, by bisection at 40 digits."""
    with mpmath.workdps(40):
        p, r = mpmath.mpf(p), mpmath.mpf(r)
        out = []
        for end in (mpmath.mpf(0), mpmath.mpf(1)):
            inside, outside = p, end
            if divergence(end, p) <= r:
                out.append(end)
                continue
            for _ in range(120):
                middle = (inside + outside) / 2
                inside, outside = (
                    (middle, outside) if divergence(middle, p) <= r else (inside, middle)
                )
            out.append(inside)
        return out


def kl(q, p):
    pairs = ((q, p), (1 - q, 1 - p))
    return sum((a * mpmath.log(a / b) if b else mpmath.inf) for a, b in pairs if a)


def chi(q, p):
    pairs = ((q, p), (1 - q, 1 - p))
    return sum((a * a / b if b else mpmath.inf) for a, b in pairs if a) - 1


DISTANCES = {
    ("kl_ball", "to_centre"): kl,
    ("kl_ball", "from_centre"): lambda q, p: kl(p, q),
    ("chi_square_ball", "to_centre"): chi,
    ("chi_square_ball", "from_centre"): lambda q, p: chi(p, q),
}


@pytest.mark.few(4)
@pytest.mark.parametrize(("name", "direction"), DISTANCES)
@pytest.mark.parametrize("seed", range(12))
def test_balls_of_a_bit(name, direction, seed):
    rng = np.random.default_rng(seed)
    p, q = F(1, 4), F(3, 4)
    make, distance = getattr(bl.priors, name), DISTANCES[name, direction]
    r, s = (F(float(v)) for v in rng.choice([0.01, 0.05, 0.1, 0.14, 0.15, 0.3, 0.5], size=2))
    first, second = ends(distance, p, r), ends(distance, q, s)
    empty = first[1] < second[0]
    found = verdict(
        lambda: (
            make(bl.pmf([1 - p, p]), r, direction=direction)
            & make(bl.pmf([1 - q, q]), s, direction=direction)
        ),
        BIT,
    )
    if found == "unknown":
        assert abs(first[1] - second[0]) < 1 / 64  # they touch, or nearly so
    else:
        assert found == ("empty" if empty else "inhabited")


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(20))
def test_what_is_said_of_balls_is_so(seed):
    """No point of a fine grid is in both balls that are refused; some point is in the others."""
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet([2, 2, 2], size=2)
    radii = rng.choice([0.02, 0.1, 0.2, 0.4], size=2)
    steps = np.arange(1, 200) / 200
    a, b = (v.ravel() for v in np.meshgrid(steps, steps))
    grid = np.stack([a, b, 1 - a - b])[:, a + b < 0.9999]

    def far(centre, radius):
        return (grid * np.log(grid / centre[:, None])).sum(axis=0) - radius

    apart = np.maximum(far(p, radii[0]), far(q, radii[1])).min()
    found = verdict(
        lambda: (
            bl.priors.kl_ball(bl.pmf(p), radii[0], direction="to_centre")
            & bl.priors.kl_ball(bl.pmf(q), radii[1], direction="to_centre")
        )
    )
    if found == "empty":
        assert apart > 0
    if found == "inhabited":
        assert apart < 0.02  # the grid comes that near
    if abs(apart) > 0.02:
        assert found == ("empty" if apart > 0 else "inhabited")


@pytest.mark.parametrize("gap", [1e-6, 5e-8, 1e-9, 1e-11])
def test_polytopes_that_the_solver_takes_for_feasible(gap):
    rows, limits = [[1, 1, 0], [-1, -1, 0]], [0.5, -0.5 - gap]
    if gap < 1e-7:  # what the solver alone would have said
        one = linprog(np.zeros(3), A_ub=rows, b_ub=limits, A_eq=[[1, 1, 1]], b_eq=[1])
        assert one.status == 0
    with pytest.raises(bl.InvalidInput, match=r"bl\.priors\.polytope: expected .*none does"):
        bl.priors.polytope(rows, limits, on=THREE)
    with pytest.raises(bl.InvalidInput, match="an intersection"):
        _ = bl.priors.polytope(rows[:1], limits[:1], on=THREE) & bl.priors.polytope(
            rows[1:], limits[1:], on=THREE
        )


def test_a_contradiction_within_rounding_is_a_condition():
    # 0.9 and 0.1 as floats are 2.8e-17 more than 1 in sum
    assert F(0.9) + F(0.1) > 1
    assert (
        verdict(lambda: bl.priors.polytope(equal=[[1, 1, 0], [0, 0, 1]], to=[0.9, 0.1], on=THREE))
        == "unknown"
    )
    assert F(0.1) + F(0.2) + F(0.7) != 1
    assert verdict(lambda: bl.priors.box([0.1, 0.2, 0.7], [0.1, 0.2, 0.7])) == "unknown"
    exact = [F(1, 10), F(2, 10), F(7, 10)]
    assert verdict(lambda: bl.priors.box(exact, exact)) == "inhabited"


def test_open_sets_that_only_touch_are_a_condition():
    low, middle, high = F(1, 4), F(1, 2), F(3, 4)
    touching = bl.priors.bernoulli(low, middle) & bl.priors.bernoulli(middle, high)
    assert NOT_EMPTY in touching.assumptions and not touching.closed
    met = bl.priors.bernoulli(low, middle) & bl.priors.bernoulli(F(1, 3), high)
    assert NOT_EMPTY not in met.assumptions
    point = bl.priors.tv_ball(bl.pmf([1, 0, 0]), 0)
    assert NOT_EMPTY in (bl.priors.full_support(THREE) & point).assumptions
    wide = bl.priors.tv_ball(bl.pmf([1, 0, 0]), 0.1)
    assert NOT_EMPTY not in (bl.priors.full_support(THREE) & wide).assumptions


def test_sets_from_counts_of_two_populations_are_refused():
    known = [
        bl.priors.from_counts(counts, confidence=0.95, method="kl")
        for counts in ([300, 300, 400], [30, 30, 40], [800, 100, 100])
    ]
    assert verdict(lambda: known[0] & known[1]) == "inhabited"
    with pytest.raises(bl.InvalidInput, match=r"sets that share a prior, got .*from_counts, kl"):
        _ = known[0] & known[2]


@pytest.mark.parametrize("seed", range(10))
def test_certain_members_are_members(seed):
    """`certainly` never says yes where 40 digits say no."""
    rng = np.random.default_rng(seed)
    p = [F(int(k), 20) for k in rng.multinomial(17, [1 / 3] * 3) + 1]
    q = [F(int(k), 20) for k in rng.multinomial(17, [1 / 3] * 3) + 1]
    with mpmath.workdps(40):
        terms = [(mpmath.mpf(a.numerator) / a.denominator, b) for a, b in zip(q, p, strict=True)]
        terms = [(a, mpmath.mpf(b.numerator) / b.denominator) for a, b in terms]
        true = {
            "kl_ball": sum(a * mpmath.log(a / b) for a, b in terms),
            "chi_square_ball": sum(a * a / b for a, b in terms) - 1,
            "tv_ball": sum(abs(a - b) for a, b in terms) / 2,
            "contamination": max(1 - a / b for a, b in terms),
        }
    for name, value in true.items():
        about = {"direction": "to_centre"} if "ball" in name and name != "tv_ball" else {}
        for centre in (bl.pmf(p), bl.pmf([float(a) for a in p])):
            for factor, inside in ((0.999, False), (1.001, True)):
                radius = max(float(value), 0.0) * factor
                made = getattr(bl.priors, name)(centre, radius, **about)
                if value > 1e-6:
                    assert made.certainly(q) is inside
                    assert made.contains(bl.pmf(q), tol=0.0) is inside


def test_products_and_unions_hold_what_their_parts_do():
    ball = bl.priors.tv_ball(bl.pmf([F(1, 2), F(1, 2)]), F(1, 8))
    other = bl.priors.tv_ball(bl.pmf([F(1, 8), F(7, 8)]), F(1, 8))
    assert (ball | other).certainly([F(1, 8), F(7, 8)])
    assert not (ball | other).certainly([F(5, 16), F(11, 16)])
    assert bl.priors.bernoulli(F(1, 4), F(1, 2)).certainly([F(3, 5), F(2, 5)])
    assert not bl.priors.bernoulli(F(1, 4), F(1, 2)).certainly([F(1, 2), F(1, 2)])
    assert bl.priors.box([0.0, 0.25], [np.inf, np.inf]).certainly([F(3, 4), F(1, 4)])
    half = bl.priors.polytope([[1, -1]], [0], on=TWO)
    assert half.certainly([F(1, 2), F(1, 2)]) and not half.certainly([F(2, 3), F(1, 3)])
