"""Leakage envelopes: the draft's examples, other formulations of the programme, brute force."""

import math
from fractions import Fraction as F

import numpy as np
import oracles as o
import pytest
from scipy.optimize import linprog

import borel as bl

HALF = F(1, 2)
KINDS = pytest.mark.parametrize("kind", ["pml", "pmc"])
EX2 = (
    [F(1, 4)] * 4,
    [
        [F(0), F(0), HALF, HALF],
        [F(0), F(0), HALF, HALF],
        [F(0), F(1, 5), F(2, 5), F(2, 5)],
        [F(1, 5), F(0), F(2, 5), F(2, 5)],
    ],
)
EX4 = [HALF, HALF], [[F(9, 10), F(0), F(1, 10)], [F(0), F(9, 10), F(1, 10)]]


def joint(p, K):
    return bl.pmf(p) * bl.Mechanism.from_matrix(K)


def floats(law):
    p, K = law
    return [float(v) for v in p], [[float(v) for v in row] for row in K]


def is_exactly(found, value):
    """Return whether a probability is an exact one: the floats next to a Fraction."""
    ends = found.lower, found.upper
    return found.status == "exact" and ends[0] <= value <= ends[1] <= math.nextafter(ends[0], 2)


def draw(rng, n, m, zeros=0.0):
    """Return a joint in floats, some entries 0."""
    K = rng.dirichlet(np.full(m, 0.7), size=n)
    K *= rng.random((n, m)) >= zeros
    K[:, 0] += K.sum(axis=1) == 0
    K /= K.sum(axis=1, keepdims=True)
    p = rng.dirichlet(np.ones(n))
    return p / p.sum(), K


def rational(rng, n, m, top=6):
    """Return a joint in Fractions with small denominators: ties and zeros abound."""
    K = rng.integers(0, top, (n, m))
    K[:, 0] += K.sum(axis=1) == 0
    K = [[F(int(v), int(row.sum())) for v in row] for row in K]
    p = rng.integers(1, 4, n)
    return [F(int(v), int(p.sum())) for v in p], K


# -- oracles: the programme in other words, and the leakage of a given Z ---------------------------


def programme(kind, p, K, ratio):
    """delta_c(log ratio) by a dense programme over masses v, with the dual simplex's own zero."""
    p, K = np.asarray(p, float), np.asarray(K, float)
    q = p @ K
    K, q = K[:, q > 0], q[q > 0]
    n, m = K.shape
    r = K / q
    c = r - ratio if kind == "pml" else 1 - ratio * r
    shares = np.zeros((m, n * m))
    bad = np.zeros((n, n * m))
    for x in range(n):
        for y in range(m):
            shares[y, x * m + y] = 1
            bad[x, x * m + y] = -c[x, y]
    found = linprog(
        -np.ones(n * m),
        A_ub=np.vstack([shares, bad]),
        b_ub=np.concatenate([q, np.zeros(n)]),
        method="highs-ipm",
        options={"ipm_optimality_tolerance": 1e-11},
    )
    return -found.fun


def simplex(gain, law):
    """The largest sum of w q with sum_y w g >= 0 and sum_x w <= 1: Bland's rule, in Fractions."""
    n, m = len(gain), len(law)
    width = n * m
    rows = []
    for y in range(m):
        rows.append([F(j % m == y) for j in range(width)] + [F(i == y) for i in range(m + n)] + [1])
    for x in range(n):
        own = [-gain[x][j % m] if j // m == x else F(0) for j in range(width)]
        rows.append(own + [F(i == m + x) for i in range(m + n)] + [F(0)])
    cost = [-law[j % m] for j in range(width)] + [F(0)] * (m + n + 1)
    basis = list(range(width, width + m + n))
    while True:
        enter = next((j for j in range(width + m + n) if cost[j] < 0), None)
        if enter is None:
            return cost[-1]
        able = [r for r in range(m + n) if rows[r][enter] > 0]
        leave = min(able, key=lambda r: (rows[r][-1] / rows[r][enter], basis[r]))
        rows[leave] = [v / rows[leave][enter] for v in rows[leave]]
        for r in range(m + n):
            if r != leave and rows[r][enter]:
                times = rows[r][enter]
                rows[r] = [a - times * b for a, b in zip(rows[r], rows[leave], strict=True)]
        times = cost[enter]
        cost = [a - times * b for a, b in zip(cost, rows[leave], strict=True)]
        basis[leave] = enter


def exact_mass(kind, p, K, ratio):
    """delta_c(log ratio) by `simplex`."""
    q = o.marginal(p, K)
    live = [j for j, mass in enumerate(q) if mass]
    pairs = [[(row[j], q[j]) for j in live] for row in K]
    if kind == "pml":
        gain = [[k - ratio * mass for k, mass in row] for row in pairs]
    else:
        gain = [[mass - ratio * k for k, mass in row] for row in pairs]
    return simplex(gain, [q[j] for j in live])


def tail(kind, p, K, post, ratio, slack=0.0):
    """P{e^leakage >= ratio} of Z, straight from the definition, in floats."""
    p, K = np.asarray(p, float), np.asarray(K, float)
    rows = K @ np.asarray(post, float)
    q = p @ rows
    live = q > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        values = rows.max(axis=0) / q if kind == "pml" else q / rows.min(axis=0)
    return float(q[live & (values >= ratio * (1 - slack))].sum())


# -- the draft -----------------------------------------------------------------------------------


def test_example_2_in_fractions():
    env = bl.envelope(joint(*EX2))
    for delta, ratio in {
        F(0): F(4),
        F(1, 1000): F(4),
        F(1, 20): F(4),
        F(1, 10): F(4),
        F(1, 5): F(22, 9),
        F(2, 5): F(5, 3),
        F(1): F(6, 5),
    }.items():
        found = env(delta)
        assert (found.status, found.units) == ("exact", "nats")
        assert found.ratio == (ratio, ratio)
    assert is_exactly(env.delta(ratio=4), F(1, 10))
    assert env.delta(ratio=4, closed=False).upper == 0
    # merged as in the draft, every outcome leaks log 6/5, and nothing forces more
    assert is_exactly(env.delta(ratio=F(6, 5)), F(1))
    assert env.delta(ratio=F(6, 5) + F(1, 10**9)).upper < 1


def test_example_2_in_floats():
    env = bl.envelope(joint(*floats(EX2)))
    for delta, ratio in [(0.01, F(4)), (0.2, F(22, 9)), (0.4, F(5, 3)), (1, F(6, 5))]:
        found = env(delta)
        assert found.status == "certified" and found.width < 1e-12
        assert found.assumptions == bl.pml(env.joint).sup().assumptions
        assert abs(found.value - math.log(ratio)) < 1e-13


def test_the_identity_under_a_uniform_bit_is_flat():
    """Errata 4: (13) at delta = 0.9 is log 2, whatever Algorithm 1 gives."""
    env = bl.envelope(joint([HALF, HALF], [[F(1), F(0)], [F(0), F(1)]]))
    for delta in (F(1, 10), F(9, 10), F(1)):
        assert env(delta).ratio == (2, 2)
    assert math.isinf(bl.envelope(env.joint, of="pmc")(F(1)).lower)


def test_example_4():
    env = bl.envelope(joint(*EX4))
    assert env(F(9, 10)).ratio == (2, 2)
    # the third outcome must be shared: (0.9 + 0.05) / (0.45 + 0.05)
    assert env(F(1)).ratio == (F(19, 10), F(19, 10))
    cost = bl.envelope(env.joint, of="pmc")
    assert cost(F(9, 10)).lower == math.inf and cost(F(9, 10)).status == "exact"
    assert cost(F(1)).ratio == (10, 10), "0.5 against 0.05"
    assert is_exactly(cost.delta(ratio=math.inf), F(9, 10))
    assert cost.delta(math.inf, closed=False).upper == 0


def test_an_infinite_cost_is_proved_in_floats_too():
    cost = bl.envelope(joint(*floats(EX4)), of="pmc")
    assert cost(0.8).lower == math.inf and cost(0.8).status == "certified"
    assert cost(0.95).upper < math.inf


@pytest.mark.few(2)
@pytest.mark.parametrize("delta", [F(1, 100), HALF, F(99, 100)])
@pytest.mark.parametrize(("n", "m"), [(3, 7), (4, 4)])
def test_outcomes_that_are_nearly_impossible_cost_far_more_than_is_gained(n, m, delta):
    """Entries of PMC down to 1e-72, about which a solver with tolerances knows nothing."""
    places = [x * (m - 1) // (n - 1) for x in range(n)]
    K = [[F(1, 10 ** (2 * (x - y) ** 2)) for y in range(m)] for x in places]
    p, K = [F(1, n)] * n, [[v / sum(row) for v in row] for row in K]
    for given, mass in (((p, K), delta), (floats((p, K)), float(delta))):
        found = bl.envelope(joint(*given), of="pmc")(mass)
        low, high = (F(v) for v in found.ratio)
        assert exact_mass("pmc", p, K, low * (1 - F(1, 10**12))) >= delta
        assert exact_mass("pmc", p, K, high * (1 + F(1, 10**12))) < delta
        assert found.proved and found.width <= 1e-9


def test_a_basis_of_another_level_is_not_trusted():
    """Its weights may not be shares: then they are refused."""
    from borel.engine.envelopes.rational_programme import ExactProgramme

    p, K = EX2
    programme = ExactProgramme(1, K, o.marginal(p, K))
    refused = 0
    for there, here in ((F(3), F(13, 10)), (F(22, 9), F(6, 5)), (F(3, 2), F(39, 10))):
        weights = programme.floats.at(float(there)).weights
        gain = programme.gains(here)
        found = programme._basic_weights(weights, gain)
        refused += found is None
        if found is not None:
            assert all(sum(column) <= 1 for column in zip(*found, strict=True))
            rows = zip(found, gain, strict=True)
            assert all(sum(a * b for a, b in zip(*row, strict=True)) >= 0 for row in rows)
    assert refused


def extremal(p, e):
    """The draft's PML-extremal mechanism at e^epsilon = e."""
    k = len(p)
    return [[1 - e * (1 - p[i]) if i == j else e * p[j] for j in range(k)] for i in range(k)]


@pytest.mark.parametrize("p", [[F(1, 3)] * 3, [F(1, 5), F(3, 10), HALF], [F(1, 10)] * 10])
def test_extremal_mechanisms_are_flat(p):
    """Theorem 4."""
    e = (1 + 1 / (1 - min(p))) / 2
    for K in (extremal(p, e), [[float(v) for v in row] for row in extremal(p, e)]):
        env = bl.envelope(joint(p if K[0][0].__class__ is F else [float(v) for v in p], K))
        for delta in (F(1, 100), HALF, F(99, 100), F(1)):
            found = env(delta)
            assert abs(found.value - math.log(e)) < 1e-12 and found.width < 1e-12
            assert found.status != "exact" or found.ratio == (e, e)


def krr(k, alpha_over_beta):
    beta = 1 / (alpha_over_beta + k - 1)
    alpha = alpha_over_beta * beta
    return alpha, beta, [[alpha if i == j else beta for j in range(k)] for i in range(k)]


def theorem_5(p, alpha, beta, delta):
    """The lower bound of Theorem 5(iii) in Fractions, or None where its condition fails."""
    q = [beta + (alpha - beta) * v for v in p]
    if delta <= q[0]:
        return alpha / q[0]
    N = next(i for i in range(1, len(p) + 1) if sum(q[:i]) >= delta)
    theta = (delta - sum(q[: N - 1])) / q[N - 1]
    if p[N - 1] > (alpha * sum(p[: N - 1]) + beta) / ((N - 2) * alpha + beta):
        return None
    one = alpha * ((N - 2) * q[N - 2] - sum(q[: N - 2])) / (alpha * q[N - 1] - beta * q[N - 2])
    two = alpha * ((N - 1) * q[N - 1] - sum(q[: N - 1])) / (q[N - 1] * (alpha - beta))
    if q[N - 2] == q[N - 1]:
        return alpha / q[N - 1]
    if theta <= one:
        return alpha / q[N - 2]
    return ((N - 1) * alpha + theta * beta) / delta if theta <= two else alpha / q[N - 1]


def priors():
    four = [F(m, 10 * 12) for m in (7, 9, 11, 13) for _ in range(3)]
    yield [F(1, 3)] * 3
    yield [F(1, 10), F(1, 10), F(2, 10), F(3, 10), F(3, 10)]
    yield four
    rng = np.random.default_rng(5)
    for k in (2, 3, 4, 6):
        p = sorted(int(v) for v in rng.integers(5, 12, k))
        yield [F(v, sum(p)) for v in p]


@pytest.mark.few(3)
@pytest.mark.parametrize("p", list(priors()), ids=str)
def test_randomized_response_is_the_lower_bound_of_theorem_5(p):
    """Errata 11: exact wherever the condition on the prior holds; never below it."""
    alpha, beta, K = krr(len(p), F(272, 100))
    env = bl.envelope(joint(p, K))
    compared = 0
    for delta in (F(1, 50), F(1, 5), F(1, 3), HALF, F(7, 10), F(9, 10), F(97, 100), F(1)):
        found = env(delta)
        above = min(len(p) * alpha / delta, alpha / min(o.marginal(p, K)))  # (ii)
        assert found.upper <= math.log(above) + 1e-14
        bound = theorem_5(p, alpha, beta, delta)
        if bound is not None:
            compared += 1
            assert found.ratio == (bound, bound), (delta, found)
    assert compared >= 4


# -- another formulation, brute force, and the witness ---------------------------------------------


@pytest.mark.truths
@KINDS
@pytest.mark.parametrize("zeros", [0.0, 0.3])
def test_another_formulation_of_the_programme_agrees(kind, zeros):
    rng = np.random.default_rng(7)
    for _ in range(60):
        n, m = (int(v) for v in rng.integers(2, 7, 2))
        p, K = draw(rng, n, m, zeros)
        env = bl.envelope(joint(p, K), of=kind)
        for ratio in (1.05, 1.3, 2.0, 4.0):
            found = env.delta(ratio=ratio)
            truth = programme(kind, p, K, ratio)
            assert found.lower - 1e-8 <= truth <= found.upper + 1e-8
            assert found.width < 1e-9, (found, kind, n, m)
            assert found.status == "certified"


def exact_against_simplex(kind, seed, count):
    """Compare Fractions with `simplex`, and floats of the same joint with both."""
    rng = np.random.default_rng(seed)
    leakage = {"pml": bl.pml, "pmc": bl.pmc}[kind]
    exact = levels = 0
    for _ in range(count):
        n, m = (int(v) for v in rng.integers(1, 5, 2))
        p, K = rational(rng, n, m, int(rng.choice([2, 3, 5, 50])))
        made = joint(p, K)
        env, rounded = (bl.envelope(j, of=kind) for j in (made, joint(*floats((p, K)))))
        ratios = [F(11, 10), F(2), 1 + F(int(rng.integers(1, 100)), 50)]
        # a jump, if there is one: the leakage of an outcome
        ratios += [r for r in [leakage(made)(0).ratio.lower] if r < math.inf]
        for ratio in ratios:
            truth = exact_mass(kind, p, K, ratio)
            found = env.delta(ratio=ratio)
            assert is_exactly(found, truth), (p, K, ratio)
            floating = rounded.delta(ratio=ratio)
            assert floating.lower <= truth <= floating.upper
            whole = floating.status == "exact" and truth in (0, 1)  # by a theorem
            assert whole or floating.status == "certified"
            beyond = exact_mass(kind, p, K, ratio * (1 + F(1, 10**40)))
            # the floats may mean a kernel whose jump is just below the ratio
            assert ratio == 1 or floating.lower <= beyond + F(1, 10**9)
            strict = env.delta(ratio=ratio, closed=False)
            assert strict.lower <= beyond + F(1, 10**20) and beyond <= strict.upper
            strict = rounded.delta(ratio=ratio, closed=False)
            assert strict.lower <= beyond + F(1, 10**12) and beyond <= strict.upper
        for delta in (F(1, 20), F(1, 3), F(1), F(float(rng.random()))):
            found, floating = env(delta), rounded(delta)
            levels += 1
            exact += found.status == "exact"
            assert found.width < 1e-12
            assert max(found.lower, floating.lower) <= min(found.upper, floating.upper)
            if found.lower == math.inf:
                continue
            low, high = found.ratio
            assert exact_mass(kind, p, K, F(low)) >= delta or found.status != "exact"
            if found.status == "exact":
                assert low == high
            assert exact_mass(kind, p, K, F(high) * (1 + F(1, 10**25))) <= delta
            assert exact_mass(kind, p, K, F(low) * (1 - F(1, 10**25))) >= delta
            if floating.upper < math.inf:
                assert F(floating.ratio.lower) <= high and low <= F(floating.ratio.upper)
    assert exact > 0.8 * levels


@pytest.mark.truths
@KINDS
def test_fractions_against_an_exact_simplex_method(kind):
    exact_against_simplex(kind, 3, 25)


@KINDS
@pytest.mark.fuzz
def test_many_fractions_against_an_exact_simplex_method(kind):
    exact_against_simplex(kind, 4, 600)


@pytest.mark.truths
@KINDS
def test_level_and_mass_are_inverse(kind):
    rng = np.random.default_rng(11)
    for _ in range(30):
        n, m = (int(v) for v in rng.integers(2, 9, 2))
        p, K = draw(rng, n, m)
        env = bl.envelope(joint(p, K), of=kind)
        for delta in (0.03, 0.3, 0.6, 0.95, 1.0):
            found = env(delta)
            assert found.status == "certified" and found.width < 1e-9, found
            just_below = programme(kind, p, K, math.exp(found.lower) * (1 - 1e-7))
            just_above = programme(kind, p, K, math.exp(found.upper) * (1 + 1e-7))
            assert just_below >= delta - 1e-8 and just_above <= delta + 1e-8


@pytest.mark.cases("truths", "pmc")
@KINDS
def test_no_post_processing_beats_it(kind, count=120, seed=13):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, m = (int(v) for v in rng.integers(2, 6, 2))
        p, K = draw(rng, n, m, zeros=0.1)
        env = bl.envelope(joint(p, K), of=kind)
        ratio = float(1 + 2 * rng.random())
        most = env.delta(ratio=ratio).upper
        for _ in range(40):
            sparse = rng.dirichlet(np.full(int(rng.integers(2, 6)), 0.3), size=m)
            merged = np.eye(3)[rng.integers(0, 3, m)]
            for post in (sparse, merged, np.eye(m)):
                assert tail(kind, p, K, post, ratio) <= most + 1e-12


@pytest.mark.truths
@KINDS
@pytest.mark.parametrize("zeros", [0.0, 0.3])
def test_the_witness_attains_it(kind, zeros, count=60, seed=17):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, m = (int(v) for v in rng.integers(2, 7, 2))
        p, K = draw(rng, n, m, zeros)
        env = bl.envelope(joint(p, K), of=kind)
        ratio = float(1 + 3 * rng.random())
        found = env.delta(ratio=ratio)
        post = env.witness(ratio=ratio)
        released = bl.pmf(p) * (post @ env.joint.mechanism)
        assert abs(tail(kind, p, K, post.matrix, ratio, 1e-12) - found.value) < 1e-9
        law = bl.pml(released) if kind == "pml" else bl.pmc(released)
        assert law.tail(math.log(ratio) - 1e-9).upper >= found.lower - 1e-9
        delta = float(rng.random())
        level, post = env(delta), env.witness(delta=delta)
        assert tail(kind, p, K, post.matrix, math.exp(level.lower), 1e-9) >= delta - 1e-12


@KINDS
@pytest.mark.fuzz
def test_thousands_of_mechanisms(kind):
    test_no_post_processing_beats_it(kind, count=2500, seed=31)
    for zeros in (0.0, 0.3):
        test_the_witness_attains_it(kind, zeros, count=1250, seed=37)


@pytest.mark.truths
@KINDS
def test_the_rational_witness_attains_it_exactly(kind):
    rng = np.random.default_rng(19)
    leakage = {"pml": bl.pml, "pmc": bl.pmc}[kind]
    exact = 0
    for _ in range(20):
        n, m = (int(v) for v in rng.integers(2, 5, 2))
        p, K = rational(rng, n, m)
        env = bl.envelope(joint(p, K), of=kind)
        for ratio in (F(11, 10), F(5, 4), F(2), F(3)):
            found = env.delta(ratio=ratio)
            post = env.witness(ratio=ratio)
            law = o.compose(K, post.matrix.tolist())
            reached = o.tail(kind, p, law, lambda r, ratio=ratio: r >= ratio)
            exact += found.status == "exact"
            assert F(found.lower) <= reached + F(1, 10**15) and reached <= F(found.upper)
            strict = env.delta(ratio=ratio, closed=False)
            assert strict.upper <= found.upper
        for delta in (F(1, 10), HALF, F(1)):
            level = env(delta)
            post = env.witness(delta=delta)
            if level.status == "exact" and level.lower < math.inf:
                law = bl.pmf(p) * (post @ env.joint.mechanism)
                assert leakage(law).quantile(1 - delta, side="right").upper >= level.lower
    assert exact >= 75


# -- the shape of the curve ------------------------------------------------------------------------


@pytest.mark.truths
@KINDS
def test_it_falls_and_is_continuous(kind):
    rng = np.random.default_rng(23)
    for _ in range(6):
        p, K = draw(rng, 4, 5)
        env = bl.envelope(joint(p, K), of=kind)
        curve = env.curve(np.linspace(0, 1, 41))
        assert set(curve["status"].values) <= {"exact", "certified"}
        assert (np.diff(curve["lower"].values) <= 1e-9).all()
        assert curve["upper"].values[0] == getattr(bl, kind)(env.joint).sup().upper
        for delta in rng.random(3):
            near = [env(float(d)).value for d in (delta, delta + 1e-7 * (1 - delta))]
            assert abs(near[0] - near[1]) < 1e-3


@pytest.mark.truths
@KINDS
def test_post_processing_never_raises_it(kind):
    rng = np.random.default_rng(29)
    for _ in range(15):
        p, K = draw(rng, 3, 5)
        post = rng.dirichlet(np.full(4, 0.5), size=5)
        before = bl.envelope(joint(p, K), of=kind)
        after = bl.envelope(joint(p, K @ post), of=kind)
        for delta in (0.1, 0.5, 0.9):
            assert after(delta).lower <= before(delta).upper


def test_one_secret_and_independence_leak_nothing():
    for p, K in (([F(1)], [[HALF, HALF]]), ([HALF, HALF], [[HALF, HALF]] * 2)):
        for law in ((p, K), floats((p, K))):
            for kind in ("pml", "pmc"):
                env = bl.envelope(joint(*law), of=kind)
                assert env(F(1, 3)).upper < 1e-14 and env.delta(0).lower == 1
                assert env.delta(ratio=F(11, 10)).upper == 0


def test_outcomes_and_secrets_of_probability_zero_do_not_count():
    K = [[HALF, HALF, F(0)], [F(1, 4), F(3, 4), F(0)], [F(0), F(0), F(1)]]
    p = [HALF, HALF, F(0)]
    small = bl.envelope(joint(p[:2], [row[:2] for row in K[:2]]))
    env = bl.envelope(joint(p, K))
    for delta in (F(1, 10), F(9, 10)):
        assert env(delta).ratio == small(delta).ratio
    assert env.witness(delta=F(9, 10)).matrix[2].tolist() == [0, 0, 1]


# -- how it is asked -------------------------------------------------------------------------------


def test_bad_questions():
    made = joint([HALF, HALF], [[F(1), F(0)], [F(0), F(1)]])
    env = bl.envelope(made)
    for bad in (-0.1, 1.5, math.nan, "0.1"):
        with pytest.raises(bl.InvalidInput, match="delta"):
            env(bad)
    with pytest.raises(bl.InvalidInput, match="of="):
        bl.envelope(made, of="ldp")
    with pytest.raises(bl.InvalidInput, match="both or neither"):
        env.delta()
    with pytest.raises(bl.InvalidInput, match="ratio > 0"):
        env.delta(ratio=-1)
    with pytest.raises(bl.InvalidInput, match="not one"):
        env.witness()
    with pytest.raises(bl.InvalidInput, match="joint"):
        bl.envelope(made.mechanism)


def test_the_witness_of_a_bound_is_plain_data(tmp_path):
    from borel.audits.store import to_plain

    found = bl.envelope(joint(*EX2))(F(1, 5))
    assert to_plain(found.witness)
    shares = found.witness["post_processing"]
    assert set(shares) <= {f"x = {i}" for i in range(4)}
    law = o.marginal(*EX2)
    assert sum(part * law[y] for pairs in shares.values() for y, part in pairs) >= F(1, 5)
