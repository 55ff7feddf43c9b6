r"""Costs of the literature, c(x, w) >= 0: public as ``bl.adversaries.cost``.

Each is what an adversary minimises; none leaks more than PMC at any outcome ("Information Density
Bounds for Privacy", Theorems 3 and 4, Corollary 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from borel.adversaries.beliefs import Secrets, at_most_1
from borel.adversaries.distance_costs import RealDistance, power
from borel.adversaries.shared_threats import ReciprocalCost, of_distance, of_function
from borel.adversaries.threats import Cost, Number, TabledCost, Value, given_table
from borel.constants import real
from borel.errors import InvalidInput
from borel.numerics.balls.arithmetic import ball, precision, rational_ends
from borel.probability.measure import Measure

__all__ = ["alpha_loss", "distance", "guessing", "reciprocal", "table", "zero_one"]


class _ZeroOne(Cost):
    """1 for a wrong guess: C(w) is the mass of all secrets but the likeliest, summed as such."""

    name = "zero-one"

    def values(self, secrets: Secrets, weights: np.ndarray) -> list[Value]:
        """Return the total weight without the largest."""
        out = []
        for row in weights.tolist():
            best = max(range(len(row)), key=row.__getitem__)
            rest = sum((w for i, w in enumerate(row) if i != best), Fraction(0))
            out.append(Value(rest, rest, secrets.labels[best]))
        return out

    def actions(self, secrets: Secrets) -> tuple:
        """Return the guesses."""
        return secrets.labels

    def at(self, secrets: Secrets, action: Any) -> list[Fraction]:
        """Return 1 at the secrets that are not guessed."""
        return [Fraction(int(x != action)) for x in secrets.labels]


class _AlphaLoss(Cost):
    r"""The alpha-loss, over all laws Q.

    With total weight S,

    .. math:: C(w) = \tfrac{\alpha}{\alpha-1} (S - \|w\|_\alpha), \qquad
              C(w) = \sum_x w(x) \log (S / w(x)) \quad (\alpha = 1).
    """

    def __init__(self, alpha: Fraction):
        self.alpha = alpha
        self.name = f"{float(alpha):g}-loss"

    def values(self, secrets: Secrets, weights: np.ndarray) -> list[Value]:
        """Return the least expected loss, and the law Q that has it."""
        return [
            Value(*self._least([w for w in row if w]), self._law(secrets, row))
            for row in weights.tolist()
        ]

    def _least(self, w: list[Fraction]) -> tuple[Fraction, Fraction]:
        if len(w) < 2:
            return Fraction(0), Fraction(0)
        total = sum(w, Fraction(0))
        if self.alpha == 1:
            return rational_ends(lambda: sum((ball(v) * ball(total / v).log() for v in w), ball(0)))
        # scaled to a total of 1, so that no power leaves the range of exponents
        shares = [v / total for v in w]
        low, high = rational_ends(lambda: 1 - self._norm(shares))
        factor = self.alpha / (self.alpha - 1) * total
        return factor * low, factor * high

    def _norm(self, w: list[Fraction]) -> Any:
        a = ball(self.alpha)
        return sum((ball(v) ** a for v in w), ball(0)) ** (1 / a)

    def _law(self, secrets: Secrets, row: list[Fraction]) -> dict[Any, float]:
        """Return Q(x), proportional to w(x)**alpha, in float64."""
        top = max(row)
        with precision(64):
            powers = [float((ball(v / top) ** ball(self.alpha)).mid()) if v else 0.0 for v in row]
        total = math.fsum(powers) or 1.0  # of no secret at all
        return {x: p / total for x, p in zip(secrets.labels, powers, strict=True)}


def zero_one() -> Cost:
    r"""Guess the secret, at a cost of 1 for a wrong guess: :math:`c(x, w) = 1[x \ne w]`.

    The expected cost is the probability of error.

    Returns
    -------
    Cost
        Actions: the labels of the secret.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> bl.adversaries.cost_leakage(joint, zero_one(), 0)
    Bound(0.6931471806, exact)
    """
    return _ZeroOne()


def distance(
    p: Any = 2,
    *,
    distance: Callable[[Any, Any], Any] | None = None,
    guesses: Sequence[Any] | None = None,
) -> Cost:
    r"""Come near the secret: :math:`c(x, w) = |x - w|^p`, over all real w or over some guesses.

    Parameters
    ----------
    p : number
        Power, at least 1. 2 is the mean squared error, 1 the mean absolute error.
    distance : callable, optional
        ``rho(x, w) >= 0`` in the place of ``|x - w|``; the guesses are then the secrets, unless
        given.
    guesses : sequence, optional
        The actions; all real numbers if neither this nor ``distance`` is given.

    Returns
    -------
    Cost
        Over the reals p = 1 and p = 2 are rational (a median, the mean); for other p the least
        cost is enclosed by convexity, to about 100 bits.

    Raises
    ------
    InvalidInput
        p below 1 or infinite; labels that are not numbers and no distance.

    References
    ----------
    "Information Density Bounds for Privacy", Example 2.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.25] * 4) * bl.Mechanism.from_matrix([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> found = bl.adversaries.cost_leakage(joint, bl.adversaries.cost.distance(2), 0)
    >>> found.ratio.upper  # the variance goes down from 5/4 to 1/4
    5.0000000...
    """
    what = "cost.distance"
    exponent = _at_least_one(p, what, "a finite power p >= 1")
    if exponent == math.inf:
        raise InvalidInput(what, expected="a finite power p >= 1", got=repr(p))
    exponent = Fraction(exponent)
    if distance is not None and not callable(distance):
        raise InvalidInput(what, expected="distance=<a function>", got=repr(distance))
    if distance is None and guesses is None:
        return RealDistance(exponent)
    costs = of_distance(lambda rho: power(rho, exponent), distance, guesses, what)
    return TabledCost(costs, f"distance**{float(exponent):g}")


def alpha_loss(alpha: Any) -> Cost:
    r"""Guess a law Q of the secret, at the cost of the alpha-loss.

    .. math:: c_\alpha(x, Q) = \frac{\alpha}{\alpha-1} \bigl(1 - Q(x)^{(\alpha-1)/\alpha}\bigr),
              \qquad c_1(x, Q) = \log \frac{1}{Q(x)}, \qquad c_\infty(x, Q) = 1 - Q(x)

    Parameters
    ----------
    alpha : number in [1, inf]
        1 is the log-loss, infinity the probability of error.

    Returns
    -------
    Cost
        The best Q is proportional to P(x)^alpha, and the least cost
        :math:`\tfrac{\alpha}{\alpha-1} (1 - \|P\|_\alpha)`; for alpha = 1 Q = P, and it is the
        entropy of the law in nats. Actions are dicts of float64 values of Q (a label for
        alpha = inf); the figures are exact, to rounding.

    Raises
    ------
    InvalidInput
        alpha outside [1, inf].

    References
    ----------
    "Information Density Bounds for Privacy", Example 3; Liao, Kosut, Sankar, du Pin Calmon,
    "Tunable measures for information leakage" (2019), for the best Q.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> bl.adversaries.prior_cost(joint, alpha_loss(1))
    Bound(0.6931471806 cost, exact)
    """
    order = _at_least_one(alpha, "cost.alpha_loss", "alpha in [1, inf]")
    return _ZeroOne() if order == math.inf else _AlphaLoss(Fraction(order))


def _at_least_one(value: Any, what: str, wanted: str) -> Number:
    """Return a number in [1, inf] as a Fraction, or infinity."""
    number = real(what, value, wanted)
    if isinstance(number, bool) or not number >= 1:
        raise InvalidInput(what, expected=wanted, got=repr(value))
    return math.inf if number == math.inf else Fraction(number)


def table(values: Any, actions: Sequence[Any] | None = None) -> Cost:
    r"""Make a cost from any matrix or function c(x, w) >= 0.

    Parameters
    ----------
    values : array_like (n, k), DataArray, or callable
        As for `borel.adversaries.gains.table`. Entries may be infinite, as long as some action
        has a finite expected cost under the prior.
    actions : sequence (k,), optional
        The actions w. For a matrix 0, ..., k - 1 if not given; for a function the secrets.
        A real secret needs them, and a function that NumPy can compute elementwise in x.

    Returns
    -------
    Cost
        Fractions and integers are taken exactly, floats as the binary64 numbers they are.

    Raises
    ------
    InvalidInput
        Entries that are negative or NaN; a shape that does not match.

    References
    ----------
    "Information Density Bounds for Privacy", equation (7) and Definition 11.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> bl.adversaries.cost_leakage(joint, table([[0, 4], [1, 0]]), 0)
    Bound(0.6931471806, exact)
    """
    build = given_table(values, actions, "cost.table", infinite=True)
    return TabledCost(build, "table", values if callable(values) else None, actions)


def reciprocal(prior: Measure) -> Cost:
    r"""Name a secret that is not the one: :math:`c(x, w) = 1[x = w] / P_X(x)`.

    Every action costs 1 before the release, and :math:`P(w|y) / P(w)` after it: the leakage at
    every outcome is PMC, and on average it is maximal cost leakage.

    Parameters
    ----------
    prior : Measure
        Finite. Its probabilities are read as the numbers they are.

    Returns
    -------
    Cost
        Actions: the labels that the prior charges.

    References
    ----------
    "Information Density Bounds for Privacy", Theorem 4 (the cost c* of Appendix B, with one
    secret in each cell of the partition).

    Examples
    --------
    >>> import borel as bl
    >>> prior = bl.pmf([0.9, 0.1])
    >>> joint = prior * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> bl.adversaries.cost_leakage(joint, reciprocal(prior), 0), bl.pmc(joint)(0)
    (Bound(1.029619417, exact), Bound(1.029619417, exact))
    """
    return ReciprocalCost(prior)


def guessing(function: Any) -> Cost:
    r"""Guess a randomised function U, at a cost of 1 if wrong.

    .. math:: c_U(x, u) = 1 - P_{U|X=x}(u)

    Parameters
    ----------
    function : Mechanism
        The kernel P_{U|X}, finite.

    Returns
    -------
    Cost
        Actions: the labels of U.

    Raises
    ------
    InvalidInput
        Not a finite mechanism, or one that is not defined at some secret.

    Notes
    -----
    With floats, 1 - P(u|x) is the sum of the other probabilities: nothing cancels.

    References
    ----------
    "Information Density Bounds for Privacy", Theorem 3 (first direction, Appendix A).

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> bl.adversaries.cost_leakage(joint, guessing(bl.Mechanism.from_matrix([[1, 0], [0, 1]])), 0)
    Bound(0.6931471806, exact)
    """
    return of_function(TabledCost, function, _complement)


def _complement(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of 1 - P(u|x): those of the sum of the other probabilities."""
    if lower is upper:
        wrong = 1 - lower
        return wrong, wrong
    low, high = (rows.sum(axis=1, keepdims=True) - rows for rows in (lower, upper))
    return low, at_most_1(high)
