"""Leakage over many priors at once: blocks of draws against one kernel, never (draw, x, y).

Finite alphabets give an enclosure for each draw (a BLAS product with its rounding bound); integrals
over continuous priors are quadrature sums, estimates.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine import rounding
from borel.engine.rounding import Scaled, U, log_ratio_bounds
from borel.errors import InvalidInput, NotYet
from borel.probabilities import as_floats, rounding_allowed

if TYPE_CHECKING:
    from borel.joint import Joint
    from borel.measures import Measure


_CACHED = 128


def draws_engine(joint: Joint) -> Any:
    """Return the engine for a joint with a random prior."""
    if joint.mechanism.finite and joint.prior.on.kind == "finite":
        return FiniteDraws(joint)
    from borel.engine.estimate_draws import EstimateDraws

    if joint.prior.on.dim > 1 or joint.outcome.dim > 1:
        raise NotYet("learnt * mech", missing="products of alphabets that are not finite")
    return EstimateDraws(joint)


class FiniteDraws:
    """Enclosures of PML or PMC for every draw of a finite prior."""

    def __init__(self, joint: Joint):
        self.joint = joint
        self.reason = joint.mechanism.unproved
        self.status = "estimate" if self.reason else "exact"
        self.matrix = np.ascontiguousarray(
            as_floats(joint.mechanism.matrix, "a matrix of Fractions under random priors")
        )
        # Fractions were rounded to floats just now
        self.rounding = max(joint.mechanism.rounding, U)
        self.assumptions = ("floats mean the normalised laws within their rounding",)

    @cached_property
    def _whole(self) -> tuple[np.ndarray, np.ndarray]:
        return self.matrix.max(axis=0), self.matrix.min(axis=0)

    def sup(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the supremum over outcomes for every draw, shape (draws,) each."""
        return self._over_draws(kind, slice(None), reduce=True)

    def at(self, kind: str, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the leakage at one outcome for every draw."""
        column = int(self.joint.outcome.positions(y))
        return self._over_draws(kind, slice(column, column + 1), reduce=True)

    def at_many(self, kind: str, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the leakage at outcomes for every draw, shape (draws, outcomes) each."""
        columns = self.joint.outcome.positions(ys if ys.dtype != object else list(ys))
        return self._over_draws(kind, np.asarray(columns), reduce=False)

    def ldp(self) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the LDP level on the support of every draw."""
        return self._over_draws("ldp", slice(None), reduce=True)

    def mutual_information(self) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the mutual information for every draw.

        Notes
        -----
        I = sum_x p(x) sum_y k log k - sum_y m log m, with n secrets, m outcomes and unit roundoff
        u. Both sums are at most log m in size; the sums, products and logarithms err by less than
        2 (n + m + 10) u (log m + 1), and inputs off by a relative d move I by at most
        2 d (log m + 1); four times that covers all.
        """
        n, m = self.matrix.shape
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = np.where(self.matrix > 0, self.matrix * np.log(self.matrix), 0.0).sum(axis=1)
        lows, highs = [], []
        for _, prior in self.joint.prior.blocks():
            p = np.asarray(prior.at(self.joint.mechanism.secret), float)
            marginal = p @ self.matrix
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = np.where(marginal > 0, marginal * np.log(marginal), 0.0)
            value = p @ rows - terms.sum(axis=1)
            inputs = rounding_allowed(n) * 2 + prior._rounding + self.rounding
            error = 8 * ((n + m + 10) * U + inputs) * (np.log(m) + 1)
            lows.append(np.maximum(value - error, 0.0))
            highs.append(np.maximum(value + error, 0.0))
        return np.concatenate(lows), np.concatenate(highs)

    def _over_draws(self, kind: str, columns: Any, *, reduce: bool):
        ends: tuple[list, list] = ([], [])
        for _, prior in self.joint.prior.blocks():
            found = self._block(kind, prior, columns, reduce)
            for mine, new in zip(ends, found, strict=True):
                mine.append(new)
        return np.concatenate(ends[0]), np.concatenate(ends[1])

    def _block(self, kind: str, prior: Measure, columns: Any, reduce: bool):
        p = np.asarray(prior.at(self.joint.mechanism.secret), float)
        if p.min() > 0:
            top, bottom = (extreme[columns] for extreme in self._whole)
            return self._enclose(kind, p, columns, top, bottom, reduce, prior._rounding)
        # the extremes run over the support of each draw: one pass per support that occurs
        support, which = np.unique(p > 0, axis=0, return_inverse=True)
        which = np.ravel(which)
        out: Any = None
        for i, rows in enumerate(support):
            mine = which == i
            part = self.matrix[rows][:, columns]
            low, high = self._enclose(
                kind,
                p[mine],
                columns,
                part.max(axis=0),
                part.min(axis=0),
                reduce,
                prior._rounding,
            )
            if out is None:
                shape = (len(p), *low.shape[1:])
                out = np.empty(shape), np.empty(shape)
            out[0][mine], out[1][mine] = low, high
        return out

    def _enclose(self, kind, p, columns, top, bottom, reduce: bool, prior_rounding: float):
        if kind == "ldp":
            return self._levels(len(p), top, bottom)
        n = p.shape[1]
        miss = float(np.abs(p @ np.ones(n) - 1.0).max()) + n * U
        # the prior's rounding, the kernel's, and that of a product of n terms in any order
        if miss > 4 * (rounding_allowed(n) + prior_rounding):
            raise InvalidInput(
                "learnt * mech",
                expected="priors that sum to 1 to their rounding",
                got=f"a sum that misses 1 by {miss:.3g}",
                mend="divide each draw by its own sum.",
            )
        error = (max(miss, prior_rounding) + self.rounding + (n + 4) * U) * 1.0001
        extreme = top if kind == "pml" else bottom
        own = rounding.rounding_of(extreme, self.rounding)
        kernel = self.matrix[:, columns]
        if reduce and extreme.min() > 2.0**-900:
            # the usual case, without masks: the largest ratio, widened by the largest error
            ratio = _largest_ratios(kind, p, kernel, extreme)
            # a PML ratio below this bound means that no marginal was lost to underflow; that of
            # PMC is never below the smallest entry of its column
            if ratio.max() < 2.0**900 * (extreme.min() if kind == "pml" else 1.0):
                return _logs(ratio, np.full(len(ratio), own.max() + error + 2 * U), least=0.0)
        marginal = p @ kernel
        live = top > 0
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = extreme / marginal if kind == "pml" else marginal / extreme
        ratio = np.where(live, ratio, 1.0)
        # float64 lost the marginal, or the quotient: nothing is claimed for these
        lost = live & (marginal < 2.0**-960) | live & ~(ratio >= 2.0**-900) & (extreme > 0)
        infinite = live & (extreme == 0)
        relative = np.broadcast_to(np.where(live, own + error + 2 * U, 0.0), ratio.shape)
        settled = np.where(lost | infinite | ~np.isfinite(ratio), 1.0, ratio)
        low, high = _logs(settled, relative, least=0.0)
        over = ~np.isfinite(ratio) & ~infinite
        low = np.where(infinite, np.inf, np.where(lost | over, 0.0, low))
        high = np.where(infinite | lost | over, np.inf, high)
        return (low.max(axis=1), high.max(axis=1)) if reduce else (low, high)

    def _levels(self, count: int, top: np.ndarray, bottom: np.ndarray):
        """Enclose the LDP level of one support, the same for ``count`` draws."""
        live = top > 0
        top, bottom = top[live], bottom[live]
        if (bottom == 0).any():
            return np.full(count, np.inf), np.full(count, np.inf)
        own = self.rounding
        num, den = (rounding.scaled(v, rounding.rounding_of(v, own)) for v in (top, bottom))
        low, high = log_ratio_bounds(num, den)
        return np.full(count, max(low.max(), 0.0)), np.full(count, max(high.max(), 0.0))


def _largest_ratios(kind: str, p: np.ndarray, kernel: np.ndarray, extreme: np.ndarray):
    """Return the largest e^leakage of every draw, a few draws at a time, in the cache."""
    out = np.empty(len(p))
    with np.errstate(divide="ignore", over="ignore"):
        for start in range(0, len(p), _CACHED):
            ratio = p[start : start + _CACHED] @ kernel
            if kind == "pml":
                np.divide(extreme, ratio, out=ratio)
            else:
                ratio /= extreme
            ratio.max(axis=1, out=out[start : start + _CACHED])
    return out


def _logs(ratio: np.ndarray, error: np.ndarray, *, least: float) -> tuple[np.ndarray, np.ndarray]:
    one = Scaled(np.ones(1), np.zeros(1), np.zeros(1, int), np.zeros(1))
    low, high = log_ratio_bounds(rounding.scaled(ratio, error), one)
    return np.maximum(low, least), np.maximum(high, least)
