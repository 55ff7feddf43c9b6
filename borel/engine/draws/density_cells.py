r"""The densities of many draws of a prior on one set of cells, as polynomials with error bounds.

On a cell with centre c and half its width h, with u = (x - c) / h,

.. math:: p_d(x) = \sum_{j \le n} P_{dj} u^j + e(x), \qquad |e(x)| \le \text{loose}_d,

by Taylor's formula: the coefficients below n at c, that of degree n anywhere in the cell, its
middle kept and its spread a part of the error. All draws share the cells, which are halved until
no draw of a sample errs by much. What depends on the parameters alone is computed once a draw.
Beside an end where a density has no Taylor series, and on half-lines, its mass is enclosed. Beside
the density there may be atoms, the same for all draws, of which each has its own masses.
"""

from __future__ import annotations

import math
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.draws.end_masses import EndMasses
from borel.engine.problem.prior_masses import mass_function
from borel.engine.problem.prior_normalisation import FAMILIES, require_one
from borel.errors import NotEnclosed
from borel.numerics.graphs import rewrite
from borel.numerics.graphs.dependence import through
from borel.numerics.graphs.graph import GraphBuilder
from borel.numerics.intervals import batched, interpreter
from borel.numerics.jets import arithmetic, elementary
from borel.numerics.jets.elementary import logarithm
from borel.numerics.jets.interpreter import Program
from borel.probability import families
from borel.probability.alphabets import Interval, Mixed
from borel.probability.measure import LOG_MASS
from borel.probability.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from borel.numerics.graphs.graph import Graph
    from borel.numerics.intervals.batched import Box
    from borel.probability.measure import Measure

DEGREE = 8
_ERROR, _ERROR_OF_MANY, _MANY = 1e-11, 1e-9, 1000
"""The mass by which the polynomials of a cell may be off, before it is halved: for few draws, and
for so many or more, which scatter by far more than that."""
_ROUGH = 1e-6
"""The mass by which a draw may be off without cells of its own being tried."""
_TAIL, _TAIL_FAR = 1e-14, 1e-9
"""The mass of a half-line that is not cut any more, near by and at a distance of 2^_FAR."""
_FIRST, _ROUNDS, _MOST = 16, 48, 600
_SAMPLE = 24
_LANES = 16_000
_STEPS = 40
"""How often the first cell beside a singular end is halved, at most, towards that end."""
_BESIDE = 1 / 16
"""The mass that is left there, as a part of that by which the polynomials of a cell may be off."""
_FAR, _FARTHEST = 44, 100
_DISTANCES = 2.0 ** np.arange(0, 40, 3)


def middle_and_radius(a: Box) -> Box:
    """Return intervals as middles and radii; infinite ones have an infinite radius."""
    with np.errstate(invalid="ignore", over="ignore"):
        middle = a[0] / 2 + a[1] / 2
        radius = np.maximum(a[1] - middle, middle - a[0]) * (1 + 2.0**-51) + 2.0**-1060
        if np.isfinite(radius).all():
            return middle, radius
        middle = np.where(np.isfinite(middle), middle, 0.0)
        radius = np.maximum(a[1] - middle, middle - a[0]) * (1 + 2.0**-51) + 2.0**-1060
    return middle, np.where(np.isnan(radius), np.inf, radius)


def without_denormals(middle: np.ndarray, radius: np.ndarray) -> None:
    """Write 0 for tiny middles, in place, and what they lose to the radii: products are slow."""
    small = np.abs(middle) < 1e-150
    radius[small] += np.abs(middle[small])
    middle[small] = 0.0


def raised(values: np.ndarray) -> np.ndarray:
    """Return numbers >= 0 in single precision, rounded upwards; products of two do not underflow.

    Two digits are enough for errors.
    """
    out = np.where(values > 0, np.maximum(values * (1 + 1e-6), 2e-19), values)
    with np.errstate(over="ignore"):  # then infinite: no bound
        return out.astype(np.float32)


def by_cell(values: np.ndarray, cells: int, reduced: Callable[..., np.ndarray]) -> np.ndarray:
    """Return one number for all powers of each of the first cells, and the other features."""
    own = cells * (DEGREE + 1)
    first = reduced(values[:, :own].reshape(len(values), cells, DEGREE + 1), axis=2)
    return np.concatenate([first, values[:, own:]], axis=1)


class DrawProgram:
    """A function of the secret and of the parameters of a draw, ready to run for many draws.

    Parameters
    ----------
    graph : Graph
        The function.
    parameters : dict
        The numbers of the draws, arrays (draws,), by the names of their inputs.
    found : dict, optional
        What was found of functions of the parameters alone: programs of the same draws share them.
    """

    def __init__(
        self,
        graph: Graph,
        parameters: dict[str, np.ndarray],
        found: dict[Graph, Box] | None = None,
    ):
        outer, inner = through(graph, tuple(parameters))
        self.program = Program(outer)
        self.known: dict[str, Box] = {}
        points = {name: (v, v) for name, v in parameters.items()}
        found = {} if found is None else found
        for k, part in enumerate(inner):
            if part not in found:
                low, high = interpreter.evaluate(part, points)
                found[part] = (low, low) if bool((low == high).all()) else (low, high)
            self.known[f"w{k}"] = found[part]

    def run(
        self, x: Box, order: int, draws: Any = slice(None), name: str = "x", **about: Any
    ) -> tuple[Box, Any]:
        """Return jets (length, draws, lanes) over boxes of the secret, and what they decided."""
        lanes = arithmetic.part(x, np.s_[:, None, :])
        named: dict[str, Box] = {name: lanes}
        for key, box in self.known.items():
            named[key] = arithmetic.part(box, np.s_[None, draws, None])
        found = self.program.run(named, order, **about)
        return found.jet, found.decisions


def jets_of(found: Box, length: int, shape: tuple[int, int]) -> Box:
    """Return a jet with all of its entries, for every draw and lane; what is unknown is NaN."""
    out = np.zeros((2, length, *shape))
    for end in (0, 1):
        out[end, : len(found[end])] = found[end]
    return out[0], out[1]


def line_of(on: Any) -> Interval | None:
    """Return the interval on which measures on an alphabet have a density, if there is one."""
    on = on.interval if isinstance(on, Mixed) else on
    return on if isinstance(on, Interval) else None


def positive_densities(priors: Measure) -> tuple[bool, Graph, EndMasses]:
    """Return the densities of draws, which are positive almost everywhere, as a graph of numbers.

    Also whether they are laws by their name, and their terms.

    Raises
    ------
    NotEnclosed
        Densities that are not traced, or not seen to be positive almost everywhere.
    """
    density, on = priors.density, line_of(priors.on)
    if on is None:
        raise NotEnclosed(f"draws of densities on {priors.on!r} are not enclosed")
    if density is None or density.graph is None:
        raise NotEnclosed("the priors could not be traced")
    family, graph = _named(priors) is priors, density.graph
    parameters = {
        name: np.broadcast_to(np.asarray(density.parameters[name], float), (priors.batch[0],))
        for name in graph.inputs
        if name != "x"
    }
    linear = rewrite.linear_of(graph) if density.log else rewrite.simplified(graph)
    ends = float(on.lower), float(on.upper)
    programs = partial(DrawProgram, found={})  # log B(alpha, beta) of many draws takes long
    terms = EndMasses(linear, parameters, ends, programs, priors.batch[0])
    if not (_named(priors) or terms.positive(priors.breaks)):
        raise NotEnclosed("not every draw is seen to be positive almost everywhere")
    return family, linear, terms


def _named(priors: Measure) -> Measure | None:
    """Return draws of a family that are these, or that these are restrictions of."""
    whole = priors.conditioned or priors
    return whole if (whole.family or ("",))[0] in FAMILIES else None


class DensityCells:
    """The densities of the draws of a block of priors on a line.

    Parameters
    ----------
    priors : Measure
        A batch of measures with a density on an interval, perhaps with atoms.
    breaks : tuple of float
        Where else to cut the interval.
    atoms : sequence of float
        The atoms that the draws charge.

    Attributes
    ----------
    low, high, centre, half : ndarray (cells,)
        The cells, side by side.
    ends : list of tuple
        The intervals that are left at the ends of the alphabet, of which only the mass is known.
    points : ndarray
        The atoms.
    middle, sizes, radius : ndarray (draws, features)
        The coefficients of one cell after the other, the masses of the ends and those of the atoms:
        their middles, and bounds of their magnitudes and of their errors.
    doubts : ndarray (draws, cells + ends + atoms)
        Bounds of these errors, those of each cell together.
    bounds : ndarray (draws, cells + ends)
        Bounds of the densities on cells and of their polynomials, and of the masses of the ends.
    errors : ndarray (draws, cells)
        The errors of the polynomials.
    lost, rough : ndarray of bool (draws,)
        The draws of which something is not enclosed, and those of which too little is.

    Raises
    ------
    NotEnclosed
        Densities that are not traced, or not seen to be positive almost everywhere.
    """

    def __init__(
        self, priors: Measure, breaks: tuple[float, ...] = (), atoms: Sequence[float] = ()
    ):
        self.family, linear, self.beside = positive_densities(priors)
        density, parameters = priors.density, self.beside.parameters
        on: Any = line_of(priors.on)  # an interval, as was seen
        self.priors, self.size = priors, priors.batch[0]
        self.interval = float(on.lower), float(on.upper)
        self._error = _ERROR if self.size < _MANY else _ERROR_OF_MANY
        # exponentials of the logarithms of its terms, if it was written as a logarithm
        program = self.beside.by_draw
        self.density = program(_sum_of(self.beside.logs) if density.log else linear, parameters)
        self.terms = [program(term, parameters) for term in self.beside.logs]
        self._sample = _spread_out(parameters, self.size)
        cuts = *priors.breaks, *breaks, *atoms
        marks = sorted({b for b in cuts if on.lower < b < on.upper})
        self.memo = Memo()
        self.points = np.array(atoms, float)
        self.weights = np.zeros((self.size, len(atoms)))
        for k, atom in enumerate(atoms):
            self.weights[:, k] = priors.masses[atom]
        self._doubt = 2.0**-52 + 2 * priors._rounding  # a mass may have been rounded once more
        self.ends: list[tuple[float, float]] = []
        self._masses: list[Box] = []
        self._lay_out(marks)

    # -- what integrals read ----------------------------------------------------------------

    @cached_property
    def log_total(self) -> Box:
        """The logarithm (draws, 1) of the mass of every density, 0 for a law by its name.

        In its formula floats stand for log sqrt(2 pi) and pi, which changes the mass a little.

        The law meant is the one that integrates to 1.

        Raises
        ------
        InvalidInput
            A density that is proved to miss 1 by more than the rounding of floats.
        """
        if self.family:
            return np.full((self.size, 1), -(2.0**-52)), np.full((self.size, 1), 2.0**-52)
        off = self._doubt * self.weights
        atoms = self.weights - off, self.weights + off
        parts = (np.concatenate(p, axis=1) for p in zip(self.mass, atoms, strict=True))
        low, high = (part.sum(axis=1) for part in parts)
        total: Box = low * (1 - 1e-14), high * (1 + 1e-14)
        for part in self._integrals(np.arange(len(self.low)), self.low, self.high):
            total = batched.add(total, batched.total(part, axis=1))
        known = np.flatnonzero(~self.lost & (total[0] > 0))
        for k in (
            (known[np.argmax(total[0][known])], known[np.argmin(total[1][known])])
            if len(known)
            else ()
        ):
            mass = float(total[0][k]), float(total[1][k])
            if self.priors.conditioned is None:  # else they are divided by what was an estimate
                many = self.size > 1
                what, where = (
                    ("learnt * mech", f"one of the draws ({k})") if many else ("a prior", "")
                )
                require_one(self.priors.density, mass, what, where)
        out = logarithm((np.maximum(total[0], 0.0)[None, :, None], total[1][None, :, None]), 0)
        return batched.settled((out[0][0], out[1][0]))

    def _integrals(self, cell: np.ndarray, a: np.ndarray, b: np.ndarray) -> Iterator[Box]:
        """Yield the terms of the integrals of the densities over parts [a, b] of cells."""
        unit = batched.point(self.half[cell])
        ends = [
            batched.divide(
                batched.subtract(batched.point(v), batched.point(self.centre[cell])), unit
            )
            for v in (a, b)
        ]
        before, after = ends
        shape, own = (self.size, len(self.low), DEGREE + 1), len(self.low) * (DEGREE + 1)
        middle, radius = (v[:, :own].reshape(shape)[:, cell] for v in (self.middle, self.radius))
        for j in range(DEGREE + 1):
            width = batched.divide(
                batched.subtract(after, before), batched.point(np.array(j + 1.0))
            )
            spread = radius[..., j].astype(float)
            part = batched.add(batched.point(middle[..., j]), (-spread, spread))
            if j == 0:
                error = self.errors[:, cell].astype(float)
                part = batched.add(part, (-error, error))
            yield batched.multiply(part, batched.multiply(width, unit))
            before, after = batched.multiply(before, ends[0]), batched.multiply(after, ends[1])

    @cached_property
    def _running(self) -> Box:
        """The masses of the cells before each of them, and of all: (draws, cells + 1)."""
        cell = np.arange(len(self.low))
        whole = _sum(self._integrals(cell, self.low, self.high))
        return tuple(  # type: ignore[return-value]
            np.concatenate([np.zeros((self.size, 1)), np.cumsum(v, axis=1)], axis=1)
            for v in middle_and_radius(whole)
        )

    def between(self, low: np.ndarray, high: np.ndarray) -> Box:
        """Enclose P{low < X < high} of every draw, (draws, n), for draws without atoms."""
        middle, radius = np.zeros((2, self.size, len(low)))
        for ends, sign in ((high, 1.0), (low, -1.0)):
            at = np.clip(ends, self.low[0], self.high[-1])
            cell = np.searchsorted(self.low, at, side="right") - 1
            part = middle_and_radius(_sum(self._integrals(cell, self.low[cell], at)))
            middle += sign * (self._running[0][:, cell] + part[0])
            radius += sign * self._running[1][:, cell] + part[1]
        # roundings, of sums of at most the masses of all cells and twice their errors
        whole = self._running[0][:, -1:] + 2 * self._running[1][:, -1:]
        off = np.abs(radius) + whole * ((len(self.low) + 8) * 2.0**-52)
        total: Box = np.maximum(middle - off, 0.0), middle + off
        for k, (a, b) in enumerate(self.ends):
            most, least = (low < b) & (high > a), (low <= a) & (high >= b)
            mass = self.mass[0][:, k, None] * least, self.mass[1][:, k, None] * most
            total = batched.add(total, mass)
        total = batched.multiply(total, batched.exp(batched.negative(self.log_total)))
        return self._known(*total, 1.0)

    def range_of(self, low: np.ndarray, high: np.ndarray) -> Box:
        """Enclose the density of every draw between two points, (draws, n)."""
        ends = self.interval
        inner = np.clip(low, *ends), np.clip(high, *ends)
        step, parts = max(1, _LANES // self.size), []
        with np.errstate(all="ignore"):
            for start in range(0, len(low), step):
                a, b = (v[start : start + step] for v in inner)
                jet, _ = self.density.run(arithmetic.constant(a, b), 0)
                found = arithmetic.value(jet)
                parts.append([np.broadcast_to(v[:], (self.size, len(a))) for v in found])
        least, most = (np.concatenate(v, axis=1) for v in zip(*parts, strict=True))
        inside, outside = (low >= ends[0]) & (high <= ends[1]), (high <= ends[0]) | (low >= ends[1])
        least, most = np.where(inside, np.maximum(least, 0.0), 0.0), np.where(outside, 0.0, most)
        per = batched.exp(batched.negative(self.log_total))
        return self._known(*batched.multiply((least, most), per), math.inf)

    def _known(self, low: np.ndarray, high: np.ndarray, most: float) -> Box:
        """Return ends of numbers from 0 to a bound, and no more of draws that are lost."""
        lost = self.lost[:, None]
        low = np.where(lost | np.isnan(low), 0.0, np.maximum(low, 0.0))
        return low, np.where(lost | np.isnan(high), most, np.minimum(high, most))

    def moment(self, order: float) -> np.ndarray:
        """Bound E|X|^order of every draw from above: on cells up to a distance, and beyond it."""
        far = np.maximum(np.abs(self.low), np.abs(self.high)) ** order
        own = self.bounds[:, : len(far)] * (far * (self.high - self.low))
        beside = [k for k, pair in enumerate(self.ends) if all(map(math.isfinite, pair))]
        at_ends = np.array([max(map(abs, self.ends[k])) ** order for k in beside])
        total = self.weights @ np.abs(self.points) ** order + self.mass[1][:, beside] @ at_ends
        best = np.full(self.size, np.inf)
        for distance in _DISTANCES:
            outer = self._outside(distance, order)
            if outer is not None:
                inside = (self.low < distance) & (self.high > -distance)
                # what there are no cells of may begin before the distance
                gaps = self.mass[1][:, self._short_of(distance)].sum(axis=1) * distance**order
                best = np.fmin(best, own[:, inside].sum(axis=1) + gaps + outer)
        if all(map(math.isfinite, self.interval)):
            best = own.sum(axis=1)
        total = (total + best) * np.exp(-self.log_total[0][:, 0]) * (1 + 2.0**-20)
        return np.where(self.lost, np.inf, total)

    def _short_of(self, distance: float) -> list[int]:
        """Return the half-lines without cells that begin at less than a distance from 0."""
        return [
            k
            for k, (a, b) in enumerate(self.ends)
            if (math.isinf(b) and a < distance) or (math.isinf(a) and b > -distance)
        ]

    def beyond(self, distance: float) -> np.ndarray:
        """Bound P{|X| > distance} of every draw from above."""
        total = self._outside(distance)
        if total is None:
            return np.ones(self.size)
        total = total * np.exp(-self.log_total[0][:, 0]) * (1 + 2.0**-20)
        return np.where(self.lost, 1.0, np.fmin(total, 1.0))

    def _outside(self, distance: float, order: float = 0.0) -> np.ndarray | None:
        """Bound the integrals of |x|^order p over |x| > distance, with no end or atom there."""
        inner = [abs(v) for v in (*self.interval, *self.points) if math.isfinite(v)]
        if not distance > max(inner, default=0.0):
            return None
        total = np.zeros(self.size)
        for end in self.interval:
            if math.isinf(end):
                total = total + self.beside.of(end, math.copysign(distance, end), order)[1]
        return total

    # -- cells ------------------------------------------------------------------------------

    def _lay_out(self, marks: list[float]) -> None:
        lower, upper = self.interval
        edges = {*marks}
        for end, sign in ((lower, -1.0), (upper, 1.0)):
            if math.isfinite(end):
                edges.add(end)
            else:
                edges |= self._half_line(end, sign, marks)
        first, last = min(edges), max(edges)
        if math.isfinite(lower) and math.isfinite(upper):
            edges |= {*np.linspace(first, last, _FIRST + 1).tolist()}
        else:
            powers = [s * 2.0**k for k in range(-4, _FARTHEST) for s in (-1.0, 1.0)]
            start = lower if math.isfinite(lower) else upper if math.isfinite(upper) else 0.0
            edges |= {start + p for p in powers if first < start + p < last}
        cuts = np.array(sorted(edges))
        for end, at in ((lower, 0), (upper, -1)):
            if math.isfinite(end):
                cuts = self._finite_end(cuts, end, at)
        a, b, _ = self._halved(cuts[:-1], cuts[1:], self._sample)
        a, b, found = self._halved(a, b, slice(None))
        order = np.argsort(a)
        self.low, self.high = a[order], b[order]
        self.centre = self.low / 2 + self.high / 2
        self.half = _half(self.low, self.high, self.centre)
        middle, radius, loose, top = (v[:, order] for v in found)
        own = np.abs(middle).sum(axis=2) + radius.sum(axis=2) + loose
        # of the polynomial too, which may leave the range of the density by its error
        top = np.fmin(top + loose, own) * (1 + 2.0**-40)
        none = np.zeros((self.size, 0))
        low, high = (
            np.concatenate([none, *(m[k][:, None] for m in self._masses)], axis=1) for k in (0, 1)
        )
        self.mass = low, high
        known = np.isfinite(loose).all(axis=1) & np.isfinite(top).all(axis=1)
        self.lost = ~(known & np.isfinite(self.mass[1]).all(axis=1))
        with np.errstate(invalid="ignore"):
            doubt = (loose * (self.high - self.low)).sum(axis=1)
        self.rough = self.lost | ~(doubt <= _ROUGH)
        atoms = self.weights, self.weights * self._doubt
        mass = middle_and_radius(self.mass)
        mass = tuple(np.concatenate(pair, axis=1) for pair in zip(mass, atoms, strict=True))
        flat = (v.reshape(self.size, -1) for v in (middle, radius))
        middle, radius = (np.concatenate(p, axis=1) for p in zip(flat, mass, strict=True))
        for part in (middle, radius, loose):
            part[self.lost] = 0.0
        without_denormals(middle, radius)
        bounds = np.concatenate([top, self.mass[1]], axis=1)
        bounds[self.lost] = 0.0
        self.middle, self.radius, self.bounds = middle, raised(radius), raised(bounds)
        self.sizes, self.errors = raised(np.abs(middle)), raised(loose)
        self.doubts = raised(by_cell(radius, len(self.low), np.sum) * (1 + 2.0**-48))

    def _half_line(self, end: float, sign: float, marks: list[float]) -> set[float]:
        """Return where the last cell ends; beyond, every draw has next to no mass, if it can be."""
        start = self.interval[0] if sign > 0 else self.interval[1]
        start = start if math.isfinite(start) else 0.0
        best = None
        for k in range(-2, _FARTHEST):
            edge = start + sign * 2.0**k
            if any(sign * m >= sign * edge for m in marks):
                continue
            mass = self.beside.of(end, edge)
            largest = float(mass[1].max())
            if best is None or largest <= best[0]:
                best = largest, edge, mass
            # farther out the cells, as long as they are far, cost more than what is left there
            if largest <= (_TAIL if k < _FAR else _TAIL_FAR):
                break
        if best is None:
            raise NotEnclosed("a break or an atom of the priors is too far out")
        _, edge, mass = best
        if not best[0] <= _TAIL and _named(self.priors):
            edge = start + sign * 2.0**_FAR
            mass = self._by_name(min(edge, end), max(edge, end))
        if not mass[1].max() <= 1e-6:
            raise NotEnclosed("the mass of the priors far out is not bounded by their densities")
        self.ends.append((min(edge, end), max(edge, end)))
        self._masses.append(mass)
        return {edge}

    def _by_name(self, a: float, b: float) -> Box:
        """Enclose the masses of an interval by the distribution functions of a family."""
        whole = _named(self.priors)
        assert whole is not None and whole.family is not None
        name, values = whole.family
        found = []
        for i in range(self.size):
            own = {k: float(np.broadcast_to(v, (self.size,))[i]) for k, v in values.items()}
            mass = mass_function(getattr(families, name)(**own))
            found.append((0.0, 1.0) if mass is None else mass(a, b))
        low, high = np.array(found).T
        return self._as_written((low, high))

    def _as_written(self, mass: Box) -> Box:
        """Divide masses of a law by its name by the estimates that restricted draws have."""
        if self.priors.conditioned is None:
            return mass
        logs = np.broadcast_to(self.priors.density.parameters[LOG_MASS], (self.size,))
        # the floats of a formula change a mass by less than its last digits
        wide = mass[0] * (1 - 2.0**-50), mass[1] * (1 + 2.0**-50)
        return batched.multiply(wide, batched.exp(batched.point(-logs)))

    def _finite_end(self, cuts: np.ndarray, end: float, at: int) -> np.ndarray:
        """Cut towards an end where some draw has no Taylor series, and leave its mass there."""
        inner = cuts[1] if at == 0 else cuts[-2]
        a, b = np.array([min(end, inner)]), np.array([max(end, inner)])
        loose = self._evaluate(a, b)[2]
        if np.isfinite(loose).all() and (loose * (b - a) < 1.0).all():
            return cuts
        edges = end + (inner - end) * 2.0 ** -np.arange(1.0, 1.0 + _STEPS)
        edges = edges[np.abs(edges - end) > 2.0**-48 * abs(end)]  # floats are no nearer
        if not len(edges):
            return cuts
        first, last = 0, len(edges) - 1
        mass = self.beside.of(end, edges[last])
        while first < last:  # the nearest one to which there is next to no mass
            k = (first + last) // 2
            found = self.beside.of(end, edges[k])
            if found[1].max() <= _BESIDE * self._error:
                last, mass = k, found
            else:
                first = k + 1
        edge = float(edges[last])
        self.ends.append((min(edge, end), max(edge, end)))
        self._masses.append(mass)
        return np.unique([*cuts[cuts != end], *edges[: last + 1]])

    def _halved(self, a: np.ndarray, b: np.ndarray, draws: Any) -> tuple[Any, ...]:
        """Halve cells until some draws are known well enough; return the cells and what is known.

        First that is a sample of the draws: all of them ask for few cells more.
        """
        cells, found, count = [], [], 0
        for turn in range(_ROUNDS):
            fresh = self._evaluate(a, b, draws)
            again = ~(fresh[2].max(axis=0) * (b - a) <= self._error)
            again &= b - a > 2.0**-40 * np.maximum(abs(a), abs(b))
            count += len(a)
            if turn == _ROUNDS - 1:
                again[:] = False
            if count + again.sum() > _MOST:  # the worst of them
                error = np.where(again, fresh[2].max(axis=0) * (b - a), 0.0)
                again[np.argsort(-error)[max(0, _MOST - count) :]] = False
            cells.append((a[~again], b[~again]))
            found.append([v[:, ~again] for v in fresh])
            if not again.any():
                break
            count -= int(again.sum())
            middle = a[again] / 2 + b[again] / 2
            a, b = np.concatenate([a[again], middle]), np.concatenate([middle, b[again]])
        a, b = (np.concatenate(v) for v in zip(*cells, strict=True))
        return a, b, [np.concatenate(v, axis=1) for v in zip(*found, strict=True)]

    def _evaluate(self, low, high, draws: Any = slice(None)) -> tuple[np.ndarray, ...]:
        """Return coefficients with their radii, errors and bounds of the densities on cells."""
        count = len(range(*draws.indices(self.size))) if isinstance(draws, slice) else len(draws)
        step = max(1, _LANES // max(count, 1))
        parts = []
        with np.errstate(all="ignore"):
            for start in range(0, len(low), step):
                some = slice(start, start + step)
                parts.append(self._some(low[some], high[some], draws, count))
        return tuple(np.concatenate(p, axis=1) for p in zip(*parts, strict=True))

    def _some(self, low, high, draws, count: int) -> tuple[np.ndarray, ...]:
        centre = low / 2 + high / 2
        half, n, shape = _half(low, high, centre), DEGREE, (count, len(low))
        box, decisions = self.density.run(arithmetic.variable(low, high, n), n, draws)
        at, _ = self.density.run(
            arithmetic.variable(centre, centre, n - 1), n - 1, draws, decisions=decisions
        )
        out = _expanded(jets_of(box, n + 1, shape), jets_of(at, n, shape), half)
        rough = ~(out[2] * (high - low) <= self._error).all(axis=0)
        if not rough.any():
            return out
        low, high, centre, half = (v[rough] for v in (low, high, centre, half))
        more = _expanded(*self._by_logarithms(low, high, centre, half, draws, count), half)
        better = more[2] < out[2][:, rough]
        for old, new in zip(out[:3], more[:3], strict=True):
            chosen = better.reshape(better.shape + (1,) * (old.ndim - 2))
            old[:, rough] = np.where(chosen, new, old[:, rough])
        out[3][:, rough] = np.minimum(out[3][:, rough], more[3])
        return out

    def _by_logarithms(self, low, high, centre, half, draws, count: int) -> tuple[Box, Box]:
        """Return jets over cells and at their centres, with logarithms that are known better.

        That of a narrow density is a sum of large terms that nearly cancel: its slope, and its
        values at the ends of a cell on which it is monotone, say more than its range does.
        """
        n, shape = DEGREE, (count, len(low))
        total: list[Box] = []
        for term in self.terms:
            box, decisions = term.run(arithmetic.variable(low, high, n), n, draws)
            points = [arithmetic.constant(v, v) for v in (low, high)]
            ends = [arithmetic.value(term.run(v, 0, draws, decisions=decisions)[0]) for v in points]
            at, _ = term.run(
                arithmetic.variable(centre, centre, n - 1), n - 1, draws, decisions=decisions
            )
            outer, inner = jets_of(box, n + 1, shape), jets_of(at, n, shape)
            slope = outer[0][1], outer[1][1]
            bounded = np.isfinite(slope[0]) & np.isfinite(slope[1])
            moved = batched.add((inner[0][0], inner[1][0]), batched.multiply(slope, (-half, half)))
            least, most = (np.array([np.broadcast_to(e[i], shape) for e in ends]) for i in (0, 1))
            monotone = bounded & ((slope[0] >= 0) | (slope[1] <= 0))
            value = outer[0][0], outer[1][0]
            for which, (below, above) in (
                (bounded, moved),
                (monotone, (least.min(axis=0), most.max(axis=0))),
            ):
                value = batched.meet(
                    value, (np.where(which, below, -np.inf), np.where(which, above, np.inf))
                )
            outer[0][0], outer[1][0] = value
            parts = elementary.exponential(outer, n), elementary.exponential(inner, n - 1)
            total = [*map(batched.add, total, parts)] if total else [*parts]
        return total[0], total[1]


def _expanded(outer: Box, inner: Box, half: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return coefficients with their radii, errors and bounds, from jets over cells and at centres.

    By Taylor's formula, or where there is no such coefficient, by the slope or the range.
    """
    n, shape = DEGREE, outer[0].shape[1:]
    top = outer[1][0]
    middle, radius = np.zeros((*shape, n + 1)), np.zeros((*shape, n + 1))
    scale: Box = batched.point(np.ones(len(half)))
    for j in range(n):
        part = batched.multiply((inner[0][j], inner[1][j]), scale)
        middle[..., j], radius[..., j] = middle_and_radius(part)
        scale = batched.multiply(scale, batched.point(half))
    last = middle_and_radius(batched.multiply((outer[0][n], outer[1][n]), scale))
    middle[..., n], loose = last
    slope = (outer[0][1], outer[1][1])
    by_slope = middle_and_radius(batched.multiply(slope, batched.point(half)))
    by_range = middle_and_radius((np.maximum(outer[0][0], 0.0), outer[1][0]))
    known = np.isfinite(radius[..., 0])
    spread = np.where(known, by_slope[1], np.inf)
    whole = np.isfinite(loose) & np.isfinite(radius).all(axis=2)
    loose = np.where(whole, loose, np.inf)
    for better, error, head, second in (
        (spread < loose, spread, None, by_slope[0]),
        (by_range[1] < np.minimum(loose, spread), by_range[1], by_range[0], 0.0),
    ):
        loose = np.where(better, error, loose)
        middle[..., 1:] = np.where(better[..., None], 0.0, middle[..., 1:])
        radius[..., 1:] = np.where(better[..., None], 0.0, radius[..., 1:])
        middle[..., 1] = np.where(better, second, middle[..., 1])
        if head is not None:
            middle[..., 0] = np.where(better, head, middle[..., 0])
            radius[..., 0] = np.where(better, 0.0, radius[..., 0])
    lost = ~np.isfinite(loose)
    middle[lost], radius[lost] = 0.0, 0.0
    return middle, radius, loose, np.where(np.isnan(top), np.inf, top)


def _sum_of(logs: list[Graph]) -> Graph:
    """Return the sum of exponentials of some graphs."""
    b = GraphBuilder(*logs)
    terms = [b.add("exp", k) for k in b.roots]
    total = terms[0]
    for k in terms[1:]:
        total = b.add("add", total, k)
    return b.graph(total)


def _sum(terms: Iterator[Box]) -> Box:
    """Return the sum of some terms."""
    return reduce(batched.add, terms)


def _half(low, high, centre) -> np.ndarray:
    return np.maximum(high - centre, centre - low) * (1 + 2.0**-51)


def _spread_out(parameters: dict[str, np.ndarray], size: int) -> np.ndarray:
    """Return some draws: evenly spaced ones, and those of the extreme parameters."""
    some = [np.linspace(0, size - 1, min(size, _SAMPLE)).astype(int)]
    some += [np.array([v.argmin(), v.argmax()]) for v in parameters.values()]
    return np.unique(np.concatenate(some))
