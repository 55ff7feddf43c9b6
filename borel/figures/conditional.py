"""Leakage to an adversary who already has side information Z: conditional PML and PMC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput, NotYet
from borel.probability.alphabets import Finite, Product
from borel.probability.bound import largest
from borel.probability.joint import Joint
from borel.probability.mechanism import Mechanism

if TYPE_CHECKING:
    from collections.abc import Callable

_WHY = "the posterior given z is normalised in float64"


class _GivenSideInformation:
    """What is known of a joint given side information: indexed by a value of Z.

    Parameters
    ----------
    joint : Joint
        The joint law; of X and (Z, Y) if ``given`` is a number.
    kind : str
        What of it, as ``bl`` spells it.
    given : Mechanism or int
        See `borel.pml`.
    make : callable
        Makes it of the joint given a value of Z.
    """

    __array_ufunc__ = None

    def __init__(self, joint: Joint, kind: str, given: Any, make: Callable[[Joint], Any]):
        self.joint, self.kind, self._make = joint, kind, make
        self._given: dict[Any, Any] = {}
        if isinstance(given, Mechanism):
            self.side = joint.prior * given
            self.index = None
            return
        factors = joint.outcome.factors
        if isinstance(given, bool) or not isinstance(given, (int, np.integer)):
            raise InvalidInput(
                f"bl.{kind}",
                expected="given=<a mechanism from the same secrets>, or the place of Z in the "
                "outcome, a number",
                got=repr(given),
                mend=f"bl.{kind}(prior * mech, given=side), or "
                f"bl.{kind}(prior * side.then(lambda z: mech_z), given=0).",
            )
        if not isinstance(joint.outcome, Product) or not 0 <= given < len(factors):
            raise InvalidInput(
                f"bl.{kind}",
                expected=f"given=0, ..., {len(factors) - 1}, the place of Z in a product outcome",
                got=f"{given} on {joint.outcome!r}",
            )
        if joint.prior.over == "set" or not joint.finite:
            raise NotYet(
                f"bl.{kind} given a part of the outcome",
                missing="alphabets that are not finite, and sets of priors",
                instead="given=side, for side information that is independent of Y given X.",
            )
        self.index = int(given)
        self.side = Joint(joint.prior, _coordinate(joint.mechanism, self.index))

    @property
    def alphabet(self) -> Any:
        """The alphabet of Z."""
        return self.side.outcome

    def __getitem__(self, z: Any) -> Any:
        """Return what is known given Z = z.

        Raises
        ------
        OutsideAlphabet
            z is not a value of Z.
        InvalidInput
            A value of probability 0.
        """
        if z not in self._given:
            self._given[z] = self._make(self._joint_given(z))
        return self._given[z]

    def _joint_given(self, z: Any) -> Joint:
        if self.joint.prior.over == "set":
            laws = self.joint.prior.given(self.side.mechanism, z)
            return laws * _on(self.joint.mechanism, laws.on)
        prior = self.side.posterior(z)
        if self.index is not None:
            return prior * _conditioned(self.joint.mechanism, self.index, z, prior)
        # probabilities say themselves what is proved of them
        enclosed = prior._probabilities is not None
        return Joint(prior, self.joint.mechanism, "" if enclosed else _WHY)

    def __repr__(self) -> str:
        """Show what, and of what."""
        return f"{type(self).__name__}({self.kind} of {self.joint!r} given Z on {self.alphabet!r})"


class ConditionalLeakage(_GivenSideInformation):
    """PML or PMC given side information: ``ell[z]`` is the leakage given Z = z.

    Made by ``bl.pml(joint, given=...)`` and ``bl.pmc(joint, given=...)``.

    Parameters
    ----------
    joint : Joint
        The joint law; of X and (Z, Y) if ``given`` is a number.
    kind : {"pml", "pmc"}
        Which leakage.
    given : Mechanism or int
        See `borel.pml`.
    leakage : callable
        Makes the leakage of a joint and a kind.
    """

    def __init__(self, joint: Joint, kind: str, given: Any, leakage: Callable[[Joint, str], Any]):
        super().__init__(joint, kind, given, lambda one: leakage(one, kind))

    def __call__(self, y: Any, z: Any) -> Any:
        """Return the leakage at outcomes y given Z = z, as ``ell[z](y)``."""
        return self[z](y)

    def sup(self) -> Any:
        """Return the largest leakage over outcomes and values of Z of positive probability."""
        if self.alphabet.kind != "finite":
            raise NotYet(
                "the supremum over side information",
                missing=f"values of Z on {self.alphabet!r}",
                instead="ell[z].sup() for single ones.",
            )
        mass = np.asarray(self.side.marginal.probabilities) if self.side.finite else None
        labels = self.alphabet.labels
        charged = [z for k, z in enumerate(labels) if mass is None or mass[k] != 0]
        if self.joint.prior.over == "set":
            laws, side = self.joint.prior, self.side.mechanism
            return laws.largest([self[z].sup() for z in charged if laws.allows(side, z)])
        return largest(self[z].sup() for z in charged)


class ConditionalDensity(_GivenSideInformation):
    """The information density given side information: ``density[z]`` is that given Z = z.

    Made by ``bl.information_density(joint, given=...)``.

    Parameters
    ----------
    joint : Joint
        The joint law; of X and (Z, Y) if ``given`` is a number.
    given : Mechanism or int
        See `borel.pml`.
    density : callable
        Makes the information density of a joint.
    """

    def __init__(self, joint: Joint, given: Any, density: Callable[[Joint], Any]):
        super().__init__(joint, "information_density", given, density)

    def __call__(self, x: Any, y: Any, z: Any) -> Any:
        """Return i(x; y | z), as ``density[z](x, y)``."""
        return self[z](x, y)


def _coordinate(mechanism: Mechanism, index: int) -> Mechanism:
    """Return the mechanism that releases one coordinate of the outcome."""
    factor = mechanism.outcome.factors[index]
    return mechanism.push(lambda y: y[index], outcome=_plain(factor))


def _plain(alphabet: Any) -> Finite:
    return alphabet if isinstance(alphabet, Finite) else Finite(list(alphabet.labels))


def _on(mechanism: Mechanism, secret: Any) -> Mechanism:
    """Return a finite mechanism on some of its secrets."""
    if not mechanism.finite:
        raise NotYet(
            "leakage given side information, over a set of priors",
            missing=f"outcomes on {mechanism.outcome!r}",
            instead="finite mechanisms, or one prior at a time.",
        )
    rows = np.asarray(mechanism.secret.positions(list(secret.labels), "x"))
    part = Mechanism._from_matrix(
        mechanism.matrix[rows], secret, mechanism.outcome, rounding=mechanism.rounding
    )
    part.unproved = mechanism.unproved
    return part


def _conditioned(mechanism: Mechanism, index: int, z: Any, prior: Any) -> Mechanism:
    """Return P_{Y|X,Z=z} on the secrets that are possible given z."""
    keep = np.flatnonzero(np.asarray(prior.probabilities != 0, bool))
    labels = [mechanism.secret.labels[k] for k in keep]
    part = _on(mechanism, Finite(labels))
    part = part.restrict(lambda y: y[index] == z)
    rest = [f for k, f in enumerate(mechanism.outcome.factors) if k != index]
    if len(rest) == 1:
        return part.push(lambda y: y[1 - index], outcome=_plain(rest[0]))
    return part.push(lambda y: tuple(v for k, v in enumerate(y) if k != index))
