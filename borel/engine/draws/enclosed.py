"""Enclosures of PML and PMC for every draw of a prior with a density, or on integers.

The extremes of the kernel over the secrets depend on the null sets of the prior alone, which all
draws share: their densities are positive almost everywhere on one interval, or they have mass at
every integer. They are those of one law there. f_Y of all draws is one product of matrices
(`kernel_integrals`). Over outcomes, boxes are cut that may hold the supremum of some draw.
"""

from __future__ import annotations

import math
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.draws.count_masses import CountMasses, typical
from borel.engine.draws.density_cells import DensityCells
from borel.engine.draws.estimates import EstimateDraws
from borel.engine.draws.kernel_integrals import integrals, marginals
from borel.engine.draws.outcome_boxes import OutcomeBoxes
from borel.engine.draws.parts import PerDraw
from borel.engine.estimates.engine import REASON
from borel.engine.infinite.proofs import prove_at
from borel.engine.kernels.quadrature_rules import Outcomes
from borel.engine.problem.binary_constants import rounded
from borel.engine.problem.secret_and_kernel import POSITIVE_COUNTS, Secret, Surface
from borel.errors import NotEnclosed
from borel.numerics.intervals import batched
from borel.numerics.jets.elementary import logarithm
from borel.probability.alphabets import Interval
from borel.probability.families import normal, uniform
from borel.probability.joint import Joint
from borel.probability.measure import Measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.engine.continuous.engine import CertifiedEngine
    from borel.numerics.intervals.batched import Box
    from borel.probability.bound import Bound

Draws = DensityCells | CountMasses
WIDTH = 1e-6
"""Width, in nats, at which a supremum is not looked at more closely, whatever the tolerance."""
_OPEN = "no bound from above was found for some of the draws within the budget"


class EnclosedDraws(EstimateDraws):
    """PML and PMC for every draw of a prior with a traced density, or of a family on integers.

    What is not enclosed here, mutual information and suprema over countably many outcomes, is what
    `EstimateDraws` says of it, and its status is that.

    Raises
    ------
    NotEnclosed
        Something that is not traced, or that intervals do not know; draws that are not seen to
        have the same null sets.
    """

    def __init__(
        self,
        joint: Joint,
        engine_for: Callable[[Joint], Any],
        certified: Callable[[Joint], CertifiedEngine],
    ):
        super().__init__(joint, engine_for)
        prior, mechanism = joint.prior, self.mechanism
        if mechanism.density.graph is None:
            raise NotEnclosed(f"the kernel could not be traced ({mechanism.density.opaque})")
        first = next(iter(prior.blocks()))[1]
        law = _of_interval(prior.on) if isinstance(prior.on, Interval) else _of_counts(prior, first)
        self.shared: Any = certified(Joint(law, mechanism))
        # all that is said here is widened by the slack, as the extremes of the kernel are
        self.status, self.reason = self.shared.status_covering, ""
        density = prior._template.density
        own = rounded(mechanism.density, density) if density is not None else ()
        kept = [a for a in self.shared.assumptions if not a.startswith("numbers mean")]
        self.assumptions = (*kept, *own)
        self._cells: list[Draws | None] = [self._enclose(first)]

    def _enclose(self, priors: Measure) -> Draws:
        if isinstance(priors.on, Interval):
            return DensityCells(priors, tuple(self.mechanism.breaks))
        return CountMasses(priors)

    @cached_property
    def support(self) -> Any:
        """The kernel and the support of all draws: what proofs of infinities may read."""
        on, shared = self.joint.prior.on, self.shared
        if not isinstance(on, Interval):  # a proof reads which integers have mass, and no more
            return shared
        ends = np.array([on.lower], float), np.array([on.upper], float)
        secret = Secret(("x",), *ends, tuple(sorted({*self.mechanism.breaks})))
        return SimpleNamespace(
            joint=shared.joint,
            given=shared.joint,
            bands=None,
            secret=secret,
            surface=Surface(self.mechanism.density, secret),
            line=shared.line,
            at_atoms={a: Surface(m, secret) for a, m in self.mechanism.masses.items()},
            atoms=np.array([*self.mechanism.masses], float),
            log_marginal_graph=None,
        )

    def cells(self, k: int, priors: Measure) -> Draws | None:
        """Return the cells of the k-th block of draws; None where they are not enclosed."""
        while len(self._cells) <= k:
            try:
                with settings.apart():  # they outlive the figure that needs them first
                    self._cells.append(self._enclose(priors))
            except NotEnclosed:
                self._cells.append(None)
        return self._cells[k]

    def over_blocks(self, compute: Callable[[Draws], tuple], shape: tuple = ()) -> Any:
        """Return what is computed of each block of draws, in their order."""
        found = []
        for k, (_, priors) in enumerate(self.joint.prior.blocks()):
            cells = self.cells(k, priors)
            if cells is None:
                size = (priors.batch[0], *shape)
                found.append((np.zeros(size), np.full(size, np.inf)))
            else:
                found.append(compute(cells))
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))

    def _made(self, ends: tuple[np.ndarray, np.ndarray]) -> PerDraw:
        """Return what is only estimated, and said to be."""
        return PerDraw(*ends, status="estimate", reason=REASON)

    def _enclosed(self, ends: tuple[np.ndarray, np.ndarray]) -> PerDraw:
        open_ = np.isinf(ends[1]) & np.isfinite(ends[0])
        return PerDraw(*ends, status=self.status, reason=_OPEN if open_.any() else "")

    # -- at outcomes ------------------------------------------------------------------------

    def at(self, kind: str, y: Any) -> PerDraw:
        """Enclose the leakage at one outcome for every draw."""
        low, high = (v[:, 0] for v in self.at_many(kind, np.array([float(y)])))
        if np.isinf(high).any() and prove_at(self.support, kind, float(y), float(y)) is not None:
            low = high = np.full(len(low), np.inf)
        return self._enclosed((low, high))

    def at_many(self, kind: str, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the leakage at outcomes for every draw, shape (draws, outcomes) each."""
        ys = np.asarray(ys, float)
        top = self.shared.extreme(ys, 1.0)
        size = np.where(np.isfinite(top.upper), top.upper, top.lower)
        shift = np.where(np.isfinite(size), size, 0.0)
        extreme = top if kind == "pml" else self.shared.extreme(ys, -1.0)
        own = extreme.lower, extreme.upper
        dead, possible = np.isneginf(top.upper), np.isneginf(top.lower)

        def compute(cells: Draws) -> tuple[np.ndarray, np.ndarray]:
            logs = self.log_marginals(cells, ys, shift)
            pair = (own, logs) if kind == "pml" else (logs, own)
            with np.errstate(invalid="ignore"):
                low, high = batched.settled(batched.subtract(*pair))
                endless = np.isneginf(pair[1][1]) & (pair[0][0] > -np.inf)
            low, high = np.where(endless, np.inf, low), np.where(endless, np.inf, high)
            low = np.where(dead | possible, 0.0, np.maximum(low, 0.0))
            return low, np.where(dead, 0.0, np.maximum(high, 0.0))

        return self.over_blocks(compute, (len(ys),))

    def log_marginals(self, cells: Draws, ys: np.ndarray, shift: np.ndarray) -> Box:
        """Enclose log f_Y at outcomes for the draws of a block."""
        shape = cells.size, len(ys)
        low, high = np.full(shape, -np.inf), np.full(shape, np.inf)
        for sheet in self.shared._sheets(ys):
            where = sheet.where
            at = Outcomes(sheet.y, sheet.y, sheet.y, 0, shift[where])
            value = marginals(cells, integrals(sheet.surface, at, cells))
            value = np.maximum(value[0], 0.0), value[1]
            logs = logarithm(value, 0)
            part = batched.add((logs[0][0], logs[1][0]), batched.point(shift[where]))
            part = batched.subtract(part, cells.log_total)
            low[:, where], high[:, where] = batched.settled(part)
        return low - self.shared.slack, high + self.shared.slack

    # -- over outcomes ----------------------------------------------------------------------

    def sup(self, kind: str) -> PerDraw:
        """Enclose the supremum over the outcomes for every draw, or prove that it is infinite."""
        outcome = self.joint.outcome
        if outcome.kind == "finite":
            found = [self.at(kind, y) for y in outcome.array.astype(float)]
            low = np.max([one.lower for one in found], axis=0)
            high = np.max([one.upper for one in found], axis=0)
            return self._enclosed((low, high))
        if outcome.kind == "countable":
            return super().sup(kind)
        tol = max(settings.current().tol, WIDTH)
        search = OutcomeBoxes(self.shared, self.support, kind, tol)
        low, high = self.over_blocks(search.supremum)
        off = 2 * self.shared.slack  # boxes are of the kernel as it is written
        low, high = np.maximum(low - off, 0.0), high + off
        if len(self.shared.atoms):
            more = self.at_many(kind, self.shared.atoms)
            low, high = (
                np.maximum(a, b.max(axis=1)) for a, b in zip((low, high), more, strict=True)
            )
        return self._enclosed((low, high))

    # -- what depends on the kernel and the support alone -----------------------------------

    def of_support(self, name: str) -> Bound | None:
        """Return a figure of the kernel and the support alone, the same for all draws."""
        return self.shared.figure(name) if name in ("ldp", "maximal_leakage") else None


def _of_interval(on: Interval) -> Measure:
    """Return a law whose null sets are those of Lebesgue's measure on an interval."""
    low, high = float(on.lower), float(on.upper)
    if math.isfinite(low) and math.isfinite(high):
        return uniform(on)
    if math.isinf(low) and math.isinf(high):
        return normal()
    out = Measure(
        (lambda x: low - x) if math.isinf(high) else (lambda x: x - high),
        on,
        log=True,
        _check=False,
    )
    return out


def _of_counts(prior: Any, first: Measure) -> Measure:
    """Return a law of the family of the draws, which has mass at every integer as they have."""
    if (first.family or ("",))[0] not in POSITIVE_COUNTS:
        raise NotEnclosed(f"draws of this prior on {prior.on!r} are not enclosed")
    return prior.one(typical(first))
