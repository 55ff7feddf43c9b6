"""Ranges of second derivatives, from the values and slopes over a box.

A slope rule is linear in the slopes of the arguments, so that a second derivative is the same
rule on second derivatives, plus a part that is quadratic in the slopes: the table holds that part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flint import arb

from borel import settings
from borel.numerics.balls.ranges import (
    ENTIRE,
    ONE,
    RANGES,
    ZERO,
    expit,
    minus,
    negative,
    plus,
    power,
    reciprocal,
    square,
    times,
)

if TYPE_CHECKING:
    from borel.numerics.balls.interpreter import Slice

_TWO, _QUARTER = (arb(2), arb(2)), (arb(0.25), arb(0.25))


def curvature(f: Slice, v: list, d: list) -> Any:
    """Return the range of f'' on a box, from what ``f.run`` returned there; `ENTIRE` at kinks."""
    second: list[Any] = [None] * len(v)
    second[f.variable] = ZERO
    settings.work("balls", 2 * len(f.order))
    for k in f.order:
        op, args = f.nodes[k]
        if op == "where" and v[args[0]] is not None:
            second[k] = second[args[1] if v[args[0]] else args[2]] or ZERO
        elif op not in _QUADRATIC and not (op in _LINEAR and _LINEAR[op](v, *args)):
            second[k] = ZERO if d[k] is ZERO else ENTIRE
        else:
            rule, quadratic = RANGES[op][1], _QUADRATIC.get(op)
            i = args[0]
            if len(args) == 1:
                out = rule(v[i], v[k], second[i])
                part = quadratic(v[i], v[k], d[i]) if quadratic else None
            else:
                j = args[1]
                out = rule(v[i], v[j], v[k], second[i], second[j])
                part = quadratic(v[i], v[j], v[k], d[i], d[j]) if quadratic else None
            second[k] = out if part is None else plus(out, part)
    return second[f.root] or ZERO


def _apart(v: list, i: int, j: int) -> bool:
    return v[i][0] >= v[j][1] or v[j][0] >= v[i][1]


_LINEAR: dict[str, Any] = {
    **dict.fromkeys(("add", "subtract", "negative"), lambda v, *args: True),
    "absolute": lambda v, i: v[i][0] >= 0 or v[i][1] <= 0,
    "maximum": _apart,
    "minimum": _apart,
}
"""Operations without a quadratic part, and whether they have no kink inside a box."""


def _by(second: Any) -> Any:
    return lambda p, f, dp: times(second(p, f), square(dp))


def _multiply(p: Any, q: Any, f: Any, dp: Any, dq: Any) -> Any:
    return None if dp is None or dq is None else times(_TWO, times(dp, dq))


def _divide(p: Any, q: Any, f: Any, dp: Any, dq: Any) -> Any:
    """Return -2 f' q' / q."""
    if dq is None:
        return None
    slope = RANGES["divide"][1](p, q, f, dp, dq)
    return negative(times(times(_TWO, times(slope, dq)), reciprocal(q)))


def _logaddexp(p: Any, q: Any, f: Any, dp: Any, dq: Any) -> Any:
    """Return w (1 - w) (p' - q')**2, with w = expit(p - q); at most a quarter of the square."""
    a, b = minus(p, q)
    share = expit(a), expit(b)
    low, high = times(share, minus(ONE, share))
    slope = dq if dp is None else dp if dq is None else minus(dp, dq)
    return times((low, high.min(_QUARTER[1])), square(slope))


def _power(p: Any, e: Any, f: Any, dp: Any, _: Any) -> Any:
    factor = times(e, minus(e, ONE))
    return times(times(factor, power(p, minus(e, _TWO))), square(dp))


def _cube(p: Any) -> Any:
    return times(p, square(p))


def _erf(p: Any, f: Any, dp: Any) -> Any:
    """Return -2 p erf'(p) p'**2."""
    return negative(times(times(_TWO, p), times(RANGES["erf"][1](p, f, dp), dp)))


_QUADRATIC: dict[str, Any] = {
    "multiply": _multiply,
    "divide": _divide,
    "logaddexp": _logaddexp,
    "power": _power,
    "square": lambda p, f, dp: times(_TWO, square(dp)),
    "sqrt": _by(lambda p, f: negative(times(_QUARTER, reciprocal(_cube(f))))),
    "exp": _by(lambda p, f: f),
    "expm1": _by(lambda p, f: plus(f, ONE)),
    "log": _by(lambda p, f: negative(reciprocal(square(p)))),
    "log1p": _by(lambda p, f: negative(reciprocal(square(plus(p, ONE))))),
    "sin": _by(lambda p, f: negative(f)),
    "cos": _by(lambda p, f: negative(f)),
    "sinh": _by(lambda p, f: f),
    "cosh": _by(lambda p, f: f),
    "tanh": _by(lambda p, f: times(negative(times(_TWO, f)), minus(ONE, square(f)))),
    "arctan": _by(
        lambda p, f: negative(times(times(_TWO, p), reciprocal(square(plus(ONE, square(p))))))
    ),
    "arcsinh": _by(
        lambda p, f: negative(times(p, power(plus(ONE, square(p)), (arb(-1.5), arb(-1.5)))))
    ),
    "arctanh": _by(lambda p, f: times(times(_TWO, p), reciprocal(square(minus(ONE, square(p)))))),
    "expit": _by(lambda p, f: times(times(f, minus(ONE, f)), minus(ONE, times(_TWO, f)))),
    "erf": _erf,
    "erfc": lambda p, f, dp: negative(_erf(p, f, dp)),
    "gammaln": _by(lambda p, f: RANGES["digamma"][1](p, f, ONE)),
}
