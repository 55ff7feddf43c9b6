"""Certified suprema and laws over continuous outcomes: bands of outcomes, refined where needed."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.continuous.endpoint_means import EndMeans
from borel.engine.continuous.engine import CertifiedEngine, covering
from borel.engine.continuous.event_figures import figure, of_event
from borel.engine.continuous.function_means import FunctionMean
from borel.engine.continuous.outcome_partition import Partition
from borel.engine.finite.law_engine import OUTSIDE
from borel.engine.kernels.continuity import continuous_at
from borel.engine.kernels.leakage_on_boxes import Bands
from borel.engine.kernels.marginal_on_boxes import Marginal
from borel.engine.kernels.means_far_out import FarMeans
from borel.engine.kernels.outcome_regions import Regions
from borel.engine.kernels.rows import Rows
from borel.engine.kernels.settling_counts import settling
from borel.engine.kernels.tail_entropy import FarEntropy
from borel.engine.problem import reduced_joint
from borel.engine.problem.kernel_normalisation import power_total
from borel.engine.problem.refinement import refine
from borel.errors import BudgetSpent, NotEnclosed, NotYet
from borel.numerics.balls.arithmetic import ball, log_ends, precision
from borel.numerics.graphs.graph import GraphBuilder
from borel.numerics.graphs.powers import float64_of
from borel.numerics.intervals.rounding import fraction_down, fraction_up
from borel.probability.alphabets import Interval, Mixed
from borel.probability.bound import Bound
from borel.probability.countable_law import Values, check_level
from borel.probability.generators import NAMED
from borel.probability.tail_means import absorbing_level

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.engine.problem.thresholds import Threshold
    from borel.numerics.graphs.graph import Graph
    from borel.probability.generators import Generator
    from borel.probability.joint import Joint
    from borel.probability.real_functions import RealFunction

_OPEN = (
    "no bound from above was found within the budget, nor a proof that it is infinite; "
    'options(engine="estimate") gives a value that proves nothing'
)
_FAR_OUT = "the leakage is not bounded over the outcomes, and nothing bounds its function there"
_IMPOSSIBLE = (
    "the probability of the pairs whose secret makes the outcome impossible is not enclosed"
)
_ROOM = 0.01
_SPACE = 0.05
_ROUGH = 1e-7


class CertifiedOutcomes(CertifiedEngine):
    """Figures of a joint whose outcome has a density, and perhaps atoms."""

    def __init__(self, joint: Joint, **about: Any):
        super().__init__(joint, **about)
        outcome = joint.outcome
        line = outcome.interval if isinstance(outcome, Mixed) else outcome
        if not isinstance(line, Interval):
            raise NotEnclosed(f"certified figures for outcomes on {outcome!r} are not there")
        self.line = line
        self.atoms = np.array(outcome.atoms if isinstance(outcome, Mixed) else (), float)
        known = self.joint.mechanism.closed_forms.log_marginal(self.joint)
        self.theorem = () if known is None else (known[1],)
        self.log_marginal_graph = self._constant() if known is None else known[0]
        self.bands = Bands(Marginal(self.surface, self.log_marginal_graph))
        spread = self.surface.spread
        far = None if spread is None else Marginal(spread, self.log_marginal_graph)
        self.far_bands = None if far is None else Bands(far)

    @cached_property
    def near_zero(self) -> tuple[Bands, int] | None:
        """What the leakage of outcomes near 0 is of, where the kernel is singular; of a root."""
        found = self.surface.near_zero
        return None if found is None else (Bands(Marginal(found[0])), found[1])

    def _constant(self) -> Graph | None:
        """Return log f_Y where that is one number: for copula densities and a uniform prior."""
        prior, density = self.joint.prior, self.joint.mechanism.density
        if density is None or self.joint.mechanism.masses:
            return None
        if (prior.family or ("",))[0] != "uniform" or prior.on != density.alphabets["x"]:
            return None
        if (total := power_total(density, "x")) is None:
            return None
        value, b = total / Fraction(self.secret.upper[0]), GraphBuilder()
        if value <= 0 or max(value.numerator, value.denominator).bit_length() > 1000:
            return None
        above = float(value.numerator)
        rest, below = value.numerator - Fraction(above), float64_of(Fraction(value.denominator))
        if below is None or (rest := float64_of(rest)) is None:
            return None
        whole = b.add("add", b.constant(above), b.constant(rest))
        return b.graph(b.add("log", b.add("divide", whole, b.constant(below))), ("y",))

    @cached_property
    def regions(self) -> Regions:
        """What outcomes tell of a finite secret, in float64."""
        return Regions(Rows(self))

    @cached_property
    def far_means(self) -> list[FarMeans]:
        """Bounds for outcomes far out, of means of a leakage that is not bounded there."""
        if self.secret.rest:  # those of all numbers between the ones that counts lead to
            found = settling(self.surface)
            return [] if found is None else [FarMeans(found.surface)]
        forms = [bands.cover for bands in (self.bands, self.far_bands) if bands is not None]
        return [FarMeans(form, self.log_marginal_graph) for form in forms]

    @cached_property
    def far_entropy(self) -> FarEntropy:
        """Bounds of the mean of PML over outcomes far out, by their mass."""
        return FarEntropy(self)

    @cached_property
    def over_one(self) -> CertifiedOutcomes | None:
        """The engine of the one number that the kernel reads of several secrets, if it reads one.

        It has all of its values, and perhaps a few more. What it knows of the kernel holds; its
        prior is no more than that: f_Y is another one.
        """
        found = self.bands.summary
        if found is None:
            return None
        return self._same_of(reduced_joint.on_a_number(self.joint, found.graph, found.cover.secret))

    def head(self, little: float) -> tuple[CertifiedOutcomes, float] | None:
        """Return the engine of the likeliest secrets, and the mass of the others, if small."""
        found = reduced_joint.on_head(self.joint, self.secret, little)
        return None if found is None else (self._same_of(found[0]), found[1])

    @cached_property
    def end_means(self) -> EndMeans:
        """Bounds for outcomes beside an end of their alphabet, where the kernel is singular."""
        return EndMeans(self)

    def bound(self, low: float, high: float, **about: Any) -> Bound:
        """Make a Bound; figures over outcomes also rest on the theorem for f_Y, if one is used."""
        about = {"assumptions": (*self.assumptions, *self.theorem), **about}
        if math.isinf(high) and not math.isinf(low):
            return Bound.undecided(low, high, reason=_OPEN, **about)
        return super().bound(low, high, **about)

    # -- at outcomes ------------------------------------------------------------------------

    @covering
    def at(self, kind: str, y: Any) -> Bound:
        """Enclose the leakage at one outcome."""
        ys = np.atleast_1d(np.asarray(y, float))
        (low, high), dead = self.enclosed(kind, ys)
        notes = self.assumptions + ((OUTSIDE,) if dead[0] else ())
        if math.isinf(high[0]) and float(ys[0]) not in self.at_atoms:
            found = self.infinite_at(kind, float(ys[0]))
            if found is not None:
                return found
        return self.bound(float(low[0]), float(high[0]), assumptions=notes)

    def _statuses(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return the status of each of some enclosures that are widened by the slack."""
        found = self.statuses(lower, upper)
        return np.where(found == self.status, self.status_covering, found)

    def curve(self, kind: str, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return lower ends, upper ends and the status at many outcomes."""
        (low, high), _ = self.enclosed(kind, np.atleast_1d(np.asarray(y, float)).ravel())
        return low, high, self._statuses(low, high)

    # -- over outcomes ----------------------------------------------------------------------

    def _aim(self) -> float:
        """Return at which width a figure over outcomes is good enough: less cannot be had."""
        return settings.current().tol + 16 * self.slack

    def partition(self, kind: str) -> Partition:
        """Return the bands of outcomes of a leakage, cut by one figure."""
        return self._memo.in_figure(("partition", kind), lambda: Partition(self, kind))

    @covering
    def sup(self, kind: str) -> Bound:
        """Enclose the essential supremum over the outcomes, or prove that it is infinite."""
        from borel.engine.infinite.proofs import prove

        deadline, tol = self.deadline(), self._aim()
        part, turns, asked = self.partition(kind), count(), 0
        proved: Bound | None = None

        def enclose() -> tuple[float, float]:
            best = max(part.lower.max(initial=0.0), part.at_atoms.lower.max(initial=0.0))
            high = max(part.upper.max(initial=0.0), part.at_atoms.upper.max(initial=0.0), best)
            return best, high

        def cut(best: float, high: float) -> bool:
            nonlocal asked, proved
            turn = next(turns)
            if math.isinf(high) and (turn == 1 or (turn >= 4 and asked < 2)):
                asked = turn
                proved = self.infinite_bound(prove(self, kind, part.open_ends()))
                if proved is not None:
                    return False
            if turn >= 12 and math.isinf(high) and part.stuck():
                return False
            return part.split(part.upper > best + (1 - 2 * _ROOM) * tol, deadline)

        narrow = lambda best, high: high <= best + (1 - 2 * _ROOM) * tol  # noqa: E731
        best, high = refine(enclose, cut, settled=narrow, until=deadline, rounds=60)
        if proved is not None:
            return proved
        if math.isinf(best):
            found = self.infinite_bound(prove(self, kind, part.open_ends()))
            return found or self.bound(math.inf, math.inf, attained=True)
        if math.isinf(high) and not asked:  # the first bands took all of the time
            proved = self.infinite_bound(prove(self, kind, part.open_ends()))
            if proved is not None:
                return proved
        witness = part.witness()
        if continuous_at(self, witness["y"]):  # figures close by are as large as the one there
            there = float(self.enclosed(kind, np.array([witness["y"]]))[0][0][0])
            best = min(max(best, there), high)
        return self.bound(float(best), float(high), witness=witness)

    @covering
    def ldp(self) -> Bound:
        """Enclose the local differential privacy level on the support of the prior."""
        return self.sup("ldp")

    @covering
    def maximal_cost_leakage(self) -> Bound:
        """Enclose -log of the integral of ess inf_x f(y|x)."""
        from borel.engine.continuous.maximal_cost_leakage import maximal_cost_leakage

        found = maximal_cost_leakage(self)
        if not self.slack:
            return found
        return found.within(max(found.lower - self.slack, 0.0), found.upper + self.slack)

    def mutual_information(self) -> Bound:
        """Enclose, or estimate, the f-information of t log t."""
        return self.f_information(NAMED["kl"])

    def f_information(self, f: Generator) -> Bound:
        """Enclose the f-information of a finite secret; else estimate it, if that is allowed."""
        from borel.engine.continuous.f_information import f_information

        try:
            low, high = f_information(self, f)
            if high - low > 1e-3 * max(1.0, high) and self.may_estimate:
                with suppress(BudgetSpent):
                    return self.estimates.f_information(f)
            return self.bound(low, high, units=f.units)
        except NotEnclosed as error:
            if f is NAMED["kl"] and (found := self._information_of_density()) is not None:
                return found
            if self.may_estimate:
                return self.estimates.f_information(f)
            raise NotYet("bl.f_information", missing=f"a proof: {error}") from None

    def _information_of_density(self) -> Bound | None:
        """Enclose the mutual information of a secret with a density; None where that is wide.

        What is wide is returned where no estimate may stand in.
        """
        from borel.engine.continuous.information_mean import mutual_information

        found = None
        with suppress(NotEnclosed, BudgetSpent), settings.part(2):  # the rest is for what follows
            low, high = mutual_information(self, self._aim())
            found = self.bound(low, high) if high < math.inf else None
            if self.good_enough(low, high):
                return found
        more = self.enclosed_information()
        if found is None or self.may_estimate:
            return more
        return found if more is None or found.width <= more.width else more

    @covering
    def density_tail(self, under: str, t: Any, ratio: Any, closed: bool) -> Bound:
        """Enclose P{i > t}, or P{i >= t} if closed, for a finite secret."""
        if ratio is None and math.isinf(t):
            if t > 0 or under == "joint" or closed:  # i is finite almost surely under P_XY
                sure = float(t < 0)
                return self.bound(sure, sure, units="probability")
            return Bound.undecided(0.0, 1.0, reason=_IMPOSSIBLE, units="probability")
        from borel.engine.continuous.density_law import DensityTail

        with precision(256):
            level = ball(t) if ratio is None else ball(ratio).log()
        try:
            rows = DensityTail(self)
            if len(rows.points) == 1:  # then i is 0
                at = t if ratio is None else ratio - 1
                sure = float(at < 0 or (closed and at == 0))
                return self.bound(sure, sure, units="probability")
            found = rows.tail(under, level)
        except NotEnclosed as error:
            raise NotYet("bl.information_density", missing=f"a proof: {error}") from None
        return self.bound(*found, units="probability")

    @covering
    def density_quantile(self, under: str, s: Any, side: str) -> Bound:
        """Enclose the quantile of i at level s, for a finite secret."""
        from borel.engine.continuous.density_law import DensityTail

        check_level(s, side)
        if s == 1:  # where i is large both laws have mass: its essential supremum is that of PML
            return self.sup("pml")
        try:
            found = DensityTail(self).quantile(under, Fraction(s), side)
        except NotEnclosed as error:
            raise NotYet("bl.information_density", missing=f"a proof: {error}") from None
        return self.signed_bound(*found)

    @covering
    def density_expectation(self, under: str, h: RealFunction) -> Bound:
        """Enclose the mean of h(i), for a finite secret."""
        from borel.engine.continuous.density_means import DensityMean

        try:
            found = DensityMean(self, under, h).enclose()
        except NotEnclosed as error:
            raise NotYet("bl.information_density", missing=f"a proof: {error}") from None
        return self.signed_bound(*found, units="number")

    def psi_1(self, level: Threshold) -> Bound:
        """Enclose the mean penalty of outcomes whose leakage exceeds a level."""
        return figure(self, "psi_1", level)

    def psi_2(self, level: Threshold) -> Bound:
        """Enclose the largest excess of a row over a multiple of the marginal."""
        return figure(self, "psi_2", level)

    def event_maximal_leakage(self, delta: Fraction) -> Bound:
        """Enclose the largest leakage of an event of a probability."""
        return figure(self, "event_maximal_leakage", delta)

    def event_leakage(self, columns: Any) -> Bound:
        """Enclose the leakage of an event of outcomes."""
        return of_event(self, columns)

    def binary_envelope(self, delta: Fraction) -> Bound:
        """Enclose the binary envelope at a level."""
        return figure(self, "binary_envelope", delta)

    def both_halves(self) -> Bound:
        """Enclose the largest leakage that an event and its complement both have."""
        return figure(self, "both_halves")

    def _whole(self, kind: str) -> Values:
        return self.partition(kind).values()

    @covering
    def tail(self, kind: str, t: Any, closed: bool) -> Bound:
        """Enclose P{leakage > t}, or P{leakage >= t} if closed."""
        if float(t) != t:  # what lies between two floats, P{leakage >= the upper} to P{> the lower}
            low = self.tails(kind, [fraction_up(t)], closed=True)[0][0]
            high = self.tails(kind, [fraction_down(t)], closed=False)[1][0]
            return self.bound(low, high, units="probability")
        low, high, _ = (values[0] for values in self.tails(kind, [float(t)], closed=closed))
        return self.bound(low, high, units="probability")

    def tails(self, kind: str, ts: Any, closed: bool) -> tuple[np.ndarray, ...]:
        """Return lower ends, upper ends and the status of the tail at many levels."""
        deadline, tol = self.deadline(), self._aim()
        part, ts = self.partition(kind), np.asarray(ts, float)

        def enclose() -> tuple[np.ndarray, np.ndarray]:
            values = part.values()
            now = np.array([values.tail(t, closed=closed) for t in ts])
            return now[:, 0], now[:, 1]

        def cut(low: np.ndarray, high: np.ndarray) -> bool:
            open_ = np.sort(ts[high - low > tol])
            across = open_.searchsorted(part.lower) < open_.searchsorted(part.upper, "right")
            return part.sharpen(across, tol, deadline)

        low, high = refine(
            enclose,
            cut,
            settled=lambda low, high: not (high - low > tol).any(),
            until=deadline,
            rounds=200,
            ends=(np.zeros(len(ts)), np.ones(len(ts))),
        )
        return low, high, self._statuses(low, high)

    @covering
    def quantile(self, kind: str, s: Any, side: str) -> Bound:
        """Enclose the quantile of the leakage at level s."""
        check_level(s, side)
        if s == 1:
            return self.sup(kind)
        deadline, tol = self.deadline(), self._aim()
        part = self.partition(kind)

        def cut(low: float, high: float) -> bool:
            # a tie within the tolerance is as good as decided
            with np.errstate(invalid="ignore"):
                wide_ = part.upper - part.lower > tol / 4
            open_ = (part.lower < high) & (part.upper > low) & wide_
            return part.sharpen(open_, 0.1 * tol, deadline)

        low, high = refine(
            lambda: part.values().quantile(s, side=side),
            cut,
            settled=lambda low, high: math.isinf(low) or high - low <= tol,
            until=deadline,
            rounds=200,
        )
        infinite = self.infinite_bound(part.infinite) if math.isinf(low) else None
        return infinite or self.bound(low, high)

    def _refined_mean(
        self, part: Partition, what: str, known: Callable[[], tuple[Any, np.ndarray]]
    ) -> tuple[float, float] | Bound:
        """Enclose a mean over the outcomes by bands, cut where it is loose, or prove it infinite.

        Parameters
        ----------
        part : Partition
            The bands.
        what : {"mean", "exp", "inverse"}
            Of what: the leakage, e^leakage, or e^-leakage. The others than "mean" are to be known
            to a relative width.
        known : callable
            Returns the ends, and what each band leaves open.
        """
        deadline, tol, turns, gaps = self.deadline(), self._aim(), count(), np.zeros(0)
        proof: Bound | None = None

        def scale(low: float) -> float:
            return {"mean": 1.0, "exp": max(1.0, low), "inverse": low}[what]

        def enclose() -> tuple[float, float]:
            nonlocal gaps
            ends, gaps = known()
            return ends

        def settled(low: float, high: float) -> bool:
            nonlocal proof
            turn = next(turns)
            if math.isinf(high):
                if turn in (2, 8) or math.isinf(low):
                    proof = self._divergence(part.kind, what, part)
                with np.errstate(over="ignore"):
                    known = float(gaps[np.isfinite(gaps)].sum())
                # unbounded far out: more bands do not change that
                far_out = turn > 8 and known <= 1e-4 * max(1.0, low)
                return proof is not None or far_out
            return high - low <= (1 - 2 * _SPACE) * tol * scale(low)

        def cut(low: float, high: float) -> bool:
            worst = float(gaps[np.isfinite(gaps)].max(initial=0.0))
            limit = max(1e-3 * worst, 0.1 * tol * min(scale(low), 1.0) / len(gaps))
            return part.split((gaps >= limit) & (gaps > 0), deadline)

        ends = refine(enclose, cut, settled=settled, until=deadline, rounds=200)
        return ends if proof is None else proof

    @cached_property
    def finer(self) -> CertifiedOutcomes | None:
        """The engine that looks at more counts, where a number that they lead to settles slowly."""
        found = settling(self.surface) if self.secret.rest and not self.many else None
        return self._same_of(self.given, many=True) if found is not None and found.slowly else None

    def _expectation(self, kind: str, what: str, units: str) -> Bound:
        if kind == "pml" and self.finer is not None:
            return self.finer._expectation(kind, what, units)
        part = self.partition(kind)
        found = self._refined_mean(part, what, lambda: part.expectation(what))
        if isinstance(found, Bound):
            return found.about(units=units)
        return self.bound(*found, units=units)

    def absorbing_level(self, delta: Fraction) -> float:
        """Bound the level at which outcomes of PML absorb others up to a mass, from below."""
        deadline, part = self.deadline(), self.partition("pml")

        def cut(low: float, high: float) -> bool:
            across = (part.upper > math.log(low)) & (part.lower < math.log(high))
            return part.sharpen(across, _ROUGH, deadline)

        return refine(
            lambda: absorbing_level(part.banded(), delta),
            cut,
            settled=lambda low, high: math.isinf(high) or high - low <= _ROUGH * low,
            until=deadline,
            rounds=40,
            ends=(1.0, math.inf),
        )[0]

    @covering
    def tail_leakage(self, kind: str, delta: Fraction) -> Bound:
        """Enclose log of the mean of e^PML, or -log of that of e^-PMC, over the worst delta."""
        part, what = self.partition(kind), "exp" if kind == "pml" else "inverse"
        found = self._refined_mean(part, what, lambda: part.worst_mean(delta))
        if isinstance(found, Bound):
            return found
        low, high = log_ends(*found)
        low, high = (low, high) if kind == "pml" else (-high, -low)
        proved = self.infinite_bound(part.infinite) if math.isinf(low) else None
        return proved or self.bound(max(low, 0.0), max(high, 0.0))

    def _divergence(self, kind: str, what: str, part: Partition) -> Bound | None:
        """Prove that a mean is infinite."""
        from borel.engine.infinite.proofs import prove

        proof = part.infinite or prove(self, kind, part.open_ends())
        if proof is None or not (proof.attained or (what == "exp" and proof.diverges)):
            return None
        return self.infinite_bound(proof)

    @covering
    def mean(self, kind: str) -> Bound:
        """Enclose the mean of the leakage."""
        return self._expectation(kind, "mean", "nats")

    @covering
    def exp_mean(self, kind: str) -> Bound:
        """Enclose the mean of e^leakage."""
        return self._expectation(kind, "exp", "ratio")

    @covering
    def expectation(self, kind: str, h: RealFunction) -> Bound:
        """Enclose the mean of a function of the leakage."""
        deadline, tol, turns, gaps = self.deadline(), self._aim(), count(), np.zeros(0)
        part = self.partition(kind)
        mean = FunctionMean(part, h)

        def enclose() -> tuple[float, float]:
            nonlocal gaps
            ends, gaps = mean.enclose()
            return ends

        def settled(low: float, high: float) -> bool:
            turn, known = next(turns), gaps[np.isfinite(gaps)].sum()
            size = max([1.0, *(abs(e) for e in (low, high) if math.isfinite(e))])
            if math.isinf(low) or math.isinf(high):  # cuts do not change that, far out
                return low == high or (turn > 8 and known <= 1e-4 * size)
            return high - low <= (1 - 2 * _SPACE) * tol * size

        def cut(low: float, high: float) -> bool:
            worst = float(gaps[np.isfinite(gaps)].max(initial=0.0))
            limit = max(1e-3 * worst, 0.1 * tol / len(gaps))
            return part.split((gaps >= limit) & (gaps > 0), deadline)

        anything = -math.inf, math.inf
        low, high = refine(enclose, cut, settled=settled, until=deadline, rounds=200, ends=anything)
        notes = (*self.assumptions, *self.theorem)
        if low != high and (math.isinf(low) or math.isinf(high)):
            about = {"assumptions": notes, "units": "number"}
            return Bound.undecided(low, high, reason=_FAR_OUT, **about)
        if math.isinf(low) and part.infinite is not None:
            notes = (*notes, part.infinite.statement)
        return super().bound(low, high, units="number", assumptions=notes)
