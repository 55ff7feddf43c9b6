"""The table of an audit as text: no label breaks it, no end is rounded inwards."""

import io
import re
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest

from borel.audits.text_table import TextTable

LABELS = [
    "a, b",
    "50 % & more",
    "under_score",
    "é ∞ 漢",
    "two\nlines\n\nmore",
    'a "quote"',
    "a|b",
    "$x^2$ {y} #1 ~\\z",
    "",
]


def table():
    rng = np.random.default_rng(3)
    low = rng.exponential(size=len(LABELS)) * 10.0 ** rng.integers(-9, 9, len(LABELS))
    high = np.where(
        rng.random(len(LABELS)) < 0.3, np.inf, low * (1 + rng.exponential(size=len(LABELS)) * 1e-11)
    )
    return TextTable(
        {"lower": low, "upper": high, "meaning": LABELS}, index=pd.Index(LABELS, name="measure")
    )


def test_csv_comes_back_as_it_was():
    found = table()
    text = io.StringIO(found.to_csv())
    back = pd.read_csv(text, index_col=0, keep_default_na=False, dtype=str)
    assert back.index.tolist() == LABELS and back["meaning"].tolist() == LABELS
    ends = back[["lower", "upper"]].map(float)
    np.testing.assert_array_equal(ends, found[["lower", "upper"]])


def cells_of_markdown(text):
    lines = text.splitlines()
    return [
        [c.strip().replace(r"\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in lines[2:]
    ]


def cells_of_latex(text):
    body = text.partition(r"\midrule")[2].partition(r"\bottomrule")[0]
    rows = [line for line in body.strip().split("\n") if line.strip()]
    return [[c.strip() for c in re.split(r"(?<!\\)&", row.removesuffix(r"\\"))] for row in rows]


@pytest.mark.parametrize(
    "write, cells", [("to_markdown", cells_of_markdown), ("to_latex", cells_of_latex)]
)
def test_text_has_a_row_for_each_figure_and_ends_outside_the_known_ones(write, cells):
    found = table()
    rows = cells(getattr(found, write)())
    assert len(rows) == len(found) and all(len(row) == 4 for row in rows)
    for (_, low, high, _), lower, upper in zip(rows, found["lower"], found["upper"], strict=True):
        assert F(low) <= F(lower)
        assert high == "inf" if np.isinf(upper) else F(high) >= F(upper)
        assert float(low) == pytest.approx(lower, rel=1e-9)
    if write == "to_markdown":
        assert [row[0] for row in rows] == [" ".join(label.split()) for label in LABELS]
    else:
        assert not re.search(r"(?<!\\)[%#_$]", "".join("".join(row) for row in rows))


def test_parts_and_prints_of_a_table_are_rounded_outwards_too():
    one = TextTable({"lower": [2 / 3], "upper": [2 / 3], "status": ["exact"]}, index=["PML"])
    for text in (
        repr(one),
        one[["upper", "lower"]].to_html(),
        one._repr_html_(),
        one.head(1).to_latex(),
    ):
        assert "0.6666666666" in text and "0.6666666667" in text
    missing = TextTable({"lower": [np.nan], "upper": [np.nan]}, index=["PML"])
    assert cells_of_markdown(missing.to_markdown()) == [["PML", "", ""]]
