"""Local hashing: report a hash function, and a randomised response about the secret's hash."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput
from borel.mechanisms.levels import finite_secret, level_of, require_few, two_likelihoods
from borel.mechanisms.parameter_arrays import over_arrays
from borel.probability.alphabets import Alphabet, Finite
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.probability.mechanism import Mechanism


@over_arrays
@explained
def local_hashing(
    *,
    k: int | None = None,
    epsilon: Any = None,
    ratio: Any = None,
    values: int | None = None,
    hashes: Any = None,
    secret: Any = None,
) -> Mechanism:
    r"""Make local hashing: draw a hash function h of n, and answer for h(x) in 0, ..., g - 1.

    .. math:: P_{Y|X=x}(h, v) = \frac{1}{n (e^\varepsilon + g - 1)} \cdot
              \begin{cases} e^\varepsilon & h(x) = v \\ 1 & \text{otherwise} \end{cases}

    Parameters
    ----------
    k : int, optional
        Number of labels, at least 2; 0, ..., k - 1 if no ``secret`` is given.
    epsilon : float or DataArray
        Its LDP level in nats, >= 0; a float means its binary64 value.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of ``epsilon``: the matrix holds Fractions.
    values : int, optional
        g >= 2, how many values a hash has; the whole number nearest to :math:`1 + e^\varepsilon`
        if not given (optimised local hashing). 2 is binary local hashing.
    hashes : array_like of int (n, k), optional
        The functions, a row for each: the hash in 0, ..., g - 1 of every label, by position. If not
        given :math:`((a x + b) \bmod p) \bmod g` with the least prime p >= k, 0 < a < p and
        0 <= b < p, a universal family (Carter, Wegman).
    secret : Alphabet or sequence of labels, optional
        The finite alphabet of the secret.

    Returns
    -------
    Mechanism
        Finite, to pairs (h, v), h the number of the function; a `MechanismFamily` when ``epsilon``
        is a DataArray (then give ``values``, so that all have the same outcomes).

    Raises
    ------
    InvalidInput
        Fewer than two labels, too many functions for a matrix, hashes outside 0, ..., g - 1,
        ``epsilon`` < 0 or NaN, ``ratio`` < 1, both or neither of them.

    Notes
    -----
    Closed forms for every prior, proved in `borel.mechanisms.levels.TwoLikelihoodForms`. With P
    the prior probability that h(X) = v, strictly between 0 and 1,
    PML(h, v) = log(r / (1 + P (r - 1))) and PMC(h, v) = log(1 + P (r - 1)), r = e^epsilon.

    References
    ----------
    Wang, Blocki, Li, Jha, "Locally Differentially Private Protocols for Frequency Estimation"
    (2017), Section 4.4; Bassily, Smith (2015) for g = 2.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> parity = [[0, 1, 0, 1], [0, 0, 1, 1]]
    >>> mech = bl.mechanisms.local_hashing(k=4, ratio=3, values=2, hashes=parity)
    >>> joint = bl.pmf([F(1, 8), F(1, 8), F(1, 4), F(1, 2)]) * mech
    >>> bl.pml(joint)((1, 0)).ratio.upper, bl.pmc(joint)((1, 0)).ratio.upper
    (Fraction(2, 1), Fraction(3, 2))
    """
    what = "local_hashing"
    alphabet = finite_secret(what, k, secret)
    level, n = level_of(what, epsilon, ratio), alphabet.size
    if values is None:
        values = round(min(level.rounded, 1e9)) + 1
    if isinstance(values, bool) or not isinstance(values, (int, np.integer)) or values < 2:
        raise InvalidInput(what, expected="values = an integer >= 2", got=repr(values))
    g = int(values)
    table = _universal(n, g) if hashes is None else _given(hashes, alphabet, g)
    require_few(what, n, g * len(table))
    return two_likelihoods(
        what,
        f"k={n}, values={g}",
        level,
        lambda power: [1 / (len(table) * (power(1) + (g - 1)))],
        secret=alphabet,
        outcome=Finite([(h, v) for h in range(len(table)) for v in range(g)]),
        sets=[np.flatnonzero(row == v).tolist() for row in table for v in range(g)],
    )


def _given(hashes: Any, alphabet: Alphabet, g: int) -> np.ndarray:
    table = np.asarray(hashes)
    shape = table.ndim == 2 and len(table) and table.shape[1] == alphabet.size
    if not shape or table.dtype.kind not in "iu":
        raise InvalidInput(
            "local_hashing",
            expected=f"hashes as a table of integers with {alphabet.size} columns",
            got=f"dtype {table.dtype}, shape {table.shape}",
        )
    if not (table.min() >= 0 and table.max() < g):
        raise InvalidInput(
            "local_hashing",
            expected=f"hashes in 0, ..., {g - 1}",
            got=f"from {table.min()} to {table.max()}",
            mend="give values=<how many values a hash has>.",
        )
    return table


def _universal(k: int, g: int) -> np.ndarray:
    prime = next(p for p in count(k) if all(p % d for d in range(2, int(p**0.5) + 1)))
    require_few("local_hashing", k, g * prime * (prime - 1))
    a, b = np.arange(1, prime)[:, None, None], np.arange(prime)[None, :, None]
    return ((a * np.arange(k) + b) % prime % g).reshape(-1, k)
