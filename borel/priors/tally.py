"""Counts of letters, from the containers that hold them, told from answers nobody has counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from borel.errors import InvalidInput
from borel.probability.arrays import shown, with_labels

COUNT_THEM = (
    "count the answers: pandas.Series(answers).value_counts(); counts of a table "
    "without labels are counts.to_numpy(), with their letters named."
)
_OFTEN = 4
"""A list where each of the codes 0, 1, ... comes this often, on average, looks like answers."""


def flattened(counts: Any) -> Any:
    """Return counts of several keys in one dimension, their labels tuples, one key each.

    That is a table such as ``pandas.crosstab`` makes, or a Series with a MultiIndex. Others come
    back as they are, labels and all.
    """
    if not _is_pandas(counts, "DataFrame"):
        return with_labels(counts)
    import pandas as pd

    if counts.shape[1] == 1 and counts.columns.name is None:
        return with_labels(counts.iloc[:, 0])
    rows, columns = ([_keys(label) for label in axis] for axis in (counts.index, counts.columns))
    index = pd.MultiIndex.from_tuples([(*row, *column) for row in rows for column in columns])
    return with_labels(pd.Series(counts.to_numpy().ravel(), index))


def require_counted(counts: Any, what: str, *, letters: Any) -> None:
    """Raise if what came looks like a column of data, an answer a person, and not like counts.

    Parameters
    ----------
    counts : Any
        What the user gave.
    what : str
        What was asked.
    letters : Any
        What the user says the letters are; None if nothing.
    """
    why = _column(counts) or ("" if letters is not None else _codes(counts))
    if why:
        raise InvalidInput(
            what,
            expected="counts, how often each letter was drawn",
            got=f"{why}: {shown(counts)}",
            mend=COUNT_THEM if why != _CODES else f"{COUNT_THEM[:-1]}: {_NAME_THEM}",
        )


_CODES = "what looks like one answer a person"
_NAME_THEM = "on=bl.Finite(n), or categories=range(n)."


def _column(counts: Any) -> str:
    """Say that a pandas object is a column of data, or a table of columns, if it is."""
    if _is_pandas(counts, "DataFrame"):
        if counts.columns.name is not None or not _numbered(counts.index):
            return ""
        return "a table of data, a row a person"
    if not _is_pandas(counts, "Series"):
        return ""
    # value_counts() calls its result so, and groupby(...) names the index of the sizes
    tallied = counts.name in (None, "count") or not _numbered(counts.index)
    return "" if tallied else f"the column {counts.name!r} of a table, a row a person"


def _codes(counts: Any) -> str:
    """Say that a list holds answers, if its numbers are the codes 0, 1, ... (or 1, 2, ...)."""
    if _is_pandas(counts, "Series"):
        if counts.name is not None or type(counts.index).__name__ != "RangeIndex":
            return ""
    elif isinstance(counts, dict) or getattr(counts, "coords", ()):
        return ""
    try:
        values = np.asarray(counts)
        codes = np.unique(values)
    except (TypeError, ValueError):
        return ""
    if values.ndim != 1 or values.dtype.kind not in "iuf" or len(codes) < 2:
        return ""
    each = np.arange(len(codes)) + codes[0]
    answers = codes[0] in (0, 1) and (codes == each).all() and len(values) >= _OFTEN * len(codes)
    return _CODES if answers else ""


def _numbered(index: Any) -> bool:
    """Return whether an index only numbers its rows."""
    return index.name is None and index.nlevels == 1 and index.dtype.kind in "iu"


def _keys(label: Any) -> tuple:
    return label if isinstance(label, tuple) else (label,)


def _is_pandas(value: Any, name: str) -> bool:
    return type(value).__module__.partition(".")[0] == "pandas" and type(value).__name__ == name
