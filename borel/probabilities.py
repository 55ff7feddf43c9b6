"""Arrays of probabilities: floats or Fractions, with their labels and their rounding."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

import numpy as np

from borel.alphabets import Alphabet, Finite
from borel.engine.intervals.rounding import NORMAL, U
from borel.errors import InvalidInput


def validated(values: np.ndarray, what: str, rounding: float = 0.0) -> np.ndarray:
    """Check probabilities (..., n): non-negative, and 1 in sum to their rounding."""
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
                    mend="divide by their sum yourself; nothing is renormalised silently.",
                )
        return values
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
    allowed = rounding_allowed(values.shape[-1]) * (1 if alone else 2) + 2 * rounding
    if (miss > allowed).any():
        where = tuple(np.argwhere(miss > allowed)[0])
        raise InvalidInput(
            what,
            expected="probabilities that sum to 1 (to the rounding of floats)",
            got=f"a sum of {float(values[where].sum())!r}",
            where=f"draw {tuple(int(i) for i in where)}" if where else "",
            mend="divide by their sum yourself; nothing is renormalised silently.",
        )
    return values


def row_miss(rows: np.ndarray, *, exactly: bool = True) -> np.ndarray:
    """Bound how far rows (..., n) miss a sum of 1, relatively, rounding of the sum included.

    ``exactly`` sums in double-double; otherwise a bound on the rounding of the sum is added.
    """
    n = rows.shape[-1]
    if exactly:
        total = rows - 0.0
        error = np.zeros_like(rows)
        while total.shape[-1] > 1:  # pairwise in double-double
            if total.shape[-1] % 2:
                pad = [(0, 0)] * (rows.ndim - 1) + [(0, 1)]
                total, error = np.pad(total, pad), np.pad(error, pad)
            a, b = total[..., 0::2], total[..., 1::2]
            s = a + b
            t = s - a
            error = error[..., 0::2] + error[..., 1::2] + ((a - (s - t)) + (b - t))
            total = s
        return np.abs((total[..., 0] - 1.0) + error[..., 0]) * (1 + 4 * U)
    return np.abs(rows.sum(axis=-1) - 1.0) + n * U


def rounding_allowed(n: int) -> float:
    """How far n floats may miss a sum of 1 by rounding alone, relatively.

    Each entry may carry a few roundings (8 u), and the sum they were divided by n u.
    """
    return (n + 8) * U


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


def as_numbers(values: Any, *, mixed: bool = False) -> tuple[np.ndarray, list | None]:
    """Return floats, or an object array of Fractions, and the labels of a DataArray's last dim.

    Fractions beside floats are rounded to floats; ``mixed`` keeps both as they are, as objects.
    """
    labels = None
    values = with_labels(values)
    if hasattr(values, "dims") and hasattr(values, "coords"):
        last = values.dims[-1]
        labels = list(values[last].values) if last in values.coords else None
        values = values.values
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO" or np.ma.is_masked(values):
            raise TypeError
    except (TypeError, ValueError):
        raise InvalidInput("probabilities", expected="numbers", got=shown(values)) from None
    if array.dtype == object or array.dtype.kind in "iu":
        flat = array.ravel().tolist()
        if all(isinstance(v, (int, Fraction)) and not isinstance(v, bool) for v in flat):
            out = np.empty(array.size, dtype=object)
            out[:] = [Fraction(v) for v in flat]
            return out.reshape(array.shape), labels
    owner = array if array.base is None else array.base
    if array.dtype == float and isinstance(owner, np.ndarray) and not owner.flags.writeable:
        return array, labels  # nobody can change it: no need for a copy of one's own
    try:
        floats = np.array(array, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput("probabilities", expected="numbers", got=shown(values)) from None
    if not (mixed and array.dtype == object):
        return floats, labels
    out = np.empty(array.size, dtype=object)
    pairs = zip(flat, floats.ravel().tolist(), strict=True)
    out[:] = [Fraction(v) if isinstance(v, (int, Fraction)) else a for v, a in pairs]
    return out.reshape(array.shape), labels


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
    """Show the beginning of what came."""
    shown = repr(values)
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


def require_accurate(what: str, rounding: float) -> None:
    """Raise if entries below the normal range are too coarse for what is done to them."""
    if rounding > 1e-3:
        raise InvalidInput(
            what,
            expected="entries that float64 holds to some digits (0 or well above 5e-324)",
            got=f"entries that may be off by {rounding:.2g} of themselves",
            mend="give them as Fractions.",
        )


def probability(what: str, name: str, value: Any) -> Fraction:
    """Return a number of [0, 1] exactly; a float means its binary64 value."""
    number: Any = value if isinstance(value, Real) else math.nan
    if not 0 <= number <= 1:
        raise InvalidInput(what, expected=f"0 <= {name} <= 1", got=repr(value))
    return exactly(number)


def exactly(value: Any) -> Fraction:
    """Return a finite number, of NumPy too, as a Fraction; a float means its binary64 value."""
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return Fraction(float(value))
