"""Levels that compare databases: differential privacy of neighbours, and free-lunch privacy."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.constants import exactly
from borel.engine.prior_sets.finite_figures import FLOATS
from borel.errors import InvalidInput, NotYet
from borel.figures.levels import ldp, leakage_capacity
from borel.mechanisms.closed_forms import proved
from borel.mechanisms.counting import PAPER, CountingQuery
from borel.mechanisms.histograms import Histogram
from borel.mechanisms.noisy_means import NoisyMean
from borel.numerics.balls.arithmetic import ball, enclose
from borel.numerics.intervals import rounding
from borel.numerics.intervals.rounding import log_fraction, log_ratio_bounds, ratio_bounds, scaled
from borel.probability.alphabets import Alphabet, Finite, Integers, Interval, Product
from borel.probability.bound import Bound, Ratio, largest
from borel.probability.density import Density
from borel.probability.measure import pmf
from borel.probability.mechanism import Mechanism

if TYPE_CHECKING:
    from collections.abc import Callable

_LAPLACE = "the triangle inequality for Laplace noise on a sum"
_FEW = 200
"""Figures of densities, each certified, are asked for up to so many slices or pairs."""


def differential_privacy(mechanism: Mechanism, *, entries: Alphabet | None = None) -> Bound:
    r"""Return the level of differential privacy between databases that differ in one entry.

    .. math:: \sup_y \max_i \max_{d_i, d_i', d_{-i}}
              \log \frac{f(y \mid d_i, d_{-i})}{f(y \mid d_i', d_{-i})}

    Parameters
    ----------
    mechanism : Mechanism
        On databases: its secret is a product such as ``bl.Finite(2)**3``, one factor per entry;
        or a `bl.mechanisms.counting_query` or `histogram`; or, with ``entries``, one that sees the
        database through a statistic.
    entries : Alphabet, optional
        The alphabet of one entry: numbers, for `bl.mechanisms.laplace_mean` and `gaussian_mean`;
        ``bl.Finite(2)``, for any mechanism about the number of ones, secret ``bl.Integers(0, n)``.

    Returns
    -------
    Bound
        In nats; exact for finite outcomes and closed forms, certified for other densities, each
        slice of the database apart. By Theorem 4.2 it is the largest PML of an entry over all
        product priors of full support (and over all priors, given the other entries); it is
        approached and, unless it is 0 or infinite, not attained by any of them.

    Raises
    ------
    InvalidInput
        A mechanism whose secret is not a product, ``entries`` that do not fit it.
    NotYet
        More than 200 slices, or counts, of a mechanism with outcomes that are not finite.

    Notes
    -----
    Laplace noise of scale b on the mean of n numbers in [c, d]: (d - c)/(nb), by the triangle
    inequality, with equality for every y beyond all means. Gaussian noise: infinite, as the
    log-ratio of two different means is linear in y.

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
    >>> mean = bl.mechanisms.laplace_mean(n=100, b=0.05)
    >>> bl.differential_privacy(mean, entries=bl.Interval(0, 1))
    Bound(0.2, exact)
    """
    what = "bl.differential_privacy"
    _require(what, mechanism)
    if isinstance(mechanism, CountingQuery):
        _no_entries(what, entries)
        return _steepest(mechanism, 1)
    if isinstance(mechanism, Histogram):
        _no_entries(what, entries)
        return mechanism.level(1)
    if isinstance(mechanism, NoisyMean):
        return _of_mean(what, mechanism, entries, 1)
    secret = mechanism.secret
    if entries is not None:
        return _of_count(what, mechanism, entries)
    if not isinstance(secret, Product):
        raise InvalidInput(
            what,
            expected="a mechanism on databases, secret=alphabet**n",
            got=f"one on {secret!r}",
            mend="about the number of ones: entries=bl.Finite(2); for one entry: "
            "bl.leakage_capacity(mechanism).",
        )
    if not mechanism.finite:
        return _of_slices(what, mechanism)
    kernel = _proved_matrix(what, mechanism)
    cells = kernel.reshape(*[a.size for a in secret.factors], -1)
    found = [_largest(mechanism, cells, i, partial(_label, secret, i)) for i in range(secret.dim)]
    return max(found, key=lambda b: (b.upper, b.lower))


def free_lunch_privacy(mechanism: Mechanism, *, entries: Alphabet | None = None) -> Bound:
    r"""Return the level of free-lunch privacy: LDP between any two databases.

    .. math:: \sup_y \max_{x, x'} \log \frac{f(y \mid x)}{f(y \mid x')}

    Parameters
    ----------
    mechanism : Mechanism
        On databases, or a `bl.mechanisms.counting_query` or `histogram`, or noise on a mean.
    entries : Alphabet, optional
        The alphabet of one entry, numbers: for `bl.mechanisms.laplace_mean` and `gaussian_mean`.

    Returns
    -------
    Bound
        In nats; exact for finite outcomes and closed forms, else as `bl.ldp`. By Theorem 4.5 it is
        the largest PML of the database over all priors of full support, over product priors, and
        the largest PML of one entry over all priors.

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
    what = "bl.free_lunch_privacy"
    _require(what, mechanism)
    if isinstance(mechanism, NoisyMean):
        return _of_mean(what, mechanism, entries, mechanism.n)
    _no_entries(what, entries)
    if isinstance(mechanism, CountingQuery):
        return _steepest(mechanism, mechanism.n)
    if isinstance(mechanism, Histogram):
        return mechanism.level(mechanism.n)
    if _is_density(mechanism):
        return _of_pairs(mechanism)
    if not mechanism.finite or mechanism.unproved:
        return leakage_capacity(mechanism)
    labels = mechanism.secret.labels
    return _largest(mechanism, mechanism.matrix, 0, lambda own, rest: labels[own])


def _no_entries(what: str, entries: Any) -> None:
    if entries is not None:
        raise InvalidInput(
            what,
            expected="no entries= for a mechanism whose secrets say what the databases are",
            got=repr(entries),
        )


# -- noise on a statistic -----------------------------------------------------------------------


def _of_mean(what: str, mean: NoisyMean, entries: Any, times: int) -> Bound:
    """Return the level for sums that differ by ``times`` the range of an entry, and no more."""
    ends = _range(what, entries)
    labels = {"x": times * ends[1], "x'": times * ends[0]}
    reach = times * (ends[1] - ends[0])
    if mean.noise == "laplace" or not reach:
        rate = reach / mean.sum_scale
        return proved(*enclose(lambda: ball(rate)), f"{_LAPLACE}, of {mean.n} numbers")
    why = "the log-ratio of Gaussian densities of different means is linear in y"
    return proved(math.inf, math.inf, why, witness={k: float(v) for k, v in labels.items()})


def _range(what: str, entries: Any) -> tuple[Fraction, Fraction]:
    """Return the ends of an alphabet of numbers."""
    if isinstance(entries, Interval) and math.isfinite(entries.lower + entries.upper):
        return Fraction(entries.lower), Fraction(entries.upper)
    listed = isinstance(entries, Alphabet) and entries.kind == "finite" and entries.dim == 1
    if listed and all(isinstance(v, Real) and not isinstance(v, bool) for v in entries.labels):
        numbers = [exactly(v) for v in entries.labels]
        return min(numbers), max(numbers)
    raise InvalidInput(
        what,
        expected="entries=<a bounded interval, or finitely many numbers>, as those of one entry",
        got=repr(entries),
    )


def _of_count(what: str, mechanism: Mechanism, entries: Any) -> Bound:
    """Return the level for counts that differ by 1."""
    on = mechanism.secret
    bits = isinstance(entries, Alphabet) and entries == Finite(2)
    if not bits or on.kind != "finite" or on.size < 2 or on != Integers(0, on.size - 1):
        raise InvalidInput(
            what,
            expected="entries=bl.Finite(2) and a mechanism about the number of ones, "
            "secret=bl.Integers(0, n)",
            got=f"entries={entries!r} and {on!r}",
        )
    if mechanism.finite and not mechanism.unproved:
        rows = mechanism.matrix
        pairs = np.stack([rows[:-1], rows[1:]])
        return _largest(mechanism, pairs, 0, lambda own, rest: own + rest[0])
    _require_few(what, on.size - 1, "pairs of counts")
    half = [Fraction(1, 2)] * 2
    return largest([ldp(pmf(half, on=Finite([k, k + 1])) * mechanism) for k in range(on.size - 1)])


# -- densities on D**n ----------------------------------------------------------------------------


def _is_density(mechanism: Mechanism) -> bool:
    secret = mechanism.secret
    listed = isinstance(secret, Product) and secret.kind == "finite"
    return listed and mechanism.density is not None and not mechanism.masses


def _of_slices(what: str, mechanism: Mechanism) -> Bound:
    """Return the largest LDP level of one entry, the others being known: each slice in turn."""
    secret = mechanism.secret
    if not _is_density(mechanism):
        raise NotYet(what, missing=f"secrets and outcomes such as those of {mechanism!r}")
    lists = [list(a.labels) for a in secret.factors]
    total = sum(math.prod(map(len, lists)) // len(own) for own in lists)
    _require_few(what, total, "slices of databases")
    found = []
    for i, own in enumerate(lists):
        for rest in itertools.product(*(others for k, others in enumerate(lists) if k != i)):
            path = partial(_slice, rest[:i], rest[i:])
            found.append(leakage_capacity(_along(mechanism, path, Finite(own))))
    return largest(found)


def _of_pairs(mechanism: Mechanism) -> Bound:
    """Return the largest LDP level of two databases: each pair in turn."""
    labels = list(mechanism.secret.labels)
    if len(labels) * (len(labels) - 1) // 2 > _FEW:
        return leakage_capacity(mechanism)
    pairs = itertools.combinations(labels, 2)
    found = [
        leakage_capacity(_along(mechanism, partial(_between, *pair), Finite(2))) for pair in pairs
    ]
    return largest(found) if found else leakage_capacity(mechanism)


def _slice(before: tuple, after: tuple, x: Any) -> tuple:
    return (*(float(v) + 0.0 * x for v in before), x, *(float(v) + 0.0 * x for v in after))


def _between(start: tuple, end: tuple, x: Any) -> tuple:
    """Return the database ``start`` at x = 0 and ``end`` at x = 1, both exactly."""
    return tuple(
        float(a) + 0.0 * x if a == b else float(a) * (1 - x) + float(b) * x
        for a, b in zip(start, end, strict=True)
    )


def _along(mechanism: Mechanism, path: Callable[[Any], tuple], secret: Alphabet) -> Mechanism:
    """Return a density on D**n seen along a path of databases, one for each number."""
    inner = mechanism.density
    assert inner is not None

    def density(y: Any, x: Any) -> Any:
        return inner.raw(y, path(x))

    out = Mechanism(None, secret=secret, outcome=mechanism.outcome, name=mechanism.name)
    spaces = {"y": mechanism.outcome, "x": secret}
    out.density = Density(density, spaces, log=inner.log, opaque=inner.opaque)
    out.breaks, out.normalisation = mechanism.breaks, mechanism.normalisation
    return out


def _require_few(what: str, count: int, of: str) -> None:
    if count > _FEW:
        raise NotYet(
            what,
            missing=f"{count} {of}, of outcomes that are not finite; up to {_FEW}",
            instead="bl.mechanisms.counting_query, laplace_mean or gaussian_mean, for any n.",
        )


def _require(what: str, mechanism: Any) -> None:
    if not isinstance(mechanism, Mechanism):
        raise InvalidInput(
            what,
            expected="a mechanism on databases",
            got=type(mechanism).__name__,
            mend="it depends on no prior: give the mechanism alone.",
        )


def _proved_matrix(what: str, mechanism: Mechanism) -> np.ndarray:
    if mechanism.unproved:
        raise NotYet(what, missing=f"a proof: {mechanism.unproved}")
    return mechanism.matrix


def _steepest(query: CountingQuery, times: int) -> Bound:
    low, high = enclose(lambda: ball(times * query.rate))
    labels = {"x": times, "x'": 0, "y": query.n / query.unit}
    return proved(low, high, f"{PAPER}, Section 4.1; {_LAPLACE}", attained=True, witness=labels)


def _largest(
    mechanism: Mechanism, cells: np.ndarray, axis: int, label: Callable[[int, list], Any]
) -> Bound:
    """Enclose the largest log-ratio of two entries of ``cells`` along an axis."""
    rows = np.moveaxis(cells, axis, 0)

    def where(*place: int) -> dict:
        *rest, y = place
        column = rows[(slice(None), *rest, y)]
        pair = [label(int(f(column)), rest) for f in (np.argmax, np.argmin)]
        return {"x": pair[0], "x'": pair[1], "y": mechanism.outcome.labels[y]}

    error = 0.0 if mechanism.rational else max(mechanism.rounding, rounding.U)
    found = largest_quotient(rows.max(axis=0), rows.min(axis=0), error, where)
    return Bound.exact(*found[:2], **found[2])


def largest_quotient(
    top: np.ndarray, bottom: np.ndarray, error: float, where: Callable[..., dict]
) -> tuple[float, float, dict[str, Any]]:
    """Enclose the logarithm of the largest top / bottom, 0 / 0 left out, and say where it is.

    Parameters
    ----------
    top, bottom : ndarray
        Fractions, or floats that mean every number within a relative ``error``.
    error : float
        0 for Fractions.
    where : callable
        Takes the place of a quotient in the arrays and returns its witness.

    Returns
    -------
    lower, upper : float
        At least 0.
    about : dict
        What else a Bound is to know.
    """
    live = np.flatnonzero(np.asarray(top != 0, bool).ravel())
    shape, top, bottom = top.shape, top.ravel()[live], bottom.ravel()[live]

    def at(j: int) -> dict:
        return where(*(int(v) for v in np.unravel_index(live[j], shape)))

    zero = np.asarray(bottom == 0, bool)
    if zero.any():
        return math.inf, math.inf, {"witness": at(int(np.argmax(zero)))}
    if not error:
        ratios = [Fraction(a) / b for a, b in zip(top, bottom, strict=True)]
        j = max(range(len(ratios)), key=ratios.__getitem__)
        worst = max(ratios[j], Fraction(1))
        ends = log_fraction(worst)
        return *ends, {"exact_ratio": Ratio(worst, worst), "witness": at(j)}
    num, den = (scaled(v, rounding.rounding_of(v, error)) for v in (top, bottom))
    log, ratio = log_ratio_bounds(num, den), ratio_bounds(num, den)
    return (
        max(float(log.lower.max()), 0.0),
        max(float(log.upper.max()), 0.0),
        {
            "exact_ratio": Ratio(max(float(ratio.lower.max()), 1.0), float(ratio.upper.max())),
            "assumptions": (FLOATS,),
            "witness": at(int(np.argmax(log.upper))),
        },
    )


def _label(secret: Product, axis: int, own: int, rest: list[int]) -> tuple:
    places = [*rest[:axis], own, *rest[axis:]]
    return tuple(a.labels[j] for a, j in zip(secret.factors, places, strict=True))
