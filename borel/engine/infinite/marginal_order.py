"""Bounds of f_Y from above along a ray of outcomes: f_Y <= e^W t^B for all t in (0, t0].

On a box of secrets f_Y has at most the kernel's largest value times the box's mass. Where that is
not enough, because the kernel blows up at an end of the box, or is small next to it only, the box
is taken apart by the distance r to that end, in one of two ways.

An integral: if f p <= c r^A for all r up to the width of the box and all outcomes of the ray, and
A > -1, the box adds at most c width^(A+1) / (A+1), a constant.

Scales: r = width t^a with a in [a_k, a_k+1], for 0 = a_0 < a_1 < ... < q, and r <= width t^q. If
p <= c r^B, the secrets nearer than width t^a_k have a mass of at most C t^(a_k (B + 1)), which
multiplies the kernel's largest value on the piece. (An exponent that is an interval encloses the
kernel for every t and every exponent in it: all r of the piece, that is.)

Where noise is bounded, the outcomes within t of the last one come from secrets within t of an end:
f_Y is at most the kernel's largest value times their mass.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from borel.numerics.germs.interpreter import PowerProgram, range_of, ray, slack
from borel.numerics.germs.order_bounds import NOTHING, Ray, of_log
from borel.probability.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.engine.problem.secret_and_kernel import Secret
    from borel.numerics.germs.order_bounds import Orders

    Kernel = Callable[[Ray, Ray, float], Orders]
    Found = tuple[float, float]

_MARGIN = 1e-9  # exponents are floats: one that is this close to -1 is not called integrable
_PIECES = 8
_DEPTHS = (1.0, 2.0)


class LeadingTerm(NamedTuple):
    """A bound e^weight t^exponent of f_Y."""

    exponent: float
    weight: float


class MarginalOrder:
    """f_Y along rays of outcomes.

    Parameters
    ----------
    kernel : callable
        ``(y, x, t0)`` -> the orders of f along a pair of rays.
    secret : Secret
        The prior, without atoms, on a bounded interval.
    boxes : list of pairs
        Boxes that cover the interval.
    """

    def __init__(self, kernel: Kernel, secret: Secret, boxes: list[tuple[float, float]]):
        self.kernel, self.secret, self.boxes = kernel, secret, boxes
        ends = np.isfinite(secret.lower).all() and np.isfinite(secret.upper).all()
        self.fits = bool(ends) and not len(secret.atoms)
        density = secret.log_density
        self.prior = None if density is None else PowerProgram(density)
        self._memo = Memo()

    def at_most(self, y: Ray, t0: float, than: float) -> LeadingTerm | None:
        """Bound f_Y along a ray by an order larger than ``than``; None where there is none."""
        if not self.fits:
            return None
        beside = self._memo.fact((repr(y.data), t0), lambda: self._beside_end(y, t0))
        if beside is not None and beside[0] > than:
            return LeadingTerm(*beside)
        bounds = []
        for a, b in _cut(self.boxes, y):
            box = Ray(slack(a, b), "", {"box": [a, b]})
            key = (repr(y.data), t0, a, b)
            bound = self._memo.fact(key, lambda box=box: self.kernel(y, box, t0).most)
            for apart in (self._integral, self._scales):
                if bound is not None and bound[0] > than:
                    break
                found = self._memo.fact(
                    (*key, apart.__name__), lambda f=apart, a=a, b=b: f(a, b, y, t0)
                )
                if found is not None and (bound is None or found[0] > bound[0]):
                    bound = found
            if bound is None or not bound[0] > than:
                return None
            bounds.append(bound)
        worst, height = (f(v) for f, v in zip((min, max), zip(*bounds, strict=True), strict=True))
        if height == -math.inf:
            return None  # f_Y is 0 along the ray
        # the boxes' masses add up to 1, the others to at most their number of the largest
        height += math.log(len(bounds) + 2.0)
        return LeadingTerm(worst, height)

    def _beside_end(self, y: Ray, t0: float) -> Found | None:
        """Bound f_Y by the secrets within t of an end, where those beyond do not lead to y.

        With y = y0 + t and the lower end e of the secrets, x >= e + t has an offset x - y of
        e - y0 at least; at the upper end likewise.
        """
        if "base" not in y.data or y.scale:
            return None
        base, sign = y.data["base"], int(y.data["sign"])
        ends = float(self.secret.lower[0]), float(self.secret.upper[0])
        end, far = ends if sign > 0 else ends[::-1]
        place = Fraction(end) - Fraction(base)
        last = math.nextafter(far - base, sign * math.inf)
        if float(place) != place or not sign * float(place) < sign * last:
            return None
        box = sorted((float(place), last))
        beyond = self.kernel(y, Ray(slack(*box), "", {"box": box}, diagonal=True), t0).most
        f = self.kernel(y, Ray(slack(*ends), "", {"box": [*ends]}), t0).most
        p = self._density(end, sign, 2 * t0)
        if beyond is None or beyond[1] > -math.inf or f is None or p is None or f[1] == -math.inf:
            return None
        power = p[0] + 1
        if not power > _MARGIN:
            return None
        return _part(f[0] + power, (f[1], p[1]), (power, 1.0))

    def _density(self, place: float, sign: int, width: float) -> tuple[float, float] | None:
        """Bound p <= e^w r^B at the distances r < width from a place: (B, w)."""
        if self.prior is None or not width < 1:
            return None
        x = ray(place, 1.0, sign, sign)
        return of_log(self.prior.run({self.secret.names[0]: x}, width), width).most

    def _integral(self, a: float, b: float, y: Ray, t0: float) -> Found | None:
        """Bound the integral of f p over a box, for all outcomes of a ray at once."""
        reach = range_of(y.value, t0)
        # the box's width, rounded up: a little more than the box is covered
        width = math.nextafter(b - a, math.inf)
        if self.prior is None or not (np.isfinite(reach).all() and width < 1):
            return None
        held = Ray(slack(*reach), y.words, {"box": [*reach]})
        for place, sign in ((a, 1), (b, -1)):
            x = Ray(ray(place, 1.0, sign, sign), f"x = {place:g} {'+' if sign > 0 else '-'} r")
            f, p = self.kernel(held, x, width).most, self._density(place, sign, width)
            if f is None or p is None or not math.isfinite(f[0] + p[0]):
                continue
            if not f[0] + p[0] > -1 + _MARGIN:
                continue
            power = f[0] + p[0] + 1
            size = f[1] + p[1] + power * math.log(width) - math.log(power)
            # a power close to 0 is known to some 1e-7 of itself
            size += 1e-6 * (1 + abs(f[1]) + abs(p[1]) + abs(power * math.log(width)))
            return 0.0, size
        return None

    def _scales(self, a: float, b: float, y: Ray, t0: float) -> Found | None:
        """Bound what a box adds by pieces at distances width t^a from one of its ends."""
        width = math.nextafter(b - a, math.inf)
        best: Found | None = None
        for place, sign in ((a, 1), (b, -1)):
            p = self._density(place, sign, width)
            if p is None or not p[0] > -1 + _MARGIN:
                continue
            for depth in _DEPTHS:
                cuts = [depth * k / _PIECES for k in range(_PIECES + 1)]
                found = self._pieces(y, t0, (place, sign, width), cuts, p)
                if found is not None and (best is None or found[0] > best[0]):
                    best = found
        return best

    def _pieces(
        self,
        y: Ray,
        t0: float,
        corner: tuple[float, int, float],
        cuts: list[float],
        p: tuple[float, float],
    ) -> tuple[float, float] | None:
        """Bound what the pieces add, all together."""
        width, mass = corner[2], p[0] + 1
        if corner[0] != 0:
            return None  # the power arithmetic keeps no base next to t^0
        pieces = [(low, self.kernel(y, piece, t0).most) for low, piece in _scaled(corner, cuts)]
        parts = []
        if pieces[0][1] is None:
            parts = self._nearest(y, t0, corner, cuts, p) or []
            if not parts:
                return None
            pieces = pieces[1:]
        for low, bound in pieces:
            if bound is None:
                return None
            if bound[1] > -math.inf:
                parts.append(_part(bound[0] + low * mass, (bound[1], p[1]), (mass, width)))
        if not parts:
            return NOTHING
        return min(e for e, _ in parts), max(w for _, w in parts) + math.log(len(parts) + 1.0)

    def apart(self, a: float, b: float, y: Ray, t0: float) -> list[Orders]:
        """Return the orders of the kernel on pieces of a box of secrets, by distance to 0."""
        if not (self.fits and 0.0 in (a, b)):
            return []
        corner = 0.0, 1 if a == 0 else -1, math.nextafter(b - a, math.inf)
        cuts = [_DEPTHS[-1] * k / _PIECES for k in range(_PIECES + 1)]
        return [self.kernel(y, piece, t0) for _, piece in _scaled(corner, cuts)]

    def _nearest(
        self,
        y: Ray,
        t0: float,
        corner: tuple[float, int, float],
        cuts: list[float],
        p: tuple[float, float],
    ) -> list[tuple[float, float]] | None:
        """Bound what the secrets nearer than width t^q add, where the kernel has no bound for them.

        The distance is c r, c = 2 width t0^q, and t = t0 (2 r)^b with b in [0, 1/q], as r goes to
        0: if f <= e^w r^A for one piece of exponents b, its part is the integral of that bound.
        """
        place, sign, width = corner
        depth = cuts[-1]
        if y.data.get("base", 0.0) != 0.0 or "box" in y.data or y.scale:
            return None
        unit = 2 * width * t0**depth
        x = Ray(ray(place, 1.0, sign * unit, sign * unit), "", {"piece": [unit]})
        out = []
        for low, high in pairwise(c / (depth * depth) for c in cuts):
            reach = t0, math.nextafter(t0 * 2 ** (1 / depth), math.inf)
            if "infinity" in y.data:
                way = y.data["infinity"]
                ends = sorted(way * v for v in (1 / t0, 0.999 / reach[1]))
                value = ray(0.0, (-high, -low), *ends)
            else:
                value = ray(0.0, (low, high), *sorted(y.data["sign"] * v for v in reach))
            f = self.kernel(Ray(value, "", {"piece": [low, high]}), x, 0.5).most
            if f is None or f[1] == -math.inf or not f[0] + p[0] > -1 + _MARGIN:
                if f is None or f[1] > -math.inf:
                    return None
                continue
            power = f[0] + p[0] + 1
            size = f[1] - f[0] * math.log(unit) + 1e-6 * abs(f[0] * math.log(unit))
            out.append(_part(depth * power, (size, p[1]), (power, width)))
        return out


def _scaled(corner: tuple[float, int, float], cuts: list[float]) -> list[tuple[float, Ray]]:
    """Return pieces of a box at distances width t^a from an end at 0, the nearest first."""
    place, sign, width = corner
    step = sign * width
    inner = Ray(ray(place, cuts[-1], *sorted((0.0, step))), "", {"piece": [cuts[-1]]})
    out = [(cuts[-1], inner)]
    for low, high in pairwise(cuts):
        piece = Ray(ray(place, (low, high), step, step), "", {"piece": [low, high]})
        out.append((low, piece))
    return out


def _part(
    order: float, sizes: tuple[float, float], mass: tuple[float, float]
) -> tuple[float, float]:
    """Return t^order e^sizes width^a / a as an exponent and a weight, rounded upwards."""
    a, width = mass
    size = sum(sizes) + a * math.log(width) - math.log(a)
    size += 1e-6 * (1 + sum(map(abs, sizes)) + abs(a * math.log(width)))
    return order - 1e-9 * (1 + abs(order)), size


def _cut(boxes: list[tuple[float, float]], y: Ray) -> list[tuple[float, float]]:
    """Cut the boxes at the outcome, if the ray is a single one: the kernel may blow up there."""
    places = set(y.data.get("box", []))
    out = []
    for a, b in boxes:
        cuts = [a, *sorted(p for p in places if a < p < b), b]
        out += list(pairwise(cuts))
    return out
