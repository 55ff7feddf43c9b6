"""What an audit says beside a supremum over a set of priors: the nominal prior, and the price."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from borel.audits.store import pack
from borel.audits.table import short
from borel.errors import NotYet
from borel.priors.set_leakage import nominal_joint
from borel.priors.sets import PriorSet
from borel.probability.alphabets import in_words
from borel.probability.bound import UNPROVED, Bound, weakest
from borel.probability.measure import Measure

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr

    from borel.probability.joint import Joint

OVER = "Over all priors of the set"
_SHOWN = 8


def is_set(joint: Joint) -> bool:
    """Return whether the prior of a joint is a set of priors."""
    return isinstance(joint.prior, PriorSet)


def beside(
    name: str,
    over: Bound,
    figure: Callable[[Joint], Bound],
    joint: Joint,
    packed: Callable[..., xr.Dataset] = pack,
) -> dict[str, xr.Dataset]:
    """Return the nodes of a figure under the nominal prior, and of what the set costs.

    Parameters
    ----------
    name : str
        The node of the supremum over the set.
    over : Bound
        That supremum.
    figure : callable
        The measure, of a joint.
    joint : Joint
        ``prior_set * mech``.
    packed : callable
        How a Bound is packed.

    Returns
    -------
    dict
        Nodes ``name/nominal`` and, where it is a number, ``name/cost``; empty without a nominal
        prior.
    """
    import xarray as xr

    nominal = nominal_joint(joint)
    if nominal is None:
        return {}
    try:
        one = figure(nominal)
    except NotYet as error:
        return {f"{name}/nominal": xr.Dataset(attrs={"not_yet": str(error)})}
    price = cost(over, one)
    nodes = {f"{name}/nominal": packed(one)}
    return nodes if price is None else {**nodes, f"{name}/cost": packed(price)}


def cost(over: Bound, nominal: Bound) -> Bound | None:
    """Return what not knowing the prior costs: the supremum over the set less the nominal figure.

    Parameters
    ----------
    over : Bound
        The supremum over a set of priors.
    nominal : Bound
        The figure under a member.

    Returns
    -------
    Bound or None
        At least 0, as the nominal prior is a member; as weak as the weaker of the two. None where
        both may be infinite.

    Examples
    --------
    >>> cost(Bound.exact(0.75, 0.75), Bound.exact(0.5, 0.5))
    Bound(0.25, exact)
    """
    if over.upper == nominal.upper == math.inf:
        return None
    status = weakest([over.status, nominal.status])
    notes = tuple(dict.fromkeys((*over.assumptions, *nominal.assumptions)))
    about: dict[str, Any] = {"assumptions": notes, "units": over.units}
    reason = " ".join(dict.fromkeys(b.reason for b in (over, nominal) if b.reason))
    low, high = _difference(over.lower, nominal.upper), _difference(over.upper, nominal.lower)
    if status == "estimate":
        ends = float(low), float(high)
        half = (ends[1] - ends[0]) / 2 if ends[0] != ends[1] else 0.0
        return Bound.estimate(ends[0] + half, half, reason=reason, **about)
    if status == "undecided":
        if not {over.status, nominal.status}.isdisjoint(UNPROVED):  # their ends prove nothing
            low, high = 0, math.inf
        return Bound.undecided(max(low, 0), max(high, 0), reason=reason, **about)
    if status == "statistical":
        about |= {"confidence": over.confidence, "truth_ends": over.truth_ends}
    return Bound.of(status, max(low, 0), max(high, 0), **about)


def _difference(a: float, b: float) -> Any:
    """Return a - b exactly; the Bound rounds it outwards."""
    return a - b if math.isinf(a) or math.isinf(b) else Fraction(a) - Fraction(b)


def prior_in_words(prior: Any) -> str:
    """Return a prior for a table: its probabilities by label if they are few, else its repr."""
    if isinstance(prior, Measure) and prior._probabilities is not None and not prior.batch:
        if prior.on.size <= _SHOWN:
            pairs = zip(prior.on.labels, prior.probabilities, strict=True)
            return ", ".join(f"{in_words(label)}: {short(p, 'nearest')}" for label, p in pairs)
    return str(prior)


def worst_case(bound: Bound) -> tuple[str, str, str]:
    """Return where a supremum comes from, in words: the prior, the place, and if it is attained."""
    witness = bound.witness or {}
    prior = prior_in_words(witness["prior"]) if "prior" in witness else "-"
    named = {"y": "outcome", "x": "secret", "theta": "theta"}
    place = ", ".join(
        f"{words} {in_words(witness[k])}" for k, words in named.items() if k in witness
    )
    attained = {True: "attained", False: "approached, not attained", None: "not known"}
    return prior, place or "-", attained[bound.attained]
