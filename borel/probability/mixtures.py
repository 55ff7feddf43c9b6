"""Mixtures of measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput, NotYet
from borel.numerics.intervals.rounding import U, compounded
from borel.probability.arrays import (
    DOUBLE,
    as_floats,
    as_numbers,
    carried,
    own_rounding,
    require_no_underflow,
    row_miss,
    shown,
    validated,
)
from borel.probability.measure import Measure
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from collections.abc import Sequence


@explained
def mixture(measures: Sequence[Measure], *, weights: Any) -> Measure:
    """Make the mixture of some measures on one alphabet.

    Parameters
    ----------
    measures : sequence of Measure
        The components.
    weights : sequence
        Their weights: non-negative, 1 in sum.

    Examples
    --------
    >>> import borel as bl
    >>> bl.mixture([bl.pmf([1.0, 0.0]), bl.pmf([0.5, 0.5])], weights=[0.5, 0.5])
    Measure([0.75, 0.25] on Finite(2))
    """
    measures = list(measures) if hasattr(measures, "__iter__") else [measures]  # type: ignore
    if not measures or not all(isinstance(m, Measure) for m in measures):
        raise InvalidInput(
            "mixture",
            expected="a list of at least one Measure",
            got=shown(measures),
        )
    w, _, precision = as_numbers(weights)
    if w.shape != (len(measures),):
        raise InvalidInput("mixture", expected=f"{len(measures)} weights", got=f"shape {w.shape}")
    finite = all(m._probabilities is not None for m in measures)
    precision = precision if finite else DOUBLE  # what a density carries is its own
    w = validated(w, "mixture weights", precision=precision)
    on = measures[0].on
    if any(m.on != on for m in measures):
        raise InvalidInput(
            "mixture",
            expected="components on one alphabet",
            got=", ".join(repr(m.on) for m in measures),
        )
    if finite:
        laws = [m.probabilities for m in measures]
        if w.dtype == object and all(m.rational for m in measures):
            return Measure(
                sum(a * p for a, p in zip(w, laws, strict=True)), on, unproved=carried(*measures)
            )
        given = 0.0
        if w.dtype != object:
            given = max(float(row_miss(w)), own_rounding(w, precision, "mixture weights"))
        w = as_floats(w, "mixture")
        laws = [as_floats(p, "mixture") for p in laws]
        for a, p in zip(w, laws, strict=True):
            if a > 0:
                require_no_underflow("mixture", np.array([a]), p)
        values = sum(a * p for a, p in zip(w, laws, strict=True))
        own = max(U, *(m.rounding for m in measures))
        error = compounded(max(given, U), own, (len(w) + 4) * U)
        return Measure(np.asarray(values), on, rounding=error, unproved=carried(*measures))
    if any(m.masses for m in measures):
        raise NotYet("mixture", missing="measures with atoms")
    weights_float = [float(a) for a in w]
    breaks = sorted({b for m in measures for b in m.breaks})
    return Measure(
        lambda x: sum(a * m._pdf(x) for a, m in zip(weights_float, measures, strict=True)),
        on,
        breaks=breaks,
        name="mixture",
    )
