"""Stick-breaking: validation, exact draws, the truncation error, priors, prior predictive."""

from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import pytest
from predictions import prior_predictive, sampled
from scipy import stats

import borel as bl
from borel import _compat
from borel.models import (
    stick_breaking,
    stick_breaking_posterior,
    stick_breaking_prior,
    top_coded_prior,
    truncation_error,
)

COUNTS = [31, 18, 0, 4]
SKIPS_ZERO = bl.Measure(lambda x: np.where(x == 0, 0.0, 0.5**x), on=bl.Integers(0, None))


@pytest.mark.parametrize("function", [stick_breaking, stick_breaking_posterior])
@pytest.mark.parametrize(
    ("counts", "kwargs", "error", "message"),
    [
        ([3, -1], {}, ValueError, "whole numbers >= 0, got -1"),
        ([], {}, ValueError, "at least 1 counts"),
        ([3], {"beyond": -2}, ValueError, "beyond must be whole numbers >= 0"),
        ([3], {"beyond": [1, 2]}, ValueError, "beyond must be one count"),
        (pd.Series([3, 4], index=[1, 2]), {}, ValueError, r"in this order, got the labels \[1, 2"),
    ],
)
def test_bad_input(function, counts, kwargs, error, message):
    with pytest.raises(error, match=message):
        function(counts, **kwargs)


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"alpha": 0}, ValueError, "alpha must be one positive"),
        ({"alpha": [1, 2]}, TypeError, "alpha must be one number"),
        ({"base": bl.normal()}, TypeError, r"one Measure on Integers\(0, None\)"),
        ({"base": bl.geometric(p=0.5)}, TypeError, r"one Measure on Integers\(0, None\)"),
        ({"base": bl.poisson(mu=np.array([1.0, 2.0]))}, TypeError, "one Measure"),
        ({"base": bl.poisson(mu=1e-4)}, ValueError, "mass beyond 3 that floats can see"),
        ({"base": SKIPS_ZERO}, ValueError, "base must have mass at each of 0, ..., 3, got 0 at 0"),
        ({"draws": 0}, ValueError, "draws must be a positive integer"),
    ],
)
def test_bad_posterior(kwargs, error, message):
    with pytest.raises(error, match=message):
        stick_breaking_posterior(COUNTS, **kwargs)


def test_exact_draws_are_independent_beta_sticks():
    tree = stick_breaking_posterior(COUNTS, alpha=1.5, beyond=2, draws=5000, random_seed=1)
    posterior = tree["posterior"]
    assert posterior.attrs["borel_draws"] == "exact"
    p, rest = posterior["p"].values.reshape(-1, 4), posterior["rest"].values.ravel()
    np.testing.assert_allclose(p.sum(axis=1) + rest, 1, atol=1e-15)
    v = p / (1 - np.cumsum(np.c_[np.zeros(len(p)), p[:, :3]], axis=1))
    for x, (a, b) in enumerate([(32, 25.5), (19, 7.5), (1, 7.5), (5, 3.5)]):
        assert stats.kstest(v[:, x], stats.beta(a, b).cdf).pvalue > 1e-4
    off_diagonal = np.corrcoef(v.T)[~np.eye(4, dtype=bool)]
    assert abs(off_diagonal).max() < 0.03


def test_a_dirichlet_process_on_a_partition_is_a_dirichlet():
    """Ferguson's definition: the masses of 0, ..., 3 and the rest have a Dirichlet law."""
    tree = stick_breaking_posterior(
        COUNTS, alpha=6.0, base=bl.poisson(mu=1.5), beyond=2, draws=5000, random_seed=1
    )
    masses = stats.poisson(1.5).pmf(range(4))
    concentration = 6 * np.append(masses, 1 - masses.sum()) + [*COUNTS, 2]
    law = stats.dirichlet(concentration)
    posterior = tree["posterior"]
    whole = np.c_[posterior["p"].values.reshape(-1, 4), posterior["rest"].values.ravel()]
    for i, a in enumerate(concentration):
        marginal = stats.beta(a, concentration.sum() - a)
        assert stats.kstest(whole[:, i], marginal.cdf).pvalue > 1e-4
    np.testing.assert_allclose(np.cov(whole.T), law.cov(), atol=2e-4)


def test_the_truncation_error_is_the_mean_of_the_rest():
    assert truncation_error([0] * 7, alpha=3) == pytest.approx(0.75**7, rel=1e-15)
    exact = Fraction(1)
    for a, b in ((32, 25), (19, 7), (1, 7), (5, 3)):
        exact *= Fraction(b, a + b)
    assert truncation_error(COUNTS, alpha=1, beyond=2) == pytest.approx(float(exact), rel=1e-14)
    base = bl.poisson(mu=1.5)
    # of a Dirichlet: the mean of the last share
    truth = (6 * stats.poisson(1.5).sf(3) + 2) / (6 + 55)
    assert truncation_error(COUNTS, alpha=6, base=base, beyond=2) == pytest.approx(truth, rel=1e-12)
    for kwargs, mean in (({"alpha": 1}, float(exact)), ({"alpha": 6, "base": base}, truth)):
        tree = stick_breaking_posterior(COUNTS, beyond=2, draws=5000, random_seed=2, **kwargs)
        rest = tree["posterior"]["rest"]
        assert abs(rest.mean() - mean) < 5 * rest.std() / np.sqrt(rest.size)


def test_no_mass_is_lost_to_underflow():
    tree = stick_breaking_posterior([0, 900, 0], alpha=1e-3, draws=500, random_seed=1)
    posterior = tree["posterior"]
    assert (posterior["p"] > 0).all() and (posterior["rest"] > 0).all()
    assert np.isfinite(top_coded_prior(posterior.to_dataset()).probabilities).all()


def test_the_top_coded_prior_is_what_a_clipping_mechanism_sees():
    """X on the integers and min(X, K) leak the same through a mechanism that clips at K."""
    p, rest, alpha = [0.5, 0.25, 0.125], 0.125, 2.0
    draw = {"p": p, "rest": rest, "alpha": alpha}

    def kernel(y, x):
        x = np.minimum(x, 3.0)
        return np.where(x == y, 0.7, 0.1)

    outcome = bl.Finite(4)
    whole = bl.Mechanism(kernel, secret=bl.Integers(0, None), outcome=outcome)
    coded = bl.Mechanism(kernel, secret=outcome, outcome=outcome)
    for leakage in (bl.pml, bl.pmc):
        found = leakage(stick_breaking_prior(draw) * whole).sup()
        truth = leakage(top_coded_prior(draw) * coded).sup()
        assert found.lower <= truth.upper and truth.lower <= found.upper
        assert found.width < 1e-12 and truth.width < 1e-12
        assert "prior" not in " ".join(found.assumptions)


@pytest.mark.parametrize("alpha", [0.3, 2.0])
def test_the_prior_on_the_integers(alpha):
    prior = stick_breaking_prior({"p": [0.5, 0.25], "rest": 0.25, "alpha": alpha})
    x = np.arange(400)
    assert prior.pdf(x).sum() == pytest.approx(1, abs=1e-12)
    mpmath.mp.dps = 40
    q = mpmath.mpf(alpha) / (1 + mpmath.mpf(alpha))
    for n in (0, 1, 2, 30):
        bound = prior.tail.bound(n)
        truth = mpmath.mpf("0.25") * q ** (n - 1) if n >= 1 else 1
        assert truth <= bound <= truth * (1 + mpmath.mpf("1e-12"))


def test_draws_become_priors():
    base = bl.poisson(mu=1.5)
    tree = stick_breaking_posterior(COUNTS, alpha=6.0, base=base, draws=20, random_seed=1)
    learnt = bl.priors.from_posterior(tree, top_coded_prior)
    assert learnt.on == bl.Finite(5) and learnt.exact
    one = bl.priors.from_posterior(tree, lambda draw: stick_breaking_prior(draw, base=base))
    assert one.on == bl.Integers(0, None)
    x = np.arange(60.0)
    rows = np.concatenate([prior.density.linear(x) for _, prior in one.blocks()])[:3]
    np.testing.assert_allclose(rows.sum(axis=-1), 1, atol=1e-12)
    p = tree["posterior"]["p"].values.reshape(-1, 4)[:3]
    np.testing.assert_allclose(rows[:, :4], p, rtol=1e-13)


def test_truncation_moves_the_leakage_no_more_than_the_bound_says():
    rng = np.random.default_rng(3)
    kernel = rng.dirichlet(np.ones(5), size=40)
    p = rng.dirichlet(np.ones(40) * 0.3)
    kept = 8
    rest = p[kept:].sum()
    top = kernel.max(axis=0)
    whole, cut = p @ kernel / top, p[:kept] @ kernel[:kept] / (1 - rest) / top
    assert ((1 - rest) * cut <= whole + 1e-15).all()
    assert (whole <= (1 - rest) * cut + rest + 1e-15).all()


def test_the_prior_predictive():
    drawn = prior_predictive(stick_breaking([3, 2, 1], beyond=4, alpha_prior=(3, 1.5)))
    assert stats.kstest(drawn["alpha"], stats.gamma(3, scale=1 / 1.5).cdf).pvalue > 1e-4
    np.testing.assert_allclose(drawn["p"].sum(axis=1) + drawn["rest"], 1, atol=1e-14)
    # E[rest | alpha] = (alpha / (1 + alpha))^3, and 10 people are asked
    mean = (drawn["alpha"] / (1 + drawn["alpha"])) ** 3
    assert drawn["rest"].mean() == pytest.approx(mean.mean(), abs=0.015)
    assert drawn["counts"][:, 3].mean() == pytest.approx(10 * mean.mean(), abs=0.2)
    assert (drawn["counts"].sum(axis=1) == 10).all()


@pytest.mark.slow
def test_the_learnt_concentration_against_the_marginal_likelihood():
    """With the sticks integrated out, P(n | alpha) is a product of ratios of Betas."""
    from scipy.special import betaln

    counts, beyond = np.array([40, 21, 15, 3, 6, 2]), 4
    posterior = sampled(stick_breaking(counts, beyond=beyond))["posterior"]
    alpha = np.linspace(0, 12, 4001)[1:]
    above = np.append(np.cumsum(counts[:0:-1])[::-1], 0) + beyond
    log = stats.gamma(2).logpdf(alpha)
    for n, more in zip(counts, above, strict=True):
        log = log + betaln(1 + n, alpha + more) - betaln(1, alpha)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    mean = weight @ alpha
    deviation = np.sqrt(weight @ (alpha - mean) ** 2)
    ess = float(_compat.ess_mean(posterior["alpha"]))
    assert abs(float(posterior["alpha"].mean()) - mean) < 5 * deviation / np.sqrt(ess)
    # given alpha the rest is a product of independent sticks
    rest = np.prod((alpha[:, None] + above) / (1 + counts + alpha[:, None] + above), axis=1)
    assert float(posterior["rest"].mean()) == pytest.approx(weight @ rest, rel=0.05)
