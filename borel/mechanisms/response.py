"""Randomised response: tell the truth with a likelihood e^epsilon times that of any one lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from borel.mechanisms.closed_forms import JOURNAL
from borel.mechanisms.levels import (
    Epsilon,
    ExactRatio,
    TwoLikelihoodForms,
    finite_secret,
    level_of,
    two_likelihoods,
)
from borel.mechanisms.parameter_arrays import over_arrays
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.probability.mechanism import Mechanism


@over_arrays
@explained
def randomized_response(
    *, k: int | None = None, epsilon: float | None = None, ratio: Any = None, secret: Any = None
) -> Mechanism:
    r"""Make k-ary randomised response.

    .. math:: P_{Y|X=i}(j) = \frac{e^\varepsilon}{k - 1 + e^\varepsilon} \text{ if } i = j,
              \quad \frac{1}{k - 1 + e^\varepsilon} \text{ otherwise.}

    Parameters
    ----------
    k : int, optional
        Number of labels, at least 2; 0, ..., k - 1 if no ``secret`` is given.
    epsilon : float or DataArray
        Its LDP level in nats, >= 0; a float means its binary64 value.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of ``epsilon``: the matrix holds Fractions,
        and with a prior of Fractions every ratio is exact.
    secret : Alphabet or sequence of labels, optional
        The finite alphabet of secret and outcome.

    Returns
    -------
    Mechanism
        Finite; a `MechanismFamily` when ``epsilon`` is a DataArray.

    Raises
    ------
    InvalidInput
        Fewer than two labels, ``epsilon`` < 0 or NaN, ``ratio`` < 1, both or neither of them,
        probabilities that float64 cannot hold (``epsilon`` above about 708).

    Notes
    -----
    Closed forms, for every prior p with support S, proved in `RandomizedResponseForms`:
    for j in S, PML(j) = log(r / (1 + p_j (r - 1))) and, if S has two labels or more,
    PMC(j) = log(1 + p_j (r - 1)), r = e^epsilon. Outside S, and for a prior at one point, both
    are 0. So sup PML = log(r / (1 + p_min (r - 1))), p_min over the *support*, and
    sup PMC = log(1 + p_max (r - 1)).

    References
    ----------
    Saeidian, Grosse, Sadeghi, Skoglund, Oechtering, "Information Density Bounds for Privacy",
    Example 4; Kairouz, Oh, Viswanath (2016).

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> rr = bl.mechanisms.randomized_response(ratio=3, secret=["no", "yes"])
    >>> bl.pml(bl.pmf([F(1, 4), F(3, 4)], on=rr.secret) * rr).sup().ratio.upper
    Fraction(2, 1)
    """
    alphabet = finite_secret("randomized_response", k, secret)
    level, size = level_of("randomized_response", epsilon, ratio), alphabet.size
    return two_likelihoods(
        "randomized_response",
        "",
        level,
        lambda power: [1 / (size - 1 + power(1))],
        secret=alphabet,
        outcome=alphabet,
        sets=[(j,) for j in range(size)],
        forms=RandomizedResponseForms,
    )


@dataclass(frozen=True)
class RandomizedResponseForms(TwoLikelihoodForms):
    """Example 4: the truth is e^epsilon times as likely as any one lie, S_y = {y}."""

    level: Epsilon | ExactRatio
    theorems: ClassVar[dict[str, str]] = {
        "pml": f"{JOURNAL}, Example 4 (the PML that it quotes)",
        "pmc": f"{JOURNAL}, Example 4",
    }
