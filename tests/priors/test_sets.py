"""Sets of priors on finite alphabets: against linear programs, closed forms and random members."""

import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
import xarray as xr
from scipy.optimize import linprog

import borel as bl


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(40):
        yield


N, M = 4, 3
FOUR = bl.Finite(N)


def drawn(seed, n=N, m=M, zeros=False):
    rng = np.random.default_rng(seed)
    kernel = rng.dirichlet(np.ones(m), size=n)
    if zeros and seed % 3 == 0:
        kernel[rng.integers(n), 0] = 0.0
        kernel /= kernel.sum(axis=1, keepdims=True)
    p = rng.dirichlet(np.ones(n) * rng.choice([0.3, 1.0, 5.0]))
    return rng, bl.Mechanism.from_matrix(kernel), kernel, p


def moved(q, p):
    return np.abs(q - p).sum() / 2


def kl(q, p):
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(q > 0, q * np.log(q / p), 0.0).sum())


def chi(q, p):
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where((q > 0) | (p > 0), (q - p) ** 2 / p, 0.0).sum())


BALLS = {
    "tv": (lambda p, r: bl.priors.tv_ball(p, r), lambda q, p: moved(q, p)),
    "l1": (lambda p, r: bl.priors.l1_ball(p, r), lambda q, p: 2 * moved(q, p)),
    "kl to": (lambda p, r: bl.priors.kl_ball(p, r, direction="to_centre"), kl),
    "kl from": (
        lambda p, r: bl.priors.kl_ball(p, r, direction="from_centre"),
        lambda q, p: kl(p, q),
    ),
    "chi to": (lambda p, r: bl.priors.chi_square_ball(p, r, direction="to_centre"), chi),
    "chi from": (
        lambda p, r: bl.priors.chi_square_ball(p, r, direction="from_centre"),
        lambda q, p: chi(p, q),
    ),
    "contamination": (
        lambda p, r: bl.priors.contamination(p, r),
        lambda q, p: float((1 - q / p).max()),
    ),
}


def largest_in(kernel, q):
    """PML and PMC of each outcome, in plain NumPy."""
    on = q > 0
    level = q @ kernel
    with np.errstate(divide="ignore"):
        return np.log(kernel[on].max(axis=0) / level), np.log(level / kernel[on].min(axis=0))


# -- soundness and tightness ----------------------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.parametrize("name", BALLS)
@pytest.mark.parametrize("seed", range(12))
def test_no_member_of_a_ball_leaks_more(name, seed):
    make, distance = BALLS[name]
    rng, mech, kernel, p = drawn(seed, zeros=True)
    radius = float(rng.choice([0.01, 0.1, 0.4]))
    joint = make(bl.pmf(p), radius) * mech
    found = {kind: f(joint)(list(range(M))) for kind, f in (("pml", bl.pml), ("pmc", bl.pmc))}
    best = np.zeros((2, M))
    for _ in range(400):
        other = rng.dirichlet(np.ones(N) * rng.choice([0.05, 0.3, 3.0]))
        low, high = 0.0, 1.0
        for _ in range(40):  # towards another prior, as far as the ball goes
            s = (low + high) / 2
            inside = distance((1 - s) * p + s * other, p) <= radius
            low, high = (s, high) if inside else (low, s)
        q = (1 - low) * p + low * other
        best = np.maximum(best, np.array(largest_in(kernel, q)))
    for k, kind in enumerate(("pml", "pmc")):
        assert (best[k] <= found[kind].upper.values + 1e-12).all()
        # some of 400 members come near the supremum: it is not a loose bound
        finite = np.isfinite(found[kind].upper.values)
        assert (found[kind].lower.values[~finite] == np.inf).all()
        assert (best[k] >= found[kind].lower.values * 0.5 - 0.05)[finite].all()
        assert (found[kind].upper.values[finite] - found[kind].lower.values[finite]).max(
            initial=0.0
        ) <= 1e-9


@pytest.mark.few(10)
@pytest.mark.parametrize("name", BALLS)
@pytest.mark.parametrize("seed", range(20))
def test_the_worst_prior_is_in_the_ball_and_reaches_the_supremum(name, seed):
    make, distance = BALLS[name]
    rng, mech, kernel, p = drawn(100 + seed)
    radius = float(rng.choice([0.02, 0.2, 0.6]))
    prior_set = make(bl.pmf(p), radius)
    for kind, of in ((0, bl.pml), (1, bl.pmc)):
        found = of(prior_set * mech).sup()
        q = np.asarray(found.witness["prior"].probabilities, float)
        assert distance(q, p) <= radius + 1e-9
        assert prior_set.contains(found.witness["prior"])
        row = found.witness["x"]
        column = found.witness["y"]
        # with a little mass on the secret that tells most, the supremum is approached
        level = q @ kernel[:, column]
        best = np.log(kernel[row, column] / level) * (1 if kind == 0 else -1)
        assert abs(best - found.lower) <= 1e-9
        if found.attained:
            assert abs(largest_in(kernel, q)[kind][column] - found.lower) <= 1e-9
        if found.attained is False:
            assert q[row] <= 1e-12


@pytest.mark.few(17)
@pytest.mark.parametrize("seed", range(40))
def test_balls_of_total_variation_against_linear_programs(seed):
    rng, mech, kernel, p = drawn(200 + seed, n=6, m=4)
    radius = rng.random() ** 2
    eye, zero = np.eye(6), np.zeros(6)
    rows = np.vstack([np.hstack([eye, -eye]), np.hstack([-eye, -eye]), [*zero, *np.ones(6)]])
    ends = [*p, *-p, 2 * radius]
    for prior_set in (
        bl.priors.tv_ball(bl.pmf(p), radius),
        bl.priors.l1_ball(bl.pmf(p), 2 * radius),
    ):
        found = bl.pml(prior_set * mech)(list(range(4)))
        for y in range(4):
            program = linprog(
                [*kernel[:, y], *zero],
                A_ub=rows,
                b_ub=ends,
                A_eq=[[*np.ones(6), *zero]],
                b_eq=[1],
                options={"primal_feasibility_tolerance": 1e-10},
            )
            truth = np.log(kernel[:, y].max() / program.fun)
            assert abs(found.upper.values[y] - truth) <= 1e-12 * max(1, 1 / program.fun)


@pytest.mark.parametrize("seed", range(30))
def test_boxes_against_linear_programs(seed):
    rng, mech, kernel, p = drawn(300 + seed, n=5)
    low, high = p * rng.random(5), p + (1 - p) * rng.random(5) ** 2
    found = bl.pmc(bl.priors.box(low, high) * mech)(list(range(M)))
    for y in range(M):
        program = linprog(
            -kernel[:, y], A_eq=[np.ones(5)], b_eq=[1], bounds=list(zip(low, high, strict=True))
        )
        truth = np.log(-program.fun / kernel[:, y].min())
        assert abs(found.lower.values[y] - truth) <= 1e-11


@pytest.mark.truths
@pytest.mark.parametrize("seed", range(10))
def test_polytopes_moments_and_intersections_are_enclosed(seed):
    rng, mech, kernel, p = drawn(400 + seed)
    p = 0.7 * p + 0.3 / N
    rows, scores = rng.normal(size=(3, N)), rng.normal(size=N)
    ends = rows @ p + 0.05 * rng.random(3)
    mean = float(scores @ p)
    cases = [
        (bl.priors.polytope(rows, ends, on=FOUR), dict(A_ub=rows, b_ub=ends)),
        (
            bl.priors.moment(scores, lower=mean - 0.01, upper=mean + 0.02, on=FOUR),
            dict(A_ub=[scores, -scores], b_ub=[mean + 0.02, 0.01 - mean]),
        ),
        (
            bl.priors.interior(0.05, FOUR) & bl.priors.polytope(rows, ends, on=FOUR),
            dict(A_ub=[*rows, *-np.eye(N)], b_ub=[*ends, *[-0.05] * N]),
        ),
    ]
    for prior_set, program in cases:
        for y in range(M):
            f = kernel[:, y]
            truth = linprog(f, A_eq=[np.ones(N)], b_eq=[1], **program).fun
            found = prior_set.lower(f)
            assert found.status == "certified"
            assert found.lower - 1e-8 <= truth <= found.upper + 1e-8  # HiGHS's own tolerance
            assert found.width <= 1e-11
            member = np.asarray(found.witness["prior"].probabilities, float)
            assert (
                np.asarray(program["A_ub"]) @ member <= np.asarray(program["b_ub"]) + 1e-12
            ).all()
        for member in prior_set.members(20, rng):
            assert prior_set.contains(member)
            assert bl.pml(member * mech).sup().lower <= bl.pml(prior_set * mech).sup().upper


# -- truths at 40 digits --------------------------------------------------------------------------


def bits(f):
    return lambda q, p: f(q, p) + f(1 - q, 1 - p)


TRUTHS = {
    "kl to": bits(lambda q, p: q * mpmath.log(q / p)),
    "kl from": bits(lambda q, p: p * mpmath.log(p / q)),
    "chi to": bits(lambda q, p: (q - p) ** 2 / p),
    "chi from": bits(lambda q, p: (q - p) ** 2 / q),
}


@pytest.mark.few(11)
@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize(("p", "r"), [(F(1, 2), F(1, 8)), (F(1, 8), F(1, 64)), (F(3, 4), F(1, 4))])
def test_balls_of_a_bit_hold_the_root_at_40_digits(name, p, r):
    exact_p, exact_r = (
        mpmath.mpf(p.numerator) / p.denominator,
        mpmath.mpf(r.numerator) / r.denominator,
    )
    low, high = exact_p * mpmath.mpf(10) ** -30, exact_p
    assert TRUTHS[name](low, exact_p) > exact_r  # the root lies between
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if TRUTHS[name](middle, exact_p) > exact_r else (low, middle)
    found = BALLS[name][0](bl.pmf([1 - p, p]), r).lower([0.0, 1.0])
    assert found.lower <= high and low <= found.upper
    assert found.width <= 1e-12


def test_a_divergence_ball_wide_enough_rests_on_the_least_value():
    p = bl.pmf([F(1, 2), F(1, 4), F(1, 4)])
    v = [1.0, 0.0, 2.0]
    chi_square = lambda r: bl.priors.chi_square_ball(p, r, direction="to_centre")  # noqa: E731
    kl_ball = lambda r: bl.priors.kl_ball(p, r, direction="to_centre")  # noqa: E731
    assert chi_square(3.01).lower(v).upper == 0.0  # chi2 of a point of mass 1/4 is 3
    assert chi_square(2.99).lower(v).lower > 0.0
    assert kl_ball(1.4).lower(v).upper == 0.0  # KL of it is log 4 = 1.386
    assert kl_ball(1.38).lower(v).lower > 0.0
    assert kl_ball(0).lower(v).upper <= 1.0 + 1e-15


# -- Fractions ------------------------------------------------------------------------------------


@pytest.mark.few(13)
@pytest.mark.parametrize("seed", range(60))
def test_fractions_are_exact_and_agree_with_floats(seed):
    rng = np.random.default_rng(seed)
    whole = rng.integers(0, 9, size=(N, M)) + (rng.random((N, M)) < 0.8)
    whole[:, 0] += 1
    kernel = [[F(int(v), int(row.sum())) for v in row] for row in whole]
    weights = rng.integers(1, 9, size=N)
    p = [F(int(w), int(weights.sum())) for w in weights]
    r = F(int(rng.integers(0, 10)), 10)
    exact = bl.Mechanism.from_matrix(kernel)
    floats = bl.Mechanism.from_matrix([[float(v) for v in row] for row in kernel])
    centre = bl.pmf(p)
    low = [v * r for v in p]
    for make in (
        lambda q: bl.priors.tv_ball(q, r),
        lambda q: bl.priors.contamination(q, r),
        lambda q: bl.priors.hull([q, bl.pmf([F(1, N)] * N)]),
        lambda q: bl.priors.full_support(FOUR),
        lambda q: bl.priors.interior(r / N, FOUR),
        lambda q: bl.priors.box(low, [v + (1 - v) * r for v in p], on=FOUR),
    ):
        for of in (bl.pml, bl.pmc):
            a, b = (
                of(make(centre) * exact).sup(),
                of(make(bl.pmf([float(v) for v in p])) * floats).sup(),
            )
            assert b.lower <= a.upper and a.lower <= b.upper
            if np.isfinite(a.upper):
                assert a.ratio.lower == a.ratio.upper and isinstance(a.ratio.lower, F)
                prior = a.witness["prior"].probabilities
                column = [row[a.witness["y"]] for row in kernel]
                level = sum(q * k for q, k in zip(prior, column, strict=True))
                told = column[a.witness["x"]]
                assert a.ratio.lower == (told / level if of is bl.pml else level / told)


@pytest.mark.parametrize("seed", range(30))
def test_the_interior_goes_from_one_prior_to_ldp(seed):
    """peers, result 3: log max K / (c sum K + (1 - n c) min K)."""
    rng, mech, kernel, _ = drawn(500 + seed)
    c = rng.random() / N
    truth = np.log(
        kernel.max(axis=0) / (c * kernel.sum(axis=0) + (1 - N * c) * kernel.min(axis=0))
    ).max()
    assert abs(bl.pml(bl.priors.interior(c, FOUR) * mech).sup().value - truth) <= 1e-12
    uniform = bl.pmf([F(1, N)] * N)
    point = bl.pml(bl.priors.interior(F(1, N), FOUR) * mech).sup()
    alone = bl.pml(uniform * mech).sup()
    assert point.lower <= alone.upper and alone.lower <= point.upper
    wide = bl.pml(bl.priors.full_support(FOUR) * mech).sup()
    capacity = bl.leakage_capacity(mech)
    assert wide.lower <= capacity.upper and capacity.lower <= wide.upper
    assert wide.attained is False
    cost = bl.pmc(bl.priors.full_support(FOUR) * mech).sup()
    assert cost.lower <= capacity.upper and capacity.lower <= cost.upper


def test_ldp_lip_and_maximal_leakage_over_a_set():
    mech = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    joint = bl.priors.tv_ball(bl.pmf([F(1, 2), F(1, 2)]), F(1, 4)) * mech
    assert bl.ldp(joint).ratio.lower == 3
    assert bl.maximal_leakage(joint).ratio.lower == F(3, 2)
    assert bl.pml(joint).sup().ratio.lower == F(3, 4) / F(3, 8)
    assert bl.pmc(joint).sup().ratio.lower == F(5, 8) / F(1, 4)
    assert bl.lip(joint).ratio.lower == F(5, 2)
    assert bl.alip(joint).upper.ratio.lower == 2
    assert joint.satisfies(bl.guarantees.PML(np.log(2) + 1e-9)).holds
    assert joint.satisfies(bl.guarantees.PML(0.6)).holds is False
    with pytest.raises(bl.NotYet):
        bl.min_entropy_leakage(joint)
    with pytest.raises(bl.NotYet):
        bl.pml(joint).tail(0.1)


def test_zeros_in_the_kernel_prove_infinities_only_where_a_member_may_reach():
    mech = bl.Mechanism.from_matrix([[F(1), F(0)], [F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)]])
    bit = bl.pmf([F(0), F(1, 2), F(1, 2)])
    inside = bl.priors.kl_ball(bit, F(1, 4), direction="to_centre") * mech
    assert np.isfinite(bl.pmc(inside).sup().upper)
    beyond = bl.priors.kl_ball(bit, F(1, 4), direction="from_centre") * mech
    assert bl.pmc(beyond).sup().lower == np.inf
    assert bl.pmc(bl.priors.tv_ball(bit, 0) * mech).sup().upper < np.inf
    assert bl.pmc(bl.priors.tv_ball(bit, F(1, 100)) * mech).sup().lower == np.inf
    all_ = bl.priors.full_support(bl.Finite(3)) * mech
    assert bl.pml(all_).sup().lower == np.inf
    never = bl.priors.box([0, 0, 0], [0, 1, 1]) * mech
    assert bl.pmc(never).sup().ratio.lower == 2  # outcome 0: 1/2 over 1/4


# -- combinations ---------------------------------------------------------------------------------


def test_a_union_takes_the_worst_and_an_intersection_is_bounded_by_each():
    _, mech, _, p = drawn(7)
    first = bl.priors.tv_ball(bl.pmf(p), 0.1)
    second = bl.priors.kl_ball(bl.pmf([0.25] * 4), 0.05, direction="to_centre")
    a, b = (bl.pml(s * mech).sup() for s in (first, second))
    both = bl.pml((first | second) * mech).sup()
    assert both.lower <= max(a.upper, b.upper) and max(a.lower, b.lower) <= both.upper
    inner = bl.pml((first & second) * mech)(list(range(M)))
    apart = [bl.pml(s * mech)(list(range(M))) for s in (first, second)]
    for part in apart:
        assert (inner.upper.values <= part.upper.values + 1e-12).all()


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(6))
def test_products_of_independent_coordinates(seed):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(3))
    factors = [bl.priors.tv_ball(bl.pmf(p), 0.2), bl.priors.contamination(bl.pmf(q), 0.3)]
    both = bl.priors.product(factors)
    kernel = rng.dirichlet(np.ones(2), size=6)
    mech = bl.Mechanism.from_matrix(kernel, secret=both.on)
    found = bl.pml(both * mech)([0, 1])
    best = np.zeros(2)
    for _ in range(3000):
        a = p[0] + 0.2 * rng.choice([-1, 1, rng.uniform(-1, 1)])
        a = np.clip(a, 0, 1)
        b = 0.7 * q + 0.3 * rng.dirichlet(np.ones(3) * 0.1)
        law = np.outer([a, 1 - a], b).ravel()
        with np.errstate(divide="ignore"):
            best = np.maximum(best, np.log(kernel.max(axis=0) / (law @ kernel)))
    assert (best <= found.upper.values + 1e-12).all()
    assert (found.lower.values <= found.upper.values).all()
    assert (best >= found.lower.values - 0.05).all()
    assert all(both.contains(m) for m in both.members(5, 1))


# -- learnt from counts ---------------------------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.parametrize("method", ["l1", "kl", "box"])
def test_sets_from_counts_hold_the_truth_as_often_as_they_say(method):
    rng = np.random.default_rng(3)
    truth = np.array([0.5, 0.3, 0.15, 0.05])
    prior = bl.pmf(truth)
    held = 0
    for _ in range(300):
        counts = rng.multinomial(60, truth)
        held += bl.priors.from_counts(counts, confidence=0.9, method=method).contains(prior, tol=0)
    assert held >= 270 - 16  # three standard deviations below 0.9 of 300


def test_sets_from_counts_say_what_they_rest_on():
    known = bl.priors.from_counts({"a": 30, "b": 70, "c": 0}, confidence=0.95)
    assert known.on == bl.Finite(["a", "b", "c"])
    mech = bl.mechanisms.randomized_response(secret=known.on, epsilon=1.0)
    found = bl.pml(known * mech).sup()
    assert found.status == "statistical" and found.confidence == 0.95
    assert "Weissman" in found.assumptions[0] and "100 independent draws" in found.assumptions[0]
    assert (found <= 5.0).at(confidence=0.9).holds
    # (2^3 - 2) exp(-m e^2 / 2) = 1 - 0.95
    radius = np.sqrt(2 * np.log(6 / 0.05) / 100)
    assert abs(float(known.size) - radius / 2) <= 1e-12
    assert float(known.size) >= radius / 2 - 1e-16


# -- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: bl.priors.tv_ball([0.5, 0.5], 0.1),
        lambda: bl.priors.tv_ball(bl.pmf([0.5, 0.5]), -0.1),
        lambda: bl.priors.tv_ball(bl.pmf([0.5, 0.5]), float("nan")),
        lambda: bl.priors.tv_ball(bl.pmf([0.5, 0.5]), "0.1"),
        lambda: bl.priors.kl_ball(bl.pmf([0.5, 0.5]), 0.1, direction="forward"),
        lambda: bl.priors.interior(0.6, bl.Finite(2)),
        lambda: bl.priors.box([0.6, 0.6], [1, 1]),
        lambda: bl.priors.box([0.5, 0.1], [0.4, 1]),
        lambda: bl.priors.box([0.1], [0.2, 0.3]),
        lambda: bl.priors.polytope([[1, 0]], [-1], on=bl.Finite(2)),
        lambda: bl.priors.polytope([[1, 0, 0]], [1], on=bl.Finite(2)),
        lambda: bl.priors.moment(lambda x: x, on=bl.Finite(2)),
        lambda: bl.priors.hull([]),
        lambda: bl.priors.bernoulli(0.7, 0.2),
        lambda: bl.priors.from_counts([1.5, 2], confidence=0.9),
        lambda: bl.priors.from_counts([1, 2], confidence=1.0),
        lambda: bl.priors.from_counts([0, 0], confidence=0.9),
        lambda: bl.priors.full_support("abc"),
        lambda: bl.priors.tv_ball(bl.pmf([0.5, 0.5]), 0.1).lower([1, 2, 3]),
        lambda: (
            bl.priors.tv_ball(bl.pmf([0.5, 0.5]), 0.1)
            * bl.Mechanism.from_matrix([[1.0], [1.0], [1.0]], secret=bl.Finite(["a", "b", "c"]))
        ),
    ],
)
def test_nonsense_is_refused_with_a_word_on_what_was_expected(make):
    with pytest.raises(bl.InvalidInput, match="expected"):
        make()


# -- parts, corners and parameters with different supports ----------------------------------------


def channel(*rows):
    return bl.Mechanism.from_matrix([[F(v) for v in row] for row in rows])


def test_a_union_of_certain_priors_leaks_nothing():
    mech = channel((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)))
    points = [bl.pmf([F(1), F(0)]), bl.pmf([F(0), F(1)])]
    apart = bl.priors.hull(points[:1]) | bl.priors.hull(points[1:])
    family = bl.priors.family(lambda k: points[k], bl.Finite([0, 1]))
    for prior_set in (apart, family):
        joint = prior_set * mech
        for found in (bl.pml(joint).sup(), bl.pmc(joint).sup(), bl.ldp(joint), bl.lip(joint)):
            assert found.lower == found.upper == 0.0
        assert bl.maximal_leakage(joint).upper == 0.0
        assert joint.satisfies(bl.guarantees.PML(0.1)).holds
    assert bl.pml(bl.priors.hull(points) * mech).sup().ratio.lower == 3  # mixtures are members


def test_a_union_of_sets_on_different_secrets_takes_the_larger_figure():
    kernel = channel((F(9, 10), F(1, 10)), (F(1, 2), F(1, 2)), (F(1, 10), F(9, 10)))
    parts = [
        bl.priors.tv_ball(bl.pmf([F(1, 2), F(1, 2), F(0)]), 0),
        bl.priors.tv_ball(bl.pmf([F(0), F(1, 2), F(1, 2)]), 0),
    ]
    found = bl.pml((parts[0] | parts[1]) * kernel).sup()
    each = [bl.pml(p * kernel).sup().ratio.lower for p in parts]
    assert found.ratio.lower == max(each) == F(5, 3)  # 1/2 over (1/2 + 1/10) / 2
    noise = bl.mechanisms.laplace(b=1.0, secret=bl.Finite([0.0, 1.0, 2.0]))
    on = noise.secret
    ends = [bl.priors.hull([bl.pmf(p, on=on)]) for p in ([1, 0, 0], [0, 0, 1])]
    assert bl.pml((ends[0] | ends[1]) * noise).sup().upper <= 1e-12


def test_a_family_that_touches_the_boundary():
    """Hardy-Weinberg: all secrets stay possible as p goes to 0 or to 1, and 7 is approached."""
    family = bl.priors.family(
        lambda p: bl.pmf([(1 - p) ** 2, 2 * p * (1 - p), p**2]), bl.Interval(0, 1)
    )
    joint = family * bl.Mechanism.from_matrix([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]])
    found = [bl.pml(joint).sup(), bl.pmc(joint).sup(), bl.pml(joint)(0), bl.pml(joint)(2)]
    for bound, truth in [(b, mpmath.log(7)) for b in (*found, bl.ldp(joint))] + [
        (bl.pml(joint)(1), mpmath.log(3))
    ]:
        assert bound.status == "certified" and bound.width <= 1e-13
        assert bound.lower <= truth <= bound.upper
    # a probability that is 0 on a part of the thetas is no polynomial, and none that stays 0 counts
    kinked = bl.priors.family(
        lambda p: bl.pmf([1 - p - np.maximum(p - 1, 0), p, np.maximum(p - 1, 0)]),
        bl.Interval(0.25, 0.75),
    )
    assert bl.ldp(kinked * joint.mechanism).upper <= mpmath.log(3.5) + 1e-12


def test_a_family_charges_only_what_its_members_do():
    mech = channel((F(1, 2), F(1, 2)), (F(2, 5), F(3, 5)), (F(1, 10), F(9, 10)))
    family = bl.priors.family(lambda t: bl.pmf([t, 1 - t, 0 * t]), bl.Interval(0.2, 0.4))
    two = bl.priors.family(lambda t: bl.pmf([t, 1 - t]), bl.Interval(0.2, 0.4))
    small = channel((F(1, 2), F(1, 2)), (F(2, 5), F(3, 5)))
    for of in (bl.pml, bl.pmc):
        a, b = of(family * mech).sup(), of(two * small).sup()
        assert a.lower <= b.upper and b.lower <= a.upper and a.width <= 1e-8
    # a label that is charged for some theta only bounds from above, and proves nothing from below
    some = bl.priors.family(
        lambda t: bl.pmf([np.maximum(t - 0.5, 0), 0.5 * t, 1 - np.maximum(t - 0.5, 0) - 0.5 * t]),
        bl.Interval(0.2, 0.4),
    )
    assert bl.pmc(some * mech).sup().lower <= np.log(0.9) - np.log(0.5) + 1e-9


def test_what_is_known_in_float64_only_stays_an_estimate_in_every_set():
    table = {0: 0.75, 1: 0.25}
    opaque = bl.Measure(lambda x: np.vectorize(lambda t: table[int(t)])(x), bl.Finite(2))
    mech = channel((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)))
    good = bl.priors.interior(F(1, 8), bl.Finite(2))
    for prior_set in (
        bl.priors.hull([opaque]),
        bl.priors.hull([opaque]) | good,
        bl.priors.tv_ball(opaque, 0.1) & good,
    ):
        found = bl.pml(prior_set * mech).sup()
        assert found.status in ("estimate", "undecided")
        assert joint_verdict(prior_set * mech).bound.status == "certified", "LDP proves it"


def joint_verdict(joint):
    return joint.satisfies(bl.guarantees.PML(2.0))


def test_the_worst_prior_of_a_ball_that_reaches_beyond_its_centre():
    """All of the mass that the tilt leaves goes to the least value, which the centre lacks."""
    centre = bl.pmf([F(0), F(1, 2), F(1, 2)])
    for make, distance in (
        (bl.priors.kl_ball, lambda q, p: kl(p, q)),
        (bl.priors.chi_square_ball, lambda q, p: float(np.sum(p[1:] ** 2 / q[1:]) - 1)),
    ):
        found = make(centre, 0.3, direction="from_centre").lower([0.0, 1.0, 1.0])
        q = np.asarray(found.witness["prior"].probabilities, float)
        assert abs(q[1] + q[2] - found.lower) <= 1e-9
        assert distance(q, np.array([0.0, 0.5, 0.5])) <= 0.3 + 1e-9


def test_attained_says_no_more_than_is_so():
    close = F(1, 10**20)
    mech = channel((F(1, 2) + close, F(1, 2) - close), (F(1, 2), F(1, 2)))
    assert bl.pml(bl.priors.full_support(bl.Finite(2)) * mech).sup().attained is not True
    rare = bl.priors.contamination(bl.pmf([F(10**13 - 1, 10**13), F(1, 10**13)]), F(1, 2))
    assert bl.pml(rare * channel((F(1, 4), F(3, 4)), (F(3, 4), F(1, 4))))(0).attained is True


EVEN = bl.pmf([F(1, 2), F(1, 2)])
RANGES = {
    "tv_ball": (lambda r: bl.priors.tv_ball(EVEN, r), 1),
    "l1_ball": (lambda r: bl.priors.l1_ball(EVEN, r), 2),
    "contamination": (lambda r: bl.priors.contamination(EVEN, r), 1),
    "interior": (lambda r: bl.priors.interior(r, on=bl.Finite(2)), F(1, 2)),
    "kl_ball": (lambda r: bl.priors.kl_ball(EVEN, r, direction="to_centre"), None),
    "chi_square_ball": (lambda r: bl.priors.chi_square_ball(EVEN, r, direction="to_centre"), None),
    "bernoulli": (lambda r: bl.priors.bernoulli(0, r), 1),
}


@pytest.mark.parametrize("name", RANGES)
def test_radii_and_weights_beyond_their_range(name):
    make, most = RANGES[name]
    for wrong in (-1, -0.1, -F(1, 10**30), float("nan"), float("inf"), "0.1", None, True, [0.1]):
        with pytest.raises(bl.InvalidInput, match=f"bl.priors.{name}"):
            make(wrong)
    for beyond in () if most is None else (most + F(1, 10**30), math.nextafter(most, 9), 5):
        with pytest.raises(bl.InvalidInput, match=f"<= {most}, finite"):
            make(beyond)
    for fits in (0, most or 7, np.float32(0.25), np.int64(0), np.longdouble(0.25)):
        assert make(fits).upper([0, 1]).upper <= 1


def test_limits_that_no_float_holds_or_that_limit_nothing():
    line, two = bl.Interval(0, 1), bl.Finite(2)
    large = F(10**400)
    for make in (
        lambda: bl.priors.box(0, large, on=two),
        lambda: bl.priors.moment([0, 1], upper=large, on=two),
        lambda: bl.priors.polytope([[large, 1]], [1], on=two),
        lambda: bl.priors.from_counts([float("inf"), 4], confidence=0.9),
        lambda: bl.priors.moment([0, 1], on=two),
        lambda: bl.priors.moment(lambda x: x, on=line),
        lambda: bl.priors.moment(lambda x: x, upper=-np.inf, on=line),
        lambda: bl.priors.moment(lambda x: x, upper=np.inf, on=line),
    ):
        with pytest.raises(bl.InvalidInput):
            make()


def test_a_label_that_was_never_drawn_is_counted_or_refused():
    secrets = bl.Finite(["n", "m", "s"])
    rows = [[0.98, 0.01, 0.01], [0.98, 0.01, 0.01], [0.3, 0.35, 0.35]]
    mech = bl.Mechanism.from_matrix(rows, secret=secrets)
    drawn = {"n": 300, "m": 20}
    with pytest.raises(bl.InvalidInput, match=r"never drawn: from_counts\(\{\.\.\., 's': 0\}"):
        bl.priors.from_counts(drawn, confidence=0.95) * mech
    known = bl.priors.from_counts({**drawn, "s": 0}, confidence=0.95)
    assert bl.pml(known * mech).sup().lower > 3
    for of in (lambda s: s | s, lambda s: s & s):
        with pytest.raises(bl.InvalidInput, match="never drawn"):
            of(bl.priors.from_counts(drawn, confidence=0.95)) * mech
    # who says what the letters are says that there are no others
    stated = bl.priors.from_counts(drawn, confidence=0.95, on=bl.Finite(["n", "m"]))
    assert bl.pml(stated * mech).sup().upper < 1e-9
    # no sample: who writes a prior says that the others are impossible
    assert bl.pml(bl.pmf([0.5, 0.5], on=bl.Finite(["n", "m"])) * mech).sup().upper < 1e-9


def test_a_counted_set_speaks_of_the_true_prior():
    """With p the least mass of a letter, PML of the identity is log 1/p, and p is not known."""
    counted = bl.priors.from_counts([30, 70], confidence=0.95, method="box")
    joint = counted * bl.Mechanism.from_matrix([[F(1), F(0)], [F(0), F(1)]])
    sup = bl.pml(joint).sup()
    truth = math.log(1 / 0.3)
    assert 0 < truth < sup.lower  # the supremum over the set is no bound from below
    assert sup.truth_ends == ("upper",)
    for failing in (sup <= truth, sup < truth, sup >= truth, sup > truth, -sup >= -truth):
        answer = failing.at(confidence=0.95)
        assert answer.holds is None and "not proved for the true prior" in answer.reason
    above = math.nextafter(sup.upper, math.inf)
    for holding in (sup <= above, sup < above, -sup >= -above, sup - 1 < above - 0.5):
        assert holding.holds is None and holding.at(confidence=0.95).holds is True
    assert (sup > above).at(confidence=0.95).holds is False
    assert (sup - sup).truth_ends == ()
    mean = counted.lower([0.0, 1.0])  # the truth may be more
    assert mean.truth_ends == ("lower",) and (mean >= 0.1).at(confidence=0.95).holds
    assert (mean <= 0.65).at(confidence=0.95).holds is None
    assert joint.satisfies(bl.guarantees.PML(truth)).at(confidence=0.95).holds is None
    left = bl.min_entropy(counted)  # the least over the set: the truth may be more
    assert (left >= left.lower).at(confidence=0.95).holds
    assert (left < left.upper + 1e-3).at(confidence=0.95).holds is None


@pytest.mark.parametrize("outcome", ["finite", "line"])
def test_ldp_over_a_counted_set_needs_no_confidence(outcome):
    counted = bl.priors.from_counts([30, 70], confidence=0.95)
    mech = bl.mechanisms.randomized_response(k=2, epsilon=1.0)
    if outcome == "line":
        mech = bl.mechanisms.laplace(b=1.0, secret=bl.Finite([0, 1]))
    found = bl.ldp(counted * mech)
    assert found.proved and found.confidence is None and not found.assumptions[2:]
    assert (
        found.assumptions[-1] == "every secret was drawn, so that the true prior charges all"
        " of them"
    )
    assert found.lower <= 1 <= found.upper
    assert not any("sample" in note for note in found.assumptions)
    assert (counted * mech).satisfies(bl.guarantees.LDP(0.9)).holds is False


@pytest.mark.parametrize("method", ["l1", "kl", "box"])
@pytest.mark.parametrize("outcome", ["finite", "line"])
def test_ldp_over_a_counted_set_where_a_secret_was_never_drawn(method, outcome):
    """The true prior may not charge it: then nothing is told, and no level fails."""
    on = bl.Finite([0, 1, 2])
    mech = bl.mechanisms.laplace(b=1.0, secret=on)
    if outcome == "finite":
        half, rest = [F(1, 2), F(1, 2)], [F(1, 10), F(9, 10)]
        mech = bl.Mechanism.from_matrix([half, half, rest], secret=on)
    true = bl.ldp(bl.pmf([F(1, 2), F(1, 2), F(0)], on=on) * mech)
    for counted in (
        bl.priors.from_counts([30, 70, 0], confidence=0.95, on=on, method=method),
        bl.priors.from_counts([30, 70, 0], confidence=0.95, on=on, method=method)
        | bl.priors.from_counts([3, 7, 9], confidence=0.95, on=on, method=method),
    ):
        found = bl.ldp(counted * mech)
        assert true.upper < 1.5 < found.upper and found.truth_ends == ("upper",)
        assert (found <= 1.5).at(confidence=0.95).holds is None
        assert (found <= 2.1).at(confidence=0.95).holds is True
    drawn = bl.priors.from_counts([30, 70, 1], confidence=0.95, on=on, method=method)
    assert (bl.ldp(drawn * mech) <= 1.5).holds is False


@pytest.mark.parametrize("levels", [(1.5, 2.0), (2.5, 1.0), (2.5, 2.0), (0.5, 0.5)])
def test_both_sides_of_alip_are_asked_at_a_confidence(levels):
    """PMC over the set is 2.04, and PML 1.36: neither alone says that ALIP holds."""
    counted = bl.priors.from_counts([30, 70], confidence=0.95)
    joint = counted * bl.Mechanism.from_matrix([[F(9, 10), F(1, 10)], [F(1, 10), F(9, 10)]])
    held = all(b.upper <= level for b, level in zip(bl.alip(joint), levels, strict=True))
    assert held == (levels == (2.5, 2.0))
    answer = joint.satisfies(bl.guarantees.ALIP(*levels))
    assert answer.holds is None and answer.at(confidence=0.95).holds is (True if held else None)


def test_a_failure_over_a_posterior_refutes_nothing_that_is_only_implied():
    """PML fails for all draws; disclosure prevention and max-information hold for each."""
    g = bl.guarantees
    draws = np.random.default_rng(3).dirichlet([20, 30, 50], size=(4, 250))
    posterior = xr.Dataset(
        {"p": (("chain", "draw", "label"), draws)}, attrs={"borel_draws": "exact"}
    )
    learnt = bl.priors.from_posterior(
        xr.DataTree.from_dict({"posterior": posterior}), lambda draw: bl.pmf(draw["p"])
    )
    mech = bl.mechanisms.randomized_response(k=3, epsilon=1.0)
    for guarantee in (g.DisclosurePrevention(0.1), g.MaxInformation(0.1, delta=0.3)):
        assert (bl.pmf(draws[0, 0].tolist()) * mech).satisfies(guarantee).holds is True
        assert (learnt * mech).satisfies(guarantee).at(confidence=0.9).holds is None
    assert (learnt * mech).satisfies(g.PML(0.1)).at(confidence=0.9).holds is False
    assert (learnt * mech).satisfies(g.DisclosurePrevention(1.0)).at(confidence=0.9).holds is True
