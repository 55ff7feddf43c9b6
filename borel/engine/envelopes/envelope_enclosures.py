"""The figures of an envelope over cells of outcomes: enclosures that close in as cells are cut."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import Any

from borel import settings
from borel.bound import Bound
from borel.engine.envelopes.envelope_cells import Cells, cells_of
from borel.engine.envelopes.envelope_figures import (
    FiniteEnvelope,
    OpenEnvelope,
    Threshold,
    nats,
    ratio_of,
)
from borel.errors import NotEnclosed, NotYet

_ROUNDS = 40


class CellEnvelope(OpenEnvelope):
    """The envelope of PML or PMC of a finite secret with countable or continuous outcomes."""

    unbounded = (
        "nothing bounds it from above within the budget; options(budget=...) gives more time, and "
        "finite outcomes are exact"
    )

    def __init__(self, engine: Any, kind: str):
        if engine.status == "estimate":
            raise NotYet("bl.envelope", missing=f"an enclosure of the kernel: {engine.reason}")
        self.engine, self.kind, self.sign = engine, kind, 1 if kind == "pml" else -1
        self.cells: Cells = cells_of(engine)
        theorem = getattr(engine, "theorem", ())
        self.assumptions = tuple(a for a in engine.assumptions if a not in theorem)

    def epsilon(self, delta: Fraction) -> Bound:
        """Enclose epsilon_c(delta) for 0 < delta <= 1."""
        tol, deadline = settings.current().tol, self._deadline()
        low, high, gap = 0.0, math.inf, 1e-4
        for _ in range(_ROUNDS):
            programme = self.cells.programme(self.sign)
            found = programme.level(delta, max(0.1 * min(gap, 1.0), 1e-12))
            low = max(low, nats(ratio_of(self.sign, found.lower), 0))
            high = min(high, nats(ratio_of(self.sign, found.upper), 1))
            gap = high - low
            if gap <= tol or time.monotonic() > deadline:
                break
            if not self.cells.cut(programme.looseness(found.price, found.upper)):
                break
        if high - low > 1e-3:
            known = self.engine.sup(self.kind)
            if known.proved and known.upper < high:
                high = max(known.upper, low)
                return self._bound(low, high, known.assumptions)
        return self._bound(low, high)

    def delta(self, threshold: Threshold, *, closed: bool) -> Bound:
        """Enclose delta_c at a level."""
        about: dict[str, Any] = {"units": "probability"}
        if threshold.upper < self.sign or (closed and threshold.exact == self.sign):
            return self._bound(1.0, 1.0, **about)
        if threshold.infinite and (self.sign > 0 or not closed):
            return self._bound(0.0, 0.0, **about)
        tol, deadline = settings.current().tol, self._deadline()
        low, high = 0.0, 1.0
        for _ in range(_ROUNDS):
            programme = self.cells.programme(self.sign)
            least, most, _, price = programme.value(threshold.lower, threshold.upper, closed=closed)
            low, high = max(low, least), min(high, most)
            if high - low <= tol or time.monotonic() > deadline:
                break
            if not self.cells.cut(programme.looseness(price, threshold.lower)):
                break
        return self._bound(low, high, **about)

    def _deadline(self) -> float:
        return settings.deadline()


def envelope_of(joint: Any, kind: str) -> Any:
    """Return the figures of the envelope of a joint.

    Raises
    ------
    NotYet
        A secret that is not finite, or a kernel that cannot be enclosed over cells.
    """
    from borel.engine import engine_for

    if joint.finite:
        return FiniteEnvelope(engine_for(joint), kind)
    try:
        if joint.secret.kind == "finite":
            return CellEnvelope(engine_for(joint), kind)
        engine = engine_for(joint)
        if joint.secret.kind == "continuous" and hasattr(engine, "bands"):
            from borel.engine.envelopes.envelope_bins import BinnedEnvelope

            return BinnedEnvelope(engine, kind)
    except NotEnclosed as error:
        raise NotYet("bl.envelope", missing=str(error), instead="finite outcomes.") from None
    raise NotYet(
        "bl.envelope",
        missing=f"secrets on {joint.secret!r} with outcomes on {joint.outcome!r}",
        instead="a finite secret; its largest value is bl.pml(joint).sup().",
    )
