"""Example 8 against exact sums over a head of secrets, with the rest bounded."""

import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest

import borel as bl

HEAD = 200


@pytest.fixture(scope="module")
def joint():
    mech = bl.mechanisms.countable()
    return mech.reference_prior * mech


def prior(n):
    return F(1, 2) if n == 0 else F(1, 3**n)


def kernel(m, n):
    """The table of the paper, case by case."""
    if n == 0:
        return F(3, 4) if m == 0 else F(1, 2 * 3**m)
    if m == 0:
        return F(1, 4)
    return F(1, 2) + F(1, 2 * 3**m) if m == n else F(1, 2 * 3**m)


def ratios(kind, m):
    """Enclose e^leakage: secrets beyond the head have mass 3^-HEAD/2, f(m|.) as at n = HEAD."""
    column = [kernel(m, n) for n in range(HEAD + 1)]
    head = sum(prior(n) * f for n, f in enumerate(column))
    marginal = head, head + F(1, 2 * 3**HEAD)
    if kind == "pml":
        return max(column) / marginal[1], max(column) / marginal[0]
    return marginal[0] / min(column), marginal[1] / min(column)


def log(ratio):
    return mp.log(mp.mpf(ratio.numerator) / ratio.denominator)


@pytest.mark.parametrize("kind", ["pml", "pmc"])
@pytest.mark.parametrize("m", [0, 1, 2, 3, 7, 40, 100])
def test_at_outcomes(joint, kind, m):
    found = getattr(bl, kind)(joint)(m)
    low, high = ratios(kind, m)
    assert found.status == "exact" and low <= found.ratio.lower == found.ratio.upper <= high
    with mp.workdps(60):
        assert mp.mpf(found.lower) <= log(low) and log(high) <= mp.mpf(found.upper)


def test_far_outcomes(joint):
    for m in (999, 1000, 1001, 10**6):
        found = bl.pml(joint)(m)
        with mp.workdps(60):
            truth = m * mp.log(3) - mp.log(2) + mp.log1p(mp.mpf(3) ** -m)
            assert mp.mpf(found.lower) <= truth <= mp.mpf(found.upper)
        assert bl.pmc(joint)(m).ratio == (2, 2)


def test_suprema(joint):
    cost, leak = bl.pmc(joint).sup(), bl.pml(joint).sup()
    assert cost.ratio == (2, 2) and cost.attained
    assert (leak.lower, leak.status, leak.attained) == (math.inf, "exact", False)


@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_the_engine_meets_the_closed_form(joint, kind):
    ell = getattr(bl, kind)(joint)
    for m in (0, 1, 5, 30, 300):
        closed = ell(m)
        with bl.options(closed_forms=False):
            engine = ell(m)
        assert engine.status == "exact" and engine.assumptions == ()
        assert engine.lower <= closed.lower and closed.upper <= engine.upper
        assert engine.width < 1e-12
    with bl.options(closed_forms=False):
        sup = ell.sup()
    if kind == "pml":  # the lemma for countable outcomes, along x = y
        assert (sup.lower, sup.status) == (math.inf, "certified")
    else:  # beyond the head along a ray
        assert sup.status == "exact" and sup.width < 1e-12
        assert sup.lower <= ell.sup().upper and ell.sup().lower <= sup.upper


def test_the_kernel_and_the_prior_are_the_papers(joint):
    ms, ns = np.arange(12)[:, None], np.arange(12)[None, :]
    table = [[float(kernel(m, n)) for n in range(12)] for m in range(12)]
    np.testing.assert_allclose(joint.mechanism.pdf(ms, ns), table, rtol=1e-15)
    np.testing.assert_allclose(joint.prior.pdf(np.arange(12)), [float(prior(n)) for n in range(12)])
    assert str(joint.mechanism.normalisation).startswith("proved:")
    for n in (0, 1, 5, 50, 700, 40000):
        assert F(joint.prior.tail.bound(n)) >= F(1, 2 * 3**n)  # the geometric series
    assert joint.prior.tail.bound(-1) == 1.0 and joint.prior.tail.proof


def test_other_priors_go_to_the_engine():
    mech = bl.mechanisms.countable()
    for other in (
        bl.geometric(p=0.5),
        bl.poisson(mu=2.0),
        bl.Measure(
            lambda x: np.where(x == 0, 0.5, 3.0 ** (-x)), on=mech.secret, name="prior of Example 8"
        ),
    ):
        assert mech.closed_forms.at(other * mech, "pmc", 1) is None
        assert mech.closed_forms.sup(other * mech, "pml") is None
