"""Bounds of f_Y from above along a ray of outcomes: f_Y <= e^W t^B for all t in (0, t0].

On a box of secrets f_Y has at most the kernel's largest value times the box's mass. Where the
kernel is not bounded on a box, because it blows up at one end of it, an integral is taken: with
x = end + r, if f p <= c r^A for all r up to the width of the box and all outcomes of the ray, and
A > -1, the box adds at most c width^(A+1) / (A+1), a constant.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from borel.engine.infinities.orders import Ray, of_log
from borel.engine.infinities.power import PowerProgram, range_of, ray, slack

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.engine.continuous.surface import Secret
    from borel.engine.infinities.orders import Orders

Most = tuple[float, float, list, list]
"""The exponent B, the weight W, the boxes of secrets, and those bounded by an integral."""

_MARGIN = 1e-9  # exponents are floats: one that is this close to -1 is not called integrable


def at_most(
    kernel: Callable[[Ray, Ray, float], Orders],
    secret: Secret,
    boxes: list[tuple[float, float]],
    y: Ray,
    t0: float,
) -> Most | None:
    """Bound f_Y along a ray.

    Parameters
    ----------
    kernel : callable
        ``(y, x, t0)`` -> the orders of f along a pair of rays.
    secret : Secret
        The prior, without atoms, on a bounded interval.
    boxes : list of pairs
        Boxes that cover the interval.
    y : Ray
        The outcomes.
    t0 : float
        Where the ray starts.
    """
    if not (np.isfinite(secret.lower).all() and np.isfinite(secret.upper).all()):
        return None
    worst, height, corners = math.inf, -math.inf, []
    for a, b in _cut(boxes, y):
        bound = kernel(y, Ray(slack(a, b), "", {"box": []}), t0).most
        if bound is None or bound[0] < 0:
            found = _integral(kernel, secret, a, b, y, t0)
            if found is not None:
                corners.append(found[1])
                bound = 0.0, found[0]
        if bound is None:
            return None
        worst = min(worst, bound[0])
        # the boxes' masses add up to 1, the integrals to at most their number of the largest
        height = max(height, bound[1] + math.log(len(boxes) + 2.0))
    return worst, height, [[a.hex(), b.hex()] for a, b in boxes], corners


def _cut(boxes: list[tuple[float, float]], y: Ray) -> list[tuple[float, float]]:
    """Cut the boxes at the outcome, if the ray is a single one: the kernel may blow up there."""
    ends = y.data.get("box", [])
    places = {float.fromhex(v) for v in ends} if ends else set()
    out = []
    for a, b in boxes:
        cuts = [a, *sorted(p for p in places if a < p < b), b]
        out += list(pairwise(cuts))
    return out


def _integral(
    kernel: Callable[[Ray, Ray, float], Orders],
    secret: Secret,
    a: float,
    b: float,
    y: Ray,
    t0: float,
) -> tuple[float, dict] | None:
    """Bound the integral of f p over a box, for all outcomes of a ray at once, by its logarithm."""
    reach = range_of(y.value, t0)
    # the box's width, rounded up: a little more than the box is covered
    width = math.nextafter(b - a, math.inf)
    if secret.log_density is None or not (np.isfinite(reach).all() and width < 1):
        return None
    held = Ray(slack(*reach), y.words, {"box": [v.hex() for v in reach]})
    program = PowerProgram(secret.log_density)
    for place, sign in ((a, 1), (b, -1)):
        x = Ray(ray(place, 1.0, sign, sign), f"x = {place:g} {'+' if sign > 0 else '-'} r")
        f = kernel(held, x, width).most
        if f is None:
            continue
        p = of_log(program.run({secret.names[0]: x.value}, width), width).most
        if p is None or not f[0] + p[0] > -1 + _MARGIN:
            continue
        power = f[0] + p[0] + 1
        size = f[1] + p[1] + power * math.log(width) - math.log(power)
        # a power close to 0 is known to some 1e-7 of itself
        size += 1e-6 * (1 + abs(f[1]) + abs(p[1]) + abs(power * math.log(width)))
        data = {
            "box": [a.hex(), b.hex()],
            "base": place.hex(),
            "sign": sign,
            "exponent": (f[0] + p[0]).hex(),
            "weight": (f[1] + p[1]).hex(),
        }
        return size, data
    return None
