"""Laws of products of independent secrets, and figures of noise on them.

The truths are closed forms in Fractions and logarithms, integrals by mpmath, and draws.
"""

import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
from flint import fmpq_poly
from scipy import integrate, special

import borel as bl
from borel.numerics.graphs import float64
from borel.numerics.graphs.trace import trace
from borel.numerics.reduction import product_density, scalar_statistic
from borel.numerics.reduction.product_density import product_law
from borel.numerics.reduction.single_argument import through_one_number

UNIT = bl.Interval(0, 1)
ONE, LINE = [1], [0, 1]
# a number of secrets, their ends, the coefficients of their densities but for scale
NUMBERS = {
    "two": (lambda x: x[0] * x[1], [(0, 1)] * 2, [ONE] * 2),
    "scaled": (lambda x: x[0] * x[1], [(0, 2), (0, 0.5)], [ONE, LINE]),
    "three": (lambda x: x[0] * x[1] * x[2], [(0, 1), (0, 2), (0, 0.5)], [ONE] * 3),
    "five": (lambda x: x[0] * x[1] * (x[2] * (x[3] * x[4])), [(0, 1)] * 5, [ONE, LINE] + [ONE] * 3),
    "away from 0": (lambda x: (1 + x[0]) * (2 - x[1]), [(0, 1)] * 2, [ONE, [1, 2]]),
    "one at 0": (lambda x: x[0] * (1 + x[1]), [(0, 1)] * 2, [LINE, ONE]),
    "turned": (lambda x: 3 - 2 * x[0] * (-1 - x[1]), [(0, 1)] * 2, [ONE, LINE]),
    "below 0": (lambda x: -(x[0] * x[1]) / 4 - 1, [(-1, 0), (0, 3)], [ONE, LINE]),
    "distance": (lambda x: abs(x[0] - x[1]) * x[2], [(0, 1)] * 3, [ONE, ONE, LINE]),
    "maximum": (lambda x: np.maximum(x[0], x[1]) * (x[2] + x[3]) / 2, [(0, 1)] * 4, [ONE] * 4),
    "beta": (lambda x: x[0] * x[1], [(0, 1)] * 2, [[0, 1, -1], [0, 1, -2, 1]]),
    "beta and one": (
        lambda x: x[0] * x[1] * x[2], [(0, 1)] * 3, [[0, 1, -1], [0, 1, -2, 1], ONE]),
}  # fmt: skip


def law_of(name):
    function, ends, polynomials = NUMBERS[name]
    names = tuple(f"x{j}" for j in range(len(ends)))
    of = {n: fmpq_poly(p) for n, p in zip(names, polynomials, strict=True)}
    floats = [(float(a), float(b)) for a, b in ends]
    return product_law(trace(function, (names,), ()), of, floats)


def draws_of(name, count=200_000):
    function, ends, polynomials = NUMBERS[name]
    rng, columns = np.random.default_rng(1), []
    for (a, b), p in zip(ends, polynomials, strict=True):
        p = np.polynomial.Polynomial(p)
        most, kept = p(np.linspace(a, b, 1001)).max() * 1.01, np.zeros(0)
        while len(kept) < count:
            u = rng.uniform(a, b, count)
            kept = np.append(kept, u[rng.uniform(0, most, count) < p(u)])
        columns.append(kept[:count])
    return function(columns)


def misses(name):
    """Return how far the law is from draws of it, and its integral from 1."""
    law = law_of(name).written()
    inside = [*law.breaks, law.lower + 1e-12 * (law.upper - law.lower)]

    def below(v):
        points = [b for b in inside if b < v]
        with np.errstate(all="ignore"):
            density = lambda x: float(float64.evaluate(law.graph, {"x": x}))  # noqa: E731
            return integrate.quad(density, law.lower, v, points=points or None, limit=200)[0]

    values = draws_of(name)
    levels = np.array([0.1, 0.4, 0.7, 0.95])
    at = [below(v) for v in np.quantile(values, levels)]
    outside = not (law.lower <= values.min() and values.max() <= law.upper)
    return np.inf if outside else np.abs(at - levels).max(), abs(below(law.upper) - 1)


@pytest.mark.parametrize("name", NUMBERS)
def test_the_law_is_that_of_draws(name):
    of_draws, of_1 = misses(name)
    assert of_draws < 0.005
    assert of_1 < 1e-8


@pytest.mark.parametrize("x", [F(1, 3), F(7, 8), F(1, 1000)])
def test_closed_forms(x):
    at = float(x)
    truths = {
        "two": -math.log(at),
        "three": math.log(at) ** 2 / 2,
        "scaled": 2 - 2 * at,  # the integral of 8 v (1/2) / v over v from x/2 to 1/2
    }
    for name, truth in truths.items():
        law = law_of(name).written()
        assert float(float64.evaluate(law.graph, {"x": at})) == pytest.approx(truth, rel=1e-13)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (2 * x[0] - 1) * x[1],  # it has both signs: a pole inside
        lambda x: x[0] * x[0],
        lambda x: x[0] * (x[0] + x[1]),  # not independent
        lambda x: x[0] * np.exp(x[1]),
        lambda x: (x[0] * x[1] + x[2]) * x[3],
    ],
)
def test_others_are_left_alone(function):
    names = ("x0", "x1", "x2", "x3")
    of = {name: fmpq_poly([1]) for name in names}
    assert product_law(trace(function, (names,), ()), of, [(0.0, 1.0)] * 4) is None


def no_logarithm(patch):
    patch.setattr(product_density.Term, "power", 0)


def no_jacobian(patch):
    patch.setattr(
        product_density.ProductLaw, "turned", lambda law, times, plus: law._replace(plus=plus)
    )


def one_piece(patch):
    before = product_density._of_two_pieces
    patch.setattr(product_density, "_of_two_pieces", lambda p, q: before(p, q)[:1])


def no_value_at_1(patch):
    before = product_density._times
    patch.setattr(
        product_density,
        "_times",
        lambda found, terms: {k: v for k, v in before(found, terms).items() if k[1]} or {(0, 0): 1},
    )


@pytest.mark.parametrize("broken", [no_logarithm, no_jacobian, one_piece, no_value_at_1])
def test_broken_laws_are_seen(broken, monkeypatch):
    broken(monkeypatch)
    found = [misses(name) for name in ("scaled", "away from 0", "turned", "beta")]
    assert any(a > 0.01 or b > 1e-6 for a, b in found)


# -- graphs of one number -------------------------------------------------------------------------

ABOUT_ONE = {  # graphs of y and two secrets, the number, and what they are of it
    "plain": (lambda y, x: abs(y - x[0] * x[1]), lambda y, v: abs(y - v)),
    "sign": (lambda y, x: np.exp(-abs(y + (-x[0]) * x[1])), lambda y, v: np.exp(-abs(y - v))),
    "spread": (
        lambda y, x: abs(y - x[0] * x[1]) + np.tanh(1 - 2 * x[1] * x[0]),
        lambda y, v: abs(y - v) + np.tanh(1 - 2 * v)),
    "maximum": (
        lambda y, x: abs(y - np.maximum(x[0], x[1])) * (3 * np.maximum(x[0], x[1]) - 1),
        lambda y, v: abs(y - v) * (3 * v - 1)),
    "square": (
        lambda y, x: abs(y - (x[0] - x[1]) ** 2) + np.exp(x[0] * x[1] - x[0] * x[0]), None),
    "expanded": (
        lambda y, x: abs(y - (x[0] - x[1]) * (x[0] - x[1])) + np.exp(
            2 * x[0] * x[1] - x[0] * x[0] - x[1] * x[1]),
        lambda y, v: abs(y - v) + np.exp(-v)),
    "two numbers": (lambda y, x: abs(y - x[0] * x[1]) * x[0], None),
    "another": (lambda y, x: abs(y - x[0] * x[1]) * np.exp(x[0] * x[1] * x[1]), None),
}  # fmt: skip


@pytest.mark.parametrize("name", ABOUT_ONE)
def test_graphs_of_one_number(name):
    function, of_one = ABOUT_ONE[name]
    graph = trace(function, ("y", ("x0", "x1")), ())
    found = through_one_number([graph], ("x0", "x1"))
    if of_one is None:
        assert found is None
        return
    rng = np.random.default_rng(2)
    y, a, b = rng.uniform(-2, 2, (3, 50))
    v = float64.evaluate(found.number, {"x0": a, "x1": b})
    at = float64.evaluate(found.graphs[0], {"y": y, "x": v})
    assert at == pytest.approx(function(y, (a, b)), rel=1e-12)
    # the number may be a multiple of the one above, plus another
    times = (v[1] - v[0]) / (np.diff(float64.evaluate(found.number, {"x0": a[:2], "x1": b[:2]}))[0])
    assert times == pytest.approx(1)


def test_a_smooth_kernel_needs_no_law_of_a_product():
    names = ("x0", "x1")
    prior = trace(lambda x: 1 + 0 * x[0], (names,), ())
    smooth = trace(lambda y, x: np.exp(-((y - x[0] * x[1]) ** 2)), ("y", names), ())
    kinked = trace(lambda y, x: np.exp(-abs(y - x[0] * x[1])), ("y", names), ())
    about = prior, [0.0, 0.0], [1.0, 1.0]
    assert scalar_statistic.reduced([smooth], *about, log=False) is None
    assert scalar_statistic.reduced([kinked], *about, log=False) is not None
    mass = trace(lambda x: np.exp(-x[0] * x[1]), (names,), ())
    assert scalar_statistic.reduced([smooth, mass], *about, log=False) is not None


# -- figures --------------------------------------------------------------------------------------

PAIR = bl.uniform(UNIT * UNIT)
NOISE = PAIR * bl.Mechanism(
    lambda y, x: np.exp(-abs(y - x[0] * x[1])) / 2, secret=UNIT * UNIT, outcome=bl.Reals()
)


def marginal(y):
    """Return f_Y of Laplace noise on a product of two, by the law -log v of that."""
    with mp.workdps(30):
        cuts = sorted({mp.mpf(0), mp.mpf(1), *(mp.mpf(4) ** -k for k in range(1, 30))})
        cuts = sorted({*cuts, mp.mpf(y)}) if 0 < y < 1 else cuts
        return mp.quad(lambda v: -mp.log(v) * mp.exp(-abs(y - v)) / 2, cuts)


@pytest.mark.parametrize("y", [-1.0, 0.02, 0.4, 2.0])
def test_laplace_noise_on_a_product(y):
    top = mp.exp(-max(0, -mp.mpf(y), mp.mpf(y) - 1)) / 2
    least = mp.exp(-max(abs(mp.mpf(y)), abs(1 - mp.mpf(y)))) / 2
    f_y = marginal(mp.mpf(y))
    for kind, truth in ((bl.pml, mp.log(top / f_y)), (bl.pmc, mp.log(f_y / least))):
        bound = kind(NOISE)(y)
        assert bound.status == "certified"
        assert bound.lower <= truth <= bound.upper <= bound.lower + 1e-8


@pytest.mark.truths
@pytest.mark.parametrize("name", ["PMC", "E e^PML"])
def test_figures_over_outcomes_and_their_certificates(name):
    if name == "PMC":
        bound, truth = bl.pmc(NOISE).sup(), mp.log(2 * marginal(0)) + 1
    else:
        bound, truth = bl.pml(NOISE).exp_mean(), mp.mpf(3) / 2
    assert bound.status == "certified"
    assert bound.lower <= truth <= bound.upper <= bound.lower + 2e-8


def test_clipped_noise_on_a_product():
    """Gaussian noise on x0 x1, clipped to (0, 1): the atoms' masses read (-x0) x1 and x0 x1 - 1."""
    mechanism = bl.Mechanism(
        lambda y, x: np.exp(-((y - x[0] * x[1]) ** 2) / 2) / np.sqrt(2 * np.pi),
        secret=UNIT * UNIT,
        outcome=bl.Mixed(UNIT, atoms=[0.0, 1.0]),
        masses={
            0.0: lambda x: special.ndtr(-x[0] * x[1]),
            1.0: lambda x: special.ndtr(x[0] * x[1] - 1),
        },
    )
    joint = PAIR * mechanism
    with mp.workdps(30):
        cuts = [mp.mpf(0), *(mp.mpf(4) ** -k for k in range(30, -1, -1))]
        at_0 = mp.quad(lambda v: -mp.log(v) * mp.ncdf(-v), cuts)
        at_1 = mp.quad(lambda v: -mp.log(v) * mp.ncdf(v - 1), cuts)
        truths = {0.0: mp.log(mp.ncdf(0) / at_0), 1.0: mp.log(mp.ncdf(0) / at_1)}
    for y, truth in truths.items():
        bound = bl.pml(joint)(y)
        assert bound.lower <= truth <= bound.upper <= bound.lower + 1e-8
    bound = bl.pml(joint).sup()
    assert bound.lower <= max(truths.values()) <= bound.upper <= bound.lower + 1e-8
