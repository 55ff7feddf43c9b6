"""Sums over a finite secret of integrals over the outcomes, by Arb."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from flint import arb

from borel import settings
from borel.engine.divergences.continuous import cut_off
from borel.engine.problem.secret_and_kernel import log_graph
from borel.errors import NotEnclosed
from borel.numerics.balls.arithmetic import ball
from borel.numerics.balls.interpreter import Prepared
from borel.numerics.graphs.operations import COMPARISONS
from borel.numerics.graphs.rewrite import linear_of, simplified

if TYPE_CHECKING:
    from collections.abc import Iterable

    from borel.engine.problem.protocols import WithMasses
    from borel.numerics.graphs.graph import Graph
    from borel.probability.density import Density

_MOST_SECRETS, _EVALUATIONS = 32, 60_000
_BRANCHES = {"where", *COMPARISONS}


class RowIntegrals:
    """The sum over a finite secret of its probability times one integral over the outcomes.

    Parameters
    ----------
    engine : WithMasses
        Of a joint with outcomes on the line.
    in_logs, plainly : callable
        ``(kernels, weights, k) -> (factors, inputs)``: what is integrated for the secret k, by
        logarithms of the kernels, unless it is None, and by the kernels themselves: they may be 0.
    rest : callable, optional
        ``(a, b, mass) -> float``: what the outcomes between a and b, which have at most that mass,
        add to the sum at most. By default, the mass.

    Attributes
    ----------
    weights, points : list
        The prior, as balls, and the secrets.
    total : list
        Ends of the sum over outcomes near by.
    beyond : float
        The bound by ``rest`` for the others.

    Raises
    ------
    NotEnclosed
        Another secret, or an integral that Arb does not bound.
    """

    def __init__(self, engine: WithMasses, in_logs: Any, plainly: Any, rest: Any = None):
        secret, density = engine.secret, engine.joint.mechanism.density
        if secret.continuous or secret.rest or secret.dim > 1:
            raise NotEnclosed("this figure of a continuous secret is not certified in this version")
        if len(secret.atoms) > _MOST_SECRETS:
            raise NotEnclosed(f"this figure is certified for up to {_MOST_SECRETS} secrets")
        self.points = [float(a) for a in secret.atoms[:, 0]]
        self.kernels = [_given(log_graph(density), x) for x in self.points]
        plain = [plain_at(density, x) for x in self.points]
        ways: list[Any] = [partial(plainly, plain)]
        if in_logs is not None:
            ways.insert(0, partial(in_logs, self.kernels))
        if any(not _BRANCHES.isdisjoint(k.operations) for k in plain):  # no log where it is 0
            ways.reverse()
        self.weights = _weights(secret)
        tol = settings.current().tol / 8
        line = engine.line
        known = {*engine.joint.mechanism.breaks, *self.points, *engine.atoms.tolist()}
        marks = sorted(m for m in known if line.lower < m < line.upper)
        _require_values(zip(plain, self.kernels, strict=True), self.points, line)

        def tail(a: float, b: float) -> float:
            mass = self._mass(a, b)
            return mass if rest is None else rest(a, b, mass)

        over, self.beyond = cut_off(line.lower, line.upper, marks, tail, tol)
        found = _each(ways, self.weights, over, marks, tol)
        if found is None:
            over, left = _inside(over, line, marks, tail, tol)
            self.beyond = math.nextafter(self.beyond + left, math.inf)
            found = _each(ways, self.weights, over, marks, tol)
        if found is None:
            raise NotEnclosed("Arb does not bound an integral over the line")
        self.total = [
            sum((w * ball(pair[k]) for w, pair in zip(self.weights, found, strict=True)), ball(0))
            for k in (0, 1)
        ]

    def _mass(self, a: float, b: float) -> float:
        """Bound the mass of f_Y between two outcomes."""
        masses = (_integral_of([(k, True)], {}, (a, b), [], 0.01)[1] for k in self.kernels)
        return math.nextafter(max(masses), math.inf)


def _require_values(forms: Iterable[tuple[Graph, ...]], points: list[float], line: Any) -> None:
    """Refuse a kernel that is no number at a secret, such as 0 / 0, before it is integrated."""
    low, high = float(line.lower), float(line.upper)
    low = low if math.isfinite(low) else min(high, 1.0) - 1.0
    y = ball(low + 0.381 * (min(high, low + 1.0) - low))
    for graphs, x in zip(forms, points, strict=True):
        slices = (Prepared(graph, "y").at({"shift": 0.0}) for graph in graphs)
        if all(any(end.is_nan() for end in f.run(y, y, slope=False)[0][f.root]) for f in slices):
            raise NotEnclosed(
                f"the kernel is seen to be no number at y = {float(y):.3g}, x = {x:g}"
            )


def _weights(secret: Any) -> list[Any]:
    """Return the prior as balls."""
    pairs = zip(secret.weight_low, secret.weight_high, strict=True)
    return [ball(float(a)).union(ball(float(b))) for a, b in pairs]


def _integral_of(
    factors: list[tuple[Graph, bool]],
    inputs: dict[str, Any],
    over: tuple[float, float],
    marks: list[float],
    rel_tol: float,
) -> tuple[float, float]:
    """Enclose the integral over outcomes of a product of densities."""
    from borel.numerics.balls.expansion import product
    from borel.numerics.balls.integral import integrate

    return integrate(
        Prepared(product(factors), variable="y"),
        {"shift": 0.0, **inputs},
        *over,
        breaks=[m for m in marks if over[0] < m < over[1]],
        rel_tol=rel_tol,
        evaluations=_EVALUATIONS,
    ).floats


def number(graph: Graph) -> Any:
    """Enclose a graph without inputs, as it is: beside a secret it may be another."""
    f = Prepared(graph).at({})
    low, high = f.run(arb(0), arb(0), slope=False)[0][f.root]
    return low.union(high)


def plain_at(density: Density, x: float) -> Graph:
    """Return the graph of a density itself, or of a mass, at a secret."""
    if density.graph is None:
        raise NotEnclosed(f"it could not be traced ({density.opaque})")
    graph = density.graph.bind({"x": x})
    return linear_of(graph) if density.log else simplified(graph)


def _given(graph: Graph, x: float) -> Graph:
    return graph.bind({"x": x}) if "x" in graph.inputs else graph


def _inside(
    over: tuple[float, float], line: Any, marks: list[float], tail: Any, small: float
) -> tuple[tuple[float, float], float]:
    """Leave out what is beside finite ends of the line, where a density may be 0 or infinite."""
    ends, beyond = list(over), 0.0
    inner = [over[0], *marks, over[1]]
    for k, end in enumerate((float(line.lower), float(line.upper))):
        step = (inner[1] - end) if k == 0 else (inner[-2] - end)
        for power in range(3, 100, 4) if math.isfinite(end) and math.isfinite(step) else ():
            place = end + step * 2.0**-power
            left = tail(*sorted((place, end))) if place != end else math.inf
            if left <= small / 4:
                ends[k], beyond = place, math.nextafter(beyond + left, math.inf)
                break
    return (ends[0], ends[1]), beyond


def _each(
    ways: list[Any], weights: list[Any], over: tuple[float, float], marks: list[float], tol: float
) -> list[tuple[float, float]] | None:
    """Enclose the integral that belongs to each secret; None if one is not bounded."""
    out = []
    for k in range(len(weights)):
        low, high = -math.inf, math.inf
        for way in ways:
            if math.isfinite(low) and high - low <= 8 * tol * max(1.0, abs(low)):
                break
            factors, inputs = way(weights, k)
            found = _integral_of(factors, inputs, over, marks, tol)
            low, high = max(low, found[0]), min(high, found[1])
        if not (math.isfinite(low) and math.isfinite(high)):
            return None
        out.append((low, high))
    return out
