"""The leakage of an event of outcomes that are countable or have a density, for finite secrets."""

import math
import random
from fractions import Fraction as F

import mpmath as mp
import pytest

import borel as bl

HALF = F(1, 2)


def encloses(found, truth):
    return found.status == "certified" and found.lower <= truth <= found.upper


def ratio(p, probabilities):
    """Log max_x P(E|x) / P(E)."""
    whole = sum(w * v for w, v in zip(p, probabilities, strict=True))
    return mp.log(max(probabilities) / whole)


def gaussian_case(seed):
    rng = random.Random(seed)
    points = sorted(rng.sample([k / 4 for k in range(-12, 13)], rng.randint(2, 5)))
    share = [rng.randint(1, 9) for _ in points]
    ends = sorted(rng.sample([k / 8 for k in range(-40, 41)], 4))
    spans = [(ends[0], ends[1]), (ends[2], ends[3])]
    if rng.random() < 0.3:
        spans[1] = ends[2], math.inf
    if rng.random() < 0.3:
        spans[0] = -math.inf, ends[1]
    sigma = rng.choice([0.5, 1.0, 2.0])
    X = bl.Finite(points)
    joint = bl.pmf([F(v, sum(share)) for v in share], on=X) * bl.mechanisms.gaussian(
        sigma=sigma, secret=X
    )
    event = [bl.Interval(*(v if math.isfinite(v) else None for v in span)) for span in spans]
    with mp.workdps(40):
        inside = [
            sum(
                mp.ncdf((mp.mpf(b) - x) / sigma) - mp.ncdf((mp.mpf(a) - x) / sigma)
                for a, b in spans
            )
            for x in points
        ]
        truth = ratio([mp.mpf(v) / sum(share) for v in share], inside)
    found = bl.event_maximal_leakage(joint, event)
    assert encloses(found, truth), seed
    assert found.witness["x"] == points[inside.index(max(inside))]
    return found.width


def test_random_intervals_of_gaussian_noise():
    assert max(gaussian_case(seed) for seed in range(1)) < 1e-8


@pytest.mark.truths
def test_two_hundred_random_intervals_of_gaussian_noise():
    assert max(gaussian_case(seed) for seed in range(1, 201)) < 1e-8


def clipped():
    X = bl.Finite([0, 1])
    return bl.pmf([F(1, 3), F(2, 3)], on=X) * bl.mechanisms.laplace(b=1.0, secret=X).clip(0, 1)


def test_atoms_count_at_the_ends_of_an_interval():
    low, near = mp.mpf(1) / 2, (1 - mp.exp(-mp.mpf(1) / 2)) / 2
    far, between = mp.exp(-1) / 2, (mp.exp(-mp.mpf(1) / 2) - mp.exp(-1)) / 2
    p = [mp.mpf(1) / 3, mp.mpf(2) / 3]
    found = bl.event_maximal_leakage(clipped(), bl.Interval(0, 0.5))
    assert encloses(found, ratio(p, [low + near, far + between])) and found.width < 1e-8
    found = bl.event_maximal_leakage(clipped(), 0.0)
    assert encloses(found, ratio(p, [low, far]))
    found = bl.event_maximal_leakage(clipped(), [bl.Interval(0.25, 0.5), 1.0])
    own = (mp.exp(-mp.mpf(1) / 4) - mp.exp(-mp.mpf(1) / 2)) / 2
    other = (mp.exp(-mp.mpf(1) / 2) - mp.exp(-mp.mpf(3) / 4)) / 2
    assert encloses(found, ratio(p, [own + far, other + low]))


def counts():
    X = bl.Finite([0, 1, 3])
    return bl.pmf([HALF, F(1, 4), F(1, 4)], on=X) * bl.mechanisms.geometric(alpha=0.5, secret=X)


def kernel(y, x):
    return F(1, 3) * HALF ** abs(y - x)


@pytest.mark.parametrize("event", [[0], [1, 3, 5], {2, -4}, bl.Integers(-2, 2)])
def test_labels_of_a_countable_alphabet(event):
    chosen = range(-2, 3) if isinstance(event, bl.Integers) else event
    inside = [sum(kernel(y, x) for y in chosen) for x in (0, 1, 3)]
    truth = max(inside) / sum(w * v for w, v in zip([HALF, F(1, 4), F(1, 4)], inside, strict=True))
    found = bl.event_maximal_leakage(counts(), event)
    with mp.workdps(40):
        assert found.lower <= mp.log(mp.mpf(truth.numerator) / truth.denominator) <= found.upper
    assert found.width < 1e-12


def test_a_range_that_leaves_few_outcomes_out():
    X = bl.Finite([1, 2])
    mech = bl.Mechanism(
        lambda y, x: (1 - 0.5**x) * 0.5 ** (x * y), secret=X, outcome=bl.Integers(0)
    )
    joint = bl.pmf([HALF, HALF], on=X) * mech
    found = bl.event_maximal_leakage(joint, bl.Integers(3, None))
    truth = mp.log(F(1, 8) / (HALF * F(1, 8) + HALF * F(1, 64)))
    assert found.lower <= truth <= found.upper and found.width < 1e-9


def test_all_and_nothing():
    X = bl.Finite([0, 1])
    joint = bl.pmf([HALF, HALF], on=X) * bl.mechanisms.laplace(b=1.0, secret=X)
    found = bl.event_maximal_leakage(joint, bl.Reals())
    assert found.lower == 0 and found.upper < 1e-9
    nothing = bl.event_maximal_leakage(joint, 0.5)
    assert (nothing.lower, nothing.upper) == (0, 0)
    assert any("outside the support" in note for note in nothing.assumptions)


def test_an_event_leaks_at_most_the_supremum():
    X = bl.Finite([0, 1])
    joint = bl.pmf([F(1, 4), F(3, 4)], on=X) * bl.mechanisms.laplace(b=1.0, secret=X)
    small = bl.event_maximal_leakage(joint, bl.Interval(-1000, -999))
    assert small.lower <= bl.pml(joint).sup().upper and small.lower > 0.4


@pytest.mark.parametrize(
    "event, message",
    [
        (lambda y: y > 0, "as intervals"),
        ("yes", "an interval"),
        ([bl.Interval(0, 2), bl.Interval(1, 3)], "do not overlap"),
        ([math.nan], "an interval"),
        ([True], "an interval"),
    ],
)
def test_bad_events(event, message):
    X = bl.Finite([0, 1])
    joint = bl.pmf([HALF, HALF], on=X) * bl.mechanisms.laplace(b=1.0, secret=X)
    with pytest.raises(bl.InvalidInput, match=message):
        bl.event_maximal_leakage(joint, event)


def test_bad_events_of_counts():
    for event, error in (
        (["a"], bl.InvalidInput),
        ([0.5], bl.InvalidInput),
        ([True], bl.InvalidInput),
    ):
        with pytest.raises(error, match="integers"):
            bl.event_maximal_leakage(counts(), event)
    with pytest.raises(bl.NotYet, match="range"):
        bl.event_maximal_leakage(counts(), bl.Integers(0, None))


def test_continuous_secrets_are_not_there_yet():
    joint = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0)
    with pytest.raises(bl.NotYet, match="a finite secret"):
        bl.event_maximal_leakage(joint, bl.Interval(0, 1))


@pytest.mark.parametrize("at", [8, 30, -60])
def test_far_out_only_ratios_count(at):
    X = bl.Finite([0, 1])
    joint = bl.pmf([HALF, HALF], on=X) * bl.mechanisms.gaussian(sigma=1.0, secret=X)
    found = bl.event_maximal_leakage(joint, bl.Interval(at, at + 1))
    with mp.workdps(800):
        inside = [
            abs(mp.erfc((at + 1 - x) / mp.sqrt(2)) - mp.erfc((at - x) / mp.sqrt(2))) for x in (0, 1)
        ]
        truth = ratio([HALF, HALF], inside)
    assert encloses(found, truth) and found.width < 1e-8
