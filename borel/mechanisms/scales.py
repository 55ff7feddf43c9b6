"""Scales of noise, given as they are or by a level of differential privacy and a sensitivity."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from borel.errors import InvalidInput, WrongCall
from borel.mechanisms.closed_forms import positive
from borel.numerics.intervals.rounding import fraction_up


def scale(
    what: str,
    name: str,
    value: Any,
    epsilon: Any,
    sensitivity: Any,
    formula: str,
    of: Callable[[Any, Any], Any] | None = None,
) -> float:
    """Return a scale that is given, or the least float found that gives a level epsilon.

    Parameters
    ----------
    what, name : str
        The mechanism and its parameter.
    value, epsilon, sensitivity : number or None
        The scale, or a level and the distance of two secrets up to which it holds.
    formula : str
        What the scale of a level is, in words.
    of : callable, optional
        The same on Arb balls of epsilon and the sensitivity; their quotient if not given.

    Examples
    --------
    >>> scale("laplace", "b", None, 0.5, 1.0, "b = sensitivity / epsilon")
    2.0
    """
    if epsilon is None and sensitivity is None:
        if value is None:
            raise InvalidInput(
                what,
                expected=f"{name} = a number > 0, or epsilon= and sensitivity=",
                got="none of them",
            )
        return positive(what, name, value)
    if value is not None or epsilon is None or sensitivity is None:
        given = {name: value, "epsilon": epsilon, "sensitivity": sensitivity}
        raise WrongCall(
            what,
            expected=f"{name}=..., or both epsilon=... and sensitivity=...",
            got=", ".join(f"{n}={v!r}" for n, v in given.items() if v is not None),
            mend=f"the scale of epsilon-DP is {formula}.",
        )
    level, reach = positive(what, "epsilon", epsilon), positive(what, "sensitivity", sensitivity)
    if of is None:
        found = fraction_up(Fraction(reach) / Fraction(level))
    else:
        from borel.numerics.balls.arithmetic import ball, enclose

        found = enclose(lambda: of(ball(level), ball(reach)))[1]
    return positive(what, name, found)
