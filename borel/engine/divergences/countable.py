r"""Divergences of two measures on the integers: a head term by term, and bounds on the rest.

Beyond the head, Hoelder bounds the sum of :math:`p^\alpha q^{1-\alpha}` by
:math:`P^\alpha Q^{1-\alpha}` of the tails for orders below 1; nothing bounds it above 1.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.problem.binary_constants import rounded
from borel.engine.problem.discretised_pair import BITS
from borel.engine.problem.truncated_prior import assumed, over_sum
from borel.errors import NotEnclosed, NotYet
from borel.numerics.balls.arithmetic import ball, ends, precision
from borel.numerics.intervals import interpreter, rounding
from borel.probability.bound import Bound

if TYPE_CHECKING:
    from borel.probability.measure import Measure

_HEAD = 2048
_OPEN = "nothing bounds the sum beyond the head of the alphabet, from above"


class Heads:
    """Two measures on integers, enclosed on a common head, with bounds on their tails.

    Parameters
    ----------
    p, q : Measure
        With densities that intervals know.
    """

    def __init__(self, p: Measure, q: Measure):
        self.points = _points(p, q)
        found = [over_sum(m, *_enclosed(m, self.points)) for m in (p, q)]
        self.low, self.high = [f[0] for f in found], [f[1] for f in found]
        self.tail, self.assumptions = [], ()
        self.notes = rounded(p.density, q.density)
        for measure, low, high, name in zip((p, q), self.low, self.high, "pq", strict=True):
            least, most = (float(v) for v in rounding.sum_outward(low, high))
            rest = max(0.0, 1.0 - least + (most - least) + 2.0**-50)
            self.tail.append(min(rest, 1.0))
            if assumed(measure):
                self.assumptions = (*self.assumptions, f"{name} normalised: checked")

    def bound(self, low: float, high: float, **about: Any) -> Bound:
        """Make a Bound of a non-negative figure."""
        low, high = max(low, 0.0), max(high, 0.0)
        if math.isinf(high) and not math.isinf(low):
            notes = (*self.assumptions, *self.notes)
            return Bound.undecided(low, high, reason=_OPEN, assumptions=notes, **about)
        make = Bound.conditional if self.assumptions else Bound.exact
        return make(low, high, assumptions=(*self.assumptions, *self.notes), **about)

    def _alone(self) -> bool:
        """Return whether P is proved to have a point that Q has not."""
        return bool(((self.high[1] == 0) & (self.low[0] > 0)).any())

    def _power(self, order: Fraction) -> tuple[Any, Any]:
        """Enclose the sum of p^order q^(1 - order) over the head, in balls."""
        low, high = ball(0), ball(0)
        a = ball(order)
        for k in range(len(self.points)):
            p, q = (self.low[0][k], self.high[0][k]), (self.low[1][k], self.high[1][k])
            if p[1] == 0 or (order < 1 and q[1] == 0):
                continue
            first, second = (q[1], q[0]) if order > 1 else (q[0], q[1])
            if p[0] > 0 and first > 0:
                low += ball(p[0]) ** a * ball(first) ** (1 - a)
            if second > 0:
                high += ball(p[1]) ** a * ball(second) ** (1 - a)
        return low, high

    def renyi(self, order: Any) -> Bound:
        """Enclose the Renyi divergence, or bound it from below."""
        if order >= 1 and self._alone():
            return self.bound(math.inf, math.inf)
        if order == math.inf:
            with np.errstate(divide="ignore", invalid="ignore"):
                gaps = np.where(
                    (self.low[0] > 0) & (self.high[1] > 0),
                    np.log(self.low[0]) - np.log(self.high[1]),
                    -np.inf,
                )
            return self.bound(float(gaps.max()) - 1e-12, math.inf)
        if order == 1:
            raise NotYet(
                "bl.renyi of order 1",
                missing="measures on integers beyond the named families",
                instead="an order below 1; bl.poisson and bl.geometric have closed forms.",
            )
        with precision(BITS):
            low, high = self._power(order)
            a = ball(order)
            if order > 1:
                least = ends(low.log() / (a - 1))[0] if low > 0 else 0.0
                return self.bound(least, math.inf)
            rest = ball(self.tail[0]) ** a * ball(self.tail[1]) ** (1 - a)
            high = high + rest
            if not low > 0:
                return self.bound(0.0, math.inf)
            return self.bound(ends(high.log() / (a - 1))[0], ends(low.log() / (a - 1))[1])

    def f_divergence(self, name: str, units: str) -> Bound:
        """Enclose total variation or squared Hellinger."""
        if name == "chi_square":
            found = self.renyi(Fraction(2))
            grown = math.expm1(found.lower) * (1 - 1e-14) if found.lower < 700 else 1e300
            if found.lower == math.inf:
                return self.bound(math.inf, math.inf, units=units)
            return self.bound(grown, math.inf, units=units)
        with precision(BITS):
            if name == "squared_hellinger":
                half = Fraction(1, 2)
                low, high = self._power(half)
                high = high + (ball(self.tail[0]) * ball(self.tail[1])).sqrt()
            else:
                low, high = (
                    sum((ball(v) for v in np.minimum(*side)), ball(0))
                    for side in (self.low, self.high)
                )
                high = high + ball(min(self.tail))
            return self.bound(ends(1 - high)[0], min(ends(1 - low)[1], 1.0), units=units)


def _points(p: Measure, q: Measure) -> np.ndarray:
    """Return integers that begin both alphabets."""
    lower = [m.on.lower for m in (p, q)]  # type: ignore[attr-defined]
    upper = [m.on.upper for m in (p, q)]  # type: ignore[attr-defined]
    if None not in lower:
        first = min(lower)
        return np.arange(first, first + _HEAD)
    if None not in upper:
        last = max(upper)
        return np.arange(last - _HEAD + 1, last + 1)
    return np.arange(-_HEAD // 2, _HEAD // 2 + 1)


def _enclosed(measure: Measure, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Enclose probabilities at integers; 0 outside the alphabet."""
    density = measure.density
    if density is None or density.graph is None:
        why = density.opaque if density is not None else "it has no density"
        raise NotYet("a divergence", missing=f"a traced density on {measure.on!r} ({why})")
    inside = np.asarray(measure.on.contains(points), bool)
    x = points[inside].astype(float)
    try:
        low, high = interpreter.evaluate(density.graph, {"x": (x, x)})
        if density.log:
            low, high = interpreter.exponential((low, high))
    except NotEnclosed as error:
        raise NotYet("a divergence", missing=f"on {measure.on!r}: {error}") from None
    out = np.zeros((2, len(points)))
    out[0, inside], out[1, inside] = np.maximum(low, 0.0), np.minimum(high, 1.0)
    return out[0], out[1]
