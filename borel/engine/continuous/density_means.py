r"""The mean of a function h of the information density of a finite secret, over the line.

Under P_XY it is :math:`\sum_x p_x \int k_x h(\log k_x / f_Y)`, under the product of the marginals
:math:`\sum_x p_x \int f_Y h(\log k_x / f_Y)`. As i is at most log 1 / p_min, a number B with
:math:`|h(t)| \le B e^{-t}` for all such t bounds what lies far out: there the first is at most B
times the mass of f_Y, and the second, as -i is at most PMC, B times the integral of e^PMC.
"""

from __future__ import annotations

import math
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.continuous.function_means import growth
from borel.engine.continuous.row_integrals import RowIntegrals, number, plain_at
from borel.errors import NotEnclosed
from borel.numerics.balls.arithmetic import ball, ends, precision
from borel.numerics.graphs.graph import GraphBuilder
from borel.probability.countable_law import sum_of_signs, weighted

if TYPE_CHECKING:
    from borel.numerics.graphs.graph import Graph
    from borel.numerics.intervals.batched import Box
    from borel.probability.density import Density
    from borel.probability.real_functions import RealFunction

_BITS = 128
_UP = 1 + 2.0**-40


class DensityMean:
    """The mean of h(i(X;Y)) for a finite secret and outcomes on the line, perhaps with atoms.

    Parameters
    ----------
    engine : CertifiedOutcomes
        Of a joint with outcomes on the line.
    under : {"joint", "product"}
        The law of the pair.
    h : RealFunction
        The function.
    """

    def __init__(self, engine: Any, under: str, h: RealFunction):
        self.engine, self.joint, self.h = engine, under == "joint", h
        self.top = engine.ceiling("pml")
        if not math.isfinite(self.top):
            raise NotEnclosed("the law of i(X;Y) is not certified for secrets that are not finite")
        build = GraphBuilder()
        turned = build.append(h.graph, inputs={"t": build.add("negative", build.add("input", "t"))})
        self.growth = growth(build.graph(turned[-1], ("t",)), -self.top)
        span = h.over(np.array([-math.inf]), np.array([self.top]))
        self.most = max(abs(float(span[0][0])), abs(float(span[1][0])))
        least = np.array([-math.inf])
        known = not self.joint and (-math.inf in h.limits or not h.missing_at(-math.inf))
        never = [float(end[0]) for end in h.over(least, least)] if known else [math.nan]
        # h(-inf) as a number, where it counts and is one
        self.never = ball(never[0]).union(ball(never[1])) if np.isfinite(never).all() else None

    def enclose(self) -> tuple[float, float]:
        """Enclose the mean.

        Raises
        ------
        NotEnclosed
            Another secret, or an integral that is not bounded.
        """
        if len(self.engine.secret.atoms) == 1 and not self.engine.secret.rest:  # then i is 0
            low, high = self.h.over(np.zeros(1), np.zeros(1))
            return float(low[0]), float(high[0])
        # what h is declared to be at -inf need not be what its graph gives there
        in_logs = None if not self.joint and -math.inf in self.h.limits else self._in_logs
        found = RowIntegrals(self.engine, in_logs, self._plainly, self._rest)
        near, beyond = found.total, ball(found.beyond)
        low, high = (np.array([end]) for end in ends((near[0] - beyond).union(near[1] + beyond)))
        pairs = [(low, high)]
        pairs += [self._at_atom(found, m) for m in self.engine.joint.mechanism.masses.values()]
        if not self.joint and self.never is None:
            pairs.append(self._impossible())
        return sum_of_signs(*map(np.concatenate, zip(*pairs, strict=True)))

    def _of_density(self, build: GraphBuilder, density: int) -> int:
        """Return the node of h(i); i, and the law beside it, may be off by the slack of the kernel.

        The room is given to h at each outcome: a sum of both signs may be small beside its terms.
        """
        if not self.engine.slack:
            return build.append(self.h.graph, inputs={"t": density})[-1]
        density = build.add("add", density, build.add("input", "off"))
        value = build.append(self.h.graph, inputs={"t": density})[-1]
        return build.add("multiply", value, build.add("input", "room"))

    def _inputs(self, weights: list[Any]) -> dict[str, Any]:
        slack = 2 * self.engine.slack
        off, never = ball(-slack).union(ball(slack)), self.never or ball(0)
        room = 1 + 2 * off
        out = {f"w{i}": w for i, w in enumerate(weights)}
        return out | {"off": off, "room": room, "never": never * room}

    def _in_logs(self, kernels: list[Graph], weights: list[Any], k: int) -> tuple[list, dict]:
        build = GraphBuilder(*kernels)
        mixed = [
            build.add("add", build.add("input", f"w{i}"), at) for i, at in enumerate(build.roots)
        ]
        law, own = reduce(partial(build.add, "logaddexp"), mixed), build.roots[k]
        value = self._of_density(build, build.add("subtract", own, law))
        factors = [(build.graph(own if self.joint else law), True), (build.graph(value), False)]
        return factors, self._inputs([w.log() for w in weights])

    def _plainly(self, kernels: list[Graph], weights: list[Any], k: int) -> tuple[list, dict]:
        build, own, law = _mixture(kernels, k)
        density = build.add("log", build.add("divide", own, law))
        value = build.add("multiply", own if self.joint else law, self._of_density(build, density))
        never = build.add("input", "never")
        other = build.add("const", 0.0) if self.joint else build.add("multiply", law, never)
        return _where_positive(build, own, value, other), self._inputs(weights)

    def _impossible(self) -> Box:
        """Return what the pairs add whose secret makes the outcome impossible: h(-inf), or 0."""

        def mass(kernels: list[Graph], weights: list[Any], k: int) -> tuple[list, dict]:
            build, own, law = _mixture(kernels, k)
            return _where_positive(build, own, build.add("const", 0.0), law), self._inputs(weights)

        low, high = RowIntegrals(self.engine, None, mass, self._rest).total
        if high == 0:
            return np.zeros(1), np.zeros(1)
        if not low > 0:
            raise NotEnclosed(
                "the probability of the pairs whose secret makes the outcome impossible"
            )
        least = np.full(1, -math.inf)
        value = self.h.over(least, least)
        return weighted((np.full(1, ends(low)[0]), np.ones(1)), value)

    def _rest(self, a: float, b: float, mass: float) -> float:
        """Bound what outcomes far out add."""
        bounds = [self.most * mass if mass else 0.0]
        if self.joint:
            bounds.append(self.growth * mass if mass else 0.0)
        elif math.isinf(a) != math.isinf(b):
            powers = (far.bounds("pmc", a, b)[2] for far in self.engine.far_means)
            bounds += [self.growth * power for power in powers]
        slack = 1 + 8 * self.engine.slack
        return min((v for v in bounds if not math.isnan(v)), default=math.inf) * slack * _UP

    def _at_atom(self, found: RowIntegrals, mass: Density) -> Box:
        """Enclose what an atom of the outcome adds."""
        with precision(_BITS):
            masses = [number(plain_at(mass, x)) for x in found.points]
            law = sum((w * m for w, m in zip(found.weights, masses, strict=True)), ball(0))
            if law == 0:
                return np.zeros(1), np.zeros(1)
            logs = [_log_ends(m / law) for m in masses]
            own = [
                w * (m if self.joint else law) for w, m in zip(found.weights, masses, strict=True)
            ]
        slack = 2 * self.engine.slack
        low, high = np.array(logs).T
        low, high = low - slack - 1e-15 * np.abs(low), high + slack + 1e-15 * np.abs(high)
        weights = np.array([ends(w) for w in own]).T
        weights = np.maximum(weights[0] / (1 + 4 * slack), 0.0), weights[1] * (1 + 4 * slack)
        charged = weights[1] > 0
        value = self.h.over(low[charged], high[charged])
        return weighted((weights[0][charged], weights[1][charged]), value)


def _mixture(kernels: list[Graph], k: int) -> tuple[GraphBuilder, int, int]:
    """Return a graph in the making, with the nodes of a kernel and of f_Y."""
    build = GraphBuilder(*kernels)
    parts = [
        build.add("multiply", build.add("input", f"w{i}"), at) for i, at in enumerate(build.roots)
    ]
    return build, build.roots[k], reduce(partial(build.add, "add"), parts)


def _where_positive(build: GraphBuilder, own: int, yes: int, no: int) -> list[tuple[Graph, bool]]:
    positive = build.add("greater", own, build.add("const", 0.0))
    return [(build.graph(build.add("where", positive, yes, no)), False)]


def _log_ends(ratio: Any) -> tuple[float, float]:
    """Enclose the logarithm of a ball that may be 0, or touch it."""
    low, high = ends(ratio)
    least = ends(ball(low).log())[0] if low > 0 else -math.inf
    return least, ends(ball(high).log())[1] if high > 0 else -math.inf
