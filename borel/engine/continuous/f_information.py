r"""Certified f-information of a finite secret over continuous outcomes: one integral, by Arb.

With p_x the prior and k_x the kernel at x, total variation is
:math:`1 - \sum_x p_x \int \min(k_x, f_Y)`, squared Hellinger
:math:`1 - \sum_x p_x \int \sqrt{k_x f_Y}`, chi-square :math:`\sum_x p_x \int k_x^2 / f_Y - 1`,
mutual information :math:`\sum_x p_x \int k_x \log(k_x / f_Y)`. Far out, and beside ends where a
density may be 0 or infinite, the mass m of f_Y bounds each sum: by m, as :math:`\min(k, f) \le f`
and :math:`\sum_x p_x \sqrt{k_x f} \le f`; by :math:`n m`, as :math:`p_x k_x \le f`; and by
:math:`m \log (1/p_{\min})` and :math:`-m/e`, as :math:`k \log(k/f) \ge -f/e`.
"""

from __future__ import annotations

import math
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

from flint import arb

from borel import settings
from borel.engine.divergences.continuous import cut_off
from borel.engine.problem.secret_and_kernel import log_graph
from borel.errors import NotEnclosed
from borel.numerics.balls.arithmetic import ball, enclose, precision
from borel.numerics.balls.interpreter import Prepared
from borel.numerics.graphs.graph import GraphBuilder
from borel.numerics.graphs.operations import COMPARISONS
from borel.numerics.graphs.rewrite import linear_of, simplified

if TYPE_CHECKING:
    from collections.abc import Iterable

    from borel.engine.problem.protocols import WithMasses
    from borel.numerics.graphs.graph import Graph
    from borel.probability.density import Density
    from borel.probability.generators import Generator

_MOST_SECRETS, _EVALUATIONS, _BITS = 32, 60_000, 128
_BRANCHES = {"where", *COMPARISONS}


def f_information(engine: WithMasses, f: Generator) -> tuple[float, float]:
    """Enclose a named f-information of a finite secret.

    Raises
    ------
    NotEnclosed
        Another secret, another f, or an integral that Arb does not bound.
    """
    secret = engine.secret
    if not f.named:
        raise NotEnclosed("a function f is not certified on continuous alphabets")
    if secret.continuous or secret.rest or secret.dim > 1:
        raise NotEnclosed("f-information of a continuous secret is not certified in this version")
    if len(secret.atoms) > _MOST_SECRETS:
        raise NotEnclosed(f"f-information is certified for up to {_MOST_SECRETS} secrets")
    density = engine.joint.mechanism.density
    points = [float(a) for a in secret.atoms[:, 0]]
    kernels = [_given(log_graph(density), x) for x in points]
    plain = [_plain(density, x) for x in points]
    ways: list[Any] = [partial(_in_logs, f.name, kernels), partial(_plainly, f.name, plain)]
    if any(not _BRANCHES.isdisjoint(k.operations) for k in plain):  # no log where it is 0
        ways.reverse()
    weights = _weights(secret)
    tol = settings.current().tol / 8
    line = engine.line
    known = {*engine.joint.mechanism.breaks, *points, *engine.atoms.tolist()}
    marks = sorted(m for m in known if line.lower < m < line.upper)
    _require_values(zip(plain, kernels, strict=True), points, line)

    def tail(a: float, b: float) -> float:
        """Bound the mass of f_Y beyond a point."""
        masses = (_integral_of([(k, True)], {}, (a, b), [], 0.01)[1] for k in kernels)
        return math.nextafter(max(masses), math.inf)

    over, beyond = cut_off(line.lower, line.upper, marks, tail, tol)
    found = _each(ways, weights, over, marks, tol)
    if found is None:
        over, left = _inside(over, line, marks, tail, tol)
        beyond = math.nextafter(beyond + left, math.inf)
        found = _each(ways, weights, over, marks, tol)
    if found is None:
        raise NotEnclosed("Arb does not bound an integral over the line")
    total: list[Any] = [
        sum((weight * ball(pair[k]) for weight, pair in zip(weights, found, strict=True)), ball(0))
        for k in (0, 1)
    ]
    masses = engine.joint.mechanism.masses.values()
    others = [_rest(f, weights, beyond), *(_at_atom(f.name, weights, m, points) for m in masses)]
    total = [t + sum((part[k] for part in others), ball(0)) for k, t in enumerate(total)]
    if f.name in ("total_variation", "squared_hellinger"):
        total = [1 - total[1], 1 - total[0]]
    elif f.name == "chi_square":
        total = [t - 1 for t in total]
    low, high = (enclose(lambda t=t: t)[k] for k, t in enumerate(total))
    return max(low, 0.0), max(high, 0.0)


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


def _rest(f: Generator, weights: list[Any], mass: float) -> tuple[Any, Any]:
    """Bound what lies beyond the interval, where f_Y has at most some mass."""
    m = ball(mass)
    if f.name == "chi_square":
        return ball(0), m * len(weights)
    if f.name == "kl":
        least = min((w.lower() for w in weights), key=float)
        return -m / ball(1).exp(), m * (-least.log()).upper()
    return ball(0), m


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


def _at_atom(name: str, weights: list[Any], mass: Density, points: list[float]) -> tuple[Any, Any]:
    """Return what an atom of the outcome adds to the integrals."""
    total = ball(0)
    with precision(_BITS):
        masses = [_number(_plain(mass, x)) for x in points]
        law = sum((w * m for w, m in zip(weights, masses, strict=True)), ball(0))
        for weight, m in zip(weights, masses, strict=True):
            if name == "total_variation":
                total += weight * m.min(law)
            elif name == "squared_hellinger":
                total += weight * (m * law).sqrt()
            elif not m == 0:
                total += weight * m * ((m / law).log() if name == "kl" else m / law)
    if not total.is_finite():
        raise NotEnclosed("the mass of an atom of the outcome is not enclosed")
    return total.lower(), total.upper()


def _number(graph: Graph) -> Any:
    """Enclose a graph without inputs, as it is: beside a secret it may be another."""
    f = Prepared(graph).at({})
    low, high = f.run(arb(0), arb(0), slope=False)[0][f.root]
    return low.union(high)


def _plain(density: Density, x: float) -> Graph:
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


def _in_logs(name: str, kernels: list[Graph], weights: list[Any], k: int) -> tuple[list, dict]:
    """Return what is integrated for one secret, by logarithms of densities; and its inputs."""
    together = GraphBuilder(*kernels)
    add, logs = together.add, together.roots
    mixed = [add("add", add("input", f"w{i}"), at) for i, at in enumerate(logs)]
    law = reduce(partial(add, "logaddexp"), mixed)
    own, plain = logs[k], None
    if name == "total_variation":
        root = add("minimum", own, law)
    elif name == "squared_hellinger":
        root = add("multiply", add("const", 0.5), add("add", own, law))
    elif name == "chi_square":
        root = add("add", own, add("subtract", own, law))
    else:
        root, plain = own, add("subtract", own, law)
    factors = [(together.graph(root), True)]
    if plain is not None:
        factors.append((together.graph(plain), False))
    return factors, {f"w{i}": w.log() for i, w in enumerate(weights)}


def _plainly(name: str, kernels: list[Graph], weights: list[Any], k: int) -> tuple[list, dict]:
    """Return the same by densities themselves: they may be 0."""
    together = GraphBuilder(*kernels)
    add = together.add
    parts = [add("multiply", add("input", f"w{i}"), at) for i, at in enumerate(together.roots)]
    own, law, nothing = together.roots[k], reduce(partial(add, "add"), parts), add("const", 0.0)
    if name == "total_variation":
        root = add("minimum", own, law)
    elif name == "squared_hellinger":
        root = add("sqrt", add("multiply", own, law))
    else:
        ratio = add("divide", own, law)
        part = add("multiply", own, add("log", ratio) if name == "kl" else ratio)
        root = add("where", add("greater", own, nothing), part, nothing)
    return [(together.graph(root), False)], {f"w{i}": w for i, w in enumerate(weights)}
