"""The envelope of a continuous secret: its law and absorption from below, tail leakage above."""

from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest

import borel as bl

UNIT = bl.Interval(0, 1)


@pytest.fixture(autouse=True)
def quick():
    with bl.options(budget=5):
        yield


def laplace():
    return bl.uniform(UNIT) * bl.mechanisms.laplace(b=1.0, secret=UNIT)


def test_bounds_of_laplace_noise():
    """Between absorption and tail leakage, by hand: with outcomes up to c from an end, E S = 1 + c.

    The envelope itself is between 0.3797 and 0.3847.
    """
    joint = laplace()
    found = bl.envelope(joint)(F(9, 10))
    assert found.status == "certified"
    edge = lambda c: 1 / (2 - mp.exp(-c) - mp.exp(c - 1))  # noqa: E731
    most = mp.findroot(lambda c: 2 * c + mp.exp(-c) - mp.exp(c - 1) - mp.mpf(9) / 10, 0.3)
    least = mp.findroot(lambda c: 1 + c - mp.mpf(9) / 10 * edge(c), 0.2)
    assert mp.log(edge(least)) - 1e-6 < found.lower <= mp.log(edge(least)) < 0.3797
    assert 0.3847 < mp.log((1 + most) / mp.mpf(0.9)) <= found.upper
    assert found.upper < mp.log((1 + most) / mp.mpf(0.9)) + 1e-8 < bl.pml(joint).sup().lower
    assert bl.pml(joint).quantile(F(1, 10)).upper < found.lower


def test_laplace_noise_on_a_sum_of_two_secrets():
    """Of the outcomes (1 - 1/e)^2 lie beyond the secrets, and have the supremum of the leakage."""
    joint = bl.uniform(UNIT**2) * bl.Mechanism(
        lambda y, x: np.exp(-abs(y - (x[0] + x[1]))) / 2, secret=UNIT**2, outcome=bl.Reals()
    )
    found, truth = bl.envelope(joint)(F(39, 100)), -2 * mp.log(1 - mp.exp(-1))
    assert found.lower <= truth <= found.upper <= found.lower + 1e-7
    assert found.status == "certified"


@pytest.mark.truths
def test_the_envelope_falls_and_stays_between_its_bounds():
    env = bl.envelope(laplace())
    found = [env(F(k, 10)) for k in (1, 4, 7, 10)]
    lows = [b.lower for b in found]
    assert lows == sorted(lows, reverse=True)
    assert all(b.upper <= env(0).upper + 1e-6 for b in found)
    assert env.delta(0.2).upper == 1.0 and env.delta(0.5).upper == 0.0


@pytest.mark.truths
def test_where_maximal_leakage_is_infinite_it_is_too():
    for noise in (bl.mechanisms.gaussian(sigma=1.0), bl.mechanisms.laplace(b=1.0)):
        for delta in (F(1, 10), F(9, 10), 1):
            found = bl.envelope(bl.normal() * noise)(delta)
            assert found.proved and found.lower == float("inf")


@pytest.mark.truths
def test_what_tells_nothing_keeps_to_theorem_3():
    """Most of Y lies far out and tells nothing: the lower end must keep to Theorem 3."""
    near = lambda y, x: np.exp(-8 * (y - x) ** 2) * 2 / np.sqrt(np.pi / 2)  # noqa: E731
    far = lambda y: np.exp(-((y - 60) ** 2) / 2) / np.sqrt(2 * np.pi)  # noqa: E731
    secret = bl.Interval(-1, 1)
    mech = bl.Mechanism(
        lambda y, x: 0.05 * near(y, x) + 0.95 * far(y), secret=secret, outcome=bl.Reals()
    )
    env = bl.envelope(bl.uniform(secret) * mech)
    # sup_x of the near part is its mode on (-1, 1), and falls off beyond: E e^PML by hand
    mean = 0.95 + 0.05 * (2 * 2 / np.sqrt(np.pi / 2) + 1)
    for delta in (F(9, 10), F(99, 100)):
        assert env(delta).lower <= np.log(mean / float(delta))


@pytest.mark.cases("truths", "pml-0.5")
@pytest.mark.parametrize("delta", [F(1, 100), F(1, 5), 0.5, F(63, 100)])
@pytest.mark.parametrize("of", ["pml", "pmc"])
def test_a_supremum_that_many_outcomes_have_is_the_envelope(of, delta):
    """Uniform secret, Laplace noise: outcomes beyond the secrets, of mass 1 - 1/e."""
    joint = bl.uniform(bl.Interval(0, 1)) * bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x)) / 2, secret=bl.Interval(0, 1), outcome=bl.Reals()
    )
    truth = -mp.log(1 - mp.exp(-1)) if of == "pml" else mp.log(mp.e - 1)
    found = bl.envelope(joint, of=of)(delta)
    assert found.lower <= truth <= found.upper and found.width < 1e-8
    assert found.status == "certified"
    with pytest.raises(bl.NotYet, match=r"a rule for pm[lc]\.envelope"):
        found.certify()
    mass = bl.envelope(joint, of=of).delta(float(truth) - 1e-6)
    assert mass.lower <= 1 and mass.lower > 1 - mp.exp(-1) - mp.mpf(10) ** -6


@pytest.mark.truths
@pytest.mark.parametrize("of", ["pml", "pmc"])
def test_the_law_of_the_leakage_is_below_the_envelope(of):
    joint = bl.beta(alpha=2, beta=5) * bl.Mechanism(
        lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi),
        secret=bl.Interval(0, 1),
        outcome=bl.Reals(),
    )
    envelope, leakage = bl.envelope(joint, of=of), getattr(bl, of)(joint)
    with bl.options(budget=10):
        for delta in (F(1, 20), F(1, 2), F(9, 10)):
            assert envelope(delta).upper >= leakage.quantile(1 - delta).lower
            assert envelope(delta).lower >= leakage.quantile(1 - delta).lower - 1e-7
        for t in (0.25, 0.5):
            assert envelope.delta(t).lower >= leakage.tail(t, closed=True).lower - 1e-7
        whole = envelope(1)  # the least leakage of an outcome is one that all of them have
        assert whole.lower <= whole.upper
