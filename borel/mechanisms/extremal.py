"""PML-extremal mechanisms: the useful ones under a PML constraint, for high privacy."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.constants import real
from borel.errors import InvalidInput
from borel.probability.mechanism import Mechanism
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.probability.measure import Measure


@explained
def pml_extremal(*, prior: Measure, epsilon: Any = None, ratio: Any = None) -> Mechanism:
    r"""Return the PML-extremal mechanism of the high-privacy regime.

    .. math:: P^*_{Y|X=i}(j) = 1 - e^\varepsilon (1 - P_X(i)) \text{ if } i = j, \quad
              e^\varepsilon P_X(j) \text{ otherwise}

    All of its outcomes have leakage epsilon: by Theorem 4 its envelope is epsilon for every delta.

    Parameters
    ----------
    prior : Measure
        Finite, of at least two labels of positive probability each.
    epsilon : number
        Nats, 0 <= epsilon < -log(1 - min P_X).
    ratio : int or Fraction
        e^epsilon exactly: with a prior of Fractions the matrix is one of Fractions; else of
        floats, whose leakage is epsilon up to rounding.

    Returns
    -------
    Mechanism
        From the labels of the prior to themselves; its outcome has the law of the prior.

    Raises
    ------
    InvalidInput
        A level outside the regime, or another prior.

    References
    ----------
    "Information Leakage Envelopes", Section V-A and Theorem 4; Grosse, Saeidian, Oechtering,
    "Extremal Mechanisms for Pointwise Maximal Leakage" (2024).

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> prior = bl.pmf([F(1, 4), F(3, 4)])
    >>> pml_extremal(prior=prior, ratio=F(6, 5)).matrix.tolist()[0]
    [Fraction(1, 10), Fraction(9, 10)]
    """
    if (epsilon is None) == (ratio is None):
        raise InvalidInput(
            "pml_extremal", expected="epsilon, or ratio=e^epsilon", got="both or none"
        )
    if getattr(prior, "_probabilities", None) is None or prior.batch:
        raise InvalidInput("pml_extremal", expected="one finite prior", got=repr(prior))
    given = real("pml_extremal", epsilon if ratio is None else ratio, "a finite number")
    if isinstance(given, bool) or not math.isfinite(given):
        raise InvalidInput("pml_extremal", expected="a finite number", got=repr(given))
    factor: Any = Fraction(given) if isinstance(given, Rational) else given
    if ratio is None:
        factor = math.exp(min(float(given), 700.0))
    exact = prior.rational and isinstance(factor, Fraction)
    kind: Any = Fraction if exact else float
    total = sum(prior.probabilities.tolist())  # of floats 1 to their rounding
    factor, p = kind(factor), [kind(v) / kind(total) for v in prior.probabilities]
    sound = len(p) >= 2 and min(p) > 0 and factor >= 1
    if not sound or not factor * (1 - min(p)) < 1:
        raise InvalidInput(
            "pml_extremal",
            expected="two labels or more of positive probability, and 1 <= e^epsilon < "
            "1 / (1 - min P_X)",
            got=f"min P_X = {float(min(p)):g}, e^epsilon = {float(factor):g}",
            mend="beyond it the best mechanism depends on the utility: "
            "bl.design.best(prior, bl.guarantees.PML(epsilon))."
            if sound
            else "leave out what has probability 0, and give a level >= 0.",
        )
    rows = np.array([[factor * v for v in p] for _ in p], dtype=object if exact else float)
    for i, mass in enumerate(p):
        rows[i, i] = 1 - factor * (1 - mass)
    return Mechanism.from_matrix(rows, secret=prior.on, outcome=prior.on)
