"""Certificates of psi_1, psi_2 and the worst events of a finite secret: events and prices.

The event of probability delta that is likeliest given x is where k_x / f_Y exceeds a number tau,
and a share of where it is tau. A checker needs the ends of its intervals, and tau, to more digits
than the search (`certified_excess`) has.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import root_scalar

from borel import settings
from borel.engine.certificates.encoding import patience
from borel.engine.certificates.laws import claimed
from borel.engine.certificates.trials import Excess
from borel.engine.kernels.outcome_regions import Cells, Regions, Score

if TYPE_CHECKING:
    from fractions import Fraction

    from borel.engine.continuous.event_figures import Excesses
    from borel.engine.problem.thresholds import Threshold

_TIE = 2.0**-40
_SMALL = 1e-14
_SPARE = 1e-12


Proved = tuple[float, float, dict[str, Any]]
"""The ends that a checker proves, and the certificate."""


def psi(rows: Excesses, quantity: str, level: Threshold, room: float) -> Proved | None:
    """Return psi_1 or psi_2 as a checker proves it; None where it does not.

    Parameters
    ----------
    rows : Excesses
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
    number: Fraction = level.epsilon if level.ratio is None else level.ratio
    about: dict[str, Any] = {
        "nats": level.ratio is None,
        "level": [*number.as_integer_ratio()],
        "x": rows.points[best],
    }
    made = claimed(rows.engine, quantity, ends, Excess, type="excess", **about)
    return None if made is None else (*ends, made)


def event(rows: Excesses, quantity: str, delta: Fraction, room: float) -> Proved | None:
    """Return the largest leakage of an event of probability delta as a checker proves it; or None.

    Parameters
    ----------
    rows : Excesses
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
        if ("halves", room) not in regions.kept:
            regions.kept["halves", room] = halves_of(regions, room)
        pairs = regions.kept["halves", room]
        if not pairs:
            return None
    best = max((*events, *pairs), key=lambda found: found.ratio)
    level = math.log(max(best.ratio, 1.0))
    ends = max(level - room, 0.0), level + room
    gaps = [math.exp(ends[1]) - found.price[0] for found in events]
    if not all(gap > 0 for gap in gaps):
        return None
    first, *other = best.secrets
    about: dict[str, Any] = {"delta": [*delta.as_integer_ratio()]}
    about["cells"] = [[a, b, [w * (k == first) for k in secrets]] for a, b, w in best.cells]
    about["prices"] = [1 / gap for gap in gaps]
    about["pair"] = [rows.points[k] for k in best.secrets] if other else None
    about["pairs"] = [[*(rows.points[k] for k in found.secrets), *found.price] for found in pairs]
    made = claimed(rows.engine, quantity, ends, Excess, type="excess", **about)
    return None if made is None else (*ends, made)


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
