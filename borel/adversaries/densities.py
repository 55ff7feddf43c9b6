r"""What an adversary believes of a real secret: a density on an interval, before and after y.

An expectation under the posterior is a quotient of two integrals over the secret,
:math:`E[h(X)|y] = \int h p f(y|\cdot) / \int p f(y|\cdot)`, both enclosed by Arb from the graphs of
the prior, the kernel and h. Neither the scale of p nor that of f(y|.) counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import settings
from borel.adversaries.beliefs import At
from borel.adversaries.posteriors import single
from borel.engine import engine_for
from borel.engine.divergences.hockey_sticks import integral
from borel.engine.finite.law_engine import OUTSIDE
from borel.engine.problem.prior_positivity import prover, require_nonnegative
from borel.engine.problem.secret_and_kernel import log_graph
from borel.errors import InvalidInput, NotEnclosed, NotYet
from borel.figures.leakage import VERSION
from borel.numerics.balls.interpreter import is_number
from borel.numerics.graphs.rewrite import simplified
from borel.numerics.graphs.trace import NotTraceable, trace
from borel.probability.alphabets import Interval
from borel.probability.density import Density

if TYPE_CHECKING:
    from borel.adversaries.threats import Threat, Value
    from borel.numerics.graphs.graph import Graph
    from borel.probability.joint import Joint

Ends = tuple[Fraction, Any]
_LEAST = 1e-13
_FARTHEST = 1e12


class SecretDensity(NamedTuple):
    """An unnormalised density of a real secret.

    Attributes
    ----------
    factors : tuple of Graph
        Logarithms of its factors.
    over : tuple of float
        The interval of the secret.
    marks : tuple of float
        Places of kinks, jumps and peaks.
    shift : float
        About the logarithm of its size.
    what : str
        Who asks, for the message of an error.
    doubts : dict
        What of gains and costs was checked and is not proved: its keys are added to.
    """

    factors: tuple
    over: tuple[float, float]
    marks: tuple[float, ...]
    shift: float
    what: str
    doubts: dict[str, None]

    def _traced(self, function: Callable[[Any], Any]) -> Graph:
        try:
            return trace(function, ("x",), ())
        except NotTraceable as error:
            raise NotYet(
                self.what,
                missing=f"a gain or cost that cannot be traced ({error})",
                instead="write it with NumPy: np.where, np.abs, np.exp.",
            ) from None

    def integral(self, function: Callable[[Any], Any], *marks: float) -> Ends:
        """Enclose the integral of a function of the secret, as Fractions or infinities."""
        graph = self._traced(function)
        known = sorted({*self.marks, *marks})
        rel_tol = max(min(settings.current().tol * 1e-2, 1e-9), _LEAST)
        factors = [*((f, True) for f in self.factors), (graph, False)]
        low, high = integral(factors, "x", {"shift": self.shift}, self.over, known, rel_tol)
        return _end(low), _end(high)

    @property
    def total(self) -> Ends:
        """Its integral."""
        low, high = self.integral(lambda x: 1.0 + 0.0 * x)
        return max(low, Fraction(0)), high

    def check(self, function: Callable[[Any], Any]) -> None:
        """Refuse a gain or a cost that is negative or no number; note what is not proved."""
        x = self.places()
        with np.errstate(all="ignore"):
            self.check_values(np.broadcast_to(np.asarray(function(x), float), x.shape), x)
        graph = simplified(self._traced(function))
        line = Interval(*(end if math.isfinite(end) else None for end in self.over))
        known = Density(None, {"x": line}, graph=graph)
        proved = prover(known)(graph) or require_nonnegative(known, self.what, "values >= 0")
        if not (proved and is_number(graph, *self.over)):
            self.doubts[f"gains and costs are numbers >= 0: checked at {len(x)} secrets"] = None

    def check_values(self, values: Any, place: Any) -> None:
        """Refuse values of a gain or a cost that are negative or no numbers."""
        wrong = np.isnan(values) | (values < 0)
        if wrong.any():
            raise InvalidInput(
                self.what,
                expected="values >= 0",
                got=repr(float(values[wrong][0])),
                where=f"x = {float(place[wrong][0]):g}",
            )

    def places(self) -> np.ndarray:
        """Return some secrets: evenly over the interval, or farther and farther out."""
        (low, high), out = self.over, np.append(np.linspace(0, 100, 201), np.logspace(2, 9, 57))
        if math.isfinite(low) and math.isfinite(high):
            inner = np.linspace(low, high, 203)
        else:
            starts = [e for e in self.over if math.isfinite(e)] or [0.0, *self.marks]
            inner = np.unique(np.concatenate([[e - out, e + out] for e in starts]))
        return inner[(inner > self.over[0]) & (inner < self.over[1])]

    def best_of(self, function: Any, actions: tuple, best: Any) -> Any:
        """Return the ends of the best expectation of g(x, w) over some w, and that w."""
        return best_of(self, function, actions, best)

    def nearest(self, p: Fraction) -> Any:
        """Enclose the least expectation of abs(x - m)**p, and return that m."""
        return nearest(self, p)


def _end(value: float) -> Any:
    return Fraction(value) if math.isfinite(value) else value


class LineBeliefs:
    """The prior and the posteriors of a secret with a density on an interval.

    Parameters
    ----------
    joint : Joint
        With a traced prior and kernel.
    what : str
        Who asks, for the message of an error.
    """

    certain = False

    def __init__(self, joint: Joint, what: str):
        self.joint, self.what = joint, what
        prior = joint.prior
        if not isinstance(prior.on, Interval) or prior.masses or joint.outcome.dim > 1:
            raise NotYet(
                what,
                missing=f"gains and costs on {joint.secret!r} and {joint.outcome!r}",
                instead="a finite secret, or one with a density on an interval.",
            )
        self.engine: Any = engine_for(joint)
        if self.engine.status == "estimate":
            raise NotYet(what, missing=f"a proof: {self.engine.reason}")
        self.reason = ""
        self.status = "conditional" if self.engine.status == "conditional" else "certified"
        self.status_before = self.status
        self.assumptions = self.engine.assumptions
        self.doubts: dict[str, None] = {}

    def notes(self, threat: Threat) -> tuple[str, ...]:
        """Return what figures about a threat rest on, beside the others."""
        return threat.assumptions

    def _density(self, kernel: Any = None, y: float = 0.0) -> SecretDensity:
        prior = self.joint.prior
        over = tuple(
            side * math.inf if end is None else float(end)
            for end, side in ((prior.on.lower, -1), (prior.on.upper, 1))
        )
        try:
            graphs = [log_graph(prior.density)]
            if kernel is not None:
                graph = log_graph(kernel)
                graphs.append(graph.bind({"y": y}) if "y" in graph.inputs else graph)
        except NotEnclosed as error:
            raise NotYet(self.what, missing=str(error)) from None
        marks = {*prior.breaks, *((y, *self.joint.mechanism.breaks) if kernel else ())}
        inner = tuple(m for m in sorted(marks) if over[0] < m < over[1])
        shift = 0.0
        if kernel is not None:
            shift = float(np.ravel(self.engine.log_marginal(np.array([y])))[0])
        return SecretDensity(
            tuple(graphs),
            (over[0], over[1]),
            inner,
            shift if math.isfinite(shift) else 0.0,
            self.what,
            self.doubts,
        )

    @cached_property
    def prior(self) -> SecretDensity:
        """The density of the prior."""
        return self._density()

    def before(self, threat: Threat) -> Value:
        """Return the best value under the prior."""
        return self._value(threat, self.prior, self.engine.secret.miss)

    def after(self, threat: Threat, weights: SecretDensity) -> Value:
        """Return the best value under a posterior."""
        return self._value(threat, weights, self.engine.secret.miss + self.engine.slack)

    def _value(self, threat: Threat, density: SecretDensity, slack: float) -> Value:
        found, (least, most) = threat.of_density(density), density.total
        if found.upper < 0:
            density.check_values(np.array([float(found.upper)]), np.array([math.nan]))
        off = Fraction(math.expm1(2 * slack)) * 2  # numerator and denominator
        low = Fraction(0) if most == math.inf else max(found.lower, 0) / most / (1 + off)
        high: Any = math.inf
        if least > 0 and found.upper < math.inf:
            high = found.upper / least * (1 + off)
        return type(found)(low, high, found.action)

    def outcome(self, y: Any) -> At:
        """Return the posterior density at an outcome."""
        single(self.joint.outcome, y)
        y = float(y)
        if self.engine.log_marginal_box(np.array([y]))[1][0] == -np.inf:
            return At(y, None, (OUTSIDE,))
        kernel = self.joint.mechanism.masses.get(y, self.joint.mechanism.density)
        where = (VERSION,) if self.joint.outcome.kind in ("continuous", "mixed") else ()
        return At(y, self._density(kernel, y), where)

    def average(self, threat: Threat) -> Value:
        """Say that averages are not there."""
        raise NotYet(
            self.what,
            missing=f"an average over outcomes with a secret on {self.joint.secret!r}",
            instead="one outcome, y=...; or a finite secret.",
        )


def best_of(density: SecretDensity, function: Any, actions: tuple, best: Any) -> Any:
    """Return the best expectation of g(x, w) over finitely many w: its ends, and the action."""
    found = []
    for w in actions:
        own = lambda x, w=w: function(x, w) + 0.0 * x  # noqa: E731
        found.append(density.integral(own))
        density.check(own)
    k = best(range(len(actions)), key=lambda i: found[i][0] + found[i][1])
    return best(low for low, _ in found), best(high for _, high in found), actions[k]


def nearest(density: SecretDensity, p: Fraction) -> Any:
    r"""Enclose the least of :math:`L(m) = \int |x - m|^p w(x) dx` over all m, and where it is.

    L is convex: where :math:`L'(a) \le 0 \le L'(b)` it is on [a, b] above its tangents at the ends.
    """
    whole: Any = int(p) if p.denominator == 1 else float(p)
    if Fraction(whole) != p:
        raise NotYet(
            density.what,
            missing=f"the power {p} of the distance from a real secret",
            instead="a power that a float holds, such as 3/2.",
        )
    total = density.total
    if total[0] <= 0 or total[1] == math.inf:
        return Fraction(0), math.inf, 0.0

    def cost(m: float) -> Ends:
        low, high = density.integral(lambda x: np.abs(x - m) ** whole, m)
        return max(low, Fraction(0)), high

    def slope(m: float) -> Ends:
        def side(x: Any) -> Any:
            return np.where(x < m, 1.0, -1.0)

        if p == 1:
            return density.integral(side, m)
        low, high = density.integral(lambda x: side(x) * np.abs(x - m) ** (whole - 1), m)
        return (p * low, p * high) if high < math.inf and low > -math.inf else (low, high)

    if p == 2:
        first = density.integral(lambda x: x)
        if not all(map(math.isfinite, first)):
            return Fraction(0), math.inf, 0.0
        m = float((first[0] + first[1]) / (total[0] + total[1]))
        low, high = cost(m)
        gap = density.integral(lambda x: x - m)
        less = max(abs(gap[0]), abs(gap[1])) ** 2 / total[0]
        return max(low - less, Fraction(0)), high, m
    return _least(density, cost, slope, float(p))


def _least(density: SecretDensity, cost: Any, slope: Any, power: float) -> Any:
    """Bracket the zero of the slope of a convex function."""
    low, high = density.over
    start = min(max(0.0, low), high) if not density.marks else density.marks[-1]
    a, b, step = start, start, 1.0
    ends: dict[float, Ends] = {}

    def at(m: float) -> Ends:
        if m not in ends:
            ends[m] = slope(m)
        return ends[m]

    if not all(map(math.isfinite, at(start))):  # it diverges, or cannot be enclosed
        return Fraction(0), math.inf, start
    while a > low and step < _FARTHEST and at(a)[1] > 0:
        a, step = max(low, a - step), 2 * step
    step = 1.0
    while b < high and step < _FARTHEST and at(b)[0] < 0:
        b, step = min(high, b + step), 2 * step
    if not (math.isfinite(a) and math.isfinite(b)) or b - a >= _FARTHEST / 2:
        return Fraction(0), math.inf, start
    for unit in (max(abs(a), abs(b), 1e-3), None):
        if unit is None:  # a distance that matters to the cost
            unit = float(cost(a + (b - a) / 2)[0] / density.total[1]) ** (1 / power)
        for _ in range(80):
            m = a + (b - a) / 2
            if not a < m < b or b - a <= 2.0**-26 * unit:
                break
            if at(m)[0] > 0:
                b = m
            elif at(m)[1] < 0:
                a = m
            else:
                break
    m = a + (b - a) / 2
    width, middle = Fraction(b) - Fraction(a), cost(m)
    tilt = max(abs(at(m)[0]), abs(at(m)[1]))
    if not math.isfinite(tilt) or not math.isfinite(middle[0]):
        return Fraction(0), middle[1], m
    return max(middle[0] - tilt * width, Fraction(0)), middle[1], m
