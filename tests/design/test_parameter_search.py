"""The parameter a guarantee needs: closed forms of Example 4 and of Laplace noise."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
import xarray as xr

import borel as bl
from borel.errors import InvalidInput, Undecided

g = bl.guarantees
UNIT = bl.Interval(0, 1)
SIX = [  # priors like those of Figure 1: alphabet size, largest probability
    [F(1, 2)] * 2,
    [F(1, 10), F(9, 10)],
    [F(1, 10)] * 10,
    [F(1, 5), F(3, 10), F(1, 2)],
]


def response(k):
    return lambda e: bl.mechanisms.randomized_response(k=k, epsilon=e)


@pytest.mark.parametrize("p", SIX, ids=lambda p: f"{len(p)}")
def test_randomised_response_tuned_to_pmc_and_to_pml(p):
    """Example 4: e^eps = 1 + p_max (R - 1) for PMC, R / (1 + p_min (R - 1)) for PML."""
    epsilon = 0.08
    e = math.exp(epsilon)
    pmc = math.log(1 + (e - 1) / max(p))
    pml = math.log(e * (1 - min(p)) / (1 - e * min(p)))
    for target, truth in ((g.PMC(epsilon), pmc), (g.PML(epsilon), pml)):
        found = bl.design.largest(
            response(len(p)), bl.pmf(p), target, over=(0.01, 5), tol=1e-7, monotone=True
        )
        assert found.verdict.holds is True and found.failure.holds is False
        assert found.parameter <= truth <= found.fails
        assert found.fails - found.parameter <= 1e-6
        assert found.threshold.lower <= truth <= found.threshold.upper
        assert found.threshold.status == "conditional"
        assert any("declared" in said for said in found.threshold.assumptions)
    # PMC allows more noise to be left out if and only if eps <= log((1 - p_max) / p_min)
    assert (pmc >= pml - 1e-12) == (epsilon <= math.log(float((1 - max(p)) / min(p))) + 1e-12)


def test_laplace_noise_for_a_prior_and_for_a_set_of_priors():
    """Without a prior PML is LDP, 1 / b; for every prior of full support it is approached."""

    def family(b):
        return bl.mechanisms.laplace(b=b, secret=UNIT)

    one = bl.design.smallest(family, bl.uniform(UNIT), g.PMC(1.0), over=(0.1, 10))
    for b, inside in ((one.parameter, True), (one.fails, False)):
        assert (math.log(b * math.expm1(1 / b)) <= 1) is inside
    every = bl.design.smallest(
        family, bl.priors.full_support(UNIT), g.PML(1.0), over=(0.1, 10), tol=1e-3
    )
    assert every.fails <= 1.0 <= every.parameter * (1 + 1e-12)
    assert every.parameter <= 1.002


def test_a_set_from_counts_is_answered_at_its_confidence():
    counts = {"a": 40, "b": 60}
    learnt = bl.priors.from_counts(counts, confidence=0.95)

    def family(e):
        return bl.mechanisms.randomized_response(secret=["a", "b"], epsilon=e)

    found = bl.design.largest(family, learnt, g.PML(0.3), over=(0.1, 3), tol=1e-4)
    assert found.verdict.holds and found.confidence == 0.95
    assert found.verdict.bound.status == "statistical"
    assert found.threshold.status == "undecided"
    with pytest.raises(Undecided, match=r"0\.95, not 0\.99"):
        bl.design.largest(family, learnt, g.PML(0.3), over=(0.31, 3), confidence=0.99)
    # what LDP proves under every prior holds at any confidence
    sure = bl.design.largest(family, learnt, g.PML(0.3), over=(0.1, 3), confidence=0.99, tol=1e-4)
    assert sure.verdict.holds and 0.2999 <= sure.parameter <= 0.3


def test_a_failure_of_some_prior_of_a_set_from_counts_is_not_shown_as_proved():
    """Proved where it holds; a prior of the set fails elsewhere, the true one may not."""
    counts = bl.priors.from_counts([20, 30, 50], confidence=0.9)

    def joint(e):
        prior = bl.pmf([0.2, 0.3, 0.5]) if e < 1 else counts
        return prior * bl.mechanisms.randomized_response(k=3, epsilon=0.3 if e < 1 else 3.0)

    found = bl.design.largest(
        joint, None, bl.guarantees.PML(0.4), over=(0.1, 2), tol=0.1, confidence=0.9
    )
    assert found.verdict.bound.proved and found.failure is None and found.fails is None
    assert found.undecided[0] <= 1.1 and found.undecided[1] == 2 and found.confidence is None


def test_a_posterior_is_answered_at_a_posterior_probability():
    rng = np.random.default_rng(3)
    draws = rng.dirichlet([20, 30, 50], size=(4, 500))
    posterior = xr.Dataset(
        {"p": (("chain", "draw", "label"), draws)}, attrs={"borel_draws": "exact"}
    )
    learnt = bl.priors.from_posterior(
        xr.DataTree.from_dict({"posterior": posterior}), lambda draw: bl.pmf(draw["p"])
    )
    found = bl.design.largest(response(3), learnt, g.PML(0.5), over=(0.1, 3), tol=1e-3)
    assert found.verdict.holds is True and found.failure.holds is False

    # of the draws themselves, by the closed form
    def share(e):
        r = math.exp(e)
        return np.mean(np.log(r / (1 + draws.min(axis=-1) * (r - 1))) <= 0.5)

    # the draws are exact, but finitely many: the share is up to Monte Carlo error
    assert share(found.parameter) >= 0.95 and share(found.fails) < 0.95
    assert found.fails < 1.1 * found.parameter and found.confidence == 0.95
    half = bl.design.largest(response(3), learnt, g.PML(0.5), over=(0.1, 3), confidence=0.5)
    assert half.fails > half.parameter > found.fails


def test_a_failure_at_a_posterior_probability_names_it():
    """Proved where it holds, and over a posterior where it fails: the design is no proof."""
    rng = np.random.default_rng(3)
    draws = rng.dirichlet([20, 30, 50], size=(4, 500))
    posterior = xr.Dataset(
        {"p": (("chain", "draw", "label"), draws)}, attrs={"borel_draws": "exact"}
    )
    learnt = bl.priors.from_posterior(
        xr.DataTree.from_dict({"posterior": posterior}), lambda draw: bl.pmf(draw["p"])
    )

    def joint(e):
        prior = bl.pmf([F(1, 3)] * 3) if e < 0.9 else learnt
        return prior * bl.mechanisms.randomized_response(k=3, epsilon=e)

    found = bl.design.largest(joint, None, g.PML(0.7), over=(0.1, 1.05), tol=0.3, confidence=0.9)
    assert found.verdict.bound.proved and found.failure.bound.status == "statistical"
    assert found.failure.holds is False and found.confidence == 0.9
    assert "at confidence 0.9" in repr(found)


def test_a_joint_may_be_made_by_the_family():
    found = bl.design.smallest(
        lambda b: bl.entry(
            bl.iid(bl.pmf([F(1, 2)] * 2), 3) * bl.mechanisms.counting_query(n=3, b=b, of="count")
        ),
        None,
        g.PML(0.5),
        over=(0.2, 20),
        tol=1e-2,
    )
    assert found.verdict.holds is True and found.failure.holds is False


def steps(*truths):
    """A family whose guarantee holds, fails or is undecided, by the interval of the parameter."""

    def family(t):
        kind = next(kind for end, kind in truths if t <= end)
        # LDP of 1 is a tie that floats do not settle
        p = 1 / (1 + math.exp({"holds": 0.1, "fails": 3.0, "unknown": 1.0}[kind]))
        return bl.Mechanism.from_matrix([[p, 1 - p], [1 - p, p]])

    return family


COIN = bl.pmf([0.5, 0.5])


def test_what_is_not_decided_is_a_gap_that_is_said():
    family = steps((1.0, "fails"), (2.0, "unknown"), (9.0, "holds"))
    found = bl.design.smallest(family, COIN, g.LDP(1.0), over=(0.5, 8.0), tol=0.01, monotone=True)
    assert found.failure.holds is False and 0.98 < found.fails <= 1.0
    assert found.verdict.holds is True and 2.0 < found.parameter < 2.03
    first, last = found.undecided
    assert found.fails < first <= last < found.parameter
    assert "undecided from" in repr(found)
    assert found.threshold.lower == found.fails and found.threshold.upper == found.parameter


def test_a_family_that_is_not_monotone_still_gets_true_answers():
    family = steps((1.0, "fails"), (2.0, "holds"), (3.0, "fails"), (9.0, "holds"))
    found = bl.design.smallest(family, COIN, g.LDP(1.0), over=(0.5, 8.0))
    assert found.verdict.holds is True and found.failure.holds is False
    assert found.threshold.status == "undecided" and "monotone" in found.threshold.reason


def test_the_end_of_the_range():
    found = bl.design.smallest(
        lambda b: bl.mechanisms.laplace(b=b, secret=UNIT),
        bl.uniform(UNIT),
        g.LDP(1.0),
        over=(2.0, 10),
    )
    assert found.parameter == 2.0 and found.fails is None and found.failure is None
    assert "an end of the range" in repr(found)


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"over": (0.1, 0.2)}, InvalidInput, "ends where LDP"),
        ({"over": (3, 1)}, InvalidInput, "low < high"),
        ({"over": 3}, InvalidInput, "low < high"),
        ({"over": (0.1, math.inf)}, InvalidInput, "finite"),
        ({"tol": 0}, InvalidInput, "tol"),
        ({"guarantee": 1.0}, InvalidInput, "guarantee"),
        ({"family": lambda b: b}, InvalidInput, "returns a Mechanism"),
        ({"family": 3}, InvalidInput, "a function"),
        ({"prior": [0.5, 0.5]}, InvalidInput, "a prior"),
    ],
)
def test_bad_input(change, error, match):
    usual = {
        "family": lambda b: bl.mechanisms.laplace(b=b, secret=UNIT),
        "prior": bl.uniform(UNIT),
        "guarantee": g.LDP(1.0),
        "over": (0.1, 10),
    }
    with pytest.raises(error, match=match):
        bl.design.smallest(**{**usual, **change})
