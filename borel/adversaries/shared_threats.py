r"""What is a gain as well as a cost: 1[x = w] / P(x), a function of the distance, guesses of U."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from borel.adversaries.beliefs import FLOATS, Secrets, ends, fractions, require_finite_prior
from borel.adversaries.threats import (
    ActionTable,
    Cost,
    Gain,
    Tabled,
    Threat,
    Value,
    distinct,
    exact_label,
    exact_number,
    table_of,
)
from borel.errors import InvalidInput
from borel.probability.measure import covers
from borel.probability.mechanism import Mechanism

AnyTabled = TypeVar("AnyTabled", bound=Tabled)
Enclosure = tuple[Fraction, Fraction]


class Reciprocal(Threat):
    r"""1[x = w] / P(x) for the secrets w that a prior charges: expectations are w(x) / P(x).

    Every secret is worth 1 before the release, and P(w|y) / P(w) after it: the largest of these
    ratios is e^PML, the smallest e^-PMC.
    """

    name = "reciprocal of the prior"

    def __init__(self, prior: Any):
        self._what = f"{self.word}.reciprocal"
        require_finite_prior(prior, self._what)
        self.prior = prior

    def _rewards(self, secrets: Secrets) -> list[Fraction]:
        if not covers(secrets.alphabet, self.prior):
            raise InvalidInput(
                self._what,
                expected=f"a prior on {secrets.alphabet!r}",
                got=f"one on {self.prior.on!r}",
                mend="give the prior of the joint itself.",
            )
        p = fractions(self.prior.at(secrets.alphabet)[secrets.rows]).tolist()
        if not all(p):
            raise InvalidInput(
                self._what,
                expected="a prior that charges the secrets of the joint",
                got="probability 0",
                where=f"x = {secrets.labels[p.index(Fraction(0))]!r}",
                mend="give the prior of the joint itself.",
            )
        return [1 / v for v in p]

    def values(self, secrets: Secrets, weights: np.ndarray) -> list[Value]:
        """Return the largest (smallest, for a cost) of the ratios w(x) / P(x)."""
        rewards, out = self._rewards(secrets), []
        for row in weights.tolist():
            scores = [w * r for w, r in zip(row, rewards, strict=True)]
            at = self.best(range(len(scores)), key=scores.__getitem__)
            out.append(Value(scores[at], scores[at], secrets.labels[at]))
        return out

    def actions(self, secrets: Secrets) -> tuple:
        """Return the secrets."""
        return secrets.labels

    def at(self, secrets: Secrets, action: Any) -> list[Fraction]:
        """Return 1 / P(x) at the secret that is named."""
        pairs = zip(secrets.labels, self._rewards(secrets), strict=True)
        return [r if x == action else Fraction(0) for x, r in pairs]


class ReciprocalGain(Reciprocal, Gain):
    """The gain."""


class ReciprocalCost(Reciprocal, Cost):
    """The cost."""


def of_distance(
    value: Callable[[Fraction], Enclosure],
    distance: Callable[[Any, Any], Any] | None,
    guesses: Sequence[Any] | None,
    what: str,
) -> Callable[[Secrets], ActionTable]:
    """Tabulate an enclosed function of the distance of x from the guesses (all secrets, if none).

    A distance is taken as the number it is; it is abs(x - w) if not given.
    """
    chosen = None if guesses is None else distinct(guesses, what)

    def gap(x: Any, w: Any) -> Fraction:
        if distance is None:
            return abs(exact_label(x, what) - exact_label(w, what))
        where = f"the distance of {x!r} and {w!r}"
        return Fraction(exact_number(distance(x, w), what, where))

    def build(secrets: Secrets) -> ActionTable:
        actions = secrets.alphabet.labels if chosen is None else chosen
        found = [[value(gap(x, w)) for w in actions] for x in secrets.labels]
        lower, upper = ([[both[end] for both in row] for row in found] for end in (0, 1))
        return table_of(lower, tuple(actions), None if lower == upper else upper)

    return build


def of_function(
    kind: type[AnyTabled],
    function: Any,
    value: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
) -> AnyTabled:
    """Make the gain or cost of guesses of a randomised function U of the secret.

    Parameters
    ----------
    kind : type
        `TabledGain` or `TabledCost`.
    function : Mechanism
        The kernel P_{U|X}, finite.
    value : callable
        The ends of what a guess u is worth at x, from those of P(u|x): one object for two, where
        they are rational.
    """
    what = f"{kind.word}.guessing"
    if not isinstance(function, Mechanism) or not function.finite:
        raise InvalidInput(
            what,
            expected="a finite Mechanism from the secret to U",
            got=repr(function),
            mend="bl.Mechanism.from_matrix(P, secret=..., outcome=...).",
        )

    def build(secrets: Secrets) -> ActionTable:
        for x in secrets.labels:
            if not np.all(function.secret.contains(x)):
                raise InvalidInput(
                    what,
                    expected=f"a function defined at every secret of {secrets.alphabet!r}",
                    got=f"one on {function.secret!r}",
                    where=f"x = {x!r}",
                )
        rows = [int(function.secret.positions(x, "x")) for x in secrets.labels]
        lower, upper = value(*ends(function.matrix[rows], function.rounding))
        return ActionTable(lower, upper, np.zeros(lower.shape, bool), function.outcome.labels)

    threat = kind(build, "guessing a function")
    threat.assumptions = () if function.rational else (FLOATS,)
    threat.reason = function.unproved
    return threat
