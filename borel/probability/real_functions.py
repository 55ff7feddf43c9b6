"""Functions of a real number as users give them, traced and enclosed: for means of h(leakage)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.constants import real
from borel.errors import InvalidInput, NotEnclosed, NotTraceable
from borel.numerics.graphs.trace import trace
from borel.numerics.intervals import interpreter
from borel.numerics.intervals.rounding import fraction_down, fraction_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.graphs.graph import Graph


@dataclass(frozen=True, eq=False)
class RealFunction:
    """A function h of a number t, perhaps infinite.

    Attributes
    ----------
    name : str
        What to call it.
    function : callable
        h itself: its value at infinity is what NumPy gives there.
    graph : Graph
        h as a function of ``t``.
    limits : dict
        h at -inf and at inf, where it was declared.
    """

    name: str
    function: Callable[[Any], Any]
    graph: Graph
    limits: dict[float, Any]

    def missing_at(self, end: float) -> bool:
        """Return whether NumPy gives no value at -inf or inf, as of 0 times inf."""
        with np.errstate(all="ignore"):
            return bool(np.isnan(np.asarray(self.function(np.array([end])), float)).any())

    def __repr__(self) -> str:
        """Show its name."""
        return self.name

    def over(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Enclose h on intervals, whose ends may be infinite and then belong to them.

        Raises
        ------
        InvalidInput
            An interval that is a point at infinity, where h gives no number and none was declared.
        """
        found = interpreter.evaluate(self.graph, {"t": (low, high)})
        a, b = (np.array(np.broadcast_to(end, np.shape(low)), float) for end in found)
        for end in (-math.inf, math.inf):
            point, touched = (low == end) & (high == end), (low == end) | (high == end)
            declared = self.limits.get(end)
            if declared is not None:
                least, most = (
                    declared if math.isinf(declared) else f(declared)
                    for f in (fraction_down, fraction_up)
                )
                a = np.where(point, least, np.where(touched, np.minimum(a, least), a))
                b = np.where(point, most, np.where(touched, np.maximum(b, most), b))
            elif point.any() and self.missing_at(end):
                raise InvalidInput(
                    "h",
                    expected=f"a value at t = {end}, which has a positive probability",
                    got="none",
                    mend="give it: at_infinity=... (or at_minus_infinity=...), perhaps inf.",
                )
        return a, b


def real_function(
    what: str, h: Any, *, at_infinity: Any = None, at_minus_infinity: Any = None
) -> RealFunction:
    """Trace a function of one number.

    Raises
    ------
    InvalidInput
        Something that is no function, or one that cannot be traced or enclosed.
    """
    if not callable(h):
        raise InvalidInput(what, expected="a function h of t, in nats", got=repr(h))
    try:
        graph = trace(h, ("t",), ())
        interpreter.evaluate(graph, {"t": (np.zeros(1), np.ones(1))})
    except (NotTraceable, NotEnclosed) as error:
        raise InvalidInput(
            what,
            expected="a function h of t, elementwise in NumPy, that can be traced",
            got=str(error),
            mend="np.where instead of if, np.exp instead of math.exp.",
        ) from None
    given = {-math.inf: at_minus_infinity, math.inf: at_infinity}
    limits = {
        end: real(what, value, "the value of h at infinity, perhaps inf")
        for end, value in given.items()
        if value is not None
    }
    name = getattr(h, "__name__", "h")
    return RealFunction("h" if name == "<lambda>" else name, h, graph, limits)
