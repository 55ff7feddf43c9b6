"""Proofs that an outcome has density 0 for every secret: float64's own zeros may be underflows.

A function that float64 evaluates to 0 everywhere shows nothing: e^-750 is such a number. Intervals
over boxes that cover the secrets do, where the graph says 0 (outside a bounded support).
"""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import NotEnclosed
from borel.numerics.intervals import interpreter

if TYPE_CHECKING:
    from borel.engine.estimates.secret_points import SecretPoints
    from borel.probability.density import Density

FAR = -200.0
"""Log-densities below this: a zero beside them may be an overflow, as exp(-z)**2 has at 355."""
_PIECES = {1: 64, 2: 12, 3: 5}
_BLOCK = 1 << 16  # boxes at a time


def zero_everywhere(point: SecretPoints, ys: Any) -> np.ndarray:
    """Return where f(y|x) is proved to be 0 for every secret that the prior may charge.

    Examples
    --------
    >>> import borel as bl
    >>> from borel.engine.estimates.engine import Pointwise
    >>> unit = bl.Interval(0, 1)
    >>> box = bl.Mechanism(
    ...     lambda y, x: np.where(abs(y - x) < 1, 0.5, 0.0), secret=unit, outcome=bl.Reals()
    ... )
    >>> zero_everywhere(Pointwise(bl.uniform(unit) * box), np.array([0.5, 3.0]))
    array([False,  True])
    """
    columns = _columns(ys)
    out = np.zeros(len(columns[0]), bool)
    with suppress(NotEnclosed):
        boxes = _secrets(point)
        size = max(1, _BLOCK // boxes.shape[1])
        for start in range(0, len(out), size):
            part = slice(start, start + size)
            out[part] = _proved(point, [c[part, None] for c in columns], boxes)
    return out


def zero_at(point: SecretPoints, y: Any, x: Any) -> np.ndarray:
    """Return where f(y|x) is proved to be 0, at points that broadcast."""
    named = {name: [(c, c) for c in _columns(v)] for name, v in (("y", y), ("x", x))}
    try:
        zero = ~_may_be_positive(point.mechanism.density, named)
    except NotEnclosed:
        return np.zeros(np.broadcast_shapes(*map(np.shape, (*_columns(y), *_columns(x)))), bool)
    for atom in point.mechanism.masses:
        zero = zero & (np.asarray(y) != atom)
    return zero


def overflown(point: SecretPoints, ys: Any, places: np.ndarray | None) -> np.ndarray:
    """Return where a density of 0 at a secret may come of an overflow on the way to it.

    The secrets are one place (n, d) for each outcome, where it is least, and the prior's atoms.
    What is left of such a density beside its zeros says nothing of what they would have added.
    """
    y = _columns(ys)
    out = np.zeros(len(y[0]), bool)
    found = [] if places is None else [[c[:, None] for c in places.T]]
    if point.atoms is not None:
        found.append([c[None, point.atom_mass > 0] for c in _columns(point.atoms)])
    density = point.mechanism.density
    for x in found:
        at = [v[0] if len(v) == 1 else tuple(v) for v in ([c[:, None] for c in y], x)]
        zero = np.isneginf(point.log_kernel(*at)) & np.isfinite(x).all(axis=0)
        if density.underflows:
            for k in np.flatnonzero(zero.any(axis=1)):
                one = [np.broadcast_to(c, zero.shape)[k][zero[k]] for c in x]
                at = [v[0] if len(v) == 1 else tuple(v) for v in ([c[k, None] for c in y], one)]
                out[k] |= density.overflows(*at)
        else:
            out |= (zero & ~zero_at(point, *at)).any(axis=1)
    return out


def _secrets(point: SecretPoints) -> np.ndarray:
    """Return boxes (2, m, d) that cover the secrets charged: pieces of the axes, and atoms."""
    found = []
    if point.axes:
        edges = [_edges(axis, _PIECES[len(point.axes)]) for axis in point.axes]
        low = np.array(list(product(*(e[:-1] for e in edges))))
        high = np.array(list(product(*(e[1:] for e in edges))))
        box = list(zip(low.T, high.T, strict=True))
        keep = np.ones(len(low), bool)
        with suppress(NotEnclosed):  # a piece on which the prior is proved to be 0 is not charged
            keep = _may_be_positive(point.prior.density, {"x": box})
        found.append(np.stack([low[keep], high[keep]]))
    if point.atoms is not None:
        on: Any = point.prior.on
        columns = _columns(point.atoms)
        # a mass of a countable prior may have underflowed
        charged = (point.atom_mass > 0) | (on.kind == "countable")
        atoms = np.stack([c[charged] for c in columns], axis=1)
        found.append(np.stack([atoms, atoms]))
        if on.kind == "countable":  # and what lies beyond the head
            least, most = columns[0].min(), columns[0].max()
            for a, b, end in ((-np.inf, least, on.lower), (most, np.inf, on.upper)):
                if end is None:
                    found.append(np.array([[[a]], [[b]]]))
    return np.concatenate(found, axis=1)


def _edges(axis: Any, count: int) -> np.ndarray:
    """Return edges of pieces of an axis, ends and breaks among them."""
    if np.isfinite(axis.lower) and np.isfinite(axis.upper):
        inner = np.linspace(axis.lower, axis.upper, count + 1)[1:-1]
    else:
        t = np.linspace(-30, 30, count - 1)
        inner = axis.lower + np.exp(t) if np.isfinite(axis.lower) else np.sinh(t)
        inner = axis.upper - np.exp(t) if np.isfinite(axis.upper) else inner
    inside = [v for v in (*inner, *axis.breaks) if axis.lower < v < axis.upper]
    return np.unique([axis.lower, *inside, axis.upper])


def _proved(point: SecretPoints, ys: list[np.ndarray], boxes: np.ndarray) -> np.ndarray:
    """Return at which outcomes (n, 1) the kernel is 0 on all boxes (2, m, d)."""
    mechanism = point.mechanism
    out = np.ones(len(ys[0]), bool)
    special = np.zeros(len(ys[0]), bool)
    x = list(zip(boxes[0].T, boxes[1].T, strict=True))
    for atom, mass in mechanism.masses.items():
        mine = ys[0][:, 0] == atom
        if mine.any():
            special |= mine
            out[mine] = not _may_be_positive(mass, {"x": x}).any()
    if not special.all():
        free = [y[~special] for y in ys]
        live = _may_be_positive(mechanism.density, {"y": [(y, y) for y in free], "x": x})
        out[~special] = ~live.any(axis=1)
    return out


def _may_be_positive(density: Density, boxes: dict[str, list]) -> np.ndarray:
    """Return where intervals leave a density positive, given a box for each factor."""
    if density.graph is None:
        raise NotEnclosed("an opaque density")
    named = {
        name: box
        for argument, columns in boxes.items()
        for name, box in zip(density.graph_names(argument), columns, strict=True)
    }
    _, high = interpreter.evaluate(density.graph, named)
    return high > (-np.inf if density.log else 0.0)


def _columns(point: Any) -> list[np.ndarray]:
    """Return the coordinates of points, one array for each factor."""
    return [np.asarray(c, float) for c in (point if isinstance(point, tuple) else (point,))]
