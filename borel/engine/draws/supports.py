"""Figures of draws that charge different labels or atoms: those of one support at a time.

The extremes of the kernel run over the secrets that a draw charges, so that draws of one support
share them, and no others (`enclosed`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import settings
from borel.engine.draws.enclosed import EnclosedDraws, charged_by
from borel.engine.draws.line_laws import LineLaws
from borel.engine.draws.narrow_draws import some_of
from borel.engine.draws.outcome_lines import Lines
from borel.engine.draws.parts import PerDraw
from borel.errors import NotEnclosed
from borel.probability.bound import weakest
from borel.probability.joint import Joint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from borel.engine.continuous.engine import CertifiedEngine
    from borel.engine.draws.engine import DrawsEngine
    from borel.probability.measure import Measure

_MOST = 64
"""Supports, at most: each has an engine of its own."""


def enclosed_draws(joint: Joint, certified: Callable[[Joint], CertifiedEngine]) -> DrawsEngine:
    """Return an engine of enclosures for every draw.

    Raises
    ------
    NotEnclosed
        As `EnclosedDraws` does; or draws of too many supports.
    """
    found = [charged_by(priors) for _, priors in joint.prior.blocks()]
    charged = [table for table in found if table is not None]
    if not charged:
        return EnclosedDraws(joint, certified)
    _, which = np.unique(np.concatenate(charged), axis=0, return_inverse=True)
    count = int(which.max()) + 1
    if count == 1:
        return EnclosedDraws(joint, certified)
    if count > _MOST:
        raise NotEnclosed(f"the draws charge {count} different sets of secrets")
    rows = [np.flatnonzero(np.ravel(which) == k) for k in range(count)]
    parts = [Joint(SomeDraws(joint.prior, own), joint.mechanism) for own in rows]
    engines = settings.each(lambda part: EnclosedDraws(part, certified), parts)
    return DrawsBySupport(joint, rows, engines)


class SomeDraws:
    """Some draws of a random prior.

    Parameters
    ----------
    prior : PosteriorPriors
        All draws.
    rows : ndarray of int
        Their positions, in order.
    """

    def __init__(self, prior: Any, rows: np.ndarray):
        self.prior, self.rows = prior, rows
        self.on, self.size, self._template = prior.on, len(rows), prior._template

    def blocks(self) -> Iterator[tuple[slice, Measure]]:
        """Yield slices of these draws with their priors."""
        start = 0
        for block, priors in self.prior.blocks():
            own = self.rows[(block.start <= self.rows) & (self.rows < block.stop)]
            if len(own):
                yield slice(start, start + len(own)), some_of(priors, own - block.start)
                start += len(own)


class _Owned(NamedTuple):
    """Some draws of an engine."""

    engine: EnclosedDraws
    part: Any

    @property
    def size(self) -> int:
        return self.part.size


class DrawsBySupport(LineLaws):
    """Figures of draws, each by the engine of those of its support.

    Parameters
    ----------
    joint : Joint
        ``learnt * mech``.
    rows : list of ndarray
        The positions of the draws of each engine.
    engines : list of EnclosedDraws
        Those of the supports.
    """

    def __init__(self, joint: Joint, rows: list[np.ndarray], engines: list[EnclosedDraws]):
        self.joint, self.rows, self.engines = joint, rows, engines
        self.status, self.reason = weakest([e.status for e in engines]), ""
        self.assumptions = tuple(dict.fromkeys(a for e in engines for a in e.assumptions))

    def _in_order(self, parts: list[np.ndarray]) -> np.ndarray:
        return np.concatenate(parts)[np.argsort(np.concatenate(self.rows))]

    def figure(self, name: str, *arguments: Any) -> PerDraw:
        """Compute a figure by its name."""
        found = settings.each(lambda e: e.figure(name, *arguments), self.engines)
        low, high = (self._in_order([f[k] for f in found]) for k in (0, 1))
        statuses = [f.status or e.status for f, e in zip(found, self.engines, strict=True)]
        reason = next((f.reason for f in found if f.reason), "")
        return found[0]._replace(lower=low, upper=high, status=weakest(statuses), reason=reason)

    def at(self, kind: str, y: Any) -> PerDraw:
        """Enclose the leakage at one outcome for every draw."""
        return self.figure("at", kind, y)

    def sup(self, kind: str) -> PerDraw:
        """Enclose the supremum over the outcomes for every draw."""
        return self.figure("sup", kind)

    def at_many(self, kind: str, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the leakage at outcomes for every draw, shape (draws, outcomes) each."""
        found = settings.each(lambda e: e.at_many(kind, ys), self.engines)
        low, high = (self._in_order([f[k] for f in found]) for k in (0, 1))
        return low, high

    # -- all draws together, as quantiles over draws and outcomes need them -----------------------

    def over_draws(self, compute: Callable[[Any], tuple]) -> Any:
        """Return what is computed of some draws at a time, in the order of all of them."""
        found = [e.over_draws(lambda part, e=e: compute(_Owned(e, part))) for e in self.engines]
        return tuple(self._in_order(list(parts)) for parts in zip(*found, strict=True))

    def lines(self, part: _Owned, kind: str) -> Lines:
        """Return the law of the leakage for some draws."""
        return part.engine.lines(part.part, kind)
