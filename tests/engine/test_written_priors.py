"""Priors that were written as NumPy functions: as good as the named ones, and as certain.

The truths are closed forms, integrals by mpmath to 40 digits, and figures of named families, which
come from distribution functions of their own.
"""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import borel as bl
from borel.engine.continuous.outcome_engine import CertifiedOutcomes
from borel.engine.problem import prior_masses, prior_normalisation
from borel.engine.problem.prior_normalisation import MISS, miss

UNIT, HALF, REALS = bl.Interval(0, 1), bl.Interval(0, None), bl.Reals()


def laplace(secret):
    return bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, secret=secret, outcome=REALS)


GAUSS = bl.Mechanism(
    lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi), secret=REALS, outcome=REALS
)
PAIRS = {  # a written prior, the named one, the mechanism
    "exponential": (
        bl.Measure(lambda x: np.exp(-x), on=HALF), bl.exponential(lam=1.0), laplace(HALF)),
    "in logarithms": (
        bl.Measure(lambda x: -x, on=HALF, log=True), bl.exponential(lam=1.0), laplace(HALF)),
    "normal": (
        bl.Measure(lambda x: np.exp(-x * x / 2) / np.sqrt(2 * np.pi), on=REALS),
        bl.normal(), GAUSS),
    "gamma": (
        bl.Measure(lambda x: np.exp(-x) / np.sqrt(np.pi * x), on=HALF),
        bl.gamma(alpha=0.5, beta=1.0), laplace(HALF)),
    "beta": (
        bl.Measure(lambda x: 0.5 / np.sqrt(x), on=UNIT), bl.beta(alpha=0.5, beta=1.0),
        laplace(UNIT)),
}  # fmt: skip
FIGURES = {
    "median of pml": lambda joint: bl.pml(joint).quantile(0.5),
    "E pml": lambda joint: bl.pml(joint).mean(),
    "pml at 0.3": lambda joint: bl.pml(joint)(0.3),
    "P{pml > 1/4}": lambda joint: bl.pml(joint).tail(0.25),
    "supremum of pmc": lambda joint: bl.pmc(joint).sup(),
}


@pytest.mark.cases(
    "truths",
    "beta-E pml",
    "beta-P{pml > 1/4}",
    "beta-median of pml",
    "beta-supremum of pmc",
    "exponential-E pml",
    "exponential-P{pml > 1/4}",
    "exponential-median of pml",
    "exponential-supremum of pmc",
    "gamma-E pml",
    "gamma-P{pml > 1/4}",
    "gamma-median of pml",
    "gamma-supremum of pmc",
    "in logarithms-E pml",
    "in logarithms-P{pml > 1/4}",
    "in logarithms-median of pml",
    "in logarithms-supremum of pmc",
    "normal-E pml",
    "normal-P{pml > 1/4}",
    "normal-median of pml",
    "normal-supremum of pmc",
)
@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("pair", PAIRS)
def test_a_written_prior_is_as_good_as_a_named_one(pair, figure):
    written, named, mechanism = PAIRS[pair]
    with bl.options(budget=40):
        found, other = (FIGURES[figure](prior * mechanism) for prior in (written, named))
    assert found.status == other.status == "certified"
    assert found.lower <= other.upper and other.lower <= found.upper
    assert found.lower == math.inf or found.width <= max(2e-8, 4 * other.width)


NOISE_ON = {  # Laplace noise on a prior on (0, 1): p, its integrals against e^x and e^-x by mpmath
    "logarithm": (lambda x: -np.log(x), lambda x: -mp.log(x)),
    "its square": (lambda x: np.log(x) ** 2 / 2, lambda x: mp.log(x) ** 2 / 2),
    "both": (lambda x: -4 * x * np.log(x), lambda x: -4 * x * mp.log(x)),
    "semicircle": (
        lambda x: 8 / np.pi * np.sqrt(x - x * x), lambda x: 8 / mp.pi * mp.sqrt(x - x * x)),
    "factors": (
        lambda x: 8 / np.pi * np.sqrt(x * (1 - x)), lambda x: 8 / mp.pi * mp.sqrt(x - x * x)),
    "line": (lambda x: 2 * x, lambda x: 2 * x),
}  # fmt: skip


def mean_of(f, density):
    """Integrate f p over (0, 1), by pieces towards both ends."""
    cuts = [mp.mpf(2) ** -k for k in range(0, 120, 3)]
    with mp.workdps(40):
        low = mp.quad(lambda x: f(x) * density(x), [0, *(c / 2 for c in reversed(cuts))])
        high = mp.quad(lambda t: f(1 - t) * density(1 - t), [0, *(c / 2 for c in reversed(cuts))])
        return low + high


@pytest.mark.cases("truths", "both", "factors", "its square", "logarithm", "semicircle")
@pytest.mark.parametrize("name", NOISE_ON)
def test_noise_on_a_prior_that_is_singular_at_an_end(name):
    written, density = NOISE_ON[name]
    joint = bl.Measure(written, on=UNIT) * laplace(UNIT)
    up, down = (mean_of(lambda x, s=s: mp.exp(s * x), density) for s in (1, -1))
    assert abs(mean_of(lambda x: 1, density) - 1) < 1e-15
    # beyond 0 all secrets lead to e^y e^-x / 2, beyond 1 to e^-y e^x / 2
    truths = {
        (bl.pml, -1.0): -mp.log(down),
        (bl.pmc, -1.0): mp.log(down) + 1,
        (bl.pml, 2.0): 1 - mp.log(up),
        (bl.pmc, 2.0): mp.log(up),
    }
    for (kind, y), truth in truths.items():
        bound = kind(joint)(y)
        assert bound.status == "certified"
        assert bound.lower <= truth <= bound.upper <= bound.lower + 1e-8
    # for y in (0, 1) log f_Y is concave, so that these are the largest
    for kind, worst in ((bl.pml, max(-mp.log(down), 1 - mp.log(up))),
                        (bl.pmc, max(mp.log(down) + 1, mp.log(up)))):  # fmt: skip
        bound = kind(joint).sup()
        assert bound.status == "certified"
        assert bound.lower <= worst + 1e-9 and bound.upper >= worst
        if kind is bl.pmc:
            assert bound.lower <= worst <= bound.upper <= bound.lower + 2e-8
    means = bl.pml(joint).exp_mean()
    assert means.lower <= 1.5 <= means.upper <= means.lower + 1e-8


@pytest.mark.parametrize(
    ("law", "cut"), [(stats.logistic(), 1.5), (stats.t(3), 2.0), (stats.gumbel_r(), 0.5),
                     (stats.lognorm(0.5), 1.25), (stats.weibull_min(1.5), 0.75)]
)  # fmt: skip
def test_masses_of_laws_without_a_family(law, cut):
    prior = bl.from_scipy(law)
    mass = prior_masses.mass_function(prior)
    ends = float(prior.on.lower), float(prior.on.upper)
    for a, b in ((ends[0], cut), (cut, ends[1]), (cut, cut + 0.5)):
        low, high = mass(a, b)
        with mp.workdps(30):
            truth = law.cdf(b) - law.cdf(a) if math.isfinite(b) else law.sf(a)
        assert low - 1e-13 <= truth <= high + 1e-13 and high - low <= 1e-12
    assert miss(prior) == MISS


def test_masses_are_exact_integrals():
    mass = prior_masses.mass_function(bl.Measure(lambda x: -np.log(x), on=UNIT))
    for a, b in ((0.0, 0.3), (0.25, 0.5), (0.0, 2.0**-40), (0.5, 1.0)):
        low, high = mass(a, b)
        with mp.workdps(30):
            of = [mp.mpf(v) * (1 - mp.log(v)) if v else 0 for v in (a, b)]
            assert low <= of[1] - of[0] <= high <= low + 1e-12 * high


def test_a_mass_of_what_is_a_law_but_for_rounding_is_at_most_1():
    prior = bl.Measure(lambda x: (2 + 2e-10) * x, on=UNIT)  # so near to 1 that it is let in
    low, high = prior_masses.mass_function(prior)(0.0, 1.0)
    assert low == high == 1


# -- what is said to be a law ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "prior",
    [
        bl.Measure(lambda x: np.exp(-x), on=HALF),
        bl.Measure(lambda x: 8 / np.pi * np.sqrt(x - x * x), on=UNIT),
        bl.Measure(lambda x: np.where(x < 0.5, 2.0, 0.0), on=UNIT, breaks=[0.5]),
        bl.from_scipy(stats.logistic()),
        bl.Measure(
            lambda x: 0.75 + 0 * x, on=bl.Mixed(UNIT, atoms=[0.0]), masses={0.0: 0.25}
        ),
    ],
)  # fmt: skip
def test_the_integral_proves_that_a_prior_is_a_law(prior):
    assert miss(prior) == MISS


@pytest.mark.parametrize(
    "prior",
    [
        bl.Measure(lambda x: np.exp(-x) * (1 + 1e-11), on=HALF),
        bl.Measure(lambda x: np.exp(-x) * (1 - 1e-11), on=HALF),
        bl.Measure(lambda x: 1 + np.cos(2 * np.pi * x) * (1 + 2.0**-40), on=UNIT),  # below 0 once
    ],
)
def test_what_misses_1_or_may_be_negative_is_not_proved(prior):
    assert miss(prior) is None
    engine = CertifiedOutcomes(prior * laplace(prior.on))
    assert engine.status == "conditional"
    assert "prior normalised: checked" in engine.assumptions


def test_a_product_adds_up_what_its_factors_miss():
    written = bl.Measure(lambda x: 2 * x, on=UNIT)
    assert miss(written * written) == 2 * MISS
    assert miss(written * bl.uniform(UNIT)) == MISS
    assert miss(bl.uniform(UNIT) * bl.beta(alpha=2, beta=2)) == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_figures_cover_the_law_meant(sign, monkeypatch):
    """A density that is off by half of what is allowed: the law meant is that over its integral."""
    off = sign * MISS / 2
    written = bl.Measure(lambda x: 2 * x * (1 + off), on=UNIT)
    monkeypatch.setattr(prior_normalisation, "_by_integral", lambda prior: MISS)
    engine = CertifiedOutcomes(written * laplace(UNIT))
    exact = CertifiedOutcomes(bl.Measure(lambda x: 2 * x, on=UNIT) * laplace(UNIT))
    with bl.options(tol=1e-12):
        ys = np.array([-1.0])
        low, high = engine.log_marginal_box(ys)
        with mp.workdps(40):  # e^-1 E e^-X / 2, E e^-X = 2 - 4 / e
            truth = mp.log(2 - 4 / mp.e) - 1 - mp.log(2)
        assert low[0] <= truth <= high[0]
        assert exact.log_marginal_box(ys)[0][0] <= truth
    inner, _, rest = engine.bands.marginal.over(
        np.array([-1.0]), np.array([-1.0 + 2.0**-30]), np.zeros(1), 1e-13, math.inf
    )
    at_centre = mp.exp(truth + mp.mpf(2) ** -31)
    assert inner[0][0][0] + rest[0][0] <= at_centre <= inner[1][0][0] + rest[1][0]
    assert inner[1][0][0] / inner[0][0][0] >= 1 + 2 * MISS


@pytest.mark.truths
def test_an_infinity_of_a_written_prior_has_a_certificate():
    """Along half-lines of secrets e^-x is no power of t, and its logarithm is."""
    written, _, mechanism = PAIRS["exponential"]
    for kind in (bl.pml, bl.pmc):
        bound = kind(written * mechanism).sup()
        assert bound.lower == math.inf
