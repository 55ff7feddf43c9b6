"""Bound and Verdict: a figure as an enclosure with its status, and what may be concluded from it.

The promise of the library lives here: an estimate is never a guarantee. The status of a Bound is
fixed by the constructor that made it, and nothing but those constructors makes Bounds.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from borel import settings
from borel.constants import inside, real
from borel.errors import InvalidInput, Undecided
from borel.probability.bound_text import confidence_text, enclosure, formatted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STATUSES = ("exact", "certified", "conditional", "statistical", "estimate")
"""The statuses, strongest first. ``undecided`` is an answer, not a rank."""

PROVED = ("exact", "certified", "conditional")
_BOTH = ("lower", "upper")
UNPROVED = ("estimate", "statistical")
"""Statuses of ends that an undecided figure, which states no error and no confidence, may not have.
"""


class Ratio(NamedTuple):
    """An enclosure of e^value, or of a value; Fractions where the inputs were Fractions."""

    lower: float | Fraction
    upper: float | Fraction


def weakest(statuses: Iterable[str]) -> str:
    """Return the weakest of some statuses; ``undecided`` if any of them is.

    Examples
    --------
    >>> weakest(["exact", "estimate", "certified"])
    'estimate'
    """
    found = set(statuses)
    if "undecided" in found:
        return "undecided"
    return max(found, key=STATUSES.index)


@dataclass(frozen=True, eq=True)
class Bound:
    """An enclosure ``lower <= truth <= upper`` with a status and all that it rests on.

    Make one with `Bound.exact`, `Bound.certified`, `Bound.conditional`, `Bound.statistical`,
    `Bound.estimate` or `Bound.undecided`: the status says which code built it.

    Attributes
    ----------
    lower, upper : float
        The enclosure. ``lower == inf`` is a proved infinity; ``upper == inf`` alone is ignorance.
        For an estimate they are value -/+ error estimate and prove nothing.
    status : str
        One of `STATUSES`, or ``"undecided"``.
    assumptions : tuple of str
        What the enclosure rests on.
    witness : dict or None
        Where it comes from: the secret x, the outcome y, as plain data; over a set of priors also
        the worst ``prior``, a `Measure`.
    attained : bool or None
        Whether the supremum is attained, or only approached; None if not known.
    certificate : dict or None
        What an independent checker verifies again; made when it is asked for, by `certify`.
    units : str
        ``"nats"`` (or ``"bits"``), ``"probability"``, ``"ratio"`` (e^value), or ``"number"`` (an
        f-divergence).
    reason : str
        Why the figure is an estimate, or undecided, and what to do about it.
    confidence : float or None
        For ``statistical``: the probability with which the enclosure holds.
    truth_ends : tuple of str
        The ends that bound the figure of the true prior. Over a set that holds it with some
        confidence, the supremum over the set is at least the truth: ``("upper",)``. That some
        member of the set has more than ``lower`` says nothing of the true prior, and a `Verdict`
        concludes nothing from it.

    Notes
    -----
    There is no ``__float__``: a Bound is not a number. ``bound <= t`` is a `Verdict`, and so are
    ``<``, ``>=``, ``>``, and those of two Bounds; ``==`` is a plain bool, so that Bounds can be
    found in lists and compared with saved ones, and says nothing of the figures they enclose: for
    that ask ``one <= other`` and ``one >= other``.
    ``==`` compares Bounds as data, the measures of a witness by their law: a Bound equals itself
    after pickling and after saving (see `borel.audits.serialisation` for the
    measures a file cannot hold).

    Examples
    --------
    >>> b = Bound.exact(0.25, 0.25)
    >>> bool(b <= 0.3)
    True
    >>> Bound.estimate(0.25, 1e-9) <= 0.3
    Verdict(undecided: an estimate proves nothing, ~0.25 +- 1e-09)
    """

    lower: float
    upper: float
    status: str
    assumptions: tuple[str, ...] = ()
    witness: dict | None = None
    attained: bool | None = None
    certificate: dict | None = None
    units: str = "nats"
    reason: str = ""
    confidence: float | None = None
    exact_ratio: Ratio | None = None
    truth_ends: tuple[str, ...] = _BOTH
    # what was asked, for `certify`: of this Bound alone, not of one that is made from it
    question: Any = field(default=None, init=False, repr=False, compare=False)

    __array_ufunc__ = None
    ends: ClassVar[Ratio]
    """The ends before they are rounded to floats: what is compared with a threshold."""

    def __post_init__(self):
        kept = (v if isinstance(v, Fraction) else float(v) for v in (self.lower, self.upper))
        object.__setattr__(self, "ends", Ratio(*kept))
        lower, upper = _outward(self.lower, -1), _outward(self.upper, 1)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        object.__setattr__(self, "assumptions", tuple(self.assumptions))
        object.__setattr__(self, "truth_ends", tuple(self.truth_ends))
        if self.status not in (*STATUSES, "undecided"):
            raise InvalidInput("Bound", expected=f"a status of {STATUSES}", got=repr(self.status))
        if not lower <= upper:
            raise InvalidInput(
                "Bound", expected="lower <= upper, no NaN", got=f"[{lower!r}, {upper!r}]"
            )
        if self.status == "undecided" and not self.reason:
            raise InvalidInput("Bound", expected="a reason for undecided", got="none")
        stated = self.confidence
        if self.status == "statistical" and not (stated is not None and 0 <= stated <= 1):
            raise InvalidInput(
                "Bound", expected="a confidence in [0, 1] for statistical", got=repr(stated)
            )

    # -- constructors: the status is which of them was called -------------------------------

    @classmethod
    def exact(cls, lower: float, upper: float, **about: Any) -> Bound:
        """Enclose a closed form or a rational figure to rounding."""
        return cls(lower, upper, "exact", **about)

    @classmethod
    def certified(cls, lower: float, upper: float, **about: Any) -> Bound:
        """Enclose a figure with every step proved."""
        return cls(lower, upper, "certified", **about)

    @classmethod
    def conditional(cls, lower: float, upper: float, **about: Any) -> Bound:
        """Enclose a figure under the assumptions that are listed."""
        if not about.get("assumptions"):
            raise InvalidInput("Bound.conditional", expected="its assumptions", got="none")
        return cls(lower, upper, "conditional", **about)

    @classmethod
    def statistical(cls, lower: float, upper: float, *, confidence: float, **about: Any) -> Bound:
        """Enclose a figure with the stated confidence."""
        return cls(lower, upper, "statistical", confidence=float(confidence), **about)

    @classmethod
    def estimate(cls, value: float, error: float, **about: Any) -> Bound:
        """Report a value with an error estimate, which proves nothing.

        The error is never 0: no float64 is known better than to its rounding.
        """
        if not error >= 0 or math.isnan(value):
            why = f"the estimate came out as {value} +- {error}"
            about["reason"] = "; ".join(filter(None, (why, about.get("reason", ""))))
            return cls.undecided(**about)
        error = max(error, 2.0**-52 * max(1.0, abs(value)))
        lower, upper = (value, value) if math.isinf(value) else (value - error, value + error)
        return cls(lower, upper, "estimate", **about)

    @classmethod
    def undecided(
        cls, lower: float = 0.0, upper: float = math.inf, *, reason: str, **about: Any
    ) -> Bound:
        """Report true bounds that do not settle the question, with the reason."""
        return cls(lower, upper, "undecided", reason=reason, **about)

    @classmethod
    def of(cls, status: str, lower: Any, upper: Any, *, reason: str = "", **about: Any) -> Bound:
        """Enclose a figure whose status is that of what it was computed from.

        Parameters
        ----------
        status : str
            Which of the constructors makes it.
        lower, upper : float
            Its ends; those of an estimate are its value -/+ its error.
        reason : str
            Why it is an estimate, or undecided; a proved figure needs none.
        **about
            Notes. Neither an estimate nor an undecided figure keeps an exact ratio.

        Examples
        --------
        >>> Bound.of(weakest(["exact", "certified"]), 0.25, 0.5)
        Bound([0.25, 0.5], certified)
        """
        if status in ("estimate", "undecided"):
            about.pop("exact_ratio", None)
        if status == "estimate":
            same = lower == upper
            middle, half = (lower, 0.0) if same else ((lower + upper) / 2, (upper - lower) / 2)
            return cls.estimate(middle, half, reason=reason, **about)
        if status == "undecided":
            return cls.undecided(lower, upper, reason=reason, **about)
        if status not in STATUSES:
            raise InvalidInput("Bound.of", expected=f"a status of {STATUSES}", got=repr(status))
        return getattr(cls, status)(lower, upper, **about)

    # -- reading ----------------------------------------------------------------------------

    @property
    def width(self) -> float:
        """``upper - lower``; 0 for a proved infinity."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower

    @property
    def value(self) -> float:
        """The middle of the enclosure: a number to print or plot, never to prove with."""
        if math.isinf(self.upper) or math.isinf(self.lower):
            return self.lower if math.isinf(self.lower) else self.upper
        return self.lower + (self.upper - self.lower) / 2

    @property
    def proved(self) -> bool:
        """Whether the enclosure is proved, outright or under its assumptions."""
        return self.status in PROVED

    @property
    def ratio(self) -> Ratio:
        """An enclosure of e^value; exact Fractions where the inputs were Fractions."""
        if self.exact_ratio is not None:
            return self.exact_ratio
        low, high = self.lower, self.upper
        if self.units == "bits":
            low, high = _scaled(low, math.log(2), -1), _scaled(high, math.log(2), 1)
        return Ratio(_exp_outward(low, -1), _exp_outward(high, 1))

    @property
    def bits(self) -> Bound:
        """The same figure in bits: nats divided by log 2, rounded outwards.

        Raises
        ------
        InvalidInput
            A figure that is no logarithm: a probability, a ratio, a number.

        Examples
        --------
        >>> print(Bound.exact(math.log(2), math.log(2)).bits)
        1 bits (exact)
        """
        if self.units == "bits":
            return self
        if self.units != "nats":
            raise InvalidInput("bound.bits", expected="a figure in nats", got=self.units)
        low, high = (
            _scaled(self.lower, 1 / math.log(2), -1),
            _scaled(self.upper, 1 / math.log(2), 1),
        )
        return replace(self, lower=low, upper=high, units="bits", certificate=None)

    def about(self, **changes: Any) -> Bound:
        """Return the same enclosure with other notes (witness, assumptions, reason, ...)."""
        fixed = {"status", "lower", "upper", "confidence"}
        if forbidden := fixed & set(changes):
            raise InvalidInput("Bound.about", expected="notes only", got=str(sorted(forbidden)))
        if not set(self.assumptions) <= set(changes.get("assumptions", self.assumptions)):
            raise InvalidInput(
                "Bound.about", expected="the assumptions kept, others added", got="some dropped"
            )
        return replace(self, **changes)

    def within(self, lower: float, upper: float) -> Bound:
        """Return a figure with other ends and the same status and notes: one read off this one."""
        return replace(self, lower=lower, upper=upper, exact_ratio=None, certificate=None)

    def weakened(self, status: str) -> Bound:
        """Return the same enclosure with a weaker status: neither an exact ratio nor attained."""
        if status not in STATUSES or weakest([self.status, status]) != status:
            raise InvalidInput(
                "Bound.weakened", expected=f"a status weaker than {self.status}", got=repr(status)
            )
        return replace(self, status=status, exact_ratio=None, attained=None, certificate=None)

    def with_confidence(self, confidence: float | None) -> Bound:
        """Return the figure as one over a set of priors that holds the truth with a confidence.

        The figure is a supremum over the set: its upper end bounds the truth (``truth_ends``). All
        figures over the set hold on that one event: no risks add up. What is not proved stays as it
        is, and so does every figure if the set is certain (None).
        """
        if confidence is None or not (self.proved or self.status == "statistical"):
            return self
        about = {"exact_ratio": None, "certificate": None, "reason": ""}
        about["truth_ends"] = ("upper",)
        return replace(self, status="statistical", confidence=confidence, **about)

    # -- certificates -----------------------------------------------------------------------

    def certify(self) -> Bound:
        """Return this figure with a certificate, which ``borel check`` verifies.

        Returns
        -------
        Bound
            The same figure with its ``certificate``, which the checker has verified once. It is
            data: ``json.dump(bound.certificate, file)``.

        Raises
        ------
        NotYet
            The checker has no rule for the figure, or does not take what was made. The status does
            not depend on it.
        InvalidInput
            A Bound that was loaded, made by hand or made from others: what was asked is not known.

        Examples
        --------
        >>> import numpy as np, borel as bl
        >>> noise = bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, secret=bl.Interval(0, 1),
        ...                      outcome=bl.Reals())
        >>> found = bl.pml(bl.uniform(bl.Interval(0, 1)) * noise)(0.25)
        >>> found.certificate is None, found.certify().certificate["figure"]
        (True, 'pml.at')
        """
        if self.certificate is not None:
            return self
        if self.question is None:
            raise InvalidInput(
                "bound.certify",
                expected="a figure as it was computed",
                got="a Bound that was loaded, made by hand or made from others",
                mend="ask the figure of the joint again: bl.pml(prior * mech).sup().certify().",
            )
        return self.question.certified(self)

    def answering(self, question: Any) -> Bound:
        """Return the same figure, which knows what was asked."""
        found = copy.copy(self)
        object.__setattr__(found, "question", question)
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Leave what was asked out of pickles and copies: it holds a joint and its engines."""
        return {name: value for name, value in self.__dict__.items() if name != "question"}

    # -- comparing --------------------------------------------------------------------------

    def __le__(self, threshold: float | Fraction | Bound) -> Verdict:
        """Compare: holds if ``upper <= threshold``, fails if ``lower > threshold``.

        With another Bound, the difference of the two is compared with 0.
        """
        return Verdict._compare(
            self, threshold, lambda b, t: b.ends.upper <= t, lambda b, t: b.ends.lower > t, "upper"
        )

    def __lt__(self, threshold: float | Fraction | Bound) -> Verdict:
        """Compare: holds if ``upper < threshold``, fails if ``lower >= threshold``."""
        return Verdict._compare(
            self, threshold, lambda b, t: b.ends.upper < t, lambda b, t: b.ends.lower >= t, "upper"
        )

    def __ge__(self, threshold: float | Fraction | Bound) -> Verdict:
        """Compare: holds if ``lower >= threshold``, fails if ``upper < threshold``."""
        return Verdict._compare(
            self, threshold, lambda b, t: b.ends.lower >= t, lambda b, t: b.ends.upper < t, "lower"
        )

    def __gt__(self, threshold: float | Fraction | Bound) -> Verdict:
        """Compare: holds if ``lower > threshold``, fails if ``upper <= threshold``."""
        return Verdict._compare(
            self, threshold, lambda b, t: b.ends.lower > t, lambda b, t: b.ends.upper <= t, "lower"
        )

    # -- sums and differences ---------------------------------------------------------------

    def __neg__(self) -> Bound:
        """Return the negative, with the same status and assumptions."""
        about: dict[str, Any] = {"units": self.units, "assumptions": self.assumptions}
        if self.confidence is not None:
            about["confidence"] = self.confidence
        about["truth_ends"] = tuple(_OTHER[end] for end in reversed(self.truth_ends))
        low, high = -self.ends.upper, -self.ends.lower
        return Bound.of(self.status, low, high, reason=self.reason, **about)

    def __add__(self, other: float | Fraction | Bound) -> Bound:
        """Return the sum with a number of the same units, or with another figure.

        Its status is the weaker one, its assumptions are those of both, and it holds with
        probability 1 less what either may fail with.

        Examples
        --------
        >>> print(1 - Bound.certified(0.25, 0.5, units="probability"))
        [0.5, 0.75] probability (certified)
        """
        if not isinstance(other, Bound):
            number = real("adding to a Bound", other, f"a number ({self.units})")
            if math.isnan(number):
                raise InvalidInput("adding to a Bound", expected="a number", got=repr(other))
            other = Bound.exact(number, number, units=self.units)
        if self.units != other.units:
            raise InvalidInput(
                "adding Bounds", expected=f"{self.units} twice", got=f"{self.units}, {other.units}"
            )
        both = (self, other)
        status = weakest(b.status for b in both)
        low, high = _sum(*(b.ends.lower for b in both)), _sum(*(b.ends.upper for b in both))
        if low is None or high is None:  # inf - inf
            low, high, status = -math.inf, math.inf, "undecided"
        if status == "undecided" and any(b.status in UNPROVED for b in both):
            low, high = -math.inf, math.inf
        reason = "; ".join(dict.fromkeys(b.reason for b in both if b.reason))
        about: dict[str, Any] = {
            "units": self.units,
            "assumptions": tuple(dict.fromkeys(a for b in both for a in b.assumptions)),
        }
        about["truth_ends"] = _ends_of_all(both)
        if status == "statistical":
            about["confidence"] = _jointly(both)
        return Bound.of(status, low, high, reason=reason or _NO_DIFFERENCE, **about)

    __radd__ = __add__

    def __sub__(self, other: float | Fraction | Bound) -> Bound:
        """Return the difference: the sum with the negative."""
        return self + (-other)

    def __rsub__(self, other: float | Fraction) -> Bound:
        """Return a number less the figure."""
        return -self + other

    def __float__(self):
        """Refuse: an enclosure is not a number."""
        raise TypeError(
            "a Bound is an enclosure, not a number: use .lower, .upper, or .value to print or plot"
        )

    # -- showing ----------------------------------------------------------------------------

    @property
    def enclosure(self) -> str:
        """The ends as text, without units and status; of an estimate ``~value +- error``.

        One number stands for ends that agree in ten digits; else the ends are rounded outwards.
        """
        return self._text("")

    def __str__(self) -> str:
        """Show the enclosure, its units and its status."""
        return self._shown("")

    def __format__(self, spec: str) -> str:
        """Show it with ends in a format, ``".3f"``, rounded outwards: also units and status.

        Examples
        --------
        >>> f"{Bound.certified(0.12341, 0.12342):.3f}"
        '[0.123, 0.124] nats (certified)'
        """
        return self._shown(spec)

    def _in_the_unit_shown(self) -> Bound:
        in_bits = self.units == "nats" and settings.current().unit == "bits"
        return self.bits if in_bits else self

    def _text(self, spec: str) -> str:
        return enclosure(self.lower, self.upper, spec, estimate=self.status == "estimate")

    def _shown(self, spec: str) -> str:
        found = self._in_the_unit_shown()
        stated = (
            "" if self.confidence is None else f", confidence {confidence_text(self.confidence)}"
        )
        units = "" if found.units == "number" or found.lower == math.inf else f" {found.units}"
        return f"{found._text(spec)}{units} ({self.status}{stated})"

    def __repr__(self) -> str:
        """Show the enclosure with its status, and the reason or the confidence."""
        found = self._in_the_unit_shown()
        extra = (
            "" if self.confidence is None else f", confidence={confidence_text(self.confidence)}"
        )
        why = f", reason: {self.reason}" if self.reason else ""
        units = "" if found.units == "nats" else f" {found.units}"
        return f"Bound({found._text('')}{units}, {self.status}{extra}{why})"

    def _number(self) -> str:
        """Return the ends as a verdict shows them: in bits with the word, else without units."""
        found = self._in_the_unit_shown()
        return found._text("") + (" bits" if found.units == "bits" else "")

    def _repr_html_(self) -> str:
        from html import escape

        found = self._in_the_unit_shown()
        notes = "".join(f"<li>{escape(a)}</li>" for a in self.assumptions)
        why = f"<div><i>{escape(self.reason)}</i></div>" if self.reason else ""
        return (
            f"<div><b>{escape(found._text(''))}</b> {escape(found.units)} "
            f"<code>{escape(self.status)}</code>{why}<ul>{notes}</ul></div>"
        )


_OTHER = {"lower": "upper", "upper": "lower"}
_NO_DIFFERENCE = "infinity less infinity has no value"


def _sum(first: float | Fraction, second: float | Fraction) -> float | Fraction | None:
    """Return the exact sum of two ends; None for infinity less infinity."""
    infinite = {float(v) for v in (first, second) if math.isinf(v)}
    if infinite:
        return infinite.pop() if len(infinite) == 1 else None
    return Fraction(first) + Fraction(second)


def _jointly(bounds: Iterable[Bound]) -> float:
    """Return the confidence with which all hold: the risks of those that have one add up."""
    risks = (1 - Fraction(b.confidence) for b in bounds if b.confidence is not None)
    return _outward(max(Fraction(0), 1 - sum(risks, Fraction(0))), -1)


def _ends_of_all(bounds: Iterable[Bound]) -> tuple[str, ...]:
    """Return the ends of a sum, or of the largest, that bound the truth: those of all figures."""
    each = [b.truth_ends for b in bounds]
    return tuple(end for end in _BOTH if all(end in ends for ends in each))


def _scaled(value: float, factor: float, direction: int) -> float:
    """Multiply by a factor that is within an ulp of what is meant, rounded outwards."""
    found = value * factor
    for _ in range(5):  # four roundings, each half an ulp or an ulp below a power of two
        found = found if value == 0 else math.nextafter(found, direction * math.inf)
    return found if math.isfinite(value) else value


def attained_by_some(each: Sequence[bool | None], tied: bool) -> bool | None:
    """Return whether the largest of several suprema is attained; None if it is not known.

    ``tied`` says that all of them certainly are the largest; otherwise each of them may be.

    Examples
    --------
    >>> attained_by_some([False, True], tied=True)
    True
    >>> attained_by_some([False, True], tied=False)
    """
    if tied and any(each):
        return True
    return each[0] if len({*each}) == 1 else None


def largest(bounds: Iterable[Bound], *, assumptions: Iterable[str] = ()) -> Bound:
    """Return the largest of several figures, with the weakest status of those it rests on.

    A proved infinity settles it. Where a figure is undecided the ends of estimates beside it, and
    those at a confidence, are worth nothing: only what the others prove is kept. An undecided
    figure that lies below the rest does not matter.

    Examples
    --------
    >>> largest([Bound.exact(0.5, 0.5), Bound.undecided(0, 0.25, reason="too wide")])
    Bound(0.5, exact)
    >>> largest([Bound.estimate(0.5, 1e-9), Bound.undecided(0, 0.75, reason="too wide")]).upper
    inf
    """
    each = list(bounds)
    if infinite := [b for b in each if b.proved and b.lower == math.inf]:
        best = min(infinite, key=lambda b: (STATUSES.index(b.status), b.attained is not True))
        others = [b.attained for b in each if b.upper == math.inf]
        return best.about(
            assumptions=tuple(dict.fromkeys((*best.assumptions, *assumptions))),
            attained=best.attained or attained_by_some(others, tied=False),
        )
    best = max(each, key=lambda b: (b.lower, b.upper, b.attained is True))
    low, high = best.lower, max(b.upper for b in each)
    rivals = [b for b in each if b.upper >= low]
    equal = [b for b in rivals if b is best or _same(b, best)]
    above = all(b.upper <= low or b is best or _same(b, best) for b in rivals)
    about: dict[str, Any] = {
        "assumptions": tuple(
            dict.fromkeys((*assumptions, *(a for b in each for a in b.assumptions)))
        ),
        "witness": best.witness,
        "units": best.units,
        "attained": (above and any(b.attained for b in equal))
        or attained_by_some([b.attained for b in rivals], tied=False),
    }
    reason = " ".join(dict.fromkeys(b.reason for b in each if b.reason))
    matter = [b.status for b in each if b.status != "undecided" or b is best or b.upper > low]
    if any(b.assumptions for b in each if b.status == "undecided"):
        matter.append("conditional")  # that such a figure lies below is known under its own
    status = weakest(matter)
    # that an undecided figure lies below may be known at a confidence, but not by an estimate
    worthless = UNPROVED if status == "undecided" else ("estimate",)
    true = [b for b in each if b.status not in worthless]
    if len(true) < len(each) and "undecided" in {b.status for b in each}:
        low = max((b.lower for b in true), default=0.0)
        return Bound.undecided(low, reason=reason, **about)
    if status == "statistical":
        about |= {"confidence": _jointly(each), "truth_ends": _ends_of_all(each)}
    elif (low, high) == (best.lower, best.upper):
        about["exact_ratio"] = best.exact_ratio
    return Bound.of(status, low, high, reason=reason, **about)


def _same(first: Bound, second: Bound) -> bool:
    """Return whether two figures are certainly equal: rational, and the same."""
    ratio = first.exact_ratio
    return ratio is not None and ratio == second.exact_ratio and ratio.lower == ratio.upper


OF_THE_SET = "not proved for the true prior: over the set"
"""How the reason starts where a set that holds the true prior with some confidence does not settle
it."""


@dataclass(frozen=True)
class Verdict:
    """What a Bound lets one conclude: True, False, or None when it does not settle it.

    Attributes
    ----------
    holds : bool or None
        The answer; None when undecided.
    bound : Bound
        The figure it was read from.
    witness : dict or None
        The secret or outcome that decides, where there is one.
    reason : str
        Why it is undecided.

    Notes
    -----
    ``bool(verdict)`` raises `Undecided` when ``holds`` is None. A ``statistical`` Bound answers
    only through `at`. Over a set that holds the true prior with some confidence (counts), True
    means that the guarantee holds under the true prior, with that confidence; that a member of the
    set fails is no False, as the true prior may be another: it is undecided.
    """

    holds: bool | None
    bound: Bound
    witness: dict | None = None
    reason: str = ""
    _statistically: bool | None = None
    # of a Bound in nats: what it was compared with, in nats whatever unit is shown
    _threshold: Any = field(default=None, compare=False)

    @classmethod
    def _compare(
        cls, bound: Bound, threshold: Any, holds: Any, fails: Any, proves: str = "upper"
    ) -> Verdict:
        """Compare; ``proves`` is the end of the Bound that shows that it holds."""
        if isinstance(threshold, Bound):
            bound, threshold = bound - threshold, 0
        threshold = real("comparing a Bound", threshold, "a number (nats)")
        about = {"_threshold": threshold if bound.units == "nats" else None}
        read = True if holds(bound, threshold) else False if fails(bound, threshold) else None
        if bound.status == "estimate":
            return cls(None, bound, bound.witness, "an estimate proves nothing", **about)
        if bound.status == "statistical":
            end = proves if read else _OTHER[proves]
            if read is not None and end not in bound.truth_ends:
                words, to = ("at least", "down") if end == "lower" else ("at most", "up")
                known = formatted(getattr(bound, end), "", to)
                why = f"{OF_THE_SET} the figure is {words} {known} (asked: {float(threshold):.10g})"
                return cls(None, bound, bound.witness, why, **about)
            if read is None:
                inside = f"the threshold lies inside the enclosure {bound.enclosure}"
                return cls(None, bound, bound.witness, inside, **about)
            own = confidence_text(bound.confidence or 0.0)
            why = f"the figure holds with confidence {own} only: ask .at(confidence=...)"
            return cls(None, bound, bound.witness, why, read, **about)
        why = "" if read is not None else bound.reason or _inside(bound)
        return cls(read, bound, bound.witness, why, **about)

    def at(self, *, confidence: float) -> Verdict:
        """Answer a statistical Bound at a confidence no higher than its own."""
        if self.bound.status != "statistical" or self.reason.startswith(OF_THE_SET):
            return self
        confidence = inside("Verdict.at", "confidence", confidence)
        assert self.bound.confidence is not None
        if confidence > self.bound.confidence:
            own = confidence_text(self.bound.confidence)
            why = f"the Bound holds with confidence {own}, not {confidence!r}"
            return replace(self, holds=None, reason=why, _statistically=None)
        why = "" if self._statistically is not None else _inside(self.bound)
        return replace(self, holds=self._statistically, reason=why)

    def __bool__(self) -> bool:
        """Return the answer, or raise `Undecided`."""
        if self.holds is None:
            raise Undecided(
                f"undecided: {self.reason}; the figure is {self.bound!r}{self._asked()}"
            )
        return self.holds

    def __repr__(self) -> str:
        """Show the answer and the figure it was read from."""
        if self.holds is None:
            return f"Verdict(undecided: {self.reason}, {self.bound._number()}{self._asked()})"
        return f"Verdict({self.holds}, {self.bound._number()}, {self.bound.status}{self._asked()})"

    def _asked(self) -> str:
        """Return the threshold in both units where the figure is shown in bits, else nothing."""
        if self._threshold is None or settings.current().unit != "bits":
            return ""
        nats = float(self._threshold)
        return f"; threshold {nats:.10g} nats = {nats / math.log(2):.10g} bits"

    def _repr_html_(self) -> str:
        from html import escape

        answer = "undecided" if self.holds is None else "it holds" if self.holds else "it fails"
        why = f"<div><i>{escape(self.reason)}</i></div>" if self.reason else ""
        asked = f" {self._asked().removeprefix('; ')}" if self._asked() else ""
        return f"<div><b>{answer}</b>{asked}{why}{self.bound._repr_html_()}</div>"


def _inside(bound: Bound) -> str:
    """Say why a threshold inside an enclosure is not settled, and what would settle it."""
    said = "the threshold lies inside the enclosure"
    if bound.width > 1e-12 * max(1.0, abs(bound.upper)):
        return said
    return (
        f"{said}, which is {bound.width:.1g} wide: the figure is the threshold but for the "
        f"rounding of floats; Fractions, and ratio=... for a level, are answered exactly"
    )


def _outward(value: Any, direction: int) -> float:
    """Round an exact end outwards; floats stay as they are."""
    if not isinstance(value, Fraction):
        return float(value)
    from borel.numerics.intervals.rounding import fraction_down, fraction_up

    return fraction_down(value) if direction < 0 else fraction_up(value)


def _exp_outward(value: float, direction: int) -> float:
    """Round e^value outwards; the libm exp is within 4 ulp (notes on rounding in engine)."""
    if math.isinf(value):
        return math.inf if value > 0 else 0.0
    try:
        power = math.exp(value)
    except OverflowError:
        return math.inf if direction > 0 else math.nextafter(math.inf, 0)
    for _ in range(5):
        power = math.nextafter(power, math.inf if direction > 0 else 0.0)
    return power
