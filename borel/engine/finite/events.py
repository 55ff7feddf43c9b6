"""Leakage of events of a finite joint: of one, of the worst of a probability, and of both halves.

Float64 finds the secret, or the pair of secrets, that matters, and rules out the others; what is
reported is computed from exact ends of it, or for many levels at once enclosed in float64.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.finite.complementary_events import Complements, LawEnds, largest
from borel.engine.finite.event_curves import floats_of, largest_shares
from borel.engine.finite.law_engine import OUTSIDE, DiscreteFigures
from borel.engine.problem.discretised_pair import share
from borel.numerics.intervals.rounding import (
    ONE,
    fraction_down,
    fraction_up,
    log_fraction,
    log_ratio_bounds,
    scaled,
)

if TYPE_CHECKING:
    from borel.engine.finite.event_curves import Floats
    from borel.engine.problem.thresholds import Threshold
    from borel.probability.bound import Bound
    from borel.probability.memo import Memo


_FEW = 10_000
_TIES = 8


class FiniteEvents(DiscreteFigures):
    """Figures of events that a `FiniteEngine` gives."""

    mechanism: Any
    support: np.ndarray
    _live: np.ndarray
    _single: bool
    _memo: Memo
    _masses: tuple[np.ndarray, np.ndarray]
    _marginal_ends: tuple[list[Fraction], list[Fraction]]

    def _row_ends(self, i: int) -> tuple[list[Fraction], list[Fraction]]:
        raise NotImplementedError

    def _of_ratio(self, low: Any, high: Any, *, least: Any = 0, **about: Any) -> Bound:
        raise NotImplementedError

    @cached_property
    def _floats(self) -> Floats | None:
        return floats_of(self)

    @cached_property
    def _law_ends(self) -> tuple[list[Fraction], list[Fraction]]:
        """P_Y on the possible outcomes: exact sums, or their enclosures where these are many."""
        if self.joint.rational or len(self.support) * len(self._live) <= _FEW:
            return self._marginal_ends
        low, high = ([Fraction(float(v)) for v in end[self._live]] for end in self._masses)
        return low, high

    def event_leakage(self, columns: np.ndarray) -> Bound:
        """Enclose log max_x P(E|x) / P(E) for an event of outcomes."""
        wanted = set(columns.tolist())
        chosen = [j for j, column in enumerate(self._live.tolist()) if column in wanted]
        if not chosen:
            return self.bound(0.0, 0.0, assumptions=(*self.assumptions, OUTSIDE))
        rows = [self._row_ends(i) for i in range(len(self.support))]
        sums = [
            (max(_total(row[side], chosen) for row in rows), _total(law, chosen))
            for side, law in enumerate(self._law_ends)
        ]
        return self._of_ratio(sums[0][0] / sums[1][1], sums[1][0] / sums[0][1], least=1)

    def event_maximal_leakage(self, delta: Fraction) -> Bound:
        r"""Enclose the largest leakage of an event of probability at least delta, split freely.

        The witness is a secret x and the event: outcomes and their shares, the last one in part.

        Notes
        -----
        By Theorem 3 of the PML paper (Definitions 7 and 11 are equivalent) it is
        :math:`\log \max_x h_x(\delta)`, the supremum over fuzzy events
        :math:`a : \mathcal Y \to [0, 1]` with :math:`P_Y(a) \ge \delta` of
        :math:`K_x(a) / P_Y(a)`: an event of a mechanism that splits outcomes into similar ones is
        a fuzzy event of the mechanism itself, and conversely.

        *Proof that sorting solves it.* Let r(y) = K_x(y) / P_Y(y), sorted downwards, and let
        H(t) be the integral of r over the first t of mass (an outcome may be cut). For any fuzzy
        event with :math:`P_Y(a) = t`, K_x(a) is the integral of r against a function between 0
        and 1 of mass t, hence at most H(t), attained by taking the largest r first. H is concave
        with H(0) = 0, so H(t) / t does not increase: the supremum over t >= delta is at
        t = delta, h_x = H(delta) / delta, and as delta goes to 0 it is the largest r, which is
        epsilon-PML. One sort for each x: O(n m log m).

        *Rounding.* With masses k and q instead of the true K_x <= k and P_Y >= q, a fuzzy event
        cut down to the true mass delta is one of q-mass at most delta, and K_x(a) <= k(a): the
        largest k(a) over those, divided by delta, is an upper end. A lower end is the same with
        K_x >= k and P_Y <= q: filled up to the true mass delta, its event gains at least 0.
        """
        labels, outcome = self.mechanism.secret.labels, self.mechanism.outcome.labels
        if delta == 0:
            found = self.sup("pml")
            witness = dict(found.witness or {})
            return found.about(witness={**witness, "event": [(witness.get("y"), 1.0)]})
        least, most, best, shares = self._largest_share(delta)
        return self._of_ratio(
            least,
            most,
            least=1,
            attained=True,
            witness={
                "x": labels[self.support[best]],
                "event": [(outcome[self._live[j]], float(part)) for j, part in shares],
            },
        )

    def event_ratio(self, delta: Fraction) -> tuple[Fraction, Fraction]:
        """Enclose e^leakage of the worst event of probability delta > 0."""
        return self._largest_share(delta)[:2]

    def _largest_share(self, delta: Fraction) -> tuple[Fraction, Fraction, int, list]:
        """Enclose the largest H_x(delta) / delta, with the secret and the event."""
        chosen, beyond = self._worst_rows(delta)
        rows = {i: self._row_ends(i) for i in chosen}
        least, most = self._law_ends
        low = {i: share(row[0], most, delta) for i, row in rows.items()}
        best = max(rows, key=lambda i: low[i][0])
        high = delta  # of one secret, or of the whole space, whatever is rounded
        if not self._single and delta < 1:
            if self.joint.rational:
                high = low[best][0]
            else:
                tops = (share(row[1], least, delta)[0] for row in rows.values())
                high = min(max(*tops, beyond * delta), Fraction(1))
        below = max(low[best][0] / delta, Fraction(1))
        return below, max(high / delta, below), best, low[best][1]

    def _worst_rows(self, delta: Fraction) -> tuple[list[int], Fraction]:
        """Return the secrets that may have the largest share at a level, and a bound on others.

        Of many that tie in float64 a few are enough: the bound covers the rest to its rounding.
        """
        every = list(range(len(self.support)))
        if self._floats is None or len(every) < 2:
            return every, Fraction(0)
        low, high = np.array([fraction_down(delta)]), np.array([fraction_up(delta)])
        if not low[0] > 0:
            return every, Fraction(0)
        least, most = largest_shares(self._floats, low, high)
        found = np.flatnonzero(most[:, 0] >= least.max())
        found = found[np.argsort(-least[found, 0], kind="stable")]
        few = len(found) if self.joint.rational else _TIES
        rest = max((Fraction(float(v)) for v in most[found[few:], 0]), default=Fraction(0))
        return found[:few].tolist(), rest

    def event_curve(self, levels: list[Fraction]) -> tuple[np.ndarray, np.ndarray]:
        """Enclose event maximal leakage at many levels in (0, 1], in nats.

        Fractions are exact but for the logarithm; floats are summed in float64 (relative widths
        around 1e-14 of e^leakage for a thousand outcomes).
        """
        if self._single:
            return np.zeros(len(levels)), np.zeros(len(levels))
        low = np.array([fraction_down(d) for d in levels])
        high = np.array([fraction_up(d) for d in levels])
        if self.joint.rational or self._floats is None or not low.min(initial=1.0) > 0:
            found = [self.event_maximal_leakage(d) for d in levels]
            return np.array([b.lower for b in found]), np.array([b.upper for b in found])
        least, most = (end.max(axis=0) for end in largest_shares(self._floats, low, high))
        return (
            np.maximum(log_ratio_bounds(scaled(least), ONE).lower, 0.0),
            np.maximum(log_ratio_bounds(scaled(most), ONE).upper, 0.0),
        )

    @property
    def complements(self) -> Complements:
        """The largest e^leakage that an event and its complement both have, enclosed."""
        return self._memo.in_figure("complements", self._complements)

    def _complements(self) -> Complements:
        if self._single:
            return Complements(Fraction(1), Fraction(1), (0, 0), [Fraction(1)] * len(self._live))
        ends = LawEnds(cache(self._row_ends), *self._law_ends, self.joint.rational)
        found = None if self._floats is None else largest(self._floats, ends)
        if found is None:
            # one of the two has probability 1/2 or more
            high = self.event_ratio(Fraction(1, 2))[1]
            return Complements(Fraction(1), high, (0, 0), [Fraction(1)] * len(self._live))
        return found

    def binary_envelope(self, delta: Fraction) -> Bound:
        """Enclose the binary envelope at one level: an event, or an event and its complement."""
        one = self.event_maximal_leakage(delta)
        if 2 * delta <= 1 or self._single:
            return one
        low, high = self.event_ratio(delta)
        both = self.complements
        about: dict[str, Any] = {"witness": one.witness, "attained": True}
        if both.lower > low:
            about["witness"] = self._pair_witness()
        found = self._of_ratio(max(low, both.lower), max(high, both.upper), least=1, **about)
        return self.settled(found)

    def both_halves(self) -> Bound:
        """Enclose the largest leakage that both outcomes of a binary post-processing have."""
        both = self.complements
        found = self._of_ratio(both.lower, both.upper, least=1, witness=self._pair_witness())
        return self.settled(found)

    def binary_envelope_curve(self, levels: list[Fraction]) -> tuple[np.ndarray, np.ndarray, Any]:
        """Enclose the binary envelope at many levels, in nats."""
        low, high = self._binary_envelopes(levels)
        return low, high, self.statuses(low, high)

    def _binary_envelopes(self, levels: list[Fraction]) -> tuple[np.ndarray, np.ndarray]:
        low, high = self.event_curve(levels)
        late = np.array([2 * d > 1 for d in levels], bool)
        if not late.any() or self._single:
            return low, high
        both = self.complements
        ends = logarithm(both.lower)[0], logarithm(both.upper)[1]
        return (
            np.where(late, np.maximum(low, ends[0]), low),
            np.where(late, np.maximum(high, ends[1]), high),
        )

    def psi_2(self, level: Threshold) -> Bound:
        """Enclose the largest excess of a row over e^epsilon times the marginal."""
        from borel.engine.divergences.worst_pairs import worst_against_marginal

        return worst_against_marginal(self, level)

    def _pair_witness(self) -> dict[str, Any]:
        """Return the two secrets and the event of `complements`."""
        found = self.complements
        labels, outcome = self.mechanism.secret.labels, self.mechanism.outcome.labels
        first, second = (labels[self.support[k]] for k in found.pair)
        shares = zip(self._live.tolist(), found.event, strict=True)
        event = [(outcome[j], float(part)) for j, part in shares if part > 0]
        return {"x": first, "x'": second, "event": event}


def logarithm(ratio: Fraction) -> tuple[float, float]:
    """Enclose the logarithm of a ratio >= 1."""
    low, high = log_fraction(ratio)
    return max(low, 0.0), max(high, 0.0)


def _total(values: list[Fraction], chosen: list[int]) -> Fraction:
    return sum((values[j] for j in chosen), Fraction(0))


def leakage_of_event(engine: Any, p: list, lows: list, highs: list) -> Bound:
    r"""Enclose log max_x P(E|x) / P(E) from ends of p(x) and P(E|x), as Fractions.

    For every x the ratio is 1 / (p_x + sum over the others of p_u P(E|u) / P(E|x)): it grows with
    P(E|x) and falls with every other P(E|u).
    """
    if not any(highs):
        return engine.bound(0.0, 0.0, assumptions=(*engine.assumptions, OUTSIDE))
    n = range(len(lows))
    rest = [
        [sum(p[k][u] * P[u] for u in n if u != x) for x in n] for k, P in enumerate((lows, highs))
    ]
    best = [
        [_quotient(own, share * own + others) for own, share, others in ends]
        for ends in (zip(lows, p[1], rest[1], strict=True), zip(highs, p[0], rest[0], strict=True))
    ]
    low, high = (max(Fraction(1), *values) for values in best)
    place = max(n, key=best[0].__getitem__)
    about = {"witness": {"x": _label(engine, place)}}
    top = math.inf if high == math.inf else log_fraction(high)[1]
    return engine.bound(log_fraction(low)[0], top, **about)


def _quotient(of: Fraction, by: Fraction) -> Any:
    """Return a quotient, 0 of 0; infinite where the probability of a secret rounds to 0."""
    return of / by if by else math.inf if of else Fraction(0)


def _label(engine: Any, place: int) -> Any:
    """Return a charged label."""
    prior = engine.given.prior
    charged = np.flatnonzero(np.asarray(prior.probabilities != 0, bool))
    return prior.on.labels[int(charged[place])]
