"""Plots of leakage envelopes: the envelope over delta with its bounds, and the LDP curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel.audits.plots.envelope_curves import envelope_curve
from borel.colours import BLUE, GREEN, GREY, ORANGE, PURPLE
from borel.figures.leakage_plots import (
    _axes,
    _legend,
    _middle,
    finished,
    mark_infinite,
)
from borel.probability.bound import weakest

if TYPE_CHECKING:
    from collections.abc import Iterable

    import xarray as xr
    from matplotlib.axes import Axes

    from borel.probability.joint import Joint

_APART = 0.1
_HUGE = 1e300
_STYLES: dict[str, tuple[str, str, str, Any]] = {
    "quantile": ("lower bound: as released", "lower", GREY, (0, (1, 1.5))),
    "binary": ("lower bound: one bit", "lower", GREEN, "-."),
    "theorem_5_lower": ("lower bound: Theorem 5", "lower", ORANGE, "--"),
    "theorem_3": ("upper bound: Theorem 3", "upper", ORANGE, "-"),
    "theorem_5_upper": ("upper bound: Theorem 5", "upper", ORANGE, "-"),
    "ldp": ("(epsilon, delta)-LDP", "upper", PURPLE, (0, (5, 1, 1, 1))),
}
"""What each curve is called, the end of its enclosure that is drawn as a line, and how."""


def plot_envelope(
    joint: Joint,
    deltas: Iterable[Any] | None = None,
    *,
    of: str = "pml",
    bounds: bool = True,
    ldp_curve: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Plot the leakage envelope over delta, with the bounds of the theorems and the LDP curve.

    Every curve has the band of its enclosure, often too thin to see. The line of a lower bound is
    at the lower end of it, that of an upper bound at the upper end. A bound is drawn where its
    theorem applies. An envelope that is infinite is an arrow at the top; an LDP curve that is
    infinite, or far above the rest, leaves the plot.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.
    deltas : sequence of numbers in (0, 1), optional
        Default 1/50 to 49/50, as far as ``bl.options(budget=)`` goes.
    of : {"pml", "pmc"}
        Which leakage.
    bounds : bool
        Whether to draw the bounds: what leaks as it is released and through one bit, Theorem 3
        and, on randomised response, Theorem 5 instead; for PMC what leaks as it is released.
    ldp_curve : bool
        Whether to draw the smallest epsilon with (epsilon, delta)-LDP of the mechanism, the
        inverse of its privacy profile. There delta is a slack, in the envelope a probability.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        The axes: delta against nats. The title has the weakest status of the envelope, the legend
        that of each other curve if it is another.

    Raises
    ------
    InvalidInput
        A joint or a delta that is not one.
    NotYet
        What `borel.envelope` does not have.

    References
    ----------
    "Information Leakage Envelopes" (a draft), Figure 2.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> from borel.figures.leakage_plots import blank_axes
    >>> joint = bl.pmf([F(1, 3)] * 3) * bl.mechanisms.randomized_response(k=3, ratio=2)
    >>> plot_envelope(joint, [F(1, 4), F(3, 4)], ax=blank_axes()).get_title(loc="left")
    'Envelope of PML (exact)'
    """
    curve = envelope_curve(joint, deltas, of=of, bounds=bounds, ldp_curve=ldp_curve)
    return draw_envelope(curve, _axes(ax))


def draw_envelope(found: xr.Dataset, ax: Axes) -> Axes:
    """Draw what `envelope_curve` returned."""
    delta = found["delta"].values
    status = found.attrs["status"]
    low, high = _ends(found, "envelope")
    middle = _middle(low, high)
    _line(ax, delta, (low, high), middle, label="envelope", color=BLUE, linewidth=3.2, alpha=0.55)
    others = [str(n) for n in found["curve"].values if n != "envelope"]
    if "theorem_5_upper" in others:  # it is Theorem 3
        others.remove("theorem_3")
    shown = [low, high]
    for name in others:
        words, end, colour, style = _STYLES[name]
        ends = _ends(found, name)
        line = ends[0] if end == "lower" else ends[1]
        known = [str(s) for s in found["status"].sel(curve=name).values if s != "none"]
        if not known:
            continue
        if (own := weakest(known)) != status:
            words += f" ({own})"
        _line(ax, delta, ends, line, label=words, color=colour, linestyle=style, linewidth=1.6)
        if name != "ldp":
            shown += ends
    _limits(ax, delta, low, high, shown, found)
    ax.set_xlim(0, 1)
    ax.set_xlabel("delta")
    ax.set_ylabel("epsilon (nats)")
    finished(ax, f"Envelope of {found.attrs['kind'].upper()} ({status})")
    if others:
        _legend(ax, columns=2)
    return ax


def _ends(found: xr.Dataset, name: str) -> tuple[np.ndarray, np.ndarray]:
    one = found.sel(curve=name)
    return one["lower"].values, one["upper"].values


def _line(ax: Axes, delta: Any, ends: tuple, line: np.ndarray, **style: Any) -> None:
    """Draw a curve with the band of its enclosure, both broken where it is not finite."""
    low, high = ends
    finite = np.isfinite(low) & np.isfinite(high)
    if not finite.any():
        return
    marker = "o" if finite.sum() == 1 else None
    ax.fill_between(
        delta,
        np.where(finite, low, np.nan),
        np.where(finite, high, np.nan),
        color=style["color"],
        alpha=0.25,
        linewidth=0,
    )
    ax.plot(delta, np.where(finite, line, np.nan), marker=marker, markersize=4, **style)


def _limits(ax: Axes, delta: Any, low: Any, high: Any, shown: list, found: xr.Dataset) -> None:
    """Fit the axis to the envelope and its bounds, and to an LDP curve at most twice as high."""
    values = np.concatenate(shown)
    values = values[values < _HUGE]  # no bound at all may be the largest float
    top = float(values.max()) if values.size else 1.0
    if "ldp" in found["curve"].values:
        ldp = _ends(found, "ldp")[1]
        ldp = ldp[np.isfinite(ldp)]
        top = max(top, min(float(ldp.max()), 2 * top)) if ldp.size else top
    if np.isfinite(high).all():
        ax.set_ylim(-0.03 * (top or 1), 1.06 * (top or 1))
        return
    marked: list[int] = []  # apart, so that their words are
    for i in np.flatnonzero(np.isinf(high)):
        if not marked or delta[i] - delta[marked[-1]] > _APART:
            marked.append(int(i))
    mark_infinite(ax, delta[marked], low[marked], high[marked], np.array([top]))
