"""What every guarantee is: levels rounded up, an optional delta, and how two are compared."""

from __future__ import annotations

import math
from dataclasses import InitVar, dataclass, field, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from borel.constants import real
from borel.errors import InvalidInput, NotYet
from borel.figures.levels import ldp_of_all_secrets
from borel.guarantees.rounded_levels import Level, level_of, shown
from borel.numerics.intervals.rounding import fraction_down, fraction_up, log_fraction
from borel.probability.bound import Bound, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.probability.joint import Joint

_SHORT = 10**6
BY_LDP = "the level of LDP on all secrets bounds it"
"""What a figure rests on that `or_by_ldp` bounds."""


class Guarantee:
    """Base class: the parameters of a guarantee, and whether a joint satisfies it.

    Attributes
    ----------
    symbol : str
        How tables and pictures name the kind.
    units : str
        Of its level: nats, unless it says otherwise.
    """

    symbol: ClassVar[str] = ""
    units: ClassVar[str] = "nats"

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels, in the order of the fields."""
        raise NotImplementedError

    @property
    def parameters(self) -> tuple[Any, ...]:
        """All numbers of which smaller is stronger: levels in nats, then delta."""
        delta = getattr(self, "delta", None)
        return (*(level.nats for level in self.levels), *(() if delta is None else (delta,)))

    def implies_same_kind(self, other: Guarantee) -> bool:
        """Return whether this is at least as strong as another of its kind."""
        mine, its = self._key(), other._key()
        if mine[0] != its[0]:
            return False
        pairs = zip(self.levels, other.levels, strict=True)
        delta = getattr(self, "delta", 0) <= getattr(other, "delta", 0)
        return delta and all(a <= b for a, b in pairs)

    def holds_for(self, joint: Joint) -> Verdict:
        """Return whether the joint satisfies the guarantee: True, False or undecided."""
        raise NotImplementedError

    def _key(self) -> tuple:
        """Return what tells guarantees apart: the kind first, then the parameters."""
        return (type(self), *(getattr(self, f.name) for f in fields(self)), self._ratios())  # type: ignore[arg-type]

    def _ratios(self) -> tuple:
        return tuple(level.ratio for level in self.levels)

    def __eq__(self, other: object) -> bool:
        """Compare kinds and parameters."""
        return isinstance(other, Guarantee) and self._key() == other._key()

    def __hash__(self) -> int:
        """Hash kinds and parameters."""
        return hash(self._key())

    def __str__(self) -> str:
        """Show the guarantee briefly, numbers rounded up: ``PML(0.5, delta=0.01)``."""
        numbers = [_said(level) for level in self.levels]
        delta = getattr(self, "delta", 0)
        if delta:
            numbers.append(f"delta={shown(delta)}")
        return f"{self.symbol or type(self).__name__}({', '.join(numbers)})"

    def __repr__(self) -> str:
        """Show the guarantee with its numbers in full, or as ``PML(log 6/5)``."""
        if any(_short(level) for level in self.levels):
            return str(self)
        numbers = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(numbers)})"


def _short(level: Level) -> bool:
    ratio = level.ratio
    return ratio is not None and max(ratio.numerator, ratio.denominator) < _SHORT and ratio > 1


def _said(level: Level) -> str:
    return f"log {level.ratio}" if _short(level) else shown(level.nats)


def at_most(bound: Any, level: Level) -> Any:
    """Compare a figure with a level; exactly, where the level is the logarithm of a Fraction."""
    ratio = level.ratio
    if hasattr(bound, "at_most"):  # of every posterior draw
        low, high = nats_around(level)
        return bound.at_most(low, high, ratio)
    if ratio is None or not isinstance(bound, Bound):
        return bound <= level.nats
    return Verdict._compare(
        bound, level.nats, lambda b, _: b.ratio.upper <= ratio, lambda b, _: b.ratio.lower > ratio
    )


def or_by_ldp(answer: Any, joint: Joint, level: Level) -> Any:
    """Return an answer on a figure that LDP bounds; where it is open, what LDP on all secrets says.

    The figure is then known to lie below that level: by the matrix, or by a closed form, and with
    no regard to the prior.
    """
    if not isinstance(answer, Verdict) or answer.holds is not None or joint.prior.over == "draws":
        return answer
    ceiling = ldp_of_all_secrets(joint)
    if ceiling is None or at_most(ceiling, level).holds is not True:
        return answer
    low = min(answer.bound.lower, ceiling.upper) if answer.bound.proved else 0.0
    notes = dict.fromkeys((*answer.bound.assumptions, *ceiling.assumptions, BY_LDP))
    status = ceiling.status if ceiling.status == "conditional" else "certified"
    return Verdict(
        True, Bound.of(status, low, ceiling.upper, assumptions=tuple(notes)), answer.witness
    )


def or_without_exceptions(direct: Callable[[], Any], stronger: Callable[[], Any]) -> Any:
    """Return the answer to a guarantee that allows exceptions; where it is open, by one without.

    ``stronger`` answers a guarantee without exceptions that implies it; nothing follows from its
    failure.
    """
    missing: NotYet | None = None
    answer: Any = None
    try:
        answer = direct()
    except NotYet as error:
        missing = error
    if missing is None and (not isinstance(answer, Verdict) or answer.holds is not None):
        return answer
    try:
        found = stronger()
    except NotYet:
        found = None
    if isinstance(found, Verdict) and (found.holds or found._statistically):
        return found
    if missing is not None:
        raise missing
    return answer


def nats_around(level: Level) -> tuple[float, float]:
    """Return floats at or below, and at or above, a level in nats."""
    if level.ratio is not None:
        return log_fraction(level.ratio)
    if level.nats == math.inf:
        return math.inf, math.inf
    return fraction_down(Fraction(level.nats)), fraction_up(Fraction(level.nats))


def probability_up(delta: Fraction) -> Any:
    """Return a probability as it stands if that is short, else as a float at or above it."""
    if delta.denominator < _SHORT:
        up = float(delta)
        return up if Fraction(up) == delta else delta
    up = fraction_up(delta)
    return delta if up >= 1 else up


def checked_delta(what: str, delta: Any, *, closed: bool) -> Any:
    """Return delta as it is to be kept; raise unless it is a probability, 1 included if closed."""
    expected = f"0 <= delta {'<=' if closed else '<'} 1"
    number = real(what, delta, expected)
    if not (0 <= number <= 1 if closed else 0 <= number < 1):
        raise InvalidInput(what, expected=expected, got=repr(delta))
    return number


@dataclass(frozen=True, eq=False, repr=False)
class OneLevel(Guarantee):
    """A guarantee with one level, ``epsilon`` in nats or ``ratio`` = e^epsilon as a Fraction."""

    epsilon: Any = None
    ratio: InitVar[Any] = field(default=None, kw_only=True)

    def __post_init__(self, ratio: Any) -> None:
        level = level_of(type(self).__name__, self.epsilon, ratio)
        object.__setattr__(self, "epsilon", level.nats)
        object.__setattr__(self, "_level", level)

    @property
    def levels(self) -> tuple[Level, ...]:
        """The level."""
        return (self._level,)  # type: ignore[attr-defined]

    @classmethod
    def at(cls, level: Level, **more: Any) -> Any:
        """Make the guarantee from a level."""
        if level.ratio is not None:
            return cls(ratio=level.ratio, **more)
        return cls(level.nats, **more)


@dataclass(frozen=True, eq=False, repr=False)
class TailGuarantee(OneLevel):
    """A guarantee with one level and a probability delta of exceptions."""

    delta: Any = 0.0
    _closed: ClassVar[bool] = False

    def __post_init__(self, ratio: Any) -> None:
        super().__post_init__(ratio)
        delta = checked_delta(type(self).__name__, self.delta, closed=self._closed)
        object.__setattr__(self, "delta", delta)


class FigureGuarantee(OneLevel):
    """A guarantee that bounds one figure of the joint by epsilon."""

    _below_ldp: ClassVar[bool] = False  # whether the level of LDP bounds the figure

    def _figure(self, joint: Joint) -> Any:
        raise NotImplementedError

    def holds_for(self, joint: Joint) -> Verdict:
        """Return whether the joint satisfies the guarantee."""
        answer = at_most(self._figure(joint), self.levels[0])
        return or_by_ldp(answer, joint, self.levels[0]) if self._below_ldp else answer
