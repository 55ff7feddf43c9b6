"""Outcomes of which a kernel is known better: where a wave is high, or on an exponential scale.

A *wave* is sin or cos of a function of y alone that is continuous and runs to infinity along a ray.
It takes every value in [-1, 1] beyond every t, so that the t at which it is at least 1/2 (or at
most -1/2) form a set of positive length near 0: what holds for them holds with positive
probability.

On a *scale* c > 1 outcomes y run to infinity with t = c^-y, so that c^(k y) is the power t^-k.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from borel.numerics.balls.arithmetic import ball, precision
from borel.numerics.germs.interpreter import Log, Power, PowerProgram
from borel.numerics.germs.order_bounds import Ray
from borel.numerics.germs.values import BITS, NAUGHT, UNKNOWN, Value, box, minus, outer

if TYPE_CHECKING:
    from borel.numerics.graphs.graph import Graph

_WAVES = ("sin", "cos")
_CONTINUOUS = frozenset(
    """input const add subtract multiply divide negative reciprocal square sqrt log log1p exp
    absolute power""".split()
)
_HALF = arb(0.5), arb(1)
_MOST_POWER = 4


def affine(graph: Graph, names: tuple[str, ...] = ("y",)) -> list[tuple[Fraction, ...] | None]:
    """Return the coefficients (a, b, ...) of every node that is a + b y + ..., exactly."""
    out: list[tuple[Fraction, ...] | None] = []
    for op, args in graph.nodes:
        out.append(_affine(op, args, out, names))
    return out


def _affine(op: str, args: tuple, known: list, names: tuple) -> tuple[Fraction, ...] | None:
    none = (Fraction(0),) * len(names)
    if op == "input":
        return (Fraction(0), *(Fraction(args[0] == n) for n in names)) if args[0] in names else None
    if op == "const":
        return (Fraction(args[0]), *none) if math.isfinite(args[0]) else None
    if op not in ("add", "subtract", "negative", "multiply", "divide"):
        return None
    parts = [known[a] for a in args]
    if None in parts:
        return None
    u, v = parts[0], parts[-1]
    if op == "negative":
        return tuple(-c for c in u)
    if op in ("add", "subtract"):
        sign = 1 if op == "add" else -1
        return tuple(c + sign * d for c, d in zip(u, v, strict=True))
    if op == "multiply" and u[1:] == none:
        u, v = v, u
    if v[1:] != none or (op == "divide" and v[0] == 0):
        return None
    return tuple(c * v[0] if op == "multiply" else c / v[0] for c in u)


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


def waves(graph: Graph) -> list[int]:
    """Return the nodes that are sin or cos of a continuous function of y alone."""
    plain: list[bool] = []
    for op, args in graph.nodes:
        if op in ("input", "const"):
            plain.append(op == "const" or args[0] == "y")
        else:
            plain.append(op in _CONTINUOUS and all(plain[a] for a in args))
    return [
        k
        for k, (op, args) in enumerate(graph.nodes)
        if op in _WAVES and plain[args[0]] and graph.nodes[args[0]][0] != "const"
    ]


def known_nodes(graph: Graph, y: Ray, t0: float) -> dict[int, Value] | None:
    """Return what is known of nodes for the outcomes of a ray; None if it has no such wave."""
    if y.phase:
        return _wave(graph, y, t0)
    return _powers(graph, y.scale) if y.scale else {}


def _wave(graph: Graph, y: Ray, t0: float) -> dict[int, Value] | None:
    inputs = {name: y.value if name == "y" else UNKNOWN for name in graph.inputs}
    values = PowerProgram(graph).values(inputs, t0)
    for node in waves(graph):
        inner = values[graph.nodes[node][1][0]]
        if isinstance(inner, Log):
            runs = inner.a[0] > 0 or inner.a[1] < 0
        else:
            runs = isinstance(inner, Power) and inner.base == 0 and inner.a[1] < 0
            runs = runs and bool(inner.w[0] > 0 or inner.w[1] < 0)
        if runs and all(end.is_finite() for end in inner.w):
            return {node: box(_HALF if y.phase > 0 else minus(_HALF))}
    return None


def _powers(graph: Graph, scale: float | str) -> dict[int, Value]:
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
