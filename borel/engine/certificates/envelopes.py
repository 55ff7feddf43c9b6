"""Certificates of envelopes that follow from certificates about the outcomes themselves."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from borel.engine.certificates import wanted
from borel.engine.certificates.checks.envelope_ends import ends
from borel.engine.certificates.checks.set_rules import SUPREMUM
from borel.engine.certificates.encoding import without_infinities
from borel.numerics.balls.arithmetic import ends as floats

if TYPE_CHECKING:
    from borel.probability.bound import Bound

_LITTLE = 2.0**-32
"""How much wider a figure may become, to be one that others can verify."""


def from_outcomes(bound: Bound, kind: str, about: dict[str, Any] | None, of: list[Bound]) -> Bound:
    """Return a figure of an envelope with the certificates that it follows from.

    Parameters
    ----------
    bound, kind
        The figure, and whose envelope: "pml" or "pmc".
    about : dict or None
        The figure, as a certificate says it; None if it does not.
    of : list of Bound
        Suprema, means and figures of the law of the leakage of the outcomes.
    """
    made = [one.certificate for one in of if one.certificate is not None]
    proved = wanted() and bound.status in ("certified", "conditional")
    if not (proved and made and about):
        return bound
    whole = {"format": 12, "quantity": f"{kind}_envelope", "envelope": about}
    with suppress(ValueError):
        low, high, _ = ends(whole, made, [f", {SUPREMUM}"] * len(made))
        lower, upper = min(bound.lower, floats(low)[0]), max(bound.upper, floats(high)[1])
        if upper - lower <= bound.width + _LITTLE:
            claim = without_infinities({**whole, "lower": lower, "upper": upper})
            return replace(bound, lower=lower, upper=upper, certificate={**claim, "of": made})
    return bound
