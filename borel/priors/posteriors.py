"""A posterior over priors: one prior per draw, read and built in blocks.

Nothing of size (draws, secrets, outcomes) is ever held.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.errors import BorelError, InvalidInput
from borel.numerics.graphs.constant_folding import folded
from borel.numerics.intervals.rounding import U, compounded
from borel.priors.chains import Chains
from borel.priors.datatrees import posterior_of
from borel.priors.diagnostics import trouble_of
from borel.priors.posterior_leakage import PosteriorLeakage, asked_of_draw, random_figure
from borel.probability.alphabets import no_match
from borel.probability.arrays import labels_of
from borel.probability.measure import Measure, covers
from borel.probability.mixtures import mixture
from borel.probability.pickling import Remade
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import xarray as xr

    from borel.priors.random_bound import RandomBound
    from borel.priors.sets import PriorSet
    from borel.probability.bound import Bound
    from borel.probability.joint import Joint

_TOGETHER = 64
"""Draws that are built when the posterior is made, to see what ``build`` gives."""
_AVERAGES = (
    "build sees some draws at a time, so that no sums or means over them belong in it: for the "
    "mean of the priors write learnt.mean_prior(); for the prior at a posterior mean, "
    'bl.pmf(data.posterior["p"].mean(("chain", "draw"))).'
)
BLOCK = 4000
"""Draws in a block: large enough for BLAS, small enough for the cache."""
_MIXED = 64
"""Components of a mean prior that has a density."""


@explained
def from_posterior(data: Any, build: Callable[[Mapping[str, Any]], Measure]) -> PosteriorPriors:
    """Make a posterior over priors: one prior for each posterior draw.

    Parameters
    ----------
    data : DataTree, InferenceData, Dataset, or path of a .nc file or .zarr store
        With a ``posterior`` group of dims (chain, draw). The attribute ``borel_draws = "exact"``
        on that group declares independent exact draws (a conjugate posterior). Draws on disk
        (dask arrays, a zarr store) are read block by block, and only the variables that ``build``
        asks for; draws in memory of more than 32 MB a variable are not copied: leave them as they
        are while the figures are computed.
    build : callable
        Takes a mapping from variable names to DataArrays whose first dimension is the draws of a
        block, and returns a `Measure` with that leading axis: ``lambda draw: bl.pmf(draw["p"])``,
        ``lambda draw: bl.normal(mu=draw["mu"], sigma=draw["sigma"])``. Further dims of a variable
        (groups, say) are there to choose from: ``bl.pmf(draw["p"].sel(group="north"))``; see
        `each_group` for all of them in turn. The prior of a draw depends on that draw alone: a
        build that averages over draws is refused. R-hat and ESS are of the variables it reads.
        A posterior over priors goes to another process if build is a function of a module, not a
        lambda; its figures do in any case.

    Returns
    -------
    PosteriorPriors
        To be multiplied by a mechanism: ``learnt * mech``. Figures of finite priors and finite
        outcomes are enclosed for every draw. So are PML, PMC, their laws over the outcomes, mutual
        information, maximal leakage and LDP, where the kernel can be traced, of priors with a
        traced density on an interval, restricted or with atoms too, of named families on integers,
        and of finite priors; draws may charge different labels or atoms. Others are estimates, and
        say so.

    Raises
    ------
    InvalidInput
        No posterior group, a ``build`` that returns no Measure or averages over the draws, or draws
        that are no priors.

    Examples
    --------
    >>> import borel as bl
    >>> data = bl.models.dirichlet_posterior([30, 70], draws=100, random_seed=1)
    >>> bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    PosteriorPriors(4 x 100 exact draws of a prior on Finite(2))
    """
    return PosteriorPriors(posterior_of(data, "from_posterior"), build)


@explained
def each_group(
    data: Any, build: Callable[[Mapping[str, Any]], Measure], *, dim: str
) -> dict[Any, PosteriorPriors]:
    """Make a posterior over priors for every group of a hierarchical model.

    Parameters
    ----------
    data : DataTree, InferenceData, Dataset, or path
        As in `from_posterior`, with variables that have the dim ``dim`` beside chain and draw.
    build : callable
        As in `from_posterior`; it sees the variables of one group, without the dim.
    dim : str
        The dim of the groups.

    Returns
    -------
    dict
        From the label of each group to its `PosteriorPriors`. All share their draws, so that the
        worst group is a figure too: ``epsilon["a"].larger(epsilon["b"], name="worst group")``.

    Raises
    ------
    InvalidInput
        No variable with that dim.

    Examples
    --------
    >>> import borel as bl, numpy as np, xarray as xr
    >>> p = np.random.default_rng(0).dirichlet([3, 5], size=(2, 50, 3))
    >>> draws = xr.Dataset(
    ...     {"p": (("chain", "draw", "town", "x"), p)},
    ...     {"town": ["A", "B", "C"]},
    ...     {"borel_draws": "exact"},
    ... )
    >>> learnt = bl.priors.each_group(draws, lambda draw: bl.pmf(draw["p"]), dim="town")
    >>> mech = bl.mechanisms.randomized_response(k=2, epsilon=1.0)
    >>> epsilon = {town: bl.pml(prior * mech).sup() for town, prior in learnt.items()}
    >>> sorted(epsilon)
    ['A', 'B', 'C']
    """
    posterior = posterior_of(data, "each_group")
    if not any(dim in variable.dims for variable in posterior.data_vars.values()):
        raise InvalidInput(
            "each_group",
            expected=f"a variable with the dim {dim!r}",
            got=str(sorted(map(str, posterior.dims))),
        )
    size = posterior.sizes[dim]
    labels = labels_of(posterior[dim])[0] or range(size)
    return {
        label: PosteriorPriors(posterior.isel({dim: i}, drop=True), build)
        for i, label in enumerate(labels)
    }


def _numbers_of_first(measures: Measure) -> list[np.ndarray]:
    """Return the numbers that the first of a batch of measures is made of."""
    measures = measures.conditioned or measures
    given = [measures._probabilities]
    if measures.density is not None:
        given = [*measures.density.parameters.values(), *measures.masses.values()]
    arrays = [np.asarray(a, float) for a in given]
    return [a[0] if a.ndim else a for a in arrays]


def _first_of(batch: Measure) -> Measure:
    """Return the one measure of a batch of one."""
    if batch.conditioned is not None:
        within: Any = batch.on  # an interval
        return _first_of(batch.conditioned).restrict(within)
    if batch._probabilities is not None:
        law = np.array(batch._probabilities[0])
        return Measure(law, batch.on, rounding=batch._rounding, unproved=batch.unproved)
    if batch.family is not None:
        from borel.probability import families

        name, values = batch.family
        return getattr(families, name)(**{k: float(np.ravel(v)[0]) for k, v in values.items()})
    density = batch.density
    own = {n: float(np.ravel(v)[0]) for n, v in density.parameters.items() if np.ndim(v)}
    one = Measure(
        lambda x: density.at_parameters(x, own),
        batch.on,
        log=density.log,
        breaks=batch.breaks,
        tail=batch.tail,
        masses={a: float(np.ravel(m)[0]) for a, m in batch.masses.items()},
        rounding=batch._rounding,
        _check=False,
    )
    if one.density.graph is not None:  # checks of parameters are decided by the numbers of a draw
        one.density.graph = folded(one.density.graph)
    return one


class PosteriorPriors(Remade):
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
    over = "draws"
    _made_of = ("posterior", "build")
    _functions = ("build",)

    def __init__(self, posterior: xr.Dataset, build: Callable[[Any], Measure]):
        if not callable(build):
            raise InvalidInput(
                "from_posterior",
                expected="build, a function of a draw that returns its prior",
                got=repr(build),
                mend='lambda draw: bl.pmf(draw["p"]).',
            )
        self.posterior = posterior
        self.build = build
        self.exact = posterior.attrs.get("borel_draws") == "exact"
        self._chains = Chains(posterior)
        self._troubles: dict[frozenset[str], str] = {}
        self._template: Measure | None = None
        if self.size:
            self._template = self._measure(0, min(_TOGETHER, self.size))
            self._check_by_draw(self._template)

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

    def _measure(self, start: int, stop: int) -> Measure:
        """Build the priors of the draws start, ..., stop - 1."""
        try:
            measure = self.build(self._chains.block(start, stop))
        except (ValueError, KeyError) as error:
            if isinstance(error, BorelError) or not re.search(r"'(chain|draw)'", str(error)):
                raise
            raise InvalidInput(
                "from_posterior",
                expected="a build of variables with the dims (sample, ...): the draws of a block",
                got=f"one that asks for chain or draw ({error})",
                mend=_AVERAGES,
            ) from error
        except NotImplementedError as error:  # PyTensor's, of a DataArray
            if "tensor variable" not in str(error):
                raise
            raise InvalidInput(
                "from_posterior",
                expected="a build that hands the arrays of draws to borel",
                got="one that hands them to PyMC",
                mend="write bl.from_pymc(pm.Beta.dist, alpha=draw['a'], beta=draw['b']).",
            ) from error
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
                mend=f"keep the leading axis; {_AVERAGES}",
            )
        if self._template is not None and measure.on != self._template.on:
            raise InvalidInput(
                "from_posterior",
                expected=f"priors on {self._template.on!r}",
                got=f"on {measure.on!r}",
            )
        return measure

    def _check_by_draw(self, together: Measure) -> None:
        """Raise unless the first prior is the same when fewer draws are built beside it.

        A build that averages over the draws would average over a block, whatever its size.
        """
        few = self._measure(0, max(1, min(2, self.size - 1)))
        pairs = zip(_numbers_of_first(together), _numbers_of_first(few), strict=True)
        if not all(np.allclose(a, b, 1e-9, 1e-12, equal_nan=True) for a, b in pairs):
            raise InvalidInput(
                "from_posterior",
                expected="a build whose prior of each draw depends on that draw alone",
                got=f"one whose first prior is another when {together.batch[0]} draws are built "
                f"together than with {few.batch[0]}",
                mend=_AVERAGES,
            )

    def blocks(self, size: int | None = None) -> Iterator[tuple[slice, Measure]]:
        """Yield slices of draws with their priors."""
        size = size or BLOCK
        for start in range(0, self.size, size):
            stop = min(start + size, self.size)
            yield slice(start, stop), self._measure(start, stop)

    def mean_prior(self, *, components: int = _MIXED) -> Measure:
        """Return the mean of the draws of the prior: one prior, the posterior predictive.

        It is the law of a secret drawn under a prior that is itself drawn from these draws. Its
        support is the union of theirs. A figure under it is about this one prior, and says nothing
        of how the figure varies over the posterior.

        Parameters
        ----------
        components : int
            For a prior with a density: how many draws, evenly spaced, are mixed. Each of them
            costs every figure a little; the mixture is exactly that of those draws, and its name
            says how many they are.

        Returns
        -------
        Measure
            For a finite prior the mean of the probabilities over all draws, correctly rounded
            sums; for a countable or continuous one an equal mixture of ``components`` draws.

        Raises
        ------
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
            return self._mixed(components)
        rounding, sums = 0.0, []
        for _, prior in self.blocks():
            rounding = max(rounding, prior.rounding)
            p = np.asarray(prior.probabilities, float)
            sums.append([math.fsum(column) for column in p.T])
        mean = np.array([math.fsum(column) for column in zip(*sums, strict=True)]) / self.size
        return Measure(
            mean,
            self.on,
            rounding=compounded(rounding, 6 * U),
            name="mean of the posterior draws",
        )

    def _mixed(self, components: int) -> Measure:
        if not (isinstance(components, int) and components >= 1):
            raise InvalidInput("mean_prior", expected="components >= 1", got=repr(components))
        count = min(components, self.size)
        places = np.unique(np.linspace(0, self.size - 1, count).round().astype(int))
        laws = [self.one(int(place)) for place in places]
        shares = [1.0 / len(laws)] * len(laws)
        out = mixture(laws, weights=shares)
        out.name = f"equal mixture of {len(laws)} of the {self.size} posterior draws"
        return out

    def region(
        self,
        kind: str = "box",
        *,
        prob: float = 0.95,
        confidence: float = 0.95,
        var_names: str | list[str] | None = None,
        build: Callable[..., Measure] | None = None,
    ) -> PriorSet:
        r"""Return a credible region of the prior: a set of priors of stated posterior mass.

        The supremum over it, ``bl.pml(region * mech).sup()``, is *maximised over the region*; the
        largest figure among the draws inside is only a lower bound of it. Whatever the region,
        the supremum is at least `RandomBound.smallest` at the same mass.

        Parameters
        ----------
        kind : {"box", "ellipsoid", "hdi"}
            A box of the probabilities, an ellipsoid of them, each cut by the simplex; or, for two
            secrets, an interval of the probability of the second one. With ``var_names`` a box of
            those parameters, or for one of them an interval. An interval has the middle of the
            HDI, in the parametrisation named, and is as wide as its mass asks for.
        prob : float
            Posterior mass that the region holds, at least.
        confidence : float
            Probability, over the draws, that it does.
        var_names : str or list of str, optional
            Variables, a number each, that the priors are a function of: the region is one of
            these parameters, and the set is the family of their priors (`borel.priors.family`).
        build : callable, optional
            The prior of such parameters, by name: ``lambda mu: bl.pmf([...])``, if that of the
            draws does not do for single numbers.

        Returns
        -------
        PriorSet
            To be multiplied by a mechanism. Its figures are proved suprema over the region that is
            stated; as its mass rests on the draws, they are ``statistical`` with this confidence.
            Over a family whose build cannot be traced they are estimates.

        Raises
        ------
        Undecided
            Draws from which nothing may be claimed (R-hat, ESS); the message has the remedy.
        InvalidInput
            Too few draws for the mass and the confidence.
        NotYet
            Priors that are not finite, without ``var_names``.

        Notes
        -----
        Half of the draws give the region its shape, the others its size, by an order statistic:
        its posterior mass is at least ``prob`` with the confidence stated, for independent draws;
        for Markov chains with effective sample sizes, which is listed.

        Examples
        --------
        >>> import borel as bl
        >>> data = bl.models.dirichlet_posterior([30, 70, 50], random_seed=1)
        >>> learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
        >>> region = learnt.region("ellipsoid", prob=0.9)
        >>> mech = bl.mechanisms.randomized_response(k=3, epsilon=1.0)
        >>> bl.pml(region * mech).sup().status
        'statistical'
        """
        from borel.priors.credible_regions import region_of

        return region_of(self, kind, prob, confidence, var_names, build)

    def one(self, place: int) -> Measure:
        """Return the prior of one draw, by its position: chain after chain."""
        return _first_of(self._measure(place, place + 1))

    @property
    def trouble(self) -> str:
        """Why nothing may be claimed from these draws (R-hat, ESS), or an empty string.

        Of the variables that ``build`` reads: what else the posterior holds plays no part in the
        figures, and may be large.
        """
        return self._trouble_of(self._chains.read)

    def _trouble_of(self, names: Iterable[str]) -> str:
        """Return why nothing may be claimed from the draws of some variables."""
        if not self.size:
            return "the posterior is empty: it has no draws; sample it (pm.sample)"
        key = frozenset(names)
        if key not in self._troubles:
            found = "" if self.exact else trouble_of(self._chains.variables, key)
            self._troubles[key] = found
        return self._troubles[key]

    def __mul__(self, mechanism: Any) -> Joint:
        """Return the joint of a random prior and a mechanism: ``learnt * mech``."""
        from borel.probability.joint import Joint
        from borel.probability.mechanism import Mechanism

        if not isinstance(mechanism, Mechanism):
            return NotImplemented
        if self._template is not None and not covers(mechanism.secret, self._template):
            raise no_match("learnt * mech", mechanism.secret, self.on)
        return Joint(self, mechanism)

    def __matmul__(self, other: Any) -> Any:
        """Refuse: the marginal over a posterior of priors is not one law."""
        raise TypeError("learnt @ mech: write learnt * mech for the joint")

    def leakage_of(self, joint: Joint, kind: str) -> PosteriorLeakage:
        """Return the leakage of a joint with this random prior."""
        return PosteriorLeakage(joint, kind)

    def figure_of(self, joint: Joint, name: str, *arguments: Any) -> RandomBound | Bound:
        """Return a measure of a joint with this random prior: one figure for each draw.

        One that depends on the support alone, which all draws are seen to share, is one Bound.

        Raises
        ------
        NotYet
            No engine computes it for draws on these alphabets.
        """
        if name == "lip":
            first, second = settings.each(
                lambda kind: PosteriorLeakage(joint, kind).sup(), ("pml", "pmc")
            )
            return first.larger(second, name="LIP", of_draw=asked_of_draw(joint, "lip"))
        from borel.engine import draws_engine

        engine = draws_engine(joint) if self.size else None
        if engine is not None and (shared := engine.of_support(name)) is not None:
            return shared
        label, of_draw = name.replace("_", " "), asked_of_draw(joint, name, *arguments)
        return random_figure(joint, engine, lambda e: e.figure(name, *arguments), label, of_draw)

    def __repr__(self) -> str:
        """Show the number of draws, whether they are exact, and the alphabet."""
        chains, draws = self.shape
        how = "exact draws" if self.exact else "draws"
        return f"PosteriorPriors({chains} x {draws} {how} of a prior on {self.on!r})"
