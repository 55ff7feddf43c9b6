"""Unary encoding: a bit for each label, each flipped by itself."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput
from borel.mechanisms.levels import (
    Powers,
    finite_secret,
    level_of,
    require_few,
    two_likelihoods,
)
from borel.mechanisms.parameter_arrays import over_arrays
from borel.probability.alphabets import Finite
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.probability.mechanism import Mechanism


@over_arrays
@explained
def unary_encoding(
    *,
    k: int | None = None,
    epsilon: Any = None,
    ratio: Any = None,
    kind: str = "optimised",
    secret: Any = None,
) -> Mechanism:
    r"""Make unary encoding: report a bit for each label, 1 with probability p at the true one.

    .. math:: P_{Y|X=x}(y) = p^{y_x} (1 - p)^{1 - y_x}
              \prod_{j \ne x} q^{y_j} (1 - q)^{1 - y_j}, \qquad
              e^\varepsilon = \frac{p (1 - q)}{(1 - p) q}

    Parameters
    ----------
    k : int, optional
        Number of labels, at least 2; 0, ..., k - 1 if no ``secret`` is given.
    epsilon : float or DataArray
        Its LDP level in nats, >= 0; a float means its binary64 value.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of ``epsilon``: the matrix holds Fractions.
    kind : {"optimised", "symmetric"}
        Optimised: p = 1/2 and :math:`q = 1 / (1 + e^\varepsilon)`, which makes the variance of
        estimated frequencies least. Symmetric, as in RAPPOR:
        :math:`p = 1 - q = e^{\varepsilon/2} / (1 + e^{\varepsilon/2})`, and ``ratio`` has to be
        the square of a Fraction.
    secret : Alphabet or sequence of labels, optional
        The finite alphabet of the secret.

    Returns
    -------
    Mechanism
        Finite, to tuples of k bits; a `MechanismFamily` when ``epsilon`` is a DataArray.

    Raises
    ------
    InvalidInput
        Fewer than two labels or too many for a matrix of 2^k columns, another ``kind``,
        ``epsilon`` < 0 or NaN, ``ratio`` < 1, both or neither of them.

    Notes
    -----
    Closed forms for every prior, proved in `borel.mechanisms.levels.TwoLikelihoodForms`: the
    likelihood of y is :math:`e^\varepsilon` times as large for the labels whose bit is 1.
    With S(y) these labels and P their prior probability, strictly between 0 and 1,
    PML(y) = log(r / (1 + P (r - 1))) and PMC(y) = log(1 + P (r - 1)), r = e^epsilon.

    References
    ----------
    Wang, Blocki, Li, Jha, "Locally Differentially Private Protocols for Frequency Estimation"
    (2017); Erlingsson, Pihur, Korolova, "RAPPOR" (2014).

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> mech = bl.mechanisms.unary_encoding(k=3, ratio=3)
    >>> joint = bl.pmf([F(1, 2), F(1, 4), F(1, 4)]) * mech
    >>> bl.pml(joint)((0, 1, 0)).ratio.upper, bl.pmc(joint)((1, 1, 0)).ratio.upper
    (Fraction(2, 1), Fraction(5, 2))
    """
    what = "unary_encoding"
    if kind not in ("optimised", "symmetric"):
        raise InvalidInput(what, expected="kind = 'optimised' or 'symmetric'", got=repr(kind))
    alphabet = finite_secret(what, k, secret)
    level, size = level_of(what, epsilon, ratio), alphabet.size
    require_few(what, size, 2**size)
    outcomes = list(product((0, 1), repeat=size))

    def base(power: Powers) -> list:
        """Return the likelihoods of n ones, n = 0, ..., k, off the truth (of k ones, formally)."""
        root = power(1) if kind == "optimised" else power(Fraction(1, 2))  # (1 - q) / q
        wrong = 2 if kind == "optimised" else 1 + root  # 1 / (1 - p)
        total = wrong * (1 + root) ** (size - 1)
        return [root ** (size - 1 - n) / total for n in range(size + 1)]

    return two_likelihoods(
        what,
        f"k={size}, kind={kind!r}",
        level,
        base,
        secret=alphabet,
        outcome=Finite(outcomes),
        sets=[tuple(np.flatnonzero(y).tolist()) for y in outcomes],
        kinds=[sum(y) for y in outcomes],
    )
