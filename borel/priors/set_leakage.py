"""The leakage of a mechanism over a set of priors: the supremum over the members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine import engine_for
from borel.engine.problem.budget import within_budget
from borel.errors import InvalidInput, NotYet
from borel.figures.asking import asked
from borel.probability.bound import Bound

if TYPE_CHECKING:
    import xarray as xr

    from borel.engine.prior_sets.engine import SetEngine
    from borel.probability.joint import Joint


def engine_of(joint: Joint) -> SetEngine:
    """Return the engine of a set of priors and a mechanism.

    Raises
    ------
    NotYet
        Alphabets on which the set is not covered; the message says what to do.
    """
    return joint._memo.in_figure(("set engine", settings.current()), lambda: _ready(joint))


def _ready(joint: Joint) -> SetEngine:
    out = _choose(joint)
    out.engine_of_one = engine_for
    return out


def _choose(joint: Joint) -> SetEngine:
    own = joint.prior.engine(joint)
    if own is not None:
        return own
    if joint.prior.on.kind == "finite" and joint.mechanism.finite:
        from borel.engine.prior_sets.finite_figures import FiniteSetEngine

        return FiniteSetEngine(joint)
    if joint.prior.on.kind == "finite":
        from borel.engine.prior_sets.outcome_figures import SetOutcomes

        return SetOutcomes(joint)
    from borel.priors.line_figures import SetLines

    return SetLines(joint)


def nominal_joint(joint: Joint) -> Joint | None:
    """Return the joint of the nominal prior of a set with the mechanism; None if it has none."""
    prior = joint.prior.nominal
    if prior is None:
        return None
    return joint._memo.fact("nominal joint", lambda: prior * joint.mechanism)


class SetLeakage:
    r"""PML or PMC over a set of priors: at an outcome, over a curve and over all outcomes.

    .. math:: \sup_{P \in \mathcal P} \ell_P(X \to y), \qquad
              \sup_{P \in \mathcal P} \operatorname{ess\,sup}_y \ell_P(X \to y)

    The second is the epsilon of :math:`(\varepsilon, \mathcal P)`-PML (or -PMC). Made by ``bl.pml``
    and ``bl.pmc`` of ``prior_set * mech``.

    Parameters
    ----------
    joint : Joint
        ``prior_set * mech``.
    kind : {"pml", "pmc"}
        Which leakage.

    Notes
    -----
    The witness of a figure names the outcome, and the worst ``prior`` where one is found. Of a ball
    around a continuous prior it is the secret that the worst members move mass ``towards``.

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise Maximal
    Leakage", Definition 2.6.
    """

    __array_ufunc__ = None

    def __init__(self, joint: Joint, kind: str):
        self.joint, self.kind = joint, kind

    def __call__(self, y: Any) -> Bound | xr.Dataset:
        """Return the supremum over the set at one outcome, a Bound, or at many, a Dataset.

        Returns
        -------
        Bound or Dataset
            In nats. ``witness`` holds the outcome, the secret and the worst ``prior``, a Measure;
            ``attained`` says whether it attains the supremum or is only approached. The statuses of
            many outcomes are what the engine proves.

        Raises
        ------
        OutsideAlphabet
            An outcome that is not in the alphabet.
        """
        import xarray as xr

        from borel.figures.leakage import _coordinate, _flat, _is_single, _representable

        outcome = self.joint.outcome
        if _is_single(outcome, y):
            outcome.check(y)
            _representable(outcome, y)
            about = self.kind, y
            return asked(self.joint, "at", about, lambda: engine_of(self.joint).at(*about))
        points = _flat(outcome, y)
        outcome.check(points)
        _representable(outcome, points)
        low, high, status = within_budget(lambda: engine_of(self.joint).curve(self.kind, points))
        statuses = np.broadcast_to(np.asarray(status), np.shape(low))
        return xr.Dataset(
            {
                "lower": ("y", low, {"units": "nats"}),
                "upper": ("y", high, {"units": "nats"}),
                "status": ("y", statuses.astype(str)),
            },
            {"y": _coordinate(points)},
            {"quantity": f"{self.kind} over {self.joint.prior!r}", "units": "nats"},
        )

    def sup(self) -> Bound:
        """Return the supremum over the set and the outcomes: the epsilon of (epsilon, P)-PML."""
        compute = lambda: engine_of(self.joint).sup(self.kind)  # noqa: E731
        make = lambda: asked(self.joint, "sup", (self.kind,), compute)  # noqa: E731
        return self.joint._memo.figure(("supremum over a set", self.kind), make)

    @property
    def nominal(self) -> Any:
        """The leakage under the nominal prior of the set, a `LeakageVariable`; None without one."""
        from borel.figures.leakage import LeakageVariable

        joint = nominal_joint(self.joint)
        return None if joint is None else LeakageVariable(joint, self.kind)

    def worst(self, y: Any) -> Any:
        """Return the worst prior at one outcome, a Measure."""
        found = self(y)
        if not isinstance(found, Bound):
            raise InvalidInput("worst", expected="one outcome", got="an array")
        return (found.witness or {}).get("prior")

    def tail(self, *_: Any, **__: Any) -> Any:
        """Refuse: each member has its own law of the outcome."""
        raise NotYet(
            "the law of the leakage over a set of priors",
            missing="suprema of tails and quantiles over the members",
            instead=".sup(), or the law under one prior.",
        )

    quantile = cdf = mean = exp_mean = expectation = tail

    def plot(self, **kwargs: Any) -> Any:
        """Plot the supremum against the outcome, with the nominal prior's leakage."""
        from borel.figures.leakage_plots import plot_leakage

        return plot_leakage(self, **kwargs)

    def __repr__(self) -> str:
        """Show which leakage, and of what."""
        return f"SetLeakage({self.kind} over {self.joint.prior!r} * {self.joint.mechanism!r})"
