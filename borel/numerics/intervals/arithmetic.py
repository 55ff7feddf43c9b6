"""Sums, products, quotients, roots and truth values of boxes, on nothing but IEEE + - * / sqrt.

Rounding errors are computed (`two_sum`, `two_prod`), so that an end that is exact stays exact and
every other one moves by one float. A box is a pair of arrays (lower ends, upper ends); an
infinite end bounds nothing, and so does NaN, which also says: perhaps there is no value.
"""

from __future__ import annotations

import numpy as np

from borel.numerics.intervals.rounding import two_prod, two_sum

Box = tuple[np.ndarray, np.ndarray]

LARGEST = float(np.finfo(float).max)
ANYTHING = (-np.inf, np.inf)
UNKNOWN = (np.nan, np.nan)


def around(low: float, high: float) -> Box:
    """Return the box of two numbers."""
    return np.asarray(low), np.asarray(high)


def hull(boxes) -> Box:
    """Return the smallest box that holds some boxes."""
    low, high = zip(*boxes, strict=True)
    low, high = np.broadcast_arrays(*low), np.broadcast_arrays(*high)
    return np.minimum.reduce(low), np.maximum.reduce(high)


def replace(where, box, otherwise) -> Box:
    """Return one box where a condition holds and another elsewhere, end by end."""
    return np.where(where, box[0], otherwise[0]), np.where(where, box[1], otherwise[1])


def _down(value, error):
    """Step below a rounded value unless its error says that it is not above the truth."""
    # two_sum and two_prod leave no finite error where something overflowed on the way
    return np.where((error < 0) | ~np.isfinite(error), np.nextafter(value, -np.inf), value)


def _up(value, error):
    return np.where((error > 0) | ~np.isfinite(error), np.nextafter(value, np.inf), value)


# -- the four operations --------------------------------------------------------------------------


def _sum(a, b):
    value, error = two_sum(a, b)
    return value, np.where(np.isinf(a) | np.isinf(b), 0.0, error)  # inf + 1 is inf, exactly


def add(a: Box, b: Box) -> Box:
    """Enclose a + b."""
    return _down(*_sum(a[0], b[0])), _up(*_sum(a[1], b[1]))


def negative(a: Box) -> Box:
    """Enclose -a."""
    return -a[1], -a[0]


def subtract(a: Box, b: Box) -> Box:
    """Enclose a - b."""
    return add(a, negative(b))


def _product(a, b):
    """Return a product with its error; an error of NaN means that it is not known."""
    value, error = two_prod(a, b)
    zero = (a == 0) | (b == 0)
    value = np.where(zero, 0.0, value)  # 0 * inf is 0 for ranges
    unsafe = (np.abs(value) < 2.0**-960) | (np.abs(a) > 2.0**990) | (np.abs(b) > 2.0**990)
    error = np.where(unsafe, np.nan, error)
    error = np.where(value == 0, np.copysign(1.0, value), error)  # underflow keeps the sign
    return value, np.where(zero | np.isinf(a) | np.isinf(b), 0.0, error)


def multiply(a: Box, b: Box) -> Box:
    """Enclose a b by the four products of ends."""
    corners = [_product(p, q) for p in a for q in b]
    return hull([(_down(v, e), _up(v, e)) for v, e in corners])


def _reciprocal(a: Box) -> Box:
    low, high = (
        np.where(_exact_quotient(1.0, end, 1.0 / end), 1.0 / end, np.nextafter(1.0 / end, side))
        for end, side in zip(a[::-1], ANYTHING, strict=True)
    )
    low = np.where(a[0] >= 0, np.maximum(low, 0.0), low)
    high = np.where(a[1] <= 0, np.minimum(high, 0.0), high)
    high = np.where((a[0] == 0) & (a[1] > 0), np.inf, high)
    low = np.where((a[1] == 0) & (a[0] < 0), -np.inf, low)
    low, high = replace((a[0] < 0) & (a[1] > 0), ANYTHING, (low, high))
    # at 0 it would be inf or -inf, by the sign of a zero that a real number does not have
    return replace((a[0] == 0) & (a[1] == 0), UNKNOWN, (low, high))


def divide(a: Box, b: Box) -> Box:
    """Enclose a / b; exactly, if it can be, where b is a point."""
    generic = multiply(a, _reciprocal(b))
    size = np.abs(b[0])
    ends = replace(b[0] < 0, negative(a), a)
    point = (b[0] == b[1]) & (size > 0) & (size < np.inf)
    quotients = [np.asarray(end / size) for end in ends]
    low, high = (
        np.where(_exact_quotient(end, size, q), q, np.nextafter(q, side))
        for end, q, side in zip(ends, quotients, ANYTHING, strict=True)
    )
    low = np.where(ends[0] >= 0, np.maximum(low, 0.0), low)
    high = np.where(ends[1] <= 0, np.minimum(high, 0.0), high)
    nowhere = (b[0] == 0) & (b[1] == 0)
    return replace(nowhere, UNKNOWN, replace(point, (low, high), generic))


def holds_zero(a: Box):
    """Say where a box holds 0."""
    return (a[0] <= 0) & (a[1] >= 0)


def zero_by_zero(a: Box, b: Box):
    """Say where a / b may be 0 / 0, which the ends of `divide` leave out: it has no value."""
    return holds_zero(a) & holds_zero(b)


def _exact_quotient(a, b, q):
    value, error = _product(q, b)
    return (value == a) & (error == 0)


def reciprocal(a: Box) -> Box:
    """Enclose 1 / a."""
    return divide(around(1.0, 1.0), a)


# -- roots, signs and steps -----------------------------------------------------------------------


def sqrt(a: Box) -> Box:
    """Enclose the square root; NaN where the box reaches below 0."""
    roots = [np.sqrt(np.maximum(end, 0.0)) for end in a]
    errors = []
    for root, end in zip(roots, a, strict=True):
        square, error = _product(root, root)
        # a root and its square are close: the difference, and the sign of the sum, are exact
        errors.append(np.where((end == 0) | np.isinf(end), 0.0, (end - square) - error))
    ends = np.maximum(_down(roots[0], errors[0]), 0.0), _up(roots[1], errors[1])
    return replace(a[0] < 0, UNKNOWN, ends)


def absolute(a: Box) -> Box:
    """Enclose |a|."""
    spans = (a[0] < 0) & (a[1] > 0)
    ends = np.abs(a[0]), np.abs(a[1])
    return np.where(spans, 0.0, np.minimum(*ends)), np.maximum(*ends)


def square(a: Box) -> Box:
    """Enclose a**2."""
    low, high = absolute(a)
    return _down(*_product(low, low)), _up(*_product(high, high))


def both_ends(function):
    """Return the enclosure by a non-decreasing function that floats compute exactly."""
    return lambda a: (function(a[0]), function(a[1]))


def maximum(a: Box, b: Box) -> Box:
    """Enclose the larger one."""
    return np.maximum(a[0], b[0]), np.maximum(a[1], b[1])


def minimum(a: Box, b: Box) -> Box:
    """Enclose the smaller one."""
    return np.minimum(a[0], b[0]), np.minimum(a[1], b[1])


def heaviside(a: Box, b: Box) -> Box:
    """Enclose 0 for a < 0, b for a = 0 and 1 for a > 0."""
    low, high = np.inf, -np.inf
    cases = ((a[0] < 0, (0.0, 0.0)), ((a[0] <= 0) & (a[1] >= 0), b), (a[1] > 0, (1.0, 1.0)))
    for possible, box in cases:
        low = np.where(possible, np.minimum(low, box[0]), low)
        high = np.where(possible, np.maximum(high, box[1]), high)
    return np.asarray(low), np.asarray(high)


def floor_divide(a: Box, b: Box) -> Box:
    """Enclose floor(a / b)."""
    return both_ends(np.floor)(divide(a, b))


def remainder(a: Box, b: Box) -> Box:
    """Enclose a - floor(a / b) b: between 0 and b, and better where floor(a / b) is settled.

    By 0 there is no remainder.
    """
    turns = floor_divide(a, b)
    low, high = np.minimum(b[0], 0.0), np.maximum(b[1], 0.0)
    exact = subtract(a, multiply(turns, b))
    settled = (turns[0] == turns[1]) & np.isfinite(turns[0])
    settled_box = np.maximum(low, exact[0]), np.minimum(high, exact[1])
    return replace(holds_zero(b), UNKNOWN, replace(settled, settled_box, (low, high)))


# -- truth values ---------------------------------------------------------------------------------
# [0, 0] is false, [1, 1] true, [0, 1] either. A comparison with the NaN of a function outside its
# domain is false (but for !=), so that an end that is NaN leaves both open.


def _unknown(*boxes: Box):
    return np.logical_or.reduce(np.broadcast_arrays(*(np.isnan(end) for b in boxes for end in b)))


def _truth(no, yes, *boxes: Box) -> Box:
    """Build a truth value from "certainly false" and "certainly true"."""
    known = ~_unknown(*boxes)
    return np.where(yes & known, 1.0, 0.0), np.where(no & known, 0.0, 1.0)


def less(a: Box, b: Box) -> Box:
    """Compare: a < b."""
    return _truth(a[0] >= b[1], a[1] < b[0], a, b)


def less_equal(a: Box, b: Box) -> Box:
    """Compare: a <= b."""
    return _truth(a[0] > b[1], a[1] <= b[0], a, b)


def equal(a: Box, b: Box) -> Box:
    """Compare: a == b."""
    same = (a[0] == a[1]) & (b[0] == b[1]) & (a[0] == b[0])
    return _truth((a[1] < b[0]) | (b[1] < a[0]), same, a, b)


def true(a: Box) -> Box:
    """Read a number as a truth value: true where it is not 0."""
    return _truth((a[0] == 0) & (a[1] == 0), (a[0] > 0) | (a[1] < 0), a)


def logical_not(a: Box) -> Box:
    """Negate a truth value."""
    low, high = true(a)
    return 1.0 - high, 1.0 - low


def logical_and(a: Box, b: Box) -> Box:
    """Say whether both are true."""
    return minimum(true(a), true(b))


def logical_or(a: Box, b: Box) -> Box:
    """Say whether one is true."""
    return maximum(true(a), true(b))


def logical_xor(a: Box, b: Box) -> Box:
    """Say whether exactly one is true."""
    p, q = true(a), true(b)
    settled = (p[0] == p[1]) & (q[0] == q[1])
    return _truth(settled & (p[0] == q[0]), settled & (p[0] != q[0]))


def isnan(a: Box) -> Box:
    """Say whether there is no value: open on the whole line, where NaN may have been cleared."""
    line = (a[0] == -np.inf) & (a[1] == np.inf)
    return _truth(~line, np.zeros(np.shape(line), bool), a)


def isfinite(a: Box) -> Box:
    """Say whether there is a finite value."""
    return _truth((a[0] == np.inf) | (a[1] == -np.inf), np.isfinite(a[0]) & np.isfinite(a[1]), a)


def isinf(a: Box) -> Box:
    """Say whether the value is infinite."""
    return _truth(np.isfinite(a[0]) & np.isfinite(a[1]), (a[0] == np.inf) | (a[1] == -np.inf), a)


def where(c: Box, a: Box, b: Box) -> Box:
    """Enclose a where c is true and b where it is false; the hull where that is open."""
    c = true(c)
    return replace(c[0] == 1, a, replace(c[1] == 0, b, hull([a, b])))


def fmax(a: Box, b: Box) -> Box:
    """Enclose the larger one, or the other one where one has no value."""
    low, high = maximum(a, b)
    low = np.where(_unknown(a), b[0], np.where(_unknown(b), a[0], low))
    return np.where(_unknown(a) & _unknown(b), np.minimum(a[0], b[0]), low), high


def fmin(a: Box, b: Box) -> Box:
    """Enclose the smaller one, or the other one where one has no value."""
    return negative(fmax(negative(a), negative(b)))
