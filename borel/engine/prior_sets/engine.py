"""What engines of sets of priors are asked: suprema over the members."""

from __future__ import annotations

from typing import Any

from borel import settings
from borel.engine.problem.engine import Figures
from borel.errors import NotYet
from borel.probability.bound import Bound

DRAWN = "every secret was drawn, so that the true prior charges all of them"


class SetEngine(Figures[Bound]):
    """An engine of suprema over a set of priors.

    Attributes
    ----------
    set : PriorSet
        The set.
    """

    set: Any

    def not_yet(self, name: str) -> NotYet:
        """Return the error that says that a measure has no supremum over the set here."""
        return NotYet(
            f"bl.{name} over a set of priors",
            missing="its supremum over the members",
            instead="bl.pml, bl.pmc, bl.ldp, bl.lip, bl.maximal_leakage, bl.mutual_information, "
            "or one prior at a time.",
        )

    def lip(self) -> Bound:
        """Enclose the larger of the suprema of PML and PMC."""
        return self.set.largest(settings.each(self.sup, ("pmc", "pml")))
