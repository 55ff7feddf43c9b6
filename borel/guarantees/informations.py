"""Guarantees that bound an information: max-, mutual and f-information, total variation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from borel.constants import exactly
from borel.engine import engine_for
from borel.errors import InvalidInput, NotYet
from borel.figures.averages import f_information, mutual_information
from borel.figures.leakage import pml
from borel.figures.worst_cases import max_information
from borel.guarantees.base import FigureGuarantee, Guarantee, TailGuarantee, at_most
from borel.guarantees.kinds import PML
from borel.guarantees.rounded_levels import Level, level_of, shown
from borel.numerics.intervals.rounding import fraction_down, fraction_up
from borel.priors.random_verdict import RandomVerdict
from borel.probability.bound import Bound, Verdict
from borel.probability.generators import CONVEX, NAMED, generator, resting_on
from borel.probability.real_functions import real_function

if TYPE_CHECKING:
    from borel.probability.joint import Joint


class MaxInformation(TailGuarantee):
    r"""delta-approximate max-information is at most epsilon.

    .. math:: I_\infty^\delta(X;Y) = \log \sup_{E : P_{XY}(E) \ge \delta}
              \frac{P_{XY}(E) - \delta}{P_X P_Y(E)} \le \varepsilon

    Parameters and errors are those of `PML`.

    References
    ----------
    "Pointwise Maximal Leakage", Definitions 12 and 13.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> joint.satisfies(MaxInformation(0.3, delta=0.1)).holds, joint.satisfies(PML(0.3)).holds
    (True, False)
    """

    symbol = "max-information"

    def holds_for(self, joint: Joint) -> Verdict:
        """Return whether it holds; off finite alphabets, where (epsilon, delta)-PML proves it."""
        (level,) = self.levels
        if self.delta and getattr(joint, "finite", False):
            return at_most(max_information(joint, self.delta), level)
        answer = PML.at(level, delta=self.delta).holds_for(joint)
        if self.delta and isinstance(answer, RandomVerdict):
            return answer.implied()
        if answer.holds is False and self.delta:
            why = "(epsilon, delta)-PML fails, which does not refute approximate max-information"
            return Verdict(None, answer.bound, answer.witness, why)
        return answer


class MutualInformation(FigureGuarantee):
    r"""Mutual information, :math:`I(X;Y) = E\, i(X;Y)`, is at most epsilon.

    Parameters
    ----------
    epsilon : float or Fraction
        Nats, >= 0; or ``ratio``, its exponential.

    References
    ----------
    "Pointwise Maximal Leakage", Section IV-C.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> joint.satisfies(MutualInformation(0.2)).holds
    True
    """

    symbol = "mutual information"

    def _figure(self, joint: Joint) -> Any:
        return mutual_information(joint)


@dataclass(frozen=True, eq=False, repr=False)
class TotalVariation(Guarantee):
    r"""Total variation between P_XY and P_X x P_Y is at most epsilon, in [0, 1].

    Parameters
    ----------
    epsilon : float or Fraction
        A probability.

    References
    ----------
    "Pointwise Maximal Leakage", equation (24).

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> joint.satisfies(TotalVariation(0.25)).holds, joint.satisfies(TotalVariation(0.2)).holds
    (None, False)
    """

    epsilon: Any
    symbol: ClassVar[str] = "total variation"
    units: ClassVar[str] = "probability"

    def __post_init__(self) -> None:
        level_of("TotalVariation", self.epsilon, None, "a probability")

    @property
    def levels(self) -> tuple[Level, ...]:
        """The level, a probability."""
        return (Level(self.epsilon),)

    def holds_for(self, joint: Joint) -> Verdict:
        """Return whether the joint satisfies the guarantee."""
        return _decided(joint, "total_variation", self.epsilon)


DIVERGENCES = tuple(name for name in NAMED if name != "kl")
"""The functions f that `FInformation` knows, by their names in `borel.f_information`."""


def _decided(joint: Joint, f: str, level: Any) -> Any:
    """Compare an f-information with a level; exactly, where it is a known Fraction."""
    bound = f_information(joint, f)
    if not getattr(joint, "rational", False) or level == math.inf:
        return bound <= level
    known, limit = engine_for(joint).exact_f_information(NAMED[f]), exactly(level)
    if known is None:
        return bound <= level
    return Verdict._compare(bound, level, lambda *_: known <= limit, lambda *_: known > limit)


def f_information_bound(joint: Joint, f: Any, *, at_zero: Any = None) -> Bound:
    r"""Return what PML bounds an f-information by, outcome by outcome.

    .. math:: I_f(X;Y) \le E \max\{f(e^{\ell(X \to Y)}), f(0)\}

    Parameters
    ----------
    joint : Joint
        ``prior * mech`` with finite or countable outcomes.
    f : str or callable
        As for `borel.f_information`: a name, or a convex function with f(1) = 0.
    at_zero : number, optional
        For a function: the limit f(0+), if f does not give it at 0 itself.

    Returns
    -------
    Bound
        The right side, in the units of f; exact on finite alphabets. Of a function it bounds the
        f-information if that is convex, which is checked at points: it is conditional on it unless
        the f-information itself is seen to be below.

    Raises
    ------
    InvalidInput
        As `borel.f_information`, or a function that cannot be traced.
    NotYet
        Outcomes with a density.

    References
    ----------
    "Pointwise Maximal Leakage", Proposition 8; for total variation equation (26).

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> f_information_bound(joint, "total_variation"), bl.f_information(joint, "total_variation")
    (Bound(0.5 probability, exact), Bound(0.25 probability, exact))
    """
    made = generator(f, at_zero)
    own, what = made.at if made.named else f, "f_information_bound"
    if made.named:  # of t log t, unlike of the phi that engines use, f(0) is 0
        zero: Any = Fraction(0) if made.name == "kl" else made.at_zero
        ends = (zero, zero)
    elif made.at_zero is not None:
        ends = (made.at_zero, made.at_zero)
    else:
        found = real_function(what, f).over(np.zeros(1), np.zeros(1))
        ends = (float(found[0][0]), float(found[1][0]))
        if not all(map(math.isfinite, ends)):
            raise InvalidInput(
                what, expected="f(0+)", got="no number from f at 0", mend="give it: at_zero=..."
            )
    low, high = (
        _largest_at(joint, own, end, up) for end, up in zip(ends, (False, True), strict=True)
    )
    found = high.within(min(low.lower, high.lower), high.upper).about(units=made.units)
    if made.named or found.lower == math.inf or _below(joint, f, at_zero, found):
        return found
    return resting_on(found, CONVEX, *filter(None, [made.note_at_zero]))


def _below(joint: Joint, f: Any, at_zero: Any, found: Bound) -> bool:
    """Return whether the f-information is seen to be at most a Bound."""
    try:
        own = f_information(joint, f, at_zero=at_zero)
    except NotYet:
        return False
    return own.status in ("exact", "certified") and own.upper <= found.lower


def _largest_at(joint: Joint, f: Any, zero: Any, up: bool) -> Bound:
    """Return E max{f(e^l), f(0)}, with an end of f(0)."""
    if zero == math.inf:
        return Bound.exact(math.inf, math.inf, units="number")
    least = (fraction_up if up else fraction_down)(Fraction(zero))
    return pml(joint).expectation(lambda t: np.maximum(f(np.exp(t)), least))


@dataclass(frozen=True, eq=False, repr=False)
class FInformation(Guarantee):
    r"""f-information, :math:`E_{P_X P_Y} f(dP_{XY} / d(P_X P_Y))`, is at most epsilon.

    Parameters
    ----------
    epsilon : float or Fraction
        The bound, in the units of f.
    f : {"chi_square", "total_variation", "squared_hellinger"}
        Which convex function, as for `borel.f_information`; for "kl" there is `MutualInformation`.

    References
    ----------
    "Pointwise Maximal Leakage", Definition 18.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> rows = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
    >>> joint = bl.pmf([F(1, 2), F(1, 2)]) * bl.Mechanism.from_matrix(rows)
    >>> joint.satisfies(FInformation(0.25, "chi_square")).holds
    True
    """

    epsilon: Any
    f: str = "chi_square"
    symbol: ClassVar[str] = "f-information"
    units: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        level_of("FInformation", self.epsilon, None, "a number")
        if self.f not in DIVERGENCES:
            raise InvalidInput(
                "FInformation",
                expected=f"f in {sorted(DIVERGENCES)}",
                got=repr(self.f),
                mend="for the relative entropy, MutualInformation(epsilon)." * (self.f == "kl"),
            )

    @property
    def levels(self) -> tuple[Level, ...]:
        """The level, in the units of f."""
        return (Level(self.epsilon),)

    def __str__(self) -> str:
        """Show the function and the level."""
        return f"{self.f.replace('_', ' ')} information({shown(self.epsilon)})"

    def holds_for(self, joint: Joint) -> Verdict:
        """Return whether the joint satisfies the guarantee."""
        return _decided(joint, self.f, self.epsilon)
