r"""The mean of the worst part of a law, from bands: its expected shortfall, enclosed.

Of a number S that depends on the outcome, the mean over its worst part of probability delta is

.. math:: \frac1\delta \max \{ E[W S] : 0 \le W \le 1,\ E W = \delta \}
          = \min_c \{ c + E (S - c)_+ / \delta \}.

Any W proves a lower end and any c an upper one. What is known of S are *bands* of outcomes: how
large S is on each, the probability of the band, and the integral of S over it.

* From below, W is constant on each band: the bands of the largest integral per mass are taken
  first. That needs no ranges, and errs to second order only in how S varies on a band.
* From above, of all laws on [a, b] with a given mass and integral the one at the two ends has the
  largest mean of (S - c)_+, whatever c is, as that is convex in S. Where b is infinite, the
  integral of S - a is all that the band can add.

For the *smallest* part of a number the same is said of its negative.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from borel.numerics.intervals.rounding import TINY, U, fraction_down, fraction_up

if TYPE_CHECKING:
    from fractions import Fraction

Ends = tuple[np.ndarray, np.ndarray]


LEAST = 2.0**-960
"""Of a smaller probability masses in float64 may have lost their digits."""


class BandedLaw(NamedTuple):
    """A number S on bands of outcomes; each field is a lower and an upper end.

    Attributes
    ----------
    values : Ends
        S on the band.
    masses : Ends
        The probability of the band.
    sums : Ends
        The integral of S over the band.
    """

    values: Ends
    masses: Ends
    sums: Ends

    def joined(self, other: BandedLaw) -> BandedLaw:
        """Return the bands of both."""
        pairs = zip(self, other, strict=True)
        return BandedLaw(*((np.r_[a[0], b[0]], np.r_[a[1], b[1]]) for a, b in pairs))


class WorstMean(NamedTuple):
    """A mean over the worst outcomes, and what each band leaves open of it."""

    lower: float
    upper: float
    gaps: np.ndarray


def filled(sums: np.ndarray, masses: np.ndarray, capacity: float) -> np.ndarray:
    """Return the share of each band when those of the largest quotients fill a mass first.

    Parameters
    ----------
    sums, masses : ndarray (..., n)
        Of each band; masses >= 0.
    capacity : float
        The mass that is to be filled.

    Examples
    --------
    >>> filled(np.array([0.3, 0.9, 0.1]), np.array([0.3, 0.3, 0.4]), 0.45)
    array([0.5, 1. , 0. ])
    """
    with np.errstate(all="ignore"):
        order = np.argsort(-(sums / masses), axis=-1, kind="stable")
        mass = np.take_along_axis(masses, order, axis=-1)
        before = np.zeros(mass.shape)  # a mass less its last term may lose all digits
        before[..., 1:] = np.cumsum(mass, axis=-1)[..., :-1]
        part = np.where(mass > 0, (capacity - before) / mass, before < capacity)
    out = np.empty_like(part)
    np.put_along_axis(out, order, np.clip(part, 0.0, 1.0), axis=-1)
    return out


def worst_mean(law: BandedLaw, delta: Fraction, *, largest: bool) -> WorstMean:
    """Enclose the mean of a number over the outcomes of probability delta on which it is worst.

    Parameters
    ----------
    law : BandedLaw
        Of a number >= 1 if the largest is the worst, else of one in [0, 1].
    delta : Fraction
        In (0, 1].
    largest : bool
        Whether the largest numbers are the worst ones.
    """
    if delta < LEAST:
        (low, _), (_, high) = ((end.min(), end.max()) for end in law.values)
        low, high = (1.0, float(high)) if largest else (float(low), 1.0)
        return WorstMean(low, high, np.zeros(len(law.masses[0])))
    some = law.masses[1] > 0
    values, masses, sums = ((low[some], high[some]) for low, high in law)
    if not largest:
        values, sums = ((-high, -low) for low, high in (values, sums))
    slack = 4 * (len(masses[0]) + 8) * U  # of sums of terms of one sign, one after the other
    less, more = fraction_down(delta) * (1 - slack), fraction_up(delta) * (1 + slack)
    first, second = (less, more) if largest else (more, less)  # what W adds is >= 0, or <= 0
    with np.errstate(all="ignore"):
        mass = masses[1 if largest else 0]
        low, level = _from_below(mass, sums[0], first)
        rest = max(first - float(mass.sum()), 0.0)  # of no band; S >= 1, or -S >= -1
        low += rest if largest else -rest
        high, gaps = _from_above(values, masses, sums, second, level)
    low, high = (low, high) if largest else (-high, -low)
    left_open = np.zeros(len(some))
    with np.errstate(over="ignore"):
        left_open[some] = gaps / float(delta)
    low -= 8 * (len(masses[0]) + 1) * TINY  # what underflows in terms of the sum, and in lifts
    low = max(low * (1 - slack) / fraction_up(delta) * (1 - 2 * U), 0.0)
    if high > 0:  # it is 0 only where all numbers are
        high = high * (1 + slack) / fraction_down(delta) * (1 + 2 * U) + TINY
    return WorstMean(low, max(high, 0.0), left_open)


def _from_below(mass: np.ndarray, sums: np.ndarray, capacity: float) -> tuple[float, float]:
    """Return E[W S] of a W that takes a share of each band, and S on the last one of them."""
    share = filled(sums, mass, capacity)
    terms = sums * share
    lost = TINY * np.count_nonzero((sums != 0) & (share > 0))  # what underflows
    total = float(np.where(share > 0, terms, 0.0).sum()) - lost
    level = np.where(share > 0, sums / mass, np.inf).min(initial=np.inf)
    return total, float(level)


def _from_above(
    values: Ends, masses: Ends, sums: Ends, capacity: float, level: float
) -> tuple[float, np.ndarray]:
    """Return the largest E[W S] of laws with atoms at the ends of the bands, and the gaps.

    The gaps are those of the mean of (S - c)_+ at a level c, of which both ends are a minimum: at
    the level of the lower end they sum to no less than the difference of the two.
    """
    (a, b), (least, most) = values, masses
    lift = sums[1] - np.minimum(a * least, a * most)  # the integral of S - a
    lift = np.maximum(lift + 8 * U * (np.abs(sums[1]) + np.abs(a) * most), 0.0)
    lift = np.where(np.isnan(lift), np.inf, lift)  # a and the integral are infinite
    endless = np.isinf(b)
    at_b = np.fmin(lift / (b - a) * (1 + 8 * U), most)
    at_b = np.where(endless, 0.0, np.where(b > a, at_b, most))
    free = np.where(endless, lift, 0.0)
    place = np.concatenate([np.where(endless, 0.0, b), a])
    mass = np.concatenate([at_b, (most - at_b) * (1 + 2 * U)])
    share = np.where(mass > 0, filled(place * mass, mass, capacity), 0.0)
    total = np.where(share > 0, place * mass * share, 0.0).sum() + free.sum()
    above = np.where(mass > 0, mass * np.maximum(place - level, 0.0), 0.0)
    above = free + above[: len(a)] + above[len(a) :]
    below = np.maximum(sums[0] - np.maximum(level * least, level * most), 0.0)
    gaps = np.maximum(above - below, 0.0)
    return float(total), np.where(np.isnan(gaps), np.inf, gaps)


def absorbing_level(law: BandedLaw, delta: Fraction) -> tuple[float, float]:
    r"""Enclose :math:`\sup\{s : E[S;\ S \ge s] \ge \delta s\}` of a number S >= 1."""
    if delta < LEAST:
        return 1.0, math.inf
    slack = 4 * (len(law.masses[0]) + 8) * U
    found = []
    for values, sums, way in zip(law.values, law.sums, (1.0, -1.0), strict=True):
        order = np.argsort(-values, kind="stable")  # for s in a band all of it may count, or not
        with np.errstate(all="ignore"):
            total = np.cumsum(sums[order]) * (1 - way * slack) / float(delta)
        found.append(float(np.fmin(values[order], total).max(initial=1.0)))
    return found[0], found[1]
