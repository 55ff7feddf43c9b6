"""What a release discloses: of each attribute its entropy, what is left of it, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import settings
from borel.disclosures.attributes import PAPER, about_entry
from borel.disclosures.entropies import min_entropy, notes_of, settled
from borel.disclosures.remaining_entropies import remaining_entropy
from borel.disclosures.verdicts import Decision, decided
from borel.errors import InvalidInput, NotYet
from borel.figures.dispatch import require_joint
from borel.figures.leakage import pml
from borel.priors.set_operations import Union
from borel.probability.bound import Bound
from borel.probability.joint import Joint
from borel.probability.measure import pmf

if TYPE_CHECKING:
    import xarray as xr

THEOREM_3_5 = "Theorem 3.5: its min-entropy is above the largest PML"
_WORDS = {True: "disclosed", False: "not disclosed", None: "undecided"}


class AttributeRow(NamedTuple):
    """What a release says of one attribute.

    Attributes
    ----------
    name : str
        What the attribute is called.
    entropy : Bound
        Its min-entropy.
    line : Bound
        The largest PML: no attribute of more min-entropy is disclosed.
    remaining : Bound
        The least min-entropy that is left of it after an outcome; its status is the verdict's.
    verdict : str
        "disclosed", "not disclosed" or "undecided".
    by : str
        What says so.
    witness : dict
        Of one that is disclosed the value ``u``, and the outcome ``y``, where they are known.
    """

    name: str
    entropy: Bound
    line: Bound
    remaining: Bound
    verdict: str
    by: str
    witness: dict[str, Any]

    @property
    def confidence(self) -> float | None:
        """With which the verdict holds, if that depends on a sample."""
        return self.remaining.confidence


def disclosure(joint: Joint, attributes: Mapping[str, Any]) -> xr.Dataset:
    r"""Return what a release discloses of some attributes of the secret.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``, or a set of priors times a mechanism.
    attributes : mapping
        A name for each attribute; attributes as for `bl.attribute`, None for the secret itself.

    Returns
    -------
    Dataset
        Over the dimension ``attribute``: ``entropy``, ``line`` (the largest PML) and ``remaining``,
        each with a dimension ``end`` (lower, upper) and, as ``entropy_status`` and so on, its
        status; ``verdict`` ("disclosed", "not disclosed" or "undecided") and ``by``, what says so;
        ``confidence``, NaN where the verdict does not rest on a sample.

    Raises
    ------
    InvalidInput
        No joint, no mapping, or something that is no attribute.
    NotYet
        A posterior over priors, or an attribute of which nothing is known here.

    Notes
    -----
    The verdict is Definition 3.3, for the adversaries with a prior of the same support: by the
    supports of the posteriors where outcomes are finite, by Theorem 3.5 if the min-entropy is above
    the largest PML, by Theorem 3.7 if the leakage capacity is finite. Of a secret that is not
    finite, Theorem 3.5 speaks of the priors with a density that is bounded, from above and away
    from 0, with respect to this one. Over a set of priors "disclosed" speaks of some member,
    "not disclosed" of all of them; it is undecided where members may differ in their supports.

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Section 3.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[F(1), F(0)], [F(1, 2), F(1, 2)], [F(1, 2), F(1, 2)]])
    >>> joint = bl.pmf([F(1, 3)] * 3) * mech
    >>> found = disclosure(joint, {"the secret": None, "not 0": {1, 2}})
    >>> found["verdict"].values.tolist()
    ['not disclosed', 'disclosed']
    """
    import xarray as xr

    rows = disclosure_rows(joint, attributes)
    figures = ("entropy", "line", "remaining")
    variables: dict[str, Any] = {}
    for name in figures:
        bounds = [getattr(row, name) for row in rows]
        ends = np.array([(b.lower, b.upper) for b in bounds])
        variables[name] = (("attribute", "end"), ends, {"units": "nats"})
        variables[f"{name}_status"] = ("attribute", [b.status for b in bounds])
    variables["verdict"] = ("attribute", [row.verdict for row in rows])
    variables["by"] = ("attribute", [row.by for row in rows])
    stated = [np.nan if row.confidence is None else row.confidence for row in rows]
    variables["confidence"] = ("attribute", stated)
    about = {"quantity": "what the release discloses", "source": f"{PAPER}, Section 3"}
    names = [row.name for row in rows]
    return xr.Dataset(variables, {"attribute": names, "end": ["lower", "upper"]}, about)


@settings.one_figure()
def disclosure_rows(joint: Joint, attributes: Mapping[str, Any]) -> list[AttributeRow]:
    """Return what `disclosure` says, an `AttributeRow` for each attribute."""
    require_joint(joint, "disclosure")
    if not isinstance(attributes, Mapping) or not attributes:
        raise InvalidInput(
            "bl.disclosure",
            expected="{name: attribute, ...}",
            got=repr(attributes),
            mend='write bl.disclosure(joint, {"the secret": None}).',
        )
    if joint.prior.over == "draws":
        raise NotYet(
            "bl.disclosure",
            missing="a posterior over priors",
            instead="one prior, or a set of priors such as learnt.region(...).",
        )
    return [_row(joint, str(name), attribute) for name, attribute in attributes.items()]


def _row(joint: Any, name: str, attribute: Any) -> AttributeRow:
    joint, attribute = about_entry(joint, attribute)
    entropy, line = min_entropy(joint, attribute), pml(joint).sup()
    remaining = remaining_entropy(joint, attribute)
    if "estimate" not in (entropy.status, line.status) and entropy.ends.lower > line.ends.upper:
        figure = Bound.of(
            lower=0.0, upper=entropy.upper, **notes_of([settled(entropy), settled(line)])
        )
        decision = Decision(False, THEOREM_3_5, figure=figure)
    else:
        decision = _decision(joint, attribute, remaining)
    left = decision.settled(remaining)
    told = decision.witness or {}
    return AttributeRow(name, entropy, line, left, _WORDS[decision.holds], decision.by, told)


def _decision(joint: Any, attribute: Any, remaining: Bound) -> Decision:
    if remaining.status != "estimate" and remaining.lower > 0:
        return Decision(False, "something of it is left after every outcome")
    if joint.prior.over == "one prior":
        return decided(joint, attribute)
    return _over_members(joint, attribute)


def _over_members(joint: Any, attribute: Any) -> Decision:
    """Decide whether an attribute is disclosed to some member of a set of priors.

    What an outcome gives away under a prior that charges all secrets, it gives away under each that
    makes the outcome possible, and some member does. That nothing is given away speaks only of the
    members that charge all secrets, too: one of less support may be sure of more.
    """
    prior, differ = joint.prior, "members of the set of priors may differ in their supports"
    if prior.on.kind != "finite":
        return Decision(None, differ)
    charged, possible = prior.reach
    if list(charged) != list(possible):
        return Decision(None, differ)
    count = int(np.count_nonzero(possible))
    widest = pmf([Fraction(int(k), count) for k in possible], on=prior.on)
    found = decided(widest * joint.mechanism, attribute)
    if found.holds is not False:
        return found
    figures = _least_probabilities(prior, np.asarray(possible, bool))
    if figures is None:
        return Decision(None, differ)
    used = [*figures, *([found.figure] if found.figure else [])]
    figure = Bound.of(lower=0.0, upper=math.inf, **notes_of(used, "exact")) if used else None
    return found._replace(figure=figure)


def _least_probabilities(prior: Any, possible: np.ndarray) -> list[Bound] | None:
    """Return what proves that every member charges some secrets; None if one may not."""
    if isinstance(prior, Union):
        each = [_least_probabilities(part, possible) for part in prior.parts]
        return None if None in each else [b for found in each if found for b in found]
    if not prior.closed:  # the members of open sets charge every secret
        return []
    found = []
    for k in np.flatnonzero(possible):
        one = [Fraction(int(j == k)) for j in range(len(possible))]
        try:
            least = prior.lower(one)
        except NotYet:
            return None
        if least.status == "estimate" or least.ends.lower <= 0:
            return None
        found.append(settled(least))
    return found
