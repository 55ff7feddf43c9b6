"""What a density integrates to: the check that the constructor of a measure makes, no proof."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput
from borel.probability.alphabets import Alphabet, Integers, Interval, Mixed

if TYPE_CHECKING:
    from borel.probability.measure import Measure

_HEAD, _WINDOW, _FAINT = 4096, 256, 1e-5


def head_of(on: Alphabet, count: int) -> np.ndarray:
    """Return the first ``count`` integers of a countable alphabet, from its end or around 0."""
    assert isinstance(on, Integers)
    if on.lower is not None:
        return np.arange(on.lower, on.lower + count)
    if on.upper is not None:
        return np.arange(on.upper - count + 1, on.upper + 1)
    return np.arange(-(count // 2), count // 2 + 1)


def _lines(on: Alphabet) -> list[Interval]:
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

    factors = _lines(on)
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
    head = head_of(on, _HEAD)
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


def declared_tail(measure: Measure, points: np.ndarray, most: float, slack: float) -> float:
    """Return the tail declared beyond a head, or raise if it is less than the head leaves."""
    lower: Any = measure.on.lower  # type: ignore[attr-defined]
    last = int(points[-1]) if lower is not None else int(-points[0])
    declared = float(measure.tail.bound(last))  # type: ignore[union-attr]
    if not declared >= 1 - most - slack:
        raise InvalidInput(
            repr(measure),
            expected=f"a tail of at least {1 - most:.6g}, which the head leaves",
            got=repr(declared),
            where=f"n = {last}",
            mend="normalise the probabilities, or declare an upper bound on P(X > n), or on "
            "P(|X| > n) where the alphabet has no lower end.",
        )
    return declared


def check_total(measure: Measure) -> bool:
    """Raise `InvalidInput` for a density that has not a total near 1; say if that was looked at."""
    if _lines(measure.on) and measure.on.dim <= 2:
        assert measure.density is not None
        turns = measure.density.turns("x")
        total = total_mass(measure.density.linear, measure.on, measure.breaks, turns)
        total += sum(measure.masses.values())
        if not abs(total - 1) <= 1e-6:
            raise InvalidInput(
                repr(measure),
                expected="a density that integrates to 1",
                got=f"about {total:.10g}",
                mend="normalise it, or declare breaks=[...] where it jumps.",
            )
    elif measure.on.kind == "countable" and measure.on.dim == 1:
        head = head_of(measure.on, _HEAD)
        total = float(np.sum(measure.pdf(head)))
        if not total <= 1 + 1e-9 or (total < 1 - 1e-6 and measure.tail is None):
            raise InvalidInput(
                repr(measure),
                expected="probabilities that sum to 1",
                got=f"about {total:.10g} on the first {len(head)} points",
                mend="normalise them, or declare tail=... if the rest lies further out.",
            )
        if measure.tail is not None:
            declared_tail(measure, head, total, 1e-6)
    else:
        return False
    return True
