r"""Min-entropy of the secret and of its attributes, after a release.

With w_y(x) = p(x) f(y|x), a the sum of P(u|x) w_y(x) and b that of (1 - P(u|x)) w_y(x), the
posterior probability of u is a / (a + b), monotone in a and in b. Where that cannot be had, as for
the infimum over the outcomes of densities, two inequalities bound it, almost surely in y:

.. math::
    P_{U|Y=y}(u) \le P_U(u)\, e^{\ell(X \to y)}, \qquad
    1 - P_{U|Y=y}(u) \ge (1 - P_U(u))\, e^{-\Lambda(X \to y)}.

The first is (A.2) of the paper; the second is the same for pointwise maximal cost: the probability
of no event, here that U is not u, falls by more than e^Lambda.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from borel.adversaries.beliefs import FLOATS, Beliefs, ends, law
from borel.disclosures.attributes import about_entry, charged, mixtures, of_secret
from borel.disclosures.entropies import (
    by_upper_ends,
    entropy_bound,
    exp,
    kernel_of,
    min_entropy,
    notes_of,
    of_integers,
    prior_of,
)
from borel.engine.finite.law_engine import OUTSIDE
from borel.engine.problem.kernel_normalisation import statement
from borel.errors import InvalidInput, NotYet
from borel.figures.dispatch import require_joint
from borel.figures.information_densities import information_density
from borel.figures.leakage import pmc, pml
from borel.numerics.balls.arithmetic import ball, rational_ends
from borel.numerics.intervals.rounding import log_fraction
from borel.priors.sets import PriorSet
from borel.probability.alphabets import Finite, Mixed
from borel.probability.arrays import carried, shown
from borel.probability.bound import Bound
from borel.probability.density import probe
from borel.probability.joint import Joint
from borel.probability.measure import Measure, pmf
from borel.probability.mechanism import Mechanism
from borel.probability.normalisation import Normalisation

_ONE = Fraction(1)
_TURNS = 64
_POINTS = 401
_S = Fraction(1, 2**20)
"""The probability of the first of two secrets, of which PML is asked for a ratio of two laws."""
_FEW = 16
"""The infimum over outcomes with a density is computed for attributes of up to so many values."""


def remaining_entropy(joint: Joint, U: Any = None, y: Any = None) -> Bound:
    r"""Return the min-entropy of the secret, or of an attribute, that is left after the release.

    .. math:: H_\infty(P_{U|Y=y}), \qquad \inf_y H_\infty(P_{U|Y=y})

    Parameters
    ----------
    joint : Joint
        ``prior * mech``; over a set of priors the least is returned.
    U : optional
        The attribute, as for `min_entropy`; None for the secret itself.
    y : label, optional
        The outcome; the (essential) infimum over the outcomes if not given, which is 0 if and only
        if U is disclosed.

    Returns
    -------
    Bound
        In nats; exact on finite alphabets, with an exact ``ratio`` for Fractions; ``witness`` has
        the outcome ``y`` and the likeliest value ``u``. With densities it is enclosed at an
        outcome, and over all outcomes for a finite secret; else, and where that fails, its ends are
        those of the Notes, and it is undecided if they are 0 or infinite. An outcome of density 0
        tells nothing.

    Raises
    ------
    InvalidInput
        Something that is no joint, or no attribute; `OutsideAlphabet` for y.
    NotYet
        A posterior over priors; attributes that the alphabet does not allow.

    Notes
    -----
    Whatever the alphabets, at almost every y it is at least H(U) - PML(y), which is (A.2) of the
    paper, and -log(1 - (1 - max P_U) e^-PMC(y)); its infimum is at most H(U), as a mean of
    posteriors is the prior.

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Definition 3.3, equations (A.2) and (A.3).

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> mech = bl.Mechanism.from_matrix([[F(1), F(0)], [F(1, 2), F(1, 2)], [F(0), F(1)]])
    >>> joint = bl.pmf([F(1, 2), F(1, 4), F(1, 4)]) * mech
    >>> remaining_entropy(joint).ratio.lower, remaining_entropy(joint, {0}).lower
    (Fraction(5, 4), 0.0)
    """
    what = "bl.remaining_entropy"
    require_joint(joint, "remaining_entropy")
    joint, U = about_entry(joint, U)
    whole = isinstance(y, tuple) and (joint.mechanism.finite or joint.outcome.dim > 1)
    if np.ndim(y) and not whole:
        raise InvalidInput(
            what, expected="y=<one outcome>", got=shown(y), mend="ask for one y at a time."
        )
    if joint.prior.over == "draws":
        raise NotYet(
            what, missing="a posterior over priors", instead="one prior, or a set of priors."
        )
    finite = joint.secret.kind == "finite" and joint.mechanism.finite
    if joint.prior.over != "one prior":
        plain = finite and joint.prior.engine(joint) is None
        return _over_a_set(joint, U, y, what) if plain else by_leakage(joint, U, y)
    if joint.finite:
        return _on_labels(joint, U, y, what)
    if y is not None:
        joint.outcome.check(y)
        if OUTSIDE in pml(joint)(y).assumptions:
            before = min_entropy(joint, U)
            return before.about(assumptions=(*before.assumptions, OUTSIDE))
        if joint.secret.kind == "finite":
            return _at_a_density(joint, U, y, what)
        if joint.secret.dim == joint.outcome.dim == 1 and U is not None:
            return _at_an_outcome(joint, U, y, what)
        if joint.secret.kind == "countable" and U is None:
            return of_integers(joint.prior, information_density(joint), y=y)
        return by_leakage(joint, U, y)
    return (_over_densities if joint.secret.kind == "finite" else by_leakage)(joint, U)


def _on_labels(joint: Joint, U: Any, y: Any, what: str) -> Bound:
    beliefs = Beliefs(joint, what)
    found = of_secret(U, joint.secret, beliefs.secrets.labels, what)
    columns = beliefs.live
    if y is not None:
        column = beliefs.column(y)
        if column not in columns:
            before = min_entropy(joint.prior, U)
            return before.about(assumptions=(*before.assumptions, OUTSIDE))
        columns = np.array([column])
    weights = beliefs.at(columns)
    best, high, where = Fraction(-1), Fraction(0), None
    for j, column in enumerate(columns.tolist()):
        ends_of = weights.lower, weights.upper
        low, up, value = _likeliest(
            [found.masses(w[j], k) for k, w in enumerate(ends_of)], found.values
        )
        high = max(high, up)
        if low > best:
            best, where = low, {"y": joint.outcome.labels[column], "u": value}
    about = notes_of([], "exact", unproved=carried(joint.prior, joint.mechanism, found))
    if not (joint.rational and found.rational):
        about["assumptions"] = (FLOATS,)
    return entropy_bound(best, high, witness=where, attained=True, **about)


def _likeliest(masses: list[list], values: tuple) -> tuple[Fraction, Fraction, Any]:
    """Enclose the largest share of some enclosed masses, and say which has it."""
    low_masses, high_masses = masses
    whole = sum(low_masses, Fraction(0)), sum(high_masses, Fraction(0))
    best, high, which = Fraction(-1), Fraction(0), None
    for low, up, value in zip(low_masses, high_masses, values, strict=True):
        # a / (a + b) grows with a and falls with b; what is not u is the sum of the others
        least = low / (low + whole[1] - up) if low > 0 else Fraction(0)
        high = max(high, up / (up + whole[0] - low) if up > 0 else Fraction(0))
        if least > best:
            best, which = least, value
    return best, high, which


# -- over a set of priors -------------------------------------------------------------------------


def _over_a_set(joint: Joint, U: Any, y: Any, what: str) -> Bound:
    r"""Maximise the posterior probability of a value, E[P(u|X) f(y|X)] / E f(y|X), over a set.

    It is at most t for every member if and only if the upper expectation of f (P(u|.) - t) is at
    most 0; a larger t is found at the prior that attains it (Dinkelbach 1967).
    """
    prior, mechanism = joint.prior, joint.mechanism
    labels = list(prior.on.labels)
    found = of_secret(U, prior.on, labels, what)
    rows = mechanism.matrix[np.asarray(mechanism.secret.positions(labels, "x"))]
    kernel, shares = ends(rows, mechanism.rounding), found.ends
    some = np.asarray(rows[prior.reach[1]] != 0, bool).any(axis=0)
    columns = np.flatnonzero(some).tolist()
    if y is not None:
        mechanism.outcome.check(y)
        column = int(mechanism.outcome.positions(y))
        if column not in columns:
            before = min_entropy(prior, U)
            return before.about(assumptions=(*before.assumptions, OUTSIDE))
        columns = [column]
    best: tuple = (Fraction(-1), None)
    high, asked = Fraction(0), []
    for column in columns:
        k_low, k_high = (k[:, column] for k in kernel)
        for place, value in enumerate(found.values):
            a_low, a_high = (s[:, place] for s in shares)
            inside = a_low * k_low, a_high * k_high
            others = (1 - a_high) * k_low, (1 - a_low) * k_high
            low, up, worst, figures = _largest_share(prior, inside, others)
            asked += figures
            high = max(high, up)
            if low > best[0]:
                witness = {"y": mechanism.outcome.labels[column], "u": value, "prior": worst}
                best = low, witness
    about = notes_of(asked, unproved=carried(mechanism, found))
    return entropy_bound(max(best[0], Fraction(0)), high, witness=best[1], **about)


def _largest_share(prior: PriorSet, inside: tuple, others: tuple) -> tuple:
    """Enclose the supremum over a set of E a / (E a + E b).

    Returned are its ends, the worst prior and the expectations that were asked. ``inside`` and
    ``others`` are the ends of a and of b, functions of the secret.
    """
    asked: list[Bound] = []

    def above(t: Fraction, end: int) -> Bound:
        """Enclose the upper expectation of (1 - t) a - t b, from its lower or its upper ends."""
        found = prior.upper(list((1 - t) * inside[end] - t * others[1 - end]))
        asked.append(found)
        return found

    t, worst, exact = Fraction(0), None, False
    for _ in range(_TURNS):
        attained = above(t, 0)
        candidate = (attained.witness or {}).get("prior")
        if candidate is None:
            break
        p = np.array([Fraction(v) for v in candidate.at(prior.on).tolist()], dtype=object)
        a, b = sum(p * inside[0], Fraction(0)), sum(p * others[0], Fraction(0))
        share = a / (a + b) if a + b > 0 else Fraction(0)
        if share > t:
            t, worst, exact = share, candidate, candidate.rational
        else:
            break
        if not exact and share.denominator > 2**60:
            t = Fraction(float(share))
    certain = bool((inside[0] == inside[1]).all() and (others[0] == others[1]).all())
    high, step = t, Fraction(1, 2**52)
    while above(high, 1).ends.upper > 0:
        high, step = high + step, 4 * step
        if high >= 1:
            high = Fraction(1)
            break
    if exact and certain and high == t and asked[-1].status in ("exact", "statistical"):
        return t, t, worst, asked
    low, step = t, Fraction(1, 2**52)
    while low > 0 and not above(low, 0).ends.lower > 0:
        low, step = max(t - step, Fraction(0)), 4 * step
    return low, high, worst, asked


# -- densities ------------------------------------------------------------------------------------


def _at_a_density(joint: Joint, U: Any, y: Any, what: str) -> Bound:
    """Enclose the posterior of a finite secret: P(x|y) is P(x) e^i(x;y)."""
    p, labels = charged(joint.prior)
    found = of_secret(U, joint.secret, labels, what)
    density: Any = information_density(joint)
    each: list[Bound] = [density(label, y) for label in labels]
    if any(b.upper == math.inf for b in each):
        return by_leakage(joint, U, y)
    prior, gains = law(p, joint.prior.rounding), ([b.lower for b in each], [b.upper for b in each])
    masses = [
        found.masses(
            np.array(
                [w * exp(v)[k] for w, v in zip(prior[k], gains[k], strict=True)], dtype=object
            ),
            k,
        )
        for k in (0, 1)
    ]
    low, high, value = _likeliest(masses, found.values)
    about = notes_of(each, "certified", unproved=found.unproved)
    return entropy_bound(low, high, witness={"y": y, "u": value}, **about)


def _at_an_outcome(joint: Joint, U: Any, y: Any, what: str) -> Bound:
    """Enclose the posterior of an attribute of a secret that is not finite at one outcome.

    With i the information density, and i' that of a release that gives Y only where U is u, and
    nothing else, P(u|y) is P(u|x) e^(i(x;y) - i'(x;y)) at any secret x; no P(u|x) is above 1.
    """
    kernel = kernel_of(U, joint.secret, what)
    points = probe(joint.secret, _POINTS)
    own: Any = information_density(joint)
    likely = np.asarray(joint.mechanism.pdf(y, points) * joint.prior.pdf(points), float)
    values, high, used = kernel.outcome.labels, [], []
    for value in values:
        chances = np.where(likely > 0, kernel.pdf(value, points), 0.0)
        # of the secrets of which U is u most surely, the likeliest
        place = int(np.lexsort((likely, chances))[-1])
        if chances[place] == 0:
            high.append(_ONE)
            continue
        x = points[place].item()
        part: Any = information_density(
            joint.prior * _only(joint.prior, joint.mechanism, y, kernel, value)
        )
        pair = own(x, y), part(x, y)
        used += pair
        ends_of = exp(pair[0].upper)[1], exp(-pair[1].lower)[1]
        high.append(min(ends_of[0] * ends_of[1], _ONE) if math.inf not in ends_of else _ONE)
    if not used:
        return by_leakage(joint, U, y)
    return by_upper_ends(high, [{"y": y, "u": value} for value in values], used)


def _only(
    prior: Measure, mechanism: Mechanism, y: Any, attribute: Mechanism, value: Any
) -> Mechanism:
    """Return a release with the same probabilities of y, but only where an attribute has a value.

    Elsewhere it is another outcome: an atom, if outcomes have a density.
    """
    line: Any = getattr(mechanism.outcome, "interval", mechanism.outcome)
    away = next(v for v in (0.5, 0.25) if v != y)

    def chance(x: Any) -> Any:
        return attribute.density.linear(value + 0.0 * x, x)

    if line.kind == "continuous" and y not in mechanism.masses:
        parts = mechanism.masses.values()
        out = Mechanism(
            lambda z, x: mechanism.density.linear(z, x) * chance(x),
            masses={away: lambda x: 1 - chance(x) * (1 - sum(part.linear(x) for part in parts))},
            secret=mechanism.secret,
            outcome=Mixed(line, atoms=(away,)),
            breaks=mechanism.breaks,
        )
        known = [statement(mechanism, prior), statement(attribute, prior)]
        if all(k.proved for k in known):
            out.normalisation = Normalisation.by(
                "what has a probability is given or not", max(k.miss for k in known)
            )
        return out

    def of_y(x: Any) -> Any:
        atom = mechanism.masses.get(y)
        own = atom.linear(x) if atom else mechanism.density.linear(float(y) + 0.0 * x, x)
        return own * chance(x)

    return Mechanism(
        lambda z, x: np.where(np.equal(z, float(y)), of_y(x), 1 - of_y(x)),
        secret=mechanism.secret,
        outcome=Finite([float(y), away]),
    )


def _over_densities(joint: Joint, U: Any) -> Bound:
    r"""Enclose the infimum over the outcomes of a finite secret with a density.

    For a value u let R = ess sup f(y|u) / f_Y(y), so that its probability rises up to R P(u). The
    PML of the mechanism with two secrets, of laws f(.|u) and f_Y and probabilities s and 1 - s, is
    log max(r, 1) / (s r + 1 - s) for r = f(y|u) / f_Y(y): it is log R / (s R + 1 - s) or at most
    log 1 / (1 - s). Both laws are mixed with weights that are floats, and R is off by no more than
    they and the totals of the densities are, as factors.
    """
    p, labels = charged(joint.prior)
    found = of_secret(U, joint.secret, labels, "bl.remaining_entropy")
    if len(found.values) > _FEW or carried(joint.prior, found):
        return by_leakage(joint, U)
    prior = law(p, joint.prior.rounding)
    before = [found.masses(prior[k], k) for k in (0, 1)]
    used, best, highest, which = [], Fraction(-1), Fraction(0), None
    for k, value in enumerate(found.values):
        if before[1][k] == 0:
            continue
        given = [found.ends[end][:, k] * prior[end] / before[1 - end][k] for end in (0, 1)]
        try:
            kernel, off = mixtures(joint, labels, [given, list(prior)])
        except NotYet:
            return by_leakage(joint, U)
        leak = pml(pmf([_S, 1 - _S], on=Finite(2)) * kernel).sup()
        used.append(leak)
        (bottom, _), (_, top) = exp(leak.lower), exp(leak.upper)
        rise = top * (1 - _S) / (1 - top * _S) if top * _S < 1 else math.inf
        certain = 1 / (1 - _S) < bottom < 1 / _S
        least = bottom * (1 - _S) / (1 - bottom * _S) if certain else _ONE
        highest = max(highest, min(before[1][k] * rise * off, _ONE))
        if before[0][k] * max(least / off, 1) > best:
            best, which = before[0][k] * max(least / off, 1), value
    if any(not b.proved for b in used):
        return by_leakage(joint, U)
    # the engine may find no more than that R P(u) <= 1
    low, _, others = _ends_by_leakage(joint, U, None)
    if all(b.proved for b in others):
        used += others
    else:
        low = 0.0
    enclosed = entropy_bound(best, highest, witness={"u": which}, **notes_of(used, "certified"))
    return enclosed.within(min(max(enclosed.lower, low), enclosed.upper), enclosed.upper)


def by_leakage(joint: Joint, U: Any, y: Any = None) -> Bound:
    """Bound what is left of an attribute by PML and PMC; see `remaining_entropy`."""
    low, high, used = _ends_by_leakage(joint, U, y)
    if not used:
        return Bound.undecided(reason="min-entropy, PML and PMC are estimates here")
    about = notes_of(used)
    if about["status"] != "statistical" and (low == 0 or low < high == math.inf):
        about["status"] = "undecided"
    if about["status"] == "undecided":
        about["reason"] = "only H(U) - PML, PMC and H(U) bound what is left on these alphabets"
    return Bound.of(lower=min(low, high), upper=high, **about)


def _ends_by_leakage(joint: Joint, U: Any, y: Any) -> tuple[float, float, list[Bound]]:
    """Return ends of what is left of an attribute, and what they rest on: nothing if [0, inf]."""
    before = min_entropy(prior_of(joint), U)
    line, cost = (m(joint).sup() if y is None else m(joint)(y) for m in (pml, pmc))
    proved = [b for b in (line, cost) if b.status != "estimate"]
    if before.status == "estimate" or not proved:
        return 0.0, math.inf, []
    low, high = 0.0, before.upper
    if before.lower == math.inf:  # posteriors have densities with respect to the prior
        return math.inf, math.inf, [before]
    if line.status != "estimate" and line.upper < math.inf:
        low = max(low, math.nextafter(before.lower - line.upper, -math.inf))
    if cost.status != "estimate" and cost.upper < math.inf:
        low = max(low, left_by_cost(before.lower, cost.upper))
    if y is not None:
        settled = cost.status != "estimate"
        high = math.nextafter(high + cost.upper, math.inf) if settled else math.inf
    return low, high, [before, *proved]


def left_by_cost(entropy: float, cost: float) -> float:
    """Return a float below -log(1 - (1 - e^-H) e^-cost).

    Examples
    --------
    >>> round(left_by_cost(math.log(2), 0.0), 12)
    0.693147180560
    """
    largest = rational_ends(lambda: (-ball(entropy)).exp())[1]
    kept = rational_ends(lambda: (-ball(cost)).exp())[0]
    most = 1 - (1 - min(largest, _ONE)) * kept
    return log_fraction(1 / most)[0] if most > 0 else 0.0
