r"""Secrets that follow the outcome: the most revealing one along a line, and a tube around it.

On a box of outcomes with centre c and half-width h the supremum of ``L(y, x) = +-log f(y|x)`` is
compared with its values along ``x = p(y) = x0 + v (y - c)``. Where L is smooth, and concave in x on
an interval T of secrets that holds the path (no branch of the kernel changes there),
:math:`L_{xx} \le -\kappa < 0`, for every y and every x in T

.. math:: L(y, x) \le L(y, p(y)) + \frac{L_x(y, p(y))^2}{2 \kappa}, \qquad
    |L_x(y, p(y))| \le |L_x(c, x_0)| + h |L_{xy} + v L_{xx}|(c, x_0) + h^2 \sup |C|,

where C is half the second derivative of L_x along the path. With x0 where L(c, .) is largest and
``v = -L_xy / L_xx`` the first terms vanish: the excess is of fourth order in the width of the box.
Mixed derivatives are differences of derivatives along several directions.

Where the kernel has a kink along x = y, as Laplace noise has, that is the path: if L(y, y + s)
rises up to s = 0 and falls from there on, for every y of the box, nothing around exceeds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Surface
    from borel.numerics.intervals.batched import Box

    Decisions = dict[int, tuple[np.ndarray, np.ndarray]]

_REACHES = (64.0, 24.0, 10.0, 5.0, 3.0)
"""Sizes of T, in units of what the extreme moves by while y leaves the centre."""
_NEWTON, _FINE, _PARTS = 3, 2.0**20, 4
_UP = 1 + 2.0**-40
_KINKS = frozenset(("absolute", "maximum", "minimum", "fmax", "fmin"))


class Tubes(NamedTuple):
    """Lines of secrets, one for each box of outcomes, and intervals of secrets around them.

    Attributes
    ----------
    place, speed : ndarray (n,)
        x0 and v; v = 0 where there is no tube.
    low, high : ndarray (n,)
        Ends of T; from inf to -inf where there is none.
    excess : ndarray (n,)
        What L exceeds its value along the line by at most, on T and for every y.
    """

    place: np.ndarray
    speed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    excess: np.ndarray


class _Kernel(NamedTuple):
    """The function L = sign * log f, with branches as a box of outcomes and secrets decided them.

    Parts of such a box may touch where a branch changes, and none of them would tell.
    """

    surface: Surface
    sign: float
    decisions: Decisions

    def taylor(self, y: Box, x: Box, speed, pace: float, order: int) -> Box:
        """Enclose the coefficient of t^order of L along ``(y, x) + t (pace, speed)``, over boxes.

        The boxes are parts of those that decided, one row of them after another.
        """
        n, pace_ = len(y[0]), np.full_like(y[0], pace)
        outcome = np.stack([y[0], pace_]), np.stack([y[1], pace_])
        secret = np.stack([x[0], speed]), np.stack([x[1], speed])
        decided = {k: (np.resize(u, n), np.resize(v, n)) for k, (u, v) in self.decisions.items()}
        named = self.surface.inputs([secret], outcome)
        found = self.surface.log.run(named, order, decisions=decided or None).jet
        low, high = arithmetic.entry(found if self.sign > 0 else batched.negative(found), order)
        return np.broadcast_to(low, n), np.broadcast_to(high, n)

    def mixed(self, y: Box, x: Box, speed, scale) -> Box:
        """Enclose L_xy + v L_xx, for v + scale and v - scale that are floats."""
        one, two = (self.taylor(y, x, speed + side, 1.0, 2) for side in (scale, -scale))
        return batched.divide(batched.subtract(one, two), batched.point(2 * scale))


def _decided(surface: Surface, y: Box, x: Box) -> tuple[np.ndarray, Decisions]:
    """Return on which boxes every branch is decided, and what is."""
    n = len(y[0])
    secret = arithmetic.variable(x[0], x[1], 1)
    found = surface.log.run(surface.inputs([secret], arithmetic.constant(*y)), 1).decisions
    made = {k: (np.broadcast_to(no, n), np.broadcast_to(yes, n)) for k, (no, yes) in found.items()}
    return np.all([np.ones(n, bool), *(no | yes for no, yes in made.values())], axis=0), made


def _middle(box: Box) -> np.ndarray:
    return box[0] / 2 + box[1] / 2


def tubes(surface: Surface, low, high, centre, half, place, sign: float) -> Tubes:
    """Follow the extreme of sign * log f over the secrets, on boxes of outcomes.

    Parameters
    ----------
    surface : Surface
        The kernel, and a secret with a density on an interval.
    low, high, centre, half : ndarray (n,)
        The boxes of outcomes; half is at least what y may be away from the centre.
    place : ndarray (n,)
        Where the kernel is extreme at the centre, about.
    sign : {1, -1}
        Supremum or infimum.
    """
    with np.errstate(all="ignore"):
        return _tubes(surface, low, high, centre, half, place, sign)


def _tubes(surface, low, high, centre, half, place, sign) -> Tubes:
    secret, n = surface.secret, len(low)
    ends = float(secret.lower[0]), float(secret.upper[0])
    zero, one = np.zeros(n), np.ones(n)
    out = Tubes(place, zero, np.full(n, np.inf), np.full(n, -np.inf), np.full(n, np.inf))
    # a guess of the path: whatever it is, what follows holds
    guess, at, x0 = _Kernel(surface, sign, {}), (centre, centre), place
    for _ in range(_NEWTON):  # to the extreme, where there is one inside
        slope, bend = (_middle(guess.taylor(at, (x0, x0), one, 0.0, k)) for k in (1, 2))
        step = -slope / (2 * bend)
        near = (bend < 0) & (np.abs(step) <= 0.25 * (np.abs(place) + half))
        x0 = np.where(near, np.clip(x0 + step, *ends), x0)
    point = x0, x0
    own = np.abs(_middle(guess.taylor(at, point, one, 0.0, 2)))
    across = np.abs(_middle(guess.taylor(at, point, zero, 1.0, 2)))
    scale = np.exp2(np.round(np.log2(across / own) / 2))
    scale = np.where((scale > 1e-100) & (scale < 1e100), scale, 1.0)
    # v + scale and v - scale are floats
    speed = _middle(guess.mixed(at, point, zero, scale)) / (2 * own)
    speed = np.round(speed / scale * _FINE) * (scale / _FINE)
    usable = np.isfinite(x0) & (np.abs(speed) < _FINE * scale) & np.isfinite(half)
    moved = np.abs(speed) * half * _UP
    span = batched.add(point, (-moved, moved))
    usable &= (span[0] > ends[0]) & (span[1] < ends[1])
    unit, todo = np.maximum(scale, np.abs(speed)) * half, usable
    for reach in _REACHES:
        k = np.flatnonzero(todo)
        if not len(k):
            break
        a, b = np.maximum(x0 - reach * unit, ends[0]), np.minimum(x0 + reach * unit, ends[1])
        known, made = _decided(surface, (low[k], high[k]), (a[k], b[k]))
        rows = np.flatnonzero(known & (a[k] < span[0][k]) & (span[1][k] < b[k]))
        k = k[rows]
        if not len(k):
            continue
        inside = _Kernel(surface, sign, {i: (u[rows], v[rows]) for i, (u, v) in made.items()})
        hollow = _hollow(inside, low[k], high[k], a[k], b[k])
        start = (centre[k], centre[k]), (x0[k], x0[k])
        size = _size(inside.taylor(*start, one[k], 0.0, 1))
        turn = inside.mixed(*start, speed[k], scale[k])
        curved = _curved(inside, low[k], high[k], centre[k], x0[k], speed[k], scale[k])
        size = size + (half[k] * _size(turn) + half[k] ** 2 * curved) * _UP
        excess = size**2 / (2 * hollow) * _UP + 2.0**-1000
        good = (hollow > 0.5 * own[k]) & np.isfinite(excess)
        for new, old in zip((x0[k], speed[k], a[k], b[k], excess), out, strict=True):
            old[k[good]] = new[good]
        todo[k[good]] = False
    return out


def along_kink(
    surface: Surface, low, high, centre, half, place, sign: float, known: Tubes
) -> tuple[Tubes, np.ndarray]:
    """Follow the extreme along x = y where it is at a kink there, and say on which boxes it is.

    Parameters
    ----------
    low, high, centre, half, place : ndarray (n,)
        As in `tubes`.
    known : Tubes
        Those that were found already.
    """
    done = np.zeros(len(low), bool)
    if surface.diagonal is None or not _KINKS & surface.graph.operations:
        return known, done
    out = Tubes(*(np.array(v) for v in known))
    program, _ = surface.diagonal
    near = np.isinf(known.excess) & (np.abs(place - centre) <= half / 64)
    for reach in _REACHES:
        k = np.flatnonzero(near & ~done)
        if not len(k):
            break
        r, zero = reach * half[k], np.zeros(len(k))
        y = arithmetic.constant(low[k], high[k])
        slopes = []
        for a, b in ((-r, zero), (zero, r), (-r, r)):
            offset = arithmetic.variable(a, b, 1)
            with np.errstate(all="ignore"):
                found = program.run({"y": y, "offset": offset}, 1).jet
            slope = arithmetic.entry(found if sign > 0 else batched.negative(found), 1)
            slopes.append(tuple(np.broadcast_to(v, len(k)) for v in slope))
        rises, falls = slopes[0][0] >= 0, slopes[1][1] <= 0
        good = rises & falls & np.isfinite(slopes[2][0]) & np.isfinite(slopes[2][1])
        # of every y of the box these are nearer than r
        left = np.nextafter(high[k] - r, np.inf)
        right = np.nextafter(low[k] + r, -np.inf)
        good &= left < right
        k = k[good]
        new = centre[k], np.zeros(len(k)), left[good], right[good], np.zeros(len(k))
        for value, old in zip(new, out, strict=True):
            old[k] = value
        done[k] = True
    return out, done


def _curved(inside: _Kernel, low, high, centre, x0, speed, scale) -> np.ndarray:
    """Bound half the second derivative of L_x along the path, over the boxes.

    With T(d) = D^3 L[d, d, d] / 6 it is (T(w + s e) - T(w - s e)) / 2s - s^2 T(e).
    """
    cuts = _cuts(low, high, _PARTS)
    y = cuts[:-1].ravel(), cuts[1:].ravel()
    c, x, v, s = (np.tile(u, _PARTS) for u in (centre, x0, speed, scale))
    away = batched.multiply(batched.subtract(y, batched.point(c)), batched.point(v))
    on_path = batched.add(batched.point(x), away)
    two = (inside.taylor(y, on_path, v + side, 1.0, 3) for side in (s, -s))
    both = batched.divide(batched.subtract(*two), batched.point(2 * s))
    square = batched.multiply(batched.point(s), batched.point(s))
    more = batched.multiply(inside.taylor(y, on_path, np.ones_like(v), 0.0, 3), square)
    return _size(batched.subtract(both, more)).reshape(_PARTS, -1).max(axis=0)


def _hollow(inside: _Kernel, low, high, a, b) -> np.ndarray:
    """Return the least -L_xx on boxes of outcomes and secrets; -inf if it is not bounded."""
    ys, xs = _cuts(low, high, _PARTS), _cuts(a, b, 2 * _PARTS)
    shape = (_PARTS, 2 * _PARTS, len(low))
    y = tuple(np.broadcast_to(v[:, None], shape).ravel() for v in (ys[:-1], ys[1:]))
    x = tuple(np.broadcast_to(v[None], shape).ravel() for v in (xs[:-1], xs[1:]))
    bend = inside.taylor((y[0], y[1]), (x[0], x[1]), np.ones(len(y[0])), 0.0, 2)
    found = np.where(np.isfinite(bend[0]), -2 * bend[1], -np.inf)
    return np.nan_to_num(found, nan=-np.inf).reshape(-1, len(low)).min(axis=0)


def _cuts(low, high, parts: int) -> np.ndarray:
    """Return the ends of parts of boxes, one row each."""
    cuts = low + (high - low) * np.linspace(0, 1, parts + 1)[:, None]
    cuts[0], cuts[-1] = low, high
    return cuts


def _size(a: Box) -> np.ndarray:
    return np.maximum(np.abs(a[0]), np.abs(a[1]))
