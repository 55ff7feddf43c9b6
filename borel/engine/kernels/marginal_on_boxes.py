"""f_Y over boxes of outcomes, as polynomials: by a theorem, or by integrals over the secret.

A kernel with a kink on the line x = y is integrated on both sides of it in the coordinate r of
x = y + r (end - y), where the kink stands still: up to the ends of the secrets, or up to a secret
short of an end that is far or beside which the prior may have no Taylor series. The secrets
beyond count as they are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.kernels import marginal_integral
from borel.engine.kernels.quadrature_rules import Outcomes
from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic, elementary
from borel.numerics.jets.interpreter import Program

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Surface
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
        lefts, rights = self._wedges(low, high)
        by_wedge = np.flatnonzero(lefts <= rights)
        if len(by_wedge):
            pair = lefts[by_wedge], rights[by_wedge]
            at = self._outcomes(low, high, shift, by_wedge)
            models = [
                marginal_integral.marginal(self.surface, at, cover=self._beyond(*pair), **about)[0]
            ]
            for end in pair:
                wedges = at._replace(end=end)
                models.append(marginal_integral.marginal(self.surface.wedge, wedges, **about)[0])
            total, loose = models[0].polynomial, models[0].rest
            for more in models[1:]:
                total, loose = batched.add(total, more.polynomial), batched.add(loose, more.rest)
            poly[:, :, by_wedge], rest[:, by_wedge] = np.array(total), np.array(loose)
        # and what the wedges left without a bound
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

    def _wedges(self, low, high) -> tuple[np.ndarray, np.ndarray]:
        """Return secrets on both sides of boxes, between which a kink on x = y is followed.

        NaN where there is no such kink, or no such secrets.
        """
        secret, surface = self.surface.secret, self.surface
        if not surface.kinked:
            none = np.full(len(low), np.nan)
            return none, none
        ends = float(secret.lower[0]), float(secret.upper[0])
        left, right = self._around(low, ends[0], 1.0), self._around(high, ends[1], -1.0)
        inside = (low >= ends[0]) & (high <= ends[1]) & (left <= low) & (high <= right)
        return np.where(inside, left, np.nan), np.where(inside, right, np.nan)

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
        """Return the boxes of secrets that no wedge has, and of which outcomes they are."""
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
