"""What bounds over outcomes with a density read of their engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from borel.engine.problem.protocols import WithMasses

if TYPE_CHECKING:
    import numpy as np

    from borel.engine.kernels.leakage_on_boxes import Bands
    from borel.numerics.intervals.batched import Box
    from borel.probability.bound import Bound
    from borel.probability.countable_law import Values


class OutcomeEngine(WithMasses, Protocol):
    """An engine that encloses a leakage on boxes of outcomes and far out.

    Pyright matches no `cached_property` against a type: those are Any.
    """

    @property
    def slack(self) -> float:
        """How far the logarithm of the kernel may be from that of the law meant."""
        ...

    @property
    def bands(self) -> Bands:
        """The leakage on boxes of outcomes."""
        ...

    @property
    def far_bands(self) -> Bands | None:
        """The same where the density underflows."""
        ...

    @property
    def near_zero(self) -> Any:
        """What the leakage of outcomes near 0 is of, where the kernel is singular; of a root."""
        ...

    @property
    def far_means(self) -> Any:
        """Bounds of means over half-lines of outcomes."""
        ...

    @property
    def far_entropy(self) -> Any:
        """Bounds of the mean of PML over half-lines, by their mass."""
        ...

    @property
    def end_means(self) -> Any:
        """Bounds of means beside an end at which the kernel is singular."""
        ...

    @property
    def over_one(self) -> Any:
        """The engine of the one number that the kernel reads of several secrets."""
        ...

    def head(self, little: float) -> tuple[OutcomeEngine, float] | None:
        """Return the engine of the likeliest secrets, and the mass of the others, if small."""
        ...

    def ceiling(self, kind: str = "pml") -> float:
        """Bound PML by log 1 / p_min for finitely many secrets."""
        ...

    def deadline(self) -> float:
        """Return when a figure must be ready."""
        ...

    def enclosed(self, kind: str, ys: np.ndarray) -> tuple[Box, np.ndarray]:
        """Enclose a leakage at outcomes; and which are outside the support."""
        ...

    def values_at(self, kind: str, y: Any) -> Values:
        """Enclose a leakage at outcomes, with their masses."""
        ...

    def partition(self, kind: str) -> Any:
        """Return the bands that cover the line, with what is known of a leakage on them."""
        ...

    def sup(self, kind: str) -> Bound:
        """Enclose the essential supremum over the outcomes."""
        ...

    def bound(self, low: float, high: float, **about: Any) -> Bound:
        """Make a Bound with the status of the engine."""
        ...
