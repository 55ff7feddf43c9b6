"""Outcomes for which the secrets where a kernel has kinks or jumps keep their order.

The conditions of f(y|x) and of the prior turn on lines x = a + b y (`branch_lines`). Between two of
them the secrets are taken as x = p(y) + r (q(y) - p(y)), 0 < r < 1: there the kinks stand still at
the ends, whatever y is. At an end of the secrets that is far, or beside which the prior may have no
Taylor series, a piece goes up to a secret short of it, the same for all of a box of outcomes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.errors import NotEnclosed
from borel.numerics.graphs.branch_lines import (
    CONDITIONS,
    BranchLine,
    Coordinates,
    Strip,
    strip,
    strips,
)
from borel.numerics.intervals.rounding import fraction_down, fraction_up
from borel.numerics.jets import arithmetic
from borel.numerics.jets.interpreter import Program

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Surface
    from borel.numerics.graphs.graph import Graph

_TRIES = 16
"""So many boxes of outcomes that a line crosses are looked at in vain, one after another."""


class Group(NamedTuple):
    """Boxes of outcomes in one strip.

    Attributes
    ----------
    strip : Strip
        The strip.
    lanes : ndarray of int
        Which boxes.
    """

    strip: Strip
    lanes: np.ndarray


def strips_of(surface: Surface) -> OutcomeStrips | None:
    """Return the strips of a kernel; None without conditions, or a density on a line."""
    secret = surface.secret
    if not (secret.continuous and secret.dim == 1 and surface.needs_y):
        return None
    if CONDITIONS.isdisjoint(surface.graph.operations):
        return None
    return surface.memo.fact("strips", lambda: OutcomeStrips(surface))


class OutcomeStrips:
    """The strips of a kernel, as they are asked for.

    Parameters
    ----------
    surface : Surface
        The kernel, with a condition, and a prior with a density on a line.
    """

    def __init__(self, surface: Surface):
        secret = surface.secret
        self.surface = surface
        self.lower, self.upper = float(secret.lower[0]), float(secret.upper[0])
        singular = () if secret.moments is None else secret.moments.ends
        self.open = tuple(math.isinf(v) or v in singular for v in (self.lower, self.upper))
        self._graphs = surface.plain[1].graph, surface.graph
        self._known: list[tuple[Strip, tuple[float, float, Strip] | None]] = []
        self._pieces: dict[tuple, list[Surface]] = {}
        self._along: dict[tuple, Any] = {}

    @cached_property
    def _all(self) -> list[tuple[float, float, Strip]]:
        """The strips from the least outcome on: all, if they are few."""
        found = strips(self._graphs, self.lower, self.upper, self.surface.secret.breaks)
        return [_rounded(one) for one in found]

    def marks(self, low: float, high: float) -> list[float]:
        """Return the outcomes between two at which strips end, as floats on both sides of each."""
        ends = {end for one in self._all for end in one[:2] if low < end < high}
        return sorted(end for end in ends if math.isfinite(end))

    def dead(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return which boxes of outcomes, perhaps unbounded ones, are seen to have density 0."""
        out = np.zeros(len(low), bool)
        if len(self.surface.secret.atoms) or self.surface.secret.rest:
            return out
        for a, b, found in self._all:
            here = (a <= low) & (high <= b)
            if here.any() and all(_is_0(piece.graphs[1]) for piece in found.pieces):
                out |= here
        return out

    def groups(self, low: np.ndarray, high: np.ndarray) -> list[Group]:
        """Return the boxes of outcomes that lie in strips, by the strip."""
        todo, out, tries = np.ones(len(low), bool), [], 0
        while todo.any() and tries < _TRIES:
            k = int(np.argmax(todo))
            known = self._at((Fraction(float(low[k])) + Fraction(float(high[k]))) / 2)
            if known is not None:
                self._take(out, todo, low, high, known)
            tries += bool(todo[k])
            todo[k] = False
        return out

    def _at(self, y: Fraction) -> tuple[float, float, Strip] | None:
        """Return the strip of an outcome, if it can be written: one that is known, or a new one."""
        for one, known in self._known:
            if one.low < y < one.high:
                return known
        found = strip(self._graphs, self.lower, self.upper, self.surface.secret.breaks, y)
        if found is None:
            return None
        known = _rounded(found) if found.pieces and self._written(found) else None
        self._known.append((found, known))
        return known

    def _written(self, of: Strip) -> bool:
        """Return whether the functions of a strip can be written in floats."""
        try:
            self.pieces(of)
            for line in of.lines:
                self.along(of, line)
        except NotEnclosed:
            return False
        return True

    @staticmethod
    def _take(out: list, todo: np.ndarray, low, high, known: tuple) -> None:
        a, b, found = known
        # at the very end of a strip a condition may be another one: it is no part of a point
        inside = (a <= low) & (high <= b) & ((low < high) | ((a < low) & (high < b)))
        lanes = np.flatnonzero(todo & inside)
        if len(lanes):
            out.append(Group(found, lanes))
            todo[lanes] = False

    def pieces(self, of: Strip) -> list[Surface]:
        """Return the integrand between the lines of a strip, as a function of y and r."""
        key = of.low, of.high
        if key not in self._pieces:
            count = len(of.pieces)
            made = []
            for k, piece in enumerate(of.pieces):
                left: BranchLine | str | None = piece.left
                right: BranchLine | str | None = piece.right
                if k == 0 and self.open[0]:
                    left = "left"
                if k == count - 1 and self.open[1]:
                    right = "right"
                made.append(self.surface.piece(_between(piece.graphs[0], left, right)))
            self._pieces[key] = made
        return self._pieces[key]

    def along(
        self, of: Strip, line: BranchLine
    ) -> tuple[tuple[Program, Program], tuple[BranchLine | None, BranchLine | None]]:
        """Return log f(y|p(y) + offset) below and above a line x = p(y) of a strip.

        With it, how far it is to the next lines, but for the ends of the secrets.
        """
        k = of.lines.index(line)
        key = of.low, of.high, k
        if key not in self._along:
            programs = []
            for piece in of.pieces[k : k + 2]:
                b = Coordinates()
                last = b.substituted(piece.graphs[1], line, b.add("input", "offset"))
                programs.append(Program(b.graph(last, ("y", "offset")), self.surface.varies))
            below = None if k == 0 else line.minus(of.lines[k - 1])
            above = None if k == len(of.lines) - 1 else of.lines[k + 1].minus(line)
            self._along[key] = (programs[0], programs[1]), (below, above)
        return self._along[key]


def _rounded(one: Strip) -> tuple[float, float, Strip]:
    """Return a strip after its ends as floats, rounded inwards."""
    low, high = one.low, one.high
    return (
        fraction_up(low) if isinstance(low, Fraction) else low,
        fraction_down(high) if isinstance(high, Fraction) else high,
        one,
    )


def _is_0(log: Graph) -> bool:
    """Return whether the logarithm of a density is that of 0, whatever its inputs are."""
    if any(op == "input" for op, _ in log.nodes):
        return False
    zero = np.zeros((1, 1))
    top = arithmetic.entry(Program(log).run({"y": (zero, zero)}).jet, 0)[1]
    return bool(np.all(np.isneginf(top)))


def _between(graph: Graph, left: BranchLine | str | None, right: BranchLine | str | None) -> Graph:
    """Return an integrand with x between two ends, lines or numbers, times the Jacobian."""
    b = Coordinates()

    def gap(one: BranchLine | str | None, other: BranchLine | str | None) -> int:
        if isinstance(one, BranchLine) and isinstance(other, BranchLine):
            return b.line(*one.minus(other))
        return b.add("subtract", node(one), node(other))

    def node(end: BranchLine | str | None) -> int:
        return b.line(*end) if isinstance(end, BranchLine) else b.add("input", end)

    still = not isinstance(left, BranchLine) or not left.slope
    backwards = still and isinstance(right, BranchLine) and bool(right.slope)
    start, stop = (right, left) if backwards else (left, right)
    reach = b.add("multiply", gap(stop, start), b.add("input", "r"))
    from_ = start if isinstance(start, BranchLine) else node(start)
    whole = b.substituted(graph, from_, reach)
    last = b.add("multiply", whole, gap(right, left))
    return b.graph(last, ("y", "r", "shift", "left", "right"))
