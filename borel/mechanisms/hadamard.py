"""Hadamard response: the sets of more likely outcomes are the rows of a Hadamard matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel.mechanisms.levels import finite_secret, level_of, require_few, two_likelihoods
from borel.mechanisms.parameter_arrays import over_arrays
from borel.probability.alphabets import Finite
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.probability.mechanism import Mechanism


@over_arrays
@explained
def hadamard_response(
    *, k: int | None = None, epsilon: Any = None, ratio: Any = None, secret: Any = None
) -> Mechanism:
    r"""Make Hadamard response, for high privacy.

    .. math:: P_{Y|X=i}(y) = \frac{2}{K (1 + e^\varepsilon)} \cdot
              \begin{cases} e^\varepsilon & H_{i+1,y} = 1 \\ 1 & H_{i+1,y} = -1 \end{cases}

    with the Hadamard matrix of Sylvester, :math:`H_{a,b} = (-1)^{a \cdot b}`, a . b the number of
    bits that a and b share, of size K, the least power of 2 above the number of labels.

    Parameters
    ----------
    k : int, optional
        Number of labels, at least 2; 0, ..., k - 1 if no ``secret`` is given.
    epsilon : float or DataArray
        Its LDP level in nats, >= 0; a float means its binary64 value.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of ``epsilon``: the matrix holds Fractions.
    secret : Alphabet or sequence of labels, optional
        The finite alphabet of the secret; label i has row i + 1, as row 0 has no -1.

    Returns
    -------
    Mechanism
        Finite, to 0, ..., K - 1; a `MechanismFamily` when ``epsilon`` is a DataArray.

    Raises
    ------
    InvalidInput
        Fewer than two labels or too many for a matrix, ``epsilon`` < 0 or NaN, ``ratio`` < 1, both
        or neither of them.

    Notes
    -----
    Closed forms for every prior, proved in `borel.mechanisms.levels.TwoLikelihoodForms`. With P
    the prior probability of the labels with a 1 in column y, strictly between 0 and 1,
    PML(y) = log(r / (1 + P (r - 1))) and PMC(y) = log(1 + P (r - 1)), r = e^epsilon. Outcome 0
    leaks nothing.

    References
    ----------
    Acharya, Sun, Zhang, "Hadamard Response: Estimating Distributions Privately, Efficiently, and
    with Little Communication" (2019), Section 4.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> mech = bl.mechanisms.hadamard_response(k=3, ratio=3)
    >>> joint = bl.pmf([F(1, 3)] * 3) * mech
    >>> [str(bl.pml(joint)(y).ratio.upper) for y in range(4)]
    ['1', '9/5', '9/5', '9/5']
    """
    what = "hadamard_response"
    alphabet = finite_secret(what, k, secret)
    level, n = level_of(what, epsilon, ratio), alphabet.size
    size = 1 << n.bit_length()
    require_few(what, n, size)
    return two_likelihoods(
        what,
        f"k={n}",
        level,
        lambda power: [2 / (size * (1 + power(1)))],
        secret=alphabet,
        outcome=Finite(size),
        sets=[[i for i in range(n) if ((i + 1) & y).bit_count() % 2 == 0] for y in range(size)],
    )
