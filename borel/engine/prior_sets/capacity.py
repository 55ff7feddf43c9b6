r"""The largest mutual information over a convex set of priors: capacity over the set, with its gap.

For any law Q of the outcome and any prior P

.. math:: I(P; K) = \sum_x P(x) D(K_x \| Q) - D(P K \| Q) \le \sum_x P(x) D(K_x \| Q),

so that the upper expectation of x -> D(K_x || Q) bounds the supremum, for whatever Q was found;
members bound it from below. The search is Frank and Wolfe's: from one prior on, the corner that the
bound asks for joins the others, and scipy finds their weights.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from borel import settings
from borel.errors import BudgetSpent
from borel.numerics.intervals import batched
from borel.numerics.jets import elementary

_ROUNDS = 200
_GAP = 1e-12
_PATIENCE = 30


class Capacity(NamedTuple):
    """The largest mutual information over a set of priors, bounded from above.

    Attributes
    ----------
    prior : ndarray
        A prior near the best one.
    inside : bool
        Whether it is a member.
    law : ndarray
        A positive law Q of the outcome.
    upper : float
        The upper expectation of x -> D(K_x || Q).
    """

    prior: np.ndarray
    inside: bool
    law: np.ndarray
    upper: float


def capacity(prior_set: Any, kernel: np.ndarray, error: float) -> Capacity:
    """Bound the supremum of I(X;Y) over a convex set of priors on a finite alphabet.

    Parameters
    ----------
    prior_set : PriorSet
        The set.
    kernel : ndarray
        The matrix.
    error : float
        Relative error of its entries.
    """
    p, q, inside = _search(prior_set, kernel)
    tops = _divergences(kernel, q, error)
    upper = float(-prior_set.least(-tops[1][:, None]).lower[0])
    return Capacity(p, inside, _positive(q), upper)


def _search(prior_set: Any, kernel: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return a prior near the best one, its law of the outcome, and whether it is a member."""
    with np.errstate(divide="ignore", invalid="ignore"):
        entropies = -np.where(kernel > 0, kernel * np.log(kernel), 0.0).sum(axis=1)
    eye = np.eye(len(kernel))
    first = prior_set.least(np.hstack([eye, -eye]))
    inside = bool(first.members.any())  # mixtures of members are members
    middle = (first.prior.T[first.members] if inside else first.prior.T).mean(axis=0)
    corners, weights = [middle], np.ones(1)
    deadline = settings.search_deadline()
    best, late, gap = np.inf, 0, 1.0
    for _ in range(_ROUNDS):
        table = np.array(corners)
        weights = _weighted(weights, table @ kernel, table @ entropies, gap, deadline)
        p = weights @ table
        q = p @ kernel
        divergence = _plain(kernel, q)
        found = prior_set.least(-divergence[:, None])
        corner = found.prior[:, 0]
        gap = float(corner @ divergence - p @ divergence)
        late = 0 if gap < best / 2 else late + 1
        best = min(best, gap)
        if inside and not found.members[0]:
            break
        if gap <= _GAP or late > _PATIENCE or settings.late(deadline):
            break
        kept = weights > 1e-13
        corners = [c for c, k in zip(corners, kept, strict=True) if k] + [corner]
        weights = np.append(weights[kept], 0.0)
        weights /= weights.sum()
    return p, q, inside


def _weighted(
    weights: np.ndarray, rows: np.ndarray, own: np.ndarray, scale: float, deadline: float
) -> np.ndarray:
    """Return weights of corners that make H(sum w rows) - sum w own large.

    ``scale`` is about what can be gained: scipy's first step is the gradient, so that gains far
    below 1 would look like none. The loss is counted from the first weights: near the best ones
    it changes by far less than a rounding of its value.
    """
    from scipy.optimize import minimize

    start = np.maximum(weights, 1e-6)
    start = start / start.sum()
    law = start @ rows
    logs = np.log(np.maximum(law, 1e-300))
    slopes = rows @ logs + own
    slopes = slopes - start @ slopes  # weights sum to 1: a constant more changes nothing

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        if settings.late(deadline):
            raise BudgetSpent("the weights of corners were not found")
        settings.work("dense", 1, len(w) ** 3)
        step = w - start
        moved = np.divide(step @ rows, law, out=np.zeros_like(law), where=law > 0)
        logs = np.log1p(np.maximum(moved, -1 + 1e-16))
        value = step @ slopes + law @ ((1 + moved) * logs - moved)
        return float(value) / scale, (rows @ logs + slopes) / scale

    with suppress(BudgetSpent):
        found = minimize(
            loss,
            start,
            jac=True,
            method="SLSQP",
            bounds=[(0.0, 1.0)] * len(weights),
            constraints=[{"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like}],
            options={"maxiter": 200, "ftol": 1e-15},
        )
        best = np.maximum(found.x, 0.0)
        best = best / best.sum()
        return best if loss(best)[0] <= loss(weights)[0] else weights
    return weights


def _plain(kernel: np.ndarray, q: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = kernel * (np.log(kernel) - np.log(np.maximum(q, 1e-320)))
    return np.where(kernel > 0, terms, 0.0).sum(axis=1)


def _positive(q: np.ndarray) -> np.ndarray:
    """Return a law near q, mixed with the uniform one, that sums to at most 1."""
    mixed = q * (1 - 1e-13) + 1e-13 / len(q)
    return mixed / mixed.sum() * (1 - len(q) * batched.EPS)


def _divergences(kernel: np.ndarray, q: np.ndarray, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Enclose D(K_x || Q) for the kernels within a relative error, and a positive Q."""
    mixed = _positive(q)
    spread = 1.001 * error + batched.EPS
    k = kernel * (1 - spread), kernel * (1 + spread)
    live = kernel > 0
    safe = np.where(live, k[0], 1.0), np.where(live, k[1], 1.0)
    ratio = batched.divide(safe, batched.point(np.broadcast_to(mixed, kernel.shape)))
    logs = elementary.logarithm((ratio[0][None], ratio[1][None]), 0)
    terms = batched.multiply(safe, (logs[0][0], logs[1][0]))
    terms = np.where(live, terms[0], 0.0), np.where(live, terms[1], 0.0)
    return batched.total(terms, axis=1)
