"""Sets of priors on continuous and countable secrets, against closed forms and members."""

import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
from statuses import certainly

import borel as bl


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(40):
        yield


UNIT = bl.Interval(0, 1)
NOISE = bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, secret=UNIT, outcome=bl.Reals())


@pytest.fixture(autouse=True)
def quick():
    with bl.options(budget=5):
        yield


def truths(y, w):
    """PML and PMC of Laplace noise over the contamination of the uniform prior, at 40 digits."""
    y, w = mpmath.mpf(y), mpmath.mpf(w)
    top = mpmath.exp(-max(-y, 0, y - 1))
    bottom = min(mpmath.exp(-abs(y)), mpmath.exp(-abs(y - 1)))
    left, right = min(max(y, 0), 1), min(max(1 - y, 0), 1)
    if 0 <= y <= 1:
        mean = 2 - mpmath.exp(-left) - mpmath.exp(-right)
    else:
        mean = mpmath.exp(-max(-y, y - 1)) * (1 - mpmath.exp(-1))
    return (
        -mpmath.log((1 - w) * mean / top + w * bottom / top),
        mpmath.log((1 - w) * mean / bottom + w * top / bottom),
    )


@pytest.mark.parametrize("y", [-0.75, 0.0, 0.3125, 0.5, 1.0, 2.5])
def test_contamination_at_an_outcome(y):
    prior_set = bl.priors.contamination(bl.uniform(UNIT), F(1, 8))
    for of, truth in zip((bl.pml, bl.pmc), truths(y, 0.125), strict=True):
        found = of(prior_set * NOISE)(y)
        assert found.status == "certified"
        assert found.lower <= truth <= found.upper and found.width <= 1e-8


def test_contamination_and_full_support_over_all_outcomes():
    found = bl.pml(bl.priors.contamination(bl.uniform(UNIT), F(1, 8)) * NOISE).sup()
    truth = truths(-1, 0.125)[0]  # the leakage does not depend on y beyond the secrets
    assert found.lower <= truth <= found.upper and found.width <= 1e-6
    for of in (bl.pml, bl.pmc):
        all_ = of(bl.priors.full_support(UNIT) * NOISE).sup()
        assert all_.lower <= 1 <= all_.upper and all_.width <= 1e-8


def test_a_ball_of_total_variation_holds_what_its_members_leak():
    """Members: mass 1/8 of the uniform prior moves from near 0 to near 1."""
    prior_set = bl.priors.tv_ball(bl.uniform(UNIT), F(1, 8))
    moved = bl.Measure(
        lambda x: np.where(x < 0.125, 0.0, np.where(x > 0.875, 2.0, 1.0)),
        on=UNIT,
        breaks=(0.125, 0.875),
    )
    for y in (-0.5, 0.25):
        found = bl.pml(prior_set * NOISE)(y)
        member = bl.pml(moved * NOISE)(y)
        # the leakage of the member, approached by members that charge the secrets near 0 too
        low = np.log(np.exp(-abs(y)) if y < 0 else 1.0) - np.log(
            np.mean(np.exp(-abs(y - np.linspace(0, 1, 200001))) * 1.0)
        )
        assert member.lower <= found.upper and low <= found.upper + 1e-6
        assert found.lower <= found.upper and certainly(found)


def test_a_hull_takes_the_worst_corner():
    corners = [bl.uniform(UNIT), bl.beta(alpha=2, beta=5)]
    found = bl.pml(bl.priors.hull(corners) * NOISE)(0.25)
    each = [bl.pml(c * NOISE)(0.25) for c in corners]
    assert found.lower == max(b.lower for b in each) and found.upper == max(b.upper for b in each)
    mixed = bl.pml(bl.mixture(corners, weights=[0.5, 0.5]) * NOISE)(0.25)
    assert mixed.lower <= found.upper


def test_a_countable_secret():
    """Two-sided geometric noise on a Poisson count, against sums of 200 terms."""
    a = 0.25
    noise = bl.Mechanism(
        lambda y, x: (1 - a) / (1 + a) * a ** abs(y - x),
        secret=bl.Integers(0, None),
        outcome=bl.Integers(),
    )
    found = bl.pml(bl.priors.contamination(bl.poisson(mu=2.0), F(1, 8)) * noise)(3)
    mean = mpmath.nsum(
        lambda k: mpmath.exp(-2) * mpmath.mpf(2) ** k / mpmath.factorial(k)
        * mpmath.mpf(a) ** abs(int(k) - 3), [0, 200],
    )  # fmt: skip
    truth = -mpmath.log(mpmath.mpf(7) / 8 * mean)  # the least value is approached: 0
    assert found.lower <= truth <= found.upper


def tilted(y, r):
    """PML over KL(Q || uniform) <= r at y <= 0 and y = 1/2, by the tilt at 40 digits."""
    kernel = lambda x: mpmath.exp(-abs(y - x))  # noqa: E731
    parts = [0, 1] if not 0 < y < 1 else [0, y, 1]

    def at(t):
        weight = lambda x: mpmath.exp(-kernel(x) / t)  # noqa: E731
        mass = mpmath.quad(weight, parts)
        mean = mpmath.quad(lambda x: kernel(x) * weight(x), parts) / mass
        return mean, -mean / t - mpmath.log(mass)  # the mean of the kernel, and the divergence

    low, high = mpmath.mpf("1e-3"), mpmath.mpf(1000)
    for _ in range(80):
        middle = mpmath.sqrt(low * high)
        low, high = (middle, high) if at(middle)[1] > r else (low, middle)
    top = max(kernel(mpmath.mpf(p)) for p in (0, 1, min(max(y, 0), 1)))
    return mpmath.log(top / at(low)[0])


@pytest.mark.parametrize("y", [-0.5, 0.5])
def test_a_ball_of_a_divergence_on_an_interval(y):
    ball = bl.priors.kl_ball(bl.uniform(UNIT), F(1, 16), direction="to_centre")
    found = bl.pml(ball * NOISE)(y)
    truth = tilted(mpmath.mpf(y), mpmath.mpf(1) / 16)
    assert certainly(found)
    assert found.lower <= truth <= found.upper and found.width <= 2e-3


def test_a_ball_of_total_variation_is_solved_on_cells():
    """Mass 1/8 moves from the secrets nearest y = -1/2 to x = 1, at y = -1/2."""
    found = bl.pml(bl.priors.tv_ball(bl.uniform(UNIT), F(1, 8)) * NOISE)(-0.5)
    e = mpmath.exp
    mean = e(-mpmath.mpf(1) / 8) - e(-1) + e(-1) / 8  # in units of f(y|0)
    truth = -mpmath.log(mean)
    assert found.lower <= truth <= found.upper and found.width <= 2e-3


def test_members_of_a_ball_leak_no_more():
    rng = np.random.default_rng(0)
    ball = bl.priors.chi_square_ball(bl.uniform(UNIT), F(1, 4), direction="to_centre")
    top = {y: bl.pml(ball * NOISE)(y).upper for y in (-0.5, 0.25)}
    x = (np.arange(4000) + 0.5) / 4000
    for _ in range(200):
        a, k, phase = 0.7 * rng.random(), int(rng.integers(1, 6)), 7 * rng.random()
        density = 1 + a * np.cos(2 * np.pi * k * x + phase)  # chi-square a^2 / 2 <= 1/4
        for y, bound in top.items():
            values = np.exp(-abs(y - x))
            level = np.exp(-abs(y - min(max(y, 0), 1)))
            assert np.log(level / np.mean(density * values)) <= bound + 1e-6


def test_sets_that_are_not_covered_say_so():
    counts = bl.Mechanism(
        lambda y, x: (1 - 0.25) / 1.25 * 0.25 ** abs(y - x),
        secret=bl.Integers(0, None),
        outcome=bl.Integers(),
    )
    ball = bl.priors.kl_ball(bl.poisson(mu=2.0), 0.1, direction="to_centre")
    with pytest.raises(bl.NotYet, match="full_support, contamination"):
        bl.pml(ball * counts)(2)


@pytest.mark.slow
def test_a_hull_of_priors_on_different_halves_counts_the_secrets_of_both():
    """Nearly all of the second half, with a little of the first: the supremum of f is at x = 0."""
    halves = [
        bl.Measure(lambda x: np.where(x < 0.5, 2.0, 0.0), on=UNIT, breaks=(0.5,)),
        bl.Measure(lambda x: np.where(x < 0.5, 0.0, 2.0), on=UNIT, breaks=(0.5,)),
    ]
    joint = bl.priors.hull(halves) * NOISE
    truth = -mpmath.log(2 * (mpmath.exp(mpmath.mpf(-1) / 2) - mpmath.exp(-1)))
    curve = bl.pml(joint)([0.0])
    for found in (bl.pml(joint)(0.0), bl.pml(joint).sup()):
        assert certainly(found) and not any("every set" in a for a in found.assumptions)
        assert found.lower <= truth <= found.upper
    assert curve["lower"].item() <= truth <= curve["upper"].item()


@pytest.mark.cases("slow", "contamination")
@pytest.mark.parametrize("make", [bl.priors.contamination, bl.priors.tv_ball])
def test_members_charge_secrets_that_the_centre_does_not(make):
    """Uniform on (0, 2/5); a tenth of a member may be anywhere in (0, 1), and most of it at 0."""
    centre = bl.Measure(lambda x: np.where(x < 0.4, 2.5, 0.0), on=UNIT)
    joint = make(centre, F(1, 10)) * NOISE
    # the mean of e^x, where the tenth is of all secrets or of the largest; at y > 1 sup f is e
    share, end = (0.9, 0.4) if make is bl.priors.contamination else (1.0, 0.36)
    mean = mpmath.mpf(share) * 5 / 2 * (mpmath.exp(mpmath.mpf(end)) - 1) + mpmath.mpf(1) / 10
    for found in (bl.pml(joint).sup(), bl.pml(joint)(2.0)):
        assert certainly(found)
        assert found.lower <= 1 - mpmath.log(mean) <= found.upper
    level = bl.ldp(joint)
    assert certainly(level) and level.lower <= 1 <= level.upper <= 1 + 1e-8


@pytest.mark.truths
def test_ldp_over_a_set_counts_secrets_that_only_some_member_charges():
    """Half of the secrets have mass under the second corner only: the first one's level is less."""
    unit = bl.Interval(0, 1)
    mech = bl.mechanisms.laplace(b=1.0, secret=unit)
    half = bl.Measure(lambda x: np.where(x < 0.5, 2.0, 0.0), on=unit, breaks=[0.5])
    for prior_set in (
        bl.priors.hull([half, bl.uniform(unit)]),
        bl.priors.tv_ball(half, 0.1),
        bl.priors.contamination(half, 0.1),
    ):
        found = bl.ldp(prior_set * mech)
        assert certainly(found) and found.lower <= 1 <= found.upper <= 1 + 1e-8
        assert "every centre charges every set of secrets" not in " ".join(found.assumptions)
    assert bl.ldp(bl.priors.tv_ball(bl.uniform(unit), 0.1) * mech).status != "conditional"
    one = bl.ldp(bl.priors.hull([half]) * mech)
    alone = bl.ldp(half * mech)
    assert one.about(certificate=None) == alone.about(certificate=None)


def test_a_curve_has_the_status_of_its_points():
    unit = bl.Interval(0, 1)
    mech = bl.mechanisms.laplace(b=1.0, secret=unit)
    half = bl.Measure(lambda x: np.where(x < 0.5, 2.0, 0.0), on=unit, breaks=[0.5])
    for prior_set in (
        bl.priors.contamination(half, 0.1),  # whether it charges every secret is not known
        bl.priors.contamination(bl.uniform(unit), 0.1),
        bl.priors.hull([bl.uniform(unit), bl.beta(alpha=2, beta=2)]),
        bl.priors.full_support(unit),
    ):
        ell = bl.pml(prior_set * mech)
        alone = [ell(y).status for y in (0.25, 0.75)]
        assert [str(s) for s in ell([0.25, 0.75])["status"].values] == alone


@pytest.mark.cases("slow", "pml")
@pytest.mark.parametrize("of", ["pml", "pmc"])
def test_suprema_where_the_ldp_ratio_is_infinite_along_a_ray(of):
    """f(y|x) = 1 + (2y - 1) x, at y = 0 with infimum 0: the least mean of 1 - x is reached there.

    Under the uniform law it is 1/2; mixed with a tenth at x = 1 it is 0.45, and with the mass of
    the largest tenth moved there 1/2 - 0.095 = 0.405. PMC is infinite there.
    """
    unit = bl.Interval(0, 1)
    mech = bl.Mechanism(lambda y, x: 1 + (2 * y - 1) * x, secret=unit, outcome=unit)
    for make, mean in ((bl.priors.tv_ball, 0.405), (bl.priors.contamination, 0.45)):
        with bl.options(budget=2):
            found = getattr(bl, of)(make(bl.uniform(unit), F(1, 10)) * mech).sup()
        assert found.status in ("certified", "conditional")
        if of == "pmc":
            assert found.lower == math.inf
        else:
            assert found.lower <= -math.log(mean) <= found.upper < -math.log(0.4) + 1e-6
