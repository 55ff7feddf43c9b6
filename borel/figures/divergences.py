"""Divergences of two measures: Renyi, (approximate) max-divergence, f-divergence. All Bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from borel.constants import exactly, real
from borel.errors import InvalidInput, NotYet
from borel.figures.asking import asked
from borel.probability.arrays import probability
from borel.probability.generators import generator
from borel.probability.measure import Measure

if TYPE_CHECKING:
    from borel.probability.bound import Bound


def renyi(p: Measure, q: Measure, order: Any) -> Bound:
    r"""Return the Renyi divergence of p from q.

    .. math:: D_\alpha(P \| Q) = \frac{1}{\alpha - 1} \log \int p^\alpha q^{1 - \alpha}

    and its limits: -log Q(p > 0) for order 0, the relative entropy for order 1, and
    log ess sup p / q for order infinity (max-divergence).

    Parameters
    ----------
    p, q : Measure
        Two finite measures (labels are matched, a missing one has probability 0), or two with
        densities on alphabets of one kind.
    order : number or inf
        0, ..., ``math.inf``; Fractions are exact, a float means its binary64 value.

    Returns
    -------
    Bound
        In nats. Exact for finite measures, and within the families normal, laplace, exponential,
        gamma, beta, poisson, geometric and uniform; certified for other densities on the line
        that Arb can integrate; else an estimate, or bounds that are ``undecided``. Infinite where
        P is not dominated by Q and the order is at least 1.

    Raises
    ------
    InvalidInput
        A negative order, or measures on alphabets of different kinds.
    NotYet
        Measures with atoms and a density at once, or with draws.

    References
    ----------
    van Erven, Harremoes, "Renyi Divergence and Kullback-Leibler Divergence" (2014), Definitions 2
    and 3; "Information Density Bounds for Privacy", Definition 1.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import math, borel as bl
    >>> p, q = bl.pmf([F(3, 4), F(1, 4)]), bl.pmf([F(1, 2), F(1, 2)])
    >>> renyi(p, q, math.inf).ratio.lower, renyi(p, q, 2).ratio.lower
    (Fraction(3, 2), Fraction(5, 4))
    >>> renyi(bl.normal(mu=1), bl.normal(), 2)
    Bound(1, exact)
    """
    _two_measures("bl.renyi", p, q)
    number = real("bl.renyi", order, "an order >= 0, perhaps inf")
    if not number >= 0:
        raise InvalidInput("bl.renyi", expected="an order >= 0, perhaps inf", got=repr(order))
    from borel.engine.measure_pairs import renyi_bound

    level = math.inf if number == math.inf else exactly(number)
    return asked((p, q), "renyi", (level,), lambda: renyi_bound(p, q, level))


def max_divergence(p: Measure, q: Measure, delta: Any = 0) -> Bound:
    r"""Return the (approximate) max-divergence of p from q.

    .. math:: D_\infty^\delta(P \| Q) = \log \max_{E : P(E) \ge \delta} \frac{P(E) - \delta}{Q(E)}
              = \log \min \{ \lambda \ge 0 : P(E) \le \lambda Q(E) + \delta \text{ for all } E \}

    Parameters
    ----------
    p, q : Measure
        Finite; for delta = 0 any that `renyi` takes.
    delta : number in [0, 1]
        A float means its binary64 value.

    Returns
    -------
    Bound
        In nats, exact for finite measures. For delta > 0 it may be negative (log(1 - delta) for
        P = Q), and is -inf for delta = 1.

    Notes
    -----
    Events with P(E) = delta and Q(E) = 0 do not count, so that the two forms agree without
    P << Q too. At the optimum E is a level set of p / q.

    References
    ----------
    "Pointwise Maximal Leakage", Definition 12; Dwork et al., "Generalization in Adaptive Data
    Analysis and Holdout Reuse" (2015).

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> p, q = bl.pmf([F(3, 4), F(1, 4)]), bl.pmf([F(1, 4), F(3, 4)])
    >>> max_divergence(p, q).ratio.lower, max_divergence(p, q, F(1, 4)).ratio.lower
    (Fraction(3, 1), Fraction(2, 1))
    """
    _two_measures("bl.max_divergence", p, q)
    from borel.engine.measure_pairs import max_divergence_bound

    level = probability("bl.max_divergence", "delta", delta)
    return asked((p, q), "max_divergence", (level,), lambda: max_divergence_bound(p, q, level))


def f_divergence(p: Measure, q: Measure, f: Any, *, at_zero: Any = None) -> Bound:
    r"""Return the f-divergence of p from q, :math:`D_f(P \| Q) = E_Q f(p / q)`.

    Parameters
    ----------
    p, q : Measure
        As for `renyi`.
    f : str or callable
        As for `f_information`; a function for finite measures with P << Q only.
    at_zero : number, optional
        For a function: the limit f(0+), if f does not give it at 0 itself.

    Returns
    -------
    Bound
        Nats for ``"kl"``, a probability for total variation, else a number; statuses as for
        `renyi`. Where P is not dominated by Q the limit of f(t) / t counts.

    References
    ----------
    "Pointwise Maximal Leakage", Definition 17.

    Examples
    --------
    >>> import borel as bl
    >>> f_divergence(bl.pmf([0.75, 0.25]), bl.pmf([0.25, 0.75]), "total_variation")
    Bound(0.5 probability, exact)
    """
    _two_measures("bl.f_divergence", p, q)
    from borel.engine.measure_pairs import f_divergence_bound

    made = generator(f, at_zero)
    return asked((p, q), "f_divergence", (made,), lambda: f_divergence_bound(p, q, made))


def _two_measures(what: str, p: Any, q: Any) -> None:
    for name, measure in (("p", p), ("q", q)):
        if not isinstance(measure, Measure):
            raise InvalidInput(what, expected=f"a Measure for {name}", got=type(measure).__name__)
        if measure.batch:
            raise NotYet(what, missing="measures with draw axes", instead="one at a time.")
