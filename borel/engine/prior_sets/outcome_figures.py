"""Suprema over sets of priors on finitely many secrets, for outcomes that are not finite.

At one outcome the kernel is a vector of numbers, one for each secret. Over a box of outcomes its
ratios f(y|x) / f(y|x') are enclosed, by ranges and by mean values, or, where the box is unbounded,
by `borel.numerics.germs.tail_quotients`, or, at an end of the line of outcomes, as functions of
the distance to it; then for each x' that may have the largest density

    sup over P of PML <= -log (lower expectation of the least ratios),

and by the greatest ratios it is bounded from below. Boxes are cut until the two are close.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.prior_sets.attainment import SecretValues
from borel.engine.prior_sets.engine import DRAWN, SetEngine
from borel.engine.problem.kernel_normalisation import statement
from borel.engine.problem.refinement import refine
from borel.engine.problem.secret_and_kernel import log_graph
from borel.errors import NotEnclosed, NotYet
from borel.numerics.germs.forward_difference import without_common
from borel.numerics.germs.interpreter import PowerProgram, limits, range_of, ray
from borel.numerics.germs.tail_quotients import TailRatios
from borel.numerics.germs.values import Real
from borel.numerics.graphs.rewrite import simplified
from borel.numerics.intervals import batched
from borel.numerics.intervals.rounding import MOST
from borel.numerics.jets import arithmetic, elementary
from borel.numerics.jets.interpreter import Program
from borel.probability.bound import Bound
from borel.probability.joint import Joint
from borel.probability.measure import as_measure

if TYPE_CHECKING:
    from borel.engine.prior_sets.lower_expectations import Least
    from borel.numerics.graphs.graph import Graph
    from borel.numerics.intervals.batched import Box

_MOST_SECRETS = 16
_BOXES = 4000
_TURNS = 100
_T0 = 0.5
OUTSIDE = "outside the support of every member: density 0, leakage 0 by convention"


class SetOutcomes(SetEngine):
    """Figures of a traced kernel over a set of priors on a finite numeric alphabet.

    Parameters
    ----------
    joint : Joint
        ``prior_set * mech``.

    Raises
    ------
    NotYet
        A kernel that cannot be traced, atoms, or too many secrets.
    """

    def __init__(self, joint: Joint):
        self.joint, self.set = joint, joint.prior
        mechanism, outcome = joint.mechanism, joint.outcome
        missing = ""
        if not self.set.on.numeric or self.set.on.dim > 1 or outcome.dim > 1:
            missing = f"secrets on {self.set.on!r} with outcomes on {outcome!r}"
        elif self.set.on.size > _MOST_SECRETS:
            missing = f"more than {_MOST_SECRETS} secrets"
        elif mechanism.density is None or mechanism.density.graph is None:
            missing = "a kernel that could not be traced"
        elif mechanism.masses:
            missing = "outcomes with atoms"
        if missing:
            raise NotYet("prior_set * mech", missing=missing, instead="one prior at a time.")
        try:
            density: Any = mechanism.density
            graph = log_graph(density)
            xs = [float(a) for a in self.set.on.labels]
            bound = (graph.bind({"x": x}) if "x" in graph.inputs else graph for x in xs)
            self.graphs = [simplified(g) for g in bound]
            self.programs = [Program(g) for g in self.graphs]
        except NotEnclosed as error:
            raise NotYet("prior_set * mech", missing=f"an enclosure: {error}") from None
        self.sure, self.possible = self.set.reach
        self.rows = np.flatnonzero(self.possible)
        self.tails = TailRatios(self.graphs)
        self.positive = self.tails.finite(*self._line())
        self._pairs: dict[tuple[int, int], Any] = {}
        uniform = _uniform(self.set.on)
        normalised = statement(mechanism, uniform)
        self.assumptions: tuple[str, ...] = ()
        self.status = "certified" if self.set.status == "exact" else self.set.status
        if not normalised.proved:
            self.assumptions = (f"kernel normalised: {normalised}",)
            self.status = "conditional" if self.status == "certified" else self.status

    # -- the kernel ---------------------------------------------------------------------------

    def _logs(self, low: np.ndarray, high: np.ndarray) -> Box:
        """Enclose log f(y|x) over boxes of outcomes, (n, boxes)."""
        named = {"y": (low[None], high[None])}
        found = []
        for program in self.programs:
            value = batched.settled(arithmetic.entry(program.run(named, 0).jet, 0))
            found.append([np.broadcast_to(v, len(low)) for v in value])
        least, most = (np.array([f[e] for f in found]) for e in (0, 1))
        unsure = np.isneginf(least) & (most > -np.inf) & (low < high)
        for j in np.flatnonzero(unsure.any(axis=0)):
            a, b = float(low[j]), float(high[j])
            everywhere = self.positive or self.tails.finite(a, b)
            for i in np.flatnonzero(unsure[:, j]):
                if everywhere or self._along(self.graphs[i], a, b) is not None:
                    least[i, j] = -MOST  # a number at almost all outcomes, so f is positive there
        return least, most

    def _difference(self, i: int, k: int, low: np.ndarray, high: np.ndarray) -> Box:
        """Enclose log f(y|x_i) - log f(y|x_k) over boxes, where both are finite."""
        if i == k:
            return batched.point(np.zeros(len(low)))
        program = self._pair(i, k)
        out = np.full(len(low), -np.inf), np.full(len(low), np.inf)
        closed = np.isfinite(low) & np.isfinite(high)
        if closed.any():
            found = self._by_range(program, low[closed], high[closed])
            out[0][closed], out[1][closed] = found
        for j in np.flatnonzero(~closed):
            if math.isfinite(low[j]) or math.isfinite(high[j]):
                found = self.tails.difference(i, k, float(low[j]), float(high[j]))
                out[0][j], out[1][j] = found
        for j in np.flatnonzero(np.isneginf(out[0]) & np.isposinf(out[1])):
            along = self._along(program.graph, float(low[j]), float(high[j]))
            if along is not None:
                out[0][j], out[1][j] = range_of(along, _T0)
        return out

    def _pair(self, i: int, k: int) -> Program:
        """Return log f(y|x_i) - log f(y|x_k), right where both are finite."""
        if (i, k) not in self._pairs:
            self._pairs[i, k] = Program(without_common(self.graphs[i], self.graphs[k]))
        return self._pairs[i, k]

    def _along(self, graph: Graph, low: float, high: float) -> Real | None:
        """Enclose a function of y along a box from an end of the line of outcomes.

        It is of almost all outcomes of the box, or of all integers in it; None where it is unknown.
        """
        first, last = self._line()
        reach = 2 * math.nextafter(high - low, math.inf)
        if math.isinf(high) and low >= 1:
            y = ray(0, -1, low / 2, low / 2)
        elif math.isinf(low) and high <= -1:
            y = ray(0, -1, high / 2, high / 2)
        elif self.joint.outcome.kind == "countable" or low == high or math.isinf(reach):
            return None
        elif low == first:
            y = ray(low, 1, reach, reach)
        elif high == last:
            y = ray(high, 1, -reach, -reach)
        else:
            return None
        found = PowerProgram(graph).run({"y": y}, _T0)
        return found if isinstance(found, Real) else None

    def _grows(self, i: int, k: int, low: float, high: float) -> bool:
        """Return whether log f(y|x_i) - log f(y|x_k) tends to infinity at an end of the line."""
        if not (self.positive or self.tails.finite(low, high)):
            logs = (self._along(self.graphs[j], low, high) for j in (i, k))
            if any(value is None for value in logs):
                return False
        unbounded = math.isinf(low) or math.isinf(high)
        if unbounded and self.tails.grows(i, k, low, high):
            return True
        along = self._along(self._pair(i, k).graph, low, high)
        return along is not None and limits(along)[0] == math.inf

    def _line(self) -> tuple[float, float]:
        """Return the ends of the line of outcomes."""
        low, high = self.joint.outcome.lower, self.joint.outcome.upper
        return -math.inf if low is None else float(low), math.inf if high is None else float(high)

    def _by_range(self, program: Any, a: np.ndarray, b: np.ndarray) -> Box:
        """Enclose a difference on bounded boxes, by its range and its mean value."""
        plain = batched.settled(arithmetic.entry(program.run({"y": (a[None], b[None])}, 0).jet, 0))
        least, most = (np.broadcast_to(v, len(a)) for v in plain)
        if self.joint.outcome.kind == "countable" or (a == b).all():
            return least, most  # derivatives say nothing of single outcomes
        around = program.run({"y": arithmetic.variable(a, b, 1)}, 1)
        centre = a + (b - a) / 2
        at = program.run({"y": (centre[None], centre[None])}, 0, decisions=around.decisions)
        start = batched.settled(arithmetic.entry(at.jet, 0))
        slope = batched.settled(arithmetic.entry(around.jet, 1))
        reach = (
            batched.subtract(batched.point(a), batched.point(centre))[0],
            batched.subtract(batched.point(b), batched.point(centre))[1],
        )
        moved = batched.settled(batched.add(start, batched.multiply(slope, reach)))
        sharp = np.broadcast_to(np.isfinite(slope[0]) & np.isfinite(slope[1]), len(a)) & (a < b)
        return (
            np.where(sharp, np.maximum(least, moved[0]), least),
            np.where(sharp, np.minimum(most, moved[1]), most),
        )

    def _ceiling(self) -> float:
        """Bound PML by log 1 / (lower probability of a secret), the least of the set's."""
        eye = np.eye(self.set.on.size)[:, self.rows]
        low = self.set.least(eye).lower
        if not low.min() > 0:
            return math.inf
        return -math.log(float(low.min())) * (1 + 1e-14) + 1e-15

    def _boxes(self, kind: str, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the leakage for almost every outcome of positive density of boxes."""
        with np.errstate(all="ignore"):
            return self._enclosed(kind, low, high)

    def _enclosed(self, kind: str, low: Any, high: Any) -> tuple[np.ndarray, np.ndarray]:
        logs = self._logs(low, high)
        best, worst = np.zeros(len(low)), np.zeros(len(low))
        for k in self.rows:
            never = np.isneginf(logs[1][k])  # f(y|x_k) is 0 on the whole box
            ends = [self._difference(i, int(k), low, high) for i in range(len(self.programs))]
            zero = np.isneginf(logs[1])  # and so may the others be
            least = np.array([np.where(z, -np.inf, e[0]) for e, z in zip(ends, zero, strict=True)])
            most = np.array([np.where(z, -np.inf, e[1]) for e, z in zip(ends, zero, strict=True)])
            if not self.positive:  # where f(y|x_i) may be 0 the ratio may be
                maybe = np.isneginf(logs[0]) & (np.arange(len(least)) != k)[:, None]
                least = np.where(maybe, -np.inf, least)
            if kind == "pml":
                v = _ratios(np.minimum(least, 700.0), 0), _ratios(np.minimum(most, 700.0), 1)
                found = self.set.least(v[0]).lower
                top = _minus_log(found, -1)
                # a lower bound: every x' counts, so that the largest of them is a bound
                bottom = self.set.least(v[1])
                floor = _minus_log(bottom.upper, 1)
                floor = np.where((most > 700).any(axis=0), 0.0, floor)
                sure = bool(self.sure[k])
            else:
                v = (
                    _ratios(np.clip(least, -745.0, 700.0), 0),
                    _ratios(np.minimum(most, 700.0), 1),
                )
                open_ = np.isposinf(most[self.possible]).any(axis=0) | (
                    most[self.possible].max(axis=0) > 700
                )
                top = _log(-self.set.least(-v[1]).lower, 1)
                top = np.where(open_, np.inf, top)
                floor = _log(-self.set.least(-v[0]).upper, -1)
                sure = bool(self.sure[k])
            if kind == "pml":
                worst = np.maximum(worst, np.where(never, 0.0, top))
            else:
                worst = np.maximum(worst, np.where(never, np.inf, top))
            alive = logs[0][k] > -np.inf
            # impossible under one secret, not under another; a prior may be nearly all of the first
            if self.sure[k] and (kind == "pmc" or self.set.name == "full_support"):
                others = (logs[0][self.sure] > -np.inf).any(axis=0)
                best = np.where(never & others, np.inf, best)
            if sure:
                best = np.maximum(best, np.where(alive & np.isfinite(floor), floor, 0.0))
        dead = np.isneginf(logs[1][self.rows]).all(axis=0)
        worst = np.where(dead, 0.0, worst)
        return np.where(dead, 0.0, np.minimum(best, worst)), worst

    # -- figures ------------------------------------------------------------------------------

    def _make(self, low: float, high: float, **about: Any) -> Bound:
        about["assumptions"] = (*self.assumptions, *about.get("assumptions", ()))
        if math.isinf(high) and not math.isinf(low):
            notes = (*self.set.assumptions, *about.pop("assumptions"))
            if self.status == "estimate":
                return Bound.undecided(reason=notes[0], assumptions=notes, **about)
            if self.set.confidence is not None:
                sure = self.set.confidence
                about |= {"confidence": sure, "truth_ends": ("upper",)}
                return Bound.statistical(low, high, assumptions=notes, **about)
            return Bound.undecided(
                low,
                high,
                reason="no bound from above was found within the budget, nor a proof that it is "
                "infinite",
                assumptions=notes,
                **about,
            )
        return self.set.bound(low, high, status=self.status, **about)

    def at(self, kind: str, y: Any) -> Bound:
        """Enclose the supremum over the set at one outcome."""
        point = np.array([float(y)])
        low, high = self._boxes(kind, point, point)
        logs = self._logs(point, point)
        if np.isneginf(logs[1][self.rows]).all():
            return self._make(0.0, 0.0, assumptions=(OUTSIDE,))
        if kind == "pmc" and np.isneginf(logs[1][self.sure]).any():
            if (logs[0][self.sure] > -np.inf).any():
                return self._make(math.inf, math.inf)
        row, found = self._worst(kind, float(y))
        prior = as_measure(found.prior[:, 0], self.set.on, f"the worst prior at {y!r}")
        witness = {"y": y, "x": self.set.on.labels[row], "prior": prior}
        attained = self._attained(kind, logs)
        return self._make(float(low[0]), float(high[0]), witness=witness, attained=attained)

    def _attained(self, kind: str, logs: Box) -> bool | None:
        """Return whether the supremum at one outcome is attained; None if it is not known."""
        most = logs[1][self.rows].max()
        if not ((self.sure == self.possible).all() and math.isfinite(most)):
            return None
        unit = batched.point(np.array(most))
        low, high = batched.exp(batched.subtract((logs[0][:, 0], logs[1][:, 0]), unit))
        ends = (low, high) if kind == "pml" else (-high, -low)
        return self.set.attains(SecretValues(*ends, self.sure))

    def _worst(self, kind: str, y: float) -> tuple[int, Least]:
        """Return the secret that an outcome tells most about, and the least mean there."""
        logs = self._logs(np.array([y]), np.array([y]))
        middle = np.where(np.isfinite(logs[0]), logs[0], logs[1])[:, 0]
        pick = np.nanargmax if kind == "pml" else np.nanargmin
        row = int(self.rows[int(pick(middle[self.rows]))])
        with np.errstate(under="ignore"):
            v = np.exp(middle - middle[self.rows].max())
        v = v if kind == "pml" else -v
        return row, self.set.least(v[:, None])

    def curve(self, kind: str, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return lower ends, upper ends and the status at many outcomes."""
        points = np.asarray(y, float)
        low, high = self._boxes(kind, points, points)
        sure = self.set.confidence is not None and self.status != "estimate"
        status = "statistical" if sure else self.status
        known = sure | np.isfinite(high) | np.isinf(low)  # undecided would state no confidence
        return low, high, np.where(known, status, "undecided")

    def _rare(self) -> list[int]:
        """Return secrets that some members charge, with as little mass as one likes."""
        if not self.charge_together:
            return []
        none = self.set.least(np.eye(self.set.on.size)).upper <= 0
        return [int(k) for k in np.flatnonzero(self.sure & none)]

    def _infinite(self, kind: str) -> Bound | None:
        """Prove an infinite supremum: the ratio of two kernels grows without bound at an end."""
        everyone = self.set.name == "full_support"
        rare = self._rare() if kind == "pml" and not everyone else []
        labels, (first, last) = self.set.on.labels, self._line()
        far = max(abs(float(a)) for a in (*labels, 2.0**20)) + 1.0
        near = 2.0**-20 * (last - first) if math.isfinite(last - first) else 2.0**-20
        boxes = [(last, last - near, last) if math.isfinite(last) else (last, far, last)]
        boxes.append((first, first, first + near) if math.isfinite(first) else (first, first, -far))
        rows = np.flatnonzero(self.sure).tolist()
        for end, low, high in boxes:
            for i in rare:
                others = [int(k) for k in self.rows if k != i]
                if others and all(self._grows(i, k, low, high) for k in others):
                    words = (
                        f"members charge {labels[i]!r} with as little mass as one likes, and all "
                        f"but that secret are ruled out as y -> {end:g}"
                    )
                    return self._make(math.inf, math.inf, assumptions=(words,), attained=False)
            for i in rows if kind == "pmc" or everyone else ():
                for k in rows:
                    if i != k and self._grows(i, k, low, high):
                        words = (
                            f"log f(y|{labels[i]!r}) - log f(y|{labels[k]!r}) tends to infinity "
                            f"as y -> {end:g}"
                        )
                        return self._make(math.inf, math.inf, assumptions=(words,), attained=False)
        return None

    def sup(self, kind: str) -> Bound:
        """Enclose the supremum over the set and the outcomes."""
        found = self._infinite(kind)
        if found is not None:
            return found
        until, tol = settings.search_deadline(), settings.current().tol
        countable = self.joint.outcome.kind == "countable"
        low, high = self._first()
        best, worst = self._evaluate(kind, low, high)

        def settled(*_: float) -> bool:
            return not (worst > best.max() + tol).any() or len(low) > _BOXES

        def cut(*_: float) -> bool:
            nonlocal low, high, best, worst
            open_ = worst > best.max() + tol
            a, b = low[open_], high[open_]
            middle = self._middles(a, b)
            # of two integers the lower one is cut off
            inner = (middle >= a if countable else middle > a) & (middle < b)
            if not inner.any():
                return False
            new_low = np.concatenate([a[inner], middle[inner]])
            new_high = np.concatenate([middle[inner], b[inner]])
            if countable:
                new_low[inner.sum() :] += 1.0
            fresh = self._evaluate(kind, new_low, new_high)
            # what holds of a box holds of its parts
            fresh = fresh[0], np.minimum(fresh[1], np.tile(worst[open_][inner], 2))
            stay = np.ones(len(low), bool)
            stay[np.flatnonzero(open_)[inner]] = False
            low, high = np.concatenate([low[stay], new_low]), np.concatenate([high[stay], new_high])
            best = np.concatenate([best[stay], fresh[0]])
            worst = np.concatenate([worst[stay], fresh[1]])
            return True

        ends = lambda: (best.max(), worst.max())  # noqa: E731
        refine(ends, cut, settled=settled, until=until, rounds=_TURNS)
        at = int(best.argmax())
        y = low[at] if math.isfinite(low[at]) else high[at]
        if math.isfinite(low[at]) and math.isfinite(high[at]):
            y = low[at] + (high[at] - low[at]) / 2
        witness = self.at(kind, float(y)).witness
        made = self._make(float(best.max()), float(worst.max()), witness=witness, attained=None)
        open_ = worst > best.max() + tol
        if made.reason or not open_.any():
            return made
        where = f"[{low[open_].min():.6g}, {high[open_].max():.6g}]"
        return made.about(reason=f"at some y in {where} the kernels are not enclosed more sharply")

    def _evaluate(self, kind: str, low: np.ndarray, high: np.ndarray) -> tuple[Any, Any]:
        best, worst = self._boxes(kind, low, high)
        if self.joint.outcome.kind != "countable":  # there a single outcome is a null set
            best = np.where(low == high, 0.0, best)
        if kind == "pml":
            worst = np.minimum(worst, self._ceiling())
        return np.minimum(best, worst), worst

    def _middles(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return where to cut boxes; unbounded ones twice as far out."""
        with np.errstate(invalid="ignore"):
            middle = low + (high - low) / 2
        middle = np.where(np.isposinf(high), np.maximum(2 * np.abs(low), 1.0), middle)
        middle = np.where(np.isneginf(low), np.minimum(-2 * np.abs(high), -1.0), middle)
        middle = np.where(np.isneginf(low) & np.isposinf(high), 0.0, middle)
        middle = np.where(np.abs(middle) > 1e12, np.nan, middle)
        middle = np.where(np.isnan(middle), low, middle)
        return np.floor(middle) if self.joint.outcome.kind == "countable" else middle

    def _first(self) -> tuple[np.ndarray, np.ndarray]:
        outcome, (low, high) = self.joint.outcome, self._line()
        xs = [float(a) for a in self.set.on.labels]
        if outcome.kind == "countable":
            marks = [m for m in sorted({math.floor(x) for x in xs}) if low < m < high]
            starts = [low, *(m + 1.0 for m in marks)]
            return np.array(starts), np.array([*(float(m) for m in marks), high])
        marks = sorted({m for m in (*self.joint.mechanism.breaks, *xs) if low < m < high})
        edges = [low, *marks, high]
        return np.array(edges[:-1], float), np.array(edges[1:], float)

    def _charging(self) -> tuple[str, ...] | None:
        centres = list(self.set.corners) or [getattr(self.set, "centre", None)]
        charged = [c is not None and (np.asarray(c.probabilities) > 0).all() for c in centres]
        return () if all(charged) else None

    def _members(self) -> list[Any]:
        nominal = self.set.nominal
        return [*self.set.corners, *([] if nominal is None else [nominal])]

    def maximal_leakage(self) -> Bound:
        """Enclose maximal leakage under a prior that charges all secrets, as some members do."""
        if not self.sure.all():
            raise NotYet("bl.maximal_leakage", missing="sets of priors that leave secrets out")
        joint = Joint(_uniform(self.set.on), self.joint.mechanism)
        found = self.engine_of_one(joint).figure("maximal_leakage").about(witness=None)
        found = found.about(assumptions=(*self.set.assumptions, *found.assumptions))
        return found.with_confidence(self.set.confidence)

    def ldp(self) -> Bound:
        """Enclose the LDP level on the union of the supports: PML under full support there."""
        if not (self.sure == self.possible).all() or not self.sure.all():
            raise NotYet("bl.ldp", missing="sets of priors that leave secrets out")
        found = SetOutcomes(Joint(self.set.all_priors(), self.joint.mechanism)).sup("pml")
        found = found.about(witness=None, attained=None)
        if self.set.confidence is not None and self.set.all_drawn:
            return found.about(assumptions=(*found.assumptions, DRAWN))
        found = found.about(assumptions=(*self.set.assumptions, *found.assumptions))
        return found.with_confidence(self.set.confidence)


def _uniform(on: Any) -> Any:
    from borel.probability.measure import pmf

    return pmf(np.full(on.size, 1 / on.size), on=on)


def _ratios(logs: np.ndarray, end: int) -> np.ndarray:
    """Return one end of an enclosure of e^logs."""
    return batched.exp((logs, logs))[end]


def _minus_log(value: np.ndarray, side: int) -> np.ndarray:
    """Return -log of a positive number, rounded up for side -1, else down."""
    return -_log(value, side)


def _log(value: np.ndarray, side: int) -> np.ndarray:
    safe = np.where((value > 0) & np.isfinite(value), value, 1.0)
    found = elementary.logarithm((safe[None], safe[None]), 0)
    out = found[1][0] if side > 0 else found[0][0]
    return np.where(value > 0, np.where(np.isfinite(value), out, np.inf), -np.inf)
