"""Proofs that a prior is a law of X: by its family, or by its integral or sum.

The integral of a density that a user wrote is enclosed by Arb, as is the sum of one on integers.
Floats may miss 1 by their own rounding (1 / sqrt(2 pi) is no float): within `MISS` of 1 it proves
that the prior meant, the one of total 1, differs from the one written by no more than a factor so
close to 1. Figures are widened by that.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from borel import settings
from borel.engine.problem.count_totals import total_at
from borel.engine.problem.prior_masses import SUM_OF_NORMALS
from borel.engine.problem.prior_positivity import (
    ROUNDING,
    prover,
    require_nonnegative,
    require_numbers,
)
from borel.errors import InvalidInput, NotEnclosed
from borel.numerics.graphs.graph import Graph
from borel.probability.alphabets import Integers
from borel.probability.kernel_totals import plain
from borel.probability.normalisation import integral_of

if TYPE_CHECKING:
    from borel.probability.measure import Measure

FAMILIES = frozenset(
    ("normal", "laplace", "cauchy", "beta", "gamma", "exponential", "uniform", SUM_OF_NORMALS)
)
"""Families whose density is positive almost everywhere on their alphabet, and integrates to 1."""
SUM_IN_A_BOX = "sum in a box"
"""The family of a weighted sum of secrets in a box, with polynomial densities."""
SUMS = frozenset((SUM_IN_A_BOX, SUM_OF_NORMALS))
_COUNTS = Integers()
_SHARE = 0.25
"""So much of a budget of its own does the sum of a prior on integers take."""
MISS = 5e-14
"""How far the integral of a density may be from 1: half of the slack that laws of a leakage have.

The other half is for kernels (`kernel_normalisation`).
"""


def positive(prior: Measure) -> bool:
    """Return whether the density is positive almost everywhere, by its families."""
    families = [part.family or ("", {}) for part in prior.parts or (prior,)]
    return all(name in FAMILIES or about.get("positive", False) for name, about in families)


def miss(prior: Measure) -> float | None:
    """Return by what factor, e^-miss to e^miss, a prior may be off the law meant.

    It is 0 for families, and None where nothing is proved. Of a sum it is that of what is summed;
    of a product, all of its factors count.

    Examples
    --------
    >>> import numpy as np, borel as bl
    >>> prior = bl.Measure(lambda x: np.exp(-x), on=bl.Interval(0, None))
    >>> 0 < miss(prior) <= MISS and miss(bl.normal()) == 0
    True
    """
    found = [_miss_of_one(part) for part in prior.parts or (prior,)]
    return None if None in found else sum(v for v in found if v is not None)


def _miss_of_one(prior: Measure) -> float | None:
    name, about = prior.family or ("", {})
    if name in SUMS:
        return about["miss"]
    if name in FAMILIES:
        return 0.0
    return prior._memo.apart(("miss", settings.current().budget), lambda: _by_total(prior))


def _by_total(prior: Measure) -> float | None:
    if isinstance(prior.on, Integers):
        return _by_sum(prior, prior.on)
    return _by_integral(prior)


def _by_sum(prior: Measure, line: Integers) -> float | None:
    density = prior.density
    if density is None or density.graph is None:
        return None
    require_numbers(density, repr(prior))
    graph = plain(density)
    if not {*graph.inputs} <= {"x"} or not (density.log or prover(density)(graph)):
        return None
    # what sums over outcomes calls them y
    nodes = tuple(("input", ("y",)) if op == "input" else (op, args) for op, args in graph.nodes)
    try:
        sums = total_at(Graph(nodes, ("y",)), line, 0.0, settings.deadline(_SHARE))
    except NotEnclosed:
        return None
    # the constructor allows as much: the floats of p (1 - p)^x with p = 10^-7 miss 1 by 10^-9
    require_one(density, sums, repr(prior), allowed=max(prior._rounding, 1e-9))
    off = max(1 - sums[0], sums[1] - 1)
    return off if off <= MISS and density.hides_no_nan else None


def _by_integral(prior: Measure) -> float | None:
    line: Any = getattr(prior.on, "interval", prior.on)
    density = prior.density
    if density is None or density.graph is None:
        return None
    require_numbers(density, repr(prior))
    proved = density.log or prover(density)(density.simplified())
    if density.log or not proved:
        require_nonnegative(density, repr(prior))
    line_only = prior.on.dim == 1
    integral = integral_of(density, prior.breaks, rel_tol=MISS / 10) if line_only else None
    if integral is None:
        return None
    low, high = integral(*(float(end) for end in (line.lower, line.upper)))
    atoms = math.fsum(map(float, prior.masses.values()))
    require_one(prior.density, (low + atoms, high + atoms), repr(prior), allowed=prior._rounding)
    off = max(1 - low - atoms, high + atoms - 1, 0.0)
    return MISS if proved and off <= MISS / 2 else None


def require_one(
    density: Any, mass: tuple[float, float], what: str, where: str = "", allowed: float = 0.0
) -> None:
    """Raise if an enclosed mass is not 1: off by more than the rounding of the density's floats.

    A float of size c in a graph, log Gamma(10^6) say, is known to c 2^-53, and e^c to as much.
    """
    numbers = [abs(args[0]) for op, args in density.graph.nodes if op == "const"]
    largest = max((v for v in numbers if math.isfinite(v)), default=0.0)
    allowed = max(allowed, min(max(ROUNDING, 8 * 2.0**-53 * largest), 1e-6))
    low, high = mass
    if low > 1 + allowed or high < 1 - allowed:
        off = low - 1 if low > 1 else 1 - high
        raise InvalidInput(
            what,
            expected="a density that integrates to 1 (to the rounding of floats)",
            got=f"{(low + high) / 2:.10g}, proved to miss 1 by {off:.3g}"
            if high < math.inf
            else f"more than {low:.10g}, proved",
            where=where,
            mend="divide it by its integral; nothing is renormalised silently."
            if density.alphabets.get("y", _COUNTS).kind == "countable"
            else "divide it by its integral over y, or let it be divided: "
            "bl.Mechanism(weight, ..., normalise=True).",
        )
