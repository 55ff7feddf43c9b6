"""Trials of certificates of laws: less than the whole claim, and soon.

The whole of a claim may take a checker minutes. Nothing is handed out of which a checker does not
follow what the trial asks for.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flint import arb

from borel import settings
from borel.engine.certificates.checks.count_laws import CountInfinite
from borel.engine.certificates.checks.envelopes import _Envelope
from borel.engine.certificates.checks.events import _Excess
from borel.engine.certificates.checks.infinite_quantiles import _InfiniteQuantile
from borel.engine.certificates.checks.informations import _Information
from borel.engine.certificates.checks.laws import _Law
from borel.engine.certificates.checks.means import _Means
from borel.engine.certificates.checks.several_laws import _Several
from borel.engine.certificates.checks.suprema import _Outcomes
from borel.engine.certificates.checks.verifier import check
from borel.engine.certificates.encoding import patience

if TYPE_CHECKING:
    from borel.engine.continuous.outcome_engine import CertifiedOutcomes

_KNOWN_MASS = 1e-9


def tried(
    engine: CertifiedOutcomes, made: dict[str, Any], trial: type, counted: type
) -> dict[str, Any] | None:
    """Return a certificate if a trial with less than the whole claim succeeds, and soon."""
    other = _Smooth if engine.secret.dim > 1 else counted if engine.secret.rest else None
    return made if followed(made, trial, *([other] if other else [])) else None


def followed(made: dict[str, Any], *checkers: type, until: float | None = None) -> bool:
    """Say if a checker follows a certificate, by the end of `patience` or by another time."""
    until = patience() if until is None else until
    if settings.late(until):
        return False
    return check(made, type("Trial", (Hurried, *checkers), {"until": until})).ok


class Hurried:
    """A checker that gives up when it is late: its claim would take too long to verify."""

    until: float

    def _watch(self) -> None:
        settings.work("balls", 1000)
        if settings.late(self.until):
            raise TimeoutError("the trial takes too long")

    def leaf(self, *about: Any) -> None:
        """Prove a leaf, if there is time."""
        self._watch()
        super().leaf(*about)  # type: ignore[misc]

    def along(self, *about: Any) -> Any:
        """Return the kernel along rays, if there is time."""
        self._watch()
        return super().along(*about)  # type: ignore[misc]

    def kernel(self, *about: Any) -> Any:
        """Return the kernel, if there is time."""
        self._watch()
        return super().kernel(*about)  # type: ignore[misc]

    def spend(self, cost: float) -> None:
        """Count a cost, if there is time."""
        self._watch()
        super().spend(cost)  # type: ignore[misc]

    def weight_of(self, cell: Any) -> Any:
        """Return the weight of a cell, if there is time: for each of its pieces."""
        self._watch()
        if (weights := getattr(self, "weights", None)) is not None:
            weights.watch = self._watch
        return super().weight_of(cell)  # type: ignore[misc]


class _Smooth(_Several):
    """A checker that looks first whether f_Y is known at some outcomes, as the claim needs it."""

    def read(self, prior: dict) -> None:
        """Read the prior, and f_Y beside some outcomes."""
        super().read(prior)
        places = [y for y, _ in self.claim.get("places", ())]
        for y in places or [y for y in self.claim["cover"] if math.isfinite(y)]:
            step = 2.0**-30 * max(1.0, abs(y))
            self.leaf(f"f_Y beside {y}", self.panels.over, y, y + step)


class PeakAndAtoms(_Outcomes):
    """Whether the checker proves a supremum at its peak, and at atoms of the outcome."""

    def prove(self, cover: list) -> None:
        """Prove that alone."""
        super().prove([box for box in cover if box[0] == box[1]])


class Masses(_Law):
    """Whether the checker knows the masses of atoms of the outcome."""

    def probability(self, cover: list, *_: Any) -> bool:
        """Return whether these are known."""
        self.bottom = self.top = arb(1)
        found = [self.share(a, b) for a, b in cover if a == b]
        return all(high - low < _KNOWN_MASS for _, low, high in found)


class Soon(_InfiniteQuantile):
    """Whether the checker finds enough mass soon."""

    most_boxes = 256


class CountsSoon(CountInfinite):
    """The same, of counts."""

    most_boxes = 256


class Informations(_Information):
    """Whether the checker finds a finite bound soon."""

    most_boxes = 96


class Envelopes(_Envelope):
    """Whether the checker proves the claim soon."""

    most_boxes = 2000


class Excess(_Excess):
    """Whether the checker proves the claim soon."""

    most_boxes = 2000


class Means(_Means):
    """Whether the checker finds a finite bound soon."""

    most_boxes = 24

    def prove(self, cover: list) -> None:
        """Prove that of the half-lines; of bounded boxes, if there are few."""
        far = [(a, b) for a, b in cover if math.isinf(b - a)]
        super().prove(far if self.rest else cover)

    rest: Any = ()
