"""Groups of draws that are near to each other, for densities much narrower than they are apart.

One set of cells for all draws would have to be as fine as the narrowest of them, wherever one is.
Where each draw is, and how wide, is guessed in float64: nothing that is proved depends on it.
"""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from borel.probability.measure import Measure

_APART, _MOST = 24.0, 64
"""How far apart the draws of a group are, in units of the narrowest; and how many groups."""
_GRID, _STEPS, _DOUBLINGS = 256, 90, 70
_GOLDEN = (math.sqrt(5) - 1) / 2


def groups_of(priors: Measure) -> list[np.ndarray]:
    """Return groups of the draws of a batch of densities on an interval, by their positions."""
    place, width = _modes(priors)
    # a decade of widths together, from one place to the next
    scale = np.floor(np.log10(width))
    order = np.lexsort((place, scale))
    apart = _APART
    groups = _cut(order, place, width, scale, apart)
    while len(groups) > _MOST:
        apart *= 2
        groups = _cut(order, place, width, scale, apart)
    return groups


def _cut(order, place, width, scale, apart: float) -> list[np.ndarray]:
    """Cut an order of draws where they are too far apart; the widths count less if that is much."""
    groups, start = [], 0
    for k in range(1, len(order) + 1):
        some = order[start : k + 1]
        if k < len(order) and np.ptp(place[some]) <= apart * width[some].min():
            if scale[some[0]] == scale[some[-1]] or apart > _APART:
                continue
        groups.append(order[start:k])
        start = k
    return groups


def some_of(priors: Measure, rows: np.ndarray) -> Measure:
    """Return some of a batch of measures."""

    def chosen(value: Any) -> Any:
        return value[rows] if np.ndim(value) else value

    out = copy.copy(priors)
    out.batch = (len(rows),)
    if priors._probabilities is not None:
        out._probabilities = priors._probabilities[rows]
        return out
    out.density = copy.copy(priors.density)
    out.density.parameters = {n: chosen(v) for n, v in priors.density.parameters.items()}
    out.masses = {a: chosen(m) for a, m in priors.masses.items()}
    if priors.conditioned is not None:
        out.conditioned = some_of(priors.conditioned, rows)
    if priors.family is not None:
        name, values = priors.family
        out.family = name, {n: chosen(np.asarray(v)) for n, v in values.items()}
    return out


def _modes(priors: Measure) -> tuple[np.ndarray, np.ndarray]:
    """Guess where each density is largest, and how far from there it falls by a factor e."""
    density, size = priors.density, priors.batch[0]
    on: Any = getattr(priors.on, "interval", priors.on)
    ends = float(on.lower), float(on.upper)

    def height(x: np.ndarray) -> np.ndarray:
        own = {n: v for n, v in density.parameters.items() if np.ndim(v)}
        with np.errstate(all="ignore"):
            value = density.at_parameters(x, own)
            value = value if density.log else np.log(value)
        return np.where(np.isnan(value), -np.inf, np.broadcast_to(value, x.shape))

    def at(u: np.ndarray) -> np.ndarray:
        if all(map(math.isfinite, ends)):
            return ends[0] + (ends[1] - ends[0]) * u
        if math.isfinite(ends[0]):
            return ends[0] + np.exp(80 * (u - 0.5))
        if math.isfinite(ends[1]):
            return ends[1] - np.exp(80 * (0.5 - u))
        return np.sinh(80 * (u - 0.5))

    grid = (np.arange(_GRID) + 0.5) / _GRID
    best = np.argmax([height(np.full(size, at(u))) for u in grid], axis=0)
    a, b = np.maximum(grid[best] - 1 / _GRID, 0.0), np.minimum(grid[best] + 1 / _GRID, 1.0)
    for _ in range(_STEPS):
        u, v = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
        left = height(at(u)) >= height(at(v))
        a, b = np.where(left, a, u), np.where(left, v, b)
    place = at((a + b) / 2)
    top, step = height(place), np.maximum(np.abs(place), 1e-300) * 2.0**-52
    width = np.full(size, np.inf)
    for _ in range(_DOUBLINGS):
        low, high = (height(np.clip(place + s * step, *ends)) for s in (-1, 1))
        fallen = (np.minimum(low, high) < top - 1) & np.isinf(width)
        width = np.where(fallen, step, width)
        step = step * 2
    return place, np.where(np.isfinite(width), width, step)
