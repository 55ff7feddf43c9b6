"""Certificates of psi_1, psi_2 and the worst events of a finite secret: events and prices.

The event of probability delta at which k_x / f_Y is largest is where that exceeds a number tau; what
a checker needs of it are its ends as intervals of outcomes, and tau, to more digits than the search
(`certified_excess`) has.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from borel.engine.continuous.certificates_of_laws import claimed
from borel.engine.continuous.trials import Excess

if TYPE_CHECKING:
    from fractions import Fraction

    from borel.engine.continuous.certified_excess import Rows
    from borel.engine.divergences.hockey_sticks import Threshold

_TURNS = 60
_TIE = 2.0**-40
_SPARE = 1e-12
_FAR = 1e15


def psi(
    rows: Rows, quantity: str, ends: tuple[float, float], level: Threshold, best: int = 0
) -> dict[str, Any] | None:
    """Return the certificate of psi_1 or psi_2.

    Parameters
    ----------
    rows : Rows
        The kernels.
    quantity : {"psi_1", "psi_2"}
        Which.
    ends : tuple of float
        The enclosure.
    level : Threshold
        The level of the leakage.
    best : int, optional
        The secret whose excess is largest.
    """
    nats = level.ratio is None
    number = level.epsilon if nats else level.ratio
    about = {"nats": nats, "level": [*number.as_integer_ratio()], "x": rows.points[best]}
    return claimed(rows.engine, quantity, ends, Excess, type="excess", **about)


def event(
    rows: Rows, quantity: str, ends: tuple[float, float], delta: Fraction
) -> dict[str, Any] | None:
    """Return the certificate of the largest leakage of an event of probability delta.

    Parameters
    ----------
    rows : Rows
        The kernels.
    quantity : {"event_maximal_leakage", "binary_envelope"}
        Which.
    ends : tuple of float
        The enclosure, with some room.
    delta : Fraction
        The probability.
    """
    events = [Events(rows, x).of(float(delta)) for x in range(len(rows.points))]
    top = math.exp(ends[1])
    if not all(top > tau for _, tau, _ in events):
        return None
    x = int(np.argmax([gain for *_, gain in events]))
    cells = [[a, b, [w * (k == x) for k in range(len(events))]] for a, b, w in events[x][0]]
    prices = [1 / (top - tau) for _, tau, _ in events]
    about = {"delta": [*delta.as_integer_ratio()], "cells": cells, "prices": prices}
    return claimed(rows.engine, quantity, ends, Excess, type="excess", **about)


class Events:
    """The outcomes at which a row is large, beside the density of the outcome.

    Parameters
    ----------
    rows : Rows
        The kernels.
    x : int
        Which row.
    """

    def __init__(self, rows: Rows, x: int):
        self.rows, self.x = rows, x
        grid = rows.grid()
        self.ys = np.unique(np.concatenate([grid, rows.marks]))

    def gap(self, y: Any) -> Any:
        """Return log k_x / f_Y."""
        logs = self.rows.logs(np.atleast_1d(np.asarray(y, float)))
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(logs[self.x] - self.rows.log_law(logs), nan=-_FAR)

    def where(self, level: float) -> list[tuple[float, float]]:
        """Return intervals on which log k_x / f_Y exceeds a level."""
        ys = self.ys
        above = self.gap((ys[1:] + ys[:-1]) / 2) > level
        out: list[tuple[float, float]] = []
        steps = np.flatnonzero(np.diff(np.concatenate([[False], above, [False]])))
        for k, m in steps.reshape(-1, 2):
            a = self._end(k, level, self.rows.line[0])
            b = self._end(m, level, self.rows.line[1])
            if a < b:
                out.append((a, b))
        return out

    def _end(self, k: int, level: float, last: float) -> float:
        """Return where an interval that changes at a point of the grid ends."""
        ys = self.ys
        if k in (0, len(ys) - 1):
            return last
        low, high = (ys[k - 1] + ys[k]) / 2, (ys[k] + ys[k + 1]) / 2
        inner = [v for v in (low, ys[k], high)]
        for a, b in zip(inner[:-1], inner[1:], strict=True):
            u, v = (float(self.gap(y)[0]) - level for y in (np.nextafter(a, b), np.nextafter(b, a)))
            if u * v < 0:
                return float(brentq(lambda y: float(self.gap(y)[0]) - level, a, b, xtol=1e-14))
        return float(ys[k])

    def mass(self, cells: list[tuple[float, float]], *, own: bool = False) -> float:
        """Return the integral of f_Y (of k_x, if ``own``) over intervals, in float64."""

        def density(y: float) -> float:
            logs = self.rows.logs(np.array([y]))
            return float(np.exp(logs[self.x] if own else self.rows.log_law(logs))[0])

        total = 0.0
        for a, b in cells:
            cuts = [a, *(m for m in self.rows.marks if a < m < b), b]
            for u, v in zip(cuts[:-1], cuts[1:], strict=True):
                total += quad(density, u, v, epsabs=1e-15, epsrel=1e-13, limit=200)[0]
        return total

    def of(self, delta: float) -> tuple[list[list[float]], float, float]:
        """Return the event of a probability: cells with shares, tau, and what the row gives it."""
        low, high = -_FAR, float(self.gap(self.ys).max()) + 1.0
        ends = float(self.gap(self.ys)[np.isfinite(self.gap(self.ys))].min(initial=0.0))
        low = max(min(ends, 0.0) - 1.0, -700.0)
        for _ in range(_TURNS):
            middle = (low + high) / 2
            if high - low < _TIE:
                break
            low, high = (middle, high) if self.mass(self.where(middle)) > delta else (low, middle)
        inner, outer = self.where(high + _TIE), self.where(low - _TIE)
        least, most = self.mass(inner), self.mass(outer)
        share = min(1.0, max(0.0, (delta - least) / (most - least))) if most > least else 0.0
        cells = [[a, b, 1.0] for a, b in inner]
        cells += [[a, b, share] for a, b in _without(outer, inner)]
        gain = share * self.mass(outer, own=True) + (1 - share) * self.mass(inner, own=True)
        return [cell for cell in cells if cell[2] > 0], math.exp((low + high) / 2), gain


def _without(
    outer: list[tuple[float, float]], inner: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Return the parts of intervals that are not in others, which lie in them."""
    out = []
    for a, b in outer:
        cuts = [a, *(end for pair in inner if a <= pair[0] < pair[1] <= b for end in pair), b]
        out += [(u, v) for u, v in zip(cuts[::2], cuts[1::2], strict=True) if u < v]
    return out
