"""Plots of posterior studies in ArviZ's manner: each returns an ``arviz_plots.PlotCollection``.

Facets, aesthetics and the backend are ArviZ's: pass ``plot_collection``, ``backend`` and what
``PlotCollection.wrap`` takes. What is drawn is data of `borel.audits.plots.posterior_curves`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel.audits.plots.posterior_curves import ALPHAS, alpha_curve, named, prior_curve
from borel.colours import BLUE, ORANGE
from borel.errors import InvalidInput
from borel.priors.datatrees import leakage_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import xarray as xr

    from borel.probability.measure import Measure

_BAND = {"color": ORANGE, "alpha": 0.35}
_FEW = 12
_LINE = {"color": BLUE}
_BAND_VISUALS = ("band", "line", "title", "xlabel", "ylabel")
_PRIOR_VISUALS = ("line", "points", "xlabel", "ylabel", "ticks")


def plot_posterior(
    dt: Any,
    *,
    var_names: str | Sequence[str] | None = None,
    filter_vars: str | None = None,
    group: str = "leakage",
    coords: Mapping[str, Any] | None = None,
    sample_dims: str | Sequence[str] | None = None,
    ci_kind: str | None = None,
    ci_prob: float | None = None,
    plot_collection: Any = None,
    backend: str | None = None,
    labeller: Any = None,
    aes_by_visuals: Mapping[str, Sequence[str]] | None = None,
    visuals: Mapping[str, Any] | None = None,
    stats: Mapping[str, Any] | None = None,
    **pc_kwargs: Any,
) -> Any:
    """Plot the posterior of epsilon, or of several figures, with credible intervals.

    It is ``arviz_plots.plot_dist`` of the ``leakage`` group, with the statuses in the titles.

    Parameters
    ----------
    dt : DataTree, RandomBound or mapping
        What `leakage_tree` returned; or figures, ``bl.pml(learnt * mech).sup()``, or several by
        name, of which it makes one.
    var_names : str or sequence of str, optional
        Which of them.
    group : str
        The group of the tree.
    ci_kind : {"eti", "hdi"}, optional
        Equal-tailed, or shortest; ``arviz_base.rcParams["stats.ci_kind"]`` if not given. The
        interval drawn is an estimate; `RandomBound.quantile` has its Monte Carlo error.
    ci_prob : float, optional
        Posterior mass of the interval; ``arviz_base.rcParams["stats.ci_prob"]`` if not given.
    labeller : labeller, optional
        Of the titles, in place of names with their statuses.
    filter_vars, coords, sample_dims, plot_collection, backend
        As in ``arviz_plots.plot_dist``.
    aes_by_visuals, visuals, stats, **pc_kwargs
        Likewise.

    Returns
    -------
    PlotCollection
        The plots, a facet a figure, and a group or an outcome; titles say the status, and undecided
        draws are called so.

    Raises
    ------
    InvalidInput
        A tree without that group; figures that are no RandomBound, or have infinite draws.
    """
    import arviz_plots as azp
    import xarray as xr

    tree = dt if isinstance(dt, xr.DataTree) else leakage_tree(dt)
    if group not in tree.children:
        raise InvalidInput(
            "plot_posterior",
            expected=f"a DataTree with a group {group}",
            got=f"groups {sorted(tree.children)}",
            mend="bl.leakage_tree(figures, data) makes one.",
        )
    titles = {
        str(n): f"{n} ({v.attrs['status']})" if "status" in v.attrs else str(n)
        for n, v in tree[group].data_vars.items()
    }
    names = [var_names] if isinstance(var_names, str) else var_names
    # the types of ArviZ differ between its versions
    about: dict[str, Any] = {"filter_vars": filter_vars, "backend": backend, "ci_kind": ci_kind}
    return azp.plot_dist(
        tree,
        var_names=None if names is None else list(names),
        group=group,
        coords=coords,
        sample_dims=sample_dims,
        ci_prob=ci_prob,
        plot_collection=plot_collection,
        labeller=_Titles(titles, backend) if labeller is None else labeller,
        aes_by_visuals=aes_by_visuals,  # type: ignore[arg-type]
        visuals=visuals,  # type: ignore[arg-type]
        stats=stats,  # type: ignore[arg-type]
        **about,
        **pc_kwargs,
    )


class _Titles:
    """A labeller that gives variables their titles, in one line: a second one may be cut."""

    def __init__(self, titles: dict[str, str], backend: str | None):
        from arviz_base.labels import BaseLabeller

        self._titles, self._backend, self._base = titles, backend, BaseLabeller()

    def make_label_vert(self, var_name: Any, sel: Any, isel: Any) -> str:
        title = self._titles.get(str(var_name), str(var_name))
        where = self._base.sel_to_str(sel, isel)
        return _literal(f"{where}: {title}" if where else title, self._backend)

    def make_label_flat(self, var_name: Any, sel: Any, isel: Any) -> str:
        return self._base.make_label_flat(var_name, sel, isel)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)


def plot_alpha(
    figures: Any,
    *,
    var_names: str | Sequence[str] | None = None,
    alphas: Sequence[float] = ALPHAS,
    confidence: float = 0.95,
    plot_collection: Any = None,
    backend: str | None = None,
    aes_by_visuals: Mapping[str, Sequence[str]] | None = None,
    visuals: Mapping[str, Any] | None = None,
    **pc_kwargs: Any,
) -> Any:
    r"""Plot the smallest epsilon of a set of priors of mass 1 - alpha, against alpha.

    Parameters
    ----------
    figures : RandomBound or mapping
        ``bl.pml(learnt * mech).sup()``, or several by name: a facet each.
    var_names : str or sequence of str, optional
        Which of them.
    alphas : sequence of float
        Posterior masses that are left out.
    confidence : float
        Of the Monte Carlo interval at each alpha, the band.
    plot_collection, backend, **pc_kwargs
        As in ``arviz_plots``.
    aes_by_visuals, visuals : mapping, optional
        As in ``arviz_plots``, of ``band``, ``line``, ``title``, ``xlabel``, ``ylabel``:
        aesthetics that a visual follows; and False, or keyword arguments for it.

    Returns
    -------
    PlotCollection
        alpha against epsilon.
    """
    found = named(figures, "plot_alpha")
    wanted = [var_names] if isinstance(var_names, str) else var_names or list(found)
    for name in wanted:
        if name not in found:
            raise InvalidInput("plot_alpha", expected=f"some of {list(found)}", got=repr(name))
    curves = {n: alpha_curve(found[n], alphas, confidence=confidence) for n in wanted}
    bands = {
        n: (c["alpha"].values, c["lower"].values, c["upper"].values) for n, c in curves.items()
    }
    titles = {n: f"{n} ({c.attrs['status']})" for n, c in curves.items()}
    units = {c.attrs["units"] for c in curves.values()}
    return _bands(
        bands,
        titles,
        ("posterior mass left out, alpha", f"smallest level ({', '.join(sorted(units))})"),
        plot_collection,
        backend,
        (visuals, aes_by_visuals),
        pc_kwargs,
    )


def plot_frontier(
    found: xr.Dataset,
    *,
    plot_collection: Any = None,
    backend: str | None = None,
    aes_by_visuals: Mapping[str, Sequence[str]] | None = None,
    visuals: Mapping[str, Any] | None = None,
    **pc_kwargs: Any,
) -> Any:
    """Plot a privacy-utility frontier: utility against privacy, with the band of its utility.

    Parameters
    ----------
    found : Dataset
        What `frontier` returned.
    plot_collection, backend, **pc_kwargs
        As in ``arviz_plots``.
    aes_by_visuals, visuals : mapping, optional
        As in ``arviz_plots``, of ``band``, ``line``, ``title``, ``xlabel``, ``ylabel``:
        aesthetics that a visual follows; and False, or keyword arguments for it.

    Returns
    -------
    PlotCollection
        Privacy (its median over draws, in nats) against utility, and the band of the utility: a
        panel for each measure of privacy.
    """
    missing = {"privacy", "utility", "utility_lower", "utility_upper"} - set(found.data_vars)
    if missing:
        raise InvalidInput(
            "plot_frontier", expected="what bl.frontier returned", got=f"no {sorted(missing)}"
        )
    share = f"band: {100 * found.attrs['prob']:g} % of the posterior ({found.attrs['status']})"
    curves, titles = {}, {}
    for name in found["measure"].values.tolist() if "measure" in found.dims else ["frontier"]:
        one = found.sel(measure=name) if "measure" in found.dims else found
        order = np.argsort(one["privacy"].values, kind="stable")
        ends = (one[key].values[order] for key in ("utility_lower", "utility_upper", "utility"))
        curves[name] = (one["privacy"].values[order], *ends)
        titles[name] = f"{'privacy' if name == 'frontier' else name} and utility, {share}"
    return _bands(
        curves,
        titles,
        ("epsilon (nats)", "utility"),
        plot_collection,
        backend,
        (visuals, aes_by_visuals),
        pc_kwargs,
    )


def plot_worst_prior(
    bound: Any,
    nominal: Measure | Mapping[str, Measure],
    *,
    plot_collection: Any = None,
    backend: str | None = None,
    aes_by_visuals: Mapping[str, Sequence[str]] | None = None,
    visuals: Mapping[str, Any] | None = None,
    **pc_kwargs: Any,
) -> Any:
    """Plot the worst prior of a set beside a nominal one.

    Parameters
    ----------
    bound : Bound or Measure
        A figure over a set of priors, whose witness holds the worst ``prior``; or that prior.
    nominal : Measure, or mapping of them
        What to compare it with: the posterior mean, the centre of the set, ...
    plot_collection, backend, **pc_kwargs
        As in ``arviz_plots``.
    aes_by_visuals, visuals : mapping, optional
        As in ``arviz_plots``, of ``line``, ``points``, ``xlabel``, ``ylabel``, ``ticks``:
        aesthetics that a visual follows; and False, or keyword arguments for it.

    Returns
    -------
    PlotCollection
        Probabilities of the labels, or densities: a colour for each prior, the worst first.
    """
    import arviz_plots as azp
    import xarray as xr

    from borel.probability.measure import Measure

    worst = bound if isinstance(bound, Measure) else (bound.witness or {}).get("prior")
    if not isinstance(worst, Measure):
        raise InvalidInput(
            "plot_worst_prior",
            expected="a Bound whose witness holds a prior",
            got=repr(bound)[:80],
            mend="bl.pml(prior_set * mech).sup() is one, where the secret is finite; of a "
            "continuous secret no worst prior is returned: give one, such as a member to compare.",
        )
    others = {"nominal": nominal} if isinstance(nominal, Measure) else dict(nominal)
    curve = prior_curve({"worst": worst, **others})
    labels = curve["x"].values if curve.attrs["kind"] == "finite" else None
    x = curve["x"].values.astype(float) if labels is None else np.arange(curve.sizes["x"])
    dense = curve.attrs["kind"] in ("continuous", "mixed")
    names = [_literal(str(n), backend) for n in curve.data_vars]
    drawn = xr.Dataset(
        {"prior": (("which", "plot_axis", "x"), [[x, v.values] for v in curve.data_vars.values()])},
        {"which": names, "plot_axis": ["x", "y"]},
    )
    if plot_collection is None:
        pc_kwargs.setdefault("aes", {"color": ["which"]})
        plot_collection = azp.PlotCollection.wrap(drawn, backend=backend, **pc_kwargs)
    see = azp.visuals
    show = _shower("plot_worst_prior", plot_collection, visuals, aes_by_visuals, _PRIOR_VISUALS)
    show(see.line_xy, "line", data=drawn)
    if not dense:
        show(see.scatter_xy, "points", data=drawn)
    about = {"data": drawn, "ignore_aes": "all"}
    show(see.labelled_x, "xlabel", text="x", **about)
    show(see.labelled_y, "ylabel", text="density" if dense else "probability", **about)
    if labels is not None and len(labels) <= _FEW:
        texts = [_literal(str(label), backend) for label in labels]
        ticks = {"values": list(x), "labels": texts, "store_artist": False}
        show(see.set_xticks, "ticks", **ticks, **about)
    if "color" in plot_collection.aes_set:
        plot_collection.add_legend("which")
    return plot_collection


def _literal(text: str, backend: str | None) -> str:
    """Return text in which Matplotlib takes a dollar for a dollar, and not for mathematics."""
    return text.replace("$", r"\$") if backend in (None, "matplotlib") else text


def draw_alpha(curve: xr.Dataset, ax: Any) -> Any:
    """Draw what `alpha_curve` returned on Axes of one's own, for the report."""
    from borel.figures.leakage_plots import finished, mark_infinite

    low, high = curve["lower"].values, curve["upper"].values
    alpha, finite = curve["alpha"].values, np.isfinite(high)
    ax.fill_between(alpha, low, np.where(finite, high, np.nan), linewidth=0, **_BAND)
    ax.plot(alpha, np.where(finite, high, np.nan), linewidth=1.6, **_LINE)
    if not finite.all():
        mark_infinite(ax, alpha, low, high, np.concatenate([low, high]))
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.set_xticks(ticks := [a for a in (0.5, 0.2, 0.1, 0.05, 0.02, 0.01) if a in alpha])
    ax.set_xticklabels([f"{t:g}" for t in ticks])
    ax.minorticks_off()
    ax.set_xlabel("posterior mass left out, alpha")
    ax.set_ylabel(f"smallest level ({curve.attrs['units']})")
    return finished(ax, f"{curve.attrs['quantity']} against alpha ({curve.attrs['status']})")


def _bands(
    bands: dict[str, tuple],
    titles: dict[str, str],
    axes: tuple[str, str],
    collection: Any,
    backend: str | None,
    wanted: tuple[Any, Any],
    pc_kwargs: dict[str, Any],
) -> Any:
    """Draw bands (x, lower, upper) with a line, the upper end or a fourth column, a facet each."""
    import arviz_plots as azp
    import xarray as xr

    def shown(values: Any) -> np.ndarray:
        values = np.asarray(values, float)
        return np.where(np.isfinite(values), values, np.nan)

    areas, lines = {}, {}
    for name, (x, low, high, *line) in bands.items():
        stacked = [shown(x), shown(low), shown(high)]
        areas[name] = (("kwarg", "point"), stacked)
        lines[name] = (("plot_axis", "point"), [stacked[0], shown(line[0]) if line else stacked[2]])
    area = xr.Dataset(areas, {"kwarg": ["x", "y_bottom", "y_top"]})
    curve = xr.Dataset(lines, {"plot_axis": ["x", "y"]})
    if collection is None:
        pc_kwargs.setdefault("cols", ["__variable__"])
        collection = azp.PlotCollection.wrap(curve, backend=backend, **pc_kwargs)
    see, show = azp.visuals, _shower("the plot", collection, *wanted, _BAND_VISUALS)
    show(see.fill_between_y, "band", data=area, **_BAND)
    show(see.line_xy, "line", data=curve, **_LINE)
    labeller = _Titles(titles, backend)
    show(see.labelled_title, "title", data=curve, labeller=labeller, subset_info=True)
    for place, visual in enumerate((see.labelled_x, see.labelled_y)):
        show(visual, ("xlabel", "ylabel")[place], data=curve, text=axes[place])
    return collection


def _shower(
    what: str, collection: Any, visuals: Any, aes_by_visuals: Any, names: tuple[str, ...]
) -> Callable[..., None]:
    """Return what draws a visual of a collection as `visuals` and `aes_by_visuals` ask for it."""
    chosen, aesthetics = dict(visuals or {}), dict(aes_by_visuals or {})
    if unknown := sorted({*chosen, *aesthetics} - set(names)):
        raise InvalidInput(what, expected=f"visuals among {', '.join(names)}", got=repr(unknown[0]))

    def show(visual: Any, name: str, **kwargs: Any) -> None:
        given = chosen.get(name, {})
        if given is False:
            return
        if name in aesthetics:
            kwargs["ignore_aes"] = set(collection.aes_set) - set(aesthetics[name])
        collection.map(visual, name, **{**kwargs, **({} if given is True else dict(given or {}))})

    return show
