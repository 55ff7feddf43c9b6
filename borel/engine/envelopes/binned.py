r"""The envelope of a continuous secret: bounds from below by bins, from above by the supremum.

A single secret is a null set and witnesses nothing; sets of positive mass do. With the secret cut
into sets B of positive mass and the outcomes into cells, the bin of X is a function U of X, the
cell of Y a post-processing, and U - X - Y - Z: what leaks about U leaks about X. So the programme
of the masses P(Y in cell | X in B) bounds the envelope from below; and so does the law of the
leakage of Y, as Z = Y is one. No outcome of any Z leaks more than the supremum over Y
(post-processing), and E e^PML(Z) is at most that of Y, so that Markov's inequality gives
P{l(X -> Z) >= t} <= e^(maximal leakage - t) (Theorem 3). These bound it from above.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.envelopes.figures import EnvelopeThreshold, OpenEnvelope, nats, ratio_of
from borel.engine.envelopes.linear_programme import Programme
from borel.engine.envelopes.outcome_cells import mixture
from borel.engine.problem.secret_and_kernel import boxes
from borel.errors import NotEnclosed
from borel.numerics.intervals import batched
from borel.numerics.intervals.rounding import log_fraction, sum_outward
from borel.numerics.jets import arithmetic
from borel.probability.bound import Bound

if TYPE_CHECKING:
    from borel.numerics.intervals.batched import Box

_BINS = 12
_CELLS = 24
_FINE = (24, 6)
"""Boxes per bin of secrets, and per cell of outcomes, that the masses are summed over."""
_BLOCK = 40_000
_THEOREM = "Theorem 3 of the leakage envelopes: Markov's inequality for e^leakage"


class BinnedEnvelope(OpenEnvelope):
    """Enclosures of the envelope of PML or PMC for a continuous secret and outcome.

    Parameters
    ----------
    engine : CertifiedOutcomes
        The joint; a secret of one dimension.
    kind : {"pml", "pmc"}
        Which leakage.

    Raises
    ------
    NotEnclosed
        A secret of several dimensions, or with atoms.
    """

    unbounded = "the supremum of the leakage is not bounded, and nothing else bounds its envelope"

    def __init__(self, engine: Any, kind: str):
        secret = engine.secret
        if secret.dim > 1 or len(secret.atoms) or secret.mass is None:
            raise NotEnclosed("the envelope of a secret of several dimensions, or with atoms")
        self.engine, self.kind, self.sign = engine, kind, 1 if kind == "pml" else -1
        self.assumptions = engine.assumptions
        edges = _quantiles(secret)
        weights = np.array([secret.mass(a, b) for a, b in pairwise(edges)])
        charged = weights[:, 0] > 0
        self.low, self.high = np.array(edges[:-1])[charged], np.array(edges[1:])[charged]
        self.prior: Box = weights[charged, 0], weights[charged, 1]
        cells = self._cells(edges)
        joint = self._masses(cells[:-1], cells[1:])
        kernel = batched.divide(joint, (self.prior[0][:, None], self.prior[1][:, None]))
        self.kernel: Box = np.maximum(kernel[0], 0.0), np.minimum(kernel[1], 1.0)
        self.law = mixture(self.prior, self.kernel)
        # secrets beyond the bins of an unbounded prior count too, for P_Y of every cell
        left = max(0.0, 1.0 - float(sum_outward(self.prior[0], self.prior[0])[0])) + 2.0**-50
        self.law = self.law[0], np.minimum(self.law[1] + left * (1 + 2.0**-50), 1.0)
        kernel, law = self.kernel, self.law
        self.middle: Box = (kernel[0] + kernel[1]) / 2, (law[0] + law[1]) / 2

    def _cells(self, edges: list[float]) -> np.ndarray:
        """Cut a bounded stretch of the outcomes; beyond it nothing is claimed."""
        line, marks = self.engine.line, [*self.engine.joint.mechanism.breaks, *edges]
        inner = sorted({m for m in marks if line.lower <= m <= line.upper and math.isfinite(m)})
        start = inner[-1] - inner[0] if len(inner) > 1 else 1.0
        low = line.lower if math.isfinite(line.lower) else inner[0] - start
        high = line.upper if math.isfinite(line.upper) else inner[-1] + start
        return np.unique([*np.linspace(low, high, _CELLS + 1), *inner])

    def _masses(self, low: np.ndarray, high: np.ndarray) -> Box:
        """Enclose P(X in B, Y in cell) by sums over boxes, to second order in their size."""
        fine, thin = _FINE
        x = np.linspace(self.low, self.high, fine + 1)  # (fine + 1, bins)
        y = np.linspace(low, high, thin + 1)
        a, b = (np.broadcast_to(v.T[:, :, None, None], (x.shape[1], fine, len(low), thin))
                for v in (x[:-1], x[1:]))  # fmt: skip
        c, d = (np.broadcast_to(v.T[None, None], a.shape) for v in (y[:-1], y[1:]))
        flat = [v.reshape(-1) for v in (a, b, c, d)]
        out = np.empty((2, len(flat[0])))
        for start in range(0, len(flat[0]), _BLOCK):
            part = slice(start, start + _BLOCK)
            out[:, part] = self._integral(*(v[part] for v in flat))
        shaped = out.reshape(2, *a.shape).transpose(0, 1, 3, 2, 4)
        shaped = shaped.reshape(2, len(self.low), len(low), -1)
        total = batched.total((shaped[0], shaped[1]), axis=2)
        return np.maximum(total[0], 0.0), total[1]

    def _integral(self, a: Any, b: Any, c: Any, d: Any) -> Box:
        """Enclose the integral of f(y|x) p(x) over boxes [a, b] x [c, d]."""
        program, surface = self.engine.surface.plain[1], self.engine.surface
        shift = np.zeros(len(a))
        with np.errstate(all="ignore"):
            area = batched.multiply(_width(a, b), _width(c, d))
            along = program.run(
                surface.inputs(boxes(a[:, None], b[:, None], 0, 1), (c[None], d[None]), shift), 1
            )
            across = program.run(
                surface.inputs(
                    boxes(a[:, None], b[:, None], 1, 1), arithmetic.variable(c, d, 1), shift
                ),
                1,
            )
            x, y = a + (b - a) / 2, c + (d - c) / 2
            at = program.run(
                surface.inputs(boxes(x[:, None], x[:, None], 1, 0), (y[None], y[None]), shift),
                0,
                decisions=along.decisions,
            )
            plain = batched.settled(arithmetic.entry(along.jet, 0))
            plain = np.maximum(plain[0], 0.0), np.maximum(plain[1], 0.0)
            crude = batched.settled(batched.multiply(plain, area))
            centre = batched.settled(batched.multiply(arithmetic.entry(at.jet, 0), area))
            # a slope in [l, h] adds at most (h - l) / 8 times the width, as odd parts cancel;
            # centres are off by an ulp, which the factor 1.0001 of a bound on |slope| covers
            loose = np.zeros(len(a))
            for found, width in ((along, b - a), (across, d - c)):
                slope = batched.settled(arithmetic.entry(found.jet, 1))
                size = np.maximum(np.abs(slope[0]), np.abs(slope[1]))
                ulp = 2.0**-50 * (np.abs(a) + np.abs(b) + np.abs(c) + np.abs(d))
                loose = loose + (slope[1] - slope[0]) / 8 * width * 1.0001 + size * ulp
            extra = loose * area[1] * 1.0001 + 1e-300
            form = centre[0] - extra, centre[1] + extra
            return batched.meet(crude, batched.settled(form))

    # -- figures ------------------------------------------------------------------------------

    @cached_property
    def top(self) -> Bound:
        """The supremum of the leakage over the outcomes."""
        return self.engine.sup(self.kind)

    @cached_property
    def mean(self) -> Bound:
        """Maximal leakage, log E e^PML."""
        return self.engine.maximal_leakage()

    def _programme(self) -> Programme:
        # the cells are not all of the outcomes: what lies beyond has mass and is not used
        return Programme(self.sign, self.kernel, self.law, whole=False, middle=self.middle)

    def epsilon(self, delta: Fraction) -> Bound:
        """Enclose epsilon_c(delta) for 0 < delta <= 1."""
        found = self._programme().level(delta, 1e-9)
        low = max(nats(ratio_of(self.sign, found.lower), 0), 0.0)
        top = self.top
        high = top.upper if top.proved or top.status == "undecided" else math.inf
        notes = top.assumptions
        if self.kind == "pml":
            mean = self.mean
            markov = math.nextafter(mean.upper + log_fraction(1 / delta)[1], math.inf)
            if mean.status != "estimate" and markov < high:
                high, notes = markov, (*mean.assumptions, _THEOREM)
        low = low if low <= high else 0.0
        if high - low > settings.current().tol:
            # P{leakage >= t} >= delta at the quantile of 1 - delta
            s, side = (1 - delta, "left") if delta < 1 else (Fraction(0), "right")
            own = _proved(self.engine.quantile(self.kind, s, side=side))
            low, notes = max(low, min(own.lower, high)), (*notes, *own.assumptions)
        return self._bound(low, high, notes)

    def delta(self, threshold: EnvelopeThreshold, *, closed: bool) -> Bound:
        """Enclose delta_c at a level; from above it is 1 up to the supremum, and 0 beyond it."""
        units: dict[str, Any] = {"units": "probability"}
        if threshold.upper < self.sign or (closed and threshold.exact == self.sign):
            return self._bound(1.0, 1.0, (), **units)
        top, level = self.top, nats(ratio_of(self.sign, threshold.lower), 0)
        if top.proved and top.upper < level:
            return self._bound(0.0, 0.0, top.assumptions, **units)
        found = self._programme().value(threshold.lower, threshold.upper, closed=closed)
        above = nats(ratio_of(self.sign, threshold.upper), 1)
        own = _proved(self.engine.tail(self.kind, above, closed=closed))
        low = max(found[0], min(own.lower, 1.0), 0.0)
        return self._bound(low, 1.0, (*top.assumptions, *own.assumptions), **units)


def _proved(found: Bound) -> Bound:
    """Return a figure of the outcomes as they are, if it is one; else that nothing is known."""
    return found if found.proved or found.status == "undecided" else Bound.exact(0.0, math.inf)


def _width(a: np.ndarray, b: np.ndarray) -> Box:
    return batched.subtract(batched.point(b), batched.point(a))


def _quantiles(secret: Any) -> list[float]:
    """Return ends of bins of about equal mass, by bisection of the prior's masses."""
    low, high = float(secret.lower[0]), float(secret.upper[0])

    def below(x: float) -> float:
        found = secret.mass(low, x)
        return (found[0] + found[1]) / 2

    def place(share: float) -> float:
        a = low if math.isfinite(low) else -1.0
        b = high if math.isfinite(high) else 1.0
        while math.isinf(low) and below(a) > share:
            a *= 2
        while math.isinf(high) and below(b) < share:
            b *= 2
        for _ in range(60):
            middle = a + (b - a) / 2
            a, b = (middle, b) if below(middle) < share else (a, middle)
        return b

    first = low if math.isfinite(low) else place(1e-6)
    last = high if math.isfinite(high) else place(1 - 1e-6)
    inner = [place(k / _BINS) for k in range(1, _BINS)]
    inner += [m for m in secret.breaks if first < m < last]
    return sorted({first, *inner, last})
