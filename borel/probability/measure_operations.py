"""Measures made of measures: conditioned on an event, products and mixtures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput, NotYet
from borel.numerics.intervals.rounding import U, compounded, rounding_of
from borel.probability.arrays import (
    DOUBLE,
    as_floats,
    as_numbers,
    carried,
    own_rounding,
    require_accurate,
    require_no_underflow,
    row_miss,
    shown,
    validated,
)
from borel.probability.measure import Measure
from borel.probability.normalisation import total_mass
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def restricted(measure: Measure, event: Callable[[Any], Any]) -> Measure:
    """Return a measure conditioned on an event; see `Measure.restrict`."""
    if not callable(event):
        raise InvalidInput("restrict", expected="a function of x", got=repr(event))
    if measure._probabilities is not None:
        keep = np.array([bool(event(a)) for a in measure.on.labels])
        kept = np.where(keep, measure.probabilities, 0 * measure.probabilities)
        total = kept.sum(axis=-1, keepdims=True)
        if not (total > 0).all():
            raise InvalidInput("restrict", expected="an event of positive mass", got="mass 0")
        error = 0.0
        if not measure.rational:
            own = float(rounding_of(kept, measure.rounding).max())
            require_accurate("restrict", own)
            error = compounded(own, own, (kept.shape[-1] + 4) * U)
        return Measure(kept / total, measure.on, rounding=error, unproved=measure.unproved)
    assert measure.density is not None
    if measure.batch:
        raise NotYet("restrict", missing="a density with draw axes")
    if measure.masses or measure.on.kind != "continuous":
        raise NotYet("restrict", missing=f"a measure on {measure.on!r}")
    inner = measure.density

    def inside(x: Any) -> Any:
        return np.where(event(x), inner.linear(x), 0.0)

    mass = _mass(Measure(inside, measure.on, breaks=measure.breaks, _check=False))
    if not mass > 0:
        raise InvalidInput("restrict", expected="an event of positive mass", got=repr(mass))
    return Measure(
        lambda x: np.where(event(x), inner.linear(x), 0.0) / mass,
        measure.on,
        breaks=measure.breaks,
        name=f"{measure.name} restricted",
    )


def _mass(part: Measure) -> float:
    """Return what a part of a law integrates to: to the rounding of a float where it is enclosed.

    An estimate is good to 1e-9, say, and a law that misses 1 by that much is refused.
    """
    from borel.engine.problem.prior_masses import integral_of

    assert part.density is not None
    integral = integral_of(part, rel_tol=4 * U) if part.on.dim == 1 else None
    if integral is not None:
        low, high = integral(part.on.lower, part.on.upper)  # type: ignore[attr-defined]
        if high - low <= 1e-13 * high:
            return (low + high) / 2
    turns = part.density.turns("x")
    return total_mass(part.density.linear, part.on, part.breaks, turns)


def product_measure(first: Measure, second: Measure) -> Measure:
    """Return the product measure, the law of independent coordinates."""
    on = first.on * second.on
    if first.batch or second.batch:
        raise NotYet("product of measures", missing="measures with draw axes")
    if first._probabilities is not None and second._probabilities is not None:
        a, b = first.probabilities, second.probabilities
        if first.rational != second.rational:
            a, b = as_floats(a, "product of measures"), as_floats(b, "product of measures")
        require_no_underflow("product of measures", a, b)
        error = 0.0
        if a.dtype != object:
            error = compounded(max(first.rounding, U), max(second.rounding, U), 2 * U)
        out = Measure(
            (a[:, None] * b[None, :]).ravel(),
            on,
            rounding=error,
            unproved=carried(first, second),
        )
    else:
        if first.masses or second.masses:
            raise NotYet("product of measures", missing="measures with atoms")
        a, b = first.on.dim, second.on.dim

        def density(x: tuple) -> Any:
            left = x[:a] if a > 1 else x[0]
            right = x[a:] if b > 1 else x[a]
            return first._logpdf(left) + second._logpdf(right)

        out = Measure(density, on, log=True, _check=False)
    out.parts = (*(first.parts or (first,)), *(second.parts or (second,)))
    return out


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
