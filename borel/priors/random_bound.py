"""RandomBound: a figure that is random over posterior draws, and what may be claimed of its law.

Quantiles come with order-statistic intervals, probabilities with Clopper-Pearson intervals. With
Markov chain draws their sizes are effective sample sizes, which is asymptotic, and listed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import _compat
from borel.constants import inside, real
from borel.errors import InvalidInput
from borel.numerics.intervals.rounding import fraction_down
from borel.priors.confidence_intervals import binomial, bounded_mean
from borel.priors.diagnostics import REMEDY, diagnose
from borel.priors.random_verdict import RandomVerdict
from borel.probability.bound import Bound, largest, weakest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import xarray as xr

EXACT_DRAWS = "independent exact posterior draws"
ASYMPTOTIC = "asymptotic: effective sample size of the Markov chain draws"
THESE_DRAWS = "of these draws only: nothing is said of the posterior beyond them"
_CEILING = "LDP over all secrets, which bounds PML and PMC under every prior"


class Region(NamedTuple):
    """The two ends of an interval of posterior mass, each a Bound."""

    lower: Bound
    upper: Bound


class RandomBound:
    """A Bound for every posterior draw.

    Attributes
    ----------
    draws : Dataset
        ``lower``, ``upper`` and ``status`` over (chain, draw).
    name : str
        What it is.
    units : str
        As of a `Bound`.
    trouble : str
        Why nothing may be claimed from the draws (R-hat, ESS, none), with the remedy; or empty.

    Examples
    --------
    >>> import borel as bl
    >>> data = bl.models.dirichlet_posterior([30, 70], random_seed=1)
    >>> learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    >>> mech = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> epsilon = bl.pml(learnt * mech).sup()
    >>> epsilon.cdf(0.8).status
    'statistical'
    """

    __array_ufunc__ = None

    def __init__(
        self,
        draws: xr.Dataset | tuple[np.ndarray, np.ndarray, str],
        *,
        name: str,
        exact_draws: bool,
        trouble: str,
        assumptions: tuple[str, ...] = (),
        reason: str = "",
        units: str = "nats",
        least: float = 0.0,
        most: float = math.inf,
        of_draw: Callable[[int], Any] | None = None,
        ceiling: Callable[[], Bound | None] | None = None,
    ):
        self._draws = draws
        self.name = name
        self.exact_draws = exact_draws
        self.assumptions = assumptions
        self.reason = reason
        self.units = units
        self.least, self.most = least, most
        self._of_draw = of_draw  # the question that a draw's figure answers, by its position
        self._ceiling = ceiling  # what bounds the figure under every prior
        self._trouble = trouble
        self._own: str | None = None

    @classmethod
    def from_draws(cls, lower: np.ndarray, upper: np.ndarray, *, status: str, **about: Any):
        """Make one from enclosures of shape (chain, draw)."""
        return cls((lower, upper, status), **about)

    @cached_property
    def draws(self) -> xr.Dataset:
        """``lower``, ``upper`` and ``status`` over (chain, draw)."""
        import xarray as xr

        if isinstance(self._draws, xr.Dataset):
            return self._draws
        (lower, upper, status), dims = self._draws, ("chain", "draw")
        return xr.Dataset(
            {
                "lower": (dims, lower, {"units": self.units}),
                "upper": (dims, upper, {"units": self.units}),
                "status": (dims, np.full(lower.shape, status)),
            },
            {"chain": np.arange(lower.shape[0]), "draw": np.arange(lower.shape[1])},
            {"quantity": self.name, "units": self.units, "status": status},
        )

    @property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """``lower`` and ``upper`` without labels: a law asks for them at many thresholds."""
        if isinstance(self._draws, tuple):
            return self._draws[:2]
        return self._draws["lower"].values, self._draws["upper"].values

    def __getstate__(self) -> dict[str, Any]:
        """Keep the draws themselves, for pickle and copy: no function, and no joint."""
        state = {**vars(self), "_of_draw": None, "_ceiling": None}
        state["ceiling"] = self.ceiling if self.trouble else None
        return state

    @classmethod
    def empty(cls, name: str, trouble: str) -> RandomBound:
        """Make one without draws: every figure is undecided."""
        zero = np.zeros((0, 0))
        return cls.from_draws(
            zero, zero, status="exact", name=name, exact_draws=False, trouble=trouble
        )

    def larger(self, other: RandomBound, *, name: str, **about: Any) -> RandomBound:
        """Return the larger of two figures, draw by draw.

        Both must be of the same draws: the groups of one hierarchical posterior, say.
        """
        if self._ends[0].shape != other._ends[0].shape or self.units != other.units:
            raise InvalidInput(
                "RandomBound.larger",
                expected=f"a figure in {self.units} of the same draws",
                got=f"{other!r} in {other.units}",
            )
        low, high = map(np.maximum, self._ends, other._ends)

        def ceiling() -> Bound | None:
            known = [b for b in (self.ceiling, other.ceiling) if b is not None]
            return largest(known) if len(known) == 2 else None

        return RandomBound.from_draws(
            low,
            high,
            status=weakest([self._each, other._each]),
            name=name,
            exact_draws=self.exact_draws and other.exact_draws,
            trouble=self._trouble or other._trouble,
            assumptions=tuple(dict.fromkeys(self.assumptions + other.assumptions)),
            reason=self.reason or other.reason,
            units=self.units,
            least=max(self.least, other.least),
            most=max(self.most, other.most),
            ceiling=ceiling,
            **about,
        )

    def to_datatree(
        self,
        data: Any = None,
        *,
        name: str = "",
        include: Sequence[str] | None = None,
        model: Any = None,
    ) -> xr.DataTree:
        """Return the figure as a variable of a DataTree, beside the posterior it came from.

        Parameters
        ----------
        data, include, model
            As in `borel.leakage_tree`.
        name : str
            Of the variable; that of the figure if not given.

        Examples
        --------
        >>> import borel as bl
        >>> data = bl.models.dirichlet_posterior([30, 70], random_seed=1)
        >>> learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
        >>> mech = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
        >>> tree = bl.pml(learnt * mech).sup().to_datatree(data, name="epsilon")
        >>> sorted(tree["posterior"].data_vars)
        ['epsilon', 'p']
        """
        from borel.priors.datatrees import leakage_tree

        return leakage_tree({name or self.name: self}, data, include=include, model=model)

    # -- what the draws allow ---------------------------------------------------------------

    @property
    def size(self) -> int:
        """Number of draws."""
        return self._ends[0].size

    @property
    def status(self) -> str:
        """The status of each draw's Bound; undecided when the draws are in trouble."""
        return "undecided" if self.trouble else self._each

    @property
    def _each(self) -> str:
        return self._draws[2] if isinstance(self._draws, tuple) else self._draws.attrs["status"]

    @cached_property
    def ceiling(self) -> Bound | None:
        """A proved figure that is at least this one under every prior, needing no draws; or None.

        Of suprema, quantiles and means of PML and PMC: LDP over all secrets. It is asked for when
        the draws are in trouble.
        """
        found = None if self._ceiling is None else self._ceiling()
        return found if found is not None and found.proved and found.upper < math.inf else None

    @property
    def trouble(self) -> str:
        """Why nothing may be claimed: of the parameters, or of this figure's own draws."""
        if self._trouble or self.exact_draws:
            return self._trouble
        if self._own is None:
            found = diagnose(self._middle(), self.name)
            self._own = found + REMEDY if found else ""
        return self._own

    def _middle(self) -> xr.DataArray:
        import xarray as xr

        low, high = self._ends
        with np.errstate(invalid="ignore"):
            known = np.isfinite(high) & np.isfinite(low)
            middle = np.where(known, low + (high - low) / 2, np.where(known, 0.0, high))
        return xr.DataArray(middle, dims=("chain", "draw"))

    def _capped(self) -> xr.DataArray:
        """Return the draws for ranks: an infinity is only the largest, or smallest, value."""
        values = self._middle()
        finite = np.isfinite(values.values)
        if finite.all():
            return values
        cap = float(np.abs(values.values[finite]).max(initial=0.0)) * 2 + 1
        return values.copy(data=np.clip(values.values, -cap, cap))

    def _effective(self, ess: Any) -> float:
        """Return the number of independent draws these are worth."""
        if self.exact_draws:
            return float(self.size)
        values = self._capped()
        if float(values.max()) == float(values.min()):
            return float(self.size)
        worth = float(ess(values))
        return float(min(max(worth if np.isfinite(worth) else 1.0, 1.0), self.size))

    def _made(self, low: float, high: float, confidence: float, **about: Any) -> Bound:
        about = {"units": self.units, **about}
        notes = (*self.assumptions, EXACT_DRAWS if self.exact_draws else ASYMPTOTIC)
        notes += about.pop("notes", ())
        if self._each == "estimate":
            reason = f"over estimates of each draw: {self.reason}"
            if math.isinf(low) or math.isinf(high):
                return Bound.undecided(reason=reason, assumptions=notes, **about)
            middle = low + (high - low) / 2
            return Bound.estimate(
                middle, max(high - middle, middle - low), reason=reason, assumptions=notes, **about
            )
        return Bound.statistical(low, high, confidence=confidence, assumptions=notes, **about)

    def _refused(self, **about: Any) -> Bound:
        """Return what is known without the draws: the ceiling, or nothing."""
        about = {"reason": self.trouble, "units": self.units, **about}
        top = self.ceiling
        if top is None:
            return Bound.undecided(self.least, self.most, assumptions=self.assumptions, **about)
        about["reason"] += f"; the upper end is {_CEILING}"
        ends = self.least, min(self.most, top.upper)
        why = about.pop("reason")
        found = Bound.of(_wide(top), *ends, assumptions=top.assumptions, **about)
        return found.about(reason=why)

    def _below_ceiling(self, t: float, ratio: Fraction | None = None) -> Bound | None:
        """Return that the figure is at most t for certain, if no claim from the draws is needed."""
        top = self.ceiling if self.trouble else None
        if top is None or (top.upper > t and (ratio is None or top.ratio.upper > ratio)):
            return None
        about: dict[str, Any] = {"assumptions": top.assumptions, "units": "probability"}
        found = Bound.of(top.status, 1.0, 1.0, **about)
        return found.about(reason=f"{self.trouble}; the threshold is not below {_CEILING}")

    # -- figures ----------------------------------------------------------------------------

    def quantile(self, q: float, *, confidence: float = 0.95) -> Bound:
        """Return a posterior quantile, with its Monte Carlo error.

        Parameters
        ----------
        q : float
            Level in (0, 1): the smallest epsilon that some set of priors of posterior mass q has.
        confidence : float
            Probability with which the interval covers the quantile.

        Returns
        -------
        Bound
            ``statistical``: order statistics whose ranks are binomial quantiles; undecided when
            the draws are in trouble; an estimate when each draw's figure is one.
        """
        q = inside("RandomBound.quantile", "q", q)
        confidence = inside("RandomBound.quantile", "confidence", confidence)
        if self.trouble:
            return self._refused()
        from scipy.stats import binom

        n = self._effective(lambda v: _compat.ess_quantile(v, q))
        whole = max(1, math.floor(n))
        alpha = 1 - confidence
        # P(X_(l) <= quantile <= X_(u)) >= 1 - alpha when B ~ Bin(n, q) lies in [l, u - 1]
        low_rank = int(binom.ppf(alpha / 2, whole, q))
        high_rank = int(binom.ppf(1 - alpha / 2, whole, q)) + 1
        size = self.size
        first = math.floor(low_rank * size / whole)
        last = math.ceil(high_rank * size / whole)
        lower, upper = (end.ravel() for end in self._ends)
        low = float(np.partition(lower, first - 1)[first - 1]) if first >= 1 else self.least
        high = float(np.partition(upper, last - 1)[last - 1]) if last <= size else self.most
        return self._made(low, max(high, low), confidence)

    def smallest(self, alpha: float = 0.05, *, confidence: float = 0.95) -> Bound:
        r"""Return the smallest level that a set of priors of posterior mass 1 - alpha can have.

        .. math:: \inf\{t : P(\varepsilon \le t) \ge 1 - \alpha\}

        Any set of priors of that mass has a supremum at least as large, and the set of all priors
        with a level of at most t attains it.

        Parameters
        ----------
        alpha : float
            Posterior mass that is left out.
        confidence : float
            Probability with which the interval covers.

        Returns
        -------
        Bound
            ``quantile(1 - alpha)``.

        Examples
        --------
        >>> import borel as bl
        >>> data = bl.models.dirichlet_posterior([30, 70], random_seed=1)
        >>> learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
        >>> mech = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
        >>> bl.pml(learnt * mech).sup().smallest(alpha=0.1).status
        'statistical'
        """
        alpha = inside("RandomBound.smallest", "alpha", alpha)
        return self.quantile(1 - alpha, confidence=confidence)

    def largest_draw(self) -> Bound:
        """Return the largest figure of these draws, which says nothing beyond them.

        Returns
        -------
        Bound
            With the status of each draw's Bound and the assumption "of these draws only"; the
            witness is the chain and the draw. Undecided when the draws are in trouble.
        """
        if self.trouble:
            return self._refused()
        low, high = self._ends
        place = np.unravel_index(int(np.argmax(low)), low.shape)
        about: dict[str, Any] = {
            "assumptions": (*self.assumptions, THESE_DRAWS),
            "units": self.units,
            "witness": {"chain": int(place[0]), "draw": int(place[1])},
        }
        ends = float(low.max()), float(high.max())
        if self._each == "estimate":
            middle = (ends[0] + ends[1]) / 2 if ends[0] != ends[1] else ends[0]
            half = (ends[1] - ends[0]) / 2 if ends[0] != ends[1] else 0.0
            if math.isinf(middle):
                return Bound.undecided(reason=self.reason, **about)
            return Bound.estimate(middle, half, reason=self.reason, **about)
        if math.isinf(ends[1]) and not math.isinf(ends[0]):
            why = "the figure of some draw has no finite upper bound"
            return Bound.undecided(*ends, reason=why, **about)
        return Bound.of(self._each, *ends, **about)

    def one(self, *, chain: int, draw: int) -> Bound:
        """Return the figure of one draw of the prior, which can be certified.

        Parameters
        ----------
        chain, draw : int
            Which one, by its coordinates in `draws`.

        Returns
        -------
        Bound
            With the status of each draw's Bound; ``.certify()`` gives it a certificate, if this is
            the figure as it was computed, neither loaded nor copied.

        Examples
        --------
        >>> import borel as bl
        >>> data = bl.models.dirichlet_posterior([30, 70], random_seed=1)
        >>> learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
        >>> mech = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
        >>> bl.pml(learnt * mech).sup().one(chain=0, draw=17).certify().certificate["figure"]
        'pml.sup'
        """
        shape = self._ends[0].shape
        for name, value, size in zip(("chain", "draw"), (chain, draw), shape, strict=True):
            if not (isinstance(value, int | np.integer) and 0 <= value < size):
                raise InvalidInput(
                    "RandomBound.one", expected=f"{name} in 0..{size - 1}", got=repr(value)
                )
        place = {"chain": int(chain), "draw": int(draw)}
        low, high = (float(end[chain, draw]) for end in self._ends)
        about: dict[str, Any] = {"assumptions": self.assumptions, "units": self.units}
        about["witness"] = place
        found = Bound.of(self._each, low, high, reason=self.reason, **about)
        if self._of_draw is None or not found.proved:
            return found
        return found.answering(self._of_draw(chain * shape[1] + draw))

    def nearest(self, value: float) -> dict[str, int]:
        """Return the chain and the draw of the figure that is nearest to a value."""
        away = np.abs(self._capped().values - value)
        chain, draw = np.unravel_index(int(np.argmin(away)), away.shape)
        return {"chain": int(chain), "draw": int(draw)}

    def cdf(self, t: float, *, confidence: float = 0.95) -> Bound:
        """Return the posterior probability that the figure is at most t: P(guarantee holds).

        Parameters
        ----------
        t : float
            Threshold, in nats.
        confidence : float
            Probability with which the interval covers.

        Returns
        -------
        Bound
            A probability, ``statistical`` (Clopper-Pearson).
        """
        t = self._threshold(t)
        return self.between(t, t, confidence=confidence)

    def between(self, low_t: float, high_t: float, *, confidence: float = 0.95) -> Bound:
        """Return P(figure <= t) for a threshold t known to lie in [low_t, high_t]."""
        if (sure_of_all := self._below_ceiling(low_t)) is not None:
            return sure_of_all
        sure, possible = self.draws["upper"] <= low_t, self.draws["lower"] <= high_t
        return self.probability(sure, possible, confidence=confidence)

    def probability(
        self, sure: xr.DataArray, possible: xr.DataArray, *, confidence: float = 0.95
    ) -> Bound:
        """Return the posterior probability of an event of the draws, with its Monte Carlo error.

        Parameters
        ----------
        sure, possible : DataArray of bool, dims (chain, draw)
            Where the event certainly holds, and where it may.
        confidence : float
            Probability with which the interval covers.
        """
        confidence = inside("RandomBound.cdf", "confidence", confidence)
        about = {"units": "probability"}
        if self.trouble:
            return Bound.undecided(
                0.0, 1.0, reason=self.trouble, assumptions=self.assumptions, **about
            )
        n = self._effective(lambda v: _indicator_ess(v, sure))
        low, high = binomial(float(sure.mean()) * n, float(possible.mean()) * n, n, confidence)
        return self._made(low, max(low, high), confidence, **about)

    def mean(self, *, confidence: float = 0.95) -> Bound:
        """Return the posterior mean with its Monte Carlo error.

        For probabilities the error holds at any number of independent draws; else the mean is
        taken to be asymptotically normal, which is listed.
        """
        confidence = inside("RandomBound.mean", "confidence", confidence)
        if self.trouble:
            return self._refused()
        low, high = self._ends
        if np.isinf(high).any():
            return Bound.undecided(
                reason=f"{int(np.isinf(high).sum())} of {self.size} draws have no finite bound",
                assumptions=self.assumptions,
                units=self.units,
            )
        if self.size < 2:
            return Bound.undecided(
                reason="one draw has no spread", assumptions=self.assumptions, units=self.units
            )
        n = self._effective(_compat.ess_mean)
        if self.units == "probability":
            ends = bounded_mean(low, n, confidence)[0], bounded_mean(high, n, confidence)[1]
            return self._made(*ends, confidence)
        from scipy.stats import norm

        error = float(norm.ppf((1 + confidence) / 2)) * float(np.std(high, ddof=1)) / math.sqrt(n)
        notes = ("asymptotic: normal approximation of the mean",)
        least = max(self.least, float(low.mean()) - error)
        return self._made(least, float(high.mean()) + error, confidence, notes=notes)

    def eti(self, prob: float = 0.95, *, confidence: float = 0.95) -> Region:
        """Return the interval that leaves (1 - prob) / 2 of the posterior on either side.

        Parameters
        ----------
        prob : float
            Posterior mass of the interval.
        confidence : float
            Probability with which both ends are covered.

        Returns
        -------
        Region
            Two quantiles, ``statistical``; their confidences add up to the one stated.
        """
        prob = inside("RandomBound.eti", "prob", prob)
        confidence = inside("RandomBound.eti", "confidence", confidence)
        each = 1 - (1 - confidence) / 2
        levels = (1 - prob) / 2, (1 + prob) / 2
        return Region(*(self.quantile(level, confidence=each) for level in levels))

    def hdi(self, prob: float | None = None) -> Region:
        """Return the shortest interval of posterior mass ``prob``.

        Parameters
        ----------
        prob : float, optional
            Posterior mass; ``arviz_base.rcParams["stats.ci_prob"]`` if not given.

        Returns
        -------
        Region
            ``lower`` and ``upper``: estimates, whose error is the spread over two halves of the
            draws; no interval for an HDI end is proved.
        """
        prob = inside("RandomBound.hdi", "prob", _compat.ci_prob() if prob is None else prob)
        if self.trouble:
            return Region(self._refused(), self._refused())
        values = self._middle()
        if not np.isfinite(values.values).all():
            why = "a shortest interval needs finite draws: use .quantile"
            return Region(*(Bound.undecided(reason=why) for _ in range(2)))
        ends = _compat.hdi(values, prob)
        half = values.sizes["draw"] // 2
        parts = [values.isel(draw=slice(None, half)), values.isel(draw=slice(half, None))]
        spread = [_compat.hdi(part, prob) for part in parts] if half >= 2 else [ends, ends]
        bounds = []
        for i, end in enumerate(ends):
            error = max(abs(float(s[i]) - float(end)) for s in spread)
            bounds.append(
                Bound.estimate(
                    float(end),
                    error,
                    assumptions=self.assumptions,
                    reason="an end of a shortest interval over draws",
                    units=self.units,
                )
            )
        return Region(*bounds)

    # -- verdicts ---------------------------------------------------------------------------

    def __le__(self, t: float) -> RandomVerdict:
        """Return a verdict that is undecided as it stands, and answers at a confidence.

        It holds with some posterior probability: ``(epsilon <= t).at(confidence=0.95)``.
        """
        t = self._threshold(t)
        return self.at_most(t, t)

    @staticmethod
    def _threshold(t: Any) -> float:
        """Return the float at or below a threshold: a float is at most both or neither."""
        number = real("RandomBound.cdf", t, "a number (nats)")
        return number if isinstance(number, float) else fraction_down(Fraction(number))

    def at_most(self, low_t: float, high_t: float, ratio: Fraction | None = None) -> RandomVerdict:
        """Compare with a threshold known to lie in [low_t, high_t], the logarithm of a ratio."""
        if (sure_of_all := self._below_ceiling(low_t, ratio)) is not None:
            return RandomVerdict(True, sure_of_all)
        sure, possible = self.draws["upper"] <= low_t, self.draws["lower"] <= high_t
        return RandomVerdict.of(self, sure, possible, f".cdf({high_t!r})")

    def __repr__(self) -> str:
        """Show what it is, the draws, and a few quantiles."""
        chains, draws = self._ends[0].shape
        if self.trouble:
            return f"RandomBound({self.name}: undecided, {self.trouble})"
        middle = np.quantile(self._middle().values, [0.05, 0.5, 0.95], method="inverted_cdf")
        shown = ", ".join(f"{m:.4g}" for m in middle)
        return (
            f"RandomBound({self.name}: {chains} x {draws} draws, "
            f"~ 5 %, 50 %, 95 % quantiles {shown}; each draw {self._each})"
        )

    def _repr_html_(self) -> str:
        from html import escape

        return f"<div><code>{escape(repr(self))}</code></div>"


def _wide(top: Bound) -> str:
    """Return the status of an enclosure up to a ceiling, which itself may be a closed form."""
    return weakest([top.status, "certified"])


def _indicator_ess(values: Any, event: Any) -> float:
    """ESS of an indicator; of the figure itself when the indicator is constant."""
    if bool(event.all()) or not bool(event.any()):
        return float(_compat.ess_mean(values))
    return float(_compat.ess_mean(event.astype(float)))
