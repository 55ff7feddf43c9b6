"""Certificates of figures over sets of priors on finitely many secrets."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine import engine_for
from borel.engine.certificates import wanted
from borel.engine.certificates.checks.prior_sets import _Sets
from borel.engine.certificates.checks.set_expectations import Priors, fraction
from borel.engine.certificates.checks.set_means import LEAVES, check_set_means
from borel.engine.certificates.checks.set_rules import RULES
from borel.engine.certificates.checks.verifier import check
from borel.engine.certificates.encoding import _end, patience, without_infinities
from borel.engine.prior_sets import linear_programme
from borel.engine.prior_sets.linear_programme import pairs
from borel.probability.measure import Measure

if TYPE_CHECKING:
    from borel.probability.bound import Bound

_SHARES = (0.0, *(2.0**-k for k in (50, 46, 42, 36, 30)))
"""How far members that are found in floats are moved inside, until they are members for certain."""
_SLACK = (0.0, *(2.0**-k for k in (50, 48, 44, 40, 34)))
_SLACK_OVER_BOXES = tuple(2.0**-k for k in (44, 38, 32))
"""How much wider figures may become, for what members and boxes leave: relative, or absolute."""
_WIDE = 2.0**-40
_NO_MASS = 2.0**-600


def member(
    prior_set: Any, about: dict[str, Any], prior: np.ndarray, v: np.ndarray, x: list[int]
) -> Any:
    """Return a member close to a prior that was found in floats, exactly; None if none is known.

    Parameters
    ----------
    prior_set : PriorSet
        The set.
    about : dict
        The same, as data.
    prior : ndarray (n,)
        The prior.
    v : ndarray (n,)
        The values whose mean it makes least; 0 if none are meant.
    x : list of int
        Secrets that it is to charge.
    """
    kind = about["kind"]
    if kind == "hull":
        return _mixture(about["corners"], v, x)
    if kind == "linear":
        rules = prior_set.rules
        found = (
            linear_programme.corner(v, rules, x)
            if v.any() or x
            else linear_programme.near(prior, rules)
        )
        return found and pairs(found)
    weights = [Fraction(float(p)) for p in np.maximum(prior, 0.0)]
    n, whole = len(weights), sum(weights)
    weights = [p / whole for p in weights]
    if kind == "band":
        low, high = ([Fraction(*v) for v in about[end]] for end in ("lower", "upper"))
        weights = _within(weights, low, high)
        share = (1 - sum(low)) / (sum(high) - sum(low)) if sum(low) < sum(high) else Fraction(0)
        inner = [a + (b - a) * share for a, b in zip(low, high, strict=True)]
    elif kind == "full_support":
        inner = [Fraction(1, n)] * n
    else:
        inner = [Fraction(float(np.mean(p))) for p in about["centre"]]
        whole = sum(inner)
        inner = [p / whole for p in inner]
    priors = Priors(about)
    for share in map(Fraction, _SHARES):
        mixed = [(1 - share) * p + share * q for p, q in zip(weights, inner, strict=True)]
        charged = all(mixed[k] > 0 for k in x)
        if charged and priors.of.holds([fraction(pair) for pair in pairs(mixed)]):
            return pairs(mixed)
    return None


def _mixture(corners: list, v: np.ndarray, x: list[int]) -> list[list[int]] | None:
    """Return shares of the corners of a hull: all of the best one, if that charges the secrets."""
    means = [np.mean(p, axis=1) for p in corners]
    best = int(np.argmin([p @ v for p in means]))
    shares = [Fraction(int(k == best)) for k in range(len(corners))]
    for secret in x:
        others = [k for k, p in enumerate(means) if p[secret] > 0]
        if not others:
            return None
        if best not in others:  # it is approached
            shares[best] -= Fraction(_SHARES[1])
            shares[others[0]] += Fraction(_SHARES[1])
    return pairs(shares)


def _within(q: list[Fraction], low: list[Fraction], high: list[Fraction]) -> list[Fraction]:
    """Return the law clipped between two ends, with what that changes of its sum made good."""
    q = [min(max(v, a), b) for v, a, b in zip(q, low, high, strict=True)]
    left = 1 - sum(q, Fraction(0))
    room = [(b - v if left > 0 else v - a) for v, a, b in zip(q, low, high, strict=True)]
    whole = sum(room, Fraction(0))  # none where the ends contradict each other within rounding
    share = left / whole if whole else Fraction(0)
    return [v + share * w for v, w in zip(q, room, strict=True)]


def of_mean(
    bound: Bound, prior_set: Any, figure: str, values: np.ndarray, prior: np.ndarray
) -> Bound:
    """Return a lower or an upper expectation with a certificate, and ends a little wider.

    Parameters
    ----------
    bound : Bound
        The expectation.
    prior_set : PriorSet
        The set, on a finite alphabet.
    figure : {"lower", "upper"}
        Which of them.
    values : ndarray (n,)
        The function of the secret.
    prior : ndarray (n,)
        A prior near one that attains the figure, or that is approached.
    """
    made = wanted() and prior_set.confidence is None
    made &= bound.status in ("certified", "conditional")
    about = prior_set.described() if made and prior_set.status != "estimate" else None
    v = values.astype(float) * (1 if figure == "lower" else -1)
    if about is None or not (np.isfinite(prior).all() and prior.sum() > 0):
        return bound
    # what is left of an exponential that underflows is no mass
    q = member(prior_set, about, np.where(prior < _NO_MASS, 0.0, prior), v, [])
    if not q:
        return bound
    claim = {"type": "expectation", "figure": figure, "values": pairs(values), "member": q}
    given = {"set": about, "secrets": list(range(len(v)))}
    # of the values that count: beside them a slack is to stay small
    unit, wide = float(np.abs(v) @ prior), [False, False]
    for slack in _SLACK:  # at the ends that need it
        low, high = (slack * unit * needed for needed in wide)
        ends = {"lower": bound.lower - low, "upper": bound.upper + high}
        made = {"format": 11, "quantity": "expectation", **ends, "prior": given, "claim": claim}
        failures = check_set_means(made).failures
        if not failures:
            return replace(bound, **ends, certificate=made)
        missing = [any(name in line for line in failures) for name in LEAVES]
        missing = missing if figure == "lower" else missing[::-1]
        wide = [old or new for old, new in zip(wide, missing, strict=True)]
    return bound


def combined(
    bound: Bound, quantity: str, over: dict[str, Any], of: list[Bound], place: str
) -> Bound:
    """Return a figure over a set with the certificates of figures under single priors.

    Parameters
    ----------
    bound, quantity
        The figure over the set.
    over : dict
        The set: its ``kind``, one of `check_combined`, and its ``size`` if it has one.
    of : list of Bound
        The figures that it follows from.
    place : str
        Which outcomes they are about, in the words of the checkers.
    """
    made = [one.certificate for one in of]
    if not all(made) or bound.status not in ("certified", "conditional"):
        return bound
    ends = {"lower": bound.lower, "upper": bound.upper}
    whole = {"format": 9, "quantity": quantity, **ends, "over": over, "of": made}
    with suppress(ValueError, KeyError, TypeError):
        low, high = RULES[over["kind"]](whole, made, [f", {place}"] * len(made))
        if bound.lower <= max(low, 0) and high <= bound.upper:
            return replace(bound, certificate=without_infinities(whole))
    return bound


class _Hurried(_Sets):
    """A checker that gives up when it is late: its claim would take too long to verify."""

    until = math.inf

    def densities(self, a: float, b: float) -> Any:
        """Return the densities, if there is time."""
        settings.work("balls", 1000)
        if settings.late(self.until):
            raise TimeoutError("the trial takes too long")
        return super().densities(a, b)


class Certificates:
    """Certificates over one set of priors and one mechanism.

    Parameters
    ----------
    prior_set : PriorSet
        The set, on a finite alphabet.
    outcome : Alphabet
        The outcomes.
    kernel : dict
        The kernel: a graph, or a table of intervals.
    secrets : list of float
        What the kernel is about: labels that are numbers, or positions.
    small : bool
        Whether the kernel is small enough.

    Attributes
    ----------
    cover : list of float
        Ends of boxes that make up outcomes on a line.
    """

    def __init__(
        self,
        prior_set: Any,
        outcome: Any,
        kernel: dict,
        secrets: list[float],
        *,
        small: bool = True,
    ):
        self.set = prior_set
        self.cover: list[float] = []
        small &= wanted() and prior_set.confidence is None
        self.about = prior_set.described() if small and prior_set.status != "estimate" else None
        line, points = getattr(outcome, "interval", outcome), None
        if outcome.kind == "finite":
            table = "table" in kernel
            points = [float(y) for y in (range(outcome.size) if table else outcome.array)]
        elif outcome.kind == "countable":
            points = "integers"
        ends = {"lower": _end(line, "lower", -math.inf), "upper": _end(line, "upper", math.inf)}
        self.header = {
            "format": 8,
            "kernel": kernel,
            "prior": {"set": self.about, "secrets": secrets},
            "outcome": {**ends, "points": points},
        }

    def at(
        self, bound: Bound, quantity: str, y: float, x: int, prior: np.ndarray, v: np.ndarray
    ) -> Bound:
        """Return a leakage at one outcome with a certificate.

        Parameters
        ----------
        bound, quantity, y
            The figure.
        x : int
            The secret, by its position, that it tells most about.
        prior, v : ndarray (n,)
            A prior near the worst one, and the values whose mean it makes least.
        """
        claim = {"y": y, "cover": [y]}
        return self.attached(bound, quantity, {**claim, "peak": self.peak((y, y), x, prior, v)})

    def beside(self, y: float) -> tuple[float, float]:
        """Return a small box of outcomes beside one."""
        step = _WIDE * max(1.0, abs(y))
        end = float(self.header["outcome"]["upper"])
        return (y, y + step) if y + step <= end else (y - step, y)

    def over(self, bound: Bound, quantity: str, peak: dict) -> Bound:
        """Return a supremum over outcomes on a line, with a certificate."""
        claim = {"cover": self.cover, "peak": peak}
        return self.attached(bound, quantity, claim, _SLACK_OVER_BOXES)

    def peak(self, y: tuple[float, float], x: int, prior: np.ndarray, v: np.ndarray) -> dict:
        """Return where a leakage is large, and for which member, as a claim says it."""
        return {"y": list(y), "x": [x], "prior": self.member(prior, v, [x])}

    def member(self, prior: np.ndarray, v: np.ndarray, x: list[int]) -> Any:
        """Return a member, as `member` does, of a set of which certificates are wanted."""
        return self.about and member(self.set, self.about, prior, v, x)

    def by_member(self, bound: Bound, quantity: str, mechanism: Any) -> Bound:
        """Return an infinite supremum with the certificate of the same for one member."""
        if self.about is None or bound.status not in ("certified", "conditional"):
            return bound
        middle, everyone = np.zeros(self.set.on.size), np.flatnonzero(self.set.reach[0]).tolist()
        q = self.member(self.set.least(middle[:, None]).prior[:, 0], middle, everyone)
        if q is None:
            return bound
        if self.about["kind"] == "hull":
            q = [[int(p == max(q)), 1] for p in q]
            corners = getattr(self.set, "corners", [self.set.nominal])  # a ball of radius 0
            prior = corners[q.index([1, 1])]
        else:
            weights = np.array([Fraction(*p) for p in q[: len(middle)]], dtype=object)
            prior = Measure(weights, self.set.on, _check=False)
        about = {"set": self.about, "member": q, "secrets": self.header["prior"]["secrets"]}
        ends = {"lower": math.inf, "upper": math.inf}
        whole = {"format": 9, "quantity": quantity, **ends, "over": {"kind": "member", **about}}
        for kind in ("pml", "pmc") if quantity == "pml" else ("pmc", "pml"):
            found = engine_for(prior * mechanism).sup(kind).certificate
            with suppress(ValueError, KeyError, TypeError):
                RULES["member"](whole, [found], [""])
                return replace(bound, certificate={**without_infinities(whole), "of": [found]})
        return bound

    def attached(
        self,
        bound: Bound,
        quantity: str,
        claim: dict[str, Any],
        slacks: tuple[float, ...] = _SLACK,
    ) -> Bound:
        """Return a figure with a certificate, and ends that may be a little wider.

        The checker was seen to verify all of it, within some seconds.
        """
        if self.about is None or bound.status not in ("certified", "conditional"):
            return bound
        start, last = settings.now(), patience()
        for k, slack in enumerate(slacks):
            until = start + (last - start) * (k + 1) / len(slacks)
            low = max(bound.lower - slack * max(1.0, abs(bound.lower)), 0.0)
            low = bound.lower if math.isinf(bound.lower) else low
            high = bound.upper + slack * max(1.0, abs(bound.upper))
            whole = {**self.header, "quantity": quantity, "lower": low, "upper": high}
            made = without_infinities({**whole, "claim": {"type": "set", **claim}})
            if check(made, type("Trial", (_Hurried,), {"until": until})).ok:
                return replace(bound, lower=low, upper=high, certificate=made)
        return bound
