r"""Sets of priors: what is known of the law of the secret when it is not one law.

A convex set :math:`\mathcal P` and a fixed mechanism need two operations only, the lower and the
upper expectation of a function of the secret. With S the union of the supports of the members,

.. math::
    \sup_{P \in \mathcal P} \ell_P(y) = \log \frac{\max_{x \in S} f(y|x)}{\underline E f(y|X)},
    \qquad
    \sup_{P \in \mathcal P} \Lambda_P(y) = \log \frac{\overline E f(y|X)}{\min_{x \in S} f(y|x)}.

"At most" is clear. For "at least" let P attain (or approach) the lower expectation, and let some
member P' charge the x of the maximum: (1 - s) P + s P' is a member by convexity, it charges x too,
and as s -> 0 its leakage tends to the right-hand side. So the supremum is attained if a minimiser
charges such an x, and only approached otherwise: the Bound says which, where it is known.

On a continuous alphabet the members are the laws with a density, beside the atoms of the centre or
the corners: maxima over S are essential, as f(y|x) is given but for null sets of secrets. A point
mass elsewhere is no member; where f(y|x) is continuous in x it would change nothing, as a limit.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.prior_sets import linear_programme
from borel.engine.prior_sets.linear_programme import Constraints, constraints
from borel.engine.prior_sets.lower_expectations import Least, exactly, vacuous
from borel.errors import InvalidInput, NotYet
from borel.figures.asking import asked
from borel.numerics.intervals.rounding import fraction_down, fraction_up
from borel.probability.alphabets import Alphabet, Finite
from borel.probability.arrays import as_fractions, as_numbers, in_order_of
from borel.probability.bound import Bound, largest
from borel.probability.measure import Measure, as_measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from borel.engine.prior_sets.attainment import SecretValues
    from borel.engine.prior_sets.engine import SetEngine
    from borel.probability.joint import Joint


class PriorSet:
    """A set of priors on one alphabet; see `borel.priors` for the constructors.

    Attributes
    ----------
    on : Alphabet
        The alphabet of the secret.
    convex : bool
        Whether mixtures of members are members.
    closed : bool
        Whether limits of members are members.
    assumptions : tuple of str
        What figures over the set rest on.
    confidence : float or None
        For a set learnt from a sample: the probability, over the sample, that it holds the truth.
    nominal : Measure or None
        The member that the set is around: the centre of a ball, or the law of the counts; None if
        there is none. An audit gives its figures beside the suprema over the set.
    corners : sequence of Measure
        Priors of which it is the convex hull; empty where they are not known.
    """

    __array_ufunc__ = None
    over = "set"
    kind = ""
    """What certificates call sets of the kind, if they know it."""
    convex = True
    closed = True
    greedy = False
    """Whether each minimiser of v has as little mass as a member can have where v is largest."""
    status = "exact"
    confidence: float | None = None
    as_drawn = False
    """Whether the labels are those of a sample: nobody said that there are no others."""
    all_drawn = False
    """Whether every label was drawn, so that the true prior almost surely charges all of them."""
    nominal: Measure | None = None
    corners: Sequence[Measure] = ()

    def __init__(self, on: Alphabet, name: str, *, assumptions: tuple[str, ...] = ()):
        if not isinstance(on, Alphabet):
            raise InvalidInput(
                f"bl.priors.{name}",
                expected="an alphabet",
                got=type(on).__name__,
                mend="write bl.Finite([...]) or bl.Interval(a, b).",
            )
        self.on = on
        self.name = name
        self.assumptions = assumptions

    # -- what a set has to know ---------------------------------------------------------------

    def least(self, v: np.ndarray) -> Least:
        """Enclose the lower expectations of columns of values (n, m) on a finite alphabet."""
        raise NotYet(f"bl.priors.{self.name}", missing=f"lower expectations on {self.on!r}")

    rational = False
    """Whether all that gives the set is in Fractions."""

    def least_exactly(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Return lower expectations and priors as Fractions, where the set is rational."""
        return None

    @property
    def exactly(self) -> str:
        """The status of figures from `least_exactly`: there a programme is not only enclosed."""
        return "exact" if self.status == "certified" else self.status

    @property
    def reach(self) -> tuple[np.ndarray, np.ndarray]:
        """Which secrets some member certainly charges, and which may be charged: (n,) each."""
        everywhere = np.ones(self.on.size, bool)
        return everywhere, everywhere

    @property
    def rules(self) -> Constraints | None:
        """The set as linear constraints, if it is a polytope; None otherwise."""
        return None

    @cached_property
    def vertices(self) -> list[list[Fraction]] | None:
        """Return priors of the closure, all its extreme points among them, as Fractions.

        None for a set with other extreme points, too many of them, floats that stand for several
        numbers, or no member that is known.
        """
        rules = self.rules
        return linear_programme.vertices(rules) if rules is not None and self.rational else None

    def allows(self, side: Any, z: Any) -> bool:
        """Return whether some member allows Z = z, Z released by ``side``."""
        return bool(((likelihood(side, self.on, z) > 0) & self.reach[1]).any())

    def given(self, side: Any, z: Any) -> PriorSet:
        """Return the laws of the secret given Z = z, Z released by ``side``, of all members."""
        raise NotYet(
            "side information over a set of priors",
            missing=f"the posteriors of {self!r}",
            instead="bl.priors.full_support or bl.priors.product, or one prior at a time.",
        )

    def all_priors(self) -> PriorSet:
        """Return the set of all priors of full support on the same alphabet."""
        return FullSupport(self.on)

    def described(self) -> dict[str, Any] | None:
        """Return the set as data, for certificates; None for a kind that no checker knows."""
        return None

    def attains(self, v: SecretValues) -> bool | None:
        """Return whether some minimiser of v charges a largest value; None if it is not known.

        That is so where every member charges one, or where v is constant on the secrets that
        members charge. Otherwise it is not: if the set is open, as means of members are above the
        infimum; or if it is `greedy` and some member charges none. Of sets that are not convex
        nothing is known.
        """
        if not self.convex:
            return None
        if v.constant:
            return True
        if not self.closed:
            return v.constant
        if all(self._least_mass(rows)[0] > 0 for rows in v.largest):
            return True
        none = self.greedy and v.constant is False and self._least_mass(v.top)[1] <= 0
        return False if none else None

    def _least_mass(self, rows: np.ndarray) -> tuple[Any, Any]:
        """Enclose the lower probability of some secrets: (n,) of bool."""
        exact = self.least_exactly(np.array([[Fraction(int(k))] for k in rows], dtype=object))
        if exact is not None:
            return exact[0][0], exact[0][0]
        found = self.least(rows[:, None].astype(float))
        return found.lower[0], found.upper[0]

    def contains(self, prior: Measure, *, tol: float = 1e-9) -> bool:
        """Return whether a prior is a member, up to a tolerance in its probabilities."""
        raise NotYet(f"bl.priors.{self.name}.contains", missing="a test of membership")

    def certainly(self, q: list[Fraction]) -> bool:
        """Return whether probabilities are certainly those of a member; False where unknown."""
        rules = self.rules
        if rules is None or rules.width > rules.n or not self.closed:
            return False
        return linear_programme.satisfied(q, rules)

    # -- expectations -------------------------------------------------------------------------

    def lower(self, f: Any) -> Bound:
        r"""Return the lower expectation :math:`\inf_{P \in \mathcal P} E_P f(X)`.

        Parameters
        ----------
        f : callable or sequence, shape (n,)
            A function of the secret, or its values in the order of the labels; Fractions are exact.

        Returns
        -------
        Bound
            A number; ``witness["prior"]`` is the prior that attains or approaches it.

        Raises
        ------
        InvalidInput
            A function with NaN or infinite values, or as many values as there are no labels.

        Examples
        --------
        >>> import borel as bl
        >>> bl.priors.tv_ball(bl.pmf([0.5, 0.5]), 0.25).lower([0.0, 1.0])
        Bound(0.25 number, exact)
        """
        return self._expectation(f, 1)

    def upper(self, f: Any) -> Bound:
        r"""Return the upper expectation :math:`\sup_{P \in \mathcal P} E_P f(X)`; see `lower`."""
        return self._expectation(f, -1)

    def _expectation(self, f: Any, sign: int) -> Bound:
        values, figure = _values(f, self.on), "lower" if sign > 0 else "upper"
        compute = partial(self._expectation_of, values[:, None], sign, figure)
        return asked(self, figure, (values,), compute, least=-math.inf)

    def _expectation_of(self, values: np.ndarray, sign: int, figure: str) -> Bound:
        end = "lower" if sign > 0 else "upper"
        about: dict[str, Any] = {"units": "number", "truth_ends": (end,)}
        exact = self.least_exactly(sign * values) if values.dtype == object else None
        if exact is not None:
            low = high = sign * exact[0][0]
            about["status"] = self.exactly
            prior = exact[1][:, 0]
        else:
            with np.errstate(all="ignore"):  # values at the ends of the floats
                found = self.least(_floats(sign * values))
            low, high = float(found.lower[0]), float(found.upper[-1])
            low, high = (low, high) if sign > 0 else (-high, -low)
            prior = found.prior[:, 0]
        about["witness"] = {"prior": as_measure(prior, self.on, "the attaining prior")}
        return self.bound(low, high, **about)

    def largest(self, figures: list[Bound]) -> Bound:
        """Return the largest of several figures over the set, with the confidence of the set.

        All of them hold on one event, that the set holds the truth: no risks add up.
        """
        return largest(figures).with_confidence(self.confidence)

    def bound(self, low: Any, high: Any, **about: Any) -> Bound:
        """Make a Bound with the status of the set; unless said otherwise, a supremum over it."""
        about["assumptions"] = (*self.assumptions, *about.get("assumptions", ()))
        status = about.pop("status", self.status)
        if self.confidence is not None and status != "estimate":
            about.setdefault("truth_ends", ("upper",))
            return Bound.statistical(low, high, confidence=self.confidence, **about)
        about.pop("truth_ends", None)
        return Bound.of(status, low, high, **about)

    # -- the algebra --------------------------------------------------------------------------

    def __mul__(self, mechanism: Any) -> Joint:
        """Return the joints of all members with a mechanism: ``prior_set * mech``."""
        from borel.probability.alphabets import includes, no_match
        from borel.probability.joint import Joint
        from borel.probability.mechanism import Mechanism

        if not isinstance(mechanism, Mechanism):
            return NotImplemented
        if not includes(mechanism.secret, self.on):
            raise no_match("prior_set * mech", mechanism.secret, self.on)
        secret = mechanism.secret
        if self.as_drawn and secret.kind == "finite" and self.on.size < secret.size:
            self._require_counts_of(secret)
        return Joint(self, mechanism)

    def _require_counts_of(self, secret: Any) -> None:
        """Refuse a sample whose letters are not all secrets: one never drawn may have mass."""
        missing = next(a for a in secret.labels if a not in set(self.on.labels))
        raise InvalidInput(
            "prior_set * mech",
            expected=f"a set learnt from counts of every label of {secret!r}",
            got=f"none of {missing!r}",
            mend="give 0 for labels that were never drawn: from_counts({..., "
            f"{missing!r}: 0}}, confidence=...).",
        )

    def __matmul__(self, other: Any) -> Any:
        """Refuse: the marginal over a set of priors is not one law."""
        raise TypeError("prior_set @ mech: write prior_set * mech for the joints")

    def __or__(self, other: Any) -> Any:
        """Return the union of two sets."""
        from borel.priors.set_operations import Union

        return Union([self, other]) if isinstance(other, PriorSet) else NotImplemented

    def __and__(self, other: Any) -> Any:
        """Return the intersection of two sets."""
        from borel.priors.set_operations import Intersection

        return Intersection([self, other]) if isinstance(other, PriorSet) else NotImplemented

    def leakage_of(self, joint: Joint, kind: str) -> Any:
        """Return the leakage over the set: the supremum over the members."""
        from borel.priors.set_leakage import SetLeakage

        return SetLeakage(joint, kind)

    def figure_of(self, joint: Joint, name: str, *arguments: Any) -> Bound:
        """Return the supremum of a measure over the members."""
        from borel.priors.set_leakage import engine_of

        return engine_of(joint).figure(name, *arguments)

    def engine(self, joint: Joint) -> SetEngine | None:
        """Return the engine of figures over the set; None for the one of its alphabets."""
        return None

    def example(self) -> Measure:
        """Return some prior on the alphabet, to see where outcomes lie; it proves nothing."""
        from borel.figures.levels import full_support_prior

        return full_support_prior(self.on) if self.nominal is None else self.nominal

    def members(self, count: int, rng: Any = None) -> list[Measure]:
        """Return random members: mixtures of priors that attain random lower expectations.

        Parameters
        ----------
        count : int
            How many.
        rng : int, Generator or None
            Source of randomness.
        """
        if self.on.kind != "finite":
            raise NotYet("members of a set of priors", missing=f"members on {self.on!r}")
        rng = np.random.default_rng(rng)
        sure = self.reach[0]
        v = rng.normal(size=(self.on.size, 8 * max(count, 1)))
        v[~self.reach[1]] = np.abs(v).max() + 1  # never charged
        if not self.closed:  # corners are limits; their mean is none, as each secret is charged
            v = np.hstack([v, -np.eye(self.on.size)])
        corners = self.least(v).prior
        if not self.closed:
            corners = corners + (corners.mean(axis=1, keepdims=True) - corners) / 1024
        picks = rng.integers(corners.shape[1], size=(count, 4))
        weights = rng.dirichlet(np.ones(4), size=count)
        found = np.einsum("ck,nck->cn", weights, corners[:, picks])
        found[:, ~sure] = 0.0
        return [as_measure(row / row.sum(), self.on, "a member") for row in found]

    def __repr__(self) -> str:
        """Show the kind of set and its alphabet."""
        sure = "" if self.confidence is None else f", confidence {self.confidence:g}"
        return f"PriorSet({self.name} on {self.on!r}{sure})"

    def _repr_html_(self) -> str:
        from html import escape

        return (
            f"<div><code>{escape(repr(self))}</code><br>"
            "<i>next: bl.pml(prior_set * mech).sup(), bl.audit(prior_set * mech), "
            "prior_set.lower(f)</i></div>"
        )


class FullSupport(PriorSet):
    """All priors of full support: the suprema are approached, by priors close to a point."""

    kind = "full_support"
    closed = False
    rational = True

    def __init__(self, on: Alphabet, name: str = "full_support"):
        super().__init__(on, name)

    def least(self, v: np.ndarray) -> Least:
        """Enclose the lower expectations of columns of values."""
        return vacuous(v, np.ones(self.on.size, bool))

    def least_exactly(self, v: np.ndarray) -> Any:
        """Return lower expectations and priors as Fractions, for a rational set."""

        def one(column: np.ndarray) -> tuple[Any, list]:
            k = min(range(len(column)), key=lambda j: column[j])
            return column[k], [Fraction(int(j == k)) for j in range(len(column))]

        return exactly(one, v)

    @cached_property
    def vertices(self) -> list[list[Fraction]]:
        """Return the point masses."""
        n = self.on.size
        return [[Fraction(int(j == k)) for j in range(n)] for k in range(n)]

    def given(self, side: Any, z: Any) -> PriorSet:
        """Return the laws given Z = z: all of full support on the secrets that allow z.

        Each is that of a prior proportional to it, divided by P(z|x).
        """
        mass = likelihood(side, self.on, z)
        found = [label for label, p in zip(self.on.labels, mass, strict=True) if p > 0]
        if not found:
            raise impossible(z)
        return FullSupport(Finite(found))

    def described(self) -> dict[str, Any]:
        """Return the set as data, for certificates."""
        return {"kind": self.kind, "count": self.on.size}

    @property
    def rules(self) -> Constraints:
        """The set as linear constraints."""
        return constraints(self.on.size)

    def certainly(self, q: list[Fraction]) -> bool:
        """Return whether probabilities are certainly those of a member."""
        return min(q) > 0

    def contains(self, prior: Measure, *, tol: float = 1e-9) -> bool:
        """Return whether a prior is a member, up to a tolerance."""
        return bool((np.asarray(prior.at(self.on), float) > 0).all())


def likelihood(side: Any, on: Alphabet, z: Any) -> np.ndarray:
    """Return P(z|x) for each secret, of side information on finite alphabets."""
    if not (on.kind == "finite" and side.finite):
        raise NotYet(
            "side information over a set of priors", missing="alphabets that are not finite"
        )
    if side.unproved:
        raise NotYet(
            "side information over a set of priors",
            missing=f"a proof of which secrets allow it: {side.unproved}",
            instead="one prior at a time, which gives an estimate.",
        )
    side.outcome.check(z)
    rows = np.asarray(side.secret.positions(list(on.labels), "x"))
    return side.matrix[rows, int(side.outcome.positions(z))]


def impossible(z: Any) -> InvalidInput:
    """Return the error that says that no member allows the side information z."""
    return InvalidInput(
        "leakage given Z = z",
        expected="side information that some prior of the set allows",
        got="probability 0 under all of them",
        where=f"z = {z!r}",
    )


def _floats(column: np.ndarray) -> np.ndarray:
    """Return values as floats; of Fractions those on both sides, in two columns."""
    if column.dtype != object:
        return column.astype(float)
    return np.array([[fraction_down(v), fraction_up(v)] for v in map(Fraction, column[:, 0])])


def _values(f: Any, on: Alphabet) -> np.ndarray:
    if on.kind != "finite":
        raise NotYet(
            "the lower expectation of a function",
            missing=f"functions on {on!r}",
            instead="bl.pml(prior_set * mech)(y) on this alphabet.",
        )
    labels = list(on.labels)
    found = [f(a) for a in labels] if callable(f) else f
    values = as_numbers(in_order_of(found, on, "PriorSet.lower"), mixed=True).values
    if values.shape != (len(labels),):
        raise InvalidInput(
            "PriorSet.lower",
            expected=f"{len(labels)} values, one for each label of {on!r}",
            got=f"shape {values.shape}",
        )
    try:
        finite = np.isfinite(values.astype(float)).all()
    except OverflowError:  # beyond the largest float
        finite = False
    if not finite:
        raise InvalidInput(
            "PriorSet.lower",
            expected="finite values",
            got="NaN, infinity, or more than a float holds",
        )
    return as_fractions(values)
