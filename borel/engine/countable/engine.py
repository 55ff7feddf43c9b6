"""The exact engine for countable alphabets: a head point by point, a box for all the rest.

The marginal is a head sum plus the tail mass of the prior times the range of the kernel over the
tail box; suprema over the secret take the head and that box. Every step is rounded outwards.
Without a graph that the interval interpreter knows, the same sums in float64 are an estimate.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.countable.measures import SECRETS, CountableMeasures
from borel.engine.finite.events import leakage_of_event
from borel.engine.finite.law_engine import LOST
from borel.engine.kernels.leakage_far_out import of_rows
from borel.engine.kernels.ratios_far_out import Fall, fall_of, trends_of
from borel.engine.problem.budget import cut_short
from borel.engine.problem.kernel_normalisation import statement
from borel.engine.problem.secret_and_kernel import charged_along, log_graph
from borel.engine.problem.truncated_prior import Head, assumed, check_whole, head_of_prior
from borel.errors import InvalidInput, NotEnclosed, NotYet
from borel.numerics.intervals import interpreter, rounding
from borel.numerics.intervals.rounding import (
    NORMAL,
    Enclosure,
    Scaled,
    log_ratio_bounds,
    ratio_bounds,
)
from borel.probability.alphabets import Finite, Integers
from borel.probability.arrays import as_floats
from borel.probability.countable_law import Values
from borel.probability.density import ranges_of
from borel.probability.normalisation import DECLARED, head_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.graphs.graph import Graph
    from borel.probability.bound import Bound
    from borel.probability.density import Density
    from borel.probability.joint import Joint

_LARGEST_HEAD = 1 << 15
_CELLS = 1_000_000
_FAR = 2.0**500
_END = 2.0**48
"""A secret that is as good as the last one."""
_LEAST = 1e-290
"""Densities below this have few digits, or none."""


class CountableEngine(CountableMeasures):
    """Figures of a joint whose secret and outcome are finite or countable, one not finite.

    Parameters
    ----------
    joint : Joint
        With densities on integers, or on a finite numeric alphabet.
    in_logs : callable
        Makes the engine of the joint that computes with logarithms of densities; raises
        `NotEnclosed` where there is none.
    """

    def __init__(self, joint: Joint, in_logs: Callable[[], Any]):
        self._make_in_logs = in_logs
        self.given = self.joint = joint
        self.mechanism, self.prior = joint.mechanism, joint.prior
        for alphabet in (joint.secret, joint.outcome):
            if alphabet.dim > 1 or not isinstance(alphabet, (Integers, Finite)):
                raise NotYet("the countable engine", missing=f"the alphabet {alphabet!r}")
        self._count = 256
        self._hurried = False
        self._laws: dict[str, Values] = {}
        self.reason = self._why_not_enclosed()
        self._proved = not self.reason
        assumptions: list[str] = []
        normalised = statement(self.mechanism, self.prior) if self._proved else DECLARED
        self._miss = normalised.miss
        if not normalised.proved:
            known = normalised if self._proved else self.mechanism.normalisation
            assumptions.append(f"kernel >= 0 and normalised: {known}")
        assumptions += assumed(self.prior)
        self.assumptions = tuple(assumptions)
        self.status = "estimate" if not self._proved else "conditional" if assumptions else "exact"

    def _why_not_enclosed(self) -> str:
        for what, density in (("kernel", self.mechanism.density), ("prior", self.prior.density)):
            if density is None:
                continue
            if density.graph is None:
                return f"the {what} could not be traced: {density.opaque}"
            unknown = density.graph.operations - set(interpreter.TABLE)
            if unknown:
                return (
                    f"the {what} uses {', '.join(sorted(unknown))}, which the interval arithmetic "
                    "of this version does not know"
                )
        return ""

    # -- evaluating -------------------------------------------------------------------------

    def _evaluate(self, density: Density, boxes: dict[str, tuple]) -> Enclosure:
        """Enclose a density on boxes; in float64 at points when it cannot be enclosed."""
        if self._proved:
            assert density.graph is not None
            try:
                low, high = interpreter.evaluate(density.graph, boxes)
            except NotEnclosed as error:
                self._fall(str(error))
            else:
                if density.log:
                    low, high = interpreter.exponential((low, high))
                if (high < 0).any():
                    raise InvalidInput(
                        "a density",
                        expected="values >= 0",
                        got=f"a value below {float(np.min(high)):.6g}, proved",
                        where=_where(boxes, high),
                        mend="correct the function there.",
                    )
                low = np.maximum(low, 0.0)
                if self._miss and density is self.mechanism.density:  # f(y|x) over its sum
                    return Enclosure(low * (1 - 2 * self._miss), high * (1 + 2 * self._miss))
                return Enclosure(low, high)
        points = [boxes[name][0] for name in density.alphabets]
        values = density.linear(*points)
        error = values * 1e-13
        # no float holds it; a logarithm of -inf is meant
        small = values < NORMAL
        if small.any() and density.log:
            small = small & (density.logarithm(*points) > -np.inf)
        return Enclosure(
            np.where(small, 0.0, np.maximum(values - error, 0.0)),
            np.where(small, NORMAL, values + error),
        )

    def _fall(self, reason: str) -> None:
        self.reason, self._proved, self.status = reason, False, "estimate"

    @cached_property
    def _finite_prior(self) -> Head | None:
        """The prior on a finite alphabet of secrets."""
        if self.prior.on.kind != "finite":
            return None
        points = np.asarray(self.prior.on.array, float)
        p = as_floats(self.prior.probabilities, "a prior of Fractions on a countable outcome")
        error = np.maximum(self.prior.rounding, rounding.rounding_of(p, rounding.U)) * 1.0001
        low = np.maximum(p * (1 - error) - rounding.TINY * (p > 0), 0.0)
        return Head(
            points, low, p * (1 + error) + rounding.TINY * (p > 0), 0.0, (np.zeros(0), np.zeros(0))
        )

    def _head(self, count: int) -> Head:
        if self._finite_prior is not None:
            return self._finite_prior
        return head_of_prior(self.prior, count, self._evaluate)

    def column(
        self, ys: np.ndarray, *, hurry: bool = False
    ) -> tuple[Enclosure, Enclosure, Enclosure]:
        """Enclose f_Y(y), sup_x f(y|x) and inf_x f(y|x) over the support, for outcomes ys.

        Raises
        ------
        TimeoutError
            With ``hurry``: the deadline came before the last block of outcomes.
        """
        check_whole(ys, "y")
        deadline, parts = settings.search_deadline(), []
        for part in np.array_split(ys, max(1, len(ys) // 256)):
            if hurry and settings.late(deadline):
                raise TimeoutError
            parts.append(self._block(part, deadline))
        return tuple(  # type: ignore[return-value]
            Enclosure(*(np.concatenate([part[i][end] for part in parts]) for end in (0, 1)))
            for i in range(3)
        )

    def _block(self, ys: np.ndarray, deadline: float) -> tuple[Enclosure, Enclosure, Enclosure]:
        y = ys.astype(float)[:, None]
        span = int(np.max(np.abs(ys), initial=0)) + 64
        # of an outcome far out no head reaches the secrets beside it: a box holds them
        count = 64 if self._finite_prior is not None else 1 << max(6, min(span.bit_length(), 20))
        if any(self._falls.values()) and self._enough(y) * len(ys) <= 2 * _CELLS:
            count = max(count, self._enough(y))
        while True:
            start = settings.now()
            head = self._head(count)
            low, high = self._evaluate(
                self.mechanism.density, {"y": (y, y), "x": (head.points, head.points)}
            )
            sure, possible = self._charged(head), head.high > 0
            with np.errstate(under="ignore", invalid="ignore"):
                a = np.where(sure, head.low * low, 0.0)
                b = np.where(possible, head.high * high, 0.0)
            # each product rounds once; an underflow loses at most 2**-1074
            a = np.maximum(a * (1 - 2.0**-52) - rounding.TINY * (a > 0), 0.0)
            b = b * (1 + 2.0**-52) + rounding.TINY * (possible & (high > 0))
            total = Enclosure(*rounding.sum_outward(a, b, axis=1))
            top = Enclosure(
                np.where(sure, low, 0.0).max(axis=1), np.where(possible, high, 0.0).max(axis=1)
            )
            bottom = Enclosure(
                np.where(possible, low, np.inf).min(axis=1),
                np.where(sure, high, np.inf).min(axis=1),
            )
            rest = self._beyond(y, head, high)
            if rest is None:
                return total, top, bottom
            top, rest = self._along_trends(y, head, top, rest)
            extra = rest.upper * head.tail
            done = (extra <= 2.0**-56 * total.lower).all()
            # a head twice as long takes at least twice as long
            if not done and settings.late(deadline - 2 * (settings.now() - start)):
                self._hurried = done = True
            if done or 2 * count * len(ys) > _CELLS * 4 or count >= _LARGEST_HEAD:
                marginal = Enclosure(
                    total.lower, np.nextafter(total.upper + np.nextafter(extra, np.inf), np.inf)
                )
                # the tail may lie outside the support: it can only widen the two extremes
                return (
                    marginal,
                    Enclosure(top.lower, np.maximum(top.upper, rest.upper)),
                    Enclosure(
                        np.minimum(bottom.lower, rest.lower),
                        np.zeros(len(ys)) if self._vanishes else bottom.upper,
                    ),
                )
            count *= 2

    def _charged(self, head: Head) -> np.ndarray:
        """Say which secrets of a head certainly have a mass, though it may be below all floats."""
        sure = head.low > 0
        small = ~sure & (head.high > 0)
        if self._finite_prior is None and self._proved and small.any():
            with suppress(NotEnclosed):
                x = head.points[small]
                sure[small] = interpreter.evaluate(self._log_prior, {"x": (x, x)})[0] > -np.inf
        return sure

    @cached_property
    def _log_prior(self) -> Graph:
        assert self.prior.density is not None
        return log_graph(self.prior.density)

    @cached_property
    def _falls(self) -> dict[float, Fall | None]:
        """How the kernel falls with the secret, towards each end where there are secrets beyond."""
        secret, out = self.prior.on, {}
        if self._finite_prior is None and self._proved:
            for side, end in ((1.0, secret.upper), (-1.0, secret.lower)):
                if end is None:
                    graph, ranges = log_graph(self.mechanism.density), self._ranges
                    out[side] = fall_of(graph, "x", side, ranges)
        return out

    @cached_property
    def _vanishes(self) -> bool:
        """Whether the kernel vanishes for secrets far out that have a mass, for every outcome."""
        fall = self._falls.get(1.0)
        return fall is not None and fall.vanishes and charged_along(self.prior)

    @cached_property
    def _ranges(self) -> dict[str, tuple[float, float]]:
        return ranges_of(self.mechanism.density)

    def _enough(self, y: np.ndarray) -> int:
        """Return how many secrets hold, on each side, the first one from which the kernel falls."""
        far = max(float(f.first(y).max()) for f in self._falls.values() if f)
        first = self.prior.on.upper if self.prior.on.lower is None else self.prior.on.lower
        both = self.prior.on.lower is None and self.prior.on.upper is None
        return min(int(2 * far if both else far + abs(first)) + 2, _LARGEST_HEAD)

    def _beyond(self, y: np.ndarray, head: Head, last: np.ndarray) -> Enclosure | None:
        """Enclose the kernel over every secret beyond the head; None if there is none.

        It was found to be ``last`` at most on the head.
        """
        if not len(head.boxes[0]):
            return None  # the alphabet ends: only it can say so, never a mass of 0
        if not self._proved:
            places = np.where(np.isfinite(head.boxes[0]), head.boxes[0], head.boxes[1])
            values = self.mechanism.density.linear(y, places)  # type: ignore[union-attr]
            return Enclosure(values.min(axis=1), values.max(axis=1))
        low, high = self._evaluate(self.mechanism.density, {"y": (y, y), "x": head.boxes})
        shape = len(y), len(head.boxes[0])
        high, last = (
            np.array(np.broadcast_to(high, shape)),
            np.broadcast_to(last, (len(y), len(head.points))),
        )
        for k, end in enumerate(head.boxes[1]):
            side, j = (1.0, -1) if math.isinf(end) else (-1.0, 0)
            fall = self._falls.get(side)
            if fall is not None:  # f(y|x) is largest at the last secret of the head
                holds = side * head.points[j] >= fall.first(y[:, 0])
                high[holds, k] = np.minimum(high[holds, k], last[holds, j])
        # a mass of one outcome is at most 1
        return Enclosure(low.min(axis=1), np.minimum(high.max(axis=1), 1.0))

    def _along_trends(
        self, y: np.ndarray, head: Head, top: Enclosure, rest: Enclosure
    ) -> tuple[Enclosure, Enclosure]:
        """Narrow the largest f(y|x) on a head and beyond it where f(y|x) rises or falls from there.

        Then it lies beyond between its last value and those on a box far out.
        """
        places = self._ends_far_out
        open_ = rest.upper > top.upper * (1 + 2.0**-40)
        if not (places and open_.any()) or settings.spent():
            return top, rest
        ys, low, high = y[open_], np.zeros(open_.sum()), top.upper[open_]
        graph, known = log_graph(self.mechanism.density), np.ones(len(ys), bool)
        for side, j in places.items():
            start = side * head.points[j]
            if not start >= 2:
                return top, rest
            known &= trends_of(graph, side, self._ranges, ys[:, 0], start) != 0
            places_ = (side * start,) * 2, (side * _END,) * 2, (side * _END, side * np.inf)
            first, point, box = (
                self._evaluate(self.mechanism.density, {"y": (ys, ys), "x": (a[:1], a[1:])})
                for a in map(np.sort, places_)
            )
            low = np.maximum(low, point.lower[:, 0])
            # the last secret of the head may be one without mass
            high = np.maximum(high, np.maximum(first.upper, box.upper)[:, 0])
        place = np.flatnonzero(open_)[known]
        found, most = np.array(top.lower), np.array(rest.upper)
        found[place] = np.maximum(found[place], low[known])
        most[place] = np.minimum(most[place], high[known])
        return Enclosure(found, top.upper), Enclosure(rest.lower, most)

    @cached_property
    def _ends_far_out(self) -> dict[float, int]:
        """Of each side without an end the last place of a head; none without mass far out."""
        secret, out = self.prior.on, {}
        if self._finite_prior is not None or not self._proved:
            return {}
        for side, end, j in ((1.0, secret.upper, -1), (-1.0, secret.lower, 0)):
            if end is not None:
                continue
            x = np.array([side * _END])
            with suppress(NotEnclosed):
                if interpreter.evaluate(self._log_prior, {"x": (x, x)})[0][0] > -np.inf:
                    out[side] = j
                    continue
            return {}
        return out

    # -- figures ----------------------------------------------------------------------------

    def at(self, kind: str, y: Any) -> Bound:
        """Return the leakage at one outcome."""
        found = super().at(kind, y)
        if self._proved or found.status != "undecided" or self.values_at(kind, y).mass_upper[0] > 0:
            return found
        return found.about(reason=LOST.format(where=f"at y = {y!r} for every secret"))

    def bound(self, low: float, high: float, **about: Any) -> Bound:
        """Make a Bound; one of a head that is short for lack of time says so."""
        found = super().bound(low, high, **about)
        return cut_short(found) if self._hurried else found

    def values_at(self, kind: str, y: Any, *, hurry: bool = False) -> Values:
        """Enclose PML or PMC at outcomes y, with their masses."""
        ys = np.atleast_1d(np.asarray(y))
        marginal, top, bottom = self.column(ys, hurry=hurry)
        # what float64 alone evaluates to 0 may be an underflow
        outside = (top.upper == 0) & self._proved
        lost = (top.lower == 0) & (not self._proved)
        num, den = (top, marginal) if kind == "pml" else (marginal, bottom)
        log, ratio = _quotient(num, den)
        # an outcome not proved to have positive density may be outside the support: 0
        possible = top.lower == 0

        def settle(ends: Enclosure, least: float) -> tuple[np.ndarray, np.ndarray]:
            low = np.where(outside | possible, least, np.maximum(ends.lower, least))
            high = np.where(lost, np.inf, np.maximum(ends.upper, least))
            return low, np.where(outside, least, high)

        masses = (
            np.where(outside, 0.0, marginal.lower),
            np.where(outside | lost, 0.0, np.minimum(marginal.upper, 1.0)),
        )
        found = Values(*settle(log, 0.0), *settle(ratio, 1.0), *masses, outside)
        if self._finite_prior is None:
            return found
        if kind == "pml" and self._proved:
            most = self._largest_ratio()
            np.minimum(found.upper, most[0], out=found.upper)
            np.minimum(found.ratio_upper, most[1], out=found.ratio_upper)
        low = top.lower if kind == "pml" else bottom.lower
        self._resolve(kind, ys, found, ~outside & (low < _LEAST))
        return found

    def _resolve(self, kind: str, ys: np.ndarray, found: Values, lost: np.ndarray) -> None:
        """Narrow the values at outcomes where densities underflow, by their logarithms."""
        if not lost.any() or not self._proved or self.in_logs is None:
            return
        finer = self.in_logs.values_at(kind, ys[lost])
        for name in ("lower", "ratio_lower", "mass_lower"):
            old, new = getattr(found, name), getattr(finer, name)
            old[lost] = np.maximum(old[lost], new)
        for name in ("upper", "ratio_upper", "mass_upper"):
            old, new = getattr(found, name), getattr(finer, name)
            old[lost] = np.minimum(old[lost], new)

    @cached_property
    def in_logs(self) -> Any:
        """The engine that computes with logarithms of densities, or None."""
        try:
            return self._make_in_logs()
        except NotEnclosed:
            return None

    def head_of_outcomes(self) -> tuple[np.ndarray, bool]:
        """Return the outcomes that the law was computed on, and whether they are all."""
        outcome = self.joint.outcome
        if outcome.kind == "finite":
            return np.asarray(outcome.array), True
        return head_of(outcome, self._count), False

    def settled_head(self) -> np.ndarray:
        """Return a head of outcomes with nearly all of the mass."""
        self.law("pml")
        return np.asarray(self.head_of_outcomes()[0])

    def law(self, kind: str) -> Values:
        """Enclose the law of PML(Y) or PMC(Y): a head of outcomes, and the mass left over."""
        cache = self._laws
        if kind not in cache:
            deadline, start = settings.search_deadline(), settings.now()
            ys, whole = self.head_of_outcomes()
            values = self.with_infinities(kind, ys, self.values_at(kind, ys))
            while not whole:
                low, _ = rounding.sum_outward(values.mass_lower, values.mass_upper)
                leftover = max(0.0, 1.0 - float(low) + 2.0**-50)
                enough = leftover <= settings.current().tol * 1e-3 or self._count >= 4096
                longer = None if enough else self._longer(kind, deadline, start)
                if longer is None:
                    ceiling = self._ceiling() if kind == "pml" else np.inf
                    values = Values(**{**values.__dict__, "leftover": leftover, "ceiling": ceiling})
                    break
                cache.clear()  # every law of a joint has the same head
                values, start = longer
            cache[kind] = values
            if settings.spent():  # what lies beyond the head, say, was not looked at
                self._hurried = True
        return cache[kind]

    def _longer(self, kind: str, deadline: float, start: float) -> tuple[Values, float] | None:
        """Take a head four times as long, if there is time: at least four times that since start.

        Returns the values, and when they were begun.
        """
        now = settings.now()
        if not settings.late(deadline - 4 * (now - start)):
            self._count *= 4
            try:
                ys = self.head_of_outcomes()[0]
                return self.with_infinities(kind, ys, self.values_at(kind, ys, hurry=True)), now
            except BaseException as stopped:
                self._count //= 4  # laws that are known have this head
                if not isinstance(stopped, TimeoutError):
                    raise
        self._hurried = True
        return None

    def beyond_head(self, kind: str) -> float:
        """Bound the leakage at every outcome beyond the head; infinite where nothing does."""
        from borel.engine.countable.tail_bounds import beyond

        ys, outcome = self.head_of_outcomes()[0], self.joint.outcome
        known = [
            beyond(self, kind, side * float(ys[at]), side)
            for side, at, end in ((1.0, -1, outcome.upper), (-1.0, 0, outcome.lower))
            if end is None
        ]
        return max(known) + 4 * self._miss

    def far_out(self, kind: str) -> tuple[float, dict]:
        """Bound the leakage of every outcome beyond a huge one from below, and say where."""
        best: tuple[float, dict] = 0.0, {}
        logs, outcome = self.in_logs, self.joint.outcome
        if logs is None or logs.secret.rest:
            return best
        for side, end in ((1.0, outcome.upper), (-1.0, outcome.lower)):
            if end is None:
                low, high = sorted((side * _FAR, side * math.inf))
                least = of_rows(logs.surface, kind, low, high)[0] - 4 * self._miss
                words = "y to infinity" if side > 0 else "y to -infinity"
                best = max(best, (least, {"y": words}), key=lambda found: found[0])
        return best

    def _ceiling(self) -> float:
        """Bound PML by log 1 / p_min for a finite secret; nothing bounds it for a countable one."""
        return np.inf if self._finite_prior is None else self._largest_ratio()[0]

    def _largest_ratio(self) -> tuple[float, float]:
        """Bound log 1 / p_min and 1 / p_min for a finite secret."""
        head = self._finite_prior
        assert head is not None
        least = head.low[head.high > 0].min()
        ends = _quotient(Enclosure(np.ones(1), np.ones(1)), Enclosure(least[None], np.ones(1)))
        return float(ends[0].upper[0]), float(ends[1].upper[0])

    def density_law(self, under: str) -> Values:
        """Enclose the information density on a head of pairs, with their masses."""
        ys = self.settled_head()
        head = self._head(SECRETS)
        y = ys.astype(float)[:, None]
        marginal = self.column(ys)[0]
        law = Enclosure(*(end[:, None] for end in marginal))
        found = self._evaluate(
            self.mechanism.density, {"y": (y, y), "x": (head.points, head.points)}
        )
        shape = len(ys), len(head.points)
        kernel = Enclosure(*(np.broadcast_to(end, shape) for end in found))
        logs, ratios = _quotient(kernel, Enclosure(*(np.broadcast_to(e, shape) for e in law)))
        second = kernel if under == "joint" else law
        with np.errstate(under="ignore"):
            least = np.maximum(head.low * second.lower * (1 - 2.0**-52) - rounding.TINY, 0.0)
            most = head.high * second.upper * (1 + 2.0**-52)
        possible = (head.high > 0) & (second.upper > 0)
        most = np.where(possible, np.minimum(most + rounding.TINY, 1.0), 0.0)
        held = float(rounding.sum_outward(least.ravel(), least.ravel())[0])
        kept = np.ravel(np.broadcast_to(possible, shape))
        fields = (*logs, *ratios, least, most, np.zeros(1, bool))
        columns: list[Any] = [np.ravel(np.broadcast_to(c, shape))[kept] for c in fields]
        return Values(
            *columns,
            leftover=max(0.0, 1.0 - held + 2.0**-50),
            ceiling=self._largest("pml"),
            floor=-self._largest("pmc"),  # -PMC <= i <= PML
        )

    def _largest(self, kind: str) -> float:
        """Bound the leakage of every outcome, of a head and beyond it."""
        values = self.law(kind)
        most = float(np.max(values.upper, initial=0.0))
        if self.head_of_outcomes()[1] or math.isinf(most):
            return most
        return max(most, min(values.ceiling, self.beyond_head(kind)))

    def log_marginal(self, y: Any) -> np.ndarray:
        """Return log f_Y(y) in float64, for plots and posteriors."""
        ys = np.atleast_1d(np.asarray(y))
        low, high = self.column(ys.ravel())[0]
        with np.errstate(divide="ignore"):
            return np.log((low + high) / 2).reshape(np.shape(y))

    def event_leakage(self, event: Any) -> Bound:
        """Enclose the leakage of an event: a few outcomes, or all but these."""
        head = self._finite_prior
        if head is None or self.status == "estimate":
            raise self.not_yet("event_maximal_leakage")
        charged = head.high > 0
        ys, points = np.array(event.atoms, float), head.points[charged]
        low, high = np.zeros(len(points)), np.zeros(len(points))
        if len(ys):
            x = points[:, None]
            box = self._evaluate(self.mechanism.density, {"y": (ys, ys), "x": (x, x)})
            shape = len(points), len(ys)
            low, high = rounding.sum_outward(
                np.broadcast_to(np.maximum(box.lower, 0.0), shape),
                np.broadcast_to(box.upper, shape),
                axis=1,
            )
        lows, highs = ([Fraction(float(v)) for v in np.minimum(end, 1.0)] for end in (low, high))
        if event.complement:
            lows, highs = [1 - v for v in highs], [1 - v for v in lows]
        p = [[Fraction(float(v)) for v in end[charged]] for end in (head.low, head.high)]
        return self.settled(leakage_of_event(self, p, lows, highs))

    def information_density_at(self, x: Any, y: Any) -> Enclosure:
        """Enclose log f(y|x) / f_Y(y) at labels."""
        x, y = np.broadcast_arrays(np.asarray(x), np.asarray(y))
        ys, inverse = np.unique(y, return_inverse=True)
        marginal = self.column(ys)[0]
        xf, yf = np.asarray(x, float), np.asarray(y, float)
        check_whole(x, "x")
        entry = self._evaluate(self.mechanism.density, {"y": (yf, yf), "x": (xf, xf)})
        den = Enclosure(*(end[inverse].reshape(np.shape(y)) for end in marginal))
        return _quotient(entry, den)[0]


def _where(boxes: dict[str, tuple], high: np.ndarray) -> str:
    """Say where an enclosure is negative."""
    place = tuple(np.argwhere(high < 0)[0])
    shown = {n: float(np.broadcast_to(low, high.shape)[place]) for n, (low, _) in boxes.items()}
    return ", ".join(f"{n} = {v:g}" for n, v in shown.items())


def _quotient(num: Enclosure, den: Enclosure) -> tuple[Enclosure, Enclosure]:
    """Enclose log(num / den) and num / den for non-negative enclosures."""

    def scaled(values: np.ndarray) -> Scaled:
        return rounding.scaled(np.where((values > 0) & np.isfinite(values), values, 1.0))

    low_log = log_ratio_bounds(scaled(num.lower), scaled(den.upper)).lower
    high_log = log_ratio_bounds(scaled(num.upper), scaled(den.lower)).upper
    low_ratio = ratio_bounds(scaled(num.lower), scaled(den.upper)).lower
    high_ratio = ratio_bounds(scaled(num.upper), scaled(den.lower)).upper
    none = (num.lower == 0) | np.isinf(den.upper)
    forever = (den.lower == 0) | np.isinf(num.upper)
    # a denominator that is exactly 0 under a positive numerator: a proved infinity
    infinite = (den.upper == 0) & (num.lower > 0)
    zero = (num.upper == 0) & (den.lower > 0)
    log = Enclosure(
        np.where(infinite, np.inf, np.where(none, -np.inf, low_log)),
        np.where(zero, -np.inf, np.where(forever, np.inf, high_log)),
    )
    ratio = Enclosure(
        np.where(infinite, np.inf, np.where(none, 0.0, low_ratio)),
        np.where(zero, 0.0, np.where(forever, np.inf, high_ratio)),
    )
    return log, ratio
