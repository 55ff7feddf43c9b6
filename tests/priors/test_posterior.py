"""Posteriors over priors: enclosures per draw, quantiles that cover, refusals that say why."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import xarray as xr
from scipy import stats

import borel as bl
from borel.errors import InvalidInput


def tree(exact=False, **variables):
    data = xr.Dataset(
        {name: (("chain", "draw", *dims), values) for name, (dims, values) in variables.items()}
    )
    if exact:
        data.attrs["borel_draws"] = "exact"
    return xr.DataTree.from_dict({"posterior": data})


def learn(data):
    return bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))


def dirichlet(rng, chains, draws, alpha, exact=True):
    return tree(exact=exact, p=(("x",), rng.dirichlet(alpha, size=(chains, draws))))


MECHANISM = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])


@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_each_draw_encloses_the_exact_truth(kind):
    """One Fraction per draw, computed from the definition."""
    rng = np.random.default_rng(3)
    alpha = [0.3, 0.3, 0.3, 2.0]
    p = rng.dirichlet(alpha, size=(2, 50))
    p[0, :10] = [0.5, 0.5, 0.0, 0.0]  # the support depends on the draw
    p[0, 10] = [0.0, 0.0, 1.0, 0.0]
    matrix = rng.dirichlet([0.4] * 6, size=4)
    mechanism = bl.Mechanism.from_matrix(matrix)
    epsilon = getattr(bl, kind)(learn(tree(exact=True, p=(("x",), p))) * mechanism).sup()
    k = [[Fraction(v) for v in row] for row in matrix]
    k = [[v / sum(row) for v in row] for row in k]
    for place in np.ndindex(2, 50):
        prior = [Fraction(v) for v in p[place]]
        prior = [v / sum(prior) for v in prior]
        ratios = []
        for y in range(6):
            marginal = sum(a * row[y] for a, row in zip(prior, k, strict=True))
            column = [row[y] for a, row in zip(prior, k, strict=True) if a]
            ratio = max(column) / marginal if kind == "pml" else marginal / min(column)
            ratios.append(ratio)
        low = float(epsilon.draws["lower"][place])
        high = float(epsilon.draws["upper"][place])
        with mpmath.workdps(60):
            truth = mpmath.log(mpmath.mpf(max(ratios).numerator) / max(ratios).denominator)
            assert mpmath.mpf(low) <= truth <= mpmath.mpf(high)
        assert high - low <= 1e-13


@pytest.mark.few(1)
@pytest.mark.parametrize("level", [0.05, 0.5, 0.95])
def test_quantiles_cover_at_the_stated_rate(level):
    """Exact Beta draws, binary randomised response, one outcome: PMC has a closed form.

    PMC(0) = log(1 + p_0 (e^eps - 1)) grows with p_0, so that its quantile is that of the Beta.
    """
    replications, draws, confidence = 200, 1000, 0.95
    truth = math.log1p(stats.beta.ppf(level, 31, 71) * 2.0)  # odds 3 : 1, e^eps = 3
    covered, widths, plain = 0, [], []
    for seed in range(replications):
        rng = np.random.default_rng(seed)
        p = rng.beta(31, 71, size=(4, draws // 4))
        data = tree(exact=True, p=(("x",), np.stack([p, 1 - p], axis=-1)))
        random = bl.pmc(learn(data) * MECHANISM)(0)
        bound = random.quantile(level, confidence=confidence)
        assert bound.status == "statistical" and bound.confidence == confidence
        covered += bound.lower <= truth <= bound.upper
        widths.append(bound.width)
        # the plain order-statistic interval, straight from the textbook
        ranked = np.sort(np.log1p(2 * p.ravel()))
        low, high = stats.binom.ppf([0.025, 0.975], draws, level).astype(int)
        plain.append(ranked[high] - ranked[low - 1])
    band = stats.binom.ppf([0.005, 0.995], replications, confidence)
    assert band[0] <= covered <= band[1]
    assert np.median(widths) <= 1.5 * np.median(plain)


def test_the_probability_that_a_guarantee_holds():
    rng = np.random.default_rng(0)
    p = rng.beta(31, 71, size=(4, 1000))
    random = bl.pmc(learn(tree(exact=True, p=(("x",), np.stack([p, 1 - p], -1)))) * MECHANISM)(0)
    t = 0.5
    truth = stats.beta.cdf(math.expm1(t) / 2, 31, 71)
    bound = random.cdf(t)
    assert bound.status == "statistical" and bound.units == "probability"
    assert bound.lower <= truth <= bound.upper
    assert bound.width < 0.05
    assert (bound >= 0.5 * bound.lower).at(confidence=0.95).holds is True
    with pytest.raises(bl.Undecided):
        bool(bound >= 0.0)


def test_the_mean_and_the_hdi():
    rng = np.random.default_rng(0)
    p = rng.beta(31, 71, size=(4, 1000))
    random = bl.pmc(learn(tree(exact=True, p=(("x",), np.stack([p, 1 - p], -1)))) * MECHANISM)(0)
    truth = stats.beta(31, 71).expect(lambda q: np.log1p(2 * q))
    mean = random.mean()
    assert mean.lower <= truth <= mean.upper
    region = random.hdi(0.9)
    assert region.lower.status == region.upper.status == "estimate"
    inside = stats.beta.cdf(np.expm1(region.upper.value) / 2, 31, 71) - stats.beta.cdf(
        np.expm1(region.lower.value) / 2, 31, 71
    )
    assert abs(inside - 0.9) < 0.03


def test_markov_chain_draws_say_that_they_are_asymptotic():
    rng = np.random.default_rng(1)
    bound = (
        bl.pml(learn(dirichlet(rng, 4, 1000, [3, 5], exact=False)) * MECHANISM).sup().quantile(0.9)
    )
    assert bound.status == "statistical"
    assert any("effective sample size" in note for note in bound.assumptions)


def test_correlated_draws_widen_the_interval():
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(4, 4000))
    walk = np.zeros((4, 4000))
    for i in range(1, 4000):
        walk[:, i] = 0.9 * walk[:, i - 1] + math.sqrt(1 - 0.81) * noise[:, i]
    widths = []
    for values in (noise, walk):
        p = 1 / (1 + np.exp(-values))
        data = tree(p=(("x",), np.stack([p, 1 - p], -1)))
        widths.append(bl.pmc(learn(data) * MECHANISM)(0).quantile(0.5).width)
    assert widths[1] > 2 * widths[0]


def test_an_unconverged_posterior_is_refused():
    rng = np.random.default_rng(4)
    p = rng.beta([[2], [5], [20], [40]], 10, size=(4, 1000))  # four chains, four places
    random = bl.pml(learn(tree(p=(("x",), np.stack([p, 1 - p], -1)))) * MECHANISM).sup()
    assert random.status == random.cdf(0.5).status == "undecided"
    ceiling = bl.ldp(bl.priors.full_support(bl.Finite(2)) * MECHANISM)
    for bound in (random.quantile(0.9), random.mean(), *random.hdi(0.9)):
        assert bound.lower == 0, "LDP needs no draws"
        assert ceiling.lower <= bound.upper <= ceiling.upper
    for bound in (random.cdf(0.5), random.quantile(0.9), random.mean(), *random.hdi(0.9)):
        assert "R-hat" in bound.reason and "Remedy" in bound.reason
    assert (random <= ceiling.upper / 2).holds is None and (random <= 5.0).holds


def test_too_few_effective_draws_are_refused():
    rng = np.random.default_rng(5)
    random = bl.pml(learn(dirichlet(rng, 4, 30, [3, 5], exact=False)) * MECHANISM).sup()
    assert "ESS" in random.quantile(0.5).reason


def test_one_chain_is_refused():
    rng = np.random.default_rng(5)
    random = bl.pml(learn(dirichlet(rng, 1, 4000, [3, 5], exact=False)) * MECHANISM).sup()
    assert "one chain" in random.quantile(0.5).reason


def test_an_empty_posterior_is_undecided():
    data = tree(p=(("x",), np.zeros((4, 0, 2))))
    random = bl.pml(learn(data) * MECHANISM).sup()
    bound = random.quantile(0.9)
    assert bound.status == "undecided"
    assert "no draws" in bound.reason and "sample it" in bound.reason


def test_a_guarantee_over_a_posterior_is_never_a_plain_yes():
    rng = np.random.default_rng(6)
    joint = learn(dirichlet(rng, 4, 500, [30, 50])) * MECHANISM
    verdict = joint.satisfies(bl.guarantees.PML(5.0))
    assert verdict.holds is None
    with pytest.raises(bl.Undecided, match="posterior probability"):
        bool(verdict)


def test_bad_draws_name_the_draw():
    p = np.full((2, 3, 2), 0.5)
    p[1, 1] = [0.5, np.nan]
    with pytest.raises(InvalidInput, match="nan"):
        bl.pml(learn(tree(exact=True, p=(("x",), p))) * MECHANISM).sup()


def test_a_build_that_loses_the_draws_is_refused():
    rng = np.random.default_rng(7)
    data = dirichlet(rng, 2, 10, [1, 1])
    with pytest.raises(InvalidInput, match="leading axis"):
        bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"].mean("sample")))
    with pytest.raises(InvalidInput, match="returns a Measure"):
        bl.priors.from_posterior(data, lambda draw: draw["p"])


def test_labels_of_the_draws_must_match_the_mechanism():
    rng = np.random.default_rng(8)
    data = bl.models.dirichlet_posterior([3, 4], categories=["a", "b"], random_seed=rng)
    with pytest.raises(InvalidInput, match="labels are matched"):
        learn(data) * MECHANISM


@pytest.mark.truths
@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_random_densities_agree_with_one_prior_at_a_time(kind):
    """A Beta density for every draw: enclosures of all against the estimate of single priors."""
    rng = np.random.default_rng(9)
    a, b = rng.gamma(200, 0.01, (2, 20)), rng.gamma(300, 0.01, (2, 20))
    learnt = bl.priors.from_posterior(
        tree(exact=True, a=((), a), b=((), b)),
        lambda draw: bl.beta(alpha=draw["a"], beta=draw["b"]),
    )
    mechanism = bl.mechanisms.laplace(b=0.5, secret=bl.Interval(0, 1))
    leakage = getattr(bl, kind)
    random, at = leakage(learnt * mechanism).sup(), leakage(learnt * mechanism)(0.3)
    assert random.status == "certified" and random.quantile(0.5).status == "statistical"
    for place in [(0, 0), (1, 7)]:
        single = leakage(bl.beta(alpha=a[place], beta=b[place]) * mechanism)
        with bl.options(engine="estimate"):
            ones = single.sup(), single(0.3)
        for drawn, one in zip((random, at), ones, strict=True):
            low, high = float(drawn.draws["lower"][place]), float(drawn.draws["upper"][place])
            assert abs((low + high) / 2 - one.value) <= 1e-6
            assert low - 1e-8 <= one.value <= high + 1e-8


def test_the_band_over_outcomes():
    rng = np.random.default_rng(10)
    joint = learn(dirichlet(rng, 4, 500, [30, 50])) * MECHANISM
    band = bl.pml(joint).curve([0, 1], prob=0.9)
    assert (band["lower"] <= band["median"]).all() and (band["median"] <= band["upper"]).all()
    assert band["median"].dims == ("y",)


def test_the_other_measures_of_every_draw_enclose_the_single_ones():
    """LDP, LIP and mutual information over draws contain what the exact engine says of one."""
    rng = np.random.default_rng(11)
    p = rng.dirichlet([0.4, 2, 3], size=(2, 20))
    p[0, 0] = [0.5, 0.5, 0.0]
    mechanism = bl.Mechanism.from_matrix(rng.dirichlet([0.6] * 5, size=3))
    joint = learn(tree(exact=True, p=(("x",), p))) * mechanism
    for measure in (bl.ldp, bl.lip, bl.mutual_information):
        draws = measure(joint).draws
        assert draws.attrs["status"] == "exact"
        for place in np.ndindex(2, 20):
            one = measure(bl.pmf(p[place]) * mechanism)
            low, high = float(draws["lower"][place]), float(draws["upper"][place])
            assert max(low, one.lower) <= min(high, one.upper)
            assert high - low <= 1e-12


@pytest.mark.truths
def test_the_other_measures_of_random_densities_agree_with_single_priors():
    rng = np.random.default_rng(12)
    a, b = rng.gamma(200, 0.01, (2, 6)), rng.gamma(300, 0.01, (2, 6))
    learnt = bl.priors.from_posterior(
        tree(exact=True, a=((), a), b=((), b)),
        lambda draw: bl.beta(alpha=draw["a"], beta=draw["b"]),
    )
    mechanism = bl.mechanisms.laplace(b=0.5, secret=bl.Interval(0, 1))
    for measure in (bl.ldp, bl.lip, bl.mutual_information):
        found = measure(learnt * mechanism)
        with bl.options(engine="estimate"):
            one = measure(bl.beta(alpha=a[1, 2], beta=b[1, 2]) * mechanism)
        assert found.status == "certified"
        if measure is bl.ldp:  # one Bound: it depends on the support alone
            middle = (found.lower + found.upper) / 2
        else:
            middle = float(found.draws["lower"][1, 2] + found.draws["upper"][1, 2]) / 2
        assert abs(middle - one.value) <= 1e-6
