"""What figures and regions read of a random prior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from borel.probability.measure import Measure


class PriorDraws(Protocol):
    """Draws of a prior: see `borel.priors.posteriors.PosteriorPriors`."""

    build: Callable[[Any], Measure]
    exact: bool
    _chains: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Chains and draws per chain."""
        ...

    @property
    def size(self) -> int:
        """Number of draws in all."""
        ...

    @property
    def on(self) -> Any:
        """The alphabet of the secret."""
        ...

    @property
    def trouble(self) -> Any:
        """Why nothing may be claimed from the draws, if so."""
        ...

    def _trouble_of(self, names: Sequence[str]) -> str: ...

    def blocks(self) -> Iterator[tuple[slice, Measure]]:
        """Yield slices of draws with their priors."""
        ...
