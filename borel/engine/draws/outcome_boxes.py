"""The supremum of a leakage over outcomes for many draws: boxes, cut where it may be for some draw.

On a box the leakage of a draw is the logarithm of the kernel along a path, less that of f_Y, a
polynomial in y; the supremum over the secrets exceeds the path by a number that no draw changes.
On half-lines log f(y|x) - log f(y|x0) is integrated, by its slope in x, as for one prior.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import settings
from borel.engine.draws.density_cells import DensityCells
from borel.engine.draws.far_integrals import far_leakage
from borel.engine.draws.kernel_integrals import integrals, marginals
from borel.engine.infinite.proofs import prove
from borel.engine.kernels.leakage_on_boxes import side
from borel.engine.kernels.marginal_on_boxes import geometry
from borel.engine.kernels.quadrature_rules import Outcomes
from borel.numerics.intervals import batched
from borel.numerics.jets.elementary import logarithm

if TYPE_CHECKING:
    from borel.engine.continuous.outcome_engine import CertifiedOutcomes
    from borel.engine.draws.count_masses import CountMasses
    from borel.engine.problem.protocols import WithMasses
    from borel.numerics.intervals.batched import Box

_FIRST = 16
_ROUNDS, _PATIENCE = 40, 6
_MOST = 4000
_BLOCK = 64
_PARTS, _FAR = 8, 60
_MARKS, _LEADING = 256, 48


class Expansion(NamedTuple):
    """A function of y on boxes: at their centres, and over the boxes.

    Attributes
    ----------
    value, slope : Box
        At the centre.
    bend, slopes, over : Box
        Half the second derivative, the slope and the value, over the box.
    """

    value: Box
    slope: Box
    bend: Box
    slopes: Box
    over: Box


class OfKernel(NamedTuple):
    """What no draw changes of the kernel on finite boxes of outcomes.

    Attributes
    ----------
    low, high : ndarray (boxes,)
        Their ends.
    top, chosen : _Side
        The supremum over the secrets of log f; the same, or for PMC that of -log f.
    shift : ndarray (boxes,)
        The size of log f.
    integrals : Integrals
        Those of f e^-shift.
    """

    low: np.ndarray
    high: np.ndarray
    top: Any
    chosen: Any
    shift: np.ndarray
    integrals: Any


@dataclass
class Compared:
    """The kernel and the density of Y of draws on boxes of outcomes.

    Attributes
    ----------
    kernel, kind : OfKernel, str
        What was compared, and for which leakage.
    draws : slice or ndarray
        With which draws.
    value : Box
        Coefficients of f_Y e^-shift, not divided by the mass of the draw.
    total : Box
        The logarithms of these masses.
    half, reach : ndarray (boxes,)
        How far the boxes reach from their centres, at most, and at least on either side: a centre
        is a float, and these are some way apart.
    """

    kernel: OfKernel
    kind: str
    draws: Any
    value: Box
    total: Box
    half: np.ndarray
    reach: np.ndarray

    @property
    def chosen(self) -> Any:
        """The supremum over the secrets; for PMC that of -log f."""
        return self.kernel.chosen

    @property
    def shift(self) -> np.ndarray:
        """The size of log f."""
        return self.kernel.shift

    @property
    def dead(self) -> np.ndarray:
        """Where the kernel is 0 for every secret."""
        return np.isneginf(self.kernel.top.direct)

    @cached_property
    def log(self) -> Expansion:
        """Log f_Y of every draw, with the sign that the kernel has."""
        inner, outer = _log_polynomial(self.value, self.half)
        for part in (inner, outer):
            shifted = batched.add(part[0], batched.point(self.shift))
            part[0] = batched.subtract(shifted, self.total)
        if self.kind == "pmc":
            inner, outer = ([batched.negative(v) for v in part] for part in (inner, outer))
        return Expansion(inner[0], inner[1], outer[2], outer[1], outer[0])

    @cached_property
    def gaps(self) -> list[Expansion]:
        """What log f along each path exceeds it by."""
        out = []
        for at_centre, over in self.chosen.paths:
            path = [_entry(at_centre, 0), _entry(at_centre, 1)]
            path += [_entry(over, k) for k in (2, 1, 0)]
            terms = zip(path, self.log, strict=True)
            out.append(Expansion(*(batched.subtract(p, q) for p, q in terms)))
        return out


class OutcomeBoxes:
    """Boxes of outcomes for all draws of an engine.

    Parameters
    ----------
    shared : CertifiedOutcomes
        The engine of a law under which the kernel has the extremes that it has under all draws.
    support : WithMasses
        The kernel and the support, and no law: what a proof of an infinity for all draws may read.
    kind : {"pml", "pmc"}
        Which leakage.
    tol : float
        The width, in nats, at which the supremum of a draw is good enough.
    """

    def __init__(self, shared: CertifiedOutcomes, support: WithMasses, kind: str, tol: float):
        self.shared, self.support, self.kind, self.tol = shared, support, kind, tol
        self.surface, self.line = shared.surface, shared.line

    # -- the search -------------------------------------------------------------------------

    def supremum(self, cells: DensityCells | CountMasses) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the essential supremum for every draw of a block, or prove it infinite."""
        deadline = settings.search_deadline()
        low, high = self._first(cells)
        best, closed = np.zeros(cells.size), np.zeros(cells.size)
        inherited = np.full((cells.size, len(low)), np.inf)
        count = 0
        for turn in range(_ROUNDS):
            alive = (inherited > (best + 0.9 * self.tol)[:, None]) & ~cells.lost[:, None]
            lower, upper = self._evaluate(cells, low, high, alive, deadline)
            upper = np.minimum(upper, inherited)
            best = np.maximum(best, lower.max(axis=1, initial=0.0))
            count += len(low)
            open_ = upper > (best + 0.9 * self.tol)[:, None]
            open_[cells.lost] = False
            some = open_.any(axis=0)
            endless = (np.isinf(upper) & open_).any(axis=0)
            stop = turn == _ROUNDS - 1 or settings.late(deadline) or count > _MOST
            stop |= turn == _PATIENCE and bool(endless.any())
            lost_far = bool((endless & ~np.isfinite(high - low)).any())
            if endless.any() and ((turn == 0 and lost_far) or turn == 3 or stop):
                ends = [(float(low[k]), float(high[k])) for k in np.flatnonzero(endless)]
                if prove(self.support, self.kind, ends[:12]) is not None:
                    infinite = np.full(cells.size, np.inf)
                    return infinite, infinite
            cut = self._cuttable(low, high) & some & (not stop)
            closed = np.maximum(closed, upper[:, ~cut].max(axis=1, initial=0.0))
            if not cut.any():
                break
            gap = (upper[:, cut] - best[:, None])[~cells.lost].max(axis=0)
            low, high, inherited = self._cut(low[cut], high[cut], upper[:, cut], gap)
        closed = np.where(cells.lost, np.inf, np.maximum(closed, best))
        return np.where(cells.lost, 0.0, best), closed

    def _first(self, cells: DensityCells | CountMasses) -> tuple[np.ndarray, np.ndarray]:
        """Cut the line at breaks, at the ends of the secrets, and into a few pieces."""
        line = self.line
        marks = [*self.shared.joint.mechanism.breaks, *cells.interval, line.lower, line.upper]
        few = isinstance(cells, DensityCells) or not cells.ends
        if few and len(cells.points) <= _MARKS:
            marks += cells.points.tolist()
        elif not few:  # the first of infinitely many
            marks += cells.points[:_LEADING].tolist()
        for pair in cells.ends:  # where half-lines of secrets begin
            marks += pair if not all(map(math.isfinite, pair)) else ()
        cuts = sorted({m for m in marks if line.lower <= m <= line.upper and math.isfinite(m)})
        cuts = cuts or [0.0]
        inner = []
        for a, b in pairwise(cuts):
            inner += np.linspace(
                a, b, max(2, math.ceil(_FIRST * (b - a) / (cuts[-1] - cuts[0]))) + 1
            )[:-1].tolist()
        edges = [*inner, cuts[-1]]
        if math.isinf(line.lower):
            edges = [-math.inf, *edges]
        if math.isinf(line.upper):
            edges = [*edges, math.inf]
        return np.array(edges[:-1]), np.array(edges[1:])

    def _cuttable(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        size = np.maximum(np.abs(low), np.abs(high))
        with np.errstate(invalid="ignore"):
            wide = np.isinf(size) | ~(high - low <= 2.0**-40 * np.maximum(size, 2.0**-40))
        far = np.isinf(high) & (low > 2.0**_FAR) | np.isinf(low) & (high < -(2.0**_FAR))
        return wide & ~far

    def _cut(self, low, high, upper, gap) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Cut boxes in parts, for errors of second order to be small enough; a half-line in two."""
        lows, highs, parents = [], [], []
        with np.errstate(invalid="ignore"):
            parts = np.clip(np.ceil(np.sqrt(gap / (0.5 * self.tol))), 2, _PARTS)
        for k, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
            if math.isinf(a) and math.isinf(b):
                edges = [a, 0.0, b]
            elif math.isinf(b):
                edges = [a, a + max(1.0, abs(a)), b]
            elif math.isinf(a):
                edges = [a, b - max(1.0, abs(b)), b]
            else:
                edges = np.linspace(a, b, int(parts[k]) + 1).tolist()
            lows += edges[:-1]
            highs += edges[1:]
            parents += [k] * (len(edges) - 1)
        return np.array(lows), np.array(highs), upper[:, parents]

    # -- bounds on boxes --------------------------------------------------------------------

    def _evaluate(
        self, cells: DensityCells | CountMasses, low, high, alive, deadline: float
    ) -> Box:
        """Return what the suprema over boxes are at least, and what the leakage is at most.

        Only draws that are alive in some box of a block are looked at there.
        """
        shape = cells.size, len(low)
        lower, upper = np.zeros(shape), np.full(shape, np.inf)
        finite = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
        for start in range(0, len(finite), _BLOCK):
            some = finite[start : start + _BLOCK]
            draws = np.flatnonzero(alive[:, some].any(axis=1))
            draws = slice(None) if 2 * len(draws) > cells.size else draws
            with np.errstate(all="ignore"):
                found = self._boxes(cells, low[some], high[some], draws, deadline)
            rows = np.arange(cells.size)[draws, None]
            lower[rows, some], upper[rows, some] = found
            if settings.late(deadline):
                return lower, upper
        at_end = (low == self.line.lower) | (high == self.line.upper)
        for k in np.flatnonzero((np.isinf(upper) & alive).any(axis=0) & at_end):
            found = far_leakage(self.surface, self.kind, float(low[k]), float(high[k]), cells)
            lower[:, k] = np.maximum(lower[:, k], found[0])
            upper[:, k] = np.minimum(upper[:, k], found[1])
        return lower, upper

    def compared(
        self, cells: DensityCells | CountMasses, low, high, draws, deadline: float
    ) -> Compared:
        """Compare the kernel along paths with the density of Y, on finite boxes of outcomes."""
        return self.against(self.of_kernel(cells, low, high, deadline), cells, draws)

    def of_kernel(self, cells: DensityCells | CountMasses, low, high, deadline: float) -> OfKernel:
        """Return what is the same for all draws on finite boxes of outcomes."""
        tol = self.tol / 16
        top = side(self.surface, low, high, 1.0, tol, deadline)
        chosen = top if self.kind == "pml" else side(self.surface, low, high, -1.0, tol, deadline)
        shift = np.where(np.isfinite(top.direct), top.direct, 0.0)
        ys = Outcomes(low, high, geometry(low, high)[0], 2, shift)
        return OfKernel(low, high, top, chosen, shift, integrals(self.surface, ys, cells))

    def against(self, kernel: OfKernel, cells: DensityCells | CountMasses, draws: Any) -> Compared:
        """Compare it with the density of Y of some draws."""
        centre, half = geometry(kernel.low, kernel.high)
        reach = np.minimum(centre - kernel.low, kernel.high - centre) * (1 - 2.0**-51)
        value = marginals(cells, kernel.integrals, draws)
        total = batched.each(cells.log_total, lambda v: v[draws])
        return Compared(kernel, self.kind, draws, value, total, half, reach)

    def _boxes(self, cells: DensityCells | CountMasses, low, high, draws, deadline: float) -> Box:
        """Bound the leakage of draws on finite boxes of outcomes."""
        found = self.compared(cells, low, high, draws, deadline)
        half, reach, chosen = found.half, found.reach, found.chosen
        least, most = found.log.over
        lowers, uppers = [chosen.flat - most], [chosen.direct - least]
        for i, gap in enumerate(found.gaps):
            # Taylor's formula of degree 2, of degree 1, and the range
            flat = batched.point(np.zeros(1))
            ends = [
                _ends_of_range([gap.value, gap.slope, gap.bend], half, reach),
                _ends_of_range([gap.value, gap.slopes, flat], half, reach),
                gap.over,
            ]
            sure = np.fmax(ends[0][0], ends[2][0])
            lowers.append(np.where(chosen.sound[i], sure, 0.0))
            if i == 0:
                uppers += [pair[1] + chosen.excess for pair in ends]
        upper = np.fmin.reduce([np.where(np.isnan(u), np.inf, u) for u in uppers])
        lower = np.fmax.reduce([np.where(np.isnan(v), 0.0, v) for v in lowers])
        upper, lower = np.where(found.dead, 0.0, upper), np.where(found.dead, 0.0, lower)
        off = np.where(np.isfinite(lower), np.abs(lower) * 2.0**-48, 0.0)
        lower, upper = (
            np.maximum(lower - off, 0.0),
            np.maximum(upper + np.abs(upper) * 2.0**-48, 0.0),
        )
        wrong = lower > upper * (1 + 1e-12) + 1e-12  # then neither is trusted
        return np.where(wrong, 0.0, np.minimum(lower, upper)), np.where(wrong, np.inf, upper)


def _over(value: Box, half: np.ndarray) -> tuple[Box, Box]:
    """Enclose a polynomial and its slope over boxes."""
    a0, a1, a2 = ((value[0][r], value[1][r]) for r in range(3))
    reach = -half, half
    square = np.zeros(len(half)), half * half * (1 + 2.0**-52)
    two = batched.point(np.array(2.0))
    slope = batched.add(a1, batched.multiply(batched.multiply(a2, two), reach))
    moved = batched.add(batched.multiply(a1, reach), batched.multiply(a2, square))
    return batched.add(a0, moved), slope


def _log_polynomial(value: Box, half: np.ndarray) -> tuple[list[Box], list[Box]]:
    """Return the coefficients of log f_Y at the centres of boxes, and over the boxes."""
    a0, a1, a2 = ((value[0][r], value[1][r]) for r in range(3))
    inner = logarithm(_stack(a0, a1), 1)
    outer = logarithm(_stack(*_over(value, half), a2), 2)
    return [_entry(inner, k) for k in range(2)], [_entry(outer, k) for k in range(3)]


def _entry(jet: Box, k: int) -> Box:
    return batched.settled((jet[0][k], jet[1][k]))


def _stack(*parts: Box) -> Box:
    return np.stack([p[0] for p in parts]), np.stack([p[1] for p in parts])


def _ends_of_range(terms: list[Box], half: np.ndarray, reach: np.ndarray) -> Box:
    """Return what a polynomial is at least, somewhere in the box, and what it is at most."""
    constant, slope, bend = terms
    square = half * half * (1 + 2.0**-52)
    more = np.maximum(bend[1], 0.0) * square
    steep = np.maximum(np.abs(slope[0]), np.abs(slope[1])) * half
    upper = constant[1] + steep + more
    upper = upper + (np.abs(constant[1]) + steep + more) * 2.0**-49
    less = np.minimum(bend[0], 0.0) * square
    sure = np.maximum(np.maximum(slope[0], -slope[1]), 0.0)
    at_end = constant[0] + sure * reach + less
    at_end = at_end - (np.abs(constant[0]) + sure * half + np.abs(less)) * 2.0**-49
    return np.fmax(constant[0], at_end), upper
