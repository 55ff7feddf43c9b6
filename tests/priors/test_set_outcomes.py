"""Sets of priors with continuous and countable outcomes, families, and capacity over a set."""

from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
from scipy import special, stats

import borel as bl


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(40):
        yield


X = bl.Finite([0.0, 1.0, 2.0])
P = [F(1, 2), F(3, 10), F(1, 5)]
LINE = np.linspace(-25, 25, 20001)


def laplace(b):
    return bl.mechanisms.laplace(b=b, secret=X), lambda y, x: -abs(y - x) / b


def gaussian(sigma):
    return bl.mechanisms.gaussian(sigma=sigma, secret=X), lambda y, x: -(((y - x) / sigma) ** 2) / 2


def least_of(name, v, r):
    """Lower expectations of a vector, in mpmath."""
    v, p = [mpmath.mpf(a) for a in v], [mpmath.mpf(a.numerator) / a.denominator for a in P]
    mean = sum(a * b for a, b in zip(p, v, strict=True))
    if name == "contamination":
        return (1 - r) * mean + r * min(v)
    if name == "interior":
        return r * sum(v) + (1 - 3 * r) * min(v)
    if name == "full":
        return min(v)
    left, q = r, list(p)  # total variation
    low = v.index(min(v))
    for k in sorted(range(3), key=lambda k: v[k], reverse=True):
        moved = min(q[k], left) if k != low else 0
        q[k] -= moved
        q[low] += moved
        left -= moved
    return sum(a * b for a, b in zip(q, v, strict=True))


SETS = {
    "contamination": (bl.priors.contamination(bl.pmf(P, on=X), F(1, 8)), mpmath.mpf(1) / 8),
    "interior": (bl.priors.interior(F(1, 8), X), mpmath.mpf(1) / 8),
    "tv": (bl.priors.tv_ball(bl.pmf(P, on=X), F(1, 8)), mpmath.mpf(1) / 8),
    "full": (bl.priors.full_support(X), mpmath.mpf(0)),
}


@pytest.mark.parametrize("name", SETS)
def test_laplace_noise_leaks_most_beyond_the_secrets(name):
    """There the ratios are e^(-|x - x'| / b), whatever y: the supremum is at one of the ends."""
    mech, log_kernel = laplace(0.75)
    prior_set, r = SETS[name]
    ratios = [[mpmath.exp(-abs(x - end) / mpmath.mpf(0.75)) for x in (0, 1, 2)] for end in (0, 2)]
    truth = max(-mpmath.log(least_of(name, v, r)) for v in ratios)
    found = bl.pml(prior_set * mech).sup()
    assert found.status == "certified"
    assert found.lower <= truth <= found.upper
    assert found.width <= 1e-8
    v = np.exp(log_kernel(LINE, np.array([[0.0], [1.0], [2.0]])))
    low = -np.log(prior_set.least(v / v.max(axis=0)).lower)
    assert low.max() <= found.upper + 1e-12
    curve = bl.pml(prior_set * mech)(LINE[::500])
    np.testing.assert_allclose(curve.upper, low[::500], rtol=1e-10, atol=1e-10)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["contamination", "interior", "tv"])
def test_gaussian_noise_tells_the_secret_at_last(name):
    """Far out the posterior is a point: PML tends to log 1 / (lower probability); PMC diverges."""
    mech, _ = gaussian(1.25)
    prior_set, r = SETS[name]
    truth = max(-mpmath.log(least_of(name, v, r)) for v in ([1, 0, 0], [0, 0, 1]))
    found = bl.pml(prior_set * mech).sup()
    assert found.lower <= truth <= found.upper and found.width <= 1e-8
    cost = bl.pmc(prior_set * mech).sup()
    assert cost.lower == np.inf and cost.status == "certified"
    everything = bl.pml(SETS["full"][0] * mech).sup()
    assert everything.lower == np.inf


@pytest.mark.parametrize("name", SETS)
def test_the_cost_of_laplace_noise_holds_what_a_grid_finds(name):
    mech, log_kernel = laplace(0.75)
    prior_set, _ = SETS[name]
    found = bl.pmc(prior_set * mech).sup()
    v = np.exp(log_kernel(LINE, np.array([[0.0], [1.0], [2.0]])))
    best = np.log(-prior_set.least(-v / v.max(axis=0)).lower / (v / v.max(axis=0)).min(axis=0))
    assert best.max() - 1e-6 <= found.upper
    assert abs(found.lower - best.max()) <= 1e-5 and found.width <= 1e-8


def test_counts_with_poisson_noise():
    rates = bl.Finite([1.0, 2.0, 4.0])
    mech = bl.Mechanism.from_scipy(
        lambda x: stats.poisson(x), secret=rates, outcome=bl.Integers(0, None)
    )
    prior_set = bl.priors.contamination(bl.pmf(P, on=rates), F(1, 8))
    joint = prior_set * mech
    k = stats.poisson.pmf(np.arange(40)[None], np.array([[1.0], [2.0], [4.0]]))
    v = k / k.max(axis=0)
    low = -np.log(prior_set.least(v).lower)
    found = bl.pml(joint).sup()
    assert low.max() <= found.upper + 1e-12
    assert found.upper <= -np.log(0.2 * 7 / 8) + 1e-9  # log 1 / (lower probability of 4)
    np.testing.assert_allclose(bl.pml(joint)(np.arange(10)).upper, low[:10], rtol=1e-9)


def test_outcomes_that_one_secret_forbids():
    half = bl.Mechanism(
        lambda y, x: np.where(y < x, 1 / x, 0.0),
        secret=bl.Finite([1.0, 2.0]),
        outcome=bl.Interval(0, 2),
        breaks=(1.0,),
    )
    joint = bl.priors.contamination(bl.pmf([F(1, 2), F(1, 2)], on=half.secret), F(1, 4)) * half
    assert bl.pmc(joint).sup().lower == np.inf
    truth = np.log(1 / (0.5 * 0.75))  # y in (1, 2) tells that x = 2, of lower probability 3/8
    found = bl.pml(joint).sup()
    assert found.lower <= truth + 1e-12 and truth - 1e-12 <= found.upper and found.width <= 1e-8


@pytest.mark.truths
def test_no_member_leaks_more_through_a_continuous_outcome():
    mech, _ = laplace(0.75)
    rng = np.random.default_rng(0)
    centre = bl.pmf(P, on=X)
    for prior_set in (
        bl.priors.tv_ball(centre, 0.1),
        bl.priors.kl_ball(centre, 0.05, direction="from_centre"),
    ):
        top = bl.pml(prior_set * mech).sup().upper
        cost = bl.pmc(prior_set * mech).sup().upper
        for member in prior_set.members(2, rng):
            with bl.options(closed_forms=False):
                assert bl.pml(member * mech).sup().lower <= top + 1e-12
                assert bl.pmc(member * mech).sup().lower <= cost + 1e-12


# -- families --------------------------------------------------------------------------------


def genotypes(p):
    return bl.pmf([(1 - p) ** 2, 2 * p * (1 - p), p**2])


@pytest.mark.parametrize("seed", range(8))
def test_a_family_is_maximised_over_its_parameter(seed):
    rng = np.random.default_rng(seed)
    kernel = rng.dirichlet(np.ones(4), size=3)
    mech = bl.Mechanism.from_matrix(kernel)
    low, high = sorted(rng.random(2))
    family = bl.priors.family(genotypes, bl.Interval(low, high))
    s = np.linspace(low, high, 20001)
    laws = np.array([(1 - s) ** 2, 2 * s * (1 - s), s**2])
    level = kernel.T @ laws
    for of, best in (
        (bl.pml, np.log(kernel.max(axis=0)[:, None] / level).max()),
        (bl.pmc, np.log(level / kernel.min(axis=0)[:, None]).max()),
    ):
        found = of(family * mech).sup()
        assert found.status == "certified" and "family" not in " ".join(found.assumptions)
        assert best <= found.upper + 1e-12
        assert abs(best - found.lower) <= 1e-6 and found.width <= 1e-8
    # the hull is larger: a value over it is an upper bound at best
    ends = [genotypes(float(t)) for t in (low, (low + high) / 2, high)]
    assert bl.pml(bl.priors.hull(ends) * mech).sup().status == "exact"


def sticks(shares):
    """Return the parts of a stick of which one share of the rest after another is broken off."""
    parts, rest = [], 1.0
    for share in shares:
        parts.append(rest * share)
        rest = rest * (1 - share)
    return [*parts, rest]


LAWS = {  # functions that are proved to be laws for all theta, and some that are not
    "a line": (lambda t: [t, 1 - t], (0, 1), True),
    "two lines": (lambda t: [0.75 * t, 0.25 * t, 1 - t], (0, 1), True),
    "quotients": (lambda t: [t / (1 + t), 1 / (1 + t)], (0, 4), True),
    "exponentials": (lambda t: [1 / (1 + np.exp(t)), np.exp(t) / (1 + np.exp(t))], (-1, 1), True),
    "a jump": (lambda t: [np.where(t < 0.5, t, 0.2), 1 - np.where(t < 0.5, t, 0.2)], (0, 1), True),
    "one theta": (lambda t: [np.where(t == 0.25, 0.1, 0.5), 1 - np.where(t == 0.25, 0.1, 0.5)],
                  (0, 1), True),
    "two jumps": (lambda t: [np.where(t < 0.5, t, 0.2), 1 - np.where(t < 0.6, t, 0.2)],
                  (0, 0.4), False),
    "below 0 at one theta": (lambda t: [np.where(t == 0.26, -0.1, 0.5),
                                        1 - np.where(t == 0.26, -0.1, 0.5)], (0, 1), False),
    "below 0 beyond the probes": (lambda t: [0.99 - t, 0.01 + t], (0, 1), False),
    "binary64": (lambda t: [0.1 * t, 0.2 * t, 1 - 0.3 * t], (0, 1), False),
    "not 1 at one theta": (lambda t: [np.where(t == 0.26, 0.9, t), 1 - t], (0, 1), False),
    "0 times infinity": (lambda t: [t / (t - 2) - 2 / (t - 2), t * 0], (2, 3), False),
    "0 / 0 at one theta": (lambda t: [0.5 * abs(t - 0.25) / abs(t - 0.25), 0.5 + 0 * t],
                           (0, 1), False),
    "0 times infinity at 0.26": (lambda t: [0.5, 0.5 + 0 * np.where(t == 0.26, np.inf, t)],
                                 (0, 1), False),
    # both are -t**2 / -t**2, but one of them is infinite at 0 and the other no number
    "infinite within": (lambda t: [np.where(np.isinf(1 / t + (1 - t) / (0 - t)), 0.1, 0.5),
                                   1 - np.where(np.isinf(-t * t / (-t * t)), 0.1, 0.5)],
                        (0, 1), False),
    "too many terms": (lambda t: sticks([1 / (1 + np.exp(-t - k)) for k in range(12)]),
                       (0, 1), False),
    "too long powers": (lambda t: sticks([((((t * 0 + 1 / 3) ** 64) ** 64) ** 64) ** 64 * t]),
                        (0, 1), False),
}  # fmt: skip


@pytest.mark.parametrize("name", LAWS)
def test_a_family_is_certified_where_its_members_are_proved_to_be_laws(name):
    law, ends, proved = LAWS[name]
    family = bl.priors.family(lambda t: bl.pmf(law(t)), bl.Interval(*ends))
    assert family.status == ("certified" if proved else "conditional")
    assert bool(family.assumptions) == (not proved)


def test_a_family_of_two_parameters_that_fills_a_polytope():
    rng = np.random.default_rng(1)
    mech = bl.Mechanism.from_matrix(rng.dirichlet(np.ones(4), size=3))
    theta = bl.Interval(0.125, 0.375) * bl.Interval(0.125, 0.5)
    family = bl.priors.family(lambda t: bl.pmf([t[0], t[1], 1 - t[0] - t[1]]), theta)
    box = bl.priors.box([0.125, 0.125, 0.125], [0.375, 0.5, 0.75])
    for of in (bl.pml, bl.pmc):
        a, b = of(family * mech).sup(), of(box * mech).sup()
        assert a.lower <= b.upper and b.lower <= a.upper and a.width <= 1e-8


def test_a_finite_family_is_a_union_and_not_its_hull():
    mech = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    family = bl.priors.family(lambda p: bl.pmf([1 - p, p]), bl.Finite([F(1, 4), F(1, 2)]))
    each = [bl.pml(bl.pmf([1 - p, p]) * mech).sup() for p in (F(1, 4), F(1, 2))]
    found = bl.pml(family * mech).sup()
    assert found.lower <= max(b.upper for b in each) and max(b.lower for b in each) <= found.upper


def test_an_opaque_family_is_an_estimate():
    table = {0: 0.25, 1: 0.5}
    family = bl.priors.family(
        lambda p: bl.pmf([1 - table[0] * float(p), table[0] * float(p)]), bl.Interval(0.5, 1)
    )
    mech = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    found = bl.pml(family * mech).sup()
    assert found.status == "estimate" and "proves nothing" in found.reason
    assert abs(found.value - np.log(0.75 / (0.25 + 0.5 * 0.125))) <= 1e-6


# -- capacity over a set -------------------------------------------------------------------------


def test_capacity_over_all_priors_is_the_capacity():
    for e in (0.1, 0.25, 0.4):
        mech = bl.Mechanism.from_matrix([[1 - e, e], [e, 1 - e]])
        truth = np.log(2) + e * np.log(e) + (1 - e) * np.log(1 - e)
        found = bl.mutual_information(bl.priors.full_support(bl.Finite(2)) * mech)
        assert found.lower <= truth <= found.upper and found.width <= 1e-8
    # Z-channel: log(1 + (1 - e) e^(e / (1 - e)))
    mech = bl.Mechanism.from_matrix([[1, 0], [0.5, 0.5]])
    truth = np.log(1.25)
    found = bl.mutual_information(bl.priors.full_support(bl.Finite(2)) * mech)
    assert found.lower <= truth <= found.upper and found.width <= 1e-8


@pytest.mark.few(1)
@pytest.mark.cases("slow", "1", "3")
@pytest.mark.parametrize("seed", range(6))
def test_no_member_informs_more(seed):
    rng = np.random.default_rng(seed)
    mech = bl.Mechanism.from_matrix(rng.dirichlet(np.ones(5) / 2, size=4))
    centre = bl.pmf(rng.dirichlet(np.ones(4)))
    for prior_set in (
        bl.priors.tv_ball(centre, 0.1),
        bl.priors.interior(0.1, bl.Finite(4)),
        bl.priors.kl_ball(centre, 0.02, direction="to_centre"),
    ):
        found = bl.mutual_information(prior_set * mech)
        assert found.width <= 2e-10
        best = max(bl.mutual_information(q * mech).lower for q in prior_set.members(50, rng))
        assert best <= found.upper
        prior = found.witness["prior"]
        assert bl.mutual_information(prior * mech).upper >= found.lower
        assert prior_set.contains(prior)


@pytest.mark.parametrize("secrets, outcomes", [(50, 20), (200, 50), (20, 200)])
def test_information_over_a_set_is_sharp_for_many_secrets(secrets, outcomes):
    """It is that of the witness; no member has a larger mean of D(K_x || Q), Q its law of Y."""
    rng = np.random.default_rng(5)
    rows = rng.dirichlet(np.ones(outcomes) / 2, size=secrets)
    mech = bl.Mechanism.from_matrix(rows)
    centre = rng.dirichlet(np.ones(secrets) * 3)
    for prior_set, radius in (
        (bl.priors.tv_ball(bl.pmf(centre), 0.1), 0.1),
        (bl.priors.full_support(bl.Finite(secrets)), 1.0),
    ):
        found = bl.mutual_information(prior_set * mech)
        assert found.proved and found.width <= 2e-10
        best = np.asarray(found.witness["prior"].probabilities)
        divergence = special.rel_entr(rows, best @ rows).sum(axis=1)
        assert abs(best @ divergence - found.upper) <= 2e-10
        worst, left = centre.copy(), radius
        for i in np.argsort(divergence):  # mass moves from the least divergences to the largest
            moved = min(left, worst[i])
            worst[i], left = worst[i] - moved, left - moved
        worst[divergence.argmax()] += radius - left
        assert (worst - best) @ divergence <= 1e-9


def test_single_outcomes_count_on_countable_alphabets():
    """A kernel altered at one integer: derivatives along the reals must not hide it."""
    secret = bl.Finite([0.25, 0.5])

    def odd(y, x):
        return np.where(y == 3, np.where(x < 0.3, 0.5, 0.01), (1 - x) * x**y)

    def normal(y, x):
        total = np.where(x < 0.3, 0.5 - 0.75 * 0.25**3, 0.01 - 0.5 * 0.5**3) + 1
        return odd(y, x) / total

    mech = bl.Mechanism(normal, secret=secret, outcome=bl.Integers(0, None))
    prior_set = bl.priors.contamination(bl.pmf([F(1, 2), F(1, 2)], on=secret), F(1, 4))
    totals = [1 + 0.5 - 0.75 * 0.25**3, 1 + 0.01 - 0.5 * 0.5**3]
    at_3 = np.array([0.5 / totals[0], 0.01 / totals[1]])
    truth = np.log(at_3.max() / (0.75 * at_3.mean() + 0.25 * at_3.min()))
    found = bl.pml(prior_set * mech)
    assert found(3).lower <= truth + 1e-12 and truth - 1e-12 <= found(3).upper
    assert found.sup().upper >= truth - 1e-12


def test_open_ends_of_a_curve_hold_at_the_confidence_too():
    """Those of one outcome say so; of a curve they were undecided, with ends but no confidence."""
    on = bl.Finite([0.0, 1.0, 2.0])
    learnt = bl.priors.from_counts([3, 4, 5], on=on, confidence=0.95)
    noise = bl.Mechanism(
        lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi),
        secret=on,
        outcome=bl.Reals(),
    )
    ell = bl.pml(learnt * noise)
    found = ell([0.0, 1000.0])
    assert found["lower"].values[1] > 0 and np.isinf(found["upper"].values[1])
    assert found["status"].values.tolist() == [ell(y).status for y in (0.0, 1000.0)]
    assert found["status"].values.tolist() == ["statistical", "statistical"]


UNIT, HALF, LINE_R, N0 = bl.Interval(0, 1), bl.Interval(0, None), bl.Reals(), bl.Integers(0, None)
AT_ENDS = {  # and where to look for the supremum
    "Cauchy": (lambda x: stats.cauchy(x), LINE_R, np.linspace(-60, 60, 40_001)),
    "Student": (lambda x: stats.t(3, loc=x), LINE_R, np.linspace(-60, 60, 40_001)),
    "logistic": (lambda x: stats.logistic(x), LINE_R, np.linspace(-60, 60, 40_001)),
    "Gamma": (lambda x: stats.gamma(1 + x), HALF, np.geomspace(1e-12, 600, 40_001)),
    "Beta": (lambda x: stats.beta(0.5 + x, 1.5), UNIT, 1 - np.geomspace(1e-12, 1, 40_001)[:-1]),
    "negative binomial": (lambda x: stats.nbinom(2, 0.3 + 0.1 * x), N0, np.arange(500)),
}
UNBOUNDED = {"Gamma", "Beta", "negative binomial"}


@pytest.mark.parametrize("name", AT_ENDS)
def test_suprema_at_the_ends_of_the_line_of_outcomes(name):
    """PML and PMC over a TV ball, whose worst member moves the mass to or from one secret."""
    law, outcome, ys = AT_ENDS[name]
    mech = bl.Mechanism.from_scipy(law, secret=X, outcome=outcome)
    masses, radius = np.array([0.5, 0.3, 0.2]), 0.05
    prior_set = bl.priors.tv_ball(bl.pmf(masses, on=X), radius)
    laws = [law(float(x)) for x in X.labels]
    f = np.array([d.pmf(ys) if outcome is N0 else d.pdf(ys) for d in laws])
    centre = masses @ f
    least = centre - radius * (f.max(axis=0) - f.min(axis=0))
    most = centre + radius * (f.max(axis=0) - f.min(axis=0))
    for leakage, seen in ((bl.pml, f.max(axis=0) / least), (bl.pmc, most / f.min(axis=0))):
        found = leakage(prior_set * mech).sup()
        if leakage is bl.pmc and name in UNBOUNDED:
            assert found.lower == np.inf and found.status == "certified"
            continue
        top = float(np.log(seen.max()))
        assert top * (1 - 1e-12) <= found.upper and found.lower <= top + 1e-2
        assert found.status == "certified" and found.width <= 2e-8


def test_ratios_of_cauchy_noise_in_closed_form():
    """f(y|0) / f(y|2) is at most (1 + sqrt 2)^2, and 2 asinh 1 is its logarithm."""
    mech = bl.Mechanism.from_scipy(lambda x: stats.cauchy(x), secret=X, outcome=LINE_R)
    joint, truth = bl.priors.full_support(X) * mech, 2 * np.arcsinh(1)
    for figure in (bl.pml(joint).sup(), bl.pmc(joint).sup(), bl.ldp(joint)):
        assert figure.lower <= truth <= figure.upper and figure.width <= 2e-8


def test_a_ratio_that_grows_to_a_limit_is_not_infinite():
    """f(y|1) / f(y|0) is (1 + log(1 + 1 / (y + eps)) / 100) / Z, largest at y = 0."""
    eps = 1e-9

    def density(y, x):
        return 1 + x * np.log(1 + 1 / (y + eps)) / 100

    secret = bl.Finite([0.0, 1.0])
    mech = bl.Mechanism(density, secret=secret, outcome=UNIT, normalise=True)
    e = mpmath.mpf(eps)
    total = 1 + mpmath.quad(lambda y: mpmath.log(1 + 1 / (y + e)), [0, 1e-6, 1e-3, 1]) / 100
    ends = [(1 + mpmath.log(1 + 1 / (y + e)) / 100) / total for y in (0, 1)]
    truth = max(mpmath.log(ends[0]), -mpmath.log(ends[1]))
    for leakage in (bl.pml, bl.pmc):
        found = leakage(bl.priors.full_support(secret) * mech).sup()
        assert found.lower <= truth <= found.upper < np.inf


def test_outcomes_that_one_secret_rules_out():
    """Under full support a prior may be nearly all of that secret: PML is not bounded."""
    secret = bl.Finite([0.0, 1.0])
    mech = bl.Mechanism(
        lambda y, x: np.where(y <= 1 + x, 1 / (1 + x), 0.0),
        secret=secret,
        outcome=bl.Interval(0, 2),
    )
    full = bl.priors.full_support(secret) * mech
    for found in (bl.pml(full).sup(), bl.pmc(full).sup(), bl.ldp(full)):
        assert found.lower == np.inf and found.status == "certified"
    ball = bl.priors.tv_ball(bl.pmf([0.6, 0.4], on=secret), 0.05) * mech
    found, truth = bl.pml(ball).sup(), np.log(1 / 0.35)  # the second secret alone, beyond 1
    assert found.lower <= truth <= found.upper and found.width <= 1e-8


def test_a_wide_supremum_says_where():
    secret = bl.Finite([0.0, 1.0])
    mech = bl.Mechanism(
        lambda y, x: 1 + np.sin(400 * np.pi * y * (x + 1)) / 2, secret=secret, outcome=UNIT
    )
    found = bl.pml(bl.priors.tv_ball(bl.pmf([0.5, 0.5], on=secret), 0.1) * mech).sup()
    assert found.width > 1e-3 and "at some y in" in found.reason
