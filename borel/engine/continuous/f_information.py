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

from functools import partial, reduce
from typing import TYPE_CHECKING, Any

from borel.engine.continuous.row_integrals import RowIntegrals, number, plain_at
from borel.errors import NotEnclosed
from borel.numerics.balls.arithmetic import ball, enclose, precision
from borel.numerics.graphs.graph import GraphBuilder

if TYPE_CHECKING:
    from borel.engine.problem.protocols import WithMasses
    from borel.numerics.graphs.graph import Graph
    from borel.probability.density import Density
    from borel.probability.generators import Generator

_BITS = 128


def f_information(engine: WithMasses, f: Generator) -> tuple[float, float]:
    """Enclose a named f-information of a finite secret.

    Raises
    ------
    NotEnclosed
        Another secret, another f, or an integral that Arb does not bound.
    """
    if not f.named:
        raise NotEnclosed("a function f is not certified on continuous alphabets")
    found = RowIntegrals(engine, partial(_in_logs, f.name), partial(_plainly, f.name))
    weights, masses = found.weights, engine.joint.mechanism.masses.values()
    others = [
        _rest(f, weights, found.beyond),
        *(_at_atom(f.name, weights, m, found.points) for m in masses),
    ]
    total: list[Any] = [t + sum((o[k] for o in others), ball(0)) for k, t in enumerate(found.total)]
    if f.name in ("total_variation", "squared_hellinger"):
        total = [1 - total[1], 1 - total[0]]
    elif f.name == "chi_square":
        total = [t - 1 for t in total]
    low, high = (enclose(lambda t=t: t)[k] for k, t in enumerate(total))
    return max(low, 0.0), max(high, 0.0)


def _rest(f: Generator, weights: list[Any], mass: float) -> tuple[Any, Any]:
    """Bound what lies beyond the interval, where f_Y has at most some mass."""
    m = ball(mass)
    if f.name == "chi_square":
        return ball(0), m * len(weights)
    if f.name == "kl":
        least = min((w.lower() for w in weights), key=float)
        return -m / ball(1).exp(), m * (-least.log()).upper()
    return ball(0), m


def _at_atom(name: str, weights: list[Any], mass: Density, points: list[float]) -> tuple[Any, Any]:
    """Return what an atom of the outcome adds to the integrals."""
    total = ball(0)
    with precision(_BITS):
        masses = [number(plain_at(mass, x)) for x in points]
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
