"""The interval interpreter of expression graphs: boxes in, outward-rounded enclosures out.

Its trust base is IEEE + - * / sqrt (whose exact rounding errors are computed), `ULPS` for NumPy's
elementary functions, and Arb for scipy.special. An operation outside `TABLE` raises `NotEnclosed`,
naming it.

An enclosure holds the value at every point of the box where there is one. Where a function is
asked outside its domain (NumPy's NaN) its ends are NaN, which means: unknown, perhaps no value.
`evaluate` then writes (-inf, inf) and goes on, but remembers the doubt for comparisons, since NumPy
answers those for NaN too.
"""

from __future__ import annotations

import math
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

import numpy as np

from borel import settings
from borel.errors import NotEnclosed
from borel.numerics.graphs.formulas import function_of, reads_once
from borel.numerics.graphs.graph import LEAVES
from borel.numerics.graphs.operations import FOR_NAN, OPERATIONS, REALS
from borel.numerics.intervals import arithmetic, composed, elementary, special
from borel.numerics.intervals.arithmetic import Box, both_ends
from borel.numerics.intervals.elementary import ULPS, exponential

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.graphs.graph import Graph

__all__ = ["TABLE", "ULPS", "Box", "evaluate", "exponential"]


def evaluate(graph: Graph, inputs: dict[str, Box]) -> Box:
    """Enclose the range of a graph over boxes (arrays of lower and upper ends).

    Truth values are boxes too: [0, 0] false, [1, 1] true, [0, 1] either.
    """
    values: list[Box] = []
    doubts: list[np.ndarray] = []
    nowhere: list[np.ndarray] = []
    count = math.prod(np.broadcast_shapes(*(np.shape(low) for low, _ in inputs.values())))
    settings.work("intervals", len(graph.nodes), count)
    with np.errstate(all="ignore"):
        for op, args in graph.nodes:
            if op == "input":
                low, high = inputs[args[0]]
                low, high = np.asarray(low, float), np.asarray(high, float)
            elif op == "const":
                low = high = np.asarray(args[0], float)
            elif op not in TABLE:
                raise NotEnclosed(f"interval arithmetic for {op} is not in this version")
            else:
                boxes = [values[a] for a in args]
                if op in _DEFINED_FOR_NAN:
                    boxes = [_doubted(values[a], doubts[a]) for a in args]
                low, high = TABLE[op](*boxes)
                if op == "multiply":  # 0 times everything is 0, but 0 times 1 / 0 is no number
                    (a, b), (p, q) = boxes, (nowhere[k] for k in args)
                    lost = _point_0(a) & q | _point_0(b) & p
                    low, high = _doubted((low, high), lost)
            doubt = np.isnan(low) | np.isnan(high)
            lost = np.isnan(low) & np.isnan(high)
            if op == "where":  # of the one that is taken
                no, yes = (boxes[0][1] == 0) & (boxes[0][0] == 0), boxes[0][0] == 1
                lost = lost | ~no & nowhere[args[1]] | ~yes & nowhere[args[2]]
            elif op not in LEAVES and op not in FOR_NAN:
                for a in args:
                    lost = lost | nowhere[a]
            nowhere.append(lost)
            if op in UNDEFINED:
                doubt = doubt | UNDEFINED[op](*(values[a] for a in args))
            if op not in LEAVES and op not in _DEFINED_FOR_NAN:
                for a in args:
                    doubt = doubt | doubts[a]
            values.append(_known((low, high)))
            doubts.append(doubt)
    shapes = (np.shape(inputs[name][0]) for name in graph.inputs)
    shape = np.broadcast_shapes(*shapes, np.shape(values[-1][0]))
    return np.broadcast_to(values[-1][0], shape), np.broadcast_to(values[-1][1], shape)


def _doubted(box: Box, doubt: np.ndarray) -> Box:
    """Put NaN back where there may be no value."""
    return arithmetic.replace(doubt, arithmetic.UNKNOWN, box) if doubt.any() else box


def _known(box: Box) -> Box:
    """Write an end that is NaN as the infinite end that it stands for; others stay as they are."""
    low, high = box
    no_low, no_high = np.isnan(low), np.isnan(high)
    return (
        np.where(no_low, -np.inf, low) if no_low.any() else low,
        np.where(no_high, np.inf, high) if no_high.any() else high,
    )


def _point_0(a: Box):
    """Say where a box is the point 0."""
    return (a[0] == 0) & (a[1] == 0)


def _infinite(*boxes: Box):
    """Say where one of some boxes is a point at infinity."""
    return reduce(or_, ((low == high) & np.isinf(low) for low, high in boxes))


def _at_the_edge(*boxes: Box):
    """Say where one of some boxes is the point 0, or a point at infinity."""
    return _infinite(*boxes) | reduce(or_, map(_point_0, boxes))


def _from_known(function):
    return lambda *boxes: function(*(_known(b) for b in boxes))


# Where NumPy and SciPy have no value (0 / 0, 0 inf, I_0(inf)) though the enclosures have one, by
# continuity or as ranges need it: a comparison of what comes out may go the other way.
UNDEFINED = {
    "multiply": lambda a, b: (
        _infinite(a, b) & (arithmetic.holds_zero(a) | arithmetic.holds_zero(b))
    ),
    "divide": lambda a, b: arithmetic.zero_by_zero(a, b) | _infinite(a) & _infinite(b),
    "floor_divide": lambda a, b: arithmetic.zero_by_zero(a, b) | _infinite(a, b),
    "remainder": _infinite,
    "special.binom": lambda n, k: _infinite(n, k) | (n[0] < 0),
    **{f"special.{name}": _infinite for name in "i0 i1 kl_div rel_entr xlogy xlog1py".split()},
    **{
        f"special.{name}": _at_the_edge
        for name in "beta betaln betainc betaincc gammainc gammaincc iv kv poch".split()
    },
}
_DEFINED_FOR_NAN = FOR_NAN | {"where"}
_OWN = {
    "exp": exponential,
    "positive": lambda a: a,
    "greater": lambda a, b: arithmetic.less(b, a),
    "greater_equal": lambda a, b: arithmetic.less_equal(b, a),
    "not_equal": lambda a, b: arithmetic.logical_not(arithmetic.equal(a, b)),
    **{op: both_ends(getattr(np, op)) for op in ("floor", "ceil", "trunc", "rint", "sign")},
}


def _enclosure(op: str) -> Callable[..., Box] | None:
    """Return what encloses an operation: the function of its name, unless it has another one.

    Where there is none, it is what the operation means in others, if that is a function of all
    numbers that reads each argument once: then nothing is overestimated.
    """
    name = op.removeprefix("special.")
    modules = (arithmetic, elementary) if name == op else (composed, special)
    found = [getattr(module, name, None) for module in modules]
    function, of = _OWN.get(op) or found[0] or found[1], OPERATIONS[op]
    if function is None and of.domain == REALS and of.means and reads_once(of.means):
        return function_of(of.means, ("u", "v")[: of.arguments], _later, _constant)
    return function


def _later(op: str) -> Callable[..., Box]:
    return lambda *boxes: TABLE[op](*boxes)


def _constant(value: float) -> Box:
    return np.asarray(value), np.asarray(value)


TABLE: dict[str, Callable[..., Box]] = {
    op: function if op in _DEFINED_FOR_NAN else _from_known(function)
    for op in OPERATIONS
    if (function := _enclosure(op))
}
"""Enclosures by the names of operations in a graph: boxes in (arrays that broadcast), a box out.

An end that is NaN, given or returned, bounds nothing; the other end of the same box still does.
Called under ``np.errstate(all="ignore")``.
"""
