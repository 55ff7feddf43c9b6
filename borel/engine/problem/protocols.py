"""What proofs and bounds read of an engine, whichever it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Secret, Surface
    from borel.numerics.graphs.trace import Graph
    from borel.probability.joint import Joint


class TracedJoint(Protocol):
    """A joint whose densities are graphs, as its secret and its kernel."""

    @property
    def joint(self) -> Joint:
        """The joint."""
        ...

    @property
    def secret(self) -> Secret:
        """The support of the prior and its masses."""
        ...

    @property
    def surface(self) -> Surface:
        """The logarithm of the kernel as a function of the secret and the outcome."""
        ...

    @property
    def line(self) -> Any:
        """The outcomes, whose ends are ``lower`` and ``upper``."""
        ...


class WithMasses(TracedJoint, Protocol):
    """A traced joint some of whose outcomes may have mass."""

    @property
    def atoms(self) -> Any:
        """The outcomes of positive mass."""
        ...

    @property
    def at_atoms(self) -> dict[float, Surface]:
        """The masses of the kernel at these outcomes."""
        ...

    @property
    def log_marginal_graph(self) -> Graph | None:
        """A closed form of log f_Y, if there is one."""
        ...
