"""Events about the outcome that are not lists of finitely many labels of a finite alphabet."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from borel.errors import InvalidInput, NotYet
from borel.probability.alphabets import Alphabet, Integers, Interval, Mixed

_MOST = 100_000


class OutcomeEvent(NamedTuple):
    """A set of outcomes.

    Attributes
    ----------
    spans : tuple of pairs
        Intervals that do not overlap, of outcomes with a density.
    atoms : tuple
        Outcomes of positive mass, or of a countable alphabet.
    complement : bool
        Whether the event is all outcomes but these: for countable alphabets.
    """

    spans: tuple[tuple[float, float], ...] = ()
    atoms: tuple = ()
    complement: bool = False


def event_of(given: Any, outcome: Alphabet, what: str) -> OutcomeEvent:
    """Read an event of countable outcomes, or of outcomes with a density.

    Parameters
    ----------
    given : Interval, Integers, label, or a sequence of these
        The event; intervals hold their ends.
    outcome : Alphabet
        The outcomes.
    what : str
        Who asks, for the message of an error.

    Examples
    --------
    >>> from borel.probability.alphabets import Reals
    >>> event_of([Interval(0, 1), Interval(3, None)], Reals(), "an event").spans
    ((0.0, 1.0), (3.0, inf))
    """
    parts = list(given) if isinstance(given, (list, tuple, set, frozenset)) else [given]
    if isinstance(outcome, Integers):
        return _of_integers(parts, outcome, what)
    line = outcome.interval if isinstance(outcome, Mixed) else outcome
    if not isinstance(line, Interval):
        raise NotYet(what, missing=f"events of {outcome!r}", instead="outcomes on one line.")
    atoms = tuple(float(a) for a in outcome.atoms) if isinstance(outcome, Mixed) else ()
    ends = sorted(_ends(part, what) for part in parts)
    for (_, b), (c, _) in pairwise(ends):
        if c < b:
            raise InvalidInput(
                what,
                expected="intervals that do not overlap",
                got=f"one up to {b:g} and one from {c:g}",
                mend="join them.",
            )
    low, high = _ends(line, what)
    spans = tuple((max(a, low), min(b, high)) for a, b in ends if max(a, low) < min(b, high))
    return OutcomeEvent(spans, tuple(v for v in atoms if any(a <= v <= b for a, b in ends)))


def _ends(part: Any, what: str) -> tuple[float, float]:
    if isinstance(part, Interval):
        low = -math.inf if part.lower is None else float(part.lower)
        return low, math.inf if part.upper is None else float(part.upper)
    number = isinstance(part, (int, float, np.number)) and not isinstance(part, bool)
    if number and math.isfinite(part):
        return float(part), float(part)
    raise InvalidInput(
        what,
        expected="an interval, or a list of intervals (and numbers)",
        got=repr(part),
        mend="write bl.Interval(0, 1), bl.Interval(2, None), or a list of them.",
    )


def _of_integers(parts: list, outcome: Integers, what: str) -> OutcomeEvent:
    """Read labels, or one range of integers of which few are inside, or few outside."""
    if len(parts) == 1 and isinstance(parts[0], Integers):
        part = parts[0]
        low, high = (
            inner if inner is not None else outer
            for inner, outer in ((part.lower, outcome.lower), (part.upper, outcome.upper))
        )
        a, b = (outcome.lower, low) if high is None else (high, outcome.upper)
        a, b = (low, high) if low is not None and high is not None else (a, b)
        if a is not None and b is not None and b - a > _MOST:
            raise NotYet(
                what,
                missing=f"ranges of more than {_MOST} integers",
                instead="a shorter range, or one that leaves fewer integers out.",
            )
        if low is not None and high is not None:
            held = (v for v in range(low, high + 1) if bool(np.all(outcome.contains(v))))
            return OutcomeEvent(atoms=tuple(held))
        if low is not None and outcome.lower is not None:
            return OutcomeEvent(atoms=tuple(range(outcome.lower, low)), complement=True)
        if high is not None and outcome.upper is not None:
            return OutcomeEvent(atoms=tuple(range(high + 1, outcome.upper + 1)), complement=True)
        raise NotYet(
            what,
            missing="a range of integers that neither is finite nor leaves finitely many out",
            instead="a finite range, or one that is bounded where the alphabet is.",
        )
    for part in parts:
        if isinstance(part, bool) or not isinstance(part, (int, np.integer)):
            raise InvalidInput(
                what,
                expected="integers, or one range bl.Integers(a, b)",
                got=repr(part),
            )
        outcome.check(part)
    return OutcomeEvent(atoms=tuple(sorted({int(part) for part in parts})))
