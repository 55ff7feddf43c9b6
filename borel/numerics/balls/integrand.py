"""Expression graphs on real and on complex Arb balls, as integrands of `acb.integral`.

A function of the complex table returns a non-finite ball wherever the operation is not
holomorphic on all of its argument. These are the analytic flags: without one of them
`acb.integral` returns a wrong ball that looks right.
"""

from __future__ import annotations

import operator
from typing import Any

from flint import acb, arb

from borel import settings
from borel.numerics.balls.ranges import (
    LOGIC,
    ONE_BALL,
    ZERO_BALL,
    expit,
    logaddexp,
    no,
    power,
    repeated,
    whole,
)
from borel.numerics.graphs.operations import OPERATIONS

NAN = acb(arb.nan(), arb.nan())

# -- real balls ----------------------------------------------------------------------------------


def _ball_sqrt(x: Any) -> Any:
    return x.sqrt() if x > 0 else ZERO_BALL.union(x.upper().sqrt())


def _ball_power(x: Any, e: Any) -> Any:
    low, high = power((x.lower(), x.upper()), (e, e))
    return low.union(high)


def _ball_floor(x: Any) -> Any:
    return x.lower().floor().union(x.upper().floor())


def _ball_less(x: Any, y: Any) -> bool | None:
    return True if x < y else False if x >= y else None


def _ball_equal(x: Any, y: Any) -> bool | None:
    return False if x < y or x > y else None  # never true: a single point decides nothing


def _ball_where(c: bool | None, x: Any, y: Any) -> Any:
    return x if c else x.union(y) if c is None else y


def _ball_number(c: bool | None) -> Any:
    return ONE_BALL if c else ZERO_BALL.union(ONE_BALL) if c is None else ZERO_BALL


_METHODS = {op.removeprefix("special."): of.arb for op, of in OPERATIONS.items() if of.arb}
_ENTIRE = "exp expm1 sin cos sinh cosh tanh erf erfc".split()
"""Functions that are holomorphic wherever they are finite."""
_SHARED = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
    "square": lambda x: x * x,
    "expit": expit,
    **LOGIC,
}
BALLS: dict[str, Any] = {
    **{op: getattr(arb, method) for op, method in _METHODS.items()},
    **_SHARED,
    "sqrt": _ball_sqrt,
    "absolute": abs,
    "maximum": arb.max,
    "minimum": arb.min,
    "power": _ball_power,
    "logaddexp": logaddexp,
    "floor": _ball_floor,
    "less": _ball_less,
    "less_equal": lambda x, y: no(_ball_less(y, x)),
    "equal": _ball_equal,
    "where": _ball_where,
    "number": _ball_number,
}
"""For each operation its enclosure on real balls."""

# -- complex balls: holomorphic on the whole ball, or non-finite ---------------------------------


def _sign(z: Any) -> int:
    real = z.real
    return 1 if real > 0 else -1 if real < 0 else 0


def _holomorphic_absolute(z: Any) -> Any:
    sign = _sign(z)
    return z if sign > 0 else -z if sign < 0 else NAN


def _holomorphic_maximum(z: Any, w: Any) -> Any:
    sign = _sign(z - w)
    return z if sign > 0 else w if sign < 0 else NAN


def _holomorphic_minimum(z: Any, w: Any) -> Any:
    sign = _sign(z - w)
    return z if sign < 0 else w if sign > 0 else NAN


def _holomorphic_power(z: Any, e: Any) -> Any:
    n = whole((e.real, e.real)) if e.imag == 0 else None
    if n is None:
        return z.pow(e, True)
    return acb(1) if n == 0 else repeated(z, n) if n > 0 else 1 / repeated(z, -n)


def _holomorphic_log1p(z: Any) -> Any:
    return z.log1p() if z.real > -1 else (1 + z).log(True)


def _holomorphic_logaddexp(z: Any, w: Any) -> Any:
    if w.real < z.real:
        z, w = w, z
    return w + (1 + (z - w).exp()).log(True)


def _holomorphic_floor(z: Any) -> Any:
    real = z.real
    n = real.lower().floor()
    return acb(n) if real > n and real < n + 1 else NAN


def _holomorphic_less(z: Any, w: Any) -> bool | None:
    sign = _sign(w - z)
    return True if sign > 0 else False if sign < 0 else None


def _holomorphic_where(c: bool | None, z: Any, w: Any) -> Any:
    return z if c else NAN if c is None else w


def _within(method: Any, inside: Any) -> Any:
    """Give a method of Arb the region on which it is holomorphic."""
    return lambda z: method(z) if inside(z) else NAN


def _right(z: Any) -> bool:
    return z.real > 0


def _upright(z: Any) -> bool:
    return z.real > -1 and z.real < 1


def _level(z: Any) -> bool:
    return z.imag > -1 and z.imag < 1


COMPLEX: dict[str, Any] = {
    **{op: getattr(acb, _METHODS[op]) for op in _ENTIRE},
    **_SHARED,
    "absolute": _holomorphic_absolute,
    "maximum": _holomorphic_maximum,
    "minimum": _holomorphic_minimum,
    "power": _holomorphic_power,
    "log": lambda z: z.log(True),
    "sqrt": lambda z: z.sqrt(True),
    "log1p": _holomorphic_log1p,
    "logaddexp": _holomorphic_logaddexp,
    "arctan": _within(acb.atan, _level),
    "arcsinh": _within(acb.asinh, _level),
    "arcsin": _within(acb.asin, _upright),
    "arccos": _within(acb.acos, _upright),
    "arctanh": _within(acb.atanh, _upright),
    "gammaln": _within(acb.lgamma, _right),
    "digamma": _within(acb.digamma, _right),
    "floor": _holomorphic_floor,
    "less": _holomorphic_less,
    "less_equal": _holomorphic_less,
    "equal": lambda z, w: False if _sign(z - w) else None,
    "where": _holomorphic_where,
    "number": lambda c: NAN if c is None else acb(int(c)),
}
"""For each operation its holomorphic continuation on complex balls."""

# -- integrands ----------------------------------------------------------------------------------


def _joined(pair: Any) -> Any:
    """Return a range as one ball; a truth value as it is."""
    if not isinstance(pair, tuple):
        return pair
    return pair[0] if pair[0] is pair[1] or pair[0] == pair[1] else pair[0].union(pair[1])


class Branch:
    """A branch of a graph, as an integrand of `acb.integral`.

    Parameters
    ----------
    key : tuple
        The result's number, then ``(number, operation, arguments)`` in order of evaluation.
    values : list
        By number, the ranges of what does not depend on the variable; None for the others.
    variable : int
        The variable's number.
    undecided : list of int
        Nodes at which the branch has kinks or jumps: the flags must be asked.
    """

    def __init__(self, key: tuple, values: list, variable: int, undecided: list[int]):
        self.root, self._variable, self.kinks = key[0], variable, bool(undecided)
        self.error: BaseException | None = None
        self._balls: list[Any] = [_joined(v) for v in values]
        self._real_steps: list[tuple] = []
        self._complex_steps: list[tuple] = []
        for k, op, args in key[1:]:
            if op in ("truth", "whole"):
                self._balls[k] = args[0] if op == "truth" else arb(args[0])
            else:
                places = args if len(args) == 2 else (args[0], None) if len(args) == 1 else (args,)
                for steps, table in (
                    (self._real_steps, BALLS),
                    (self._complex_steps, COMPLEX),
                ):
                    steps.append((k, table[op], places[0], places[1] if len(places) > 1 else -1))
        self._complexes = [acb(b) if isinstance(b, arb) else b for b in self._balls]

    def __call__(self, z: Any, analytic: bool) -> Any:
        """Evaluate on a complex ball; non-finite if ``analytic`` and not holomorphic there.

        What is raised here would come out of `acb.integral` as a SystemError: it is kept in
        ``error`` instead.
        """
        if self.error is not None:
            return NAN
        try:
            if not analytic and z.imag == 0:
                return acb(self.real(z.real))
            return self._evaluate(self._complex_steps, self._complexes.copy(), z)
        except BaseException as error:
            self.error = error
            return NAN

    def real(self, x: Any) -> Any:
        """Enclose the branch over a real ball."""
        return self._evaluate(self._real_steps, self._balls.copy(), x)

    def _evaluate(self, steps: list[tuple], v: list, z: Any) -> Any:
        v[self._variable] = z
        settings.work("balls", len(steps) + 1)
        for k, function, i, j in steps:
            if j is None:
                v[k] = function(v[i])
            elif j >= 0:
                v[k] = function(v[i], v[j])
            else:
                v[k] = function(*(v[a] for a in i))
        return v[self.root]
