r"""Suprema over p of quotients of polynomials in p with non-negative coefficients, by bisection.

A polynomial :math:`\sum_k c_k p^k (1-p)^{n-k}` with :math:`c_k \ge 0` has non-negative Bernstein
coefficients on every interval within [0, 1]: averages of its own (de Casteljau). A quotient of two
is on an interval at most the largest quotient of their coefficients (a mediant), and at its ends it
is the quotient of the first and of the last. All sums are of non-negative numbers, so that
relative errors stay relative errors; what underflows, next to an end of [0, 1], is an absolute one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from borel.errors import NotYet
from borel.numerics.intervals.rounding import U

_LEAST = 1e-280
_CELLS = 200_000
_LOST = 2.0**-1040
"""Of the largest coefficient: far more than underflows, of 2**-1075 each, take from one."""


class Supremum(NamedTuple):
    """An enclosure of a supremum of quotients, and where it is nearly taken.

    Attributes
    ----------
    lower, upper : float
        Of the quotient; infinite if it is proved to be.
    p : float
        A point, or an end of the interval, where it is nearly taken.
    pair : int
        Which quotient is.
    """

    lower: float
    upper: float
    p: float
    pair: int


def supremum(
    num: np.ndarray,
    den: np.ndarray,
    interval: tuple[Fraction, Fraction],
    *,
    error: float,
    tol: float,
) -> Supremum:
    """Enclose the supremum over p in an open interval, and over pairs, of num / den.

    Parameters
    ----------
    num, den : ndarray (m, n + 1)
        Coefficients c_k >= 0 of p^k (1-p)^(n-k), a row for each pair; no den is 0 throughout.
    interval : tuple of Fraction
        lo < hi within [0, 1]; the supremum over (lo, hi) of a continuous function.
    error : float
        Relative error of the coefficients, which are positive or exactly 0.
    tol : float
        Relative width to stop at.

    Raises
    ------
    NotYet
        Positive coefficients below 1e-280, which float64 might lose.
    """
    n = num.shape[1] - 1
    positive = np.concatenate([num[num > 0], den[den > 0]])
    if len(positive) and positive.min() < _LEAST:
        raise NotYet(
            "a set of priors over databases",
            missing=f"probabilities down to {positive.min():.3g}",
            instead="mechanisms with probabilities above 1e-280.",
        )
    live = np.flatnonzero(num.any(axis=1))
    num, den = _without_common(num[live], den[live])
    low, high = interval
    grow = error + 4 * U
    for end, column in ((low == 0, 0), (high == 1, n)):
        poles = np.flatnonzero((den[:, column] == 0) & (num[:, column] > 0)) if end else []
        if len(poles):
            where = float(low if column == 0 else high)
            return Supremum(math.inf, math.inf, where, int(live[poles[0]]))
    binomials = np.array([float(math.comb(n, k)) for k in range(n + 1)])
    num, den = num / binomials, den / binomials
    # averages magnify no absolute error, so that this bounds what underflows, to 0 perhaps
    lost = _LOST * max(1.0, num.max(initial=0.0), den.max(initial=0.0))
    num, den = _restricted(num, interval), _restricted(den, interval)
    grow += (10 * n + 8) * U
    left = np.full(len(num), float(low))
    right = np.full(len(num), float(high))
    pair = live
    best, place, which, settled = 0.0, float(low), int(live[0]) if len(live) else 0, 0.0
    while len(num):
        slack = 2 * grow / (1 - grow) + 4 * U
        with np.errstate(divide="ignore", over="ignore"):
            above = ((num + lost) / np.maximum(den - lost, 0.0)).max(axis=1) * (1 + slack)
        for column, points in ((0, left), (n, right)):
            with np.errstate(over="ignore"):
                at = np.maximum(num[:, column] - lost, 0.0) / (den[:, column] + lost) * (1 - slack)
            j = int(np.argmax(at))
            if at[j] > best and math.isfinite(at[j]):
                best, place, which = float(at[j]), float(points[j]), int(pair[j])
        near = best * (1 + tol + 2 * slack)
        done = above <= near
        settled = max(settled, float(above[done].max(initial=0.0)))
        keep = ~done
        if keep.sum() > _CELLS or slack > 1e-3 or (right - left)[keep].max(initial=1.0) < 1e-15:
            settled = max(settled, float(above[keep].max(initial=0.0)))
            break
        num, den = _halves(num[keep]), _halves(den[keep])
        middle = (left[keep] + right[keep]) / 2
        left = np.concatenate([left[keep], middle])
        right = np.concatenate([middle, right[keep]])
        pair = np.concatenate([pair[keep], pair[keep]])
        grow += (n + 2) * U
    return Supremum(best, max(settled, best), place, which)


def _without_common(num: np.ndarray, den: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Divide pairs by their common powers of p and of 1 - p, at the same degree.

    Without a common factor p, c_0 of one of the two is positive. The degree is restored by a
    factor p + (1 - p).
    """
    num, den = num.copy(), den.copy()
    for _ in range(num.shape[1] - 1):
        for step in (1, -1):
            both, zero = (num[:, ::step], den[:, ::step]), slice(None)
            common = (both[0][zero, 0] == 0) & (both[1][zero, 0] == 0)
            for c in both:
                part = c[common]
                shifted = np.concatenate([part[:, 1:], np.zeros((len(part), 1))], axis=1)
                # times p + (1 - p): c_k + c_(k-1)
                shifted[:, 1:] = shifted[:, 1:] + part[:, 1:]
                c[common] = shifted
    return num, den


def _restricted(b: np.ndarray, interval: tuple[Fraction, Fraction]) -> np.ndarray:
    """Return Bernstein coefficients on an interval from those on [0, 1]."""
    low, high = interval
    b = _left(b, high)
    return _left(b[:, ::-1], 1 - low / high)[:, ::-1] if low else b


def _left(b: np.ndarray, at: Fraction) -> np.ndarray:
    """Return the coefficients on [0, at]: both weights are rounded once."""
    if at == 1:
        return b
    u, v = float(1 - at), float(at)
    out = np.empty_like(b)
    row = b
    for k in range(b.shape[1]):
        out[:, k] = row[:, 0]
        row = u * row[:, :-1] + v * row[:, 1:]
    return out


def _halves(b: np.ndarray) -> np.ndarray:
    """Return the coefficients on the left halves, then those on the right ones."""
    left, right = np.empty_like(b), np.empty_like(b)
    n = b.shape[1] - 1
    row = b
    for k in range(n + 1):
        left[:, k], right[:, n - k] = row[:, 0], row[:, -1]
        row = (row[:, :-1] + row[:, 1:]) / 2
    return np.concatenate([left, right])
