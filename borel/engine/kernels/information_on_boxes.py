r"""Mutual information on whole boxes of outcomes.

With :math:`\eta(u) = -u \log u` and g = f e^-shift, a kernel of at most 1 on a box of outcomes,

.. math:: \int p f \log(f / f_Y) \, dx
    = e^{\text{shift}} \Big( \eta\Big(\int p g \, dx\Big) - \int p\, \eta(g) \, dx \Big)

at each outcome. Both integrals over the secret are polynomials in y (`marginal_on_boxes`): the
second as that of a kernel :math:`\eta(g)`, which is not negative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.kernels.leakage_on_boxes import (
    Band,
    Bands,
    against,
    integral,
    log_jet,
    offsets,
    side,
)
from borel.engine.kernels.marginal_on_boxes import ORDER, Marginal, geometry
from borel.engine.kernels.tail_entropy import largest_mean
from borel.numerics.graphs import rewrite
from borel.numerics.graphs.graph import GraphBuilder
from borel.numerics.intervals import batched
from borel.numerics.intervals.interpreter import TABLE
from borel.numerics.jets import arithmetic
from borel.numerics.jets.interpreter import Program

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Surface
    from borel.numerics.graphs.graph import Graph
    from borel.numerics.intervals.batched import Box
    from borel.numerics.jets.interpreter import Outcome


class Entropy(Program):
    """-g log g for g = f e^-shift, from a graph of the logarithm of f.

    The product loses its range where g may be 0: there it is that of g which tells.
    """

    def __init__(self, log_kernel: Graph, varies: frozenset[str], *, far: bool):
        self.kernel = Program(rewrite.integrand(log_kernel, None, far=far), varies)
        super().__init__(entropy(log_kernel, None, far=far), varies)

    def run(self, inputs: dict[str, Box], order: int = 0, **about: Any) -> Outcome:
        """Evaluate it on jets: see `Program.run`."""
        found = super().run(inputs, order, **about)
        if about.pop("decisions", None):  # branches of a box around, which the other graph lacks
            return found
        low, high = (np.array(end) for end in found.jet)
        span = TABLE["special.entr"](
            *[arithmetic.entry(self.kernel.run(inputs, order, **about).jet, 0)]
        )
        low[0], high[0] = batched.meet((low[0], high[0]), span)
        return found._replace(jet=(low, high))


def entropy_of(surface: Surface) -> Surface:
    """Return a kernel with -g log g, for g = f e^-shift, in place of g: without and with p(x)."""
    out, prior = surface.of(surface.graph, surface.secret), surface.secret.log_density
    out.rises = False
    out.plain, out.far = (
        (
            alone := Entropy(surface.graph, surface.varies, far=far),
            alone
            if prior is None
            else Program(entropy(surface.graph, prior, far=far), surface.varies),
        )
        for far in (False, True)
    )
    return out


def entropy(log_kernel: Graph, log_prior: Graph | None, *, far: bool) -> Graph:
    """Return the graph of -g log g, for g = f e^-shift, or of that times p(x)."""
    if rewrite.is_logarithm(log_kernel):
        b = GraphBuilder(rewrite.integrand(log_kernel, None, far=far))
        last = b.add("special.entr", b.roots[0])
        if log_prior is not None:
            last = b.add("multiply", last, b.add("exp", b.append(log_prior)[-1]))
    else:  # the logarithm as it is: of an exponential it would be known less well
        b = GraphBuilder(rewrite.integrand(log_kernel, log_prior, far=far))
        whole, log = b.roots[0], b.append(log_kernel)[-1]
        fall = b.add("subtract", b.add("input", "shift"), log)
        last = b.add("multiply", fall, whole)
    return rewrite.simplified(b.graph(last))


def widened(low: np.ndarray, high: np.ndarray, slack: float) -> Box:
    """Cover every kernel whose logarithm is off by no more than a slack, on any set of outcomes.

    There the density of information moves by twice that, and masses by as much as a factor; and the
    integral of its size exceeds that of itself by no more than 2/e.
    """
    if not slack:
        return low, high
    off = 2 * slack * (np.abs(high) + 1) + 3 * slack
    return low - off, high + off


class InformationBands(Bands):
    """Boxes of outcomes with what they add to mutual information, as the mean.

    At an outcome it is the divergence of P_{X|Y=y} from the prior, which PML bounds from above.
    """

    def __init__(self, marginal: Marginal):
        super().__init__(marginal)
        self.entropy = Marginal(entropy_of(marginal.surface))

    def _evaluate(self, kind, low, high, tol, deadline) -> Band:
        n = len(low)
        half, ends = geometry(low, high)[1], offsets(low, high)
        top = side(self.surface, low, high, 1.0, tol, deadline, self.cover)
        bounded = np.isfinite(top.direct)
        shift = np.where(bounded, top.direct, 0.0)
        mass, density, logs = self.law(low, high, shift, tol, deadline)
        upper = against(top, logs, half)[1]
        inner, outer, rest = self.entropy.over(low, high, shift, max(tol, 1e-13), deadline)
        parts = []
        for k, own in enumerate((inner, outer)):
            order = ORDER - 1 + k
            eta = arithmetic.multiply(density[k], log_jet(density[k], order), order)
            total = arithmetic.add(eta, self._whole(own, rest))
            parts.append(batched.negative(total))
        scale = batched.exp(batched.point(shift))
        mean = batched.settled(batched.multiply(integral(parts[0], parts[1], ends), scale))
        # without a bound of the kernel g may exceed 1
        known = bounded & np.isfinite(mean[0]) & np.isfinite(mean[1])
        # beside the end of where f_Y is positive no PML is bounded, but its mean is
        width = batched.subtract(batched.point(high), batched.point(low))[1]
        faded = largest_mean(mass[1], top.direct + np.log(width))
        most = np.fmin(mass[1] * upper * (1 + 1e-15), faded)
        most = np.where(np.isnan(most), np.inf, most)
        mean = (
            np.where(known, np.maximum(mean[0], 0.0), 0.0),
            np.where(known, np.fmin(np.maximum(mean[1], 0.0), most), most),
        )
        nothing, unknown = np.zeros(n), np.full(n, np.inf)
        mass = mass[0], np.minimum(mass[1], 1.0)
        return Band(low, high, nothing, upper, *mass, *mean, nothing, unknown, nothing, mass[1])
