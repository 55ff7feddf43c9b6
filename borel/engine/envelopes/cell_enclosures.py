"""The figures of an envelope over cells of outcomes: enclosures that close in as cells are cut."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.envelopes.best_choices import ChoiceSearch
from borel.engine.envelopes.figures import (
    EnvelopeThreshold,
    FiniteEnvelope,
    OpenEnvelope,
    nats,
    ratio_of,
)
from borel.engine.envelopes.law_envelope import LawEnvelope
from borel.engine.envelopes.level_proofs import LevelProof
from borel.engine.envelopes.outcome_cells import cells_of
from borel.engine.problem.refinement import refine
from borel.errors import BudgetSpent, NotEnclosed, NotYet
from borel.probability.bound import Bound
from borel.probability.generators import resting_on

if TYPE_CHECKING:
    from collections.abc import Callable

_ROUNDS, _FEW = 40, 2
_SLOW, _IDLE = 0.02, 2
_PARTS = (0.01, 25.0)
"""What proofs leave, in units of the tolerance, between what was found and what is proved.

Gains that nearly cancel are proved with more room only.
"""


class CellEnvelope(OpenEnvelope):
    """The envelope of PML or PMC of a finite secret with countable or continuous outcomes."""

    slow = -1.0
    """Cells are cut no more when that keeps moving the ends by less than this part of the gap."""
    unbounded = (
        "nothing bounds it from above within the budget; options(budget=...) gives more time, and "
        "finite outcomes are exact"
    )

    cells: Any

    def __init__(self, engine: Any, kind: str):
        if engine.status == "estimate":
            raise NotYet("bl.envelope", missing=f"an enclosure of the kernel: {engine.reason}")
        self.engine, self.kind, self.sign = engine, kind, 1 if kind == "pml" else -1
        self.cells = cells_of(engine)
        self.assumptions = tuple(a for a in engine.assumptions if a not in engine.theorem)

    @cached_property
    def search(self) -> ChoiceSearch | None:
        """Solutions to the digits of float64, which are proved afterwards."""
        if self.engine.line is None:
            return None
        try:
            return ChoiceSearch(self.engine.regions, self.sign)
        except NotEnclosed:
            return None

    def epsilon(self, delta: Fraction, known: tuple[float, float] = (0.0, math.inf)) -> Bound:
        """Enclose epsilon_c(delta) for 0 < delta <= 1, of which ends may be known otherwise."""
        if delta < 1:
            proved = self._by_choices(lambda search: self._level_by_choices(search, delta))
            if proved is not None:
                return self._narrowed(proved, lambda ends: self._level(delta, ends, known, _FEW))

        low, high = self._level(delta, (0.0, math.inf), known)
        if high - low > 1e-3:
            top = self.engine.sup(self.kind)
            if top.proved and top.upper < high:
                return self._bound(low, max(top.upper, low), top.assumptions)
        return self._bound(low, high)

    def _level(
        self,
        delta: Fraction,
        ends: tuple[float, float],
        known: tuple[float, float],
        rounds: int = _ROUNDS,
    ) -> tuple[float, float]:
        """Narrow the ends of epsilon_c(delta) by programmes of cells."""

        def solve(programmes: Any, near: tuple, gap: float) -> tuple:
            narrow = max(0.1 * min(gap, 1.0), 1e-12)
            guess = tuple(self.sign * math.exp(min(self.sign * t, 700.0)) for t in near)
            lower, upper = _both(programmes, lambda p, side: p.level(delta, narrow, guess, side))
            low, high = (ratio_of(self.sign, end) for end in (lower.lower, upper.upper))
            return nats(low, 0), nats(high, 1), upper.price, upper.upper, lower.weights

        return self._refined(solve, ends, known, rounds)

    def delta(self, threshold: EnvelopeThreshold, *, closed: bool) -> Bound:
        """Enclose delta_c at a level."""
        about: dict[str, Any] = {"units": "probability"}
        if threshold.upper < self.sign or (closed and threshold.exact == self.sign):
            return self._bound(1.0, 1.0, **about)
        if threshold.infinite and (self.sign > 0 or not closed):
            return self._bound(0.0, 0.0, **about)
        if closed and threshold.t is not None:
            proved = self._by_choices(lambda search: self._mass_by_choices(search, threshold))
            if proved is not None:
                return self._narrowed(
                    proved, lambda ends: self._mass(threshold, closed, ends, _FEW)
                )

        return self._bound(*self._mass(threshold, closed, (0.0, 1.0)), **about)

    def _mass(
        self,
        threshold: EnvelopeThreshold,
        closed: bool,
        known: tuple[float, float],
        rounds: int = _ROUNDS,
    ) -> tuple[float, float]:
        """Narrow the ends of delta_c at a level by programmes of cells."""

        def solve(programmes: Any, *_: Any) -> tuple:
            ends = threshold.lower, threshold.upper
            lower, upper = _both(programmes, lambda p, _: p.value(*ends, closed=closed))
            return lower[0], upper[1], upper[3], threshold.lower, lower[2]

        return self._refined(solve, known, rounds=rounds)

    def _refined(
        self,
        solve: Callable[[Any, tuple[float, float], float], tuple],
        ends: tuple[float, float],
        known: tuple[float, float] = (0.0, math.inf),
        rounds: int = _ROUNDS,
    ) -> tuple[float, float]:
        """Enclose a figure by programmes of cells, cut where a programme's dual is loose.

        Parameters
        ----------
        solve : callable
            Of a programme, the ends that are known so far, and how near its own are to be: those
            ends, prices, the level that they are of, and shares.
        ends : tuple of float
            Ends of the figure that are proved here.
        known : tuple of float
            Those proved elsewhere: cells are cut until both together are narrow.
        rounds : int
            How many enclosures are looked at, at most.
        """
        tol, gap, idle = settings.current().tol, 1e-4, 0
        own = before = ends
        programmes: Any = None
        dual: list[Any] = []

        def enclose() -> tuple[float, float]:
            nonlocal programmes, dual
            programmes = self.cells.programmes(self.sign)
            low, high, *dual = solve(programmes, before, gap)
            return low, high

        def settled(low: float, high: float) -> bool:
            nonlocal gap, own, before, idle
            moved, own = max(low - own[0], own[1] - high), (low, high)
            before = max(low, known[0]), min(high, known[1])
            gap = before[1] - before[0]
            idle = idle + 1 if moved <= self.slow * gap else 0
            return gap <= tol or idle > _IDLE

        return refine(
            enclose,
            lambda *_: self.cells.cut(programmes[1], *dual),
            settled=settled,
            until=settings.search_deadline(),
            rounds=rounds,
            ends=ends,
        )

    def _by_choices(self, prove: Callable[[ChoiceSearch], Bound | None]) -> Bound | None:
        """Return what is proved of found choices, in half of the time: the rest is for cells."""
        with suppress(BudgetSpent), settings.part(2):
            return None if self.search is None else prove(self.search)
        return None

    def _level_by_choices(self, search: ChoiceSearch, delta: Fraction) -> Bound | None:
        found = search.level(float(delta))
        if found is None or not all(self.sign * theta > 0 for theta in found.thetas):
            return None
        low, high = (self.sign * math.log(abs(theta)) for theta in found.thetas)
        for part in _PARTS:
            room = part * settings.current().tol
            ends = max(low - room, 0.0), high + room
            proved = self._proved_level(ends, delta, found.cells, found.prices)
            if proved is not None:
                return proved
        return None

    def _mass_by_choices(self, search: ChoiceSearch, threshold: EnvelopeThreshold) -> Bound | None:
        theta = self.sign * math.exp(self.sign * (threshold.t or 0.0))
        if (found := search.mass(theta)) is None:
            return None
        for part in _PARTS:
            room = part * settings.current().tol
            ends = max(found.mass - room, 0.0), min(found.mass + room, 1.0)
            proved = self._proved_mass(ends, threshold, found.cells, found.prices)
            if proved is not None:
                return proved
        return None

    def _narrowed(self, known: Bound, narrow: Callable[[tuple], tuple[float, float]]) -> Bound:
        """Return a figure whose ends cells may bring nearer."""
        if known.width <= settings.current().tol or self.cells is None:
            return known
        low, high = narrow((known.lower, known.upper))
        return self._bound(low, high, known.assumptions, units=known.units)

    # -- proofs of what the search finds ----------------------------------------------------------

    def _proved_level(
        self, ends: tuple, delta: Fraction, cells: list, prices: np.ndarray
    ) -> Bound | None:
        if not all(map(math.isfinite, ends)) or not np.isfinite(prices).all():
            return None
        proof = LevelProof(self.engine, self.sign)
        proved = proof.proved(proof.level, ends, delta, cells, prices)
        return self._bound(*ends) if proved else None

    def _proved_mass(
        self, ends: tuple, threshold: EnvelopeThreshold, cells: list, prices: np.ndarray
    ) -> Bound | None:
        if not np.isfinite(prices).all():
            return None
        proof = LevelProof(self.engine, self.sign)
        proved = proof.proved(proof.mass, ends, threshold.t, cells, prices)
        return self._bound(*ends, units="probability") if proved else None


def _both(programmes: tuple[Any, Any], solve: Callable[[Any, int], Any]) -> tuple[Any, Any]:
    """Return what the programme from below gives and the one from above, which may be the same.

    Each is asked for its own side, -1 or 1, and one that is both for both, 0.
    """
    if programmes[1] is programmes[0]:
        return (found := solve(programmes[0], 0)), found
    return solve(programmes[0], -1), solve(programmes[1], 1)


class BoxEnvelope(CellEnvelope):
    """The envelope of PML or PMC of a secret with a density on an interval.

    What the law of the leakage tells (`LawEnvelope`) is narrowed by boxes of secrets.
    """

    slow = _SLOW
    unbounded = LawEnvelope.unbounded

    def __init__(self, engine: Any, kind: str):
        self.engine, self.kind, self.sign = engine, kind, 1 if kind == "pml" else -1
        self.law = LawEnvelope(engine, kind)
        self.assumptions = (*engine.assumptions, *engine.theorem)

    @cached_property
    def cells(self) -> Any:
        """Cells of outcomes and boxes of secrets; None where there are none."""
        with suppress(NotEnclosed):
            return cells_of(self.engine)
        return None

    def epsilon(self, delta: Fraction, known: tuple[float, float] = (0.0, math.inf)) -> Bound:
        """Enclose epsilon_c(delta) for 0 < delta <= 1, of which ends may be known otherwise."""
        own = self.law.epsilon(delta)
        return self._narrowed(own, lambda ends: self._level(delta, ends, known))

    def delta(self, threshold: EnvelopeThreshold, *, closed: bool) -> Bound:
        """Enclose delta_c at a level."""
        known = self.law.delta(threshold, closed=closed)
        return self._narrowed(known, lambda ends: self._mass(threshold, closed, ends))


class CertainEnvelope(OpenEnvelope):
    """The envelope of a secret that has one value: no outcome tells anything."""

    def __init__(self, engine: Any, kind: str):
        self.engine, self.sign, self.assumptions = engine, 1 if kind == "pml" else -1, ()

    def epsilon(self, delta: Fraction, known: tuple[float, float] = (0.0, math.inf)) -> Bound:
        """Return 0."""
        return self._known(0.0, "nats")

    def delta(self, threshold: EnvelopeThreshold, *, closed: bool) -> Bound:
        """Return the mass of all outcomes, or of none."""
        below = threshold.upper < self.sign or (threshold.number or 0) < 0
        mass = 1.0 if below or (closed and threshold.exact == self.sign) else 0.0
        return self._known(mass, "probability")

    def _known(self, value: float, units: str) -> Bound:
        """Return a figure that is as sure as the kernel is a law of Y."""
        found = Bound.exact(value, value, units=units)
        sure = self.engine.status not in ("conditional", "estimate")
        return found if sure else resting_on(found, *self.engine.assumptions)


def envelope_of(joint: Any, engine: Any, kind: str) -> Any:
    """Return the figures of the envelope of a joint, from its engine.

    Raises
    ------
    NotYet
        A secret that is not finite, or a kernel that cannot be enclosed over cells.
    """
    from borel.engine.continuous.engine import CertifiedEngine
    from borel.engine.countable.engine import CountableEngine

    if joint.finite:
        return FiniteEnvelope(engine, kind)
    try:
        if joint.secret.kind == "finite":
            certain = np.count_nonzero(joint.prior.probabilities) == 1
            return (CertainEnvelope if certain else CellEnvelope)(engine, kind)
        if isinstance(engine, (CertifiedEngine, CountableEngine)) and engine.status != "estimate":
            return BoxEnvelope(engine, kind)
    except NotEnclosed as error:
        raise NotYet("bl.envelope", missing=str(error), instead="finite outcomes.") from None
    raise NotYet(
        "bl.envelope",
        missing=f"secrets on {joint.secret!r} with outcomes on {joint.outcome!r}",
        instead="a finite secret; its largest value is bl.pml(joint).sup().",
    )
