"""What a density integrates to: the check that the constructor of a measure makes, no proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel.alphabets import Alphabet, Integers, Interval, Mixed
from borel.errors import InvalidInput

if TYPE_CHECKING:
    from borel.measures import Measure


def head_of(on: Alphabet, count: int) -> np.ndarray:
    """Return the first ``count`` integers of a countable alphabet, from its end or around 0."""
    assert isinstance(on, Integers)
    if on.lower is not None:
        return np.arange(on.lower, on.lower + count)
    if on.upper is not None:
        return np.arange(on.upper - count + 1, on.upper + 1)
    return np.arange(-(count // 2), count // 2 + 1)


def total_mass(density: Any, on: Alphabet, breaks: tuple[float, ...]) -> float:
    """Estimate the integral of a density: a check of the constructor, not a proof."""
    from borel.engine.estimates.charts import Axis
    from borel.engine.estimates.quadrature import log_integral

    factors = [a.interval if isinstance(a, Mixed) else a for a in on.factors]
    if not all(isinstance(a, Interval) for a in factors):
        return 1.0
    line = breaks if on.dim == 1 else ()
    axes = [Axis(a.lower, a.upper, line) for a in factors if isinstance(a, Interval)]

    def logf(_i: np.ndarray, x: tuple[np.ndarray, ...]) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(np.asarray(density(x[0] if on.dim == 1 else x), float))

    result = log_integral(logf, 1, axes, rtol=1e-8)
    return float(np.exp(result.log_value[0]))


def check_total(measure: Measure) -> None:
    """Raise `InvalidInput` for a density whose total is certainly not near 1."""
    if measure.on.kind in ("continuous", "mixed") and measure.on.dim <= 2:
        assert measure.density is not None
        total = total_mass(measure.density.linear, measure.on, measure.breaks)
        total += sum(measure.masses.values())
        if not abs(total - 1) <= 1e-6:
            raise InvalidInput(
                repr(measure),
                expected="a density that integrates to 1",
                got=f"about {total:.10g}",
                mend="normalise it, or declare breaks=[...] where it jumps.",
            )
    elif measure.on.kind == "countable" and measure.on.dim == 1:
        head = head_of(measure.on, 4096)
        total = float(np.sum(measure.pdf(head)))
        if not total <= 1 + 1e-9 or (total < 1 - 1e-6 and measure.tail is None):
            raise InvalidInput(
                repr(measure),
                expected="probabilities that sum to 1",
                got=f"about {total:.10g} on the first {len(head)} points",
                mend="normalise them, or declare tail=... if the rest lies further out.",
            )
