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

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from borel import settings
from borel.engine.kernels import unbounded_secrets
from borel.engine.kernels.essential_supremum import _slices, halves
from borel.engine.kernels.quadrature_rules import (
    NODES,
    Outcomes,
    at_nodes,
    by_moments,
    jets_in_y,
    power,
    rule,
    wide,
)
from borel.engine.problem.secret_and_kernel import Surface, boxes, merged
from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic

if TYPE_CHECKING:
    from borel.numerics.intervals.batched import Box

_CELLS = 24_000
_LANES = 200_000
_IDLE = 3
"""So many cuts that tell little end the search for what is no kernel: a peak in a wide box is found
by several, and the integral of a kernel is not worth them."""


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
        low, high = batched.add((self.polynomial[0][0], self.polynomial[1][0]), self.rest)
        return np.maximum(low, 0.0), high


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


def marginal(
    surface: Surface,
    ys: Outcomes,
    *,
    rtol: float,
    deadline: float = np.inf,
    rounds: int = 80,
    cover: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
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
        When to stop, by `borel.settings.now`.
    cover : tuple of ndarray, optional
        Boxes (m, 1) from, to, of which outcome (m,): the secrets of a density that count beside
        all atoms; all by default.

    Returns
    -------
    tuple
        The model, and the boxes that prove it.
    """
    secret, n = surface.secret, len(ys.low)
    state: _Cells | None = None
    if secret.continuous and (cover is None or len(cover[0])):
        a, b, index = _cover(secret, n) if cover is None else cover
        state = _first(surface, ys, index, a, b, deadline)
        before, idle = np.full(n, np.inf), np.zeros(n, int)
        patient = 1 if surface.rises else _IDLE
        for turn in range(rounds):
            value = np.bincount(state.index, state.poly_low[:, 0] + state.rest_low, n)
            width = np.bincount(state.index, state.width, n)
            count = np.bincount(state.index, minlength=n)
            target = rtol * np.maximum(value, 0.0)
            unfinished = ~(width <= target)
            if ys.order:  # a box of outcomes may be too wide for any more
                idle = np.where((width > 0.8 * before) & np.isfinite(width), idle + 1, 0)
                unfinished &= ~((idle >= patient) & (turn > 7)) & (count < 256)
            before = width
            largest = np.zeros(n)
            np.maximum.at(largest, state.index, state.width)
            need = np.maximum(0.5 * target / count, 1e-3 * largest)
            i = state.index
            again = unfinished[i] & (state.width > np.where(np.isinf(largest[i]), 1e300, need[i]))
            again &= (state.b > state.a).all(axis=1) & (state.split > -np.inf)
            if not again.any() or len(i) > _LANES or settings.late(deadline):
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
            low[k], high[k] = batched.segment_total(part, state.index, n)
        rest = batched.segment_total((state.rest_low, state.rest_high), state.index, n)
    poly = low, high
    if len(surface.secret.atoms):
        poly = batched.add(poly, atoms_in_y(surface, ys, n))
    if surface.secret.rest:
        rest = batched.add(rest, _beyond_atoms(surface, ys, n))
    return Model(poly, rest)


def _beyond_atoms(surface: Surface, ys: Outcomes, n: int) -> Box:
    """Enclose what the secrets beyond the head of a countable prior add to f_Y e^-shift."""
    from borel.engine.kernels.essential_supremum import over_rest

    box, light = (ys.low, ys.high), surface.secret.light
    top = np.maximum(over_rest(surface, box, n, 1.0), over_rest(surface, box, n, 1.0, light))
    with np.errstate(invalid="ignore"):
        scaled = batched.exp(batched.subtract(batched.point(top), batched.point(ys.shift)))[1]
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
        part = batched.total(_at_atoms(surface, ys, np.arange(n)[rows]), axis=2)
        low[:, rows], high[:, rows] = part
    return low, high


def _at_atoms(surface: Surface, ys: Outcomes, index: np.ndarray) -> Box:
    secret = surface.secret
    some = secret.weight_high > 0 if secret.light else np.ones(len(secret.atoms), bool)
    x = [batched.point(secret.atoms[None, None, some, j]) for j in range(secret.dim)]
    part = jets_in_y(surface.programs(ys.shift)[0], surface, ys, index, x, None, 2)
    weights = secret.weight_low[None, None, some], secret.weight_high[None, None, some]
    return batched.multiply(part, weights)


def _cover(secret, n: int):
    from borel.engine.kernels.essential_supremum import _initial

    work = _initial(secret, n)
    return work.a, work.b, work.index


def _divided(cells: _Cells):
    from borel.engine.kernels.essential_supremum import cut_boxes

    return cut_boxes(cells.index, cells.a, cells.b, cells.along, cells.split, cells.kinked)


def _evaluate(surface: Surface, ys: Outcomes, index, a, b, deadline: float) -> _Cells:
    """Look at boxes, block by block: at the first block, and at others until the deadline."""
    size = max(64, _CELLS // NODES[surface.secret.dim] ** surface.secret.dim)
    parts = []
    for s in _slices(len(index), size):
        parts.append(_cells(surface, ys, index[s], a[s], b[s]))
        if settings.late(deadline):
            break
    return _Cells(*(np.concatenate(c) for c in zip(*parts, strict=True)))


def _first(surface: Surface, ys: Outcomes, index, a, b, deadline: float) -> _Cells:
    """Look at the boxes that cover the secrets; nothing is known of those left out."""
    seen = _evaluate(surface, ys, index, a, b, deadline)
    done = len(seen.index)
    index, a, b = index[done:], a[done:], b[done:]
    zero, none = np.zeros((len(index), ys.rows)), np.zeros(len(index), bool)
    unknown = np.full(len(index), np.inf)
    middle = halves(a, b, unbounded_secrets.middle(surface.secret))[:, 0]
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
    polar = _beside_ends(surface.secret, a, b)
    if not polar.any():
        return _cells_of_density(surface, ys, index, a, b)
    parts = [_cells_by_moments(surface, ys, index[polar], a[polar], b[polar])]
    if not polar.all():
        parts.append(_cells_of_density(surface, ys, index[~polar], a[~polar], b[~polar]))
    return _Cells(*(np.concatenate(c) for c in zip(*parts, strict=True)))


def _beside_ends(secret, a, b) -> np.ndarray:
    """Return which boxes end where the prior's density may have no Taylor series."""
    if secret.moments is None:
        return np.zeros(len(a), bool)
    at_end = np.isin(a, secret.moments.ends) | np.isin(b, secret.moments.ends)
    return (at_end & np.isfinite(b - a))[:, 0]


def _cells_of_density(surface: Surface, ys: Outcomes, index, a, b) -> _Cells:
    """Enclose the integral over boxes by the density of the prior."""
    # a box across a kink has no high derivatives: it is cut, and the rule serves both sides. One
    # such lane would slow down every other, since unknown ends need care
    doubtful = ~np.isfinite(b - a)[:, 0]
    if surface.programs(ys.shift)[1].branches:
        doubtful[:] = True
    few = np.flatnonzero(doubtful)
    if not len(few):
        return _smooth_cells(surface, ys, index, a, b)
    y = ys.at(index[few])
    found = surface.programs(ys.shift)[1].run(
        surface.inputs(
            boxes(a[few], b[few], 0, 2), y, ys.shift[index[few]], ys.numbers_at(index[few])
        ),
        2,
        start=a[few, 0],
    )
    bend = wide(arithmetic.entry(found.jet, 2), len(few))
    known = np.isfinite(bend[0]) & np.isfinite(bend[1]) & np.isfinite(b - a)[few, 0]
    if known.all():
        return _smooth_cells(surface, ys, index, a, b)
    rough, value = ~known, wide(arithmetic.entry(found.jet, 0), len(few))
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


def _rough_cells(surface: Surface, ys: Outcomes, index, a, b, value: Box, kink) -> _Cells:
    """Enclose the integral by the range of the integrand alone, and say where to cut."""
    count = len(index)
    volume = batched.subtract(batched.point(b[:, 0]), batched.point(a[:, 0]))
    low, high = _crude(surface, ys.at(index), ys.shift[index], a, b, value, volume)
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
    crude = batched.multiply(value, volume)
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
    width = np.where(np.isnan(width), np.inf, width)
    # a share of what is not bounded is no floor
    width = np.where((width <= floor) & np.isfinite(width), 0.0, width)
    tiny = np.isfinite(b - a) & ((b - a) <= 2.0**-48 * np.maximum(np.abs(a), np.abs(b)))
    return np.where(tiny.all(axis=1), 0.0, width)


def _smooth_cells(surface: Surface, ys: Outcomes, index, a, b) -> _Cells:
    """Enclose the integral by the rule and its remainder, and by the range of the integrand."""
    secret = surface.secret
    count, dim = a.shape
    n = NODES[dim]
    x_low, x_high, w_low, w_high, constant = rule(n)
    y = ys.at(index)
    shift = ys.shift[index]
    volume: Box = (np.ones(count), np.ones(count))
    widths = []
    for j in range(dim):
        width = batched.subtract(batched.point(b[:, j]), batched.point(a[:, j]))
        widths.append(width)
        volume = batched.multiply(volume, width)
    rest: Box = (np.zeros(count), np.zeros(count))
    decisions, kink, spread = [], None, []
    value: Box | None = None
    for j in range(dim):
        start = a[:, j] if dim == 1 else None
        found = surface.programs(ys.shift)[1].run(
            surface.inputs(boxes(a, b, j, 2 * n), y, shift, ys.numbers_at(index)),
            2 * n,
            start=start,
        )
        decisions.append(found.decisions)
        kink = found.kink
        head = wide(arithmetic.entry(found.jet, 0), count)
        value = head if value is None else batched.meet(value, head)
        high = wide(arithmetic.entry(found.jet, 2 * n), count)
        scale = batched.multiply(power(widths[j], 2 * n), volume)
        term = batched.multiply(batched.multiply(high, scale), batched.point(np.array(constant)))
        rest = batched.add(rest, term)
        spread.append(np.maximum(np.abs(term[0]), np.abs(term[1])))
    assert value is not None
    decided = merged(decisions)
    poly = at_nodes(surface, ys, index, a, b, volume, decided, (x_low, x_high, w_low, w_high))
    smooth = np.isfinite(rest[0]) & np.isfinite(rest[1])
    smooth &= np.isfinite(poly[0]).all(axis=0) & np.isfinite(poly[1]).all(axis=0)
    crude = _crude(surface, y, shift, a, b, value, volume)
    cut = _where_to_cut(a, b, spread, kink, secret, smooth)
    return _better(ys, index, a, b, (poly, rest, smooth), crude, cut)


def _better(ys: Outcomes, index, a, b, by_rule, crude: Box, cut) -> _Cells:
    """Take for each box what a rule gives, or what the range of the integrand does."""
    (poly, rest, smooth), count = by_rule, len(index)
    gauss_width = rest[1] - rest[0] + (poly[1] - poly[0]).sum(axis=0) * (ys.order == 0)
    if ys.order == 0:
        total = batched.add((poly[0][0], poly[1][0]), rest)
        total = np.where(smooth, total[0], -np.inf), np.where(smooth, total[1], np.inf)
        total = batched.meet(total, crude)
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
    return _Cells(index, a, b, poly[0].T, poly[1].T, rest[0], rest[1], width, *cut)


def _cells_by_moments(surface: Surface, ys: Outcomes, index, a, b) -> _Cells:
    """Enclose the integral over boxes beside an end by moments of the prior, or by its mass."""
    found, kink = by_moments(surface, ys, index, a, b)
    endless = np.zeros(len(index)), np.full(len(index), np.inf)
    crude = _by_mass(surface, ys.at(index), ys.shift[index], a, b, endless)
    cut = _where_to_cut(a, b, [], kink, surface.secret, found[2])
    return _better(ys, index, a, b, found, crude, cut)


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
    ends = np.array([secret.mass_between(float(a[i, 0]), float(b[i, 0])) for i in open_]).T
    part = y[0][:, open_], (y[0][:, open_] if y[0] is y[1] else y[1][:, open_])
    x = boxes(a[open_], b[open_], 0, 1)  # order 1: altered points of x stay unseen
    value = arithmetic.entry(
        surface.programs(shift)[0].run(surface.inputs(x, part, shift[open_]), 1).jet, 0
    )
    value = wide((np.maximum(value[0], 0.0), value[1]), len(open_))
    value = value[0], np.fmin(value[1], _towards(surface, part, shift[open_], a[open_], b[open_]))
    low, high = batched.multiply(value, (ends[0], ends[1]))
    out = crude[0].copy(), crude[1].copy()
    out[0][open_] = np.fmax(np.fmax(low, 0.0), crude[0][open_])
    out[1][open_] = np.fmin(high, crude[1][open_])
    return out


def _towards(surface: Surface, y: Box, shift, a, b) -> np.ndarray:
    """Bound the kernel on half-lines of secrets along which it falls, by its value at their ends.

    A slope tells that where a range does not: log x - x y is of no sign far out, 1 / x - y is.
    """
    out = np.full(len(a), np.inf)
    if not surface.rises:
        return out
    with np.errstate(invalid="ignore"):
        far = np.flatnonzero(np.isinf(b - a)[:, 0] & (np.isfinite(a) | np.isfinite(b))[:, 0])
    if not len(far):
        return out
    part = y[0][:, far], (y[0][:, far] if y[0] is y[1] else y[1][:, far])
    up = np.isfinite(a[far])
    end = np.where(up, a[far], b[far])
    x = boxes(a[far], b[far], 0, 1)
    slope = wide(arithmetic.entry(surface.log.run(surface.inputs(x, part), 1).jet, 1), len(far))
    falls = np.where(up[:, 0], slope[1] <= 0, slope[0] >= 0)
    # at the end with the branches of the half-line: the limit there, wherever f jumps to
    program, at = surface.programs(shift[far])[0], boxes(end, end, 0, 1)
    taken = program.run(surface.inputs(x, part, shift[far]), 1).decisions
    found = program.run(surface.inputs(at, part, shift[far]), 1, decisions=taken)
    top = wide(arithmetic.entry(found.jet, 0), len(far))[1]
    out[far] = np.where(falls & ~np.isnan(top), top, np.inf)
    return out


def _where_to_cut(a, b, spread, kink, secret, smooth):
    count, dim = a.shape
    middle = halves(a, b, unbounded_secrets.middle(secret))
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
