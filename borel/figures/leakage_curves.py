"""What the plots show, as data: leakage against the outcome, and the law of the leakage."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.errors import NotYet
from borel.probability.alphabets import Finite, Integers, Interval, Mixed, in_words
from borel.probability.bound import weakest

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr

    from borel.probability.mechanism import Mechanism

_ENDS = ("lower", "upper")
POINTS = 201
_LAW_POINTS = 129
_FAR = 1e-4
_BESIDE = 1e-9
_FEWEST = 3


def leakage_curve(variable: Any, outcomes: Any = None, *, prob: float = 0.95) -> xr.Dataset:
    """Return the leakage over outcomes with its band.

    Parameters
    ----------
    variable : LeakageVariable, SetLeakage or PosteriorLeakage
        ``bl.pml(joint)`` or ``bl.pmc(joint)``.
    outcomes : array of labels, optional
        Where; all labels of a finite alphabet, else about 200 points where the outcomes lie.
    prob : float
        Posterior mass of the band, under a posterior over priors.

    Returns
    -------
    Dataset
        ``lower``, ``upper`` over ``y``, in nats, and ``status``, or under a posterior ``median``.
        Over a set of priors these are suprema, and ``nominal_lower``, ``nominal_upper`` the figures
        under its nominal prior, if it has one.

    Raises
    ------
    NotYet
        Products of alphabets that are not finite.
    """
    joint = variable.joint
    points = outcome_points(joint) if outcomes is None else outcomes
    over = joint.prior.over
    if over == "draws":
        found = variable.curve(points, prob)
        trouble = joint.prior.trouble
        status = "undecided: see the draws" if trouble else "quantiles over the posterior draws"
    else:
        found = variable(points)
        status = weakest(map(str, np.unique(found["status"].values)))
    if over == "set" and variable.nominal is not None:
        found = _with_nominal(found, variable.nominal, points)
    found = found.assign_coords(y=coordinate(found["y"].values.tolist()))
    return found.assign_attrs(
        over="set" if over == "set" else "",
        kind=variable.kind,
        outcome_kind=joint.outcome.kind,
        status=status,
        units="nats",
        atoms=[float(a) for a in getattr(joint.outcome, "atoms", ())],
    )


def _with_nominal(curve: xr.Dataset, variable: Any, points: Any) -> xr.Dataset:
    """Add the leakage under the nominal prior, where this version computes it."""
    try:
        one = variable(points)
    except NotYet as error:
        return curve.assign_attrs(nominal_left_out=str(error))
    ends = {f"nominal_{end}": ("y", one[end].values, {"units": "nats"}) for end in _ENDS}
    status = weakest(map(str, np.unique(one["status"].values)))
    return curve.assign(ends).assign_attrs(nominal_status=status)


def law_curve(variable: Any) -> xr.Dataset:
    """Return the cumulative law of the leakage, P{leakage <= t}, with its enclosure.

    Parameters
    ----------
    variable : LeakageVariable
        ``bl.pml(joint)`` or ``bl.pmc(joint)``.

    Returns
    -------
    Dataset
        ``lower``, ``upper`` over ``t`` (nats), and ``status``. For few outcomes ``t`` lies just
        before and just after each jump of the law; else it is a grid, as fine as `borel.options`
        ``budget`` allows. Between two points the law is monotone.

    Raises
    ------
    NotYet
        A leakage over a set of priors, or one over a posterior whose law is not there.
    """
    import xarray as xr

    if variable.joint.prior.over == "set":
        variable.tail(0.0)  # says why there is none
    order, of_draws = _thresholds(variable), variable.joint.prior.over == "draws"
    together = None if of_draws else variable._cdfs(sorted(order))
    ts, lower, upper, statuses = (
        _one_by_one(variable, order) if together is None else (sorted(order), *together)
    )
    return xr.Dataset(
        {
            "lower": ("t", lower, {"units": "probability"}),
            "upper": ("t", upper, {"units": "probability"}),
            "status": ("t", statuses),
        },
        {"t": ("t", ts, {"units": "nats"})},
        {
            "kind": variable.kind,
            "status": weakest(map(str, np.unique(statuses))),
            "outcome_kind": variable.joint.outcome.kind,
            "over": "prior and outcome" if of_draws else "outcomes",
        },
    )


def _one_by_one(variable: Any, order: list[float]) -> tuple[list, ...]:
    """Return levels, ends and statuses of the cdf, as many levels as the budget allows."""
    found: dict[float, Any] = {}
    with settings.one_figure():
        for t in order:
            with settings.part(max(1, _FEWEST - len(found))):
                found[t] = variable.cdf(t)
            if settings.spent() and len(found) >= _FEWEST:
                break
    ts = sorted(found)
    bounds = [found[t] for t in ts]
    return ts, *([getattr(b, name) for b in bounds] for name in ("lower", "upper", "status"))


def _thresholds(variable: Any) -> list[float]:
    """Return where to ask for the law: around each jump, or on a grid.

    A grid comes in an order that stays even when it is cut short: coarse points first.
    """
    joint = variable.joint
    if joint.prior.over == "draws":
        values = variable.sup().draws["upper"].values
        top = float(np.max(values[np.isfinite(values)], initial=0.0))
        return _grid(top, _LAW_POINTS // 2 + 1)
    if joint.outcome.kind in ("finite", "countable"):
        ends = variable(outcome_points(joint))
        values = np.concatenate([ends["lower"].values, ends["upper"].values])
        values = np.unique(values[np.isfinite(values)])
        if len(values) <= 2 * _LAW_POINTS:
            # beside a jump, so that the rounding of the values does not blur the law
            around = np.concatenate([values * (1 - _BESIDE) - _BESIDE, values * (1 + _BESIDE)])
            return [0.0, *(float(t) for t in np.unique(around + _BESIDE / 2) if t > 0)]
        top = float(values[-1])
    else:
        sup = variable.sup()
        top = sup.upper
        if not np.isfinite(top):  # as far as the outcomes of a plot reach
            values = variable(outcome_points(joint))["lower"].values
            top = float(np.max(values[np.isfinite(values)], initial=1.0))
    return _grid(top, _LAW_POINTS)


def _grid(top: float, points: int) -> list[float]:
    """Return an even grid, coarse points first."""
    grid = np.linspace(0.0, top * 1.02 if top > 0 else 1.0, points)
    depth = int(np.log2(points - 1))
    strides = [2**k for k in range(depth, -1, -1)]
    return list(dict.fromkeys(float(t) for s in strides for t in grid[::s]))


def coordinate(labels: Sequence[Any]) -> np.ndarray:
    """Return labels as a coordinate that a file can hold: numbers if all are, else strings.

    Bools and members of an Enum are no numbers here, and numbers that one array cannot hold as they
    are become strings.

    Examples
    --------
    >>> coordinate([1, 0.5]), coordinate([True, 0.5]).tolist()
    (array([1. , 0.5]), ['True', '0.5'])
    """
    if all(type(label) in (int, float) or isinstance(label, np.number) for label in labels):
        numbers = np.array(labels)
        if numbers.dtype.kind in "iuf" and numbers.tolist() == list(labels):
            return numbers
    return np.array(names_of(labels))


def names_of(labels: Sequence[Any]) -> list[str]:
    """Return labels as strings, different labels as different ones.

    Where 1 beside "1" would be one name, the string keeps it, so that it never selects the other.

    Examples
    --------
    >>> names_of(["no", "yes"]), names_of([1, "1"])
    (['no', 'yes'], ['1 (int)', '1'])
    """
    plain = {label: in_words(label) for label in labels}
    uses, names = Counter(plain.values()), {}
    for label, name in plain.items():
        if uses[name] > 1 and label != name:
            kind = type(label).__name__
            ways = (f"{name} ({kind}{n or ''})" for n in count())
            name = next(way for way in ways if way not in uses)
            uses[name] = 1
        names[label] = name
    return [names[label] for label in labels]


# -- where the outcomes lie -----------------------------------------------------------------


def outcome_points(joint: Any) -> Any:
    """Return outcomes to plot at: every label, or about 200 points that hold most of the mass.

    The choice is for display; nothing is claimed from it.
    """
    outcome = joint.outcome
    if outcome.kind == "finite":
        return list(outcome.labels)
    if outcome.dim > 1 or joint.secret.dim > 1:
        raise NotYet("a curve over outcomes", missing="products of alphabets that are not finite")
    law = _rough_law(joint)
    if isinstance(outcome, Integers):
        ys, mass = law
        low, high = _central(ys, mass)
        inside = ys[(ys >= low) & (ys <= high)].astype(int)
        return inside[:: max(1, -(-len(inside) // POINTS))]
    interval = outcome.interval if isinstance(outcome, Mixed) else outcome
    assert isinstance(interval, Interval)
    low, high = interval.lower, interval.upper
    if not (np.isfinite(low) and np.isfinite(high)):
        near, far = _central(*law)
        low, high = max(low, near), min(high, far)
    inner = low + (high - low) * (np.arange(POINTS) + 0.5) / POINTS
    atoms = [a for a in getattr(outcome, "atoms", ()) if low <= a <= high]
    return np.unique(np.concatenate([inner, atoms]))


def _central(points: np.ndarray, mass: np.ndarray) -> tuple[float, float]:
    """Return the ends between which all but a little of the mass lies."""
    total = np.cumsum(mass)
    if not total[-1] > 0:
        return float(points[0]), float(points[-1])
    low = points[np.searchsorted(total, _FAR * total[-1])]
    high = points[min(np.searchsorted(total, (1 - _FAR) * total[-1]), len(points) - 1)]
    if low == high:
        low, high = low - 1.0, high + 1.0
    return float(low), float(high)


def _rough_law(joint: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return outcomes and their rough masses, averaged over secrets spread over the prior."""
    xs = _typical_secrets(joint)
    outcome = joint.outcome
    if isinstance(outcome, Integers):
        head = np.unique((np.round(xs)[:, None] + np.arange(-2048, 2049)).ravel())
        ys = head[np.asarray(outcome.contains(head), bool)]
        return ys, _average(joint.mechanism, ys, xs)
    interval = outcome.interval if isinstance(outcome, Mixed) else outcome
    ys = _wide(interval, centres=xs[:: max(1, len(xs) // 4)])
    weights = np.gradient(ys)
    return ys, _average(joint.mechanism, ys, xs) * weights


def _average(mechanism: Mechanism, ys: np.ndarray, xs: np.ndarray) -> np.ndarray:
    assert mechanism.density is not None
    with np.errstate(all="ignore"):
        values = np.asarray(mechanism.density.linear(ys[:, None], xs[None, :]), float)
    return np.nan_to_num(np.where(np.isfinite(values), values, 0.0)).mean(axis=1)


def _typical_secrets(joint: Any) -> np.ndarray:
    """Return at most 33 secrets, spread over the mass of the prior."""
    prior = getattr(joint.prior, "_template", joint.prior)
    secret = prior.on
    if secret.kind != "finite" and prior.over == "set":
        prior = prior.example()
    if isinstance(secret, Finite) or secret.kind == "finite":
        return _thin(np.asarray(secret.array, float))
    if isinstance(secret, Integers):
        xs = np.arange(-2048, 2049)
        xs = xs[np.asarray(secret.contains(xs), bool)].astype(float)
        weights = np.ones(len(xs))
    else:
        interval = secret.interval if isinstance(secret, Mixed) else secret
        xs = _wide(interval)
        for _ in range(3):  # the largest density seen shows where to look closer
            best = xs[np.argmax(_log_density(prior, xs))]
            xs = _wide(interval, centres=(best,))
        weights = np.gradient(xs)
    density = np.exp(_log_density(prior, xs))
    low, high = _central(xs, density * weights)
    return _thin(xs[(xs >= low) & (xs <= high)])


def _log_density(prior: Any, xs: np.ndarray) -> np.ndarray:
    """Return the log-density of a prior, or its mean over the first draws of a posterior."""
    with np.errstate(all="ignore"):
        values = np.asarray(prior.logpdf(xs[:, None] if prior.batch else xs), float)
    values = values.reshape(len(xs), -1)
    return np.where(np.isfinite(values), values, -1e300).mean(axis=1)


def _thin(points: np.ndarray, count: int = 33) -> np.ndarray:
    return points[np.linspace(0, len(points) - 1, min(count, len(points))).round().astype(int)]


def _wide(interval: Interval, count: int = 4001, centres: Any = (0.0,)) -> np.ndarray:
    """Return points over an interval; sinh-spaced around some centres where it is unbounded."""
    low, high = interval.lower, interval.upper
    if np.isfinite(low) and np.isfinite(high):
        return low + (high - low) * (np.arange(count) + 0.5) / count
    spread = np.sinh(np.linspace(-16.0, 16.0, count)) * 1e-2
    ends = [end for end in (low, high) if np.isfinite(end)]
    points = np.unique(np.concatenate([c + spread for c in (*np.asarray(centres), *ends)]))
    return points[(points > low) & (points < high)]
