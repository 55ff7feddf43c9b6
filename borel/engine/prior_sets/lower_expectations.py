r"""Lower expectations over convex sets of priors on finitely many secrets, enclosed.

A set :math:`\mathcal P` of priors enters every figure of a fixed mechanism through
:math:`\inf_{P \in \mathcal P} E_P v` for functions v of the secret (the upper expectation is that
of -v, negated). Each set below is a convex program whose dual has one variable t (or b), with a
concave objective D. Then for *any* t

.. math:: D(t) \le \inf_P E_P v \le D(t) + |g| \, (\text{length of the range of } t)

with a supergradient g of D at t: a solution found in floats proves both ends, and how good it was
shows in the width. Values are floats taken as they stand, columns side by side; weights are
intervals around the probabilities meant.

=================  ===============================================================================
set                D
=================  ===============================================================================
TV ball            sum over v<t of p v + t (P{v >= t} - r) + r min v
band l <= q <= u   sum over v>t of l v + sum over v<t of u v + t (1 - l{v > t} - u{v < t})
KL(Q||P) <= r      -t log E_P e^(-v/t) - t r
KL(P||Q) <= r      exp(E_P log(v + t) - r) - t,  t >= -min v
chi2(P||Q) <= r    (E_P sqrt(v + t))^2 / (1 + r) - t,  t >= -min v
chi2(Q||P) <= r    b - ((1 + r) M1 + M2 / M1) / 2 with Mk = E_P (b - v)_+^k
=================  ===============================================================================

The first two are linear programs (the dual of a transport to the least value, and of a fractional
knapsack); the others are Lagrangians with the multiplier of r, or of the total mass, put at its
best. Slater's condition holds (P itself is inside), so that there is no gap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import settings
from borel.numerics.intervals import batched
from borel.numerics.jets import elementary

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.intervals.batched import Box

_STEPS = 110
"""Halvings of an interval of floats: enough to come down to neighbours."""


class Least(NamedTuple):
    """Lower expectations of columns of values.

    Attributes
    ----------
    lower, upper : ndarray (m,)
        The enclosures.
    prior : ndarray (n, m)
        Priors that attain them, to rounding; or that are approached.
    member : ndarray (m,), optional
        Which priors are members, or limits of members, to rounding; all of them if not given.
    """

    lower: np.ndarray
    upper: np.ndarray
    prior: np.ndarray
    member: np.ndarray | None = None

    @property
    def members(self) -> np.ndarray:
        """Which priors are members, or limits of members, to rounding: (m,)."""
        return np.ones(len(self.lower), bool) if self.member is None else self.member


def _columns(weights: Box) -> Box:
    return weights[0][:, None], weights[1][:, None]


def _where(mask: np.ndarray, a: Box) -> Box:
    return np.where(mask, a[0], 0.0), np.where(mask, a[1], 0.0)


def _dot(weights: Box, v: np.ndarray) -> Box:
    return batched.total(batched.multiply(weights, batched.point(v)), axis=0)


def _sum(weights: Box) -> Box:
    return batched.total(weights, axis=0)


def _probability(a: Box) -> Box:
    return np.clip(a[0], 0.0, 1.0), np.clip(a[1], 0.0, 1.0)


def _bounded(low: np.ndarray, excess: Box, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return low and low + excess, within the range of the values."""
    least, most = v.min(axis=0), v.max(axis=0)
    high = batched.add((low, low), excess)[1]
    return low, np.minimum(np.maximum(high, least), most)


def vacuous(v: np.ndarray, where: np.ndarray) -> Least:
    """All priors on some of the secrets: the least value."""
    inside = np.where(where[:, None], v, np.inf)
    least = inside.min(axis=0)
    prior = np.zeros_like(v)
    prior[inside.argmin(axis=0), np.arange(v.shape[1])] = 1.0
    return Least(least, least, prior)


def contaminated(v: np.ndarray, p: Box, weight: Box, where: np.ndarray) -> Least:
    """(1 - w) P + w Q with any Q on some of the secrets."""
    other = vacuous(v, where)
    rest = batched.subtract(batched.point(np.array(1.0)), weight)
    rest = np.maximum(rest[0], 0.0), np.maximum(rest[1], 0.0)
    mean = _dot(_columns(p), v)
    total = batched.add(
        batched.multiply(rest, mean), batched.multiply(weight, batched.point(other.lower))
    )
    low, high = np.maximum(total[0], v.min(axis=0)), np.minimum(total[1], v.max(axis=0))
    w = (weight[0] + weight[1]) / 2
    prior = (1 - w) * _middle(p)[:, None] + w * other.prior
    return Least(low, high, prior)


def _middle(p: Box) -> np.ndarray:
    return p[0] + (p[1] - p[0]) / 2


def total_variation(v: np.ndarray, p: Box, radius: Box, where: np.ndarray) -> Least:
    """Solve the ball of total variation: mass r goes from the largest values to the least one."""
    n, m = v.shape
    weights, middle = _columns(p), _middle(p)
    lowest = np.where(where[:, None], v, np.inf).min(axis=0)
    r = float(radius[0] + radius[1]) / 2
    order = np.argsort(-v, axis=0, kind="stable")
    down = np.take_along_axis(v, order, axis=0)
    gone = np.cumsum(middle[order], axis=0)
    k = np.minimum((gone < r).sum(axis=0), n - 1)
    t = np.maximum(down[k, np.arange(m)], lowest)
    below, above, tied = v < t, v > t, v >= t
    head = _dot(_where(below, weights), v)
    at_least = _probability(_sum(_where(tied, weights)))
    right = batched.subtract(_probability(_sum(_where(above, weights))), radius)
    left = batched.subtract(at_least, radius)
    value = batched.add(head, batched.multiply(left, batched.point(t)))
    value = batched.add(value, batched.multiply(radius, batched.point(lowest)))
    excess = batched.add(
        batched.multiply(
            (np.zeros(m), np.maximum(right[1], 0.0)), batched.point(v.max(axis=0) - t)
        ),
        batched.multiply((np.zeros(m), np.maximum(-left[0], 0.0)), batched.point(t - lowest)),
    )
    low, high = _bounded(np.maximum(value[0], v.min(axis=0)), batched.add(_width(value), excess), v)
    # the prior: what is above t goes, of the ties what is left to go, and comes back at the least
    kept = np.where(above, 0.0, middle[:, None] + 0 * v)
    on_level = v == t
    share = np.maximum(r - (middle[:, None] * above).sum(axis=0), 0.0)
    mass = np.maximum((middle[:, None] * on_level).sum(axis=0), 1e-300)
    kept = np.where(on_level, kept * np.maximum(1 - share / mass, 0.0), kept)
    kept[np.where(where[:, None], v, np.inf).argmin(axis=0), np.arange(m)] += 1 - kept.sum(axis=0)
    return Least(low, high, kept)


def _width(value: Box) -> Box:
    """Return what separates an upper end from the lower one, as an excess."""
    high = batched.subtract(batched.point(value[1]), batched.point(value[0]))[1]
    return np.zeros_like(high), np.maximum(high, 0.0)


def band(v: np.ndarray, least: Box, most: Box) -> Least:
    """All Q with l <= Q <= u: filled from the least values up to u, l elsewhere."""
    n, m = v.shape
    lower, upper = _columns(least), _columns(most)
    l_mid, u_mid = _middle(least), _middle(most)
    order = np.argsort(v, axis=0, kind="stable")
    up = np.take_along_axis(v, order, axis=0)
    filled = np.cumsum((u_mid - l_mid)[order], axis=0)
    k = np.minimum((filled < 1 - l_mid.sum()).sum(axis=0), n - 1)
    t = up[k, np.arange(m)]
    above, below = v > t, v < t
    one = batched.point(np.ones(m))

    def left_over(high: np.ndarray, low: np.ndarray) -> Box:
        return batched.subtract(
            batched.subtract(one, _sum(_where(high, lower))), _sum(_where(low, upper))
        )

    head = batched.add(_dot(_where(above, lower), v), _dot(_where(below, upper), v))
    value = batched.add(head, batched.multiply(left_over(above, below), batched.point(t)))
    right, left = left_over(above, v <= t), left_over(v >= t, below)
    excess = batched.add(
        batched.multiply(
            (np.zeros(m), np.maximum(right[1], 0.0)), batched.point(v.max(axis=0) - t)
        ),
        batched.multiply(
            (np.zeros(m), np.maximum(-left[0], 0.0)), batched.point(t - v.min(axis=0))
        ),
    )
    low, high = _bounded(np.maximum(value[0], v.min(axis=0)), batched.add(_width(value), excess), v)
    prior = np.where(below, u_mid[:, None], l_mid[:, None])
    on_level = v == t
    room = np.where(on_level, (u_mid - l_mid)[:, None], 0.0)
    share = (1 - prior.sum(axis=0)) / np.maximum(room.sum(axis=0), 1e-300)
    return Least(low, high, prior + room * np.clip(share, 0.0, 1.0))


def hull(v: np.ndarray, members: list[Box]) -> Least:
    """Solve the convex hull of finitely many priors: the least of their expectations."""
    each = [_dot(_columns(p), v) for p in members]
    low, high = (np.array([e[k] for e in each]) for k in (0, 1))
    best = high.argmin(axis=0)
    prior = np.array([_middle(p) for p in members])[best].T
    return Least(low.min(axis=0), high.min(axis=0), prior)


# -- balls of divergences: a smooth dual in one variable ------------------------------------------


def _solved(
    v: np.ndarray,
    dual: Callable[[np.ndarray], tuple[Box, Box]],
    start: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Maximise a concave dual on (start, inf): enclose its maximum, and return where it is.

    ``dual`` returns enclosures of D and D'. Between low and high, bisection on the distance from
    the start finds the first place found whose slope is certainly not positive.
    """
    a, b = np.log(low - start), np.log(high - start)
    for _ in range(_STEPS):
        middle = a + (b - a) / 2
        if ((middle == a) | (middle == b) | (np.exp(a) == np.exp(b))).all():
            break
        settings.work("batched", 8, v.size)
        slope = dual(start + np.exp(middle))[1]
        falls = slope[1] <= 0
        a, b = np.where(falls, a, middle), np.where(falls, middle, b)
    t = start + np.exp(b)
    value, slope = dual(t)
    steep = np.maximum(np.where(slope[1] <= 0, -slope[0], np.inf), 0.0)
    reach = batched.subtract(batched.point(t), batched.point(start))
    with np.errstate(invalid="ignore"):
        excess = batched.multiply((np.zeros_like(steep), steep), reach)
    least = np.nan_to_num(value[0], nan=-np.inf)
    low_, high_ = _bounded(
        np.maximum(least, v.min(axis=0)), batched.settled(batched.add(_width(value), excess)), v
    )
    return low_, high_, t


def _log(a: Box) -> Box:
    found = elementary.logarithm((a[0][None], a[1][None]), 0)
    return found[0][0], found[1][0]


def _sqrt(a: Box) -> Box:
    low, high = np.sqrt(np.maximum(a[0], 0.0)), np.sqrt(np.maximum(a[1], 0.0))
    return np.maximum(low * (1 - batched.EPS), 0.0), high * (1 + batched.EPS)  # correctly rounded


def _scale(v: np.ndarray) -> np.ndarray:
    spread = v.max(axis=0) - v.min(axis=0)
    return np.where(spread > 0, spread, 1.0)


def _inside(p: Box) -> np.ndarray:
    return p[1] > 0


def kl_to_centre(v: np.ndarray, p: Box, radius: Box) -> Least:
    """KL(Q || P) <= r: exponential tilting; Q lives where P does."""
    inside = _inside(p)
    w, p_in = v[inside], (p[0][inside], p[1][inside])
    least, weights = w.min(axis=0), _columns(p_in)
    away = batched.subtract(batched.point(w), batched.point(least))
    away = np.maximum(away[0], 0.0), away[1]

    def dual(t: np.ndarray) -> tuple[Box, Box]:
        power = batched.divide(batched.negative(away), batched.point(t))
        tilted = batched.multiply(weights, batched.exp((power[0], np.minimum(power[1], 0.0))))
        mass = _sum(tilted)
        mean = batched.divide(_sum(batched.multiply(tilted, away)), mass)
        inner = batched.subtract(batched.negative(_log(mass)), radius)
        value = batched.add(batched.point(least), batched.multiply(inner, batched.point(t)))
        return value, batched.subtract(inner, batched.divide(mean, batched.point(t)))

    spread = _scale(w)
    low, high, t = _solved(w, dual, np.zeros(v.shape[1]), spread * 1e-12, spread * 1e12)
    lead = w == least
    certain = _sum(_where(lead, weights))[0] >= np.nextafter(np.exp(-radius[0]) * (1 + 1e-15), 2)
    high = np.where(certain, least, high)
    tilt = _middle(p)[:, None] * np.exp(-np.clip((v - least) / np.maximum(t, 1e-300), 0.0, 700.0))
    tilt = np.where(inside[:, None], tilt, 0.0)
    return Least(low, high, tilt / tilt.sum(axis=0))


def _shifted(
    v: np.ndarray, p: Box, where: np.ndarray, dual: Callable[[Box, Box], tuple[Box, Box]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Solve a dual in t >= -min v that reads v + t under P."""
    inside = _inside(p)
    weights = _columns((p[0][inside], p[1][inside]))
    lowest = np.where(where[:, None], v, np.inf).min(axis=0)
    away = batched.subtract(batched.point(v[inside]), batched.point(lowest))
    away = np.maximum(away[0], 0.0), away[1]

    def along(s: np.ndarray) -> tuple[Box, Box]:  # s = t + min v
        value, slope = dual(weights, batched.add(away, batched.point(s)))
        own = batched.subtract(batched.point(lowest), batched.point(s))
        return batched.add(value, own), slope

    spread = _scale(v)
    zero = np.zeros(v.shape[1])
    return _solved(np.where(where[:, None], v, lowest), along, zero, spread * 1e-13, spread * 1e13)


def kl_from_centre(v: np.ndarray, p: Box, radius: Box, where: np.ndarray) -> Least:
    """KL(P || Q) <= r; Q charges the support of P, and may charge other secrets."""

    def dual(weights: Box, above: Box) -> tuple[Box, Box]:
        mean = _sum(batched.multiply(weights, _log(above)))
        value = batched.exp(batched.subtract(mean, radius))
        inverse = _sum(batched.multiply(weights, batched.reciprocal(above)))
        slope = batched.subtract(batched.multiply(value, inverse), batched.point(np.array(1.0)))
        return value, slope

    low, high, s = _shifted(v, p, where, dual)

    def tilt(gap: np.ndarray, q: np.ndarray) -> np.ndarray:
        mean = np.where(q > 0, q * np.log(gap), 0.0).sum(axis=0)
        return np.exp(mean - _middle(radius)) / gap

    return _tilted(v, p, where, low, high, s, tilt)


def chi_square_from_centre(v: np.ndarray, p: Box, radius: Box, where: np.ndarray) -> Least:
    """chi2(P || Q) = sum p^2 / q - 1 <= r; Q charges the support of P, and may charge others."""
    over = batched.add(batched.point(np.array(1.0)), radius)

    def dual(weights: Box, above: Box) -> tuple[Box, Box]:
        root = _sqrt(above)
        mean = _sum(batched.multiply(weights, root))
        inverse = _sum(batched.multiply(weights, batched.reciprocal(root)))
        value = batched.divide(batched.square(mean), over)
        slope = batched.divide(batched.multiply(mean, inverse), over)
        return value, batched.subtract(slope, batched.point(np.array(1.0)))

    low, high, s = _shifted(v, p, where, dual)

    def tilt(gap: np.ndarray, q: np.ndarray) -> np.ndarray:
        mean = (q * np.sqrt(gap)).sum(axis=0)
        return mean / (1 + _middle(radius)) / np.sqrt(gap)

    return _tilted(v, p, where, low, high, s, tilt)


def _tilted(v, p, where, low, high, s, tilt) -> Least:
    """Return the enclosure with its prior; what the tilt leaves of the mass goes to the least."""
    lowest = np.where(where[:, None], v, np.inf)
    gap = np.maximum(v - lowest.min(axis=0) + s, 1e-300)
    middle = _middle(p)[:, None]
    prior = middle * tilt(gap, middle)
    prior = prior / np.maximum(prior.sum(axis=0), 1.0)
    prior[lowest.argmin(axis=0), np.arange(v.shape[1])] += 1 - prior.sum(axis=0)
    return Least(low, high, prior)


def chi_square_to_centre(v: np.ndarray, p: Box, radius: Box) -> Least:
    """chi2(Q || P) = E_P (dQ/dP - 1)^2 <= r: densities (b - v)_+ with respect to P."""
    inside = _inside(p)
    w, weights = v[inside], _columns((p[0][inside], p[1][inside]))
    least, most = w.min(axis=0), w.max(axis=0)
    spread, over = _scale(w), batched.add(batched.point(np.array(1.0)), radius)

    def moments(b: np.ndarray) -> tuple[Box, Box, Box]:
        gap = batched.subtract(batched.point(b), batched.point(w))
        gap = np.maximum(gap[0], 0.0), np.maximum(gap[1], 0.0)
        part = batched.multiply(weights, gap)
        return (
            _sum(part),
            _sum(batched.multiply(part, gap)),
            _sum(batched.multiply(part, batched.point(w))),
        )

    def inside_ball(b: np.ndarray) -> np.ndarray:
        first, second, _ = moments(b)
        return (second[1] <= batched.multiply(over, batched.square(first))[0]) & (first[0] > 0)

    low_end, high_end = np.log(spread * 1e-14), np.log(spread * 1e14)
    for _ in range(_STEPS):  # the ratio of the moments falls with b: the least b inside the ball
        middle = low_end + (high_end - low_end) / 2
        fits = inside_ball(least + np.exp(middle))
        high_end, low_end = np.where(fits, middle, high_end), np.where(fits, low_end, middle)
    b = least + np.exp(high_end)
    first, second, mixed = moments(b)
    value = batched.multiply(over, first)
    value = batched.add(value, batched.divide(second, first))
    value = batched.subtract(
        batched.point(b), batched.multiply(value, batched.point(np.array(0.5)))
    )
    low = np.maximum(np.nan_to_num(value[0], nan=-np.inf), least)
    high = np.where(inside_ball(b), batched.divide(mixed, first)[1], most)
    # all of Q on the least value: its chi-square is 1 / P{v = least} - 1
    lead = batched.multiply(_sum(_where(w == least, weights)), over)[0] >= 1
    high = np.where(lead, least, np.clip(high, least, most))
    prior = _middle(p)[:, None] * np.maximum(b - v, 0.0) * inside[:, None]
    return Least(low, np.maximum(high, low), prior / np.maximum(prior.sum(axis=0), 1e-300))


def exactly(least: Any, v: np.ndarray) -> Any:
    """Apply a rational rule to columns of Fractions: values (m,) and priors (n, m).

    None where the rule finds nothing for some column.
    """
    found = [least(v[:, j]) for j in range(v.shape[1])]
    if any(f is None for f in found):
        return None
    values = np.array([f[0] for f in found], dtype=object)
    priors = np.array([f[1] for f in found], dtype=object).T
    return values, priors
