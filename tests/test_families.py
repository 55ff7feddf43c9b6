"""Named measures: ours = SciPy's = PyMC's, in one table; supports; bad parameters."""

import mpmath
import numpy as np
import pytest
import xarray as xr
from scipy import stats

import borel as bl
from borel.errors import InvalidInput

DRAWS = np.array([0.5, 0.75])
TABLE = {
    "normal": (bl.normal, {"mu": 0.3, "sigma": 2.0}, stats.norm(0.3, 2.0), [-1.0, 0.2, 5.0]),
    "laplace": (bl.laplace, {"mu": 0.3, "b": 2.0}, stats.laplace(0.3, 2.0), [-1.0, 0.2, 5.0]),
    "cauchy": (bl.cauchy, {"alpha": 0.3, "beta": 2.0}, stats.cauchy(0.3, 2.0), [-1.0, 0.2, 50.0]),
    "beta": (bl.beta, {"alpha": 2.0, "beta": 5.0}, stats.beta(2.0, 5.0), [0.1, 0.5, 0.99]),
    "gamma": (bl.gamma, {"alpha": 2.0, "beta": 5.0}, stats.gamma(2.0, scale=0.2), [0.1, 1.0, 3.0]),
    "exponential": (bl.exponential, {"lam": 4.0}, stats.expon(scale=0.25), [0.1, 1.0, 3.0]),
    "poisson": (bl.poisson, {"mu": 3.5}, stats.poisson(3.5), [0, 3, 20]),
    "geometric": (bl.geometric, {"p": 0.3}, stats.geom(0.3), [1, 3, 20]),
    "negative_binomial": (
        bl.negative_binomial,
        {"mu": 3.5, "alpha": 0.75},
        stats.nbinom(0.75, 0.75 / 4.25),
        [0, 3, 20],
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_ours_is_scipys(name):
    family, parameters, scipys, points = TABLE[name]
    ours = family(**parameters)
    log = scipys.logpdf if hasattr(scipys.dist, "pdf") else scipys.logpmf
    np.testing.assert_allclose(ours.logpdf(np.array(points)), log(points), rtol=1e-12)
    assert ours.density.graph is not None
    through = bl.from_scipy(scipys)
    assert through.on == ours.on
    np.testing.assert_allclose(through.logpdf(np.array(points)), log(points), rtol=1e-12)


PYMC = {
    "Normal": (lambda pm: pm.Normal.dist(0.3, 2.0), stats.norm(0.3, 2.0), bl.Reals()),
    "Beta": (lambda pm: pm.Beta.dist(2.0, 5.0), stats.beta(2.0, 5.0), bl.Interval(0, 1)),
    "Uniform": (lambda pm: pm.Uniform.dist(-1, 3), stats.uniform(-1, 4), bl.Interval(-1, 3)),
    "Poisson": (lambda pm: pm.Poisson.dist(3.5), stats.poisson(3.5), bl.Integers(0, None)),
}


@pytest.mark.parametrize("name", PYMC)
def test_pymcs_is_scipys(name):
    import pymc as pm

    make, scipys, alphabet = PYMC[name]
    measure = bl.from_pymc(make(pm))
    assert measure.on == alphabet
    points = np.array([0, 2, 5]) if name == "Poisson" else np.array([0.1, 0.5, 0.9])
    log = scipys.logpmf if name == "Poisson" else scipys.logpdf
    np.testing.assert_allclose(measure.logpdf(points), log(points), rtol=1e-12)
    assert measure.density.opaque == "" and measure.family is not None


def test_a_pymc_mechanism_is_the_same_kernel():
    import pymc as pm

    mech = bl.Mechanism.from_pymc(
        lambda x: pm.Laplace.dist(x, 0.5), secret=bl.Interval(0, 1), outcome=bl.Reals()
    )
    assert mech.opaque == ""
    joint = bl.uniform(bl.Interval(0, 1)) * mech
    ours = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=0.5)
    with bl.options(closed_forms=False):
        found, truth = bl.pml(joint)(0.3), bl.pml(ours)(0.3)
    assert found.status == truth.status and "opaque" not in found.reason
    assert abs(found.value - truth.value) <= 1e-8


def test_a_pymc_distribution_without_a_known_support_asks_for_one():
    import pymc as pm

    with pytest.raises(InvalidInput, match="on="):
        bl.from_pymc(pm.Triangular.dist(0, 1, 0.5))
    with pytest.raises(InvalidInput, match=r"on=bl\.Finite\(3\), or bl\.Integers"):
        bl.from_pymc(pm.Categorical.dist(p=[0.2, 0.3, 0.5]))


@pytest.mark.parametrize(
    ("family", "parameters"),
    [
        (bl.normal, {"sigma": 0.0}),
        (bl.beta, {"alpha": -1.0}),
        (bl.gamma, {"beta": np.nan}),
        (bl.poisson, {"mu": 0.0}),
        (bl.geometric, {"p": 1.0}),
        (bl.uniform, {"alphabet": bl.Reals()}),
    ],
)
def test_bad_parameters_are_named(family, parameters):
    with pytest.raises(InvalidInput, match="expected"):
        family(**parameters)


def test_a_proved_tail_bounds_the_truth():
    for measure, law in (
        (bl.poisson(mu=3.5), stats.poisson(3.5)),
        (bl.geometric(p=0.3), stats.geom(0.3)),
    ):
        for n in (5, 12, 40):
            assert law.sf(n) <= measure.tail.bound(n) * (1 + 1e-12)
            assert measure.tail.bound(n) <= 3 * law.sf(n)


@pytest.mark.parametrize("mu", [0.01, 2.8, 300.0])
@pytest.mark.parametrize("alpha", [0.05, 1.0, 40.0])
@pytest.mark.parametrize("n", [-1, 0, 3, 50, 2000])
def test_the_tail_of_the_negative_binomial_is_a_bound(mu, alpha, n):
    mpmath.mp.dps = 40
    bound = bl.negative_binomial(mu=mu, alpha=alpha).tail.bound(n)
    q = mpmath.mpf(mu) / (mpmath.mpf(mu) + mpmath.mpf(alpha))
    truth = mpmath.betainc(n + 1, mpmath.mpf(alpha), 0, q, regularized=True) if n >= 0 else 1
    assert truth <= bound <= 1
    if n >= 8 * mu:  # far out it is no idle bound
        assert bound <= max(4 * truth * (1 + mu / alpha), 5e-324)


def test_the_negative_binomial_has_mass_everywhere():
    prior = bl.negative_binomial(mu=2.5, alpha=0.5)
    released = bl.Mechanism(
        lambda y, x: np.where(np.minimum(x, 1.0) == y, 0.75, 0.25),
        secret=bl.Integers(0, None),
        outcome=bl.Finite(2),
    )
    assert bl.ldi(prior * released).status == "exact"
    assert bl.renyi(prior, bl.negative_binomial(mu=1.0, alpha=3.0), 0).upper == 0


def truncated(mu, sigma):
    import pymc as pm

    return pm.TruncatedNormal.dist(mu, sigma, lower=0, upper=1)


def log_ratio(mu, sigma, y):
    """Return PML at y of Laplace noise of scale 1/2 under a normal law truncated to [0, 1]."""
    mp = mpmath.mp

    def density(x):
        return mp.exp(-(((x - mp.mpf(mu)) / mp.mpf(sigma)) ** 2) / 2)

    with mpmath.workdps(30):
        total = mp.quad(density, [0, 0.25, 0.5, 0.75, 1])
        of = mp.quad(lambda x: density(x) * mp.exp(-2 * abs(x - y)), [0, y, (1 + y) / 2, 1])
        return -mp.log(of / total)


@pytest.mark.slow
def test_a_pymc_law_of_draws_is_enclosed_for_each_of_them():
    import xarray as xr

    rng = np.random.default_rng(0)
    about = {
        name: (("chain", "draw"), rng.uniform(low, high, (4, 200)))
        for name, low, high in (("mu", -0.2, 1.2), ("sigma", 0.1, 0.6))
    }
    draws = xr.Dataset(about)
    learnt = bl.priors.from_posterior(
        draws,
        lambda d: bl.from_pymc(truncated, bl.Interval(0, 1), mu=d["mu"], sigma=d["sigma"]),
    )
    noise = bl.mechanisms.laplace(secret=bl.Interval(0, 1), b=0.5)
    found = bl.pml(learnt * noise)(0.3)
    assert found.status == "certified"
    for draw in range(5):
        at = {"chain": 2, "draw": draw}
        truth = log_ratio(*(float(draws[n].isel(at)) for n in ("mu", "sigma")), mpmath.mpf(0.3))
        low, high = (float(found.draws[end].isel(at)) for end in ("lower", "upper"))
        assert low <= truth <= high
        assert high - low < 1e-9


def test_a_truncated_normal_of_pymc_is_proved_to_be_normalised():
    prior = bl.from_pymc(truncated(0.5, 0.2), bl.Interval(0, 1))
    found = bl.pml(prior * bl.mechanisms.laplace(secret=bl.Interval(0, 1), b=0.5))(0.3)
    assert found.status == "certified"
    assert found.lower <= log_ratio(0.5, 0.2, mpmath.mpf(0.3)) <= found.upper


def test_counts_of_pymc_with_parameters():
    import pymc as pm

    many = bl.from_pymc(pm.Poisson.dist, mu=np.array([2.0, 3.5]))
    assert many.on == bl.Integers(0, None)
    assert np.allclose(many.pdf(np.array(3)), stats.poisson([2.0, 3.5]).pmf(3))


@pytest.mark.parametrize(
    ("law", "given", "twin"),
    [
        ("Beta", {"alpha": 3.0, "beta": 7.0}, lambda: bl.beta(alpha=3, beta=7)),
        ("Beta", {"mu": 0.25, "nu": 8.0}, lambda: bl.beta(alpha=2, beta=6)),
        ("Poisson", {"mu": 2.0}, lambda: bl.poisson(mu=2.0)),
        ("Uniform", {"lower": 0.0, "upper": 0.5}, lambda: bl.uniform(bl.Interval(0, 0.5))),
    ],
)
def test_numbers_as_parameters_of_a_pymc_law(law, given, twin):
    import pymc as pm

    law, twin = bl.from_pymc(getattr(pm, law).dist, **given), twin()
    assert law.on == twin.on and law.family[0] == twin.family[0]
    assert twin.family[0] == "uniform" or law.family == twin.family
    assert (law.tail is None) == (twin.tail is None)


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["mu", "kumaraswamy", "a draw"])
def test_pymc_laws_with_parameters_have_certificates(kind):
    import pymc as pm

    given = {"mu": 0.3, "nu": 10.0}  # 0.3 * 10 is rounded, and the checks of it are decided
    if kind == "mu":
        law = bl.from_pymc(pm.Beta.dist, **given)
    elif kind == "kumaraswamy":
        law = bl.from_pymc(pm.Kumaraswamy.dist, a=2.0, b=3.0)
    else:
        draws = {name: (("chain", "draw"), np.full((2, 4), v)) for name, v in given.items()}
        learnt = bl.priors.from_posterior(
            xr.Dataset(draws), lambda d: bl.from_pymc(pm.Beta.dist, mu=d["mu"], nu=d["nu"])
        )
        law = learnt.one(3)
    at = bl.pml(law * bl.mechanisms.laplace(b=0.5, secret=bl.Interval(0, 1)))(0.3)
    with mpmath.workdps(30):
        mu, nu = mpmath.mpf(0.3), mpmath.mpf(10)
        density = lambda x: x ** (mu * nu - 1) * (1 - x) ** (nu - mu * nu - 1)  # noqa: E731
        total = mpmath.beta(mu * nu, nu - mu * nu)
        if kind == "kumaraswamy":
            density, total = lambda x: 6 * x * (1 - x**2) ** 2, 1
        noisy = lambda x: density(x) * mpmath.exp(-2 * abs(mpmath.mpf(0.3) - x))  # noqa: E731
        truth = -mpmath.log(mpmath.quad(noisy, [0, mpmath.mpf(0.3), 1]) / total)
        assert at.status == "certified" and at.lower <= truth <= at.upper
    assert at.certify().certificate is not None


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda pm: bl.from_pymc(pm.Beta.dist(2, 5), alpha=2.0), "a function of alpha"),
        (lambda pm: bl.from_pymc(pm.Beta.dist([2, 3], 5)), "parameters with axes go apart"),
        (lambda pm: bl.from_pymc(pm.Beta.dist, alpha="two", beta=5.0), "alpha"),
        (lambda pm: bl.from_pymc(lambda p: p, p=0.5), "a PyMC distribution"),
        (lambda pm: bl.from_pymc(pm.Normal.dist, rate=0.5), "a function of rate"),
        (lambda pm: bl.from_pymc(pm.Uniform.dist, lower=DRAWS, upper=2.0), "on="),
        (lambda pm: bl.from_pymc(lambda x: pm.Normal.dist(x, 1), x=DRAWS), "other names than x"),
    ],
)
def test_wrong_parameters_of_a_pymc_law(make, words):
    import pymc as pm

    with pytest.raises(InvalidInput, match=words):
        make(pm)


def test_arrays_of_draws_given_to_pymc_itself():
    import pymc as pm

    draws = xr.Dataset({"a": (("chain", "draw"), np.full((2, 100), 2.0))})
    with pytest.raises(InvalidInput, match=r"bl.from_pymc\(pm.Beta.dist, alpha="):
        bl.priors.from_posterior(draws, lambda d: bl.from_pymc(pm.Beta.dist(d["a"], 5)))


def test_supports_are_known_by_the_names_of_pymcs_operations():
    pm = pytest.importorskip("pymc")
    half, counts = bl.Interval(0, None), bl.Integers(0, None)
    for law, on in (
        (pm.InverseGamma.dist(3.0, 2.0), half),
        (pm.Weibull.dist(2.0, 1.0), half),
        (pm.Wald.dist(1.0, 1.0), half),
        (pm.HalfStudentT.dist(3.0, 1.0), half),
        (pm.Rice.dist(1.0, 1.0), half),
        (pm.Moyal.dist(0.0, 1.0), bl.Reals()),
        (pm.NegativeBinomial.dist(mu=2.0, alpha=3.0), counts),
        (pm.DiscreteWeibull.dist(0.3, 0.5), counts),
    ):
        assert bl.from_pymc(law).on == on
