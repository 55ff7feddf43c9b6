"""The joint law P_X x P_{Y|X}: a prior, or a set of priors, times a mechanism."""

from __future__ import annotations

import math
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.errors import InvalidInput, NotYet
from borel.numerics.intervals.rounding import NORMAL, U, compounded
from borel.probability.alphabets import no_match
from borel.probability.arrays import as_floats, carried, require_no_underflow
from borel.probability.density import check_labels
from borel.probability.kernel_operations import require_kernel_at
from borel.probability.measure import Measure, covers
from borel.probability.outcome_density import log_marginal, log_ratios
from borel.probability.pickling import Remade

if TYPE_CHECKING:
    from borel.probability.bound import Verdict
    from borel.probability.mechanism import Mechanism


class Joint(Remade):
    """The joint law of (X, Y); made by ``prior * mech``.

    Attributes
    ----------
    prior : Measure or a posterior over priors
        The law of the secret.
    mechanism : Mechanism
        The kernel.

    Raises
    ------
    InvalidInput
        The prior has mass where the mechanism is undefined.

    Examples
    --------
    >>> import borel as bl
    >>> bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    Joint(Measure([0.5, 0.5] on Finite(2)) * Mechanism(2 x 2 matrix: Finite(2) -> Finite(2)))
    """

    __array_ufunc__ = None
    _made_of = ("prior", "mechanism", "estimated", "parts")
    estimated = ""
    parts: tuple[Joint, ...] = ()

    def __init__(
        self,
        prior: Any,
        mechanism: Mechanism,
        estimated: str = "",
        parts: tuple[Joint, ...] = (),
    ):
        if not hasattr(mechanism, "closed_forms") or not hasattr(prior, "on"):
            raise InvalidInput(
                "prior * mech",
                expected="a Measure (or a posterior over priors) and a Mechanism",
                got=f"{type(prior).__name__} and {type(mechanism).__name__}",
                mend="write bl.pmf([...], on=alphabet) * mech.",
            )
        if isinstance(prior, Measure) and not covers(mechanism.secret, prior):
            raise no_match("prior * mech", mechanism.secret, prior.on, many=False)
        if isinstance(prior, Measure) and prior.batch:
            raise InvalidInput(
                "prior * mech",
                expected="one prior",
                got=f"a batch of shape {prior.batch}",
                mend="wrap the draws: bl.priors.from_posterior(idata, build) * mech.",
            )
        if mechanism.density is not None:  # it reads the labels as floats
            check_labels("x", prior.on)
            if isinstance(prior, Measure):
                require_kernel_at(mechanism, prior)
        self.prior: Any = prior  # a Measure, or a posterior over priors
        self.mechanism = mechanism
        self.parts = parts  # the independent joints of which it is the product, if no matrix
        self.estimated = estimated  # why its figures are estimates whatever the engine, if they are

    @property
    def secret(self) -> Any:
        """The alphabet of the prior."""
        return self.prior.on

    @property
    def outcome(self) -> Any:
        """The alphabet of the outcome."""
        return self.mechanism.outcome

    @property
    def finite(self) -> bool:
        """Whether secret and outcome are finite."""
        return self.mechanism.finite and getattr(self.prior, "_probabilities", None) is not None

    @cached_property
    def probabilities(self) -> np.ndarray:
        """The prior probabilities over the mechanism's secrets, for a finite joint."""
        p = self.prior.at(self.mechanism.secret)
        if self.rational or p.dtype != object:
            return p
        return np.asarray(p, float)

    @cached_property
    def rational(self) -> bool:
        """Whether prior and matrix are Fractions, so that ratios are exact."""
        return self.finite and self.prior.rational and self.mechanism.rational

    @property
    def _rounding(self) -> tuple[float, float]:
        """How far prior and matrix may be off, relatively; Fractions beside floats are floats."""
        return max(self.prior.rounding, U), max(self.mechanism.rounding, U)

    @cached_property
    def marginal(self) -> Measure:
        """P_Y, the law of the outcome (``mech @ prior``)."""
        self._require_one_prior("joint.marginal")
        mechanism = self.mechanism
        unproved = carried(self.prior, mechanism)
        if self.finite:
            if self.rational:
                law = self.probabilities @ mechanism.matrix
                return Measure(law, self.outcome, unproved=unproved)
            p = as_floats(self.prior.at(mechanism.secret), "mech @ prior")
            k = as_floats(mechanism.matrix, "mech @ prior")
            require_no_underflow("mech @ prior", p, k)
            error = compounded(*self._rounding, (len(p) + 2) * U)
            return Measure(p @ k, self.outcome, name="marginal", rounding=error, unproved=unproved)
        if self.outcome.kind == "mixed":
            raise NotYet(
                "mech @ prior",
                missing="a marginal with atoms as a Measure",
                instead="the law of the leakage knows it: bl.pml(joint).tail(t).",
            )
        return Measure(
            partial(log_marginal, self),
            self.outcome,
            log=True,
            name="marginal",
            breaks=mechanism.breaks,
            _check=False,
        )

    def __mul__(self, other: Any) -> Joint:
        """Return the joint of two independent secrets, each with its own release.

        By additivity (Lemma 1(iii) of the PMC paper, which holds for PML too) its leakage at
        (y1, y2) is the sum of both.

        Examples
        --------
        >>> import borel as bl
        >>> noise = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0)
        >>> bl.pml(noise * noise).sup(), 2 * bl.pml(noise).sup().value
        (Bound(0.9173502908, exact), 0.9173502908)
        """
        if not isinstance(other, Joint):
            return NotImplemented
        self._require_one_prior("joint * joint")
        other._require_one_prior("joint * joint")
        mechanism = self.mechanism * other.mechanism
        parts = () if mechanism.finite else (*(self.parts or (self,)), *(other.parts or (other,)))
        estimated = self.estimated or other.estimated
        return Joint(self.prior * other.prior, mechanism, estimated, parts)

    def posterior(self, y: Any) -> Measure:
        """Return P_{X|Y=y}, a Measure.

        Raises
        ------
        OutsideAlphabet
            y is not an outcome.
        InvalidInput
            The outcome has density 0.

        Examples
        --------
        >>> import borel as bl
        >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
        >>> joint.posterior(0).probabilities
        array([0.75, 0.25])
        """
        self._require_one_prior("joint.posterior")
        self.outcome.check(y)
        shapes = [np.shape(p) for p in y] if self.outcome.dim > 1 else [self._shape(y)]
        if any(shapes):
            raise InvalidInput(
                "joint.posterior",
                expected="one outcome",
                got=f"an array of shape {next(s for s in shapes if s)}",
                mend="ask for one y at a time.",
            )
        if self.finite:
            column = self.mechanism.matrix[:, int(self.outcome.positions(y))]
            prior = self.probabilities
            if not self.rational:
                prior = as_floats(self.prior.at(self.mechanism.secret), "joint.posterior")
                column = as_floats(column, "joint.posterior")
                require_no_underflow("joint.posterior", prior, column)
            weights = prior * column
            total = weights.sum()
            if not total > 0:
                raise InvalidInput(
                    "joint.posterior",
                    expected="an outcome of positive density",
                    got="density 0",
                    where=f"y = {y!r}",
                )
            error = 0.0
            if not self.rational:
                error = compounded(*self._rounding, *self._rounding, (len(prior) + 4) * U)
            return Measure(
                weights / total,
                self.mechanism.secret,
                rounding=error,
                unproved=carried(self.prior, self.mechanism),
            )
        level = float(np.ravel(log_marginal(self, y))[0])
        if not level > -np.inf:
            raise InvalidInput(
                "joint.posterior",
                expected="an outcome of positive density",
                got="density 0, or less than float64 holds",
                where=f"y = {y!r}",
            )
        if self.prior._probabilities is not None:
            return self._finite_posterior(y)
        return Measure(
            partial(_log_posterior, self.prior, self.mechanism, y, level),
            self.secret,
            log=True,
            breaks=self.prior.breaks,
            name=f"posterior given {y!r}",
            _check=False,
        )

    def _finite_posterior(self, y: Any) -> Measure:
        """Return the posterior of a finite secret, up to its rounding where that is proved."""
        ratios, off, why = log_ratios(self, y)
        p = as_floats(self.prior.probabilities, "joint.posterior")
        some = p > 0
        weights = np.zeros(len(p))
        weights[some] = p[some] * np.exp(ratios)
        if not (np.isneginf(ratios) | (weights[some] > NORMAL)).all():
            raise InvalidInput(
                "joint.posterior",
                expected="posterior probabilities that float64 can hold",
                got="an underflow",
                where=f"y = {y!r}",
                mend="restrict the prior to the secrets that this outcome leaves.",
            )
        own = compounded(max(self.prior.rounding, U), math.expm1(off) * 1.01, 16 * U)
        error = compounded(own, own, (len(p) + 4) * U)
        why = why or carried(self.prior)
        return Measure(weights / weights.sum(), self.secret, rounding=error, unproved=why)

    def _shape(self, y: Any) -> tuple[int, ...]:
        """Return the shape of outcomes; a label that is a tuple is one outcome."""
        return () if isinstance(y, tuple) and self.outcome.kind == "finite" else np.shape(y)

    def _require_one_prior(self, what: str) -> None:
        if not isinstance(self.prior, Measure):
            raise NotYet(
                what,
                missing=f"a law for each prior of {self.prior!r}",
                instead="one prior: learnt.mean_prior() * mech, or learnt.one(draw) * mech.",
            )

    @settings.one_figure()
    def satisfies(self, guarantee: Any) -> Verdict:
        """Return whether a guarantee holds: True, False, or undecided, with the Bound.

        Examples
        --------
        >>> import borel as bl
        >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
        >>> bool(joint.satisfies(bl.guarantees.PML(0.5)))
        True
        """
        if isinstance(guarantee, type) or not hasattr(guarantee, "holds_for"):
            raise InvalidInput(
                "joint.satisfies",
                expected="a guarantee, such as bl.guarantees.PML(0.5)",
                got=getattr(guarantee, "__name__", repr(guarantee)),
            )
        return guarantee.holds_for(self)

    def __repr__(self) -> str:
        """Show the prior and the mechanism."""
        return f"Joint({self.prior!r} * {self.mechanism!r})"

    def _repr_html_(self) -> str:
        from html import escape

        return (
            f"<div><code>{escape(repr(self))}</code><br>"
            "<i>next: bl.pml(joint).sup(), bl.pmc(joint).sup(), bl.audit(joint)</i></div>"
        )


# a function of a module, so that what is made of it can be pickled


def _log_posterior(prior: Measure, mechanism: Mechanism, y: Any, level: float, x: Any) -> Any:
    return prior._logpdf(x) + mechanism._logpdf(y, x) - level
