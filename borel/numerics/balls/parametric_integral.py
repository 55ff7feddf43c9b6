r"""Enclose the total g(x) of a kernel, the integral of f(y|x) over y, for all secrets at once.

On a box of secrets the outcomes are cut into pieces y = c(x) +- w(x) s (`moving_pieces`), and g is
the sum of the integrals over s of formulas h(s, x). Let h(s, .) be analytic on the ellipse with
foci at the ends of the box and the sum of its half-axes rho times half of the box, for every s, and
B the sum of the integrals of sup |h| over the ellipse. Then g is analytic there, and |g| <= B.

Take g at the n Chebyshev points of the box, the zeros of T_n. On them T_k is one of T_0, ...,
T_(n-1) up to its sign, or 0. Since \|a_k\| <= 2 B rho^-k for the Chebyshev coefficients of g (by
Cauchy's formula on \|u\| = r < rho, where g((u + 1/u) / 2) is analytic), the polynomial of degree
n - 1 through those points is off by at most the sum over k >= n of 2 \|a_k\|, that is by
4 B rho^(1-n) / (rho - 1). Where \|g - m\| <= tau at the points, for a number m, the coefficients
c_k of that polynomial less m have c_0^2 + (c_1^2 + ...) / 2 <= tau^2 by discrete orthogonality, so
that by Cauchy-Schwarz

.. math:: |g - m| \le \sqrt{2n - 1}\,\tau + 4 B \rho^{1-n} / (\rho - 1) \quad\text{on the box.}

Outcomes far out, or beside an end where the kernel has a pole, are left out of g here. Their mass
is enclosed for real x, where the kernel is not negative, and added.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from flint import acb, arb

from borel import settings
from borel.numerics.balls.arithmetic import precision
from borel.numerics.balls.improper_integral import tail
from borel.numerics.balls.integral import ArbEnclosure, integrate
from borel.numerics.balls.interpreter import Prepared
from borel.numerics.balls.moving_pieces import MovingPieces, OpenChoice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from borel.numerics.balls.moving_pieces import MovingPiece
    from borel.numerics.graphs.graph import Graph

RADII = 8.0, 4.0, 2.5, 1.7
"""Parameters of ellipses that are tried, the widest first."""
_POINTS = 72
"""So many points of a box are taken at most."""
_AIM = 5e-15
"""What the interpolation of g may be off by, and the mass of what is left out."""
_BITS = 96
_COLUMNS = 4
"""An ellipse is covered by so many rectangles; the lower half is a mirror image of the upper."""
_NOTHING = (("const", (0.0,)),)
_BOXES, _CHOICES = 256, 3
_SLIVER = 2.0**-32
"""The part of the secrets on which a choice may be open: its place is no float."""
_LARGE = 1e6
_ROUGH = 4.0
_STEP, _FARTHEST = 64.0, 2.0**-300


class PieceIntegral(NamedTuple):
    """A piece of the outcomes, ready to be integrated.

    Attributes
    ----------
    along_s, along_x : Prepared
        The formula h(s, x), as a function of either.
    low, high : float
        The range of s that is integrated.
    varies : bool
        Whether the formula contains s.
    """

    along_s: Prepared
    along_x: Prepared
    low: float
    high: float
    varies: bool


class Plan(NamedTuple):
    """How g is enclosed on a box of secrets.

    Attributes
    ----------
    low, high : float
        The box.
    parts : list of PieceIntegral
        The pieces of outcomes.
    points : int
        How many Chebyshev points are taken.
    error : float
        What interpolation through them is off by.
    left_out : float
        The mass of the outcomes that are in no piece, at most.
    certain : bool
        Whether no choice is open: else g is that of a kernel that differs from the one meant at
        some of the secrets.
    """

    low: float
    high: float
    parts: list[PieceIntegral]
    points: int
    error: float
    left_out: float
    certain: bool


def plans(
    kernels: Sequence[MovingPieces],
    cuts: Sequence[float],
    until: float,
    radii: Sequence[float] = RADII,
) -> list[Plan] | None:
    """Cut an interval of secrets into boxes with a plan each; None where that does not succeed.

    Parameters
    ----------
    kernels : sequence of MovingPieces
        What g is the sum of.
    cuts : sequence of float
        The ends of the secrets, and places of kinks and jumps between them.
    until : float
        When to give up, by `borel.settings.now`.
    radii : sequence of float
        Parameters rho of the ellipses to try.
    """
    if not all(map(math.isfinite, cuts)):
        return _constant(kernels, cuts[0], cuts[-1], until)
    boxes: list[tuple[float, float, dict[Graph, int]]] = [(a, b, {}) for a, b in pairwise(cuts)]
    least, out = (cuts[-1] - cuts[0]) * _SLIVER, []
    with precision(_BITS):
        while boxes:
            if len(out) + len(boxes) > _BOXES or settings.late(until):
                return None
            low, high, signs = boxes.pop()
            try:
                pieces = [p for kernel in kernels for p in kernel.over(low, high, signs)]
                plan = _plan(pieces, low, high, not signs, radii, until)
                parts = [low, low + (high - low) / 2, high]
            except OpenChoice as doubt:
                if high - low <= 4 * least and len(signs) < _CHOICES:
                    # at each x one of the two is true: both are to have a total of 1
                    boxes += [(low, high, signs | {doubt.graph: sign}) for sign in (-1, 1)]
                    continue
                plan, parts = None, doubt.cut(low, high, least)
            if plan is not None:
                out.append(plan)
            elif high - low > least:
                boxes += [(a, b, signs) for a, b in pairwise(parts)]
            else:
                return None
    return out


def _constant(
    kernels: Sequence[MovingPieces], low: float, high: float, until: float
) -> list[Plan] | None:
    """Return a plan for all secrets without an end, where in s nothing depends on them."""
    with precision(_BITS):
        try:
            pieces = [p for kernel in kernels for p in kernel.over(low, high, {})]
        except OpenChoice:
            return None
        if any("x" in piece.graph.inputs for piece in pieces):
            return None
        plan = _plan(pieces, 0.0, 1.0, True, RADII, until)
    return None if plan is None else [plan]


def _plan(
    pieces: list[MovingPiece],
    low: float,
    high: float,
    certain: bool,
    radii: Sequence[float],
    until: float,
) -> Plan | None:
    """Choose the ellipse that wants the fewest points."""
    best: Plan | None = None
    ready = [(Prepared(p.graph, "s"), Prepared(p.graph, "x"), p) for p in pieces]
    for radius in radii:
        found = _on_ellipse(ready, low, high, radius, until)
        if found is None:
            continue
        size, parts, left_out = found
        factor = 4 * max(size, 1.0) / (radius - 1) * (1 + 1e-12)
        points = 1 + math.ceil(math.log(factor / _AIM) / math.log(radius))
        error = factor * radius ** (1 - points) * (1 + 1e-12)
        if points <= _POINTS and (best is None or points < best.points):
            best = Plan(low, high, parts, points, error, left_out, certain)
    return best


def _on_ellipse(
    ready: list, low: float, high: float, radius: float, until: float
) -> tuple[float, list[PieceIntegral], float] | None:
    """Return the bound B, the parts that are integrated, and the mass that is not."""
    rectangles = _rectangles(low, high, radius)
    secrets = arb(low), arb(high)
    size, left_out, parts = 0.0, 0.0, []
    for along_s, along_x, piece in ready:
        if settings.late(until):
            return None
        if piece.graph.nodes == _NOTHING:
            continue
        largest = _Largest(along_x, rectangles)
        if "s" not in piece.graph.inputs:
            bound = largest(0.0, math.inf if piece.endless else 1.0)
            if not bound <= _LARGE:
                return None
            size += bound
            parts.append(PieceIntegral(along_s, along_x, 0.0, 1.0, False))
            continue
        found = _core(largest, along_s.at({"x": secrets}), piece.endless, _AIM / len(ready))
        if found is None:
            return None
        bound, start, end, beyond = found
        size, left_out = size + bound, left_out + beyond
        parts.append(PieceIntegral(along_s, along_x, start, end, True))
    return size * (1 + 1e-12), parts, left_out * (1 + 1e-12)


def _rectangles(low: float, high: float, radius: float) -> list[Any]:
    """Cover the upper half of an ellipse."""
    centre, half = (arb(low) + arb(high)) / 2, (arb(high) - arb(low)) / 2
    wide, tall = (arb(radius) + 1 / arb(radius)) / 2, (arb(radius) - 1 / arb(radius)) / 2
    out = []
    for k in range(_COLUMNS):
        ends = [arb(2 * j - _COLUMNS) / _COLUMNS for j in (k, k + 1)]
        near = min(abs(ends[0]), abs(ends[1])) if ends[0] * ends[1] > 0 else arb(0)
        height = half * tall * (1 - near * near).sqrt()
        real = centre + half * wide * ends[0].union(ends[1])
        out.append(acb(real, arb(0).union(height)))
    return out


class _Largest:
    """The largest |h(s, x)| on a range of s and an ellipse of x; infinite if not analytic."""

    def __init__(self, along_x: Prepared, rectangles: list[Any]):
        self._along_x, self._rectangles = along_x, rectangles

    def __call__(self, low: float, high: float) -> float:
        """Bound it times the length of the range."""
        f = self._along_x.at({"s": arb(low).union(arb(high))})
        branch, undecided = f.branch([])
        if undecided:
            return math.inf
        largest = 0.0
        for z in self._rectangles:
            value = branch(z, True)
            if branch.error is not None:
                raise branch.error
            if not value.is_finite():
                return math.inf
            largest = max(largest, float(abs(value).upper()) * (1 + 1e-15))
        return largest * (high - low) * (1 + 1e-15)

    def over(self, low: float, high: float, halvings: int = 6) -> float:
        """Bound the integral of the largest |h| over a range of s."""
        value = self(low, high)
        if value <= _ROUGH:
            return value
        if not halvings:
            return value if value <= _LARGE else math.inf
        middle = math.sqrt(low * high) if 0 < 4 * low < high else low + (high - low) / 2
        first = self.over(low, middle, halvings - 1)
        return first + self.over(middle, high, halvings - 1) if first < math.inf else first


def _core(
    largest: _Largest, f: Any, endless: bool, allowed: float
) -> tuple[float, float, float, float] | None:
    """Return a bound of the integral of |h|, between which s, and the mass of all other s."""
    size, start, left_out, edge = 0.0, 0.0, 0.0, 1.0
    while True:  # towards 0
        value = largest(0.0, edge)
        if value <= _ROUGH:
            size += value
            break
        beyond = _mass(f, edge, 0.0)
        if beyond <= allowed / 2:
            start, left_out = edge, beyond
            break
        size += largest.over(edge / _STEP, edge)
        edge /= _STEP
        if not size <= _LARGE or edge < _FARTHEST:
            return None
    edge = 1.0
    while endless:
        beyond = _mass(f, edge, math.inf)
        if beyond <= allowed / 2:
            left_out += beyond
            break
        size += largest.over(edge, 4 * edge)
        edge *= 4
        if not size <= _LARGE or edge > 1 / _FARTHEST:
            return None
    return size, start, edge, left_out


def _mass(f: Any, edge: float, end: float) -> float:
    """Bound the integral of a kernel that is not negative beyond an edge."""
    found = tail(f, edge, end)
    if found is None or not found[1].is_finite():
        return math.inf
    return float(found[1].upper()) * (1 + 1e-15)


def values(plan: Plan, until: float) -> tuple[list[float], list[tuple[float, float]]] | None:
    """Enclose g, but for what is left out, at the Chebyshev points of a box; and return those.

    The enclosures are of g at the exact points, which are floats to rounding. None if time runs
    out.
    """
    n, found = plan.points, []
    with precision(_BITS):
        centre = (arb(plan.low) + arb(plan.high)) / 2
        half = (arb(plan.high) - arb(plan.low)) / 2
        points = [centre + half * (arb(2 * k + 1) / (2 * n)).cos_pi() for k in range(n)]
    for x in points:
        if settings.late(until):
            return None
        ends = [pair for part in plan.parts for pair in _integral(part, x)]
        low, high = (math.fsum(pair[side] for pair in ends) for side in (0, 1))
        found.append((math.nextafter(low, -math.inf), math.nextafter(high, math.inf)))
    return [float(x.mid()) for x in points], found


def miss(
    plan: Plan, check: Callable[[float, tuple[float, float]], None], until: float
) -> float | None:
    """Return what g differs from 1 by on the box of a plan, at most; None if time runs out.

    Parameters
    ----------
    plan : Plan
        What to do.
    check : callable
        Is given the secret, of those looked at, that is furthest from 1, and an enclosure of g
        there.
    until : float
        When to give up, by `borel.settings.now`.
    """
    looked = values(plan, until)
    if looked is None:
        return None
    n, (points, found) = plan.points, looked
    if plan.certain:
        off = [max(1 - high - plan.left_out, low - 1) for low, high in found]
        k = off.index(max(off))
        check(points[k], (found[k][0], found[k][1] + plan.left_out))
    least, most = min(low for low, _ in found), max(high for _, high in found)
    middle = least + (most - least) / 2
    apart = math.sqrt(2 * n - 1) * (most - least) / 2
    off = abs(middle - 1) + apart + plan.error + plan.left_out
    return off * (1 + 1e-12) + 2.0**-52


def _integral(part: PieceIntegral, x: Any) -> list[tuple[float, float]]:
    """Enclose the integral of a part at a secret, as a sum."""
    if not part.varies:
        with precision(_BITS):
            f = part.along_s.at({"x": x})
            low, high = f.run(arb(0), arb(1))[0][f.root]
            return [ArbEnclosure(low.lower(), high.upper()).floats]
    # a kernel is nearly a power of s where that is small or large: a factor 64 at a time
    many = part.low > 0 or part.high > _STEP**2
    inside = [e for k in range(-60, 61) if part.low < (e := _STEP**k) < part.high] if many else []
    return [
        integrate(part.along_s, {"x": x}, a, b, rel_tol=1e-16, bits=_BITS).floats
        for a, b in pairwise([part.low, *inside, part.high])
    ]
