"""Levels that compare databases: differential privacy of neighbours, and free-lunch privacy."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput, NotYet
from borel.figures.levels import leakage_capacity
from borel.mechanisms.closed_forms import proved
from borel.mechanisms.counting import PAPER, CountingQuery
from borel.numerics.intervals import rounding
from borel.numerics.intervals.rounding import log_fraction, log_ratio_bounds, ratio_bounds, scaled
from borel.probability.alphabets import Product
from borel.probability.bound import Bound, Ratio
from borel.probability.mechanism import Mechanism

if TYPE_CHECKING:
    from collections.abc import Callable

_LAPLACE = "the triangle inequality for Laplace noise on a count"


def differential_privacy(mechanism: Mechanism) -> Bound:
    r"""Return the level of differential privacy between databases that differ in one entry.

    .. math:: \sup_y \max_i \max_{d_i, d_i', d_{-i}}
              \log \frac{f(y \mid d_i, d_{-i})}{f(y \mid d_i', d_{-i})}

    Parameters
    ----------
    mechanism : Mechanism
        On databases: its secret is a product such as ``bl.Finite(2)**3``, one factor per entry,
        and its outcome is finite; or a `bl.mechanisms.counting_query`.

    Returns
    -------
    Bound
        In nats, exact. By Theorem 4.2 it is the largest PML of an entry over all product priors
        of full support (and over all priors, given the other entries); it is approached and,
        unless it is 0 or infinite, not attained by any of them.

    Raises
    ------
    InvalidInput
        A mechanism whose secret is not a product.
    NotYet
        Outcomes that are not finite.

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Definition 4.1 and Theorem 4.2.

    Examples
    --------
    >>> import borel as bl
    >>> parity = [[0.75, 0.25], [0.25, 0.75], [0.25, 0.75], [0.75, 0.25]]
    >>> bl.differential_privacy(bl.Mechanism.from_matrix(parity, secret=bl.Finite(2) ** 2))
    Bound(1.098612289, exact)
    """
    _require("bl.differential_privacy", mechanism)
    if isinstance(mechanism, CountingQuery):
        return _steepest(mechanism, 1)
    secret = mechanism.secret
    if not isinstance(secret, Product):
        raise InvalidInput(
            "bl.differential_privacy",
            expected="a mechanism on databases, secret=alphabet**n",
            got=f"one on {secret!r}",
            mend="for one entry: bl.leakage_capacity(mechanism).",
        )
    kernel = _matrix("bl.differential_privacy", mechanism)
    cells = kernel.reshape(*[a.size for a in secret.factors], -1)
    found = [_largest(mechanism, cells, i, partial(_label, secret, i)) for i in range(secret.dim)]
    return max(found, key=lambda b: (b.upper, b.lower))


def free_lunch_privacy(mechanism: Mechanism) -> Bound:
    r"""Return the level of free-lunch privacy: LDP between any two databases.

    .. math:: \sup_y \max_{x, x'} \log \frac{f(y \mid x)}{f(y \mid x')}

    Parameters
    ----------
    mechanism : Mechanism
        On databases, or a `bl.mechanisms.counting_query`.

    Returns
    -------
    Bound
        In nats. By Theorem 4.5 it is the largest PML of the database over all priors of full
        support, over product priors, and the largest PML of one entry over all priors.

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Definition 4.4 and Theorem 4.5; Kifer and Machanavajjhala (2011).

    Examples
    --------
    >>> import borel as bl
    >>> bl.free_lunch_privacy(bl.mechanisms.counting_query(n=10, b=2.0, of="count"))
    Bound(5, exact)
    """
    _require("bl.free_lunch_privacy", mechanism)
    if isinstance(mechanism, CountingQuery):
        return _steepest(mechanism, mechanism.n)
    if not mechanism.finite or mechanism.unproved:
        return leakage_capacity(mechanism)
    labels = mechanism.secret.labels
    return _largest(mechanism, mechanism.matrix, 0, lambda own, rest: labels[own])


def _require(what: str, mechanism: Any) -> None:
    if not isinstance(mechanism, Mechanism):
        raise InvalidInput(
            what,
            expected="a mechanism on databases",
            got=type(mechanism).__name__,
            mend="it depends on no prior: give the mechanism alone.",
        )


def _matrix(what: str, mechanism: Mechanism) -> np.ndarray:
    if not mechanism.finite:
        raise NotYet(
            what,
            missing=f"outcomes on {mechanism.outcome!r}",
            instead="finite mechanisms, and bl.mechanisms.counting_query.",
        )
    if mechanism.unproved:
        raise NotYet(what, missing=f"a proof: {mechanism.unproved}")
    return mechanism.matrix


def _steepest(query: CountingQuery, times: int) -> Bound:
    from borel.numerics.balls.arithmetic import ball, enclose

    low, high = enclose(lambda: ball(times * query.rate))
    labels = {"x": times, "x'": 0, "y": query.n / query.unit}
    return proved(low, high, f"{PAPER}, Section 4.1; {_LAPLACE}", attained=True, witness=labels)


def _largest(
    mechanism: Mechanism, cells: np.ndarray, axis: int, label: Callable[[int, list], Any]
) -> Bound:
    """Enclose the largest log-ratio of two entries of ``cells`` along an axis."""
    rows = np.moveaxis(cells, axis, 0)
    top, bottom = rows.max(axis=0).ravel(), rows.min(axis=0).ravel()
    live = np.flatnonzero(np.asarray(top != 0, bool))
    top, bottom = top[live], bottom[live]
    zero = np.asarray(bottom == 0, bool)
    shape = rows.shape[1:]

    def where(j: int) -> dict:
        *rest, y = (int(v) for v in np.unravel_index(live[j], shape))
        column = rows[(slice(None), *rest, y)]
        pair = [label(int(f(column)), rest) for f in (np.argmax, np.argmin)]
        return {"x": pair[0], "x'": pair[1], "y": mechanism.outcome.labels[y]}

    if zero.any():
        return Bound.exact(math.inf, math.inf, witness=where(int(np.argmax(zero))))
    if mechanism.rational:
        ratios = [Fraction(a) / b for a, b in zip(top, bottom, strict=True)]
        worst = max(ratios)
        ends = log_fraction(worst)
        witness = where(ratios.index(worst))
        return Bound.exact(*ends, exact_ratio=Ratio(worst, worst), witness=witness)
    error = max(mechanism.rounding, rounding.U)
    num, den = (scaled(v, rounding.rounding_of(v, error)) for v in (top, bottom))
    log, ratio = log_ratio_bounds(num, den), ratio_bounds(num, den)
    return Bound.exact(
        max(float(log.lower.max()), 0.0),
        max(float(log.upper.max()), 0.0),
        exact_ratio=Ratio(max(float(ratio.lower.max()), 1.0), float(ratio.upper.max())),
        assumptions=("floats mean the normalised laws within their rounding",),
        witness=where(int(np.argmax(log.upper))),
    )


def _label(secret: Product, axis: int, own: int, rest: list[int]) -> tuple:
    places = [*rest[:axis], own, *rest[axis:]]
    return tuple(a.labels[j] for a, j in zip(secret.factors, places, strict=True))
