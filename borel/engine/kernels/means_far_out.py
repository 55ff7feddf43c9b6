r"""What outcomes far out add to the means of a leakage that is not bounded there.

Let f(y|x) be at most f* = e^e f(y|x*) for every secret, on y in [T, oo), and log f* fall at a rate
of at least r > 0. Then, with I the essential infimum of the kernel over the secrets,

.. math::

    \int f_Y \le \int \sup_x f \le f^*(T) / r, \quad
    f_Y \log \frac{\sup_x f}{f_Y} \le \frac{\sup_x f}{\mathrm{e}}, \quad
    f_Y \log \frac{f_Y}{I} \le f^* \log \frac{f^*}{I}, \quad \frac{f_Y^2}{I} \le \frac{f^{*2}}{I},

and log f*/I is at most a polynomial in y - T (`tail_quotients`). On (-oo, T] likewise.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from borel.engine.problem.secret_and_kernel import boxes
from borel.numerics.germs.tail_quotients import TailRatios
from borel.numerics.graphs.constant_folding import folded
from borel.numerics.graphs.graph import Graph
from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic
from borel.numerics.jets.interpreter import Program

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Surface

_ATOMS = 32
_PIECES = 64
_UP = 1 + 2.0**-40
_LOST = math.inf, math.inf, math.inf


class FarMeans:
    """Bounds from above, for unbounded boxes of outcomes.

    Parameters
    ----------
    surface : Surface
        The kernel and the prior, of one coordinate.
    log_marginal : Graph, optional
        log f_Y, where a theorem gives it.
    """

    def __init__(self, surface: Surface, log_marginal: Graph | None = None):
        self.surface, self.secret = surface, surface.secret
        self.graph, self.marginal = surface.graph, log_marginal
        self.places = [] if self.secret.dim > 1 else self._places()
        (name,) = self.secret.names[:1]
        logs = [self._bound(name, x) for x in self.places]
        self.tails = TailRatios(logs) if logs else None
        self.whole = TailRatios([self.graph], {name: self._hull()}) if logs else None
        self.logs = [Program(g) if "y" in g.inputs else None for g in logs]

    def _bound(self, name: str, x: float) -> Graph:
        return folded(self.graph.bind({name: x})) if name in self.graph.inputs else self.graph

    def _places(self) -> list[float]:
        """Return secrets among which the largest and the least value of the kernel are."""
        atoms = [float(a) for a in self.secret.atoms[:, 0]]
        if not self.secret.continuous:
            return sorted(atoms) if len(atoms) <= _ATOMS else []
        ends = float(self.secret.lower[0]), float(self.secret.upper[0])
        inside = all(ends[0] <= a <= ends[1] for a in atoms)
        return [*ends] if inside and all(map(math.isfinite, ends)) else []

    def _hull(self) -> tuple[float, float]:
        return self.places[0], self.places[-1]

    def bounds(self, kind: str, low: float, high: float) -> tuple[float, float, float]:
        """Bound P_Y, and the integrals of the leakage and of its exponential under it, from above.

        Parameters
        ----------
        kind : {"pml", "pmc"}
            Which leakage.
        low, high : float
            The ends of the box, one of them infinite.
        """
        found = [_LOST]
        with np.errstate(all="ignore"):
            if self.tails is not None and self.tails.finite(low, high):
                found.append(self._by_secrets(kind, low, high))
            if self.marginal is not None and kind == "pml":
                found.append(self._by_marginal(self.marginal, low, high))
        mass, mean, power = (
            min(v if v >= 0 else math.inf for v in each) for each in zip(*found, strict=True)
        )
        return mass, mean, power

    def rates(self, low: float, high: float) -> tuple[float, float]:
        """Enclose the rate at which log f falls away from the finite end, for every secret.

        It may be infinite, or negative, where nothing is known; else log f is continuous there.
        """
        if self.whole is None or not (self.secret.continuous and self.whole.finite(low, high)):
            return -math.inf, math.inf
        cuts = np.linspace(*self._hull(), _PIECES + 1)
        ends = np.full(_PIECES, low), np.full(_PIECES, high)
        x, y = boxes(cuts[:-1, None], cuts[1:, None], 0, 0), arithmetic.variable(*ends, 1)
        with np.errstate(all="ignore"):
            found = self.surface.log.run(self.surface.inputs(x, y), 1)
            slope = batched.settled(arithmetic.entry(found.jet, 1))
        least, most = float(np.min(slope[0])), float(np.max(slope[1]))
        return (-most, -least) if math.isfinite(low) else (least, most)

    def _by_secrets(self, kind: str, low: float, high: float) -> tuple[float, float, float]:
        top, over = self._extreme(low, high, 1)
        start, rate = falling(self.logs[top], low, high)
        if not (rate > 0 and math.isfinite(start + over)):
            return _LOST
        height = _exp(start + over)
        whole = height / rate * _UP
        if kind == "pml":
            return whole, whole / math.e * _UP, whole
        bottom, under = self._extreme(low, high, -1)
        assert self.tails is not None
        growth = self.tails.growth(top, bottom, low, high)
        growth[0] += (over + under) * _UP
        mean = height * _moments(growth, rate)
        steeper, flat = rate - (growth[1] if len(growth) > 1 else 0.0), max(growth[2:], default=0)
        if not (steeper > 1e-9 * rate and flat <= 0):
            return whole, mean, math.inf
        return whole, mean, _exp(start + over + growth[0]) / steeper * _UP

    def _by_marginal(self, graph: Graph, low: float, high: float) -> tuple[float, float, float]:
        """Bound the integral of f_Y (s - log f_Y), with s at least log f(y|x)."""
        secret = self.secret
        x = boxes(secret.lower[None], secret.upper[None], 0, 0) if secret.continuous else []
        if not x or "y" not in graph.inputs or len(secret.atoms):
            return _LOST
        at = np.array([[low]]), np.array([[high]])
        seen = batched.settled(
            arithmetic.entry(self.surface.log.run(self.surface.inputs(x, at), 0).jet, 0)
        )
        most = float(np.max(seen[1]))
        start, rate = falling(Program(graph), low, high)
        if not (rate > 0 and math.isfinite(start) and math.isfinite(most)):
            return _LOST
        growth = TailRatios([Graph((("const", (most,)),), ()), graph]).growth(0, 1, low, high)
        height = _exp(start)
        return height / rate * _UP, height * _moments(growth, rate), math.inf

    def _extreme(self, low: float, high: float, sign: int) -> tuple[int, float]:
        """Return the place of the largest log f (the least, for -1), and how far others exceed it.

        The excess is inf where nothing is proved.
        """
        assert self.tails is not None
        last = len(self.places) - 1
        if last == 0 and not self.secret.continuous:
            return 0, 0.0
        slope = self._slope(low, high)
        if slope[0] * sign >= 0 and slope[1] * sign >= 0:
            return last, 0.0
        if slope[0] * sign <= 0 and slope[1] * sign <= 0:
            return 0, 0.0
        if self.secret.continuous:
            return 0, math.inf
        best = 0, math.inf
        for k in dict.fromkeys((last, 0, *range(last + 1))):
            pairs = [(i, k)[::sign] for i in range(last + 1)]
            gaps = [self.tails.difference(i, j, low, high)[1] for i, j in pairs]
            gaps[k] = 0.0
            best = min(best, (k, max(gaps)), key=lambda v: v[1])
            if best[1] <= 0:
                break
        return best[0], max(best[1], 0.0)

    def _slope(self, low: float, high: float) -> tuple[float, float]:
        """Enclose the slope of log f in the secret, between the outermost places."""
        # else there may be a jump or a pole, perhaps at a cut between the pieces, or at an end
        if self.whole is None or not self.whole.finite(low, high):
            return -math.inf, math.inf
        cuts = np.linspace(*self._hull(), _PIECES + 1)
        x = boxes(cuts[:-1, None], cuts[1:, None], 0, 1)
        y = np.full((1, _PIECES), low), np.full((1, _PIECES), high)
        found = self.surface.log.run(self.surface.inputs(x, y), 1)
        slope = batched.settled(arithmetic.entry(found.jet, 1))
        return float(np.min(slope[0])), float(np.max(slope[1]))


def falling(
    log: Program | None, low: float, high: float, name: str = "y", *, everywhere: bool = False
) -> tuple[float, float]:
    """Return an upper bound of a function at the finite end, and the rate at which it falls.

    What is said holds for almost all numbers, or ``everywhere``.
    """
    if log is None:
        return math.inf, 0.0
    edge = low if math.isfinite(low) else high
    variable = arithmetic.variable(np.array([low]), np.array([high]), 1)
    over = log.run({name: variable}, 1, everywhere=everywhere)
    if np.max(arithmetic.entry(over.jet, 0)[1]) == -math.inf:  # the density is 0
        return -math.inf, math.inf
    at = np.array([[edge]])
    inner = log.run({name: (at, at)}, 0)
    start = float(np.max(batched.settled(arithmetic.entry(inner.jet, 0))[1]))
    slope = batched.settled(arithmetic.entry(over.jet, 1))
    return start, float(np.min(slope[0])) if edge == high else -float(np.max(slope[1]))


def _exp(value: float) -> float:
    """Bound an exponential from above."""
    return float(batched.exp(batched.point(value))[1]) if value < 700 else math.inf


def _moments(growth: list[float], rate: float) -> float:
    """Bound the integral of e^(-rate s) times a polynomial in s, over s >= 0."""
    terms = (max(c, 0.0) * math.factorial(k) / rate ** (k + 1) for k, c in enumerate(growth))
    return math.fsum(terms) * _UP
