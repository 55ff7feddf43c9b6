"""Measures of a finite joint beyond its leakage: sums and suprema over the cells of the matrix.

Fractions give exact ratios. Floats are taken apart into exact ends, or balls, so that no sum here
rounds: these figures are asked for one at a time, and their inputs are what limits them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.finite.events import FiniteEvents
from borel.engine.finite.law_engine import OUTSIDE
from borel.engine.problem.discretised_pair import (
    BITS,
    DiscretisedPair,
    divergence,
    exact_divergence,
    fuzzy_list,
    multiple,
    share,
    spread,
)
from borel.engine.problem.engine import JointTable, TableEnd
from borel.numerics.balls.arithmetic import precision
from borel.numerics.intervals import rounding
from borel.numerics.intervals.rounding import log_fraction
from borel.probability.bound import Bound, Ratio

if TYPE_CHECKING:
    from borel.probability.generators import Generator

Ends = tuple[Any, Any]
_OPEN = (
    "no closed form of maximal guesswork leakage is known but for erasures (Kurri, Managoli, "
    "Prabhakaran, 2024): these are bounds from both sides"
)

_FEW = 200_000
"""Differences of Fractions that are taken exactly; beyond, rows are compared in float64."""


class FiniteMeasures(FiniteEvents):
    """Measures that a `FiniteEngine` gives beside PML, PMC and LDP."""

    mechanism: Any
    support: np.ndarray
    _top: np.ndarray
    _bottom: np.ndarray
    _prior_rounding: float
    _kernel_rounding: float

    # -- prior, kernel and marginal, as exact ends on the support ---------------------------------

    @cached_property
    def _live(self) -> np.ndarray:
        """The outcomes of positive probability."""
        return self._top.nonzero()[0]

    @property
    def _single(self) -> bool:
        """Whether one secret only is possible: then nothing leaks, whatever is rounded."""
        return len(self.support) == 1

    @cached_property
    def _prior_ends(self) -> tuple[list[Fraction], list[Fraction]]:
        p = self.joint.probabilities[self.support]
        if self.joint.rational:
            exact = [Fraction(v) for v in p]
            return exact, exact
        p = np.asarray(p, float)
        return spread(p, rounding.rounding_of(p, self._prior_rounding))

    def _row_ends(self, i: int) -> tuple[list[Fraction], list[Fraction]]:
        """Return the row of a secret of the support, on the columns of positive probability."""
        row = self.mechanism.matrix[self.support[i], self._live]
        if self.joint.rational:
            exact = [Fraction(v) for v in row]
            return exact, exact
        row = np.asarray(row, float)
        return spread(row, rounding.rounding_of(row, self._kernel_rounding))

    @cached_property
    def _kernel_ends(self) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
        """Rows on the support, columns of positive probability."""
        rows = [self._row_ends(i) for i in range(len(self.support))]
        return [r[0] for r in rows], [r[1] for r in rows]

    @cached_property
    def _marginal_ends(self) -> tuple[list[Fraction], list[Fraction]]:
        low, high = (
            [
                sum((w * row[j] for w, row in zip(p, k, strict=True)), Fraction(0))
                for j in range(len(self._live))
            ]
            for p, k in zip(self._prior_ends, self._kernel_ends, strict=True)
        )
        return low, high

    @cached_property
    def _cells(self) -> DiscretisedPair:
        """P_XY against P_X x P_Y: the ratio is f(y|x) / f_Y(y)."""
        if self.joint.rational:
            p, k, q = self._prior_ends[0], self._kernel_ends[0], self._marginal_ends[0]
            ratio = [v / q[j] for row in k for j, v in enumerate(row)]
            return DiscretisedPair(ratio, [a * b for a in p for b in q], Fraction(0), True)
        with precision(BITS):
            p = np.asarray(self.joint.probabilities[self.support], float)
            prior = fuzzy_list(p, rounding.rounding_of(p, self._prior_rounding))
            rows = [
                fuzzy_list(r, rounding.rounding_of(r, self._kernel_rounding))
                for r in _floats(self.mechanism.matrix[np.ix_(self.support, self._live)])
            ]
            law: list[Any] = [
                sum((a * r[j] for a, r in zip(prior, rows, strict=True)), 0)
                for j in range(len(self._live))
            ]
            ratio = [v / law[j] for row in rows for j, v in enumerate(row)]
            return DiscretisedPair(ratio, [a * b for a in prior for b in law], 0, False)

    def table(self, what: str) -> JointTable:
        """Return the prior and the rows on its support, for outcomes of positive probability."""
        ends = zip(self._prior_ends, self._kernel_ends, strict=True)
        return JointTable(*(TableEnd(prior, rows) for prior, rows in ends))

    def _of_ratio(self, low: Any, high: Any, *, least: Any = 0, **about: Any) -> Bound:
        """Return log of an enclosed ratio that is at least ``least``, exact if both ends agree."""
        low, high = max(low, least), max(high, least)
        ratio = Ratio(low, high) if low == high else None
        return self.bound(_log(low)[0], _log(high)[1], exact_ratio=ratio, **about)

    # -- averages ---------------------------------------------------------------------------------

    def _column_ends(self, extremes: np.ndarray) -> tuple[list[Fraction], list[Fraction]]:
        """Return exact ends of an extreme entry of each column of positive probability."""
        found = extremes[self._live]
        if self.joint.rational:
            return found.tolist(), found.tolist()
        return spread(found, rounding.rounding_of(found, self._kernel_rounding))

    def maximal_cost_leakage(self) -> Bound:
        """Enclose -log of the sum over y of min_x f(y|x)."""
        low, high = (sum(end, Fraction(0)) for end in self._column_ends(self._bottom))
        return self._of_ratio(_inverse(high), _inverse(low), least=1)

    def tail_leakage(self, kind: str, delta: Fraction) -> Bound:
        r"""Enclose log of the mean of e^PML over the worst delta of outcomes, or -log of e^-PMC's.

        The witness is the event of these outcomes, with their shares, the last one in part.

        Notes
        -----
        With t the largest entry of each column (for PMC the smallest) and q the law of the outcome,
        it is the largest t(a) of the fuzzy events a with q(a) = delta (for PMC the smallest),
        divided by delta: outcomes are taken in the order of t / q. The smallest t(a) is what an
        event of the largest t / q leaves. *Rounding.* An event of mass delta has a mass of at least
        delta for larger q, and at most delta for smaller ones, where t >= 0 is all that is used.
        """
        if self._single:
            return self._of_ratio(1, 1, attained=True)
        ends = self._column_ends(self._top if kind == "pml" else self._bottom)
        low, high, shares = tail_ratio(kind, ends, self._law_ends, delta)
        labels = self.mechanism.outcome.labels
        event = [(labels[self._live[j]], float(part)) for j, part in shares if part]
        return self._of_ratio(low, high, least=1, attained=True, witness={"event": event})

    def min_entropy_leakage(self) -> Bound:
        """Enclose log of the sum over y of max_x p(x) f(y|x), over max_x p(x)."""
        sums = [
            sum(
                (max(w * row[j] for w, row in zip(p, k, strict=True)) for j in range(len(k[0]))),
                Fraction(0),
            )
            for p, k in zip(self._prior_ends, self._kernel_ends, strict=True)
        ]
        guess = [max(p) for p in self._prior_ends]
        return self._of_ratio(sums[0] / guess[1], sums[1] / guess[0], least=1)

    def dynamic_min_entropy_leakage(self, y: Any) -> Bound:
        """Enclose log of max_x P(x|y) / max_x P(x); it may be negative."""
        column = int(self.mechanism.outcome.positions(y))
        found = np.flatnonzero(self._live == column)
        if not len(found):
            return self.bound(0.0, 0.0, assumptions=(*self.assumptions, OUTSIDE))
        j = int(found[0])
        ends = zip(self._prior_ends, self._kernel_ends, strict=True)
        best = [max(w * row[j] for w, row in zip(p, k, strict=True)) for p, k in ends]
        guess, mass = [max(p) for p in self._prior_ends], [q[j] for q in self._marginal_ends]
        return self._of_ratio(best[0] / (guess[1] * mass[1]), best[1] / (guess[0] * mass[0]))

    def f_information(self, f: Generator) -> Bound:
        """Enclose the f-divergence of P_XY from P_X x P_Y."""
        if self._single and f.named:
            return self.bound(0.0, 0.0, units=f.units)  # X and Y are independent
        if f.reason:
            return self._estimated(f)
        low, high = divergence(self._cells, f)
        found = self.bound(low, high, units=f.units)
        return f.noted(found, any(t == 0 for t in self._cells.ratio))

    def exact_f_information(self, f: Generator) -> Fraction | None:
        """Return the f-information where it is a Fraction that is known, else None."""
        return exact_divergence(self._cells, f)

    def _estimated(self, f: Generator) -> Bound:
        """Sum f in float64, for a function that could not be traced."""
        ratio = np.array([float(_middle(t)) for t in self._cells.ratio])
        weight = np.array([float(_middle(w)) for w in self._cells.weight])
        zero = ratio == 0
        with np.errstate(all="ignore"):
            at_zero = f.at(np.zeros(1))[0] if f.at_zero is None else float(f.at_zero)
            values = np.where(zero, at_zero, f.at(np.where(zero, 1.0, ratio)))
        total = float(np.sum(weight * values))
        error = 1e-12 * float(np.sum(weight * (1 + np.abs(values))))
        return Bound.estimate(
            total, error, units=f.units, reason=f.reason, assumptions=self.assumptions
        )

    # -- suprema ----------------------------------------------------------------------------------

    def ldi(self) -> Bound:
        """Enclose max over y of log max_x P(x|y) / min_x' P(x'|y)."""
        best: Ends = Fraction(0), Fraction(0)
        where = 0
        if self._single:  # x = x': nothing is rounded
            return self._of_ratio(1, 1, attained=True, witness=self._posterior_pair(where))
        for j in range(len(self._live)):
            low, high = (
                [w * row[j] for w, row in zip(p, k, strict=True)]
                for p, k in zip(self._prior_ends, self._kernel_ends, strict=True)
            )
            pair = _quotient(max(low), min(high)), _quotient(max(high), min(low))
            if pair[0] > best[0]:
                where = j
            best = max(best[0], pair[0]), max(best[1], pair[1])
        return self._of_ratio(*best, least=1, attained=True, witness=self._posterior_pair(where))

    def _posterior_pair(self, live: int) -> dict:
        """Return the secrets that are the likeliest and the least likely after an outcome."""
        p, k = self._prior_ends[0], self._kernel_ends[0]
        weights = [w * row[live] for w, row in zip(p, k, strict=True)]
        labels, outcome = self.mechanism.secret.labels, self.mechanism.outcome.labels
        high, low = weights.index(max(weights)), weights.index(min(weights))
        return {
            "x": labels[self.support[high]],
            "x'": labels[self.support[low]],
            "y": outcome[self._live[live]],
        }

    def max_information(self, delta: Fraction) -> Bound:
        """Enclose the delta-approximate max-divergence of P_XY from P_X x P_Y.

        The witness is an event of pairs that attains it.
        """
        joint, product = [], []
        for p, k, q in zip(self._prior_ends, self._kernel_ends, self._marginal_ends, strict=True):
            joint.append([w * v for w, row in zip(p, k, strict=True) for v in row])
            product.append([w * v for w in p for v in q])
        least = 1 - delta
        low, event = multiple(joint[0], product[1], delta)
        high: Any = least  # of one secret, or of P(E) <= 1, whatever is rounded
        if not self._single and delta < 1:
            high = multiple(joint[1], product[0], delta)[0]
        labels, outcome = self.mechanism.secret.labels, self.mechanism.outcome.labels
        cells = (divmod(cell, len(self._live)) for cell in event)
        pairs = [(labels[self.support[i]], outcome[self._live[j]]) for i, j in cells]
        return self._of_ratio(low, high, least=least, witness={"event": pairs})

    def _distances(self) -> tuple[Fraction, Fraction, Fraction]:
        """Return the largest distance of two rows, from below and above, and their sum from below.

        In float64 a distance errs by the rounding of the entries and (m + 3) u.
        """
        n, m = len(self.support), len(self._live)
        if self.joint.rational and n * n * m <= _FEW:
            rows = self._kernel_ends[0]
            found = [_distance(a, b) for a, b in combinations(rows, 2)]
            most = max(found, default=Fraction(0))
            return most, most, sum(found, Fraction(0))
        k = _floats(self.mechanism.matrix[np.ix_(self.support, self._live)])
        entries = rounding.U if self.joint.rational else self._kernel_rounding
        slack = Fraction(entries + (m + 3) * rounding.U) * Fraction(101, 100)
        most, total = Fraction(0), Fraction(0)
        for a in range(n - 1):
            found = [Fraction(float(v)) for v in np.abs(k[a + 1 :] - k[a]).sum(axis=1) / 2]
            most = max(most, *found)
            total += sum((max(v - slack, Fraction(0)) for v in found), Fraction(0))
        return max(most - slack, Fraction(0)), most + slack, total

    def maximal_guesswork_leakage(self) -> Bound:
        r"""Bound maximal guesswork leakage, which has no known closed form, from both sides.

        Notes
        -----
        The guesswork of U is half of :math:`1 + \sum_{u,v} \min(P_U(u), P_U(v))`. Given Y, a term
        becomes :math:`\sum_y \min(P_{UY}(u,y), P_{UY}(v,y))`, which is jointly concave in the two
        conditional laws, so that it is at least 1 - max TV of the term. Guessing for all x (or
        all y) in turn costs at most their number as often. From below, take many equally likely
        values of U for some of the x: a share w_x of them each gives 1 - sum w_x w_x' TV(x, x').
        """
        near, far, total = self._distances()
        count = min(len(self.support), len(self._live))
        low = _inverse(1 - max(near / 2, 2 * total / len(self.support) ** 2))
        high = min(_inverse(1 - min(far, Fraction(1))), Fraction(count))
        if high - low <= Fraction(1, 10**12):
            return self._of_ratio(low, high, least=1)
        return Bound.undecided(
            max(_log(low)[0], 0.0), _log(high)[1], reason=_OPEN, assumptions=self.assumptions
        )


def tail_ratio(kind: str, extremes: Ends, law: Ends, delta: Fraction) -> tuple[Any, Any, list]:
    """Enclose e^tail leakage from both ends of the columns' extremes and of the law of the outcome.

    The shares of the worst outcomes follow, by position.
    """
    pairs = list(zip(extremes, law[::-1], strict=True))
    if kind == "pml":
        (low, shares), (high, _) = (share(t, q, delta) for t, q in pairs)
        return low / delta, high / delta, shares
    left = [share(t, q, max(sum(q) - delta, Fraction(0))) for t, q in pairs]
    low, high = (sum(t) - taken for (t, _), (taken, _) in zip(pairs, left, strict=True))
    gone = dict(left[0][1])
    shares = [(j, 1 - gone.get(j, Fraction(0))) for j in range(len(law[0]))]
    return delta * _inverse(high), delta * _inverse(low), shares


def _floats(k: np.ndarray) -> np.ndarray:
    return np.asarray(k, float)


def _distance(row: list[Fraction], other: list[Fraction]) -> Fraction:
    """Return the total variation distance of two rows."""
    return sum((abs(a - b) for a, b in zip(row, other, strict=True)), Fraction(0)) / 2


def _quotient(a: Fraction, b: Fraction) -> Any:
    return a / b if b > 0 else math.inf if a > 0 else Fraction(0)


def _inverse(value: Fraction) -> Any:
    return _quotient(Fraction(1), value)


def _log(ratio: Any) -> tuple[float, float]:
    if ratio == math.inf:
        return math.inf, math.inf
    return log_fraction(ratio) if ratio else (-math.inf, -math.inf)


def _middle(value: Any) -> Any:
    return value if isinstance(value, (int, float, Fraction)) else value.mid()
