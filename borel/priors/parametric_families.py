"""Parametric families of priors: one prior for each theta of a box, or of a finite set.

Such a set is not convex: its hull only bounds it from above, so the figures are maximised over
theta. Where ``build`` can be traced (it returns ``bl.pmf([...])`` of NumPy expressions in theta),
branch and bound over theta encloses them; else the maximum that was found is an estimate.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput, NotEnclosed, NotTraceable, NotYet
from borel.numerics.graphs.trace import trace
from borel.priors.balls import Hull
from borel.priors.set_operations import Union
from borel.priors.sets import PriorSet
from borel.probability.alphabets import Finite, Interval, Product
from borel.probability.measure import Measure, TracedLaw
from borel.probability.pickling import HoldsFunctions

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.engine.prior_sets.engine import SetEngine
    from borel.numerics.jets.interpreter import Program
    from borel.probability.alphabets import Alphabet
    from borel.probability.joint import Joint


def family_of(build: Callable[[Any], Measure], theta: Alphabet) -> PriorSet:
    """Make a parametric family; see `borel.priors.family`."""
    if not callable(build):
        raise InvalidInput(
            "bl.priors.family",
            expected="a function theta -> Measure",
            got=type(build).__name__,
            mend="write bl.priors.family(lambda p: bl.pmf([1 - p, p]), bl.Interval(0.1, 0.2)).",
        )
    if isinstance(theta, Finite):
        found = [_member(build, t) for t in theta.labels]
        return Union([Hull([m], "family") for m in found])
    return Family(build, theta)


def _member(build: Callable[[Any], Measure], theta: Any) -> Measure:
    found = build(theta)
    if not isinstance(found, Measure) or found.batch:
        raise InvalidInput(
            "bl.priors.family",
            expected="a function that returns one Measure",
            got=type(found).__name__,
            where=f"theta = {theta!r}",
        )
    return found


class Family(HoldsFunctions, PriorSet):
    """The priors ``build(theta)`` for theta in a bounded box."""

    _functions = ("build",)
    convex = False
    status = "conditional"

    def __init__(self, build: Callable[[Any], Measure], theta: Alphabet):
        lines = list(theta.factors) if isinstance(theta, (Interval, Product)) else []
        if not lines or not all(
            isinstance(a, Interval) and np.isfinite([a.lower, a.upper]).all() for a in lines
        ):
            raise InvalidInput(
                "bl.priors.family",
                expected="theta in a bounded interval, a product of such, or a finite alphabet",
                got=repr(theta),
                mend="write bl.Interval(a, b), or bl.Interval(a, b) * bl.Interval(c, d).",
            )
        self.build, self.theta = build, theta
        self.low = np.array([a.lower for a in lines], float)  # type: ignore[union-attr]
        self.high = np.array([a.upper for a in lines], float)  # type: ignore[union-attr]
        probes = [
            self.member(self.low + (self.high - self.low) * s)
            for s in (0.5, 0.03, 0.29, 0.71, 0.97)
        ]
        if any(m.on != probes[0].on for m in probes):
            raise InvalidInput(
                "bl.priors.family",
                expected="priors on one alphabet",
                got=", ".join(sorted({repr(m.on) for m in probes})),
            )
        super().__init__(
            probes[0].on,
            "family",
            assumptions=(f"family of priors normalised: checked at {len(probes)} points",),
        )
        self.opaque = ""
        self._programs: list[Program] | None = None
        try:
            self._programs = self._trace()
            if self._are_laws():
                self.status, self.assumptions = "certified", ()
        except (NotTraceable, NotEnclosed) as error:
            self.opaque = str(error)

    def point(self, theta: np.ndarray) -> Any:
        """Return theta as `build` takes it: a number, or a tuple of numbers."""
        return float(theta[0]) if len(self.low) == 1 else tuple(float(t) for t in theta)

    def member(self, theta: Any) -> Measure:
        """Return the prior of one theta."""
        return _member(self.build, self.point(np.atleast_1d(np.asarray(theta, float))))

    def _trace(self) -> list[Program]:
        """Return the probability of each label as a function of theta."""
        from borel.numerics.jets.interpreter import Program

        if self.on.kind != "finite":
            raise NotTraceable(f"a family of priors on {self.on!r} is not traced")
        names: Any = self.names if len(self.low) > 1 else self.names[0]

        def probability(k: int) -> Any:
            def of(theta: Any) -> Any:
                law = self.build(theta)
                if not isinstance(law, TracedLaw):
                    raise NotTraceable("build does not return bl.pmf([...]) of theta")
                return law.values[k]

            return trace(of, (names,), ())

        return [Program(probability(k)) for k in range(self.on.size)]

    def _are_laws(self) -> bool:
        from borel.engine.prior_sets.parametric_search import are_laws

        return are_laws(self)

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs of the traced probabilities."""
        return tuple(f"theta{k}" for k in range(len(self.low)))

    @property
    def programs(self) -> list[Program] | None:
        """The probabilities of the labels as functions of theta; None if they are opaque."""
        return self._programs

    def least(self, v: np.ndarray) -> Any:
        """Enclose the lower expectations over the family."""
        from borel.engine.prior_sets.parametric_search import least

        if self._programs is None:
            raise NotYet(
                "the lower expectation over a family of priors",
                missing=f"a traced build ({self.opaque})",
                instead="bl.pml(family * mech) gives an estimate.",
            )
        return least(v, self)

    @cached_property
    def _reach(self) -> tuple[np.ndarray, np.ndarray]:
        from borel.engine.prior_sets.parametric_search import charged

        return charged(self)

    @property
    def reach(self) -> tuple[np.ndarray, np.ndarray]:
        """Which secrets every member certainly charges, and which some member may charge."""
        return super().reach if self._programs is None else self._reach

    def engine(self, joint: Joint) -> SetEngine:
        """Return the engine of the family: branch and bound, or a search that proves nothing."""
        from borel.engine.prior_sets.finite_figures import FiniteSetEngine
        from borel.priors.family_figures import FamilyEstimate, FamilyOutcomes

        if self._programs is None:
            return FamilyEstimate(joint)
        if joint.mechanism.finite:
            return FiniteSetEngine(joint)
        try:
            return FamilyOutcomes(joint)
        except NotYet:
            return FamilyEstimate(joint)

    def example(self) -> Measure:
        """Return the prior in the middle of the thetas."""
        return self.member((self.low + self.high) / 2)

    def members(self, count: int, rng: Any = None) -> list[Measure]:
        """Return the priors of random theta."""
        rng = np.random.default_rng(rng)
        places = self.low + (self.high - self.low) * rng.random((count, len(self.low)))
        return [self.member(t) for t in places]

    def contains(self, prior: Measure, *, tol: float = 1e-9) -> bool:
        """Refuse: whether some theta gives a prior is not decided."""
        raise NotYet("a family's contains", missing="a search over theta")

    def __repr__(self) -> str:
        """Show theta's alphabet and the priors'."""
        return f"PriorSet(family of theta in {self.theta!r} on {self.on!r})"
