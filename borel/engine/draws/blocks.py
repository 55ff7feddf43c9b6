"""Leakage over many priors at once: blocks of draws against one kernel, never (draw, x, y).

Finite alphabets give an enclosure for each draw (a BLAS product with its rounding bound); integrals
over continuous priors are quadrature sums, estimates.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.draws.laws import DrawLaws
from borel.engine.draws.measures import DrawMeasures
from borel.engine.draws.parts import Part, PerDraw, logs_of
from borel.errors import InvalidInput
from borel.numerics.intervals import rounding
from borel.numerics.intervals.rounding import U, compounded
from borel.probability.arrays import as_floats, rounding_allowed, row_miss
from borel.probability.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from borel.probability.joint import Joint


_CACHED = 128
_KEPT = 1 << 18
"""Draws times labels, of secrets and outcomes: of more than that no block is kept."""


class FiniteDraws(DrawMeasures, DrawLaws):
    """Enclosures of leakages and other measures for every draw of a finite prior."""

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
        self._memo = Memo()

    @cached_property
    def _extremes(self) -> tuple[np.ndarray, np.ndarray]:
        return self.matrix.max(axis=0), self.matrix.min(axis=0)

    # -- draws, block by block, support by support ------------------------------------------------

    def over_draws(self, compute: Callable[[Part], tuple], kernel: np.ndarray | None = None) -> Any:
        """Return what ``compute`` gives of every `Part`, in the order of the draws.

        ``compute`` returns arrays whose first axis is the draws of the part.
        """
        found: list[tuple] = []
        for parts in self._parts if kernel is None else self._blocks(kernel):
            with np.errstate(all="ignore"):  # what was lost to float64 is told apart by its size
                found.append(_in_order([(rows, compute(part)) for rows, part in parts]))
        return tuple(np.concatenate(arrays) for arrays in zip(*found, strict=True))

    @property
    def _parts(self) -> Iterable[list[tuple[np.ndarray, Part]]]:
        """The draws in blocks, against the whole kernel; a law asks for them at every level."""
        prior, kernel = self.joint.prior, self.matrix
        if prior.size * sum(kernel.shape) > _KEPT:
            return self._blocks(kernel)
        return self._memo.fact("parts", lambda: list(self._blocks(kernel)))

    def _blocks(self, kernel: np.ndarray) -> Iterator[list[tuple[np.ndarray, Part]]]:
        """Yield, for each block of draws, its rows by the secrets that they charge."""
        for _, prior in self.joint.prior.blocks():
            p = as_floats(prior.at(self.joint.mechanism.secret), "draws of Fractions")
            if p.min() > 0:
                yield [(np.arange(len(p)), self._part(p, kernel, prior._rounding))]
                continue
            # the extremes run over the support of each draw: one pass per support that occurs
            support, which = np.unique(p > 0, axis=0, return_inverse=True)
            groups = [np.flatnonzero(np.ravel(which) == i) for i in range(len(support))]
            yield [
                (rows, self._part(p[rows][:, on], kernel[on], prior._rounding))
                for rows, on in zip(groups, support, strict=True)
            ]

    def _part(self, p: np.ndarray, kernel: np.ndarray, prior_rounding: float) -> Part:
        n, whole = p.shape[1], kernel is self.matrix
        top, bottom = self._extremes if whole else (kernel.max(axis=0), kernel.min(axis=0))
        miss = float(row_miss(p, exactly=False).max())
        # the prior's rounding, the kernel's, and that of a product of n terms in any order
        if not miss <= 4 * (rounding_allowed(n) + prior_rounding):
            raise InvalidInput(
                "learnt * mech",
                expected="priors that sum to 1 to their rounding",
                got=f"a sum that misses 1 by {miss:.3g}",
                mend="divide each draw by its own sum.",
            )
        own = max(miss, prior_rounding)
        error = compounded(own, self.rounding, (n + 4) * U)
        return Part(p, kernel, top, bottom, own, self.rounding, error)

    # -- PML and PMC ------------------------------------------------------------------------------

    def sup(self, kind: str) -> PerDraw:
        """Enclose the supremum over outcomes for every draw."""
        return PerDraw(*self.over_draws(lambda part: self._largest(part, kind)))

    def at(self, kind: str, y: Any) -> PerDraw:
        """Enclose the leakage at one outcome for every draw."""
        column = int(self.joint.outcome.positions(y))
        kernel = np.ascontiguousarray(self.matrix[:, column : column + 1])
        return PerDraw(*self.over_draws(lambda part: self._largest(part, kind), kernel))

    def at_many(self, kind: str, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the leakage at outcomes for every draw, shape (draws, outcomes) each."""
        columns = self.joint.outcome.positions(ys if ys.dtype != object else list(ys))
        kernel = np.ascontiguousarray(self.matrix[:, np.asarray(columns)])
        low, high = self.over_draws(lambda part: self.leakages(part, kind)[:2], kernel)
        return low, high

    def event_leakage(self, columns: np.ndarray) -> PerDraw:
        """Enclose log max_x P(E|x) / P(E) for an event of outcomes."""
        kernel = self.matrix[:, columns].sum(axis=1, keepdims=True)

        def compute(part: Part) -> tuple:
            return self._largest(part, "pml", more=2 * (len(columns) + 1) * U)

        return PerDraw(*self.over_draws(compute, kernel))

    def _largest(self, part: Part, kind: str, more: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the largest leakage; ``more`` is a further relative error of the kernel."""
        extreme = part.top if kind == "pml" else part.bottom
        if extreme.min() > 2.0**-900:
            # the usual case, without masks: the largest ratio, widened by the largest error
            ratio = _largest_ratios(kind, part.p, part.kernel, extreme)
            # a PML ratio below this bound means that no marginal was lost to underflow; that of
            # PMC is never below the smallest entry of its column
            if ratio.max() < 2.0**900 * (extreme.min() if kind == "pml" else 1.0):
                own = rounding.rounding_of(extreme, self.rounding).max()
                error = own + part.error + 2 * U + 2 * more
                return logs_of(ratio, np.full(len(ratio), error), least=0.0)
        low, high, _ = self.leakages(part, kind, more)
        return low.max(axis=1), high.max(axis=1)

    def leakages(self, part: Part, kind: str, more: float = 0.0) -> tuple[np.ndarray, ...]:
        """Enclose the leakage at every outcome, (draws, m) each; the marginal comes third."""
        extreme = part.top if kind == "pml" else part.bottom
        own = rounding.rounding_of(extreme, self.rounding)
        marginal = part.marginal
        live = part.live
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = extreme / marginal if kind == "pml" else marginal / extreme
        ratio = np.where(live, ratio, 1.0)
        # float64 lost the marginal, or the quotient: nothing is claimed for these
        lost = live & (marginal < 2.0**-960) | live & ~(ratio >= 2.0**-900) & (extreme > 0)
        infinite = live & (extreme == 0)
        error = own + part.error + 2 * U + 2 * more
        relative = np.broadcast_to(np.where(live, error, 0.0), ratio.shape)
        settled = np.where(lost | infinite | ~np.isfinite(ratio), 1.0, ratio)
        low, high = logs_of(settled, relative, least=0.0)
        over = ~np.isfinite(ratio) & ~infinite
        low = np.where(infinite, np.inf, np.where(lost | over, 0.0, low))
        high = np.where(infinite | lost | over, np.inf, high)
        return low, high, marginal


def _in_order(found: list[tuple[np.ndarray, tuple]]) -> tuple[np.ndarray, ...]:
    """Return arrays of groups of rows as arrays of all rows."""
    if len(found) == 1:
        return found[0][1]
    rows = np.argsort(np.concatenate([rows for rows, _ in found]))
    arrays = zip(*(arrays for _, arrays in found), strict=True)
    return tuple(np.concatenate(parts)[rows] for parts in arrays)


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
