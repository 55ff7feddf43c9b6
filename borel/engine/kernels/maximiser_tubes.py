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

Where the kernel has a kink or a jump along a line x = p(y), as Laplace noise has along x = y, that
is the path, on the side where the kernel is larger: if L(y, p(y) + s) rises up to s = 0 and falls
from there on, for every y of the box, nothing around exceeds the larger of the limits at s = 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.engine.kernels.essential_supremum import Tubes
from borel.engine.kernels.marginal_on_boxes import ORDER, full, poly_range, range_of_line
from borel.engine.kernels.outcome_strips import strips_of
from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Surface
    from borel.numerics.graphs.branch_lines import BranchLine
    from borel.numerics.intervals.batched import Box

    Decisions = dict[int, tuple[np.ndarray, np.ndarray]]

_REACHES = (64.0, 24.0, 10.0, 5.0, 3.0)
"""Sizes of T, in units of what the extreme moves by while y leaves the centre."""
_NEWTON, _FINE, _PARTS = 3, 2.0**20, 4
_UP = 1 + 2.0**-40
_ULPS = 2.0**-50


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


class Ridge(NamedTuple):
    """Lines of kinks or jumps along which the kernel is extreme, on some boxes of outcomes.

    Attributes
    ----------
    there : ndarray of bool (n,)
        Which boxes.
    path : tuple of Box
        L along the line, on the side where it is larger: coefficients at the centre, over the box.
    low, high : ndarray (n,)
        Secrets between which the line is, and some of those beside it.
    """

    there: np.ndarray
    path: tuple[Box, Box]
    low: np.ndarray
    high: np.ndarray


def along_lines(
    surface: Surface, low, high, centre, half, place, sign: float, known: Tubes
) -> tuple[Tubes, Ridge]:
    """Follow the extreme along lines of kinks or jumps, on the boxes where it is there.

    Parameters
    ----------
    low, high, centre, half, place : ndarray (n,)
        As in `tubes`.
    known : Tubes
        Those that were found already.
    """
    n = len(low)
    path = np.full((2, ORDER, n), np.nan), np.full((2, ORDER + 1, n), np.nan)
    inner, outer = ((p[0], p[1]) for p in path)
    out = Ridge(np.zeros(n, bool), (inner, outer), np.zeros(n), np.zeros(n))
    strips = strips_of(surface)
    if strips is None:
        return known, out
    tubes_ = Tubes(*(np.array(v) for v in known))
    for strip, lanes in strips.groups(low, high):
        for line in strip.lines:
            slope = float(line.slope)
            at = float(line.level) + slope * centre[lanes]
            near = np.abs(place[lanes] - at) <= half[lanes] / 64 * max(1.0, abs(slope))
            k = lanes[near & np.isinf(tubes_.excess[lanes])]
            if len(k):
                with np.errstate(all="ignore"):
                    _along(strips, strip, line, k, (low, high, centre, half), sign, tubes_, out)
    return tubes_, out


def _along(strips, strip, line, lanes, boxes, sign: float, tubes_: Tubes, out: Ridge) -> None:
    """Try one line on some boxes, and write what is found."""
    programs, rooms = strips.along(strip, line)
    todo = lanes
    for size in _REACHES:
        k = todo
        if not len(k):
            return
        low, high, centre, half = (v[k] for v in boxes)
        r = size * half * max(1.0, abs(float(line.slope)))
        far = [np.minimum(r, _least(room, low, high)) for room in rooms]
        ends = range_of_line(line, low, high)
        left, right = ends[1] - far[0] * (1 - _ULPS), ends[0] + far[1] * (1 - _ULPS)
        left, right = left + np.abs(left) * _ULPS, right - np.abs(right) * _ULPS
        good = (left < right) & (far[0] >= 0) & (far[1] >= 0)
        sides = []
        for program, offset in zip(programs, ((-far[0], 0 * r), (0 * r, far[1])), strict=True):
            found = _one_side(program, low, high, centre, offset, sign)
            rises = found.slope[0] >= 0 if len(sides) == 0 else found.slope[1] <= 0
            bounded = np.isfinite(found.slope[0]) & np.isfinite(found.slope[1])
            good &= np.isneginf(found.most) | (rises & bounded)
            sides.append(found)
        tops = [_middle(arithmetic.entry(one.path[0], 0)) for one in sides]
        first = ~(tops[0] < tops[1])
        best = chosen_paths(first, sides[0].path, sides[1].path)
        other = chosen_paths(first, sides[1].path, sides[0].path)
        apart = [batched.subtract(u, v) for u, v in zip(other, best, strict=True)]
        gap = poly_range(apart[0], apart[1], half)
        dead = np.isneginf(np.where(first, sides[1].most, sides[0].most))
        excess = np.where(dead, 0.0, np.maximum(gap[1], 0.0))
        good &= np.isfinite(excess) & np.isfinite(np.maximum(*tops))
        at = float(line.level) + float(line.slope) * centre
        new = at, np.full(len(k), float(line.slope)), left, right, excess
        for value, old in zip(new, tubes_, strict=True):
            old[k[good]] = value[good]
        for values, old in zip(best, out.path, strict=True):
            for value, end in zip(values, old, strict=True):
                end[:, k[good]] = value[:, good]
        out.there[k[good]] = True
        lower, upper = strips.lower, strips.upper
        beside = np.maximum(np.abs(at), half) * 2.0**-30
        out.low[k[good]] = np.maximum(ends[0] - beside, lower)[good]
        out.high[k[good]] = np.minimum(ends[1] + beside, upper)[good]
        todo = k[~good]


def chosen_paths(
    which: np.ndarray, one: tuple[Box, Box], other: tuple[Box, Box]
) -> tuple[Box, Box]:
    """Return the one pair of jets on some boxes, and the other one on the others."""

    def chosen(u: Box, v: Box) -> Box:
        return np.where(which, u[0], v[0]), np.where(which, u[1], v[1])

    return chosen(one[0], other[0]), chosen(one[1], other[1])


class _OneSide(NamedTuple):
    """L beside a line: its slope and largest value there, and its limit at the line."""

    slope: Box
    most: np.ndarray
    path: tuple[Box, Box]


def _one_side(program, low, high, centre, offset: Box, sign: float) -> _OneSide:
    n, zero = len(low), np.zeros(len(low))

    def signed(jet: Box) -> Box:
        return jet if sign > 0 else batched.negative(jet)

    named = {"y": arithmetic.constant(low, high), "offset": arithmetic.variable(*offset, 1)}
    beside = program.run(named, 1)
    value, slope = (arithmetic.entry(signed(beside.jet), i) for i in (0, 1))
    at = arithmetic.constant(zero, zero)
    # what is decided beside the line is on it: a value altered there is not seen
    named = {"y": arithmetic.variable(low, high, ORDER), "offset": at}
    outer = program.run(named, ORDER, decisions=beside.decisions)
    named = {"y": arithmetic.variable(centre, centre, ORDER - 1), "offset": at}
    inner = program.run(named, ORDER - 1, decisions=outer.decisions)
    path = full(signed(inner.jet), ORDER, n), full(signed(outer.jet), ORDER + 1, n)
    wide = tuple(np.broadcast_to(v, n) for v in slope)
    return _OneSide((wide[0], wide[1]), np.broadcast_to(value[1], n), path)


def _least(room: BranchLine | None, low: np.ndarray, high: np.ndarray) -> Any:
    """Return what a distance of two lines is at least on boxes; None for one without end."""
    return np.inf if room is None else range_of_line(room, low, high)[0]


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
