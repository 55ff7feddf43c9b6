"""The law over (theta, Y), posterior verdicts, groups, and what is refused."""

import copy
import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
import xarray as xr
from scipy import integrate, optimize, stats

import borel as bl
from borel.engine.draws import blocks
from borel.errors import InvalidInput, NotYet
from borel.guarantees.base import at_most
from borel.priors.confidence_intervals import bounded_mean, kl_lower, kl_upper, levels_for

MECHANISM = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])


def posterior(p, exact=True, **attrs):
    if exact:
        attrs["borel_draws"] = "exact"
    return xr.Dataset({"p": (("chain", "draw", "x"), np.stack([p, 1 - p], -1))}, attrs=attrs)


def learn(p, exact=True):
    return bl.priors.from_posterior(posterior(p, exact), lambda draw: bl.pmf(draw["p"]))


def beta_draws(seed, shape=(4, 500), a=31, b=71):
    return np.random.default_rng(seed).beta(a, b, size=shape)


# -- the closed forms: PML(0) = log 3/4 / (1/4 + p/2), PML(1) = log 3/4 / (3/4 - p/2) -------------


def marginals(p):
    return 0.25 + 0.5 * p, 0.75 - 0.5 * p


def tail_given(p, t):
    return sum(q for q in marginals(p) if math.log(0.75 / q) > t)


def over_posterior(function, points=()):
    law = stats.beta(31, 71)
    edges = [0.0, *sorted(points), 1.0]
    return sum(
        integrate.quad(lambda p: function(p) * law.pdf(p), a, b, epsabs=1e-12)[0]
        for a, b in itertools.pairwise(edges)
    )


def kink(t):
    """Where PML(0), which falls in p, crosses t."""
    return 2 * (0.75 * math.exp(-t) - 0.25)


@pytest.mark.few(2)
@pytest.mark.parametrize("t", [0.1, 0.5, 0.6, 0.7])
def test_the_tail_over_prior_and_outcome_covers(t):
    """The integral over the Beta posterior of the exact tail; 100 replications at 95 %."""
    cut = [c for c in [kink(t), 1 - kink(t)] if 0 < c < 1]
    truth = over_posterior(lambda p: tail_given(p, t), cut)
    covered = 0
    for seed in range(100):
        bound = bl.pml(learn(beta_draws(seed, (2, 200))) * MECHANISM).tail(t)
        assert bound.status == "statistical" and bound.units == "probability"
        covered += bound.lower <= truth <= bound.upper
    assert covered >= stats.binom.ppf(0.005, 100, 0.95)
    assert bound.width < 0.15


def test_cdf_mean_and_exp_mean_over_prior_and_outcome():
    ell = bl.pml(learn(beta_draws(1)) * MECHANISM)
    truth = over_posterior(lambda p: sum(q * math.log(0.75 / q) for q in marginals(p)))
    mean = ell.mean()
    assert mean.lower <= truth <= mean.upper and mean.width < 0.01
    assert any("normal approximation" in note for note in mean.assumptions)
    assert ell.exp_mean().lower <= 1.5 <= ell.exp_mean().upper  # 3/4 + 3/4, whatever the prior
    above, below = ell.tail(0.5), ell.cdf(0.5)
    assert abs(above.lower + below.upper - 1) < 1e-9


@pytest.mark.truths
@pytest.mark.parametrize("s", [0.3, 0.7, 0.9])
def test_the_quantile_over_prior_and_outcome_covers(s):
    def cdf(t):
        cut = [c for c in [kink(t), 1 - kink(t)] if 0 < c < 1]
        return 1 - over_posterior(lambda p: tail_given(p, t), cut)

    truth = optimize.brentq(lambda t: cdf(t) - s, 0.05, 1.0, xtol=1e-9)
    covered = 0
    for seed in range(60):
        bound = bl.pml(learn(beta_draws(seed, (2, 100))) * MECHANISM).quantile(s)
        covered += bound.lower <= truth <= bound.upper
        assert bound.status == "statistical"
    assert covered >= stats.binom.ppf(0.005, 60, 0.95)


def test_pooled_quantiles_are_those_of_the_pool():
    """One draw's law is the pool: the quantile of the exact engine lies between the ends."""
    rng = np.random.default_rng(3)
    k = rng.dirichlet(np.ones(5), size=3)
    p = rng.dirichlet(np.ones(3))
    data = xr.Dataset({"p": (("chain", "draw", "x"), np.tile(p, (2, 3, 1)))})
    data.attrs["borel_draws"] = "exact"
    learnt = bl.priors.from_posterior(data, lambda d: bl.pmf(d["p"]))
    joint = learnt * bl.Mechanism.from_matrix(k)
    single = bl.pmf(p) * bl.Mechanism.from_matrix(k)
    engine = bl.pml(joint)._engine()
    # the cdf of one question is not taken for that of another one
    for s, top, kind in itertools.product((0.2, 0.5, 0.93), (4.0, 5.0), ("pml", "pmc")):
        low, high = engine.pooled_quantiles(kind, s, s, top)
        truth = getattr(bl, kind)(single).quantile(s)
        assert low <= truth.lower and truth.upper <= high
        assert high - low < 1e-4


@pytest.mark.parametrize("kept", [0, 1 << 18])
def test_laws_of_draws_with_several_supports_are_those_of_one_prior_each(kept, monkeypatch):
    monkeypatch.setattr(blocks, "_KEPT", kept)
    rng = np.random.default_rng(8)
    k, p = rng.dirichlet(np.ones(4), size=3), rng.dirichlet(np.ones(3), size=(2, 12))
    p[0, ::3, 0] = p[1, 1::4, 2] = 0.0
    p /= p.sum(axis=-1, keepdims=True)
    data = xr.Dataset({"p": (("chain", "draw", "x"), p)}, attrs={"borel_draws": "exact"})
    joint = bl.priors.from_posterior(data, lambda d: bl.pmf(d["p"])) * bl.Mechanism.from_matrix(k)
    for of in (bl.pml, bl.pmc):
        law = of(joint).by_draw
        for figure in (lambda v: v.tail(0.1), lambda v: v.cdf(0.2), lambda v: v.mean()):
            found = figure(law).draws
            for c, n in np.ndindex(2, 12):
                one = figure(of(bl.pmf(p[c, n]) * bl.Mechanism.from_matrix(k)))
                low, high = (float(found[end][c, n]) for end in ("lower", "upper"))
                assert low <= one.upper and one.lower <= high and high - low < 1e-12


def test_intervals_of_means_invert_the_divergence():
    for mean, n, alpha in [(0.0, 50, 0.05), (0.3, 100, 0.01), (1.0, 20, 0.1)]:
        up, low = kl_upper(mean, n, alpha), kl_lower(mean, n, alpha)
        assert 0 <= low <= mean <= up <= 1
        for end in (up, low):
            if 0 < end < 1:
                first = mean * math.log(mean / end) if mean else 0.0
                rest = (1 - mean) * math.log((1 - mean) / (1 - end)) if mean < 1 else 0.0
                assert n * (first + rest) == pytest.approx(math.log(1 / alpha), rel=1e-6)
    low, high = levels_for(0.9, 200, 0.025)
    assert low < 0.9 < high <= 1 + 1e-9
    assert levels_for(0.999, 10, 0.025)[1] > 1 - 1e-9  # ten draws do not reach that far


def test_intervals_of_means_cover_a_skewed_quantity():
    rng = np.random.default_rng(8)
    covered = 0
    for _ in range(300):
        values = rng.beta(0.02, 2, 150)
        low, high = bounded_mean(values, 150, 0.9)
        covered += low <= 0.02 / 2.02 <= high
    assert covered >= stats.binom.ppf(0.005, 300, 0.9)


# -- guarantees -----------------------------------------------------------------------------------


def probability_that_pml_holds(t):
    """P(max of PML(0) and PML(1) <= t) under the posterior."""
    low, high = kink(t), 1 - kink(t)
    return max(0.0, stats.beta.cdf(high, 31, 71) - stats.beta.cdf(low, 31, 71))


@pytest.mark.parametrize(
    ("epsilon", "confidence", "expected"),
    [(0.75, 0.9, True), (0.5, 0.9, False), (0.65, 0.9, None)],
)
def test_a_guarantee_answers_at_a_confidence(epsilon, confidence, expected):
    joint = learn(beta_draws(2, (4, 2000))) * MECHANISM
    truth = probability_that_pml_holds(epsilon)
    assert {True: truth > 0.95, False: truth < 0.05, None: 0.2 < truth < 0.8}[expected]
    verdict = joint.satisfies(bl.guarantees.PML(epsilon))
    assert verdict.holds is None
    assert verdict.bound.units == "probability"
    assert verdict.bound.lower <= truth <= verdict.bound.upper
    with pytest.raises(bl.Undecided, match="posterior probability"):
        bool(verdict)
    assert verdict.at(confidence=confidence).holds is expected


def test_a_confidence_that_the_draws_do_not_reach_is_undecided():
    joint = learn(beta_draws(2, (2, 100))) * MECHANISM
    verdict = joint.satisfies(bl.guarantees.PML(1.0))  # it holds under every draw
    assert verdict.at(confidence=0.9).holds is True
    assert verdict.at(confidence=0.9999).holds is None
    with pytest.raises(InvalidInput):
        verdict.at(confidence=1.0)


def test_a_threshold_given_as_a_ratio_is_compared_on_both_sides():
    """e^epsilon = 3/2 exactly at p = 1/2: whether log 3/2 holds is not settled by rounding."""
    joint = learn(np.full((2, 50), 0.5)) * MECHANISM
    verdict = joint.satisfies(bl.guarantees.PML(ratio=Fraction(3, 2)))
    assert verdict.bound.lower == 0.0
    # the float above log 3/2 would be too kind a threshold: a figure that equals it is too large
    guarantee = bl.guarantees.PML(ratio=Fraction(3, 2))
    above = np.full((2, 50), guarantee.epsilon)
    figure = bl.RandomBound.from_draws(
        above, above, status="exact", name="above", exact_draws=True, trouble=""
    )
    assert at_most(figure, guarantee.levels[0]).bound.lower == 0.0
    assert joint.satisfies(bl.guarantees.PML(ratio=Fraction(8, 5))).at(confidence=0.8).holds
    assert (
        joint.satisfies(bl.guarantees.PML(ratio=Fraction(7, 5))).at(confidence=0.8).holds is False
    )


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "guarantee",
    [
        bl.guarantees.PML(0.62),
        bl.guarantees.PML(0.62, delta=0.38),
        bl.guarantees.PML(ratio=Fraction(9, 5), delta=Fraction(2, 5)),
        bl.guarantees.PMC(0.6),
        bl.guarantees.PMC(0.5, delta=0.5),
        bl.guarantees.EML(0.6, delta=0.45),
        bl.guarantees.LDP(1.2),
        bl.guarantees.LIP(0.65),
        bl.guarantees.LDI(2.0),
        bl.guarantees.ALIP(0.6, 0.62),
        bl.guarantees.AveragePML(0.41),
    ],
    ids=str,
)
def test_the_probability_of_every_kind_of_guarantee(guarantee):
    """The share of the draws for which the guarantee of one prior holds."""
    p = beta_draws(4, (2, 60))
    verdict = (learn(p) * MECHANISM).satisfies(guarantee)
    singles = [
        (bl.pmf([float(v), 1 - float(v)]) * MECHANISM).satisfies(guarantee).holds for v in p.ravel()
    ]
    assert None not in singles
    count = sum(singles)
    low = stats.beta.ppf(0.025, count, 120 - count + 1) if count else 0.0
    high = stats.beta.ppf(0.975, count + 1, 120 - count) if count < 120 else 1.0
    assert verdict.bound.lower == pytest.approx(low, abs=1e-12)
    assert verdict.bound.upper == pytest.approx(high, abs=1e-12)


def test_markov_chains_that_have_not_converged_are_refused_everywhere():
    rng = np.random.default_rng(4)
    p = rng.beta([[2], [5], [20], [40]], 10, size=(4, 500))
    joint = learn(p, exact=False) * MECHANISM
    ell = bl.pml(joint)
    ceilings = [  # at most LDP, log 3, under every prior: that is all that is said
        ell.mean(),
        ell.quantile(0.5),
        ell.sup().smallest(0.05),
        ell.sup().largest_draw(),
        *ell.sup().eti(0.9),
        *ell.sup().hdi(0.9),
    ]
    for bound in ceilings:
        assert bound.status == "certified" and "R-hat" in bound.reason
        assert bound.lower == 0 and math.log(3) <= bound.upper <= math.log(3) + 1e-12
    figures = [
        ell.tail(0.5),
        ell.cdf(0.5),
        ell.by_draw.tail(0.5).quantile(0.9),
        bl.maximal_leakage(joint).mean(),
        bl.min_entropy_leakage(joint).quantile(0.9),
        bl.total_variation(joint).mean(),
        bl.ldi(joint).cdf(1.0),
    ]
    for bound in figures:
        assert bound.status == "undecided"
        assert "R-hat" in bound.reason and "Remedy" in bound.reason
    for guarantee in (bl.guarantees.PML(1.0), bl.guarantees.ALIP(1.0, 1.0)):
        verdict = joint.satisfies(guarantee).at(confidence=0.5)
        assert verdict.holds is None and "R-hat" in verdict.reason
    for guarantee in (bl.guarantees.PML(5.0), bl.guarantees.ALIP(5.0, 5.0)):
        assert joint.satisfies(guarantee).at(confidence=0.5).holds  # whatever the prior


def test_the_combined_statement():
    """P(epsilon-PML up to delta) >= 1 - alpha gives P{l > epsilon} <= alpha + delta."""
    joint = learn(beta_draws(5, (4, 2000))) * MECHANISM
    ell, epsilon, delta = bl.pml(joint), 0.62, 0.38
    alpha = 1 - joint.satisfies(bl.guarantees.PML(epsilon, delta=delta)).bound.lower
    assert ell.tail(epsilon).lower <= alpha + delta


# -- RandomBound ----------------------------------------------------------------------------------


def test_the_equal_tailed_interval_is_arviz_s():
    from borel import _compat

    epsilon = bl.pml(learn(beta_draws(6, (4, 2000))) * MECHANISM).sup()
    region = epsilon.eti(0.9)
    ends = _compat.eti(epsilon._middle(), 0.9)
    for bound, end in zip(region, ends, strict=True):
        assert bound.status == "statistical" and bound.confidence == 0.975
        assert bound.lower <= float(end) <= bound.upper


def test_figures_are_the_same_of_draws_with_labels_as_of_bare_ones():
    bare = bl.pml(learn(beta_draws(6)) * MECHANISM).sup()
    about = {"name": bare.name, "exact_draws": bare.exact_draws, "trouble": bare.trouble}
    labelled = bl.RandomBound(bare.draws, **about)
    assert (labelled.size, labelled.status) == (bare.size, bare.status)
    assert (
        bare.draws["status"].values.tolist()
        == np.full(bare.draws["lower"].shape, bare.status).tolist()
    )
    asks = [
        lambda f: f.quantile(0.9),
        lambda f: f.mean(),
        lambda f: f.cdf(0.5),
        lambda f: f.hdi(0.9).upper,
        lambda f: f.largest_draw(),
        lambda f: f.one(chain=1, draw=2),
    ]
    for ask in asks:
        found = [ask(figure) for figure in (bare, labelled, pickle.loads(pickle.dumps(bare)))]
        assert len({(b.lower, b.upper, b.status) for b in found}) == 1


def test_the_smallest_level_is_a_quantile():
    epsilon = bl.pml(learn(beta_draws(7)) * MECHANISM).sup()
    assert epsilon.smallest(0.25) == epsilon.quantile(0.75)
    t = epsilon.smallest(0.05, confidence=0.99)
    truth = optimize.brentq(lambda t: probability_that_pml_holds(t) - 0.95, 0.4, 1.0)
    assert t.lower <= truth <= t.upper


def test_the_largest_draw_speaks_of_these_draws_only():
    p = beta_draws(8, (2, 50))
    epsilon = bl.pml(learn(p) * MECHANISM).sup()
    bound = epsilon.largest_draw()
    place = np.unravel_index(np.argmin(p), p.shape)  # PML(0) falls in p
    assert bound.status == "exact" and any("these draws only" in a for a in bound.assumptions)
    assert bound.witness == {"chain": place[0], "draw": place[1]}
    assert bound.lower <= math.log(0.75 / (0.25 + 0.5 * p[place])) <= bound.upper


@pytest.mark.usefixtures("estimates")
def test_estimates_stay_estimates():
    data = xr.Dataset(
        {"mu": (("chain", "draw"), np.random.default_rng(0).normal(0.5, 0.02, (2, 20)))},
        attrs={"borel_draws": "exact"},
    )
    learnt = bl.priors.from_posterior(data, lambda d: bl.poisson(mu=np.exp(d["mu"])))
    mechanism = bl.Mechanism(
        lambda y, x: np.where(y == 1, 0.5 + 0.4 * np.exp(-x), 0.5 - 0.4 * np.exp(-x)),
        secret=bl.Integers(0, None),
        outcome=bl.Finite(2),
    )
    epsilon = bl.pml(learnt * mechanism).sup()
    assert epsilon.largest_draw().status == epsilon.quantile(0.5).status == "estimate"
    verdict = (learnt * mechanism).satisfies(bl.guarantees.PML(10.0))
    assert verdict.at(confidence=0.5).holds is None
    assert "estimate" in verdict.at(confidence=0.5).reason
    single = bl.pml(learnt.one(7) * mechanism).sup()
    assert abs(epsilon.draws["lower"].values.ravel()[7] - single.value) < 1e-6


def test_finite_secrets_with_noise_are_estimates():
    p = beta_draws(9, (2, 30))
    learnt = learn(p)
    noise = bl.mechanisms.laplace(b=1.0)
    epsilon = bl.pml(learnt * noise).sup()
    with bl.options(engine="estimate"):
        single = bl.pml(bl.pmf([p[0, 3], 1 - p[0, 3]]) * noise).sup()
    assert epsilon.status == "estimate"
    assert abs(float(epsilon.draws["upper"][0, 3]) - single.value) < 1e-6
    p[0, 0] = 0.0
    with pytest.raises(NotYet, match="rule secrets out"):
        bl.pml(learn(p) * noise).sup()
    with pytest.raises(NotYet, match="law of the leakage"):
        bl.pml(learnt * noise).tail(0.3)
    with pytest.raises(NotYet, match="min_entropy_leakage over a posterior"):
        bl.min_entropy_leakage(learnt * noise)


def test_what_is_of_one_prior_only_says_so():
    joint = learn(beta_draws(0, (2, 10))) * MECHANISM
    for ask in (
        lambda: joint.marginal,
        lambda: joint.posterior(0),
        lambda: bl.information_density(joint),
    ):
        with pytest.raises(NotYet, match="one prior"):
            ask()


# -- groups ---------------------------------------------------------------------------------------


def test_each_group_is_the_selection_of_that_group():
    rng = np.random.default_rng(11)
    p = rng.dirichlet([3, 5], size=(2, 40, 3))
    data = xr.Dataset(
        {"p": (("chain", "draw", "town", "x"), p), "shared": (("chain", "draw"), p[..., 0, 0])},
        {"town": ["A", "B", "C"]},
        {"borel_draws": "exact"},
    )
    learnt = bl.priors.each_group(data, lambda draw: bl.pmf(draw["p"]), dim="town")
    assert list(learnt) == ["A", "B", "C"]
    epsilon = {town: bl.pml(prior * MECHANISM).sup() for town, prior in learnt.items()}
    for town, found in epsilon.items():
        chosen = bl.priors.from_posterior(data, lambda draw, t=town: bl.pmf(draw["p"].sel(town=t)))
        xr.testing.assert_equal(found.draws, bl.pml(chosen * MECHANISM).sup().draws)
    worst = epsilon["A"].larger(epsilon["B"], name="A or B").larger(epsilon["C"], name="worst")
    highest = np.maximum.reduce([e.draws["upper"].values for e in epsilon.values()])
    assert (worst.draws["upper"].values == highest).all()
    with pytest.raises(InvalidInput, match="'village'"):
        bl.priors.each_group(data, lambda draw: bl.pmf(draw["p"]), dim="village")
    with pytest.raises(InvalidInput, match="one of the variables"):
        bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["q"]))


# -- one prior for all ----------------------------------------------------------------------------


def test_the_mean_prior_of_densities_is_a_mixture_of_draws():
    rng = np.random.default_rng(12)
    mu = rng.normal(0, 0.1, (2, 50))
    data = xr.Dataset({"mu": (("chain", "draw"), mu)}, attrs={"borel_draws": "exact"})
    learnt = bl.priors.from_posterior(data, lambda d: bl.normal(mu=d["mu"], sigma=1.0))
    mean = learnt.mean_prior(components=100)
    x = np.linspace(-3, 3, 7)
    np.testing.assert_allclose(mean.pdf(x), stats.norm.pdf(x[:, None], mu.ravel()).mean(1))
    assert "100 of the 100" in mean.name
    few = learnt.mean_prior(components=5)
    assert "5 of the 100" in few.name
    counts = bl.priors.from_posterior(data, lambda d: bl.poisson(mu=np.exp(d["mu"])))
    k = np.arange(6)
    np.testing.assert_allclose(
        counts.mean_prior(components=100).pdf(k),
        stats.poisson.pmf(k[:, None], np.exp(mu.ravel())).mean(1),
    )
    with pytest.raises(InvalidInput, match="components"):
        learnt.mean_prior(components=0)


# -- draws that allow no claim: what needs no sampler stands all the same ---------------------


def not_mixed():
    """Two chains that stay apart."""
    walk = np.random.default_rng(0).normal(0, 0.01, (2, 300)).cumsum(1)
    return learn(0.2 + 0.6 * stats.logistic.cdf(walk + np.array([[-1], [1]])), exact=False)


def test_bad_draws_are_undecided_and_the_ceiling_needs_none():
    thirds = [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]
    joint = not_mixed() * bl.Mechanism.from_matrix(thirds)  # LDP is log 3, whatever the prior
    log_3 = math.log(3)
    for figure in (
        bl.pml(joint).sup(),
        bl.pmc(joint).sup(),
        bl.lip(joint),
        copy.copy(bl.lip(joint)),
    ):
        assert figure.trouble and figure.status == "undecided" in repr(figure).split(": ")[1]
        assert (figure.draws["status"] == "exact").all() and figure.one(chain=0, draw=3).proved
        for bound in (figure.quantile(0.9), figure.mean(), figure.largest_draw(), *figure.hdi(0.9)):
            assert bound.status == "certified" and "R-hat" in bound.reason
            assert bound.lower == 0 and log_3 <= bound.upper <= log_3 + 1e-12
        assert figure.cdf(1.1).lower == 1 and figure.cdf(1.1).status == "exact"
        assert (figure <= 1.1).holds and (figure <= 1.1).at(confidence=0.99).holds
        assert figure.cdf(1.09).status == "undecided" and (figure <= 1.09).holds is None
    assert bl.pml(joint).quantile(0.5).upper <= log_3 + 1e-12
    assert pickle.loads(pickle.dumps(figure)).quantile(0.5).upper <= log_3 + 1e-12
    # a version at one outcome has no ceiling; neither has what is no leakage in nats
    assert bl.pml(joint)(0).quantile(0.5).upper == math.inf
    assert bl.pml(joint).exp_mean().upper > 3
    for guarantee in (bl.guarantees.PML(ratio=3), bl.guarantees.PMC(1.1), bl.guarantees.LIP(1.1)):
        assert joint.satisfies(guarantee).holds
    assert joint.satisfies(bl.guarantees.PML(ratio=Fraction(299, 100))).holds is None
    assert joint.satisfies(bl.guarantees.PML(1.1, delta=0.1)).holds
    both = joint.satisfies(bl.guarantees.ALIP(1.1, 1.1))
    assert both.holds and both.at(confidence=0.95).holds
    half = joint.satisfies(bl.guarantees.ALIP(1.1, 0.1))
    assert half.holds is None and half.at(confidence=0.95).holds is None


def test_without_a_finite_ceiling_bad_draws_say_nothing():
    useless = bl.Mechanism.from_matrix([[1.0, 0.0], [0.25, 0.75]])
    epsilon = bl.pml(not_mixed() * useless).sup()
    assert epsilon.quantile(0.5).status == "undecided" and epsilon.quantile(0.5).upper == math.inf
    assert epsilon.cdf(50.0).upper == 1 and epsilon.cdf(50.0).lower == 0
