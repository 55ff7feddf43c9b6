"""Gains with too many actions to list: the best of each is built piece by piece."""

from __future__ import annotations

import heapq
from fractions import Fraction
from typing import Any

import numpy as np

from borel.adversaries.beliefs import Secrets
from borel.adversaries.threats import Gain, Value


class Tries(Gain):
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

    def at(self, secrets: Secrets, action: Any) -> list[Fraction]:
        """Return 1 at the secrets that are guessed."""
        guesses = (action,) if self._single else action
        return [Fraction(int(x in guesses)) for x in secrets.labels]


class Membership(Gain):
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

    def at(self, secrets: Secrets, action: Any) -> list[Fraction]:
        """Return the reward of the right guesses at each secret."""
        guess = (action,) if self._single else action
        rows = zip(self._tables(secrets), self._rewards, guess, strict=True)
        found = [[r * (h == g) for h in held] for held, r, g in rows]
        return [sum(column, Fraction(0)) for column in zip(*found, strict=True)]
