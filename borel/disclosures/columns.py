"""A table of data as the law of one row, whose columns are attributes by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from borel.errors import InvalidInput, did_you_mean
from borel.priors.constructors import from_counts
from borel.probability.alphabets import Alphabet, Finite, Product, is_missing
from borel.probability.arrays import shown
from borel.probability.measure import pmf
from borel.probability.wrong_calls import explained

_ROWS = 100_000
"""So many different rows may be possible."""


@explained
def table(frame: Any, columns: Any, *, confidence: Any = None, method: str = "box") -> Any:
    """Return the law of a row of a table, with its columns as named attributes.

    Parameters
    ----------
    frame : DataFrame or mapping
        A row for each person; ``frame[name]`` is a column.
    columns : str or sequence of str
        Which columns the secret holds. Of a categorical column all categories are possible, of
        another one what occurs in it.
    confidence : number in (0, 1), optional
        Without it the law is that of the rows as they are: what is released of one of them, drawn
        at random. With it the rows are independent draws from a law that is not known, and a set of
        priors holds it with this confidence, as `bl.priors.from_counts` does.
    method : {"box", "l1", "kl"}
        Which set.

    Returns
    -------
    Measure or PriorSet
        On the product of the columns' labels (of one column: on its labels), in the order of
        ``columns``. A name is an attribute of it: ``bl.attribute(prior * mech, "sex")``.

    Raises
    ------
    InvalidInput
        No such column, a value that is missing, columns of different lengths, or more than 10^5
        possible rows.

    Examples
    --------
    >>> import borel as bl
    >>> rows = {"smokes": ["yes", "no", "no", "no"], "ill": [1, 1, 0, 0]}
    >>> person = table(rows, ["smokes", "ill"])
    >>> bl.min_entropy(person, "ill"), bl.min_entropy(person, "smokes").ratio.lower
    (Bound(0.6931471806, exact), Fraction(4, 3))
    """
    what = "bl.table"
    names = [columns] if isinstance(columns, str) else columns
    names = list(names) if isinstance(names, Iterable) else []
    if not names or len(set(names)) < len(names) or not all(isinstance(n, str) for n in names):
        raise InvalidInput(what, expected="columns=[names, each once]", got=repr(columns))
    parts = [_column(frame, name, what) for name in names]
    lengths = {len(values) for values, _ in parts}
    if len(lengths) > 1 or not max(lengths):
        raise InvalidInput(what, expected="columns of one length", got=f"lengths {lengths}")
    alphabets = [Finite(labels) for _, labels in parts]
    on: Alphabet = alphabets[0] if len(names) == 1 else Product(tuple(alphabets))
    if on.size > _ROWS:
        raise InvalidInput(
            what,
            expected=f"at most {_ROWS} possible rows",
            got=f"{on.size}",
            mend="fewer columns, or coarser ones: ages in bands.",
        )
    on = on.named(tuple(names))
    rows = parts[0][0] if len(names) == 1 else zip(*(values for values, _ in parts), strict=True)
    counted = Counter(rows)
    counts = [counted[label] for label in on.labels]
    if confidence is None:
        return pmf([Fraction(count, max(lengths)) for count in counts], on=on)
    found = from_counts(counts, confidence=confidence, on=on, method=method)
    found.assumptions = (
        *found.assumptions,
        f"each of the columns {names} has no labels but its categories, or those that occur",
    )
    return found


_READ = "read a file first: bl.table(pd.read_csv(path), columns)."


def _column(frame: Any, name: str, what: str) -> tuple[list, list]:
    """Return the values of a column, and the labels that it may have."""
    try:
        column = frame[name]
    except (KeyError, TypeError, IndexError, ValueError):
        known = [str(k) for k in frame] if hasattr(frame, "keys") else []
        raise InvalidInput(
            what,
            expected=f"a table with the column {name!r}",
            got=f"the columns {', '.join(known)}" if known else shown(frame),
            mend=did_you_mean(name, known) or ("" if known else _READ),
        ) from None
    categories = getattr(getattr(column, "cat", None), "categories", None)
    if isinstance(column, (str, bytes)) or getattr(column, "ndim", 1) != 1:
        column = None
    try:
        values = column.tolist() if hasattr(column, "tolist") else list(column)  # type: ignore
        hash(tuple(values))
    except TypeError:
        raise InvalidInput(
            what,
            expected=f"one column {name!r} of labels (numbers, strings, tuples)",
            got=shown(frame[name]),
            mend="names are those of one column each; cells hold no lists.",
        ) from None
    if any(v is None or is_missing(v) for v in values):
        raise InvalidInput(
            what,
            expected=f"a column {name!r} without missing values",
            got="one with some",
            mend="drop those rows, or name it: frame.fillna('missing').",
        )
    if categories is not None:
        return values, categories.tolist()
    try:
        labels = sorted(set(values))
    except TypeError:
        labels = list(dict.fromkeys(values))
    return values, labels
