"""Gains, costs and functions of finite secrets, with countable and continuous outcomes.

The truth is mpmath's at 40 digits (integrals between the places where the best action changes), or
a closed form.
"""

import itertools
import math
import random
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest

import borel as bl

adv, gain, cost = bl.adversaries, bl.adversaries.gain, bl.adversaries.cost
HALF = F(1, 2)


def laws(kind, scale):
    """The density of the noise at x, for mpmath, and the mechanism."""
    if kind == "gaussian":

        def make(X):
            return bl.mechanisms.gaussian(sigma=scale, secret=X)

        return (lambda y, x: mp.npdf(y, x, scale)), make

    def make(X):
        return bl.mechanisms.laplace(b=scale, secret=X)

    return (lambda y, x: mp.exp(-abs(y - x) / scale) / (2 * scale)), make


def best(table, weights, word):
    sums = [sum(w * g for w, g in zip(weights, column, strict=True)) for column in table]
    chosen = (max if word == "gain" else min)(sums)
    return chosen, sums.index(chosen)


def crossings(action, ends, steps=800):
    """Places where the best action changes."""
    grid = [mp.mpf(ends[0]) + (ends[1] - ends[0]) * mp.mpf(k) / steps for k in range(steps + 1)]
    out = []
    for low, high in itertools.pairwise(grid):
        first = action(low)
        if action(high) != first:
            for _ in range(130):
                middle = (low + high) / 2
                low, high = (middle, high) if action(middle) == first else (low, middle)
            out.append(low)
    return out


def check(seed):
    """Compare a random table at a random outcome and on average; return the width."""
    rng = random.Random(seed)
    points = sorted(rng.sample([k / 4 for k in range(-12, 13)], rng.randint(2, 4)))
    density, make = laws(rng.choice(["gaussian", "laplace"]), rng.choice([0.5, 1.0, 2.0]))
    share = [rng.randint(1, 9) for _ in points]
    p = [F(v, sum(share)) for v in share]
    word = rng.choice(["gain", "cost"])
    rows = [[rng.choice([0, 1, 2, 3, 5]) for _ in range(rng.randint(1, 4))]]
    rows += [[rng.choice([0, 1, 2, 3, 5]) for _ in rows[0]] for _ in points[1:]]
    columns = list(zip(*rows, strict=True))
    X = bl.Finite(points)
    joint = bl.pmf(p, on=X) * make(X)
    threat = (gain if word == "gain" else cost).table(rows)
    leakage = adv.g_leakage if word == "gain" else adv.cost_leakage
    after = adv.posterior_vulnerability if word == "gain" else adv.posterior_cost
    with mp.workdps(40):
        prior = [mp.mpf(v.numerator) / v.denominator for v in p]

        def weights(y):
            return [w * density(y, x) for w, x in zip(prior, points, strict=True)]

        y = rng.uniform(-5, 5)
        own = weights(mp.mpf(y))
        before, value = best(columns, prior, word)[0], best(columns, own, word)[0] / sum(own)
        up, down = (value, before) if word == "gain" else (before, value)
        if before == 0:
            truth = mp.mpf(0)
        elif up == 0 or down == 0:
            truth = mp.inf if down == 0 else -mp.inf
        else:
            truth = mp.log(up / down)
        found = leakage(joint, threat, y)
        assert found.status == "certified" and found.lower <= truth <= found.upper, seed
        ends = points[0] - 30, points[-1] + 30
        marks = {*points, *crossings(lambda v: best(columns, weights(v), word)[1], ends)}
        parts = [-mp.inf, ends[0], *sorted(marks), ends[1], mp.inf]
        truth = mp.quad(lambda v: best(columns, weights(v), word)[0], parts)
        found = after(joint, threat)
        assert found.status == "certified" and found.lower <= truth <= found.upper, seed
    return found.width


def test_random_tables_against_quadrature():
    assert max(check(seed) for seed in range(1)) < 1e-8


@pytest.mark.truths
@pytest.mark.parametrize("seed", range(1, 201))
def test_two_hundred_random_tables_against_quadrature(seed):
    assert check(seed) < 1e-6


def binary(sigma=1.0):
    X = bl.Finite([-1, 1])
    return bl.pmf([HALF, HALF], on=X) * bl.mechanisms.gaussian(sigma=sigma, secret=X)


def test_the_best_guess_of_two_signs():
    """The vulnerability is the probability that the noise keeps the sign."""
    joint = binary()
    right = mp.ncdf(1)
    found = adv.posterior_vulnerability(joint, gain.identity())
    assert found.lower <= right <= found.upper and found.width < 1e-8
    wrong = adv.posterior_cost(joint, cost.zero_one())
    assert wrong.lower <= 1 - right <= wrong.upper and wrong.width < 1e-8
    same = bl.Mechanism.from_matrix([[1, 0], [0, 1]], secret=joint.secret, outcome=["no", "yes"])
    for of, truth in (("pml", mp.log(2 * right)), ("pmc", mp.log(HALF / (1 - right)))):
        found = adv.function_leakage(joint, same, of=of)
        assert found.lower <= truth <= found.upper and found.width < 1e-7
        y = 0.75
        post = 1 / (1 + mp.exp(-2 * mp.mpf(y)))
        truth = mp.log(2 * post) if of == "pml" else -mp.log(2 * (1 - post))
        found = adv.function_leakage(joint, same, y, of=of)
        assert found.lower <= truth <= found.upper and found.width < 1e-8
        assert found.witness["after"] == "yes"


def square_cost(joint_sigma):
    """E Var(X|Y) of a sign with Gaussian noise: the mean of 1 - tanh(y / s^2)^2."""
    s = mp.mpf(joint_sigma)

    def law(y):
        return (mp.npdf(y, -1, s) + mp.npdf(y, 1, s)) / 2

    return mp.quad(lambda y: law(y) * mp.sech(y / s**2) ** 2, [-30, -5, 0, 5, 30])


@pytest.mark.parametrize(
    "p",
    [
        pytest.param(2, marks=pytest.mark.slow),
        pytest.param(F(3, 2), marks=pytest.mark.slow),
        pytest.param(3, marks=pytest.mark.slow),
    ],
)
def test_the_distance_from_a_sign(p):
    """With q = P(1|y) the best number costs 2^p / (q^-r + (1-q)^-r)^(p-1), r = 1/(p-1)."""
    joint, r = binary(), 1 / (mp.mpf(p.numerator) / p.denominator - 1)

    def least(y):
        q = 1 / (1 + mp.exp(-2 * y))
        return 2 ** (1 / r + 1) / (q**-r + (1 - q) ** -r) ** (1 / r)

    def law(y):
        return (mp.npdf(y, -1, 1) + mp.npdf(y, 1, 1)) / 2

    truth = mp.quad(lambda y: law(y) * least(y), [-25, -6, 0, 6, 25])
    if p == 2:
        assert abs(truth - square_cost(1)) < 1e-12
    found = adv.posterior_cost(joint, cost.distance(p))
    assert found.lower <= truth <= found.upper and found.width < 1e-4
    found = adv.posterior_cost(joint, cost.distance(p), 0.75)
    assert found.lower <= least(mp.mpf(0.75)) <= found.upper and found.width < 1e-8


@pytest.mark.slow
def test_the_log_loss_is_the_entropy_that_is_left():
    joint = binary()
    found = adv.posterior_cost(joint, cost.alpha_loss(1))
    left = mp.quad(
        lambda y: mp.npdf(y, 1, 1) * mp.log1p(mp.exp(-2 * y)), [-25, -6, 0, 6, 25]
    )  # by symmetry
    assert found.lower <= left <= found.upper and found.width < 0.02


def countable(p=(F(1, 2), F(1, 4), F(1, 4))):
    X = bl.Finite([0, 1, 3])
    return bl.pmf(list(p), on=X) * bl.mechanisms.geometric(alpha=0.5, secret=X)


def test_countable_outcomes():
    """f(y|x) = 2^-|y-x| / 3: the sum of the largest terms, and geometric tails."""
    joint = countable()
    p = dict(zip([0, 1, 3], [F(1, 2), F(1, 4), F(1, 4)], strict=True))

    def own(y):
        return [w * F(1, 3) * F(1, 2) ** abs(y - x) for x, w in p.items()]

    # beyond 0 and 3 all terms fall by the same factor: the best stays, and the sum doubles
    truth = sum((max(own(y)) for y in range(1, 3)), F(0)) + 2 * max(own(0)) + 2 * max(own(3))
    found = adv.posterior_vulnerability(joint, gain.identity())
    assert F(found.lower) <= truth <= F(found.upper) and found.width < 1e-12
    y = 2
    found = adv.posterior_vulnerability(joint, gain.identity(), y)
    assert F(found.lower) <= max(own(y)) / sum(own(y)) <= F(found.upper)


def mixed():
    """Uniform noise with an atom: a clipped release."""
    X = bl.Finite([0, 1])
    joint = bl.pmf([F(1, 3), F(2, 3)], on=X) * bl.mechanisms.laplace(b=1.0, secret=X).clip(0, 1)
    return joint


def test_outcomes_with_atoms():
    with mp.workdps(40):
        below = {0: mp.mpf(1) / 2, 1: mp.exp(-1) / 2}
        third = mp.mpf(1) / 3

        def own(y):
            return max(third * mp.exp(-y), 2 * third * mp.exp(y - 1)) / 2

        meet = (1 - mp.log(2)) / 2
        truth = (
            max(third * below[0], 2 * third * below[1])
            + max(third * below[1], 2 * third * below[0])
            + mp.quad(own, [0, meet, 1])
        )
    found = adv.posterior_vulnerability(mixed(), gain.identity())
    assert found.lower <= truth <= found.upper and found.width < 1e-7
    found = adv.posterior_vulnerability(mixed(), gain.identity(), 0.0)
    truth = third * below[0] / (third * below[0] + 2 * third * below[1])
    assert found.lower <= max(truth, 1 - truth) <= found.upper and found.width < 1e-8


@pytest.mark.parametrize(
    "joint, y", [(binary(), 0.3), (countable(), 5), (mixed(), 0.25), (mixed(), 1.0)]
)
def test_the_witnesses_attain_pml_and_pmc(joint, y):
    pairs = (
        (adv.g_leakage, gain.reciprocal, bl.pml),
        (adv.cost_leakage, cost.reciprocal, bl.pmc),
    )
    for leakage, threat, most in pairs:
        found, target = leakage(joint, threat(joint.prior), y), most(joint)(y)
        assert found.lower <= target.upper and target.lower <= found.upper
        assert found.width < 1e-8 > target.width
    mean = adv.g_leakage(joint, gain.reciprocal(joint.prior))
    known = bl.maximal_leakage(joint)
    assert mean.lower <= known.upper and known.lower <= mean.upper and mean.width < 1e-7


def test_secrets_need_not_be_those_of_the_mechanism():
    """A mechanism on the reals: rows of a table follow the labels of the prior."""
    p = bl.pmf([F(1, 4), HALF, F(1, 4)], on=bl.Finite([0, 1, 2]))
    noise = bl.mechanisms.laplace(b=1.0, secret=bl.Reals())
    table = [[1, 0], [1, 1], [0, 2]]
    found = adv.g_leakage(p * noise, gain.table(table), 0.5)
    on_labels = p * bl.mechanisms.laplace(b=1.0, secret=p.on)
    same = adv.g_leakage(on_labels, gain.table(table), 0.5)
    assert (found.lower, found.upper) == (same.lower, same.upper)


def test_an_outcome_outside_the_support_tells_nothing():
    X = bl.Finite([0, 1])
    mech = bl.Mechanism(
        lambda y, x: np.where((y >= x) & (y <= x + 1), 1.0, 0.0),
        secret=X,
        outcome=bl.Interval(-1, 3),
        breaks=(0, 1, 2),
    )
    joint = bl.pmf([HALF, HALF], on=X) * mech
    found = adv.g_leakage(joint, gain.identity(), 2.5)
    assert (found.lower, found.upper) == (0.0, 0.0)
    assert any("outside the support" in note for note in found.assumptions)
    sure = adv.g_leakage(joint, gain.identity(), 1.5)
    assert sure.lower <= math.log(2) <= sure.upper and sure.width < 1e-8
    # nothing needs to be paid any more
    assert adv.cost_leakage(joint, cost.zero_one(), 1.5).lower == math.inf
    found = adv.posterior_vulnerability(joint, gain.identity())
    assert found.lower <= 1 <= found.upper and found.width < 1e-9


def test_one_secret_tells_nothing():
    joint = bl.pmf([1, 0], on=bl.Finite([0, 1])) * bl.mechanisms.laplace(b=1.0, secret=bl.Finite(2))
    assert adv.g_leakage(joint, gain.identity()).upper == 0
    assert adv.cost_leakage(joint, cost.distance(2), 0.5).upper == 0


def test_a_kernel_that_is_not_traced_is_estimated_at_an_outcome():
    def density(y, x):
        return np.frompyfunc(lambda b, a: math.exp(-abs(b - a)) / 2, 2, 1)(y, x).astype(float)

    X = bl.Finite([0, 1])
    joint = bl.pmf([HALF, HALF], on=X) * bl.Mechanism(density, secret=X, outcome=bl.Reals())
    found = adv.g_leakage(joint, gain.identity(), 0.0)
    assert found.status == "estimate"
    assert abs(found.lower - math.log(2 / (1 + math.exp(-1)))) < 1e-6
    with pytest.raises(bl.NotYet, match="enclosure"):
        adv.g_leakage(joint, gain.identity())


def test_far_out_the_ratio_of_the_densities_counts():
    found = adv.g_leakage(binary(), gain.identity(), 60.0)
    assert found.status == "certified" and found.lower <= math.log(2) <= found.upper
    assert found.width < 1e-8


def test_outcomes_of_two_dimensions_are_not_there_yet():
    mech = bl.mechanisms.laplace(b=1.0, secret=bl.Finite(2))
    with pytest.raises(bl.NotYet, match="outcomes on"):
        adv.g_leakage(bl.pmf([HALF, HALF]) * (mech & mech), gain.identity(), (0.3, 0.4))


def test_bad_outcomes():
    with pytest.raises(bl.InvalidInput, match="one outcome"):
        adv.g_leakage(binary(), gain.identity(), [0.1, 0.2])
    with pytest.raises(bl.OutsideAlphabet):
        adv.g_leakage(mixed(), gain.identity(), 2.0)
