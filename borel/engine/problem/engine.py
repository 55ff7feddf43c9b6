"""What engines are asked: the figures of all of them, and the primitives of those of one prior."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from borel.errors import NotYet
from borel.probability.bound import Bound

if TYPE_CHECKING:
    from fractions import Fraction

    from borel.engine.problem.thresholds import Threshold
    from borel.numerics.intervals.rounding import Enclosure
    from borel.probability.countable_law import Values
    from borel.probability.generators import Generator
    from borel.probability.joint import Joint
    from borel.probability.real_functions import RealFunction

OPEN = "the enclosure is open: float64, or the head of an alphabet, does not resolve it"

Found = TypeVar("Found")
"""A figure: a Bound, or an enclosure for each draw of the prior."""


class Figures(Generic[Found]):
    """The figures that an engine may compute; one that it does not raises `NotYet`.

    ``kind`` is "pml" or "pmc".
    """

    joint: Joint
    status: str
    reason: str
    assumptions: tuple[str, ...]

    def not_yet(self, name: str) -> NotYet:
        """Return the error that says that this engine does not compute a figure."""
        raise NotImplementedError

    def figure(self, name: str, *arguments: Any) -> Any:
        """Compute a figure by its name."""
        if not hasattr(Figures, name):
            raise self.not_yet(name)
        return getattr(self, name)(*arguments)

    # -- the leakage, at outcomes and in law ------------------------------------------------------

    def at(self, kind: str, y: Any) -> Found:
        """Return the leakage at one outcome."""
        raise self.not_yet("at")

    def curve(self, kind: str, y: Any) -> tuple[np.ndarray, np.ndarray, Any]:
        """Return lower ends, upper ends and statuses of the leakage at many outcomes."""
        raise self.not_yet("curve")

    def sup(self, kind: str) -> Found:
        """Return the essential supremum of the leakage over the outcomes."""
        raise self.not_yet("sup")

    def tail(self, kind: str, t: Any, closed: bool) -> Found:
        """Return P{leakage > t}, or P{leakage >= t} if closed."""
        raise self.not_yet("tail")

    def quantile(self, kind: str, s: Any, side: str) -> Found:
        """Return the quantile of the leakage at level s, the "left" or the "right" one."""
        raise self.not_yet("quantile")

    def mean(self, kind: str) -> Found:
        """Return the mean of the leakage."""
        raise self.not_yet("mean")

    def exp_mean(self, kind: str) -> Found:
        """Return the mean of e^leakage."""
        raise self.not_yet("exp_mean")

    def expectation(self, kind: str, h: RealFunction) -> Found:
        """Return the mean of h(leakage)."""
        raise self.not_yet("expectation")

    # -- the information density in law: "joint" under P_XY, "product" under P_X x P_Y ------------

    def density_tail(self, under: str, t: Any, ratio: Any, closed: bool) -> Found:
        """Return P{i > t}, or P{i >= t} if closed; a ratio is e^t, instead of t."""
        raise self.not_yet("information_density")

    def density_quantile(self, under: str, s: Any, side: str) -> Found:
        """Return the quantile of i at level s, the "left" or the "right" one."""
        raise self.not_yet("information_density")

    def density_expectation(self, under: str, h: RealFunction) -> Found:
        """Return the mean of h(i)."""
        raise self.not_yet("information_density")

    # -- measures of the joint --------------------------------------------------------------------

    def ldp(self) -> Found:
        """Return the level of local differential privacy on the support of the prior."""
        raise self.not_yet("ldp")

    def lip(self) -> Found:
        """Return the level of local information privacy, the larger of the two suprema."""
        raise self.not_yet("lip")

    def ldi(self) -> Found:
        """Return the level of local differential identifiability."""
        raise self.not_yet("ldi")

    def maximal_leakage(self) -> Found:
        """Return maximal leakage."""
        raise self.not_yet("maximal_leakage")

    def maximal_cost_leakage(self) -> Found:
        """Return maximal cost leakage."""
        raise self.not_yet("maximal_cost_leakage")

    def maximal_guesswork_leakage(self) -> Found:
        """Return maximal guesswork leakage."""
        raise self.not_yet("maximal_guesswork_leakage")

    def tail_leakage(self, kind: str, delta: Fraction) -> Found:
        """Return the leakage of the mean of e^PML, or of e^-PMC, over the worst delta."""
        raise self.not_yet("tail_leakage")

    def min_entropy_leakage(self) -> Found:
        """Return min-entropy leakage."""
        raise self.not_yet("min_entropy_leakage")

    def dynamic_min_entropy_leakage(self, y: Any) -> Found:
        """Return dynamic min-entropy leakage at one outcome."""
        raise self.not_yet("dynamic_min_entropy_leakage")

    def mutual_information(self) -> Found:
        """Return the mutual information."""
        raise self.not_yet("mutual_information")

    def f_information(self, f: Generator) -> Found:
        """Return the f-information of a generator."""
        raise self.not_yet("f_information")

    def max_information(self, delta: Fraction) -> Found:
        """Return delta-approximate max-information."""
        raise self.not_yet("max_information")

    def event_leakage(self, columns: np.ndarray) -> Found:
        """Return the leakage of an event of outcomes, by their positions."""
        raise self.not_yet("event_leakage")

    def event_maximal_leakage(self, delta: Fraction) -> Found:
        """Return the largest leakage of an event of probability delta or more."""
        raise self.not_yet("event_maximal_leakage")

    def binary_envelope(self, delta: Fraction) -> Found:
        """Return the binary envelope at one delta."""
        raise self.not_yet("binary_envelope")

    def binary_envelope_curve(self, levels: list[Fraction]) -> tuple[np.ndarray, np.ndarray, Any]:
        """Return lower ends, upper ends and statuses of the binary envelope at many deltas."""
        raise self.not_yet("binary_envelope_curve")

    def both_halves(self) -> Found:
        """Return the largest leakage that an event and its complement both have."""
        raise self.not_yet("both_halves")

    def psi_1(self, level: Threshold) -> Found:
        """Return the mean of (1 - e^(level - PML))^+."""
        raise self.not_yet("psi_1")

    def psi_2(self, level: Threshold) -> Found:
        """Return the largest mean, over the secrets, of (1 - e^(level - i(x;Y)))^+."""
        raise self.not_yet("psi_2")


class TableEnd(NamedTuple):
    """One end of a table: the prior, and the rows of the kernel, on the support of the prior."""

    prior: list[Fraction]
    rows: list[list[Fraction]]


class JointTable(NamedTuple):
    """The prior and the rows of the kernel on its support, enclosed entry by entry.

    The columns are the outcomes of positive probability. Both ends are the same for Fractions.
    """

    lower: TableEnd
    upper: TableEnd


class Engine(Figures[Bound]):
    """An engine of one prior: what helpers and proofs read of it, beside its figures.

    Attributes
    ----------
    joint : Joint
        What the engine works with; figures are those of ``given``.
    given : Joint
        The joint whose figures are asked: another one where the kernel reads a sum of secrets.
    status, reason, assumptions
        Of the Bounds that the engine makes.
    secret, surface, line, bands
        The prior's support, the logarithm of the kernel, the line of outcomes, and the leakage on
        boxes of outcomes, where densities are traced; else None.
    of_secrets : Engine or None
        The certified engine of all secrets, not of their sum, where densities are traced.
    in_logs : Engine or None
        An engine that computes with logarithms of densities.
    theorem : tuple of str
        The closed form of f_Y that the figures rest on, if any.
    slack : float
        How far log f(y|x) may be from that of the law meant, f(y|x) over its integral.
    """

    given: Joint
    secret: Any = None
    surface: Any = None
    line: Any = None
    bands: Any = None
    of_secrets: Any = None
    in_logs: Any = None
    theorem: tuple[str, ...] = ()
    slack: float = 0.0

    def not_yet(self, name: str) -> NotYet:
        """Return the error that says that this engine does not compute a figure."""
        return NotYet(
            f"bl.{name}",
            missing=f"this measure on {self.given.secret!r} and {self.given.outcome!r}",
            instead="finite alphabets are exact.",
        )

    @property
    def status_covering(self) -> str:
        """The status of enclosures that are widened by the slack."""
        return self.status

    # -- primitives -------------------------------------------------------------------------------

    def table(self, what: str) -> JointTable:
        """Return the prior and the rows of a finite joint; ``what`` is the measure, for errors."""
        raise self.not_yet(what)

    def law(self, kind: str) -> Values:
        """Enclose the leakage at every outcome of a head, and the mass left over."""
        raise self.not_yet("law")

    def density_law(self, under: str) -> Values:
        """Enclose the information density at pairs of a head, with their masses."""
        raise self.not_yet("information_density")

    def absorbing_level(self, delta: Fraction) -> float:
        """Bound the level at which outcomes of PML absorb others up to a mass, from below."""
        raise self.not_yet("absorbing_level")

    def values_at(self, kind: str, y: Any) -> Values:
        """Enclose the leakage at some outcomes, with their masses."""
        raise self.not_yet("values_at")

    def head_of_outcomes(self) -> tuple[Any, bool]:
        """Return the outcomes of the law, and whether they are all."""
        raise self.not_yet("head_of_outcomes")

    def information_density_at(self, x: Any, y: Any) -> Enclosure:
        """Enclose log f(y|x) / f_Y(y) at labels."""
        raise self.not_yet("information_density")

    def log_marginal(self, y: Any) -> np.ndarray:
        """Return log f_Y(y) in float64, for plots and posteriors."""
        raise self.not_yet("log_marginal")

    def exact_f_information(self, f: Generator) -> Fraction | None:
        """Return the f-information as a Fraction, if it is known to be one."""
        return None

    def tail_at_ratio(self, kind: str, ratio: Fraction, closed: bool) -> Bound | None:
        """Return the tail at the logarithm of a ratio, if e^leakage is enclosed; else None."""
        return None

    def tails(self, kind: str, ts: Any, closed: bool) -> tuple[np.ndarray, ...] | None:
        """Return the tail at many levels, if that takes the time of a few; else None."""
        return None

    def bound(self, low: Any, high: Any, **about: Any) -> Bound:
        """Make a Bound with the status of this engine."""
        about = {"assumptions": self.assumptions, **about}
        status, reason = self.status, self.reason
        if status == "estimate" and math.isinf(high):
            low, status = 0.0, "undecided"
            reason = f"it looks infinite, which float64 cannot prove; {reason}"
        elif math.isinf(high) and not math.isinf(low):
            # upper == inf alone is ignorance: true, but it settles nothing
            status = "undecided"
            reason = (
                "the enclosure is open above: float64 or the head of the alphabet does not resolve "
                "the densities there"
            )
        return Bound.of(status, low, high, reason=reason, **about)

    def signed_bound(self, low: float, high: float, **about: Any) -> Bound:
        """Make the Bound of a number of any sign: an end that is open settles nothing."""
        if low != high and (math.isinf(low) or math.isinf(high)):
            proved = self.status != "estimate"  # the ends of an estimate prove nothing
            reason = (proved and self.reason) or OPEN
            ends = (low, high) if proved else (-math.inf, math.inf)
            return Bound.undecided(*ends, reason=reason, assumptions=self.assumptions, **about)
        return self.bound(low, high, **about)

    def statuses(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return the status of each enclosure: one that is open above settles nothing."""
        return np.where(np.isinf(upper) & ~np.isinf(lower), "undecided", self.status)

    def binary_envelope_curve(self, levels: list[Fraction]) -> tuple[np.ndarray, np.ndarray, Any]:
        """Return lower ends, upper ends and statuses of the binary envelope at many deltas."""
        found = [self.binary_envelope(d) for d in levels]
        low, high = np.array([b.lower for b in found]), np.array([b.upper for b in found])
        return low, high, self.statuses(low, high)
