"""Infinities of joints with finitely many secrets, and suprema over countable outcomes.

Ratios of kernels at two secrets of positive mass: PMC, LDP and LIP are infinite, PML never is.
"""

import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest

import borel as bl
from borel.engine.infinite.pair_proof import Pairs
from borel.engine.problem.secret_and_kernel import secret_of
from borel.numerics.germs.interpreter import ray
from borel.numerics.germs.order_bounds import Ray
from borel.probability.density import Density

INF = math.inf
LINE, HALF, COUNTS = bl.Reals(), bl.Interval(0, None), bl.Integers(0, None)
BITS = bl.pmf([0.25, 0.75], on=bl.Finite([0.0, 1.0]))
SCALES = bl.pmf([0.25, 0.75], on=bl.Finite([1.0, 2.0]))


@pytest.fixture(autouse=True)
def no_theorems():
    """Let the engine alone compute."""
    with bl.options(closed_forms=False, budget=10):
        yield


def joint(density, prior=BITS, outcome=LINE, **about):
    return prior * bl.Mechanism(density, secret=prior.on, outcome=outcome, **about)


def bell(y, x, s):
    return np.exp(-(((y - x) / s) ** 2) / 2) / (s * np.sqrt(2 * np.pi))


INFINITE = {
    # ratios that grow as a polynomial of y, or as a logarithm
    "gaussian noise": lambda: joint(lambda y, x: bell(y, x, 1.0)),
    "a scale that is no short number": lambda: joint(lambda y, x: bell(y, x, 0.3)),
    "log-density": lambda: joint(lambda y, x: -((y - x) ** 2) / 2 - 0.9189385332046727, log=True),
    "three secrets": lambda: joint(
        lambda y, x: bell(y, x, 1.0),
        bl.pmf([0.25, 0.25, 0.5], on=bl.Finite([0.0, 0.1, 5.0])),
    ),
    "a mixture of scales": lambda: joint(
        lambda y, x: 0.5 * bell(y, x, 1.0) + 0.5 * bell(y, x, 2.0)
    ),
    "laplace scales": lambda: joint(lambda y, x: np.exp(-np.abs(y) / x) / (2 * x), SCALES),
    "half-normal scales": lambda: joint(
        lambda y, x: np.where(y < 0, 0.0, 2 * bell(y, 0.0, x)), SCALES, breaks=(0.0,)
    ),
    "gamma shapes": lambda: joint(lambda y, x: y**x * np.exp(-y) / x, SCALES, HALF),
    "exponential rates": lambda: joint(lambda y, x: x * np.exp(-x * y), SCALES, HALF),
    "pareto exponents": lambda: joint(lambda y, x: x * (1 + y) ** (-x - 1), SCALES, HALF),
    "geometric rates": lambda: joint(
        lambda m, x: (1 - x) * x**m,
        bl.pmf([0.75, 0.25], on=bl.Finite([0.25, 0.5])),
        COUNTS,
    ),
}


@pytest.mark.few(1)
@pytest.mark.cases("slow", "gamma shapes", "three secrets")
@pytest.mark.cases("truths", "a mixture of scales")
@pytest.mark.cases(
    "slow", "laplace scales", "log-density", "half-normal scales", "pareto exponents"
)
@pytest.mark.parametrize("name", list(INFINITE))
def test_one_of_two_secrets_is_favoured_without_bound(name):
    case = INFINITE[name]()
    found = bl.pmc(case).sup()
    assert found.lower == found.upper == INF and found.proved
    if case.outcome.kind == "continuous":
        for figure in (bl.ldp(case), bl.lip(case)):
            assert figure.lower == INF and figure.proved


@pytest.mark.cases("slow", "gaussian noise")
@pytest.mark.parametrize("name", list(INFINITE)[:2])
def test_pml_of_finitely_many_secrets_is_never_infinite(name):
    found = bl.pml(INFINITE[name]()).sup()
    assert found.lower <= math.log(4) <= found.upper < INF


def test_a_secret_without_mass_is_none_of_the_two():
    prior = bl.pmf([1.0, 0.0], on=bl.Finite([0.0, 1.0]))
    found = bl.pmc(joint(lambda y, x: bell(y, x, 1.0), prior)).sup()
    assert found.lower == 0.0 and found.lower < INF


@pytest.mark.truths
def test_where_every_density_is_zero_nothing_is_infinite():
    cut = joint(
        lambda y, x: np.where(np.abs(y) < 1, np.where(y < 0, 2 - x, x) / 2, 0.0) + 0 * y,
        bl.pmf([0.5, 0.5], on=bl.Finite([0.5, 1.5])),
        breaks=(-1.0, 0.0, 1.0),
    )
    found = bl.pmc(cut).sup()
    truth = math.log(2)  # 3/4, 1/4 and their mean
    assert found.lower <= truth * (1 + 1e-15) and truth <= found.upper * (1 + 1e-15)
    assert found.lower < INF


@pytest.mark.truths
def test_slopes_prove_nothing_where_the_prior_has_an_atom():
    """The slope of an exponential rate in x is 1/x - y; x = 1 has the mass 1/4: PML <= log 4."""
    prior = bl.Measure(
        lambda x: 0.75 + 0 * x, on=bl.Mixed(bl.Interval(1, 2), atoms=[1.0]), masses={1.0: 0.25}
    )
    case = joint(lambda y, x: x * np.exp(-x * y), prior, HALF)
    found = bl.pml(case).sup()
    assert found.lower <= math.log(4) <= found.upper


# -- countable outcomes: all that are beyond the head --------------------------------------------


def inside(bound, truth, width):
    assert bound.proved and bound.upper < INF
    assert mp.mpf(bound.lower) <= truth <= mp.mpf(bound.upper)
    assert bound.width <= width


def test_example_8_by_the_engine_alone():
    mechanism = bl.mechanisms.countable()
    example = mechanism.reference_prior * mechanism
    inside(bl.pmc(example).sup(), mp.log(2), 1e-8)
    assert bl.pml(example).sup().lower == INF


def test_a_supremum_beyond_the_head():
    """A tilt by h = 1 - 4 / (m + 3): its extremes are approached as m grows, as slowly as 1/m."""
    prior = bl.pmf([0.5, 0.5], on=bl.Finite([0.0, 1.0]))

    def tilted(m, x):
        return (1 + 0.5 * (2 * x - 1) * (1 - 4 / (m + 3))) / ((m + 1) * (m + 2))

    case = joint(tilted, prior, COUNTS)
    inside(bl.pmc(case).sup(), mp.log(2), 0.01)
    inside(bl.pml(case).sup(), mp.log(1.5), 0.01)


def test_geometric_rates_beyond_the_head():
    prior = bl.pmf([0.75, 0.25], on=bl.Finite([0.25, 0.5]))
    case = joint(lambda m, x: (1 - x) * x**m, prior, COUNTS)
    inside(bl.pml(case).sup(), mp.log(4), 1e-8)  # approached


@pytest.mark.parametrize("share", [0.5, 0.25])
def test_reveal_or_resample(share):
    """Y = X with probability `share`, else geometric: f_Y / inf f is 1 + share p / (rest b)."""
    prior = bl.geometric(p=0.75)  # p(n) = 3 * 4^-n for n >= 1

    def revealed(m, n):
        return np.where(m == n, share, 0.0) + (1 - share) * 2.0 ** (-m - 1)

    case = joint(revealed, prior, COUNTS)
    ratio = max(
        1 + F(share) * (F(3, 4**m) if m else 0) / ((1 - F(share)) * F(1, 2 ** (m + 1)))
        for m in range(60)
    )
    inside(bl.pmc(case).sup(), mp.log(mp.mpf(ratio.numerator) / ratio.denominator), 1e-8)
    assert bl.pml(case).sup().lower == INF


def test_secrets_far_out_count():
    """A tilt by a = n / (n + 30) and h = 1.5 2^-m - 1: the infimum is approached as both grow."""
    prior = bl.geometric(p=0.5)
    case = joint(
        lambda m, n: 2.0 ** (-m - 1) * (1 + 0.5 * (1 - 30 / (n + 30)) * (1.5 * 2.0**-m - 1)),
        prior,
        COUNTS,
    )
    mean = mp.nsum(lambda n: n / (n + 30) * mp.mpf(2) ** -n, [1, mp.inf])
    inside(bl.pmc(case).sup(), mp.log((1 - mean / 2) * 2), 0.1)


def test_a_prior_heavier_than_what_is_resampled():
    """The ratio at m >= 1 is 1 + (2/3) (3/2)^m: nothing bounds PMC, and no head does."""
    prior = bl.geometric(p=0.25)

    def revealed(m, n):
        return np.where(m == n, 0.5, 0.0) + 0.5 * 2.0 ** (-m - 1)

    found = bl.pmc(joint(revealed, prior, COUNTS)).sup()
    assert found.upper == INF and found.lower > 100


def test_a_ratio_that_oscillates_without_bound_has_no_limit():
    """f(y|1) / f(y|0) = e^(y sin y): its upper limit is infinite, but not along every outcome."""
    secrets = bl.Finite([0.0, 1.0])
    prior = secret_of(bl.pmf([0.5, 0.5], on=secrets), ())
    path = Ray(ray(0.0, -1.0, 1.0, 1.0), "y = 1/t", {})

    def along(log_density):
        density = Density(log_density, {"y": bl.Reals(), "x": secrets}, log=True)
        return Pairs(density, prior).along(path, 0.25)

    assert along(lambda y, x: x * y) == (1.0, 0.0)
    assert along(lambda y, x: -x * y) == (0.0, 1.0)
    assert along(lambda y, x: x * y * np.sin(y)) is None
    assert along(lambda y, x: x * np.sin(y)) is None
