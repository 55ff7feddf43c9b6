"""Sets of densities on an interval: bands between two functions, and classes of moments.

They are solved on cells of the secret (`borel.engine.prior_sets.secret_cells`): a band by the
masses of its ends on the cells, a moment class by two linear programs, one whose constraints every
member satisfies, and one all of whose solutions are members.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.prior_sets import linear_programme
from borel.engine.prior_sets import lower_expectations as ex
from borel.engine.prior_sets.lower_expectations import Least
from borel.errors import InvalidInput, NotEnclosed
from borel.numerics.intervals.rounding import fraction_down, fraction_up
from borel.priors.polytopes import limits
from borel.priors.sets import PriorSet
from borel.probability.alphabets import Interval
from borel.probability.density import Density

if TYPE_CHECKING:
    from borel.engine.prior_sets.engine import SetEngine
    from borel.engine.prior_sets.linear_programme import Constraints
    from borel.numerics.intervals.batched import Box
    from borel.probability.joint import Joint


_CELLS = 64


def _traced(function: Any, on: Interval, what: str) -> Density:
    if not callable(function):
        raise InvalidInput(what, expected="a function of x", got=type(function).__name__)
    found = Density(function, {"x": on})
    if found.graph is None:
        raise InvalidInput(
            what,
            expected="a function that can be traced",
            got=str(found.opaque),
            mend="np.where instead of if, np.exp instead of math.exp.",
        )
    return found


class DensitySet(PriorSet):
    """A convex set of priors with a density on a bounded interval, given by functions of x."""

    status = "conditional"

    def __init__(self, on: Interval, functions: list[Any], name: str):
        what = f"bl.priors.{name}"
        if not isinstance(on, Interval) or not np.isfinite([on.lower, on.upper]).all():
            raise InvalidInput(what, expected="on=<a bounded interval>", got=repr(on))
        super().__init__(
            on, name, assumptions=("some member charges every set of secrets of positive measure",)
        )
        self.functions = [_traced(f, on, what) for f in functions]

    def engine(self, joint: Joint) -> SetEngine:
        """Return the engine of the set, by cells of the secret."""
        from borel.priors.density_figures import CellEngine

        return CellEngine(joint)

    def _cells(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the cells on which emptiness is looked for; None if they enclose nothing."""
        assert isinstance(self.on, Interval)
        edges = np.linspace(self.on.lower, self.on.upper, _CELLS + 1)
        try:
            self.ranges(edges[:-1], edges[1:])
        except InvalidInput:  # finer cells may do
            return None
        return edges[:-1], edges[1:]

    def ranges(self, low: np.ndarray, high: np.ndarray) -> list[Box]:
        """Enclose the functions over cells."""
        from borel.numerics.intervals import batched
        from borel.numerics.jets import arithmetic
        from borel.numerics.jets.interpreter import Program

        out = []
        for density in self.functions:
            assert density.graph is not None
            try:
                program = Program(density.graph)
            except NotEnclosed as error:
                raise InvalidInput(
                    f"bl.priors.{self.name}",
                    expected="functions that intervals enclose",
                    got=str(error),
                ) from None
            found = batched.settled(
                arithmetic.entry(program.run({"x": (low[None], high[None])}, 0).jet, 0)
            )
            ends = tuple(np.broadcast_to(v, len(low)) for v in found)
            if not np.isfinite(ends).all():
                raise InvalidInput(
                    f"bl.priors.{self.name}",
                    expected=f"functions that are bounded on {self.on!r}",
                    got="one that intervals do not bound",
                )
            out.append(ends)
        return out

    def solved(self, v: np.ndarray, low: np.ndarray, high: np.ndarray, *, below: bool) -> Least:
        """Bound lower expectations of step functions, from below or from above."""
        raise NotImplementedError


class DensityBand(DensitySet):
    """All densities between two functions."""

    def __init__(self, lower: Any, upper: Any, on: Interval):
        super().__init__(on, [lower, upper], "box")
        if (cells := self._cells()) is not None:
            least, most = self._masses(*cells)
            self._require(
                least[0].sum() <= 1 + linear_programme.ROUNDING
                and most[1].sum() >= 1 - linear_programme.ROUNDING,
                least[0],
                most[1],
            )
            if (least[0] > most[1]).any():
                k = int(np.argmax(least[0] > most[1]))
                raise InvalidInput(
                    "bl.priors.box",
                    expected="a lower density below the upper one",
                    got="one above it",
                    where=f"x in [{cells[0][k]:g}, {cells[1][k]:g}]",
                )

    def _masses(self, low: np.ndarray, high: np.ndarray) -> tuple[Box, Box]:
        """Enclose the masses of the ends on cells."""
        from borel.numerics.intervals import batched

        width = batched.subtract(batched.point(high), batched.point(low))
        least, most = (batched.multiply(r, width) for r in self.ranges(low, high))
        return (np.maximum(least[0], 0.0), np.maximum(least[1], 0.0)), most

    def solved(self, v: np.ndarray, low: np.ndarray, high: np.ndarray, *, below: bool) -> Least:
        """Solve the band of the cells' masses, which are enclosed."""
        least, most = self._masses(low, high)
        fits = least[1].sum() <= 1 + 1e-3 and most[1].sum() >= 1
        self._require(fits, least[1], most[1])
        return ex.band(v, least, (np.minimum(most[0], 1.0), np.minimum(most[1], 1.0)))

    def _require(self, fits: bool, least: np.ndarray, most: np.ndarray) -> None:
        """Raise unless masses of the ends, on cells, leave room for a density."""
        if not fits:
            raise InvalidInput(
                "bl.priors.box",
                expected="a lower density of mass at most 1, an upper one of mass at least 1",
                got=f"about {least.sum():.6g} and {most.sum():.6g}",
                mend="no prior fits: widen the band.",
            )


class DensityMoments(DensitySet):
    """All densities with bounded generalised moments."""

    def __init__(self, functions: list[Any], lower: Any, upper: Any, on: Interval):
        super().__init__(on, functions, "moment")
        self.limits = limits(lower, upper, len(functions), "bl.priors.moment")
        if (cells := self._cells()) is not None:  # what every member satisfies, somebody has to
            linear_programme.some_member(self._rules_on(*cells, below=True), "bl.priors.moment")

    def solved(self, v: np.ndarray, low: np.ndarray, high: np.ndarray, *, below: bool) -> Least:
        """Solve the program that every member satisfies, or one of members alone."""
        return linear_programme.least(v, self._rules_on(low, high, below=below))

    def _rules_on(self, low: np.ndarray, high: np.ndarray, *, below: bool) -> Constraints:
        rows, ends = [], []
        # Fractions are rounded so that all members, or only members, satisfy them
        up, down = (fraction_up, fraction_down) if below else (fraction_down, fraction_up)
        rounded = [
            [way(v) if isinstance(v, Fraction) else v for v in end]
            for way, end in zip((down, up), self.limits, strict=True)
        ]
        for values, least, most in zip(self.ranges(low, high), *rounded, strict=True):
            small, large = values if below else values[::-1]
            if np.isfinite(most):
                rows.append(small)
                ends.append(most)
            if np.isfinite(least):
                rows.append(-large)
                ends.append(-least)
        return linear_programme.constraints(len(low), np.array(rows), np.array(ends))
