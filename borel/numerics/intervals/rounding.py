r"""Outward rounding with nothing but IEEE + - * /: double-double sums, quotients and logarithms.

Every bound here follows from error-free transformations (Dekker 1971; Knuth's TwoSum): with
u = 2**-53, ``two_sum`` and ``two_prod`` return a float and its *exact* rounding error, so a value
is carried as hi + lo and rounded outwards once, at the end. No libm function is trusted.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from borel import settings

U = 2.0**-53
TINY = 2.0**-1074
NORMAL = 2.0**-1022
MOST = math.ldexp(1 - U, 1024)

# NumPy converts a Python number in each operation, which takes half as long as the operation itself
# on a few entries: what every figure of a table goes through has its numbers as arrays
_ZERO, _ONE = map(np.array, (0.0, 1.0))
_WIDER, _LEAST, _NORMAL = map(np.array, (1 + 8 * U, TINY, NORMAL))
_STEP = np.array(1, np.int32)  # of exponents
_SPLITTER = np.array(134217729.0)  # 2**27 + 1
_SQRT_2 = np.array(math.sqrt(2))
# ln 2: its first 22 bits, which times an exponent below 2**31 are exact, and the rest, to 2**-78
_LN2_HI, _LN2_LO = map(np.array, map(float.fromhex, ("0x1.62E428p-1", "0x1.FBE8E7BCD5E4Fp-23")))
_LOG_TERMS = [np.array(1.0 / (2 * k + 1)) for k in range(10, 0, -1)]
_LOG_ERRORS = [np.array(error) for error in (0.375 * U, 2.0**-71, 128 * U * U)]


class Scaled(NamedTuple):
    """Positive numbers (hi + lo) * 2**exponent, with the relative error they may carry.

    ``hi`` is in [1/4, 4) or 0; ``error`` bounds |truth / value - 1|.
    """

    hi: np.ndarray
    lo: np.ndarray
    exponent: np.ndarray
    error: np.ndarray


ONE = Scaled(np.ones(1), np.zeros(1), np.zeros(1, int), np.zeros(1))
"""The number 1, which has no error."""


def two_sum(a, b):
    """Return fl(a + b) and its exact error."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_prod(a, b):
    """Return fl(a * b) and its exact error (no overflow or underflow may occur)."""
    p = a * b
    t = _SPLITTER * a
    ah = t - (t - a)
    al = a - ah
    t = _SPLITTER * b
    bh = t - (t - b)
    bl = b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def floor_sum(hi, lo):
    """Return the largest float found that is <= hi + lo, for exact hi and lo."""
    s, e = two_sum(hi, lo)
    return np.nextafter(s, -np.inf, out=np.asarray(s), where=e < _ZERO)


def ceil_sum(hi, lo):
    """Return the smallest float found that is >= hi + lo, for exact hi and lo."""
    s, e = two_sum(hi, lo)
    return np.nextafter(s, np.inf, out=np.asarray(s), where=e > _ZERO)


def scaled(values: np.ndarray, error: np.ndarray | float = 0.0) -> Scaled:
    """Bring positive floats (subnormal ones too) to a mantissa and an exponent, exactly."""
    hi, exponent = np.frexp(np.asarray(values, float))
    zero = np.zeros(hi.shape)
    return Scaled(hi, zero, exponent, error + zero)


def rounding_of(values: np.ndarray, relative: np.ndarray | float) -> np.ndarray:
    """Bound the relative error of floats that stand for numbers rounded to them.

    ``relative`` covers normal numbers; a subnormal may be off by half of 2**-1074.
    """
    values = np.asarray(values, float)
    error = np.zeros(values.shape)
    if np.count_nonzero(subnormal := (values > _ZERO) & (values < _NORMAL)):
        error[subnormal] = 0.5 * (TINY / values[subnormal])
    return np.maximum(relative, error)


def compounded(*errors: float) -> float:
    """Bound how far products and quotients of numbers with these relative errors may be off.

    With s their sum, prod(1 + e) and 1 / prod(1 - e) lie in [1 - s, 1 / (1 - s)], so that neither
    differs from 1 by more than s / (1 - s), and neither does its logarithm from 0.

    Examples
    --------
    >>> compounded(0.25, 0.25) >= 1 / (1 - 0.25) ** 2 - 1
    True
    """
    total = math.fsum(errors)
    return total / (1 - total) * (1 + 8 * U) if total < 1 else math.inf


# -- sums of products -------------------------------------------------------------------------


CHAIN, LARGE = 24, 2**16
"""How many rows of a large matrix are summed in plain float64, and beyond how many entries it is
large: that costs some ulp, and saves passes over it."""
CLEAR = 2.0**-900
"""A sum of products that is larger keeps all of them that count clear of underflow."""


def sum_dd(high: np.ndarray, low: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Sum along axis 0 in double-double: hi and lo, each of whose additions rounds once.

    The parts that are already low may be given apart.
    """
    while (n := len(high)) > 1:
        half = n // 2  # the first ones with the last ones; the one in the middle is left
        s, e = two_sum(high[:half], high[n - half :])
        if low is not None:
            e += low[:half] + low[n - half :]
        if n % 2:
            middle = high[half : n - half]
            rest = np.zeros_like(middle) if low is None else low[half : n - half]
            s, e = np.concatenate([s, middle]), np.concatenate([e, rest])
        high, low = s, e
    return high[0], np.zeros_like(high[0]) if low is None else low[0]


def partial_sums(p: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Return p @ k in parts of `CHAIN` rows, each with an error below CHAIN u (|p| @ |k|).

    That holds in any order of summation, with fused multiply-adds too, but for underflow.
    """
    whole = len(k) // CHAIN
    rows = whole * CHAIN
    parts = np.empty((-(-len(k) // CHAIN), k.shape[1]))
    blocks = k[:rows].reshape(whole, CHAIN, k.shape[1])
    np.matmul(p[:rows].reshape(whole, 1, CHAIN), blocks, out=parts[:whole, None])
    if rows < len(k):
        np.matmul(p[rows:], k[rows:], out=parts[whole])
    return parts


def weighted_sum(p: np.ndarray, k: np.ndarray, error: float) -> Scaled:
    """Enclose p @ k for non-negative p (n,) and k (n, m); sharply, if k is not large.

    Parameters
    ----------
    p, k : ndarray
        Non-negative floats, taken as they stand.
    error : float
        The relative error that products p k carry already; added to the result's.

    Notes
    -----
    Columns where this is not good enough, as underflow may matter, go to `_sum_exactly`.
    """
    with np.errstate(under="ignore", over="ignore"):
        if k.size <= LARGE:
            hi, lo, good, slack = _on_a_grid(p, k)
        else:
            parts, lo, slack = partial_sums(p, k), 0.0, (CHAIN + 1) * U
            while (n := len(parts)) > 1:  # each round adds one rounding
                half = n // 2
                parts[:half] += parts[n - half :]
                parts, slack = parts[: n - half], slack + U
            hi, slack = parts[0], np.full(k.shape[1], slack)
            good = hi > CLEAR
        mantissa, exponent = np.frexp(hi)
        low = np.ldexp(lo, -exponent)
    own = np.maximum(slack, 0.2 * U) + (error + 4 * error * error)
    result = Scaled(mantissa, low, exponent, own)
    if np.count_nonzero(good) < good.size:
        bad = np.flatnonzero(~good)
        chunk = max(1, 2_000_000 // len(k))
        for part in (bad[i : i + chunk] for i in range(0, len(bad), chunk)):
            slow = _sum_exactly(p, k[:, part], error)
            for mine, new in zip(result, slow, strict=True):
                mine[part] = new
    return result


def _on_a_grid(p: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return p @ k as hi + lo, where that is good enough, and its relative error there.

    The leading bits of p and k are integers on a common grid, few enough that a BLAS product of
    them is exact in any order of summation (Ozaki et al. 2012); the rest is small, and so is its
    rounding, in sums of thousands a few ulp.
    """
    n = len(k)
    top = k.max(axis=0)
    bits = (53 - max(1, int(n - 1).bit_length())) // 2
    k_exp, p_exp = np.frexp(top)[1], math.frexp(p.max())[1] - bits
    grid = np.ldexp(math.ldexp(1.5, 52 - bits), k_exp)
    head = (k + grid) - grid
    middle = math.ldexp(1.5, 52 + p_exp)
    p1 = (p + middle) - middle
    p2 = p - p1
    hi, lo = two_sum(p1 @ head, p2 @ head + p @ (k - head))
    # |p2| <= 2**(p_exp-1), |tail| <= 2**(k_exp-bits-1); gamma of n + 4 terms, doubled
    small_p = n * math.ldexp(1.0, p_exp)
    small_k = np.ldexp(1.0001 * p.sum(), k_exp) * 2.0**-bits
    slack = 2 * (n + 4) * U * (small_p * top + small_k)
    # the exponents keep every product of the grid clear of underflow
    good = (slack <= max(0.2, n / 1024) * U * hi) & (k_exp > -900 - bits - p_exp) & (hi > CLEAR)
    return hi, lo, good, slack / np.maximum(hi, CLEAR) * (1 + 4 * U)


def _sum_exactly(p: np.ndarray, k: np.ndarray, error: float) -> Scaled:
    """`weighted_sum` for any range of magnitudes: exact products, scaled column by column."""
    mp, ep = np.frexp(p)
    mk, ek = np.frexp(k)
    high, low = two_prod(mp[:, None], mk)
    exponent = np.where(high > 0, ep[:, None] + ek, -(10**6))
    shift = exponent.max(axis=0)
    exponent = np.maximum(exponent - shift, -2000)
    with np.errstate(under="ignore"):
        high, low = np.ldexp(high, exponent), np.ldexp(low, exponent)
    high, low = two_sum(*sum_dd(high, low))  # relative error below (log2 n)**2 u**2
    empty = shift <= -(10**6)
    hi, extra = np.frexp(high)
    lo = np.ldexp(low, -extra)
    # the rounding of subnormal entries, relative to the term that holds them
    coarse = np.zeros(k.shape[1])
    for values, other in ((p[:, None], mk), (k, mp[:, None])):
        coarse += np.where((values > 0) & (values < NORMAL) & (other > 0), 1.0, 0.0).sum(axis=0)
    if coarse.any():
        coarse = _subnormal_share(p, k, hi, extra + shift)
    total = np.full(k.shape[1], error + 4 * error * error + 0.01 * U) + coarse
    return Scaled(
        np.where(empty, 0.0, hi), np.where(empty, 0.0, lo), np.where(empty, 0, extra + shift), total
    )


def _subnormal_share(p, k, hi, exponent) -> np.ndarray:
    """Relative error of a sum of products by the absolute rounding of subnormal entries."""
    ep, ek = np.frexp(p)[1][:, None], np.frexp(k)[1]
    terms = np.zeros(k.shape[1])
    with np.errstate(under="ignore", over="ignore"):
        for values, powers in ((np.broadcast_to(p[:, None], k.shape), ek), (k, ep)):
            mine = (values > 0) & (values < NORMAL) & (k > 0) & (p[:, None] > 0)
            # half of 2**-1074 times the other factor (below 2**powers), doubled for safety
            power = np.where(mine, np.maximum(powers - 1074 - exponent + 1, -1070), -5000)
            terms += np.where(mine, np.ldexp(1.0, np.minimum(power, 1000)), 0.0).sum(axis=0)
    return terms


def sum_outward(low: np.ndarray, high: np.ndarray, axis: int = -1) -> tuple[np.ndarray, np.ndarray]:
    """Enclose sums of terms enclosed by low and high, rounding once at the end of each.

    Infinite upper ends give an infinite sum; terms must not be -inf.
    """
    settings.work("intervals", 1, np.size(high))
    finite = np.where(np.isinf(high), 0.0, high)
    infinite = np.isinf(high).any(axis=axis)
    lower = _sum_dd(np.moveaxis(np.asarray(low, float), axis, 0), floor_sum)
    upper = _sum_dd(np.moveaxis(np.asarray(finite, float), axis, 0), ceil_sum)
    return lower, np.where(infinite, np.inf, upper)


def _sum_dd(terms: np.ndarray, rounded) -> np.ndarray:
    """Sum along axis 0 in double-double, then round outwards past the error that is left."""
    n = len(terms)
    size = np.abs(terms).sum(axis=0)
    high, low = sum_dd(terms)
    # each of the <= 2n additions of low parts errs by u |low|, and |low| <= n u size
    slack = 4 * (n + 2) * n * U * U * size
    sign = -1.0 if rounded is floor_sum else 1.0
    return rounded(high, low + sign * slack * (1 + 4 * U))


# -- quotients and logarithms -----------------------------------------------------------------


class Enclosure(NamedTuple):
    """Lower and upper ends, arrays of one shape."""

    lower: np.ndarray
    upper: np.ndarray


def ratio_bounds(num: Scaled, den: Scaled) -> Enclosure:
    """Enclose num / den, the inputs' relative errors included."""
    hi = num.hi / den.hi
    product, e = two_prod(hi, den.hi)
    lo = ((((num.hi - product) - e) + num.lo) - hi * den.lo) / den.hi  # but for a few u**2
    error = (num.error + den.error) * (1 + 1e-15) + 4 * U * U
    return bounds(Scaled(hi, lo, num.exponent - den.exponent, error), _ONE - den.error)


def bounds(value: Scaled, least: np.ndarray | float = 1.0) -> Enclosure:
    """Enclose numbers, their errors included; these are divided by ``least`` for the upper end."""
    hi, lo, exponent, error = value
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        off = hi * error * _WIDER
        low = np.maximum(floor_sum(hi, lo - off - _LEAST), _ZERO)
        # where nothing bounds a divisor from below this is infinite
        high = ceil_sum(hi, lo + off / np.maximum(least, _ZERO) * _WIDER + _LEAST)
        lower, upper = np.ldexp(low, exponent), np.ldexp(high, exponent)
    lower = np.minimum(lower, MOST)
    # ldexp is exact unless it leaves the normal range: then step outwards
    if np.count_nonzero(edge := lower < 2 * NORMAL):
        lower = np.where(edge, np.maximum(np.nextafter(lower, -np.inf), 0.0), lower)
        upper = np.where(upper < 2 * NORMAL, np.nextafter(upper, np.inf), upper)
    return Enclosure(lower, upper)


def log_ratio_bounds(num: Scaled, den: Scaled) -> Enclosure:
    """Enclose log(num / den) in nats, the inputs' relative errors included."""
    hi, lo, error = log_scaled(num, den)
    with np.errstate(divide="ignore", invalid="ignore"):
        # log(1 - e) >= -e / (1 - e) and log(1 + e) <= e, for each of the two errors; from an error
        # of 1 on there is no bound
        down = num.error / np.maximum(_ONE - num.error, _ZERO) + den.error
        up = num.error + den.error / np.maximum(_ONE - den.error, _ZERO)
        low = floor_sum(hi, lo - (down + error) * _WIDER)
        high = ceil_sum(hi, lo + (up + error) * _WIDER)
    return Enclosure(low, high)


def log_scaled(num: Scaled, den: Scaled) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Return log(num / den) as hi + lo with a bound on the absolute error.

    The errors that the inputs carry are not counted.

    Notes
    -----
    With powers of two put aside, so that a / b is in [sqrt(1/2), sqrt 2], and
    s = (a - b) / (a + b), \|s\| < 0.1716,

    .. math:: \log (a / b) = 2 s + 2 s \sum_{k \ge 1} s^{2k} / (2k + 1).

    s is carried in double-double; the series is below 0.0101 \|s\|, so that its own rounding (under
    10 u relative) and the dropped terms (below 2**-60 \|2 s\|) are less than 2**-55 \|2 s\|. The
    low part of s is below 3 u, and off by less than 10 u**2.
    """
    shift = _STEP - np.frexp(num.hi / den.hi * _SQRT_2)[1]
    a, a_lo = np.ldexp(num.hi, shift), np.ldexp(num.lo, shift)
    power = (num.exponent - den.exponent - shift).astype(float)
    top = a - den.hi  # exact: they are within a factor two
    total, rest = two_sum(a, den.hi)
    s = top / total
    product, e = two_prod(s, total)
    rest += a_lo + den.lo
    s_lo = (((top - product) - e) + (a_lo - den.lo) - s * rest) / total
    # 1/(1+s)^2-type cross terms of s_lo in the series are below 0.03 |s_lo|: kept in first order
    z = s * s
    series = z * _LOG_TERMS[0]
    for term in _LOG_TERMS[1:]:
        series += term
        series *= z
    double = s + s
    small = (s_lo + s_lo) * (_ONE + z) + double * series
    a, b = two_sum(power * _LN2_HI, double)
    hi_out, lo_out = two_sum(a, b + (small + power * _LN2_LO))
    # small, below 0.0102 |2 s| + 7 u, and b are off by 8 u of themselves
    relative, by_power, least = _LOG_ERRORS
    error = relative * np.abs(double) + (np.abs(power) * by_power + least)
    return hi_out, lo_out, error


# -- rational numbers -------------------------------------------------------------------------


def log_fraction(value: Fraction) -> tuple[float, float]:
    """Enclose the logarithm of a positive Fraction in two floats at most a few ulp apart.

    Examples
    --------
    >>> lower, upper = log_fraction(Fraction(10, 9))
    >>> lower <= 0.1053605156578263 <= upper
    True
    """
    s = (value - 1) / (value + 1)
    if abs(s) < Fraction(1, 2**16):
        # near 1 the relative error counts: log value = 2 s (1 + s^2/3 + ...), the rest of the
        # series below s^4 / (5 (1 - s^2)); 0 is exact
        near = 2 * s * (1 + s * s / 3)
        far = near + 2 * s * (s**4 / (5 * (1 - s * s)))
        return fraction_down(min(near, far)), fraction_up(max(near, far))
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    mantissa = value / Fraction(2) ** exponent
    hi = float(mantissa)  # int / int true division rounds correctly
    lo = float(mantissa - Fraction(hi))
    num = Scaled(*map(np.array, ([hi], [lo], [exponent], [2 * U * U])))
    lower, upper = log_ratio_bounds(num, ONE)
    return float(lower[0]), float(upper[0])


def fraction_down(value: Fraction) -> float:
    """Round a Fraction to a float below or equal."""
    x = _to_float(value)
    return x if Fraction(x) <= value else math.nextafter(x, -math.inf)


def fraction_up(value: Fraction) -> float:
    """Round a Fraction to a float above or equal."""
    x = _to_float(value)
    return x if math.isinf(x) or Fraction(x) >= value else math.nextafter(x, math.inf)


def _to_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return float(np.finfo(float).max) if value > 0 else -float(np.finfo(float).max)
