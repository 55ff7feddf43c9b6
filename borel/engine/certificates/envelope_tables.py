"""Certificates of envelopes of finitely many secrets and outcomes: a table, shares, prices."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.certificates import wanted
from borel.engine.certificates.checks.finite_envelopes import check_finite_envelopes
from borel.engine.certificates.encoding import without_infinities
from borel.numerics.intervals import rounding
from borel.numerics.intervals.rounding import fraction_down, fraction_up

if TYPE_CHECKING:
    from borel.engine.envelopes.figures import FiniteEnvelope

_ENTRIES = 4096
_WHOLE = 2**52
_SLACKS = (0.0, *(2.0**-k for k in range(51, 32, -1)))
"""What ends may be widened by, relatively, for a checker that has its own rounding."""

Proved = tuple[float, float, dict[str, Any]]
"""The ends that a checker proves, and the certificate."""


def of_table(
    envelope: FiniteEnvelope,
    ends: tuple[float, float],
    shares: list[np.ndarray],
    prices: np.ndarray,
    **claim: Any,
) -> Proved | None:
    """Return the ends of a figure that a checker proves, with the certificate; None if it does not.

    Parameters
    ----------
    envelope : FiniteEnvelope
        The joint, in floats.
    ends : tuple of float
        The enclosure.
    shares : list of ndarray (secrets, outcomes)
        Shares of outcomes of which some prove the lower end.
    prices : ndarray (secrets,)
        Prices that prove the upper end.
    **claim
        What it is about.
    """
    small = shares[0].size <= _ENTRIES and np.isfinite(prices).all()
    if not (wanted() and small):
        return None
    table, law = _table(envelope), _law(envelope)
    about: dict[str, Any] = {"type": "finite_envelope", **claim, "prices": prices.tolist()}
    tables = [{"of": _WHOLE, "parts": _parts(weights)} for weights in shares]
    header = {
        "format": 10,
        "quantity": f"{envelope.kind}_envelope",
        "kernel": {"table": np.stack(table, axis=-1).tolist()},
        "prior": {"masses": np.stack(law, axis=-1).tolist()},
        "outcome": {"points": envelope.live.tolist()},
    }
    top = 1.0 if claim["figure"] == "delta" else math.inf
    for slack, parts in product(_SLACKS, tables):
        low = max(ends[0] - slack * max(1.0, ends[0]), 0.0) if math.isfinite(ends[0]) else ends[0]
        high = min(ends[1] + slack * max(1.0, ends[1]), top)
        whole = {**header, "lower": low, "upper": high, "claim": {**about, "shares": parts}}
        made = without_infinities(whole)
        if check_finite_envelopes(made).ok:
            return low, high, made
    return None


def _parts(weights: np.ndarray) -> list[list[int]]:
    """Return shares as whole numbers; those of an outcome that is used up are the whole in sum."""
    sums = weights.sum(axis=0)
    parts = np.floor(np.maximum(weights, 0.0) / np.maximum(sums, 1.0) * _WHOLE).astype(np.int64)
    left = _WHOLE - parts.sum(axis=0)
    # rounding may have made it too much, or too little of one that is used up
    wrong = np.flatnonzero((left < 0) | (sums > 1 - 1e-13))
    parts[parts[:, wrong].argmax(axis=0), wrong] += left[wrong]
    return parts.tolist()


def _table(envelope: FiniteEnvelope) -> tuple[np.ndarray, np.ndarray]:
    """Return ends of the table: what the floats may mean, or what Fractions are between."""
    engine = envelope.engine
    place = np.ix_(envelope.support, envelope.live)
    if engine.joint.rational:
        return _rounded(engine.mechanism.matrix[place])
    return spread(engine.matrix[place], engine._kernel_rounding)


def _law(envelope: FiniteEnvelope) -> tuple[np.ndarray, np.ndarray]:
    engine = envelope.engine
    p = engine.joint.probabilities[envelope.support]
    if engine.joint.rational:
        return _rounded(p)
    return spread(np.asarray(p, float), engine._prior_rounding)


def _rounded(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = (np.vectorize(f, otypes=[float])(values) for f in (fraction_down, fraction_up))
    return low, high


def spread(values: np.ndarray, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Return ends of what probabilities may mean that are floats within a relative error."""
    slack = (
        values * rounding.rounding_of(values, error) * (1 + 4 * rounding.U)
        + values * 2 * rounding.U
    )
    slack = np.where(values > 0, slack + 2 * rounding.TINY, 0.0)
    return np.maximum(values - slack, 0.0), np.minimum(values + slack, 1.0)
