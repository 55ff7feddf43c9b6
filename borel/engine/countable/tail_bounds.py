r"""Bounds of PML and PMC at all outcomes beyond a head, y = M, M + 1, ... to infinity, at once.

The secrets fall into parts: some points, the points x = y + k at which the kernel asks whether
x - k equals y, and all the others. Along a ray of outcomes (`borel.engine.infinities`) the kernel
on a part is enclosed for all outcomes beyond the head, up to a common power, and

.. math:: \mathrm{PMC}(y) \le \log \max_i \sum_j P_j\, \sup \frac{f(y|x_j)}{f(y|x_i)}, \qquad
    \mathrm{PML}(y) \le -\log \min_i \sum_j P_j\, \inf \frac{f(y|x_j)}{f(y|x_i)}.

Of finitely many secrets the ratios are bounded by differences of logarithms as well.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from flint import arb

from borel.engine.kernels.leakage_far_out import of_rows
from borel.engine.problem.truncated_prior import off_by
from borel.numerics.balls.arithmetic import ball, ends, precision
from borel.numerics.germs.arithmetic import Rules
from borel.numerics.germs.exponential_scale import on_scale, powers, scales
from borel.numerics.germs.interpreter import PowerProgram, range_of, ray
from borel.numerics.germs.order_bounds import Ray
from borel.numerics.germs.specialisation import settled
from borel.numerics.germs.values import BITS, ZERO, Power, Real, UndecidedRule, box
from borel.numerics.graphs import rewrite
from borel.numerics.graphs.affine_nodes import affine
from borel.numerics.graphs.graph import GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from borel.numerics.graphs.graph import Graph
    from borel.probability.density import Density

_POINTS = 8
_MOST_SECRETS = 64


class _Part(NamedTuple):
    """Secrets: the kernel, and their mass, both as functions of the outcome."""

    kernel: Any
    least: Any
    most: Any


def beyond(engine: Any, kind: str, last: float, side: float = 1.0) -> float:
    """Bound a leakage at every integer outcome y > last.

    Parameters
    ----------
    engine : CountableEngine
        The joint; its outcomes are integers.
    kind : {"pml", "pmc", "ldp"}
        Which leakage; for "ldp" that is the largest log f(y|x) - log f(y|x').
    last : float
        The head's last outcome.
    side : {1, -1}
        For -1 the outcomes are those with -y > last.

    Returns
    -------
    float
        Infinite where nothing is proved.
    """
    best, kernel = _by_rows(engine, kind, last, side), _kernel(engine, side)
    if kernel is None:
        return best
    for y, t0 in _rays(kernel, float(last)):
        try:
            with precision(BITS):
                best = min(best, _Tail(engine, kernel, y, t0, float(last)).bound(kind))
        except UndecidedRule:
            continue
    return best


def _by_rows(engine: Any, kind: str, last: float, side: float) -> float:
    """Bound a leakage by differences of the log-kernels of finitely many secrets."""
    logs = engine.in_logs
    if logs is None or logs.secret.rest:
        return math.inf
    low, high = sorted((last + side, side * math.inf))
    return of_rows(logs.surface, kind, low, high)[1]


def envelope(engine: Any, start: float) -> Iterator[tuple[Any, Any]]:
    """Bound f_Y(y) <= h e^(-r (y - start)) for all integers y >= start, by balls (h, r).

    Parameters
    ----------
    engine : CountableEngine
        As in `beyond`.
    start : float
        The first outcome.
    """
    kernel = _kernel(engine, 1.0)
    if kernel is None:
        return
    for y, t0 in _rays(kernel, start - 1.0):
        if not y.scale:
            continue
        try:
            whole = _Tail(engine, kernel, y, t0, start - 1.0).marginal()
        except UndecidedRule:
            continue
        if isinstance(whole, Power) and whole.base == 0 and whole.w[1].is_finite():
            # t = e^(-y / |a|), and t^b is largest for the least b
            rate = whole.a[0] / -y.value.a[0]  # type: ignore[union-attr]
            yield whole.w[1] * (-rate * ball(start)).exp(), rate


def _kernel(engine: Any, side: float) -> Graph | None:
    """Return the kernel, for -1 that of -Y; None where the outcomes have an end on that side."""
    outcome, density = engine.joint.outcome, engine.mechanism.density
    if outcome.kind != "countable" or density is None or density.graph is None:
        return None
    if (outcome.upper if side > 0 else outcome.lower) is not None:
        return None
    graph = _linear(density)
    if side > 0:
        return graph
    b = GraphBuilder()
    y = b.add("negative", b.add("input", "y"))
    return b.graph(
        b.append(graph, inputs={n: y if n == "y" else b.add("input", n) for n in graph.inputs})[-1]
    )


def _rays(kernel: Graph, last: float) -> list[tuple[Ray, float]]:
    """Return rays through all outcomes beyond the head; none where the head is too short."""
    if not last >= 2 * _POINTS:
        return []
    far = ray(0.0, -1.0, 1.0, 1.0)
    out = [(Ray(far, "y = 1/t", {"infinity": 1}), 1 / last)]
    # an absolute value hides a scale until it is known which one it is
    for scale in scales(settled(_bound(kernel, 0.0), {"y": far}, 1 / last)):
        base = math.e if isinstance(scale, str) else scale
        t0 = base ** -(last + 0.5) if (last + 1) * math.log(base) < 700 else 0.0
        if t0 > 0:
            out.append((on_scale(scale), t0))
    return out


class _Tail:
    """The parts of the secrets along one ray of outcomes."""

    def __init__(self, engine: Any, kernel: Graph, y: Ray, t0: float, last: float):
        self.y, self.t0, self.rules = y, t0, Rules(t0)
        self.kernel, self.prior = kernel, engine.prior
        self.fits = range_of(y.value, t0)[0] > last - 1  # what it leaves out is in the head
        self.fits &= range_of(y.value, t0)[0] <= last + 1
        self.parts = list(self._parts(engine)) if self.fits else []

    def bound(self, kind: str) -> float:
        """Bound the leakage along the ray."""
        if not self.parts:
            return math.inf
        rules, worst = self.rules, ball(0)
        for one in self.parts:
            inverse = rules.reciprocal(one.kernel)
            total = ball(0)
            for other in self.parts:
                ratio = rules.multiply(other.kernel, inverse)
                if kind == "ldp":
                    total = total.max(rules.range(ratio)[1])
                    continue
                mass = other.most if kind == "pmc" else other.least
                low, high = rules.range(rules.multiply(ratio, mass))
                total += high if kind == "pmc" else low.max(arb(0))
            if kind == "pml":
                if not total > 0:
                    return math.inf
                total = 1 / total
            worst = worst.max(total)
        if not (worst.is_finite() and worst > 0):
            return math.inf
        return max(ends(worst.log())[1], 0.0)

    def marginal(self) -> Real:
        """Enclose f_Y along the ray, from above: the parts may share secrets."""
        if not self.parts:
            raise UndecidedRule("outcomes of the head")
        total: Real = ZERO
        for part in self.parts:
            total = self.rules.add(total, self.rules.multiply(part.kernel, part.most))
        return total

    def _parts(self, engine: Any) -> Any:
        finite = engine._finite_prior
        head = finite or engine._head(_POINTS)
        points = np.asarray(head.points, float)
        if len(points) > _MOST_SECRETS or (
            len(points)
            and not range_of(self.y.value, self.t0)[0] > float(np.abs(points).max()) + _POINTS
        ):
            raise UndecidedRule("secrets among the outcomes")
        for x, low, high in zip(points, head.low, head.high, strict=True):
            if high > 0:
                mass = (_number(float(low)), _number(float(high)))
                yield _Part(self._run(_bound(self.kernel, float(x)), {}), *mass)
        if finite is not None:
            return
        if not (len(head.boxes[0]) == 1 and math.isinf(head.boxes[1][0])):
            raise UndecidedRule("secrets without a lower end")
        together, steps = _apart(self.kernel)
        rest = box((arb(float(head.boxes[0][0])), arb.pos_inf()), still=True)
        yield _Part(self._run(together, {"x": rest}), _number(0.0), _number(float(head.tail)))
        for k in steps:
            along = rewrite.diagonal(self.kernel)[0].bind({"offset": float(k)})
            if self.prior.density is None:
                raise UndecidedRule("a prior without a density")
            p = _linear(self.prior.density)
            shifted = _shifted(p, float(k))
            mass = self._run(shifted, {})
            if off := off_by(self.prior):  # the prior meant is that over its sum
                mass = self.rules.multiply(mass, _range(1 - 2 * off, 1 + 2 * off))
            yield _Part(self._run(along, {}), mass, mass)

    def _run(self, graph: Graph, more: dict[str, Any]) -> Real:
        """Enclose a density along the ray."""
        named = {"y": self.y.value, **more}
        graph = settled(graph, named, self.t0)
        known = powers(graph, self.y.scale)
        inputs = {name: named[name] for name in graph.inputs}
        value = PowerProgram(graph).run(inputs, self.t0, known=known)
        if not isinstance(value, Real):
            raise UndecidedRule("a density along the ray")
        return value


def _number(value: float) -> Power:
    return _range(value, value)


def _range(low: float, high: float) -> Power:
    return box((arb(low), arb(high)), still=True)


def _linear(density: Density) -> Graph:
    """Return the graph of a density itself."""
    graph = density.graph
    if graph is None:
        raise UndecidedRule("a density that could not be traced")
    return rewrite.linear_of(graph) if density.log else graph


def _bound(graph: Graph, x: float) -> Graph:
    return graph.bind({"x": x}) if "x" in graph.inputs else graph


def _shifted(graph: Graph, k: float) -> Graph:
    """Return a function of x at x = y + k, as a function of y."""
    b = GraphBuilder()
    x = b.add("input", "y") if k == 0 else b.add("add", b.add("input", "y"), b.add("const", k))
    return b.graph(b.append(graph, inputs=dict.fromkeys(graph.inputs, x))[-1])


def _apart(graph: Graph) -> tuple[Graph, list[int]]:
    """Return the kernel at secrets for which no x = y + k that it asks about holds; and the k."""
    forms, steps = affine(graph, ("y", "x")), set()
    b = GraphBuilder()
    place: list[int] = []
    for op, args in graph.nodes:
        if op in ("equal", "not_equal"):
            sides = [forms[a] for a in args]
            if None not in sides:
                gap = [u - v for u, v in zip(*sides, strict=True)]  # a + b y + c x
                if gap[1] != 0 and gap[1] == -gap[2]:
                    step = Fraction(gap[0]) / gap[1]  # x = y + a / b
                    if step.denominator == 1:
                        steps.add(int(step))
                    place.append(b.add("const", float(op == "not_equal")))
                    continue
        leaf = op in ("input", "const")
        place.append(b.add(op, *(args if leaf else (place[a] for a in args))))
    return b.graph(place[-1]), sorted(steps)
