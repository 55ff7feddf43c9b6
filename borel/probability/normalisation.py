"""What a density integrates to: what is known of it, estimates and enclosures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.errors import NotEnclosed
from borel.probability.alphabets import Alphabet, Integers, Interval, Mixed
from borel.probability.density import Density

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HEAD, _WINDOW, _FAINT = 4096, 256, 1e-5
_NARROW, _BITS = 1e-13, 80


class Normalisation(NamedTuple):
    """What is known of the integrals of a kernel over the outcomes: that they are 1.

    Attributes
    ----------
    status : {"proved", "within", "checked", "rounded", "declared"}
        Proved, to the rounding of floats; proved to be within ``miss`` of 1; checked in float64 at
        some secrets; true up to the rounding of weights that are floats; or no more than said.
    words : str
        The same as a sentence.
    miss : float
        How far an integral may be from 1, where they may differ from secret to secret.
    """

    status: str
    words: str
    miss: float = 0.0

    @classmethod
    def by(cls, proof: str, miss: float = 0.0) -> Normalisation:
        """Return that it is proved, and by what."""
        return cls("proved", f"proved: {proof}", miss)

    @classmethod
    def within(cls, miss: float) -> Normalisation:
        """Return that it is proved but for more than the rounding of floats."""
        digit = 10.0 ** math.floor(math.log10(miss))
        return cls("within", f"proved within {math.ceil(miss / digit) * digit:.0e}", miss)

    @property
    def proved(self) -> bool:
        """Whether it is proved."""
        return self.status == "proved"

    def __str__(self) -> str:
        """Show the sentence."""
        return self.words


DECLARED = Normalisation("declared", "declared")


def head_of(on: Alphabet, count: int) -> np.ndarray:
    """Return the first ``count`` integers of a countable alphabet, from its end or around 0."""
    assert isinstance(on, Integers)
    if on.lower is not None:
        return np.arange(on.lower, on.lower + count)
    if on.upper is not None:
        return np.arange(on.upper - count + 1, on.upper + 1)
    return np.arange(-(count // 2), count // 2 + 1)


def lines_of(on: Alphabet) -> list[Interval]:
    """Return the factors of an alphabet as intervals; none if one of them is counted."""
    factors = [a.interval if isinstance(a, Mixed) else a for a in on.factors]
    lines = [a for a in factors if isinstance(a, Interval)]
    return lines if len(lines) == len(factors) else []


def total_mass(
    density: Any,
    on: Alphabet,
    breaks: tuple[float, ...],
    turns: tuple[np.ndarray, ...] | None = None,
) -> float:
    """Estimate the integral of a density: a check of the constructor, not a proof.

    It is cut at ``turns``, the branch points of the density along each axis.
    """
    from borel.numerics.float64.charts import Axis
    from borel.numerics.float64.quadrature import log_integral

    factors = lines_of(on)
    if not factors:
        return 1.0
    line = breaks if on.dim == 1 else ()
    cuts = [tuple(own) for own in turns] if turns else [()] * on.dim
    axes = [Axis(a.lower, a.upper, (*line, *own)) for a, own in zip(factors, cuts, strict=True)]

    def logf(_i: np.ndarray, x: tuple[np.ndarray, ...]) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(np.asarray(density(x[0] if on.dim == 1 else x), float))

    result = log_integral(logf, 1, axes, rtol=1e-8)
    return float(np.exp(result.log_value[0]))


def sum_of_counts(
    log_mass: Any, on: Alphabet, turns: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return what masses sum to on a head of a countable alphabet, and estimate what is beyond.

    The integers beside the points where the masses turn belong to the head. Beyond it the masses
    are looked at on windows, from one power of 2 to the next. Where they fall from each to the next
    the sum is at most the largest of one times the way to the next. It is infinite, unknown, where
    they do not; where the head has none; where the last of these products still counts, as of a
    Zipf law with an exponent near 1; and where there is mass beside a point at which they turn far
    out, as there may be more of it around.

    Parameters
    ----------
    log_mass : callable
        ``points (1, n) -> log-masses (m, n)`` of m laws.
    on : Integers
        The alphabet.
    turns : ndarray, optional
        Branch points of the masses, of all laws together; NaN is none.
    """
    assert isinstance(on, Integers)
    head = head_of(on, HEAD)
    points = head.astype(float)
    if on.lower is not None and on.upper is not None:
        points = points[points <= on.upper]
    if turns is not None:
        near = np.floor(turns[np.isfinite(turns)])[:, None] + np.arange(-1.0, 3.0)
        inside = (near >= _at(on.lower, -1)) & (near <= _at(on.upper, 1))
        apart = np.setdiff1d(near[inside], points)
    else:
        apart = np.empty(0)
    with np.errstate(under="ignore"):
        total, far = (np.exp(log_mass(p[None, :])).sum(axis=1) for p in (points, apart))
        total = total + far
    beyond = np.where(far > _FAINT, np.inf, 0.0)
    for sign, end in ((1.0, on.upper), (-1.0, on.lower)):
        if end is not None and sign * end <= sign * (points[-1] if sign > 0 else points[0]):
            continue
        last = points[-1] if sign > 0 else -points[0]
        starts = last + 1 + np.r_[-_WINDOW, 0.0, 2.0 ** np.arange(9, 41)]
        ways = np.diff(starts, append=2 * starts[-1])
        largest = []
        for start in starts:
            near = start + np.arange(_WINDOW)
            near = near[near <= (math.inf if end is None else sign * end)]
            none = np.full((len(total), 1), -np.inf)
            largest.append((log_mass(sign * near[None, :]) if len(near) else none).max(axis=1))
        peaks = np.stack(largest, axis=1)
        with np.errstate(invalid="ignore", under="ignore", over="ignore"):
            falls = (peaks[:, 1:] <= peaks[:, :-1]).all(axis=1) & (total > 0)
            more = np.exp(peaks[:, 1:]) * ways[1:]
        beyond += np.where(falls & (more[:, -1] <= _FAINT), more.sum(axis=1), np.inf)
    return total, beyond


def _at(end: int | None, side: int) -> float:
    return side * math.inf if end is None else float(end)


def integral_of(
    density: Density | None,
    breaks: Sequence[float],
    *,
    most: float = math.inf,
    rel_tol: float = _NARROW,
) -> Callable[[float, float], tuple[float, float]] | None:
    """Return what encloses the integral of a density between two numbers, from its graph.

    It may be known to be ``most`` at most.
    """
    from borel.numerics.balls.expansion import product
    from borel.numerics.balls.integral import integrate
    from borel.numerics.balls.interpreter import Prepared

    if density is None or density.graph is None:
        return None
    if density.alphabets["x"].kind not in ("continuous", "mixed"):
        return None
    if not {*density.graph.inputs} <= {"x"}:
        return None
    try:
        graph = Prepared(product([(density.simplified(), density.log)]))
    except NotEnclosed:  # an operation that is not there in Arb
        return None
    about: dict[str, Any] = {"rel_tol": rel_tol, "bits": _BITS, "until": math.inf}

    def integral(a: float, b: float) -> tuple[float, float]:
        if not a < b:
            return 0.0, 0.0
        low, high = integrate(graph, {"shift": 0}, a, b, breaks=breaks, **about).floats
        return min(max(low, 0.0), most), max(min(high, most), 0.0)  # within [0, most], both

    return integral
