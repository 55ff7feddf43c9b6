"""Certified integrals over the secret: Gauss-Legendre rules with their remainders, adaptively.

On a box of width w, the rule with n nodes errs by ``K w^(2n+1) c`` with
``K = (n!)^4 / ((2n + 1) ((2n)!)^2)`` and c the (2n)-th Taylor coefficient of the integrand
somewhere in the box, which an interval jet encloses; in several dimensions the remainders of the
coordinates add up. Where there is no such coefficient (a kink, a singular end, a half-line) the
integral lies between the extremes of the integrand times the width, or of the kernel times the
prior's mass. For boxes of outcomes the nodes carry jets in y: f_Y is enclosed as a polynomial
in y - c plus an interval that holds for every y of the box.
"""

from __future__ import annotations

import math
import time
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.engine.continuous.essential import _slices, halves
from borel.engine.continuous.surface import Surface, boxes, merged
from borel.engine.intervals import jet, lanes

if TYPE_CHECKING:
    from borel.engine.intervals.lanes import Box

NODES = {1: 6, 2: 8, 3: 8, 4: 6, 5: 5}
"""Nodes per coordinate for a secret of d dimensions."""
_CELLS = 24_000
_LANES = 200_000


class Model(NamedTuple):
    """f_Y on boxes of outcomes, divided by e^shift.

    Attributes
    ----------
    polynomial : Box, arrays (1, n) or (2K + 1, n)
        At points the value. On boxes the Taylor coefficients 0, ..., K - 1 at the centre, then
        those of degree 0, ..., K anywhere in the box.
    rest : Box, arrays (n,)
        What is added to it, for every y of the box.
    """

    polynomial: Box
    rest: Box

    def total(self) -> Box:
        """Return the value where K = 0."""
        low, high = lanes.add((self.polynomial[0][0], self.polynomial[1][0]), self.rest)
        return np.maximum(low, 0.0), high


@cache
def rule(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
    """Return enclosures of the nodes and weights of the rule on [-1, 1], and the constant K."""
    import flint

    from borel.engine.balls.arb import ends, precision

    nodes, weights = [], []
    with precision(128):
        for k in range(n):
            x, w = flint.arb.legendre_p_root(n, k, weight=True)
            nodes.append(ends(x))
            weights.append(ends(w))
    constant = math.factorial(n) ** 4 / ((2 * n + 1) * math.factorial(2 * n) ** 2)
    x, w = np.array(nodes), np.array(weights)
    return x[:, 0], x[:, 1], w[:, 0], w[:, 1], constant * (1 + 1e-15)


class _Cells(NamedTuple):
    """Boxes of secrets with what they contribute."""

    index: np.ndarray
    a: np.ndarray
    b: np.ndarray
    poly_low: np.ndarray  # (lanes, rows of the polynomial)
    poly_high: np.ndarray
    rest_low: np.ndarray
    rest_high: np.ndarray
    width: np.ndarray
    along: np.ndarray
    split: np.ndarray
    kinked: np.ndarray


class Outcomes(NamedTuple):
    """Outcomes at which f_Y is wanted: points, or boxes with centres.

    Attributes
    ----------
    low, high : ndarray (n,)
        Ends; equal for points.
    centre : ndarray (n,)
        Where polynomials are expanded.
    order : int
        Degree of the polynomials; 0 for points.
    shift : ndarray (n,)
        log of a typical size of f(y|.).
    """

    low: np.ndarray
    high: np.ndarray
    centre: np.ndarray
    order: int
    shift: np.ndarray

    @property
    def rows(self) -> int:
        """Number of coefficients: those at the centre, and those over the box."""
        return 2 * self.order + 1


def marginal(
    surface: Surface, ys: Outcomes, *, rtol: float, deadline: float = np.inf, rounds: int = 80
) -> tuple[Model, list[_Cells]]:
    """Enclose f_Y at outcomes, or over boxes of outcomes, divided by e^shift.

    Parameters
    ----------
    surface : Surface
        The kernel and the prior.
    ys : Outcomes
        Where.
    rtol : float
        Relative width at which to stop.
    deadline : float
        When to stop, by `time.monotonic`.

    Returns
    -------
    tuple
        The model, and the boxes that prove it.
    """
    secret, n = surface.secret, len(ys.low)
    state: _Cells | None = None
    if secret.continuous:
        a, b, index = _cover(secret, n)
        state = _first(surface, ys, index, a, b, deadline)
        before = np.full(n, np.inf)
        for turn in range(rounds):
            value = np.bincount(state.index, state.poly_low[:, 0] + state.rest_low, n)
            width = np.bincount(state.index, state.width, n)
            count = np.bincount(state.index, minlength=n)
            target = rtol * np.maximum(value, 0.0)
            unfinished = ~(width <= target)
            if ys.order:  # a box of outcomes may be too wide for any more
                stalled = (width > 0.8 * before) & np.isfinite(width) & (turn > 7)
                unfinished &= ~stalled & (count < 256)
            before = width
            largest = np.zeros(n)
            np.maximum.at(largest, state.index, state.width)
            need = np.maximum(0.5 * target / count, 1e-3 * largest)
            i = state.index
            again = unfinished[i] & (state.width > np.where(np.isinf(largest[i]), 1e300, need[i]))
            again &= (state.b > state.a).all(axis=1) & (state.split > -np.inf)
            if not again.any() or len(i) > _LANES or time.monotonic() > deadline:
                break
            index, a, b = _divided(_Cells(*(v[again] for v in state)))
            if not len(index):
                break
            fresh = _evaluate(surface, ys, index, a, b, deadline)
            if len(fresh.index) < len(index):
                break  # no time for all parts: what is known of the whole boxes stays
            state = _Cells(
                *(np.concatenate([v[~again], w]) for v, w in zip(state, fresh, strict=True))
            )
    return _summed(surface, ys, state, n), [state] if state is not None else []


def _summed(surface: Surface, ys: Outcomes, state: _Cells | None, n: int) -> Model:
    low, high = np.zeros((ys.rows, n)), np.zeros((ys.rows, n))
    rest = np.zeros(n), np.zeros(n)
    if state is not None:
        for k in range(ys.rows):
            part = (state.poly_low[:, k], state.poly_high[:, k])
            low[k], high[k] = lanes.segment_total(part, state.index, n)
        rest = lanes.segment_total((state.rest_low, state.rest_high), state.index, n)
    poly = low, high
    if len(surface.secret.atoms):
        poly = lanes.add(poly, atoms_in_y(surface, ys, n))
    if surface.secret.rest:
        rest = lanes.add(rest, _beyond_atoms(surface, ys, n))
    return Model(poly, rest)


def _beyond_atoms(surface: Surface, ys: Outcomes, n: int) -> Box:
    """Enclose what the secrets beyond the head of a countable prior add to f_Y e^-shift."""
    from borel.engine.continuous.essential import over_rest

    top = over_rest(surface, (ys.low, ys.high), n, 1.0)
    with np.errstate(invalid="ignore"):
        scaled = lanes.exp(lanes.subtract(lanes.point(top), lanes.point(ys.shift)))[1]
        most = scaled * surface.secret.rest_mass * (1 + 2.0**-50) + 2.0**-1060
    # no more is known where the shift is not finite
    most = np.where(np.isneginf(top), 0.0, np.where(np.isnan(most), np.inf, most))
    return np.zeros(n), most


def atoms_in_y(surface: Surface, ys: Outcomes, n: int) -> Box:
    """Sum f(y|x) P{x} over the atoms, as polynomials in y."""
    low, high = np.zeros((ys.rows, n)), np.zeros((ys.rows, n))
    block = max(1, _CELLS // len(surface.secret.atoms))
    for start in range(0, n, block):
        rows = slice(start, min(start + block, n))
        part = lanes.total(_at_atoms(surface, ys, np.arange(n)[rows]), axis=2)
        low[:, rows], high[:, rows] = part
    return low, high


def atom_by_atom(surface: Surface, ys: Outcomes) -> Box:
    """Enclose f(y|x) e^-shift P{x} at each atom, for one outcome."""
    low, high = _at_atoms(surface, ys, np.arange(1))
    count = len(surface.secret.atoms)
    return np.broadcast_to(low[0, 0], count), np.broadcast_to(high[0, 0], count)


def _at_atoms(surface: Surface, ys: Outcomes, index: np.ndarray) -> Box:
    secret = surface.secret
    x = [lanes.point(secret.atoms[None, None, :, j]) for j in range(secret.dim)]
    part = _jets_in_y(surface.programs(ys.shift)[0], surface, ys, index, x, None, 2)
    return lanes.multiply(part, (secret.weight_low[None, None], secret.weight_high[None, None]))


def _jets_in_y(
    program: Any,
    surface: Surface,
    ys: Outcomes,
    index: np.ndarray,
    x: list,
    decided: Any,
    axis: int,
) -> Box:
    """Run a program at points of x with jets in y of every degree up to ``ys.order``.

    The lanes of y stand on axis 1 (atoms) or on the last (nodes). Taylor's formula takes the
    coefficients below the highest at the centre, and the highest over the box; functions of the
    result need the others over the box as well.
    """

    def spread(v: np.ndarray) -> np.ndarray:
        return v[index][:, None] if axis == 2 else v[index][None, :]

    shift = spread(ys.shift)

    def run(low: np.ndarray, high: np.ndarray, order: int, taken: Any = decided) -> Box:
        y = jet.variable(spread(low), spread(high), order)
        found = program.run(surface.inputs(x, y, shift), order, decisions=taken)
        made.append(found.decisions)
        out = found.jet
        # whichever input the result does not depend on, it has the axes of both
        shape = np.broadcast_shapes(*(v.shape[1:] for v, _ in x), shift.shape)
        padded = np.zeros((2, order + 1, *shape))
        padded[0, : len(out[0])], padded[1, : len(out[1])] = out
        return padded[0], padded[1]

    made: list = []
    if ys.order == 0:
        return run(ys.low, ys.high, 0)
    outer = run(ys.low, ys.high, ys.order)
    # the centre is a point: it takes the branches of the box
    inner = run(ys.centre, ys.centre, ys.order - 1, made[0] if decided is None else decided)
    return (
        np.concatenate([inner[0], outer[0]]),
        np.concatenate([inner[1], outer[1]]),
    )


def _cover(secret, n: int):
    from borel.engine.continuous.essential import _initial

    work = _initial(secret, n)
    return work.a, work.b, work.index


def _divided(cells: _Cells):
    from borel.engine.continuous.essential import cut_boxes

    return cut_boxes(cells.index, cells.a, cells.b, cells.along, cells.split, cells.kinked)


def _evaluate(surface: Surface, ys: Outcomes, index, a, b, deadline: float) -> _Cells:
    """Look at boxes, block by block: at the first block, and at others until the deadline."""
    size = max(64, _CELLS // NODES[surface.secret.dim] ** surface.secret.dim)
    parts = []
    for s in _slices(len(index), size):
        parts.append(_cells(surface, ys, index[s], a[s], b[s]))
        if time.monotonic() > deadline:
            break
    return _Cells(*(np.concatenate(c) for c in zip(*parts, strict=True)))


def _first(surface: Surface, ys: Outcomes, index, a, b, deadline: float) -> _Cells:
    """Look at the boxes that cover the secrets; nothing is known of those left out."""
    seen = _evaluate(surface, ys, index, a, b, deadline)
    done = len(seen.index)
    index, a, b = index[done:], a[done:], b[done:]
    zero, none = np.zeros((len(index), ys.rows)), np.zeros(len(index), bool)
    unknown = np.full(len(index), np.inf)
    middle = halves(a, b)[:, 0]
    rest = _Cells(
        index, a, b, zero, zero, zero[:, 0], unknown, unknown, none.astype(int), middle, none
    )
    return _Cells(*(np.concatenate(c) for c in zip(seen, rest, strict=True)))


def _cells(surface: Surface, ys: Outcomes, index, a, b) -> _Cells:
    """Enclose the integral over boxes (a, b) for the outcomes they belong to."""
    with np.errstate(all="ignore"):
        return _cells_quietly(surface, ys, index, a, b)


def _cells_quietly(surface: Surface, ys: Outcomes, index, a, b) -> _Cells:
    if a.shape[1] > 1:
        return _smooth_cells(surface, ys, index, a, b)
    # a box across a kink has no high derivatives: it is cut, and the rule serves both sides. One
    # such lane would slow down every other, since unknown ends need care
    doubtful = ~np.isfinite(b - a)[:, 0]
    if surface.programs(ys.shift)[1].branches:
        doubtful[:] = True
    few = np.flatnonzero(doubtful)
    if not len(few):
        return _smooth_cells(surface, ys, index, a, b)
    y = _at_outcomes(ys, index[few])
    found = surface.programs(ys.shift)[1].run(
        surface.inputs(boxes(a[few], b[few], 0, 2), y, ys.shift[index[few]]), 2, start=a[few, 0]
    )
    bend = _wide(jet.entry(found.jet, 2), len(few))
    known = np.isfinite(bend[0]) & np.isfinite(bend[1]) & np.isfinite(b - a)[few, 0]
    if known.all():
        return _smooth_cells(surface, ys, index, a, b)
    rough, value = ~known, _wide(jet.entry(found.jet, 0), len(few))
    smooth = np.ones(len(index), bool)
    smooth[few[rough]] = False
    cut = few[rough]
    kink = None if found.kink is None else np.broadcast_to(found.kink, len(few))[rough]
    parts = [
        _rough_cells(
            surface, ys, index[cut], a[cut], b[cut], (value[0][rough], value[1][rough]), kink
        )
    ]
    if smooth.any():
        parts.append(_smooth_cells(surface, ys, index[smooth], a[smooth], b[smooth]))
    return _Cells(*(np.concatenate(c) for c in zip(*parts, strict=True)))


def _at_outcomes(ys: Outcomes, index: np.ndarray) -> Box:
    low = ys.low[index][None]
    return low, (low if ys.low is ys.high else ys.high[index][None])


def _rough_cells(surface: Surface, ys: Outcomes, index, a, b, value: Box, kink) -> _Cells:
    """Enclose the integral by the range of the integrand alone, and say where to cut."""
    count = len(index)
    volume = lanes.subtract(lanes.point(b[:, 0]), lanes.point(a[:, 0]))
    low, high = _crude(surface, _at_outcomes(ys, index), ys.shift[index], a, b, value, volume)
    width = high - low
    floor = 4e-15 * np.abs(high)
    if ys.order:
        floor = _not_worth_cutting(ys, index, a, b, np.ones(count, bool), width, floor)
    nothing = np.zeros((count, ys.rows))
    none = np.zeros(count, bool)
    along, split, kinked = _where_to_cut(a, b, [], kink, surface.secret, none)
    width = _settled_width(a, b, width, floor)
    return _Cells(index, a, b, nothing, nothing, low, high, width, along, split, kinked)


def _crude(surface: Surface, y: Box, shift, a, b, value: Box, volume: Box) -> Box:
    """Bound the integral by the range of the integrand: it is not negative."""
    value = np.maximum(value[0], 0.0), value[1]
    crude = lanes.multiply(value, volume)
    crude = (
        np.maximum(np.nan_to_num(crude[0], nan=0.0, posinf=0.0), 0.0),
        np.where(np.isnan(crude[1]), np.inf, crude[1]),
    )
    return _by_mass(surface, y, shift, a, b, crude)


def _not_worth_cutting(ys: Outcomes, index, a, b, crude, width, floor) -> np.ndarray:
    """Raise the floor where a box of secrets is much narrower than the box of outcomes."""
    narrow = crude & ((b - a)[:, 0] < 0.02 * (ys.high - ys.low)[index])
    return np.where(narrow & np.isfinite(width), np.inf, floor)


def _settled_width(a, b, width, floor) -> np.ndarray:
    """Return by how much cutting might help: not below the rounding, nor in the tiniest box."""
    width = np.where(np.isnan(width), np.inf, np.where(width <= floor, 0.0, width))
    tiny = np.isfinite(b - a) & ((b - a) <= 2.0**-48 * np.maximum(np.abs(a), np.abs(b)))
    return np.where(tiny.all(axis=1), 0.0, width)


def _smooth_cells(surface: Surface, ys: Outcomes, index, a, b) -> _Cells:
    """Enclose the integral by the rule and its remainder, and by the range of the integrand."""
    secret = surface.secret
    count, dim = a.shape
    n = NODES[dim]
    x_low, x_high, w_low, w_high, constant = rule(n)
    y = _at_outcomes(ys, index)
    shift = ys.shift[index]
    volume: Box = (np.ones(count), np.ones(count))
    widths = []
    for j in range(dim):
        width = lanes.subtract(lanes.point(b[:, j]), lanes.point(a[:, j]))
        widths.append(width)
        volume = lanes.multiply(volume, width)
    rest: Box = (np.zeros(count), np.zeros(count))
    decisions, kink, spread = [], None, []
    value: Box | None = None
    for j in range(dim):
        start = a[:, j] if dim == 1 else None
        found = surface.programs(ys.shift)[1].run(
            surface.inputs(boxes(a, b, j, 2 * n), y, shift), 2 * n, start=start
        )
        decisions.append(found.decisions)
        kink = found.kink
        head = _wide(jet.entry(found.jet, 0), count)
        value = head if value is None else lanes.meet(value, head)
        high = _wide(jet.entry(found.jet, 2 * n), count)
        power = _power(widths[j], 2 * n)
        term = lanes.multiply(
            lanes.multiply(high, lanes.multiply(power, volume)), lanes.point(np.array(constant))
        )
        rest = lanes.add(rest, term)
        spread.append(np.maximum(np.abs(term[0]), np.abs(term[1])))
    assert value is not None
    decided = merged(decisions)
    poly = _at_nodes(surface, ys, index, a, b, volume, decided, (x_low, x_high, w_low, w_high))
    smooth = np.isfinite(rest[0]) & np.isfinite(rest[1])
    smooth &= np.isfinite(poly[0]).all(axis=0) & np.isfinite(poly[1]).all(axis=0)
    crude = _crude(surface, y, shift, a, b, value, volume)
    gauss_width = rest[1] - rest[0] + (poly[1] - poly[0]).sum(axis=0) * (ys.order == 0)
    if ys.order == 0:
        total = lanes.add((poly[0][0], poly[1][0]), rest)
        total = np.where(smooth, total[0], -np.inf), np.where(smooth, total[1], np.inf)
        total = lanes.meet(total, crude)
        poly = np.zeros((1, count)), np.zeros((1, count))
        rest = total
        width = total[1] - total[0]
        floor = 4e-15 * np.abs(total[1])
    else:
        crude_width = crude[1] - crude[0]
        take = smooth & ~(gauss_width > crude_width)
        poly = np.where(take, poly[0], 0.0), np.where(take, poly[1], 0.0)
        rest = np.where(take, rest[0], crude[0]), np.where(take, rest[1], crude[1])
        width = rest[1] - rest[0]
        floor = 4e-15 * (np.abs(poly[1][0]) + np.abs(rest[1]))
        floor = _not_worth_cutting(ys, index, a, b, ~take, width, floor)
    width = _settled_width(a, b, width, floor)
    along, split, kinked = _where_to_cut(a, b, spread, kink, secret, smooth)
    return _Cells(index, a, b, poly[0].T, poly[1].T, rest[0], rest[1], width, along, split, kinked)


def _wide(a: Box, count: int) -> Box:
    return np.broadcast_to(a[0], count), np.broadcast_to(a[1], count)


def _power(width: Box, exponent: int) -> Box:
    """Enclose width**exponent for a width > 0, an even exponent, by squaring."""
    out: Box = lanes.point(np.ones_like(width[0]))
    base = width
    while exponent:
        if exponent & 1:
            out = lanes.multiply(out, base)
        base = lanes.square(base)
        exponent >>= 1
    return out


def _at_nodes(surface, ys, index, a, b, volume, decided, rule_) -> Box:
    """Apply the rule: the coefficients in y, one row each."""
    x_low, x_high, w_low, w_high = rule_
    dim = a.shape[1]
    n = len(x_low)
    grid = np.stack([g.ravel() for g in np.meshgrid(*[np.arange(n)] * dim, indexing="ij")])
    half = lanes.point(np.array(0.5))
    x = []
    weight: Box = lanes.point(np.ones((n**dim, 1)))
    for j in range(dim):
        node = x_low[grid[j]][:, None], x_high[grid[j]][:, None]
        weight = lanes.multiply(weight, (w_low[grid[j]][:, None], w_high[grid[j]][:, None]))
        left, right = lanes.point(a[:, j][None]), lanes.point(b[:, j][None])
        middle = lanes.multiply(lanes.add(left, right), half)
        radius = lanes.multiply(lanes.subtract(right, left), half)
        low, high = lanes.add(middle, lanes.multiply(radius, node))
        # the nodes lie inside the box, whatever their rounding
        x.append((np.maximum(low, a[:, j])[None], np.minimum(high, b[:, j])[None]))
    values = _jets_in_y(surface.programs(ys.shift)[1], surface, ys, index, x, decided, 1)
    values = lanes.total(lanes.multiply(values, (weight[0][None], weight[1][None])), axis=1)
    scaled = lanes.multiply(volume, lanes.point(np.array(0.5**dim)))
    return lanes.multiply(values, (scaled[0][None], scaled[1][None]))


def _by_mass(surface: Surface, y: Box, shift, a, b, crude: Box) -> Box:
    """Bound the integral by the kernel's range times the prior's mass, where it helps."""
    secret = surface.secret
    if secret.mass is None or a.shape[1] > 1:
        return crude
    open_ = ~np.isfinite(crude[1]) | np.isinf(a[:, 0]) | np.isinf(b[:, 0])
    if not np.isfinite([secret.lower[0], secret.upper[0]]).all():
        # what was cut from a half-line is wide, and known no worse than that
        open_ |= (b - a)[:, 0] >= np.maximum(np.minimum(np.abs(a), np.abs(b)), 1.0)[:, 0]
    open_ = np.flatnonzero(open_)
    if not len(open_):
        return crude
    known: dict[tuple[float, float], tuple[float, float]] = secret.__dict__.setdefault(
        "_masses", {}
    )
    ends = np.empty((2, len(open_)))
    for k, i in enumerate(open_):
        key = (float(a[i, 0]), float(b[i, 0]))
        if key not in known:
            known[key] = secret.mass(*key)
        ends[:, k] = known[key]
    part = y[0][:, open_], (y[0][:, open_] if y[0] is y[1] else y[1][:, open_])
    x = boxes(a[open_], b[open_], 0, 1)  # order 1: altered points of x stay unseen
    value = jet.entry(
        surface.programs(shift)[0].run(surface.inputs(x, part, shift[open_]), 1).jet, 0
    )
    value = _wide((np.maximum(value[0], 0.0), value[1]), len(open_))
    low, high = lanes.multiply(value, (ends[0], ends[1]))
    out = crude[0].copy(), crude[1].copy()
    out[0][open_] = np.fmax(np.fmax(low, 0.0), crude[0][open_])
    out[1][open_] = np.fmin(high, crude[1][open_])
    return out


def _where_to_cut(a, b, spread, kink, secret, smooth):
    count, dim = a.shape
    middle = halves(a, b)
    kinked = np.zeros(count, bool)
    if dim > 1:
        size = np.stack([np.where(np.isfinite(s), s, np.inf) for s in spread], axis=1)
        lost = ~np.isfinite(size).all(axis=1)
        along = np.where(lost, np.argmax(b - a, axis=1), np.argmax(size, axis=1))
        return along, middle[np.arange(count), along], kinked
    split = middle[:, 0]
    low, high = secret.lower[0], secret.upper[0]
    # towards a singular end the boxes shrink geometrically
    at_low = ~smooth & (a[:, 0] == low) & np.isfinite(b[:, 0]) & np.isfinite(a[:, 0])
    at_high = ~smooth & (b[:, 0] == high) & np.isfinite(a[:, 0]) & np.isfinite(b[:, 0])
    width = b[:, 0] - a[:, 0]
    split = np.where(at_low & ~at_high, a[:, 0] + width / 16, split)
    split = np.where(at_high & ~at_low, b[:, 0] - width / 16, split)
    if kink is not None:
        kink = np.broadcast_to(kink, (count,))
        kinked = (kink >= a[:, 0]) & (kink <= b[:, 0])
        split = np.where(kinked, kink, split)
    return np.zeros(count, int), split, kinked
