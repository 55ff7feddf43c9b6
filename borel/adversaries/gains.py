r"""Gains of the literature, g(x, w) >= 0: public as ``bl.adversaries.gain``.

Each is a goal of an adversary who maximises; none leaks more than PML at any outcome ("Pointwise
Maximal Leakage", Theorem 2 and Corollary 1).
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from borel.adversaries.beliefs import Secrets
from borel.adversaries.shared_threats import ReciprocalGain, of_distance, of_function
from borel.adversaries.threats import (
    MOST_ACTIONS,
    Gain,
    TabledGain,
    Value,
    distinct,
    exact_number,
    given_table,
)
from borel.errors import InvalidInput
from borel.numerics.balls.arithmetic import ball, rational_ends
from borel.probability.measure import Measure

__all__ = [
    "group_membership",
    "guessing",
    "identity",
    "k_tries",
    "membership",
    "metric",
    "reciprocal",
    "table",
]


# -- gains with too many actions to list: the best one is built piece by piece ---------------------


class _Tries(Gain):
    """1 if the secret is among k guesses: V(w) is the sum of the k largest weights."""

    def __init__(self, k: int, *, single: bool):
        self.k, self._single = k, single
        self.name = "identity" if single else f"{k} tries"

    def values(self, secrets: Secrets, weights: np.ndarray) -> list[Value]:
        """Return the sum of the k largest weights; all sets of k guesses are covered by it."""
        out = []
        for row in weights.tolist():
            top = heapq.nsmallest(self.k, range(len(row)), key=lambda i: (-row[i], i))
            total = sum((row[i] for i in top), Fraction(0))
            guesses = tuple(secrets.labels[i] for i in top)
            out.append(Value(total, total, guesses[0] if self._single else guesses))
        return out

    def actions(self, secrets: Secrets) -> list | None:
        """Return the sets of k guesses."""
        n = len(secrets.labels)
        if math.comb(n, min(self.k, n)) > MOST_ACTIONS:
            return None
        sets = itertools.combinations(secrets.labels, min(self.k, n))
        return [s[0] if self._single else s for s in sets]

    def at(self, secrets: Secrets, action: Any) -> list[Fraction]:
        """Return 1 at the secrets that are guessed."""
        guesses = (action,) if self._single else action
        return [Fraction(int(x in guesses)) for x in secrets.labels]


class _Membership(Gain):
    """Sum over individuals of weight_j 1[guess_j = whether x has j]: each guess on its own."""

    def __init__(self, events: tuple, rewards: tuple[Fraction, ...], *, single: bool):
        self._events, self._rewards, self._single = events, rewards, single
        self.name = "membership" if single else f"membership of {len(events)}"

    def _tables(self, secrets: Secrets) -> list[list[bool]]:
        for event in self._events:
            for label in () if callable(event) else event:
                secrets.alphabet.check(label, "x")
        return [
            [bool(event(x)) if callable(event) else x in event for x in secrets.labels]
            for event in self._events
        ]

    def values(self, secrets: Secrets, weights: np.ndarray) -> list[Value]:
        """Return the sum of what the better guess about each individual gains."""
        inside, out = self._tables(secrets), []
        for row in weights.tolist():
            total, guess = Fraction(0), []
            for held, reward in zip(inside, self._rewards, strict=True):
                yes = sum((w for w, h in zip(row, held, strict=True) if h), Fraction(0))
                no = sum((w for w, h in zip(row, held, strict=True) if not h), Fraction(0))
                total += reward * max(yes, no)
                guess.append(yes >= no)
            out.append(Value(total, total, guess[0] if self._single else tuple(guess)))
        return out

    def actions(self, secrets: Secrets) -> list | None:
        """Return the guesses about all individuals."""
        if 2 ** len(self._events) > MOST_ACTIONS:
            return None
        guesses = itertools.product((True, False), repeat=len(self._events))
        return [g[0] if self._single else g for g in guesses]

    def of_density(self, density: Any) -> Value:
        """Return what the better guess about one individual gains."""
        event, *others = self._events
        if others or not callable(event):
            return super().of_density(density)
        held: Any = event
        reward = float(next(iter(self._rewards)))

        def worth(x: Any, guess: bool) -> Any:
            return np.where(held(x), reward * guess, reward * (not guess))

        low, high, action = density.best_of(worth, (True, False), max)
        return Value(low, high, action if self._single else (action,))

    def at(self, secrets: Secrets, action: Any) -> list[Fraction]:
        """Return the reward of the right guesses at each secret."""
        guess = (action,) if self._single else action
        rows = zip(self._tables(secrets), self._rewards, guess, strict=True)
        found = [[r * (h == g) for h in held] for held, r, g in rows]
        return [sum(column, Fraction(0)) for column in zip(*found, strict=True)]


# -- the gains by name -----------------------------------------------------------------------------


def _event(event: Any, what: str) -> Any:
    """Return an event, a predicate or a collection of labels, checked."""
    if callable(event):
        return event
    if isinstance(event, (str, bytes)) or not isinstance(event, Collection):
        raise InvalidInput(
            what,
            expected="an event: a function of x, or a collection of labels",
            got=repr(event),
            mend="write membership(lambda x: ...) or membership({label, ...}).",
        )
    return tuple(event)


def identity() -> Gain:
    r"""Guess the secret itself, in one try: :math:`g(x, w) = 1[x = w]`.

    The vulnerability is the Bayes vulnerability :math:`\max_x P(x)`, and its leakage at an outcome
    the dynamic min-entropy leakage, which may be negative.

    Returns
    -------
    Gain
        Actions: the labels of the secret.

    References
    ----------
    "Pointwise Maximal Leakage", Example 1 and equation (11).

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> bl.adversaries.g_leakage(joint, bl.adversaries.gain.identity(), 0)
    Bound(0.4054651081, exact)
    """
    return _Tries(1, single=True)


def k_tries(k: int) -> Gain:
    r"""Guess the secret in k tries: :math:`g(x, w) = 1[x \in w]`, for sets w of at most k secrets.

    Parameters
    ----------
    k : int
        Number of tries, at least 1.

    Returns
    -------
    Gain
        Actions: tuples of labels, the likeliest first.

    Raises
    ------
    InvalidInput
        k is not a positive integer.

    Notes
    -----
    The best set holds the k likeliest secrets: the sets are never listed.

    References
    ----------
    "Pointwise Maximal Leakage", Example 3.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.25, 0.25]) * bl.Mechanism.from_matrix([[1, 0], [0, 1], [0, 1]])
    >>> bl.adversaries.g_leakage(joint, k_tries(2), 1).ratio.upper
    1.333333333333...
    """
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise InvalidInput("gain.k_tries", expected="an integer k >= 1", got=repr(k))
    return _Tries(int(k), single=False)


def membership(event: Any) -> Gain:
    r"""Guess whether an event holds, such as "Alice is in the database x".

    .. math:: g(x, w) = 1[w = 1_E(x)], \qquad w \in \{\text{False}, \text{True}\}

    Parameters
    ----------
    event : callable or collection of labels
        The event E: its indicator ``x -> bool``, or the labels it has.

    Returns
    -------
    Gain
        Actions: True and False.

    Raises
    ------
    InvalidInput
        Neither a function nor a collection; `OutsideAlphabet` for labels that are not secrets.

    References
    ----------
    "Pointwise Maximal Leakage", Example 2.

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], secret=["out", "in"])
    >>> joint = bl.pmf([0.5, 0.5], on=mech.secret) * mech
    >>> bl.adversaries.g_leakage(joint, membership({"in"}), 1).witness["after"]
    True
    """
    return _Membership((_event(event, "gain.membership"),), (Fraction(1),), single=True)


def group_membership(events: Sequence[Any], *, rewards: Sequence[Any] | None = None) -> Gain:
    r"""Guess for each of several individuals whether they are in the database.

    .. math:: g(x, w) = \sum_j r_j 1[w_j = 1_{E_j}(x)], \qquad w \in \{0, 1\}^k

    Parameters
    ----------
    events : sequence of (callable or collection of labels), length k
        "Individual j is in x", each as in `membership`.
    rewards : sequence of numbers (k,), optional
        r_j >= 0, what a right guess about j is worth; 1 if not given.

    Returns
    -------
    Gain
        Actions: tuples of k truth values. Each is chosen on its own, so that the 2^k actions are
        never listed.

    Raises
    ------
    InvalidInput
        No event, or rewards that are negative or of another number.

    References
    ----------
    "Pointwise Maximal Leakage", Example 2.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.25] * 4) * bl.Mechanism.from_matrix([[1, 0], [0, 1], [0, 1], [0, 1]])
    >>> both = group_membership([lambda x: x & 1, lambda x: x & 2])
    >>> bl.adversaries.g_leakage(joint, both, 0).witness["after"]
    (False, False)
    """
    what = "gain.group_membership"
    if callable(events):
        raise InvalidInput(what, expected="a sequence of events", got="one function")
    chosen = tuple(_event(e, what) for e in distinct(events, what))
    worth = [1] * len(chosen) if rewards is None else list(rewards)
    if len(worth) != len(chosen):
        raise InvalidInput(what, expected=f"{len(chosen)} rewards", got=str(len(worth)))
    numbers = tuple(Fraction(exact_number(r, what, f"reward {j}")) for j, r in enumerate(worth))
    return _Membership(chosen, numbers, single=False)


def metric(
    distance: Callable[[Any, Any], Any] | None = None,
    *,
    reward: Callable[[Any], Any] | None = None,
    guesses: Sequence[Any] | None = None,
) -> Gain:
    r"""Come near the secret: :math:`g(x, w) = e^{-\rho(x, w)}`, or another reward of the distance.

    Parameters
    ----------
    distance : callable, optional
        ``rho(x, w) >= 0``; ``|x - w|`` if not given, for numeric labels.
    reward : callable, optional
        What a distance is worth, a number >= 0; ``e**-distance`` if not given, which is enclosed
        to 100 bits. What a callable returns is taken as the number it is.
    guesses : sequence, optional
        The actions w; the labels of the secret if not given.

    Returns
    -------
    Gain
        Actions: the guesses.

    Raises
    ------
    InvalidInput
        A distance or reward that is negative, NaN or infinite; labels without a distance.

    References
    ----------
    "Pointwise Maximal Leakage", Example 4.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.25] * 4) * bl.Mechanism.from_matrix([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> bl.adversaries.g_leakage(joint, metric(), 0).witness["after"]
    0
    """
    what = "gain.metric"
    for given, name in ((distance, "distance"), (reward, "reward")):
        if given is not None and not callable(given):
            raise InvalidInput(what, expected=f"{name}=<a function>", got=repr(given))
    if reward is None:
        return TabledGain(of_distance(_negative_exponential, distance, guesses, what), "metric")
    gap = distance or (lambda x, w: abs(x - w))
    rewards = given_table(lambda x, w: reward(gap(x, w)), guesses, what, infinite=False)
    return TabledGain(rewards, "metric")


def _negative_exponential(rho: Fraction) -> tuple[Fraction, Fraction]:
    if rho == 0:
        return Fraction(1), Fraction(1)
    return rational_ends(lambda: (-ball(rho)).exp())


def table(values: Any, actions: Sequence[Any] | None = None) -> Gain:
    r"""Make a gain from any matrix or function g(x, w) >= 0.

    Parameters
    ----------
    values : array_like (n, k), DataArray, or callable
        Row = secret x in the order of the mechanism's labels (a DataArray brings its own), column
        = action w; or ``g(x, w)``, which is asked at the secrets that the prior charges.
    actions : sequence (k,), optional
        The actions w. For a matrix 0, ..., k - 1 if not given; for a function the secrets.
        A real secret needs them, and a function that NumPy can compute elementwise in x.

    Returns
    -------
    Gain
        Fractions and integers are taken exactly, floats as the binary64 numbers they are.

    Raises
    ------
    InvalidInput
        Entries that are negative, NaN or infinite; a shape that does not match.

    References
    ----------
    "Pointwise Maximal Leakage", equation (10).

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> bl.adversaries.g_leakage(joint, table([[1, 0, 0.5], [0, 2, 0.5]]), 0)
    Bound(-0.2876820725, exact)
    """
    build = given_table(values, actions, "gain.table", infinite=False)
    return TabledGain(build, "table", values if callable(values) else None, actions)


def reciprocal(prior: Measure) -> Gain:
    r"""Guess the secret for a reward that rare secrets raise: :math:`g(x, w) = 1[x = w] / P_X(x)`.

    Every guess is worth 1 before the release, and :math:`P(w|y) / P(w)` after it: the leakage at
    every outcome is PML, and on average it is maximal leakage.

    Parameters
    ----------
    prior : Measure
        Finite. Its probabilities are read as the numbers they are.

    Returns
    -------
    Gain
        Actions: the labels that the prior charges.

    References
    ----------
    The gain of "Pointwise Maximal Leakage on General Alphabets", Theorem 3, on a finite alphabet;
    its twin for costs is in "Information Density Bounds for Privacy", Theorem 4.

    Examples
    --------
    >>> import borel as bl
    >>> prior = bl.pmf([0.9, 0.1])
    >>> joint = prior * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> bl.adversaries.g_leakage(joint, reciprocal(prior), 1), bl.pml(joint)(1)
    (Bound(0.9162907319, exact), Bound(0.9162907319, exact))
    """
    return ReciprocalGain(prior)


def guessing(function: Any) -> Gain:
    r"""Guess a randomised function U of the secret: :math:`g_U(x, u) = P_{U|X=x}(u)`.

    Its leakage is the leakage of U, the log of the ratio of the probabilities of a right guess.

    Parameters
    ----------
    function : Mechanism
        The kernel P_{U|X}, finite.

    Returns
    -------
    Gain
        Actions: the labels of U.

    Raises
    ------
    InvalidInput
        Not a finite mechanism, or one that is not defined at some secret.

    References
    ----------
    "Pointwise Maximal Leakage", Theorem 2 (first direction of the proof, equation (30)).

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> u = bl.Mechanism.from_matrix([[1, 0, 0], [0, 0.5, 0.5]])
    >>> bl.adversaries.g_leakage(joint, guessing(u), 0)
    Bound(0.4054651081, exact)
    """
    return of_function(TabledGain, function, lambda lower, upper: (lower, upper))
