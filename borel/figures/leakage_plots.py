"""Plots: leakage against the outcome, the law of the leakage, the posterior of epsilon.

Each draws data that an audit also keeps, says its status in the title, and shows what is infinite.
Matplotlib is imported when a plot is drawn; its settings are left as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from borel import _compat
from borel.colours import BLUE, GREY, ORANGE
from borel.engine.figures import in_reports
from borel.errors import InvalidInput

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

_MANY = 30
_LONG = 50
"""Characters of the labels of all outcomes that fit side by side."""
_ROWS = 60
"""Labels that a plot with a row for each outcome shows; of more, some in between are left out."""
_HEIGHT = 3.6


def plot_leakage(
    variable: Any, *, outcomes: Any = None, prob: float | None = None, ax: Axes | None = None
) -> Axes:
    """Plot a leakage against the outcome, with its band.

    The band is the enclosure; for an estimate, its error; under a posterior over priors, the
    equal-tailed interval of posterior mass `prob`. An infinite leakage is an arrow at the top. Over
    a set of priors the supremum is drawn, and dashed the leakage under the nominal prior.

    Parameters
    ----------
    variable : LeakageVariable, SetLeakage or PosteriorLeakage
        ``bl.pml(joint)`` or ``bl.pmc(joint)``.
    outcomes : array of labels, optional
        Where; default all labels, or about 200 points where the outcomes lie.
    prob : float, optional
        Posterior mass of the band, under a posterior; ``arviz_base.rcParams["stats.ci_prob"]`` if
        not given.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        The axes: outcome against nats.

    Raises
    ------
    OutsideAlphabet
        An outcome that is not in the alphabet.
    NotYet
        Products of alphabets that are not finite.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> plot_leakage(bl.pml(joint), ax=blank_axes()).get_title(loc="left")
    'PML against the outcome (exact)'
    """
    from borel.figures.leakage_curves import leakage_curve

    _require(variable, "plot_leakage", "joint", "bl.pml(joint) or bl.pmc(joint)")
    share = _compat.ci_prob() if prob is None else prob
    curve = leakage_curve(variable, outcomes, prob=share)
    return draw_curve(curve, _axes(ax, curve_height(curve)))


def plot_law(variable: Any, *, ax: Axes | None = None) -> Axes:
    """Plot the law of a leakage: P{leakage <= t} against t, with its enclosure.

    Parameters
    ----------
    variable : LeakageVariable
        ``bl.pml(joint)`` or ``bl.pmc(joint)``.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        The axes: nats against probability.

    Raises
    ------
    NotYet
        A leakage over a posterior of priors, unless its alphabets are finite.
    """
    from borel.figures.leakage_curves import law_curve

    _require(variable, "plot_law", "joint", "bl.pml(joint) or bl.pmc(joint)")
    return draw_law(law_curve(variable), _axes(ax))


def plot_epsilon(random_bound: Any, *, prob: float | None = None, ax: Axes | None = None) -> Axes:
    """Plot the posterior of epsilon as a histogram of its draws, with a credible interval.

    Parameters
    ----------
    random_bound : RandomBound
        ``bl.pml(learnt * mech).sup()``.
    prob : float, optional
        Posterior mass of the interval: the shortest, of
        ``arviz_base.rcParams["stats.ci_prob"]`` if not given; or, when some draws are infinite,
        the one that ends at a quantile, that of 0.95 if not given.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        The axes: nats against the share of the draws.
    """
    _require(random_bound, "plot_epsilon", "draws", "a RandomBound, bl.pml(learnt * mech).sup()")
    if prob is None:  # a quantile has an upper bound, and its level is not left to a setting
        finite = np.isfinite(random_bound.draws["upper"].values).all()
        prob = _compat.ci_prob() if finite else 0.95
    return draw_epsilon(random_bound, _axes(ax), prob=prob)


def blank_axes(width: float = 6.4, height: float = _HEIGHT) -> Axes:
    """Return the axes of a figure of its own, which pyplot knows nothing of."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()


# -- drawing what is computed ---------------------------------------------------------------


def draw_curve(curve: xr.Dataset, ax: Axes) -> Axes:
    """Draw what `borel.figures.leakage_curves.leakage_curve` returned."""
    kind = in_reports()[curve.attrs["kind"]].label
    low, high = curve["lower"].values, curve["upper"].values
    middle = curve["median"].values if "median" in curve else _middle(low, high)
    over = " over a set of priors" if curve.attrs.get("over") == "set" else ""
    title = f"{kind} against the outcome{over} ({curve.attrs['status']})"
    if in_rows(curve):
        _draw_rows(curve, low, middle, high, ax)
        ax.set_xlabel(f"{kind} (nats)")
        finished(ax, title, grid="x")
        whole: Any = ax.get_figure(root=True)
        _legend(ax, below=0.2 * _HEIGHT / whole.get_figheight())
        return ax
    if curve.attrs["outcome_kind"] in ("finite", "countable"):
        x = _draw_points(curve, low, middle, high, ax)
    else:
        x = label_places(curve)
        _draw_line(curve, x, low, middle, high, ax)
    nominal = _draw_nominal(curve, x, ax)
    mark_infinite(ax, x, low, high, np.concatenate([low, middle, high, nominal]))
    ax.set_xlabel("outcome y")
    ax.set_ylabel(f"{kind} (nats)")
    finished(ax, title)
    if "median" in curve or over or curve.attrs["status"] == "estimate":
        _legend(ax)
    return ax


def _names(curve: xr.Dataset) -> list[str] | None:
    """Return the labels of the outcomes as text; None for numbers that are an axis of their own."""
    labels = curve["y"].values
    if curve.attrs["outcome_kind"] not in ("finite", "countable"):
        return None
    if labels.dtype.kind in "iuf" and len(labels) > _MANY:
        return None
    return [str(label) for label in labels]


def label_places(curve: xr.Dataset) -> np.ndarray:
    """Return where the outcomes of a curve are on its axis: numbers, or labels at 0, 1, ..."""
    labels = curve["y"].values
    if _names(curve) is None:
        return labels.astype(float)
    return np.arange(len(labels), dtype=float)


def in_rows(curve: xr.Dataset) -> bool:
    """Return whether the labels of a curve are too long, or too many, to stand side by side."""
    names = _names(curve)
    return names is not None and (sum(map(len, names)) > _LONG or len(names) > _MANY)


def curve_height(curve: xr.Dataset) -> float:
    """Return the height, in inches, of the plot of a curve: with a row for each label it grows."""
    if not in_rows(curve):
        return _HEIGHT
    lines = sum(name.count("\n") + 1.5 for name in _rows(curve).values())
    return max(_HEIGHT, 1.3 + 0.17 * lines)


def _rows(curve: xr.Dataset) -> dict[int, str]:
    """Return the labels that are shown, wrapped, by position."""
    names = _names(curve) or []
    return {i: _wrapped(names[i], 34) for i in range(0, len(names), -(-len(names) // _ROWS))}


def _draw_rows(curve: xr.Dataset, low: Any, middle: Any, high: Any, ax: Axes) -> None:
    """Draw a curve over labels as rows from the top, each label whole."""
    y, rows = np.arange(len(low), dtype=float), _rows(curve)
    ax.errorbar(y=y, fmt="o", **_points(curve, low, middle, high, "x"))
    shown = [low, middle, high]
    if "nominal_upper" in curve:
        nominal = _middle(curve["nominal_lower"].values, curve["nominal_upper"].values)
        ax.plot(
            np.where(np.isfinite(nominal), nominal, np.nan), y, **_nominal_style(curve, points=True)
        )
        shown.append(nominal)
    values = np.concatenate(shown)
    values = values[np.isfinite(values)]
    top = float(values.max()) * 1.18 if values.size and values.max() > 0 else 1.0
    for where, words, colour in (
        (np.isinf(low), "inf", ORANGE),
        (np.isinf(high) & ~np.isinf(low), "no upper bound", GREY),
    ):
        places = np.flatnonzero(where)
        if not len(places):
            continue
        ax.plot(np.full(len(places), 0.96 * top), y[places], ">", color=colour, markersize=7)
        known = places[np.isfinite(low[places])]
        ax.hlines(y[known], low[known], 0.96 * top, color=colour, linewidth=0.8)
        for i in places:
            ax.annotate(
                words,
                (0.96 * top, y[i]),
                xytext=(-8, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize="small",
                color=colour,
            )
    ax.set_xlim(-0.04 * top, top)
    ax.set_yticks(list(rows), list(rows.values()), parse_math=False)  # a dollar is a dollar
    ax.set_ylim(len(y) - 0.4, -0.6)
    ax.set_ylabel("outcome y")


def _points(curve: xr.Dataset, low: Any, middle: Any, high: Any, along: str) -> dict[str, Any]:
    """Return the values, spread and look of points, for ``errorbar``; NaN where infinite."""
    finite = np.isfinite(low) & np.isfinite(high)
    low, middle, high = (np.where(finite, v, np.nan) for v in (low, middle, high))
    return {
        along: middle,
        f"{along}err": np.maximum(np.array([middle - low, high - middle]), 0.0),
        "color": BLUE,
        "ecolor": ORANGE,
        "capsize": 4,
        "markersize": 5 if len(low) <= _MANY else 3,
        "label": f"{_curve_name(curve)}, {_band_name(curve)}",
    }


def _nominal_style(curve: xr.Dataset, *, points: bool) -> dict[str, Any]:
    line = {"marker": "D", "linestyle": "", "markersize": 5} if points else {"linestyle": "--"}
    name = f"nominal prior ({curve.attrs['nominal_status']})"
    return {"color": GREY, "markerfacecolor": "none", "label": name, **line}


def _draw_nominal(curve: xr.Dataset, x: np.ndarray, ax: Axes) -> np.ndarray:
    """Draw the leakage under the nominal prior of a set, if the curve has it."""
    if "nominal_upper" not in curve:
        return np.zeros(0)
    values = _middle(curve["nominal_lower"].values, curve["nominal_upper"].values)
    shown = np.where(np.isfinite(values), values, np.nan)
    points = curve.attrs["outcome_kind"] in ("finite", "countable")
    ax.plot(x, shown, **_nominal_style(curve, points=points))
    return values


def _curve_name(curve: xr.Dataset) -> str:
    if "median" in curve:
        return "posterior median"
    return "supremum over the set" if curve.attrs.get("over") == "set" else "leakage"


def _band_name(curve: xr.Dataset) -> str:
    if "median" in curve:
        return f"{100 * curve.attrs['prob']:g} % credible band"
    return "error estimate" if curve.attrs["status"] == "estimate" else "enclosure"


def _draw_points(curve: xr.Dataset, low: Any, middle: Any, high: Any, ax: Axes) -> np.ndarray:
    x, names = label_places(curve), _names(curve)
    finite = np.isfinite(low) & np.isfinite(high)
    at = {name: value[finite] for name, value in (("low", low), ("middle", middle), ("high", high))}
    ax.errorbar(x=x[finite], fmt="o", **_points(curve, **at, along="y"))
    if names is not None:
        ax.set_xticks(x, names, parse_math=False)  # a dollar is a dollar
        ax.set_xlim(-0.6, len(x) - 0.4)
    return x


def _draw_line(curve: xr.Dataset, x: Any, low: Any, middle: Any, high: Any, ax: Axes) -> None:
    atoms = np.isin(x, np.asarray(curve.attrs.get("atoms", ()), float))
    finite = np.isfinite(low) & np.isfinite(high) & ~atoms
    gap = np.where(finite, middle, np.nan)  # a line breaks where the leakage is infinite
    name = _curve_name(curve)
    ax.fill_between(
        x,
        np.where(finite, low, np.nan),
        np.where(finite, high, np.nan),
        color=ORANGE,
        alpha=0.35,
        linewidth=0,
        label=_band_name(curve),
    )
    ax.plot(x, gap, color=BLUE, linewidth=1.6, label=name)
    at = atoms & np.isfinite(high)
    if at.any():
        ax.plot(x[at], middle[at], "D", color=BLUE, markersize=6, label="at an atom")


def draw_law(law: xr.Dataset, ax: Axes) -> Axes:
    """Draw what `borel.figures.leakage_curves.law_curve` returned."""
    kind, t = in_reports()[law.attrs["kind"]].label, law["t"].values
    low, high = law["lower"].values, law["upper"].values
    line = (low + high) / 2
    # between two points the law is known to be monotone, no more
    high = np.append(high[1:], high[-1])
    if law.attrs["outcome_kind"] == "finite":  # past its last finite jump it is constant
        t = np.append(t, 1.05 * t[-1] if t[-1] > 0 else 1.0)
        low, line, high = (np.append(v, v[-1]) for v in (low, line, high))
    ax.fill_between(t, low, high, step="post", color=ORANGE, alpha=0.35, linewidth=0)
    discrete = law.attrs["outcome_kind"] in ("finite", "countable")
    ax.plot(t, line, drawstyle="steps-post" if discrete else "default", color=BLUE, linewidth=1.6)
    ax.set_xlim(0, t[-1])
    ax.set_ylim(-0.03, 1.05)
    beyond = 1 - high[-1]
    ax.set_xlabel(
        "t (nats)"
        if beyond <= 1e-6
        else f"t (nats); probability {beyond:.3g} lies further out, up to inf"
    )
    ax.set_ylabel(f"P{{{kind} <= t}}")
    over = law.attrs.get("over", "outcomes")
    return finished(ax, f"Law of {kind} over {over} ({law.attrs['status']})")


def draw_epsilon(figure: Any, ax: Axes, *, prob: float = 0.95) -> Axes:
    """Draw the posterior of a `RandomBound`."""
    low, high = (figure.draws[end].values.ravel() for end in ("lower", "upper"))
    values = _middle(low, high)
    finite = values[np.isfinite(values)]
    name = figure.name.replace("pml", "PML").replace("pmc", "PMC")
    ax.set_xlabel(f"{name} (nats)", parse_math=False)
    ax.set_ylabel("share of the draws")
    if figure.trouble:
        ax.text(
            0.5,
            0.92,
            _wrapped(f"undecided: {figure.trouble}"),
            transform=ax.transAxes,
            ha="center",
            va="top",
            fontsize="small",
            color=ORANGE,
            zorder=5,
            parse_math=False,
            bbox={"facecolor": "white", "alpha": 0.85, "linewidth": 0},
        )
    if finite.size:
        spread = float(finite.max() - finite.min())
        flat = spread <= 1e-9 * max(1.0, abs(float(finite[0])))
        middle = float(finite.mean())
        bins = (
            np.linspace(middle - 0.5, middle + 0.5, 42) if flat else min(60, 8 + finite.size // 40)
        )
        weights = np.full(finite.size, 1 / values.size)
        ax.hist(finite, bins=bins, weights=weights, color=BLUE, alpha=0.75)  # type: ignore[arg-type]
        if not figure.trouble:
            _draw_interval(figure, ax, prob)
    if finite.size < values.size:
        _draw_infinite(ax, finite, 1 - finite.size / values.size)
    status = "undecided" if figure.trouble else f"each draw: {figure.status}"
    return finished(ax, f"Posterior of the {name} ({status})")


def _draw_infinite(ax: Axes, finite: np.ndarray, share: float) -> None:
    """Draw the share of infinite draws as a bar of its own, to the right, named inf."""
    start, end = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    width = 0.06 * (end - start or 1.0)
    place = end + 3 * width
    ax.bar([place], [share], width=width, color=ORANGE, alpha=0.8)
    ax.annotate(
        f"inf: {100 * share:.3g} % of the draws",
        (place, share),
        xytext=(0, 3),
        textcoords="offset points",
        ha="right" if finite.size else "center",
        color=ORANGE,
        fontsize="small",
    )
    ticks = [t for t in ax.get_xticks() if start - width <= t <= end + width] if finite.size else []
    ax.set_xticks([*ticks, place], [*(f"{t:.4g}" for t in ticks), "inf"])
    if not finite.size:
        ax.set_xlim(place - 0.5, place + 0.5)


def _draw_interval(figure: Any, ax: Axes, prob: float) -> None:
    region = figure.hdi(prob)
    share = f"{100 * prob:g} %"
    if region.upper.status == "undecided":  # infinite draws: an interval that ends at a quantile
        end = figure.quantile(prob)
        if np.isfinite(end.upper):
            ax.axvline(
                end.upper,
                color=ORANGE,
                linestyle="--",
                label=f"{share} quantile, at most {end.upper:.4g}",
            )
            _legend(ax)
        return
    low, high = region.lower.value, region.upper.value
    ax.axvspan(
        low,
        high,
        color=ORANGE,
        alpha=0.2,
        linewidth=0,
        zorder=0,
        label=f"{share} HDI ~[{low:.4g}, {high:.4g}] (estimate)",
    )
    for end in (low, high):
        ax.axvline(end, color=ORANGE, linewidth=1.2)
    _legend(ax)


# -- the pieces -----------------------------------------------------------------------------


def _require(value: Any, what: str, attribute: str, expected: str) -> None:
    if not hasattr(value, attribute):
        raise InvalidInput(what, expected=expected, got=type(value).__name__)


def _axes(ax: Axes | None, height: float = _HEIGHT) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(6.4, height), layout="constrained")[1]


def _middle(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(high), low + (high - low) / 2, high)


def mark_infinite(ax: Axes, x: Any, low: Any, high: Any, shown: np.ndarray) -> None:
    """Put arrows at the top: ``inf`` where it is infinite, ``no upper bound`` where unknown."""
    finite = shown[np.isfinite(shown)]
    top = float(finite.max()) * 1.18 if finite.size and finite.max() > 0 else 1.0
    ax.set_ylim(-0.04 * top, top)
    for where, words, colour, labels in (
        (np.isinf(low), "inf", ORANGE, 6),
        (np.isinf(high) & ~np.isinf(low), "no upper bound", GREY, 2),
    ):
        places = np.flatnonzero(where)
        if not len(places):
            continue
        arrows = places[:: -(-len(places) // _MANY)]
        ax.plot(x[arrows], np.full(len(arrows), 0.93 * top), "^", color=colour, markersize=8)
        known = arrows[np.isfinite(low[arrows])]
        ax.vlines(x[known], low[known], 0.93 * top, color=colour, linewidth=0.8)
        for i in places[:: -(-len(places) // labels)]:
            ax.annotate(
                words,
                (x[i], 0.93 * top),
                xytext=(0, -8),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize="small",
                color=colour,
            )


def _legend(ax: Axes, columns: int = 3, below: float = 0.2) -> None:
    """Put the legend under the axes, where it hides nothing."""
    ax.legend(
        frameon=False,
        fontsize="small",
        ncols=columns,
        loc="upper center",
        bbox_to_anchor=(0.5, -below),
    )


def finished(ax: Axes, title: str, *, grid: Literal["x", "y"] = "y") -> Axes:
    """Set the title, and take away what is in the way."""
    ax.set_title(title, loc="left", fontsize="medium", parse_math=False)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.grid(axis=grid, color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def _wrapped(text: str, width: int = 70) -> str:
    from textwrap import fill

    return fill(text, width)
