r"""How fast the masses of integers fall far out, as fast as another variable lets them.

For a kernel f(y|x), of which one variable runs through the integers, m, and the other one is k,

.. math:: \log f(m + 1, k) - \log f(m, k) \le -r \quad \text{for all } m \ge M,\ |k| \le m / A

is proved by exact differences (`forward_difference`) along the rays m = 1/t, k = s/t with
:math:`|s| \le 1 / A`: for all of these m and k at once. Of the secrets it says that f(y|x) is
largest at the first of those beyond M and A |y|, and that it vanishes there if r > 0, or if -r is
-c/m with c > 0: the sum of 1/m is infinite. Then, whatever K is, the outcome of a secret far out is
beyond K almost surely. For single outcomes y the sign of a step is known along m = 1/t: f(y|x) may
rise to its limit.

Of the outcomes it bounds the mean. If f(y + 1|x) <= q f(y|x) for all y >= m, then
:math:`P(Y \ge m + k|x) \le q^k`, and

.. math:: E[Y^+|x] \le m + \frac{q}{1 - q} \le m + \frac1r, \qquad q = e^{-r}.

Here m <= M + 1 + A |x|. The spread of Y may grow with x, so that no rate does for all x. Then one
for all |x| <= M, and -c/|x| in place of it for the others, along x = 1/t, y = s/t with s >= A, give
:math:`E[Y^+|x] \le M + 1 + 1/r + (A + 1/c) |x|`.
"""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from flint import arb

from borel import settings
from borel.numerics.balls.arithmetic import precision
from borel.numerics.germs.arithmetic import Rules
from borel.numerics.germs.forward_difference import along, unit_step
from borel.numerics.germs.interpreter import range_of, ray, weight
from borel.numerics.germs.specialisation import settled
from borel.numerics.germs.values import BITS, Power, UndecidedRule, minus, slack
from borel.numerics.graphs.graph import Graph, GraphBuilder
from borel.numerics.intervals.domains import decided

_START = 64.0
_STARTS = (64.0, 256.0, 1024.0)
_TURNS = 4
_SLOPES = (2.0, 4.0, 8.0, 16.0, 32.0)


class Fall(NamedTuple):
    """Log f falls with each step of one variable, m, away from 0.

    Attributes
    ----------
    start, slope : float
        That holds from ``max(start, slope |other variable|)`` on.
    rate : float
        By how much at least; infinite where f is 0.
    share : float
        By ``share / |m|`` at least.
    """

    start: float
    slope: float
    rate: float
    share: float = 0.0

    @property
    def vanishes(self) -> bool:
        """Whether f goes to 0, for each value of the other variable."""
        return self.rate > 0 or self.share > 0

    def first(self, other: np.ndarray) -> np.ndarray:
        """Return from where on it holds, for values of the other variable."""
        return np.maximum(self.start, self.slope * np.abs(other))


def fall_of(
    graph: Graph, moved: str, side: float, ranges: dict[str, tuple[float, float]]
) -> Fall | None:
    """Return how a log-kernel falls as one variable runs through the integers to an end.

    Parameters
    ----------
    graph : Graph
        log f(y|x), of ``y`` and ``x``.
    moved : {"x", "y"}
        Which variable runs.
    side : {1, -1}
        Whether to infinity or to minus infinity.
    ranges : dict
        The ends of the values of each variable.

    Returns
    -------
    Fall or None
        The one with the least slope and a rate above 0; else with a share, or with neither.
    """
    b, other = GraphBuilder(), "y" if moved == "x" else "x"
    names = {moved: b.add("input", "y"), other: b.add("input", "x")}
    graph = decided(graph, ranges)
    graph = b.graph(b.append(graph, inputs={n: names[n] for n in graph.inputs})[-1])
    low, high = ranges[other]
    level = None
    for slope in _SLOPES:
        if settings.spent():
            break
        rays = {
            "y": ray(0.0, -1.0, side, side),
            "x": ray(0.0, -1.0, -1 / slope if low < 0 else 0.0, 1 / slope if high > 0 else 0.0),
        }
        rate, share = _rate(graph, rays)
        if rate > 0:
            return Fall(_START, slope, rate, share)
        if rate == 0 and (level is None or share > 0 == level.share):
            level = Fall(_START, slope, 0.0, share)
    return level


def _rate(graph: Graph, rays: dict, start: float = _START) -> tuple[float, float]:
    """Return by how much log f falls with a step of y: at least so much, and so much times t."""
    t0 = 1 / start
    with suppress(UndecidedRule), precision(BITS):
        if settled(graph, rays, t0).nodes[-1] == ("const", (-math.inf,)):
            return math.inf, math.inf
        # a logarithm of 0 makes the masses on both sides of a step 0
        value = along(unit_step(graph, rays, t0), rays, t0, almost=True)
        share = 0.0
        if isinstance(value, Power) and value.base == 0 and value.a[1] <= 1 and value.w[1] < 0:
            share = max(-weight(value)[1], 0.0)  # t <= t^a
        return -range_of(value, t0)[1], share
    return math.nan, 0.0


def trends_of(
    graph: Graph, side: float, ranges: dict[str, tuple[float, float]], ys: np.ndarray, start: float
) -> np.ndarray:
    """Return how a log-kernel goes as x runs from ``start`` (at least 2) to an end, at outcomes.

    Returns
    -------
    ndarray of int
        For each outcome 1 where it rises all the way (or stays), -1 where it falls, else 0.
    """
    b, out = GraphBuilder(), np.zeros(len(ys), int)
    graph = decided(graph, ranges)
    names = {"x": b.add("input", "y"), "y": b.add("input", "x")}
    graph = b.graph(b.append(graph, inputs={n: names[n] for n in graph.inputs})[-1])
    moved, t0 = ray(0.0, -1.0, side, side), math.nextafter(1 / start, 1.0)

    def trend(step: Graph, y: float) -> int:
        value = along(step, {"y": moved, "x": slack(y, y)}, t0)
        if not isinstance(value, Power):
            return 0
        low, high = Rules(t0).signs(value)
        return 1 if low >= 0 else -1 if high <= 0 else 0

    with suppress(UndecidedRule), precision(BITS):
        of_all = {"y": moved, "x": slack(float(ys.min()), float(ys.max()))}
        step = unit_step(graph, of_all, t0)
        out[:] = [trend(step, float(y)) for y in ys]
        for k in np.flatnonzero(out == 0)[:_TURNS]:  # where it turns round more may cancel
            y = float(ys[k])
            bound = graph.bind({"x": y})
            out[k] = trend(unit_step(bound, {"y": moved}, t0), y)
    return out


class Reach(NamedTuple):
    """E[Y^+|x], or E[Y^-|x], is at most ``start + slope |x|``."""

    start: float
    slope: float


def reach_of(graph: Graph, side: float, ranges: dict[str, tuple[float, float]]) -> Reach | None:
    """Bound the mean distance of the outcomes on one side of 0 by a line in the secret.

    The parameters are those of `fall_of`; the bound is right but for rounding.
    """
    fall = fall_of(graph, "y", side, ranges)
    if fall is not None and fall.rate > 0:
        return Reach(fall.start + 1 + 1 / math.expm1(fall.rate), fall.slope)
    graph, (low, high) = decided(graph, ranges), ranges["x"]
    for start in _STARTS:
        if settings.spent():
            break
        if (rate := _near(graph, side, low, high, start)) > 0:
            for slope in _SLOPES:
                share = _far(graph, side, low, high, start, slope)
                if share > 0:
                    return Reach(start + 1 + 1 / rate, slope + 1 / share)
    return None


def _near(graph: Graph, side: float, low: float, high: float, start: float) -> float:
    """Return by how much log f falls with a step of y beyond start, for all |x| <= start."""
    cuts = [0.0, *2.0 ** np.arange(0, math.log2(start) + 1)]
    cuts = [c for c in sorted({*cuts, *(-c for c in cuts)}) if low <= c <= high]
    cuts = sorted({*cuts, *(v for v in (low, high) if abs(v) < start)})
    rate = math.inf
    for a, b in pairwise(cuts):
        named = {"y": ray(0.0, -1.0, side, side), "x": slack(a, b)}
        own, _ = _rate(graph, named, start)
        if not own > 0:  # NaN where nothing is known
            return 0.0
        rate = min(rate, own)
    return rate if len(cuts) > 1 else 0.0


def _far(graph: Graph, side: float, low: float, high: float, start: float, slope: float) -> float:
    """Return c, where log f falls by c/|x| with a step of y beyond slope |x|, for |x| >= start."""
    w = (arb(slope), arb.pos_inf())
    outcomes = Power(arb(0), (arb(-1), arb(-1)), w if side > 0 else minus(w))
    share = math.inf
    for sign, end in ((1.0, high), (-1.0, -low)):
        if end > start:
            named = {"y": outcomes, "x": ray(0.0, -1.0, sign, sign)}
            share = min(share, _rate(graph, named, start)[1])
    return share
