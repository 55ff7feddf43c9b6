r"""Finite mechanisms of the greatest utility under a guarantee: a linear programme over columns.

Write column y of a mechanism as :math:`P(y|x) = q(y) r_y(x)` with :math:`q = P_Y`. A guarantee on
every outcome says in which polytope each r_y lies, a part of the simplex :math:`E\, r(X) = 1`: for
PML :math:`0 \le r \le e^\varepsilon`, for PMC :math:`r \ge e^{-\varepsilon}`, for ALIP both, for
LDP :math:`r(x) \le e^\varepsilon r(x')`. Rows sum to 1 if and only if :math:`\sum_y q(y) r_y = 1`.
A sub-convex utility is :math:`\sum_y q(y) \varphi(r_y)` with a convex phi. A point of a polytope is
a mean of its vertices, at which phi is no smaller on average. So with the vertices v the optimum is

.. math:: \max_{q \ge 0} \sum_v q_v \varphi(v) \quad\text{subject to}\quad
          \sum_v q_v v(x) = 1 \;\;\forall x.

**Dual.** For any numbers lambda_x and every feasible q, as sum_v q_v = 1,

.. math:: \sum_v q_v \varphi(v) \le \sum_x \lambda_x + \max_v (\varphi(v) - \lambda \cdot v).

HiGHS solves the programme in floats and nothing of what it returns is trusted: the lambda are taken
as Fractions and the right-hand side is computed in them, phi rounded up; the masses q of the
vertices in use are solved for in Fractions, or else mixed with the useless mechanism, until the
mechanism satisfies the guarantee exactly.

The expected loss of the best decision is of this kind: phi(r) = -min_w E r(X) loss(X, w). For
maximal leakage, which is :math:`\sum_y q(y) \max_x r_y(x)`, the pieces of the simplex on which one
secret has the largest r take the place of the polytope, and the guarantee is one more row, of
multiplier theta >= 0: the dual adds theta e^epsilon, and phi - theta max v takes the place of phi.
(epsilon, delta)-PML is such a row too: the outcomes with max_x r_y(x) > e^epsilon, a price of 1
each, have probability delta or less. As a set of matrices it is not convex, and merging outcomes
may break it; as a set of laws q of columns it is a half-space.

**Tail leakage** is :math:`\min_t t + E(\max_x r_Y(x) - t)^+ / \delta`, over t from 1 to
e^epsilon. For one t it is a row again, of prices (max v - t)^+ and the bound delta (e^epsilon - t).
For all t in an interval [a, b] its solutions are among those of the row of the prices
:math:`\min_{a \le t \le b} (\max v - t)^+ + \delta (t - a)`, and the bound for a, whose dual bounds
them. Intervals are cut, that of the largest dual first: the best mechanism found is on one side,
the largest dual that is left on the other, however early the search ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.design.column_constraints import (
    Column,
    ColumnsOnAverage,
    Constraint,
    constraint_of,
    expectation,
    factor,
)
from borel.errors import InvalidInput, NotYet, Undecided
from borel.figures.averages import mutual_information, total_variation
from borel.guarantees import kinds
from borel.numerics.intervals.rounding import log_fraction
from borel.numerics.rational_systems import solution
from borel.probability.alphabets import Finite
from borel.probability.arrays import limited
from borel.probability.bound import Bound
from borel.probability.measure import Measure
from borel.probability.mechanism import Mechanism
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.guarantees.base import Guarantee
    from borel.probability.bound import Verdict
    from borel.probability.joint import Joint

_MOST = 12
"""How many secrets: the vertices are about n 2^(n-1)."""
_MOST_BY_THRESHOLDS = 8
"""How many secrets for tail leakage, where a programme is solved for each of many thresholds."""
_BISECTIONS = 100
"""How often an interval of thresholds is bisected at most."""
_NEAR = Fraction(1, 10**6)
"""How near the best mechanism found and the dual are, relatively, where the search ends."""
_UNUSED = 1e-12
"""Vertices of a mass up to here are taken to be out of use."""
_LARGEST = Fraction(10) ** 300
"""Entries beyond it, at probabilities below its inverse, are not given to a solver in floats."""


@dataclass(frozen=True, repr=False)
class Optimal:
    """A finite mechanism that satisfies a guarantee, and how far it may be from the best.

    Attributes
    ----------
    joint : Joint
        The prior, in Fractions, times the mechanism.
    guarantee : Guarantee
        The target.
    verdict : Verdict
        What the engine says of the guarantee: ``holds`` is True.
    utility : Bound
        The utility of this mechanism, or its expected loss.
    optimum : Bound
        Encloses the best utility (the least expected loss) of *all* mechanisms that satisfy the
        guarantee, with any number of outcomes: this mechanism on one side, the dual on the other.
    """

    joint: Joint
    guarantee: Guarantee
    verdict: Verdict
    utility: Bound
    optimum: Bound

    @property
    def prior(self) -> Measure:
        """The prior in Fractions: of floats, what they are over their sum."""
        return self.joint.prior

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism, a matrix of Fractions."""
        return self.joint.mechanism

    def __repr__(self) -> str:
        """Show the mechanism, its guarantee, its utility and the optimum."""
        n, m = self.mechanism.matrix.shape
        return (
            f"Optimal({n} x {m} matrix, {self.guarantee} holds: utility "
            f"{self.utility}, optimum {self.optimum})"
        )


@explained
def best(
    prior: Measure,
    guarantee: Guarantee,
    *,
    utility: str = "mutual_information",
    loss: Any = None,
    decisions: Any = None,
) -> Optimal:
    """Return a finite mechanism of the greatest utility that satisfies a guarantee.

    Parameters
    ----------
    prior : Measure
        Finite, every label of positive probability, at most 12 of them. Floats are taken as the
        Fractions proportional to them: that prior is the one of the result.
    guarantee : Guarantee
        PML (also with a delta), PMC, LIP, ALIP or LDP, tail leakage, or AveragePML (maximal
        leakage).
    utility : str
        ``"mutual_information"`` or ``"total_variation"``, of secret and outcome.
    loss : array_like (n, m), optional
        Instead: the loss of each decision (column) under each secret (row). The outcomes are then
        the decisions, and the expected loss is the least possible.
    decisions : sequence of labels, optional
        Names of the columns of ``loss``.

    Returns
    -------
    Optimal
        The mechanism in Fractions, the engine's verdict on it, and the optimum as an enclosure.

    Raises
    ------
    InvalidInput
        Another prior, an unknown utility, a loss of another shape.
    NotYet
        A guarantee whose programme is not linear (PMC with delta > 0), more than 12 secrets, or 8
        for tail leakage; a loss with (epsilon, delta)-PML: its outcomes cannot be merged to
        decisions, since merging may break the guarantee.

    Notes
    -----
    Its outcomes are numbered unless there is a loss. In the high-privacy regime of PML it is, up to
    the order of the outcomes, `borel.mechanisms.pml_extremal`, whatever the utility; beyond it, it
    is a PML-extremal mechanism of that utility. With a delta, PML lets outcomes of that probability
    tell all there is; under tail leakage ``optimum`` is as narrow as a bounded search over a
    threshold makes it. The linear programme and the proof of the bound are
    at the head of borel/design/optimal_mechanisms.py. The linear programme is solved by HiGHS.

    References
    ----------
    Grosse, Saeidian, Oechtering, "Extremal Mechanisms for Pointwise Maximal Leakage" (2024);
    Kairouz, Oh, Viswanath, "Extremal Mechanisms for Local Differential Privacy" (2016);
    "Information Density Bounds for Privacy", Section II-B and Corollary 5.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> found = best(bl.pmf([F(1, 4), F(3, 4)]), bl.guarantees.PML(ratio=F(6, 5)))
    >>> sorted(found.mechanism.matrix[0])  # as pml_extremal
    [Fraction(1, 10), Fraction(9, 10)]
    >>> found.verdict.holds, found.optimum.lower <= found.utility.upper
    (True, True)
    """
    law = _prior(prior)
    p = law.probabilities.tolist()
    decisions = None if decisions is None else Finite(decisions).labels
    phi, chosen = _utility(prior, utility, loss, decisions)
    if chosen is not None and isinstance(guarantee, kinds.PML) and guarantee.delta:
        raise NotYet(
            "design.best",
            missing=f"a loss with {guarantee}: outcomes merged to decisions may leak more",
            instead="bl.guarantees.TailLeakage, which implies it and survives merging.",
        )
    if isinstance(guarantee, kinds.TailLeakage) and 0 < guarantee.delta < 1:
        columns, dual = _over_thresholds(p, guarantee, phi)
    else:
        inner, outer = (
            constraint_of("design.best", guarantee, p, inner=inner) for inner in (True, False)
        )
        columns, multipliers = _solved(p, inner, phi)
        dual = _bound(multipliers, p, outer, phi)
    names: Any = range(len(columns))
    if chosen is not None:
        columns, names = _by_decision(columns, p, chosen, decisions)
    matrix = np.array(columns, dtype=object).T
    joint = law * Mechanism.from_matrix(matrix, secret=law.on, outcome=Finite([*names]))
    verdict = joint.satisfies(guarantee)
    if verdict.holds is not True:
        raise Undecided(f"design.best: the engine does not confirm {guarantee}: {verdict!r}")

    if chosen is not None:
        value: Any = sum((min(_expected(p, c, chosen)) for c in columns), Fraction(0))
        reached = Bound.exact(value, value, units="number")
        optimum = Bound.certified(-dual, value, units="number")  # type: ignore[arg-type]
    else:
        figure = {"mutual_information": mutual_information, "total_variation": total_variation}
        reached = figure[utility](joint)
        units = reached.units
        optimum = Bound.certified(reached.lower, dual, units=units)  # type: ignore[arg-type]
    return Optimal(joint, guarantee, verdict, reached, optimum)


# -- what is given ---------------------------------------------------------------------------------


def _prior(prior: Any) -> Measure:
    """Return the prior in Fractions."""
    if not isinstance(prior, Measure) or prior._probabilities is None or prior.batch:
        raise InvalidInput("design.best", expected="one finite prior", got=repr(prior))
    masses = [Fraction(v) for v in prior.probabilities.tolist()]
    if not min(masses) > 0:
        raise InvalidInput(
            "design.best",
            expected="every label of positive probability",
            got="probability 0",
            where=f"x = {prior.on.labels[masses.index(min(masses))]!r}",
            mend="leave the labels out that cannot occur.",
        )
    if len(masses) > _MOST:
        raise NotYet(
            "design.best",
            missing=f"more than {_MOST} secrets: the vertices are enumerated",
            instead="merge secrets, or choose a parameter: bl.design.smallest.",
        )
    total = sum(masses)
    return Measure(np.array([m / total for m in masses], dtype=object), prior.on)


Utility = Callable[[Any, Any], tuple[Fraction, Fraction]]


def _utility(
    prior: Measure, utility: Any, loss: Any, decisions: Any
) -> tuple[Utility, np.ndarray | None]:
    """Return phi as an enclosure, and the loss as Fractions."""
    if loss is None:
        if decisions is not None:
            raise InvalidInput("design.best", expected="loss= with decisions=", got="no loss")
        known = {"mutual_information": _information, "total_variation": _variation}
        if not isinstance(utility, str) or utility not in known:
            raise InvalidInput(
                "design.best",
                expected=f"utility of {tuple(known)}, or loss= a matrix",
                got=repr(utility),
            )
        return known[utility], None
    values = limited(loss, "design.best", "losses")
    n = prior.on.size
    if values.ndim != 2 or values.shape[0] != n or not values.shape[1]:
        raise InvalidInput(
            "design.best",
            expected=f"a loss for each of {n} secrets (rows) and each decision (columns)",
            got=f"shape {values.shape}",
        )
    if not np.isfinite(values.astype(float)).all():
        raise InvalidInput("design.best", expected="finite losses", got="an infinity or NaN")
    if decisions is not None and len(decisions) != values.shape[1]:
        raise InvalidInput(
            "design.best",
            expected=f"a label for each of {values.shape[1]} decisions",
            got=f"{len(decisions)} labels",
        )
    losses = np.array([[Fraction(v) for v in row] for row in values.tolist()], dtype=object)

    def phi(p: Any, v: Any) -> tuple[Fraction, Fraction]:
        value = -min(_expected(p, v, losses))
        return value, value

    return phi, losses


def _information(p: Any, v: Any) -> tuple[Fraction, Fraction]:
    """Enclose E r log r, of which mutual information is the mean over the outcomes."""
    low = high = Fraction(0)
    for mass, r in zip(p, v, strict=True):
        if r:
            down, up = _log(r)
            low, high = low + mass * r * down, high + mass * r * up
    return low, high


@cache
def _log(value: Fraction) -> tuple[Fraction, Fraction]:
    down, up = log_fraction(value)
    return Fraction(down), Fraction(up)


def _variation(p: Any, v: Any) -> tuple[Fraction, Fraction]:
    value = sum((mass * abs(r - 1) for mass, r in zip(p, v, strict=True)), Fraction(0)) / 2
    return value, value


def _expected(p: Any, v: Any, losses: np.ndarray) -> list[Fraction]:
    """Return the expected loss of each decision where the secret has the law p v."""
    law = [mass * r for mass, r in zip(p, v, strict=True)]
    return [expectation(law, losses[:, w]) for w in range(losses.shape[1])]


# -- the programme ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Multipliers:
    """Multipliers of the rows, and of the mean price: any of them bound the optimum."""

    rows: list[Fraction]
    theta: Fraction = Fraction(0)


def _bound(
    multipliers: list[_Multipliers], p: Any, constraint: Constraint, phi: Utility
) -> Fraction:
    """Return what no utility under a constraint exceeds, by the best of some multipliers."""
    beyond: list[Any] = [-math.inf] * len(multipliers)
    for v in constraint.vertices():
        most, cost = phi(p, v)[1], constraint.cost(v)
        for k, of in enumerate(multipliers):
            beyond[k] = max(beyond[k], most - of.theta * cost - expectation(of.rows, v))
    return min(
        sum(of.rows, rest) + of.theta * (constraint.most or 0)
        for of, rest in zip(multipliers, beyond, strict=True)
    )


def _solved(
    p: Any, constraint: Constraint, phi: Utility
) -> tuple[list[Column], list[_Multipliers]]:
    """Solve the programme in floats; return allowed columns, in Fractions, and multipliers.

    They are those of the solver, and those of its basis in Fractions.
    """
    from scipy.optimize import linprog

    nothing = _exactly(p, constraint, {}), [_Multipliers([Fraction(0)] * len(p))]  # true, if poor
    vertices = sorted(constraint.vertices())
    if max(map(max, vertices)) > _LARGEST:
        return nothing
    values = [float(phi(p, v)[0]) for v in vertices]
    table = np.array(vertices, dtype=float).T
    more: dict[str, Any] = {}
    if constraint.most is not None:
        more = {
            "A_ub": [[float(constraint.cost(v)) for v in vertices]],
            "b_ub": [float(constraint.most)],
        }
    found = linprog(-np.array(values), A_eq=table, b_eq=np.ones(len(p)), method="highs-ds", **more)
    if found.x is None:
        return nothing
    weights = {v: float(q) for v, q in zip(vertices, found.x, strict=True) if q > 0}
    rows = [-Fraction(float(m)) for m in found.eqlin.marginals]
    theta = Fraction(max(-float(found.ineqlin.marginals[0]), 0.0)) if more else Fraction(0)
    multipliers = [_Multipliers(rows, theta)]
    used = [v for v, q in weights.items() if q > _UNUSED]
    sides = [[*v, constraint.cost(v)] if theta else [*v] for v in used]
    exact = solution(sides, [phi(p, v)[1] for v in used], [*rows, theta] if theta else rows)
    if exact is not None:
        last = max(exact[len(p)], Fraction(0)) if theta else Fraction(0)
        multipliers.append(_Multipliers(exact[: len(p)], last))
    return _exactly(p, constraint, weights), multipliers


def _over_thresholds(p: Any, guarantee: Any, phi: Utility) -> tuple[list[Column], Fraction]:
    """Return the best columns found under tail leakage, and a bound on the best utility."""
    if len(p) > _MOST_BY_THRESHOLDS:
        raise NotYet(
            "design.best",
            missing=f"more than {_MOST_BY_THRESHOLDS} secrets under {guarantee}",
            instead="merge secrets, or choose a parameter: bl.design.smallest.",
        )
    delta = Fraction(guarantee.delta)
    low, high = (factor("design.best", guarantee.levels[0], inner=inner) for inner in (True, False))

    def feasible(t: Fraction) -> list[Column]:
        return _solved(p, ColumnsOnAverage.tail(p, low, delta, t, t), phi)[0]

    def bounded(a: Fraction, b: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        wide = ColumnsOnAverage.tail(p, high, delta, a, b)
        return _bound(_solved(p, wide, phi)[1], p, wide, phi), a, b

    def utility(columns: list[Column]) -> Fraction:
        masses = [expectation(p, c) for c in columns]
        laws = [tuple(v / q for v in c) for c, q in zip(columns, masses, strict=True)]
        return sum((q * phi(p, r)[0] for q, r in zip(masses, laws, strict=True)), Fraction(0))

    first, last = Fraction(1), min(high, 1 / min(p))
    best = max((feasible(t) for t in (first, min(low, last))), key=utility)
    open_ = [bounded(first, last)]
    for _ in range(_BISECTIONS):
        dual, a, b = max(open_)
        if dual - utility(best) <= _NEAR * max(abs(dual), _NEAR):
            break
        middle = (a + b) / 2 if b < 4 * a else Fraction(math.isqrt(math.floor(a * b)))
        open_ = [one for one in open_ if one != (dual, a, b)]
        open_ += [bounded(a, middle), bounded(middle, b)]
        if middle <= low:
            best = max(best, feasible(middle), key=utility)
    return best, max(open_)[0]


def _exactly(p: Any, constraint: Constraint, weights: dict[Column, float]) -> list[Column]:
    """Return columns that sum to 1 in each row and are allowed, near those of a solution."""
    used = [v for v, q in weights.items() if q > _UNUSED]
    one = tuple(Fraction(1) for _ in p)
    if used:
        rows, target = [list(row) for row in zip(*used, strict=True)], [Fraction(1)] * len(p)
        costs = [constraint.cost(v) for v in used]
        spent = sum(weights[v] * float(c) for v, c in zip(used, costs, strict=True))
        if constraint.most is not None and spent > float(constraint.most) * (1 - 1e-9):
            rows, target = [*rows, costs], [*target, constraint.most]
        guess = [Fraction(weights[v]) for v in used]
        for masses in (solution(rows, target, guess), guess):
            if masses is None or min(masses) < 0:
                continue
            columns = [tuple(q * r for r in v) for q, v in zip(masses, used, strict=True) if q > 0]
            for power in (None, *range(52, -1, -4)):
                made = columns if power is None else _mixed(columns, Fraction(1, 2**power), one)
                if _feasible(made, constraint):
                    return made
    return [one]


def _mixed(columns: list[Column], share: Fraction, one: Column) -> list[Column]:
    """Give a share of the mass to one more outcome, which makes the rows sum to 1."""
    kept = [tuple((1 - share) * k for k in c) for c in columns]
    rest = tuple(t - sum(row) for t, row in zip(one, zip(*kept, strict=True), strict=True))
    return [c for c in (*kept, rest) if any(c)]


def _feasible(columns: list[Column], constraint: Constraint) -> bool:
    """Return whether columns are a mechanism that is allowed, in Fractions."""
    if any(min(c) < 0 or not constraint.allows(c) for c in columns):
        return False
    sums = {sum(row) for row in zip(*columns, strict=True)}
    if isinstance(constraint, ColumnsOnAverage):
        if sum((constraint.spent(c) for c in columns), Fraction(0)) > constraint.most:
            return False
    return sums == {1}


def _by_decision(
    columns: list[Column], p: Any, losses: np.ndarray, decisions: Any
) -> tuple[list[Column], list[Any]]:
    """Merge the outcomes after which the same decision is best, which no guarantee forbids."""
    merged: dict[int, Column] = {}
    for column in columns:
        expected = _expected(p, column, losses)
        w = expected.index(min(expected))
        have = merged.get(w, (Fraction(0),) * len(p))
        merged[w] = tuple(a + b for a, b in zip(have, column, strict=True))
    labels = list(range(losses.shape[1])) if decisions is None else list(decisions)
    return [merged[w] for w in sorted(merged)], [labels[w] for w in sorted(merged)]
