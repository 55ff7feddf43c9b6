"""scipy.special's short formulas on boxes, composed from elementary functions without Arb.

Each is written so that a variable that occurs twice costs nothing: at the ends of a monotone piece
a box is a point.
"""

from __future__ import annotations

import numpy as np

from borel.numerics.intervals.arithmetic import (
    Box,
    absolute,
    add,
    around,
    divide,
    hull,
    multiply,
    negative,
    replace,
    subtract,
)
from borel.numerics.intervals.elementary import (
    clip_at,
    exponential,
    inside,
    log,
    log1p,
    power,
)

_ONE, _TEN = around(1.0, 1.0), around(10.0, 10.0)
_PER_E = around(*(float.fromhex(f"0x1.78b56362cef3{digit}p-2") for digit in "78"))  # 1 / e


def _at_ends(function):
    """Enclose an increasing function, given as an enclosure at points."""
    return lambda a: (function((a[0], a[0]))[0], function((a[1], a[1]))[1])


def _expit(x: Box) -> Box:
    small = exponential(negative(absolute(x)))
    share = divide(_ONE, add(_ONE, small))
    return replace(x[0] >= 0, share, divide(small, add(_ONE, small)))


def _log_expit(x: Box) -> Box:
    rest = negative(log1p(exponential(negative(absolute(x)))))
    return replace(x[0] >= 0, rest, add(x, rest))


def _logit(p: Box) -> Box:
    complement = subtract(_ONE, p)
    near_half = log1p(divide(subtract(p, complement), complement))
    far = subtract(log(p), log1p(negative(p)))
    return replace((p[0] > 0.25) & (p[0] < 0.75), near_half, far)


_logit_inside = _at_ends(_logit)
_share, log_expit = _at_ends(_expit), _at_ends(_log_expit)


def expit(a: Box) -> Box:
    """Enclose 1 / (1 + exp(-x)), a share."""
    low, high = _share(a)
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def logit(a: Box) -> Box:
    """Enclose log(p / (1 - p)) on [0, 1]."""
    ends = ((0.0, -np.inf), (0.5, 0.0), (1.0, np.inf))
    return inside((0.0, 1.0), a, clip_at(ends, a, _logit_inside(a)))


def xlogy(x: Box, y: Box) -> Box:
    """Enclose x log(y), 0 at x = 0."""
    return multiply(x, log(y))


def xlog1py(x: Box, y: Box) -> Box:
    """Enclose x log(1 + y), 0 at x = 0."""
    return multiply(x, log1p(y))


def entr(a: Box) -> Box:
    """Enclose -x log(x), with its top 1/e at 1/e; -inf below 0."""
    ends = [negative(xlogy(p, p)) for p in ((end, end) for end in (np.maximum(e, 0) for e in a))]
    low, high = hull(ends)
    high = np.where((a[0] <= _PER_E[1]) & (a[1] >= _PER_E[0]), _PER_E[1], high)
    return np.where(a[0] < 0, -np.inf, low), np.where(a[1] < 0, -np.inf, high)


def _rel_entr_at(x, y) -> Box:
    """Enclose x log(x / y) at floats x >= 0, y >= 0."""
    value = multiply((x, x), log(divide((x, x), (y, y))))
    return replace((y == 0) & (x > 0), (np.inf, np.inf), value)


def rel_entr(x: Box, y: Box) -> Box:
    """Enclose x log(x / y): it falls in y and is convex in x, least at y / e; inf below 0."""
    s, t = (tuple(np.maximum(end, 0.0) for end in box) for box in (x, y))
    low = hull([_rel_entr_at(end, t[1]) for end in s])[0]
    high = hull([_rel_entr_at(end, t[0]) for end in s])[1]
    foot = multiply((t[1], t[1]), _PER_E)
    low = np.where((s[0] <= foot[1]) & (s[1] >= foot[0]), np.minimum(low, -foot[1]), low)
    return _below_zero(x, y, (low, high))


def kl_div(x: Box, y: Box) -> Box:
    """Enclose x log(x / y) - x + y: convex, and 0 where x = y; inf below 0."""
    s, t = (tuple(np.maximum(end, 0.0) for end in box) for box in (x, y))

    def at(p, q) -> Box:
        return add(_rel_entr_at(p, q), subtract((q, q), (p, p)))

    high = hull([at(p, q) for p in s for q in t])[1]
    high = np.where(np.isinf(s[1]) | np.isinf(t[1]), np.inf, high)  # not inf - inf
    nearest = np.where(s[1] < t[0], s[1], s[0]), np.where(s[1] < t[0], t[0], t[1])
    apart = (s[1] < t[0]) | (s[0] > t[1])
    low = np.where(apart, np.maximum(at(*nearest)[0], 0.0), 0.0)
    return _below_zero(x, y, (low, high))


def _below_zero(x: Box, y: Box, box: Box) -> Box:
    """Raise the upper end to inf where an argument may be negative, both where one surely is."""
    high = np.where((x[0] < 0) | (y[0] < 0), np.inf, box[1])
    return replace((x[1] < 0) | (y[1] < 0), (np.inf, np.inf), (box[0], high))


def exp10(a: Box) -> Box:
    """Enclose 10**a."""
    return power(_TEN, a)
