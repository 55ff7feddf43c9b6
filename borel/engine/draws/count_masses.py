"""The masses of many draws of a prior on points: finitely many, or integers with a head."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.draws.density_cells import (
    DrawProgram,
    middle_and_radius,
    raised,
    without_denormals,
)
from borel.engine.problem.secret_and_kernel import POSITIVE_COUNTS
from borel.errors import NotEnclosed
from borel.numerics.intervals import batched
from borel.numerics.intervals.rounding import TINY, U
from borel.numerics.jets import arithmetic
from borel.probability.normalisation import head_of

if TYPE_CHECKING:
    from borel.probability.measure import Measure

_FIRST, _MOST = 32, 4096
_TAIL = 1e-12
"""The mass beyond the head that is small enough."""


class CountMasses:
    """The draws of a block of priors on integers, laws with mass at each of them.

    Attributes are those of `DensityCells`, with points for cells and what is beyond for an end.

    Parameters
    ----------
    priors : Measure
        A batch of laws of one family.

    Raises
    ------
    NotEnclosed
        Laws of no such family, or with too many integers of some mass.
    """

    def __init__(self, priors: Measure):
        require_everywhere(priors)
        density = priors.density
        self.size = priors.batch[0]
        parameters = {
            name: np.broadcast_to(np.asarray(density.parameters[name], float), (self.size,))
            for name in density.graph.inputs
            if name != "x"
        }
        program, count = (
            DrawProgram(density.simplified(), parameters),
            _FIRST,
        )
        while True:
            self.points = np.asarray(head_of(priors.on, count), float)
            x = arithmetic.constant(self.points, self.points)
            with np.errstate(all="ignore"):
                masses = batched.exp(arithmetic.value(program.run(x, 0)[0]))
            low = np.maximum(masses[0], 0.0)
            known = low.sum(axis=1) * (1 - (count + 2) * 2.0**-52)
            beyond = np.maximum(1.0 - known, 0.0) + 2.0**-50
            if beyond.max() <= _TAIL or count >= _MOST:
                break
            count *= 2
        if beyond.max() > 1e-6:
            raise NotEnclosed("the draws have too many integers of some mass")
        self.interval, self.ends = (float(self.points[0]), math.inf), [(self.points[-1], math.inf)]
        self.lost = np.zeros(self.size, bool)
        self.log_total = batched.point(np.zeros((self.size, 1)))
        middle, radius = middle_and_radius((low, masses[1]))
        without_denormals(middle, radius)
        self.middle, self.radius, self.bounds = middle, raised(radius), raised(beyond[:, None])
        self.sizes, self.doubts = raised(np.abs(middle)), self.radius
        self.errors = raised(np.zeros((self.size, 0)))
        name, values = priors.family or ("", {})  # one was required
        mean = 1 / np.asarray(values["p"]) if name == "geometric" else np.asarray(values["mu"])
        self.mean = np.broadcast_to(mean, (self.size,))

    def moment(self, order: float) -> np.ndarray:
        """Bound E|X|^order, of an order up to 1, of every draw from above."""
        return self.mean**order * (1 + 2.0**-40)

    def beyond(self, distance: float) -> np.ndarray:
        """Bound P{|X| > distance} of every draw from above."""
        if distance < np.abs(self.points).max():
            return np.ones(self.size)
        return self.bounds[:, 0].astype(float)


class PointMasses(CountMasses):
    """The draws of a block of priors on finitely many numbers.

    Parameters
    ----------
    priors : Measure
        A batch of finite laws.
    support : ndarray of bool
        The labels that all draws charge, and no others.

    Raises
    ------
    NotEnclosed
        Labels that are no numbers, or probabilities that are not proved.
    """

    def __init__(self, priors: Measure, support: np.ndarray):
        if priors.on.dim > 1 or not priors.on.numeric:
            raise NotEnclosed(f"a density needs numbers for labels, not {priors.on!r}")
        if priors.unproved:
            raise NotEnclosed(priors.unproved)
        p = np.asarray(priors.probabilities, float)
        self.size, p = len(p), p[:, support]
        self.points = np.asarray(priors.on.array, float)[support]
        self.interval, self.ends = (float(self.points.min()), float(self.points.max())), []
        # the laws meant are the normalised ones within this relative rounding
        off = max(priors.rounding, priors._rounding) + 2 * U
        self.lost = np.zeros(self.size, bool)
        self.log_total = batched.point(np.zeros((self.size, 1)))
        middle, radius = p.copy(), p * off * (1 + 2.0**-40) + TINY
        without_denormals(middle, radius)
        self.middle, self.radius = middle, raised(radius)
        self.bounds = raised(np.zeros((self.size, 1)))
        self.mean = np.full(self.size, np.abs(self.points).max())
        self.sizes, self.doubts = raised(np.abs(middle)), self.radius
        self.errors = raised(np.zeros((self.size, 0)))


def require_everywhere(priors: Measure) -> None:
    """Refuse draws of a prior on integers that are not known to have mass at each of them."""
    if (priors.family or ("",))[0] not in POSITIVE_COUNTS:
        raise NotEnclosed("draws of a prior on integers are enclosed for named families only")


def typical(priors: Measure) -> int:
    """Return the draw that is spread out most."""
    values: dict[str, Any] = (priors.family or ("", {}))[1]
    for name, sign in (("mu", 1.0), ("p", -1.0)):
        if name in values and np.ndim(values[name]):
            return int(np.argmax(sign * np.asarray(values[name])))
    return 0
