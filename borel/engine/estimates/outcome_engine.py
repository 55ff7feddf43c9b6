"""Estimates of suprema and laws over continuous outcomes (with atoms, if the alphabet has them)."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.estimates.engine import EstimateEngine, log_phi_of
from borel.engine.estimates.outcome_curve import Curve
from borel.engine.finite.law_engine import LOST
from borel.errors import BudgetSpent, NotYet
from borel.numerics.float64.charts import Axis, around
from borel.numerics.float64.maximisation import maximise
from borel.probability.alphabets import Interval, Mixed
from borel.probability.bound import Bound
from borel.probability.countable_law import check_level

if TYPE_CHECKING:
    from fractions import Fraction

    from borel.probability.generators import Generator
    from borel.probability.joint import Joint
    from borel.probability.real_functions import RealFunction


class ContinuousOutcomes(EstimateEngine):
    """Figures of a joint whose outcome has a density (and perhaps atoms)."""

    def __init__(self, joint: Joint, why: str = ""):
        super().__init__(joint, why)
        outcome = joint.outcome
        factors = [a.interval if isinstance(a, Mixed) else a for a in outcome.factors]
        if not all(isinstance(a, Interval) for a in factors) or len(factors) > 3:
            raise NotYet("the estimate engine", missing=f"outcomes on {outcome!r}")
        breaks = joint.mechanism.breaks if len(factors) == 1 else ()
        # where the support of the secret ends, the leakage of additive noise has a kink
        ends = []
        if len(factors) == 1 and len(self.point.axes) == 1:
            axis = self.point.axes[0]
            ends = [e for e in (axis.lower, axis.upper, *axis.breaks) if math.isfinite(e)]
        atoms = outcome.atoms if isinstance(outcome, Mixed) else ()
        line = sorted({*breaks, *ends, *atoms})
        self.axes = [
            Axis(a.lower, a.upper, tuple(line)) for a in factors if isinstance(a, Interval)
        ]
        self.atoms = np.array(atoms, float)

    def curve(self, kind: str, y: Any) -> tuple[np.ndarray, np.ndarray, Any]:
        """Return value -/+ error and the status at many outcomes."""
        points = self._points(y)
        try:
            pieces = self.point.pieces(points)
        except BudgetSpent:
            count = len(points[0] if isinstance(points, tuple) else points)
            return np.zeros(count), np.full(count, np.inf), np.full(count, "undecided")
        low, high, known = self._ends(kind, pieces)
        status = np.where(known, "estimate", "undecided")
        return low, high, np.where(pieces.outside, "certified", status)

    # -- over outcomes ----------------------------------------------------------------------

    @property
    def _curve(self) -> Curve:
        """The leakage over the line of outcomes."""
        return self._memo.in_figure("curve", self._new_curve)

    def _new_curve(self) -> Curve:
        axis = self._line("the law of the leakage")
        centres = self._centres(axis)
        return Curve(self.point.pieces, Axis(axis.lower, axis.upper, (*axis.breaks, *centres)))

    def _centres(self, axis: Axis) -> list[float]:
        """Return outcomes that are likely under typical secrets, where narrow noise would hide."""
        if axis.breaks or (not math.isinf(axis.lower) and not math.isinf(axis.upper)):
            return []
        xs = self.point.typical_secrets()

        def likely(i: np.ndarray, y: tuple) -> np.ndarray:
            x = tuple(c[i] for c in xs) if isinstance(xs, tuple) else xs[i]
            return self.point.log_kernel(y[0], x)

        count = len(xs[0]) if isinstance(xs, tuple) else len(xs)
        found = maximise(likely, count, [axis], rounds=1).argument[:, 0]
        found = np.sort(found[np.isfinite(found)])
        if not len(found):
            return []
        middle = float(np.median(found)) * (1 + 1e-13) + 1e-13
        return [middle] if axis.lower < middle < axis.upper else []

    def sup(self, kind: str) -> Bound:
        """Estimate the essential supremum over the outcomes."""
        if len(self.axes) > 1:
            return self._sup_of_box(kind)
        peak = self._curve.sup(kind)
        value, error, place, at_end = peak.value, peak.error, peak.place, peak.at_end
        if peak.lost:
            return self._lost("everywhere" if math.isnan(place) else f"beyond y = {place:g}")
        if peak.diverges:
            return self._infinite(kind, value, f"towards y = {place:g}")
        if len(self.atoms):
            at_atoms, atom_error = self.point.pieces(self.atoms).leakage(kind)
            best = int(np.argmax(at_atoms))
            if at_atoms[best] > value:
                value, error = float(at_atoms[best]), float(atom_error[best])
                place, at_end = float(self.atoms[best]), False
                if not math.isfinite(error):
                    return self._infinite(kind, value, f"at the atom y = {place:g}")
        return self._estimate(
            value,
            error + 1e-11 * max(1.0, value),
            witness={"y": place},
            attained=None if at_end else True,
        )

    def _sup_of_box(self, kind: str) -> Bound:
        """Estimate the supremum over outcomes of two or three dimensions."""

        def leakage(_i: np.ndarray, y: tuple) -> np.ndarray:
            points = tuple(np.ravel(c) for c in np.broadcast_arrays(*y))
            pieces = self.point.pieces(points)
            value, error = pieces.leakage(kind)
            # outside the support of Y nothing counts; lowered by what cancellation may add
            value = np.where(np.isfinite(error), value - error, value)
            live = pieces.marginal > -np.inf
            return np.where(live, np.maximum(value, 0.0), -np.inf).reshape(np.shape(y[0]))

        found = maximise(leakage, 1, self.axes, rounds=1, tol=1e-6)
        if settings.spent():  # some outcomes may not have been looked at
            raise BudgetSpent("a supremum over outcomes was not ready")
        place = tuple(float(a) for a in found.argument[0])
        if self._brink(place):
            return self._lost(f"beyond y = {place}")
        if bool(found.diverges[0]) or math.isinf(float(found.value[0])):
            return self._infinite(kind, float(found.seen[0]), f"towards y = {place}")
        return self._estimate(
            float(found.value[0]), float(found.error[0]) + 1e-6, witness={"y": place}
        )

    def _lost(self, where: str) -> Bound:
        return Bound.undecided(
            reason="it may grow further: " + LOST.format(where=where), assumptions=self.assumptions
        )

    def _brink(self, place: tuple) -> bool:
        """Return whether the densities of outcomes just beyond one are lost."""
        if not np.isfinite(place).all():
            return False
        return bool(self.point.pieces(around(place, self.axes)).lost.any())

    def ldp(self) -> Bound:
        """Estimate the essential supremum over y of log sup_x f / inf_x' f."""
        return self.sup("ldp")

    def _line(self, what: str) -> Axis:
        if len(self.axes) > 1:
            raise NotYet(
                what,
                missing="the law over outcomes of more than one dimension",
                instead="the supremum, and figures at an outcome.",
            )
        return self.axes[0]

    def _mass_above(self, kind: str, t: float, *, closed: bool = False) -> float:
        """Return P{leakage > t} from the curve and the atoms."""
        mass = self._curve.mass_above(kind, t)
        if len(self.atoms):
            pieces = self.point.pieces(self.atoms)
            value = pieces.leakage(kind)[0]
            counted = value >= t if closed else value > t
            mass += float(np.exp(pieces.marginal)[counted].sum())
        return mass

    @cached_property
    def _missing(self) -> float:
        """Mass that the curve does not account for: an error of every probability."""
        total, error = self._curve.total()
        if len(self.atoms):
            total += float(np.exp(self.point.pieces(self.atoms).marginal).sum())
        return abs(1.0 - total) + error

    def tail(self, kind: str, t: Any, closed: bool) -> Bound:
        """Estimate P{leakage > t}."""
        t = float(t)
        value = min(max(self._mass_above(kind, t, closed=closed), 0.0), 1.0)
        # a plateau at t: its mass may count or not, which is the error
        low, high = self._mass_above(kind, t + 1e-9), self._mass_above(kind, t - 1e-9, closed=True)
        error = max(value - low, high - value, 0.0) + self._missing
        return self._estimate(value, error, units="probability")

    def quantile(self, kind: str, s: Any, side: str) -> Bound:
        """Estimate the quantile at level s by bisection of the tail."""
        check_level(s, side)
        if s == 1:
            return self.sup(kind)
        delta = 1.0 - float(s)

        def exceeds(t: float, by: float) -> bool:
            # left: the search ends where cdf(t) >= s; right: where cdf(t) > s
            above = self._mass_above(kind, t)
            return above > by if side == "left" else above >= by

        def solve(by: float) -> float:
            low, high = 0.0, 1.0
            if not exceeds(0.0, by):
                return 0.0
            while exceeds(high, by):
                low, high = high, 2 * high
                if high > 1e6:
                    return math.inf
            for _ in range(60):
                if high - low <= 1e-11 * max(1.0, high):
                    break
                middle = low + (high - low) / 2
                low, high = (middle, high) if exceeds(middle, by) else (low, middle)
            return low + (high - low) / 2

        blur = self._missing + 1e-12
        value, least, most = solve(delta), solve(delta + blur), solve(max(delta - blur, 1e-300))
        if math.isinf(value):
            return Bound.undecided(
                reason="the quantile was not found below 1e6 nats", assumptions=self.assumptions
            )
        spread = max(value - least, (most if math.isfinite(most) else value) - value)
        return self._estimate(value, spread + 1e-9)

    def _expectation(self, kind: str, node_values: np.ndarray, at_atoms: Any) -> Bound:
        """Estimate the mean of a function of the outcome, given on the nodes of the curve."""
        mass = self._curve.values["mass"]
        with np.errstate(invalid="ignore", over="ignore"):
            charged = mass > 0
            values = np.where(charged, node_values, 0.0)
            if not np.isfinite(values).all():
                return self._infinite(kind, math.inf, "in the mean")
            value, error = self._curve.integral(values * mass)
            largest = float(np.max(np.abs(values), initial=0.0))
        if len(self.atoms):
            value += float(np.sum(at_atoms(self.point.pieces(self.atoms))))
        if not math.isfinite(value):
            return self._infinite(kind, largest, "at an atom of the outcome")
        return self._estimate(value, error + min(self._missing * max(1.0, largest), 1.0))

    def mean(self, kind: str) -> Bound:
        """Estimate the mean of the leakage."""
        return self._expectation(
            kind, self._curve.values[kind], lambda p: np.exp(p.marginal) * p.leakage(kind)[0]
        )

    def exp_mean(self, kind: str) -> Bound:
        """Estimate the mean of e^leakage."""
        with np.errstate(over="ignore"):
            values = np.exp(self._curve.values[kind])
        found = self._expectation(kind, values, lambda p: np.exp(p.marginal + p.leakage(kind)[0]))
        return found.about(units="ratio")

    def expectation(self, kind: str, h: RealFunction) -> Bound:
        """Estimate the mean of a function of the leakage."""

        def of(leakage: np.ndarray) -> np.ndarray:
            with np.errstate(all="ignore"):
                return np.asarray(h.function(leakage), float)

        found = self._expectation(
            kind,
            of(self._curve.values[kind]),
            lambda p: np.exp(p.marginal) * of(p.leakage(kind)[0]),
        )
        if found.status == "estimate":
            return found.about(units="number")
        about: dict[str, Any] = {"assumptions": found.assumptions, "units": "number"}
        return Bound.undecided(-math.inf, math.inf, reason=found.reason, **about)

    def maximal_leakage(self) -> Bound:
        """Estimate log E e^PML."""
        mean = self.exp_mean("pml")
        if mean.status != "estimate":
            return mean.about(units="nats")
        return self._estimate(math.log(mean.value), (mean.upper - mean.lower) / 2 / mean.value)

    def maximal_cost_leakage(self) -> Bound:
        """Estimate -log E e^-PMC."""
        values = np.exp(-np.maximum(self._curve.values["pmc"], 0.0))

        def at_atoms(pieces: Any) -> np.ndarray:
            return np.exp(pieces.marginal - pieces.leakage("pmc")[0])

        mean = self._expectation("pmc", values, at_atoms)
        if mean.status != "estimate" or not mean.value > 0:
            return Bound.undecided(
                reason=f"it looks infinite, which float64 cannot prove; {self.reason}",
                assumptions=self.assumptions,
            )
        # the infimum over the secret has kinks in y that quadrature does not know
        error = 5 * (mean.upper - mean.lower) / mean.value + 1e-8
        return self._estimate(max(-math.log(mean.value), 0.0), error)

    def tail_leakage(self, kind: str, delta: Fraction) -> Bound:
        """Estimate the mean over the worst delta from what exceeds the quantile at 1 - delta."""
        edge, sign = self.quantile(kind, 1 - delta, "left"), 1.0 if kind == "pml" else -1.0
        if edge.status != "estimate":
            return edge
        level = math.exp(sign * edge.value)

        def excess(leakage: np.ndarray) -> np.ndarray:
            with np.errstate(over="ignore"):
                return np.maximum(sign * (np.exp(sign * leakage) - level), 0.0)

        def at_atoms(pieces: Any) -> np.ndarray:
            return np.exp(pieces.marginal) * excess(pieces.leakage(kind)[0])

        found = self._expectation(kind, excess(self._curve.values[kind]), at_atoms)
        if found.status != "estimate":
            return found
        value = level + sign * found.value / float(delta)
        if not value > 0:
            return self._infinite(kind, 0.0, "on average over the worst outcomes")
        # the excess has kinks in y that quadrature does not know
        error = 5 * (found.upper - found.lower) / float(delta) / value + 1e-6
        return self._estimate(max(sign * math.log(value), 0.0), error)

    def f_information(self, f: Generator) -> Bound:
        """Estimate the mean over Y of an f-divergence of the posterior from the prior."""
        curve = self._curve
        y, mass = curve.values["y"], curve.values["mass"]
        log_phi = log_phi_of(f)
        charged = mass > 1e-13 * mass.max()
        values, doubt = np.zeros(y.shape), np.zeros(y.shape)
        with np.errstate(over="ignore"):
            found = np.exp(self.point.divergence(y[charged], log_phi))
        # phi is convex, and largest at 0 or at e^PML; relative entropy is at most PML
        pml = np.where(np.isfinite(curve.values["pml"]), curve.values["pml"], 0.0)[charged]
        with np.errstate(over="ignore"):
            ends = np.exp(log_phi(pml)), np.exp(log_phi(np.full_like(pml, -np.inf)))
        ceiling = pml if f.name == "kl" and f.named else np.maximum(*ends)
        failed = ~np.isfinite(found)
        values[charged] = np.where(failed, ceiling / 2, np.minimum(found, ceiling))
        doubt[charged] = np.where(failed, ceiling / 2, 0.0)

        def at_atoms(pieces: Any) -> np.ndarray:
            return np.exp(pieces.marginal + self.point.divergence(self.atoms, log_phi))

        total = self._expectation("pml", values, at_atoms)
        if total.status != "estimate":
            return total.about(units=f.units)
        half = (total.upper - total.lower) / 2 + curve.integral(doubt * mass)[0]
        return self._estimate(total.value, half + 1e-9, units=f.units)
