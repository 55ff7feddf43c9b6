r"""The mean of PML over outcomes far out, bounded by their mass and their mean distance.

Let f(y|x) <= s. Then PML(y) <= log s / f_Y(y), and over a half-line of mass q that starts at a,
with :math:`m \ge E[|Y - a|; \text{half-line}]`,

.. math:: \int f_Y \log(s / f_Y) \le q (1 + \log s + \log m - 2 \log q):

by Gibbs' inequality the integral of :math:`-f_Y \log f_Y` is at most that of
:math:`-f_Y \log (q g)` for every density g on the half-line; that of the exponential law of mean
m / q gives the bound. On a box of width w, with a constant g, it is
:math:`q (\log s + \log w - \log q)`. For integers a + 1, a + 2, ... the geometric law of mean m / q
gives the same bound, and s = 1.

With a power in place of the distance, :math:`m \ge E[|Y - a|^r; \text{half-line}]`, 0 < r <= 1,
and the law of density :math:`\propto e^{-\lambda u^r}`, of which a sum over u = 1, 2, ... is less
than the integral, it is

.. math:: q \big(\log s + \log \Gamma(1 + \tfrac1r)
    + \tfrac1r (1 + \log r + \log m - \log q) - \log q\big):

heavy tails have a moment of some order r. On a half-line that does not hold 0, and outside of it,
|Y - a| <= |Y|.

The mean distance is finite for Y = g(X) + U if those of g(X) and U are: where the logarithm of
their densities falls at least at a rate, and g has a bounded slope; and
:math:`E|Y|^r \le E|g(X)|^r + (E|U|)^r`. So nothing has to be known of f_Y far out: secrets may be
unbounded, or counts. For a mixture of such kernels the sum will do, and for any other kernel of
counts that its masses fall from a multiple of x on (`ratios_far_out`).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from borel.engine.kernels.means_far_out import falling
from borel.engine.kernels.ratios_far_out import reach_of
from borel.engine.problem.kernel_normalisation import noise_of
from borel.engine.problem.secret_and_kernel import log_graph
from borel.errors import NotEnclosed
from borel.numerics.graphs.graph import Graph, pruned
from borel.numerics.intervals import batched, interpreter
from borel.numerics.jets import arithmetic
from borel.numerics.jets.interpreter import Program
from borel.probability.alphabets import Interval
from borel.probability.density import ranges_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from borel.engine.problem.protocols import TracedJoint
    from borel.probability.measure import Measure

_REACHES = 2.0 ** np.arange(-4, 13)
_UP = 1 + 2.0**-40
_X = ("input", ("x",))


def largest_mean(mass: Any, size: Any, times: Any = 1.0) -> npt.NDArray[np.float64]:
    r"""Bound :math:`q (\text{size} - \text{times} \log q)` from above, for q up to a mass.

    With the logarithm of s w for a size, that is the mean of PML over outcomes of mass q in a box
    of width w, or at w points, where f(y|x) <= s.
    """
    with np.errstate(all="ignore"):
        # it rises with q up to there
        log_q = np.minimum(np.log(mass), size / times - 1)
        bound = np.exp(log_q) * (size - times * log_q) * _UP + 2.0**-1000
        slack = np.exp(log_q) * (np.abs(size) + np.abs(log_q) + 1) * 2.0**-40
        bound = np.where(np.asarray(mass) > 0, bound + slack, 0.0)
    return np.where(np.isnan(bound), np.inf, bound)


class Priors(Protocol):
    """What is read of many priors, shape (priors,)."""

    def moment(self, order: float) -> npt.NDArray[np.float64]:
        """Bound E|X|^order, of an order up to 1."""
        ...

    def beyond(self, distance: float) -> npt.NDArray[np.float64]:
        """Bound P{|X| > distance}."""
        ...


class FarEntropy:
    """Bounds on the mean of PML over half-lines of outcomes, for noise on a function of the secret.

    Parameters
    ----------
    engine : TracedJoint
        The joint, with log-densities that are traced.
    counts : bool
        Whether the outcomes are integers: then points count, and otherwise null sets do not.
    order : float
        That of the moments, in (0, 1].
    priors : Priors, optional
        Many priors with the null sets of the joint's own one, in place of that.
    """

    def __init__(
        self,
        engine: TracedJoint,
        *,
        counts: bool = False,
        order: float = 1.0,
        priors: Priors | None = None,
    ):
        self.engine, self.counts = engine, counts
        self.order, self.priors = order, priors

    @cached_property
    def _noises(self) -> list[tuple[Graph, Graph | None]]:
        """Return log f(u + g(x)|x) as a function of u, and g, for the parts of a mixture.

        None for g = 0; no parts where one is of another form.
        """
        engine = self.engine
        if engine.secret.dim > 1 or not (self.counts or isinstance(engine.joint.outcome, Interval)):
            return []
        line, parts = Interval(None, None) if self.counts else engine.joint.outcome, []
        for term in _summands(engine.surface.graph):
            found = noise_of(term, line) if _X in term.nodes else (term, None)
            if found is None:
                return []
            noise, g = found
            parts.append((noise if g is None else noise.bind({"x": 0.0}), g))
        return parts

    @cached_property
    def height(self) -> float:
        """Bound log f from above."""
        if self.counts:
            return 0.0  # a mass is at most 1
        if not self._noises:
            return math.inf
        cuts, top = np.concatenate([[-math.inf], np.linspace(-32, 32, 129), [math.inf]]), -math.inf
        for noise, _ in self._noises:
            with np.errstate(all="ignore"):
                u = (cuts[None, :-1], cuts[None, 1:])
                value = batched.settled(arithmetic.entry(Program(noise).run({"y": u}, 0).jet, 0))
            own = float(np.max(value[1]))
            top = max(top, math.inf if math.isnan(own) else own)
        return top + math.log(len(self._noises)) * _UP

    @cached_property
    def distance(self) -> Any:
        """Bound E|Y|^order from above, for each prior."""
        if self.counts and not self._noises:
            return self._by_ratios()
        total: Any = 0.0 if self._noises else math.inf
        for noise, g in self._noises:
            ends = (-math.inf, math.inf) if g is not None else self._ends
            total = total + self._power(first_moment(noise, "y", *ends, points=self.counts))
            if g is not None and np.isfinite(total).any():
                total = total + self._of_secret(g)
        return total * _UP

    def _power(self, value: float) -> float:
        """Bound a power of a distance, by Jensen's inequality the moment of that order."""
        return value if self.order == 1 else value**self.order * _UP

    def _by_ratios(self) -> Any:
        """Bound E|Y|^order by the outcome from which masses fall, for each secret (`reach_of`)."""
        engine, total = self.engine, 0.0
        ranges = ranges_of(engine.joint.mechanism.density)
        if engine.secret.dim > 1:
            return math.inf
        for end in self._ends:
            if math.isfinite(end):
                total += self._power(abs(end))
                continue
            reach = reach_of(engine.surface.graph, math.copysign(1.0, end), ranges)
            if reach is None:
                return math.inf
            away = self._power(reach.slope) * self._of_secret(Graph((_X,), ("x",)))
            total = total + (self._power(reach.start) + away) * _UP
        return total * _UP

    @property
    def _ends(self) -> tuple[float, float]:
        """Return those of the outcomes."""
        low, high = self.engine.joint.outcome.lower, self.engine.joint.outcome.upper
        return -math.inf if low is None else low, math.inf if high is None else high

    def _of_secret(self, g: Graph) -> Any:
        """Bound E|g(X)|^order from above, for each prior."""
        prior = self.engine.joint.prior
        most, start, slope, one, ends = self._line(g)
        if math.isfinite(most):
            return self._power(most)
        if not math.isfinite(start + slope):
            return math.inf
        if self.priors is not None:
            away: Any = self.priors.moment(self.order)
        elif _plain(prior):
            assert prior.density is not None
            points = not self.engine.secret.continuous
            away = first_moment(log_graph(prior.density), "x", *ends, points=points)
            away = self._power(away)
        else:
            return math.inf
        return (self._power(start) + self._power(slope) * (away + self._power(abs(one)))) * _UP

    def _line(self, g: Graph) -> tuple[float, float, float, float, tuple[float, float]]:
        """Bound |g|, or by a line: |g(x)| is at most start + slope |x - one|; also the secrets."""
        secret = self.engine.secret
        if secret.continuous:
            ends = float(secret.lower[0]), float(secret.upper[0])
        else:
            places = [*secret.atoms[:, 0].tolist(), *(v for box in secret.rest for v in box)]
            ends = min(places), max(places)
        one, points = next(filter(math.isfinite, ends), 0.0), not secret.continuous
        try:
            most, start = _largest(g, *ends), _largest(g, one, one)
        except NotEnclosed:
            most = start = math.inf
        x = arithmetic.variable(np.array([ends[0]]), np.array([ends[1]]), 1)
        with np.errstate(all="ignore"):
            found = arithmetic.entry(Program(g).run({"x": x}, 1, everywhere=points).jet, 1)
        slope = float(np.max(np.abs(batched.settled(found))))
        return most, start, slope, one, ends

    def tail(self, edge: float) -> Any:
        """Bound P{|Y| > edge} of each of the priors: that of half the edge, for U and for g(X)."""
        half, total = edge / 2, 0.0
        if self.priors is None or not self._noises:
            return 1.0
        for noise, g in self._noises:
            total = total + sum(_tail_of(noise, s * half, self.counts) for s in (-1.0, 1.0))
            if g is None:
                continue
            most, start, slope, one, _ = self._line(g)
            if most <= half:
                continue
            away = ((half - start) / slope - abs(one)) / _UP if slope > 0 else math.nan
            total = total + (self.priors.beyond(away) if away > 0 else 1.0)
        return np.fmin(total * _UP, 1.0)

    def mean(
        self,
        low: npt.NDArray[np.float64],
        high: npt.NDArray[np.float64],
        mass: npt.NDArray[np.float64],
    ) -> npt.NDArray[np.float64]:
        """Bound the integral of PML over boxes of outcomes of some mass.

        Parameters
        ----------
        low, high : ndarray (n,)
            The ends of the boxes.
        mass : ndarray (n,)
            Their masses, at most.

        Returns
        -------
        ndarray (n,)
            With a moment for each prior n is their number: boxes and masses are one for each.
        """
        out = np.full(len(low), math.inf)
        if not math.isfinite(self.height):
            return out
        each = 1 / self.order
        with np.errstate(all="ignore"):
            # how far 0 is inside the half-line
            edge = np.maximum(np.where(np.isinf(high), -low, high), 0.0) ** self.order
            far = np.isinf(low) | np.isinf(high)
            moment = each * (1 + np.log(self.order * (self.distance + edge) * _UP))
            moment = (math.lgamma(1 + each) + moment) + 2.0**-40 * (1 + np.abs(moment))
            size = np.where(far, moment, np.log(high - low))
            size, times = self.height + size, np.where(far, 1 + each, 1.0)
            bound = largest_mean(mass, size, times)
        both = np.isinf(low) & np.isinf(high)
        return np.where(both | ~np.isfinite(size) | np.isnan(bound), math.inf, bound)


def _summands(log_kernel: Graph) -> list[Graph]:
    """Return the logarithms of the terms of a sum."""
    op, args = log_kernel.nodes[-1]
    if op != "logaddexp":
        return [log_kernel]
    parts = (Graph(pruned(list(log_kernel.nodes), k), log_kernel.inputs) for k in args)
    return [term for part in parts for term in _summands(part)]


def _largest(g: Graph, low: float, high: float) -> float:
    """Bound the absolute value of a function of x."""
    ends = interpreter.evaluate(g, {"x": (np.array(low), np.array(high))})
    found = max(abs(float(end)) for end in ends)
    return found if all(math.isfinite(float(end)) for end in ends) else math.inf


def _tail_of(log_density: Graph, edge: float, points: bool) -> float:
    """Bound the mass beyond a point away from 0, where the density falls at a rate."""
    with np.errstate(all="ignore"):
        low, high = sorted((edge, math.copysign(math.inf, edge)))
        start, rate = falling(Program(log_density), low, high, everywhere=points)
    if not (rate > 0 and start < 700):
        return 1.0
    left = -math.expm1(-rate) * (1 - 2.0**-40) if points else rate
    return math.exp(start) / left * _UP


def _plain(prior: Measure) -> bool:
    """Return whether a prior is a density, or masses of integers, and nothing else."""
    return prior.on.dim == 1 and not prior.masses and prior.density is not None


def first_moment(
    log_density: Graph, name: str, lower: float, upper: float, *, points: bool = False
) -> float:
    r"""Bound the mean of |X| from above, for a density on a line or masses of integers.

    Beyond R, where :math:`\log p(x) \le c - r (|x| - R)` with r > 0, it is at most
    :math:`e^c (R / (1 - e^{-r}) + 1 / (1 - e^{-r})^2)`, for a sum and for an integral. Infinite
    where no such rate is found. For masses, what is said has to hold at single ``points`` too.
    """
    log, total = Program(log_density), 0.0
    for end in (lower, upper):
        sign = -1.0 if end < 0 else 1.0
        if math.isfinite(end):
            total += abs(end)
            continue
        best = math.inf
        for reach in _REACHES:
            ends = sorted((sign * float(reach), sign * math.inf))
            with np.errstate(all="ignore"):
                start, rate = falling(log, *ends, name=name, everywhere=points)
            if rate > 0 and start < 700:
                left = -math.expm1(-rate) * (1 - 2.0**-40)
                tail = math.exp(start) * (reach / left + 1 / left**2)
                best = min(best, (float(reach) + tail) * _UP)
        total += best
    return total * _UP
