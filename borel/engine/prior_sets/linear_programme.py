"""Linear programs over priors, with a verified dual: what HiGHS returns proves nothing by itself.

The least E_q v over the q of the simplex with A q <= b and E q = e is bounded from below by *any*
y >= 0 and z, as for feasible q

    v.q >= (v + A'y + E'z).q - y.b - z.e >= min_x (v + A'y + E'z)_x - y.b - z.e,

evaluated with outward rounding; and from above by a feasible q, which is repaired and checked in
rational arithmetic. Entries are Fractions, or floats taken as they stand; only the solver sees
Fractions as floats. Where all is rational the basis that it finds is solved exactly: if primal and
dual agree, the least mean is known as a Fraction.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from borel.engine.prior_sets.lower_expectations import Least, exactly
from borel.errors import InvalidInput
from borel.numerics.float64.programmes import linprog
from borel.numerics.intervals import batched
from borel.numerics.intervals.rounding import fraction_down, fraction_up
from borel.numerics.rational_systems import rank, solution

ROUNDING = 1e-12
"""Constraints that contradict each other by less may do so by the rounding of their numbers."""
_UNIT = Fraction(1, 2**20)
_LITTLE = 2.0**-46
"""The share of members that charge a secret, or are inside a polytope, which are mixed in."""
_LARGEST = 120
"""Variables up to which programs are solved in Fractions."""
_CHOICES = 2000
"""Up to this many choices of tight constraints are tried for the vertices of a polytope."""
_NEAR = Fraction(1, 10**8)
"""Up to which share of the largest cost a reduced cost or a multiplier may be meant for 0."""


class Constraints(NamedTuple):
    """Rows A q <= b and E q = e on the probabilities of n secrets and on auxiliary variables.

    Auxiliary variables (columns beyond n) are in [0, 1]; only q lies in the simplex. Arrays are of
    floats, or of objects: Fractions, and floats beside them.
    """

    at_most: np.ndarray
    limits: np.ndarray
    equal: np.ndarray
    values: np.ndarray
    n: int

    @property
    def width(self) -> int:
        """Number of variables, auxiliary ones included."""
        return self.at_most.shape[1]

    @property
    def exact(self) -> bool:
        """Whether no entry is a float."""
        return all(isinstance(v, Fraction) for part in self[:4] for v in part.ravel().tolist())

    @property
    def floats(self) -> Constraints:
        """The constraints rounded, for a solver."""
        at_most, limits, equal, values = (np.asarray(part, float) for part in self[:4])
        return Constraints(at_most, limits, equal, values, self.n)


def constraints(n: int, at_most: Any = (), limits: Any = (), equal: Any = (), values: Any = ()):
    """Make constraints from rows on n secrets (wider rows have auxiliary variables)."""

    def numbers(given: Any) -> np.ndarray:
        found = np.asarray(given)
        return found if found.dtype == object else found.astype(float)

    width = max((np.asarray(r).shape[-1] for r in (at_most, equal) if len(r)), default=n)
    unequal, equations = (numbers(given).reshape(-1, width) for given in (at_most, equal))
    return Constraints(
        unequal, numbers(limits).reshape(-1), equations, numbers(values).reshape(-1), n
    )


def pairs(values: Any) -> list[list[int]]:
    """Return exact numbers as data, two integers each."""
    return [[*Fraction(v).as_integer_ratio()] for v in values]


def described(rules: Constraints) -> dict[str, Any]:
    """Return constraints as data: floats as they are, Fractions as two integers each."""

    def plain(values: list) -> list:
        return [[*v.as_integer_ratio()] if isinstance(v, Fraction) else v for v in values]

    unequal, equal = (
        [[plain(row), *plain([end])] for row, end in zip(rows.tolist(), ends.tolist(), strict=True)]
        for rows, ends in ((rules.at_most, rules.limits), (rules.equal, rules.values))
    )
    return {"kind": "linear", "count": rules.n, "at_most": unequal, "equal": equal}


def joined(first: Constraints, second: Constraints) -> Constraints:
    """Return the constraints of an intersection; auxiliary variables stay apart."""
    n, a, b = first.n, first.width - first.n, second.width - second.n

    def wide(rows: np.ndarray, own: int, before: int, after: int) -> np.ndarray:
        blank = np.zeros((len(rows), before)), np.zeros((len(rows), after))
        return np.hstack([rows[:, :n], blank[0], rows[:, n : n + own], blank[1]])

    return Constraints(
        np.vstack([wide(first.at_most, a, 0, b), wide(second.at_most, b, a, 0)]),
        np.concatenate([first.limits, second.limits]),
        np.vstack([wide(first.equal, a, 0, b), wide(second.equal, b, a, 0)]),
        np.concatenate([first.values, second.values]),
        n,
    )


def _solve(c: np.ndarray, rules: Constraints) -> Any:
    rules = rules.floats
    ones = np.zeros((1, rules.width))
    ones[0, : rules.n] = 1.0
    return linprog(
        c,
        A_ub=rules.at_most if len(rules.at_most) else None,
        b_ub=rules.limits if len(rules.at_most) else None,
        A_eq=np.vstack([ones, rules.equal]),
        b_eq=np.concatenate([[1.0], rules.values]),
        bounds=(0.0, 1.0),
        method="highs",
    )


def vertices(rules: Constraints) -> list[list[Fraction]] | None:
    """Return priors that satisfy the constraints, all vertices among them; None if too many.

    A vertex is the one solution of some of the constraints taken as equations. Equations that
    follow from others fix nothing: as many more constraints are tight.
    """
    n, width = rules.n, rules.width
    unit = np.eye(width, dtype=int).tolist()
    rows = [*rules.at_most.tolist(), *([-v for v in row] for row in unit), *unit[n:]]
    ends = [*rules.limits.tolist(), *[0] * width, *[1] * (width - n)]
    always = [[1] * n + [0] * (width - n), *rules.equal.tolist()]
    values = [1, *rules.values.tolist()]
    free = width - rank(always)
    if math.comb(len(rows), free) > _CHOICES:
        return None
    exact = [(list(map(Fraction, row)), Fraction(end)) for row, end in zip(rows, ends, strict=True)]
    found: list[list[Fraction]] = []
    for tight in combinations(range(len(rows)), free):
        table = [*always, *(rows[k] for k in tight)]
        point = solution(table, [*values, *(ends[k] for k in tight)], [Fraction(0)] * width)
        if point is None or point[:n] in found:
            continue
        if all(sum(map(mul, row, point)) <= end for row, end in exact):
            found.append(point[:n])
    return found or None


def some_member(rules: Constraints, what: str) -> list[Fraction] | None:
    """Return a prior that certainly satisfies the constraints; None if none could be proved.

    Raises
    ------
    InvalidInput
        No prior satisfies them: the solver says so, or its multipliers prove that every prior
        misses one by more than `ROUNDING`. Constraints that contradict each other by less may do so
        by the rounding of their own numbers, and are let pass.
    """
    found = _solve(np.zeros(rules.width), rules)
    if found.status == 2 or (found.status == 0 and _least_miss(rules) > ROUNDING):
        raise InvalidInput(
            what,
            expected="constraints that some prior satisfies",
            got="none does (the linear program is infeasible)",
            mend="relax a constraint.",
        )
    if found.status != 0:
        raise InvalidInput(what, expected="a linear program that can be solved", got=found.message)
    member = _member(found.x, rules)
    return None if member is None else member[: rules.n]


def _least_miss(rules: Constraints) -> Fraction:
    """Bound from below, in rational arithmetic, by how much every prior misses some constraint.

    A constraint may be missed by s * `_UNIT`, with s in [0, 1] as small as can be: the solver,
    which takes a miss of 1e-7 for none, sees misses that are far smaller.
    """
    units = _UNIT.denominator
    rows = np.vstack([rules.at_most, rules.equal, -rules.equal]) * units
    limits = np.concatenate([rules.limits, rules.values, -rules.values]) * units
    wider = Constraints(
        np.hstack([rows, np.full((len(rows), 1), -1.0)]),
        limits,
        np.zeros((0, rules.width + 1)),
        np.zeros(0),
        rules.n,
    )
    cost = np.zeros(wider.width)
    cost[-1] = 1.0
    found = _solve(cost, wider)
    if found.status == 2:  # it misses by more than a unit, and the solver was wrong
        return _UNIT
    if found.status != 0:
        return Fraction(0)
    return _dual_exactly(cost, wider, found) * _UNIT


def middle_member(rules: Constraints) -> list[Fraction] | None:
    """Return a member that is inside the set, as far as the solver shows; None if none is proved.

    It is a mixture of members with the largest, and with the least, probability of each secret.
    """
    corners = []
    for k in range(rules.n):
        for sign in (1.0, -1.0):
            cost = np.zeros(rules.width)
            cost[k] = sign
            found = _solve(cost, rules)
            member = _member(found.x, rules) if found.status == 0 else None
            if member is not None:
                corners.append(member[: rules.n])
    if not corners:
        return None
    return [sum(column, Fraction(0)) / len(corners) for column in zip(*corners, strict=True)]


def corner(v: np.ndarray, rules: Constraints, charged: list[int]) -> list[Fraction] | None:
    """Return a member of nearly the least mean of values (n,), with auxiliary variables.

    It charges some secrets, if need be with little mass; None if none is proved.
    """
    cost = np.zeros(rules.width)
    cost[: rules.n] = v
    found = _solve(cost, rules)
    q = _member(found.x, rules) if found.status == 0 else None
    for k in charged:
        if q is None or q[k] != 0:
            continue
        other = _solve(-np.eye(rules.width)[k], rules)
        more = _member(other.x, rules) if other.status == 0 else None
        if more is None or more[k] == 0:
            return None
        q = [a + (b - a) * Fraction(_LITTLE) for a, b in zip(q, more, strict=True)]
    return q


def near(prior: np.ndarray, rules: Constraints) -> list[Fraction] | None:
    """Return a member near a prior (n,), with auxiliary variables; None if none is proved."""
    eye, n = np.eye(rules.n, rules.width), rules.n
    gaps = np.vstack([np.hstack([sign * eye, -np.eye(n)]) for sign in (1.0, -1.0)])
    blank = [np.zeros((len(rows), n)) for rows in (rules.at_most, rules.equal)]
    wide = Constraints(
        np.vstack([np.hstack([rules.at_most, blank[0]]), gaps]),
        np.concatenate([rules.limits, prior, -prior]),
        np.hstack([rules.equal, blank[1]]),
        rules.values,
        n,
    )
    found = _solve(np.append(np.zeros(rules.width), np.ones(n)), wide)
    return _member(found.x[: rules.width], rules) if found.status == 0 else None


def feasible(rules: Constraints) -> bool:
    """Return whether the solver finds a member."""
    return bool(_solve(np.zeros(rules.width), rules).status == 0)


def reach(rules: Constraints) -> tuple[np.ndarray, np.ndarray]:
    """Return which secrets some member certainly charges, and which may be charged.

    The union of the supports lies between the two; they are equal unless the rounding of the
    solver's multipliers hides that a largest probability is 0.
    """
    sure, possible = np.zeros(rules.n, bool), np.ones(rules.n, bool)
    for k in range(rules.n):
        cost = np.zeros(rules.width)
        cost[k] = -1.0
        found = _solve(cost, rules)
        if found.status == 0:
            member = _member(found.x, rules)
            sure[k] = member is not None and member[k] > 0
            possible[k] = sure[k] or _dual_exactly(cost, rules, found) < 0
    return sure, possible


def least(v: np.ndarray, rules: Constraints) -> Least:
    """Enclose the least expectation of each column of values (n, m), a program for each."""
    m = v.shape[1]
    low, high = v.min(axis=0).astype(float), v.max(axis=0).astype(float)
    prior, known = np.zeros((rules.n, m)), np.zeros(m, bool)
    for j in range(m):
        cost = np.zeros(rules.width)
        cost[: rules.n] = v[:, j]
        found = _solve(cost, rules)
        if found.status != 0:  # nothing is known but the range of the values
            prior[:, j] = 1 / rules.n
            continue
        low[j] = max(low[j], _dual(cost, rules, found))
        prior[:, j] = np.maximum(found.x[: rules.n], 0.0)
        member = _member(found.x, rules)
        if member is not None:
            pairs = zip(member, cost, strict=True)
            total = sum((a * Fraction(float(b)) for a, b in pairs if a), Fraction(0))
            high[j] = min(high[j], fraction_up(total))
            prior[:, j] = [float(a) for a in member[: rules.n]]
            known[j] = True  # a solver's prior that could not be repaired may be far outside
    return Least(low, np.maximum(high, low), prior, known)


def _multipliers(rules: Constraints, found: Any) -> tuple[np.ndarray, np.ndarray]:
    y = np.maximum(-found.ineqlin.marginals, 0.0) if len(rules.at_most) else np.zeros(0)
    return y, -found.eqlin.marginals[1:]


def _dual(cost: np.ndarray, rules: Constraints, found: Any) -> float:
    """Return a proved bound from below, from the multipliers that the solver found."""
    if any(part.dtype == object for part in rules[:4]):
        return fraction_down(_dual_exactly(cost, rules, found))
    y, z = _multipliers(rules, found)
    reduced: Any = batched.point(cost)
    value: Any = batched.point(np.zeros(()))
    for rows, ends, multipliers in (
        (rules.at_most, rules.limits, y),
        (rules.equal, rules.values, z),
    ):
        if len(rows):
            part = batched.multiply(batched.point(rows), batched.point(multipliers[:, None]))
            reduced = batched.add(reduced, batched.total(part, axis=0))
            part = batched.multiply(batched.point(ends), batched.point(multipliers))
            value = batched.subtract(value, batched.total(part, axis=0))
    value = batched.add(value, batched.point(np.array(reduced[0][: rules.n].min())))
    aside = np.minimum(reduced[0][rules.n :], 0.0)  # an auxiliary variable lies in [0, 1]
    if len(aside):
        value = batched.add(value, batched.total((aside, aside), axis=0))
    return float(value[0])


def _dual_exactly(cost: np.ndarray, rules: Constraints, found: Any) -> Fraction:
    """Return the same bound, in rational arithmetic."""
    weights = [Fraction(w) for part in _multipliers(rules, found) for w in part.tolist()]
    return _bound([Fraction(float(c)) for c in cost], rules, weights)[0]


def _bound(
    cost: list[Fraction], rules: Constraints, weights: list[Fraction]
) -> tuple[Fraction, list[Fraction]]:
    """Return the bound that multipliers prove, and the reduced costs v + A'y + E'z."""
    rows, ends = _rows(rules)
    reduced, value = cost, Fraction(0)
    for row, end, w in zip(rows, ends, weights, strict=True):
        if w:
            reduced = [r + w * Fraction(a) for r, a in zip(reduced, row, strict=True)]
            value -= w * Fraction(end)
    aside = sum((min(r, Fraction(0)) for r in reduced[rules.n :]), Fraction(0))
    return value + min(reduced[: rules.n]) + aside, reduced


def _rows(rules: Constraints) -> tuple[list[list], list]:
    rows = [*rules.at_most.tolist(), *rules.equal.tolist()]
    return rows, [*rules.limits.tolist(), *rules.values.tolist()]


def least_exactly(
    column: list[Fraction], rules: Constraints
) -> tuple[Fraction, list[Fraction]] | None:
    """Return the least mean of values and a prior that attains it; None if that is not proved."""
    if rules.width > _LARGEST:
        return None
    cost = [*column, *[Fraction(0)] * (rules.width - rules.n)]
    found = _solve(np.array(cost, float), rules)
    member = _member(found.x, rules) if found.status == 0 else None
    if member is None:
        return None
    value = sum((a * b for a, b in zip(member, cost, strict=True)), Fraction(0))
    rough = [Fraction(w) for part in _multipliers(rules, found) for w in part.tolist()]
    for weights in (_basic(cost, rules, rough), rough):
        if weights is not None and _bound(cost, rules, weights)[0] == value:
            return value, member[: rules.n]
    return None


def columns_exactly(v: np.ndarray, rules: Constraints) -> Any:
    """Return least means and priors as Fractions; None if some are not proved."""
    return exactly(lambda column: least_exactly(column.tolist(), rules), v)


def _basic(
    cost: list[Fraction], rules: Constraints, rough: list[Fraction]
) -> list[Fraction] | None:
    """Return the multipliers of the vertex of the dual that the solver's are near.

    There the reduced costs that are least among the secrets, or 0 beside them, determine it.
    """
    rows, _ = _rows(rules)
    reduced = _bound(cost, rules, rough)[1]
    level = min(reduced[: rules.n])
    size = max(1, *map(abs, cost), *map(abs, reduced))
    used = [k for k, w in enumerate(rough) if abs(w) > size * _NEAR or k >= len(rules.at_most)]
    tight = [
        j for j, r in enumerate(reduced) if abs(r - (level if j < rules.n else 0)) <= size * _NEAR
    ]
    table = [[*(rows[k][j] for k in used), -int(j < rules.n)] for j in tight]
    found = solution(table, [-cost[j] for j in tight], [*(rough[k] for k in used), level])
    if found is None:
        return None
    weights = [Fraction(0)] * len(rough)
    for k, w in zip(used, found[:-1], strict=True):
        weights[k] = max(w, Fraction(0)) if k < len(rules.at_most) else w
    return weights


def _member(x: np.ndarray, rules: Constraints) -> list[Fraction] | None:
    """Repair a solution into a member, exactly; None if that does not succeed."""
    width, near = rules.width, rules.floats
    active = np.flatnonzero(near.limits - near.at_most @ x <= 1e-9 * (1 + np.abs(near.limits)))
    for rows in (active, np.zeros(0, int)):
        found = _repaired(x, rules, rows, width)
        if found is not None:
            return found
    return _moved_inside(x, rules)


def _moved_inside(x: np.ndarray, rules: Constraints) -> list[Fraction] | None:
    """Return a member between a solution that misses constraints by rounding and an inner one.

    The floats of constraints that meet at a corner may contradict each other there.
    """
    slack = np.append(np.zeros(rules.width), 1.0)
    wide = Constraints(
        np.hstack([rules.at_most, np.ones((len(rules.at_most), 1))]),
        rules.limits,
        np.hstack([rules.equal, np.zeros((len(rules.equal), 1))]),
        rules.values,
        rules.n,
    )
    found = _solve(-slack, wide)
    if found.status != 0 or not found.x[-1] > 0:
        return None
    none = np.zeros(0, int)
    inner = _repaired(found.x[:-1], rules, none, rules.width)
    outer = _repaired(x, rules, none, rules.width, exactly=False)
    if inner is None or outer is None:
        return None
    for share in (Fraction(_LITTLE), Fraction(_LITTLE) * 2**12):
        mixed = [a + (b - a) * share for a, b in zip(outer, inner, strict=True)]
        if all(0 <= v <= 1 for v in mixed) and satisfied(mixed, rules):
            return mixed
    return None


def _repaired(
    x: np.ndarray, rules: Constraints, rows: np.ndarray, width: int, *, exactly: bool = True
) -> list[Fraction] | None:
    """Return the nearest numbers that meet the equations and rows; a member, if it is to be one."""
    used = [k for k in range(width) if x[k] > 1e-11]
    ones = [1.0 if k < rules.n else 0.0 for k in used]
    table = [ones, *rules.equal[:, used].tolist(), *rules.at_most[rows][:, used].tolist()]
    ends = [1.0, *rules.values.tolist(), *rules.limits[rows].tolist()]
    found = solution(table, ends, [Fraction(float(x[k])) for k in used])
    # without one, the floats of the constraints contradict each other on this face
    if found is None or (exactly and any(v < 0 or v > 1 for v in found)):
        return None
    out = [Fraction(0)] * width
    for k, v in zip(used, found, strict=True):
        out[k] = v
    return out if not exactly or satisfied(out, rules) else None


def satisfied(q: list[Fraction], rules: Constraints) -> bool:
    """Return whether numbers satisfy the constraints exactly."""

    def total(row: np.ndarray) -> Fraction:
        terms = (Fraction(a) * v for a, v in zip(row, q, strict=True) if a and v)
        return sum(terms, Fraction(0))

    below = all(
        total(row) <= Fraction(end) for row, end in zip(rules.at_most, rules.limits, strict=True)
    )
    return below and all(
        total(row) == Fraction(end) for row, end in zip(rules.equal, rules.values, strict=True)
    )
