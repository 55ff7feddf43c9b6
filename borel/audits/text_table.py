"""The table of an audit as a DataFrame that is written as text without losing a claim."""

from __future__ import annotations

from typing import Any

import pandas as pd

from borel.probability.bound_text import formatted

_DIGITS = ".10g"
_ROUNDING = {"lower": "down", "upper": "up"}


class TextTable(pd.DataFrame):
    r"""A DataFrame of figures: as text its ends are rounded outwards, and its labels stay whole.

    Columns ``lower`` and ``upper`` are numbers, and ``.to_csv`` writes all their digits. Text shows
    ten of them, of which pandas alone would round a lower end up. A line break in a label becomes a
    space, ``|`` is escaped in Markdown, and what has a meaning in LaTeX (such as ``%`` and ``_``)
    there.

    Examples
    --------
    >>> one = TextTable({"lower": [2 / 3], "upper": [2 / 3]}, index=["50 % & a_b"])
    >>> print(one.to_markdown())
    |            | lower        | upper        |
    |:-----------|:-------------|:-------------|
    | 50 % & a_b | 0.6666666666 | 0.6666666667 |
    >>> r"50 \% \& a\_b & 0.6666666666 & 0.6666666667" in one.to_latex()
    True
    """

    @property
    def _constructor(self) -> type[TextTable]:
        return TextTable

    def _in_text(self, bar: str = "|") -> pd.DataFrame:
        """Return a plain DataFrame of texts in place of ends, labels and sentences."""

        def one_line(value: Any) -> Any:
            return " ".join(value.split()).replace("|", bar) if isinstance(value, str) else value

        shown = pd.DataFrame(self).rename(index=one_line, columns=one_line)
        for i, name in enumerate(self.columns):
            rounding = _ROUNDING.get(name)
            texts = [
                one_line(value) if rounding is None else _end(value, rounding)
                for value in self.iloc[:, i]
            ]
            shown.isetitem(i, pd.Series(texts, index=shown.index, dtype=object))
        return shown

    def to_markdown(self, *args: Any, **kwargs: Any) -> Any:
        """Write as Markdown; arguments are those of ``DataFrame.to_markdown``."""
        # numbers that are read again would be rounded to nearest
        return self._in_text(r"\|").to_markdown(*args, **{"disable_numparse": True, **kwargs})

    def to_latex(self, *args: Any, **kwargs: Any) -> Any:
        """Write as LaTeX, escaped; arguments are those of ``DataFrame.to_latex``."""
        return self._in_text().to_latex(*args, **{"escape": True, **kwargs})

    def to_string(self, *args: Any, **kwargs: Any) -> Any:
        """Write as text; arguments are those of ``DataFrame.to_string``."""
        return self._in_text().to_string(*args, **kwargs)

    def to_html(self, *args: Any, **kwargs: Any) -> Any:
        """Write as HTML; arguments are those of ``DataFrame.to_html``."""
        return self._in_text().to_html(*args, **kwargs)

    def _repr_html_(self) -> str | None:
        return self._in_text()._repr_html_()  # type: ignore[operator]


def _end(value: Any, rounding: str) -> Any:
    if not isinstance(value, float) or value != value:
        return "" if value != value else value
    return formatted(value, _DIGITS, rounding)
