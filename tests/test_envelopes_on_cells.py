"""Envelopes of a finite secret with countable or continuous outcomes, against bins, integrals."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from mpmath import mp
from scipy import stats
from scipy.optimize import linprog

import borel as bl
from borel.engine import engine_for
from borel.engine.envelopes.best_choices import BestShares, ChoiceSearch
from borel.engine.envelopes.outcome_cells import cells_of

KINDS = pytest.mark.parametrize("kind", ["pml", "pmc"])
PROVED = {"exact", "certified", "conditional"}


def binned(kind, p, K, ratio):
    """delta_c of the bins by a dense programme: a lower end of the truth, up to its rounding."""
    p, K = np.asarray(p), np.asarray(K)
    q = p @ K
    K, q = K[:, q > 1e-14], q[q > 1e-14]
    n, m = K.shape
    c = K - ratio * q if kind == "pml" else q - ratio * K
    shares = np.tile(np.eye(m), n)
    bad = np.zeros((n, n * m))
    for x in range(n):
        bad[x, x * m : (x + 1) * m] = -c[x] * m
    found = linprog(
        -np.tile(q, n), A_ub=np.vstack([shares, bad]), b_ub=np.r_[np.ones(m), np.zeros(n)]
    )
    return -found.fun


def dual(kind, p, logs, ratio, marks, lam):
    """E_Y max(0, max_x (1 + lam_x c_x / q)) at 30 digits: an upper end of the truth."""
    mp.dps = 30

    def integrand(y):
        k = [mp.exp(log(y)) for log in logs]
        q = sum(mp.mpf(a) * b for a, b in zip(p, k, strict=True))
        sign = 1 if kind == "pml" else -1
        base = ratio if kind == "pml" else 1 / mp.mpf(ratio)
        return max([0] + [q + v * sign * (b - base * q) for v, b in zip(lam, k, strict=True)])

    return mp.quad(integrand, marks)


STEPS = {
    "pml": ([0.125, 0.875], [[1.25, 0.75], [0.0, 2.0]], F(94, 59)),
    "pmc": ([0.75, 0.25], [[1.0, 1.0], [0.25, 1.75]], F(19, 10)),
}


@KINDS
def test_two_steps_are_two_outcomes(kind):
    """A bad outcome is all of the first step and a part of the second one that makes it 1/2.

    Nothing distinguishes the outcomes of a step, and so no choices of them solve the programme.
    """
    p, rows, ratio = STEPS[kind]
    (a, b), (c, d) = rows

    def density(y, x):
        return np.where(x == 0, np.where(y < 0.5, a, b), np.where(y < 0.5, c, d))

    mech = bl.Mechanism(density, secret=bl.Finite(2), outcome=bl.Interval(0, 1), breaks=[0.5])
    found = bl.envelope(bl.pmf(p) * mech, of=kind)(F(1, 2))
    mp.dps = 40
    truth = mp.log(mp.mpf(ratio.numerator) / ratio.denominator)
    assert found.lower <= truth <= found.upper
    assert found.status == "certified" and found.width < 1e-8


def test_where_no_outcome_chooses_a_secret_the_search_ends():
    """Beyond all ratios and at high prices nothing is chosen, and nothing is divided by it."""
    mech = bl.mechanisms.laplace(b=1.0)
    engine = engine_for(bl.pmf([0.5, 0.5], on=bl.Finite([0.0, 1.0])) * mech)
    prices, weights = np.array([1e3, 1e3]), np.zeros((2, 1))
    near = BestShares(10.0, np.ones(2), prices, weights)
    assert ChoiceSearch(engine.regions, 1)._newton(near, None) is None


@pytest.mark.cases("slow", "gaussian-pml", "gaussian-pmc")
@KINDS
@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_two_secrets_and_noise(kind, noise):
    """Bins prove a lower end; a dual, integrated at 30 digits, an upper one."""
    p, points = [0.3, 0.7], [0.0, 1.0]
    if noise == "gaussian":
        mech, law = bl.mechanisms.gaussian(sigma=1.0), stats.norm
        logs = [lambda y, a=a: -((y - a) ** 2) / 2 - mp.log(2 * mp.pi) / 2 for a in points]
    else:
        mech, law = bl.mechanisms.laplace(b=1.0), stats.laplace
        logs = [lambda y, a=a: -abs(y - a) - mp.log(2) for a in points]
    env = bl.envelope(bl.pmf(p, on=bl.Finite(points)) * mech, of=kind)
    edges = np.r_[-np.inf, np.linspace(-7, 8, 241), np.inf]
    K = [np.diff(law(a).cdf(edges)) for a in points]
    ratio = 1.3
    with bl.options(tol=1e-5):
        found = env.delta(ratio=ratio)
    assert found.status in PROVED and found.width < 1e-4
    inside = binned(kind, p, K, ratio)
    assert inside <= found.upper + 1e-9 and found.lower <= inside + 2e-3
    marks = [-40, -8, -2, 0, 0.25, 0.5, 1, 3, 9, 40]
    over = min(dual(kind, p, logs, ratio, marks, (a, b)) for a in (0.7, 2) for b in (0.7, 3, 5))
    assert found.lower <= over


@pytest.mark.truths
@KINDS
def test_levels_and_masses_of_noise_are_inverse(kind):
    joint = bl.pmf([0.2, 0.3, 0.5], on=bl.Finite([0.0, 1.0, 2.5])) * bl.mechanisms.laplace(b=1.0)
    env = bl.envelope(joint, of=kind)
    with bl.options(tol=1e-4):
        found = env(0.4)
        assert found.status in PROVED and found.width < 1e-3
        assert env.delta(found.lower - 1e-6).upper >= 0.4
        assert env.delta(found.upper + 1e-6).lower <= 0.4
    edges = np.r_[-np.inf, np.linspace(-6, 9, 151), np.inf]
    K = [np.diff(stats.laplace(a).cdf(edges)) for a in (0.0, 1.0, 2.5)]
    # the bins have a mass of delta at a level that the envelope cannot be below
    assert binned(kind, joint.prior.probabilities, K, math.exp(found.upper) * 1.001) <= 0.4 + 1e-9
    assert found.upper <= getattr(bl, kind)(joint).sup().upper + 1e-12


@KINDS
def test_poisson_counts_are_those_of_a_truncated_matrix(kind):
    rates, p = [1.0, 3.0], [0.25, 0.75]
    mech = bl.Mechanism.from_scipy(
        lambda x: stats.poisson(x), secret=bl.Finite(rates), outcome=bl.Integers(0, None)
    )
    joint = bl.pmf(p, on=bl.Finite(rates)) * mech
    env = bl.envelope(joint, of=kind)
    head = stats.poisson(np.array(rates)[:, None]).pmf(np.arange(40))
    rest = 1 - head.sum(axis=1, keepdims=True)
    matrix = np.hstack([head, np.maximum(rest, 0)])
    small = bl.envelope(
        bl.pmf(p) * bl.Mechanism.from_matrix(matrix / matrix.sum(1, keepdims=True)), kind
    )
    for delta in (0.2, 0.6, 0.95):
        found, near = env(delta), small(delta)
        assert found.status == "certified"
        assert found.width < 1e-7
        assert found.lower <= near.upper + 1e-9 and near.lower - 1e-9 <= found.upper
    mass, near = env.delta(ratio=1.2), small.delta(ratio=1.2)
    assert mass.width < 1e-9 and abs(mass.value - near.value) < 1e-9


@pytest.mark.slow
def test_clipped_noise_has_atoms():
    points, p = [0.0, 1.0], [0.5, 0.5]
    joint = bl.pmf(p, on=bl.Finite(points)) * bl.mechanisms.laplace(b=1.0).clip(0.0, 1.0)
    whole = bl.pmf(p, on=bl.Finite(points)) * bl.mechanisms.laplace(b=1.0)
    with bl.options(tol=1e-7):
        clipped, before = bl.envelope(joint)(0.5), bl.envelope(whole)(0.5)
    # beyond 0 and 1 the ratio does not vary: clipping there loses nothing
    assert abs(clipped.value - before.value) < 1e-6
    assert clipped.status in PROVED
    assert bl.envelope(joint)(0.3).upper >= math.log(2 * math.e / (1 + math.e)) - 1e-6


def test_what_is_not_there_says_so():
    counts = bl.Mechanism(
        lambda y, x: 0.6 * 0.25 ** abs(y - x), secret=bl.Integers(0, None), outcome=bl.Integers()
    )
    endless = bl.envelope(bl.poisson(mu=2.0) * counts)
    assert endless(0.1).proved and endless(0.1).lower == math.inf  # as maximal leakage is
    unseen = bl.Mechanism(
        np.vectorize(lambda y, x: 0.6 * 0.25 ** abs(y - x), otypes=[float]),
        secret=bl.Integers(0, None),
        outcome=bl.Integers(),
    )
    with pytest.raises(bl.NotYet, match="secrets on"):
        bl.envelope(bl.poisson(mu=2.0) * unseen).delta(0.1)
    made = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0)
    assert bl.envelope(made)(0) == bl.pml(made).sup()
    noise = bl.pmf([0.5, 0.5], on=bl.Finite([0.0, 1.0])) * bl.mechanisms.laplace(b=1.0)
    with pytest.raises(bl.NotYet, match="not finite"):
        bl.envelope(noise).witness(0.1)


@pytest.mark.truths
def test_families_of_mechanisms():
    import xarray as xr

    scales = xr.DataArray([1.0, 2.0], dims="b")
    prior = bl.pmf([0.5, 0.5], on=bl.Finite([0.0, 1.0]))
    with bl.options(tol=1e-5):
        found = bl.envelope(prior * bl.mechanisms.laplace(b=scales))(0.5)
        one = bl.envelope(prior * bl.mechanisms.laplace(b=2.0))(0.5)
    assert found["upper"].dims == ("b",)
    assert found["lower"].values[1] <= one.upper and one.lower <= found["upper"].values[1]
    assert found["upper"].values[1] < found["lower"].values[0]


@pytest.mark.slow
def test_masses_at_the_largest_leakage_of_laplace_noise():
    """All outcomes below 0 tell as much of the first of four secrets: sup of PML, up to their mass.

    The search for choices gives up beside the level, where the mass jumps.
    """
    secret = bl.Finite([0, 1, 2, 3])
    joint = bl.uniform(secret) * bl.mechanisms.laplace(b=1, secret=secret)
    mp.dps = 30
    truth = mp.log(4 / (1 + mp.exp(-1) + mp.exp(-2) + mp.exp(-3)))
    with bl.options(budget=8):
        found = bl.envelope(joint)(F(1, 10))
    assert found.status in PROVED and found.lower <= truth <= found.upper
    assert found.width < 1e-8


@pytest.mark.cases("slow", "3", "2")
@pytest.mark.parametrize("n", [2, 3])
def test_counting_queries_of_a_few_fair_bits(n):
    """Beyond n a count tells e^n / ((1 + e) / 2)^n of all bits; P{Y > n} is more than 1/20."""
    bits = bl.iid(bl.pmf([F(1, 2), F(1, 2)]), n)
    database = bits * bl.mechanisms.counting_query(n=n, b=1, of="count")
    mp.dps = 30
    one = mp.log(2 * mp.e / (1 + mp.e))
    with bl.options(budget=2):
        for joint, truth in ((database, n * one), (bl.entry(database), one)):
            found = bl.envelope(joint)(F(1, 10))
            assert found.status in PROVED and found.lower <= truth <= found.upper
            assert truth - found.lower < 1e-8


def test_a_solver_that_fails_leaves_the_cells(monkeypatch):
    """As much by cells alone: the level of mass 1/10 of Laplace noise on two secrets."""
    from borel.engine.envelopes import best_choices

    secret = bl.Finite([0, 1])
    joint = bl.uniform(secret) * bl.mechanisms.laplace(b=1, secret=secret)
    failed = lambda gain, worth, x, y, shape: (0 * gain, np.zeros(shape[1]), np.zeros(shape[0]))  # noqa: E731
    monkeypatch.setattr(best_choices, "best_shares", failed)
    truth = mp.log(2 / (1 + mp.exp(-1)))
    with bl.options(budget=2):
        found = bl.envelope(joint)(0.1)
        mass = bl.envelope(joint).delta(0.35)
    assert found.lower <= truth <= found.upper and found.width < 1e-6
    assert 0 < mass.lower <= mass.upper < 1


@pytest.mark.parametrize(
    "joint",
    [
        bl.pmf([0.5, 0.5]) * bl.mechanisms.laplace(b=1, secret=bl.Finite(2)),
        bl.pmf([0.5, 0.5])
        * bl.Mechanism(
            lambda y, x: (x + 1) / (x + 2) ** (y + 1),
            secret=bl.Finite(2),
            outcome=bl.Integers(0, None),
        ),
        bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1, secret=bl.Interval(0, 1)),
        bl.pmf([1.0]) * bl.mechanisms.laplace(b=1, secret=bl.Finite(1)),
    ],
    ids=["continuous", "countable", "continuous secret", "certain"],
)
def test_no_witness_of_outcomes_that_are_not_finite(joint):
    env = bl.envelope(joint)
    for level in ({"delta": F(1, 10)}, {"t": 0.1}, {"ratio": F(6, 5)}):
        with pytest.raises(bl.NotYet, match="post-processing of outcomes that are not finite"):
            env.witness(**level)


def level_of_bins(kind, p, K, delta):
    """epsilon_c of finite tables by bisection."""
    low, high = 1.0, 100.0
    while high - low > 1e-7:
        ratio = (low + high) / 2
        low, high = (ratio, high) if binned(kind, p, K, ratio) >= delta else (low, ratio)
    return math.log(low)


@KINDS
def test_a_countable_secret_and_two_outcomes(kind):
    """The outcome 0 has the mass 2^-(x+1): the secret 0 tells it best, and 1 all that are large."""
    mech = bl.Mechanism(
        lambda y, x: np.where(y > 0.5, 1 - 0.5 ** (x + 1), 0.5 ** (x + 1)),
        secret=bl.Integers(0, None),
        outcome=bl.Finite([0, 1]),
    )
    env = bl.envelope(bl.poisson(mu=2.0) * mech, of=kind)
    # E 2^-(X+1) = e^-1 / 2: the ratio there is e, and its mass more than 1/10
    if kind == "pml":
        found = env(0.1)
        assert found.lower <= 1 <= found.upper and found.width < 1e-9
    x = np.arange(40)
    rows = np.array([0.5 ** (x + 1), 1 - 0.5 ** (x + 1)]).T
    found, truth = env(0.6), level_of_bins(kind, stats.poisson(2.0).pmf(x), rows, 0.6)
    assert found.proved and found.width < 1e-6
    assert found.lower <= truth + 1e-6 and truth - 1e-6 <= found.upper


@pytest.mark.truths
@KINDS
def test_a_countable_secret_and_countable_outcomes(kind):
    """Geometric outcomes, whose parameter tends to 1/2 with the secret."""
    mech = bl.Mechanism(
        lambda y, x: (1 + 1 / x) / (2 + 1 / x) ** (y + 1),
        secret=bl.Integers(1, None),
        outcome=bl.Integers(0, None),
    )
    joint = bl.geometric(p=0.5) * mech
    x, y = np.append(np.arange(1.0, 25.0), 1e9)[:, None], np.arange(30)
    rows = (1 + 1 / x) / (2 + 1 / x) ** (y + 1)
    prior = np.append(0.5 ** np.arange(1, 25), 0.5**24)
    with bl.options(budget=20):
        for delta in (0.1, 0.6):
            found = bl.envelope(joint, of=kind)(delta)
            truth = level_of_bins(kind, prior, rows, delta)  # some secrets: below
            assert found.proved and found.width < 1e-2
            assert truth - 1e-6 <= found.upper and found.lower <= truth + 1e-3


@pytest.mark.parametrize("secret", [bl.Finite([0.0, 1.0]), bl.Interval(0, 1)])
def test_what_is_beyond_all_cells_is_no_part_of_a_mass_from_below(secret):
    """A tail of y^-1.2 / 10 has 1e-3 of the mass beyond 2^50 / 2, where there are no cells."""

    def density(y, x):
        near = np.where((y < 0.5) == (x < 0.5), 0.8, 0.2)
        return np.where(y < 1, near, 0.1 * np.maximum(y, 1.0) ** -1.2)

    mech = bl.Mechanism(density, secret=secret, outcome=bl.Interval(0, None), breaks=[0.5, 1.0])
    prior = bl.pmf([0.5, 0.5], on=secret) if secret.kind == "finite" else bl.uniform(secret)
    with bl.options(budget=1):
        cells = cells_of(engine_for(prior * mech))
        programme = cells.programmes(1)[0]
    everything = np.zeros(programme.g.shape)
    everything[0] = 1.0
    assert programme.mass(everything) <= 1 - 0.5 * mp.mpf(cells.high.max()) ** mp.mpf(-0.2)


# -- closed forms of Gaussian noise on 0, ..., n - 1 -----------------------------------------------


def worst_ends(kind, n, delta, sigma):
    """Two secrets at the ends name the outcomes beyond them, of mass delta / 2 each.

    For PML no other secret is of use where its largest ratio is below the level. Ratios of the
    first one fall with y, and so the lowest outcomes are worth most: P(Y < a | 0) / P(Y < a).
    For PMC the ratio of the last secret is the least below (n - 1) / 2, and rises with y: the mean
    of the least ratio over its smallest delta is that of both ends, which bounds the envelope
    (the twin of tail leakage), and each end names one secret with that mean.
    """
    half = mp.mpf(delta.numerator) / delta.denominator / 2

    def below(a):
        return mp.fsum(mp.ncdf((a - k) / sigma) for k in range(n)) / n

    # the logarithm is nearly straight far out
    a = mp.findroot(
        lambda a: mp.log(below(a) / half),
        (-6 * sigma, mp.mpf(n - 1) / 2),
        solver="bisect",
        maxsteps=200,
    )
    own = mp.ncdf((a - (0 if kind == "pml" else n - 1)) / sigma)
    return mp.log(own / half) * (1 if kind == "pml" else -1)


@pytest.mark.cases("slow", "pmc-2-delta3-1.0")
@pytest.mark.cases("truths", "pml-*", "pmc-3-*", "pmc-8-*", "pmc-2-delta8-*")
@pytest.mark.parametrize(
    ("kind", "n", "delta", "sigma"),
    [
        ("pml", 3, F(1, 10**6), 1.0),
        ("pml", 8, F(1, 100), 1.0),
        ("pml", 16, F(1, 100), 1.0),
        ("pmc", 2, F(1, 10**6), 1.0),
        ("pmc", 3, F(1, 100), 1.0),
        ("pmc", 8, F(1, 2), 1.0),
        ("pmc", 8, F(99, 100), 1.0),
        ("pmc", 2, F(1, 10), 0.1),
        ("pmc", 2, F(1, 100), 0.1),
        ("pmc", 3, F(1, 2), 0.1),
    ],
)
def test_closed_forms_of_gaussian_noise(kind, n, delta, sigma):
    secret = bl.Finite([float(k) for k in range(n)])
    joint = bl.uniform(secret) * bl.mechanisms.gaussian(sigma=sigma, secret=secret)
    found = bl.envelope(joint, of=kind)(delta)
    with mp.workdps(40):
        assert found.lower <= worst_ends(kind, n, delta, mp.mpf(sigma)) <= found.upper
    assert found.status == "certified" and found.width <= 1e-9


def test_a_secret_that_next_to_no_outcome_is_told_of():
    """Outcomes of mass 1e-53 name 1: the others, the largest ones, are all of the envelope."""
    secret, delta = bl.Finite([1.0, 2.0]), F(1, 10**6)
    joint = bl.pmf([F(67, 100), F(33, 100)], on=secret) * bl.mechanisms.gaussian(
        sigma=10.0, secret=secret
    )
    found = bl.envelope(joint)(delta)
    with mp.workdps(40):
        mass = mp.mpf(1) / 10**6

        def beyond(a):
            return (67 * mp.ncdf((1 - a) / 10) + 33 * mp.ncdf((2 - a) / 10)) / 100

        a = mp.findroot(lambda a: mp.log(beyond(a) / mass), (40, 60), solver="anderson")
        assert found.lower <= mp.log(mp.ncdf((2 - a) / 10) / mass) <= found.upper
    assert found.status == "certified" and found.width <= 1e-9


@pytest.mark.slow
def test_nearly_all_outcomes_of_sixteen_secrets():
    """Outcomes between the secrets, which are next to alike, are left out; bins are beside it."""
    secret, delta = bl.Finite([float(k) for k in range(16)]), F(99, 100)
    joint = bl.uniform(secret) * bl.mechanisms.gaussian(sigma=1.0, secret=secret)
    found = bl.envelope(joint)(delta)
    assert found.status == "certified" and found.width <= 1e-6
    edges = np.r_[-np.inf, np.linspace(-5, 20, 126), np.inf]
    K = np.diff(stats.norm(np.arange(16.0)[:, None]).cdf(edges), axis=1)
    p = np.full(16, 1 / 16)
    assert binned("pml", p, K, math.exp(found.upper) * (1 + 1e-7)) <= float(delta)
    assert binned("pml", p, K, math.exp(found.lower) * (1 - 2e-3)) >= float(delta)


@pytest.mark.parametrize("tiny", [1e-12, 1e-98])
def test_costs_of_entries_that_are_nearly_0(tiny):
    """Outcomes that would cost a secret far more than it gains are of no use, at whatever price."""
    rng = np.random.default_rng(5)
    for _ in range(3):
        rare = rng.random((4, 7)) < 0.5
        rare[np.arange(7) % 4, np.arange(7)] = False  # all outcomes have some mass
        K = rng.random((4, 7)) * np.where(rare, tiny, 1.0)
        K /= K.sum(axis=1, keepdims=True)
        p = rng.dirichlet(np.ones(4))
        found = bl.envelope(bl.pmf(p) * bl.Mechanism.from_matrix(K), of="pmc")(F(1, 2))
        assert found.width < 1e-9 and found.lower > 20
        for end, way in ((found.lower, -1), (found.upper, 1)):
            # e^t K, cut off where it is 1e6 times what can be gained
            cost = np.minimum(math.exp(end) * (1 + way * 1e-6) * K, 1e6)
            mass = binned("pmc", p, K, cost / K)
            assert way * mass <= way * 0.5 + 1e-6
