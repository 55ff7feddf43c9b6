"""The options of a computation, as a context: ``with bl.options(tol=1e-8): ...``."""

from __future__ import annotations

import math
import time
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from borel.constants import real
from borel.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ENGINES = ("auto", "exact", "certified", "estimate")


@dataclass(frozen=True)
class Options:
    """What a figure may cost and who may compute it.

    Parameters
    ----------
    tol : float
        Width, in nats, at which an enclosure or an estimate is good enough.
    budget : float
        Seconds that one figure may take.
    engine : {"auto", "exact", "certified", "estimate"}
        ``auto`` takes the exact engine, else the certified one, else the estimate.
    seed : int
        Seed of every random choice (quasi-random starting points).
    closed_forms : bool
        Whether a mechanism's closed forms are used; switched off, the engine computes alone.
    """

    tol: float = 1e-8
    budget: float = 60.0
    engine: str = "auto"
    seed: int = 0
    closed_forms: bool = True

    def __post_init__(self):
        for name, unit in (("tol", "nats"), ("budget", "seconds")):
            value, expected = getattr(self, name), f"{name} > 0 ({unit})"
            number = real("options", value, expected)
            if isinstance(value, bool) or not number > 0:
                raise InvalidInput("options", expected=expected, got=f"{name}={value!r}")
            object.__setattr__(self, name, float(number))
        if isinstance(self.seed, bool) or not isinstance(self.seed, Integral) or self.seed < 0:
            raise InvalidInput(
                "options", expected="seed, an integer >= 0", got=f"seed={self.seed!r}"
            )
        if not isinstance(self.closed_forms, bool):
            raise InvalidInput(
                "options",
                expected="closed_forms, True or False",
                got=f"closed_forms={self.closed_forms!r}",
            )
        if self.engine not in ENGINES:
            raise InvalidInput(
                "options", expected=f"engine in {ENGINES}", got=f"engine={self.engine!r}"
            )


_CURRENT: ContextVar[Options] = ContextVar("borel_options", default=Options())  # noqa: B039


_FIGURE: ContextVar[tuple[float, float]] = ContextVar("borel_figure", default=(math.inf, math.inf))
"""When the figure that is computed here must be ready, and how much time it had."""

_SEARCH = 0.75
"""The part of a budget for the search; the rest is for proofs and trials that follow it."""


def current() -> Options:
    """Return the options in force here."""
    return _CURRENT.get()


def now() -> float:
    """Return the time, in seconds, on the one clock that budgets are measured by."""
    return time.monotonic()


def late(until: float) -> bool:
    """Say if a time has passed."""
    return now() > until


def deadline(share: float = 1.0) -> float:
    """Return when what starts now must be ready, by `now`.

    That is a budget from now; within `one_figure` no later than the figure itself. With a share
    of the budget, it is earlier by the rest of it.
    """
    until, length = _FIGURE.get()
    budget = current().budget
    return min(until, now() + budget) - (1.0 - share) * min(length, budget)


def spent() -> bool:
    """Say if the budget of the figure that is computed here is spent."""
    return late(_FIGURE.get()[0])


def search_deadline() -> float:
    """Return when a search must end that proofs, or the trial of a certificate, are to follow."""
    return deadline(_SEARCH)


@contextmanager
def one_figure() -> Iterator[None]:
    """Let all that is computed in the block share one budget, which starts here.

    Within another such block that one's goes on, and `deadline` stays where it was.
    """
    until = deadline()
    token = _FIGURE.set((until, min(_FIGURE.get()[1], current().budget)))
    try:
        yield
    finally:
        _FIGURE.reset(token)


@contextmanager
def part(of: int) -> Iterator[None]:
    """Let what is computed in the block, the first of some, have its part of the time left."""
    until, start = deadline(), now()
    length = (until - start) / of
    token = _FIGURE.set((start + length, max(length, 0.0)))
    try:
        yield
    finally:
        _FIGURE.reset(token)


def each(compute: Callable[[Any], Any], of: Sequence[Any]) -> list[Any]:
    """Compute something of each of some, all of it in one budget, of which each has its part."""
    found = []
    with one_figure():
        for k, one in enumerate(of):
            with part(len(of) - k):
                found.append(compute(one))
    return found


_CERTIFICATES = (
    "options(certificates=...) does nothing any more: no figure makes a certificate unless it is "
    "asked for, by bound.certify() or `borel audit --certificates`; leave the option out"
)


@contextmanager
def options(**changes) -> Iterator[Options]:
    """Set options for the block that follows.

    Parameters
    ----------
    **changes
        Fields of `Options`: ``tol``, ``budget``, ``engine``, ``seed``, ``closed_forms``.

    Raises
    ------
    InvalidInput
        An unknown option, or a value out of range.

    Examples
    --------
    >>> import borel as bl
    >>> with bl.options(tol=1e-6) as chosen:
    ...     chosen.tol
    1e-06
    """
    if changes.pop("certificates", None) is not None:
        warnings.warn(_CERTIFICATES, DeprecationWarning, stacklevel=3)
    known = {field.name for field in fields(Options)}
    if unknown := sorted(set(changes) - known):
        raise InvalidInput("options", expected=f"one of {sorted(known)}", got=", ".join(unknown))
    token = _CURRENT.set(replace(current(), **changes))
    try:
        yield current()
    finally:
        _CURRENT.reset(token)
