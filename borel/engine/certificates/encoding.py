"""Certificates: what an independent checker needs to verify a certified figure again, as data."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from borel import settings

if TYPE_CHECKING:
    from borel.engine.continuous.engine import CertifiedEngine
    from borel.engine.problem.secret_and_kernel import Secret
    from borel.probability.bound import Bound
    from borel.probability.measure import Measure
    from borel.probability.mechanism import Mechanism


_PATIENCE = 10.0


def patience() -> float:
    """Return until when a trial of a certificate may go on: within the budget of its figure."""
    longest = settings.now() + max(_PATIENCE, settings.current().budget / 4)
    return min(longest, settings.deadline())


def _end(line: Any, name: str, unbounded: float) -> float:
    """Return an end of an alphabet of numbers; None means unbounded."""
    value = getattr(line, name, None)
    return unbounded if value is None else float(value)


def header(engine: CertifiedEngine, quantity: str, lower: float, upper: float) -> dict[str, Any]:
    """Return what every certificate of a joint holds: the kernel, the prior, the outcomes."""
    engine = engine.several or engine
    joint, summed = engine.given, engine.given is not engine.joint
    return {
        "format": 2,
        "quantity": quantity,
        "lower": lower,
        "upper": upper,
        "kernel": kernel_as_data(joint.mechanism),
        "prior": prior_as_data(joint.prior, None if summed else engine.secret),
        "outcome": outcome_as_data(joint.mechanism),
        **({"sum": True} if summed else {}),
    }


def kernel_as_data(mechanism: Mechanism) -> dict[str, Any]:
    """Return a kernel that has a density as certificates name it."""
    return _density(mechanism.density)


def _density(density: Any) -> dict[str, Any]:
    return {"graph": density.graph.to_json(), "log": density.log}


def outcome_as_data(mechanism: Mechanism) -> dict[str, Any]:
    """Return the outcomes of a kernel as certificates name them, with the masses of atoms."""
    outcome = mechanism.outcome
    line = getattr(outcome, "interval", outcome)
    points = {"finite": lambda: [float(y) for y in outcome.array], "countable": lambda: "integers"}
    atoms = sorted(mechanism.masses.items())
    masses = [[float(y), _density(m)] for y, m in atoms]
    return {
        "lower": _end(line, "lower", -math.inf),
        "upper": _end(line, "upper", math.inf),
        "points": points.get(outcome.kind, lambda: None)(),
        **({"atoms": masses} if masses else {}),
    }


def prior_as_data(prior: Measure, secret: Secret | None) -> dict[str, Any]:
    """Return a prior as certificates name it; the secret has its atoms, if it may have some."""
    if prior.on.kind == "countable":
        return _masses_of_integers(prior)
    continuous = prior.on.kind != "finite"
    lines = [getattr(a, "interval", a) for a in prior.on.factors]
    lower, upper = ([float(getattr(a, end)) if continuous else None for a in lines]
                    for end in ("lower", "upper"))  # fmt: skip
    one = len(lines) == 1
    atoms: Any = []
    if secret is not None:
        atoms = zip(secret.atoms, secret.weight_low, secret.weight_high, strict=True)
    density: Any = prior.density
    return {
        "graph": density.graph.to_json() if continuous else None,
        "log": bool(density.log) if continuous else False,
        "lower": lower[0] if one else lower,
        "upper": upper[0] if one else upper,
        "atoms": [[float(x[0]), float(p), float(q)] for x, p, q in atoms],
    }


def number(engine: CertifiedEngine) -> dict[str, Any]:
    """Return what a certificate holds of the one number that a kernel reads of several secrets."""
    engine = engine.several or engine
    if engine.secret.dim == 1:
        return {}
    sides = zip(engine.secret.lower.tolist(), engine.secret.upper.tolist(), strict=True)
    found: Any = engine.bands.summary
    return {"format": 7, "number": {"cuts": [*map(list, sides)], "at": found.at}}


def _masses_of_integers(prior: Any) -> dict[str, Any]:
    """Return a prior on integers, in a form of its own: its formula is no density."""
    return {
        "graph": None,
        "log": False,
        "points": "integers",
        "masses": _density(prior.density),
        "lower": _end(prior.on, "lower", -math.inf),
        "upper": _end(prior.on, "upper", math.inf),
        "atoms": [],
    }


def attached(bound: Bound, made: dict[str, Any] | None) -> Bound:
    """Return a figure with its certificate, and with its ends, which may be a little wider."""
    if made is None:
        return bound
    ends = {end: float(made[end]) for end in ("lower", "upper")}
    return replace(bound, **ends, certificate=made)


def point(
    engine: CertifiedEngine,
    quantity: str,
    y: float,
    ends: tuple[float, float],
    *,
    shift: float,
    cells: list,
    top: tuple | None = None,
    bottom: tuple | None = None,
) -> dict[str, Any]:
    """Return the certificate of a leakage at one outcome.

    Parameters
    ----------
    engine : CertifiedEngine
        The joint.
    quantity : {"pml", "pmc"}
        Which leakage.
    y : float
        The outcome.
    ends : tuple of float
        The enclosure.
    shift : float
        The logarithm of the unit of ``cells``.
    cells : list of (a, b, low, high)
        Boxes of secrets and atoms, with what they contribute to f_Y.
    top, bottom : tuple (low, high, place) or None
        The essential supremum (for PML) or infimum (for PMC) of log f(y|x) over x.
    """
    claim = {
        "type": "point",
        "y": y,
        "shift": shift,
        "cells": cells,
        "top": top and [float(v) for v in top],
        "bottom": bottom and [float(v) for v in bottom],
    }
    return without_infinities({**header(engine, quantity, *ends), "claim": claim})


def point_of_counts(
    engine: CertifiedEngine,
    quantity: str,
    y: float,
    ends: tuple[float, float],
    *,
    head: tuple[float, float],
    place: float,
    beyond: tuple[float, float],
) -> dict[str, Any]:
    """Return the certificate of a leakage at one outcome, for a secret that is an integer.

    Parameters
    ----------
    engine, quantity, y, ends
        As for `point`.
    head : tuple of float
        The first and the last integer that are looked at one by one.
    place : float
        Where the kernel is extreme.
    beyond : tuple of float
        Bounds on log f(y|x) elsewhere.
    """
    claim = {"type": "count_point", "y": y, "head": head, "place": place, "beyond": beyond}
    about = {**header(engine, quantity, *ends), "format": 4}
    return without_infinities({**about, "claim": claim})


def pair(x: list[float], at: dict[str, Any], ends: tuple[float, float]) -> dict[str, Any]:
    """Return the certificate of an information density, by that of a leakage at the outcome."""
    lower, upper = ends
    about = {"format": 6, "quantity": "information_density", "lower": lower, "upper": upper}
    return without_infinities({**about, "claim": {"type": "pair", "x": x, "at": at}})


def supremum(quantity: str, ends: tuple[float, float], parts: list[dict]) -> dict[str, Any]:
    """Return the certificate of a supremum over finitely many outcomes: one part for each."""
    lower, upper = ends
    return {"format": 2, "quantity": quantity, "lower": lower, "upper": upper, "parts": parts}


def sum_of_suprema(ends: tuple[float, float], terms: list[dict]) -> dict[str, Any]:
    """Return the certificate of LDP over finitely many outcomes: PML and PMC at each of them."""
    lower, upper = ends
    return {"format": 2, "quantity": "ldp", "lower": lower, "upper": upper, "terms": terms}


def without_infinities(data: Any) -> Any:
    """Write infinities as strings, which JSON has."""
    if isinstance(data, dict):
        return {name: without_infinities(v) for name, v in data.items()}
    if isinstance(data, (list, tuple)):
        return [without_infinities(v) for v in data]
    if isinstance(data, float) and math.isinf(data):
        return "Infinity" if data > 0 else "-Infinity"
    return data
