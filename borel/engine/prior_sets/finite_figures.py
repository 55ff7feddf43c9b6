r"""Figures of a finite mechanism over a set of priors: suprema of PML, PMC, LDP and the rest.

Columns of the kernel are divided by their largest entry, so that no underflow is near: with
v = f(y|.) / max f(y|.), e^PML is 1 / (lower expectation of v), and e^PMC is (upper expectation of
v) / min v. A relative error e of the kernel moves an expectation by the same relative error.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from borel.engine.finite.engine import FiniteEngine
from borel.engine.finite.measures import tail_ratio
from borel.engine.prior_sets.attainment import SecretValues
from borel.engine.prior_sets.capacity import capacity
from borel.engine.prior_sets.engine import DRAWN, SetEngine
from borel.engine.prior_sets.lower_expectations import Least
from borel.engine.prior_sets.worst_outcomes import OutcomeShares
from borel.engine.problem.discretised_pair import spread
from borel.errors import InvalidInput, NotYet
from borel.numerics.intervals.rounding import (
    ONE,
    U,
    log_fraction,
    log_ratio_bounds,
    rounding_of,
    scaled,
)
from borel.probability.arrays import carried
from borel.probability.bound import Bound, Ratio, attained_by_some
from borel.probability.joint import Joint
from borel.probability.measure import Measure, as_measure
from borel.probability.memo import Memo

OUTSIDE = "outside the support of every member: density 0, leakage 0 by convention"
_MEMBERS = 1e-10
"""What the rounding of a member's probabilities may change of its mutual information, at most."""
_SMALLEST = {"pml": Fraction(1, 2**900), "pmc": Fraction(1, 2**50)}
"""The levels of tail leakage that floats tell apart from 0: a share, and 1 without it."""
_ROUGH = Fraction(1, 2**20)
"""Below it floats may tell little of the PMC of the worst outcomes."""
FLOATS = "floats mean the normalised laws within their rounding"


class ColumnSuprema(NamedTuple):
    """The suprema of one leakage over the set, outcome by outcome.

    Attributes
    ----------
    lower, upper : ndarray (m,)
        In nats.
    ratio : ndarray (m,) of Fraction or None
        e^leakage, if everything is rational; infinite where the leakage is.
    prior : ndarray (n, m)
        Priors that attain or approach them.
    """

    lower: np.ndarray
    upper: np.ndarray
    ratio: np.ndarray | None
    prior: np.ndarray


class FiniteSetEngine(SetEngine):
    """Suprema over a set of priors on a finite alphabet, of a mechanism with a matrix.

    Parameters
    ----------
    joint : Joint
        ``prior_set * mech``.
    """

    def __init__(self, joint: Joint):
        self.joint, self.set = joint, joint.prior
        self._memo = Memo()
        mechanism = joint.mechanism
        rows = np.asarray(mechanism.secret.positions(list(self.set.on.labels), "x"))
        self.rational = bool(mechanism.rational)
        self.matrix = mechanism.matrix[rows]
        self.sure, self.possible = self.set.reach
        self.reason = carried(mechanism)
        self.status = "estimate" if self.reason else self.set.status
        self.assumptions: tuple[str, ...] = ()
        if not self.rational:
            self.floats = np.asarray(self.matrix, float)
            self.error = max(mechanism.rounding, U)
            self.assumptions = (FLOATS,)

    def _entries(self, floats: np.ndarray) -> list[np.ndarray]:
        """Return the ends of the entries that floats of the kernel mean."""
        slack = floats * rounding_of(floats, self.error) * 1.0001
        return [np.where(floats > 0, end, 0.0) for end in (floats - slack, floats + slack)]

    # -- columns ------------------------------------------------------------------------------

    def _extremes(self, matrix: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the largest entries on the sure and possible reach, then the smallest ones."""
        empty = np.zeros(matrix.shape[1], matrix.dtype)
        sure, possible = matrix[self.sure], matrix[self.possible]
        top = sure.max(axis=0) if len(sure) else empty
        bottom = sure.min(axis=0) if len(sure) else possible.max(axis=0)
        return top, possible.max(axis=0), bottom, possible.min(axis=0)

    @cached_property
    def dead(self) -> np.ndarray:
        """Outcomes that no member allows."""
        matrix = self.matrix if self.rational else self.floats
        return np.asarray(matrix[self.possible].max(axis=0) == 0, bool)

    def columns(self, kind: str) -> ColumnSuprema:
        """Enclose the suprema of PML, PMC or the LDP ratio at every outcome."""

        def compute() -> ColumnSuprema:
            found = self._exactly(kind) if self.rational else None
            return self._enclosed(kind) if found is None else found

        return self._memo.fact(("columns", kind), compute)

    def _scaled(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the columns divided by their largest entry, in float64, and their errors."""
        matrix = self.matrix if self.rational else self.floats
        top = matrix[self.possible].max(axis=0)
        safe = np.where(np.asarray(top == 0, bool), 1, top)
        if self.rational:
            charged = np.where(self.possible[:, None], matrix, 0)  # the others are no part of it
            v = (charged / safe).astype(float)
            if ((v == 0) & np.asarray(charged > 0, bool)).any():
                raise InvalidInput(
                    "prior_set * mech",
                    expected="entries that float64 can hold, or a set given in Fractions",
                    got="a Fraction below 5e-324 beside floats",
                    mend="give the set in Fractions too.",
                )
            return np.where(self.possible[:, None], v, 1.0), np.full(len(top), 2 * U)
        own = rounding_of(matrix, self.error).max(axis=0, initial=0.0, where=matrix > 0)
        v = matrix / safe  # the largest entry is at most 1: no quotient underflows
        # entry and largest entry are each within `own`: |change of log v| <= 2 atanh(own)
        return np.where(self.possible[:, None], v, 1.0), 2.0001 * own / (1 - own) + 2 * U

    def _enclosed(self, kind: str) -> ColumnSuprema:
        v, error = self._scaled()
        _, _, sure_bottom, bottom = self._extremes(v)
        sure_top = v[self.sure].max(axis=0) if self.sure.any() else np.zeros(v.shape[1])
        tiny = np.full(v.shape[1], 5e-324)
        with np.errstate(over="ignore"):  # where a denominator may be 0 the end is infinite below
            return self._of(kind, v, error, bottom, sure_bottom, sure_top, tiny)

    def _of(self, kind, v, error, bottom, sure_bottom, sure_top, tiny) -> ColumnSuprema:
        if kind == "ldp":
            least = Least(bottom, sure_bottom, np.zeros_like(v))
            low = sure_top / np.maximum(sure_bottom, tiny), 1 / np.maximum(bottom, tiny)
            ends = _logs(low[0], low[1], 2 * error + 4 * U)
            infinite, prior = (sure_bottom == 0) & (sure_top > 0), least.prior
            open_ = bottom == 0
        elif kind == "pml":
            least = self.set.least(v)
            low = np.where(self.sure.any(), sure_top, 0.0) / np.maximum(least.upper, tiny)
            high = 1 / np.maximum(least.lower, tiny)
            ends = _logs(low, high, error + 4 * U)
            infinite, prior = (least.upper <= 0) & (sure_top > 0), least.prior
            open_ = least.lower <= 0
        else:
            least = self.set.least(-v)
            low = np.maximum(-least.upper, 0.0) / np.maximum(sure_bottom, tiny)
            high = np.minimum(-least.lower, 1.0) / np.maximum(bottom, tiny)
            ends = _logs(low, high, 2 * error + 4 * U)
            infinite, prior = (sure_bottom == 0) & (-least.upper > 0), least.prior
            open_ = bottom == 0
        low, high = np.maximum(ends[0], 0.0), np.maximum(ends[1], 0.0)
        high = np.where(open_, np.inf, high)
        low = np.where(infinite, np.inf, low)
        low, high = np.where(self.dead, 0.0, low), np.where(self.dead, 0.0, high)
        return ColumnSuprema(low, np.maximum(high, low), None, prior)

    def _exactly(self, kind: str) -> ColumnSuprema | None:
        if not (self.sure == self.possible).all():
            return None
        matrix = self.matrix
        top, bottom = matrix[self.sure].max(axis=0), matrix[self.sure].min(axis=0)
        if kind == "ldp":
            num, den, priors = top, bottom, np.zeros(matrix.shape)
        else:
            # a secret that no member charges has no say: its value is out of the way
            away = np.where(self.sure[:, None], matrix, top if kind == "pml" else bottom)
            found = self.set.least_exactly(away if kind == "pml" else -away)
            if found is None:
                return None
            num, den = (top, found[0]) if kind == "pml" else (-found[0], bottom)
            priors = found[1]
        m = matrix.shape[1]
        ratio, ends = np.empty(m, dtype=object), np.zeros((2, m))
        for j in range(m):
            if self.dead[j]:
                ratio[j] = Fraction(1)
            elif den[j] == 0:
                ratio[j], ends[:, j] = math.inf, math.inf
            else:
                ratio[j] = Fraction(num[j]) / den[j]
                ends[:, j] = log_fraction(ratio[j])
        return ColumnSuprema(ends[0], ends[1], ratio, priors)

    # -- figures ------------------------------------------------------------------------------

    def at(self, kind: str, y: Any) -> Bound:
        """Enclose the supremum over the set at one outcome."""
        column = int(self.joint.outcome.positions(y))
        return self._bound(kind, column)

    def curve(self, kind: str, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return lower ends, upper ends and the status at many outcomes."""
        chosen = np.asarray(self.joint.outcome.positions(y))
        found = self.columns(kind)
        low, high = found.lower[chosen], found.upper[chosen]
        sure = self.set.confidence is not None and self.status != "estimate"
        status = "statistical" if sure else self._status(found)
        known = sure | np.isfinite(high) | np.isinf(low)  # undecided would state no confidence
        return low, high, np.where(known, status, "undecided")

    def _status(self, found: ColumnSuprema) -> str:
        """Return the status of suprema: exact if they are rational, whatever the set."""
        known = found.ratio is not None and self.status == self.set.status
        return self.set.exactly if known else self.status

    def sup(self, kind: str) -> Bound:
        """Enclose the supremum over the set and over all outcomes."""
        found = self.columns(kind)
        ratio, low = found.ratio, found.lower.max()
        if ratio is not None:
            best = max(range(len(ratio)), key=lambda j: ratio[j])
            rivals = [j for j in range(len(ratio)) if ratio[j] == ratio[best]]
        else:
            best = int(np.argmax(found.lower))
            rivals = np.flatnonzero(found.upper >= low).tolist()
        tied = ratio is not None or low == math.inf or len(rivals) == 1
        known: list[bool | None] = []
        for column in rivals if kind != "ldp" else ():
            known.append(self._attained(kind, column))
            if known[-1] is (True if tied else None):  # which settles it
                best = column if tied else best
                break
        attained = attained_by_some(known, tied) if known else None
        return self._bound(kind, best, (low, found.upper.max()), attained)

    def _bound(
        self, kind: str, column: int, ends: Any = None, attained: bool | None = None
    ) -> Bound:
        found = self.columns(kind)
        low, high = (found.lower[column], found.upper[column]) if ends is None else ends
        about: dict[str, Any] = {"assumptions": self.assumptions}
        if self.dead[column]:
            about["assumptions"] += (OUTSIDE,)
        elif kind != "ldp":
            known = self._attained(kind, column) if ends is None else attained
            about |= {"witness": self._worst(kind, column), "attained": known}
        if found.ratio is not None and math.isfinite(high):
            about["exact_ratio"] = Ratio(found.ratio[column], found.ratio[column])
        about["status"] = self._status(found)
        return self.make(float(low), float(high), **about)

    def make(self, low: float, high: float, status: str = "", **about: Any) -> Bound:
        """Make a Bound with the status of the set and of the mechanism, unless it is another."""
        if math.isinf(high) and not math.isinf(low):
            about.pop("exact_ratio", None)
            notes = (*self.set.assumptions, *about.pop("assumptions", ()))
            if self.status == "estimate":  # what float64 alone knows bounds nothing
                return Bound.undecided(reason=self.reason or notes[0], assumptions=notes, **about)
            if self.set.confidence is not None:
                return Bound.statistical(
                    low,
                    high,
                    confidence=self.set.confidence,
                    truth_ends=("upper",),
                    assumptions=notes,
                    **about,
                )
            return Bound.undecided(
                low,
                high,
                reason="the lower expectation of the kernel may be 0: float64 does not resolve it",
                assumptions=notes,
                **about,
            )
        if self.status == "estimate":
            about["reason"] = self.reason or self.set.assumptions[0]
            about.pop("exact_ratio", None)
            if math.isinf(high):
                return Bound.undecided(**about)
        return self.set.bound(low, high, status=status or self.status, **about)

    def _worst(self, kind: str, column: int) -> dict[str, Any]:
        """Return the worst prior, and the secret that it tells most about."""
        found, labels = self.columns(kind), self.set.on.labels
        values = (self.matrix if self.rational else self.floats)[:, column]
        rows = np.flatnonzero(self.sure if self.sure.any() else self.possible)
        sign = 1 if kind == "pml" else -1
        # of secrets that it tells as much about, one that it charges
        row = max(rows, key=lambda k: (sign * values[k], found.prior[k, column] > 0))
        outcome = self.joint.outcome.labels[column]
        prior = as_measure(found.prior[:, column], self.set.on, f"the worst prior at {outcome!r}")
        return {"y": outcome, "x": labels[row], "prior": prior}

    def _attained(self, kind: str, column: int) -> bool | None:
        """Return whether the supremum at an outcome is attained; None if it is not known."""
        if not (self.sure == self.possible).all() or self.dead[column]:
            return None
        if kind == "pmc" and self.columns(kind).lower[column] == math.inf:
            # by a member that charges an x with f(y|x) = 0, mixed with one that allows y
            return True if self.set.convex else None
        entries = self.matrix[:, column]
        low, high = (entries, entries) if self.rational else self._entries(self.floats[:, column])
        ends = (low, high) if kind == "pml" else (-high, -low)
        return self.set.attains(SecretValues(*ends, self.sure))

    def ldp(self) -> Bound:
        """Enclose the LDP level on the union of the supports.

        Where every secret was drawn the true prior charges all of them, and it is that of the
        mechanism. Of a secret that was not, the true prior may know nothing.
        """
        if self.set.confidence is not None and self.set.all_drawn and self.sure.all():
            found = FiniteSetEngine(Joint(self.set.all_priors(), self.joint.mechanism)).ldp()
            return found.about(assumptions=(*found.assumptions, DRAWN))
        return self.sup("ldp")

    def mutual_information(self) -> Bound:
        """Enclose the largest mutual information over the members."""
        if not self.set.convex or not self.sure.any():
            raise NotYet(
                "bl.mutual_information over a set of priors",
                missing="sets that are not convex",
                instead="convex sets, or one prior at a time.",
            )
        error = 2.0**-52 if self.rational else float(self.error)
        found = capacity(self.set, np.asarray(self.matrix, float), error)
        prior = as_measure(
            found.prior, self.set.on, "the prior of the largest mutual information found"
        )
        lower = 0.0
        if found.inside:
            of_member = FiniteEngine(Joint(prior, self.joint.mechanism)).mutual_information()
            lower = max(of_member.lower - _MEMBERS, 0.0)
        return self.make(
            lower,
            max(found.upper, lower),
            status="certified" if self.status == "exact" else self.status,
            assumptions=self.assumptions,
            witness={"prior": prior},
        )

    def tail_leakage(self, kind: str, delta: Fraction) -> Bound:
        r"""Enclose the largest tail leakage of the members; in a hull it is at the corners.

        Notes
        -----
        With T the largest entry of each column over *all* secrets that some member charges,
        :math:`\delta V(P) = \min_c \{c \delta + \sum_y (T(y) - c P_Y(y))_+\}` for members that
        charge all of them; a jointly convex function of c P, so that V is quasi-convex, and
        continuous up to the corners. There outcomes of probability 0 may have T > 0. For PMC
        likewise, with the smallest entries (docs/tail_leakage.md, Theorem 7).
        """
        if not self.set.corners:
            return self._tail_by_shares(kind, delta)
        matrix = self.matrix if self.rational else self.floats
        top, _, bottom, _ = self._extremes(matrix)
        entries = top if kind == "pml" else bottom
        ends: Any = (entries.tolist(),) * 2
        if not self.rational:
            ends = spread(entries, rounding_of(entries, self.error))
        found = []
        for corner in self.set.corners:
            of_corner = FiniteEngine(Joint(corner, self.joint.mechanism))
            law = np.full((2, matrix.shape[1]), Fraction(0), dtype=object)
            law[:, of_corner._live] = of_corner._law_ends
            least, most = law.tolist()
            found.append(tail_ratio(kind, ends, (least, most), delta)[:2])
        k = max(range(len(found)), key=lambda k: found[k][0])
        low, high = max(found[k][0], 1), max(1, *(end for _, end in found))
        corner = self.set.corners[k]
        about: dict[str, Any] = {"assumptions": self.assumptions, "witness": {"prior": corner}}
        if low == high:
            about |= {"exact_ratio": Ratio(low, high), "status": self.set.exactly}
        if np.array_equal(np.asarray(corner.at(self.set.on) != 0, bool), self.sure):
            about["attained"] = True
        logs = (log_fraction(Fraction(v)) if v < math.inf else (math.inf,) * 2 for v in (low, high))
        (least, _), (_, most) = logs
        return self.make(least, most, **about)

    def _tail_by_shares(self, kind: str, delta: Fraction) -> Bound:
        r"""Enclose it by the shares of the outcomes (`worst_outcomes`), for any set.

        Notes
        -----
        With M of the largest entries, :math:`\delta V` is at most :math:`M(\delta)`; and equal to
        it where members charge all secrets that some do, or mixtures do that are members. For PMC
        what is left counts: with the smallest entries, :math:`\delta U` is
        :math:`\sum I - M(1 - \delta)`. Tail leakage does not rise with delta: where floats tell
        too little of a small one, a larger one bounds it from below, the supremum from above.
        """
        level = max(delta, _SMALLEST[kind])
        low, high, prior = self._by_shares(kind, level)
        high = high if level == delta else math.inf
        if kind == "pmc" and delta < _ROUGH:
            low = max(low, self._by_shares(kind, _ROUGH)[0])
        low = max(low, 1.0) if self.charge_together and self.sure.any() else 1.0
        high = max(high, low)
        least = math.log(low) * (1 - 2.0**-50)
        most = math.log(high) * (1 + 2.0**-50) if math.isfinite(high) else math.inf
        ceiling = self.sup(kind)
        if ceiling.proved or ceiling.status == "statistical":
            most = max(least, min(most, ceiling.upper))
        return self.make(
            least,
            most,
            status="certified" if self.status == "exact" else self.status,
            assumptions=self.assumptions,
            witness={"prior": as_measure(prior, self.set.on, "a prior of a large tail leakage")},
        )

    def _by_shares(self, kind: str, delta: Fraction) -> tuple[float, float, np.ndarray]:
        """Enclose V, or 1/U, for a delta that is a normal float; also return a prior near it."""
        matrix = np.asarray(self.matrix, float)
        if self.rational and ((matrix == 0) != np.asarray(self.matrix == 0, bool)).any():
            raise self.not_yet("tail_leakage")
        error = U if self.rational else float(np.max(rounding_of(matrix, self.error), initial=U))
        sure, top, sure_bottom, bottom = self._extremes(matrix)
        ends = (sure, top) if kind == "pml" else (bottom, sure_bottom)
        up, down = 1 + 4 * error, 1 - 4 * error
        low_, high_ = ends[0] * down, ends[1] * up
        # the doubt of delta as a float
        share = delta if kind == "pml" else 1 - delta
        search = OutcomeShares(self.set, matrix, error)
        if kind == "pml":
            low, high, prior = search.largest(low_, high_, float(share))
            return low / float(delta) * (1 - 4 * U), high / float(delta) * (1 + 4 * U), prior
        # M rises with its numbers, and what is left with them too
        _, most, prior = search.largest(low_, low_, float(share) * (1 + 2 * U))
        least, _, _ = search.largest(high_, high_, float(share) * (1 - 2 * U))
        slack = 64 * len(low_) * U
        left = (math.fsum(low_) - most - slack) / float(delta) * (1 - 4 * U)
        more = (math.fsum(high_) - least + slack) / float(delta) * (1 + 4 * U)
        return 1 / more, 1 / left if left > 0 else math.inf, prior

    def maximal_leakage(self) -> Bound:
        """Enclose maximal leakage under a prior that charges the union of the supports."""
        if not (self.sure == self.possible).all():
            raise NotYet("bl.maximal_leakage", missing="the supports of this set of priors")
        p = [Fraction(int(k), int(self.sure.sum())) for k in self.sure]
        values = np.array(p, dtype=object)
        joint = Joint(Measure(values, self.set.on, _check=False), self.joint.mechanism)
        found = FiniteEngine(joint).maximal_leakage()
        return self.make(
            found.lower,
            found.upper,
            assumptions=found.assumptions,
            exact_ratio=found.exact_ratio,
        )


def _logs(low: np.ndarray, high: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Enclose the logarithms of ratios that were rounded once, with a relative error."""
    with np.errstate(divide="ignore", over="ignore"):
        top = np.where(np.isfinite(high) & (high > 0), high, 1.0)
        base = np.where(low > 0, np.minimum(low, np.finfo(float).max), 1.0)
        first = log_ratio_bounds(scaled(base, error), ONE).lower
        second = log_ratio_bounds(scaled(top, error), ONE).upper
    return np.where(low > 0, first, 0.0), np.where(np.isfinite(high), second, np.inf)
