"""One budget for one figure, and a word on figures that it cut short."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.errors import BudgetSpent
from borel.probability.bound import UNPROVED, Bound

if TYPE_CHECKING:
    from collections.abc import Callable


def within_budget(
    compute: Callable[[], Any],
    units: str = "nats",
    *,
    least: float = 0.0,
    name: str = "computing",
) -> Any:
    """Compute a figure, all of it in one budget, as a user is to see it.

    A wide Bound that ran out of work says so. Of one of which nothing is known in time no more is
    said than that it is at least ``least``.
    A bar shows its name if it takes long.
    """
    with settings.one_figure(name):
        try:
            found = compute()
        except BudgetSpent as error:
            most = 1.0 if units == "probability" else math.inf
            found = Bound.undecided(least, most, reason=str(error), units=units)
        late, stopped = settings.now() > settings.search_deadline(), settings.stopped()
    if stopped:
        return stopped_by_clock(found, units, least)
    if not isinstance(found, Bound):
        return found
    return cut_short(found) if late else found


_PATIENCE = 10.0


def patience() -> float:
    """Return until when one proof may be tried: a part of the budget of its figure."""
    longest = settings.now() + max(_PATIENCE, settings.current().budget / 4)
    return min(longest, settings.deadline())


def stopped_by_clock(found: Any, units: str = "nats", least: float = 0.0) -> Any:
    """Return a figure, or ends and statuses of many, that the processor's time stopped.

    Nothing is settled by it, as another run may get further; what is proved stays true. The ends
    of an estimate are not, nor those of a confidence, which an undecided figure does not state.
    """
    if isinstance(found, Bound):
        most = 1.0 if units == "probability" else math.inf
        low, high = (least, most) if found.status in UNPROVED else (found.lower, found.upper)
        why = "; ".join(filter(None, (found.reason, settings.STOPPED)))
        about = {"assumptions": found.assumptions, "units": found.units, "reason": why}
        return Bound.undecided(low, high, **about)
    if isinstance(found, tuple) and len(found) == 3:
        low, high, status = found
        guess = np.isin(np.broadcast_to(np.asarray(status), np.shape(low)), UNPROVED)
        low, high = np.where(guess, least, low), np.where(guess, math.inf, high)
        return low, high, np.full(np.shape(low), "undecided")
    return found


def cut_short(found: Bound) -> Bound:
    """Say of a Bound that is proved, or undecided, that its width is for lack of time."""
    chosen = settings.current()
    wide = found.width > chosen.tol and (found.proved or found.status == "undecided")
    if not wide or "options(budget" in found.reason:
        return found
    why = f"{chosen.budget:g} s were not enough; options(budget=...) gives more time"
    return found.about(reason="; ".join(filter(None, (found.reason, why))))
