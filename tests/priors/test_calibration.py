"""Calibration: over simulated data, what is claimed happens as often as is claimed."""

import math

import numpy as np
import pytest
import xarray as xr
from scipy import optimize, special, stats

import borel as bl

pytestmark = pytest.mark.slow

REPLICATIONS = 200
MECHANISM = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
T = 0.62


def level(p):
    """The epsilon of PML: the larger of log (3/4) / (1/4 + p/2) and log (3/4) / (3/4 - p/2)."""
    return np.log(0.75 / (0.25 + 0.5 * np.minimum(p, 1 - p)))


def share_below(t, a, b):
    """P(epsilon <= t) when p ~ Beta(a, b)."""
    low = min(max(2 * (0.75 * math.exp(-t) - 0.25), 0.0), 0.5)
    return stats.beta.cdf(1 - low, a, b) - stats.beta.cdf(low, a, b)


def band(rate, count=REPLICATIONS):
    return stats.binom.ppf([0.005, 0.995], count, rate)


def joint_of(p, exact=True):
    data = xr.Dataset({"p": (("chain", "draw", "x"), np.stack([p, 1 - p], -1))})
    if exact:
        data.attrs["borel_draws"] = "exact"
    return bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"])) * MECHANISM


def chains(rng, a, b, length=1000, rho=0.6):
    """Four stationary Markov chains whose law is Beta(a, b): a Gaussian copula of AR(1)."""
    noise = rng.normal(size=(4, length))
    z = np.empty_like(noise)
    z[:, 0] = noise[:, 0]
    for i in range(1, length):
        z[:, i] = rho * z[:, i - 1] + math.sqrt(1 - rho * rho) * noise[:, i]
    return special.betaincinv(a, b, special.ndtr(z))


@pytest.fixture(scope="module")
def studies():
    """The truth drawn from the prior, data drawn from the truth, the posterior in closed form."""
    found = []
    for seed in range(REPLICATIONS):
        rng = np.random.default_rng(seed)
        p = rng.beta(3, 3)
        yes = rng.binomial(60, p)
        a, b = 3 + yes, 3 + 60 - yes
        found.append((p, a, b, rng))
    return found


@pytest.fixture(scope="module", params=["exact draws", "Markov chains"])
def audits(request, studies):
    found = []
    for p, a, b, rng in studies:
        exact = request.param == "exact draws"
        draws = rng.beta(a, b, size=(4, 250)) if exact else chains(rng, a, b)
        joint = joint_of(draws, exact)
        verdict = joint.satisfies(bl.guarantees.PML(T))
        epsilon = bl.pml(joint).sup()
        found.append((p, a, b, verdict, epsilon, bl.pml(joint).tail(T)))
    return found


def test_the_claimed_probability_that_a_guarantee_holds_covers(audits):
    """The interval holds the closed-form posterior probability as often as it says."""
    sound = [row for row in audits if row[3].bound.status == "statistical"]
    assert len(sound) >= 0.9 * REPLICATIONS  # a few Markov chains are refused
    covered = sum(
        v.bound.lower <= share_below(T, a, b) <= v.bound.upper for _, a, b, v, *_ in sound
    )
    low, _ = band(0.95, len(sound))
    assert covered >= low  # Clopper-Pearson is conservative where the probability is near 0 or 1


def test_guarantees_hold_as_often_as_is_claimed(audits):
    """Over data drawn from the prior, the truth satisfies PML(T) with the mean claimed share."""
    shares = [verdict.bound for _, _, _, verdict, *_ in audits if _claimed(verdict)]
    holds = sum(level(p) <= T for p, _, _, verdict, *_ in audits if _claimed(verdict))
    low, high = (sum(getattr(share, end) for share in shares) for end in ("lower", "upper"))
    spread = 2.5758 * math.sqrt(sum(share.value * (1 - share.value) for share in shares))
    assert low - spread <= holds <= high + spread


def _claimed(verdict):
    return verdict.bound.status == "statistical"


@pytest.mark.parametrize("mass", [0.5, 0.9])
def test_the_quantile_covers_and_bounds_the_truth(audits, mass):
    covered, below, count = 0, 0, 0
    for p, a, b, _, epsilon, _ in audits:
        bound = epsilon.quantile(mass)
        if bound.status != "statistical":
            continue
        truth = optimize.brentq(
            lambda t, a=a, b=b: share_below(t, a, b) - mass, math.log(1.5), math.log(3) - 1e-12
        )
        count += 1
        covered += bound.lower <= truth <= bound.upper
        below += level(p) <= bound.value
    low, high = band(0.95, count)
    assert low <= covered <= high
    low, high = band(mass, count)
    assert low <= below <= high


def test_verdicts_are_right_at_their_confidence(audits):
    """Where a verdict is True at 0.9, the truth satisfies the guarantee nine times in ten."""
    right = [level(p) <= T for p, *_, v, _, _ in audits if v.at(confidence=0.9).holds is True]
    wrong = [level(p) <= T for p, *_, v, _, _ in audits if v.at(confidence=0.9).holds is False]
    assert len(right) >= 10 and len(wrong) >= 3
    assert sum(right) >= stats.binom.ppf(0.005, len(right), 0.9)
    assert sum(wrong) <= stats.binom.ppf(0.995, len(wrong), 0.1)


def test_the_tail_over_prior_and_outcome_covers(audits):
    covered = count = 0
    for _, a, b, _, _, tail in audits:
        if tail.status != "statistical":
            continue
        cut = 2 * (0.75 * math.exp(-T) - 0.25)
        # P(Y = 0, p < cut) + P(Y = 1, p > 1 - cut), with E[p; p < c] in closed form
        part, mean = stats.beta.cdf(cut, a, b), a / (a + b)
        first = 0.25 * part + 0.5 * mean * stats.beta.cdf(cut, a + 1, b)
        part, mean = stats.beta.cdf(cut, b, a), b / (a + b)
        second = 0.25 * part + 0.5 * mean * stats.beta.cdf(cut, b + 1, a)
        count += 1
        covered += tail.lower <= first + second <= tail.upper
    assert covered >= band(0.95, count)[0]
