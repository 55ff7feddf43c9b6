"""Certificates of leakages at one outcome."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb
from scipy.optimize import minimize_scalar

from borel.checker.figures import Part, is_above, is_below, margin
from borel.checker.models import constant, number
from borel.checker.reading import Refused
from borel.engine.certificates.covers import Cover, Work, accurate
from borel.engine.certificates.data import missing, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from borel.checker.joints import Joint as Checked
    from borel.probability.joint import Joint

_CELLS = 4000
_SMALL = (46, 30)
"""Boxes of secrets of a size of 2^-k are tried as witnesses."""


def at_outcome(
    joint: Joint, checked: Checked, kind: str, y: float, ends: tuple[Any, Any], work: Work
) -> dict[str, Any]:
    """Return the proof of a leakage at one outcome; see `certificate`."""
    figure, kernel = f"{kind}.at", checked.at(y)
    part = Part(constant(y), None, None, kernel, False, None, f"the outcome {y}")
    lower, upper = map(number, ends)
    room = (upper - lower) / 16 if upper.is_finite() else arb(2) ** -20
    inner = {y, *breaks(joint)}
    rough = accurate(checked, kernel, part.y, inner, arb(2) ** -20, work)
    if rough is None:
        raise missing(figure, "the density of the outcome, an integral")
    size = rough.row.marginal.high
    cover = accurate(checked, kernel, part.y, inner, size * room, work, most=_CELLS)
    if cover is None:
        raise missing(figure, "the density of the outcome so well, an integral")
    if upper.is_finite():
        cover = _below(cover, kind, upper.exp(), part)
        if cover is None:
            raise missing(figure, "its upper end")
    witness = None
    if lower > 0:
        witness = witness_at(joint, checked, kind, y, part, cover, lower.exp())
        if witness is None:
            raise missing(figure, "its lower end")
    return {"cover": cover.as_data(), "witness": witness}


def _below(cover: Cover, kind: str, level: arb, part: Part) -> Cover | None:
    """Return a cover whose cells show that the leakage is below a level, None if none is found."""
    while True:
        row, keys = cover.row, list(cover.on_cells)
        cut = [
            key
            for key, f in zip(keys, row.kernel, strict=True)
            if not margin(kind, row, f, level).least() >= 0
        ]
        if not cut:
            is_below(kind, row, level, part.where)
            return cover
        if set(cut) - set(cover.leaves) or len(cover.leaves) + len(cut) > _CELLS:
            return None
        if any(len(path) > 60 for _, path in cut):
            return None
        cover = cover.divided(cut)


def witness_at(
    joint: Joint, checked: Checked, kind: str, y: float, part: Part, cover: Cover, level: arb
) -> dict[str, Any] | None:
    """Return secrets that show a leakage of at least a level on a part of the outcomes."""
    row = cover.row
    for witness in witnesses(joint, checked, kind, y):
        cover.work.count()
        try:
            is_above(checked, kind, part, row, level, witness, strictly=False)
        except Refused:
            continue
        return witness
    return None


def witnesses(joint: Joint, checked: Checked, kind: str, y: float) -> Iterable[dict[str, Any]]:
    """Yield atoms, and small boxes of secrets, that may be the most revealing at an outcome."""
    sign = 1.0 if kind == "pml" else -1.0
    places = np.array([atom.place for atom in checked.atoms])
    order = np.argsort(-sign * heights(joint, y, places)) if len(places) else []
    for k in order[:2]:
        yield {"atom": int(k)}
    if checked.density is None:
        return
    lower, upper = checked.ends
    for x in best_secrets(joint, checked, y, sign):
        for bits in _SMALL:
            step = 2.0**-bits * max(1.0, abs(x))
            for a, b in ((x - step, x), (x, x + step), (x - step, x + step)):
                a, b = max(a, lower), min(b, upper)
                if a < b:
                    yield {"box": [text(a), text(b)]}


def heights(joint: Joint, y: float, x: Any) -> np.ndarray:
    """Return log f(y|x) in floats: a hint, not a bound."""
    mechanism = joint.mechanism
    mass = mechanism.masses.get(y)
    with np.errstate(all="ignore"):
        log = mass.logarithm(x) if mass else mechanism.density.logarithm(y, x)
    return np.nan_to_num(np.asarray(log, float) + np.zeros(np.shape(x)), nan=-math.inf)


def best_secrets(joint: Joint, checked: Checked, y: float, sign: float) -> list[float]:
    """Return some secrets at which the kernel is extreme at an outcome, best first: hints."""
    lower, upper = checked.ends
    near = (max(lower, min(y, upper) - 64.0), min(upper, max(y, lower) + 64.0))
    grid = np.unique(
        [*np.linspace(*near, 513), *(v for v in (y, *breaks(joint)) if near[0] <= v <= near[1])]
    )
    values = sign * heights(joint, y, grid)
    best = int(np.argmax(np.nan_to_num(values, neginf=-1e300)))
    box = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found: Any = minimize_scalar(
        lambda x: -sign * float(np.nan_to_num(heights(joint, y, np.array([x]))[0], neginf=-1e300)),
        bounds=box,
        method="bounded",
        options={"xatol": 1e-14 * max(1.0, abs(grid[best]))},
    )
    places = [float(grid[best]), float(found.x)]
    score = [float(sign * heights(joint, y, np.array([x]))[0]) for x in places]
    return places if score[0] >= score[1] else places[::-1]


def breaks(joint: Joint) -> list[float]:
    """Return where the prior or the kernel may not be smooth in the secret."""
    return [*map(float, joint.prior.breaks), *map(float, joint.mechanism.breaks)]
