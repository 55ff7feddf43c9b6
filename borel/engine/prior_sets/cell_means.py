r"""Means of a function over cells of a secret, and what they say of balls of priors.

On a cell of width h the mean of v(X) under the centre is known to about h^3, while the range of v
is as wide as h. Two finite problems then enclose a lower expectation over a ball to second order:

* members that have the centre's conditional law on each cell give the means: from above;
* split each cell into two halves of its mass, on which v is A and B, around the mean of v: as long
  as A <= v <= B, this is v with noise of mean 0 added. A member, with that noise, is in the ball
  around the law of the cells and the halves, so that the expectation is at least what is least
  there: from below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Secret
    from borel.numerics.intervals.batched import Box

_ROUND = 2.0**-48


class Offsets(NamedTuple):
    """E s and E s^2 on cells under a prior, for the offset s of the secret from the middle."""

    first: Box
    second: Box
    half: np.ndarray


def middles(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return a point inside each cell: its middle, if it is bounded."""
    with np.errstate(invalid="ignore"):
        middle = low + (high - low) / 2
    return np.where(np.isfinite(middle), middle, np.where(np.isfinite(low), low, high))


def offsets(secret: Secret, low: np.ndarray, high: np.ndarray) -> Offsets:
    """Enclose the means of offsets from the middles of cells and of their squares.

    With log p of slopes between a and b, the mean rises with the slope: it lies between those of
    densities e^(a s) and e^(b s). Where no slope is known it lies anywhere in the cell.
    """
    middle = middles(low, high)
    with np.errstate(all="ignore"):
        half = np.maximum(high - middle, middle - low) * (1 + _ROUND)
        lean = np.abs((high - middle) - (middle - low)) + np.abs(middle) * 2.0**-51
        program = secret.program
        assert program is not None
        x = {secret.names[0]: arithmetic.variable(low, high, 1)}
        slope = batched.settled(arithmetic.entry(program.run(x, 1).jet, 1))
        slope = tuple(np.broadcast_to(end, len(low)) for end in slope)
        known = np.isfinite(slope[0]) & np.isfinite(slope[1]) & np.isfinite(half)
        # coth z - 1/z lies between z/3 - z^3/45 and z/3 for z >= 0, and is odd
        z = np.where(known, slope[0], 0.0) * half, np.where(known, slope[1], 0.0) * half
        third = (
            z[0] / 3 - np.maximum(z[0], 0.0) ** 3 / 45,
            z[1] / 3 - np.minimum(z[1], 0.0) ** 3 / 45,
        )
        off = lean + half * _ROUND
        first = half * third[0] - off, half * third[1] + off
        known &= (np.abs(z[0]) <= 1) & (np.abs(z[1]) <= 1)
        first = np.where(known, first[0], -half), np.where(known, first[1], half)
        ratio = np.exp(2 * np.maximum(np.abs(z[0]), np.abs(z[1]))) * (1 + _ROUND)
        square = (half + lean) ** 2 / 3
        least = (half - off) ** 2 / 3 / ratio * (1 - _ROUND)
        second = np.where(known, np.maximum(least, 0.0), 0.0), half * half * (1 + _ROUND)
        second = second[0], np.where(known, np.minimum(square * ratio, second[1]), second[1])
    return Offsets(first, second, half)


def mean_of_power(at: Offsets, slope: Box, over: Box, bend: Box) -> Box:
    """Enclose the means over cells of e^(u(x) - u(middle)): not finite where little is known.

    Parameters
    ----------
    at : Offsets
        Of the cells.
    slope : Box
        u' at the middles.
    over, bend : Box
        u' and u'' / 2 on the cells.
    """
    with np.errstate(all="ignore"):
        straight = batched.multiply(slope, at.first)
        bent = batched.multiply(bend, at.second)
        steep = np.maximum(np.abs(slope[0]), np.abs(slope[1]))
        curve = np.maximum(np.abs(bend[0]), np.abs(bend[1])) * at.half * at.half * (1 + _ROUND)
        cross = 2 * steep * at.half * curve * (1 + _ROUND)
        least = np.where((slope[0] <= 0) & (slope[1] >= 0), 0.0, np.minimum(*np.abs(slope)))
        square = (
            np.maximum(least * least * at.second[0] * (1 - _ROUND) - cross, 0.0),
            (steep * steep * at.second[1] + cross + curve * curve) * (1 + _ROUND),
        )
        span = np.maximum(np.abs(over[0]), np.abs(over[1])) * at.half * (1 + _ROUND)
        power = batched.exp((-span, span))
        second = square[0] * power[0] / 2 * (1 - _ROUND), square[1] * power[1] / 2 * (1 + _ROUND)
        one = batched.point(np.ones_like(span))
        return batched.add(batched.add(one, batched.add(straight, bent)), second)


def halves(values: Box, means: Box) -> tuple[np.ndarray, np.ndarray]:
    """Return A and B whose middle is not above the means, with v between them when moved there.

    Let c >= 0 be what the mean of v exceeds (A + B) / 2 by: A <= v - c <= B is what is needed.
    Where the mean is hardly known, both are the least value.
    """
    (low, high), (least, most) = values, means
    size = _ROUND * np.maximum(np.abs(low), np.abs(high)) + 1e-300
    top = np.maximum(high, least + (most - low)) + size
    bottom = np.minimum(2 * least - top, 2 * low - 2 * most + top) - 8 * size
    loose = most - least > (high - low) / 4
    return np.where(loose, low, bottom), np.where(loose, low, top)


def within(values: Box, means: Box, charged: np.ndarray) -> Box:
    """Return means within the ranges of the values; those where the means are not known.

    A cell that is not charged for certain may have no mean.
    """
    least = np.maximum(np.where(np.isnan(means[0]), -np.inf, means[0]), values[0])
    most = np.minimum(np.where(np.isnan(means[1]), np.inf, means[1]), values[1])
    sound = (least <= most) & charged
    return np.where(sound, least, values[0]), np.where(sound, most, values[1])
