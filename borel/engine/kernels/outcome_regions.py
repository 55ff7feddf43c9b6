"""Probabilities of outcomes on which the densities of a finite secret compare in a way, in float64.

They prove nothing: what is found with them is proved afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from borel import settings
from borel.errors import BudgetSpent
from borel.probability.memo import Memo

if TYPE_CHECKING:
    from borel.engine.kernels.rows import Rows

Score = Callable[[np.ndarray], np.ndarray]
Cells = list[tuple[float, float]]
_FAR, _FAR_POINTS = (1e3, 1e15), 400
_NOTHING = -700.0
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
        self.rows, self.memo = rows, Memo()
        line, far = rows.line, np.geomspace(*_FAR, _FAR_POINTS)
        ends = [v for v in line if math.isfinite(v)]
        ends += [*(far if line[1] == math.inf else ()), *(-far if line[0] == -math.inf else ())]
        self.ys = np.zeros(0)
        self.places = np.zeros((0, 3))
        self.parts = np.zeros((len(rows.points) + 2, 0))
        self.ratios = np.zeros((len(rows.points), 0, 3))
        self.add(self._refined(np.unique([*rows.grid(), *rows.marks, *ends])))

    def add(self, points: np.ndarray) -> None:
        """Look at more outcomes: none but a part between two of them is overlooked."""
        ys = np.unique(np.concatenate([self.ys, points]))
        low, high = ys[:-1], ys[1:]
        old = np.searchsorted(self.ys[:-1], low)
        same = np.zeros(len(low), bool)
        if len(self.ys):
            old = np.minimum(old, len(self.ys) - 2)
            same = (self.ys[old] == low) & (self.ys[old + 1] == high)
        fresh, old = ~same, old[same]
        # a kernel may jump at a point of the grid: there are places on both sides of it
        middle = low + (high - low) / 2
        places = np.array([np.nextafter(low, high), middle, np.nextafter(high, low)]).T
        parts = np.zeros((len(self.parts), len(low)))
        ratios = np.zeros((len(self.ratios), len(low), 3))
        parts[:, same], parts[:, fresh] = (
            self.parts[:, old],
            self._integrals(low[fresh], high[fresh]),
        )
        ratios[:, same] = self.ratios[:, old]
        ratios[:, fresh] = self.at(places[fresh].ravel()).reshape(len(ratios), -1, 3)
        self.ys, self.places, self.parts, self.ratios = ys, places, parts, ratios

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
            law = self.rows.log_law(logs)
            return np.where(law > _NOTHING, np.nan_to_num(np.exp(logs - law)), 0.0)

    def _integrals(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return integrals over cells: of k_x for each secret, f_Y^2 / max_x k_x, and f_Y."""
        half = (high - low) / 2
        with np.errstate(all="ignore"):
            logs = self.rows.logs((low + half + half * _NODES[:, None]).ravel())
            law = self.rows.log_law(logs)
            all_ = np.nan_to_num(np.exp([*logs, 2 * law - logs.max(axis=0), law]))
        return np.einsum("k,ikc,c->ic", _WEIGHTS, all_.reshape(len(all_), len(_NODES), -1), half)

    def where(self, score: Score, known: np.ndarray | None = None) -> tuple[Cells, np.ndarray]:
        """Return intervals on which a score is positive, and the probabilities of them.

        Parameters
        ----------
        score : callable
            Of the ratios k_x / f_Y (first axis: the secret).
        known : ndarray, optional
            What it is at `ratios`, one after the other.

        Returns
        -------
        tuple
            Pairs of ends; and the integrals over them (see `_integrals`).
        """
        if settings.spent():
            raise BudgetSpent("the outcomes that tell most were not found")
        if known is None:
            known = score(self.ratios.reshape(len(self.ratios), -1))
        above = np.concatenate([[False], known > 0, [False]])
        ends = self._ends(np.flatnonzero(np.diff(above)), score)
        inside = np.clip(ends, self.ys[0], self.ys[-1])
        at = np.clip(np.searchsorted(self.ys, inside, "right") - 1, 0, len(self.ys) - 2)
        rest = self._integrals(self.ys[at], inside)
        total = rest[:, 1::2].sum(axis=1) - rest[:, ::2].sum(axis=1)
        for a, b in zip(at[::2], at[1::2], strict=True):  # a small part is no difference of sums
            total += self.parts[:, a:b].sum(axis=1)
        return [(a, b) for a, b in zip(*[iter(ends.tolist())] * 2, strict=True) if a < b], total

    def _ends(self, k: np.ndarray, score: Score) -> np.ndarray:
        """Return where intervals end, or start: between the place before k and that one."""
        places = self.places.ravel()
        edges = np.concatenate([self.rows.line[:1], self.ys[1:-1], self.rows.line[1:]])
        out = edges[np.minimum((k + 2) // 3, len(edges) - 1)]
        inner = (k > 0) & (k < len(places)) & (k % 3 != 0)
        if inner.any():
            from scipy.optimize import elementwise

            brackets = places[k[inner] - 1], places[k[inner]]
            out[inner] = elementwise.find_root(lambda y: self._scored(y, score), brackets).x
        return out

    def _scored(self, y: np.ndarray, score: Score) -> np.ndarray:
        return score(self.at(y.ravel())).reshape(y.shape)
