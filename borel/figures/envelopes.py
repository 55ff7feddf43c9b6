r"""Leakage envelopes: the most that a mechanism leaks after any post-processing of its outcome.

Post-processing never raises the *largest* leakage of an outcome, but it raises the probability of
a large one: an adversary merges outcomes. For PML and for PMC the envelope closes the tail,

.. math:: \delta_c(t) = \sup_{X - Y - Z} P\{\ell(X \to Z) \ge t\}, \qquad
          \varepsilon_c(\delta) = \sup\{t \ge 0 : \delta_c(t) \ge \delta\}.

The draft that defines it calls it hard to compute, and bounds it. It is a linear programme.

**Theorem** (finite X and Y, every x and y of positive probability). *Let q = P_Y and
c_x(y) = P(y|x) - e^t q(y) for PML, c_x(y) = q(y) - e^t P(y|x) for PMC. For t >= 0,*

.. math:: \delta_c(t) = \max_{w \ge 0} \sum_{x,y} w_x(y) q(y) \quad\text{subject to}\quad
          \sum_y w_x(y) c_x(y) \ge 0 \;\;\forall x, \qquad \sum_x w_x(y) \le 1 \;\;\forall y.

*Proof.* Call an outcome z of Z, with w_z(y) = P(Z = z | Y = y) and P(z) > 0, *bad* if
l(X -> z) >= t. As P(z|x) = sum_y w_z(y) P(y|x) and P(z) = sum_y w_z(y) q(y), z is bad if and only
if some x has P(z|x) >= e^t P(z) (for PMC: P(z) >= e^t P(z|x), an infinite cost included), which is
sum_y w_z(y) c_x(y) >= 0; call such an x the witness of z. *At most.* Let Z be any post-processing.
Give each bad z one witness x(z), and merge the bad outcomes that share a witness:
w_x = sum of w_z over the bad z with x(z) = x. The inequality is linear in w_z, so w_x satisfies it;
sum_x w_x(y) <= sum_z w_z(y) = 1; and the objective is the sum of P(z) over bad z, which is
P{l(X -> Z) >= t}. So w is feasible and its objective is that probability. *At least.* Let w be
feasible. Let Z be x with probability w_x(y) and "rest" otherwise, given Y = y. Each x of positive
probability is bad, by its own inequality, so P{l(X -> Z) >= t} is at least the objective. The
maximum over a compact polytope is attained. For infinitely many z (or a general Z) nothing
changes: the sums over bad z are integrals. QED. The optimal w is the adversary's best
post-processing, and |X| + 1 outcomes suffice.

**Dual.** With r_x = c_x / q, for every lambda >= 0

.. math:: \delta_c(t) \le E_Y\bigl[\max(0, \max_x (1 + \lambda_x r_x(Y)))\bigr],

with equality for some lambda. *Proof of the inequality.* For a feasible w, sum w_x q is at most
sum w_x q + sum_x lambda_x sum_y w_x c_x = sum_y q(y) sum_x w_x(y) (1 + lambda_x r_x(y)), and as the
w_x(y) are shares of at most 1 in sum, the inner sum is at most the positive part of the largest
term. Equality is strong duality of linear programmes. The proof holds for any Y: it is how
countable and continuous outcomes are bounded above, and any binning of them bounds below (binning
is post-processing, and a post-processing of the bins is one of Y).

**Continuous and countable secrets.** z is bad if ess sup_x P(z|x) >= e^t P(z). *At most.* Let boxes
B_i cover the support, finitely many of them, with F_i(y) = ess sup of f(y|x) over B_i. The
essential supremum over x is that over one of the boxes, i, and
:math:`\int w_z F_i \ge \operatorname{ess\,sup}_{B_i} \int w_z f(\cdot|x)`: F_i in place of P(y|x),
though no law, makes the dual a bound, for any lambda_i >= 0. *At least.* Let x_0 be in the support,
and w a share of finitely many cells of outcomes, bounded or single ones, on each of which log f is
bounded and continuous in x beside x_0. Then :math:`\int w f(\cdot|x)` is continuous at x_0 by
dominated convergence: sets of positive mass beside x_0 come as near as one likes to what x_0 gains,
and their essential supremum is at least that. So the programme of such points x_0 is below. For PMC
the infimum takes the place of the supremum, and -f that of f.

**Inversion.** Write D = delta_c as a function of theta, e^t for PML and -e^-t for PMC: in both
cases c_x is a positive multiple of g_x - theta q with g_x = P(.|x), or -P(.|x). (a) *D does not
increase*, as the constraints tighten. (b) *Where D < 1 it falls strictly until it is 0.* Let
theta' < theta with 0 < D(theta) < 1, w optimal at theta, u = 1 - sum_x w_x what it leaves, so
q(u) > 0, and x with q(w_x) > 0. At theta', w_x has a slack of (theta - theta') q(w_x) > 0, so
w_x + eta u is feasible for small eta > 0, and D(theta') >= D(theta) + eta q(u). (c) *D is
continuous from the left*, as an upper semicontinuous function that does not increase. (d) *Its
limit from the right is the programme without the secrets whose top, max_y g_x / q, is at most
theta.* They have w_x = 0 above theta; for the others small w_x on the outcomes of the top make
every constraint slack, so a mixture with any w feasible at theta is feasible a little above it.
Hence for 0 < delta <= 1 the supremum in epsilon_c is attained: D(theta) >= delta proves
epsilon_c(delta) >= t, and, for delta < 1, a dual value of at most delta over the secrets whose top
is above theta proves epsilon_c(delta) <= t, by (b) and (d). (For delta = 1 the dual must also fall
to the right of theta.) By (b) epsilon_c is continuous on (0, 1): it could jump only over levels
where D is constant. This proves Theorem 2 and Corollary 1 of the draft: the supremum over Z of the
right quantiles is epsilon_c, and for t' < t < epsilon_c(delta), with delta < 1,
delta_c(t) > delta by (b), so that some Z has P{l(X -> Z) > t'} > delta: its left quantile is at
least t'. At delta = 0, epsilon_c is the limit: the largest leakage of an outcome. At delta = 1 it
is the limit too: the largest leakage that *every* outcome of some Z can have.

The envelope of PMC is infinite up to the mass of the outcomes that some secret makes impossible.

References
----------
"Information Leakage Envelopes" (a draft): equation (8), Section IV, Theorem 2, Corollary 1. The
linear programme and the envelope of PMC are ours.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.constants import exactly, real
from borel.engine import engine_for
from borel.engine.envelopes.cell_enclosures import envelope_of
from borel.engine.envelopes.figures import EnvelopeThreshold
from borel.engine.figures import FIGURES
from borel.errors import InvalidInput, NotYet
from borel.figures.asking import asked
from borel.figures.dispatch import closed_form, require_joint
from borel.figures.leakage import pmc, pml
from borel.numerics.balls.arithmetic import log_ends
from borel.probability.arrays import probability
from borel.probability.bound import Bound, weakest
from borel.probability.mechanism_families import JointFamily
from borel.probability.pickling import Remade

if TYPE_CHECKING:
    from fractions import Fraction

    import xarray as xr

    from borel.probability.joint import Joint
    from borel.probability.mechanism import Mechanism

_LEAKAGES = {"pml": pml, "pmc": pmc}
_LOG_2 = 0.6931471805599454  # from above


_BY_TAIL = "the envelope is at most tail leakage, and at least the level of absorption"


def by_tail_leakage(joint: Joint, kind: str, delta: Fraction) -> Bound | None:
    """Enclose the envelope of a joint by the law of its leakage: docs/tail_leakage.md, Theorem 3.

    Tail leakage is its cap, on every alphabet. Its floor is a level at which outcomes that leak
    more absorb others until their probability is delta: for PML no less than tail leakage by more
    than log 2. None where there is no proof.
    """
    known = closed_form(joint, "tail_leakage", kind, delta)
    if known is not None and known.lower == math.inf:
        return known
    try:
        engine = engine_for(joint)
        if known is not None and known.width <= settings.current().tol:
            found = known
        else:
            found = engine.figure("tail_leakage", kind, delta)
    except NotYet:
        return None
    if not (found.proved or found.status == "undecided"):
        return None
    low, cap = found.lower, found if known is None else both(found, known)
    if kind == "pml" and low < math.inf:
        level = log_ends(engine.absorbing_level(delta), math.inf)[0]
        low = max(level, math.nextafter(low - _LOG_2, 0.0), 0.0)
    elif low < math.inf:
        low = 0.0
    notes = (*cap.assumptions, _BY_TAIL)
    if math.isinf(cap.upper) > math.isinf(low):
        return Bound.undecided(low, cap.upper, reason=cap.reason, assumptions=notes)
    status = "conditional" if "conditional" in (found.status, cap.status) else "certified"
    return Bound.of(status, min(low, cap.upper), cap.upper, assumptions=notes)


def both(found: Bound, other: Bound) -> Bound:
    """Return what two enclosures of a figure tell together, with what each end rests on."""
    low, high = max(found.lower, other.lower), min(found.upper, other.upper)
    used = [b for b in (found, other) if b.lower == low or b.upper == high]
    if used == [other] or (used[0].lower, used[0].upper) == (low, high):
        return used[0]
    status = weakest("certified" if b.status == "undecided" else b.status for b in used)
    notes = tuple(dict.fromkeys(a for b in used for a in b.assumptions))
    if math.isinf(high):
        return Bound.undecided(low, high, reason=found.reason, assumptions=notes)
    return Bound.of(status, low, max(low, high), assumptions=notes)


class LeakageEnvelope(Remade):
    """The envelope of PML or PMC of a joint over all post-processings; made by `envelope`.

    Attributes
    ----------
    joint : Joint
        The joint law.
    kind : {"pml", "pmc"}
        Which leakage.
    """

    __array_ufunc__ = None
    _made_of = ("joint", "kind")

    def __init__(self, joint: Joint, kind: str):
        self.joint, self.kind = joint, kind

    def _engine(self) -> Any:
        make = lambda: envelope_of(self.joint, engine_for(self.joint), self.kind)  # noqa: E731
        return self._memo.in_figure(("figures", settings.current()), make)

    def __call__(self, delta: Any) -> Bound:
        """Return epsilon_c(delta): what some post-processing leaks with probability delta.

        Parameters
        ----------
        delta : number in [0, 1]
            A float means its binary64 value.

        Returns
        -------
        Bound
            In nats. ``exact``, with a ``ratio`` in Fractions, where a rational joint has a rational
            e^epsilon that was found; else ``certified``, or ``conditional`` where a kernel on
            countable or continuous outcomes is. The ends 0 and 1 are limits: the largest leakage
            of an outcome, and the largest that every outcome can be made to have. On finite
            alphabets the witness is the post-processing: its bad outcomes, each with its shares of
            outcomes y.

        Raises
        ------
        InvalidInput
            A delta outside [0, 1].
        """
        level = probability("bl.envelope(joint)", "delta", delta)
        if level == 0:
            return _LEAKAGES[self.kind](self.joint).sup()
        about = self.kind, level
        return asked(self.joint, "envelope", about, lambda: self._epsilon(level))

    def _epsilon(self, level: Fraction) -> Bound:
        """Enclose epsilon_c(delta), off finite alphabets also by tail leakage."""
        if self.joint.finite:
            return self._engine().epsilon(level)
        with settings.part(2):  # it takes less, as a rule, and the rest is for the envelope
            around = by_tail_leakage(self.joint, self.kind, level)
        if around is not None and around.lower == math.inf:
            return around
        try:
            ends = (0.0, math.inf) if around is None else (around.lower, around.upper)
            found = self._engine().epsilon(level, ends)
        except NotYet:
            if around is None:
                raise
            return around
        return found if around is None else both(found, around)

    def delta(self, t: Any = None, *, ratio: Any = None, closed: bool = True) -> Bound:
        """Return delta_c(t), the largest P{leakage >= t} of any post-processing.

        Parameters
        ----------
        t : float
            Level in nats.
        ratio : number, optional
            Instead of t: e^t, which a float t rounds. Where delta_c jumps (at the largest leakage
            of a secret over outcomes) only a ratio can hit the level.
        closed : bool
            Whether t itself counts; with ``closed=False``, P{leakage > t}, a supremum that is
            approached.

        Returns
        -------
        Bound
            A probability; ``exact`` for Fractions and a rational ratio, else ``certified`` (or
            ``conditional``). At a level where delta_c jumps, ends that are not exact are the
            values on both sides of the jump: both are true.
        """
        level = self._threshold(t, ratio)
        return asked(
            self.joint,
            "envelope_delta",
            (self.kind, level, closed),
            lambda: self._engine().delta(level, closed=closed),
        )

    def witness(self, t: Any = None, *, ratio: Any = None, delta: Any = None) -> Mechanism:
        """Return the adversary's best post-processing: ``witness @ joint.mechanism`` releases Z.

        Parameters
        ----------
        t : float
            Level in nats: Z has P{leakage >= t} as large as it can be.
        ratio : number, optional
            Instead of t: e^t.
        delta : number in (0, 1], optional
            Instead of t: the post-processing that has the leakage epsilon_c(delta) with
            probability delta.

        Returns
        -------
        Mechanism
            From the outcomes y to one bad outcome for each secret in use, named after it, and
            ``"rest"``. In Fractions for a rational joint; else rounded to floats, so that the
            leakage of its bad outcomes is the level to rounding.

        Raises
        ------
        NotYet
            Outcomes that are not finite.
        """
        if (delta is None) == (t is None and ratio is None):
            raise InvalidInput("env.witness", expected="t, ratio=..., or delta=...", got="not one")
        engine = self._engine()
        if delta is not None:
            level = probability("env.witness", "delta", delta)
            if level == 0:
                raise InvalidInput("env.witness", expected="delta > 0", got="0")
            weights = engine.weights(level)  # or it raises: outcomes that are not finite
            return engine.post_processing(weights)
        return engine.witness(self._threshold(t, ratio))

    def _threshold(self, t: Any, ratio: Any) -> EnvelopeThreshold:
        if (t is None) == (ratio is None):
            raise InvalidInput("env.delta", expected="t or ratio=...", got="both or neither")
        if ratio is not None:
            value = real("env.delta", ratio, "ratio > 0")
            if not value > 0:
                raise InvalidInput("env.delta", expected="ratio > 0", got=repr(ratio))
            value = math.inf if value == math.inf else exactly(value)
            return EnvelopeThreshold(1 if self.kind == "pml" else -1, None, value)
        number = real("env.delta", t, "a number t (nats)")
        return EnvelopeThreshold(1 if self.kind == "pml" else -1, number, None)

    def curve(self, deltas: Any) -> xr.Dataset:
        """Return epsilon_c at many levels.

        Parameters
        ----------
        deltas : sequence of numbers in [0, 1]
            The levels.

        Returns
        -------
        Dataset
            ``lower``, ``upper`` in nats and ``status`` over ``delta``.
        """
        import xarray as xr

        found = settings.each(self, deltas)
        data = {
            "lower": ("delta", np.array([b.lower for b in found]), {"units": "nats"}),
            "upper": ("delta", np.array([b.upper for b in found]), {"units": "nats"}),
            "status": ("delta", np.array([b.status for b in found], dtype=str)),
        }
        attrs = {
            "quantity": f"envelope of {FIGURES[self.kind].title}",
            "units": "nats",
            "status": weakest(b.status for b in found) if found else "exact",
        }
        for note, texts in (
            ("assumptions", [a for b in found for a in b.assumptions]),
            ("reason", [b.reason for b in found if b.reason]),
        ):
            if texts:
                attrs[note] = "; ".join(dict.fromkeys(texts))
        return xr.Dataset(data, {"delta": [float(d) for d in deltas]}, attrs)

    def __repr__(self) -> str:
        """Show which leakage, and of what."""
        return f"LeakageEnvelope({self.kind} of {self.joint!r})"

    def _repr_html_(self) -> str:
        from html import escape

        return (
            f"<div><b>envelope of {FIGURES[self.kind].title}</b> of "
            f"<code>{escape(repr(self.joint))}</code><br>"
            "<i>next: env(delta), env.delta(t), env.witness(t), env.curve(deltas)</i></div>"
        )


class EnvelopeFamily:
    """The envelopes of a family of joints: every figure is a Dataset over its parameters."""

    __array_ufunc__ = None

    def __init__(self, joint: JointFamily, kind: str):
        self.joint, self.kind = joint, kind

    def __call__(self, delta: Any) -> xr.Dataset:
        """Return epsilon_c(delta) of every member."""
        return self.joint.each(lambda one: LeakageEnvelope(one, self.kind)(delta), "envelope")

    def delta(self, t: Any = None, *, ratio: Any = None, closed: bool = True) -> xr.Dataset:
        """Return delta_c(t) of every member."""
        return self.joint.each(
            lambda one: LeakageEnvelope(one, self.kind).delta(t, ratio=ratio, closed=closed),
            "envelope",
        )

    def curve(self, deltas: Any) -> xr.Dataset:
        """Return epsilon_c at many levels, of every member."""
        return self.joint.each(
            lambda one: LeakageEnvelope(one, self.kind).curve(deltas), "envelope"
        )

    def __repr__(self) -> str:
        """Show which leakage, and of what."""
        return f"EnvelopeFamily({self.kind} of {self.joint!r})"


def envelope(joint: Any, of: str = "pml") -> Any:
    r"""Return the leakage envelope of a joint: what no post-processing of Y exceeds.

    .. math:: \varepsilon_c(\delta) = \sup\{t : \delta_c(t) \ge \delta\}, \qquad
              \delta_c(t) = \sup_{X - Y - Z} P\{\ell(X \to Z) \ge t\}

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.
    of : {"pml", "pmc"}
        Which leakage.

    Returns
    -------
    LeakageEnvelope
        ``env(delta)`` is epsilon_c(delta) in nats, ``env.delta(t)`` the probability delta_c(t),
        ``env.witness(t)`` the adversary's best post-processing, ``env.curve(deltas)`` a Dataset.

    Raises
    ------
    NotYet
        Kernels that cannot be enclosed, sets of priors and posteriors.

    Notes
    -----
    The envelope is a linear programme; the module `borel.figures.envelopes` has the proof. The
    programme is solved by HiGHS, and nothing that it returns is trusted: its primal solution,
    made feasible, proves one end of the figure and its dual solution the other, in Fractions
    for a rational joint and else with outward rounding over all that the floats of the joint
    may mean. Countable and continuous outcomes are cut into cells: the bins prove the lower
    end, the dual, enclosed cell by cell, the upper one. ``options(tol=, budget=)`` say when
    cutting stops; a figure that is not settled then is wide, and true. A continuous or countable
    secret is cut into boxes, too: from above a box counts with the largest of its secrets at each
    outcome, from below with single secrets that are in the support of the prior and at which the
    kernel is continuous. Off finite alphabets the envelope also lies below `tail_leakage`, by log 2
    at most for PML.

    References
    ----------
    "Information Leakage Envelopes" (a draft), Section IV.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> h, f, t = F(1, 2), F(1, 5), F(2, 5)
    >>> mech = bl.Mechanism.from_matrix([[0, 0, h, h], [0, 0, h, h], [0, f, t, t], [f, 0, t, t]])
    >>> env = bl.envelope(bl.pmf([F(1, 4)] * 4) * mech)
    >>> [env(delta).ratio.lower for delta in (F(1, 10), F(1, 5), F(2, 5))]
    [Fraction(4, 1), Fraction(22, 9), Fraction(5, 3)]
    >>> env.delta(ratio=F(22, 9))
    Bound(0.2 probability, exact)
    """
    if of not in _LEAKAGES:
        raise InvalidInput("bl.envelope", expected='of="pml" or of="pmc"', got=repr(of))
    if isinstance(joint, JointFamily):
        return EnvelopeFamily(joint, of)
    require_joint(joint, "envelope")
    if joint.prior.over != "one prior":
        raise NotYet(
            "bl.envelope",
            missing="envelopes over sets of priors and posteriors",
            instead="one prior at a time.",
        )
    return LeakageEnvelope(joint, of)
