"""Certified maximal cost leakage over continuous outcomes: the integral of the kernel's infimum."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from borel import settings
from borel.engine.countable.law_measures import inverse_mean
from borel.engine.kernels.leakage_on_boxes import integral, side
from borel.engine.kernels.marginal_on_boxes import ORDER, geometry
from borel.engine.problem.refinement import refine
from borel.numerics.balls.arithmetic import ball, enclose
from borel.numerics.intervals import batched
from borel.numerics.jets import elementary

if TYPE_CHECKING:
    from borel.engine.continuous.protocols import OutcomeEngine
    from borel.probability.bound import Bound

_ROUNDS_OUT, _ROUNDS, _MOST = 60, 40, 20_000


def maximal_cost_leakage(engine: OutcomeEngine) -> Bound:
    """Enclose -log of the integral of ess inf_x f(y|x)."""
    tol, deadline = settings.current().tol, engine.deadline()
    part = engine.partition("pmc")

    def mass_far_out() -> tuple[float, float]:
        far = ~(np.isfinite(part.low) & np.isfinite(part.high))
        return 0.0, float(part.weight()[far].sum())

    refine(  # beyond the bands the integral is at most the mass there: push them out
        mass_far_out,
        # only masses count here: the leakage is undecided nowhere
        lambda *_: part.sharpen(np.zeros(len(part.low), bool), tol / 8, deadline),
        settled=lambda _, mass: mass <= tol / 8,
        until=deadline,
        rounds=_ROUNDS_OUT,
    )
    far = ~(np.isfinite(part.low) & np.isfinite(part.high))
    beyond = float(part.weight()[far].sum()) * (1 + 1e-13)
    low, high = part.low[~far], part.high[~far]
    seen = _infimum(engine, low, high, deadline)
    # what is not looked at in time has an infimum of at most f_Y
    ends = np.array([np.zeros(len(low)), part.weight()[~far] * (1 + 1e-13)])
    ends[0, : seen.shape[1]] = seen[0]
    # the mass is what a kernel that integrates to 1 leaves; what is seen is true of any
    ends[1, : seen.shape[1]] = np.maximum(np.minimum(ends[1, : seen.shape[1]], seen[1]), seen[0])

    def doubt() -> tuple[np.ndarray, float]:
        return ends[1] - ends[0], tol * max(float(ends[0].sum()), tol)

    def settled(*_: float) -> bool:
        gaps, enough = doubt()
        return float(gaps.sum()) <= enough / 2

    def cut(*_: float) -> bool:
        nonlocal low, high, ends
        gaps, enough = doubt()
        loose = gaps > enough / (8 * len(gaps))
        if not loose.any() or len(gaps) > _MOST:
            return False
        middle = low[loose] + (high[loose] - low[loose]) / 2
        fresh_low = np.concatenate([low[loose], middle])
        fresh_high = np.concatenate([middle, high[loose]])
        fresh = _infimum(engine, fresh_low, fresh_high, deadline)
        if fresh.shape[1] < len(fresh_low):
            return False
        low = np.concatenate([low[~loose], fresh_low])
        high = np.concatenate([high[~loose], fresh_high])
        ends = np.concatenate([ends[:, ~loose], fresh], axis=1)
        return True

    refine(lambda: ends.sum(axis=1), cut, settled=settled, until=deadline, rounds=_ROUNDS)
    least, most = float(ends[0].sum()) * (1 - 1e-13), float(ends[1].sum()) * (1 + 1e-13) + beyond
    if len(engine.atoms):
        atoms = inverse_mean(part.at_atoms)
        least, most = least + atoms[0] * (1 - 1e-14), most + atoms[1] * (1 + 1e-14)
    most = min(most, 1.0)
    over = math.inf if not least > 0 else enclose(lambda: -ball(min(least, 1.0)).log())[1]
    under = math.inf if most == 0 else enclose(lambda: -ball(most).log())[0]
    return engine.bound(max(under, 0.0), max(over, 0.0))


def _infimum(
    engine: OutcomeEngine, low: np.ndarray, high: np.ndarray, deadline: float
) -> np.ndarray:
    """Enclose the integral of ess inf_x f(y|x) over bands, until the deadline."""
    out = [np.zeros((2, 0))]
    for start in range(0, len(low), 512):
        part = slice(start, start + 512)
        with np.errstate(all="ignore"):
            out.append(_of_bands(engine, low[part], high[part], deadline))
        if settings.late(deadline):
            break
    return np.concatenate(out, axis=1)


def _of_bands(
    engine: OutcomeEngine, low: np.ndarray, high: np.ndarray, deadline: float
) -> np.ndarray:
    """Integrate e^-s, where s = sup_x -log f is known against paths, to second order."""
    centre, _ = geometry(low, high)
    ends = (
        batched.subtract(batched.point(low), batched.point(centre)),
        batched.subtract(batched.point(high), batched.point(centre)),
    )
    tol = min(settings.current().tol / 8, 1e-9)
    bands = engine.bands
    bottom = side(bands.surface, low, high, -1.0, tol, deadline, bands.cover)
    width = batched.subtract(batched.point(high), batched.point(low))
    crude = [
        batched.multiply(batched.exp(batched.point(-v)), width)
        for v in (bottom.direct, bottom.flat)
    ]
    lows, highs = [crude[0][0]], [crude[1][1]]
    for i, path in enumerate(bottom.paths):
        inner = elementary.exponential(batched.negative(path[0]), ORDER - 1)
        outer = elementary.exponential(batched.negative(path[1]), ORDER)
        total = batched.settled(integral(inner, outer, ends))
        highs.append(np.where(bottom.sound[i], total[1], np.inf))
        if i == 0:
            less = batched.exp(batched.point(-bottom.excess))
            lows.append(batched.multiply((np.maximum(total[0], 0.0), total[1]), less)[0])
    lower = np.maximum.reduce([np.where(np.isnan(v), 0.0, v) for v in lows])
    upper = np.fmin.reduce([np.where(np.isnan(v), np.inf, v) for v in highs])
    lower = np.maximum(lower, 0.0)
    return np.array([lower, np.maximum(upper, lower)])
