"""f_Y over boxes of outcomes, as polynomials: by a theorem, or by integrals over the secret.

A kernel with kinks or jumps that move with y is integrated between them (`outcome_strips`): up to
the ends of the secrets, or up to a secret short of an end that is far or beside which the prior
may have no Taylor series. The secrets beyond count as they are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.kernels import marginal_integral
from borel.engine.kernels.outcome_strips import strips_of
from borel.engine.kernels.quadrature_rules import Outcomes, power
from borel.numerics.intervals import batched
from borel.numerics.intervals.rounding import TINY
from borel.numerics.jets import arithmetic, elementary
from borel.numerics.jets.interpreter import Program

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Surface
    from borel.numerics.graphs.branch_lines import BranchLine
    from borel.numerics.graphs.graph import Graph
    from borel.numerics.intervals.batched import Box

ORDER = 4
"""Degree of the polynomials in y; even, so that the last term has one sign."""


def geometry(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres of boxes, and at least half of their widths."""
    centre = low + (high - low) / 2
    half = np.maximum(centre - low, high - centre) * (1 + 2.0**-51)
    return centre, half


def full(a: Box, length: int, n: int) -> Box:
    """Return a jet of some length, for so many boxes: what it lacks is 0."""
    out = np.zeros((2, length, n))
    out[0, : len(a[0])], out[1, : len(a[0])] = a
    return out[0], out[1]


def poly_range(inner: Box, outer: Box, half: np.ndarray) -> Box:
    """Enclose a polynomial over |t| <= half: coefficients at the centre, the last over the box."""
    total = arithmetic.entry(inner, 0)
    for k in range(1, ORDER + 1):
        coefficient = arithmetic.entry(inner if k < ORDER else outer, k)
        far = power(batched.point(half), k)[1]
        reach = (np.zeros_like(far) if k % 2 == 0 else -far), far
        total = batched.add(total, batched.multiply(coefficient, reach))
    return batched.meet(batched.settled(total), arithmetic.entry(outer, 0))


def range_of_line(
    line: BranchLine, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return secrets between which a line is, for all outcomes of boxes."""
    level, slope = float(line.level), float(line.slope)
    ends = np.array([level + slope * low, level + slope * high])
    far = np.maximum(np.abs(low), np.abs(high))
    # TINY: numbers so small are not rounded relatively
    room = (abs(level) + abs(slope) * far) * 2.0**-50 + (2 + far) * TINY
    return ends.min(axis=0) - room, ends.max(axis=0) + room


class Marginal:
    """f_Y over boxes of outcomes.

    Parameters
    ----------
    surface : Surface
        The kernel and the prior.
    log_marginal : Graph, optional
        log f_Y, where a theorem gives it.
    """

    def __init__(self, surface: Surface, log_marginal: Graph | None = None):
        self.surface = surface
        self.known = None if log_marginal is None else Program(log_marginal)

    def over(self, low, high, shift, rtol: float, deadline: float) -> tuple[Box, Box, Box]:
        """Return f_Y / e^shift: coefficients at the centre and over the box, and the rest."""
        found = self._over(low, high, shift, rtol, deadline)
        missed = self.surface.secret.miss
        if not missed:
            return found
        off = np.array(1 - missed), np.array(1 + missed)
        inner, outer, rest = (batched.multiply(v, off) for v in found)
        return inner, outer, rest

    def _over(self, low, high, shift, rtol: float, deadline: float) -> tuple[Box, Box, Box]:
        if self.known is not None:
            return self._by_theorem(low, high, shift)
        n = len(low)
        poly, rest = np.full((2, 2 * ORDER + 1, n), np.nan), np.zeros((2, n))
        about: dict[str, Any] = {"rtol": rtol, "deadline": deadline}
        for pieces, lanes, left, right in self._pieces(low, high):
            at = self._outcomes(low, high, shift, lanes)
            cover = self._beyond(left, right)
            model = marginal_integral.marginal(self.surface, at, cover=cover, **about)[0]
            total, loose = model.polynomial, model.rest
            at = at._replace(numbers={"left": left, "right": right})
            for piece in pieces:
                more = marginal_integral.marginal(piece, at, **about)[0]
                total, loose = batched.add(total, more.polynomial), batched.add(loose, more.rest)
            poly[:, :, lanes], rest[:, lanes] = np.array(total), np.array(loose)
        # and what the pieces left without a bound
        lost = ~np.isfinite(poly).all(axis=(0, 1)) | ~np.isfinite(rest).all(axis=0)
        if lost.any():
            at = self._outcomes(low, high, shift, np.flatnonzero(lost))
            model = marginal_integral.marginal(self.surface, at, **about)[0]
            poly[:, :, lost], rest[:, lost] = np.array(model.polynomial), np.array(model.rest)
        inner, outer = poly[:, :ORDER], poly[:, ORDER:]
        return (inner[0], inner[1]), (outer[0], outer[1]), (rest[0], rest[1])

    @staticmethod
    def _outcomes(low, high, shift, chosen: np.ndarray) -> Outcomes:
        """Return some of the boxes, as outcomes at which f_Y is a polynomial."""
        a, b = low[chosen], high[chosen]
        return Outcomes(a, b, geometry(a, b)[0], ORDER, shift[chosen])

    def _pieces(self, low, high) -> list[tuple[list[Surface], np.ndarray, Any, Any]]:
        """Return pieces of the secrets on groups of boxes, with the secrets at which they end.

        Boxes for which there are none, or nothing moves, are left out.
        """
        out: list[tuple[list[Surface], np.ndarray, Any, Any]] = []
        strips = strips_of(self.surface)
        for strip, lanes in strips.groups(low, high) if strips is not None else ():
            assert strips is not None
            lines = strip.lines
            if not any(line.slope for line in lines):
                continue
            a, b = low[lanes], high[lanes]
            first, last = range_of_line(lines[0], a, b)[0], range_of_line(lines[-1], a, b)[1]
            left, right = (
                self._around(first, strips.lower, 1.0),
                self._around(last, strips.upper, -1.0),
            )
            # a line up to an end of the secrets meets it there
            good = (left <= first) | (not strips.open[0])
            good &= (last <= right) | (not strips.open[1])
            good &= (left >= strips.lower) & (right <= strips.upper)
            if good.any():
                out.append((strips.pieces(strip), lanes[good], left[good], right[good]))
        return out

    def _around(self, places, end: float, sign: float) -> np.ndarray:
        """Return the end, or secrets from places towards it: an end may be far, or singular."""
        secret = self.surface.secret
        singular = secret.moments is not None and end in secret.moments.ends
        if math.isfinite(end) and not singular:
            return np.full(len(places), end)
        with np.errstate(all="ignore"):
            if math.isfinite(end):
                gap = np.exp2(np.ceil(np.log2(np.abs(places - end))) - 2)
                return np.where(gap > 0, end + sign * gap, np.nan)
            grid = np.exp2(np.floor(np.log2(np.maximum(np.abs(places), 1.0))))
            return sign * grid * (np.floor(sign * places / grid) - 1)

    def _beyond(
        self, left: np.ndarray, right: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the boxes of secrets that no piece has, and of which outcomes they are."""
        secret, which = self.surface.secret, np.arange(len(left))
        a = np.concatenate([np.full(len(left), secret.lower[0]), right])
        b = np.concatenate([left, np.full(len(left), secret.upper[0])])
        some = a < b
        return a[some, None], b[some, None], np.concatenate([which, which])[some]

    def _by_theorem(self, low, high, shift) -> tuple[Box, Box, Box]:
        assert self.known is not None
        centre, _ = geometry(low, high)
        parts = []
        for a, b, order in ((centre, centre, ORDER - 1), (low, high, ORDER)):
            y = arithmetic.variable(a, b, order)
            found = full(self.known.run({"y": y}, order).jet, order + 1, len(low))
            first = batched.subtract((found[0][:1], found[1][:1]), batched.point(shift[None]))
            parts.append(
                elementary.exponential(
                    arithmetic.joined(first, (found[0][1:], found[1][1:])), order
                )
            )
        nothing = np.zeros(len(low))
        return parts[0], parts[1], (nothing, nothing)
