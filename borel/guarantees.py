"""Guarantees as objects, and whether a joint satisfies them: ``joint.satisfies(PML(0.5))``.

The calculus between guarantees (which implies which) is not in this version.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any

from borel.bound import Verdict
from borel.errors import InvalidInput, NotYet
from borel.leakage import pmc, pml
from borel.levels import alip, ldp, lip

if TYPE_CHECKING:
    from borel.joint import Joint


def _level(name: str, epsilon: Any) -> None:
    if not isinstance(epsilon, Real) or not float(epsilon) >= 0:
        raise InvalidInput(name, expected="epsilon >= 0 (nats)", got=repr(epsilon))


@dataclass(frozen=True)
class _Pointwise:
    """epsilon bounds the leakage of every outcome, up to outcomes of probability delta."""

    epsilon: float
    delta: float = 0.0

    def __post_init__(self):
        _level(type(self).__name__, self.epsilon)
        if not 0 <= self.delta < 1:
            raise InvalidInput(type(self).__name__, expected="0 <= delta < 1", got=repr(self.delta))

    def _variable(self, joint: Joint) -> Any:
        raise NotImplementedError

    def holds_for(self, joint: Joint) -> Verdict:
        """Return whether the joint satisfies the guarantee."""
        variable = self._variable(joint)
        if self.delta == 0:
            return variable.sup() <= self.epsilon
        # P{leakage > epsilon} <= delta if and only if the (1 - delta)-quantile is <= epsilon: read
        # so, the answer is exact for Fractions; what is shown is the probability
        answer = variable.quantile(1 - Fraction(self.delta)) <= self.epsilon
        return replace(answer, bound=variable.tail(self.epsilon))


class PML(_Pointwise):
    """epsilon-PML: PML(Y) <= epsilon almost surely; with delta, up to probability delta.

    References
    ----------
    "Pointwise Maximal Leakage", Definition of (epsilon, delta)-PML; "Information Leakage
    Envelopes", Definition 5 (probabilistic PML).
    """

    def _variable(self, joint: Joint) -> Any:
        return pml(joint)


class PMC(_Pointwise):
    """epsilon-PMC: PMC(Y) <= epsilon almost surely; with delta, up to probability delta."""

    def _variable(self, joint: Joint) -> Any:
        return pmc(joint)


@dataclass(frozen=True)
class LDP:
    """epsilon-LDP on the support of the prior."""

    epsilon: float

    def __post_init__(self):
        _level("LDP", self.epsilon)

    def holds_for(self, joint: Joint) -> Verdict:
        """Return whether the joint satisfies the guarantee."""
        return ldp(joint) <= self.epsilon


@dataclass(frozen=True)
class LIP:
    """epsilon-LIP: |i(x;y)| <= epsilon, P_X x P_Y almost surely."""

    epsilon: float

    def __post_init__(self):
        _level("LIP", self.epsilon)

    def holds_for(self, joint: Joint) -> Verdict:
        """Return whether the joint satisfies the guarantee."""
        return lip(joint) <= self.epsilon


@dataclass(frozen=True)
class ALIP:
    """(epsilon_l, epsilon_u)-ALIP: -epsilon_l <= i(x;y) <= epsilon_u, P_X x P_Y almost surely."""

    epsilon_l: float
    epsilon_u: float

    def __post_init__(self):
        _level("ALIP", self.epsilon_l)
        _level("ALIP", self.epsilon_u)

    def holds_for(self, joint: Joint) -> Verdict:
        """Return whether both sides hold; the side that fails, or is undecided, is shown."""
        sides = alip(joint)
        first, second = sides.lower <= self.epsilon_l, sides.upper <= self.epsilon_u
        if first.holds is False or second.holds is True:
            return first
        return second


def implied(guarantee: Any, **about: Any) -> Any:
    """Derive every implied guarantee: not yet in this version."""
    raise NotYet(
        "bl.guarantees.implied",
        missing="the calculus between guarantees",
        instead="joint.satisfies(g) for each of PML, PMC, LDP, LIP, ALIP.",
    )
