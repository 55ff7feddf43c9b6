"""PML and PMC for every draw of a prior with a density: against mpmath, with no tolerance."""

import math

import mpmath
import numpy as np
import pytest
import xarray as xr

import borel as bl
from borel import models
from borel.engine.draws import density_cells, kernel_integrals
from borel.engine.draws.density_cells import DensityCells
from borel.engine.kernels.quadrature_rules import Outcomes
from borel.engine.problem.secret_and_kernel import Surface, secret_of

UNIT, HALF_LINE = bl.Interval(0, 1), bl.Interval(0, None)
RNG = np.random.default_rng(3)
DRAWS = (2, 3)
mp = mpmath.mp


@pytest.fixture(autouse=True)
def forty_digits():
    with mpmath.workdps(40):
        yield


def exact(value):
    return mpmath.mpf(float(value))


def posterior(**variables):
    """Draws declared exact."""
    data = {
        name: (("chain", "draw", *(f"{name}_{i}" for i in range(v.ndim - 2))), v)
        for name, v in variables.items()
    }
    return xr.Dataset(data, attrs={"borel_draws": "exact"})


def numbers(low, high, *shape):
    return RNG.uniform(low, high, (*DRAWS, *shape))


# -- priors: draws, build, and the density of a draw without borel -------------------------------


def beta(values):
    a, b = values["alpha"], values["beta"]
    return lambda x: x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)


def truncated(values):
    m, s = values["mu"], values["sigma"]
    mass = mp.ncdf((1 - m) / s) - mp.ncdf(-m / s)
    return lambda x: mp.npdf((x - m) / s) / s / mass


def gamma(values):
    a, rate = values["alpha"], values["beta"]
    return lambda x: rate**a * x ** (a - 1) * mp.exp(-rate * x) / mp.gamma(a)


def log_normal(values):
    return lambda x: mp.npdf((mp.log(x) - values["mu"]) / values["sigma"]) / values["sigma"] / x


def normal(values):
    return lambda x: mp.npdf((x - values["mu"]) / values["sigma"]) / values["sigma"]


def mixture(values):
    triples = list(zip(values["w"], values["mu"], values["sigma"], strict=True))
    total = sum(w for w, _, _ in triples)  # the law meant is the normalised one
    return lambda x: sum(w * mp.npdf((x - m) / s) / s for w, m, s in triples) / total


def power(values):
    return lambda x: (values["a"] + 1) * x ** values["a"]


def log_normal_measure(draw):
    def density(x, mu, sigma):
        return -((np.log(x) - mu) ** 2) / (2 * sigma**2) - np.log(x * sigma) - np.log(2 * np.pi) / 2

    params = {name: draw[name].values for name in ("mu", "sigma")}
    return bl.Measure(density, HALF_LINE, log=True, params=params)


PRIORS = {
    "beta": (
        UNIT,
        {"alpha": numbers(1.2, 5), "beta": numbers(1.2, 5)},
        lambda d: bl.beta(alpha=d["alpha"], beta=d["beta"]),
        beta,
        [0, 1],
    ),
    "beta with poles": (
        UNIT,
        {"alpha": numbers(0.4, 1), "beta": numbers(0.4, 1)},
        lambda d: bl.beta(alpha=d["alpha"], beta=d["beta"]),
        beta,
        [0, 1],
    ),
    "narrow beta": (
        UNIT,
        {"alpha": numbers(300, 320), "beta": numbers(700, 720)},
        lambda d: bl.beta(alpha=d["alpha"], beta=d["beta"]),
        beta,
        [0, 0.2, 0.25, 0.3, 0.35, 0.4, 1],
    ),
    "truncated normal": (
        UNIT,
        {"mu": numbers(-0.2, 1.2), "sigma": numbers(0.1, 0.5)},
        lambda d: models.truncated_normal_prior(d, lower=0, upper=1),
        truncated,
        [0, 0.5, 1],
    ),
    "a power": (
        UNIT,
        {"a": numbers(0.3, 2)},
        lambda d: bl.Measure(
            lambda x, a: (a + 1) * x**a, UNIT, params={"a": d["a"].values}, _check=False
        ),
        power,
        [0, 1],
    ),
    "gamma": (
        HALF_LINE,
        {"alpha": numbers(0.6, 4), "beta": numbers(0.5, 2)},
        lambda d: bl.gamma(alpha=d["alpha"], beta=d["beta"]),
        gamma,
        [0, 1, 3, 10, 30, 100],
    ),
    "log-normal": (
        HALF_LINE,
        {"mu": numbers(-0.5, 0.5), "sigma": numbers(0.3, 0.8)},
        log_normal_measure,
        log_normal,
        [0, 0.25, 0.5, 1, 2, 4, 16, 64, 1000],
    ),
    "normal": (
        bl.Reals(),
        {"mu": numbers(-1, 1), "sigma": numbers(0.5, 2)},
        lambda d: bl.normal(mu=d["mu"], sigma=d["sigma"]),
        normal,
        [-40, -10, -3, 0, 3, 10, 40],
    ),
    "mixture": (
        bl.Reals(),
        {
            "w": RNG.dirichlet([2.0, 2.0], DRAWS),
            "mu": np.sort(numbers(-1, 2, 2)),
            "sigma": numbers(0.3, 1.0, 2),
        },
        models.normal_mixture_prior,
        mixture,
        [-20, -6, -2, -1, 0, 1, 2, 3, 6, 20],
    ),
}

# -- kernels: the mechanism, f(y|x), and the places where it may be extreme ------------------------

B, SIGMA = 0.5, 0.75


def truncated_noise(y, x):
    return np.exp(-np.abs(y - x) / B) / (B * (2 - np.exp(-x / B) - np.exp(-(1 - x) / B)))


def bent(y, x):
    return (1 + np.abs(y - x)) / (1.5 - x + x**2)


def f_truncated(y, x):
    b = mpmath.mpf(B)
    return mp.exp(-abs(y - x) / b) / (b * (2 - mp.exp(-x / b) - mp.exp(-(1 - x) / b)))


def turns_of_bent(y):
    """Where N / D is extreme: N' D = N D', for N = 1 + |y - x| on both sides of y."""
    out = []
    for sign in (-1, 1):  # N = c + sign x
        c = 1 - sign * y
        # sign (1.5 - x + x^2) = (c + sign x) (2 x - 1)
        disc = c**2 + mpmath.mpf(3) / 2 + c * sign
        out += [-c * sign + mp.sqrt(disc) * s for s in (-1, 1)] if disc >= 0 else []
    return out


KERNELS = {
    "Laplace": (
        lambda on: bl.mechanisms.laplace(b=B, secret=on),
        lambda y, x: mp.exp(-abs(y - x) / mpmath.mpf(B)) / (2 * mpmath.mpf(B)),
        lambda y: [],
    ),
    "Gaussian": (
        lambda on: bl.mechanisms.gaussian(sigma=SIGMA, secret=on),
        lambda y, x: mp.npdf((y - x) / mpmath.mpf(SIGMA)) / mpmath.mpf(SIGMA),
        lambda y: [],
    ),
    "truncated Laplace": (
        lambda on: bl.Mechanism(truncated_noise, secret=on, outcome=UNIT),
        f_truncated,
        lambda y: [],
    ),
    "bent": (
        lambda on: bl.Mechanism(bent, secret=on, outcome=UNIT),
        lambda y, x: (1 + abs(y - x)) / (mpmath.mpf(3) / 2 - x + x**2),
        turns_of_bent,
    ),
}
"""Truncated noise is largest at x = y and falls on both sides of it; noise does so too."""


def extremes(f, turns, y, on):
    """The supremum and the infimum of f(y|.) on an interval; noise goes to 0 far out."""
    low, high = on.lower, on.upper
    places = [exact(e) for e in (low, high) if math.isfinite(e)]
    places += [v for v in (y, *turns(y)) if low <= v <= high]
    values = [f(y, x) for x in places]
    least = min(values) if math.isfinite(low) and math.isfinite(high) else mpmath.mpf(0)
    return max(values), least


def parameters_of(draws, c, d):
    return {
        name: [exact(v) for v in values[c, d]] if values.ndim > 2 else exact(values[c, d])
        for name, values in draws.items()
    }


def marginal(f, density, y, cuts):
    points = sorted(
        {*map(mpmath.mpf, cuts), y} if cuts[0] < y < cuts[-1] else map(mpmath.mpf, cuts)
    )
    return mp.quad(lambda x: f(y, x) * density(x), points)


def truth(prior, kernel, c, d, y):
    on, draws, _, make, cuts = PRIORS[prior]
    _, f, turns = KERNELS[kernel]
    y = exact(y)
    mass = marginal(f, make(parameters_of(draws, c, d)), y, cuts)
    top, bottom = extremes(f, turns, y, on)
    return mp.log(top / mass), mp.log(mass / bottom) if bottom else mp.inf


def learnt(prior):
    _, draws, build, _, _ = PRIORS[prior]
    return bl.priors.from_posterior(posterior(**draws), build)


def joint(prior, kernel):
    return learnt(prior) * KERNELS[kernel][0](PRIORS[prior][0])


def holds(found, c, d, value):
    low, high = found["lower"].values[c, d], found["upper"].values[c, d]
    assert low <= value <= high
    return math.inf if value == mp.inf else float(high - low)


PAIRS = [
    (prior, kernel)
    for prior in PRIORS
    for kernel in KERNELS
    if PRIORS[prior][0] == UNIT or kernel in ("Laplace", "Gaussian")
]
FEW = [pair for pair in PAIRS if pair[1] in ("Laplace", "bent") or pair[0] == "mixture"]


@pytest.mark.few(1)
@pytest.mark.cases("slow", "gamma-Laplace", "narrow beta-bent", "beta-Laplace")
@pytest.mark.parametrize(("prior", "kernel"), FEW)
def test_a_draw_at_an_outcome(prior, kernel):
    rng = np.random.default_rng(len(prior) * len(kernel))
    y, (c, d) = rng.uniform(0, 1), [rng.integers(n) for n in DRAWS]
    j = joint(prior, kernel)
    values = truth(prior, kernel, c, d, y)
    for leakage, value in zip((bl.pml, bl.pmc), values, strict=True):
        found = leakage(j)(y)
        assert found.status in ("certified", "conditional")
        width = holds(found.draws, c, d, value)
        assert width <= 1e-6 or value == mp.inf


@pytest.mark.truths
@pytest.mark.parametrize(("prior", "kernel"), PAIRS)
def test_draws_at_outcomes(prior, kernel):
    rng, j = np.random.default_rng(1), joint(prior, kernel)
    engine = bl.pml(j)._engine()
    inside = KERNELS[kernel][0](PRIORS[prior][0]).outcome == UNIT
    ys = rng.uniform(0, 1, 4) if inside else rng.uniform(-2, 4, 6)
    found = [engine.at_many(kind, ys) for kind in ("pml", "pmc")]
    for i, y in enumerate(ys):
        for k, (c, d) in enumerate(np.ndindex(*DRAWS)):
            for (low, high), value in zip(found, truth(prior, kernel, c, d, y), strict=True):
                assert low[k, i] <= value <= high[k, i]
                assert high[k, i] - low[k, i] <= 1e-6 or value == mp.inf


# -- over outcomes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prior",
    [
        "truncated normal",
        pytest.param("beta", marks=pytest.mark.truths),
        pytest.param("narrow beta", marks=pytest.mark.truths),
    ],
)
def test_suprema_of_noise(prior):
    r"""Laplace noise on [0, 1]: the suprema are those beyond the ends of the secrets.

    E e^(-|y - X| / b) is log-concave in y, as the density and the noise are; so it is least at an
    end. For y in [1/2, 1] PMC is log E e^((y - |y - X|) / b), which rises with y; likewise below.
    """
    j = joint(prior, "Laplace")
    _, draws, _, make, cuts = PRIORS[prior]
    b = mpmath.mpf(B)
    for leakage, sign in ((bl.pml, -1), (bl.pmc, 1)):
        found = leakage(j).sup()
        assert found.status == "certified"
        for c, d in [(0, 1), (1, 2)]:
            p, points = make(parameters_of(draws, c, d)), [mpmath.mpf(v) for v in cuts]
            means = [
                mp.quad(lambda x, p=p, g=g, s=sign: p(x) * mp.exp(s * g(x) / b), points)
                for g in (lambda x: x, lambda x: 1 - x)
            ]
            assert holds(found.draws, c, d, max(sign * mp.log(m) for m in means)) <= 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prior", "kernel"),
    [
        ("truncated normal", "truncated Laplace"),
        pytest.param("beta", "truncated Laplace", marks=pytest.mark.truths),
        pytest.param("truncated normal", "bent", marks=pytest.mark.truths),
    ],
)
def test_suprema_are_not_below_what_outcomes_have(prior, kernel):
    j = joint(prior, kernel)
    found = [leakage(j).sup().draws for leakage in (bl.pml, bl.pmc)]
    for y in (0.0, 0.3):
        for one, value in zip(found, truth(prior, kernel, 1, 1, y), strict=True):
            assert value <= one["upper"].values[1, 1]
            width = one["upper"] - one["lower"]
            assert (width.values <= 1e-6).all()
    # one of them is near to an outcome of those: it is no larger than what many outcomes have
    many = np.linspace(0, 1, 101)
    for kind, one in zip(("pml", "pmc"), found, strict=True):
        best = bl.pml(j)._engine().at_many(kind, many)[1].max(axis=1).reshape(DRAWS)
        assert (one["lower"].values <= best + 0.01).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("prior", ["beta", "gamma", "mixture"])
def test_suprema_that_are_infinite(prior):
    """The density of the noise falls faster and faster, or there are secrets far out."""
    j = joint(prior, "Gaussian")
    for leakage in (bl.pml, bl.pmc):
        found = leakage(j).sup()
        assert np.isposinf(found.draws["lower"].values).all() and found.status == "certified"


def test_one_sided_secrets():
    """Below all secrets PML is log 1 / E e^(-X / b), and no more than that is known far above."""
    j = joint("gamma", "Laplace")
    found = bl.pml(j)(-3.0)
    values = PRIORS["gamma"][1]
    for c, d in np.ndindex(*DRAWS):
        a, rate = (exact(values[n][c, d]) for n in ("alpha", "beta"))
        assert holds(found.draws, c, d, a * mp.log(1 + 2 / rate)) <= 1e-6
    assert np.isposinf(bl.pml(j).sup().draws["lower"].values).all()


def test_draws_of_very_different_scales():
    r"""Normals from a millionth to a million wide: what is known of one is not lost to another.

    E e^(-|y - X| / b) is the sum over both signs s of
    e^(-s (y - m) / b + v) Phi(s (y - m) / sigma - sigma / b), with v = (sigma / b)^2 / 2.
    """
    mu, sigma = np.array([[0.3, 0.0, -5.0]]), np.array([[1e-6, 1.0, 0.01]])
    draws = bl.priors.from_posterior(
        posterior(mu=mu, sigma=sigma), lambda d: bl.normal(mu=d["mu"], sigma=d["sigma"])
    )
    found = bl.pml(draws * bl.mechanisms.laplace(b=B))(0.25).draws
    for d in range(3):
        m, s, b = exact(mu[0, d]), exact(sigma[0, d]), mpmath.mpf(B)
        z = (mpmath.mpf(0.25) - m) / s
        parts = (
            mp.exp(-k * z * s / b + (s / b) ** 2 / 2) * mp.ncdf(k * z - s / b) for k in (1, -1)
        )
        assert holds(found, 0, d, -mp.log(mp.fsum(parts))) <= 1e-6


def test_finitely_many_outcomes():
    """Is X > 1/2? answered rightly with probability 3/4."""
    mech = bl.Mechanism(
        lambda y, x: np.where((x > 0.5) == (y == 1), 0.75, 0.25),
        secret=UNIT,
        outcome=bl.Finite([0, 1]),
        breaks=[0.5],
    )
    found = bl.pml(learnt("beta") * mech).sup()
    values = PRIORS["beta"][1]
    for c, d in np.ndindex(*DRAWS):
        a, b = (exact(values[n][c, d]) for n in ("alpha", "beta"))
        no = mp.betainc(a, b, 0, mpmath.mpf(1) / 2, regularized=True)
        masses = [(3 * no + (1 - no)) / 4, (no + 3 * (1 - no)) / 4]
        assert holds(found.draws, c, d, mp.log(mpmath.mpf(3) / 4 / min(masses))) <= 1e-6


def test_an_atom_of_the_outcome():
    """Laplace noise clipped to [0, 1]: P{Y = 0 | x} is e^(-x / b) / 2, and PML is largest there."""
    mech = bl.mechanisms.laplace(b=B, secret=UNIT).clip(0, 1)
    j = learnt("truncated normal") * mech
    at, over = bl.pml(j)(0.0).draws, bl.pml(j).sup().draws
    _, draws, _, make, cuts = PRIORS["truncated normal"]
    for c, d in [(0, 0), (1, 1)]:
        p, points = make(parameters_of(draws, c, d)), [mpmath.mpf(v) for v in cuts]
        means = [
            mp.quad(lambda x, p=p, g=g: p(x) * mp.exp(-g(x) / mpmath.mpf(B)), points)
            for g in (lambda x: x, lambda x: 1 - x)
        ]
        assert holds(at, c, d, -mp.log(means[0])) <= 1e-6
        assert holds(over, c, d, -mp.log(min(means))) <= 1e-6


def test_one_sided_noise():
    """Exponential noise: at y the secrets above it are ruled out, so that PMC is infinite."""
    mech = bl.Mechanism(
        lambda y, x: np.where(y > x, 2 * np.exp(-2 * (y - x)), 0.0), secret=UNIT, outcome=bl.Reals()
    )
    j = learnt("beta") * mech
    for found in (bl.pmc(j)(0.5), bl.pmc(j).sup()):
        assert np.isposinf(found.draws["lower"].values).all()
    at, values = bl.pml(j)(0.5).draws, PRIORS["beta"][1]
    y = mpmath.mpf(0.5)
    for c, d in np.ndindex(*DRAWS):
        p = beta({n: exact(v[c, d]) for n, v in values.items()})
        value = -mp.log(mp.quad(lambda x, p=p: p(x) * mp.exp(-2 * (y - x)), [0, y]))
        assert holds(at, c, d, value) <= 1e-6


COUNTS = {
    "Poisson": (
        {"mu": numbers(0.5, 6)},
        lambda d: bl.poisson(mu=d["mu"]),
        lambda v, n: v["mu"] ** n * mp.exp(-v["mu"]) / mp.factorial(n),
        0,
    ),
    "negative binomial": (
        {"mu": numbers(0.5, 4), "alpha": numbers(0.5, 4)},
        lambda d: bl.negative_binomial(mu=d["mu"], alpha=d["alpha"]),
        lambda v, n: (
            mp.binomial(n + v["alpha"] - 1, n)
            * (v["alpha"] / (v["mu"] + v["alpha"])) ** v["alpha"]
            * (v["mu"] / (v["mu"] + v["alpha"])) ** n
        ),
        0,
    ),
    "geometric": (
        {"p": numbers(0.3, 0.8)},
        lambda d: bl.geometric(p=d["p"]),
        lambda v, n: v["p"] * (1 - v["p"]) ** (n - 1),
        1,
    ),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", COUNTS)
def test_secrets_that_are_integers(name):
    """Laplace noise of b = 2, at 3; whether there are more than 2, answered rightly by 3/4."""
    draws, build, mass, first = COUNTS[name]
    prior = bl.priors.from_posterior(posterior(**draws), build)
    noise = prior * bl.mechanisms.laplace(b=2.0, secret=prior.on)
    answer = prior * bl.Mechanism(
        lambda y, x: np.where((x > 2) == (y == 1), 0.75, 0.25),
        secret=prior.on,
        outcome=bl.Finite([0, 1]),
    )
    at, over, cost = bl.pml(noise)(3.0), bl.pml(noise).sup(), bl.pmc(answer).sup()
    assert at.status == over.status == "certified"
    assert np.isposinf(over.draws["lower"].values).all()
    for c, d in [(0, 1), (1, 2)]:
        p = {n: exact(v[c, d]) for n, v in draws.items()}
        head = [mass(p, n) for n in range(first, 400)]
        mean = mp.fsum(q * mp.exp(-abs(n - 3) / mpmath.mpf(2)) for n, q in enumerate(head, first))
        assert holds(at.draws, c, d, -mp.log(mean)) <= 1e-6
        few = mp.fsum(head[: 3 - first])
        largest = max((1 + 2 * few) / 4, (3 - 2 * few) / 4)
        assert holds(cost.draws, c, d, mp.log(4 * largest)) <= 1e-6


@pytest.mark.slow
def test_what_the_support_alone_decides():
    """LDP and maximal leakage are one Bound, whatever the draws are worth."""
    _, draws, build, _, _ = PRIORS["beta"]
    chains = posterior(**draws).assign_attrs(borel_draws="from two chains")  # far too short ones
    j = bl.priors.from_posterior(chains, build) * KERNELS["Laplace"][0](UNIT)
    level, leak = bl.ldp(j), bl.maximal_leakage(j)
    assert level.status == leak.status == "certified"
    assert level.lower <= 1 / B <= level.upper and level.width <= 1e-6
    value = mp.log(1 + 1 / (2 * mpmath.mpf(B)))  # 1 from both sides, 1 / 2b in between
    assert leak.lower <= value <= leak.upper and leak.width <= 1e-6
    sup = bl.pml(j).sup()
    assert sup.status == "undecided" and sup.cdf(1.5).status == "undecided"
    median = sup.quantile(0.5)  # LDP is all that is known of it
    assert median.lower == 0 and 1 / B <= median.upper <= level.upper
    assert "Remedy" in median.reason
    assert j.satisfies(bl.guarantees.LDP(2.1)).holds


# -- what is not enclosed --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "why"),
    [
        (
            lambda d: bl.Measure(
                lambda x, a: np.where(x < 0.5, 2.0, 0.0) + 0 * a, UNIT, params={"a": d["a"].values}
            ),
            "zero on half of the secrets",
        ),
        (
            lambda d: bl.Measure(
                lambda x, a: np.vectorize(lambda u, v: (v + 1) * u**v)(x, a),
                UNIT,
                params={"a": d["a"].values},
            ),
            "not traced",
        ),
    ],
)
def test_others_are_estimates(build, why):
    draws = bl.priors.from_posterior(posterior(a=numbers(0.5, 1)), build)
    assert bl.pml(draws * KERNELS["Laplace"][0](UNIT))(0.25).status == "estimate", why


def test_the_estimate_engine_is_obeyed():
    with bl.options(engine="estimate"):
        assert bl.pml(joint("beta", "Laplace"))(0.25).status == "estimate"


def test_little_work_says_less_and_nothing_false():
    pair = "truncated normal", "truncated Laplace"
    full = bl.pml(joint(*pair)).sup().draws
    with bl.options(budget=0.05):
        short = bl.pml(joint(*pair)).sup().draws
    assert (short["lower"].values <= full["upper"].values).all()
    assert (short["upper"].values >= full["lower"].values).all()
    assert (short["upper"] - short["lower"]).values.max() > 1e-6


def test_figures_of_little_work_do_not_depend_on_what_was_asked_before():
    """The cells are made by the first figure, and are no work of it."""
    ends = []
    for kinds in (("pml", "pmc"), ("pmc", "pml")):
        of = joint("truncated normal", "truncated Laplace")
        with bl.options(budget=0.05):
            found = {kind: getattr(bl, kind)(of).sup().draws for kind in kinds}
        ends.append(
            [found[kind][end].values for kind in ("pml", "pmc") for end in ("lower", "upper")]
        )
    np.testing.assert_array_equal(*ends)


@pytest.mark.slow
def test_a_leakage_follows_the_options_that_are_in_force():
    leakage = bl.pml(joint("beta", "Laplace"))
    with bl.options(engine="estimate"):
        estimate = leakage(0.25)
    assert estimate.status == "estimate" and leakage(0.25).status == "certified"
    with bl.options(engine="estimate"):
        assert leakage(0.25).status == leakage.sup().status == "estimate"


def test_any_name_of_a_parameter():
    """A density of t, say: no name means anything to the engine."""
    from scipy.special import betaln

    t, w0 = numbers(0.5, 3), numbers(0.5, 3)
    written = bl.priors.from_posterior(
        posterior(t=t, w0=w0),
        lambda d: bl.Measure(
            lambda x, t, w0: (t - 1) * np.log(x) + (w0 - 1) * np.log1p(-x) - betaln(t, w0),
            UNIT,
            log=True,
            params={n: d[n].values for n in ("t", "w0")},
        ),
    )
    found = bl.pml(written * KERNELS["Laplace"][0](UNIT))(0.25).draws
    p = beta({"alpha": exact(t[1, 1]), "beta": exact(w0[1, 1])})
    y = mpmath.mpf(0.25)
    mass = mp.quad(lambda x: p(x) * mp.exp(-2 * abs(y - x)), [0, y, 1])
    assert holds(found, 1, 1, -mp.log(mass)) <= 1e-6


def test_a_density_of_another_mass_is_refused():
    with pytest.raises(bl.errors.InvalidInput, match="integrates to 1"):
        draws = bl.priors.from_posterior(
            posterior(a=numbers(0.5, 1)),
            lambda d: bl.Measure(
                lambda x, a: (a + 1.00001) * x**a, UNIT, params={"a": d["a"].values}
            ),
        )
        bl.pml(draws * KERNELS["Laplace"][0](UNIT))(0.25)


# -- bugs are seen ---------------------------------------------------------------------------------


def rough(monkeypatch):
    """Use one cell and one piece, so that the errors of the polynomials are large."""
    monkeypatch.setattr(density_cells, "_ERROR", 1.0)
    monkeypatch.setattr(density_cells, "_FIRST", 1)
    monkeypatch.setattr(kernel_integrals, "_SMALL", 1e3)


def enclosed(density, formula, sigma):
    """Whether PML of one draw at 1/4, under Gaussian noise, is enclosed."""
    draws = bl.priors.from_posterior(
        posterior(a=np.full((1, 1), 6.0)),
        lambda d: bl.Measure(density, UNIT, params={"a": d["a"].values}, _check=False),
    )
    found = bl.pml(draws * bl.mechanisms.gaussian(sigma=sigma, secret=UNIT))(0.25).draws
    s, y = exact(sigma), mpmath.mpf(0.25)
    mass = mp.quad(lambda x: formula(x) * mp.exp(-(((x - y) / s) ** 2) / 2), [0, y, 0.5, 1])
    return found["lower"].item() <= -mp.log(mass) <= found["upper"].item()


POWER = (lambda x, a: (a + 1) * x**6, lambda x: 7 * x**6)
STEEP = (
    lambda x, a: a * np.exp(a * x) / np.expm1(a),
    lambda x: 6 * mp.exp(6 * x) / mp.expm1(6),
)


@pytest.mark.parametrize(("law", "sigma"), [(POWER, 0.375), (STEEP, 2.0)])
def test_rough_cells_hold_the_truth(law, sigma, monkeypatch):
    assert enclosed(*law, sigma)
    rough(monkeypatch)
    assert enclosed(*law, sigma)


def test_without_the_error_of_the_kernel_they_do_not(monkeypatch):
    rough(monkeypatch)
    monkeypatch.setattr(kernel_integrals, "largest_product", lambda: 0.0)
    assert not enclosed(*POWER, 0.375)


def test_without_that_of_the_densities_they_do_not(monkeypatch):
    rough(monkeypatch)
    right = DensityCells._evaluate

    def wrong(self, *args):
        middle, radius, error, top = right(self, *args)
        return middle, radius, 0 * error, top

    monkeypatch.setattr(DensityCells, "_evaluate", wrong)
    monkeypatch.setattr(DensityCells, "log_total", property(lambda self: 2 * (np.zeros((1, 1)),)))
    assert not enclosed(*STEEP, 2.0)


def test_with_a_wrong_coefficient_they_do_not(monkeypatch):
    right = DensityCells._evaluate

    def wrong(self, *args):
        middle, *rest = right(self, *args)
        middle[:, -1, 2] *= 1 + 1e-4
        return (middle, *rest)

    monkeypatch.setattr(DensityCells, "_evaluate", wrong)
    with pytest.raises(bl.errors.InvalidInput, match="integrates to 1"):
        enclosed(*POWER, 0.375)
    monkeypatch.setattr(DensityCells, "log_total", property(lambda self: 2 * (np.zeros((1, 1)),)))
    assert not enclosed(*POWER, 0.375)


def test_bounds_hold_for_the_polynomials_too(monkeypatch):
    """By its slope a kinked density is the line of slope -1/2 from its centre: above its range."""
    rough(monkeypatch)
    prior = bl.Measure(
        lambda x, a: a * (1.75 - np.maximum(x, 0.5)),
        UNIT,
        params={"a": np.array([8 / 9])},
        _check=False,
    )
    cells = DensityCells(prior)
    own = cells.middle[:, : cells.low.size * 9].reshape(1, -1, 9)
    for u in (-1, 1):
        value = np.abs((own * float(u) ** np.arange(9)).sum(axis=2))
        assert (value <= cells.bounds[:, : cells.low.size]).all()


@pytest.mark.parametrize(
    ("alpha", "beta"),
    [((0.03, 0.5), (0.25, 0.75)), ((0.75, 40.0), (2.0, 0.5)), ((0.99, 3.5), (0.99, 1.0))],
)
def test_masses_beside_singular_ends(alpha, beta):
    """Those of the intervals that are left there, by incomplete beta functions."""
    cells = DensityCells(bl.beta(alpha=np.array(alpha), beta=np.array(beta)))
    assert cells.ends and not cells.lost.any()
    for d, (a, b) in enumerate(zip(map(exact, alpha), map(exact, beta), strict=True)):
        for k, (low, high) in enumerate(cells.ends):
            if low == 0:
                truth = mp.betainc(a, b, 0, exact(high), regularized=True)
            else:
                truth = mp.betainc(b, a, 0, 1 - exact(low), regularized=True)
            assert cells.mass[0][d, k] <= truth <= cells.mass[1][d, k]


def test_errors_of_the_coefficients_of_a_cell_count_together():
    """Their sum times the largest number is no less than the sum of products."""
    cells = DensityCells(bl.beta(alpha=np.array([0.5, 3.0]), beta=np.array([2.0, 0.25])))
    ys, shift = np.array([-0.5, 0.25, 2.0]), np.zeros(3)
    surface = Surface(
        bl.mechanisms.laplace(b=0.5, secret=UNIT).density, secret_of(bl.uniform(UNIT), ())
    )
    of = kernel_integrals.integrals(surface, Outcomes(ys, ys, ys, 0, shift), cells)
    each = cells.radius.astype(float) @ (np.abs(of.middle[0]) + of.radius[0]).T
    together = cells.doubts.astype(float) @ of.factors[0][2].astype(float)
    assert (each > 0).all() and (each <= together).all() and np.isfinite(together).all()


@pytest.mark.parametrize("breaks", [(), (2.0**50 + 0.25,)])
def test_no_float_is_near_enough_to_a_singular_end(breaks):
    """Then nothing is known of the draw that is singular there, and it is no error of ours."""
    start = 2.0**50
    prior = bl.Measure(
        lambda x, a: a * (x - start) ** (a - 1),
        bl.Interval(start, start + 1),
        params={"a": np.array([0.5, 0.25])},
        breaks=breaks,
        _check=False,
    )
    assert DensityCells(prior).lost.all()


def test_errors_beyond_single_precision_are_no_bounds():
    assert np.isposinf(density_cells.raised(np.array([1e39]))).all()


def test_floats_stand_for_pi_in_the_formula_of_a_family():
    """The mass of the formula as it is written is among those that the draws are divided by."""
    found = {
        "normal": bl.normal(mu=np.zeros(1), sigma=np.ones(1)),
        "cauchy": bl.cauchy(alpha=np.zeros(1), beta=np.ones(1)),
    }
    off = {
        "normal": mp.log(2 * mp.pi) / 2 - exact(np.log(2 * np.pi) / 2),
        "cauchy": mp.log(mp.pi / exact(np.pi)),
    }
    for name, prior in found.items():
        low, high = DensityCells(prior).log_total
        assert low.item() <= off[name] <= high.item() and off[name] != 0
