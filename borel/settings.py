"""The options of a computation, as a context: ``with bl.options(tol=1e-8): ...``."""

from __future__ import annotations

import math
import time
import warnings
from contextlib import ContextDecorator, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from borel import progress
from borel.constants import real
from borel.errors import InvalidInput, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextvars import Token

ENGINES = ("auto", "exact", "certified", "estimate")
UNITS = ("nats", "bits")


@dataclass(frozen=True)
class Options:
    """What a figure may cost and who may compute it.

    Parameters
    ----------
    tol : float
        Width, in nats, at which an enclosure or an estimate is good enough.
    budget : float
        Seconds that one figure may take on the reference machine. They are counted as work done
        (`work`), not read from a clock, so that a figure is the same on a fast and on a busy
        machine. Only where it took five times as many seconds of the processor, and half a minute,
        is it stopped: it is ``undecided`` then.
    engine : {"auto", "exact", "certified", "estimate"}
        ``auto`` takes the exact engine, else the certified one, else the estimate.
    seed : int
        Seed of every random choice (quasi-random starting points).
    closed_forms : bool
        Whether a mechanism's closed forms are used; switched off, the engine computes alone.
    unit : {"nats", "bits"}
        In what a Bound in nats is printed; its ends, tables, plots and reports stay in nats, and so
        does all that is compared with it: ``bound <= 1.3`` asks for 1.3 nats.
    progress : bool
        Whether a terminal or a notebook shows a bar once something takes more than two seconds. It
        changes no figure. With ``BOREL_PROGRESS=0`` in the environment no bar is shown anywhere.
    """

    tol: float = 1e-8
    budget: float = 60.0
    engine: str = "auto"
    seed: int = 0
    closed_forms: bool = True
    unit: str = "nats"
    progress: bool = field(default=True, repr=False, compare=False)  # no part of what is asked

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
        for name in ("closed_forms", "progress"):
            if not isinstance(value := getattr(self, name), bool):
                raise InvalidInput(
                    "options", expected=f"{name}, True or False", got=f"{name}={value!r}"
                )
        for name, known in (("engine", ENGINES), ("unit", UNITS)):
            if (value := getattr(self, name)) not in known:
                raise InvalidInput(
                    "options", expected=f"{name} in {known}", got=f"{name}={value!r}"
                )


_CURRENT: ContextVar[Options] = ContextVar("borel_options", default=Options())  # noqa: B039


# Measured by tests/benchmarks/test_work.py and test_budgets.py in the processor's time of one core
# of a server of 2025, and rounded so that whole figures, with all that is not counted, take about
# as long as their budget: at most three times as long, or a third.
WORK: dict[str, tuple[float, float]] = {
    "look": (2e-5, 0.0),  # at the budget, with what a loop does between two of them
    "float64": (4e-6, 6e-9),  # an operation of a graph, on arrays
    "opaque": (1e-5, 2e-7),  # a call of a density that could not be traced
    "intervals": (5e-5, 5e-8),  # an operation of a graph, rounded by error-free transformations
    "batched": (5e-5, 3e-8),  # an operation on jets; one of order k is 1 + k / 3 of them
    "special": (8e-6, 0.0),  # a value of a special function, by Arb
    "balls": (5e-7, 0.0),  # an operation of a graph on one ball
    "germs": (1.5e-5, 0.0),  # an operation of a graph along a ray
    "masses": (5e-5, 5e-2),  # a probability under a prior; the second one if it is narrow
    "programmes": (2e-3, 1e-6),  # a linear programme, and its rows and columns
    "pivots": (2e-5, 1e-7),  # a step of the simplex method, and its rows
    "dense": (1e-4, 1.5e-10),  # a look of scipy's search for weights, and the cube of their number
}
"""What work costs: seconds of the reference machine by step, and by step and number."""

_STOP, _SOONEST = 5.0, 30.0
"""After how many budgets of the processor's time, and how many seconds at least, a figure is
stopped however little was done: imports and tracing, which do not count, may take some seconds.
They are counted from its first look at the clock."""
_SEARCH = 0.75
"""The part of a budget for the search; the rest is for proofs and trials that follow it."""
STOPPED = "stopped on the clock, well past its budget"
"""The reason of a figure of which the time on the clock, five budgets, ran out first."""


class _Meter:
    """The work that was done for a figure, in nanoseconds of the reference machine.

    Whole numbers: their sum is the same in any order.
    """

    __slots__ = ("bar", "done", "end", "seconds", "stopped")

    def __init__(self, seconds: float = math.inf):
        self.done = 0
        self.seconds = seconds  # that the processor may spend on this thread, from the first look
        self.end: float | None = None
        self.stopped = False
        self.bar: progress.Bar | None = None  # what shows this work, apart from others'


_METER: ContextVar[_Meter] = ContextVar("borel_meter", default=_Meter())  # noqa: B039
_FIGURE: ContextVar[tuple[float, float] | None] = ContextVar("borel_figure", default=None)
"""When the figure that is computed here must be ready, and how much time it had."""


def current() -> Options:
    """Return the options in force here."""
    return _CURRENT.get()


def work(kind: str, steps: float = 1, numbers: float = 0) -> None:
    """Count work that was done, or is about to be: some steps, on some numbers each.

    Parameters
    ----------
    kind : str
        A key of `WORK`.
    steps : float
        How many, such as operations of a graph.
    numbers : float
        How many each of them computes.
    """
    each, more = WORK[kind]
    _METER.get().done += int(1e9 * steps * (each + more * numbers))


def now() -> float:
    """Return how much work was done, in seconds of the reference machine: budgets' own clock."""
    return _METER.get().done / 1e9


def late(until: float) -> bool:
    """Say if a time has passed, by `now`, or if the processor's time stops the figure.

    Each look counts as work: a loop that looks ends, whatever else it does.
    """
    work("look")
    meter = _METER.get()
    if now() > until:
        return True
    if meter.bar is not None:
        meter.bar.done = now()
    progress.look(time.monotonic())
    if meter.end is None:
        meter.end = time.thread_time() + meter.seconds
    meter.stopped = meter.stopped or time.thread_time() > meter.end
    return meter.stopped


def stopped() -> bool:
    """Say if the processor's time stopped the figure that is computed here."""
    return _METER.get().stopped


def deadline(share: float = 1.0) -> float:
    """Return when what starts now must be ready, by `now`.

    That is a budget from now; within `one_figure` no later than the figure itself. With a share
    of the budget, it is earlier by the rest of it.
    """
    until, length = _FIGURE.get() or (math.inf, math.inf)
    budget = current().budget
    return min(until, now() + budget) - (1.0 - share) * min(length, budget)


def spent() -> bool:
    """Say if the budget of the figure that is computed here is spent."""
    return late((_FIGURE.get() or (math.inf,))[0])


def search_deadline() -> float:
    """Return when a search must end that proofs, or the trial of a certificate, are to follow."""
    return deadline(_SEARCH)


def within_figure() -> bool:
    """Say if a figure is computed here."""
    return _FIGURE.get() is not None


def meter_of_figure() -> _Meter | None:
    """Return the meter of the figure that is computed here, its own; None where none is."""
    return _METER.get() if within_figure() else None


@contextmanager
def one_figure(name: str = "computing") -> Iterator[None]:
    """Let all that is computed in the block share one budget, which starts here.

    Within another such block that one's goes on, and `deadline` stays where it was. A bar, with
    the name, shows how much of the budget is spent (`progress_bar`).
    """
    if (outer := _FIGURE.get()) is None:
        meter, budget, unit = _METER.get(), current().budget, "s of work at most"
        with apart() as own, progress_bar(budget, name=name, unit=unit) as shown:
            own.bar = shown
            yield
        meter.done += own.done
        return
    token = _FIGURE.set((deadline(), min(outer[1], current().budget)))
    try:
        yield
    finally:
        _FIGURE.reset(token)


@contextmanager
def apart() -> Iterator[_Meter]:
    """Let what is computed in the block be a figure of its own, also within another.

    That is for facts that outlive a figure, such as the normalisation of a prior: neither do they
    depend on which figure needed them first, nor does that one pay for them.
    """
    budget = current().budget
    # no clock is read yet: on a busy machine to read it is to wait for others, for milliseconds
    meter = _Meter(max(_STOP * budget, _SOONEST))
    meters, figures = _METER.set(meter), _FIGURE.set((budget, budget))
    try:
        yield meter
    finally:
        _FIGURE.reset(figures)
        _METER.reset(meters)
        if _FIGURE.get() is not None:
            _METER.get().stopped |= meter.stopped


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


def progress_bar(
    total: float | None, *, name: str = "", unit: str = "steps", wanted: bool | None = None
) -> progress.Bar:
    """Return a `borel.progress.Bar`, shown if the options in force here let it be."""
    wanted = wanted if current().progress else False
    return progress.Bar(total, name=name, unit=unit, wanted=wanted)


_CERTIFICATES = (
    "options(certificates=...) does nothing any more: no figure makes a certificate unless it is "
    "asked for, by bound.certify() or `borel audit --certificates`; leave the option out"
)


class _Chosen(ContextDecorator):
    """Options that ``with``, or a decorator, puts in force."""

    def __init__(self, changes: dict[str, Any]):
        self._changes = changes
        self._tokens: list[Token[Options]] = []

    def _recreate_cm(self) -> _Chosen:  # each call of a decorated function has its own
        return _Chosen(self._changes)

    def __enter__(self) -> Options:
        self._tokens.append(_CURRENT.set(replace(current(), **self._changes)))
        return current()

    def __exit__(self, *error: object) -> None:
        _CURRENT.reset(self._tokens.pop())

    def __repr__(self) -> str:
        """Show how they are applied: of themselves they do nothing."""
        said = f"options({', '.join(f'{n}={v!r}' for n, v in self._changes.items())})"
        return f"{said}: not in force; `with bl.{said}:` applies them to its block"


def options(**changes: Any) -> _Chosen:
    """Choose options for a block: ``with bl.options(tol=1e-6): ...`` applies them to it.

    A call of its own changes nothing: it is ``with`` that puts the options in force, and they end
    with its block. Whatever ``unit`` says, the numbers that functions take (thresholds, levels of
    guarantees, ``tol``, ``ell.tail(t)``) are nats: it changes only how a figure is printed.

    Parameters
    ----------
    **changes
        Fields of `Options`: ``tol``, ``budget``, ``engine``, ``seed``, ``closed_forms``,
        ``unit``, ``progress``.

    Raises
    ------
    InvalidInput
        An unknown option, or a value out of range; raised by the call, before any block.

    Examples
    --------
    >>> import borel as bl
    >>> with bl.options(tol=1e-6) as chosen:
    ...     chosen.tol
    1e-06
    >>> bl.options(tol=1e-6)
    options(tol=1e-06): not in force; `with bl.options(tol=1e-06):` applies them to its block
    """
    if changes.pop("certificates", None) is not None:
        warnings.warn(_CERTIFICATES, DeprecationWarning, stacklevel=2)
    known = [f.name for f in fields(Options)]
    if unknown := sorted(set(changes) - set(known)):
        raise InvalidInput(
            "options",
            expected=f"one of {sorted(known)}",
            got=", ".join(unknown),
            mend=" ".join(filter(None, (did_you_mean(name, known) for name in unknown))),
        )
    replace(current(), **changes)
    return _Chosen(changes)
