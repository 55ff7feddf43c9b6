r"""The gain, and the cost, that make every action worth the same before the release.

With 1[x = w] / P(x) every secret w is worth 1 before, and P(w|y) / P(w) after: the largest of them
is e^PML, the smallest e^-PMC.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from borel.adversaries.beliefs import Secrets
from borel.adversaries.threats import Gain, Threat, Value
from borel.errors import InvalidInput
from borel.probability.measure import Measure, covers


class Reciprocal(Threat):
    """1[x = w] / P(x) for the secrets w that a prior charges: expectations are w(x) / P(x)."""

    name = "reciprocal of the prior"

    def __init__(self, prior: Any, what: str):
        if not isinstance(prior, Measure) or prior._probabilities is None or prior.batch:
            raise InvalidInput(what, expected="a finite prior", got=repr(prior))
        self.prior, self._what = prior, what

    def _rewards(self, secrets: Secrets) -> list[Fraction]:
        if not covers(secrets.alphabet, self.prior):
            raise InvalidInput(
                self._what,
                expected=f"a prior on {secrets.alphabet!r}",
                got=f"one on {self.prior.on!r}",
                mend="give the prior of the joint itself.",
            )
        p = [Fraction(v) for v in self.prior.at(secrets.alphabet)[secrets.rows].tolist()]
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
        rewards, best, out = self._rewards(secrets), max if isinstance(self, Gain) else min, []
        for row in weights.tolist():
            scores = [w * r for w, r in zip(row, rewards, strict=True)]
            at = best(range(len(scores)), key=scores.__getitem__)
            out.append(Value(scores[at], scores[at], secrets.labels[at]))
        return out

    def at(self, secrets: Secrets, action: Any) -> list[Fraction]:
        """Return 1 / P(x) at the secret that is named."""
        pairs = zip(secrets.labels, self._rewards(secrets), strict=True)
        return [r if x == action else Fraction(0) for x, r in pairs]
