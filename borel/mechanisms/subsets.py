"""Subset selection: report a set of labels, which holds the true one more often than another."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput
from borel.mechanisms.levels import finite_secret, level_of, require_few, two_likelihoods
from borel.mechanisms.parameter_arrays import over_arrays
from borel.probability.alphabets import Finite
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.probability.mechanism import Mechanism


@over_arrays
@explained
def subset_selection(
    *,
    k: int | None = None,
    epsilon: Any = None,
    ratio: Any = None,
    size: int | None = None,
    secret: Any = None,
) -> Mechanism:
    r"""Make subset selection: report a set of d of the k labels.

    .. math:: P_{Y|X=x}(y) = \frac{e^\varepsilon \text{ if } x \in y, \text{ else } 1}
              {\binom{k-1}{d-1} e^\varepsilon + \binom{k-1}{d}}

    Parameters
    ----------
    k : int, optional
        Number of labels, at least 2; 0, ..., k - 1 if no ``secret`` is given.
    epsilon : float or DataArray
        Its LDP level in nats, >= 0; a float means its binary64 value.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of ``epsilon``: the matrix holds Fractions.
    size : int, optional
        d, from 1 to k - 1; the whole number nearest to :math:`k / (1 + e^\varepsilon)`, at least
        1, if not given. Size 1 is randomised response.
    secret : Alphabet or sequence of labels, optional
        The finite alphabet of the secret.

    Returns
    -------
    Mechanism
        Finite, to tuples of d labels in the order of the alphabet; a `MechanismFamily` when
        ``epsilon`` is a DataArray (then give ``size``, so that all have the same outcomes).

    Raises
    ------
    InvalidInput
        Fewer than two labels, too many sets for a matrix, ``size`` outside 1, ..., k - 1,
        ``epsilon`` < 0 or NaN, ``ratio`` < 1, both or neither of them.

    Notes
    -----
    Closed forms for every prior, proved in `borel.mechanisms.levels.TwoLikelihoodForms`. With P
    the prior probability of the set y, strictly between 0 and 1,
    PML(y) = log(r / (1 + P (r - 1))) and PMC(y) = log(1 + P (r - 1)), r = e^epsilon.

    References
    ----------
    Ye, Barg, "Optimal Schemes for Discrete Distribution Estimation under Locally Differential
    Privacy" (2018); Wang et al., "Mutual Information Optimally Local Private Discrete Distribution
    Estimation" (2016).

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> mech = bl.mechanisms.subset_selection(secret=["a", "b", "c", "d"], ratio=3, size=2)
    >>> joint = bl.pmf([F(1, 4)] * 4, on=mech.secret) * mech
    >>> bl.pml(joint)(("a", "c")).ratio.upper, bl.pmc(joint)(("a", "c")).ratio.upper
    (Fraction(3, 2), Fraction(2, 1))
    """
    what = "subset_selection"
    alphabet = finite_secret(what, k, secret)
    level, n = level_of(what, epsilon, ratio), alphabet.size
    if size is None:
        size = max(round(n / (1 + level.rounded)), 1)
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or not 0 < size < n:
        raise InvalidInput(what, expected=f"a size from 1 to k - 1 = {n - 1}", got=repr(size))
    d = int(size)
    require_few(what, n, math.comb(n, d))
    sets = list(combinations(range(n), d))
    labels = alphabet.labels
    return two_likelihoods(
        what,
        f"k={n}, size={d}",
        level,
        lambda power: [1 / (math.comb(n - 1, d - 1) * power(1) + math.comb(n - 1, d))],
        secret=alphabet,
        outcome=Finite([tuple(labels[i] for i in s) for s in sets]),
        sets=sets,
    )
