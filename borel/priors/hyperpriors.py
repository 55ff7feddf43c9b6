"""How much a figure over a posterior depends on the hyperprior: refits, and power-scaling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput
from borel.priors.datatrees import leakage_tree
from borel.priors.posteriors import PosteriorPriors
from borel.probability.bound import weakest

if TYPE_CHECKING:
    import xarray as xr


def sensitivity(
    posteriors: Mapping[str, PosteriorPriors],
    mechanism: Any,
    *,
    figure: Callable[[Any], Any] | None = None,
    levels: Sequence[float] = (0.5, 0.9, 0.95),
    thresholds: Sequence[float] = (),
    confidence: float = 0.95,
) -> xr.Dataset:
    """Compute one figure under several hyperpriors, side by side.

    Parameters
    ----------
    posteriors : mapping
        By the name of the hyperprior, the posterior over priors that was fitted with it to the
        same data.
    mechanism : Mechanism
        The release.
    figure : callable, optional
        A function of a joint that returns a RandomBound; the supremum of PML if not given.
    levels : sequence of float
        Posterior quantiles.
    thresholds : sequence of float
        Levels t of which the posterior probability P(figure <= t) is wanted.
    confidence : float
        Of each interval by itself.

    Returns
    -------
    Dataset
        Over ``hyperprior``: ``lower``, ``upper`` and ``status`` of the quantiles (dim ``level``),
        and ``holds_lower``, ``holds_upper`` (dim ``threshold``). ``attrs["spread"]`` is the
        distance of the middles of the largest level, a number to read, not a bound: other
        hyperpriors may do worse.

    Raises
    ------
    InvalidInput
        No mapping of posteriors over priors, or a figure that is no RandomBound.

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.mechanisms.randomized_response(k=2, epsilon=1.0)
    >>> fits = {
    ...     f"Dirichlet({a})": bl.priors.from_posterior(
    ...         bl.models.dirichlet_posterior([3, 7], alpha=a, random_seed=1),
    ...         lambda draw: bl.pmf(draw["p"]),
    ...     )
    ...     for a in (0.5, 2.0)
    ... }
    >>> bl.priors.sensitivity(fits, mech).sizes["hyperprior"]
    2
    """
    import xarray as xr

    from borel.figures.leakage import pml

    if not isinstance(posteriors, Mapping) or not posteriors:
        raise InvalidInput(
            "bl.priors.sensitivity",
            expected="a mapping from names to posteriors over priors",
            got=type(posteriors).__name__,
        )
    rows, shares = [], []
    for name, learnt in posteriors.items():
        if not isinstance(learnt, PosteriorPriors):
            raise InvalidInput(
                "bl.priors.sensitivity",
                expected="posteriors over priors, bl.priors.from_posterior(...)",
                got=type(learnt).__name__,
                where=repr(name),
            )
        joint = learnt * mechanism
        found = pml(joint).sup() if figure is None else figure(joint)
        if not hasattr(found, "draws"):
            raise InvalidInput(
                "bl.priors.sensitivity", expected="a RandomBound", got=type(found).__name__
            )
        rows.append([found.quantile(q, confidence=confidence) for q in levels])
        shares.append([found.cdf(t, confidence=confidence) for t in thresholds])
    names = [str(name) for name in posteriors]
    dims = ("hyperprior", "level")

    def table(bounds: list, end: str) -> list:
        return [[getattr(b, end) for b in row] for row in bounds]

    data: dict[str, Any] = {end: (dims, table(rows, end)) for end in ("lower", "upper", "status")}
    coords: dict[str, Any] = {"hyperprior": names, "level": list(levels)}
    if len(thresholds):
        coords["threshold"] = list(thresholds)
        dims = ("hyperprior", "threshold")
        for end in ("lower", "upper"):
            data[f"holds_{end}"] = (dims, table(shares, end), {"units": "probability"})
    middles = [row[-1].value for row in rows]
    return xr.Dataset(
        data,
        coords,
        {
            "quantity": found.name,
            "units": found.units,
            "confidence": confidence,
            "status": weakest(b.status for row in rows for b in row),
            "spread": float(max(middles) - min(middles)) if np.isfinite(middles).all() else np.inf,
        },
    )


def power_scaling(data: Any, figure: Any, *, model: Any = None) -> xr.Dataset:
    r"""Return how a figure moves when the prior, or the likelihood, is raised to a power near 1.

    Parameters
    ----------
    data : DataTree or InferenceData
        The posterior, with groups ``log_prior`` and ``log_likelihood`` unless `model` is given.
    figure : RandomBound
        A figure of the same draws.
    model : pymc.Model, optional
        The model of the data, with which PyMC computes the groups that are missing.

    Returns
    -------
    Dataset
        ``prior`` and ``likelihood``: ArviZ's sensitivities (a gradient of a divergence of cdfs); a
        value above 0.05 for the prior says that the figure rests on the hyperprior noticeably.
        They are estimates by importance sampling: ``attrs["status"]``.

    Raises
    ------
    InvalidInput
        A group that is missing, draws of another shape, or infinite ones.

    Notes
    -----
    ``arviz_stats.psense_summary(bl.leakage_tree({"epsilon": figure}, data))`` shows the figure
    beside the parameters, with ArviZ's diagnosis in words.

    References
    ----------
    Kallioinen, Paananen, Buerkner, Vehtari, "Detecting and diagnosing prior and likelihood
    sensitivity with power-scaling" (2024).
    """
    import xarray as xr

    include = ("log_prior", "log_likelihood")
    tree = leakage_tree({"figure": figure}, data, include=include, model=model)
    found = {group: _sensitivity(tree, group) for group in ("prior", "likelihood")}
    about = {"quantity": figure.name, "status": "undecided" if figure.trouble else "estimate"}
    return xr.Dataset(found, attrs=about)


def _sensitivity(tree: xr.DataTree, group: str) -> float:
    import arviz_stats as azs

    logs = tree[f"log_{group}"].to_dataset()
    whole = sum(log.sum({*log.dims} - {"chain", "draw"}).values for log in logs.data_vars.values())
    if np.ptp(whole) == 0:  # a flat prior: no power of it moves anything, and ArviZ has no tail
        return 0.0
    return float(azs.psense(tree, var_names=["figure"], group=group)["figure"])
