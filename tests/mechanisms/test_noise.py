"""Laplace and Gaussian noise: closed forms against integrals and maxima by mpmath."""

import math
import pickle
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import borel as bl
from borel.probability.closed_forms import ClosedForms

laplace, gaussian = bl.mechanisms.laplace, bl.mechanisms.gaussian


def holds(bound, truth):
    """Whether a Bound encloses the truth, at zero tolerance."""
    return bound.status == "exact" and mp.mpf(bound.lower) <= truth <= mp.mpf(bound.upper)


# -- Laplace, uniform prior -----------------------------------------------------------------------

CASES = [(0.0, 1.0, 1.0), (-2.5, 3.25, 0.75), (0.0, 1.0, 0.0625), (1.0, 2.0, 16.0), (0.1, 0.3, 0.7)]


def laplace_oracle(c, d, b, y):
    """PML and PMC by quadrature; |y - x| is extreme at the ends of [c, d] or nearest to y."""
    c, d, b, y = map(mp.mpf, (c, d, b, y))

    nearest = min(max(y, c), d)

    def kernel(x):  # in units of its largest value, so that quad keeps all digits
        return mp.exp((abs(y - nearest) - abs(y - x)) / b)

    pieces = sorted({c, nearest, d})
    marginal = mp.quad(kernel, pieces) / (d - c)
    top, bottom = kernel(nearest), min(kernel(c), kernel(d))
    grid = [kernel(c + (d - c) * i / 200) for i in range(201)]
    assert max(grid) <= top and min(grid) >= bottom
    return mp.log(top / marginal), mp.log(marginal / bottom)


@pytest.mark.parametrize(("c", "d", "b"), CASES)
def test_laplace_at_outcomes_inside_at_the_ends_and_outside(c, d, b):
    joint = bl.uniform(bl.Interval(c, d)) * laplace(b=b)
    middle = (c + d) / 2
    with mp.workdps(40):
        for y in (c, d, middle, c + (d - c) / 3, d - (d - c) / 7, c - 1.5, d + 0.25, d + 30.0):
            pml, pmc = laplace_oracle(c, d, b, y)
            assert holds(bl.pml(joint)(y), pml)
            assert holds(bl.pmc(joint)(y), pmc)


@pytest.mark.few(1)
@pytest.mark.parametrize(("c", "d", "b"), CASES)
def test_laplace_suprema(c, d, b):
    joint = bl.uniform(bl.Interval(c, d)) * laplace(b=b)
    pml, pmc = bl.pml(joint).sup(), bl.pmc(joint).sup()
    assert pml.attained and pmc.attained
    with mp.workdps(40):
        outside = laplace_oracle(c, d, b, d + 1.0)
        assert holds(pml, outside[0]) and holds(pmc, outside[1])
        for i in range(41):  # no outcome inside exceeds it
            inside = laplace_oracle(c, d, b, c + (d - c) * i / 40)
            assert inside[0] <= outside[0] + mp.mpf("1e-30")
            assert inside[1] <= outside[1] + mp.mpf("1e-30")


def test_laplace_as_the_paper_writes_it():
    """(13) and (14) with n = 1 and K of the uniform law on [c, d]."""
    c, d, b = mp.mpf(-1), mp.mpf(3), mp.mpf(2)
    mu = (c + d) / 2
    with mp.workdps(40):
        K = [
            mp.log(mp.quad(lambda x, s=s: mp.exp(s * (x - mu) / b) / (d - c), [c, d]))
            for s in (1, -1)
        ]
        paper = max((mu - c) / b + K[0], (d - mu) / b + K[1])
        joint = bl.uniform(bl.Interval(-1, 3)) * laplace(b=2.0)
        assert holds(bl.pmc(joint).sup(), paper)
        assert paper < (d - c) / b


@pytest.mark.parametrize("b", [1e-300, 1e-3, 1e12, 1e300])
def test_laplace_at_extreme_scales(b):
    joint = bl.uniform(bl.Interval(0, 1)) * laplace(b=b)
    pml, pmc = bl.pml(joint).sup(), bl.pmc(joint).sup()
    with mp.workdps(700):
        length = 1 / mp.mpf(b)
        slack = mp.mpf(10) ** -650
        truth = (
            mp.log(length) - mp.log1p(-mp.exp(-length)),
            length - mp.log(length) + mp.log1p(-mp.exp(-length)),
        )
        for found, value in zip((pml, pmc), truth, strict=True):
            assert mp.mpf(found.lower) - slack <= value <= mp.mpf(found.upper) + slack


def test_laplace_against_the_engine():
    joint = bl.uniform(bl.Interval(0, 1)) * laplace(b=0.5)
    with bl.options(closed_forms=False):
        engine = {
            k: (getattr(bl, k)(joint)(0.3), getattr(bl, k)(joint).sup()) for k in ("pml", "pmc")
        }
    for kind, (at, sup) in engine.items():
        ell = getattr(bl, kind)(joint)
        for closed, found in ((ell(0.3), at), (ell.sup(), sup)):
            assert found.status == "certified" and found.width <= 2e-8
            assert found.lower <= closed.upper and closed.lower <= found.upper


def test_priors_that_only_look_uniform_go_to_the_engine():
    mech = laplace(b=1.0)
    unit = bl.Interval(0, 1)
    lookalikes = [
        bl.Measure(lambda x: np.ones_like(x), on=unit, name="uniform"),
        bl.uniform(unit).restrict(lambda x: x < 0.5),
        bl.beta(alpha=1, beta=1),
        bl.mixture([bl.uniform(unit), bl.uniform(unit)], weights=[0.5, 0.5]),
        bl.uniform(bl.Finite([0.0, 1.0])),
    ]
    for prior in lookalikes:
        assert mech.closed_forms.at(prior * mech, "pml", 0.5) is None
        assert mech.closed_forms.sup(prior * mech, "pmc") is None
    assert type(mech.clip(0, 1).closed_forms) is ClosedForms


# -- Gaussian, normal prior -----------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize(("m", "s", "sigma"), [(0.0, 1.0, 1.0), (1.5, 3.0, 0.5), (-2.0, 0.1, 4.0)])
def test_gaussian_at_outcomes(m, s, sigma):
    joint = bl.normal(mu=m, sigma=s) * gaussian(sigma=sigma)
    with mp.workdps(40):
        for y in (m, m + 0.7, m - 5.0):
            kernel = lambda x, y=y: mp.npdf(y, x, mp.mpf(sigma))  # noqa: E731
            # the integrand is a normal density in x: split at its mode, 14 deviations each way
            t2 = mp.mpf(s) ** 2 + mp.mpf(sigma) ** 2
            mode = (mp.mpf(m) * mp.mpf(sigma) ** 2 + mp.mpf(y) * mp.mpf(s) ** 2) / t2
            width = mp.mpf(s) * mp.mpf(sigma) / mp.sqrt(t2)
            marginal = mp.quad(
                lambda x, k=kernel: k(x) * mp.npdf(x, mp.mpf(m), mp.mpf(s)),
                [mode + i * width for i in range(-14, 15, 2)],
            )
            assert all(kernel(y + mp.mpf(i) / 50) <= kernel(y) for i in range(-200, 201))
            assert holds(bl.pml(joint)(y), mp.log(kernel(y) / marginal))
            assert bl.pmc(joint)(y).lower == math.inf


def test_gaussian_suprema_are_proved_infinities():
    joint = bl.normal(mu=0, sigma=1) * gaussian(sigma=2.0)
    for kind, attained in ((bl.pml, False), (bl.pmc, True)):
        found = kind(joint).sup()
        assert (found.lower, found.status, found.attained) == (math.inf, "exact", attained)
        assert bool(found <= 1e300) is False
    assert bl.ldp(joint).lower == math.inf and bl.ldp(joint).status == "exact"


@pytest.mark.parametrize(("s", "sigma"), [(1.0, 1.0), (3.0, 0.5)])
def test_gaussian_law(s, sigma):
    """P{PML > t} by integrating the density of Y where the PML by quadrature exceeds t."""
    m = 0.25
    ell = bl.pml(bl.normal(mu=m, sigma=s) * gaussian(sigma=sigma))
    with mp.workdps(40):
        t2 = mp.mpf(s) ** 2 + mp.mpf(sigma) ** 2
        least = mp.log(t2 / mp.mpf(sigma) ** 2) / 2
        for t in (0.0, float(least) - 0.01, float(least) + 1e-9, float(least) + 0.5, 6.0):
            half = mp.sqrt(2 * t2 * max(mp.mpf(t) - least, 0))
            inside = mp.quad(lambda y: mp.npdf(y, 0, mp.sqrt(t2)), [0, half]) * 2
            assert holds(ell.tail(t), 1 - inside)
            assert holds(ell.tail(t, closed=True), 1 - inside)
        for level in (0.5, 0.99, F(999, 1000)):
            q = ell.quantile(level)
            assert q == ell.quantile(level, side="right")
            mass = [1 - mp.erfc(mp.sqrt(mp.mpf(e) - least)) for e in (q.lower, q.upper)]
            assert mass[0] <= mp.mpf(F(level).numerator) / F(level).denominator <= mass[1]
        mean = mp.quad(
            lambda y: (least + y**2 / (2 * t2)) * mp.npdf(y, 0, mp.sqrt(t2)),
            [i * mp.sqrt(t2) for i in range(-14, 15, 2)],
        )
        assert holds(ell.mean(), mean)
    assert ell.quantile(1).lower == math.inf and ell.exp_mean().lower == math.inf
    assert ell.tail(math.inf).upper == 0.0 and ell.tail(-math.inf).lower == 1.0
    assert ell.quantile(0, side="right").lower > 0
    with pytest.raises(bl.InvalidInput, match="quantile"):
        ell.quantile(0)


def test_gaussian_means_of_functions_of_the_cost_are_those_at_infinity():
    cost = bl.pmc(bl.normal(mu=0, sigma=1) * bl.mechanisms.gaussian(sigma=1.0))
    for h, truth in (
        (lambda t: np.exp(-t), 0.0),
        (lambda t: t**2, np.inf),
        (lambda t: -t, -np.inf),
        (lambda t: np.where(t > 1, 2.0, 3.0), 2.0),
    ):
        found = cost.expectation(h)
        assert (found.lower, found.upper, found.status) == (truth, truth, "exact")
    assert cost.expectation(lambda t: t / (1 + t), at_infinity=1).lower == 1
    with pytest.raises(bl.InvalidInput, match="t = inf"):
        cost.expectation(np.sin)


def test_gaussian_cost_law_is_a_point_at_infinity():
    lam = bl.pmc(bl.normal(mu=0, sigma=1) * gaussian(sigma=1.0))
    assert lam.tail(1e6).lower == 1.0 and lam.tail(math.inf).upper == 0.0
    assert lam.tail(math.inf, closed=True).lower == 1.0
    assert lam.mean().lower == lam.quantile(0.1).lower == lam.exp_mean().lower == math.inf


def test_other_priors_go_to_the_engine():
    forms = gaussian(sigma=1.0).closed_forms
    joint = bl.uniform(bl.Interval(0, 1)) * gaussian(sigma=1.0)
    answers = (
        forms.at(joint, "pml", 0.0),
        forms.sup(joint, "pmc"),
        forms.mean(joint, "pml"),
        forms.tail(joint, "pml", 1.0, closed=False),
        forms.quantile(joint, "pml", 0.5, side="left"),
        forms.exp_mean(joint, "pml"),
    )
    assert answers == (None,) * 6
    assert bl.pml(joint).tail(0.1).status == "certified"


# -- both -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mech", "reference"),
    [(laplace(b=0.7), stats.laplace(scale=0.7)), (gaussian(sigma=0.7), stats.norm(scale=0.7))],
)
def test_densities_distribution_functions_and_samples(mech, reference):
    y, x = np.linspace(-6, 6, 25)[:, None], np.linspace(-2, 2, 5)[None, :]
    np.testing.assert_allclose(mech.logpdf(y, x), reference.logpdf(y - x), rtol=1e-13)
    np.testing.assert_allclose(mech.cdf.linear(y, x), reference.cdf(y - x), rtol=1e-12)
    np.testing.assert_allclose(mech.survival.linear(y, x), reference.sf(y - x), rtol=1e-12)
    assert mech.logpdf(1e5, 0.0) > -np.inf and not mech.opaque
    assert str(mech.normalisation).startswith("proved:")
    draws = mech.sample(np.full(4000, 1.5), rng=3)
    assert stats.kstest(draws - 1.5, reference.cdf).pvalue > 1e-3
    again = pickle.loads(pickle.dumps(mech))
    assert (again.sample([0.0], rng=1) == mech.sample([0.0], rng=1)).all()
    assert again.closed_forms == mech.closed_forms


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "1", None, [1.0], True])
@pytest.mark.parametrize(("make", "name"), [(laplace, "b"), (gaussian, "sigma")])
def test_bad_scales_are_named(make, name, value):
    with pytest.raises(bl.InvalidInput, match=f"{make.__name__}: expected {name} "):
        make(**{name: value})


def test_bad_alphabets_are_named():
    with pytest.raises(bl.InvalidInput, match="clip"):
        laplace(b=1.0, outcome=bl.Interval(-1000, 1000))
    with pytest.raises(bl.InvalidInput, match="numbers"):
        gaussian(sigma=1.0, secret=bl.Finite(["a", "b"]))
    with pytest.raises(bl.InvalidInput, match="as a float"):
        laplace(b=F(1, 3))
    with pytest.raises(bl.InvalidInput, match="within the secrets"):
        bl.uniform(bl.Interval(0, 2)) * laplace(b=1.0, secret=bl.Interval(0, 1))
