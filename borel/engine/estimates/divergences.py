"""Estimates of divergences of two densities: quadrature and maximisation in float64, no proof."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.estimates.engine import BRINK, REASON, _log_phi
from borel.engine.finite.law_engine import LOST
from borel.errors import NotYet
from borel.numerics.float64.charts import Axis, around
from borel.numerics.float64.maximisation import maximise
from borel.numerics.float64.quadrature import log_integral
from borel.probability.alphabets import Interval
from borel.probability.bound import Bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.probability.measure import Measure


class Quadrature:
    """Two densities on intervals, or on boxes of up to three dimensions.

    Parameters
    ----------
    p, q : Measure
        With densities.
    why : str
        Why nothing is certified.
    """

    def __init__(self, p: Measure, q: Measure, why: str = ""):
        factors = [*p.on.factors, *q.on.factors]
        if not all(isinstance(a, Interval) for a in factors) or p.on.dim > 3:
            raise NotYet("a divergence", missing=f"measures on {p.on!r} and {q.on!r}")
        self.p, self.q = p, q
        self.reason = REASON + (f" (not certified: {why})" if why else "")
        marks = tuple(sorted({*p.breaks, *q.breaks})) if p.on.dim == 1 else ()
        ends = [
            (max(a.lower, b.lower), min(a.upper, b.upper))  # type: ignore[attr-defined]
            for a, b in zip(p.on.factors, q.on.factors, strict=True)
        ]
        self.disjoint = any(not a < b for a, b in ends)
        self.axes = [] if self.disjoint else [Axis(a, b, marks) for a, b in ends]
        self.underflows = p.density.underflows or q.density.underflows
        self.beyond = any(
            a.lower < b.lower or a.upper > b.upper  # type: ignore[attr-defined]
            for a, b in zip(p.on.factors, q.on.factors, strict=True)
        )

    def _logs(self, x: tuple) -> tuple[np.ndarray, np.ndarray]:
        point = x[0] if len(self.axes) == 1 else x
        p, q = self.p.density.resolved(point), self.q.density.resolved(point)
        if self.underflows:
            # a zero beside a value that nearly underflows is an underflow: neither is known
            lost = ((p == -np.inf) | (q == -np.inf)) & (np.maximum(p, q) < BRINK)
            p, q = (np.where(lost, -np.inf, v) for v in (p, q))
        return p, q

    def _integral(self, combine: Callable[[Any, Any], Any]) -> tuple[float, float]:
        """Return log of the integral of exp(combine(log p, log q)), and its relative error."""
        if self.disjoint:
            return -math.inf, 0.0

        def logf(_i: np.ndarray, x: tuple) -> np.ndarray:
            with np.errstate(all="ignore"):
                out = combine(*self._logs(x))
            return np.where(np.isnan(out), -np.inf, out)

        if self.underflows and self._brink(maximise(logf, 1, self.axes, rounds=1)):
            return math.nan, math.nan
        found = log_integral(logf, 1, self.axes, rtol=1e-9 if len(self.axes) == 1 else 1e-7)
        return float(found.log_value[0]), float(found.relative_error[0]) + 1e-12

    def _brink(self, found: Any) -> bool:
        """Return whether float64 loses both densities just beyond where something is largest."""
        place = found.argument[0]
        if not np.isfinite(place).all() or found.diverges[0]:
            return False
        points = around(place, self.axes)
        return bool(np.isneginf(np.maximum(*self._logs(points))).any())

    def _bound(self, value: float, error: float, **about: Any) -> Bound:
        if math.isnan(value):
            where = "where most of this divergence comes from"
            return Bound.undecided(reason=LOST.format(where=where), **about)
        if math.isinf(value):
            reason = f"it looks infinite, which float64 cannot prove; {self.reason}"
            return Bound.undecided(reason=reason, **about)
        return Bound.estimate(max(value, 0.0), error, reason=self.reason, **about)

    def renyi(self, order: Any) -> Bound:
        """Estimate the Renyi divergence of a positive order."""
        if order >= 1 and self.beyond:
            return self._bound(math.inf, 0.0)
        if order == math.inf:
            found = maximise(lambda _i, x: np.subtract(*self._logs(x)), 1, self.axes)
            diverges = bool(found.diverges[0])
            if self.underflows and self._brink(found):
                return self._bound(math.nan, math.nan)
            return self._bound(
                math.inf if diverges else float(found.value[0]), float(found.error[0]) + 1e-9
            )
        if order == 1:
            # E_Q phi(p / q) with phi(t) = t log t - t + 1 >= 0
            value, error = self._integral(lambda p, q: q + _log_phi(p - q))
            if not value <= 700:
                return self._bound(math.nan if math.isnan(value) else math.inf, 0.0)
            # where p is 0 beyond its alphabet, phi is 1
            inside, loose = self._integral(lambda p, q: q)
            left = max(0.0, 1 - math.exp(inside))
            return self._bound(math.exp(value) + left, error * math.exp(value) + loose)
        a = float(order)
        value, error = self._integral(lambda p, q: a * p + (1 - a) * q)
        return self._bound(value / (a - 1), error / abs(a - 1))

    def f_divergence(self, name: str, units: str) -> Bound:
        """Estimate a named f-divergence."""
        if name == "kl":
            return self.renyi(1)
        if name == "chi_square":
            if self.beyond:
                return self._bound(math.inf, 0.0, units=units)
            value, error = self._integral(lambda p, q: 2 * p - q)
            size = math.exp(value) if not value >= 700 else math.inf
            return self._bound(size - 1, error * size if size < math.inf else 0.0, units=units)
        combine = np.minimum if name == "total_variation" else lambda p, q: (p + q) / 2
        value, error = self._integral(combine)
        return self._bound(1 - math.exp(value), error + 1e-12, units=units)
