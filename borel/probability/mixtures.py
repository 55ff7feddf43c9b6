"""Mixtures of measures."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput, NotYet
from borel.numerics.graphs.rewrite import simplified
from borel.numerics.intervals.rounding import U, compounded
from borel.probability.alphabets import Interval, Mixed, includes
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
        The components. Beside densities on one interval there may be measures with atoms there, or
        on a few numbers of it, such as a point mass ``bl.pmf([1.0], on=bl.Finite([0.0]))``; the
        mixture is then on a `Mixed` alphabet.
    weights : sequence
        Their weights: non-negative, 1 in sum. Draws of weights are a list with an array for each
        component, or an array with the components last; the components may be draws as well.

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
    if isinstance(weights, (list, tuple)) and any(np.ndim(a) for a in weights):
        weights = np.stack(np.broadcast_arrays(*weights), axis=-1)
    w, _, precision = as_numbers(weights)
    if w.shape[-1:] != (len(measures),):
        raise InvalidInput("mixture", expected=f"{len(measures)} weights", got=f"shape {w.shape}")
    finite = all(m._probabilities is not None for m in measures)
    precision = precision if finite else DOUBLE  # what a density carries is its own
    validated(w, "mixture weights", precision=precision)
    line = None if finite else _line_of(measures)
    on = measures[0].on
    if line is None and any(m.on != on for m in measures):
        raise InvalidInput(
            "mixture",
            expected="components on one alphabet",
            got=", ".join(repr(m.on) for m in measures),
        )
    if finite:
        laws = [m.probabilities for m in measures]
        # the weight of each component, with an axis for the labels
        parts = list(np.moveaxis(w, -1, 0)[..., None])
        if w.dtype == object and all(m.rational for m in measures):
            law = sum(a * p for a, p in zip(parts, laws, strict=True))
            return Measure(law, on, unproved=carried(*measures))
        given = 0.0
        if w.dtype != object:
            given = max(float(row_miss(w).max()), own_rounding(w, precision, "mixture weights"))
        parts = [as_floats(a, "mixture") for a in parts]
        laws = [as_floats(p, "mixture") for p in laws]
        for a, p in zip(parts, laws, strict=True):
            if (a > 0).any():
                require_no_underflow("mixture", a[a > 0], p)
        values = sum(a * p for a, p in zip(parts, laws, strict=True))
        own = max(U, *(m.rounding for m in measures))
        error = compounded(max(given, U), own, (len(laws) + 4) * U)
        return Measure(np.asarray(values), on, rounding=error, unproved=carried(*measures))
    if any(m.conditioned for m in measures):
        raise NotYet(
            "mixture",
            missing="restricted draws, whose masses are not exact",
            instead="restrict the mixture.",
        )
    shares = np.moveaxis(as_floats(w, "mixture"), -1, 0)
    breaks = sorted({b for m in measures for b in m.breaks})
    masses: dict[float, Any] = {}
    rounding = 0.0
    if line is not None:
        rounding = max((m.rounding for m in measures if m.density is None), default=0.0)
        masses = _masses_of(measures, shares)
        on = Mixed(line, atoms=tuple(masses)) if masses else line
        kept = [(a, m) for a, m in zip(shares, measures, strict=True) if _has_density(m)]
        if not kept:
            raise InvalidInput("mixture", expected="a density beside the atoms", got="none")
        shares, measures = [a for a, _ in kept], [m for _, m in kept]
    if not (w.ndim > 1 or any(m.batch for m in measures)):
        return Measure(
            lambda x: sum(
                float(a) * m.density.linear(x) for a, m in zip(shares, measures, strict=True)
            ),
            on,
            breaks=breaks,
            masses=masses,
            rounding=rounding,
            name="mixture",
        )
    params: dict[str, Any] = {}
    for k, (share, m) in enumerate(zip(shares, measures, strict=True)):
        params[f"weight_{k}"] = share
        own = {n: v for n, v in m.density.parameters.items() if np.ndim(v)}
        params |= {f"{n}_{k}": v for n, v in own.items()}

    def density(x: Any, **given: Any) -> Any:
        total: Any = None
        for k, m in enumerate(measures):
            names = [n for n, v in m.density.parameters.items() if np.ndim(v)]
            part = m.density.at_parameters(x, {n: given[f"{n}_{k}"] for n in names})
            part = np.exp(part) if m.density.log else part
            part = given[f"weight_{k}"] * part
            total = part if total is None else total + part
        return total

    about: dict[str, Any] = {"params": params, "masses": masses, "rounding": rounding}
    return Measure(density, on, breaks=breaks, name="mixture", **about)


def _line_of(measures: Sequence[Measure]) -> Interval | None:
    """Return the interval of the densities of components, beside which there may be atoms."""
    on = [m.on for m in measures if m.density is not None]
    lines = {a.interval if isinstance(a, Mixed) else a for a in on}
    if len(lines) != 1 or not isinstance(line := lines.pop(), Interval):
        return None
    points = [m.on for m in measures if m.density is None]
    return line if all(includes(line, a) for a in points) else None


def _has_density(measure: Measure) -> bool:
    """Return whether a component has a density that is not written as the number 0."""
    if measure.density is None:
        return False
    graph = measure.density.graph
    zero = graph is not None and simplified(graph).nodes == (("const", (0.0,)),)
    return measure.density.log or not zero


def _masses_of(measures: Sequence[Measure], shares: np.ndarray) -> dict[float, Any]:
    """Return the masses of the atoms of a mixture, as Fractions."""
    found: dict[float, list] = {}
    for share, m in zip(shares, measures, strict=True):
        own = m.masses
        if m.density is None:
            own = {float(a): m.probabilities[..., k] for k, a in enumerate(m.on.labels)}
        for atom, mass in own.items():
            found.setdefault(atom, []).append((share, mass))
    exactly = np.frompyfunc(Fraction, 1, 1)
    return {
        atom: sum(exactly(a) * exactly(np.asarray(p)) for a, p in parts)
        for atom, parts in found.items()
    }
