"""Sibson's mutual information of finite joints."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from borel.constants import exactly, real
from borel.engine import engine_for
from borel.errors import InvalidInput
from borel.figures.averages import maximal_leakage, mutual_information
from borel.figures.dispatch import figure
from borel.numerics.balls.arithmetic import ball, enclose

if TYPE_CHECKING:
    from fractions import Fraction

    from borel.engine.problem.engine import TableEnd
    from borel.probability.bound import Bound
    from borel.probability.joint import Joint


def sibson_information(joint: Joint, order: Any) -> Bound:
    r"""Return Sibson's mutual information of an order.

    .. math:: I_\alpha(X;Y) = \frac{\alpha}{\alpha - 1}
              \log \sum_y \Big(\sum_x P_X(x) P_{Y|X=x}(y)^\alpha\Big)^{1/\alpha}

    and its limits: mutual information for order 1, maximal leakage for order infinity.

    Parameters
    ----------
    joint : Joint
        A finite ``prior * mech``; of orders 1 and infinity any that `mutual_information` and
        `maximal_leakage` take.
    order : number or inf
        Above 0; Fractions are exact, a float means its binary64 value.

    Returns
    -------
    Bound
        In nats, exact. Floats widen it by their rounding times (order + 1) / \|order - 1\|: give
        Fractions near order 1. It never falls as the order grows, and is the least Renyi divergence
        of that order of P_XY from P_X x Q, over every law Q of Y.

    Raises
    ------
    InvalidInput
        An order that is not above 0.

    References
    ----------
    Sibson, "Information Radius" (1969); Verdu, "Alpha-mutual Information" (2015).

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> sibson_information(joint, 2)  # log 5/4
    Bound(0.2231435513, exact)
    """
    expected = "an order > 0, perhaps inf"
    number = real("bl.sibson_information", order, expected)
    if isinstance(number, bool) or not number > 0:
        raise InvalidInput("bl.sibson_information", expected=expected, got=repr(order))
    if number == 1:
        return mutual_information(joint)
    if number == math.inf:
        return maximal_leakage(joint)
    return figure(joint, "sibson_information", exactly(number), by=_enclosed)


def _enclosed(joint: Joint, order: Fraction) -> Bound:
    engine = engine_for(joint)
    ends = [enclose(partial(_value, end, order)) for end in engine.table("sibson_information")]
    low, high = min(a for a, _ in ends), max(b for _, b in ends)
    return engine.bound(max(low, 0.0), max(high, 0.0))


def _value(end: TableEnd, order: Fraction) -> Any:
    """Evaluate the formula; the sum increases in every probability, so that two ends enclose it."""
    total = ball(0)
    for column in zip(*end.rows, strict=True):
        largest = max(column)  # factored out: its power has no rounding for a large order to grow
        terms = (
            ball(p) * ball(v / largest) ** ball(order)
            for p, v in zip(end.prior, column, strict=True)
            if v
        )
        total += ball(largest) * sum(terms, ball(0)) ** ball(1 / order)
    return ball(order / (order - 1)) * total.log()
