"""Reveal or resample on the non-negative integers: bounded PMC, unbounded PML."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.mechanisms.closed_forms import JOURNAL, family_of, figure, infinite
from borel.numerics.intervals.rounding import fraction_up
from borel.probability.alphabets import Integers
from borel.probability.bound import Bound, Ratio
from borel.probability.closed_forms import ClosedForms
from borel.probability.measure import Measure, Tail
from borel.probability.mechanism import Mechanism
from borel.probability.normalisation import Normalisation
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.probability.joint import Joint

_NATURALS = Integers(0, None)
_EXACT_RATIOS = 1000  # beyond 3**1000, Fractions only cost


@explained
def countable() -> Mechanism:
    r"""Make the mechanism of Example 8: reveal the secret, or draw an outcome from the prior.

    .. math:: P_{Y|X=n}(m) = \tfrac12 1\{m = n\} + \tfrac12 p(m), \qquad
              p(0) = \tfrac12, \quad p(m) = 3^{-m} \text{ for } m \ge 1.

    Returns
    -------
    Mechanism
        From the non-negative integers to themselves, with ``reference_prior``, the prior p.

    Notes
    -----
    Closed forms for ``reference_prior`` only, proved in `CountableForms`: PMC is log 2 at every
    outcome; PML(m) is log((3^m + 1) / 2) for m >= 1 and log(3/2) at 0, unbounded.
    The rows sum to 1 since the geometric series 3^-1 + 3^-2 + ... is 1/2.

    References
    ----------
    "Information Density Bounds for Privacy", Example 8.

    Examples
    --------
    >>> import borel as bl
    >>> mech = countable()
    >>> joint = mech.reference_prior * mech
    >>> bl.pmc(joint).sup(), bl.pml(joint).sup()
    (Bound(0.6931471806, exact), Bound(inf, exact))
    """

    def density(y: Any, x: Any) -> Any:
        return np.where(y == x, 0.5, 0.0) + np.where(y == 0, 0.25, 3.0 ** (-y) / 2)

    out = Mechanism(density, secret=_NATURALS, outcome=_NATURALS, name="countable()")
    out.normalisation = Normalisation.by(
        "every row is a half of a point mass and a geometric series"
    )
    out.reference_prior = _prior()
    out.closed_forms = CountableForms()
    return out


def _prior() -> Measure:
    out = Measure(
        lambda x: np.where(x == 0, 0.5, 3.0 ** (-x)),
        _NATURALS,
        tail=Tail(_beyond, "geometric series"),
        name="prior of Example 8",
    )
    out.family = ("prior of Example 8", {})
    return out


def _beyond(n: int) -> float:
    """Bound P(X > n) = 3^-n / 2 from above."""
    return fraction_up(Fraction(1, 2 * 3**n)) if n >= 0 else 1.0


_THEOREM = f"{JOURNAL}, Example 8"


@dataclass(frozen=True)
class CountableForms(ClosedForms):
    r"""Example 8, for its own prior p.

    Notes
    -----
    Proof. Half of the rows is p itself, so that P_Y = p/2 + p/2 = p. In column m the entry at
    n = m is (1 + p(m))/2 and all others are p(m)/2: the supremum over p(m) is
    (1/p(m) + 1)/2, that is (3^m + 1)/2 for m >= 1 and 3/2 for m = 0; p(m) over the infimum is 2.
    Both are attained, as every n has positive mass; PML goes to infinity with m.
    Tested in ``tests/mechanisms/test_resampling.py``.
    """

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one outcome."""
        if not _applies(joint):
            return None
        if kind == "pmc":
            return _log_of(Fraction(2))
        m = int(y)
        if m > _EXACT_RATIOS:
            from borel.numerics.balls.arithmetic import ball

            return figure(lambda: ((ball(3) ** m + 1) / 2).log(), _THEOREM)
        return _log_of(Fraction(3**m + 1, 2) if m else Fraction(3, 2))

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum: log 2 of PMC at every outcome, infinity of PML."""
        if not _applies(joint):
            return None
        if kind == "pmc":
            return _log_of(Fraction(2), attained=True)
        return infinite(_THEOREM, attained=False)


def _applies(joint: Joint) -> bool:
    return family_of(joint.prior)[0] == "prior of Example 8"


def _log_of(ratio: Fraction, **about: Any) -> Bound:
    from borel.numerics.balls.arithmetic import ball

    return figure(lambda: ball(ratio).log(), _THEOREM, exact_ratio=Ratio(ratio, ratio), **about)
