"""How closed forms are made: formulas of a theorem, evaluated in Arb and rounded outwards.

A closed form is used only where its hypotheses hold. The prior is recognised by the family that
made it (`Measure.family`), never by its name: a measure derived from it, or one with the same
density that a user wrote, does not match, and the engine computes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from borel.constants import real
from borel.errors import InvalidInput
from borel.probability.bound import Bound
from borel.probability.normalisation import Normalisation

if TYPE_CHECKING:
    from fractions import Fraction

    from borel.probability.alphabets import Alphabet
    from borel.probability.mechanism import Mechanism

MOST = sys.float_info.max
JOURNAL = "Information Density Bounds for Privacy"


def proved_kernel(
    log_density: Callable[[Any, Any], Any],
    *,
    secret: Alphabet,
    outcome: Alphabet,
    name: str,
    normalisation: str,
) -> Mechanism:
    """Make a mechanism from a log-density whose normalisation has a proof: nothing is integrated.

    The constructor's check is a quadrature, which says nothing at the extreme scales that a proof
    covers too.
    """
    from borel.probability.density import Density
    from borel.probability.mechanism import Mechanism

    out = Mechanism(None, secret=secret, outcome=outcome, name=name)
    out.density = Density(log_density, {"y": outcome, "x": secret}, log=True)
    out.density.check(repr(out))
    out.normalisation = Normalisation.by(normalisation)
    return out


def figure(formula: Callable[[], Any], theorem: str, **about: Any) -> Bound:
    """Make the exact Bound of a leakage: a formula on Arb balls, rounded outwards, never below 0.

    Parameters
    ----------
    formula : callable
        Returns an Arb ball, in nats; it is called again with more bits until two floats suffice.
    theorem : str
        What proves it: paper and number.
    **about
        Other fields of `Bound`.

    Examples
    --------
    >>> from borel.numerics.balls.arithmetic import ball
    >>> figure(lambda: ball(2).log(), "log 2")
    Bound(0.6931471806, exact)
    """
    from borel.numerics.balls.arithmetic import enclose

    low, high = enclose(formula)
    return proved(max(low, 0.0), max(high, 0.0), theorem, **about)


class WorstOutcomes(NamedTuple):
    """Sets of outcomes that grow with a number s from the worst ones on, as functions on balls.

    Attributes
    ----------
    mass : callable
        The probability of the set.
    top : callable
        The integral of the kernel's supremum over the set.
    ratio : callable
        e^PML at its edge, where it is least.
    """

    mass: Callable[[Any], Any]
    top: Callable[[Any], Any]
    ratio: Callable[[Any], Any]

    def mean(self, delta: Fraction, low: Any, high: Any) -> Any:
        """Enclose the mean of e^PML over the worst delta, where mass(low) < delta <= mass(high).

        Any set proves a lower end, with W its indicator or a share of that, and the number at its
        edge an upper one; they meet at the set of mass delta, which halving finds.
        """
        import flint

        from borel.numerics.balls.arithmetic import ball

        low, high = ball(low), ball(high)
        for _ in range(flint.ctx.prec):
            middle = ((low + high) / 2).mid()
            low, high = (middle, high) if self.mass(middle) < ball(delta) else (low, middle)
        mass, top, ratio = self.mass(high), self.top(high), self.ratio(high)
        least = top / mass.max(ball(delta))
        return least.union(ratio + (top - ratio * mass) / ball(delta))


def probability(formula: Callable[[], Any], theorem: str) -> Bound:
    """Make the exact Bound of a probability."""
    from borel.numerics.balls.arithmetic import enclose

    low, high = enclose(formula)
    return proved(min(max(low, 0.0), 1.0), max(min(high, 1.0), 0.0), theorem, units="probability")


def proved(low: float, high: float, theorem: str, **about: Any) -> Bound:
    """Make an exact Bound that names its theorem."""
    assumptions = (f"closed form: {theorem}", *about.pop("assumptions", ()))
    if high == math.inf and low < MOST:  # the balls had too few bits, and [0, inf] is no answer
        reason = "the closed form needs more digits than are tried, or exceeds float64."
        return Bound.undecided(low, high, reason=reason, assumptions=assumptions, **about)
    return Bound.exact(low, high, assumptions=assumptions, **about)


def infinite(theorem: str, *, attained: bool) -> Bound:
    """Make the exact Bound of a proved infinity."""
    return proved(math.inf, math.inf, theorem, attained=attained)


def family_of(prior: Any) -> tuple[str, dict[str, Any]]:
    """Return the named family of a prior and its parameters; ``("", {})`` if it has none."""
    return getattr(prior, "family", None) or ("", {})


def number(what: str, name: str, value: Any) -> float:
    """Return a parameter as a finite float, or say what was expected."""
    expected = f"{name} = a finite number, or a DataArray with named dimensions"
    given = real(what, value.item() if _is_scalar_array(value) else value, expected)
    try:
        out = math.nan if isinstance(given, bool) else float(given)
    except OverflowError:
        out = math.inf
    if not math.isfinite(out):
        raise InvalidInput(what, expected=expected, got=repr(value))
    if out != given:
        raise InvalidInput(
            what,
            expected=f"{name} as a float, since the density is one of floats",
            got=repr(value),
            mend=f"write {name}={out!r}: its binary64 value is meant.",
        )
    return out


def _is_scalar_array(value: Any) -> bool:
    return getattr(value, "shape", None) == () and value.dtype.kind in "fiu"


def positive(what: str, name: str, value: Any) -> float:
    """Return a parameter as a finite float > 0, or say what was expected."""
    out = number(what, name, value)
    if not out > 0:
        raise InvalidInput(what, expected=f"{name} > 0", got=repr(value))
    return out
