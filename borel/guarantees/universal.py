"""Guarantees for every prior of one support: on finite alphabets, local differential privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from borel.figures.levels import ldp
from borel.guarantees.base import OneLevel, at_most
from borel.priors.random_verdict import RandomVerdict
from borel.probability.bound import Verdict

if TYPE_CHECKING:
    from borel.probability.joint import Joint


class _Universal(OneLevel):
    """A guarantee for every prior with the null sets of this one."""

    def holds_for(self, joint: Joint) -> Verdict:
        """Return whether it holds: by Theorems 1 and 5 it is epsilon-LDP on finite alphabets."""
        answer = at_most(ldp(joint), self.levels[0])
        if isinstance(answer, RandomVerdict) and joint.secret.kind != "finite":
            return answer.implied()
        if answer.holds is False and joint.secret.kind != "finite":
            why = "epsilon-LDP fails, which refutes it on finite alphabets only (Theorems 1, 5)"
            return Verdict(None, answer.bound, answer.witness, why)
        return answer


class UniversalPML(_Universal):
    r"""epsilon-PML for every prior with the support (null sets) of this one.

    Parameters
    ----------
    epsilon : float or Fraction
        Nats, >= 0; a float means its binary64 value.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of ``epsilon``: ties are then decided.

    Raises
    ------
    InvalidInput
        A level that is negative or NaN, or given twice.

    References
    ----------
    "Information Density Bounds for Privacy", Theorem 1.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> joint.satisfies(UniversalPML(0.5)).holds, joint.satisfies(UniversalPML(1.1)).holds
    (False, True)
    """

    symbol = "PML for all priors"


class UniversalPMC(_Universal):
    r"""epsilon-PMC for every prior with the support (null sets) of this one.

    Parameters
    ----------
    epsilon : float or Fraction
        Nats, >= 0; a float means its binary64 value.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of ``epsilon``: ties are then decided.

    Raises
    ------
    InvalidInput
        A level that is negative or NaN, or given twice.

    References
    ----------
    "Information Density Bounds for Privacy", Theorem 5.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> joint.satisfies(UniversalPMC(1.1)).holds
    True
    """

    symbol = "PMC for all priors"
