"""The parameter of a family of mechanisms that a guarantee needs, found by bisection."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from borel import settings
from borel.constants import inside, real
from borel.errors import InvalidInput, Undecided
from borel.guarantees.base import Guarantee
from borel.priors.random_verdict import RandomVerdict
from borel.probability.bound import Bound, Verdict
from borel.probability.joint import Joint
from borel.probability.mechanism import Mechanism
from borel.probability.wrong_calls import explained
from borel.progress import Bar


@dataclass(frozen=True, repr=False)
class Design:
    """A parameter that satisfies a guarantee, and the nearest one that is known not to.

    Attributes
    ----------
    parameter : float
        It satisfies the guarantee: ``verdict.holds`` is True.
    verdict : Verdict
        The answer at the parameter, with its Bound and the status of that.
    joint : Joint
        The prior times the mechanism of the parameter.
    fails : float or None
        A parameter of less noise that does not satisfy the guarantee; None if none was found.
    failure : Verdict or None
        The answer there; ``failure.holds`` is False.
    undecided : tuple of float or None
        The first and the last parameter between the two that were tried and not settled.
    threshold : Bound
        Where the guarantee starts to hold, if it holds on one side of a single parameter.
    guarantee : Guarantee
        The target.
    confidence : float or None
        The posterior probability, or the confidence, that was asked for; None where both sides
        are proved.
    """

    parameter: float
    verdict: Verdict
    joint: Joint
    fails: float | None
    failure: Verdict | None
    undecided: tuple[float, float] | None
    threshold: Bound
    guarantee: Guarantee
    confidence: float | None

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism of the parameter."""
        return self.joint.mechanism

    def __repr__(self) -> str:
        """Show both sides, what lies between them, and the figure at the parameter."""
        if self.fails is None:
            other = "an end of the range"
        else:
            other = f"at {self.fails:.10g} it fails"
        if self.undecided:
            other += ", undecided from {:.10g} to {:.10g}".format(*self.undecided)
        certain = f" at confidence {self.confidence:g}" if self.confidence else ""
        return (
            f"Design({self.parameter:.10g}: {self.guarantee} holds{certain}, "
            f"{self.verdict.bound}; {other})"
        )


@explained
def smallest(
    family: Callable[[float], Any],
    prior: Any,
    guarantee: Guarantee,
    *,
    over: tuple[float, float],
    tol: float = 1e-3,
    confidence: float = 0.95,
    monotone: bool = False,
) -> Design:
    """Return the smallest parameter, such as a noise scale, that a guarantee is found to need.

    Parameters
    ----------
    family : callable
        The mechanism of a parameter: ``lambda b: bl.mechanisms.laplace(b=b, secret=S)``. With
        ``prior=None`` it returns a joint: ``lambda b: bl.entry(people * query(b))``.
    prior : Measure, PriorSet, PosteriorPriors or None
        What is known of the secret.
    guarantee : Guarantee
        The target, such as ``bl.guarantees.PML(1.0)``.
    over : tuple of float
        The range to search; its upper end must satisfy the guarantee.
    tol : float
        Relative distance of the parameter and one that fails, at which the search stops.
    confidence : float
        Over a posterior, the posterior probability with which the guarantee must hold: at
        ``fails`` it is known to be less, up to the Monte Carlo error. For a set of priors that
        holds the truth with some confidence, that confidence. Otherwise not used.
    monotone : bool
        Whether you declare that with a parameter every larger one satisfies the guarantee too.
        Nothing is proved of parameters that were not tried, otherwise.

    Returns
    -------
    Design
        ``parameter`` satisfies the guarantee and ``fails``, below it, does not; each as its
        verdict's status says. Where the engine could not decide, ``undecided`` says between which
        parameters.

    Raises
    ------
    InvalidInput
        A range whose upper end does not satisfy the guarantee.
    Undecided
        It is not decided at the upper end.

    Notes
    -----
    Bisection (of the logarithm, where the range is positive) between an end where the guarantee
    holds and one where it fails. Whatever the family, both answers stand. That the guarantee
    changes only once between them is an assumption, and with ``monotone=True`` the ``threshold``
    lists it. Over a posterior the Monte Carlo error is that of one parameter. If under every prior
    the guarantee is monotone in the parameter, the answers at all parameters hold together, as the
    draws are the same; else the risks of the parameters tried add up.

    Examples
    --------
    >>> import math
    >>> import borel as bl
    >>> unit = bl.Interval(0, 1)
    >>> found = smallest(lambda b: bl.mechanisms.laplace(b=b, secret=unit), bl.uniform(unit),
    ...                  bl.guarantees.PMC(1.0), over=(0.1, 10))
    >>> found.verdict.holds, found.failure.holds, found.fails < found.parameter
    (True, False, True)
    >>> epsilon = lambda b: math.log(b * math.expm1(1 / b))
    >>> epsilon(found.parameter) <= 1 <= epsilon(found.fails)
    True
    """
    low, high = _range("smallest", over)
    return _search("smallest", family, prior, guarantee, high, low, tol, confidence, monotone)


@explained
def largest(
    family: Callable[[float], Any],
    prior: Any,
    guarantee: Guarantee,
    *,
    over: tuple[float, float],
    tol: float = 1e-3,
    confidence: float = 0.95,
    monotone: bool = False,
) -> Design:
    """Return the largest parameter, such as a level of LDP, that a guarantee is found to allow.

    Parameters
    ----------
    family, prior, guarantee, tol, confidence
        As of `smallest`.
    over : tuple of float
        The range to search; its lower end must satisfy the guarantee.
    monotone : bool
        Whether you declare that with a parameter every smaller one satisfies the guarantee too.

    Returns
    -------
    Design
        ``parameter`` satisfies the guarantee and ``fails``, above it, does not.

    Raises
    ------
    InvalidInput
        A range whose lower end does not satisfy the guarantee.
    Undecided
        It is not decided at the lower end.

    References
    ----------
    "Information Density Bounds for Privacy", Example 4: randomised response tuned to a target.

    Examples
    --------
    >>> import borel as bl
    >>> prior = bl.pmf([0.2, 0.3, 0.5])
    >>> found = largest(lambda e: bl.mechanisms.randomized_response(k=3, epsilon=e), prior,
    ...                 bl.guarantees.PMC(1.0), over=(0.1, 5), tol=1e-6)
    >>> round(found.parameter, 4)  # log(1 + (e - 1) / 0.5)
    1.4899
    """
    low, high = _range("largest", over)
    return _search("largest", family, prior, guarantee, low, high, tol, confidence, monotone)


def _range(what: str, over: Any) -> tuple[float, float]:
    try:
        low, high = (float(real(f"design.{what}", end, "numbers for over")) for end in over)
    except (TypeError, ValueError) as problem:
        if isinstance(problem, InvalidInput):
            raise
        low, high = math.nan, math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InvalidInput(
            f"design.{what}", expected="over=(low, high), finite and low < high", got=repr(over)
        )
    return low, high


def _search(what: str, *asked: Any) -> Design:
    """Search, with a bar that counts the parameters that were tried."""
    with settings.progress_bar(None, name=f"design.{what}", unit="parameters tried") as bar:
        return _bisected(bar, what, *asked)


def _bisected(
    bar: Bar,
    what: str,
    family: Callable[[float], Any],
    prior: Any,
    guarantee: Guarantee,
    good: float,
    bad: float,
    tol: float,
    confidence: float,
    monotone: bool,
) -> Design:
    """Bisect between the end that is to satisfy the guarantee, ``good``, and the other."""
    if not isinstance(guarantee, Guarantee):
        raise InvalidInput(
            f"design.{what}",
            expected="a guarantee, such as bl.guarantees.PML(1.0)",
            got=repr(guarantee),
        )
    confidence = inside(f"design.{what}", "confidence", confidence)
    if not callable(family):
        raise InvalidInput(
            f"design.{what}", expected="a function of the parameter", got=repr(family)
        )
    if prior is not None and not hasattr(prior, "over"):
        raise InvalidInput(
            f"design.{what}",
            expected="a prior, a set of priors or a posterior over priors; None if the function "
            "returns joints",
            got=repr(prior),
        )
    tol = real(f"design.{what}", tol, "tol > 0")
    if not tol > 0:
        raise InvalidInput(f"design.{what}", expected="tol > 0", got=repr(tol))

    at_confidence = set()

    def tried(parameter: float) -> tuple[Joint, Verdict]:
        bar.tell(bar.done + 1)
        made = family(parameter)
        if not isinstance(made, Joint if prior is None else Mechanism):
            raise InvalidInput(
                f"design.{what}",
                expected="a function that returns a Mechanism for a number (with prior=None, a "
                "Joint)",
                got=type(made).__name__,
                where=f"parameter {parameter:g}",
            )
        joint: Any = made if prior is None else prior * made
        answer = joint.satisfies(guarantee)
        settled = _settled(answer, confidence)
        if answer.holds is None and settled.holds is not None:
            at_confidence.add(parameter)
        return joint, settled

    joint, verdict = tried(good)
    if verdict.holds is not True:
        where = f"the end {good:g} of over"
        if verdict.holds is None:
            raise Undecided(
                f"design.{what}: undecided at {where}: {verdict.reason}; the figure is "
                f"{verdict.bound!r}"
            )
        raise InvalidInput(
            f"design.{what}",
            expected=f"a range that ends where {guarantee} holds",
            got=f"{verdict.bound!r}",
            where=where,
            mend="choose a wider range.",
        )
    end = tried(bad)
    fails, failure, undecided = None, None, None
    if end[1].holds is True:
        good, (joint, verdict) = bad, end
    elif end[1].holds is False:
        fails, failure = bad, end[1]
    else:
        undecided = bad, bad  # what lies beyond it was not tried
    while good != bad:
        # two gaps: good to what is not settled (or to what fails), and that to what fails
        gaps = [(good, bad)]
        if undecided is not None:
            near, far = sorted(undecided, key=lambda u, g=good: abs(u - g))
            gaps = [(good, near)] + ([(far, bad)] if fails is not None else [])
        first, second = max(gaps, key=_distance)
        middle = _middle(first, second)
        if _distance((first, second)) <= tol or middle in (first, second):
            break
        found = tried(middle)
        if found[1].holds is True:
            if undecided is not None and (first, second) != gaps[0]:
                undecided = None  # what was not settled lies on the far side of a parameter
            good, (joint, verdict) = middle, found
        elif found[1].holds is False:
            if undecided is not None and (first, second) == gaps[0]:
                undecided = None
            bad, fails, failure = middle, middle, found[1]
        else:
            both = (*undecided, middle) if undecided else (middle,)
            undecided = min(both), max(both)
    return Design(
        good,
        verdict,
        joint,
        fails,
        failure,
        undecided,
        _threshold(good, verdict, fails, failure, monotone),
        guarantee,
        confidence if at_confidence & {good, fails} else None,
    )


def _settled(answer: Verdict, confidence: float) -> Verdict:
    """Answer at a confidence over a posterior, or a set that holds the truth with some confidence.

    Over a posterior the question is whether the guarantee holds with that posterior probability: no
    is the answer where the probability is known to be less.
    """
    settled = answer.at(confidence=confidence)
    if isinstance(answer, RandomVerdict) and not settled.holds:
        share = answer.bound
        if share.status == "statistical" or share.proved:
            return (
                Verdict(False, share) if share.upper < confidence else replace(settled, holds=None)
            )
    return settled


def _distance(ends: tuple[float, float]) -> float:
    """Return how far apart two parameters are, relatively to the larger."""
    low, high = sorted(ends)
    return (high - low) / (max(abs(low), abs(high)) or 1.0)


def _middle(first: float, second: float) -> float:
    """Return a parameter between two: the geometric mean of positive ones, else the mean."""
    if first > 0 and second > 0:
        return math.sqrt(first) * math.sqrt(second)
    return first + (second - first) / 2


def _threshold(
    good: float, verdict: Verdict, fails: float | None, failure: Verdict | None, monotone: bool
) -> Bound:
    """Enclose the parameter from which on the guarantee holds, if it is declared to be one."""
    low, high = sorted((good, good if fails is None else fails))
    about = {"units": "number"}
    if fails is None or failure is None:
        why = "no parameter of the range is known to fail"
    elif not monotone:
        why = "not known to be one parameter: declare monotone=True if the guarantee is monotone"
    elif not (verdict.bound.proved and failure.bound.proved):
        why = "the answers on the two sides are not proofs"
    else:
        declared = "the guarantee is monotone in the parameter: declared"
        rests = (*verdict.bound.assumptions, *failure.bound.assumptions, declared)
        return Bound.conditional(low, high, assumptions=tuple(dict.fromkeys(rests)), **about)
    return Bound.undecided(-math.inf, math.inf, reason=why, **about)
