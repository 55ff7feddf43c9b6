"""Every measure of every draw, against the same measure of one exact prior in Fractions."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import xarray as xr
from scipy import stats

import borel as bl

CHAINS, DRAWS, N, M = 2, 12, 3, 4


def exact_log(ratio):
    if ratio == math.inf:
        return mpmath.inf
    with mpmath.workdps(60):
        return mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)


def normalised(values):
    exact = [Fraction(float(v)) for v in values]
    return [v / sum(exact) for v in exact]


@pytest.fixture(scope="module")
def case():
    """Draws with supports of their own, a kernel with a zero, and the same in Fractions."""
    rng = np.random.default_rng(5)
    p = rng.dirichlet([0.5, 2, 3], size=(CHAINS, DRAWS))
    p[0, 0], p[0, 1], p[1, 0] = [0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.25, 0.0, 0.75]
    matrix = rng.dirichlet([0.7] * M, size=N)
    matrix[0] = [0.5, 0.5, 0.0, 0.0]
    data = xr.Dataset({"p": (("chain", "draw", "x"), p)}, attrs={"borel_draws": "exact"})
    learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    mechanism = bl.Mechanism.from_matrix(matrix)
    exact_mechanism = bl.Mechanism.from_matrix([normalised(row) for row in matrix])
    singles = {
        place: bl.pmf(normalised(p[place])) * exact_mechanism for place in np.ndindex(CHAINS, DRAWS)
    }
    return learnt * mechanism, singles


MEASURES = {
    "ldp": bl.ldp,
    "ldi": bl.ldi,
    "lip": bl.lip,
    "maximal leakage": bl.maximal_leakage,
    "maximal cost": bl.maximal_cost_leakage,
    "guesswork": bl.maximal_guesswork_leakage,
    "min-entropy": bl.min_entropy_leakage,
    "mutual information": bl.mutual_information,
    "kl": lambda j: bl.f_information(j, "kl"),
    "total variation": bl.total_variation,
    "chi square": lambda j: bl.f_information(j, "chi_square"),
    "hellinger": lambda j: bl.f_information(j, "squared_hellinger"),
    "max-information 0": bl.max_information,
    "max-information 0.1": lambda j: bl.max_information(j, Fraction(1, 10)),
    "max-information 0.9": lambda j: bl.max_information(j, 0.9),
    "max-information 1": lambda j: bl.max_information(j, 1),
    "event leakage": lambda j: bl.event_maximal_leakage(j, [0, 2]),
    "eml 0": lambda j: bl.event_maximal_leakage(j, delta=0),
    "eml 0.05": lambda j: bl.event_maximal_leakage(j, delta=Fraction(1, 20)),
    "eml 0.6": lambda j: bl.event_maximal_leakage(j, delta=0.6),
    "eml 1": lambda j: bl.event_maximal_leakage(j, delta=1),
    "dynamic": lambda j: bl.dynamic_min_entropy_leakage(j, 1),
    "alip lower": lambda j: bl.alip(j).lower,
    "realizable": bl.maximal_realizable_leakage,
    "tail": lambda j: (bl.pml(j).by_draw if hasattr(bl.pml(j), "by_draw") else bl.pml(j)).tail(0.3),
}


@pytest.mark.few(19)
@pytest.mark.parametrize("name", MEASURES)
def test_each_draw_encloses_the_exact_figure(case, name):
    """Both ends: the exact figure is known to a few ulp, so that the two must meet."""
    joint, singles = case
    found = MEASURES[name](joint)
    assert found.units == found.draws["lower"].attrs["units"]
    for place, single in singles.items():
        truth = MEASURES[name](single)
        low, high = float(found.draws["lower"][place]), float(found.draws["upper"][place])
        assert low <= high
        assert max(low, truth.lower) <= min(high, truth.upper), place
        assert found.least <= low and (high <= found.most or math.isinf(high))
        if truth.status == "exact" and np.isfinite(truth.upper):
            assert high - low <= 1e-11
        if truth.lower == math.inf:
            assert low == math.inf
        assert truth.units == found.units


@pytest.mark.parametrize("name", ["min-entropy", "eml 0.05", "max-information 0.1", "ldi"])
def test_the_ratio_is_the_exact_one(case, name):
    """Tighter: the exact ratio of Fractions, its logarithm at 60 digits, with no tolerance."""
    joint, singles = case
    draws = MEASURES[name](joint).draws
    for place, single in singles.items():
        truth = exact_log(MEASURES[name](single).ratio.lower)
        low, high = float(draws["lower"][place]), float(draws["upper"][place])
        assert mpmath.mpf(low) <= truth <= mpmath.mpf(high)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "name", ["min-entropy", "eml 0.05", "max-information 0.1", "ldi", "dynamic", "event leakage"]
)
def test_the_rounding_of_many_draws_is_covered(name):
    """Three hundred draws: an enclosure that forgets the rounding of its inputs misses some."""
    rng = np.random.default_rng(23)
    p, matrix = rng.dirichlet([2, 3], size=(1, 300)), rng.dirichlet([1, 1, 1], size=2)
    data = xr.Dataset({"p": (("chain", "draw", "x"), p)}, attrs={"borel_draws": "exact"})
    learnt = bl.priors.from_posterior(data, lambda d: bl.pmf(d["p"]))
    draws = MEASURES[name](learnt * bl.Mechanism.from_matrix(matrix)).draws
    exact = bl.Mechanism.from_matrix([normalised(row) for row in matrix])
    low, high = draws["lower"].values[0], draws["upper"].values[0]
    assert (high - low).max() < 1e-13
    for i in range(300):
        truth = exact_log(MEASURES[name](bl.pmf(normalised(p[0, i])) * exact).ratio.lower)
        assert mpmath.mpf(float(low[i])) <= truth <= mpmath.mpf(float(high[i]))


@pytest.mark.parametrize("delta", [0.03, 0.2, 0.5, 0.8])
def test_event_figures_by_brute_force(delta):
    """All events of pairs, and all fuzzy events with one fraction, on random small cases."""
    from itertools import product

    rng = np.random.default_rng(17)
    for _ in range(6):
        p, k = rng.dirichlet([1, 1]), rng.dirichlet([0.6] * 3, size=2)
        data = xr.Dataset(
            {"p": (("chain", "draw", "x"), p[None, None])}, attrs={"borel_draws": "exact"}
        )
        joint = bl.priors.from_posterior(data, lambda d: bl.pmf(d["p"])) * bl.Mechanism.from_matrix(
            k
        )
        q = p @ k
        pairs, product_law = (p[:, None] * k).ravel(), (p[:, None] * q).ravel()
        best = max(
            (pairs[list(e)].sum() - delta) / product_law[list(e)].sum()
            for e in (np.flatnonzero(bits) for bits in product([0, 1], repeat=6))
            if len(e)
        )
        found = bl.max_information(joint, delta).draws
        assert found["lower"].item() - 1e-12 <= math.log(best) <= found["upper"].item() + 1e-12
        fuzzy = 0.0
        for x in range(2):
            for order in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
                left, value = delta, 0.0
                for y in order:
                    part = min(1.0, left / q[y])
                    value, left = value + part * k[x, y], left - part * q[y]
                fuzzy = max(fuzzy, value / delta)
        found = bl.event_maximal_leakage(joint, delta=delta).draws
        assert found["lower"].item() - 1e-12 <= math.log(fuzzy) <= found["upper"].item() + 1e-12


def test_a_function_of_the_users_is_an_estimate(case):
    joint, singles = case
    found = bl.f_information(joint, lambda t: (t - 1) ** 2)
    assert found.status == "estimate" and found.quantile(0.5).status == "estimate"
    place = (1, 3)
    truth = bl.f_information(singles[place], "chi_square").value
    assert abs(float(found.draws["lower"][place]) - truth) <= 1e-9


def test_entries_that_float64_loses_are_not_claimed():
    """Marginals near the smallest float: wide, never wrong."""
    p = np.array([[[1e-300, 1.0]]])
    k = np.array([[0.5, 0.25, 0.25], [1e-200, 0.5, 0.5]])
    data = xr.Dataset({"p": (("chain", "draw", "x"), p)}, attrs={"borel_draws": "exact"})
    learnt = bl.priors.from_posterior(data, lambda d: bl.pmf(d["p"]))
    joint = learnt * bl.Mechanism.from_matrix(k)
    exact = bl.pmf(normalised(p[0, 0])) * bl.Mechanism.from_matrix([normalised(r) for r in k])
    for name in MEASURES:
        found, truth = MEASURES[name](joint).draws, MEASURES[name](exact)
        assert found["lower"].item() <= truth.upper and truth.lower <= found["upper"].item(), name


# -- the law over outcomes, draw by draw ----------------------------------------------------------


@pytest.mark.parametrize("kind", ["pml", "pmc"])
@pytest.mark.parametrize(
    "figure",
    [
        lambda v: v.tail(0.25),
        lambda v: v.tail(0, closed=True),
        lambda v: v.tail(0),
        lambda v: v.cdf(0.7),
        lambda v: v.quantile(0.5),
        lambda v: v.quantile(0.9, side="right"),
        lambda v: v.quantile(1),
        lambda v: v.quantile(Fraction(99, 100)),
        lambda v: v.mean(),
        lambda v: v.exp_mean(),
    ],
)
def test_the_law_of_each_draw(case, kind, figure):
    joint, singles = case
    found = figure(getattr(bl, kind)(joint).by_draw)
    for place, single in singles.items():
        truth = figure(getattr(bl, kind)(single))
        low, high = float(found.draws["lower"][place]), float(found.draws["upper"][place])
        assert max(low, truth.lower) <= min(high, truth.upper), place
        assert truth.units == found.units


def test_the_tail_at_an_atom_is_not_decided_by_rounding():
    """The leakage is log 4/3 at one outcome exactly: at that threshold both answers stay open."""
    p = np.full((1, 3, 2), 0.5)
    data = xr.Dataset({"p": (("chain", "draw", "x"), p)}, attrs={"borel_draws": "exact"})
    learnt = bl.priors.from_posterior(data, lambda d: bl.pmf(d["p"]))
    joint = learnt * bl.Mechanism.from_matrix([[0.75, 0.25], [0.75, 0.25]])
    assert float(bl.pml(joint).by_draw.tail(0.0).draws["upper"].max()) in (0.0, 1.0)
    other = learnt * bl.Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75]])
    with mpmath.workdps(30):
        t = float(mpmath.log(mpmath.mpf(4) / 3))
    draws = bl.pml(other).by_draw.tail(t).draws
    assert float(draws["lower"][0, 0]) == 0.0
    assert float(draws["upper"][0, 0]) >= 0.375


@pytest.mark.slow
@pytest.mark.cases("slow", "60", "0.2")
@pytest.mark.parametrize("budget", [0.2, 1, 60])
def test_mutual_information_that_is_cut_short_is_not_a_wrong_estimate(budget):
    """Of Laplace noise on Beta secrets it is h(Y) - 1 - log 2b, with h(Y) on a fine grid."""
    a, b, scale = [2.0, 3.0, 1.5], [2.0, 2.0, 4.0], 0.5
    posterior = xr.Dataset({"a": (("chain", "draw"), [a]), "b": (("chain", "draw"), [b])})
    learnt = bl.priors.from_posterior(posterior, lambda d: bl.beta(alpha=d["a"], beta=d["b"]))
    with bl.options(budget=budget):
        found = bl.mutual_information(learnt * bl.mechanisms.laplace(b=scale)).draws
    x, y = (np.arange(1000) + 0.5) / 1000, np.linspace(-12, 13, 12501)
    kernel = np.exp(-np.abs(y - x[:, None]) / scale) / (2 * scale)
    for k, law in enumerate(zip(a, b, strict=True)):
        marginal = stats.beta(*law).pdf(x) @ kernel / 1000
        entropy = -np.sum(marginal * np.log(marginal)) * (y[1] - y[0])
        low, high = (found[end].values[0, k] for end in ("lower", "upper"))
        assert low - 1e-5 <= entropy - 1 - np.log(2 * scale) <= high + 1e-5
