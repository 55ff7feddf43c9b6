"""Sets of priors around a centre: balls and contamination; full support, and hulls."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from borel.constants import real
from borel.engine.prior_sets import linear_programme
from borel.engine.prior_sets import lower_expectations as ex
from borel.engine.prior_sets.attainment import SecretValues
from borel.engine.prior_sets.linear_programme import Constraints, constraints
from borel.engine.prior_sets.lower_expectations import Least
from borel.errors import InvalidInput
from borel.numerics.balls.arithmetic import ball, enclose
from borel.numerics.intervals.batched import Box
from borel.numerics.intervals.rounding import fraction_down, fraction_up
from borel.priors.sets import PriorSet
from borel.probability.alphabets import Finite
from borel.probability.arrays import shown
from borel.probability.bound import attained_by_some
from borel.probability.measure import Measure


def number(what: str, name: str, value: Any, low: Any = 0, high: Any = None) -> Fraction:
    """Return a radius, weight or level as a Fraction (a float means its binary64 value)."""
    given = real(what, value, f"a number for {name}")
    if isinstance(given, bool):
        raise InvalidInput(what, expected=f"a number for {name}", got=shown(value))
    if not (given >= low and (high is None or given <= high) and given < float("inf")):
        upto = "" if high is None else f" and <= {high}"
        raise InvalidInput(what, expected=f"{name} >= {low}{upto}, finite", got=str(value))
    return Fraction(given)


def enclosed(value: Fraction) -> Box:
    """Return a number as an interval."""
    return np.array(fraction_down(value)), np.array(fraction_up(value))


class Around(PriorSet):
    """A set around a centre; on a finite alphabet the centre is a vector of probabilities."""

    _cells: Box | None = None

    def __init__(self, centre: Any, size: Any, name: str, what: str, high: Any = None):
        if not isinstance(centre, Measure) or centre.batch:
            raise InvalidInput(
                f"bl.priors.{name}",
                expected="a prior as the centre",
                got=shown(centre),
                mend="write bl.pmf([...], on=alphabet).",
            )
        super().__init__(centre.on, name)
        self.centre, self.what = centre, what
        self.size = number(f"bl.priors.{name}", what, size, 0, high)
        if centre.unproved:
            self.status = "estimate"
            self.assumptions = (centre.unproved,)

    @property
    def nominal(self) -> Measure | None:  # type: ignore[override]
        """The centre."""
        return self.centre

    def coarsened(self, weights: Box) -> Around:
        """Return the same ball around the masses of the cells of a partition."""
        out = copy.copy(self)
        out.on, out._cells = Finite(len(weights[0])), weights
        return out

    @property
    def weights(self) -> Box:
        """The probabilities meant by the centre, as intervals."""
        return self._of_centre if self._cells is None else self._cells

    @cached_property
    def _of_centre(self) -> Box:
        if self.rational:
            p = self.centre.probabilities
            low = [max(fraction_down(v), 0.0) for v in p]
            return np.array(low), np.array([min(fraction_up(v), 1.0) for v in p])
        p = np.asarray(self.centre.probabilities, float)
        slack = p * (self.centre.rounding + 2.0**-52) * 1.0001 + (p > 0) * 5e-324
        return np.maximum(p - slack, 0.0), np.minimum(p + slack, 1.0)

    def described(self) -> dict[str, Any]:
        """Return the set as data, for certificates: of no size, as a hull of its centre."""
        if self.size == 0:
            return {"kind": "hull", "corners": [self.intervals]}
        [size] = linear_programme.pairs([self.size])
        return {"kind": self.kind, "centre": self.intervals, "size": size}

    @property
    def intervals(self) -> list[list[float]]:
        """The probabilities meant by the centre, as intervals of floats."""
        return np.transpose(self.weights).tolist()

    @property
    def rational(self) -> bool:  # type: ignore[override]
        """Whether the centre is given in Fractions."""
        return self.centre.rational

    @property
    def charged(self) -> np.ndarray:
        """Which secrets the centre charges."""
        if self._cells is not None:
            return self._cells[1] > 0
        return np.asarray(self.centre.probabilities != 0, bool)

    @property
    def reach(self) -> tuple[np.ndarray, np.ndarray]:
        """The support of the centre for radius 0, else every secret."""
        everywhere = self.charged if self.size == 0 else np.ones(self.on.size, bool)
        return everywhere, everywhere

    def __repr__(self) -> str:
        """Show the kind of set, its size and its centre."""
        sure = "" if self.confidence is None else f", confidence {self.confidence:g}"
        return (
            f"PriorSet({self.name}, {self.what} {float(self.size):g} around {self.centre!r}{sure})"
        )

    @property
    def law(self) -> list[tuple[Fraction, Fraction]]:
        """The ends of each of the centre's probabilities; equal for Fractions."""
        if self.rational:
            return [(p, p) for p in self.centre.probabilities]
        low, high = self.weights
        return [(Fraction(a), Fraction(b)) for a, b in zip(low, high, strict=True)]

    def _beside(self, q: list[Fraction]) -> list[tuple[Fraction, tuple[Fraction, Fraction]]]:
        """Return probabilities, each with the ends of the centre's."""
        return list(zip(q, self.law, strict=True))

    def _gap(self, prior: Measure) -> tuple[np.ndarray, np.ndarray]:
        q = np.asarray(prior.at(self.on), float)
        return q, np.asarray(self.centre.probabilities, float)


class Contamination(Around):
    """(1 - w) P + w Q with any Q."""

    greedy = True
    kind = "contamination"  # whichever constructor made it

    def __init__(self, centre: Any, weight: Any, name: str = "contamination"):
        super().__init__(centre, weight, name, "weight", 1)

    def least(self, v: np.ndarray) -> Least:
        """Enclose the lower expectations of columns of values."""
        where = self.reach[1]
        return ex.contaminated(v, self.weights, enclosed(self.size), where)

    def least_exactly(self, v: np.ndarray) -> Any:
        """Return lower expectations and priors as Fractions, for a rational set."""
        if not self.rational:
            return None
        p, w = self.centre.probabilities, self.size

        def one(column: np.ndarray) -> tuple[Any, list]:
            k = min(range(len(column)), key=lambda j: column[j])
            q = [(1 - w) * a for a in p]
            q[k] += w
            return sum((a * b for a, b in zip(q, column, strict=True)), Fraction(0)), q

        return ex.exactly(one, v)

    @property
    def rules(self) -> Constraints:
        """The set as linear constraints."""
        floor = [(self.size - 1) * Fraction(p) for p in self.centre.probabilities]
        return constraints(self.on.size, -np.eye(self.on.size), np.array(floor, dtype=object))

    def certainly(self, q: list[Fraction]) -> bool:
        """Return whether probabilities are certainly those of a member."""
        return all(a >= (1 - self.size) * high for a, (_, high) in self._beside(q))

    def contains(self, prior: Measure, *, tol: float = 1e-9) -> bool:
        """Return whether a prior is a member, up to a tolerance."""
        q, p = self._gap(prior)
        return bool((q >= (1 - float(self.size)) * p - tol).all())


class TotalVariationBall(Around):
    """All Q with TV(P, Q) <= r: mass r may move."""

    kind = "tv"
    greedy = True

    def __init__(self, centre: Any, radius: Any, name: str = "tv_ball"):
        super().__init__(centre, radius, name, "radius", 1)

    def least(self, v: np.ndarray) -> Least:
        """Enclose the lower expectations of columns of values."""
        where = self.reach[1]
        return ex.total_variation(v, self.weights, enclosed(self.size), where)

    def least_exactly(self, v: np.ndarray) -> Any:
        """Return lower expectations and priors as Fractions, for a rational set."""
        if not self.rational:
            return None
        p, r = self.centre.probabilities, self.size

        def one(column: np.ndarray) -> tuple[Any, list]:
            q, left = list(p), r
            least = min(range(len(column)), key=lambda j: column[j])
            for j in sorted(range(len(column)), key=lambda j: column[j], reverse=True):
                moved = min(q[j], left) if j != least else Fraction(0)
                q[j] -= moved
                q[least] += moved
                left -= moved
            return sum((a * b for a, b in zip(q, column, strict=True)), Fraction(0)), q

        return ex.exactly(one, v)

    @property
    def rules(self) -> Constraints:
        """The set as linear constraints."""
        n, p = self.on.size, self.centre.probabilities
        eye = np.eye(n)
        rows = np.vstack([np.hstack([eye, -eye]), np.hstack([np.zeros(n), np.ones(n)])[None]])
        return constraints(n, rows, np.array([*p, self.size], dtype=object))

    def certainly(self, q: list[Fraction]) -> bool:
        """Return whether probabilities are certainly those of a member."""
        excess = (max(a - low, Fraction(0)) for a, (low, _) in self._beside(q))
        return sum(excess, Fraction(0)) <= self.size

    def contains(self, prior: Measure, *, tol: float = 1e-9) -> bool:
        """Return whether a prior is a member, up to a tolerance."""
        q, p = self._gap(prior)
        return bool(np.abs(q - p).sum() / 2 <= float(self.size) + tol)


class DivergenceBall(Around):
    """A ball of KL or chi-square divergence, in the direction named."""

    status = "certified"

    def __init__(self, centre: Any, radius: Any, divergence: str, direction: str):
        super().__init__(centre, radius, f"{divergence}_ball", "radius")
        if direction not in ("to_centre", "from_centre"):
            raise InvalidInput(
                f"bl.priors.{divergence}_ball",
                expected='direction="to_centre", D(Q || P), or "from_centre", D(P || Q)',
                got=repr(direction),
            )
        self.divergence, self.direction = divergence, direction
        self.kind = f"{divergence}_{direction}"

    @property
    def reach(self) -> tuple[np.ndarray, np.ndarray]:
        """The support of the centre for D(Q || P); every secret for D(P || Q) and r > 0."""
        if self.direction == "to_centre" or self.size == 0:
            return self.charged, self.charged
        return super().reach

    def least(self, v: np.ndarray) -> Least:
        """Enclose the lower expectations of columns of values."""
        if self.size == 0:
            return ex.hull(v, [self.weights])
        r = enclosed(self.size)
        if self.direction == "to_centre":
            rule = {"kl": ex.kl_to_centre, "chi_square": ex.chi_square_to_centre}
            return rule[self.divergence](v, self.weights, r)
        rule = {"kl": ex.kl_from_centre, "chi_square": ex.chi_square_from_centre}
        return rule[self.divergence](v, self.weights, r, self.reach[1])

    def least_exactly(self, v: np.ndarray) -> Any:
        """Return the means under the centre, if it is alone and rational."""
        return Contamination(self.centre, 0).least_exactly(v) if self.size == 0 else None

    def attains(self, v: SecretValues) -> bool | None:
        """Return whether some minimiser charges a largest value; None if it is not known.

        For D(P || Q) each minimiser charges what P does, and beside that the least values only. For
        D(Q || P) it charges what P does (KL), or that where v is below some b (chi-square), unless
        the ball holds a law of the least values: then it charges these alone.
        """
        if v.constant is not False:
            return v.constant
        if self.direction == "from_centre" or self.size == 0:
            charged = {bool(self.charged[rows].any()) for rows in v.largest}
            return charged.pop() if len(charged) == 1 else None
        law = self.law
        if self.divergence == "kl":  # log 1 / P(the least values): of a law of them alone
            most = sum((law[k][1] for k in np.flatnonzero(v.bottom)), Fraction(0))
            few = min(sum((law[k][0] for k in np.flatnonzero(s)), Fraction(0)) for s in v.least)
            near, far = (enclose(lambda p=p: -ball(p).log()) if p else (0, math.inf)
                         for p in (min(most, Fraction(1)), few))  # fmt: skip
            return True if near[0] > self.size else False if far[1] <= self.size else None
        ends = [v.fractions()[k] for k in np.flatnonzero(v.charged)]
        law = [law[k] for k in np.flatnonzero(v.charged)]
        top = max(a for a, _ in ends), max(b for _, b in ends)
        gaps = [(max(top[0] - b, Fraction(0)), top[1] - a) for a, b in ends]
        # the density (t - v)_+, with t the largest value, is in the ball if M2 <= (1 + r) M1^2
        first, second = (
            [sum((p[e] * g[e] ** power for p, g in zip(law, gaps, strict=True)), Fraction(0))
             for e in (0, 1)] for power in (1, 2)
        )  # fmt: skip
        if second[0] > (1 + self.size) * first[1] ** 2:
            return True
        return False if second[1] <= (1 + self.size) * first[0] ** 2 else None

    def certainly(self, q: list[Fraction]) -> bool:
        """Return whether probabilities are certainly those of a member."""
        pairs = [(a, p) for a, p in self._beside(q) if a or p[1]]
        if self.direction == "to_centre":  # the divergence falls as the centre's mass grows
            if any(a and not p[0] for a, p in pairs):
                return False
            pairs = [(a, p[0]) for a, p in pairs if a]
            if self.divergence == "chi_square":
                return sum((a * a / p for a, p in pairs), Fraction(0)) - 1 <= self.size
            total = enclose(lambda: sum((_relative(a, p) for a, p in pairs), ball(0)))
            return bool(total[1] <= self.size)
        if any(p[1] and not a for a, p in pairs):
            return False
        if self.divergence == "chi_square":
            return sum((p[1] ** 2 / a for a, p in pairs), Fraction(0)) - 1 <= self.size

        def worst() -> Any:  # p log p/q is convex in p: largest at an end of its interval
            each = [[_relative(end, a) for end in p] for a, p in pairs]
            return sum((low.max(high) for low, high in each), ball(0))

        return bool(enclose(worst)[1] <= self.size)

    def contains(self, prior: Measure, *, tol: float = 1e-9) -> bool:
        """Return whether a prior is a member, up to a tolerance."""
        from scipy.special import rel_entr

        first, second = self._gap(prior)
        if self.direction == "from_centre":
            first, second = second, first
        if (second[first > 0] == 0).any():
            return False
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = rel_entr(first, second) if self.divergence == "kl" else first**2 / second
        total = np.nan_to_num(terms).sum() - (0.0 if self.divergence == "kl" else 1.0)
        return bool(total <= float(self.size) + tol)


def _relative(a: Fraction, b: Fraction) -> Any:
    """Return a log(a / b) as a ball; 0 for a = 0."""
    return ball(a) * ball(a / b).log() if a else ball(0)


class Hull(PriorSet):
    """The convex hull of finitely many priors."""

    kind = "hull"

    def __init__(self, members: Sequence[Measure], name: str = "hull"):
        members = list(members) if isinstance(members, (list, tuple)) else []
        if not members or not all(isinstance(m, Measure) and not m.batch for m in members):
            raise InvalidInput(
                f"bl.priors.{name}", expected="a list of at least one prior", got=shown(members)
            )
        if any(m.on != members[0].on for m in members):
            raise InvalidInput(
                f"bl.priors.{name}",
                expected="priors on one alphabet",
                got=", ".join(repr(m.on) for m in members),
            )
        super().__init__(members[0].on, name)
        self.corners = members
        self.rational = all(m.rational for m in members)
        unproved = [m.unproved for m in members if m.unproved]
        if unproved:
            self.status, self.assumptions = "estimate", (unproved[0],)

    @cached_property
    def vertices(self) -> list[list[Fraction]] | None:
        """Return the members that it is the hull of."""
        return [list(m.probabilities) for m in self.corners] if self.rational else None

    def least(self, v: np.ndarray) -> Least:
        """Enclose the lower expectations of columns of values."""
        return ex.hull(v, [Contamination(m, 0).weights for m in self.corners])

    def least_exactly(self, v: np.ndarray) -> Any:
        """Return lower expectations and priors as Fractions, for a rational set."""
        if not self.rational:
            return None

        def one(column: np.ndarray) -> tuple[Any, list]:
            means = [
                sum((a * b for a, b in zip(m.probabilities, column, strict=True)), Fraction(0))
                for m in self.corners
            ]
            top = max(column)
            on_top = [
                sum((p for p, b in zip(m.probabilities, column, strict=True) if b == top), 0)
                for m in self.corners
            ]
            # of several that attain it, one that shows the most
            k = min(range(len(means)), key=lambda k: (means[k], -on_top[k]))
            return means[k], list(self.corners[k].probabilities)

        return ex.exactly(one, v)

    def attains(self, v: SecretValues) -> bool | None:
        """Return whether a corner of the least mean charges a largest value; None if unknown."""
        ends, means = v.fractions(), []
        for m in self.corners:
            rows = list(zip(Contamination(m, 0).law, ends, strict=True))
            low = sum((min(p * a for p in law) for law, (a, _) in rows), Fraction(0))
            high = sum((max(p * b for p in law) for law, (_, b) in rows), Fraction(0))
            means.append((low, high))
        level = min(high for _, high in means)
        best = [m for m, (low, _) in zip(self.corners, means, strict=True) if low <= level]
        sure = all(low == high for low, high in means)
        charged = [[(m.probabilities[rows] != 0).any() for rows in v.largest] for m in best]
        return attained_by_some(
            [all(each) if len({*each}) == 1 else None for each in charged], sure
        )

    def described(self) -> dict[str, Any]:
        """Return the set as data, for certificates."""
        return {"kind": self.kind, "corners": [Contamination(m, 0).intervals for m in self.corners]}

    def example(self) -> Measure:
        """Return a corner."""
        return self.corners[0]

    @property
    def reach(self) -> tuple[np.ndarray, np.ndarray]:
        """The union of the supports of the corners."""
        each = [np.asarray(m.probabilities != 0, bool) for m in self.corners]
        found = np.logical_or.reduce(each)
        return found, found

    @property
    def rules(self) -> Constraints:
        """The set as linear constraints."""
        n, k = self.on.size, len(self.corners)
        p = np.array([m.probabilities for m in self.corners])
        equal = np.vstack([np.hstack([np.eye(n), -p.T]), np.hstack([np.zeros(n), np.ones(k)])])
        return constraints(n, equal=equal, values=np.append(np.zeros(n), 1.0))

    def contains(self, prior: Measure, *, tol: float = 1e-9) -> bool:
        """Return whether a prior is a member, up to a tolerance."""
        from scipy.optimize import nnls

        p = np.array([np.asarray(m.probabilities, float) for m in self.corners])
        target = np.append(np.asarray(prior.at(self.on), float), 1.0)
        return bool(nnls(np.vstack([p.T, np.ones(len(p))]), target)[1] <= tol)
