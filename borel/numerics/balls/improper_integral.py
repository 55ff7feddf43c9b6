r"""Enclose integrals up to an end where the integrand is singular, and out to infinity.

With t the distance to the end (or to 0, for an infinite one) and s = log t, the integral of g is
that of e^G(s), G = log g + s. If the slope of G lies in [A, B] between the end and the edge t = h,
then g(t) t lies between g(h) h (t/h)^A and g(h) h (t/h)^B, so that

.. math:: \int g\,dt \in g(h)\, h\, [1/|B|, 1/|A|]

for slopes of one sign (the sides swap at infinity). At infinity the slope of log g in x itself
does as well. The slopes of logarithms are computed next to ranges, by rules in which neither 1/x
times x nor the constant of a blow-up loses anything.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flint import arb

from borel import settings
from borel.numerics.balls.ranges import (
    ENTIRE,
    ONE,
    ONE_BALL,
    RANGES,
    ZERO,
    ZERO_BALL,
    hull,
    minus,
    negative,
    plus,
    reciprocal,
    times,
)
from borel.numerics.graphs.formulas import function_of
from borel.numerics.graphs.operations import OPERATIONS

if TYPE_CHECKING:
    from borel.numerics.balls.interpreter import Slice


def tail(f: Slice, edge: float, end: float) -> tuple[Any, Any] | None:
    """Enclose the integral of a positive f between an edge and an end, finite or infinite.

    Parameters
    ----------
    f : Slice
        The integrand.
    edge : float
        Where the tail begins; beyond 0 if the end is infinite.
    end : float
        Where it ends: a finite end may be a singularity.

    Returns
    -------
    tuple of arb, or None
        Balls below and above the integral; None where nothing is proved.
    """
    to, start = arb(end), arb(edge)
    box = (start, to) if edge < end else (to, start)
    v, _ = f.run(*box)
    g = f.run(start, start, slope=False, frozen=v)[0][f.root]
    if to.is_finite():
        unit = 1 if start > to else -1
        slope = plus(log_slopes(f, v, box, to, unit)[1], ONE)
        return _quotient(g, abs(start - to), slope) if slope[0] > 0 else None
    if not start * to > 0:
        return None
    unit = 1 if start > 0 else -1
    slope = plus(log_slopes(f, v, box, ZERO_BALL, unit)[1], ONE)
    if slope[1] < 0:
        return _quotient(g, abs(start), negative(slope))
    # the slope of log f in x itself: for tails that are nearly exponential
    slope = log_slopes(f, v, box)[1]
    slope = negative(slope) if unit > 0 else slope
    return _quotient(g, ONE_BALL, slope) if slope[0] > 0 else None


def _quotient(value: Any, length: Any, slope: Any) -> tuple[Any, Any] | None:
    out = times(times(value, (length, length)), reciprocal(slope))
    return None if out[0].is_nan() or out[1].is_nan() else out


def log_slopes(
    f: Slice, v: list, box: tuple[Any, Any], side: Any = None, unit: int = 1
) -> tuple[Any, Any]:
    """Return the ranges of df / ds and d log|f| / ds over a box.

    Parameters
    ----------
    f : Slice
        The function.
    v : list
        What ``f.run`` returned for the box: decisions that are made hold on all of it.
    box : tuple of arb
        The ends of the box.
    side : arb, optional
        s is the logarithm of the distance t = unit * (x - side), which is positive on the box;
        without a side, s is x.
    unit : int
        1 or -1.
    """
    slopes: list[Any] = [None] * len(v)  # dv / ds
    logs: list[Any] = [ZERO] * len(v)  # d log|v| / ds
    lines: list[Any] = [  # a and b, if v is exactly a + b t
        (p[0], ZERO_BALL) if isinstance(p, tuple) and p[0] == p[1] else None for p in v
    ]
    x = f.variable
    settings.work("balls", 4 * len(f.order))
    if side is None:
        slopes[x], lines[x] = ONE, None
    else:
        slopes[x], lines[x] = minus(box, (side, side)), (side, arb(unit))
    logs[x] = ONE if side is not None and side == 0 else _relative(slopes[x], v[x])
    for k in f.order:
        op, args = f.nodes[k]
        if op == "where" and v[args[0]] is not None:
            chosen = args[1] if v[args[0]] else args[2]
            slopes[k], logs[k], lines[k] = slopes[chosen], logs[chosen], lines[chosen]
        elif op in RANGES:
            i, j = args[0], args[-1]
            if op == "log":
                slopes[k] = logs[i]
            elif op == "log1p" and lines[i] and lines[i][0] == -1 and lines[i][1] != 0:
                slopes[k] = ONE  # the log of a multiple of t
            elif op == "log1p" and (mean := _mean(ONE, v[i], ZERO, logs[i])) is not None:
                slopes[k] = mean
            else:
                rule, ds, dt = RANGES[op][1], slopes[i], slopes[j]
                if ds is None and dt is None:
                    slopes[k] = ZERO
                elif len(args) == 1:
                    slopes[k] = rule(v[i], v[k], ds)
                else:
                    slopes[k] = rule(v[i], v[j], v[k], ds, dt)
            lines[k] = _line(op, lines[i], lines[j])
            if lines[k] and lines[k][0] == 0 and lines[k][1] != 0:
                logs[k] = ONE
            else:
                logs[k] = _log_rule(op, k, i, j, v, slopes, logs)
            if not (slopes[k][0].is_finite() and slopes[k][1].is_finite()):
                slopes[k] = _narrower(slopes[k], times(v[k], logs[k]))  # v' = v (log v)'
        elif isinstance(v[k], tuple) and not v[k][0] == v[k][1]:
            slopes[k], logs[k] = ENTIRE, ENTIRE  # a choice that is not decided
    return slopes[f.root] or ZERO, logs[f.root]


def _narrower(p: Any, q: Any) -> Any:
    """Return the better ends of two ranges of one value; NaN is worst."""
    low = p[0] if p[0] >= q[0] or q[0].is_nan() else q[0]
    return low, (p[1] if p[1] <= q[1] or q[1].is_nan() else q[1])


def _relative(slope: Any, value: Any) -> Any:
    over = reciprocal(value) if isinstance(value, tuple) else ENTIRE
    return ENTIRE if over is ENTIRE or slope is None else times(slope, over)


def _mean(p: Any, q: Any, e: Any, g: Any) -> Any:
    """Return the log slope of p + q: the mean of both with the weights p and q, of any sign."""
    for first, second, one, other in ((p, q, e, g), (q, p, g, e)):
        weight = reciprocal(plus(ONE, times(first, reciprocal(second))))
        if weight[0].is_finite() and weight[1].is_finite():
            return plus(one, times(weight, minus(other, one)))
    return None


def _line(op: str, p: Any, q: Any) -> Any:
    """Return the coefficients of a straight line in t, if they are exact."""
    if p is None or q is None:
        return None
    if op == "negative":
        out = -p[0], -p[1]
    elif op == "add":
        out = p[0] + q[0], p[1] + q[1]
    elif op == "subtract":
        out = p[0] - q[0], p[1] - q[1]
    elif op == "multiply" and (p[1] == 0 or q[1] == 0):
        out = p[0] * q[0], p[0] * q[1] + p[1] * q[0]
    else:
        return None
    return out if out[0].is_exact() and out[1].is_exact() else None


def _log_rule(op: str, k: int, i: int, j: int, v: list, slopes: list, logs: list) -> Any:
    """Return the slope of log|v| by the operation that made v."""
    e, g = logs[i], logs[j]
    if op in _LOG_SLOPES:
        return _LOG_SLOPES[op](e, g, v[i], v[j])
    if op in ("negative", "absolute"):
        return e
    if op == "exp":
        return slopes[i]
    if op in ("maximum", "minimum"):
        return hull(e, g)
    if op in ("add", "subtract"):
        if v[j][0] == 0 and v[j][1] == 0:
            return e
        mean = _mean(v[i], v[j] if op == "add" else negative(v[j]), e, g)
        if mean is not None:
            return mean
        if op == "add" and v[i][0] >= 0 and v[j][0] >= 0:
            return hull(e, g)  # weights of one sign, which may be 0 both
    return _relative(slopes[k], v[k])


_ARITHMETIC = {"add": plus, "subtract": minus, "multiply": times}
_LOG_SLOPES = {
    op: function_of(
        OPERATIONS[op].log,
        ("lu", "lv", "u", "v"),
        _ARITHMETIC.__getitem__,
        lambda n: (arb(n), arb(n)),
    )
    for op in ("multiply", "divide", "square", "sqrt", "power")
}
"""The rules of logarithms on slopes: exponents do not vary."""


def edges(end: float, other: float) -> list[float]:
    """Return edges between two ends, ever nearer to the first, at which its tail may begin."""
    if math.isinf(end):
        start = max(1.0, 2 * abs(other)) if math.isfinite(other) else 1.0
        return [math.copysign(start * 4.0**k, end) for k in range(30)]
    return [end + (other - end) * 2.0**-k for k in range(10, 61, 5)]
