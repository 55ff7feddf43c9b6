"""Candidates for rays: outcomes and secrets as functions of t, towards where all may diverge.

Every candidate is a set of positive mass for every t; whether anything diverges along it is for
the arguments (`proofs`) to say.
"""

from __future__ import annotations

import math
from functools import wraps
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.kernels.leakage_on_boxes import charged
from borel.numerics.germs.interpreter import range_of, ray, slack
from borel.numerics.germs.order_bounds import Ray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from borel.engine.problem.protocols import TracedJoint

_SPREADS = ((0.25, 0.75), (1.125, 1.5), (1.0078125, 1.0625), (0.9375, 0.9921875))
_MOST_PLACES = 8
_POWERS = (1.0, 0.5, 2.0)


def _in_time(rays: Callable[..., Iterator[Ray]]) -> Callable[..., Iterator[Ray]]:
    """Let a search run dry when its time is over: a ray that is not tried proves nothing."""

    @wraps(rays)
    def limited(self: Rays, *of: Any) -> Iterator[Ray]:
        for found in rays(self, *of):
            if settings.late(self.until):
                return
            yield found

    return limited


class Rays:
    """The rays of a joint.

    Parameters
    ----------
    engine : TracedJoint
        The joint.
    """

    def __init__(self, engine: TracedJoint):
        self.engine, self.secret, self.line = engine, engine.secret, engine.line
        graph = engine.surface.graph
        # secrets, inside, at which the kernel of one outcome may diverge
        numbers = {float(c) for c in graph.constants if math.isfinite(c)}
        self.places = sorted(numbers)[:_MOST_PLACES]
        # whether secrets may follow the outcome
        self.until = settings.deadline()
        self.inside: tuple[float, float] | None = None
        """Of a number of several secrets: an interval of which every part has positive mass."""
        self.moves = self.secret.dim == 1 and engine.surface.needs_y

    @_in_time
    def outcomes(self, ends: list[tuple[float, float]]) -> Iterator[Ray]:
        """Yield rays of outcomes towards the places where boxes without a bound cluster."""
        seen: set[tuple[float, int]] = set()
        marks = [float(v) for v in (*self.secret.lower, *self.secret.upper)]
        marks += getattr(self.engine.joint.mechanism, "breaks", ())
        marks += getattr(self.engine.surface, "turns", ())
        first = [(self.line.lower, self.line.upper), *((m, m) for m in marks if math.isfinite(m))]
        for low, high in (*first, *ends[:12]):
            for place, sign in ((low, 1), (high, -1), (low, -1), (high, 1)):
                key = (place, sign)
                if key in seen:
                    continue
                seen.add(key)
                if math.isinf(place):
                    if (place > 0) == (sign < 0):
                        up = 1 if place > 0 else -1
                        yield Ray(
                            ray(0.0, -1.0, up, up),
                            f"y = {'' if up > 0 else '-'}1/t",
                            {"infinity": up},
                        )
                elif _leads_inside(place, sign, self.line.lower, self.line.upper):
                    words = f"y = {place:g} {'+' if sign > 0 else '-'} t"
                    data = {"base": float(place), "sign": sign}
                    yield Ray(ray(place, 1.0, sign, sign), words, data)

    @_in_time
    def secrets(self, y: Ray) -> Iterator[Ray]:
        """Yield sets of secrets of positive mass: fixed ones, and ones that move with t."""
        secret = self.secret
        for k, atom in enumerate(secret.atoms[:64]):
            if secret.weight_low[k] > 0:
                x = float(atom[0])
                yield Ray(slack(x, x), f"x = {x:g}", {"atom": x})
        if not secret.continuous:
            yield from self._counts(y)
            return
        for a, b in self.boxes():
            if self.has_mass(a, b):
                yield Ray(slack(a, b), f"x in ({a:g}, {b:g})", {"box": [a, b]})
        low, high = float(secret.lower[0]), float(secret.upper[0])
        corners, places = {(low, 1), (high, -1)}, []
        base = y.data.get("base")
        if base is None and len(set(y.data.get("box", []))) == 1:
            base = y.data["box"][0]  # a single outcome
        if base is not None:
            places.append(base)
        if "box" in y.data:
            places += self.places
        corners |= {
            (place, s) for place in places for s in (1, -1) if _leads_inside(place, s, low, high)
        }
        for place, sign in sorted(corners):
            if math.isinf(place):
                way = 1 if place > 0 else -1
                for p in _POWERS:
                    for s in _SPREADS[:2]:
                        ends = sorted((way * s[0], way * s[1]))
                        yield Ray(
                            ray(0.0, -p, *ends),
                            f"x = {'' if way > 0 else '-'}s t^-{p:g}, s in {s}",
                            {"infinity": way, "power": p, "s": [*s]},
                        )
                continue
            for p in _POWERS:
                for s in _SPREADS:
                    ends = sorted((sign * s[0], sign * s[1]))
                    words = f"x = {place:g} {'+' if sign > 0 else '-'} s t^{p:g}, s in {s}"
                    data = {"base": place, "sign": sign, "power": p, "s": [*s]}
                    yield Ray(ray(place, p, *ends), words, data)
        if not self.moves or "box" in y.data:
            return
        for p, spread in ((0.0, 0.5), (1.0, 0.5), (0.0, 2.0**-10), (1.0, 2.0**-10)):
            for sign in (1, -1):
                yield self._beside(p, spread, sign)

    def _counts(self, y: Ray) -> Iterator[Ray]:
        """Yield secrets of a countable prior that move: each set holds an integer, for every t."""
        if not self.secret.along_y:
            return
        for s in ((1.0, 2.0), (2.0**10, 2.0**11)):  # of length at least 1 as t <= 1
            data = {"infinity": 1, "power": 1.0, "s": [*s]}
            yield Ray(ray(0.0, -1.0, *s), f"x = s / t, s in {s}", data)
        if y.data.get("infinity") != 1:
            return
        if self.engine.joint.outcome.kind == "countable":
            for k in (0.0, 1.0, -1.0):
                data = {"diagonal": True, "power": 0.0, "s": [k, k]}
                yield Ray(slack(k, k), f"x = y {'+' if k >= 0 else '-'} {abs(k):g}", data, True)
        elif self.moves:
            data = {"diagonal": True, "power": 0.0, "s": [-0.5, 0.5]}
            yield Ray(slack(-0.5, 0.5), "x the integer next to y", data, True)

    def _beside(self, p: float, spread: float, sign: int) -> Ray:
        """Return the secrets y + s t^p on one side of the outcome."""
        ends = sorted((sign * spread / 2, sign * spread))
        value = slack(*ends) if p == 0 else ray(0.0, p, *ends)
        data = {"diagonal": True, "power": p, "s": ends}
        return Ray(value, f"x = y + s t^{p:g}, s in {tuple(ends)}", data, diagonal=True)

    def poles(self, y: Ray) -> Iterator[Ray]:
        """Yield secrets close to every outcome of a box, and close to an end of the secret."""
        if not self.secret.continuous:
            return
        for x in self.secrets(y):
            if "base" in x.data and x.data["power"] == 1.0:
                yield x
        if self.moves:
            for sign in (1, -1):
                yield self._beside(1.0, 0.5, sign)

    def boxes(self, y: Ray | None = None) -> list[tuple[float, float]]:
        """Cut the interval of the secret into a few boxes; half-lines are cut off.

        They are also cut where an outcome is, as kernels often have a jump or a kink there.
        """
        secret = self.secret
        low, high = float(secret.lower[0]), float(secret.upper[0])
        a = low if math.isfinite(low) else (high - 8.0 if math.isfinite(high) else -8.0)
        b = high if math.isfinite(high) else (low + 8.0 if math.isfinite(low) else 8.0)
        marks = [*secret.breaks, *([] if y is None else y.data.get("box", []))]
        cuts = sorted({*np.linspace(a, b, 9).tolist(), *(c for c in marks if a < c < b)})
        return [(float(p), float(q)) for p, q in pairwise(cuts)]

    def has_mass(self, a: float, b: float) -> bool:
        """Return whether a box of secrets certainly has positive mass."""
        if self.inside is not None:
            return max(a, self.inside[0]) < min(b, self.inside[1])
        return bool(charged(self.engine.surface, np.array([[a]]), np.array([[b]]))[0])

    def charged(self, y: Ray, x: Ray, t0: float) -> bool:
        """Return whether the secrets of a ray are secrets, of positive density, for all t."""
        if "atom" in x.data or "box" in x.data:
            return True  # chosen so
        secret = self.secret
        if not secret.continuous:
            return True  # the points y + k of a countable prior that charges them
        low, high = self.inside or (float(secret.lower[0]), float(secret.upper[0]))
        if x.diagonal:
            reach = range_of(y.value, t0)
            step = range_of(x.value, t0)
            ends = reach[0] + step[0], reach[1] + step[1]
        else:
            ends = range_of(x.value, t0)
        above, below = ends[0] >= low, ends[1] <= high
        base = x.data.get("base")
        if base is not None:  # at a corner only the other end has to be checked
            above |= base == low and x.data["sign"] > 0
            below |= base == high and x.data["sign"] < 0
        return above and below and secret.positive

    @_in_time
    def patches(self) -> Iterator[Ray]:
        """Yield boxes of outcomes of positive length, for divergences in the secret alone."""
        low, high = self.line.lower, self.line.upper
        marks = [m for m in (low, high, *self.engine.joint.mechanism.breaks) if math.isfinite(m)]
        marks += [float(v) for v in (*self.secret.lower, *self.secret.upper) if math.isfinite(v)]
        marks = sorted({m for m in marks if low <= m <= high}) or [0.0]
        for m in marks:
            for a, b in (
                (m + 0.125, m + 0.25),
                (m - 0.25, m - 0.125),
                (m + 2.0, m + 2.125),
                (m - 2.125, m - 2.0),
            ):
                if low <= a and b <= high:
                    data = {"box": [a, b]}
                    yield Ray(slack(a, b), f"y in ({a:g}, {b:g})", data)


def _leads_inside(place: float, sign: int, low: float, high: float) -> bool:
    """Return whether points beside a place, on one side, lie in an interval."""
    return low <= place < high if sign > 0 else low < place <= high
