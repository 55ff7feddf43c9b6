"""Draws of a prior on finitely many numbers, and outcomes that are integers, against mpmath."""

import math
from fractions import Fraction
from itertools import accumulate, pairwise

import mpmath
import numpy as np
import pytest
import xarray as xr
from scipy.special import gammaln

import borel as bl
from borel.engine.draws import far_integrals, outcome_laws, supports
from borel.errors import InvalidInput, NotYet
from borel.priors import posteriors

mp = mpmath.mp
PLACES = (0, 1, 3)
S = bl.Finite(list(PLACES))
P = np.array([[[0.4, 0.2, 0.4], [0.1, 0.6, 0.3], [0.25, 0.5, 0.25]]])
SIGMA, B = 0.75, 0.5
KINDS = ("pml", "pmc")


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(25):
        yield


def posterior(**variables):
    data = {
        name: (("chain", "draw", *(f"{name}_{i}" for i in range(v.ndim - 2))), v)
        for name, v in variables.items()
    }
    return xr.Dataset(data, attrs={"borel_draws": "exact"})


def learnt(p=P, on=S):
    return bl.priors.from_posterior(posterior(p=p), lambda d: bl.pmf(d["p"], on=on))


def exact(p):
    """The law meant, as the floats sum to 1 up to their rounding."""
    values = [mpmath.mpf(float(v)) for v in p]
    return [v / mp.fsum(values) for v in values]


def gaussian(y, x):
    return mp.npdf(mpmath.mpf(y) - x, 0, mpmath.mpf(SIGMA))


def laplace(y, x):
    return mp.exp(-abs(mpmath.mpf(y) - x) / mpmath.mpf(B)) / (2 * mpmath.mpf(B))


def geometric(y, x):
    return mpmath.mpf(1) / 3 / 2 ** abs(y - x)


def values(f, p, y, places=PLACES):
    """PML, PMC and f_Y at an outcome."""
    row = [f(y, x) for x in places]
    mass = mp.fsum(q * v for q, v in zip(p, row, strict=True))
    return mp.log(max(row) / mass), mp.log(mass / min(row)), mass


NOISE = {
    "Gaussian": (bl.mechanisms.gaussian(sigma=SIGMA, secret=S), gaussian),
    "Laplace": (bl.mechanisms.laplace(b=B, secret=S), laplace),
}
STEPS = bl.Mechanism(
    lambda y, x: -np.log(3.0) - np.abs(y - x) * np.log(2.0),
    secret=S,
    outcome=bl.Integers(),
    log=True,
)


def ends(found, d):
    return tuple(found.draws[end].values[0, d] for end in ("lower", "upper"))


@pytest.mark.parametrize("name", NOISE)
def test_a_finite_secret_at_an_outcome(name):
    mech, f = NOISE[name]
    j = learnt() * mech
    for y in (-2.0, 0.7, 5.5):
        for k, kind in enumerate(KINDS):
            found = getattr(bl, kind)(j)(y)
            assert found.status == "certified"
            for d, p in enumerate(P[0]):
                low, high = ends(found, d)
                assert low <= values(f, exact(p), y)[k] <= high and high - low <= 1e-9


@pytest.mark.parametrize("name", NOISE)
def test_suprema_of_a_finite_secret(name):
    """Over a fine grid; far out only the nearest secret is left, or no more than at its end."""
    mech, f = NOISE[name]
    j = learnt() * mech
    for k, kind in enumerate(KINDS):
        found = getattr(bl, kind)(j).sup()
        if (name, kind) == ("Gaussian", "pmc"):
            assert np.isposinf(found.draws["lower"].values).all()
            continue
        for d, p in enumerate(P[0]):
            grid = [mpmath.mpf(i) / 100 for i in range(-150, 550)]
            best = max(values(f, exact(p), y)[k] for y in grid)
            if name == "Gaussian":
                best = max(best, *(-mp.log(exact(p)[i]) for i in (0, -1)))
            low, high = ends(found, d)
            assert best <= high and low <= best + mpmath.mpf(10) ** -3 and high - low <= 1e-6


def test_draws_of_a_later_block_that_charge_other_secrets(monkeypatch):
    """What holds of the secrets of the first draws is not said of the others."""
    monkeypatch.setattr(posteriors, "BLOCK", 2)
    p = np.array([[[0.4, 0.2, 0.4], [0.1, 0.6, 0.3], [0.5, 0.5, 0.0], [0.25, 0.75, 0.0]]])
    mech = bl.Mechanism(
        lambda y, x: np.where(y > x, np.exp(-(y - x)), 0.0), secret=S, outcome=bl.Reals()
    )
    with bl.options(engine="certified"):
        found = bl.pmc(learnt(p) * mech)(2.0)
    for d, row in enumerate(p[0]):
        q = exact(row)
        mass = q[0] * mp.exp(-2) + q[1] * mp.exp(-1)
        low, high = ends(found, d)
        if row[2]:  # the third secret never gives this outcome
            assert low == high == np.inf
        else:
            assert low <= mp.log(mass) + 2 <= high and high - low <= 1e-9


MANY = np.array(
    [
        [
            [0.4, 0.2, 0.4],
            [0.5, 0.5, 0.0],
            [0.1, 0.6, 0.3],
            [0.25, 0.75, 0.0],
            [0.0, 0.0, 1.0],
            [0.0, 0.25, 0.75],
        ]
    ]
)


def charged_of(p):
    """The secrets that a draw charges, and their probabilities."""
    some = [(x, q) for x, q in zip(PLACES, exact(p), strict=True) if q]
    return [q for _, q in some], [x for x, _ in some]


@pytest.mark.parametrize("block", [4000, 2])
def test_draws_of_several_supports(monkeypatch, block):
    """The extremes run over the secrets of each draw: a draw that charges one leaks nothing."""
    monkeypatch.setattr(posteriors, "BLOCK", block)
    mech, f = NOISE["Laplace"]
    j = learnt(MANY) * mech
    b = mpmath.mpf(B)
    for k, kind in enumerate(KINDS):
        ell = getattr(bl, kind)(j)
        at, over = ell(2.0), ell.sup()
        assert at.status == over.status == "certified"
        for d, row in enumerate(MANY[0]):
            q, places = charged_of(row)
            low, high = ends(at, d)
            assert low <= values(f, q, 2.0, places)[k] <= high and high - low <= 1e-9
            # Laplace noise: the leakages are largest at the secrets
            best = max(values(f, q, y, places)[k] for y in places)
            low, high = ends(over, d)
            assert low <= best + tiny() and best <= high and high - low <= 1e-6
    level, most = bl.ldp(j), bl.maximal_leakage(j)
    for d, row in enumerate(MANY[0]):
        _, places = charged_of(row)
        low, high = ends(level, d)
        assert low <= (places[-1] - places[0]) / b <= high and high - low <= 1e-9
        # the largest density: that of the nearest secret
        gaps = [y - x for x, y in pairwise(places)]
        total = 1 + mp.fsum(1 - mp.exp(-g / (2 * b)) for g in gaps)
        low, high = ends(most, d)
        assert low <= mp.log(total) <= high and high - low <= 1e-6


def tiny():
    return mpmath.mpf(10) ** -18


def test_laws_of_draws_of_several_supports():
    """The tail of each draw by the distribution functions of the noise; and of all together."""
    mech, _ = NOISE["Laplace"]
    j = learnt(MANY[:, [1, 3, 4]]) * mech
    b, t = mpmath.mpf(B), 0.25
    tail = bl.pml(j).by_draw.tail(t)

    def above(y, x):
        away = mp.exp(-abs(y - x) / b) / 2
        return away if y > x else 1 - away

    for d, p in enumerate((0.5, 0.25)):
        p = mpmath.mpf(p)
        # two secrets, 0 and 1: below 1/2 the first is nearer, and the leakage falls towards it
        grow = lambda y, p=p: p + (1 - p) * mp.exp(-(1 - 2 * y) / b)  # noqa: E731
        first = mp.findroot(lambda y, g=grow: -mp.log(g(y)) - t, (0, 0.5), solver="anderson")
        other = lambda y, p=p: (1 - p) + p * mp.exp(-(2 * y - 1) / b)  # noqa: E731
        rises = -mp.log(other(1)) > t
        value = p * (1 - above(first, 0)) + (1 - p) * (1 - above(first, 1))
        if rises:
            second = mp.findroot(lambda y, g=other: -mp.log(g(y)) - t, (0.5, 1), solver="anderson")
            value += p * above(second, 0) + (1 - p) * above(second, 1)
        low, high = ends(tail, d)
        assert low <= value + tiny() and value <= high + tiny() and high - low <= 1e-3
    assert ends(tail, 2) == (0.0, 0.0)
    pooled = bl.pml(j).tail(t)
    assert pooled.status == "statistical" and pooled.lower <= pooled.upper


def test_too_many_supports_are_not_enclosed(monkeypatch):
    monkeypatch.setattr(supports, "_MOST", 3)
    with bl.options(engine="certified"), pytest.raises(NotYet, match="4 different sets"):
        bl.pml(learnt(MANY) * NOISE["Laplace"][0])(2.0)
    with pytest.raises(NotYet, match="charge different secrets"):
        bl.ldp(learnt(MANY) * NOISE["Laplace"][0])


def law(f, p, k, edges):
    """The tail at t, and the mean, by quadrature between the places where the leakage passes t."""

    def part(g, a, b):
        return mp.quad(lambda y: g(y) * values(f, p, y)[2], [a, b], method="gauss-legendre")

    def tail(t):
        total = mpmath.mpf(0)
        for a, b in pairwise(edges):
            grid = [a + (b - a) * i / 40 for i in range(41)]
            above = [values(f, p, y)[k] > t for y in grid]
            cuts = [a]
            for u, v, first, second in zip(grid, grid[1:], above, above[1:], strict=False):
                if first != second:
                    gap = lambda y: values(f, p, y)[k] - t  # noqa: E731
                    cuts.append(mp.findroot(gap, (u, v), solver="anderson", tol=1e-40))
            cuts.append(b)
            for u, v in pairwise(cuts):
                if values(f, p, (u + v) / 2)[k] > t:
                    total += part(lambda y: 1, u, v)
        return total

    def mean():
        return mp.fsum(part(lambda y: values(f, p, y)[k], a, b) for a, b in pairwise(edges))

    return tail, mean


@pytest.mark.truths
@pytest.mark.parametrize("name", NOISE)
@pytest.mark.parametrize("k", [0, 1])
def test_the_law_of_a_finite_secret(name, k):
    """Beyond 14 scales of the noise there is less than 1e-6 of the mass, for Laplace noise."""
    mech, f = NOISE[name]
    scale = mpmath.mpf(SIGMA if name == "Gaussian" else B)
    edges = [-40 * scale, -14 * scale, -5 * scale, 0, 0.5, 1, 2, 3, 3 + 5 * scale, 3 + 14 * scale]
    edges = [mpmath.mpf(e) for e in (*edges, 3 + 40 * scale)]
    ell = getattr(bl, KINDS[k])(learnt() * mech).by_draw
    tails = {t: ell.tail(t) for t in (0.2, 0.9)}
    mean, quantile = ell.mean(), ell.quantile(0.6)
    for d, p in enumerate(P[0]):
        tail, average = law(f, exact(p), k, edges)
        tiny = mpmath.mpf(10) ** -15  # what is beyond
        for t, found in tails.items():
            low, high = ends(found, d)
            assert low <= tail(t) + tiny and tail(t) <= high and high - low <= 1e-3
        low, high = ends(mean, d)
        assert low <= average() + tiny * 1000 and average() <= high and high - low <= 3e-3
        low, high = ends(quantile, d)
        assert 1 - tail(high) >= 0.6 - tiny and 1 - tail(low * (1 - 1e-12)) <= 0.6
        assert high - low <= 2e-3


@pytest.mark.truths
def test_information_of_a_finite_secret():
    found = bl.mutual_information(learnt() * NOISE["Gaussian"][0])
    noise = mp.log(2 * mp.pi * mp.e * mpmath.mpf(SIGMA) ** 2) / 2
    for d, p in enumerate(P[0]):
        entropy = mp.quad(
            lambda y, p=p: (
                -values(gaussian, exact(p), y)[2] * mp.log(values(gaussian, exact(p), y)[2])
            ),
            [-12, -3, 0, 1, 3, 6, 15],
        )
        low, high = ends(found, d)
        assert low <= entropy - noise <= high and high - low <= 2e-4


def test_noise_on_integers():
    """Below the secrets and above them the leakages do not vary."""
    j = learnt() * STEPS
    ys = list(range(-60, 64))
    for k, kind in enumerate(KINDS):
        ell = getattr(bl, kind)(j)
        over, tail, mean = ell.sup(), ell.by_draw.tail(0.4), ell.by_draw.mean()
        assert over.status == tail.status == "certified"
        quantile, power = ell.by_draw.quantile(0.55), ell.by_draw.exp_mean()
        for d, p in enumerate(P[0]):
            rows = [values(geometric, exact(p), y) for y in ys]
            tiny = mpmath.mpf(2) ** -55
            truths = {
                over: max(r[k] for r in rows),
                tail: mp.fsum(r[2] for r in rows if r[k] > 0.4),
                mean: mp.fsum(r[2] * r[k] for r in rows),
                power: mp.fsum(r[2] * mp.exp(r[k]) for r in rows),
            }
            for found, value in truths.items():
                low, high = ends(found, d)
                assert low <= value + tiny and value <= high and high - low <= 1e-7
            ordered = sorted((r[k], r[2]) for r in rows)
            sums = accumulate(mass for _, mass in ordered)
            value = next(v for (v, _), s in zip(ordered, sums, strict=True) if s >= 0.55)
            low, high = ends(quantile, d)
            assert low <= value <= high and high - low <= 1e-9
    found = bl.mutual_information(j)
    own = mp.fsum(geometric(y, 0) * mp.log(geometric(y, 0)) for y in ys)
    for d, p in enumerate(P[0]):
        masses = [values(geometric, exact(p), y)[2] for y in ys]
        value = own - mp.fsum(m * mp.log(m) for m in masses)
        low, high = ends(found, d)
        assert low <= value + mpmath.mpf(2) ** -48 and value <= high + mpmath.mpf(2) ** -48
        assert high - low <= 1e-7


@pytest.mark.truths
def test_a_learnt_density_and_counts():
    """A Poisson number of mean 1 + X: both leakages are infinite over all numbers."""
    alpha, beta = np.array([[1.5, 2.0]]), np.array([[2.0, 1.25]])
    unit = bl.Interval(0, 1)
    draws = bl.priors.from_posterior(
        posterior(a=alpha, b=beta), lambda d: bl.beta(alpha=d["a"], beta=d["b"])
    )
    j = draws * bl.Mechanism(
        lambda y, x: y * np.log(1 + x) - (1 + x) - gammaln(y + 1),
        secret=unit,
        outcome=bl.Integers(0, None),
        log=True,
    )

    def f(y, x):
        return (1 + x) ** y * mp.exp(-(1 + x)) / mp.factorial(y)

    found = {kind: getattr(bl, kind)(j) for kind in KINDS}
    for kind in KINDS:
        assert np.isposinf(found[kind].sup().draws["lower"].values).all()
    means = {kind: found[kind].by_draw.mean() for kind in KINDS}
    tails = {kind: found[kind].by_draw.tail(0.3) for kind in KINDS}
    for d in range(2):
        a, b = mpmath.mpf(float(alpha[0, d])), mpmath.mpf(float(beta[0, d]))
        rows = []
        for y in range(45):
            weigh = lambda x, y=y, a=a, b=b: f(y, x) * x ** (a - 1) * (1 - x) ** (b - 1)  # noqa: E731
            mass = mp.quad(weigh, [0, 1]) / mp.beta(a, b)
            top = max(f(y, mpmath.mpf(x)) for x in (0, 1, min(max(y - 1, 0), 1)))
            rows.append(
                (mp.log(top / mass), mp.log(mass / min(f(y, 0), f(y, mpmath.mpf(1)))), mass)
            )
        for k, kind in enumerate(KINDS):
            low, high = ends(means[kind], d)
            tiny = mpmath.mpf(10) ** -30
            assert low <= mp.fsum(r[2] * r[k] for r in rows) + tiny and high - low <= 1e-7
            assert mp.fsum(r[2] * r[k] for r in rows) <= high
            low, high = ends(tails[kind], d)
            value = mp.fsum(r[2] for r in rows if r[k] > 0.3)
            assert low <= value + tiny and value <= high and high - low <= 1e-7


def test_secrets_that_no_draw_charges():
    """They are no secrets: at 0.7 the leakage is that of the others."""
    p = np.insert(P, 1, 0.0, axis=2)
    wide = bl.Finite([0, 0.5, 1, 3])
    j = learnt(p, wide) * bl.mechanisms.gaussian(sigma=SIGMA, secret=wide)
    found = bl.pml(j)(0.5)
    for d, law_ in enumerate(P[0]):
        low, high = ends(found, d)
        assert low <= values(gaussian, exact(law_), 0.5)[0] <= high


def test_noise_on_counts_far_out():
    """Few counts have mass to speak of, but all have some: no bound of the kernel far out is used.

    What is known of half-lines is what the tails of the secret and of the noise leave.
    """
    mus = [0.5, 0.25]
    draws = bl.priors.from_posterior(
        posterior(mu=np.array([mus])), lambda d: bl.poisson(mu=d["mu"])
    )
    engine = bl.pml(draws * bl.mechanisms.laplace(b=4.0, secret=draws.on))._engine()
    block = next(engine.blocks())
    lines = engine.lines(block, "pml")
    assert (lines.mass_low.sum(axis=1) <= 1).all() and (lines.mass_high.sum(axis=1) >= 1).all()
    law = outcome_laws.OutcomeLaw(engine.shared, engine.support("pml"), "pml")
    for edge in (16, 64, 128):
        found = law._beyond(block.cells, float(edge), math.inf, np.ones(2))
        for k, mu in enumerate(map(mpmath.mpf, mus)):
            p = [mp.exp(-mu) * mu**n / mp.factorial(n) for n in range(40)]
            rate = sum(q * mp.exp(mpmath.mpf(n) / 4) for n, q in enumerate(p)) / 2
            mass = rate * mp.exp(-mpmath.mpf(edge) / 4)
            assert mass <= found.mass_high[k, 0]
            # f_Y = mass / 4 e^(-(y - edge) / 4), and the kernel is 1 / 8 near the next count
            least = mass * (1 + mp.log(1 / (2 * mass)) - mpmath.mpf(1) / 8)
            assert least <= found.mean_high[k, 0]


# -- what is not enclosed is never an estimate under engine="certified" ---------------------------


def opaque(x, a):
    return np.vectorize(lambda u, v: (v + 1) * u**v)(x, a)


def test_a_certified_engine_does_not_estimate():
    unit = bl.Interval(0, 1)
    draws = bl.priors.from_posterior(
        posterior(a=np.array([[1.0, 2.0]])),
        lambda d: bl.Measure(opaque, unit, params={"a": d["a"].values}),
    )
    j = draws * bl.mechanisms.laplace(b=B, secret=unit)
    for wanted, why in (("certified", "could not be traced"), ("exact", "exact")):
        with bl.options(engine=wanted):
            for figure in (
                lambda: bl.pml(j)(0.25),
                lambda: bl.pml(j).sup(),
                lambda: bl.pml(j).tail(0.1),
                lambda: bl.mutual_information(j),
                lambda: bl.ldp(j),
            ):
                with pytest.raises(NotYet, match=why):
                    figure()
    assert bl.pml(j)(0.25).status == "estimate"
    with bl.options(engine="certified"):
        traced = learnt() * NOISE["Laplace"][0]
        assert bl.pml(traced)(0.25).status == "certified"
    with bl.options(engine="exact"), pytest.raises(NotYet, match="finite alphabets"):
        bl.pml(traced)(0.25)


def test_masses_below_the_least_float():
    """A Fraction of 1e-400 is charged: f(y|1) = 2 y beside f(y|0) = 1."""
    least = Fraction(1, 10**400)
    law = np.array([[1 - least, least]] * 2)
    on = bl.Finite([0, 1])
    prior = bl.priors.from_posterior(
        posterior(p=P[:, :2, 0]), lambda d: bl.pmf(law[: len(d["p"])], on=on)
    )
    mech = bl.Mechanism(
        lambda y, x: np.where(x > 0.5, 2 * y, 1.0), secret=on, outcome=bl.Interval(0, 1)
    )
    found = bl.pml(prior * mech).sup().draws
    assert (found["lower"] <= mp.log(2)).all() and (found["upper"] >= mp.log(2)).all()
    assert (found["lower"] > 0.693).all()
    assert np.isposinf(bl.pmc(prior * mech).sup().draws["lower"]).all()
    binary = bl.Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75]], secret=on, outcome=bl.Finite(2))
    with pytest.raises(InvalidInput, match="float64 can hold"):
        bl.pml(prior * binary).sup()


# -- bugs are seen ---------------------------------------------------------------------------------


def test_a_mistake_far_out_is_seen(monkeypatch):
    right = far_integrals._sums
    monkeypatch.setattr(far_integrals, "_sums", lambda step: (0 * right(step)[0],) * 2)
    engine = bl.pml(learnt() * NOISE["Gaussian"][0])._engine()
    cells, surface = next(engine.blocks()).cells, engine.shared.surface
    low, high = far_integrals.far_leakage(surface, "pml", 4.0, 6.0, cells)
    wrong = False
    for d, p in enumerate(P[0]):
        for y in (4.5, 5.5):
            wrong |= not low[d] <= values(gaussian, exact(p), y)[0] <= high[d]
    assert wrong
