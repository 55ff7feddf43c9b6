"""Sets of priors given by linear constraints: polytopes, and classes of generalised moments."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from borel.engine.prior_sets import linear_programme
from borel.engine.prior_sets.linear_programme import Constraints
from borel.engine.prior_sets.lower_expectations import Least
from borel.errors import InvalidInput
from borel.priors.emptiness import NOT_EMPTY
from borel.priors.sets import PriorSet, _values
from borel.probability.alphabets import Alphabet
from borel.probability.arrays import limited, shown
from borel.probability.measure import Measure

BINARY64 = "coefficients and limits of the constraints mean their binary64 values"


class Polytope(PriorSet):
    """All priors q of a finite alphabet with A q <= b and E q = e: a linear program each."""

    status = "certified"

    def __init__(self, rules: Constraints, on: Alphabet, name: str = "polytope"):
        self.rational = rules.exact
        super().__init__(on, name, assumptions=() if self.rational else (BINARY64,))
        self._rules = rules
        if linear_programme.some_member(rules, f"bl.priors.{name}") is None:
            self.status = "conditional"
            self.assumptions = (*self.assumptions, NOT_EMPTY)

    @property
    def rules(self) -> Constraints:
        """The linear constraints."""
        return self._rules

    def least(self, v: np.ndarray) -> Least:
        """Enclose the lower expectations of columns of values: a program for each."""
        return linear_programme.least(v, self._rules)

    def least_exactly(self, v: np.ndarray) -> Any:
        """Return lower expectations and priors as Fractions, for a rational set."""
        return linear_programme.columns_exactly(v, self._rules) if self.rational else None

    def described(self) -> dict[str, Any]:
        """Return the set as data, for certificates."""
        return linear_programme.described(self._rules)

    @cached_property
    def _reach(self) -> tuple[np.ndarray, np.ndarray]:
        return linear_programme.reach(self._rules)

    @property
    def reach(self) -> tuple[np.ndarray, np.ndarray]:
        """Which secrets some member certainly charges, and which may be charged."""
        return self._reach

    def contains(self, prior: Measure, *, tol: float = 1e-9) -> bool:
        """Return whether a prior is a member, up to a tolerance."""
        q, rules = np.asarray(prior.at(self.on), float), self._rules
        if rules.width > rules.n:
            pinned = linear_programme.joined(
                rules,
                linear_programme.constraints(
                    rules.n,
                    np.vstack([np.eye(rules.n), -np.eye(rules.n)]),
                    np.concatenate([q + tol, tol - q]),
                ),
            )
            return linear_programme.feasible(pinned)
        rules = rules.floats
        below = rules.at_most @ q <= rules.limits + tol
        return bool(below.all() and (np.abs(rules.equal @ q - rules.values) <= tol).all())


def polytope_rules(
    at_most: Any, limits: Any, equal: Any, values: Any, n: int, what: str
) -> Constraints:
    """Check the rows that a user gives."""
    pairs = []
    for rows, ends, names in ((at_most, limits, "A, b"), (equal, values, "equal, to")):
        if rows is None and ends is None:
            pairs.append((np.zeros((0, n)), np.zeros(0)))
            continue
        table, column = np.atleast_2d(limited(rows, what, names)), limited(ends, what, names)
        column = np.atleast_1d(column)
        if table.shape != (len(column), n) or column.ndim != 1:
            raise InvalidInput(
                what,
                expected=f"{names} of shapes (k, {n}) and (k,)",
                got=f"{table.shape} and {column.shape}",
                mend="a row for each constraint, a column for each label of the alphabet.",
            )
        if not all(np.isfinite(part.astype(float)).all() for part in (table, column)):
            raise InvalidInput(what, expected=f"finite numbers for {names}", got="NaN or infinity")
        pairs.append((table, column))
    (rows, ends), (equations, right) = pairs
    return Constraints(rows, ends, equations, right, n)


def limits(lower: Any, upper: Any, count: int, what: str) -> list[np.ndarray]:
    """Return lower and upper limits of so many moments, infinite where there are none."""
    ends = []
    for given, default in ((lower, -np.inf), (upper, np.inf)):
        column = np.array(default) if given is None else limited(given, what, "the limits")
        if column.ndim > 1 or (column.ndim == 1 and len(column) != count):
            raise InvalidInput(
                what, expected=f"a limit for each of {count} functions", got=shown(given)
            )
        ends.append(np.broadcast_to(column, count))
    low, high = (np.array(end, float) for end in ends)
    if not ((ends[0] <= ends[1]).all() and (low < np.inf).all() and (high > -np.inf).all()):
        raise InvalidInput(what, expected="lower <= upper", got=f"{ends[0]} and {ends[1]}")
    if not (np.isfinite(low).any() or np.isfinite(high).any()):
        raise InvalidInput(what, expected="a limit", got="none", mend="give lower= or upper=.")
    return ends


def moment_rules(functions: Any, lower: Any, upper: Any, on: Alphabet, what: str) -> Constraints:
    """Turn lower <= E f(X) <= upper into rows."""
    listed = (
        functions
        if isinstance(functions, (list, tuple))
        and len(functions)
        and (callable(functions[0]) or np.ndim(functions[0]))
        else [functions]
    )
    table = np.array([_values(f, on) for f in listed])
    ends = limits(lower, upper, len(table), what)
    low, high = (np.isfinite(end.astype(float)) for end in ends)
    rows = np.vstack([table[high], -table[low]])
    return linear_programme.constraints(
        on.size, rows, np.concatenate([ends[1][high], -ends[0][low]])
    )
