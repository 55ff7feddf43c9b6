"""Wasserstein balls on finite alphabets: linear constraints on what a plan of transport moves."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from borel.constants import real
from borel.engine.prior_sets.linear_programme import Constraints, constraints
from borel.errors import InvalidInput, NotYet
from borel.priors.balls import number
from borel.priors.polytopes import Polytope
from borel.probability.alphabets import Alphabet
from borel.probability.arrays import aligned, is_labelled, labels_of, limited, shown, with_labels
from borel.probability.measure import Measure

_WHAT = "bl.priors.wasserstein_ball"
_NORMALISED = "the centre's probabilities mean their binary64 values, divided by their sum"
_MOST_ON_A_LINE, _MOST_WITH_DISTANCES = 1000, 100
"""Secrets; there are as many auxiliary variables on a line, and their square with distances."""


class WassersteinBall(Polytope):
    """All Q that a plan of transport makes of a centre at a mean distance of at most r."""

    def __init__(self, centre: Any, radius: Any, distance: Any = None):
        if not isinstance(centre, Measure) or centre.batch:
            raise InvalidInput(
                _WHAT,
                expected="a prior as the centre",
                got=shown(centre),
                mend="write bl.pmf([...], on=alphabet).",
            )
        on = centre.on
        if on.kind != "finite":
            raise NotYet(_WHAT, missing=f"transport on {on!r}", instead="bl.priors.tv_ball there.")
        most = _MOST_ON_A_LINE if distance is None else _MOST_WITH_DISTANCES
        if on.size > most:
            raise NotYet(_WHAT, missing=f"more than {most} secrets", instead="join labels.")
        self.centre, self.size = centre, number(_WHAT, "radius", radius)
        p = [Fraction(v) for v in np.asarray(centre.probabilities).tolist()]
        p = [v / sum(p) for v in p]
        if distance is None:
            rules = _on_a_line(p, _places(on), self.size)
        else:
            rules = _by_plans(p, _distances(distance, on), self.size)
        super().__init__(rules, on, "wasserstein_ball")
        self.nominal = centre
        if not centre.rational:
            self.assumptions = (_NORMALISED, *self.assumptions)
        if centre.unproved:
            self.status = "estimate"
            self.assumptions = (centre.unproved, *self.assumptions)

    def __repr__(self) -> str:
        """Show the kind of set, its size and its centre."""
        return f"PriorSet({self.name}, radius {float(self.size):g} around {self.centre!r})"


def _places(on: Alphabet) -> list[Fraction]:
    """Return the labels as the numbers that they are."""
    try:
        return [Fraction(real(_WHAT, label)) for label in on.labels]
    except (InvalidInput, OverflowError):  # no number, or an infinite one
        raise InvalidInput(
            _WHAT,
            expected="labels that are numbers, for the distance |x - x'|",
            got=repr(on),
            mend="give distance=, the matrix of the distances of the labels.",
        ) from None


def _distances(given: Any, on: Alphabet) -> list[list[Fraction]]:
    """Check a matrix of distances, and return it in the order of the labels."""
    table = with_labels(given)
    values = limited(getattr(table, "values", table), _WHAT, "distance")
    if is_labelled(table) and table.ndim == 2:
        for axis, labels in enumerate(labels_of(table)):
            values = aligned(values, axis, labels, on, _WHAT)
    n = on.size
    if values.shape != (n, n):
        raise InvalidInput(
            _WHAT,
            expected=f"distance of shape ({n}, {n}), a row and a column for each label",
            got=f"shape {values.shape}",
        )
    if not np.isfinite(values.astype(float)).all() or (values < 0).any():
        raise InvalidInput(_WHAT, expected="distances >= 0, finite", got=shown(given))
    if (values.diagonal() != 0).any():
        raise InvalidInput(
            _WHAT, expected="a distance of 0 from each label to itself", got=shown(given)
        )
    apart = np.argwhere(values != values.T)
    if len(apart):
        j, k = apart[0]
        a, b = on.labels[j], on.labels[k]
        raise InvalidInput(
            _WHAT,
            expected="a symmetric matrix of distances",
            got=f"{values[j, k]} from {a!r} to {b!r}, and {values[k, j]} back",
            mend="write (d + d.T) / 2, or the larger of the two.",
        )
    return [[Fraction(v) for v in row] for row in values.tolist()]


def _on_a_line(p: list[Fraction], places: list[Fraction], size: Fraction) -> Constraints:
    r"""Return the ball for \|x - x'\|: the mean distance is the area between two cdfs.

    The auxiliary variables are at least \|F_Q - F_P\|, between each label and the next one.
    """
    n, order = len(p), sorted(range(len(p)), key=lambda k: places[k])
    gaps = [places[b] - places[a] for a, b in pairwise(order)]
    width, diameter = n + len(gaps), sum(gaps, Fraction(0)) or Fraction(1)
    rows, limits, below = [], [], Fraction(0)
    for i in range(len(gaps)):
        below += p[order[i]]
        for sign in (1, -1):
            row = [Fraction(0)] * width
            for k in order[: i + 1]:
                row[k] = Fraction(sign)
            row[n + i] = Fraction(-1)
            rows.append(row)
            limits.append(sign * below)
    rows.append([Fraction(0)] * n + [g / diameter for g in gaps])
    return constraints(n, _objects(rows), _objects([*limits, size / diameter]))


def _by_plans(p: list[Fraction], distances: list[list[Fraction]], size: Fraction) -> Constraints:
    """Return the ball for any distance; the auxiliary variables are masses moved from x to x'."""
    n = len(p)
    moves = [(x, to) for x in range(n) for to in range(n) if x != to]
    largest = max(map(max, distances)) or Fraction(1)
    cost = [Fraction(0)] * n + [distances[x][to] / largest for x, to in moves]
    sent = [[Fraction(int(x == k)) for x, _ in moves] for k in range(n)]
    come = [[Fraction(int(to == k)) for _, to in moves] for k in range(n)]
    none = [Fraction(0)] * n
    own = [[Fraction(int(k == x)) for k in range(n)] for x in range(n)]
    balance = [
        [*one, *(a - b for a, b in zip(out, into, strict=True))]
        for one, out, into in zip(own, sent, come, strict=True)
    ]
    rows = [*([*none, *out] for out in sent), cost]
    limits = [*p, size / largest]
    return constraints(n, _objects(rows), _objects(limits), _objects(balance), _objects(p))


def _objects(values: list) -> np.ndarray:
    return np.array(values, dtype=object)
