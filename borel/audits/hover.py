"""What is said of a point of a plot when the pointer rests on it: the enclosure that is there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from borel.audits.table import percent, printed
from borel.engine.figures import in_reports
from borel.figures.leakage_curves import names_of
from borel.figures.leakage_plots import in_rows, label_places
from borel.probability.bound import Bound

if TYPE_CHECKING:
    import xarray as xr

    from borel.audits.plots.svg import Point

_MOST = 201
"""Points of a curve that say something; of more, some in between are left out."""


def leakage_points(curve: xr.Dataset) -> list[Point]:
    """Return the points of a leakage over outcomes (`draw_curve`)."""
    kind = in_reports()[curve.attrs["kind"]].label
    found = curve_points(curve, "y", kind, label_places(curve))
    return [(y, x, text) for x, y, text in found] if in_rows(curve) else found


def law_points(law: xr.Dataset) -> list[Point]:
    """Return the points of the law of a leakage (`draw_law`)."""
    return curve_points(law, "t", f"P{{{in_reports()[law.attrs['kind']].label} <= t}}")


def alpha_points(curve: xr.Dataset) -> list[Point]:
    """Return the points of epsilon against alpha, on its upper ends (`draw_alpha`)."""
    return curve_points(curve, "alpha", "smallest level", at="upper")


def envelope_points(found: xr.Dataset) -> list[Point]:
    """Return the points of an envelope (`draw_envelope`)."""
    return curve_points(found.sel(curve="envelope"), "delta", "envelope")


def curve_points(
    curve: xr.Dataset,
    along: str,
    quantity: str,
    places: np.ndarray | None = None,
    *,
    at: str = "",
) -> list[Point]:
    """Return the points of a curve, each with the enclosure that is known there.

    Parameters
    ----------
    curve : Dataset
        ``lower``, ``upper``, and ``status`` or ``median``, over one dimension.
    along : str
        That dimension.
    quantity : str
        What is enclosed, such as ``"PML"``.
    places : array, optional
        Where the labels stand on the axis; the labels themselves if not given.
    at : str, optional
        The variable that is drawn; the median or else the middle of the ends if not given.

    Returns
    -------
    list of (x, y, text)
        In units of the axes. Ends are rounded outwards; an estimate is ``~value +- error``;
        quantiles over draws are called so; a label that is shown to six digits is "near" them.

    Examples
    --------
    >>> import xarray as xr
    >>> one = {"lower": ("t", [0.25]), "upper": ("t", [0.5]), "status": ("t", ["certified"])}
    >>> curve_points(xr.Dataset(one, {"t": [2.0]}), "t", "P{PML <= t}")
    [(2.0, 0.375, 't = 2: P{PML <= t} in [0.25, 0.5] (certified)')]
    """
    labels = curve[along].values
    places = labels.astype(float) if places is None else places
    numbers = labels.dtype.kind == "f"
    names = (
        [_number(v) for v in labels] if numbers else [f"= {n}" for n in names_of(labels.tolist())]
    )
    ends = zip(curve["lower"].values, curve["upper"].values, strict=True)
    found = []
    for i, (low, high) in enumerate(ends):
        if "median" in curve:
            middle = float(curve["median"].values[i])
            share = percent(curve.attrs["prob"])
            said = f"~{middle:.4g}, {share} of the draws in ~[{low:.4g}, {high:.4g}]"
            status = curve.attrs["status"]
        else:
            status = str(curve["status"].values[i])
            middle, said = _enclosed(float(low), float(high), status)
        text = f"{along} {names[i]}: {quantity} {said} ({status})"
        y = float(curve[at].values[i]) if at else middle
        found.append((float(places[i]), y, text))
    return found[:: -(-len(found) // _MOST)]


def _number(value: float) -> str:
    shown = f"{value:.6g}"
    return f"= {shown}" if float(shown) == value else f"near {shown}"


def _enclosed(low: float, high: float, status: str) -> tuple[float, str]:
    """Return where an enclosure is drawn, and it in words."""
    middle = low + (high - low) / 2 if math.isfinite(high) else high
    if status == "estimate":
        if math.isinf(high):
            return middle, f"~{high}"
        return middle, printed(Bound.estimate(middle, (high - low) / 2))
    text = printed(Bound.certified(low, high))
    return middle, f"in {text}" if text.startswith("[") else f"= {text}"
