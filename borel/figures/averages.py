"""Measures of what Y tells about X on average: maximal leakages, informations, their bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel.engine.figures import LEAKAGES
from borel.errors import InvalidInput
from borel.figures.dispatch import figure
from borel.figures.leakage import pmc, pml
from borel.probability.arrays import probability
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


def tail_leakage(joint: Joint, delta: Any, of: str = "pml") -> Bound:
    r"""Return the tail leakage: the leakage on average over the worst outcomes.

    .. math:: \log V(\delta), \quad V(\delta) = \frac{1}{\delta}
              \max_{0 \le W \le 1,\ E W = \delta} E\big[W e^{\ell(X \to Y)}\big]
              = \min_c \Big\{c + \frac1\delta E\big(e^{\ell(X \to Y)} - c\big)_+\Big\}

    where W is the share of each outcome that counts. Of PMC it is -log of the least mean of e^-PMC.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.
    delta : number in [0, 1]
        The probability of the worst outcomes; a float means its binary64 value. At 1 it is
        `maximal_leakage` (or `maximal_cost_leakage`), at 0 the limit: the supremum of the leakage.
    of : {"pml", "pmc"}
        Which leakage.

    Returns
    -------
    Bound
        In nats, exact on finite alphabets, where the witness is the event of the worst outcomes,
        each with its share. That of PML is infinite for every delta > 0, or for none. Over a set of
        priors the supremum: exact or certified for finite mechanisms, for others between a member
        and what the supremum, maximal leakage and the centre's figure at another delta leave.

    Raises
    ------
    InvalidInput
        A delta outside [0, 1], or another leakage.

    Notes
    -----
    It means: an adversary who answers on outcomes of probability delta in all, and may abstain on
    the others, gains no more than e^bound times as much per answer as the best blind guess gains,
    whatever the gain is. Post-processing never raises it. P{PML > log V(delta)} < delta, so that it
    is at least the quantile at 1 - delta, and no post-processing has one that is larger: the
    envelope lies between log V(delta) - log 2 and log V(delta), on every alphabet.

    References
    ----------
    Expected shortfall (Rockafellar, Uryasev, 2000) of e^PML; ours: docs/tail_leakage.md has the
    theorems and their proofs.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[F(9, 10), F(1, 10)], [F(1), F(0)]])
    >>> joint = bl.pmf([F(1, 2), F(1, 2)]) * mech
    >>> [tail_leakage(joint, d).ratio.lower for d in (F(1, 20), F(1, 10), F(1))]
    [Fraction(2, 1), Fraction(29, 19), Fraction(11, 10)]
    >>> tail_leakage(joint, F(1, 10), of="pmc").ratio.lower
    Fraction(19, 9)
    """
    level = probability("bl.tail_leakage", "delta", delta)
    if of not in LEAKAGES:
        raise InvalidInput("bl.tail_leakage", expected='of="pml" or of="pmc"', got=repr(of))
    if level == 0:
        return (pml if of == "pml" else pmc)(joint).sup()
    if level == 1:
        return (maximal_leakage if of == "pml" else maximal_cost_leakage)(joint)
    return figure(joint, "tail_leakage", of, level)


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
        alphabets (a function too, if it can be traced; conditional on a limit at 0 that is declared
        and counts); certified or an estimate on others.

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
