"""PML and PMC under a random prior: over draws, over outcomes, and over both together."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import _compat, settings
from borel.constants import inside, real
from borel.engine.certificates import Question
from borel.errors import BudgetSpent, InvalidInput, NotYet
from borel.numerics.intervals.rounding import log_fraction
from borel.priors.confidence_intervals import levels_for
from borel.priors.random_bound import RandomBound
from borel.probability.bound import Bound
from borel.probability.pickling import Remade

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr

    from borel.priors.prior_draws import PriorDraws
    from borel.probability.joint import Joint


def asked_of_draw(joint: Joint, figure: str, *arguments: Any) -> Callable[[int], Question]:
    """Return what gives the question that the figure of one draw answers, by its position."""
    options = settings.current()

    def question(place: int) -> Question:
        return Question(joint.prior.one(place) * joint.mechanism, figure, arguments, options)

    return question


def random_figure(
    joint: Joint,
    engine: Any,
    compute: Callable[[Any], Any],
    name: str,
    of_draw: Callable[[int], Question],
    ceiling: Callable[[], Bound | None] | None = None,
) -> RandomBound:
    """Return a figure of every draw, from what an engine gives of all of them."""
    learnt: PriorDraws = joint.prior
    if not learnt.size:
        return RandomBound.empty(name, learnt.trouble)
    with settings.one_figure(name):
        try:
            found = compute(engine)
        except BudgetSpent as error:
            from borel.engine.draws.parts import PerDraw

            unknown = np.zeros(learnt.size), np.full(learnt.size, np.inf)
            found = PerDraw(*unknown, reason=f"{error} within options(budget=...)")
    return RandomBound.from_draws(
        found.lower.reshape(learnt.shape),
        found.upper.reshape(learnt.shape),
        status=engine.status if engine.status == "estimate" else found.status or engine.status,
        name=name,
        exact_draws=learnt.exact,
        trouble=learnt.trouble,
        assumptions=engine.assumptions,
        reason=found.reason or engine.reason,
        units=found.units,
        least=found.least,
        most=found.most,
        of_draw=of_draw,
        ceiling=ceiling,
    )


def _ceiling(joint: Joint) -> Callable[[], Bound | None]:
    """Return what gives LDP over all secrets, which no draw exceeds, once it is asked for."""
    from borel.figures.levels import ldp_of_all_secrets

    return partial(ldp_of_all_secrets, joint, search=True)


class PosteriorLeakage(Remade):
    """PML or PMC under a random prior: at an outcome and over all outcomes, a `RandomBound`.

    Parameters
    ----------
    joint : Joint
        ``learnt * mech``.
    kind : {"pml", "pmc"}
        Which leakage.
    """

    __array_ufunc__ = None
    _made_of = ("joint", "kind")

    def __init__(self, joint: Joint, kind: str):
        self.joint = joint
        self.kind = kind

    def __call__(self, y: Any) -> RandomBound:
        """Return the random leakage at one outcome.

        Raises
        ------
        OutsideAlphabet
            y is not an outcome.
        InvalidInput
            Several outcomes: see `curve`.
        """
        from borel.figures.leakage import _is_single, _representable

        if not _is_single(self.joint.outcome, y):
            raise InvalidInput(
                "leakage over a posterior",
                expected="one outcome",
                got="an array",
                mend="use .curve(ys, prob) for a band over outcomes.",
            )
        self.joint.outcome.check(y)
        _representable(self.joint.outcome, y)
        return self._random(
            ("at", y), lambda engine: engine.at(self.kind, y), f"{self.kind} at y = {y!r}"
        )

    def sup(self) -> RandomBound:
        """Return the random epsilon: the supremum over outcomes under each draw of the prior."""
        return self._random(
            ("sup",), lambda engine: engine.sup(self.kind), f"epsilon of {self.kind}"
        )

    def curve(self, ys: Any, prob: float = 0.95) -> xr.Dataset:
        """Return the leakage over outcomes with its equal-tailed posterior band.

        Parameters
        ----------
        ys : array of labels
            Outcomes.
        prob : float
            Posterior mass of the band at each outcome.

        Returns
        -------
        Dataset
            ``lower``, ``median``, ``upper`` over y: quantiles over the draws (to plot; their
            Monte Carlo error is that of `RandomBound.quantile`).
        """
        import xarray as xr

        from borel.figures.leakage import _coordinate, _flat, _representable

        points = _flat(self.joint.outcome, ys)
        self.joint.outcome.check(points)
        _representable(self.joint.outcome, points)
        levels = [(1 - prob) / 2, 0.5, (1 + prob) / 2]
        rows = []
        for part in np.array_split(points, max(1, len(points) // 64)):
            low, high = self._engine().at_many(self.kind, part)
            with np.errstate(invalid="ignore"):  # inf - inf, where the leakage is infinite
                middle = np.where(np.isfinite(high), low + (high - low) / 2, high)
            rows.append(np.quantile(middle, levels, axis=0, method="inverted_cdf"))
        band = np.concatenate(rows, axis=1)
        return xr.Dataset(
            {
                n: ("y", band[i], {"units": "nats"})
                for i, n in enumerate(("lower", "median", "upper"))
            },
            {"y": _coordinate(points)},
            {"quantity": self.kind, "prob": prob, "units": "nats"},
        )

    def _engine(self) -> Any:
        from borel.engine import draws_engine

        key = "engine", settings.current()
        return self._memo.fact(key, lambda: draws_engine(self.joint))

    def _random(self, asked: tuple, compute: Any, name: str) -> RandomBound:
        def figure() -> RandomBound:
            engine = self._engine() if self.joint.prior.size else None
            of_draw = asked_of_draw(self.joint, asked[0], self.kind, *asked[1:])
            # a version at one outcome may leak more than the essential supremum
            most = _ceiling(self.joint) if asked == ("sup",) else None
            return random_figure(self.joint, engine, compute, name, of_draw, most)

        if asked == ("sup",):  # LIP, guarantees and quantiles read it as well
            return self.joint._memo.apart((*asked, self.kind, settings.current()), figure, name)
        return self._memo.figure(repr(asked), figure)

    # -- the law over the prior and the outcome together ------------------------------------------

    @property
    def by_draw(self) -> ByDraw:
        r"""The law of the leakage over outcomes under each draw: every figure a `RandomBound`.

        ``ell.by_draw.tail(t).cdf(delta)`` is the posterior probability of
        :math:`P_Y\{\ell > t\} \le \delta`, that is of (t, delta)-PML.
        """
        return ByDraw(self)

    def tail(
        self, t: Any = None, *, closed: bool = False, ratio: Any = None, confidence: float = 0.95
    ) -> Bound:
        r"""Return P{leakage > t} over the prior and the outcome together.

        .. math:: P\{\ell_\theta(Y) > t\} = E\big[ P_{Y|\theta}\{\ell_\theta(Y) > t\} \big],
                  \quad \theta \sim \text{posterior},\; Y | \theta \sim P_{Y|\theta}

        Parameters
        ----------
        t : float
            Threshold, in nats.
        closed : bool
            Whether the threshold counts.
        ratio : int or Fraction
            e^t exactly, instead of t.
        confidence : float
            Probability with which the interval covers.

        Returns
        -------
        Bound
            A probability, ``statistical``: the mean over draws of exact tails, with an interval for
            means of quantities in [0, 1] that holds at any number of independent draws; for Markov
            chains their number is an effective sample size, listed as asymptotic. Undecided when
            the draws are in trouble.

        Raises
        ------
        NotYet
            Draws of which no figure is enclosed (`borel.priors.from_posterior`).

        Notes
        -----
        If epsilon-PML holds with posterior probability 1 - alpha, or (epsilon, delta)-PML does,
        then :math:`P\{\ell_\theta(Y) > \epsilon\} \le \alpha`, or :math:`\alpha + \delta`.
        """
        return self.by_draw.tail(t, closed=closed, ratio=ratio).mean(confidence=confidence)

    def cdf(self, t: Any = None, *, ratio: Any = None, confidence: float = 0.95) -> Bound:
        """Return P{leakage <= t} over the prior and the outcome together; see `tail`."""
        return self.by_draw.cdf(t, ratio=ratio).mean(confidence=confidence)

    def mean(self, *, confidence: float = 0.95) -> Bound:
        """Return the mean of the leakage over the prior and the outcome together, in nats."""
        return self.by_draw.mean().mean(confidence=confidence)

    def exp_mean(self, *, confidence: float = 0.95) -> Bound:
        """Return E e^leakage over the prior and the outcome together."""
        return self.by_draw.exp_mean().mean(confidence=confidence)

    def expectation(self, *_: Any, **__: Any) -> Any:
        """Refuse: functions of the leakage are not averaged over draws of the prior."""
        raise NotYet(
            "leakage.expectation",
            missing="a posterior over priors",
            instead="ell.mean(), ell.exp_mean(), or one prior: learnt.one(draw) * mech.",
        )

    def quantile(self, s: float, *, confidence: float = 0.95) -> Bound:
        r"""Return inf{t : P{leakage <= t} >= s} over the prior and the outcome together.

        Parameters
        ----------
        s : float
            Level in (0, 1), 1 - delta.
        confidence : float
            Probability with which the interval covers.

        Returns
        -------
        Bound
            In nats, ``statistical``; the upper end is inf where the draws are too few for s.

        Notes
        -----
        At the quantile t the mean over n draws of the cdf at t, a quantity in [0, 1] of expectation
        at least s, lies below x with probability :math:`e^{-n\, kl(x, s)}` at most (Hoeffding);
        just before t it lies above x' likewise. So t lies between the pooled quantiles of the
        draws at the levels x and x' of :math:`n\, kl = \log(2 / (1 - confidence))`.
        """
        s = inside("quantile over a posterior", "s", s)
        confidence = inside("quantile over a posterior", "confidence", confidence)
        epsilon = self.sup()
        if epsilon.trouble:
            return epsilon._refused()
        engine = self._engine()
        _, high = epsilon._ends
        top = float(high[np.isfinite(high)].max(initial=1.0)) * 1.001
        # what the draws are worth: the least over the cdfs at both ends
        size = self.joint.prior.size
        middle = engine.pooled_quantiles(self.kind, s, s, top)
        laws = [self.by_draw.cdf(t) for t in middle if math.isfinite(t)]
        if trouble := next((law.trouble for law in laws if law.trouble), ""):
            return Bound.undecided(reason=trouble, assumptions=epsilon.assumptions)
        n = min([float(size), *(law._effective(_compat.ess_mean) for law in laws)])
        levels = levels_for(s, n, (1 - confidence) / 2)
        low, high_end = engine.pooled_quantiles(self.kind, *levels, top)
        return epsilon._made(low, max(low, high_end), confidence)

    def plot(self, **kwargs: Any) -> Any:
        """Plot the leakage against the outcome with its posterior band."""
        from borel.figures.leakage_plots import plot_leakage

        return plot_leakage(self, **kwargs)

    def __repr__(self) -> str:
        """Show which leakage, and of what."""
        return f"PosteriorLeakage({self.kind} of {self.joint!r})"


_BELOW_SUP = ("mean", "quantile")


class ByDraw:
    """The law of a leakage over outcomes under each draw of the prior.

    Made by `PosteriorLeakage.by_draw`. Each figure is a `RandomBound`, enclosed for every draw.

    Raises
    ------
    NotYet
        Draws of which no figure is enclosed: see `borel.priors.from_posterior`.

    Notes
    -----
    Where secrets or outcomes are continuous, the enclosure of each draw is less close the more
    there are, from 1000 draws on: under Laplace noise at 4000 draws a tail may be some 5e-4 wide,
    and 2e-3 at levels near its largest leakage. What the draws leave open is far more; fewer draws,
    or ``learnt.one(draw) * mech``, tell more of one prior.
    """

    __array_ufunc__ = None

    def __init__(self, variable: PosteriorLeakage):
        self._variable = variable

    def _figure(self, name: str, label: str, *arguments: Any) -> RandomBound:
        """Compute a figure; laws are asked at many thresholds, so that none is kept."""
        variable, asked = self._variable, (self._variable.kind, *arguments)
        engine = variable._engine() if variable.joint.prior.size else None
        of_draw = asked_of_draw(variable.joint, name, *asked)
        compute = lambda engine: engine.figure(name, *asked)  # noqa: E731
        most = _ceiling(variable.joint) if name in _BELOW_SUP else None
        return random_figure(variable.joint, engine, compute, label, of_draw, most)

    def tail(self, t: Any = None, *, closed: bool = False, ratio: Any = None) -> RandomBound:
        """Return P_Y{leakage > t} under each draw; with ``closed=True``, P_Y{leakage >= t}.

        Instead of t, ``ratio`` is e^t, an int or Fraction: then the ends are those of the two
        floats around its logarithm.
        """
        from borel.figures.leakage import threshold

        t, ratio = threshold("leakage.tail", t, ratio)
        ends = (t, t) if ratio is None else log_fraction(ratio)
        kind, sign = self._variable.kind, ">=" if closed else ">"
        name = f"P({kind} {sign} {_level(t, ratio)})"
        if ends[0] == ends[1]:
            return self._figure("tail", name, ends[0], closed)

        def compute(engine: Any) -> Any:
            least = engine.figure("tail", kind, ends[1], True)
            return engine.figure("tail", kind, ends[0], False)._replace(lower=least.lower)

        variable, about = self._variable, ("tail_at_ratio", self._variable.kind, ratio, closed)
        engine = variable._engine() if variable.joint.prior.size else None
        of_draw = asked_of_draw(variable.joint, *about)
        return random_figure(variable.joint, engine, compute, name, of_draw)

    def cdf(self, t: Any = None, *, ratio: Any = None) -> RandomBound:
        """Return P_Y{leakage <= t} under each draw; instead of t, ``ratio`` is e^t."""
        above = self.tail(t, ratio=ratio)
        asked: tuple = ("cdf", t) if ratio is None else ("cdf_at_ratio", ratio)
        least, most = above._ends
        low, high = 1 - most, 1 - least
        # each subtraction rounds once
        low, high = np.nextafter(low, -1.0), np.nextafter(high, 2.0)
        return RandomBound.from_draws(
            np.clip(low, 0.0, 1.0),
            np.clip(high, 0.0, 1.0),
            status=above._each,  # these draws are diagnosed themselves
            name=f"P({self._variable.kind} <= {_level(t, ratio)})",
            exact_draws=above.exact_draws,
            trouble=self._variable.joint.prior.trouble,
            assumptions=above.assumptions,
            reason=above.reason,
            units="probability",
            most=1.0,
            of_draw=asked_of_draw(self._variable.joint, asked[0], self._variable.kind, asked[1]),
        )

    def quantile(self, s: Any, *, side: str = "left") -> RandomBound:
        """Return the quantile of the leakage at level s under each draw."""
        s = real("leakage.quantile", s, "a number s in [0, 1]")
        name = f"{float(s):.6g} quantile of {self._variable.kind}"
        return self._figure("quantile", name, s, side)

    def mean(self) -> RandomBound:
        """Return the mean of the leakage under each draw."""
        return self._figure("mean", f"mean of {self._variable.kind}")

    def exp_mean(self) -> RandomBound:
        """Return E e^leakage under each draw."""
        return self._figure("exp_mean", f"mean of e^{self._variable.kind}")

    def __repr__(self) -> str:
        """Show of what."""
        return f"ByDraw({self._variable!r})"


def _level(t: Any, ratio: Any) -> str:
    """Return a threshold as names show it."""
    return f"{float(t):.6g}" if ratio is None else f"log {ratio}"
