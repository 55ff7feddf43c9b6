r"""Confidence intervals for probabilities and for means of quantities in [0, 1].

They hold for any number n of independent draws; with an effective sample size for n they hold
asymptotically.
"""

from __future__ import annotations

import math

import numpy as np

_STEPS = 200
_SLACK = 1e-12


def binomial(low_count: float, high_count: float, n: float, confidence: float):
    """Return the Clopper-Pearson interval of a probability, counts known to lie between two."""
    from scipy.stats import beta

    alpha = (1 - confidence) / 2
    low = float(beta.ppf(alpha, low_count, n - low_count + 1)) if low_count > 0 else 0.0
    high = float(beta.ppf(1 - alpha, high_count + 1, n - high_count)) if high_count < n else 1.0
    return low, high


def bounded_mean(values: np.ndarray, n: float, confidence: float) -> tuple[float, float]:
    r"""Return an interval for the mean of a quantity in [0, 1] from draws of it.

    Parameters
    ----------
    values : ndarray
        The draws.
    n : float
        How many independent draws they are worth.
    confidence : float
        Probability with which the interval covers.

    Notes
    -----
    The intersection of two intervals, each of which fails with half of the probability allowed:
    Chernoff-Hoeffding, :math:`n\, \mathrm{kl}(\bar x, \mu) \le \log(2/\alpha)`, and the empirical
    Bernstein bound :math:`|\bar x - \mu| \le \sqrt{2 V \log(4/\alpha) / n} + 7 \log(4/\alpha) /
    (3 (n - 1))` with the sample variance V.

    References
    ----------
    Hoeffding (1963), Theorem 1; Maurer and Pontil, "Empirical Bernstein Bounds and Sample Variance
    Penalization" (2009), Theorem 4 (of one side at log(2/alpha)).
    """
    mean = min(max(float(np.mean(values)), 0.0), 1.0)
    alpha = (1 - confidence) / 2  # for each of the two intervals
    low, high = kl_lower(mean, n, alpha / 2), kl_upper(mean, n, alpha / 2)
    if n > 2:
        level = math.log(4 / alpha)
        spread = float(np.var(values, ddof=1)) if np.size(values) > 1 else 1.0
        wide = math.sqrt(2 * spread * level / n) + 7 * level / (3 * (n - 1))
        low, high = max(low, mean - wide), min(high, mean + wide)
    return max(low - _SLACK, 0.0), min(high + _SLACK, 1.0)


def kl_upper(mean: float, n: float, alpha: float) -> float:
    """Return the largest mu with n kl(mean, mu) <= log(1 / alpha): P(mu above it) <= alpha."""
    level = math.log(1 / alpha) / n
    return _root(lambda mu: _kl(mean, mu) <= level, mean, 1.0)


def kl_lower(mean: float, n: float, alpha: float) -> float:
    """Return the smallest mu with n kl(mean, mu) <= log(1 / alpha)."""
    return 1.0 - kl_upper(1.0 - mean, n, alpha)


def levels_for(s: float, n: float, alpha: float) -> tuple[float, float]:
    """Return means x <= s <= x' with n kl(x, s) = n kl(x', s) = log(1 / alpha), or 0 and 1.

    A mean of n draws in [0, 1] whose expectation is s at most lies above x' with probability alpha
    at most; likewise below x.
    """
    level = math.log(1 / alpha) / n
    high = _root(lambda x: _kl(x, s) <= level, s, 1.0)
    low = 1.0 - _root(lambda x: _kl(x, 1.0 - s) <= level, 1.0 - s, 1.0)
    return max(low - _SLACK, 0.0), high + _SLACK


def _root(inside, start: float, end: float) -> float:
    """Return the last point of [start, end] that is inside, or a little more."""
    if inside(end):
        return end
    low, high = start, end
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if not low < middle < high:  # no float is between them
            break
        if inside(middle):
            low = middle
        else:
            high = middle
    return high


def _kl(a: float, b: float) -> float:
    """Return the divergence of Bernoulli laws, a log a/b + (1 - a) log (1 - a)/(1 - b)."""
    if a == b:
        return 0.0
    if b <= 0 or b >= 1:
        return math.inf
    first = a * math.log(a / b) if a > 0 else 0.0
    return first + ((1 - a) * math.log((1 - a) / (1 - b)) if a < 1 else 0.0)
