"""The estimate engine against closed forms that share nothing with it: within 1e-6, in its bars."""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

import borel as bl
from borel.errors import NotYet

pytestmark = pytest.mark.usefixtures("estimates")

UNIT = bl.Interval(0, 1)


def laplace(b, secret=UNIT):
    return bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x) / b) / (2 * b), secret=secret, outcome=bl.Reals()
    )


def gaussian(sigma, secret):
    return bl.Mechanism(
        lambda y, x: np.exp(-(((y - x) / sigma) ** 2) / 2) / (sigma * np.sqrt(2 * np.pi)),
        secret=secret,
        outcome=bl.Reals(),
    )


def clayton(eta=0.1):
    return bl.Mechanism(
        lambda y, x: eta + (1 - eta) * 2 * (x * y) ** -2.0 * (1 / x + 1 / y - 1) ** -3.0,
        secret=UNIT,
        outcome=UNIT,
    )


def binomial(n):
    def log_mass(y, x):
        from scipy.special import gammaln

        choose = gammaln(n + 1) - gammaln(y + 1) - gammaln(n - y + 1)
        return choose + y * np.log(x) + (n - y) * np.log1p(-x)

    return bl.Mechanism(log_mass, secret=UNIT, outcome=bl.Finite(n + 1), log=True)


def _gauss_uniform(y, sigma, a):
    """PML of Gaussian noise on U(-a, a) at y > a, to 50 digits."""
    with mpmath.workdps(50):
        y, s, a = mpmath.mpf(y), mpmath.mpf(sigma), mpmath.mpf(a)
        r = mpmath.sqrt(2) * s
        mean = (mpmath.erfc((y - a) / r) - mpmath.erfc((y + a) / r)) / (4 * a)
        top = mpmath.exp(-(((y - a) / s) ** 2) / 2) / (s * mpmath.sqrt(2 * mpmath.pi))
        return float(mpmath.log(top / mean))


def _beta_binomial(y, n, a, b):
    """PML of y successes in n trials, prior Beta(a, b)."""
    with mpmath.workdps(40):
        x = mpmath.mpf(y) / n
        top = x**y * (1 - x) ** (n - y)
        return float(mpmath.log(top * mpmath.beta(a, b) / mpmath.beta(a + y, b + n - y)))


w = 2.0  # 1 / b for the Laplace cases
lap = bl.uniform(UNIT) * laplace(0.5)
gg = bl.normal(mu=0, sigma=1) * gaussian(1.0, bl.Reals())
clay = bl.uniform(UNIT) * clayton()
spike = bl.uniform(UNIT) * laplace(1e-5)
box = bl.uniform(bl.Interval(-1, 1)) * gaussian(1.0, bl.Interval(-1, 1))
counts = bl.beta(alpha=2, beta=5) * binomial(10)

CLOSED_FORMS = {
    "Laplace on U(0,1), PML inside": (
        lambda: bl.pml(lap)(0.3),
        math.log(w / (2 - math.exp(-0.3 * w) - math.exp(-0.7 * w))),
    ),
    "Laplace on U(0,1), sup PML, a plateau to infinity": (
        lambda: bl.pml(lap).sup(),
        math.log(w / (1 - math.exp(-w))),
    ),
    "Laplace on U(0,1), sup PMC (Example 6)": (
        lambda: bl.pmc(lap).sup(),
        math.log(math.expm1(w) / w),
    ),
    "Laplace on U(0,1), LDP": (lambda: bl.ldp(lap), w),
    "Laplace on U(0,1), E exp PML": (lambda: bl.pml(lap).exp_mean(), 1 + w / 2),
    "Laplace of scale 1e-5, PML inside": (lambda: bl.pml(spike)(0.3), math.log(1e5 / 2)),
    "Laplace of scale 1e-5, sup PML at the ends": (lambda: bl.pml(spike).sup(), math.log(1e5)),
    "Gaussian on Gaussian, PML": (lambda: bl.pml(gg)(1.3), math.log(2) / 2 + 1.3**2 / 4),
    "Gaussian on Gaussian, 0.95 quantile (chi-square)": (
        lambda: bl.pml(gg).quantile(0.95),
        math.log(2) / 2 + stats.chi2.ppf(0.95, 1) / 2,
    ),
    "Gaussian on Gaussian, tail": (
        lambda: bl.pml(gg).tail(1.0),
        stats.chi2.sf(2 * (1 - math.log(2) / 2), 1),
    ),
    "Gaussian on Gaussian, mean": (lambda: bl.pml(gg).mean(), math.log(2) / 2 + 0.5),
    "Gaussian on Gaussian, mutual information": (
        lambda: bl.mutual_information(gg),
        math.log(2) / 2,
    ),
    "Clayton, PML, maximum inside": (
        lambda: bl.pml(clay)(0.5),
        math.log(0.1 + 0.9 * 8 / (27 * 0.25)),
    ),
    "Clayton, PML, maximum at the end": (lambda: bl.pml(clay)(0.9), math.log(0.1 + 1.8 * 0.9)),
    "Clayton, PML near the corner": (
        lambda: bl.pml(clay)(1e-6),
        math.log(0.1 + 0.9 * 8 / (27 * 1e-6 * (1 - 1e-6))),
    ),
    "Clayton, sup PMC, infimum at the end (Example 9)": (
        lambda: bl.pmc(clay).sup(),
        math.log(10),
    ),
    "Gaussian on U(-1,1), PML at y = 45": (
        lambda: bl.pml(box)(45.0),
        _gauss_uniform(45, 1, 1),
    ),
    "Beta prior, binomial mechanism, PML": (
        lambda: bl.pml(counts)(3),
        _beta_binomial(3, 10, 2, 5),
    ),
}


@pytest.mark.few(2)
@pytest.mark.cases(
    "truths",
    "Clayton, sup PMC, infimum at the end (Example 9)",
    "Gaussian on Gaussian, 0.95 quantile (chi-square)",
    "Gaussian on Gaussian, tail",
    "Gaussian on Gaussian, mutual information",
    "Gaussian on Gaussian, mean",
)
@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_closed_form(name):
    compute, truth = CLOSED_FORMS[name]
    with bl.options(closed_forms=False):
        bound = compute()
    assert bound.status == "estimate"
    assert abs(bound.value - truth) <= 1e-6
    # the error estimate is honest: the truth is within ten times it, and a rounding
    assert abs(bound.value - truth) <= 10 * (bound.upper - bound.lower) / 2 + 1e-14


@pytest.mark.cases("slow", "2")
@pytest.mark.cases("truths", "3")
@pytest.mark.parametrize("d", [2, 3])
def test_secrets_of_two_and_three_dimensions(d):
    """Y = sum of d standard normal secrets plus N(0, 1): the density sees the sum only."""
    prior = bl.normal(mu=0, sigma=1)
    for _ in range(d - 1):
        prior = prior * bl.normal(mu=0, sigma=1)
    mechanism = bl.Mechanism(
        lambda y, x: -((y - sum(x)) ** 2) / 2 - np.log(2 * np.pi) / 2,
        secret=bl.Reals() ** d,
        outcome=bl.Reals(),
        log=True,
    )
    bound = bl.pml(prior * mechanism)(0.7)
    truth = math.log(1 + d) / 2 + 0.7**2 / (2 * (1 + d))
    assert bound.status == "estimate"
    assert abs(bound.value - truth) <= 1e-6


@pytest.mark.truths
def test_outcomes_of_two_dimensions():
    """Two independent releases: the leakage of the pair of outcomes, and its supremum."""
    both = laplace(0.5) & laplace(1.0)
    joint = bl.uniform(UNIT) * both
    found = bl.pml(joint)((2.0, 3.0))
    # beyond the end both factors are largest at x = 1: e^{3x} against its mean
    assert abs(found.value - math.log(3 / (1 - math.exp(-3)))) <= 1e-6
    assert bl.pml(joint).sup().value >= found.value - 1e-6


@pytest.mark.truths
def test_an_apparent_infinity_is_undecided():
    for figure in (bl.pml(gg).sup(), bl.pmc(gg)(1.0), bl.pml(clay).sup()):
        assert figure.status == "undecided"
        assert (figure.lower, figure.upper) == (0.0, math.inf)
        assert "infinite" in figure.reason


def test_an_estimate_proves_nothing():
    verdict = bl.pml(lap)(0.3) <= 5.0
    assert verdict.holds is None
    with pytest.raises(bl.Undecided, match="an estimate proves nothing"):
        bool(verdict)
    assert str(bl.pml(lap)(0.3)).startswith("~") and "+-" in str(bl.pml(lap)(0.3))


def test_an_outcome_outside_the_support_leaks_nothing():
    mechanism = bl.Mechanism(
        lambda y, x: np.where((y > x) & (y < x + 1), 1.0, 0.0),
        secret=UNIT,
        outcome=bl.Interval(0, 10),
        breaks=[1.0, 2.0],
    )
    bound = bl.pml(bl.uniform(UNIT) * mechanism)(5.0)
    assert bound.value == 0.0
    assert any("outside the support" in note for note in bound.assumptions)


@pytest.mark.truths
def test_atoms_of_the_outcome_count():
    """Laplace noise clipped to [0, 1]: the mass of the atom 0 given x is e^{-x/b} / 2."""
    b = 0.5
    mechanism = bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x) / b) / (2 * b),
        secret=UNIT,
        outcome=bl.Mixed(UNIT, atoms=[0.0, 1.0]),
        masses={0.0: lambda x: np.exp(-x / b) / 2, 1.0: lambda x: np.exp(-(1 - x) / b) / 2},
    )
    leakage = bl.pml(bl.uniform(UNIT) * mechanism)
    at_atom = math.log(1 / (b * (1 - math.exp(-1 / b))))
    assert abs(leakage(0.0).value - at_atom) <= 1e-9
    assert abs(leakage.sup().value - at_atom) <= 1e-6
    mass = b * (1 - math.exp(-1 / b)) / 2
    # only the atoms leak this much
    assert abs(leakage.tail(at_atom - 1e-6).value - 2 * mass) <= 1e-6


def test_the_exact_engine_is_not_for_continuous_alphabets():
    with (
        bl.options(engine="exact", closed_forms=False),
        pytest.raises(NotYet, match="exact engine"),
    ):
        bl.pml(lap).sup()


def test_opaque_densities_say_why():
    def peeking(y, x):
        if np.any(np.asarray(y) > 1e300):
            return np.zeros(np.broadcast_shapes(np.shape(y), np.shape(x)))
        return np.exp(-abs(y - x)) / 2

    mechanism = bl.Mechanism(peeking, secret=UNIT, outcome=bl.Reals())
    assert mechanism.opaque
    bound = bl.pml(bl.uniform(UNIT) * mechanism)(0.5)
    assert bound.status == "estimate" and "opaque" in bound.reason
    assert not laplace(1.0).opaque


def test_the_mean_of_a_function_of_an_estimated_leakage():
    """E PML^2 of a kernel that cannot be traced, as of the one that can."""
    two, line = bl.Finite([0.0, 1.0]), bl.Reals()

    def density(y, x):
        return np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi)

    opaque = lambda y, x: np.array(density(np.asarray(y), np.asarray(x)))  # noqa: E731
    prior = bl.pmf([0.5, 0.5], on=two)
    joints = [prior * bl.Mechanism(f, secret=two, outcome=line) for f in (opaque, density)]
    with bl.options(engine="auto"):
        found, sure = (bl.pml(joint).expectation(lambda t: t**2) for joint in joints)
    assert found.status == "estimate" and sure.status == "certified"
    assert found.lower <= sure.upper and sure.lower <= found.upper and found.units == "number"
