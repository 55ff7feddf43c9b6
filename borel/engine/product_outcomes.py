"""Outcomes of several factors, as of two releases: at one of them, and over all.

At one outcome of a product the kernel is a function of the secret. It is that of the last factor
where the others are given, so that the engine of a line encloses PML and PMC there; that this
kernel of the last factor is no law changes nothing at a point.
"""

from __future__ import annotations

import math
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, Any

from borel import settings
from borel.engine.estimates.outcome_engine import ContinuousOutcomes
from borel.errors import NotEnclosed
from borel.numerics.graphs.graph import Graph
from borel.numerics.intervals.rounding import U
from borel.probability.alphabets import Interval
from borel.probability.bound import Bound
from borel.probability.closed_forms import ClosedForms
from borel.probability.density import Density
from borel.probability.joint import Joint
from borel.probability.memo import Memo
from borel.probability.normalisation import Normalisation

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.engine.problem.engine import Engine

_BRACKET = (
    "between the suprema of one release and the sum of both levels of local differential privacy, "
    "or log(1 / P_min) (post-processing, and f(y|x) / f(y|x') of independent releases)"
)


class ProductOutcomes(ContinuousOutcomes):
    """Figures of a joint whose outcome is a product of lines.

    Parameters
    ----------
    joint : Joint
        The joint.
    why : str
        Why what is not enclosed is an estimate.
    engine_of, certified : callable
        Make the engine of a joint, and the one that encloses.
    """

    def __init__(
        self,
        joint: Joint,
        why: str,
        engine_of: Callable[[Joint], Engine],
        certified: Callable[[Joint], Engine],
    ):
        super().__init__(joint, why)
        self._engine_of, self._certified = engine_of, certified

    def at(self, kind: str, y: Any) -> Bound:
        """Enclose the leakage at one outcome; estimate it where that cannot be done."""
        with suppress(NotEnclosed):
            return self._certified(last_factor(self.given, y)).at(kind, float(y[-1]))
        return super().at(kind, y)

    def sup(self, kind: str) -> Bound:
        """Bound the supremum of two releases by figures of each; estimate that of other kernels.

        The bounds are true. They are undecided unless they are within the tolerance of each other.

        Notes
        -----
        Proof. To forget one of the outcomes is post-processing, by which no supremum of PML or PMC
        grows: that of both is at least that of each. It is at most the sum of their levels of local
        differential privacy, as both PML and PMC at (y1, y2) are at most the logarithm of the ratio
        of the supremum and the infimum of f(y1|x) f(y2|x) over the secrets.
        """
        releases = self.given.mechanism.releases
        if not releases:
            return super().sup(kind)
        engines = [self._engine_of(Joint(self.given.prior, one)) for one in releases]
        known = [engine.sup(kind) for engine in engines]
        if not all(bound.proved for bound in known):
            return super().sup(kind)
        low, high = max(b.lower for b in known), math.inf
        if math.isfinite(low) and not settings.spent():
            levels = [engine.ldp() for engine in engines]
            high = self._most(kind)
            if all(bound.proved for bound in levels):
                known += levels
                high = min(high, (levels[0] + levels[1]).upper)
        about: dict[str, Any] = {
            "assumptions": tuple(dict.fromkeys(a for b in known for a in b.assumptions))
        }
        high = max(low, high)
        if high > low and high - low > settings.current().tol:  # true, but it settles nothing
            return Bound.undecided(low, high, reason=_BRACKET, **about)
        conditional = any(b.status == "conditional" for b in known)
        return Bound.of("conditional" if conditional else "certified", low, high, **about)

    def _most(self, kind: str) -> float:
        """Return what PML is at most under a finite prior, log(1 / P_min)."""
        prior = self.given.prior
        if kind == "pmc" or prior._probabilities is None or prior.unproved:
            return math.inf
        least = min(float(p) for p in prior.probabilities.tolist() if p)
        return -math.log(least * (1 - 2 * max(prior.rounding, U))) * (1 + 8 * U) + 8 * U


def last_factor(joint: Joint, y: Any) -> Joint:
    """Return the joint of the last factor of an outcome, the others given.

    Raises
    ------
    NotEnclosed
        A kernel that could not be traced, or a last factor that is no line.
    """
    mechanism = joint.mechanism
    density, line = mechanism.density, mechanism.outcome.factors[-1]
    if density is None or density.graph is None or not isinstance(line, Interval):
        raise NotEnclosed(density.opaque if density is not None else "there is no density")
    *others, last = density.graph_names("y")
    graph = density.graph.bind(dict(zip(others, map(float, y[:-1]), strict=True)))
    nodes = tuple(("input", ("y",)) if n == ("input", (last,)) else n for n in graph.nodes)
    names = tuple("y" if n == last else n for n in graph.inputs)
    out = copy(mechanism)
    out._memo, out.releases = Memo(), ()  # what is known is of the kernel as a whole
    out.outcome, out.closed_forms, out.breaks = line, ClosedForms(), ()
    about = {"y": line, "x": mechanism.secret}
    out.density = Density(None, about, log=density.log, graph=Graph(nodes, names))
    if not out.normalisation.proved:  # of the outcome as a whole
        known = mechanism.normalisation
        out.normalisation = Normalisation("rounded", str(known), known.miss)
    return Joint(joint.prior, out)
