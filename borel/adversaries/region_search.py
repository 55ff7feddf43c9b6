"""Events about the secret, and their probability before and after y, through the engines.

A reader encloses log P(A|y) / P(A) = log E[f(y|X) | A] / f_Y(y) by the range of the kernel on A,
and P(A); and it finds an A on which that is large, or small, enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import NotYet
from borel.numerics.intervals.rounding import fraction_down, fraction_up

if TYPE_CHECKING:
    from borel.engine.continuous.engine import CertifiedEngine
    from borel.engine.countable.engine import CountableEngine
    from borel.engine.estimates.engine import EstimateEngine

Ends = tuple[float, float]
_PIECES = 16
_HALVINGS = 120


@dataclass(frozen=True)
class SecretRegion:
    """A set of secrets: a closed box, or a point of positive mass where both ends agree.

    Attributes
    ----------
    lower, upper : tuple of float
        The ends, one for each coordinate of the secret.
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]

    @property
    def point(self) -> bool:
        """Whether it is a single point."""
        return self.lower == self.upper

    def indicator(self, x: Any) -> Any:
        """Return 1_A(x), elementwise; x is a tuple for a product."""
        parts = x if isinstance(x, tuple) else (x,)
        inside: Any = 1.0
        for part, a, b in zip(parts, self.lower, self.upper, strict=True):
            inside = inside * np.where(part >= a, 1.0, 0.0) * np.where(part <= b, 1.0, 0.0)
        return inside

    def pieces(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return boxes (n, d) that cover it; several for an interval."""
        a, b = np.array([self.lower]), np.array([self.upper])
        if len(self.lower) != 1 or self.point:
            return a, b
        cuts = np.linspace(self.lower[0], self.upper[0], count + 1)
        cuts[0], cuts[-1] = self.lower[0], self.upper[0]
        return cuts[:-1, None], cuts[1:, None]


def reader_of(engine: Any, y: Any) -> Any:
    """Return the reader for an engine."""
    from borel.engine import estimate_engine
    from borel.engine.continuous.engine import CertifiedEngine
    from borel.engine.countable.engine import CountableEngine

    if isinstance(engine, CertifiedEngine):
        whole = engine.of_secrets
        if whole is not None:
            return Certified(whole, y)
        return Estimated(estimate_engine(engine.given, "there are too many secrets"), y)
    if isinstance(engine, CountableEngine):
        return Countable(engine, y)
    return Estimated(engine, y)


def gap(a: float, b: float, direction: int) -> float:
    """Return a - b for logarithms, rounded outwards; what is unknown stays so."""
    if math.isinf(a) and a == b:
        return -math.inf if direction < 0 else math.inf
    value = a - b
    return value if math.isinf(value) else math.nextafter(value, direction * math.inf)


class Certified:
    """Boxes of secrets of a certified engine, or atoms."""

    def __init__(self, engine: CertifiedEngine, y: Any):
        self.engine, self.secret = engine, engine.secret
        self.ys = np.array([float(y)])
        self.surface = engine._sheets(self.ys)[0].surface

    def _range(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Enclose log f(y|x) over boxes (n, d)."""
        from borel.numerics.intervals import batched

        x = [(a[None, :, j], b[None, :, j]) for j in range(a.shape[1])]
        named = self.surface.inputs(x, batched.point(np.full((1, len(a)), self.ys[0])))
        low, high = batched.settled(self.surface.log.run(named, 0).jet)
        shape = (len(a),)
        return np.broadcast_to(low[0], shape), np.broadcast_to(high[0], shape)

    def density(self, region: SecretRegion, pieces: int = 4 * _PIECES) -> Ends:
        """Enclose log P(A|y) / P(A)."""
        low, high = self._range(*region.pieces(pieces))
        f_low, f_high = (float(v[0]) for v in self.engine.log_marginal_box(self.ys))
        return gap(float(low.min()), f_high, -1), gap(float(high.max()), f_low, 1)

    def mass(self, region: SecretRegion) -> Ends:
        """Enclose P(A)."""
        s = self.secret
        held = ((s.atoms >= region.lower) & (s.atoms <= region.upper)).all(axis=1)
        atoms = [math.fsum(w[held].tolist()) for w in (s.weight_low, s.weight_high)]
        low, high = atoms[0] * (1 - 2.0**-50), atoms[1] * (1 + 2.0**-50) + s.rest_mass
        if region.point or not s.continuous:
            return low, high
        a, b = self._density_mass(region)
        return low + a * (1 - 2.0**-50) if low else a, high + b * (1 + 2.0**-50) if high else b

    def _density_mass(self, region: SecretRegion) -> Ends:
        """Enclose the integral of the prior's density over a box."""
        from borel.numerics.intervals import batched

        s = self.secret
        if s.mass is not None:
            return s.mass(region.lower[0], region.upper[0])
        a, b = region.pieces(4 * _PIECES)
        assert s.program is not None
        x = dict(zip(s.names, [(a[None, :, j], b[None, :, j]) for j in range(s.dim)], strict=True))
        low, high = batched.exp(batched.settled(s.program.run(x, 0).jet))
        sides = [np.broadcast_to(v[0], len(a)).tolist() for v in (low, high)]
        volumes = [
            math.prod(Fraction(v) - Fraction(u) for u, v in zip(i, j, strict=True))
            for i, j in zip(a.tolist(), b.tolist(), strict=True)
        ]

        def total(values: list[float]) -> Fraction:
            pairs = zip(values, volumes, strict=True)
            return sum((Fraction(max(v, 0.0)) * w for v, w in pairs), Fraction(0))

        least = fraction_down(total(sides[0])) if np.isfinite(sides[0]).all() else 0.0
        return least, fraction_up(total(sides[1])) if np.isfinite(sides[1]).all() else 1.0

    def positive(self, region: SecretRegion) -> bool:
        """Return whether P(A) > 0 is known."""
        s = self.secret
        if not region.point and s.continuous and s.positive:
            a, b = np.array(region.lower), np.array(region.upper)
            return bool((np.maximum(a, s.lower) < np.minimum(b, s.upper)).all())
        return self.mass(region)[0] > 0

    def anywhere(self) -> SecretRegion:
        """Return some event."""
        if len(self.secret.atoms):
            place = tuple(float(v) for v in self.secret.atoms[0])
            return SecretRegion(place, place)
        return next(self._around(self._places(1.0)[0]))

    def find(self, sign: float, goal: float, *, endless: bool) -> SecretRegion | None:
        """Return a large event with sign * log P(A|y) / P(A) >= goal, proved."""
        places, probes = self._places(sign), self._probes(sign, goal)
        # an infinite extreme lies far out, or at an end: then the nearest probe will do
        for place in (*probes, *places) if endless else (*places, *probes):
            found = self._grown(place, sign, goal)
            if found is not None:
                return found
        return None

    def _grown(self, place: tuple[float, ...], sign: float, goal: float) -> SecretRegion | None:
        point = SecretRegion(place, place)
        if len(self.secret.atoms) and self.mass(point)[0] > 0 and self._good(point, sign, goal):
            return point
        if not self.secret.continuous:
            return None
        fit = (r for r in self._around(place) if self._good(r, sign, goal) and self.positive(r))
        return next(fit, None)

    def _good(self, region: SecretRegion, sign: float, goal: float) -> bool:
        low, high = self.density(region, _PIECES)
        return (low if sign > 0 else -high) >= goal

    def _places(self, sign: float) -> list[tuple[float, ...]]:
        """Return where log f(y|.) is extreme, if the engine found a place."""
        s = self.secret
        place = self.engine.extreme(self.ys, sign).place[0]
        if not np.isfinite(place).all():
            if not s.continuous:
                place = s.atoms[0]
            else:
                inner = np.where(np.isfinite(s.lower), s.lower, s.upper)
                place = np.where(np.isfinite(inner), inner, 0.0)
        return [tuple(float(v) for v in place)]

    def _probes(self, sign: float, goal: float) -> list[tuple[float, ...]]:
        """Return secrets near the ends, or far out, where the kernel is extreme enough."""
        s = self.secret
        if not s.continuous:
            return [tuple(float(v) for v in row) for row in s.atoms]
        if s.dim > 1:
            return []
        low, high = float(s.lower[0]), float(s.upper[0])
        powers = 2.0 ** np.arange(-40, 12, 0.5)
        grid = [np.zeros(1), powers, -powers]
        grid += [low + powers] if math.isfinite(low) else []
        grid += [high - powers] if math.isfinite(high) else []
        if math.isfinite(low) and math.isfinite(high):
            grid.append(np.linspace(low, high, 1025))
        x = np.unique(np.concatenate(grid))
        x = x[(x > low) & (x < high)]
        bottom, top = self._range(x[:, None], x[:, None])
        marginal = float(self.engine.log_marginal_box(self.ys)[0][0])
        good = x[(bottom if sign > 0 else -top) - sign * marginal > goal]
        good = good[np.argsort(np.abs(good), kind="stable")]
        return [(float(v),) for v in good[:64]]

    def _around(self, place: tuple[float, ...]) -> Iterator[SecretRegion]:
        """Yield boxes around a place, ever smaller: on both sides of it, above it and below."""
        s = self.secret
        with np.errstate(invalid="ignore"):
            span = s.upper - s.lower
        width = np.where(np.isfinite(span), span, np.maximum(2.0, np.abs(place)))
        at = np.array(place)
        for k in range(_HALVINGS):
            h = width * 2.0 ** (-0.5 * k)
            for below, above in ((1.0, 1.0), (0.0, 1.0), (1.0, 0.0)):
                a = np.maximum(at - below * h, s.lower)
                b = np.minimum(at + above * h, s.upper)
                # cut off at an end of the alphabet, a side is left to the other boxes
                if (b - a >= 0.5 * h).all() and np.isfinite(a).all() and np.isfinite(b).all():
                    yield SecretRegion(tuple(map(float, a)), tuple(map(float, b)))


class Countable:
    """Points of a countable secret, or of a finite one with countable outcomes."""

    def __init__(self, engine: CountableEngine, y: Any):
        self.engine, self.y = engine, y

    def density(self, region: SecretRegion) -> Ends:
        """Enclose log f(y|x) / f_Y(y) at the point."""
        x = np.array([int(region.lower[0])])
        low, high = self.engine.information_density_at(x, np.array([self.y]))
        return float(low[0]), float(high[0])

    def mass(self, region: SecretRegion) -> Ends:
        """Enclose the prior at the point."""
        head = self.engine._head(2 * abs(int(region.lower[0])) + 64)
        here = head.points == region.lower[0]
        return float(head.low[here].sum()), min(float(head.high[here].sum()), 1.0)

    def positive(self, region: SecretRegion) -> bool:
        """Return whether the prior charges the point."""
        return self.mass(region)[0] > 0

    def anywhere(self) -> SecretRegion:
        """Return some charged point."""
        head = self.engine._head(64)
        place = (float(head.points[int(np.argmax(head.low))]),)
        return SecretRegion(place, place)

    def find(self, sign: float, goal: float, *, endless: bool) -> SecretRegion | None:
        """Return a point with sign * log f(y|x) / f_Y(y) >= goal, enclosed."""
        for count in (64, 512, 4096):
            head = self.engine._head(count)
            x = head.points[head.low > 0]
            y = np.full(len(x), self.y)
            low, high = self.engine.information_density_at(x.astype(int), y)
            height = low if sign > 0 else -high
            best = int(np.argmax(height))
            if height[best] >= goal:
                place = (float(x[best]),)
                return SecretRegion(place, place)
        return None


class Estimated:
    """Intervals of a secret on the line, in float64: estimates."""

    def __init__(self, engine: EstimateEngine, y: Any):
        self.engine, self.y = engine, y
        on = engine.joint.prior.on
        if on.kind != "continuous" or on.dim > 1:
            raise NotYet(
                "witness",
                missing=f"events on {on!r} that are not enclosed",
                instead="secrets on an interval, and densities that can be traced.",
            )
        self.joint, self.low, self.high = engine.joint, float(on.lower), float(on.upper)

    def _grid(
        self, region: SecretRegion, count: int = 129
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return midpoints, log f(y|.) there, and the prior's mass of their cells."""
        cuts = np.linspace(region.lower[0], region.upper[0], count + 1)
        x = (cuts[:-1] + cuts[1:]) / 2
        kernel = self.joint.mechanism._logpdf(np.full(count, self.y), x)
        return x, kernel, np.asarray(self.joint.prior.pdf(x), float) * np.diff(cuts)

    def density(self, region: SecretRegion) -> Ends:
        """Estimate log P(A|y) / P(A), with the difference of two grids as its error."""
        values = []
        for count in (129, 64):
            _, kernel, weight = self._grid(region, count)
            top = float(np.max(kernel))
            mean = float((np.exp(kernel - top) * weight).sum() / weight.sum())
            values.append(top + math.log(mean) if mean > 0 else -math.inf)
        level = float(np.ravel(self.engine.log_marginal(self.y))[0])
        error = abs(values[0] - values[1]) + 1e-12 if math.isfinite(values[0]) else 0.0
        return values[0] - level - error, values[0] - level + error

    def mass(self, region: SecretRegion) -> Ends:
        """Estimate P(A)."""
        ends = [float(self._grid(region, count)[2].sum()) for count in (129, 64)]
        return max(min(ends) * (1 - 1e-9), 0.0), max(ends) * (1 + 1e-9)

    def positive(self, region: SecretRegion) -> bool:
        """Return whether P(A) looks positive."""
        return self.mass(region)[0] > 0

    def _whole(self) -> SecretRegion:
        inner = self.low if math.isfinite(self.low) else min(-64.0, self.high - 64.0)
        outer = self.high if math.isfinite(self.high) else max(64.0, inner + 64.0)
        return SecretRegion((inner,), (outer,))

    def anywhere(self) -> SecretRegion:
        """Return some event."""
        return self._whole()

    def find(self, sign: float, goal: float, *, endless: bool) -> SecretRegion | None:
        """Return an interval around the best point of a grid."""
        whole = self._whole()
        x, kernel, weight = self._grid(whole, 4096)
        charged = weight > 0
        if not charged.any():
            return None
        x, kernel = x[charged], kernel[charged]
        place = float(x[int(np.argmax(sign * kernel))])
        h = whole.upper[0] - whole.lower[0]
        for _ in range(60):
            region = SecretRegion((max(place - h, self.low),), (min(place + h, self.high),))
            low, high = self.density(region)
            if math.isfinite(h) and (low if sign > 0 else -high) >= goal:
                return region
            h /= 2
        return None
