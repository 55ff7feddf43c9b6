"""The operations of densities on Taylor models: what a function of a graph does to a `Model`.

Comparisons are decided almost everywhere: what is 0 on a null set only has a sign. Where a
comparison is not decided on a box, what depends on it is known by the range of both cases.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flint import arb

from borel.checker.models import Model, constant, hull, in_one_unit, number, unknown
from borel.checker.polynomials import INFINITY, NOTHING, ZERO, least, most
from borel.checker.polynomials import number as polynomial
from borel.checker.reading import require

if TYPE_CHECKING:
    from collections.abc import Callable

_LARGEST_POWER = 16
"""Whole powers up to this one are products."""
_LARGEST_EXPONENT = 4096
"""Powers of t have no more bits on either side of the point: as fractions they are written out."""


def _real(*values: Model) -> None:
    numbers = all(v.real for v in values)
    require(numbers, "a density", "an operation on what may be -infinity")


def exponential(v: Model) -> Model:
    """Return e^v; e^(c log t) is t^c, and what falls to -infinity with t is below a power of t."""
    if not v.real:
        return constant(0) if v.high == -INFINITY else unknown(ZERO, v.high.exp())
    logs = v.terms.get((0, 1), NOTHING)
    c = _rational(logs.constant()) if logs.rows and logs.is_constant() else None
    terms = {key: p for key, p in v.terms.items() if key != (0, 1) or c is None}
    rest = Model(terms, v.rest) if c else v
    power, _, high = rest.folded()
    if power < 0 and high < 0:
        # e^(k t^a) / t^n increases in t where n <= k a, and is e^k at t = 1
        n = (high * number(power)).lower().min(arb(_LARGEST_POWER)).floor().unique_fmpz()
        out = Model({}, (int(n or 0), hull(ZERO, high.exp())))
    elif power < 0:
        out = unknown(ZERO, rest.high.exp())
    else:
        out = rest.apply("exp", rest.low.exp(), rest.high.exp())
    if not c:
        return Model(out.terms, out.rest, most(out.low, ZERO), out.high)
    out = shifted(out, c)
    return Model(out.terms, out.rest, v.low.exp(), v.high.exp())


def shifted(v: Model, by: Any) -> Model:
    """Return t^by v."""
    return Model({(e + by, k): p for (e, k), p in v.terms.items()}, (v.rest[0] + by, v.rest[1]))


def _rational(ball: arb) -> Fraction | None:
    """Return the number that a ball is, if it is one that is not too long."""
    if not (ball.is_exact() and ball.is_finite()):
        return None
    if abs(ball.man_exp()[1]) > _LARGEST_EXPONENT:
        return None
    value = ball.fmpq()
    return Fraction(int(value.p), int(value.q))


def logarithm(v: Model) -> Model:
    """Return log v for v > 0; log (t^e w) is e log t + log w."""
    _real(v)
    if v.low.is_zero() and v.high.is_zero():
        return constant(-INFINITY)
    positive = bool(v.low >= 0) and 0 not in v.signs()
    require(positive, "a density", "the logarithm of what may be 0 or negative")
    low, high = (v.low.log() if v.low > 0 else -INFINITY), v.high.log()
    power = v.folded()[0]
    if power == 0:
        return v.apply("log", low, high)
    inner = shifted(v, -power)
    if not inner.folded()[1] > 0:
        return unknown(low, high)
    found = inner.apply("log", inner.folded()[1].log(), INFINITY)
    logs = Model({(0, 1): polynomial(number(power))})
    out = found + logs
    return Model(out.terms, out.rest, low, high)


def reciprocal(v: Model) -> Model:
    """Return 1 / v where v is 0 on a null set only."""
    _real(v)
    require(0 not in v.signs(), "a density", "a quotient by what may be 0")
    power = v.folded()[0]
    low = 1 / v.high if v.low >= 0 or v.high < 0 else -INFINITY
    high = 1 / v.low if v.low > 0 or v.high <= 0 else INFINITY
    if v.low.is_zero() or not low.is_finite():
        low = ZERO if v.low >= 0 else -INFINITY
    if v.high.is_zero() or not high.is_finite():
        high = ZERO if v.high <= 0 else INFINITY
    if power == 0 and (v.low > 0 or v.high < 0):
        return v.apply("inv", low.lower(), high.upper())
    inner = shifted(v, -power)
    _, a, b = inner.folded()
    if not (a > 0 or b < 0):
        return unknown(low.lower(), high.upper())
    found = inner.apply("inv", (1 / b).lower(), (1 / a).upper())
    out = shifted(found, -power)
    return Model(out.terms, out.rest, low.lower(), high.upper())


def square(v: Model) -> Model:
    """Return v^2."""
    out = v * v
    return Model(out.terms, out.rest, most(out.low, ZERO), out.high)


def power(v: Model, exponent: Model) -> Model:
    """Return v^k: products for whole numbers k, else e^(k log v) for v > 0."""
    _real(v, exponent)
    k = exponent.constant()
    n = None if k is None else _rational(k)
    if n is not None and n.denominator == 1 and abs(n) <= _LARGEST_POWER:
        out = constant(1)
        for _ in range(abs(int(n))):
            out = out * v
        if n % 2 == 0:
            out = Model(out.terms, out.rest, most(out.low, ZERO), out.high)
        return reciprocal(out) if n < 0 else out
    return exponential(logarithm(v) * exponent)


def root(v: Model) -> Model:
    """Return the square root of v >= 0."""
    _real(v)
    require(bool(v.low >= 0), "a density", "the square root of what may be negative")
    if v.low > 0 and v.folded()[0] == 0:
        return v.apply("sqrt", v.low.sqrt(), v.high.sqrt())
    if 0 in v.signs():
        return unknown(v.low.sqrt().lower(), v.high.sqrt().upper())
    out = exponential(logarithm(v).times(arb(0.5)))
    return Model(out.terms, out.rest, v.low.sqrt().lower(), v.high.sqrt().upper())


def either(first: Model, second: Model) -> Model:
    """Return the model of what is one of two at each point."""
    (a, *one), (b, *two) = first.folded(), second.folded()
    power, x, y = in_one_unit((a, hull(*one)), (b, hull(*two)))
    low, high = least(first.low, second.low), most(first.high, second.high)
    return Model({}, (power, x.union(y)), low, high, real=first.real and second.real)


def absolute(v: Model) -> Model:
    """Return |v|."""
    _real(v)
    if v.low >= 0 or v.high <= 0:
        return v if v.low >= 0 else -v
    out = either(v, -v)
    return Model(out.terms, out.rest, ZERO, out.high)


def maximum(u: Model, v: Model) -> Model:
    """Return the larger of two."""
    if not (u.real and v.real):
        if v.high == -INFINITY or u.high == -INFINITY:
            return u if v.high == -INFINITY else v
        _real(u, v)
    gap = u - v
    if gap.low >= 0 or gap.high <= 0:
        return u if gap.low >= 0 else v
    out = either(u, v)
    return Model(out.terms, out.rest, most(u.low, v.low), out.high)


def _sign_among(wanted: set[int]) -> Callable[[Model, Model], Model]:
    """Return a comparison of u and v by the signs of u - v for which it is true."""

    def compare(u: Model, v: Model) -> Model:
        _real(u, v)
        return _truth((u - v).signs(), wanted)

    return compare


def _truth(signs: set[int], wanted: set[int]) -> Model:
    """Return 1 or 0 where that is decided, else what is between them."""
    found = {sign in wanted for sign in signs}
    return unknown(ZERO, arb(1)) if len(found) > 1 else constant(int(True in found))


def is_true(v: Model) -> bool | None:
    """Return whether a truth value is not 0; None if that is not decided."""
    _real(v)
    found = {sign != 0 for sign in v.signs()}
    return None if len(found) > 1 else True in found


def _all_of(u: Model, v: Model) -> Model:
    one, two = is_true(u), is_true(v)
    if one is False or two is False:
        return constant(0)
    return constant(1) if one and two else unknown(ZERO, arb(1))


def _not(v: Model) -> Model:
    _real(v)
    return _truth(v.signs(), {0})


def _log_sum(u: Model, v: Model) -> Model:
    """Return log (e^u + e^v)."""
    for one, two in ((u, v), (v, u)):
        if one.high == -INFINITY:
            return two
    _real(u, v)
    large, small = (u, v) if (v - u).high <= 0 else (v, u)
    return large + logarithm(exponential(small - large) + constant(1))


def _analytic(name: str) -> Callable[[Model], Model]:
    """Return a function that Arb knows, analytic wherever its values on a ball are finite."""

    def of(v: Model) -> Model:
        _real(v)
        found = getattr(hull(v.low, v.high), name)()
        require(found.is_finite(), "a density", f"{name} where it may be infinite")
        return v.apply(name, found.lower(), found.upper())

    return of


def _log_gamma(v: Model) -> Model:
    _real(v)
    require(bool(v.low > 0), "a density", "log Gamma of what is not > 0")
    return _analytic("lgamma")(v)


def _log_beta(u: Model, v: Model) -> Model:
    return _log_gamma(u) + _log_gamma(v) - _log_gamma(u + v)


def _normal_cdf(v: Model) -> Model:
    return _analytic("erfc")(v.times(-arb(0.5).sqrt())).times(arb(0.5))


def _tanh(v: Model) -> Model:
    return _logistic(v.times(arb(2))).times(arb(2)) - constant(1)


def _logistic(v: Model) -> Model:
    return reciprocal(exponential(-v) + constant(1))


def _times_log(u: Model, v: Model) -> Model:
    """Return u log v, which is 0 for u = 0."""
    return constant(0) if u.low.is_zero() and u.high.is_zero() else u * logarithm(v)


OF_ONE: dict[str, Callable[[Model], Model]] = {
    "negative": lambda v: -v,
    "positive": lambda v: v,
    "reciprocal": reciprocal,
    "square": square,
    "sqrt": root,
    "exp": exponential,
    "expm1": lambda v: exponential(v) - constant(1),
    "log": logarithm,
    "log1p": lambda v: logarithm(v + constant(1)),
    "absolute": absolute,
    "sin": _analytic("sin"),
    "cos": _analytic("cos"),
    "arctan": _analytic("atan"),
    "tanh": _tanh,
    "logical_not": _not,
    "special.expit": _logistic,
    "special.erf": _analytic("erf"),
    "special.ndtr": _normal_cdf,
    "special.gammaln": _log_gamma,
}
OF_TWO: dict[str, Callable[[Model, Model], Model]] = {
    "add": lambda u, v: u + v,
    "subtract": lambda u, v: u - v,
    "multiply": lambda u, v: u * v,
    "divide": lambda u, v: u * reciprocal(v),
    "power": power,
    "logaddexp": _log_sum,
    "maximum": maximum,
    "minimum": lambda u, v: -maximum(-u, -v),
    "less": _sign_among({-1}),
    "less_equal": _sign_among({-1, 0}),
    "greater": _sign_among({1}),
    "greater_equal": _sign_among({0, 1}),
    "equal": _sign_among({0}),
    "not_equal": _sign_among({-1, 1}),
    "logical_and": _all_of,
    "logical_or": lambda u, v: _not(_all_of(_not(u), _not(v))),
    "special.betaln": _log_beta,
    "special.xlogy": _times_log,
}
FUNCTIONS: dict[str, Callable[..., Model]] = OF_ONE | OF_TWO
ARITY = dict.fromkeys(OF_ONE, 1) | dict.fromkeys(OF_TWO, 2)
"""What is known of each operation; ``where`` is in `graph`, which chooses what to evaluate."""
