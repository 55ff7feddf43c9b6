"""Estimates of PML and PMC for every draw of a prior on a line: quadrature sums against one kernel.

The kernel is tabulated once on nodes of the secret and outcomes of the curve; each block of draws
is then a matrix product. Two sets of nodes tell how far the sums may be off.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.draws.engine import DrawsEngine
from borel.engine.draws.parts import PerDraw
from borel.engine.estimates.engine import REASON, Pointwise
from borel.engine.estimates.outcome_curve import _FINE, Curve
from borel.engine.estimates.secret_points import log_kernel
from borel.engine.finite.law_engine import LOST
from borel.errors import NotYet
from borel.numerics.float64.maximisation import maximise
from borel.probability.alphabets import Interval
from borel.probability.joint import Joint
from borel.probability.measure import Measure
from borel.probability.normalisation import head_of

if TYPE_CHECKING:
    from collections.abc import Callable


_PANELS = 160
_UNSEEN = 1e-6
"""Mass of outcomes that a mean may miss, with what it may add as a part of the error."""
_ORDER = 6


class EstimateDraws(DrawsEngine):
    """PML or PMC for every draw of a prior with a density on an interval, or on integers."""

    status = "estimate"

    def __init__(self, joint: Joint, engine_for: Callable[[Joint], Any], why: str = ""):
        self.joint, self._engine_for = joint, engine_for
        self.mechanism = joint.mechanism
        if self.mechanism.density is None:
            raise NotYet("learnt * mech", missing="a matrix with a prior that is not finite")
        self.reason = f"{REASON}: {why}" if why else REASON
        self.assumptions = (f"kernel normalised: {self.mechanism.normalisation}",)

    def _kernel(self, y: Any, x: Any) -> np.ndarray:
        return log_kernel(self.mechanism, y, x)

    @cached_property
    def _one(self) -> Joint:
        """The joint under one typical draw, which lays out the outcomes of the curve."""
        return Joint(self.joint.prior.one(self.joint.prior.size // 2), self.mechanism)

    @cached_property
    def _estimates(self) -> Any:
        """The estimates under the typical draw."""
        with settings.options(engine="estimate"):
            return self._engine_for(self._one)

    def _weights(self, prior: Measure, x: np.ndarray) -> np.ndarray:
        """Return the density of every draw at nodes; probabilities, for a finite prior."""
        if prior._probabilities is not None:
            p = np.asarray(prior._probabilities, float)
            if not p.all():  # the extremes of the kernel run over the support of each draw
                raise NotYet("learnt * mech", missing="draws that rule secrets out, unless finite")
            return p
        return np.asarray(prior.density.linear(x))

    def _nodes(self, panels: int, extra: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return nodes and weights over the secret, split at breaks and at ``extra`` points."""
        on = self.joint.prior.on
        if on.kind == "finite":
            return on.array.astype(float), np.ones(on.size)
        if on.kind == "countable":
            points = head_of(on, 4096 if panels == _PANELS else 2048).astype(float)
            return points, np.ones(len(points))
        if not isinstance(on, Interval):
            raise NotYet("learnt * mech", missing=f"random priors on {on!r}")
        breaks = {*self.mechanism.breaks, *self.joint.prior._template.breaks, *extra}
        t, w = np.polynomial.legendre.leggauss(_ORDER)
        # panels even in the angle: they grow narrow towards finite ends, where densities may blow
        # up, and wide towards infinite ones
        angles = np.linspace(0, np.pi, panels + 1)
        if np.isfinite(on.lower) and np.isfinite(on.upper):
            edges = on.lower + (on.upper - on.lower) * (1 - np.cos(angles)) / 2
        else:
            reach = np.sinh(np.linspace(-16, 16, panels + 1))
            if np.isfinite(on.lower):
                edges = on.lower + np.exp(np.linspace(-25, 16, panels))
                edges = np.concatenate([[on.lower], edges])
            elif np.isfinite(on.upper):
                edges = on.upper - np.exp(np.linspace(16, -25, panels))
                edges = np.concatenate([edges, [on.upper]])
            else:
                edges = reach
        inside = [b for b in breaks if edges[0] < b < edges[-1]]
        edges = np.unique(np.concatenate([edges, inside]))
        half = np.diff(edges) / 2
        nodes = (edges[:-1] + half)[:, None] + half[:, None] * t
        return nodes.ravel(), (half[:, None] * w).ravel()

    def _extremes(self, kind: str, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return log sup and log inf of the kernel over the support, with the error of one.

        PML knows nothing of the infimum, and PMC nothing of the supremum: it cancels there.
        """
        point = Pointwise(self._one)
        if not point.axes:
            pieces = point.pieces(ys)
            error = pieces.top_error if kind == "pml" else pieces.bottom_error
            return pieces.top, pieces.bottom, error

        def kernel(i: np.ndarray, x: tuple) -> np.ndarray:
            return self._kernel(ys[i], x[0])

        high = maximise(kernel, len(ys), point.axes)
        low = maximise(lambda i, x: -kernel(i, x), len(ys), point.axes)
        top = np.where(high.diverges, np.inf, high.value)
        bottom = np.where(low.diverges, -np.inf, -low.value)
        return top, bottom, high.error if kind == "pml" else low.error

    def _values(self, kind: str, ys: np.ndarray, extra: np.ndarray) -> tuple:
        """Return the leakage (draws, outcomes) and its error."""
        top, bottom, own = self._extremes(kind, ys)
        sums = []
        for panels in (_PANELS, _PANELS // 2):
            x, w = self._nodes(panels, extra)
            with np.errstate(under="ignore", invalid="ignore"):
                table = np.exp(self._kernel(ys[None, :], x[:, None]) - top)
            table = np.where(np.isnan(table), 0.0, table) * w[:, None]
            parts = []
            for _, prior in self.joint.prior.blocks(max(1, 4_000_000 // len(x))):
                parts.append(self._weights(prior, x) @ table)
            sums.append(np.concatenate(parts))
        with np.errstate(divide="ignore", invalid="ignore"):
            fine, coarse = (-np.log(s) if kind == "pml" else np.log(s) + top - bottom for s in sums)
            error = np.abs(fine - coarse) + own + 1e-12
        fine = np.maximum(fine, 0.0)
        return fine, np.where(np.isfinite(fine) & np.isfinite(error), error, np.inf)

    @staticmethod
    def _ends(value: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        known = np.isfinite(error)
        with np.errstate(invalid="ignore"):
            low = np.where(known, np.maximum(value - error, 0.0), 0.0)
            return low, np.where(known, value + error, np.inf)

    def at(self, kind: str, y: Any) -> PerDraw:
        """Estimate the leakage at one outcome for every draw, as value -/+ error."""
        ys = np.array([float(y)])
        value, error = self._values(kind, ys, ys)
        found = self._made(self._ends(value[:, 0], error[:, 0]))
        if np.isfinite(error).any():
            return found
        return found._replace(reason=LOST.format(where=f"at y = {y!r}, or it is no number"))

    def at_many(self, kind: str, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Estimate the leakage at outcomes for every draw, shape (draws, outcomes) each."""
        ys = np.asarray(ys, float)
        return self._ends(*self._values(kind, ys, np.zeros(0)))

    def ldp(self) -> PerDraw:
        """Estimate the LDP level: it depends on the support only, which all draws share."""
        return self._same(self._estimates.ldp())

    def maximal_leakage(self) -> PerDraw:
        """Estimate maximal leakage: it depends on the support only, which all draws share."""
        return self._same(self._estimates.maximal_leakage())

    def _same(self, bound: Any) -> PerDraw:
        """Return one figure for all draws."""
        n, blocks = self.joint.prior.size, self.joint.prior.blocks()
        laws = [p._probabilities for _, p in blocks if p._probabilities is not None]
        if laws and len(np.unique(np.concatenate(laws) > 0, axis=0)) > 1:
            raise NotYet(
                "learnt * mech", missing="draws that charge different secrets, unless finite"
            )
        return self._made((np.full(n, bound.lower), np.full(n, bound.upper)))

    @staticmethod
    def _made(ends: tuple[np.ndarray, np.ndarray]) -> PerDraw:
        return PerDraw(*ends)

    def mutual_information(self) -> PerDraw:
        """Estimate the mutual information for every draw, on the nodes of the curve."""
        if self.joint.outcome.kind != "continuous":
            raise NotYet("learnt * mech", missing="mutual information with atoms of the outcome")
        curve: Curve = self._estimates._curve
        weights = curve.weights()
        charged = weights * np.where(curve.values["live"] > 0, 1.0, 0.0) > 0
        ys, dy = curve.values["y"][charged], weights[charged]
        extra = np.array(list(curve.chart.axis.breaks))
        found, lost = [], np.zeros(0)
        for panels in (_PANELS, _PANELS // 2):
            x, w = self._nodes(panels, extra)
            with np.errstate(under="ignore", invalid="ignore", divide="ignore"):
                log_table = self._kernel(ys[None, :], x[:, None])
                table = np.exp(log_table)
                table = np.where(np.isnan(table), 0.0, table)
                rows = np.where(table > 0, table * log_table, 0.0) @ dy
            top, values, unseen = np.max(log_table, axis=0), [], []
            for _, prior in self.joint.prior.blocks(max(1, 4_000_000 // len(x))):
                p = self._weights(prior, x) * w
                marginal = p @ table
                with np.errstate(divide="ignore", invalid="ignore"):
                    logs = np.log(marginal)
                    terms = np.where(marginal > 0, marginal * logs, 0.0)
                    most = np.max(np.where(marginal > 0, top - logs, 0.0), axis=1)
                # outcomes that the nodes do not reach tell no more than the most telling node
                missing = np.abs(1.0 - marginal @ dy)
                unseen.append(np.where(missing > _UNSEEN, np.inf, missing * most))
                values.append(p @ rows - terms @ dy)
            found.append(np.concatenate(values))
            lost = np.maximum(lost, np.concatenate(unseen)) if lost.size else np.concatenate(unseen)
        value, error = np.maximum(found[0], 0.0), np.abs(found[0] - found[1]) + lost + 1e-8
        made = self._made(self._ends(value, error))
        if np.isinf(lost).any():
            why = "the search did not reach outcomes of more than a millionth of the mass"
            return made._replace(reason=f"{self.reason}; {why}")
        return made

    def sup(self, kind: str) -> PerDraw:
        """Estimate the supremum over outcomes for every draw, as value -/+ error."""
        outcome = self.joint.outcome
        if outcome.kind == "finite":
            value, error = self._values(kind, outcome.array.astype(float), np.zeros(0))
            return self._made(self._ends(value.max(axis=1), error.max(axis=1)))
        if outcome.kind == "countable":
            raise NotYet("learnt * mech", missing="suprema over countably many outcomes")
        curve: Curve = self._estimates._curve
        if curve.sup(kind).diverges:
            n = self.joint.prior.size
            self.reason += "; the supremum looks infinite"
            return self._made((np.zeros(n), np.full(n, np.inf)))
        usable = curve.trusted(kind) & (curve.values["live"] > 0)
        panels = usable.all(axis=1)
        ys = curve.values["y"][panels]
        extra = np.array([b for b in curve.chart.axis.breaks])
        value, error = self._values(kind, ys.ravel(), extra)
        value = value.reshape(len(value), *ys.shape)
        error = error.reshape(value.shape)
        best = np.empty(len(value))
        for rows in np.array_split(np.arange(len(value)), max(1, value.size // 2_000_000)):
            # between the nodes the polynomials of the panels are read
            best[rows] = np.max(value[rows] @ _FINE.T, axis=(1, 2))
        on_nodes = value.max(axis=(1, 2))
        spread = np.abs(best - on_nodes) * 0.1 + 1e-9
        top = value.reshape(len(value), -1).argmax(axis=1)
        own = error.reshape(len(value), -1)[np.arange(len(value)), top]
        return self._made(self._ends(np.maximum(best, on_nodes), own + spread))
