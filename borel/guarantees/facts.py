"""What is known of the prior: the facts on which the conditions of theorems are checked."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np

from borel.constants import exactly
from borel.errors import InvalidInput
from borel.probability.alphabets import Alphabet
from borel.probability.arrays import probability
from borel.probability.measure import Measure

KINDS = ("finite", "countable", "general")


@dataclass(frozen=True)
class Facts:
    """What is known of the support of the prior, as ends that keep conclusions true.

    Attributes
    ----------
    alphabet : {"finite", "countable", "general"}
        What the secrets are. Theorems on finite alphabets are about the support of the prior.
    size : int or None
        The number of points of the support, exactly.
    p_min : Fraction or None
        At or below the smallest probability of a point of the support.
    p_max : Fraction or None
        At or above the largest.
    common_maximiser : bool
        Whether one secret attains the leakage of every outcome above epsilon (Proposition 4).
    notes : tuple of str
        What was assumed, in words.
    delta : Fraction or None
        At which probability tail leakage is asked for, where a theorem gives it at every one.
    """

    alphabet: str = "general"
    size: int | None = None
    p_min: Fraction | None = None
    p_max: Fraction | None = None
    common_maximiser: bool = False
    notes: tuple[str, ...] = ()
    delta: Fraction | None = None

    @property
    def finite(self) -> bool:
        """Whether the support is finite."""
        return self.alphabet == "finite"

    @property
    def discrete(self) -> bool:
        """Whether the secrets are countable."""
        return self.alphabet != "general"

    def has(self, needs: frozenset[str]) -> bool:
        """Return whether all that a theorem needs is known."""
        return all(bool(getattr(self, need)) for need in needs)

    def __str__(self) -> str:
        """Show what is known."""
        known = [f"{self.alphabet} alphabet"]
        if self.size is not None:
            known.append(f"{self.size} secrets")
        if self.p_min is not None:
            known.append(f"p_min = {_number(self.p_min)}")
        if self.common_maximiser:
            known.append("a common maximiser")
        if self.delta is not None:
            known.append(f"delta = {_number(self.delta)}")
        return ", ".join(known)


def _number(p: Fraction) -> str:
    return str(p) if p.denominator < 10**6 else f"{float(p):.6g}"


def facts_of(
    *,
    p_min: Any = None,
    alphabet: Any = None,
    prior: Any = None,
    common_maximiser: bool = False,
    delta: Any = None,
) -> Facts:
    """Collect what is known of the prior, and check that it is consistent.

    Raises
    ------
    InvalidInput
        A p_min outside (0, 1], above one over the number of secrets, or given for an alphabet
        that is not finite; an alphabet that is none; a prior beside other facts; a delta outside
        (0, 1].
    """
    level = None if delta is None else probability("implied", "delta", delta)
    if level == 0:
        raise InvalidInput("implied", expected="0 < delta <= 1", got=repr(delta))
    return replace(_of_secrets(p_min, alphabet, prior, common_maximiser), delta=level)


def _of_secrets(p_min: Any, alphabet: Any, prior: Any, common_maximiser: Any) -> Facts:
    """Collect what is known of the prior."""
    if not isinstance(common_maximiser, bool):
        raise InvalidInput(
            "implied", expected="common_maximiser=True or False", got=repr(common_maximiser)
        )
    if prior is not None:
        if p_min is not None or alphabet is not None:
            raise InvalidInput(
                "implied",
                expected="prior=..., or p_min=... and alphabet=...",
                got="both",
                mend="the prior says p_min and its support itself.",
            )
        return _of_prior(prior, common_maximiser)
    kind, size = _kind_and_size(alphabet, "finite" if p_min is not None else "general")
    notes = () if size is None else (f"the prior charges every one of {size} secrets",)
    least = None if p_min is None else _least(p_min, kind, size)
    most = None
    if size == 1:
        least = most = Fraction(1)
    elif least is not None:
        # the others have at least p_min each; of two secrets or more one has at least p_min
        most = 1 - (size - 1) * least if size is not None else Fraction(1)
    return Facts(kind, size, least, most, common_maximiser, notes)


def _kind_and_size(alphabet: Any, default: str) -> tuple[str, int | None]:
    if alphabet is None:
        return default, None
    if isinstance(alphabet, str) and alphabet in KINDS:
        return alphabet, None
    if isinstance(alphabet, Integral) and not isinstance(alphabet, bool) and int(alphabet) >= 1:
        return "finite", int(alphabet)
    if isinstance(alphabet, Alphabet):
        if alphabet.kind == "finite":
            return "finite", int(alphabet.size)  # type: ignore[attr-defined]
        return ("countable" if alphabet.kind == "countable" else "general"), None
    raise InvalidInput(
        "implied",
        expected=f"alphabet as one of {KINDS}, an Alphabet, or the number of secrets",
        got=repr(alphabet),
    )


def _least(p_min: Any, kind: str, size: int | None) -> Fraction:
    """Return a lower end of p_min; a float stands for a number that rounds to it."""
    number: Any = p_min if isinstance(p_min, Real) and not isinstance(p_min, bool) else math.nan
    if not 0 < number <= 1:
        raise InvalidInput(
            "implied",
            expected="0 < p_min <= 1, the smallest probability of a point of the support",
            got=repr(p_min),
        )
    if kind != "finite":
        raise InvalidInput(
            "implied",
            expected=f"no p_min on a {kind} alphabet: a support with p_min > 0 is finite",
            got=f"p_min={p_min!r}",
            mend='write alphabet="finite" if the support of the prior is.',
        )
    exact = isinstance(p_min, Rational)
    least = Fraction(p_min) if exact else _below(p_min)
    if size is None:
        return Fraction(1) if p_min == 1 else least
    if not exact and float(p_min) == float(Fraction(1, size)):
        return Fraction(1, size)  # the float nearest to 1/n, beside n, means 1/n
    if least > Fraction(1, size):
        raise InvalidInput(
            "implied",
            expected=f"p_min <= 1/{size}, with {size} secrets in the support",
            got=f"p_min={p_min!r}",
            mend="give the number of secrets that the prior charges, not of the alphabet.",
        )
    return least


def _below(p: Any) -> Fraction:
    """Return the float before a float, of its own precision."""
    if isinstance(p, np.floating):
        return exactly(np.nextafter(p, type(p)(0)))
    return Fraction(math.nextafter(float(p), 0.0))


def _of_prior(prior: Any, common_maximiser: bool) -> Facts:
    if not isinstance(prior, Measure) or prior.batch:
        raise InvalidInput(
            "implied", expected="prior=<one Measure>, such as bl.pmf([...])", got=repr(prior)
        )
    if prior._probabilities is None:
        kind = "countable" if prior.on.kind == "countable" else "general"
        return Facts(kind, common_maximiser=common_maximiser)
    if prior.unproved:
        raise InvalidInput(
            "implied",
            expected="probabilities that are proved",
            got=f"a prior known in float64 only: {prior.unproved}",
            mend="give p_min=... as a number you vouch for.",
        )
    masses = [Fraction(p) for p in prior.probabilities if p != 0]
    if len(masses) == 1:
        return Facts("finite", 1, Fraction(1), Fraction(1), common_maximiser)
    error = Fraction(0)
    if not prior.rational:
        from borel.numerics.intervals.rounding import rounding_of

        floats = prior.probabilities[prior.probabilities != 0]
        error = min(Fraction(float(rounding_of(floats, prior.rounding).max())), Fraction(1))
    least, most = min(masses) * (1 - error), min(max(masses) * (1 + error), Fraction(1))
    return Facts("finite", len(masses), least or None, most, common_maximiser)
