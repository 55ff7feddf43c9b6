"""Refinement: a partition is cut until what it tells is narrow, or the work is spent."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings

if TYPE_CHECKING:
    from collections.abc import Callable

    Ends = tuple[Any, Any]


def refine(
    enclose: Callable[[], Ends],
    cut: Callable[[Any, Any], bool],
    *,
    settled: Callable[[Any, Any], bool],
    until: float,
    rounds: int,
    ends: Ends = (0.0, math.inf),
) -> Ends:
    """Return the intersection of the enclosures that a partition gives while it is cut.

    Parameters
    ----------
    enclose : callable
        ``() -> (low, high)``, numbers or arrays: what the partition tells as it is.
    cut : callable
        ``(low, high) -> bool``: cuts the cells that leave most open. False ends the refinement:
        there are none to cut, they would be too many, or something else decides the figure.
    settled : callable
        ``(low, high) -> bool``: whether that is narrow enough, or will not become narrower.
    until : float
        When to stop, by `borel.settings.now`.
    rounds : int
        How many enclosures are looked at, at most.
    ends : tuple
        What is known before.

    Examples
    --------
    The square root of 2, by halving:

    >>> cells = [1.0, 2.0]
    >>> def halve(low, high):
    ...     middle = (low + high) / 2
    ...     cells[middle**2 > 2] = middle
    ...     return low < middle < high
    >>> narrow = lambda low, high: high - low < 1e-3
    >>> low, high = refine(lambda: cells, halve, settled=narrow, until=math.inf, rounds=60)
    >>> low**2 <= 2 <= high**2 and high - low < 1e-3
    True
    """
    low, high = ends
    for _ in range(rounds):
        fresh = enclose()
        low, high = np.fmax(low, fresh[0]), np.fmin(high, fresh[1])
        if not np.ndim(low):
            low, high = float(low), float(high)
        if settled(low, high) or settings.late(until) or not cut(low, high):
            break
    return low, high


__all__ = ["refine"]
