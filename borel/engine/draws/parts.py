"""Enclosures for every draw of a random prior, and the draws that share a support."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from borel.numerics.intervals import rounding
from borel.numerics.intervals.rounding import ONE, log_ratio_bounds
from borel.probability.memo import Memo


class PerDraw(NamedTuple):
    """Enclosures of a figure, one for each draw, and what they are.

    ``status`` and ``reason`` are those of the engine if empty; no value lies below ``least`` or
    above ``most``.
    """

    lower: np.ndarray
    upper: np.ndarray
    units: str = "nats"
    least: float = 0.0
    most: float = np.inf
    status: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Part:
    """Draws of one support against the rows of the kernel that they charge.

    Attributes
    ----------
    p : ndarray (draws, n)
        Probabilities, all positive.
    kernel : ndarray (n, m)
        Rows of the support.
    top, bottom : ndarray (m,)
        Largest and smallest entry of each column.
    prior_error, kernel_error : float
        Relative errors of the probabilities, and of the entries.
    error : float
        Relative error of ``p @ kernel``, its own rounding included.
    memo : Memo
        What was computed of them.
    """

    p: np.ndarray
    kernel: np.ndarray
    top: np.ndarray
    bottom: np.ndarray
    prior_error: float
    kernel_error: float
    error: float
    memo: Memo = field(default_factory=Memo, init=False, repr=False, compare=False)

    @property
    def live(self) -> np.ndarray:
        """The outcomes of positive probability."""
        return self.top > 0

    @property
    def marginal(self) -> np.ndarray:
        """The law of the outcome under every draw."""
        return self.p @ self.kernel

    def chunks(self, size: int) -> list[np.ndarray]:
        """Return positions of draws, few enough that an array (draws, n, m) stays small."""
        n, m = self.kernel.shape
        return np.array_split(np.arange(len(self.p)), max(1, len(self.p) * n * m // size))


def logs_of(ratio: np.ndarray, error: Any, *, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Enclose the logarithms of positive numbers known to a relative error."""
    low, high = log_ratio_bounds(rounding.scaled(ratio, error), ONE)
    return np.maximum(low, least), np.maximum(high, least)
