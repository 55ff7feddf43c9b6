"""What moments of noise say of boxes of outcomes that are wide for it, for every draw of a prior.

The secret has a density without atoms; `additive_noise` has the inequalities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from borel.engine.kernels.tail_entropy import largest_mean
from borel.numerics.intervals import batched

if TYPE_CHECKING:
    from borel.engine.draws.density_cells import DensityCells
    from borel.engine.kernels.additive_noise import AdditiveNoise
    from borel.numerics.intervals.batched import Box

_UP, _DOWN = 1 + 2.0**-49, 1 - 2.0**-49
_OFF = 2.0**-40
"""What logarithms may be off by, as a part of their size."""


class WideBoxes(NamedTuple):
    """Enclosures for every draw and box, (draws, boxes).

    Attributes
    ----------
    mass : Box
        The probability of the box.
    log_density : Box
        Log f_Y on the box.
    entropy : Box
        The integral of f_Y (h - log f_Y) over the box, for the height h of the noise.
    loss : Box
        The mean of h - log f(Y|X) over it.
    """

    mass: Box
    log_density: Box
    entropy: Box
    loss: Box


def wide_boxes(
    noise: AdditiveNoise, cells: DensityCells, low: np.ndarray, high: np.ndarray
) -> WideBoxes:
    """Enclose what is known of finite boxes of outcomes, by the best of some reaches."""
    inner = cells.between(low, high)
    at_reaches = [_with_reach(noise, cells, inner, low, high, k) for k in range(len(noise.reaches))]
    mass, logs, loss = (_meet(parts) for parts in zip(*at_reaches, strict=True))
    mass = np.maximum(mass[0] * _DOWN, 0.0), np.clip(mass[1] * _UP, 0.0, 1.0)
    off = [np.where(np.isfinite(v), 1 + np.abs(v), 0.0) * _OFF for v in logs]
    # f_Y <= e^h
    logs = logs[0] - off[0], np.minimum(logs[1] + off[1], noise.height)
    gap = np.maximum(noise.height - logs[1], 0.0)
    lower = np.where(mass[0] > 0, mass[0] * gap, 0.0) * _DOWN
    upper = largest_mean(
        mass[1], noise.height + np.log(high - low) + _OFF * (1 + abs(noise.height))
    )
    loss = np.maximum(loss[0] * _DOWN, 0.0), loss[1] * _UP
    return WideBoxes(mass, logs, (lower, upper), loss)


def _with_reach(
    noise: AdditiveNoise, cells: DensityCells, inner: Box, low, high, k: int
) -> tuple[Box, Box, Box]:
    """Enclose the mass, log f_Y and the loss by what is within a reach and beyond it."""
    s, beyond = noise.reaches[k], noise.beyond[k]
    s = s + 2.0**-50 * (s + np.maximum(np.abs(low), np.abs(high)))  # the ends are rounded
    near = sum(cells.range_of(end - s, end + s)[1] for end in (low, high)) * _UP
    least, most = cells.range_of(low - s, high + s)
    with np.errstate(divide="ignore"):
        logs = np.log(least * max(1.0 - beyond, 0.0)), np.log(most + noise.above[k])
    off = (near * noise.size + beyond) * _UP
    mass = inner[0] - off, inner[1] + off
    off = (near * noise.loss_size + noise.loss_beyond[k]) * _UP
    loss = inner[0] * noise.loss[0] - off, inner[1] * noise.loss[1] + off
    return mass, logs, loss


def _meet(parts: tuple[Box, ...]) -> Box:
    """Return the intersection of some enclosures."""
    out = parts[0]
    for part in parts[1:]:
        out = batched.meet(out, part)
    return out
