r"""How much one law exceeds a multiple of another: hockey-stick divergences and their events.

With the privacy loss :math:`L = \log p / q` and :math:`\gamma = e^\varepsilon`, the excess
:math:`\int (p - \gamma q)^+` is :math:`P(S) - \gamma Q(S)` of the event S = {L > epsilon}. Finite
laws are exact; named families have S in closed form (`loss_events`); other densities on the line
are integrals of :math:`p\,(1 - e^{\varepsilon - L})`, in which nothing cancels, so that small
figures keep their leading digits.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import settings
from borel.engine.divergences.finite import finite_laws
from borel.engine.problem.thresholds import Threshold
from borel.errors import NotEnclosed, NotYet
from borel.numerics.balls.arithmetic import enclose
from borel.numerics.intervals.rounding import fraction_down, fraction_up
from borel.probability.alphabets import Interval
from borel.probability.bound import Bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.graphs.graph import Graph
    from borel.probability.measure import Measure

_GRID = 4001


Ends = tuple[list[Fraction], list[Fraction]]


def finite_excess(p: Ends, q: Ends, threshold: Threshold) -> tuple[Fraction, Fraction]:
    """Enclose the sum of (p - e^epsilon q)^+ for laws given by lower and upper ends."""
    least, most = threshold.ends()
    return _excess(p[0], q[1], most), _excess(p[1], q[0], least)


def _excess(p: list[Fraction], q: list[Fraction], factor: Fraction | None) -> Fraction:
    pairs = [(a, b) for a, b in zip(p, q, strict=True) if a > 0]
    if factor is None:
        return sum((a for a, b in pairs if b == 0), Fraction(0))
    return sum((a - factor * b for a, b in pairs if a > factor * b), Fraction(0))


def finite_beyond(p: Ends, q: Ends, threshold: Threshold) -> tuple[Fraction, Fraction]:
    """Enclose P{p > e^epsilon q}."""
    least, most = threshold.ends()
    return _beyond(p[0], q[1], most), _beyond(p[1], q[0], least)


def _beyond(p: list[Fraction], q: list[Fraction], factor: Fraction | None) -> Fraction:
    pairs = [(a, b) for a, b in zip(p, q, strict=True) if a > 0]
    above = (a for a, b in pairs if (b == 0 if factor is None else a > factor * b))
    return sum(above, Fraction(0))


def probability_of(low: Any, high: Any, make: Any, **about: Any) -> Bound:
    """Make the Bound of a probability from exact or float ends."""
    return make(min(max(low, 0.0), 1.0), max(min(high, 1.0), 0.0), units="probability", **about)


# -- two measures ---------------------------------------------------------------------------------


def figure_of_two(p: Measure, q: Measure, threshold: Threshold, what: str) -> Bound:
    """Compute the excess, or the probability of S, of two measures.

    Parameters
    ----------
    p, q : Measure
        On alphabets of one kind.
    threshold : Threshold
        The level.
    what : {"excess", "beyond"}
        The hockey-stick divergence, or P{L > epsilon}.
    """
    laws = finite_laws(p, q)
    if laws is not None:
        compute = finite_excess if what == "excess" else finite_beyond
        return probability_of(*compute(*laws.ends(), threshold), laws.bound)
    if p.batch or q.batch or p.masses or q.masses:
        raise NotYet("a privacy profile", missing="measures with atoms and a density, or draws")
    if settings.current().closed_forms:
        from borel.engine.divergences.loss_events import closed_form

        found = closed_form(p, q, threshold, what)
        if found is not None:
            return found
    if p.on.kind == "countable" and p.on.dim == 1:
        return _countable(p, q, threshold, what)
    if not (isinstance(p.on, Interval) and isinstance(q.on, Interval)):
        raise NotYet("a privacy profile", missing=f"measures on {p.on!r}")
    try:
        return _on_line(p, q, threshold, what)
    except NotEnclosed as error:
        raise NotYet("a privacy profile", missing=f"an enclosure: {error}") from None


def _countable(p: Measure, q: Measure, threshold: Threshold, what: str) -> Bound:
    """Enclose a figure of two measures on integers: a head, and the mass of P beyond it."""
    from borel.engine.divergences.countable import Heads

    heads = Heads(p, q)
    ends = []
    for k in (0, 1):
        low, high = ([Fraction(float(v)) for v in end[k]] for end in (heads.low, heads.high))
        ends.append((low, high))
    compute = finite_excess if what == "excess" else finite_beyond
    low, high = compute(ends[0], ends[1], threshold)
    return probability_of(low, high + Fraction(heads.tail[0]), heads.bound)


def _on_line(p: Measure, q: Measure, threshold: Threshold, what: str) -> Bound:
    """Enclose the excess of one density on an interval over another."""
    from borel.engine.divergences.continuous import LinePair

    if what == "beyond":
        raise NotEnclosed("the probability of a privacy loss is not certified for these measures")
    line = LinePair(p, q)
    low, high = 0.0, 0.0
    if not line.disjoint:

        def gap(y: np.ndarray) -> np.ndarray:
            return np.asarray(p._logpdf(y)) - np.asarray(q._logpdf(y))

        pair = DensityPair(line.graphs[0], line.graphs[1], {}, "x", gap)
        low, high = excess_on_line(pair, (line.a, line.b), line.breaks, threshold)
    first: Any = p.on
    last: Any = q.on
    beyond = (
        (first.lower, min(first.upper, last.lower)),
        (max(first.lower, last.upper), first.upper),
    )
    for over in beyond:  # where Q has nothing all of P counts
        if over[0] < over[1]:
            more = integral([(line.graphs[0], True)], "x", {}, over, list(p.breaks), 1e-12)
            low, high = (
                low + max(more[0], 0.0) * (1 - 2.0**-52),
                math.nextafter(high + more[1], math.inf),
            )
    low = low * (1 - 2.0**-50)
    if high > 1.0:
        return line.bound(min(low, 1.0), 1.0, units="probability")
    # the integrals are those of the graphs themselves: nothing is assumed of them
    return Bound.certified(low, high, assumptions=line.notes, units="probability")


# -- densities on the line ------------------------------------------------------------------------


class DensityPair(NamedTuple):
    """Two log-densities on the line as graphs, and what a search in float64 needs.

    Attributes
    ----------
    first, second : Graph
        log p and log q.
    inputs : dict
        Other inputs of the graphs.
    variable : str
        The input that varies.
    gap : callable
        log p - log q on arrays, in float64: it only says where to cut.
    covers : tuple of Graph
        Log-densities of which p is a mixture: their tails bound its own. By default p itself.
    """

    first: Graph
    second: Graph
    inputs: dict[str, Any]
    variable: str
    gap: Callable[[np.ndarray], np.ndarray]
    covers: tuple[Graph, ...] = ()


def integral(
    factors: list[tuple[Graph, bool]],
    variable: str,
    inputs: dict[str, Any],
    over: tuple[float, float],
    marks: list[float],
    rel_tol: float,
) -> tuple[float, float]:
    """Enclose the integral of a product of graphs (those marked True are logarithms)."""
    from borel.numerics.balls.expansion import product
    from borel.numerics.balls.integral import integrate
    from borel.numerics.balls.interpreter import Prepared

    found = integrate(
        Prepared(product(factors), variable=variable),
        {"shift": 0.0, **inputs},
        *over,
        breaks=[m for m in marks if over[0] < m < over[1]],
        rel_tol=rel_tol,
        bits=128,
    )
    return found.floats


def excess_on_line(
    pair: DensityPair,
    over: tuple[float, float],
    marks: list[float],
    threshold: Threshold,
    rel_tol: float = 1e-9,
) -> tuple[float, float]:
    r"""Enclose the integral of :math:`(p - e^\varepsilon q)^+` over an interval.

    Notes
    -----
    A search in float64 cuts the interval where the loss crosses epsilon. Over the parts E above it
    the integral of :math:`p - e^\varepsilon q`, an analytic function, is a lower end; with those of
    :math:`(e^\varepsilon q - p)^+` over E and of :math:`(p - e^\varepsilon q)^+` elsewhere, which
    are next to nothing if the cuts are right, it is an upper one, wherever the cuts are. Far out
    the figure is at most the mass of p: infinite ends are cut where that is small beside what was
    found, so that the relative width is about ``rel_tol``, or ``options(tol=...)`` if that is less.
    After the deadline the upper end is that of the last complete round, infinite in the first.
    """
    from borel.engine.divergences.continuous import cut_off

    level, deadline = enclose(threshold.nats)[0], settings.deadline()
    rel = min(settings.current().tol, rel_tol) / 8
    small, low, high = 1e-6, 0.0, math.inf
    for _ in range(5):
        inner, beyond = cut_off(*over, marks, lambda a, b: _mass(pair, (a, b)), small)
        least, most = [], [beyond]
        cuts = sorted({*inner, *marks, *_crossings(pair.gap, level, inner)})
        for part in pairwise(c for c in cuts if inner[0] <= c <= inner[1]):
            if settings.late(deadline):
                most.append(math.inf)
                break
            found = _over(pair, part, marks, threshold, level, rel)
            least.append(found[0])
            most.append(found[1])
        low = max(low, fraction_down(sum((Fraction(v) for v in least), Fraction(0))))
        if all(math.isfinite(v) for v in most):
            high = min(high, fraction_up(sum((Fraction(v) for v in most), Fraction(0))))
        if settings.late(deadline):
            break
        if high - low <= 8 * rel * low or beyond <= rel * low / 4:
            break  # good enough, or the tails are not what is wide
        small = rel * low if low > 0 else small * 1e-6
    return low, high


def _mass(pair: DensityPair, over: tuple[float, float]) -> float:
    """Bound the mass of p far out."""
    covers = pair.covers or (pair.first,)
    return max(integral([(g, True)], pair.variable, pair.inputs, over, [], 0.01)[1] for g in covers)


def _over(
    pair: DensityPair,
    part: tuple[float, float],
    marks: list[float],
    threshold: Threshold,
    level: float,
    rel: float,
) -> tuple[float, float]:
    """Enclose the excess over a part on which the loss seems to be on one side of the level."""
    from borel.engine.divergences.continuous import joined

    inputs = {**pair.inputs, "level": threshold.nats()}

    def less(add: Any, p: int, q: int) -> int:
        return add("add", add("input", "level"), add("subtract", q, p))

    def whole(add: Any, p: int, q: int) -> int:
        return add("negative", add("expm1", less(add, p, q)))

    def positive(add: Any, p: int, q: int) -> int:
        return add("negative", add("expm1", add("minimum", less(add, p, q), add("const", 0.0))))

    def opposite(add: Any, p: int, q: int) -> int:  # (e^level q - p)^+, over p
        return add("expm1", add("maximum", less(add, p, q), add("const", 0.0)))

    def of(shape: Any) -> tuple[float, float]:
        factors = [(pair.first, True), (joined([pair.first, pair.second], shape), False)]
        return integral(factors, pair.variable, inputs, part, marks, rel)

    with np.errstate(all="ignore"):
        above = bool(pair.gap(np.array([_inside(*part)]))[0] > level)
    if above:
        found, wrong = of(whole), of(opposite)[1]
        if math.isfinite(found[1]) and math.isfinite(wrong):
            return max(found[0], 0.0), math.nextafter(found[1] + wrong, math.inf)
    low, high = of(positive)
    if not math.isfinite(high):  # where a density is 0 its logarithm is not: take all of p
        high = integral([(pair.first, True)], pair.variable, pair.inputs, part, marks, rel)[1]
    return (max(low, 0.0) if math.isfinite(low) else 0.0), high


def _inside(low: float, high: float) -> float:
    """Return a point of an interval that may be infinite."""
    if math.isinf(low) or math.isinf(high):
        return high - 1.0 if math.isinf(low) and math.isfinite(high) else max(low, -1.0) + 1.0
    return low + (high - low) / 2


def _crossings(
    gap: Callable[[np.ndarray], np.ndarray], level: float, over: tuple[float, float]
) -> list[float]:
    """Return floats around the places where the privacy loss crosses a level, as far as seen."""
    a, b = (min(max(end, -1e12), 1e12) for end in over)
    grid = np.linspace(a, b, _GRID)
    with np.errstate(all="ignore"):
        above = gap(grid) > level
        out: list[float] = []
        for k in np.flatnonzero(above[1:] != above[:-1])[:32].tolist():
            low, high = float(grid[k]), float(grid[k + 1])
            while (middle := low + (high - low) / 2) not in (low, high):
                same = bool((gap(np.array([middle])) > level)[0]) == bool(above[k])
                low, high = (middle, high) if same else (low, middle)
            out += [low, high]
    return out
