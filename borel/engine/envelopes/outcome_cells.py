r"""Cells of outcomes for the envelope of finitely many secrets: countable and continuous outcomes.

A finite partition of the outcomes proves both ends. From below: the cell that Y falls in is a
post-processing of Y, so the programme of the cells' masses is at most the envelope's. From above:
the dual is an expectation over Y, bounded cell by cell from the masses and from the range of the
likelihood ratios within the cell (`envelope_programs.Programme`). The ends differ only by cells in
which the best secret of the dual changes: these are cut in two until the ends are near.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.envelopes.linear_programme import Programme, Spread
from borel.engine.problem.secret_and_kernel import log_graph
from borel.errors import NotEnclosed
from borel.numerics.intervals import batched, interpreter
from borel.numerics.intervals.rounding import TINY, U, sum_outward
from borel.numerics.jets import arithmetic
from borel.numerics.jets.interpreter import Program

if TYPE_CHECKING:
    from borel.numerics.intervals.batched import Box

_MOST_SECRETS = 32
_FIRST = 48
_FAR = 1e-13
_RTOL = 1e-12


class OutcomeCells:
    """Masses P(cell|x), P_Y(cell), and ranges of P(y|x) / P_Y(y), for finitely many secrets.

    Attributes
    ----------
    kernel, law : Box
        Ends of P(cell|x), (secrets, cells), and of P_Y(cell).
    ratio : Box
        Ends of P(y|x) / P_Y(y) over the outcomes of each cell.
    flat : ndarray
        Cells within which the ratios do not vary.
    middle : pair of arrays
        P(cell|x) and P_Y(cell) to solve with.
    """

    kernel: Box
    law: Box
    ratio: Box
    flat: np.ndarray
    middle: tuple[np.ndarray, np.ndarray]

    def programme(self, sign: int) -> Programme:
        """Return the programme of the cells."""
        low, high = self.ratio if sign > 0 else (-self.ratio[1], -self.ratio[0])
        spread = Spread(low, high, self.flat)
        return Programme(sign, self.kernel, self.law, middle=self.middle, spread=spread)

    def cut(self, loose: np.ndarray) -> bool:
        """Cut the loosest cells in two; return whether that was possible."""
        raise NotImplementedError


def mixture(prior: Box, kernel: Box) -> Box:
    """Enclose sum_x p_x P(.|x)."""
    parts = batched.multiply((prior[0][:, None], prior[1][:, None]), kernel)
    low, high = sum_outward(parts[0], parts[1], axis=0)
    return np.maximum(low, 0.0), high


def ratios(prior: Box, never: np.ndarray, gap: Any) -> Box:
    r"""Enclose k_x / sum_x' p_x' k_x' over cells, (secrets, cells).

    It is 1 / (p_x + sum over the others of p_x' k_x' / k_x), where k_x > 0. ``gap(x, others)``
    encloses log k_x' - log k_x; ``never`` marks cells where k_x is 0 throughout.
    """
    n = len(prior[0])
    low, high = np.empty(never.shape), np.empty(never.shape)
    for x in range(n):
        others = np.flatnonzero(np.arange(n) != x)
        with np.errstate(invalid="ignore", over="ignore"):
            least, most = batched.settled(gap(x, others))
            times = batched.exp((np.minimum(least, 709.0), most))
            weights = prior[0][others, None], prior[1][others, None]
            parts = batched.multiply(weights, times)
        rest = sum_outward(parts[0], parts[1], axis=0)
        total = np.maximum(rest[0], 0.0) + prior[0][x], rest[1] + prior[1][x]
        with np.errstate(divide="ignore"):
            low[x] = np.maximum((1 / total[1]) * (1 - 8 * U) - TINY, 0.0)
            high[x] = (1 / total[0]) * (1 + 8 * U) + TINY
    return np.where(never, 0.0, low), np.where(never, 0.0, high)


def ceilings(prior: Box) -> np.ndarray:
    """Return 1 / p_x from above: no ratio is larger, as p_x k_x <= f_Y."""
    with np.errstate(divide="ignore"):
        return (1 / prior[0]) * (1 + 4 * U)


class CountableCells(OutcomeCells):
    """A head of outcomes, one by one, and all others as one cell of little mass."""

    def __init__(self, engine: Any):
        head = engine._finite_prior
        if head is None:
            raise NotEnclosed("the envelope of a countable secret is not enclosed in this version")
        if len(head.points) > _MOST_SECRETS:
            raise NotEnclosed(f"the envelope of more than {_MOST_SECRETS} secrets over cells")
        charged = head.high > 0
        points = head.points[charged]
        prior = head.low[charged], head.high[charged]
        engine.law("pml")  # it chooses the head
        ys, whole = engine.head_of_outcomes()
        y = np.asarray(ys, float)[None, :]
        x = points[:, None]
        box = engine._evaluate(engine.mechanism.density, {"y": (y, y), "x": (x, x)})
        kernel = np.maximum(box.lower, 0.0), np.minimum(box.upper, 1.0)
        law = mixture(prior, kernel)
        live = law[1] > 0
        kernel = kernel[0][:, live], kernel[1][:, live]
        law = law[0][live], law[1][live]
        middle = (kernel[0] + kernel[1]) / 2, (law[0] + law[1]) / 2
        ratio = self._of_points(prior, kernel, law)
        flat = np.ones(len(law[0]), bool)
        if not whole:
            total = float(sum_outward(law[0], law[0])[0])
            left = max(0.0, 1.0 - total) + 2.0**-50
            one = np.full((len(points), 1), left)
            most = ceilings(prior)[:, None]
            kernel = (
                np.hstack([kernel[0], 0 * one]),
                np.hstack([kernel[1], np.minimum(most * left * (1 + 4 * U), 1.0)]),
            )
            law = np.append(law[0], 0.0), np.append(law[1], left)
            ratio = np.hstack([ratio[0], 0 * one]), np.hstack([ratio[1], most])
            middle = np.hstack([middle[0], one / 2]), np.append(middle[1], left / 2)
            flat = np.append(flat, False)
        self.kernel, self.law, self.ratio, self.flat, self.middle = kernel, law, ratio, flat, middle
        self.points = points

    @staticmethod
    def _of_points(prior: Box, kernel: Box, law: Box) -> Box:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            low = np.where(law[1] > 0, kernel[0] / law[1] * (1 - 4 * U), 0.0)
            high = np.where(kernel[1] > 0, kernel[1] / law[0] * (1 + 4 * U) + TINY, 0.0)
        return low, np.minimum(high, ceilings(prior)[:, None])

    def cut(self, loose: np.ndarray) -> bool:
        """Do nothing: outcomes cannot be cut, and the rest weighs little."""
        return False


class LineCells(OutcomeCells):
    """Intervals of a continuous outcome, and its atoms one by one."""

    def __init__(self, engine: Any):
        from borel.numerics.balls.expansion import product
        from borel.numerics.balls.interpreter import Prepared

        secret = engine.secret
        if secret.continuous or secret.rest or secret.dim > 1:
            raise NotEnclosed("the envelope of a continuous secret is not enclosed from above")
        if len(secret.atoms) > _MOST_SECRETS:
            raise NotEnclosed(f"the envelope of more than {_MOST_SECRETS} secrets over cells")
        self.engine = engine
        self.points = secret.atoms[:, 0]
        self.prior: Box = secret.weight_low, secret.weight_high
        self.graph = log_graph(engine.joint.mechanism.density)
        self._program = Program(self.graph)
        self._integrand = Prepared(product([(self.graph, True)]), variable="y")
        self._marks = sorted({*engine.joint.mechanism.breaks, *self.points.tolist()})
        edges = self._edges()
        self.low, self.high = np.array(edges[:-1]), np.array(edges[1:])
        self._masses = self._integrals(self.low, self.high)
        self._ranges = self._over(self.low, self.high)
        self._atoms = self._of_atoms()
        self._gather()

    def _edges(self) -> list[float]:
        """Cut the line at breaks and at the secrets, and evenly where the mass is."""
        line = self.engine.line
        inner = [m for m in self._marks if line.lower < m < line.upper]
        ends = [float(line.lower), float(line.upper)]
        start = inner or [e for e in ends if math.isfinite(e)] or [0.0]
        reach = [min(start), max(start)]
        for k, sign in enumerate((-1.0, 1.0)):
            if math.isfinite(ends[k]):
                reach[k] = ends[k]
                continue
            for power in range(-2, 60):
                place = start[-1 if k else 0] + sign * 2.0 ** (power / 2)
                reach[k] = place
                a, b = sorted((place, ends[k]))
                if float(self._integrals(np.array([a]), np.array([b]))[1].max()) <= _FAR:
                    break
        even = np.linspace(reach[0], reach[1], _FIRST + 1).tolist()
        return sorted({*ends, *even, *inner})

    def _integrals(self, low: np.ndarray, high: np.ndarray) -> Box:
        """Enclose P(cell|x) for intervals."""
        from borel.numerics.balls.integral import integrate

        out = np.empty((2, len(self.points), len(low)))
        for i, x in enumerate(self.points.tolist()):
            inputs = {"shift": 0.0, **({"x": x} if "x" in self.graph.inputs else {})}
            for j, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
                marks = [m for m in self._marks if a < m < b]
                found = integrate(
                    self._integrand, inputs, a, b, breaks=marks, rel_tol=_RTOL, boxes=100
                )
                out[:, i, j] = found.floats
        return np.maximum(out[0], 0.0), np.minimum(out[1], 1.0)

    def _over(self, low: np.ndarray, high: np.ndarray) -> Box:
        """Enclose the ratios over intervals."""
        n, centre = (
            len(self.points),
            np.array([_between(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]),
        )
        shape = n, len(low)
        value, slope, middle = (np.empty((2, *shape)) for _ in range(3))
        for i, x in enumerate(self.points.tolist()):
            at = np.full(len(low), x)
            named = {"x": arithmetic.constant(at, at)} if "x" in self.graph.inputs else {}
            y = arithmetic.variable(low, high, 1)
            around = self._program.run({**named, "y": y}, 1)
            here = self._program.run(
                {**named, "y": arithmetic.constant(centre, centre)}, 0, decisions=around.decisions
            )
            for out, box in (
                (value, arithmetic.entry(around.jet, 0)),
                (slope, arithmetic.entry(around.jet, 1)),
                (middle, arithmetic.entry(here.jet, 0)),
            ):
                out[:, i] = np.broadcast_to(np.array(box), (2, len(low)))
        bounded = np.isfinite(low) & np.isfinite(high)
        ends = batched.subtract(batched.point(low), batched.point(centre))
        step = ends[0], batched.subtract(batched.point(high), batched.point(centre))[1]

        def difference(a: np.ndarray, x: int, others: np.ndarray) -> Box:
            return batched.subtract((a[0][others], a[1][others]), (a[0][x][None], a[1][x][None]))

        def gap(x: int, others: np.ndarray) -> Box:
            plain = batched.settled(difference(value, x, others))
            lean = batched.multiply(batched.settled(difference(slope, x, others)), step)
            form = batched.settled(
                batched.add(batched.settled(difference(middle, x, others)), lean)
            )
            form = np.where(bounded, form[0], -np.inf), np.where(bounded, form[1], np.inf)
            return batched.meet(plain, form)

        found = ratios(self.prior, np.isneginf(value[1]), gap)
        return found[0], np.minimum(found[1], ceilings(self.prior)[:, None])

    def _of_atoms(self) -> tuple[Box, Box]:
        """Enclose P(atom|x) and the ratios at atoms."""
        engine, n = self.engine, len(self.points)
        low, high = np.zeros((n, 0)), np.zeros((n, 0))
        for atom in engine.atoms.tolist():
            graph = log_graph(engine.joint.mechanism.masses[atom])
            with np.errstate(all="ignore"):
                logs = interpreter.evaluate(graph, {"x": (self.points, self.points)})
            box = batched.exp(batched.settled(logs))
            low = np.hstack([low, np.broadcast_to(box[0], n)[:, None]])
            high = np.hstack([high, np.broadcast_to(box[1], n)[:, None]])
        kernel = np.maximum(low, 0.0), np.minimum(high, 1.0)
        law = mixture(self.prior, kernel)
        return kernel, CountableCells._of_points(self.prior, kernel, law)

    def _gather(self) -> None:
        """Put intervals and atoms together; cells of no mass are left out."""
        kernel = tuple(np.hstack([a, b]) for a, b in zip(self._masses, self._atoms[0], strict=True))
        ratio = tuple(np.hstack([a, b]) for a, b in zip(self._ranges, self._atoms[1], strict=True))
        law = mixture(self.prior, (kernel[0], kernel[1]))
        count, line = len(law[0]), len(self.low)
        self._live = np.flatnonzero(law[1] > 0)
        live = self._live
        self.kernel = kernel[0][:, live], kernel[1][:, live]
        self.ratio = ratio[0][:, live], ratio[1][:, live]
        self.law = law[0][live], law[1][live]
        self.middle = (
            (self.kernel[0] + self.kernel[1]) / 2,
            (self.law[0] + self.law[1]) / 2,
        )
        self.flat = (np.arange(count) >= line)[live]

    def cut(self, loose: np.ndarray) -> bool:
        """Cut the loosest intervals in two."""
        line = len(self.low)
        own = np.zeros(line + self._atoms[0][0].shape[1])
        own[self._live] = loose
        own = own[:line]
        size = np.maximum(np.abs(self.low), np.abs(self.high))
        with np.errstate(invalid="ignore"):
            wide = ~((self.high - self.low) <= 2.0**-44 * size)
        own = np.where(wide, own, 0.0)
        order = np.argsort(own)[::-1][:64]
        chosen = order[own[order] > 1e-3 * own.max(initial=0.0)]
        if not len(chosen) or not own.max(initial=0.0) > 0:
            return False
        a, b = self.low[chosen], self.high[chosen]
        middle = np.array([_between(p, q) for p, q in zip(a.tolist(), b.tolist(), strict=True)])
        keep = np.setdiff1d(np.arange(line), chosen)
        low, high = np.concatenate([a, middle]), np.concatenate([middle, b])
        masses, ranges = self._integrals(low, high), self._over(low, high)
        self.low = np.concatenate([self.low[keep], low])
        self.high = np.concatenate([self.high[keep], high])
        self._masses = _joined(self._masses, keep, masses)
        self._ranges = _joined(self._ranges, keep, ranges)
        self._gather()
        return True


def _joined(old: Box, keep: np.ndarray, new: Box) -> Box:
    low, high = (np.hstack([a[:, keep], b]) for a, b in zip(old, new, strict=True))
    return low, high


def _between(a: float, b: float) -> float:
    """Return a place to cut an interval at; an unbounded one further out by its own distance."""
    if math.isinf(a):
        return b - max(abs(b), 1.0)
    if math.isinf(b):
        return a + max(abs(a), 1.0)
    return a + (b - a) / 2


def cells_of(engine: Any) -> OutcomeCells:
    """Return the cells of a joint whose secret is finite.

    Raises
    ------
    NotEnclosed
        Another secret, too many of them, or a kernel that intervals do not know.
    """
    from borel.engine.continuous.outcome_engine import CertifiedOutcomes
    from borel.engine.countable.engine import CountableEngine

    if isinstance(engine, CountableEngine):
        return CountableCells(engine)
    if isinstance(engine, CertifiedOutcomes):
        return LineCells(engine)
    raise NotEnclosed(f"no cells of outcomes for {engine.joint.outcome!r}")
