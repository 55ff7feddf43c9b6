r"""Pairs of laws P and Q on the same cells, enclosed; and the figures that compare the two.

Every figure of two finite laws, and every average one of a finite joint (there P is P_XY and Q is
P_X x P_Y), is a sum or a supremum over cells of dP/dQ and Q. Fractions are exact; floats mean every
normalised law within their rounding, as balls at high precision.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from borel.numerics.balls.arithmetic import ball, ends, precision
from borel.numerics.intervals.rounding import fraction_down, fraction_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from borel.probability.generators import Generator

BITS = 256
"""Precision for floats: far beyond their own rounding, near 1 too, where figures cancel."""
_MOST = 16 * BITS


class DiscretisedPair(NamedTuple):
    """P and Q on cells of positive Q, and how much of P lies where Q has nothing.

    Attributes
    ----------
    ratio, weight : list
        dP/dQ and Q on the cells: Fractions, or balls.
    singular : Fraction or arb
        P{dQ = 0}.
    exact : bool
        Whether they are Fractions.
    """

    ratio: list[Any]
    weight: list[Any]
    singular: Any
    exact: bool


def fuzzy(value: float, error: float) -> Any:
    """Return the ball of all numbers within a relative error of a float."""
    from flint import arb

    return ball(value) * arb(1, error)


def fuzzy_list(values: Any, error: Any) -> list[Any]:
    """Return balls around floats, each with its own relative error."""
    return [fuzzy(float(v), float(e)) for v, e in zip(values, error, strict=True)]


def pair(p: list[Any], q: list[Any], *, exact: bool) -> DiscretisedPair:
    """Return two laws, listed on the same labels as Fractions or balls, as cells."""
    live = [(a, b) for a, b in zip(p, q, strict=True) if b != 0]
    zero = Fraction(0) if exact else ball(0)
    alone = sum((a for a, b in zip(p, q, strict=True) if b == 0), zero)
    return DiscretisedPair([a / b for a, b in live], [b for _, b in live], alone, exact)


# -- sums over cells ------------------------------------------------------------------------------


def divergence(cells: DiscretisedPair, f: Generator) -> tuple[float, float]:
    """Enclose the f-divergence: the sum of Q phi(dP/dQ), and the slope of phi times P{dQ = 0}.

    Raises
    ------
    InvalidInput
        A user's f that is needed at 0 and is not known there.
    """
    if cells.singular != 0 and f.slope == math.inf:
        return math.inf, math.inf
    if f.at_zero == math.inf and any(t == 0 for t in cells.ratio):
        return math.inf, math.inf
    total = exact_divergence(cells, f)
    if total is not None:
        return fraction_down(total), fraction_up(total)
    low, high = settle(cells, lambda: _sum(cells, f) + _singular(cells, f))
    return (low, high) if f.graph is not None else (max(low, 0.0), max(high, 0.0))


def exact_divergence(cells: DiscretisedPair, f: Generator) -> Fraction | None:
    """Return the f-divergence as a Fraction, where it is finite and phi rational; else None."""
    if not cells.exact or f.rational is None or (cells.singular and f.slope == math.inf):
        return None
    each = zip(cells.weight, cells.ratio, strict=True)
    total = _add(Fraction(0), (w * f.rational(t) for w, t in each))
    return total + cells.singular * f.slope if cells.singular else total


def settle(cells: DiscretisedPair, formula: Callable[[], Any]) -> tuple[float, float]:
    """Evaluate a formula on balls, with more bits while exact cells do not give neighbours."""
    lower, upper, bits = -math.inf, math.inf, BITS
    while True:
        with precision(bits):
            value = formula()
            low, high = ends(value)
        lower, upper = max(lower, low), min(upper, high)
        tight = upper <= math.nextafter(lower, math.inf)
        if tight or not cells.exact or bits >= _MOST:
            return lower, upper
        bits *= 4


def _add(start: Any, terms: Iterable[Any]) -> Any:
    return sum(terms, start)


def as_ball(value: Any) -> Any:
    """Return a Fraction as a ball, a ball as it is."""
    return ball(value) if isinstance(value, (int, float, Fraction)) else value


def _singular(cells: DiscretisedPair, f: Generator) -> Any:
    return ball(0) if cells.singular == 0 else as_ball(cells.singular) * ball(f.slope)


def _sum(cells: DiscretisedPair, f: Generator) -> Any:
    return _add(
        ball(0),
        (as_ball(w) * value_at(f, t) for w, t in zip(cells.weight, cells.ratio, strict=True)),
    )


def value_at(f: Generator, ratio: Any) -> Any:
    """Enclose phi at an enclosed ratio; at 0 it is the limit."""
    if ratio == 0:
        return f.limit()
    if f.graph is not None:
        return f.phi(as_ball(ratio))
    if ratio == 1:
        return ball(0)
    t = as_ball(ratio)
    return f.over(t.lower(), t.upper())


def renyi(cells: DiscretisedPair, order: Fraction, f: Generator) -> tuple[float, float]:
    r"""Enclose the Renyi divergence of an order other than 0, 1 and infinity, from its sums.

    With :math:`S = \sum p^\alpha q^{1-\alpha}`, directly and as 1 + E_Q phi: the first is the
    better one far from 1, the second near 1.
    """
    if cells.singular != 0 and order > 1:
        return math.inf, math.inf
    if all(t == 0 for t in cells.ratio):
        return math.inf, math.inf  # mutually singular

    def near() -> Any:
        x = _sum(cells, f)
        inner = x if order > 1 else -x - ball(order) * as_ball(cells.singular)
        return inner.log1p() / ball(order - 1)

    def far() -> Any:
        a = ball(order)
        total = _add(
            ball(0),
            (
                as_ball(w) * as_ball(t) ** a
                for w, t in zip(cells.weight, cells.ratio, strict=True)
                if t != 0
            ),
        )
        return total.log() / (a - 1)

    one, two = settle(cells, near), settle(cells, far)
    low = max(one[0], two[0], 0.0)
    return low, max(min(one[1], two[1]), low)


# -- suprema over events --------------------------------------------------------------------------


def multiple(
    p: Iterable[Fraction], q: Iterable[Fraction], delta: Fraction
) -> tuple[Fraction | float, list[int]]:
    r"""Return the least lambda >= 0 with P(E) <= lambda Q(E) + delta for every E, and such an E.

    It is the largest :math:`(P(E) - \delta) / Q(E)`, and the root of the convex, falling
    :math:`F(\lambda) = \sum (p - \lambda q)^+ - \delta`: Newton's steps from the left go through
    level sets of dP/dQ, and end at the root exactly, as there are finitely many. The event, the
    positions of its cells, is the last of them.
    """
    cells = [(a, b, j) for j, (a, b) in enumerate(zip(p, q, strict=True)) if a > 0]
    alone = [j for _, b, j in cells if b == 0]
    free = sum((a for a, b, _ in cells if b == 0), Fraction(0))
    if free > delta:
        return math.inf, alone
    level, charged = Fraction(0), [c for c in cells if c[1] > 0]
    event = charged
    while charged:
        mass = sum((a for a, _, _ in charged), free)
        step = (mass - delta) / sum(b for _, b, _ in charged)
        if step <= level:
            break
        level, event = step, charged
        charged = [c for c in charged if c[0] > level * c[1]]
    return level, alone + [j for _, _, j in event]


def share(
    k: Iterable[Fraction], q: Iterable[Fraction], delta: Fraction
) -> tuple[Fraction, list[tuple[int, Fraction]]]:
    """Return the largest sum of a_j k_j with 0 <= a_j <= 1 and the sum of a_j q_j <= delta.

    The shares a_j > 0 follow, by position: all of the largest k_j / q_j, the last one in part.
    """
    pairs = [(a, b, j) for j, (a, b) in enumerate(zip(k, q, strict=True))]
    shares = [(j, Fraction(1)) for a, b, j in pairs if b == 0 < a]
    total, left = sum((a for a, b, _ in pairs if b == 0), Fraction(0)), delta
    charged = (c for c in pairs if c[1] > 0)
    for a, b, j in sorted(charged, key=lambda c: c[0] / c[1], reverse=True):
        part = min(left / b, Fraction(1))
        if part <= 0:
            break
        shares.append((j, part))
        total, left = total + part * a, left - part * b
    return total, shares


def spread(values: Any, error: Any) -> tuple[list[Fraction], list[Fraction]]:
    """Return exact ends of floats within relative errors (one each)."""
    pairs = [(Fraction(float(v)), Fraction(float(e))) for v, e in zip(values, error, strict=True)]
    return [v * max(1 - e, Fraction(0)) for v, e in pairs], [v * (1 + e) for v, e in pairs]
