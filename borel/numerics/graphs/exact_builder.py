"""Graphs in the making whose numbers rational arithmetic knows, without rounding."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.numerics.graphs import float64
from borel.numerics.graphs.graph import GraphBuilder
from borel.numerics.graphs.operations import TRUTHS

if TYPE_CHECKING:
    from collections.abc import Callable

Exact = Fraction | float
"""A number known exactly; a float only if it is infinite or NaN."""


class ExactBuilder(GraphBuilder):
    """A graph in the making, with the numbers that are known exactly.

    Parameters
    ----------
    rules : dict
        By operation, ``(builder, *arguments) -> node``: the simpler form of it, or None.
    """

    def __init__(self, rules: dict[str, Callable[..., int | None]]) -> None:
        super().__init__()
        self._rules = rules
        self.exact: dict[int, Exact] = {}
        self._rounded: dict[int, float] = {}
        self._guarded: set[int] = set()
        self._affine: dict[int, tuple[dict[int, int], Fraction]] = {}

    def add(self, op: str, *args: Any) -> int:
        """Add a node as it is."""
        k = super().add(op, *args)
        if op == "const":
            value = float(args[0])
            self.exact[k] = Fraction(value) if math.isfinite(value) else value
            self._rounded[k] = value
            guarded = math.isnan(value)
        else:
            guarded = op != "input" and not self._guarded.isdisjoint(args)
        if guarded:
            self._guarded.add(k)
        return k

    def defined(self, k: int) -> bool:
        """Return whether a node may be left out: no constant NaN, an obligation, is in it."""
        return k not in self._guarded

    def node(self, op: str, *args: int, simply: bool = True) -> int:
        """Add a node in its simplest form; or but for what numbers decide."""
        known, rounded = self._value(op, args)
        if known is not None and known == rounded:
            return self.constant(rounded)
        if simply and op in self._rules:
            simpler = self._rules[op](self, *args)
            if simpler is not None:
                return simpler
        k = self.add(op, *args)
        if known is not None and op not in TRUTHS:
            self.exact[k], self._rounded[k] = known, rounded
        return k

    def _value(self, op: str, args: tuple[int, ...]) -> tuple[Exact | None, float]:
        """Return the exact value of an operation on known numbers, and what float64 makes of it.

        Where the two differ nothing is folded: 0.1 + 0.2 + 0.7 may be above 1 for one only, and
        a check that float64 passes must not fail here, nor one that it fails be passed.
        """
        values = [self.exact.get(a) for a in args]
        if op not in _EXACT or any(v is None for v in values):
            return None, 0.0
        known = _EXACT[op](*values)
        if known is None:
            return None, 0.0
        with np.errstate(all="ignore"):
            return known, float(float64.function(op)(*(self._rounded[a] for a in args)))

    def affine(self, k: int) -> tuple[dict[int, int], Fraction]:
        """Return a node as a sum of others, each with its sign or count, and a constant."""
        if k not in self._affine:
            self._affine[k] = self._sum(k)
        return self._affine[k]

    def _sum(self, k: int) -> tuple[dict[int, int], Fraction]:
        known = self.exact.get(k)
        if isinstance(known, Fraction):
            return {}, known
        op, args = self.nodes[k]
        if op == "negative":
            terms, shift = self.affine(args[0])
            return {i: -c for i, c in terms.items()}, -shift
        if op not in ("add", "subtract"):
            return {k: 1}, Fraction(0)
        return self.total(args[0], args[1], 1 if op == "add" else -1)

    def total(self, a: int, b: int, sign: int) -> tuple[dict[int, int], Fraction]:
        """Return a + b, or a - b if the sign is -1, as `affine` does; what cancels counts 0."""
        (one, left), (two, right) = self.affine(a), self.affine(b)
        terms = {i: one.get(i, 0) + sign * two.get(i, 0) for i in {**one, **two}}
        return terms, left + sign * right

    def truth(self, k: int) -> bool | None:
        """Return whether a node is true, if that is known and float64 agrees."""
        known = self.exact.get(k)
        return None if known is None or bool(known) != bool(self._rounded[k]) else bool(known)

    def is_number(self, k: int, value: float) -> bool:
        """Return whether a node is that number."""
        return self.exact.get(k) == value


# -- exact arithmetic ----------------------------------------------------------------------------


def _rational(function: Callable[..., Any]) -> Callable[..., Fraction | None]:
    """Return a function of rational numbers that knows nothing of infinities."""

    def apply(*values: Exact) -> Fraction | None:
        if not all(isinstance(v, Fraction) for v in values):
            return None
        found = function(*values)
        return None if found is None else Fraction(found)

    return apply


def _power(a: Fraction, b: Fraction) -> Fraction | None:
    if b.denominator != 1 or abs(b) > 64 or (a == 0 and b < 0):
        return None
    return a ** int(b)


def _binomial(n: Fraction, k: Fraction) -> Fraction | None:
    if n.denominator != 1 or k.denominator != 1 or not 0 <= k <= n <= 1024:
        return None
    return Fraction(math.comb(int(n), int(k)))


def _root(a: Fraction) -> Fraction | None:
    if a < 0:
        return None
    root = Fraction(math.isqrt(a.numerator), math.isqrt(a.denominator))
    return root if root * root == a else None


def _extreme(choose: Callable[..., Exact]) -> Callable[..., Exact | None]:
    return lambda a, b: None if a != a or b != b else choose(a, b)


def _truth(function: Callable[..., Any]) -> Callable[..., Fraction]:
    return lambda *values: Fraction(bool(function(*values)))


def _at(points: dict[int, int]) -> Callable[..., Fraction | None]:
    """Return a function known at a few points."""
    return _rational(points.get)


_EXACT: dict[str, Callable[..., Exact | None]] = {
    "add": _rational(operator.add),
    "subtract": _rational(operator.sub),
    "multiply": _rational(operator.mul),
    "divide": _rational(lambda a, b: a / b if b else None),
    "reciprocal": _rational(lambda a: 1 / a if a else None),
    "square": _rational(lambda a: a * a),
    "power": _rational(_power),
    "sqrt": _rational(_root),
    "sign": _rational(lambda a: (a > 0) - (a < 0)),
    "floor": _rational(math.floor),
    "ceil": _rational(math.ceil),
    "trunc": _rational(math.trunc),
    "negative": lambda a: -a,
    "absolute": lambda a: abs(a),
    "maximum": _extreme(max),
    "minimum": _extreme(min),
    "log": _at({1: 0}),
    "log1p": _at({0: 0}),
    "exp": _at({0: 1}),
    "expm1": _at({0: 0}),
    "special.gammaln": _at({1: 0, 2: 0}),
    "special.binom": _rational(_binomial),
    "less": _truth(operator.lt),
    "less_equal": _truth(operator.le),
    "greater": _truth(operator.gt),
    "greater_equal": _truth(operator.ge),
    "equal": _truth(operator.eq),
    "not_equal": _truth(operator.ne),
    "logical_and": _truth(lambda a, b: a and b),
    "logical_or": _truth(lambda a, b: a or b),
    "logical_not": _truth(operator.not_),
    "isnan": _truth(lambda a: a != a),
    "isinf": _truth(lambda a: abs(a) == math.inf),
    "isfinite": _truth(lambda a: isinstance(a, Fraction)),
}
