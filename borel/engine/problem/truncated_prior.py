"""A countable prior as engines see it: a head of points, and boxes with all the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from borel.engine.problem.prior_normalisation import miss
from borel.errors import InvalidInput, NotEnclosed, NotYet
from borel.numerics.intervals import interpreter, rounding
from borel.numerics.intervals.rounding import NORMAL, TINY, Enclosure, U
from borel.probability.alphabets import Finite, Integers
from borel.probability.measure import Measure, declared_tail
from borel.probability.normalisation import head_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.probability.density import Density

_BEYOND = 256
"""So many masses are summed beyond a point."""
_LOOSE = 1e-8
"""How far off a mass of a clipped prior may be, relatively: all of them are taken to be so."""
_WHOLE = 1 << 53
"""Integers up to here are floats; beyond, a kernel in floats is one of another outcome."""


class Head(NamedTuple):
    """The prior on a head of secrets, and what it leaves beyond.

    Attributes
    ----------
    points, low, high : ndarray (n,)
        The points, and enclosures of their masses.
    tail : float
        The mass of all that is beyond, at most.
    boxes : tuple of ndarray
        The lower and the upper ends of boxes that hold all that is beyond.
    """

    points: np.ndarray
    low: np.ndarray
    high: np.ndarray
    tail: float
    boxes: tuple[np.ndarray, np.ndarray]


def head_of_prior(
    prior: Measure, count: int, evaluate: Callable[[Density, dict[str, tuple]], Enclosure]
) -> Head:
    """Return the first points of a countable prior.

    Parameters
    ----------
    prior : Measure
        On integers.
    count : int
        How many points.
    evaluate : callable
        Encloses the density at boxes.

    Raises
    ------
    InvalidInput
        Probabilities that certainly sum to more than 1, or a declared tail that is too small.
    """
    alphabet = prior.on
    assert isinstance(alphabet, Integers)
    points = head_of(alphabet, count)
    check_whole(points, "x")
    points = points.astype(float)
    assert prior.density is not None
    low, high = over_sum(prior, *evaluate(prior.density, {"x": (points, points)}))
    beyond, below = [], []
    if alphabet.upper is None:
        beyond, below = [points[-1] + 1], [np.inf]
    if alphabet.lower is None:
        beyond, below = [*beyond, -np.inf], [*below, points[0] - 1]
    least, most = (float(end) for end in rounding.sum_outward(low, high))
    if least > 1 + 1e-9:
        raise InvalidInput(
            repr(prior),
            expected="probabilities that sum to 1",
            got=f"a sum above {least:.12g}, proved",
            mend="normalise them.",
        )
    # the prior meant is normalised: what its floats miss may all lie beyond the head
    tail = abs(1.0 - least) + (most - least) + 2.0**-50
    if off_by(prior) is None and prior.tail is not None:
        declared = declared_tail(prior, points, most, 2.0**-40)
        tail = min(tail, max(declared, TINY))
    return Head(points, low, high, tail, (np.array(beyond), np.array(below)))


def off_by(prior: Measure) -> float | None:
    """Return how far from 1 the sum may be, where no proved tail says it all; None if not known."""
    return None if prior.tail is not None and prior.tail.proof else miss(prior)


def over_sum(prior: Measure, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return masses over the sum of all, which is that near 1: the prior meant is normalised."""
    off = off_by(prior) or 0.0
    if off:
        low, high = low * (1 - off - 4 * U), high * (1 + 2 * off + 4 * U)
        # below 2^-1022 a product may round to the number that it is to differ from
        low, high = np.maximum(low - TINY, 0.0), np.where(high > 0, high + TINY, 0.0)
    return low, high


def assumed(prior: Measure) -> list[str]:
    """Say what is not proved of a countable prior."""
    proved = prior.tail is not None and bool(prior.tail.proof)
    if prior.on.kind != "countable" or proved or off_by(prior) is not None:
        return []
    if prior.tail is None:
        return ["prior normalised: checked; its tail is 1 minus the head"]
    return ["prior normalised, and its tail as declared"]


def check_whole(points: np.ndarray, name: str) -> None:
    """Raise `NotYet` for integers that are no floats."""
    if points.dtype.kind == "f":
        return
    if np.max(points, initial=0) > _WHOLE or np.min(points, initial=0) < -_WHOLE:
        raise NotYet(
            "the countable engine", missing=f"{name} beyond 2**53", instead="smaller labels."
        )


def law_of_clipped(prior: Measure, last: int) -> Measure | None:
    """Return the law of min(X, last) for a prior on integers with a lower end.

    None where the sum of the prior is not proved, or where a mass is not well known: P{X >= last}
    is the sum of the masses of a head, and what is beyond, of which only the size is known.
    """
    if prior.density is None or prior.density.graph is None or assumed(prior):
        return None
    graph, log = prior.density.graph, prior.density.log

    def evaluate(_: Density, named: dict[str, tuple]) -> Enclosure:
        ends = interpreter.evaluate(graph, named)
        low, high = interpreter.exponential(ends) if log else ends
        return Enclosure(np.maximum(low, 0.0), np.maximum(high, 0.0))

    try:
        head = head_of_prior(prior, 2 * (last - int(head_of(prior.on, 1)[0])) + _BEYOND, evaluate)
    except NotEnclosed:
        return None
    below = head.points < last
    rest = rounding.sum_outward(head.low[~below], head.high[~below])
    low = np.append(head.low[below], float(rest[0]))
    high = np.append(head.high[below], np.nextafter(float(rest[1]) + head.tail, np.inf))
    sure, p = high > 0, low / 2 + high / 2
    if not (low[sure] > NORMAL / U).all():
        return None
    spread = float(((high - low)[sure] / p[sure]).max(initial=0.0)) / 2
    if spread > _LOOSE:
        return None
    labels = [*head.points[below].tolist(), float(last)]
    off = spread * (1 + 2.0**-40) + 2.0**-50
    return Measure(p, Finite(labels), name="clipped", rounding=off, _check=False)


def trimmed(head: Head, least: float) -> Head:
    """Return a head without the points at its ends that weigh at most ``least`` on each side.

    They join what is beyond.
    """
    points, low, high, tail, (lower, upper) = head
    slack = 1 + len(high) * 2.0**-52
    before, after = np.cumsum(high) * slack, np.cumsum(high[::-1])[::-1] * slack
    kept = (before > least) & (after > least)
    if not kept.any():
        return head
    first, last = int(np.argmax(kept)), int(len(kept) - np.argmax(kept[::-1]))
    lost = [float(before[first - 1])] if first else []
    lost += [float(after[last])] if last < len(high) else []
    ends = [(points[0], points[first - 1])] if first else []
    ends += [(points[last], points[-1])] if last < len(high) else []
    boxes = np.array([*zip(lower, upper, strict=True), *ends], float).reshape(-1, 2).T
    inner = slice(first, last)
    return Head(
        points[inner],
        low[inner],
        high[inner],
        (tail + sum(lost)) * (1 + 2.0**-50),
        (boxes[0], boxes[1]),
    )


__all__ = [
    "Head",
    "assumed",
    "check_whole",
    "head_of_prior",
    "law_of_clipped",
    "over_sum",
    "trimmed",
]
