"""A posterior over priors: one prior per draw, and the leakage as a random variable over draws.

Nothing of size (draws, secrets, outcomes) is ever held: draws go through in blocks.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import _compat
from borel.engine.rounding import U
from borel.errors import InvalidInput, NotYet
from borel.measures import Measure, covers
from borel.priors.random_bound import RandomBound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import xarray as xr

    from borel.joint import Joint

BLOCK = 1000
"""Draws in a block: large enough for BLAS, small enough for the cache."""


def from_posterior(data: Any, build: Callable[[Any], Measure]) -> PosteriorPriors:
    """Make a posterior over priors: one prior for each posterior draw.

    Parameters
    ----------
    data : DataTree, InferenceData, or path of a .nc file
        With a ``posterior`` group of dims (chain, draw). The attribute ``borel_draws = "exact"``
        on that group declares independent exact draws (a conjugate posterior).
    build : callable
        Takes a mapping from variable names to DataArrays whose first dimension is the draws of a
        block, and returns a `Measure` with that leading axis: ``lambda draw: bl.pmf(draw["p"])``.

    Returns
    -------
    PosteriorPriors
        To be multiplied by a mechanism: ``learnt * mech``.

    Raises
    ------
    InvalidInput
        No posterior group, a ``build`` that returns no Measure, or draws that are no priors.

    Examples
    --------
    >>> import borel as bl
    >>> data = bl.models.dirichlet_posterior([30, 70], draws=100, random_seed=1)
    >>> bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    PosteriorPriors(4 x 100 exact draws of a prior on Finite(2))
    """
    import xarray as xr

    if isinstance(data, xr.Dataset):
        data = xr.DataTree.from_dict({"posterior": data})
    try:
        tree = _compat.as_datatree(data)
    except TypeError as error:
        raise InvalidInput(
            "from_posterior",
            expected="a DataTree, an InferenceData, a Dataset or the path of a .nc file",
            got=type(data).__name__,
            mend="pass what pm.sample returned.",
        ) from error
    if "posterior" not in tree.children:
        raise InvalidInput(
            "from_posterior",
            expected="a posterior group",
            got=f"groups {sorted(tree.children)}",
            mend="pass what pm.sample returned.",
        )
    posterior = tree["posterior"].to_dataset()
    missing = {"chain", "draw"} - set(posterior.dims)
    if missing:
        raise InvalidInput(
            "from_posterior", expected="dims chain and draw", got=str(tuple(posterior.dims))
        )
    return PosteriorPriors(posterior, build)


class PosteriorPriors:
    """A random prior: the law of the secret under each posterior draw; made by `from_posterior`.

    Attributes
    ----------
    posterior : Dataset
        The draws.
    exact : bool
        Whether they are declared independent exact draws.
    on : Alphabet
        The alphabet of the secret.
    """

    __array_ufunc__ = None

    def __init__(self, posterior: xr.Dataset, build: Callable[[Any], Measure]):
        self.posterior = posterior
        self.build = build
        self.exact = posterior.attrs.get("borel_draws") == "exact"
        self._template: Measure | None = None
        if self.size:
            self._template = self._measure(0, min(2, self.size))

    @property
    def shape(self) -> tuple[int, int]:
        """Chains and draws per chain."""
        return self.posterior.sizes["chain"], self.posterior.sizes["draw"]

    @property
    def size(self) -> int:
        """Number of draws in all."""
        return self.shape[0] * self.shape[1]

    @property
    def on(self) -> Any:
        """The alphabet of the secret; None for an empty posterior."""
        return None if self._template is None else self._template.on

    @cached_property
    def _stacked(self) -> dict[str, np.ndarray]:
        """The variables with chain and draw flattened into one leading axis."""
        out = {}
        for name, variable in self.posterior.data_vars.items():
            if {"chain", "draw"} <= set(variable.dims):
                values = variable.transpose("chain", "draw", ...).values
                out[name] = np.array(values.reshape(self.size, *values.shape[2:]))
                out[name].setflags(write=False)
        return out

    def _measure(self, start: int, stop: int) -> Measure:
        """Build the priors of the draws start, ..., stop - 1."""
        import xarray as xr

        block = _Draw()
        for name, values in self._stacked.items():
            rest = [d for d in self.posterior[name].dims if d not in ("chain", "draw")]
            coords = {
                d: self.posterior[name].coords[d].values
                for d in rest
                if d in self.posterior[name].coords
            }
            block[name] = xr.DataArray(values[start:stop], dims=("sample", *rest), coords=coords)
        measure = self.build(block)
        if not isinstance(measure, Measure):
            raise InvalidInput(
                "from_posterior",
                expected="a build that returns a Measure",
                got=type(measure).__name__,
            )
        if measure.batch != (stop - start,):
            raise InvalidInput(
                "from_posterior",
                expected=f"one prior for each of {stop - start} draws (a leading axis)",
                got=f"batch shape {measure.batch}",
                mend="keep the leading axis: no sums or means over the draws in build.",
            )
        if self._template is not None and measure.on != self._template.on:
            raise InvalidInput(
                "from_posterior",
                expected=f"priors on {self._template.on!r}",
                got=f"on {measure.on!r}",
            )
        return measure

    def blocks(self, size: int = BLOCK) -> Iterator[tuple[slice, Measure]]:
        """Yield slices of draws with their priors."""
        for start in range(0, self.size, size):
            stop = min(start + size, self.size)
            yield slice(start, stop), self._measure(start, stop)

    def mean_prior(self) -> Measure:
        """Return the mean of the draws of a finite prior: one prior, the posterior predictive.

        It is the law of a secret drawn under a prior that is itself drawn from these draws. Its
        support is the union of theirs. A figure under it is about this one prior, and says nothing
        of how the figure varies over the posterior.

        Returns
        -------
        Measure
            The mean of the probabilities, correctly rounded sums.

        Raises
        ------
        NotYet
            An alphabet of secrets that is not finite.
        InvalidInput
            No draws.

        Examples
        --------
        >>> import borel as bl
        >>> data = bl.models.dirichlet_posterior([30, 70], random_seed=1)
        >>> learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
        >>> learnt.mean_prior().probabilities.round(2)
        array([0.3, 0.7])
        """
        if not self.size:
            raise InvalidInput("mean_prior", expected="posterior draws", got="none")
        if self.on.kind != "finite":
            raise NotYet(
                "the mean of the draws of the prior",
                missing=f"priors on {self.on!r}, which is not finite",
            )
        parts = [prior for _, prior in self.blocks()]
        rounding = max(prior.rounding for prior in parts)
        p = np.concatenate([np.asarray(prior.probabilities, float) for prior in parts])
        mean = np.array([math.fsum(column) for column in p.T]) / self.size
        return Measure(
            mean, self.on, rounding=(rounding + 4 * U) * 1.0001, name="mean of the posterior draws"
        )

    @cached_property
    def trouble(self) -> str:
        """Why nothing may be claimed from these draws (R-hat, ESS), or an empty string."""
        if not self.size:
            return "the posterior is empty: it has no draws; sample it (pm.sample)"
        if self.exact:
            return ""
        worst = []
        moving = [
            v for v in self._stacked.values() if v.dtype.kind in "fiu" and np.ptp(v, axis=0).any()
        ]
        if self._stacked and not moving:
            return "no parameter moves: all draws are the same" + REMEDY
        for name, variable in self.posterior.data_vars.items():
            if name in self._stacked and variable.dtype.kind in "fiu":
                found = diagnose(variable, str(name))
                if found:
                    worst.append(found)
        if not worst:
            return ""
        shown = "; ".join(worst[:2]) + (f"; and {len(worst) - 2} more" if len(worst) > 2 else "")
        return shown + REMEDY

    def __mul__(self, mechanism: Any) -> Joint:
        """Return the joint of a random prior and a mechanism: ``learnt * mech``."""
        from borel.joint import Joint
        from borel.mechanism import Mechanism

        if not isinstance(mechanism, Mechanism):
            return NotImplemented
        if self._template is not None and not covers(mechanism.secret, self._template):
            raise InvalidInput(
                "learnt * mech",
                expected=f"priors within the secrets {mechanism.secret!r}",
                got=f"priors on {self.on!r}",
                mend="give both the same labels; labels are matched, never positions.",
            )
        return Joint(self, mechanism)

    def __matmul__(self, other: Any) -> Any:
        """Refuse: the marginal over a posterior of priors is not one law."""
        raise TypeError("learnt @ mech: write learnt * mech for the joint")

    def leakage_of(self, joint: Joint, kind: str) -> PosteriorLeakage:
        """Return the leakage of a joint with this random prior."""
        return PosteriorLeakage(joint, kind)

    def figure_of(self, joint: Joint, name: str, *arguments: Any) -> RandomBound:
        """Return a measure of a joint with this random prior: one figure for each draw.

        Raises
        ------
        NotYet
            A measure that is not computed over draws.
        """
        if name not in ("ldp", "lip", "mutual_information"):
            raise NotYet(
                f"bl.{name} over a posterior of priors",
                missing="this measure over draws",
                instead="bl.pml, bl.pmc, bl.ldp, bl.lip, bl.mutual_information.",
            )
        variables = {kind: PosteriorLeakage(joint, kind) for kind in ("pml", "pmc")}
        if name == "lip":
            first, second = (v.sup() for v in variables.values())
            return first.larger(second, name="LIP")
        return variables["pml"]._random(name, lambda engine: getattr(engine, name)(), name)

    def __repr__(self) -> str:
        """Show the number of draws, whether they are exact, and the alphabet."""
        chains, draws = self.shape
        how = "exact draws" if self.exact else "draws"
        return f"PosteriorPriors({chains} x {draws} {how} of a prior on {self.on!r})"


class _Draw(dict):
    """The variables of a block of draws by name; a missing name is an error that says so."""

    def __missing__(self, name: Any) -> Any:
        raise InvalidInput(
            "from_posterior",
            expected=f"one of the variables {sorted(self)}",
            got=repr(name),
            mend="build gets the posterior's variables by name.",
        )


REMEDY = (
    ". Remedy: more tuning and draws, more chains, or a better parametrisation; nothing is "
    "claimed from these draws"
)
RHAT_LIMIT = 1.01
ESS_LIMIT = 400


def diagnose(draws: xr.DataArray, name: str) -> str:
    """Return what is wrong with draws (chain, draw, ...), or an empty string."""
    values = draws.values
    if np.isnan(values).any():
        return f"{name} has NaN draws"
    if draws.sizes["chain"] < 2:
        return f"{name}: one chain only, R-hat needs two or more"
    # diagnostics are of ranks: an infinity is only the largest value
    finite = values[np.isfinite(values)]
    if finite.size < values.size:
        cap = float(finite.max(initial=0.0)) * 2 + 1
        draws = draws.copy(data=np.clip(values, -cap, cap))
    spread = draws.max(("chain", "draw")) - draws.min(("chain", "draw"))
    moving = spread.values > 0
    if not moving.any():
        return ""  # a constant has converged
    rhat = np.where(moving, _compat.rhat(draws).values, 1.0)
    bulk = np.where(moving, _compat.ess_bulk(draws).values, np.inf)
    tail = np.where(moving, _compat.ess_tail(draws).values, np.inf)
    problems = []
    if not np.nanmax(rhat) <= RHAT_LIMIT or np.isnan(rhat).any():
        problems.append(f"R-hat {np.max(rhat):.3f} > {RHAT_LIMIT}")
    for label, ess in (("bulk", bulk), ("tail", tail)):
        if not np.min(ess) >= ESS_LIMIT:
            problems.append(f"{label} ESS {np.min(ess):.0f} < {ESS_LIMIT}")
    return f"{name}: " + ", ".join(problems) if problems else ""


class PosteriorLeakage:
    """PML or PMC under a random prior: at an outcome and over all outcomes, a `RandomBound`.

    Parameters
    ----------
    joint : Joint
        ``learnt * mech``.
    kind : {"pml", "pmc"}
        Which leakage.
    """

    __array_ufunc__ = None

    def __init__(self, joint: Joint, kind: str):
        self.joint = joint
        self.kind = kind
        self._cache: dict[Any, Any] = {}

    def __call__(self, y: Any) -> RandomBound:
        """Return the random leakage at one outcome.

        Raises
        ------
        OutsideAlphabet
            y is not an outcome.
        InvalidInput
            Several outcomes: see `curve`.
        """
        from borel.leakage import _is_single

        if not _is_single(self.joint.outcome, y):
            raise InvalidInput(
                "leakage over a posterior",
                expected="one outcome",
                got="an array",
                mend="use .curve(ys, prob) for a band over outcomes.",
            )
        self.joint.outcome.check(y)
        return self._random(
            ("at", repr(y)), lambda engine: engine.at(self.kind, y), f"{self.kind} at y = {y!r}"
        )

    def sup(self) -> RandomBound:
        """Return the random epsilon: the supremum over outcomes under each draw of the prior."""
        return self._random("sup", lambda engine: engine.sup(self.kind), f"epsilon of {self.kind}")

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

        from borel.leakage import _coordinate, _flat

        points = _flat(self.joint.outcome, ys)
        self.joint.outcome.check(points)
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
        from borel.engine.draws import draws_engine

        if "engine" not in self._cache:
            self._cache["engine"] = draws_engine(self.joint)
        return self._cache["engine"]

    def _random(self, key: Any, compute: Any, name: str) -> RandomBound:
        if key not in self._cache:
            learnt: PosteriorPriors = self.joint.prior
            if not learnt.size:
                self._cache[key] = RandomBound.empty(name, learnt.trouble)
            else:
                engine = self._engine()
                low, high = compute(engine)
                self._cache[key] = RandomBound.from_draws(
                    low.reshape(learnt.shape),
                    high.reshape(learnt.shape),
                    status=engine.status,
                    name=name,
                    exact_draws=learnt.exact,
                    trouble=learnt.trouble,
                    assumptions=engine.assumptions,
                    reason=engine.reason,
                )
        return self._cache[key]

    def tail(self, t: float, **_: Any) -> Any:
        """Refuse: the joint law over (prior, Y) is not in this version."""
        raise NotYet(
            "the law of the leakage over a posterior",
            missing="the law over (theta, Y)",
            instead=".sup().cdf(t), or the law under one prior.",
        )

    quantile = cdf = mean = exp_mean = tail

    def plot(self, **kwargs: Any) -> Any:
        """Plot the leakage against the outcome with its posterior band."""
        from borel.plots import plot_leakage

        return plot_leakage(self, **kwargs)

    def __repr__(self) -> str:
        """Show which leakage, and of what."""
        return f"PosteriorLeakage({self.kind} of {self.joint!r})"
