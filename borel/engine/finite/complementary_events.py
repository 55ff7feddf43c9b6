r"""The largest leakage that a fuzzy event of outcomes and its complement both have.

For a pair of secrets let T be the largest t such that some :math:`a : \mathcal Y \to [0, 1]` has
:math:`K_x(a) \ge t P_Y(a)` and :math:`K_{x'}(1 - a) \ge t P_Y(1 - a)`. By linear duality such an a
exists if and only if, for every :math:`\lambda \in [0, 1]`,

.. math:: \varphi_\lambda(t) = \sum_y \max\{\lambda (K_x(y) - t P_Y(y)),
          (1 - \lambda) (K_{x'}(y) - t P_Y(y))\} \ge 0.

So every lambda gives an upper bound on T, the root of a convex falling function; every a gives a
lower one. lambda = 1/2 gives :math:`1 + TV(K_x, K_{x'})`, which rules out most pairs. A pair with
x = x' has T = 1, as the two inequalities add up to 1 >= t.
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import settings
from borel.numerics.intervals.rounding import U

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.engine.finite.event_curves import Floats

_HALVINGS = 60
_TOLERANCES = (1e-14, 1e-12, 1e-9)
_BATCH = 64
_TIED, _SOLVED = 400, 24  # ties that are settled exactly: by lambda = 1/2, and by any
_PAIRS = 4 * 10**10  # numbers that are looked at to compare all pairs


class Complements(NamedTuple):
    """The largest t of all pairs, enclosed, with the pair of secrets and the event.

    Attributes
    ----------
    lower, upper : Fraction
        The ends; equal where t is rational and Fractions were given.
    pair : tuple of int
        Positions of the two secrets.
    event : list of Fraction
        The share a(y) of every outcome.
    """

    lower: Fraction
    upper: Fraction
    pair: tuple[int, int]
    event: list[Any]


class LawEnds(NamedTuple):
    """Rows, by position, and marginal as Fractions from below and from above."""

    row: Callable[[int], tuple[list[Fraction], list[Fraction]]]
    marginal_low: list[Fraction]
    marginal_high: list[Fraction]
    exact: bool


def largest(values: Floats, ends: LawEnds) -> Complements | None:
    """Enclose the largest t over all pairs of at least two secrets; None if they are too many.

    Parameters
    ----------
    values : Floats
        Kernel and marginal in float64, to find pairs and to rule them out.
    ends : LawEnds
        The same, exactly: what is reported is computed from them.

    Notes
    -----
    Pairs are taken in the order of 1 + TV. One that cannot beat the best so far is dropped by a
    sum in float64 with its rounding; others are solved exactly. Ties up to that rounding, and
    what is left when time is up, only widen the upper end.
    """
    n, m = values.kernel.shape
    if n * n * m > _PAIRS:
        return None
    deadline = settings.deadline()
    bound = _one_plus_distance(values)
    top = int(np.argmax(bound))
    best = _solve(values, ends, *(int(k[0]) for k in _pairs(n, np.array([top]))))
    upper, ties = best.upper, 0
    order = np.flatnonzero(bound > math.nextafter(float(best.lower), 0.0))
    order = order[np.argsort(-bound[order], kind="stable")]
    order = order[order != top]
    bound, (first, second) = bound[order], _pairs(n, order)
    for start in range(0, len(order), _BATCH):
        if Fraction(float(bound[start])) <= best.lower:
            break
        if settings.late(deadline):
            upper = max(upper, Fraction(float(bound[start])))
            break
        i, j = (part[start : start + _BATCH] for part in (first, second))
        left = _not_below(values, i, j, best.lower)
        just_above = best.lower * (1 + Fraction(_nearly(m)))
        over = set(_not_below(values, i[left], j[left], just_above).tolist())
        for place, at in enumerate(left.tolist()):
            pair = int(i[at]), int(j[at])
            if place not in over:
                ties += 1
                if ends.exact and ties <= _TIED and _at_most(ends, *pair, best.lower):
                    continue
                if ties > _SOLVED or not ends.exact:
                    upper = max(upper, just_above)
                    continue
            found = _solve(values, ends, *pair)
            upper = max(upper, found.upper)
            if found.lower > best.lower:
                best = found
    return best._replace(upper=max(upper, best.lower))


def _pairs(n: int, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of pairs, by their places in the upper triangle."""
    ends = np.cumsum(np.arange(n - 1, 0, -1))
    first = np.searchsorted(ends, places, side="right")
    return first, places - (ends[first] - (n - 1 - first)) + first + 1


def _nearly(m: int) -> float:
    """Return a relative distance at which float64 tells sums of m terms apart."""
    return 32 * (m + 32) * U


def _one_plus_distance(values: Floats) -> np.ndarray:
    """Return upper bounds on 1 + TV of all pairs of rows."""
    from scipy.spatial.distance import pdist

    m = values.kernel.shape[1]
    half = pdist(values.kernel, "cityblock") / 2
    return 1 + half * (1 + (m + 8) * U) + (1.01 * values.kernel_error + 8 * U)


def _not_below(values: Floats, i: np.ndarray, j: np.ndarray, t: Fraction) -> np.ndarray:
    """Return the positions of pairs for which T < t is not proved in float64."""
    m = values.kernel.shape[1]
    q, level = values.marginal, float(t)
    # t itself may lie below its float by half an ulp, which only the level knows
    level = float(np.nextafter(level, 0.0))
    error = 1.05 * (1 + level) * ((m + 16) * U + values.kernel_error + values.marginal_error)
    places = np.arange(len(i))
    a, b = values.kernel[i] - level * q, values.kernel[j] - level * q
    low, high = np.zeros(len(i)), np.ones(len(i))
    for _ in range(_HALVINGS):
        if not len(places):
            break
        lam = (low + high) / 2
        one, two = lam[:, None] * a, (1 - lam)[:, None] * b
        taken = one > two
        keep = ~(np.where(taken, one, two).sum(axis=1) < -error)
        # the subgradient in lambda: where it is positive, the least value is on the left
        rising = np.where(taken, a, 0.0).sum(axis=1) > np.where(taken, 0.0, b).sum(axis=1)
        low, high = np.where(rising, low, lam), np.where(rising, lam, high)
        if not keep.all():
            places, low, high, a, b = (v[keep] for v in (places, low, high, a, b))
        if len(low) and (high - low).max() < 1e-13:
            break
    return places


# -- one pair -------------------------------------------------------------------------------------


def _solve(values: Floats, ends: LawEnds, i: int, j: int) -> Complements:
    """Enclose T of one pair: lambda and the event are found in float64, then evaluated."""
    a, b, q = values.kernel[i], values.kernel[j], values.marginal
    low, high = 0.0, 1.0
    t, lam = math.inf, 0.5
    for _ in range(_HALVINGS):
        middle = _grid((low + high) / 2)
        if not low < middle < high:
            break
        root = _root(a, b, q, middle)
        t, lam = min((t, lam), (root, middle))
        gain = a - root * q
        slope = float(gain[middle * gain > (1 - middle) * (b - root * q)].sum())
        if slope == 0:
            break
        low, high = (low, middle) if slope > 0 else (middle, high)
    gap = lam * (a / q - t) - (1 - lam) * (b / q - t)
    if not ends.exact:
        found = _solve_floats(values, (i, j), gap, lam, t)
        if found is not None:
            return found
    lower, event, tied = Fraction(1), [Fraction(1)] * len(q), None
    for tolerance in _TOLERANCES:
        tie = np.abs(gap) <= tolerance * t
        best, share = _balanced(ends, i, j, gap > 0, tie)
        if best > lower:
            lower, tied = best, tie
            event = [share if c else Fraction(int(d > 0)) for c, d in zip(tie, gap, strict=True)]
    weights = {Fraction(1, 2), Fraction(lam)}
    for y in np.flatnonzero(tied)[:2].tolist() if tied is not None else ():
        one, two = (ends.row(k)[0][y] - lower * ends.marginal_high[y] for k in (i, j))
        if one + two != 0 and 0 < two / (one + two) < 1:
            weights.add(two / (one + two))
    upper = min(_exact_root(ends, i, j, w, lower) for w in weights)
    return Complements(lower, upper, (i, j), event)


def _solve_floats(
    values: Floats, pair: tuple[int, int], gap: np.ndarray, lam: float, t: float
) -> Complements | None:
    """Evaluate an event and lambda in float64, sums rounded once; None if lambda proves nothing.

    Terms err by their own rounding only: `math.fsum` is exact up to its last step. Shares and
    lambda are multiples of 2**-53, so that one minus them is exact.
    """
    rows, q = [values.kernel[k] for k in pair], values.marginal
    over = 1 + 1.01 * values.kernel_error + 1.01 * values.marginal_error + 8 * U
    lower, event = 1.0, np.ones(len(q))
    for tolerance in _TOLERANCES:
        tie = np.abs(gap) <= tolerance * t
        shares = np.where(tie, 0.0, (gap > 0).astype(float))
        for share in _equal_shares(rows, q, shares, tie):
            a = np.where(tie, share, shares)
            parts = [
                (math.fsum(k * w), math.fsum(q * w)) for k, w in zip(rows, (a, 1 - a), strict=True)
            ]
            found = min((k / mass if mass > 0 else 0.0) for k, mass in parts) / over
            if found > lower:
                lower, event = float(found), a
    for ulps in (2**power for power in range(4, 14)):
        level = t * (1 + ulps * U)
        error = 1.01 * (1 + level) * (values.kernel_error + values.marginal_error + 8 * U)
        terms = np.maximum(lam * (rows[0] - level * q), (1 - lam) * (rows[1] - level * q))
        if math.fsum(terms) < -error:
            return Complements(
                Fraction(lower), max(Fraction(level), Fraction(lower)), pair, event.tolist()
            )
    return None


def _equal_shares(
    rows: list[np.ndarray], q: np.ndarray, shares: np.ndarray, tie: np.ndarray
) -> list[float]:
    """Return shares of the tied outcomes that make both leakages about equal, and 0 and 1."""
    if not tie.any():
        return [0.0]
    found = [0.0, 1.0]
    for raises in (False, True):  # an event leaks more with its ties if they are above t, or less
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            a = np.where(tie, middle, shares)
            first, second = (
                (k * w).sum() / max((q * w).sum(), 1e-300)
                for k, w in zip(rows, (a, 1 - a), strict=True)
            )
            low, high = (middle, high) if (first > second) != raises else (low, middle)
        found.append(_grid((low + high) / 2))
    return found


def _grid(value: float) -> float:
    """Round down to a multiple of 2**-53 in [0, 1]."""
    return math.floor(value * 2.0**53) / 2.0**53


def _root(a: np.ndarray, b: np.ndarray, q: np.ndarray, lam: float) -> float:
    """Return the root of phi by Newton's steps from the left, in float64."""
    t = 1.0
    for _ in range(100):
        taken = lam * (a - t * q) > (1 - lam) * (b - t * q)
        mass = lam * q[taken].sum() + (1 - lam) * q[~taken].sum()
        step = (lam * a[taken].sum() + (1 - lam) * b[~taken].sum()) / mass
        if not step > t:
            return t
        t = float(step)
    return t


def _exact_root(ends: LawEnds, i: int, j: int, lam: Fraction, start: Fraction) -> Fraction:
    """Return the root of phi, from a point to the left of it: phi(start) >= 0."""
    t = start
    while True:
        top, mass = _value(ends, i, j, lam, t)
        step = top / mass
        if step <= t:
            return t
        t = step


def _value(ends: LawEnds, i: int, j: int, lam: Fraction, t: Fraction) -> tuple[Fraction, Fraction]:
    """Return the kernel's and the marginal's part of phi at t, both from their upper side."""
    top = mass = Fraction(0)
    rows = ends.row(i)[1], ends.row(j)[1], ends.marginal_low
    for a, b, q in zip(*rows, strict=True):
        if lam * (a - t * q) > (1 - lam) * (b - t * q):
            top, mass = top + lam * a, mass + lam * q
        else:
            top, mass = top + (1 - lam) * b, mass + (1 - lam) * q
    return top, mass


def _at_most(ends: LawEnds, i: int, j: int, t: Fraction) -> bool:
    """Say if lambda = 1/2 proves T <= t."""
    top, mass = _value(ends, i, j, Fraction(1, 2), t)
    return top <= t * mass


def _balanced(
    ends: LawEnds, i: int, j: int, inside: np.ndarray, tie: np.ndarray
) -> tuple[Fraction, Fraction]:
    """Share out the tied outcomes so that both leakages are equal; return e^leakage, and the share.

    With theta the share of the first event, equality is a quadratic equation in theta.
    """
    a, b, q = ends.row(i)[0], ends.row(j)[0], ends.marginal_high
    within, outside = (np.flatnonzero(v & ~tie).tolist() for v in (inside, ~inside))
    tied = np.flatnonzero(tie).tolist()
    k1, p1, k2, p2 = _sum(a, within), _sum(q, within), _sum(b, outside), _sum(q, outside)
    c1, c2, c = _sum(a, tied), _sum(b, tied), _sum(q, tied)
    square = c * (c2 - c1)
    linear = c1 * (p2 + c) - k1 * c - (k2 + c2) * c + c2 * p1
    constant = k1 * (p2 + c) - (k2 + c2) * p1
    shares = [Fraction(0), Fraction(1), *_roots(square, linear, constant)]
    best = Fraction(0), Fraction(0)
    for share in shares:
        masses = p1 + share * c, p2 + (1 - share) * c
        if 0 <= share <= 1 and min(masses) > 0:
            ratios = (k1 + share * c1) / masses[0], (k2 + (1 - share) * c2) / masses[1]
            best = max(best, (min(ratios), share))
    return best


def _roots(square: Fraction, linear: Fraction, constant: Fraction) -> list[Fraction]:
    """Return the roots of a quadratic, exact where they are rational, else to 100 bits."""
    if square == 0:
        return [-constant / linear] if linear != 0 else []
    under = linear * linear - 4 * square * constant
    if under < 0:
        return []
    root = _square_root(under)
    return [(-linear + sign * root) / (2 * square) for sign in (-1, 1)]


def _square_root(value: Fraction) -> Fraction:
    number, under = value.numerator * value.denominator, value.denominator
    whole = isqrt(number)
    if whole * whole == number:
        return Fraction(whole, under)
    return Fraction(isqrt(number << 200), under << 100)


def _sum(values: list[Fraction], chosen: list[int]) -> Fraction:
    return sum((values[y] for y in chosen), Fraction(0))
