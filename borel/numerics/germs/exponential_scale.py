"""Outcomes on an exponential scale: y runs to infinity with t = c^-y, c > 1.

So c^(k y) is the power t^-k, and what falls geometrically has an order along the ray.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from borel.numerics.balls.arithmetic import ball, precision
from borel.numerics.germs.interpreter import Log, Power
from borel.numerics.germs.order_bounds import Ray
from borel.numerics.germs.values import BITS, NAUGHT, Value, minus, outer
from borel.numerics.graphs.affine_nodes import affine

if TYPE_CHECKING:
    from borel.numerics.graphs.graph import Graph

_MOST_POWER = 4


def scales(graph: Graph) -> list[float | str]:
    """Return the c > 1 of which the graph has powers c^(a + b y); "e" is the number e."""
    forms, found = affine(graph), set()
    for op, args in graph.nodes:
        form = forms[args[-1]] if op in ("power", "exp2", "exp") else None
        if form is None or form[1] == 0:
            continue
        if op == "exp":
            found.add("e")
        else:
            first = graph.nodes[args[0]]
            base = 2.0 if op == "exp2" else first[1][0] if first[0] == "const" else 0.0
            whole = 1 / base if 0 < base < 1 else base
            if 1 < whole < math.inf and Fraction(whole) in (Fraction(base), 1 / Fraction(base)):
                found.add(whole)
    return sorted(found, key=str)


def on_scale(scale: float | str) -> Ray:
    """Return the outcomes y = -log t / log c."""
    name = scale if isinstance(scale, str) else f"{scale:g}"
    with precision(BITS):
        rate = 1 / _base(scale).log()
        value = Log(minus(outer(rate, rate)), NAUGHT)
    data = {"infinity": 1, "scale": scale}
    return Ray(value, f"y = -log t / log {name}", data, scale=scale)  # type: ignore[arg-type]


def _base(scale: float | str) -> arb:
    return arb(1).exp() if isinstance(scale, str) else arb(scale)


def powers(graph: Graph, scale: float | str) -> dict[int, Value]:
    """Return the nodes that are powers of the scale, as powers of t, along its ray."""
    if not scale:
        return {}
    forms, out = affine(graph), {}
    for node, (op, args) in enumerate(graph.nodes):
        form = forms[args[-1]] if op in ("power", "exp2", "exp") else None
        if form is None or form[1] == 0:
            continue
        if op == "exp":
            times = 1 if scale == "e" else 0
        else:
            first = graph.nodes[args[0]]
            base = 2.0 if op == "exp2" else first[1][0] if first[0] == "const" else 0.0
            times = _as_power(base, scale)
        if times:
            with precision(BITS):
                least = _base(scale) ** ball(form[0] * times)
                rate = ball(-form[1] * times)
                out[node] = Power(arb(0), outer(rate, rate), outer(least, least))
    return out


def _as_power(base: float, scale: float | str) -> int:
    """Return k with base = scale^k, exactly, or 0."""
    if isinstance(scale, str) or not 0 < base < math.inf:
        return 0
    for k in range(1, _MOST_POWER + 1):
        if Fraction(base) == Fraction(scale) ** k:
            return k
        if Fraction(base) * Fraction(scale) ** k == 1:
            return -k
    return 0
