"""Bands of priors: between a lower and an upper probability of each secret; the laws of a bit."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from borel.engine.prior_sets import linear_programme
from borel.engine.prior_sets import lower_expectations as ex
from borel.engine.prior_sets.linear_programme import Constraints, constraints, pairs
from borel.engine.prior_sets.lower_expectations import Least
from borel.errors import InvalidInput
from borel.numerics.intervals.batched import Box
from borel.numerics.intervals.rounding import fraction_down, fraction_up
from borel.priors.balls import number
from borel.priors.emptiness import NOT_EMPTY
from borel.priors.sets import PriorSet
from borel.probability.alphabets import Alphabet, Finite, require_listable
from borel.probability.arrays import as_fractions, in_order_of, limited, shown, sum_shown
from borel.probability.measure import Measure


class ProbabilityIntervals(PriorSet):
    """All priors between a lower and an upper probability of each secret."""

    greedy = True

    def __init__(
        self, lower: Any, upper: Any, on: Alphabet, name: str = "box", *, open: bool = False
    ):
        super().__init__(on, name)
        self.open = open
        low, high = _ends(lower, on, name, "lower"), _ends(upper, on, name, "upper")
        high = np.array(high)
        high[high == np.inf] = Fraction(1)  # no limit
        self.ends = low, high
        rational = low.dtype == object and high.dtype == object
        self.rational = rational
        wrong = (low > high) | (low < 0) | (high > 1)
        if wrong.any():
            k = int(np.argmax(wrong))
            raise InvalidInput(
                f"bl.priors.{name}",
                expected="probabilities 0 <= lower <= upper <= 1",
                got=f"[{low[k]}, {high[k]}]",
                where=f"x = {on.labels[k]!r}",
            )
        if low.sum() > 1 or high.sum() < 1:
            raise InvalidInput(
                f"bl.priors.{name}",
                expected="lower probabilities of at most 1 in sum, upper ones of at least 1",
                got=f"{sum_shown(low)} and {sum_shown(high)}",
                mend="no prior fits: widen the band (floats mean their binary64 values).",
            )
        sums = sum(map(Fraction, low)), sum(map(Fraction, high))
        if not sums[0] <= 1 <= sums[1]:  # floats whose sum only rounds to 1
            self.status, self.assumptions = "conditional", (NOT_EMPTY,)

    @property
    def closed(self) -> bool:  # type: ignore[override]
        """Whether the ends belong to it."""
        return not self.open

    def certainly(self, q: list[Fraction]) -> bool:
        """Return whether probabilities are certainly those of a member."""
        each = zip(*self.ends, q, strict=True)  # floats and Fractions compare exactly
        return all(a < v < b if self.open else a <= v <= b for a, b, v in each)

    def described(self) -> dict[str, Any]:
        """Return the set as data, for certificates."""
        low, high = (pairs(end) for end in self.ends)
        return {"kind": "band", "lower": low, "upper": high, "open": self.open}

    def _boxes(self) -> tuple[Box, Box]:
        def box(a: np.ndarray) -> Box:
            if a.dtype != object:
                return a, a
            return np.array([fraction_down(v) for v in a]), np.array([fraction_up(v) for v in a])

        return box(self.ends[0]), box(self.ends[1])

    def least(self, v: np.ndarray) -> Least:
        """Enclose the lower expectations of columns of values."""
        return ex.band(v, *self._boxes())

    def least_exactly(self, v: np.ndarray) -> Any:
        """Return lower expectations and priors as Fractions, for a rational set."""
        if not self.rational:
            return None
        low, high = self.ends

        def one(column: np.ndarray) -> tuple[Any, list]:
            q, left = list(low), 1 - sum(low, Fraction(0))
            for j in sorted(range(len(column)), key=lambda j: column[j]):
                more = min(high[j] - q[j], left)
                q[j] += more
                left -= more
            return sum((a * b for a, b in zip(q, column, strict=True)), Fraction(0)), q

        return ex.exactly(one, v)

    @property
    def reach(self) -> tuple[np.ndarray, np.ndarray]:
        """The secrets with a positive upper end that the rest leaves room for."""
        low, high = (np.array([Fraction(v) for v in end], dtype=object) for end in self.ends)
        room = 1 - low.sum() + low
        found = np.asarray((np.minimum(high, room) > 0), bool)
        return found, found

    @property
    def rules(self) -> Constraints:
        """The set as linear constraints."""
        n = self.on.size
        low, high = self.ends
        return constraints(n, np.vstack([np.eye(n), -np.eye(n)]), np.concatenate([high, -low]))

    @cached_property
    def vertices(self) -> list[list[Fraction]] | None:
        """Return the extreme points of the closure: floats mean their binary64 values."""
        return None if self.status == "conditional" else linear_programme.vertices(self.rules)

    def contains(self, prior: Measure, *, tol: float = 1e-9) -> bool:
        """Return whether a prior is a member, up to a tolerance."""
        q = np.asarray(prior.at(self.on), float)
        low, high = (np.asarray(end, float) for end in self.ends)
        if self.open:
            return bool(((q > low) & (q < high)).all())
        return bool(((q >= low - tol) & (q <= high + tol)).all())


class Bernoulli(ProbabilityIntervals):
    """The laws of a bit with P{X = 1} in an open interval."""

    def __init__(self, low: Any, high: Any):
        what = "bl.priors.bernoulli"
        a, b = number(what, "lo", low, 0, 1), number(what, "hi", high, 0, 1)
        if not a <= b:
            raise InvalidInput(what, expected="lo <= hi", got=f"{low} and {high}")
        self.interval = a, b
        ends = np.array([[1 - b, a], [1 - a, b]], dtype=object)
        super().__init__(ends[0], ends[1], Finite(2), "bernoulli", open=a < b)

    def member(self, p: Any) -> Measure:
        """Return the member with P{X = 1} = p (an end of the interval is a limit of members)."""
        from borel.probability.measure import pmf

        p = number("bernoulli.member", "p", p, *self.interval)
        return pmf([1 - p, p], on=self.on)

    def __repr__(self) -> str:
        """Show the interval."""
        low, high = (float(v) for v in self.interval)
        return f"PriorSet(bernoulli({low:g}, {high:g}))"


def _ends(given: Any, on: Alphabet, name: str, which: str) -> np.ndarray:
    if on.kind != "finite":
        raise InvalidInput(
            f"bl.priors.{name}",
            expected="a finite alphabet",
            got=repr(on),
            mend="around a density: bl.priors.tv_ball, kl_ball, contamination.",
        )
    require_listable(on.size, f"bl.priors.{name}")
    if isinstance(given, dict):
        missing = set(on.labels) - set(given)
        if missing or set(given) - set(on.labels):
            raise InvalidInput(
                f"bl.priors.{name}",
                expected=f"{which}: a number for each label of {on!r}",
                got=shown(given),
            )
        given = [given[a] for a in on.labels]
    given = in_order_of(given, on, f"bl.priors.{name}")
    values = as_fractions(limited(given, f"bl.priors.{name}", which))
    if values.ndim == 0:
        values = np.full(on.size, values.item() if values.dtype != object else values[()])
    if values.shape != (on.size,):
        raise InvalidInput(
            f"bl.priors.{name}",
            expected=f"{which}: one number, or {on.size} for {on!r}",
            got=f"shape {values.shape}",
        )
    if np.isnan(values.astype(float)).any():
        raise InvalidInput(f"bl.priors.{name}", expected=f"numbers for {which}", got="NaN")
    return values
