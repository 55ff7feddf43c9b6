"""Priors that were elicited from a person with PreliZ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from borel.errors import InvalidInput, NotYet
from borel.probability.alphabets import Finite, Integers, Interval, Reals
from borel.probability.families import from_pymc
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.probability.alphabets import Alphabet
    from borel.probability.measure import Measure


@explained
def from_preliz(distribution: Any, on: Alphabet | None = None) -> Measure:
    """Make a prior of the secret from a PreliZ distribution, by PyMC's distribution of that name.

    PreliZ itself is not needed, nor imported.

    Parameters
    ----------
    distribution : preliz.distributions.Distribution
        One of a number, all of whose parameters are set: by hand, ``pz.Gamma(2, 5)``, or by
        ``pz.maxent``, ``pz.quartile``, ``pz.roulette``.
    on : Alphabet, optional
        Where it lives; the support that PreliZ gives if not given: `Reals`, an `Interval`, or
        integers, which are ``Finite(n)`` if they are 0, ..., n - 1.

    Returns
    -------
    Measure
        As `borel.from_pymc` makes it of ``distribution.to_pymc()``.

    Raises
    ------
    InvalidInput
        No PreliZ distribution of a number, or one with parameters that are not set.
    NotYet
        A distribution that PyMC does not have, or that has atoms among floats.

    Examples
    --------
    ``bl.priors.from_preliz(pz.maxent(pz.Beta(), 0.1, 0.4, 0.9))`` is the Beta law of the largest
    entropy with mass 0.9 between 0.1 and 0.4; ``pz`` is ``preliz``.
    """
    kind = getattr(distribution, "kind", None)
    if kind not in ("continuous", "discrete") or not hasattr(distribution, "to_pymc"):
        raise InvalidInput(
            "from_preliz",
            expected="a PreliZ distribution of a number, pz.Beta(2, 5)",
            got=f"{type(distribution).__name__}" + (f", {kind}" if isinstance(kind, str) else ""),
            mend="a vector of probabilities is a prior by itself: bl.pmf(p).",
        )
    if not distribution.is_frozen:
        raise InvalidInput(
            "from_preliz",
            expected="a distribution whose parameters are set",
            got=f"{distribution!r}",
            mend="give them, or elicit them: pz.maxent(distribution, lower, upper, mass).",
        )
    try:
        variable = distribution.to_pymc()
    except AttributeError as error:
        raise NotYet(
            "from_preliz",
            missing=f"{type(distribution).__name__}, which PyMC does not have",
            instead="bl.Measure(density, on=alphabet).",
        ) from error
    return from_pymc(variable, _support(distribution) if on is None else on)


def _support(distribution: Any) -> Alphabet:
    low, high = (float(end) for end in distribution.support)
    if distribution.kind == "discrete":
        first, last = (int(end) if math.isfinite(end) else None for end in (low, high))
        if first == 0 and last is not None:
            return Finite(last + 1)
        return Integers(first, last)
    if math.isinf(low) and math.isinf(high):
        return Reals()
    return Interval(*(end if math.isfinite(end) else None for end in (low, high)))
