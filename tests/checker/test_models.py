"""Taylor models of the checker hold the values of functions, on boxes and towards ends."""

import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
from flint import arb
from scipy import special

from borel.checker.graph import Density
from borel.checker.joints import along
from borel.checker.models import Model, constant, coordinate, everywhere, monomial, unknown, working
from borel.checker.operations import FUNCTIONS
from borel.checker.polynomials import Polynomial, S, U
from borel.checker.reading import Refused
from borel.numerics.graphs.trace import trace


def density(f, *names):
    return Density({"graph": trace(f, names, ()).to_json(), "log": False}, names, "f")


def ends(ball):
    return [mp.mpf(end.str(45, radius=False)) for end in (ball.lower(), ball.upper())]


def enclosure(model, s, u, t):
    """What a model says of its value at a point, by its terms."""
    with mp.workdps(60):
        low = high = mp.mpf(0)
        for (e, k), p in model.terms.items():
            for i, j, ball in p.terms():
                factor = s**i * u**j * t ** (mp.mpf(F(e).numerator) / F(e).denominator)
                factor *= mp.log(t) ** k
                found = [end * factor for end in ends(ball)]
                low, high = low + min(found), high + max(found)
        a, ball = model.rest
        found = [end * t ** (mp.mpf(F(a).numerator) / F(a).denominator) for end in ends(ball)]
        return low + min(found), high + max(found)


def holds(model, s, u, t, value):
    with mp.workdps(60):
        room = mp.mpf(10) ** -25 * (1 + abs(value))
        if model.rest[1].is_finite():
            low, high = enclosure(model, mp.mpf(s), mp.mpf(u), mp.mpf(t))
            assert low - room <= value <= high + room
        for end, sign in ((model.low, 1), (model.high, -1)):
            assert not end.is_finite() or sign * (value - ends(end)[0]) >= -room
        power, least, _ = model.folded()
        if least.is_finite():
            scale = mp.mpf(t) ** (mp.mpf(F(power).numerator) / F(power).denominator)
            assert value >= ends(least)[0] * scale - room
            assert value >= ends(model.least())[0] * scale - room or power != 0


LOW, HIGH = 0.3, 0.9
FORMS = {
    "exp": (lambda y, x: np.exp(-((y - x) ** 2)), lambda y, x: mp.exp(-((y - x) ** 2))),
    "quotient": (lambda y, x: 1 / (1 + (y - x) ** 2), lambda y, x: 1 / (1 + (y - x) ** 2)),
    "log": (lambda y, x: np.log(x + y), lambda y, x: mp.log(x + y)),
    "root": (lambda y, x: np.sqrt(x * y), lambda y, x: mp.sqrt(x * y)),
    "power": (lambda y, x: x**1.5 * y**-0.5, lambda y, x: x**1.5 * y**-0.5),
    "whole power": (lambda y, x: (x - y) ** 3, lambda y, x: (x - y) ** 3),
    "inverse power": (lambda y, x: (x + y) ** -2.0, lambda y, x: (x + y) ** -2),
    "kink": (lambda y, x: np.exp(-np.abs(y - x)), lambda y, x: mp.exp(-abs(y - x))),
    "max": (lambda y, x: np.maximum(y, x), lambda y, x: max(x, y)),
    "min": (lambda y, x: np.minimum(y * y, x), lambda y, x: min(x, y * y)),
    "jump": (lambda y, x: np.where(x < y, 2.0, x), lambda y, x: mp.mpf(2) if x < y else x),
    "tests": (
        lambda y, x: np.where(np.logical_or(x > y + 0.1, y > 0.8), x, y),
        lambda y, x: x if x > y + 0.1 or y > 0.8 else y,
    ),
    "and": (
        lambda y, x: np.where(np.logical_and(x >= 0.3, y <= 0.9), x, y),
        lambda y, x: x,
    ),
    "expit": (lambda y, x: special.expit(3 * x - y), lambda y, x: 1 / (1 + mp.exp(y - 3 * x))),
    "tanh": (lambda y, x: np.tanh(x - y), lambda y, x: mp.tanh(x - y)),
    "ndtr": (lambda y, x: special.ndtr(x - 2 * y), lambda y, x: mp.ncdf(x - 2 * y)),
    "erf": (lambda y, x: special.erf(x * y), lambda y, x: mp.erf(x * y)),
    "sin": (lambda y, x: np.sin(3 * x) + np.cos(y), lambda y, x: mp.sin(3 * x) + mp.cos(y)),
    "atan": (lambda y, x: np.arctan(x - y), lambda y, x: mp.atan(x - y)),
    "gamma": (lambda y, x: special.gammaln(x + y), lambda y, x: mp.loggamma(x + y)),
    "beta": (
        lambda y, x: special.betaln(x, y),
        lambda y, x: mp.loggamma(x) + mp.loggamma(y) - mp.loggamma(x + y),
    ),
    "logaddexp": (
        lambda y, x: np.logaddexp(x, 2 * y),
        lambda y, x: mp.log(mp.exp(x) + mp.exp(2 * y)),
    ),
    "log1p": (lambda y, x: np.log1p(-x * y), lambda y, x: mp.log(1 - x * y)),
    "expm1": (lambda y, x: np.expm1(x - y), lambda y, x: mp.exp(x - y) - 1),
    "xlogy": (lambda y, x: special.xlogy(y, x), lambda y, x: y * mp.log(x)),
}


@pytest.mark.few(13)
@pytest.mark.parametrize("degree", [1, 3, 8])
@pytest.mark.parametrize("name", FORMS)
def test_functions_on_a_box(name, degree):
    f, truth = FORMS[name]
    rng = np.random.default_rng(degree)
    with working(128, degree), mp.workdps(40):
        for width in (0.6, 0.05):
            a, b = LOW, LOW + 0.1
            x = coordinate(S, constant(a), constant(a + width))
            y = coordinate(U, constant(b), constant(b + width * 0.8))
            found = density(f, "y", "x").value(y=y, x=x)
            for s, u in rng.uniform(-1, 1, (12, 2)):
                px = mp.mpf(a) + (mp.mpf(a + width) - mp.mpf(a)) * (1 + mp.mpf(s)) / 2
                top = mp.mpf(b + width * 0.8)
                py = mp.mpf(b) + (top - mp.mpf(b)) * (1 + mp.mpf(u)) / 2
                holds(found, s, u, 0.5, truth(py, px))


TOWARDS = {
    "normal": (lambda y, x: np.exp(-0.5 * (y - x) ** 2), lambda y, x: mp.exp(-((y - x) ** 2) / 2)),
    "cauchy": (lambda y, x: 1 / (1 + (y - x) ** 2), lambda y, x: 1 / (1 + (y - x) ** 2)),
    "power": (lambda y, x: y**-1.5 * (1 + x), lambda y, x: y ** mp.mpf(-1.5) * (1 + x)),
    "log": (lambda y, x: np.log(y + x) ** 2, lambda y, x: mp.log(y + x) ** 2),
    "log of it": (lambda y, x: np.log(y) * np.exp(-y), lambda y, x: mp.log(y) * mp.exp(-y)),
    "logistic": (lambda y, x: special.expit(y - x), lambda y, x: 1 / (1 + mp.exp(x - y))),
    "odd": (lambda y, x: y * np.exp(-y) + x / y, lambda y, x: y * mp.exp(-y) + x / y),
    "max": (lambda y, x: np.maximum(y, x), lambda y, x: max(y, x)),
}


@pytest.mark.parametrize("name", TOWARDS)
@pytest.mark.parametrize("where", ["infinity", "zero"])
def test_functions_towards_an_end(name, where):
    f, truth = TOWARDS[name]
    edges = (2.0, math.inf) if where == "infinity" else (0.0, 0.25)
    rng = np.random.default_rng(1)
    with working(128, 6), mp.workdps(40):
        side = "upper" if where == "infinity" else "lower"
        y, _ = along(*edges, {"germ": side, "power": "1/1"}, "y")
        x = coordinate(S, constant(0.25), constant(0.75))
        found = density(f, "y", "x").value(y=y, x=x)
        for s, t in rng.uniform(0, 1, (12, 2)) ** [1, 4]:
            t = mp.mpf(t)
            place = 2 / t if where == "infinity" else t / 4
            holds(found, 2 * s - 1, 0.0, t, truth(place, mp.mpf(0.5) + (2 * s - 1) / mp.mpf(4)))


@pytest.mark.parametrize(("power", "logs"), [(-0.5, 0), (0, 1), (1, 2), (F(1, 3), 1)])
def test_integrals_towards_an_end(power, logs):
    with working(128, 8), mp.workdps(40):
        v = Model({(F(power), logs): Polynomial.of([(0, 0, arb(1))])}, (F(1), arb(0, 1)))
        found = v.integral(None)
        e = mp.mpf(F(power).numerator) / F(power).denominator
        truth = (-1) ** logs * mp.factorial(logs) / (e + 1) ** (logs + 1)
        low, high = enclosure(found, mp.mpf(0), mp.mpf(0), mp.mpf(1))
        assert low <= truth - mp.mpf(1) / 2 and truth + mp.mpf(1) / 2 <= high < truth + 1


def test_an_integral_that_diverges_is_not_known():
    with working(128, 8):
        for v in (monomial(arb(1), -1, arb(0), arb.pos_inf()), Model({}, (-2, arb(0, 1)))):
            assert not v.integral(None).high.is_finite()


@pytest.mark.parametrize("seed", range(20))
def test_the_least_value_of_a_polynomial(seed):
    rng = np.random.default_rng(seed)
    terms = [(i, j, arb(float(rng.normal()) / (1 + i + j))) for i in range(4) for j in range(3)]
    if seed % 3 == 0:
        terms = [(i, j, b) for i, j, b in terms if i < 2 and j < 2]
    if seed % 3 == 1:
        terms.append((2, 0, arb(3)))
    p = Polynomial.of(terms)
    s, u = np.meshgrid(np.linspace(-1, 1, 41), np.linspace(-1, 1, 41))
    values = sum(float(b) * s**i * u**j for i, j, b in terms)
    low, high = p.range()
    assert float(low) <= values.min() and values.max() <= float(high)
    assert float(p.least()) <= values.min() + 1e-12
    if seed % 3 == 0:
        assert math.isclose(float(low), values.min()) and math.isclose(float(high), values.max())


def test_what_a_product_leaves_out_is_bounded():
    p = Polynomial.of([(i, j, arb(1)) for i in range(4) for j in range(4)])
    found, lost = p.product(p, 3)
    assert max(i + j for i, j, _ in found.terms()) == 3
    kept = sum(float(b) for _, _, b in found.terms())
    assert kept + float(lost) >= 256 - 1e-9


@pytest.mark.parametrize(
    ("f", "known"),
    [
        (lambda x: np.log(x), True),  # infinite at 0 only
        (lambda x: np.log(x - 1), False),
        (lambda x: np.log(np.maximum(x - 0.5, 0.0)), False),  # infinite on half of it
        (lambda x: 1 / np.maximum(x - 0.5, 0.0), False),
        (lambda x: 1 / x, True),
        (lambda x: 1 / (x - 0.5), True),
        (lambda x: np.sqrt(x), True),
        (lambda x: np.sqrt(x - 0.5), False),
        (lambda x: np.where(x > 0, np.log(x), 0.0), True),
        (lambda x: np.where(x > 0.5, np.log(x - 0.5), 0.0), False),  # not of the whole cell
        (lambda x: (x > 0.5) * 1.0, True),
        (lambda x: np.inf + x, False),
        (lambda x: 1 - (x + -np.inf), False),
        (lambda x: np.exp(x + -np.inf), True),
        (lambda x: np.exp(np.where(x > 0.5, -np.inf, 0.0)), True),
        (lambda x: 0 * np.where(x > 0.5, -np.inf, 0.0), False),
        (lambda x: special.gammaln(x + 1), True),
        (lambda x: special.gammaln(x - 1), False),
        (lambda x: np.arctan(1 / (x - 0.5)), True),
        (lambda x: special.xlogy(0.0, x - 2), True),
    ],
)
def test_what_is_known_to_be_a_number(f, known):
    with working(128, 8):
        x = coordinate(S, constant(0), constant(1))
        if known:
            assert density(f, "x").value(x=x).real
        else:
            with pytest.raises(Refused):
                density(f, "x").value(x=x)


def test_almost_everywhere_is_not_everywhere():
    with working(128, 8):
        x = coordinate(S, constant(0), constant(1))
        speck = density(lambda x: np.where(x == 0.25, 9.0, 1.0), "x")
        assert speck.value(x=x).high == 1
        with everywhere():
            assert speck.value(x=x).high == 9
        assert speck.value(x=x).high == 1


def test_models_of_nothing_are_not_numbers():
    with working(128, 8):
        nothing = unknown(arb("nan"), arb("nan"))
        assert nothing.signs() == {-1, 0, 1} and not nothing.least() >= 0
        for name in ("log", "sqrt", "reciprocal"):
            with pytest.raises(Refused):
                FUNCTIONS[name](nothing)
        for value in (math.inf, math.nan):
            with pytest.raises(Refused):
                constant(value)
        assert not constant(-math.inf).real
