"""The leakage of every draw on unbounded or singular boxes of outcomes, by the slope of log f in x.

``log f(y|x) - log f(y|x0)`` is integrated from one end of the secrets, cell by cell, as for one
prior (`leakage_far_out`); then its exponential stands for the kernel, for every y of the box.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.draws.density_cells import DensityCells, middle_and_radius
from borel.engine.draws.kernel_integrals import (
    NODES,
    Integrals,
    Sums,
    largest_product,
    marginals,
    with_points,
)
from borel.engine.kernels import leakage_far_out
from borel.engine.kernels.quadrature_rules import Outcomes, nodes, power, rule, wide
from borel.engine.kernels.unbounded_secrets import may_jump
from borel.engine.problem.secret_and_kernel import boxes
from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic, elementary

if TYPE_CHECKING:
    from borel.engine.draws.count_masses import CountMasses
    from borel.engine.problem.secret_and_kernel import Surface
    from borel.numerics.graphs.graph import Graph
    from borel.numerics.intervals.batched import Box
    from borel.numerics.jets.interpreter import Program


_PARTS = 8
_FINITE = frozenset(
    "input const add subtract multiply divide negative absolute maximum minimum exp square".split()
)
"""Operations that are continuous, and finite for finite numbers; divisors must be numbers."""


def far_leakage(
    surface: Surface, kind: str, low: float, high: float, cells: DensityCells | CountMasses
) -> tuple[np.ndarray, np.ndarray]:
    """Enclose the leakage of every draw for almost every y of one box, perhaps unbounded.

    Nothing is known for secrets that are infinitely many integers.
    """
    lower, upper = np.zeros(cells.size), np.full(cells.size, np.inf)
    of: Any = _Pieces.of if isinstance(cells, DensityCells) else _Points.of
    with np.errstate(all="ignore"):
        for log in surface.logs:
            pieces = of(surface, log, (low, high), cells)
            if pieces is None:
                continue
            for backwards in (False, True):
                found = pieces.leakage(kind, backwards)
                lower, upper = np.fmax(lower, found[0]), np.fmin(upper, found[1])
        if lower.any() and not leakage_far_out.alive(surface, low, high):
            lower = np.zeros(cells.size)
    wrong = lower > upper
    return np.where(wrong, 0.0, lower), np.where(wrong, np.inf, upper)


class _Pieces:
    """Log f on bounded pieces of the secrets: the cells, and what is left beside finite ends."""

    def __init__(self, surface: Surface, log: Program, y: tuple[float, float], cells, found):
        self.surface, self.log, self.y, self.cells = surface, log, y, cells
        self.found: leakage_far_out.SecretPieces = found
        self.a, self.b = found.cuts[:-1], found.cuts[1:]
        self.middle = self.a + (self.b - self.a) / 2

    @classmethod
    def of(
        cls, surface: Surface, log: Program, y: tuple[float, float], cells: DensityCells
    ) -> _Pieces | None:
        """Return the pieces, unless log f has no bounded slope there, or may jump between them.

        At an atom too, which is a cut: then it is there what it tends to.
        """
        finite = [p for p in cells.ends if all(map(math.isfinite, p))]
        cuts = np.unique([*cells.low, *cells.high, *(v for p in finite for v in p)])
        if len(cells.points) and _may_jump(surface, log, (cuts[0], cuts[-1]), y):
            return None
        found = leakage_far_out.pieces_between(surface, log, cuts, *y, order=NODES)
        return None if found is None else cls(surface, log, y, cells, found)

    def _y(self, count: int) -> Box:
        return np.full((1, count), self.y[0]), np.full((1, count), self.y[1])

    def leakage(self, kind: str, backwards: bool) -> Box:
        """Enclose the leakage by log f(y|x) - log f(y|x0), x0 the first or the last cut."""
        rise = leakage_far_out.rise(self.found, backwards)
        at_left, at_right, height = rise.at_left, rise.at_right, rise.height
        left, right = (
            batched.subtract(batched.point(v), batched.point(self.middle)) for v in (self.a, self.b)
        )
        slope = self.found.outer[0][1], self.found.outer[1][1]
        over = batched.add(height, batched.multiply(slope, (left[0], right[1])))
        top, bottom = rise.top.max(), rise.bottom.min()
        ends = self._ends(over, (at_left[0][0], at_left[1][0]), (at_right[0][-1], at_right[1][-1]))
        for pair in ends:
            top, bottom = max(top, pair[1]), min(bottom, pair[0])
        sure_top = max(at_left[0].max(), at_right[0].max(), height[0].max())
        sure_bottom = min(at_left[1].min(), at_right[1].min(), height[1].min())
        index = np.searchsorted(self.found.cuts, self.cells.points)
        at_cuts = arithmetic.joined(batched.each(at_left, lambda v: v[:1]), at_right)
        at_atoms = batched.each(at_cuts, lambda v: v[index])
        total = marginals(self.cells, self._integrals(height, over, ends, at_atoms))
        total = np.maximum(total[0][:, :, 0], 0.0), total[1][:, :, 0]
        logs = elementary.logarithm(total, 0)
        least, most = batched.subtract(
            (logs[0][0], logs[1][0]), batched.each(self.cells.log_total, lambda v: v[:, 0])
        )
        if kind == "pml":
            lower, upper = sure_top - most, top - least
        else:
            lower, upper = least - sure_bottom, most - bottom
        lower = np.where(np.isfinite(lower), lower - 2.0**-48 * (1 + np.abs(lower)), 0.0)
        upper = np.where(np.isfinite(upper), upper + 2.0**-48 * (1 + np.abs(upper)), np.inf)
        return np.maximum(lower, 0.0), np.maximum(upper, 0.0)

    def _ends(self, over: Box, first, last) -> list[tuple[float, float]]:
        """Enclose log f on what is left at the ends, relative to x0."""
        out = []
        for a, b in self.cells.ends:
            if math.isfinite(a) and math.isfinite(b):
                k = int(np.searchsorted(self.a, a))
                out.append((float(over[0][k]), float(over[1][k])))
                continue
            at = first if math.isinf(a) else last
            # from inside the last piece on: log f may jump at its end
            a, b = (a, self.middle[0]) if math.isinf(a) else (self.middle[-1], b)
            x = boxes(np.array([[a]]), np.array([[b]]), 0, 1)
            jet = self.log.run(self.surface.inputs(x, self._y(1)), 1).jet
            slope = arithmetic.entry(jet, 1)
            away = (
                (np.array([-np.inf]), np.zeros(1))
                if math.isinf(a)
                else (np.zeros(1), np.array([np.inf]))
            )
            move = batched.settled(batched.multiply(slope, away))
            if not np.isfinite(slope[0] + slope[1]).all():  # then log f may jump
                move = np.array([-np.inf]), np.array([np.inf])
            out.append((float(at[0] + move[0][0]), float(at[1] + move[1][0])))
        return out

    def _integrals(
        self, height: Box, over: Box, ends: list[tuple[float, float]], at_atoms: Box
    ) -> Integrals:
        """Return the integrals over the cells of e^(log f(y|x) - log f(y|x0)), for every y."""
        cells, n = self.cells, NODES
        where = np.searchsorted(self.a, cells.low)
        a, b = cells.low, cells.high
        at = nodes(self.a[:, None], self.b[:, None], 0, rule(n), np.arange(n))
        step = batched.subtract((at[0][0], at[1][0]), batched.point(self.middle))
        exponent = batched.add(
            height, leakage_far_out.increment(self.found.centre, self.found.outer, step)
        )
        values = elementary.exponential((exponent[0][None], exponent[1][None]), 0)
        jet = elementary.exponential(
            (
                np.concatenate([over[0][None], self.found.outer[0][1:]]),
                np.concatenate([over[1][None], self.found.outer[1][1:]]),
            ),
            n,
        )
        length = batched.subtract(batched.point(self.b), batched.point(self.a))
        scale = power(batched.multiply(length, batched.point(np.array(0.5))), n)[1]
        error = np.maximum(np.abs(jet[0][n]), np.abs(jet[1][n])) * scale * largest_product()
        error = np.where(np.isnan(error), np.inf, error + 2.0**-1060)
        flat, spread = middle_and_radius((jet[0][0], jet[1][0]))
        by_nodes = (error <= spread) & np.isfinite([*values[0][0], *values[1][0]]).all(axis=0)
        low, high = (np.where(by_nodes, v, flat)[:, :, where] for v in values)
        error = np.where(by_nodes, error, spread)[where]
        point = Outcomes(np.zeros(1), np.zeros(1), np.zeros(1), 0, np.zeros(1))
        sums = Sums(point, cells)
        sums.add(np.arange(len(a)), a, b, (low, high), high[0], error, first=True)
        out = sums.finished([middle_and_radius(_exp(pair)) for pair in ends])
        if not len(cells.points):
            return out
        middle, radius = middle_and_radius(batched.exp(at_atoms))
        return with_points(out, middle[None, None], radius[None, None])


class _Points:
    """Log f at finitely many secrets, relative to the first one or to the last.

    Between two of them log f(y|x) - log f(y|x') is an integral of its slope. Where that is not
    bounded, as y is not, it may be infinite: then log f must be made of what is finite for finite
    numbers.
    """

    def __init__(self, cells: CountMasses, order: np.ndarray, step: Box):
        self.cells, self.order, self.step = cells, order, step

    @classmethod
    def of(
        cls, surface: Surface, log: Program, y: tuple[float, float], cells: CountMasses
    ) -> _Points | None:
        """Return the points, unless log f may jump between them."""
        graph = log.graph
        order = np.argsort(cells.points)
        places = cells.points[order]
        if cells.ends or _may_jump(surface, log, (places[0], places[-1]), y):
            return None
        # parts of the way from each point to the next one
        shares = np.linspace(0.0, 1.0, _PARTS + 1)
        cuts = places[:-1, None] + (places[1:] - places[:-1])[:, None] * shares
        cuts[:, -1] = places[1:]
        a, b = cuts[:, :-1].ravel(), cuts[:, 1:].ravel()
        at = np.full((1, len(a)), y[0]), np.full((1, len(a)), y[1])
        jet = log.run(surface.inputs(boxes(a[:, None], b[:, None], 0, 1), at), 1).jet
        slope = wide(arithmetic.entry(jet, 1), len(a))
        known = np.isfinite(slope[0]) & np.isfinite(slope[1])
        if not known.all() and not finite_for_numbers(graph):
            return None
        slope = batched.settled(slope)
        steps = batched.multiply(slope, batched.subtract(batched.point(b), batched.point(a)))
        steps = batched.each(steps, lambda v: v.reshape(len(places) - 1, _PARTS))
        return cls(cells, order, batched.total(steps, axis=1))

    def leakage(self, kind: str, backwards: bool) -> Box:
        """Enclose the leakage by log f(y|x) - log f(y|x0), x0 the first or the last point."""
        step = self.step
        if backwards:
            step = batched.each(batched.negative(step), lambda v: v[::-1])
        low, high = _sums(step)
        if backwards:
            low, high = low[::-1], high[::-1]
        cells, power = self.cells, batched.exp((low, high))
        p, off = cells.middle[:, self.order], cells.radius[:, self.order].astype(float)
        slack = (len(low) + 8) * 2.0**-52
        total = (
            np.maximum(p - off, 0.0) @ power[0] * (1 - slack),
            (p + off) @ power[1] * (1 + slack),
        )
        logs = elementary.logarithm((total[0][None], total[1][None]), 0)
        least, most = batched.settled((logs[0][0], logs[1][0]))
        if kind == "pml":
            lower, upper = low.max() - most, high.max() - least
        else:
            lower, upper = least - high.min(), most - low.min()
        lower = np.where(np.isfinite(lower), lower - 2.0**-48 * (1 + np.abs(lower)), 0.0)
        upper = np.where(np.isfinite(upper), upper + 2.0**-48 * (1 + np.abs(upper)), np.inf)
        return np.maximum(lower, 0.0), np.maximum(upper, 0.0)


def _may_jump(
    surface: Surface, log: Program, x: tuple[float, float], y: tuple[float, float]
) -> bool:
    """Return whether log f may jump between some secrets, for outcomes of a box."""
    return may_jump(log.graph, {surface.secret.names[0]: x, "y": y})


def finite_for_numbers(graph: Graph) -> bool:
    """Return whether a graph is seen to be continuous, and finite for finite numbers."""
    divided = all(
        graph.nodes[args[1]][0] == "const" and graph.nodes[args[1]][1][0] != 0
        for op, args in graph.nodes
        if op == "divide"
    )
    return divided and graph.operations <= _FINITE


def _sums(step: Box) -> Box:
    """Enclose running sums, from 0; one that is not bounded stays so."""
    out = []
    for ends, sign in ((step[0], -1.0), (step[1], 1.0)):
        known = np.isfinite(ends)
        total = np.concatenate([[0.0], np.cumsum(np.where(known, ends, 0.0))])
        size = np.concatenate([[0.0], np.cumsum(np.where(known, np.abs(ends), 0.0))])
        lost = np.concatenate([[False], np.cumsum(~known) > 0])
        total = total + sign * size * (len(total) * 2.0**-52)
        out.append(np.where(lost, sign * np.inf, total))
    return out[0], out[1]


def _exp(pair: tuple[float, float]) -> Box:
    return batched.exp((np.array([pair[0]]), np.array([pair[1]])))
