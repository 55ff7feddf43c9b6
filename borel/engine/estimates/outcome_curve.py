"""The leakage as a curve over a continuous outcome: panels of polynomials in log coordinates.

Each value of the leakage costs a maximisation and an integral over secrets, so it is computed on
few outcomes, in large batches: on every piece of the line between ends and breaks, in the
coordinate of a `Chart` (logarithmic towards ends and infinity), panels with Gauss-Legendre nodes
are halved until their polynomials have converged. Suprema, tails, quantiles and means are then
read from the polynomials. Nothing here is a proof.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.polynomial import legendre

from borel import settings
from borel.errors import BudgetSpent
from borel.numerics.float64.charts import Axis, Chart

if TYPE_CHECKING:
    from collections.abc import Callable

_NODES = 12
_LENGTH = 2.4
_REACH = 30.0
_DEPTH = 20
_TOL = 1e-10
_T, _W = legendre.leggauss(_NODES)
_TO_COEFFICIENTS = np.linalg.inv(legendre.legvander(_T, _NODES - 1))
_FINE = legendre.legvander(np.linspace(-1, 1, 65), _NODES - 1) @ _TO_COEFFICIENTS
KINDS = ("pml", "pmc", "ldp")


class Peak(NamedTuple):
    """A supremum along the curve: value, error, place, whether only approached, or infinite.

    One that is ``lost`` is a leakage that grows to where float64 holds no density.
    """

    value: float
    error: float
    place: float
    at_end: bool
    diverges: bool
    lost: bool = False


class Curve:
    """Leakages and the density of a one-dimensional outcome.

    Parameters
    ----------
    pieces : callable
        ``y -> Pieces`` for an array of outcomes.
    axis : Axis
        The outcomes, with the breaks of the curve.
    """

    def __init__(self, pieces: Callable[[np.ndarray], Any], axis: Axis):
        self.pieces = pieces
        self.chart = Chart(axis)
        starts, stops, piece = [], [], []
        for p in range(len(self.chart.a)):
            # towards infinity float64 loses the leakage to cancellation long before 1e8
            below, above = self.chart.below[p], self.chart.above[p]
            reach = _REACH if below and above else 18.0
            low = max(float(self.chart.low[p]), -(_REACH if below else reach))
            high = min(float(self.chart.high[p]), _REACH if above else reach)
            count = max(2, math.ceil((high - low) / _LENGTH))
            edges = np.linspace(low, high, count + 1)
            starts.append(edges[:-1])
            stops.append(edges[1:])
            piece.append(np.full(count, p))
        self.start, self.stop = np.concatenate(starts), np.concatenate(stops)
        self.piece = np.concatenate(piece)
        self.values = self._sample(self.piece, self.start, self.stop)
        self._refine()
        order = np.lexsort((self.start, self.piece))
        self.piece, self.start, self.stop = (a[order] for a in (self.piece, self.start, self.stop))
        self.values = {k: v[order] for k, v in self.values.items()}

    def _sample(self, piece: np.ndarray, start: np.ndarray, stop: np.ndarray) -> dict:
        """Evaluate the leakages and the mass per coordinate on the nodes of panels."""
        half = (stop - start) / 2
        s = (start + half)[:, None] + half[:, None] * _T
        p = np.broadcast_to(piece[:, None], s.shape)
        y = self.chart.x(p, s)
        found = self.pieces(y.ravel())
        out: dict[str, np.ndarray] = {"y": y}
        for kind in KINDS:
            value, error = found.leakage(kind)
            out[kind] = value.reshape(s.shape)
            out[kind + "_error"] = error.reshape(s.shape)
        # where the evaluation failed there is no mass: `total` misses it, and the error says so
        out["lost"] = found.lost.reshape(s.shape)
        failed = np.isnan(out["pml_error"])
        marginal = np.where(failed, -np.inf, found.marginal.reshape(s.shape))
        with np.errstate(under="ignore"):
            out["mass"] = np.exp(marginal + self.chart.log_jacobian(p, s))
        out["live"] = (marginal > -np.inf).astype(float)
        return out

    def _misfit(self, values: dict, half: np.ndarray) -> np.ndarray:
        """Return how badly the polynomials of each panel fit, weighted by what depends on it."""
        worst = np.zeros(len(half))
        mass = values["mass"]
        weight = (np.abs(mass) @ _W) * half
        scale = np.maximum(np.abs(mass).max(axis=1), 1e-300)
        for key in (*KINDS, "mass"):
            with np.errstate(invalid="ignore"):
                v = np.where(np.isfinite(values[key]), values[key], 0.0)
            tail = np.abs(v @ _TO_COEFFICIENTS.T)[:, -3:].max(axis=1)
            if key == "mass":
                misfit = tail / scale * weight
            else:
                v = np.where(self._noisy(values, key), 0.0, v)
                size = np.maximum(1.0, np.abs(v).max(axis=1))
                # where there is hardly any mass a leakage matters for the supremum only
                misfit = np.where(weight > 1e-14, tail / size * np.maximum(weight, 1e-4), 0.0)
            worst = np.maximum(worst, misfit)
        return worst

    @staticmethod
    def _noisy(values: dict, kind: str) -> np.ndarray:
        """Return where the leakage is not resolved, so that no polynomial could fit it."""
        with np.errstate(invalid="ignore"):
            return ~(values[kind + "_error"] < 1e-7)

    def _refine(self) -> None:
        deadline = settings.deadline()
        for _ in range(_DEPTH):
            if settings.late(deadline):
                return
            half = (self.stop - self.start) / 2
            bad = self._misfit(self.values, half) > _TOL
            if not bad.any() or len(bad) > 2000:
                return
            middle = self.start[bad] + half[bad] * (1 + 0.01 * (_PHI - 0.5))
            piece = np.repeat(self.piece[bad], 2)
            start = np.stack([self.start[bad], middle], axis=1).ravel()
            stop = np.stack([middle, self.stop[bad]], axis=1).ravel()
            try:
                new = self._sample(piece, start, stop)
            except BudgetSpent:
                continue
            keep = ~bad
            self.piece = np.concatenate([self.piece[keep], piece])
            self.start = np.concatenate([self.start[keep], start])
            self.stop = np.concatenate([self.stop[keep], stop])
            self.values = {k: np.concatenate([v[keep], new[k]]) for k, v in self.values.items()}

    # -- reading it off ---------------------------------------------------------------------

    def trusted(self, kind: str) -> np.ndarray:
        """Return where float64 still resolves the leakage (nodes, by panel)."""
        return ~self._noisy(self.values, kind)

    def weights(self) -> np.ndarray:
        """Return weights with which sums over nodes are integrals dy."""
        half = (self.stop - self.start) / 2
        s = (self.start + half)[:, None] + half[:, None] * _T
        p = np.broadcast_to(self.piece[:, None], s.shape)
        return half[:, None] * _W * np.exp(self.chart.log_jacobian(p, s))

    def integral(self, integrand: np.ndarray) -> tuple[float, float]:
        """Integrate node values (per coordinate s) over all panels, with an error estimate."""
        half = (self.stop - self.start) / 2
        good = np.where(np.isfinite(integrand), integrand, 0.0)
        value = float(np.sum((good @ _W) * half))
        tail = np.abs(good @ _TO_COEFFICIENTS.T)[:, -3:].max(axis=1)
        # at a kink coefficients fall slowly: each of those that are missing may be as large
        return value, float(np.sum(tail * half)) * _NODES + 1e-12 * abs(value)

    def total(self) -> tuple[float, float]:
        """Return the mass of the density on the curve: 1, up to error."""
        return self.integral(self.values["mass"])

    def sup(self, kind: str) -> Peak:
        """Estimate the supremum of a leakage, ends and breaks by one-sided limits."""
        usable = (self.values["live"] > 0) & self.trusted(kind)
        # lowered by its error, so that noise far out does not pass for a supremum
        with np.errstate(invalid="ignore"):
            lowered = self.values[kind] - self.values[kind + "_error"]
        value = np.where(usable, lowered, -np.inf)
        infinite = (self.values["live"] > 0) & np.isinf(self.values[kind + "_error"])
        if infinite.any():
            row, column = np.argwhere(infinite)[0]
            finite = value[np.isfinite(value)].max(initial=0.0)
            return Peak(float(finite), math.inf, float(self.values["y"][row, column]), False, True)
        if not usable.any():
            return Peak(0.0, math.inf, math.nan, False, True, lost=True)
        row, column = np.unravel_index(int(np.argmax(value)), value.shape)
        best, place = float(self.values[kind][row, column]), float(self.values["y"][row, column])
        error = float(self.values[kind + "_error"][row, column])
        brink = self._brink(value)
        if brink is not None:
            return Peak(best, math.inf, brink, True, True, lost=True)
        growth = self._growth(kind, value)
        if growth is not None:
            return Peak(best, math.inf, growth, True, True)
        at_end, gap = self._at_end(value, int(row))
        if at_end is not None:
            return Peak(best, error + gap, at_end, True, False)
        refined, spot, spread = self._zoom(kind, int(row), int(column))
        if refined > best:
            best, place = refined, spot
        return Peak(best, error + spread, place, False, False)

    def _edges(self, value: np.ndarray):
        """Yield (the end, its nodes outwards, their coordinates) for both ends of each piece."""
        for p in range(len(self.chart.a)):
            rows = np.flatnonzero(self.piece == p)
            half = (self.stop[rows] - self.start[rows]) / 2
            s = ((self.start[rows] + half)[:, None] + half[:, None] * _T).ravel()
            v = value[rows].ravel()
            known = np.isfinite(v)
            if known.sum() < 2 * _NODES:
                continue
            s, v = s[known], v[known]
            yield float(self.chart.b[p]), v, s
            yield float(self.chart.a[p]), v[::-1], -s[::-1]

    def _brink(self, value: np.ndarray) -> float | None:
        """Return the last outcome before one whose density is lost, if the leakage grows to it."""
        top = float(np.max(value))
        for p in range(len(self.chart.a)):
            rows = np.flatnonzero(self.piece == p)
            columns = (value[rows], self.values["lost"][rows], self.values["y"][rows])
            for step in (1, -1):
                v, lost, y = (c.ravel()[::step] for c in columns)
                known = np.flatnonzero(np.isfinite(v))
                if len(known) < _NODES or not lost[known[-1] :].any():
                    continue
                last = known[-_NODES:]
                grows = v[last[-1]] - v[last[0]] > 1e-9 * max(1.0, top)
                if grows and v[last[-1]] >= top - 1e-9 * max(1.0, top):
                    return float(y[last[-1]])
        return None

    def _growth(self, kind: str, value: np.ndarray) -> float | None:
        """Return an end towards which the leakage keeps growing in log distance, if any."""
        top = float(np.max(value))
        for end, v, s in self._edges(value):
            last = s > s[-1] - 4 * _LENGTH
            a, b = v[last], s[last]
            if len(a) < 3 or v[-1] < top - 1e-9:
                continue
            middle = len(a) // 2
            late = (a[-1] - a[middle]) / max(b[-1] - b[middle], 1e-12)
            early = (a[middle] - a[0]) / max(b[middle] - b[0], 1e-12)
            # a limit is approached exponentially in s; growth like log or faster is not
            if late > 1e-6 and late > 0.3 * early:
                return end
        return None

    def _at_end(self, value: np.ndarray, row: int) -> tuple[float | None, float]:
        """Return the end that the supremum is approached at, and how far off it may be."""
        top = float(np.max(value))
        for end, v, s in self._edges(value):
            last = s > s[-1] - _LENGTH
            step = float(v[last][-1] - v[last][0])
            if v[-1] >= top - 1e-13 and step >= 0:
                return end, abs(step) + 1e-12 * max(1.0, top)
        return None, 0.0

    def _zoom(self, kind: str, row: int, column: int) -> tuple[float, float, float]:
        """Refine an interior maximum on the true function, a batch of outcomes at a time."""
        half = (self.stop[row] - self.start[row]) / 2
        centre = self.start[row] + half * (1 + _T[column])
        width, p = half * 0.2, self.piece[row]
        best, place, spread = -math.inf, math.nan, 0.0
        for _ in range(6):
            s = centre + width * np.linspace(-1, 1, 33)
            s = np.clip(s, self.chart.low[p], self.chart.high[p])
            y = self.chart.x(np.full(s.shape, p), s)
            found = self.pieces(y).leakage(kind)[0]
            top = int(np.argmax(found))
            spread = float(found[top] - max(best, found[max(top - 1, 0)], found[min(top + 1, 32)]))
            if found[top] > best:
                best, place = float(found[top]), float(y[top])
            centre, width = float(s[top]), width / 10
        return best, place, max(spread, 0.0) + 1e-12

    def mass_above(self, kind: str, t: float) -> float:
        """Return the mass of {leakage > t}, with crossings from the polynomials."""
        half = (self.stop - self.start) / 2
        value = np.where(self.values["live"] > 0, self.values[kind], -1.0)
        finite = np.where(np.isfinite(value), value, 1e6)
        fine = finite @ _FINE.T
        above, below = (fine > t).all(axis=1), (fine <= t).all(axis=1)
        total = float(np.sum((self.values["mass"][above] @ _W) * half[above]))
        for row in np.flatnonzero(~above & ~below):
            total += self._part_above(finite[row] - t, self.values["mass"][row]) * half[row]
        return total

    @staticmethod
    def _part_above(gap: np.ndarray, mass: np.ndarray) -> float:
        """Integrate a panel's mass over the part of [-1, 1] where the gap is positive."""
        roots = legendre.legroots(_TO_COEFFICIENTS @ gap)
        real = np.real(roots[(np.abs(np.imag(roots)) < 1e-9) & (np.abs(np.real(roots)) < 1)])
        edges = np.concatenate([[-1.0], np.sort(real), [1.0]])
        middles = (edges[:-1] + edges[1:]) / 2
        sign = legendre.legval(middles, _TO_COEFFICIENTS @ gap) > 0
        primitive = legendre.legint(_TO_COEFFICIENTS @ mass)
        pieces = np.diff(legendre.legval(edges, primitive))
        return float(np.sum(pieces[sign]))


_PHI = 0.6180339887498949
