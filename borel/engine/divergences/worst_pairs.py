"""Privacy profiles of finite kernels: the worst pair of secrets, or of a secret and the marginal.

Pairs are compared in float64; those that may be the worst are computed from exact ends. Pairs
whose columns are permutations of each other are computed once.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.divergences.hockey_sticks import finite_beyond, finite_excess, probability_of
from borel.numerics.intervals.rounding import U

if TYPE_CHECKING:
    from borel.engine.problem.thresholds import Threshold
    from borel.probability.bound import Bound

_BLOCK, _MOST = 4_000_000, 20_000_000
_COMPUTED = {"excess": finite_excess, "beyond": finite_beyond}


def worst_pair(engine: Any, threshold: Threshold, what: str) -> Bound:
    """Enclose the largest figure over ordered pairs of secrets of the support.

    Parameters
    ----------
    engine : FiniteEngine
        Rows are its secrets of positive probability.
    threshold : Threshold
        epsilon.
    what : {"excess", "beyond"}
        (P_x - e^epsilon P_x')^+ in total, or P_x{L > epsilon}.
    """
    return worst_pair_ends(engine, threshold, what)[0]


def worst_pair_ends(
    engine: Any, threshold: Threshold, what: str
) -> tuple[Bound, Fraction, Fraction]:
    """Return the figure of `worst_pair` and its ends before rounding, equal for Fractions."""
    n = len(engine.support)
    if n < 2:
        none = Fraction(0)
        return probability_of(none, none, engine.bound), none, none
    labels = [engine.mechanism.secret.labels[k] for k in engine.support]
    return _largest(
        engine,
        [
            (*pair, engine._row_ends(pair[1]))
            for pair in _distinct(engine, *_candidates(engine, threshold, what))
        ],
        _COMPUTED[what],
        threshold,
        lambda i, j: {"x": labels[i], "x'": labels[j]},
    )


def worst_against_marginal(engine: Any, threshold: Threshold) -> Bound:
    """Enclose the largest (P_x - e^epsilon P_Y)^+ in total over the secrets of the support."""
    if engine._single:
        return probability_of(Fraction(0), Fraction(0), engine.bound)
    labels = [engine.mechanism.secret.labels[k] for k in engine.support]
    rows = range(len(labels))
    if engine._floats is not None:
        k, q = engine._floats.kernel, engine._floats.marginal
        factor = _float_factor(threshold)
        found = np.maximum(k - factor * q, 0.0).sum(axis=1)
        error = 2.2 * (engine._floats.kernel_error + engine._floats.marginal_error)
        error += (k.shape[1] + 16) * U
        rows = np.flatnonzero(found + error >= found.max() - error).tolist()
    law = engine._law_ends
    return _largest(
        engine,
        [(i, i, law) for i in rows],
        finite_excess,
        threshold,
        lambda i, _: {"x": labels[i]},
    )[0]


def _largest(
    engine: Any, pairs: list, compute: Any, threshold: Threshold, witness: Any
) -> tuple[Bound, Fraction, Fraction]:
    found = [(*compute(engine._row_ends(i), row, threshold), i, j) for i, j, row in pairs]
    low, high = (max(v[k] for v in found) for k in (0, 1))
    best = max(found, key=lambda v: v[:2])
    about = {"witness": witness(*best[2:]), "attained": True}
    return probability_of(low, high, engine.bound, **about), low, high


def _float_factor(threshold: Threshold) -> float:
    """Return about e^epsilon, at most 1e300."""
    low = threshold.ends()[0]
    return 1e300 if low > Fraction(10) ** 300 else float(low)


def _candidates(engine: Any, threshold: Threshold, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the ordered pairs that may have the largest figure.

    A term (p - c q)^+ errs by less than 2.2 e + 4 u of p where it is positive or nearly so, and p
    sums to 1; the sum errs by m u. p > c q is decided by floats unless they are within 2.2 e + 4 u.
    """
    n, values = len(engine.support), engine._floats
    if values is None:
        found = np.zeros((2, n, n))
    else:
        k = values.kernel
        m = k.shape[1]
        own = 2.2 * values.kernel_error + 8 * U
        error = own + (m + 16) * U
        multiple = _float_factor(threshold) * k
        found = np.zeros((2, n, n))
        step = max(1, _BLOCK // (n * m))
        for start in range(0, n, step):
            part = slice(start, start + step)
            rows = k[part][:, None]
            if what == "excess":
                found[:, part] = np.maximum(rows - multiple, 0.0).sum(axis=2)
            else:
                for side, slack in enumerate((1 + own, 1 - own)):
                    found[side, part] = np.where(rows > multiple * slack, rows, 0.0).sum(axis=2)
        found[0] -= error
        found[1] += error
    found[:, np.arange(n), np.arange(n)] = -math.inf
    i, j = np.nonzero(found[1] >= found[0].max())
    return i, j


def _distinct(engine: Any, i: np.ndarray, j: np.ndarray) -> list[tuple[int, int]]:
    """Keep one of the pairs whose columns, pairs of entries, are permutations of each other."""
    rows = engine.mechanism.matrix[np.ix_(engine.support, engine._live)]
    if len(i) * rows.shape[1] > _MOST:
        return list(zip(i.tolist(), j.tolist(), strict=True))
    names = np.unique(rows, return_inverse=True)[1].reshape(rows.shape)
    codes = np.sort(names[i] * (names.max() + 1) + names[j], axis=1)
    kept = np.unique(codes, axis=0, return_index=True)[1]
    return list(zip(i[kept].tolist(), j[kept].tolist(), strict=True))
