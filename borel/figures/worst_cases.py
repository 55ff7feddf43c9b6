"""Measures of one outcome, of an event, or of the worst of them, beside PML and PMC."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput
from borel.figures.dispatch import figure, require_joint
from borel.figures.leakage import pmc, pml
from borel.probability.arrays import probability
from borel.probability.events import event_of
from borel.probability.mechanism_families import JointFamily

if TYPE_CHECKING:
    from borel.probability.bound import Bound
    from borel.probability.joint import Joint


def maximal_realizable_leakage(joint: Joint) -> Bound:
    r"""Return maximal realizable leakage, :math:`D_\infty(P_{XY} \| P_X \times P_Y)`.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.

    Returns
    -------
    Bound
        In nats: the supremum of PML, ``bl.pml(joint).sup()``.

    References
    ----------
    "Pointwise Maximal Leakage", equation (13) and after; Issa, Wagner, Kamath (2020),
    Definition 8.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> maximal_realizable_leakage(joint)
    Bound(0.4054651081, exact)
    """
    return pml(joint).sup()


def maximal_realizable_cost(joint: Joint) -> Bound:
    r"""Return maximal realizable cost, :math:`D_\infty(P_X \times P_Y \| P_{XY})`.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.

    Returns
    -------
    Bound
        In nats: the supremum of PMC, ``bl.pmc(joint).sup()``.

    References
    ----------
    "Information Density Bounds for Privacy", Definition 9 and after; Issa, Wagner, Kamath (2020),
    Theorem 16.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> maximal_realizable_cost(joint)
    Bound(0.6931471806, exact)
    """
    return pmc(joint).sup()


def max_information(joint: Joint, delta: Any = 0) -> Bound:
    r"""Return the (approximate) max-information of X and Y.

    .. math:: I_\infty^\delta(X;Y) = D_\infty^\delta(P_{XY} \| P_X P_Y)
              = \log \max_{E : P_{XY}(E) \ge \delta} \frac{P_{XY}(E) - \delta}{P_X P_Y(E)}

    over events E of pairs (see `max_divergence`).

    Parameters
    ----------
    joint : Joint
        ``prior * mech``; finite if delta > 0.
    delta : number in [0, 1]
        A float means its binary64 value.

    Returns
    -------
    Bound
        In nats, exact on finite alphabets. For delta = 0 the supremum of PML; for larger ones it
        may be negative (log(1 - delta) if X and Y are independent), and is -inf for delta = 1. The
        witness of delta > 0 is the event: pairs (x, y).

    References
    ----------
    "Pointwise Maximal Leakage", Definitions 12 and 13; Proposition 5 bounds it by epsilon where
    (epsilon, delta)-PML holds.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    >>> max_information(bl.pmf([F(1, 2), F(1, 2)]) * mech, F(1, 4)).ratio.lower
    Fraction(1, 1)
    """
    level = probability("bl.max_information", "delta", delta)
    if level == 0:
        return pml(joint).sup()
    return figure(joint, "max_information", level, least=-math.inf)


def event_maximal_leakage(joint: Joint, event: Any = None, *, delta: Any = None) -> Bound:
    r"""Return the leakage of an event of outcomes, or the largest one of probability delta.

    .. math:: \ell(X \to E) = \log \max_x \frac{P_{Y|X=x}(E)}{P_Y(E)}, \qquad
              \max_{P_Z(z) \ge \delta} \ell(X \to z)

    the second over all post-processings Z of Y: the smallest epsilon with (epsilon, delta)-EML.

    Parameters
    ----------
    joint : Joint
        ``prior * mech`` with a finite secret.
    event : callable, sequence of labels, Interval, Integers, or sequence of Intervals
        The event: of a finite alphabet as an indicator of labels or as a list of them; of outcomes
        with a density as an interval or a list of intervals, which hold their ends (atoms count);
        of a countable alphabet as a list of labels, or as a range ``bl.Integers(a, b)``.
    delta : number in [0, 1]
        Instead of an event: the least probability. A float means its binary64 value.

    Returns
    -------
    Bound
        In nats, exact on finite alphabets, up to the mass beyond a head on countable outcomes,
        certified on an interval of them. An event of probability 0 has leakage 0 by convention,
        marked. With delta the witness is a secret and the event that attains it (finite
        alphabets): outcomes with their shares.

    Notes
    -----
    For a given x the largest P(z|x) / P(z) is found by taking outcomes in the order of the
    information density i(x; y) until they have probability delta, the last one in part.

    References
    ----------
    "Pointwise Maximal Leakage", Definitions 10 and 11, Theorem 3 and equation (19).

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[F(6, 10), F(4, 10)], [F(4, 10), F(6, 10)]])
    >>> joint = bl.pmf([F(1, 2), F(1, 2)]) * mech
    >>> event_maximal_leakage(joint, delta=F(6, 10)).ratio.lower
    Fraction(17, 15)
    >>> event_maximal_leakage(joint, [0, 1])
    Bound(0, exact)

    That a noisy release is positive, of a secret -1 or 1:

    >>> noisy = bl.mechanisms.laplace(b=1.0, secret=bl.Finite([-1, 1]))
    >>> event_maximal_leakage(bl.uniform(noisy.secret) * noisy, bl.Interval(0, None))
    Bound(0.4898801256, certified)
    """
    if (event is None) == (delta is None):
        raise InvalidInput(
            "bl.event_maximal_leakage", expected="an event or delta=...", got="both or neither"
        )
    if delta is not None:
        level = probability("bl.event_maximal_leakage", "delta", delta)
        if level == 0 and not getattr(joint, "finite", False):
            return pml(joint).sup()
        return figure(joint, "event_maximal_leakage", level)
    if isinstance(joint, JointFamily):
        return joint.each(lambda one: event_maximal_leakage(one, event), "event_maximal_leakage")  # type: ignore[return-value]
    require_joint(joint, "event_maximal_leakage")
    outcome = joint.outcome
    if outcome.kind != "finite":
        if callable(event):
            raise InvalidInput(
                "bl.event_maximal_leakage",
                expected=f"an event of {outcome!r} as intervals, or as a list of labels",
                got="a function",
                mend="write bl.Interval(0, 1), a list of intervals, or [0, 1, 2].",
            )
        chosen_set = event_of(event, outcome, "bl.event_maximal_leakage")
        return figure(joint, "event_leakage", chosen_set)
    if callable(event):
        labels = outcome.labels
        columns = np.flatnonzero([bool(event(label)) for label in labels])
    elif isinstance(event, (str, bytes)) or not hasattr(event, "__iter__"):
        raise InvalidInput(
            "bl.event_maximal_leakage",
            expected="a list of outcomes or an indicator",
            got=repr(event),
        )
    else:
        chosen = list(event)
        columns = np.array([int(outcome.positions(label, "y")) for label in chosen], int)
    return figure(joint, "event_leakage", np.unique(columns))


def dynamic_min_entropy_leakage(joint: Joint, y: Any) -> Bound:
    r"""Return the dynamic min-entropy leakage at an outcome.

    .. math:: \log \frac{\max_x P_{X|Y=y}(x)}{\max_x P_X(x)}

    Parameters
    ----------
    joint : Joint
        ``prior * mech`` with a finite secret.
    y : label
        The outcome.

    Returns
    -------
    Bound
        In nats, at most PML at y. It may be negative: the best guess may become less likely. 0 by
        convention at an outcome of density 0, marked.

    References
    ----------
    Espinoza, Smith, "Min-entropy as a Resource" (2013), Definition 3; "Pointwise Maximal
    Leakage", Section II-D, where it is the leakage of the identity gain. Its equation (11) lacks
    the logarithm.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.9, 0.1]) * bl.Mechanism.from_matrix([[0.1, 0.9], [0.9, 0.1]])
    >>> dynamic_min_entropy_leakage(joint, 0)
    Bound(-0.5877866649, exact)
    """
    if isinstance(joint, JointFamily):
        return joint.each(
            lambda one: dynamic_min_entropy_leakage(one, y), "dynamic_min_entropy_leakage"
        )  # type: ignore[return-value]
    require_joint(joint, "dynamic_min_entropy_leakage")
    joint.outcome.check(y)
    return figure(joint, "dynamic_min_entropy_leakage", y, least=-math.inf)


def pointwise_maximal_guesswork_leakage(joint: Joint) -> Any:
    r"""Return pointwise maximal guesswork leakage, which is PMC.

    .. math:: \sup_{U - X - Y} \log \frac{\min_G E\, G(U)}{\min_{\hat G} E[\hat G(U) | Y = y]}
              = D_\infty(P_X \| P_{X|Y=y}) = \Lambda(X \to y)

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.

    Returns
    -------
    LeakageVariable
        ``bl.pmc(joint)``, in nats.

    Notes
    -----
    The theorem is for finite X. For another one U ranges over finite functions of it still, and
    the Renyi divergence is the supremum over finite partitions (van Erven, Harremoes, Theorem 10),
    so that the identity carries over.

    References
    ----------
    Kurri, Managoli, Prabhakaran, "Maximal Guesswork Leakage" (2024); "Information Density Bounds
    for Privacy", Definition 10 and after.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> pointwise_maximal_guesswork_leakage(joint)(0)
    Bound(0.6931471806, exact)
    """
    return pmc(joint)
