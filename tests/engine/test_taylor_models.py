"""Taylor models: polynomials with balls, and ranges, hold the values of a function."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy import special

from borel.numerics.balls import taylor_models
from borel.numerics.balls.power_sums import INF
from borel.numerics.balls.taylor_models import (
    DEGREE,
    FUNCTIONS,
    TaylorModel,
    between,
    of_interval,
    run,
)
from borel.numerics.graphs.trace import trace

BITS = 128


def exactly(number):
    return fmpq(number.numerator, number.denominator)


def at(found, u):
    """Return a ball: what the polynomial of a model says at u."""
    return sum((b * arb(u) ** j for j, b in found.terms.items()), arb(0))


@pytest.mark.parametrize("seed", range(40))
def test_ranges_integrals_and_products_of_polynomials(seed):
    """Random polynomials whose coefficients vary within balls, against exact sums."""
    rng = np.random.default_rng(seed)
    radius = float(rng.choice([0.0, 1e-9, 1e-2]))
    chosen = [int(j) for j in rng.permutation(DEGREE + 1)[: rng.integers(1, 7)]]
    middles = [Fraction(int(rng.integers(-64, 65)), 2 ** int(rng.integers(0, 12))) for _ in chosen]
    points = [Fraction(k, 32) for k in range(-32, 33, 4)]
    a, b = Fraction(1, 4), Fraction(3, 2)
    with ctx.workprec(300):
        made = TaylorModel({j: arb(float(c), radius) for j, c in zip(chosen, middles, strict=True)})
        low, high = made.integral(float(a), float(b))
        square = made * made
        for _ in range(6):
            off = [Fraction(radius) * Fraction(int(rng.integers(-8, 9)), 8) for _ in chosen]
            c = {j: m + d for j, m, d in zip(chosen, middles, off, strict=True)}
            values = [sum(v * u**j for j, v in c.items()) for u in points]
            assert made.low <= exactly(min(values)) and exactly(max(values)) <= made.high
            whole = sum(v * (1 - (-1) ** (j + 1)) / (j + 1) for j, v in c.items()) * (b - a) / 2
            assert low <= exactly(whole) <= high
            for u, v in zip(points, values, strict=True):
                assert (at(square, exactly(u)) - exactly(v * v)).contains(0)
                assert square.low <= exactly(v * v) <= square.high


@pytest.mark.parametrize("varying", [1, -1])
def test_an_integral_of_a_coefficient_that_varies(varying):
    """c(u) u is integrated for any c between 1 and 3: 3 where u > 0, and 1 elsewhere, or so."""
    low, high = TaylorModel({1: arb(2, 1)}).integral(-1.0, 1.0)
    assert low <= varying <= high and high - low < 2.001


MODELS = {
    "exp": (np.exp, mp.exp, 0.25, 1.0),
    "log": (np.log, mp.log, 0.5, 1.0),
    "log1p": (np.log1p, mp.log1p, 0.25, 1.0),
    "expm1": (np.expm1, mp.expm1, -0.5, 0.5),
    "sqrt": (np.sqrt, mp.sqrt, 0.5, 1.0),
    "sin": (np.sin, mp.sin, 0.0, 1.0),
    "cos": (np.cos, mp.cos, 0.0, 1.0),
    "tanh": (np.tanh, mp.tanh, -0.25, 0.25),
    "arctan": (np.arctan, mp.atan, 0.0, 0.5),
    "gammaln": (special.gammaln, mp.loggamma, 2.0, 2.125),
    "erf": (special.erf, mp.erf, 0.0, 0.5),
    "ndtr": (special.ndtr, mp.ncdf, -0.5, 0.5),
    "expit": (special.expit, lambda x: 1 / (1 + mp.exp(-x)), -0.5, 0.5),
    "reciprocal": (lambda x: 1 / x, lambda x: 1 / x, 1.0, 2.0),
    "square": (np.square, lambda x: x * x, -1.0, 1.0),
    "cube": (lambda x: x**3, lambda x: x**3, -1.0, 1.0),
    "power": (lambda x: x**1.5, lambda x: x ** mp.mpf(1.5), 1.0, 2.0),
    "absolute": (np.abs, abs, -1.0, 1.0),
    "maximum": (lambda x: np.maximum(x, 1 - x), lambda x: max(x, 1 - x), 0.0, 1.0),
    "minimum": (lambda x: np.minimum(x, 1 - x), lambda x: min(x, 1 - x), 0.0, 1.0),
    "where": (
        lambda x: np.where(x < 0.5, x * x, 1 - x),
        lambda x: x * x if x < 0.5 else 1 - x,
        0.0,
        1.0,
    ),
    "logaddexp": (
        lambda x: np.logaddexp(x, -2 * x),
        lambda x: mp.log(mp.exp(x) + mp.exp(-2 * x)),
        0.0,
        1.0,
    ),
    "xlogy": (lambda x: special.xlogy(x, x), lambda x: x * mp.log(x), 0.5, 1.0),
    "betaln": (lambda x: special.betaln(x, 2), lambda x: mp.log(mp.beta(x, 2)), 2.0, 2.125),
}


def model_of(name):
    function, _, a, b = MODELS[name]
    graph = trace(lambda y, x: function(x) + 0 * y, ("y", "x"), ())
    with ctx.workprec(BITS):
        return run((graph, False), False, of_interval(a, b), of_interval(0.25, 0.5))


def misses(name):
    """Return the points at which values, or the integral, are not within what a model says."""
    _, truth, a, b = MODELS[name]
    found = model_of(name)
    missed = []
    with ctx.workprec(BITS), mp.workdps(40):
        for u in np.linspace(-1, 1, 9):
            x = mp.mpf(a + b) / 2 + mp.mpf(b - a) / 2 * mp.mpf(float(u))
            exact = arb(mp.nstr(truth(x), 36), 1e-30)
            inside = found.low <= exact.upper() and exact.lower() <= found.high
            if found.steady:
                inside = inside and at(found, float(u)).overlaps(exact)
            missed += [] if inside else [u]
        low, high = found.integral(a, b)
        whole = arb(mp.nstr(mp.quad(truth, [a, (a + b) / 2, b]), 30), 1e-20)
        missed += [] if low <= whole.upper() and whole.lower() <= high else ["integral"]
    return missed


@pytest.mark.parametrize("name", MODELS)
def test_functions_are_enclosed(name):
    assert not misses(name)


SHARP = [n for n in MODELS if n not in ("absolute", "maximum", "minimum", "where")]


@pytest.mark.parametrize("name", SHARP)
def test_integrals_of_smooth_functions_are_sharp(name):
    _, _, a, b = MODELS[name]
    with ctx.workprec(BITS):
        low, high = model_of(name).integral(a, b)
        assert high - low < 1e-2


@pytest.mark.parametrize("u", [-6.0, -1.25, 0.0, 0.5, 3.0])
def test_the_normal_distribution_function(u):
    with ctx.workprec(BITS):
        found = FUNCTIONS["ndtr"](of_interval(u - 0.25, u + 0.25))
        for s in (-1, -0.5, 0, 1):
            exact = float(mp.ncdf(u + s / 4))
            value = at(found, s)
            assert abs(float(value) - exact) < 1e-2 * exact
            assert value.overlaps(arb(exact, 1e-14))
            assert found.low <= exact * (1 + 1e-14) and exact * (1 - 1e-14) <= found.high


@pytest.mark.parametrize(
    ("function", "real"),
    [
        (lambda x: np.log(x), True),  # infinite at 0 only
        (lambda x: np.log(x - 1), False),
        (lambda x: np.log(0 * x), False),
        (lambda x: np.log(np.maximum(x - 0.5, 0.0)), False),  # infinite on half of it
        (lambda x: 1 / np.maximum(x - 0.5, 0.0), False),
        (lambda x: 1 / x, True),
        (lambda x: np.sqrt(x), True),
        (lambda x: np.sqrt(x - 0.5), False),
        (lambda x: np.where(x > 0, np.log(x), 0.0), True),
        (lambda x: np.where(x > 0.5, np.log(x - 0.5), 0.0), False),  # not known of the whole cell
        (lambda x: (x > 0.5) * 1.0, True),
        (lambda x: np.inf + x, False),
        (lambda x: special.gammaln(x + 1), True),
    ],
)
def test_what_is_known_to_be_a_number(function, real):
    graph = trace(lambda y, x: function(x) + 0 * y, ("y", "x"), ())
    with ctx.workprec(BITS):
        found = run((graph, False), False, of_interval(0.0, 1.0), of_interval(0.25, 0.5))
    assert bool(found.real) is real


def test_what_is_not_known_of_a_function_is_not_claimed():
    """On a wide interval Arb has no series of log-gamma."""
    with ctx.workprec(BITS):
        low, high = FUNCTIONS["gammaln"](of_interval(2.0, 3.0)).integral(2.0, 3.0)
    with mp.workdps(30):
        truth = float(mp.quad(mp.loggamma, [2, 3]))
    assert not low > truth and not high < truth


def test_what_is_no_number_has_any_sign():
    assert TaylorModel({0: arb(1)}, real=False).signs() == {0, 1, -1}
    assert TaylorModel({0: arb(1)}).signs() == {1}
    assert not TaylorModel({0: arb(0), 1: arb(1)}, -INF, INF, True, False).positive().real


def test_the_integral_of_what_is_not_a_number():
    """The radius of NaN is 0: an odd power of it does not vanish."""
    for nan in (arb(math.nan), arb.pos_inf() - arb.pos_inf(), arb.pos_inf()):
        low, high = TaylorModel({0: arb(1), 1: nan}).integral(0.0, 1.0)
        assert not (low.is_finite() or high.is_finite())


def test_an_integral_of_a_range_alone():
    low, high = between(arb(1), arb(2)).integral(0.0, 0.5)
    assert low <= 0.5 and 1 <= high and low > 0.49 and high < 1.01


def test_the_logarithm_of_a_product_of_negative_factors():
    """log((-1)(y)) on y in (-32, -16) is above 2.7: it is not -inf."""
    graph = trace(lambda y, x: (0 * x - 1) * y, ("y", "x"), ())
    found = run((graph, False), True, of_interval(0.0, 1.0), of_interval(-32.0, -16.0))
    assert found.low <= math.log(16) + 1e-12 and math.log(32) - 1e-12 <= found.high


def test_a_broken_rule_is_seen(monkeypatch):
    """Where the remainder of Taylor's formula is forgotten, or a range, values are missed."""

    def without_remainder(v, function, low, high):
        parts = function(taylor_models.arb_series([v.start, 1], 3))
        out = {k: parts[k] * v.terms.get(1, arb(0)) ** k for k in range(3)}
        return TaylorModel(out, low, high, v.steady, v.real)

    monkeypatch.setattr(TaylorModel, "apply", without_remainder)
    assert all(misses(name) for name in ("exp", "log", "sin", "erf", "gammaln"))
