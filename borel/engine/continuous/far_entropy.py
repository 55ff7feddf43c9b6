r"""The mean of PML over outcomes far out, bounded by their mass and their mean distance.

Let f(y|x) <= s. Then PML(y) <= log s / f_Y(y), and over a half-line of mass q that starts at a,
with :math:`m \ge E[|Y - a|; \text{half-line}]`,

.. math:: \int f_Y \log(s / f_Y) \le q (1 + \log s + \log m - 2 \log q):

by Gibbs' inequality the integral of :math:`-f_Y \log f_Y` is at most that of
:math:`-f_Y \log (q g)` for every density g on the half-line; that of the exponential law of mean
m / q gives the bound. On a box of width w, with a constant g, it is
:math:`q (\log s + \log w - \log q)`.

The mean distance is finite for Y = g(X) + U if those of g(X) and U are: where the logarithm of
their densities falls at least at a rate. So nothing has to be known of f_Y far out: secrets may
be unbounded, or counts.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from borel.engine.continuous.far_means import falling
from borel.engine.continuous.normalised import noise_of
from borel.engine.continuous.surface import log_graph
from borel.engine.intervals import interval, jet, lanes
from borel.engine.intervals.jet_program import Program
from borel.errors import NotEnclosed

if TYPE_CHECKING:
    import numpy.typing as npt

    from borel.engine.continuous.certified_laws import CertifiedOutcomes
    from borel.engine.graphs.trace import Graph
    from borel.measures import Measure

_REACHES = 2.0 ** np.arange(-4, 13)
_UP = 1 + 2.0**-40


class FarEntropy:
    """Bounds on the mean of PML over half-lines of outcomes, for noise on a function of the secret.

    Parameters
    ----------
    engine : CertifiedOutcomes
        The joint.
    """

    def __init__(self, engine: CertifiedOutcomes):
        self.engine = engine

    @cached_property
    def _noise(self) -> tuple[Graph, Graph] | None:
        """Return log f(u + g(x)|x) as a function of u, and g."""
        engine = self.engine
        if engine.secret.dim > 1 or len(engine.atoms):
            return None
        found = noise_of(engine.surface.graph, engine.line)
        return None if found is None else (found[0].bind({"x": 0.0}), found[1])

    @cached_property
    def height(self) -> float:
        """Bound log f from above."""
        if self._noise is None:
            return math.inf
        cuts = np.concatenate([[-math.inf], np.linspace(-32, 32, 129), [math.inf]])
        with np.errstate(all="ignore"):
            u = (cuts[None, :-1], cuts[None, 1:])
            value = lanes.settled(jet.entry(Program(self._noise[0]).run({"y": u}, 0).jet, 0))
        top = float(np.max(value[1]))
        return math.inf if math.isnan(top) else top

    @cached_property
    def distance(self) -> float:
        """Bound E|Y| from above."""
        if self._noise is None:
            return math.inf
        noise, g = self._noise
        out = first_moment(noise, "y", -math.inf, math.inf)
        return (out + self._of_secret(g)) * _UP if math.isfinite(out) else out

    def _of_secret(self, g: Graph) -> float:
        """Bound E|g(X)| from above."""
        secret, prior = self.engine.secret, self.engine.joint.prior
        if secret.continuous:
            ends = float(secret.lower[0]), float(secret.upper[0])
        else:
            places = [*secret.atoms[:, 0].tolist(), *(v for box in secret.rest for v in box)]
            ends = min(places), max(places)
        try:
            low, high = interval.evaluate(g, {"x": (np.array(ends[0]), np.array(ends[1]))})
            if math.isfinite(float(low)) and math.isfinite(float(high)):
                return max(abs(float(low)), abs(float(high)))
        except NotEnclosed:
            return math.inf
        if g.nodes != (("input", ("x",)),) or not _plain(prior):
            return math.inf
        assert prior.density is not None
        return first_moment(log_graph(prior.density), "x", *ends)

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
        """
        out = np.full(len(low), math.inf)
        if not math.isfinite(self.height):
            return out
        with np.errstate(all="ignore"):
            edge = np.where(np.isinf(high), np.abs(low), np.abs(high))
            far = np.isinf(low) | np.isinf(high)
            size = np.where(far, 1 + np.log((self.distance + edge) * _UP), np.log(high - low))
            size, times = self.height + size, np.where(far, 2.0, 1.0)
            # q (size - times log q) rises with q up to there
            log_q = np.minimum(np.log(mass), size / times - 1)
            bound = np.exp(log_q) * (size - times * log_q) * _UP + 2.0**-1000
            slack = np.exp(log_q) * (np.abs(size) + np.abs(log_q) + 1) * 2.0**-40
        bound = np.where(mass > 0, bound + slack, 0.0)
        both = np.isinf(low) & np.isinf(high)
        return np.where(both | ~np.isfinite(size) | np.isnan(bound), math.inf, bound)


def _plain(prior: Measure) -> bool:
    """Return whether a prior is a density, or masses of integers, and nothing else."""
    return prior.on.dim == 1 and not prior.masses and prior.density is not None


def first_moment(log_density: Graph, name: str, lower: float, upper: float) -> float:
    r"""Bound the mean of |X| from above, for a density on a line or masses of integers.

    Beyond R, where :math:`\log p(x) \le c - r (|x| - R)` with r > 0, it is at most
    :math:`e^c (R / (1 - e^{-r}) + 1 / (1 - e^{-r})^2)`, for a sum and for an integral. Infinite
    where no such rate is found.
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
                start, rate = falling(log, *ends, name=name)
            if rate > 0 and start < 700:
                left = -math.expm1(-rate) * (1 - 2.0**-40)
                tail = math.exp(start) * (reach / left + 1 / left**2)
                best = min(best, (float(reach) + tail) * _UP)
        total += best
    return total * _UP
