"""Privacy profiles of finite kernels: the worst pair of secrets, or of a secret and the marginal.

Pairs are compared in float64; those that may be the worst are computed from exact ends. Pairs
whose columns are permutations of each other are computed once.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.hockey_sticks import finite_beyond, finite_excess, probability_of
from borel.engine.rounding import U

if TYPE_CHECKING:
    from borel.bound import Bound
    from borel.engine.hockey_sticks import Threshold

_BLOCK = 4_000_000
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
    n = len(engine.support)
    if n < 2:
        return probability_of(Fraction(0), Fraction(0), engine.bound)
    pairs = _candidates(engine, threshold) if what == "excess" else None
    if pairs is None:
        pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    labels = [engine.mechanism.secret.labels[k] for k in engine.support]
    return _largest(
        engine,
        [(*pair, engine._row_ends(pair[1])) for pair in pairs],
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
    )


def _largest(engine: Any, pairs: list, compute: Any, threshold: Threshold, witness: Any) -> Bound:
    seen: dict[Any, tuple] = {}
    for i, j, other in pairs:
        row = engine._row_ends(i)
        key = tuple(sorted(zip(*row, *other, strict=True)))
        if key not in seen:
            seen[key] = (*compute(row, other, threshold), i, j)
    low = max(v[0] for v in seen.values())
    high = max(v[1] for v in seen.values())
    best = max(seen.values(), key=lambda v: v[:2])
    return probability_of(low, high, engine.bound, witness=witness(*best[2:]), attained=True)


def _float_factor(threshold: Threshold) -> float:
    """Return about e^epsilon, at most 1e300."""
    low = threshold.ends()[0]
    return 1e300 if low > Fraction(10) ** 300 else float(low)


def _candidates(engine: Any, threshold: Threshold) -> list[tuple[int, int]] | None:
    """Return the ordered pairs that may have the largest excess; None if float64 is too coarse.

    A term (p - c q)^+ errs by less than 2.2 e + 4 u of p where it is positive or nearly so, and p
    sums to 1; the sum errs by m u.
    """
    values = engine._floats
    if values is None:
        return None
    k = values.kernel
    n, m = k.shape
    multiple = _float_factor(threshold) * k
    found = np.full((n, n), -math.inf)
    step = max(1, _BLOCK // (n * m))
    for start in range(0, n, step):
        rows = k[start : start + step]
        found[start : start + step] = np.maximum(rows[:, None] - multiple, 0.0).sum(axis=2)
    np.fill_diagonal(found, -math.inf)
    error = 2.2 * values.kernel_error + (m + 16) * U
    i, j = np.nonzero(found >= found.max() - 2 * error)
    return list(zip(i.tolist(), j.tolist(), strict=True))
