"""The power-scaled interpreter of expression graphs, which proves that something is infinite.

Every input is a function of t (see `borel.numerics.germs.values`), and so is every node:
enclosed for all t in (0, t0] at once, so that what happens as t goes to 0 is known and not
extrapolated.

Examples
--------
>>> import numpy as np
>>> from borel.numerics.graphs.trace import trace
>>> graph = trace(lambda y, x: x * y / (x + y) ** 3, ("y", "x"), ())
>>> program = PowerProgram(graph)
>>> found = program.run({"y": ray(0, 1, 1, 1), "x": ray(0, 1, 0.25, 0.75)}, 2.0**-10)
>>> exponent(found), limits(found)
((-1.0, -1.0), (inf, inf))
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb

from borel import settings
from borel.numerics.balls.arithmetic import precision
from borel.numerics.germs.arithmetic import Rules
from borel.numerics.germs.functions import FUNCTIONS, PARTIALS, PICKS, RULES
from borel.numerics.germs.values import (
    BITS,
    INF,
    ONE,
    SHARE,
    UNKNOWN,
    ZERO,
    Infinite,
    Log,
    Power,
    Real,
    Truth,
    UndecidedRule,
    Value,
    box,
    constant,
    exponent,
    floats,
    ray,
    slack,
    weight,
)
from borel.numerics.intervals import interpreter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from borel.numerics.graphs.graph import Graph

__all__ = [
    "UNKNOWN",
    "Infinite",
    "Log",
    "Power",
    "PowerProgram",
    "Truth",
    "exponent",
    "limits",
    "range_of",
    "ray",
    "slack",
    "weight",
]


class PowerProgram:
    """A graph, ready to be evaluated along rays.

    Parameters
    ----------
    graph : Graph
        The expression, read as a function of real numbers.
    """

    def __init__(self, graph: Graph):
        self.graph = graph

    def run(
        self,
        inputs: dict[str, Any],
        t0: float,
        *,
        derivative: str | None = None,
        known: dict[int, Value] | None = None,
        almost: bool = False,
    ) -> Any:
        """Enclose the graph for all t in (0, t0] and all slacks.

        Parameters
        ----------
        inputs : dict
            By name: `ray` or `slack`; slacks of different inputs are independent.
        t0 : float
            Inside (0, 1).
        derivative : str, optional
            An input x: the partial derivative in x is enclosed as well, and statements hold for
            almost every x only, so that ``x == c`` is false.
        known : dict, optional
            Values of nodes that are known better; they do not depend on x.
        almost : bool
            Whether statements are about almost all slacks: then a logarithm of what may be 0 is
            bounded from above.

        Returns
        -------
        Value, or (Value, Value) with the derivative
            `Unknown` where there was any doubt.

        Raises
        ------
        ValueError
            A derivative in an input that takes no interval of values: then almost every x would
            be no x at all.
        """
        if derivative is not None:
            _check_sweep(inputs, derivative)
        values, slopes = self._nodes(inputs, t0, derivative, known or {}, almost)
        return values[-1] if derivative is None else (values[-1], slopes[-1])

    def values(self, inputs: dict[str, Any], t0: float) -> list[Value]:
        """Enclose every node for all t in (0, t0] and all slacks."""
        return self._nodes(inputs, t0, None)[0]

    def _nodes(
        self,
        inputs: dict[str, Any],
        t0: float,
        derivative: str | None,
        known: dict[int, Value] | None = None,
        almost: bool = False,
    ) -> tuple[list[Value], list[Value]]:
        values: list[Value] = []
        slopes: list[Value] = []
        settings.work("germs", len(self.graph.nodes))
        with precision(BITS):
            rules = Rules(t0, almost=almost)
            for node, (op, args) in enumerate(self.graph.nodes):
                if known and node in known:
                    value, slope = known[node], ZERO
                elif op == "input":
                    value, slope = inputs[args[0]], ONE if args[0] == derivative else ZERO
                elif op == "const":
                    value, slope = _number(args[0]), ZERO
                else:
                    operands, moves = [values[a] for a in args], [slopes[a] for a in args]
                    value = _attempt(_value, rules, op, operands, moves)
                    slope = _attempt(_slope, rules, op, value, operands, moves)
                values.append(value)
                slopes.append(slope)
        return values, slopes


def _check_sweep(inputs: dict[str, Power], name: str) -> None:
    x = inputs[name]
    others_rest = all(v.still for other, v in inputs.items() if other != name)
    if not (x.w[0] < x.w[1] or (others_rest and not x.still)):
        raise ValueError(f"a derivative in {name!r} needs an interval of values of {name!r}")


def _attempt(step: Callable[..., Value], *arguments: Any) -> Value:
    try:
        return step(*arguments)
    except UndecidedRule:
        return UNKNOWN


def _number(value: float) -> Value:
    if math.isnan(value):
        return UNKNOWN
    return Infinite(1 if value > 0 else -1) if math.isinf(value) else constant(value)


# -- what is known of a value ---------------------------------------------------------------------


def range_of(value: Value, t0: float) -> tuple[float, float]:
    """Return floats around the values for all t in (0, t0]."""
    if isinstance(value, Infinite):
        return limits(value)
    if isinstance(value, Truth):
        return float(value.known is True), float(value.known is not False)
    if not isinstance(value, Real):
        return -math.inf, math.inf
    with precision(BITS):
        return floats(Rules(t0).range(value))


def limits(value: Value) -> tuple[float, float]:
    """Return floats around the accumulation points as t goes to 0, for any choice of slacks.

    A *lower* end of inf is a proof: for every slack the value tends to infinity. An upper end of
    inf proves nothing.
    """
    if isinstance(value, Infinite):
        return math.inf * value.sign, math.inf * value.sign
    if isinstance(value, Log):
        if value.a[1] < 0 and value.w[0] > -INF:
            return math.inf, math.inf
        if value.a[0] > 0 and value.w[1] < INF:
            return -math.inf, -math.inf
    if not isinstance(value, Power):
        return -math.inf, math.inf
    (low, high), (below, above) = value.a, value.w
    if low == high == 0 or value.constant:
        return floats((value.base + below, value.base + above))
    if low > 0 and below > -INF and above < INF:
        return floats((value.base, value.base))
    if high < 0 and (below > 0 or above < 0):
        return limits(Infinite(1 if below > 0 else -1))
    # t**a w has the signs of w, and no more is known
    start = floats((value.base, value.base))
    return start[0] if below >= 0 else -math.inf, start[1] if above <= 0 else math.inf


# -- values of nodes ------------------------------------------------------------------------------


def _value(rules: Rules, op: str, args: Sequence[Value], slopes: Sequence[Value]) -> Value:
    if op == "where":
        return _where(rules, *args)
    if op in _LOGIC:
        return Truth(_LOGIC[op](*(truth_of(rules, a) for a in args)))
    numbers = [_as_number(a) for a in args]
    if UNKNOWN in numbers:
        return Truth(None) if op in _ORDER or op in _FINITE else UNKNOWN
    if op in _FINITE:
        number = numbers[0]
        if isinstance(number, Real) and not all(map(arb.is_finite, number.w)):
            return Truth(None)  # a logarithm of what may be 0 is one of them
        return Truth(_FINITE[op](isinstance(number, Infinite)))
    if any(isinstance(a, Infinite) for a in numbers):
        return _of_infinite(rules, op, numbers)
    if op in _ORDER:
        return Truth(_compare(rules, op, numbers, slopes))
    if op == "log" and numbers[0] == ZERO:
        return Infinite(-1)
    if op in RULES:
        found = getattr(rules, op)(*numbers)
    elif op in FUNCTIONS:
        found = FUNCTIONS[op](rules, *numbers)
    else:
        found = _bounded(rules, op, numbers)
    if isinstance(found, Power) and all(isinstance(a, Power) and a.still for a in args):
        return replace(found, still=True)  # no t went in
    return found


def _as_number(value: Value) -> Value:
    """Read a truth value as 0 or 1."""
    if not isinstance(value, Truth):
        return value
    return box(SHARE) if value.known is None else ONE if value.known else ZERO


def _bounded(rules: Rules, op: str, args: Sequence[Any]) -> Real:
    """Enclose any function by its range over the ranges of its arguments."""
    if op not in interpreter.TABLE or op == "remainder":  # which may have no value inside its box
        raise UndecidedRule(op)
    boxes = [tuple(np.asarray(end) for end in floats(rules.range(a))) for a in args]
    with np.errstate(all="ignore"):
        low, high = (float(end) for end in interpreter.TABLE[op](*boxes))
    if not (math.isfinite(low) and math.isfinite(high)):
        raise UndecidedRule(op)
    return box((arb(low), arb(high)))


def _of_infinite(rules: Rules, op: str, args: Sequence[Any]) -> Value:
    """Apply an operation where an argument is infinite for all t."""
    signs = [a.sign if isinstance(a, Infinite) else 0 for a in args]
    first, last = signs[0], signs[-1]
    if op in _ORDER:
        if first == last:
            return Truth(op in ("equal", "less_equal", "greater_equal"))
        return Truth(_ORDER[op](first - last, first - last, False))
    if op == "negative":
        return Infinite(-first)
    if op in ("add", "subtract"):
        last = last if op == "add" else -last
        return UNKNOWN if first * last < 0 else Infinite(first or last)
    if op in ("exp", "exp2"):
        return Infinite(1) if first > 0 else ZERO
    if op in ("maximum", "fmax", "logaddexp"):
        return Infinite(1) if 1 in signs else args[signs.index(-1) - 1]  # the other one
    if op in ("minimum", "fmin"):
        return Infinite(-1) if -1 in signs else args[signs.index(1) - 1]
    if op == "multiply":
        sides = [(s, s) if s else rules.signs(a) for s, a in zip(signs, args, strict=True)]
        if all(low > 0 or high < 0 for low, high in sides):
            return Infinite(1 if (sides[0][0] > 0) == (sides[1][0] > 0) else -1)
    return UNKNOWN


# -- truth values ---------------------------------------------------------------------------------


def _three(yes: bool, no: bool) -> bool | None:
    return True if yes else False if no else None


# of the signs of a - b, and whether a = b on a null set only
_ORDER: dict[str, Callable[[Any, Any, bool], bool | None]] = {
    "less": lambda low, high, null: _three(high < 0 or (null and high <= 0), low >= 0),
    "less_equal": lambda low, high, null: _three(high <= 0, low > 0 or (null and low >= 0)),
    "greater": lambda low, high, null: _three(low > 0 or (null and low >= 0), high <= 0),
    "greater_equal": lambda low, high, null: _three(low >= 0, high < 0 or (null and high <= 0)),
    "equal": lambda low, high, null: _three(low == high == 0, low > 0 or high < 0 or null),
    "not_equal": lambda low, high, null: _three(low > 0 or high < 0 or null, low == high == 0),
}
_FINITE: dict[str, Callable[[bool], bool]] = {
    "isnan": lambda infinite: False,
    "isinf": lambda infinite: infinite,
    "isfinite": lambda infinite: not infinite,
}


def _both(p: bool | None, q: bool | None) -> bool | None:
    return _three(bool(p and q), p is False or q is False)


def _not(p: bool | None) -> bool | None:
    return None if p is None else not p


_LOGIC: dict[str, Callable[..., bool | None]] = {
    "logical_and": _both,
    "logical_or": lambda p, q: _not(_both(_not(p), _not(q))),
    "logical_not": _not,
    "logical_xor": lambda p, q: None if p is None or q is None else p != q,
}


def _compare(rules: Rules, op: str, args: Sequence[Any], slopes: Sequence[Value]) -> bool | None:
    null = False
    if all(isinstance(d, Real) for d in slopes):
        low, high = rules.signs(rules.subtract(*slopes))  # type: ignore[arg-type]
        null = low > 0 or high < 0
    return _ORDER[op](*rules.signs(rules.subtract(*args)), null)


def truth_of(rules: Rules, value: Value) -> bool | None:
    """Read a value as a truth value: true where it is not 0."""
    if isinstance(value, Truth):
        return value.known
    if isinstance(value, Infinite):
        return True
    if not isinstance(value, Real):
        return None
    low, high = rules.signs(value)
    return _three(low > 0 or high < 0, value == ZERO)


def _where(rules: Rules, condition: Value, yes: Value, no: Value) -> Value:
    known = truth_of(rules, condition)
    if known is not None:
        return yes if known else no
    if yes is no:
        return yes
    if isinstance(yes, Truth) and isinstance(no, Truth):
        return yes if yes == no else Truth(None)
    numbers = _as_number(yes), _as_number(no)
    if not all(isinstance(v, Real) for v in numbers):
        return UNKNOWN
    return rules.joined(*numbers)  # type: ignore[arg-type]


# -- derivatives ----------------------------------------------------------------------------------


def _slope(
    rules: Rules, op: str, value: Value, args: Sequence[Value], slopes: Sequence[Value]
) -> Value:
    """Enclose the derivative of a node from those of its arguments."""
    if all(d == ZERO for d in slopes) or (isinstance(value, Power) and value.constant):
        return ZERO
    if isinstance(value, Truth):
        return UNKNOWN if value.known is None else ZERO
    if op == "where":
        known = truth_of(rules, args[0])
        return UNKNOWN if known is None else slopes[1] if known else slopes[2]
    numbers = [_as_number(a) for a in args]
    if not all(isinstance(v, Real) for v in (value, *numbers)):
        return UNKNOWN
    if op in PICKS:
        k, sign = PICKS[op](rules, *numbers)
        picked = slopes[k]
        if sign > 0 or not isinstance(picked, Real):
            return picked
        return rules.negative(picked)
    if op not in PARTIALS:
        return UNKNOWN
    total: Real = ZERO
    for partial, slope in zip(PARTIALS[op], slopes, strict=True):
        if slope == ZERO:
            continue
        if not isinstance(slope, Real):
            return UNKNOWN
        total = rules.add(total, rules.multiply(partial(rules, value, *numbers), slope))
    return total
