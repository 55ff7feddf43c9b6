"""Min-entropy of the secret and of its attributes, before a release."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from borel.adversaries.beliefs import FLOATS, law
from borel.disclosures.attributes import about_entry, charged, of_secret
from borel.engine.finite.law_engine import OUTSIDE
from borel.errors import InvalidInput, NotYet
from borel.figures.leakage import pml
from borel.mechanisms.deterministic import function
from borel.numerics.balls.arithmetic import ball, rational_ends
from borel.numerics.intervals.rounding import log_fraction
from borel.priors.sets import PriorSet
from borel.probability.alphabets import Alphabet, Finite, no_match
from borel.probability.arrays import carried, shown
from borel.probability.bound import Bound, Ratio, weakest
from borel.probability.joint import Joint
from borel.probability.measure import Measure
from borel.probability.mechanism import Mechanism
from borel.probability.normalisation import head_of

_ONE = Fraction(1)


def min_entropy(prior: Any, U: Any = None) -> Bound:
    r"""Return the min-entropy of the secret, or of an attribute of it.

    .. math:: H_\infty(P_U) = -\log \max_u P_U(u)

    Parameters
    ----------
    prior : Measure, PriorSet or Joint
        The law of the secret; of a joint, its prior. Over a set of priors the least is returned:
        with ``bl.priors.from_counts`` or ``bl.table`` it holds with their confidence.
    U : optional
        The attribute, as for `bl.attribute`; None for the secret itself. On an alphabet that is not
        finite, a function of the secret to False and True, written with NumPy, or a Mechanism to a
        few values: ``bl.mechanisms.function(g, secret=..., outcome=[values])``.

    Returns
    -------
    Bound
        In nats; exact where the probabilities are, with an exact ``ratio`` (1 / max P) for
        Fractions. ``witness["u"]`` is a likeliest value. Infinite for the secret itself if no point
        has positive probability.

    Raises
    ------
    InvalidInput
        Something that is no law, or no attribute.
    NotYet
        A posterior over priors; a set of priors on an alphabet that is not finite.

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Definition 2.1.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> min_entropy(bl.pmf([F(1, 2), F(1, 4), F(1, 4)]), {1, 2}).ratio.lower
    Fraction(2, 1)
    >>> bit = bl.priors.bernoulli(F(3, 10), F(7, 10))
    >>> min_entropy(bit)
    Bound(0.3566749439, exact)
    """
    what = "bl.min_entropy"
    if isinstance(prior, Joint):
        joint, U = about_entry(prior, U)
        prior = prior_of(joint)
    if isinstance(prior, PriorSet):
        return _least_entropy(prior, U, what)
    if getattr(prior, "over", "") == "draws":
        raise NotYet(
            what, missing="a posterior over priors", instead="one prior, or a set of priors."
        )
    if not isinstance(prior, Measure):
        raise InvalidInput(
            what,
            expected="a Measure, a set of priors, or a joint",
            got=shown(prior),
            mend="of counts: bl.min_entropy(bl.priors.from_counts(counts, confidence=0.95)).",
        )
    if prior.batch:
        raise NotYet(what, missing="a batch of priors", instead="one at a time.")
    if prior._probabilities is None:
        return _on_a_line(prior, U, what)
    p, labels = charged(prior)
    low, high = law(p, prior.rounding)
    found = of_secret(U, prior.on, labels, what)
    low, high = found.masses(low, 0), found.masses(high, 1)
    best = max(range(len(low)), key=low.__getitem__)
    about = notes_of([], "exact", unproved=carried(prior, found))
    if not (prior.rational and found.rational):
        about["assumptions"] = (FLOATS,)
    return entropy_bound(low[best], max(high), witness={"u": found.values[best]}, **about)


def entropy_bound(low: Any, high: Any, **about: Any) -> Bound:
    """Return -log of an enclosed probability, as a Bound in nats."""
    low, high = min(Fraction(low), _ONE), min(Fraction(high), _ONE)
    least = log_fraction(1 / high)[0]
    most = math.inf if low <= 0 else log_fraction(1 / low)[1]
    if low == high:
        about["exact_ratio"] = Ratio(1 / high, 1 / low)
    return Bound.of(lower=max(least, 0.0), upper=max(most, 0.0), **about)


def _least_entropy(prior: PriorSet, U: Any, what: str) -> Bound:
    """Return -log of the largest upper probability of a value."""
    if prior.on.kind != "finite":
        raise NotYet(
            what,
            missing=f"upper probabilities over {prior!r}",
            instead="one prior at a time, or a set of priors on a finite alphabet.",
        )
    found = of_secret(U, prior.on, prior.on.labels, what)
    low, high = (
        [prior.upper(list(column)) for column in table.T]
        for table in (found.ends if not found.rational else found.ends[:1] * 2)
    )
    best = max(range(len(low)), key=lambda k: low[k].ends.lower)
    about = notes_of([*low, *high], unproved=found.unproved)
    about["witness"] = {"u": found.values[best], "prior": (low[best].witness or {}).get("prior")}
    return entropy_bound(low[best].ends.lower, max(b.ends.upper for b in high), **about)


def notes_of(figures: list[Bound], *statuses: str, unproved: str = "") -> dict[str, Any]:
    """Return the status and the notes of a Bound that is made of figures, and of more statuses.

    The ends of an undecided figure are true: beside one from a sample they take its confidence, and
    over one set of priors no risks add up.
    """
    found = {*statuses, *(b.status for b in figures)}
    if unproved:
        found = {"estimate"}
    elif "statistical" in found and "estimate" not in found:
        found.discard("undecided")
    reasons = [unproved] if unproved else [b.reason for b in figures if b.reason]
    about: dict[str, Any] = {
        "status": weakest(found),
        "assumptions": tuple(dict.fromkeys(a for b in figures for a in b.assumptions)),
        "reason": " ".join(dict.fromkeys(reasons)),
    }
    if about["status"] == "statistical":
        about["confidence"] = min(b.confidence for b in figures if b.confidence is not None)
        about["truth_ends"] = ("lower",)  # the least over a set that holds the true prior
    return about


def settled(figure: Bound) -> Bound:
    """Return a figure of which only the ends are read.

    Those of an undecided one are true, as far as its assumptions are.
    """
    if figure.status != "undecided":
        return figure
    status = "conditional" if figure.assumptions else "exact"
    return Bound.of(status, figure.lower, figure.upper, assumptions=figure.assumptions)


# -- alphabets that are not finite ----------------------------------------------------------------


def _on_a_line(prior: Measure, U: Any, what: str) -> Bound:
    if U is None:
        return _of_points(prior, what)
    kernel = kernel_of(U, prior.on, what)
    leak, values = pml(prior * kernel), kernel.outcome.labels
    found = [leak(value) for value in values]
    # PML at u is log sup P(u|x) / P(u), and no P(u|x) is above 1
    high = [Fraction(0) if OUTSIDE in b.assumptions else exp(-b.lower)[1] for b in found]
    return by_upper_ends(high, [{"u": value} for value in values], found)


def by_upper_ends(high: list, witnesses: list[dict], used: list[Bound]) -> Bound:
    """Return -log of the largest probability of a law, each of them bounded from above."""
    low = [1 - sum(high[:k] + high[k + 1 :]) for k in range(len(high))]
    best = max(range(len(low)), key=lambda k: (low[k], high[k]))
    about = notes_of(used, "certified")
    about["assumptions"] = tuple(a for a in about["assumptions"] if a != OUTSIDE)
    least = max(low[best], Fraction(1, len(high)))
    return entropy_bound(least, max(high), witness=witnesses[best], **about)


def _of_points(prior: Measure, what: str) -> Bound:
    """Return the min-entropy of a law with a density, of atoms, or of integers."""
    kinds = {factor.kind for factor in prior.on.factors}
    if "continuous" in kinds or (not any(prior.masses.values()) and prior.on.kind == "mixed"):
        notes = ("the law has a density: no point has positive probability",)
        return Bound.exact(math.inf, math.inf, assumptions=notes)
    if prior.on.dim > 1:
        raise NotYet(what, missing=f"the largest probability on {prior.on!r}")
    if prior.on.kind == "mixed":
        atom = max(prior.masses, key=lambda a: prior.masses[a])
        mass = Fraction(prior.masses[atom])
        return entropy_bound(mass, mass, status="exact", witness={"u": atom})
    return of_integers(prior)


def of_integers(prior: Measure, gains: Any = None, **witness: Any) -> Bound:
    """Find the largest probability of an integer: beyond a head none is more than what is left.

    With ``gains``, the information density at one outcome, it is that of the posterior.
    """
    same = Mechanism(
        lambda y, x: np.where(np.equal(y, x), 1.0, 0.0), secret=prior.on, outcome=prior.on
    )
    leak = pml(prior * same)
    for count in (64, 512, 4096):
        points = head_of(prior.on, count)
        points = points[np.asarray(prior.pdf(points)) > 0]
        found = [leak(points)]
        # e^-PML at y is P(y)
        low = [exp(-t)[0] for t in found[0]["upper"].values]
        high = [exp(-t)[1] for t in found[0]["lower"].values]
        if gains is not None:
            found.append(gains(points, witness["y"]))
            low = [p * exp(t)[0] for p, t in zip(low, found[1]["lower"].values.flat, strict=True)]
            high = [p * exp(t)[1] for p, t in zip(high, found[1]["upper"].values.flat, strict=True)]
        best = max(range(len(low)), key=low.__getitem__)
        if 1 - sum(low, Fraction(0)) <= low[best]:
            x = points[best].item()
            used = [leak(x), *([] if gains is None else [gains(x, witness["y"])])]
            about = notes_of(used, *(str(s) for f in found for s in np.unique(f["status"])))
            return entropy_bound(low[best], max(high), witness=witness | {"u": x}, **about)
    raise NotYet("bl.min_entropy", missing=f"a head of {prior!r} with most of its mass")


def kernel_of(U: Any, on: Alphabet, what: str) -> Mechanism:
    """Return an attribute of a secret that is not finite as a kernel to finitely many values."""
    if isinstance(U, Mechanism):
        if U.secret != on:
            raise no_match(what, U.secret, on)
        if U.outcome.kind == "finite":
            return U
    elif callable(U):
        return function(U, secret=on, outcome=Finite(2))
    raise NotYet(
        what,
        missing=f"the attribute {shown(U)} of a secret on {on!r}",
        instead="an event as a function of x to False and True, written with NumPy, or a function "
        "to a few values: bl.mechanisms.function(g, secret=..., outcome=[values]).",
    )


def exp(value: float) -> tuple[Any, Any]:
    """Enclose e^value; the ends are Fractions, or inf."""
    if math.isinf(value):
        end: Any = Fraction(0) if value < 0 else math.inf
        return end, end
    return rational_ends(lambda: ball(value).exp())


def prior_of(joint: Joint) -> Any:
    """Return the prior of a joint; of an entry of a database of bits, the laws of one entry."""
    if hasattr(joint.prior, "database") and getattr(joint, "i", None) is not None:
        return joint.prior.database.prior
    return joint.prior
