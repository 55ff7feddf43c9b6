"""Fast outward arithmetic on arrays of intervals ("lanes"), for the kernels of branch and bound.

An interval is a pair of arrays. Each float operation errs by at most half an ulp, and
``|v| * 2**-52`` is at least one ulp of v, so that one multiplication and one subtraction widen
soundly; products and quotients also lose up to 2**-1075 by underflow. An end that is NaN is
*unknown*: comparisons with it decide nothing, and `settled` turns it into an infinite end.
Ends never round to an infinity that is not meant: an overflow gives an unknown or a largest end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from borel.numerics.intervals.rounding import TINY

if TYPE_CHECKING:
    from collections.abc import Callable

Box = tuple[np.ndarray, np.ndarray]

EPS = 2.0**-52
LARGEST = float(np.finfo(float).max)
# between these a rounding error is relative: |v| * EPS covers it, and it leaves the sign alone
_SMALL, _BIG = 1e-290, 1e300


def point(value) -> Box:
    """Return numbers as intervals of width 0."""
    array = np.asarray(value, float)
    return array, array


def settled(a: Box) -> Box:
    """Return an interval whose unknown ends are infinite."""
    return np.where(np.isnan(a[0]), -np.inf, a[0]), np.where(np.isnan(a[1]), np.inf, a[1])


def negative(a: Box) -> Box:
    """Enclose -a."""
    return -a[1], -a[0]


def add(a: Box, b: Box) -> Box:
    """Enclose a + b."""
    with np.errstate(invalid="ignore", over="ignore"):
        low, high = a[0] + b[0], a[1] + b[1]
        size_low, size_high = np.abs(low, dtype=float), np.abs(high, dtype=float)
        size_low *= EPS  # in place: memory that is not in the cache takes longer than the sums
        size_high *= EPS
        out = low - size_low, high + size_high
    if np.isfinite(out[0]).all() and np.isfinite(out[1]).all():
        return out
    # an infinite sum is meant if a summand is infinite on that side, else it is an overflow
    return _end(a[0], b[0], low, out[0], -1.0), _end(a[1], b[1], high, out[1], 1.0)


def _end(a, b, total, widened, sign):
    """Mend the ends of a sum: infinities that are meant stay, overflows are the largest float."""
    meant = np.isinf(total) & (np.isinf(a) | np.isinf(b))
    outward = np.where(total == sign * np.inf, sign * np.inf, -sign * LARGEST)
    over = np.isinf(total) & ~meant
    return np.where(meant, total, np.where(over, outward, widened))


def subtract(a: Box, b: Box) -> Box:
    """Enclose a - b."""
    return add(a, (-b[1], -b[0]))


def _product(a, b):
    value = a * b
    return np.where((a == 0) | (b == 0), 0.0, value)  # 0 * inf is 0 for ranges


def _widened(low, high, exact_low, exact_high) -> Box:
    """Widen by one ulp and, unless the value is an exact 0, by the smallest float."""
    tiny_low = TINY if exact_low is False else np.where(exact_low, 0.0, TINY)
    tiny_high = TINY if exact_high is False else np.where(exact_high, 0.0, TINY)
    low = low - (np.abs(low) * EPS + tiny_low)
    high = high + (np.abs(high) * EPS + tiny_high)
    return low, high


def _bounded(low, high) -> Box:
    """Clip overflows: a lower end of inf, or an upper one of -inf, came from rounding."""
    return (
        np.where(np.isposinf(low), LARGEST, low),
        np.where(np.isneginf(high), -LARGEST, high),
    )


def _corners(a: Box, b: Box, product: Callable) -> Box:
    """Return the least and the largest product of ends; two are enough for a point."""
    if a[0] is a[1] or b[0] is b[1]:
        if a[0] is a[1]:
            a, b = b, a
        p, q = product(a[0], b[0]), product(a[1], b[0])
        return np.minimum(p, q), np.maximum(p, q)
    p, q = product(a[0], b[0]), product(a[0], b[1])
    low, high = np.minimum(p, q), np.maximum(p, q)
    for end in b:
        p = product(a[1], end)
        same = p.ndim > 0 and p.shape == low.shape  # numbers have no memory to write to
        low = np.minimum(low, p, out=low if same else None)
        high = np.maximum(high, p, out=high if same else None)
    return low, high


def _plain(size_low: np.ndarray, size_high: np.ndarray) -> np.ndarray:
    """Say where both magnitudes are far from underflow and from overflow; nowhere for NaN."""
    return (np.minimum(size_low, size_high) > _SMALL) & (np.maximum(size_low, size_high) < _BIG)


def multiply(a: Box, b: Box) -> Box:
    """Enclose a * b."""
    with np.errstate(invalid="ignore", over="ignore"):
        low, high = _corners(a, b, np.multiply)
        size_low, size_high = np.abs(low, dtype=float), np.abs(high, dtype=float)
        plain = _plain(size_low, size_high)
        size_low *= EPS
        size_high *= EPS
        low, high = low - size_low, high + size_high
    odd = plain.size - np.count_nonzero(plain)
    if not odd:
        return low, high
    if plain.size < 1000:
        return _careful_product(a, b)
    # a factor that is exactly 0, in many lanes of jets of lines: their products are 0 already
    zero = (a[0] == 0) & (a[1] == 0) | (b[0] == 0) & (b[1] == 0)
    zero = zero & (size_low == 0) & (size_high == 0)  # not 0 times an infinity
    plain |= zero
    odd = plain.size - np.count_nonzero(plain)
    if 8 * odd > plain.size:
        return _careful_product(a, b)
    low[zero] = high[zero] = 0.0  # and not -0
    if not odd:
        return low, high
    # an exact 0, an underflow, an infinite or an unknown end: few lanes, looked at more closely
    where = np.nonzero(~plain)
    few = [np.broadcast_to(end, plain.shape)[where] for end in (*a, *b)]
    low[where], high[where] = _careful_product((few[0], few[1]), (few[2], few[3]))
    return low, high


def _careful_product(a: Box, b: Box) -> Box:
    """Enclose a * b where ends may be 0, tiny, infinite or unknown."""
    with np.errstate(invalid="ignore", over="ignore"):
        low, high = _corners(a, b, np.multiply)
    finite = np.isfinite(low).all() and np.isfinite(high).all()
    if not finite:  # 0 times inf, or an overflow
        low, high = _corners(a, b, _product)
    up_a, down_a, up_b, down_b = a[0] >= 0, a[1] <= 0, b[0] >= 0, b[1] <= 0
    zero = (up_a & down_a) | (up_b & down_b)
    # a product of non-negative numbers is not negative, whatever its rounding
    same = (up_a & up_b) | (down_a & down_b) | zero
    opposite = (up_a & down_b) | (down_a & up_b) | zero
    out = _widened(low, high, False, False)
    out = (
        np.where(same, np.maximum(out[0], 0.0), out[0]),
        np.where(opposite, np.minimum(out[1], 0.0), out[1]),
    )
    if finite:
        return out
    # infinite ends of the factors may be meant (a singular density); keep them only outwards
    fixed = np.where(np.isinf(low), low, out[0]), np.where(np.isinf(high), high, out[1])
    nothing = zero & ((np.isnan(a[0]) & np.isnan(a[1])) | (np.isnan(b[0]) & np.isnan(b[1])))
    return _bounded(*(np.where(nothing, np.nan, end) for end in fixed))


def square(a: Box) -> Box:
    """Enclose a**2."""
    b = absolute(a)
    low, high = b[0] * b[0], b[1] * b[1]
    if _plain(low, high).all():
        return low - low * EPS, high + high * EPS
    out = _widened(low, high, b[0] == 0, b[1] == 0)
    low, high = np.maximum(out[0], 0.0), out[1]
    return np.where(np.isposinf(low), LARGEST, low), high


def absolute(a: Box) -> Box:
    """Enclose |a|."""
    p, q = np.abs(a[0]), np.abs(a[1])
    spans = (a[0] < 0) & (a[1] > 0)
    return np.where(spans, 0.0, np.minimum(p, q)), np.maximum(p, q)


def reciprocal(a: Box) -> Box:
    """Enclose 1 / a; where a may be 0 on both sides, everything; of 0 itself it is unknown."""
    low, high = 1.0 / a[1], 1.0 / a[0]
    if ((low > _SMALL) & (high < _BIG)).all() and (high >= low).all():
        return low - low * EPS, high + high * EPS
    low, high = _widened(low, high, False, False)
    positive, below = a[0] >= 0, a[1] <= 0
    low = np.where(positive, np.where(np.isposinf(a[1]), 0.0, np.maximum(low, 0.0)), low)
    high = np.where(below, np.where(np.isneginf(a[0]), 0.0, np.minimum(high, 0.0)), high)
    high = np.where(positive & (a[0] == 0), np.inf, high)
    low = np.where(below & (a[1] == 0), -np.inf, low)
    spans = (a[0] < 0) & (a[1] > 0) | ((a[0] == 0) & (a[1] == 0))
    low, high = np.where(spans, -np.inf, low), np.where(spans, np.inf, high)
    # 0 times everything is 0, but 0 times 1 / 0 is no number
    unknown = np.isnan(a[0]) | np.isnan(a[1]) | ((a[0] == 0) & (a[1] == 0))
    out = _bounded(low, high)
    return np.where(unknown, np.nan, out[0]), np.where(unknown, np.nan, out[1])


def divide(a: Box, b: Box) -> Box:
    """Enclose a / b."""
    if b[0] is b[1] and b[0].ndim == 0 and b[0] != 0 and np.isfinite(b[0]):
        p, q = a[0] / b[0], a[1] / b[0]
        low, high = (p, q) if b[0] > 0 else (q, p)
        size_low, size_high = np.abs(low), np.abs(high)
        if _plain(size_low, size_high).all():
            return low - size_low * EPS, high + size_high * EPS
        if np.isfinite(low).all() and np.isfinite(high).all():
            swapped = b[0] < 0
            ends = (a[1] == 0, a[0] == 0) if swapped else (a[0] == 0, a[1] == 0)
            low, high = _widened(low, high, *ends)
            positive, below = ((a[1] <= 0), (a[0] >= 0)) if swapped else (a[0] >= 0, a[1] <= 0)
            return (
                np.where(positive, np.maximum(low, 0.0), low),
                np.where(below, np.minimum(high, 0.0), high),
            )
    return multiply(a, reciprocal(b))


def each(a: Box, change: Callable[[np.ndarray], np.ndarray]) -> Box:
    """Apply one rearrangement to both ends."""
    return change(a[0]), change(a[1])


def hull(a: Box, b: Box) -> Box:
    """Return the smallest interval that holds both."""
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])


def meet(a: Box, b: Box) -> Box:
    """Return the intersection of two enclosures of the same value; an unknown end gives way.

    Enclosures that do not meet contradict each other: then neither is trusted.
    """
    low, high = np.fmax(a[0], b[0]), np.fmin(a[1], b[1])
    empty = low > high
    if empty.any():
        low, high = np.where(empty, -np.inf, low), np.where(empty, np.inf, high)
    return low, high


def exp(a: Box) -> Box:
    """Enclose e**a; below e**-700, where float64 may flush to 0, between 0 and 1e-304."""
    low = np.exp(a[0])
    high = low if a[0] is a[1] else np.exp(a[1])
    if _plain(low, high).all():
        return low - (5 * EPS) * low, high + (5 * EPS) * high
    over = np.where(np.isposinf(a[0]), np.inf, LARGEST * (1 - 5 * EPS))
    with np.errstate(invalid="ignore"):
        low = np.where(np.isposinf(low), over, low - 5 * EPS * low)
    low = np.where(a[0] < -700, 0.0, low)
    high = np.where(a[1] < -700, np.where(np.isneginf(a[1]), 0.0, 1e-304), high + 5 * EPS * high)
    return low, high


def total(a: Box, axis: int) -> Box:
    """Enclose a sum along an axis: each of n additions errs by half an ulp of a partial sum."""
    n = a[0].shape[axis]
    low, high = a[0].sum(axis=axis), a[1].sum(axis=axis)
    slack_low = np.abs(a[0]).sum(axis=axis) * (n * EPS)
    slack_high = np.abs(a[1]).sum(axis=axis) * (n * EPS)
    out = low - slack_low, high + slack_high
    keep_low, keep_high = np.isneginf(low), np.isposinf(high)
    return _bounded(np.where(keep_low, low, out[0]), np.where(keep_high, high, out[1]))


def segment_total(a: Box, index: np.ndarray, size: int) -> Box:
    """Enclose the sums of lanes that share an index."""
    low = np.bincount(index, a[0], size)
    high = np.bincount(index, a[1], size)
    count = np.bincount(index, minlength=size) + 1
    slack_low = np.bincount(index, np.abs(a[0]), size) * (count * EPS)
    slack_high = np.bincount(index, np.abs(a[1]), size) * (count * EPS)
    out = low - slack_low, high + slack_high
    keep_low, keep_high = np.isneginf(low), np.isposinf(high)
    return _bounded(np.where(keep_low, low, out[0]), np.where(keep_high, high, out[1]))
