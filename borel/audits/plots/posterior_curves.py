"""What the plots of a posterior study show, as data: epsilon against alpha, frontiers, priors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput
from borel.figures.leakage_curves import names_of
from borel.priors.datatrees import require_draws
from borel.probability.bound import Bound, weakest
from borel.probability.measure import Measure
from borel.probability.normalisation import head_of

if TYPE_CHECKING:
    import xarray as xr

_POINTS = 201
_TAIL = 1e-3
ALPHAS = (0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.075, 0.05, 0.04, 0.03, 0.02, 0.015, 0.01)


def named(figures: Any, what: str) -> dict[str, Any]:
    """Return random figures by name: one, or a mapping of them."""
    name = str(getattr(figures, "name", ""))
    found = dict(figures) if isinstance(figures, Mapping) else {name: figures}
    return {str(n): require_draws(figure, what) for n, figure in found.items()}


def alpha_curve(figure: Any, alphas: Any = ALPHAS, *, confidence: float = 0.95) -> xr.Dataset:
    """Return the smallest epsilon against the posterior mass that is left out.

    Parameters
    ----------
    figure : RandomBound
        ``bl.pml(learnt * mech).sup()``.
    alphas : sequence of float
        Posterior masses left out.
    confidence : float
        Of the interval at each alpha, not of all of them at once.

    Returns
    -------
    Dataset
        ``lower``, ``upper`` and ``status`` over ``alpha``: `RandomBound.smallest`.
    """
    import xarray as xr

    bounds = [figure.smallest(float(a), confidence=confidence) for a in alphas]
    units = {"units": figure.units}
    return xr.Dataset(
        {
            "lower": ("alpha", [b.lower for b in bounds], units),
            "upper": ("alpha", [b.upper for b in bounds], units),
            "status": ("alpha", [b.status for b in bounds]),
        },
        {"alpha": ("alpha", [float(a) for a in alphas])},
        {
            "quantity": figure.name,
            "units": figure.units,
            "status": weakest(b.status for b in bounds),
            "confidence": confidence,
        },
    )


def frontier(
    prior: Any,
    mechanisms: Any,
    *,
    utility: Callable[[Any], Any],
    privacy: Callable[[Any], Any] | Mapping[str, Callable[[Any], Any]] | None = None,
    prob: float = 0.9,
) -> xr.Dataset:
    """Return privacy and utility for each mechanism of a family: the privacy-utility frontier.

    Parameters
    ----------
    prior : Measure, PosteriorPriors or PriorSet
        What is known of the secret.
    mechanisms : MechanismFamily or mapping
        ``bl.mechanisms.laplace(b=DataArray)``, or mechanisms by a number or a name.
    utility, privacy : callable
        Functions of a joint that return a Bound, or over a posterior a RandomBound:
        ``bl.mutual_information``; privacy is the supremum of PML if not given. Several measures of
        privacy are a mapping from their names: ``{"LDP": bl.ldp, "PMC": lambda j:
        bl.pmc(j).sup()}``.
    prob : float
        Posterior mass of the bands.

    Returns
    -------
    Dataset
        ``privacy`` and ``utility``, each with ``_lower`` and ``_upper``, over the parameter; under
        a posterior the median and the equal-tailed interval of the draws, else the enclosure.
        Several measures of privacy are along ``measure``.

    Raises
    ------
    InvalidInput
        Mechanisms that are no family of one parameter, or no mapping; figures without draws or
        ends.

    Examples
    --------
    >>> import borel as bl
    >>> family = {e: bl.mechanisms.randomized_response(k=3, epsilon=e) for e in (0.5, 1.0, 2.0)}
    >>> found = frontier(bl.pmf([0.2, 0.3, 0.5]), family, utility=bl.mutual_information)
    >>> found["utility"].values.round(3)
    array([0.028, 0.114, 0.401])
    """
    import xarray as xr

    from borel.figures.leakage import pml

    members, dim = _members(mechanisms)
    measures = dict(privacy) if isinstance(privacy, Mapping) else {"": privacy}
    if not measures or not all(m is None or callable(m) for m in measures.values()):
        raise InvalidInput(
            "frontier",
            expected="privacy=, a function of a joint or a mapping from names to such functions",
            got=repr(privacy),
        )
    if not callable(utility):
        raise InvalidInput(
            "frontier", expected="utility=, a function of a joint", got=repr(utility)
        )
    statuses = []

    def column(name: str, measure: Callable[[Any], Any]) -> xr.Dataset:
        found = [_ends(measure(joint), prob, name) for joint in joints]
        statuses.extend(status for *_, status in found)
        low, middle, high, _ = zip(*found, strict=True)
        ends = {f"{name}_lower": low, name: middle, f"{name}_upper": high}
        return xr.Dataset({key: (dim, list(v)) for key, v in ends.items()}, {dim: list(members)})

    joints = [prior * mechanism for mechanism in members.values()]
    levels = [column("privacy", m or (lambda j: pml(j).sup())) for m in measures.values()]
    shown = levels[0]
    if isinstance(privacy, Mapping):
        shown = xr.concat(levels, xr.DataArray(list(measures), dims="measure", name="measure"))
    found = shown.merge(column("utility", utility))
    return found.assign_attrs(prob=prob, status=weakest(statuses), parameter=dim)


def _members(mechanisms: Any) -> tuple[dict[Any, Any], str]:
    if isinstance(mechanisms, Mapping) and mechanisms:
        return dict(mechanisms), "mechanism"
    array = getattr(mechanisms, "mechanisms", None)
    if array is None or array.ndim != 1:
        raise InvalidInput(
            "frontier",
            expected="a family of mechanisms with one parameter, or a mapping",
            got=repr(mechanisms)[:80],
        )
    (dim,) = array.dims
    labels = array[dim].values.tolist() if dim in array.coords else list(range(array.size))
    return dict(zip(labels, array.values, strict=True)), str(dim)


def _ends(figure: Any, prob: float, name: str) -> tuple[float, float, float, str]:
    if isinstance(figure, Bound):
        return figure.lower, figure.value, figure.upper, figure.status
    if not hasattr(figure, "draws"):
        raise InvalidInput(
            "frontier",
            expected=f"{name} to be a Bound or a RandomBound",
            got=type(figure).__name__,
        )
    values = figure._middle().values
    levels = [(1 - prob) / 2, 0.5, (1 + prob) / 2]
    low, middle, high = (float(v) for v in np.quantile(values, levels, method="inverted_cdf"))
    # quantiles of the draws, without their Monte Carlo error: a picture, no claim
    return low, middle, high, "undecided" if figure.trouble else "estimate"


def prior_curve(priors: Mapping[str, Measure]) -> xr.Dataset:
    """Return some priors on one alphabet, over x: probabilities, or densities where they lie.

    Raises
    ------
    InvalidInput
        Priors on different alphabets, or on a product that is not finite.
    """
    import xarray as xr

    first = next(iter(priors.values()))
    on = first.on
    if any(p.on != on for p in priors.values()) or (on.dim > 1 and on.kind != "finite"):
        raise InvalidInput(
            "plot_worst_prior",
            expected="priors on one alphabet, of one dimension or finite",
            got=", ".join(repr(p.on) for p in priors.values()),
        )
    if on.kind == "finite":
        data = {n: ("x", np.asarray(p.probabilities, float)) for n, p in priors.items()}
        return xr.Dataset(data, {"x": names_of(on.labels)}, {"kind": "finite"})
    x = _points_of(list(priors.values()))
    data = {n: ("x", np.asarray(p.pdf(x), float)) for n, p in priors.items()}
    return xr.Dataset(data, {"x": x}, {"kind": on.kind})


def _points_of(priors: list[Measure]) -> np.ndarray:
    """Return about 200 points that hold nearly all mass of some priors on one alphabet.

    The choice is for display; nothing is claimed from it.
    """
    on: Any = priors[0].on
    if on.kind == "countable":
        head = head_of(on, 4096)
        mass = np.maximum.reduce([np.asarray(p.pdf(head), float) for p in priors])
        last = int(np.flatnonzero(mass > _TAIL * mass.max()).max())
        return head[: last + 2]
    interval = getattr(on, "interval", on)
    low, high = float(interval.lower), float(interval.upper)
    if not (np.isfinite(low) and np.isfinite(high)):
        low, high = _where(priors, low, high)
    return low + (high - low) * (np.arange(_POINTS) + 0.5) / _POINTS


def _where(priors: list[Measure], low: float, high: float) -> tuple[float, float]:
    """Return the part of an unbounded interval where the densities are not small."""
    reach = np.sinh(np.linspace(-12, 12, 4001))
    if np.isfinite(low):
        reach = low + np.exp(np.linspace(-20, 12, 4001))
    elif np.isfinite(high):
        reach = high - np.exp(np.linspace(12, -20, 4001))
    density = np.maximum.reduce([np.asarray(p.pdf(reach), float) for p in priors])
    seen = np.flatnonzero(density > _TAIL * density[np.isfinite(density)].max())
    start = max(float(reach[max(seen[0] - 1, 0)]), low)
    return (low if np.isfinite(low) else start), min(float(reach[min(seen[-1] + 1, 4000)]), high)
