r"""Outcomes Y = X + U: what moments of the noise U say of boxes of outcomes that are wide for it.

Let U have a density :math:`k \le e^h`, and let X, independent of it, have a density p. For every
s > 0 and every box [a, b], with :math:`v = \sup_{|x - a| \le s} p + \sup_{|x - b| \le s} p`,

.. math:: |P(a < Y < b) - P(a < X < b)| \le v E|U| + P(|U| > s),

as P(Y < c) is the mean of P(X < c - U) over U, and for y in the box

.. math:: P(|U| \le s) \inf_{[a - s, b + s]} p \le f_Y(y)
    \le \sup_{[a - s, b + s]} p + \sup_{|u| > s} k(u).

With :math:`L(u) = h - \log k(u) \ge 0`, the outcomes of the box add to mutual information the
integral of :math:`f_Y (h - \log f_Y)` over it less E[L(U); a < Y < b], and

.. math:: |E[L(U); a < Y < b] - E[L(U)] P(a < X < b)| \le v E[L(U) |U|] + E[L(U); |U| > s].
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from borel.engine.problem.kernel_normalisation import noise_of
from borel.numerics.jets import arithmetic
from borel.numerics.jets.interpreter import Program
from borel.probability.alphabets import Interval

if TYPE_CHECKING:
    import numpy.typing as npt

    from borel.engine.problem.protocols import TracedJoint

    Numbers = npt.NDArray[np.float64]

_OCTAVES = np.array([2.0**k for k in range(-40, 24)])
_EACH = 32
"""Cells in which an octave is cut: sums of bounds on them exceed integrals by some per cent."""
_REACHES = np.array([12.0, 32.0, 96.0])
"""How far out tails are bounded, in units of the mean of abs(U)."""
_UP = 1 + 2.0**-40


class AdditiveNoise(NamedTuple):
    """What is known of the noise U of outcomes X + U.

    Attributes
    ----------
    height : float
        The number h.
    place, floor : tuple of float, float
        An interval, and what log k is at least there.
    size : float
        E abs(U), at most.
    loss : tuple of float
        E L(U), at least and at most.
    loss_size : float
        E L(U) abs(U), at most.
    reaches, beyond, above, loss_beyond : ndarray
        Distances s, and what P(abs(U) > s), the density there and E[L(U); abs(U) > s] are at most.
    """

    height: float
    place: tuple[float, float]
    floor: float
    size: float
    loss: tuple[float, float]
    loss_size: float
    reaches: Numbers
    beyond: Numbers
    above: Numbers
    loss_beyond: Numbers


def additive_noise(engine: TracedJoint, slack: float) -> AdditiveNoise | None:
    """Return what is known of the noise, if the outcome is the secret with noise added, on a line.

    Parameters
    ----------
    engine : TracedJoint
        The joint, with log-densities that are traced.
    slack : float
        By how much the logarithm of the kernel meant may differ from that of the one written.

    Returns
    -------
    AdditiveNoise or None
        None for other kernels, and where the density has no bound or falls at no rate.
    """
    line = engine.joint.outcome
    if engine.secret.dim > 1 or not isinstance(line, Interval):
        return None
    found = noise_of(engine.surface.graph, line)
    if found is None or found[1].nodes != (("input", ("x",)),):
        return None
    log = Program(found[0].bind({"x": 0.0}))
    with np.errstate(all="ignore"):
        return _moments(log, slack)


def _moments(log: Program, slack: float) -> AdditiveNoise | None:
    edges = np.unique(np.outer(_OCTAVES, 1 + np.arange(_EACH) / _EACH))
    edges = np.concatenate([[0.0], edges[edges <= _OCTAVES[-1]]])
    low_ends = np.concatenate([edges[:-1], -edges[1:]])
    high_ends = np.concatenate([edges[1:], -edges[:-1]])
    value = arithmetic.value(log.run({"y": (low_ends[None], high_ends[None])}, 0).jet)
    low, high = value[0] - slack, value[1] + slack
    start, rate = _falling(log, _OCTAVES, slack)
    height = max(float(high.max()), float(start[:, -1].max()))
    if not math.isfinite(height):
        return None
    # k, L k and bounds of L k from below on cells, both sides of 0 together
    cells = np.exp(high), _loss(np.clip(height - 1, low, high), height)
    mass, loss = (v.reshape(2, -1).sum(axis=0) * np.diff(edges) for v in cells)
    least = np.minimum(_loss(low, height), _loss(high, height)).reshape(2, -1).sum(axis=0)
    far = edges[1:]
    tails = _beyond(start, rate, _OCTAVES, height)
    k = np.searchsorted(far, _OCTAVES)
    size, most, both = (
        float(np.min(np.cumsum(inner)[k] + rest) * _UP)
        for inner, rest in zip((mass * far, loss, loss * far), tails[1:], strict=True)
    )
    if not math.isfinite(size + most + both):
        return None
    reaches = _REACHES * size
    start, rate = _falling(log, reaches, slack)
    beyond, _, loss_beyond, _ = _beyond(start, rate, reaches, height)
    k = int(np.argmax(low))
    return AdditiveNoise(
        height, (float(low_ends[k]), float(high_ends[k])), float(low[k]), size,
        (float((least * np.diff(edges)).sum()) / _UP, most), both,
        reaches, np.minimum(beyond, 1.0), np.exp(_floored(start).max(axis=0)) * _UP, loss_beyond,
    )  # fmt: skip


def _falling(log: Program, edges: Numbers, slack: float) -> tuple[Numbers, Numbers]:
    """Bound log k beyond points of both sides: what it is there, and the rate at which it falls."""
    found = []
    for sign in (1.0, -1.0):
        at, far = sign * edges, np.full(len(edges), sign * math.inf)
        over = arithmetic.variable(np.minimum(at, far), np.maximum(at, far), 1)
        slope = arithmetic.entry(log.run({"y": over}, 1).jet, 1)
        value = arithmetic.value(log.run({"y": (at[None], at[None])}, 0).jet)[1]
        found.append(np.broadcast_arrays(value + slack, -slope[1] if sign > 0 else slope[0]))
    start, rate = np.moveaxis(np.array(found), 1, 0)
    # where it is not seen to fall, it is not bounded
    falls = rate > 0
    return np.where(falls, start, math.inf), np.where(falls, rate, 0.0)


def _beyond(start: Numbers, rate: Numbers, edge: Numbers, height: float) -> tuple[Numbers, ...]:
    """Bound the integrals of k, abs(u) k, L k and abs(u) L k beyond points, for both sides.

    There k is at most m = e^(start - rate t), and L k at most m (h - log m), if log m < h - 1.
    """
    start = _floored(start)
    top, off = np.exp(start), height - start
    small = start <= height - 1
    parts = (
        (top / rate, True),
        (top * (edge / rate + 1 / rate**2), True),
        (top * (off + 1) / rate, small),
        (top * (edge * (off + 1) / rate + (off + 2) / rate**2), small),
    )
    bounded = np.isfinite(start)
    return tuple(
        np.where(bounded & known, part, math.inf).sum(axis=0) * _UP for part, known in parts
    )


def _floored(log: Numbers) -> Numbers:
    """Return logarithms of which the exponentials do not underflow, no less than some."""
    return np.maximum(log, -700.0)


def _loss(log: Numbers, height: float) -> Numbers:
    """Return L k = k (h - log k)."""
    return np.where(np.isneginf(log), 0.0, np.exp(log) * (height - log))
