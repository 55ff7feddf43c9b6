"""Means of leakages that are not bounded far out, against integrals to 30 digits."""

import math

import mpmath
import numpy as np
import pytest
from engine.certified_cases import kernel

import borel as bl
from borel.engine.kernels.means_far_out import FarMeans
from borel.engine.problem.secret_and_kernel import Surface, secret_of
from borel.probability.density import Density

UNIT, HALF_LINE = bl.Interval(0, 1), bl.Interval(0, np.inf)
TWO = bl.pmf([0.25, 0.75], on=bl.Finite([0.0, 1.0]))
NEAR = bl.pmf([0.25] * 4, on=bl.Finite([0.0, 0.49, 0.51, 1.0]))
THREE = bl.pmf([0.125, 0.375, 0.5], on=bl.Finite([0.0, 1.0, 2.0]))


def gauss(y, x):
    return np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi)


def widening(y, x):
    return np.exp(-((y - x) ** 2) / (2 * (1 + x) ** 2)) / ((1 + x) * np.sqrt(2 * np.pi))


def means(rows, weights, low, high, *cuts):
    """Return E PML, E e^PML, E PMC and E e^PMC of a finite secret; rows are functions of y."""

    def of(what):
        def at(y):
            f = [row(y) for row in rows]
            f_y = mpmath.fsum(w * v for w, v in zip(weights, f, strict=True))
            return what(max(f), min(f), f_y)

        return mpmath.quad(at, [low, *cuts, high])

    return (
        of(lambda top, least, f_y: f_y * mpmath.log(top / f_y)),
        of(lambda top, least, f_y: top),
        of(lambda top, least, f_y: f_y * mpmath.log(f_y / least)),
        of(lambda top, least, f_y: f_y**2 / least),
    )


def normal(x, sigma):
    return lambda y: mpmath.npdf(y, x, sigma)


def check(joint, truths, tol):
    pml, pmc = bl.pml(joint), bl.pmc(joint)
    found = pml.mean(), pml.exp_mean(), pmc.mean(), pmc.exp_mean()
    for bound, truth in zip(found, truths, strict=True):
        if truth is None:
            continue
        assert bound.proved
        assert bound.lower <= truth <= bound.upper
        assert bound.width <= tol * max(1, bound.upper)
    return found


@pytest.fixture(autouse=True)
def thirty_digits():
    with mpmath.workdps(30):
        yield


@pytest.mark.cases("slow", "False")
@pytest.mark.cases("truths", "True")
@pytest.mark.parametrize("family", [False, True])
def test_gaussian_noise_on_a_uniform_secret(family):
    mechanism = bl.mechanisms.gaussian(sigma=1.0) if family else kernel(gauss)

    def f_y(y):
        return (mpmath.erfc((y - 1) / mpmath.sqrt(2)) - mpmath.erfc(y / mpmath.sqrt(2))) / 2

    def largest(y):
        return mpmath.npdf(y, min(max(y, 0), 1))

    def least(y):
        return mpmath.npdf(y, 1 if 2 * y < 1 else 0)

    def integral(what):  # it is the same on both sides of 1/2
        return 2 * mpmath.quad(what, [mpmath.mpf(1) / 2, 1, 2, 4, 8, 16, 24])

    truths = (
        integral(lambda y: f_y(y) * mpmath.log(largest(y) / f_y(y))),
        1 + 1 / mpmath.sqrt(2 * mpmath.pi),
        integral(lambda y: f_y(y) * mpmath.log(f_y(y) / least(y))),
        integral(lambda y: f_y(y) ** 2 / least(y)),
    )
    joint = bl.uniform(UNIT) * mechanism
    found = check(joint, truths, 2e-8)
    leakage = bl.maximal_leakage(joint)
    assert leakage.proved and leakage.lower <= mpmath.log(truths[1]) <= leakage.upper
    assert leakage.width <= found[1].width


@pytest.mark.slow
def test_gaussian_noise_on_finitely_many_secrets():
    rows = [normal(x, 1) for x in (0, 1, 2)]
    weights = [mpmath.mpf(w) for w in (0.125, 0.375, 0.5)]
    cuts = [-10, -4, 0, 0.5, 1, 1.5, 2, 6, 12]
    truths = means(rows, weights, -30, 32, *cuts)
    check(THREE * kernel(gauss, secret=THREE.on), truths, 1e-7)


@pytest.mark.truths
def test_noise_of_different_widths():
    """E e^PMC is infinite here, as f_Y^2 / f(y|0) grows; nothing proves it."""
    rows = [normal(x, 1 + x) for x in (0, 1)]
    weights = [mpmath.mpf(w) for w in (0.25, 0.75)]
    turns = sorted((-1 - s * mpmath.sqrt(4 + 24 * mpmath.log(2))) / 3 for s in (1, -1))
    *truths, _ = means(rows, weights, -40, 40, -12, *turns, 4, 12)
    found = check(TWO * kernel(widening, secret=TWO.on), (*truths, None), 2e-8)
    assert found[3].status == "undecided" and found[3].upper == math.inf


@pytest.mark.slow
def test_waiting_times():
    """The sides cross at y = 2 log 2: the largest density is 1/2 e^(-y/2) from there on."""
    secret = bl.pmf([0.25, 0.75], on=bl.Finite([1.0, 2.0]))
    noise = kernel(lambda y, x: np.exp(-y / x) / x, secret=secret.on, outcome=HALF_LINE)
    rows = [lambda y, x=x: mpmath.exp(-y / x) / x for x in (1, 2)]
    weights = [mpmath.mpf(w) for w in (0.25, 0.75)]
    truths = means(rows, weights, 0, 400, 2 * mpmath.log(2), 4, 16, 64)
    check(secret * noise, (*truths[:3], None), 2e-8)  # f_Y^2 / f(y|1) does not vanish


# -- the bounds of one box ------------------------------------------------------------------------


def far(f, prior, outcome=HALF_LINE):
    density = Density(f, {"y": outcome, "x": prior.on})
    return FarMeans(Surface(density, secret_of(prior, ())))


@pytest.mark.parametrize("edge", [1.0, 1.5, 30.0])
def test_they_are_sharp_where_logarithms_are_straight(edge):
    """Beyond the secrets log f(y|0) and log f(y|1) differ by 1, and both fall at the rate 1."""
    bounds = far(lambda y, x: np.exp(-abs(y - x)) / 2, TWO, bl.Reals())
    top = mpmath.exp(1 - edge) / 2
    for low, high in ((edge, math.inf), (-math.inf, 1 - edge)):
        mass, mean, power = bounds.bounds("pml", low, high)
        near, away = (0.75, 0.25) if high == math.inf else (0.25, 0.75)
        assert (near + away / mpmath.e) * top <= mass <= top * (1 + 1e-9)
        assert top <= power <= top * (1 + 1e-9)
        assert top / mpmath.e <= mean <= top / mpmath.e * (1 + 1e-9)
        assert bounds.bounds("pmc", low, high)[0] == mass
        _, mean, power = bounds.bounds("pmc", low, high)
        assert top <= mean <= top * (1 + 1e-9)
        assert top * mpmath.e <= power <= top * mpmath.e * (1 + 1e-9)


def bent(y, x):  # arctan(y - 3) changes sign: which secret is favoured changes there
    return np.exp(-y + x * np.arctan(y - 3) / 4)


@pytest.mark.few(2)
@pytest.mark.parametrize("edge", [0.0, 2.5, 3.0, 7.0])
def test_an_excess_is_charged(edge):
    """Neither of the secrets has the largest density all the way."""
    rows = [lambda y, x=x: mpmath.exp(-y + x * mpmath.atan(y - 3) / 4) for x in (0, 1)]
    weights = [mpmath.mpf(w) for w in (0.25, 0.75)]
    cuts = [c for c in (3, 8, 20) if c > edge]
    truths = means(rows, weights, edge, 80, *cuts)
    bounds = far(bent, TWO)
    found = [v for kind in ("pml", "pmc") for v in bounds.bounds(kind, edge, math.inf)[1:]]
    for bound, truth in zip(found, truths, strict=True):
        assert truth <= bound < math.inf


def test_a_ratio_that_grows_as_a_square():
    """At y = 4 + s, log f(y|0) / f(y|1) = 4 + 3 s + s^2 / 2, and f_Y is nearly e^-y."""
    rare = bl.pmf([1 - 2.0**-10, 2.0**-10], on=bl.Finite([0.0, 1.0]))
    bounds = far(lambda y, x: np.exp(-(1 - x) * y - x * y**2 / 2), rare)
    rows = [lambda y: mpmath.exp(-y), lambda y: mpmath.exp(-(y**2) / 2)]
    weights = [1 - mpmath.mpf(2) ** -10, mpmath.mpf(2) ** -10]
    *_, truth, _ = means(rows, weights, 4, 80, 8, 16)
    _, mean, _ = bounds.bounds("pmc", 4.0, math.inf)
    assert truth <= mean <= 1.01 * truth
    for edge in (1.5, 4.0):  # f_Y^2 / f(y|1) is about e^(y^2 / 2 - 2 y)
        assert bounds.bounds("pmc", edge, math.inf)[2] == math.inf


def test_a_ratio_that_grows_faster_than_the_density_falls():
    bounds = far(lambda y, x: np.exp(-y * (1 + 2 * x)), TWO)  # f_Y^2 / f(y|1) is about e^y / 16
    _, mean, power = bounds.bounds("pmc", 4.0, math.inf)
    assert mean < math.inf and power == math.inf


def test_a_ratio_without_a_limit():
    """Each secret is the favoured one again and again: an excess of 0.3 over either of them."""
    bounds = far(lambda y, x: np.exp(-y + 0.3 * x * np.sin(y)), TWO)
    rows = [lambda y, x=x: mpmath.exp(-y + 0.3 * x * mpmath.sin(y)) for x in (0, 1)]
    weights = [mpmath.mpf(w) for w in (0.25, 0.75)]
    truths = means(rows, weights, 4, 80, *(k * mpmath.pi for k in range(2, 25)))
    found = [v for kind in ("pml", "pmc") for v in bounds.bounds(kind, 4.0, math.inf)[1:]]
    for bound, truth in zip(found, truths, strict=True):
        assert truth <= bound < math.inf


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "f",
    [
        lambda y, x: np.where(y > 9, 2.0, 1.0) * np.exp(-y * (1 + x)),  # a jump upwards
        lambda y, x: np.exp(-y * (1 + np.where(x == 1, -0.5, x))),  # no function of x between them
        lambda y, x: np.exp(-y) * np.maximum(0.0, 5 - y) + np.exp(-2 * y) * x,  # zeros
        lambda y, x: (1 + x) / (1 + y) ** (2 + x),  # a power: it falls at no rate
        lambda y, x: np.exp(y * (x - 0.5)),  # it grows
        lambda y, x: np.exp(-y * (3 + np.arctan(1 / (x - 0.5)))),  # a jump at a pole of x, ...
        lambda y, x: np.exp(-y * (3 + np.tanh(1 / (x - 0.5)))),
        lambda y, x: np.exp(-y * (3 - np.arctan(np.log(abs(x - 0.5))))),
        lambda y, x: np.exp(-y * (2 + np.sign(0.5 - x) + x / 4)),  # ... and one made by hand
    ],
)
def test_nothing_is_claimed_without_proof(f):
    prior = bl.uniform(UNIT)
    for p in (prior, TWO, NEAR):
        bounds = far(f, p)
        for kind in ("pml", "pmc"):
            for edge in (1.0, 8.0):
                found = bounds.bounds(kind, edge, math.inf)
                assert (found >= truth_of(f, p, kind, edge)).all()


def truth_of(f, prior, kind, edge):
    """Return lower bounds of the mass and both integrals, by sums of least values on a grid."""
    y = np.linspace(edge, edge + 40, 200_001)
    atoms = {id(TWO): [[0.0, 1.0], [0.25, 0.75]], id(NEAR): [[0.0, 0.49, 0.51, 1.0], [0.25] * 4]}
    x, w = np.array(atoms.get(id(prior), [(np.arange(64) + 0.5) / 64, np.full(64, 1 / 64)]))
    with np.errstate(all="ignore"):
        rows = np.broadcast_to(f(y[:, None], x[None]), (len(y), len(x)))
        f_y, top, least = rows @ w, rows.max(1), rows.min(1)
        ratio = np.where(f_y > 0, top / f_y if kind == "pml" else f_y / least, 1.0)
        both = np.array([f_y, f_y * np.log(ratio), f_y * ratio])
    each = np.minimum(both[:, 1:], both[:, :-1]) * (y[1] - y[0])
    return each.sum(axis=1) * (1 - 1e-3)


def test_the_mass_far_out_is_bounded_by_itself():
    """Else it is what the masses of all the other boxes leave: six times as long."""
    joint = bl.uniform(UNIT) * bl.mechanisms.laplace(b=1.0)
    with bl.options(closed_forms=False):
        found = bl.pml(joint).exp_mean()
    assert found.lower <= 1.5 <= found.upper and found.width <= 1e-8


@pytest.mark.truths
def test_a_normal_secret_under_gaussian_noise():
    """PML at y is log(f(y|y) / f_Y(y)), which is log(2) / 2 + y^2 / 4, and Y has variance 2."""
    joint = bl.normal() * bl.Mechanism(gauss, secret=bl.Reals(), outcome=bl.Reals())
    truth = mpmath.log(2) / 2 + mpmath.mpf(1) / 2
    found = bl.pml(joint).mean()
    assert found.proved and found.lower <= truth <= found.upper <= found.lower + 1e-2
