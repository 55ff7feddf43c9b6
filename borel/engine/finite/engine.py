"""The exact engine for finite alphabets: one vectorised pass over the matrix, rounded outwards.

Fractions in, exact ratios out. With floats, the prior and the kernel meant are every normalised
ones within their relative rounding, and the enclosures cover them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.finite.law_engine import OUTSIDE
from borel.engine.finite.measures import FiniteMeasures
from borel.engine.problem.discretised_pair import fuzzy
from borel.errors import InvalidInput
from borel.numerics.balls.arithmetic import ball, ends, precision
from borel.numerics.intervals import rounding
from borel.numerics.intervals.elementary import ULPS
from borel.numerics.intervals.rounding import (
    ONE,
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
    if (np.asarray(values != 0, bool) & (floats == 0)).any():
        raise InvalidInput(
            "prior * mech",
            expected=f"entries of {what} that float64 can hold",
            got="a Fraction below 5e-324 beside floats",
            mend="give both as Fractions.",
        )


def _nonzero(values: Scaled) -> Scaled:
    """Put 1 where a number is 0, so that it may be divided by."""
    zero = values.hi == 0
    return Scaled(*(np.where(zero, o, v) for o, v in zip(ONE, values, strict=True)))


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
        p = joint.probabilities
        self.support = p.nonzero()[0]
        if not joint.rational:
            self.matrix = self.mechanism.floats
            if joint.prior.rational:
                _require_floats("the prior", joint.prior.at(self.mechanism.secret), p)
            if self.mechanism.rational:
                _require_floats("the matrix", self.mechanism.matrix, self.matrix)
            # Fractions beside floats are rounded to floats too
            self._prior_rounding = max(joint.prior.rounding, rounding.U)
            self._kernel_rounding = max(self.mechanism.rounding, rounding.U)
            self.assumptions += ("floats mean the normalised laws within their rounding",)

    @cached_property
    def _rows(self) -> np.ndarray:
        """The matrix on the prior's support; in float64 if prior or matrix are."""
        # rounding is monotone: the float of the largest entry is the largest float
        matrix = self.mechanism.matrix if self.joint.rational else self.matrix
        return matrix if len(self.support) == len(matrix) else matrix[self.support]

    @cached_property
    def _top(self) -> np.ndarray:
        """The largest entry of each column on the prior's support."""
        return self._rows.max(axis=0)

    @cached_property
    def _bottom(self) -> np.ndarray:
        """The smallest entry of each column on the prior's support."""
        return self._rows.min(axis=0)

    @cached_property
    def _marginal(self) -> Scaled:
        p = np.asarray(self.joint.probabilities, float)
        error = self._prior_rounding + self._kernel_rounding
        return rounding.weighted_sum(p, self.matrix, error)

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
        row = self.support[rows.argmax() if kind == "pml" else rows.argmin()]
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

    @cached_property
    def _pml_pair(self) -> tuple[Scaled, Scaled]:
        """Numerator and denominator of e^PML, in floats."""
        law = self._marginal  # first: BLAS is the fastest to read a table that is in no cache yet
        return self._entries(self._top), law

    @cached_property
    def _pmc_pair(self) -> tuple[Scaled, Scaled]:
        """Numerator and denominator of e^PMC, in floats."""
        return self._marginal, self._entries(self._bottom)

    def _settled(
        self, kind: str, enclose: Any, least: float, at: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the leakage (or its ratio) at positions; infinities and conventions put in."""
        num, den = self._pml_pair if kind == "pml" else self._pmc_pair
        if at is not None:
            num, den = (Scaled(*(v[at] for v in part)) for part in (num, den))
        if some := np.count_nonzero(num.hi) + np.count_nonzero(den.hi) < 2 * num.hi.size:
            zero = (num.hi == 0) | (den.hi == 0)
            num, den = _nonzero(num), _nonzero(den)
        # a divergence is >= 0
        low, high = (np.maximum(end, least) for end in enclose(num, den))
        if some:
            # at an outcome outside the support it is 0 by convention, else infinite
            top = self._top if at is None else self._top[at]
            low[zero] = high[zero] = np.where(top == 0, least, np.inf)[zero]
        return low, high

    def _logs(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the leakage at every outcome."""
        find = partial(self._settled, kind, log_ratio_bounds, 0.0)
        return self._memo.fact(("logs", kind), find)

    def _ratios(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Enclose e^leakage at every outcome."""
        return self._memo.fact(("ratios", kind), partial(self._settled, kind, ratio_bounds, 1.0))

    def _enclosed(self, kind: str) -> Values:
        return Values(*self._logs(kind), *self._ratios(kind), *self._masses, self._top == 0)

    def _at(self, kind: str, y: Any) -> Bound:
        if self.joint.rational:
            return super()._at(kind, y)
        column = int(self.mechanism.outcome.positions(y))
        low, high = (float(end[column]) for end in self._logs(kind))
        ratio = Ratio(*(end[column] for end in self._ratios(kind)))
        notes = self.assumptions + ((OUTSIDE,) if self._top[column] == 0 else ())
        return self.bound(low, high, assumptions=notes, exact_ratio=ratio)

    def _sup(self, kind: str) -> Bound:
        if self.joint.rational:
            return super()._sup(kind)
        low, high = self._logs(kind)
        best = int(low.argmax())
        at = (high >= low[best]).nonzero()[0]  # where it may be attained
        ratio = Ratio(*(float(end.max()) for end in self._settled(kind, ratio_bounds, 1.0, at)))
        about = {"exact_ratio": ratio, "witness": self.witness(kind, best)}
        return self._bound(float(low[best]), float(high[at].max()), **about)

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
        low, high = rounding.bounds(self._marginal)
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

    def density_law(self, under: str) -> Values:
        """Enclose the information density at every pair of positive P_X x P_Y, with its mass."""
        live, n = self._live, len(self.support)
        outside = np.zeros(n * len(live), bool)
        if self.joint.rational:
            p, k, q = self._prior_ends[0], self._kernel_ends[0], self._marginal_ends[0]
            ratio = np.array([v / q[j] for row in k for j, v in enumerate(row)], dtype=object)
            second = k if under == "joint" else [q] * n
            mass = np.array([a * b for a, row in zip(p, second, strict=True) for b in row], object)
            logs = {r: log_fraction(r) if r else (-math.inf, -math.inf) for r in {*ratio}}
            low, high = np.array([logs[r] for r in ratio]).T
            return Values(low, high, ratio, ratio, mass, mass, outside, floor=-math.inf)
        pairs = np.ix_(self.support, live)
        entries = self.matrix[pairs]
        prior = np.asarray(self.joint.probabilities, float)[self.support][:, None]
        if self._single:  # whatever is rounded, nothing leaks
            low = high = np.zeros(entries.shape)
            ratios = Enclosure(np.ones(entries.shape), np.ones(entries.shape))
        else:
            low, high = self.information_density(*pairs)
            law = Scaled(*(np.broadcast_to(v[live], entries.shape) for v in self._marginal))
            zero = entries == 0
            ratios = ratio_bounds(self._entries(np.where(zero, 1.0, entries)), law)
            ratios = Enclosure(*(np.where(zero, 0.0, end) for end in ratios))
        second = (entries, entries) if under == "joint" else tuple(m[live] for m in self._masses)
        error = self._prior_rounding + (self._kernel_rounding if under == "joint" else 0.0)
        error = error * (1 + 1e-9) + error**2 + 4 * rounding.U
        with np.errstate(under="ignore"):
            least, most = (prior * end for end in second)
            least = np.maximum(least * (1 - error) - rounding.TINY, 0.0)
            most = np.where(most > 0, most * (1 + error) + rounding.TINY, 0.0)
            most = np.where((prior > 0) & (second[1] > 0), np.maximum(most, rounding.TINY), most)
        fields = (low, high, *ratios, least, np.minimum(most, 1.0), outside)
        columns: list[Any] = [np.ravel(c) for c in fields]
        return Values(*columns, floor=-math.inf)

    def ldp(self) -> Bound:
        """Enclose max over y of log max_x f(y|x) / min_x' f(y|x').

        Of the prior only the support counts: a matrix of Fractions beside a prior of floats is
        exact.
        """
        if self.mechanism.rational and not self.joint.rational and not self.reason:
            from borel.probability.joint import Joint
            from borel.probability.measure import pmf

            even = [Fraction(int(p != 0), len(self.support)) for p in self.joint.probabilities]
            return FiniteEngine(Joint(pmf(even, on=self.mechanism.secret), self.mechanism)).ldp()
        live = self._live
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
            witness=self._pair(live[log.upper.argmax()]),
        )

    def _pair(self, column: Any) -> dict:
        """Return the pair of secrets that an outcome tells apart best."""
        rows = self.mechanism.matrix[self.support, column]
        labels = self.mechanism.secret.labels
        high, low = self.support[rows.argmax()], self.support[rows.argmin()]
        outcome = self.mechanism.outcome.labels[int(column)]
        return {"x": labels[high], "x'": labels[low], "y": outcome}

    def maximal_leakage(self) -> Bound:
        """Enclose log of the sum over y of max_x f(y|x)."""
        if self.joint.rational:
            total = sum(self._top.tolist(), Fraction(0))
            low, high = log_fraction(total)
            return self._bound(low, high, exact_ratio=Ratio(total, total))
        values = self._top.tolist()
        total = math.fsum(values)
        rest = math.fsum([*values, -total])
        # what entries below 2**-1022 are off by is nothing beside a sum that is at least 1
        error = self._kernel_rounding + 4 * rounding.U**2
        with precision(128):
            ratio = (ball(total) + ball(rest)) * fuzzy(1.0, error)
            (low, high), logs = ends(ratio), ends(ratio.log())
        return self._bound(
            max(logs[0], 0.0),
            max(logs[1], 0.0),
            exact_ratio=Ratio(max(low, 1.0), max(high, 1.0)),
        )

    def mutual_information(self) -> Bound:
        """Enclose the sum of p(x) f(y|x) log f(y|x) / f_Y(y)."""
        ends = self._rational_information() if self.joint.rational else self._information()
        return self._bound(*(max(float(end), 0.0) for end in ends))

    def _rational_information(self) -> tuple[Any, Any]:
        k: Any = self._rows
        weight = self.joint.probabilities[self.support][:, None] * k
        lows, highs = [], []
        for i, j in np.argwhere(np.asarray(weight != 0, bool)):
            a, b = log_fraction(Fraction(k[i, j]) / self._exact_marginal[j])
            lows.append(rounding.fraction_down(weight[i, j] * Fraction(a)))
            highs.append(rounding.fraction_up(weight[i, j] * Fraction(b)))
        return rounding.sum_outward(np.array(lows), np.array(highs))

    def _information(self) -> tuple[Any, Any]:
        r"""Enclose mutual information in one pass of float64, its error bounded beforehand.

        Notes
        -----
        Let P, K, Q be the prior, the kernel and the law of Y that are meant, and p, k, q the floats
        near them. Then

        .. math:: I = \sum P K \log \frac{k}{q} + \sum_x P(x) \sum_y K \log \frac{K}{k}
                      - \sum_y Q \log \frac{Q}{q}.

        A sum of A log(A / B) over A = B (1 + e) is at least a - b, of the sums of A and B, and at
        most a - b + max e^2 b: what q is off by counts through its sum, which is known, and its
        square. In the first sum P K is off by the rounding of both, the logarithm by that of the
        quotient, u, and `ULPS` of its own. Entries and columns so small that float64 loses them
        add less than 2**-950 each.
        """
        u, kernel = rounding.U, self._kernel_rounding
        law = self._marginal
        with np.errstate(under="ignore"):
            q = np.ldexp(law.hi, law.exponent)
        kept = q > 2.0**-960
        rows, q = self._rows if kept.all() else self._rows[:, kept], q[kept]
        p = np.asarray(self.joint.probabilities, float)[self.support]
        parts, size = [], 0.0
        step = max(1, rounding.LARGE // 2 // len(q))  # what the caches hold
        for i in range(0, len(rows), step):
            k, weight = rows[i : i + step], p[i : i + step]
            with np.errstate(under="ignore"):
                terms = k / q
                np.maximum(terms, rounding.NORMAL, out=terms)  # where k is 0, k times the log is
                np.log(terms, out=terms)
                terms *= k
                parts.append(rounding.partial_sums(weight, terms).ravel())
                size += float(weight @ np.abs(terms, out=terms).sum(axis=1))
        total, low = rounding.sum_dd(np.concatenate(parts))
        mass, rest = rounding.sum_dd(q)
        low += (mass - 1.0) + rest
        weights = self._prior_rounding + kernel + self._prior_rounding * kernel
        error = size * (weights + (1 + weights) * 2 * ULPS * u + (rounding.CHAIN + 2) * u)
        error += (1 + 4 * weights) * (u + kernel + kernel**2)
        error += mass * (float(law.error[kept].max()) + 2 * u) ** 2
        error = error * (1 + 1e-9) + self.matrix.size * 2.0**-940
        return rounding.floor_sum(total, low - error), rounding.ceil_sum(total, low + error)

    def information_density_at(self, x: Any, y: Any) -> Enclosure:
        """Enclose the information density at labels."""
        rows = self.mechanism.secret.positions(x, "x")
        columns = self.mechanism.outcome.positions(y, "y")
        return self.information_density(*np.broadcast_arrays(rows, columns))

    def _bound(self, low: float, high: float, **about: Any) -> Bound:
        return self.bound(low, high, attained=True, **about)
