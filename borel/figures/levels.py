"""Levels that hold for every outcome and secret: LDP, LIP, ALIP, LDI, and leakage capacity."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

from borel import settings
from borel.errors import BorelError, InvalidInput, NotYet
from borel.figures.dispatch import closed_form, computed, figure, require_joint
from borel.figures.leakage import pmc, pml
from borel.probability.alphabets import Alphabet, Finite, Interval
from borel.probability.bound import Bound, largest
from borel.probability.families import uniform
from borel.probability.joint import Joint
from borel.probability.measure import pmf
from borel.probability.mechanism import Mechanism
from borel.probability.mechanism_families import JointFamily


class Alip(NamedTuple):
    """The two sides of ALIP: -lower <= i(x;y) <= upper, each a Bound in nats."""

    lower: Bound
    upper: Bound


def ldp(joint: Joint) -> Bound:
    r"""Return the local differential privacy level on the support of the prior.

    .. math:: \sup_y \log \operatorname{ess\,sup}_x f(y|x) / \operatorname{ess\,inf}_{x'} f(y|x')

    Parameters
    ----------
    joint : Joint
        ``prior * mech``; the level depends on the prior through its support only.

    Returns
    -------
    Bound
        In nats; exact on finite alphabets, certified on continuous ones where the kernel can be
        enclosed, else an estimate. Infinite if some secret makes an outcome impossible that
        another one allows.

    References
    ----------
    "Information Density Bounds for Privacy", Definition 6 and Remark 1.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> ldp(joint)
    Bound(1.098612289, exact)
    """
    return figure(joint, "ldp")


def ldp_of_all_secrets(joint: Joint, *, search: bool = False) -> Bound | None:
    """Return the level of LDP on all secrets of the prior's alphabet; None where none is known.

    It is that of a uniform prior, by a closed form or by the matrix, and cheap; with
    ``search=True`` also by the engine. Whatever prior stands there, each member of a set and each
    draw included, it bounds LDP on its support, and so the suprema of PML and PMC, LIP and maximal
    leakage: f(y|x) <= e^epsilon f(y|x') for all x and x', and the outcome's law is a mixture of
    f(.|x').
    """
    if type(joint) is not Joint or joint.parts:
        return None
    on = joint.secret
    if joint.mechanism.finite and on.kind == "finite":
        even = pmf([Fraction(1, on.size)] * on.size, on=on) * joint.mechanism
        return closed_form(even, "ldp_of_all_secrets") or computed(even, "ldp")
    found = None
    if isinstance(on, Interval) and math.isfinite(on.upper - on.lower):
        found = closed_form(uniform(on) * joint.mechanism, "ldp_of_all_secrets")
    if found is not None or not search:
        return found
    try:
        return ldp(full_support_prior(on) * joint.mechanism)
    except BorelError:
        return None


def alip(joint: Joint) -> Alip:
    r"""Return both sides of asymmetric local information privacy.

    .. math:: -\varepsilon_l \le i(x;y) \le \varepsilon_u \quad P_X \times P_Y\text{-a.s.}

    so that epsilon_l is the supremum of PMC and epsilon_u that of PML.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.

    Returns
    -------
    Alip
        ``(lower, upper)``: the smallest epsilon_l and epsilon_u, Bounds in nats.

    References
    ----------
    "Information Density Bounds for Privacy", Definition 5. "Almost surely" is under P_X x P_Y.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> alip(joint).upper
    Bound(0.4054651081, exact)
    """
    if not isinstance(joint, JointFamily):
        require_joint(joint, "alip")
    return Alip(*settings.each(lambda of: of(joint).sup(), (pmc, pml)))


def lip(joint: Joint) -> Bound:
    r"""Return the local information privacy level, the essential supremum of \|i(x;y)\|.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.

    Returns
    -------
    Bound
        In nats: the larger of the two sides of `alip`.

    References
    ----------
    "Information Density Bounds for Privacy", Definition 4. "Almost surely" is under P_X x P_Y:
    under P_XY the identity on a uniform bit would be log 2-LIP with an infinite cost.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> lip(joint)
    Bound(0.6931471806, exact)
    """
    return figure(joint, "lip", by=lambda one: largest(alip(one)))


def ldi(joint: Joint) -> Bound:
    r"""Return the local differential identifiability level.

    .. math:: \sup_y \log \max_{x, x'} \frac{P_{X|Y=y}(x)}{P_{X|Y=y}(x')}

    over secrets and outcomes of positive probability.

    Parameters
    ----------
    joint : Joint
        ``prior * mech`` with a finite or countable secret.

    Returns
    -------
    Bound
        In nats; exact on finite alphabets. Infinite for infinitely many secrets of positive
        probability, as their posterior probabilities come arbitrarily close to 0.

    Raises
    ------
    InvalidInput
        A continuous secret: a ratio of densities there depends on the base measure.

    References
    ----------
    "Pointwise Maximal Leakage", Definition 16.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> ldi(joint)
    Bound(1.098612289, exact)
    """
    if not isinstance(joint, JointFamily):
        require_joint(joint, "ldi")
        if joint.secret.kind in ("continuous", "mixed"):
            raise InvalidInput(
                "bl.ldi",
                expected="a finite or countable secret",
                got=repr(joint.secret),
                mend="a ratio of posterior densities at two secrets depends on the base measure; "
                "bl.ldp compares the likelihoods.",
            )
    return figure(joint, "ldi")


def leakage_capacity(mechanism: Mechanism) -> Bound:
    r"""Return the leakage capacity: the largest PML over all priors of full support.

    .. math:: C(P_{Y|X}) = \log \sup_y \sup_{x, x'} \frac{f(y|x)}{f(y|x')}
              = \sup_{P_X} \sup_y \ell(X \to y) = \sup_{P_X} \sup_y \Lambda(X \to y)

    It is the smallest epsilon with epsilon-LDP on all secrets of the alphabet.

    Parameters
    ----------
    mechanism : Mechanism
        The kernel.

    Returns
    -------
    Bound
        In nats, with the status of `ldp`. The suprema over priors are approached, not attained,
        unless they are 0 (or infinite, for PMC).

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Definition 2.7 and Theorem 2.8; "Information Density Bounds for Privacy",
    Theorems 1 and 5.

    Examples
    --------
    >>> import borel as bl
    >>> leakage_capacity(bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]]))
    Bound(1.098612289, exact)
    """
    if not isinstance(mechanism, Mechanism):
        raise InvalidInput(
            "bl.leakage_capacity",
            expected="a mechanism",
            got=type(mechanism).__name__,
            mend="for the priors on one support: bl.ldp(prior * mech).",
        )
    return ldp(full_support_prior(mechanism.secret) * mechanism)


def full_support_prior(secret: Alphabet) -> Any:
    """Return some prior that charges every secret of an alphabet, or every interval of them."""
    from borel.probability import families
    from borel.probability.measure import pmf

    if isinstance(secret, Finite):
        return pmf([Fraction(1, secret.size)] * secret.size, on=secret)
    if secret.kind == "finite":
        return families.uniform(secret)
    if isinstance(secret, Interval):
        low, high = float(secret.lower), float(secret.upper)
        if low > -float("inf") and high < float("inf"):
            return families.uniform(secret)
        if low == -float("inf") and high == float("inf"):
            return families.normal()
        if low == 0:
            return families.exponential()
    raise NotYet(
        "bl.leakage_capacity",
        missing=f"a prior of full support on {secret!r}",
        instead="bl.ldp(prior * mech) with a prior that charges every secret.",
    )
