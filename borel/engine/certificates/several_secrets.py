"""Certificates at one outcome for secrets in a box of several dimensions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.certificates.checks.ranges import SIGNS
from borel.engine.certificates.checks.several_points import _Dimensions
from borel.engine.certificates.encoding import header, without_infinities
from borel.engine.certificates.trials import followed
from borel.numerics.graphs import float64

if TYPE_CHECKING:
    from borel.engine.continuous.engine import CertifiedEngine
    from borel.numerics.graphs.graph import Graph

_WORK = 6_000_000
"""What the checker may spend while a certificate is made: a few seconds."""
_PIECES = 64
_TESTS = frozenset(("absolute", "maximum", "minimum", *SIGNS))


def point_of_boxes(
    engine: CertifiedEngine, quantity: str, ys: np.ndarray, ends: tuple[float, float]
) -> dict[str, Any] | None:
    """Return the certificate of a leakage at one outcome; None if it is not soon verified.

    Parameters
    ----------
    engine : CertifiedEngine
        The joint.
    quantity : {"pml", "pmc"}
        Which leakage.
    ys : ndarray (1,)
        The outcome.
    ends : tuple of float
        The enclosure.
    """
    secret, y = engine.secret, float(ys[0])
    found = engine.extreme(ys, 1.0 if quantity == "pml" else -1.0)
    f_y = engine.log_marginal_box(ys)
    box = np.concatenate([secret.lower, secret.upper])
    numbers = [*box, *ends, found.lower[0], found.upper[0], f_y[0][0], f_y[1][0], *found.place[0]]
    if len(secret.atoms) or not secret.continuous or not np.isfinite(numbers).all():
        return None
    claim = {
        "type": "box_point",
        "y": y,
        "cuts": _cuts(engine, y),
        "f_y": [float(v[0]) for v in f_y],
        "extreme": [float(found.lower[0]), float(found.upper[0])],
        "place": found.place[0].tolist(),
    }
    made = without_infinities({**header(engine, quantity, *ends), "format": 5, "claim": claim})
    return made if followed(made, type("Soon", (_Dimensions,), {"work": _WORK})) else None


def _cuts(engine: CertifiedEngine, y: float) -> list[list[float]]:
    """Return where to cut each coordinate: at its ends, and where it decides a branch."""
    secret, density = engine.secret, engine.joint.mechanism.density
    masses = engine.joint.mechanism.masses
    graphs = [masses.get(y, density).graph, engine.joint.prior.density.graph]
    ends = [[a, b] for a, b in zip(secret.lower.tolist(), secret.upper.tolist(), strict=True)]
    inner = [
        sorted({c for graph in graphs for c in _changes(graph, y, ends, j)})
        for j in range(secret.dim)
    ]
    while math.prod(len(c) + 1 for c in inner) > _PIECES:
        max(inner, key=len).pop()
    return [[a, *cuts, b] for (a, b), cuts in zip(ends, inner, strict=True)]


def _changes(graph: Graph, y: float, ends: list[list[float]], j: int) -> set[float]:
    """Return where, along a coordinate, a branch changes at a place that only it decides."""
    rng, (a, b) = np.random.default_rng(0), ends[j]
    low, high = np.array(ends).T
    places = low + (high - low) * rng.random((3, len(ends)))
    others = [{f"x{i}": v for i, v in enumerate(place)} for place in places]

    def tests(x: np.ndarray, k: int) -> list[np.ndarray]:
        values = float64._values(graph, {**others[k], f"x{j}": x, "y": np.asarray(y)})
        at = [[values[i] for i in args] for op, args in graph.nodes if op in _TESTS]
        return [np.broadcast_to(u[0] - u[1] if len(u) == 2 else u[0], x.shape) for u in at]

    found: set[float] = set()
    grid = np.linspace(a, b, 129)
    for k, test in enumerate(tests(grid, 0)):
        for i in np.flatnonzero(np.sign(test[:-1]) * np.sign(test[1:]) <= 0):
            if test[i] == test[i + 1]:
                continue
            low, high = grid[i : i + 2]
            rising = test[i + 1] > test[i]
            for _ in range(60):
                middle = (low + high) / 2
                below = (tests(np.array([middle]), 0)[k][0] < 0) == rising
                low, high = (middle, high) if below else (low, middle)
            known = [c for c in (y, *graph.constants) if abs(c - high) <= 1e-12 * max(1.0, abs(c))]
            around = known[:1] or [np.nextafter(low, -np.inf), np.nextafter(high, np.inf)]
            sides = np.array([around[0] - 1e-9, around[-1] + 1e-9])
            fixed = all(np.diff(np.sign(tests(sides, m)[k]))[0] != 0 for m in range(len(others)))
            found |= {float(c) for c in around if a < c < b and fixed}
    return found
