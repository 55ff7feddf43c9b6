"""Restrictions of densities to intervals, of one prior and of many draws, against mpmath."""

import mpmath
import numpy as np
import pytest
import xarray as xr

import borel as bl
from borel.errors import InvalidInput, NotYet
from borel.priors import posteriors
from borel.probability import measure

mp = mpmath.mp
UNIT, HALF, LATER = bl.Interval(0, 1), bl.Interval(0, None), bl.Interval(1, None)
MU, SIGMA = np.array([[0.5, -1.0, -35.0]]), np.array([[1.0, 2.0, 1.0]])
W = np.array([[0.25, 0.5, 0.8125]])  # 1 - w is exact
B = 0.5
PARTS = [0, 0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1]
LAPLACE = bl.mechanisms.laplace(b=B, secret=bl.Reals())


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(30):
        yield


def learn(build, **variables):
    data = {name: (("chain", "draw"), v) for name, v in variables.items()}
    return bl.priors.from_posterior(xr.Dataset(data, attrs={"borel_draws": "exact"}), build)


def exact(value):
    return mpmath.mpf(float(value))


def normal(m, s):
    return lambda x: mp.npdf(x, m, s)


def pml(density, y, ends):
    """log sup f / f_Y for Laplace noise at an outcome among the secrets: the kernel's top is at y.

    The density is conditioned on an interval, whose ends are the first and the last of some.
    """
    noise = lambda x: density(x) * mp.exp(-abs(x - y) / mpmath.mpf(B))  # noqa: E731
    return mp.log(mp.quad(density, ends)) - mp.log(mp.quad(noise, ends))


def ends_of(found, d):
    return tuple(found.draws[end].values[0, d] for end in ("lower", "upper"))


def normals(d):
    return bl.normal(mu=d["mu"], sigma=d["sigma"])


def two(d):
    """A mixture; its weights and one of its components depend on the draw."""
    parts = [normals(d), bl.laplace(mu=1.0, b=2.0)]
    return bl.mixture(parts, weights=[d["w"], 1 - d["w"]])


def weight(d):
    """A formula that is no law before it is restricted."""
    return bl.Measure(lambda x, a: x**2 * np.exp(-a * x), on=HALF, params={"a": d["sigma"]})


def cauchys(d):
    return bl.cauchy(alpha=d["mu"], beta=d["sigma"])


def both(w, m, s):
    return lambda x: w * mp.npdf(x, m, s) + (1 - w) * mp.exp(-abs(x - 1) / 2) / 4


CASES = {
    "normal, a half-line": (normals, HALF, lambda m, s, w: normal(m, s), [*PARTS, 1.25, 4, 40]),
    "normal, an interval": (normals, UNIT, lambda m, s, w: normal(m, s), PARTS),
    "mixture": (two, bl.Interval(0, 2), lambda m, s, w: both(w, m, s), [0, 0.5, 1, 2]),
    "formula": (
        weight,
        LATER,
        lambda m, s, w: lambda x: x**2 * mp.exp(-s * x),
        [1, 1.25, 4, 16, 120],
    ),
    "heavy tails": (
        cauchys,
        LATER,
        lambda m, s, w: lambda x: 1 / (1 + ((x - m) / s) ** 2),
        [1, 1.25, 4, 16, 100, 1e4, mpmath.inf],
    ),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", CASES)
def test_leakage_at_an_outcome(name):
    build, on, density, ends = CASES[name]
    y = 1.25 if on != UNIT else 0.5
    ends = sorted({*map(mpmath.mpf, ends), mpmath.mpf(y)})
    learnt = learn(lambda d: build(d).restrict(on), mu=MU, sigma=SIGMA, w=W)
    found = bl.pml(learnt * LAPLACE)(y)
    assert found.status == "certified" and learnt.on == on
    for d in range(3):
        value = pml(density(*(exact(v[0, d]) for v in (MU, SIGMA, W))), mpmath.mpf(y), ends)
        low, high = ends_of(found, d)
        assert low <= value <= high
        assert high - low <= (2e-5 if name == "heavy tails" else 1e-8)


@pytest.mark.cases("slow", "0")
@pytest.mark.parametrize("k", [0, 1])
def test_suprema_and_laws(k):
    """Of Laplace noise on [0, 1]: as far out as one likes both leakages are at their largest."""
    learnt = learn(lambda d: normals(d).restrict(UNIT), mu=MU, sigma=SIGMA)
    ell = (bl.pml, bl.pmc)[k](learnt * LAPLACE)
    found = ell.sup()
    b = mpmath.mpf(B)
    for d in range(3):
        density = normal(exact(MU[0, d]), exact(SIGMA[0, d]))
        total = mp.quad(density, PARTS)
        # outcomes at or beyond either end
        left, right = (
            mp.quad(lambda x, f=density, e=e: f(x) * mp.exp(-abs(x - e) / b), PARTS) / total
            for e in (0, 1)
        )
        value = (
            max(-mp.log(left), -mp.log(right))
            if k == 0
            else max(mp.log(left), mp.log(right)) + 1 / b
        )
        low, high = ends_of(found, d)
        assert low <= value <= high and high - low <= 1e-5
        if k == 0:  # beside them the leakage is smaller: this is the mass of the larger half-line
            level = (max(-mp.log(left), -mp.log(right)) + min(-mp.log(left), -mp.log(right))) / 2
            tail = ell.by_draw.tail(float(level))
            assert ends_of(tail, d)[1] >= (left if left < right else right) / 2


@pytest.mark.slow
def test_nothing_rests_on_the_estimates_of_the_masses(monkeypatch):
    """Draws divided by other numbers are the same laws."""
    right = measure._log_masses
    monkeypatch.setattr(measure, "_log_masses", lambda *about: right(*about) + 0.25)
    for build, on in ((normals, HALF), (cauchys, LATER), (two, UNIT)):
        learnt = learn(lambda d, f=build, on=on: f(d).restrict(on), mu=MU, sigma=SIGMA, w=W)
        found = bl.pml(learnt * LAPLACE)(1.25)
        for d in range(3):
            one = bl.pml(learnt.one(d) * LAPLACE)(1.25)
            low, high = ends_of(found, d)
            assert low <= one.upper and one.lower <= high and high - low <= 2e-5


@pytest.mark.slow
def test_information_is_that_of_one_prior():
    """By quadrature of the entropy of the outcome, less that of Gaussian noise."""
    sigma = mpmath.mpf(0.5)
    learnt = learn(lambda d: normals(d).restrict(UNIT), mu=MU, sigma=SIGMA)
    found = bl.mutual_information(learnt * bl.mechanisms.gaussian(sigma=0.5, secret=UNIT))
    with mpmath.workdps(15):
        for d in range(2):
            m, s = exact(MU[0, d]), exact(SIGMA[0, d])
            total = mp.ncdf((1 - m) / s) - mp.ncdf(-m / s)
            # the product of two normal densities is one, up to a factor
            v = 1 / (1 / s**2 + 1 / sigma**2)

            def marginal(y, m=m, s=s, v=v, total=total):
                c, r = v * (m / s**2 + y / sigma**2), mp.sqrt(v)
                part = mp.ncdf((1 - c) / r) - mp.ncdf(-c / r)
                return mp.npdf(y, m, mp.sqrt(s**2 + sigma**2)) * part / total

            entropy = mp.quad(lambda y, f=marginal: -f(y) * mp.log(f(y)), [-4, -1, 0, 1, 2, 5])
            value = entropy - mp.log(2 * mp.pi * mp.e * sigma**2) / 2
            low, high = ends_of(found, d)
            assert low <= value + 1e-9 and value <= high and high - low <= 1e-3


def test_one_prior_is_conditioned_on_its_part_of_an_interval():
    one = bl.normal(mu=0.5).restrict(bl.Interval(-1, 2)).restrict(bl.Interval(0, 7))
    assert one.on == bl.Interval(0, 2)
    value = pml(normal(mpmath.mpf(0.5), 1), mpmath.mpf(0.5), [0, 0.5, 2])
    found = bl.pml(one * LAPLACE)(0.5)
    assert found.status == "certified" and found.lower <= value <= found.upper
    assert bl.beta(alpha=2, beta=3).restrict(bl.Reals()).family is not None
    kept = bl.pmf([0.5, 0.25, 0.25]).restrict(bl.Interval(1, None))
    assert list(kept.probabilities) == [0, 0.5, 0.5]


@pytest.mark.slow
def test_a_draw_of_it_is_the_restriction_of_one_prior(monkeypatch):
    """Draws of all blocks, some of which have cells of their own."""
    monkeypatch.setattr(posteriors, "BLOCK", 2)
    mu, sigma = np.array([[0.5, 3.0, 0.25]]), np.array([[1e-5, 1e-5, 2.0]])
    learnt = learn(lambda d: normals(d).restrict(HALF).restrict(LATER), mu=mu, sigma=sigma + 1)
    narrow = learn(lambda d: normals(d).restrict(HALF), mu=mu, sigma=sigma)
    for prior in (learnt, narrow):
        found = bl.pml(prior * LAPLACE)(1.5)
        for d in range(3):
            one = bl.pml(prior.one(d) * LAPLACE)(1.5)
            low, high = ends_of(found, d)
            assert low <= one.upper and one.lower <= high and high - low <= 1e-6
    (_, law), _ = learnt.blocks()
    x = np.array([1.25, 2.0])
    np.testing.assert_allclose(law.pdf(x)[1], learnt.one(1).pdf(x), rtol=1e-7)


def test_a_density_that_may_be_0_is_not_enclosed():
    build = lambda d: bl.Measure(  # noqa: E731
        lambda x, a: np.where(x < a, 1 / a, 0.0), on=UNIT, params={"a": d["w"]}
    ).restrict(bl.Interval(0.125, 1))
    found = bl.pml(learn(build, w=W) * LAPLACE)(0.25)
    assert found.status == "estimate" and "positive almost everywhere" in found.reason


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda d: bl.uniform(UNIT).restrict(bl.Interval(2, 3)), "outside of"),
        (lambda d: normals(d).restrict("later"), "or an Interval"),
        (lambda d: normals(d).restrict(bl.Interval(1e200, None)), "positive mass"),
        (
            lambda d: bl.Measure(
                lambda x, a: np.where(x < 0.5, 2.0 * a, 0.0), on=UNIT, params={"a": 1 + 0 * d["w"]}
            ).restrict(bl.Interval(0.75, 1)),
            "draw 0",
        ),
    ],
)
def test_events_that_do_not_do(make, message):
    with pytest.raises(InvalidInput, match=message):
        learn(make, mu=MU, sigma=SIGMA, w=W)


def test_what_is_not_there():
    with pytest.raises(NotYet, match="a measure on Integers"):
        learn(lambda d: bl.poisson(mu=d["sigma"]).restrict(LATER), sigma=SIGMA)
    with pytest.raises(NotYet, match=r"restrict\(bl.Interval"):
        learn(lambda d: normals(d).restrict(lambda x: x > 0), mu=MU, sigma=SIGMA)
    with pytest.raises(NotYet, match="restrict the mixture"):
        learn(
            lambda d: bl.mixture([normals(d).restrict(UNIT), bl.uniform(UNIT)], weights=[0.5, 0.5]),
            mu=MU,
            sigma=SIGMA,
        )


@pytest.mark.parametrize("lower", [38.25, 40.0, 200.0])
def test_one_law_far_out(lower):
    """Where floats hold little of the density, or nothing, of a normal law."""
    prior = bl.normal(mu=0.0, sigma=1.0).restrict(bl.Interval(lower, None))
    found = bl.pml(prior * LAPLACE)(lower)
    # E e^(-2 (X - l)) is e^(2 l + 2) Q(l + 2) / Q(l), and the kernel is largest at x = y
    tail = lambda x: mp.erfc(x / mp.sqrt(2))  # noqa: E731
    value = mp.log(tail(lower)) - mp.log(tail(lower + 2)) - 2 * lower - 2
    assert found.lower <= value <= found.upper and found.width <= 1e-8
    draws = learn(lambda d: normals(d).restrict(UNIT), mu=MU - 30, sigma=SIGMA)
    assert np.isfinite(draws.one(2).logpdf(np.array([0.0, 0.5]))).all()
