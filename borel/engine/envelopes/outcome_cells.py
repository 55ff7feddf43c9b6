r"""Cells of outcomes for the envelope of finitely many secrets: countable and continuous outcomes.

A finite partition of the outcomes proves both ends. From below: the cell that Y falls in is a
post-processing of Y, so the programme of the cells' masses is at most the envelope's. From above:
the dual is an expectation over Y, bounded cell by cell from the masses and from the range of the
likelihood ratios within the cell (`linear_programme.Programme`). The ends differ only by cells in
which the best secret of the dual changes: these are cut in two until the ends are near.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.countable import means_beyond_head
from borel.engine.envelopes.linear_programme import Programme, Spread
from borel.engine.kernels import leakage_far_out
from borel.engine.kernels.leakage_on_boxes import charged
from borel.engine.kernels.marginal_on_boxes import ORDER
from borel.engine.kernels.rows_on_boxes import rows_on_boxes, slopes_on_boxes
from borel.engine.kernels.settling_counts import settling
from borel.engine.kernels.unbounded_secrets import JUMPS
from borel.engine.problem.secret_and_kernel import far_points
from borel.errors import NotEnclosed
from borel.numerics.graphs import float64
from borel.numerics.intervals import batched
from borel.numerics.intervals.rounding import TINY, U, sum_outward
from borel.numerics.jets import arithmetic

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.intervals.batched import Box

_MOST_SECRETS = 32
_FIRST, _FIRST_BOXES = 64, 32
_MOST_CUT, _MOST_BOXES, _MOST_SHARED, _MOST_CELLS, _SOME = 128, 256, 16, 4000, 1e-6
_FAR, _THIN, _LOOSE, _ROUNDS = 1e-15, 1e-4, 1e-12, 40
_RTOL = 1e-12
_HEAD, _PIECES = 128, 32
_MOST_POINTS, _FIRST_PARTS = 20, 4


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
    far: tuple[float, float, float]
    points: Any

    def programmes(self, sign: int) -> tuple[Programme, Programme]:
        """Return the programme that bounds the figure from below, and the one from above."""
        low, high = self.ratio if sign > 0 else (-self.ratio[1], -self.ratio[0])
        spread = Spread(low, high, self.flat)
        one = Programme(sign, self.kernel, self.law, middle=self.middle, spread=spread)
        return one, one

    def cut(self, programme: Programme, price: np.ndarray, theta: float, used: np.ndarray) -> bool:
        """Cut the cells that leave most open; return whether that was possible.

        They do at the prices of a level, from above, and at the shares in use, from below.
        """
        raise NotImplementedError

    def halve(self, loose: np.ndarray) -> bool:
        """Cut cells in two that leave open how much is said; return whether that was possible."""
        return False


def mixture(prior: Box, kernel: Box) -> Box:
    """Enclose sum_x p_x P(.|x)."""
    parts = batched.multiply((prior[0][:, None], prior[1][:, None]), kernel)
    low, high = sum_outward(parts[0], parts[1], axis=0)
    return np.maximum(low, 0.0), high


def ceilings(prior: Box) -> np.ndarray:
    """Return 1 / p_x from above: no ratio is larger, as p_x k_x <= f_Y."""
    with np.errstate(divide="ignore", over="ignore"):
        return (1 / prior[0]) * (1 + 4 * U)


class CountableCells(OutcomeCells):
    """A head of outcomes, one by one, and all others as one cell of little mass."""

    def __init__(self, engine: Any):
        head = engine._finite_prior
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
        self.far = 0.0, 0.0, 0.0  # the last cell holds it
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

    def cut(self, programme: Programme, price: np.ndarray, theta: float, used: np.ndarray) -> bool:
        """Do nothing: outcomes cannot be cut, and the rest weighs little."""
        return False


class HeadCells(OutcomeCells):
    """A head of outcomes, one by one, of a countable secret: a head of secrets, and all others.

    The others count from above with the largest of them at each outcome.
    """

    def __init__(self, engine: Any):
        engine.law("pml")  # it chooses the head
        ys, whole = engine.head_of_outcomes()
        head = engine._head(_HEAD)
        law, _, _ = engine.column(np.asarray(ys))
        y, sure, possible = np.asarray(ys, float), head.low > 0, head.high > 0

        def rows(low: np.ndarray, high: np.ndarray) -> Box:
            x = low[:, None], high[:, None]
            at = {"y": (y[None, :], y[None, :]), "x": x}
            with np.errstate(over="ignore", invalid="ignore"):
                found = engine._evaluate(engine.mechanism.density, at)
            shape = len(low), len(y)
            return np.broadcast_to(found.lower, shape), np.broadcast_to(found.upper, shape)

        points = np.asarray(head.points, float)[sure]
        points = np.append(points, far_points(engine.prior))
        own = rows(points, points)
        ends = [_harmonic(*pair) for pair in zip(*head.boxes, strict=True)]
        low, high = (np.concatenate([points, *(pair[k] for pair in ends)]) for k in (0, 1))
        others = head.points[possible & ~sure]
        over = rows(np.append(low, others), np.append(high, others))
        live = law.upper > 0
        self.kernel = own[0][:, live], np.minimum(own[1][:, live], 1.0)
        self.over = over[0][:, live], np.minimum(over[1][:, live], 1.0)
        self.law = law.lower[live], np.minimum(law.upper[live], 1.0)
        if not len(self.kernel[0]) or not len(self.law[0]):
            raise NotEnclosed("no secret or outcome is known to have mass")
        self.far = 0.0, 0.0, 0.0
        if not whole:
            left = max(0.0, 1.0 - float(sum_outward(*self.law)[0]) + 2.0**-50)
            self.far = far_outcomes(engine, y, left)

    def programmes(self, sign: int) -> tuple[Programme, Programme]:
        """Return the programme of the head of secrets, and that of all secrets."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            low = np.maximum(self.over[0] / self.law[1] * (1 - 4 * U) - TINY, 0.0)
            high = np.where(self.over[1] > 0, self.over[1] / self.law[0] * (1 + 4 * U) + TINY, 0.0)
        low, high = (low, high) if sign > 0 else (-high, -low)
        spread = Spread(low, high, np.ones(len(self.law[0]), bool), self.far)
        law = (self.law[0] + self.law[1]) / 2
        lower = Programme(sign, self.kernel, self.law, whole=not self.far[0] > 0)
        middle = self.over[1 if sign > 0 else 0], law
        return lower, Programme(sign, self.over, self.law, middle=middle, spread=spread)

    def cut(self, programme: Programme, price: np.ndarray, theta: float, used: np.ndarray) -> bool:
        """Do nothing: what is beyond the heads weighs little, or cannot be cut."""
        return False


def _harmonic(low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Cut an unbounded box of secrets where 1 / x is even; another one stays as it is."""
    if math.isfinite(low) == math.isfinite(high):
        return np.array([low]), np.array([high])
    end, sign = (low, 1.0) if math.isfinite(low) else (high, -1.0)
    if not sign * end > 0:
        return np.array([low]), np.array([high])
    cuts = end / (1 - np.arange(_PIECES) / _PIECES)
    cuts = np.append(cuts, sign * math.inf)
    return (cuts[:-1], cuts[1:]) if sign > 0 else (cuts[:0:-1], cuts[-2::-1])


def far_outcomes(engine: Any, ys: np.ndarray, mass: float) -> tuple[float, float, float]:
    """Bound P_Y, the integral of the largest density and its ratio beyond a head of outcomes."""
    known, top = engine.sup("pml"), math.inf
    if known.proved and known.upper < 700:
        top = math.exp(known.upper) * (1 + 2.0**-40)
    most = float(means_beyond_head.beyond(engine, "pml", "exp", ys))
    return mass, min(top * mass, most) * (1 + 4 * U), top


class KeptTable:
    """What was computed of pairs of boxes, of secrets and of outcomes: new pairs are computed."""

    def __init__(self):
        self.x = self.y = np.zeros(0, complex)
        self.found = np.zeros((1, 0, 0))

    def over(self, x: Box, y: Box, compute: Callable[[Box, np.ndarray], Any]) -> np.ndarray:
        """Return numbers (any, secrets, outcomes) for all pairs of boxes.

        Parameters
        ----------
        x, y : Box
            Ends of the boxes.
        compute : callable
            Of boxes of secrets, and of the indices of some of y: the numbers.
        """
        rows, columns = _keys(x), _keys(y)
        at, place = _places(self.x, rows), _places(self.y, columns)
        old, fresh = np.flatnonzero(place >= 0), np.flatnonzero(place < 0)
        added = np.flatnonzero(at < 0)
        parts = [(np.arange(len(rows)), fresh), (added, old)]
        known = [(i, j, compute((x[0][i], x[1][i]), j)) for i, j in parts if len(i) and len(j)]
        count = len(known[0][2]) if known else len(self.found)
        out, kept = np.empty((count, len(rows), len(columns))), np.flatnonzero(at >= 0)
        if len(kept) and len(old):
            out[:, kept[:, None], old] = self.found[:, at[kept][:, None], place[old]]
        for i, j, numbers in known:
            out[:, i[:, None], j] = numbers
        self.x, self.y, self.found = rows, columns, out
        return out


def _keys(boxes: Box) -> np.ndarray:
    """Return a number for each box that no other box has."""
    out = np.array(boxes[0], complex)
    out.imag = boxes[1]  # low + 1j * high would be no number where an end is infinite
    return out


def _places(old: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Return where keys are in an array, -1 where they are not."""
    if not len(old):
        return np.full(len(keys), -1)
    order = np.argsort(old)
    at = order[np.minimum(np.searchsorted(old, keys, sorter=order), len(old) - 1)]
    return np.where(old[at] == keys, at, -1)


class LineCells(OutcomeCells):
    """Intervals of a continuous outcome, single outcomes of positive mass, and what is far out.

    The secrets of a density are cut into boxes. From above, a box counts with the largest of its
    secrets at each outcome. From below, points count: those of a finite secret, and the ends of
    boxes. A point has no mass. But if it is in the support of the prior, and the kernel continuous
    there, what is post-processed to leak of it leaks nearly as much of the secrets beside it, which
    have mass, and in the limit as much. Cells where that is not known count for nothing.

    Attributes
    ----------
    boxes : Box
        The boxes of secrets, and atoms as boxes of one point.
    points : Box
        The points; where the kernel jumps, small boxes of positive mass.
    sure : ndarray (points, cells)
        Where points may be used.
    extremes : dict
        For each sign: ends of the integral over a cell of the largest (1) or smallest (-1) density
        of a box, and of its ratio to f_Y; (boxes, cells).
    far : tuple of float
        Of outcomes far out, at most: P_Y, the integral of the largest density, and its ratio.
    """

    def __init__(self, engine: Any):
        self.engine, self.secret, self.surface = engine, engine.secret, engine.surface
        self.boxed = self.secret.continuous
        self._require()
        self.jumps = bool(JUMPS & engine.surface.graph.operations)
        self._kept = defaultdict(KeptTable)
        self._secrets(*self._first_boxes())
        self.on_line = engine.bands is not None
        if self.on_line:
            self.ys, self.whole = engine.atoms, True
            self._cut_line(np.array(self._edges()))
        else:
            engine.law("pml")  # it chooses the head
            self.ys, self.whole = engine.head_of_outcomes()
            self.low = self.high = np.zeros(0)
        self.ys = np.asarray(self.ys, float)
        self._evaluate()

    def _cut_line(self, edges: np.ndarray) -> None:
        """Cut the line until P_Y of the intervals is known well, or they are many."""
        until = settings.search_deadline()
        for _ in range(_ROUNDS):
            self.low, self.high = edges[:-1], edges[1:]
            law = self._law()[0]
            loose = law[1] - law[0] > _LOOSE
            if not loose.any() or len(edges) + loose.sum() > _MOST_CELLS or settings.late(until):
                break
            edges = np.unique([*edges, *(edges[:-1] + (edges[1:] - edges[:-1]) / 2)[loose]])

    # -- secrets ----------------------------------------------------------------------------------

    def _require(self) -> None:
        """Refuse other secrets."""
        if self.secret.rest or self.secret.dim > 1:
            raise NotEnclosed(f"the envelope of secrets on {self.engine.joint.secret!r} over cells")
        if len(self.secret.atoms) > _MOST_SECRETS:
            raise NotEnclosed(f"the envelope of more than {_MOST_SECRETS} secrets over cells")

    def _atoms(self) -> Box:
        """Return the atoms, as boxes."""
        return (self.secret.atoms[:, 0],) * 2

    def _have_mass(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return where boxes of secrets certainly have mass."""
        return charged(self.surface, low[:, None], high[:, None])

    def _logs(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return about log f(y|x)."""
        return self.engine.joint.mechanism._logpdf(y, x)

    def _first_boxes(self) -> tuple[np.ndarray, np.ndarray]:
        """Cut the interval of a density evenly, and at its breaks; leave out where it is 0."""
        secret = self.secret
        if not secret.continuous:
            return np.zeros(0), np.zeros(0)
        ends = float(secret.lower[0]), float(secret.upper[0])
        if not np.isfinite(ends).all():
            raise NotEnclosed("the envelope of a secret on an unbounded line over cells")
        edges = np.unique([*np.linspace(*ends, _FIRST_BOXES + 1), *secret.breaks])
        edges = edges[(edges >= ends[0]) & (edges <= ends[1])]
        low, high = edges[:-1], edges[1:]
        assert secret.program is not None
        found = arithmetic.entry(secret.program.run({"x": (low[None], high[None])}, 0).jet, 0)
        some = ~np.broadcast_to(found[1] == -np.inf, low.shape)  # not known is not 0
        return low[some], high[some]

    def _secrets(self, low: np.ndarray, high: np.ndarray) -> None:
        """Take boxes of the density, whose ends are points, and the atoms."""
        atoms = self._atoms()
        ends, nodes = (low, high), np.unique([*low, *high])
        own = np.arange(len(atoms[0])) + len(nodes)
        self.left, self.right = (np.append(np.searchsorted(nodes, end), own) for end in ends)
        self.count = len(low)
        self.boxes = np.append(low, atoms[0]), np.append(high, atoms[1])
        # a box on the side of each point where the density is
        from_left = np.isin(nodes, low)
        width = 2.0**-40 * np.maximum(np.abs(nodes), np.ptp(nodes) if len(nodes) else 0.0)
        beside = (
            np.where(from_left, nodes, nodes - width),
            np.where(from_left, nodes + width, nodes),
        )
        some = np.ones(0, bool)
        if len(nodes):
            some = self._have_mass(*beside)
        self.charged = np.append(some, np.ones(len(atoms[0]), bool))
        self.at = np.append(nodes, atoms[0]), np.append(nodes, atoms[1])
        self.beside = np.append(beside[0], atoms[0]), np.append(beside[1], atoms[1])
        self.points = self.beside if self.jumps else self.at
        around = nodes - width, nodes + width
        if self.secret.continuous:
            around = (
                np.maximum(around[0], self.secret.lower[0]),
                np.minimum(around[1], self.secret.upper[0]),
            )
        self.around = around

    # -- outcomes ---------------------------------------------------------------------------------

    def _edges(self) -> list[float]:
        """Cut the line at marks, evenly where the mass is, and further out by distance."""
        line, x = self.engine.line, np.unique([*self.boxes[0], *self.boxes[1]])
        ends = float(line.lower), float(line.upper)
        marks = {*self.engine.joint.mechanism.breaks, *x.tolist()}
        inner = sorted(m for m in marks if ends[0] < m < ends[1])
        start = inner or [e for e in ends if math.isfinite(e)] or [0.0]
        few = x[:: max(1, len(x) // 8)]
        out, core = [*inner], [min(start), max(start)]
        for k, sign in enumerate((-1.0, 1.0)):
            if math.isfinite(ends[k]):
                out.append(ends[k])
                core[k] = ends[k]
                continue
            for power in range(-4, 100):
                distance = 2.0 ** (power / 2)
                place = start[-1 if k else 0] + sign * distance
                with np.errstate(all="ignore"):
                    logs = self._logs(np.full(len(few), place), few)
                mass = float(np.nan_to_num(np.exp(np.max(logs)), nan=0.0)) * distance
                out.append(place)
                core[k] = place if mass > _THIN else core[k]
                if mass <= _FAR:
                    break
        return sorted({*out, *np.linspace(core[0], core[1], _FIRST + 1).tolist()})

    def _law(self) -> tuple[Box, np.ndarray, tuple[Box, Box]]:
        """Enclose P_Y of the intervals; and a size of log f, and log f_Y as polynomials."""
        few = self.points[0][:: max(1, len(self.points[0]) // 8)]

        def compute(_: Box, rows: np.ndarray) -> np.ndarray:
            low, high = self.low[rows], self.high[rows]
            middle = low + (high - low) / 2
            with np.errstate(all="ignore"):
                logs = self._logs(middle[None, :], few[:, None])
                shift = np.max(np.broadcast_to(logs, (len(few), len(middle))), axis=0)
            shift = np.where(np.isfinite(shift), shift, 0.0)
            law, _, logs = self.engine.bands.law(low, high, shift, _RTOL, until)
            return np.concatenate([law, [shift], *logs[0], *logs[1]])[:, None]

        until = settings.search_deadline()
        nothing = np.zeros(1), np.zeros(1)
        found = self._kept["law"].over(nothing, (self.low, self.high), compute)[:, 0]
        inner, outer = found[3 : 3 + 2 * ORDER], found[3 + 2 * ORDER :]
        logs = (inner[:ORDER], inner[ORDER:]), (outer[: ORDER + 1], outer[ORDER + 1 :])
        return (found[0], found[1]), found[2], logs

    def _rows(self, name: str, x: Box, shift: np.ndarray, logs: tuple[Box, Box]) -> tuple[Box, Box]:
        """Enclose masses and ratios of points or of boxes of secrets over the intervals."""

        def compute(x: Box, rows: np.ndarray) -> np.ndarray:
            y = self.low[rows], self.high[rows]
            inner, outer = ((part[0][:, rows], part[1][:, rows]) for part in logs)
            found = rows_on_boxes(self.surface, x, y, shift[rows], (inner, outer))
            return np.array(found).reshape(4, len(x[0]), len(rows))

        found = self._kept[name].over(x, (self.low, self.high), compute)
        return (found[0], found[1]), (found[2], found[3])

    def _slopes(self, name: str, x: Box) -> tuple[Box, Box]:
        """Enclose log f, and its slope in the secret, on boxes of secrets over the intervals."""

        def compute(x: Box, rows: np.ndarray) -> np.ndarray:
            found = slopes_on_boxes(self.surface, x, (self.low[rows], self.high[rows]))
            return np.array(found).reshape(4, len(x[0]), len(rows))

        found = self._kept[name].over(x, (self.low, self.high), compute)
        return (found[0], found[1]), (found[2], found[3])

    def _evaluate(self) -> None:
        """Enclose all that is known of the cells there are."""
        n = len(self.points[0])
        if not self.on_line:
            none = np.zeros((n, 0)), np.zeros((n, 0))
            of_boxes = np.zeros((len(self.boxes[0]), 0)), np.zeros((len(self.boxes[0]), 0))
            sides = (of_boxes, of_boxes), (of_boxes, of_boxes)
            self._gather((self.low, self.high), (none, none), *sides, np.zeros((n, 0), bool))
            return
        law, shift, logs = self._law()
        rows = self._rows("points", self.points, shift, logs)
        sure = np.broadcast_to(self.charged[:, None], rows[0][0].shape)
        most, least = rows, rows
        if self.boxed:
            whole = self._rows("boxes", self.boxes, shift, logs)
            slope = self._slopes("boxes slopes", self.boxes)[1]
            most, least = self._extremes(rows, whole, slope, self.jumps)
            if not self.jumps:  # where log f is a finite number at and beside it, it is continuous
                near = self._slopes("around", self.around)[0]
                sure = sure.copy()  # atoms have masses
                sure[: len(near[0])] &= np.isfinite(near[0]) & np.isfinite(near[1])
        self._gather(law, rows, most, least, sure)

    def _extremes(self, rows: Any, whole: Any, slope: Box, jumps: bool) -> tuple[Any, Any]:
        """Return the largest and the smallest of each box, at an end of those that rise or fall."""
        if jumps:
            return whole, whole
        up, down = slope[0] >= 0, slope[1] <= 0

        def towards(first: np.ndarray, second: np.ndarray) -> Any:
            pairs = zip(rows, whole, strict=True)
            return [
                tuple(
                    np.where(first, of[k][self.right], np.where(second, of[k][self.left], all_[k]))
                    for k in (0, 1)
                )
                for of, all_ in pairs
            ]

        return towards(up, down), towards(down, up)

    def _gather(self, law: Box, rows: Any, most: Any, least: Any, sure: np.ndarray) -> None:
        """Put intervals and atoms together, and bound what is beyond them."""
        atoms, points, *boxes = self._at_outcomes()
        whole = np.append(law[0], atoms[0]), np.append(law[1], atoms[1])
        self.live = live = np.flatnonzero(whole[1] > 0)
        self.law = whole[0][live], np.minimum(whole[1][live], 1.0)
        self.flat = live >= len(self.low)

        def joined(of: Any, others: Any) -> list[Box]:
            pairs = zip(of, others, strict=True)
            return [
                (np.hstack([a[0], b[0]])[:, live], np.hstack([a[1], b[1]])[:, live])
                for a, b in pairs
            ]

        self.kernel, self.ratio = joined(rows, points)
        self.extremes = {1: joined(most, boxes[0]), -1: joined(least, boxes[1])}
        on_atoms = np.broadcast_to(self.charged[:, None], points[0][0].shape)
        self.sure = np.hstack([sure, on_atoms])[:, live]
        self.kernel = (
            np.where(self.sure, self.kernel[0], 0.0),
            np.where(self.sure, np.minimum(self.kernel[1], 1.0), 1.0),
        )
        known = float(sum_outward(*self.law)[0])
        self.far = self._beyond(max(0.0, 1.0 - known + 2.0**-50))
        if not self.boxed:
            top = ceilings((self.secret.weight_low, self.secret.weight_high))[:, None]
            self.ratio = self.ratio[0], np.minimum(self.ratio[1], top)

    def _at_outcomes(self) -> tuple[Box, Any, Any, Any]:
        """Enclose the law of single outcomes; masses and ratios of points, and extremes of boxes.

        Points of a density are small boxes of positive mass here.
        """
        engine, ys = self.engine, self.ys
        law = engine.log_marginal_box(ys) if len(ys) else (np.zeros(0), np.zeros(0))
        shapes = [(2, len(x[0]), len(ys)) for x in (self.points, self.boxes, self.boxes)]
        logs = [np.zeros(shape) for shape in shapes]
        for sheet in engine._sheets(ys) if len(ys) else ():
            y = arithmetic.constant(sheet.y[None], sheet.y[None])

            def run(x: Box, order: int, k: int, sheet=sheet, y=y) -> Box:
                x = x[0][:, None], x[1][:, None]
                named = arithmetic.variable(*x, 1) if order else arithmetic.constant(*x)
                found = sheet.surface.log.run(sheet.surface.inputs([named], y), order).jet
                shape = len(x[0]), len(sheet.y)
                return arithmetic.entry(arithmetic.padded(found, order + 1, shape), k)

            own = [run(self.beside, 0, 0)]
            jumps = bool(JUMPS & sheet.surface.graph.operations) or not self.secret.continuous
            ends, slope = [run(self.at, 0, 0)], run(self.boxes, 1, 1)
            most, least = self._extremes(ends, [run(self.boxes, 0, 0)], slope, jumps)
            for out, found in zip(logs, (own[0], most[0], least[0]), strict=True):
                out[:, :, sheet.where] = np.array(found)
        found = []
        for low, high in logs:
            gap = batched.settled(batched.subtract((low, high), (law[0][None], law[1][None])))
            found.append([batched.exp((low, high)), batched.exp(gap)])
        return batched.exp(law), *found

    def _beyond(self, mass: float) -> tuple[float, float, float]:
        """Bound P_Y, the integral of the largest density and its ratio beyond the cells."""
        if not self.on_line:
            if self.whole:
                return 0.0, 0.0, 0.0
            return far_outcomes(self.engine, self.ys, mass)
        line, total, worst = self.engine.line, 0.0, 0.0
        sides = (line.lower, self.low.min()), (self.high.max(), line.upper)
        sides = [(a, b) for a, b in sides if a < b]
        if not sides:
            return 0.0, 0.0, 0.0
        if not self.boxed:
            top = float(ceilings((self.secret.weight_low, self.secret.weight_high)).max())
            return mass, mass * top * (1 + 4 * U), top
        for a, b in sides:
            top = leakage_far_out.leakage(self.engine.surface, "pml", a, b)[1] + self.secret.miss
            top = math.exp(top) * (1 + 2.0**-40) if top < 700 else math.inf
            bounds = (float(one.bounds("pml", a, b)[2]) for one in self.engine.far_means)
            total += min(top * mass * (1 + 4 * U), *bounds)
            worst = max(worst, top)
        return mass, total * (1 + 4 * U), worst

    def programmes(self, sign: int) -> tuple[Programme, Programme]:
        """Return the programme of the points, and that of the boxes."""
        kernel, law = ((a + b) / 2 for a, b in (self.kernel, self.law))
        middle = np.where(self.sure, kernel, self.kernel[0 if sign > 0 else 1]), law
        whole = not self.far[0] > 0
        if not self.boxed:
            low, high = self.ratio if sign > 0 else batched.negative(self.ratio)
            spread = Spread(low, high, self.flat, self.far)
            one = Programme(sign, self.kernel, self.law, middle=middle, spread=spread, whole=whole)
            return one, one
        lower = Programme(sign, self.kernel, self.law, middle=middle, whole=whole)
        over, ratio = self.extremes[sign]
        low, high = ratio if sign > 0 else batched.negative(ratio)
        spread = Spread(low, high, self.flat, self.far)
        middle = np.nan_to_num(over[1 if sign > 0 else 0], posinf=1.0), law
        return lower, Programme(sign, over, self.law, middle=middle, spread=spread)

    def cut(self, programme: Programme, price: np.ndarray, theta: float, used: np.ndarray) -> bool:
        """Cut the intervals and the boxes over which much varies, and intervals that are shared."""
        loose = np.zeros(len(self.low) + len(self.ys))
        assert programme.spread is not None
        endless = np.isinf(programme.spread.high).any(axis=0)
        if math.isfinite(theta):
            loose[self.live] = programme.looseness(price, theta)
        else:
            loose[self.live] = np.where(endless, programme.q_high, 0.0)
        total = used.sum(axis=0)
        shared = ((used > _SOME).sum(axis=0) > 1) | ((total > _SOME) & (total < 1 - _SOME))
        fine = np.zeros(len(loose), bool)
        fine[self.live] = shared
        loose, fine = loose[: len(self.low)], fine[: len(self.low)]
        wide, chosen = self._wide(), self._worst(loose)
        fine = np.flatnonzero(fine & wide)
        fine = fine[np.argsort(self.high[fine] - self.low[fine])[::-1][:_MOST_SHARED]]
        by_box = self._loose_boxes(programme, price, theta) if math.isfinite(theta) else loose[:0]
        boxes = np.flatnonzero(by_box > 0.05 * by_box.max(initial=0.0))
        if self.count + len(boxes) > _MOST_BOXES or by_box.sum() < 0.1 * loose.sum():
            boxes = boxes[:0]
        if not len(chosen) and not len(boxes) and not len(fine):
            return False
        if len(boxes):
            low, high = (end[: self.count] for end in self.boxes)
            middle = low[boxes] + (high[boxes] - low[boxes]) / 2
            self._secrets(np.sort([*low, *middle]), np.sort([*high, *middle]))
        if self.on_line:
            cuts = ((chosen, 0.5), *((fine, k / 8) for k in range(1, 8)))
            parts = [self.low[j] + (self.high[j] - self.low[j]) * part for j, part in cuts]
            edges = np.unique(np.concatenate([self.low, self.high, *parts]))
            self.low, self.high = edges[:-1], edges[1:]
        self._evaluate()
        return True

    def _wide(self) -> np.ndarray:
        """Return the intervals that can be cut."""
        size = np.maximum(np.abs(self.low), np.abs(self.high))
        return (self.high - self.low) > 2.0**-44 * size

    def _worst(self, loose: np.ndarray) -> np.ndarray:
        """Return the intervals that leave most open."""
        order = np.argsort(np.where(self._wide(), loose, 0.0))[::-1][:_MOST_CUT]
        return order[loose[order] > 0.05 * loose.max(initial=0.0)]

    def halve(self, loose: np.ndarray) -> bool:
        """Cut intervals in two that leave open how much is said."""
        every = np.zeros(len(self.low) + len(self.ys))
        every[self.live] = loose
        chosen = self._worst(every[: len(self.low)])
        if not self.on_line or not len(chosen):
            return False
        middle = self.low[chosen] + (self.high[chosen] - self.low[chosen]) / 2
        edges = np.unique(np.concatenate([self.low, self.high, middle]))
        self.low, self.high = edges[:-1], edges[1:]
        self._evaluate()
        return True

    def _loose_boxes(self, programme: Programme, price: np.ndarray, theta: float) -> np.ndarray:
        """Return how much the variation within each box of the density adds to the dual."""
        if not self.count:
            return np.zeros(0)
        over = self.extremes[programme.sign][0]
        price = programme.stretched(price, theta)[:, None]
        terms = (1 - price * theta) * programme.q + price * programme.g
        best = terms.argmax(axis=0)
        with np.errstate(invalid="ignore"):
            extra = price * (over[1] - over[0])
        extra = np.where((np.arange(len(terms))[:, None] == best) & (terms > 0), extra, 0.0)
        return np.nan_to_num(extra[: self.count], posinf=1.0).sum(axis=1)


class NumberCells(LineCells):
    """Cells of a countable secret that a kernel reads through a number that settles down.

    The likeliest counts are points, and so are those far out. The numbers of all others are in
    intervals, boxes that count from above with the largest density at each outcome.
    """

    def _require(self) -> None:
        """Take the numbers of the secrets; refuse others, and outcomes of positive mass."""
        numbers, x = settling(self.surface), self.secret.atoms[:, 0]
        if numbers is None or len(self.engine.atoms) or self.engine.bands is None:
            raise NotEnclosed(f"the envelope of secrets on {self.engine.joint.secret!r} over cells")
        likely = np.argsort(-self.secret.weight_high, kind="stable")[:_MOST_POINTS]
        ends = float(x[likely].min()), float(x[likely].max())
        inside = (ends[0] <= x) & (x <= ends[1])
        rest = [*zip(self.secret.rest, numbers.rest, strict=True)]
        if inside.sum() > _MOST_SECRETS or any(a <= ends[1] and b >= ends[0] for (a, b), _ in rest):
            raise NotEnclosed("the envelope of counts that are apart from each other, over cells")
        others = [*((v, v) for v in x[~inside]), *self.secret.rest]
        at = [*zip(*(end[~inside] for end in numbers.atoms), strict=True), *numbers.rest]
        hulls = []
        for beyond in (lambda box: box[1] < ends[0], lambda box: box[0] > ends[1]):
            some = [pair for box, pair in zip(others, at, strict=True) if beyond(box)]
            if some:
                hulls.append((min(a for a, _ in some), max(b for _, b in some)))
        chosen = inside | (self.secret.weight_high == 0)
        self.surface, self.boxed = numbers.surface, True
        self._places = numbers.atoms[0][chosen], numbers.atoms[1][chosen]
        self._hulls = sorted((a, b if a < b else math.nextafter(b, math.inf)) for a, b in hulls)

    def _atoms(self) -> Box:
        """Return the numbers of the points."""
        return self._places

    def _have_mass(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return nothing: an end of an interval of numbers need not be one of a count."""
        return np.zeros(len(low), bool)

    def _logs(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return about log f at a number."""
        return float64.evaluate(self.surface.graph, {"y": y, "x": x})

    def _first_boxes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the intervals, which may overlap, cut evenly."""
        cuts = [np.linspace(a, b, _FIRST_PARTS + 1) for a, b in self._hulls]
        low, high = (np.concatenate([c[part] for c in cuts]) for part in (np.s_[:-1], np.s_[1:]))
        return low, high


def cells_of(engine: Any) -> OutcomeCells:
    """Return the cells of a joint.

    Raises
    ------
    NotEnclosed
        Another secret, too many of them, or a kernel that intervals do not know.
    """
    from borel.engine.continuous.engine import CertifiedEngine
    from borel.engine.countable.engine import CountableEngine

    if isinstance(engine, CountableEngine):
        return (HeadCells if engine._finite_prior is None else CountableCells)(engine)
    if isinstance(engine, CertifiedEngine):
        return (NumberCells if engine.secret.rest else LineCells)(engine)
    raise NotEnclosed(f"no cells of outcomes for {engine.joint.outcome!r}")
