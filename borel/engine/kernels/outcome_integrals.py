r"""Proofs of integrals over outcomes on a line, for a finite secret: envelopes, psi, and events.

A figure that a search found in float64 is proved by statements about two kinds of integrals of the
densities f(.|x). With q the density of Y, g_x = f(.|x) and theta = e^t for PML, g_x = -f(.|x) and
theta = -e^-t for PMC: shares w_x of the outcomes, given on cells, name a secret x each, and are
worth a leakage of t where for each x :math:`\int w_x (g_x - \theta q) \ge 0`. From above the
integral of a largest function, such as that of a linear programme's dual, bounds what all shares
are worth.

On a bounded box of outcomes densities are Taylor models. Beyond such boxes, and where these do not
tell, there is the integral of m, the largest of the densities: along y = p / t, t in (0, 1], the
density of one secret is proved to be the largest, and integrated over t. Boxes are halved until the
statement is proved.
"""

from __future__ import annotations

import math
from contextlib import suppress
from copy import copy
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from flint import arb, ctx

from borel import settings
from borel.engine.problem.budget import patience
from borel.numerics.balls.power_sums import (
    INF,
    Q0,
    PowerSum,
    Z,
    difference,
    from_ends,
    log_of,
    moment,
    power_sum,
)
from borel.numerics.balls.power_sums import run as run_along
from borel.numerics.balls.taylor_models import DEGREE, FUNCTIONS, model, of_interval, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.balls.taylor_models import TaylorModel

BITS, STRICT, LITTLE = 128, arb(2) ** -100, arb(2) ** -44
_BOXES, _LEAST_GAP = 2000, arb(2) ** -110
_KNOWN = {"input", "const", *FUNCTIONS}


class OutcomeIntegrals:
    """Statements about integrals over the outcomes of a joint with a finite secret.

    Parameters
    ----------
    engine : CertifiedOutcomes
        The joint.
    sign : {1, -1}
        PML or PMC.
    """

    theta: arb
    prices: dict[float, arb]

    def __init__(self, engine: Any, sign: int = 1):
        mechanism, secret, line = engine.joint.mechanism, engine.secret, engine.line
        self.sign, self.until = sign, patience()
        self.f = mechanism.density.graph, mechanism.density.log
        self.masses = {float(y): (m.graph, m.log) for y, m in mechanism.masses.items()}
        with ctx.workprec(BITS):
            self.atoms = {
                float(x[0]): arb(float(p)).union(arb(float(q)))
                for x, p, q in zip(secret.atoms, secret.weight_low, secret.weight_high, strict=True)
            }
        self.some = {x: w for x, w in self.atoms.items() if not w == 0}
        self.line = float(line.lower), float(line.upper)
        inner = {float(v) for v in (*self.atoms, *mechanism.breaks)}
        inner = {v for v in inner if self.line[0] < v < self.line[1] and math.isfinite(v)}
        if not inner and self.line == (-math.inf, math.inf):
            inner = {0.0}
        self.cover = [*pairwise(sorted({*self.line, *inner})), *((y, y) for y in self.masses)]
        graphs = [self.f[0], *(graph for graph, _ in self.masses.values())]
        named = {op.removeprefix("special.") for graph in graphs for op in graph.operations}
        # flint cuts series off, without a word, where ctx.cap says
        known = named <= _KNOWN and ctx.cap > DEGREE
        self.fits = known and secret.dim == 1 and all(w > 0 for w in self.some.values())

    def proved(self, statement: Callable[..., bool | None], *about: Any) -> bool:
        """Return whether a statement is proved, before it takes too long."""
        if not self.fits or settings.late(self.until):
            return False
        with ctx.workprec(BITS), suppress(ValueError, ArithmeticError, KeyError, TimeoutError):
            return bool(statement(*about))
        return False

    def integrand(self, y: TaylorModel, f: dict[float, TaylorModel]) -> TaylorModel:
        """Return what `at_most` bounds the integral of, on a box of outcomes."""
        raise NotImplementedError

    def bound_by_largest(self, mass: arb) -> arb:
        """Bound the integral over outcomes by that of the largest density there."""
        raise NotImplementedError

    # -- densities ----------------------------------------------------------------------------

    def kernel(self, log: bool, x: float, y: TaylorModel) -> TaylorModel:
        """Return f(y|x), or its logarithm."""
        settings.work("balls", 1000)
        if settings.late(self.until):
            raise TimeoutError("the proof takes too long")
        return run(self.f, log, model(x), y)

    def at(self, a: float, b: float) -> Any:
        """Return what integrates over a box of outcomes; at an atom the kernel is its mass."""
        if a != b:
            return self
        out = copy(self)
        out.f = self.masses[a]
        return out

    def law(self, f: dict[float, TaylorModel]) -> TaylorModel:
        """Return the density of the outcome."""
        return sum((v * self.some[x] for x, v in f.items()), model(0))

    # -- bounds from above --------------------------------------------------------------------

    def within(self, low: arb, high: arb) -> bool:
        """Prove that the integral over all outcomes is within [low, high]; none is negative."""
        boxes = [(*self.share(a, b), a, b) for a, b in self.cover]
        while len(boxes) < _BOXES:
            least, most = (sum((box[i] for box in boxes), Z) for i in (0, 1))
            if (low <= 0 or low <= least) and most <= high:
                return True
            gaps = [w - v if a < b else Z for v, w, a, b in boxes]  # an atom has no parts
            worst, rest = max(gaps), sum(gaps, Z)
            # with all of the line known, would it hold?
            lost = most - rest > high or (low > 0 and least + rest < low)
            if (lost and rest < INF) or not (least <= high and low <= most and worst > 0):
                break
            cut = [box for box, gap in zip(boxes, gaps, strict=True) if gap * 8 >= worst]
            boxes = [box for box, gap in zip(boxes, gaps, strict=True) if not gap * 8 >= worst]
            for *_, a, b in cut:
                boxes += [(*self.share(u, v), u, v) for u, v in pairwise((a, _middle(a, b), b))]
        return False

    def share(self, a: float, b: float) -> list[arb]:
        """Enclose the part of a box of outcomes."""
        mass, found, work = INF, [Z, INF], self.at(a, b)
        with suppress(ValueError, ZeroDivisionError):
            if math.isfinite(b - a):
                y = _outcomes(a, b)
                f = {x: work.kernel(False, x, y) for x in self.some}
                mass = max(v.high for v in f.values()).max(Z) * _size(a, b)
                low, high = work.integrand(y, f).integral(a, b)
                if low.is_finite() and high.is_finite():
                    found = [low.max(Z), high]
        if a < b and not mass < INF:  # it is without an end, or a density is without bound there
            mass = min((self.beyond(y) for y in from_ends(a, b)), default=INF)
        return [found[0], found[1].min(self.bound_by_largest(mass))]

    def bound_by_prices(self, mass: arb) -> arb:
        """Bound the integral of the largest (1 - v theta) q + v g_x by that of the largest f."""
        factors = [
            (1 - v * self.theta).max(Z) + v.max(Z) * (self.sign > 0)
            for x, v in self.prices.items()
            if x in self.some
        ]
        most = mass * reduce(arb.max, factors)
        return most.upper() if most.is_finite() else INF

    # -- far out ------------------------------------------------------------------------------

    def beyond(self, y: PowerSum) -> arb:
        """Bound the integral of the largest density along y = p / t, or p + q t, t in (0, 1]."""
        power, p = next((e, v) for (e, _), v in y.terms.items() if e != 0)
        best = INF
        if all(run_along(self.f, False, power_sum(x), y).bounds()[1] <= 0 for x in self.atoms):
            return Z
        for largest in (self._of_one, self._by_orders):
            with suppress(ValueError, ZeroDivisionError):
                # |dy| = |p| t^-2 dt, or |q| dt
                share = largest(y).exp() * PowerSum({(power - 1, 0): abs(p)})
                if all(e + 1 > 0 for e, _ in share.terms):
                    total = sum((v * moment(e + 1, j) for (e, j), v in share.terms.items()), Z)
                    best = best.min(total.upper().max(Z) if total.is_finite() else INF)
        return best

    def _of_one(self, y: PowerSum) -> PowerSum:
        """Return log f at one secret, which is proved to be the largest, but for a little."""
        at = model(2 * next(iter(y.terms.values())))
        height = {x: float(run(self.f, True, model(x), at).start.mid()) for x in self.atoms}
        top = log_of(self.f, power_sum(max(height, key=height.__getitem__)), y)
        for x in self.atoms:
            gap = difference(top, log_of(self.f, power_sum(x), y))
            if not (gap + LITTLE).bounds()[0] >= 0:
                raise ValueError("not proved to be the largest")
        return top + LITTLE

    def _by_orders(self, y: PowerSum) -> PowerSum:
        """Return the logarithm of a bound C t^a of f at all secrets."""
        folds = [log_of(self.f, power_sum(x), y).exp().fold() for x in self.atoms]
        most, power = reduce(arb.max, (high for *_, high in folds)), min(a for a, *_ in folds)
        return PowerSum({(Q0, 0): most.log(), (Q0, 1): arb(power)})

    # -- shares of the outcomes ---------------------------------------------------------------

    def worth(self, cells: list, least: arb) -> bool:
        """Prove that shares of cells of outcomes are worth the leakage, with a mass of ``least``.

        A cell has its ends, and a share for each secret.
        """
        shares = [(a, b, [arb(v) for v in w]) for a, b, w in cells]
        places = [*self.atoms]
        if not (self._cells_of_outcomes(cells) and all(sum(w, Z) <= 1 for *_, w in shares)):
            return False
        used = [k for k in range(len(places)) if any(w[k] > 0 for *_, w in shares)]
        if not all(places[k] in self.some for k in used):
            return False
        boxes: list[Any] = [
            (a, b, w, *self.gains(used, a, b, w)) for a, b, w in shares if any(v > 0 for v in w)
        ]
        while len(boxes) < _BOXES + len(cells):
            sums = [sum((box[3][j] for box in boxes), Z) for j in range(len(used) + 1)]
            if all(v >= 0 for v in sums[:-1]) and sums[-1] >= least:
                return True
            worst = max(box[4] for box in boxes)
            if not worst > _LEAST_GAP:
                break
            cut = [box for box in boxes if box[0] < box[1] and box[4] * 8 >= worst]
            kept = [box for box in boxes if not (box[0] < box[1] and box[4] * 8 >= worst)]
            if not cut:
                break
            boxes = kept + [
                (u, v, w, *self.gains(used, u, v, w))
                for a, b, w, *_ in cut
                for u, v in pairwise((a, _middle(a, b), b))
            ]
        return False

    def _cells_of_outcomes(self, cells: list) -> bool:
        """Return whether cells do not overlap, and shares are not negative."""
        inner = sorted((a, b) for a, b, _ in cells if a < b)
        atoms = [a for a, b, _ in cells if not a < b]
        apart = all(u[1] <= v[0] for u, v in pairwise(inner))
        inside = all(self.line[0] <= a and b <= self.line[1] for a, b in inner)
        once = len({*atoms}) == len(atoms) and all(a in self.masses for a in atoms)
        return apart and inside and once and all(v >= 0 for *_, w in cells for v in w)

    def gains(self, used: list[int], a: float, b: float, w: list[arb]) -> tuple[list[arb], arb]:
        """Bound from below what a box adds, for each secret and to the mass; and say the doubt."""
        work, lows, doubt = self.at(a, b), [], Z
        places = [*self.atoms]
        with suppress(ValueError, ZeroDivisionError):
            if math.isfinite(b - a):
                y = _outcomes(a, b)
                f = {x: work.kernel(False, x, y) for x in self.some}
                law = self.law(f)
                for k in used:
                    own = f.get(places[k], model(0)) * self.sign - law * self.theta
                    low, high = own.integral(a, b)
                    lows.append((low * w[k]).lower())
                    doubt += (high - low) * w[k] / abs(self.theta)
                low, high = law.integral(a, b)
                low, total = low.max(Z), sum(w, Z)
                if all(v.is_finite() for v in (*lows, low, high)):
                    return [*lows, (low * total).lower()], (doubt + (high - low) * total).upper()
        mass = min((self.beyond(y) for y in from_ends(a, b)), default=INF) if a < b else INF
        rate, least = abs(self.theta).max(arb(1)), abs(self.theta).min(arb(1))
        return [*((-mass * rate * w[k]).lower() if w[k] > 0 else Z for k in used), Z], mass / least


def straight_log(v: TaylorModel) -> TaylorModel:
    """Return the logarithm of a model of the outcome; for densities it is nearly straight."""
    slope = v.terms.get(1, Z).mid() / v.start.mid()
    if not (v.low > 0 and slope.is_finite()):
        return FUNCTIONS["log"](v)
    line = type(v)({1: slope}, -abs(slope), abs(slope))
    return FUNCTIONS["log"](v * FUNCTIONS["exp"](line * -1)) + line


def _outcomes(a: float, b: float) -> TaylorModel:
    return model(a) if a == b else of_interval(a, b)


def _size(a: float, b: float) -> arb:
    """Return the length of a box of outcomes; an atom counts once."""
    return arb(1) if a == b else arb(b) - arb(a)


def _middle(a: float, b: float) -> float:
    far = max(1.0, 4 * a) if a > -math.inf else min(-1.0, 4 * b)
    middle = (a + b) / 2 if math.isfinite(b - a) else far
    if not a < middle < b:
        raise ValueError(f"no middle of ({a}, {b})")
    return middle
