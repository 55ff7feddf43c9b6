"""Mutual information under one prior with a density: that of a single draw."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from borel.engine.draws.enclosed import EnclosedDraws
from borel.errors import NotEnclosed
from borel.probability.bound import Bound
from borel.probability.joint import Joint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from borel.engine.continuous.engine import CertifiedEngine
    from borel.probability.measure import Measure


class OneDraw:
    """A prior as a posterior of one draw."""

    size = 1

    def __init__(self, prior: Measure):
        self.on, self._template, self._prior = prior.on, prior, prior
        self.batch = copy.copy(prior)
        self.batch.batch = (1,)
        if prior.on.kind == "finite":
            self.batch._probabilities = prior.probabilities[None]

    def blocks(self) -> Iterator[tuple[slice, Measure]]:
        """Yield the one block."""
        yield slice(0, 1), self.batch

    def one(self, draw: int) -> Measure:
        """Return the prior."""
        return self._prior


def mutual_information(joint: Joint, certified: Callable[[Joint], CertifiedEngine]) -> Bound:
    """Enclose the mutual information of a joint of one prior on a line.

    Raises
    ------
    NotEnclosed
        What `EnclosedDraws` does not take: products of alphabets, densities that are not seen to
        be positive, kernels that are not traced.
    """
    if joint.prior.on.dim > 1 or joint.outcome.dim > 1:
        raise NotEnclosed("the mutual information of products of alphabets")
    prior: Any = OneDraw(joint.prior)
    engine = EnclosedDraws(Joint(prior, joint.mechanism), certified)
    found = engine.mutual_information()
    about: dict[str, Any] = {"assumptions": engine.assumptions}
    if engine.status == "undecided" or not found.upper[0] < float("inf"):
        about["reason"] = engine.reason or "it is not bounded from above"
        return Bound.undecided(float(found.lower[0]), float(found.upper[0]), **about)
    return Bound.of(engine.status, float(found.lower[0]), float(found.upper[0]), **about)
