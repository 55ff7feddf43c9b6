"""Nodes of a graph that are affine functions of its inputs, with exact coefficients."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from borel.numerics.graphs.graph import Graph


def affine(graph: Graph, names: tuple[str, ...] = ("y",)) -> list[tuple[Fraction, ...] | None]:
    """Return the coefficients (a, b, ...) of every node that is a + b y + ..., exactly."""
    out: list[tuple[Fraction, ...] | None] = []
    for op, args in graph.nodes:
        out.append(combined(op, args, out, names))
    return out


def combined(
    op: str, args: tuple, known: Any, names: tuple[str, ...]
) -> tuple[Fraction, ...] | None:
    """Return the coefficients of one node, from those of the nodes before it."""
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
