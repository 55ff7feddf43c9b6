r"""Unions, intersections and products of sets of priors.

A union takes the worst of its parts. The intersection of polytopes is a polytope; otherwise the
figures of each part bound those of the intersection from above, and that is all that is claimed.
A product holds the laws of independent coordinates, each law in its own convex set. It is not
convex, but the formulas of `borel.priors.sets` hold: perturb every factor towards a member that
charges its coordinate of the secret. A mean is linear in each factor: it is least at a product of
extreme points, listed where they are few. Otherwise the lower expectation is at least the iterated
one,

.. math:: \inf_{P_1} E_{P_1} \inf_{P_2} E_{P_2} \cdots v \le \inf_{P_1 \times P_2 \cdots} E v,

and at most its value at any product of members, found by improving one factor at a time.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from itertools import product
from operator import mul
from typing import Any

import numpy as np

from borel.engine.prior_sets import linear_programme
from borel.engine.prior_sets.attainment import SecretValues
from borel.engine.prior_sets.engine import SetEngine
from borel.engine.prior_sets.lower_expectations import Least, exactly
from borel.errors import InvalidInput, NotYet
from borel.priors.balls import Hull
from borel.priors.emptiness import NOT_EMPTY, inhabited
from borel.priors.polytopes import BINARY64
from borel.priors.sets import PriorSet, impossible, likelihood
from borel.probability.alphabets import Finite, Product
from borel.probability.arrays import shown
from borel.probability.bound import weakest
from borel.probability.measure import Measure, as_measure, pmf

_ROUNDS = 40
_STARTS = 8
_LISTED = 200_000
"""Products of extreme points are listed up to so many probabilities and columns."""


def _checked(parts: Any, what: str) -> list[PriorSet]:
    parts = list(parts)
    if not parts or not all(isinstance(p, PriorSet) for p in parts):
        raise InvalidInput(f"bl.priors: {what}", expected="sets of priors", got=shown(parts))
    return parts


def _same(parts: list[PriorSet], what: str) -> Any:
    if any(p.on != parts[0].on for p in parts):
        raise InvalidInput(
            f"bl.priors: {what}",
            expected="sets on one alphabet",
            got=", ".join(repr(p.on) for p in parts),
        )
    return parts[0].on


def _confidence(parts: list[PriorSet]) -> float | None:
    """Return the confidence that every part holds the truth, by the union bound."""
    risks = [1 - p.confidence for p in parts if p.confidence is not None]
    return max(0.0, 1 - sum(risks)) if risks else None


def _notes(parts: list[PriorSet]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(a for p in parts for a in p.assumptions))


class Union(PriorSet):
    """The priors of any part: every supremum is the largest of the parts' own."""

    convex = False

    def __init__(self, parts: Any):
        parts = _checked(parts, "a union")
        self.parts = [q for p in parts for q in (p.parts if isinstance(p, Union) else [p])]
        super().__init__(_same(parts, "a union"), "union", assumptions=_notes(parts))
        # the truth may lie in any part: the union holds it at least as surely as the surest. A part
        # without a confidence makes nothing certain: figures rest on the samples of the others
        known = [p.confidence for p in self.parts if p.confidence is not None]
        self.confidence = max(known, default=None)
        self.as_drawn = any(p.as_drawn for p in self.parts)
        self.status = weakest([p.status for p in self.parts])
        self.rational = all(p.rational for p in self.parts)

    @property
    def closed(self) -> bool:  # type: ignore[override]
        """Whether every part is."""
        return all(p.closed for p in self.parts)

    def engine(self, joint: Any) -> SetEngine:
        """Return the engine of a union: a figure of each part."""
        from borel.priors.union_figures import UnionEngine

        return UnionEngine(joint)

    def least(self, v: np.ndarray) -> Least:
        """Enclose the lower expectations: the least of the parts'."""
        each = [p.least(v) for p in self.parts]
        best = np.array([e.upper for e in each]).argmin(axis=0)
        prior = np.array([e.prior for e in each])[best, :, np.arange(v.shape[1])].T
        low, high = (np.array([getattr(e, end) for e in each]) for end in ("lower", "upper"))
        return Least(low.min(axis=0), high.min(axis=0), prior)

    def least_exactly(self, v: np.ndarray) -> Any:
        """Return lower expectations and priors as Fractions, for a rational set."""
        each = [p.least_exactly(v) for p in self.parts]
        if any(e is None for e in each):
            return None
        best = [min(range(len(each)), key=lambda k: each[k][0][j]) for j in range(v.shape[1])]
        priors = [each[k][1][:, j] for j, k in enumerate(best)]
        return np.array([each[k][0][j] for j, k in enumerate(best)]), np.array(priors).T

    @property
    def reach(self) -> tuple[np.ndarray, np.ndarray]:
        """The union of the parts' reaches."""
        sure, possible = zip(*(p.reach for p in self.parts), strict=True)
        return np.any(sure, axis=0), np.any(possible, axis=0)

    def members(self, count: int, rng: Any = None) -> list[Measure]:
        """Return random members of the parts, in turn."""
        rng = np.random.default_rng(rng)
        each = [p.members(-(-count // len(self.parts)), rng) for p in self.parts]
        return [m for group in zip(*each, strict=True) for m in group][:count]

    def example(self) -> Measure:
        """Return a prior of the first part, or one to look from."""
        return self.parts[0].example()

    def certainly(self, q: list[Fraction]) -> bool:
        """Return whether probabilities are certainly those of a member of some part."""
        return any(p.certainly(q) for p in self.parts)

    def contains(self, prior: Measure, *, tol: float = 1e-9) -> bool:
        """Return whether a prior is a member of some part."""
        return any(p.contains(prior, tol=tol) for p in self.parts)


class Intersection(PriorSet):
    """The priors of all parts; a polytope if every part is one."""

    status = "certified"

    def __init__(self, parts: Any):
        parts = _checked(parts, "an intersection")
        self.parts = [q for p in parts for q in (p.parts if isinstance(p, Intersection) else [p])]
        on = _same(parts, "an intersection")
        super().__init__(on, "intersection", assumptions=_notes(parts))
        self.confidence = _confidence(self.parts)
        self.as_drawn = all(p.as_drawn for p in self.parts)  # else one says what the labels are
        self.all_drawn = any(p.all_drawn for p in self.parts)
        self.status = weakest(["certified", *(p.status for p in self.parts)])
        self.convex = all(p.convex for p in self.parts)
        rules = [p.rules for p in self.parts]
        self._rules = (
            None if any(r is None for r in rules) else reduce(linear_programme.joined, rules)
        )
        if not inhabited(self.parts, self._rules, "bl.priors: an intersection"):
            self.status = weakest(["conditional", self.status])
            self.assumptions = tuple(dict.fromkeys((*self.assumptions, NOT_EMPTY)))
        self.rational = all(p.rational for p in self.parts)
        if self._rules is not None:
            note = () if self.rational else (BINARY64,)
            self.assumptions = tuple(dict.fromkeys((*self.assumptions, *note)))
            self._reach = linear_programme.reach(self._rules)

    @property
    def closed(self) -> bool:  # type: ignore[override]
        """Whether every part is."""
        return all(p.closed for p in self.parts)

    def example(self) -> Measure:
        """Return a prior of the first part, or one to look from."""
        return self.parts[0].example()

    def certainly(self, q: list[Fraction]) -> bool:
        """Return whether probabilities are certainly those of a member of every part."""
        return all(p.certainly(q) for p in self.parts)

    def described(self) -> dict[str, Any] | None:
        """Return the set as data, for certificates, if it is a polytope."""
        return (
            linear_programme.described(self._rules)
            if self._rules is not None and self.closed
            else None
        )

    @property
    def rules(self) -> Any:
        """The constraints of all parts, if all have some."""
        return self._rules

    @property
    def reach(self) -> tuple[np.ndarray, np.ndarray]:
        """Which secrets some member certainly charges, and which may be charged."""
        if self._rules is not None:
            return self._reach
        possible = np.all([p.reach[1] for p in self.parts], axis=0)
        return np.zeros_like(possible), possible

    def least(self, v: np.ndarray) -> Least:
        """Enclose the lower expectations: exactly for polytopes, else from below only."""
        if self._rules is not None:
            return linear_programme.least(v, self._rules)
        each = [p.least(v) for p in self.parts]
        low = np.array([e.lower for e in each])
        best = low.argmax(axis=0)
        prior = np.array([e.prior for e in each])[best, :, np.arange(v.shape[1])].T
        # no member is known: the range of the values is all that bounds it from above
        none = np.zeros(v.shape[1], bool)
        return Least(low.max(axis=0), v.max(axis=0), prior, none)

    def least_exactly(self, v: np.ndarray) -> Any:
        """Return lower expectations and priors as Fractions, for a rational polytope."""
        rules = self._rules if self.rational else None
        return None if rules is None else linear_programme.columns_exactly(v, rules)

    def attains(self, v: SecretValues) -> bool | None:
        """Return whether some minimiser charges a largest value; None if it is not known."""
        return super().attains(v) if self.closed else None

    def members(self, count: int, rng: Any = None) -> list[Measure]:
        """Return random members, for polytopes."""
        if self._rules is None:
            raise NotYet("members of an intersection", missing="sets that are no polytopes")
        return super().members(count, rng)

    def contains(self, prior: Measure, *, tol: float = 1e-9) -> bool:
        """Return whether a prior is a member of every part."""
        return all(p.contains(prior, tol=tol) for p in self.parts)


class ProductSet(PriorSet):
    """Independent coordinates, each with a law in its own set; not convex."""

    convex = False
    status = "certified"

    def __init__(self, factors: Any):
        factors = _checked(factors, "a product")
        bad = [f for f in factors if not f.convex or f.on.kind != "finite"]
        if bad:
            raise NotYet(
                "a product of sets of priors",
                missing="factors that are not convex sets on finite alphabets",
                instead="convex sets such as bl.priors.tv_ball(...).",
            )
        on = Product(tuple(a for f in factors for a in f.on.factors))
        super().__init__(on, "product", assumptions=_notes(factors))
        self.factors = factors
        self.status = weakest(["certified", *(f.status for f in factors)])
        self.confidence = _confidence(factors)
        self.as_drawn = any(f.as_drawn for f in factors)
        self.all_drawn = all(f.all_drawn for f in factors)

    @property
    def nominal(self) -> Measure | None:  # type: ignore[override]
        """The product of the nominal priors, if every factor has one."""
        each = [f.nominal for f in self.factors]
        return None if any(p is None for p in each) else reduce(mul, each)

    @property
    def closed(self) -> bool:  # type: ignore[override]
        """Whether every factor is."""
        return all(p.closed for p in self.factors)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the coordinates' alphabets."""
        return tuple(f.on.size for f in self.factors)

    @property
    def reach(self) -> tuple[np.ndarray, np.ndarray]:
        """The products of the coordinates' reaches."""
        out = []
        for k in (0, 1):
            masks = np.meshgrid(*(f.reach[k] for f in self.factors), indexing="ij")
            out.append(np.all(masks, axis=0).ravel())
        return out[0], out[1]

    def least(self, v: np.ndarray) -> Least:
        """Enclose the lower expectations: the iterated one, and one factor at a time."""
        m = v.shape[1]
        low = self._iterated(v)
        table = v.reshape(*self.shape, m)
        rng = np.random.default_rng(0)
        best, prior = v.max(axis=0).astype(float), np.zeros_like(v)
        known = np.zeros(m, bool)
        for start in range(_STARTS):
            laws = [self._start(f, m, rng, start) for f in self.factors]
            inside = np.ones(m, bool)
            bound = None
            for _ in range(_ROUNDS):
                before = bound
                for k, factor in enumerate(self.factors):
                    found = factor.least(_marginalised(table, laws, k))
                    laws[k] = found.prior
                    bound = found.upper
                    inside &= found.members
                if before is not None and np.all(bound >= before - 1e-15):
                    break
            # laws that may be no members bound nothing
            value = np.where(inside, self._above(v, laws), np.inf)
            better = value < best
            best = np.where(better, value, best)
            whole = _outer(laws).reshape(len(v), m)
            prior = np.where(better | ~known, whole, prior)
            known |= better
        return Least(low, np.maximum(best, low), prior)

    def least_exactly(self, v: np.ndarray) -> Any:
        """Return lower expectations and priors as Fractions: a mean is linear in each factor.

        So it is smallest at extreme points of the factors, which are listed if they are few.
        """
        each = [f.vertices for f in self.factors]
        if any(points is None for points in each):
            return None
        if math.prod(map(len, each)) * v.size > _LISTED:
            return None
        laws = [
            reduce(np.multiply.outer, np.array(choice, dtype=object)).ravel()
            for choice in product(*([np.array(p, dtype=object) for p in one] for one in each))
        ]

        def one(column: np.ndarray) -> tuple[Any, list]:
            means = [law @ column for law in laws]
            k = min(range(len(means)), key=means.__getitem__)
            return means[k], laws[k].tolist()

        return exactly(one, v)

    def given(self, side: Any, z: Any) -> PriorSet:
        """Return the laws given Z = z, where z is the values of some of the coordinates."""
        mass = likelihood(side, self.on, z).reshape(self.shape)
        some = np.asarray(mass > 0, bool)
        if not some.any():
            raise impossible(z)
        axes = range(some.ndim)
        sides = [some.any(axis=tuple(a for a in axes if a != k)) for k in axes]
        known = [s.sum() == 1 for s in sides]
        box = some.sum() == math.prod(int(s.sum()) for s in sides)
        whole = all(k or s.all() for k, s in zip(known, sides, strict=True))
        if not (box and whole and len(set(mass[some].tolist())) == 1):
            raise NotYet(
                "side information over a product of sets",
                missing="side information other than the values of some coordinates",
                instead="bl.priors.full_support(alphabet), or one prior at a time.",
            )
        parts: list[PriorSet] = []
        for factor, s, point in zip(self.factors, sides, known, strict=True):
            k = int(np.argmax(s))
            if point and not factor.reach[1][k]:
                raise impossible(z)
            label = Finite([factor.on.labels[k]])
            parts.append(Hull([pmf([Fraction(1)], on=label)]) if point else factor)
        return ProductSet(parts)

    def _start(self, factor: PriorSet, m: int, rng: Any, turn: int) -> np.ndarray:
        n = factor.on.size
        direction = rng.normal(size=(n, 1)) if turn else np.zeros((n, 1))
        return np.repeat(factor.least(direction).prior, m, axis=1)

    def _iterated(self, v: np.ndarray) -> np.ndarray:
        """Bound from below: integrate out the last coordinate at its worst, then the next."""
        m = v.shape[1]
        table = v.reshape(*self.shape, m)
        for factor in reversed(self.factors):
            n = factor.on.size
            lead = table.shape[:-2]
            columns = np.moveaxis(table, -2, 0).reshape(n, -1)
            table = factor.least(columns).lower.reshape(*lead, m)
        return table

    def _above(self, v: np.ndarray, laws: list[np.ndarray]) -> np.ndarray:
        """Bound from above by members near the laws found: each is a minimiser of its factor."""
        m = v.shape[1]
        table = v.reshape(*self.shape, m)
        # the laws are members up to the rounding of their sets' solvers (below 1e-12 in each
        # probability); the slack covers that for every factor, with a wide margin
        mean = np.einsum(table * _outer(laws), [*range(table.ndim)], [table.ndim - 1])
        return mean + np.abs(v).max(axis=0) * 1e-9

    def members(self, count: int, rng: Any = None) -> list[Measure]:
        """Return products of random members of the factors."""
        rng = np.random.default_rng(rng)
        each = [f.members(count, rng) for f in self.factors]
        laws = [[np.asarray(m.probabilities, float) for m in group] for group in each]
        whole = [reduce(np.multiply.outer, row).ravel() for row in zip(*laws, strict=True)]
        return [as_measure(p, self.on, "a member") for p in whole]

    def contains(self, prior: Measure, *, tol: float = 1e-9) -> bool:
        """Return whether a prior is a product of members."""
        q = np.asarray(prior.at(self.on), float).reshape(self.shape)
        axes = range(q.ndim)
        laws = [q.sum(axis=tuple(a for a in axes if a != k)) for k in axes]
        outer = reduce(np.multiply.outer, laws)
        inside = all(
            f.contains(Measure(p / p.sum(), f.on, rounding=1e-9, _check=False), tol=tol)
            for f, p in zip(self.factors, laws, strict=True)
        )
        return bool(inside and np.abs(outer - q).max() <= tol)


def _outer(laws: list[np.ndarray]) -> np.ndarray:
    """Return the product laws, (n1, n2, ..., m)."""
    out = laws[0]
    for law in laws[1:]:
        out = out[..., None, :] * law
    return out


def _marginalised(table: np.ndarray, laws: list[np.ndarray], keep: int) -> np.ndarray:
    """Return the mean over all coordinates but one, (n_keep, m)."""
    last = table.ndim - 1
    operands: list[Any] = [table, list(range(table.ndim))]
    for k, law in enumerate(laws):
        if k != keep:
            operands += [law, [k, last]]
    return np.einsum(*operands, [keep, last])
