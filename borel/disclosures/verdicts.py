r"""Whether a mechanism discloses an attribute, which does not depend on the prior (Theorem 3.4).

*Finite outcomes.* The posterior given y charges {x : f(y|x) > 0}, whatever the prior of full
support: U is disclosed if and only if it is one value, surely, on such a set.
*Densities, a finite secret.* U is disclosed if and only if for some value u the ratio f_Y(y) /
f(y|U is not u) is unbounded, for any one prior of full support: P(U is not u|y) is P(U is not u)
times its inverse. As f_Y is at least P(U is not u) f(y|U is not u) the inverse is bounded, so that
the ratio is unbounded if and only if the two laws have infinite LDP. The laws given that U is not u
are those of all mixtures over the secrets that do not determine u: the weights do not matter.
*Other secrets.* Finite LDP bounds the odds of every event from above, so that nothing that is not
almost surely constant is disclosed (Theorem 3.7). Else it is not known here.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from borel.disclosures.attributes import Attribute, mixtures, of_secret
from borel.disclosures.entropies import min_entropy, notes_of, settled
from borel.disclosures.remaining_entropies import by_leakage, remaining_entropy
from borel.errors import InvalidInput, NotYet
from borel.figures.levels import full_support_prior, ldp
from borel.probability.alphabets import Finite
from borel.probability.arrays import carried, shown
from borel.probability.bound import UNPROVED, Bound, Verdict
from borel.probability.joint import Joint
from borel.probability.measure import pmf
from borel.probability.mechanism import Mechanism

SUPPORT = "the secrets that the outcome leaves possible"
CAPACITY = "Theorem 3.7: the leakage capacity is finite"
UNBOUNDED = "outcomes whose odds for the value grow without bound"
BOUNDED = "the odds for every value are bounded"
CONSTANT = "it is constant"
NO_POINT = "no value has positive probability, before the release or after it"


class Decision(NamedTuple):
    """Whether an attribute is disclosed, and by what.

    Attributes
    ----------
    holds : bool or None
        None if it is not settled.
    by : str
        What says so, or why it is not settled.
    witness : dict, optional
        The outcome and the value that it gives away.
    figure : Bound, optional
        What the answer was read from, if that is not the mechanism itself.
    """

    holds: bool | None
    by: str
    witness: dict[str, Any] | None = None
    figure: Bound | None = None

    def settled(self, left: Bound) -> Bound:
        """Return what is left of the attribute, of which a figure is known, after this decision."""
        of = [] if self.figure is None else [self.figure]
        if self.holds:
            return Bound.of(lower=0.0, upper=0.0, witness=self.witness, **notes_of(of, "exact"))
        if self.holds is False and left.status not in ("estimate", "undecided"):
            return left
        # the ends of an undecided figure are true, and state no confidence
        low, high = 0.0, math.inf
        if left.status not in UNPROVED:
            low, high, of = left.lower, left.upper, [*of, settled(left)]
        if self.holds is None:
            notes = tuple(dict.fromkeys(a for b in of for a in b.assumptions))
            return Bound.undecided(low, high, reason=self.by, assumptions=notes)
        return Bound.of(lower=low, upper=high, **notes_of(of, "exact"))


def discloses(mech: Mechanism, U: Any = None) -> Verdict:
    r"""Return whether a mechanism discloses the value of an attribute, whatever the prior.

    It does so if some outcome, or a sequence of them, leaves no uncertainty:

    .. math:: \inf_y H_\infty(Q_{U|Y=y}) = 0

    which for one prior Q of full support is so if and only if it is for all (Theorem 3.4).

    Parameters
    ----------
    mech : Mechanism
        The kernel.
    U : optional
        The attribute, as for `bl.attribute`; None for the secret itself, which is *singled out* if
        it is disclosed (Definition 3.9).

    Returns
    -------
    Verdict
        ``holds`` is True, False, or None where it is not settled, with the reason. ``witness`` has
        ``by``, and if it is disclosed on finite alphabets an outcome ``y`` and the value ``u`` that
        it gives away. ``bound`` is what is left of U under one prior of full support, the uniform
        one if there is one. A constant is disclosed, by the definition.

    Raises
    ------
    InvalidInput
        Something that is no mechanism, or no attribute.

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Definitions 3.3 and 3.9, Theorems 3.4 and 3.7. That a constant is disclosed
    contradicts the first sentence of Theorem 3.7: read it for attributes that are not constant.

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[1, 0], [0.5, 0.5], [0.25, 0.75]])
    >>> discloses(mech, {0}).witness["y"], discloses(mech).holds
    (1, False)
    """
    if not isinstance(mech, Mechanism):
        raise InvalidInput(
            "bl.discloses",
            expected="a mechanism",
            got=shown(mech),
            mend="for the priors of one support: bl.disclosure(prior * mech, {name: U}).",
        )
    try:
        joint = full_support_prior(mech.secret) * mech
    except NotYet as error:
        instead = "under a prior that charges every secret: bl.disclosure(prior * mech, {name: U})."
        raise NotYet("bl.discloses", missing=error.missing, instead=instead) from None
    found = decided(joint, U)
    try:
        left = (remaining_entropy if joint.finite else by_leakage)(joint, U)
    except NotYet as error:
        left = Bound.undecided(reason=str(error))
    bound = found.settled(left)
    reason = found.by if found.holds is None else ""
    return Verdict(found.holds, bound, {**(found.witness or {}), "by": found.by}, reason)


def decided(joint: Joint, U: Any) -> Decision:
    """Decide whether an attribute is disclosed under the priors with the support of this one."""
    what, mechanism = "bl.discloses", joint.mechanism
    if joint.secret.kind != "finite":
        return _on_a_line(joint, U)
    prior = joint.prior
    labels = [a for a, p in zip(prior.on.labels, prior.probabilities, strict=True) if p != 0]
    found = of_secret(U, joint.secret, labels, what)
    if why := carried(mechanism, found):
        return Decision(None, f"known in float64 only: {why}")
    if found.constant:
        return Decision(True, CONSTANT)
    if mechanism.finite:
        return _by_support(mechanism, labels, found)
    return _by_odds(joint, labels, found)


def _by_support(mechanism: Mechanism, labels: list, found: Attribute) -> Decision:
    rows = mechanism.matrix[np.asarray(mechanism.secret.positions(labels, "x"))]
    possible = np.asarray(rows != 0, bool)
    for column, label in enumerate(mechanism.outcome.labels):
        if possible[:, column].any():
            value = found.told(possible[:, column])
            if value is not None:
                return Decision(True, SUPPORT, {"y": label, "u": found.values[value]})
    return Decision(False, CAPACITY if possible.all(axis=0).all() else SUPPORT)


def _by_odds(joint: Joint, labels: list, found: Attribute) -> Decision:
    capacity = ldp(joint)
    if capacity.proved and capacity.upper < math.inf:
        return Decision(False, CAPACITY, figure=capacity)
    open_values = []
    for place, value in enumerate(found.values):
        sure = np.array([found.told(row) == place for row in np.eye(len(labels), dtype=bool)])
        if not sure.any() or sure.all():
            continue
        try:
            odds = ldp(_two_laws(joint, labels, ~sure))
        except NotYet as error:
            return Decision(None, str(error))
        if odds.proved and odds.lower == math.inf:
            return Decision(True, UNBOUNDED, {"u": value}, odds)
        if not (odds.proved and odds.upper < math.inf):
            open_values.append(value)
    if open_values:
        return Decision(None, f"whether the odds for {open_values!r} are bounded is not settled")
    return Decision(False, BOUNDED)


def _two_laws(joint: Joint, labels: list, others: np.ndarray) -> Joint:
    """Return a fair bit times the laws of Y given that U is not u, and of Y."""
    half, one = Fraction(1, 2), Fraction(1)
    laws = [
        np.array([one / int(kept.sum()) if k else 0 * one for k in kept], dtype=object)
        for kept in (others, np.ones(len(labels), bool))
    ]
    return pmf([half, half], on=Finite(2)) * mixtures(joint, labels, [(w, w) for w in laws])[0]


def _on_a_line(joint: Joint, U: Any) -> Decision:
    try:
        entropy = min_entropy(joint.prior, U)
    except NotYet as error:
        return Decision(None, str(error))
    if entropy.proved and entropy.lower == math.inf:
        return Decision(False, NO_POINT, figure=entropy)
    capacity = ldp(joint)
    if not (capacity.proved and capacity.upper < math.inf):
        return Decision(
            None, f"for secrets on {joint.secret!r} only finite leakage capacity settles it"
        )
    if entropy.proved and entropy.lower > 0:
        return Decision(False, CAPACITY, figure=capacity)
    return Decision(None, f"whether the attribute is constant is not settled: {entropy}")
