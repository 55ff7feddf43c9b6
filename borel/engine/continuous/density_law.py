r"""The law of the information density of a finite secret over outcomes on an interval.

For each secret x the line is cut until :math:`i(x; y) - t` is known to be positive, or negative, on
all of a piece; what stays open around the crossings is short. The probability of the tail is that
of the positive pieces, an integral of f(y|x), or of f_Y under the product of the marginals.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb

from borel import settings
from borel.engine.continuous.event_figures import Excesses
from borel.engine.divergences.continuous import cut_off, joined
from borel.engine.divergences.hockey_sticks import integral
from borel.errors import NotEnclosed
from borel.numerics.balls.arithmetic import ball, ends, precision
from borel.numerics.balls.interpreter import Prepared
from borel.numerics.graphs.graph import GraphBuilder

if TYPE_CHECKING:
    from borel.numerics.graphs.graph import Graph

_BITS, _DEPTH, _PIECES = 128, 64, 20_000
_FEW, _REACH, _FAR = 1000, 2.0**-10, 2.0**12
_SHORT = 2.0**-46
_FLAT, _TIE = 10, 2.0**-80


class DensityTail(Excesses):
    """Tails of i(X;Y), where X is finite and Y has a density on an interval."""

    most = 32
    pieces = _PIECES

    def tail(self, under: str, t: Any) -> tuple[float, float]:
        """Enclose P{i > t} and P{i >= t}, for a level as a ball: what is open counts above only."""
        small = settings.current().tol / 8
        over, beyond = cut_off(*self.line, self.marks, self._mass, small)
        low, high = ball(0), ball(0)
        for x, weight in enumerate(self.weights):
            above, open_ = self._pieces(x, t, over)
            # f_Y is the mean of the rows
            rows = (
                [(ball(1), x)] if under == "joint" else [(w, k) for k, w in enumerate(self.weights)]
            )
            for share, row in rows:
                sure, maybe = (self._total(self.graphs[row], p) for p in (above, open_))
                low += weight * share * ball(sure[0])
                high += weight * share * (ball(sure[1]) + ball(maybe[1]))
        room = ball(1 + 4 * self.engine.slack)  # a kernel that is off 1
        low, high = low / room, high * room + ball(beyond) * room
        return max(ends(low)[0], 0.0), min(ends(high)[1], 1.0)

    def quantile(self, under: str, s: Fraction, side: str) -> tuple[float, float]:
        """Enclose inf{t : P{i <= t} >= s}; with side="right", sup{t : P{i <= t} <= s}.

        A level t is an upper end if P{i <= t} >= s (> s) is proved, and a lower one if it is
        proved to be < s (<= s). Levels on both sides of a guess in float64 are tried, then between.
        """
        if len(self.points) == 1:
            return 0.0, 0.0
        self.pieces = _FEW  # i may be one number on a piece: near it a tail takes long
        tol, guess = settings.current().tol, self._guess(under, float(s))
        low, high = -math.inf, self.engine.ceiling("pml")
        for sign in (1.0, -1.0):
            reach = _REACH
            while low < guess + sign * reach < high and reach < _FAR and not self.late():
                t = guess + sign * reach
                side_of = self._side(under, t, s, side)
                low, high = (t if side_of < 0 else low), (t if side_of > 0 else high)
                if side_of == sign:
                    break
                reach *= 8
        while high - low > tol and math.isfinite(low) and not self.late():
            t = low + (high - low) / 2
            side_of = self._side(under, t, s, side)
            low, high = (t if side_of < 0 else low), (t if side_of > 0 else high)
            if not side_of:  # it jumps about here: up to it, from both sides
                return self._up_to(t, low, -1, under, s, side), self._up_to(
                    t, high, 1, under, s, side
                )
        return low, high

    def _up_to(self, t: float, end: float, sign: int, under: str, s: Fraction, side: str) -> float:
        """Move an end of an enclosure towards a level that is not decided."""
        while abs(end - t) > settings.current().tol and not self.late():
            closer = t + (end - t) / 8
            if self._side(under, closer, s, side) != sign:
                break
            end = closer
        return end

    def _side(self, under: str, t: float, s: Fraction, side: str) -> int:
        """Return 1 if the quantile is proved to be at most t, -1 if at least t, 0 if neither."""
        low, high = (1 - Fraction(end) for end in self.tail(under, ball(t))[::-1])
        if low > s or (low == s and side == "left"):
            return 1
        return -1 if high < s or (high == s and side == "right") else 0

    def _guess(self, under: str, s: float) -> float:
        """Return about the quantile of i, in float64."""
        ratio, mass = self.ratios()
        weights = np.array([float(w.mid()) for w in self.weights])
        masses = (weights[:, None] * mass * (ratio if under == "joint" else 1.0)).ravel()
        order = np.argsort(ratio.ravel())
        total = np.cumsum(masses[order])
        k = min(int(np.searchsorted(total, s * total[-1])), len(total) - 1)
        return math.log(max(float(ratio.ravel()[order[k]]), 1e-300))

    @property
    def law(self) -> Graph:
        """The logarithm of f_Y; its inputs are the logarithms of the prior."""
        together = GraphBuilder(*self.graphs)
        return together.graph(self._law(together))

    def _mass(self, a: float, b: float) -> float:
        """Bound the probability of outcomes far out, under every secret."""
        found = (integral([(g, True)], "y", {}, (a, b), [], 0.01)[1] for g in self.graphs)
        return math.nextafter(max(found), math.inf)

    def _total(self, of: Graph, pieces: list[tuple[float, float]]) -> tuple[float, float]:
        """Enclose the probability of disjoint pieces."""
        low, high = ball(0), ball(0)
        for piece in pieces:
            if self.late():
                return ends(low)[0], 1.0
            found = integral([(of, True)], "y", {}, piece, self.marks, 1e-12)
            low, high = low + ball(max(found[0], 0.0)), high + ball(found[1])
        return ends(low)[0], min(ends(high)[1], 1.0)

    def _pieces(self, x: int, t: Any, over: tuple[float, float]) -> tuple[list, list]:
        """Return the pieces on which i(x; y) > t, and those on which that is open."""
        gap = joined([self.graphs[x], self.law], lambda add, a, b: add("subtract", a, b))
        prepared = Prepared(gap, variable="y")
        if prepared.doubtful:  # decisions here would not be those of NumPy
            raise NotEnclosed("a condition on what may be no number")
        f = prepared.at(self.inputs)
        law = Prepared(self.law, variable="y").at(self.inputs)
        margin = 2 * self.engine.slack
        found: list[tuple[float, float, int]] = []
        cuts = [over[0], *(m for m in self.marks if over[0] < m < over[1]), over[1]]
        todo = [(a, b, 0) for a, b in reversed(list(pairwise(cuts)))]
        with precision(_BITS):
            while todo:
                a, b, depth = todo.pop()
                low, high, centre, steady = _range(f, a, b)
                sign = 1 if low > t + margin else -1 if high < t - margin else 0
                if not sign and not (low.is_finite() and high.is_finite()):
                    top = law.run(arb(a), arb(b), slope=False)[0][law.root][1]
                    sign = -1 if top == arb.neg_inf() else 0  # no outcome is there
                middle = _middle(a, b)
                whole = b - a <= _SHORT * max(abs(a), abs(b), 2.0**-20) or depth >= _DEPTH
                if not sign and centre is not None and (steady or depth >= _FLAT):
                    # a level that i has on a whole piece is never decided
                    off = centre[1] < t - margin - _TIE or centre[0] > t + margin + _TIE
                    whole |= not off
                if sign or whole or not a < middle < b or len(found) > self.pieces or self.late():
                    if found and found[-1][1:] == (a, sign):
                        a = found.pop()[0]
                    found.append((a, b, sign))
                else:
                    todo += [(middle, b, depth + 1), (a, middle, depth + 1)]
        return tuple([(a, b) for a, b, s in found if s == sign] for sign in (1, 0))  # type: ignore[return-value]


def _middle(a: float, b: float) -> float:
    if math.isinf(a) and math.isinf(b):
        return 0.0
    if math.isinf(a) or math.isinf(b):
        near = b if math.isinf(a) else a
        step = max(1.0, abs(near))
        return near - step if math.isinf(a) else near + step
    return a + (b - a) / 2


def _range(f: Any, a: float, b: float) -> tuple[Any, Any, Any, bool]:
    """Enclose a function on an interval, also by its slope from the middle.

    With its value at the middle, None where it is known to rise or to fall, and whether it is one
    number.
    """
    v, d = f.run(arb(a), arb(b))
    low, high = v[f.root]
    slope, c = d[f.root], _middle(a, b)
    if slope is None:
        return low, high, (low, high), True
    steepest = abs(slope[0]).max(abs(slope[1]))
    if math.isinf(a) or math.isinf(b) or not steepest.is_finite():
        return low, high, None, False
    centre = f.run(arb(c), arb(c), slope=False, frozen=v)[0][f.root]
    reach = steepest * (arb(b) - arb(c)).max(arb(c) - arb(a))
    first, last = (centre[0] - reach).lower(), (centre[1] + reach).upper()
    low = first if not low >= first else low
    high = last if not high <= last else high
    one_way = slope[0] > 0 or slope[1] < 0
    return low, high, None if one_way else centre, False
