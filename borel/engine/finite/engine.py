"""The exact engine for finite alphabets: one vectorised pass over the matrix, rounded outwards.

Fractions in, exact ratios out. With floats, the prior and the kernel meant are every normalised
ones within their relative rounding, and the enclosures cover them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.finite.measures import FiniteMeasures
from borel.errors import InvalidInput
from borel.numerics.intervals import rounding
from borel.numerics.intervals.rounding import (
    Enclosure,
    Scaled,
    log_fraction,
    log_ratio_bounds,
    ratio_bounds,
)
from borel.probability.arrays import carried
from borel.probability.bound import Bound, Ratio
from borel.probability.countable_law import VALUE_FIELDS, Values
from borel.probability.memo import Memo

if TYPE_CHECKING:
    from borel.probability.joint import Joint


def _require_floats(what: str, values: np.ndarray, floats: np.ndarray) -> None:
    """Raise if a positive Fraction became 0 as a float: a lost mass is not a zero."""
    if values.dtype == object and (np.asarray(values != 0, bool) & (floats == 0)).any():
        raise InvalidInput(
            "prior * mech",
            expected=f"entries of {what} that float64 can hold",
            got="a Fraction below 5e-324 beside floats",
            mend="give both as Fractions.",
        )


_ONE = Scaled(np.ones(1), np.zeros(1), np.zeros(1, int), np.zeros(1))


def _nonzero(values: Scaled) -> Scaled:
    """Put 1 where a number is 0, so that it may be divided by."""
    zero = values.hi == 0
    if not zero.any():
        return values
    return Scaled(*(np.where(zero, o, v) for o, v in zip(_ONE, values, strict=True)))


class FiniteEngine(FiniteMeasures):
    """All figures of a finite joint.

    Parameters
    ----------
    joint : Joint
        With a finite prior and a matrix.
    """

    def __init__(self, joint: Joint):
        self.given = self.joint = joint
        self.mechanism = joint.mechanism
        # values that are known in float64 only make estimates, and say why
        self.reason = carried(joint.prior, joint.mechanism)
        self.status = "estimate" if self.reason else "exact"
        self.assumptions: tuple[str, ...] = ()
        self._memo = Memo()
        self._log_cache: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        p = joint.probabilities
        self.support = np.flatnonzero(np.asarray(p != 0, bool))
        if joint.rational:
            self._top, self._bottom = self._extremes(self.mechanism.matrix)
        else:
            self.matrix = self.mechanism.split.values
            _require_floats("the prior", joint.prior.at(self.mechanism.secret), p)
            _require_floats("the matrix", self.mechanism.matrix, self.matrix)
            # Fractions beside floats are rounded to floats too
            self._prior_rounding = max(joint.prior.rounding, rounding.U)
            self._kernel_rounding = max(self.mechanism.rounding, rounding.U)
            # rounding is monotone: the float of the largest entry is the largest float
            ends = self._extremes(self.matrix)
            self._top, self._bottom = (np.asarray(end, float) for end in ends)
            self.assumptions += ("floats mean the normalised laws within their rounding",)

    def _extremes(self, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest and the smallest entry of each column on the prior's support."""
        if len(self.support) == len(matrix):
            return self.mechanism.extremes
        rows = matrix[self.support]
        return rows.max(axis=0), rows.min(axis=0)

    @cached_property
    def _marginal(self) -> Scaled:
        p = np.asarray(self.joint.probabilities, float)
        error = self._prior_rounding + self._kernel_rounding
        return rounding.weighted_sum(p, self.mechanism.split, error)

    @cached_property
    def _exact_marginal(self) -> np.ndarray:
        return self.joint.probabilities @ self.mechanism.matrix

    def _entries(self, values: np.ndarray) -> Scaled:
        return rounding.scaled(values, rounding.rounding_of(values, self._kernel_rounding))

    def law(self, kind: str) -> Values:
        """Enclose PML or PMC at every outcome, with the law of the outcome."""
        return self._pml if kind == "pml" else self._pmc

    def values_at(self, kind: str, y: Any) -> Values:
        """Return the part of `law` that belongs to some labels."""
        chosen = np.atleast_1d(self.mechanism.outcome.positions(y))
        law = self.law(kind)
        columns = [getattr(law, name)[chosen] for name in VALUE_FIELDS]
        return Values(*columns)

    def head_of_outcomes(self) -> tuple[Any, bool]:
        """Return the labels of the outcomes; they are all."""
        return self.mechanism.outcome.labels, True

    def witness(self, kind: str, column: int) -> dict:
        """Return the outcome and the secret that attain PML, or PMC, there."""
        rows = self.mechanism.matrix[self.support, column]
        row = self.support[int(np.argmax(rows) if kind == "pml" else np.argmin(rows))]
        return {
            "x": self.mechanism.secret.labels[row],
            "y": self.mechanism.outcome.labels[column],
        }

    @cached_property
    def _pml(self) -> Values:
        if self.joint.rational:
            return self._rational(self._top, self._exact_marginal)
        return self._enclosed("pml")

    @cached_property
    def _pmc(self) -> Values:
        if self.joint.rational:
            return self._rational(self._exact_marginal, self._bottom)
        return self._enclosed("pmc")

    def _pair_of(self, kind: str) -> tuple[Scaled, Scaled]:
        """Return numerator and denominator of e^leakage, in floats."""
        if kind == "pml":
            return self._entries(self._top), self._marginal
        return self._marginal, self._entries(self._bottom)

    def _settled(self, kind: str, enclose: Any, least: float) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the leakage (or its ratio); exact infinities and conventions put in."""
        num, den = self._pair_of(kind)
        outside = self._top == 0
        infinite = (den.hi == 0) & ~outside
        low, high = enclose(_nonzero(num), _nonzero(den))
        # a divergence is >= 0; at an outcome outside the support it is 0 by convention
        low = np.where(outside, least, np.maximum(low, least))
        high = np.where(outside, least, np.maximum(high, least))
        return np.where(infinite, np.inf, low), np.where(infinite, np.inf, high)

    def _logs(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the leakage at every outcome, in nats."""
        if not self._log_cache and self._bottom.min() > 0:
            # the usual case, without zeros: both leakages in one pass
            pairs = [self._pair_of(k) for k in ("pml", "pmc")]
            num, den = (
                Scaled(*(np.stack(v) for v in zip(*side, strict=True)))
                for side in zip(*pairs, strict=True)
            )
            low, high = (np.maximum(end, 0.0) for end in log_ratio_bounds(num, den))
            self._log_cache = {k: (low[i], high[i]) for i, k in enumerate(("pml", "pmc"))}
        if kind not in self._log_cache:
            self._log_cache[kind] = self._settled(kind, log_ratio_bounds, 0.0)
        return self._log_cache[kind]

    def _enclosed(self, kind: str) -> Values:
        ratios = self._settled(kind, ratio_bounds, 1.0)
        return Values(*self._logs(kind), *ratios, *self._masses, self._top == 0)

    def curve(self, kind: str, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return lower ends, upper ends and the status at many outcomes."""
        if self.joint.rational:
            return super().curve(kind, y)
        low, high = self._logs(kind)
        chosen = self.mechanism.outcome.positions(y)
        low, high = low[chosen], high[chosen]
        return low, high, self.statuses(low, high)

    @cached_property
    def _masses(self) -> tuple[np.ndarray, np.ndarray]:
        empty = self._marginal.hi == 0
        low, high = ratio_bounds(_nonzero(self._marginal), _ONE)
        return np.where(empty, 0.0, low), np.where(empty, 0.0, np.minimum(high, 1.0))

    def _rational(self, num: np.ndarray, den: np.ndarray) -> Values:
        ratios = np.empty(len(num), dtype=object)
        ends = np.zeros((2, len(num)))
        outside = np.asarray(self._top == 0, bool)
        for j, (a, b) in enumerate(zip(num, den, strict=True)):
            if outside[j]:
                ratios[j] = Fraction(1)
            elif b == 0:
                ratios[j], ends[:, j] = math.inf, math.inf
            else:
                ratios[j] = Fraction(a) / b
                ends[:, j] = log_fraction(ratios[j])
        mass = self._exact_marginal
        return Values(ends[0], ends[1], ratios, ratios, mass, mass, outside)

    # -- other measures ---------------------------------------------------------------------

    def information_density(self, rows: np.ndarray, columns: np.ndarray) -> Enclosure:
        """Enclose log f(y|x) / f_Y(y) at positions; -inf where f(y|x) = 0 < f_Y(y)."""
        if self.joint.rational:
            entries = self.mechanism.matrix[rows, columns]
            den = np.broadcast_to(self._exact_marginal[columns], np.shape(entries))
            out = np.zeros((2, *np.shape(entries)))
            for index in np.ndindex(np.shape(entries)):
                k: Any = np.asarray(entries)[index]
                m: Any = np.asarray(den)[index]
                out[(slice(None), *index)] = (
                    0.0 if m == 0 else -math.inf if k == 0 else log_fraction(Fraction(k) / m)
                )
            return Enclosure(out[0], out[1])
        entries = np.atleast_1d(self.matrix[rows, columns])
        den = Scaled(*(np.broadcast_to(v[columns], entries.shape) for v in self._marginal))
        zero, empty = entries == 0, den.hi == 0
        low, high = log_ratio_bounds(self._entries(np.where(zero, 1.0, entries)), _nonzero(den))
        low = np.where(empty, 0.0, np.where(zero, -np.inf, low))
        high = np.where(empty, 0.0, np.where(zero, -np.inf, high))
        shape = np.shape(self.matrix[rows, columns])
        return Enclosure(low.reshape(shape), high.reshape(shape))

    def ldp(self) -> Bound:
        """Enclose max over y of log max_x f(y|x) / min_x' f(y|x')."""
        live = np.flatnonzero(np.asarray(self._top != 0, bool))
        top, bottom = self._top[live], self._bottom[live]
        if (bottom == 0).any():
            j = live[int(np.argmax(np.asarray(bottom == 0, bool)))]
            return self._bound(math.inf, math.inf, witness=self._pair(j))
        if self.joint.rational:
            ratios = [Fraction(a) / b for a, b in zip(top, bottom, strict=True)]
            worst = max(ratios)
            low, high = log_fraction(worst)
            return self._bound(
                low,
                high,
                exact_ratio=Ratio(worst, worst),
                witness=self._pair(live[ratios.index(worst)]),
            )
        num, den = self._entries(top), self._entries(bottom)
        log, ratio = log_ratio_bounds(num, den), ratio_bounds(num, den)
        # where the two entries are one, or equal floats of one row, the ratio is at least 1
        return self._bound(
            max(float(log.lower.max()), 0.0),
            max(float(log.upper.max()), 0.0),
            exact_ratio=Ratio(max(float(ratio.lower.max()), 1.0), float(ratio.upper.max())),
            witness=self._pair(live[int(np.argmax(log.upper))]),
        )

    def _pair(self, column: Any) -> dict:
        """Return the pair of secrets that an outcome tells apart best."""
        rows = self.mechanism.matrix[self.support, column]
        labels = self.mechanism.secret.labels
        high, low = (self.support[int(f(rows))] for f in (np.argmax, np.argmin))
        outcome = self.mechanism.outcome.labels[int(column)]
        return {"x": labels[high], "x'": labels[low], "y": outcome}

    def maximal_leakage(self) -> Bound:
        """Enclose log of the sum over y of max_x f(y|x)."""
        if self.joint.rational:
            total = sum(self._top.tolist(), Fraction(0))
            low, high = log_fraction(total)
            return self._bound(low, high, exact_ratio=Ratio(total, total))
        error = rounding.rounding_of(self._top, self._kernel_rounding) * (1 + 1e-15)
        pad = np.where(self._top > 0, self._top * error, 0.0)
        with np.errstate(under="ignore"):
            low, high = rounding.sum_outward(
                self._top - pad * (1 + 4 * rounding.U) - rounding.TINY * (pad > 0),
                self._top + pad * (1 + 4 * rounding.U) + rounding.TINY * (pad > 0),
            )
        # rounding of top -/+ pad itself: one more u each
        ends = np.array([low, high]) * np.array([1 - 2.0**-52, 1 + 2.0**-52])
        ends = np.maximum(ends, 1.0)
        log = log_ratio_bounds(rounding.scaled(ends), _ONE)
        return self._bound(
            max(float(log.lower[0]), 0.0),
            float(log.upper[1]),
            exact_ratio=Ratio(float(ends[0]), float(ends[1])),
        )

    def mutual_information(self) -> Bound:
        """Enclose the sum of p(x) f(y|x) log f(y|x) / f_Y(y)."""
        rows = self.support
        if self.joint.rational:
            p = self.joint.probabilities[rows]
            k: Any = self.mechanism.matrix[rows]
            weight = p[:, None] * k
            charged = np.argwhere(np.asarray(weight != 0, bool))
            low = high = 0.0
            terms_low, terms_high = [], []
            for i, j in charged:
                a, b = log_fraction(Fraction(k[i, j]) / self._exact_marginal[j])
                w = weight[i, j]
                terms_low.append(rounding.fraction_down(w * Fraction(a)))
                terms_high.append(rounding.fraction_up(w * Fraction(b)))
            low, high = rounding.sum_outward(np.array(terms_low), np.array(terms_high))
            return self._bound(max(float(low), 0.0), max(float(high), 0.0))
        p = np.asarray(self.joint.probabilities, float)[rows]
        error = 2 * (self._prior_rounding + self._kernel_rounding) + 4 * rounding.U
        lows, highs = [], []
        columns = np.arange(self.matrix.shape[1])
        for block in np.array_split(np.arange(len(rows)), max(1, self.matrix.size // 1_000_000)):
            part = rows[block]
            i_low, i_high = self.information_density(part[:, None], columns[None, :])
            with np.errstate(under="ignore"):
                w = p[block][:, None] * self.matrix[part]
            w_low, w_high = w * (1 - error), w * (1 + error) + rounding.TINY
            live = self.matrix[part] > 0
            i_low, i_high = np.where(live, i_low, 0.0), np.where(live, i_high, 0.0)
            ends = [
                np.minimum(w_low * i_low, w_high * i_low),
                np.maximum(w_low * i_high, w_high * i_high),
            ]
            ends[0] = np.where(live, ends[0] - np.abs(ends[0]) * 2.0**-52 - rounding.TINY, 0.0)
            ends[1] = np.where(live, ends[1] + np.abs(ends[1]) * 2.0**-52 + rounding.TINY, 0.0)
            a, b = rounding.sum_outward(ends[0].ravel(), ends[1].ravel())
            lows.append(float(a))
            highs.append(float(b))
        low, high = rounding.sum_outward(np.array(lows), np.array(highs))
        return self._bound(max(float(low), 0.0), max(float(high), 0.0))

    def information_density_at(self, x: Any, y: Any) -> Enclosure:
        """Enclose the information density at labels."""
        rows = self.mechanism.secret.positions(x, "x")
        columns = self.mechanism.outcome.positions(y, "y")
        return self.information_density(*np.broadcast_arrays(rows, columns))

    def _bound(self, low: float, high: float, **about: Any) -> Bound:
        return self.bound(low, high, attained=True, **about)
