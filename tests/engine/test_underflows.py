"""Densities that float64 loses are no zeros: nothing is claimed of outcomes where they underflow.

The truths are closed forms. Laplace noise of scale 1 on a uniform secret in (0, 1), at y > 1:
PML = log 1 / (1 - e^-1), PMC = log(e - 1), i(x; y) = x - 1 + PML. Gaussian noise: PML grows like
log y without end.
"""

import math

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import borel as bl
from borel.engine.estimates.engine import Pieces
from borel.engine.estimates.outcome_curve import Curve
from borel.numerics.float64.charts import Axis

UNIT, LINE = bl.Interval(0, 1), bl.Reals()
FAR = math.log(1 / (1 - math.exp(-1)))


def difference(y, x):
    return np.asarray(y) - np.asarray(x)  # of arrays: it cannot be traced


def opaque(density, secret=UNIT, outcome=LINE, **about):
    return bl.Mechanism(density, secret=secret, outcome=outcome, **about)


def laplace(secret=UNIT):
    return opaque(lambda y, x: np.exp(-abs(difference(y, x))) / 2, secret)


def gaussian(outcome=LINE):
    return opaque(lambda y, x: stats.norm.pdf(difference(y, x)), outcome=outcome)


def tabled():
    places = np.linspace(-60, 60, 2401)
    heights = stats.norm.pdf(places)
    return opaque(
        lambda y, x: np.interp(difference(y, x), places, heights), outcome=bl.Interval(-60, 60)
    )


def lost(bound, say="log=True"):
    """Whether a Bound says nothing, why, and what to do."""
    nothing = bound.lower <= 0 and bound.upper == math.inf
    return bound.status == "undecided" and nothing and say in bound.reason


uniform = bl.uniform(UNIT)
CASES = {
    "Laplace noise, subnormal": (laplace, uniform, 740.0),
    "Laplace noise, 0 in float64": (laplace, uniform, 750.0),
    "Gaussian noise": (gaussian, uniform, 50.0),
    "a table": (tabled, uniform, 55.0),
    "a finite secret": (lambda: laplace(bl.Finite(2)), bl.pmf([0.5, 0.5]), 740.0),
    "counts": (
        lambda: opaque(
            lambda y, x: stats.poisson.pmf(np.asarray(y), 1 + np.asarray(x)),
            outcome=bl.Integers(0, None),
        ),
        uniform,
        300,
    ),
    "counts, a finite secret": (
        lambda: opaque(
            lambda y, x: stats.poisson.pmf(np.asarray(y), 1 + np.asarray(x)),
            bl.Finite(2),
            bl.Integers(0, None),
        ),
        bl.pmf([0.5, 0.5]),
        300,
    ),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("case", CASES)
def test_a_lost_density_is_no_zero(case):
    make, prior, y = CASES[case]
    joint = prior * make()
    for kind in (bl.pml, bl.pmc):
        assert lost(kind(joint)(y), "float64 loses the density"), kind
        many = kind(joint)(np.array([y, y]))
        assert list(many.status.values) == ["undecided"] * 2
        assert (many.lower.values == 0).all() and np.isinf(many.upper.values).all()
    secret = 1 if prior.on.kind == "finite" else 0.5
    assert lost(bl.information_density(joint)(secret, y))
    grid = bl.information_density(joint)([secret], [y])
    assert grid.status.item() == "undecided" and np.isinf(grid.upper.item())


def test_the_remedy_helps():
    """The logarithm of the same density, as opaque: values that float64 holds."""
    joint = uniform * opaque(lambda y, x: -abs(difference(y, x)) - math.log(2), log=True)
    for y in (740.0, 750.0, 1e4):
        assert abs(bl.pml(joint)(y).value - FAR) <= 1e-9
        assert abs(bl.pmc(joint)(y).value - math.log(math.e - 1)) <= 1e-9
        assert abs(bl.information_density(joint)(0.25, y).value - (FAR - 0.75)) <= 1e-9


def test_beside_the_brink_every_error_covers_what_is_lost():
    joint = uniform * laplace()
    for kind, truth in ((bl.pml, FAR), (bl.pmc, math.log(math.e - 1))):
        found = kind(joint)(np.arange(690.0, 709.5, 0.5))
        assert (found.lower.values - 1e-9 <= truth).all()
        assert (found.upper.values + 1e-9 >= truth).all()


def test_a_traced_density_without_a_logarithm_underflows_too():
    """1 - tanh has no rule in logarithms; softplus is one that overflows in log-densities."""
    with bl.options(engine="estimate"):
        logistic = bl.Mechanism(
            lambda y, x: -(y - x) - 2 * np.log1p(np.exp(-(y - x))),
            secret=UNIT,
            outcome=LINE,
            log=True,
        )
        assert lost(bl.pml(uniform * logistic)(-800.0), "logaddexp")
        tanh = bl.Mechanism(
            lambda y, x: (1 - np.tanh((y - x) / 2) ** 2) / 4, secret=UNIT, outcome=LINE
        )
        assert lost(bl.pml(uniform * tanh)(800.0))


def test_a_bounded_support_that_the_graph_proves_stays_outside():
    """|y - x| < 1 with x in (0, 1): no outcome beyond 2, whatever float64 says."""
    with bl.options(engine="estimate"):
        box = bl.Mechanism(
            lambda y, x: np.where(abs(y - x) < 1, 0.5, 0.0), secret=UNIT, outcome=LINE
        )
        for kind in (bl.pml, bl.pmc):
            found = kind(uniform * box)(3.0)
            assert found.lower == found.upper == 0 and found.status != "estimate"
            assert any("outside the support" in note for note in found.assumptions)
            assert kind(uniform * box)(np.array([3.0])).upper.item() == 0
        # x = 0.9, y = -0.5: f(y|x) is 0, f_Y(y) is not
        assert bl.information_density(uniform * box)(0.9, -0.5).upper == -math.inf
        # the prior is 0 where the kernel is not
        half = bl.Measure(lambda x: np.where(x < 0.5, 2.0, 0.0), on=UNIT, breaks=[0.5])
        assert bl.pml(half * box)(1.75).upper == 0


def test_a_support_that_nothing_proves_is_not_claimed():
    box = opaque(lambda y, x: np.where(abs(difference(y, x)) < 1, 0.5, 0.0))
    assert lost(bl.pml(uniform * box)(3.0))


@pytest.mark.parametrize(("leakage", "grows"), [(np.log1p, True), (np.tanh, False)])
def test_a_leakage_up_to_where_densities_are_lost(leakage, grows):
    """The supremum of what float64 holds is none of a leakage that still grows where it ends."""

    def pieces(y):
        top, none = -(y**2) / 2, np.zeros(y.shape)
        marginal = top - leakage(abs(y))
        gone = abs(y) > 37
        logs = [np.where(gone, -np.inf, v) for v in (top, top - 1, marginal)]
        error = np.where(gone, np.nan, none)
        return Pieces(logs[0], error, logs[1], error, logs[2], error)

    peak = Curve(pieces, Axis(-math.inf, math.inf)).sup("pml")
    assert peak.lost == grows
    assert grows or abs(peak.value - 1) <= 1e-9


def test_a_leakage_that_is_level_where_densities_are_lost():
    """Two secrets: PML is log 2 / (1 + e^-1) at every |y - 1/2| > 1/2."""
    found = bl.pml(bl.pmf([0.5, 0.5]) * laplace(bl.Finite(2)))
    assert abs(found.sup().value - math.log(2 / (1 + math.exp(-1)))) <= 1e-9
    assert found.quantile(1).value == found.sup().value
    assert found.tail(0.1).status == found.mean().status == "estimate"  # the rest has no mass


def test_a_prior_that_underflows_hides_secrets():
    """X ~ N(0, 1), Laplace noise: at y = 100, f_Y = e^(1/2 - 100) / 2 nearly, so PML = 99.5."""
    prior = bl.Measure(
        lambda x: np.exp(-(np.asarray(x) ** 2) / 2) / math.sqrt(2 * math.pi), on=LINE
    )
    joint = prior * bl.mechanisms.laplace(b=1.0)
    near = bl.pml(joint)(30.0)
    assert near.lower <= 29.5 <= near.upper
    assert lost(bl.pml(joint)(100.0))
    assert lost(bl.pmc(joint)(0.5))  # it is infinite: e^-|x| tends to 0


def test_divergences_of_densities_that_underflow():
    def law(log_density):
        return bl.Measure(lambda x: np.exp(log_density(np.asarray(x))), on=LINE)

    normals = [law(lambda x, m=m: -((x - m) ** 2) / 2 - math.log(2 * math.pi) / 2) for m in (0, 1)]
    laplaces = [law(lambda x, m=m: -abs(x - m) - math.log(2)) for m in (0, 1)]
    half, endless = bl.renyi(*normals, 0.5), bl.renyi(*normals, math.inf)
    assert half.lower - 1e-9 <= 1 / 4 <= half.upper + 1e-9
    assert endless.status == "undecided"  # it is infinite
    found = bl.renyi(*laplaces, math.inf)
    assert found.lower <= 1 <= found.upper and found.width <= 1e-6


def test_draws_of_a_prior():
    """Opaque noise far out, for every draw: nothing is known."""
    draws = xr.Dataset(
        {"a": (("chain", "draw"), np.linspace(1, 2, 8).reshape(2, 4))},
        attrs={"borel_draws": "exact"},
    )
    learnt = bl.priors.from_posterior(draws, lambda d: bl.beta(alpha=d["a"], beta=2.0))
    for y in (740.0, 750.0):
        found = bl.pml(learnt * laplace())(y)
        assert (found.draws.lower.values == 0).all()
        assert np.isinf(found.draws.upper.values).all()
        assert lost(found.quantile(0.9))


def test_a_set_of_priors():
    ball = bl.priors.tv_ball(uniform, 0.1)
    assert lost(bl.pml(ball * laplace())(750.0), "float64")


def test_no_estimate_is_known_exactly():
    for value in (0.0, 0.5, 1e9):
        found = bl.Bound.estimate(value, 0.0)
        assert found.lower < value < found.upper and "+- 0" not in str(found)


def logistic(y, x):
    z = difference(y, x)
    return np.exp(-z) / (1 + np.exp(-z)) ** 2  # the square overflows at z = -355


def log_logistic(y, x):
    z = difference(y, x)
    return -z - 2 * np.log1p(np.exp(-z))  # exp overflows at z = -709.8


def log_secant(y, x):
    return -np.log(np.cosh(y - x)) - math.log(math.pi)  # it can be traced; cosh overflows at 710.5


OVERFLOWS = {
    "logistic": (logistic, False, -354.5),
    "log-logistic": (log_logistic, True, -709.0),
    "log-logistic, most of it": (log_logistic, True, -709.5),
    "log-secant": (log_secant, True, -709.8),
}


@pytest.mark.few(6)
@pytest.mark.parametrize("secret", [UNIT, bl.Finite([0.0, 0.5, 1.0])], ids=["interval", "finite"])
@pytest.mark.parametrize(("density", "log", "y"), OVERFLOWS.values(), ids=OVERFLOWS)
def test_zeros_that_overflows_leave_are_no_zeros(density, log, y, secret):
    # far from the secrets f(y|x) is e^(y-x) times a constant, to e^-300
    truth = FAR if secret == UNIT else math.log(3 / (1 + math.exp(-0.5) + math.exp(-1)))
    joint = bl.uniform(secret) * opaque(density, secret, log=log)
    with bl.options(engine="estimate"):
        for found in (bl.pml(joint)(y), bl.pmc(joint)(y)):
            assert lost(found, "np.logaddexp")
        near = bl.pml(joint)(-300.0)
    assert near.status == "estimate"
    assert near.lower <= truth <= near.upper


def test_true_zeros_far_out_are_zeros():
    # half of the secrets have exponential noise, the others are hidden in (0, 1): at y = 300 the
    # density is e^-300 or 0, with probability 1/2 each
    def density(y, x):
        return np.where(x < 0.5, -y, np.where(y < 1, 0.0, -np.inf))

    kernel = opaque(density, outcome=bl.Interval(0, None), log=True, breaks=[0.5, 1.0])
    with bl.options(engine="estimate"):
        found = bl.pml(uniform * kernel)(300.0)
    assert found.status == "estimate"
    assert found.lower <= math.log(2) <= found.upper
