r"""Integrals over cells of a kernel times powers of the secret: f_Y of many draws, on boxes of y.

On a cell the density of a draw is a polynomial in u with coefficients P_j (`density_cells`), so
that :math:`f_Y(y) = \sum P_j \int f(y|x) u^j dx` over all cells, and an error. The integrals do not
depend on the draw. With the polynomial through the values of f at the N nodes of Gauss's rule in
place of f, they are sums of those values, exactly, for j <= N; f differs from it by at most its
N-th Taylor coefficient somewhere in the piece times the product of the distances from the nodes.
A cell in which f has no such coefficient is cut, at kinks; on what is left f is a number with an
error, its range.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import settings
from borel.engine.draws.count_masses import CountMasses
from borel.engine.draws.density_cells import (
    DEGREE,
    DensityCells,
    by_cell,
    middle_and_radius,
    raised,
    without_denormals,
)
from borel.engine.draws.moving_kinks import across
from borel.engine.kernels.essential_supremum import over_rest
from borel.engine.kernels.quadrature_rules import (
    Outcomes,
    _largest_product,
    jets_in_y,
    nodes,
    power,
    rule,
    wide,
)
from borel.engine.problem.secret_and_kernel import Surface, boxes, chosen
from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.intervals.batched import Box

    Most = Callable[[np.ndarray], np.ndarray]

NODES = DEGREE
_LANES = 24_000
_SMALL = 1e-12
"""Errors of the kernel, in units of its supremum, that are small enough."""
_TINY = 1e-18
"""Where the kernel is less, of a cell and at each secret of it, no more is looked at."""
_ROUNDS = 40
_PIECES = 10 * _LANES
"""Cells are not cut into more pieces than that, for so many outcomes as are done at a time."""
_EPS = 2.0**-52


class _Fields(NamedTuple):
    """The fields of `Integrals`.

    Attributes
    ----------
    middle, radius : ndarray (rows, boxes, features)
        The coefficients of their polynomials in y: a feature is a pair of a cell and a power, an
        end, or an atom.
    error : ndarray (boxes, cells + ends)
        What the kernel may be off by, integrated over the cell; at an end by how much anywhere.
    whole : ndarray (boxes, cells)
        The integrals of f over the cells, from above.
    lost : ndarray of bool (boxes,)
        Where nothing is known.
    """

    middle: np.ndarray
    radius: np.ndarray
    error: np.ndarray
    whole: np.ndarray
    lost: np.ndarray


class Integrals(_Fields):
    """Integrals of f(y|x) e^-shift u^j over cells, for boxes of outcomes."""

    @cached_property
    def factors(self) -> list[tuple[np.ndarray, ...]]:
        """What coefficients, magnitudes and errors of densities are multiplied by, row by row.

        Of errors there is one number for each cell, a sum over its powers: it is multiplied by the
        largest number that belongs to one of these.
        """
        out = []
        for middle, radius in zip(self.middle, self.radius, strict=True):
            size = np.abs(middle)
            spread = radius + (middle.shape[1] + 8) * _EPS * size
            largest = by_cell(size + radius, self.whole.shape[1], np.max)
            out.append((middle.T, raised(spread).T, raised(largest).T))
        return out

    @cached_property
    def doubts(self) -> tuple[np.ndarray, np.ndarray]:
        """What bounds of densities, and of what they are off by, are multiplied by."""
        return raised(self.error.T), raised(self.whole.T)


class Sums:
    """Integrals in the making."""

    def __init__(self, ys: Outcomes, cells: DensityCells):
        self.cells, self.ys = cells, ys
        self.rows = [0, 1, 4] if ys.order else [0]
        n, k = len(ys.low), len(cells.low)
        self.middle = np.zeros((n * k, len(self.rows), DEGREE + 1))
        self.radius = np.zeros_like(self.middle)
        self.error, self.whole = np.zeros(n * k), np.zeros(n * k)

    def add(self, key, a, b, values: Box, tops, error, *, first: bool) -> None:
        """Add pieces: values (rows, nodes, lanes) at the nodes, and errors of the kernel there.

        The first ones are whole cells, one for each key.
        """
        cell = key % len(self.cells.low)
        if first:
            whole = self.cells.memo.fact("weights", lambda: _weights_of_cells(self.cells))
            weight, doubt = (v[cell] for v in whole)
        else:
            weight, doubt = _weights(self.cells, cell, a, b)
        heavy = np.abs(weight[:, :, 0]) + doubt[:, :, 0]
        top = (heavy * tops.T).sum(axis=1) * (1 + 16 * _EPS)
        error = error * ((b - a) * (1 + 2 * _EPS))
        value, spread = (np.moveaxis(v, 2, 0) for v in middle_and_radius(values))
        size = np.abs(weight)
        middle = value @ weight
        radius = np.abs(value) @ (doubt + 16 * _EPS * size) + spread @ (size + doubt)
        radius *= 1 + 32 * _EPS
        self.put(key, middle, radius, error, top + error, first=first)

    def put(self, key, middle, radius, error, whole, *, first: bool) -> None:
        """Add integrals over pieces: coefficients (pieces, rows, powers), and errors."""
        if first:
            self.middle[key], self.radius[key] = middle, radius
            self.error[key], self.whole[key] = error, whole
            return
        order = np.argsort(key, kind="stable")
        places, starts = np.unique(key[order], return_index=True)
        count = np.diff([*starts, len(key)]) + 2
        slack = (count * _EPS)[:, None, None]
        size = np.add.reduceat(np.abs(middle[order]), starts) + np.abs(self.middle[places])
        self.middle[places] += np.add.reduceat(middle[order], starts)
        spread = np.add.reduceat(radius[order], starts) + self.radius[places]
        self.radius[places] = (spread + slack * size) * (1 + slack)
        for out, new in ((self.error, error), (self.whole, whole)):
            total = np.add.reduceat(new[order], starts) + out[places]
            out[places] = total * (1 + slack[:, 0, 0])

    def add_tiny(self, key: np.ndarray, total: np.ndarray) -> None:
        """Add whole cells whose integrals are between 0 and some numbers."""
        self.error[key] = self.whole[key] = total

    def finished(self, ends: list[tuple[np.ndarray, np.ndarray]]) -> Integrals:
        """Return the integrals; of the kernel at the ends a number and its error, for each box."""
        n, k, rows = len(self.ys.low), len(self.cells.low), len(self.rows)
        middle, radius = (
            np.moveaxis(v.reshape(n, k, rows, DEGREE + 1), 2, 0).reshape(rows, n, -1)
            for v in (self.middle, self.radius)
        )
        more = np.zeros((rows, n, len(ends)))
        for i, (flat, _) in enumerate(ends):
            more[0, :, i] = flat
        middle = np.concatenate([middle, more], axis=2)
        radius = np.concatenate([radius, np.zeros_like(more)], axis=2)
        error, whole = self.error.reshape(n, k), self.whole.reshape(n, k)
        error = np.concatenate([error, *(spread[:, None] for _, spread in ends)], axis=1)
        known = np.isfinite(radius).all(axis=(0, 2)) & np.isfinite(error).all(axis=1)
        lost = np.logical_not(known & np.isfinite(whole).all(axis=1))
        middle[:, lost], radius[:, lost], error[lost], whole[lost] = 0.0, 0.0, 0.0, 0.0
        without_denormals(middle, radius)
        return Integrals(middle, radius, error, whole, lost)


def _weights(cells: DensityCells, cell, a, b) -> tuple[np.ndarray, np.ndarray]:
    """Return w u^j at the nodes of pieces of cells (lanes, nodes, powers), with their radii."""
    node_low, node_high, weight_low, weight_high, _ = rule(NODES)
    centre, unit = batched.point(cells.centre[cell]), batched.point(cells.half[cell])
    left, right = (batched.divide(batched.subtract(batched.point(v), centre), unit) for v in (a, b))
    half = batched.point(np.array(0.5))
    middle = batched.multiply(batched.add(left, right), half)
    radius = batched.multiply(batched.subtract(right, left), half)
    u = batched.add(middle, batched.multiply(radius, (node_low[:, None], node_high[:, None])))
    length = batched.multiply(batched.subtract(batched.point(b), batched.point(a)), half)
    weight = batched.multiply(length, (weight_low[:, None], weight_high[:, None]))
    found = [weight]
    for _ in range(DEGREE):
        found.append(batched.multiply(found[-1], u))
    pairs = [middle_and_radius(v) for v in found]
    middles, radii = (np.stack([p[i].T for p in pairs], axis=2) for i in (0, 1))
    return middles, radii


def _weights_of_cells(cells: DensityCells) -> tuple[np.ndarray, np.ndarray]:
    return _weights(cells, np.arange(len(cells.low)), cells.low, cells.high)


def largest_product() -> float:
    """Return the largest product of distances from the nodes, in a piece from -1 to 1."""
    return _largest_product(NODES) * (1 + 1e-13)


def integrals(
    surface: Surface, ys: Outcomes, cells: DensityCells | CountMasses, most: Most | None = None
) -> Integrals:
    """Enclose the integrals for boxes of outcomes: polynomials of degree 2; for points, numbers.

    Another function of f(y|x) e^-shift, one that is not negative, comes with what it is at most
    where the logarithm of f(y|x) e^-shift is at most a number.
    """
    if isinstance(cells, CountMasses):
        with np.errstate(all="ignore"):
            return _at_points(surface, ys, cells, most)
    step = max(1, _LANES // len(cells.low))
    parts = []
    with np.errstate(all="ignore"):
        for start in range(0, len(ys.low), step):
            some = slice(start, start + step)
            few = Outcomes(ys.low[some], ys.high[some], ys.centre[some], ys.order, ys.shift[some])
            parts.append(_some(surface, few, cells, most))
    middle, radius = (np.concatenate([p[i] for p in parts], axis=1) for i in (0, 1))
    return Integrals(middle, radius, *(np.concatenate([p[i] for p in parts]) for i in (2, 3, 4)))


def _some(surface: Surface, ys: Outcomes, cells: DensityCells, most: Most | None) -> Integrals:
    n, k = len(ys.low), len(cells.low)
    sums = Sums(ys, cells)
    key = np.arange(n * k)
    a, b = np.tile(cells.low, n), np.tile(cells.high, n)
    if not all(map(math.isfinite, cells.interval)):  # else hardly any is, and looking is work
        tiny, total = _tiny(surface, ys, key // k, a, b)
        sums.add_tiny(key[tiny], total[tiny])
        key, a, b = key[~tiny], a[~tiny], b[~tiny]
    for turn in range(_ROUNDS):
        index = key // k
        at, shift = _outcomes(ys, index), ys.shift[index]
        program = surface.programs(ys.shift)[0]
        x = boxes(a[:, None], b[:, None], 0, NODES)
        found = program.run(surface.inputs(x, at, shift), NODES, start=a)
        count = len(key)
        top = _top(surface, a[:, None], b[:, None], at, shift, most)
        value = _within(wide(arithmetic.entry(found.jet, 0), count), top)
        high = wide(arithmetic.entry(found.jet, NODES), count)
        length = batched.subtract(batched.point(b), batched.point(a))
        scale = power(batched.multiply(length, batched.point(np.array(0.5))), NODES)[1]
        error = np.maximum(np.abs(high[0]), np.abs(high[1])) * scale
        error = error * largest_product()
        error = np.where(np.isnan(error), np.inf, error + 2.0**-1060)
        flat, spread = middle_and_radius(value)
        rough = np.minimum(error, spread)
        cut = _cuts(surface, ys, index, a, b, found.kink)
        again = (rough > _SMALL) & ~(rough * length[1] <= _SMALL * 0.1) & (a < cut) & (cut < b)
        if ys.order:  # a piece in which kinks move about, as narrow as the box, is as good as it is
            again &= ~((b - a) <= (ys.high - ys.low)[index]) | (error <= spread)
        if turn == _ROUNDS - 1 or 2 * again.sum() > _PIECES:
            again[:] = False
        known = (error, flat, spread)
        _take(surface, sums, found.decisions, key, a, b, known, ~again, first=turn == 0)
        if not again.any():
            break
        cut = cut[again]
        a, b = np.concatenate([a[again], cut]), np.concatenate([cut, b[again]])
        key = np.concatenate([key[again], key[again]])
    out = sums.finished([_at_end(surface, ys, *pair, most) for pair in cells.ends])
    if not len(cells.points):
        return out
    return with_points(out, *_kernel_at(surface, ys, cells.points))


def _tiny(surface: Surface, ys: Outcomes, index, a, b) -> tuple[np.ndarray, np.ndarray]:
    """Return where next to nothing of the kernel is, and bounds of the integrals."""
    x = boxes(a[:, None], b[:, None], 0, 0)
    found = surface.programs(ys.shift)[0].run(
        surface.inputs(x, _outcomes(ys, index), ys.shift[index]), 0
    )
    high = np.maximum(wide(arithmetic.entry(found.jet, 0), len(a))[1], 0.0)
    total = high * ((b - a) * (1 + 4 * _EPS)) + 2.0**-1060
    return (high <= _TINY) & (total <= _TINY), total


def with_points(of: Integrals, middle: np.ndarray, radius: np.ndarray) -> Integrals:
    """Return integrals with the kernel at atoms as well, (rows, boxes, atoms)."""
    lost = of.lost | ~np.isfinite(radius).all(axis=(0, 2))
    middle[:, lost], radius[:, lost] = 0.0, 0.0
    without_denormals(middle, radius)
    pairs = (of.middle, middle), (of.radius, radius)
    middle, radius = (np.concatenate(pair, axis=2) for pair in pairs)
    return of._replace(middle=middle, radius=radius, lost=lost)


def _kernel_at(surface: Surface, ys: Outcomes, points: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the kernel at secrets as polynomials in y, their middles and radii."""
    x = [batched.point(points[None, None, :])]
    index = np.arange(len(ys.low))
    found = jets_in_y(surface.programs(ys.shift)[0], surface, ys, index, x, None, 2)
    middle, radius = (v[[0, 1, 4] if ys.order else [0]] for v in middle_and_radius(found))
    return middle, radius


def _top(surface: Surface, a, b, at: Box, shift: np.ndarray, most: Most | None) -> Any:
    """Return what a function of the kernel is at most, between secrets."""
    if most is None:
        return math.inf
    at = at[0][:1], at[1][:1]
    found = surface.log.run(surface.inputs(boxes(a, b, 0, 0), at, shift))
    log = wide(arithmetic.entry(found.jet, 0), len(shift))
    return most(batched.subtract(log, batched.point(shift))[1])


def _within(value: Box, most: Any) -> Box:
    """Return the values of a function that is not negative and at most some numbers."""
    high = np.where(np.isnan(value[1]), np.inf, value[1])
    return np.maximum(value[0], 0.0), np.minimum(high, most)


def _at_points(surface: Surface, ys: Outcomes, counts: CountMasses, most: Most | None) -> Integrals:
    """Return the kernel at the points of a head, and what it is at most beyond."""
    n, index = len(ys.low), np.arange(len(ys.low))
    middle, radius = _kernel_at(surface, ys, counts.points)
    ends = _outcomes(Outcomes(ys.low, ys.high, ys.centre, 1, ys.shift), index)
    top = over_rest(surface, (ends[0][0], ends[1][0]), n, 1.0, counts.ends)
    log = batched.subtract(batched.point(top), batched.point(ys.shift))
    scaled = batched.exp(log)[1] if most is None else most(log[1])
    scaled = np.where(np.isnan(scaled), np.inf, scaled)
    error = np.where(np.isneginf(top), 0.0, scaled)[:, None]
    known = np.isfinite(radius).all(axis=(0, 2)) & np.isfinite(error[:, 0])
    lost = np.logical_not(known)
    middle[:, lost], radius[:, lost], error[lost] = 0.0, 0.0, 0.0
    without_denormals(middle, radius)
    return Integrals(middle, radius, error, np.zeros((n, 0)), lost)


def _at_end(
    surface: Surface, ys: Outcomes, a: float, b: float, most: Most | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the kernel between secrets, as a number for each box of outcomes, and its error."""
    n, index = len(ys.low), np.arange(len(ys.low))
    x = boxes(np.full((n, 1), a), np.full((n, 1), b), 0, 1)
    at = _outcomes(ys, index)
    found = surface.programs(ys.shift)[0].run(surface.inputs(x, at, ys.shift), 1)
    top = _top(surface, np.full((n, 1), a), np.full((n, 1), b), at, ys.shift, most)
    return middle_and_radius(_within(wide(arithmetic.entry(found.jet, 0), n), top))


def _outcomes(ys: Outcomes, index: np.ndarray) -> Box:
    at = ys.at(index)
    return at if ys.order else (at[0], at[0])


def _take(
    surface: Surface, sums: Sums, decisions: Any, key, a, b, known, done, *, first: bool
) -> None:
    """Add pieces by the values at their nodes; by their ranges where these are better."""
    if not done.any():
        return
    ys, k = sums.ys, len(sums.cells.low)
    key, a, b = key[done], a[done], b[done]
    error, flat, spread = (v[done] for v in known)
    index = key // k
    at = nodes(a[:, None], b[:, None], 0, rule(NODES), np.arange(NODES))
    program = surface.programs(ys.shift)[0]
    found = jets_in_y(program, surface, ys, index, [at], chosen(decisions, done), 1)
    low, high = (np.broadcast_to(v, (ys.rows, NODES, len(key))) for v in found)
    by_nodes = np.isfinite(low).all(axis=(0, 1)) & np.isfinite(high).all(axis=(0, 1))
    by_nodes &= error <= spread
    low, high = low[sums.rows], high[sums.rows]
    tops = found[1][2 if ys.order else 0]
    value = np.zeros((len(sums.rows), 1, 1))
    value[0] = 1.0
    known_flat = np.where(np.isfinite(flat), flat, 0.0)
    low = np.where(by_nodes, low, value * known_flat)
    high = np.where(by_nodes, high, value * known_flat)
    tops = np.where(by_nodes, np.broadcast_to(tops, low.shape[1:]), known_flat)
    error, tops = np.where(by_nodes, error, spread), np.maximum(tops, 0.0)
    rest = ~_put_across(surface, sums, key, a, b, tops, error, by_nodes, first=first)
    low, high, tops = low[..., rest], high[..., rest], tops[:, rest]
    sums.add(key[rest], a[rest], b[rest], (low, high), tops, error[rest], first=first)


def _put_across(
    surface: Surface, sums: Sums, key, a, b, tops, error, by_nodes, *, first: bool
) -> np.ndarray:
    """Add pieces that are the box of outcomes itself, across which a kink moves; return which."""
    ys, k = sums.ys, len(sums.cells.low)
    index, none = key // k, np.zeros(len(key), bool)
    # where secrets are unbounded budgets end searches, and what this takes cost more than it gave
    bounded = all(map(math.isfinite, sums.cells.interval))
    if not (ys.order and surface.kinked and bounded):
        return none
    own = np.flatnonzero(~by_nodes & (a == ys.low[index]) & (b == ys.high[index]))
    if not len(own):
        return none
    cell, some = key[own] % k, index[own]
    middle, radius, off = across(surface, ys, some, sums.cells, cell, largest_product())
    length = (b - a)[own] * (1 + 2 * _EPS)
    # what is not known then, to be compared with the range of the kernel
    reach = length / 2
    at, slope, bend = radius[:, :, 0].T
    doubt = at + (slope + bend * reach) * reach + off * length
    better = np.isfinite(radius).all(axis=(1, 2)) & (doubt < error[own] * length)
    chosen_, off, length = own[better], off[better] * length[better], length[better]
    whole = (tops[0, chosen_] + error[chosen_]) * length * (1 + 4 * _EPS)
    pieces = middle[better], radius[better]
    sums.put(key[chosen_], *pieces, off * (1 + 2 * _EPS), whole, first=first)
    none[chosen_] = True
    return none


def _cuts(surface: Surface, ys: Outcomes, index, a, b, kink: Any) -> np.ndarray:
    """Return where to cut pieces: at a kink, at the ends of the box of outcomes, or in halves."""
    cut = a / 2 + b / 2
    if kink is not None and ys.order == 0:
        place = np.broadcast_to(kink, a.shape)
        cut = np.where((a < place) & (place < b), place, cut)
    if surface.kinked:
        for end in (ys.high[index], ys.low[index]):
            cut = np.where((a < end) & (end < b), end, cut)
    return cut


def marginals(cells: DensityCells | CountMasses, of: Integrals, draws: Any = slice(None)) -> Box:
    """Enclose f_Y e^-shift of draws: coefficients of polynomials in y (rows, draws, boxes).

    What is not known but by its size is a part of the first coefficient, another one at every y.
    """
    middle, sizes, doubts, bounds, errors, lost = (
        v[draws]
        for v in (cells.middle, cells.sizes, cells.doubts, cells.bounds, cells.errors, cells.lost)
    )
    count, shape = middle.shape[1] + 8, (len(of.middle), len(middle), len(of.lost))
    # a product of matrices is some 60 times as fast as as many operations of a graph
    settings.work("float64", 3 * len(of.middle), middle.size * len(of.lost) / 60)
    low, high = np.empty(shape), np.empty(shape)
    with np.errstate(invalid="ignore", over="ignore"):
        for row, (inner, spread, size) in enumerate(of.factors):
            about = sizes @ spread
            about += doubts @ size
            if row == 0:
                about += bounds @ of.doubts[0] + errors @ of.doubts[1]
            # roundings of single precision: sums of so many numbers >= 0
            off: Any = np.multiply(about, 1 + 1e-3 + count * 2.0**-22, dtype=float)
            off[:, of.lost] = np.inf
            off[lost] = np.inf
            value = np.matmul(middle, inner, out=low[row])
            off += np.abs(value) * (4 * _EPS)
            np.add(value, off, out=high[row])
            value -= off
    return low, high


def densities_at(
    surface: Surface,
    ys: np.ndarray,
    shift: np.ndarray,
    cells: DensityCells | CountMasses,
    most: Most | None = None,
) -> Box:
    """Enclose f_Y e^-shift of every draw at outcomes, shape (draws, outcomes)."""
    low, high = marginals(cells, integrals(surface, Outcomes(ys, ys, ys, 0, shift), cells, most))
    return batched.multiply((low[0], high[0]), batched.exp(batched.negative(cells.log_total)))
