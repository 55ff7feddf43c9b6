r"""Proofs of psi_1, psi_2 and the worst events of a finite secret, outcomes on a line.

With q the density of Y, k_x that at a secret, top the largest of these, and theta = e^t:

.. math:: \psi_1(t) = \int (q - \theta q^2 / \text{top})^+ dy, \quad
          \psi_2(t) = \max_x \int (k_x - \theta q)^+ dy,

and an event of probability delta has a maximal leakage of t or more if and only if one secret alone
gives post-processings such an envelope: prices bound it from above, each of its own secret, and
shares of the outcomes, of one secret, from below. Both an event and its complement have it for x
and x' if shares w have :math:`\int w (k_x - \theta q) \ge 0` and :math:`\int (1 - w) (k_{x'} -
\theta q) \ge 0`, and for no shares if :math:`\int \max(\lambda (k_x - \theta q), \mu (k_{x'} -
\theta q)) < 0`. The binary envelope is the leakage of an event, and beyond delta = 1/2 the larger
one of both.

The event of probability delta that is likeliest given x is where k_x / q exceeds a number tau, and
a share of where it is tau. The ends of its intervals, and tau, are searched for in float64.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from flint import arb, fmpq
from scipy.optimize import root_scalar

from borel import settings
from borel.engine.kernels.outcome_integrals import STRICT, OutcomeIntegrals, straight_log
from borel.engine.kernels.outcome_regions import Cells, Regions, Score
from borel.engine.problem.budget import patience
from borel.numerics.balls.power_sums import INF, Z, from_ends
from borel.numerics.balls.taylor_models import FUNCTIONS, TaylorModel, model, of_interval

if TYPE_CHECKING:
    from fractions import Fraction

    from borel.engine.kernels.rows import Rows
    from borel.engine.problem.thresholds import Threshold

_TIE = 2.0**-40
_SMALL = 1e-14
_SPARE = 1e-12

Ends = tuple[float, float]


def psi(rows: Rows, quantity: str, level: Threshold, room: float) -> Ends | None:
    """Return proved ends of psi_1 or psi_2; None where they are not proved.

    Parameters
    ----------
    rows : Rows
        The kernels.
    quantity : {"psi_1", "psi_2"}
        Which.
    level : Threshold
        The level of the leakage.
    room : float
        How far the ends are from what sums of floats tell, which prove nothing.
    """
    regions, theta, best = rows.engine.regions, float(level.factor().mid()), 0
    if quantity == "psi_1":
        total = regions.where(lambda r: r.max(axis=0) - theta)[1]
        found = float(total[-1] - theta * total[-2])
    else:
        secrets = range(len(rows.points))
        totals = [regions.where(lambda r, x=x: r[x] - theta)[1] for x in secrets]
        excess = [float(total[x] - theta * total[-1]) for x, total in enumerate(totals)]
        best = int(np.argmax(excess))
        found = excess[best]
    ends = max(found - room, 0.0), min(max(found, 0.0) + room, 1.0)
    proof = _Psi(rows.engine, quantity)
    return ends if proof.proved(proof.psi, ends, level, rows.points[best]) else None


def event(rows: Rows, quantity: str, delta: Fraction, room: float) -> Ends | None:
    """Return proved ends of the largest leakage of an event of probability delta; or None.

    Parameters
    ----------
    rows : Rows
        The kernels.
    quantity : {"event_maximal_leakage", "binary_envelope", "both_halves"}
        Which; the last one is that of an event and its complement, of any probability, and the
        one before it the larger of both if delta is above 1/2.
    delta : Fraction
        The probability.
    room : float
        How far the ends are from what sums of floats tell, which prove nothing.
    """
    regions, secrets = rows.engine.regions, range(len(rows.points))
    events: list[Event] = []
    if quantity != "both_halves":
        events = [event_of(regions, x, float(delta)) for x in secrets]
    pairs: list[Event] = []
    if quantity == "both_halves" or (quantity == "binary_envelope" and 2 * delta > 1):
        pairs = regions.memo.in_figure(("halves", room), lambda: halves_of(regions, room))
        if not pairs:
            return None
    best = max((*events, *pairs), key=lambda found: found.ratio)
    level = math.log(max(best.ratio, 1.0))
    ends = max(level - room, 0.0), level + room
    gaps = [math.exp(ends[1]) - found.price[0] for found in events]
    if not all(gap > 0 for gap in gaps):
        return None
    proof, points = _Events(rows.engine), rows.points
    prices = {x: 1 / gap for x, gap in zip(points, gaps, strict=False)}
    of_pairs = {
        frozenset(points[k] for k in found.secrets): {
            points[k]: v for k, v in zip(found.secrets, found.price, strict=True)
        }
        for found in pairs
    }
    first, *other = best.secrets
    cells = [(a, b, [w * (k == first) for k in secrets]) for a, b, w in best.cells]
    pair = (points[first], points[other[0]]) if other else None
    about = ends, delta, cells, pair, prices, of_pairs
    return ends if proof.proved(proof.events, *about) else None


class _Psi(OutcomeIntegrals):
    """A proof of psi_1 or psi_2: of an integral between two ends."""

    def __init__(self, engine: Any, quantity: str):
        super().__init__(engine)
        self.quantity = quantity

    def psi(self, ends: Ends, level: Threshold, best: float) -> bool:
        """Prove the ends; from below by one secret."""
        number: Fraction = level.epsilon if level.ratio is None else level.ratio
        self.theta = arb(fmpq(*number.as_integer_ratio()))
        self.theta = self.theta.exp() if level.ratio is None else self.theta
        if not self.theta >= 1:
            return False
        # neither is negative, or above 1
        low, high = ends
        below, above = (arb(low) if low > 0 else -INF), (arb(high) if high < 1 else INF)
        if self.quantity == "psi_1":
            return self.within(below, above)
        if low > 0:
            self.one = best
            if not (best in self.some and self.within(below, INF)):
                return False
        for x in self.some if high < 1 else ():
            self.one = x
            if not self.within(-INF, above):
                return False
        return True

    def bound_by_largest(self, mass: arb) -> arb:
        """Bound what is integrated: it is at most the largest density."""
        return mass.upper()

    def integrand(self, y: TaylorModel, f: dict[float, TaylorModel]) -> TaylorModel:
        """Return what is integrated."""
        law, zero = self.law(f), model(0)
        if self.quantity == "psi_2":
            return FUNCTIONS["maximum"](f[self.one] - law * self.theta, zero)
        logs = [self.kernel(True, x, y) for x, v in f.items() if v.high > 0]
        if not logs:  # no outcomes at all
            return zero
        ratio = FUNCTIONS["exp"](straight_log(law) - reduce(FUNCTIONS["maximum"], logs))
        return law * FUNCTIONS["maximum"](ratio * -self.theta + 1, zero)


class _Events(OutcomeIntegrals):
    """A proof of the largest leakage of an event, or of an event and its complement."""

    pair: tuple[float, float] | None = None
    both, most = False, arb(1)

    def events(
        self,
        ends: Ends,
        delta: Fraction,
        cells: list,
        pair: tuple[float, float] | None,
        prices: dict[float, float],
        of_pairs: dict[frozenset[float], dict[float, float]],
    ) -> bool:
        """Prove the ends: from below by shares of cells, from above by prices.

        Parameters
        ----------
        ends, delta
            The enclosure, and the probability.
        cells : list
            Intervals of outcomes, with a share for each secret.
        pair : tuple of float or None
            The secrets that an event and its complement tell; None for an event alone.
        prices : dict
            For each secret, if events alone count.
        of_pairs : dict
            For each pair of secrets two, if events and their complements count.
        """
        low, high = ends
        mass = arb(fmpq(*delta.as_integer_ratio()))
        if low > 0:  # a leakage is never below 0
            self.theta, self.pair = arb(low).exp(), pair
            # of the complement: what shares do not take away of the second secret is enough
            if not self.worth(cells, mass if pair is None else self.theta - 1):
                return False
        self.theta = arb(high).exp()
        if prices and not all(0 <= v < math.inf for v in prices.values()):
            return False
        for x in self.some if prices else ():
            self.prices = {x: arb(prices[x])}
            if not self.within(-INF, mass - STRICT):
                return False
        self.both = True
        for couple in map(frozenset, combinations(self.some, 2)) if of_pairs else ():
            self.prices = {x: arb(v) for x, v in of_pairs[couple].items()}
            if not all(0 <= v < INF for v in self.prices.values()):
                return False
            self.most = reduce(arb.max, self.prices.values(), Z) * self.theta
            if not self.within(-INF, self.most - STRICT):
                return False
        return True

    def bound_by_largest(self, mass: arb) -> arb:
        """Bound what is integrated by the largest density."""
        return self.bound_by_prices(mass) + (self.most * mass).upper()

    def integrand(self, y: TaylorModel, f: dict[float, TaylorModel]) -> TaylorModel:
        """Return what a price leaves of the law; of a pair, with a multiple that keeps it >= 0."""
        law, zero = self.law(f), model(0)
        terms = [law * (self.most - v * self.theta) + f[x] * v for x, v in self.prices.items()]
        return reduce(FUNCTIONS["maximum"], terms, *(() if self.both else (zero,)))

    def gains(self, used: list[int], a: float, b: float, w: list[arb]) -> tuple[list[arb], arb]:
        """Bound from below what a box adds; and say the doubt.

        Of a pair of secrets it is what it adds to one, and what it does not take from the other.
        """
        if self.pair is None:
            return super().gains(used, a, b, w)
        share = sum(w, Z)
        with suppress(ValueError, ZeroDivisionError):
            if math.isfinite(b - a):
                y, there = of_interval(a, b), self.at(a, b)
                f = {x: there.kernel(False, x, y) for x in self.some}
                first, second = (f[x] - self.law(f) * self.theta for x in self.pair)
                ends = [[e * share for e in v.integral(a, b)] for v in (first, second * -1)]
                if all(v.is_finite() for pair in ends for v in pair):
                    doubt = sum((high - low for low, high in ends), Z)
                    return [low.lower() for low, _ in ends], doubt.upper()
        mass = min((self.beyond(y) for y in from_ends(a, b)), default=INF) * share
        mass = mass * (self.theta + 1)
        return [(-mass).lower()] * 2, mass.upper()


class Event(NamedTuple):
    """Outcomes that give away much, in float64.

    Attributes
    ----------
    secrets : tuple of int
        The secret that they tell, and the one that the others do.
    ratio : float
        e^leakage.
    cells : list
        Intervals of outcomes, and which share of them.
    price : tuple of float
        tau, or for two secrets the weights of what both gain.
    """

    secrets: tuple[int, ...]
    ratio: float
    cells: list[list[float]]
    price: tuple[float, ...]


def event_of(regions: Regions, x: int, delta: float) -> Event:
    """Return the event of a probability that is likeliest given x."""
    delta *= 1 + _SPARE
    low, high = 0.0, float(regions.ratios[x].max()) + 1.0
    while high - low > _TIE * max(high, _TIE):
        middle = (low + high) / 2
        weighs = regions.where(lambda r, tau=middle: r[x] - tau)[1][-1]
        low, high = (middle, high) if weighs > delta else (low, middle)
    inner, least = regions.where(lambda r: r[x] - high * (1 + _TIE))
    outer, most = regions.where(lambda r: r[x] - low * (1 - _TIE))
    if most[-1] < delta:  # all others give nothing
        outer, most = [regions.rows.line], np.ones(len(most))
    room = most[-1] - least[-1]
    share = min(1.0, max(0.0, (delta - least[-1]) / room)) if room > 0 else 0.0
    gain = least[x] + share * (most[x] - least[x])
    return Event((x,), gain / delta, _shared(inner, outer, share), (low,))


def halves_of(regions: Regions, room: float) -> list[Event]:
    """Return, for each pair of secrets, an event that tells one, as its complement does the other.

    Those that are not the best pair only have prices that tell so. There are none if it takes long.
    """
    found: list[Event] = []
    best, until = 1.0, patience()
    pairs = [*combinations(range(len(regions.rows.points)), 2)]
    distance = {(x, z): float(regions.where(lambda r, x=x, z=z: r[x] - r[z])[1][[x, z]] @ (1, -1))
                for x, z in pairs}  # fmt: skip
    for x, z in sorted(pairs, key=lambda pair: -distance[pair]):  # the ratio is at most 1 + TV
        if settings.late(until):
            return []
        gain, weight = _balanced(regions, x, z, best * (1 + room / 2))
        top = best
        if gain > 0:
            most = 1 + distance[x, z] * (1 + _TIE)
            top = most
            if _balanced(regions, x, z, most)[0] < 0:
                gains = lambda v, x=x, z=z: _balanced(regions, x, z, v)[0]  # noqa: E731
                top = root_scalar(gains, bracket=(best, most), method="brentq", xtol=_SMALL).root
            gain, weight = _balanced(regions, x, z, top)
        cells = _cells_of_halves(regions, x, z, top, weight) if top > best else []
        found.append(Event((x, z), top if top > best else 1.0, cells, (weight, 1 - weight)))
        best = max(best, top)
    return found


def _score(x: int, z: int, level: float, weight: float) -> Score:
    return lambda r: weight * (r[x] - level) - (1 - weight) * (r[z] - level)


def _gains(total: np.ndarray, x: int, z: int, level: float) -> tuple[float, float]:
    """Return what an event has of x beyond a multiple of its probability, and the others of z."""
    law = float(total[-1])
    return float(total[x]) - level * law, (1 - float(total[z])) - level * (1 - law)


def _balanced(regions: Regions, x: int, z: int, level: float) -> tuple[float, float]:
    """Return the least weighted mean of both gains that some event has at least, and the weight."""
    low, high = 0.0, 1.0
    while True:
        weight = (low + high) / 2
        one, other = _gains(regions.where(_score(x, z, level, weight))[1], x, z, level)
        if high - low <= _TIE:
            return weight * one + (1 - weight) * other, weight
        low, high = (weight, high) if one < other else (low, weight)


def _cells_of_halves(
    regions: Regions, x: int, z: int, level: float, weight: float
) -> list[list[float]]:
    """Return the event, with the share of what both may have that makes them gain the same."""
    score = _score(x, z, level, weight)
    inner, least = regions.where(lambda r: score(r) - 16 * _TIE)
    outer, most = regions.where(lambda r: score(r) + 16 * _TIE)
    (a, b), (c, d) = (_gains(total, x, z, level) for total in (least, most))
    share = (b - a) / (c - a + b - d) if c - a != d - b else 0.0
    return _shared(inner, outer, min(1.0, max(0.0, share)))


def _shared(inner: Cells, outer: Cells, share: float) -> list[list[float]]:
    """Return intervals, and with a share the parts of others, in which they lie, beyond them."""
    out = [[a, b, 1.0] for a, b in inner]
    for a, b in outer if share > 0 else ():
        for u, v in [*((u, v) for u, v in inner if u < b and v > a), (b, b)]:
            if a < u:
                out.append([a, u, float(share)])
            a = max(a, v)
    return out
