"""Certificates of figures of the law of a leakage over finitely or countably many outcomes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.certificates import wanted
from borel.engine.certificates.at_outcomes import at_outcome, infinite_at_outcome
from borel.engine.certificates.checks.discrete_laws import ends_of
from borel.engine.certificates.encoding import header, without_infinities
from borel.settings import current

if TYPE_CHECKING:
    from borel.engine.finite.law_engine import DiscreteFigures

_PARTS = 640
_LITTLE = {"pml": 1e-14, "pmc": 1e-18}  # the bound beyond a head is cruder of PMC
_ROOM = 1e-2


def certificate(
    engine: DiscreteFigures, kind: str, ends: tuple[float, float], **claim: Any
) -> dict[str, Any] | None:
    """Return the certificate of a figure of a law, about its ends or a little wider ones.

    Parameters
    ----------
    engine : DiscreteFigures
        The joint.
    kind : {"pml", "pmc"}
        Which leakage.
    ends : tuple of float
        The enclosure.
    **claim : object
        What is claimed: ``figure``, and for a tail or a value of the distribution function ``t``
        and ``closed``, for a quantile ``s``, two integers, and ``side``.

    Returns
    -------
    dict or None
        None for what the checker does not cover, and for many outcomes.
    """
    logs = engine.in_logs
    if logs is None or not wanted():
        return None
    if not (math.isfinite(ends[1]) or ends[0] == math.inf):
        return None
    parts = _parts(engine, kind, claim["figure"])
    if parts is None:
        return None
    of_form = {"format": parts[0]["format"]}
    tol = current().tol
    room = _ROOM * tol if claim["figure"] == "quantile" else 0.0
    wide = max(0.0, ends[0] - room), ends[1] + room
    about = {"type": "discrete_law", **claim, "parts": [part["claim"] for part in parts]}
    made = {**header(logs, kind, *wide), **of_form, "claim": about}
    low, high = ends_of(made)
    infinite = low == wide[0] == math.inf
    if not (infinite or high - low <= wide[1] - wide[0] + tol * max(1.0, ends[0])):
        return None
    wider = {"lower": max(0.0, min(wide[0], low)), "upper": max(wide[1], high)}
    return without_infinities({**made, **wider})


def _parts(engine: DiscreteFigures, kind: str, figure: str) -> list[dict[str, Any]] | None:
    """Return what proves the outcomes that a figure is about, but a little; None if many are."""
    values, (ys, whole) = engine.law(kind), engine.head_of_outcomes()
    counted = np.asarray(values.mass_lower, dtype=float)
    if kind == "pmc" and figure.endswith("mean"):  # they are few, and leak much
        leakage = np.minimum(np.asarray(values.upper, dtype=float), 700.0)
        counted = counted * (np.exp(leakage) if figure != "mean" else leakage)
    # those of which nothing is known are like those beyond a head
    unknown = np.isinf(values.upper) & np.isfinite(values.lower)
    some = np.flatnonzero((counted > (0.0 if whole else _LITTLE[kind])) & ~unknown)
    if not 0 < len(some) <= _PARTS:
        return None
    known = engine.__dict__.setdefault("_parts_of_laws", {})
    room = _ROOM * current().tol
    made = []
    for i in some:
        if (kind, i) not in known and values.lower[i] == math.inf:
            known[kind, i] = infinite_at_outcome(engine.in_logs, kind, float(ys[i]))
        elif (kind, i) not in known:
            # one by one outcomes are enclosed a little otherwise; the law follows from the claims
            ends = float(values.lower[i]) - room, float(values.upper[i]) + room
            known[kind, i] = at_outcome(engine.in_logs, kind, float(ys[i]), ends, sure=False)
        if known[kind, i] is None:
            return None
        made.append(known[kind, i])
    return made


__all__ = ["certificate"]
