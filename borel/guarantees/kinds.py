"""The kinds of guarantee, as objects: each says what it bounds and whether a joint satisfies it."""

from __future__ import annotations

import math
from dataclasses import InitVar, dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from borel.engine import engine_for
from borel.figures.averages import maximal_leakage, tail_leakage
from borel.figures.leakage import pmc, pml
from borel.figures.levels import alip, ldi, ldp, lip
from borel.figures.worst_cases import event_maximal_leakage
from borel.guarantees.base import (
    FigureGuarantee,
    Guarantee,
    TailGuarantee,
    at_most,
    nats_around,
    or_by_ldp,
    or_without_exceptions,
)
from borel.guarantees.rounded_levels import Level, larger, level_of, log_of
from borel.numerics.intervals.rounding import fraction_down, fraction_up, log_fraction
from borel.priors.random_verdict import RandomVerdict
from borel.probability.bound import Bound, Ratio, Verdict

if TYPE_CHECKING:
    from borel.probability.joint import Joint


class _Pointwise(TailGuarantee):
    """A tail bound on a leakage that is a random variable over the outcomes."""

    kind: ClassVar[str]

    def _variable(self, joint: Joint) -> Any:
        raise NotImplementedError

    def holds_for(self, joint: Joint) -> Verdict:
        """Return whether the joint satisfies the guarantee."""
        (level,) = self.levels
        if self.delta == 0:
            return or_by_ldp(at_most(self._variable(joint).sup(), level), joint, level)
        return or_without_exceptions(
            lambda: self._up_to_delta(joint), lambda: type(self).at(level).holds_for(joint)
        )

    def _up_to_delta(self, joint: Joint) -> Any:
        variable, (level,) = self._variable(joint), self.levels
        if hasattr(variable, "by_draw"):
            if joint.prior.trouble and (always := at_most(variable.sup(), level)).holds:
                return always  # under every prior, for which the draws are not needed
            return self._of_draws(variable.by_draw, level)
        if level.ratio is not None and getattr(joint, "rational", False):
            return self._exactly(joint, level.ratio)
        # P{leakage > epsilon} <= delta if and only if the (1 - delta)-quantile is <= epsilon: read
        # so, the answer is exact for Fractions; what is shown is the probability
        answer = at_most(variable.quantile(1 - Fraction(self.delta)), level)
        witness = variable.sup().witness if getattr(joint, "finite", False) else answer.witness
        return replace(answer, bound=variable.tail(level.nats), witness=witness)

    def _of_draws(self, law: Any, level: Level) -> Verdict:
        """Compare P_Y{leakage > epsilon} with delta under every posterior draw."""
        low, high = nats_around(level)
        most, least = law.tail(low), law.tail(high)  # the tail falls in epsilon
        delta = Fraction(self.delta)
        sure = most.draws["upper"] <= fraction_down(delta)
        return RandomVerdict.of(least, sure, least.draws["lower"] <= fraction_up(delta))

    def _exactly(self, joint: Joint, ratio: Fraction) -> Verdict:
        """Compare P{e^leakage > ratio} with delta, all of them Fractions."""
        engine = engine_for(joint)
        law = engine.law(self.kind)
        above = [j for j, r in enumerate(law.ratio_lower) if r > ratio and law.mass_lower[j] > 0]
        mass = sum((law.mass_lower[j] for j in above), Fraction(0))
        bound = engine.bound(mass, mass, units="probability")
        bound = bound.about(witness={"y": [joint.outcome.labels[j] for j in above]})
        return Verdict._compare(
            bound, float(self.delta), lambda *_: mass <= self.delta, lambda *_: mass > self.delta
        )


class PML(_Pointwise):
    r"""epsilon-PML: the leakage is at most epsilon almost surely; with delta, up to delta.

    .. math:: P_Y\{\ell(X \to Y) \le \varepsilon\} \ge 1 - \delta

    Parameters
    ----------
    epsilon : float or Fraction
        Nats, >= 0; a float means its binary64 value.
    delta : float or Fraction
        Probability of exceptions, 0 <= delta < 1.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of ``epsilon``: ties are then decided.

    Raises
    ------
    InvalidInput
        A level or a delta out of range.

    References
    ----------
    "Pointwise Maximal Leakage", Definitions 4 and 5.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> joint.satisfies(PML(0.5))
    Verdict(True, 0.4054651081, exact)
    """

    symbol = "PML"
    kind = "pml"

    def _variable(self, joint: Joint) -> Any:
        return pml(joint)


class PMC(_Pointwise):
    r"""epsilon-PMC: the cost is at most epsilon almost surely; with delta, up to delta.

    .. math:: P_Y\{\Lambda(X \to Y) \le \varepsilon\} \ge 1 - \delta

    Parameters and errors are those of `PML`; an infinite cost satisfies no finite level.

    References
    ----------
    "Information Density Bounds for Privacy", after Theorem 4.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> joint.satisfies(PMC(0.5)).holds
    False
    """

    symbol = "PMC"
    kind = "pmc"

    def _variable(self, joint: Joint) -> Any:
        return pmc(joint)


class EML(TailGuarantee):
    r"""(epsilon, delta)-EML: every event of probability delta or more leaks at most epsilon.

    For every mechanism that differs from this one by splitting and merging similar outcomes, and
    every event E of its outcomes, P_Y(E) >= delta implies

    .. math:: \ell(X \to E) = \log \max_x P_{Y|X=x}(E) / P_Y(E) \le \varepsilon.

    The same as: every outcome, of every post-processing, of probability >= delta has PML at most
    epsilon (Theorem 3), which is also its meaning on general alphabets.

    Parameters
    ----------
    epsilon : float or Fraction
        Nats, >= 0.
    delta : float or Fraction
        0 <= delta <= 1; 0 is epsilon-PML.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, instead of ``epsilon``.

    Notes
    -----
    ``joint.satisfies`` is exact on finite alphabets, with the least private event as its witness:
    (outcome, share) pairs, where the last outcome may count in part. Elsewhere it proves what
    epsilon-PML or epsilon >= log 1/delta prove, and is undecided otherwise.

    References
    ----------
    "Pointwise Maximal Leakage", Definitions 7, 10, 11 and Theorem 3.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.6, 0.4], [0.4, 0.6]])
    >>> joint.satisfies(EML(0.13, delta=0.6)).holds, joint.satisfies(PML(0.13)).holds
    (True, False)
    """

    symbol = "EML"
    _closed = True

    def holds_for(self, joint: Joint) -> Verdict:
        """Return whether the joint satisfies the guarantee."""
        (level,) = self.levels
        if getattr(joint, "finite", False) or joint.prior.over != "one prior":
            return at_most(event_maximal_leakage(joint, delta=self.delta), level)
        always = math.inf if self.delta == 0 else 1 / Fraction(self.delta)
        if always != math.inf and level.up >= always:
            ceiling = log_fraction(Fraction(always))[1]  # P(E|x) / P(E) <= 1 / delta
            found = Bound.certified(0.0, ceiling, exact_ratio=Ratio(1, always))
            return at_most(found, log_of(level.up))
        answer = PML.at(level).holds_for(joint)
        if answer.holds is True or self.delta == 0:
            return answer
        why = (
            "event maximal leakage is computed on finite alphabets only; epsilon-PML is not proved"
        )
        return Verdict(None, Bound.undecided(reason=why), answer.witness, why)


class AveragePML(FigureGuarantee):
    r"""The average-case guarantee: maximal leakage is at most epsilon.

    .. math:: \mathcal L(P_{Y|X}) = \log E\, e^{\ell(X \to Y)} \le \varepsilon

    Parameters
    ----------
    epsilon : float or Fraction
        Nats, >= 0; a float means its binary64 value.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of ``epsilon``: ties are then decided.

    Raises
    ------
    InvalidInput
        A level that is negative or NaN, or given twice.

    References
    ----------
    "Pointwise Maximal Leakage", Definition 6.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> joint.satisfies(AveragePML(0.5)).holds
    True
    """

    symbol = "average PML"
    _below_ldp = True

    def _figure(self, joint: Joint) -> Any:
        return maximal_leakage(joint)


class TailLeakage(TailGuarantee):
    r"""(epsilon, delta)-tail leakage: e^PML is at most e^epsilon on average over the worst delta.

    .. math:: V(\delta) = \frac1\delta \max_{0 \le W \le 1,\ E W = \delta}
              E\big[W e^{\ell(X \to Y)}\big] \le e^\varepsilon

    It implies (epsilon, delta)-PML and, unlike that, survives post-processing: whatever is made of
    the outcome, it leaks more than epsilon with probability delta at most.

    Parameters
    ----------
    epsilon : float or Fraction
        Nats, >= 0; a float means its binary64 value.
    delta : float or Fraction
        Probability of the worst outcomes, 0 <= delta <= 1: 1 is `AveragePML`, and 0 epsilon-PML.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of ``epsilon``: ties are then decided.

    Raises
    ------
    InvalidInput
        A level or a delta out of range.

    References
    ----------
    docs/tail_leakage.md; the figure is `borel.tail_leakage`.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.9, 0.1], [1, 0]])
    >>> joint.satisfies(TailLeakage(0.5, delta=0.1)).holds
    True
    """

    symbol = "tail leakage"
    _closed: ClassVar[bool] = True

    def holds_for(self, joint: Joint) -> Verdict:
        """Return whether the joint satisfies the guarantee."""
        (level,) = self.levels
        return or_without_exceptions(
            lambda: at_most(tail_leakage(joint, self.delta), level),
            lambda: PML.at(level).holds_for(joint),
        )


class LDP(FigureGuarantee):
    r"""epsilon-LDP on the support of the prior, P_X x P_X x P_Y almost surely.

    .. math:: f(y|x) \le e^\varepsilon f(y|x')

    Parameters
    ----------
    epsilon : float or Fraction
        Nats, >= 0; a float means its binary64 value.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of ``epsilon``: ties are then decided.

    Raises
    ------
    InvalidInput
        A level that is negative or NaN, or given twice.

    References
    ----------
    "Information Density Bounds for Privacy", Definition 6 and Remark 1.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> joint.satisfies(LDP(1.1)).holds, joint.satisfies(LDP(1.0)).holds
    (True, False)
    """

    symbol = "LDP"
    _below_ldp = True

    def _figure(self, joint: Joint) -> Any:
        return ldp(joint)


class LIP(FigureGuarantee):
    r"""epsilon-LIP: :math:`|i(x;y)| \le \varepsilon`, P_X x P_Y almost surely.

    Under P_XY the identity on a uniform bit would be log 2-LIP with an infinite cost: "almost
    surely" is under the product.

    Parameters
    ----------
    epsilon : float or Fraction
        Nats, >= 0; a float means its binary64 value.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of ``epsilon``: ties are then decided.

    Raises
    ------
    InvalidInput
        A level that is negative or NaN, or given twice.

    References
    ----------
    "Information Density Bounds for Privacy", Definition 4.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> joint.satisfies(LIP(0.7)).holds, joint.satisfies(LIP(0.6)).holds
    (True, False)
    """

    symbol = "LIP"
    _below_ldp = True

    def _figure(self, joint: Joint) -> Any:
        return lip(joint)


class LDI(FigureGuarantee):
    r"""epsilon-LDI: posterior probabilities are within a factor e^epsilon of each other.

    .. math:: P_{X|Y=y}(x) \le e^\varepsilon P_{X|Y=y}(x') \quad x, x' \in \mathrm{supp}\, P_X

    Over infinitely many secrets of positive probability no posterior satisfies it; for continuous
    secrets it is not defined, as a ratio of densities depends on the base measure.

    Parameters
    ----------
    epsilon : float or Fraction
        Nats, >= 0; a float means its binary64 value.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of ``epsilon``: ties are then decided.

    Raises
    ------
    InvalidInput
        A level that is negative or NaN, or given twice; asked of a continuous secret.

    References
    ----------
    "Pointwise Maximal Leakage", Definition 16.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> joint.satisfies(LDI(1.1)).holds
    True
    """

    symbol = "LDI"

    def _figure(self, joint: Joint) -> Any:
        return ldi(joint)


@dataclass(frozen=True, eq=False, repr=False)
class ALIP(Guarantee):
    r"""(epsilon_l, epsilon_u)-ALIP: bounds on the information density on both sides.

    .. math:: -\varepsilon_l \le i(x;y) \le \varepsilon_u \quad P_X \times P_Y\text{-a.s.}

    Parameters
    ----------
    epsilon_l, epsilon_u : float or Fraction
        Nats, >= 0: the supremum of PMC, and that of PML.
    ratio_l, ratio_u : int or Fraction
        :math:`e^{\varepsilon_l}`, :math:`e^{\varepsilon_u}` exactly, instead.

    References
    ----------
    "Information Density Bounds for Privacy", Definition 5.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> joint.satisfies(ALIP(0.7, 0.5)).holds, joint.satisfies(ALIP(0.5, 0.7)).holds
    (True, False)
    """

    epsilon_l: Any = None
    epsilon_u: Any = None
    ratio_l: InitVar[Any] = field(default=None, kw_only=True)
    ratio_u: InitVar[Any] = field(default=None, kw_only=True)
    symbol: ClassVar[str] = "ALIP"

    def __post_init__(self, ratio_l: Any, ratio_u: Any) -> None:
        sides = (self.epsilon_l, ratio_l), (self.epsilon_u, ratio_u)
        levels = tuple(level_of("ALIP", *side) for side in sides)
        for name, level in zip(("epsilon_l", "epsilon_u"), levels, strict=True):
            object.__setattr__(self, name, level.nats)
        object.__setattr__(self, "_levels", levels)

    @property
    def levels(self) -> tuple[Level, ...]:
        """The lower level, PMC's, and the upper, PML's."""
        return self._levels  # type: ignore[attr-defined]

    @classmethod
    def at(cls, lower: Level, upper: Level) -> ALIP:
        """Make the guarantee from two levels."""
        made = cls(lower.nats, upper.nats)
        object.__setattr__(made, "_levels", (lower, upper))
        return made

    def holds_for(self, joint: Joint) -> Verdict:
        """Return whether both sides hold; the side that fails, or is undecided, is shown."""
        sides = alip(joint)
        first, second = (at_most(b, level) for b, level in zip(sides, self.levels, strict=True))
        if isinstance(first, RandomVerdict) and isinstance(second, RandomVerdict):
            return first & second
        return _weaker(first, second)


def _weaker(first: Verdict, second: Verdict) -> Verdict:
    """Return what says whether both hold: one that fails, else one that is open, else either.

    Both are of one set of priors: no risks add up.
    """
    both = second, first
    told = [v._statistically if v.holds is None else v.holds for v in both]
    if False in told:
        return first if told[1] is False else second
    if None in told:
        return both[told.index(None)]
    return second if first.holds is True and second.holds is None else first


def lip_of(lower: Level, upper: Level) -> LIP:
    """Return the LIP guarantee of both sides."""
    return LIP.at(larger(lower, upper))
