"""Certificates of figures at one outcome, and of suprema over finitely many of them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.certificates import encoding, wanted
from borel.engine.certificates.checks.counts import MOST, _Counts
from borel.engine.certificates.checks.in_logs import _InLogs
from borel.engine.certificates.checks.pairs import AT_OUTCOMES, _Pair
from borel.engine.certificates.several_secrets import point_of_boxes
from borel.engine.certificates.trials import followed
from borel.engine.kernels.essential_supremum import over_rest
from borel.numerics.graphs import float64
from borel.numerics.intervals import batched
from borel.numerics.intervals.rounding import fraction_down, fraction_up

if TYPE_CHECKING:
    from borel.engine.continuous.engine import CertifiedEngine

PARTS = 64
"""A supremum over up to this many outcomes carries the certificate of each."""

_TOP, _BOTTOM = 1.0, -1.0
_ROOM, _BESIDE = 2.0**-48, 8

_FAR = 16.0
"""Nats within which a checker was always seen to follow, for densities that are bounded."""

_NOTHING = -1e5
"""In place of the logarithm of 0."""


def at_outcome(
    engine: CertifiedEngine, kind: str, y: float, ends: tuple[float, float], *, sure: bool = True
) -> dict[str, Any] | None:
    """Return what proves a figure at one outcome, perhaps of ends a little wider.

    Parameters
    ----------
    engine : CertifiedEngine
        The joint.
    kind : {"pml", "pmc"}
        Which leakage.
    y : float
        The outcome.
    ends : tuple of float
        The enclosure.
    sure : bool
        Whether a certificate for a countable secret is verified; if not, it may not hold.

    Returns
    -------
    dict or None
        None for what the checkers do not cover, and where none is wanted.
    """
    if not wanted():
        return None
    if engine.secret.dim > 1:
        return point_of_boxes(engine, kind, np.array([y]), ends)
    if engine.secret.rest:
        return _of_counts(engine, kind, y, ends, sure=sure)
    ys = np.array([y])
    name, sign = ("top", _TOP) if kind == "pml" else ("bottom", _BOTTOM)
    found = engine.extreme(ys, sign)
    low, high = float(found.lower[0]), float(found.upper[0])
    mechanism = engine.joint.mechanism
    f = mechanism.masses.get(y, mechanism.density)
    if not np.isfinite([engine.secret.lower, engine.secret.upper]).all():
        # the checker encloses by other steps; far out a bound such as 1 is hardly kept, and one
        # that is only approached is not proved
        room = _ROOM * (1 + max((abs(v) for v in (low, high) if math.isfinite(v)), default=0.0))
        low, high = (low - room, high) if kind == "pml" else (low, high + room)
        ends = max(ends[0] - 2 * room, 0.0), ends[1]
    else:  # it compares f itself with e^level, which is rounded
        room = 0.0 if f.log else float(np.spacing(max(abs(low), abs(high), abs(ends[1]))))
    low, high = (low, high + room) if kind == "pml" else (low - room, high)
    ends = ends[0], ends[1] + 2 * room
    cells, shift = engine.cells_at(ys)
    side: dict[str, Any] = {name: (low, high, found.place[0, 0])}
    made = encoding.point(engine, kind, y, ends, shift=shift, cells=cells, **side)
    # a trial takes longer than the figure: where it was always followed, there is none
    plain = not engine.at_atoms and engine.given is engine.joint and not _steep(engine)
    if plain and max(abs(low), abs(high), ends[1]) < _FAR:
        return made
    if followed(made, _InLogs):
        return made
    # cells may be narrower than the rounding of their edges, or of a ball
    room = _ROOM * max(cell[3] for cell in cells)
    wider = [(a, b, max(low - room, 0.0), high + room) for a, b, low, high in cells]
    room = 2 * _ROOM * len(cells)
    ends = max(ends[0] - room, 0.0), ends[1] + room
    made = encoding.point(engine, kind, y, ends, shift=shift, cells=wider, **side)
    return made if followed(made, _InLogs) else None


def _steep(engine: CertifiedEngine) -> bool:
    """Return whether the density of the secret is infinite at an end."""
    secret, prior = engine.secret, engine.joint.prior
    sides = np.array([v for v in (*secret.lower, *secret.upper) if np.isfinite(v)])
    if not secret.continuous or not len(sides):
        return False
    with np.errstate(all="ignore"):
        return not np.isfinite(prior.pdf(sides)).all()


def at_pair(engine: Any, x: Any, y: Any, ends: tuple[float, float]) -> dict[str, Any] | None:
    """Return what proves an information density, perhaps of ends a little wider.

    Parameters
    ----------
    engine : CertifiedEngine or CountableEngine
        Of the joint.
    x, y : float, or a tuple of them
        The pair.
    ends : tuple of float
        The enclosure.

    Returns
    -------
    dict or None
        None where no checker verifies it: where no leakage at the outcome has a certificate.
    """
    if not wanted() or ends[1] == math.inf:
        return None
    place = [float(v) for v in (x if isinstance(x, tuple) else (x,))]
    for kind in ("pml", "pmc"):
        at = engine.at(kind, y).certificate
        if at is None or at["claim"]["type"] not in AT_OUTCOMES:
            continue
        for room in (0.0, 1e-2 * settings.current().tol):
            made = encoding.pair(place, at, (ends[0] - room, ends[1] + room))
            if followed(made, _Pair):
                return made
    return None


def infinite_at_outcome(engine: CertifiedEngine, kind: str, y: float) -> dict[str, Any] | None:
    """Return what proves the mass of an outcome of infinite PMC, and the infinity."""
    found = engine.infinite_at(kind, y)
    proof = None if found is None else found.certificate
    if proof is None or kind != "pmc" or engine.secret.dim > 1:
        return None
    if engine.secret.rest:
        made = _of_counts(engine, "pml", y, (0.0, math.inf))
    elif proof["claim"]["type"] == "infinite":
        made = _mass_alone(engine, kind, y)
    else:
        made = None
    return made and {**made, "claim": {**made["claim"], "proof": proof["claim"]["proof"]}}


def _mass_alone(engine: CertifiedEngine, kind: str, y: float) -> dict[str, Any] | None:
    """Return what proves the mass of an outcome, and of PMC no more than that it is positive."""
    ys = np.array([y])
    cells, shift = engine.cells_at(ys)
    top = engine.extreme(ys, _TOP)
    if not math.isfinite(top.upper[0]):
        return None
    # the infimum is not used: any bounds of it will do
    bottom = -math.inf, float(top.upper[0]) + 1.0, float(top.place[0, 0])
    about: dict[str, Any] = {"shift": shift, "cells": cells, "bottom": bottom}
    return encoding.point(engine, kind, y, (0.0, math.inf), **about)


def _of_counts(
    engine: CertifiedEngine, kind: str, y: float, ends: tuple[float, float], *, sure: bool = True
) -> dict[str, Any] | None:
    """Return what proves a figure at one outcome for a countable secret."""
    secret, prior = engine.secret, engine.joint.prior
    head = secret.atoms[secret.weight_low > 0][:, 0]
    if engine.at_atoms or not len(head) or not (np.diff(head) == 1).all():
        return None
    # the most revealing secret is often beside the outcome
    beside = np.clip([math.floor(y) - _BESIDE, math.ceil(y) + _BESIDE], *_ends(prior.on))
    first, last = min(head[0], beside[0]), max(head[-1], beside[1])
    head = np.arange(first, last + 1) if last - first < MOST else head
    ys, sign = np.array([y]), _TOP if kind == "pml" else _BOTTOM
    # or far beyond, where its mass underflows
    places = np.append(head[prior.pdf(head) > 0], engine.extreme(ys, sign).place[0])
    named = {secret.names[0]: places, "y": np.full(places.shape, y)}
    heights = sign * float64.evaluate(engine.surface.graph, named)
    place = float(places[np.argmax(np.nan_to_num(heights, nan=-math.inf))])
    at = batched.point(ys)
    lower, upper = _ends(prior.on)
    sides = ((lower, head[0] - 1), (head[-1] + 1, upper))
    others = [(float(a), float(b)) for a, b in sides if a <= b]
    most, least = (float(s * over_rest(engine.surface, at, 1, s, others)[0]) for s in (1, -1))
    most, least = max(most, _NOTHING), max(least, _NOTHING)
    # some room, as the checker encloses by other steps
    beyond = least - _ROOM * (1 + abs(least)), most + _ROOM * (1 + abs(most))
    about: dict[str, Any] = {"head": (head[0], head[-1]), "place": place, "beyond": beyond}
    made = encoding.point_of_counts(engine, kind, y, ends, **about)
    return made if not sure or followed(made, _Counts) else None


def _ends(line: Any) -> tuple[float, float]:
    """Return the ends of an alphabet of integers."""
    lower = -math.inf if line.lower is None else float(line.lower)
    return lower, math.inf if line.upper is None else float(line.upper)


def over_outcomes(engine: CertifiedEngine, kind: str, ys: np.ndarray) -> dict[str, Any] | None:
    """Return what proves a supremum over finitely many outcomes: what proves it at each."""
    parts = []
    for y in map(float, ys):
        (low, high), dead = engine.enclosed(kind, np.array([y]))
        part = None if dead[0] else at_outcome(engine, kind, y, (float(low[0]), float(high[0])))
        if part is None:
            return None
        parts.append(part)
    ends = [max(float(part[end]) for part in parts) for end in ("lower", "upper")]
    return encoding.supremum(kind, (ends[0], ends[1]), parts)


def ldp_over_outcomes(engine: CertifiedEngine, ys: np.ndarray) -> dict[str, Any] | None:
    """Return what proves LDP over finitely many outcomes: PML and PMC at each."""
    terms = [over_outcomes(engine, kind, ys) for kind in ("pml", "pmc")]
    if terms[0] is None or terms[1] is None:
        return None
    pairs = list(zip(terms[0]["parts"], terms[1]["parts"], strict=True))
    lower, upper = (
        max(Fraction(float(one[end])) + Fraction(float(other[end])) for one, other in pairs)
        for end in ("lower", "upper")
    )
    ends = fraction_down(lower), fraction_up(upper)
    return encoding.sum_of_suprema(ends, [term for term in terms if term is not None])


__all__ = [
    "PARTS",
    "at_outcome",
    "at_pair",
    "infinite_at_outcome",
    "ldp_over_outcomes",
    "over_outcomes",
]
