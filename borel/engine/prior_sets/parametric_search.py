"""Lower expectations over parametric families of priors: branch and bound over theta.

For a finite secret E_theta v = sum_x p_x(theta) v_x. Every theta counts, also one by itself. On a
box of theta it is enclosed by the ranges of the p_x, by its value at the centre and its slopes,
and, where it is monotone in theta, by its value at an end; boxes that cannot hold the least value
of any column are dropped.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from borel import settings
from borel.engine.prior_sets.lower_expectations import Least
from borel.engine.problem.refinement import refine
from borel.numerics.graphs.graph import GraphBuilder
from borel.numerics.graphs.rational_functions import constant_sum
from borel.numerics.intervals import batched, interpreter
from borel.numerics.jets import arithmetic

if TYPE_CHECKING:
    from borel.numerics.jets.interpreter import Program
    from borel.probability.alphabets import Alphabet
    from borel.probability.measure import Measure

_TURNS = 80
_POLYNOMIAL = frozenset("input const add subtract multiply negative positive square".split())
_BOXES = 60_000


class TracedFamily(Protocol):
    """A family of priors on a finite alphabet whose probabilities are graphs of theta."""

    low: np.ndarray
    high: np.ndarray
    on: Alphabet

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs of the graphs."""
        ...

    @property
    def programs(self) -> list[Program] | None:
        """The probability of each label."""
        ...

    def member(self, theta: Any) -> Measure:
        """Return the prior of one theta."""
        ...


def are_laws(family: TracedFamily) -> bool:
    """Return whether probabilities are proved to be >= 0 and to add up to 1, for every theta."""
    box = dict(zip(family.names, zip(family.low, family.high, strict=True), strict=True))
    graphs = [program.graph for program in family.programs or []]
    builder = GraphBuilder(*graphs)
    # an identity of quotients says nothing where a part of them is infinite, or no number
    known = [builder.add("isfinite", k) for k in range(len(builder.nodes))]
    known += [builder.add("less_equal", builder.constant(0.0), root) for root in builder.roots]
    whole = reduce(lambda a, b: builder.add("logical_and", a, b), known)
    low, _ = interpreter.evaluate(builder.graph(whole, family.names), box)
    return bool(low.item() == 1) and constant_sum(graphs) == 1


def least(v: np.ndarray, family: TracedFamily) -> Least:
    """Enclose the least expectation of each column of values over the family."""
    tol = min(settings.current().tol / 8, 1e-10)
    low, high = family.low[None].copy(), family.high[None].copy()
    m = v.shape[1]
    best, dropped = np.full(m, np.inf), np.full(m, np.inf)
    place = np.repeat(((family.low + family.high) / 2)[:, None], m, axis=1)
    kept = np.ones(1, bool)

    def enclose() -> tuple[np.ndarray, np.ndarray]:
        nonlocal best, dropped, place, kept
        bottom, values, spots = _evaluate(v, family, low, high)
        for box_values, box_spots in zip(values, spots, strict=True):
            k = box_values.argmin(axis=1)
            found = box_values[np.arange(m), k]
            place = np.where(found < best, box_spots[k].T, place)
            best = np.minimum(best, found)
        gap = tol * np.maximum(np.abs(best), 1e-300)
        kept = (bottom < (best - gap)[:, None]).any(axis=0)
        # a box that is dropped keeps its say in the bound from below
        dropped = np.minimum(dropped, bottom[:, ~kept].min(axis=1, initial=np.inf))
        return np.minimum(dropped, bottom[:, kept].min(axis=1, initial=np.inf)), best

    def cut(*_: np.ndarray) -> bool:
        nonlocal low, high
        few = kept.sum() * 2 <= _BOXES
        if few:
            low, high = _halved(low[kept], high[kept])
        return bool(few)

    floor, best = refine(
        enclose,
        cut,
        settled=lambda *_: not kept.any(),
        until=settings.deadline(),
        rounds=_TURNS,
        ends=(np.full(m, -np.inf), best),
    )
    prior = np.array([family.member(place[:, j]).at(family.on) for j in range(m)], float).T
    floor = np.maximum(np.minimum(floor, best), v.min(axis=0))
    return Least(floor, np.minimum(best, v.max(axis=0)), prior)


def charged(family: TracedFamily) -> tuple[np.ndarray, np.ndarray]:
    """Return which secrets thetas charge beside any theta, and which some theta may charge.

    A figure's lower end counts the first only: the theta that it comes from charges them, or others
    as close as one likes do, and the figure is continuous in theta. Such a probability is positive
    on a box, or rises or falls along an axis there, so that it is 0 on no open set; and its slopes
    are bounded. So is a polynomial that is positive somewhere: it touches 0 on no open set, as
    (1 - p)^2 does at p = 1. An upper end counts all of the second.
    """
    low, high = family.low[None].copy(), family.high[None].copy()
    for _ in range(6 * len(family.low)):
        low, high = _halved(low, high)
    p = _probabilities(family, low, high, None)[0]
    sure, smooth = p[0] > 0, np.ones(p[0].shape, bool)
    for k in range(len(family.low)):
        _, slopes = _probabilities(family, low, high, k)
        assert slopes is not None
        sure = sure | (slopes[0] > 0) | (slopes[1] < 0)
        smooth &= np.isfinite(slopes[0]) & np.isfinite(slopes[1])
    polynomial = np.array([_is_polynomial(program) for program in family.programs or []])
    sure |= (polynomial & np.any(p[0] > 0, axis=1))[:, None]
    return np.all(p[0] > 0, axis=1) | np.all(sure & smooth, axis=1), np.any(p[1] > 0, axis=1)


def _is_polynomial(program: Program) -> bool:
    """Return whether a graph is read as a polynomial: sums, products and whole powers."""
    nodes = program.graph.nodes

    def whole(k: int) -> bool:
        op, args = nodes[k]
        return op == "const" and args[0] >= 0 and float(args[0]).is_integer()

    return all(
        op in _POLYNOMIAL or (op == "power" and whole(args[1])) for op, args in nodes
    ) and all(np.isfinite(args[0]) for op, args in nodes if op == "const")


def _halved(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cut every box in two across its widest side."""
    side = (high - low).argmax(axis=1)
    rows = np.arange(len(low))
    middle = low[rows, side] + (high[rows, side] - low[rows, side]) / 2
    first_high, second_low = high.copy(), low.copy()
    first_high[rows, side] = middle
    second_low[rows, side] = middle
    return np.concatenate([low, second_low]), np.concatenate([first_high, high])


def _probabilities(family: TracedFamily, low: np.ndarray, high: np.ndarray, direction: int | None):
    """Enclose p_x(theta) (n, boxes) over boxes, and the slopes in one direction."""
    order = 0 if direction is None else 1
    named = {}
    for k, name in enumerate(family.names):
        a, b = low[:, k], high[:, k]
        varies = k == direction
        named[name] = arithmetic.variable(a, b, 1) if varies else arithmetic.constant(a, b)
    programs = family.programs or []
    found = [program.run(named, order, everywhere=True).jet for program in programs]
    shape = len(low)
    values = [batched.settled(arithmetic.entry(f, 0)) for f in found]
    ranges = tuple(np.array([np.broadcast_to(f[e], shape) for f in values]) for e in (0, 1))
    ranges = np.clip(ranges[0], 0.0, 1.0), np.clip(ranges[1], 0.0, 1.0)
    if direction is None:
        return ranges, None
    values = [batched.settled(arithmetic.entry(f, 1)) for f in found]
    slopes = tuple(np.array([np.broadcast_to(f[e], shape) for f in values]) for e in (0, 1))
    return ranges, slopes


def _mean(v: np.ndarray, p: Any) -> tuple[np.ndarray, np.ndarray]:
    """Enclose the products v' p (m, boxes) for point values and enclosed p."""
    positive, negative = np.maximum(v, 0.0).T, np.minimum(v, 0.0).T
    with np.errstate(invalid="ignore"):
        low = positive @ p[0] + negative @ p[1]
        high = positive @ p[1] + negative @ p[0]
        most = np.maximum(np.abs(p[0]), np.abs(p[1]))
        size = np.abs(v).T @ most
    tiny = 1e-300 * ((v != 0).T @ (most > 0))  # products may underflow; of 0 they are 0
    slack = size * (2 * len(v) + 4) * batched.EPS + tiny
    return batched.settled((low - slack, high + slack))


def _evaluate(v: np.ndarray, family: TracedFamily, low: np.ndarray, high: np.ndarray):
    """Bound E v from below on boxes (m, boxes), and from above at points of them."""
    d = low.shape[1]
    centre = low + (high - low) / 2
    at_centre = _mean(v, _probabilities(family, centre, centre, None)[0])
    bottom = np.full((v.shape[1], len(low)), -np.inf)
    reach = np.zeros_like(bottom)
    left, right = low.copy(), high.copy()
    corner = low.copy()
    monotone = np.ones_like(bottom, bool)
    rising = np.zeros_like(bottom, bool)
    for k in range(d):
        ranges, slopes = _probabilities(family, low, high, k)
        bottom = np.maximum(bottom, _mean(v, ranges)[0])
        slope = _mean(v, slopes)
        half = np.maximum(centre[:, k] - low[:, k], high[:, k] - centre[:, k]) * (1 + 2.0**-50)
        with np.errstate(invalid="ignore"):
            step = np.maximum(np.abs(slope[0]), np.abs(slope[1])) * half * (1 + 2.0**-50)
        reach = reach + np.where(np.isnan(step), np.inf, step)
        monotone &= (slope[0] >= 0) | (slope[1] <= 0)
        if d == 1:
            rising = slope[0] >= 0
    with np.errstate(invalid="ignore"):
        centred = at_centre[0] - reach * (1 + 2.0**-50)
    bottom = np.maximum(bottom, np.where(np.isnan(centred), -np.inf, centred))
    values, spots = [at_centre[1]], [centre]
    if d == 1:
        for ends, here in ((left, rising), (right, monotone & ~rising)):
            found = _mean(v, _probabilities(family, ends, ends, None)[0])
            bottom = np.where(here, np.maximum(bottom, found[0]), bottom)
            values.append(found[1])
            spots.append(ends)
    else:
        for ends in (corner, high):
            values.append(_mean(v, _probabilities(family, ends, ends, None)[0])[1])
            spots.append(ends)
    return bottom, values, spots
