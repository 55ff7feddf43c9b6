"""Bounded PMC without bounded PML: Examples 8 and 9 against Theorems 5 and 6 of the preprint.

On finite alphabets a PMC guarantee implies a PML guarantee. The first preprint of "Information
Density Bounds for Privacy" (Theorems 5 and 6) carried that over to general alphabets; the journal
version refutes it by two examples, which are computed here by theorem and by the engine. In both
the joint law and the product of its marginals are absolutely continuous with respect to each
other (information densities are finite), as the theorems suppose.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import borel as bl
from borel.claims import Claim, agreement
from borel.mechanisms.closed_forms import JOURNAL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from borel.probability.bound import Bound
    from borel.probability.joint import Joint

_PREPRINT = f"{JOURNAL}, first preprint"

OUTCOMES = (0, 1, 2, 5, 20)
"""Outcomes of Example 8 that are compared."""

POINTS = (0.01, 0.3, 0.9)
"""Outcomes of Example 9 that are compared: on both sides of the mode's exit from (0, 1)."""

ETA = 0.1
THETAS = (0.5, 1.0, 3.0)


def rows() -> list[Claim]:
    """Compute every row: both examples, and what follows for the two theorems."""
    return [*example_8(), *(row for theta in THETAS for row in example_9(eta=ETA, theta=theta))]


def example_8(outcomes: Sequence[int] = OUTCOMES) -> list[Claim]:
    """Compute Example 8: reveal or resample on the non-negative integers."""
    mechanism = bl.mechanisms.countable()
    assert mechanism.reference_prior is not None
    joint = mechanism.reference_prior * mechanism
    source = f"{JOURNAL}, Example 8"
    table = _Table("example-8", source, joint)
    for m in outcomes:
        table.compare(f"PMC at {m}", "PMC is log 2 at every outcome", partial(bl.pmc(joint), m))
    for m in outcomes:
        stated = "PML at m >= 1 is log((3^m + 1) / 2)" if m else "by the same mechanism, log(3/2)"
        table.compare(f"PML at {m}", stated, partial(bl.pml(joint), m))
    return table.conclude()


def example_9(*, eta: float, theta: float, points: Sequence[float] = POINTS) -> list[Claim]:
    """Compute Example 9: a Clayton copula mixed with independence, for any theta > 0."""
    mechanism = bl.mechanisms.clayton(eta=eta, theta=theta)
    joint = mechanism.reference_prior * mechanism
    sharper = "" if theta == 1 else f", carried over to theta = {theta:g}"
    table = _Table(f"example-9-theta-{theta:g}", f"{JOURNAL}, Example 9{sharper}", joint)
    for y in points:
        table.compare(
            f"PMC at {y:g} (eta = {eta:g}, theta = {theta:g})",
            "PMC is at most log(1/eta); it is equal to it at every outcome",
            partial(bl.pmc(joint), y),
        )
    for y in points:
        table.compare(
            f"PML at {y:g} (eta = {eta:g}, theta = {theta:g})",
            "PML is log(eta + (1 - eta) sup_x c(x, y))",
            partial(bl.pml(joint), y),
        )
    return table.conclude()


class _Table:
    """The rows of one example."""

    def __init__(self, name: str, source: str, joint: Joint):
        self.name, self.source, self.joint = name, source, joint
        self.rows: list[Claim] = []

    def compare(self, quantity: str, statement: str, figure: Callable[[], Bound]) -> Claim:
        """Add a figure, by theorem and by the engine."""
        theorem = figure()
        with bl.options(closed_forms=False):
            engine = figure()
        row = Claim(
            f"{self.name}: {quantity}",
            self.source,
            statement,
            quantity,
            theorem,
            engine,
            agreement(theorem, engine),
            _comparison(theorem, engine),
        )
        self.rows.append(row)
        return row

    def conclude(self) -> list[Claim]:
        """Add both suprema, and what they say about the preprint's theorems."""
        pmc = self.compare("ess sup PMC", "PMC is essentially bounded", bl.pmc(self.joint).sup)
        pml = self.compare("ess sup PML", "PML is not", bl.pml(self.joint).sup)
        refuted = _proves_bounded(pmc.closed_form) and _proves_infinite(pml.closed_form)
        verdict = "refuted" if refuted else "not refuted"
        facts = " and ".join(
            f"{row.quantity} = {row.closed_form} ({row.closed_form.status})" for row in (pmc, pml)
        )
        self._theorem(5, "If PMC is essentially bounded, so is PML", pml, f"{verdict}: {facts}")
        self._theorem(
            6,
            "PMC is essentially bounded if and only if the mechanism is LDP for some epsilon",
            pml,
            f"{verdict}: {facts}; epsilon-LDP implies epsilon-PML (journal, Theorem 7)",
        )
        return self.rows

    def _theorem(self, n: int, statement: str, pml: Claim, note: str) -> None:
        self.rows.append(
            Claim(
                f"{self.name}: preprint theorem {n}",
                f"{_PREPRINT}, Theorem {n}",
                statement,
                "ess sup PML where PMC is bounded",
                pml.closed_form,
                pml.engine,
                pml.agrees,
                note,
            )
        )


def _comparison(theorem: Bound, engine: Bound) -> str:
    """Say in words how two figures compare."""
    if engine.status == "undecided":
        return f"the engine does not settle it: {engine.reason}"
    if not agreement(theorem, engine):
        return "the two figures contradict each other"
    if engine.status == "estimate":
        return "agrees within the estimate's own error, which proves nothing"
    return f"both enclosures hold it; they are {_gap(theorem, engine)} wide together"


def _gap(a: Bound, b: Bound) -> str:
    width = max(a.upper, b.upper) - min(a.lower, b.lower) if a.lower < math.inf else 0.0
    return f"{width:.1g}"


def _proves_bounded(bound: Bound) -> bool:
    return bound.proved and bound.upper < math.inf


def _proves_infinite(bound: Bound) -> bool:
    return bound.proved and bound.lower == math.inf
