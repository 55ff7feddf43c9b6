"""Functions of power-scaled values beyond sums, products, exp and log, and their derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flint import arb

from borel.numerics.germs.arithmetic import Rules
from borel.numerics.germs.values import (
    INF,
    ONE,
    SHARE,
    ZERO,
    Ends,
    Power,
    Real,
    UndecidedRule,
    absolute,
    box,
    constant,
    hull,
    minus,
    outer,
    rising,
    times,
)
from borel.numerics.graphs.formulas import formula, function_of, reads_once
from borel.numerics.graphs.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable

RULES = frozenset(op for op in OPERATIONS if hasattr(Rules, op))
"""Operations that are methods of `Rules` by the same name."""

_HALF, _TWO = constant(0.5), constant(2)
_MOST_WHOLE = 64


def _ball(value: Any) -> Real:
    """Return a number that Arb knows."""
    return box(outer(value, value), still=True)


def _power(r: Rules, u: Real, e: Real) -> Real:
    if not (isinstance(e, Power) and e.constant):
        return r.exp(r.multiply(e, r.log(u)))
    p = e.base
    if p == 0:
        return ONE
    if p.is_integer() and abs(p) <= _MOST_WHOLE:
        n = int(p.unique_fmpz())
        return r.whole(u, n) if n > 0 else r.reciprocal(r.whole(u, -n))
    return r.raised(u, (p, p))


def _cbrt(r: Rules, u: Real) -> Real:
    low, high = r.signs(u)
    if low < 0 < high:
        raise UndecidedRule("a cube root of either sign")
    third = outer(arb(1) / 3, arb(1) / 3)
    return r.raised(u, third) if low >= 0 else r.negative(r.raised(r.negative(u), third))


# -- odd functions --------------------------------------------------------------------------------


def _small(r: Rules, u: Real, f: Callable, slope: Any, most: Any) -> Real | None:
    """Enclose an odd function of a value that vanishes, as the value times a slope of a chord.

    f must be convex, or concave, on [0, most): then f(z) / z is monotone on it.
    """
    if not isinstance(u, Power) or u.base != 0:
        return None
    if u.constant:
        return ZERO
    size = absolute(r.range(u))[1]
    if not (u.a[0] > 0 and size < most):
        return None
    edge = f(size) / size
    return Power(arb(0), u.a, times(u.w, hull(outer(slope, slope), outer(edge, edge))))


def _odd(f: Callable, most: Any, end: Callable, slope: Callable = lambda: arb(1)) -> Callable:
    """Make the rule of an odd, increasing function on (-most, most) with the limit `end` there."""

    def enclose(r: Rules, u: Real) -> Real:
        small = _small(r, u, f, slope(), most)
        if small is not None:
            return small
        low, high = r.range(u)
        if most < INF and not (-most < low and high < most):
            raise UndecidedRule("the end of a domain")
        limit = end().upper()
        return box(rising(f, (low, high), -limit, limit))

    return enclose


def _wave(f: Callable, p: Ends) -> Ends:
    """Enclose sin or cos."""
    low, high = p
    if not (low.is_finite() and high.is_finite()):
        return -arb(1), arb(1)
    ball = f(low.union(high))
    low, high = outer(ball, ball)
    return max(low, -arb(1)), min(high, arb(1))


def _sin(r: Rules, u: Real) -> Real:
    small = _small(r, u, arb.sin, arb(1), arb(3))
    return box(_wave(arb.sin, r.range(u))) if small is None else small


def _cos(r: Rules, u: Real) -> Real:
    """Enclose cos(u) = 1 - 2 sin(u / 2)**2."""
    if isinstance(u, Power) and u.base == 0 and u.a[0] > 0:
        return r.subtract(ONE, r.multiply(_TWO, r.square(_sin(r, r.multiply(_HALF, u)))))
    return box(_wave(arb.cos, r.range(u)))


def _cosh(r: Rules, u: Real) -> Real:
    """Enclose cosh(u) = 1 + 2 sinh(u / 2)**2."""
    half = FUNCTIONS["sinh"](r, r.multiply(_HALF, u))
    return r.add(ONE, r.multiply(_TWO, r.square(half)))


# -- the normal and the logistic law --------------------------------------------------------------


def _erfc(r: Rules, u: Real) -> Real:
    """Enclose erfc; far out by 0 < erfc(u) <= exp(-u**2) for u >= 0."""
    low, high = r.range(u)
    if low >= 0 and high == INF:
        return r.multiply(r.exp(r.negative(r.square(u))), box(SHARE))
    if isinstance(u, Power) and u.base == 0 and u.a[0] > 0:
        return r.subtract(ONE, FUNCTIONS["special.erf"](r, u))
    return box(minus(rising(lambda x: -x.erfc(), (low, high), arb(-2), arb(0))))


def _expit(r: Rules, u: Real) -> Real:
    return r.reciprocal(r.add(ONE, r.exp(r.negative(u))))


def _xlogy(r: Rules, u: Real, v: Real) -> Real:
    return ZERO if u == ZERO else r.multiply(u, r.log(v))


def _sqrt(r: Rules, u: Real) -> Real:
    return r.raised(u, (_HALF.base, _HALF.base))


def _sign(r: Rules, u: Real) -> Real:
    low, high = r.signs(u)
    if low > 0 or high < 0:
        return ONE if low > 0 else r.negative(ONE)
    return ZERO if u == ZERO else box((arb(-1), arb(1)))


def _infinity() -> Any:
    return INF


FUNCTIONS: dict[str, Callable[..., Real]] = {
    "power": _power,
    "sqrt": _sqrt,
    "cbrt": _cbrt,
    "sin": _sin,
    "cos": _cos,
    "sinh": _odd(arb.sinh, INF, _infinity),
    "cosh": _cosh,
    "tanh": _odd(arb.tanh, INF, lambda: arb(1)),
    "arctan": _odd(arb.atan, INF, lambda: arb.pi() / 2),
    "arcsinh": _odd(arb.asinh, INF, _infinity),
    "arcsin": _odd(arb.asin, arb(1), lambda: arb.pi() / 2),
    "arctanh": _odd(arb.atanh, arb(1), _infinity),
    "sign": _sign,
    "special.erf": _odd(arb.erf, INF, lambda: arb(1), lambda: 2 / arb.pi().sqrt()),
    "special.erfc": _erfc,
    "special.expit": _expit,
    "special.log_expit": lambda r, u: r.negative(r.logaddexp(ZERO, r.negative(u))),
    "special.xlogy": _xlogy,
    "special.xlog1py": lambda r, u, v: _xlogy(r, u, r.add(ONE, v)),
}
"""Enclosures by the names of operations; others are written out in these, unless an argument
occurs twice then, which would be overestimated."""


def _rule(op: str) -> Callable[..., Real]:
    """Return an operation as a function of the rules and of values."""
    if op in RULES:
        return lambda r, *args: getattr(r, op)(*args)
    return lambda r, *args: FUNCTIONS[op](r, *args)


def _formula(text: str, *names: str) -> Callable[..., Real] | None:
    """Return a formula as such a function, if all its operations are known."""
    graph = formula(text)
    if not graph.operations <= {*RULES, *FUNCTIONS}:
        return None
    if "pi" not in graph.inputs:
        return function_of(text, names, _rule, constant, context=1)
    own = function_of(text, (*names, "pi"), _rule, constant, context=1)
    return lambda r, *args: own(r, *args, _ball(arb.pi()))


for _op, _of in OPERATIONS.items():
    if _of.means and _op not in RULES and _op not in FUNCTIONS and reads_once(_of.means):
        _own = _formula(_of.means, *"uv"[: _of.arguments])
        if _own is not None:
            FUNCTIONS[_op] = _own

# -- derivatives ----------------------------------------------------------------------------------

PARTIALS: dict[str, tuple[Callable[..., Real], ...]] = {
    op: tuple(own for own in found if own is not None)
    for op, of in OPERATIONS.items()
    if op in RULES or op in FUNCTIONS
    if (found := [_formula(text, "f", *"uv"[: of.arguments]) for text in of.derivative])
    if None not in found
}
"""Partial derivatives by the names of operations: of the value f and the arguments."""


def _larger(r: Rules, u: Real, v: Real) -> tuple[int, int]:
    low, high = r.signs(r.subtract(u, v))
    if low < 0 < high:
        raise UndecidedRule("a kink")
    return (0, 1) if low >= 0 else (1, 1)


def _smaller(r: Rules, u: Real, v: Real) -> tuple[int, int]:
    return _larger(r, v, u)


def _side(r: Rules, u: Real) -> tuple[int, int]:
    low, high = r.signs(u)
    if low < 0 < high:
        raise UndecidedRule("a kink")
    return 0, (1 if low >= 0 else -1)


PICKS: dict[str, Callable[..., tuple[int, int]]] = {
    "maximum": _larger,
    "fmax": _larger,
    "minimum": _smaller,
    "fmin": _smaller,
    "absolute": _side,
}
"""Operations that are one of their arguments, or its negative: which one, and the sign."""
