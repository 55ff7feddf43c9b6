"""Whether a set of priors has a member: proved, disproved, or a condition that figures rest on.

A supremum over no prior is no number. An intersection is empty if a function separates two of its
parts: its lower expectation over the one is above its upper expectation over the other. It is not
empty if some prior is certainly a member of each part.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.prior_sets import linear_programme
from borel.errors import InvalidInput, NotYet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from borel.priors.sets import PriorSet

NOT_EMPTY = "the set of priors is not empty"
_SINGLE = 64
"""Indicators of up to this many secrets are tried: each is a column to be solved."""
_SHARES = np.linspace(0, 1, 65)


def inhabited(parts: list[PriorSet], rules: Any, what: str) -> bool:
    """Return whether some prior is certainly in every part; False where it is not known.

    Parameters
    ----------
    parts : list of PriorSet
        On one alphabet.
    rules : Constraints or None
        All of them as linear constraints, if each has some.
    what : str
        What the sets are called in an error.

    Raises
    ------
    InvalidInput
        No prior is: proved.
    """
    if rules is not None:
        member = linear_programme.some_member(rules, what)
        if member is None:
            return False
        if all(part.closed for part in parts):
            return True
        return _in_all(linear_programme.middle_member(rules), parts)
    if parts[0].on.kind != "finite":
        return False
    if pair := _separated(parts):
        raise InvalidInput(
            what,
            expected="sets that share a prior",
            got=f"{parts[pair[0]]!r} and {parts[pair[1]]!r}, which share none",
            mend="widen one of them; samples that contradict each other are of two populations.",
        )
    return any(_in_all(q, parts) for q in _candidates(parts))


def _in_all(q: list[Fraction] | None, parts: list[PriorSet]) -> bool:
    return q is not None and all(part.certainly(q) for part in parts)


def _centres(parts: list[PriorSet]) -> list[np.ndarray]:
    """Return a prior of each part, or near it, as floats."""
    found = []
    for part in parts:
        centre = getattr(part, "centre", None)
        if centre is not None:
            found.append(np.asarray(centre.probabilities, float))
        else:
            eye = np.eye(part.on.size)
            found.append(part.least(np.hstack([eye, -eye])).prior.mean(axis=1))
    return found


def _candidates(parts: list[PriorSet]) -> Iterator[list[Fraction]]:
    """Yield priors between those of the parts: mixtures, of the laws and of their logarithms."""
    try:
        centres = _centres(parts)
    except NotYet:
        return
    yield _exact(np.mean(centres, axis=0))
    for i, p in enumerate(centres):
        for q in centres[:i]:
            both = np.where((p > 0) & (q > 0), 1.0, 0.0)
            logs = [np.log(np.where(both > 0, law, 1.0)) for law in (p, q)]
            for share in _SHARES:
                yield _exact(share * p + (1 - share) * q)
                tilted = both * np.exp(share * logs[0] + (1 - share) * logs[1])
                if tilted.any():
                    yield _exact(tilted)


def _exact(law: np.ndarray) -> list[Fraction]:
    """Return the normalised law near one of floats."""
    exact = [Fraction(float(v)) for v in np.maximum(law, 0.0)]
    total = sum(exact, Fraction(0))
    return [v / total for v in exact]


def _separated(parts: list[PriorSet]) -> tuple[int, int] | None:
    """Return two parts that certainly share no prior: a function that is found separates them."""
    try:
        centres = _centres(parts)
        for i, first in enumerate(parts):
            for k, second in enumerate(parts[:i]):
                v = _directions(centres[i], centres[k])
                # E v <= top for the priors of one, E v >= bottom for those of the other
                top, bottom = -first.least(-v).lower, second.least(v).lower
                if (bottom > top).any():
                    return i, k
    except NotYet:  # a set whose lower expectations are not known
        pass
    return None


def _directions(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return functions that are likely to be larger under q than under p, as columns."""
    n = len(p)
    safe = [np.maximum(law, 1e-9) for law in (p, q)]
    ratio = np.log(safe[1] / safe[0])
    powers = [np.sign(ratio) * np.abs(ratio) ** s for s in (0.5, 2.0)]
    mixed = [np.log((safe[1] + s * safe[0]) / (safe[0] + s * safe[1])) for s in (0.1, 0.5, 0.9)]
    eye = np.eye(n)[:, :_SINGLE]
    return np.column_stack([q - p, ratio, *powers, *mixed, eye, -eye])
