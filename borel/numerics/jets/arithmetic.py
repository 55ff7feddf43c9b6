"""Interval Taylor jets: enclosures of a function and of its derivatives, lane by lane.

A jet is an interval with one more axis in front: entry k encloses ``f^(k) / k!`` over the box. A
jet of length 1 does not depend on the variable; a shorter one than asked for ends in exact zeros.
Order 0 is plain interval arithmetic. An end that is NaN is unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from borel.numerics.intervals import batched

if TYPE_CHECKING:
    from borel.numerics.intervals.batched import Box

NAN = float("nan")


def variable(low: np.ndarray, high: np.ndarray, order: int) -> Box:
    """Return the jet of the variable itself over boxes [low, high]."""
    if order == 0:
        return low[None], high[None]
    one = np.ones_like(low)
    return np.stack([low, one]), np.stack([high, one])


def constant(low: np.ndarray, high: np.ndarray) -> Box:
    """Return the jet of an input that is not the variable."""
    return low[None], (low[None] if low is high else high[None])


def value(jet: Box) -> Box:
    """Return the range, entry 0."""
    return batched.settled((jet[0][0], jet[1][0]))


def entry(jet: Box, k: int) -> Box:
    """Return entry k of a jet; the zeros behind its end too."""
    if k < len(jet[0]):
        return batched.settled((jet[0][k], jet[1][k]))
    zero = np.zeros(jet[0].shape[1:])
    return zero, zero


def part(a: Box, what) -> Box:
    """Return some entries of a jet, or another part of its arrays; a point stays a point."""
    low = a[0][what]
    return low, (low if a[0] is a[1] else a[1][what])


def joined(first: Box, rest: Box) -> Box:
    """Put entry 0 before the other entries."""
    shape = np.broadcast_shapes(first[0].shape[1:], rest[0].shape[1:])
    low = [np.broadcast_to(p, (len(p), *shape)) for p in (first[0], rest[0])]
    high = [np.broadcast_to(p, (len(p), *shape)) for p in (first[1], rest[1])]
    return np.concatenate(low), np.concatenate(high)


def add(a: Box, b: Box) -> Box:
    """Add two jets."""
    if len(a[0]) < len(b[0]):
        a, b = b, a
    n = len(b[0])
    common = batched.add(part(a, slice(n)), b)
    return common if n == len(a[0]) else joined(common, part(a, slice(n, None)))


def negative(a: Box) -> Box:
    """Negate a jet."""
    return batched.negative(a)


def multiply(a: Box, b: Box, order: int) -> Box:
    """Multiply two jets."""
    if len(a[0]) > len(b[0]):
        a, b = b, a
    if len(a[0]) == 1:
        return batched.multiply(a, b)
    length = min(len(a[0]) + len(b[0]) - 1, order + 1)
    shape = np.broadcast_shapes(a[0].shape[1:], b[0].shape[1:])
    low, high = np.zeros((length, *shape)), np.zeros((length, *shape))
    for i in range(min(len(a[0]), length)):
        term = batched.multiply(part(a, slice(i, i + 1)), part(b, slice(length - i)))
        where = slice(i, i + len(term[0]))
        low[where], high[where] = batched.add((low[where], high[where]), term)
    return low, high


def like(a: Box, number: float) -> Box:
    """Return a constant jet with as many axes as another."""
    array = np.full((1,) * a[0].ndim, number)
    return array, array


def stacked(parts: list[Box]) -> Box:
    """Put single entries together to a jet."""
    shape = np.broadcast_shapes(*(p[0].shape[1:] for p in parts))
    return (
        np.concatenate([np.broadcast_to(p[0], (1, *shape)) for p in parts]),
        np.concatenate([np.broadcast_to(p[1], (1, *shape)) for p in parts]),
    )


def padded(a: Box, length: int, shape: tuple[int, ...]) -> Box:
    """Append exact zeros up to a length."""
    out = np.zeros((2, length, *shape))
    out[0, : len(a[0])], out[1, : len(a[0])] = a
    return out[0], out[1]
