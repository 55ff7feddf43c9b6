r"""f-information and LDP on countable alphabets: a head cell by cell, and bounds on the rest.

With t = f(y|x) / f_Y(y), the rest of :math:`E \varphi(t)` is bounded by the masses that P_XY and
P_X x P_Y have there: :math:`|a - b|/2` and :math:`(\sqrt a - \sqrt b)^2/2` by (a + b)/2; and, as
t <= 1 / p_min for finitely many secrets, :math:`a \log t - a + b` and :math:`(a - b)^2 / b`. Of
countable secrets log t <= PML bounds the first one: by its values on the head of outcomes, and by
its mean beyond it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.countable.law_measures import LawMeasures
from borel.engine.countable.means_beyond_head import beyond, resolved
from borel.engine.divergences.hockey_sticks import Ends, finite_excess, probability_of
from borel.engine.problem.discretised_pair import BITS, share
from borel.engine.problem.thresholds import Threshold
from borel.errors import NotYet
from borel.numerics.balls.arithmetic import ball, ends, precision
from borel.numerics.intervals.rounding import log_fraction, log_ratio_bounds, scaled
from borel.probability.bound import Bound
from borel.probability.normalisation import head_of

if TYPE_CHECKING:
    from borel.probability.generators import Generator

SECRETS = 512
_OUTCOMES = 512


class CountableMeasures(LawMeasures):
    """Measures that a `CountableEngine` gives beside PML and PMC."""

    mechanism: Any

    def f_information(self, f: Generator) -> Bound:
        """Enclose the f-divergence of P_XY from P_X x P_Y."""
        if f.reason:
            raise NotYet("bl.f_information", missing=f"a function that can be traced: {f.reason}")
        ys, every = self._outcomes(f)
        head = self._head(SECRETS)  # type: ignore[attr-defined]
        marginal = self.column(ys)[0]  # type: ignore[attr-defined]
        y = ys.astype(float)[:, None]
        kernel = self._evaluate(  # type: ignore[attr-defined]
            self.mechanism.density, {"y": (y, y), "x": (head.points, head.points)}
        )
        with precision(BITS):
            low, high, seen, paired, all_ = self._sum(f, head, marginal, kernel)
            whole = every and all_ and not len(head.boxes[0])
            rest = self._rest(f, 1 - seen, 1 - paired, whole)
            if rest is None and f.name == "kl" and all_:
                rest = self._rest_of_information(ys, every, 1 - seen, 1 - paired)
            total = low.union(high + rest[1]) if rest is not None else None
            least = -math.inf  # of a user's f the rest may be negative, and nothing bounds it
            if rest is not None or f.graph is None:
                least = ends(low + (rest[0] if rest is not None else 0))[0]
            most = math.inf if total is None else ends(total)[1]
        if f.graph is None:
            least = max(least, 0.0)
        found = self.bound(least, max(most, least), units=f.units)
        return f.noted(found, not whole or bool((kernel.upper == 0).any()))

    def _outcomes(self, f: Generator) -> tuple[np.ndarray, bool]:
        """Return the outcomes to look at, and whether they are all."""
        ys, whole = self.head_of_outcomes()
        if whole:
            return np.asarray(ys), True
        if self._finite_prior is None and f.name == "kl":  # type: ignore[attr-defined]
            ys = resolved(self.law("pml"), self.joint.outcome, np.asarray(ys))  # type: ignore[attr-defined]
            return ys, False
        return head_of(self.joint.outcome, min(len(ys), _OUTCOMES)), False

    def _rest_of_information(
        self, ys: np.ndarray, every: bool, product: Any, joint: Any
    ) -> tuple[Any, Any] | None:
        """Bound what the cells beyond the head add to the mean of t log t - t + 1, log t <= PML.

        There are no outcomes beyond it if it has every one.
        """
        values = self.values_at("pml", ys)  # type: ignore[attr-defined]
        most = ball(float(np.max(values.upper, initial=0.0)))
        held = math.fsum(np.asarray(values.mass_lower, float).tolist())
        more = 0.0 if every else beyond(self, "pml", "mean", ys, 1.0 - held + 2.0**-50)
        if not (most.is_finite() and more < math.inf):
            return None
        b, a = product.upper().max(ball(0)), joint.upper().max(ball(0))
        return ball(0), a * most + ball(more) + b

    def _sum(self, f: Generator, head: Any, marginal: Any, kernel: Any) -> tuple[Any, ...]:
        """Return the sum over the head, and what P_X x P_Y and P_XY have there at least.

        Last whether all of it was looked at: after the deadline its other outcomes are not, nor
        are those at which float64 does not resolve f_Y.
        """
        low, high, all_ = ball(0), ball(0), True
        seen, paired = ball(0), ball(0)
        deadline = settings.search_deadline()
        for j in range(len(marginal.lower)):
            if settings.late(deadline):
                return low, high, seen, paired, False
            settings.work("balls", 20 * len(head.points))
            q = ball(float(marginal.lower[j])), ball(float(marginal.upper[j]))
            if not q[1] > 0:
                continue
            if not q[0] > 0:  # it counts with what is beyond the head
                all_ = False
                continue
            for i in range(len(head.points)):
                p = ball(float(head.low[i])), ball(float(head.high[i]))
                if not p[1] > 0:
                    continue
                k = ball(float(kernel.lower[j, i])), ball(float(kernel.upper[j, i]))
                seen += (p[0] * q[0]).lower()
                paired += (p[0] * k[0]).lower()
                weight = (p[0] * q[0]).union(p[1] * q[1])
                t = (k[0] / q[1]).lower(), (k[1] / q[0]).upper()
                if f.graph is not None:
                    value = f.phi(t[0].union(t[1])) if t[1] > 0 else f.limit()
                else:
                    value = f.over(t[0].max(ball(0)), t[1]) if t[1] > 0 else ball(f.at_zero)
                term = weight * value
                low, high = low + term.lower(), high + term.upper()
        return low, high, seen, paired, all_

    def _rest(self, f: Generator, product: Any, joint: Any, whole: bool) -> tuple[Any, Any] | None:
        """Bound what the cells beyond the head add; None if nothing bounds it from above."""
        if whole:
            return ball(0), ball(0)
        b, a = product.upper().max(ball(0)), joint.upper().max(ball(0))
        if f.slope in (math.inf,) or f.graph is not None:
            ceiling = self._ceiling()  # type: ignore[attr-defined]
            if math.isinf(ceiling):
                return None
            top = ball(ceiling).exp()
            if f.graph is not None:
                if f.at_zero is not None and not math.isfinite(f.at_zero):
                    return None
                found = f.phi(ball(0).union(top)).union(f.limit())
                return (found * b).lower().min(ball(0)), (found * b).upper().max(ball(0))
            if f.name == "kl":
                return ball(0), a * ball(ceiling) + b
            return ball(0), a * top + b
        return ball(0), (a + b) * ball(f.slope)

    def psi_2(self, level: Threshold) -> Bound:
        """Enclose the largest excess of a row over e^epsilon times the marginal, tails added."""
        rows, law, rest = self._rows()
        found = [finite_excess(row, law, level) for row in rows]
        low = max(f[0] for f in found)
        high = max(f[1] + more for f, more in zip(found, rest, strict=True))
        return probability_of(low, high, self.bound)

    def event_maximal_leakage(self, delta: Fraction) -> Bound:
        """Enclose the largest leakage of an event of probability delta."""
        if delta == 0:
            return self.sup("pml")
        return self._of_event(*self._event_ratio(delta))

    def binary_envelope(self, delta: Fraction) -> Bound:
        """Enclose the binary envelope: above delta = 1/2 two halves may leak more."""
        low, high = self._event_ratio(delta)
        if 2 * delta > 1:
            # an event and its complement leak at most 1 + TV of two rows
            high = max(high, min(self._halves(), self._event_ratio(Fraction(1, 2))[1]))
        return self.settled(self._of_event(low, high))

    def _of_event(self, low: Fraction, high: Fraction) -> Bound:
        low, high = max(low, Fraction(1)), max(high, Fraction(1))
        return self.bound(log_fraction(low)[0], log_fraction(high)[1])

    def _event_ratio(self, delta: Fraction) -> tuple[Fraction, Fraction]:
        """Enclose the largest share at a level; beyond the head all of a row is added."""
        rows, law, rest = self._rows()
        low = max(share(row[0], law[1], delta)[0] for row in rows)
        high = max(share(row[1], law[0], delta)[0] + r for row, r in zip(rows, rest, strict=True))
        return max(low, delta) / delta, min(max(high, delta), Fraction(1)) / delta

    def _halves(self) -> Fraction:
        """Bound 1 + TV of two rows from above."""
        rows, _, rest = self._rows()
        one = Threshold(ratio=Fraction(1))
        pairs = [(a, b) for a in range(len(rows)) for b in range(len(rows)) if a != b]
        most = (finite_excess(rows[a], rows[b], one)[1] + rest[a] for a, b in pairs)
        return 1 + max(most, default=Fraction(0))

    def _rows(self) -> tuple[list[Ends], Ends, list[Fraction]]:
        """Return rows and marginal on a head of outcomes as exact ends, and the rows' tails.

        Raises
        ------
        NotYet
            A secret that is not finite.
        """
        head = self._finite_prior  # type: ignore[attr-defined]
        if head is None:
            raise NotYet("this figure", missing="countable secrets", instead="a finite secret.")
        ys, whole = np.asarray(self.head_of_outcomes()[0]), self.head_of_outcomes()[1]
        if not whole:
            ys = self.settled_head()  # type: ignore[attr-defined]
        points = head.points[head.high > 0]
        y = ys.astype(float)
        kernel = self._evaluate(  # type: ignore[attr-defined]
            self.mechanism.density, {"y": (y, y), "x": (points[:, None], points[:, None])}
        )
        marginal = self.column(ys)[0]  # type: ignore[attr-defined]
        rows = [
            tuple([Fraction(float(v)) for v in end[i]] for end in kernel)
            for i in range(len(points))
        ]
        law = tuple([Fraction(float(v)) for v in end] for end in marginal)
        rest = [Fraction(0) if whole else max(1 - sum(row[0]), Fraction(0)) for row in rows]
        return rows, law, rest  # type: ignore[return-value]

    def _ldp(self) -> Bound:
        """Enclose the LDP level by the outcomes of a head."""
        ys, whole = self.head_of_outcomes()
        _, top, bottom = self.column(np.asarray(ys))  # type: ignore[attr-defined]
        low, high = 0.0, 0.0
        for j in range(len(top.lower)):
            pair = (
                _log_quotient(top.lower[j], bottom.upper[j]),
                _log_quotient(top.upper[j], bottom.lower[j]),
            )
            low, high = max(low, pair[0][0]), max(high, pair[1][1])
        if not whole and high < math.inf:
            high = max(high, self.beyond_head("ldp"))
        return self.bound(low, high)


def _log_quotient(a: float, b: float) -> tuple[float, float]:
    """Enclose log(a / b) for numbers >= 0; from 0 on where a is 0, an outcome without density."""
    if not a > 0:
        return 0.0, 0.0
    if not b > 0:
        return math.inf, math.inf
    found = log_ratio_bounds(scaled(np.array([a])), scaled(np.array([b])))
    return float(found.lower[0]), float(found.upper[0])
