"""Measures beyond PML and PMC for every draw of a finite prior, enclosed with their rounding.

Sums here have terms of one sign, so that k of them in float64, in any order, err by less than k u
of the sum; what a formula rounds beside that is counted generously.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.draws.engine import DrawsEngine
from borel.engine.draws.parts import Part, PerDraw, logs_of
from borel.engine.finite.engine import FiniteEngine
from borel.errors import NotYet
from borel.numerics.intervals.rounding import (
    TINY,
    U,
    compounded,
    fraction_down,
    fraction_up,
    log_fraction,
)
from borel.probability.arrays import rounding_allowed
from borel.probability.joint import Joint
from borel.probability.measure import Measure
from borel.probability.tail_means import LEAST, filled

if TYPE_CHECKING:
    from borel.probability.generators import Generator

_CELLS = 1_000_000
"""Cells (draw, x, y) that are held at a time."""
_LOST = 2.0**-960
"""Below it products in float64 may have lost digits."""


class DrawMeasures(DrawsEngine):
    """Measures that a `FiniteDraws` gives beside the leakages and their laws."""

    joint: Any
    matrix: np.ndarray
    rounding: float
    over_draws: Any

    # -- measures of the support only -------------------------------------------------------------

    def ldp(self) -> PerDraw:
        """Enclose the LDP level on the support of every draw."""
        return self._by_support("ldp")

    def maximal_leakage(self) -> PerDraw:
        """Enclose log of the sum over y of max_x f(y|x), x in the support of the draw."""
        return self._by_support("maximal_leakage")

    def maximal_cost_leakage(self) -> PerDraw:
        """Enclose -log of the sum over y of min_x f(y|x), x in the support of the draw."""
        return self._by_support("maximal_cost_leakage")

    def maximal_guesswork_leakage(self) -> PerDraw:
        """Bound maximal guesswork leakage on the support of every draw, from both sides."""
        return self._by_support("maximal_guesswork_leakage")

    def _by_support(self, name: str) -> PerDraw:
        """Ask the engine of one prior, once for every support that occurs."""
        found: dict[bytes, Any] = {}
        keys = []
        for _, prior in self.joint.prior.blocks():
            charged = np.asarray(prior.at(self.joint.mechanism.secret), float) > 0
            supports, which = np.unique(charged, axis=0, return_inverse=True)
            for rows in supports:
                if rows.tobytes() not in found:
                    found[rows.tobytes()] = self._one_support(rows, name)
            keys.append(np.array([s.tobytes() for s in supports], object)[np.ravel(which)])
        bounds = [found[key] for key in np.concatenate(keys)]
        about = {}
        why = next((b.reason for b in found.values() if b.status == "undecided"), "")
        if why:  # bounds from both sides are true of each draw, and as wide as they are
            about = {"status": "certified", "reason": why}
        ends = np.array([(b.lower, b.upper) for b in bounds])
        return PerDraw(ends[:, 0], ends[:, 1], **about)

    def _one_support(self, rows: np.ndarray, name: str) -> Any:
        each = Fraction(1, int(rows.sum()))
        law = np.array([each if charged else Fraction(0) for charged in rows], object)
        prior = Measure(law, self.joint.mechanism.secret)
        return FiniteEngine(Joint(prior, self.joint.mechanism)).figure(name)

    # -- averages ---------------------------------------------------------------------------------

    def mutual_information(self) -> PerDraw:
        """Enclose the mutual information for every draw.

        Notes
        -----
        I = sum_x p(x) sum_y k log k - sum_y m log m, with n secrets, m outcomes and unit roundoff
        u. Both sums are at most log m in size; the sums, products and logarithms err by less than
        2 (n + m + 10) u (log m + 1), and inputs off by a relative d move I by at most
        2 d (log m + 1); four times that covers all.
        """

        def compute(part: Part) -> tuple:
            n, m = part.kernel.shape
            k = part.kernel
            with np.errstate(divide="ignore", invalid="ignore"):
                rows = np.where(k > 0, k * np.log(k), 0.0).sum(axis=1)
                marginal = part.marginal
                terms = np.where(marginal > 0, marginal * np.log(marginal), 0.0)
            value = part.p @ rows - terms.sum(axis=1)
            inputs = rounding_allowed(n) * 2 + part.prior_error + part.kernel_error
            error = 8 * ((n + m + 10) * U + inputs) * (np.log(m) + 1)
            return np.maximum(value - error, 0.0), np.maximum(value + error, 0.0)

        return PerDraw(*self.over_draws(compute))

    def min_entropy_leakage(self) -> PerDraw:
        """Enclose log of the sum over y of max_x p(x) f(y|x), over max_x p(x), for every draw."""

        def compute(part: Part) -> tuple:
            best = np.empty(len(part.p))
            for rows in part.chunks(_CELLS):
                best[rows] = (part.p[rows, :, None] * part.kernel).max(axis=1).sum(axis=1)
            ratio = best / part.p.max(axis=1)
            m = part.kernel.shape[1]
            error = compounded(2 * part.prior_error, part.kernel_error, (m + 8) * U)
            return logs_of(ratio, np.full(len(ratio), error), least=0.0)

        return PerDraw(*self.over_draws(compute))

    def dynamic_min_entropy_leakage(self, y: Any) -> PerDraw:
        """Enclose log of max_x P(x|y) / max_x P(x) for every draw; it may be negative."""
        column = int(self.joint.outcome.positions(y))

        def compute(part: Part) -> tuple:
            if part.top[0] == 0:  # by convention
                return np.zeros(len(part.p)), np.zeros(len(part.p))
            best, mass = (part.p * part.kernel[:, 0]).max(axis=1), part.marginal[:, 0]
            lost = (mass < _LOST) | (best < _LOST)
            ratio = np.where(lost, 1.0, best / np.where(lost, 1.0, part.p.max(axis=1) * mass))
            error = compounded(2 * part.prior_error, part.kernel_error, part.error, 8 * U)
            low, high = logs_of(ratio, np.full(len(ratio), error), least=-np.inf)
            return np.where(lost, -np.inf, low), np.where(lost, np.inf, high)

        kernel = np.ascontiguousarray(self.matrix[:, column : column + 1])
        return PerDraw(*self.over_draws(compute, kernel), least=-np.inf)

    # -- f-informations ---------------------------------------------------------------------------

    def f_information(self, f: Generator) -> PerDraw:
        """Enclose the f-information for every draw; an estimate for a function of the user's."""
        if f.named and f.name == "kl":
            return self.mutual_information()
        if f.named and f.name in _NAMED:
            formula, most = _NAMED[f.name]
            low, high = self.over_draws(formula)
            return PerDraw(low, np.minimum(high, most), units=f.units, most=most)
        if not f.named:
            return self._estimated(f)
        raise NotYet(f"f_information over a posterior of priors, f = {f.name}", missing="this f")

    def _estimated(self, f: Generator) -> PerDraw:
        def compute(part: Part) -> tuple:
            out = np.empty((2, len(part.p)))
            k, live = part.kernel[:, part.live], part.live
            marginal = part.marginal[:, live]
            for rows in part.chunks(_CELLS):
                ratio = k / marginal[rows, None, :]
                weight = part.p[rows, :, None] * marginal[rows, None, :]
                zero = ratio == 0
                with np.errstate(all="ignore"):
                    at_zero = f.at(np.zeros(1))[0] if f.at_zero is None else float(f.at_zero)
                    values = np.where(zero, at_zero, f.at(np.where(zero, 1.0, ratio)))
                out[0, rows] = (weight * values).sum(axis=(1, 2))
                out[1, rows] = 1e-12 * (weight * (1 + np.abs(values))).sum(axis=(1, 2))
            return out[0] - out[1], out[0] + out[1]

        why = f.reason or "a function of the user's, summed in float64 over every draw"
        ends = self.over_draws(compute)
        return PerDraw(*ends, units=f.units, least=-np.inf, status="estimate", reason=why)

    # -- suprema ----------------------------------------------------------------------------------

    def ldi(self) -> PerDraw:
        """Enclose max over y of log max_x P(x|y) / min_x' P(x'|y) for every draw."""

        def compute(part: Part) -> tuple:
            count, live = len(part.p), part.live
            if len(part.kernel) == 1:  # x = x'
                return np.zeros(count), np.zeros(count)
            if (part.bottom[live] == 0).any():
                return np.full(count, np.inf), np.full(count, np.inf)
            ratio, least = np.empty(count), np.empty(count)
            for rows in part.chunks(_CELLS):
                weight = part.p[rows, :, None] * part.kernel[:, live]
                small = weight.min(axis=1)
                with np.errstate(divide="ignore", over="ignore"):
                    ratio[rows] = (weight.max(axis=1) / small).max(axis=1)
                least[rows] = small.min(axis=1)
            lost = (least < _LOST) | ~np.isfinite(ratio)
            error = compounded(2 * part.prior_error, 2 * part.kernel_error, 8 * U)
            ends = logs_of(np.where(lost, 1.0, ratio), np.full(count, error), least=0.0)
            return np.where(lost, 0.0, ends[0]), np.where(lost, np.inf, ends[1])

        return PerDraw(*self.over_draws(compute))

    def max_information(self, delta: Fraction) -> PerDraw:
        r"""Enclose the delta-approximate max-divergence of P_XY from P_X x P_Y for every draw.

        Notes
        -----
        The events are the level sets of the ratio f(y|x) / f_Y(y). An order that mistakes ratios
        by a relative e gives events whose :math:`(P(E) - \delta) / Q(E)` are at most the true
        supremum, and some event that is at least (1 - e) times it: with
        :math:`P(E) - \lambda Q(E) = \delta` at the best E, an event of the mistaken order differs
        from it by cells with :math:`|p - \lambda q| \le e \lambda q`.
        """
        least = 1 - delta
        floor = log_fraction(least) if least > 0 else (-math.inf, -math.inf)
        d_low, d_high = fraction_down(delta), fraction_up(delta)

        def compute(part: Part) -> tuple:
            count, live = len(part.p), part.live
            if len(part.kernel) == 1 or least == 0:
                return np.full(count, floor[0]), np.full(count, floor[1])
            k, marginal = part.kernel[:, live], part.marginal[:, live]
            cells = k.size
            wide = compounded(part.prior_error, part.kernel_error, part.error, (cells + 16) * U)
            ends, lost = np.empty((2, count)), np.zeros(count, bool)
            for rows in part.chunks(_CELLS):
                ratio = (k / marginal[rows, None, :]).reshape(len(rows), -1)
                order = np.argsort(-ratio, axis=1)
                first = (part.p[rows, :, None] * k).reshape(len(rows), -1)
                second = (part.p[rows, :, None] * marginal[rows, None, :]).reshape(len(rows), -1)
                lost[rows] = (second.min(axis=1) < _LOST) | (
                    np.where(first > 0, first, 1.0).min(axis=1) < _LOST
                )
                a = np.cumsum(np.take_along_axis(first, order, axis=1), axis=1)
                b = np.cumsum(np.take_along_axis(second, order, axis=1), axis=1)
                with np.errstate(divide="ignore", invalid="ignore"):
                    ends[0, rows] = ((a * (1 - wide) - d_high) / (b * (1 + wide))).max(axis=1)
                    ends[1, rows] = ((a * (1 + wide) - d_low) / (b * (1 - wide))).max(axis=1)
            low, high = np.maximum(ends[0], 0.0), np.maximum(ends[1], 0.0)
            known = ~lost & np.isfinite(high)
            low_log = logs_of(np.where(known & (low > 0), low, 1.0), 32 * U, least=-np.inf)[0]
            high_log = logs_of(np.where(known & (high > 0), high, 1.0), 32 * U, least=-np.inf)[1]
            low_log = np.where(known & (low > 0), low_log, -np.inf)
            high_log = np.where(known, np.where(high > 0, high_log, -np.inf), np.inf)
            return np.maximum(low_log, floor[0]), np.maximum(high_log, floor[1])

        return PerDraw(*self.over_draws(compute), least=floor[0])

    def event_maximal_leakage(self, delta: Fraction) -> PerDraw:
        r"""Enclose the largest leakage of an event of probability at least delta, split freely.

        Notes
        -----
        For each x the outcomes are taken in the order of K_x(y) / P_Y(y) until they have mass
        delta, as in `FiniteMeasures.event_maximal_leakage`. With h the largest K_x(a) of a fuzzy
        event of mass at most delta, concave and 0 at 0, masses off by a relative e move h by at
        most a factor (1 + e) / (1 - e); so do accumulated masses, none of which exceeds delta.
        """
        if delta == 0:
            return self.sup("pml")  # type: ignore[attr-defined]
        level = float(delta)
        ceiling = log_fraction(1 / delta)[1]

        def compute(part: Part) -> tuple:
            count, live = len(part.p), part.live
            if len(part.kernel) == 1 or delta == 1:  # one secret, or the whole space
                return np.zeros(count), np.zeros(count)
            k, marginal = part.kernel[:, live], part.marginal[:, live]
            m = k.shape[1]
            best = np.empty(count)
            for rows in part.chunks(_CELLS):
                q = np.broadcast_to(marginal[rows, None, :], (len(rows), *k.shape))
                with np.errstate(divide="ignore", over="ignore"):
                    order = np.argsort(-(k / q), axis=2)
                mass = np.take_along_axis(q, order, axis=2)
                value = np.take_along_axis(np.broadcast_to(k, q.shape), order, axis=2)
                before = np.zeros_like(mass)
                np.cumsum(mass[:, :, :-1], axis=2, out=before[:, :, 1:])
                share = np.clip((level - before) / mass, 0.0, 1.0)
                best[rows] = (value * share).sum(axis=2).max(axis=1)
            lost = marginal.min(axis=1) < _LOST
            error = compounded(part.kernel_error, 2 * part.error, (4 * m + 64) * U)
            ratio = np.where(lost, 1.0, best / level)
            low, high = logs_of(ratio, np.full(count, error), least=0.0)
            high = np.where(lost, np.inf, high)
            return np.where(lost, 0.0, low), np.minimum(high, ceiling)

        return PerDraw(*self.over_draws(compute), most=ceiling)

    def tail_leakage(self, kind: str, delta: Fraction) -> PerDraw:
        """Enclose log of the mean of e^PML, or -log of that of e^-PMC, over the worst delta.

        Notes
        -----
        As `FiniteMeasures.tail_leakage`: extremes of columns and masses, each from its own end. An
        order that rounding mistakes is one of quotients that are equal to rounding.
        """
        if delta < LEAST:
            most = self.sup(kind)
            return most._replace(lower=np.zeros_like(most.lower))
        sign = 1.0 if kind == "pml" else -1.0
        target = fraction_down(delta), fraction_up(delta)

        def compute(part: Part) -> tuple:
            count, live = len(part.p), part.live
            if len(part.kernel) == 1:
                return np.zeros(count), np.zeros(count)
            extreme = (part.top if kind == "pml" else part.bottom)[live]
            slack, lost = 8 * (len(extreme) + 8) * U, part.p.shape[1] * TINY
            error = part.kernel_error + 2 * U
            entries = extreme * (1 - error), extreme * (1 + error)
            ends = []
            for way, entry, capacity in zip((1.0, -1.0), entries, target, strict=True):
                mass = part.marginal[:, live] * (1 + way * (part.error + slack)) + way * lost
                mass = np.maximum(mass, 0.0)
                share = filled(sign * np.broadcast_to(entry, mass.shape), mass, capacity)
                total = (entry * share).sum(axis=1)
                total -= way * TINY * np.count_nonzero((entry > 0) & (share > 0), axis=1)
                total = total * (1 - way * slack) / float(delta)
                logs = logs_of(np.where(total > 0, total, 1.0), 4 * U, least=-np.inf)
                ends.append(np.where(total > 0, logs[0 if way > 0 else 1], -np.inf))
            low, high = ends if kind == "pml" else (-ends[1], -ends[0])
            return np.maximum(low, 0.0), np.maximum(high, 0.0)

        return PerDraw(*self.over_draws(compute))


def _total_variation(part: Part) -> tuple:
    r"""Enclose :math:`\tfrac12 \sum p |k - q|`: relative errors of p, k and q move it by as much.

    The sum is at most 2, and :math:`\sum p k = \sum p q = 1`.
    """
    n, m = part.kernel.shape
    marginal, out = part.marginal, np.empty(len(part.p))
    for rows in part.chunks(_CELLS):
        gaps = np.abs(part.kernel - marginal[rows, None, :]).sum(axis=2)
        out[rows] = (part.p[rows] * gaps).sum(axis=1) / 2
    error = compounded(2 * part.prior_error, part.kernel_error, part.error, 2 * (n + m + 8) * U)
    return _around(out, np.full(len(out), error), part)


def _chi_square(part: Part) -> tuple:
    r"""Enclose :math:`\sum p k^2 / q - 1`, the sum with its relative error."""
    n, m = part.kernel.shape
    live = part.live
    marginal = part.marginal[:, live]
    lost = (marginal < 2.0**-400).any(axis=1)
    total = (part.p @ part.kernel[:, live] ** 2 / np.where(lost[:, None], 1.0, marginal)).sum(1)  # type: ignore[index]
    error = compounded(part.prior_error, 2 * part.kernel_error, part.error, (n + m + 10) * U)
    low, high = _around(total - 1, total * error * 1.01 + 4 * U, part)
    return np.where(lost, 0.0, low), np.where(lost, np.inf, high)


def _squared_hellinger(part: Part) -> tuple:
    r"""Enclose :math:`1 - \sum_y \sqrt{q} \sum_x p \sqrt{k}`."""
    n, m = part.kernel.shape
    total = (np.sqrt(part.marginal) * (part.p @ np.sqrt(part.kernel))).sum(axis=1)
    error = compounded(part.prior_error, part.kernel_error, part.error, (n + m + 10) * U)
    return _around(1 - total, np.full(len(total), (error + 4 * U) * 1.01), part)


def _around(value: np.ndarray, error: np.ndarray, part: Part) -> tuple[np.ndarray, np.ndarray]:
    if len(part.kernel) == 1:  # X and Y are independent
        return np.zeros(len(value)), np.zeros(len(value))
    low, high = np.maximum(value - error, 0.0), np.maximum(value + error, 0.0)
    return np.where(low > 0, low * (1 - 2 * U), 0.0), high * (1 + 2 * U)


_NAMED = {
    "total_variation": (_total_variation, 1.0),
    "chi_square": (_chi_square, math.inf),
    "squared_hellinger": (_squared_hellinger, 1.0),
}
