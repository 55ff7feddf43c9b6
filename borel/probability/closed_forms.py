"""The closed forms of a mechanism: figures of its joints that a theorem gives."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from borel.numerics.graphs.graph import Graph
    from borel.probability.bound import Bound
    from borel.probability.generators import Generator
    from borel.probability.real_functions import RealFunction


class ClosedForms:
    """The closed forms of a mechanism: each method returns a Bound, or None.

    None means that no theorem gives the figure, or that its hypotheses are not met: then the
    engine computes. A subclass has a method for each figure that a theorem gives. The arguments
    are those of the figure, after the joint; ``kind`` is "pml" or "pmc".
    """

    # -- the leakage, at outcomes and in law ------------------------------------------------------

    def at(self, joint: Any, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one outcome."""
        return None

    def curve(self, joint: Any, kind: str, ys: Any) -> tuple[Any, Any, Any] | None:
        """Return lower ends, upper ends and statuses at many outcomes, if all of them are known."""
        if isinstance(ys, tuple):  # the outcomes of a product, an array for each factor
            return None
        bounds = []
        for y in ys:
            found = self.at(joint, kind, y)
            if found is None:
                return None
            bounds.append(found)
        ends = np.array([(b.lower, b.upper) for b in bounds]).reshape(-1, 2)
        return ends[:, 0], ends[:, 1], [b.status for b in bounds]

    def sup(self, joint: Any, kind: str) -> Bound | None:
        """Return the essential supremum of the leakage over the outcomes."""
        return None

    def tail(self, joint: Any, kind: str, t: Any, closed: bool) -> Bound | None:
        """Return P{leakage > t}, or P{leakage >= t} if closed."""
        return None

    def quantile(self, joint: Any, kind: str, s: Any, side: str) -> Bound | None:
        """Return the quantile of the leakage at level s, the "left" or the "right" one."""
        return None

    def mean(self, joint: Any, kind: str) -> Bound | None:
        """Return the mean of the leakage."""
        return None

    def exp_mean(self, joint: Any, kind: str) -> Bound | None:
        """Return the mean of e^leakage."""
        return None

    def expectation(self, joint: Any, kind: str, h: RealFunction) -> Bound | None:
        """Return the mean of a function of the leakage."""
        return None

    # -- the information density, in law ("joint" or "product") ------------------------------------

    def density_tail(
        self, joint: Any, under: str, t: Any, ratio: Any, closed: bool
    ) -> Bound | None:
        """Return P{i > t}, or P{i >= t} if closed; of a ratio, of its logarithm."""
        return None

    def density_quantile(self, joint: Any, under: str, s: Any, side: str) -> Bound | None:
        """Return the quantile of i at level s, the "left" or the "right" one."""
        return None

    def density_expectation(self, joint: Any, under: str, h: RealFunction) -> Bound | None:
        """Return the mean of a function of i."""
        return None

    # -- measures of the joint ---------------------------------------------------------------------

    def ldp(self, joint: Any) -> Bound | None:
        """Return the level of local differential privacy."""
        return None

    def ldp_of_all_secrets(self, joint: Any) -> Bound | None:
        """Return a level of LDP on all secrets of the joint, or one above it."""
        return self.ldp(joint)

    def ldi(self, joint: Any) -> Bound | None:
        """Return the level of local differential identifiability."""
        return None

    def maximal_leakage(self, joint: Any) -> Bound | None:
        """Return maximal leakage."""
        return None

    def maximal_cost_leakage(self, joint: Any) -> Bound | None:
        """Return maximal cost leakage."""
        return None

    def maximal_guesswork_leakage(self, joint: Any) -> Bound | None:
        """Return maximal guesswork leakage."""
        return None

    def tail_leakage(self, joint: Any, kind: str, delta: Fraction) -> Bound | None:
        """Return the leakage of the mean of e^PML, or of e^-PMC, over the worst delta."""
        return None

    def min_entropy_leakage(self, joint: Any) -> Bound | None:
        """Return min-entropy leakage."""
        return None

    def dynamic_min_entropy_leakage(self, joint: Any, y: Any) -> Bound | None:
        """Return dynamic min-entropy leakage at one outcome."""
        return None

    def mutual_information(self, joint: Any) -> Bound | None:
        """Return the mutual information."""
        return None

    def f_information(self, joint: Any, f: Generator) -> Bound | None:
        """Return the f-information of a generator."""
        return None

    def max_information(self, joint: Any, delta: Fraction) -> Bound | None:
        """Return delta-approximate max-information."""
        return None

    def event_leakage(self, joint: Any, columns: np.ndarray) -> Bound | None:
        """Return the leakage of an event of outcomes, by their positions."""
        return None

    def event_maximal_leakage(self, joint: Any, delta: Fraction) -> Bound | None:
        """Return the largest leakage of an event of probability delta or more."""
        return None

    def binary_envelope(self, joint: Any, delta: Fraction) -> Bound | None:
        """Return the binary envelope at one delta."""
        return None

    def binary_envelope_curve(
        self, joint: Any, levels: list[Fraction]
    ) -> tuple[Any, Any, Any] | None:
        """Return lower ends, upper ends and statuses of the binary envelope at many deltas."""
        return None

    def both_halves(self, joint: Any) -> Bound | None:
        """Return the largest leakage that an event and its complement both have."""
        return None

    def psi_1(self, joint: Any, level: Any) -> Bound | None:
        """Return the mean of (1 - e^(level - PML))^+."""
        return None

    def psi_2(self, joint: Any, level: Any) -> Bound | None:
        """Return the largest mean, over the secrets, of (1 - e^(level - i(x;Y)))^+."""
        return None

    # -- for the certified engine ------------------------------------------------------------------

    def log_marginal(self, joint: Any) -> tuple[Graph, str] | None:
        """Return log f_Y as a graph in y where a theorem gives it, and what the theorem says.

        The certified engine then need not integrate over boxes of outcomes.
        """
        return None
