"""Two secrets of positive mass, one of which an outcome favours without bound: PMC is infinite.

f_Y >= P(x) f(y|x), so that PMC(y) >= log P(x) + log f(y|x) - log f(y|x'). Both logarithms may go to
-infinity along a ray; their difference is taken term by term (`tail_quotients`), with every choice
made that is settled along the ray (`settled`).
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from borel.engine.problem.secret_and_kernel import log_graph
from borel.numerics.germs.interpreter import Power, PowerProgram, limits, range_of, weight
from borel.numerics.germs.specialisation import settled
from borel.numerics.germs.tail_quotients import SOME, TailRatios
from borel.numerics.germs.values import SHARE, Real, box
from borel.numerics.graphs.graph import GraphBuilder

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Secret
    from borel.numerics.germs.order_bounds import Ray
    from borel.numerics.graphs.graph import Graph
    from borel.probability.density import Density

_MOST = 8
"""Of many secrets, so many are compared with each other: the outermost, and some between."""


class Pairs:
    """The log-kernels of the secrets of positive mass, as functions of the outcome.

    Parameters
    ----------
    density : Density
        f(y|x).
    secret : Secret
        Its atoms are compared.
    """

    def __init__(self, density: Density, secret: Secret):
        sure = [float(a[0]) for a, p in zip(secret.atoms, secret.weight_low, strict=True) if p > 0]
        sure.sort()
        if len(sure) > _MOST:
            step = (len(sure) - 1) / (_MOST - 1)
            sure = [sure[round(k * step)] for k in range(_MOST)]
        self.secrets, self.density = sure, density
        self.graphs = [_log_kernel(density, x) for x in sure]

    def along(self, y: Ray, t0: float) -> tuple[float, float] | None:
        """Return x, x' for which f(y|x) / f(y|x') certainly tends to infinity along a ray."""
        if len(self.secrets) < 2 or not all("y" in g.inputs for g in self.graphs):
            return None
        with np.errstate(all="ignore"):
            found = self._along(self.graphs, y, t0)
            if found is None and not self.density.log:  # products and powers of it, as sums
                found = self._along(self._in_logs, y, t0)
        return found

    @cached_property
    def _in_logs(self) -> list[Graph]:
        log = log_graph(self.density)
        return [log.bind({"x": x}) if "x" in log.inputs else log for x in self.secrets]

    def _along(self, graphs: list[Graph], y: Ray, t0: float) -> tuple[float, float] | None:
        named = {"y": y.value}
        low, high = range_of(y.value, t0)
        if math.isfinite(low) and math.isfinite(high):
            high = math.nextafter(high, math.inf)
        together = TailRatios([settled(g, named, t0) for g in graphs])
        for i, k in combinations(range(len(self.secrets)), 2):
            found = together.remainder(i, k, low, high)
            if found is None or not _all_finite(found[1], named, t0, (low, high)):
                continue
            whole, _ = found
            moving = {**named, SOME: box(SHARE)}
            moving = {name: moving[name] for name in whole.inputs}
            ends = limits(PowerProgram(whole).run(moving, t0))
            if ends[0] == math.inf:
                return self.secrets[i], self.secrets[k]
            if ends[1] == -math.inf:
                return self.secrets[k], self.secrets[i]
        return None


def _log_kernel(density: Density, x: float) -> Graph:
    """Return log f(y|x) at one secret."""
    graph = density.graph
    assert graph is not None
    graph = graph.bind({"x": x}) if "x" in graph.inputs else graph
    if density.log:
        return graph
    joined = GraphBuilder(graph)
    return joined.graph(joined.add("log", joined.roots[0]))


def _all_finite(
    graphs: list[Graph], named: dict[str, Power], t0: float, over: tuple[float, float]
) -> bool:
    """Return whether every graph has a finite value for all t, that is for all outcomes."""
    for graph in graphs:
        if TailRatios([graph]).finite(*over):
            continue
        value = PowerProgram(graph).run({k: v for k, v in named.items() if k in graph.inputs}, t0)
        if not isinstance(value, Real) or not all(map(math.isfinite, weight(value))):
            return False
    return True
