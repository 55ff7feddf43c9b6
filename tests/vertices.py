"""All vertices of a polytope of priors, in Fractions: an oracle for least and largest means."""

import itertools
from fractions import Fraction as F


def vertices(rows, ends):
    """All q of the simplex with rows q <= ends at which n - 1 of the constraints are tight."""
    n = len(rows[0])
    signs = [[F(-int(i == j)) for j in range(n)] for i in range(n)]
    every = [*zip(signs, [F(0)] * n, strict=True), *zip(rows, ends, strict=True)]
    found = []
    for tight in itertools.combinations(every, n - 1):
        q = solved([[F(1)] * n, *(row for row, _ in tight)], [F(1), *(end for _, end in tight)])
        inside = q is not None and all(
            sum(a * v for a, v in zip(row, q, strict=True)) <= end for row, end in every
        )
        if inside and q not in found:
            found.append(q)
    return found


def solved(table, right):
    """Solve a square system by elimination; None if it has not one solution."""
    m = [[*row, end] for row, end in zip(table, right, strict=True)]
    for i in range(len(m)):
        pivot = next((k for k in range(i, len(m)) if m[k][i] != 0), None)
        if pivot is None:
            return None
        m[i], m[pivot] = m[pivot], m[i]
        m[i] = [v / m[i][i] for v in m[i]]
        for k in range(len(m)):
            if k != i:
                m[k] = [a - m[k][i] * b for a, b in zip(m[k], m[i], strict=True)]
    return [row[-1] for row in m]
