"""Other measures of leakage: functions of a joint, each a Bound. Finite ones are exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from borel.bound import Bound, weakest
from borel.engine import engine_for
from borel.errors import NotYet
from borel.leakage import _require_joint, pmc, pml
from borel.mechanisms.family import JointFamily

if TYPE_CHECKING:
    from borel.joint import Joint


class Alip(NamedTuple):
    """The two sides of ALIP: -lower <= i(x;y) <= upper, each a Bound in nats."""

    lower: Bound
    upper: Bound


def _engine(joint: Any, name: str, method: str) -> Any:
    """Return the engine's own method for a measure, or say that it is not there yet."""
    if isinstance(joint, JointFamily):
        return lambda: joint.each(lambda one: _engine(one, name, method)(), name)
    _require_joint(joint, name)
    if getattr(joint.prior, "figure_of", None) is not None:
        if name not in ("ldp", "mutual_information"):
            raise NotYet(
                f"bl.{name} over a posterior of priors",
                missing="this measure over draws",
                instead="bl.pml, bl.pmc, bl.ldp, bl.lip, bl.mutual_information.",
            )
        return lambda: joint.prior.figure_of(joint, name)
    found = getattr(engine_for(joint), method, None)
    if found is None:
        raise NotYet(
            f"bl.{name}",
            missing=f"this measure on {joint.secret!r} and {joint.outcome!r}",
            instead="finite alphabets are exact.",
        )
    return found


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
        In nats; exact on finite alphabets, an estimate on continuous ones.

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
    return _engine(joint, "ldp", "ldp")()


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
        _require_joint(joint, "alip")
    return Alip(pmc(joint).sup(), pml(joint).sup())


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
    if isinstance(joint, JointFamily):
        return joint.each(lip, "lip")  # type: ignore[return-value]
    _require_joint(joint, "lip")
    if getattr(joint.prior, "figure_of", None) is not None:
        return joint.prior.figure_of(joint, "lip")
    return _larger(*alip(joint))


def _larger(first: Bound, second: Bound) -> Bound:
    """Return the larger of two figures, as weak as the weaker of them."""
    big = first if (first.upper, first.lower) >= (second.upper, second.lower) else second
    status = weakest([first.status, second.status])
    about: dict[str, Any] = {
        "assumptions": tuple(dict.fromkeys(first.assumptions + second.assumptions)),
        "witness": big.witness,
        "reason": " ".join(dict.fromkeys(filter(None, (first.reason, second.reason)))),
    }
    if first.lower == second.lower == float("inf") or (big.lower == float("inf") and big.proved):
        return big
    low, high = max(first.lower, second.lower), max(first.upper, second.upper)
    if status == "undecided":
        proved = [b.lower for b in (first, second) if b.proved or b.status == "undecided"]
        return Bound.undecided(max(proved, default=0.0), reason=about.pop("reason"), **about)
    if status == "estimate":
        half = (high - low) / 2 if high != low else 0.0
        return Bound.estimate(low if low == high else low + half, half, **about)
    from dataclasses import replace

    weak = first if first.status == status else second
    confidence = None
    if status == "statistical":
        confidence = max(
            0.0, 1 - sum(1 - b.confidence for b in (first, second) if b.confidence is not None)
        )
    ratio = None
    if big.exact_ratio is not None and (low, high) == (big.lower, big.upper):
        ratio = big.exact_ratio
    return replace(
        weak,
        lower=low,
        upper=high,
        exact_ratio=ratio,
        confidence=confidence,
        certificate=None,
        **about,
    )


def maximal_leakage(joint: Joint) -> Bound:
    r"""Return maximal leakage, :math:`\log \sum_y \operatorname{ess\,sup}_x f(y|x)`.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``; it depends on the prior through its support only.

    Returns
    -------
    Bound
        In nats.

    References
    ----------
    "Pointwise Maximal Leakage", Section II: the logarithm of E e^PML(Y).

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> maximal_leakage(joint)
    Bound(0.4054651081, exact)
    """
    return _engine(joint, "maximal_leakage", "maximal_leakage")()


def mutual_information(joint: Joint) -> Bound:
    r"""Return the mutual information :math:`I(X;Y) = E\, i(X;Y)`.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.

    Returns
    -------
    Bound
        In nats: the mean leakage, never more than the mean of PML.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> mutual_information(joint)
    Bound(0.1308120359, exact)
    """
    return _engine(joint, "mutual_information", "mutual_information")()
