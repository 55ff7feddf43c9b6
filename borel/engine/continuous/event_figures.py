r"""What rows exceed the marginal by, on an interval of outcomes: psi_1, psi_2, and events.

With finitely many secrets the marginal is a sum of kernels, and the excess of a row over a
multiple of it one integral (`hockey_sticks`). The largest :math:`K_x(a)` over fuzzy events of
probability delta is :math:`H_x(\delta) = \min_\tau G(\tau)`, :math:`G(\tau) = \tau \delta +
\int (k_x - \tau f_Y)^+`: G is convex, so that its values at three points bound the minimum.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.continuous import event_proofs
from borel.engine.divergences.hockey_sticks import DensityPair, excess_on_line, integral
from borel.engine.finite.events import leakage_of_event
from borel.engine.kernels.rows import Rows
from borel.engine.problem.secret_and_kernel import log_graph
from borel.engine.problem.thresholds import Threshold
from borel.errors import BudgetSpent, NotEnclosed, NotYet
from borel.numerics.graphs.graph import GraphBuilder
from borel.numerics.intervals import batched
from borel.numerics.intervals.rounding import log_fraction

if TYPE_CHECKING:
    from borel.engine.continuous.protocols import OutcomeEngine
    from borel.probability.bound import Bound
    from borel.probability.events import OutcomeEvent

_STEP = Fraction(1, 2**15)
_ROOM = 0.01
_FAINT = -30.0


class Excesses(Rows):
    """Excesses of rows over multiples of the marginal, and of the best row over it."""

    most = 12

    def _law(self, together: GraphBuilder) -> int:
        add = together.add
        mixed = [add("add", add("input", f"w{i}"), at) for i, at in enumerate(together.roots)]
        law = mixed[0]
        for more in mixed[1:]:
            law = add("logaddexp", law, more)
        return law

    def excess(self, x: int, level: Threshold, rel_tol: float = 1e-9) -> tuple[float, float]:
        """Enclose the integral of (k_x - e^level f_Y)^+."""
        together = GraphBuilder(*self.graphs)
        law = together.graph(self._law(together))

        def gap(y: np.ndarray) -> np.ndarray:
            logs = self.logs(y)
            return logs[x] - self.log_law(logs)

        pair = DensityPair(self.graphs[x], law, self.inputs, "y", gap)
        return excess_on_line(pair, self.line, self.marks, level, rel_tol)

    def distance(self, x: int, other: int) -> tuple[float, float]:
        """Enclose the total variation distance of two rows."""

        def gap(y: np.ndarray) -> np.ndarray:
            logs = self.logs(y)
            return logs[x] - logs[other]

        pair = DensityPair(self.graphs[x], self.graphs[other], {}, "y", gap)
        return excess_on_line(pair, self.line, self.marks, Threshold(Fraction(0)))

    def penalty(self, level: Threshold) -> tuple[float, float]:
        """Enclose the integral of f_Y (1 - e^(level - PML))^+."""
        together = GraphBuilder(*self.graphs)
        add, law = together.add, self._law(together)
        top = together.roots[0]
        for more in together.roots[1:]:
            top = add("maximum", top, more)
        less = together.graph(add("subtract", add("add", law, law), top))

        def gap(y: np.ndarray) -> np.ndarray:
            logs = self.logs(y)
            return logs.max(axis=0) - self.log_law(logs)

        covers = tuple(self.graphs)
        pair = DensityPair(together.graph(law), less, self.inputs, "y", gap, covers)
        return excess_on_line(pair, self.line, self.marks, level)

    # -- events -----------------------------------------------------------------------------------

    def share(self, x: int, delta: Fraction, grid: Any) -> tuple[Fraction, Fraction]:
        r"""Enclose :math:`H_x(\delta)` from G at three points around its guessed minimum.

        With values G1, G2, G3 at equal distances h, convexity gives G >= 2 G2 - max(G1, G3) between
        the first and the last, and beyond them at least the end's value less what the slope of
        the chord next to it may be.
        """
        most = 1 / self.least  # no ratio is above it
        if self.late():
            return delta, min(most * delta, Fraction(1))
        ratio, mass = grid[0][x], grid[1]
        order = np.argsort(-ratio)
        total = np.cumsum(mass[order])
        guess = np.interp(float(delta) * total[-1], total - mass[order] / 2, ratio[order])
        middle = min(max(Fraction(float(guess)), Fraction(1, 2**20)), most)
        step = middle * _STEP
        low, high = [], []
        for tau in (middle - step, middle, middle + step):
            found = self._excess_at(x, tau)
            low.append(tau * delta + found[0])
            high.append(tau * delta + found[1])
        least = min(
            2 * low[1] - max(high[0], high[2]),
            low[0] - max(Fraction(0), (high[1] - low[0]) / step) * (middle - step),
            low[2] - max(Fraction(0), (high[1] - low[2]) / step) * max(most - middle, Fraction(0)),
        )
        return max(least, delta), max(min(*high, most * delta, Fraction(1)), least, delta)

    def _excess_at(self, x: int, tau: Fraction) -> tuple[Fraction, Fraction]:
        low, high = self.excess(x, Threshold(ratio=tau), 1e-12)
        if high == math.inf and not self.late():
            raise NotEnclosed("Arb does not bound an excess over the line")
        # (k - tau f)^+ is at least k - tau f, whose integral is 1 - tau
        return max(Fraction(low), 1 - tau, Fraction(0)), Fraction(min(high, 1.0))

    def event(self, delta: Fraction) -> tuple[Fraction, Fraction]:
        """Enclose e^leakage of the worst event of probability delta."""
        grid = self.ratios()
        shares = [self.share(x, delta, grid) for x in range(len(self.points))]
        return max(s[0] for s in shares) / delta, max(s[1] for s in shares) / delta

    def halves(self) -> tuple[Fraction, Fraction]:
        r"""Enclose the largest e^leakage that an event and its complement both have.

        Of two secrets k_x / f_Y is a falling function of the other one, so that the best events
        are complements of each other: at every p the smaller of H_1(p) / p and
        H_2(1 - p) / (1 - p) is a lower end, and the larger an upper one. Of more secrets it is at
        most 1 + TV of two rows.
        """
        size = len(self.points)
        if size < 2:
            return Fraction(1), Fraction(1)
        pairs = [(a, b) for a in range(size) for b in range(a + 1, size)]
        tops = [
            Fraction(2) if self.late() else 1 + Fraction(min(self.distance(*pair)[1], 1.0))
            for pair in pairs
        ]
        if size > 2:
            return Fraction(1), max(tops)
        grid = self.ratios()
        sums = []
        for x in (0, 1):
            order = np.argsort(-grid[0][x])
            mass = np.cumsum(grid[1][order])
            gain = np.cumsum((grid[0][x] * grid[1])[order])
            sums.append((mass, gain))
        p = np.linspace(0.001, 0.999, 9981)
        one = np.interp(p, *sums[0]) / p
        two = np.interp(1 - p, *sums[1]) / (1 - p)
        best = Fraction(float(p[int(np.argmin(np.abs(one - two)))]))
        first = [v / best for v in self.share(0, best, grid)]
        second = [v / (1 - best) for v in self.share(1, 1 - best, grid)]
        return min(first[0], second[0]), min(max(first[1], second[1]), *tops)


def figure(engine: OutcomeEngine, name: str, *arguments: Any) -> Bound:
    """Compute a figure of this file as a Bound, or say that it is not certified."""
    try:
        return _FIGURES[name](engine, Excesses(engine), *arguments)
    except NotEnclosed as error:
        raise NotYet(f"bl.{name}", missing=f"a proof: {error}") from None


def of_event(engine: Any, event: OutcomeEvent) -> Bound:
    """Enclose the PML of an event, for a finite secret."""
    whole = engine.of_secrets
    if whole is None or whole.secret.continuous or whole.secret.rest or whole.secret.dim > 1:
        raise NotYet(
            "bl.event_maximal_leakage",
            missing=f"events of {engine.given.outcome!r} with secrets on {engine.given.secret!r}",
            instead="a finite secret; or mech.push of the event's indicator.",
        )
    secret = whole.secret
    lows, highs = _probabilities(whole, secret.atoms[:, 0], event)
    p = [[Fraction(float(w)) for w in end] for end in (secret.weight_low, secret.weight_high)]
    return leakage_of_event(whole, p, lows, highs)


def _probabilities(engine: Any, points: np.ndarray, event: OutcomeEvent) -> tuple[list, list]:
    """Enclose P(E|x) for every point x, as Fractions, up to a factor where they are very small."""
    mechanism = engine.joint.mechanism
    graph = log_graph(mechanism.density)
    marks = sorted({*mechanism.breaks, *points.tolist()})
    rel_tol = min(settings.current().tol, 1e-10) / 8
    shift = 0.0 if event.atoms else _size(mechanism, points, event)
    most = Fraction(1) if shift == 0 else Fraction(2) ** 2000
    lows, highs = [], []
    for x in points.tolist():
        own = graph.bind({"x": x}) if "x" in graph.inputs else graph
        parts = [
            integral([(own, True)], "y", {"shift": shift}, span, marks, rel_tol)
            for span in event.spans
        ]
        lows.append(sum((Fraction(max(a, 0.0)) for a, _ in parts), Fraction(0)))
        ends = [Fraction(b) if 0 <= b < math.inf else most for _, b in parts]
        highs.append(sum(ends, Fraction(0)))
    for atom in event.atoms:
        for sheet in engine._sheets(np.full(len(points), atom)):
            named = sheet.surface.inputs(
                [batched.point(points[sheet.where][None])], batched.point(sheet.y[None])
            )
            mass = batched.exp(batched.settled(sheet.surface.log.run(named, 0).jet))
            for k, a, b in zip(sheet.where, *(np.ravel(end) for end in mass), strict=True):
                lows[k] += Fraction(float(a))
                highs[k] += Fraction(min(float(b), 1.0))
    # the kernel meant is this one over its integral, which is as near to 1 as the slack
    off = Fraction(math.expm1(2 * engine.slack))
    return [min(v, most) * (1 - off) for v in lows], [min(v * (1 + off), most) for v in highs]


def _size(mechanism: Any, points: np.ndarray, event: OutcomeEvent) -> float:
    """Return about the largest log-density of an event that is far out, else 0."""
    finite = [(max(a, -1e9), min(b, 1e9)) for a, b in event.spans]
    near = [sorted((max(a, min(b, 0.0)), min(b, max(a, 0.0)))) for a, b in finite]
    parts = [np.linspace(a, b, 65) for a, b in (*finite, *near)]
    parts += [np.clip(points, a, b) for a, b in event.spans]
    ys = np.concatenate([*parts, np.zeros(0)])
    with np.errstate(all="ignore"):
        logs = np.broadcast_to(mechanism._logpdf(ys[None], points[:, None]), (len(points), len(ys)))
    top = float(np.max(logs, initial=-np.inf, where=np.isfinite(logs)))
    return top if -1e5 < top < _FAINT else 0.0


def _psi_1(engine: Any, rows: Excesses, level: Threshold) -> Bound:
    return _of_psi(engine, rows, "psi_1", level, rows.penalty)


def _psi_2(engine: Any, rows: Excesses, level: Threshold) -> Bound:
    if len(rows.points) == 1:
        return engine.bound(0.0, 0.0, units="probability")

    def largest(level: Threshold) -> tuple[float, ...]:
        found = [rows.excess(x, level) for x in range(len(rows.points))]
        return tuple(max(f[k] for f in found) for k in (0, 1))

    return _of_psi(engine, rows, "psi_2", level, largest)


def _proved(prove: Any) -> Any:
    """Return the ends that are proved within half of the time left."""
    with suppress(BudgetSpent), settings.part(2):
        return prove(_ROOM * settings.current().tol)
    return None


def _of_psi(engine: Any, rows: Excesses, quantity: str, level: Threshold, otherwise: Any) -> Bound:
    found = _proved(lambda room: event_proofs.psi(rows, quantity, level, room))
    if found is not None:
        return engine.bound(*found, units="probability")
    return engine.bound(*(min(v, 1.0) for v in otherwise(level)), units="probability")


def _event(engine: Any, rows: Excesses, delta: Fraction) -> Bound:
    if delta == 0:
        return engine.sup("pml")
    if len(rows.points) == 1:
        return engine.bound(0.0, 0.0)
    return _of_event(engine, rows, "event_maximal_leakage", delta)


def _envelope(engine: Any, rows: Excesses, delta: Fraction) -> Bound:
    if len(rows.points) == 1:
        return engine.bound(0.0, 0.0)
    return _of_event(engine, rows, "binary_envelope", delta)


def _halves(engine: Any, rows: Excesses) -> Bound:
    if len(rows.points) == 1:
        return engine.bound(0.0, 0.0)
    return _of_event(engine, rows, "both_halves", Fraction(1, 2))


def _of_event(engine: Any, rows: Excesses, quantity: str, delta: Fraction) -> Bound:
    found = _proved(lambda room: event_proofs.event(rows, quantity, delta, room))
    if found is not None:
        return engine.bound(*found)
    ends = rows.halves() if quantity == "both_halves" else rows.event(delta)
    if quantity == "binary_envelope" and 2 * delta > 1:
        ends = tuple(map(max, ends, rows.halves()))
    return _of_ratio(engine, *ends)


def _of_ratio(engine: Any, low: Fraction, high: Fraction) -> Bound:
    low, high = max(low, Fraction(1)), max(high, Fraction(1))
    return engine.bound(log_fraction(low)[0], log_fraction(high)[1])


_FIGURES: dict[str, Any] = {
    "psi_1": _psi_1,
    "psi_2": _psi_2,
    "event_maximal_leakage": _event,
    "binary_envelope": _envelope,
    "both_halves": _halves,
}
