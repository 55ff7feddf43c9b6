"""Measures of what Y tells about X on average: maximal leakages, informations, their bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel.figures.dispatch import figure
from borel.probability.generators import generator

if TYPE_CHECKING:
    from borel.probability.bound import Bound
    from borel.probability.joint import Joint


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
    return figure(joint, "maximal_leakage")


def maximal_cost_leakage(joint: Joint) -> Bound:
    r"""Return maximal cost leakage, :math:`-\log \sum_y \operatorname{ess\,inf}_x f(y|x)`.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``; it depends on the prior through its support only.

    Returns
    -------
    Bound
        In nats: -log E e^-PMC(Y), at most the mean of PMC, with equality if and only if PMC is
        constant. Infinite if every outcome is impossible for some secret.

    References
    ----------
    "Information Density Bounds for Privacy", Definition 8 and after; Issa, Wagner, Kamath, "An
    Operational Approach to Information Leakage" (2020), Theorem 15.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> maximal_cost_leakage(joint)
    Bound(0.6931471806, exact)
    """
    return figure(joint, "maximal_cost_leakage")


def maximal_guesswork_leakage(joint: Joint) -> Bound:
    r"""Bound maximal guesswork leakage, for which no closed form is known.

    .. math:: \sup_{U - X - Y} \log \frac{\min_G E\, G(U)}{\min_{\hat G} E\, \hat G(U, Y)}

    where G orders the values of U, and is the number of guesses.

    Parameters
    ----------
    joint : Joint
        A finite ``prior * mech``; it depends on the prior through its support only.

    Returns
    -------
    Bound
        In nats. Exact where the two bounds meet (independence, revealed secrets), else
        ``undecided``. With d the largest total variation distance of two rows and n the number of
        secrets, or of outcomes if that is smaller, it lies between -log(1 - d / 2) (or better,
        by the mean distance) and the smaller of -log(1 - d) and log n.

    References
    ----------
    Kurri, Managoli, Prabhakaran, "Maximal Guesswork Leakage" (2024); "Information Density Bounds
    for Privacy", Section III-D.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[1, 0], [0, 1]])
    >>> maximal_guesswork_leakage(joint)
    Bound(0.6931471806, exact)
    """
    return figure(joint, "maximal_guesswork_leakage")


def min_entropy_leakage(joint: Joint) -> Bound:
    r"""Return min-entropy leakage, also called multiplicative Bayes leakage.

    .. math:: \log \frac{\sum_y \max_x P_X(x) P_{Y|X=x}(y)}{\max_x P_X(x)}

    Parameters
    ----------
    joint : Joint
        A finite ``prior * mech``. The largest value over priors is `maximal_leakage`, attained by
        the uniform one.

    Returns
    -------
    Bound
        In nats, exact.

    References
    ----------
    Braun, Chatzikokolakis, Palamidessi, "Quantitative Notions of Leakage for One-try Attacks"
    (2009); "Pointwise Maximal Leakage", Section I.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> min_entropy_leakage(joint)
    Bound(0.4054651081, exact)
    """
    return figure(joint, "min_entropy_leakage")


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
    return figure(joint, "mutual_information")


def f_information(joint: Joint, f: Any, *, at_zero: Any = None) -> Bound:
    r"""Return the f-information, the f-divergence of P_XY from P_X x P_Y.

    .. math:: I_f(X;Y) = E_{P_X \times P_Y}\, f\!\left(\frac{f(y|x)}{f_Y(y)}\right)

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.
    f : str or callable
        ``"kl"`` (t log t: mutual information), ``"total_variation"`` (\|t - 1\| / 2),
        ``"chi_square"`` ((t - 1)**2), ``"squared_hellinger"`` ((sqrt(t) - 1)**2 / 2); or a convex
        function of t > 0 with f(1) = 0, elementwise on arrays. Convexity is checked at points,
        not proved: no figure of a finite joint rests on it.
    at_zero : number, optional
        For a function: the limit f(0+), perhaps ``inf``, if f does not give it at 0 itself. It
        counts where a secret makes an outcome impossible.

    Returns
    -------
    Bound
        Nats for ``"kl"``, a probability for total variation, else a number. Exact on finite
        alphabets (a function too, if it can be traced); certified or an estimate on others.

    Raises
    ------
    InvalidInput
        A function that is seen not to be convex, f(1) != 0, or a limit at 0 that is missing.

    References
    ----------
    "Pointwise Maximal Leakage", Definitions 17 and 18.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> f_information(joint, "chi_square")
    Bound(0.25 number, exact)
    >>> f_information(joint, lambda t: (t - 1) ** 2)
    Bound(0.25 number, exact)
    """
    found = generator(f, at_zero)
    return figure(joint, "f_information", found, units=found.units)


def total_variation(joint: Joint) -> Bound:
    r"""Return total variation privacy, the mean distance of posterior and prior.

    .. math:: T(X;Y) = E_{P_Y}\, \mathrm{TV}(P_{X|Y}, P_X)
              = \tfrac12 \sum_{x,y} |P_{XY}(x,y) - P_X(x) P_Y(y)|

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.

    Returns
    -------
    Bound
        A probability: `f_information` with ``"total_variation"``. For the distance of two
        measures see `f_divergence`.

    References
    ----------
    "Pointwise Maximal Leakage", equation (24); Rassouli, Gunduz (2019).

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> total_variation(joint)
    Bound(0.25 probability, exact)
    """
    return f_information(joint, "total_variation")
