"""Privacy profiles and psi_1, psi_2: all events by brute force, closed forms by mpmath."""

import itertools
import math
import random
from fractions import Fraction as F

import measure_oracles as m
import mpmath as mp
import numpy as np
import oracles as o
import pytest
from statuses import certainly

import borel as bl

mp.mp.dps = 60
HALF = F(1, 2)
EXAMPLE = [
    [F(0), F(0), F(1, 2), F(1, 2)],
    [F(0), F(0), F(1, 2), F(1, 2)],
    [F(0), F(1, 5), F(2, 5), F(2, 5)],
    [F(1, 5), F(0), F(2, 5), F(2, 5)],
]
QUARTERS = [F(1, 4)] * 4


def example(K=None):
    """Example 2 of the envelope paper."""
    return bl.pmf(QUARTERS) * bl.Mechanism.from_matrix(EXAMPLE if K is None else K)


def merged(K, groups):
    return [[sum((row[y] for y in g), F(0)) for g in groups] for row in K]


def encloses(bound, truth):
    """Whether an mpmath number of 60 digits, or a Fraction, lies in the enclosure: no tolerance."""
    if isinstance(truth, F):
        return F(bound.lower) <= truth <= F(bound.upper)
    return mp.mpf(bound.lower) <= truth <= mp.mpf(bound.upper)


def tight(bound, ulps=1):
    return bound.upper - bound.lower <= ulps * math.ulp(bound.upper)


def excess(p, q, ratio):
    """The largest P(E) - ratio Q(E) over all events."""
    return max(
        sum((p[y] - ratio * q[y] for y in event), F(0)) for event in m.subsets(range(len(p)))
    )


# -- psi_1 and psi_2: Section III ------------------------------------------------------------------


def test_psi_1_rises_under_post_processing():
    """Theorem 1(i): 13/180 < 2/27 at epsilon = log 10/9."""
    ratio = F(10, 9)
    before, after = (
        bl.psi_1(joint, ratio=ratio)
        for joint in (example(), example(merged(EXAMPLE, [(0, 2), (1, 3)])))
    )
    assert encloses(before, F(13, 180)) and tight(before) and before.status == "exact"
    assert encloses(after, F(2, 27)) and tight(after)
    assert before.upper < after.lower


def test_psi_2_and_the_tail_are_not_comparable():
    """psi_2(log 3) = 0.05 < 0.1 < 13/90 = psi_2(log 10/9)."""
    joint, ell = example(), bl.pml(example())
    first, second = bl.psi_2(joint, ratio=3), bl.psi_2(joint, ratio=F(10, 9))
    assert encloses(first, F(1, 20)) and encloses(second, F(13, 90)) and tight(first)
    for t in (math.log(10 / 9) + 1e-9, math.log(3)):
        assert encloses(ell.tail(t), F(1, 10))
    assert first.upper < 0.1 < second.lower


def test_psi_on_random_mechanisms():
    """Against their definitions; psi_2 as a maximum over events, and not above what it was."""
    rng = np.random.default_rng(0)
    for _ in range(150):
        n, size = (int(v) for v in rng.integers(1, 5, size=2))
        p, K = law(rng, n), [law(rng, size) for _ in range(n)]
        marginal, ratio = o.marginal(p, K), F(int(rng.integers(4, 12)), 4)
        one = sum(
            (
                mass * max(F(0), 1 - ratio / o.pml(p, K, y))
                for y, mass in enumerate(marginal)
                if mass > 0
            ),
            F(0),
        )
        two = max(excess(K[x], marginal, ratio) for x in o.support(p))
        for build in (lambda v: v, o.floats):
            joint = bl.pmf(build(p)) * bl.Mechanism.from_matrix([build(row) for row in K])
            for found, truth in (
                (bl.psi_1(joint, ratio=ratio), one),
                (bl.psi_2(joint, ratio=ratio), two),
            ):
                assert encloses(found, truth) and found.width < 1e-13
                assert found.status == "exact"
            tail = bl.pml(joint).tail(math.log(ratio))
            assert bl.psi_1(joint, ratio=ratio).lower <= tail.upper + 1e-15
        post = [law(rng, 2) for _ in range(size)]
        Z = [[sum((row[y] * post[y][z] for y in range(size)), F(0)) for z in (0, 1)] for row in K]
        after = max(excess(Z[x], o.marginal(p, Z), ratio) for x in o.support(p))
        assert after <= two


def law(rng, n):
    while True:
        v = rng.integers(0, 7, size=n).tolist()
        if sum(v):
            return [F(k, sum(v)) for k in v]


def test_psi_of_countable_outcomes():
    """A Poisson count of a bit: sums of 200 terms at 60 digits."""
    mech = bl.Mechanism.from_scipy if False else None
    del mech
    from scipy import special

    rates = [1.0, 3.0]
    mech = bl.Mechanism(
        lambda y, x: y * np.log(x) - x - special.gammaln(y + 1),
        secret=bl.Finite(rates),
        outcome=bl.Integers(0, None),
        log=True,
    )
    joint = bl.pmf([F(1, 4), F(3, 4)], on=bl.Finite(rates)) * mech
    eps = mp.mpf("0.25")
    k = [
        [mp.e ** (-mp.mpf(r)) * mp.mpf(r) ** y / mp.factorial(y) for y in range(200)] for r in rates
    ]
    marginal = [a / 4 + 3 * b / 4 for a, b in zip(*k, strict=True)]
    two = max(
        sum(max(a - mp.e**eps * q, mp.mpf(0)) for a, q in zip(row, marginal, strict=True))
        for row in k
    )
    one = sum(
        q * max(mp.mpf(0), 1 - mp.e**eps * q / max(a, b))
        for a, b, q in zip(*k, marginal, strict=True)
    )
    for found, truth in ((bl.psi_1(joint, 0.25), one), (bl.psi_2(joint, 0.25), two)):
        assert encloses(found, truth) and found.width < 1e-8
        assert found.status in ("exact", "conditional")


def test_psi_of_continuous_outcomes():
    """A bit with densities 2y and 2 - 2y: closed forms; f_Y = 1 under the uniform prior."""
    mech = bl.Mechanism(
        lambda y, x: 2 * y * x + (2 - 2 * y) * (1 - x),
        secret=bl.Finite([0, 1]),
        outcome=bl.Interval(0, 1),
    )
    joint = bl.pmf([HALF, HALF], on=bl.Finite([0, 1])) * mech
    g = mp.mpf(5) / 4
    # psi_2: the integral of 2y - g over y > g/2; psi_1: of 1 - g / (2y), twice
    two = 1 - g**2 / 4 - g * (1 - g / 2)
    one = 2 * ((1 - g / 2) - g / 2 * -mp.log(g / 2))
    for found, truth in (
        (bl.psi_2(joint, ratio=F(5, 4)), two),
        (bl.psi_1(joint, ratio=F(5, 4)), one),
    ):
        assert encloses(found, truth), (found, truth)
        assert found.width < 1e-8
        assert found.status in ("certified", "conditional")


# -- the profile of finite mechanisms --------------------------------------------------------------


def test_profiles_by_all_events():
    rng = np.random.default_rng(1)
    for _ in range(150):
        n, size = int(rng.integers(1, 5)), int(rng.integers(1, 6))
        K, ratio = [law(rng, size) for _ in range(n)], F(int(rng.integers(4, 12)), 4)
        pairs = list(itertools.permutations(range(n), 2))
        truth = max((excess(K[a], K[b], ratio) for a, b in pairs), default=F(0))
        beyond = max(
            (
                sum((K[a][y] for y in range(size) if K[a][y] > ratio * K[b][y]), F(0))
                for a, b in pairs
            ),
            default=F(0),
        )
        profile = bl.privacy_profile(bl.Mechanism.from_matrix(K))
        assert encloses(profile(ratio=ratio), truth) and tight(profile(ratio=ratio))
        assert encloses(profile.beyond(ratio=ratio), beyond)
        assert truth <= beyond
        floats = bl.privacy_profile(bl.Mechanism.from_matrix([o.floats(row) for row in K]))
        assert encloses(floats(ratio=ratio), truth) and floats(ratio=ratio).width < 1e-13
        # a tie p = e^epsilon q is not decided by floats: the enclosure holds both answers
        assert encloses(floats.beyond(ratio=ratio), beyond)
        nats = profile(math.log(ratio))
        assert abs(nats.lower - float(truth)) < 1e-13 and nats.width < 1e-13


def test_a_joint_counts_its_support_only():
    K = [[F(1), F(0)], [HALF, HALF], [F(0), F(1)]]
    mech = bl.Mechanism.from_matrix(K)
    assert encloses(bl.privacy_profile(mech)(0), F(1))
    assert encloses(bl.privacy_profile(bl.pmf([HALF, HALF, F(0)]) * mech)(0), HALF)
    one = bl.privacy_profile(bl.pmf([F(1), F(0), F(0)]) * mech)
    assert one(0).upper == 0 and one.beyond(0).upper == 0


def test_randomised_response_of_many_labels():
    """delta* = (e^a - e^epsilon) / (e^a + k - 1) below a, and 0 from a on."""
    for k in (2, 5, 60):
        profile = bl.privacy_profile(bl.mechanisms.randomized_response(k=k, ratio=3))
        assert encloses(profile(ratio=2), F(1, k + 2)) and tight(profile(ratio=2))
        assert profile(ratio=3) == profile(ratio=4) and profile(ratio=3).upper == 0
        assert encloses(profile.beyond(ratio=2), F(3, k + 2))
        assert profile.beyond(ratio=3).upper == 0


def test_the_worst_pair_is_found_among_many_floats():
    rng = np.random.default_rng(2)
    K = rng.dirichlet(np.ones(40), size=60)
    profile = bl.privacy_profile(bl.Mechanism.from_matrix(K))
    for epsilon in (0.0, 0.7, 3.0, 8.0):
        truth = max(
            np.maximum(K[a] - math.exp(epsilon) * K, 0).sum(axis=1).max() for a in range(60)
        )
        found = profile(epsilon)
        assert found.lower - 1e-12 <= truth <= found.upper + 1e-12 and found.width < 1e-12
        x, other = found.witness["x"], found.witness["x'"]
        assert np.maximum(K[x] - math.exp(epsilon) * K[other], 0).sum() >= truth - 1e-12


def test_example_1():
    """Meiser's mechanism: probabilistic DP at (epsilon, delta), gone after merging 1 and 2."""
    ratio, delta = F(3), F(1, 10)
    rest, more = (1 - delta) / (1 + ratio), (1 - delta) * ratio / (1 + ratio)
    K = [[delta, more, rest, F(0)], [F(0), rest, more, delta]]
    profile = bl.privacy_profile(bl.Mechanism.from_matrix(K))
    assert encloses(profile.beyond(ratio=ratio), delta) and encloses(profile(ratio=ratio), delta)
    after = bl.privacy_profile(bl.Mechanism.from_matrix(merged(K, [(0, 1), (2,), (3,)])))
    assert encloses(after.beyond(ratio=ratio), delta + more)  # P{Z = merged | X = 0}
    assert after.beyond(ratio=ratio).lower > delta
    assert encloses(after(ratio=ratio), delta)


# -- named families --------------------------------------------------------------------------------


def ndtr(z):
    return mp.erfc(-z / mp.sqrt(2)) / 2


def gauss(gap, epsilon):
    gap, epsilon = mp.mpf(gap), mp.mpf(epsilon)
    return ndtr(gap / 2 - epsilon / gap) - mp.e**epsilon * ndtr(-gap / 2 - epsilon / gap)


@pytest.mark.few(13)
@pytest.mark.parametrize("gap", [2.0**-20, 0.125, 1.0, 3.5, 30.0])
@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.1, 1.0, 2.5, 8.0, 30.0, 100.0])
def test_gaussian_profiles_to_the_last_digit(gap, epsilon):
    """Down to 1e-300 and beyond: relative accuracy."""
    with mp.workdps(60 + int(1000 * (epsilon / gap > 30))):
        truth = gauss(gap, epsilon)
        beyond = ndtr(mp.mpf(gap) / 2 - mp.mpf(epsilon) / gap)
        profile = bl.privacy_profile((bl.normal(mu=gap), bl.normal()))
        for found, value in ((profile(epsilon), truth), (profile.beyond(epsilon), beyond)):
            assert encloses(found, value) and tight(found) and found.status == "exact"
        mech = bl.mechanisms.gaussian(sigma=2.0, secret=bl.Finite([0.0, gap, 2 * gap]))
        assert bl.privacy_profile(mech)(epsilon).lower == profile(epsilon).lower
        assert (
            bl.hockey_stick(bl.normal(), bl.normal(mu=gap), epsilon).lower == profile(epsilon).lower
        )


def test_gaussian_profile_at_small_deltas():
    """At delta from 1e-4 to 1e-300 the two ends are neighbouring floats."""
    pair, least = (bl.normal(mu=1.0), bl.normal()), 1.0
    for epsilon in (4.0, 8.0, 15.0, 37.0):
        found = bl.privacy_profile(pair)(epsilon)
        assert encloses(found, gauss(1, epsilon)) and tight(found)
        least = min(least, found.lower)
    assert 0 < least < 1e-290 and 1e-16 < bl.privacy_profile(pair)(8.0).lower < 1e-14


@pytest.mark.parametrize("sigmas", [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0 + 2**-20)])
@pytest.mark.parametrize("mu", [0.0, 1.0, -3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_normal_measures_of_two_deviations(sigmas, mu, epsilon):
    s, t = (mp.mpf(v) for v in sigmas)
    mean, e = mp.mpf(mu), mp.mpf(epsilon)
    a, b = 1 / (2 * t**2) - 1 / (2 * s**2), mean / s**2
    c = mp.log(t / s) - mean**2 / (2 * s**2) - e
    under = b * b - 4 * a * c
    if under <= 0:
        inside = (mp.mpf(0), mp.mpf(0)) if a < 0 else (mp.mpf(1), mp.mpf(1))
    else:
        u, v = sorted([(-b - mp.sqrt(under)) / (2 * a), (-b + mp.sqrt(under)) / (2 * a)])
        inside = tuple(ndtr((v - n) / d) - ndtr((u - n) / d) for n, d in ((mean, s), (0, t)))
        if a > 0:
            inside = tuple(1 - w for w in inside)
    found = bl.hockey_stick(bl.normal(mu=mu, sigma=sigmas[0]), bl.normal(sigma=sigmas[1]), epsilon)
    truth = inside[0] - mp.e**e * inside[1]
    slack = mp.mpf(10) ** -45  # the oracle's own cancellation at 60 digits
    assert mp.mpf(found.lower) - slack <= truth <= mp.mpf(found.upper) + slack
    assert tight(found) or found.upper < 1e-300


@pytest.mark.parametrize("r", [2.0**-30, 0.5, 1.0, 40.0])
def test_laplace_profiles(r):
    """1 - e^((epsilon - r)/2) below r, then 0; P{L > epsilon} = 1 - e^((epsilon - r)/2)/2."""
    mech = bl.mechanisms.laplace(b=0.5, secret=bl.Interval(0, r / 2))
    profile = bl.privacy_profile(mech)
    for part in (F(0), F(1, 3), F(9, 10), 1 - F(1, 10**6), 1 - F(1, 2**52)):
        epsilon = F(r) * part
        e = (mp.mpf(epsilon.numerator) / epsilon.denominator - mp.mpf(r)) / 2
        assert encloses(profile(epsilon), -mp.expm1(e)) and tight(profile(epsilon))
        assert encloses(profile.beyond(epsilon), 1 - mp.e**e / 2)
    for epsilon in (F(r), r + 1):
        assert profile(epsilon).upper == profile.beyond(epsilon).upper == 0
    assert encloses(
        bl.privacy_profile(bl.mechanisms.laplace(b=1.0, secret=bl.Interval(0, 1)))(ratio=2),
        1 - mp.e ** ((mp.log(2) - 1) / 2),
    )


def test_unbounded_secrets_have_no_profile_below_1():
    for mech in (bl.mechanisms.gaussian(sigma=1.0), bl.mechanisms.laplace(b=1.0)):
        found = bl.privacy_profile(mech)(3.0)
        assert (found.lower, found.upper, found.attained) == (1.0, 1.0, False)
    one = bl.privacy_profile(
        bl.pmf([F(1)], on=bl.Finite([0.5])) * bl.mechanisms.gaussian(sigma=1.0)
    )
    assert one(0.0).upper == 0


@pytest.mark.few(2)
@pytest.mark.parametrize("rates", [(1.0, 2.0), (2.0, 1.0), (0.5, 8.0)])
@pytest.mark.parametrize("epsilon", [0.0, 0.25, 1.0, 2.0])
def test_monotone_losses(rates, epsilon):
    a, b, e = mp.mpf(rates[0]), mp.mpf(rates[1]), mp.mpf(epsilon)
    x = (mp.log(a / b) - e) / (a - b)
    below = [1 - mp.e ** (-r * max(x, mp.mpf(0))) for r in (a, b)]
    masses = below if a > b else [1 - v for v in below]
    found = bl.hockey_stick(bl.exponential(lam=rates[0]), bl.exponential(lam=rates[1]), epsilon)
    assert encloses(found, masses[0] - mp.e**e * masses[1]) and found.width <= 1e-15
    poisson = sum(
        max(
            mp.mpf(0),
            mp.e ** (-a) * a**k / mp.factorial(k) - mp.e ** (e - b) * b**k / mp.factorial(k),
        )
        for k in range(150)
    )
    found = bl.hockey_stick(bl.poisson(mu=rates[0]), bl.poisson(mu=rates[1]), epsilon)
    assert encloses(found, poisson) and found.width <= 1e-15
    u, v = rates[0] / 16, rates[1] / 16
    geometric = sum(
        max(mp.mpf(0), mp.mpf(u) * (1 - mp.mpf(u)) ** k - mp.e**e * v * (1 - mp.mpf(v)) ** k)
        for k in range(4000)
    )
    found = bl.hockey_stick(bl.geometric(p=u), bl.geometric(p=v), epsilon)
    slack = mp.mpf(10) ** -50
    assert mp.mpf(found.lower) <= geometric + slack and geometric - slack <= mp.mpf(found.upper)
    assert found.width <= 1e-15


# -- other densities -------------------------------------------------------------------------------


def test_densities_on_an_interval():
    """2y against 1: the excess is 1 - g^2/4 - g (1 - g/2) = (1 - g/2)^2."""
    p, q = bl.Measure(lambda y: 2 * y, bl.Interval(0, 1)), bl.uniform(bl.Interval(0, 1))
    for ratio in (F(1), F(3, 2), F(15, 8), 2 - F(1, 2**20), F(2), F(3)):
        truth = max(1 - ratio / 2, F(0)) ** 2
        found = bl.hockey_stick(p, q, ratio=ratio)
        assert encloses(found, truth) and certainly(found)
        assert found.width <= 1e-9 * found.upper or truth == 0
    # the other direction: 1 - 2 g y is positive below 1/(2g)
    for ratio in (F(1), F(3, 2), F(1000)):
        found = bl.hockey_stick(q, p, ratio=ratio)
        assert encloses(found, 1 / (4 * ratio)) and found.width <= 1e-8 * found.upper


def test_light_tails_keep_their_relative_accuracy():
    """exp(-y) against 4 exp(-4y), written by hand: the exponential closed form, down to 1e-20."""
    p = bl.Measure(lambda y: np.exp(-y), bl.Interval(0, None))
    q = bl.Measure(lambda y: 4 * np.exp(-4 * y), bl.Interval(0, None))
    for epsilon in (0.0, 1.0, 10.0, 40.0, 120.0):
        e = mp.mpf(epsilon)
        x = (mp.log(4) + e) / 3
        truth = mp.e ** (-x) - mp.e**e * mp.e ** (-4 * x)
        found = bl.hockey_stick(p, q, epsilon)
        assert encloses(found, truth), epsilon
        assert found.upper - found.lower <= 1e-8 * found.upper, epsilon
    x = mp.log(4) / 3  # the other direction is 0 from log 4 on
    found = bl.hockey_stick(q, p, 0.5)
    y = (mp.log(4) - mp.mpf("0.5")) / 3
    assert encloses(found, (1 - mp.e ** (-4 * y)) - mp.e ** mp.mpf("0.5") * (1 - mp.e ** (-y)))


def test_the_engine_agrees_with_the_closed_form_of_normal_measures():
    """The traced density holds log 2 pi as a float, so the last digits may differ."""
    pair = bl.normal(mu=1.0), bl.normal()
    with bl.options(closed_forms=False):
        for epsilon in (0.0, 0.5, 2.0, 8.0):
            found, truth = bl.hockey_stick(*pair, epsilon), float(gauss(1, epsilon))
            assert certainly(found) and found.lower <= truth * (1 + 1e-15)
            assert truth * (1 - 1e-15) <= found.upper
            assert found.upper - found.lower <= 1e-8 * found.upper


def test_parts_where_the_second_law_has_nothing():
    p, q = bl.uniform(bl.Interval(0, 2)), bl.uniform(bl.Interval(1, 4))
    assert encloses(bl.hockey_stick(p, q, 0), HALF + F(1, 6))
    assert encloses(bl.hockey_stick(p, q, ratio=2), HALF)
    apart = bl.hockey_stick(p, bl.uniform(bl.Interval(3, 4)), 5.0)
    assert encloses(apart, F(1)) and apart.width < 1e-9


@pytest.mark.slow
def test_densities_with_gaps():
    """Boxes of width 1 a quarter apart: where one density is 0 its logarithm is not a number."""
    mech = bl.Mechanism(
        lambda y, x: np.where(abs(y - x) < 0.5, 1.0, 0.0),
        secret=bl.Finite([0.0, 0.25]),
        outcome=bl.Interval(-1, 1),
        breaks=[-0.5, -0.25, 0.5, 0.75],
    )
    for epsilon in (0.0, 3.0):
        found = bl.privacy_profile(mech)(epsilon)
        assert encloses(found, F(1, 4)) and found.width < 1e-9
    joint = bl.pmf([HALF, HALF], on=bl.Finite([0.0, 0.25])) * mech
    # f_Y is 1/2 on both ends, of length 1/4 each: PML log 2 there, 0 between
    for figure, truth in ((bl.psi_1, F(1, 8)), (bl.psi_2, F(1, 8))):
        found = figure(joint, 0.0)
        assert encloses(found, truth), (figure, found)


def test_a_mechanism_with_a_density():
    mech = bl.Mechanism(
        lambda y, x: 2 * y * x + (2 - 2 * y) * (1 - x),
        secret=bl.Finite([0, 1]),
        outcome=bl.Interval(0, 1),
    )
    found = bl.privacy_profile(mech)(ratio=3)
    # 2y > 3 (2 - 2y) for y > 3/4: 1 - 9/16 - 3/16
    assert encloses(found, F(1, 4)) and found.width < 1e-8
    assert set(found.witness) == {"x", "x'"}
    with pytest.raises(bl.NotYet, match="not certified"):
        bl.privacy_profile(mech).beyond(1.0)


# -- the inverse, curves, errors ---


def test_the_epsilon_of_a_delta():
    profile = bl.privacy_profile(bl.mechanisms.gaussian(sigma=1.0, secret=bl.Interval(0, 1)))
    for delta in (0.3, 1e-5, 1e-14):
        found = profile.epsilon(delta)
        assert found.width < 1e-13 and found.status == "exact"
        assert gauss(1, found.lower) >= mp.mpf(delta) >= gauss(1, found.upper)
    laplace = bl.privacy_profile(bl.mechanisms.laplace(b=1.0, secret=bl.Interval(0, 1)))
    assert laplace.epsilon(0) == bl.Bound.exact(
        1.0, 1.0, assumptions=laplace.epsilon(0).assumptions
    ) or (laplace.epsilon(0).lower <= 1.0 <= laplace.epsilon(0).upper)
    assert laplace.epsilon(0.9).upper == 0
    released = bl.privacy_profile(bl.Mechanism.from_matrix([[1, 0], [0, 1]]))
    assert released.epsilon(F(1, 2)) == bl.Bound.exact(math.inf, math.inf)
    assert released.epsilon(1).upper == 0


def least_ratio(p, q, delta):
    """The smallest c >= 1 with sum of (p - c q)^+ <= delta, in Fractions; None if there is none.

    The sum falls and is linear between the ratios p / q: it is solved on the piece that it crosses.
    """
    if sum(a for a, b in zip(p, q, strict=True) if b == 0) > delta:
        return None
    ratios = sorted({a / b for a, b in zip(p, q, strict=True) if b > 0 and a > b}, reverse=True)
    right = ratios[0] if ratios else F(1)
    for left in [*ratios, F(1)]:
        if (over := excess(p, q, left)) > delta:
            slope = (over - excess(p, q, right)) / (right - left)
            return left + (over - delta) / slope
        right = left
    return F(1)


@pytest.mark.parametrize("seed", range(12))
def test_the_epsilon_of_random_rational_tables(seed):
    rng = random.Random(seed)
    for _ in range(5):
        outcomes, secrets, rows = rng.randint(2, 4), rng.randint(2, 3), []
        while len(rows) < secrets:
            weights = [rng.choice([0, 1, 2, 3]) for _ in range(outcomes)]
            if sum(weights):
                rows.append([F(w, sum(weights)) for w in weights])
        limits = {sum(a for a, b in zip(p, q, strict=True) if b == 0) for p in rows for q in rows}
        delta = rng.choice([*limits, F(1, 10), F(1, 3)])  # often where the profile is flat
        found = bl.privacy_profile(bl.Mechanism.from_matrix(rows)).epsilon(delta)
        each = [least_ratio(p, q, delta) for p in rows for q in rows]
        assert found.status == "exact"
        if None in each:
            assert (found.lower, found.upper) == (math.inf, math.inf)
        else:
            truth = mp.log(mp.mpf(max(each).numerator)) - mp.log(mp.mpf(max(each).denominator))
            assert found.lower <= truth <= found.upper and found.width < 1e-14


def test_the_epsilon_where_the_profile_is_delta_from_there_on():
    """Example 1 of the paper with e^epsilon = 3 and delta = 1/10: log 3, and no less."""
    rows = [[F(1, 10), F(27, 40), F(9, 40), F(0)], [F(0), F(9, 40), F(27, 40), F(1, 10)]]
    mech = bl.Mechanism.from_matrix(rows)
    pair = tuple(bl.pmf(row) for row in rows)
    for of in (mech, bl.pmf([F(1, 2), F(1, 2)]) * mech, pair):
        found = bl.privacy_profile(of).epsilon(F(1, 10))
        assert found.status == "exact" and found.lower <= mp.log(3) <= found.upper
        assert found.width < 1e-15
        assert bl.privacy_profile(of).epsilon(F(99, 1000)).lower == math.inf
    floats = bl.privacy_profile(bl.Mechanism.from_matrix([[float(v) for v in r] for r in rows]))
    assert floats.epsilon(0.09).lower == math.inf
    assert floats.epsilon(0.1).status == "undecided"  # floats near 1/10 decide nothing at 1/10


def test_curves():
    profile = bl.privacy_profile(bl.mechanisms.gaussian(sigma=1.0, secret=bl.Interval(0, 1)))
    curve = profile([0.0, 0.5, 1.0])
    assert curve.sizes == {"epsilon": 3} and (np.diff(curve.upper) < 0).all()
    assert (profile.beyond([0.0, 0.5, 1.0]).lower >= curve.upper).all()
    assert set(curve.status.values) == {"exact"} and curve.lower.attrs["units"] == "probability"


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"epsilon": -1},
        {"epsilon": math.inf},
        {"epsilon": math.nan},
        {"ratio": F(1, 2)},
        {"ratio": 1.5},
        {"epsilon": 1, "ratio": 2},
    ],
)
def test_what_an_epsilon_is_not(asked):
    mech = bl.Mechanism.from_matrix([[1, 0], [0, 1]])
    joint = bl.pmf([HALF, HALF]) * mech
    for call in (
        bl.privacy_profile(mech),
        lambda **k: bl.psi_1(joint, **k),
        lambda **k: bl.psi_2(joint, **k),
    ):
        with pytest.raises(bl.InvalidInput):
            call(**asked)
    with pytest.raises(bl.InvalidInput):
        bl.hockey_stick(bl.normal(), bl.normal(mu=1), **asked)


def test_what_has_no_profile():
    with pytest.raises(bl.InvalidInput, match="a mechanism"):
        bl.privacy_profile(3)
    with pytest.raises(bl.InvalidInput, match="Measures"):
        bl.privacy_profile((1, 2))
    with pytest.raises(bl.InvalidInput, match="one kind"):
        bl.hockey_stick(bl.normal(), bl.pmf([F(1)]), 1)
    with pytest.raises(bl.InvalidInput, match=r"prior \* mech"):
        bl.psi_1(bl.normal(), 1)


# -- where a search in float64 goes wrong, only the width may suffer -------------------------------


@pytest.mark.parametrize("cuts", [[], [0.25], [0.9], [0.1, 0.5, 0.77]])
def test_misplaced_cuts_cost_width_only(monkeypatch, cuts):
    from borel.engine.divergences import hockey_sticks

    monkeypatch.setattr(hockey_sticks, "_crossings", lambda *_: cuts)
    p, q = bl.Measure(lambda y: 2 * y, bl.Interval(0, 1)), bl.uniform(bl.Interval(0, 1))
    for ratio in (F(1), F(3, 2), F(3)):
        assert encloses(bl.hockey_stick(p, q, ratio=ratio), max(1 - ratio / 2, F(0)) ** 2)
        assert encloses(bl.hockey_stick(q, p, ratio=ratio), 1 / (4 * ratio))


def test_an_irrational_factor_is_enclosed():
    """e^(1/2) to 320 bits: the ends lie on their sides of a truth of 150 digits."""
    from borel.engine.divergences.hockey_sticks import finite_beyond, finite_excess
    from borel.engine.problem.thresholds import Threshold

    p, q = [F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]
    low, high = finite_excess((p, p), (q, q), Threshold(F(1, 2)))
    with mp.workdps(150):
        truth = mp.mpf(3) / 4 - mp.e ** mp.mpf("0.5") / 4
        assert mp.mpf(low.numerator) / low.denominator < truth
        assert truth < mp.mpf(high.numerator) / high.denominator
    assert 0 < high - low < F(1, 2**300)
    # between two ratios that enclose e^(1/2) nothing is decided
    tie = [Threshold(F(1, 2)).ends()[k] for k in (0, 1)]
    middle = sum(tie) / 2
    one = [middle / (1 + middle), 1 / (1 + middle)], [1 / (1 + middle), middle / (1 + middle)]
    found = finite_beyond((one[0], one[0]), (one[1], one[1]), Threshold(F(1, 2)))
    assert found == (0, one[0][0])
    # far out only what is impossible under Q counts for certain
    assert finite_excess((p, p), (q, q), Threshold(F(20_000))) == (0, 0)
    assert finite_excess((p, p), ([F(0), F(1)],) * 2, Threshold(F(20_000))) == (F(3, 4), F(3, 4))


@pytest.mark.slow
def test_a_profile_of_a_kernel_that_is_not_proved_normalised_is_conditional():
    """Beyond the rounding of floats, but too near to 1 for the proof that it is not."""
    found = bl.privacy_profile(_of_mass(1 + 1e-11))(0.5)
    assert found.status == "conditional"
    assert any("kernel normalised" in a for a in found.assumptions)


def test_a_profile_of_a_kernel_that_is_proved_to_miss_1_is_refused():
    with pytest.raises(bl.InvalidInput, match="proved to miss 1 by 5e-07"):
        bl.privacy_profile(_of_mass(1 + 5e-7))(0.5)


def _of_mass(total):
    return bl.Mechanism(
        lambda y, x: total * np.exp(-(np.abs(y - x) ** 1.5)) / (2 * math.gamma(5 / 3)),
        secret=bl.Finite([0.0, 1.0]),
        outcome=bl.Reals(),
        breaks=(0.0, 1.0),
    )


def test_psi_of_a_density_that_cannot_be_traced_says_so():
    opaque = bl.Mechanism(
        lambda y, x: np.vectorize(lambda a, b: math.exp(-abs(a - b)) / 2)(y, x),
        secret=bl.Finite([0, 1]),
        outcome=bl.Reals(),
    )
    with pytest.raises(bl.NotYet, match="enclosed"):
        bl.psi_1(bl.pmf([0.5, 0.5]) * opaque, 0.1)


def test_the_epsilon_of_delta_0_is_that_of_pure_ldp():
    """From that level on the profile is 0, and it is not gone over pair by pair."""
    rng = np.random.default_rng(7)
    kernel = rng.dirichlet(np.ones(6), size=6)
    mech = bl.Mechanism.from_matrix(kernel)
    truth = np.log((kernel[:, None] / kernel).max())
    found = bl.privacy_profile(mech).epsilon(0)
    assert found.value == pytest.approx(truth, rel=1e-13) and found.width < 1e-13
    below = bl.privacy_profile(mech).epsilon(1e-9)
    assert below.upper < found.lower and bl.privacy_profile(mech)(below.lower - 1e-6).lower > 1e-9
