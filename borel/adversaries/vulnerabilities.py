r"""Vulnerability before and after a release, and what it leaks: g-leakage and its cost twin.

See `borel.adversaries.threats` for what is computed, and `borel.adversaries.leaks` for how.
"""

from __future__ import annotations

from typing import Any

from borel import settings
from borel.adversaries import costs, gains
from borel.adversaries.leaks import Leak
from borel.adversaries.threats import Cost, Gain
from borel.errors import InvalidInput
from borel.probability.bound import Bound


@settings.one_figure()
def prior_vulnerability(joint: Any, gain: Gain) -> Bound:
    r"""Return what an adversary gains without an observation, :math:`\sup_w E\, g(X, w)`.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``, with a finite secret; or a real one that has a density on an interval.
    gain : Gain
        From `bl.adversaries.gain`.

    Returns
    -------
    Bound
        In units of the gain; exact. ``witness["before"]`` is a best action. Of a real secret
        certified, or conditional on g >= 0 where the formula of g does not show it.

    Raises
    ------
    InvalidInput
        Not a joint, or not a gain; `NotYet` where the secret is not finite.

    References
    ----------
    "Pointwise Maximal Leakage", the denominator of equation (10).

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.75, 0.25]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> prior_vulnerability(joint, bl.adversaries.gain.identity())
    Bound(0.75 gain, exact)
    """
    return Leak(joint, gain, Gain, "prior_vulnerability").before()


@settings.one_figure()
def posterior_vulnerability(joint: Any, gain: Gain, y: Any = None) -> Bound:
    r"""Return what an adversary gains after the release: at an outcome, or on average.

    .. math:: \sup_w E[g(X, w) \mid Y = y], \qquad E_Y \sup_w E[g(X, w) \mid Y]

    Parameters
    ----------
    joint : Joint
        ``prior * mech``, with a finite secret; or a real one that has a density on an interval.
    gain : Gain
        From `bl.adversaries.gain`.
    y : label, optional
        The outcome; the average over Y if not given (finite secrets). An outcome of probability 0
        tells nothing: the prior's vulnerability, marked so.

    Returns
    -------
    Bound
        In units of the gain; exact on finite alphabets, certified elsewhere. ``witness["after"]``
        is a best action, or, of finitely many outcomes, a dict of one for each.

    Raises
    ------
    InvalidInput
        Not a joint, or not a gain; `OutsideAlphabet` for y; `NotYet` for other secrets.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.75, 0.25]) * bl.Mechanism.from_matrix([[0.5, 0.5], [0, 1]])
    >>> posterior_vulnerability(joint, bl.adversaries.gain.identity(), 1)
    Bound(0.6 gain, exact)
    """
    return Leak(joint, gain, Gain, "posterior_vulnerability").after(y)


@settings.one_figure()
def g_leakage(joint: Any, gain: Gain, y: Any = None) -> Bound:
    r"""Return the g-leakage of a gain: at an outcome, or on average (multiplicative g-leakage).

    .. math:: \ell_g(X \to y) = \log \frac{\sup_w E[g(X, w) \mid Y = y]}{\sup_w E\, g(X, w)},
              \qquad \log \frac{E_Y \sup_w E[g(X, w) \mid Y]}{\sup_w E\, g(X, w)}

    Parameters
    ----------
    joint : Joint
        ``prior * mech``, with a finite secret; or a real one that has a density on an interval.
    gain : Gain
        From `bl.adversaries.gain`.
    y : label, optional
        The outcome; the average over Y if not given (finite secrets).

    Returns
    -------
    Bound
        In nats; exact on finite alphabets, with an exact ``ratio`` where prior, matrix and gain are
        rational; certified elsewhere. At an outcome it is at most PML there, and may be negative
        (-inf, where nothing can be gained any more); on average it is between 0 and maximal
        leakage. ``witness`` has ``y`` and a best action ``before`` and ``after``. 0 at an outcome
        of probability 0, and for a gain that is 0 almost surely (0/0 = 1).

    Raises
    ------
    InvalidInput
        Not a joint, or not a gain; `OutsideAlphabet` for y; `NotYet` for other secrets.

    References
    ----------
    "Pointwise Maximal Leakage", equation (10) and Theorem 2; Alvim, Chatzikokolakis, Palamidessi,
    Smith, "Measuring information leakage using generalized gain functions" (2012).

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[F(1, 2), F(1, 2)], [F(0), F(1)]])
    >>> joint = bl.pmf([F(3, 4), F(1, 4)]) * mech
    >>> g_leakage(joint, bl.adversaries.gain.identity(), 0).ratio
    Ratio(lower=Fraction(4, 3), upper=Fraction(4, 3))

    An outcome with a density, where the best guess of two secrets at distance 2 is worth as much
    as the event y > 0 tells:

    >>> noisy = bl.mechanisms.gaussian(sigma=1.0, secret=bl.Finite([-1, 1]))
    >>> noisy = bl.pmf([F(1, 2), F(1, 2)], on=noisy.secret) * noisy
    >>> g_leakage(noisy, bl.adversaries.gain.identity())
    Bound([0.52039340..., 0.52039340...], certified)
    """
    return Leak(joint, gain, Gain, "g_leakage").leakage(y)


@settings.one_figure()
def prior_cost(joint: Any, cost: Cost) -> Bound:
    r"""Return what an adversary must pay without an observation, :math:`\inf_w E\, c(X, w)`.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``, with a finite secret; or a real one that has a density on an interval.
    cost : Cost
        From `bl.adversaries.cost`.

    Returns
    -------
    Bound
        In units of the cost; exact. ``witness["before"]`` is a best action. Of a real secret
        certified, or conditional on c >= 0 where the formula of c does not show it.

    Raises
    ------
    InvalidInput
        Not a joint, not a cost, or one that is infinite for every action; `NotYet` where an
        alphabet is not finite.

    References
    ----------
    "Information Density Bounds for Privacy", the numerator of equation (7).

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.75, 0.25]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> prior_cost(joint, bl.adversaries.cost.zero_one())
    Bound(0.25 cost, exact)
    """
    return Leak(joint, cost, Cost, "prior_cost").before()


@settings.one_figure()
def posterior_cost(joint: Any, cost: Cost, y: Any = None) -> Bound:
    r"""Return what an adversary must pay after the release: at an outcome, or on average.

    .. math:: \inf_w E[c(X, w) \mid Y = y], \qquad E_Y \inf_w E[c(X, w) \mid Y]

    Parameters
    ----------
    joint : Joint
        ``prior * mech``, with a finite secret; or a real one that has a density on an interval.
    cost : Cost
        From `bl.adversaries.cost`.
    y : label, optional
        The outcome; the average over Y if not given (finite secrets). An outcome of probability 0
        tells nothing: the prior's cost, marked so.

    Returns
    -------
    Bound
        In units of the cost; exact on finite alphabets, certified elsewhere. ``witness["after"]``
        is a best action, or, of finitely many outcomes, a dict of one for each.

    Raises
    ------
    InvalidInput
        Not a joint, or not a cost; `OutsideAlphabet` for y; `NotYet` for other secrets.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.75, 0.25]) * bl.Mechanism.from_matrix([[0.5, 0.5], [0, 1]])
    >>> posterior_cost(joint, bl.adversaries.cost.zero_one(), 1)
    Bound(0.4 cost, exact)
    """
    return Leak(joint, cost, Cost, "posterior_cost").after(y)


@settings.one_figure()
def cost_leakage(joint: Any, cost: Cost, y: Any = None) -> Bound:
    r"""Return the leakage to an adversary who minimises a cost: at an outcome, or on average.

    .. math:: \Lambda_c(X \to y) = \log \frac{\inf_w E\, c(X, w)}{\inf_w E[c(X, w) \mid Y = y]},
              \qquad \log \frac{\inf_w E\, c(X, w)}{E_Y \inf_w E[c(X, w) \mid Y]}

    Parameters
    ----------
    joint : Joint
        ``prior * mech``, with a finite secret; or a real one that has a density on an interval.
    cost : Cost
        From `bl.adversaries.cost`.
    y : label, optional
        The outcome; the average over Y if not given (finite secrets).

    Returns
    -------
    Bound
        In nats; exact on finite alphabets, with an exact ``ratio`` where prior, matrix and cost are
        rational; certified elsewhere. At an outcome it is at most PMC there, may be negative, and
        is infinite where nothing needs to be paid any more; on average it is between 0 and maximal
        cost leakage. ``witness`` has ``y`` and a best action ``before`` and ``after``. 0 at an
        outcome of probability 0, and for a cost that is 0 before (0/0 = 1).

    Raises
    ------
    InvalidInput
        Not a joint, not a cost, or one that is infinite for every action; `OutsideAlphabet` for
        y; `NotYet` for other secrets.

    References
    ----------
    "Information Density Bounds for Privacy", equation (7), Definition 11, Proposition 2.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    >>> joint = bl.pmf([F(1, 2), F(1, 2)]) * mech
    >>> cost_leakage(joint, bl.adversaries.cost.zero_one(), 0).ratio
    Ratio(lower=Fraction(2, 1), upper=Fraction(2, 1))

    The mean squared error of a normal secret in normal noise halves at every outcome:

    >>> noisy = bl.normal(mu=0, sigma=1) * bl.mechanisms.gaussian(sigma=1.0)
    >>> cost_leakage(noisy, bl.adversaries.cost.distance(2), 0.7)
    Bound(0.6931471806, certified)
    """
    return Leak(joint, cost, Cost, "cost_leakage").leakage(y)


@settings.one_figure()
def function_leakage(joint: Any, function: Any, y: Any = None, *, of: str = "pml") -> Bound:
    r"""Return what an outcome leaks about a randomised function U of the secret.

    .. math:: \ell_U(X \to y) = \log \frac{\max_u P_{U|Y=y}(u)}{\max_u P_U(u)}, \qquad
              \Lambda_U(X \to y) = \log \frac{1 - \max_u P_U(u)}{1 - \max_u P_{U|Y=y}(u)}

    for ``of="pml"`` (the probability of a right guess of U) and ``of="pmc"`` (of a wrong one).

    Parameters
    ----------
    joint : Joint
        ``prior * mech``, with a finite secret.
    function : Mechanism
        The kernel P_{U|X}, finite; U - X - Y is a Markov chain.
    y : label, optional
        The outcome; the average over Y if not given (finite secrets).
    of : {"pml", "pmc"}
        Which adversary: one who seeks a right guess, or one who avoids a wrong one.

    Returns
    -------
    Bound
        In nats; exact on finite alphabets, certified for outcomes that are countable or have a
        density. At an outcome at most PML, or PMC.

    Raises
    ------
    InvalidInput
        Not a joint, not a finite mechanism, another word for ``of``; `OutsideAlphabet` for y;
        `NotYet` where the secret of the joint is not finite.

    References
    ----------
    "Pointwise Maximal Leakage", equation (3); "Information Density Bounds for Privacy",
    equation (5).

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> parity = bl.Mechanism.from_matrix([[1, 0], [0, 1]])
    >>> function_leakage(joint, parity, 0), function_leakage(joint, parity, 0, of="pmc")
    (Bound(0.4054651081, exact), Bound(0.6931471806, exact))
    """
    if of == "pml":
        return Leak(joint, gains.guessing(function), Gain, "function_leakage").leakage(y)
    if of == "pmc":
        return Leak(joint, costs.guessing(function), Cost, "function_leakage").leakage(y)
    raise InvalidInput("function_leakage", expected='of="pml" or of="pmc"', got=repr(of))
