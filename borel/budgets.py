"""One budget for one figure, and a word on figures that it cut short."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from borel import settings
from borel.bound import Bound

if TYPE_CHECKING:
    from collections.abc import Callable


def within_budget(compute: Callable[[], Any]) -> Any:
    """Compute a figure, all of it in one budget; a wide Bound that ran out of time says so."""
    with settings.one_figure():
        found = compute()
        late = time.monotonic() > settings.deadline()
    return cut_short(found) if late and isinstance(found, Bound) else found


def cut_short(found: Bound) -> Bound:
    """Say of a Bound that is proved, or undecided, that its width is for lack of time."""
    chosen = settings.current()
    wide = found.width > chosen.tol and (found.proved or found.status == "undecided")
    if not wide or "options(budget" in found.reason:
        return found
    why = f"{chosen.budget:g} s were not enough; options(budget=...) gives more time"
    return replace(found, reason="; ".join(filter(None, (found.reason, why))))
