"""scipy.special's functions on boxes: monotone pieces, with Arb at their ends.

SciPy's own values are not used: some err by thousands of ulps (gammaln near 1 and 2, ndtr in the
tail). Where a box reaches out of a function's domain, or out of the part of it that is enclosed
here, both ends are NaN.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.numerics.balls.arithmetic import ball, ends, precision
from borel.numerics.intervals.arithmetic import (
    ANYTHING,
    UNKNOWN,
    Box,
    absolute,
    around,
    hull,
    multiply,
    negative,
    replace,
)
from borel.numerics.intervals.elementary import clip_at, inside

if TYPE_CHECKING:
    from collections.abc import Callable

_POSITIVE = (0.0, np.inf)
# Gamma is least on (0, inf) at 1.46163214496836234..., where psi changes sign
_LOWEST = tuple(float.fromhex(f"0x1.762d86356be{digit}p+0") for digit in ("3f", "40"))
_LEAST_GAMMA = float.fromhex("0x1.c56dc82a74aeep-1")  # below 0.88560319441088870027...
_LEAST_GAMMALN = float.fromhex("-0x1.f19b9bcc38a42p-4")  # below -0.12148629053584960809...


def _enclosed(formula, points: list, within) -> list[tuple[float, float]]:
    """Evaluate a formula on balls, with more bits until the two floats are neighbours."""
    found, left = [within] * len(points), range(len(points))
    for bits in (80, 160, 320):
        with precision(bits):
            for k in left:
                low, high = ends(formula(*map(ball, points[k])))
                found[k] = max(found[k][0], low), min(found[k][1], high)
        left = [k for k in left if found[k][1] > math.nextafter(found[k][0], math.inf)]
    return found


def _through_arb(formula, *arguments, within=ANYTHING) -> Box:
    """Enclose a formula of Arb balls at arrays of floats, once for every distinct point.

    Where Arb has no finite enclosure (a pole, an infinite argument) the ends are those of `within`.
    """
    columns = np.broadcast_arrays(*(np.asarray(a, float) for a in arguments))
    distinct, back = _distinct([np.ravel(c) for c in columns])
    settings.work("special", len(distinct))
    found = _enclosed(formula, distinct.tolist(), within)
    low, high = np.array(found).reshape(-1, 2)[back].T
    return low.reshape(columns[0].shape), high.reshape(columns[0].shape)


def _distinct(columns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of some columns, and which of them each row is.

    Columns are sorted one by one: numbers sort faster than rows.
    """
    back = np.unique(columns[0], return_inverse=True)[1]
    for column in columns[1:]:
        values, code = np.unique(column, return_inverse=True)
        back = np.unique(back * len(values) + code, return_inverse=True)[1]
    first = np.empty(int(back.max(initial=-1)) + 1, int)
    first[back] = np.arange(len(back))
    return np.stack([c[first] for c in columns], axis=1), back


def _monotone(formula, signs: str, *, within=ANYTHING, domains=(), points=(), reach=None):
    """Enclose a function that increases (+) or decreases (-) in each of its arguments.

    Parameters
    ----------
    formula : callable
        The function of Arb balls.
    signs : str
        One sign for each argument.
    within : tuple of float
        Bounds that the function keeps everywhere.
    domains : tuple of tuple of float, optional
        Where each argument may lie.
    points : tuple of tuple of float, optional
        Values (x, f(x)) known exactly, for an increasing function of one argument.
    reach : tuple of tuple of float, optional
        Where Arb is asked (it can be slow far out): an argument beyond is moved to the edge if that
        moves the end outwards, else the end is that of `within`.
    """
    reach = reach or (ANYTHING,) * len(signs)

    def moved(boxes, end: int):
        """Return the arguments of the lower (0) or upper (1) end, and where there are none."""
        arguments, none = [], np.zeros(np.shape(boxes[0][0]), bool)
        for sign, box, (least, most) in zip(signs, boxes, reach, strict=True):
            rises = (sign == "+") == (end == 0)
            x = box[0] if rises else box[1]
            none = none | (x < least if rises else x > most)
            arguments.append(np.clip(x, least, most))
        return arguments, none

    def enclose(*boxes: Box) -> Box:
        shaped = np.broadcast_arrays(*(end for b in boxes for end in b))
        boxes = tuple(zip(shaped[::2], shaped[1::2], strict=True))
        (first, no_low), (second, no_high) = moved(boxes, 0), moved(boxes, 1)
        # both ends in one call: points that are boxes ask once
        asked = [np.stack(pair) for pair in zip(first, second, strict=True)]
        low, high = _through_arb(formula, *asked, within=within)
        ends = np.where(no_low, within[0], low[0]), np.where(no_high, within[1], high[1])
        box = clip_at(points, boxes[0], ends)
        for domain, b in zip(domains, boxes, strict=bool(domains)):
            box = inside(domain, b, box)
        return box

    return enclose


def _mirrored(increasing):
    """Enclose f(x) by an increasing x -> f(-x)."""
    return lambda a: increasing(negative(a))


# -- error functions ------------------------------------------------------------------------------


def _erfcx(x: Any) -> Any:
    """Return exp(x**2) erfc(x) as a ball, by Tricomi's U where erfc underflows."""
    if x < 0:
        return (x * x).exp() * x.erfc()
    half = ball(0.5)
    return (x * x).hypgeom_u(half, half) / x.pi().sqrt()


def _log_ndtr(x: Any) -> Any:
    z = x / ball(2).sqrt()
    if x > 0:
        return (-z.erfc() / 2).log1p()
    return (_erfcx(-z) / 2).log() - x * x / 2


_TO_27 = (-np.inf, 27.0)  # erfcx(-27) overflows
erf = _monotone(lambda x: x.erf(), "+", within=(-1.0, 1.0), points=((0.0, 0.0),))
erfc = _mirrored(_monotone(lambda t: (-t).erfc(), "+", within=(0.0, 2.0), points=((0.0, 1.0),)))
erfcx = _mirrored(
    _monotone(lambda t: _erfcx(-t), "+", within=_POSITIVE, points=((0.0, 1.0),), reach=(_TO_27,))
)
_UNIT_ENDS = ((-1.0, -np.inf), (0.0, 0.0), (1.0, np.inf))
erfinv = _monotone(lambda x: x.erfinv(), "+", domains=((-1.0, 1.0),), points=_UNIT_ENDS)
erfcinv = _mirrored(
    _monotone(
        lambda t: (-t).erfcinv(),
        "+",
        domains=((-2.0, 0.0),),
        points=((-2.0, -np.inf), (-1.0, 0.0), (0.0, np.inf)),
    )
)
ndtr = _monotone(
    lambda x: (-x / ball(2).sqrt()).erfc() / 2, "+", within=(0.0, 1.0), points=((0.0, 0.5),)
)
log_ndtr = _monotone(_log_ndtr, "+", within=(-np.inf, 0.0))
ndtri = _monotone(
    lambda p: -ball(2).sqrt() * (2 * p).erfcinv(),
    "+",
    domains=((0.0, 1.0),),
    points=((0.0, -np.inf), (0.5, 0.0), (1.0, np.inf)),
)


# -- gamma functions ------------------------------------------------------------------------------


def _valley(formula, least: float):
    """Enclose a function on [0, inf) that falls to `least` at `_LOWEST` and rises after it."""

    def enclose_box(a: Box) -> Box:
        low, high = _through_arb(formula, np.stack(np.broadcast_arrays(*a)), within=(least, np.inf))
        high = np.maximum(high[0], high[1])
        # the end beside the foot alone: the other one may be a pole, or infinite
        low = np.where(a[1] <= _LOWEST[0], low[1], np.where(a[0] >= _LOWEST[1], low[0], least))
        return inside(_POSITIVE, a, (low, high))

    return enclose_box


gammaln = _valley(lambda x: x.lgamma(), _LEAST_GAMMALN)
_gamma = _valley(lambda x: x.gamma(), _LEAST_GAMMA)
_minus_rgamma = _valley(lambda x: -x.rgamma(), -float.fromhex("0x1.21118a2d816f8p+0"))
_psi = _monotone(lambda x: x.digamma(), "+")


@cache
def polygamma(k: int) -> Callable[[Box], Box]:
    """Return what encloses the derivative of order k >= 1 of digamma on [0, inf): of one sign."""
    size = _monotone(
        lambda x: math.factorial(k) * ball(k + 1).zeta(x),
        "-",
        within=_POSITIVE,
        domains=(_POSITIVE,),
    )
    return size if k % 2 else lambda a: negative(size(a))


def gamma(a: Box) -> Box:
    """Enclose Gamma on [0, inf); at -0.0 SciPy takes its pole from the left."""
    left = (a[1] == 0) & (np.signbit(a[0]) | np.signbit(a[1]))
    return replace(left, UNKNOWN, _gamma(a))


def rgamma(a: Box) -> Box:
    """Enclose 1 / Gamma on [0, inf)."""
    low, high = negative(_minus_rgamma(a))
    return np.maximum(low, 0.0), high


def psi(a: Box) -> Box:
    """Enclose the digamma function, which increases between its poles 0, -1, -2, ..."""
    one_piece = (a[0] >= 0) | (np.ceil(a[1]) - np.floor(a[0]) <= 1) & (a[0] < a[1])
    one_piece |= (a[0] == a[1]) & (a[0] != np.floor(a[0]))
    return replace(one_piece, _psi(a), ANYTHING)


_PLANE = (_POSITIVE, _POSITIVE)
beta = _monotone(
    lambda a, b: a.gamma() * b.gamma() * (a + b).rgamma(), "--", within=_POSITIVE, domains=_PLANE
)
betaln = _monotone(lambda a, b: a.lgamma() + b.lgamma() - (a + b).lgamma(), "--", domains=_PLANE)
# a share of a gamma or beta law left of x: it falls in a, the weight of the right, and rises in b
_SHARE = (0.0, 1.0)
_SHAPES = (2.0**-30, 2.0**40)


def _lower_share(a: Any, x: Any) -> Any:
    """Return P(a, x) as a ball."""
    # of gamma_lower little is left between a / 2 and a, when a is large
    return 1 - x.gamma_upper(a, 1) if 2 * x > a else x.gamma_lower(a, 1)


def _beta_shares(a: Any, b: Any, x: Any) -> tuple[Any, Any]:
    """Return I_x(a, b) and 1 - I_x(a, b) as balls, one from the other that is not close to 1."""
    if x > _SHAPES[0] and x * (a + b) > a:
        right = (1 - x).beta_lower(b, a, 1)
        return 1 - right, right
    left = x.beta_lower(a, b, 1)
    return left, 1 - left


gammainc = _monotone(_lower_share, "-+", within=_SHARE, domains=_PLANE, reach=(_SHAPES, ANYTHING))
gammaincc = _monotone(
    lambda a, x: x.gamma_upper(a, 1),
    "+-",
    within=_SHARE,
    domains=_PLANE,
    reach=(_SHAPES, ANYTHING),
)
betainc = _monotone(
    lambda a, b, x: _beta_shares(a, b, x)[0],
    "-++",
    within=_SHARE,
    domains=(*_PLANE, _SHARE),
    reach=(_SHAPES, _SHAPES, ANYTHING),
)
betaincc = _monotone(
    lambda a, b, x: _beta_shares(a, b, x)[1],
    "+--",
    within=_SHARE,
    domains=(*_PLANE, _SHARE),
    reach=(_SHAPES, _SHAPES, ANYTHING),
)


def _binomial(n: Any, k: Any) -> Any:
    if n.is_integer() and k.is_integer() and n < 2000:
        return ball(math.comb(int(float(n)), int(float(k))))
    return (n + 1).gamma() * (k + 1).rgamma() * (n - k + 1).rgamma()


def binom(n: Box, k: Box) -> Box:
    """Enclose binomial coefficients for 0 <= k <= n, and 0 at whole numbers k outside."""
    # they increase in n, and are log-concave in k with their top at n / 2
    usual = (k[0] >= 0) & (k[1] <= n[0])
    n_low, n_high, k_low, k_high = (np.where(usual, end, 0.0) for end in (*n, *k))
    low = hull([_through_arb(_binomial, n_low, end) for end in (k_low, k_high)])[0]
    high = _through_arb(_binomial, n_high, np.clip(n_high / 2, k_low, k_high))[1]
    whole = (n[0] == n[1]) & (k[0] == k[1]) & (n[0] == np.floor(n[0])) & (k[0] == np.floor(k[0]))
    outside = whole & (n[0] >= 0) & ((k[0] < 0) | (k[0] > n[0])) & np.isfinite(k[0])
    box = replace(usual, (np.maximum(low, 1.0), high), UNKNOWN)
    return replace(outside, (0.0, 0.0), box)


def poch(z: Box, m: Box) -> Box:
    """Enclose Gamma(z + m) / Gamma(z) for z > 0 and m >= 0."""
    # it increases in z; in m it is Gamma again, a valley
    usual = (z[0] > 0) & (m[0] >= 0)
    z_low, z_high = (np.where(usual, end, 1.0) for end in z)
    m_low, m_high = (np.where(usual, end, 0.0) for end in m)
    low = hull([_through_arb(_rising, z_low, end) for end in (m_low, m_high)])[0]
    high = hull([_through_arb(_rising, z_high, end) for end in (m_low, m_high)])[1]
    monotone = (z_low + m_high < 1.46) | (z_low + m_low > 1.47) | (m_low == m_high)
    least = multiply(around(_LEAST_GAMMA, _LEAST_GAMMA), rgamma((z_low, z_low)))[0]
    low = np.maximum(np.where(monotone, low, least), 0.0)
    return replace(usual, (low, high), UNKNOWN)


def _rising(z: Any, m: Any) -> Any:
    return z.rising(m)


# -- Bessel functions -----------------------------------------------------------------------------

_TO_OVERFLOW = (-np.inf, 720.0)  # I_1(720) overflows
_ORDERS = (0.0, 2.0**40)
# I_v(x) falls in v >= 0 (Cochran, J. Math. & Phys. 46, 1967); K_v(x), an integral of
# exp(-x cosh t) cosh(v t), rises in |v|
_i0 = _monotone(lambda x: x.bessel_i(ball(0)), "+", within=(1.0, np.inf), reach=(_TO_OVERFLOW,))
_minus_i0e = _monotone(lambda x: -x.bessel_i(ball(0), scaled=True), "+", within=(-1.0, 0.0))
i1 = _monotone(lambda x: x.bessel_i(ball(1)), "+", points=((0.0, 0.0),), reach=(_TO_OVERFLOW,))
iv = _monotone(
    lambda v, x: x.bessel_i(v),
    "-+",
    within=_POSITIVE,
    domains=_PLANE,
    reach=(_ORDERS, (0.0, 2.0**40)),
)
_kv = _monotone(
    lambda v, x: x.bessel_k(v), "+-", within=_POSITIVE, domains=_PLANE, reach=(_ORDERS, ANYTHING)
)


def i0(a: Box) -> Box:
    """Enclose I_0, which is even."""
    return _i0(absolute(a))


def i0e(a: Box) -> Box:
    """Enclose exp(-|a|) I_0(a), which falls in |a|."""
    return negative(_minus_i0e(absolute(a)))


def kv(v: Box, x: Box) -> Box:
    """Enclose K_v(x) for x >= 0, even in v and rising in |v|."""
    low, high = absolute(v)
    # Arb needs many bits at orders close to 0
    low = np.where(low < _SHAPES[0], 0.0, low)
    return _kv((low, np.where(high > 0, np.maximum(high, _SHAPES[0]), high)), x)


def k0(a: Box) -> Box:
    """Enclose K_0."""
    return kv(around(0.0, 0.0), a)


def k1(a: Box) -> Box:
    """Enclose K_1."""
    return kv(around(1.0, 1.0), a)


digamma, loggamma = psi, gammaln
