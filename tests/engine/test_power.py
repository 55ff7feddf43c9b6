"""Power-scaled enclosures: known divergences, decoys, and random graphs against 400-bit Arb.

The fuzz evaluates every node at random t in (0, t0], down to 1e-200, and random slacks, and asks
that it lies in its enclosure, with no tolerance. The tests at the end break a rule on purpose.
"""

import itertools
import math
import operator

import numpy as np
import oracles as o
import pytest
from engine.blind_infinities import DECOYS, INFINITIES
from flint import arb, ctx
from scipy import special

import borel as bl
from borel.numerics.germs import arithmetic, functions, interpreter
from borel.numerics.germs.arithmetic import Rules
from borel.numerics.germs.functions import PARTIALS
from borel.numerics.germs.interpreter import (
    UNKNOWN,
    Infinite,
    Log,
    Power,
    PowerProgram,
    Truth,
    exponent,
    limits,
    range_of,
    ray,
    slack,
    weight,
)
from borel.numerics.germs.values import box
from borel.numerics.graphs import rewrite
from borel.numerics.graphs.graph import Graph
from borel.numerics.graphs.trace import trace

INF = math.inf
T0 = 2.0**-10
T, INVERSE = ray(0, 1, 1, 1), ray(0, -1, 1, 1)
WEDGE = ray(0, 1, 0.25, 0.75)  # s t with s in [1/4, 3/4]


def run(density, x, y=T, *, t0=T0, derivative=None):
    graph = density if isinstance(density, Graph) else trace(density, ("y", "x"), ())
    return PowerProgram(graph).run({"y": y, "x": x}, t0, derivative=derivative)


def near(found, low, high):
    assert np.allclose(found, (low, high), rtol=1e-3, atol=0)


# -- densities that run off to infinity, or to 0 -------------------------------------------------


def mixture(y, x):
    return 0.1 + 0.9 * 2 * x * y / (x + y - x * y) ** 3


def test_the_clayton_mixture_blows_up_like_one_over_t():
    found = run(mixture, WEDGE)
    assert exponent(found) == (-1, -1) and limits(found) == (INF, INF)
    assert 0.08 < weight(found)[0] < weight(found)[1] < 0.7
    found = run(lambda y, x: np.log(mixture(y, x)), WEDGE)
    assert exponent(found) == (-1, -1) and limits(found) == (INF, INF)


@pytest.mark.parametrize("theta", [0.5, 1.0, 2.3])
def test_the_clayton_mechanism_in_logarithms(theta):
    density = bl.mechanisms.clayton(eta=0.1, theta=theta).density
    found = run(density.graph, WEDGE)
    assert isinstance(found, Log) and limits(found) == (INF, INF)
    low, high = exponent(found)
    # 1 + 1/theta is rounded in the graph
    assert -1 - 1e-14 < low <= high < -1 + 1e-14
    exact = {0.5: True, 1.0: True, 2.3: False}[theta]
    assert (low == high == -1) is exact


@pytest.mark.parametrize("x", [slack(0.5, 1), ray(0, 2, 0.25, 0.75), ray(0, 0.5, 0.25, 0.75)])
def test_the_clayton_mixture_is_bounded_on_other_rays(x):
    low, high = limits(run(mixture, x))
    assert 0.1 <= low * (1 + 1e-9) and high < 100


@pytest.mark.parametrize(
    "density",
    [
        lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi),
        lambda y, x: np.exp(-np.abs(y - x)) / 2,
        lambda y, x: 1 / (np.pi * (1 + (y - x) ** 2)),
    ],
    ids=["gaussian", "laplace", "cauchy"],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_noise_on_an_unbounded_secret_vanishes(density, sign):
    x = ray(0, -1, sign, sign)
    found = run(density, x, slack(0.5, 0.6))
    assert limits(found) == (0, 0)
    log = run(lambda y, x: np.log(density(y, x)), x, slack(0.5, 0.6))
    assert log == UNKNOWN or limits(log) == (-INF, -INF)


def test_rates_of_noise_at_infinity():
    gauss = run(lambda y, x: -((y - x) ** 2) / 2, INVERSE, slack(0.5, 0.6))
    assert exponent(gauss) == (-2, -2)
    near(weight(gauss), -0.5, -0.4994141)
    cauchy = run(lambda y, x: 1 / (np.pi * (1 + (y - x) ** 2)), INVERSE, slack(0.5, 0.6))
    assert exponent(cauchy) == (2, 2)
    near(weight(cauchy), 0.31831, 0.31868)
    rate = run(lambda y, x: np.log(x) - x * y, slack(1, 1.5), INVERSE)
    assert exponent(rate) == (-1, -1) and limits(rate) == (-INF, -INF)


def test_decoys():
    found = run(lambda y, x: x / (x + y), WEDGE)
    assert exponent(found) == (0, 0)
    near(weight(found), 1 / 7, 0.6)
    found = run(lambda y, x: x * y / (x + y), WEDGE)
    assert exponent(found) == (1, 1) and limits(found) == (0, 0)
    near(weight(found), 1 / 7, 0.6)


BOUNDED = {
    "a quotient of two sums": (lambda y, x: (x + y) / (x + 2 * y), WEDGE, T),
    "a removable quotient": (lambda y, x: np.expm1(x * y) / (x * y), WEDGE, T),
    "a logarithm of a ratio": (lambda y, x: np.log(x / y), WEDGE, T),
    "differences of logarithms": (lambda y, x: np.log(x) - np.log(y), WEDGE, T),
    "a guard": (lambda y, x: 1 / np.maximum(x, 1e-300), WEDGE, T),
    "a guarded logarithm": (lambda y, x: -np.log(np.maximum(x, 1e-300)), WEDGE, T),
    "x log x": (lambda y, x: x * np.log(x), WEDGE, T),
    "a clipped blow-up": (lambda y, x: np.minimum(1 / x, 1e30), WEDGE, T),
    "a slow wave": (lambda y, x: np.sin(np.log(y)), WEDGE, T),
    "a wave of either sign": (lambda y, x: np.sin(np.log(y)) / x, WEDGE, T),
    "opposite poles": (lambda y, x: 1 / x - 1 / y, WEDGE, ray(0, 1, 0.25, 0.75)),
    "a softplus": (lambda y, x: np.logaddexp(0, -y), WEDGE, INVERSE),
    "a pole that is not reached": (lambda y, x: 1 / (y - x), ray(0.5, 1, -1, 1), slack(0.25, 0.3)),
    "a pole inside the box": (lambda y, x: 1 / np.abs(y - x), ray(0, 1, 0.5, 2), T),
    "a small logarithm": (lambda y, x: np.log1p(x) / y, WEDGE, T),
    "a logistic density": (
        lambda y, x: np.exp(-np.abs(y - x)) / (1 + np.exp(-np.abs(y - x))) ** 2,
        slack(0, 1),
        INVERSE,
    ),
    "a height on a null set": (
        lambda y, x: np.where(x == 0.25, 1e308, 1.0),
        ray(0.25, 1, -1, 1),
        T,
    ),
    "a power that does not blow up": (lambda y, x: y ** (x - 0.5), slack(0.5, 1), T),
}


@pytest.mark.parametrize("case", BOUNDED.values(), ids=BOUNDED)
def test_no_infinity_is_claimed_of_what_is_bounded(case):
    density, x, y = case
    found = run(density, x, y)
    assert limits(found)[0] < INF and limits(found)[1] > -INF
    if isinstance(found, Power):
        assert not (found.a[1] < 0 and (found.w[0] > 0 or found.w[1] < 0))


UNBOUNDED = {
    "a power at a point": (
        lambda y, x: np.abs(y - x) ** -0.3,
        ray(0.25, 1, 1, 2),
        slack(0.25, 0.25),
    ),
    "a jump to a power": (lambda y, x: np.where(y < x, 1 / x, 0.0), ray(0, 1, 1.5, 2), T),
    "a power of the secret": (lambda y, x: (1 + x) / 2 * y ** ((x - 1) / 2), slack(0.5, 0.6), T),
    "along a parabola": (
        lambda y, x: np.where(y < np.sqrt(x), np.where(y > np.sqrt(x) / 2, 2 / np.sqrt(x), 0), 0),
        ray(0, 2, 1.1, 3),
        T,
    ),
    "faster than any power": (lambda y, x: np.exp(1 / y - x), WEDGE, T),
    "a folded power": (
        lambda y, x: np.where(y < 0.25, 1 - 4 * y, (4 * y - 1) / 3) ** -0.5,
        slack(0, 1),
        ray(0.25, 1, -1, -1),
    ),
    "log x over x": (lambda y, x: -np.log(x) / x, WEDGE, T),
    "a mixture in logarithms": (
        lambda y, x: np.logaddexp(-2.0, np.where(y < x, -np.log(x), -np.inf)),
        ray(0, 1, 1.5, 2),
        T,
    ),
    "a sum at infinity": (lambda y, x: 3.0**y * 2.0**-x, slack(1, 2), INVERSE),
}


@pytest.mark.parametrize("case", UNBOUNDED.values(), ids=UNBOUNDED)
def test_an_infinity_is_proved(case):
    assert limits(run(*case)) == (INF, INF)


def test_exponents_around_an_irrational_number():
    found = run(lambda y, x: 3.0 ** (2 * np.log(y)) + 0 * x, WEDGE)
    low, high = exponent(found)
    with o.precision(400):
        assert arb(low) <= 2 * arb(3).log() <= arb(high)
    assert limits(found) == (0, 0)


def test_an_exponent_may_depend_on_a_slack_but_not_on_t():
    found = run(lambda y, x: (x + 0.5) * np.log(y), slack(1, 2))
    assert isinstance(found, Log) and exponent(found) == (1.5, 2.5)
    for moving in (
        lambda y, x: 1.5 + np.sin(1 / y),
        lambda y, x: np.where(np.sin(1 / y) > 0, x, x + 1),
        lambda y, x: np.maximum(x, 1.5 + np.sin(1 / y)),
        lambda y, x: x + (np.sin(1 / y) > 0),
    ):
        found = run(lambda y, x, m=moving: m(y, x) * np.log(y), slack(1, 2))
        assert not isinstance(found, Log)
        # along some t -> 0 one exponent, along others another
        found = run(lambda y, x, m=moving: y ** m(y, x), slack(1, 2))
        assert exponent(found)[0] == exponent(found)[1] == 0


# -- null sets, derivatives, infinite constants, limits -------------------------------------------


def test_an_equality_on_a_null_set_is_false_with_a_derivative():
    def altered(y, x):
        return np.where(x * x == 0.0625, 1e300, x)

    x, y = ray(0.25, 1, -1, 1), slack(0.5, 0.5)
    assert weight(run(altered, x, y))[1] >= 1e290
    value, slope = run(altered, x, y, derivative="x")
    assert limits(value) == (0.25, 0.25) and limits(slope) == (1, 1)
    # at ends that only touch
    value, _ = run(lambda y, x: np.where(x > 0.25, 1.0, 2.0), ray(0.25, 1, 0, 1), y, derivative="x")
    assert limits(value) == (1, 1)
    for test, truth in (
        (lambda y, x: x > 0.25, True),
        (lambda y, x: x <= 0.25, False),
        (lambda y, x: 0.25 >= x, False),
        (lambda y, x: 0.25 < x, True),
        (lambda y, x: x != 0.25, True),
    ):
        found = [run(test, ray(0.25, 1, 0, 1), y, derivative=name) for name in (None, "x")]
        found[1] = found[1][0]
        assert found == [Truth(None), Truth(truth)]
        assert [range_of(f, T0) for f in found] == [(0, 1), (truth, truth)]
    # where the two sides are one function the set is not null
    value, _ = run(lambda y, x: np.where(x - x == 0, 3.0, 4.0), x, y, derivative="x")
    assert range_of(value, T0) == (3, 4)
    value, _ = run(lambda y, x: np.where(y == 0.5, 3.0, 4.0), x, y, derivative="x")
    assert range_of(value, T0) == (3, 3)


def test_a_derivative_needs_an_interval_of_values():
    for x, y in ((T, T), (slack(0.5, 0.5), T), (slack(0.5, 0.5), slack(1, 2))):
        with pytest.raises(ValueError, match="interval of values"):
            run(lambda y, x: x + y, x, y, derivative="x")
    assert limits(run(lambda y, x: x + y, INVERSE, slack(1, 2), derivative="x")[1]) == (1, 1)


def test_derivatives_are_unknown_at_kinks_and_jumps():
    for density in (
        lambda y, x: np.abs(x),
        lambda y, x: np.maximum(x, y),
        lambda y, x: np.where(x < y, x, y),
        lambda y, x: np.floor(x),
        lambda y, x: x * (x < 0),
    ):
        _, slope = run(density, ray(0, 1, -2, 2), derivative="x")
        assert slope == UNKNOWN


def test_infinite_constants():
    def value(f):
        return run(lambda y, x: f(y, np.where(x > 0, -np.inf, x)), WEDGE)

    assert value(lambda y, m: m + y) == Infinite(-1) and value(lambda y, m: y - m) == Infinite(1)
    assert value(lambda y, m: m * y) == Infinite(-1) and value(lambda y, m: m - m) == UNKNOWN
    assert value(lambda y, m: m / y) == UNKNOWN and value(lambda y, m: 0 * m) == UNKNOWN
    assert limits(value(lambda y, m: np.exp(m) + 1)) == (1, 1)
    assert limits(value(lambda y, m: np.logaddexp(1, m))) == (1, 1)
    assert limits(value(lambda y, m: np.maximum(m, 2))) == (2, 2)
    assert value(lambda y, m: np.minimum(2, m)) == Infinite(-1)
    assert value(lambda y, m: np.maximum(-m, 2)) == Infinite(1)
    assert value(lambda y, m: m < y) == Truth(True) and value(lambda y, m: m == m) == Truth(True)
    assert value(lambda y, m: -m <= m) == Truth(False)
    assert value(lambda y, m: np.isfinite(m)) == Truth(False)
    assert value(lambda y, m: np.log(y - y)) == Infinite(-1)
    assert limits(Infinite(-1)) == (-INF, -INF) and range_of(Infinite(1), T0) == (INF, INF)


def test_what_is_not_known_stays_unknown():
    for density in (
        lambda y, x: np.log(x - y),
        lambda y, x: np.sqrt(x - y),
        lambda y, x: 1 / (x - 0.5 * y),
        lambda y, x: (x - y) ** 0.3,
        lambda y, x: np.log(y) ** x / (np.log(y) - np.log(x)),
        lambda y, x: np.arctanh(1 + x),
        lambda y, x: np.where(x < 0.5 * y, np.nan, 1.0),
    ):
        assert run(density, WEDGE) == UNKNOWN
        assert limits(run(density, WEDGE)) == (-INF, INF)
    assert run(lambda y, x: np.log(x - y) < 3, WEDGE) == Truth(None)
    assert range_of(UNKNOWN, T0) == (-INF, INF)
    # but what is not chosen does not matter
    assert limits(run(lambda y, x: np.where(x > 0, 1.0, np.log(x - y)), WEDGE)) == (1, 1)
    assert run(lambda y, x: (x < 0) & (np.log(x - y) < 3), WEDGE) == Truth(False)


def test_what_is_asked_wrongly():
    program = PowerProgram(trace(lambda y, x: x + y, ("y", "x"), ()))
    for t0 in (0, 1, -1, 2, math.nan):
        with pytest.raises(ValueError, match="t0"):
            program.run({"x": T, "y": T}, t0)
    for wrong in ((1, 0, 1, 1), (1, -1, 1, 1), (0, 1, 2, 1), (0, (2, 1), 1, 1), (INF, 1, 1, 1)):
        with pytest.raises(ValueError, match="ray"):
            ray(*wrong)
    assert ray(3, 1, 0, 0) == slack(3, 3)


def test_constants_that_are_not_exact_at_some_precision():
    found = run(lambda y, x: (0.3 + x) ** 15 - 0.3**15, WEDGE)
    assert -1e-20 < range_of(found, T0)[0] < 1e-20 < range_of(found, T0)[1] < 1e-6
    found = run(lambda y, x: (1e300 + x) - 1e-300, WEDGE)
    assert range_of(found, T0) == pytest.approx((1e300, 1e300))
    either = ray(0, (-1, 1), 1, 1)  # t**a, a of unknown sign
    assert limits(run(lambda y, x: np.log(y) + x, either)) == (-INF, INF)
    assert limits(run(lambda y, x: np.logaddexp(1 / y, x - 1 / y), either))[0] == INF
    assert limits(run(lambda y, x: np.abs(np.log(x)), either)) == (0, INF)
    assert limits(run(lambda y, x: np.maximum(np.log(x), np.log(y)), either)) == (-INF, INF)
    assert run(lambda y, x: np.where(np.log(x) < 0, -np.inf, 1.0), either) == UNKNOWN
    assert limits(run(lambda y, x: np.where((x < 1) > 0, x > 0, 1.0), either)) == (1, 1)


def test_functions_by_their_ranges_only():
    found = run(lambda y, x: special.gammaln(2 + x), WEDGE)
    assert limits(found)[0] <= 0 <= limits(found)[1] < 1e-3
    assert run(lambda y, x: special.gammaln(y), WEDGE, INVERSE) == UNKNOWN
    assert range_of(run(lambda y, x: np.floor(2.5 + x), WEDGE), T0) == (2, 2)
    assert run(lambda y, x: np.remainder(x, y), WEDGE) == UNKNOWN
    value, slope = run(lambda y, x: special.gammaln(2 + x), WEDGE, derivative="x")
    assert value != UNKNOWN and slope == UNKNOWN
    unheard = Graph((("input", ("x",)), ("special.unheard_of", (0,))), ("x",))
    assert PowerProgram(unheard).run({"x": T}, T0) == UNKNOWN


def test_the_precision_is_put_back():
    before = ctx.prec
    run(mixture, WEDGE)
    range_of(run(mixture, WEDGE), T0)
    assert ctx.prec == before


def test_limits_say_no_more_than_is_known():
    a = (arb(-2), arb(-1))
    assert limits(Power(arb(0), a, (arb(0), arb(1)))) == (0, INF)
    assert limits(Power(arb(0), a, (arb(1), arb("inf")))) == (INF, INF)
    assert limits(Power(arb(0), (arb(-1), arb(1)), (arb(1), arb(2)))) == (0, INF)
    assert limits(Power(arb(0), (arb(-1), arb(1)), (arb(-1), arb(2)))) == (-INF, INF)
    assert limits(Power(arb(5), (arb(1), arb(1)), (arb(1), arb("inf")))) == (5, INF)
    assert limits(Log(a, (-arb("inf"), arb(1)))) == (-INF, INF)
    assert limits(Log(a, (arb(1), arb("inf")))) == (INF, INF)
    assert limits(Log((arb(0), arb(1)), (arb(1), arb(1)))) == (-INF, INF)


# -- an oracle: values and derivatives at a point, in Arb -----------------------------------------


class Open(Exception):
    """The point decides nothing: a tie, a loss of precision, an overflow."""


class Nothing(Exception):
    """There is no value here, for certain."""


def certain(value):
    if not value.is_finite():
        raise Open
    return value


def side(value):
    if value > 0 or value < 0:
        return 1 if value > 0 else -1
    raise Open


def divided(u, v):
    if v == 0:
        raise Nothing
    return certain(u / v)


def positive(u):
    if u <= 0:
        raise Nothing
    return certain(u.log())


def rooted(u):
    if u < 0:
        raise Nothing
    return certain(u.sqrt())


def raised(u, e):
    if e == 0:
        return arb(1)
    if e.is_integer() and e.is_exact():
        n = int(e.unique_fmpz())
        return certain(u**n) if n > 0 else divided(arb(1), certain(u ** (-n)))
    if u == 0 and not e < 0:
        return arb(0) if e > 0 else certain(arb("nan"))
    return certain((e * positive(u)).exp())


def summed(u, v):
    top, low = (u, v) if side(u - v) > 0 else (v, u)
    return top + (low - top).exp().log1p()


def expit(u):
    return 1 / (1 + (-u).exp())


def cube_root(u):
    return arb(0) if u == 0 else side(u) * abs(u).root(3)


def inside(u, low, high):
    if u < low or u > high:
        raise Nothing
    return u


def bell(u):
    return (-u * u).exp() / arb.pi().sqrt()


def ln(n):
    return arb(n).log()


def larger(u, v):
    return arb(1) if side(u - v) > 0 else arb(0)


# for each operation its value, and its partial derivatives from the value f and the arguments
NUMERIC = {
    "add": (lambda u, v: u + v, lambda f, u, v: (arb(1), arb(1))),
    "subtract": (lambda u, v: u - v, lambda f, u, v: (arb(1), arb(-1))),
    "multiply": (lambda u, v: u * v, lambda f, u, v: (v, u)),
    "divide": (divided, lambda f, u, v: (1 / v, -u / (v * v))),
    "negative": (lambda u: -u, lambda f, u: (arb(-1),)),
    "positive": (lambda u: u, lambda f, u: (arb(1),)),
    "reciprocal": (lambda u: divided(arb(1), u), lambda f, u: (-1 / (u * u),)),
    "square": (lambda u: u * u, lambda f, u: (2 * u,)),
    "sqrt": (rooted, lambda f, u: (1 / (2 * f),)),
    "cbrt": (cube_root, lambda f, u: (1 / (3 * f * f),)),
    "power": (raised, lambda f, u, e: (e * raised(u, e - 1), f * u.log() if u > 0 else arb("nan"))),
    "exp": (lambda u: u.exp(), lambda f, u: (f,)),
    "exp2": (lambda u: (u * ln(2)).exp(), lambda f, u: (f * ln(2),)),
    "expm1": (lambda u: u.expm1(), lambda f, u: (u.exp(),)),
    "log": (positive, lambda f, u: (1 / u,)),
    "log2": (lambda u: positive(u) / ln(2), lambda f, u: (1 / (u * ln(2)),)),
    "log10": (lambda u: positive(u) / ln(10), lambda f, u: (1 / (u * ln(10)),)),
    "log1p": (lambda u: positive(1 + u), lambda f, u: (1 / (1 + u),)),
    "logaddexp": (summed, lambda f, u, v: (expit(u - v), expit(v - u))),
    "absolute": (lambda u: abs(u), lambda f, u: (arb(side(u)),)),
    "maximum": (
        lambda u, v: u if side(u - v) > 0 else v,
        lambda f, u, v: (larger(u, v), larger(v, u)),
    ),
    "minimum": (
        lambda u, v: v if side(u - v) > 0 else u,
        lambda f, u, v: (larger(v, u), larger(u, v)),
    ),
    "hypot": (lambda u, v: (u * u + v * v).sqrt(), lambda f, u, v: (u / f, v / f)),
    "sign": (lambda u: arb(side(u)), lambda f, u: (arb(0),)),
    "floor": (lambda u: certain(u.floor()), lambda f, u: (arb(0),)),
    "sin": (lambda u: u.sin(), lambda f, u: (u.cos(),)),
    "cos": (lambda u: u.cos(), lambda f, u: (-u.sin(),)),
    "tan": (lambda u: u.tan(), lambda f, u: (1 + f * f,)),
    "sinh": (lambda u: u.sinh(), lambda f, u: (u.cosh(),)),
    "cosh": (lambda u: u.cosh(), lambda f, u: (u.sinh(),)),
    "tanh": (lambda u: u.tanh(), lambda f, u: (1 / u.cosh() ** 2,)),
    "arcsin": (lambda u: inside(u, -1, 1).asin(), lambda f, u: (1 / (1 - u * u).sqrt(),)),
    "arctan": (lambda u: u.atan(), lambda f, u: (1 / (1 + u * u),)),
    "arcsinh": (lambda u: u.asinh(), lambda f, u: (1 / (1 + u * u).sqrt(),)),
    "arctanh": (lambda u: inside(u, -1, 1).atanh(), lambda f, u: (1 / (1 - u * u),)),
    "special.erf": (lambda u: u.erf(), lambda f, u: (2 * bell(u),)),
    "special.erfc": (lambda u: u.erfc(), lambda f, u: (-2 * bell(u),)),
    "special.ndtr": (
        lambda u: (-u / arb(2).sqrt()).erfc() / 2,
        lambda f, u: (bell(u / arb(2).sqrt()) / arb(2).sqrt(),),
    ),
    "special.expit": (expit, lambda f, u: (expit(u) * expit(-u),)),
    "special.log_expit": (lambda u: -(-u).exp().log1p(), lambda f, u: (expit(-u),)),
}
ORDER = {
    "less": lambda place: place < 0,
    "less_equal": lambda place: place <= 0,
    "greater": lambda place: place > 0,
    "greater_equal": lambda place: place >= 0,
    "equal": lambda place: place == 0,
    "not_equal": lambda place: place != 0,
}
LOGIC = {
    "logical_and": operator.and_,
    "logical_or": operator.or_,
    "logical_xor": operator.xor,
    "logical_not": operator.not_,
}


def truthful(value):
    return value if isinstance(value, bool) else not value == 0 and bool(side(value))


def numeric(value):
    return arb(int(value)) if isinstance(value, bool) else value


def at(op, args, slopes, everywhere):
    """Return value and derivative of a node; a derivative of None where there is none."""
    if op == "where":
        k = 1 if truthful(args[0]) else 2
        return args[k], slopes[k]
    if op in LOGIC:
        return LOGIC[op](*(truthful(a) for a in args)), arb(0)
    u = [numeric(a) for a in args]
    if op in ORDER:  # a tie may be a null set
        tie = everywhere and u[0] - u[1] == 0
        return ORDER[op](0 if tie else side(u[0] - u[1])), arb(0)
    if op == "log" and u[0] == 0:
        return arb("-inf"), None
    function, partials = NUMERIC[op]
    value = certain(function(*u))
    if all(s is not None and s == 0 for s in slopes):
        return value, arb(0)
    if any(s is None for s in slopes):
        return value, None
    try:
        terms = [
            arb(0) if s == 0 else certain(p * s)
            for p, s in zip(partials(value, *u), slopes, strict=True)
        ]
    except (Open, Nothing):
        return value, None
    return value, sum(terms, arb(0))


def oracle(nodes, point, name):
    """Return the values and derivatives of all nodes: numbers, Open or Nothing."""
    values, slopes = [], []
    for op, args in nodes:
        if op == "input":
            values.append(point[args[0]])
            slopes.append(arb(int(args[0] == name)))
        elif op == "const":
            values.append(arb(args[0]))
            slopes.append(arb(0))
        else:
            try:
                operands = [values[a] for a in args]
                if op == "where":
                    if isinstance(operands[0], type):
                        raise Open
                    kept = 1 if truthful(operands[0]) else 2
                    operands = [v if k in (0, kept) else arb(0) for k, v in enumerate(operands)]
                if Nothing in operands and (op in ORDER or op in LOGIC):
                    raise Open  # NumPy's NaN compares, and engines may say so
                for missing in (Open, Nothing):
                    if missing in operands:
                        raise missing
                value, slope = at(op, operands, [slopes[a] for a in args], name is None)
            except (Open, Nothing) as reason:
                value, slope = type(reason), None
            values.append(value)
            slopes.append(slope)
    return values, slopes


# -- containment ---------------------------------------------------------------------------------


def ends_at(found, t):
    """Return balls around the ends of an enclosure at t."""
    log_t = arb(t).log()
    if isinstance(found, Log):
        moves = [a * log_t for a in found.a]
        return min_ball(moves) + found.w[0], max_ball(moves) + found.w[1]
    scales = [(a * log_t).exp() for a in found.a]
    corners = [[s * w if w != 0 else arb(0) for s in scales] for w in found.w]
    return found.base + min_ball(corners[0]), found.base + max_ball(corners[1])


def min_ball(balls):
    return balls[0].min(balls[1])


def max_ball(balls):
    return balls[0].max(balls[1])


def outside(found, value, t):
    """Say whether a value is certainly not in its enclosure; None where nothing was claimed."""
    if found == UNKNOWN:
        return None
    if isinstance(found, Truth):
        return None if found.known is None else found.known != truthful(value)
    if isinstance(found, Infinite):
        return not value == found.sign * arb("inf")
    low, high = ends_at(found, t)
    return bool(numeric(value) < low or numeric(value) > high)


def along(ray_, share, t):
    """Return a point of an input at t."""
    w = ray_.w[0] + share * (ray_.w[1] - ray_.w[0])
    return ray_.base + w * (ray_.a[0] * arb(t).log()).exp()


class Rate:
    """The exponents that are left for one choice of slacks: the same one must do for every t."""

    def __init__(self, found):
        self.found = found
        self.open = isinstance(found, (Power, Log)) and found.a[0] < found.a[1]
        if isinstance(found, Power):
            self.open = self.open and found.base == 0 and found.w[0] > 0
        self.low, self.high = found.a if self.open else (None, None)

    def broken(self, value, t):
        if not self.open or value is Nothing:
            return False
        w, size = self.found.w, numeric(value)
        if isinstance(self.found, Power):
            w, size = [v.log() for v in w], size.log()
        log_t = arb(t).log()
        if w[0].is_finite():
            self.low = self.low.max((size - w[0]) / log_t)
        if w[1].is_finite():
            self.high = self.high.min((size - w[1]) / log_t)
        return bool(self.low > self.high)


UNARY = [op for op, (f, _) in NUMERIC.items() if f.__code__.co_argcount == 1]
BINARY = [op for op in NUMERIC if op not in UNARY]
SIMPLE = ["add", "subtract", "multiply", "divide", "exp", "log", "square", "logaddexp"]


def random_input(rng):
    """Return a value, what draws a function of t from it, and whether there are many."""
    p = float(rng.choice([0.5, 1, 1, 1, 2, 0.3, 3]))
    s = np.sort(np.round(rng.uniform(-3, 3, 2), int(rng.integers(0, 3))))
    if rng.random() < 0.6:
        s = np.abs(s)[:: 1 if abs(s[0]) <= abs(s[1]) else -1]
    if rng.random() < 0.3:
        s = s[[1, 1]]
    low, high = float(s[0]), float(s[1])
    kind = rng.integers(0, 5)
    base = 0.0
    if kind == 0:
        found = slack(low, high)
        p = 0.0
    elif kind == 1:
        base = float(rng.choice([1.0, -1.0, 0.5, 0.3]))
        found = ray(base, p, low, high)
    else:
        p = -p if kind == 2 else p
        found = ray(0, p, low, high)
    free = found.w[0] < found.w[1]

    def draw():
        where = min(max(low + (high - low) * rng.choice([0.0, 1.0, rng.random()]), low), high)
        return lambda t: arb(base) + arb(where) * (arb(p) * arb(t).log()).exp()

    return found, draw, free


def random_graph(rng, inputs, t0, name, size, focus):
    """Grow a graph node by node, seldom where nothing is known; return it with all enclosures."""
    nodes = [("input", ("x",)), ("input", ("y",))]
    nodes += [("const", (float(c),)) for c in rng.choice([1, 2, -1, 0.5, 0.3, 0], 2, False)]
    found = [enclosed(nodes[: k + 1], inputs, t0, name) for k in range(len(nodes))]
    for _ in range(3 * size):
        draw = rng.random()
        pick = [int(k) for k in np.maximum(len(nodes) - 1 - rng.geometric(0.3, 3) + 1, 0)]
        pick[1] = int(rng.integers(0, len(nodes)))
        pick[2] = int(rng.integers(0, len(nodes)))
        truths = [k for k, f in enumerate(found) if isinstance(f[0], Truth)]
        truths += [pick[2]] * (rng.random() < 0.3)  # a number, true where it is not 0
        if draw < 0.3:
            op = str(rng.choice(focus or SIMPLE))
            node = op, tuple(pick[: 1 if op in UNARY else 2])
        elif draw < 0.55:
            node = str(rng.choice(BINARY)), tuple(pick[:2])
        elif draw < 0.85:
            node = str(rng.choice(UNARY)), (pick[0],)
        elif draw < 0.93 or not truths:
            node = str(rng.choice(list(ORDER))), tuple(pick[:2])
        elif draw < 0.98:
            node = "where", (int(rng.choice(truths)), *pick[:2])
        else:
            op = str(rng.choice(list(LOGIC)))
            node = op, tuple(int(k) for k in rng.choice(truths, 1 if op == "logical_not" else 2))
        here = enclosed([*nodes, node], inputs, t0, name)
        if here[0] in (UNKNOWN, Truth(None)) and rng.random() < 0.95:
            continue
        nodes.append(node)
        found.append(here)
        if len(nodes) >= size + 4:
            break
    return nodes, found


def enclosed(nodes, inputs, t0, name):
    found = PowerProgram(Graph(tuple(nodes), ("x", "y"))).run(inputs, t0, derivative=name)
    return found if name else (found, UNKNOWN)


def fuzz(seed, graphs, *, points=8, derivative=0.5, stop=False, focus=()):
    """Return how many statements were checked, how often by operation, and what was wrong."""
    rng = np.random.default_rng(seed)
    counts = dict.fromkeys(("checked", "slopes", "rates", "points", "open"), 0)
    wrong, seen = [], {}
    for _ in range(graphs):
        x, draw_x, free = random_input(rng)
        y, draw_y, _ = random_input(rng)
        t0 = float(rng.choice([2.0**-10, 2.0**-4, 1e-6, 0.9]))
        sweeps = free or (y.still and not x.still)
        name = "x" if sweeps and rng.random() < derivative else None
        inputs = {"x": x, "y": y}
        nodes, found = random_graph(rng, inputs, t0, name, int(rng.integers(1, 8)), focus)
        rates: list = []
        for k in range(points):
            if k % 4 == 0:  # a new choice of slacks
                at_t = {"x": draw_x(), "y": draw_y()}
                rates = [Rate(claims[0]) for claims in found]
            t = t0 if k == 0 else t0 * 10 ** -float(rng.choice([1, 10, 190]) * rng.random())
            with o.precision(400):
                values, slopes = oracle(nodes, {n: f(t) for n, f in at_t.items()}, name)
                counts["points"] += 1
                for node, value, slope, claims, rate in zip(
                    nodes, values, slopes, found, rates, strict=True
                ):
                    claimed = claims[0] not in (UNKNOWN, Truth(None))
                    if value is Open:
                        counts["open"] += claimed
                        continue
                    failed = claimed if value is Nothing else outside(claims[0], value, t)
                    failed = failed or rate.broken(value, t)
                    if claimed:
                        counts["checked"] += 1
                        counts["rates"] += rate.open
                        seen[node[0]] = seen.get(node[0], 0) + 1
                    slope_failed = None
                    if slope is not None and value is not Nothing:
                        slope_failed = outside(claims[1], slope, t)
                        counts["slopes"] += slope_failed is not None
                    if failed or slope_failed:
                        wrong.append((node, nodes, inputs, t, value, slope, claims, t0))
                        if stop:
                            return counts, seen, wrong
    return counts, seen, wrong


# -- the fuzz, and rules that are broken on purpose ----------------------------------------------


@pytest.mark.slow
@pytest.mark.cases("slow", "3")
@pytest.mark.parametrize("seed", range(4))
def test_random_graphs(seed):
    counts, seen, wrong = fuzz(seed, 650)
    assert not wrong, wrong[0]
    assert counts["points"] >= 5000 and counts["checked"] > 30_000 and counts["slopes"] > 5000
    assert counts["open"] < 0.1 * counts["checked"] and counts["rates"] > 30
    assert all(seen.get(op, 0) > 8 for op in [*NUMERIC, *ORDER, "where"])


NEAR_Y = [(0, 1, 1, 1), (1, 1, -1, -1), (0, -1, 1, 1), (0, -1, -1, -1), (0.25, 1, -1, -1), 0.3]
NEAR_X = [
    0.3,
    1.2,
    (0, 1, 0.25, 0.75),
    (0, 1, 1.1, 2),
    (1, 1, -2, -1),
    (0, -1, 0.5, 2),
    (0, 2, 1.1, 3),
]


@pytest.mark.cases("slow", "0")
@pytest.mark.parametrize("seed", range(2))
def test_densities_that_tempt(seed):
    """Graphs as users write them, and their logarithms, at corners of their alphabets."""
    rng = np.random.default_rng(seed)
    checked = infinite = 0
    for case in (DECOYS + INFINITIES)[seed::2]:
        density = case.build().mechanism.density
        for graph, _ in itertools.product((density.graph, rewrite.log_of(density.graph)), range(6)):
            places = {n: (NEAR_Y if n == "y" else NEAR_X) for n in graph.inputs}
            chosen = {n: p[rng.integers(len(p))] for n, p in places.items()}
            inputs = {
                n: ray(*p) if isinstance(p, tuple) else slack(p, p + 0.1) for n, p in chosen.items()
            }
            claims, _ = PowerProgram(graph)._nodes(inputs, T0, None)
            infinite += limits(claims[-1])[0] == INF
            for _ in range(2):
                t = T0 * 10 ** -float(rng.choice([1, 190]) * rng.random())
                with o.precision(400):
                    point = {n: along(v, rng.random(), t) for n, v in inputs.items()}
                    values, _ = oracle(graph.nodes, point, None)
                    for claim, value in zip(claims, values, strict=True):
                        claimed = claim not in (UNKNOWN, Truth(None))
                        checked += claimed
                        if claimed and value is not Open:
                            assert value is not Nothing and not outside(claim, value, t), case.name
    assert checked > 10_000 and infinite > 20


def test_the_oracle_runs_at_400_bits():
    with o.precision(400):
        values, _ = oracle([("const", (2.0,)), ("log", (0,))], {}, None)
        assert values[1].rel_accuracy_bits() >= 390


def broken(owner, name, change):
    """Return a rule and what replaces it, made from it."""
    return (
        owner,
        name,
        change(owner.__dict__[name] if isinstance(owner, type) else getattr(owner, name)),
    )


def largest_exponent(common):
    def mutant(self, p, q):
        _, u, v = common(self, p, q)
        return max(p[0], q[0]), u, v

    return mutant


def first_order_only(f):
    return lambda self, a, *rest: f(self, a, *rest) if a[0] <= 0 else (a[0] * 0, arb(0.5))


def upper_end(p):
    return p[1], p[1]


def lower_end(p):
    return p[0], p[0]


def without_sign(p, q):
    return p[0] * q[0], p[1] * q[1]


MUTANTS = {
    "sums take the larger exponent": broken(Rules, "_common", largest_exponent),
    "a smaller term does not count": broken(
        Rules, "_sum", lambda f: lambda self, p, q: p if p[0][1] < q[0][0] else f(self, p, q)
    ),
    "t**a is at most one half": broken(Rules, "span", first_order_only),
    "t**c |log t| peaks at t0": broken(
        Rules,
        "log_bound",
        lambda f: lambda self, c: -self._log_t0 * (c * self._log_t0).exp(),
    ),
    "exp decays from t0 on": broken(
        Rules,
        "_decay",
        lambda f: lambda self, a, c: (-c * (a * self._log_t0).exp() - 64 * self._log_t0).exp(),
    ),
    "chords have the slope 1": broken(arithmetic, "chord", lambda f: lambda g, x, end: arb(1)),
    "only one end of a chord": broken(functions, "hull", lambda f: lambda p, q: p),
    "products of lower and of upper ends": broken(arithmetic, "times", lambda f: without_sign),
    "squares of signed intervals": broken(arithmetic, "absolute", lambda f: lambda p: p),
    "alternatives: the first one only": broken(arithmetic, "hull", lambda f: lambda p, q: p),
    "joined: the first one only": broken(
        Rules, "joined", lambda f: lambda self, u, v, choose=None: u
    ),
    "larger without ends": broken(Rules, "maximum", lambda f: lambda self, u, v: u),
    "signs forget the lower end": broken(
        Rules, "signs", lambda f: lambda self, v: upper_end(f(self, v))
    ),
    "signs forget the upper end": broken(
        Rules, "signs", lambda f: lambda self, v: lower_end(f(self, v))
    ),
    "no damping of t**a log t": broken(Rules, "_times_power", lambda f: lambda self, u, c: u.w),
    "quotients without rounding": broken(
        arithmetic, "over", lambda f: lambda q: ((1 / q[1]).mid(), (1 / q[0]).mid())
    ),
    "exponentials without rounding": broken(
        arithmetic, "exponential", lambda f: lambda p: (p[0].exp().mid(), p[1].exp().mid())
    ),
    "sums without rounding": broken(
        arithmetic, "plus", lambda f: lambda p, q: ((p[0] + q[0]).mid(), (p[1] + q[1]).mid())
    ),
    "inverses without their change": broken(
        Rules,
        "reciprocal",
        lambda f: (
            lambda self, v: (
                f(self, v)
                if isinstance(v, Log) or v.base == 0
                else f(self, Power(v.base, v.a, (arb(0),) * 2))
            )
        ),
    ),
    "waves monotone": broken(
        functions,
        "_wave",
        lambda f: lambda g, p: (g(p[0]).min(g(p[1])).lower(), g(p[0]).max(g(p[1])).upper()),
    ),
    "the smaller one's slope is the larger one's": (
        functions.PICKS,
        "minimum",
        functions.PICKS["maximum"],
    ),
    "a comparison forgets the touching end": (
        interpreter._ORDER,
        "less",
        lambda low, high, null: interpreter._three(high < 0, low >= -1),
    ),
    "an equality is always null": (
        interpreter._ORDER,
        "equal",
        lambda low, high, null: False,
    ),
    "undecided is true": broken(interpreter, "_three", lambda f: lambda yes, no: yes or not no),
    "a logarithm of anything": broken(
        arithmetic, "logarithm", lambda f: lambda p: f((p[0] if p[0] > 0 else p[1], p[1]))
    ),
    "a root of anything": broken(
        Rules, "raised", lambda f: lambda self, v, p: f(self, self.absolute(v), p)
    ),
    "an erfc without its sign": broken(functions, "minus", lambda f: lambda p: (p[0], p[1])),
    "logaddexp is the larger one": broken(
        Rules, "logaddexp", lambda f: lambda self, u, v: self.maximum(u, v)
    ),
}


FOCUS = {
    "squares of signed intervals": ["absolute"],
    "t**c |log t| peaks at t0": ["multiply", "log"],
    "waves monotone": ["sin", "cos"],
    "an equality is always null": ["subtract", "equal"],
}


def is_caught(patch, owner, name, mutant, **choices):
    """Say whether the fuzz finds something with a rule replaced."""
    with patch.context() as inside:
        replace = inside.setitem if isinstance(owner, dict) else inside.setattr
        replace(owner, name, mutant)
        return any(fuzz(seed, 100, stop=True, **choices)[2] for seed in range(20))


@pytest.mark.few(4)
@pytest.mark.cases("slow", "a comparison forgets the touching end")
@pytest.mark.parametrize("what", MUTANTS)
def test_a_broken_rule_is_caught(what, monkeypatch):
    assert is_caught(monkeypatch, *MUTANTS[what], focus=FOCUS.get(what, ()))


def off_by_a_thousandth(right):
    slightly = box((arb(1.001), arb(1.001)))
    return lambda r, *args: r.multiply(slightly, right(r, *args))


@pytest.mark.few(21)
@pytest.mark.parametrize("op", PARTIALS)
def test_a_broken_derivative_is_caught(op, monkeypatch):
    for k, right in enumerate(PARTIALS[op]):
        mutant = (*PARTIALS[op][:k], off_by_a_thousandth(right), *PARTIALS[op][k + 1 :])
        assert is_caught(monkeypatch, PARTIALS, op, mutant, focus=[op], derivative=1)
