"""NumPy's elementary functions on boxes: the ends as NumPy computes them, widened by `ULPS`.

Where a box reaches out of a function's domain both ends are NaN: perhaps there is no value.
"""

from __future__ import annotations

import numpy as np

from borel.numerics.intervals.arithmetic import (
    ANYTHING,
    LARGEST,
    UNKNOWN,
    Box,
    absolute,
    add,
    around,
    hull,
    multiply,
    negative,
    reciprocal,
    replace,
    sqrt,
    square,
    subtract,
)
from borel.numerics.intervals.rounding import TINY

ULPS = 5.0
"""ulps by which NumPy's elementary functions may err: 4, and one for the widening's own rounding.

NumPy claims at most 4 for its SIMD kernels (NumPy pull request 19478); what it takes from the C
library errs by at most 4 (cbrt) or 2 (all others) by glibc's table for x86-64.
"""
# The most that was seen against 300-bit Arb, in 80,000 to 400,000 arguments for each function (all
# magnitudes; next to zeros, poles and multiples of pi/2), NumPy 2.4 with AVX-512 / without:
#   exp .71/.51     exp2 .72/.51     expm1 .52/.76    power .68/.51    cbrt .54/3.04
#   log .60/.51     log2 .51/.54     log10 .60/1.58   log1p .60/.80    hypot .54/.54
#   sin .52/.52     cos .57/.57      tan .55/.69      arctan2 .74/.51  arctan .56/.51
#   arcsin .80/.51  arccos .81/.52   sinh .84/1.65    cosh .75/1.38    tanh 1.16/1.94
#   arcsinh .73/1.66                 arccosh .72/1.97                  arctanh .59/1.50

_EPS = 2.0**-52
_PI = float.fromhex("0x1.921fb54442d19p+1")  # above pi
_PER_TURN = float.fromhex("0x1.45f306dc9c883p-3")  # 1 / (2 pi) rounded
# 1 / ln 2
_PER_LN2 = around(*(float.fromhex(f"0x1.71547652b82f{digit}p+0") for digit in "ef"))


def widen(low, high) -> Box:
    """Move ends that NumPy rounded outwards by `ULPS`; clip what overflowed inwards."""
    low, high = np.minimum(low, LARGEST), np.maximum(high, -LARGEST)
    below, above = (ULPS * (_EPS * np.abs(end) + TINY) for end in (low, high))
    return low - below, high + above


def clip_at(points, a: Box, box: Box) -> Box:
    """Sharpen the enclosure of a non-decreasing function by values (x, f(x)) known exactly."""
    low, high = box
    for x, y in points:
        low = np.where(a[0] >= x, np.maximum(low, y), low)
        high = np.where(a[1] <= x, np.minimum(high, y), high)
    return low, high


def inside(domain, a: Box, box: Box) -> Box:
    """Make the ends NaN where a box reaches out of a domain."""
    return replace((a[0] < domain[0]) | (a[1] > domain[1]), UNKNOWN, box)


def _increasing(function, *points, domain=ANYTHING):
    def enclose(a: Box) -> Box:
        return inside(domain, a, clip_at(points, a, widen(function(a[0]), function(a[1]))))

    return enclose


exponential = _increasing(np.exp, (-np.inf, 0.0), (0.0, 1.0))
exp2 = _increasing(np.exp2, (-np.inf, 0.0), (0.0, 1.0))
expm1 = _increasing(np.expm1, (-np.inf, -1.0), (0.0, 0.0))
log = _increasing(np.log, (0.0, -np.inf), (1.0, 0.0), domain=(0.0, np.inf))
log2 = _increasing(np.log2, (0.0, -np.inf), (1.0, 0.0), domain=(0.0, np.inf))
log10 = _increasing(np.log10, (0.0, -np.inf), (1.0, 0.0), domain=(0.0, np.inf))
log1p = _increasing(np.log1p, (-1.0, -np.inf), (0.0, 0.0), domain=(-1.0, np.inf))
cbrt = _increasing(np.cbrt, (0.0, 0.0))
sinh = _increasing(np.sinh, (0.0, 0.0))
tanh = _increasing(np.tanh, (-np.inf, -1.0), (0.0, 0.0), (np.inf, 1.0))
arcsinh = _increasing(np.arcsinh, (0.0, 0.0))
arccosh = _increasing(np.arccosh, (1.0, 0.0), domain=(1.0, np.inf))
arctanh = _increasing(np.arctanh, (-1.0, -np.inf), (0.0, 0.0), (1.0, np.inf), domain=(-1.0, 1.0))
arcsin = _increasing(np.arcsin, (0.0, 0.0), domain=(-1.0, 1.0))
arctan = _increasing(np.arctan, (0.0, 0.0))
_cosh = _increasing(np.cosh, (0.0, 1.0))
_minus_arccos = _increasing(lambda x: -np.arccos(x), (1.0, 0.0), domain=(-1.0, 1.0))


def arccos(a: Box) -> Box:
    """Enclose arccos, which decreases."""
    return negative(_minus_arccos(a))


def cosh(a: Box) -> Box:
    """Enclose cosh, which is even."""
    return _cosh(absolute(a))


def hypot(a: Box, b: Box) -> Box:
    """Enclose sqrt(a**2 + b**2)."""
    a, b = absolute(a), absolute(b)
    low, high = widen(np.hypot(a[0], b[0]), np.hypot(a[1], b[1]))
    low = np.maximum(low, np.maximum(a[0], b[0]))
    return low, np.where((a[1] == 0) | (b[1] == 0), np.maximum(a[1], b[1]), high)


# -- circular functions ---------------------------------------------------------------------------


def _contains_whole(turns: Box, shift: float):
    """Say where turns, rounded to floats, less a shift may pass a whole number."""
    low, high = turns
    # turns err by less than 2**-51 of themselves; 2**-50 covers the differences below too
    first = low - shift - (np.abs(low) + 1) * 2.0**-50
    last = high - shift + (np.abs(high) + 1) * 2.0**-50
    return np.floor(last) >= np.ceil(first)


def _wave(function, peak: float):
    """Enclose sin or cos: 1 at `peak` turns of 2 pi, -1 half a turn later, monotone between."""

    def enclose(a: Box) -> Box:
        turns = a[0] * _PER_TURN, a[1] * _PER_TURN
        values = [function(end) for end in a]
        low, high = widen(np.minimum(*values), np.maximum(*values))
        low = np.where(_contains_whole(turns, peak + 0.5), -1.0, np.maximum(low, -1.0))
        return low, np.where(_contains_whole(turns, peak), 1.0, np.minimum(high, 1.0))

    return enclose


_sine, _cosine = _wave(np.sin, 0.25), _wave(np.cos, 0.0)


def sin(a: Box) -> Box:
    """Enclose sin; [-1, 1] where the argument is too large for its turns to be counted."""
    low, high = _sine(a)
    low = np.where((a[0] >= 0) & (a[1] <= 3), np.maximum(low, 0.0), low)
    return low, np.where((a[0] >= -3) & (a[1] <= 0), np.minimum(high, 0.0), high)


def cos(a: Box) -> Box:
    """Enclose cos; [-1, 1] where the argument is too large for its turns to be counted."""
    low, high = _cosine(a)
    return np.where((a[0] == 0) & (a[1] == 0), 1.0, low), high


def tan(a: Box) -> Box:
    """Enclose tan, which increases between its poles; anything where a pole may be inside."""
    low, high = widen(np.tan(a[0]), np.tan(a[1]))
    low = np.where((a[0] >= 0) & (a[1] <= 1.5), np.maximum(low, 0.0), low)
    high = np.where((a[0] >= -1.5) & (a[1] <= 0), np.minimum(high, 0.0), high)
    half_turns = a[0] * (2 * _PER_TURN), a[1] * (2 * _PER_TURN)
    return replace(_contains_whole(half_turns, 0.5), ANYTHING, (low, high))


def arctan2(y: Box, x: Box) -> Box:
    """Enclose the angle of (x, y); [-pi, pi] where the box touches 0 or the negative half-line."""
    # off the cut the angle is monotone along every line: its extremes are at corners
    low, high = hull([widen(v, v) for v in (np.arctan2(p, q) for p in y for q in x)])
    low = np.where(y[0] >= 0, np.maximum(low, 0.0), np.maximum(low, -_PI))
    high = np.where(y[1] <= 0, np.minimum(high, 0.0), np.minimum(high, _PI))
    return replace((x[0] > 0) | (y[0] > 0) | (y[1] < 0), (low, high), (-_PI, _PI))


# -- powers and sums of exponentials --------------------------------------------------------------


def _power_at(base, exponent) -> Box:
    """Enclose base**exponent for floats, base >= 0."""
    value = np.power(base, exponent)
    low, high = widen(value, value)
    known = (base == 0) | (base == 1) | (exponent == 0) | np.isinf(base) | np.isinf(exponent)
    first = replace(exponent == 1, (base, base), (np.maximum(low, 0.0), high))
    return replace(known, (value, value), first)


def _ones(a: Box) -> Box:
    return np.ones(np.shape(a[0])), np.ones(np.shape(a[1]))


_KNOWN_POWERS = {-1.0: reciprocal, 0.0: _ones, 0.5: sqrt, 1.0: lambda a: a, 2.0: square}


def power(a: Box, b: Box) -> Box:
    """Enclose a**b: at corners of |a| and b, with the sign that a whole power keeps.

    A negative number has a power if b is a whole number; NaN where that is not sure.
    """
    if np.ndim(b[0]) == np.ndim(b[1]) == 0 and b[0] == b[1] and float(b[0]) in _KNOWN_POWERS:
        return _KNOWN_POWERS[float(b[0])](a)
    exponents = b[:1] if b[0] is b[1] else b
    # b log a is linear in b and in log a: at a >= 0 the extremes are at corners
    left, right = ([_power_at(np.abs(end), q) for q in exponents] for end in a)
    low, high = hull(left + right)
    spans = (a[0] < 0) & (a[1] > 0)
    low = np.where(spans & (b[0] > 0), 0.0, low)
    high = np.where(spans & (b[0] < 0), np.inf, high)
    whole = (b[0] == b[1]) & (b[0] == np.floor(b[0])) & np.isfinite(b[0])
    odd = whole & (np.fmod(b[0], 2.0) != 0)
    low, high = replace(odd & (a[1] <= 0) & (a[0] < 0), (-high, -low), (low, high))
    through = replace(b[0] > 0, (-left[0][1], right[0][1]), ANYTHING)
    low, high = replace(odd & spans, through, (low, high))
    # 0 to a negative power is inf or -inf, by the sign of a zero that a real number does not have
    undefined = (a[0] < 0) & ~whole | (a[0] == 0) & (a[1] == 0) & (b[0] < 0)
    return replace(undefined, UNKNOWN, (low, high))


def _soft_maximum(excess):
    """Enclose log(exp(a) + exp(b)) = max + excess(-|a - b|), which increases in a and b."""

    def at(x, y) -> Box:
        top = np.maximum(x, y)
        gap = absolute(subtract((x, x), (y, y)))
        gap = replace(x == y, (0.0, 0.0), gap)  # inf - inf too
        return replace(np.isinf(top), (top, top), add((top, top), excess(negative(gap))))

    return lambda a, b: (at(a[0], b[0])[0], at(a[1], b[1])[1])


def _excess2(a: Box) -> Box:
    return multiply(log1p(exp2(a)), _PER_LN2)


logaddexp = _soft_maximum(lambda a: log1p(exponential(a)))
logaddexp2 = _soft_maximum(_excess2)
