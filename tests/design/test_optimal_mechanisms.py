"""Mechanisms of the greatest utility: feasible in Fractions, never beaten, the closed forms."""

import math
from fractions import Fraction as F
from itertools import combinations

import numpy as np
import pytest

import borel as bl
from borel.errors import InvalidInput, NotYet

g = bl.guarantees
PRIOR = [F(1, 6), F(1, 3), F(1, 2)]
HIGH = F(11, 10)  # below 1 / (1 - 1/6) = 6/5: the high-privacy regime
ZERO_ONE = 1 - np.eye(3, dtype=int)


def columns(matrix):
    return sorted(tuple(c) for c in matrix.T.tolist())


def information(p, k):
    """Mutual information in floats, of a stack of matrices."""
    q = np.einsum("x,...xy->...y", p, k)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(k > 0, k * np.log(k / q[..., None, :]), 0)
    return np.einsum("x,...xy->...", p, terms)


def variation(p, k):
    q = np.einsum("x,...xy->...y", p, k)
    return np.einsum("x,...xy->...", p, np.abs(k - q[..., None, :])) / 2


@pytest.mark.parametrize("utility", ["mutual_information", "total_variation"])
def test_in_the_high_privacy_regime_it_is_the_extremal_mechanism(utility):
    prior = bl.pmf(PRIOR)
    found = bl.design.best(prior, g.PML(ratio=HIGH), utility=utility)
    closed = bl.mechanisms.pml_extremal(prior=prior, ratio=HIGH)
    assert columns(found.mechanism.matrix) == columns(closed.matrix)
    assert found.verdict.holds and found.verdict.bound.status == "exact"
    assert found.optimum.width < 1e-12 and found.optimum.status == "certified"


def test_the_optimal_alip_mechanism_is_the_optimal_pml_mechanism():
    """Corollary 5: where epsilon_l is at least that of the extremal mechanism (Example 5)."""
    low = max(p / (1 - HIGH * (1 - p)) for p in PRIOR)
    prior = bl.pmf(PRIOR)
    pml = bl.design.best(prior, g.PML(ratio=HIGH))
    alip = bl.design.best(prior, g.ALIP(ratio_l=low, ratio_u=HIGH))
    assert columns(alip.mechanism.matrix) == columns(pml.mechanism.matrix)
    tighter = bl.design.best(prior, g.ALIP(ratio_l=low * F(9, 10), ratio_u=HIGH))
    assert tighter.optimum.upper < pml.optimum.lower  # sharp: below, something is lost


def test_the_optimal_alip_mechanism_is_the_optimal_pmc_mechanism():
    """Corollary 5, the other way: where epsilon_u is at least what Theorem 6 (ii) gives."""
    low = F(5, 4)
    high = max((1 - (1 - p) / low) / p for p in PRIOR)
    prior = bl.pmf(PRIOR)
    pmc = bl.design.best(prior, g.PMC(ratio=low))
    alip = bl.design.best(prior, g.ALIP(ratio_l=low, ratio_u=high))
    assert columns(alip.mechanism.matrix) == columns(pmc.mechanism.matrix)
    tighter = bl.design.best(prior, g.ALIP(ratio_l=low, ratio_u=high * F(9, 10)))
    assert tighter.optimum.upper < pmc.optimum.lower


def test_without_privacy_everything_is_told_and_with_all_of_it_nothing():
    prior = bl.pmf(PRIOR)
    entropy = -sum(float(p) * math.log(p) for p in PRIOR)
    told = bl.design.best(prior, g.PML(ratio=6))  # 1 / min p
    assert told.optimum.lower - 1e-15 <= entropy <= told.optimum.upper + 1e-15
    assert {tuple(c) for c in columns(told.mechanism.matrix)} == {(1, 0, 0), (0, 1, 0), (0, 0, 1)}
    for target in (g.PML(0.0), g.PMC(0.0), g.LDP(0.0), g.LIP(ratio=1), g.AveragePML(ratio=1)):
        silent = bl.design.best(prior, target)
        assert silent.mechanism.matrix.tolist() == [[1]] * 3
        assert silent.optimum.upper < 1e-12


@pytest.mark.parametrize("ratio", [F(13, 10), F(3, 2), F(2), F(3)])
def test_a_uniform_secret_of_two_labels_in_every_regime(ratio):
    """Columns are (r, 2 - r) / 2, r at its most: a symmetric channel of crossover 1 - e^eps / 2."""
    found = bl.design.best(bl.pmf([F(1, 2)] * 2), g.PML(ratio=ratio))
    stay = min(ratio, F(2)) / 2
    assert columns(found.mechanism.matrix) == [(1 - stay, stay), (stay, 1 - stay)]


@pytest.mark.parametrize(("mass", "ratio"), [(F(2, 3), F(2)), (F(1, 4), F(5)), (F(9, 10), F(3))])
def test_the_report_of_a_region_has_its_closed_form(mass, ratio):
    """0 if M < e^-eps, else min(M, 1 - e^-eps): Grosse et al. (2024), Lemma 1, with alpha = 1."""
    prior = bl.pmf([mass, 1 - mass])
    never = 10**6
    found = bl.design.best(
        prior, g.PML(ratio=ratio), loss=[[-1, 0], [never, 0]], decisions=["report", "none"]
    )
    reported = F(0) if mass < 1 / ratio else min(mass, 1 - 1 / ratio)
    assert found.optimum.lower <= -float(reported) <= found.optimum.upper
    assert found.optimum.width < 1e-9


@pytest.mark.parametrize("k", [2, 3, 4])
def test_under_ldp_randomised_response_is_the_best_guess(k):
    """The least probability of a wrong guess, of a uniform secret: (k - 1) / (e^eps + k - 1)."""
    e = F(3)
    found = bl.design.best(bl.pmf([F(1, k)] * k), g.LDP(ratio=e), loss=1 - np.eye(k, dtype=int))
    wrong = float((k - 1) / (e + k - 1))
    assert found.optimum.lower <= wrong <= found.optimum.upper and found.optimum.width < 1e-12


def test_binary_randomised_response_is_best_under_ldp_for_information():
    """Kairouz, Oh, Viswanath (2016), Theorem 9."""
    found = bl.design.best(bl.pmf([F(1, 2)] * 2), g.LDP(ratio=F(3)))
    assert columns(found.mechanism.matrix) == [(F(1, 4), F(3, 4)), (F(3, 4), F(1, 4))]
    truth = math.log(2) + 0.75 * math.log(0.75) + 0.25 * math.log(0.25)
    assert found.optimum.lower - 1e-15 <= truth <= found.optimum.upper + 1e-15


def test_maximal_leakage_of_a_uniform_secret_bounds_the_best_guess():
    """The chance of a right guess is at most e^L max p, and some mechanism attains it."""
    found = bl.design.best(bl.pmf([F(1, 3)] * 3), g.AveragePML(ratio=F(3, 2)), loss=ZERO_ONE)
    assert found.verdict.holds
    assert found.optimum.lower <= 0.5 <= found.optimum.upper and found.optimum.width < 1e-12
    same = bl.design.best(
        bl.pmf([F(1, 3)] * 3), g.TailLeakage(ratio=F(3, 2), delta=1), loss=ZERO_ONE
    )
    assert same.optimum == found.optimum


@pytest.mark.parametrize("delta", [F(1, 100), F(1, 4), F(9, 10)])
def test_at_level_0_a_delta_lets_that_share_of_a_secret_out(delta):
    """An outcome that leaks nothing, or all: I = delta log n for a uniform secret."""
    for n in (2, 3):
        found = bl.design.best(bl.pmf([F(1, n)] * n), g.PML(ratio=1, delta=delta))
        truth = float(delta) * math.log(n)
        assert found.optimum.lower <= truth * (1 + 1e-14)
        assert truth * (1 - 1e-14) <= found.optimum.upper and found.optimum.width < 1e-9


@pytest.mark.parametrize("delta", [F(1, 10), F(1, 2), F(99, 100)])
def test_total_variation_of_a_fair_bit_under_tail_leakage(delta):
    """It is half the mean of e^leakage - 1, which tail leakage bounds, and a constant attains."""
    found = bl.design.best(
        bl.pmf([F(1, 2)] * 2), g.TailLeakage(ratio=F(3, 2), delta=delta), utility="total_variation"
    )
    assert found.verdict.holds
    assert found.optimum.lower <= 0.25 <= found.optimum.upper and found.optimum.width < 0.01


def test_tail_leakage_is_between_pml_and_maximal_leakage():
    prior, level = bl.pmf([F(1, 6), F(1, 3), F(1, 2)]), F(3, 2)
    least = bl.design.best(prior, g.PML(ratio=level)).optimum
    most = bl.design.best(prior, g.AveragePML(ratio=level)).optimum
    before = least
    for delta in (F(1, 100), F(9, 10)):
        found = bl.design.best(prior, g.TailLeakage(ratio=level, delta=delta))
        assert found.verdict.holds and found.optimum.width < 0.01
        assert before.lower <= found.optimum.upper, "what a smaller delta allows is allowed"
        assert found.optimum.lower <= most.upper
        before = found.optimum
        tail = bl.design.best(prior, g.PML(ratio=level, delta=delta))  # which it implies
        assert found.optimum.lower <= tail.optimum.upper


def worst_mean(p, k, delta):
    """The mean of e^leakage over the worst delta of outcomes, and the probabilities, in floats."""
    q = np.einsum("x,...xy->...y", p, k)
    top = k.max(axis=-2) / q
    order = np.argsort(-top, axis=-1)
    q, top = (np.take_along_axis(v, order, axis=-1) for v in (q, top))
    left = np.clip(delta - (np.cumsum(q, axis=-1) - q), 0, q)
    return (left * top).sum(axis=-1) / delta, q, top


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.1, 0.7])
def test_no_random_mechanism_beats_the_optimum_with_a_delta(delta):
    rng = np.random.default_rng(7)
    p, level = np.array([1 / 6, 1 / 3, 1 / 2]), 1.5
    k = rng.dirichlet([0.4] * 4, size=(40000, 3))
    k = rng.uniform(size=(40000, 1, 1)) * (k - k[:, :1]) + k[:, :1] + 1e-12
    k /= k.sum(axis=-1, keepdims=True)
    mean, q, top = worst_mean(p, k, delta)
    law = np.einsum("x,...xy->...y", p, k)[:, None]
    information = (p[:, None] * k * np.log(k / law)).sum(axis=(1, 2))
    beyond = (q * (top > level)).sum(axis=-1)
    for guarantee, allowed in (
        (g.TailLeakage(math.log(level), delta=delta), mean <= level),
        (g.PML(math.log(level), delta=delta), beyond <= delta),
    ):
        found = bl.design.best(bl.pmf(p.tolist()), guarantee)
        assert allowed.sum() > 100
        assert information[allowed].max() <= found.optimum.upper + 1e-12
        made = found.mechanism.matrix.astype(float)
        again, q_, top_ = worst_mean(p, made[:, made.any(axis=0)], delta)
        if isinstance(guarantee, g.PML):
            assert (q_ * (top_ > level * (1 + 1e-12))).sum() <= delta * (1 + 1e-12)
        else:
            assert again <= level * (1 + 1e-12)


TARGETS = [
    g.PML(ratio=HIGH),
    g.PML(0.5),
    g.PML(1.0),
    g.PML(ratio=F(5, 2)),
    g.PML(3.0),
    g.PMC(0.4),
    g.LIP(0.3),
    g.ALIP(0.5, 0.2),
    g.LDP(1.0),
    g.AveragePML(0.3),
]


def levels(p, k):
    """The largest PML and PMC, the level of LDP and maximal leakage of matrices, in floats."""
    q = np.einsum("x,...xy->...y", p, k)
    top, bottom = k.max(axis=-2), k.min(axis=-2)
    pml, pmc = (np.log((a / b).max(axis=-1)) for a, b in ((top, q), (q, bottom)))
    ldp = np.log((top / bottom).max(axis=-1))
    return pml, pmc, ldp, np.log(top.sum(axis=-1))


def allowed(target, p, k):
    pml, pmc, ldp, average = levels(p, k)
    nats = [float(level.nats) for level in target.levels]
    if isinstance(target, g.ALIP):
        return (pmc <= nats[0]) & (pml <= nats[1])
    value = {
        g.PML: pml, g.PMC: pmc, g.LIP: np.maximum(pml, pmc), g.LDP: ldp, g.AveragePML: average
    }[type(target)]  # fmt: skip
    return value <= nats[0]


@pytest.mark.few(3)
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_no_random_mechanism_that_is_allowed_is_better(target):
    rng = np.random.default_rng(7)
    p = np.array(PRIOR, float)
    outcomes = 4
    k = rng.dirichlet(np.full(outcomes, 0.5), size=(10_000, 3))
    # towards a constant row, each as far as the target allows (up to bisection)
    flat = rng.dirichlet(np.ones(outcomes), size=(10_000, 1))
    low, high = np.zeros(10_000), np.ones(10_000)
    for _ in range(30):
        share = (low + high) / 2
        ok = allowed(target, p, share[:, None, None] * k + (1 - share[:, None, None]) * flat)
        low, high = np.where(ok, share, low), np.where(ok, high, share)
    k = low[:, None, None] * k + (1 - low[:, None, None]) * flat
    assert allowed(target, p, k).all()
    for utility, of in (("mutual_information", information), ("total_variation", variation)):
        found = bl.design.best(bl.pmf(PRIOR), target, utility=utility)
        assert found.verdict.holds and found.verdict.bound.status in ("exact", "certified")
        assert found.optimum.lower <= found.utility.upper and found.optimum.width < 1e-9
        assert of(p, k).max() <= found.optimum.upper
        own = of(p, np.array(found.mechanism.matrix, float))
        assert abs(own - found.utility.value) < 1e-12
    found = bl.design.best(bl.pmf(PRIOR), target, loss=ZERO_ONE)
    best_guess = np.einsum("x,nxy->nxy", p, k).max(axis=1).sum(axis=-1)
    assert (1 - best_guess).min() >= found.optimum.lower - 1e-15


def test_the_dual_bounds_whatever_the_solver_says(monkeypatch):
    """Nothing of the solver is trusted: multipliers and masses that are wrong stay sound."""
    import scipy.optimize

    true = bl.design.best(bl.pmf(PRIOR), g.PML(1.0))
    solve = scipy.optimize.linprog

    def off(*args, **kwargs):
        found = solve(*args, **kwargs)
        found.x = found.x * 1.001
        found.eqlin.marginals = found.eqlin.marginals + np.array([0.1, -0.2, 0.3])
        return found

    monkeypatch.setattr(scipy.optimize, "linprog", off)
    found = bl.design.best(bl.pmf(PRIOR), g.PML(1.0))
    assert found.verdict.holds
    assert found.optimum.lower <= true.utility.upper and true.utility.lower <= found.optimum.upper
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *a, **k: type("R", (), {"x": None}))
    found = bl.design.best(bl.pmf(PRIOR), g.PML(1.0))
    assert found.verdict.holds and found.utility.upper < 1e-12
    assert true.utility.lower <= found.optimum.upper


def test_a_prior_of_floats_is_taken_as_fractions():
    found = bl.design.best(bl.pmf([0.1, 0.2, 0.7]), g.PML(0.7))
    assert found.prior.rational and sum(found.prior.probabilities) == 1
    assert found.verdict.holds and found.verdict.bound.status == "exact"
    assert found.optimum.width < 1e-11
    named = bl.design.best(bl.pmf([0.5, 0.5], on=bl.Finite(["a", "b"])), g.LDP(1.0))
    assert named.mechanism.secret.labels == ("a", "b") or list(named.mechanism.secret.labels) == [
        "a",
        "b",
    ]


def solved(rows, target):
    """Solve a square system in Fractions; None if it is singular."""
    m = [[F(v) for v in row] + [F(t)] for row, t in zip(rows, target, strict=True)]
    for c in range(len(m)):
        k = next((i for i in range(c, len(m)) if m[i][c]), None)
        if k is None:
            return None
        m[c], m[k] = m[k], m[c]
        m[c] = [v / m[c][c] for v in m[c]]
        for i in range(len(m)):
            if i != c:
                m[i] = [a - m[i][c] * b for a, b in zip(m[i], m[c], strict=True)]
    return [row[-1] for row in m]


def ratios(p, least, most, factor):
    """All vertices of least <= r <= most, r(x) <= factor r(x'), E r = 1, from its inequalities."""
    n = len(p)
    unit = [[int(i == j) for j in range(n)] for i in range(n)]
    walls = [(e, most) for e in unit] + [([-v for v in e], -least) for e in unit]
    pairs = ((a, b) for a in unit for b in unit if a != b and factor)
    walls += [([u - factor * v for u, v in zip(a, b, strict=True)], 0) for a, b in pairs]
    found = set()
    for tight in combinations(walls, n - 1):
        r = solved([p, *(a for a, _ in tight)], [1, *(b for _, b in tight)])
        if r and all(sum(u * v for u, v in zip(a, r, strict=True)) <= b for a, b in walls):
            found.add(tuple(r))
    return found


@pytest.mark.parametrize("tiny", [F(1, 7), F(1, 10**9)])
@pytest.mark.parametrize(
    ("target", "least", "most", "factor"),
    [
        (g.PML(ratio=F(9, 5)), 0, F(9, 5), None),
        (g.PMC(ratio=F(9, 5)), F(5, 9), 10**9, None),
        (g.LIP(ratio=F(9, 5)), F(5, 9), F(9, 5), None),
        (g.ALIP(ratio_l=F(3), ratio_u=F(9, 5)), F(1, 3), F(9, 5), None),
        (g.LDP(ratio=F(9, 5)), 0, 10**9, F(9, 5)),
    ],
    ids=["PML", "PMC", "LIP", "ALIP", "LDP"],
)
def test_the_optimum_is_that_of_all_bases_of_the_programme(target, least, most, factor, tiny):
    p = [tiny, F(1, 3), F(2, 3) - tiny]
    phi = {
        r: sum((q * abs(v - 1) for q, v in zip(p, r, strict=True)), F(0)) / 2
        for r in ratios(p, least, most, factor)
    }
    truth = F(0)
    for basis in combinations(phi, 3):
        q = solved([[r[x] for r in basis] for x in range(3)], [1] * 3)
        if q and min(q) >= 0:
            truth = max(truth, sum(a * phi[r] for a, r in zip(q, basis, strict=True)))
    found = bl.design.best(bl.pmf(p), target, utility="total_variation")
    assert truth > 0
    assert F(found.optimum.lower) <= truth <= F(found.optimum.upper)
    assert found.optimum.width < 1e-9


def test_levels_and_probabilities_that_no_float_holds():
    free = bl.design.best(bl.pmf(PRIOR), g.AveragePML(1000.0))
    assert free.utility.lower <= information(np.array(PRIOR, float), np.eye(3)) + 1e-12
    assert free.utility.upper > 1.01  # nothing is kept back: the entropy of the prior
    tiny = F(1, 10**320)
    found = bl.design.best(bl.pmf([tiny, 1 - tiny]), g.PMC(1.0), utility="total_variation")
    # E|f(y|X) - f(y)| / 2 is below the smaller probability: 0 to any float
    assert found.verdict.holds and found.optimum.lower <= 0 <= found.optimum.upper


def test_ten_secrets():
    p = [F(i, 55) for i in range(1, 11)]
    found = bl.design.best(bl.pmf(p), g.PML(ratio=F(2)), utility="total_variation")
    assert found.verdict.holds and found.optimum.width < 1e-9


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: bl.design.best(bl.pmf([0.5] * 2), 1.0), InvalidInput, "a guarantee"),
        (lambda: bl.design.best(bl.normal(), g.PML(1.0)), InvalidInput, "finite prior"),
        (lambda: bl.design.best(bl.pmf([0, 1]), g.PML(1.0)), InvalidInput, "positive prob"),
        (lambda: bl.design.best(bl.pmf([0.5] * 2), g.PMC(1.0, delta=0.1)), NotYet, "linear"),
        (
            lambda: bl.design.best(bl.pmf([0.5] * 2), g.PML(1.0, delta=0.1), loss=[[0, 1], [1, 0]]),
            NotYet,
            "merged to decisions",
        ),
        (lambda: bl.design.best(bl.pmf([1 / 9] * 9), g.TailLeakage(1.0, 0.1)), NotYet, "8 secrets"),
        (lambda: bl.design.best(bl.pmf([1 / 16] * 16), g.PML(1.0)), NotYet, "12 secrets"),
        (
            lambda: bl.design.best(bl.pmf([0.5] * 2), g.PML(1.0), utility="mi"),
            InvalidInput,
            "utility",
        ),
        (lambda: bl.design.best(bl.pmf([0.5] * 2), g.PML(1.0), loss=[1, 2]), InvalidInput, "loss"),
        (lambda: bl.design.best(bl.pmf([0.5] * 2), g.LDP(math.inf)), InvalidInput, "finite level"),
        (
            lambda: bl.design.best(bl.pmf([0.5] * 2), g.PML(1.0), utility=["total_variation"]),
            InvalidInput,
            "utility",
        ),
        (
            lambda: bl.design.best(bl.pmf([0.5] * 2), g.PML(1.0), loss=[[F(10**400)], [1]]),
            InvalidInput,
            "a float holds",
        ),
        (
            lambda: bl.design.best(
                bl.pmf([0.5] * 2), g.PML(1.0), loss=[[0, 1], [1, 0]], decisions=["a", "a"]
            ),
            InvalidInput,
            "distinct",
        ),
    ],
)
def test_what_is_not_there_is_said(call, error, match):
    with pytest.raises(error, match=match):
        call()
