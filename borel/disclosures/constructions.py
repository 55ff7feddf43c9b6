"""The least costly disclosure (Proposition 3.8), and disclosures that follow (Proposition 3.6)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from borel.adversaries.beliefs import law, require_finite_prior
from borel.disclosures.attributes import about_entry, charged, of_secret
from borel.disclosures.entropies import entropy_bound, notes_of
from borel.disclosures.verdicts import decided
from borel.errors import InvalidInput, NotYet, Undecided
from borel.figures.dispatch import require_joint
from borel.probability.alphabets import Finite
from borel.probability.arrays import as_floats, carried
from borel.probability.bound import Bound
from borel.probability.joint import Joint
from borel.probability.mechanism import Mechanism

_ONE, _ZERO = Fraction(1), Fraction(0)


class CheapestDisclosure(NamedTuple):
    """An attribute that is disclosed at the least PML, and a mechanism that does it.

    Attributes
    ----------
    level : Bound
        log 1 / (1 - p_min), in nats.
    attribute : Mechanism
        Whether the secret is another one than the least likely: P_{U|X}.
    mechanism : Mechanism
        It discloses the attribute, and its PML is the level.
    """

    level: Bound
    attribute: Mechanism
    mechanism: Mechanism


def cheapest_disclosure(prior: Any) -> CheapestDisclosure:
    r"""Return the least PML at which anything is disclosed, with the attribute and a mechanism.

    Below :math:`\log \frac{1}{1 - p_{\min}}` a mechanism has finite leakage capacity, and discloses
    nothing; at it this one tells, at outcome 0, that X is not the least likely secret:

    .. math:: P(0|x_{\min}) = 0, \qquad P(0|x) = \frac{p_{\min}}{1 - p_{\min}} \text{ else.}

    Parameters
    ----------
    prior : Measure
        The law of the secret, finite, with two secrets or more of positive probability.

    Returns
    -------
    CheapestDisclosure
        ``level``, ``attribute`` and ``mechanism``. The level is exact, with an exact ``ratio`` for
        Fractions; PML is the level at both outcomes, as the probability of outcome 0 is the largest
        that the level allows (the paper has a small one).

    Raises
    ------
    InvalidInput
        No finite prior, or one of a single secret, of which every attribute is constant.

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Proposition 3.8.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> prior = bl.pmf([F(1, 2), F(1, 3), F(1, 6)])
    >>> level, U, mech = cheapest_disclosure(prior)
    >>> level.ratio.lower, bl.pml(prior * mech).sup().ratio.upper, bl.discloses(mech, U).holds
    (Fraction(6, 5), Fraction(6, 5), True)
    """
    what = "bl.cheapest_disclosure"
    require_finite_prior(prior, what)
    p, labels = charged(prior)
    if len(labels) == 1:
        raise InvalidInput(
            what,
            expected="two secrets or more of positive probability",
            got=f"{labels[0]!r} alone: every attribute of it is constant",
        )
    low, high = law(p, prior.rounding)
    least = min(range(len(labels)), key=lambda i: p[i])
    floor, ceiling = min(low), min(min(high), 1 - max(low))
    about = notes_of([], "exact", unproved=carried(prior))
    level = entropy_bound(1 - ceiling, 1 - floor, witness={"x": labels[least]}, **about)
    # not above p_min / (1 - p_min), so that outcome 1 leaks no more than outcome 0
    share = floor / (1 - floor)
    secret = Finite(labels) if prior.on.dim == 1 else prior.on
    inside = list(secret.labels)
    rows = [[_ZERO, _ONE] if x == labels[least] else [share, 1 - share] for x in inside]
    told = [[_ONE, _ZERO] if x == labels[least] else [_ZERO, _ONE] for x in inside]
    return CheapestDisclosure(
        level,
        Mechanism.from_matrix(told, secret=secret, outcome=Finite(2)),
        Mechanism.from_matrix(rows, secret=secret, outcome=Finite(2)),
    )


def smaller_disclosure(joint: Joint, U: Any) -> Mechanism:
    r"""Return an attribute W of less min-entropy than U that is disclosed as U is.

    With u the value of U that an outcome gives away, W is U, but for being u instead with
    probability lambda:

    .. math:: P(W = u|U = u) = 1, \quad P(W = u|U = i) = \lambda, \quad P(W = i|U = i) = 1 - \lambda

    Parameters
    ----------
    joint : Joint
        ``prior * mech``, with a finite secret.
    U : callable, Mechanism, collection of labels, int or str
        An attribute that is disclosed, as for `bl.attribute`.

    Returns
    -------
    Mechanism
        The kernel P_{W|X} on the secrets of positive probability.

    Raises
    ------
    InvalidInput
        U is not disclosed, or it is constant, almost surely: there the proposition fails, as no
        min-entropy is below 0.
    Undecided
        Whether it is disclosed is not settled.
    NotYet
        A secret that is not finite; a set of priors.

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Proposition 3.6 and its proof.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[F(1), F(0)], [F(1, 2), F(1, 2)]])
    >>> joint = bl.pmf([F(1, 2), F(1, 2)]) * mech
    >>> W = smaller_disclosure(joint, {1})
    >>> bl.min_entropy(joint.prior, W).upper < bl.min_entropy(joint.prior, {1}).lower
    True
    >>> bl.discloses(mech, W).holds
    True
    """
    what = "bl.smaller_disclosure"
    require_joint(joint, "smaller_disclosure")
    joint, U = about_entry(joint, U)
    if joint.prior.over != "one prior" or joint.secret.kind != "finite":
        raise NotYet(
            what, missing=f"attributes under {joint.prior!r}", instead="one prior, finite."
        )
    p, labels = charged(joint.prior)
    found = of_secret(U, joint.secret, labels, what)
    if found.constant:
        raise InvalidInput(
            what,
            expected="an attribute that is not constant",
            got=f"one that is {found.values[found.told(np.ones(len(labels), bool))]!r} for every "
            "secret: no min-entropy is below its own, 0",
        )
    decision = decided(joint, U)
    if decision.holds is None:
        raise Undecided(f"{what}: whether U is disclosed is undecided: {decision.by}")
    if not decision.holds:
        raise InvalidInput(
            what,
            expected="an attribute that the mechanism discloses",
            got=f"one that it does not: {decision.by}",
            mend="bl.discloses(mech, U) says so of any attribute.",
        )
    value = found.values.index((decision.witness or {})["u"])
    low, high = law(p, joint.prior.rounding)
    before = found.masses(low, 0), found.masses(high, 1)
    most, own = max(before[1]), before[0][value]
    # any lambda above (max - own) / (1 - own): half the way from there to 1
    share = (1 + max((most - own) / (1 - own), _ZERO)) / 2
    a = found.matrix
    if not found.rational:
        a, share = as_floats(a, what), float(share)  # type: ignore[assignment]
    kernel = (1 - share) * a
    rest = a.sum(axis=1) - a[:, value]
    kernel[:, value] = a[:, value] + share * rest
    alone = np.asarray(rest == 0, bool)
    kernel[alone] = a[alone]
    secret = Finite(labels) if joint.secret.dim == 1 else joint.secret
    if joint.secret.dim > 1 and len(labels) < joint.secret.size:
        raise NotYet(what, missing="a secret of several entries with rows of probability 0")
    return Mechanism._from_matrix(
        kernel, secret, Finite(list(found.values)), "W", 0.0 if found.rational else 2.0**-50
    )
