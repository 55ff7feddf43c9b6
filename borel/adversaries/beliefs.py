"""What an adversary believes about the secret, as exact rational numbers.

Every expected gain or cost is a sum of non-negative terms, so nothing here is rounded: floats are
taken as the rationals they are, their rounding as a lower and an upper law, and the ends are
rounded outwards once, when a Bound is made.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.engine.finite.law_engine import OUTSIDE
from borel.errors import InvalidInput, NotYet
from borel.numerics.intervals.rounding import U, rounding_of
from borel.probability.arrays import carried
from borel.probability.joint import Joint
from borel.probability.measure import Measure

if TYPE_CHECKING:
    from collections.abc import Collection

    from borel.probability.alphabets import Alphabet

FLOATS = "floats mean the normalised laws within their rounding"


class Secrets(NamedTuple):
    """The secrets that the prior charges.

    Attributes
    ----------
    alphabet : Alphabet
        The mechanism's, whose labels tables of gains and costs follow.
    rows : ndarray of int (n,)
        Positions of the charged secrets in it.
    labels : tuple (n,)
        Their labels.
    """

    alphabet: Alphabet
    rows: np.ndarray
    labels: tuple


class Weights(NamedTuple):
    """Enclosures of unnormalised laws over the charged secrets, one a row: p(x), or p(x) f(y|x).

    Attributes
    ----------
    lower, upper : ndarray of Fractions (m, n)
        The ends; one object where the laws are rational.
    total : Fraction or None
        The mass of each law, where it is known beside its terms.
    """

    lower: np.ndarray
    upper: np.ndarray
    total: Fraction | None = None

    @property
    def exact(self) -> bool:
        """Whether the laws are rational."""
        return self.lower is self.upper

    def row(self, j: int) -> Weights:
        """Return one of the laws."""
        lower = self.lower[j : j + 1]
        return Weights(lower, lower if self.exact else self.upper[j : j + 1])


class At(NamedTuple):
    """What one outcome tells.

    Attributes
    ----------
    label : label
        The outcome.
    weights : Weights, SecretDensity or None
        The posterior up to a factor, one row; None at an outcome of probability 0.
    notes : tuple of str
        What a figure at this outcome rests on, beside the others.
    """

    label: Any
    weights: Any
    notes: tuple[str, ...] = ()


class PriorBeliefs:
    """The prior of a joint with a finite secret.

    Parameters
    ----------
    joint : Joint
        With a prior on a finite alphabet.
    alphabet : Alphabet
        A finite one, whose labels tables of gains and costs follow.
    what : str
        Who asks, for the message of an error.
    """

    status_before = "exact"
    doubts: Collection[str] = ()
    """What figures rest on that was checked, and not proved."""

    def __init__(self, joint: Joint, alphabet: Alphabet, what: str):
        require_finite_prior(joint.prior, what)
        self.joint = joint
        self.mechanism = joint.mechanism
        prior = joint.prior.at(alphabet)
        rows = np.flatnonzero(np.asarray(prior != 0, bool))
        self.secrets = Secrets(alphabet, rows, tuple(alphabet.labels[i] for i in rows))
        self._p = law(prior[rows], joint.prior.rounding)

    @property
    def prior(self) -> Weights:
        """The prior, one row."""
        lower, upper = self._p
        first = lower[None]
        return Weights(first, first if lower is upper else upper[None])

    @property
    def certain(self) -> bool:
        """Whether there is one secret: about it nothing is left to learn."""
        return len(self.secrets.labels) == 1

    def notes(self, threat: Any) -> tuple[str, ...]:
        """Return what figures about a threat rest on, beside the others."""
        return threat.notes(self.secrets)

    def before(self, threat: Any) -> Any:
        """Return the best value under the prior."""
        return threat.enclosed(self.secrets, self.prior)[0]

    def after(self, threat: Any, weights: Weights) -> Any:
        """Return V(w_y) / P_Y(y)."""
        total = weights.total
        charged = np.asarray(weights.lower[0] != 0, bool) | np.asarray(weights.upper[0] != 0, bool)
        if charged.sum() == 1:  # a posterior of one point is known exactly
            sure = np.array([[Fraction(int(c)) for c in charged]], dtype=object)
            weights, total = Weights(sure, sure), Fraction(1)
        found = threat.enclosed(self.secrets, weights)[0]
        if total is not None:
            return found._replace(lower=found.lower / total, upper=found.upper / total)
        least = sum(weights.lower[0].tolist(), Fraction(0))
        most = sum(weights.upper[0].tolist(), Fraction(0))
        high = found.upper / least if least else math.inf
        return found._replace(lower=found.lower / most, upper=high)


class Beliefs(PriorBeliefs):
    """The prior and the posteriors of a finite joint.

    Parameters
    ----------
    joint : Joint
        With finite alphabets.
    what : str
        Who asks, for the message of an error.
    """

    status = "exact"

    def __init__(self, joint: Any, what: str):
        require_joint(joint, what)
        if not joint.finite:
            raise NotYet(
                what,
                missing=f"gains and costs on {joint.secret!r} and {joint.outcome!r}",
                instead="finite alphabets are exact; bl.adversaries.witness(joint, y) attains PML "
                "and PMC on continuous secrets too.",
            )
        super().__init__(joint, joint.mechanism.secret, what)
        self.reason = carried(joint.prior, self.mechanism)
        self.assumptions = () if joint.rational else (FLOATS,)

    @cached_property
    def _kernel(self) -> tuple[np.ndarray, np.ndarray]:
        return ends(self.mechanism.matrix[self.secrets.rows], self.mechanism.rounding)

    def at(self, columns: np.ndarray) -> Weights:
        """Return p(x) f(y|x) at positions of outcomes, shape (len(columns), n)."""
        (p_low, p_high), (k_low, k_high) = self._p, self._kernel
        lower = p_low[None] * k_low[:, columns].T
        if p_low is p_high and k_low is k_high:
            return Weights(lower, lower)
        return Weights(lower, p_high[None] * k_high[:, columns].T)

    def column(self, y: Any) -> int:
        """Return the position of one outcome."""
        place = self.mechanism.outcome.positions(y)
        if place.ndim:
            raise InvalidInput(
                "y",
                expected="one outcome",
                got=f"an array of shape {place.shape}",
                mend="ask for one y at a time.",
            )
        return int(place)

    def outcome(self, y: Any) -> At:
        """Return what one outcome tells."""
        column = self.column(y)
        label = self.mechanism.outcome.labels[column]
        if column not in self.live:
            return At(label, None, (OUTSIDE,))
        return At(label, self.at(np.array([column])))

    def average(self, threat: Any) -> Any:
        """Return the sum over outcomes of the best values, with an action for each."""
        found = threat.enclosed(self.secrets, self.at(self.live))
        labels = self.mechanism.outcome.labels
        actions = {labels[j]: v.action for j, v in zip(self.live, found, strict=True)}
        low = sum((v.lower for v in found), Fraction(0))
        return type(found[0])(low, sum((v.upper for v in found), Fraction(0)), actions)

    @cached_property
    def live(self) -> np.ndarray:
        """Positions of the outcomes of positive probability."""
        k = self.mechanism.matrix[self.secrets.rows]
        return np.flatnonzero(np.asarray(k != 0, bool).any(axis=0))


def require_joint(joint: Any, what: str) -> None:
    """Raise `InvalidInput` for anything but a joint."""
    if not isinstance(joint, Joint):
        raise InvalidInput(
            what,
            expected="a joint, prior * mech",
            got=type(joint).__name__,
            mend=f"write bl.adversaries.{what}(prior * mech, ...).",
        )


def require_finite_prior(prior: Any, what: str) -> None:
    """Raise `InvalidInput` for anything but one prior on a finite alphabet."""
    if not isinstance(prior, Measure) or prior._probabilities is None or prior.batch:
        raise InvalidInput(what, expected="a finite prior", got=repr(prior))


def ends(values: np.ndarray, rounding: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest probabilities that given ones stand for, as Fractions.

    Fractions stand for themselves, an exact 0 for 0, and no probability is above 1.
    """
    if values.dtype == object:
        return values, values
    middle = fractions(values)
    error = fractions(rounding_of(values, max(rounding, U)))
    lower = np.where(error < 1, middle * (1 - error), 0 * middle)
    return lower, at_most_1(middle * (1 + error))


def at_most_1(values: np.ndarray) -> np.ndarray:
    """Return upper ends of probabilities, which are never above 1."""
    return np.where(values > 1, fractions(np.ones(values.shape)), values)


def law(values: np.ndarray, rounding: float) -> tuple[np.ndarray, np.ndarray]:
    """Return `ends` of the positive probabilities of a law; a single one is 1."""
    if len(values) == 1:
        one = np.array([Fraction(1)], dtype=object)
        return one, one
    return ends(values, rounding)


def fractions(values: np.ndarray) -> np.ndarray:
    """Return numbers as the Fractions they are."""
    out = np.empty(values.shape, dtype=object)
    out.ravel()[:] = [Fraction(v) for v in values.ravel().tolist()]
    return out


class Products(NamedTuple):
    """Expectations times a common denominator: ``numerators / denominator``."""

    numerators: np.ndarray
    denominator: int

    def value(self, row: int, column: int) -> Fraction:
        """Return one of them."""
        return Fraction(self.numerators[row, column], self.denominator)


def product(weights: np.ndarray, table: np.ndarray) -> Products:
    """Multiply matrices of Fractions, as integers over a common denominator."""
    a, first = _integers(weights)
    b, second = _integers(table)
    return Products(a @ b, first * second)


def _integers(values: np.ndarray) -> tuple[np.ndarray, int]:
    flat = values.ravel().tolist()
    common = math.lcm(*(v.denominator for v in flat))
    out = np.empty(values.shape, dtype=object)
    out.ravel()[:] = [v.numerator * (common // v.denominator) for v in flat]
    return out, common
