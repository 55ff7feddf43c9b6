r"""What the densities of many draws leave beside the ends of an interval: enclosures of masses.

With t the logarithm of the distance from a finite end, :math:`G(t) = \log p + t` is the logarithm
of the density of t. If its slope is between s > 0 and S up to T, the mass beyond is between
:math:`e^{G(T)} / S` and :math:`e^{G(T)} / s`. Far out likewise, with t = log x or t = x; the
integral of :math:`|x|^r p` is that of :math:`e^{G + r t}`, t = log x. A density that is a sum has
the masses of its terms.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.problem.prior_positivity import positive_on
from borel.errors import NotEnclosed
from borel.numerics.graphs import rewrite
from borel.numerics.graphs.graph import Graph, GraphBuilder
from borel.numerics.intervals import batched, interpreter
from borel.numerics.jets import arithmetic
from borel.numerics.reduction.linear_forms import forms_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.intervals.batched import Box

DISTANCE = "log distance"
"""The input that is the logarithm of the distance from an end: no parameter has such a name."""


class EndMasses:
    """The terms of the densities, by their logarithms.

    Parameters
    ----------
    density : Graph
        The density, a function of ``x`` and of the parameters of a draw.
    parameters : dict
        The parameters of the draws.
    interval : tuple of float
        The alphabet.
    by_draw : callable
        Makes a graph ready for all draws.
    size : int
        How many there are.
    """

    def __init__(
        self,
        density: Graph,
        parameters: dict[str, np.ndarray],
        interval: tuple[float, float],
        by_draw: Callable[[Graph, dict[str, np.ndarray]], Any],
        size: int,
    ):
        self.parameters, self.by_draw = parameters, by_draw
        self.size = size
        ranges = {name: (np.array(v.min()), np.array(v.max())) for name, v in parameters.items()}
        whole = np.array(-math.inf), np.array(math.inf)
        self.ranges: dict[str, Any] = {
            **ranges,
            "x": tuple(map(np.array, interval)),
            DISTANCE: whole,
        }
        self.logs = [
            self._powers(rewrite.log_of(term, self._nonnegative)) for term in self._terms(density)
        ]
        self._ready: dict[Any, Any] = {}

    def _nonnegative(self, graph: Graph) -> bool:
        try:
            low, _ = interpreter.evaluate(graph, {n: self.ranges[n] for n in graph.inputs})
        except NotEnclosed:
            return False
        return bool(low >= 0)

    def _powers(self, graph: Graph) -> Graph:
        """Write log u^v as v log u, for u that is not negative."""
        b = GraphBuilder()

        def rule(op: str, *args: int) -> int:
            power = b.arguments(args[0], "power") if op == "log" else ()
            if power and self._nonnegative(b.graph(power[0])):
                return b.add("multiply", power[1], b.add("log", power[0]))
            return b.add(op, *args)

        return b.graph(b.append(graph, rule)[-1])

    def _terms(self, density: Graph) -> list[Graph]:
        """Return the summands of a density that are not negative."""
        b = GraphBuilder(density)

        def split(k: int) -> list[int]:
            op, args = b.nodes[k]
            if op == "add" and all(self._nonnegative(b.graph(a)) for a in args):
                return [term for a in args for term in split(a)]
            if op == "divide" or op == "multiply":
                first = split(args[0])
                if len(first) > 1:
                    return [b.add(op, term, args[1]) for term in first]
            return [k]

        return [b.graph(k) for k in split(b.roots[0])]

    def _program(self, k: int, kind: str, end: float, sign: float) -> Any:
        key = (k, kind, end, sign)
        if key not in self._ready:
            graph = self.logs[k]
            if kind == "log":
                graph = beside(graph, end, sign, self._nonnegative)
            self._ready[key] = self.by_draw(graph, self.parameters)
        return self._ready[key]

    def of(self, end: float, edge: float, order: float = 0.0) -> Box:
        """Enclose the mass of every draw between an end and a point; infinity is no bound.

        Between an infinite end and a point not 0 also the integral of a power of abs(x).
        """
        low, high = np.zeros(self.size), np.zeros(self.size)
        with np.errstate(all="ignore"):
            for k in range(len(self.logs)):
                if order:
                    part = self._by_slope(k, "log", end, edge, order)
                    part = (0.0, np.full(self.size, np.inf)) if part is None else part
                else:
                    part = self._of_term(k, end, edge)
                low, high = low + part[0], high + part[1]
        return low * (1 - 1e-15 * len(self.logs)), high * (1 + 1e-15 * len(self.logs))

    def _of_term(self, k: int, end: float, edge: float) -> Box:
        low, high = np.zeros(self.size), np.full(self.size, np.inf)
        for kind in ("log",) if math.isfinite(end) else ("x", "log"):
            found = self._by_slope(k, kind, end, edge)
            if found is not None:
                low, high = np.fmax(low, found[0]), np.fmin(high, found[1])
        if math.isfinite(end):  # a density that is bounded there
            x = arithmetic.constant(np.array([min(end, edge)]), np.array([max(end, edge)]))
            jet, _ = self._program(k, "x", end, 0.0).run(x, 0)
            top = np.broadcast_to(batched.exp(arithmetic.value(jet))[1][:, 0], self.size)
            high = np.fmin(high, top * abs(edge - end) * (1 + 2.0**-50))
        return low, high

    def _line(self, kind: str, end: float, edge: float) -> tuple[float, float, float] | None:
        """Return the sign of x - end, and enclose T."""
        if kind == "x":
            return math.copysign(1.0, end), edge, edge
        away = edge - end if math.isfinite(end) else edge
        if away == 0 or (math.isinf(end) and (away > 0) != (end > 0)):
            return None
        place = interpreter.TABLE["log"](*_one(abs(away), 2.0**-50 if math.isfinite(end) else 0.0))
        return math.copysign(1.0, away), float(place[0]), float(place[1])

    def _by_slope(
        self, k: int, kind: str, end: float, edge: float, order: float = 0.0
    ) -> Box | None:
        line = self._line(kind, end, edge)
        if line is None:
            return None
        sign, start_low, start_high = line
        try:
            program = self._program(k, kind, end, sign)
        except NotEnclosed:
            return None
        outwards = sign if kind == "x" else (-1.0 if math.isfinite(end) else 1.0)
        name = "x" if kind == "x" else DISTANCE
        ends = (start_low, math.inf) if outwards > 0 else (-math.inf, start_high)
        over = arithmetic.variable(np.array([ends[0]]), np.array([ends[1]]), 1)
        at = arithmetic.constant(np.array([start_low]), np.array([start_high]))
        jet, decisions = program.run(over, 1, name=name)
        value = batched.exp(arithmetic.value(program.run(at, 0, name=name, decisions=decisions)[0]))
        slope = arithmetic.entry(jet, 1)
        steep = (-slope[1], -slope[0]) if outwards > 0 else slope
        steep, value = (
            batched.each(pair, lambda v: np.broadcast_to(v[:, 0], self.size))
            for pair in (steep, value)
        )
        if order:  # e^(G(t) + order t), with t = log abs(x)
            scale = batched.exp((np.array(order * start_low), np.array(order * start_high)))
            value = batched.multiply(value, (scale[0] * (1 - 2.0**-40), scale[1] * (1 + 2.0**-40)))
            steep = batched.subtract(steep, batched.point(np.array(order)))
        falls = steep[0] > 0
        high = np.where(falls, value[1] / steep[0] * (1 + 2.0**-50), np.inf)
        low = np.where(falls & np.isfinite(steep[1]), value[0] / steep[1] * (1 - 2.0**-50), 0.0)
        return np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), np.inf, high)

    def positive(self, breaks: tuple[float, ...]) -> bool:
        """Return whether all densities are seen to be positive almost everywhere, by one term."""
        ends = (np.array([self.ranges["x"][k]]) for k in (0, 1))
        lower, upper = ends
        for k in range(len(self.logs)):
            term = self._program(k, "x", 0.0, 0.0)
            fixed = {n: (float(v[0].min()), float(v[1].max())) for n, v in term.known.items()}
            finite = all(map(math.isfinite, [v for pair in fixed.values() for v in pair]))
            if finite and positive_on(term.program.graph, ("x",), lower, upper, breaks, fixed):
                return True
        return False


def beside(
    graph: Graph, end: float, sign: float, nonnegative: Callable[[Graph], bool] | None = None
) -> Graph:
    """Return log p + t as a function of t, the logarithm of the distance from an end.

    For an infinite end t is the logarithm of abs(x).

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.graphs.trace import trace
    >>> [op for op, _ in beside(trace(lambda x: 2 * np.log1p(-x), ("x",), ()), 1.0, -1.0).nodes]
    ['input', 'const', 'multiply', 'add']
    """
    b = GraphBuilder()
    t = b.add("input", DISTANCE)
    v, place = b.add("exp", t), b.constant(end if math.isfinite(end) else 0.0)
    x = v if sign > 0 else b.add("negative", v)
    if math.isfinite(end) and end != 0:
        x = b.add("add" if sign > 0 else "subtract", place, v)
    forms = forms_of(graph) if math.isfinite(end) else [None] * len(graph.nodes)

    def slope(form: Any, more: int = 0) -> float | None:
        """Return c where a weighted sum, and a number, is c times the distance from the end."""
        if form is None or {*form} - {"", "x"} or not form.get("x"):
            return None
        c = form["x"]
        exact = c * Fraction(end) + form.get("", 0) + more == 0 and Fraction(float(c)) == c
        return float(c) * sign if exact else None

    found: list[int] = []
    for k, (op, args) in enumerate(graph.nodes):
        if op == "input":
            found.append(x if args[0] == "x" else b.add(op, *args))
        elif op == "const":
            found.append(b.add(op, *args))
        elif (c := slope(forms[k])) is not None:
            found.append(b.add("multiply", b.constant(c), v))
        elif op == "log1p" and (c := slope(forms[args[0]], 1) or 0.0) > 0:
            found.append(t if c == 1 else b.add("add", b.add("log", b.constant(c)), t))
        else:
            found.append(b.add(op, *(found[a] for a in args)))
    whole = b.graph(b.add("add", found[-1], t))
    out = rewrite.simplified(rewrite.far_log(rewrite.simplified(whole), nonnegative))
    return out if math.isfinite(end) else rewrite.simplified(_shifted(out))


def _shifted(graph: Graph) -> Graph:
    """Write log|(e^t - w) / c| as t + log|1 - w e^-t| - log|c|: its slope has bounds far out."""
    b, found, fixed = GraphBuilder(), [], []

    def exponential(k: int) -> float:
        """Return 1 for e^t, -1 for -e^t, and otherwise 0."""
        op, args = graph.nodes[k]
        if op == "negative":
            return -exponential(args[0])
        return float(op == "exp" and graph.nodes[args[0]] == ("input", (DISTANCE,)))

    def shifted(k: int) -> int | None:
        """Return the logarithm of a node."""
        t, scale = b.add("input", DISTANCE), None
        size = graph.nodes[k][0] == "absolute"
        if size:
            k = graph.nodes[k][1][0]
        op, args = graph.nodes[k]
        if size and op == "divide" and fixed[args[1]]:
            scale = b.add("log", b.add("absolute", found[args[1]]))
            k = args[0]
            op, args = graph.nodes[k]
        if exponential(k):
            out = t if size else None
        elif op not in ("add", "subtract"):
            out = None
        else:
            (own, other), signs = args, [1.0, -1.0 if op == "subtract" else 1.0]
            if not exponential(own):
                own, other, signs = other, own, signs[::-1]
            sign = exponential(own) * signs[0]
            if not (sign and fixed[other] and (size or sign > 0)):
                return None
            part = b.add("multiply", found[other], b.add("exp", b.add("negative", t)))
            rest = b.add("add" if sign * signs[1] > 0 else "subtract", b.constant(1.0), part)
            out = b.add("add", t, b.add("log", b.add("absolute", rest) if size else rest))
        return out if scale is None or out is None else b.add("subtract", out, scale)

    for op, args in graph.nodes:
        leaf = op in ("input", "const")
        fixed.append(args != (DISTANCE,) if leaf else all(fixed[a] for a in args))
        new = shifted(args[0]) if op == "log" else None
        new = b.add(op, *(args if leaf else (found[a] for a in args))) if new is None else new
        found.append(new)
    return b.graph(found[-1])


def _one(value: float, spread: float) -> tuple[Box]:
    return ((np.array(value * (1 - spread)), np.array(value * (1 + spread))),)
