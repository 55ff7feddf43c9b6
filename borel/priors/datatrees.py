"""Random figures as variables of a DataTree, beside the posterior they are functions of.

ArviZ's schema: https://python.arviz.org/en/latest/schema/schema.html
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import _compat
from borel._version import __version__
from borel.errors import InvalidInput
from borel.figures.leakage_curves import coordinate, names_of
from borel.probability.bound import weakest

if TYPE_CHECKING:
    import xarray as xr

_RESERVED = ("chain", "draw", "sample", "pred_id")
_COMPUTED = ("log_prior", "log_likelihood")
"""Groups that PyMC computes from the posterior and its model."""


def leakage_tree(
    figures: Any,
    data: Any = None,
    *,
    include: Sequence[str] | None = None,
    model: Any = None,
    dims: Mapping[str, str] | None = None,
) -> xr.DataTree:
    """Return random figures as variables of a DataTree, beside the posterior they came from.

    The figures are in the groups ``posterior`` and ``leakage``, so that ArviZ treats them as any
    variable of the posterior: ``summary``, ``psense_summary``, ``plot_forest``, ``plot_pair``; and
    ``loo`` and ``compare`` read ``log_likelihood`` from the same tree. The functions of
    ``arviz_stats`` and ``arviz_plots`` take it; ``arviz`` itself does from its version 1 on.

    Parameters
    ----------
    figures : RandomBound, PosteriorLeakage, or mapping from names to them
        The variables; the middles of their enclosures are taken. A value of the mapping may itself
        be a mapping, from the groups of a hierarchical model to their figures
        (`borel.priors.each_group`): one variable with the dim ``group``. A leakage,
        ``bl.pml(learnt * mech)``, is one variable with the dim ``outcome``, which must be finite.
    data : DataTree, InferenceData, Dataset, or path of a .nc file or .zarr store, optional
        The data that `borel.priors.from_posterior` was given; the shape of the draws is checked.
        Without it the tree has the figures alone.
    include : sequence of str, optional
        The groups of the data that the tree has, ``["posterior", "log_prior"]`` say; all of them if
        not given. Without ``"posterior"`` that group has the figures alone.
    model : pymc.Model, optional
        The model of the data: the groups ``log_prior`` and ``log_likelihood`` are computed with it
        if the data has none.
    dims : mapping from str to str, optional
        By the name of a variable, another name for its dim ``group`` or ``outcome``.

    Returns
    -------
    DataTree
        ``attrs`` of each variable: ``units`` and ``status``, which is that of each draw's figure,
        or ``undecided``. Whatever ArviZ computes from the draws is an estimate; `RandomBound` has
        quantiles and probabilities with their Monte Carlo errors.

    Raises
    ------
    InvalidInput
        Draws that are infinite: `plot_epsilon` shows them. A group to include that is neither
        there nor computed; draws of another shape than the data's; a name that is already that of
        a variable or of a dim.

    Warnings
    --------
    arviz-stats 0.8.0, which Python 3.11 has, prints equal-tailed intervals under the heading of
    shortest ones in ``summary(tree, ci_kind="hdi")``. Use `RandomBound.hdi`, or
    ``arviz_stats.hdi``, which are right.

    Examples
    --------
    >>> import borel as bl
    >>> data = bl.models.dirichlet_posterior([30, 70], random_seed=1)
    >>> learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    >>> mech = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> tree = bl.leakage_tree({"epsilon": bl.pml(learnt * mech).sup()}, data)
    >>> sorted(tree["posterior"].data_vars), sorted(tree["leakage"].data_vars)
    (['epsilon', 'p'], ['epsilon'])
    """
    import xarray as xr

    if isinstance(data, xr.Dataset):
        data = xr.DataTree.from_dict({"posterior": data})
    tree = None if data is None else tree_of(data, "leakage_tree")
    groups = _groups(tree, include, model)
    draws = None if tree is None else posterior_of(tree, "leakage_tree")
    posterior, leakage = (
        groups.get(name, xr.Dataset(attrs=attrs_of_a_tree())) for name in ("posterior", "leakage")
    )
    taken = {*_RESERVED, *map(str, posterior.dims), *map(str, posterior.coords)}
    found = _variables(figures, dims or {}, posterior)
    taken |= {str(d) for variable in found.values() for d in variable.dims}
    known = {*map(str, posterior.data_vars), *map(str, leakage)}
    for name, variable in found.items():
        if "/" in name:
            raise InvalidInput(
                "leakage_tree",
                expected="names without a slash, which a DataTree reads as a path",
                got=repr(name),
            )
        if name in taken | known:
            raise InvalidInput(
                "leakage_tree",
                expected="names that are new",
                got=f"{name!r}, a {'dim or coordinate' if name in taken else 'variable'} already",
                mend='name the figure, {"epsilon": figure}; dims= names dims.',
            )
        one = _on_the_draws_of(draws, variable, name)
        posterior, leakage = (_beside(group, one, name) for group in (posterior, leakage))
    groups |= {"posterior": posterior, "leakage": leakage}
    named = {"name": model.name} if getattr(model, "name", "") else {}
    attrs = named | (tree.attrs if tree is not None else {}) | attrs_of_a_tree()
    return xr.DataTree.from_dict({"/": xr.Dataset(attrs=attrs), **groups})


_A_DATASET = 'xarray.Dataset({"p": (("chain", "draw", "x"), p)})'


def tree_of(data: Any, what: str) -> xr.DataTree:
    """Return any container of draws as a DataTree, or say what came, or what its file lacks."""
    about: dict[str, Any] = {
        "expected": "a DataTree, an InferenceData, a Dataset or the path of a .nc or .zarr file",
        "mend": f"pass what pm.sample returned; an array p of draws: {_A_DATASET}.",
    }
    try:
        return _compat.as_datatree(data)
    except TypeError as error:
        known = isinstance(data, (str, PathLike))
        got = repr(fspath(data)) if known else type(data).__name__
        raise InvalidInput(what, got=got, **about) from error
    except FileNotFoundError as error:
        about["mend"] = f"it is looked up from {os.getcwd()!r}; give the whole path."
        raise InvalidInput(what, got=f"no file {fspath(data)!r}", **about) from error
    except (ImportError, KeyError, OSError, ValueError) as error:
        zarr = fspath(data).endswith(".zarr")
        about["mend"] = (
            'zarr and dask read it: pip install zarr ".[dask]" in the folder of borel.'
            if zarr
            else "write it with idata.to_netcdf(path), or draws.to_netcdf(path)."
        )
        got = f"{fspath(data)!r}, which cannot be read ({type(error).__name__}: {error})"
        raise InvalidInput(what, got=got, **about) from error


def posterior_of(data: Any, what: str) -> xr.Dataset:
    """Return the posterior group of any container of draws, checked."""
    import xarray as xr

    if isinstance(data, xr.Dataset):
        posterior = data
    else:
        tree = tree_of(data, what)
        if "posterior" not in tree.children:
            raise InvalidInput(
                what,
                expected="a posterior group",
                got=f"groups {sorted(tree.children)}",
                mend="pass what pm.sample returned.",
            )
        posterior = tree["posterior"].to_dataset()
    if {"chain", "draw"} - set(posterior.dims):
        raise InvalidInput(
            what,
            expected="dims chain and draw",
            got=str(tuple(posterior.dims)),
            mend=f"name them so; an array p of draws: {_A_DATASET}.",
        )
    return posterior


def require_draws(figure: Any, what: str) -> Any:
    """Return a random figure, or say what came in its place."""
    if not hasattr(figure, "draws"):
        raise InvalidInput(
            what,
            expected="a RandomBound, or a mapping of them",
            got=type(figure).__name__,
            mend="bl.pml(learnt * mech).sup() is one.",
        )
    return figure


def attrs_of_a_tree() -> dict[str, Any]:
    """Return the metadata that ArviZ's schema recommends."""
    from arviz_base import make_attrs

    return make_attrs({"creation_library": "borel", "creation_library_version": __version__})


def _groups(
    tree: xr.DataTree | None, include: Sequence[str] | None, model: Any
) -> dict[str, xr.Dataset]:
    """Return the groups of some data that are asked for."""
    if tree is None:
        if include is not None or model is not None:
            raise InvalidInput(
                "leakage_tree",
                expected="data, what from_posterior was given, to take groups from",
                got="none",
            )
        return {}
    if include is None:
        include = [*tree.children]
        if model is not None:
            include += ["log_prior", *(["log_likelihood"] if model.observed_RVs else [])]
    found = {}
    for group in dict.fromkeys([include] if isinstance(include, str) else include):
        if group in tree.children:
            found[group] = tree[group].to_dataset()
        elif model is not None and group in _COMPUTED:
            found[group] = _log_density(posterior_of(tree, "leakage_tree"), group, model)
        else:
            computed = group in _COMPUTED
            how = "pass model=, the PyMC model, and it is computed" if computed else ""
            raise InvalidInput(
                "leakage_tree",
                expected=f"a group {group}",
                got=f"groups {sorted(tree.children)}",
                mend=f"{how or 'leave it out of include'}.",
            )
    return found


def _log_density(posterior: xr.Dataset, group: str, model: Any) -> xr.Dataset:
    missing = {variable.name for variable in model.free_RVs} - {*posterior.data_vars}
    if missing:
        raise InvalidInput(
            "leakage_tree",
            expected="the model that the posterior is of",
            got=f"one whose variables {sorted(missing)} it does not have",
        )
    return _compat.log_density(posterior, group, model)


def _variables(
    figures: Any, dims: Mapping[str, str], posterior: xr.Dataset
) -> dict[str, xr.DataArray]:
    """Return the middles of the draws of figures by name, over chain, draw and their own dim.

    A dim of the posterior that has the labels of a figure keeps its coordinate.
    """
    import xarray as xr

    if not isinstance(figures, Mapping):
        name = getattr(figures, "name", "") or getattr(figures, "kind", "")
        figures = {name: figures}
    found = {}
    for name, figure in zip(names_of(list(figures)), figures.values(), strict=True):
        dim, parts = "group", figure
        if hasattr(figure, "joint"):  # a leakage: its outcomes one by one
            dim, parts = "outcome", {y: figure(y) for y in _outcomes(figure)}
        dim = dims.get(name, dim)
        if dim in _RESERVED:
            raise InvalidInput(
                "leakage_tree",
                expected=f"another dim than {', '.join(_RESERVED)}",
                got=f"dims={{{name!r}: {dim!r}}}",
            )
        single = not isinstance(parts, Mapping)
        each = [require_draws(f, "leakage_tree") for f in ([parts] if single else parts.values())]
        values = [_finite(figure, name) for figure in each]
        about = {
            "units": each[0].units,
            "status": "undecided"
            if any(figure.trouble for figure in each)
            else f"each draw {weakest(figure.status for figure in each)}",
        }
        if single:
            found[name] = values[0].assign_attrs(about)
            continue
        if len({(figure.units, *figure.draws["lower"].shape) for figure in each}) > 1:
            raise InvalidInput(
                "leakage_tree",
                expected="figures of the same draws, in the same units",
                got=", ".join(f"{f.name} in {f.units}" for f in each),
                where=repr(name),
            )
        labels, own = list(parts), posterior.indexes.get(dim)
        known = own is not None and list(own) == labels
        coords = posterior[dim].coords if known else {dim: coordinate(labels)}
        together = xr.concat(values, dim, coords="minimal").assign_attrs(about)
        found[name] = together.assign_coords(coords)
    return {name: v.transpose("chain", "draw", ...) for name, v in found.items()}


def _outcomes(leakage: Any) -> Sequence[Any]:
    """Return the outcomes of a leakage over a posterior, or say why they cannot be listed."""
    if getattr(leakage.joint.outcome, "kind", "") != "finite":
        raise InvalidInput(
            "leakage_tree",
            expected="a leakage with finitely many outcomes",
            got=f"outcomes in {leakage.joint.outcome!r}",
            mend="some of them: {'pml': {y: bl.pml(learnt * mech)(y) for y in ys}}, "
            "dims={'pml': 'outcome'}.",
        )
    return leakage.joint.outcome.labels


def _finite(figure: Any, name: str) -> xr.DataArray:
    values = figure.draws["lower"].copy(data=figure._middle().values).rename(None)
    if not np.isfinite(values.values).all():
        raise InvalidInput(
            "leakage_tree",
            expected="finite draws",
            got=f"infinite ones of {name}",
            mend="bl.plot_epsilon shows the share of infinite draws.",
        )
    return values


def _on_the_draws_of(
    posterior: xr.Dataset | None, variable: xr.DataArray, name: str
) -> xr.DataArray:
    """Return a variable with the chains and draws labelled as in a posterior of that shape."""
    if posterior is None:
        return variable
    shape, own = ({d: of.sizes.get(d) for d in ("chain", "draw")} for of in (posterior, variable))
    if shape != own:
        raise InvalidInput(
            "leakage_tree",
            expected=f"figures of the data's draws, of the shape {shape}",
            got=f"{own}",
            where=repr(name),
            mend="pass the data that from_posterior was given.",
        )
    return variable.assign_coords({d: posterior[d] for d in shape})


def _beside(group: xr.Dataset, variable: xr.DataArray, name: str) -> xr.Dataset:
    """Return a group with a variable more; raise where it would be aligned with other labels."""
    for dim in {*variable.dims} & {*group.dims}:
        theirs, own = group[dim].values, variable[dim].values
        if not np.array_equal(theirs, own):
            raise InvalidInput(
                "leakage_tree",
                expected=f"the labels of the dim {dim!r} beside it, {theirs[:4]!r}",
                got=f"{own[:4]!r}",
                where=repr(name),
                mend="give figures of the same draws."
                if dim in _RESERVED
                else f"give the dim another name: dims={{{name!r}: ...}}.",
            )
    there = [coord for coord in variable.coords if coord in group.coords]
    return group.assign({name: variable.drop_vars(there)})
