"""Linear systems in Fractions, solved by python-flint."""

from __future__ import annotations

from fractions import Fraction
from typing import Any


def solution(
    rows: list[list[Any]], target: list[Any], guess: list[Fraction]
) -> list[Fraction] | None:
    """Solve a linear system exactly, free unknowns as guessed; None without rows or solution.

    Parameters
    ----------
    rows : list of list
        Exact numbers: ints, Fractions, or floats as they stand.
    target : list
        The right-hand side.
    guess : list of Fraction
        A value for each unknown.

    Examples
    --------
    >>> solution([[1, 1], [1, -1]], [1, Fraction(1, 3)], [Fraction(0)] * 2)
    [Fraction(2, 3), Fraction(1, 3)]
    """
    from flint import fmpq_mat

    if not rows:
        return None
    columns = len(guess)
    entries = [_rational(v) for row, t in zip(rows, target, strict=True) for v in (*row, t)]
    reduced, rank = fmpq_mat(len(rows), columns + 1, entries).rref()
    out = [_rational(v) for v in guess]
    for i in range(rank):
        pivot = next(j for j in range(columns + 1) if reduced[i, j] != 0)
        if pivot == columns:
            return None
        value = reduced[i, columns]
        for j in range(pivot + 1, columns):
            if reduced[i, j] != 0:  # of a free unknown: pivots are alone in their columns
                value -= reduced[i, j] * out[j]
        out[pivot] = value
    return [Fraction(int(v.p), int(v.q)) for v in out]


def rank(rows: list[list[Any]]) -> int:
    """Return the rank of a matrix of exact numbers.

    Examples
    --------
    >>> rank([[1, 1, 0], [2, 2, 0]])
    1
    """
    from flint import fmpq_mat

    entries = [_rational(v) for row in rows for v in row]
    return int(fmpq_mat(len(rows), len(rows[0]), entries).rank())


def _rational(value: Any) -> Any:
    from flint import fmpq

    return fmpq(*Fraction(value).as_integer_ratio())
