"""The bridge between the two stacks: PyMC 5 with ArviZ 0.x, and PyMC 6 with ArviZ 1.x.

Everything past this file sees one container, `xarray.DataTree`, and one set of statistics, those of
`arviz_stats` (the same on both stacks); an `InferenceData` never goes further. Nothing heavy is
imported until it is called.
"""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

__all__ = [
    "as_datatree",
    "ci_prob",
    "ess_bulk",
    "ess_mean",
    "ess_quantile",
    "ess_tail",
    "eti",
    "hdi",
    "log_density",
    "rhat",
    "sample",
]

_SAMPLE_DIMS = ("chain", "draw")


def as_datatree(data) -> xr.DataTree:
    """Take any container of posterior draws as an `xarray.DataTree`.

    Parameters
    ----------
    data : xarray.DataTree, arviz.InferenceData, str or os.PathLike
        The draws; or the path of a ``.nc`` file that holds them, which is read whole and closed, or
        of a ``.zarr`` store, which is read when its draws are asked for (with dask).

    Returns
    -------
    xarray.DataTree
        With groups such as ``posterior``. A DataTree comes back as it is.

    Raises
    ------
    TypeError
        If `data` is none of these, or the path does not end in ``.nc`` or ``.zarr``.
    FileNotFoundError
        If there is no such file.
    """
    import xarray as xr

    if isinstance(data, xr.DataTree):
        return data
    if isinstance(data, (str, PathLike)):
        if fspath(data).endswith(".zarr"):
            return xr.open_datatree(fspath(data), engine="zarr", chunks={})
        if not fspath(data).endswith(".nc"):
            raise TypeError(f"expected the path of a .nc file, got {fspath(data)!r}")
        with xr.open_datatree(fspath(data), engine="h5netcdf") as tree:
            return tree.load().map_over_datasets(_of_several_keys)
    if hasattr(data, "to_datatree"):
        return data.to_datatree()
    hint = ""
    if isinstance(data, (xr.Dataset, xr.DataArray)):
        hint = "; wrap it: xarray.DataTree.from_dict({'posterior': dataset})"
    elif isinstance(data, dict):
        hint = "; wrap it: xarray.DataTree.from_dict(...), with a Dataset for each group"
    raise TypeError(
        f"expected an xarray.DataTree, an arviz.InferenceData or the path of a .nc file, "
        f"got {type(data).__name__}{hint}"
    )


_KEYS = "borel_keys"  # the attribute that says which coordinates were one MultiIndex


def for_netcdf(tree: xr.DataTree) -> xr.DataTree:
    """Return a DataTree that a .nc file can hold: a MultiIndex becomes a coordinate for each key.

    `as_datatree` puts them together again.
    """
    import json

    if not any(index.nlevels > 1 for node in tree.subtree for index in node.indexes.values()):
        return tree

    def apart(dataset: xr.Dataset) -> xr.Dataset:
        names = {
            str(dim): [str(n) for n in index.names]
            for dim, index in dataset.indexes.items()
            if index.nlevels > 1 and dim in dataset.dims
        }
        if not names:
            return dataset
        return dataset.reset_index(list(names)).assign_attrs({_KEYS: json.dumps(names)})

    return tree.map_over_datasets(apart)


def _of_several_keys(dataset: xr.Dataset) -> xr.Dataset:
    import json

    if _KEYS not in dataset.attrs:
        return dataset
    together = dataset.set_index(json.loads(dataset.attrs[_KEYS]))
    del together.attrs[_KEYS]
    return together


def hdi(draws: xr.DataArray, prob: float) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the ends of the shortest interval that holds a share `prob` of the draws.

    Parameters
    ----------
    draws : xarray.DataArray, dims (chain, draw, ...)
        Finite draws.
    prob : float
        Between 0 and 1.

    Returns
    -------
    lower, upper : xarray.DataArray, dims (...)
        The ends. They are estimates, like every function of draws.

    Raises
    ------
    ValueError
        If a draw is infinite or NaN: lengths of intervals would then be meaningless.
    """
    return _interval("hdi", draws, prob)


def eti(draws: xr.DataArray, prob: float) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the ends of the interval that leaves ``(1 - prob) / 2`` of the draws on either side.

    Parameters, results and errors are those of `hdi`.
    """
    return _interval("eti", draws, prob)


def rhat(draws: xr.DataArray) -> xr.DataArray:
    """Return rank-normalised split R-hat over the dims chain and draw; NaN for constant draws.

    Vehtari et al., "Rank-normalization, folding, and localization", *Bayesian Analysis* 16(2),
    2021.
    """
    return _of_chains("rhat", draws)


def ess_bulk(draws: xr.DataArray) -> xr.DataArray:
    """Return the effective sample size for the bulk of the distribution (rank-normalised)."""
    return _of_chains("ess", draws, method="bulk")


def ess_tail(draws: xr.DataArray) -> xr.DataArray:
    """Return the smaller effective sample size of the 5 % and the 95 % quantile."""
    return _of_chains("ess", draws, method="tail", prob=(0.05, 0.95))


def ess_mean(draws: xr.DataArray) -> xr.DataArray:
    """Return the effective sample size for the mean."""
    return _of_chains("ess", draws, method="mean")


def ess_quantile(draws: xr.DataArray, prob: float) -> xr.DataArray:
    """Return the effective sample size for the quantile of order `prob`."""
    return _of_chains("ess", draws, method="quantile", prob=prob)


def sample(
    model: pm.Model,
    *,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    cores: int | None = None,
    random_seed=None,
    progressbar: bool = True,
) -> xr.DataTree:
    """Sample the posterior of a PyMC model with PyMC's own NUTS.

    The sampler is named, because PyMC 6 would otherwise take another one when it is installed. The
    same seed gives the same draws on one stack only.

    Parameters
    ----------
    model : pymc.Model
        The model.
    draws, tune, chains : int
        Draws kept a chain, draws spent on tuning, chains.
    cores : int, optional
        Processes; default PyMC's choice.
    random_seed : int, sequence of int or numpy.random.Generator, optional
        Seed.
    progressbar : bool
        Whether to show progress.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior``, ``sample_stats``, ``observed_data``.
    """
    import warnings

    import pymc as pm

    with warnings.catch_warnings(), model:
        # said once by PyTensor from pip; of no concern to a model of a few parameters
        warnings.filterwarnings("ignore", message="PyTensor could not link to a BLAS")
        data = pm.sample(
            draws=draws,
            tune=tune,
            chains=chains,
            cores=cores,
            random_seed=random_seed,
            progressbar=progressbar,
            nuts_sampler="pymc",
        )
    return as_datatree(data)


def ci_prob() -> float:
    """Return the posterior mass of credible intervals that nobody has named: ArviZ's setting."""
    from arviz_base import rcParams

    return rcParams["stats.ci_prob"]


def log_density(posterior: xr.Dataset, group: str, model: pm.Model) -> xr.Dataset:
    """Compute the group ``log_prior`` or ``log_likelihood`` of draws under a PyMC model.

    Parameters
    ----------
    posterior : xarray.Dataset
        The draws, of all free variables of the model.
    group : {"log_prior", "log_likelihood"}
        What to compute.
    model : pymc.Model
        The model that the draws are of.
    """
    from pymc import stats

    compute = getattr(stats, f"compute_{group}")
    # all that it reads is the group, of an InferenceData in PyMC 5, and of a DataTree in PyMC 6
    data = {"posterior": posterior}
    found = compute(data, model=model, extend_inferencedata=False, progressbar=False)
    # PyMC 5 numbers the draws anew, and those of a thinned posterior would not be found again
    return found.assign_coords({dim: posterior[dim] for dim in _SAMPLE_DIMS})


def _interval(kind, draws, prob):
    import arviz_stats as azs
    import numpy as np

    draws = _sampled(draws)
    if not 0 < prob < 1:
        raise ValueError(f"prob must lie between 0 and 1, got {prob!r}")
    infinite = int((~np.isfinite(draws.values)).sum())
    if infinite:
        raise ValueError(
            f"{kind} needs finite draws, got {infinite} of {draws.size} infinite or NaN; "
            f"give a quantile instead, by order statistics"
        )
    ends = getattr(azs, kind)(draws.values.astype(float), prob=prob, axis=(0, 1))
    return _labelled(ends[..., 0], draws), _labelled(ends[..., 1], draws)


def _of_chains(statistic, draws, **kwargs):
    import arviz_stats as azs

    draws = _sampled(draws)
    found = getattr(azs, statistic)(draws.values, chain_axis=0, draw_axis=1, **kwargs)
    return _labelled(found, draws)


def _labelled(values, draws):
    """Return what a statistic of the array of some draws gave, over their other dims.

    `arviz_stats` gets arrays: of labelled ones it takes longer, for hdi fifty times.
    """
    return draws.isel(chain=0, draw=0, drop=True).copy(data=values)


def _sampled(draws):
    """Check for a DataArray with the dims chain and draw, and put them first."""
    import xarray as xr

    if not isinstance(draws, xr.DataArray):
        raise TypeError(f"draws must be an xarray.DataArray, got {type(draws).__name__}")
    missing = [dim for dim in _SAMPLE_DIMS if dim not in draws.dims]
    if missing:
        raise ValueError(
            f"draws must have the dims chain and draw, got {draws.dims}; "
            f"for one chain, draws.expand_dims('chain')"
        )
    return draws.transpose(*_SAMPLE_DIMS, ...)


def compile_logp(distribution, *, discrete=False, inputs=1):
    """Compile the log-density of a PyMC distribution to a function of NumPy arrays.

    Parameters
    ----------
    distribution : pytensor variable, or callable
        ``pm.Beta.dist(2, 5)``, for a function of its value; or a function of scalar tensors,
        ``lambda x: pm.Normal.dist(x, 1)``, for a function of the value and of these.
    discrete : bool
        Whether the value is an integer.
    inputs : int
        How many tensors that function takes.

    Returns
    -------
    callable
        Takes broadcastable arrays and returns their broadcast shape. It is compiled at the first
        call, on a scalar graph that is then vectorised (PyTensor refuses to broadcast at run time).
    """
    import numpy as np

    compiled = []

    def compile_it():
        import pymc as pm
        import pytensor
        import pytensor.tensor as pt
        from pytensor.graph.replace import vectorize_graph

        y = pt.scalar("y", dtype="int64" if discrete else "float64")
        scalars: list = [y]
        variable = distribution
        if not hasattr(distribution, "owner"):
            scalars += [pt.dscalar(f"x{i}") for i in range(inputs)]
            variable = distribution(*scalars[1:])
        batch = [v.type.clone(shape=(None,))(v.name) for v in scalars]
        log = pm.logp(_in_float64(variable), y)
        graph = vectorize_graph(log, dict(zip(scalars, batch, strict=True)))
        return pytensor.function(batch, graph, on_unused_input="ignore")

    def log_density(*points):
        if not compiled:
            compiled.append(compile_it())
        arrays = np.broadcast_arrays(*points)
        flat = [np.ravel(a).astype(float) for a in arrays]
        if discrete:
            flat[0] = flat[0].astype("int64")
        return np.asarray(compiled[0](*flat)).reshape(arrays[0].shape)

    return log_density


def ancestors(variable):
    """Return all that a PyTensor variable is computed from, and itself."""
    try:
        from pytensor.graph.traversal import ancestors as found
    except ImportError:  # PyTensor 2.3x
        from pytensor.graph.basic import ancestors as found

    return list(found([variable]))


def _in_float64(variable):
    """Return the graph with its float32 constants in float64.

    PyTensor stores 2.0 as float32, and then takes its logarithm in float32: an error of 1e-8.
    """
    import pytensor.tensor as pt
    from pytensor.graph.replace import clone_replace

    # a small integer parameter of a continuous law is widened too: log(int8) is float32 there
    kinds = {"float32", "int8", "int16"} if "float" in variable.type.dtype else {"float32"}
    narrow: dict = {
        v: pt.constant(v.data, dtype="float64")
        for v in ancestors(variable)
        if isinstance(v, pt.TensorConstant) and v.type.dtype in kinds
    }
    if not narrow:
        return variable
    return clone_replace(variable, replace=narrow, rebuild_strict=False)
