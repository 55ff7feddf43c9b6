"""Certificates: what an independent checker needs to verify a certified figure again, as data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from borel.engine.certified import CertifiedEngine


def _hex(value: float) -> str:
    return float(value).hex()


def _end(line: Any, name: str, unbounded: float) -> float:
    """Return an end of an alphabet of numbers; None means unbounded."""
    value = getattr(line, name, None)
    return unbounded if value is None else float(value)


def header(engine: CertifiedEngine, quantity: str, lower: float, upper: float) -> dict[str, Any]:
    """Return what every certificate of a joint holds: the kernel, the prior, the outcomes.

    Floats are hexadecimal strings, so that nothing is rounded.
    """
    joint, secret = engine.joint, engine.secret
    density, prior = joint.mechanism.density, joint.prior
    family = prior.family
    if family is not None and any(not isinstance(v, float) for v in family[1].values()):
        family = None
    ends = (
        (float(secret.lower[0]), float(secret.upper[0])) if secret.continuous else (math.nan,) * 2
    )
    outcome = joint.outcome
    line = getattr(outcome, "interval", outcome)
    return {
        "format": 1,
        "quantity": quantity,
        "lower": _hex(lower),
        "upper": _hex(upper),
        "kernel": {"graph": density.graph.to_json(), "log": density.log},
        "prior": {
            "graph": prior.density.graph.to_json() if secret.continuous else None,
            "log": bool(prior.density.log) if secret.continuous else False,
            "family": None
            if family is None
            else [family[0], {k: _hex(v) for k, v in family[1].items()}],
            "lower": _hex(ends[0]),
            "upper": _hex(ends[1]),
            "atoms": [
                [_hex(a[0]), _hex(p), _hex(q)]
                for a, p, q in zip(secret.atoms, secret.weight_low, secret.weight_high, strict=True)
            ],
        },
        "outcome": {
            "lower": _hex(_end(line, "lower", -math.inf)),
            "upper": _hex(_end(line, "upper", math.inf)),
            "countable": outcome.kind in ("finite", "countable"),
        },
    }


@dataclass(frozen=True)
class Proof:
    """A proved infinity.

    Attributes
    ----------
    statement : str
        The argument in a sentence.
    witness : dict
        Where: the ray of outcomes and of secrets.
    certificate : dict
        What a checker needs.
    attained : bool or None
        Whether the leakage is infinite at outcomes of positive mass, or only grows.
    """

    statement: str
    witness: dict
    certificate: dict
    attained: bool | None = None


def infinite(engine: CertifiedEngine, quantity: str, proof: dict) -> dict[str, Any]:
    """Return the certificate of a proved infinity."""
    return {
        **header(engine, quantity, math.inf, math.inf),
        "claim": {"type": "infinite", "proof": proof},
    }


def point(
    engine: CertifiedEngine,
    quantity: str,
    y: float,
    ends: tuple[float, float],
    *,
    shift: float,
    cells: list | None,
    top: tuple | None,
    bottom: tuple | None,
) -> dict[str, Any]:
    """Return the certificate of a leakage at one outcome."""

    def extreme(found: tuple | None) -> list[str] | None:
        return None if found is None else [_hex(v) for v in found]

    return {
        **header(engine, quantity, *ends),
        "claim": {
            "type": "point",
            "y": _hex(y),
            "shift": _hex(shift),
            "cells": None if cells is None else [[_hex(v) for v in cell] for cell in cells],
            "top": extreme(top),
            "bottom": extreme(bottom),
        },
    }
