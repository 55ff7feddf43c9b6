"""Outcomes on an exponential scale: y runs to infinity with t = c^-y, c > 1.

So c^(k y) is the power t^-k, and what falls geometrically has an order along the ray.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flint import arb

from borel.numerics.balls.arithmetic import ball, precision
from borel.numerics.germs.interpreter import Log, Power
from borel.numerics.germs.order_bounds import Ray
from borel.numerics.germs.values import BITS, NAUGHT, Value, minus, outer
from borel.numerics.graphs.affine_nodes import affine

if TYPE_CHECKING:
    from borel.numerics.graphs.graph import Graph

_MOST_POWER = 4
_LEAST = 1e-300


def scales(graph: Graph) -> list[Fraction | str]:
    """Return the c > 1 of which the graph has powers c^(a + b y); "e" is the number e."""
    forms, found = affine(graph), set()
    for op, args in graph.nodes:
        form = forms[args[-1]] if op in ("power", "exp2", "exp") else None
        if form is None or form[1] == 0:
            continue
        if op == "exp":
            found.add("e")
        else:
            base = _constant_base(graph, op, args)
            if _LEAST < base < 1 / _LEAST and base != 1:
                found.add(max(Fraction(base), 1 / Fraction(base)))
    return sorted(found, key=str)


def on_scale(scale: Fraction | str) -> Ray:
    """Return the outcomes y = -log t / log c."""
    name = scale if isinstance(scale, str) else f"{float(scale):g}"
    with precision(BITS):
        rate = 1 / _base(scale).log()
        value = Log(minus(outer(rate, rate)), NAUGHT)
    data = {"infinity": 1, "scale": scale}
    return Ray(value, f"y = -log t / log {name}", data, scale=scale)  # type: ignore[arg-type]


def _base(scale: Fraction | str) -> arb:
    return arb(1).exp() if isinstance(scale, str) else ball(scale)


def _constant_base(graph: Graph, op: str, args: tuple) -> float:
    """Return the base of a power that is a number, else 0."""
    if op == "exp2":
        return 2.0
    first, value = graph.nodes[args[0]]
    return float(value[0]) if first == "const" else 0.0


def powers(graph: Graph, scale: Any) -> dict[int, Value]:
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
            times = _as_power(_constant_base(graph, op, args), scale)
        if times:
            with precision(BITS):
                least = _base(scale) ** ball(form[0] * times)
                rate = ball(-form[1] * times)
                out[node] = Power(arb(0), outer(rate, rate), outer(least, least))
    return out


def _as_power(base: float, scale: Fraction | str) -> int:
    """Return k with base = scale^k, exactly, or 0."""
    if isinstance(scale, str) or not 0 < base < math.inf:
        return 0
    for k in range(1, _MOST_POWER + 1):
        if Fraction(base) == scale**k:
            return k
        if Fraction(base) * scale**k == 1:
            return -k
    return 0
