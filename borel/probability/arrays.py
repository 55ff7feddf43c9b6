"""Arrays of probabilities: floats or Fractions, with their labels and their rounding."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from borel.constants import exactly, real
from borel.errors import InvalidInput
from borel.numerics.intervals.rounding import LARGE, NORMAL, U, sum_dd
from borel.probability.alphabets import Alphabet, Finite

DOUBLE: Any = np.finfo(float)
NORMALISED = (
    "divide by their sum yourself, p = np.asarray(p, float); p / p.sum(axis=-1, keepdims=True); "
    "nothing is renormalised silently."
)


class Numbers(NamedTuple):
    """Numbers as floats, or as an object array of Fractions.

    Attributes
    ----------
    values : ndarray
        The numbers.
    labels : list or None
        Of the last dim, if a DataArray or a pandas object brought them.
    precision : numpy.finfo
        The type that the floats came in: narrower ones carry a coarser rounding.
    """

    values: np.ndarray
    labels: list | None
    precision: Any


def validated(
    values: np.ndarray, what: str, rounding: float = 0.0, precision: Any = DOUBLE
) -> float | None:
    """Check probabilities (..., n): non-negative, and 1 in sum to their rounding.

    What comes back is how far those of one law are from their normalised ones (see `row_miss`).
    """
    if values.dtype == object:
        for row in values.reshape(-1, values.shape[-1]).tolist():
            if min(row) < 0:
                raise InvalidInput(
                    what,
                    expected="probabilities >= 0",
                    got=str(min(row)),
                    where=f"position {row.index(min(row))}",
                )
            if sum(row) != 1:
                raise InvalidInput(
                    what,
                    expected="Fractions that sum to 1 exactly",
                    got=f"a sum of {sum(row)}",
                    mend="divide by their sum yourself; nothing is renormalised silently. Of "
                    "counts bl.priors.from_counts(counts, confidence=0.95) makes a set of priors.",
                )
        return None
    if not (values.min(initial=0.0) >= 0 and values.max(initial=0.0) < np.inf):  # NaN too
        bad = ~(values >= 0) | ~np.isfinite(values)
        where = tuple(np.argwhere(bad)[0])
        raise InvalidInput(
            what,
            expected="probabilities >= 0, finite",
            got=repr(float(values[where])),
            where=f"position {where[-1]}"
            + (f" of draw {tuple(int(i) for i in where[:-1])}" if len(where) > 1 else ""),
        )
    alone = values.ndim == 1  # draws come by the thousand: a plain sum will do
    miss = row_miss(values, exactly=alone)
    allowed = rounding_allowed(values.shape[-1], precision) * (1 if alone else 2) + 2 * rounding
    if not (miss <= allowed).all():
        where = tuple(np.argwhere(~(miss <= allowed))[0])
        raise InvalidInput(
            what,
            expected="probabilities that sum to 1 (to the rounding of floats)",
            got=f"a sum of {sum_shown(values[where])}",
            where=f"draw {tuple(int(i) for i in where)}" if where else "",
            mend=NORMALISED,
        )
    return float(miss) if alone else None


def sum_shown(values: np.ndarray) -> str:
    """Show what numbers sum to; where a float shows 1, how far it is from it.

    Examples
    --------
    >>> sum_shown(np.array([0.5, 0.5 + 2**-53, 2**-54])), sum_shown(np.array([0.5, 0.25]))
    ('1 + 1.7e-16', '0.75')
    """
    total = reduce(operator.add, values.tolist())  # `sum` corrects its roundings, from 3.12 on
    if total != 1:
        return repr(float(total))
    miss = sum(map(Fraction, values.tolist())) - 1
    return f"1 {'-' if miss < 0 else '+'} {abs(float(miss)):.2g}"


def row_miss(rows: np.ndarray, *, exactly: bool = True) -> np.ndarray:
    """Bound how far rows (..., n) are, relatively, from themselves divided by their sum.

    ``exactly`` sums to far more digits than float64 has, but for the first additions in a large
    table; otherwise a bound on the rounding of the sum is added.
    """
    n = rows.shape[-1]
    with np.errstate(over="ignore", invalid="ignore"):  # a sum beyond float64 misses 1 by NaN
        miss = _exact_miss(rows) if exactly else np.abs(rows @ np.ones(n) - 1.0) + n * U
    # beyond a miss of 1 no factor is a bound
    return np.where(miss < 1, miss / np.maximum(1 - miss, U) * (1 + 4 * U), np.inf)


def _exact_miss(rows: np.ndarray) -> np.ndarray:
    """Bound how far the sums of rows are from 1."""
    if rows.ndim == 1:
        try:
            return np.abs(math.fsum([-1.0, *rows.tolist()])) * (1 + 4 * U)
        except OverflowError:
            return np.array(np.inf)
    lost = 0.0
    while rows.size > LARGE and rows.shape[-1] > 1:
        half = (rows.shape[-1] + 1) // 2
        sums, last = rows[..., :half].copy(), rows[..., half:]
        sums[..., : last.shape[-1]] += last
        rows, lost = sums, lost + U
    total, error = sum_dd(np.moveaxis(rows, -1, 0))
    return (np.abs((total - 1.0) + error) + lost * total) * (1 + 64 * U)


def rounding_allowed(n: int, precision: Any = DOUBLE) -> float:
    """How far n floats may miss a sum of 1 by rounding alone, relatively.

    Each entry may carry a few roundings (8 u), and the sum they were divided by n u.
    """
    return (n + 8) * float(precision.eps) / 2


def own_rounding(values: np.ndarray, precision: Any, what: str) -> float:
    """Bound how far rows of a type narrower than float64 are from what they mean, relatively.

    That is their miss, the rounding of one entry, or, for an entry below the normal range of the
    type, half of its smallest number. It is 0 for float64, whose own is known where it is needed.
    """
    if precision.bits >= DOUBLE.bits:
        return 0.0
    least = float(values.min(initial=1.0, where=values > 0))
    coarse = float(precision.smallest_subnormal) / 2 / least  # of normal numbers below eps / 2
    miss = float(row_miss(values, exactly=values.ndim == 1).max())
    error = max(float(precision.eps) / 2, coarse, miss)
    require_accurate(what, error, precision)
    return error


def aligned(
    values: np.ndarray, axis: int, labels: list | None, on: Alphabet, what: str
) -> np.ndarray:
    """Put an axis whose labels a DataArray gave into the order of an alphabet.

    The labels 0, ..., n - 1 are what ArviZ writes when there are none: they are taken for such
    unless they are the alphabet's.
    """
    if labels is None:
        return values
    names = Finite(labels).labels
    if names == on.labels:
        return values
    if set(names) == set(on.labels):
        place = {name: i for i, name in enumerate(names)}
        return np.take(values, [place[label] for label in on.labels], axis=axis)
    if names == tuple(range(len(names))):
        return values
    raise InvalidInput(
        what,
        expected=f"the labels of {on!r}",
        got=f"a DataArray with the labels {list(names)}",
        mend="give both the same labels; labels are matched, never positions.",
    )


def with_labels(values: Any) -> Any:
    """Return a pandas Series or DataFrame as a DataArray, so that its labels are not lost."""
    if type(values).__module__.partition(".")[0] != "pandas":
        return values
    import xarray as xr

    return xr.DataArray(values)


def require_no_column(values: Any, what: str) -> None:
    """Raise for a DataFrame of one column where its column, a Series, is meant."""
    frame = type(values).__module__.partition(".")[0] == "pandas" and values.ndim == 2
    if frame and values.shape[1] == 1 and values.shape[0] > 1:
        raise InvalidInput(
            what,
            expected="a number for each label, in a row or a Series",
            got=f"a DataFrame of one column of {values.shape[0]}",
            mend=f"take the column: frame[{values.columns[0]!r}].",
        )


NAMES = {
    "secret": ("x", "X", "secret"),
    "outcome": ("y", "Y", "outcome"),
    "action": ("w", "W", "action"),
}
"""The names that dimensions are understood by."""
_UNNAMED = ["dim_0", "dim_1"]  # what xarray calls the dimensions of a matrix that nobody named


def is_labelled(values: Any) -> bool:
    """Return whether values are a DataArray (xarray is not imported)."""
    return hasattr(values, "dims") and hasattr(values, "coords") and hasattr(values, "ndim")


def labels_of(table: Any) -> list[list | None]:
    """Return the labels of every dimension of a DataArray, None where it has none."""
    index = table.indexes  # its values would be times without their zone
    return [
        list(index[d] if d in index else table[d].values) if d in table.coords else None
        for d in table.dims
    ]


def own_labels(labels: list | None, count: int) -> Finite:
    """Return the alphabet of values that came without one.

    The labels 0, ..., n - 1 of a DataArray or a Series are what they have when nobody gives any.
    """
    if labels is None or list(labels) == list(range(count)):
        return Finite.numbered(count)
    return Finite(labels)


def oriented(given: Any, roles: tuple[str, str], what: str, *, named: dict[str, str]) -> Any:
    """Return a DataArray or DataFrame with its rows and columns in the order of two roles.

    The names of its dimensions decide: those of `NAMES`, or else those that ``named`` gives for a
    role (one name is enough). A DataFrame, and a DataArray whose dimensions nobody named, have rows
    and columns; any other names that do not say which is which are an error.
    """
    table = with_labels(given)
    if not is_labelled(table) or table.ndim != 2:
        return table
    dims = [str(d) for d in table.dims]
    names = {role: (named.get(role),) for role in roles} if named else NAMES
    told = [next((i for i, role in enumerate(roles) if d in names[role]), None) for d in dims]
    if named and told.count(None) != 2 - len(named):
        raise InvalidInput(
            what,
            expected=f"names of dimensions, of {dims}",
            got=", ".join(f"{role}={name!r}" for role, name in named.items()),
        )
    turned = {place != role for place, role in enumerate(told) if role is not None}
    in_rows = table is not given or dims == _UNNAMED
    if len(turned) == 2 or not (turned or in_rows):
        first, second = (NAMES[role][0] for role in roles)
        raise InvalidInput(
            what,
            expected=f"dimensions whose names say which is the {roles[0]}, which the {roles[1]}",
            got=f"dims {tuple(dims)}",
            mend=f"K.rename({{{dims[0]!r}: {first!r}, {dims[1]!r}: {second!r}}}), "
            "or the other way round.",
        )
    return table.T if True in turned else table


def in_order_of(values: Any, on: Alphabet, what: str) -> Any:
    """Return values whose last axis a DataArray or pandas labels, in the order of an alphabet.

    Others come back as they are: they are in that order.
    """
    require_no_column(values, what)
    table = with_labels(values)
    if not is_labelled(table) or not table.ndim:
        return values
    return aligned(table.values, table.ndim - 1, labels_of(table)[-1], on, what)


def _no_numbers(values: Any) -> InvalidInput:
    mend = "give floats or Fractions, such as 0.5 or Fraction('1/2')."
    if hasattr(values, "toarray"):
        mend = "values.toarray() of a sparse matrix is an array of them."
    elif np.ma.isMaskedArray(values):
        mend = "drop what is masked, or fill it: values.compressed(), values.filled(0.0)."
    return InvalidInput("probabilities", expected="numbers", got=shown(values), mend=mend)


def as_numbers(values: Any, *, mixed: bool = False) -> Numbers:
    """Return floats, or an object array of Fractions, with their labels and the type they had.

    Fractions beside floats are rounded to floats; ``mixed`` keeps both as they are, as objects.
    """
    labels = None
    values = with_labels(values)
    if is_labelled(values):
        labels = labels_of(values)[-1] if values.ndim else None
        values = values.values
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO" or np.ma.is_masked(values):
            raise TypeError
    except (TypeError, ValueError):
        raise _no_numbers(values) from None
    if array.dtype == object or array.dtype.kind in "iu":
        flat = array.ravel().tolist()
        if all(isinstance(v, (int, Fraction)) and not isinstance(v, bool) for v in flat):
            out = np.empty(array.size, dtype=object)
            out[:] = [exactly(v) for v in flat]  # NumPy's integers in a Fraction overflow
            return Numbers(out.reshape(array.shape), labels, DOUBLE)
    precision = np.finfo(array.dtype) if array.dtype.kind == "f" else DOUBLE
    owner = array if array.base is None else array.base
    if array.dtype == float and isinstance(owner, np.ndarray) and not owner.flags.writeable:
        # nobody can change it: no need for a copy of one's own
        return Numbers(array, labels, precision)
    try:
        floats = np.array(array, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise _no_numbers(values) from None
    if not (mixed and array.dtype == object):
        return Numbers(floats, labels, precision)
    out = np.empty(array.size, dtype=object)
    pairs = zip(flat, floats.ravel().tolist(), strict=True)
    out[:] = [exactly(v) if isinstance(v, (int, Fraction)) else a for v, a in pairs]
    return Numbers(out.reshape(array.shape), labels, precision)


def limited(given: Any, what: str, names: str) -> np.ndarray:
    """Return numbers that a float holds: floats, or objects, Fractions and floats as they are."""
    try:
        found = as_numbers(given, mixed=True)[0]
        found.astype(float)
    except (InvalidInput, OverflowError):
        expected = f"numbers for {names}, that a float holds"
        raise InvalidInput(what, expected=expected, got=shown(given)) from None
    return found


def as_fractions(values: np.ndarray) -> np.ndarray:
    """Return numbers as Fractions; floats mean their binary64 values, infinite ones stay."""
    if values.dtype != object:
        return values
    out = np.empty(values.size, dtype=object)
    out[:] = [Fraction(v) if math.isfinite(v) else v for v in values.ravel().tolist()]
    return out.reshape(values.shape)


def shown(values: Any) -> str:
    """Show the beginning of what came, in one line."""
    shown = " ".join(repr(values).split())
    return shown if len(shown) <= 60 else f"{shown[:60]}..."


def as_floats(values: np.ndarray, what: str) -> np.ndarray:
    """Return Fractions as floats; one that float64 cannot hold is an error, not a zero."""
    floats = np.asarray(values, float)
    if values.dtype == object and (np.asarray(values != 0, bool) & (floats < NORMAL)).any():
        raise InvalidInput(
            what,
            expected="Fractions that float64 can hold (0 or at least 2.2e-308), beside floats",
            got=f"{float(min(v for v in values.ravel() if v > 0)):.3g}",
            mend="give all of them as Fractions.",
        )
    return floats


def require_no_underflow(what: str, *arrays: np.ndarray) -> None:
    """Raise unless products of entries stay in the normal range: a lost factor is not a zero."""
    smallest = 1.0
    for array in arrays:
        if array.dtype == object:
            return
        positive = array[array > 0]
        smallest *= float(positive.min()) if positive.size else 1.0
    if smallest < NORMAL:
        raise InvalidInput(
            what,
            expected="entries whose products float64 can hold",
            got=f"products down to about {smallest:.3g}",
            mend="give them as Fractions.",
        )


def carried(*sources: Any) -> str:
    """Return why anything made of these measures and mechanisms is known in float64 only."""
    return "; ".join(dict.fromkeys(s.unproved for s in sources if s.unproved))


def require_accurate(what: str, rounding: float, precision: Any = DOUBLE) -> None:
    """Raise if entries are too coarse for what is done to them."""
    if rounding > 1e-3:
        least = float(precision.smallest_subnormal)
        raise InvalidInput(
            what,
            expected=f"entries that {precision.dtype} holds to some digits "
            f"(0 or well above {least:.1g})",
            got=f"entries that may be off by {rounding:.2g} of themselves",
            mend="give them as Fractions."
            if precision is DOUBLE
            else "give them in float64: p = np.asarray(p, float); p / p.sum(axis=-1, keepdims=True)"
            " if the floats are meant as they stand.",
        )


def probability(what: str, name: str, value: Any) -> Fraction:
    """Return a number of [0, 1] exactly; a float means its binary64 value."""
    expected = f"0 <= {name} <= 1"
    number = real(what, value, expected)
    if not 0 <= number <= 1:
        raise InvalidInput(what, expected=expected, got=repr(value))
    return exactly(number)


def inner_probability(what: str, name: str, value: Any) -> Fraction:
    """Return a number of (0, 1) exactly; a float means its binary64 value."""
    level = probability(what, name, value)
    if not 0 < level < 1:
        raise InvalidInput(what, expected=f"0 < {name} < 1", got=repr(value))
    return level
