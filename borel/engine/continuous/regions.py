"""Probabilities of outcomes on which the densities of a finite secret compare in a way, in float64.

They prove nothing: what is found with them is proved by a checker.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import elementwise

if TYPE_CHECKING:
    from borel.engine.continuous.certified_excess import Rows

Score = Callable[[np.ndarray], np.ndarray]
Cells = list[tuple[float, float]]
_FAR, _FAR_POINTS = (1e3, 1e15), 400
_ROUGH, _HALVINGS = 2.0**-52, 60
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


class Regions:
    """Outcomes on which a score of the ratios k_x / f_Y is positive, and their probabilities.

    Parameters
    ----------
    rows : Rows
        The kernels.
    """

    def __init__(self, rows: Rows):
        self.rows = rows
        line, far = rows.line, np.geomspace(*_FAR, _FAR_POINTS)
        ends = [v for v in line if math.isfinite(v)]
        ends += [*(far if line[1] == math.inf else ()), *(-far if line[0] == -math.inf else ())]
        self.ys = self._refined(np.unique([*rows.grid(), *rows.marks, *ends]))
        self.low, self.high = self.ys[:-1], self.ys[1:]
        self.ratios = self.at(self.low + (self.high - self.low) / 2)
        self.parts = self._integrals(self.low, self.high)

    def _refined(self, ys: np.ndarray) -> np.ndarray:
        """Return points with more of them where the kernels jump or bend."""
        low, high, added = ys[:-1], ys[1:], [ys]
        for _ in range(_HALVINGS):
            middle = low + (high - low) / 2
            parts = [
                self._integrals(*cells) for cells in ((low, high), (low, middle), (middle, high))
            ]
            off = np.abs(parts[0] - parts[1] - parts[2]).max(axis=0)
            cut = (off > _ROUGH) & (low < middle) & (middle < high)
            if not cut.any() or cut.sum() > len(ys):
                break
            added.append(middle[cut])
            low, high = (
                np.concatenate(v) for v in ((low[cut], middle[cut]), (middle[cut], high[cut]))
            )
        return np.unique(np.concatenate(added))

    def at(self, y: np.ndarray) -> np.ndarray:
        """Return k_x / f_Y for each secret (first axis)."""
        with np.errstate(all="ignore"):
            logs = self.rows.logs(y)
            return np.nan_to_num(np.exp(logs - self.rows.log_law(logs)), posinf=0.0)

    def _integrals(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return integrals over cells: of k_x for each secret, f_Y^2 / max_x k_x, and f_Y."""
        half = (high - low) / 2
        with np.errstate(all="ignore"):
            logs = self.rows.logs((low + half + half * _NODES[:, None]).ravel())
            law = self.rows.log_law(logs)
            all_ = np.nan_to_num(np.exp([*logs, 2 * law - logs.max(axis=0), law]))
        return np.einsum("k,ikc,c->ic", _WEIGHTS, all_.reshape(len(all_), len(_NODES), -1), half)

    def where(self, score: Score) -> tuple[Cells, np.ndarray]:
        """Return intervals on which a score is positive, and the probabilities of them.

        Parameters
        ----------
        score : callable
            Of the ratios k_x / f_Y (first axis: the secret).

        Returns
        -------
        tuple
            Pairs of ends; and the integrals over them (see `_integrals`).
        """
        above = np.concatenate([[False], score(self.ratios) > 0, [False]])
        ends = self._ends(np.flatnonzero(np.diff(above)), score).tolist()
        total = np.where(above[1:-1], self.parts, 0.0).sum(axis=1)
        places = np.searchsorted(self.ys, ends, "right") - 1
        # an end is in a cell that counts as a whole, or not at all
        for k, (end, at) in enumerate(zip(ends, places.tolist(), strict=True)):
            if not self.low[0] < end < self.high[-1]:
                continue
            inside, starts = above[at + 1], k % 2 == 0
            a, b = (self.ys[at], end) if starts == inside else (end, self.ys[at + 1])
            if a < b:
                part = self._integrals(np.array([a]), np.array([b]))[:, 0]
                total = total - part if inside else total + part
        return [(a, b) for a, b in zip(ends[::2], ends[1::2], strict=True) if a < b], total

    def _ends(self, k: np.ndarray, score: Score) -> np.ndarray:
        """Return where intervals end, or start, beside points of the grid."""
        ys, out = self.ys, np.array([self.rows.line[0], *self.ys[1:-1], self.rows.line[1]])[k]
        inner = k[(k > 0) & (k < len(ys) - 1)]
        if not len(inner):
            return out

        def over(y: np.ndarray) -> np.ndarray:
            return score(self.at(y.ravel())).reshape(y.shape)

        # a kernel may jump at the point itself
        before, after = (ys[inner - 1] + ys[inner]) / 2, (ys[inner] + ys[inner + 1]) / 2
        places = np.array([before, np.nextafter(ys[inner], -np.inf), ys[inner], after])
        signs = np.sign(over(places))
        turns = signs[::2] * signs[1::2] < 0
        side = np.where(turns[0], 0, 2)
        columns = np.arange(len(inner))
        brackets = places[side, columns], places[side + 1, columns]
        turned = turns.any(axis=0)
        if turned.any():
            found = elementwise.find_root(over, tuple(v[turned] for v in brackets)).x
            out[np.flatnonzero((k > 0) & (k < len(ys) - 1))[turned]] = found
        return out
