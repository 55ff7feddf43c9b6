r"""The largest leakage of events of a finite joint, at many probabilities at once, in float64.

For a secret x let :math:`H_x(\delta)` be the largest :math:`K_x(a)` over fuzzy events
:math:`a : \mathcal Y \to [0, 1]` of probability :math:`P_Y(a) = \delta`. By linear duality

.. math:: H_x(\delta) = \min_{\tau \ge 0} \ \tau \delta + \sum_y (K_x(y) - \tau P_Y(y))^+,

so that any event gives a lower end and any level tau an upper one: outcomes sorted by
:math:`K_x(y) / P_Y(y)`, even a little wrongly, give both, and no sum needs to be exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.numerics.intervals.rounding import NORMAL, TINY, U, rounding_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = 32
_CELLS = 4_000_000
_COARSE = 1e-6


class Floats(NamedTuple):
    """Kernel (n, m) and marginal (m,) > 0 in float64, each within a relative error."""

    kernel: np.ndarray
    marginal: np.ndarray
    kernel_error: float
    marginal_error: float


def floats_of(engine: Any) -> Floats | None:
    """Return a finite engine's kernel and marginal on the support; None if float64 is too coarse.

    Parameters
    ----------
    engine : FiniteEngine
        Rows are the secrets of positive probability, columns the outcomes that are possible.
    """
    live, cells = engine._live, np.ix_(engine.support, engine._live)
    if engine.joint.rational:
        exact, law = engine.mechanism.matrix[cells], engine._exact_marginal[live]
        kernel, marginal = np.asarray(exact, float), np.asarray(law, float)
        lost = np.asarray(exact != 0, bool) & (kernel < NORMAL)
        if lost.any() or marginal.min() < NORMAL:
            return None
        return Floats(kernel, marginal, U, U)
    kernel = engine.matrix[cells]
    low, high = (end[live] for end in engine._masses)
    if not low.min() > NORMAL:
        return None
    error = float(rounding_of(kernel, engine._kernel_rounding).max())
    middle = low + (high - low) / 2
    spread = float(((high - low) / low).max()) + 2 * U
    if max(error, spread) > _COARSE:
        return None
    return Floats(kernel, middle, error, spread)


def largest_shares(
    values: Floats, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Enclose :math:`H_x(\delta) / \delta` for every secret, at levels in [low, high].

    Parameters
    ----------
    values : Floats
        n secrets, m outcomes.
    low, high : ndarray (k,)
        Floats around each level, 0 < low <= high <= 1.

    Returns
    -------
    tuple of ndarray (n, k)
        Lower and upper ends; the ratio is between 1 and 1 / delta.
    """
    parts = [_of_rows(values, rows, low, high) for rows in _blocks(values.kernel.shape)]
    least, most = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    least = np.maximum(least / high * (1 - 2 * U), 1.0)
    most = np.minimum(most, 1.0) / low * (1 + 2 * U)
    return least, np.maximum(most, least)


def _blocks(shape: tuple[int, int]) -> Iterator[slice]:
    step = max(1, _CELLS // shape[1])
    return (slice(start, start + step) for start in range(0, shape[0], step))


def _of_rows(
    values: Floats, rows: slice, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Enclose the largest shares of some secrets."""
    k, q = values.kernel[rows], values.marginal
    m = k.shape[1]
    order = np.argsort(-(k / q), axis=1)
    k, q = np.take_along_axis(k, order, axis=1), q[order]
    slack = 1.01 * (_BLOCK + m / _BLOCK + 4) * U
    k_error, q_error = 1.01 * values.kernel_error + slack, 1.01 * values.marginal_error + slack
    sums = [_partial_sums(v) for v in (k, q)]
    # how many outcomes are certainly within the level, row by row
    within = low / (1 + q_error) * (1 - 2 * U)
    whole = np.array([np.searchsorted(row[1:], within, side="right") for row in sums[1]])
    k_in, q_in = (np.take_along_axis(s, whole, axis=1) for s in sums)
    last = whole == m
    at = np.minimum(whole, m - 1)
    k_at, q_at = (np.take_along_axis(v, at, axis=1) for v in (k, q))
    r_at = k_at / q_at

    # below: that event, and a part of the next outcome
    left = np.maximum(low - q_in * (1 + q_error) - U * low, 0.0)
    part = np.minimum(left / (q_at * (1 + q_error)) * (1 - 4 * U), 1.0)
    least = k_in * (1 - k_error) + np.where(last, 0.0, part * k_at * (1 - k_error))
    least = np.maximum(least * (1 - 4 * U) - TINY, 0.0)

    # above: the level tau is at least every ratio that is left out; ratios taken in may be below
    # it by their rounding only
    wrong = 1.01 * (values.kernel_error + values.marginal_error + 4 * U)
    tau = np.where(last, 0.0, r_at * (1 + wrong))
    left = np.maximum(high - q_in * (1 - q_error), 0.0) * (1 + 2 * U)
    most = k_in * (1 + k_error) + tau * (left + q_in * (1 + q_error) * 2 * wrong)
    return least, most * (1 + 6 * U) + TINY


def _partial_sums(values: np.ndarray) -> np.ndarray:
    """Sum rows (n, m) of numbers >= 0 from the left, (n, m + 1), in blocks.

    A sum meets at most 32 + m / 32 roundings.
    """
    n, m = values.shape
    blocks = -(-m // _BLOCK)
    out = np.zeros((n, 1 + blocks * _BLOCK))
    out[:, 1 : m + 1] = values
    inner = out[:, 1:].reshape(n, blocks, _BLOCK).cumsum(axis=2)
    inner[:, 1:] += inner[:, :-1, -1].cumsum(axis=1)[:, :, None]
    out[:, 1:] = inner.reshape(n, -1)
    return out[:, : m + 1]
