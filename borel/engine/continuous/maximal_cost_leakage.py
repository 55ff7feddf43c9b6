"""Certified maximal cost leakage over continuous outcomes: the integral of the kernel's infimum."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from borel import settings
from borel.engine.countable.law_measures import inverse_mean
from borel.engine.kernels.leakage_on_boxes import integral_of_infimum, side
from borel.engine.problem.refinement import refine
from borel.numerics.balls.arithmetic import ball, enclose

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.engine.continuous.protocols import OutcomeEngine
    from borel.probability.bound import Bound

_ROUNDS_OUT, _ROUNDS, _MOST = 60, 40, 20_000


def maximal_cost_leakage(engine: OutcomeEngine) -> Bound:
    """Enclose -log of the integral of ess inf_x f(y|x)."""
    tol, deadline = settings.current().tol, engine.deadline()
    part = engine.partition("pmc")

    def far_out() -> np.ndarray:
        return ~(np.isfinite(part.low) & np.isfinite(part.high))

    def at_edge() -> np.ndarray:
        """Return which bands end where the outcomes do, and nothing bounds the leakage."""
        ends = (part.low == engine.line.lower) | (part.high == engine.line.upper)
        return ends & ~far_out() & np.isinf(part.data[1])

    def narrowed(these: Callable[[], np.ndarray], until: float) -> bool:
        """Cut bands until next to no mass is in these; return whether that was possible."""

        def mass() -> float:
            return float(part.weight()[these()].sum())

        refine(
            lambda: (0.0, mass()),
            # only masses count here: the leakage of others is undecided nowhere
            lambda *_: part.sharpen(these() & ~far_out(), tol / 8, until),
            settled=lambda _, most: most <= tol / 8,
            until=until,
            rounds=_ROUNDS_OUT,
        )
        return mass() <= tol / 8

    # the integral over such bands is at most the mass there
    narrowed(far_out, deadline)
    quarter = settings.now() + (deadline - settings.now()) / 4
    far = at_edge() | far_out() if narrowed(at_edge, quarter) else far_out()
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
        middle = low + (high - low) / 2
        loose = (gaps > enough / (8 * len(gaps))) & (low < middle) & (middle < high)
        if not loose.any() or len(gaps) > _MOST:
            return False
        middle = middle[loose]
        fresh_low = np.concatenate([low[loose], middle])
        fresh_high = np.concatenate([middle, high[loose]])
        fresh = _infimum(engine, fresh_low, fresh_high, deadline)
        if fresh.shape[1] < len(fresh_low):
            return False
        fresh[1] = np.minimum(fresh[1], np.tile(ends[1, loose], 2))  # a part has no more
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
    out, bands = [np.zeros((2, 0))], engine.bands
    tol = min(settings.current().tol / 8, 1e-9)
    for start in range(0, len(low), 512):
        ends = low[start : start + 512], high[start : start + 512]
        with np.errstate(all="ignore"):
            bottom = side(bands.surface, *ends, -1.0, tol, deadline, bands.cover)
            out.append(np.array(integral_of_infimum(bottom, *ends)))
        if settings.late(deadline):
            break
    return np.concatenate(out, axis=1)
