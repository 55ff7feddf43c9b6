"""How a figure is asked for: within one budget, and so that its Bound knows what was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel import settings
from borel.engine.certificates import Question
from borel.engine.figures import units_of
from borel.engine.problem.budget import within_budget
from borel.probability.bound import Bound

if TYPE_CHECKING:
    from collections.abc import Callable


def asked(
    joint: Any,
    figure: str,
    arguments: tuple,
    compute: Callable[[], Any],
    units: str = "nats",
    *,
    least: float = 0.0,
) -> Any:
    """Compute a figure within one budget; a Bound knows what was asked, for its certificate.

    Parameters
    ----------
    joint, figure, arguments
        What is asked; see `borel.engine.certificates.Question`.
    compute, least
        As for `borel.engine.problem.budget.within_budget`.
    units : str
        The units of a figure that has no record in the table of figures.
    """
    name = " ".join([*(a for a in arguments[:1] if isinstance(a, str)), figure.replace("_", " ")])
    found = within_budget(compute, units_of(figure, arguments, units), least=least, name=name)
    if not isinstance(found, Bound):
        return found
    return found.answering(Question(joint, figure, arguments, settings.current()))
