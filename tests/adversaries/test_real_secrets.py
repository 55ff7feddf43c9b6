"""Gains and costs of a real secret at an outcome, against closed forms and mpmath at 40 digits."""

import math
import random
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest

import borel as bl

adv, gain, cost = bl.adversaries, bl.adversaries.gain, bl.adversaries.cost


def encloses(found, truth, width=1e-7):
    assert found.status == "certified", found
    assert found.lower <= truth <= found.upper, (found, truth)
    return found.width < width


def normal():
    return bl.normal(mu=0, sigma=1) * bl.mechanisms.gaussian(sigma=1.0)


def moment(p):
    """E|Z|^p of a standard normal Z."""
    return mp.power(2, p / 2) * mp.gamma((p + 1) / 2) / mp.sqrt(mp.pi)


@pytest.mark.parametrize(
    "p",
    [
        2,
        pytest.param(1, marks=pytest.mark.slow),
        pytest.param(F(3, 2), marks=pytest.mark.slow),
        pytest.param(3, marks=pytest.mark.slow),
    ],
)
def test_a_normal_secret_in_normal_noise(p):
    """Example 2: the posterior is normal of half the variance; the leakage is (p/2) log 2."""
    power = mp.mpf(F(p).numerator) / F(p).denominator
    threat = cost.distance(p)
    assert encloses(adv.cost_leakage(normal(), threat, 0.7), power / 2 * mp.log(2))
    if p == 2:
        assert encloses(adv.prior_cost(normal(), threat), moment(power))
        found = adv.posterior_cost(normal(), threat, 0.7)
        assert encloses(found, moment(power) * mp.mpf(2) ** (-power / 2))
        assert abs(found.witness["after"] - 0.35) < 1e-6


def on_a_line(seed):
    """A random density on an interval, in Laplace or Gaussian noise, for both sides."""
    rng = random.Random(seed)
    a, b = rng.randint(1, 3), rng.randint(1, 3)
    scale, y = rng.choice([0.5, 1.0, 2.0]), rng.uniform(-2, 3)
    if rng.random() < 0.5:
        mech, log = bl.mechanisms.laplace(b=scale), lambda x: -abs(y - x) / scale
    else:
        mech, log = bl.mechanisms.gaussian(sigma=scale), lambda x: -(((y - x) / scale) ** 2) / 2
    prior = bl.beta(alpha=a, beta=b)

    def density(x):
        return x ** (a - 1) * (1 - x) ** (b - 1)

    marks = [0, *([y] if 0 < y < 1 else []), 1]

    def mean(h, after, *cuts):
        own = (lambda x: density(x) * mp.exp(log(x))) if after else density
        ends = sorted({*marks, *cuts})
        return mp.quad(lambda x: h(x) * own(x), ends) / mp.quad(own, marks)

    return prior * mech, y, mean, rng


def check_table(seed):
    with mp.workdps(40):
        joint, y, mean, rng = on_a_line(seed)
        actions = [k / 4 for k in rng.sample(range(5), rng.randint(1, 3))]
        word = rng.choice(["gain", "cost"])
        best = max if word == "gain" else min
        values = [
            best(mean(lambda x, w=w: 1 / (1 + (x - w) ** 2), after) for w in actions)
            for after in (False, True)
        ]
        ratio = values[1] / values[0] if word == "gain" else values[0] / values[1]
        table = (gain if word == "gain" else cost).table(
            lambda x, w: 1 / (1 + (x - w) ** 2), actions=actions
        )
        leakage = adv.g_leakage if word == "gain" else adv.cost_leakage
        assert encloses(leakage(joint, table, y), mp.log(ratio))


def check_distance(seed):
    with mp.workdps(40):
        joint, y, mean, rng = on_a_line(seed)
        p = rng.choice([1, 2, 3, 4])
        least = []
        for after in (False, True):
            low, high = mp.mpf(0), mp.mpf(1)
            for _ in range(60):
                m = (low + high) / 2
                slope = mean(lambda x, m=m: mp.sign(m - x) * abs(m - x) ** (p - 1), after, m)
                low, high = (m, high) if slope < 0 else (low, m)
            least.append(mean(lambda x, m=m: abs(x - m) ** p, after, m))
        assert encloses(adv.cost_leakage(joint, cost.distance(p), y), mp.log(least[0] / least[1]))


def test_random_tables_against_quadrature():
    for seed in range(2):
        check_table(seed)


@pytest.mark.truths
@pytest.mark.parametrize("seed", range(2, 202))
def test_two_hundred_tables_against_quadrature(seed):
    check_table(seed)


@pytest.mark.truths
@pytest.mark.parametrize("seed", range(40))
def test_distances_against_quadrature(seed):
    check_distance(seed)


@pytest.mark.slow
def test_a_secret_far_from_0():
    joint = bl.normal(mu=1e6, sigma=1) * bl.mechanisms.gaussian(sigma=1.0)
    assert encloses(adv.prior_cost(joint, cost.distance(1)), mp.sqrt(2 / mp.pi))


def test_whether_a_secret_is_large():
    """P(X > 1 | y): the posterior is N(y/2, 1/2)."""
    y = 2.5
    after = 1 - mp.ncdf((1 - mp.mpf(y) / 2) * mp.sqrt(2))
    before = mp.ncdf(1)
    found = adv.g_leakage(normal(), gain.membership(lambda x: x > 1), y)
    assert encloses(found, mp.log(after / before)) and found.witness["after"] is True


def test_a_gain_that_is_negative_between_the_places_that_are_looked_at():
    """It is -5 on an interval of length 1e-5: E g = 1 - 6e-5 under a uniform secret."""
    joint = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0)
    shown = gain.table(lambda x, w: 1.0 - 6.0 * (abs(x - 0.31234567) < 5e-6), actions=[0])
    with pytest.raises(bl.InvalidInput, match=">= 0"):
        adv.prior_vulnerability(joint, shown)
    # (x - a)^2 as a sum, which intervals do not show to be >= 0
    hidden = gain.table(lambda x, w: x * x - 0.6 * x + 0.09, actions=[0])
    found = adv.prior_vulnerability(joint, hidden)
    assert found.status == "conditional" and "checked at" in found.assumptions[-1]
    assert found.lower <= mp.mpf(1) / 3 - mp.mpf(0.6) / 2 + mp.mpf(0.09) <= found.upper
    assert adv.g_leakage(joint, hidden, 0.5).status == "conditional"
    plain = gain.table(lambda x, w: (x - 0.3) ** 2, actions=[0])
    found = adv.prior_vulnerability(joint, plain)
    assert (
        found.status == "certified"
        and found.lower <= mp.mpf(0.3) ** 2 + mp.mpf(1) / 3 - mp.mpf(0.3) <= found.upper
    )


@pytest.mark.parametrize("of", ["pml", "pmc"])
def test_the_event_of_a_witness_comes_near_its_leakage(of):
    joint = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0)
    found = adv.witness(joint, 0.3, of=of)
    threat = (gain if of == "pml" else cost).table(lambda x, w: found.gain(x), actions=[0])
    leakage = (adv.g_leakage if of == "pml" else adv.cost_leakage)(joint, threat, 0.3)
    target = (bl.pml if of == "pml" else bl.pmc)(joint)(0.3)
    assert target.lower - 0.01 <= leakage.upper and leakage.lower <= target.upper
    known = found.leakage()
    assert known.lower <= leakage.lower and leakage.upper <= known.upper


def test_continuous_secrets_and_finite_outcomes():
    """A coin of probability x: the posterior after a head has the mean 2/3."""
    mech = bl.Mechanism(
        lambda y, x: np.where(y == 1, x, 1 - x), secret=bl.Interval(0, 1), outcome=bl.Finite(2)
    )
    joint = bl.uniform(bl.Interval(0, 1)) * mech
    found = adv.posterior_cost(joint, cost.distance(2), 1)
    assert encloses(found, mp.mpf(1) / 18)
    assert encloses(adv.cost_leakage(joint, cost.distance(2), 1), mp.log(mp.mpf(3) / 2))


def test_a_cost_without_a_mean_is_undecided():
    joint = bl.cauchy(alpha=0, beta=1) * bl.mechanisms.gaussian(sigma=1.0)
    found = adv.cost_leakage(joint, cost.distance(2), 0.5)
    assert found.status == "undecided" and found.upper == math.inf


def test_what_is_not_there():
    joint = normal()
    with pytest.raises(bl.NotYet, match="average"):
        adv.g_leakage(joint, gain.membership(lambda x: x > 0))
    with pytest.raises(bl.NotYet, match="cannot be traced"):
        adv.g_leakage(joint, gain.table(lambda x, w: math.exp(-x * x), actions=[0]), 0.5)
    with pytest.raises(bl.NotYet, match="the power 4/3"):
        adv.cost_leakage(joint, cost.distance(F(4, 3)), 0.5)
    with pytest.raises(bl.InvalidInput, match="values >= 0"):
        adv.g_leakage(joint, gain.table(lambda x, w: x, actions=[0]), 0.5)
    with pytest.raises(bl.InvalidInput, match="one outcome"):
        adv.cost_leakage(joint, cost.distance(2), [0.5, 1.0])
