"""Kernels that read a count through one number that settles down: 1 / (1 + x), tanh x, x / (1 + x).

Of a countable prior a head is looked at count by count. All counts beyond it lead to numbers in a
short interval, whose ends are known along the ray x = 1/t as well as by interval arithmetic.
Between the rows at these ends log f(y|x) is bounded as a function of the number.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.engine.kernels.unbounded_secrets import continuous
from borel.engine.problem.secret_and_kernel import Secret
from borel.errors import NotEnclosed
from borel.numerics.germs.interpreter import PowerProgram, range_of, ray
from borel.numerics.germs.values import UndecidedRule
from borel.numerics.graphs.dependence import through_one
from borel.numerics.graphs.graph import Graph
from borel.numerics.graphs.strict_monotonicity import direction
from borel.numerics.intervals import batched, interpreter
from borel.numerics.jets import arithmetic

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Surface
    from borel.numerics.intervals.batched import Box

_NAME, _APART, _WIDE = "x", 2.0**-24, 2.0**-16


class Settling(NamedTuple):
    """A kernel as one of a number, and the numbers of the secrets.

    Attributes
    ----------
    surface : Surface
        The kernel, of y and of the number as "x", on an interval that holds all numbers.
    atoms : Box, arrays (points,)
        Enclosures of the numbers of the atoms.
    rest : tuple of pairs
        Intervals that hold the numbers of the secrets beyond them.
    direction : {1, -1, 0}
        Whether the number rises, or falls, strictly with the count; 0 where that is not seen.
    """

    surface: Surface
    atoms: Box
    rest: tuple[tuple[float, float], ...]
    direction: int

    @property
    def slowly(self) -> bool:
        """Whether the numbers beyond the head are far from one."""
        line = self.surface.secret
        wide = _WIDE * float(line.upper[0] - line.lower[0])
        return any(b - a > wide for a, b in self.rest)

    def marks(self) -> list[float]:
        """Return about where the numbers are: of those that nearly meet, one."""
        places = np.unique([*self.atoms[0], *(v for pair in self.rest for v in pair)])
        apart = _APART * (places[-1] - places[0])
        return [*places[:-1][np.diff(places) > apart].tolist(), float(places[-1])]


def settling(surface: Surface) -> Settling | None:
    """Return a kernel of counts as one of a number that is bounded; None where it is not seen so.

    It is to be a continuous function of that number, so that slopes bound it at single numbers.
    """
    return surface.memo.fact("settling", lambda: _settling(surface))


def _settling(surface: Surface) -> Settling | None:
    secret = surface.secret
    if secret.continuous or secret.dim > 1 or not secret.rest:
        return None
    found = through_one(surface.graph, secret.names)
    if found is None or not continuous(found[0]):
        return None
    outer, g = found
    x = secret.atoms[:, 0]
    try:
        low, high = interpreter.evaluate(g, {"x": (x, x)})
        rest = tuple(_range(g, *box) for box in secret.rest)
    except NotEnclosed:
        return None
    atoms = np.broadcast_to(low, x.shape), np.broadcast_to(high, x.shape)
    ends = [*(a for a, _ in rest), *atoms[0]], [*(b for _, b in rest), *atoms[1]]
    least, most = min(ends[0]), max(ends[1])
    if not (np.isfinite(ends).all() and least < most):
        return None
    nodes = tuple(("input", (_NAME,)) if v == ("input", ("w0",)) else v for v in outer.nodes)
    line = Secret((_NAME,), np.array([least]), np.array([most]))
    first = min([*x.tolist(), *(low for low, _ in secret.rest)])
    rising = direction(g, first) if math.isfinite(first) else 0
    return Settling(surface.of(Graph(nodes, ("y", _NAME)), line), atoms, rest, rising)


def _range(g: Graph, low: float, high: float) -> tuple[float, float]:
    """Enclose the values of a function between two integers, perhaps infinite."""
    ends = interpreter.evaluate(g, {"x": (np.array(low), np.array(high))})
    least, most = (float(end) for end in ends)
    sign = 1.0 if low > 0 else -1.0
    near = low if sign > 0 else -high
    if 1 < near < math.inf and low < high and continuous(g):
        t0 = 1 / near * (1 + 2.0**-50)
        try:  # x = 1/t, or -1/t, there and beyond
            value = PowerProgram(g).run({"x": ray(0.0, -1.0, sign, sign)}, t0)
        except (UndecidedRule, NotEnclosed):
            return least, most
        along = range_of(value, t0)
        least, most = np.fmax(least, along[0]), np.fmin(most, along[1])
    return float(least), float(most)


def over_rest(found: Settling, y: Box | None, n: int, sign: float) -> np.ndarray:
    """Bound sign * log f over what is beyond the head of a countable prior, from above."""
    out = np.full(n, -np.inf)
    for a, b in found.rest:
        value = _run(found, _ends_of(y, n), (np.full(n, a), np.full(n, b)), 0)
        out = np.maximum(out, _top(arithmetic.entry(value.jet, 0), sign, n))
    return out


def over_rest_beside(
    found: Settling, y: Box, n: int, sign: float, centre: np.ndarray, half: np.ndarray, slope: Box
) -> np.ndarray:
    """Bound what sign * log f exceeds another row by, over what is beyond the head.

    Parameters
    ----------
    found : Settling
        The kernel.
    y : Box, arrays (n,)
        Boxes of outcomes.
    n, sign
        How many; 1 for the supremum over the secret, -1 for the infimum.
    centre, half : ndarray (n,)
        Their centres, and at least half of their widths.
    slope : Box, arrays (n,)
        The slope in y of the other row, over the boxes.

    Returns
    -------
    ndarray (n,)
        ``v``, so that sign * log f is at most v plus what the other row, with that sign, differs
        by from its value at the centre; for any y of the box.

    Notes
    -----
    Where log f rises with the number, or falls, for every y of the box, the row at an end of the
    interval of numbers is above all others: it need not be one of a secret.
    """
    out = np.full(n, -np.inf)
    for a, b in found.rest:
        low, high = np.full(n, a), np.full(n, b)
        rate = arithmetic.entry(_run(found, y, (low, high), 1, along="w").jet, 1)
        rate = rate if sign > 0 else batched.negative(rate)
        rate = batched.each(rate, lambda v: np.broadcast_to(v, (n,)))
        bounded = np.isfinite(rate[0]) & np.isfinite(rate[1])
        rises = bounded & (rate[0] >= 0)
        falls = bounded & (rate[1] <= 0) & ~rises
        ends = np.where(rises, high, low), np.where(falls, low, high)
        box = _run(found, y, ends, 1)
        at = _run(found, (centre, centre), ends, 0, decisions=box.decisions)
        steep = arithmetic.entry(box.jet, 1)
        steep = steep if sign > 0 else batched.negative(steep)
        gap = batched.subtract(batched.each(steep, lambda v: np.broadcast_to(v, (n,))), slope)
        with np.errstate(invalid="ignore", over="ignore"):
            extra = half * np.maximum(np.abs(gap[0]), np.abs(gap[1])) * (1 + 2.0**-50)
            more = _top(arithmetic.entry(at.jet, 0), sign, n) + extra
            more = more + np.abs(more) * 2.0**-50
        out = np.maximum(out, np.where(np.isnan(more), np.inf, more))
    return out


def _ends_of(y: Box | None, n: int) -> Box:
    return (np.zeros(n), np.zeros(n)) if y is None else y


def _run(
    found: Settling, y: Box, w: Box, order: int, *, along: str = "y", decisions: Any = None
) -> Any:
    """Evaluate log f on boxes of outcomes and numbers."""
    jets = {"y": arithmetic.constant(*y), "w": arithmetic.constant(*w)}
    jets[along] = arithmetic.variable(*{"y": y, "w": w}[along], order)
    named = found.surface.inputs([jets["w"]], jets["y"])
    return found.surface.log.run(named, order, decisions=decisions)


def _top(value: Box, sign: float, n: int) -> np.ndarray:
    """Return the upper end of sign times an enclosure."""
    value = batched.settled(value if sign > 0 else batched.negative(value))
    top = np.broadcast_to(value[1], (n,))
    return np.where(np.isnan(top), np.inf, top)
