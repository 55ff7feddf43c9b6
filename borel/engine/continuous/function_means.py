r"""The mean of a function h of a leakage, over bands of outcomes.

On a band with leakages in [a, b] and mass m the integral of h(l) is between m min h and m max h.
With c the middle and slopes of h in :math:`[s - d, s + d]`, also

.. math:: h(l) = h(c) + s (l - c) \pm d (b - a) / 2,

so that the mass and the mean of the leakage on the band give it up to the square of b - a. Far out,
where the leakage is not bounded, :math:`|h(t)| \le B e^t` for all t from a on bounds it by B times
the integral of the exponential of the leakage.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from borel.numerics.germs.interpreter import PowerProgram, ray
from borel.numerics.germs.order_bounds import of_linear
from borel.numerics.graphs.graph import GraphBuilder
from borel.numerics.intervals import batched, interpreter
from borel.numerics.intervals.rounding import TINY
from borel.numerics.jets import arithmetic
from borel.numerics.jets.interpreter import Program
from borel.probability.countable_law import sum_of_signs, weighted

if TYPE_CHECKING:
    from borel.engine.continuous.outcome_partition import Partition
    from borel.numerics.graphs.graph import Graph
    from borel.numerics.intervals.batched import Box
    from borel.probability.real_functions import RealFunction

_UP = 1 + 2.0**-40
_PIECES = 64


class FunctionMean:
    """The mean of h of a leakage, for a partition that is cut again and again.

    Parameters
    ----------
    part : Partition
        The bands of outcomes.
    h : RealFunction
        The function.
    """

    def __init__(self, part: Partition, h: RealFunction):
        self.part, self.h = part, h
        self._slopes = Program(h.graph)
        self._growth: dict[float, float] = {}

    def enclose(self) -> tuple[tuple[float, float], np.ndarray]:
        """Enclose the mean, and return what each band leaves open."""
        part = self.part
        masses = part._masses()
        charged = masses[1] > 0
        low, high = np.zeros(len(part.low)), np.zeros(len(part.low))
        mass = masses[0][charged], masses[1][charged]
        values = part.lower[charged], part.upper[charged]
        ranged = self.h.over(*values)
        found = weighted(mass, ranged)
        by_slope = self._by_slope(values, mass, tuple(part.data[k][charged] for k in (4, 5)))
        found = np.fmax(found[0], by_slope[0]), np.fmin(found[1], by_slope[1])
        self._far_out(found, values, part.data[7][charged])
        low[charged], high[charged] = found
        with np.errstate(invalid="ignore"):
            gaps = np.where(np.isinf(low) | np.isinf(high), math.inf, high - low)
            gaps = np.where(low == high, 0.0, gaps)
            size = np.zeros(len(low))
            size[charged] = np.maximum(np.abs(ranged[0]), np.abs(ranged[1]))
            gaps = part._shared(gaps, size)
        at_atoms = part.at_atoms
        if len(at_atoms.lower):
            atoms = at_atoms.expectation(self.h)
            low, high = (np.append(end, atom) for end, atom in zip((low, high), atoms, strict=True))
            some = at_atoms.mass_upper > 0
            more = self.h.over(at_atoms.lower[some], at_atoms.upper[some])
            ranged = tuple(np.append(*ends) for ends in zip(ranged, more, strict=True))
        total = sum_of_signs(low, high)  # and, as the masses sum to 1, between the values of h
        return (max(total[0], ranged[0].min()), min(total[1], ranged[1].max())), gaps

    def _by_slope(self, values: Box, mass: Box, mean: Box) -> Box:
        """Enclose the integrals of h by its slopes on the bands."""
        a, b = values
        with np.errstate(all="ignore"):
            jet = self._slopes.run({"t": arithmetic.variable(a, b, 1)}, 1, everywhere=True).jet
            slopes = (np.broadcast_to(end, a.shape) for end in arithmetic.entry(jet, 1))
            first, last = slopes
            s = np.where(np.isfinite(first) & np.isfinite(last), first + (last - first) / 2, 0.0)
            c = np.where(np.isfinite(b), a + (b - a) / 2, a)
            d = np.maximum(last - s, s - first) * _UP
            reach = np.maximum(b - c, c - a) * _UP
            off = np.where(reach > 0, d * reach * _UP, 0.0)
            at = batched.subtract(self.h.over(c, c), batched.multiply(batched.point(s), (c, c)))
            at = batched.add(at, (-off, off))
            found = batched.add(weighted(mass, at), batched.multiply(batched.point(s), mean))
            known = np.isfinite(a) & np.isfinite(b) & np.isfinite(off)
            return np.where(known, found[0], -np.inf), np.where(known, found[1], np.inf)

    def _far_out(self, found: Box, values: Box, exponentials: np.ndarray) -> None:
        """Bound the integrals over bands on which the leakage is not bounded, in place."""
        lost = np.isfinite(values[0]) & np.isinf(values[1]) & np.isfinite(exponentials)
        for k in np.flatnonzero(lost):
            start = float(values[0][k])
            if start not in self._growth:
                self._growth[start] = growth(self.h.graph, start)
            most = self._growth[start] * float(exponentials[k]) * _UP
            if math.isfinite(most):
                found[0][k], found[1][k] = max(found[0][k], -most), min(found[1][k], most)


def growth(h: Graph, start: float) -> float:
    """Return a number B with abs(h(t)) <= B e^t for all finite t >= start; inf if none is found."""
    far = max(start, 2.0)
    build = GraphBuilder(h)
    size = PowerProgram(build.graph(build.add("absolute", build.roots[0]), ("t",)))
    u0 = _UP / far
    most = of_linear(size.run({"t": ray(0.0, -1.0, 1.0, 1.0)}, u0), u0).most
    if most is None:
        return math.inf
    power, weight = max(-most[0], 0.0), most[1]  # abs(h(t)) <= e^weight t^power from far on
    peak = max(power, far)  # from there on t^power e^-t falls
    logs = [weight + power * math.log(peak) - peak]
    if start < far:
        cuts = np.linspace(start, far, _PIECES + 1)
        low, high = interpreter.evaluate(h, {"t": (cuts[:-1], cuts[1:])})
        sizes = np.maximum(np.abs(low), np.abs(high)) + TINY
        logs += (np.log(sizes) - cuts[:-1]).tolist()
    top = max(logs)
    return math.exp(top + 1e-12 * (1.0 + abs(top))) * _UP if top < 700 else math.inf
