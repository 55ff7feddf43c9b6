"""How well a prior was learnt: R-hat, effective sample sizes, divergences, sizes; as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.draws.enclosed import charged_by
from borel.priors.diagnostics import convergence, numbers_of, parts_of

if TYPE_CHECKING:
    import xarray as xr

    from borel.priors.posteriors import PosteriorPriors

SAMPLING = "sampling"
"""The name of the diagnostics in the tree of an audit."""


def sampling(learnt: PosteriorPriors, draws: xr.DataTree | None = None) -> xr.Dataset:
    """Return the diagnostics of the draws that a prior was learnt by.

    Parameters
    ----------
    learnt : PosteriorPriors
        One prior a draw; the variables that its build reads are diagnosed.
    draws : DataTree, optional
        All groups of the draws: divergences are counted in ``sample_stats``, and data in
        ``observed_data``.

    Returns
    -------
    Dataset
        Over ``variable``: ``rhat`` (the largest of its components), ``ess_bulk`` and ``ess_tail``
        (the smallest); NaN where there is nothing to diagnose, as of one chain or of constants.
        Attributes: ``chains``, ``draws`` (of each), ``exact``, ``same_secrets`` (whether all draws
        charge the same labels or atoms), ``divergences`` (-1: not known) and ``data``, in words.
    """
    import xarray as xr

    names = [] if learnt.exact else sorted(learnt._chains.read)
    found = [diagnostics_of(learnt._chains.variables[name]) for name in names]
    columns = np.array(found, float).reshape(-1, 3).T
    keys = ("rhat", "ess_bulk", "ess_tail")
    chains, size = learnt.shape
    return xr.Dataset(
        {key: ("variable", column) for key, column in zip(keys, columns, strict=True)},
        {"variable": ("variable", np.array(names, dtype=str))},
        {
            "chains": chains,
            "draws": size,
            "exact": int(learnt.exact),
            "same_secrets": int(_same_secrets(learnt)),
            "divergences": _divergences(draws),
            "data": _data(draws),
        },
    )


def diagnostics_of(values: xr.DataArray) -> tuple[float, float, float]:
    """Return the worst R-hat, bulk and tail ESS of the components of a variable."""
    nothing = np.nan, np.nan, np.nan
    if values.sizes["chain"] < 2 or values.sizes["draw"] < 4:
        return nothing
    worst = []
    for part in parts_of(values):
        numbers = numbers_of(part.transpose("chain", "draw", ...).values)
        entries = numbers.reshape(*numbers.shape[:2], -1)
        found = convergence(entries[..., np.isfinite(entries).all(axis=(0, 1))])
        if found is not None:
            worst.append(found)
    if not worst:
        return nothing
    rhat, bulk, tail = np.array(worst, float).T
    return float(rhat.max()), float(bulk.min()), float(tail.min())


def _same_secrets(learnt: PosteriorPriors) -> bool:
    """Return whether all draws charge the same labels or atoms."""
    seen = set()
    for _, priors in learnt.blocks():
        charged = charged_by(priors)
        if charged is not None:
            seen |= {row.tobytes() for row in np.atleast_2d(charged)}
    return len(seen) <= 1


def _divergences(draws: xr.DataTree | None) -> int:
    if draws is None or "sample_stats" not in draws.children:
        return -1
    stats = draws.children["sample_stats"].to_dataset()
    return int(stats["diverging"].sum()) if "diverging" in stats else -1


def _data(draws: xr.DataTree | None) -> str:
    """Say how many data the draws were learnt from; whole numbers may be counts: their sum too."""
    if draws is None or "observed_data" not in draws.children:
        return ""
    said: list[str] = []
    for name, values in draws["observed_data"].to_dataset().data_vars.items():
        count = f"{values.size} value{'' if values.size == 1 else 's'}"
        whole: Any = values.dtype.kind in "iu"
        said.append(f"{name}: {count}{f', {int(values.sum())} in total' if whole else ''}")
    return "; ".join(said)
